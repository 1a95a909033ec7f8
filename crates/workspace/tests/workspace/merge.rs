//! Merging, and above all: when it does not work out, the target is as it was.

use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

use ostler_workspace::{MergeOutcome, Work, Worktree};

use crate::support::{
    Ground, MESSAGES, Project, assert_work, commit_all, configure, found, git, head, read, revision, work_in,
    write,
};

/// The target is the same to the byte, and the outcome is the expected one.
#[track_caller]
fn check_untouched(project: &Project<'_>, merge: impl FnOnce() -> MergeOutcome, expected: &MergeOutcome) {
    let before = project.fingerprint();
    assert_eq!(merge(), *expected);
    assert_eq!(project.fingerprint(), before);
}

#[track_caller]
fn check_refused(project: &Project<'_>, worktree: &Worktree, expected: &str) {
    let before = project.fingerprint();
    let error = project.merge(worktree).expect_err("it is refused");
    assert!(error.to_string().contains(expected), "{error}");
    assert_eq!(project.fingerprint(), before);
}

fn conflict(files: &[&str]) -> MergeOutcome {
    MergeOutcome::Conflict { files: files.iter().map(PathBuf::from).collect() }
}

fn dirty(files: &[&str]) -> MergeOutcome {
    MergeOutcome::TargetDirty { files: files.iter().map(PathBuf::from).collect() }
}

#[test]
fn what_was_seen_is_merged_and_nothing_else() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    let repository = found(&project.root);
    assert_eq!(repository.commit_work(&worktree, "work").unwrap(), Work::Nothing);
    work_in(&worktree.path);
    let Work::Waits { commit: seen } = repository.commit_work(&worktree, "work").unwrap() else {
        panic!("there is work")
    };
    assert_eq!(repository.commit_work(&worktree, "work").unwrap(), Work::Waits { commit: seen.clone() });
    // What comes later is not part of it, committed or not.
    write(&worktree.path.join("later"), "later\n");
    commit_all(&worktree.path, "later");
    let before = project.fingerprint();
    let error = repository.merge_seen(&worktree, &seen, "merge").expect_err("it has moved");
    assert!(error.to_string().contains("has changed since it was looked at"), "{error}");
    assert_eq!(project.fingerprint(), before);
    git(&worktree.path, ["reset", "-q", "--mixed", seen.as_str()]);
    let merged = repository.merge_seen(&worktree, &seen, "merge").unwrap();
    assert_eq!(merged, MergeOutcome::Merged { commit: seen.clone() });
    assert!(!project.root.join("later").exists() && worktree.path.join("later").exists());
    git(&worktree.path, ["clean", "-fdq", "later"]);
    assert_eq!(repository.commit_work(&worktree, "work").unwrap(), Work::Merged { commit: seen });
}

#[test]
fn everything_arrives_committed_or_not() {
    for target_moved in [false, true] {
        let ground = Ground::new();
        let project = ground.project("project");
        let worktree = project.worktree();
        work_in(&worktree.path);
        if target_moved {
            project.write("c", "by somebody else\n");
            project.commit("meanwhile");
        }
        let before = head(&project.root);
        let MergeOutcome::Merged { commit } = project.merge(&worktree).unwrap() else { panic!("not merged") };
        assert_eq!(head(&project.root), commit);
        assert_eq!(project.git(["branch", "--show-current"]), "main");
        assert_eq!(project.git(["status", "--porcelain"]), "");
        assert_eq!(git(&worktree.path, ["status", "--porcelain"]), "");
        assert_work(&project.root, "HEAD");
        assert_eq!(read(&project.root.join("new/link")), "#!/bin/sh\n");
        let subjects = project.git(["log", "--format=%s by %an", &format!("{before}..")]);
        let merge = if target_moved { "merge by Somebody\n" } else { "" };
        assert_eq!(subjects, format!("{merge}work by Somebody\nby the agent by Test"));
        let again = MergeOutcome::AlreadyMerged { commit };
        check_untouched(&project, || project.merge(&worktree).unwrap(), &again);
    }
}

