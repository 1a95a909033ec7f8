//! What a main agent asks in the thin dialect, and what it is answered.
//!
//! A line that asks for something is an errand: it has a number, is carried out once, and is answered by one line of the
//! same dialect, which is a message like all others. None of the answers asks for anything, so that an agent, or a
//! terminal, that repeats what it reads starts nothing.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
};

use ostler_protocol::{
    name::TaskId,
    thin::{REASON_CHARS_MAX, Thin},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::RunId;

/// How many errands of one main agent can be open.
pub const OPEN_MAX: usize = 256;

/// The types of the answers to a `CUSTOM`, and to what cannot be answered otherwise.
pub const OK: &str = "OK";
/// It was not done.
pub const REFUSED: &str = "REFUSED";
/// Nobody here knows such a type; it is recorded, and that is all.
pub const UNKNOWN: &str = "UNKNOWN";

/// How it stands with what a main agent has asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Errands {
    /// How often it has asked.
    #[serde(default)]
    pub count: u64,
    /// What is not answered yet, by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub open: BTreeMap<u64, Errand>,
}

/// Something that a main agent has asked, and is not answered yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Errand {
    /// What it said, in the form of the dialect: up to three lines.
    pub line: String,
    /// When.
    pub at_ms: u64,
    /// The run that does the task, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
}

/// What can happen to an errand. Each belongs to the session of the main agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum ThinEvent {
    /// A main agent asks for something.
    #[serde(rename = "thin.asked")]
    Asked {
        /// Counted from 1, in its session.
        number: u64,
        /// The launch that asks.
        launch: u32,
        /// What it said.
        line: String,
        /// Who said it.
        trust: String,
    },
    /// The task that it asked for is worked on.
    #[serde(rename = "thin.began")]
    Began {
        /// Its number.
        number: u64,
        /// The run that does it.
        child: RunId,
    },
    /// It is answered.
    #[serde(rename = "thin.answered")]
    Answered {
        /// Its number.
        number: u64,
        /// The answer.
        line: String,
    },
}

/// What comes of an errand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThinNews {
    /// A run works on it.
    Began(RunId),
    /// It is through, and this is said.
    Answered(String),
}

/// A line of the dialect that asks for something.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Spoken {
    /// It says this.
    Clear(Thin),
    /// Not all of it can be understood.
    Unclear {
        /// As it stands, cut to length.
        line: String,
        /// What is said to that.
        answer: Thin,
    },
}

impl Errands {
    pub(crate) fn is_default(&self) -> bool {
        *self == Errands::default()
    }

    /// Whether something is not answered yet.
    pub fn waits(&self) -> bool {
        !self.open.is_empty()
    }

    /// The errands by which the same task is asked for in the same words, oldest first.
    pub(crate) fn same_task<'a>(&'a self, line: &'a str) -> impl Iterator<Item = u64> + 'a {
        let is_same = move |it: &Errand| it.line == line && it.task().is_some();
        self.open.iter().filter(move |(_, it)| is_same(it)).map(|(number, _)| *number)
    }

    pub(crate) fn fold(&mut self, event: &ThinEvent, at_ms: u64) {
        match event {
            ThinEvent::Asked { number, line, .. } => {
                self.count = *number;
                self.open.insert(*number, Errand { line: line.clone(), at_ms, run: None });
            }
            ThinEvent::Began { number, child } => {
                if let Some(errand) = self.open.get_mut(number) {
                    errand.run = Some(*child);
                }
            }
            ThinEvent::Answered { number, .. } => {
                self.open.remove(number);
            }
        }
    }
}

impl Errand {
    /// The task that it asks for, if it asks for one.
    pub fn task(&self) -> Option<TaskId> {
        match Thin::parse(self.line.lines().next()?)? {
            Thin::Task { id, .. } => Some(id),
            _ => None,
        }
    }
}

/// What is said of something that is not done.
pub fn refused(said: &Thin, reason: &str) -> Thin {
    match said {
        Thin::Task { id, .. } => Thin::fail(id.clone(), reason),
        other => report(REFUSED, other, Some(reason)),
    }
}

/// What is said of a line that is not about a task's end: what became of it, the line as it was said, and why.
pub fn report(verdict: &str, said: &Thin, reason: Option<&str>) -> Thin {
    let said = match said {
        Thin::Custom { message_type, payload, .. } => format!("{message_type}:{payload}"),
        other => other.to_string(),
    };
    let payload = match reason {
        Some(reason) => format!("{said}: {reason}"),
        None => said,
    };
    Thin::custom(verdict, &payload).expect("the verdicts are words")
}

/// Reads an item that asks for something. What is an answer is none, whoever prints it.
pub(crate) fn spoken(item: &Value) -> Option<Spoken> {
    let text = |key: &str| item[key].as_str();
    let said = match item["kind"].as_str()? {
        "resolve_next" => Thin::ResolveNext {
            phase: item["phase"].as_u64().and_then(|phase| u32::try_from(phase).ok()),
            groups: item["groups"].as_bool().unwrap_or_default(),
            force: item["force"].as_bool().unwrap_or_default(),
        },
        "task" => {
            let meta = Some(&item["meta"]).filter(|meta| !meta.is_null());
            Thin::task(text("id")?.parse().ok()?, text("worktree"), meta)
        }
        "custom" => {
            let of = text("type").filter(|it| ![OK, REFUSED, UNKNOWN].contains(it))?;
            Thin::custom(of, text("payload")?)?
        }
        _ => return None,
    };
    Some(Spoken::Clear(said))
}

/// Reads what asks for something and cannot be understood, or not all of it.
pub(crate) fn broken(item: &Value) -> Option<Spoken> {
    let why = match item["tag"].as_str()? {
        "TASK_ID" => "it is TASK_ID: and one task, such as T1.3",
        "RESOLVE_NEXT" => {
            "it is RESOLVE_NEXT, then :PHASE: and a number, then :GROUPS, then :FORCE, each if wanted"
        }
        "CUSTOM" => "it is CUSTOM:, a type, a colon and what it is about, such as CUSTOM:SKIP:T1.3",
        _ => return None,
    };
    let line = item["raw"].as_str()?.lines().next()?;
    if let Some(said @ Thin::Task { .. }) = Thin::parse(line) {
        let answer = refused(&said, "its META is no JSON on one line");
        return Some(Spoken::Unclear { line: said.to_string(), answer });
    }
    let mut cut: String = line.chars().take(REASON_CHARS_MAX).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    let answer = Thin::custom(REFUSED, &format!("{cut}: {why}")).expect("it is a word");
    Some(Spoken::Unclear { line: cut, answer })
}
