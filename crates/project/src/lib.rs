//! A project as its own files describe it: the stack with evidence.
//!
//! Everything read here was written by other people: sizes, depths and counts are bounded, links are not followed, and
//! nothing that is found is run. This crate knows nothing of git, the server or the database. How a stack is recognised
//! stands in `docs/project.md`.

mod detection;
mod lines;
mod manifest;
mod technology;
mod tree;
mod version;

pub use detection::{Evidence, StackDetection, StackFinding, UnreadManifest, WhyUnread};
pub use technology::{Ecosystem, StackSection, Technology, technologies};
pub use version::StackVersion;
