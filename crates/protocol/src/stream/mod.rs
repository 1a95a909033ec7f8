//! Structured streams: turns one JSON event of an agent's CLI into text with its provenance and into facts.
//!
//! Where each thing stands in a CLI's events is data, a [`Table`] per CLI. `decode` applies it to one event and
//! keeps nothing; the parser reads lines, joins fragments and gives text to the text parser. Nothing here knows
//! what a signal looks like.

mod cli;
mod condition;
mod decode;
mod give;
mod heard_inputs;
mod parser;
mod path;
mod table;
#[cfg(test)]
mod tests;
mod transcript;

pub use cli::Cli;
use decode::{Heard, Provenance, decode, tools};
pub(crate) use parser::StreamParser;
pub use table::{Table, TableError};
pub use transcript::{Piece, Transcript};
