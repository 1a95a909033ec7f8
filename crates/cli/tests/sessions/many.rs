//! Many sessions at once, and sessions that print a lot. `cargo xtask soak sessions` does the same with a thousand.

use std::{env, fs};

use crate::support::{QUESTION, World};

fn sessions() -> usize {
    env::var("OSTLER_SESSIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(50)
}

#[test]
fn many_sessions_at_once_lose_nothing_and_leave_nothing() {
    let world = World::new();
    let count = sessions();
    let server = world.server_pid();
    let open_files = || fs::read_dir(format!("/proc/{server}/fd")).expect("a process").count();
    world.status(&world.bash("true"), "completed");
    let before = open_files();
    let script = format!("{QUESTION}; read -r line; echo \"got $line\"");
    let ids: Vec<String> = (0..count).map(|_| world.run(&["sh", "-c", &script])).collect();
    let inbox =
        world.wait_for("every question", |world| Some(world.inbox()).filter(|inbox| inbox.len() == count));
    for request in &inbox {
        world.answer(&request.id, "MySQL");
    }
    for id in &ids {
        world.status(id, "completed");
        assert!(world.output(id).contains("\"answer\":\"MySQL\""), "{id}");
        assert_eq!(world.count(id, "request.opened"), 1);
        assert_eq!(world.count(id, "input.delivered"), 1);
    }
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
    world.wait_for("no open file left", |_| (open_files() <= before + 4).then_some(()));
    world.verify();
}

#[test]
fn ten_thousand_blocks_binary_noise_and_a_line_of_ten_megabytes() {
    let world = World::new();
    let script = "head -c 10000000 /dev/zero | tr '\\0' x; echo; head -c 1000000 /dev/urandom; printf '\\n\\033[0m\\n'; \
        for i in $(seq 10000); do printf '[STEP_COMPLETE]\\nstep: %s\\n[/STEP_COMPLETE]\\n' $i; done; \
        printf '[USER_QUESTION]\\ncategory: clarification\\nquestion: Heard all?\\nrequired: true\\n[/USER_QUESTION]\\n'; read -r line";
    let session = world.bash(script);
    let request = world.asked(&session);
    assert_eq!(request.ask.text, "Heard all?");
    world.answer(&request.id, "yes");
    world.status(&session, "completed");
    let mut heard = 0;
    let mut after = 0;
    loop {
        let path = format!("/events?session={session}&after={after}");
        let events: Vec<ostler_server::api::EventView> = world.get(&path).expect("events");
        let Some(last) = events.last() else { break };
        after = last.seq;
        heard += events.iter().filter(|it| it.body["item"]["kind"] == "step_complete").count();
    }
    assert_eq!(heard, 10_000);
}
