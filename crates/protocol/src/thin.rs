//! The thin dialect: messages of one short line between a main agent, a resolver and executors.
//!
//! Read with [`Thin::parse`], written with `Display`; what is written reads back as the same value.
//! A line that is not exactly of the grammar is something a program printed, never a fault.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::name::TaskId;

/// The longest reason of a `FAIL`, in characters.
pub const REASON_CHARS_MAX: usize = 100;

/// One message of the thin dialect.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Thin {
    /// `RESOLVE_NEXT`: what can run now?
    ResolveNext {
        /// Only this phase.
        phase: Option<u32>,
        /// Afresh from the file.
        force: bool,
    },
    /// `READY`: these can run, a group after the other.
    Ready {
        /// Each group can run at once.
        groups: Vec<Vec<TaskId>>,
    },
    /// `PHASE_DONE`: all of this phase is settled.
    PhaseDone {
        /// The phase.
        phase: u32,
    },
    /// `ALL_DONE`: nothing is left.
    AllDone {},
    /// `WAIT`: nothing is ready, work is in progress.
    Wait {},
    /// `ERROR`: the request cannot be answered.
    Error {
        /// What is wrong.
        code: ErrorCode,
        /// Where.
        detail: Option<String>,
    },
    /// `TASK_ID`: do this task.
    Task {
        /// The task.
        id: TaskId,
        /// Where to work.
        worktree: Option<String>,
        /// Anything else; `timeout` is in seconds.
        meta: Option<Value>,
    },
    /// `DONE`: the task is done.
    Done {
        /// The task.
        id: TaskId,
        /// Figures of the verbose form.
        meta: BTreeMap<String, String>,
    },
    /// `FAIL`: the task failed.
    Fail {
        /// The task.
        id: TaskId,
        /// Figures of the verbose form.
        meta: BTreeMap<String, String>,
        /// Why, in at most [`REASON_CHARS_MAX`] characters.
        reason: String,
    },
    /// `CUSTOM`: anything else.
    Custom {
        /// Its type.
        #[serde(rename = "type")]
        message_type: String,
        /// Its payload.
        payload: String,
    },
}

/// What is wrong with a plan or its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorCode {
    /// There is no task file.
    TasksNotFound,
    /// Tasks depend on each other in a circle.
    CircularDep,
    /// A task depends on one that does not exist.
    MissingDep,
    /// The task file cannot be understood.
    ParseFail,
    /// The state file cannot be read.
    StateCorrupt,
    /// The rest sits behind failures.
    Blocked,
    /// Somebody else holds the state file.
    StateLocked,
    /// A code this version does not know, carried as it stands.
    Other(String),
}

/// A line that may stand directly after `TASK_ID:`.
pub(crate) enum TaskLine {
    Worktree(String),
    Meta(Option<Value>),
}

