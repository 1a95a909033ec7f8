//! Phases: what a run through them is made of, what is looked for at a gate, and what is said about it. Git and
//! processes are the driver's; everything here works on text and data.

mod announced;
pub(crate) mod collect;
pub(crate) mod defaults;
mod document;
pub(crate) mod glob;
pub(crate) mod junit;
pub(crate) mod prompt;
pub(crate) mod report;
pub(crate) mod templates;
pub(crate) mod tests_command;
pub(crate) mod verdict;

pub use templates::{Template, settings, templates};
