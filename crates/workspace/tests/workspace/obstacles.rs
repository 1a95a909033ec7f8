//! Restoring: what no checkpoint can hold is never taken away, and what could not be done is said.

use std::{
    ffi::OsStr,
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
};

use ostler_workspace::{
    CheckpointOutcome, CheckpointSpec, LeftOut, RemoveError, Repository, RestoreError, WhyLeftOut,
};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::{
    checkpoint::{as_somebody, checkpoint, made, spec},
    restore::{files, restore, restored},
    support::{Ground, Project, commit_all, configure, git, read, try_git, write},
};

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).expect("a pipe is made");
}

/// It is refused with these words, and everything is as it was.
#[track_caller]
fn refused(project: &Project<'_>, target: &ostler_workspace::Commit, words: &str) {
    let before = project.fingerprint();
    let not = restore(&project.repository(), None, target, 99).expect_err("it is refused");
    assert!(matches!(not.error, RestoreError::InTheWay { .. }), "{not}");
    assert!(not.to_string().contains(words), "{not}");
    assert_eq!(not.before, None, "nothing was kept, as nothing was touched");
    assert_eq!(project.fingerprint(), before);
}

/// A repository with work that only it has: a commit, and a change.
fn library(ground: &Ground, path: &Path) {
    let origin = ground.root.join("origin");
    if !origin.exists() {
        ground.project("origin");
    }
    git(&ground.root, [OsStr::new("clone"), OsStr::new("--quiet"), origin.as_os_str(), path.as_os_str()]);
    configure(path);
    write(&path.join("mine"), "mine\n");
    commit_all(path, "mine");
    write(&path.join("unsaved"), "unsaved\n");
}

#[test]
fn a_repository_in_place_of_a_file_is_never_removed() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    symlink("/opt/lib", project.root.join("link")).unwrap();
    project.write("file", "file\n");
    project.write("deep", "deep\n");
    project.commit("files");
    let good = checkpoint(&repository, None, 1);
    for (number, path, inside) in [(2, "link", "link"), (3, "file", "file"), (4, "deep", "deep/inside")] {
        fs::remove_file(project.root.join(path)).unwrap();
        library(&ground, &project.root.join(inside));
        let kept = checkpoint(&repository, None, number);
        let nested = LeftOut { path: inside.into(), why: WhyLeftOut::Nested };
        assert!(kept.left_out.contains(&nested), "{:?}", kept.left_out);
        refused(&project, &good.commit, &format!("'{inside}' is a repository of its own"));
        // Nor is it once git knows it.
        project.git(["add", "--all"]);
        refused(&project, &good.commit, &format!("'{inside}' is a repository of its own"));
        fs::remove_dir_all(project.root.join(path)).unwrap();
        project.git(["reset", "--quiet", "--hard"]);
    }
    restored(&repository, None, &good.commit, 9);
}

#[test]
fn a_submodule_in_place_of_a_file_is_never_removed() {
    let ground = Ground::new();
    let library = ground.project("library");
    for (name, inside) in [("one", "thing"), ("two", "thing/inside")] {
        let project = ground.project(name);
        project.write("thing", "a file\n");
        project.commit("file");
        let good = checkpoint(&project.repository(), None, 1);
        project.git(["rm", "--quiet", "thing"]);
        project.git(["submodule", "add", "--quiet", library.root.to_str().unwrap(), inside]);
        project.commit("submodule");
        project.write(Path::new(inside).join("a"), "unsaved\n");
        refused(&project, &good.commit, &format!("'{inside}' is a repository of its own"));
        // Where nothing comes to its place it stays, and one that is not checked out is no obstacle.
        project.git(["submodule", "deinit", "--quiet", "--force", inside]);
        restored(&project.repository(), None, &good.commit, 3);
        assert_eq!(read(&project.root.join("thing")), "a file\n");
    }
}

#[test]
fn a_worktree_with_a_repository_in_place_of_a_file_is_not_discarded() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    fs::remove_file(worktree.path.join("a")).unwrap();
    library(&ground, &worktree.path.join("a"));
    let error = project.repository().discard(&worktree).unwrap_err();
    assert!(matches!(&error, RemoveError::Nested { paths } if *paths == [PathBuf::from("a")]), "{error}");
    assert_eq!(read(&worktree.path.join("a/unsaved")), "unsaved\n");
}

/// As after `git stash pop`: files are in conflict, and nothing says that something is half done.
#[test]
fn what_is_staged_beside_a_conflict_is_not_overwritten() {
    let ground = Ground::new();
    let project = ground.project("project");
    let good = checkpoint(&project.repository(), None, 1);
    project.write("a", "stashed\n");
    project.git(["stash", "--quiet"]);
    project.write("a", "committed\n");
    project.commit("a");
    assert!(!try_git(&project.root, ["stash", "pop"]).0);
    project.write("b", "staged only\n");
    project.git(["add", "b"]);
    project.write("b", "edited\n");
    let not = restore(&project.repository(), None, &good.commit, 2).unwrap_err();
    assert!(matches!(not.error, RestoreError::Unfinished { .. }), "{not}");
    assert!(not.to_string().contains("'a' is in conflict"), "{not}");
    assert_eq!(project.git(["show", ":b"]), "staged only");
    project.git(["add", "a"]);
    restored(&project.repository(), None, &good.commit, 3);
}

