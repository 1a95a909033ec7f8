//! What an agent was told, and where that belongs in what it printed: its prompts, answers to its questions, messages of
//! people. The journal says in which order things happened, and how much of a log had been heard by then.

use std::collections::BTreeMap;

use ostler_server::{
    api::{EventView, LaunchView, RequestView},
    client::Client,
};
use serde::Serialize;
use serde_json::Value;

use crate::{
    clock,
    error::Error,
    outcome,
    screen::{Screen, Style, add_line, one_line, safe},
    words::{Key, Words},
};

/// The events that say what was told, and when.
const KINDS: &str = "session.launched,session.heard,request.settled,message.written";

/// How many are asked for at once.
const PAGE: usize = 500;

/// How much of a text is shown, unless all is wanted.
const SHOWN_CHARS_MAX: usize = 1_000;

/// Something that an agent was told.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "piece", rename_all = "snake_case")]
pub(super) enum ToldPiece {
    /// A process of it was started.
    Launch { launch: u32, cause: String, at_ms: u64, prompt: String },
    /// A question was settled.
    Answer { request: String, question: String, by: String, answer: Value, at_ms: u64 },
    /// A person wrote to it.
    Message { text: String, at_ms: u64 },
}

/// Where something belongs: behind this byte of the log of a launch.
#[derive(Debug, Clone)]
pub(super) struct ToldMark {
    pub(super) launch: u32,
    pub(super) offset: u64,
    /// Whether the journal has the place. Otherwise it is that of what was heard last.
    pub(super) is_exact: bool,
    pub(super) piece: ToldPiece,
}

/// How far the journal of a session was read.
#[derive(Debug, Default)]
pub(super) struct ToldReader {
    /// The last event.
    pub(super) seq: u64,
    launch: u32,
    offset: u64,
}

impl ToldReader {
    /// Everything that a session was told by now, in order.
    pub(super) async fn read(&mut self, client: &Client, session: &str) -> Result<Vec<ToldMark>, Error> {
        let requests = requests(client, session).await?;
        let mut marks = Vec::new();
        loop {
            let path = format!("/events?session={session}&kind={KINDS}&after={}&limit={PAGE}", self.seq);
            let events: Vec<EventView> = client.get(&path).await?;
            for event in &events {
                marks.extend(self.hear(event, |id| requests.get(id)));
            }
            if events.len() < PAGE {
                return Ok(marks);
            }
        }
    }

    /// The same for one event that happens now.
    pub(super) async fn happened(
        &mut self,
        client: &Client,
        event: &EventView,
    ) -> Result<Option<ToldMark>, Error> {
        if event.seq <= self.seq {
            return Ok(None);
        }
        let request: Option<RequestView> = match (event.kind.as_str(), event.body["request"].as_str()) {
            ("request.settled", Some(id)) => Some(client.get(&format!("/requests/{id}")).await?),
            _ => None,
        };
        Ok(self.hear(event, |_| request.as_ref()))
    }

    fn hear<'a>(
        &mut self,
        event: &EventView,
        request: impl Fn(&str) -> Option<&'a RequestView>,
    ) -> Option<ToldMark> {
        self.seq = event.seq;
        let (body, at_ms) = (&event.body, event.at_ms);
        let piece = match event.kind.as_str() {
            "session.launched" => {
                self.launch = u32::try_from(body["launch"].as_u64()?).ok()?;
                self.offset = 0;
                return None;
            }
            "session.heard" => {
                let item = &body["item"];
                self.offset = item["end"].as_u64().or(item["offset"].as_u64()).unwrap_or(self.offset);
                return None;
            }
            "request.settled" => {
                let request = request(body["request"].as_str()?)?;
                let settled = request.settled.as_ref()?;
                ToldPiece::Answer {
                    request: request.id.clone(),
                    question: request.ask.text.clone(),
                    by: settled.by.clone(),
                    answer: settled.answer.clone(),
                    at_ms,
                }
            }
            "message.written" if body["personal"] == true => {
                ToldPiece::Message { text: body["text"].as_str()?.to_owned(), at_ms }
            }
            _ => return None,
        };
        let printed = &body["printed"];
        let is_exact = printed["launch"].as_u64() == Some(u64::from(self.launch));
        if is_exact {
            self.offset = printed["offset"].as_u64().unwrap_or(self.offset).max(self.offset);
        }
        Some(ToldMark { launch: self.launch, offset: self.offset, is_exact, piece })
    }
}

