//! Removing a worktree: nothing is lost that is not ignored, whatever state it is in and wherever it is interrupted.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
};

use ostler_workspace::{MergeOutcome, RemoveError, Removed, Worktree};

use crate::support::{
    Ground, Project, assert_work, commit_all, git, head, read, revision, try_git, work_in, write,
};

const PIN: &str = "refs/ostler/discarded/s_12";

/// Nothing is left but the pin.
#[track_caller]
fn assert_gone(project: &Project<'_>, worktree: &Worktree) {
    let state = worktree.path.parent().expect("it has a parent");
    assert_eq!(fs::read_dir(state).expect("the state can be read").count(), 0);
    let refs =
        project.git(["for-each-ref", "--format=%(refname)", "refs/heads/ostler", "refs/ostler/worktrees"]);
    assert_eq!(refs, "");
    assert!(!project.git(["worktree", "list"]).contains("s_12"));
}

fn discard(project: &Project<'_>, worktree: &Worktree) -> Removed {
    project.repository().discard(worktree).expect("it is discarded")
}

#[test]
fn everything_is_pinned_and_can_be_brought_back() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    work_in(&worktree.path);
    let before = project.fingerprint();
    let removed = discard(&project, &worktree);
    assert_eq!(project.fingerprint(), before);
    assert_eq!(removed.ignored, Some(1));
    let pin = removed.pin.clone().unwrap();
    assert_eq!(pin.reference, PIN);
    assert_eq!(pin.commit, revision(&project.root, PIN));
    assert_gone(&project, &worktree);
    assert_eq!(discard(&project, &worktree), Removed { pin: Some(pin), ignored: None });

    // Nothing of it goes when git cleans up.
    project.git(["reflog", "expire", "--expire=now", "--all"]);
    project.git(["gc", "--quiet", "--prune=now"]);
    assert_work(&project.root, PIN);
    project.git(["branch", "again", PIN]);
    assert_work(&project.root, "again");
    assert_eq!(project.git(["log", "--format=%s", "again~1", "-1"]), "by the agent");
}

#[test]
fn a_clean_worktree_is_pinned_at_its_commit() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    let commit = commit_all(&worktree.path, "by the agent");
    assert_eq!(discard(&project, &worktree).pin.unwrap().commit, commit);
    assert_gone(&project, &worktree);
}

#[test]
fn what_only_the_index_and_the_reflogs_remember_is_pinned_too() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("amended"), "amended\n");
    let amended = commit_all(&worktree.path, "amended");
    git(&worktree.path, ["commit", "--quiet", "--amend", "-m", "again"]);
    write(&worktree.path.join("reset"), "reset\n");
    commit_all(&worktree.path, "below");
    let reset = commit_all(&worktree.path, "reset");
    git(&worktree.path, ["reset", "--quiet", "--hard", "HEAD~2"]);
    write(&worktree.path.join("a"), "staged\n");
    git(&worktree.path, ["add", "a"]);
    write(&worktree.path.join("a"), "not staged\n");
    git(&worktree.path, ["switch", "--quiet", "--detach"]);
    git(&worktree.path, ["commit", "--quiet", "--allow-empty", "-m", "detached", "-o"]);
    let detached = head(&worktree.path);
    discard(&project, &worktree);
    project.git(["reflog", "expire", "--expire=now", "--all"]);
    project.git(["gc", "--quiet", "--prune=now"]);
    for commit in [amended, reset, detached] {
        project.git(["merge-base", "--is-ancestor", commit.as_str(), PIN]);
    }
    assert_eq!(project.git(["show", &format!("{PIN}:a")]), "not staged");
    let parents = project.git(["log", "-1", "--format=%P", PIN]);
    let staged =
        parents.split(' ').filter(|parent| project.git(["show", &format!("{parent}:a")]) == "staged");
    assert_eq!(staged.count(), 1, "{parents}");
}

