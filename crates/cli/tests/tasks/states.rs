//! The state file, its lock and the log: what others write stays, and what is damaged is never taken as nothing.

use std::{fs, os::unix::fs::symlink, thread};

use expect_test::expect;
use ostler_orchestrate::{
    Project, State,
    plan::{Plan, State as TaskState},
};
use serde_json::{Value, json};

use crate::support::{Place, TASKS};

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
            "metrics": { "total_tasks": 5, "completed_count": 0, "failed_count": 0 },
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

    place.resolve(&["--phase", "2", "--force"], "ERROR:OPEN_DEP:T1.2,T1.3");
    place.write("TASKS.md", "");
    place.resolve(&[], "ERROR:PARSE_FAIL:TASKS.md:1: there is no task in it, such as '- [ ] T1.1: title'");
    let log = place.read(".claude/orchestrate.log");
    let lines: Vec<&str> = log.lines().map(|line| line.split_once("] ").expect("a time").1).collect();
    assert_eq!(
        lines[..4],
        ["RESOLVE_NEXT", "READY:T1.2,T1.3", "RESOLVE_NEXT:PHASE:2:FORCE", "ERROR:OPEN_DEP:T1.2,T1.3"]
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
    // One that says nothing is nobody's to take over, and whoever finds it is told so.
    place.write(lock, "");
    let unowned = "does not say whose it is; a person removes it";
    place.resolve(&[], &format!("ERROR:STATE_LOCKED:{lock} {unowned}"));
    let said = place.run(&["tasks", "skip", "T1.2"]);
    let err = String::from_utf8_lossy(&said.stderr);
    assert!(err.contains(&format!("rm {lock}")) && !err.contains("Try again"), "{err}");
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
                        ((), vec![format!("DONE:{id}").into()])
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
