//! What is too long for a terminal, and what a shim does not take.

use ostler_agents::{Agent, Terminal};
use ostler_engine::{
    Input, RequestId,
    answer::Given,
    event::{NotTaken, Parcel},
    request::Bringing,
    told::TERMINAL_LINE_BYTES_MAX,
};

use crate::{
    common::{claude, plain, said},
    play::{Play, S},
};

fn at_terminal(agent: Agent) -> Play {
    Play::running(Agent { terminal: Terminal::Pty, ..agent })
}

/// How the answer to a question is told, and whether that is by a file.
fn deliver(mut play: Play, answer: &str) -> (String, bool) {
    play.asks(said::question("Which?"));
    play.forget();
    play.answer(1, answer);
    let page = play.page();
    let line = page.lines().find(|line| line.contains("→ deliver")).expect("it is delivered").to_owned();
    let is_by_file = line.contains(" long=");
    (line, is_by_file)
}

#[test]
fn only_what_a_terminal_would_cut_is_told_by_a_file() {
    let frame = "{\"type\":\"question_answer\",\"questionId\":\"q_1\",\"answer\":\"\"}".len();
    let most = TERMINAL_LINE_BYTES_MAX - frame;
    for (bytes, is_by_file) in [(most, false), (most + 1, true), (1_000_000, true)] {
        let (line, by_file) = deliver(at_terminal(plain()), &"x".repeat(bytes));
        assert_eq!(by_file, is_by_file, "{bytes} bytes");
        assert!(!by_file || line.contains("long=\"line\""), "a reply stays one");
        assert!(!deliver(Play::running(plain()), &"x".repeat(bytes)).1, "a pipe takes any line");
    }
    // Bytes count, not letters, and so does what JSON makes of them.
    assert!(!deliver(at_terminal(plain()), &"가".repeat(most / 3)).1);
    assert!(deliver(at_terminal(plain()), &"가".repeat(most / 3 + 1)).1);
    assert!(deliver(at_terminal(plain()), &"\"".repeat(most / 2 + 1)).1);
}

#[test]
fn an_agent_that_takes_messages_reads_a_pipe_at_a_terminal_too() {
    let (line, by_file) = deliver(at_terminal(claude()), &"x".repeat(5_000));
    assert!(!by_file && line.contains("Answer to your question"), "{line}");
}

#[test]
fn messages_and_words_of_expiry_are_told_by_a_file_too() {
    let mut play = at_terminal(plain());
    play.give(Input::Send { session: S, text: "x".repeat(5_000), printed: None });
    assert!(play.page().contains("long=\"words\""));
    // Its own question is said to who asked it.
    play.asks(said::ask_user(&"왜".repeat(2_000)));
    play.forget();
    play.wait_ms(3_600_000);
    let page = play.page();
    assert!(page.contains("{\"expiry\":\"q_1\"}") && page.contains("long=\"words\""), "{page}");
}

fn not_taken(why: &str, for_good: bool) -> Input {
    let what = NotTaken { launch: 1, parcel: Parcel::Request(RequestId(1)), why: why.to_owned() };
    Input::NotTaken { session: S, what, for_good }
}

#[test]
fn what_no_process_can_take_is_returned() {
    let mut play = Play::running(plain());
    play.asks(said::question("Which?"));
    play.give(not_taken("before it was sent", true));
    play.answer(1, "this");
    play.forget();
    play.give(not_taken("too long", true));
    assert_eq!(
        play.page(),
        "input.refused launch=1 parcel={\"request\":\"q_1\"} why=\"too long\"\ninput.returned parcel={\"request\":\"q_1\"}\n"
    );
    assert_eq!(play.request(1).bringing, Bringing::Undeliverable);
}

#[test]
fn what_the_next_process_may_take_waits_for_it() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.asks(said::question("Which?"));
    play.give(Input::Answer {
        request: RequestId(1),
        given: Given { value: Some("this".to_owned()), ..Given::default() },
        printed: None,
    });
    play.forget();
    play.give(not_taken("the input is closed", false));
    assert_eq!(play.request(1).bringing, Bringing::Refused { launch: 1 });
    assert_eq!(
        play.page(),
        "input.refused launch=1 parcel={\"request\":\"q_1\"} why=\"the input is closed\"\n"
    );
    play.killed();
    let page = play.page();
    assert!(page.contains("prompt=\"Answer to your question"), "{page}");
    assert_eq!(play.request(1).bringing, Bringing::Prompted { launch: 2 });
}

#[test]
fn what_was_taken_is_not_refused_any_more() {
    let mut play = Play::running(plain());
    play.asks(said::question("Which?"));
    play.answer(1, "this");
    play.took("q_1");
    play.forget();
    play.give(not_taken("late", true));
    assert_eq!(play.page(), "");
    assert_eq!(play.request(1).bringing, Bringing::Delivered { launch: 1 });
}
