//! The part of the reader that begins tasks.

use ostler_protocol::task_name::IdForm;

use super::{
    draft::shown,
    id::Id,
    passed_over::PassedKind,
    phase::{NO_PHASE, PhaseStep},
    problem::{Unclear, Warning},
    reader::{At, Reader},
    subject::{Mark, Subject},
    task::{Entry, NONE, Place, Priority, Shape, Span, small},
};

/// How far a group is looked for around an entry that is named again.
const DEPTH_MAX: usize = 64;

impl<'a> Reader<'a> {
    /// Begins a task, or goes on with what has its id. Nothing if the heading is only one more section of that number.
    pub(super) fn begin(&mut self, at: At, subject: &Subject<'a>, id: Id<'a>, shape: Shape) -> Option<u32> {
        let parent = self.current();
        let own_phase = self.phase_of(at, subject);
        let number = small(self.draft.entries.len());
        let (text, entries) = (self.text, &self.draft.entries);
        let known = self.draft.index.add(id.name, number, |entry| entries[entry as usize].name.in_text(text));
        let is_tentative = match (shape, id.form) {
            (Shape::Row, _) | (_, IdForm::Plain) => false,
            (Shape::Heading, _) => subject.mark() == Mark::None,
            (Shape::Item, form) => form == IdForm::Word && !subject.is_set_off,
        };
        if let Some(known) = known
            && is_tentative
            && shape == Shape::Heading
            && self.draft.entries[known as usize].shape == Shape::Heading
            && !self.is_same_title(known, subject.title)
        {
            return None;
        }
        if let Some(letter) = subject.unknown_letter() {
            self.draft.warn(at.number, Warning::UnknownBox { letter: shown(letter) });
        }
        if subject.mark() == Mark::Both {
            self.draft.warn(at.number, Warning::Contradiction { task: shown(id.name) });
        }
        let entry = known.unwrap_or(number);
        match known {
            Some(entry) => self.repeat(at, subject, entry, shape, parent),
            None => self.add(at, subject, id, shape, parent),
        }
        let fields = &mut self.draft.entries[entry as usize];
        fields.is_tentative = is_tentative && (known.is_none() || fields.is_tentative);
        if let Some(phase) = own_phase {
            fields.phase = phase;
        }
        if shape != Shape::Row {
            self.title_needs(at, entry, subject.title);
        }
        Some(entry)
    }

