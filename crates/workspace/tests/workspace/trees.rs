//! What is in a commit, checkouts that are thrown away, and a branch of approved trees.

use std::fs;

use ostler_workspace::{Approved, Commit, Export, GitError, Limits, Repository, remove_disposable};

use crate::{
    checkpoint::checkpoint,
    support::{Ground, git, write},
};

fn names(repository: &Repository, commit: &Commit) -> Vec<String> {
    let files = repository.files(commit).expect("files are listed");
    files.iter().map(|file| file.path.display().to_string()).collect()
}

fn made(export: Result<Export, GitError>) -> Vec<Commit> {
    match export.expect("git") {
        Export::Made(commits) => commits,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_commit_is_read_without_its_checkout() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    let before = checkpoint(&repository, None, 1).commit;
    project.write("b", "another\n");
    project.write("안녕 x", "new\n");
    fs::remove_file(project.root.join("a")).expect("it is there");
    let after = checkpoint(&repository, None, 2).commit;
    // What stands there now is something else.
    project.write("b", "later\n");
    assert_eq!(names(&repository, &after), [".gitignore", "b", "안녕 x"]);
    let changed = repository.changed(&before, &after).expect("changes are listed");
    let changed: Vec<String> = changed.iter().map(|it| format!("{} {}", it.how, it.path.display())).collect();
    assert_eq!(changed, ["D a", "M b", "A 안녕 x"]);
    let files = repository.files(&after).expect("files are listed");
    let b = files.iter().find(|file| file.path.ends_with("b")).expect("it is there");
    assert_eq!(repository.read(b, 100).expect("it is read"), b"another\n");
    assert_eq!(repository.read(b, 3).expect("as far as it is wanted"), b"ano");
    assert_ne!(repository.tree_now(Limits::NONE).expect("a tree"), repository.tree(&after).expect("a tree"));
    let change = repository.first_change(&after, Limits::NONE, true).expect("it is looked at");
    assert_eq!(change.expect("something").display().to_string(), "b");
    project.write("b", "another\n");
    assert_eq!(repository.first_change(&after, Limits::NONE, true).expect("it is looked at"), None);
    // What is new counts only for who wants that.
    project.write("c", "new\n");
    assert_eq!(repository.first_change(&after, Limits::NONE, false).expect("it is looked at"), None);
}

#[test]
fn what_happens_in_a_place_goes_with_it() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    project.write("new", "untracked\n");
    project.write("x.log", "ignored\n");
    let commit = checkpoint(&repository, None, 1).commit;
    let refs = git(&project.root, ["for-each-ref"]);
    let place = ground.root.join("state/phases/r_1/1-1/verify-1");
    repository.make_disposable(&place, &commit).expect("a place");
    assert_eq!(fs::read_to_string(place.join("new")).expect("it is there"), "untracked\n");
    assert!(!place.join("x.log").exists(), "what git ignores is not there");
    // Whoever works there has the history, and a repository of its own.
    write(&place.join("planted"), "x\n");
    git(&place, ["add", "."]);
    git(&place, ["-c", "user.name=T", "-c", "user.email=t@x", "commit", "-qm", "planted"]);
    git(&place, ["tag", "planted"]);
    git(&place, ["config", "core.fsmonitor", "true"]);
    assert_eq!(git(&project.root, ["for-each-ref"]), refs);
    assert!(!git(&project.root, ["config", "--list"]).contains("fsmonitor"));
    // Asked for again it is the same; made of another commit, or half made, it is made anew.
    repository.make_disposable(&place, &commit).expect("the same");
    assert!(place.join("planted").exists());
    fs::remove_file(place.join(".git/ostler-complete")).expect("the note");
    repository.make_disposable(&place, &commit).expect("another");
    assert!(!place.join("planted").exists());
    remove_disposable(&place).expect("it goes");
    remove_disposable(&place).expect("it is gone");
    assert!(!place.exists());
}

#[test]
fn a_branch_of_what_was_approved() {
    let ground = Ground::new();
    let project = ground.project("project");
    let repository = project.repository();
    project.write("one", "1\n");
    let one = checkpoint(&repository, None, 1).commit;
    project.write("two", "2\n");
    let two = checkpoint(&repository, None, 2).commit;
    let base = repository.parent(&one).expect("it is looked up").expect("the first commit");
    let approved =
        |commit: &Commit, message: &str| Approved { commit: commit.clone(), message: message.into() };
    let all = [approved(&one, "Phase 1"), approved(&two, "Phase 2")];
    let first = made(repository.export("ostler/r_1", Some(&base), &all[..1]));
    let both = made(repository.export("ostler/r_1", Some(&base), &all));
    assert_eq!(first[0], both[0], "the same gives the same");
    assert_eq!(made(repository.export("ostler/r_1", Some(&base), &all)), both);
    for (made, from) in both.iter().zip([&one, &two]) {
        assert_eq!(repository.tree(made).expect("a tree"), repository.tree(from).expect("a tree"));
    }
    git(&project.root, ["branch", "mine"]);
    let before = git(&project.root, ["rev-parse", "mine"]);
    let taken = repository.export("mine", Some(&base), &all).expect("git");
    assert_eq!(taken, Export::Taken, "it leads elsewhere");
    assert_eq!(git(&project.root, ["rev-parse", "mine"]), before);
    for name in ["-x", "x y..z", "HEAD", "-f", "refs/heads/x", ""] {
        assert_eq!(repository.export(name, Some(&base), &all).expect("git"), Export::BadName, "{name}");
    }
    // A branch that somebody works on does not move under their files.
    made(repository.export("shown", Some(&base), &all[..1]));
    git(&project.root, ["worktree", "add", "--quiet", "../shown", "shown"]);
    let held = repository.export("shown", Some(&base), &all).expect("git");
    assert!(matches!(held, Export::CheckedOut { place } if place.ends_with("shown")));
    assert_eq!(git(&project.root, ["rev-parse", "shown"]).trim(), first[0].as_str());
    repository.keep_commit("phases/here/r_1/1-1", &one).expect("it is kept");
    repository.keep_commit("phases/here/r_1/1-1", &two).expect("under the same name");
    let kept = git(&project.root, ["rev-parse", "refs/ostler/phases/here/r_1/1-1"]);
    assert_eq!(kept.trim(), two.as_str());
}