#[test]
fn nothing_done_is_nothing_to_do() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("only.log"), "ignored\n");
    check_untouched(&project, || project.merge(&worktree).unwrap(), &MergeOutcome::NothingToDo);
}

#[test]
fn a_conflict_leaves_the_target_alone() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    work_in(&worktree.path);
    write(&worktree.path.join("한글 이름"), "theirs\n");
    project.write("a", "one\n2\nthree\n");
    project.write("b", "changed here, deleted there\n");
    project.write("한글 이름", "ours\n");
    project.commit("meanwhile");
    // The target has edits and files of its own too.
    project.write(".gitignore", "*.log\n*.tmp\n");
    project.write("staged here", "staged\n");
    project.git(["add", "staged here"]);
    project.write("untracked", "untracked\n");
    project.write("x.log", "ignored\n");
    let expected = conflict(&["a", "b", "한글 이름"]);
    check_untouched(&project, || project.merge(&worktree).unwrap(), &expected);
    check_untouched(&project, || project.merge(&worktree).unwrap(), &expected);
    assert_work(&worktree.path, "ostler/s_12");

    // Who settles the conflict in the worktree can merge.
    git(&worktree.path, ["merge", "--quiet", "-s", "ours", "main"]);
    project.git(["checkout", "--quiet", "--", ".gitignore"]);
    assert!(matches!(project.merge(&worktree).unwrap(), MergeOutcome::Merged { .. }));
    assert_eq!(read(&project.root.join("untracked")), "untracked\n");
    assert!(project.git(["status", "--porcelain"]).contains("A  \"staged here\""));
}

#[test]
fn edits_in_the_target() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("a"), "by the agent\n");
    fs::remove_file(worktree.path.join("b")).unwrap();
    write(&worktree.path.join("new"), "by the agent\n");
    write(&worktree.path.join("dir/file"), "by the agent\n");
    write(&worktree.path.join("x.log"), "by the agent\n");
    git(&worktree.path, ["add", "--force", "x.log"]);
    let merge = || project.merge(&worktree).unwrap();

    project.write("a", "by the person\n");
    project.write("b", "by the person\n");
    project.git(["add", "b"]);
    // Written anew with the same content: to look must not bring the index up to date.
    project.write(".gitignore", "*.log\n");
    check_untouched(&project, merge, &dirty(&["a", "b"]));
    project.git(["checkout", "--quiet", "HEAD", "--", "a", "b"]);

    // Files that git does not know, ignored ones among them, and one where a directory has to be.
    project.write("new", "by the person\n");
    project.write("x.log", "by the person\n");
    project.write("dir", "by the person\n");
    check_untouched(&project, merge, &dirty(&["dir", "new", "x.log"]));
    for name in ["new", "x.log", "dir"] {
        fs::remove_file(project.root.join(name)).unwrap();
    }

    // What does not overlap stays.
    project.write(".gitignore", "*.log\n# edited\n");
    project.write("mine", "by the person\n");
    assert!(matches!(merge(), MergeOutcome::Merged { .. }));
    assert_eq!(read(&project.root.join("a")), "by the agent\n");
    assert_eq!(read(&project.root.join(".gitignore")), "*.log\n# edited\n");
    assert_eq!(read(&project.root.join("mine")), "by the person\n");
    assert!(!project.root.join("b").exists());
}

#[test]
fn an_untracked_file_in_a_directory_that_becomes_a_file() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("dir/known", "known\n");
    project.commit("a directory");
    let worktree = project.worktree();
    fs::remove_dir_all(worktree.path.join("dir")).unwrap();
    write(&worktree.path.join("dir"), "a file now\n");
    project.write("dir/mine", "by the person\n");
    let before = (head(&project.root), project.git(["status", "--porcelain"]));
    let error = project.merge(&worktree).unwrap_err();
    assert!(error.to_string().contains("dir"), "{error}");
    assert_eq!((head(&project.root), project.git(["status", "--porcelain"])), before);
    assert_eq!(read(&project.root.join("dir/mine")), "by the person\n");
    fs::remove_file(project.root.join("dir/mine")).unwrap();
    assert!(matches!(project.merge(&worktree).unwrap(), MergeOutcome::Merged { .. }));
    assert_eq!(read(&project.root.join("dir")), "a file now\n");
}

