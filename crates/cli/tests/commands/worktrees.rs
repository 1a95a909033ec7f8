//! A branch and directory of its own: `run --worktree`, `diff`, `merge`, `discard`.

use std::{fs, path::Path, process::Command};

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
    let korean = place.run(&["--lang", "ko", "merge", &session]);
    assert!(korean.out.contains("main은 그대로입니다: 양쪽이 같은 곳을 바꿨습니다"), "{korean:?}");
    let said = place.run(&["merge", &session]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(said.out.matches("as it was").count(), 1, "{said:?}");
    assert!(said.out.contains("main is as it was: both sides changed the same places"), "{said:?}");
    assert!(said.out.contains("in the way: file.txt"), "{said:?}");
    assert_eq!(fs::read_to_string(place.project().join("file.txt")).expect("a file"), "ours\n");
    let path = place.session(&session)["worktree"]["path"].as_str().expect("a path").to_owned();
    let next =
        format!("git -C {path} merge main, edit the files, git -C {path} commit -a; then: ostler merge s_1");
    assert!(said.out.contains(&next), "{said:?}");
    // What is said there works.
    let mut merge = Command::new("git");
    merge.args([
        "-C",
        &path,
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.org",
        "merge",
        "--quiet",
        "main",
    ]);
    assert!(!merge.output().expect("git starts").status.success(), "both sides changed it");
    fs::write(Path::new(&path).join("file.txt"), "both\n").expect("a file");
    place.git(&["-C", &path, "commit", "--quiet", "-a", "--no-edit"]);
    fs::write(place.project().join("file.txt"), "edited\n").expect("a file");
    let said = place.run(&["merge", &session]);
    let root = place.project().canonicalize().expect("it is there");
    let next = format!("Commit or stash these files in {}; then: ostler merge s_1", root.display());
    assert!(said.out.contains(&next), "{said:?}");
    place.git(&["checkout", "--quiet", "file.txt"]);
    assert_eq!(place.done(&["merge", &session]), "the work of s_1 is merged into main\n");
    assert_eq!(place.git(&["show", "main:file.txt"]), "both\n");
}

#[test]
fn a_subdirectory_stays_the_subdirectory() {
    let place = Place::with_commit();
    let folder = place.project().join("packages/app");
    fs::create_dir_all(&folder).expect("a folder");
    let mut run =
        place.command(&["--json", "run", "-d", "--worktree", "--", "bash", "-c", "pwd; echo x > here"]);
    let output = run.current_dir(&folder).output().expect("the binary starts");
    let run: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let session = run["sessions"][0]["id"].as_str().expect("an id").to_owned();
    let view = place.wait_for(&session, "completed");
    let path = view["worktree"]["path"].as_str().expect("a path");
    assert_eq!(place.done(&["logs", &session]), format!("{path}/packages/app\n"));
    assert_eq!(view["directory"], format!("{path}/packages/app"));
    place.done(&["merge", &session]);
    assert_eq!(place.git(&["show", "main:packages/app/here"]), "x\n");
}

#[test]
fn what_is_not_committed_is_left_out_or_taken_along() {
    let place = Place::with_commit();
    fs::write(place.project().join("file.txt"), "edited\n").expect("a file");
    fs::write(place.project().join("new.txt"), "new\n").expect("a file");
    let said = place.run(&["run", "--worktree", "--", "bash", "-c", "cat file.txt; ls"]);
    assert_eq!(said.out, "one\ntwo\nfile.txt\n", "{said:?}");
    let note = "without 2 files that are not committed (file.txt, new.txt); --with-changes takes them along";
    assert!(said.err.contains(note), "{said:?}");
    let said = place.run(&[
        "run",
        "--worktree",
        "--with-changes",
        "--",
        "bash",
        "-c",
        "cat file.txt; ls; echo more > mine.txt",
    ]);
    assert_eq!(said.out, "edited\nfile.txt\nnew.txt\n", "{said:?}");
    assert!(!said.err.contains("not committed ("), "{said:?}");
    // Its work is only what it did, and the checkout is as it was.
    let diff = place.done(&["diff", "last"]);
    assert!(diff.contains("+more") && !diff.contains("edited"), "{diff}");
    assert_eq!(fs::read_to_string(place.project().join("new.txt")).expect("a file"), "new\n");
    assert_eq!(place.git(&["status", "--short"]), " M file.txt\n?? new.txt\n");
    assert_eq!(place.run(&["run", "--with-changes", "--", "true"]).code, 2);
    let said = place.run(&["merge", "last"]);
    assert!(said.out.contains("Commit or stash these files in"), "{said:?}");
    place.git(&["add", "."]);
    place.git(&["commit", "--quiet", "-m", "own"]);
    assert_eq!(place.done(&["merge", "last"]), "the work of s_2 is merged into main\n");
    assert_eq!(place.git(&["show", "main:mine.txt"]), "more\n");
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
