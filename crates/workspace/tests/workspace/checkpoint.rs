//! Checkpoints: everything is kept, nothing is touched, and what is left out is said.

use std::{
    fs::{self, File},
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    thread,
};

use ostler_workspace::{
    Checkpoint, CheckpointOutcome, CheckpointSpec, Commit, DiffFormat, DiffOptions, LeftOut, Limits,
    Repository, WhyLeftOut, Worktree,
};
use rustix::{process::geteuid, thread::set_thread_res_uid};

use crate::support::{Ground, assert_work, git, head, try_git, work_in, write};

const KIB: u64 = 1024;

pub(crate) fn spec(id: u64) -> CheckpointSpec {
    CheckpointSpec {
        id: format!("c_{id}"),
        session: "s_12".to_owned(),
        state: "here".to_owned(),
        why: "request".to_owned(),
        journal: 381,
        conversation: Some("0f3c".to_owned()),
        requests: vec!["q_7".to_owned(), "q_8".to_owned()],
        last: None,
        limits: Limits { file_bytes_max: 64 * KIB, untracked_bytes_max: 128 * KIB },
    }
}

pub(crate) fn made(outcome: CheckpointOutcome) -> Checkpoint {
    match outcome {
        CheckpointOutcome::Made(checkpoint) => checkpoint,
        CheckpointOutcome::Unchanged { commit } => panic!("nothing has changed since {commit}"),
    }
}

pub(crate) fn checkpoint(repository: &Repository, worktree: Option<&Worktree>, id: u64) -> Checkpoint {
    made(repository.checkpoint(worktree, &spec(id)).expect("a checkpoint is made"))
}

/// What an agent and a person would notice.
fn visible(directory: &Path, git_dir: &Path) -> (Vec<u8>, String, String) {
    // To look at the status may tidy up the index.
    let status = git(directory, ["status", "--porcelain=v2", "--branch", "--ignored"]);
    let index = fs::read(git_dir.join("index")).unwrap_or_default();
    (index, status, fs::read_to_string(git_dir.join("HEAD")).expect("there is a HEAD"))
}

#[test]
fn everything_is_kept_and_nothing_touched() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    work_in(&worktree.path);
    let git_dir = project.root.join(".git/worktrees/s_12");
    let before = visible(&worktree.path, &git_dir);
    let kept = checkpoint(&project.repository(), Some(&worktree), 4);
    assert_eq!(visible(&worktree.path, &git_dir), before);
    assert_eq!(kept.reference, "refs/ostler/checkpoints/s_12/c_4");
    assert_eq!(kept.left_out, []);
    assert_work(&project.root, kept.commit.as_str());
    assert_eq!(project.git(["rev-parse", &format!("{}^1", kept.commit)]), head(&worktree.path).to_string());
    let message = project.git(["log", "-1", "--format=%B", &kept.reference]);
    for line in [
        "Checkpoint c_4 of s_12",
        "Ostler-Journal: 381",
        "Ostler-Conversation: 0f3c",
        "Ostler-Requests: q_7 q_8",
        "Ostler-Why: request",
    ] {
        assert!(message.lines().any(|found| found == line), "{line} is not in {message}");
    }
    let left: Vec<_> = fs::read_dir(&git_dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("ostler-index")), "{left:?}");
}

#[test]
fn what_a_killed_server_left_goes_with_the_next_checkpoint() {
    let ground = Ground::new();
    let project = ground.project("project");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let list = fs::metadata("/proc/self/ns/pid").unwrap().ino();
    // No process has this number.
    let name = format!("ostler-index.{}-{list}.{}.0", &boot[..8], i32::MAX);
    let left = [name.clone(), format!("{name}.lock")].map(|name| project.root.join(".git").join(name));
    for path in &left {
        File::create(path).unwrap();
    }
    project.write("a", "changed\n");
    checkpoint(&project.repository(), None, 1);
    assert!(left.iter().all(|path| !path.exists()), "{left:?}");
}

#[test]
fn the_checkout_itself_from_a_folder_in_it() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("deep/er/new", "new\n");
    project.write("a", "changed\n");
    let repository = Repository::find(&project.root.join("deep")).unwrap().unwrap();
    let kept = checkpoint(&repository, None, 1);
    assert_eq!(project.git(["show", &format!("{}:a", kept.commit)]), "changed");
    assert_eq!(project.git(["show", &format!("{}:deep/er/new", kept.commit)]), "new");
}

