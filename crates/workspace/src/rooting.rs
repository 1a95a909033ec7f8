//! The beginning of a project's history: a repository where there is none, and a root of its own for a clone of a template.
//!
//! No file of the checkout is touched, and no ref is given up before another leads to the same commit. A new repository is
//! made under another name and moved into place when its first commit is there, so that a crash leaves it or nothing.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use ostler_files::named;

use crate::{
    Commit, GitError, Repository,
    checkout::{self, Checkout, commit_tree, file, is_ancestor, resolve, tree_of},
    git::{Call, joined, text},
    pin::index_commit,
    snapshot::{Limits, Snapshot, paths},
};

/// Where everything is kept that a repository had before it was given a new root.
pub const BEFORE_INIT: &str = "refs/ostler/before-init/";

/// What a repository is called until its first commit is there.
const UNFINISHED: &str = ".git.ostler-init";

/// How many commits that only a reflog remembers are kept.
const STRAYS_MAX: usize = 10_000;

/// Work in a clone that its origin does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnWork {
    /// Commits that no branch of the origin has.
    pub commits: u64,
    /// Branches beside the one that is checked out.
    pub branches: Vec<String>,
    /// Whether something is stashed.
    pub stash: bool,
    /// Linked worktrees.
    pub worktrees: usize,
    /// Whether no branch is checked out.
    pub is_detached: bool,
    /// Something that is half done, such as a merge.
    pub unfinished: Option<&'static str>,
}

impl OwnWork {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == OwnWork::default()
    }
}

/// What decides how a project's history begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryState {
    /// The address of the remote `origin`.
    pub origin: Option<String>,
    /// Files with changes that no commit has, and files that git does not know.
    pub changes: Vec<PathBuf>,
    /// Whether there is a commit.
    pub has_commit: bool,
    /// What the origin does not have.
    pub own: OwnWork,
    /// Whether the last new root was begun and not finished.
    pub is_half_rooted: bool,
}

/// What becomes of changes that no commit has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UncommittedWork {
    /// They are in the new root.
    Include,
    /// They are not; a ref keeps them, and the files stay as they are.
    LeaveOut,
}

/// A history with a new root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRoot {
    /// The only commit of the branch.
    pub commit: Commit,
    /// The ref that leads to what the branch was; none if it was only finished.
    pub before: Option<String>,
    /// The address that `origin` had.
    pub origin: Option<String>,
}

impl Repository {
    /// What there is before a project is set up. It changes nothing.
    pub fn history_state(&self) -> Result<HistoryState, GitError> {
        let git_dir = &self.common_dir;
        let origin = Call::on(git_dir).args(["config", "--get", "remote.origin.url"]).ask()?;
        let origin = origin.map(|bytes| text(bytes, "config")).transpose()?;
        let changes = self.changed_now()?;
        let head = self.head()?;
        let branches = self.branches()?;
        let others = branches.into_iter().filter(|name| Some(name) != head.branch.as_ref());
        let commits = if head.commit.is_some() {
            let args = ["rev-list", "--count", "HEAD", "--branches", "--not", "--remotes=origin", "--"];
            let count = Call::within(self.checkout_or_fail()?).args(args).line()?;
            count.trim().parse().unwrap_or(u64::MAX)
        } else {
            0
        };
        let own = OwnWork {
            commits,
            branches: others.collect(),
            stash: resolve(git_dir, "refs/stash")?.is_some(),
            worktrees: self.worktree_count()?,
            is_detached: head.branch.is_none(),
            unfinished: self.checkout.as_ref().and_then(Checkout::unfinished),
        };
        let rooted = resolve(git_dir, &format!("{BEFORE_INIT}rooted"))?;
        let is_half_rooted = match (&rooted, &head.commit, &origin) {
            (Some(rooted), Some(head), Some(_)) => is_ancestor(git_dir, rooted, head)?,
            _ => false,
        };
        Ok(HistoryState { origin, changes, has_commit: head.commit.is_some(), own, is_half_rooted })
    }

