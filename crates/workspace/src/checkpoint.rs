//! Keeps what stands in a checkout at one moment: a commit that one ref leads to.
//!
//! It is made from a snapshot, so the agent's index, branch and files stay as they are, and it may be made while
//! somebody works there. What is known about it stands in its message, so that a repository can be read without the
//! journal. Nothing here deletes anything.

use std::{fmt::Write as _, path::PathBuf};

use crate::{
    Commit, Diff, DiffOptions, GitError, Limits, Repository, Worktree,
    changes::diff_trees,
    checkout::{self, Checkout, commit_tree, delete_ref, empty_tree, resolve, tree_of, update_ref},
    commit::Tree,
    git::Call,
    pin::index_commit,
    snapshot::{LeftOut, Snapshot, WhyLeftOut},
};

/// Below it are all checkpoints.
pub(crate) const CHECKPOINTS: &str = "refs/ostler/checkpoints/";

/// The most names of what was left out that stand in a message.
const NAMES_MAX: usize = 100;

const ID: &str = "Ostler-Checkpoint";
const SESSION: &str = "Ostler-Session";
const STATE: &str = "Ostler-State";
const WHY: &str = "Ostler-Why";
const JOURNAL: &str = "Ostler-Journal";
const CONVERSATION: &str = "Ostler-Conversation";
const REQUESTS: &str = "Ostler-Requests";
const STAGED: &str = "Ostler-Staged";
/// Instead of a commit with what was staged: all of it was.
const AS_THE_FILES: &str = "files";
const HEAD: &str = "Ostler-Head";
const LEFT_OUT: &str = "Ostler-Left-Out";

/// What is to be kept, and what is known about it. Names are single words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointSpec {
    /// Its own name, such as `c_4`.
    pub id: String,
    /// Whose work it is, such as `s_12`.
    pub session: String,
    /// Tells it from one of the same name that another state directory made in the same repository.
    pub state: String,
    /// Why it is made, such as `request`.
    pub why: String,
    /// The last event of the journal by then.
    pub journal: u64,
    /// The conversation of the agent.
    pub conversation: Option<String>,
    /// What was open, such as `q_7`.
    pub requests: Vec<String>,
    /// The checkpoint before this one: if nothing has changed since, no other is made.
    pub last: Option<Commit>,
    /// How much of what git does not know is kept.
    pub limits: Limits,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointOutcome {
    /// It is kept.
    Made(Checkpoint),
    /// The one before says it all.
    Unchanged {
        /// That one.
        commit: Commit,
    },
}

/// A checkpoint that was just made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The full name of the ref.
    pub reference: String,
    /// The commit that it leads to.
    pub commit: Commit,
    /// What is not in it.
    pub left_out: Vec<LeftOut>,
}

/// A checkpoint as the repository has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptCheckpoint {
    /// The full name of the ref.
    pub reference: String,
    /// The commit that it leads to.
    pub commit: Commit,
    /// When it was made, in seconds since 1970.
    pub at_s: u64,
    /// Its own name.
    pub id: String,
    /// Whose work it is.
    pub session: String,
    /// The state directory that made it.
    pub state: String,
    /// Why it was made.
    pub why: String,
    /// What was open.
    pub requests: Vec<String>,
}

/// What the index has.
enum Staged {
    /// What was committed; or a merge has conflicts.
    Nothing,
    /// Everything that the files have.
    Files,
    /// Something else again, in a commit of its own.
    Other(Commit),
}

impl Repository {
    /// Keeps what stands in a worktree, or in the checkout that this repository is seen from. Who asks again under the
    /// same name gets the one that was made.
    pub fn checkpoint(
        &self,
        worktree: Option<&Worktree>,
        spec: &CheckpointSpec,
    ) -> Result<CheckpointOutcome, GitError> {
        let reference = self.free_name(spec)?;
        if let Some(commit) = resolve(&self.common_dir, &reference)? {
            return Ok(CheckpointOutcome::Made(Checkpoint { reference, commit, left_out: Vec::new() }));
        }
        let checkout = self.place(worktree)?;
        let snapshot = Snapshot::take_within(&checkout, spec.limits)?;
        self.keep(&checkout, &snapshot, &reference, spec)
    }

    /// The difference between two checkpoints; or, without a second one, to what stands there now.
    pub fn diff_checkpoint(
        &self,
        worktree: Option<&Worktree>,
        from: &Commit,
        to: Option<&Commit>,
        options: &DiffOptions,
    ) -> Result<Diff, GitError> {
        if let Some(to) = to {
            return diff_trees(&self.common_dir, from.as_str(), to.as_str(), options);
        }
        let checkout = self.place(worktree)?;
        let snapshot = Snapshot::take_within(&checkout, Limits::NONE)?;
        diff_trees(&self.common_dir, from.as_str(), &snapshot.tree.0, options)
    }