impl Thin {
    /// The kind as it is written in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Thin::ResolveNext { .. } => "resolve_next",
            Thin::Ready { .. } => "ready",
            Thin::PhaseDone { .. } => "phase_done",
            Thin::AllDone {} => "all_done",
            Thin::Wait {} => "wait",
            Thin::Error { .. } => "thin_error",
            Thin::Task { .. } => "task",
            Thin::Done { .. } => "done",
            Thin::Fail { .. } => "fail",
            Thin::Custom { .. } => "custom",
        }
    }

    /// A failure with its reason brought into the form that reads back: one line, cut to length.
    pub fn fail(id: TaskId, reason: &str) -> Thin {
        let shows_nothing = |c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}';
        let words: Vec<&str> = reason.split(shows_nothing).filter(|word| !word.is_empty()).collect();
        parse_fail(id, &words.join(" "))
    }

    /// Reads a message of one or, for a task, up to three lines.
    pub fn parse(text: &str) -> Option<Thin> {
        let mut lines = text.lines();
        let mut thin = Thin::parse_line(lines.next()?)?;
        for line in lines {
            let Thin::Task { worktree, meta, .. } = &mut thin else { return None };
            match TaskLine::parse(line)? {
                TaskLine::Worktree(path) if worktree.is_none() => *worktree = Some(path),
                TaskLine::Meta(Some(value)) if meta.is_none() => *meta = Some(value),
                _ => return None,
            }
        }
        Some(thin)
    }

    /// Reads the first line of a message.
    pub(crate) fn parse_line(line: &str) -> Option<Thin> {
        let line = line.trim();
        match line.split_once(':') {
            None => match line {
                "RESOLVE_NEXT" => Some(Thin::ResolveNext { phase: None, force: false }),
                "ALL_DONE" => Some(Thin::AllDone {}),
                "WAIT" => Some(Thin::Wait {}),
                _ => None,
            },
            Some((word, rest)) => match word {
                "RESOLVE_NEXT" => parse_resolve(rest),
                "READY" => parse_ready(rest),
                "PHASE_DONE" => Some(Thin::PhaseDone { phase: number(rest)? }),
                "ERROR" => parse_error(rest),
                "TASK_ID" => Some(Thin::Task { id: rest.trim().parse().ok()?, worktree: None, meta: None }),
                "DONE" => parse_done(rest),
                "FAIL" => {
                    let (id, reason) = rest.split_once(':').unwrap_or((rest, ""));
                    Some(parse_fail(id.trim().parse().ok()?, reason))
                }
                "CUSTOM" => parse_custom(rest),
                _ => None,
            },
        }
    }
}

impl TaskLine {
    /// Reads a `WORKTREE:` or `META:` line; a `META` that is no JSON has no value.
    pub(crate) fn parse(line: &str) -> Option<TaskLine> {
        let (word, rest) = line.trim().split_once(':')?;
        let rest = rest.trim();
        match word {
            "WORKTREE" if !rest.is_empty() => Some(TaskLine::Worktree(rest.to_string())),
            "META" => Some(TaskLine::Meta(serde_json::from_str(rest).ok())),
            _ => None,
        }
    }
}

fn parse_resolve(rest: &str) -> Option<Thin> {
    let (rest, force) = match rest.strip_suffix("FORCE") {
        Some("") => return Some(Thin::ResolveNext { phase: None, force: true }),
        Some(before) => (before.strip_suffix(':')?, true),
        None => (rest, false),
    };
    Some(Thin::ResolveNext { phase: Some(number(rest.strip_prefix("PHASE:")?)?), force })
}

fn parse_ready(rest: &str) -> Option<Thin> {
    let group = |group: &str| group.split(',').map(|id| id.trim().parse().ok()).collect();
    Some(Thin::Ready { groups: rest.split('|').map(group).collect::<Option<_>>()? })
}

/// Only capitals make a code: `ERROR:root:…` is what Python's logging prints.
fn parse_error(rest: &str) -> Option<Thin> {
    let (code, detail) = match rest.split_once(':') {
        Some((code, detail)) => (code, Some(detail.trim())),
        None => (rest, None),
    };
    let is_code = code.starts_with(|c: char| c.is_ascii_uppercase())
        && code.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let detail = detail.filter(|detail| !detail.is_empty()).map(ToString::to_string);
    is_code.then(|| Thin::Error { code: ErrorCode::from_word(code), detail })
}

/// A part without `=` belongs to the value before it: `at=12:30`.
fn parse_done(rest: &str) -> Option<Thin> {
    let mut parts = rest.split(':');
    let id = parts.next()?.trim().parse().ok()?;
    let mut meta = BTreeMap::new();
    let mut last_key = None;
    for part in parts {
        match (figure(part), &last_key) {
            (Some((key, value)), _) => {
                meta.insert(key.to_string(), value.to_string());
                last_key = Some(key.to_string());
            }
            (None, Some(key)) => {
                let value: &mut String = meta.get_mut(key)?;
                value.push(':');
                value.push_str(part.trim());
            }
            (None, None) => return None,
        }
    }
    Some(Thin::Done { id, meta })
}

