//! What stood in a session's directory at one moment, and going back to it.
//!
//! The engine knows that there is one, why, and where the repository keeps it; what is in it is git's.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::id::{CheckpointId, ProjectId, RequestId, RunId, SessionId};

/// What stood in a session's directory at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Its id.
    pub id: CheckpointId,
    /// Where it belongs.
    pub project: ProjectId,
    /// To which run.
    pub run: RunId,
    /// Whose work it is.
    pub session: SessionId,
    /// Why it is made.
    pub why: Why,
    /// When it was wanted.
    pub wanted_at_ms: u64,
    /// The place in the journal.
    pub seq: u64,
    /// The launch whose work it is; none before the first.
    pub launch: Option<u32>,
    /// The conversation by then.
    pub conversation: Option<String>,
    /// What was open by then.
    pub requests: Vec<RequestId>,
    /// How far it has got.
    pub state: CheckpointState,
}

/// Why a checkpoint is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Something is asked.
    Request,
    /// Time has passed.
    Time,
    /// A person wants it.
    Person,
    /// The agent's process is about to be ended, to be started again later.
    Rest,
    /// An earlier one is about to be restored.
    Restore,
    /// Its account has hit a limit, and it waits with it.
    Limit,
    /// A phase begins, or is said to be done.
    Phase,
}

/// How far a checkpoint has got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CheckpointState {
    /// It is to be made.
    Wanted,
    /// It is there.
    Made {
        /// Since when.
        at_ms: u64,
        /// What it is.
        kept: Kept,
    },
    /// There is none.
    Skipped {
        /// When that was known.
        at_ms: u64,
        /// Why not.
        reason: Skip,
    },
    /// It was there, and was let go.
    Pruned {
        /// When.
        at_ms: u64,
    },
}

/// What a restore has brought back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoredFiles {
    /// Which one.
    pub checkpoint: CheckpointId,
    /// How many files were written or removed.
    pub changed: u64,
    /// Files that are still not as they were.
    pub different: Vec<String>,
    /// Submodules that were at another commit; they are left where they are.
    pub submodules: Vec<String>,
}

/// Why a restore has brought nothing back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnrestoredFiles {
    /// Which one.
    pub checkpoint: CheckpointId,
    /// Why not.
    pub message: String,
}

/// What the repository has of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// The ref.
    pub reference: String,
    /// The commit.
    pub commit: String,
    /// The place in the agent's conversation, for CLIs that can go back to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// What is not in it, the first of them by name and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// How many are not in it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out_count: u64,
}

/// Why there is no checkpoint. A closed list, so that it can be said in any language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum Skip {
    /// The directory is in no git repository. Said once per session.
    NoRepository,
    /// Nothing has changed since the last one.
    Unchanged {
        /// That one.
        checkpoint: CheckpointId,
    },
    /// It could not be made.
    Failed {
        /// In git's words.
        message: String,
    },
}

/// Which checkpoints a session gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointTerms {
    /// One after so long a time of work; none for time alone, if nothing.
    pub every_ms: Option<u64>,
    /// The largest file that git does not know yet.
    pub file_bytes_max: u64,
    /// All such files together.
    pub untracked_bytes_max: u64,
}

impl Default for CheckpointTerms {
    fn default() -> Self {
        CheckpointTerms {
            every_ms: Some(10 * 60_000),
            file_bytes_max: 32 << 20,
            untracked_bytes_max: 256 << 20,
        }
    }
}

/// How it stands with the checkpoints of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checkpoints {
    /// Whether there can be none, because there is no repository.
    #[serde(default, skip_serializing_if = "is_false")]
    pub off: bool,
    /// The last one that was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Last>,
    /// Those that are being made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<Pending>,
    /// When the last word of one came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word_at_ms: Option<u64>,
    /// The one that is being restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restoring: Option<Restoring>,
    /// What it has failed with, until there is a word of the checkpoint, and nobody exchanges its files: then it is ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<RequestId>,
    /// Where the next process takes up the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewind: Option<Rewind>,
}

/// The last checkpoint of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Last {
    /// Which one.
    pub checkpoint: CheckpointId,
    /// Its commit.
    pub commit: String,
}

/// A checkpoint that is being made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// Which one.
    pub checkpoint: CheckpointId,
    /// Whether the agent waits for it.
    pub holds: bool,
}

/// A checkpoint that is being restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restoring {
    /// Which one.
    pub checkpoint: CheckpointId,
    /// Its commit.
    pub commit: String,
    /// The one that is made of what stands there.
    pub before: CheckpointId,
    /// Where the conversation is taken up, if it goes back too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewind: Option<Rewind>,
}

/// Where a conversation is taken up after a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewind {
    /// The checkpoint that was restored.
    pub checkpoint: CheckpointId,
    /// How.
    pub way: RewindWay,
    /// What was open by then; what was asked later was not asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<RequestId>,
    /// What of that was answered since, in words for the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
}

/// How a conversation is taken up after a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "way", rename_all = "snake_case")]
pub enum RewindWay {
    /// At a place in it.
    To {
        /// The conversation.
        conversation: String,
        /// The place.
        anchor: String,
    },
    /// The CLI cannot go back: another one begins, under this id where the CLI is given one.
    Anew {
        /// A UUID.
        conversation: String,
    },
}

impl Checkpoints {
    /// Whether there is nothing to say about them.
    pub(crate) fn is_default(&self) -> bool {
        *self == Checkpoints::default()
    }

    /// Whether the agent waits for one, or for a restore.
    pub fn hold(&self) -> bool {
        self.restoring.is_some() || self.pending.iter().any(|pending| pending.holds)
    }
}

impl Checkpoint {
    /// What the repository has of it.
    pub fn kept(&self) -> Option<&Kept> {
        if let CheckpointState::Made { kept, .. } = &self.state { Some(kept) } else { None }
    }

    /// Whether it is still to be made.
    pub fn is_wanted(&self) -> bool {
        self.state == CheckpointState::Wanted
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_false(it: &bool) -> bool {
    !it
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_zero(it: &u64) -> bool {
    *it == 0
}

/// What can become of a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckpointNews {
    /// It is there.
    Made {
        /// What the repository has of it.
        kept: Kept,
    },
    /// Nothing has changed since the last one.
    Unchanged,
    /// There is no repository.
    NoRepository,
    /// It could not be made.
    Failed {
        /// Why not.
        message: String,
    },
}

/// What can become of a restore.
#[derive(Debug, Clone, PartialEq)]
pub enum RestoreNews {
    /// Files are as they were.
    Restored {
        /// What became of the checkpoint that was made first.
        before: CheckpointNews,
        /// How many files were written or removed.
        changed: u64,
        /// Files that are still not as they were.
        different: Vec<String>,
        /// Submodules that were at another commit.
        submodules: Vec<String>,
    },
    /// They could not be brought back.
    NotRestored {
        /// What became of the checkpoint that was to be made first.
        before: CheckpointNews,
        /// Why not.
        message: String,
    },
}
