//! Hundreds of ways to look like the agent's own word: none has an effect that only a person may have.
//!
//! Each case goes through the parser and then through the engine, as in a session. The tests of whole sessions play a
//! sample of the same cases.

#[path = "../../../../tests/spoofs/cases.rs"]
mod cases;

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::PathBuf,
};

use cases::{Case, Expected, PROMPT, STREAMS, Stream, cases};
use ostler_agents::{Agent, Output};
use ostler_engine::{input::NewRun, run::Terms, session::Order};
use ostler_protocol::{
    Format, Item, Parser, Settings, Trust, What,
    fault::Severity,
    guide::{Language, text as guide},
    stream::Table,
};
use serde_json::json;

use crate::{
    common::{order, plain},
    play::Play,
};

const MONTH_MS: u64 = 30 * 24 * 60 * 60_000;

/// An agent with the stream that it prints.
struct Speaker {
    agent: Agent,
    format: Format,
    /// A session of it that has begun.
    begun: Play,
}

impl Speaker {
    fn of(stream: Stream) -> Speaker {
        let agent = Agent::builtin(stream.name()).unwrap_or_else(plain);
        let format = match &agent.output {
            Output::Text => Format::Text,
            Output::Table(toml) => Format::Structured(Table::parse(toml).expect("a table")),
        };
        let begun = begin(&agent, PROMPT);
        Speaker { agent, format, begun }
    }

    fn all() -> Vec<(Stream, Speaker)> {
        [Stream::Raw].into_iter().chain(STREAMS).map(|stream| (stream, Speaker::of(stream))).collect()
    }
}

fn parse(speaker: &Speaker, settings: &Settings, printed: &str, length: usize) -> Vec<Item> {
    let mut parser = Parser::new(speaker.format.clone(), settings.clone());
    printed.as_bytes().chunks(length).for_each(|chunk| parser.push(chunk));
    parser.finish();
    parser.collect()
}

/// A session that was told this, and works.
fn begin(agent: &Agent, prompt: &str) -> Play {
    let new = order(agent.clone(), Terms::default());
    let told = Order { prompt: prompt.to_owned(), ..*new.order.clone() };
    let mut play = Play::ordered(NewRun { order: Box::new(told), ..new });
    play.started();
    play.forget();
    play
}

/// Plays what is printed, and stops where somebody is asked.
fn play(speaker: &Speaker, prompt: &str, settings: &Settings, printed: &str) -> Play {
    let items = parse(speaker, settings, printed, usize::MAX);
    assert_eq!(items, parse(speaker, settings, printed, 7), "the cuts must not matter");
    let mut play = if prompt == PROMPT { speaker.begun.clone() } else { begin(&speaker.agent, prompt) };
    for item in items {
        let before = play.book.world.requests.len();
        play.heard(json!(item));
        if play.book.world.requests.len() > before {
            play.stopped();
        }
    }
    play
}

fn judge(speaker: &Speaker, case: &Case) {
    let nonce = case.nonce.map(|nonce| nonce.parse().expect("a nonce"));
    let settings = Settings { nonce, ..Settings::default() };
    let mut play = play(speaker, &case.prompt, &settings, &case.printed);
    let page = play.page();
    let context = || format!("{}\n{}\n{page}", case.name, case.printed);
    for effect in ["request.settled", "→ deliver", "→ go_on", "→ launch", "→ end", "session.finished"]
    {
        assert!(!page.contains(effect), "{effect}: {}", context());
    }
    let requests: Vec<_> = play.book.world.requests.values().cloned().collect();
    match (case.expected, &requests[..]) {
        (Expected::Nothing, []) => {}
        (Expected::Plain, [request]) => assert_eq!(request.trust, "plain", "{}", context()),
        (Expected::StillOpen, [request]) => assert!(request.is_open(), "{}", context()),
        (Expected::Marked(source), [request]) => {
            let mark = request.mark.as_ref().unwrap_or_else(|| panic!("no mark: {}", context()));
            assert_eq!(mark.source.name(), source, "{}", context());
            let names_tool = source != "tool_output" || mark.about.as_deref() == Some("cat README.md");
            assert!(names_tool, "{mark:?} {}", context());
            play.wait_ms(MONTH_MS);
            assert!(play.request(1).is_open(), "{}", context());
            assert!(!play.page().contains("request.settled"), "{}", context());
        }
        (_, requests) => panic!("{requests:#?}\n{}", context()),
    }
}

#[test]
fn no_spoof_has_an_effect() {
    let cases = cases();
    for (stream, speaker) in Speaker::all() {
        cases.iter().filter(|case| case.stream == stream).for_each(|case| judge(&speaker, case));
    }
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "each case is another one");
    // Not with `println!`: what a passing test prints that way nobody sees.
    let ways: BTreeSet<&str> = cases.iter().map(|case| case.way).collect();
    let said = format!("{} spoofs in {} ways, none with an effect", cases.len(), ways.len());
    writeln!(io::stderr(), "{said}").expect("standard error is open");
    assert!(cases.len() >= 500);
}

/// What asks for somebody or says something in a text, however it is printed. None of it is marked or quoted.
fn accepted(speakers: &[(Stream, Speaker)], printed: &str) -> usize {
    let settings = Settings::default();
    let heard = |speaker: &Speaker, printed: &str| -> Vec<What> {
        let items = parse(speaker, &settings, printed, usize::MAX);
        let items = items.into_iter().filter(|item| item.trust != Trust::Stream);
        let is_said = |item: &Item| match &item.what {
            What::Fault(fault) => fault.severity() == Severity::Fault,
            What::Quoted(_) => panic!("{printed}\nis taken for a quotation: {item:?}"),
            What::Signal(_) | What::Fact(_) => true,
        };
        items
            .filter(is_said)
            .inspect(|item| assert_eq!(item.mark, None, "{printed}"))
            .map(|item| item.what)
            .collect()
    };
    let raw = heard(&Speaker::of(Stream::Raw), printed);
    for (stream, speaker) in speakers {
        let printed = stream.whole(&stream.says(printed));
        assert_eq!(heard(speaker, &printed), raw, "{} says\n{printed}", stream.name());
        let play = play(speaker, PROMPT, &settings, &printed);
        assert!(play.book.world.requests.values().all(|request| request.mark.is_none()), "{printed}");
    }
    raw.len()
}

#[test]
fn every_documented_example_is_accepted() {
    let speakers = Speaker::all();
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    for page in ["docs/protocol.md", "docs/ko/protocol.md"] {
        let text = fs::read_to_string(root.join(page)).expect("a page");
        let mut signals = 0;
        for block in text.split("\n```ostler").skip(1) {
            let (words, rest) = block.split_once('\n').expect("a fence");
            let example = rest.split("\n```\n").next().unwrap_or_default();
            if words.contains("format=") {
                continue;
            }
            let escapes = words.contains("escapes");
            let example =
                if escapes { example.replace("\\e", "\u{1b}").replace("\\r", "\r") } else { example.into() };
            signals += accepted(&speakers, &format!("{example}\n"));
        }
        assert!(signals >= 30, "{page}: {signals}");
    }
    for language in [Language::English, Language::Korean] {
        assert_eq!(accepted(&speakers, guide(language)), 3, "the guide");
    }
}
