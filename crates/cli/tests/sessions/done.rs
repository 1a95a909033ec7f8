//! Done is proved: checks, repeated attempts, and time.

use ostler_server::api::NewRun;

use crate::support::{World, write};

#[test]
fn a_check_that_passes_makes_it_verified() {
    let world = World::new();
    let new = world.new_run(&["bash", "-c", "echo 42 >answer"]);
    let session = world.run_with(&NewRun { check: Some("test -s answer".to_owned()), ..new });
    let view = world.status(&session, "completed");
    assert!(view.outcome.expect("an outcome").verified);
}

#[test]
fn a_claim_without_work_fails_the_check() {
    let world = World::new();
    let new = world.new_run(&["bash", "-c", "echo all done"]);
    let session = world.run_with(&NewRun { check: Some("test -s answer".to_owned()), ..new });
    let reason = world.status(&session, "failed").outcome.expect("an outcome").reason;
    assert_eq!((reason["key"].as_str(), reason["code"].as_i64()), (Some("check_failed"), Some(1)));
}

#[test]
fn it_is_sent_back_with_the_failure_until_the_check_passes() {
    let world = World::new();
    write(&world.project, "agent.sh", "echo \"$OSTLER_PROMPT\" >>prompts; echo x >>answer\n");
    let check = "echo \"only $(wc -l <answer)\"; test $(wc -l <answer) -ge 3".to_owned();
    let new = world.new_run(&["bash", "agent.sh"]);
    let session = world.run_with(&NewRun { check: Some(check), attempts_max: Some(10), ..new });
    let view = world.status(&session, "completed");
    assert_eq!((view.launches.len(), view.attempts), (3, 3));
    let prompts = std::fs::read_to_string(world.project.join("prompts")).expect("prompts");
    assert!(prompts.contains("only 1") && prompts.contains("only 2"), "{prompts}");
}

#[test]
fn three_identical_failures_are_enough() {
    let world = World::new();
    let new = world.new_run(&["true"]);
    let check = Some("echo \"failed in 0.$RANDOM s\"; exit 7".to_owned());
    let session = world.run_with(&NewRun { check, attempts_max: Some(10), ..new });
    let reason = world.status(&session, "failed").outcome.expect("an outcome").reason;
    assert_eq!(reason["key"], "same_failure");
    assert_eq!(world.session(&session).launches.len(), 3);
}

#[test]
fn attempts_have_an_end() {
    let world = World::new();
    let new = world.new_run(&["bash", "-c", "echo x >>n"]);
    let check = Some("wc -l <n; exit 7".to_owned());
    let session = world.run_with(&NewRun { check, attempts_max: Some(4), ..new });
    let reason = world.status(&session, "failed").outcome.expect("an outcome").reason;
    assert_eq!((reason["key"].as_str(), reason["attempts"].as_i64()), (Some("check_failed"), Some(4)));
}

#[test]
fn when_the_time_is_over_a_person_is_asked() {
    let world = World::new();
    let new = world.new_run(&["bash", "-c", "while [ ! -e go ]; do sleep 0.05; done"]);
    let session = world.run_with(&NewRun { time_s_max: Some(1), ..new });
    let request = world.asked(&session);
    assert_eq!(request.ask.kind, "time_over");
    world.answer(&request.id, "continue");
    write(&world.project, "go", "");
    world.status(&session, "completed");
}

#[test]
fn a_check_goes_on_after_the_server_was_killed() {
    let mut world = World::new();
    let new = world.new_run(&["true"]);
    let check = Some("while [ ! -e go ]; do sleep 0.05; done; echo x >>runs".to_owned());
    let session = world.run_with(&NewRun { check, ..new });
    world.status(&session, "checking");
    world.wait_for("the check", |world| (!world.shims().is_empty()).then_some(()));
    world.restart();
    assert_eq!(world.session(&session).status, "checking");
    write(&world.project, "go", "");
    world.status(&session, "completed");
    let runs = std::fs::read_to_string(world.project.join("runs")).expect("runs");
    assert_eq!(runs, "x\n", "it ran once");
}

#[test]
fn a_check_that_is_not_wanted_any_more_is_ended() {
    let world = World::new();
    let new = world.new_run(&["true"]);
    let session = world.run_with(&NewRun { check: Some("sleep 1000".to_owned()), ..new });
    world.status(&session, "checking");
    world.wait_for("the check", |world| (!world.shims().is_empty()).then_some(()));
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
}