    /// Every checkpoint that the repository has, of every session and state directory.
    pub fn checkpoints(&self) -> Result<Vec<KeptCheckpoint>, GitError> {
        let command = "for-each-ref";
        let format = "--format=%(refname)%00%(objectname)%00%(committerdate:unix)%00%(contents)%00";
        let list = Call::on(&self.common_dir).args([command, format, CHECKPOINTS]).run()?;
        let list = String::from_utf8_lossy(&list);
        let fields: Vec<&str> = list.split('\0').collect();
        let mut found = Vec::new();
        for fields in fields.chunks_exact(4) {
            let [reference, commit, at, message] = fields else { continue };
            // A ref that somebody else put there is nobody's to judge.
            let (Some(commit), Some(id)) = (Commit::parse(commit), trailer(message, ID)) else { continue };
            let word = |name: &str| trailer(message, name).unwrap_or_default().to_owned();
            found.push(KeptCheckpoint {
                reference: reference.trim_start().to_owned(),
                commit,
                at_s: at.parse().unwrap_or(0),
                id: id.to_owned(),
                session: word(SESSION),
                state: word(STATE),
                why: word(WHY),
                requests: word(REQUESTS).split_whitespace().map(str::to_owned).collect(),
            });
        }
        Ok(found)
    }

    /// The files of a session: its worktree, or the checkout that this repository is seen from.
    pub(crate) fn place(&self, worktree: Option<&Worktree>) -> Result<Checkout, GitError> {
        match worktree {
            Some(worktree) => self.checkout_of(worktree),
            None => {
                let bare = || GitError::NoWorktree { path: self.common_dir.to_path_buf() };
                self.checkout.clone().ok_or_else(bare)
            }
        }
    }

    /// The ref for a checkpoint: its own, or the first that nobody else has.
    pub(crate) fn free_name(&self, spec: &CheckpointSpec) -> Result<String, GitError> {
        let plain = format!("{CHECKPOINTS}{}/{}", spec.session, spec.id);
        match resolve(&self.common_dir, &plain)? {
            Some(commit) if self.told(&commit, STATE)?.as_deref() != Some(spec.state.as_str()) => {
                Ok(format!("{plain}.{}", spec.state))
            }
            _ => Ok(plain),
        }
    }

    /// Commits a snapshot, unless the checkpoint before it says the same of files, index and commit.
    pub(crate) fn keep(
        &self,
        checkout: &Checkout,
        snapshot: &Snapshot,
        reference: &str,
        spec: &CheckpointSpec,
    ) -> Result<CheckpointOutcome, GitError> {
        let head = checkout.commit()?;
        let staged = self.staged(snapshot, head.as_ref())?;
        let word = match &staged {
            Staged::Nothing => None,
            Staged::Files => Some(AS_THE_FILES),
            Staged::Other(commit) => Some(commit.as_str()),
        };
        if let Some(last) = self.last(spec)?
            && tree_of(&self.common_dir, &last)? == snapshot.tree
            && self.told(&last, HEAD)?.as_deref() == head.as_ref().map(Commit::as_str)
            && self.told(&last, STAGED)?.as_deref() == word
        {
            return Ok(CheckpointOutcome::Unchanged { commit: last });
        }
        let left_out = left_out(checkout, snapshot)?;
        let message = message(spec, head.as_ref(), word, &left_out);
        let mut parents: Vec<Commit> = head.into_iter().collect();
        if let Staged::Other(commit) = staged {
            parents.push(commit);
        }
        let commit = commit_tree(&self.common_dir, &snapshot.tree, &parents, &message, &checkout::ostler())?;
        update_ref(&self.common_dir, reference, &commit, None, "ostler: checkpoint")?;
        Ok(CheckpointOutcome::Made(Checkpoint { reference: reference.to_owned(), commit, left_out }))
    }

    /// The checkpoint before, if it is still there.
    fn last(&self, spec: &CheckpointSpec) -> Result<Option<Commit>, GitError> {
        match &spec.last {
            Some(last) => resolve(&self.common_dir, last.as_str()),
            None => Ok(None),
        }
    }

    /// What is staged, as a commit where neither the files nor the last commit have it.
    fn staged(&self, snapshot: &Snapshot, head: Option<&Commit>) -> Result<Staged, GitError> {
        let Some(staged) = &snapshot.staged else { return Ok(Staged::Nothing) };
        let committed = match head {
            Some(head) => tree_of(&self.common_dir, head)?,
            None => empty_tree(&self.common_dir)?,
        };
        if *staged == committed {
            return Ok(Staged::Nothing);
        }
        if *staged == snapshot.tree {
            return Ok(Staged::Files);
        }
        index_commit(&self.common_dir, staged, head).map(Staged::Other)
    }

