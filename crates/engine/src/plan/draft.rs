//! What the reader has found, before it is joined to a graph.

use alloc::{string::String, vec::Vec};

use super::{
    index::Index,
    passed_over::{PassedKind, PassedOver},
    phase::PhaseStep,
    problem::{PROBLEMS_MAX, Problem, Unclear, Warning},
    task::{Attribute, Entry, Span},
};

/// The longest text of the file that a message repeats, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// A guess, which only saves time: how much text a task takes.
const BYTES_PER_TASK: usize = 128;

/// Everything that was read, before it is joined.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) entries: Vec<Entry>,
    pub(super) index: Index,
    pub(super) attributes: Vec<Attribute>,
    /// Dependencies that were there already when they were named, as most are: which, and of whom.
    pub(super) known: Vec<(u32, u32)>,
    pub(super) needs: Vec<Need>,
    pub(super) notes: Vec<Note>,
    pub(super) mentions: Vec<Mention>,
    /// Boxes of tasks that have one elsewhere too.
    pub(super) more_boxes: Vec<(u32, Span)>,
    pub(super) diagrams: Diagrams,
    /// What headings call a phase.
    pub(super) titles: Vec<(u32, Span)>,
    /// Whether a heading calls its phase a milestone or the like.
    pub(super) has_milestones: bool,
    pub(super) passed_over: Vec<PassedOver>,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<(u32, Warning)>,
}

/// A dependency as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    pub(super) entry: u32,
    pub(super) line: u32,
    pub(super) what: Wanted,
}

/// What an entry depends on.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted {
    Id(Span),
    /// A task if the file has ids of that kind, and the words around it.
    Maybe(Span, Span),
    /// From the first up to where the number between these places is the last.
    Range {
        first: Span,
        start: u32,
        end: u32,
        last: u32,
    },
    Phase(PhaseStep),
    /// A phase if the file calls its phases milestones, and the words around it.
    Milestone(PhaseStep, Span),
    /// Words that are no id.
    Words(Span),
}

/// How an id is named that is no dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// In a note behind dependencies: it should be one of them.
    Note,
    /// In a title where it may be one.
    Title,
    /// With words that are not understood.
    Words,
}

/// An id that is named by a task without being a dependency.
#[derive(Debug, Clone, Copy)]
pub(super) struct Note {
    pub(super) entry: u32,
    pub(super) line: u32,
    pub(super) id: Span,
    pub(super) named: Named,
}

/// An id where a task may have been meant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mention {
    pub(super) line: u32,
    pub(super) id: Span,
    pub(super) in_table: bool,
}

/// What the diagrams say, each by its number.
#[derive(Debug, Default)]
pub(super) struct Diagrams {
    pub(super) count: u32,
    pub(super) edges: Vec<(u32, u32, Span, Span)>,
    pub(super) labels: Vec<(u32, Span, Span)>,
    pub(super) parts: Vec<(u32, Span)>,
    /// A part, and a node or part that stands in it.
    pub(super) members: Vec<(u32, Span, Span)>,
}

impl Draft {
    /// A draft with room for what a text of that length usually has.
    pub(super) fn new(text_bytes: usize) -> Draft {
        let count = text_bytes / BYTES_PER_TASK;
        Draft {
            entries: Vec::with_capacity(count),
            index: Index::new(count),
            attributes: Vec::with_capacity(count * 2),
            known: Vec::with_capacity(count * 2),
            needs: Vec::new(),
            notes: Vec::new(),
            mentions: Vec::new(),
            more_boxes: Vec::new(),
            diagrams: Diagrams::default(),
            titles: Vec::new(),
            has_milestones: false,
            passed_over: Vec::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub(super) fn unclear(&mut self, line: u32, what: Unclear) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(Problem::Unclear { line, what });
        }
    }

    /// Records what is not taken for a task. Lines of the same kind that follow each other are one.
    pub(super) fn pass_over(&mut self, line: u32, kind: PassedKind, id: &[u8]) {
        if let Some(last) = self.passed_over.last_mut()
            && last.kind == kind
            && (last.last..=last.last.saturating_add(1)).contains(&line)
        {
            last.last = line;
            last.count += 1;
        } else if self.passed_over.len() < PROBLEMS_MAX {
            self.passed_over.push(PassedOver { line, last: line, count: 1, kind, text: shown(id) });
        }
    }

    pub(super) fn warn(&mut self, line: u32, warning: Warning) {
        if self.warnings.len() < PROBLEMS_MAX {
            self.warnings.push((line, warning));
        }
    }
}

/// Text for a message: short, and on one line.
pub(super) fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(SHOWN_CHARS_MAX * 4)]);
    text.chars().take(SHOWN_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect()
}
