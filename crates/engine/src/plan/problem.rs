//! What is wrong with a task file, and what is only strange, each with its line.

use alloc::{string::String, vec::Vec};
use core::fmt;

use ostler_protocol::thin::{ErrorCode, Thin};
use serde::Serialize;

/// How many problems, and how many warnings, are kept of one file.
pub const PROBLEMS_MAX: usize = 100;

/// How many tasks of a circle are named before the rest is left out.
const CIRCLE_MAX: usize = 32;

/// Why a file gives no graph. In the order in which they are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "problem", rename_all = "snake_case")]
pub enum Problem {
    /// Something in it cannot be understood.
    Unclear {
        /// Where.
        line: u32,
        /// What.
        #[serde(flatten)]
        what: Unclear,
    },
    /// A task depends on what is not there.
    Missing {
        /// Where it says so.
        line: u32,
        /// The task.
        task: String,
        /// What is not there.
        needs: String,
    },
    /// Tasks wait for each other.
    Circular {
        /// Where the first of them stands.
        line: u32,
        /// Each waits for the next, and the last one for the first.
        circle: Vec<String>,
    },
}

/// What cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Unclear {
    /// There is nothing in it to do.
    NoTasks,
    /// The file is larger than [`super::FILE_BYTES_MAX`].
    TooLarge,
    /// The file is in UTF-16.
    Utf16,
    /// A code fence is never closed.
    OpenFence,
    /// A comment is never closed.
    OpenComment,
    /// It begins like an id and is none.
    NotAnId {
        /// What stands there.
        word: String,
    },
    /// A range that ends before it begins.
    Backwards {
        /// What stands there.
        word: String,
    },
    /// A range in which not exactly one number differs.
    NotARange {
        /// What stands there.
        word: String,
    },
    /// An id comes twice.
    Twice {
        /// The id.
        id: String,
        /// Where it stands first.
        first: u32,
    },
    /// An item begins with an id that no task has, and has no box.
    NoBox {
        /// The id.
        id: String,
    },
    /// A table has an id that no task has, and no column of dependencies.
    NoNeedsColumn {
        /// The id.
        id: String,
    },
    /// A row has more or fewer cells than its table has columns.
    RowLength {
        /// How many it has.
        cells: usize,
        /// How many it should have.
        columns: usize,
    },
    /// Dependencies that belong to no task.
    NeedsOfNobody,
    /// A task is named in a note behind the dependencies, and nowhere in them.
    OnlyInNote {
        /// The id.
        id: String,
    },
    /// A key that looks like one for dependencies.
    KeySlip {
        /// The key.
        key: String,
        /// What was probably meant.
        meant: String,
    },
    /// It has no phase, and others have.
    NoPhase {
        /// The id.
        id: String,
    },
    /// A number that no phase can have.
    PhaseNumber {
        /// What stands there.
        word: String,
    },
    /// A task waits for all of its own phase.
    OwnPhase {
        /// The id.
        id: String,
    },
    /// An edge of a diagram leads to or from a part of it in which no task stands.
    Subgraph {
        /// The name of the part.
        name: String,
    },
    /// A diagram names a task that is not there.
    NotInFile {
        /// The id.
        id: String,
    },
    /// Words that mean other tasks without naming them.
    Vague {
        /// The task.
        task: String,
        /// What stands there.
        text: String,
    },
    /// A dependency is named by the title of a task, or by its id in other letters.
    ByTitle {
        /// The task.
        task: String,
        /// What stands there.
        text: String,
        /// The id that was meant.
        id: String,
    },
    /// There are more dependencies than [`super::EDGES_MAX`].
    TooManyNeeds,
    /// There are more tasks than [`super::TASKS_MAX`].
    TooManyTasks,
}

/// What is strange, and how it was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "warning", rename_all = "snake_case")]
pub enum Warning {
    /// A dependency on something outside of the file: nobody waits for it.
    External {
        /// The task.
        task: String,
        /// What stands there.
        text: String,
    },
    /// A heading with a box has tasks below it: it is a group, and nobody does it itself.
    BoxedGroup {
        /// Its id.
        task: String,
    },
    /// A box with an unknown letter: taken as open.
    UnknownBox {
        /// What is in it.
        letter: String,
    },
    /// Marks that contradict each other: taken as open.
    Contradiction {
        /// The task.
        task: String,
    },
    /// A box outside of any task, without an id: no task.
    NamelessBox,
    /// Ids below a key that is unknown: not taken as dependencies.
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A risk or a priority that is none: taken as not said.
    UnknownValue {
        /// The key.
        key: String,
        /// What stands there.
        value: String,
    },
    /// A title names another task: not taken as a dependency.
    Mention {
        /// The task.
        task: String,
        /// What it names.
        id: String,
    },
    /// A line of a diagram without an arrow: no dependency.
    NoArrow,
    /// One id with two titles: taken as one task.
    OtherTitle {
        /// The id.
        task: String,
        /// The other title.
        title: String,
        /// Where the id stands first.
        first: u32,
    },
}

impl Problem {
    /// Where it stands.
    pub fn line(&self) -> u32 {
        match self {
            Problem::Unclear { line, .. }
            | Problem::Missing { line, .. }
            | Problem::Circular { line, .. } => *line,
        }
    }

