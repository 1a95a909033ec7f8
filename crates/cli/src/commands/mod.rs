//! The commands, one file each. A command reads its arguments, asks the server, and prints; it decides nothing.

pub(crate) mod agents;
pub(crate) mod answer;
pub(crate) mod attach;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod discard;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod guide;
pub(crate) mod inbox;
pub(crate) mod logs;
pub(crate) mod merge;
pub(crate) mod parse;
pub(crate) mod ps;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod send;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod usage;
pub(crate) mod verify;
pub(crate) mod wish;
