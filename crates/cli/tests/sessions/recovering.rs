//! Errors that an agent wants to recover from, with real processes.

use crate::support::{World, state, write};

/// Reports an error that wants to be tried again.
fn error(message: &str, recovery: &str) -> String {
    format!("printf '[ERROR]\\ntype: recoverable\\nmessage: {message}\\nrecovery: {recovery}\\n[/ERROR]\\n'")
}

#[test]
fn who_waits_goes_on_by_itself_as_the_same_process() {
    let mut world = World::new();
    let error = error("busy, retry after 10 seconds", "pause_and_retry");
    let script = format!("{error}; while [ ! -e go ]; do sleep 0.05; done; echo $$ >>went-on");
    let session = world.bash(&script);
    let request = world.asked(&session);
    let view = world.session(&session);
    let wait = view.wait.expect("a wait");
    assert_eq!((wait.kind.as_str(), wait.retry, wait.retries_max), ("retry", Some(1), Some(5)));
    assert_eq!((request.retry, request.expires_at_ms), (Some(1), Some(wait.until_ms)));
    let pid = view.pid.and_then(|pid| u32::try_from(pid).ok()).expect("a process");
    world.wait_for("a stop", |_| (state(pid) == Some('T')).then_some(()));
    write(&world.project, "go", "");
    let ps = String::from_utf8(world.ostler(&["ps"]).stdout).expect("text");
    assert!(ps.contains("goes on by itself at"), "{ps}");
    // The wait is over when it would have been over, whoever is the server then.
    world.restart();
    world.status(&session, "completed");
    let went_on = std::fs::read_to_string(world.project.join("went-on")).expect("it went on");
    assert_eq!(went_on.trim(), pid.to_string());
    assert_eq!(world.session(&session).launches.len(), 1);
    let settled = world.request(&request.id).settled.expect("settled");
    assert_eq!((settled.by.as_str(), settled.answer["answer"].as_str()), ("expiry", Some("retry")));
    world.verify();
}

#[test]
fn who_has_ended_is_started_again_and_a_person_need_not_wait() {
    let world = World::new();
    write(
        &world.project,
        "agent.sh",
        &format!("[ -e ready ] && exit 0; {}; exit 1", error("down", "pause_and_retry")),
    );
    let session = world.run(&["bash", "agent.sh"]);
    world.asked(&session);
    world.wish(&session, "continue");
    world.wait_for("a second wait", |world| {
        let view = world.session(&session);
        (view.launches.len() == 2 && view.wait.is_some()).then_some(())
    });
    write(&world.project, "ready", "");
    world.wish(&session, "continue");
    world.status(&session, "completed");
    assert_eq!(world.session(&session).launches.len(), 3);
}

#[test]
fn who_gives_up_fails_with_its_words() {
    let world = World::new();
    let session = world.bash(&format!("{}; sleep 1000", error("the disk is broken", "checkpoint_and_fail")));
    let reason = world.status(&session, "failed").outcome.expect("an outcome").reason;
    assert_eq!(
        (reason["key"].as_str(), reason["message"].as_str()),
        (Some("reported"), Some("the disk is broken"))
    );
    assert_eq!(world.inbox(), []);
}
