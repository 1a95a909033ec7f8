//! Agents that call each other again and again while nothing changes.

use ostler_engine::{
    Input, Overlay, RequestId, SessionId,
    answer::Given,
    input::News,
    office::{OfficeInput, RepeatTerms, Verdict, Why},
    request::Ask,
    session::Status,
};

use super::stage::{Stage, ended};
use crate::common::{decide_well, plain};

/// A caller with a role, where the same call may end so often.
fn stage(max: u32) -> (Stage, SessionId) {
    let mut stage = Stage::new(&[("PO", plain()), ("QA", plain())]);
    stage.repeats = RepeatTerms { max: Some(max), files: None };
    let caller = stage.caller(plain());
    (stage, caller)
}

/// The caller calls, and the role answers, each in the same words.
fn round(stage: &mut Stage, caller: SessionId, number: u32) {
    stage.invokes(caller, "QA", &format!("Run  the tests, try {number}."));
    let seat = stage.seat("QA");
    stage.delivers(seat, &caller.to_string(), &format!("Red after {number} s."));
}

fn answer(stage: &mut Stage, request: u64, value: &str) {
    let given = Given { value: Some(value.to_owned()), ..Given::default() };
    stage.give(&Input::Answer { request: RequestId(request), given, printed: None });
    stage.settle();
}

