//! Makes the worktree of a session, or finishes making it.
//!
//! What a worktree began from is decided once, by one ref that is only ever created: a commit below
//! `refs/ostler/worktrees/` whose parent is the base and whose message names the branch to merge into. Whoever
//! calls again after a crash goes by it, whatever has been checked out meanwhile. A mark in the worktree's git
//! directory, on disk before anybody is told, says that the files are complete; only without it are they thrown away.

use std::{
    fs::{self, DirBuilder, File},
    io::{self, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use ostler_files::{named, sync_directory};

use crate::{
    Commit, GitError, Head, MakeError, Repository,
    checkout::{
        self, Checkout, LINK_BYTES_MAX, commit_tree, file, is_empty, read_file, resolve, tree_of, update_ref,
    },
    git::{Call, text},
};

const TARGET: &str = "Target: ";

/// What is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeSpec {
    /// Where: an absolute path in Ostler's own state. What is missing of it is made, for this user alone.
    pub path: PathBuf,
    /// The branch to make, such as `ostler/s_12`.
    pub branch: String,
    /// The commit to begin from; the one that is checked out if none is given.
    pub base: Option<Commit>,
    /// The branch to merge into, and to begin from where no commit is given; the one that is checked out if none is given.
    pub target: Option<String>,
}

/// The worktree of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// Its directory.
    pub path: PathBuf,
    /// Its branch, without `refs/heads/`.
    pub branch: String,
    /// The commit that it began from.
    pub base: Commit,
    /// The branch that it is merged into: the one that was asked for, or that was checked out then; none on a detached HEAD.
    pub target: Option<String>,
}

impl Worktree {
    /// The full name of its branch.
    pub(crate) fn reference(&self) -> String {
        format!("refs/heads/{}", self.branch)
    }

    /// The ref that remembers where it came from.
    pub(crate) fn record(&self) -> String {
        record(&self.branch)
    }
}

impl Repository {
    /// Makes a worktree, or finishes one that was begun by the same call before. One that is complete is left alone.
    pub fn make_worktree(&self, spec: &WorktreeSpec) -> Result<Worktree, MakeError> {
        self.check_branch_name(&spec.branch)?;
        let path = make_parent(&spec.path)?;
        let lock = self.hold()?;
        let worktree = match self.worktree(&path, &spec.branch)? {
            Some(worktree) => worktree,
            None => self.decide(spec, path)?,
        };
        if spec.base.as_ref().is_some_and(|base| *base != worktree.base) {
            return Err(MakeError::OtherBase { branch: worktree.branch });
        }
        if let Some(git_dir) = self.registration(&worktree.path)? {
            let checkout = Checkout { git_dir, root: worktree.path.clone() };
            match read_mark(&checkout.git_dir)? {
                Some(branch) if branch == worktree.branch && checkout.root.exists() => return Ok(worktree),
                Some(branch) if branch == worktree.branch => {}
                // Git was killed half-way. Nobody was told of these files, so nobody has worked in them. Git holds
                // a lock while it makes a worktree.
                None if is_being_made(&checkout.git_dir)
                    || checkout.branch()? == Some(worktree.reference()) =>
                {
                    remove_directory(&checkout.root)?;
                }
                _ => return Err(MakeError::PathTaken { path: worktree.path }),
            }
            self.forget(&worktree.path, &lock)?;
        }
        self.add(&worktree, &lock)?;
        Ok(worktree)
    }

    /// A worktree that was made before, from what the repository remembers; none if there was none of this branch.
    pub fn worktree(&self, path: &Path, branch: &str) -> Result<Option<Worktree>, GitError> {
        let Some(record) = resolve(&self.common_dir, &record(branch))? else { return Ok(None) };
        let command = "log";
        let args = [command, "-1", "--format=%P%n%B", record.as_str(), "--"];
        let text = text(Call::on(&self.common_dir).args(args).run()?, command)?;
        let base = checkout::commit(text.lines().next().unwrap_or_default(), command)?;
        let target = text.lines().find_map(|line| line.strip_prefix(TARGET)).map(str::to_owned);
        Ok(Some(Worktree { path: path.to_owned(), branch: branch.to_owned(), base, target }))
    }

    /// Settles what a new worktree begins from.
    fn decide(&self, spec: &WorktreeSpec, path: PathBuf) -> Result<Worktree, MakeError> {
        self.check_branch_free(&spec.branch)?;
        if path.exists() && !(path.is_dir() && is_empty(&path)?) {
            return Err(MakeError::PathTaken { path });
        }
        let head = match &spec.target {
            Some(target) => self.head_of_branch(target)?,
            None => self.head()?,
        };
        let Some(base) = spec.base.clone().or(head.commit) else {
            return Err(MakeError::NoCommits { repository: self.main_root().to_owned() });
        };
        let tree = tree_of(&self.common_dir, &base)?;
        let target = head.branch.as_ref().map(|target| format!("\n{TARGET}{target}\n"));
        let message = format!("Worktree of {}\n{}", spec.branch, target.unwrap_or_default());
        let parents = [base.clone()];
        let commit = commit_tree(&self.common_dir, &tree, &parents, &message, &checkout::ostler())?;
        update_ref(&self.common_dir, &record(&spec.branch), &commit, None, "ostler: worktree")?;
        Ok(Worktree { path, branch: spec.branch.clone(), base, target: head.branch })
    }

