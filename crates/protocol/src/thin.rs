//! The thin dialect: messages of one short line between a main agent, a resolver and executors.
//!
//! Read with [`Thin::parse`], written with `Display`; what is written reads back as the same value.
//! A line that is not exactly of the grammar is something a program printed; a fault only where somebody with a thin role
//! seems to ask for something by it.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::name::TaskId;

/// The longest reason of a `FAIL`, in characters.
pub const REASON_CHARS_MAX: usize = 100;

/// One message of the thin dialect. Those that hold text are made by functions that bring it into a form that reads
/// back, so that no value can be written that would be read as another.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Thin {
    /// `RESOLVE_NEXT`: what can run now?
    ResolveNext {
        /// Only this phase.
        phase: Option<u32>,
        /// Later waves of the phase too; an extension of Ostler's.
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        groups: bool,
        /// Afresh from the file.
        force: bool,
    },
    /// `READY`: these can run, a group after the other.
    #[non_exhaustive]
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
    #[non_exhaustive]
    Error {
        /// What is wrong.
        code: ErrorCode,
        /// Where.
        detail: Option<String>,
    },
    /// `TASK_ID`: do this task.
    #[non_exhaustive]
    Task {
        /// The task.
        id: TaskId,
        /// Where to work.
        worktree: Option<String>,
        /// Anything else; `timeout` is in seconds.
        meta: Option<Value>,
    },
    /// `DONE`: the task is done.
    #[non_exhaustive]
    Done {
        /// The task.
        id: TaskId,
        /// Figures of the verbose form.
        meta: BTreeMap<String, String>,
    },
    /// `FAIL`: the task failed.
    #[non_exhaustive]
    Fail {
        /// The task.
        id: TaskId,
        /// Figures of the verbose form.
        meta: BTreeMap<String, String>,
        /// Why, in at most [`REASON_CHARS_MAX`] characters.
        reason: String,
    },
    /// `CUSTOM`: anything else.
    #[non_exhaustive]
    Custom {
        /// Its type.
        #[serde(rename = "type")]
        message_type: String,
        /// Its payload.
        payload: String,
    },
}

/// What is wrong with a plan or its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// What was asked for waits for tasks that nobody has begun.
    OpenDep,
}

/// What a line directly after `TASK_ID:` is to the task.
pub(crate) enum TaskLine {
    /// It belongs to it.
    Taken,
    /// It should be JSON and is not.
    InvalidMeta,
    Other,
}

impl Thin {
    /// The words with which a main agent asks for something.
    pub const QUESTIONS: [&'static str; 3] = ["RESOLVE_NEXT", "TASK_ID", "CUSTOM"];

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

    /// Groups of which none is empty.
    pub fn ready(groups: Vec<Vec<TaskId>>) -> Option<Thin> {
        let is_full = !groups.is_empty() && groups.iter().all(|group| !group.is_empty());
        is_full.then_some(Thin::Ready { groups })
    }

    /// An error.
    pub fn error(code: ErrorCode, detail: Option<&str>) -> Thin {
        Thin::Error { code, detail: detail.and_then(one_line) }
    }

    /// A task. What is nested too deeply to be read back is left out.
    pub fn task(id: TaskId, worktree: Option<&str>, meta: Option<&Value>) -> Thin {
        let meta = meta.and_then(|meta| serde_json::from_str(&meta.to_string()).ok());
        Thin::Task { id, worktree: worktree.and_then(one_line), meta }
    }

    /// A task that is done.
    pub fn done(id: TaskId) -> Thin {
        Thin::Done { id, meta: BTreeMap::new() }
    }

    /// A failure, its reason on one line and cut to length.
    pub fn fail(id: TaskId, reason: &str) -> Thin {
        let shows_nothing = |c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}';
        let words: Vec<&str> = reason.split(shows_nothing).filter(|word| !word.is_empty()).collect();
        parse_fail(id, &words.join(" "))
    }

    /// Anything else, if its type is a word.
    pub fn custom(message_type: &str, payload: &str) -> Option<Thin> {
        let message_type = message_type.to_string();
        let payload = one_line(payload).unwrap_or_default();
        Thin::parse(&Thin::Custom { message_type, payload }.to_string())
    }

    /// The verbose form of a `DONE` or `FAIL`, if the figure can be told from the others.
    pub fn with_figure(mut self, key: &str, value: &str) -> Option<Thin> {
        let (Thin::Done { meta, .. } | Thin::Fail { meta, .. }) = &mut self else { return None };
        meta.insert(key.to_string(), one_line(value).unwrap_or_default());
        Thin::parse(&self.to_string()).filter(|read| *read == self)
    }

    /// Reads a message of one or, for a task, up to three lines.
    pub fn parse(text: &str) -> Option<Thin> {
        let mut lines = text.lines();
        let mut thin = Thin::parse_line(lines.next()?)?;
        lines.all(|line| matches!(thin.take_line(line), TaskLine::Taken)).then_some(thin)
    }