fn question(stage: &Stage, request: u64) -> String {
    match &stage.world().requests[&RequestId(request)].ask {
        Ask::Question(question) => question.question.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_same_call_that_brings_nothing_new_is_held_until_a_person_answers() {
    let (mut stage, caller) = stage(3);
    (1..=3).for_each(|number| round(&mut stage, caller, number));
    assert!(stage.world().requests.is_empty());
    let told = stage.told(stage.seat("QA")).len();
    stage.invokes(caller, "QA", "Run the tests, try 44.");
    assert_eq!(stage.status(caller), Status::WaitingInput);
    assert_eq!((stage.call(4).seat, stage.told(stage.seat("QA")).len()), (None, told));
    let asked = question(&stage, 1);
    assert!(asked.contains("s_1 has called QA 3 times"), "{asked}");
    assert!(asked.contains("(i_4)") && asked.contains("Task: Run the tests, try 44."), "{asked}");

    // What is no answer changes nothing.
    let given = Given { value: Some("perhaps".to_owned()), ..Given::default() };
    let refused = Input::Answer { request: RequestId(1), given, printed: None };
    assert!(decide_well(stage.world(), &Overlay::default(), 1_000, &refused).is_err());

    answer(&mut stage, 1, "continue");
    assert_eq!(stage.told(stage.seat("QA")).len(), told + 1);
    stage.delivers(stage.seat("QA"), "s_1", "Red after 4 s.");
    // As often again.
    (5..=6).for_each(|number| round(&mut stage, caller, number));
    assert_eq!(stage.world().requests.len(), 1);
    stage.invokes(caller, "QA", "Run the tests, try 7.");
    answer(&mut stage, 2, "stop");
    assert_eq!(ended(stage.call(7)), (Verdict::Failed, Why::Repeated));
    let told = stage.told(caller);
    assert!(
        told.iter().all(|it| !it.contains("continue") && *it != "stop\n"),
        "the agent was not asked: {told:?}"
    );
    assert!(
        told.last().is_some_and(|it| it.starts_with("[No result from QA]\nA person stopped this call")),
        "{told:?}"
    );
    assert_eq!(stage.status(caller), Status::Active);
}

#[test]
fn what_changes_lets_calls_go_on() {
    // Another result.
    let (mut stage, caller) = stage(2);
    for result in ["Red.", "Still red.", "Green, but slow.", "Green."] {
        stage.invokes(caller, "QA", "Test it.");
        stage.delivers(stage.seat("QA"), "s_1", result);
    }
    assert!(stage.world().requests.is_empty());

    // Files.
    let (mut stage, caller) = self::stage(2);
    for files in ["a", "b", "c", "d", "e"] {
        stage.repeats.files = Some(files.to_owned());
        round(&mut stage, caller, 1);
    }
    assert!(stage.world().requests.is_empty());
    round(&mut stage, caller, 1);
    stage.invokes(caller, "QA", "Run the tests, try 1.");
    assert_eq!(stage.world().requests.len(), 1);

    // The words of a person.
    let (mut stage, caller) = self::stage(2);
    for _ in 0..3 {
        (0..2).for_each(|_| round(&mut stage, caller, 1));
        stage.give(&Input::Send { session: caller, text: "Once more.".to_owned(), printed: None });
        stage.settle();
    }
    assert!(stage.world().requests.is_empty());
}

#[test]
fn calls_that_are_open_at_once_are_one_round() {
    let (mut stage, caller) = stage(2);
    (0..8).for_each(|_| stage.invokes(caller, "QA", "Vote."));
    for _ in 0..8 {
        stage.delivers(stage.seat("QA"), "s_1", "Yes.");
    }
    assert!(stage.world().requests.is_empty());
    assert!((1..=8).all(|call| ended(stage.call(call)) == (Verdict::Completed, Why::Delivered)));
}

#[test]
fn a_person_is_asked_once_about_all_calls_of_a_caller_to_a_role() {
    for (word, verdict) in [("continue", Verdict::Completed), ("stop", Verdict::Failed)] {
        let (mut stage, caller) = stage(2);
        (1..=2).for_each(|number| round(&mut stage, caller, number));
        for task in ["Run the tests, try 3.", "Run the tests, try 4.", "Run the tests, try 5."] {
            stage.invokes(caller, "QA", task);
        }
        assert_eq!(stage.world().requests.len(), 1);
        assert!(question(&stage, 1).contains("every call to QA that waits"), "{}", question(&stage, 1));
        // A call that nobody waits for any more leaves the question to the others.
        stage.office(OfficeInput::Cancel(stage.call(3).id));
        assert!(stage.world().requests[&RequestId(1)].is_open());
        answer(&mut stage, 1, word);
        for _ in 4..=5 {
            if word == "continue" {
                stage.delivers(stage.seat("QA"), "s_1", "Green.");
            }
        }
        assert_eq!([4, 5].map(|call| ended(stage.call(call)).0), [verdict, verdict], "{word}");
        assert_eq!(stage.world().requests.len(), 1);
    }
}

#[test]
fn two_roles_that_call_each_other_in_turn_are_held() {
    let (mut stage, caller) = stage(3);
    stage.invokes(caller, "PO", "Ship it.");
    let po = stage.seat("PO");
    let mut calls = 1;
    while stage.world().requests.is_empty() {
        // Each ends its own task before it calls back, so nobody waits in a ring.
        stage.delivers(po, if calls == 1 { "s_1" } else { "QA" }, "Looked at.");
        stage.invokes(po, "QA", "Please review.");
        calls += 1;
        if stage.world().requests.is_empty() {
            stage.delivers(stage.seat("QA"), "PO", "Looked at.");
            stage.invokes(stage.seat("QA"), "PO", "Please change.");
        }
        assert!(calls < 6, "nobody stops them");
    }
    assert!(question(&stage, 1).contains("QA has called PO 3 times"), "{}", question(&stage, 1));
}

#[test]
fn a_held_call_that_is_taken_back_takes_its_question_along() {
    let (mut stage, caller) = stage(2);
    (0..2).for_each(|_| round(&mut stage, caller, 1));
    stage.invokes(caller, "QA", "Run the tests, try 1.");
    stage.office(OfficeInput::Cancel(ostler_engine::InvocationId(3)));
    stage.settle();
    assert!(!stage.world().requests[&RequestId(1)].is_open());
    assert_eq!(ended(stage.call(3)), (Verdict::Cancelled, Why::Cancelled));

    // So does one whose caller is cancelled.
    (0..2).for_each(|_| round(&mut stage, caller, 1));
    stage.invokes(caller, "QA", "Run the tests, try 1.");
    assert!(stage.world().requests[&RequestId(2)].is_open());
    stage.give(&Input::Cancel(caller));
    stage.settle();
    assert!(!stage.world().requests[&RequestId(2)].is_open());
    assert_eq!(stage.status(caller), Status::Cancelled);
}

#[test]
fn a_process_that_called_and_went_on_is_told_of_the_stop_by_a_message() {
    let (mut stage, caller) = stage(2);
    (0..2).for_each(|_| round(&mut stage, caller, 1));
    for (key, waits) in [("k1", false), ("k2", true)] {
        stage.office(OfficeInput::Invoke {
            session: caller,
            launch: 1,
            key: key.to_owned(),
            callee: "QA".to_owned(),
            task: "Run the tests, try 1.".to_owned(),
            context: None,
            process: (8, 1),
            waits,
        });
        stage.settle();
        let request = stage.world().requests.len() as u64;
        let told = stage.told(caller).len();
        answer(&mut stage, request, "stop");
        // Who is blocked reads it there.
        assert_eq!(stage.told(caller).len(), told + usize::from(!waits), "{key}");
        let call = stage.world().invocations.values().last().expect("a call");
        assert_eq!(ended(call), (Verdict::Failed, Why::Repeated));
        // What a person answers lets it go on: it has to be repeated again.
        (0..2).for_each(|_| round(&mut stage, caller, 1));
    }
    stage.shim(caller, News::Ended { code: Some(0), signal: None, clean: true });
}