    /// A branch as if it were checked out.
    fn head_of_branch(&self, branch: &str) -> Result<Head, MakeError> {
        let commit = resolve(&self.common_dir, &format!("refs/heads/{branch}"))?;
        if commit.is_none() {
            return Err(MakeError::TargetGone { branch: branch.to_owned() });
        }
        Ok(Head { branch: Some(branch.to_owned()), commit })
    }

    /// Branch, registration, files, mark.
    fn add(&self, worktree: &Worktree, lock: &File) -> Result<(), MakeError> {
        if worktree.path.exists() && !(worktree.path.is_dir() && is_empty(&worktree.path)?) {
            return Err(MakeError::PathTaken { path: worktree.path.clone() });
        }
        if resolve(&self.common_dir, &worktree.reference())?.is_none() {
            let why = "ostler: worktree";
            update_ref(&self.common_dir, &worktree.reference(), &worktree.base, None, why)?;
        }
        make_directory(&worktree.path)?;
        let args = ["worktree", "add", "--quiet", "--no-guess-remote", "--"];
        let call = Call::on(&self.common_dir).args(args).args([&worktree.path]).args([&worktree.branch]);
        call.holding(lock).run()?;
        let missing = || GitError::NoWorktree { path: worktree.path.clone() };
        let git_dir = self.registration(&worktree.path)?.ok_or_else(missing)?;
        write_mark(&git_dir, &worktree.branch)?;
        Ok(())
    }

    /// Removes the registration of exactly this path, whose files are gone.
    pub(crate) fn forget(&self, path: &Path, lock: &File) -> Result<(), GitError> {
        // Twice: git locks a worktree while it makes it.
        let args = ["worktree", "remove", "--force", "--force", "--"];
        Call::on(&self.common_dir).args(args).args([path]).holding(lock).run().map(drop)
    }

    fn check_branch_name(&self, branch: &str) -> Result<(), MakeError> {
        let is_name = self.is_branch_name(branch)?;
        if is_name { Ok(()) } else { Err(MakeError::BranchName { branch: branch.to_owned() }) }
    }

    /// Whether a branch can have this name, and nothing else is meant by it.
    pub(crate) fn is_branch_name(&self, branch: &str) -> Result<bool, GitError> {
        let reference = format!("refs/heads/{branch}");
        let is_plain = !branch.starts_with('-') && branch != "HEAD";
        Ok(is_plain && Call::on(&self.common_dir).args(["check-ref-format", &reference]).ask()?.is_some())
    }

    /// Neither the branch, nor one above it such as `ostler`, nor one below it.
    fn check_branch_free(&self, branch: &str) -> Result<(), MakeError> {
        let above = branch.match_indices('/').map(|(at, _)| &branch[..at]);
        for name in above.chain([branch]) {
            if resolve(&self.common_dir, &format!("refs/heads/{name}"))?.is_some() {
                return Err(MakeError::BranchTaken { branch: name.to_owned() });
            }
        }
        let args = ["for-each-ref", "--count=1", "--format=%(refname:lstrip=2)"];
        let below = Call::on(&self.common_dir).args(args).args([format!("refs/heads/{branch}/")]).line()?;
        if below.is_empty() { Ok(()) } else { Err(MakeError::BranchTaken { branch: below }) }
    }
}

fn record(branch: &str) -> String {
    format!("refs/ostler/worktrees/{branch}")
}

/// The path with everything above its last name resolved, which is how git will know it.
fn make_parent(path: &Path) -> Result<PathBuf, MakeError> {
    let (Some(parent), Some(name), true) = (path.parent(), path.file_name(), path.is_absolute()) else {
        return Err(MakeError::Path { path: path.to_owned() });
    };
    make_directory(parent)?;
    let parent = parent.canonicalize().map_err(|source| file(parent, source))?;
    Ok(parent.join(name))
}

fn make_directory(path: &Path) -> Result<(), GitError> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|source| file(path, source))
}

/// The branch that a complete worktree was made for.
pub(crate) fn read_mark(git_dir: &Path) -> Result<Option<String>, GitError> {
    let path = git_dir.join("ostler");
    match read_file(&path, LINK_BYTES_MAX) {
        Ok(branch) => Ok(Some(String::from_utf8_lossy(&branch).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(file(&path, source)),
    }
}

/// Whether git is making a worktree here, or was killed while it did: it locks the worktree for that time.
pub(crate) fn is_being_made(git_dir: &Path) -> bool {
    read_file(&git_dir.join("locked"), LINK_BYTES_MAX)
        .is_ok_and(|reason| reason.trim_ascii() == b"initializing")
}

fn write_mark(git_dir: &Path, branch: &str) -> Result<(), GitError> {
    let (new, path) = (git_dir.join("ostler.new"), git_dir.join("ostler"));
    let write = || {
        let mut file = named::create(&new)?;
        file.write_all(branch.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        sync_directory(git_dir)
    };
    write().map_err(|source| file(&path, source))
}

pub(crate) fn remove_directory(path: &Path) -> Result<(), GitError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(file(path, error)),
        _ => Ok(()),
    }
}
