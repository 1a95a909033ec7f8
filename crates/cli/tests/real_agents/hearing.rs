//! A CLI that is killed after it was told something: the model hears it once, whether the CLI had taken it or not.

use super::{
    lab::Lab,
    model::Model,
    support::{World, kill},
};

const MESSAGE: &str = "Use the \"old\" name.";

/// Only claude reads while it runs. The others have what they are told in their prompt.
pub(crate) fn is_killed_after_a_message(lab: &Lab, world: &mut World, model: &Model) {
    if lab.name == "claude" {
        is_killed_before_it_takes_it(lab, world, model);
        is_killed_after_the_proof(lab, world, model);
    }
}

/// The message is in the queue of the CLI, and the queue is gone with it.
fn is_killed_before_it_takes_it(lab: &Lab, world: &World, model: &Model) {
    let session = told(lab, world, "keep");
    let told = killed_and_resumed(lab, world, model, (&session, "keep"));
    assert_eq!(told.matches(MESSAGE).count(), 1, "{told}");
    assert!(told.contains(&format!("(Repeated: you may have read this already.)\n{MESSAGE}")), "{told}");
    assert_eq!(world.count(&session, "input.heard"), 1);
}

/// The model has replied to it, so the conversation holds it.
fn is_killed_after_the_proof(lab: &Lab, world: &World, model: &Model) {
    let session = told(lab, world, "prove");
    lab.let_go("prove");
    world.wait_for("the proof", |world| (world.count(&session, "input.heard") == 1).then_some(()));
    lab.wait_for_tool(world, "proven");
    let told = killed_and_resumed(lab, world, model, (&session, "prove"));
    assert_eq!(told.matches(MESSAGE).count(), 1, "{told}");
    assert!(!told.contains("(Repeated:"), "{told}");
}

/// Tells it something while its tool runs.
fn told(lab: &Lab, world: &World, case: &str) -> String {
    let session = lab.run(world, &lab.free(), case);
    lab.wait_for_tool(world, case);
    lab.done(world, &["send", &session, MESSAGE]);
    world.wait_for("its reading", |world| (world.count(&session, "input.consumed") == 1).then_some(()));
    assert_eq!(world.count(&session, "input.heard"), 0, "a tool runs");
    session
}

/// Kills everything of a session and resumes it. What the model was told in the last request.
fn killed_and_resumed(lab: &Lab, world: &World, model: &Model, (session, case): (&str, &str)) -> String {
    kill(world.shim_of(session), "KILL");
    world.status(session, "interrupted");
    lab.done(world, &["resume", "-d", session]);
    lab.completed(world, session);
    model.last(&lab.words(case))
}
