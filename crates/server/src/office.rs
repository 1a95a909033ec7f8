//! The office of a project: which roles there are, what a session of one is to be, and whether a result can be brought.
//!
//! Everything is read when it is needed, and nothing is kept but long texts: what stands in a file is what is used. Nothing here decides
//! who works on what; that is the engine's.

pub(crate) mod diagram;
pub(crate) mod examine;
pub(crate) mod files;
mod front;
pub(crate) mod kept;
pub(crate) mod roles;
pub(crate) mod seat;
