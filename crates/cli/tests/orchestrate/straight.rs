//! Everything goes well, or as well as it can.

use std::{
    fs,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use ostler_server::api::OutcomeKind;
use serde_json::Value;

use crate::support::{DEADLINE, Place, exists};

pub(crate) const THREE: &str = "\
## Phase 0: Setup
- [ ] T0.1: one
  - files: src/T0.1.txt
- [ ] T0.2: two
  - files: src/T0.2.txt
## Phase 1: Auth
- [ ] T1.1: three
  - files: src/T1.1.txt
- [ ] T1.2: four
  - deps: [T1.1]
  - files: src/T1.2.txt
## Phase 2: More
- [ ] T2.1: five
  - files: src/T2.1.txt
";

#[test]
fn three_phases_are_done_and_merged() {
    let place = Place::new(THREE);
    // It needs no server beforehand.
    let (out, err, code) = place.ostler(&["orchestrate", "--ultra-thin", "--resume"]);
    assert_eq!(code, 0, "{out}{err}");
    for word in ["T0.1 begins: one", "T1.2 is done", "phase 1 is merged", "tasks: 5 done, 0 failed"] {
        assert!(out.contains(word), "{word}: {out}");
    }
    let files = place.tree().0;
    for task in ["T0.1", "T0.2", "T1.1", "T1.2", "T2.1"] {
        assert!(files.contains(&format!("src/{task}.txt")), "{task}: {files}");
    }
    let subjects = place.subjects();
    assert!(subjects.contains(&"T1.2: four".to_owned()), "{subjects:?}");
    // Phase 0 in the checkout, every other in a worktree of its own.
    let ran = place.read("ran");
    assert!(ran.contains("T0.1 ") && ran.contains("/project/worktree/phase-1-auth\n"), "{ran}");
    assert!(
        ran.lines().find(|line| line.starts_with("T0.1 ")).is_some_and(|line| line.ends_with("/project")),
        "{ran}"
    );
    assert!(!exists(&place.project().join("worktree/phase-1-auth")), "what is merged is taken away");
    assert!(place.git(&["status", "--porcelain"]).lines().all(|line| !line.contains("worktree")));
    assert!(place.git(&["branch", "--list", "worktree/*"]).is_empty());
    let state: Value =
        serde_json::from_str(&place.read("project/.claude/orchestrate-state.json")).expect("JSON");
    assert_eq!(state["checkpoints"]["phase_1"]["merged"], true, "{state}");
    assert_eq!(state["checkpoints"]["phase_2"]["merge_commit"], place.git(&["rev-parse", "HEAD"]), "{state}");
    assert!(!place.read("project/TASKS.md").contains("[ ]"));
    let (line, _, code) = place.ostler(&["resolve"]);
    assert_eq!((line.as_str(), code), ("ALL_DONE\n", 0));
    let (out, _, code) = place.ostler(&["orchestrate", "--verify"]);
    assert_eq!(code, 0, "{out}");
    what_is_lost_is_found_in_git(&place, &state);
}

/// Without the state, the log and the marks, git still knows what was done, and which commits have it.
fn what_is_lost_is_found_in_git(place: &Place, before: &Value) {
    place.write("project/.claude/orchestrate-state.json", "{\"version\":");
    fs::remove_file(place.root.join("project/.claude/orchestrate.log")).expect("it is there");
    place.git(&["checkout", "-q", "TASKS.md"]);
    let (line, err, code) = place.ostler(&["resolve", "--repair"]);
    assert_eq!((line.as_str(), code), ("PHASE_DONE:0\n", 0), "{err}");
    let state: Value =
        serde_json::from_str(&place.read("project/.claude/orchestrate-state.json")).expect("JSON");
    assert_eq!(state["tasks"]["completed"].as_array().map(Vec::len), Some(5), "{state}");
    assert_eq!(state["metrics"]["completed_count"], before["metrics"]["completed_count"], "{state}");
    // With the log, what was recorded is there too.
    place.write("project/.claude/orchestrate-state.json", "{\"version\":");
    let log = [0, 1, 2].map(|phase| format!("[2026-01-21T10:00:00] PHASE_DONE:{phase}\n")).concat();
    place.write("project/.claude/orchestrate.log", &log);
    let (line, err, code) = place.ostler(&["resolve", "--repair"]);
    assert_eq!((line.as_str(), code), ("ALL_DONE\n", 0), "{err}");
    let state: Value =
        serde_json::from_str(&place.read("project/.claude/orchestrate-state.json")).expect("JSON");
    for phase in ["phase_1", "phase_2"] {
        let commit = |state: &Value| state["checkpoints"][phase]["merge_commit"].clone();
        assert_eq!(commit(&state), commit(before), "{phase}: {state}");
    }
}

#[test]
fn a_task_that_fails_twice_is_told_why_and_passes() {
    let place = Place::new("- [ ] T0.1: one\n  - files: src/T0.1.txt\n");
    place.behave(
        "T0.1",
        "n=$(cat $R/count 2>/dev/null || echo 0); n=$((n+1)); echo $n > $R/count\n\
         if [ $n -lt 3 ]; then exit $n; fi; echo good > src/T0.1.txt\n",
    );
    let (out, err, code) = place.ostler(&["orchestrate"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("and 3 tries") && out.contains("retries: 2"), "{out}");
    let prompts = place.read("prompts.T0.1");
    assert!(prompts.contains("## The last attempt") && prompts.contains("exit code 2"), "{prompts}");
}

#[test]
fn each_of_several_that_fail_is_tried_again_itself() {
    let ids = ["T0.1", "T0.2", "T0.3"];
    let tasks = ids.map(|id| format!("- [ ] {id}: task\n  - files: src/{id}.txt\n")).concat();
    let place = Place::new(&tasks);
    place.behave(
        "any",
        "if [ -e $R/tried.$id ]; then echo done > src/$id.txt; else touch $R/tried.$id; exit 1; fi\n",
    );
    let (out, err, code) = place.ostler(&["orchestrate"]);
    assert_eq!(code, 0, "{out}{err}");
    let ran = place.read("ran");
    for id in ids {
        assert_eq!(ran.lines().filter(|line| line.starts_with(id)).count(), 2, "{id}: {ran}");
        assert!(place.tree().0.contains(id), "{id}");
    }
}

#[test]
fn only_what_is_declared_is_committed_and_nothing_of_others() {
    let place = Place::new("- [ ] T0.1: one\n  - files: src/T0.1.txt\n");
    // Somebody was in the middle of something.
    fs::write(place.project().join("src/shared.txt"), "mine\n").expect("a file");
    fs::write(place.project().join("notes.txt"), "mine too\n").expect("a file");
    place.behave("T0.1", "echo done > src/T0.1.txt; echo more > src/extra.txt\n");
    let (out, err, code) = place.ostler(&["orchestrate"]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(place.git(&["show", "--format=", "--name-only", "HEAD^"]), "src/T0.1.txt");
    assert_eq!(
        place.git(&["show", "--format=", "--name-only", "HEAD"]),
        "src/extra.txt",
        "the rest, with the phase"
    );
    assert_eq!(place.subjects()[0], "Phase 0", "it has no title");
    let status = place.git(&["status", "--porcelain", "--", "src", "notes.txt"]);
    assert!(status.contains("M src/shared.txt") && status.contains("?? notes.txt"), "{status}");
}

#[test]
fn a_loop_can_be_paused_and_cancelled() {
    let mut place = Place::new(THREE);
    place.start(None);
    place.behave("T0.1", "while [ ! -e $R/go ]; do sleep 0.05; done; echo done > src/T0.1.txt\n");
    // This one has done its work when it is cancelled.
    place.behave("T0.2", "echo done > src/T0.2.txt; while [ ! -e $R/go ]; do sleep 0.05; done\n");
    let run = place.begin(&[]);
    let view = place.until(&run, "two tasks that run", |view| {
        let is_running = |id: &str| view.tasks.iter().any(|task| task.id == id && task.run.is_some());
        is_running("T0.1") && is_running("T0.2") && place.project().join("src/T0.2.txt").exists()
    });
    place.post::<Value>(&format!("/sessions/{}/pause", view.session), &Value::Null).expect("a pause");
    let task =
        view.tasks.iter().find(|task| task.id == "T0.1").and_then(|task| task.run.clone()).expect("a run");
    let status = |place: &Place| {
        let run: Value = place.get(&format!("/runs/{task}")).expect("a run");
        run["sessions"][0]["status"].as_str().unwrap_or_default().to_owned()
    };
    let deadline = Instant::now() + DEADLINE;
    while status(&place) != "paused" {
        assert!(Instant::now() < deadline, "{}", status(&place));
        thread::sleep(Duration::from_millis(20));
    }
    place.post::<Value>(&format!("/sessions/{}/continue", view.session), &Value::Null).expect("go on");
    place.post::<Value>(&format!("/sessions/{}/cancel", view.session), &Value::Null).expect("an end");
    let view = place.end(&run);
    assert_eq!(view.outcome.expect("an outcome").outcome, OutcomeKind::Cancelled);
    let task = view.tasks.iter().find(|task| task.id == "T0.1").expect("the task");
    assert_eq!(task.state, "ready", "it is given back");
    // And goes on where it was.
    fs::write(place.root.join("go"), "").expect("a file");
    let again = place.begin(&[]);
    assert_eq!(place.end(&again).counts.completed, 5);
}

#[test]
fn others_may_resolve_and_execute_meanwhile() {
    let tasks = (1..=9)
        .fold(String::new(), |tasks, n| tasks + &format!("- [ ] T0.{n}: task\n  - files: src/T0.{n}.txt\n"));
    let mut place = Place::new(&tasks);
    place.start(None);
    let run = place.begin(&["--max-parallel", "2"]);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for n in (1..=9).rev() {
                    place.command(&["resolve"]).output().expect("a line");
                    place.command(&["exec", &format!("T0.{n}")]).output().expect("a line");
                }
            });
        }
    });
    let view = place.end(&run);
    assert_eq!((view.counts.completed, view.counts.failed), (9, 0));
    let state: Value =
        serde_json::from_str(&place.read("project/.claude/orchestrate-state.json")).expect("JSON");
    assert_eq!(state["tasks"]["completed"].as_array().map(Vec::len), Some(9), "no update is lost: {state}");
    // Each was done once, whoever did it.
    let ran = place.read("ran");
    for n in 1..=9 {
        assert_eq!(ran.lines().filter(|line| line.starts_with(&format!("T0.{n} "))).count(), 1, "{ran}");
    }
}

