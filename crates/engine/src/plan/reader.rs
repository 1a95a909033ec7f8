//! Goes through the lines of a file and says to whom each belongs.

use alloc::vec::Vec;

use ostler_protocol::{LineEnds, task_name::IdForm};

use super::{
    EDGES_MAX, FILE_BYTES_MAX, TASKS_MAX,
    clause::{self, NEEDS_WORDS},
    diagram::{Diagram, Piece},
    draft::{Draft, Mention, shown},
    id::{self, Id, digits},
    join,
    key::{self, Key, Pair, pair},
    line::{Fence, heading, indent, is_table_rule, item},
    needs::Found,
    passed_over::PassedKind,
    phase::PhaseStep,
    problem::{Problem, Unclear, Warning},
    quotation::next_key,
    subject::{About, Mark, Subject},
    table::{Row, Table},
    task::{Attribute, Plan, Shape, Span, small},
};

/// A heading whose section is not over.
pub(super) struct Section {
    level: usize,
    /// Its phase, and whether it is called a milestone or the like.
    pub(super) phase: Option<(PhaseStep, bool)>,
    pub(super) entry: Option<u32>,
    /// Whether it sums up what stands elsewhere.
    pub(super) is_summary: bool,
    /// A word that looks like an id, until a task below shows that it is a group.
    pub(super) alike: Option<(u32, Span)>,
}

/// A key whose value goes on in the lines below.
#[derive(Clone, Copy)]
pub(super) struct OpenKey {
    pub(super) key: Key,
    pub(super) entry: u32,
    /// Items at least so far in belong to it.
    pub(super) columns: usize,
    /// Whether the next line goes on whatever it is: the value ended in a comma.
    pub(super) wants_more: bool,
}

/// What the lines stand in.
enum Inside<'a> {
    Text,
    Fence(Fence, u32, Option<Diagram<'a>>),
    Comment(u32),
}

/// A line and where it stands.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) number: u32,
    pub(super) start: u32,
    /// Where its text ends, and a mark would go.
    pub(super) end: u32,
}

pub(super) struct Reader<'a> {
    pub(super) text: &'a [u8],
    pub(super) draft: Draft,
    pub(super) sections: Vec<Section>,
    /// Items with tasks that are not over: how far in, and which.
    items: Vec<(usize, u32)>,
    inside: Inside<'a>,
    pub(super) open: Option<OpenKey>,
    table: Option<Table>,
    /// The line before, if it may turn out to be the header of a table.
    before: &'a [u8],
    pub(super) found: Vec<Found<'a>>,
    pub(super) needs_words: memchr::memmem::Finder<'static>,
    pieces: Vec<Piece<'a>>,
}

/// Reads a file.
pub(super) fn read(text: Vec<u8>) -> Plan {
    let mut draft = Draft::new(text.len().min(FILE_BYTES_MAX));
    let unusable = if text.len() > FILE_BYTES_MAX {
        Some(Unclear::TooLarge)
    } else if text.starts_with(&[0xff, 0xfe]) || text.starts_with(&[0xfe, 0xff]) {
        Some(Unclear::Utf16)
    } else {
        None
    };
    match unusable {
        Some(what) => draft.problems.push(Problem::Unclear { line: 1, what }),
        None => draft = Reader::new(&text, draft).read(),
    }
    join::join(text, draft)
}

