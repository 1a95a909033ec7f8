//! Results and steps: what they are about, and who has them.

use ostler_agents::{Agent, agent::Terminal};
use ostler_engine::{
    input::News,
    office::{OfficeEvent, Verdict, Why},
};
use serde_json::json;

use super::stage::{Stage, ended};
use crate::common::{plain, said};

#[test]
fn a_step_that_is_complete_with_its_result_is_the_same_one() {
    let result = |to: &str| json!({ "kind": "deliver_result", "target": to, "result_type": "message", "content": "x" });
    let step = json!({ "kind": "step_complete", "step": null, "summary": "Done." });
    let mut stage = Stage::new(&[("PO", plain()), ("QA", plain())]);
    let (one, two) = (stage.caller(plain()), stage.caller(plain()));
    stage.invokes(one, "PO", "First.");
    stage.invokes(two, "PO", "Second.");
    let seat = stage.seat("PO");
    // Both are heard before anybody has looked at the first.
    stage.shim(seat, News::Heard { item: said::at(5_000, result("s_1")) });
    stage.shim(seat, News::Heard { item: said::at(5_010, step.clone()) });
    stage.settle();
    assert_eq!(ended(stage.call(1)), (Verdict::Completed, Why::Delivered));
    assert_eq!(stage.told(one), ["[Result from PO]\nx\n[/Result]\n"]);
    assert!(stage.call(2).ended.is_none());
    // What goes to somebody else is not the result of what is worked on: the step is.
    stage.shim(seat, News::Heard { item: said::at(6_000, result("QA")) });
    stage.shim(seat, News::Heard { item: said::at(6_010, step) });
    stage.settle();
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Step));
    assert_eq!(stage.told(two), ["[Result from PO]\nDone.\n[/Result]\n"]);
}

#[test]
fn a_step_is_about_the_next_task_as_soon_as_that_was_handed_over() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    let seat = stage.seat("PO");
    let result =
        json!({ "kind": "deliver_result", "target": "s_1", "result_type": "message", "content": "x" });
    stage.shim(seat, News::Heard { item: said::at(5_000, result) });
    stage.settle();
    assert_eq!(ended(stage.call(1)), (Verdict::Completed, Why::Delivered));
    // It prints little, and is heard before it is known to have read.
    stage.is_mute = true;
    stage.invokes(caller, "PO", "Second.");
    let step = json!({ "kind": "step_complete", "step": null, "summary": null });
    stage.shim(seat, News::Heard { item: said::at(5_010, step) });
    stage.settle();
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Step));
}

#[test]
fn who_prints_a_result_that_is_too_long_is_told_what_to_do_instead() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "All of it.");
    let seat = stage.seat("PO");
    let fault = json!({ "kind": "fault", "severity": "fault", "tag": "DELIVER_RESULT", "field": "262144 bytes",
        "reason": "too_long", "details": "DELIVER_RESULT is longer than the limit of 262144 bytes",
        "raw": "[DELIVER_RESULT:s_1]\ncontent: xxx" });
    stage.says(seat, fault);
    assert!(stage.world().requests.is_empty(), "nobody is asked");
    assert!(stage.call(1).ended.is_none());
    assert_eq!(
        stage.told(seat).last(),
        Some(
            &"Your result for s_1 was not delivered: what is printed may have 262144 bytes. Use `ostler deliver s_1 \
             --stdin < FILE`, or write it to a file and bring its path with `type: file_path`.\n"
        )
    );
}

#[test]
fn a_result_that_is_printed_right_before_the_end_is_not_lost() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "Plan it.");
    let seat = stage.seat("PO");
    let item = json!({ "kind": "deliver_result", "target": "s_1", "result_type": "message", "content": "x" });
    stage.shim(seat, News::Heard { item: said::at(5_000, item) });
    stage.shim(seat, News::Ended { code: Some(0), signal: None, clean: true });
    assert!(stage.call(1).ended.is_none(), "it is looked at first");
    stage.settle();
    assert_eq!(ended(stage.call(1)), (Verdict::Completed, Why::Delivered));
    assert_eq!(stage.told(caller), ["[Result from PO]\nx\n[/Result]\n"]);
}

#[test]
fn a_result_for_who_is_not_there_waits_for_the_first_session() {
    let mut stage = Stage::new(&[("QA", plain())]);
    let caller = stage.caller(plain());
    stage.delivers(caller, "QA", "Read this first.");
    assert_eq!(stage.result(1).receiver, None);
    stage.invokes(caller, "QA", "Test it.");
    let told = stage.told(stage.seat("QA"));
    assert_eq!(told, ["[Result from s_1]\nRead this first.\n[/Result]\n", "[Task from s_1]\nTest it.\n"]);
    assert!(stage.result(1).delivered_at_ms.is_some());
}

#[test]
fn a_result_of_an_older_journal_is_whole() {
    let reference = json!({ "path": "/office/s_1.k", "bytes": 20_000, "sha256": "0" });
    let given = json!({
        "kind": "result.given", "result": "d_1", "from": "QA", "to": "PO", "type": "message",
        "content": "x".repeat(20_000), "reference": reference, "invocation": null, "late": false,
        "receiver": null, "root": "r_1", "origin": "k", "printed": null,
    });
    let Ok(OfficeEvent::Given { content, cut, .. }) = serde_json::from_value(given) else {
        panic!("it can be read");
    };
    assert_eq!((content.len(), cut), (20_000, false));
}

#[test]
fn what_a_terminal_draws_again_is_said_once_until_it_is_told_something() {
    let at_terminal = || Agent { terminal: Terminal::Pty, ..plain() };
    let mut stage = Stage::new(&[("PO", at_terminal())]);
    let caller = stage.caller(at_terminal());
    for _ in 0..3 {
        stage.invokes(caller, "PO", "Plan it.");
    }
    assert_eq!(stage.world().invocations.len(), 1, "it is drawn three times");
    let seat = stage.seat("PO");
    for _ in 0..2 {
        stage.delivers(seat, "s_1", "x");
    }
    assert_eq!(stage.told(caller), ["[Result from PO]\nx\n[/Result]\n"]);
    assert_eq!(stage.world().results.len(), 1);

    // Whoever has the result may want the same once more, and whoever is told so does it once more.
    stage.invokes(caller, "PO", "Plan it.");
    assert_eq!(stage.world().invocations.len(), 2);
    stage.delivers(seat, "s_1", "x");
    assert_eq!(stage.told(caller).len(), 2);
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Delivered));

    // Who has no terminal says twice what it says twice.
    let other = stage.caller(plain());
    for _ in 0..2 {
        stage.invokes(other, "PO", "Plan it.");
    }
    assert_eq!(stage.world().invocations.len(), 4);
}