#[test]
fn the_same_name_and_the_same_tree_make_no_second_one() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    project.write("new", "one\n");
    let first = checkpoint(&repository, None, 1);
    project.write("new", "two\n");
    assert_eq!(checkpoint(&repository, None, 1).commit, first.commit, "who asks again gets what was made");
    let second =
        made(repository.checkpoint(None, &CheckpointSpec { last: Some(first.commit), ..spec(2) }).unwrap());
    let third = CheckpointSpec { last: Some(second.commit.clone()), ..spec(3) };
    let unchanged = CheckpointOutcome::Unchanged { commit: second.commit.clone() };
    assert_eq!(repository.checkpoint(None, &third).unwrap(), unchanged);
    let ids: Vec<String> = repository.checkpoints().unwrap().into_iter().map(|kept| kept.id).collect();
    assert_eq!(ids, ["c_1", "c_2"]);
    // A commit of the same files changes no file, but what is staged on top of it is its own.
    project.commit("the same");
    made(repository.checkpoint(None, &third).unwrap());
    // The one before may have been cleaned away.
    let gone = CheckpointSpec { last: Commit::parse(&"a1".repeat(20)), ..spec(4) };
    made(repository.checkpoint(None, &gone).unwrap());
}

#[test]
fn two_state_directories_in_one_repository() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    let first = checkpoint(&repository, None, 1);
    project.write("new", "new\n");
    let other = CheckpointSpec { state: "there".to_owned(), ..spec(1) };
    let second = made(repository.checkpoint(None, &other).unwrap());
    assert_eq!(second.reference, "refs/ostler/checkpoints/s_12/c_1.there");
    assert_eq!(made(repository.checkpoint(None, &other).unwrap()).commit, second.commit);
    assert_eq!(checkpoint(&repository, None, 1).commit, first.commit);
}

#[test]
fn before_the_first_commit() {
    let ground = Ground::new();
    let project = ground.empty_project("project");
    project.write("staged", "staged\n");
    project.git(["add", "staged"]);
    project.write("untracked", "untracked\n");
    project.write(".gitignore", "*.log\n");
    project.write("noise.log", "noise\n");
    let before = visible(&project.root, &project.root.join(".git"));
    let kept = checkpoint(&project.repository(), None, 1);
    assert_eq!(visible(&project.root, &project.root.join(".git")), before);
    let list = project.git(["ls-tree", "-r", "--name-only", kept.commit.as_str()]);
    assert_eq!(list, ".gitignore\nstaged\nuntracked");
    // There is no commit that it was made on; what is staged has one of its own.
    assert_eq!(project.git(["ls-tree", "-r", "--name-only", &format!("{}^1", kept.commit)]), "staged");
    assert_eq!(project.git(["log", "-1", "--format=%P", &format!("{}^1", kept.commit)]), "");
}

#[test]
fn what_is_too_large_is_left_out_and_said() {
    let ground = Ground::new();
    let project = ground.project("project");
    let bytes = |kib: u64| "x".repeat(usize::try_from(kib * KIB).unwrap());
    project.write("huge.bin", &bytes(65));
    for (name, kib) in [("m1", 60), ("m2", 50), ("m3", 40), ("small", 1)] {
        project.write(name, &bytes(kib));
    }
    // What git knows has no limit: it would be lost otherwise.
    project.write("a", &bytes(200));
    let kept = checkpoint(&project.repository(), None, 1);
    let large =
        |path: &str, kib: u64| LeftOut { path: path.into(), why: WhyLeftOut::Large { bytes: kib * KIB } };
    assert_eq!(kept.left_out, [large("m1", 60), large("huge.bin", 65)]);
    let list = project.git(["ls-tree", "-r", "--name-only", kept.commit.as_str()]);
    assert_eq!(list, ".gitignore\na\nb\nm2\nm3\nsmall");
    let message = project.git(["log", "-1", "--format=%B", kept.commit.as_str()]);
    assert!(
        message.contains("\"huge.bin\" (66560 bytes)") && message.contains("Ostler-Left-Out: 2"),
        "{message}"
    );
}

#[test]
fn submodules_and_repositories_inside() {
    let ground = Ground::new();
    let library = ground.project("library");
    let project = ground.project("project");
    for name in ["clean", "dirty"] {
        project.git(["submodule", "add", "--quiet", library.root.to_str().unwrap(), name]);
    }
    project.commit("submodules");
    project.write("dirty/a", "changed\n");
    project.write("inside/file", "file\n");
    git(&project.root.join("inside"), ["init", "--quiet"]);
    let kept = checkpoint(&project.repository(), None, 1);
    let left_out = |path: &str, why| LeftOut { path: path.into(), why };
    let expected = [left_out("inside", WhyLeftOut::Nested), left_out("dirty", WhyLeftOut::Submodule)];
    assert_eq!(kept.left_out, expected);
    let list = project.git(["ls-tree", "-r", kept.commit.as_str()]);
    assert_eq!(list.matches("160000 commit").count(), 2, "{list}");
}

#[test]
fn a_lock_of_the_index_is_left_alone() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("new", "new\n");
    let lock = project.root.join(".git/index.lock");
    File::create(&lock).unwrap();
    let kept = checkpoint(&project.repository(), None, 1);
    assert_eq!(project.git(["show", &format!("{}:new", kept.commit)]), "new");
    assert!(lock.exists());
}