    fn add(&mut self, at: At, subject: &Subject<'a>, id: Id<'a>, shape: Shape, parent: Option<u32>) {
        let phase = self.phase_at(at, id, shape);
        // The detail of a row is no group.
        let parent = parent.filter(|&parent| {
            let around = &self.draft.entries[parent as usize];
            around.shape != Shape::Row && !around.is_detailed
        });
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
            form: id.form,
            is_tentative: false,
            is_detailed: false,
            in_summary: self.is_summary(),
        });
    }

    /// The phase of an id, else that of the heading around it. A step of the same phase is said by the heading alone.
    fn phase_at(&mut self, at: At, id: Id<'a>, shape: Shape) -> PhaseStep {
        let around = self.phase_around();
        // The rows of a table are counted through, whatever their phase.
        let is_count = shape == Shape::Row && id.form == IdForm::Number && !id.name.contains(&b'.');
        match id.phase() {
            Ok(Some(own)) if !is_count => {
                around.filter(|around| around.number == own.number && own.step == 0).unwrap_or(own)
            }
            Ok(_) => around.unwrap_or(NO_PHASE),
            Err(()) => {
                self.draft.unclear(at.number, Unclear::PhaseNumber { word: shown(id.written) });
                NO_PHASE
            }
        }
    }

    /// An id that is there already: its detail, a summary, or a mistake.
    fn repeat(&mut self, at: At, subject: &Subject<'a>, entry: u32, shape: Shape, parent: Option<u32>) {
        let first = self.draft.entries[entry as usize];
        let name = first.name.in_text(self.text);
        let is_same_title = self.is_same_title(entry, subject.title);
        let is_summary = first.in_summary || self.is_summary();
        // Whoever sums up leaves words out; in two boxes of one shape nobody does both.
        let is_boxed = matches!(first.place, Place::Inside(_)) && subject.boxed.is_some();
        let holds = !is_boxed && holds_words(first.title.in_text(self.text), subject.title);
        if first.shape == shape && !is_same_title && !holds && !is_summary {
            let what = Unclear::Twice { id: shown(name), first: first.line };
            return self.draft.unclear(at.number, what);
        }
        if !is_same_title && !shares_word(first.title.in_text(self.text), subject.title) {
            let (task, title) = (shown(name), shown(subject.title));
            self.draft.warn(at.number, Warning::OtherTitle { task, title, first: first.line });
        }
        self.draft.pass_over(at.number, PassedKind::Again, name);
        let around = self.phase_around();
        let place = self.place(at, subject);
        let mark = subject.mark();
        let parent = parent.filter(|&parent| first.parent == NONE && !self.is_within(parent, entry));
        let is_detail_of_row = first.shape == Shape::Row || first.is_detailed;
        let fields = &mut self.draft.entries[entry as usize];
        fields.is_detailed |= (first.shape == Shape::Row) != (shape == Shape::Row);
        if shape == Shape::Heading || first.shape == Shape::Row && shape == Shape::Item {
            fields.body = Span { start: at.end, end: at.end };
        }
        match (fields.place, place) {
            (Place::Inside(_), Place::Inside(more)) => self.draft.more_boxes.push((entry, more)),
            (Place::Inside(_), Place::Tick(_)) => {}
            (Place::Tick(_), place) => {
                if matches!(place, Place::Inside(_)) || shape != Shape::Row {
                    fields.place = place;
                }
            }
        }
        if fields.title == Span::default() {
            fields.title = Span::of(self.text, subject.title);
        }
        if fields.phase == NO_PHASE {
            fields.phase = around.unwrap_or(NO_PHASE);
        }
        if let Some(parent) = parent.filter(|_| !is_detail_of_row) {
            fields.parent = parent;
        }
        fields.mark = match (fields.mark, mark) {
            (Mark::None, mark) | (mark, Mark::None) => mark,
            (one, other) if one == other => one,
            _ => Mark::Both,
        };
        if fields.mark == Mark::Both {
            self.draft.warn(at.number, Warning::Contradiction { task: shown(name) });
        }
    }

    /// Whether a heading around says that what follows sums up what stands elsewhere.
    fn is_summary(&self) -> bool {
        self.sections.iter().any(|section| section.is_summary)
    }

    /// Whether an entry is this one, or stands in it.
    fn is_within(&self, mut entry: u32, outer: u32) -> bool {
        for _ in 0..DEPTH_MAX {
            if entry == outer {
                return true;
            }
            entry = self.draft.entries[entry as usize].parent;
            if entry == NONE {
                return false;
            }
        }
        true
    }

    /// Whether a title says no more and no less than that of an entry, whatever its case; none says nothing else.
    fn is_same_title(&self, entry: u32, title: &[u8]) -> bool {
        let known = self.draft.entries[entry as usize].title.in_text(self.text);
        title.is_empty() || known.is_empty() || words_of(known).eq(words_of(title))
    }

    /// Where a done mark would go.
    fn place(&self, at: At, subject: &Subject<'_>) -> Place {
        match subject.boxed {
            Some(inside) => Place::Inside(Span::within(self.text, inside)),
            None => Place::Tick(at.end),
        }
    }
}

/// The letters and digits of a text, in lower case, without what stands in parentheses at its end.
fn words_of(title: &[u8]) -> impl Iterator<Item = u8> {
    let end = title.iter().position(|&byte| byte == b'(').filter(|&at| at > 0).unwrap_or(title.len());
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    title[..end].iter().copied().filter(is_letter).map(|byte| byte.to_ascii_lowercase())
}

/// Whether two titles have a word in common.
fn shares_word(one: &[u8], other: &[u8]) -> bool {
    words(one).any(|word| has_word(other, word))
}

/// Whether all words of one title are in the other, as they are where somebody sums up.
fn holds_words(one: &[u8], other: &[u8]) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    words(short).all(|word| has_word(long, word))
}

fn has_word(title: &[u8], word: &[u8]) -> bool {
    words(title).any(|it| it.eq_ignore_ascii_case(word))
}

fn words(title: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_between = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric();
    // More than a title should have is not compared.
    title.split(is_between).filter(|word| !word.is_empty()).take(32)
}
