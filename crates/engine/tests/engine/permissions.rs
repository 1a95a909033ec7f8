//! What a person allows for the rest of a session, when the CLI asks again.

use expect_test::expect;
use ostler_engine::{
    Event, Input, Refusal,
    answer::{Answer, NotAnAnswer},
    request::By,
    session::Status,
};
use serde_json::{Value, json};

use crate::{
    common::{claude, said},
    play::{Play, S},
};

/// A tool on a file whose real path the driver has looked up.
fn writes(number: u32, path: &str, real_path: &str) -> Value {
    json!({ "kind": "permission_request", "trust": "stream", "request_id": format!("p{number}"), "tool": "Write",
            "input": { "file_path": path, "content": "x" }, "description": null, "real_path": real_path })
}

fn settled_by(play: &Play, request: u64) -> Option<By> {
    play.request(request).settled.as_ref().map(|settled| settled.by)
}

#[test]
fn a_rule_settles_what_it_covers_and_nothing_else() {
    let mut play = Play::running(claude());
    play.heard(said::permission(1, "touch a1"));
    let options = ["allow", "allow this call", "deny", "allow this prefix", "allow this tool"];
    assert_eq!(play.request(1).options(), options);
    play.forget();
    play.answer(1, "2");
    play.heard(said::permission(2, "touch a1"));
    play.heard(said::permission(3, "rm -rf x"));
    assert_eq!(play.status(), Status::WaitingPermission);
    expect![[r#"
        permission.allowed number=1 request="q_1" rule={"input":{"command":"touch a1"},"scope":"call","tool":"Bash"}
        request.settled answer={"answer":"approved","for_session":true,"rule":{"input":{"command":"touch a1"},"scope":"call","tool":"Bash"}} brings=true by="person" request="q_1"
        input.sent launch=1 parcel={"request":"q_1"}
            → deliver launch=1 parcel={"request":"q_1"} text="{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"p1\",\"response\":{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"touch a1\"}}}}\n"
        session.released launch=1
            → go_on after=2 launch=1
        session.heard permission_request launch=1
        request.opened permission launch=1 request="q_2"
        request.settled answer={"answer":"approved","for_session":false,"rule":{"input":{"command":"touch a1"},"scope":"call","tool":"Bash"}} brings=true by="rule" request="q_2"
        input.sent launch=1 parcel={"request":"q_2"}
            → deliver launch=1 parcel={"request":"q_2"} text="{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"p2\",\"response\":{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"touch a1\"}}}}\n"
        session.released launch=1
            → go_on after=3 launch=1
        session.heard permission_request launch=1
        request.opened permission launch=1 request="q_3"
        permission.offered request="q_3" rules=[{"input":{"command":"rm -rf x"},"scope":"call","tool":"Bash"},{"scope":"tool","tool":"Bash"}]
    "#]].assert_eq(&play.page());
}

#[test]
fn a_rule_settles_open_cards_that_it_covers() {
    let mut play = Play::running(claude());
    play.heard(said::permission(1, "npm test"));
    play.heard(said::permission(2, "npm test --watch"));
    play.heard(said::permission(3, "rm -rf x"));
    play.heard(writes(4, "src/a", "/w/src/a"));
    play.heard(writes(5, "src/deep/b", "/w/src/deep/b"));
    play.heard(writes(6, "other/c", "/w/other/c"));
    // What is allowed once says nothing about the others.
    play.answer(3, "1");
    assert_eq!(settled_by(&play, 1), None);
    play.answer(1, "allow this prefix");
    assert_eq!(settled_by(&play, 1), Some(By::Person));
    assert_eq!(settled_by(&play, 2), Some(By::Rule));
    assert_eq!(settled_by(&play, 4), None);
    play.answer(4, "allow this directory");
    assert_eq!(settled_by(&play, 5), Some(By::Rule));
    assert_eq!(settled_by(&play, 6), None);
    assert_eq!(play.status(), Status::WaitingPermission);
}

#[test]
fn it_holds_in_the_next_launch_until_it_is_revoked() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.heard(said::permission(1, "npm test"));
    play.answer(1, "allow this prefix");
    // The process is lost before it has read the answer: the next one is started with it.
    play.lost();
    play.started();
    assert_eq!(play.session().launches.len(), 2);
    play.heard(said::permission(2, "npm test -- --watch"));
    assert_eq!(settled_by(&play, 2), Some(By::Rule));
    play.give(Input::Revoke { session: S, number: 1 });
    play.heard(said::permission(3, "npm test -- --watch"));
    assert_eq!(settled_by(&play, 3), None);
    assert!(play.session().permissions.allowed.is_empty());
    let refusal = play.refused(Input::Revoke { session: S, number: 2 });
    assert_eq!(refusal, Refusal::NoPermission { session: S, number: 2 });
}

#[test]
fn what_was_revoked_does_not_come_back_as_an_earlier_answer() {
    // Without a conversation the next launch begins from nothing, and earlier answers hold.
    let mut play = Play::running(claude());
    play.heard(said::permission(1, "ls"));
    play.answer(1, "allow this call");
    play.heard(said::permission(2, "pwd"));
    play.answer(2, "allow");
    play.give(Input::Revoke { session: S, number: 1 });
    play.lost();
    play.give(Input::Resume { session: S, prompt: None });
    play.started();
    play.heard(said::permission(1, "ls"));
    play.heard(said::permission(2, "pwd"));
    assert_eq!((settled_by(&play, 3), settled_by(&play, 4)), (None, Some(By::Repetition)));
}

#[test]
fn a_directory_is_about_the_real_path() {
    let mut play = Play::running(claude());
    play.heard(writes(1, "/srv/code/link/a", "/srv/code/src/a"));
    play.answer(1, "allow this directory");
    play.heard(writes(2, "/elsewhere/b", "/srv/code/src/b"));
    assert_eq!(settled_by(&play, 2), Some(By::Rule));
    play.heard(writes(3, "/srv/code/src/link/passwd", "/etc/passwd"));
    assert_eq!(settled_by(&play, 3), None);
    let mut unknown = writes(4, "/srv/code/src/c", "");
    unknown["real_path"] = Value::Null;
    play.heard(unknown);
    assert_eq!(settled_by(&play, 4), None);
    assert_eq!(play.request(4).options(), ["allow", "allow this tool", "deny"]);
}

#[test]
fn the_old_words_are_no_option_and_an_old_answer_allows_nothing() {
    let mut play = Play::running(claude());
    play.heard(said::permission(1, "ls"));
    let refusal = play.refused(crate::play::answer(1, "allow for this session"));
    assert!(
        matches!(refusal, Refusal::NotAnAnswer { why: NotAnAnswer::NotAnOption { .. }, .. }),
        "{refusal:?}"
    );
    let old: Answer =
        serde_json::from_value(json!({ "answer": "approved", "for_session": true })).expect("an old answer");
    assert_eq!(old, Answer::Approved { for_session: true, rule: None });
    let event = json!({ "kind": "request.settled", "request": "q_1", "by": "person", "brings": true,
                        "answer": { "answer": "approved", "for_session": true } });
    let event: Event = serde_json::from_value(event).expect("an old event");
    let entry = ostler_engine::Entry {
        seq: play.book.world.last_seq + 1,
        at_ms: play.now_ms,
        project: Some(play.session().project),
        run: Some(play.session().run),
        session: Some(S),
        event,
    };
    let mut world = play.book.world.clone();
    world.fold(&entry);
    assert!(world.sessions[&S].permissions.allowed.is_empty());
}
