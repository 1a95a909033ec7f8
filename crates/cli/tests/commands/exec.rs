//! `ostler exec`: a task done by a real session, what counts as done, and what a crash leaves.

use std::{fs, process::Stdio};

use serde_json::{Value, json};

use crate::support::{Place, until};

/// An agent that is a script: it gets the prompt as its first argument.
fn with_agent(place: &Place, name: &str, script: &str) {
    let file = place.project().join(format!("{name}.sh"));
    fs::write(&file, script).expect("a script");
    let table = format!(
        "[agents.{name}]\ncommand = [\"bash\", {:?}]\n[agents.{name}.arguments]\nprompt = [\"{{prompt}}\"]\n",
        file.display().to_string()
    );
    place.configure(&format!("default_agent = \"{name}\"\n{table}"));
}

fn tasks(place: &Place, text: &str) {
    fs::write(place.project().join("TASKS.md"), text).expect("a task file");
}

/// The line, and the exit code that goes with it.
#[track_caller]
fn exec(place: &Place, arguments: &[&str], line: &str) {
    let said = place.run(&[&["exec"], arguments].concat());
    let code = i32::from(line.starts_with("FAIL:"));
    assert_eq!((said.out.as_str(), said.code), (format!("{line}\n").as_str(), code), "{}", said.err);
}

