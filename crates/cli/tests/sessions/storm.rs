//! Sessions at work, and a server that is killed at any moment, also while it starts. Each agent asks one question after
//! the other and writes down what it was told; in the end that has to be what was answered, once each, in order.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use ostler_server::api::{EventView, RequestView};
use serde_json::{Value, json};

use crate::support::{DEADLINE, World, kill};

const AGENT: &str = r#"
number=0
while [ ! -e "$1/enough" ]; do
    number=$((number + 1))
    printf '[USER_QUESTION]\ncategory: clarification\nquestion: %s.%s?\nrequired: true\n[/USER_QUESTION]\n' "$2" $number
    read -r line
    echo "$$ $number $line" >>"$1/heard.$2"
done
"#;

pub(crate) fn number(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Numbers that a seed repeats (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

#[test]
fn a_server_that_is_killed_again_and_again_loses_and_doubles_nothing() {
    storm("storm", World::new(), &mut |_, _| Vec::new());
}

/// The same, while shims and agents are stopped for a moment, servers may open few files, and the state directory cannot
/// be read for up to a second.
#[test]
fn a_storm_of_shortages_loses_and_doubles_nothing() {
    let world = World::of_another_user().unwrap_or_else(World::new);
    storm("shortages", world, &mut shortage);
}

/// So few files a server may open at times: not every shim can be followed then.
const FEW_FILES: u32 = 38;

/// Makes something scarce before a server is killed. Gives the processes that it has stopped.
fn shortage(world: &mut World, random: &mut Random) -> Vec<u32> {
    let agents = world.of_agents().into_iter().map(|(pid, _)| pid);
    let processes: Vec<u32> = world.shims().into_iter().chain(agents).collect();
    let stopped: Vec<u32> = processes.into_iter().filter(|_| random.below(3) == 0).collect();
    for &pid in &stopped {
        kill(pid, "STOP");
    }
    world.open_files = (random.below(2) == 0).then_some(FEW_FILES);
    if random.below(2) == 0 {
        fs::set_permissions(&world.home, fs::Permissions::from_mode(0o000)).expect("it is ours");
        answer_all(world, Instant::now() + Duration::from_millis(random.below(1_000)));
        std::thread::sleep(Duration::from_millis(random.below(500)));
        fs::set_permissions(&world.home, fs::Permissions::from_mode(0o700)).expect("it is ours");
    }
    stopped
}

/// Kills the server again and again, each time after something else has gone wrong.
fn storm(name: &str, mut world: World, fault: &mut dyn FnMut(&mut World, &mut Random) -> Vec<u32>) {
    let (sessions, kills) = (number("OSTLER_STORM_SESSIONS", 6), number("OSTLER_KILLS", 5));
    let seed = number("OSTLER_SEED", 1);
    println!("{name}: seed {seed}");
    let mut random = Random(seed);
    let project = world.project.display().to_string();
    let ids: Vec<String> = (0..sessions)
        .map(|it| world.run(&["bash", "-c", AGENT, "agent", &project, &it.to_string()]))
        .collect();
    let deadline = Instant::now() + DEADLINE + Duration::from_secs(kills * 10);
    let mut killed = 0;
    let mut kill_at = Instant::now() + Duration::from_millis(random.below(600));
    while ids.iter().any(|id| !is_completed(&world, id)) {
        assert!(Instant::now() < deadline, "seed {seed}: it has to end");
        answer_all(&world, kill_at);
        if killed < kills && Instant::now() >= kill_at {
            let stopped = fault(&mut world, &mut random);
            killed += 1;
            if killed == kills {
                // The last server sees them all.
                world.open_files = None;
            }
            world.kill_server();
            world.spawn(&[]);
            kill_at = Instant::now() + Duration::from_millis(random.below(600));
            answer_all(&world, kill_at);
            for pid in stopped {
                kill(pid, "CONT");
            }
        } else if killed == kills && !world.project.join("enough").exists() {
            fs::write(world.project.join("enough"), "").expect("the project can be written");
        }
    }
    let answers: usize = ids.iter().enumerate().map(|(it, id)| check(&world, id, it)).sum();
    let all = every_event(&world, "");
    assert!(all.iter().map(|event| event.seq).eq(1..=all.len() as u64), "without a gap");
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
    world.verify();
    println!("{name}: {killed} servers killed at random, {sessions} sessions, {answers} answers");
}

fn is_completed(world: &World, id: &str) -> bool {
    let session = world.get::<Value>(&format!("/sessions/{id}"));
    session.is_ok_and(|session| session["status"] == "completed")
}

/// Answers what is asked, until somebody has to die.
fn answer_all(world: &World, until: Instant) {
    for request in world.get::<Vec<RequestView>>("/inbox").unwrap_or_default() {
        if Instant::now() >= until && !world.project.join("enough").exists() {
            return;
        }
        let body = json!({ "value": format!("to {}", request.ask.text) });
        // Whoever is refused, or hears nothing, sees in the inbox what came of it.
        world.post::<Value>(&format!("/requests/{}/answer", request.id), &body).ok();
    }
}

/// What the agent wrote down is what was answered; gives how many answers that were.
fn check(world: &World, id: &str, number: usize) -> usize {
    let heard = fs::read_to_string(world.project.join(format!("heard.{number}"))).expect("what it heard");
    let events = every_event(world, &format!("session={id}&"));
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    let started: Vec<&EventView> = events.iter().filter(|event| event.kind == "session.started").collect();
    assert_eq!(started.len(), 1, "{id} was started once");
    let pid = &started[0].body["pid"];
    for (index, line) in heard.lines().enumerate() {
        let place = format!("{pid} {} ", index + 1);
        let answer = format!("\"answer\":\"to {number}.{}?\"", index + 1);
        assert!(line.starts_with(&place) && line.contains(&answer), "{place}{answer}: {line}");
    }
    let answers = heard.lines().count();
    let counts = ["request.opened", "request.settled", "input.delivered"].map(count);
    assert_eq!(counts, [answers; 3], "{id}");
    assert_eq!((count("session.launched"), count("session.ended"), count("session.finished")), (1, 1, 1));
    answers
}

fn every_event(world: &World, which: &str) -> Vec<EventView> {
    let mut all: Vec<EventView> = Vec::new();
    loop {
        let after = all.last().map_or(0, |event| event.seq);
        let events: Vec<EventView> = world.get(&format!("/events?{which}after={after}")).expect("events");
        if events.is_empty() {
            return all;
        }
        all.extend(events);
    }
}
