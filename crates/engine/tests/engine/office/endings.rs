//! Who ends, fails or is taken back while others wait.

use ostler_engine::{
    Action, CheckpointId, Input, InvocationId, ProjectId,
    action::Deed,
    checkpoint::Kept,
    input::{CheckpointNews, News, RestoreNews},
    office::{OfficeInput, RepeatTerms, Verdict, Why},
    session::Status,
};
use serde_json::json;

use super::stage::{Death, Stage, ended};
use crate::common::{claude, codex, plain, said};

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
    assert_eq!(stage.told(caller), ["[No result from PO]\nPO has failed: exit code 3\n[/Result]\n"]);
    assert_eq!(stage.told(seat).last(), Some(&"[Task from s_1]\nSecond.\n"));
    stage.ends(seat, 0);
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Ended));
    assert_eq!(stage.told(caller)[1], "[Result from PO]\nPO is done, without a result.\n[/Result]\n");
    // Whoever calls again has it begin again.
    stage.invokes(caller, "PO", "Third.");
    assert_eq!((stage.seat("PO"), stage.told(seat).len()), (seat, 3));
}

#[test]
fn nobody_acts_on_what_a_process_was_saying_when_it_was_killed() {
    let invoke = json!({ "kind": "invoke", "target": "QA", "task": "Delete the fi", "context": null });
    let deliver =
        json!({ "kind": "deliver_result", "target": "s_1", "result_type": "message", "content": "Hal" });
    for item in [invoke, deliver, said::fault("INVOKE missing required field 'task'")] {
        for ended_by in ["cut_off", "stream"] {
            let mut stage = Stage::new(&[("PO", plain()), ("QA", plain())]);
            let caller = stage.caller(plain());
            stage.invokes(caller, "PO", "First.");
            stage.invokes(caller, "PO", "Second.");
            let seat = stage.seat("PO");
            let mut item = item.clone();
            item["ended_by"] = json!(ended_by);
            stage.says(seat, item);
            if ended_by == "stream" {
                let has_effect = stage.world().invocations.len() > 2 || !stage.world().results.is_empty();
                assert!(has_effect || stage.world().requests.len() == 1);
                continue;
            }
            stage.shim(seat, News::Ended { code: None, signal: Some(9), clean: true });
            stage.settle();
            assert_eq!(ended(stage.call(1)), (Verdict::Failed, Why::Failed));
            assert_eq!(stage.told(caller), ["[No result from PO]\nPO has failed: signal 9\n[/Result]\n"]);
            assert_eq!(stage.told(seat).last(), Some(&"[Task from s_1]\nSecond.\n"));
            assert_eq!(stage.world().invocations.len(), 2);
            assert!(stage.world().results.is_empty() && stage.world().requests.is_empty());
        }
    }
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
        stage.office(OfficeInput::Send {
            project: ProjectId(1),
            seat,
            text: "Hello.".to_owned(),
            printed: None,
        });
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
    assert_eq!(stage.told(other), ["[No result from PO]\nThe call of PO was cancelled.\n[/Result]\n"]);
}

/// Three calls that wait behind somebody else's, or behind a first one of the same caller.
#[test]
fn what_a_caller_had_not_begun_is_never_said() {
    for (is_first_its_own, is_killed) in [(false, false), (true, false), (false, true), (true, true)] {
        let mut stage = Stage::new(&[("B", plain()), ("C", plain())]);
        let person = stage.caller(plain());
        stage.invokes(person, "B", "begin");
        let b = stage.seat("B");
        stage.invokes(if is_first_its_own { b } else { person }, "C", "first");
        for task in ["q1", "q2", "q3"] {
            stage.invokes(b, "C", task);
        }
        stage.invokes(person, "C", "last");
        let c = stage.seat("C");
        if is_killed {
            stage.shim(b, News::Ended { code: None, signal: Some(9), clean: true });
        } else {
            stage.give(&Input::Cancel(b));
        }
        stage.settle();
        assert!((3..=5).all(|call| ended(stage.call(call)) == (Verdict::Cancelled, Why::Cancelled)));
        let told = stage.told(c);
        let first = if is_first_its_own { "[Task from B]\nfirst\n" } else { "[Task from s_1]\nfirst\n" };
        assert_eq!(told[0], first);
        if is_first_its_own {
            assert!(told[1].contains("for what B called you for (i_2)"), "{told:?}");
            assert_eq!(told[2..], ["[Task from s_1]\nlast\n"]);
        } else {
            assert_eq!(told.len(), 1, "{told:?}");
            stage.delivers(c, "s_1", "Done.");
            assert_eq!(stage.told(c)[1..], ["[Task from s_1]\nlast\n"]);
        }
    }
}