fn state(place: &Place) -> Value {
    let text = fs::read_to_string(place.project().join(".claude/orchestrate-state.json")).expect("a state");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn a_task_is_done_with_evidence() {
    let place = Place::with_commit();
    let text = "## Phase 1: Auth\n- [ ] T1.1: Say hello ✓\n  - owner: worker\n  - files: hello.txt\n  - verify: grep -q hello hello.txt\n  \
                - [ ] it is friendly\n- [ ] T1.2: Next\n  - deps: T1.1\n";
    tasks(&place, text);
    with_agent(&place, "worker", "printf '%s\\n' \"$1\" > prompt.txt; echo hello > hello.txt");
    exec(&place, &["T1.2"], "FAIL:T1.2:it waits for T1.1");
    // The command comes from the repository: a person has to agree first.
    exec(&place, &["T1.1"], "FAIL:T1.1:nobody has agreed to `grep -q hello hello.txt` (ostler trust)");
    assert!(!place.project().join("hello.txt").exists());
    let shown = place.done(&["trust", "--yes"]);
    assert!(shown.contains("grep -q hello hello.txt") && shown.contains("TASKS.md"), "{shown}");
    exec(&place, &["T1.1"], "DONE:T1.1");
    assert_eq!(
        fs::read_to_string(place.project().join("TASKS.md")).expect("it is there"),
        text.replacen("[ ] T1.1", "[x] T1.1", 1)
    );
    let prompt = fs::read_to_string(place.project().join("prompt.txt")).expect("the agent has written it");
    for part in [
        "- **Phase**: 1\n- **Task ID**: P1-T1.1\n",
        "## Work\nSay hello ✓\n",
        "## Acceptance criteria\n- it is friendly\n",
        "Change only these files: hello.txt",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    let state = state(&place);
    assert_eq!(
        (&state["tasks"]["completed"], &state["tasks"]["in_progress"]),
        (&json!(["T1.1"]), &json!([]))
    );
    assert_eq!(state["executor"], json!({}));
    // Asked again, it is done already, and nothing runs.
    let runs = place.json(&["ps", "-a"]).as_array().map(Vec::len);
    exec(&place, &["P1-T1.1"], "DONE:T1.1");
    assert_eq!(place.json(&["ps", "-a"]).as_array().map(Vec::len), runs);
    assert_eq!(place.done(&["resolve"]), "READY:T1.2\n");
    let log = fs::read_to_string(place.project().join(".claude/orchestrate.log")).expect("a log");
    let lines: Vec<&str> = log.lines().filter_map(|line| Some(line.split_once("] ")?.1)).collect();
    assert_eq!(
        lines[lines.len() - 5..],
        ["EXECUTE:T1.1", "DONE:T1.1", "DONE:T1.1", "RESOLVE_NEXT", "READY:T1.2"]
    );
}

#[test]
fn what_is_not_done_fails() {
    let place = Place::with_commit();
    tasks(
        &place,
        "- [ ] T1.1: a\n  - verify: 'false'\n- [ ] T1.2: b\n  - files: src/*\n- [ ] T1.3: c\n- [ ] T1.4: d\n  - deps: T1.1\n",
    );
    with_agent(&place, "worker", "case \"$1\" in *P1-T1.3*) exit 7;; esac");
    place.done(&["trust", "--yes"]);
    // Three identical failures end it, long before the tenth attempt.
    exec(&place, &["T1.1"], "FAIL:T1.1:the check failed 3 times in the same way");
    exec(&place, &["T1.2"], "FAIL:T1.2:nothing has changed in src/*");
    let verbose = place.run(&["exec", "T1.3", "--verbose"]).out;
    let is_verbose = verbose.starts_with("FAIL:T1.3:elapsed=")
        && verbose.ends_with("s:retries=3:the agent ended with exit code 7\n");
    assert!(is_verbose, "{verbose}");
    assert_eq!(state(&place)["tasks"]["failed"], json!(["T1.1", "T1.2", "T1.3"]));
    assert_eq!(place.run(&["resolve"]).out, "ERROR:BLOCKED:T1.1,T1.2,T1.3\n");
    // What has failed may be tried again.
    with_agent(&place, "worker", "mkdir -p src; date +%N > src/x");
    exec(&place, &["T1.2"], "DONE:T1.2");
    exec(&place, &["T1.3"], "DONE:T1.3");
    assert_eq!(state(&place)["tasks"]["failed"], json!(["T1.1"]));
}

#[test]
fn what_an_earlier_attempt_has_changed_counts_until_somebody_else_changes_it() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n  - files: a.txt\n- [ ] T1.2: b\n  - files: b.txt\n");
    with_agent(&place, "worker", "case \"$1\" in *T1.1*) echo a > a.txt;; *) echo b > b.txt;; esac; exit 7");
    exec(&place, &["T1.1"], "FAIL:T1.1:the agent ended with exit code 7");
    exec(&place, &["T1.2"], "FAIL:T1.2:the agent ended with exit code 7");
    // What remains of an attempt does not say that somebody works on it.
    let mut running = state(&place);
    running["tasks"]["in_progress"] = json!(["T1.1"]);
    running["tasks"]["failed"] = json!([]);
    let file = place.project().join(".claude/orchestrate-state.json");
    let kept = fs::read(&file).expect("a state");
    fs::write(&file, running.to_string()).expect("a state");
    exec(&place, &["T1.1"], "FAIL:T1.1:somebody else works on it");
    fs::write(&file, kept).expect("a state");
    // It finds its work done.
    with_agent(&place, "worker", "case \"$1\" in *T1.1*) echo a > a.txt;; esac");
    exec(&place, &["T1.1"], "DONE:T1.1");
    fs::write(place.project().join("b.txt"), "by somebody else").expect("a file");
    exec(&place, &["T1.2"], "FAIL:T1.2:nothing has changed in b.txt");
    assert_eq!(state(&place)["executor"], json!({}));
}

#[test]
fn what_cannot_be_begun_changes_nothing() {
    let place = Place::with_commit();
    exec(&place, &["T1.1"], "FAIL:T1.1:ERROR:TASKS_NOT_FOUND");
    tasks(&place, "- [ ] T1.1: a\n  - files: src/a\n- [ ] T1.2: b\n  - files: src/\n");
    exec(&place, &["T9.9"], "FAIL:T9.9:there is no such task");
    let nobody = "FAIL:T1.1:no agent has the name of its owner, and there is no default agent";
    exec(&place, &["T1.1"], nobody);
    with_agent(&place, "worker", "true");
    exec(&place, &["T1.1", "--worktree", ".."], "FAIL:T1.1:the worktree does not lie in the project");
    exec(&place, &["T1.1", "--worktree", "none"], "FAIL:T1.1:there is no such worktree");
    let said = place.run(&["exec", "nonsense"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(!place.project().join(".claude").exists());
    // Somebody else's executor works on one whose files overlap.
    fs::create_dir(place.project().join(".claude")).expect("a directory");
    let running = json!({ "tasks": { "in_progress": ["T1.2"] } });
    fs::write(place.project().join(".claude/orchestrate-state.json"), running.to_string()).expect("a state");
    exec(&place, &["T1.1"], "FAIL:T1.1:it may not run beside T1.2");
    exec(&place, &["T1.2"], "FAIL:T1.2:somebody else works on it");
}

#[test]
fn killed_and_asked_again_it_is_the_same_run() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n");
    with_agent(&place, "worker", "echo once >> runs.txt; until [ -e go ]; do sleep 0.05; done");
    let mut command = place.command(&["exec", "T1.1"]);
    let mut first = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
    until("the agent works", || place.project().join("runs.txt").exists().then_some(()));
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    place.kill_server();
    fs::write(place.project().join("go"), "").expect("a file");
    exec(&place, &["T1.1"], "DONE:T1.1");
    assert_eq!(fs::read_to_string(place.project().join("runs.txt")).expect("it is there"), "once\n");
    assert_eq!(place.json(&["ps", "-a"]).as_array().map(Vec::len), Some(1));
}

#[test]
fn what_ends_while_the_state_is_damaged_is_known() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n- [ ] T1.2: b\n  - deps: T1.1\n");
    with_agent(&place, "worker", "touch begun; until [ -e go ]; do sleep 0.05; done");
    let mut command = place.command(&["exec", "T1.1"]);
    let running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    until("the agent works", || place.project().join("begun").exists().then_some(()));
    let damage = || {
        let file = place.project().join(".claude/orchestrate-state.json");
        fs::write(file, "{\"version\":").expect("a file");
    };
    damage();
    // Whoever repairs it while the task runs does not say that it can be begun.
    assert_eq!(place.done(&["resolve", "--repair"]), "WAIT\n");
    damage();
    fs::write(place.project().join("go"), "").expect("a file");
    let output = running.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "DONE:T1.1\n", "{err}");
    assert!(err.contains("what came of T1.1 stands in the task file and in the log alone"), "{err}");
    assert!(err.contains("ostler resolve --repair"), "{err}");
    let marked = fs::read_to_string(place.project().join("TASKS.md")).expect("it is there");
    assert!(marked.starts_with("- [x] T1.1: a\n"), "{marked}");
    assert_eq!(place.done(&["resolve", "--repair"]), "READY:T1.2\n");
}

