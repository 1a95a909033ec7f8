//! Restoring: the files as they were, what stood there still reachable, and nothing of anybody else's touched.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
};

use ostler_workspace::{
    Checkpoint, CheckpointOutcome, Commit, NotRestored, Repository, RestoreError, Restored, Worktree,
};

use crate::{
    checkpoint::{checkpoint, made, spec},
    support::{Ground, Project, assert_work, commit_all, git, head, read, try_git, work_in},
};

/// Every file but those of git: its kind, whether it can be run, and what is in it.
pub(crate) fn files(root: &Path) -> BTreeMap<PathBuf, (bool, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a file") {
            let path = entry.expect("a file").path();
            let metadata = path.symlink_metadata().expect("a file");
            if path.file_name().is_some_and(|name| name == ".git") {
            } else if metadata.is_symlink() {
                found.insert(
                    path.clone(),
                    (false, fs::read_link(&path).expect("a file").as_os_str().as_bytes().to_vec()),
                );
            } else if metadata.is_dir() {
                folders.push(path);
            } else {
                let can_run = metadata.permissions().mode() & 0o100 != 0;
                found.insert(path.clone(), (can_run, fs::read(&path).expect("a file")));
            }
        }
    }
    found
}

pub(crate) fn restore(
    repository: &Repository,
    worktree: Option<&Worktree>,
    target: &Commit,
    before: u64,
) -> Result<Restored, NotRestored> {
    repository.restore(worktree, target, &spec(before))
}

pub(crate) fn restored(
    repository: &Repository,
    worktree: Option<&Worktree>,
    target: &Commit,
    before: u64,
) -> Checkpoint {
    let restored = restore(repository, worktree, target, before).expect("it is restored");
    assert_eq!(restored.different, Vec::<PathBuf>::new());
    made(restored.before)
}

/// Deletes, edits, adds, turns files into folders and back.
fn spoil(root: &Path) {
    let write = |path: &str, text: &str| crate::support::write(&root.join(path), text);
    write("a", "spoiled\n");
    fs::remove_file(root.join("staged")).expect("a file");
    fs::remove_dir_all(root.join("new")).expect("a file");
    write("new", "a file now\n");
    fs::remove_file(root.join("committed")).expect("a file");
    write("committed/inside", "a folder now\n");
    write("rubbish/deep/file", "rubbish\n");
    symlink("/nowhere", root.join("rubbish/link")).expect("a file");
    write("kept.log", "ignored, and later\n");
}

#[test]
fn after_a_bad_agent_everything_is_as_it_was() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    work_in(&worktree.path);
    let repository = project.repository();
    let good = checkpoint(&repository, Some(&worktree), 1);
    let before = files(&worktree.path);
    let status = git(&worktree.path, ["status", "--porcelain", "--ignored"]);
    let (at, main) = (head(&worktree.path), project.fingerprint());
    spoil(&worktree.path);
    let spoiled = files(&worktree.path);
    let bad = restored(&repository, Some(&worktree), &good.commit, 2);
    let mut expected = before.clone();
    // What is ignored is nobody's but the agent's, and stays.
    expected.insert(worktree.path.join("kept.log"), (false, b"ignored, and later\n".to_vec()));
    assert_eq!(files(&worktree.path), expected);
    fs::remove_file(worktree.path.join("kept.log")).unwrap();
    assert_eq!(
        git(&worktree.path, ["status", "--porcelain", "--ignored"]),
        status,
        "what was staged is staged"
    );
    assert_eq!(head(&worktree.path), at);
    assert_eq!(project.fingerprint(), main, "the project's own checkout is as it was");
    assert_work(&worktree.path, good.commit.as_str());
    // And back to the bad state, which is a checkpoint like any other.
    restored(&repository, Some(&worktree), &bad.commit, 3);
    let mut expected = spoiled;
    expected.remove(&worktree.path.join("kept.log"));
    assert_eq!(files(&worktree.path), expected);
}

#[test]
fn commits_stay_on_their_branch_and_show_as_changes() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    project.write("new", "new\n");
    let good = checkpoint(&repository, None, 1);
    project.write("a", "committed by the agent\n");
    let commit = project.commit("bad");
    restored(&repository, None, &good.commit, 2);
    assert_eq!(head(&project.root), commit);
    assert_eq!(read(&project.root.join("a")), "one\ntwo\nthree\n");
    // Nothing is staged, as nobody staged the way back.
    assert_eq!(project.git(["status", "--porcelain"]), " M a");
}

