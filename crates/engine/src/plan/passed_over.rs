//! What a file holds that was taken neither for a task nor for something about one, and why.

use alloc::string::String;
use core::fmt;

use serde::Serialize;

/// Some lines that were passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PassedOver {
    /// The first of them.
    pub line: u32,
    /// The last.
    pub last: u32,
    /// How many ids, boxes or rows they hold.
    pub count: u32,
    /// What they are.
    #[serde(rename = "what")]
    pub kind: PassedKind,
    /// The first id in them, or what stands there.
    pub text: String,
}

/// What was passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PassedKind {
    /// Ids in a code fence.
    InFence,
    /// Ids in an HTML comment.
    InComment,
    /// A task in a quotation.
    Quoted,
    /// A list, a table or a heading that names tasks again: it was added to them.
    Again,
    /// An item or a row that names a task of another place.
    Mentioned,
    /// A line of a task that names another one, in words that are not understood.
    Named,
    /// A heading with an id such as `ADR-001`, without a box and with nothing said about it.
    HeadingOnly,
    /// A row without an id in a table of tasks.
    NamelessRow,
    /// A diagram in which no task stands.
    OtherDiagram,
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PassedOver { text, .. } = self;
        match self.kind {
            PassedKind::InFence => write!(f, "{text} is in a code fence, which is not read"),
            PassedKind::InComment => write!(f, "{text} is in a comment, which is not read"),
            PassedKind::Quoted => write!(f, "{text} is quoted: no task"),
            PassedKind::Again => write!(f, "{text} is named again: added to the task of that id"),
            PassedKind::Mentioned => write!(f, "{text} is mentioned: the task is elsewhere"),
            PassedKind::Named => {
                write!(
                    f,
                    "{text} is named here and not waited for; write 'depends on {text}' if it should be"
                )
            }
            PassedKind::HeadingOnly => {
                write!(f, "{text} is a heading without a box, and nothing is said about it: no task")
            }
            PassedKind::NamelessRow => write!(f, "the row '{text}' has no id: no task"),
            PassedKind::OtherDiagram => f.write_str("no task is in this diagram"),
        }
    }
}