#[test]
fn whoever_asks_again_may_ask_in_other_words() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n");
    with_agent(&place, "worker", "echo once >> runs.txt; until [ -e go ]; do sleep 0.05; done");
    let mut command = place.command(&["exec", "T1.1"]);
    let mut first = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
    until("the agent works", || place.project().join("runs.txt").exists().then_some(()));
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    // Another window, another title, and no such agent any more.
    tasks(&place, "- [ ] T1.1: b\n");
    place.configure("");
    let mut command = place.command(&["--lang", "ko", "exec", "T1.1", "--agent", "nobody"]);
    let second = command.env("WINDOWID", "7").stdout(Stdio::piped()).stderr(Stdio::piped());
    let second = second.spawn().expect("the binary starts");
    fs::write(place.project().join("go"), "").expect("a file");
    let output = second.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "DONE:T1.1\n");
    assert_eq!(fs::read_to_string(place.project().join("runs.txt")).expect("it is there"), "once\n");
    assert_eq!(place.json(&["ps", "-a"]).as_array().map(Vec::len), Some(1));
}

#[test]
fn a_key_that_stands_for_something_else_is_no_failure() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n");
    with_agent(&place, "worker", "true");
    exec(&place, &["T1.1"], "DONE:T1.1");
    let key = state(&place)["runs"]["T1.1"].clone();
    // A project beside it claims the same run.
    let other = place.project().with_file_name("other");
    place.git(&["init", "--quiet", "../other"]);
    fs::create_dir_all(other.join(".claude")).expect("a directory");
    fs::write(other.join("TASKS.md"), "- [ ] T1.1: a\n").expect("a task file");
    let claimed = json!({ "tasks": { "in_progress": ["T1.1"] }, "executor": { "T1.1": { "key": key } } });
    let file = other.join(".claude/orchestrate-state.json");
    fs::write(&file, claimed.to_string()).expect("a state");
    let asked = || {
        let output =
            place.command(&["exec", "T1.1"]).current_dir(&other).output().expect("the binary starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(asked(), "FAIL:T1.1:its key stands for something else\n");
    let left: Value = serde_json::from_slice(&fs::read(&file).expect("a state")).expect("JSON");
    assert_eq!((&left["tasks"]["in_progress"], &left["tasks"]["failed"]), (&json!([]), &Value::Null));
    assert_eq!(asked(), "DONE:T1.1\n");
}

#[test]
fn a_time_that_is_over_ends_it() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n");
    with_agent(&place, "worker", "sleep 600");
    exec(&place, &["T1.1", "--meta", "{\"timeout\":1}"], "FAIL:T1.1:it was ended after 1 s");
    let session = &place.json(&["ps", "-a"])[0];
    assert_eq!(session["status"], "cancelled", "{session}");
    for said in ["-3", "\"2\"", "1.5", "true"] {
        let refused = place.run(&["exec", "T1.1", "--meta", &format!("{{\"timeout\":{said}}}")]);
        assert_eq!(refused.code, 2, "{refused:?}");
        let sentence = format!("\"timeout\" must be a whole number of seconds, 0 for none, and not {said}");
        assert!(refused.err.contains(&sentence), "{refused:?}");
    }
    // None at all, also where the task says one; and longer than anybody can wait.
    tasks(&place, "- [ ] T1.1: a\n  - META: {\"timeout\": 1}\n- [ ] T1.2: a\n");
    with_agent(&place, "worker", "sleep 3");
    exec(&place, &["T1.1", "--meta", "{\"timeout\":0}"], "DONE:T1.1");
    with_agent(&place, "worker", "true");
    exec(&place, &["T1.2", "--meta", &format!("{{\"timeout\":{}}}", u64::MAX)], "DONE:T1.2");
}

