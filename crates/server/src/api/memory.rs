//! The memory of a project: what a search gives.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Files of a project's memory that hold every word, best first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MemorySearchView {
    /// The directory that was searched.
    pub directory: String,
    /// Whether there is such a directory.
    pub exists: bool,
    /// How many files hold every word.
    pub total: u64,
    /// The best of them.
    pub files: Vec<MemoryFileView>,
    /// How many files were not searched: longer than 4 MiB, no text, or unreadable.
    pub left_out: u64,
    /// Whether there are more files than an index holds, so that some were not searched.
    pub incomplete: bool,
}

/// A file that holds every word.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MemoryFileView {
    /// Its path, as seen from the directory that was searched.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// When it was changed last, in UTC milliseconds.
    pub modified_at_ms: u64,
    /// Layer 2: the parts around the lines with a word.
    pub sections: Vec<MemorySectionView>,
    /// Layer 3: its text.
    pub text: Option<String>,
    /// Whether sections or text are longer than what is shown.
    pub cut: bool,
}

/// Lines that follow each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MemorySectionView {
    /// The heading above the first line with a word.
    pub heading: Option<String>,
    /// The lines.
    pub lines: Vec<MemoryLineView>,
}

/// A line of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MemoryLineView {
    /// Its number, from one.
    pub number: u64,
    /// Its text; of a long one, its beginning.
    pub text: String,
    /// Whether it holds one of the words.
    pub hit: bool,
}
