//! Making a worktree: once, again, and after something was killed half-way.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use ostler_workspace::{MakeError, WorktreeSpec};

use crate::support::{Ground, found, git, head, read, trusted, write};

#[test]
fn a_branch_and_a_directory_for_this_user_alone() {
    let ground = Ground::new();
    let project = ground.project("project");
    let before = project.fingerprint();
    let worktree = project.worktree();
    assert_eq!(worktree.path, ground.worktree_path());
    assert_eq!((worktree.branch.as_str(), worktree.target.as_deref()), ("ostler/s_12", Some("main")));
    assert_eq!(worktree.base, head(&project.root));
    assert_eq!(read(&worktree.path.join("a")), "one\ntwo\nthree\n");
    assert_eq!(git(&worktree.path, ["branch", "--show-current"]), "ostler/s_12");
    assert_eq!(git(&worktree.path, ["status", "--porcelain"]), "");
    for directory in [worktree.path.as_path(), worktree.path.parent().unwrap()] {
        assert_eq!(directory.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
    assert_eq!(project.fingerprint(), before);
}

#[test]
fn again_is_the_same_whatever_happened_meanwhile() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("work"), "work\n");
    git(&worktree.path, ["switch", "--quiet", "-c", "elsewhere"]);
    project.git(["switch", "--quiet", "-c", "other"]);
    project.commit("later");
    assert_eq!(project.worktree(), worktree);
    assert_eq!(read(&worktree.path.join("work")), "work\n");
    let remembered = project.repository().worktree(&worktree.path, &worktree.branch).unwrap();
    assert_eq!(remembered.as_ref(), Some(&worktree));
    let base = Some(head(&project.root));
    let error = project.repository().make_worktree(&WorktreeSpec { base, ..project.spec() }).unwrap_err();
    assert!(matches!(error, MakeError::OtherBase { .. }), "{error}");
}

#[test]
fn from_a_branch_that_is_not_checked_out() {
    let ground = Ground::new();
    let project = ground.project("project");
    let first = head(&project.root);
    project.git(["branch", "target"]);
    project.write("a", "changed\n");
    project.commit("second");
    let spec = WorktreeSpec { target: Some("target".into()), ..project.spec() };
    let worktree = project.repository().make_worktree(&spec).unwrap();
    assert_eq!((worktree.base.clone(), worktree.target.as_deref()), (first, Some("target")));

    let repository = project.repository();
    assert!(!repository.has_work(&worktree).unwrap());
    write(&worktree.path.join("work"), "work\n");
    assert!(repository.has_work(&worktree).unwrap());
    repository.discard(&worktree).unwrap();
    assert!(!repository.has_work(&worktree).unwrap());

    let spec = WorktreeSpec { target: Some("gone".into()), ..project.spec() };
    let error = repository.make_worktree(&spec).unwrap_err();
    assert!(matches!(error, MakeError::TargetGone { .. }), "{error}");
}

#[test]
fn from_a_commit_from_a_detached_head_and_from_a_worktree() {
    let ground = Ground::new();
    let project = ground.project("project");
    let first = head(&project.root);
    project.write("a", "changed\n");
    project.commit("second");
    let spec = WorktreeSpec { base: Some(first.clone()), ..project.spec() };
    let worktree = project.repository().make_worktree(&spec).unwrap();
    assert_eq!((head(&worktree.path), worktree.base.clone()), (first.clone(), first));

    let inner = WorktreeSpec {
        path: ground.root.join("state/s_13"),
        branch: "ostler/s_13".into(),
        base: None,
        target: None,
    };
    let inner = found(&worktree.path).make_worktree(&inner).unwrap();
    assert_eq!((inner.base, inner.target.as_deref()), (worktree.base, Some("ostler/s_12")));

    project.git(["switch", "--quiet", "--detach"]);
    let spec = WorktreeSpec {
        path: ground.root.join("state/s_14"),
        branch: "ostler/s_14".into(),
        base: None,
        target: None,
    };
    assert_eq!(project.repository().make_worktree(&spec).unwrap().target, None);
}