#[test]
fn time_that_was_used_before_a_crash_counts() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n");
    with_agent(&place, "worker", "touch begun; sleep 600");
    let mut command = place.command(&["exec", "T1.1"]);
    let mut first = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
    until("the agent works", || place.project().join("begun").exists().then_some(()));
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    place.kill_server();
    let mut older = state(&place);
    older["executor"]["T1.1"]["used_ms"] = json!(7_200_000);
    let file = place.project().join(".claude/orchestrate-state.json");
    fs::write(file, older.to_string()).expect("a state");
    exec(&place, &["T1.1", "--meta", "{\"timeout\":3600}"], "FAIL:T1.1:it was ended after 3600 s");
}

#[test]
fn only_a_worktree_of_the_repository_is_one() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n");
    with_agent(&place, "worker", "pwd > where.txt");
    let project = place.project();
    fs::create_dir_all(project.join("src/deep")).expect("a directory");
    place.git(&["init", "--quiet", "other"]);
    place.git(&["worktree", "add", "--quiet", "worktree/one"]);
    fs::create_dir(project.join("worktree/one/src")).expect("a directory");
    // It names the repository, which knows nothing of it.
    fs::create_dir(project.join("forged")).expect("a directory");
    fs::write(project.join("forged/.git"), "gitdir: ../.git/worktrees/one\n").expect("a file");
    let no = "FAIL:T1.1:it is no worktree of the project's repository";
    for path in ["src", "src/deep", "other", "worktree", "worktree/one/src", "forged", ".git"] {
        exec(&place, &["T1.1", "--worktree", path], no);
    }
    assert!(!project.join(".claude/orchestrate-state.json").exists(), "nothing was begun");
    exec(&place, &["T1.1", "--worktree", "worktree/one"], "DONE:T1.1");
    assert!(project.join("worktree/one/where.txt").exists());
    tasks(&place, "- [ ] T1.2: a\n");
    exec(&place, &["T1.2", "--worktree", "."], "DONE:T1.2");
    assert!(project.join("where.txt").exists());
}