#[test]
fn a_worktree_in_the_middle_of_a_conflict() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("a"), "theirs\n");
    commit_all(&worktree.path, "theirs");
    project.write("a", "ours\n");
    project.commit("ours");
    assert!(!try_git(&worktree.path, ["merge", "main"]).0);
    write(&worktree.path.join("untracked"), "untracked\n");
    discard(&project, &worktree);
    assert!(project.git(["show", &format!("{PIN}:a")]).contains("<<<<<<<"));
    assert_eq!(project.git(["show", &format!("{PIN}:untracked")]), "untracked");
}

#[test]
fn interrupted_anywhere_the_next_call_finishes() {
    let aside = |worktree: &Worktree| worktree.path.with_file_name(".s_12.removing");
    let interruptions: [fn(&Project<'_>, &Worktree, &Path); 4] = [
        // The pin is made.
        |project, worktree, _| {
            project.git(["update-ref", PIN, worktree.base.as_str()]);
        },
        // The files are moved.
        |_, worktree, aside| fs::rename(&worktree.path, aside).unwrap(),
        // The registration is gone; the files are half deleted.
        |project, worktree, aside| {
            let copy = crate::support::found(&project.root);
            copy.discard(worktree).unwrap();
            write(&aside.join("rest"), "rest\n");
            project.git(["branch", "ostler/s_12", PIN]);
        },
        // Only the record is left.
        |project, worktree, _| {
            crate::support::found(&project.root).discard(worktree).unwrap();
            project.git(["update-ref", "refs/ostler/worktrees/ostler/s_12", worktree.base.as_str()]);
        },
    ];
    for interrupt in interruptions {
        let ground = Ground::new();
        let project = ground.project("project");
        let worktree = project.worktree();
        work_in(&worktree.path);
        interrupt(&project, &worktree, &aside(&worktree));
        discard(&project, &worktree);
        assert_gone(&project, &worktree);
        assert_work(&project.root, PIN);
    }
}

#[test]
fn deleted_files_do_not_take_the_commits_with_them() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    let commit = commit_all(&worktree.path, "by the agent");
    write(&worktree.path.join("a"), "staged\n");
    git(&worktree.path, ["add", "a"]);
    fs::remove_dir_all(&worktree.path).unwrap();
    let removed = discard(&project, &worktree);
    assert_eq!(removed.ignored, None);
    assert_eq!(revision(&project.root, &format!("{PIN}~1")), commit);
    assert_eq!(project.git(["show", &format!("{PIN}:a")]), "staged");
    assert_gone(&project, &worktree);
}

#[test]
fn an_older_pin_is_kept_below_the_new_one() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("first"), "first\n");
    let first = discard(&project, &worktree).pin.unwrap().commit;
    let worktree = project.worktree();
    write(&worktree.path.join("second"), "second\n");
    let second = discard(&project, &worktree).pin.unwrap().commit;
    project.git(["merge-base", "--is-ancestor", first.as_str(), second.as_str()]);
    assert_eq!(project.git(["show", &format!("{PIN}:second")]), "second");
}

#[track_caller]
fn check_refused(project: &Project<'_>, worktree: &Worktree, expected: &str) -> RemoveError {
    let error = project.repository().discard(worktree).expect_err("it is refused");
    assert!(error.to_string().contains(expected), "{error}");
    assert_eq!(read(&worktree.path.join("work")), "work\n");
    assert_eq!(git(&worktree.path, ["branch", "--show-current"]), "ostler/s_12");
    error
}

#[test]
fn refusals_leave_everything() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("work"), "work\n");
    let git_dir = project.root.join(".git/worktrees/s_12");
    write(&git_dir.join("index.lock"), "");
    check_refused(&project, &worktree, "index.lock");
    fs::remove_file(git_dir.join("index.lock")).unwrap();
    project.git(["worktree", "lock", "--reason", "keep it", worktree.path.to_str().unwrap()]);
    check_refused(&project, &worktree, "keep it");
    project.git(["worktree", "unlock", worktree.path.to_str().unwrap()]);

    let mut process = wait_in(&worktree.path);
    let error = check_refused(&project, &worktree, "processes are at work");
    let RemoveError::Processes { pids, .. } = error else { panic!("{error}") };
    assert_eq!(pids, [process.id()]);
    process.kill().unwrap();
    process.wait().unwrap();

    project.git(["worktree", "add", "--quiet", "--force", "../elsewhere", "ostler/s_12"]);
    check_refused(&project, &worktree, "elsewhere");
    project.git(["worktree", "remove", "../elsewhere"]);

    discard(&project, &worktree);
    assert_gone(&project, &worktree);
    let never = Worktree { branch: "ostler/never".into(), ..worktree };
    let error = project.repository().discard(&never).unwrap_err();
    assert!(matches!(error, RemoveError::Unknown { .. }), "{error}");
}