#[test]
fn what_was_staged_is_staged_again() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("a", "staged\n");
    project.git(["add", "a"]);
    project.write("a", "edited\n");
    project.write("b", "unstaged\n");
    let status = project.git(["status", "--porcelain"]);
    let good = checkpoint(&project.repository(), None, 1);
    project.git(["reset", "--quiet", "--hard"]);
    restored(&project.repository(), None, &good.commit, 2);
    assert_eq!(project.git(["status", "--porcelain"]), status);
    assert_eq!(project.git(["show", ":a"]), "staged");
    assert_eq!(read(&project.root.join("a")), "edited\n");
}

/// The files are as they were, and only the index has something that nobody else has.
#[test]
fn what_is_staged_alone_is_a_change_and_is_kept() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    project.write("x", "z\n");
    let good = checkpoint(&repository, None, 1);
    let since = |id: u64| {
        let mut since = spec(id);
        since.last = Some(good.commit.clone());
        since
    };
    let unchanged = repository.checkpoint(None, &since(2)).unwrap();
    assert_eq!(unchanged, CheckpointOutcome::Unchanged { commit: good.commit.clone() });
    project.write("x", "precious\n");
    project.git(["add", "x"]);
    project.write("x", "z\n");
    let kept = made(repository.checkpoint(None, &since(3)).unwrap());
    assert_eq!(project.git(["show", &format!("{}^2:x", kept.commit)]), "precious");
    let back = repository.restore(None, &good.commit, &since(4)).unwrap();
    assert_eq!((back.changed, project.git(["status", "--porcelain"])), (0, "?? x".to_owned()));
    restored(&repository, None, &made(back.before).commit, 5);
    assert_eq!(project.git(["show", ":x"]), "precious");
    assert_eq!(read(&project.root.join("x")), "z\n");
    // So is a commit that was made meanwhile.
    project.git(["reset", "--quiet"]);
    let commit = project.commit("x");
    let kept = made(repository.checkpoint(None, &since(6)).unwrap());
    assert_eq!(project.git(["rev-parse", &format!("{}^1", kept.commit)]), commit.to_string());
}

#[test]
fn where_everything_was_staged_it_is_again() {
    let ground = Ground::new();
    for project in [ground.project("project"), ground.empty_project("empty")] {
        project.write("new", "new\n");
        project.git(["add", "--all"]);
        let status = project.git(["status", "--porcelain"]);
        let good = checkpoint(&project.repository(), None, 1);
        project.git(["rm", "--quiet", "--cached", "new"]);
        project.write("new", "newer\n");
        let bad = restored(&project.repository(), None, &good.commit, 2);
        assert_eq!(project.git(["status", "--porcelain"]), status);
        restored(&project.repository(), None, &bad.commit, 3);
        assert_eq!(project.git(["status", "--porcelain"]), "?? new");
    }
}

#[test]
fn before_the_first_commit() {
    let ground = Ground::new();
    let project = ground.empty_project("project");
    project.write("one", "one\n");
    let good = checkpoint(&project.repository(), None, 1);
    project.write("two", "two\n");
    fs::remove_file(project.root.join("one")).unwrap();
    project.git(["add", "--all"]);
    restored(&project.repository(), None, &good.commit, 2);
    assert_eq!(project.git(["status", "--porcelain"]), "?? one");
    // What is staged has a place of its own here too.
    project.write("one", "staged\n");
    project.git(["add", "one"]);
    project.write("one", "edited\n");
    let status = project.git(["status", "--porcelain"]);
    let staged = restored(&project.repository(), None, &good.commit, 3);
    assert_eq!(project.git(["status", "--porcelain"]), "?? one");
    restored(&project.repository(), None, &staged.commit, 4);
    assert_eq!(
        (project.git(["status", "--porcelain"]), project.git(["show", ":one"])),
        (status, "staged".into())
    );
    assert_eq!(read(&project.root.join("one")), "edited\n");
}

/// A rule that the agent added must not make its edits disappear without a trace.
#[test]
fn what_became_ignored_or_too_large_is_kept_before_it_is_overwritten() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("notes", "good\n");
    project.write("data", "small\n");
    project.write("folder/file", "file\n");
    let good = checkpoint(&project.repository(), None, 1);
    project.write(".git/info/exclude", "notes\nfolder\n");
    project.write("notes", "spoiled\n");
    project.write("data", &"large ".repeat(20_000));
    fs::remove_dir_all(project.root.join("folder")).unwrap();
    project.write("folder", "an ignored file now\n");
    let bad = restored(&project.repository(), None, &good.commit, 2);
    assert_eq!(read(&project.root.join("notes")), "good\n");
    assert_eq!(read(&project.root.join("data")), "small\n");
    assert_eq!(read(&project.root.join("folder/file")), "file\n");
    assert_eq!(bad.left_out, []);
    assert_eq!(project.git(["show", &format!("{}:notes", bad.commit)]), "spoiled");
    assert_eq!(project.git(["show", &format!("{}:folder", bad.commit)]), "an ignored file now");
    assert_eq!(project.git(["show", &format!("{}:data", bad.commit)]).len(), 119_999);
}

