//! Limits of accounts: who parks, who goes on, and in which order.

use ostler_agents::Agent;
use ostler_engine::{
    Input, SessionId,
    checkpoint::CheckpointTerms,
    input::News,
    request::By,
    run::{Outcome, Terms},
    session::{LaunchCause, Status},
};
use serde_json::{Value, json};

use crate::{
    common::{self, claude, codex, plain, said},
    play::Play,
};

const A: SessionId = SessionId(1);
const B: SessionId = SessionId(2);
const C: SessionId = SessionId(3);
const MINUTE_MS: u64 = 60_000;

/// A limit that names its reset, or none.
fn limit(reset_at_ms: Option<u64>) -> Value {
    json!({ "kind": "rate_limit", "trust": "stream", "reset_at_ms": reset_at_ms, "retry_after_ms": null,
            "retrying": false, "message": "too much" })
}

fn create(play: &mut Play, agent: Agent, account: &str) {
    let mut new = common::order(agent, Terms::default());
    new.order.account = Some(account.to_owned());
    play.give(Input::CreateRun(Box::new(new)));
}

/// Sessions of these accounts, each with a conversation and a process that runs.
fn at_work(accounts: &[&str]) -> Play {
    let mut play = Play::new();
    for (account, number) in accounts.iter().zip(1..) {
        create(&mut play, claude(), account);
        starts(&mut play, SessionId(number));
    }
    play.forget();
    play
}

fn shim(play: &mut Play, session: SessionId, news: News) {
    let launch = play.book.world.sessions[&session].launches.last().expect("a launch");
    let (launch, spool_seq) = (launch.number, launch.spool_seq + 1);
    play.give(Input::Shim { session, launch, spool_seq, news });
}

fn hears(play: &mut Play, session: SessionId, item: Value) {
    let heard = play.book.world.sessions[&session].launches.last().and_then(|launch| launch.heard);
    let item = said::at(heard.map_or(100, |(offset, _)| offset + 100), item);
    shim(play, session, News::Heard { item });
}

fn starts(play: &mut Play, session: SessionId) {
    shim(play, session, News::Started { pid: 7, began: 1 });
    hears(play, session, said::conversation("c1"));
}

fn ends(play: &mut Play, session: SessionId, code: i32) {
    shim(play, session, News::Ended { code: Some(code), signal: None, clean: true });
}

fn stops(play: &mut Play, session: SessionId) {
    shim(play, session, News::Stopped { cause: "command".to_owned(), processes: 1, confirmed: true });
}

/// Hits the limit and ends, as a CLI does that gives up.
fn hits(play: &mut Play, session: SessionId, reset_at_ms: Option<u64>) {
    hears(play, session, limit(reset_at_ms));
    hears(play, session, said::end("error"));
    ends(play, session, 1);
}

/// Goes well to its end.
fn succeeds(play: &mut Play, session: SessionId) {
    hears(play, session, said::end("success"));
    ends(play, session, 0);
}

fn status(play: &Play, session: SessionId) -> Status {
    let blocking: Vec<_> = play.book.world.blocking(session).collect();
    play.book.world.sessions[&session].status(&blocking)
}

#[test]
fn one_account_parks_and_the_other_goes_on() {
    let mut play = at_work(&["one", "two", "one"]);
    let reset_ms = play.now_ms + 10 * MINUTE_MS;
    hits(&mut play, A, Some(reset_ms));
    assert!(play.page().contains("→ stop launch=1"), "the other of the same account is stopped");
    stops(&mut play, C);
    assert_eq!([A, B, C].map(|id| status(&play, id)), [Status::Parked, Status::Active, Status::Parked]);
    assert_eq!(
        play.book.world.next_deadline_ms().map(|at| at.min(reset_ms)),
        Some(play.now_ms + 5 * MINUTE_MS)
    );
    succeeds(&mut play, B);
    assert_eq!(status(&play, B), Status::Completed);
    // None is started meanwhile, and others are.
    create(&mut play, claude(), "one");
    create(&mut play, codex(), "two");
    let (new, other) = (SessionId(4), SessionId(5));
    assert_eq!((status(&play, new), status(&play, other)), (Status::Parked, Status::Starting));
    assert!(play.book.world.sessions[&new].launches.is_empty());
    let attempts = [A, C, new].map(|id| play.book.world.sessions[&id].attempts.len());
    assert_eq!(attempts, [0, 0, 0]);
}

