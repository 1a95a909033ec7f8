//! A repository in a directory of its own, untouched by the configuration of whoever runs the tests.

use std::{
    env,
    ffi::OsStr,
    fs::{self, File},
    hash::{DefaultHasher, Hash, Hasher},
    io::Write,
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
    process::{self, Command},
    sync::atomic::{AtomicU32, Ordering},
};

use ostler_workspace::{
    Commit, MergeError, MergeMessages, MergeOutcome, Program, Repository, Worktree, WorktreeSpec,
};

pub(crate) const MESSAGES: MergeMessages<'static> = MergeMessages { work: "work\n", merge: "merge\n" };

/// A directory that is removed in the end, unless the test failed.
pub(crate) struct Ground {
    pub(crate) root: PathBuf,
}

impl Ground {
    pub(crate) fn new() -> Ground {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let base = Path::new(env!("CARGO_TARGET_TMPDIR")).canonicalize().expect("cargo made the directory");
        let root = base.join(format!("workspace-{}-{number}", process::id()));
        fs::create_dir_all(&root).expect("the directory is made");
        Ground { root }
    }

    /// A repository with one commit: `a`, `b` and an ignore rule.
    pub(crate) fn project(&self, name: &str) -> Project<'_> {
        let project = self.empty_project(name);
        project.write("a", "one\ntwo\nthree\n");
        project.write("b", "b\n");
        project.write(".gitignore", "*.log\n");
        project.commit("first");
        project
    }

    pub(crate) fn empty_project(&self, name: &str) -> Project<'_> {
        let root = self.root.join(name);
        fs::create_dir_all(&root).expect("the directory is made");
        git(&root, ["init", "--quiet", "-b", "main"]);
        configure(&root);
        Project { ground: self, root }
    }

    pub(crate) fn worktree_path(&self) -> PathBuf {
        self.root.join("state/worktrees/s_12")
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            fs::remove_dir_all(&self.root).expect("the directory is removed");
        }
    }
}

pub(crate) struct Project<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) root: PathBuf,
}

impl Project<'_> {
    /// The repository, in which everything may run that it brings along.
    pub(crate) fn repository(&self) -> Repository {
        trusted(&self.root)
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: &str) {
        write(&self.root.join(path), text);
    }

    pub(crate) fn commit(&self, message: &str) -> Commit {
        commit_all(&self.root, message)
    }

    pub(crate) fn git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> String {
        git(&self.root, args)
    }

    pub(crate) fn spec(&self) -> WorktreeSpec {
        WorktreeSpec {
            path: self.ground.worktree_path(),
            branch: "ostler/s_12".into(),
            base: None,
            target: None,
        }
    }

    pub(crate) fn worktree(&self) -> Worktree {
        self.repository().make_worktree(&self.spec()).expect("the worktree is made")
    }

    pub(crate) fn merge(&self, worktree: &Worktree) -> Result<MergeOutcome, MergeError> {
        self.repository().merge(worktree, None, MESSAGES)
    }

    /// Every file outside of what belongs to the worktree: its kind, rights, content and time.
    pub(crate) fn fingerprint(&self) -> Vec<(PathBuf, u64)> {
        let mut found = Vec::new();
        walk(&self.root, &self.root, &mut found);
        found.sort();
        found
    }
}

fn walk(root: &Path, directory: &Path, found: &mut Vec<(PathBuf, u64)>) {
    for entry in fs::read_dir(directory).expect("the directory can be read") {
        let path = entry.expect("the entry can be read").path();
        let name = path.strip_prefix(root).expect("it is below the root").to_owned();
        let text = name.to_string_lossy().into_owned();
        let not_the_target = [".git/objects", ".git/worktrees", ".git/ostler.lock", ".git/refs/ostler"];
        if not_the_target.contains(&text.as_str()) || text.ends_with("refs/heads/ostler") {
            continue;
        }
        let metadata = path.symlink_metadata().expect("it is there");
        let mut hasher = DefaultHasher::new();
        metadata.mode().hash(&mut hasher);
        if metadata.is_dir() {
            walk(root, &path, found);
        } else if metadata.is_symlink() {
            fs::read_link(&path).expect("the link can be read").hash(&mut hasher);
        } else {
            fs::read(&path).expect("the file can be read").hash(&mut hasher);
        }
        if !(metadata.is_dir() && name.starts_with(".git")) {
            (metadata.mtime(), metadata.mtime_nsec(), metadata.ino()).hash(&mut hasher);
        }
        found.push((name, hasher.finish()));
    }
}

pub(crate) fn found(directory: &Path) -> Repository {
    Repository::find(directory).expect("git answers").expect("there is a repository")
}

