//! Finds the repository that a directory belongs to, and knows all its checkouts.
//!
//! A project is its main repository: a linked worktree of it leads to the same place. One operation that changes
//! something runs at a time, kept by a lock that also outlives a server that was killed while its git still runs.

use std::{
    ffi::OsStr,
    fs::{self, File, TryLockError},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    Commit, GitError, Program,
    checkout::{self, Checkout, LINK_BYTES_MAX, file, read_file},
    git::{Call, text},
    guard::{self, GitDir, Owner},
};

/// The oldest git that can merge without touching files.
const VERSION_MIN: (u32, u32) = (2, 38);
/// Many sessions may begin at once in a repository whose checkout takes its time. It is less than an answer waits for
/// a checkpoint.
const LOCK_WAIT_MAX: Duration = Duration::from_mins(4);
const LOCK_POLL: Duration = Duration::from_millis(20);

/// What git says of a directory that belongs to no repository.
const OUTSIDE: &str = "not a git repository";

/// A repository, seen from one of its directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The git directory that all checkouts share.
    pub(crate) common_dir: GitDir,
    main_root: PathBuf,
    /// The git directory of the checkout that it is seen from.
    git_dir: GitDir,
    /// The checkout that it is seen from; a bare repository has none.
    pub(crate) checkout: Option<Checkout>,
}

/// What is checked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The branch, without `refs/heads/`; none on a detached HEAD.
    pub branch: Option<String>,
    /// The commit; none before the first one.
    pub commit: Option<Commit>,
}

impl Repository {
    /// The repository that a directory belongs to; none outside of git.
    pub fn find(directory: &Path) -> Result<Option<Repository>, GitError> {
        // Git would be said to be missing when it is the directory.
        let directory = directory.canonicalize().map_err(|source| file(directory, source))?;
        if directory.ancestors().all(cannot_be_git) {
            return Ok(None);
        }
        check_version(&directory)?;
        guard::look_ahead(&directory)?;
        // The usual case with one call of git instead of four: a checkout, with no line end in a path.
        let wanted = ["--path-format=absolute", "--git-dir", "--git-common-dir", "--show-toplevel"];
        let output = Call::at(&directory).args(["rev-parse"].iter().chain(&wanted)).output()?;
        if !output.status.success() && output.stderr.contains(OUTSIDE) {
            return Ok(None);
        }
        let lines: Vec<&[u8]> = output.stdout.split_inclusive(|&byte| byte == b'\n').collect();
        if let (true, [git_dir, common_dir, root]) = (output.status.success(), lines.as_slice()) {
            return Repository::of_checkout(&directory, [git_dir, common_dir, root]).map(Some);
        }
        let call = Call::at(&directory).args(["rev-parse", "--absolute-git-dir"]);
        let output = call.output()?;
        if !output.status.success() {
            return if output.stderr.contains(OUTSIDE) { Ok(None) } else { Err(call.failed(&output)) };
        }
        let git_dir = path(output.stdout);
        let ask = |args: &[&str]| Call::at(&directory).args(["rev-parse"].iter().chain(args)).run().map(path);
        let common_dir = ask(&["--path-format=absolute", "--git-common-dir"])?;
        let canonical = |path: &Path| path.canonicalize().map_err(|source| file(path, source));
        let (git_dir, common_dir) = (canonical(&git_dir)?, canonical(&common_dir)?);
        let main_root = main_root(&common_dir)?;
        let checkout = if ask(&["--is-inside-work-tree"])? == Path::new("true") {
            Some((git_dir.clone(), canonical(&ask(&["--show-toplevel"])?)?))
        } else {
            // Somebody stands in `.git` itself.
            let root = Some(main_root.clone()).filter(|root| *root != common_dir);
            root.map(|root| (common_dir.clone(), root))
        };
        Repository::of(&directory, git_dir, common_dir, main_root, checkout).map(Some)
    }

    /// From what git says of a checkout: its git directory, the one that all share, and its root, a line each.
    fn of_checkout(directory: &Path, lines: [&[u8]; 3]) -> Result<Repository, GitError> {
        let canonical = |line: &[u8]| {
            let path = path(line.to_vec());
            path.canonicalize().map_err(|source| file(&path, source))
        };
        let [git_dir, common_dir, root] = lines.map(canonical);
        let (git_dir, common_dir, root) = (git_dir?, common_dir?, root?);
        // The checkout in which the git directory of all lies is the main one, and there is nothing to ask.
        let is_main = git_dir == common_dir && common_dir == root.join(".git");
        let main_root = if is_main { root.clone() } else { main_root(&common_dir)? };
        let checkout = Some((git_dir.clone(), root));
        Repository::of(directory, git_dir, common_dir, main_root, checkout)
    }