#[test]
fn they_go_on_in_order_when_the_limit_is_over() {
    let mut play = at_work(&["one", "one", "one"]);
    let reset_ms = play.now_ms + MINUTE_MS;
    hits(&mut play, B, Some(reset_ms));
    stops(&mut play, A);
    stops(&mut play, C);
    play.wait_ms(MINUTE_MS - 1);
    assert_eq!([A, B, C].map(|id| status(&play, id)), [Status::Parked; 3]);
    play.forget();
    play.wait_ms(1);
    // The oldest first; the others only when it has shown that the limit is over.
    assert_eq!([A, B, C].map(|id| status(&play, id)), [Status::Active, Status::Parked, Status::Parked]);
    assert!(play.page().contains("→ go_on"));
    play.wait_ms(1_000);
    assert_eq!(status(&play, B), Status::Parked);
    hears(&mut play, A, said::question("Which?"));
    play.give(Input::Tick);
    assert_eq!([B, C].map(|id| status(&play, id)), [Status::Starting, Status::Parked]);
    let launch = play.book.world.sessions[&B].launches.last().expect("a launch").clone();
    assert_eq!((launch.number, launch.cause, launch.fresh), (2, LaunchCause::Limit, false));
    assert_eq!(launch.prompt, "Do it.", "nothing shows that it was heard");
    starts(&mut play, B);
    // It says nothing for long: the next one follows all the same.
    play.wait_ms(30_000);
    assert_eq!(status(&play, C), Status::Active);
    assert!(play.book.world.accounts.values().all(|account| account.limit.is_some()));
    succeeds(&mut play, C);
    play.give(Input::Tick);
    assert!(play.book.world.accounts.values().all(|account| account.limit.is_none()));
    succeeds(&mut play, B);
    let outcome = Some(Outcome::Completed { verified: false });
    assert_eq!(play.book.world.sessions[&B].outcome, outcome);
}

#[test]
fn who_hits_it_again_keeps_the_others_parked() {
    let mut play = at_work(&["one", "one"]);
    hits(&mut play, A, None);
    stops(&mut play, B);
    let next_try = |play: &Play| {
        let account = play.book.world.accounts.values().next().expect("an account");
        let limit = account.limit.as_ref().expect("a limit");
        (limit.reset_at_ms, limit.next_try_at_ms - play.now_ms, limit.times)
    };
    assert_eq!(next_try(&play), (None, 5 * MINUTE_MS, 1), "no reset is invented");
    play.wait_ms(5 * MINUTE_MS);
    assert_eq!([A, B].map(|id| status(&play, id)), [Status::Starting, Status::Parked]);
    starts(&mut play, A);
    hits(&mut play, A, None);
    assert_eq!([A, B].map(|id| status(&play, id)), [Status::Parked; 2]);
    assert_eq!(next_try(&play), (None, 10 * MINUTE_MS, 2));
    play.wait_ms(10 * MINUTE_MS - 1);
    assert_eq!([A, B].map(|id| status(&play, id)), [Status::Parked; 2]);
    assert_eq!(play.book.world.sessions[&A].attempts.len(), 0);
}

#[test]
fn a_clock_that_goes_back_lets_nobody_go_on() {
    let mut play = at_work(&["one"]);
    let reset_ms = play.now_ms + MINUTE_MS;
    hits(&mut play, A, Some(reset_ms));
    play.forget();
    play.now_ms = 0;
    play.give(Input::Tick);
    assert_eq!((play.page().as_str(), play.book.world.next_deadline_ms()), ("", Some(reset_ms)));
    play.now_ms = reset_ms + 100 * MINUTE_MS;
    play.give(Input::Tick);
    assert_eq!(status(&play, A), Status::Starting);
}

#[test]
fn an_error_that_says_so_parks_too() {
    let mut play = Play::new();
    create(&mut play, plain(), "one");
    create(&mut play, plain(), "one");
    for id in [A, B] {
        shim(&mut play, id, News::Started { pid: 7, began: 1 });
    }
    play.forget();
    let error = said::error("API rate limit exceeded, try again in 3 minutes", "pause_and_retry");
    hears(&mut play, A, error);
    stops(&mut play, A);
    stops(&mut play, B);
    assert_eq!([A, B].map(|id| status(&play, id)), [Status::Parked; 2]);
    let settled = play.request(1).settled.as_ref().map(|settled| settled.by);
    assert_eq!((settled, play.book.world.sessions[&A].retries.count), (Some(By::Limit), 0));
    play.forget();
    play.wait_ms(3 * MINUTE_MS);
    assert_eq!([A, B].map(|id| status(&play, id)), [Status::Active, Status::Parked]);
    assert!(play.page().contains("→ go_on"));
    // What is only about limits is an error like any other.
    hears(&mut play, A, said::error("the rate limit test fails", "notify_user"));
    assert_eq!(status(&play, A), Status::WaitingInput);
}

#[test]
fn who_has_no_account_parks_alone() {
    let mut play = Play::new();
    for _ in 0..2 {
        play.give(Input::CreateRun(Box::new(common::order(claude(), Terms::default()))));
    }
    starts(&mut play, A);
    starts(&mut play, B);
    hits(&mut play, A, None);
    assert_eq!([A, B].map(|id| status(&play, id)), [Status::Parked, Status::Active]);
}

