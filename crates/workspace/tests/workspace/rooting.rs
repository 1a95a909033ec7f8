//! A new root for a template's clone, and a repository where there is none: whatever happens, no object is given up.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use ostler_workspace::{
    BEFORE_INIT, HistoryState, Repository, UncommittedWork, files_to_commit, make_repository,
};

use crate::support::{Ground, configure, found, git, head, read, revision, write};

/// Everything that refs and the index lead to; with `reflogs` also what they remember.
fn reachable(directory: &Path, reflogs: bool) -> BTreeSet<String> {
    let mut args = vec!["rev-list", "--objects", "--all", "--indexed-objects"];
    if reflogs {
        args.push("--reflog");
    }
    let list = git(directory, args);
    list.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// A template with a history, and a clone of it.
fn clone_of_template(ground: &Ground) -> PathBuf {
    let template = ground.project("dev-ai");
    template.write("docs/guide.md", "guide\n");
    template.commit("second");
    template.git(["tag", "-a", "-m", "first version", "v1"]);
    template.git(["branch", "next"]);
    let clone = ground.root.join("mine");
    git(&ground.root, ["clone", "--quiet", "dev-ai", "mine"]);
    configure(&clone);
    clone
}

fn state(directory: &Path) -> HistoryState {
    found(directory).history_state().expect("git answers")
}

/// Makes a new root, and sees that nothing is lost and no file is touched.
fn root(directory: &Path, uncommitted: UncommittedWork) -> Repository {
    let before = reachable(directory, true);
    let status = git(directory, ["status", "--porcelain"]);
    let repository = found(directory);
    let made = repository.new_root("chore: init project\n", uncommitted).expect("it is made");
    assert_eq!(head(directory), made.commit);
    assert_eq!(git(directory, ["rev-list", "--count", "HEAD"]), "1");
    assert_eq!(git(directory, ["remote"]), "");
    let after = reachable(directory, false);
    let lost: Vec<&String> = before.difference(&after).collect();
    assert!(lost.is_empty(), "{lost:?} is lost");
    if uncommitted == UncommittedWork::LeaveOut {
        assert_eq!(git(directory, ["status", "--porcelain"]), status);
    } else {
        assert_eq!(git(directory, ["status", "--porcelain"]), "");
    }
    repository
}

#[test]
fn a_clone_with_nothing_of_its_own_says_so() {
    let ground = Ground::new();
    let clone = clone_of_template(&ground);
    let state = state(&clone);
    assert!(state.own.is_empty() && state.changes.is_empty() && state.has_commit, "{state:?}");
    assert!(state.origin.as_deref().is_some_and(|it| it.ends_with("dev-ai")), "{state:?}");
}

#[test]
fn whatever_is_ones_own_is_seen() {
    let ground = Ground::new();
    let clone = clone_of_template(&ground);
    write(&clone.join("a"), "changed\n");
    assert_eq!(state(&clone).changes, [PathBuf::from("a")]);
    git(&clone, ["stash"]);
    assert!(state(&clone).own.stash);
    git(&clone, ["branch", "other", "HEAD~1"]);
    assert_eq!(state(&clone).own.branches, ["other"]);
    git(&clone, ["worktree", "add", "--quiet", "../tree", "other"]);
    assert_eq!(state(&clone).own.worktrees, 1);
    git(&clone, ["commit", "--quiet", "--allow-empty", "-m", "mine"]);
    assert_eq!(state(&clone).own.commits, 1);
    git(&clone, ["checkout", "--quiet", "--detach"]);
    assert!(state(&clone).own.is_detached);
}

#[test]
fn a_clean_clone_gets_a_root_of_its_own() {
    let ground = Ground::new();
    let clone = clone_of_template(&ground);
    let old = head(&clone);
    root(&clone, UncommittedWork::LeaveOut);
    assert_eq!(read(&clone.join("docs/guide.md")), "guide\n");
    let kept = git(&clone, ["for-each-ref", "--format=%(refname)", BEFORE_INIT]);
    assert!(
        kept.lines().any(|it| it.ends_with("/heads/main")) && kept.contains("/remotes/origin/next"),
        "{kept}"
    );
    // The command that is shown brings it back.
    let before = kept.lines().find(|it| it.ends_with("/heads/main")).expect("it is kept").to_owned();
    git(&clone, ["reset", "--quiet", "--soft", &before]);
    assert_eq!(head(&clone), old);
    assert_eq!(git(&clone, ["status", "--porcelain"]), "");
}

#[test]
fn commits_branches_stashes_worktrees_submodules_and_what_only_a_reflog_remembers_stay() {
    let ground = Ground::new();
    let part = ground.project("part");
    part.commit("part");
    let clone = clone_of_template(&ground);
    git(&clone, ["submodule", "--quiet", "add", "../part", "part"]);
    git(&clone, ["commit", "--quiet", "-m", "with a submodule"]);
    write(&clone.join("a"), "stashed\n");
    git(&clone, ["stash"]);
    write(&clone.join("a"), "amended away\n");
    git(&clone, ["commit", "--quiet", "-a", "-m", "one"]);
    write(&clone.join("a"), "amended\n");
    git(&clone, ["commit", "--quiet", "-a", "--amend", "-m", "two"]);
    git(&clone, ["worktree", "add", "--quiet", "-b", "side", "../side"]);
    write(&ground.root.join("side/new"), "new\n");
    git(&ground.root.join("side"), ["add", "new"]);
    git(&ground.root.join("side"), ["commit", "--quiet", "-m", "side"]);
    // Staged, and other than the file by now.
    write(&clone.join("b"), "staged\n");
    git(&clone, ["add", "b"]);
    write(&clone.join("b"), "file\n");
    write(&clone.join("untracked"), "untracked\n");
    let changes = state(&clone).changes;
    assert_eq!(changes.len(), 2, "{changes:?}");
    root(&clone, UncommittedWork::LeaveOut);
    assert_eq!(
        (read(&clone.join("b")), read(&clone.join("untracked"))),
        ("file\n".into(), "untracked\n".into())
    );
    assert_eq!(git(&clone, ["show", ":b"]), "staged");
    let kept = git(&clone, ["for-each-ref", "--format=%(refname)", BEFORE_INIT]);
    let changes = kept.lines().find(|it| it.ends_with("/changes")).expect("the changes are kept");
    assert_eq!(git(&clone, ["show", &format!("{changes}:untracked")]), "untracked");
    assert!(git(&clone, ["stash", "list"]).contains("stash@{0}"));
    assert!(git(&clone, ["branch"]).contains("side"));
}

#[test]
fn changes_are_in_the_new_root_if_somebody_wants_that() {
    let ground = Ground::new();
    let clone = clone_of_template(&ground);
    write(&clone.join("b"), "staged\n");
    git(&clone, ["add", "b"]);
    write(&clone.join("b"), "file\n");
    write(&clone.join("new"), "new\n");
    fs::remove_file(clone.join("a")).expect("it was there");
    root(&clone, UncommittedWork::Include);
    assert_eq!(git(&clone, ["show", "HEAD:b"]), "file");
    assert_eq!(git(&clone, ["ls-tree", "--name-only", "HEAD"]), ".gitignore\nb\ndocs\nnew");
}

#[test]
fn a_new_root_that_was_cut_short_is_finished() {
    let ground = Ground::new();
    let clone = clone_of_template(&ground);
    let origin = git(&clone, ["config", "remote.origin.url"]);
    let repository = root(&clone, UncommittedWork::LeaveOut);
    let made = head(&clone);
    // As if it had ended before the remote went.
    git(&clone, ["remote", "add", "origin", &origin]);
    assert!(state(&clone).is_half_rooted);
    let again =
        repository.new_root("chore: init project\n", UncommittedWork::LeaveOut).expect("it is finished");
    assert_eq!((again.commit, head(&clone)), (made.clone(), made));
    assert_eq!(git(&clone, ["remote"]), "");
    assert!(!state(&clone).is_half_rooted);
}

#[test]
fn a_second_new_root_keeps_the_first() {
    let ground = Ground::new();
    let clone = clone_of_template(&ground);
    root(&clone, UncommittedWork::LeaveOut);
    write(&clone.join("a"), "later\n");
    git(&clone, ["commit", "--quiet", "-a", "-m", "later"]);
    root(&clone, UncommittedWork::LeaveOut);
}

#[test]
fn a_shallow_clone_gets_a_root_too() {
    let ground = Ground::new();
    clone_of_template(&ground);
    let address = format!("file://{}", ground.root.join("dev-ai").display());
    git(&ground.root, ["clone", "--quiet", "--depth=1", &address, "shallow"]);
    let shallow = ground.root.join("shallow");
    configure(&shallow);
    root(&shallow, UncommittedWork::LeaveOut);
}

#[test]
fn a_directory_becomes_a_repository_at_once_or_not_at_all() {
    let ground = Ground::new();
    let directory = ground.root.join("plain");
    write(&directory.join("src/main.rs"), "fn main() {}\n");
    write(&directory.join(".env"), "KEY=1\n");
    write(&directory.join(".gitignore"), "*.log\n");
    write(&directory.join("x.log"), "log\n");
    // What a crash left.
    write(&directory.join(".git.ostler-init/HEAD"), "ref: refs/heads/x\n");
    let files = files_to_commit(&directory).expect("git answers");
    assert_eq!(files, [".env", ".gitignore", "src/main.rs"].map(PathBuf::from));
    assert!(!directory.join(".git.ostler-init").exists() && !directory.join(".git").exists());
    let without = BTreeSet::from([PathBuf::from(".env")]);
    make_repository(&directory, "chore: init project\n", &without).expect("it is made");
    assert_eq!(git(&directory, ["ls-tree", "-r", "--name-only", "HEAD"]), ".gitignore\nsrc/main.rs");
    assert_eq!(git(&directory, ["status", "--porcelain"]), "?? .env");
    assert_eq!(git(&directory, ["log", "--format=%s"]), "chore: init project");
    assert!(!directory.join(".git.ostler-init").exists());
    assert_eq!(git(&directory, ["fsck", "--full", "--strict"]), "");
}

#[test]
fn an_empty_directory_becomes_a_repository_with_an_empty_commit() {
    let ground = Ground::new();
    let directory = ground.root.join("empty");
    fs::create_dir_all(&directory).expect("a directory");
    make_repository(&directory, "chore: init project\n", &BTreeSet::new()).expect("it is made");
    assert_eq!(git(&directory, ["ls-tree", "HEAD"]), "");
    assert_eq!(revision(&directory, "HEAD"), head(&directory));
}

#[test]
fn what_is_passed_over_is_listed_once_for_every_worktree() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.git(["worktree", "add", "--quiet", "../side"]);
    let side = ground.root.join("side");
    found(&side).exclude_paths(&["/one", "/two"]).expect("it is written");
    found(&project.root).exclude_paths(&["/two", "/three"]).expect("it is written");
    write(&project.root.join("two"), "");
    write(&side.join("three"), "");
    assert_eq!(project.git(["status", "--porcelain"]), "");
    assert_eq!(git(&side, ["status", "--porcelain"]), "");
    let list = read(&project.root.join(".git/info/exclude"));
    assert_eq!(list.matches("/two").count(), 1, "{list}");
}
