//! What an agent prints, as something to read: speech and tools instead of the events of a CLI.

use ostler_protocol::stream::Piece;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// In which form the output of an agent is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputForm {
    /// Byte for byte.
    #[default]
    Bytes,
    /// As something to read, where the agent prints events of a CLI.
    Pieces,
}

/// Pieces of output, and where in the log what follows them begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PiecesView {
    /// The offset from which to go on.
    pub next: u64,
    /// The pieces, in order.
    pub pieces: Vec<PieceView>,
}

/// Where a log has what was searched for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogSearchView {
    /// The launch whose log was searched.
    pub launch: u32,
    /// How many lines of the log have it.
    pub count: u64,
    /// The newest of these lines, oldest first.
    pub lines: Vec<LogLineView>,
    /// How much of the beginning of a very long log was not searched.
    #[serde(default)]
    pub unsearched_bytes: u64,
}

/// A line of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogLineView {
    /// The byte of the log at which it begins, or at which the event begins that has it.
    pub offset: u64,
    /// The line; of a long one, its beginning.
    pub text: String,
    /// The line before it.
    #[serde(default)]
    pub before: Option<String>,
    /// The line after it.
    #[serde(default)]
    pub after: Option<String>,
}

/// A part of what an agent prints that a person would want to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "piece", rename_all = "snake_case")]
pub enum PieceView {
    /// It says something.
    Speech {
        /// The words.
        text: String,
        /// Whether more of the same sentence follows.
        fragment: bool,
    },
    /// It uses a tool.
    Tool {
        /// Its name.
        name: String,
        /// What on: a command, a path.
        about: Option<String>,
    },
    /// What the tool gave back.
    ToolOutput {
        /// All of it.
        text: String,
    },
    /// An agent that it has started says something.
    SubAgent {
        /// The words.
        text: String,
    },
    /// A line that is no event.
    Line {
        /// The line.
        text: String,
    },
}

impl From<Piece> for PieceView {
    fn from(piece: Piece) -> PieceView {
        match piece {
            Piece::Speech { text, fragment } => PieceView::Speech { text, fragment },
            Piece::Tool { name, about } => PieceView::Tool { name, about },
            Piece::ToolOutput { text } => PieceView::ToolOutput { text },
            Piece::SubAgent { text } => PieceView::SubAgent { text },
            Piece::Line { bytes } => PieceView::Line { text: String::from_utf8_lossy(&bytes).into_owned() },
        }
    }
}