#[test]
fn who_is_asked_to_end_has_nothing_begun_for_it_meanwhile() {
    let mut stage = Stage::new(&[("C", plain())]);
    let (other, caller) = (stage.caller(plain()), stage.caller(plain()));
    stage.invokes(other, "C", "first");
    stage.invokes(caller, "C", "second");
    let c = stage.seat("C");
    stage.give(&Input::Cancel(caller));
    // Its process takes its time.
    let is_end = |action: &Action| matches!(action.what, Deed::End { .. });
    let end = stage.actions.iter().position(is_end).and_then(|at| stage.actions.remove(at));
    stage.settle();
    stage.delivers(c, "s_1", "Done.");
    stage.invokes(caller, "C", "third");
    assert_eq!(stage.told(c), ["[Task from s_1]\nfirst\n"]);
    assert!((2..=3).all(|call| ended(stage.call(call)) == (Verdict::Cancelled, Why::Cancelled)));
    stage.actions.extend(end);
    stage.settle();
    assert_eq!(stage.status(caller), Status::Cancelled);
}

#[test]
fn who_has_called_somebody_cancelled_twice_hears_of_both_at_once() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(codex());
    stage.says(caller, json!({ "kind": "agent_session", "id": "c1", "model": null }));
    stage.invokes(caller, "PO", "One.");
    stage.invokes(caller, "PO", "Two.");
    stage.says(caller, json!({ "kind": "end", "status": "success", "reason": null }));
    stage.ends(caller, 0);
    stage.give(&Input::Cancel(stage.seat("PO")));
    stage.settle();
    let told = stage.told(caller);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].matches("[No result from PO]\nThe call of PO was cancelled.").count(), 2, "{told:?}");
}

#[test]
fn who_dies_blocked_in_two_calls_hears_of_both_at_once() {
    let mut stage = Stage::new(&[("PO", plain()), ("QA", plain())]);
    let caller = stage.caller(codex());
    stage.says(caller, json!({ "kind": "agent_session", "id": "c1", "model": null }));
    for callee in ["PO", "QA"] {
        stage.office(OfficeInput::Invoke {
            session: caller,
            launch: 1,
            key: callee.to_owned(),
            callee: callee.to_owned(),
            task: "Do it.".to_owned(),
            context: None,
            process: (9, 2),
            waits: true,
        });
        stage.settle();
        stage.delivers(stage.seat(callee), "s_1", callee);
    }
    stage.says(caller, json!({ "kind": "end", "status": "success", "reason": null }));
    stage.ends(caller, 0);
    let told = stage.told(caller);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("[Result from PO]") && told[0].contains("[Result from QA]"), "{told:?}");
}

#[test]
fn what_could_not_be_begun_is_not_said_when_it_can() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    let seat = stage.writes("PO", "Hello.");
    stage.ends(seat, 0);
    let checkpoint = CheckpointId(1);
    stage.give(&Input::Checkpoint(seat));
    let kept = Kept {
        reference: "refs/c_1".to_owned(),
        commit: "1".to_owned(),
        anchor: None,
        left_out: Vec::new(),
        left_out_count: 0,
    };
    stage.give(&Input::Checkpointed { session: seat, checkpoint, news: CheckpointNews::Made { kept } });
    stage.settle();
    // It calls and asks, and while it is looked who is called the files of that one are exchanged.
    let call = json!({ "kind": "invoke", "target": "PO", "task": "Too early.", "context": null });
    stage.shim(caller, News::Heard { item: said::at(1, call) });
    stage.actions.clear();
    stage.shim(caller, News::Heard { item: said::at(2, said::question("Which one?")) });
    let (cause, processes, confirmed) = ("signal".to_owned(), 1, true);
    stage.shim(caller, News::Stopped { cause, processes, confirmed });
    stage.give(&Input::Restore { checkpoint, conversation: false });
    let found = stage.find("PO");
    stage.office(OfficeInput::Seated {
        invocation: InvocationId(1),
        seat: found,
        repeats: RepeatTerms::default(),
    });
    assert_eq!(ended(stage.call(1)), (Verdict::Failed, Why::Failed));
    let news = RestoreNews::NotRestored { before: CheckpointNews::Unchanged, message: "no".to_owned() };
    stage.give(&Input::Restored { session: seat, checkpoint, news });
    stage.settle();
    stage.writes("PO", "Now.");
    assert_eq!(stage.told(seat), ["Hello.\n", "Now.\n"]);
}
