//! `ostler resolve` from the first line to the last, errors, and files in places where nobody expects them.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, fs::symlink, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
};

use expect_test::expect;
use ostler_orchestrate::plan::TASKS_MAX;
use serde_json::{Value, json};

use crate::support::{Place, TASKS};

#[test]
fn from_ready_to_all_done() {
    let place = Place::new(TASKS);
    place.resolve(&[], "READY:T1.2,T1.3");
    place.resolve(&["--groups"], "READY:T1.2,T1.3|T1.4");
    place.resolve(&["--phase", "1", "--force"], "READY:T1.2,T1.3");
    place.resolve(&["--phase", "2"], "ERROR:OPEN_DEP:T1.2,T1.3");
    place.resolve(&["--phase", "9"], "ERROR:TASKS_NOT_FOUND:there is no phase 9");
    let state = |tasks: Value, checkpoints: Value| {
        let mut state = place.state();
        for (list, ids) in tasks.as_object().expect("lists") {
            state["tasks"][list] = ids.clone();
        }
        state["checkpoints"] = checkpoints;
        place.write(".claude/orchestrate-state.json", &state.to_string());
    };
    state(json!({ "in_progress": ["T1.2", "P1-T1.3"] }), json!({}));
    place.resolve(&[], "WAIT");
    state(
        json!({ "in_progress": [], "completed": ["T1.2"], "failed": [{ "id": "T1.3", "reason": "x" }] }),
        json!({}),
    );
    place.resolve(&[], "ERROR:BLOCKED:T1.3");
    assert_eq!(place.state()["tasks"]["blocked"], json!(["T1.4", "T2.1"]));
    state(json!({ "completed": ["T1.2", "T1.3"], "failed": [], "skipped": ["T1.4"] }), json!({}));
    place.resolve(&[], "PHASE_DONE:1");
    state(json!({}), json!({ "phase_1": { "completed_at": "2026-01-21T10:00:00Z" } }));
    place.resolve(&[], "READY:T2.1");
    state(json!({ "completed": ["T1.2", "T1.3", "T2.1"] }), json!({ "phase_1": {} }));
    place.resolve(&[], "PHASE_DONE:2");
    state(json!({}), json!({ "phase_1": {}, "phase_2": {} }));
    place.resolve(&[], "ALL_DONE");
}

#[test]
fn errors_change_nothing() {
    let cases = [
        ("", "ERROR:TASKS_NOT_FOUND"),
        ("# nothing\n", "ERROR:PARSE_FAIL:TASKS.md:1: there is no task in it, such as '- [ ] T1.1: title'"),
        ("- [ ] T1.1: a\n- [ ] T1.x: b\n", "ERROR:PARSE_FAIL:TASKS.md:2: 'T1.x' is no id of a task"),
        ("- [ ] T1.5: a\n  - deps: T9.9\n", "ERROR:MISSING_DEP:T1.5->T9.9"),
        (
            "- [ ] T1.3: a\n  - deps: T1.4\n- [ ] T1.4: b\n  - deps: T1.3\n",
            "ERROR:CIRCULAR_DEP:T1.3->T1.4->T1.3",
        ),
        (
            "- [ ] T1.1: a\r\n- [ ] T1.1: b\r\n",
            "ERROR:PARSE_FAIL:TASKS.md:2: T1.1 is there twice; first in line 1",
        ),
    ];
    for (tasks, line) in cases {
        let place = Place::new(tasks);
        let before = place.files();
        place.resolve(&[], line);
        let mut after = place.files();
        let log = after.remove(&place.project().join(".claude/orchestrate.log"));
        assert_eq!(after, before, "{line}");
        // Where there is no task file, nobody has a project to keep a log in.
        assert_eq!(log.is_some(), !tasks.is_empty(), "{line}");
        let log = String::from_utf8(log.unwrap_or_default()).expect("text");
        let said: Vec<&str> =
            log.lines().filter_map(|line| line.split_once("] ")).map(|(_, it)| it).collect();
        assert_eq!(said, if tasks.is_empty() { vec![] } else { vec!["RESOLVE_NEXT", line] });
    }
}

