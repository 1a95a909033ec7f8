//! The vault as its users see it: files on a real disk, and streams in any pieces.

#![expect(clippy::unwrap_used, reason = "in a test an unwrap is an assertion")]

mod encodings;
mod keeping;
mod layout;
mod masking;
