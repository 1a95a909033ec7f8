//! Text to messages: lines, tags, and the three dialects that stand in them.

mod block;
mod fence;
mod glance;
mod line_ends;
mod list;
mod nonce;
mod office;
mod open;
mod parser;
mod phase;
mod tag;

pub use line_ends::LineEnds;
pub use office::guard_task;
pub(crate) use parser::{Mode, Place, TextParser};