/// The same as somebody sees it who has agreed to everything that it would run.
pub(crate) fn trusted(directory: &Path) -> Repository {
    let repository = found(directory);
    let programs = repository.programs().expect("the configuration can be read");
    repository.trusting(programs.iter().map(Program::fingerprint))
}

/// What the user's own configuration could change is set here.
pub(crate) fn configure(root: &Path) {
    for (key, value) in [
        ("user.name", "Somebody"),
        ("user.email", "somebody@example.org"),
        ("core.excludesFile", "/dev/null"),
        ("core.attributesFile", "/dev/null"),
        ("core.autocrlf", "false"),
    ] {
        git(root, ["config", key, value]);
    }
}

pub(crate) fn commit_all(directory: &Path, message: &str) -> Commit {
    git(directory, ["add", "--all"]);
    git(directory, ["commit", "--quiet", "--allow-empty", "-m", message]);
    head(directory)
}

pub(crate) fn head(directory: &Path) -> Commit {
    revision(directory, "HEAD")
}

pub(crate) fn revision(directory: &Path, name: &str) -> Commit {
    Commit::parse(&git(directory, ["rev-parse", &format!("{name}^{{commit}}")])).expect("git names a commit")
}

/// Runs git as a user would.
pub(crate) fn git<A: AsRef<OsStr>>(directory: &Path, args: impl IntoIterator<Item = A>) -> String {
    let (succeeded, said) = try_git(directory, args);
    assert!(succeeded, "git failed in {}: {said}", directory.display());
    said
}

#[expect(clippy::disallowed_methods, reason = "a test does with git what a user would")]
pub(crate) fn try_git<A: AsRef<OsStr>>(
    directory: &Path,
    args: impl IntoIterator<Item = A>,
) -> (bool, String) {
    let mut command = Command::new("git");
    for (name, _) in env::vars_os().filter(|(name, _)| name.as_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
    // Packing in the background would be a process at work in the directory.
    let settings = ["protocol.file.allow=always", "maintenance.auto=false", "gc.auto=0"];
    command.current_dir(directory).args(settings.iter().flat_map(|setting| ["-c", setting])).args(args);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("LC_ALL", "C");
    for name in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{name}_NAME"), "Test").env(format!("GIT_{name}_EMAIL"), "test@example.org");
    }
    let output = command.output().expect("git can be started");
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.push_str(&String::from_utf8_lossy(&output.stderr));
    (output.status.success(), said.trim_end().to_owned())
}

pub(crate) fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("it has a parent")).expect("the parent is made");
    let mut file = File::create(path).expect("the file is made");
    file.write_all(text.as_bytes()).expect("the file is written");
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("the file can be read")
}

/// A bit of everything that work can look like.
pub(crate) fn work_in(worktree: &Path) {
    write(&worktree.join("committed"), "committed\n");
    commit_all(worktree, "by the agent");
    write(&worktree.join("a"), "one\nTWO\nthree\n");
    write(&worktree.join("staged"), "staged\n");
    git(worktree, ["add", "staged"]);
    fs::remove_file(worktree.join("b")).expect("it was there");
    write(&worktree.join("new/run.sh"), "#!/bin/sh\n");
    fs::set_permissions(worktree.join("new/run.sh"), fs::Permissions::from_mode(0o755))
        .expect("rights are set");
    symlink("run.sh", worktree.join("new/link")).expect("the link is made");
    for name in odd_names() {
        write(&worktree.join(OsStr::from_bytes(name)), "odd\n");
    }
    write(&worktree.join("ignored.log"), "ignored\n");
}

pub(crate) fn odd_names() -> [&'static [u8]; 7] {
    [
        "한글 이름".as_bytes(),
        b"-dash",
        b"line\nend",
        b"quo\"te\ttab",
        b":(top)magic",
        b"not utf8 \xff\xfe",
        b"st*r[x]",
    ]
}

/// Everything that `work_in` did stands in a commit.
pub(crate) fn assert_work(directory: &Path, commit: &str) {
    let show = |path: &str| git(directory, ["show", &format!("{commit}:{path}")]);
    assert_eq!(show("committed"), "committed");
    assert_eq!(show("a"), "one\nTWO\nthree");
    assert_eq!(show("staged"), "staged");
    let list = git(directory, ["ls-tree", "-r", "-z", commit]);
    assert!(list.contains("100755 blob") && list.contains("\tnew/run.sh\0"), "{list}");
    assert!(list.contains("120000 blob") && list.contains("\tnew/link\0"), "{list}");
    assert!(!list.contains("\tb\0") && !list.contains("ignored.log"), "{list}");
    for name in odd_names() {
        assert!(
            list.contains(&format!("\t{}\0", String::from_utf8_lossy(name))),
            "{name:?} is not in {list}"
        );
    }
}
