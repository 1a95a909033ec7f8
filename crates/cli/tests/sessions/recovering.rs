//! Errors that an agent wants to recover from, with real processes.

use crate::support::{World, kill, write};

/// Reports an error that wants to be tried again.
fn error(message: &str, recovery: &str) -> String {
    format!("printf '[ERROR]\\ntype: recoverable\\nmessage: {message}\\nrecovery: {recovery}\\n[/ERROR]\\n'")
}

#[test]
fn who_waits_is_held_until_then_and_that_is_shown() {
    let mut world = World::new();
    let error = error("busy, retry after 2 hours", "pause_and_retry");
    let session = world.bash(&format!("{error}; sleep 1000"));
    let request = world.asked(&session);
    let view = world.session(&session);
    let wait = view.wait.clone().expect("a wait");
    assert_eq!((wait.kind.as_str(), wait.retry, wait.retries_max), ("retry", Some(1), Some(5)));
    assert_eq!((request.retry, request.expires_at_ms), (Some(1), wait.until_ms));
    world.wait_for("the stop", |world| world.session(&session).launches[0].stopped_at_ms);
    world.restart();
    assert_eq!(world.session(&session).wait, view.wait, "the time stays the same");
    let ps = String::from_utf8(world.ostler(&["ps"]).stdout).expect("text");
    assert!(ps.contains("goes on by itself at"), "{ps}");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
}

#[test]
fn who_waits_goes_on_by_itself_as_the_same_process() {
    let mut world = World::new();
    let error = error("busy, retry after 2 seconds", "pause_and_retry");
    let session = world.bash(&format!("{error}; while [ ! -e go ]; do sleep 0.05; done; echo $$ >went-on"));
    let request = world.asked(&session);
    // The wait is over when it would have been over, whoever is the server then.
    world.restart();
    write(&world.project, "go", "");
    world.status(&session, "completed");
    let launches = world.session(&session).launches;
    assert_eq!(launches.len(), 1);
    let went_on = std::fs::read_to_string(world.project.join("went-on")).expect("it went on");
    assert_eq!(Some(went_on.trim().to_owned()), launches[0].pid.map(|pid| pid.to_string()));
    let settled = world.request(&request.id).settled.expect("settled");
    assert_eq!((settled.by.as_str(), settled.answer["answer"].as_str()), ("expiry", Some("retry")));
    world.verify();
}

#[test]
fn who_has_ended_is_started_again_and_a_person_need_not_wait() {
    let world = World::new();
    let error = error("down, try again in 2 hours", "pause_and_retry");
    write(&world.project, "agent.sh", &format!("[ -e ready ] && exit 0; {error}; sleep 1000"));
    let session = world.run(&["bash", "agent.sh"]);
    world.asked(&session);
    let pid = world.session(&session).pid.and_then(|pid| u32::try_from(pid).ok()).expect("a process");
    kill(pid, "KILL");
    world.wait_for("its end", |world| world.session(&session).launches[0].ended.clone());
    assert_eq!(world.session(&session).status, "waiting_input");
    write(&world.project, "ready", "");
    world.wish(&session, "continue");
    world.status(&session, "completed");
    assert_eq!(world.session(&session).launches.len(), 2);
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