async fn requests(client: &Client, session: &str) -> Result<BTreeMap<String, RequestView>, Error> {
    let mut found: Vec<RequestView> = Vec::new();
    loop {
        let before = found.last().map(|last| format!("&before={}", last.id)).unwrap_or_default();
        let page: Vec<RequestView> =
            client.get(&format!("/requests?session={session}&limit={PAGE}{before}")).await?;
        let is_last = page.len() < PAGE;
        found.extend(page);
        if is_last {
            return Ok(found.into_iter().map(|request| (request.id.clone(), request)).collect());
        }
    }
}

impl ToldPiece {
    /// The start of a process.
    pub(super) fn of_launch(launch: &LaunchView) -> ToldPiece {
        let LaunchView { number, cause, at_ms, prompt, .. } = launch;
        ToldPiece::Launch { launch: *number, cause: cause.clone(), at_ms: *at_ms, prompt: prompt.clone() }
    }

    /// For people: a line of its own for the start of a later process, and what was told behind a mark.
    pub(super) fn lines(&self, words: Words, screen: Screen, is_plain: bool, full: bool) -> String {
        match self {
            ToldPiece::Launch { launch, cause, at_ms, prompt } => {
                let mut said = String::new();
                if *launch > 1 {
                    let values: &[(&str, &dyn std::fmt::Display)] = &[
                        ("number", launch),
                        ("cause", &cause_said(words, cause)),
                        ("time", &clock::local(*at_ms)),
                    ];
                    let line = format!("── {} ──", words.say(Key::LogLaunch, values));
                    add_line(&mut said, 0, &screen.style(Style::Dim, &line));
                }
                // What is brought was shown where it was given, and a command is told nothing.
                if !is_plain && cause != "bring" {
                    said += &told(words, screen, words.sentence(Key::LogYou), prompt, full);
                }
                said
            }
            ToldPiece::Answer { request, question, by, answer, .. } => {
                let said = outcome::settled(words, by, answer);
                let text = format!("{} → {said}", one_line(question));
                told(words, screen, request, &text, full)
            }
            ToldPiece::Message { text, .. } => told(words, screen, words.sentence(Key::LogYou), text, full),
        }
    }
}

fn cause_said(words: Words, cause: &str) -> String {
    let key = match cause {
        "first" => Key::LaunchFirst,
        "bring" => Key::LaunchBring,
        "resume" => Key::LaunchResume,
        "attempt" => Key::LaunchAttempt,
        "limit" => Key::LaunchLimit,
        "rework" => Key::LaunchRework,
        other => return one_line(other),
    };
    words.sentence(key).to_owned()
}

/// What somebody said, with a mark before each line; of a long text the beginning, and how much more there is.
fn told(words: Words, screen: Screen, who: &str, text: &str, full: bool) -> String {
    let text = safe(text.trim());
    if text.is_empty() {
        return String::new();
    }
    let count = text.chars().count();
    let is_cut = !full && count > SHOWN_CHARS_MAX;
    let shown: String = if is_cut { text.chars().take(SHOWN_CHARS_MAX).collect() } else { text.into_owned() };
    let mut said = String::new();
    for (index, line) in shown.lines().enumerate() {
        let mark = if index == 0 { format!("▸ {who}: ") } else { "▸ ".to_owned() };
        add_line(&mut said, 0, &format!("{}{line}", screen.style(Style::Attention, &mark)));
    }
    if is_cut {
        let more = words.say(Key::LogCut, &[("n", &(count - SHOWN_CHARS_MAX))]);
        add_line(&mut said, 0, &screen.style(Style::Dim, &more));
    }
    said
}
