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

use ostler_protocol::mask::{is_masked, numbered};
use ostler_vault::{Masker, Masks, Secret};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::{control::MaskedQuestion, values};

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
    /// The questions that contain masked words, with these words.
    questions: VecDeque<AskedQuestion>,
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
        let (inputs, questions) = (VecDeque::new(), VecDeque::new());
        let mut masking = Masking { file, seen: None, secrets, masks, out, err, inputs, questions };
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
        let Ok(secrets) = values::read_masked(path) else { return };
        self.seen = Some(stamp);
        let known = self.secrets.len();
        for secret in secrets {
            if !self.secrets.iter().any(|known| known.expose() == secret.expose()) {
                self.secrets.push(secret);
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
        let before = Words::of(&item);
        if let Value::Object(fields) = &mut item {
            for (name, value) in fields.iter_mut().filter(|(name, _)| !OURS.contains(&name.as_str())) {
                // The type of a signal is one of ours; it stands for itself in no other place.
                if name != "type" {
                    self.masks.json(value);
                }
            }
        }
        if let (Some(before), Some(after)) = (input, item.get("input").map(Value::to_string))
            && *before != after
        {
            self.inputs.truncate(INPUTS_MAX - 1);
            self.inputs.push_front((after, before));
        }
        if let (Some(raw), Some(masked)) = (before, Words::of(&item))
            && raw != masked
        {
            self.questions.truncate(INPUTS_MAX - 1);
            self.questions.push_front(AskedQuestion { masked, raw });
        }
        item
    }

    /// Text for the agent, in which the words of its own question and a tool's input are what they were.
    pub(crate) fn restored<'a>(&self, text: &'a str, asked: Option<&MaskedQuestion>) -> Cow<'a, str> {
        let question = asked.and_then(|asked| self.questions.iter().find(|it| it.masked.are_of(asked)));
        if let (Some(question), Some(asked)) = (question, asked) {
            return Cow::Owned(question.restore(text, asked.number));
        }
        match self.inputs.iter().find(|(masked, _)| text.contains(masked)) {
            Some((masked, raw)) => Cow::Owned(text.replace(masked, raw)),
            None => Cow::Borrowed(text),
        }
    }
}

/// The words of a question. They may be a secret.
#[derive(PartialEq, Eq)]
struct Words {
    question: Zeroizing<String>,
    options: Vec<Zeroizing<String>>,
    default: Option<Zeroizing<String>>,
}

/// A question as it was written down and as it was.
struct AskedQuestion {
    masked: Words,
    raw: Words,
}

impl Words {
    /// Of an item that is a question.
    fn of(item: &Value) -> Option<Words> {
        let text = |value: &Value| value.as_str().map(|text| Zeroizing::new(text.to_owned()));
        let options = item.get("options").and_then(Value::as_array);
        Some(Words {
            question: text(item.get("question")?)?,
            options: options.into_iter().flatten().filter_map(text).collect(),
            default: item.get("default").and_then(text),
        })
    }

    fn are_of(&self, asked: &MaskedQuestion) -> bool {
        *self.question == asked.question
            && self.options.iter().map(|option| option.as_str()).eq(asked.options.iter().map(String::as_str))
    }
}

impl AskedQuestion {
    /// Puts the words as they were in place of the masked ones. Of two options that look the same, the chosen one counts.
    fn restore(&self, text: &str, number: Option<u32>) -> String {
        let AskedQuestion { masked, raw } = self;
        let place = number.and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
        let chosen = place.and_then(|place| masked.options.get(place).zip(raw.options.get(place)));
        let mut pairs: Vec<(String, Zeroizing<String>)> = Vec::new();
        let mut add = |masked: &str, raw: &str| {
            if is_masked(masked) && !pairs.iter().any(|(known, _)| known == masked) {
                pairs.push((masked.to_owned(), Zeroizing::new(raw.to_owned())));
            }
        };
        if let (Some((masked, raw)), Some(number)) = (chosen, number) {
            add(&numbered(number, masked, false), raw);
            add(&numbered(number, masked, true), raw);
            add(masked, raw);
        }
        let defaults = masked.default.iter().zip(&raw.default);
        for (masked, raw) in masked.options.iter().zip(&raw.options).chain(defaults) {
            add(masked, raw);
        }
        add(&masked.question, &raw.question);
        // The text may be wrapped in JSON.
        let quoted = |text: &str| {
            let quoted = Value::from(text).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        };
        let in_json = pairs.iter().map(|(masked, raw)| (quoted(masked), Zeroizing::new(quoted(raw))));
        let mut all: Vec<(String, Zeroizing<String>)> = in_json.collect();
        if serde_json::from_str::<Map<String, Value>>(text).is_err() {
            all = pairs;
        }
        all.sort_by_key(|(masked, _)| std::cmp::Reverse(masked.len()));
        replaced(text, &all)
    }
}

/// A text in which the longest of these words that begin at a place are replaced.
fn replaced(text: &str, pairs: &[(String, Zeroizing<String>)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match pairs.iter().find(|(masked, _)| rest.starts_with(masked.as_str())) {
            Some((masked, raw)) => {
                out.push_str(raw);
                rest = &rest[masked.len()..];
            }
            None => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    out
}

fn stream<'a>(masker: &mut Masker, masks: &Masks, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    if masks.is_empty() {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    masker.push(bytes, &mut out);
    Cow::Owned(out)
}
