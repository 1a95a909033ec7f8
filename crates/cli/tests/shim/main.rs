//! The shim with real processes: bash, Python and whatever they start.
#![expect(clippy::disallowed_methods, reason = "these tests run the binary and make its input")]

mod control;
mod ending;
mod input;
mod output;
mod stopping;
mod support;
