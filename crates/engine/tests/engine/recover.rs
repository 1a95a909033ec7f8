//! The recovery table: wait and go on, give up, ask.

use expect_test::{Expect, expect};
use ostler_engine::{
    Input, Refusal,
    request::By,
    run::{Outcome, Reason},
    session::Status,
};

use serde_json::json;

use crate::{
    common::{claude, plain, said},
    play::{Play, S},
};

const SECOND_MS: u64 = 1_000;

fn check(play: &mut Play, expect: &Expect) {
    expect.assert_eq(&play.page());
}

/// An error, and how long it waits.
fn waits_ms(play: &mut Play, message: &str) -> u64 {
    play.asks(said::error(message, "pause_and_retry"));
    let request = play.book.world.blocking(S).next().expect("a card");
    request.expires_at_ms.expect("it does not wait for ever") - play.now_ms
}

#[test]
fn who_is_alive_is_sent_on_when_the_wait_is_over() {
    let mut play = Play::running(plain());
    let wait_ms = waits_ms(&mut play, "the network is down");
    assert!((10 * SECOND_MS..13 * SECOND_MS).contains(&wait_ms), "{wait_ms}");
    assert_eq!((play.status(), play.request(1).retry), (Status::WaitingInput, Some(1)));
    assert_eq!(play.book.world.next_deadline_ms(), Some(play.now_ms + wait_ms));
    play.forget();
    play.wait_ms(wait_ms - 1);
    check(&mut play, &expect![[r#""#]]);
    play.wait_ms(1);
    check(
        &mut play,
        &expect![[r#"
        request.settled answer={"answer":"retry"} brings=false by="expiry" request="q_1"
        session.released launch=1
            → go_on after=3 launch=1
    "#]],
    );
}

#[test]
fn who_has_ended_is_started_again() {
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    let wait_ms = waits_ms(&mut play, "the network is down");
    play.ended(1);
    assert_eq!(play.status(), Status::WaitingInput);
    play.forget();
    play.wait_ms(wait_ms);
    check(
        &mut play,
        &expect![[r#"
        request.settled answer={"answer":"retry"} brings=true by="expiry" request="q_1"
        session.launched cause="bring" fresh=false launch=2 prompt="Try again."
            → launch launch=2
        input.delivered launch=2 parcel={"request":"q_1"}
    "#]],
    );
    let mut play = Play::running(plain());
    let wait_ms = waits_ms(&mut play, "the network is down");
    play.lost();
    play.wait_ms(wait_ms);
    assert_eq!(play.session().launches.len(), 2, "also after a reboot");
}

#[test]
fn a_time_that_the_words_name_is_waited_for() {
    let mut play = Play::running(plain());
    assert_eq!(waits_ms(&mut play, "busy, try again in 2 hours"), 7_200 * SECOND_MS);
    let mut play = Play::running(plain());
    let mut error = said::error("the service is closed", "pause_and_retry");
    error["details"] = "It says: retry after 90 seconds".into();
    play.asks(error);
    assert_eq!(play.request(1).expires_at_ms, Some(play.now_ms + 90 * SECOND_MS));
}

#[test]
fn five_retries_and_then_a_person() {
    let mut play = Play::running(plain());
    let mut last_ms = 0;
    for number in 1..=5 {
        let wait_ms = waits_ms(&mut play, "still down");
        assert!(wait_ms > last_ms, "{number}");
        last_ms = wait_ms;
        play.wait_ms(wait_ms);
    }
    assert!(last_ms >= 160 * SECOND_MS);
    play.asks(said::error("still down", "pause_and_retry"));
    let request = play.request(6);
    assert_eq!((request.expires_at_ms, request.retry), (None, None));
    play.wait_ms(24 * 3_600 * SECOND_MS);
    assert_eq!(play.status(), Status::WaitingInput);
    // Whom a person sends on begins to count again.
    play.answer(6, "retry");
    assert!(waits_ms(&mut play, "still down") < 13 * SECOND_MS);
}

#[test]
fn an_error_long_after_another_is_another_one() {
    let mut play = Play::running(plain());
    let wait_ms = waits_ms(&mut play, "down");
    play.wait_ms(wait_ms);
    assert!(waits_ms(&mut play, "down") >= 20 * SECOND_MS);
    play.wait_ms(25 * SECOND_MS);
    play.wait_ms(31 * 60 * SECOND_MS);
    assert!(waits_ms(&mut play, "down") < 13 * SECOND_MS);
}

#[test]
fn a_person_can_cut_the_wait_short_or_give_up() {
    let mut play = Play::running(plain());
    waits_ms(&mut play, "down");
    play.forget();
    play.give(Input::Continue(S));
    check(
        &mut play,
        &expect![[r#"
        request.settled answer={"answer":"retry"} brings=false by="person" request="q_1"
        session.released launch=1
            → go_on after=3 launch=1
    "#]],
    );
    assert!(matches!(play.refused(Input::Continue(S)), Refusal::NotNow { .. }));
    waits_ms(&mut play, "down");
    play.answer(2, "fail");
    play.killed();
    let reason = Reason::Reported { message: "down".to_owned() };
    assert_eq!(play.session().outcome, Some(Outcome::Failed { reason }));
}

#[test]
fn who_is_held_is_not_sent_on_by_time() {
    let mut play = Play::running(plain());
    let wait_ms = waits_ms(&mut play, "down");
    play.give(Input::Pause(S));
    play.forget();
    play.wait_ms(wait_ms);
    assert_eq!(play.request(1).settled.as_ref().map(|settled| settled.by), Some(By::Expiry));
    assert_eq!(play.status(), Status::Paused);
    play.give(Input::Continue(S));
    assert!(play.page().contains("→ go_on"));
}

#[test]
fn a_clock_that_goes_back_retries_nothing() {
    let mut play = Play::running(plain());
    let wait_ms = waits_ms(&mut play, "down");
    let due_ms = play.now_ms + wait_ms;
    play.forget();
    play.now_ms = 0;
    play.give(Input::Tick);
    check(&mut play, &expect![[r#""#]]);
    assert_eq!(play.book.world.next_deadline_ms(), Some(due_ms));
}

#[test]
fn who_gives_up_by_itself_fails_and_who_asks_waits() {
    let mut play = Play::running(plain());
    play.forget();
    play.heard(said::error("the disk is broken", "checkpoint_and_fail"));
    check(
        &mut play,
        &expect![[r#"
        session.heard error launch=1
        request.opened error launch=1 request="q_1"
        request.settled answer={"answer":"fail"} brings=false by="end" request="q_1"
        session.recalled launch=1 why="failed"
            → end grace_ms=10000 launch=1
    "#]],
    );
    let mut play = Play::running(plain());
    play.asks(said::error("what now", "notify_user"));
    assert_eq!(play.request(1).expires_at_ms, None);
    assert_eq!(play.request(1).ask.options(), ["retry", "continue", "fail"]);
}

/// A model that was never reached has said nothing that could be gone on with.
#[test]
fn a_conversation_without_a_word_begins_anew() {
    let report = |tokens: u64| {
        json!({ "kind": "usage", "trust": "stream", "input_tokens": tokens, "output_tokens": tokens,
                "cache_read_tokens": null, "cache_write_tokens": null, "reasoning_tokens": null,
                "cost_usd": null, "tokens_span": "step", "cost_span": "step" })
    };
    for (tokens, is_kept) in [(0, false), (1, true)] {
        let mut play = Play::running(claude());
        play.heard(said::conversation("c1"));
        assert!(play.session().can_resume(), "nobody has said how much it used");
        play.heard(report(tokens));
        assert_eq!(play.session().can_resume(), is_kept);
        let first = play.session().given_conversation();
        play.killed();
        play.give(Input::Resume { session: S, prompt: None });
        // Under another id: most CLIs refuse one that they know.
        assert_eq!(play.session().given_conversation() == first, is_kept);
    }
}
