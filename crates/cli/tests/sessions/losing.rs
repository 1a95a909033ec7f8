//! Shims and agents that are killed: the state is true within a moment, and nothing is left running.

use crate::support::{QUESTION, World, kill};

#[test]
fn a_killed_shim_takes_everything_with_it_and_the_session_is_interrupted() {
    let world = World::new();
    let session = world.bash("(setsid sleep 1000 &) ; setsid sleep 1001 & sleep 1002");
    world.wait_for("its children", |world| (world.processes().len() >= 5).then_some(()));
    kill(world.shim_of(&session), "KILL");
    world.status(&session, "interrupted");
    assert_eq!(world.processes(), Vec::new(), "no survivor");
    world.wish(&session, "resume");
    world.status(&session, "active");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
}

#[test]
fn a_shim_that_is_killed_while_nobody_looks_is_noticed_at_the_next_start() {
    let mut world = World::new();
    let session = world.bash("echo before; (setsid sleep 1000 &) ; sleep 1002");
    world.wait_for("its children", |world| (world.processes().len() >= 3).then_some(()));
    world.kill_server();
    kill(world.shim_of(&session), "KILL");
    world.start();
    world.status(&session, "interrupted");
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
    world.verify();
}

#[test]
fn a_question_that_a_killed_shim_had_not_written_down_is_found_in_its_log() {
    let mut world = World::new();
    let session = world.bash("read -r go; sleep 1000");
    world.status(&session, "active");
    world.kill_server();
    kill(world.shim_of(&session), "KILL");
    world.wait_for("nothing left", |world| world.shims().is_empty().then_some(()));
    let log = world.home.join("sessions").join(&session).join("1/out.log");
    let block = "[USER_QUESTION]\ncategory: clarification\nquestion: Still there?\nrequired: true\n[/USER_QUESTION]\n";
    std::fs::write(log, block).expect("the log is ours");
    world.start();
    world.status(&session, "interrupted");
    let inbox = world.wait_for("the question", |world| Some(world.inbox()).filter(|inbox| !inbox.is_empty()));
    assert_eq!(inbox[0].ask.text, "Still there?");
}

#[test]
fn agent_and_shim_killed_together() {
    let world = World::new();
    let session = world.bash(&format!("{QUESTION}; read -r line; sleep 1000"));
    let request = world.asked(&session);
    let pid = u32::try_from(world.session(&session).pid.expect("a process")).expect("a pid");
    let shim = world.shim_of(&session);
    kill(shim, "KILL");
    kill(pid, "KILL");
    world.status(&session, "interrupted");
    assert_eq!(world.inbox()[0].id, request.id, "the question is still there");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    assert!(world.inbox().is_empty());
    let settled = world.request(&request.id).settled.expect("settled");
    assert_eq!(settled.by, "end");
}
