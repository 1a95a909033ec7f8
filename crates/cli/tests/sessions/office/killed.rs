//! Agents that are killed while they print: nobody acts on half a message, and nobody is asked about it.

use ostler_server::api::InvocationStatus;

use super::{calls, office, results, seat, wait_for_call};

/// A role whose first task has it print this and be killed. It serves the next task.
fn killed_after(printed: &str) -> String {
    format!(
        r#"while read -r head; do case $head in "[Task from "*) read -r task
            if [ "$task" = die ]; then printf '{printed}'; kill -9 $$; fi
            deliver "$(name_in "$head")" "$task";; esac; done"#
    )
}

#[test]
fn a_role_that_is_killed_while_it_prints_fails_its_call_and_serves_the_next() {
    for half in [
        "[INVOKE:QA]\\n",
        "[INVOKE:QA]\\nDelete the fi",
        "[DELIVER_RESULT:s_1]\\ncontent: half of",
        "[USER_QUESTION]\\ncategory: business\\n",
    ] {
        let world = office(&[("PO", &killed_after(half)), ("QA", "sleep 600")]);
        let caller = world.bash(
            r"for task in die live; do printf '[INVOKE:PO]\n%s\n[/INVOKE]\n' $task; done
            while [ $((n += 1)) -le 6 ] && read -r line; do echo $line; done",
        );
        wait_for_call(&world, 2, InvocationStatus::Completed);
        world.status(&caller, "completed");
        assert_eq!(
            world.output(&caller).rsplit_once("[/INVOKE]\n").map(|(_, told)| told),
            Some(
                "[No result from PO]\nPO has failed: signal 9\n[/Result]\n[Result from PO]\nlive\n[/Result]\n"
            ),
            "{half}"
        );
        assert_eq!((calls(&world).len(), results(&world).len(), world.inbox().len()), (2, 1, 0), "{half}");
        assert_eq!(seat(&world, "PO").launches.len(), 2, "{half}");
        world.verify();
    }
}

#[test]
fn a_caller_that_is_killed_while_it_prints_has_failed() {
    let world = office(&[("PO", "sleep 600")]);
    let caller = world.bash("printf '[INVOKE:PO]\\n'; kill -9 $$");
    world.status(&caller, "failed");
    // A process that ends by itself has said all that it wanted to say.
    world.bash("printf '[INVOKE:PO]\\n'");
    world.wait_for("a fault", |world| (world.inbox().len() == 1).then_some(()));
    assert!(calls(&world).is_empty());

    // A shim that is lost leaves no word about how its agent ended.
    let log = world.home.join("sessions/s_3/1/out.log");
    let script = "printf '[INVOKE:PO]\\n'; until grep -q INVOKE LOG; do :; done; kill -9 $PPID $$";
    let lost = world.bash(&script.replace("LOG", &log.display().to_string()));
    world.status(&lost, "interrupted");
    assert_eq!((calls(&world).len(), world.inbox().len()), (0, 1));
    world.verify();
}