#[test]
fn terms_that_make_no_sense_are_refused() {
    let world = World::new();
    let new = |change: fn(&mut NewRun)| {
        let mut new = world.new_run(&["true"]);
        change(&mut new);
        world.refused("/runs", &new).kind
    };
    assert_eq!(new(|it| it.attempts_max = Some(3)), "no_check");
    assert_eq!(new(|it| (it.attempts_max, it.check) = (Some(0), Some("true".into()))), "bad_attempts");
    assert_eq!(new(|it| it.check = Some("  ".into())), "empty_check");
    assert_eq!(new(|it| it.time_s_max = Some(0)), "bad_time");
    assert_eq!(new(|it| it.check_time_s_max = Some(0)), "bad_time");
    assert_eq!(new(|it| it.time_s_max = Some(5_400_000_000)), "bad_time");
    assert_eq!(new(|it| it.command = Vec::new()), "nothing_to_run");
    assert_eq!(new(|it| it.agent = Some("claude".into())), "agent_and_command");
    assert_eq!(new(|it| (it.agent, it.command) = (Some("cluade".into()), vec![])), "no_agent");
    assert_eq!(new(|it| it.directory = "relative".into()), "bad_directory");
    assert_eq!(new(|it| it.directory = "/no/such/place".into()), "bad_directory");
    assert_eq!(new(|it| (it.worktree, it.directory) = (true, "/".into())), "not_git");
    assert_eq!(world.get::<serde_json::Value>("/runs").expect("a list"), serde_json::json!([]));
}

#[test]
fn a_check_that_is_not_wanted_any_more_is_ended_by_the_next_server() {
    let mut world = World::new();
    let new = world.new_run(&["true"]);
    let session = world.run_with(&NewRun { check: Some("sleep 1000".to_owned()), ..new });
    world.status(&session, "checking");
    world.wait_for("the check", |world| (!world.shims().is_empty()).then_some(()));
    world.kill_server();
    world.start_with(&[("OSTLER_CRASH_AT", "after commit:1")]);
    world.post::<serde_json::Value>(&format!("/sessions/{session}/cancel"), &serde_json::json!({})).ok();
    world.restart();
    world.status(&session, "cancelled");
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
}

/// A check that counts for as long as it runs.
const COUNTING: &str = "trap '' TERM; while [ ! -e go ]; do echo x >>count; sleep 0.02; done";

fn count(world: &World) -> usize {
    std::fs::read_to_string(world.project.join("count")).map_or(0, |text| text.len())
}

/// The shim of the first check says that all of its tree stands still.
fn is_held(world: &World) -> Option<()> {
    let spool = std::fs::read_to_string(world.home.join("sessions/s_1/check-1/spool.ndjson")).ok()?;
    spool.lines().last()?.contains(r#""event":"stopped""#).then_some(())
}

fn counts_on(world: &World) {
    let before = count(world);
    world.wait_for("more of the check", |world| (count(world) > before).then_some(()));
}

#[test]
fn the_time_of_a_check_counts_and_it_stands_still_until_a_person_has_answered() {
    let mut world = World::new();
    let new = world.new_run(&["true"]);
    let check = Some(COUNTING.to_owned());
    let session = world.run_with(&NewRun { check, time_s_max: Some(1), ..new });
    let request = world.asked(&session);
    assert_eq!(request.ask.kind, "time_over");
    world.wait_for("a check that stands still", is_held);
    world.restart();
    world.wait_for("a check that stands still", is_held);
    world.answer(&request.id, "continue");
    counts_on(&world);
    let again = world.asked(&session);
    world.answer(&again.id, "fail");
    let reason = world.status(&session, "failed").outcome.expect("an outcome").reason;
    assert_eq!(reason["key"], "time_over");
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
    world.verify();
}

#[test]
fn a_check_can_be_held() {
    let world = World::new();
    let new = world.new_run(&["true"]);
    let session = world.run_with(&NewRun { check: Some(COUNTING.to_owned()), ..new });
    counts_on(&world);
    assert_eq!(world.wish(&session, "pause").status, "paused");
    world.wait_for("a check that stands still", is_held);
    assert_eq!(world.wish(&session, "continue").status, "checking");
    counts_on(&world);
    write(&world.project, "go", "");
    world.status(&session, "completed");
}

#[test]
fn a_check_that_takes_too_long_is_ended_and_has_failed() {
    let world = World::new();
    let new = world.new_run(&["true"]);
    let check = Some(format!("echo so far; {COUNTING}"));
    let session = world.run_with(&NewRun { check, check_time_s_max: Some(1), ..new });
    let view = world.status(&session, "failed");
    let reason = view.outcome.expect("an outcome").reason;
    assert_eq!((reason["key"].as_str(), reason["code"].as_i64()), (Some("check_failed"), Some(124)));
    let events = world.events(&session);
    let finished = events.iter().find(|event| event.kind == "check.finished").expect("an event");
    assert_eq!(
        finished.body["attempt"]["output"],
        "so far\nThe check was ended because it took longer than 1s."
    );
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
}
