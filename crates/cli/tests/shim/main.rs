//! The shim with real processes: bash, Python and whatever they start.
#![expect(clippy::disallowed_methods, reason = "these tests run the binary and make its input")]

mod cgroup;
mod control;
mod disk;
mod ending;
mod handing_over;
mod idle;
mod input;
mod marking;
mod masking;
mod output;
mod recording;
mod stopping;
mod support;
