//! `ostler memory search`: the memory of a project, from the command line.

use std::{collections::BTreeSet, fs};

use crate::support::Place;

fn write(place: &Place, path: &str, text: &str) {
    let path = place.project().join(path);
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
}

fn paths(found: &serde_json::Value) -> Vec<&str> {
    found["files"].as_array().expect("files").iter().filter_map(|file| file["path"].as_str()).collect()
}

#[test]
fn files_are_found_in_three_layers() {
    let place = Place::with_commit();
    let missing = place.run(&["memory", "search", "x"]);
    assert_eq!(missing.code, 1, "{missing:?}");
    assert!(missing.out.starts_with("This project has no directory "), "{missing:?}");
    let review = format!("# 코드 리뷰\n{}- Critical: 토큰 검증 누락\n{}", "줄\n".repeat(9), "끝\n".repeat(9));
    write(&place, ".claude/memory/decisions/code-review.md", &review);
    write(&place, ".claude/memory/notepads/backend.md", "토큰 검증은 critical path\n");
    write(&place, ".claude/memory/plans/current.md", "# 계획\n토큰\n");
    write(&place, ".claude/memory/notes.txt", "토큰 Critical\n");
    let found = place.json(&["memory", "search", "CRITICAL", "토큰", "--layer", "1"]);
    let mut all = paths(&found);
    all.sort_unstable();
    assert_eq!(all, ["decisions/code-review.md", "notepads/backend.md"], "{found}");
    assert_eq!((&found["total"], &found["exists"]), (&2.into(), &true.into()));
    assert_eq!(found["files"][1]["sections"].as_array().map(Vec::len), Some(0), "{found}");
    let found = place.json(&["memory", "search", "critical", "--layer", "2"]);
    let review =
        found["files"].as_array().expect("files").iter().find(|it| it["path"] == "decisions/code-review.md");
    let section = &review.expect("it is found")["sections"][0];
    assert_eq!(
        (&section["heading"], section["lines"].as_array().map(Vec::len)),
        (&"코드 리뷰".into(), Some(11))
    );
    assert_eq!(section["lines"][5]["hit"], true, "{section}");
    let found = place.json(&["memory", "search", "계획", "--layer", "3"]);
    assert_eq!(found["files"][0]["text"], "# 계획\n토큰\n");
    let said = place.done(&["memory", "search", "critical", "검증 누락"]);
    assert!(
        said.starts_with("decisions/code-review.md  ") && said.contains("›    11  - Critical: "),
        "{said}"
    );
    // What is written is found at once, from one character up.
    write(&place, ".claude/memory/plans/current.md", "# 계획\n쿠키\n");
    assert_eq!(paths(&place.json(&["memory", "search", "쿠"])), ["plans/current.md"]);
    assert_eq!(place.run(&["memory", "search", "계획", "토큰"]).code, 1);
    assert_eq!(place.run(&["memory", "search", "x", "--layer", "4"]).code, 2);
    assert_eq!(place.run(&["memory", "search", ""]).code, 7);
}

#[test]
fn another_directory_of_the_project_is_searched_and_none_outside() {
    let place = Place::with_commit();
    write(&place, "docs/guide.md", "needle");
    write(&place, "docs/deep/more.MD", "needle");
    fs::write(place.project().join("../outside.md"), "needle").expect("a file");
    let found = place.json(&["memory", "search", "needle", "--in", "docs"]);
    let all: BTreeSet<&str> = paths(&found).into_iter().collect();
    assert_eq!(all, ["deep/more.MD", "guide.md"].into());
    assert_eq!(paths(&place.json(&["memory", "search", "needle", "--in", "."])).len(), 2);
    for path in ["..", "docs/../..", "/"] {
        let refused = place.run(&["memory", "search", "needle", "--in", path]);
        assert_eq!(refused.code, 7, "{path}: {refused:?}");
        assert!(refused.err.contains("is not in the project"), "{refused:?}");
    }
    std::os::unix::fs::symlink(place.project().join(".."), place.project().join("link")).expect("a link");
    let refused = place.run(&["memory", "search", "needle", "--in", "link"]);
    assert!(refused.code == 7 && refused.err.contains("a link"), "{refused:?}");
}

#[test]
fn what_is_shown_is_bounded_and_does_nothing_to_a_terminal() {
    let place = Place::with_commit();
    for number in 0..30 {
        write(&place, &format!(".claude/memory/{number:02}.md"), "needle \x1b]0;title\x07\u{202e}\n");
    }
    write(&place, ".claude/memory/\x1b[31m.md", "needle");
    write(&place, ".claude/memory/binary.md", "needle\0");
    let said = place.run(&["memory", "search", "needle"]);
    assert!(
        said.err.contains("20 of 31 files") && said.err.contains("1 files were not searched"),
        "{said:?}"
    );
    assert!(!said.out.contains(['\x1b', '\x07', '\u{202e}']), "{said:?}");
    assert_eq!(paths(&place.json(&["memory", "search", "needle", "-n", "1000"])).len(), 31);
    let long = "긴 줄 ".repeat(100_000);
    write(&place, ".claude/memory/long.md", &long);
    let found = place.json(&["memory", "search", "긴", "--layer", "3"]);
    let text = found["files"][0]["text"].as_str().expect("a text");
    assert!(text.len() <= 256 << 10 && long.starts_with(text), "{}", text.len());
    assert_eq!(found["files"][0]["cut"], true);
}

#[test]
fn the_memory_of_a_worktree_is_that_of_its_project() {
    let place = Place::with_commit();
    write(&place, ".claude/memory/context/codebase.md", "needle");
    let worktree = place.project().join("../worktree");
    place.git(&["worktree", "add", "-q", worktree.to_str().expect("a path")]);
    let mut command = place.command(&["--json", "memory", "search", "needle"]);
    let output = command.current_dir(&worktree).output().expect("it starts");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(paths(&found), ["context/codebase.md"], "{found}");
    // A search makes no project known.
    assert_eq!(place.json(&["ps"]).as_array().map(Vec::len), Some(0));
}

#[test]
fn an_agent_searches_the_memory_of_its_project() {
    let place = Place::with_commit();
    write(&place, ".claude/memory/decisions/a.md", "use cursors");
    let session =
        place.start("ostler memory search CURSORS; cd /; ostler --json memory search cursors | head -c 14");
    place.wait_for(&session, "completed");
    let said = place.done(&["logs", "--raw", &session]);
    assert!(said.starts_with("decisions/a.md") && said.contains("use cursors"), "{said}");
    assert!(said.ends_with("{\"directory\":\""), "{said}");
}