    fn of(
        directory: &Path,
        git_dir: PathBuf,
        common_dir: PathBuf,
        main_root: PathBuf,
        checkout: Option<(PathBuf, PathBuf)>,
    ) -> Result<Repository, GitError> {
        if let Some((_, root)) = &checkout
            && ![root, &git_dir, &common_dir].iter().any(|place| directory.starts_with(place))
        {
            // Its configuration would have Ostler work on files that are none of its own.
            return Err(GitError::Elsewhere { directory: directory.to_owned(), root: root.clone() });
        }
        let came_in = if checkout.is_none() { guard::carrier(&common_dir)? } else { None };
        let root = checkout.as_ref().map_or(&main_root, |(_, root)| root).clone();
        let owner = Owner { root, common_dir: common_dir.clone(), came_in, ..Owner::default() };
        let common_dir = GitDir::of(&Arc::new(owner), common_dir);
        let checkout =
            checkout.map(|(git_dir, root)| Checkout { git_dir: common_dir.sibling(git_dir), root });
        let git_dir = checkout
            .as_ref()
            .map_or_else(|| common_dir.sibling(git_dir), |checkout| checkout.git_dir.clone());
        Ok(Repository { common_dir, main_root, git_dir, checkout })
    }

    /// The same repository, in which these may run: fingerprints of programs that a person has agreed to.
    #[must_use]
    pub fn trusting(mut self, fingerprints: impl IntoIterator<Item = String>) -> Repository {
        let Owner { root, common_dir, came_in, .. } = &**self.common_dir.owner();
        let trusted = fingerprints.into_iter().collect();
        let (root, common_dir, came_in) = (root.clone(), common_dir.clone(), came_in.clone());
        let owner = Arc::new(Owner { root, common_dir, came_in, trusted });
        let again = |git_dir: &GitDir| GitDir::of(&owner, git_dir.to_path_buf());
        self.git_dir = again(&self.git_dir);
        if let Some(checkout) = &mut self.checkout {
            checkout.git_dir = again(&checkout.git_dir);
        }
        self.common_dir = again(&self.common_dir);
        self
    }

    /// Everything that git would run here because the repository says so, and not the user: that of its submodules
    /// too. To ask runs nothing.
    pub fn programs(&self) -> Result<Vec<Program>, GitError> {
        let mut found = self.git_dir.programs()?;
        if let Some(checkout) = &self.checkout {
            let submodules = guard::submodules_in(checkout)?;
            found.extend(guard::programs_of_submodules(checkout, &submodules)?);
        }
        found.sort();
        found.dedup_by_key(|program| program.fingerprint());
        Ok(found)
    }

    /// Refuses where git would run something that nobody has agreed to.
    pub fn check_trust(&self) -> Result<(), GitError> {
        self.git_dir.check()?;
        match &self.checkout {
            Some(checkout) => guard::check_submodules(checkout, &guard::submodules_in(checkout)?),
            None => Ok(()),
        }
    }

    /// The root of the main checkout, which is what a project is known by. For a repository without one, such as a
    /// bare one, its git directory.
    pub fn main_root(&self) -> &Path {
        &self.main_root
    }

    /// The root of the checkout that the directory lies in. For a bare repository, its git directory.
    pub fn directory_root(&self) -> &Path {
        self.checkout.as_ref().map_or(&self.main_root, |checkout| &checkout.root)
    }

    /// What is checked out where the directory lies.
    pub fn head(&self) -> Result<Head, GitError> {
        Ok(Head { branch: self.branch()?, commit: checkout::resolve(&self.git_dir, "HEAD")? })
    }

    /// The branch alone, without `refs/heads/`; none on a detached HEAD.
    pub fn branch(&self) -> Result<Option<String>, GitError> {
        let full = checkout::branch(&self.git_dir)?;
        Ok(full.and_then(|full| full.strip_prefix("refs/heads/").map(str::to_owned)))
    }

    /// How many linked worktrees there are, whether or not their files are still there.
    pub(crate) fn worktree_count(&self) -> Result<usize, GitError> {
        Ok(self.registrations()?.len())
    }

    /// The repository's side of the worktree at a path.
    pub(crate) fn registration(&self, path: &Path) -> Result<Option<GitDir>, GitError> {
        let found = self.registrations()?.into_iter().find(|(_, root)| root == path);
        Ok(found.map(|(git_dir, _)| git_dir))
    }

    /// Where a branch is checked out, apart from the checkout of one git directory. A branch that is being rebased
    /// counts.
    pub(crate) fn checked_out_at(
        &self,
        reference: &str,
        but: Option<&Path>,
    ) -> Result<Option<PathBuf>, GitError> {
        let mut places = self.registrations()?;
        if !is_bare(&self.common_dir)? {
            places.push((self.common_dir.clone(), self.main_root.clone()));
        }
        for (git_dir, root) in places {
            if Some(&*git_dir) != but && occupies(&git_dir, reference)? {
                return Ok(Some(root));
            }
        }
        Ok(None)
    }

