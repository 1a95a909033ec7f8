//! A message between its first line and its end, and how it becomes an item.

use alloc::{
    boxed::Box,
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::time::Duration;

use super::{
    block, office,
    phase::Announcement,
    tag::{BlockTag, Closing, OfficeTag, Target},
};
use crate::{
    fault::{Fault, FaultReason, Warning, WarningCode},
    item::{EndedBy, Item, QuoteSource, Quoted, Trust, What},
    signal::Signal,
    thin::{TaskLine, Thin},
};

/// What a dialect made of a body.
pub(crate) struct Reading {
    pub(crate) signal: Result<Signal, Trouble>,
    pub(crate) extra: BTreeMap<String, String>,
    pub(crate) warnings: Vec<Warning>,
}

/// Why a body is not a signal.
pub(crate) struct Trouble {
    reason: FaultReason,
    field: Option<String>,
}

impl Trouble {
    pub(crate) fn new(reason: FaultReason, field: &str) -> Self {
        Trouble { reason, field: Some(field.to_string()) }
    }
}

impl Reading {
    pub(crate) fn trouble(trouble: Trouble) -> Self {
        Reading { signal: Err(trouble), extra: BTreeMap::new(), warnings: Vec::new() }
    }

    fn signal(signal: Signal) -> Self {
        Reading { signal: Ok(signal), extra: BTreeMap::new(), warnings: Vec::new() }
    }
}

/// Where and as what a message began.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) offset: u64,
    pub(crate) index: u32,
    pub(crate) trust: Trust,
    pub(crate) quoted: Option<QuoteSource>,
    pub(crate) warnings: Vec<Warning>,
}

/// A message whose end has not been seen yet.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) origin: Origin,
    /// Behind the last byte that belongs to it.
    pub(crate) end: u64,
    /// The opening line.
    head: String,
    body: String,
    lines: usize,
    form: Form,
    /// The limit that it went over.
    pub(crate) over: Option<String>,
}

/// What the message is made of.
#[derive(Debug)]
pub(crate) enum Form {
    /// Lines that are read once all are there.
    Block(BlockTag),
    /// The same.
    Office(OfficeTag, Target),
    /// An announcement takes line after line.
    Phase(Announcement),
    /// So does a task.
    Task { task: Thin, trouble: Option<&'static str> },
}

impl Open {
    pub(crate) fn new(origin: Origin, form: Form, head: &str, end: u64) -> Self {
        Open {
            origin,
            end,
            head: head.trim().to_string(),
            body: String::with_capacity(256),
            lines: 1,
            form,
            over: None,
        }
    }

    /// Whether any line can be part of it, so that it needs a tag to end.
    pub(crate) fn takes_any_line(&self) -> bool {
        matches!(self.form, Form::Block(_) | Form::Office(..))
    }

    /// Whether the closing tag is its own.
    pub(crate) fn is_closed_by(&self, closing: Closing) -> bool {
        match (&self.form, closing) {
            (Form::Block(open), Closing::Block(closing)) => *open == closing,
            (Form::Office(open, _), Closing::Office(closing)) => *open == closing,
            _ => false,
        }
    }

    /// Whether it is meant.
    pub(crate) fn is_spoken(&self) -> bool {
        self.origin.quoted.is_none()
    }

    /// Whether it ends only at its closing tag.
    pub(crate) fn is_block(&self) -> bool {
        matches!(self.form, Form::Block(_))
    }

    /// Whether it goes on for as long as nothing ends it.
    pub(crate) fn is_office(&self) -> bool {
        matches!(self.form, Form::Office(..))
    }

    /// Takes the line if it belongs to the message.
    pub(crate) fn take(&mut self, line: &str, end: u64) -> bool {
        let fits = match &mut self.form {
            Form::Block(_) | Form::Office(..) => true,
            Form::Phase(announcement) => announcement.take(line),
            Form::Task { task, trouble } => match task.take_line(line) {
                TaskLine::Taken => true,
                TaskLine::InvalidMeta => {
                    *trouble = Some("META");
                    true
                }
                TaskLine::Other => false,
            },
        };
        if fits {
            self.body.push_str(line);
            self.body.push('\n');
            self.lines += 1;
            self.end = end;
        }
        fits
    }

