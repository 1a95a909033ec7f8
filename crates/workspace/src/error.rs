//! Why something could not be done, one enum per operation. Each message says what to do where there is something
//! to do.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    process::ExitStatus,
    time::Duration,
};

use crate::{CheckpointOutcome, Commit, Program, programs::shown};

/// Git could not be asked, or did not do as it was told.
#[derive(Debug)]
pub enum GitError {
    /// Git could not be started.
    Start {
        /// Why not.
        source: io::Error,
    },
    /// Git was started, and then the pipes to it failed.
    Talk {
        /// The command.
        command: String,
        /// Why.
        source: io::Error,
    },
    /// Git is too old.
    TooOld {
        /// What it says about itself.
        found: String,
    },
    /// Git refused or failed.
    Failed {
        /// The command.
        command: String,
        /// Where it ran.
        directory: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// What it said.
        stderr: String,
    },
    /// Git took longer than it may, and was ended with everything that it had started.
    Late {
        /// The command.
        command: String,
        /// Where it ran.
        directory: PathBuf,
        /// How long it was given.
        after: Duration,
    },
    /// Git answered something that cannot be used.
    Unexpected {
        /// The command.
        command: String,
        /// What it answered.
        what: String,
    },
    /// A file or directory could not be read, made or moved.
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another operation on the same repository goes on and does not end.
    Busy {
        /// The lock that it holds.
        path: PathBuf,
    },
    /// The worktree is not there any more.
    NoWorktree {
        /// Where it was.
        path: PathBuf,
    },
    /// The configuration of the repository would have git run programs that nobody has agreed to. Nothing was run.
    Untrusted {
        /// The repository, as a person knows it.
        repository: PathBuf,
        /// What git would run; at least one.
        programs: Vec<Program>,
    },
    /// The configuration says that the files of a directory are somewhere else.
    Elsewhere {
        /// The directory.
        directory: PathBuf,
        /// Where they would be.
        root: PathBuf,
    },
    /// A worktree's side of the repository leads to another repository.
    Misled {
        /// The worktree's git directory.
        path: PathBuf,
        /// Where it leads.
        to: PathBuf,
    },
}

impl fmt::Display for GitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GitError::Start { source } => write!(f, "cannot start git: {source}"),
            GitError::Talk { command, source } => write!(f, "cannot talk to git {command}: {source}"),
            GitError::TooOld { found } => write!(f, "git 2.38 or later is needed, and this is '{found}'"),
            GitError::Failed { command, directory, status, stderr } => {
                write!(f, "git {command} in '{}' failed ({status}): {stderr}", directory.display())
            }
            GitError::Late { command, directory, after } => write!(
                f,
                "git {command} in '{}' took longer than {} s and was ended: something keeps it waiting, such as a \
                 pipe in place of a file",
                directory.display(),
                after.as_secs_f64()
            ),
            GitError::Unexpected { command, what } => write!(f, "git {command} answered '{what}'"),
            GitError::File { path, source } => write!(f, "cannot use '{}': {source}", path.display()),
            GitError::Busy { path } => {
                write!(f, "another operation on this repository goes on: it holds '{}'", path.display())
            }
            GitError::NoWorktree { path } => write!(f, "there is no worktree at '{}'", path.display()),
            GitError::Untrusted { repository, programs } => untrusted(f, repository, programs),
            GitError::Elsewhere { directory, root } => write!(
                f,
                "the repository of '{}' says that its files are in '{}': look at core.worktree in its configuration",
                directory.display(),
                root.display()
            ),
            GitError::Misled { path, to } => {
                write!(f, "'{}' leads to another repository, '{}'", path.display(), to.display())
            }
        }
    }
}

impl std::error::Error for GitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            GitError::Start { source } | GitError::Talk { source, .. } | GitError::File { source, .. } => {
                Some(source)
            }
            _ => None,
        }
    }
}

/// A worktree could not be made.
#[derive(Debug)]
pub enum MakeError {
    /// Git could not do it.
    Git(GitError),
    /// There is no commit to begin from.
    NoCommits {
        /// The repository.
        repository: PathBuf,
    },
    /// The name cannot be that of a branch.
    BranchName {
        /// The name.
        branch: String,
    },
    /// The branch, or one that stands in its way, exists and is somebody else's.
    BranchTaken {
        /// The branch that exists.
        branch: String,
    },
    /// Something else is at the path.
    PathTaken {
        /// The path.
        path: PathBuf,
    },
    /// The worktree was made before from another commit.
    OtherBase {
        /// The branch.
        branch: String,
    },
    /// The branch to begin from and to merge into is gone.
    TargetGone {
        /// The branch.
        branch: String,
    },
    /// The path is not absolute, or has no name at its end.
    Path {
        /// The path.
        path: PathBuf,
    },
}

