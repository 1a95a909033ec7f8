//! Turns whatever an agent prints into typed signals, and what Ostler answers into bytes.
//!
//! Bytes go in with [`Parser::push`], [`Item`]s come out of the parser as an iterator; a malformed message is an
//! item too, so that parsing always goes on. [`reply`] writes what Ostler says to agents.
//!
//! The crate is pure, and `no_std` keeps it so: it cannot read a file, a clock or the environment. Time is passed
//! in as the length of a silence. It knows nothing of sessions, processes or storage.
#![no_std]

extern crate alloc;

pub mod fact;
pub mod fault;
pub mod guide;
pub mod item;
pub mod mark;
pub mod mask;
pub mod name;
pub mod reply;
pub mod shown;
pub mod signal;
pub mod stream;
pub mod task_name;
pub mod thin;

mod drawn;
mod escape;
mod parser;
mod recent;
mod screens;
mod sink;
mod text;

pub use item::{EndedBy, Item, QuoteSource, Quoted, Trust, What};
pub use parser::{Format, Limits, Parser, Settings};
pub use text::{LineEnds, guard_task};
