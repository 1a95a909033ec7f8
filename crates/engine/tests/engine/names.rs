//! What people call sessions.

use ostler_engine::{Input, Refusal, SessionId, input::NewRun, run::Terms, session::SessionName};

use crate::{
    common::{order, plain},
    play::{Play, S},
};

fn name(text: &str) -> SessionName {
    SessionName::new(text).expect("a name")
}

/// A run whose session is called so.
fn run(text: &str) -> Input {
    let new = NewRun { session_name: Some(name(text)), ..order(plain(), Terms::default()) };
    Input::CreateRun(Box::new(new))
}

fn called(play: &Play, id: u64) -> Option<String> {
    play.book.world.sessions[&SessionId(id)].name.as_ref().map(ToString::to_string)
}

#[test]
fn a_name_belongs_to_one_session_that_has_not_ended() {
    let mut play = Play::new();
    play.give(run("login-fix"));
    play.started();
    assert_eq!(called(&play, 1).as_deref(), Some("login-fix"));
    let taken = Refusal::NameTaken { name: name("login-fix"), session: S };
    assert_eq!(play.refused(run("login-fix")), taken);
    play.give(run("other"));
    assert_eq!(play.refused(Input::Rename(SessionId(2), Some(name("login-fix")))), taken);
    // Its own name is free for a session.
    play.give(Input::Rename(S, Some(name("login-fix"))));
    play.give(Input::Rename(S, None));
    assert_eq!(called(&play, 1), None);
    play.give(Input::Rename(SessionId(2), Some(name("login-fix"))));
    assert_eq!(called(&play, 2).as_deref(), Some("login-fix"));
}

#[test]
fn a_session_that_goes_on_leaves_its_name_to_who_has_it_now() {
    let mut play = Play::new();
    play.give(run("login-fix"));
    play.started();
    play.ended(0);
    play.give(run("login-fix"));
    assert_eq!(
        (called(&play, 1), called(&play, 2)),
        (called(&play, 2), called(&play, 1)),
        "both have had it"
    );
    play.give(Input::Resume { session: S, prompt: None });
    assert_eq!(called(&play, 1), None);
    assert_eq!(called(&play, 2).as_deref(), Some("login-fix"));
}
