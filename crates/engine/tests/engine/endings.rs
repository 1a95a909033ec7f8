//! How a process ended, and how the session is because of it.

use ostler_engine::{
    Input,
    input::News,
    run::{Outcome, Reason},
    session::Status,
};

use crate::{
    common::{claude, plain, said},
    play::{Play, S},
};

fn check(mut play: Play, last_word: impl FnOnce(&mut Play), outcome: &Outcome) {
    last_word(&mut play);
    assert_eq!(play.session().outcome.as_ref(), Some(outcome));
    let run = &play.book.world.runs[&play.session().run];
    assert_eq!(run.outcome.as_ref(), Some(outcome), "the run ends with its session");
}

fn failed(reason: Reason) -> Outcome {
    Outcome::Failed { reason }
}

#[test]
fn a_plain_program_is_judged_by_its_exit() {
    check(Play::running(plain()), |play| play.ended(0), &Outcome::Completed { verified: false });
    check(Play::running(plain()), |play| play.ended(3), &failed(Reason::ExitCode { code: 3 }));
    check(Play::running(plain()), Play::killed, &failed(Reason::KilledBy { signal: 15 }));
}

#[test]
fn a_cli_is_judged_by_its_word_and_its_exit() {
    let after = |item: serde_json::Value, code: i32| {
        move |play: &mut Play| {
            play.heard(item);
            play.ended(code);
        }
    };
    check(Play::running(claude()), after(said::end("success"), 0), &Outcome::Completed { verified: false });
    check(Play::running(claude()), after(said::end("success"), 1), &failed(Reason::ExitCode { code: 1 }));
    let error = failed(Reason::AgentError { message: None });
    check(Play::running(claude()), after(said::end("error"), 0), &error);
    check(Play::running(claude()), after(said::usage(1.0), 0), &failed(Reason::NoEnd));
}

#[test]
fn a_limit_is_no_failure_and_is_over_when_it_says_so() {
    let mut play = Play::running(claude());
    play.heard(said::limit_for(Some(5_000)));
    play.ended(1);
    assert_eq!((play.status(), &play.session().outcome), (Status::Parked, &None));
    play.wait_ms(4_999);
    assert_eq!(play.status(), Status::Parked);
    play.wait_ms(1);
    assert_eq!(play.status(), Status::Starting);
}

#[test]
fn who_cannot_be_started_has_failed() {
    let not_started = failed(Reason::NotStarted { message: "no".to_owned() });
    let play = Play::ordered(crate::common::order(plain(), ostler_engine::run::Terms::default()));
    check(play, |play| play.shim(News::NotStarted { message: "no".to_owned() }), &not_started);
    let play = Play::ordered(crate::common::order(plain(), ostler_engine::run::Terms::default()));
    let failed = Input::LaunchFailed { session: S, launch: 1, message: "no".to_owned() };
    check(play, |play| play.give(failed), &not_started);
}

#[test]
fn a_cli_that_waits_for_more_is_told_that_there_is_none() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.heard(said::end("success"));
    assert!(play.page().contains("→ close_input"));
    play.shim(News::ClosedInput);
    // What comes now waits for the next process.
    play.give(Input::Send { session: S, text: "one more thing".to_owned(), printed: None });
    assert!(!play.page().contains("deliver"));
    play.ended(0);
    assert_eq!(play.status(), Status::Starting);
    assert!(play.page().contains("one more thing"));
}

#[test]
fn a_record_that_only_a_later_shim_knows_is_noted() {
    let mut play = Play::running(plain());
    play.shim(News::Unknown { what: "danced".to_owned() });
    assert_eq!(play.page(), "session.noted launch=1 what=\"danced\"\n");
}
