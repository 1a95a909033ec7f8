//! A branch and directory of its own, and how what was done there comes back.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::id::RequestId;

/// A branch and directory of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// The directory.
    pub path: String,
    /// The branch.
    pub branch: String,
    /// Where it began.
    pub base: Option<String>,
    /// The branch it is merged into.
    pub target: Option<String>,
    /// Where in it the session works, absolute; nothing for its root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// What the checkout held and no commit has, and what becomes of it.
    #[serde(default, skip_serializing_if = "UncommittedChanges::is_default")]
    pub changes: UncommittedChanges,
    /// How far it has got.
    pub state: WorktreeState,
    /// How it stands with work that comes back by itself, because a role of the office has done it.
    #[serde(default, skip_serializing_if = "Back::is_default")]
    pub back: Back,
}

/// Where a new worktree begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorktreeTerms {
    /// The directory below its root in which the session works; nothing for the root.
    pub subdirectory: Option<String>,
    /// What the checkout holds and no commit has.
    pub changes: UncommittedChanges,
}

/// What a checkout holds that no commit has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UncommittedChanges {
    /// Whether the worktree begins with it; otherwise it is left out.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub taken: bool,
    /// The first files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How many more there are.
    #[serde(default)]
    pub more: u64,
}

impl UncommittedChanges {
    fn is_default(&self) -> bool {
        *self == UncommittedChanges::default()
    }
}

/// How far a worktree has got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum WorktreeState {
    /// It is to be made.
    Wanted,
    /// It is there.
    Made,
    /// Its role is over: what it has done is committed and tested, and merged if that is well.
    Testing,
    /// Its work is to be merged.
    Merging {
        /// Exactly this commit of its branch, which was tested; else everything that is there by then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tested: Option<String>,
    },
    /// The merge was not possible; the target is as it was.
    NotMerged {
        /// Why not.
        message: String,
        /// Which files are in the way.
        files: Vec<String>,
        /// Whether both sides changed the same places; otherwise the target has changes of its own, or something else is
        /// wrong.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        conflict: bool,
    },
    /// Its work is merged, and it is gone.
    Merged {
        /// The commit.
        commit: String,
    },
    /// It is to go away.
    Discarding,
    /// It could not be taken away.
    NotDiscarded {
        /// Why not.
        message: String,
    },
    /// It is gone.
    Discarded {
        /// The ref that keeps its work.
        kept: String,
    },
}

impl WorktreeState {
    /// Whether its directory is there and may be worked in, once a test of it is given up.
    pub fn is_there(&self) -> bool {
        *self == WorktreeState::Testing || self.is_at_rest()
    }

    /// Whether its directory is there, and nothing is done with it.
    pub fn is_at_rest(&self) -> bool {
        matches!(
            self,
            WorktreeState::Made | WorktreeState::NotMerged { .. } | WorktreeState::NotDiscarded { .. }
        )
    }
}

/// How it stands with work that comes back by itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Back {
    /// How often it was to be tested.
    pub tests: u32,
    /// When that was last.
    pub tested_at_ms: u64,
    /// Whether a person wants it although its role has failed, or was ended.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub insisted: bool,
    /// What a person is asked about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
}

impl Back {
    pub(crate) fn is_default(&self) -> bool {
        *self == Back::default()
    }
}

/// What a person is asked about work that does not come back by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Where it stands in the inbox.
    pub request: RequestId,
    /// What about.
    pub about: About,
}

/// Why work does not come back by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum About {
    /// The tests are red, or may not be run.
    Red {
        /// The commit that they are about.
        commit: String,
    },
    /// Its role has failed, or was ended, before it was through.
    Unfinished,
    /// It cannot be merged, or not even looked at.
    Unmerged,
}

/// What a person can say to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Commit what is there, test it, and merge it.
    Retry,
    /// Merge it all the same.
    Merge,
    /// Leave it where it is.
    Leave,
}

impl About {
    /// What can be said to it.
    pub fn choices(&self) -> &'static [Choice] {
        match self {
            About::Red { .. } => &[Choice::Retry, Choice::Merge, Choice::Leave],
            About::Unfinished => &[Choice::Merge, Choice::Leave],
            About::Unmerged => &[Choice::Retry, Choice::Leave],
        }
    }
}

impl Choice {
    /// Its word, which is never translated.
    pub fn word(self) -> &'static str {
        match self {
            Choice::Retry => "retry",
            Choice::Merge => "merge",
            Choice::Leave => "leave",
        }
    }
}
