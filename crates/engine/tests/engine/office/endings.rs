//! Who ends, fails or is taken back while others wait.

use ostler_engine::{
    Input, InvocationId, ProjectId,
    office::{OfficeInput, Verdict, Why},
    session::Status,
};
use serde_json::json;

use super::stage::{Death, Stage, ended};
use crate::common::{claude, codex, plain};

#[test]
fn who_has_ended_with_open_calls_is_not_done() {
    for agent in [claude(), codex(), plain()] {
        let mut stage = Stage::new(&[("PO", plain())]);
        let name = agent.name.clone();
        let caller = stage.caller(agent);
        if name != "agent" {
            stage.says(caller, json!({ "kind": "agent_session", "id": "c1", "model": null }));
        }
        stage.invokes(caller, "PO", "Plan it.");
        if name != "agent" {
            stage.says(caller, json!({ "kind": "end", "status": "success", "reason": null }));
        }
        if name != "claude" {
            stage.ends(caller, 0);
        }
        assert_eq!(stage.status(caller), Status::WaitingAgent, "{name}");
        stage.delivers(stage.seat("PO"), "s_1", "A plan.");
        if name == "agent" {
            // Nobody can be brought anything who remembers nothing; the result is there to be looked at.
            assert_eq!(stage.status(caller), Status::Completed);
            assert_eq!(stage.result(1).delivered_at_ms, None);
        } else {
            let told = stage.told(caller);
            assert!(told.last().is_some_and(|it| it.contains("[Result from PO]")), "{name}: {told:?}");
            assert_eq!(stage.status(caller), Status::Active, "{name}");
        }
    }
}

#[test]
fn a_callee_that_fails_fails_its_call_and_serves_the_next() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    stage.invokes(caller, "PO", "Second.");
    let seat = stage.seat("PO");
    stage.ends(seat, 3);
    assert_eq!(ended(stage.call(1)), (Verdict::Failed, Why::Failed));
    assert_eq!(stage.told(caller), ["[No result from PO]\nPO has failed: exit code 3\n"]);
    assert_eq!(stage.told(seat).last(), Some(&"[Task from s_1]\nSecond.\n"));
    stage.ends(seat, 0);
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Ended));
    assert_eq!(stage.told(caller)[1], "[Result from PO]\nPO is done, without a result.\n");
    // Whoever calls again has it begin again.
    stage.invokes(caller, "PO", "Third.");
    assert_eq!((stage.seat("PO"), stage.told(seat).len()), (seat, 3));
}

#[test]
fn what_nobody_lived_to_read_is_said_to_the_next_process() {
    for death in [Death::BeforeTaken, Death::BeforeRead] {
        let mut stage = Stage::new(&[("PO", plain())]);
        let caller = stage.caller(plain());
        stage.deaths = vec![death; 2];
        stage.invokes(caller, "PO", "Plan it.");
        let seat = stage.seat("PO");
        assert_eq!(stage.told(seat), ["[Task from s_1]\nPlan it.\n"], "{death:?}");
        stage.delivers(seat, "s_1", "A plan.");
        // Some die of whatever they are told: their callers learn it.
        stage.deaths = vec![death; 3];
        stage.invokes(caller, "PO", "Again.");
        assert_eq!(ended(stage.call(2)), (Verdict::Failed, Why::Failed), "{death:?}");
        // What a person has to say is no call.
        stage.deaths = vec![death];
        let seat = stage.find("PO").expect("it is there");
        stage.office(OfficeInput::Send { project: ProjectId(1), seat, text: "Hello.".to_owned() });
        stage.settle();
        let seat = stage.seat("PO");
        let is_said = stage.told(seat).last() == Some(&"Hello.\n");
        assert_eq!(is_said, matches!(death, Death::BeforeTaken), "{death:?}: {:?}", stage.told(seat));
    }
}

#[test]
fn who_dies_with_open_calls_and_remembers_nothing_fails_its_task_alone() {
    let mut stage = Stage::new(&[("PO", plain()), ("QA", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    stage.invokes(caller, "PO", "Second.");
    let seat = stage.seat("PO");
    stage.invokes(seat, "QA", "Test it.");
    stage.ends(seat, 3);
    assert_eq!(ended(stage.call(1)), (Verdict::Failed, Why::Failed));
    assert_eq!(ended(stage.call(3)), (Verdict::Cancelled, Why::Cancelled), "nobody knows what it was for");
    assert_eq!(stage.told(seat), ["[Task from s_1]\nFirst.\n", "[Task from s_1]\nSecond.\n"]);
    stage.delivers(seat, "s_1", "Done.");
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Delivered));
}

#[test]
fn a_cancelled_caller_takes_its_calls_back_and_late_results_are_marked() {
    let mut stage = Stage::new(&[("PO", plain()), ("QA", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "Plan it.");
    let (po, other) = (stage.seat("PO"), stage.caller(plain()));
    stage.invokes(other, "PO", "Later.");
    stage.give(&Input::Cancel(caller));
    stage.settle();
    assert_eq!(ended(stage.call(1)), (Verdict::Cancelled, Why::Cancelled));
    assert!(stage.told(po)[1].contains("Nobody waits any more"), "{:?}", stage.told(po));
    stage.delivers(po, "s_1", "Too late.");
    assert!(stage.result(1).late);
    assert!(stage.call(2).ended.is_none());
    // A person takes one back that its caller still wants.
    stage.office(OfficeInput::Cancel(InvocationId(2)));
    stage.settle();
    assert_eq!(stage.told(other), ["[No result from PO]\nThe call of PO was cancelled.\n"]);
}