#[test]
fn locks_are_never_broken_and_half_done_things_are_left() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("new"), "new\n");
    let git_dirs = [project.root.join(".git"), project.root.join(".git/worktrees/s_12")];
    for (name, expected) in [("index.lock", "index.lock"), ("MERGE_HEAD", "half done")] {
        for git_dir in &git_dirs {
            write(&git_dir.join(name), "");
            check_refused(&project, &worktree, expected);
            assert!(git_dir.join(name).exists());
            fs::remove_file(git_dir.join(name)).unwrap();
        }
    }
    assert!(matches!(project.merge(&worktree).unwrap(), MergeOutcome::Merged { .. }));
}

#[test]
fn conflicts_of_the_agent_are_not_committed() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("a"), "stashed\n");
    git(&worktree.path, ["stash", "--quiet"]);
    write(&worktree.path.join("a"), "other\n");
    commit_all(&worktree.path, "other");
    crate::support::try_git(&worktree.path, ["stash", "pop"]);
    check_refused(&project, &worktree, "files with conflicts");
}

#[test]
fn when_the_target_is_not_checked_out_only_its_branch_moves() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("new"), "new\n");
    project.git(["switch", "--quiet", "-c", "other"]);

    // Somebody else has it.
    project.git(["worktree", "add", "--quiet", "../elsewhere", "main"]);
    check_refused(&project, &worktree, "elsewhere");
    // Or is rebasing it.
    let elsewhere = ground.root.join("elsewhere");
    git(&elsewhere, ["switch", "--quiet", "--detach"]);
    write(&project.root.join(".git/worktrees/elsewhere/rebase-merge/head-name"), "refs/heads/main\n");
    check_refused(&project, &worktree, "elsewhere");
    project.git(["worktree", "remove", "--force", "../elsewhere"]);

    let files = project.git(["ls-files"]);
    let MergeOutcome::Merged { commit } = project.merge(&worktree).unwrap() else { panic!("not merged") };
    assert_eq!(revision(&project.root, "main"), commit);
    assert_eq!(project.git(["branch", "--show-current"]), "other");
    assert_eq!((project.git(["ls-files"]), project.git(["status", "--porcelain"])), (files, String::new()));
    assert_eq!(project.merge(&worktree).unwrap(), MergeOutcome::AlreadyMerged { commit });

    project.git(["branch", "-D", "main"]);
    check_refused(&project, &worktree, "no branch 'main'");
    let into = project.repository().merge(&worktree, Some("other"), MESSAGES).unwrap();
    assert!(matches!(into, MergeOutcome::Merged { .. }));
    assert!(project.root.join("new").exists());
    assert!(project.repository().remove_merged(&worktree, None).is_err());
    assert_eq!(project.repository().remove_merged(&worktree, Some("other")).unwrap().pin, None);
}

#[test]
fn a_detached_start_needs_a_branch_to_be_named() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.git(["switch", "--quiet", "--detach"]);
    let worktree = project.worktree();
    write(&worktree.path.join("new"), "new\n");
    check_refused(&project, &worktree, "name one");
    let merged = project.repository().merge(&worktree, Some("main"), MESSAGES).unwrap();
    assert!(matches!(merged, MergeOutcome::Merged { .. }));
}

#[test]
fn an_agent_that_went_to_another_branch_is_asked_back() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    git(&worktree.path, ["switch", "--quiet", "-c", "fix"]);
    write(&worktree.path.join("new"), "new\n");
    check_refused(&project, &worktree, "is on fix");
    git(&worktree.path, ["switch", "--quiet", "--detach"]);
    check_refused(&project, &worktree, "is on no branch");
    assert_eq!(read(&worktree.path.join("new")), "new\n");
}

