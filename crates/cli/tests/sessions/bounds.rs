//! How soon something is noticed: an agent that dies, a shim that is killed, a server that comes back. A storm measures
//! it with a release build and holds it against what is promised; otherwise it only has to come.

use std::time::{Duration, Instant};

use crate::support::{QUESTION, World, kill};

/// How often; more often in a storm, which also counts the time.
fn rounds() -> (usize, bool) {
    let wanted = std::env::var("OSTLER_ROUNDS").ok().and_then(|text| text.parse().ok());
    (wanted.unwrap_or(2), wanted.is_some())
}

/// The slowest of several, which may not take longer than promised.
struct Slowest {
    what: &'static str,
    promised: Duration,
    took: Duration,
}

impl Slowest {
    fn new(what: &'static str, promised: Duration) -> Slowest {
        Slowest { what, promised, took: Duration::ZERO }
    }

    fn note(&mut self, since: Instant) {
        self.took = self.took.max(since.elapsed());
    }

    fn say(&self) -> String {
        format!("{} {} ms", self.what, self.took.as_millis())
    }
}

#[test]
fn what_dies_is_noticed_in_time() {
    let (rounds, counts) = rounds();
    let mut world = World::new();
    let waiting = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
    let waiting_pid = world.status(&waiting, "waiting_input").pid;
    let mut dead_agent = Slowest::new("agent killed", Duration::from_secs(1));
    let mut dead_shim = Slowest::new("shim killed", Duration::from_secs(5));
    let mut new_server = Slowest::new("server back", Duration::from_secs(2));
    for _ in 0..rounds {
        let session = world.bash("sleep 1000");
        let pid = world.status(&session, "active").pid.expect("a process");
        let since = Instant::now();
        kill(u32::try_from(pid).expect("a pid"), "KILL");
        world.status(&session, "failed");
        dead_agent.note(since);

        let session = world.bash("(setsid sleep 1000 &) ; setsid sleep 1001 & sleep 1002");
        world.wait_for("its children", |world| (world.processes().len() >= 7).then_some(()));
        let since = Instant::now();
        kill(world.shim_of(&session), "KILL");
        world.status(&session, "interrupted");
        dead_shim.note(since);
        assert_eq!(world.processes().len(), 2, "only those of the one that waits are left");

        world.kill_server();
        let since = Instant::now();
        world.start();
        new_server.note(since);
        assert_eq!(world.session(&waiting).pid, waiting_pid);
        assert_eq!(world.session(&session).status, "interrupted");
    }
    let all = [dead_agent, dead_shim, new_server];
    let said: Vec<String> = all.iter().map(Slowest::say).collect();
    println!("faults sessions: slowest of {rounds}: {}", said.join(", "));
    for it in all {
        assert!(!counts || it.took < it.promised, "{}, promised {:?}", it.say(), it.promised);
    }
    world.verify();
}
