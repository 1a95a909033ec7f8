//! Budgets: reaching one stops the work and asks a person, and nothing goes on before that.

use expect_test::expect;
use ostler_engine::{
    Input,
    answer::{Given, NotAnAnswer},
    budget::Budget,
    input::Refusal,
    request::Ask,
    run::Terms,
    session::Status,
};
use serde_json::{Value, json};

use crate::{
    common::{claude, codex, plain, said},
    play::{Play, S, answer},
};

const DOLLAR: u64 = 1_000_000_000;

/// So much more than before was used.
fn report(tokens: u64, cost_usd: f64) -> Value {
    json!({ "kind": "usage", "trust": "stream", "input_tokens": null, "output_tokens": tokens,
            "cache_read_tokens": null, "cache_write_tokens": null, "reasoning_tokens": null,
            "cost_usd": cost_usd, "tokens_span": "step", "cost_span": "step" })
}

fn terms(cost_nusd_max: Option<u64>, tokens_max: Option<u64>) -> Terms {
    Terms { budget: Budget { cost_nusd_max, tokens_max }, ..Terms::default() }
}

/// A session with a conversation at work.
fn at_work(terms: Terms) -> Play {
    let mut play = Play::with_terms(claude(), terms);
    play.heard(said::conversation("c1"));
    play.forget();
    play
}

fn budget(play: &Play) -> Budget {
    play.book.world.runs[&play.session().run].budget
}