#[test]
fn intents_overlooked_files_and_sparse_checkouts() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("away/file", "away\n");
    project.write("kept/file", "kept\n");
    project.commit("folders");
    project.git(["sparse-checkout", "set", "--no-cone", "/*", "!/away/"]);
    assert!(!project.root.join("away/file").exists());
    project.write("intended", "intended\n");
    project.git(["add", "--intent-to-add", "intended"]);
    project.write("b", "overlooked\n");
    project.git(["update-index", "--skip-worktree", "b"]);
    let before = visible(&project.root, &project.root.join(".git"));
    let kept = checkpoint(&project.repository(), None, 1);
    assert_eq!(visible(&project.root, &project.root.join(".git")), before);
    for (path, text) in
        [("away/file", "away"), ("kept/file", "kept"), ("intended", "intended"), ("b", "overlooked")]
    {
        assert_eq!(project.git(["show", &format!("{}:{path}", kept.commit)]), text);
    }
}

#[test]
fn in_the_middle_of_a_merge() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.git(["switch", "--quiet", "-c", "other"]);
    project.write("a", "theirs\n");
    project.commit("theirs");
    project.git(["switch", "--quiet", "main"]);
    project.write("a", "ours\n");
    project.commit("ours");
    assert!(!try_git(&project.root, ["merge", "other"]).0);
    let before = visible(&project.root, &project.root.join(".git"));
    let kept = checkpoint(&project.repository(), None, 1);
    assert_eq!(visible(&project.root, &project.root.join(".git")), before);
    let text = project.git(["show", &format!("{}:a", kept.commit)]);
    assert!(text.contains("<<<<<<<") && text.contains("theirs"), "{text}");
}

/// Runs something as a user whom rights concern: whoever runs the tests may be above them.
pub(crate) fn as_somebody(root: &Path, work: impl FnOnce() + Send) {
    const NOBODY: u32 = 65534;
    if !geteuid().is_root() {
        return work();
    }
    let give_to = |user: u32| {
        for path in walk(root) {
            chown(path, Some(user), Some(user)).expect("root may give away");
        }
    };
    give_to(NOBODY);
    thread::scope(|scope| {
        let worked = scope.spawn(|| {
            let nobody = rustix::process::Uid::from_raw(NOBODY);
            // Of this thread alone, and of the programs that it starts.
            set_thread_res_uid(nobody, nobody, nobody).expect("root may become anybody");
            work();
        });
        worked.join().expect("it works for somebody else too");
    });
    give_to(geteuid().as_raw());
}

fn walk(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.to_owned()];
    let mut next = 0;
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        if path.is_dir() && !path.is_symlink() {
            found.extend(fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path()));
        }
    }
    found
}

#[test]
fn what_cannot_be_read_is_left_out_and_said() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("closed/file", "file\n");
    project.write("secret", "secret\n");
    project.write("new", "new\n");
    project.write("a", "changed\n");
    project.write("b", "changed\n");
    for path in ["secret", "b", "closed"] {
        fs::set_permissions(project.root.join(path), fs::Permissions::from_mode(0o000)).unwrap();
    }
    let root = project.root.clone();
    as_somebody(&ground.root, || {
        let repository = Repository::find(&root).unwrap().unwrap();
        let kept = checkpoint(&repository, None, 1);
        let closed = |path: &str| LeftOut { path: path.into(), why: WhyLeftOut::Unreadable };
        assert_eq!(kept.left_out, [closed("b"), closed("closed"), closed("secret")]);
    });
    let show = |path: &str| project.git(["show", &format!("refs/ostler/checkpoints/s_12/c_1:{path}")]);
    assert_eq!((show("a"), show("b"), show("new")), ("changed".into(), "b".into(), "new".into()));
    fs::set_permissions(project.root.join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn the_difference_between_two_and_to_now() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    project.write("new", "one\n");
    let first = checkpoint(&repository, None, 1);
    project.write("new", "two\n");
    let second = checkpoint(&repository, None, 2);
    project.write("newer", "three\n");
    let diff = |from: &Commit, to: Option<&Commit>| {
        let options = DiffOptions { format: DiffFormat::Patch, color: false, bytes_max: 1 << 20 };
        let diff = repository.diff_checkpoint(None, from, to, &options).unwrap();
        String::from_utf8(diff.bytes).unwrap()
    };
    let between = diff(&first.commit, Some(&second.commit));
    assert!(between.contains("-one\n+two") && !between.contains("three"), "{between}");
    let now = diff(&first.commit, None);
    assert!(now.contains("-one\n+two") && now.contains("+three"), "{now}");
    assert_eq!(diff(&first.commit, Some(&first.commit)), "");
}

#[test]
fn line_ends_that_git_would_refuse() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.git(["config", "core.autocrlf", "input"]);
    project.git(["config", "core.safecrlf", "true"]);
    write(&project.root.join("mixed"), "one\r\ntwo\n");
    checkpoint(&project.repository(), None, 1);
}
