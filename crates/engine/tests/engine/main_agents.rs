//! A main agent: what it says in the thin dialect is asked once, answered once, and waited for.

use ostler_engine::{
    Input, RunId,
    run::{Outcome, Terms},
    session::{Role, Status},
    thin::ThinNews,
};
use ostler_protocol::thin::Thin;
use serde_json::{Value, json};

use crate::{
    common::{self, claude, lines, said},
    play::{Play, S},
};

/// A main agent whose process runs.
fn main_agent(agent: ostler_agents::Agent) -> Play {
    let mut new = common::order(agent, Terms::default());
    new.order.role = Role::Main;
    let mut play = Play::ordered(new);
    play.started();
    play.forget();
    play
}

fn task(id: &str) -> Value {
    json!({ "kind": "task", "id": id, "worktree": null, "meta": null })
}

fn answered(play: &mut Play, number: u64, line: &str) {
    play.give(Input::Thin { session: S, number, news: ThinNews::Answered(line.to_owned()) });
}

/// The words that were written to it.
fn told(play: &Play) -> Vec<&str> {
    play.session().messages.iter().map(|message| message.text.as_str()).collect()
}

#[test]
fn a_line_is_carried_out_and_answered_by_a_message() {
    let mut play = main_agent(lines());
    play.heard(json!({ "kind": "resolve_next", "phase": 2, "force": true }));
    play.heard(task("T1.3"));
    let page = play.page();
    assert!(page.contains("thin.asked launch=1 line=\"RESOLVE_NEXT:PHASE:2:FORCE\" number=1"), "{page}");
    assert!(page.contains("→ thin number=1") && page.contains("→ thin number=2"), "{page}");
    play.give(Input::Thin { session: S, number: 2, news: ThinNews::Began(RunId(7)) });
    assert_eq!(play.session().thin.open[&2].run, Some(RunId(7)));
    answered(&mut play, 1, "READY:T1.3");
    answered(&mut play, 2, "DONE:T1.3");
    assert_eq!(told(&play), ["READY:T1.3", "DONE:T1.3"]);
    let page = play.page();
    assert!(page.contains("→ deliver") && page.contains("text=\"DONE:T1.3\\n\""), "{page}");
    // What is answered is over.
    answered(&mut play, 2, "FAIL:T1.3:no");
    assert_eq!(play.page(), "");
}

#[test]
fn who_has_no_role_is_only_heard() {
    let mut play = Play::running(lines());
    play.heard(task("T1.3"));
    play.heard(json!({ "kind": "custom", "type": "SKIP", "payload": "T1.3" }));
    let page = play.page();
    assert!(!page.contains("thin") && !page.contains('→'), "{page}");
}

#[test]
fn an_answer_asks_for_nothing() {
    let mut play = main_agent(lines());
    for item in [
        json!({ "kind": "done", "id": "T1.3", "meta": {} }),
        json!({ "kind": "ready", "groups": [["T1.3"]] }),
        json!({ "kind": "wait" }),
        json!({ "kind": "custom", "type": "OK", "payload": "SKIP:T1.3" }),
        json!({ "kind": "custom", "type": "REFUSED", "payload": "SKIP:T1.3: no" }),
        json!({ "kind": "custom", "type": "UNKNOWN", "payload": "X:y" }),
    ] {
        play.heard(item);
    }
    assert!(!play.page().contains("thin."));
}

#[test]
fn what_also_stands_elsewhere_is_not_acted_on_and_said_so() {
    let mark = json!({ "source": "tool_output", "tool": "Bash", "about": "cat README.md" });
    let mut play = main_agent(claude());
    for mut item in [task("T1.3"), json!({ "kind": "custom", "type": "SKIP", "payload": "T1.3" })] {
        item["mark"] = mark.clone();
        play.heard(item);
    }
    let page = play.page();
    assert!(!page.contains("→ thin"), "{page}");
    let why = "it also stands in what a tool has printed; ostler exec and ostler tasks do it";
    assert_eq!(told(&play), [format!("FAIL:T1.3:{why}"), format!("CUSTOM:REFUSED:SKIP:T1.3: {why}")]);
    // A question changes nothing, whoever has written it.
    let mut question = json!({ "kind": "resolve_next", "phase": null, "force": false });
    question["mark"] = mark;
    play.heard(question);
    assert!(play.page().contains("→ thin number=3"));
}

#[test]
fn a_task_whose_meta_is_broken_stops_nobody() {
    let mut play = main_agent(lines());
    let broken = json!({ "kind": "fault", "severity": "fault", "tag": "TASK_ID", "reason": "invalid_json",
        "field": "META", "details": "TASK_ID has invalid JSON", "raw": "TASK_ID:T1.3\nMETA:{oops\n" });
    play.heard(broken.clone());
    assert_eq!(told(&play), ["FAIL:T1.3:its META is no JSON on one line"]);
    assert_eq!(play.book.world.requests.len(), 0, "nobody is asked about it");
    // Elsewhere it is text.
    let mut play = Play::running(lines());
    play.heard(broken);
    assert_eq!((told(&play).len(), play.book.world.requests.len()), (0, 0));
}

