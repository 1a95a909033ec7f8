//! Tests of the store, with real files and real processes.
//!
//! `conformance` holds for every store; the rest is about the files of the SQLite one.

#![expect(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

mod conformance;
mod damage;
mod faults;
mod forgetful;
mod killed;
mod opening;
mod support;