#[test]
fn a_failure_is_shown_in_whole_and_the_run_has_the_name_of_its_task() {
    let place = Place::with_commit();
    let files = (0..20).map(|n| format!("src/somewhere/file{n}.txt")).collect::<Vec<_>>().join(", ");
    tasks(&place, &format!("- [ ] T1.1: Login page\n  - files: {files}\n"));
    with_agent(&place, "worker", "true");
    assert_eq!(place.json(&["tasks", "show", "T1.1"])["failure"], Value::Null);
    let whole = format!("nothing has changed in {files}");
    let cut: String = whole.chars().take(100).collect();
    exec(&place, &["T1.1"], &format!("FAIL:T1.1:{cut}"));
    assert_eq!(place.json(&["ps", "-a"])[0]["title"], "T1.1: Login page");
    let shown = place.done(&["tasks", "show", "T1.1"]);
    assert!(shown.contains(&format!("it has failed 3 times, the last time: {whole}\n")), "{shown}");
    exec(&place, &["T1.1"], &format!("FAIL:T1.1:{cut}"));
    let shown = place.done(&["--lang", "ko", "tasks", "show", "T1.1"]);
    assert!(shown.contains(&format!("6번 실패, 마지막 이유: {whole}\n")), "{shown}");
    assert_eq!(place.json(&["tasks", "show", "T1.1"])["failure"], json!({ "tries": 6, "reason": whole }));
    with_agent(&place, "worker", "mkdir -p src/somewhere; echo > src/somewhere/file7.txt");
    exec(&place, &["T1.1"], "DONE:T1.1");
    assert_eq!(place.json(&["tasks", "show", "T1.1"])["failure"], Value::Null);
}

#[test]
fn several_at_once_lose_nothing() {
    let place = Place::with_commit();
    let text = "- [ ] T1.1: a\n- [ ] T1.2: a\n- [ ] T1.3: a\n- [ ] T1.4: a\n- [ ] T1.5: a\n";
    tasks(&place, text);
    with_agent(&place, "worker", "true");
    place.json(&["ps"]);
    let start = |id: &str| {
        let mut command = place.command(&["exec", id]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    };
    let running: Vec<_> = ["T1.1", "T1.2", "T1.3", "T1.4", "T1.5"].map(|id| (id, start(id))).into();
    until("all of them are done", || place.run(&["resolve"]).out.starts_with("PHASE_DONE").then_some(()));
    for (id, child) in running {
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("DONE:{id}\n"));
    }
    let marked = fs::read_to_string(place.project().join("TASKS.md")).expect("it is there");
    assert_eq!(marked, text.replace("[ ]", "[x]"), "no mark is lost");
    assert_eq!(state(&place)["tasks"]["completed"].as_array().map(Vec::len), Some(5));
    assert_eq!(place.done(&["tasks", "close", "1"]), "Phase 1 is over.\n");
    assert_eq!(place.done(&["resolve"]), "ALL_DONE\n");
}

/// Counts its tries in `n` and keeps the prompt of each.
const COUNTING: &str = "echo x >> tries; n=$(wc -l < tries); printf '%s\\n' \"$1\" > prompt.$n\n";

fn kept(place: &Place, name: &str) -> String {
    fs::read_to_string(place.project().join(name)).unwrap_or_default()
}

/// What the log has, without its times.
fn log(place: &Place) -> Vec<String> {
    let log = kept(place, ".claude/orchestrate.log");
    log.lines().filter_map(|line| Some(line.split_once("] ")?.1.to_owned())).collect()
}

#[test]
fn who_fails_is_begun_again_and_told_why() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n- [ ] T1.2: b\n  - files: b.txt\n");
    let script = format!("{COUNTING}echo \"broken pipe $n\"; [ $n = 3 ]");
    with_agent(&place, "worker", &script);
    exec(&place, &["T1.1"], "DONE:T1.1");
    assert!(!kept(&place, "prompt.1").contains("The last attempt"));
    for (name, said) in [("prompt.2", "broken pipe 1"), ("prompt.3", "broken pipe 2")] {
        let prompt = kept(&place, name);
        let parts = ["## The last attempt", "the agent ended with exit code 1", said];
        assert!(parts.iter().all(|part| prompt.contains(part)), "{prompt}");
    }
    let (began, failed) = ("EXECUTE:T1.1", "FAIL:T1.1:the agent ended with exit code 1");
    assert_eq!(log(&place), [began, failed, began, failed, began, "DONE:T1.1"]);
    let keys = kept(&place, ".claude/orchestrate.log.executor.ndjson");
    assert!(keys.contains("#2\"") && keys.contains("#3\""), "{keys}");
    assert_eq!(place.json(&["ps", "-a"]).as_array().map(Vec::len), Some(3), "a run for each try");
    // Who changes nothing is told so.
    fs::remove_file(place.project().join("tries")).expect("it is ours");
    with_agent(&place, "worker", &format!("{COUNTING}if [ $n = 2 ]; then echo b > b.txt; fi"));
    exec(&place, &["T1.2"], "DONE:T1.2");
    assert!(kept(&place, "prompt.2").contains("nothing has changed in b.txt"));
}