#[test]
fn a_worktree_of_a_worktree_merges_into_it() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.git(["worktree", "add", "--quiet", "-b", "feature", "../feature"]);
    let feature = ground.root.join("feature");
    let worktree = found(&feature).make_worktree(&project.spec()).unwrap();
    write(&worktree.path.join("new"), "new\n");
    let before = project.fingerprint().into_iter().filter(|(path, _)| !path.starts_with(".git"));
    let before: Vec<_> = before.collect();
    let merged = found(&feature).merge(&worktree, None, MESSAGES).unwrap();
    assert!(matches!(merged, MergeOutcome::Merged { .. }));
    assert_eq!(read(&feature.join("new")), "new\n");
    let after = project.fingerprint().into_iter().filter(|(path, _)| !path.starts_with(".git"));
    assert_eq!(after.collect::<Vec<_>>(), before);
}

#[test]
fn without_a_name_in_the_configuration_ostler_gives_its_own() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.git(["config", "user.name", ""]);
    project.git(["config", "user.email", ""]);
    let worktree = project.worktree();
    write(&worktree.path.join("new"), "new\n");
    project.merge(&worktree).unwrap();
    assert_eq!(project.git(["log", "-1", "--format=%an <%ae>"]), "Ostler <ostler@localhost>");
}

#[test]
fn hostile_settings_for_merging_are_overruled() {
    let ground = Ground::new();
    let project = ground.project("project");
    let program = format!("{}/program", ground.root.display());
    write(&ground.root.join("program"), &format!("#!/bin/sh\ntouch '{}/ran'\n", ground.root.display()));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for (key, value) in [
        ("gpg.program", program.as_str()),
        ("commit.gpgSign", "true"),
        ("merge.verifySignatures", "true"),
        ("merge.autoStash", "true"),
        ("merge.ff", "false"),
        ("branch.main.mergeOptions", "--squash --no-commit"),
        ("core.editor", &program),
        ("submodule.recurse", "true"),
    ] {
        project.git(["config", key, value]);
    }
    let worktree = project.worktree();
    write(&worktree.path.join("new"), "new\n");
    let MergeOutcome::Merged { commit } = project.merge(&worktree).unwrap() else { panic!("not merged") };
    assert_eq!(head(&project.root), commit);
    assert!(!ground.root.join("ran").exists());
}

#[test]
fn submodules_stay_where_they_are() {
    let ground = Ground::new();
    let library = ground.project("library");
    let project = ground.project("project");
    project.git(["submodule", "--quiet", "add", "../library", "lib"]);
    configure(&project.root.join("lib"));
    project.commit("a submodule");
    let worktree = project.worktree();
    assert!(!worktree.path.join("lib/a").exists());
    write(&worktree.path.join("new"), "new\n");
    assert_eq!(project.repository().status(&worktree).unwrap().changed, 1);
    project.write("lib/untracked", "by the person\n");
    assert!(matches!(project.merge(&worktree).unwrap(), MergeOutcome::Merged { .. }));
    assert_eq!(read(&project.root.join("lib/untracked")), "by the person\n");
    assert_eq!(head(&project.root.join("lib")), head(&library.root));
    assert!(project.git(["ls-tree", "HEAD", "lib"]).starts_with("160000"));
}

/// What a git leaves that is killed while it brings files to another commit.
#[test]
fn a_fast_forward_that_was_cut_short_is_taken_back_and_done_again() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("long", "one\n");
    project.write("gone", "to be removed\n");
    project.write("mine", "committed\n");
    project.commit("before");
    let worktree = project.worktree();
    write(&worktree.path.join("long"), "one\ntwo\nthree\n");
    write(&worktree.path.join("added"), "new\n");
    fs::remove_file(worktree.path.join("gone")).expect("it is there");
    let tip = commit_all(&worktree.path, "work");
    let old = head(&project.root);
    project.write("mine", "edited by somebody\n");
    // The note, the locks, one file half written, one whole, one gone.
    let locks = ["index.lock", "ORIG_HEAD.lock", "HEAD.lock", "refs/heads/main.lock"];
    write(&project.root.join(".git/ostler-merge"), &format!("{old} {tip}\n"));
    for lock in locks {
        write(&project.root.join(".git").join(lock), "");
    }
    project.write("long", "one\ntwo\nth");
    project.write("added", "new\n");
    fs::remove_file(project.root.join("gone")).expect("it is there");
    let outcome = project.repository().merge_committed(&worktree, "merge").expect("it is finished");
    assert_eq!(outcome, MergeOutcome::Merged { commit: tip.clone() });
    assert_eq!(head(&project.root), tip);
    assert_eq!(project.git(["status", "--porcelain"]), " M mine");
    assert_eq!(read(&project.root.join("long")), "one\ntwo\nthree\n");
    assert_eq!(read(&project.root.join("mine")), "edited by somebody\n");
    for left in locks.into_iter().chain(["ostler-merge"]) {
        assert!(!project.root.join(".git").join(left).exists(), "{left}");
    }
}

