//! Who has nothing to do, and when that is ended.

use ostler_engine::{
    Input,
    answer::Given,
    input::News,
    office::{OfficeInput, Verdict, Why, has_nothing_to_do},
    session::Status,
};
use serde_json::json;

use super::stage::{IDLE_MS, Stage, ended};
use crate::common::{claude, plain, said};

#[test]
fn an_idle_seat_ends_and_comes_back_when_it_is_called() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    let seat = stage.seat("PO");
    stage.delivers(seat, "s_1", "One.");
    stage.now_ms += IDLE_MS;
    stage.give(&Input::Tick);
    stage.settle();
    assert_eq!(stage.status(seat), Status::Completed);
    stage.invokes(caller, "PO", "Second.");
    assert_eq!((stage.seat("PO"), stage.status(seat)), (seat, Status::Active));
    stage.delivers(seat, "s_1", "Two.");
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Delivered));
}

#[test]
fn an_idle_seat_that_is_lost_while_it_ends_is_over() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    let session = stage.seat("PO");
    stage.delivers(session, "s_1", "One.");
    stage.now_ms += IDLE_MS;
    stage.give(&Input::Tick);
    let listened = OfficeInput::Listened { session, launch: 1, printed_at_ms: None, at_work: false };
    stage.office(listened);
    // The machine goes before it has ended.
    stage.actions.clear();
    stage.give(&Input::ShimLost { session, launch: 1 });
    assert_eq!(stage.status(session), Status::Completed);
    stage.invokes(caller, "PO", "Second.");
    assert_eq!((stage.seat("PO"), stage.status(session)), (session, Status::Active));
}

#[test]
fn how_soon_a_seat_ends_is_no_reason_to_begin_anew() {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Good morning.");
    stage.prints(seat);
    stage.passes(IDLE_MS);
    assert_eq!(stage.status(seat), Status::Completed);
    stage.idle_ms *= 2;
    assert_eq!(stage.writes("PO", "Once more."), seat);
    stage.prints(seat);
    stage.passes(IDLE_MS);
    assert_eq!(stage.status(seat), Status::Active, "it is kept as long as is said now");
    stage.passes(IDLE_MS);
    assert_eq!(stage.status(seat), Status::Completed);
}

#[test]
fn who_has_asked_a_person_stays_for_the_answer_though_nobody_waits_for_it_any_more() {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Good morning.");
    stage.says(seat, said::ask_user("Which one?"));
    let request = *stage.world().requests.keys().next().expect("a question");
    stage.passes(3_600_000);
    stage.passes(IDLE_MS * 3);
    assert!(stage.world().requests[&request].is_open(), "it can still be answered");
    assert_eq!(stage.status(seat), Status::Active);
    let given = Given { value: Some("This one.".to_owned()), ..Given::default() };
    stage.give(&Input::Answer { request, given, printed: None });
    stage.settle();
    assert!(stage.told(seat).iter().any(|told| told.contains("This one.")), "{:?}", stage.told(seat));
    stage.prints(seat);
    stage.passes(IDLE_MS);
    assert_eq!(stage.status(seat), Status::Completed);
}

#[test]
fn who_ends_without_reading_its_answer_is_not_begun_again_for_it() {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Good morning.");
    stage.says(seat, said::ask_user("Which one?"));
    let request = *stage.world().requests.keys().next().expect("a question");
    let given = Given { value: Some("This one.".to_owned()), ..Given::default() };
    stage.give(&Input::Answer { request, given, printed: None });
    stage.ends(seat, 0);
    assert_eq!(stage.session(seat).launches.len(), 1, "it would only ask once more");
    assert_eq!(stage.status(seat), Status::Completed);
    // Words are for whoever comes next.
    stage.writes("PO", "Good evening.");
    assert_eq!(stage.session(seat).launches.len(), 2);
}

#[test]
fn who_was_written_to_by_a_person_is_not_idle_before_it_has_said_something() {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Good morning.");
    stage.passes(IDLE_MS * 3);
    assert_eq!(stage.status(seat), Status::Active, "it has not answered");
    stage.passes(IDLE_MS * 3);
    assert_eq!(stage.status(seat), Status::Active, "it has still not answered");
    stage.prints(seat);
    stage.passes(IDLE_MS - 1);
    assert_eq!(stage.status(seat), Status::Active, "it has just said something");
    stage.passes(1);
    assert_eq!(stage.status(seat), Status::Completed);
    // Who comes back for more is not ended for what it said long ago.
    let told = stage.writes("PO", "Once more.");
    assert_eq!((told, stage.status(seat)), (seat, Status::Active));
    stage.passes(IDLE_MS * 3);
    assert_eq!(stage.status(seat), Status::Active, "it has not answered that");
    stage.delivers(seat, "s_1", "An answer.");
    stage.passes(IDLE_MS);
    assert_eq!(stage.status(seat), Status::Completed);
}

