//! The part of the reader that begins tasks.

use super::{
    draft::shown,
    id::Id,
    problem::{Unclear, Warning},
    reader::{At, Reader},
    subject::{Mark, Subject},
    task::{Entry, NONE, Place, Priority, Shape, Span, small},
};

impl<'a> Reader<'a> {
    /// Begins a task, or goes on with the row of a table that has its id.
    pub(super) fn begin(&mut self, at: At, subject: &Subject<'a>, id: Id<'a>, shape: Shape) -> u32 {
        let parent = self.current();
        let own_phase = self.phase_of(at, subject);
        if let Some(letter) = subject.unknown_letter() {
            self.draft.warn(at.number, Warning::UnknownBox { letter: shown(letter) });
        }
        if subject.mark() == Mark::Both {
            self.draft.warn(at.number, Warning::Contradiction { task: shown(id.name) });
        }
        let number = small(self.draft.entries.len());
        let (text, entries) = (self.text, &self.draft.entries);
        let known = self.draft.index.add(id.name, number, |entry| entries[entry as usize].name.in_text(text));
        let entry = known.unwrap_or(number);
        match known {
            Some(entry) => self.repeat(at, subject, entry, shape),
            None => self.add(at, subject, id, shape, parent),
        }
        if let Some(phase) = own_phase {
            self.draft.entries[entry as usize].phase = phase;
        }
        if shape != Shape::Row {
            self.title_needs(at, entry, subject.title);
        }
        entry
    }

    fn add(&mut self, at: At, subject: &Subject<'a>, id: Id<'a>, shape: Shape, parent: Option<u32>) {
        let around = || self.sections.iter().rev().find_map(|section| section.phase);
        let phase = match id.phase() {
            Ok(phase) => phase.or_else(around).unwrap_or(NONE),
            Err(()) => {
                self.draft.unclear(at.number, Unclear::PhaseNumber { word: shown(id.written) });
                NONE
            }
        };
        // The detail of a row is no group.
        let parent = parent.filter(|&parent| {
            matches!(self.draft.entries[parent as usize].shape, Shape::Heading | Shape::Item)
        });
        if let Some(parent) = parent {
            self.make_group(parent);
        }
        for section in &mut self.sections {
            section.alike = None;
        }
        let name = Span::of(self.text, id.name);
        self.draft.entries.push(Entry {
            name,
            title: Span::of(self.text, subject.title),
            body: Span { start: at.end, end: at.end },
            line: at.number,
            phase,
            parent: parent.unwrap_or(NONE),
            place: self.place(at, subject),
            mark: subject.mark(),
            shape,
            priority: Priority::default(),
            risk: None,
            is_group: false,
            parallel: subject.parallel,
            named: false,
        });
    }

    /// Others stand below it, so nobody does it itself; a box in its heading may say that somebody should.
    fn make_group(&mut self, entry: u32) {
        let group = &mut self.draft.entries[entry as usize];
        let is_new = !core::mem::replace(&mut group.is_group, true);
        if is_new && group.shape == Shape::Heading && matches!(group.place, Place::Inside(_)) {
            let (line, task) = (group.line, shown(group.name.in_text(self.text)));
            self.draft.warn(line, Warning::BoxedGroup { task });
        }
    }

    /// An id that is there already: the detail of a row, or a mistake.
    fn repeat(&mut self, at: At, subject: &Subject<'a>, entry: u32, shape: Shape) {
        let first = &self.draft.entries[entry as usize];
        let is_detail =
            first.shape != Shape::DetailedRow && (first.shape == Shape::Row) != (shape == Shape::Row);
        if !is_detail {
            let what = Unclear::Twice { id: shown(first.name.in_text(self.text)), first: first.line };
            return self.draft.unclear(at.number, what);
        }
        let place = self.place(at, subject);
        let mark = subject.mark();
        let name = first.name;
        let fields = &mut self.draft.entries[entry as usize];
        fields.shape = Shape::DetailedRow;
        if shape != Shape::Row {
            fields.body = Span { start: at.end, end: at.end };
        }
        let is_better = matches!(place, Place::Inside(_)) || shape != Shape::Row;
        if is_better && !matches!(fields.place, Place::Inside(_)) {
            fields.place = place;
        }
        if fields.title == Span::default() {
            fields.title = Span::of(self.text, subject.title);
        }
        fields.mark = match (fields.mark, mark) {
            (Mark::None, mark) | (mark, Mark::None) => mark,
            (one, other) if one == other => one,
            _ => Mark::Both,
        };
        if fields.mark == Mark::Both {
            let task = shown(name.in_text(self.text));
            self.draft.warn(at.number, Warning::Contradiction { task });
        }
    }

    /// Where a done mark would go.
    fn place(&self, at: At, subject: &Subject<'_>) -> Place {
        match subject.boxed {
            Some(inside) => Place::Inside(Span::within(self.text, inside)),
            None => Place::Tick(at.end),
        }
    }
}
