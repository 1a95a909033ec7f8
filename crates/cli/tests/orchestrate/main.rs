//! `ostler orchestrate` with real processes: agents that edit files, worktrees, merges, people who decide, and a server
//! that dies everywhere.
#![expect(clippy::disallowed_methods, reason = "these tests run the binary and make its files")]

mod crashing;
mod forty;
mod outside;
mod straight;
mod support;
mod tokens;
mod trouble;