#[test]
fn what_cannot_be_understood_is_answered_and_the_answer_asks_nothing() {
    let unclear = |tag: &str, raw: &str| {
        json!({ "kind": "fault", "severity": "fault", "tag": tag, "reason": "malformed", "field": null,
            "details": "it cannot be understood", "raw": raw })
    };
    let long = format!("TASK_ID:{}", "가".repeat(5000));
    let lines_said = [
        ("TASK_ID", "TASK_ID:"),
        ("RESOLVE_NEXT", "RESOLVE_NEXT:PHASE:x"),
        ("CUSTOM", "CUSTOM:"),
        ("TASK_ID", &long),
    ];
    let mut play = main_agent(lines());
    for (tag, raw) in lines_said {
        play.heard(unclear(tag, raw));
    }
    let page = play.page();
    assert!(!page.contains("→ thin"), "{page}");
    assert_eq!(play.book.world.requests.len(), 0, "nobody is asked about it");
    assert!(!play.session().thin.waits());
    let told: Vec<String> = told(&play).into_iter().map(str::to_owned).collect();
    for ((_, raw), answer) in lines_said.iter().zip(&told) {
        let begin: String = raw.chars().take(100).collect();
        assert!(answer.starts_with(&format!("CUSTOM:REFUSED:{begin}")), "{answer}");
        assert!(answer.chars().count() < 300, "{answer}");
        let Some(Thin::Custom { message_type, payload, .. }) = Thin::parse(answer) else {
            panic!("{answer}")
        };
        play.heard(json!({ "kind": "custom", "type": message_type, "payload": payload }));
    }
    assert_eq!(told.len(), 4);
    assert!(!play.page().contains("thin."), "an answer asks for nothing");
    // Elsewhere it is text.
    let mut play = Play::running(lines());
    play.heard(unclear("CUSTOM", "CUSTOM:"));
    assert_eq!((play.session().messages.len(), play.book.world.requests.len()), (0, 0));
}

#[test]
fn the_same_task_is_done_once_and_both_are_answered() {
    let mut play = main_agent(lines());
    play.heard(task("T1.3"));
    play.forget();
    play.heard(task("T1.3"));
    assert!(!play.page().contains('→'));
    answered(&mut play, 1, "DONE:T1.3");
    assert_eq!(told(&play), ["DONE:T1.3", "DONE:T1.3"]);
    assert!(!play.session().thin.waits());
    // In other words it is another wish.
    play.heard(task("T1.4"));
    let mut elsewhere = task("T1.4");
    elsewhere["worktree"] = json!("worktree/phase-1");
    play.heard(elsewhere);
    assert!(play.page().contains("→ thin number=4"));
}

#[test]
fn who_is_through_with_tasks_open_waits_and_goes_on_with_each_answer() {
    let mut play = main_agent(claude());
    play.heard(said::conversation("c1"));
    play.heard(task("T1.3"));
    play.heard(task("T1.4"));
    play.heard(said::end("success"));
    assert_eq!(play.status(), Status::WaitingAgent);
    play.wait_ms(1_000);
    let page = play.page();
    assert!(!page.contains("close_input"), "{page}");
    answered(&mut play, 1, "DONE:T1.3");
    assert!(play.page().contains("→ deliver"));
    play.took("m_1");
    play.read("m_1");
    play.heard(said::end("success"));
    assert_eq!(play.status(), Status::WaitingAgent);
    answered(&mut play, 2, "FAIL:T1.4:no luck");
    play.took("m_2");
    play.read("m_2");
    play.heard(said::end("success"));
    play.wait_ms(60_000);
    assert!(play.page().contains("→ close_input"));
    play.ended(0);
    assert_eq!(play.session().outcome, Some(Outcome::Completed { verified: false }));
}

#[test]
fn who_rests_is_started_again_with_the_answer() {
    let mut play = main_agent(claude());
    play.heard(said::conversation("c1"));
    play.heard(task("T1.3"));
    play.heard(said::end("success"));
    play.ended(0);
    assert_eq!(play.status(), Status::WaitingAgent);
    play.forget();
    answered(&mut play, 1, "DONE:T1.3");
    let page = play.page();
    assert!(page.contains("session.launched") && page.contains("DONE:T1.3"), "{page}");
}

#[test]
fn who_is_over_has_nobody_to_read_an_answer() {
    let mut play = main_agent(lines());
    play.heard(task("T1.3"));
    play.give(Input::Cancel(S));
    play.killed();
    assert_eq!(play.session().outcome, Some(Outcome::Cancelled));
    answered(&mut play, 1, "FAIL:T1.3:its main agent was cancelled");
    assert!(play.page().contains("thin.answered"));
    assert_eq!(told(&play), [""; 0]);
}

#[test]
fn there_is_a_bound() {
    let mut play = main_agent(lines());
    for number in 1..=256 {
        play.heard(task(&format!("T1.{number}")));
    }
    assert_eq!(told(&play), [""; 0]);
    play.heard(task("T2.1"));
    play.heard(json!({ "kind": "resolve_next", "phase": null, "force": false }));
    let why = "too many lines of this session wait for their answers";
    assert_eq!(told(&play), [format!("FAIL:T2.1:{why}"), format!("CUSTOM:REFUSED:RESOLVE_NEXT: {why}")]);
}