impl fmt::Display for MakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MakeError::Git(source) => source.fmt(f),
            MakeError::NoCommits { repository } => write!(
                f,
                "'{}' has no commit to begin a worktree from: make one first, for example with git commit --allow-empty -m start",
                repository.display()
            ),
            MakeError::BranchName { branch } => write!(f, "'{branch}' cannot be the name of a branch"),
            MakeError::BranchTaken { branch } => {
                write!(f, "there is a branch '{branch}' already: rename it, or choose another name")
            }
            MakeError::PathTaken { path } => write!(f, "something else is at '{}'", path.display()),
            MakeError::OtherBase { branch } => {
                write!(f, "the worktree of '{branch}' was made before, from another commit")
            }
            MakeError::TargetGone { branch } => {
                write!(f, "there is no branch '{branch}' to begin a worktree from")
            }
            MakeError::Path { path } => {
                write!(f, "'{}' is no absolute path to make a worktree at", path.display())
            }
        }
    }
}

impl std::error::Error for MakeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let MakeError::Git(source) = self { Some(source) } else { None }
    }
}

impl From<GitError> for MakeError {
    fn from(source: GitError) -> MakeError {
        MakeError::Git(source)
    }
}

/// A merge could not be done.
#[derive(Debug)]
pub enum MergeError {
    /// Git could not do it.
    Git(GitError),
    /// Another git holds the index, or was killed while it did.
    IndexLocked {
        /// The lock.
        path: PathBuf,
    },
    /// A merge, rebase or the like is half done.
    Unfinished {
        /// The checkout.
        path: PathBuf,
        /// The file that says so.
        what: String,
    },
    /// The worktree is not on its own branch.
    OffBranch {
        /// The worktree.
        path: PathBuf,
        /// Its branch.
        branch: String,
        /// The branch that it is on; none if it is on none.
        on: Option<String>,
    },
    /// The branch of the worktree is not where it was seen.
    BranchMoved {
        /// The branch.
        branch: String,
    },
    /// No branch is known to merge into.
    NoTarget,
    /// The branch to merge into does not exist.
    TargetGone {
        /// The branch.
        branch: String,
    },
    /// The branch to merge into is checked out somewhere else.
    TargetElsewhere {
        /// The branch.
        branch: String,
        /// Where.
        path: PathBuf,
    },
    /// The branch to merge into, or its checkout, changed while the merge was under way.
    TargetMoved {
        /// The branch.
        branch: String,
    },
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Git(source) => source.fmt(f),
            MergeError::IndexLocked { path } => index_locked(f, path),
            MergeError::Unfinished { path, what } => {
                write!(f, "something is half done in '{}' ({what}): finish or abort it first", path.display())
            }
            MergeError::OffBranch { path, branch, on } => {
                let on = on.as_deref().unwrap_or("no branch");
                write!(f, "'{}' is on {on}, not on its branch {branch}: switch back first", path.display())
            }
            MergeError::BranchMoved { branch } => {
                write!(f, "'{branch}' has changed since it was looked at: look again")
            }
            MergeError::NoTarget => {
                f.write_str("the worktree did not begin on a branch: name one to merge into")
            }
            MergeError::TargetGone { branch } => write!(f, "there is no branch '{branch}' to merge into"),
            MergeError::TargetElsewhere { branch, path } => {
                write!(f, "'{branch}' is checked out in '{}': merge there, or free it first", path.display())
            }
            MergeError::TargetMoved { branch } => {
                write!(f, "'{branch}' changed while the merge was under way: merge again")
            }
        }
    }
}

impl std::error::Error for MergeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let MergeError::Git(source) = self { Some(source) } else { None }
    }
}

impl From<GitError> for MergeError {
    fn from(source: GitError) -> MergeError {
        MergeError::Git(source)
    }
}

/// A worktree could not be removed. Its work is where it was.
#[derive(Debug)]
pub enum RemoveError {
    /// Git could not do it.
    Git(GitError),
    /// Another git holds the index, or was killed while it did.
    IndexLocked {
        /// The lock.
        path: PathBuf,
    },
    /// Somebody locked the worktree with git.
    WorktreeLocked {
        /// The worktree.
        path: PathBuf,
        /// The reason that was given.
        reason: String,
    },
    /// Processes are at work in it.
    Processes {
        /// The worktree.
        path: PathBuf,
        /// Their ids.
        pids: Vec<u32>,
    },
    /// There are repositories inside it with work that no other place has.
    Nested {
        /// The repositories, relative to the worktree.
        paths: Vec<PathBuf>,
    },
    /// Its branch is checked out somewhere else too.
    BranchElsewhere {
        /// The branch.
        branch: String,
        /// Where.
        path: PathBuf,
    },
    /// The branch has commits that its target has not.
    NotMerged {
        /// The branch.
        branch: String,
    },
    /// Files are there, but git does not know the worktree any more.
    Unregistered {
        /// The directory.
        path: PathBuf,
    },
    /// There is no such worktree, and there was none.
    Unknown {
        /// Its branch.
        branch: String,
    },
    /// A removal was begun before, and since then something new appeared at the path.
    InTheWay {
        /// The directory that was moved aside.
        path: PathBuf,
    },
}