    /// The code of the thin dialect.
    pub fn code(&self) -> ErrorCode {
        match self {
            Problem::Unclear { .. } => ErrorCode::ParseFail,
            Problem::Missing { .. } => ErrorCode::MissingDep,
            Problem::Circular { .. } => ErrorCode::CircularDep,
        }
    }

    /// The line of the thin dialect, with the name of the file.
    pub fn thin(&self, file: &str) -> Thin {
        let detail = match self {
            Problem::Unclear { line, what } => alloc::format!("{file}:{line}: {what}"),
            Problem::Missing { task, needs, .. } => alloc::format!("{task}->{needs}"),
            Problem::Circular { circle, .. } => circle_line(circle),
        };
        Thin::error(self.code(), Some(&detail))
    }
}

/// `T1.3->T1.4->T1.3`.
pub(super) fn circle_line(circle: &[String]) -> String {
    let mut line = String::new();
    for id in circle.iter().take(CIRCLE_MAX) {
        line.push_str(id);
        line.push_str("->");
    }
    if circle.len() > CIRCLE_MAX {
        line.push_str("...->");
    }
    line.push_str(circle.first().map_or("", String::as_str));
    line
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Unclear { what, .. } => what.fmt(f),
            Problem::Missing { task, needs, .. } => {
                write!(f, "{task} depends on {needs}, which is not there")
            }
            Problem::Circular { circle, .. } => {
                write!(f, "these wait for each other: {}", circle_line(circle))
            }
        }
    }
}

impl fmt::Display for Unclear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unclear::NoTasks => f.write_str("there is no task in it, such as '- [ ] T1.1: title'"),
            Unclear::TooLarge => f.write_str("the file is larger than 128 MiB"),
            Unclear::Utf16 => f.write_str("the file is in UTF-16; save it as UTF-8"),
            Unclear::OpenFence => f.write_str("a code fence begins here and never ends"),
            Unclear::OpenComment => f.write_str("a comment begins here and never ends"),
            Unclear::NotAnId { word } => write!(f, "'{word}' is no id of a task"),
            Unclear::Backwards { word } => {
                write!(f, "the range '{word}' ends before it begins; write the smaller number first")
            }
            Unclear::NotARange { word } => write!(f, "'{word}' is no range: exactly one number may differ"),
            Unclear::Twice { id, first } => write!(f, "{id} is there twice; first in line {first}"),
            Unclear::NoBox { id } => write!(f, "{id} has no box; a task is written '- [ ] {id}: title'"),
            Unclear::NoNeedsColumn { id } => {
                write!(f, "{id} stands in a table without a column 'Dependencies', and nowhere else")
            }
            Unclear::RowLength { cells, columns } => {
                write!(f, "the row has {cells} cells, its table has {columns} columns")
            }
            Unclear::NeedsOfNobody => f.write_str("these dependencies belong to no task"),
            Unclear::OnlyInNote { id } => {
                write!(f, "{id} stands only in a note; name it before the note if it is a dependency")
            }
            Unclear::KeySlip { key, meant } => write!(f, "the key '{key}' is unknown; is it '{meant}'?"),
            Unclear::NoPhase { id } => write!(f, "{id} has no phase, and others have"),
            Unclear::PhaseNumber { word } => write!(f, "'{word}' names no phase"),
            Unclear::OwnPhase { id } => write!(f, "{id} would wait for its own phase"),
            Unclear::Subgraph { name } => {
                write!(f, "an edge to or from the part '{name}' of a diagram, in which no task stands")
            }
            Unclear::Vague { task, text } => {
                write!(f, "{task} depends on '{text}'; name the tasks by their ids")
            }
            Unclear::ByTitle { task, text, id } => {
                write!(f, "{task} depends on '{text}'; write its id, {id}")
            }
            Unclear::NotInFile { id } => write!(f, "{id} is in the diagram and is no task"),
            Unclear::TooManyNeeds => f.write_str("there are more than 4194304 dependencies"),
            Unclear::TooManyTasks => f.write_str("there are more than 1000000 tasks; divide the file"),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::External { task, text } => write!(f, "{task}: nobody waits for '{text}', it is no task"),
            Warning::UnknownBox { letter } => write!(f, "a box with '{letter}' is taken as open"),
            Warning::Contradiction { task } => {
                write!(f, "{task}: two marks contradict each other; taken as open")
            }
            Warning::BoxedGroup { task } => {
                write!(f, "{task} has a box and tasks below it: it is a group, and is not done itself")
            }
            Warning::NamelessBox => f.write_str("a box without an id is no task"),
            Warning::UnknownKey { key } => write!(f, "ids below '{key}' are not taken as dependencies"),
            Warning::UnknownValue { key, value } => write!(f, "'{value}' is unknown for '{key}'"),
            Warning::Mention { task, id } => {
                write!(f, "{task} names {id} and does not wait for it; write 'depends on {id}' if it should")
            }
            Warning::OtherTitle { task, title, first } => {
                write!(f, "{task} is called '{title}' here and otherwise in line {first}; taken as one task")
            }
            Warning::NoArrow => f.write_str("a line without an arrow is no dependency"),
        }
    }
}
