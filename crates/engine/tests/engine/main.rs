//! What follows from what, by area. Every test keeps the world twice, as it was changed and as the journal gives it.

#[path = "../common/mod.rs"]
mod common;

mod budget;
mod calls;
mod chance;
mod checkpoints;
mod documents;
mod endings;
mod flooding;
mod graphs;
mod hearing;
mod long_lines;
mod loops;
mod main_agents;
mod marks;
mod names;
mod needs;
mod office;
mod orchestrate;
mod park;
mod permissions;
mod phases;
mod play;
mod proof;
mod questions;
mod recover;
mod refusals;
mod secrets;
mod spoofs;
mod steering;
mod time;
mod trust;
mod usage;
mod worktrees;