    /// Git directory and root of each linked worktree, whether or not its files are still there.
    fn registrations(&self) -> Result<Vec<(GitDir, PathBuf)>, GitError> {
        let folder = self.common_dir.join("worktrees");
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(file(&folder, source)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let git_dir = entry.map_err(|source| file(&folder, source))?.path();
            // Without this file it is no worktree, but what is left of one.
            let link = git_dir.join("gitdir");
            let link = match read_file(&link, LINK_BYTES_MAX) {
                Ok(link) => link,
                // Git would wait for ever at a pipe.
                Err(source) if source.kind() == io::ErrorKind::InvalidInput => {
                    return Err(file(&link, source));
                }
                Err(_) => continue,
            };
            let link = git_dir.join(OsStr::from_bytes(link.trim_ascii_end()));
            if let Some(root) = link.parent() {
                let git_dir = self.common_dir.sibling(git_dir);
                found.push((git_dir, root.canonicalize().unwrap_or_else(|_| root.to_owned())));
            }
        }
        Ok(found)
    }

    /// Waits until no other operation changes this repository. The lock goes with the file, and with every git that
    /// was handed it.
    pub(crate) fn hold(&self) -> Result<File, GitError> {
        let path = self.common_dir.join("ostler.lock");
        let options = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let lock = options.map_err(|source| file(&path, source))?;
        let since = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::Error(source)) => return Err(file(&path, source)),
                Err(TryLockError::WouldBlock) if since.elapsed() > LOCK_WAIT_MAX => {
                    return Err(GitError::Busy { path });
                }
                Err(TryLockError::WouldBlock) => thread::sleep(LOCK_POLL),
            }
        }
    }
}

/// The directory that a repository is known by, the same from each of its checkouts.
fn main_root(common_dir: &Path) -> Result<PathBuf, GitError> {
    if is_bare(common_dir)? {
        return Ok(common_dir.to_owned());
    }
    // A submodule's git directory lies in that of its parent and says where its files are.
    let configured = Call::blind(common_dir).args(["config", "--get", "core.worktree"]).ask()?;
    let root = match configured {
        Some(bytes) => common_dir.join(path(bytes)),
        None if common_dir.file_name() == Some(OsStr::new(".git")) => common_dir.join(".."),
        // Nothing leads from a separate git directory to its files.
        None => common_dir.to_owned(),
    };
    root.canonicalize().map_err(|source| file(&root, source))
}

fn is_bare(common_dir: &Path) -> Result<bool, GitError> {
    let args = ["config", "--type=bool", "--get", "core.bare"];
    Ok(Call::blind(common_dir).args(args).ask()?.is_some_and(|answer| answer.starts_with(b"true")))
}

/// Whether a checkout has a branch in its hands.
fn occupies(git_dir: &GitDir, reference: &str) -> Result<bool, GitError> {
    let rebased = ["rebase-merge/head-name", "rebase-apply/head-name"];
    let is_rebased = rebased.iter().any(|name| {
        let branch = read_file(&git_dir.join(name), LINK_BYTES_MAX);
        branch.is_ok_and(|branch| branch.trim_ascii_end() == reference.as_bytes())
    });
    // A git that was killed while it made a worktree leaves one without HEAD.
    let has_head = git_dir.join("HEAD").exists();
    Ok(is_rebased || (has_head && checkout::branch(git_dir)?.as_deref() == Some(reference)))
}

/// Whether git itself would go on to the folder above: neither a checkout nor a bare repository begins here. To look
/// is a hundred times cheaper than to start git, and every run begins with this question.
fn cannot_be_git(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    let own = folder.join(".git");
    // An empty directory of that name is passed over by git too; whatever else stands there is for git to look at.
    let has_git = own.symlink_metadata().is_ok_and(|about| !about.is_dir() || has(".git/HEAD"));
    !has_git && !has("HEAD")
}

/// Asked once: a git that was new enough is not replaced by an older one while a server runs.
fn check_version(directory: &Path) -> Result<(), GitError> {
    static IS_NEW_ENOUGH: AtomicBool = AtomicBool::new(false);
    if IS_NEW_ENOUGH.load(Ordering::Relaxed) {
        return Ok(());
    }
    let command = "version";
    let found = text(Call::at(directory).args([command]).run()?, command)?;
    let mut numbers = found.trim_start_matches("git version ").split('.').map_while(|part| part.parse().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < VERSION_MIN {
        return Err(GitError::TooOld { found });
    }
    IS_NEW_ENOUGH.store(true, Ordering::Relaxed);
    Ok(())
}

/// A path as git prints it: it may have line ends in it, but one at its end is git's.
fn path(mut bytes: Vec<u8>) -> PathBuf {
    bytes.pop_if(|last| *last == b'\n');
    PathBuf::from(OsStr::from_bytes(&bytes))
}
