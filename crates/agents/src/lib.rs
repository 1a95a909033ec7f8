//! How each agent's CLI is started, spoken to and resumed: data, in one TOML table per CLI.
//!
//! [`Agents`] holds the tables that come with Ostler and those of the user; an [`Agent`] plans a launch and writes
//! what goes to the CLI's input. Where things stand in what a CLI prints is another table, in `ostler-protocol`.
//!
//! The crate is pure, and `no_std` keeps it so: it plans command lines and never runs one. Nothing in its code knows
//! the name of a CLI or of a flag; only the tables do.
#![no_std]

extern crate alloc;

pub mod agent;
pub mod launch;
pub mod template;

mod nearest;
mod registry;
mod reply;
mod table;
#[cfg(test)]
mod tests;

pub use agent::{
    Account, Agent, Arguments, Channel, End, Guide, Input, InputWay, Output, Permission, Terminal, Values,
};
pub use launch::{ChannelPlace, Conversation, InputPlan, LaunchPlan, LaunchRequest, PlanError, Verifies};
pub use nearest::{explained, nearest};
pub use registry::{Agents, BUILTIN_NAMES};
pub use reply::Decision;
pub use table::TableError;
