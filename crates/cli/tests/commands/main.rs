//! The commands against a real server with real agents: what each does, what is said of bad input, and the terminal.
#![expect(clippy::disallowed_methods, reason = "these tests run the binary and make its files")]

mod agents;
mod answering;
mod attached;
mod bad_input;
mod completing;
mod configuration;
mod demo;
mod dispatch;
mod exec;
mod hostile;
mod logs;
mod looking;
mod memory;
mod names;
mod needs;
mod office;
mod orchestrating;
mod output_gate;
mod page;
mod permissions;
mod picture;
mod project;
mod prompt;
mod run_options;
mod search;
mod second_user;
mod secrets;
mod server;
mod setting_up;
mod since;
mod support;
mod terminal;
mod trust;
mod waiting;
mod worktrees;
