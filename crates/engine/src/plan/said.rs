//! The part of the reader that takes what is said about a task.

use alloc::string::{String, ToString};

use serde_json::{Map, Value};

use ostler_protocol::task_name::IdForm;

use super::{
    draft::{Named, Need, Note, Wanted, shown},
    id::Id,
    key::Key,
    needs::{self, Found},
    phase::PhaseStep,
    problem::{Unclear, Warning},
    reader::{At, OpenKey, Reader},
    task::{Attribute, Priority, Risk, Span, meta, small, timeout_s},
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
        fields.is_tentative = false;
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
                let number = &value[start..][..PhaseStep::length(&value[start..])];
                match PhaseStep::parse(number) {
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
        if !value.iter().any(u8::is_ascii_digit) || self.current().is_none() {
            return;
        }
        self.found.clear();
        needs::read(value, &mut self.found);
        // Specifications number their requirements as others number tasks.
        let is_requirement = key.to_ascii_lowercase().starts_with(b"requirement");
        let is_id = |it: &Found<'_>| match it {
            Found::Id(_) | Found::Range(_) => true,
            Found::Maybe(id, words) => !is_requirement && (id.form == IdForm::Word || id.written == *words),
            _ => false,
        };
        let is_plain = |it: &Found<'_>| matches!(it, Found::Id(_) | Found::Range(_));
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
                None if self.found.iter().all(is_plain) => {
                    self.draft.warn(at.number, Warning::UnknownKey { key: word });
                }
                None => {}
            }
        }
    }

    pub(super) fn needs_of_nobody(&mut self, at: At, value: &'a [u8]) {
        self.found.clear();
        needs::read(value, &mut self.found);
        let names = |found: &Found<'_>| match found {
            Found::Id(_) | Found::Range(_) | Found::NotAnId(_) | Found::NotARange(_) => true,
            Found::Maybe(id, words) => id.form == IdForm::Word && id.written == *words,
            _ => false,
        };
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
                Found::Id(id) | Found::Maybe(id, _) => {
                    let (text, entries) = (self.text, &self.draft.entries);
                    let known =
                        self.draft.index.find(id.name, |entry| entries[entry as usize].name.in_text(text));
                    if let Some(before) = known {
                        self.draft.entries[entry as usize].named = true;
                        self.draft.known.push((before, entry));
                        continue;
                    }
                    match found {
                        Found::Maybe(id, words) => Wanted::Maybe(span(id), Span::of(self.text, words)),
                        _ => Wanted::Id(span(id)),
                    }
                }
                Found::Range(range) => Wanted::Range {
                    first: span(&range.first),
                    start: small(range.start),
                    end: small(range.end),
                    last: range.last,
                },
                Found::Phase(phase) => Wanted::Phase(*phase),
                Found::Milestone(phase, words) => Wanted::Milestone(*phase, Span::of(self.text, words)),
                Found::External(words) => Wanted::Words(Span::of(self.text, words)),
                Found::Noted(id) => {
                    self.draft.notes.push(Note { entry, line, id: span(id), named: Named::Note });
                    continue;
                }
                Found::NotAnId(word) => {
                    self.draft.unclear(line, Unclear::NotAnId { word: shown(word) });
                    continue;
                }
                Found::NotARange(word) => {
                    let (is_backwards, word) = (super::id_range::is_backwards(word), shown(word));
                    self.draft.unclear(
                        line,
                        if is_backwards { Unclear::Backwards { word } } else { Unclear::NotARange { word } },
                    );
                    continue;
                }
                Found::PhaseNumber(word) => {
                    self.draft.unclear(line, Unclear::PhaseNumber { word: shown(word) });
                    continue;
                }
            };
            self.draft.entries[entry as usize].named |= !matches!(what, Wanted::Words(_));
            self.draft.needs.push(Need { entry, line, what });
        }
        self.found = found;
    }
}