#[test]
fn what_was_left_out_is_left_alone() {
    let ground = Ground::new();
    let project = ground.project("project");
    let good = checkpoint(&project.repository(), None, 1);
    project.write("large", &"large ".repeat(20_000));
    project.write("inside/file", "file\n");
    git(&project.root.join("inside"), ["init", "--quiet"]);
    project.write("small", "small\n");
    let bad = restored(&project.repository(), None, &good.commit, 2);
    assert_eq!(bad.left_out.len(), 2);
    assert!(project.root.join("large").exists() && project.root.join("inside/file").exists());
    assert!(!project.root.join("small").exists());
}

/// An ignored folder with something in it stands where a file was. Git would throw it away.
#[test]
fn a_folder_in_the_way_is_kept_first() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("thing", "a file\n");
    let good = checkpoint(&project.repository(), None, 1);
    fs::remove_file(project.root.join("thing")).unwrap();
    project.write("thing/deep/noise.log", "ignored\n");
    let bad = restored(&project.repository(), None, &good.commit, 2);
    assert_eq!(read(&project.root.join("thing")), "a file\n");
    assert_eq!(project.git(["show", &format!("{}:thing/deep/noise.log", bad.commit)]), "ignored");
    // What cannot be kept is a refusal.
    fs::remove_file(project.root.join("thing")).unwrap();
    project.write("thing/inside/file", "file\n");
    git(&project.root.join("thing/inside"), ["init", "--quiet"]);
    let before = project.fingerprint();
    let error = restore(&project.repository(), None, &good.commit, 3).unwrap_err().error;
    assert!(matches!(error, RestoreError::InTheWay { .. }), "{error}");
    assert_eq!(project.fingerprint(), before);
}

#[test]
fn refusals() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    project.write("new", "new\n");
    let good = checkpoint(&repository, None, 1);
    project.write("new", "newer\n");
    let refused = |project: &Project<'_>| {
        let before = project.fingerprint();
        let error = restore(&repository, None, &good.commit, 2).unwrap_err().error;
        assert_eq!(project.fingerprint(), before);
        error
    };
    let lock = project.root.join(".git/index.lock");
    File::create(&lock).unwrap();
    assert!(matches!(refused(&project), RestoreError::IndexLocked { .. }));
    assert!(lock.exists(), "a lock is never broken");
    fs::remove_file(lock).unwrap();
    project.git(["switch", "--quiet", "-c", "other"]);
    project.write("a", "theirs\n");
    commit_all(&project.root, "theirs");
    project.git(["switch", "--quiet", "main"]);
    project.write("a", "ours\n");
    commit_all(&project.root, "ours");
    assert!(!try_git(&project.root, ["merge", "other"]).0);
    assert!(matches!(refused(&project), RestoreError::Unfinished { .. }));
    project.git(["merge", "--abort"]);
    let nowhere = Commit::parse(&"a1".repeat(20)).unwrap();
    let error = restore(&repository, None, &nowhere, 2).unwrap_err().error;
    assert!(matches!(error, RestoreError::Gone { .. }), "{error}");
    assert_eq!(repository.checkpoints().unwrap().len(), 1, "a refusal makes none");
}

