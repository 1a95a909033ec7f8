//! What is wrong with a message: faults that stand in for it, and warnings that travel with it.

use alloc::{
    format,
    string::{String, ToString},
};

use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::{
    signal::{ErrorReport, ErrorSeverity, Recovery},
    thin::Thin,
};

/// A message that could not be understood, with all that is needed to show why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The tag of the message, such as `USER_QUESTION`; empty where no message was begun.
    pub tag: String,
    /// The field at fault.
    pub field: Option<String>,
    /// What is wrong.
    pub reason: FaultReason,
    /// The text of the message as it stood, escapes removed.
    pub raw: String,
}

/// What can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultReason {
    /// A required field is absent or empty.
    MissingField,
    /// A value is none of those allowed.
    UnknownValue,
    /// A line is not `key: value`.
    NotKeyValue,
    /// A key is given twice.
    DuplicateKey,
    /// A list cannot be read.
    UnreadableList,
    /// A value should be JSON and is not.
    InvalidJson,
    /// A line that begins like a question of the thin dialect goes on as none.
    Malformed,
    /// The message was never closed.
    Unclosed,
    /// The message was longer than the limit that the field names.
    TooLong,
    /// It was closed by another message's tag.
    Mismatched,
    /// A line outside any message was longer than the limit; its text is in the log.
    LineTooLong,
    /// The session's nonce stood where others can read it; it counts no longer.
    NonceBurnt,
}

impl Fault {
    /// What concerns a line rather than a message.
    pub(crate) fn of_line(reason: FaultReason) -> Self {
        Fault { tag: String::new(), field: None, reason, raw: String::new() }
    }

    /// How much it matters: a fault stops the agent, a warning is only recorded.
    pub fn severity(&self) -> Severity {
        match self.reason {
            FaultReason::LineTooLong | FaultReason::NonceBurnt => Severity::Warning,
            _ => Severity::Fault,
        }
    }

    /// Whether it is about a line of the thin dialect. Such a line stops nobody.
    pub fn is_thin(&self) -> bool {
        Thin::QUESTIONS.contains(&self.tag.as_str())
    }

    /// One sentence that says what is wrong.
    pub fn details(&self) -> String {
        let tag = &self.tag;
        let field = self.field.as_deref().unwrap_or_default();
        match self.reason {
            FaultReason::MissingField => format!("{tag} missing required field '{field}'"),
            FaultReason::UnknownValue => format!("{tag} has an unknown value in field '{field}'"),
            FaultReason::NotKeyValue => format!("{tag} has a line that is not 'key: value': '{field}'"),
            FaultReason::DuplicateKey => format!("{tag} has field '{field}' twice"),
            FaultReason::UnreadableList => format!("{tag} has a list that cannot be read in field '{field}'"),
            FaultReason::InvalidJson => format!("{tag} has invalid JSON in field '{field}'"),
            FaultReason::Malformed => format!("{tag} is followed by what cannot be understood"),
            FaultReason::Unclosed => format!("{tag} was never closed"),
            FaultReason::TooLong => format!("{tag} is longer than the limit of {field}"),
            FaultReason::Mismatched => format!("{tag} was closed by '{field}'"),
            FaultReason::LineTooLong => "a line is longer than the limit".to_string(),
            FaultReason::NonceBurnt => "the session's nonce was printed outside a tag".to_string(),
        }
    }

    /// The fault in the form in which agents report errors.
    pub fn as_error(&self) -> ErrorReport {
        ErrorReport {
            severity: ErrorSeverity::Fatal,
            message: "Invalid protocol format".to_string(),
            details: Some(self.details()),
            recovery: Recovery::NotifyUser,
        }
    }
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Fault", 9)?;
        fields.serialize_field("severity", &self.severity())?;
        if self.severity() == Severity::Fault {
            let error = self.as_error();
            fields.serialize_field("type", &error.severity)?;
            fields.serialize_field("message", &error.message)?;
            fields.serialize_field("recovery", &error.recovery)?;
        }
        fields.serialize_field("tag", &self.tag)?;
        fields.serialize_field("field", &self.field)?;
        fields.serialize_field("reason", &self.reason)?;
        fields.serialize_field("details", &self.details())?;
        fields.serialize_field("raw", &self.raw)?;
        fields.end()
    }
}

/// How much a fault matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The agent may be waiting for an answer to it.
    Fault,
    /// Nobody waits for it.
    Warning,
}

/// Something odd about a message that is valid all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// What is odd.
    pub code: WarningCode,
    /// The field it is about.
    pub field: String,
}

impl Warning {
    pub(crate) fn new(code: WarningCode, field: &str) -> Self {
        Warning { code, field: field.to_string() }
    }
}

/// What can be odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// No rule knows this key; it is kept under `extra`.
    UnknownKey,
    /// The field is missing and a default was assumed.
    Assumed,
    /// The default was not among the options and was added.
    DefaultAdded,
    /// The value cannot be meant here and was replaced.
    Replaced,
    /// A limit cut it short.
    Cut,
    /// The nonce is not this session's.
    WrongNonce,
}
