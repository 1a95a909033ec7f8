//! What a session did, without touching anything of it.

use std::{fs, path::PathBuf};

use ostler_workspace::{DiffFormat, DiffOptions, GitError, Status, Worktree};

use crate::support::{Ground, Project, commit_all, git, head, odd_names, work_in, write};

fn diff(project: &Project<'_>, worktree: &Worktree, format: DiffFormat, color: bool) -> String {
    let options = DiffOptions { format, color, bytes_max: 1 << 20 };
    let diff = project.repository().diff(worktree, &options).expect("there is a diff");
    assert!(!diff.truncated);
    String::from_utf8_lossy(&diff.bytes).into_owned()
}

#[test]
fn everything_since_the_base_and_nothing_touched() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    let nothing = Status { changed: 0, uncommitted: 0, ahead: 0, nested: Vec::new() };
    assert_eq!(project.repository().status(&worktree).unwrap(), nothing);
    work_in(&worktree.path);
    let state = || {
        let index = fs::read(project.root.join(".git/worktrees/s_12/index")).unwrap();
        (index, git(&worktree.path, ["status", "--porcelain", "--ignored"]), head(&worktree.path))
    };
    let before = state();
    let changed = 6 + odd_names().len();
    let expected = Status { changed, uncommitted: changed - 1, ahead: 1, nested: Vec::new() };
    assert_eq!(project.repository().status(&worktree).unwrap(), expected);
    let patch = diff(&project, &worktree, DiffFormat::Patch, false);
    for part in ["+committed", "+TWO", "-two", "+staged", "deleted file mode", "new file mode 100755", "+odd"]
    {
        assert!(patch.contains(part), "{part} is not in {patch}");
    }
    assert!(!patch.contains("ignored.log") && !patch.contains('\x1b'));
    assert!(diff(&project, &worktree, DiffFormat::Patch, true).contains("\x1b["));
    assert!(diff(&project, &worktree, DiffFormat::Stat, false).contains("한글 이름"));
    assert_eq!(state(), before);
    let git_dir = fs::read_dir(project.root.join(".git/worktrees/s_12")).unwrap();
    let left: Vec<_> = git_dir.map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("ostler-index")), "{left:?}");
}

#[test]
fn a_long_diff_is_cut() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("long"), &"line\n".repeat(100_000));
    let options = DiffOptions { format: DiffFormat::Patch, color: false, bytes_max: 1000 };
    let diff = project.repository().diff(&worktree, &options).unwrap();
    assert_eq!((diff.bytes.len(), diff.truncated), (1000, true));
}

#[test]
fn what_git_was_told_to_overlook_is_seen() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    write(&worktree.path.join("a"), "changed\n");
    write(&worktree.path.join("b"), "changed\n");
    git(&worktree.path, ["update-index", "--assume-unchanged", "a"]);
    git(&worktree.path, ["update-index", "--skip-worktree", "b"]);
    assert_eq!(git(&worktree.path, ["status", "--porcelain"]), "");
    assert_eq!(project.repository().status(&worktree).unwrap().changed, 2);
}

#[test]
fn a_repository_inside_is_named_and_left_out() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    for name in ["empty", "full"] {
        let inside = worktree.path.join(name);
        write(&inside.join("file"), "file\n");
        git(&inside, ["init", "--quiet"]);
    }
    commit_all(&worktree.path.join("full"), "inside");
    write(&worktree.path.join("new"), "new\n");
    let status = project.repository().status(&worktree).unwrap();
    let nested = ["empty", "full"].map(PathBuf::from).to_vec();
    assert_eq!((status.changed, status.nested), (1, nested));
}

#[test]
fn programs_of_the_configuration_do_not_run_for_a_diff() {
    let ground = Ground::new();
    let project = ground.project("project");
    let worktree = project.worktree();
    let program = format!("touch '{}/ran'; cat", ground.root.display());
    for key in ["diff.external", "diff.evil.command", "diff.evil.textconv", "core.fsmonitor", "core.pager"] {
        project.git(["config", key, &program]);
    }
    write(&worktree.path.join(".gitattributes"), "* diff=evil\n");
    write(&worktree.path.join("a"), "changed\n");
    assert!(diff(&project, &worktree, DiffFormat::Patch, false).contains("+changed"));
    project.repository().status(&worktree).unwrap();
    assert!(!ground.root.join("ran").exists());
}

#[test]
fn the_file_that_leads_to_the_repository_is_not_asked() {
    let ground = Ground::new();
    let project = ground.project("project");
    let other = ground.project("other");
    let worktree = project.worktree();
    write(&worktree.path.join("new"), "new\n");
    let link = format!("gitdir: {}\n", other.root.join(".git").display());
    write(&worktree.path.join(".git"), &link);
    assert_eq!(project.repository().status(&worktree).unwrap().changed, 1);
    fs::remove_file(worktree.path.join(".git")).unwrap();
    assert_eq!(project.repository().status(&worktree).unwrap().changed, 1);
    fs::remove_dir_all(&worktree.path).unwrap();
    let error = project.repository().status(&worktree).unwrap_err();
    assert!(matches!(error, GitError::NoWorktree { .. }), "{error}");
}