#[test]
fn a_cli_that_tries_again_by_itself_is_left_alone_unless_its_table_says_otherwise() {
    let mut retrying = limit(None);
    retrying["retrying"] = true.into();
    retrying["retry_after_ms"] = 2_000.into();
    let mut play = at_work(&["one", "one"]);
    hears(&mut play, A, retrying.clone());
    assert_eq!([A, B].map(|id| status(&play, id)), [Status::Active; 2]);
    let until_ms = play.book.world.sessions[&A].retrying.as_ref().and_then(|limit| limit.reset_at_ms);
    assert_eq!(until_ms, Some(play.now_ms + 2_000));
    hears(&mut play, A, said::end("success"));
    assert_eq!(play.book.world.sessions[&A].retrying, None);

    let mut agent = claude();
    agent.account.park_retrying = true;
    let mut play = Play::new();
    create(&mut play, agent, "one");
    starts(&mut play, A);
    play.forget();
    hears(&mut play, A, retrying);
    assert!(play.page().contains("→ stop"));
    assert_eq!(status(&play, A), Status::Parked);
    stops(&mut play, A);
    play.forget();
    play.wait_ms(2_000);
    assert!(play.page().contains("→ go_on"));
}

#[test]
fn a_person_need_not_wait_and_can_end_it() {
    let mut play = at_work(&["one", "one"]);
    hits(&mut play, A, None);
    stops(&mut play, B);
    play.give(Input::Continue(B));
    assert_eq!([A, B].map(|id| status(&play, id)), [Status::Parked, Status::Active]);
    hears(&mut play, B, limit(None));
    assert_eq!([A, B].map(|id| status(&play, id)), [Status::Parked; 2]);
    play.give(Input::Cancel(A));
    assert_eq!(status(&play, A), Status::Cancelled);
    // Nobody waits any more when the rest is over too.
    play.give(Input::Cancel(B));
    ends(&mut play, B, 1);
    play.wait_ms(60 * MINUTE_MS);
    assert!(play.book.world.accounts.values().all(|account| account.limit.is_none()));
}

#[test]
fn answers_and_resumptions_wait_with_the_account() {
    let mut play = at_work(&["one", "one"]);
    hears(&mut play, B, said::question("Which?"));
    stops(&mut play, B);
    hits(&mut play, A, None);
    assert_eq!(status(&play, B), Status::WaitingInput);
    play.forget();
    play.answer(1, "this");
    assert_eq!(status(&play, B), Status::Parked);
    assert!(!play.page().contains("→"), "nothing is brought yet");
    play.give(Input::Cancel(A));
    play.give(Input::Resume { session: A, prompt: Some("go on".to_owned()) });
    assert_eq!(status(&play, A), Status::Parked);
    play.forget();
    play.wait_ms(5 * MINUTE_MS);
    assert!(play.page().contains("prompt=\"go on\""));
    ends(&mut play, B, 1);
    starts(&mut play, A);
    hears(&mut play, A, said::end("success"));
    play.forget();
    play.give(Input::Tick);
    assert_eq!(status(&play, B), Status::Starting, "it stood still for so long that it was ended");
}

#[test]
fn a_limit_that_did_not_keep_it_from_its_end_is_none() {
    let mut play = at_work(&["one"]);
    hears(&mut play, A, limit(None));
    assert_eq!(status(&play, A), Status::Parked);
    succeeds(&mut play, A);
    assert_eq!(status(&play, A), Status::Completed);
}

#[test]
fn what_was_done_before_a_limit_is_kept() {
    let mut play = Play::new();
    for account in ["one", "one", "two"] {
        let mut new = common::order(claude(), Terms::default());
        new.order.account = Some(account.to_owned());
        new.order.checkpoints = Some(CheckpointTerms::default());
        play.give(Input::CreateRun(Box::new(new)));
    }
    for session in [A, B, C] {
        starts(&mut play, session);
    }
    play.forget();
    hits(&mut play, A, Some(60 * MINUTE_MS));
    let page = play.page();
    assert_eq!(page.matches(r#"why="limit""#).count(), 2, "{page}");
    assert!(page.contains("holds=false"), "{page}");
    // Who has not begun has nothing to lose, and an error that says so is kept as an error.
    create(&mut play, claude(), "one");
    hears(&mut play, C, said::error("API rate limit exceeded, try again in 3 minutes", "pause_and_retry"));
    let page = play.page();
    assert_eq!(status(&play, C), Status::Parked, "{page}");
    assert_eq!(page.matches("→ checkpoint").count(), 1, "{page}");
}
