//! Git for sessions, by the git program: a worktree for each, what changed in it, merging it into the branch it came
//! from, and discarding it without losing anything; and checkpoints of what stands in any checkout.
//!
//! A [`Repository`] is found from a directory; everything else is asked of it. All calls block, and all may be
//! repeated: after a crash the same call finishes what was begun. The server calls it from a thread of its own and
//! keeps what comes back in the journal.
//!
//! It knows nothing of sessions, runs or the database, and it never deletes work that no ref holds. Why it is
//! done this way stands in `docs/design/worktrees.md` and `docs/design/checkpoints.md`.

mod changes;
mod checkout;
mod checkpoint;
mod commit;
mod disposable;
mod error;
mod exchange;
mod git;
mod guard;
mod index;
mod make;
mod merge;
mod pin;
mod programs;
mod prune;
mod record;
mod remove;
mod repository;
mod rescue;
mod restore;
mod rooting;
mod scratch;
mod snapshot;
mod spare;
mod talk;
mod trees;

pub use changes::{Diff, DiffFormat, DiffOptions, Status};
pub use checkpoint::{Checkpoint, CheckpointOutcome, CheckpointSpec, KeptCheckpoint};
pub use commit::Commit;
pub use disposable::remove_disposable;
pub use error::{GitError, MakeError, MergeError, NotRestored, RemoveError, RestoreError};
pub use git::prepare_git_with;
pub use make::{Worktree, WorktreeSpec};
pub use merge::{MergeMessages, MergeOutcome, Work};
pub use pin::Pin;
pub use programs::{Program, fingerprint};
pub use prune::{PrunePolicy, Pruned};
pub use remove::Removed;
pub use repository::{Head, Repository};
pub use restore::Restored;
pub use rooting::{
    BEFORE_INIT, HistoryState, NewRoot, OwnWork, UncommittedWork, files_to_commit, make_repository,
};
pub use snapshot::{LeftOut, Limits, WhyLeftOut};
pub use talk::end_all;
pub use trees::{Approved, ChangedFile, CommittedFile, Export};