    /// Bytes and lines taken so far.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.head.len() + self.body.len(), self.lines)
    }

    /// After how much silence it ends.
    pub(crate) fn patience(&self) -> Duration {
        match self.form {
            Form::Block(_) => Duration::from_secs(30),
            Form::Office(..) => Duration::from_millis(300),
            Form::Phase(_) | Form::Task { .. } => Duration::from_millis(250),
        }
    }

    /// The item it has become, and its text.
    pub(crate) fn close(self, ended_by: EndedBy) -> (Item, String) {
        let Open { origin, end, head, body, form, over, .. } = self;
        let name = form.name();
        let is_task = matches!(form, Form::Task { .. });
        let reading = match form {
            Form::Block(tag) if ended_by == EndedBy::ClosingTag => block::read(tag, &body),
            Form::Office(tag, target) if ended_by != EndedBy::Limit => office::read(tag, target, &body),
            Form::Block(_) | Form::Office(..) if over.is_some() => {
                Reading::trouble(Trouble { reason: FaultReason::TooLong, field: over })
            }
            Form::Block(_) | Form::Office(..) => {
                Reading::trouble(Trouble { reason: FaultReason::Unclosed, field: None })
            }
            Form::Phase(announcement) => {
                let mut reading = Reading::signal(Signal::PhaseComplete(announcement.complete));
                if ended_by == EndedBy::Limit {
                    reading.warnings.push(Warning::new(WarningCode::Cut, "documents"));
                }
                reading
            }
            Form::Task { trouble: Some(field), .. } => {
                Reading::trouble(Trouble::new(FaultReason::InvalidJson, field))
            }
            Form::Task { task, .. } => Reading::signal(Signal::Thin(task)),
        };
        let raw = || match ended_by {
            EndedBy::ClosingTag => format!("{head}\n{body}[/{name}]"),
            _ => format!("{head}\n{body}"),
        };
        // A place alone is the same for many tasks.
        let said = if is_task { format!("{head}\n{body}") } else { body.clone() };
        (finish(origin, name, raw, reading, end, ended_by), said)
    }

    /// The fault it has become because the wrong tag closed it, and its text.
    pub(crate) fn mismatched(self, by: &str) -> (Item, String) {
        let raw = || format!("{}\n{}[/{by}]", self.head, self.body);
        let reading = Reading::trouble(Trouble::new(FaultReason::Mismatched, by));
        let name = self.form.name();
        (finish(self.origin, name, raw, reading, self.end, EndedBy::WrongTag), self.body)
    }
}

impl Form {
    fn name(&self) -> &'static str {
        match self {
            Form::Block(tag) => tag.name(),
            Form::Office(tag, _) => tag.name(),
            Form::Phase(_) => "PHASE_COMPLETE",
            Form::Task { .. } => "TASK_ID",
        }
    }
}

/// An item that is complete in one line.
pub(crate) fn line_item(origin: Origin, signal: Signal, end: u64, ended_by: EndedBy) -> Item {
    finish(origin, "", String::new, Reading::signal(signal), end, ended_by)
}

/// A line that seems to ask for something in the thin dialect, and cannot be understood.
pub(crate) fn malformed_item(origin: Origin, word: &str, line: &str, end: u64, ended_by: EndedBy) -> Item {
    let reading = Reading::trouble(Trouble { reason: FaultReason::Malformed, field: None });
    finish(origin, word, || line.trim().to_string(), reading, end, ended_by)
}

fn finish(
    origin: Origin,
    tag: &str,
    raw: impl FnOnce() -> String,
    reading: Reading,
    end: u64,
    ended_by: EndedBy,
) -> Item {
    let what = match reading.signal {
        Ok(signal) => What::Signal(signal),
        Err(Trouble { reason, field }) => {
            What::Fault(Fault { tag: tag.to_string(), field, reason, raw: raw() })
        }
    };
    let what = match origin.quoted {
        Some(source) => What::Quoted(Quoted { source, what: Box::new(what) }),
        None => what,
    };
    let mut warnings = origin.warnings;
    warnings.extend(reading.warnings);
    let Origin { offset, index, trust, .. } = origin;
    Item { offset, end, index, trust, mark: None, ended_by, what, extra: reading.extra, warnings }
}