#[test]
fn who_is_at_work_is_stopped_and_a_person_is_asked() {
    let mut play = at_work(terms(Some(DOLLAR), None));
    play.heard(report(10, 0.75));
    assert_eq!(play.book.world.next_deadline_ms(), None);
    play.heard(report(10, 0.75));
    assert_eq!(play.book.world.next_deadline_ms(), Some(play.now_ms + 1_000));
    play.forget();
    play.wait_ms(1_000);
    play.stopped();
    assert_eq!(play.status(), Status::WaitingInput);
    play.answer(1, "raise");
    expect![[r#"
        request.opened cost_over launch=1 request="q_1"
            → stop launch=1
        session.stopped cause="signal" launch=1
        request.settled answer={"answer":"go_on","words":null} brings=false by="person" request="q_1"
        run.raised budget={"cost_nusd_max":2500000000}
        session.released launch=1
            → go_on after=5 launch=1
    "#]]
    .assert_eq(&play.page());
    assert_eq!(play.request(1).ask, Ask::CostOver { cost_nusd_max: DOLLAR, cost_nusd: 3 * DOLLAR / 2 });
    // As much again from here on; then so much as was said.
    play.heard(report(10, 0.99));
    assert_eq!(play.book.world.next_deadline_ms(), None);
    play.heard(report(10, 0.01));
    play.wait_ms(1_000);
    play.stopped();
    play.answer(2, "raise by $0.25");
    assert_eq!(budget(&play).cost_nusd_max, Some(2_750_000_000));
    play.heard(report(10, 0.25));
    play.wait_ms(1_000);
    play.stopped();
    play.forget();
    play.answer(3, "stop");
    play.killed();
    expect![[r#"
        request.settled answer={"answer":"fail"} brings=false by="person" request="q_3"
        session.recalled launch=1 why="failed"
            → end grace_ms=10000 launch=1
        session.ended end={"at_ms":4000,"clean":true,"code":null,"how":"exited","signal":15} launch=1
        session.finished outcome={"outcome":"failed","reason":{"key":"cost_over"}}
        run.ended outcome={"outcome":"failed","reason":{"key":"cost_over"}}
    "#]]
    .assert_eq(&play.page());
}

/// Who reports all the time is stopped as soon as anybody else.
#[test]
fn further_reports_put_nothing_off() {
    let mut play = at_work(terms(None, Some(250)));
    play.heard(report(300, 0.0));
    let at_ms = play.now_ms + 1_000;
    play.wait_ms(600);
    play.heard(report(300, 0.0));
    assert_eq!(play.book.world.next_deadline_ms(), Some(at_ms));
    play.wait_ms(400);
    play.stopped();
    assert_eq!(play.status(), Status::WaitingInput);
}

#[test]
fn tokens_of_every_kind_count() {
    let mut play = Play::with_terms(codex(), terms(None, Some(20)));
    play.heard(said::conversation("c1"));
    play.heard(json!({ "kind": "usage", "trust": "stream", "input_tokens": 5, "output_tokens": 5,
        "cache_read_tokens": 5, "cache_write_tokens": null, "reasoning_tokens": 5, "cost_usd": null,
        "tokens_span": "conversation", "cost_span": null }));
    play.wait_ms(1_000);
    play.stopped();
    assert_eq!(play.request(1).ask, Ask::TokensOver { tokens_max: 20, tokens: 20 });
    play.answer(1, "raise 1.5k");
    assert_eq!(budget(&play).tokens_max, Some(1_520));
    assert_eq!(play.status(), Status::Active);
}

#[test]
fn who_is_through_is_not_held_up() {
    let mut play = at_work(terms(Some(DOLLAR), None));
    play.heard(report(10, 2.0));
    play.heard(said::end("success"));
    play.wait_ms(10_000);
    play.ended(0);
    assert_eq!(play.status(), Status::Completed);
    assert!(play.book.world.requests.is_empty());
}

#[test]
fn nothing_more_is_begun() {
    let check = Some("make test".to_owned());
    let mut play = at_work(Terms { check, attempts_max: Some(3), ..terms(Some(DOLLAR), None) });
    play.heard(report(10, 2.0));
    play.heard(said::end("success"));
    play.ended(0);
    assert_eq!(play.status(), Status::Checking, "a check costs nothing");
    play.forget();
    play.give(Input::CheckEnded { session: S, number: 1, code: 1, output: "red".to_owned() });
    assert_eq!(play.status(), Status::WaitingInput);
    assert_eq!(play.session().launches.len(), 1);
    play.give(Input::Tick);
    play.forget();
    play.answer(1, "raise");
    let page = play.page();
    assert!(page.contains("run.raised") && page.contains("session.launched cause=\"attempt\""), "{page}");
}

#[test]
fn what_is_said_to_it_waits() {
    let mut play = at_work(terms(Some(DOLLAR), None));
    play.asks(said::question("Which?"));
    play.heard(report(10, 2.0));
    play.wait_ms(10_000);
    assert_eq!(play.book.world.requests.len(), 1, "it stands still as it is");
    play.forget();
    play.answer(1, "this");
    expect![[r#"
        request.settled answer={"answer":"text","text":"this"} brings=true by="person" request="q_1"
        request.opened cost_over launch=1 request="q_2"
    "#]]
    .assert_eq(&play.page());
    play.answer(2, "raise");
    let page = play.page();
    assert!(page.contains("input.sent") && page.contains("→ go_on"), "{page}");
}

#[test]
fn who_is_resumed_is_asked_about_first_and_its_words_wait() {
    let mut play = at_work(terms(Some(DOLLAR), None));
    play.heard(report(10, 2.0));
    play.wait_ms(1_000);
    play.stopped();
    play.answer(1, "stop");
    play.killed();
    assert_eq!(play.status(), Status::Failed);
    play.forget();
    play.give(Input::Resume { session: S, prompt: Some("only the tests".to_owned()) });
    assert_eq!(play.status(), Status::WaitingInput);
    assert!(!play.page().contains("→"), "nothing is started");
    play.answer(2, "raise 1");
    let launch = play.session().launches.last().expect("a launch");
    assert_eq!((launch.number, launch.prompt.as_str()), (2, "only the tests"));
}

#[test]
fn who_cannot_be_resumed_is_asked_about_too() {
    let mut play = Play::with_terms(plain(), terms(None, Some(5)));
    play.heard(report(10, 0.0));
    play.ended(1);
    assert_eq!(play.status(), Status::Failed);
    play.give(Input::Resume { session: S, prompt: None });
    assert_eq!((play.status(), play.session().launches.len()), (Status::WaitingInput, 1));
    play.answer(1, "raise");
    assert_eq!(play.session().launches.len(), 2);
}

#[test]
fn time_can_be_raised_by_as_much_as_one_likes() {
    let mut play = Play::with_terms(plain(), Terms { time_ms_max: Some(60_000), ..Terms::default() });
    play.wait_ms(60_000);
    play.stopped();
    play.answer(1, "raise 2h");
    assert_eq!(play.session().time_over_at_ms, Some(play.now_ms + 7_200_000));
}

#[test]
fn what_is_no_amount_is_refused() {
    let mut play = at_work(terms(Some(DOLLAR), None));
    play.heard(report(10, 2.0));
    play.wait_ms(1_000);
    play.stopped();
    for words in ["raise a-lot", "raise 0", "raise -1", "raise 5 6"] {
        let Refusal::NotAnAnswer { .. } = play.refused(answer(1, words)) else { panic!("{words}") };
    }
    let refusal = play.refused(answer(1, "raise 10m"));
    let why = NotAnAnswer::NoAmount { text: "10m".to_owned() };
    assert!(matches!(&refusal, Refusal::NotAnAnswer { why: it, .. } if *it == why), "{refusal:?}");
    assert!(play.request(1).is_open());
    let given = Given { decision: Some(true), ..Given::default() };
    play.give(Input::Answer { request: play.request(1).id, given, printed: None });
    assert_eq!(budget(&play).cost_nusd_max, Some(3 * DOLLAR));
}
