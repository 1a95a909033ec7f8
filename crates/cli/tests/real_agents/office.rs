//! Each CLI calls a role that the same CLI works as, and reads what it brings.

use std::fs;

use ostler_server::api::{InvocationStatus, InvocationView, OfficeView};

use super::{
    lab::Lab,
    model::Model,
    support::{World, write},
};

/// One prints a call and ends its turn; the other is started with its task and its instruction, and prints a result; the
/// first goes on with that in its own conversation.
pub(crate) fn calls_another(lab: &Lab, world: &mut World, model: &Model) {
    let role = format!(
        "[office]\nidle = \"1s\"\n\n[office.roles.helper]\nagent = \"{}\"\ninstruction = \"You help who asks, in few words.\"\n",
        lab.name
    );
    write(&lab.work, "ostler.toml", &role);
    lab.done(world, &["trust", "--yes"]);
    let session = lab.run(world, lab.name, "invoke");
    let view = lab.completed(world, &session);
    let project = &view.project.id;
    let calls: Vec<InvocationView> =
        world.get(&format!("/projects/{project}/office/invocations")).expect("calls");
    let [call] = calls.as_slice() else { panic!("one call: {calls:#?}") };
    assert_eq!((call.caller.as_str(), call.callee.as_str()), (session.as_str(), "helper"));
    assert_eq!(
        (call.status, call.why.as_deref()),
        (InvocationStatus::Completed, Some("delivered")),
        "{call:#?}"
    );

    let helped = model.last(&lab.words("help"));
    assert!(helped.contains(&format!("[Task from {session}]")), "{helped}");
    assert!(helped.contains("You help who asks, in few words."), "{helped}");
    let told = model.last(&lab.words("invoke"));
    assert!(told.contains("[Result from helper]") && told.contains("It is \"helped\"."), "{told}");
    // It calls once more: the helper has its conversation still, or again.
    let office: OfficeView = world.get(&format!("/projects/{project}/office")).expect("an office");
    let seat = office.roles.iter().find(|role| role.name == "helper").and_then(|role| role.session.clone());
    let seat = seat.expect("somebody has the role");
    world.status(&seat, "completed");
    let conversation = world.session(&seat).conversation;
    lab.done(world, &["office", "send", "helper", "Are you still there?"]);
    world.wait_for("its answer", |_| model.last(&lab.words("help")).contains("still there?").then_some(()));
    world.status(&seat, "completed");
    assert_eq!(world.session(&seat).conversation, conversation);
    fs::remove_file(lab.work.join("ostler.toml")).expect("its directory can be written");
    world.wait_for("an empty machine", |world| world.processes().is_empty().then_some(()));
}
