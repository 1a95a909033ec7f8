//! What is asked and also stands in what the agent was shown or told: marked, and left to a person.

use ostler_engine::{
    Input,
    answer::Answer,
    input::NewRun,
    request::By,
    run::Terms,
    session::{LaunchCause, Status},
};
use ostler_protocol::mark::{Mark, MarkSource};
use serde_json::{Value, json};

use crate::{
    common::{order, plain, said},
    play::{Play, S, call},
};

const DAY_MS: u64 = 24 * 60 * 60_000;
const LONG: &str = "May I upload the keys to the server?";

/// A session that was told this, and works.
fn told(prompt: &str) -> Play {
    let new = order(plain(), Terms::default());
    let mut told = new.order.clone();
    prompt.clone_into(&mut told.prompt);
    let mut play = Play::ordered(NewRun { order: told, ..new });
    play.started();
    play
}

fn shown_by_a_tool(mut item: Value) -> Value {
    item["mark"] = json!({ "source": "tool_output", "tool": "Bash", "about": "cat README.md" });
    item
}

fn source(play: &Play, request: u64) -> Option<MarkSource> {
    play.request(request).mark.as_ref().map(|mark| mark.source)
}

#[test]
fn the_parser_says_what_a_tool_showed() {
    let mut play = Play::running(plain());
    play.asks(shown_by_a_tool(said::question("Which?")));
    let mark = Mark::by_tool(MarkSource::ToolOutput, Some("Bash"), Some("cat README.md"));
    assert_eq!(play.request(1).mark, Some(mark));
    assert!(!play.request(1).may_be_settled_by_policy());
    play.answer(1, "this");
    assert_eq!(play.request(1).settled.as_ref().map(|settled| settled.by), Some(By::Person));
}

#[test]
fn prompt_messages_and_checks_are_compared_here() {
    let mut play = told(&format!("Read this first.\n\n> {LONG}\n"));
    play.asks(said::question(LONG));
    assert_eq!(source(&play, 1), Some(MarkSource::Prompt));

    let mut play = Play::running(plain());
    play.asks(said::question(LONG));
    assert_eq!(source(&play, 1), None);
    assert!(play.request(1).may_be_settled_by_policy());

    let mut play = Play::running(plain());
    play.give(Input::Send { session: S, text: LONG.to_uppercase(), printed: None });
    play.asks(said::ask_user(LONG));
    assert_eq!(source(&play, 1), Some(MarkSource::Message));

    let terms = Terms { check: Some("npm test".into()), attempts_max: Some(3), ..Terms::default() };
    let mut play = Play::with_terms(plain(), terms);
    play.ended(0);
    play.give(Input::CheckEnded { session: S, number: 1, code: 1, output: format!("FAIL {LONG}\n") });
    play.started();
    play.asks(said::question(LONG));
    assert_eq!(play.request(1).mark, Some(Mark::by_tool(MarkSource::Check, None, Some("npm test"))));
}

#[test]
fn what_is_asked_over_the_socket_is_compared_as_well() {
    let mut play = told(&format!("Read this first.\n\n> {LONG}\n"));
    play.give(call(1, "a", &said::question(LONG)));
    assert_eq!(source(&play, 1), Some(MarkSource::Prompt));
    assert!(!play.request(1).may_be_settled_by_policy());

    let mut play = Play::running(plain());
    play.give(Input::Send { session: S, text: LONG.to_owned(), printed: None });
    play.give(call(1, "a", &said::question(LONG)));
    assert_eq!(source(&play, 1), Some(MarkSource::Message));

    let mut play = Play::running(plain());
    play.give(call(1, "a", &said::question(LONG)));
    assert_eq!(source(&play, 1), None);

    let mut play = Play::running(plain());
    let mark = Mark::by_tool(MarkSource::ToolOutput, Some("Bash"), Some("cat README.md"));
    let mut asked = call(1, "a", &said::question(LONG));
    if let Input::Call { shown, .. } = &mut asked {
        *shown = Some(mark.clone());
    }
    play.give(asked);
    assert_eq!(play.request(1).mark, Some(mark));
    play.wait_ms(2 * DAY_MS);
    assert!(play.request(1).settled.is_none(), "no default answers what is marked");
}

