//! Worktrees and checkpoints with the real git program, in directories of their own.

mod changes;
mod checkpoint;
mod find;
mod hostile;
mod large;
mod make;
mod merge;
mod obstacles;
mod prune;
mod reading;
mod remove;
mod restore;
mod rooting;
mod support;
mod trees;