#[test]
fn odd_paths() {
    let ground = Ground::new();
    for name in ["with space", "new\nline", "한글", "-dash"] {
        let project = ground.project(name);
        let path = ground.root.join("state").join(name).join(name);
        let spec = WorktreeSpec { path: path.clone(), ..project.spec() };
        let worktree = project.repository().make_worktree(&spec).unwrap();
        assert_eq!(project.repository().make_worktree(&spec).unwrap(), worktree);
        write(&path.join("new"), "new\n");
        assert_eq!(project.repository().status(&worktree).unwrap().changed, 1, "{name}");
        project.repository().discard(&worktree).unwrap();
        assert!(!path.exists());
    }
}

#[test]
fn refusals_say_what_to_do() {
    let ground = Ground::new();
    let empty = ground.empty_project("empty");
    let error = empty.repository().make_worktree(&empty.spec()).unwrap_err();
    assert!(error.to_string().contains("git commit --allow-empty"), "{error}");

    let project = ground.project("project");
    let check = |branch: &str, expected: &str| {
        let spec = WorktreeSpec { branch: branch.into(), ..project.spec() };
        let error = project.repository().make_worktree(&spec).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    };
    for name in ["-x", "--all", "", "a..b", "a b", "a~1", "HEAD", "x.lock", "/x"] {
        check(name, "cannot be the name of a branch");
    }
    project.git(["branch", "taken"]);
    project.git(["branch", "below/it/x"]);
    check("taken", "there is a branch 'taken'");
    check("taken/s_12", "there is a branch 'taken'");
    check("below/it", "there is a branch 'below/it/x'");

    write(&ground.worktree_path().join("file"), "somebody's\n");
    check("ostler/s_12", "something else is at");
    assert_eq!(read(&ground.worktree_path().join("file")), "somebody's\n");
    let relative = WorktreeSpec { path: "relative".into(), ..project.spec() };
    let error = project.repository().make_worktree(&relative).unwrap_err();
    assert!(matches!(error, MakeError::Path { .. }), "{error}");
    assert_eq!(project.git(["for-each-ref", "refs/ostler", "refs/heads/ostler"]), "");
}

#[test]
fn a_git_that_was_killed_half_way_is_finished() {
    let half_ways: [fn(&std::path::Path, &std::path::Path); 5] = [
        // Killed while it wrote files.
        |worktree, git_dir| {
            write(&git_dir.join("locked"), "initializing");
            write(&git_dir.join("index.lock"), "half");
            fs::remove_file(git_dir.join("index")).unwrap();
            fs::remove_file(worktree.join("a")).unwrap();
        },
        // Killed before it wrote HEAD.
        |_, git_dir| {
            write(&git_dir.join("locked"), "initializing");
            fs::remove_file(git_dir.join("HEAD")).unwrap();
            fs::remove_file(git_dir.join("index")).unwrap();
        },
        // The registration is there, the directory is not.
        |worktree, _| fs::remove_dir_all(worktree).unwrap(),
        // The directory is there, empty, and git knows nothing of it.
        |worktree, git_dir| {
            fs::remove_dir_all(git_dir).unwrap();
            fs::remove_dir_all(worktree).unwrap();
            fs::create_dir(worktree).unwrap();
        },
        // All is done but the mark.
        |_, _| (),
    ];
    for half_way in half_ways {
        let ground = Ground::new();
        let project = ground.project("project");
        project.git(["worktree", "add", "--quiet", "-b", "stale", "../stale"]);
        fs::remove_dir_all(ground.root.join("stale")).unwrap();
        let worktree = project.worktree();
        let git_dir = project.root.join(".git/worktrees/s_12");
        fs::remove_file(git_dir.join("ostler")).unwrap();
        half_way(&worktree.path, &git_dir);
        project.git(["switch", "--quiet", "-c", "other"]);
        project.commit("later");
        assert_eq!(project.worktree(), worktree);
        assert_eq!(git(&worktree.path, ["status", "--porcelain"]), "");
        assert_eq!(git(&worktree.path, ["branch", "--show-current"]), "ostler/s_12");
        let list = project.git(["worktree", "list", "--porcelain"]);
        assert!(list.contains("/stale"), "only the one registration is pruned: {list}");
        assert!(!list.contains("locked"), "{list}");
    }
}