    /// Adds a `WORKTREE:` or `META:` line to a task.
    pub(crate) fn take_line(&mut self, line: &str) -> TaskLine {
        let (Thin::Task { worktree, meta, .. }, Some((word, rest))) = (self, line.trim().split_once(':'))
        else {
            return TaskLine::Other;
        };
        let rest = rest.trim();
        match word {
            "WORKTREE" if worktree.is_none() && !rest.is_empty() => *worktree = Some(rest.to_string()),
            "META" if meta.is_none() => match serde_json::from_str(rest) {
                Ok(value) => *meta = Some(value),
                Err(_) => return TaskLine::InvalidMeta,
            },
            _ => return TaskLine::Other,
        }
        TaskLine::Taken
    }

    /// Reads the first line of a message.
    pub(crate) fn parse_line(line: &str) -> Option<Thin> {
        let line = line.trim();
        match line.split_once(':') {
            None => match line {
                "RESOLVE_NEXT" => Some(Thin::ResolveNext { phase: None, groups: false, force: false }),
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

/// `PHASE:n`, `GROUPS` and `FORCE`, in this order, each if wanted.
fn parse_resolve(rest: &str) -> Option<Thin> {
    let (mut phase, mut groups, mut force) = (None, false, false);
    let mut words = rest.split(':').peekable();
    if words.next_if_eq(&"PHASE").is_some() {
        phase = Some(number(words.next()?)?);
    }
    groups |= words.next_if_eq(&"GROUPS").is_some();
    force |= words.next_if_eq(&"FORCE").is_some();
    words.next().is_none().then_some(Thin::ResolveNext { phase, groups, force })
}

fn parse_ready(rest: &str) -> Option<Thin> {
    let group = |group: &str| group.split(',').map(|id| id.trim().parse().ok()).collect();
    Some(Thin::Ready { groups: rest.split('|').map(group).collect::<Option<_>>()? })
}

/// Only the known codes: `ERROR:root:…` is what Python's logging prints, and other programs print other things.
fn parse_error(rest: &str) -> Option<Thin> {
    let (code, detail) = match rest.split_once(':') {
        Some((code, detail)) => (code, detail.trim()),
        None => (rest, ""),
    };
    let detail = (!detail.is_empty()).then(|| detail.to_string());
    Some(Thin::Error { code: ErrorCode::from_word(code)?, detail })
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
    // These are about a task or a phase, and agents copy the comment behind it from the documents.
    let payload = match message_type {
        "PRIORITY" | "SKIP" | "RETRY" | "CLOSE" => payload.split('#').next().unwrap_or_default(),
        _ => payload,
    };
    is_type
        .then(|| Thin::Custom { message_type: message_type.to_string(), payload: payload.trim().to_string() })
}

/// Text on one line, without what shows nothing at its ends; nothing if nothing is left.
fn one_line(text: &str) -> Option<String> {
    let flat: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let flat = flat.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    (!flat.is_empty()).then(|| flat.to_string())
}

/// JSON in which nothing stands that a terminal would swallow: controls are in strings only, and escaped there.
fn escaped(meta: &Value) -> String {
    let escape = |c: char| if c.is_control() { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    meta.to_string().chars().map(escape).collect()
}

fn number(text: &str) -> Option<u32> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

impl ErrorCode {
    /// All of them.
    pub const ALL: [ErrorCode; 8] = [
        ErrorCode::TasksNotFound,
        ErrorCode::CircularDep,
        ErrorCode::MissingDep,
        ErrorCode::ParseFail,
        ErrorCode::StateCorrupt,
        ErrorCode::Blocked,
        ErrorCode::StateLocked,
        ErrorCode::OpenDep,
    ];

    /// The code as it stands on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorCode::TasksNotFound => "TASKS_NOT_FOUND",
            ErrorCode::CircularDep => "CIRCULAR_DEP",
            ErrorCode::MissingDep => "MISSING_DEP",
            ErrorCode::ParseFail => "PARSE_FAIL",
            ErrorCode::StateCorrupt => "STATE_CORRUPT",
            ErrorCode::Blocked => "BLOCKED",
            ErrorCode::StateLocked => "STATE_LOCKED",
            ErrorCode::OpenDep => "OPEN_DEP",
        }
    }

    fn from_word(word: &str) -> Option<ErrorCode> {
        Self::ALL.into_iter().find(|code| code.as_str() == word)
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
            Thin::ResolveNext { phase, groups, force } => {
                f.write_str("RESOLVE_NEXT")?;
                phase.iter().try_for_each(|phase| write!(f, ":PHASE:{phase}"))?;
                f.write_str(if *groups { ":GROUPS" } else { "" })?;
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
                meta.iter().try_for_each(|meta| write!(f, "\nMETA:{}", escaped(meta)))
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
