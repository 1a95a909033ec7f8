//! Searches a directory of Markdown files in three layers: names, sections, whole files.
//!
//! [`MemoryIndex`] holds the folded text of every file and follows every change by file events; a search goes through that
//! text and gives exactly the files that `rg -liF` gives for every word. Nothing is written anywhere: an index that is
//! lost is read again. Why it is no index of SQLite stands in `docs/decisions/0004-memory-search-in-memory.md`.
//!
//! It knows nothing of projects, sessions or HTTP, and it follows no link.

mod file_stamp;
mod folding;
mod index;
mod query;
mod ranking;
mod sections;
mod tree;
mod watch;

pub use folding::fold;
pub use index::{IndexError, LeftOut, MemoryHit, MemoryIndex};
pub use query::{MemoryQuery, QueryError, WORD_CHARS_MAX, WORDS_MAX};
pub use sections::{Excerpt, LINE_CHARS_MAX, MemoryLine, MemorySection, sections};
pub use tree::{FILE_BYTES_MAX, FILES_MAX, TEXT_BYTES_MAX};