#[test]
fn lost_files_come_back_with_the_commits_of_the_branch() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("work"), "work\n");
    crate::support::commit_all(&worktree.path, "work");
    fs::remove_dir_all(&worktree.path).unwrap();
    assert_eq!(project.worktree(), worktree);
    assert_eq!(read(&worktree.path.join("work")), "work\n");
}

#[test]
fn hooks_do_not_run() {
    let ground = Ground::new();
    let project = ground.project("project");
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-merge"] {
        let path = project.root.join(".git/hooks").join(hook);
        write(&path, &format!("#!/bin/sh\ntouch '{}/ran-{hook}'\n", ground.root.display()));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let worktree = project.worktree();
    write(&worktree.path.join("new"), "new\n");
    project.merge(&worktree).unwrap();
    project.repository().remove_merged(&worktree, None).unwrap();
    let ran = fs::read_dir(&ground.root).unwrap().map(|entry| entry.unwrap().file_name());
    let ran: Vec<_> = ran.filter(|name| name.to_string_lossy().starts_with("ran-")).collect();
    assert!(ran.is_empty(), "{ran:?}");
}

/// Not a test of its own: what `a_git_that_outlives_its_server_is_waited_for` starts and kills.
#[test]
fn a_server() {
    if let Some(root) = std::env::var_os("OSTLER_TEST_PROJECT") {
        let project = std::path::Path::new(&root);
        let path = project.parent().unwrap().join("state/worktrees/s_12");
        let spec = WorktreeSpec { path, branch: "ostler/s_12".into(), base: None, target: None };
        trusted(project).make_worktree(&spec).unwrap();
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test needs a server to kill")]
fn a_git_that_outlives_its_server_is_waited_for() {
    let ground = Ground::new();
    let project = ground.project("project");
    let (started, go) = (ground.root.join("started"), ground.root.join("go"));
    let wait = format!(
        "touch '{}'; n=0; while [ ! -e '{}' ] && [ $n -lt 1200 ]; do sleep 0.05; n=$((n+1)); done; cat",
        started.display(),
        go.display()
    );
    project.write(".gitattributes", "b filter=slow\n");
    project.commit("a slow filter");
    project.git(["config", "filter.slow.smudge", &wait]);
    let mut server = Command::new(std::env::current_exe().unwrap());
    server
        .args(["--exact", "make::a_server"])
        .env("OSTLER_TEST_PROJECT", &project.root)
        .stdout(Stdio::null());
    // As if a hook of some other repository had started it.
    server.env("GIT_DIR", "/nowhere").env("GIT_INDEX_FILE", "/nowhere").env("GIT_WORK_TREE", "/nowhere");
    let mut server = server.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    while !started.exists() {
        assert!(Instant::now() < deadline, "git did not begin");
        thread::sleep(Duration::from_millis(10));
    }
    server.kill().unwrap();
    server.wait().unwrap();
    let lock = fs::File::open(project.root.join(".git/ostler.lock")).unwrap();
    assert!(lock.try_lock().is_err(), "git goes on and holds the lock");
    write(&go, "");
    let worktree = project.worktree();
    assert_eq!(git(&worktree.path, ["status", "--porcelain"]), "");
    assert_eq!(read(&worktree.path.join("b")), "b\n");
}
