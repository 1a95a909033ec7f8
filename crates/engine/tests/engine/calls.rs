//! Asking over the session's own socket: the tree runs on, the caller is blocked, and the answer goes one way.

use expect_test::{Expect, expect};
use ostler_engine::{
    Input, RequestId,
    input::{News, Refusal},
    request::{Bringing, By},
    session::Status,
};
use serde_json::json;

use crate::{
    common::{claude, codex, plain, said},
    play::{Play, S, call},
};

fn check(mut play: Play, expect: &Expect) -> Play {
    expect.assert_eq(&play.page());
    play
}

#[test]
fn a_call_stops_nothing_and_its_caller_takes_the_answer() {
    let mut play = Play::running(plain());
    play.calls("k1", &said::question("Which?"));
    assert_eq!(play.status(), Status::WaitingInput);
    assert_eq!(play.request(1).trust, "channel");
    play.answer(1, "this");
    assert_eq!(play.status(), Status::Active);
    assert_eq!(play.request(1).bringing, Bringing::Waiting, "until the caller says that it has it");
    play.takes(1, "k1");
    assert_eq!(play.request(1).bringing, Bringing::Consumed { launch: 1 });
    play.parts(1, "k1");
    play.ended(0);
    check(
        play,
        &expect![[r#"
            request.opened question call={"caller":"blocked","key":"k1","number":1,"process":{"at_ms":1000,"began":2,"pid":9}} launch=1 request="q_1"
            request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_1"
            input.consumed launch=1 parcel={"request":"q_1"}
            session.ended end={"at_ms":1000,"clean":true,"code":0,"how":"exited","signal":null} launch=1
            session.finished outcome={"outcome":"completed","verified":false}
            run.ended outcome={"outcome":"completed","verified":false}
        "#]],
    );
}

#[test]
fn a_caller_that_was_killed_does_not_hold_its_agent_up_and_the_answer_is_a_message() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.calls("k1", &said::question("Which?"));
    play.parts(1, "k1");
    assert_eq!(play.status(), Status::Active, "it goes on with something else");
    assert!(play.request(1).is_open(), "the card stays");
    play.answer(1, "this");
    let taken = play.refused(Input::Taken { request: RequestId(1), key: "k1".to_owned() });
    assert_eq!(taken, Refusal::NotWaitedFor { request: RequestId(1) });
    play.took("q_1");
    play.read("q_1");
    check(
        play,
        &expect![[r#"
            session.heard agent_session launch=1
            request.opened question call={"caller":"blocked","key":"k1","number":1,"process":{"at_ms":1000,"began":2,"pid":9}} launch=1 request="q_1"
            request.parted caller="gone" request="q_1"
            request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_1"
            input.sent launch=1 parcel={"request":"q_1"}
                → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"user\",\"uuid\":\"00000000-0001-8001-8000-010000000001\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Answer to your question \\\"Which?\\\": this\"}]}}\n"
            session.released launch=1
                → go_on after=2 launch=1
            input.delivered launch=1 parcel={"request":"q_1"}
            input.consumed launch=1 parcel={"request":"q_1"}
        "#]],
    );
}

#[test]
fn an_answer_that_was_not_taken_before_the_caller_died_is_a_message() {
    let mut play = Play::running(plain());
    play.calls("k1", &said::question("Which?"));
    play.answer(1, "this");
    play.forget();
    play.parts(1, "k1");
    check(
        play,
        &expect![[r#"
            request.parted caller="gone" request="q_1"
            input.sent launch=1 parcel={"request":"q_1"}
                → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"question_answer\",\"questionId\":\"q_1\",\"answer\":\"this\"}\n"
            session.released launch=1
                → go_on after=1 launch=1
        "#]],
    );
}

#[test]
fn who_asks_again_after_a_time_out_finds_the_same_card() {
    let mut play = Play::running(plain());
    play.calls("k1", &said::question("Which?"));
    play.parts(1, "k1");
    play.calls("k2", &said::question("Which?"));
    assert_eq!(play.status(), Status::WaitingInput);
    assert_eq!(play.book.world.requests.len(), 1);
    play.answer(1, "this");
    let old = play.refused(Input::Taken { request: RequestId(1), key: "k1".to_owned() });
    assert_eq!(old, Refusal::NotWaitedFor { request: RequestId(1) });
    play.takes(1, "k2");
    assert_eq!(play.session().signals, 2);
}

#[test]
fn an_answer_on_its_way_as_a_message_is_not_asked_for_again() {
    let mut play = Play::running(plain());
    play.calls("k1", &said::question("Which?"));
    play.parts(1, "k1");
    play.answer(1, "this");
    play.calls("k2", &said::question("Which?"));
    let settled = play.request(2).settled.as_ref().expect("it is settled at once");
    assert_eq!(settled.by, By::Repetition);
    play.takes(2, "k2");
}

#[test]
fn two_callers_at_once_have_a_card_each() {
    let mut play = Play::running(plain());
    play.calls("k1", &said::question("Which?"));
    play.calls("k2", &said::question("Which?"));
    assert_eq!(play.book.world.requests.len(), 2);
    play.answer(2, "b");
    play.takes(2, "k2");
    assert_eq!(play.status(), Status::WaitingInput);
    play.answer(1, "a");
    play.takes(1, "k1");
    assert_eq!(play.status(), Status::Active);
}

#[test]
fn a_cli_that_ends_after_its_tool_was_timed_out_is_started_again_with_the_answer() {
    let mut play = Play::running(codex());
    play.heard(said::conversation("c1"));
    play.calls("k1", &said::question("Which?"));
    play.parts(1, "k1");
    play.heard(said::end("success"));
    play.ended(0);
    assert_eq!(play.status(), Status::WaitingInput);
    play.forget();
    play.answer(1, "this");
    check(
        play,
        &expect![[r#"
            request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_1"
            session.launched cause="bring" fresh=false launch=2 prompt="Answer to your question \"Which?\": this"
                → launch launch=2
            input.delivered launch=2 parcel={"request":"q_1"}
        "#]],
    );
}

#[test]
fn a_cli_that_cannot_be_told_is_not_ended_for_an_answer_it_went_on_without() {
    let mut play = Play::running(codex());
    play.heard(said::conversation("c1"));
    play.calls("k1", &said::question("Which?"));
    play.parts(1, "k1");
    play.answer(1, "this");
    assert_eq!(play.status(), Status::Active);
    play.forget();
    play.heard(said::end("success"));
    play.ended(0);
    check(
        play,
        &expect![[r#"
            session.heard end launch=1
            session.ended end={"at_ms":1000,"clean":true,"code":0,"how":"exited","signal":null} launch=1
            request.parted caller="ended" request="q_1"
            session.launched cause="bring" fresh=false launch=2 prompt="Answer to your question \"Which?\": this"
                → launch launch=2
            input.delivered launch=2 parcel={"request":"q_1"}
        "#]],
    );
}

#[test]
fn a_program_that_forgets_ends_without_waiting_for_what_nobody_would_hear() {
    let mut play = Play::running(plain());
    play.calls("k1", &said::question("Which?"));
    play.ended(0);
    assert_eq!(play.status(), Status::Completed);
    let settled = play.request(1).settled.as_ref().expect("it is settled");
    assert_eq!(settled.by, By::End);
}

#[test]
fn an_optional_question_answers_its_caller_by_itself() {
    let mut play = Play::running(plain());
    play.calls("k1", &said::optional("Which?", Some("this")));
    play.wait_ms(24 * 3_600_000);
    play.takes(1, "k1");
    assert_eq!(play.status(), Status::Active);
}

#[test]
fn a_lost_process_asks_again_and_gets_the_same_card() {
    let mut play = Play::running(plain());
    play.calls("k1", &said::question("Which?"));
    play.lost();
    assert_eq!(play.status(), Status::Interrupted);
    play.give(Input::Resume { session: S, prompt: None });
    play.started();
    play.calls("k2", &said::question("Which?"));
    assert_eq!((play.book.world.requests.len(), play.status()), (1, Status::WaitingInput));
    play.answer(1, "this");
    play.takes(1, "k2");
}

#[test]
fn a_question_on_the_output_stops_and_goes_on_while_a_call_waits() {
    let mut play = Play::running(plain());
    play.calls("k1", &said::question("Slow?"));
    play.asks(said::question("Fast?"));
    play.forget();
    play.answer(2, "yes");
    let mut play = check(
        play,
        &expect![[r#"
            request.settled answer={"answer":"text","text":"yes"} brings=true by="person" request="q_2"
            input.sent launch=1 parcel={"request":"q_2"}
                → deliver launch=1 parcel={"request":"q_2"} text="{\"type\":\"question_answer\",\"questionId\":\"q_2\",\"answer\":\"yes\"}\n"
            session.released launch=1
                → go_on after=3 launch=1
        "#]],
    );
    play.took("q_2");
    play.shim(News::WentOn);
    assert_eq!(play.status(), Status::WaitingInput, "the call still waits");
    play.wait_ms(600_000);
    assert!(play.session().live().expect("it runs").ending.is_none(), "nobody is stopped, so nobody rests");
}

#[test]
fn an_error_over_the_socket_is_told_whatever_is_decided() {
    let mut play = Play::running(plain());
    play.calls("k1", &said::error("It broke", "notify_user"));
    play.answer(1, "continue");
    play.takes(1, "k1");
    play.calls("k2", &said::error("It broke", "notify_user"));
    play.answer(2, "retry");
    play.takes(2, "k2");
    play.forget();
    play.calls("k3", &said::error("It broke for good", "checkpoint_and_fail"));
    check(
        play,
        &expect![[r#"
            request.opened error call={"caller":"blocked","key":"k3","number":3,"process":{"at_ms":1000,"began":2,"pid":9}} launch=1 request="q_3"
            request.settled answer={"answer":"fail"} brings=false by="end" request="q_3"
            session.recalled launch=1 why="failed"
                → end grace_ms=10000 launch=1
        "#]],
    );
}

#[test]
fn who_was_told_to_end_cannot_ask_any_more() {
    let mut play = Play::running(plain());
    play.give(Input::Cancel(S));
    let refusal = play.refused(call(1, "k1", &said::question("Which?")));
    assert!(matches!(refusal, Refusal::NotNow { .. }), "{refusal:?}");
    let refusal = play.refused(call(7, "k1", &said::question("Which?")));
    assert!(matches!(refusal, Refusal::NotNow { .. }), "{refusal:?}");
}

#[test]
fn a_step_is_told_once() {
    let mut play = Play::running(plain());
    let item = json!({ "kind": "step_complete", "step": "one", "summary": null, "trust": "channel" });
    let told = |key: &str| Input::Told { session: S, launch: 1, key: key.to_owned(), item: item.clone() };
    play.give(told("k1"));
    play.give(told("k1"));
    for number in 2..40 {
        play.give(told(&format!("k{number}")));
    }
    assert_eq!((play.session().signals, play.session().told.len()), (39, 16));
    assert_eq!(play.page().lines().count(), 39);
}