    /// The tree that the index had at a checkpoint, if the same commit is checked out now.
    pub(crate) fn staged_at(
        &self,
        checkpoint: &Commit,
        head: Option<&Commit>,
    ) -> Result<Option<Tree>, GitError> {
        let then = self.told(checkpoint, HEAD)?;
        if then.as_deref() != head.map(Commit::as_str) {
            return Ok(None);
        }
        let word = self.told(checkpoint, STAGED)?;
        if word.as_deref() == Some(AS_THE_FILES) {
            return tree_of(&self.common_dir, checkpoint).map(Some);
        }
        match word.as_deref().and_then(Commit::parse) {
            Some(staged) => tree_of(&self.common_dir, &staged).map(Some),
            None => Ok(None),
        }
    }

    /// What a checkpoint says about itself.
    fn told(&self, commit: &Commit, name: &str) -> Result<Option<String>, GitError> {
        Ok(trailer(&self.message(commit)?, name).map(str::to_owned))
    }

    /// Everything that it says.
    pub(crate) fn message(&self, commit: &Commit) -> Result<String, GitError> {
        let args = ["log", "-1", "--format=%B", commit.as_str(), "--"];
        Ok(String::from_utf8_lossy(&Call::on(&self.common_dir).args(args).run()?).into_owned())
    }

    /// Lets go of a ref, if it still leads where it was seen.
    pub(crate) fn drop_ref(&self, reference: &str, commit: &Commit) -> Result<(), GitError> {
        delete_ref(&self.common_dir, reference, commit)
    }
}

/// Everything that is not in a snapshot. Submodules are asked one by one.
fn left_out(checkout: &Checkout, snapshot: &Snapshot) -> Result<Vec<LeftOut>, GitError> {
    let mut left_out = snapshot.left_out.clone();
    let named = |path: &PathBuf, why| LeftOut { path: path.clone(), why };
    left_out.extend(snapshot.nested.iter().map(|path| named(path, WhyLeftOut::Nested)));
    for path in &snapshot.submodules {
        // What it would run was looked at for the snapshot.
        let inner = checkout.git_dir.inner(&checkout.root.join(path))?;
        let args = ["status", "--porcelain", "--ignore-submodules=none"];
        if !Call::within(&inner).args(args).run()?.is_empty() {
            left_out.push(named(path, WhyLeftOut::Submodule));
        }
    }
    Ok(left_out)
}

fn message(
    spec: &CheckpointSpec,
    head: Option<&Commit>,
    staged: Option<&str>,
    left_out: &[LeftOut],
) -> String {
    let mut text = format!("Checkpoint {} of {}\n\n", spec.id, spec.session);
    if !left_out.is_empty() {
        text.push_str("Not in it:\n");
        for LeftOut { path, why } in left_out.iter().take(NAMES_MAX) {
            // A path may have line ends in it, which would read as trailers.
            let path = path.to_string_lossy();
            writeln!(text, "  {path:?} {}", word(*why)).expect("text takes everything");
        }
        text.push('\n');
    }
    let mut say = |name: &str, value: &str| {
        if !value.is_empty() {
            writeln!(text, "{name}: {}", value.replace(char::is_control, " "))
                .expect("text takes everything");
        }
    };
    say(ID, &spec.id);
    say(SESSION, &spec.session);
    say(STATE, &spec.state);
    say(WHY, &spec.why);
    say(JOURNAL, &spec.journal.to_string());
    say(CONVERSATION, spec.conversation.as_deref().unwrap_or_default());
    say(REQUESTS, &spec.requests.join(" "));
    say(HEAD, head.map(Commit::as_str).unwrap_or_default());
    say(STAGED, staged.unwrap_or_default());
    say(LEFT_OUT, &if left_out.is_empty() { String::new() } else { left_out.len().to_string() });
    text
}

fn word(why: WhyLeftOut) -> String {
    match why {
        WhyLeftOut::Large { bytes } => format!("({bytes} bytes)"),
        WhyLeftOut::Unreadable => "(unreadable)".to_owned(),
        WhyLeftOut::Special => "(a pipe, a socket or a device)".to_owned(),
        WhyLeftOut::Nested => "(a repository of its own)".to_owned(),
        WhyLeftOut::Submodule => "(changes in a submodule)".to_owned(),
    }
}

fn trailer<'a>(message: &'a str, name: &str) -> Option<&'a str> {
    message.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}
