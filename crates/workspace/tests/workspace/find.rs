//! Which repository a directory belongs to, and what is checked out there.

use std::{fs, path::Path};

use ostler_workspace::{Head, Repository};

use crate::support::{Ground, found, git, head};

#[test]
fn outside_of_git_there_is_none() {
    assert_eq!(Repository::find(Path::new("/")).unwrap(), None);
    let missing = Repository::find(Path::new("/does/not/exist")).unwrap_err();
    assert!(missing.to_string().contains("/does/not/exist"), "{missing}");
}

#[test]
fn every_checkout_leads_to_the_same_project() {
    let ground = Ground::new();
    let project = ground.project("project");
    fs::create_dir(project.root.join("deep")).unwrap();
    project.git(["worktree", "add", "--quiet", "-b", "other", "../other"]);
    let other = ground.root.join("other");
    git(&other, ["worktree", "add", "--quiet", "-b", "third", "../third"]);
    let third = ground.root.join("third");
    for (directory, root) in [
        (project.root.clone(), &project.root),
        (project.root.join("deep"), &project.root),
        (project.root.join(".git"), &project.root),
        (other.clone(), &other),
        (third.clone(), &third),
    ] {
        let repository = found(&directory);
        assert_eq!(repository.main_root(), project.root, "{}", directory.display());
        assert_eq!(repository.directory_root(), root, "{}", directory.display());
    }
    assert_eq!(found(&third).head().unwrap().branch.as_deref(), Some("third"));
}

#[test]
fn odd_paths() {
    let ground = Ground::new();
    for name in ["with space", "new\nline", "한글 프로젝트", "-dash", "line end\n"] {
        let project = ground.project(name);
        let repository = project.repository();
        assert_eq!(repository.main_root(), project.root);
        assert_eq!(repository.directory_root(), project.root);
    }
}

#[test]
fn bare_repositories_and_submodules() {
    let ground = Ground::new();
    let project = ground.project("project");
    git(&ground.root, ["clone", "--quiet", "--bare", "project", "bare.git"]);
    let bare = ground.root.join("bare.git");
    let repository = found(&bare);
    assert_eq!((repository.main_root(), repository.directory_root()), (bare.as_path(), bare.as_path()));
    assert_eq!(repository.head().unwrap().branch.as_deref(), Some("main"));
    git(&bare, ["worktree", "add", "--quiet", "../linked", "main"]);
    let linked = ground.root.join("linked");
    assert_eq!(found(&linked).main_root(), bare);
    assert_eq!(found(&linked).directory_root(), linked);

    let parent = ground.project("parent");
    parent.git(["submodule", "--quiet", "add", "../project", "sub"]);
    let sub = parent.root.join("sub");
    assert_eq!((found(&sub).main_root(), found(&sub).directory_root()), (sub.as_path(), sub.as_path()));
    assert_eq!(found(&sub).head().unwrap().commit, Some(head(&project.root)));
}

#[test]
fn an_empty_git_directory_is_none_and_one_may_lie_elsewhere() {
    let ground = Ground::new();
    let project = ground.project("project");
    let inner = project.root.join("inner");
    fs::create_dir_all(inner.join(".git")).unwrap();
    assert_eq!(found(&inner).directory_root(), project.root);

    git(&ground.root, ["init", "--quiet", "--separate-git-dir", "elsewhere", "apart"]);
    let (apart, elsewhere) = (ground.root.join("apart"), ground.root.join("elsewhere"));
    let repository = found(&apart);
    assert_eq!(repository.main_root(), elsewhere);
    assert_eq!(repository.directory_root(), apart);
}

#[test]
fn head_is_a_branch_or_detached_or_unborn() {
    let ground = Ground::new();
    let project = ground.empty_project("project");
    let check = |branch: Option<&str>, commit| {
        let expected = Head { branch: branch.map(str::to_owned), commit };
        assert_eq!(project.repository().head().unwrap(), expected);
    };
    check(Some("main"), None);
    let commit = project.commit("first");
    check(Some("main"), Some(commit.clone()));
    project.git(["switch", "--quiet", "--detach"]);
    check(None, Some(commit));
}
