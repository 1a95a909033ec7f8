//! Hold, let go, end, write, go on after a loss.

use expect_test::{Expect, expect};
use ostler_engine::{
    Input, Refusal, RequestId,
    answer::Given,
    input::{News, Wanted},
    run::Terms,
    session::Status,
};

use crate::{
    common::{claude, order, plain, said},
    play::{Play, S},
};

fn check(play: &mut Play, expect: &Expect) {
    expect.assert_eq(&play.page());
}

fn command_stop() -> News {
    News::Stopped { cause: "command".to_owned(), processes: 1, confirmed: true }
}

#[test]
fn pause_and_continue() {
    let mut play = Play::running(plain());
    play.give(Input::Pause(S));
    play.shim(command_stop());
    assert_eq!(play.status(), Status::Paused);
    play.give(Input::Continue(S));
    check(
        &mut play,
        &expect![[r#"
        session.paused
            → stop launch=1
        session.stopped cause="command" launch=1
        session.unpaused
        session.released launch=1
            → go_on after=2 launch=1
    "#]],
    );
    let refusal = play.refused(Input::Continue(S));
    assert_eq!(refusal, Refusal::NotNow { session: S, status: Status::Active, wanted: Wanted::Continue });
}

#[test]
fn a_pause_that_is_over_before_the_stop_is_known_is_lifted() {
    let mut play = Play::running(plain());
    play.give(Input::Pause(S));
    play.give(Input::Continue(S));
    play.shim(command_stop());
    check(
        &mut play,
        &expect![[r#"
        session.paused
            → stop launch=1
        session.unpaused
        session.stopped cause="command" launch=1
        session.released launch=1
            → go_on after=2 launch=1
    "#]],
    );
}

#[test]
fn an_answer_waits_for_who_holds_the_agent() {
    let mut play = Play::running(plain());
    play.asks(said::question("Which?"));
    play.give(Input::Pause(S));
    play.answer(1, "this");
    assert_eq!(play.status(), Status::Paused);
    play.give(Input::Send { session: S, text: "by the way".to_owned(), printed: None });
    play.forget();
    play.give(Input::Continue(S));
    check(
        &mut play,
        &expect![[r#"
        session.unpaused
        input.sent launch=1 parcel={"request":"q_1"}
            → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"question_answer\",\"questionId\":\"q_1\",\"answer\":\"this\"}\n"
        input.sent launch=1 parcel={"message":"m_1"}
            → deliver launch=1 parcel={"message":"m_1"} text="by the way\n"
        session.released launch=1
            → go_on after=3 launch=1
    "#]],
    );
}

#[test]
fn continue_does_not_answer() {
    let mut play = Play::running(plain());
    play.asks(said::question("Which?"));
    play.give(Input::Pause(S));
    play.forget();
    play.give(Input::Continue(S));
    assert_eq!(play.status(), Status::WaitingInput);
    check(
        &mut play,
        &expect![[r#"
        session.unpaused
    "#]],
    );
}

#[test]
fn a_pause_does_not_hold_up_an_end() {
    let mut play = Play::running(plain());
    play.asks(said::error("no disk", "notify_user"));
    play.give(Input::Pause(S));
    play.answer(1, "fail");
    let refusal = play.refused(Input::Pause(S));
    assert_eq!(refusal, Refusal::NotNow { session: S, status: Status::Ending, wanted: Wanted::Pause });
    play.forget();
    play.killed();
    check(
        &mut play,
        &expect![[r#"
        session.ended end={"at_ms":1000,"clean":true,"code":null,"how":"exited","signal":15} launch=1
        session.finished outcome={"outcome":"failed","reason":{"key":"reported","message":"no disk"}}
        run.ended outcome={"outcome":"failed","reason":{"key":"reported","message":"no disk"}}
    "#]],
    );
}

/// Cancel, again and again, until it is over.
fn ends(mut play: Play, expect: &Expect) {
    play.forget();
    play.give(Input::Cancel(S));
    play.now_ms += 1;
    play.give(Input::Cancel(S));
    if play.session().live().is_some() {
        assert_eq!(play.status(), Status::Ending);
        play.killed();
    }
    if let Some(number) = play.session().checking {
        assert_eq!(play.status(), Status::Ending);
        play.give(Input::CheckEnded { session: S, number, code: 137, output: String::new() });
    }
    assert_eq!(play.status(), Status::Cancelled);
    play.give(Input::Cancel(S));
    assert_eq!(play.book.world.inbox().count(), 0);
    check(&mut play, expect);
}

#[test]
fn cancel_ends_its_process() {
    // About to begin.
    ends(
        Play::ordered(order(plain(), Terms::default())),
        &expect![[r#"
        session.cancelled
        session.recalled launch=1 why="cancel"
            → end grace_ms=10000 launch=1
        session.ended end={"at_ms":1001,"clean":true,"code":null,"how":"exited","signal":15} launch=1
        session.finished outcome={"outcome":"cancelled"}
        run.ended outcome={"outcome":"cancelled"}
    "#]],
    );
    // At work.
    ends(
        Play::running(plain()),
        &expect![[r#"
        session.cancelled
        session.recalled launch=1 why="cancel"
            → end grace_ms=10000 launch=1
        session.ended end={"at_ms":1001,"clean":true,"code":null,"how":"exited","signal":15} launch=1
        session.finished outcome={"outcome":"cancelled"}
        run.ended outcome={"outcome":"cancelled"}
    "#]],
    );
    // Waiting.
    let mut play = Play::running(plain());
    play.asks(said::question("Which?"));
    ends(
        play,
        &expect![[r#"
        session.cancelled
        session.recalled launch=1 why="cancel"
            → end grace_ms=10000 launch=1
        session.ended end={"at_ms":1001,"clean":true,"code":null,"how":"exited","signal":15} launch=1
        request.settled answer={"answer":"nothing"} brings=false by="end" request="q_1"
        session.finished outcome={"outcome":"cancelled"}
        run.ended outcome={"outcome":"cancelled"}
    "#]],
    );
    // Held.
    let mut play = Play::running(plain());
    play.give(Input::Pause(S));
    ends(
        play,
        &expect![[r#"
        session.cancelled
        session.recalled launch=1 why="cancel"
            → end grace_ms=10000 launch=1
        session.ended end={"at_ms":1001,"clean":true,"code":null,"how":"exited","signal":15} launch=1
        session.finished outcome={"outcome":"cancelled"}
        run.ended outcome={"outcome":"cancelled"}
    "#]],
    );
}

#[test]
fn cancel_ends_what_has_no_process() {
    // Waiting, and its process has ended.
    let mut play = Play::running(claude());
    play.heard(said::question("Which?"));
    play.ended(0);
    ends(
        play,
        &expect![[r#"
        session.cancelled
        request.settled answer={"answer":"nothing"} brings=false by="end" request="q_1"
        session.finished outcome={"outcome":"cancelled"}
        run.ended outcome={"outcome":"cancelled"}
    "#]],
    );
    // Lost.
    let mut play = Play::running(plain());
    play.lost();
    ends(
        play,
        &expect![[r#"
        session.cancelled
        session.finished outcome={"outcome":"cancelled"}
        run.ended outcome={"outcome":"cancelled"}
    "#]],
    );
    // Being checked.
    let mut play =
        Play::with_terms(plain(), Terms { check: Some("make test".to_owned()), ..Terms::default() });
    play.ended(0);
    ends(
        play,
        &expect![[r#"
            session.cancelled
                → end_check number=1
            check.finished attempt={"code":137,"launch":1,"output":"","signature":"137 "} number=1
            session.finished outcome={"outcome":"cancelled"}
            run.ended outcome={"outcome":"cancelled"}
        "#]],
    );
    // Over.
    let mut play = Play::running(plain());
    play.ended(0);
    play.forget();
    play.give(Input::Cancel(S));
    assert_eq!((play.page().as_str(), play.status()), ("", Status::Completed));
}

#[test]
fn a_message_is_brought_at_once_or_when_the_agent_is_there() {
    let mut play = Play::ordered(order(plain(), Terms::default()));
    play.give(Input::Send { session: S, text: "before it began".to_owned(), printed: None });
    play.forget();
    play.started();
    play.give(Input::Send { session: S, text: "while it works".to_owned(), printed: None });
    check(
        &mut play,
        &expect![[r#"
            session.started launch=1
            input.sent launch=1 parcel={"message":"m_1"}
                → deliver launch=1 parcel={"message":"m_1"} text="before it began\n"
            session.released launch=1
                → go_on after=1 launch=1
            message.written message="m_2" personal=true text="while it works"
            input.sent launch=1 parcel={"message":"m_2"}
                → deliver launch=1 parcel={"message":"m_2"} text="while it works\n"
            session.released launch=1
                → go_on after=1 launch=1
        "#]],
    );
}

#[test]
fn who_is_lost_and_remembers_goes_on_where_it_was() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.asks(said::question("Which?"));
    play.answer(1, "this");
    play.took("q_1");
    play.lost();
    assert_eq!(play.status(), Status::Interrupted);
    play.forget();
    play.give(Input::Resume { session: S, prompt: Some("Hurry.".to_owned()) });
    check(
        &mut play,
        &expect![[r#"
            session.resumed anew=true
            session.launched cause="resume" fresh=false launch=2 prompt="You were interrupted.\n\n(Repeated: you may have read this already.)\nAnswer to your question \"Which?\": this\n\nHurry."
                → launch launch=2
            input.delivered launch=2 parcel={"request":"q_1"}
        "#]],
    );
}

#[test]
fn who_is_lost_with_an_open_question_waits_for_its_answer() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.asks(said::question("Which?"));
    play.lost();
    play.forget();
    play.give(Input::Resume { session: S, prompt: Some("Hurry.".to_owned()) });
    assert_eq!(play.status(), Status::WaitingInput);
    play.answer(1, "this");
    check(
        &mut play,
        &expect![[r#"
            session.resumed anew=true
            message.written message="m_1" personal=true text="Hurry."
            session.recalled launch=1 why="rest"
            request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_1"
            session.launched cause="bring" fresh=false launch=2 prompt="You were interrupted.\n\nAnswer to your question \"Which?\": this\n\nHurry."
                → launch launch=2
            input.delivered launch=2 parcel={"request":"q_1"}
            input.delivered launch=2 parcel={"message":"m_1"}
        "#]],
    );
}

#[test]
fn who_begins_again_from_nothing_gets_the_same_answer() {
    let mut play = Play::running(plain());
    play.asks(said::question("First?"));
    play.answer(1, "a");
    play.asks(said::question("Second?"));
    play.lost();
    play.forget();
    play.give(Input::Resume { session: S, prompt: None });
    play.started();
    play.asks(said::question("First?"));
    check(
        &mut play,
        &expect![[r#"
        session.resumed
        request.left request="q_2"
        input.returned parcel={"request":"q_1"}
        session.launched cause="resume" fresh=true launch=2 prompt="Do it."
            → launch launch=2
        session.started launch=2
        session.heard user_question launch=2
        request.opened question launch=2 request="q_3"
        request.settled answer={"answer":"text","text":"a"} brings=true by="repetition" request="q_3"
        input.sent launch=2 parcel={"request":"q_3"}
            → deliver launch=2 parcel={"request":"q_3"} text="{\"type\":\"question_answer\",\"questionId\":\"q_3\",\"answer\":\"a\"}\n"
        session.released launch=2
            → go_on after=2 launch=2
        session.stopped cause="signal" launch=2
        session.released launch=2
            → go_on after=3 launch=2
    "#]],
    );
    // The open one is asked again, and is still one card.
    play.asks(said::question("Second?"));
    assert_eq!(play.book.world.inbox().count(), 1);
    play.answer(2, "b");
    check(
        &mut play,
        &expect![[r#"
        session.heard user_question launch=2
        request.repeated question launch=2 request="q_2"
        session.stopped cause="signal" launch=2
        request.settled answer={"answer":"text","text":"b"} brings=true by="person" request="q_2"
        input.sent launch=2 parcel={"request":"q_2"}
            → deliver launch=2 parcel={"request":"q_2"} text="{\"type\":\"question_answer\",\"questionId\":\"q_2\",\"answer\":\"b\"}\n"
        session.released launch=2
            → go_on after=5 launch=2
    "#]],
    );
}

#[test]
fn what_was_allowed_is_asked_again_after_an_end_and_with_other_words() {
    let permission = || said::dependency("permission", "deploy");
    let begun_again = |lost: bool, prompt: Option<&str>| {
        let mut play = Play::running(plain());
        play.asks(permission());
        play.answer(1, "approve");
        if lost {
            play.lost();
        } else {
            play.ended(0);
        }
        play.give(Input::Resume { session: S, prompt: prompt.map(str::to_owned) });
        play.started();
        play
    };
    let mut same_work = begun_again(true, None);
    same_work.asks(permission());
    assert_eq!(same_work.book.world.inbox().count(), 0);
    for (lost, prompt) in [(false, None), (false, Some("again")), (true, Some("another way"))] {
        let mut play = begun_again(lost, prompt);
        play.asks(permission());
        assert_eq!(play.book.world.inbox().count(), 1, "{lost} {prompt:?}");
        // What was allowed before the end does not count after an interruption either.
        let mut play = begun_again(lost, prompt);
        play.lost();
        play.give(Input::Resume { session: S, prompt: None });
        play.started();
        play.asks(permission());
        assert_eq!(play.book.world.inbox().count(), 1, "{lost} {prompt:?}");
    }
}

#[test]
fn a_question_that_is_not_asked_again_holds_nobody() {
    let mut play = Play::running(plain());
    play.asks(said::question("Old?"));
    play.lost();
    play.give(Input::Resume { session: S, prompt: None });
    play.started();
    assert_eq!(play.status(), Status::Active);
    play.asks(said::question("New?"));
    play.forget();
    play.answer(2, "n");
    check(
        &mut play,
        &expect![[r#"
        request.settled answer={"answer":"text","text":"n"} brings=true by="person" request="q_2"
        input.sent launch=2 parcel={"request":"q_2"}
            → deliver launch=2 parcel={"request":"q_2"} text="{\"type\":\"question_answer\",\"questionId\":\"q_2\",\"answer\":\"n\"}\n"
        session.released launch=2
            → go_on after=3 launch=2
    "#]],
    );
    // Its answer is kept for the case that it is asked again, and brought to nobody who did not ask.
    play.answer(1, "o");
    check(
        &mut play,
        &expect![[r#"
        request.settled answer={"answer":"text","text":"o"} brings=false by="person" request="q_1"
    "#]],
    );
    play.asks(said::question("Old?"));
    check(
        &mut play,
        &expect![[r#"
        session.heard user_question launch=2
        request.opened question launch=2 request="q_3"
        request.settled answer={"answer":"text","text":"o"} brings=true by="repetition" request="q_3"
        input.sent launch=2 parcel={"request":"q_3"}
            → deliver launch=2 parcel={"request":"q_3"} text="{\"type\":\"question_answer\",\"questionId\":\"q_3\",\"answer\":\"o\"}\n"
        session.released launch=2
            → go_on after=4 launch=2
        session.stopped cause="signal" launch=2
        session.released launch=2
            → go_on after=5 launch=2
    "#]],
    );
}

#[test]
fn what_a_lost_shim_left_in_its_log_is_heard() {
    let mut play = Play::running(plain());
    play.heard(said::usage(0.25));
    play.forget();
    let items = vec![said::at(100, said::usage(0.25)), said::at(200, said::question("Which?"))];
    play.give(Input::Overheard { session: S, launch: 1, before: 0, items });
    play.lost();
    check(
        &mut play,
        &expect![[r#"
        session.heard user_question launch=1
        request.opened question launch=1 request="q_1"
        session.ended end={"at_ms":1000,"how":"lost"} launch=1
    "#]],
    );
}

#[test]
fn who_has_ended_can_go_on() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.heard(said::end("success"));
    play.ended(0);
    play.forget();
    play.give(Input::Resume { session: S, prompt: Some("Now the tests.".to_owned()) });
    check(
        &mut play,
        &expect![[r#"
            session.resumed anew=true
            run.reopened
            session.launched cause="resume" fresh=false launch=2 prompt="Now the tests."
                → launch launch=2
        "#]],
    );
    let refusal = play.refused(Input::Resume { session: S, prompt: None });
    assert_eq!(refusal, Refusal::NotNow { session: S, status: Status::Starting, wanted: Wanted::Resume });
}

#[test]
fn a_conversation_that_never_began_is_not_resumed() {
    let mut play = Play::ordered(order(claude(), Terms::default()));
    play.give(Input::LaunchFailed { session: S, launch: 1, message: "no such program".to_owned() });
    assert_eq!(play.status(), Status::Failed);
    play.forget();
    play.give(Input::Resume { session: S, prompt: None });
    check(
        &mut play,
        &expect![[r#"
            session.resumed anew=true
            run.reopened
            session.launched cause="resume" fresh=true launch=2 prompt="Do it."
                → launch launch=2
        "#]],
    );
}

#[test]
fn a_reason_beside_a_yes_or_no_goes_to_who_reads_sentences() {
    let mut play = Play::running(claude());
    play.asks(said::choice("Push it?", &["Yes", "No"]));
    let given =
        Given { value: Some("not on a Friday".to_owned()), decision: Some(false), ..Given::default() };
    play.forget();
    play.give(Input::Answer { request: RequestId(1), given, printed: None });
    let page = play.page();
    assert!(
        page.contains(r#"answer={"answer":"remarked","remark":"not on a Friday","text":"No"}"#),
        "{page}"
    );
    assert!(page.contains(r#"Answer to your question \\\"Push it?\\\": No. not on a Friday"#), "{page}");
}

/// The shim of an older version obeys every process of the user. What the engine did not order is seen.
#[test]
fn another_process_that_steers_is_seen_and_the_agent_stopped_again() {
    let mut play = Play::running(plain());
    play.asks(said::question("Which?"));
    play.page();
    play.shim(News::WentOn);
    check(
        &mut play,
        &expect![[r#"
            session.continued launch=1
            request.opened steered launch=1 request="q_2"
                → stop launch=1
        "#]],
    );
    assert_eq!(play.status(), Status::WaitingInput);
    play.shim(command_stop());
    // The answer to the question alone does not send it on.
    play.answer(1, "this");
    assert!(!play.page().contains("go_on"), "a person has not decided yet");
    play.answer(2, "continue");
    assert!(play.page().contains("go_on"));
    play.shim(News::TookInput { key: "q_1".to_owned() });
    play.shim(News::WentOn);
    assert!(!play.page().contains("steered"), "both were ordered");
}

#[test]
fn input_that_nobody_ordered_is_seen() {
    for key in ["q_1", "m_7", "evil"] {
        let mut play = Play::running(plain());
        play.asks(said::question("Which?"));
        play.shim(News::TookInput { key: key.to_owned() });
        assert!(play.page().contains("steered"), "{key}");
        assert!(play.request(1).settled.is_none());
        // One card is enough.
        play.shim(News::TookInput { key: "more".to_owned() });
        assert!(!play.page().contains("steered"));
    }
    let mut play = Play::running(plain());
    play.shim(News::TookInput { key: "first".to_owned() });
    assert!(!play.page().contains("steered"), "that is the server's");
    play.shim(News::ClosedInput);
    assert!(play.page().contains("steered"), "it was not closed by the server");
}

/// The engine cannot see it; the server reports it, again at each start.
#[test]
fn a_process_in_place_of_the_shim_is_seen_once() {
    let mut play = Play::running(plain());
    play.asks(said::question("Which?"));
    play.page();
    for _ in 0..2 {
        play.give(Input::ShimDisplaced(S, 1));
    }
    check(
        &mut play,
        &expect![[r#"
            request.opened steered launch=1 request="q_2"
                → stop launch=1
        "#]],
    );
    assert!(play.request(1).settled.is_none());
    play.answer(1, "this");
    assert!(!play.page().contains("deliver"), "a person has not decided yet");
    play.answer(2, "continue");
    assert!(play.page().contains("deliver"));
    // Nothing is known of a launch that has ended.
    play.give(Input::ShimDisplaced(S, 2));
    assert_eq!(play.page(), "");
}