#[test]
fn an_answer_is_known_for_one_though_its_file_bears_an_earlier_tick() {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Good morning.");
    stage.printed_at_ms.insert(seat, stage.now_ms - 4);
    stage.passes(IDLE_MS);
    assert_eq!(stage.status(seat), Status::Completed);
}

#[test]
fn who_still_prints_is_not_idle() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    let seat = stage.seat("PO");
    stage.delivers(seat, "s_1", "One.");
    for _ in 0..20 {
        stage.passes(IDLE_MS / 3);
        stage.prints(seat);
        assert_eq!(stage.status(seat), Status::Active, "it has just printed something");
    }
    stage.passes(IDLE_MS);
    assert_eq!(stage.status(seat), Status::Completed);
}

#[test]
fn who_prints_nothing_and_is_seen_to_work_is_not_idle() {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Build it.");
    stage.prints(seat);
    stage.at_work.insert(seat);
    for _ in 0..5 {
        stage.passes(IDLE_MS);
        assert_eq!(stage.status(seat), Status::Active, "it is at work");
    }
    stage.at_work.clear();
    stage.passes(IDLE_MS - 1);
    assert_eq!(stage.status(seat), Status::Active, "it has just been at work");
    stage.passes(1);
    assert_eq!(stage.status(seat), Status::Completed);
    // To be at work is not to have said a word.
    let seat = stage.writes("PO", "Once more.");
    stage.at_work.insert(seat);
    stage.passes(IDLE_MS);
    stage.at_work.clear();
    stage.passes(IDLE_MS * 3);
    assert_eq!(stage.status(seat), Status::Active, "it has not answered");
}

#[test]
fn what_is_brought_is_something_to_do() {
    let mut stage = Stage::new(&[("PO", plain()), ("QA", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Have it tested.");
    stage.invokes(seat, "QA", "Test it.");
    stage.passes(IDLE_MS * 3);
    assert_eq!(stage.status(seat), Status::Active, "it waits for another");
    stage.delivers(stage.seat("QA"), "PO", "All is well.");
    stage.passes(IDLE_MS - 1);
    assert_eq!(stage.status(seat), Status::Active, "it was told that just now");
    stage.passes(1);
    assert_eq!(stage.status(seat), Status::Completed);
}

#[test]
fn who_was_held_or_had_a_question_is_not_idle_for_that() {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Good morning.");
    stage.prints(seat);
    stage.give(&Input::Pause(seat));
    stage.passes(IDLE_MS * 3);
    stage.give(&Input::Continue(seat));
    stage.passes(IDLE_MS - 1);
    assert_eq!(stage.status(seat), Status::Active, "it could do nothing before");

    let ask = said::asked(&said::question("Which one?"));
    let (session, launch, key, ask) = (seat, 1, "k1".to_owned(), Box::new(ask));
    stage.give(&Input::Call { session, launch, key, ask, shown: None, pid: 9, began: 2 });
    stage.passes(IDLE_MS * 2);
    assert_eq!(stage.status(seat), Status::WaitingInput, "a process of it is blocked");
}

#[test]
fn a_seat_has_nothing_to_do_between_calls_and_who_takes_turns_between_those() {
    let mut stage = Stage::new(&[("PO", plain()), ("QA", claude())]);
    let caller = stage.caller(plain());
    assert!(!has_nothing_to_do(stage.session(caller)), "it is no role");
    stage.invokes(caller, "PO", "First.");
    let seat = stage.seat("PO");
    assert!(!has_nothing_to_do(stage.session(seat)));
    stage.delivers(seat, "s_1", "One.");
    assert!(has_nothing_to_do(stage.session(seat)));
    stage.passes(IDLE_MS);
    assert!(!has_nothing_to_do(stage.session(seat)), "it is not there");

    let seat = stage.writes("QA", "Good morning.");
    assert!(!has_nothing_to_do(stage.session(seat)), "it has not ended its turn");
    stage.says(seat, json!({ "kind": "end", "status": "success", "reason": null }));
    assert!(has_nothing_to_do(stage.session(seat)));
    stage.writes("QA", "Once more.");
    assert!(!has_nothing_to_do(stage.session(seat)));
}

#[test]
fn who_says_when_it_is_through_is_not_idle_before() {
    let mut agent = plain();
    agent.end.required = true;
    let mut stage = Stage::new(&[("PO", agent)]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    let seat = stage.seat("PO");
    stage.delivers(seat, "s_1", "One.");
    stage.now_ms += IDLE_MS * 2;
    stage.give(&Input::Tick);
    stage.settle();
    assert_eq!(stage.status(seat), Status::Active, "it has more to say");
    stage.says(seat, json!({ "kind": "end", "status": "success", "reason": null }));
    stage.shim(seat, News::Ended { code: Some(0), signal: None, clean: true });
    stage.settle();
    assert_eq!(stage.status(seat), Status::Completed);
}
