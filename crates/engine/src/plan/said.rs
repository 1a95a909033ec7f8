//! The part of the reader that takes what is said about a task.

use alloc::string::{String, ToString};

use serde_json::{Map, Value};

use super::{
    draft::{Need, Note, Wanted, shown},
    id::{Id, digits, number_of},
    key::Key,
    needs::{self, Found},
    problem::{Unclear, Warning},
    reader::{At, OpenKey, Reader},
    task::{Attribute, Priority, Risk, Span, meta, timeout_s},
};

/// The key that whoever wrote another word for it is told.
const DEPENDS_ON: &str = "depends on";

impl<'a> Reader<'a> {
    /// A value that is empty, or ends in a comma, goes on below.
    pub(super) fn value(&mut self, at: At, open: OpenKey, value: &'a [u8]) {
        let wants_more = open.key == Key::Needs && value.ends_with(b",");
        if value.is_empty() || wants_more || self.open.is_some() {
            self.open = Some(OpenKey { wants_more, ..open });
        }
        self.attribute(at, open.entry, open.key, value);
    }

    pub(super) fn attribute(&mut self, at: At, entry: u32, key: Key, value: &'a [u8]) {
        if value.is_empty() {
            return;
        }
        let text = || String::from_utf8_lossy(value);
        let fields = &mut self.draft.entries[entry as usize];
        match key {
            Key::Needs => self.needs(at, entry, value),
            Key::Priority => match Priority::parse(&text()) {
                Some(priority) => fields.priority = priority,
                None => self.unknown_value(at, "priority", value),
            },
            Key::Risk => match Risk::parse(&text()) {
                Some(risk) => fields.risk = Some(risk),
                None => self.unknown_value(at, "risk", value),
            },
            Key::Phase => {
                let start = value.iter().position(u8::is_ascii_digit).unwrap_or(value.len());
                let number = &value[start..][..digits(&value[start..])];
                match number_of(number) {
                    Some(phase) => fields.phase = phase,
                    None if number.is_empty() => {}
                    None => self.draft.unclear(at.number, Unclear::PhaseNumber { word: shown(number) }),
                }
            }
            Key::Meta => match meta(&text()) {
                Some(meta) => {
                    self.meta(at, entry, &meta);
                    let value = Span::of(self.text, value);
                    self.draft.attributes.push(Attribute { entry, key, value, done: false });
                }
                None => self.unknown_value(at, "meta", value),
            },
            Key::Owner | Key::Files | Key::Verify | Key::Worktree | Key::Parallel | Key::Criteria => {
                let value = Span::of(self.text, value);
                self.draft.attributes.push(Attribute { entry, key, value, done: false });
            }
        }
    }

    fn meta(&mut self, at: At, entry: u32, meta: &Map<String, Value>) {
        if let Some(said) = meta.get("priority").filter(|said| !said.is_null()) {
            let text = said.as_str().map_or_else(|| said.to_string(), String::from);
            match Priority::parse(&text) {
                Some(priority) => self.draft.entries[entry as usize].priority = priority,
                None => self.unknown_value(at, "priority", said.to_string().as_bytes()),
            }
        }
        if let Err(said) = timeout_s(meta) {
            self.unknown_value(at, "timeout", said.to_string().as_bytes());
        }
    }

    fn unknown_value(&mut self, at: At, key: &str, value: &[u8]) {
        self.draft.warn(at.number, Warning::UnknownValue { key: key.into(), value: shown(value) });
    }

    /// A key that nobody knows, with ids behind it: neither a slip nor another word for dependencies must make a task
    /// ready. Of any other key nobody can say what its ids are, so that is only warned about.
    pub(super) fn unknown_key(&mut self, at: At, key: &[u8], value: &'a [u8]) {
        let may_have_id = memchr::memchr2_iter(b'T', b'P', value)
            .any(|at| value.get(at + 1).is_some_and(u8::is_ascii_digit));
        if !may_have_id || self.current().is_none() {
            return;
        }
        self.found.clear();
        needs::read(value, &mut self.found);
        let is_id = |it: &Found<'_>| matches!(it, Found::Id(_) | Found::Range(..));
        let (has_ids, only_ids) = (self.found.iter().any(is_id), self.found.iter().all(is_id));
        if !has_ids {
            return;
        }
        let word = shown(key);
        if Key::means_needs(key) {
            self.draft.unclear(at.number, Unclear::KeySlip { key: word, meant: DEPENDS_ON.into() });
        } else if only_ids {
            match Key::slip(key) {
                Some(meant) => {
                    self.draft.unclear(at.number, Unclear::KeySlip { key: word, meant: meant.into() });
                }
                None => self.draft.warn(at.number, Warning::UnknownKey { key: word }),
            }
        }
    }

    pub(super) fn needs_of_nobody(&mut self, at: At, value: &'a [u8]) {
        self.found.clear();
        needs::read(value, &mut self.found);
        let names = |found: &Found<'_>| matches!(found, Found::Id(_) | Found::Range(..) | Found::NotAnId(_));
        if self.found.iter().any(names) {
            self.draft.unclear(at.number, Unclear::NeedsOfNobody);
        }
    }

    pub(super) fn needs(&mut self, at: At, entry: u32, value: &'a [u8]) {
        let mut found = core::mem::take(&mut self.found);
        found.clear();
        needs::read(value, &mut found);
        let line = at.number;
        for found in &found {
            let span = |id: &Id<'_>| Span::of(self.text, id.name);
            let what = match found {
                Found::Id(id) => {
                    let (text, entries) = (self.text, &self.draft.entries);
                    let known =
                        self.draft.index.find(id.name, |entry| entries[entry as usize].name.in_text(text));
                    if let Some(before) = known {
                        self.draft.entries[entry as usize].named = true;
                        self.draft.known.push((before, entry));
                        continue;
                    }
                    Wanted::Id(span(id))
                }
                Found::Range(id, last) => Wanted::Range { first: span(id), last: *last },
                Found::Phase(number) => Wanted::Phase(*number),
                Found::Noted(id) => {
                    self.draft.notes.push(Note { entry, line, id: span(id), in_title: false });
                    continue;
                }
                Found::External(words) => {
                    let task = shown(self.draft.entries[entry as usize].name.in_text(self.text));
                    self.draft.warn(line, Warning::External { task, text: shown(words) });
                    continue;
                }
                Found::NotAnId(word) => {
                    self.draft.unclear(line, Unclear::NotAnId { word: shown(word) });
                    continue;
                }
                Found::NotARange(word) => {
                    self.draft.unclear(line, Unclear::NotARange { word: shown(word) });
                    continue;
                }
                Found::PhaseNumber(word) => {
                    self.draft.unclear(line, Unclear::PhaseNumber { word: shown(word) });
                    continue;
                }
            };
            self.draft.entries[entry as usize].named = true;
            self.draft.needs.push(Need { entry, line, what });
        }
        self.found = found;
    }
}
