//! What was used is summed up once, over processes, conversations and losses.

use ostler_engine::{
    Input,
    run::Terms,
    usage::{Price, Prices, Used},
};
use serde_json::{Value, json};

use crate::{
    common::{self, claude, codex, plain, said},
    play::{Play, S},
};

/// A report of a CLI, as the parser prints it.
fn report(input: u64, cost_usd: Option<f64>, spans: [&str; 2]) -> Value {
    json!({ "kind": "usage", "trust": "stream", "input_tokens": input, "output_tokens": null,
            "cache_read_tokens": null, "cache_write_tokens": null, "reasoning_tokens": null,
            "cost_usd": cost_usd, "tokens_span": spans[0], "cost_span": spans[1] })
}

fn figures(used: &Used) -> (Option<u64>, Option<u64>) {
    (used.input_tokens, used.cost_nusd)
}

/// The session, its run and its project know the same; what launches used adds up to it.
fn check(play: &Play, tokens: u64, cost_nusd: Option<u64>) {
    let session = play.session();
    let expected = (Some(tokens), cost_nusd);
    assert_eq!(figures(&session.used), expected);
    assert_eq!(figures(&play.book.world.runs[&session.run].used), expected);
    assert_eq!(figures(&play.book.world.projects[&session.project].used), expected);
    let mut launches = Used::default();
    session.launches.iter().for_each(|launch| launches.add(&launch.used));
    assert_eq!(launches, session.used);
    let mut times = Used::default();
    session.used_at.values().for_each(|used| times.add(used));
    assert_eq!(times, session.used);
}

#[test]
fn claude_counts_tokens_by_turn_and_cost_by_conversation() {
    let says = |tokens, cost| report(tokens, Some(cost), ["turn", "conversation"]);
    let mut play = Play::running(claude());
    play.heard(said::conversation("c1"));
    play.heard(says(10, 0.5));
    play.heard(says(20, 0.75));
    play.asks(said::question("Which?"));
    play.wait_ms(600_000);
    play.killed();
    play.answer(1, "this");
    play.started();
    assert!(!play.session().launches[1].fresh);
    // The same conversation: what it cost before is said again.
    play.heard(says(5, 1.0));
    play.heard(said::end("success"));
    play.ended(0);
    check(&play, 35, Some(1_000_000_000));
    assert_eq!(figures(&play.session().launches[1].used), (Some(5), Some(250_000_000)));
}

#[test]
fn codex_counts_tokens_by_conversation() {
    let says = |tokens| report(tokens, None, ["conversation", "process"]);
    let mut play = Play::running(codex());
    play.heard(said::conversation("c1"));
    play.asks(said::question("Which?"));
    play.heard(says(100));
    play.heard(said::end("success"));
    play.ended(0);
    play.answer(1, "this");
    play.started();
    play.heard(says(130));
    play.heard(said::end("success"));
    play.ended(0);
    check(&play, 130, None);
    play.give(Input::Resume { session: S, prompt: None });
    play.started();
    play.heard(says(140));
    check(&play, 140, None);
}

#[test]
fn a_process_counts_for_itself_and_a_new_conversation_from_nothing() {
    for span in ["process", "conversation"] {
        let mut play = Play::running(plain());
        play.heard(report(10, Some(0.1), [span, span]));
        play.heard(report(15, Some(0.2), [span, span]));
        play.lost();
        play.give(Input::Resume { session: S, prompt: None });
        assert!(play.session().launches[1].fresh);
        play.started();
        play.heard(report(7, Some(0.1), [span, span]));
        check(&play, 22, Some(300_000_000));
    }
}

#[test]
fn what_is_heard_again_in_the_log_of_a_lost_shim_is_counted_once() {
    let mut play = Play::running(claude());
    play.heard(report(10, Some(0.1), ["turn", "conversation"]));
    let items = vec![
        said::at(100, report(10, Some(0.1), ["turn", "conversation"])),
        said::at(200, report(20, Some(0.3), ["turn", "conversation"])),
    ];
    play.give(Input::Overheard { session: S, launch: 1, before: 0, items });
    play.lost();
    check(&play, 30, Some(300_000_000));
}

#[test]
fn a_report_without_spans_is_of_its_process() {
    let mut play = Play::running(claude());
    play.heard(said::usage(0.5));
    play.heard(said::usage(0.6));
    check(&play, 3, Some(600_000_000));
}

#[test]
fn prices_stand_in_where_a_cli_states_no_cost() {
    let price = Price { input: 2_000, output: 8_000, cache_read: 500, cache_write: 2_000 };
    let mut new = common::order(codex(), Terms::default());
    new.order.prices = Prices::from([("gpt".to_owned(), price)]);
    new.order.model = Some("gpt-6".to_owned());
    let mut play = Play::ordered(new.clone());
    play.started();
    play.heard(report(1_000_000, None, ["conversation", "process"]));
    play.heard(report(1_500_000, None, ["conversation", "process"]));
    check(&play, 1_500_000, Some(3_000_000_000));
    // What the stream names counts before what was ordered.
    let mut play = Play::ordered(new);
    play.started();
    play.heard(said::conversation("c1"));
    play.heard(report(1_000_000, None, ["conversation", "process"]));
    check(&play, 1_000_000, None);
}

#[test]
fn it_is_known_when_something_was_used() {
    let mut play = Play::running(claude());
    play.heard(report(10, None, ["turn", "turn"]));
    play.wait_ms(15 * 60_000);
    play.heard(report(5, None, ["turn", "turn"]));
    let at: Vec<_> = play.session().used_at.iter().map(|(at, used)| (*at, used.input_tokens)).collect();
    assert_eq!(at, [(0, Some(10)), (900_000, Some(5))]);
    check(&play, 15, None);
}
