//! What becomes due by itself: rest, limits, and a clock that cannot be relied on.

use expect_test::{Expect, expect};
use ostler_engine::{
    Input,
    request::Ask,
    run::Terms,
    session::{CheckWish, Status},
};

use crate::{
    common::{claude, plain, said},
    play::{Play, S},
};

const MINUTE_MS: u64 = 60_000;

fn check(play: &mut Play, expect: &Expect) {
    expect.assert_eq(&play.page());
}

#[test]
fn who_stands_still_too_long_rests_until_the_answer() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.asks(said::question("Which?"));
    play.wait_ms(5 * MINUTE_MS - 1);
    play.forget();
    assert_eq!(play.book.world.next_deadline_ms(), Some(play.now_ms + 1));
    play.wait_ms(1);
    play.killed();
    assert_eq!(play.status(), Status::WaitingInput);
    play.answer(1, "this");
    check(
        &mut play,
        &expect![[r#"
        session.recalled launch=1 why="rest"
            → end grace_ms=10000 launch=1
        session.ended end={"at_ms":301000,"clean":true,"code":null,"how":"exited","signal":15} launch=1
        request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_1"
        session.launched cause="bring" fresh=false launch=2 prompt="Answer to your question \"Which?\": this"
            → launch launch=2
        input.delivered launch=2 parcel={"request":"q_1"}
    "#]],
    );
}

#[test]
fn an_answer_on_the_way_to_rest_starts_it_again_after_its_end() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.asks(said::question("Which?"));
    play.wait_ms(5 * MINUTE_MS);
    play.forget();
    play.answer(1, "this");
    play.killed();
    check(
        &mut play,
        &expect![[r#"
        request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_1"
        session.ended end={"at_ms":301000,"clean":true,"code":null,"how":"exited","signal":15} launch=1
        session.launched cause="bring" fresh=false launch=2 prompt="Answer to your question \"Which?\": this"
            → launch launch=2
        input.delivered launch=2 parcel={"request":"q_1"}
    "#]],
    );
}

#[test]
fn who_remembers_nothing_does_not_rest() {
    let mut play = Play::running(plain());
    play.asks(said::question("Which?"));
    play.forget();
    assert_eq!(play.book.world.next_deadline_ms(), None);
    play.wait_ms(600 * MINUTE_MS);
    check(&mut play, &expect![[r#""#]]);
}

fn limited() -> Play {
    Play::with_terms(plain(), Terms { time_ms_max: Some(10 * MINUTE_MS), ..Terms::default() })
}

#[test]
fn when_its_time_is_over_a_person_is_asked() {
    let mut play = limited();
    play.wait_ms(10 * MINUTE_MS - 1);
    check(&mut play, &expect![[r#""#]]);
    play.wait_ms(1);
    play.stopped();
    play.answer(1, "continue");
    check(
        &mut play,
        &expect![[r#"
        request.opened time_over launch=1 request="q_1"
            → stop launch=1
        session.stopped cause="signal" launch=1
        request.settled answer={"answer":"go_on","words":null} brings=false by="person" request="q_1"
        session.extended time_over_at_ms=1201000
        session.released launch=1
            → go_on after=2 launch=1
    "#]],
    );
    play.wait_ms(10 * MINUTE_MS);
    assert_eq!(play.request(1).ask, Ask::TimeOver { time_ms_max: 10 * MINUTE_MS });
    assert_eq!(play.request(2).ask, Ask::TimeOver { time_ms_max: 20 * MINUTE_MS }, "all that it was given");
    play.answer(2, "fail");
    play.killed();
    check(
        &mut play,
        &expect![[r#"
        request.opened time_over launch=1 request="q_2"
            → stop launch=1
        request.settled answer={"answer":"fail"} brings=false by="person" request="q_2"
        session.recalled launch=1 why="failed"
            → end grace_ms=10000 launch=1
        session.ended end={"at_ms":1201000,"clean":true,"code":null,"how":"exited","signal":15} launch=1
        session.finished outcome={"outcome":"failed","reason":{"key":"time_over"}}
        run.ended outcome={"outcome":"failed","reason":{"key":"time_over"}}
    "#]],
    );
}

#[test]
fn waiting_for_a_person_does_not_count() {
    let mut play = limited();
    play.wait_ms(9 * MINUTE_MS);
    play.asks(said::question("Which?"));
    play.wait_ms(100 * MINUTE_MS);
    play.answer(1, "this");
    play.give(Input::Pause(S));
    play.wait_ms(100 * MINUTE_MS);
    play.give(Input::Continue(S));
    play.forget();
    play.wait_ms(MINUTE_MS - 1);
    check(&mut play, &expect![[r#""#]]);
    play.wait_ms(1);
    check(
        &mut play,
        &expect![[r#"
        request.opened time_over launch=1 request="q_2"
            → stop launch=1
    "#]],
    );
}

#[test]
fn who_is_resumed_has_its_time_again() {
    let mut play = limited();
    play.wait_ms(10 * MINUTE_MS);
    play.lost();
    play.wait_ms(100 * MINUTE_MS);
    play.forget();
    play.give(Input::Resume { session: S, prompt: None });
    play.started();
    play.wait_ms(9 * MINUTE_MS);
    check(
        &mut play,
        &expect![[r#"
        session.resumed
        request.settled answer={"answer":"go_on","words":null} brings=false by="person" request="q_1"
        session.extended time_over_at_ms=7201000
        session.launched cause="resume" fresh=true launch=2 prompt="Do it."
            → launch launch=2
        session.started launch=2
    "#]],
    );
}

#[test]
fn a_clock_that_goes_back_expires_nothing() {
    let mut play = limited();
    play.now_ms += MINUTE_MS;
    play.asks(said::optional("Which?", None));
    play.asks(said::ask_user("And which?"));
    play.forget();
    play.now_ms = 0;
    play.give(Input::Tick);
    check(&mut play, &expect![[r#""#]]);
    play.answer(1, "this");
    play.answer(2, "that");
    play.give(Input::Tick);
    assert!(!play.page().contains("expired"));
}

fn checked(terms: &Terms) -> Play {
    let check = Some("make test".to_owned());
    let mut play = Play::with_terms(plain(), Terms { check, ..terms.clone() });
    play.wait_ms(9 * MINUTE_MS);
    play.ended(0);
    assert_eq!(play.status(), Status::Checking);
    play.forget();
    play
}

fn wish(play: &Play) -> CheckWish {
    play.book.world.check_wish(S, 1)
}

fn check_ended(play: &mut Play, code: i32) {
    play.give(Input::CheckEnded { session: S, number: 1, code, output: "so far\n".to_owned() });
}

#[test]
fn the_time_of_a_check_counts_too() {
    let mut play = checked(&Terms { time_ms_max: Some(10 * MINUTE_MS), ..Terms::default() });
    assert_eq!(play.book.world.next_deadline_ms(), Some(play.now_ms + MINUTE_MS));
    play.wait_ms(MINUTE_MS);
    assert_eq!((play.status(), wish(&play)), (Status::WaitingInput, CheckWish::Hold));
    play.wait_ms(100 * MINUTE_MS);
    play.answer(1, "continue");
    assert_eq!((play.status(), wish(&play)), (Status::Checking, CheckWish::Run));
    play.wait_ms(10 * MINUTE_MS);
    play.answer(2, "fail");
    assert_eq!((play.status(), wish(&play)), (Status::Ending, CheckWish::End));
    check_ended(&mut play, 143);
    check(
        &mut play,
        &expect![[r#"
        request.opened time_over launch=1 request="q_1"
            → steer_check number=1
        request.settled answer={"answer":"go_on","words":null} brings=false by="person" request="q_1"
        session.extended time_over_at_ms=7201000
            → steer_check number=1
        request.opened time_over launch=1 request="q_2"
            → steer_check number=1
        request.settled answer={"answer":"fail"} brings=false by="person" request="q_2"
        check.recalled number=1 why="failed"
            → end_check number=1
        check.finished attempt={"code":143,"launch":1,"output":"so far\n","signature":"143 so far \n"} number=1
        session.finished outcome={"outcome":"failed","reason":{"key":"time_over"}}
        run.ended outcome={"outcome":"failed","reason":{"key":"time_over"}}
    "#]],
    );
}

#[test]
fn a_check_that_takes_too_long_has_failed() {
    let mut play = checked(&Terms { check_time_ms_max: Some(5 * MINUTE_MS), ..Terms::default() });
    play.wait_ms(4 * MINUTE_MS);
    play.give(Input::Pause(S));
    assert_eq!((play.status(), wish(&play)), (Status::Paused, CheckWish::Hold));
    play.wait_ms(100 * MINUTE_MS);
    play.give(Input::Continue(S));
    assert_eq!((play.status(), wish(&play)), (Status::Checking, CheckWish::Run));
    play.wait_ms(MINUTE_MS - 1);
    assert_eq!(wish(&play), CheckWish::Run);
    play.wait_ms(1);
    assert_eq!((play.status(), wish(&play)), (Status::Checking, CheckWish::End));
    // What it says of itself once it was told to end proves nothing.
    check_ended(&mut play, 0);
    check(
        &mut play,
        &expect![[r#"
        session.paused
            → steer_check number=1
        session.unpaused
            → steer_check number=1
        check.recalled number=1 why="overdue"
            → end_check number=1
        check.finished attempt={"code":124,"launch":1,"output":"so far\nThe check was ended because it took longer than 5m.","signature":"124 so far \nThe check was ended because it took longer than <duration> \n"} number=1
        session.finished outcome={"outcome":"failed","reason":{"attempts":1,"code":124,"key":"check_failed"}}
        run.ended outcome={"outcome":"failed","reason":{"attempts":1,"code":124,"key":"check_failed"}}
    "#]],
    );
}
