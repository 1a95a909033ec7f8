//! A branch and directory of its own: `run --worktree`, `diff`, `merge`, `discard`.

use std::fs;

use crate::support::Place;

fn worktree(place: &Place, script: &str) -> String {
    let run = place.json(&["run", "-d", "--worktree", "--", "bash", "-c", script]);
    let session = run["sessions"][0]["id"].as_str().expect("an id").to_owned();
    place.wait_for(&session, "completed");
    session
}

#[test]
fn work_is_seen_and_merged() {
    let place = Place::with_commit();
    let session = worktree(&place, "echo three >> file.txt");
    assert_eq!(fs::read_to_string(place.project().join("file.txt")).expect("a file"), "one\ntwo\n");
    let diff = place.done(&["diff", &session]);
    assert!(diff.contains("\n+three\n"), "{diff}");
    assert!(place.done(&["diff", &session, "--stat"]).contains("file.txt"));
    assert!(place.json(&["diff", &session])["diff"].as_str().expect("text").contains("+three"));
    assert_eq!(place.done(&["merge", &session]), "the work of s_1 is merged into main\n");
    assert_eq!(place.git(&["show", "main:file.txt"]), "one\ntwo\nthree\n");
    let said = place.run(&["merge", &session]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.contains("the work of s_1 is merged into main already"), "{said:?}");
    let commit = place.git(&["rev-parse", "main"]);
    assert!(said.err.contains(&format!("git show {}", commit.trim())), "{said:?}");
}

#[test]
fn a_conflict_changes_nothing() {
    let place = Place::with_commit();
    let session = worktree(&place, "echo theirs > file.txt");
    fs::write(place.project().join("file.txt"), "ours\n").expect("a file");
    place.git(&["commit", "--quiet", "-am", "ours"]);
    let said = place.run(&["merge", &session]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(said.out.matches("as it was").count(), 1, "{said:?}");
    assert!(said.out.contains("main is as it was: both sides changed the same places"), "{said:?}");
    assert!(said.out.contains("in the way: file.txt"), "{said:?}");
    assert_eq!(fs::read_to_string(place.project().join("file.txt")).expect("a file"), "ours\n");
}

#[test]
fn there_may_be_nothing_to_merge() {
    let place = Place::with_commit();
    let session = worktree(&place, "true");
    let said = place.done(&["merge", &session]);
    assert!(said.starts_with("s_1 has changed nothing, so there was nothing to merge"), "{said}");
}

#[test]
fn there_may_be_no_branch_to_merge_into() {
    let place = Place::with_commit();
    place.git(&["checkout", "--quiet", "--detach"]);
    let session = worktree(&place, "echo three >> file.txt");
    let said = place.run(&["merge", &session]);
    assert_eq!(said.code, 7, "{said:?}");
    assert!(said.err.starts_with("ostler: s_1 began on a detached HEAD"), "{said:?}");
    assert!(said.err.contains("git merge ostler/s_1"), "{said:?}");
    assert!(place.done(&["diff", &session]).contains("+three"), "it is still there");
}

#[test]
fn what_is_discarded_is_kept() {
    let place = Place::with_commit();
    let session = worktree(&place, "echo new > new.txt");
    let said = place.run(&["discard", &session]);
    assert_eq!(said.code, 7, "nobody can have agreed: {said:?}");
    assert!(said.err.contains("--yes"), "{said:?}");
    let said = place.done(&["discard", &session, "--yes"]);
    let kept = said.trim_end().rsplit(' ').next().expect("a ref");
    assert_eq!(place.git(&["show", &format!("{kept}:new.txt")]), "new\n");
    for command in ["diff", "merge", "discard"] {
        let said = place.run(&[command, &session]);
        assert_eq!(said.code, 7, "{said:?}");
        assert!(said.err.contains(&format!("its work is kept as {kept}")), "{said:?}");
    }
}

#[test]
fn there_may_be_none() {
    let place = Place::with_commit();
    let session = place.start("true");
    place.wait_for(&session, "completed");
    for command in ["diff", "merge", "discard"] {
        let said = place.run(&[command, &session]);
        assert_eq!(said.code, 7, "{command}: {said:?}");
        assert!(said.err.starts_with("ostler: s_1 has no worktree"), "{command}: {said:?}");
    }
}