/// What stood there is what an earlier checkpoint has, which may be let go by its age.
#[test]
fn what_stood_there_has_a_name_of_its_own() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    let good = checkpoint(&repository, None, 1);
    project.write("work", "work\n");
    let last = checkpoint(&repository, None, 2).commit;
    let before = CheckpointSpec { last: Some(last.clone()), why: "restore".to_owned(), ..spec(3) };
    let bad = made(repository.restore(None, &good.commit, &before).unwrap().before);
    assert_eq!(bad.reference, "refs/ostler/checkpoints/s_12/c_3");
    assert_eq!(project.git(["show", &format!("{}:work", bad.commit)]), "work");
    // Killed half-way and begun again, it is still that name: not what stood there half-way.
    project.write("half", "half\n");
    let again = made(repository.restore(None, &good.commit, &before).unwrap().before);
    assert_eq!(project.git(["show", &format!("{}:work", again.commit)]), "work");
    assert_eq!(project.git(["show", &format!("{}^2:half", again.commit)]), "half");
    // Where nothing is to be changed, nothing is kept.
    let before = CheckpointSpec { last: Some(good.commit.clone()), ..spec(4) };
    let nothing = repository.restore(None, &good.commit, &before).unwrap();
    assert_eq!(nothing.before, CheckpointOutcome::Unchanged { commit: good.commit });
}

/// At a pipe one would wait for ever.
#[test]
fn a_pipe_in_place_of_the_index_holds_nobody() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    let good = checkpoint(&repository, None, 1);
    let (index, aside) = (project.root.join(".git/index"), ground.root.join("index"));
    fs::rename(&index, &aside).unwrap();
    pipe(&index);
    let error = repository.checkpoint(None, &spec(2)).unwrap_err().to_string();
    assert!(error.contains(".git/index") && error.contains("not a regular file"), "{error}");
    fs::rename(&aside, &index).unwrap();
    project.write("a", "bad\n");
    restored(&repository, None, &good.commit, 3);
}

#[test]
fn a_folder_that_became_a_link_is_a_folder_again() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    project.write("folder/file", "file\n");
    project.commit("folder");
    let good = checkpoint(&repository, None, 1);
    write(&ground.root.join("elsewhere/file"), "somebody else's\n");
    fs::remove_dir_all(project.root.join("folder")).unwrap();
    symlink("../elsewhere", project.root.join("folder")).unwrap();
    let bad = restored(&repository, None, &good.commit, 2);
    assert_eq!(read(&project.root.join("folder/file")), "file\n");
    assert_eq!(read(&ground.root.join("elsewhere/file")), "somebody else's\n");
    // Also where a rule hides the link.
    restored(&repository, None, &bad.commit, 3);
    project.git(["rm", "--quiet", "-r", "--cached", "folder"]);
    project.write(".git/info/exclude", "folder\n");
    restored(&repository, None, &good.commit, 4);
    assert_eq!(read(&project.root.join("folder/file")), "file\n");
    assert_eq!(read(&ground.root.join("elsewhere/file")), "somebody else's\n");
}