impl fmt::Display for RemoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemoveError::Git(source) => source.fmt(f),
            RemoveError::IndexLocked { path } => index_locked(f, path),
            RemoveError::WorktreeLocked { path, reason } => {
                write!(f, "'{}' is locked ({reason}): git worktree unlock frees it", path.display())
            }
            RemoveError::Processes { path, pids } => {
                write!(f, "processes are at work in '{}': {pids:?}", path.display())
            }
            RemoveError::Nested { paths } => write!(
                f,
                "there are repositories inside with work of their own, which would be lost: {paths:?}; move them away first"
            ),
            RemoveError::BranchElsewhere { branch, path } => {
                write!(f, "'{branch}' is checked out in '{}' too", path.display())
            }
            RemoveError::NotMerged { branch } => {
                write!(f, "'{branch}' has commits that are not merged: merge or discard it")
            }
            RemoveError::Unregistered { path } => write!(
                f,
                "'{}' holds files, but git does not know it as a worktree: git worktree repair may help",
                path.display()
            ),
            RemoveError::Unknown { branch } => write!(f, "there is no worktree of '{branch}'"),
            RemoveError::InTheWay { path } => {
                write!(
                    f,
                    "'{}' was moved aside to be removed, and something new is at its place",
                    path.display()
                )
            }
        }
    }
}

impl std::error::Error for RemoveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        if let RemoveError::Git(source) = self { Some(source) } else { None }
    }
}

impl From<GitError> for RemoveError {
    fn from(source: GitError) -> RemoveError {
        RemoveError::Git(source)
    }
}

/// Files could not be brought back to a checkpoint. Unless it says otherwise, all are as they were.
#[derive(Debug)]
pub enum RestoreError {
    /// Git could not do it.
    Git(GitError),
    /// The checkpoint is not there any more.
    Gone {
        /// Its commit.
        commit: Commit,
    },
    /// Another git holds the index, or was killed or stopped while it did.
    IndexLocked {
        /// The lock.
        path: PathBuf,
    },
    /// A merge, rebase or the like is half done.
    Unfinished {
        /// The checkout.
        path: PathBuf,
        /// The file that says so.
        what: String,
    },
    /// Something would be lost, or somebody wrote meanwhile.
    InTheWay {
        /// What it is, or git's words.
        message: String,
    },
    /// Git has begun to exchange files, and could not go on. Some are changed.
    HalfDone {
        /// In git's words.
        message: String,
        /// The files that are not as they were; none if that cannot be told.
        changed: Vec<PathBuf>,
    },
    /// The files are back, but what was staged is not.
    Index {
        /// Why not.
        source: GitError,
    },
}

/// Files could not be brought back, and this is what is kept of what stood there.
#[derive(Debug)]
pub struct NotRestored {
    /// Why not.
    pub error: RestoreError,
    /// What stood there; none if nothing was kept, and so nothing touched.
    pub before: Option<Box<CheckpointOutcome>>,
}

impl fmt::Display for NotRestored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for NotRestored {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<RestoreError> for NotRestored {
    fn from(error: RestoreError) -> NotRestored {
        NotRestored { error, before: None }
    }
}

impl From<GitError> for NotRestored {
    fn from(source: GitError) -> NotRestored {
        RestoreError::Git(source).into()
    }
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RestoreError::Git(source) => source.fmt(f),
            RestoreError::Gone { commit } => write!(f, "the repository has no commit {commit} any more"),
            RestoreError::IndexLocked { path } => index_locked(f, path),
            RestoreError::Unfinished { path, what } => {
                write!(f, "something is half done in '{}' ({what}): finish or abort it first", path.display())
            }
            RestoreError::InTheWay { message } => {
                write!(f, "something is in the way, and nothing was changed: {message}")
            }
            RestoreError::HalfDone { message, changed } if changed.is_empty() => {
                write!(f, "git stopped half-way, and some files may be changed: {message}")
            }
            RestoreError::HalfDone { message, changed } => {
                let are = if changed.len() == 1 { "file is" } else { "files are" };
                write!(f, "git stopped half-way, and {} {are} changed: {message}", changed.len())
            }
            RestoreError::Index { source } => {
                write!(f, "the files are back, but what was staged is not: {source}")
            }
        }
    }
}

impl std::error::Error for RestoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RestoreError::Git(source) | RestoreError::Index { source } => Some(source),
            _ => None,
        }
    }
}

impl From<GitError> for RestoreError {
    fn from(source: GitError) -> RestoreError {
        RestoreError::Git(source)
    }
}

/// The first one whole, so that the message fits a line; `ostler trust` shows all.
fn untrusted(f: &mut fmt::Formatter<'_>, repository: &Path, programs: &[Program]) -> fmt::Result {
    let repository = shown(&repository.to_string_lossy());
    write!(f, "the configuration of '{repository}' would have git run a program: ")?;
    if let Some(first) = programs.first() {
        write!(f, "{first}")?;
    }
    if programs.len() > 1 {
        write!(f, ", and {} more", programs.len() - 1)?;
    }
    write!(f, "; nothing was run. See `ostler trust {repository}`")
}

fn index_locked(f: &mut fmt::Formatter<'_>, path: &Path) -> fmt::Result {
    write!(
        f,
        "'{}' exists: another git is at work there, or one was killed; remove the file if none runs",
        path.display()
    )
}