impl<'a> Reader<'a> {
    fn new(text: &'a [u8], draft: Draft) -> Reader<'a> {
        Reader {
            text,
            draft,
            sections: Vec::new(),
            items: Vec::new(),
            inside: Inside::Text,
            open: None,
            table: None,
            before: &[],
            found: Vec::new(),
            needs_words: memchr::memmem::Finder::new(NEEDS_WORDS),
            pieces: Vec::new(),
        }
    }

    fn read(mut self) -> Draft {
        let text = self.text;
        let mut start = if text.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
        let ends = LineEnds::new(text, start).filter(|&end| text[end] == b'\n');
        let last = (!text.ends_with(b"\n") && start < text.len()).then_some(text.len());
        for (number, end) in (1..).zip(ends.chain(last)) {
            let line = text[start..end].trim_ascii_end();
            let at = At { number, start: small(start), end: small(start + line.len()) };
            self.line(at, line);
            if self.draft.entries.len() > TASKS_MAX {
                // Of what is read only in part, nothing else can be said.
                let mut draft = Draft::new(0);
                draft.unclear(number, Unclear::TooManyTasks);
                return draft;
            }
            start = end + 1;
        }
        self.finish()
    }

    fn finish(mut self) -> Draft {
        match self.inside {
            Inside::Fence(_, line, _) => self.draft.unclear(line, Unclear::OpenFence),
            Inside::Comment(line) => self.draft.unclear(line, Unclear::OpenComment),
            Inside::Text => {}
        }
        self.close_items(0, small(self.text.len()));
        self.close_sections(0, small(self.text.len()));
        self.draft
    }

    fn line(&mut self, at: At, line: &'a [u8]) {
        let (columns, rest) = indent(line);
        if self.is_hidden(at, rest) {
            return;
        }
        let before = core::mem::take(&mut self.before);
        let Some(first) = rest.first() else {
            self.table = None;
            return;
        };
        if self.table.is_some() {
            if rest.contains(&b'|') {
                return self.row(at, rest);
            }
            self.table = None;
        }
        if matches!(first, b'|' | b'-' | b':') && before.contains(&b'|') && is_table_rule(rest) {
            self.table = Table::open(before);
            return;
        }
        if let Some(open) = self.open.filter(|open| open.wants_more && *first != b'#') {
            return self.value(at, open, rest);
        }
        match first {
            b'#' => match heading(rest) {
                Some((level, text)) => self.heading(at, level, text),
                None => self.paragraph(at, columns, rest),
            },
            b'>' => self.quotation(at, columns, rest),
            _ => match item(rest) {
                Some(content) => self.item(at, columns, content),
                None => self.paragraph(at, columns, rest),
            },
        }
    }

    /// Fences and comments: whether the line is in one, or begins or ends it.
    fn is_hidden(&mut self, at: At, rest: &'a [u8]) -> bool {
        match &mut self.inside {
            Inside::Fence(fence, _, diagram) => {
                if fence.is_closed_by(rest) {
                    self.inside = Inside::Text;
                } else if let Some(diagram) = diagram {
                    diagram.read(rest, &mut self.pieces);
                    self.take_pieces(at);
                } else {
                    self.pass_over(at, PassedKind::InFence, rest);
                }
                true
            }
            Inside::Comment(_) => {
                self.pass_over(at, PassedKind::InComment, rest);
                if memchr::memmem::find(rest, b"-->").is_some() {
                    self.inside = Inside::Text;
                }
                true
            }
            Inside::Text => match rest.first() {
                Some(b'`' | b'~') => {
                    let Some((fence, info)) = Fence::open(rest) else { return false };
                    let is_diagram = info.starts_with(b"mermaid");
                    self.draft.diagrams.count += u32::from(is_diagram);
                    self.inside = Inside::Fence(fence, at.number, is_diagram.then(Diagram::default));
                    true
                }
                Some(b'<') if rest.starts_with(b"<!--") => {
                    self.pass_over(at, PassedKind::InComment, rest[4..].trim_ascii_start());
                    if memchr::memmem::find(&rest[4..], b"-->").is_none() {
                        self.inside = Inside::Comment(at.number);
                    }
                    true
                }
                _ => false,
            },
        }
    }

    fn heading(&mut self, at: At, level: usize, text: &'a [u8]) {
        self.close_items(0, at.start);
        self.close_sections(level, at.start);
        self.open = None;
        let mut subject = Subject::parse(text);
        self.fit(&mut subject, text, self.current());
        // A mark goes before the hashes that close a heading.
        let at = At { end: Span::of(self.text, text).end.max(at.start), ..at };
        let bracketed = || Subject::phase_in_brackets(text).map(|phase| (phase, false));
        let own = self.phase_of(at, &subject).map(|phase| (phase, subject.is_milestone));
        let phase = own.filter(|(_, is_milestone)| !is_milestone).or_else(bracketed).or(own);
        self.draft.has_milestones |= subject.is_milestone;
        let is_summary = subject.about == About::Other && key::is_summary(subject.title);
        let mut section = Section { level, phase, entry: None, is_summary, alike: None };
        match subject.about {
            About::Task(id) => section.entry = self.begin(at, &subject, id, Shape::Heading),
            About::Alike(word) => section.alike = Some((at.number, Span::of(self.text, word))),
            About::Other => match phase {
                Some((PhaseStep { number, step: 0 }, _)) => {
                    let title = Subject::without_phase(subject.title);
                    self.draft.titles.push((number, Span::of(self.text, title)));
                }
                None if subject.boxed.is_some() => self.draft.warn(at.number, Warning::NamelessBox),
                Some(_) | None => {}
            },
        }
        self.sections.push(section);
        // `#### Dependencies` below a task; what follows need not be a list.
        if subject.about == About::Other
            && subject.phase.is_none()
            && self.without_colon(at, 0, text, false)
            && let Some(open) = &mut self.open
        {
            open.wants_more = true;
        }
    }

    /// Takes an id for a word of the title where no task can be meant: a number below a task with an id of another kind is a
    /// step or a criterion, and so is `UTF-8 works`.
    fn fit(&self, subject: &mut Subject<'a>, text: &'a [u8], around: Option<u32>) {
        let About::Task(id) = subject.about else { return };
        let around = around.map(|entry| self.draft.entries[entry as usize].form);
        let fits = match id.form {
            IdForm::Plain => true,
            IdForm::Word => subject.is_set_off || around != Some(IdForm::Plain),
            IdForm::Number => around.is_none_or(|form| form == IdForm::Number),
        };
        if !fits {
            subject.demote(text);
        }
    }

    /// The phase of the headings around a line: one that is called so counts before a milestone.
    pub(super) fn phase_around(&self) -> Option<PhaseStep> {
        let named = |wanted: bool| {
            let phases = self.sections.iter().rev().filter_map(|section| section.phase);
            phases.filter(|(_, is_milestone)| *is_milestone == wanted).map(|(phase, _)| phase).next()
        };
        named(false).or_else(|| named(true))
    }

    /// The phase that a heading or an item names itself.
    pub(super) fn phase_of(&mut self, at: At, subject: &Subject<'_>) -> Option<PhaseStep> {
        match subject.phase? {
            Ok(phase) => Some(phase),
            Err(word) => {
                self.draft.unclear(at.number, Unclear::PhaseNumber { word: shown(word) });
                None
            }
        }
    }

    fn item(&mut self, at: At, columns: usize, content: &'a [u8]) {
        // Most items say something about a task, and what begins with a known key is no id.
        if !content.starts_with(b"[")
            && let Some(pair) = pair(content)
            && let Some(key) = Key::of(pair.key)
        {
            return self.said(at, columns, key, pair.value, true);
        }
        let mut subject = Subject::parse(content);
        let is_boxed = subject.boxed.is_some() || subject.ticked;
        self.fit(&mut subject, content, self.around(columns));
        if !is_boxed && matches!(subject.about, About::Task(id) if id.form == IdForm::Number) {
            subject.demote(content);
        }
        let open = self.open.filter(|open| columns >= open.columns);
        match subject.about {
            About::Task(id) if is_boxed => {
                self.open = None;
                self.close_items(columns, at.start);
                let entry = self.begin(at, &subject, id, Shape::Item);
                self.items.extend(entry.map(|entry| (columns, entry)));
            }
            About::Alike(word) if is_boxed => {
                self.draft.unclear(at.number, Unclear::NotAnId { word: shown(word) });
            }
            _ if open.is_some_and(|open| open.key != Key::Criteria) && subject.boxed.is_none() => {
                if let Some(open) = open {
                    self.value(at, open, content);
                }
            }
            // An arrow before an id is taken for a mark.
            About::Task(_) if self.without_colon(at, columns, content, true) => {}
            About::Task(id) => {
                self.close_items(columns, at.start);
                let id = Span::of(self.text, id.name);
                self.draft.mentions.push(Mention { line: at.number, id, in_table: false });
            }
            About::Alike(_) => self.close_items(columns, at.start),
            About::Other => {
                let content = if subject.boxed.is_some() { subject.title } else { content };
                // A criterion may speak of other tasks; a key in bold is none.
                let is_criterion = subject.boxed.is_some()
                    || open.is_some_and(|open| open.key == Key::Criteria) && !content.starts_with(b"**");
                let is_said = self.pair(at, columns, content, true)
                    || !is_criterion && self.without_colon(at, columns, content, true);
                if !is_said {
                    self.criterion(at, columns, &subject, content, open);
                }
            }
        }
    }

    /// A box below a task, or an item below a key for criteria.
    fn criterion(
        &mut self,
        at: At,
        columns: usize,
        subject: &Subject<'_>,
        content: &'a [u8],
        open: Option<OpenKey>,
    ) {
        if open.is_none() {
            self.open = None;
            self.close_items(columns, at.start);
        }
        let value = Span::of(self.text, content);
        let done = subject.mark() == Mark::Done;
        match (self.current(), subject.boxed) {
            (Some(entry), Some(_)) => {
                self.draft.entries[entry as usize].is_tentative = false;
                self.draft.attributes.push(Attribute { entry, key: Key::Criteria, value, done });
            }
            (None, Some(_)) => self.draft.warn(at.number, Warning::NamelessBox),
            (_, None) => {
                if let Some(OpenKey { key: Key::Criteria, entry, .. }) = open {
                    self.draft.attributes.push(Attribute { entry, key: Key::Criteria, value, done });
                } else {
                    self.named_in_line(at, content);
                }
            }
        }
    }

    /// A line that is neither heading nor item.
    fn paragraph(&mut self, at: At, columns: usize, rest: &'a [u8]) {
        self.before = rest;
        if self.pair(at, columns, rest, false) || self.without_colon(at, columns, rest, false) {
            return;
        }
        self.open = None;
        let begins_with_id = || matches!(id::word(rest), id::Word::Id(_));
        if memchr::memmem::find(rest, b"-->").is_none() || !begins_with_id() {
            return self.named_in_line(at, rest);
        }
        // A chain of ids outside of a diagram; other arrows are prose.
        self.draft.diagrams.count += 1;
        Diagram::bare().read(rest, &mut self.pieces);
        self.take_pieces(at);
    }

    /// `key: value`, if the line is one that counts.
    pub(super) fn pair(&mut self, at: At, columns: usize, content: &'a [u8], is_item: bool) -> bool {
        let Some(Pair { key: word, value }) = pair(content) else { return false };
        let Some(key) = Key::of(word) else {
            self.unknown_key(at, word, value);
            return false;
        };
        self.said(at, columns, key, value, is_item);
        true
    }

    /// `depends on T1.1`, or the key alone, if the line belongs to a task: elsewhere it is prose.
    pub(super) fn without_colon(&mut self, at: At, columns: usize, content: &'a [u8], is_item: bool) -> bool {
        let value = self.current().and_then(|_| clause::without_colon(content));
        if let Some(value) = value {
            self.said(at, columns, Key::Needs, value, is_item);
        }
        value.is_some()
    }

    /// Something about the task to which the line belongs.
    fn said(&mut self, at: At, columns: usize, key: Key, value: &'a [u8], is_item: bool) {
        self.open = None;
        if is_item {
            // An item beside its task instead of below it is taken for it where nothing else could be meant.
            let is_beside = self.items.len() == 1 && !self.sections.iter().any(|it| it.entry.is_some());
            self.close_items(if is_beside { columns + 1 } else { columns }, at.start);
        }
        let columns = if is_item { columns + 1 } else { columns };
        let mut next = Some((key, value));
        while let Some((key, whole)) = next {
            let value;
            (value, next) = next_key(key, whole);
            match self.current() {
                Some(entry) => {
                    let open = OpenKey { key, entry, columns, wants_more: false };
                    self.value(at, open, value);
                }
                None if key == Key::Needs => self.needs_of_nobody(at, value),
                None => {}
            }
        }
    }

    fn row(&mut self, at: At, rest: &'a [u8]) {
        let Some(table) = &self.table else { return };
        let has_needs = table.has_needs();
        let row = table.row(rest);
        let row = match row {
            Ok(row) => row,
            Err((cells, columns)) => {
                // Only where a task may be meant: other tables are not ours.
                let first = rest.strip_prefix(b"|").unwrap_or(rest).trim_ascii_start();
                if matches!(Subject::parse(first).about, About::Task(_)) {
                    self.draft.unclear(at.number, Unclear::RowLength { cells, columns });
                }
                return;
            }
        };
        let (cell, mut subject) = subject_of(&row, has_needs);
        match subject.about {
            About::Task(id) if has_needs => {
                subject.title = row.title.filter(|title| *title != cell).unwrap_or(subject.title);
                if let Some(status) = row.status.map(Subject::parse) {
                    subject.boxed = subject.boxed.or(status.boxed);
                    subject.ticked |= status.ticked;
                }
                // A mark goes into the cell of the id.
                let at = At { end: Span::of(self.text, cell).end, ..at };
                if let Some(entry) = self.begin(at, &subject, id, Shape::Row) {
                    for (key, cell) in row.pairs {
                        self.attribute(at, entry, key, cell);
                    }
                }
            }
            About::Task(id) => {
                let id = Span::of(self.text, id.name);
                self.draft.mentions.push(Mention { line: at.number, id, in_table: true });
            }
            About::Alike(word) if has_needs => {
                self.draft.unclear(at.number, Unclear::NotAnId { word: shown(word) });
            }
            About::Other if has_needs && !row.id.is_empty() => {
                self.draft.pass_over(at.number, PassedKind::NamelessRow, row.id);
            }
            About::Alike(_) | About::Other => {}
        }
    }

    fn take_pieces(&mut self, at: At) {
        let diagram = self.draft.diagrams.count;
        for piece in self.pieces.drain(..) {
            let span = |part: &[u8]| Span::of(self.text, part);
            match piece {
                Piece::Edge { from, to } if self.draft.diagrams.edges.len() < EDGES_MAX => {
                    self.draft.diagrams.edges.push((diagram, at.number, span(from), span(to)));
                }
                Piece::Edge { .. } | Piece::TooMany => self.draft.unclear(at.number, Unclear::TooManyNeeds),
                Piece::Label { name, label } => {
                    if let About::Task(id) = Subject::parse(label).about {
                        self.draft.diagrams.labels.push((diagram, span(name), span(id.name)));
                    }
                }
                Piece::Part { name } => self.draft.diagrams.parts.push((diagram, span(name))),
                Piece::Member { part, name } => {
                    self.draft.diagrams.members.push((diagram, span(part), span(name)));
                }
                Piece::NoArrow => self.draft.warn(at.number, Warning::NoArrow),
            }
        }
    }

    /// The task or group around a line that is so far in.
    fn around(&self, columns: usize) -> Option<u32> {
        let of_item = self.items.iter().rev().find(|(open, _)| *open < columns).map(|(_, entry)| *entry);
        of_item.or_else(|| self.sections.iter().rev().find_map(|section| section.entry))
    }

    /// Records a line that is not read, if a task begins in it.
    pub(super) fn pass_over(&mut self, at: At, kind: PassedKind, rest: &'a [u8]) {
        let subject = Subject::parse(item(rest).unwrap_or(rest));
        if let About::Task(id) = subject.about
            && (id.is_plain() || subject.boxed.is_some())
        {
            self.draft.pass_over(at.number, kind, id.name);
        }
    }

    /// The task or group to which a line belongs that does not say so.
    pub(super) fn current(&self) -> Option<u32> {
        let of_item = self.items.last().map(|(_, entry)| *entry);
        of_item.or_else(|| self.sections.iter().rev().find_map(|section| section.entry))
    }

    fn close_items(&mut self, columns: usize, offset: u32) {
        while let Some((_, entry)) = self.items.pop_if(|(open, _)| *open >= columns) {
            self.draft.entries[entry as usize].body.end = offset;
        }
    }

    fn close_sections(&mut self, level: usize, offset: u32) {
        while let Some(section) = self.sections.pop_if(|section| section.level >= level) {
            if let Some(entry) = section.entry {
                self.draft.entries[entry as usize].body.end = offset;
            }
            if let Some((line, word)) = section.alike {
                let word = shown(word.in_text(self.text));
                self.draft.unclear(line, Unclear::NotAnId { word });
            }
        }
    }
}

/// The cell that names the task of a row, and what it says. Rows may be counted, with or without an id in the next cell:
/// `| 1 | T1.1 Login | … |`.
fn subject_of<'a>(row: &Row<'a>, has_needs: bool) -> (&'a [u8], Subject<'a>) {
    let mut subject = Subject::parse(row.id);
    if subject.about != About::Other || !has_needs {
        return (row.id, subject);
    }
    if let Some(title) = row.title
        && let named = Subject::parse(title)
        && matches!(named.about, About::Task(id) if id.is_plain())
    {
        return (title, named);
    }
    let count = key::trim(subject.title);
    let count = count.strip_prefix(b"#").unwrap_or(count);
    if let Some(id) = Id::parse(count).filter(|id| digits(id.written) == id.written.len()) {
        subject.about = About::Task(id);
        subject.title = &[];
    }
    (row.id, subject)
}