fn parse_fail(id: TaskId, mut rest: &str) -> Thin {
    let mut meta = BTreeMap::new();
    while let Some((part, behind)) = rest.split_once(':')
        && let Some((key, value)) = figure(part)
    {
        meta.insert(key.to_string(), value.to_string());
        rest = behind;
    }
    let reason = rest.trim().chars().take(REASON_CHARS_MAX).collect::<String>();
    Thin::Fail { id, meta, reason: reason.trim_end().to_string() }
}

/// A `key=value` of the verbose form.
fn figure(part: &str) -> Option<(&str, &str)> {
    let (key, value) = part.trim_start().split_once('=')?;
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    is_key.then(|| (key, value.trim()))
}

fn parse_custom(rest: &str) -> Option<Thin> {
    let (message_type, payload) = rest.split_once(':')?;
    let is_type = !message_type.is_empty()
        && message_type.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    // These three are about a task, and agents copy the comment behind it from the documents.
    let payload = match message_type {
        "PRIORITY" | "SKIP" | "RETRY" => payload.split('#').next().unwrap_or_default(),
        _ => payload,
    };
    is_type
        .then(|| Thin::Custom { message_type: message_type.to_string(), payload: payload.trim().to_string() })
}

fn number(text: &str) -> Option<u32> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

impl ErrorCode {
    /// The code as it stands on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            ErrorCode::TasksNotFound => "TASKS_NOT_FOUND",
            ErrorCode::CircularDep => "CIRCULAR_DEP",
            ErrorCode::MissingDep => "MISSING_DEP",
            ErrorCode::ParseFail => "PARSE_FAIL",
            ErrorCode::StateCorrupt => "STATE_CORRUPT",
            ErrorCode::Blocked => "BLOCKED",
            ErrorCode::StateLocked => "STATE_LOCKED",
            ErrorCode::Other(code) => code,
        }
    }

    fn from_word(word: &str) -> ErrorCode {
        const KNOWN: [ErrorCode; 7] = [
            ErrorCode::TasksNotFound,
            ErrorCode::CircularDep,
            ErrorCode::MissingDep,
            ErrorCode::ParseFail,
            ErrorCode::StateCorrupt,
            ErrorCode::Blocked,
            ErrorCode::StateLocked,
        ];
        let known = KNOWN.into_iter().find(|code| code.as_str() == word);
        known.unwrap_or_else(|| ErrorCode::Other(word.to_string()))
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for Thin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Thin::ResolveNext { phase, force } => {
                f.write_str("RESOLVE_NEXT")?;
                phase.iter().try_for_each(|phase| write!(f, ":PHASE:{phase}"))?;
                f.write_str(if *force { ":FORCE" } else { "" })
            }
            Thin::Ready { groups } => {
                let group =
                    |group: &Vec<TaskId>| group.iter().map(TaskId::as_str).collect::<Vec<_>>().join(",");
                write!(f, "READY:{}", groups.iter().map(group).collect::<Vec<_>>().join("|"))
            }
            Thin::PhaseDone { phase } => write!(f, "PHASE_DONE:{phase}"),
            Thin::AllDone {} => f.write_str("ALL_DONE"),
            Thin::Wait {} => f.write_str("WAIT"),
            Thin::Error { code, detail } => {
                write!(f, "ERROR:{}", code.as_str())?;
                detail.iter().try_for_each(|detail| write!(f, ":{detail}"))
            }
            Thin::Task { id, worktree, meta } => {
                write!(f, "TASK_ID:{id}")?;
                worktree.iter().try_for_each(|path| write!(f, "\nWORKTREE:{path}"))?;
                meta.iter().try_for_each(|meta| write!(f, "\nMETA:{meta}"))
            }
            Thin::Done { id, meta } => {
                write!(f, "DONE:{id}")?;
                meta.iter().try_for_each(|(key, value)| write!(f, ":{key}={value}"))
            }
            Thin::Fail { id, meta, reason } => {
                write!(f, "FAIL:{id}")?;
                meta.iter().try_for_each(|(key, value)| write!(f, ":{key}={value}"))?;
                write!(f, ":{reason}")
            }
            Thin::Custom { message_type, payload } => write!(f, "CUSTOM:{message_type}:{payload}"),
        }
    }
}
