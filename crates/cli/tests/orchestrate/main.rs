//! `ostler orchestrate` with real processes: agents that edit files, worktrees, merges, people who decide, and a server
//! that dies everywhere.
#![expect(clippy::disallowed_methods, reason = "these tests run the binary and make its files")]

mod asking;
mod branches;
mod crashing;
mod forty;
mod leaving;
mod main_agents;
mod notices;
mod outside;
mod per_task;
mod preflight;
#[path = "../sessions/preload.rs"]
#[expect(dead_code, reason = "the tests of disks use all of it")]
mod preload;
#[path = "../sessions/receiver.rs"]
#[expect(dead_code, reason = "the tests of notifications use all of it")]
mod receiver;
mod straight;
mod support;
mod tokens;
mod trouble;