#[test]
fn a_task_leads_to_the_session_that_has_done_it() {
    let mut place = Place::new(THREE);
    place.start(None);
    let run = place.begin(&[]);
    let view = place.end(&run);
    for task in &view.tasks {
        let shown: Value =
            place.get(&format!("/projects/{}/tasks/{}", view.project.id, task.id)).expect("a task");
        let session = shown["session"].as_str().expect("a link").to_owned();
        let session: Value = place.get(&format!("/sessions/{session}")).expect("it leads somewhere");
        assert_eq!(
            (session["run"].as_str(), &session["status"]),
            (task.run.as_deref(), &Value::from("completed"))
        );
    }
}

/// A task that `ostler exec` has begun, and whose agent works on when that is killed.
fn left_by_exec(place: &Place) {
    place.behave("T0.1", "until [ -e \"$R/go\" ]; do sleep 0.05; done; echo done > src/T0.1.txt");
    let mut command = place.command(&["exec", "T0.1"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
    let deadline = Instant::now() + DEADLINE;
    while place.read("ran").is_empty() {
        assert!(Instant::now() < deadline, "the agent does not begin");
        thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("it runs");
    child.wait().expect("it ends");
}

#[test]
fn what_exec_has_begun_is_gone_on_with() {
    goes_on_with_exec("## Phase 0\n- [ ] T0.1: a\n  - files: src/T0.1.txt\n");
    // Also where a loop itself would have worked in a worktree.
    goes_on_with_exec("## Phase 1: Auth\n### [ ] Phase 1, T0.1: a\n**Files**: `src/T0.1.txt`\n");
}

fn goes_on_with_exec(tasks: &str) {
    let mut place = Place::new(tasks);
    place.start(None);
    left_by_exec(&place);
    // The server goes on without its client; a loop takes over what the last server has left.
    place.kill();
    place.start(None);
    let run = place.begin(&[]);
    place.until(&run, "it was taken over", |view| view.tasks.iter().any(|it| it.run.is_some()));
    place.write("go", "");
    let view = place.end(&run);
    assert_eq!(place.read("ran").lines().count(), 1, "{view:?}");
    assert!(view.tasks.iter().all(|it| it.tries == 1), "{view:?}");
    let marked = place.read("project/TASKS.md");
    assert!(marked.contains("[x]") && !marked.contains("[ ]"), "{marked}");
    assert!(place.tree().0.contains("src/T0.1.txt"), "{view:?}");
}

#[test]
fn what_exec_has_begun_and_nobody_saw_end_is_taken_in() {
    let tasks = "## Phase 0\n- [ ] T0.1: a\n  - files: src/T0.1.txt\n";
    let mut place = Place::new(tasks);
    place.start(None);
    left_by_exec(&place);
    place.write("go", "");
    let deadline = Instant::now() + DEADLINE;
    while place.ostler(&["ps"]).0.contains("builder") {
        assert!(Instant::now() < deadline, "the agent does not end");
        thread::sleep(Duration::from_millis(20));
    }
    let run = place.begin(&[]);
    let view = place.end(&run);
    assert_eq!(place.read("ran").lines().count(), 1, "{view:?}");
    assert!(place.read("project/TASKS.md").contains("[x] T0.1"));
}

#[test]
fn whoever_wants_another_loop_than_the_one_that_runs_is_told_so() {
    let mut place = Place::new("## Phase 0: All\n- [ ] T0.1: one\n\n## Phase 1: More\n- [ ] T1.1: two\n");
    place.behave("T0.1", "until [ -e $R/go ]; do sleep 0.05; done\n");
    place.start(None);
    place.write("project/other.md", "- [ ] T0.7: other\n");
    let run = place.begin(&["--phase", "0", "--max-parallel", "2"]);
    let others: &[&[&str]] = &[
        &["--phase", "1"],
        &["--max-parallel", "5"],
        &["--tasks", "other.md"],
        &["--phase", "0", "--agent", "builder"],
    ];
    for other in others {
        let (out, err, code) = place.ostler(&[&["orchestrate"], *other].concat());
        assert_eq!((out.as_str(), code), ("", 7), "{other:?}: {err}");
        let named = other[other.len() - 2];
        assert!(err.contains(&run) && err.contains(named), "{other:?}: {err}");
    }
    let same: &[&[&str]] =
        &[&[], &["--phase", "0"], &["--phase", "0", "--max-parallel", "2"], &["--tasks", "TASKS.md"]];
    for same in same {
        assert_eq!(place.begin(same), run, "{same:?}");
    }
    place.write("go", "");
    place.end(&run);
}

#[test]
fn a_phase_that_is_merged_without_tests_says_so() {
    let mut place = Place::new("## Phase 0: First\n- [ ] T0.1: a\n## Phase 1: Next\n- [ ] T1.1: b\n");
    place.start(None);
    let (out, err, code) = place.ostler(&["orchestrate"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("phase 0 is over, without tests: none were found\n"), "{out}{err}");
    assert!(out.contains("phase 1 is merged without tests, none were found: "), "{out}{err}");
    assert!(out.contains("phase 1 is over\n"), "{out}{err}");
    assert!(err.contains("unverified: nothing checked it"), "{err}");
}