#[test]
fn three_identical_failures_or_the_limit_end_it_and_the_next_who_asks_is_told() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n- [ ] T1.2: b\n");
    with_agent(&place, "worker", &format!("{COUNTING}echo \"no such host\"; exit 4"));
    exec(&place, &["T1.1"], "FAIL:T1.1:the agent ended with exit code 4");
    assert_eq!(kept(&place, "tries").lines().count(), 3);
    let shown = place.json(&["tasks", "show", "T1.1"]);
    assert_eq!(shown["failure"]["tries"], json!(3), "{shown}");
    exec(&place, &["T1.1"], "FAIL:T1.1:the agent ended with exit code 4");
    let prompt = kept(&place, "prompt.4");
    assert!(prompt.contains("## The last attempt") && prompt.contains("no such host"), "{prompt}");
    assert_eq!(kept(&place, "tries").lines().count(), 6, "it has all its tries again");
    // Each fails in another way.
    fs::remove_file(place.project().join("tries")).expect("it is ours");
    with_agent(&place, "worker", &format!("{COUNTING}exit $n"));
    let mut limited = state(&place);
    limited["config"]["retry_limit"] = json!(4);
    fs::write(place.project().join(".claude/orchestrate-state.json"), limited.to_string()).expect("a state");
    exec(&place, &["T1.2"], "FAIL:T1.2:the agent ended with exit code 4");
    assert_eq!(kept(&place, "tries").lines().count(), 4);
}

#[test]
fn killed_between_its_tries_it_goes_on_with_count_and_time() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n");
    with_agent(
        &place,
        "worker",
        &format!("{COUNTING}[ $n = 1 ] && exit 3; until [ -e go ]; do sleep 0.05; done; exit 3"),
    );
    let mut command = place.command(&["exec", "T1.1"]);
    let mut first = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
    until("the second try", || place.project().join("prompt.2").exists().then_some(()));
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    let note = state(&place)["executor"]["T1.1"].clone();
    assert_eq!((&note["tries"], &note["same"]), (&json!(1), &json!(1)), "{note}");
    assert!(note["key"].as_str().is_some_and(|key| key.ends_with("#2")), "{note}");
    fs::write(place.project().join("go"), "").expect("a file");
    exec(&place, &["T1.1"], "FAIL:T1.1:the agent ended with exit code 3");
    assert_eq!(kept(&place, "tries").lines().count(), 3, "the second is the same run");
    // What the first has used is the second's loss.
    fs::remove_file(place.project().join("go")).expect("it is ours");
    fs::remove_file(place.project().join("tries")).expect("it is ours");
    fs::remove_file(place.project().join("prompt.2")).expect("it is ours");
    let mut command = place.command(&["exec", "T1.1"]);
    let mut second = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
    until("the second try", || place.project().join("prompt.2").exists().then_some(()));
    second.kill().expect("it runs");
    second.wait().expect("it ends");
    place.kill_server();
    let mut older = state(&place);
    let used_ms = older["executor"]["T1.1"]["used_ms"].as_u64().expect("it is noted");
    older["executor"]["T1.1"]["used_ms"] = json!(used_ms + 7_200_000);
    fs::write(place.project().join(".claude/orchestrate-state.json"), older.to_string()).expect("a state");
    exec(&place, &["T1.1", "--meta", "{\"timeout\":3600}"], "FAIL:T1.1:it was ended after 3600 s");
    assert_eq!(kept(&place, "tries").lines().count(), 2, "whose time is over is not begun again");
}

