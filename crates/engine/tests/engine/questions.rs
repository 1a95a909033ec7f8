//! A question, the stop, the answer, and the way on.

use expect_test::{Expect, expect};
use ostler_engine::{
    Input, RequestId,
    answer::{Answer, Given, NotAnAnswer},
    input::{News, Refusal},
    request::{Bringing, By},
    session::Status,
};
use serde_json::json;

use crate::{
    common::{claude, codex, plain, said},
    play::{Play, S},
};

fn check(mut play: Play, expect: &Expect) -> Play {
    expect.assert_eq(&play.page());
    play
}

#[test]
fn a_question_stops_and_its_answer_sends_on() {
    let mut play = Play::running(plain());
    play.asks(said::question("Which?"));
    assert_eq!(play.status(), Status::WaitingInput);
    play.answer(1, "this");
    play.took("q_1");
    play.shim(News::WentOn);
    play.read("q_1");
    assert_eq!(play.status(), Status::Active);
    assert_eq!(play.request(1).bringing, Bringing::Consumed { launch: 1 });
    play.ended(0);
    assert_eq!(play.status(), Status::Completed);
    check(
        play,
        &expect![[r#"
        session.heard user_question launch=1
        request.opened question launch=1 request="q_1"
        session.stopped cause="signal" launch=1
        request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_1"
        input.sent launch=1 parcel={"request":"q_1"}
            → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"question_answer\",\"questionId\":\"q_1\",\"answer\":\"this\"}\n"
        session.released launch=1
            → go_on after=3 launch=1
        input.delivered launch=1 parcel={"request":"q_1"}
        session.continued launch=1
        input.consumed launch=1 parcel={"request":"q_1"}
        session.ended end={"at_ms":1000,"clean":true,"code":0,"how":"exited","signal":null} launch=1
        session.finished outcome={"outcome":"completed","verified":false}
        run.ended outcome={"outcome":"completed","verified":false}
    "#]],
    );
}

#[test]
fn two_at_once_are_delivered_in_the_order_printed_and_released_once() {
    let mut play = Play::running(plain());
    play.heard(said::question("First?"));
    play.heard(said::question("Second?"));
    play.stopped();
    play.answer(2, "b");
    play.answer(1, "a");
    let mut play = check(
        play,
        &expect![[r#"
        session.heard user_question launch=1
        request.opened question launch=1 request="q_1"
        session.heard user_question launch=1
        request.opened question launch=1 request="q_2"
        session.stopped cause="signal" launch=1
        request.settled answer={"answer":"text","text":"b"} brings=true by="person" request="q_2"
        request.settled answer={"answer":"text","text":"a"} brings=true by="person" request="q_1"
        input.sent launch=1 parcel={"request":"q_1"}
            → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"question_answer\",\"questionId\":\"q_1\",\"answer\":\"a\"}\n"
        input.sent launch=1 parcel={"request":"q_2"}
            → deliver launch=1 parcel={"request":"q_2"} text="{\"type\":\"question_answer\",\"questionId\":\"q_2\",\"answer\":\"b\"}\n"
        session.released launch=1
            → go_on after=4 launch=1
    "#]],
    );
    // Nothing is left to be sent on.
    play.wait_ms(1);
    check(play, &expect![[r#""#]]);
}

#[test]
fn an_answer_that_comes_before_the_stop_is_known_still_releases() {
    let mut play = Play::running(plain());
    play.heard(said::question("Which?"));
    play.answer(1, "this");
    play.stopped();
    check(
        play,
        &expect![[r#"
        session.heard user_question launch=1
        request.opened question launch=1 request="q_1"
        request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_1"
        input.sent launch=1 parcel={"request":"q_1"}
            → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"question_answer\",\"questionId\":\"q_1\",\"answer\":\"this\"}\n"
        session.released launch=1
            → go_on after=2 launch=1
        session.stopped cause="signal" launch=1
        session.released launch=1
            → go_on after=3 launch=1
    "#]],
    );
}

#[test]
fn a_later_question_holds_what_an_earlier_answer_released() {
    let mut play = Play::running(plain());
    play.asks(said::question("First?"));
    play.answer(1, "a");
    play.forget();
    // It was in the pipe when the first one stopped the tree; the shim has refused to go on.
    play.asks(said::error("no disk", "notify_user"));
    assert_eq!(play.status(), Status::WaitingInput);
    play.answer(2, "continue");
    check(
        play,
        &expect![[r#"
        session.heard error launch=1
        request.opened error launch=1 request="q_2"
        session.stopped cause="signal" launch=1
        request.settled answer={"answer":"go_on","words":null} brings=false by="person" request="q_2"
        session.released launch=1
            → go_on after=5 launch=1
    "#]],
    );
}

#[test]
fn who_asks_nothing_and_stands_still_is_sent_on() {
    let mut play = Play::running(plain());
    play.stopped();
    check(
        play,
        &expect![[r#"
        session.stopped cause="signal" launch=1
        session.released launch=1
            → go_on after=2 launch=1
    "#]],
    );
}

fn skip(request: u64) -> Input {
    let given = Given { skip: true, ..Given::default() };
    Input::Answer { request: RequestId(request), given, printed: None }
}

#[test]
fn a_person_declines_a_question() {
    let mut play = Play::running(plain());
    play.asks(said::optional("Which?", Some("the usual")));
    play.asks(said::optional("Which other?", None));
    let with_default = json!({ "kind": "user_question", "category": "choice", "question": "Which at all?",
            "options": ["a", "b"], "default": "b", "required": true });
    play.asks(with_default);
    play.asks(said::question("Which in the end?"));
    play.forget();
    for request in 1..=3 {
        assert!(play.request(request).ask.can_be_skipped(), "{request}");
        play.give(skip(request));
    }
    // What is required and has no default is answered.
    assert!(!play.request(4).ask.can_be_skipped());
    let refused = play.refused(skip(4));
    assert!(matches!(refused, Refusal::NotAnAnswer { why: NotAnAnswer::Required, .. }), "{refused:?}");
    play.answer(4, "this");
    check(
        play,
        &expect![[r#"
        request.settled answer={"answer":"text","text":"the usual"} brings=true by="person" request="q_1"
        request.settled answer={"answer":"skipped","default":null} brings=true by="person" request="q_2"
        request.settled answer={"answer":"text","text":"b"} brings=true by="person" request="q_3"
        request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_4"
        input.sent launch=1 parcel={"request":"q_1"}
            → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"question_answer\",\"questionId\":\"q_1\",\"answer\":\"the usual\"}\n"
        input.sent launch=1 parcel={"request":"q_2"}
            → deliver launch=1 parcel={"request":"q_2"} text="{\"type\":\"question_answer\",\"questionId\":\"q_2\",\"answer\":null}\n"
        input.sent launch=1 parcel={"request":"q_3"}
            → deliver launch=1 parcel={"request":"q_3"} text="{\"type\":\"question_answer\",\"questionId\":\"q_3\",\"answer\":\"b\"}\n"
        input.sent launch=1 parcel={"request":"q_4"}
            → deliver launch=1 parcel={"request":"q_4"} text="{\"type\":\"question_answer\",\"questionId\":\"q_4\",\"answer\":\"this\"}\n"
        session.released launch=1
            → go_on after=9 launch=1
    "#]],
    );
}

#[test]
fn a_person_declines_a_question_of_an_agent_that_reads_words() {
    let mut play = Play::running(claude());
    play.asks(said::ask_user("Which?"));
    play.forget();
    play.give(skip(1));
    check(
        play,
        &expect![[r#"
            request.settled answer={"answer":"skipped","default":null} brings=true by="person" request="q_1"
            input.sent launch=1 parcel={"request":"q_1"}
                → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"user\",\"uuid\":\"00000000-0001-8001-8000-010000000001\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"The person declined to answer \\\"Which?\\\". Go on as you think best.\"}]}}\n"
            session.released launch=1
                → go_on after=3 launch=1
        "#]],
    );
}

#[test]
fn an_error_comes_before_a_dependency_and_a_question() {
    let mut play = Play::running(plain());
    play.asks(said::question("First?"));
    play.heard(said::dependency("api_key", "KEY"));
    play.heard(said::question("Second?"));
    play.heard(said::error("no disk", "notify_user"));
    let inbox = |play: &Play| play.book.world.inbox().map(|it| it.id.0).collect::<Vec<_>>();
    assert_eq!(inbox(&play), [4, 2, 1, 3]);
    let offered = |play: &Play| play.book.world.offered(S).iter().map(|it| it.id.0).collect::<Vec<_>>();
    assert_eq!(offered(&play), [4, 2, 1, 3]);
    let after = |id| play.book.world.inbox_after(Some(RequestId(id))).map(|it| it.id.0).collect::<Vec<_>>();
    assert_eq!((after(2), after(3)), (vec![1, 3], vec![]));
    play.answer(4, "continue");
    assert_eq!(play.status(), Status::WaitingDependency);
    assert_eq!((inbox(&play), offered(&play)), (vec![2, 1, 3], vec![2, 1, 3]));
}

#[test]
fn an_optional_question_answers_itself() {
    let mut play = Play::running(plain());
    play.asks(said::optional("Which?", Some("the usual")));
    play.asks(said::optional("Which other?", None));
    play.asks(said::question("Which at all?"));
    play.wait_ms(24 * 3_600_000 - 1);
    play.forget();
    play.wait_ms(1);
    assert_eq!(play.request(1).settled.as_ref().map(|it| it.by), Some(By::Expiry));
    assert_eq!(play.request(2).settled.as_ref().map(|it| it.answer.clone()), Some(Answer::Nothing));
    // A required one never expires.
    play.wait_ms(1_000 * 24 * 3_600_000);
    assert!(play.request(3).is_open());
    play.answer(3, "this");
    check(
        play,
        &expect![[r#"
        request.settled answer={"answer":"text","text":"the usual"} brings=true by="expiry" request="q_1"
        request.settled answer={"answer":"nothing"} brings=true by="expiry" request="q_2"
        request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_3"
        input.sent launch=1 parcel={"request":"q_1"}
            → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"question_answer\",\"questionId\":\"q_1\",\"answer\":\"the usual\"}\n"
        input.sent launch=1 parcel={"request":"q_2"}
            → deliver launch=1 parcel={"request":"q_2"} text="{\"type\":\"question_answer\",\"questionId\":\"q_2\",\"answer\":null}\n"
        input.sent launch=1 parcel={"request":"q_3"}
            → deliver launch=1 parcel={"request":"q_3"} text="{\"type\":\"question_answer\",\"questionId\":\"q_3\",\"answer\":\"this\"}\n"
        session.released launch=1
            → go_on after=7 launch=1
    "#]],
    );
}

#[test]
fn an_office_agent_is_told_that_nobody_answered_and_gets_the_late_answer() {
    let mut play = Play::running(plain());
    play.asks(said::ask_user("Which?"));
    play.wait_ms(5 * 60_000);
    assert_eq!(play.status(), Status::Active);
    assert!(play.request(1).is_open(), "the card stays");
    play.took("q_1:expired");
    play.shim(News::WentOn);
    play.read("q_1:expired");
    play.answer(1, "this");
    assert!(play.request(1).settled.as_ref().is_some_and(|settled| settled.late));
    // A word of the expiry says nothing of the answer.
    play.read("q_1:expired");
    assert_eq!(play.request(1).bringing, Bringing::Sent { launch: 1 });
    play.took("q_1");
    assert_eq!(play.request(1).bringing, Bringing::Delivered { launch: 1 });
    check(
        play,
        &expect![[r#"
        session.heard ask_user launch=1
        request.opened ask_user expires_at_ms=301000 launch=1 request="q_1"
        session.stopped cause="signal" launch=1
        request.expired request="q_1"
        input.sent launch=1 parcel={"expiry":"q_1"}
            → deliver launch=1 parcel={"expiry":"q_1"} text="Nobody answered your question \"Which?\". Go on as you think best.\n"
        session.released launch=1
            → go_on after=3 launch=1
        input.delivered launch=1 parcel={"expiry":"q_1"}
        session.continued launch=1
        input.consumed launch=1 parcel={"expiry":"q_1"}
        request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_1"
        input.sent launch=1 parcel={"request":"q_1"}
            → deliver launch=1 parcel={"request":"q_1"} text="Late answer to \"Which?\": this\n"
        session.released launch=1
            → go_on after=6 launch=1
        input.consumed launch=1 parcel={"expiry":"q_1"}
        input.delivered launch=1 parcel={"request":"q_1"}
    "#]],
    );
}

#[test]
fn who_was_not_told_that_nobody_answered_still_waits_for_the_answer() {
    let mut play = Play::running(plain());
    play.asks(said::ask_user("Which?"));
    play.give(Input::Pause(S));
    play.wait_ms(5 * 60_000);
    play.answer(1, "this");
    play.forget();
    play.give(Input::Continue(S));
    check(
        play,
        &expect![[r#"
        session.unpaused
        input.sent launch=1 parcel={"request":"q_1"}
            → deliver launch=1 parcel={"request":"q_1"} text="this\n"
        session.released launch=1
            → go_on after=3 launch=1
    "#]],
    );
}

#[test]
fn an_error_is_retried_passed_over_told_about_or_final() {
    let error = |answer: &str, expect: &Expect| {
        let mut play = Play::running(plain());
        play.asks(said::error("no disk", "notify_user"));
        assert_eq!(play.status(), Status::WaitingInput);
        play.forget();
        play.answer(1, answer);
        check(play, expect)
    };
    error(
        "retry",
        &expect![[r#"
        request.settled answer={"answer":"retry"} brings=false by="person" request="q_1"
        session.released launch=1
            → go_on after=3 launch=1
    "#]],
    );
    error(
        "continue",
        &expect![[r#"
        request.settled answer={"answer":"go_on","words":null} brings=false by="person" request="q_1"
        session.released launch=1
            → go_on after=3 launch=1
    "#]],
    );
    error(
        "use the other disk",
        &expect![[r#"
        request.settled answer={"answer":"go_on","words":"use the other disk"} brings=true by="person" request="q_1"
        input.sent launch=1 parcel={"request":"q_1"}
            → deliver launch=1 parcel={"request":"q_1"} text="use the other disk\n"
        session.released launch=1
            → go_on after=3 launch=1
    "#]],
    );
    let mut play = error(
        "fail",
        &expect![[r#"
        request.settled answer={"answer":"fail"} brings=false by="person" request="q_1"
        session.recalled launch=1 why="failed"
            → end grace_ms=10000 launch=1
    "#]],
    );
    play.killed();
    check(
        play,
        &expect![[r#"
        session.ended end={"at_ms":1000,"clean":true,"code":null,"how":"exited","signal":15} launch=1
        session.finished outcome={"outcome":"failed","reason":{"key":"reported","message":"no disk"}}
        run.ended outcome={"outcome":"failed","reason":{"key":"reported","message":"no disk"}}
    "#]],
    );
}

#[test]
fn a_retry_starts_again_what_has_ended() {
    let mut play = Play::running(plain());
    play.heard(said::error("no disk", "notify_user"));
    play.ended(1);
    play.give(Input::Pause(S));
    play.forget();
    play.answer(1, "retry");
    let mut play = check(
        play,
        &expect![[r#"
        request.settled answer={"answer":"retry"} brings=true by="person" request="q_1"
    "#]],
    );
    // Who holds it decides when.
    play.give(Input::Continue(S));
    check(
        play,
        &expect![[r#"
        session.unpaused
        session.launched cause="resume" fresh=true launch=2 prompt="Do it.\n\nTry again."
            → launch launch=2
        input.delivered launch=2 parcel={"request":"q_1"}
    "#]],
    );
}

#[test]
fn an_agent_that_gives_up_is_ended() {
    let mut play = Play::running(plain());
    play.heard(said::error("hopeless", "checkpoint_and_fail"));
    assert_eq!(play.status(), Status::Ending);
    play.killed();
    check(
        play,
        &expect![[r#"
        session.heard error launch=1
        request.opened error launch=1 request="q_1"
        request.settled answer={"answer":"fail"} brings=false by="end" request="q_1"
        session.recalled launch=1 why="failed"
            → end grace_ms=10000 launch=1
        session.ended end={"at_ms":1000,"clean":true,"code":null,"how":"exited","signal":15} launch=1
        session.finished outcome={"outcome":"failed","reason":{"key":"reported","message":"hopeless"}}
        run.ended outcome={"outcome":"failed","reason":{"key":"reported","message":"hopeless"}}
    "#]],
    );
}

#[test]
fn a_message_that_cannot_be_understood_waits_for_a_person() {
    let mut play = Play::running(plain());
    play.asks(said::fault("USER_QUESTION missing required field 'question'"));
    play.answer(1, "close the block please");
    check(
        play,
        &expect![[r#"
        session.heard fault launch=1
        request.opened fault launch=1 request="q_1"
        session.stopped cause="signal" launch=1
        request.settled answer={"answer":"go_on","words":"close the block please"} brings=true by="person" request="q_1"
        input.sent launch=1 parcel={"request":"q_1"}
            → deliver launch=1 parcel={"request":"q_1"} text="close the block please\n"
        session.released launch=1
            → go_on after=3 launch=1
    "#]],
    );
}

#[test]
fn a_permission_is_given_in_the_words_of_the_cli() {
    let mut play = Play::running(claude());
    play.heard(said::permission(1, "ls"));
    assert_eq!(play.status(), Status::WaitingPermission);
    play.answer(1, "allow");
    play.heard(said::permission(2, "rm"));
    let given = Given { value: Some("not that".to_owned()), decision: Some(false), ..Given::default() };
    play.give(Input::Answer { request: RequestId(2), given, printed: None });
    check(
        play,
        &expect![[r#"
            session.heard permission_request launch=1
            request.opened permission launch=1 request="q_1"
            permission.offered request="q_1" rules=[{"input":{"command":"ls"},"scope":"call","tool":"Bash"},{"scope":"tool","tool":"Bash"}]
            request.settled answer={"answer":"approved","for_session":false} brings=true by="person" request="q_1"
            input.sent launch=1 parcel={"request":"q_1"}
                → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"p1\",\"response\":{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"ls\"}}}}\n"
            session.released launch=1
                → go_on after=2 launch=1
            session.heard permission_request launch=1
            request.opened permission launch=1 request="q_2"
            permission.offered request="q_2" rules=[{"input":{"command":"rm"},"scope":"call","tool":"Bash"},{"scope":"tool","tool":"Bash"}]
            request.settled answer={"answer":"denied","reason":"not that"} brings=true by="person" request="q_2"
            input.sent launch=1 parcel={"request":"q_2"}
                → deliver launch=1 parcel={"request":"q_2"} text="{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"p2\",\"response\":{\"behavior\":\"deny\",\"message\":\"not that\"}}}\n"
            session.released launch=1
                → go_on after=3 launch=1
        "#]],
    );
}

#[test]
fn a_dependency_is_approved_or_denied() {
    let mut play = Play::running(plain());
    play.asks(said::dependency("permission", "push"));
    assert_eq!(play.status(), Status::WaitingDependency);
    play.answer(1, "approve");
    play.asks(said::dependency("package", "left-pad"));
    play.answer(2, "deny: use the standard library");
    check(
        play,
        &expect![[r#"
        session.heard dependency_request launch=1
        request.opened dependency launch=1 request="q_1"
        session.stopped cause="signal" launch=1
        request.settled answer={"answer":"approved","for_session":false} brings=true by="person" request="q_1"
        input.sent launch=1 parcel={"request":"q_1"}
            → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"dependency_provided\",\"requestId\":\"q_1\",\"name\":\"push\",\"dependencyType\":\"permission\",\"provided\":true,\"approved\":true}\n"
        session.released launch=1
            → go_on after=3 launch=1
        session.heard dependency_request launch=1
        request.opened dependency launch=1 request="q_2"
        session.stopped cause="signal" launch=1
        request.settled answer={"answer":"denied","reason":"use the standard library"} brings=true by="person" request="q_2"
        input.sent launch=1 parcel={"request":"q_2"}
            → deliver launch=1 parcel={"request":"q_2"} text="{\"type\":\"dependency_provided\",\"requestId\":\"q_2\",\"name\":\"left-pad\",\"dependencyType\":\"package\",\"provided\":false,\"approved\":false,\"reason\":\"use the standard library\"}\n"
        session.released launch=1
            → go_on after=5 launch=1
    "#]],
    );
}

#[test]
fn a_stall_is_asked_about_whichever_record_comes_first() {
    let stop = || News::Stopped { cause: "stall".to_owned(), processes: 1, confirmed: true };
    let reason = || News::Stalled { reason: "log_full".to_owned() };
    let stalls = |news: [News; 2]| {
        let mut play = Play::running(plain());
        for news in news {
            play.shim(news);
        }
        assert_eq!(play.status(), Status::WaitingInput);
        assert_eq!(play.book.world.inbox().count(), 1);
        assert_eq!(serde_json::json!(play.request(1).ask)["reason"], "log_full");
        play.forget();
        play.answer(1, "continue");
        play.page()
    };
    let page = stalls([reason(), stop()]);
    assert_eq!(stalls([stop(), reason()]), page);
    expect![[r#"
        request.settled answer={"answer":"go_on","words":null} brings=false by="person" request="q_1"
        session.released launch=1
            → go_on after=3 launch=1
    "#]]
    .assert_eq(&page);
}

#[test]
fn who_exits_while_asking_is_started_again_with_the_answer() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.heard(said::question("Which?"));
    play.ended(0);
    assert_eq!(play.status(), Status::WaitingInput);
    play.forget();
    play.answer(1, "this");
    play.started();
    play.heard(said::end("success"));
    play.ended(0);
    check(
        play,
        &expect![[r#"
        request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_1"
        session.launched cause="bring" fresh=false launch=2 prompt="Answer to your question \"Which?\": this"
            → launch launch=2
        input.delivered launch=2 parcel={"request":"q_1"}
        session.started launch=2
        session.heard end launch=2
        input.closed launch=2
            → close_input launch=2
        input.consumed launch=2 parcel={"request":"q_1"}
        session.ended end={"at_ms":1000,"clean":true,"code":0,"how":"exited","signal":null} launch=2
        session.finished outcome={"outcome":"completed","verified":false}
        run.ended outcome={"outcome":"completed","verified":false}
    "#]],
    );
}

#[test]
fn an_answer_that_its_process_did_not_live_to_take_starts_another() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.asks(said::question("Which?"));
    play.answer(1, "this");
    play.forget();
    play.killed();
    check(
        play,
        &expect![[r#"
        session.ended end={"at_ms":1000,"clean":true,"code":null,"how":"exited","signal":15} launch=1
        session.launched cause="bring" fresh=false launch=2 prompt="Answer to your question \"Which?\": this"
            → launch launch=2
        input.delivered launch=2 parcel={"request":"q_1"}
    "#]],
    );
}

#[test]
fn who_exits_while_asking_and_remembers_nothing_is_judged() {
    let mut play = Play::running(plain());
    play.heard(said::question("Which?"));
    play.ended(0);
    assert_eq!(play.status(), Status::WaitingInput);
    play.forget();
    play.answer(1, "this");
    assert_eq!(play.request(1).bringing, Bringing::Undeliverable);
    check(
        play,
        &expect![[r#"
        request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_1"
        input.returned parcel={"request":"q_1"}
        session.finished outcome={"outcome":"completed","verified":false}
        run.ended outcome={"outcome":"completed","verified":false}
    "#]],
    );
}

#[test]
fn who_reads_only_prompts_is_recalled_for_an_answer_and_not_for_a_message() {
    let mut play = Play::running(codex());
    play.heard(said::conversation("c1"));
    play.give(Input::Send { session: S, text: "by the way".to_owned(), printed: None });
    play.asks(said::question("Which?"));
    play.answer(1, "this");
    play.killed();
    play.started();
    play.give(Input::Send { session: S, text: "one more thing".to_owned(), printed: None });
    play.heard(said::end("success"));
    play.ended(0);
    play.started();
    play.heard(said::end("success"));
    play.ended(0);
    check(
        play,
        &expect![[r#"
            session.heard agent_session launch=1
            message.written message="m_1" personal=true text="by the way"
            session.heard user_question launch=1
            request.opened question launch=1 request="q_1"
            session.stopped cause="signal" launch=1
            request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_1"
            session.recalled launch=1 why="relaunch"
                → end grace_ms=10000 launch=1
            session.ended end={"at_ms":1000,"clean":true,"code":null,"how":"exited","signal":15} launch=1
            session.launched cause="bring" fresh=false launch=2 prompt="Answer to your question \"Which?\": this\n\nby the way"
                → launch launch=2
            input.delivered launch=2 parcel={"request":"q_1"}
            input.delivered launch=2 parcel={"message":"m_1"}
            session.started launch=2
            message.written message="m_2" personal=true text="one more thing"
            session.heard end launch=2
            input.consumed launch=2 parcel={"request":"q_1"}
            input.consumed launch=2 parcel={"message":"m_1"}
            session.ended end={"at_ms":1000,"clean":true,"code":0,"how":"exited","signal":null} launch=2
            session.launched cause="bring" fresh=false launch=3 prompt="one more thing"
                → launch launch=3
            input.delivered launch=3 parcel={"message":"m_2"}
            session.started launch=3
            session.heard end launch=3
            input.consumed launch=3 parcel={"message":"m_2"}
            session.ended end={"at_ms":1000,"clean":true,"code":0,"how":"exited","signal":null} launch=3
            session.finished outcome={"outcome":"completed","verified":false}
            run.ended outcome={"outcome":"completed","verified":false}
        "#]],
    );
}

#[test]
fn who_reads_only_prompts_and_has_no_conversation_gets_the_answer_with_its_task() {
    let mut play = Play::running(codex());
    play.asks(said::question("Which?"));
    play.answer(1, "this");
    play.forget();
    play.killed();
    check(
        play,
        &expect![[r#"
        session.ended end={"at_ms":1000,"clean":true,"code":null,"how":"exited","signal":15} launch=1
        session.launched cause="bring" fresh=true launch=2 prompt="Do it.\n\nAnswer to your question \"Which?\": this"
            → launch launch=2
        input.delivered launch=2 parcel={"request":"q_1"}
    "#]],
    );
}

#[test]
fn names_of_parcels_that_do_not_exist_deliver_nothing() {
    let mut play = Play::running(plain());
    for key in ["q_99", "q_99:expired", "m_99", "prompt", ""] {
        play.took(key);
        play.read(key);
    }
    let page = play.page();
    assert!(!page.contains("input."), "{page}");
    assert_eq!(page.matches("request.opened steered").count(), 1, "{page}");
}