    /// Gives the branch that is checked out a new root with the files that its last commit has, and takes `origin` away.
    /// Everything that was reachable before is so from refs below [`BEFORE_INIT`]. Repeating it finishes what was begun.
    pub fn new_root(&self, message: &str, uncommitted: UncommittedWork) -> Result<NewRoot, GitError> {
        let _lock = self.hold()?;
        let checkout = self.checkout_or_fail()?;
        let git_dir = &self.common_dir;
        let origin = Call::on(git_dir).args(["config", "--get", "remote.origin.url"]).ask()?;
        let origin = origin.map(|bytes| text(bytes, "config")).transpose()?;
        let unexpected =
            |what: &str| GitError::Unexpected { command: "symbolic-ref".to_owned(), what: what.to_owned() };
        let branch = checkout.branch()?.ok_or_else(|| unexpected("no branch is checked out"))?;
        let head = checkout.commit()?.ok_or_else(|| unexpected("there is no commit"))?;
        // A place of its own for each, so that a second one keeps the first.
        let place = format!("{BEFORE_INIT}{}/", &head.as_str()[..12]);
        let kept = format!("{place}{}", branch.trim_start_matches("refs/"));
        if resolve(git_dir, &format!("{BEFORE_INIT}rooted"))?.as_ref() == Some(&head) {
            self.drop_origin()?;
            return Ok(NewRoot { commit: head, before: None, origin });
        }
        let snapshot = Snapshot::take_within(checkout, Limits::NONE)?;
        let before = tree_of(git_dir, &head)?;
        let mut updates = self.kept_refs(&place)?;
        let is_changed = snapshot.tree != before;
        if is_changed {
            let parents = [head.clone()];
            let changes =
                commit_tree(git_dir, &snapshot.tree, &parents, "Changes before init\n", &checkout::ostler())?;
            updates.push((format!("{place}changes"), changes));
        }
        // What was staged and is otherwise in the file, or in no file at all.
        if let Some(staged) = snapshot.staged.as_ref().filter(|staged| **staged != before) {
            updates.push((format!("{place}staged"), index_commit(git_dir, staged, Some(&head))?));
        }
        let tree = match uncommitted {
            UncommittedWork::Include => &snapshot.tree,
            UncommittedWork::LeaveOut => &before,
        };
        let root = commit_tree(git_dir, tree, &[], message, &checkout.identity()?)?;
        updates.push((format!("{BEFORE_INIT}rooted"), root.clone()));
        let mut lines: Vec<String> =
            updates.iter().map(|(name, commit)| format!("update {name} {commit}\n")).collect();
        lines.push(format!("update {branch} {root} {head}\n"));
        // All or none of them, so that the branch never moves before what it was is kept.
        let args = ["update-ref", "-m", "ostler: init", "--create-reflog", "--stdin"];
        Call::on(git_dir).args(args).input(lines.concat().as_bytes()).run()?;
        if uncommitted == UncommittedWork::Include && is_changed {
            // The index says what the commit has; the files are as they were.
            Call::within(checkout).args(["read-tree", root.as_str()]).run()?;
        }
        self.drop_origin()?;
        Ok(NewRoot { commit: root, before: Some(kept), origin })
    }

    /// A ref for each that there is, and for each commit that only a reflog remembers.
    fn kept_refs(&self, place: &str) -> Result<Vec<(String, Commit)>, GitError> {
        let git_dir = &self.common_dir;
        let command = "for-each-ref";
        let args = [command, "--format=%(refname) %(objectname)", "refs/heads", "refs/remotes", "refs/tags"];
        let list = text(Call::on(git_dir).args(args).run()?, command)?;
        let mut kept = Vec::new();
        for line in list.lines() {
            if let Some((name, object)) = line.split_once(' ')
                && let Some(object) = Commit::parse(object)
            {
                kept.push((format!("{place}{}", name.trim_start_matches("refs/")), object));
            }
        }
        let command = "rev-list";
        let args = [command, "--parents", "--reflog", "--not", "--all"];
        let list = text(Call::on(git_dir).args(args).run()?, command)?;
        let is_parent: BTreeSet<&str> = list.lines().flat_map(|line| line.split(' ').skip(1)).collect();
        let tips =
            list.lines().filter_map(|line| line.split(' ').next()).filter(|it| !is_parent.contains(it));
        for (tip, number) in tips.filter_map(Commit::parse).zip(1..=STRAYS_MAX) {
            kept.push((format!("{place}reflog/{number}"), tip));
        }
        Ok(kept)
    }

    /// Takes the remote away; its refs are kept by then.
    fn drop_origin(&self) -> Result<(), GitError> {
        let known = Call::on(&self.common_dir).args(["config", "--get", "remote.origin.url"]).ask()?;
        if known.is_some() {
            Call::on(&self.common_dir).args(["remote", "remove", "origin"]).run()?;
        }
        Ok(())
    }

    fn branches(&self) -> Result<Vec<String>, GitError> {
        let command = "for-each-ref";
        let args = [command, "--format=%(refname:lstrip=2)", "refs/heads"];
        let list = text(Call::on(&self.common_dir).args(args).run()?, command)?;
        Ok(list.lines().map(str::to_owned).collect())
    }

