//! `ostler tasks` and `ostler resolve` as people and main agents meet them: every line, every exit code, the files beside
//! them, and bad input. No server is ever started.
#![expect(clippy::disallowed_methods, reason = "these tests run the binary and make its files")]

mod looking;
mod resolving;
mod states;
mod support;