#[test]
fn a_person_is_told_what_to_do_about_a_wrong_file() {
    let place = Place::new("- [ ] T1.1: Login\n- [ ] T1.2: b\n  - deps: the login\n  - deps: login\n");
    place.check(
        &["resolve"],
        &expect![[r#"
            ERROR:PARSE_FAIL:TASKS.md:4: T1.2 depends on 'login'; write its id, T1.1
            --- 15
            ostler: TASKS.md:4: T1.2 depends on 'login'; write its id, T1.1
            ostler: Put the task file right; ostler tasks check lists everything that is wrong, with its lines. Then ask again.
        "#]],
    );
    place.check(
        &["--lang", "ko", "resolve"],
        &expect![[r#"
            ERROR:PARSE_FAIL:TASKS.md:4: T1.2 depends on 'login'; write its id, T1.1
            --- 15
            ostler: TASKS.md:4: T1.2이(가) 기다리는 'login'은(는) 번호로 적으세요: T1.1
            ostler: 작업 파일을 고치세요. ostler tasks check가 틀린 곳을 줄 번호와 함께 모두 보여 줍니다. 그다음 다시 물으세요.
        "#]],
    );
    let place = Place::new(TASKS);
    place.check(
        &["resolve", "--phase", "2"],
        &expect![[r#"
            ERROR:OPEN_DEP:T1.2,T1.3
            --- 15
            ostler: what was asked for waits for T1.2,T1.3, which nobody has begun; without --phase these come first
        "#]],
    );
}

#[test]
fn a_project_that_cannot_be_written() {
    let place = Place::new(TASKS);
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_ostler"));
    let is_hidden = |path: &Path| {
        path.ancestors()
            .any(|it| it.metadata().is_ok_and(|about| about.permissions().mode() & 0o005 != 0o005))
    };
    fs::set_permissions(place.project(), fs::Permissions::from_mode(0o555)).expect("it is ours");
    let mut command = place.command(&["resolve"]);
    if rustix::process::geteuid().is_root() {
        if is_hidden(&place.project()) || is_hidden(binary.parent().expect("a directory")) {
            eprintln!("SKIPPED: another user could not even reach the project");
            return;
        }
        command.uid(64_999).gid(64_999);
    }
    let output = command.output().expect("the binary starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "READY:T1.2,T1.3\n");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.starts_with("ostler: the answer stands, and nothing was written: "), "{said}");
    assert_eq!(output.status.code(), Some(0));
    assert!(!place.project().join(".claude").exists());
    let mut command = place.command(&["tasks", "skip", "T1.2"]);
    if rustix::process::geteuid().is_root() {
        command.uid(64_999).gid(64_999);
    }
    let output = command.output().expect("the binary starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(
        said.ends_with("Check who may write to .claude in the project, and whether there is room.\n"),
        "{said}"
    );
}

#[test]
fn files_in_strange_places() {
    // Two of the places, and one that is named.
    let place = Place::new("");
    place.write("docs/planning/06-tasks.md", "- [ ] T6.1: a\n");
    place.resolve(&[], "READY:T6.1");
    place.write("docs/planning/TASKS.md", "- [ ] T5.1: a\n");
    place.resolve(&[], "READY:T5.1");
    place.write("other.md", "- [ ] T9.1: a\n- [ ] T9.1: b\n");
    place.resolve(
        &["--tasks", "other.md"],
        "ERROR:PARSE_FAIL:other.md:2: T9.1 is there twice; first in line 1",
    );
    let named = place.project().join("none.md");
    place.resolve(&["--tasks", "none.md"], &format!("ERROR:TASKS_NOT_FOUND:{}", named.display()));
    // From a directory below, it is the same project.
    let mut below = place.command(&["resolve"]);
    let output = below.current_dir(place.project().join("docs")).output().expect("the binary starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "READY:T5.1\n");
    // A directory with a task file of its own is a project of its own.
    place.write("part/TASKS.md", "- [ ] T7.1: a\n");
    fs::create_dir(place.project().join("part/src")).expect("a directory");
    let mut part = place.command(&["resolve"]);
    let output = part.current_dir(place.project().join("part/src")).output().expect("the binary starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "READY:T7.1\n");
    assert!(place.project().join("part/.claude/orchestrate-state.json").exists());
    // A directory, or a pipe that nobody writes to.
    let place = Place::new("");
    fs::create_dir(place.project().join("TASKS.md")).expect("a directory");
    place.resolve(&[], "ERROR:TASKS_NOT_FOUND:TASKS.md cannot be read: it is no regular file");
    fs::remove_dir(place.project().join("TASKS.md")).expect("it is ours");
    let pipe = place.project().join("TASKS.md");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
    place.resolve(&[], "ERROR:TASKS_NOT_FOUND:TASKS.md cannot be read: it is no regular file");
}

#[test]
fn links_lead_nowhere() {
    let place = Place::new(TASKS);
    let outside = place.root.join("outside");
    fs::create_dir(&outside).expect("a directory");
    symlink(&outside, place.project().join(".claude")).expect("a link");
    place.resolve(&[], "ERROR:STATE_CORRUPT:.claude leads out of the project");
    assert_eq!(fs::read_dir(&outside).expect("it is there").count(), 0);
    fs::remove_file(place.project().join(".claude")).expect("it is ours");
    // A state that is a link to something else is neither read nor written through.
    let secret = place.root.join("secret.json");
    fs::write(&secret, "{\"tasks\":{\"completed\":[\"T1.2\",\"T1.3\"]}}").expect("a file");
    fs::create_dir(place.project().join(".claude")).expect("a directory");
    symlink(&secret, place.project().join(".claude/orchestrate-state.json")).expect("a link");
    let output = place.run(&["resolve"]);
    assert!(
        String::from_utf8_lossy(&output.stdout)
            .starts_with("ERROR:STATE_CORRUPT:the state file cannot be read: ")
    );
    assert!(fs::read_to_string(&secret).expect("it is there").ends_with("]}}"));
}

#[test]
fn a_worktree_belongs_to_the_same_project() {
    let place = Place::new(TASKS);
    let tree = place.project().join("worktree/phase-1-auth");
    fs::create_dir_all(place.project().join(".git/worktrees/phase-1-auth")).expect("a directory");
    fs::write(place.project().join(".git/worktrees/phase-1-auth/commondir"), "../..\n").expect("a file");
    fs::create_dir_all(&tree).expect("a directory");
    let pointer = format!("gitdir: {}\n", place.project().join(".git/worktrees/phase-1-auth").display());
    fs::write(tree.join(".git"), pointer).expect("a file");
    fs::write(tree.join("TASKS.md"), "- [ ] T9.9: a copy\n").expect("a file");
    let output = place.command(&["resolve"]).current_dir(&tree).output().expect("the binary starts");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "READY:T1.2,T1.3\n");
    assert!(place.project().join(".claude/orchestrate-state.json").exists());
    assert!(!tree.join(".claude").exists());
}

#[test]
fn a_large_file() {
    let place = Place::new("");
    let line = "- [ ] not a task, only text that goes on and on and on and on and on and on and on\n";
    let mut text = line.repeat(100_000_000 / line.len());
    text.push_str("- [ ] T1.1: at the end\n");
    place.write("TASKS.md", &text);
    place.resolve(&[], "READY:T1.1");
    text.push_str(&line.repeat(50_000_000 / line.len()));
    place.write("TASKS.md", &text);
    place.resolve(&[], "ERROR:PARSE_FAIL:TASKS.md:1: the file is larger than 128 MiB");
    place.check(
        &["tasks", "check"],
        &expect![[r#"
        --- 15
        ostler: TASKS.md is larger than 128 MiB
          Divide it: a task file has at most 128 MiB. Nothing was read.
    "#]],
    );
}

#[test]
fn a_file_of_too_many_tasks() {
    let place = Place::new("");
    let tasks: Vec<String> = (0..=TASKS_MAX).map(|number| format!("- [ ] T1.{number}: a")).collect();
    place.write("TASKS.md", &tasks.join("\n"));
    let before = place.files();
    let line = "ERROR:PARSE_FAIL:TASKS.md:1000001: there are more than 1000000 tasks; divide the file";
    place.resolve(&[], line);
    let said = place.run(&["--lang", "ko", "tasks", "check"]);
    let out = String::from_utf8_lossy(&said.stdout);
    assert!(out.contains("TASKS.md:1000001: 여기서 작업이 1000000개를 넘습니다"), "{out}");
    assert_eq!(said.status.code(), Some(15));
    let mut after = place.files();
    assert!(
        after.remove(&place.project().join(".claude/orchestrate.log")).is_some(),
        "the error is in the log"
    );
    assert!(after == before, "nothing else has changed");
}