/// The same, where git had written all files and the index, and only the branch was left.
#[test]
fn a_fast_forward_whose_branch_was_not_moved_is_done_again() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("long", "one\n");
    project.write("gone", "to be removed\n");
    project.commit("before");
    let worktree = project.worktree();
    write(&worktree.path.join("long"), "one\ntwo\n");
    write(&worktree.path.join("added"), "new\n");
    fs::remove_file(worktree.path.join("gone")).expect("it is there");
    let tip = commit_all(&worktree.path, "work");
    let old = head(&project.root);
    write(&project.root.join(".git/ostler-merge"), &format!("{old} {tip}\n"));
    project.git(["read-tree", "--reset", "-u", &tip.to_string()]);
    let outcome = project.repository().merge_committed(&worktree, "merge").expect("it is finished");
    assert_eq!(outcome, MergeOutcome::Merged { commit: tip.clone() });
    assert_eq!(head(&project.root), tip);
    assert_eq!(project.git(["status", "--porcelain"]), "");
    assert_eq!(read(&project.root.join("added")), "new\n");
}

/// The same, where somebody has written something of their own into one of the files since.
#[test]
fn what_somebody_wrote_after_a_fast_forward_was_cut_short_stays() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("long", "one\n");
    project.commit("before");
    let worktree = project.worktree();
    write(&worktree.path.join("long"), "one\ntwo\n");
    let tip = commit_all(&worktree.path, "work");
    let old = head(&project.root);
    write(&project.root.join(".git/ostler-merge"), &format!("{old} {tip}\n"));
    project.write("long", "mine\n");
    let outcome = project.repository().merge_committed(&worktree, "merge").expect("an outcome");
    assert_eq!(outcome, dirty(&["long"]));
    assert_eq!(read(&project.root.join("long")), "mine\n");
    assert_eq!(head(&project.root), old);
}

#[test]
fn only_what_is_committed_is_merged() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("wanted"), "1\n");
    let tip = commit_all(&worktree.path, "work");
    write(&worktree.path.join("left"), "by tests\n");
    let outcome = project.repository().merge_committed(&worktree, "merge").expect("it is merged");
    assert_eq!(outcome, MergeOutcome::Merged { commit: tip });
    assert!(project.root.join("wanted").exists() && !project.root.join("left").exists());
}

#[test]
fn a_commit_of_some_files_takes_nothing_else_along() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("staged", "staged by somebody\n");
    project.git(["add", "staged"]);
    project.write("wanted", "1\n");
    let repository = project.repository();
    let is_wanted = |path: &std::path::Path| path == std::path::Path::new("wanted");
    let made = repository.commit_changed(is_wanted, "T1.1: it").expect("git works").expect("a commit");
    assert_eq!(head(&project.root), made);
    assert_eq!(project.git(["show", "--format=%s", "--name-only", "HEAD"]), "T1.1: it\n\nwanted");
    assert_eq!(project.git(["status", "--porcelain"]), "A  staged");
    assert_eq!(repository.commit_changed(is_wanted, "again").expect("git works"), None);
    repository.exclude("worktree").expect("it can be written");
    repository.exclude("worktree").expect("it can be written");
    let text = read(&project.root.join(".git/info/exclude"));
    assert_eq!(text.lines().filter(|line| *line == "/worktree/").count(), 1, "{text}");
}