/// As on a full disk: git has written some files, and cannot write another.
#[test]
fn what_stood_there_is_known_when_git_stops_half_way() {
    let ground = Ground::new();
    let project = ground.project("project");
    let full = ground.root.join("full");
    let smudge = format!("test ! -e '{}' && cat", full.display());
    project.git(["config", "filter.disk.smudge", &smudge]);
    project.git(["config", "filter.disk.clean", "cat"]);
    project.git(["config", "filter.disk.required", "true"]);
    project.write(".gitattributes", "z filter=disk\n");
    project.write("z", "good\n");
    project.commit("filter");
    let repository = project.repository();
    let good = checkpoint(&repository, None, 1);
    for path in ["a", "rubbish", "z"] {
        project.write(path, "bad\n");
    }
    let spoiled = files(&project.root);
    File::create(&full).unwrap();
    let not = restore(&repository, None, &good.commit, 2).unwrap_err();
    let RestoreError::HalfDone { changed, .. } = &not.error else { panic!("{not}") };
    assert!(changed.contains(&"a".into()) && changed.contains(&"rubbish".into()), "{changed:?}");
    assert!(!project.root.join("rubbish").exists(), "it was removed");
    assert!(!not.to_string().contains("nothing was changed"), "{not}");
    let bad = made(*not.before.expect("what stood there is kept"));
    // The cause is gone: both ways are open.
    fs::remove_file(&full).unwrap();
    restored(&repository, None, &bad.commit, 3);
    assert_eq!(files(&project.root), spoiled);
    restored(&repository, None, &good.commit, 4);
    assert_eq!(project.git(["status", "--porcelain"]), "");
    // The files are back, and then somebody else holds the index.
    project.write("z", "bad\n");
    let before = project.git(["status", "--porcelain"]);
    let lock = project.root.join(".git/index.lock");
    let smudge = format!("touch '{}'; cat", lock.display());
    project.git(["config", "filter.disk.smudge", &smudge]);
    let not = restore(&project.repository(), None, &good.commit, 5).unwrap_err();
    assert!(matches!(not.error, RestoreError::Index { .. }), "{not}");
    assert_eq!(read(&project.root.join("z")), "good\n");
    let bad = made(*not.before.expect("what stood there is kept"));
    fs::remove_file(&lock).unwrap();
    project.git(["config", "filter.disk.smudge", "cat"]);
    restored(&project.repository(), None, &bad.commit, 6);
    assert_eq!(project.git(["status", "--porcelain"]), before);
}

#[test]
fn begun_again_after_a_crash_it_keeps_both_states() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    let good = checkpoint(&repository, None, 1);
    project.write("a", "bad\n");
    project.write("rubbish", "rubbish\n");
    let bad = checkpoint(&repository, None, 2);
    // As if git had been killed between two files, and somebody had written a third.
    project.write("a", "one\ntwo\nthree\n");
    project.write("meanwhile", "meanwhile\n");
    let again = restored(&repository, None, &good.commit, 2);
    assert_eq!(project.git(["status", "--porcelain"]), "");
    assert_ne!(again.commit, bad.commit);
    assert_eq!(project.git(["show", &format!("{}:a", again.commit)]), "bad");
    assert_eq!(project.git(["show", &format!("{}^2:meanwhile", again.commit)]), "meanwhile");
    assert_eq!(repository.checkpoints().unwrap()[1].commit, again.commit);
}

#[test]
fn nothing_to_do_is_no_error() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    project.write("new", "new\n");
    let good = checkpoint(&repository, None, 1);
    let mut before = spec(2);
    before.last = Some(good.commit.clone());
    let restored = repository.restore(None, &good.commit, &before).unwrap();
    assert_eq!(restored.before, CheckpointOutcome::Unchanged { commit: good.commit });
    assert_eq!((restored.changed, restored.different.len()), (0, 0));
}

#[test]
fn a_sparse_checkout_stays_sparse() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("away/file", "away\n");
    project.write("kept/file", "kept\n");
    project.commit("folders");
    project.git(["sparse-checkout", "set", "--no-cone", "/*", "!/away/"]);
    project.write("kept/new", "new\n");
    let good = checkpoint(&project.repository(), None, 1);
    project.write("kept/file", "bad\n");
    fs::remove_file(project.root.join("kept/new")).unwrap();
    restored(&project.repository(), None, &good.commit, 2);
    assert_eq!(read(&project.root.join("kept/file")), "kept\n");
    assert_eq!(read(&project.root.join("kept/new")), "new\n");
    assert!(!project.root.join("away").exists());
    assert_eq!(project.git(["status", "--porcelain"]), "?? kept/new");
}

#[test]
fn submodules_are_left_where_they_are_and_named() {
    let ground = Ground::new();
    let library = ground.project("library");
    let project = ground.project("project");
    project.git(["submodule", "add", "--quiet", library.root.to_str().unwrap(), "library"]);
    project.commit("submodule");
    let good = checkpoint(&project.repository(), None, 1);
    let inside = project.root.join("library");
    let moved = commit_all(&inside, "moved");
    project.write("a", "bad\n");
    let restored = restore(&project.repository(), None, &good.commit, 2).unwrap();
    assert_eq!(restored.submodules, [PathBuf::from("library")]);
    assert_eq!(restored.different, Vec::<PathBuf>::new());
    assert_eq!(head(&inside), moved);
    assert_eq!(read(&project.root.join("a")), "one\ntwo\nthree\n");
}
