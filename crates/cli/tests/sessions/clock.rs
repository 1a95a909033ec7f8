//! A clock on the wall that jumps by a day, forth and back: the order of events and everything that is timed stay as
//! they were.

use std::time::{Duration, Instant};

use ostler_server::api::{EventView, NewRun};

use crate::{
    preload::Preload,
    support::{World, write},
};

const DAY: &str = "86400";
const DAY_BACK: &str = "-86400";

/// Asks, and can do without an answer.
const ASK: &str = "printf '[USER_QUESTION]\\ncategory: choice\\nquestion: Which?\\noptions: [A, B]\\ndefault: A\\nrequired: false\\n[/USER_QUESTION]\\n'; read -r line; echo \"got $line\"";

fn patience(world: &World, question: &str) {
    let folder = world.home.join("config/ostler");
    std::fs::create_dir_all(&folder).expect("a folder");
    write(&folder, "config.toml", &format!("[patience]\nquestion = \"{question}\"\n"));
}

fn all_events(world: &World) -> Vec<EventView> {
    world.get("/events").expect("events")
}

/// Whoever has an hour still has it, and what is short takes as long as it should.
fn timers_hold(world: &World, patient: &str, limited: &str) {
    patience(world, "2s");
    let began = Instant::now();
    let short = world.bash(ASK);
    world.status(&short, "completed");
    assert!(began.elapsed() >= Duration::from_secs(2), "it was not answered at once");
    assert!(world.output(&short).contains("\"answer\":\"A\""), "{}", world.output(&short));
    assert_eq!(world.session(patient).status, "waiting_input");
    assert_eq!(world.session(limited).status, "active", "its hour is not over");
    let events = all_events(world);
    let times: Vec<u64> = events.iter().map(|event| event.at_ms).collect();
    assert!(times.is_sorted(), "{times:?}");
    let span = times.last().expect("an event") - times[0];
    assert!(span < 30 * 60 * 1000, "{span} ms lie between the first event and the last");
}

#[test]
fn a_clock_that_jumps_by_a_day_changes_no_order_and_no_timer() {
    let Some(preload) = Preload::new() else { return };
    let mut world = World::idle();
    world.start_with(&preload.environment());
    patience(&world, "1h");
    let patient = world.bash(ASK);
    world.status(&patient, "waiting_input");
    let new = world.new_run(&["bash", "-c", "until [ -e go ]; do sleep 0.02; done"]);
    let limited = world.run_with(&NewRun { time_s_max: Some(3600), ..new });
    world.status(&limited, "active");
    timers_hold(&world, &patient, &limited);
    for jump in [DAY, DAY_BACK, "0"] {
        preload.set("wall", jump);
        timers_hold(&world, &patient, &limited);
    }
    // Another server begins on a day that is over already: its clock does not go back.
    preload.set("wall", DAY_BACK);
    world.kill_server();
    world.start_with(&preload.environment());
    timers_hold(&world, &patient, &limited);
    preload.set("wall", "0");
    timers_hold(&world, &patient, &limited);
    write(&world.project, "go", "");
    world.status(&limited, "completed");
    // What passes while there is no server is known from the wall alone: it counts as a day that has passed.
    let before = all_events(&world).last().expect("an event").at_ms;
    preload.set("wall", DAY);
    world.kill_server();
    world.start_with(&preload.environment());
    world.status(&patient, "completed");
    let passed = all_events(&world).last().expect("an event").at_ms - before;
    assert!(passed > 23 * 60 * 60 * 1000, "{passed} ms");
    world.verify();
}