#[test]
fn every_line_stands_in_the_log_once_there_is_one() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n- [ ] T1.2: b\n  - owner: nope\n");
    with_agent(&place, "worker", "true");
    exec(&place, &["T9.9"], "FAIL:T9.9:there is no such task");
    assert!(!place.project().join(".claude").exists(), "a question about nothing leaves nothing behind");
    exec(&place, &["T1.1"], "DONE:T1.1");
    let refused: &[(&[&str], &str)] = &[
        (&["T9.9"], "FAIL:T9.9:there is no such task"),
        (&["T1.2", "--agent", "nope"], "FAIL:T1.2:there is no agent 'nope'"),
        (&["T1.2", "--worktree", "nowhere"], "FAIL:T1.2:there is no such worktree"),
    ];
    for (arguments, line) in refused {
        exec(&place, arguments, line);
        assert_eq!(log(&place).last().map(String::as_str), Some(*line));
    }
}

#[test]
fn commands_of_a_named_task_file_can_be_agreed_to() {
    let place = Place::with_commit();
    let plan = |id: &str, command: &str| {
        let text = format!("- [ ] {id}: a\n  - verify: `{command}`\n");
        fs::write(place.project().join("my plan.md"), text).expect("a task file");
    };
    plan("T1.1", "test -e done.txt");
    with_agent(&place, "worker", "touch done.txt");
    let named = ["T1.1", "--tasks", "my plan.md"];
    let how = "ostler trust --tasks 'my plan.md'";
    exec(&place, &named, &format!("FAIL:T1.1:nobody has agreed to `test -e done.txt` ({how})"));
    assert!(
        place.done(&["trust", "--yes"]).contains("no commands or settings"),
        "the project itself has none"
    );
    let shown = place.done(&["trust", "--yes", "--tasks", "my plan.md"]);
    assert!(shown.contains("test -e done.txt") && shown.contains("my plan.md"), "{shown}");
    exec(&place, &named, "DONE:T1.1");
    // Other words are another command; what helps is in the line however long they are.
    let long = format!("test -e done.txt && {}", "true && ".repeat(20) + "true");
    plan("T1.2", &long);
    let said = place.run(&["exec", "T1.2", "--tasks", "my plan.md"]).out;
    assert!(said.ends_with(&format!("…` ({how})\n")) && said.starts_with("FAIL:T1.2:nobody"), "{said}");
    // Only what lies in the project is the project's.
    let outside = place.project().parent().expect("a directory").join("outside.md");
    fs::write(&outside, "- [ ] T1.1: a\n  - verify: `true`\n").expect("a task file");
    std::os::unix::fs::symlink(&outside, place.project().join("link.md")).expect("a link");
    for path in ["../outside.md", "link.md", "/etc/passwd", "missing.md", ".", "a\nb"] {
        let refused = place.run(&["trust", "--yes", "--tasks", path]);
        assert!(refused.code != 0 && !refused.out.contains("true"), "{path}: {refused:?}");
    }
}

/// A command that runs beside the test.
fn beside(place: &Place, arguments: &[&str]) -> std::process::Child {
    let mut command = place.command(&[&["exec"], arguments].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
}

fn said(running: std::process::Child) -> String {
    String::from_utf8_lossy(&running.wait_with_output().expect("it ends").stdout).into_owned()
}

#[test]
fn whoever_asks_for_the_same_task_hears_the_same_end() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n");
    with_agent(&place, "worker", "echo once >> runs.txt; until [ -e go ]; do sleep 0.05; done; exit 3");
    let mut limited = json!({ "config": { "retry_limit": 1 } });
    fs::create_dir_all(place.project().join(".claude")).expect("a directory");
    let file = place.project().join(".claude/orchestrate-state.json");
    fs::write(&file, limited.take().to_string()).expect("a state");
    let (mut first, second) = (beside(&place, &["T1.1"]), beside(&place, &["T1.1"]));
    until("the agent works", || place.project().join("runs.txt").exists().then_some(()));
    // The task is the server's: whoever is killed takes nothing with it.
    first.kill().expect("it runs");
    first.wait().expect("it ends");
    fs::write(place.project().join("go"), "").expect("a file");
    let line = "FAIL:T1.1:the agent ended with exit code 3\n";
    assert_eq!(said(second), line);
    assert_eq!(kept(&place, "runs.txt"), "once\n");
    // An end that nobody has heard is told to the next who asks.
    fs::remove_file(place.project().join("go")).expect("it is ours");
    let mut third = beside(&place, &["T1.1"]);
    until("the agent works again", || (kept(&place, "runs.txt").lines().count() == 2).then_some(()));
    third.kill().expect("it runs");
    third.wait().expect("it ends");
    fs::write(place.project().join("go"), "").expect("a file");
    until("it has failed", || {
        (log(&place).iter().filter(|it| it.starts_with("FAIL")).count() == 2).then_some(())
    });
    exec(&place, &["T1.1"], line.trim_end());
    assert_eq!(kept(&place, "runs.txt").lines().count(), 2, "nothing was begun anew");
    let began = log(&place).iter().filter(|line| line.starts_with("EXECUTE")).count();
    assert_eq!(began, 2);
}

