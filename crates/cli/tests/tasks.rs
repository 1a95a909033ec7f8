//! `ostler tasks` and `ostler resolve` as people and main agents meet them: every line, every exit code, the files beside
//! them, and bad input. No server is ever started.
#![expect(clippy::disallowed_methods, reason = "these tests run the binary and make its files")]

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{
        fs::{PermissionsExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use expect_test::{Expect, expect};
use ostler_orchestrate::{
    Project, State,
    plan::{Plan, State as TaskState, TASKS_MAX},
};
use serde_json::{Value, json};

const TASKS: &str = "## Phase 1: Auth\n- [x] T1.1: Schema\n- [ ] T1.2: API\n  - deps: T1.1\n  - owner: backend\n- [ ] T1.3: Page\n  \
                     - deps: T1.1\n- [ ] T1.4: Try it\n  - deps: T1.2, T1.3\n  - verify: make test\n  - [ ] it works\n## Phase 2: \
                     Orders\n- [ ] T2.1: Orders\n";

/// A project of its own for each test.
struct Place {
    root: PathBuf,
}

impl Place {
    fn new(tasks: &str) -> Place {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let root =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tasks-{}-{number}", std::process::id()));
        fs::remove_dir_all(&root).ok();
        // What is around the target directory is none of the test's business.
        fs::create_dir_all(root.join("shop/.git")).expect("the target directory can be written");
        let place = Place { root };
        if !tasks.is_empty() {
            place.write("TASKS.md", tasks);
        }
        place
    }

    fn project(&self) -> PathBuf {
        self.root.join("shop")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.project().join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("the project can be written");
        fs::write(path, text).expect("the project can be written");
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.project().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn state(&self) -> Value {
        serde_json::from_str(&self.read(".claude/orchestrate-state.json")).expect("JSON")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ostler"));
        command.args(arguments).current_dir(self.project()).stdin(Stdio::null()).env_clear();
        command.env("OSTLER_HOME", self.root.join("home")).env("XDG_CONFIG_HOME", self.root.join("config"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary starts")
    }

    /// What is printed, and the exit code.
    #[track_caller]
    fn check(&self, arguments: &[&str], expect: &Expect) {
        let output = self.run(arguments);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        expect.assert_eq(&format!("{out}--- {}\n{err}", output.status.code().unwrap_or(-1)));
        assert!(!self.root.join("home").exists(), "no server is started");
    }

    /// The one line of `resolve`.
    #[track_caller]
    fn resolve(&self, arguments: &[&str], line: &str) {
        let output = self.run(&[&["resolve"], arguments].concat());
        let code = if line.starts_with("ERROR:") { 15 } else { 0 };
        let said = (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code());
        assert_eq!(said, (format!("{line}\n"), Some(code)), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Every file with its content.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut open = vec![self.project()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).expect("it can be read") {
                let path = entry.expect("an entry").path();
                if path.is_dir() && !path.is_symlink() {
                    open.push(path);
                } else {
                    files.insert(path.clone(), fs::read(&path).unwrap_or_default());
                }
            }
        }
        files
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        fs::set_permissions(self.project(), fs::Permissions::from_mode(0o755)).ok();
        fs::remove_dir_all(&self.root).ok();
    }
}

#[test]
fn from_ready_to_all_done() {
    let place = Place::new(TASKS);
    place.resolve(&[], "READY:T1.2,T1.3");
    place.resolve(&["--groups"], "READY:T1.2,T1.3|T1.4");
    place.resolve(&["--phase", "1", "--force"], "READY:T1.2,T1.3");
    place.resolve(&["--phase", "2"], "ERROR:BLOCKED:T1.2,T1.3");
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
        assert_eq!(place.files(), before, "{line}");
    }
}

#[test]
fn the_state_and_the_log() {
    let place = Place::new(TASKS);
    place.resolve(&[], "READY:T1.2,T1.3");
    let mut state = place.state();
    for time in ["started_at", "last_updated"] {
        let at = state["execution"][time].as_str().expect("a time").to_owned();
        assert!(at.len() == 20 && at.ends_with('Z'), "{at}");
        state["execution"][time] = json!("…Z");
    }
    assert_eq!(
        state,
        json!({
            "version": "2.0", "mode": "ultra-thin", "project": "shop", "task_file": "TASKS.md",
            "execution": { "current_phase": 1, "worktree": null, "started_at": "…Z", "last_updated": "…Z" },
            "tasks": {
                "pending": ["T1.4", "T2.1"], "ready": ["T1.2", "T1.3"], "in_progress": [], "completed": [], "failed": [],
                "blocked": [],
            },
            "dependencies": { "T1.2": ["T1.1"], "T1.3": ["T1.1"], "T1.4": ["T1.2", "T1.3"] },
            "checkpoints": {},
            "metrics": { "total_tasks": 5, "completed_count": 1, "failed_count": 0 },
            "config": { "max_parallel": 3, "retry_limit": 10 },
        })
    );
    let text = place.read(".claude/orchestrate-state.json");
    let order: Vec<usize> =
        ["version", "mode", "project", "execution", "tasks", "dependencies", "checkpoints", "config"]
            .iter()
            .map(|key| text.find(&format!("\n  \"{key}\":")).expect("a key"))
            .collect();
    assert!(order.is_sorted(), "people find it in its order: {text}");
    for part in [
        "\n    \"pending\": [\n      \"T1.4\",\n      \"T2.1\"\n    ],\n",
        "\n    \"blocked\": []\n  },\n",
        "\n  \"dependencies\": {\n    \"T1.2\": [\n      \"T1.1\"\n    ],\n    \"T1.3\"",
    ] {
        assert!(text.contains(part), "one thing in a line, and each below its own: {text}");
    }

    place.resolve(&["--phase", "2", "--force"], "ERROR:BLOCKED:T1.2,T1.3");
    place.write("TASKS.md", "");
    place.resolve(&[], "ERROR:PARSE_FAIL:TASKS.md:1: there is no task in it, such as '- [ ] T1.1: title'");
    let log = place.read(".claude/orchestrate.log");
    let lines: Vec<&str> = log.lines().map(|line| line.split_once("] ").expect("a time").1).collect();
    assert_eq!(
        lines[..4],
        ["RESOLVE_NEXT", "READY:T1.2,T1.3", "RESOLVE_NEXT:PHASE:2:FORCE", "ERROR:BLOCKED:T1.2,T1.3"]
    );
    assert!(lines[5].starts_with("ERROR:PARSE_FAIL:"));
    assert!(log.starts_with("[20") && log.as_bytes()[20] == b']', "{log}");
    assert!(!place.project().join(".claude/orchestrate-state.json.lock").exists());
}

#[test]
fn what_others_wrote_is_kept() {
    let place = Place::new(TASKS);
    let wild = json!({
        "version": "1.9", "note": { "from": "somebody" }, "tasks": { "completed": [{ "task_id": "T1.2", "by": "x" }], "queue": [1], "T1.3": "completed" },
        "checkpoints": null, "metrics": "none",
    });
    place.write(".claude/orchestrate-state.json", &format!("\u{feff}{wild}"));
    place.resolve(&[], "READY:T1.4");
    let state = place.state();
    assert_eq!(
        (&state["note"], &state["version"], &state["metrics"]),
        (&wild["note"], &wild["version"], &wild["metrics"])
    );
    assert_eq!(state["tasks"]["completed"], wild["tasks"]["completed"]);
    assert_eq!(state["tasks"]["queue"], json!([1]));
    // What is as it was is not written again.
    let before =
        fs::metadata(place.project().join(".claude/orchestrate-state.json")).and_then(|it| it.modified());
    place.resolve(&[], "READY:T1.4");
    let after =
        fs::metadata(place.project().join(".claude/orchestrate-state.json")).and_then(|it| it.modified());
    assert_eq!(before.expect("a time"), after.expect("a time"));
    // Nor is what only stands closer together.
    let close = place.state().to_string();
    place.write(".claude/orchestrate-state.json", &close);
    place.resolve(&[], "READY:T1.4");
    assert_eq!(place.read(".claude/orchestrate-state.json"), close);
    let own =
        json!({ "tasks": { "ready": { "T1.1": 1 }, "pending": 5, "blocked": [{}] }, "dependencies": [] });
    place.write(".claude/orchestrate-state.json", &own.to_string());
    place.resolve(&[], "READY:T1.2,T1.3");
    let state = place.state();
    assert_eq!(state["tasks"]["pending"], json!(["T1.4", "T2.1"]), "what is the resolver's, it replaces");
    assert_eq!(state["dependencies"]["T1.4"], json!(["T1.2", "T1.3"]));
}

#[test]
fn a_state_that_is_half_there() {
    for broken in ["", "{\"version\":\"2.0\",\"tasks\":{\"comp", "[1]", "\u{0}\u{0}"] {
        let place = Place::new(TASKS);
        place.write(".claude/orchestrate-state.json", broken);
        for _ in 0..2 {
            let output = place.run(&["resolve"]);
            let line = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(line.starts_with("ERROR:STATE_CORRUPT:") && line.lines().count() == 1, "{line}");
            assert!(line.contains("a copy is kept as .claude/orchestrate-state.json.corrupt"), "{line}");
            assert_eq!(output.status.code(), Some(15));
        }
        assert_eq!(place.read(".claude/orchestrate-state.json"), broken, "it stays until somebody decides");
        assert_eq!(place.read(".claude/orchestrate-state.json.corrupt"), broken);
        place.resolve(&["--repair"], "READY:T1.2,T1.3");
        assert_eq!(place.read(".claude/orchestrate-state.json.corrupt"), broken);
        assert_eq!(place.state()["project"], "shop");
    }
}

#[test]
fn each_state_that_is_put_aside_is_kept() {
    let place = Place::new(TASKS);
    for broken in ["first", "second", "first", "third"] {
        place.write(".claude/orchestrate-state.json", broken);
        place.resolve(&["--repair"], "READY:T1.2,T1.3");
    }
    for (name, broken) in [("corrupt", "first"), ("corrupt.2", "second"), ("corrupt.3", "third")] {
        assert_eq!(place.read(&format!(".claude/orchestrate-state.json.{name}")), broken);
    }
}

#[test]
fn what_helps_against_a_state_that_cannot_be_used() {
    let place = Place::new(TASKS);
    place.write(".claude/orchestrate-state.json", "[1]");
    place.check(
        &["tasks", "skip", "T1.2"],
        &expect![[r#"
        --- 15
        ostler: the state was not changed: it is no JSON object; a copy is kept as .claude/orchestrate-state.json.corrupt
          Put the file right, or begin anew from the done marks, the log and git: ostler resolve --repair
    "#]],
    );
    place.check(
        &["resolve"],
        &expect![[r#"
        ERROR:STATE_CORRUPT:it is no JSON object; a copy is kept as .claude/orchestrate-state.json.corrupt
        --- 15
        ostler: Put the file right, or begin anew from the done marks, the log and git: ostler resolve --repair
    "#]],
    );
    let said = place.run(&["exec", "T1.2"]);
    assert_eq!(
        String::from_utf8_lossy(&said.stdout),
        "FAIL:T1.2:ERROR:STATE_CORRUPT:see ostler resolve; --repair begins anew\n"
    );
    let place = Place::new(TASKS);
    let me = std::process::id();
    place.write(".claude/orchestrate-state.json.lock", &me.to_string());
    let said = place.run(&["tasks", "skip", "T1.2"]);
    assert_eq!(said.status.code(), Some(15));
    assert_eq!(
        String::from_utf8_lossy(&said.stderr),
        format!(
            "ostler: the state was not changed: process {me} holds the state file\n  \
             Try again when that process is through; the lock of one that has ended is taken over.\n"
        )
    );
    // A directory that is not of the project.
    let place = Place::new(TASKS);
    symlink("/proc", place.project().join(".claude")).expect("a link");
    let said = place.run(&["tasks", "skip", "T1.2"]);
    assert_eq!(said.status.code(), Some(15));
    assert!(!String::from_utf8_lossy(&said.stderr).contains("--repair"), "{said:?}");
}

#[test]
fn locks() {
    let place = Place::new(TASKS);
    let lock = ".claude/orchestrate-state.json.lock";
    place.write(lock, &std::process::id().to_string());
    let me = std::process::id();
    place.resolve(&[], &format!("ERROR:STATE_LOCKED:held by process {me}"));
    assert_eq!(place.read(lock), me.to_string(), "a live one is never broken");
    assert!(!place.project().join(".claude/orchestrate-state.json").exists());
    place.write(lock, "{\"pid\":1073741823,\"start_time\":1}");
    place.resolve(&[], "READY:T1.2,T1.3");
    assert!(!place.project().join(lock).exists(), "a dead one is taken over");
    // Also who would change nothing waits for whoever may be about to.
    place.write(lock, &me.to_string());
    place.resolve(&[], &format!("ERROR:STATE_LOCKED:held by process {me}"));
}

#[test]
fn racing_writers_lose_nothing() {
    let count = 40;
    let mut tasks = String::new();
    for number in 0..count * 2 {
        tasks.push_str("- [ ] T1.");
        tasks.push_str(&number.to_string());
        tasks.push_str(": a\n");
    }
    let place = Place::new(&tasks);
    let writer = |first: usize| {
        let project = Project::find(&place.project(), None);
        let plan = Plan::read(tasks.clone().into_bytes());
        for number in first..first + count {
            let id = format!("T1.{number}").parse().expect("an id");
            project
                .change_state(
                    0,
                    || State::new("shop", &plan, 0),
                    |state| {
                        state.executed(&id, TaskState::InProgress);
                        state.executed(&id, TaskState::Completed);
                        ((), vec![format!("DONE:{id}")])
                    },
                )
                .expect("its turn comes");
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| writer(0));
        scope.spawn(|| writer(count));
        for _ in 0..6 {
            let output = place.run(&["resolve"]);
            assert_eq!(output.status.code(), Some(0), "{output:?}");
        }
    });
    let state = place.state();
    assert_eq!(state["tasks"]["completed"].as_array().map(Vec::len), Some(count * 2));
    assert_eq!(state["tasks"]["in_progress"], json!([]));
    let log = place.read(".claude/orchestrate.log");
    assert_eq!(log.lines().filter(|line| line.contains("] DONE:")).count(), count * 2);
    place.resolve(&[], "PHASE_DONE:1");
}

#[test]
fn a_state_with_parts_of_another_kind_is_not_taken_as_nothing() {
    let place = Place::new("- [ ] T1.1: a\n- [ ] T1.2: b\n");
    let kept = "a copy is kept as .claude/orchestrate-state.json.corrupt";
    for (state, why) in [
        (json!({ "tasks": { "completed": "T1.1" } }), "tasks.completed is no list of tasks"),
        (json!({ "tasks": { "failed": [1.1] } }), "tasks.failed is no list of tasks"),
        (json!({ "tasks": ["T1.1"] }), "tasks is no object"),
        (json!({ "checkpoints": "phase_1" }), "checkpoints is no object"),
    ] {
        place.write(".claude/orchestrate-state.json", &state.to_string());
        fs::remove_file(place.project().join(".claude/orchestrate-state.json.corrupt")).ok();
        place.resolve(&[], &format!("ERROR:STATE_CORRUPT:{why}; {kept}"));
    }
    // What others begin with, and ids as keys, which stay when more come.
    let state = json!({ "tasks": { "completed": { "T1.1": {} }, "failed": null }, "checkpoints": [] });
    place.write(".claude/orchestrate-state.json", &state.to_string());
    place.resolve(&[], "READY:T1.2");
    let project = Project::find(&place.project(), None);
    let recorded = project.change_state(
        1,
        || unreachable!("there is one"),
        |state| {
            state.executed(&"T1.2".parse().expect("an id"), TaskState::Completed);
            ((), Vec::new())
        },
    );
    recorded.expect("it can be written");
    assert_eq!(place.state()["tasks"]["completed"], json!({ "T1.1": {}, "T1.2": {} }));
    place.write(".claude/orchestrate-state.json", "{\"tasks\":[]}");
    place.resolve(&[], "READY:T1.1,T1.2");
}

#[test]
fn a_state_that_is_about_another_file_is_told() {
    let place = Place::new("- [x] T1.1: a\n- [ ] T1.2: b\n");
    place.write("sprint2.md", "- [ ] T1.1: c\n- [ ] T1.2: d\n");
    place.resolve(&[], "READY:T1.2");
    assert_eq!(place.state()["task_file"], "TASKS.md");
    let told = |arguments: &[&str]| String::from_utf8_lossy(&place.run(arguments).stderr).into_owned();
    let sentence = "ostler: the state in .claude is about TASKS.md; what is done there counts as done here where the id \
                    is the same\n";
    for command in [&["resolve"] as &[&str], &["tasks", "list"], &["tasks", "first", "T1.1"]] {
        assert_eq!(told(command).matches(sentence).count(), 0, "{command:?}");
        let other = [command, &["--tasks", "./sprint2.md"]].concat();
        assert_eq!(told(&other), sentence, "{other:?}");
    }
    // A file that was only given another name is the same one.
    fs::rename(place.project().join("TASKS.md"), place.project().join("plan.md")).expect("it is ours");
    assert_eq!(told(&["resolve", "--tasks", "plan.md"]), "");
    assert_eq!(place.state()["task_file"], "plan.md");
    // Also where nothing but the name has changed.
    fs::rename(place.project().join("plan.md"), place.project().join("next.md")).expect("it is ours");
    assert_eq!(told(&["resolve", "--tasks", "next.md"]), "");
    assert_eq!(place.state()["task_file"], "next.md");
    fs::rename(place.project().join("next.md"), place.project().join("plan.md")).expect("it is ours");
    // Whoever else writes the state does not say which file it is about.
    place.write(".claude/orchestrate-state.json", "{\"tasks\":{\"completed\":[\"T1.1\"]}}");
    place.resolve(&["--tasks", "sprint2.md"], "READY:T1.2");
    assert_eq!(told(&["resolve", "--tasks", "plan.md"]), "");
    assert_eq!(place.state()["task_file"], Value::Null);
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
    assert_eq!(place.files(), before, "nothing has changed");
}

#[test]
fn tasks_can_be_looked_at() {
    let place = Place::new(TASKS);
    place.check(
        &["tasks", "list"],
        &expect![[r#"
        ID    STATUS     PHASE  OWNER    WAITS FOR   WHAT
        T1.1  ✓ done     1                           Schema
        T1.2  ○ ready    1      backend  T1.1        API
        T1.3  ○ ready    1               T1.1        Page
        T1.4  · waiting  1               T1.2, T1.3  Try it
        T2.1  · waiting  2               phase 1     Orders
        --- 0
    "#]],
    );
    place.check(
        &["tasks", "show", "T1.4"],
        &expect![[r#"
        T1.4  · waiting  Try it
        TASKS.md:8
        phase      1
        waits for  T1.2, T1.3
        verify     make test
          [ ] it works
        --- 0
    "#]],
    );
    place.check(
        &["--lang", "ko", "tasks", "show", "P1-T1.4"],
        &expect![[r#"
        T1.4  · 대기  Try it
        TASKS.md:8
        단계         1
        기다리는 것  T1.2, T1.3
        검증         make test
          [ ] it works
        --- 0
    "#]],
    );
    assert!(!place.project().join(".claude").exists(), "looking changes nothing");
}

#[test]
fn tasks_can_be_drawn() {
    let place = Place::new(TASKS);
    place.check(
        &["tasks", "graph"],
        &expect![[r#"
        phase 1: Auth
        ✓  T1.1  Schema
        ○  T1.2  API     ← T1.1
        ○  T1.3  Page    ← T1.1
        ·  T1.4  Try it  ← T1.2, T1.3
        phase 2: Orders
        ·  T2.1  Orders  ← phase 1
        --- 0
    "#]],
    );
    place.check(
        &["tasks", "graph", "--mermaid"],
        &expect![[r#"
        flowchart TD
          subgraph phase_1["Phase 1: Auth"]
            T1.1["T1.1: Schema"]:::done
            T1.2["T1.2: API"]
            T1.3["T1.3: Page"]
            T1.4["T1.4: Try it"]
          end
          subgraph phase_2["Phase 2: Orders"]
            T2.1["T2.1: Orders"]
          end
          T1.1 --> T1.2
          T1.1 --> T1.3
          T1.2 --> T1.4
          T1.3 --> T1.4
          classDef done opacity:0.5
        --- 0
    "#]],
    );
    place.check(
        &["tasks", "critical-path"],
        &expect![[r#"
        The longest chain of open tasks has 3 of 4:
        ○  T1.2  API
        ·  T1.4  Try it
        ·  T2.1  Orders
        --- 0
    "#]],
    );
    place.check(
        &["tasks", "check"],
        &expect![[r#"
        TASKS.md: 5 tasks in 2 phases, and it can be worked with
        --- 0
    "#]],
    );
    place.check(
        &["tasks", "show", "T9.9"],
        &expect![[r#"
        --- 8
        ostler: there is no task T9.9 in TASKS.md
          See them: ostler tasks list
    "#]],
    );
    let list: Value = serde_json::from_slice(&place.run(&["--json", "tasks", "list"]).stdout).expect("JSON");
    assert_eq!(
        list[3],
        json!({
            "id": "T1.4", "title": "Try it", "line": 8, "phase": 1, "state": "pending", "needs": ["T1.2", "T1.3"],
            "after_phase": null, "owner": null, "files": [], "verify": "make test", "risk": null, "priority": "medium",
            "worktree": null, "parallel": null, "criteria": [{ "text": "it works", "done": false }],
        })
    );
    assert!(!place.project().join(".claude").exists(), "looking changes nothing");
}

#[test]
fn one_is_no_plural() {
    let place = Place::new("- [ ] T1.1: a\n  - priority: high\n");
    place.check(
        &["tasks", "check"],
        &expect![[r#"
        TASKS.md: 1 task in 1 phase, and it can be worked with
        --- 0
    "#]],
    );
    let shown = place.run(&["tasks", "show", "T1.1"]).stdout;
    assert!(String::from_utf8_lossy(&shown).contains("priority  high\n"), "{shown:?}");
    place.write("TASKS.md", "- [ ] T1.1: a\n  - deps: T9.9\n");
    place.check(
        &["tasks", "check"],
        &expect![[r#"
        TASKS.md:2: T1.1 depends on T9.9, which is not there
        TASKS.md: 1 problem to put right; nothing is done before
        --- 15
    "#]],
    );
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let place = Place::new("- [ ] T1.1: a\n  - deps: T9.9, Epic 3\n- [ ] T1.1: b\n");
    place.check(
        &["tasks", "check"],
        &expect![[r#"
        TASKS.md:3: T1.1 is there twice; first in line 1
        TASKS.md:2: T1.1 depends on T9.9, which is not there
        TASKS.md:2: warning: T1.1: nobody waits for 'Epic 3', it is no task
        TASKS.md: 2 problems to put right; nothing is done before
        --- 15
    "#]],
    );
    place.check(
        &["--lang", "ko", "tasks", "check"],
        &expect![[r#"
        TASKS.md:3: T1.1이(가) 두 번 나옵니다. 처음은 1번째 줄입니다
        TASKS.md:2: T1.1이(가) 기다리는 T9.9이(가) 없습니다
        TASKS.md:2: 주의: T1.1: 'Epic 3'은(는) 작업이 아니어서 아무도 기다리지 않습니다
        TASKS.md: 문제 2개. 고치기 전에는 아무것도 하지 않습니다
        --- 15
    "#]],
    );
    place.check(
        &["tasks", "list"],
        &expect![[r#"
        --- 15
        ostler: TASKS.md:3: T1.1 is there twice; first in line 1
          See all of it: ostler tasks check. Nothing was changed.
    "#]],
    );
    place.check(&["--json", "tasks", "graph"], &expect![[r#"
        --- 15
        {"error":{"hint":"See all of it: ostler tasks check. Nothing was changed.","title":"TASKS.md:3: T1.1 is there twice; first in line 1","type":"plan"},"exit_code":15}
    "#]]);
    let place = Place::new("");
    place.check(
        &["tasks", "list"],
        &expect![[r#"
        --- 8
        ostler: there is no task file here (TASKS.md, docs/planning/TASKS.md, docs/planning/06-tasks.md)
          Write one, or name it with --tasks FILE. Its form stands in docs/orchestrate.md.
    "#]],
    );
    place.check(
        &["--lang", "ko", "tasks", "list"],
        &expect![[r#"
        --- 8
        ostler: 작업 파일이 없습니다(TASKS.md, docs/planning/TASKS.md, docs/planning/06-tasks.md)
          작업 파일을 만들거나 --tasks FILE로 지정하세요. 형식은 docs/ko/orchestrate.md에 있습니다.
    "#]],
    );
    place.check(
        &["--json", "resolve"],
        &expect![[r#"
        {"about":{"code":"TASKS_NOT_FOUND","detail":null},"kind":"thin_error","line":"ERROR:TASKS_NOT_FOUND"}
        --- 15
    "#]],
    );
}

#[test]
fn what_a_person_decides() {
    let place = Place::new(TASKS);
    place.check(
        &["tasks", "first", "T1.3"],
        &expect![[r#"
        T1.3 comes first as soon as it can run.
        --- 0
    "#]],
    );
    place.resolve(&[], "READY:T1.3,T1.2");
    place.check(
        &["tasks", "skip", "T1.2"],
        &expect![[r#"
        T1.2 is skipped: whoever waits for it may go on.
        --- 0
    "#]],
    );
    place.resolve(&[], "READY:T1.3");
    place.check(
        &["tasks", "skip", "T1.1"],
        &expect![[r#"
        --- 7
        ostler: T1.1 is completed, so that cannot be
          See them: ostler tasks list
    "#]],
    );
    place.check(
        &["tasks", "retry", "P1-T1.2"],
        &expect![[r#"
        T1.2 is to be done again.
        --- 0
    "#]],
    );
    place.resolve(&[], "READY:T1.3,T1.2");
    place.check(
        &["tasks", "skip", "T9.9"],
        &expect![[r#"
        --- 8
        ostler: there is no task T9.9 in TASKS.md
          See them: ostler tasks list
    "#]],
    );
    place.check(
        &["tasks", "close", "9"],
        &expect![[r#"
        --- 8
        ostler: there is no phase 9
          See them: ostler tasks list
    "#]],
    );
    place.check(
        &["tasks", "close", "1"],
        &expect![[r#"
        --- 7
        ostler: phase 1 is not over: T1.2, T1.3, T1.4
          --with-failures does without what has failed and what waits for it; the rest has to be done.
    "#]],
    );
    let mut state = place.state();
    state["tasks"]["failed"] = json!(["T1.2"]);
    state["tasks"]["completed"] = json!(["T1.3"]);
    place.write(".claude/orchestrate-state.json", &state.to_string());
    place.resolve(&[], "ERROR:BLOCKED:T1.2");
    place.check(
        &["--lang", "ko", "tasks", "close", "1"],
        &expect![[r#"
        --- 7
        ostler: 1단계가 끝나지 않았습니다: T1.2, T1.4
          --with-failures는 실패한 작업과 그것을 기다리는 작업을 건너뜁니다. 나머지는 해야 합니다.
    "#]],
    );
    place.check(
        &["tasks", "close", "1", "--with-failures"],
        &expect![[r#"
        Phase 1 is over.
          T1.2 is skipped: whoever waits for it may go on.
          T1.4 is skipped: whoever waits for it may go on.
        --- 0
    "#]],
    );
    let state = place.state();
    assert_eq!(state["tasks"]["skipped"], json!(["T1.2", "T1.4"]));
    assert_eq!(state["checkpoints"]["phase_1"]["tasks"], json!(["T1.1", "T1.2", "T1.3", "T1.4"]));
    assert_eq!(
        (&state["execution"]["current_phase"], &state["metrics"]["completed_count"]),
        (&json!(2), &json!(2))
    );
    place.resolve(&[], "READY:T2.1");
    let log = place.read(".claude/orchestrate.log");
    for line in
        ["CUSTOM:PRIORITY:T1.3", "CUSTOM:SKIP:T1.2", "CUSTOM:RETRY:T1.2", "CUSTOM:SKIP:T1.4", "PHASE_DONE:1"]
    {
        assert!(log.contains(&format!("] {line}\n")), "{line}: {log}");
    }
    // Whoever does a task decides nothing about the others.
    let output =
        place.command(&["tasks", "skip", "T2.1"]).env("OSTLER_SESSION", "s_1@x").output().expect("it starts");
    assert_eq!(output.status.code(), Some(7));
    place.resolve(&[], "READY:T2.1");
}
