//! Agents that call each other again and again while nothing changes: a person is asked, whichever way they call.

use ostler_server::api::{InvocationStatus, InvocationView, RequestView};

use super::{ECHO, calls, output_with, seat, set_roles, wait_for_call};
use crate::{
    mcp::client,
    support::{World, write},
    worktrees::repository,
};

/// A role that ends its task at once and calls another. It says what it is told of a call that was not made.
fn back_to(other: &str) -> String {
    format!(
        r#"while read -r head; do case $head in
        "[Task from "*) read -r task; deliver "$(name_in "$head")" "Looked at."; invoke {other} "Your turn, $((n += 1))";;
        "[No result from "*) read -r why; echo "$why";; esac; done"#
    )
}

/// The question that waits for a person.
fn question(world: &World) -> RequestView {
    world.wait_for("a question", |world| world.inbox().into_iter().next())
}

#[test]
fn two_roles_that_call_each_other_without_end_are_stopped_and_asked_about() {
    let mut world = World::new();
    set_roles(&world, "[office]\nrepeats = 2\n", &[("PO", &back_to("QA")), ("QA", &back_to("PO"))]);
    world.bash("printf '[INVOKE:PO]\\nBegin.\\n[/INVOKE]\\n'; read -r a; read -r b; read -r c");
    let asked = question(&world);
    let before = calls(&world).len();
    assert!(before < 12, "{before} calls");
    let ask = format!("{:?}", asked.ask);
    assert!(
        ask.contains(" has called ") && ask.contains(" 2 times ") && ask.contains("Your turn, "),
        "{ask}"
    );
    let held = calls(&world).pop().expect("a call");
    assert_eq!((held.status, held.request.as_deref()), (InvocationStatus::Pending, Some(asked.id.as_str())));
    assert_eq!(held.seat, None);

    // A restart changes nothing, and an answer lets them go on for as long again.
    world.restart();
    assert_eq!((question(&world).id, calls(&world).len()), (asked.id.clone(), before));
    world.answer(&asked.id, "continue");
    let again = world.wait_for("the next question", |world| {
        world.inbox().into_iter().find(|request| request.id != asked.id)
    });
    assert!(calls(&world).len() > before);
    let last = calls(&world).pop().expect("a call");
    world.answer(&again.id, "stop");
    output_with(&world, &seat(&world, &last.caller).id, "A person stopped this call: ");
    let over = wait_for_call(&world, calls(&world).len(), InvocationStatus::Failed);
    assert_eq!((over.id, over.why.as_deref()), (last.id, Some("repeated")));
    assert!(world.inbox().is_empty() && calls(&world).iter().all(InvocationView::is_over));
    world.verify();
}

#[test]
fn a_process_that_repeats_its_call_over_the_socket_is_asked_about() {
    let world = World::new();
    set_roles(&world, "[office]\nrepeats = 2\n", &[("QA", ECHO)]);
    let caller = world.bash(
        r#"for n in 1 2 3 4 5; do ostler invoke --wait QA 'Run it.'; echo " $?"; done
        ostler invoke QA 'Run it.'; read -r a; read -r b; read -r c; echo "$a $b""#,
    );
    let asked = question(&world);
    assert_eq!(calls(&world).len(), 3);
    world.answer(&asked.id, "2");
    // What a person answers counts as news: it is made twice again.
    let again = world.wait_for("the next question", |world| {
        world.inbox().into_iter().find(|request| request.id != asked.id)
    });
    // A process that does not wait is not kept waiting for a person.
    output_with(&world, &caller, "\ni_6\n");
    world.answer(&again.id, "stop");
    world.status(&caller, "completed");
    let output = world.output(&caller);
    let told: Vec<&str> = output.lines().collect();
    assert_eq!(told[..2], ["Run it. 0", "Run it. 0"], "{output}");
    assert!(
        told[2..4].join("\n").starts_with("[No result from QA]\nA person stopped this call: "),
        "{output}"
    );
    assert_eq!(told[4..8], [" 1", "Run it. 0", "Run it. 0", "i_6"], "{output}");
    assert!(told[8].starts_with("[No result from QA] A person stopped this call: "), "{output}");
    world.verify();
}

#[test]
fn a_tool_that_repeats_its_call_is_asked_about() {
    let world = World::new();
    set_roles(&world, "[office]\nrepeats = 2\n", &[("QA", ECHO)]);
    let script = r#"
begin()
for n in range(3):
    call("invoke_agent", {"agent": "QA", "task": "Run it."}, id=n + 1)
    words, is_error = text(hear())
    say(is_error, words.splitlines())
"#;
    let caller = client(&world, script);
    let asked = question(&world);
    assert_eq!(calls(&world).len(), 3);
    world.answer(&asked.id, "stop");
    world.status(&caller, "completed");
    let output = world.output(&caller);
    assert!(
        output.starts_with("False ['Run it.']\nFalse ['Run it.']\nTrue ['[No result from QA]"),
        "{output}"
    );
    world.verify();
}

#[test]
fn calls_between_which_files_change_go_on() {
    let world = World::new();
    repository(&world);
    let role = r#"while read -r head; do case $head in "[Task from "*) read -r task
        [ -e stop ] || echo more >>work; deliver "$(name_in "$head")" "Still red.";; esac; done"#;
    set_roles(&world, "[office]\nrepeats = 2\n", &[("QA", role)]);
    let call = "ostler invoke --wait QA 'Repair it.'; echo";
    let caller = world.bash(&format!(
        "for n in 1 2 3 4 5 6; do {call}; done; touch stop; for n in 1 2 3; do {call}; done; echo done"
    ));
    let asked = question(&world);
    assert!((8..=9).contains(&calls(&world).len()), "{}", calls(&world).len());
    world.answer(&asked.id, "continue");
    world.status(&caller, "completed");
    assert_eq!(calls(&world).len(), 9);
    world.verify();
}

#[test]
fn a_limit_of_one_is_refused_and_none_never_asks() {
    let world = World::new();
    set_roles(&world, "[office]\nrepeats = 0\n", &[("QA", ECHO)]);
    let caller = world.bash("for n in 1 2 3 4 5 6 7 8; do ostler invoke --wait QA x; done");
    world.status(&caller, "completed");
    assert!(world.inbox().is_empty());
    write(&world.home, "config/ostler/config.toml", "[office]\nrepeats = 1\n");
    let refused = world.ostler(&["office", "roles"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("`repeats` must be 2 or more, or 0 to never ask"), "{said}");
}
