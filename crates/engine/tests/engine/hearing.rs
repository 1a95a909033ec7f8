//! What a process has read and what its conversation holds: only the second is never said again.

use ostler_agents::Agent;
use ostler_engine::{
    Input,
    input::News,
    input_id,
    request::Bringing,
    run::Terms,
    session::{LaunchCause, Status},
};

use crate::{
    common::{claude, codex, said},
    play::{Play, S},
};

const REPEATED: &str = "(Repeated: you may have read this already.)\n";

/// The id of the first message in the first launch.
const MESSAGE: &str = "00000000-0001-8003-8000-010000000001";

/// A CLI with a conversation whose prompt is proven, and a message that its process has read.
fn told(agent: Agent) -> Play {
    let mut play = Play::running(agent);
    play.heard(said::conversation("c1"));
    play.heard(said::heard(Some(&input_id::of_prompt(S, 1))));
    play.give(Input::Send { session: S, text: "Use tabs.".to_owned(), printed: None });
    play.took("m_1");
    play.read("m_1");
    play
}

fn resume(play: &mut Play) -> String {
    play.give(Input::Resume { session: S, prompt: None });
    let last = play.session().launches.last().expect("a launch");
    assert_eq!(last.cause, LaunchCause::Resume);
    last.prompt.clone()
}

fn bringing(play: &Play) -> Bringing {
    play.session().messages[0].bringing
}

#[test]
fn what_a_lost_process_had_only_read_is_said_again_and_marked() {
    let mut play = told(claude());
    assert_eq!(bringing(&play), Bringing::Unproven { launch: 1 });
    play.lost();
    assert_eq!(play.status(), Status::Interrupted, "a message that was read starts nothing");
    assert_eq!(resume(&mut play), format!("You were interrupted.\n\n{REPEATED}Use tabs."));
    assert_eq!(bringing(&play), Bringing::Prompted { launch: 2 });
    // The same once more, until a launch proves it.
    play.started();
    play.lost();
    assert_eq!(resume(&mut play), format!("You were interrupted.\n\n{REPEATED}Use tabs."));
    play.started();
    play.heard(said::heard(Some(&input_id::of_prompt(S, 3))));
    assert_eq!(bringing(&play), Bringing::Heard { launch: 3 });
    play.lost();
    assert_eq!(resume(&mut play), "You were interrupted.\n\nGo on where you were.");
}

#[test]
fn what_is_proven_is_not_said_again() {
    let mut play = told(claude());
    play.heard(said::heard(Some(MESSAGE)));
    assert_eq!(bringing(&play), Bringing::Heard { launch: 1 });
    play.lost();
    assert_eq!(resume(&mut play), "You were interrupted.\n\nGo on where you were.");
    assert_eq!(bringing(&play), Bringing::Heard { launch: 1 });
}

#[test]
fn a_proof_of_something_else_proves_nothing() {
    let mut play = told(claude());
    for id in [None, Some("m_1"), Some("00000000-0001-8003-8000-020000000001"), Some("")] {
        play.heard(said::heard(id));
        assert_eq!(bringing(&play), Bringing::Unproven { launch: 1 }, "{id:?}");
    }
}

#[test]
fn a_proof_may_be_recorded_before_the_reading() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.give(Input::Send { session: S, text: "Use tabs.".to_owned(), printed: None });
    play.took("m_1");
    play.heard(said::heard(Some(MESSAGE)));
    play.read("m_1");
    assert_eq!(bringing(&play), Bringing::Heard { launch: 1 });
}

#[test]
fn an_answer_in_the_prompt_is_proven_by_the_first_reply() {
    let mut play = Play::running(codex());
    play.heard(said::conversation("c1"));
    play.asks(said::question("Which?"));
    play.answer(1, "this");
    play.killed();
    play.started();
    assert_eq!(play.request(1).bringing, Bringing::Prompted { launch: 2 });
    // Killed before the model has replied: nobody knows whether the conversation has it.
    play.shim(News::Ended { code: None, signal: Some(9), clean: true });
    assert_eq!(play.status(), Status::Failed);
    assert_eq!(play.request(1).bringing, Bringing::Prompted { launch: 2 });
    assert_eq!(resume(&mut play), format!("{REPEATED}Answer to your question \"Which?\": this"));
    play.started();
    play.heard(said::heard(None));
    assert_eq!(play.request(1).bringing, Bringing::Heard { launch: 3 });
    play.killed();
    assert_eq!(resume(&mut play), "Go on where you were.");
}

#[test]
fn who_is_through_and_exits_has_heard_everything() {
    let mut play = told(claude());
    play.heard(said::end("success"));
    play.wait_ms(5_000);
    play.shim(News::ClosedInput);
    play.ended(0);
    assert_eq!(play.status(), Status::Completed);
    assert_eq!(bringing(&play), Bringing::Consumed { launch: 1 });
}

#[test]
fn who_fails_may_have_lost_what_it_read() {
    let mut play = told(claude());
    play.heard(said::end("error"));
    play.wait_ms(5_000);
    play.shim(News::ClosedInput);
    play.ended(1);
    assert_eq!(play.status(), Status::Failed);
    assert_eq!(bringing(&play), Bringing::Unproven { launch: 1 });
    assert_eq!(resume(&mut play), format!("{REPEATED}Use tabs."));
}

/// A later version of the CLI may print other events.
#[test]
fn a_cli_that_finishes_a_turn_and_proves_nothing_is_taken_at_its_reading() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.give(Input::Send { session: S, text: "Use tabs.".to_owned(), printed: None });
    play.took("m_1");
    play.read("m_1");
    play.heard(said::end("error"));
    play.ended(1);
    assert_eq!(bringing(&play), Bringing::Consumed { launch: 1 });
}

#[test]
fn a_decision_about_a_tool_needs_no_proof() {
    let mut play = Play::running(claude());
    play.heard(said::permission(1, "ls"));
    play.answer(1, "allow");
    play.took("q_1");
    play.read("q_1");
    assert_eq!(play.request(1).bringing, Bringing::Consumed { launch: 1 });
}

/// A session keeps the table that it began with.
#[test]
fn a_session_of_an_older_table_is_taken_at_its_reading() {
    let mut agent = serde_json::to_value(claude()).expect("it can be written");
    agent["input"].as_object_mut().expect("its input").remove("proven");
    let agent: Agent = serde_json::from_value(agent).expect("it can be read");
    let mut play = told(agent);
    assert_eq!(bringing(&play), Bringing::Consumed { launch: 1 });
    play.lost();
    assert_eq!(resume(&mut play), "You were interrupted.\n\nGo on where you were.");
}

/// What the limit kept from being heard is given again as a whole, and an answer in it not beside it.
#[test]
fn after_a_limit_an_answer_stands_in_the_prompt_once() {
    let mut play = Play::with_terms(codex(), Terms::default());
    play.heard(said::conversation("c1"));
    play.asks(said::question("Which?"));
    play.answer(1, "this");
    play.killed();
    play.started();
    play.heard(said::limit_for(Some(60_000)));
    play.ended(1);
    play.wait_ms(200_000);
    let last = play.session().launches.last().expect("a launch");
    assert_eq!((last.number, last.cause), (3, LaunchCause::Limit));
    assert_eq!(last.prompt.matches("this").count(), 1, "{}", last.prompt);
    play.started();
    play.heard(said::heard(None));
    assert_eq!(play.request(1).bringing, Bringing::Heard { launch: 3 });
}
