//! Done is proved: checks, attempts, and when trying again is no use.

use expect_test::{Expect, expect};
use ostler_engine::{
    Input,
    run::{Outcome, Reason, Terms},
    session::Status,
};

use crate::{
    common::{claude, plain, said},
    play::{Play, S},
};

fn checked(attempts_max: Option<u32>) -> Terms {
    Terms { check: Some("make test".to_owned()), attempts_max, ..Terms::default() }
}

fn check(play: &mut Play, expect: &Expect) {
    expect.assert_eq(&play.page());
}

fn check_ends(play: &mut Play, code: i32, output: &str) {
    let number = play.session().checking.expect("a check runs");
    play.give(Input::CheckEnded { session: S, number, code, output: output.to_owned() });
}

/// An attempt: the process runs and ends, and its check says this.
fn attempt(play: &mut Play, output: &str) {
    play.ended(0);
    check_ends(play, 1, output);
    if play.session().live().is_some() {
        play.started();
    }
}

#[test]
fn a_check_that_passes_is_proof() {
    let mut play = Play::with_terms(plain(), checked(None));
    play.ended(0);
    assert_eq!(play.status(), Status::Checking);
    check_ends(&mut play, 0, "");
    assert_eq!(play.session().outcome, Some(Outcome::Completed { verified: true }));
    check(
        &mut play,
        &expect![[r#"
        session.ended end={"at_ms":1000,"clean":true,"code":0,"how":"exited","signal":null} launch=1
        check.started number=1
            → check number=1
        check.finished attempt={"code":0,"launch":1,"output":"","signature":"0 "} number=1
        session.finished outcome={"outcome":"completed","verified":true}
        run.ended outcome={"outcome":"completed","verified":true}
    "#]],
    );
}

#[test]
fn a_check_that_fails_once_is_the_end_unless_it_may_try_again() {
    let mut play = Play::with_terms(plain(), checked(None));
    attempt(&mut play, "1 failed");
    let reason = Reason::CheckFailed { code: 1, attempts: 1 };
    assert_eq!(play.session().outcome, Some(Outcome::Failed { reason }));
}

#[test]
fn who_may_try_again_is_told_what_failed() {
    let mut play = Play::with_terms(claude(), checked(Some(2)));
    play.heard(said::conversation("c1"));
    play.heard(said::end("success"));
    play.ended(0);
    play.give(Input::Send { session: S, text: "mind the gap".to_owned(), printed: None });
    play.forget();
    check_ends(&mut play, 2, "1 failed\n");
    check(
        &mut play,
        &expect![[r#"
        check.finished attempt={"code":2,"launch":1,"output":"1 failed\n","signature":"2 1 failed \n"} number=1
        session.launched cause="attempt" fresh=false launch=2 prompt="The work is not done: `make test` failed with exit code 2:\n\n1 failed\n\nmind the gap"
            → launch launch=2
        input.delivered launch=2 parcel={"message":"m_1"}
    "#]],
    );
    play.started();
    play.heard(said::end("success"));
    play.ended(0);
    check_ends(&mut play, 2, "2 failed\n");
    let reason = Reason::CheckFailed { code: 2, attempts: 2 };
    assert_eq!(play.session().outcome, Some(Outcome::Failed { reason }));
}

#[test]
fn three_failures_of_the_same_kind_are_enough() {
    let mut play = Play::with_terms(plain(), checked(Some(10)));
    attempt(&mut play, "1 failed in 2.1s");
    attempt(&mut play, "2 failed in 2.3s");
    attempt(&mut play, "2 failed in 2.4s");
    assert!(play.session().outcome.is_none());
    attempt(&mut play, "2 failed in 2.5s");
    let reason = Reason::SameFailure { times: 3 };
    assert_eq!(play.session().outcome, Some(Outcome::Failed { reason }));
}

#[test]
fn an_agent_that_fails_has_used_an_attempt_and_one_that_hits_a_limit_has_not() {
    let mut play = Play::with_terms(plain(), checked(Some(2)));
    play.ended(1);
    play.started();
    play.ended(2);
    assert_eq!(play.session().outcome, Some(Outcome::Failed { reason: Reason::ExitCode { code: 2 } }));
    let mut play = Play::with_terms(claude(), checked(Some(2)));
    play.heard(said::limit());
    play.ended(1);
    assert_eq!((play.status(), play.session().attempts.len()), (Status::Parked, 0));
}

#[test]
fn nothing_is_started_while_a_person_holds_it() {
    let mut play = Play::with_terms(plain(), checked(Some(3)));
    play.ended(0);
    play.give(Input::Pause(S));
    check_ends(&mut play, 1, "1 failed");
    assert_eq!(play.status(), Status::Paused);
    play.forget();
    play.give(Input::Continue(S));
    check(
        &mut play,
        &expect![[r#"
        session.unpaused
        session.launched cause="attempt" fresh=true launch=2 prompt="Do it.\n\nThe work is not done: `make test` failed with exit code 1:\n\n1 failed"
            → launch launch=2
    "#]],
    );
}

#[test]
fn the_end_of_an_earlier_check_is_not_that_of_a_later_one() {
    let mut play = Play::with_terms(plain(), checked(None));
    attempt(&mut play, "1 failed");
    play.give(Input::Resume { session: S, prompt: None });
    play.started();
    play.ended(0);
    play.forget();
    play.give(Input::CheckEnded { session: S, number: 1, code: 0, output: String::new() });
    assert_eq!((play.page().as_str(), play.status()), ("", Status::Checking));
    check_ends(&mut play, 0, "");
    assert_eq!(play.status(), Status::Completed);
}