#[test]
fn what_is_put_back_is_kept_and_nothing_else_is_touched() {
    let ground = Ground::new();
    let project = ground.project("project");
    project.write("known", "as it was\n");
    commit_all(&project.root, "before");
    let worktree = project.worktree();
    let git = |args: &[&str]| git(&worktree.path, args);
    for name in ["known", "new", "staged", "other"] {
        write(&worktree.path.join(name), "half\n");
    }
    git(&["add", "staged"]);
    let repository = project.repository();
    let is_wanted = |path: &std::path::Path| path != std::path::Path::new("other");
    let pin = repository.put_back(&worktree, is_wanted).expect("git works").expect("a pin");
    assert_eq!(git(&["status", "--porcelain"]), "?? other");
    assert_eq!(read(&worktree.path.join("known")), "as it was\n");
    for name in ["known", "new", "staged"] {
        assert_eq!(git(&["show", &format!("{}:{name}", pin.commit)]), "half", "{name}");
    }
    assert_eq!(repository.put_back(&worktree, is_wanted).expect("git works"), None);
    // The pin stays when the worktree goes.
    repository.discard(&worktree).expect("it goes");
    assert_eq!(project.git(["show", &format!("{}:new", pin.commit)]), "half");
    let kept = repository.pin(&worktree).expect("git works").expect("a pin").commit;
    assert_eq!(project.git(["merge-base", kept.as_str(), pin.commit.as_str()]), pin.commit.as_str());
}

/// Whoever is killed while the live index is changed leaves a lock that is known as ours; nobody is kept out by it.
#[test]
fn a_lock_of_the_index_that_is_ours_is_taken_back_and_no_other() {
    let ground = Ground::new();
    let project = ground.project("project");
    let git = |name: &str| project.root.join(".git").join(name);
    let worktree = project.worktree();
    write(&worktree.path.join("wanted"), "1\n");
    let tip = commit_all(&worktree.path, "work");
    write(&git("ostler-index-lock"), "");
    fs::hard_link(git("ostler-index-lock"), git("index.lock")).expect("a second name");
    let outcome = project.repository().merge_committed(&worktree, "merge").expect("it is merged");
    assert_eq!(outcome, MergeOutcome::Merged { commit: tip });
    for name in ["first", "second"] {
        write(&git("ostler-index-lock"), "");
        fs::hard_link(git("ostler-index-lock"), git("index.lock")).expect("a second name");
        project.write(name, "1\n");
        let made = project.repository().commit_changed(|_| true, name).expect("git works");
        assert_eq!(made, Some(head(&project.root)));
        assert_eq!(project.git(["status", "--porcelain"]), "");
        assert!(!git("index.lock").exists() && !git("ostler-index-lock").exists());
    }
    // Of somebody else, whatever was left beside it.
    write(&git("ostler-index-lock"), "");
    write(&git("index.lock"), "half");
    project.write("third", "1\n");
    let made = project.repository().commit_changed(|_| true, "third").expect("git works");
    assert_eq!(made, Some(head(&project.root)));
    assert_eq!(read(&git("index.lock")), "half");
    fs::remove_file(git("index.lock")).expect("it is there");
    // The next brings the index up to what was committed.
    assert_eq!(project.repository().commit_changed(|_| true, "again").expect("git works"), None);
    assert_eq!(project.git(["status", "--porcelain"]), "");
}

#[test]
fn commits_are_listed_newest_first_and_those_of_branches_apart() {
    let ground = Ground::new();
    let project = ground.project("project");
    let all = project.repository().subjects("worktree/").expect("git works");
    assert_eq!(all.map(|list| list.len()), [1, 0]);
    let worktree = project.worktree();
    write(&worktree.path.join("wanted"), "1\n");
    commit_all(&worktree.path, "T1.1: on its branch");
    project.write("here", "1\n");
    project.commit("second");
    let branch = worktree.branch.split('/').next().expect("a name").to_owned();
    let [here, apart] = project.repository().subjects(&branch).expect("git works");
    let said = |list: &[(ostler_workspace::Commit, String)]| {
        list.iter().map(|(_, subject)| subject.clone()).collect::<Vec<_>>()
    };
    assert_eq!(said(&here), ["second", "first"]);
    assert_eq!(here[0].0, head(&project.root));
    assert_eq!(said(&apart), ["T1.1: on its branch"]);
    let empty = ground.empty_project("empty");
    assert_eq!(empty.repository().subjects("").expect("git works").map(|list| list.len()), [0, 0]);
}