/// A process that does nothing in a directory.
#[expect(clippy::disallowed_methods, reason = "the test needs a process that stands in the way")]
fn wait_in(directory: &Path) -> Child {
    let mut command = Command::new("sleep");
    command.arg("600").current_dir(directory).stdin(Stdio::null()).spawn().expect("it starts")
}

#[test]
fn repositories_inside_with_work_of_their_own_are_not_deleted() {
    let ground = Ground::new();
    let library = ground.project("library");
    let project = ground.project("project");
    project.git(["submodule", "--quiet", "add", "../library", "lib"]);
    project.commit("a submodule");
    let worktree = project.worktree();
    write(&worktree.path.join("work"), "work\n");
    git(&worktree.path, ["submodule", "--quiet", "update", "--init"]);
    git(&worktree.path, ["clone", "--quiet", library.root.to_str().unwrap(), "clone"]);
    let (lib, clone) = (worktree.path.join("lib"), worktree.path.join("clone"));

    write(&clone.join("untracked"), "work\n");
    check_refused(&project, &worktree, "clone");
    fs::remove_file(clone.join("untracked")).unwrap();
    commit_all(&lib, "only here");
    check_refused(&project, &worktree, "lib");
    git(&lib, ["push", "--quiet", "origin", "HEAD:refs/heads/pushed"]);

    // Clean, and all of it is somewhere else too.
    discard(&project, &worktree);
    assert_gone(&project, &worktree);
}

#[test]
fn after_a_merge_only_what_is_left_over_is_pinned() {
    for left_over in [false, true] {
        let ground = Ground::new();
        let project = ground.project("project");
        let worktree = project.worktree();
        work_in(&worktree.path);
        let error = project.repository().remove_merged(&worktree, None).unwrap_err();
        assert!(matches!(error, RemoveError::NotMerged { .. }), "{error}");
        assert!(matches!(project.merge(&worktree).unwrap(), MergeOutcome::Merged { .. }));
        if left_over {
            write(&worktree.path.join("late"), "late\n");
        }
        let removed = project.repository().remove_merged(&worktree, None).unwrap();
        assert_eq!((removed.pin.is_some(), removed.ignored), (left_over, Some(1)));
        if left_over {
            assert_eq!(project.git(["show", &format!("{PIN}:late")]), "late");
        }
        assert_gone(&project, &worktree);
        assert_work(&project.root, "main");
        let again = project.repository().remove_merged(&worktree, None).unwrap();
        assert_eq!(again, Removed { ignored: None, ..removed });
    }
}

#[test]
fn a_worktree_that_was_never_finished_can_be_discarded() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    let git_dir = project.root.join(".git/worktrees/s_12");
    for name in ["ostler", "HEAD", "index"] {
        fs::remove_file(git_dir.join(name)).unwrap();
    }
    write(&git_dir.join("locked"), "initializing");
    write(&git_dir.join("index.lock"), "half");
    fs::remove_file(worktree.path.join("a")).unwrap();
    assert_eq!(discard(&project, &worktree).pin.unwrap().commit, worktree.base);
    assert_gone(&project, &worktree);
}

#[test]
fn a_directory_that_git_does_not_know_any_more_is_left() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("work"), "work\n");
    fs::remove_dir_all(project.root.join(".git/worktrees/s_12")).unwrap();
    let error = project.repository().discard(&worktree).unwrap_err();
    assert!(matches!(error, RemoveError::Unregistered { .. }), "{error}");
    assert_eq!(read(&worktree.path.join("work")), "work\n");
}