#[test]
fn what_could_not_be_removed_is_named() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("folder/file", "file\n");
    project.write("closed/file", "file\n");
    project.commit("folders");
    let good = checkpoint(&project.repository(), None, 1);
    project.write("folder/later", "later\n");
    project.write("closed/file", "changed\n");
    let allow = |path: &str, mode| {
        fs::set_permissions(project.root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    allow("folder", 0o555);
    allow("closed", 0o000);
    let root = project.root.clone();
    as_somebody(&ground.root, || {
        let repository = Repository::find(&root).unwrap().unwrap();
        let restored = restore(&repository, None, &good.commit, 2).unwrap();
        assert_eq!(restored.different, [PathBuf::from("closed/file"), PathBuf::from("folder/later")]);
    });
    assert!(project.root.join("folder/later").exists());
    allow("folder", 0o755);
    allow("closed", 0o755);
}

/// A folder that cannot be looked into stands where a file was.
#[test]
fn a_closed_folder_in_the_way_is_a_refusal() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("thing", "a file\n");
    project.commit("file");
    let good = checkpoint(&project.repository(), None, 1);
    fs::remove_file(project.root.join("thing")).unwrap();
    project.write("thing/work", "work\n");
    let thing = project.root.join("thing");
    fs::set_permissions(&thing, fs::Permissions::from_mode(0o000)).unwrap();
    let root = project.root.clone();
    as_somebody(&ground.root, || {
        let repository = Repository::find(&root).unwrap().unwrap();
        let not = restore(&repository, None, &good.commit, 2).unwrap_err();
        assert!(not.to_string().contains("nothing was changed: 'thing' cannot be read"), "{not}");
    });
    fs::set_permissions(&thing, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(read(&thing.join("work")), "work\n");
}

#[test]
fn a_pipe_in_place_of_a_file_is_left_out_and_said() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    project.write("new", "new\n");
    let good = checkpoint(&repository, None, 1);
    project.write("b", "changed\n");
    fs::remove_file(project.root.join("a")).unwrap();
    pipe(&project.root.join("a"));
    let kept = checkpoint(&repository, None, 2);
    assert_eq!(kept.left_out, [LeftOut { path: "a".into(), why: WhyLeftOut::Special }]);
    assert_eq!(project.git(["show", &format!("{}:a", kept.commit)]), "one\ntwo\nthree");
    assert_eq!(project.git(["show", &format!("{}:b", kept.commit)]), "changed");
    // Nothing was to be done about it; it is not what it was.
    let restored = restore(&repository, None, &good.commit, 3).unwrap();
    assert_eq!(restored.different, [PathBuf::from("a")]);
    assert_eq!(read(&project.root.join("b")), "b\n");
    fs::remove_file(project.root.join("a")).unwrap();
    project.write("a", "two\n");
    let other = checkpoint(&repository, None, 4);
    project.git(["checkout", "--quiet", "a"]);
    fs::remove_file(project.root.join("a")).unwrap();
    pipe(&project.root.join("a"));
    let not = restore(&repository, None, &other.commit, 5).unwrap_err();
    assert!(not.to_string().contains("'a' is a pipe"), "{not}");
    fs::remove_file(project.root.join("a")).unwrap();
    // Where git knows no file.
    fs::remove_file(project.root.join("new")).unwrap();
    pipe(&project.root.join("new"));
    let not = restore(&repository, None, &good.commit, 6).unwrap_err();
    assert!(not.to_string().contains("'new' is a pipe"), "{not}");
    fs::remove_file(project.root.join("new")).unwrap();
}

/// They stood there all the time, and only the rules and what git knows have changed.
#[test]
fn what_the_checkpoint_left_out_is_not_taken_away() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    project.write(".gitignore", "*.log\n.env\n");
    project.write("deep/.gitignore", "/own\n");
    project.write("known.log", "known\n");
    project.git(["add", "--force", "known.log"]);
    project.commit("rules");
    fs::remove_file(project.root.join("known.log")).unwrap();
    project.write(".env", "KEY=1\n");
    project.write("deep/own", "own\n");
    project.write("large", &"large ".repeat(20_000));
    let good = checkpoint(&repository, None, 1);
    assert_eq!(good.left_out.len(), 1);
    project.write(".gitignore", "");
    fs::remove_file(project.root.join("deep/.gitignore")).unwrap();
    project.git(["add", "large"]);
    project.write("later", "later\n");
    project.write("deep/later", "later\n");
    project.write("known.log", "back\n");
    let done = restore(&repository, None, &good.commit, 2).unwrap();
    assert_eq!(done.different, [PathBuf::from("large")], "what was in it, nobody knows");
    let there = |path: &str| project.root.join(path).exists();
    assert!(there(".env") && there("deep/own") && there("large"));
    assert!(!there("later") && !there("deep/later"));
    assert!(!there("known.log"), "it was deleted then, whatever the rules say");
    assert_eq!(project.git(["status", "--porcelain"]), " D known.log\n?? large");
    let bad = made(done.before);
    assert_eq!(project.git(["show", &format!("{}:.env", bad.commit)]), "KEY=1");
    // Where something comes to their place they go: they are kept.
    fs::remove_file(project.root.join(".env")).unwrap();
    project.write(".env/file", "file\n");
    project.git(["add", "--force", ".env"]);
    let other = checkpoint(&repository, None, 3);
    fs::remove_dir_all(project.root.join(".env")).unwrap();
    project.write(".env", "KEY=2\n");
    let again = made(restore(&repository, None, &other.commit, 4).unwrap().before);
    assert_eq!(read(&project.root.join(".env/file")), "file\n");
    assert_eq!(project.git(["show", &format!("{}:.env", again.commit)]), "KEY=2");
    assert!(
        !files(&project.root.join(".git")).keys().any(|path| path.to_string_lossy().contains("ostler-i"))
    );
}

#[test]
fn a_git_that_was_killed_leaves_its_end_as_the_reason() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.git(["config", "filter.killer.smudge", "kill -9 $PPID"]);
    project.write(".gitattributes", "z filter=killer\n");
    project.write("z", "good\n");
    project.commit("filter");
    let repository = project.repository();
    let good = checkpoint(&repository, None, 1);
    project.write("a", "bad\n");
    project.write("z", "bad\n");
    let not = restore(&repository, None, &good.commit, 2).unwrap_err();
    assert!(matches!(not.error, RestoreError::HalfDone { .. }), "{not}");
    assert!(not.to_string().contains("SIGKILL"), "{not}");
    let left = fs::read_dir(project.root.join(".git")).unwrap().map(|it| it.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with("ostler-")).collect();
    assert!(left.iter().all(|name| name == "ostler.lock"), "{left:?}");
}
