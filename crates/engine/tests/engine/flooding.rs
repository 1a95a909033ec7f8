//! An agent that prints without end: what asks for nothing is counted, what asks is heard, and too much of that ends it.

use ostler_engine::{
    Input,
    input::{FoldedNews, News},
    run::Outcome,
};
use ostler_protocol::fact::{Span, Usage};
use serde_json::{Value, json};

use crate::{
    common::{plain, said},
    play::{Play, S},
};

/// The records that are taken as they are.
const RECORDS_MAX: u64 = 20_000;

fn records(from: u64, items: impl IntoIterator<Item = Value>) -> Input {
    let records =
        (from..).zip(items).map(|(seq, item)| (seq, News::Heard { item: said::at(seq * 100, item) }));
    Input::ShimRecords { session: S, launch: 1, records: records.collect() }
}

fn step() -> Value {
    json!({ "kind": "step_complete", "step": "again" })
}

fn usage(tokens: u64) -> Value {
    json!({ "kind": "usage", "output_tokens": tokens, "tokens_span": "step" })
}

/// How many events of a kind have come since the last look.
fn counts<const N: usize>(play: &mut Play, kinds: [&str; N]) -> [usize; N] {
    let page = play.page();
    kinds.map(|kind| page.lines().filter(|line| line.split(' ').next() == Some(kind)).count())
}

const KINDS: [&str; 2] = ["session.heard", "session.unrecorded"];

/// A session that has been recorded up to the bound.
fn at_the_bound() -> Play {
    let mut play = Play::running(plain());
    play.give(records(2, (2..=RECORDS_MAX).map(|_| step())));
    play.forget();
    play
}

#[test]
fn steps_beyond_the_bound_are_counted_and_questions_are_heard() {
    let mut play = at_the_bound();
    assert_eq!(play.session().launches[0].unrecorded, 0);
    play.give(records(RECORDS_MAX + 1, (0..300).map(|_| step())));
    assert_eq!(counts(&mut play, KINDS), [0, 1]);
    let mixed = [step(), said::question("Which?"), step(), step()];
    play.give(records(RECORDS_MAX + 301, mixed));
    assert_eq!(counts(&mut play, KINDS), [1, 2]);
    let launch = &play.session().launches[0];
    assert_eq!((launch.unrecorded, launch.spool_seq), (303, RECORDS_MAX + 304));
    assert!(play.request(1).is_open());
}

#[test]
fn usage_that_is_not_recorded_is_counted() {
    let mut play = at_the_bound();
    play.give(records(RECORDS_MAX + 1, (1..=10).map(usage)));
    assert_eq!(play.session().used.output_tokens, Some(55));
    assert_eq!(counts(&mut play, KINDS), [0, 1]);
}

#[test]
fn items_that_a_shim_has_counted_are_counted_with_what_they_used() {
    let mut play = Play::running(plain());
    let report = Usage { output_tokens: Some(7), tokens_span: Some(Span::Step), ..Usage::default() };
    let folded = FoldedNews { items: 1_000, last: (500, 1), usage: vec![report] };
    let records = vec![(2, News::Folded(folded))];
    play.give(Input::ShimRecords { session: S, launch: 1, records });
    let launch = &play.session().launches[0];
    assert_eq!((launch.unrecorded, launch.spool_seq, launch.heard), (1_000, 2, Some((500, 1))));
    assert_eq!(play.session().used.output_tokens, Some(7));
}

#[test]
fn an_agent_that_says_without_end_who_it_is_is_ended() {
    let mut play = Play::running(plain());
    let fact = |number: u64| json!({ "kind": "agent_session", "id": format!("c{number}") });
    play.give(records(2, (2..=200_000).map(|_| step())));
    play.give(records(200_001, (0..10).map(fact)));
    play.killed();
    assert!(matches!(play.session().outcome, Some(Outcome::Failed { .. })), "{:?}", play.session().outcome);
}

#[test]
fn the_log_of_a_lost_shim_is_bounded_too() {
    let mut play = at_the_bound();
    let items = |from: u64| -> Vec<Value> { (from..from + 3).map(|it| said::at(it * 100, step())).collect() };
    play.give(Input::Overheard { session: S, launch: 1, before: RECORDS_MAX - 1, items: items(RECORDS_MAX) });
    play.give(Input::Overheard {
        session: S,
        launch: 1,
        before: RECORDS_MAX + 2,
        items: items(RECORDS_MAX + 3),
    });
    play.lost();
    assert_eq!(counts(&mut play, KINDS), [0, 2]);
    assert_eq!(play.session().launches[0].unrecorded, 5, "the first of them was known");
}

#[test]
fn an_agent_with_too_many_open_requests_is_ended_with_the_reason() {
    let mut play = Play::running(plain());
    let question = |number: u64| said::question(&format!("{number}?"));
    play.give(records(2, (0..300).map(question)));
    assert_eq!(counts(&mut play, ["request.opened"]), [257], "the last one says why it is ended");
    play.killed();
    let outcome = play.session().outcome.clone();
    assert!(
        matches!(&outcome, Some(Outcome::Failed { reason }) if format!("{reason:?}").contains("256")),
        "{outcome:?}"
    );
}