    fn checkout_or_fail(&self) -> Result<&Checkout, GitError> {
        self.checkout.as_ref().ok_or_else(|| GitError::Unexpected {
            command: "rev-parse".to_owned(),
            what: format!("'{}' has no files", self.main_root().display()),
        })
    }

    /// Has git pass over files that are only for this machine, in every checkout of the repository.
    pub fn exclude_paths(&self, patterns: &[&str]) -> Result<(), GitError> {
        let lock = self.hold()?;
        exclude_in(&self.common_dir, patterns)?;
        drop(lock);
        Ok(())
    }
}

/// The files of a directory outside of git that would be in its first commit, by the ignore files in it.
pub fn files_to_commit(directory: &Path) -> Result<Vec<PathBuf>, GitError> {
    let scratch = Unfinished::make(directory)?;
    let args = ["ls-files", "--others", "--exclude-standard", "-z"];
    Ok(paths(&scratch.call(directory).args(args).run()?))
}

/// Makes a repository of a directory, with everything in it as its first commit, apart from some files.
pub fn make_repository(
    directory: &Path,
    message: &str,
    without: &BTreeSet<PathBuf>,
) -> Result<Repository, GitError> {
    let unfinished = Unfinished::make(directory)?;
    let mut args: Vec<std::ffi::OsString> = ["add", "--all", "--", "."].map(Into::into).to_vec();
    args.extend(without.iter().map(|path| joined(":(exclude,literal)", path)));
    unfinished.call(directory).args(args).run()?;
    // Without this setting git invents an address from the name of the machine.
    let probe = ["-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"];
    let is_known = unfinished.call(directory).args(probe).output()?.status.success();
    let identity = if is_known { Vec::new() } else { checkout::ostler() };
    let args = ["commit", "--quiet", "--allow-empty", "--no-verify", "-m", message];
    unfinished.call(directory).args(args).envs(&identity).run()?;
    let place = directory.join(".git");
    fs::rename(&unfinished.path, &place).map_err(|source| file(&place, source))?;
    ostler_files::sync_directory(directory).map_err(|source| file(directory, source))?;
    let found = Repository::find(directory)?;
    found.ok_or_else(|| file(&place, io::Error::from(io::ErrorKind::NotFound)))
}

/// A repository that is not in its place yet.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Anew: what a crash left holds nothing but copies.
    fn make(directory: &Path) -> Result<Unfinished, GitError> {
        let path = directory.join(UNFINISHED);
        match fs::remove_dir_all(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(file(&path, source)),
            _ => {}
        }
        let name = path.as_os_str();
        Call::at(directory).args(["init".as_ref(), "--quiet".as_ref(), "--bare".as_ref(), name]).run()?;
        for (key, value) in [("core.bare", "false"), ("core.logAllRefUpdates", "true")] {
            Call::blind(&path).args(["config", key, value]).run()?;
        }
        exclude_in(&path, &[UNFINISHED])?;
        Ok(Unfinished { path })
    }

    fn call<'a>(&'a self, directory: &'a Path) -> Call<'a> {
        Call::beside(&self.path, directory)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // It has been moved, or holds nothing but copies; what stays is removed by whoever comes next.
        fs::remove_dir_all(&self.path).ok();
    }
}

/// Adds lines to the list of what git passes over, each once.
fn exclude_in(git_dir: &Path, patterns: &[&str]) -> Result<(), GitError> {
    const BYTES_MAX: u64 = 1 << 20;
    let path = git_dir.join("info/exclude");
    let failed = |source| file(&path, source);
    let before = match named::read(&path, BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(source) => return Err(failed(source)),
    };
    let known: BTreeSet<&[u8]> = before.split(|byte| *byte == b'\n').collect();
    let missing: Vec<&&str> = patterns.iter().filter(|it| !known.contains(it.as_bytes())).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut after = before.clone();
    if after.last().is_some_and(|last| *last != b'\n') {
        after.push(b'\n');
    }
    for pattern in missing {
        after.extend_from_slice(pattern.as_bytes());
        after.push(b'\n');
    }
    let info = git_dir.join("info");
    fs::create_dir_all(&info).map_err(failed)?;
    let draft = info.join("exclude.ostler");
    let written = named::create(&draft).and_then(|mut draft| {
        io::Write::write_all(&mut draft, &after)?;
        draft.sync_all()
    });
    written.and_then(|()| fs::rename(&draft, &path)).map_err(failed)
}