#[test]
fn inside_a_session_only_a_main_agent_has_tasks_done() {
    let place = Place::with_commit();
    tasks(&place, "- [ ] T1.1: a\n- [ ] T1.2: b\n");
    with_agent(&place, "worker", "pwd > $(printf '%s' \"$1\" | grep -o 'T1\\.[12]' | head -1)");
    let program = env!("CARGO_BIN_EXE_ostler");
    let script = |id: &str| format!("{program} exec {id} > said.{id}");
    place.run(&["run", "--", "bash", "-c", &script("T1.1")]);
    let refused = "FAIL:T1.1:only a main agent may have tasks done from inside a session\n";
    assert_eq!(kept(&place, "said.T1.1"), refused);
    assert!(!place.project().join("T1.1").exists(), "nothing was done");
    place.run(&["run", "--main", "--", "bash", "-c", &script("T1.2")]);
    assert_eq!(kept(&place, "said.T1.2"), "DONE:T1.2\n");
    assert_eq!(state(&place)["tasks"]["completed"], json!(["T1.2"]));
}

#[test]
fn the_line_says_what_the_check_said_at_last_and_verbose_adds_figures() {
    let place = Place::with_commit();
    let text =
        "- [ ] T1.1: a\n  - verify: `cat passed.txt`\n- [ ] T2.5: b\n  - verify: `cat failed.txt; false`\n";
    tasks(&place, text);
    fs::write(place.project().join("passed.txt"), "test result: ok. 15 passed; 0 failed\n").expect("a file");
    let failed = "connecting to the cache\nRedis connection refused\n}\n";
    fs::write(place.project().join("failed.txt"), failed).expect("a file");
    with_agent(&place, "worker", "true");
    place.done(&["trust", "--yes"]);
    let done = place.run(&["exec", "T1.1", "--verbose"]).out;
    assert!(done.starts_with("DONE:T1.1:elapsed=") && done.ends_with("s:tests=15\n"), "{done}");
    exec(&place, &["T2.5"], "FAIL:T2.5:Redis connection refused");
    let failed = place.run(&["exec", "T2.5", "--verbose"]).out;
    let is_verbose = failed.starts_with("FAIL:T2.5:elapsed=")
        && failed.ends_with("s:retries=3:Redis connection refused\n");
    assert!(is_verbose, "{failed}");
    let shown = place.done(&["tasks", "show", "T2.5"]);
    assert!(shown.contains("connecting to the cache"), "it is shown in whole: {shown}");
    // The files agree with each other, and the log has the lines of the wire alone.
    let state = state(&place);
    let count = |list: &str| state["tasks"][list].as_array().map(Vec::len);
    assert_eq!(state["metrics"]["completed_count"], json!(count("completed")), "{state}");
    assert_eq!(state["metrics"]["failed_count"], json!(count("failed")), "{state}");
    let is_wire =
        |line: &String| line.starts_with("EXECUTE:") || ostler_protocol::thin::Thin::parse(line).is_some();
    let log = log(&place);
    assert!(log.iter().all(is_wire) && !log.iter().any(|line| line.starts_with("CUSTOM:")), "{log:?}");
}
