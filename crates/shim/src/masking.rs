//! Takes the values that an agent was given out of everything that is written down about it.
//!
//! They stand in the private file of the session. It is looked at after output was read and before it is written: a
//! value is in the file before anybody can print it, so it is known in time, and nobody has to say that there is a new
//! one. What was masked once stays masked, also when the file is gone.
//!
//! The parser hears what was really said; only what is kept of it is masked.

use std::{
    borrow::Cow,
    collections::VecDeque,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use ostler_vault::{Masker, Masks, Secret};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::values;

/// Words of the signals themselves: a log in which they were masked could not be read again.
const SPOKEN: &[&str] = &[
    "api_key",
    "business",
    "category",
    "choice",
    "clarification",
    "confirmation",
    "default",
    "description",
    "details",
    "env_variable",
    "false",
    "fatal",
    "file",
    "json",
    "markdown",
    "message",
    "name",
    "options",
    "package",
    "permission",
    "question",
    "recoverable",
    "recovery",
    "required",
    "service",
    "text",
    "true",
    "type",
];

/// Fields of an item that hold a word of ours, never the agent's.
const OURS: &[&str] =
    &["kind", "trust", "ended_by", "category", "recovery", "reason", "status", "code", "source"];

/// How many masked inputs of tools are remembered: so many may wait for a decision at once.
const INPUTS_MAX: usize = 32;

/// What is masked, in each of the streams.
pub(crate) struct Masking {
    file: Option<PathBuf>,
    seen: Option<Stamp>,
    secrets: Vec<Secret>,
    masks: Arc<Masks>,
    out: Masker,
    err: Masker,
    /// What tools are to be called with, masked and as it was: who allows a call sends it back.
    inputs: VecDeque<(String, Zeroizing<String>)>,
}

/// Tells a file from the one that it replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    changed: (i64, i64),
    length: u64,
}

impl Masking {
    /// Masks what stands in a session's private file, now and later.
    pub(crate) fn new(file: Option<&Path>) -> Masking {
        let masks = Arc::new(Masks::new([]));
        let stream = || Masker::new(Arc::clone(&masks));
        let (out, err) = (stream(), stream());
        let file = file.map(Path::to_path_buf);
        let secrets = Vec::new();
        let mut masking = Masking { file, seen: None, secrets, masks, out, err, inputs: VecDeque::new() };
        masking.refresh();
        masking
    }

    /// Looks whether there are new values.
    pub(crate) fn refresh(&mut self) {
        let Some(path) = &self.file else { return };
        let Ok(metadata) = fs::metadata(path) else { return };
        let stamp = Stamp {
            inode: metadata.ino(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            length: metadata.len(),
        };
        if self.seen == Some(stamp) {
            return;
        }
        let Ok(pairs) = values::read_secrets(path) else { return };
        self.seen = Some(stamp);
        let known = self.secrets.len();
        for (_, value) in pairs {
            let value = Secret::new(value);
            let is_known = self.secrets.iter().any(|secret| secret.expose() == value.expose());
            if !is_known && !SPOKEN.contains(&value.expose()) {
                self.secrets.push(value);
            }
        }
        if self.secrets.len() > known {
            ostler_vault::guard();
            self.masks = Arc::new(Masks::new(&self.secrets));
            self.out.renew(Arc::clone(&self.masks));
            self.err.renew(Arc::clone(&self.masks));
        }
    }

    /// How much of the output is held back.
    pub(crate) fn held(&self) -> usize {
        self.out.held()
    }

    /// What of the output can be written down.
    pub(crate) fn out<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        stream(&mut self.out, &self.masks, bytes)
    }

    /// What of the errors can be written down.
    pub(crate) fn err<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        stream(&mut self.err, &self.masks, bytes)
    }

    /// The output that is held back: nothing follows soon, or it has to be written down now.
    pub(crate) fn out_rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.out.flush(&mut rest);
        rest
    }

    /// The errors that are held back, at their end.
    pub(crate) fn err_rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        self.err.flush(&mut rest);
        rest
    }

    /// Masks what was heard.
    pub(crate) fn item(&mut self, mut item: Value) -> Value {
        if self.masks.is_empty() {
            return item;
        }
        let input = item.get("input").map(|input| Zeroizing::new(input.to_string()));
        if let Value::Object(fields) = &mut item {
            for (name, value) in fields.iter_mut().filter(|(name, _)| !OURS.contains(&name.as_str())) {
                // The type of a signal is one of ours; it stands for itself in no other place.
                if name != "type" {
                    mask(&self.masks, value);
                }
            }
        }
        if let (Some(before), Some(after)) = (input, item.get("input").map(Value::to_string))
            && *before != after
        {
            self.inputs.truncate(INPUTS_MAX - 1);
            self.inputs.push_front((after, before));
        }
        item
    }

    /// Text for the agent, in which a tool's input that was masked is what it was.
    pub(crate) fn restored<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.inputs.iter().find(|(masked, _)| text.contains(masked)) {
            Some((masked, raw)) => Cow::Owned(text.replace(masked, raw)),
            None => Cow::Borrowed(text),
        }
    }
}

fn stream<'a>(masker: &mut Masker, masks: &Masks, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    if masks.is_empty() {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    masker.push(bytes, &mut out);
    Cow::Owned(out)
}

fn mask(masks: &Arc<Masks>, value: &mut Value) {
    match value {
        Value::String(text) => *text = masks.text(text),
        Value::Array(values) => values.iter_mut().for_each(|value| mask(masks, value)),
        Value::Object(fields) => {
            let masked = std::mem::take(fields).into_iter().map(|(name, mut value)| {
                mask(masks, &mut value);
                (masks.text(&name), value)
            });
            *fields = masked.collect::<Map<String, Value>>();
        }
        // A number is what a person counts with; a secret of digits alone stands in the text.
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