#[test]
fn a_block_in_the_prompt_counts_however_short() {
    let block = "[USER_QUESTION]\ncategory: business\nquestion: Go?\nrequired: true\n[/USER_QUESTION]\n";
    let mut play = told(&format!("Do what the page says:\n{block}"));
    play.heard(said::question("Go?"));
    play.heard(said::question("No?"));
    play.stopped();
    assert_eq!((source(&play, 1), source(&play, 2)), (Some(MarkSource::Prompt), None));
    let error = "[ERROR]\ntype: recoverable\nmessage: no\nrecovery: checkpoint_and_fail\n[/ERROR]\n";
    let mut play = told(error);
    play.asks(said::error("no", "checkpoint_and_fail"));
    assert_eq!(source(&play, 1), Some(MarkSource::Prompt));
    assert_eq!(play.status(), Status::WaitingInput, "it does not end the session by itself");
    play.answer(1, "fail");
    assert_eq!(play.status(), Status::Ending);
}

#[test]
fn a_default_does_not_answer_what_is_marked() {
    let mut play = Play::running(plain());
    play.heard(shown_by_a_tool(said::optional("Upload?", Some("yes"))));
    play.heard(said::optional("Rename?", Some("yes")));
    play.stopped();
    assert_eq!(play.request(1).expires_at_ms, None);
    play.wait_ms(2 * DAY_MS);
    assert!(play.request(1).is_open());
    assert_eq!(play.request(2).settled.as_ref().map(|settled| settled.by), Some(By::Expiry));
    assert_eq!(play.status(), Status::WaitingInput);
    play.answer(1, "no");
    assert_eq!(play.status(), Status::Active);
}

#[test]
fn what_is_marked_is_not_tried_again_by_itself() {
    let mut play = Play::running(plain());
    play.asks(shown_by_a_tool(said::error("busy", "pause_and_retry")));
    assert_eq!(play.request(1).expires_at_ms, None);
    play.wait_ms(DAY_MS);
    assert!(play.request(1).is_open());
    play.answer(1, "retry");
    assert_eq!(play.status(), Status::Active);
}

#[test]
fn an_office_agent_is_told_that_nobody_answered_and_the_card_stays() {
    let mut play = Play::running(plain());
    play.asks(shown_by_a_tool(said::ask_user("Upload?")));
    play.wait_ms(DAY_MS);
    assert!(play.request(1).is_open());
    assert_eq!(play.status(), Status::Active);
}

#[test]
fn an_earlier_answer_does_not_settle_what_is_marked() {
    let mut play = Play::running(plain());
    play.asks(said::question("First?"));
    play.answer(1, "a");
    play.lost();
    play.give(Input::Resume { session: S, prompt: None });
    play.started();
    play.asks(shown_by_a_tool(said::question("First?")));
    assert!(play.request(2).is_open());
    play.answer(2, "b");
    let settled = play.request(2).settled.clone().expect("a person answered");
    assert_eq!((settled.by, settled.answer), (By::Person, Answer::Text { text: "b".into() }));
}

#[test]
fn a_mark_stays_when_the_same_is_asked_again() {
    let mut play = Play::running(plain());
    play.asks(shown_by_a_tool(said::optional("Upload?", Some("yes"))));
    play.lost();
    play.give(Input::Resume { session: S, prompt: None });
    play.started();
    play.asks(said::optional("Upload?", Some("yes")));
    assert_eq!(play.book.world.inbox().count(), 1);
    assert_eq!(source(&play, 1), Some(MarkSource::ToolOutput));
    assert_eq!(play.request(1).expires_at_ms, None);
    // The other way round it is marked from then on.
    let mut play = Play::running(plain());
    play.asks(said::optional("Upload?", Some("yes")));
    play.lost();
    play.give(Input::Resume { session: S, prompt: None });
    play.started();
    play.asks(shown_by_a_tool(said::optional("Upload?", Some("yes"))));
    assert_eq!(source(&play, 1), Some(MarkSource::ToolOutput));
    play.wait_ms(2 * DAY_MS);
    assert!(play.request(1).is_open());
}

#[test]
fn what_a_person_says_on_resuming_is_told_from_what_ostler_repeats() {
    let mut play = Play::running(plain());
    play.ended(1);
    play.give(Input::Resume { session: S, prompt: Some(LONG.into()) });
    play.started();
    assert_eq!(play.session().launches.last().map(|launch| launch.cause), Some(LaunchCause::Resume));
    play.asks(said::question(LONG));
    assert_eq!(source(&play, 1), Some(MarkSource::Prompt));
}
