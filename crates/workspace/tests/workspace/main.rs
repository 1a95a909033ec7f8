//! Worktrees with the real git program, in directories of their own.

mod changes;
mod find;
mod hostile;
mod make;
mod merge;
mod remove;
mod support;
