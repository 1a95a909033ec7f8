//! Main agents: programs that have the tasks of a project done by printing lines of the thin dialect, and read the answers
//! on their input.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use ostler_server::{
    MAIN_SITES,
    api::{EventView, OutcomeKind, RunView, SessionView},
};

use crate::support::{DEADLINE, Place};

/// What every script begins with: what it reads is kept.
const HEAD: &str = r#"#!/bin/sh
R=@ROOT@
hear() { IFS= read -r line || exit 9; printf '%s\n' "$line" >> "$R/heard"; }
"#;

const FOUR: &str = "\
## Phase 0: Ground
- [ ] T0.1: one
  - files: src/T0.1.txt
## Phase 1: Rooms
- [ ] T1.1: two
  - files: src/T1.1.txt
- [ ] T1.2: three
  - files: src/T1.2.txt
- [ ] T1.3: four
  - deps: [T1.1, T1.2]
  - files: src/T1.3.txt
";

const TWO: &str = "- [ ] T0.1: one\n  - files: src/T0.1.txt\n- [ ] T0.2: two\n  - files: src/T0.2.txt\n";

impl Place {
    /// Starts a script as a main agent, and gives its session.
    fn run_main(&self, more: &[&str]) -> String {
        let program = self.root.join("main").display().to_string();
        let command = ["--json", "run", "-d"].iter().chain(more).copied().chain(["--", &program]);
        let (out, err, code) = self.ostler(&command.collect::<Vec<_>>());
        assert_eq!(code, 0, "{out}{err}");
        let run: RunView = serde_json::from_str(&out).expect("a run");
        run.sessions[0].id.clone()
    }

    fn script(&self, script: &str) {
        self.write_program("main", &format!("{HEAD}{script}"));
    }

    fn session(&self, id: &str) -> SessionView {
        self.get(&format!("/sessions/{id}")).expect("a session")
    }

    /// Waits for something of a session.
    fn wait_for(&self, id: &str, what: &str, is_it: impl Fn(&SessionView) -> bool) -> SessionView {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let session = self.session(id);
            if is_it(&session) {
                return session;
            }
            let heard = self.read("heard");
            let log = self.read("project/.claude/orchestrate.log");
            assert!(Instant::now() < deadline, "{what}: {session:?}\n{heard}\n{log}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn over(&self, id: &str) -> OutcomeKind {
        let session = self.wait_for(id, "its end", |session| session.outcome.is_some());
        session.outcome.expect("an outcome").outcome
    }

    /// Waits until the server has died where it was told to.
    fn wait_for_death(&mut self) {
        let deadline = Instant::now() + DEADLINE;
        while !self.has_died() {
            assert!(Instant::now() < deadline, "it never came there:\n{}", self.read("server.log"));
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn heard(&self) -> Vec<String> {
        self.read("heard").lines().map(str::to_owned).collect()
    }

    /// Waits until a file has something in it.
    fn wait_file(&self, name: &str, is_it: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        while !is_it(&self.read(name)) {
            assert!(Instant::now() < deadline, "{name}: {}", self.read(name));
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// How often each task was really worked on.
    fn times(&self, task: &str) -> usize {
        self.read("ran").lines().filter(|line| line.split(' ').next() == Some(task)).count()
    }

    /// The log without its times.
    fn log(&self) -> Vec<String> {
        let log = self.read("project/.claude/orchestrate.log");
        log.lines().filter_map(|line| Some(line.split_once("] ")?.1.to_owned())).collect()
    }

    fn events(&self, session: &str, kind: &str) -> Vec<EventView> {
        let events: Vec<EventView> =
            self.get(&format!("/events?session={session}&limit=500")).expect("events");
        events.into_iter().filter(|event| event.kind == kind).collect()
    }
}

/// Who says all at once and then reads so many answers.
fn says(lines: &[&str], answers: usize) -> String {
    let quoted: Vec<String> = lines.iter().map(|line| format!("'{line}'")).collect();
    format!("printf '%s\\n' {}\n{}", quoted.join(" "), "hear\n".repeat(answers))
}

#[test]
fn a_script_that_only_prints_goes_through_a_project() {
    let mut place = Place::new(FOUR);
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/main/main.sh");
    place.write_program("main", &fs::read_to_string(example).expect("the example"));
    place.start(None);
    let session = place.run_main(&["--main"]);
    assert_eq!(place.over(&session), OutcomeKind::Completed);
    assert_eq!(place.read("project/TASKS.md").matches("[x]").count(), 4);
    for task in ["T0.1", "T1.1", "T1.2", "T1.3"] {
        assert_eq!(place.times(task), 1, "{task}");
        let log = place.log();
        let count = |line: String| log.iter().filter(|it| **it == line).count();
        assert_eq!(count(format!("EXECUTE:{task}")), 1, "{task}: {log:?}");
        // Where two end together it asks twice what is next, and has that done twice: it is told that it is done.
        assert!(count(format!("DONE:{task}")) >= 1, "{task}: {log:?}");
    }
    for line in ["READY:T0.1", "PHASE_DONE:0", "READY:T1.1,T1.2", "READY:T1.3", "PHASE_DONE:1", "ALL_DONE"] {
        assert!(place.log().iter().any(|it| it == line), "{line}: {:?}", place.log());
    }
    // The runs of its tasks are its own.
    let created: Vec<EventView> = place.get("/events?limit=500").expect("events");
    let children =
        created.iter().filter(|it| it.kind == "run.created" && it.body["parent"] == session.as_str());
    assert_eq!(children.count(), 4);
    let (shown, _, _) = place.ostler(&["show", &session]);
    assert!(shown.contains("thin.answered") && shown.contains("ALL_DONE"), "{shown}");
}

#[test]
fn two_tasks_run_at_once_and_each_is_answered_when_it_ends() {
    let mut place = Place::new(TWO);
    // The first ends when the second is known to be done.
    place.behave("T0.1", "until grep -q DONE:T0.2 $R/heard; do sleep 0.02; done; echo x > src/T0.1.txt\n");
    place.script(&says(&["TASK_ID:T0.1", "TASK_ID:T0.2", "RESOLVE_NEXT"], 3));
    place.start(None);
    let session = place.run_main(&["--main"]);
    assert_eq!(place.over(&session), OutcomeKind::Completed);
    let heard = place.heard();
    // Whether a task has begun is known before the next line is looked at.
    assert_eq!(heard[0], "WAIT", "{heard:?}");
    assert_eq!(heard[1..], ["DONE:T0.2", "DONE:T0.1"]);
}

#[test]
fn no_more_run_at_once_than_a_loop_would_have() {
    let mut place = Place::new(TWO);
    place.configure("[orchestrate]\nmax_parallel = 1\n");
    place.behave("any", "echo in >> $R/turns; sleep 0.3; echo out >> $R/turns; echo x > src/$id.txt\n");
    // The second one is waiting for its turn, and is in progress all the same.
    place.script(&says(&["TASK_ID:T0.1", "TASK_ID:T0.2", "RESOLVE_NEXT"], 3));
    place.start(None);
    let session = place.run_main(&["--main"]);
    assert_eq!(place.over(&session), OutcomeKind::Completed);
    assert_eq!(place.read("turns"), "in\nout\nin\nout\n");
    assert_eq!(place.heard()[0], "WAIT");
    assert_eq!(place.heard().len(), 3);
}

#[test]
fn who_has_no_role_only_prints() {
    let mut place = Place::new(TWO);
    let lines = ["RESOLVE_NEXT", "TASK_ID:T0.1", "CUSTOM:SKIP:T0.2", "WAIT", "ERROR:BLOCKED:T0.1"];
    place.script(&says(&lines, 0));
    place.start(None);
    let session = place.run_main(&[]);
    assert_eq!(place.over(&session), OutcomeKind::Completed);
    assert!(!place.project().join(".claude").exists());
    assert_eq!(place.read("ran"), "");
    assert_eq!(place.events(&session, "message.written").len(), 0);
    assert_eq!(place.events(&session, "thin.asked").len(), 0);
    // What was printed is recorded all the same.
    assert!(place.events(&session, "session.heard").iter().any(|it| it.body["item"]["kind"] == "task"));
}

#[test]
fn nonsense_is_answered_and_changes_nothing() {
    let mut place = Place::new(TWO);
    fs::create_dir_all(place.root.join("elsewhere")).expect("a directory");
    let lines = [
        "TASK_ID:T9.9",
        "TASK_ID:T0.1",
        "META:{oops",
        "TASK_ID:T0.1",
        "META:[1]",
        "TASK_ID:T0.1",
        "META:{\"timeout\":\"soon\"}",
        "TASK_ID:T0.1",
        "WORKTREE:../elsewhere",
        "TASK_ID:T0.1",
        "WORKTREE:nowhere",
        "CUSTOM:DEPLOY:to the moon",
        "CUSTOM:EXECUTOR:T0.1:null",
        "CUSTOM:SKIP:everything",
        "CUSTOM:PRIORITY:T0.1:low",
        "CUSTOM:CLOSE:7",
        "RESOLVE_NEXT:PHASE:7",
        // Answers ask for nothing, whoever says them.
        "DONE:T0.1",
        "CUSTOM:OK:SKIP:T0.1",
        "ERROR:BLOCKED:T0.1",
        "RESOLVE_NEXT",
    ];
    place.script(&says(&lines, 13));
    place.start(None);
    let session = place.run_main(&["--main"]);
    assert_eq!(place.over(&session), OutcomeKind::Completed);
    // What cannot be understood is known to be so before anything else is looked at.
    assert_eq!(
        place.heard(),
        [
            "FAIL:T0.1:its META is no JSON on one line",
            "FAIL:T9.9:there is no such task",
            "FAIL:T0.1:its META is no JSON object",
            "FAIL:T0.1:\"timeout\" is a whole number of seconds, 0 for none, and not \"soon\"",
            "FAIL:T0.1:the worktree does not lie in the project",
            "FAIL:T0.1:there is no such worktree",
            "CUSTOM:UNKNOWN:DEPLOY:to the moon",
            "CUSTOM:REFUSED:EXECUTOR:T0.1:null: executors alone note that",
            "CUSTOM:REFUSED:SKIP:everything: it names no task",
            "CUSTOM:REFUSED:PRIORITY:T0.1:low: PRIORITY knows high alone",
            "CUSTOM:REFUSED:CLOSE:7: there is no such phase",
            "ERROR:TASKS_NOT_FOUND:there is no phase 7",
            "READY:T0.1,T0.2",
        ]
    );
    assert_eq!(place.read("ran"), "");
    assert_eq!(place.events(&session, "session.stopped").len(), 0, "no line stops it");
}

#[test]
fn what_cannot_be_understood_is_answered() {
    let mut place = Place::new(TWO);
    let lines = [
        "TASK_ID:",
        "TASK_ID:nonsense",
        "TASK_ID:T0.1,T0.4",
        "RESOLVE_NEXT:PHASE:x",
        "RESOLVE_NEXT:FORCE:PHASE:0",
        "CUSTOM:",
        "CUSTOM:SKIP",
    ];
    // It says everything again that it hears, as a terminal would.
    place.script(
        &(says(&lines, 0)
            + &"hear; printf '%s\\n' \"$line\"\n".repeat(lines.len())
            + &says(&["RESOLVE_NEXT"], 1)),
    );
    place.start(None);
    let session = place.run_main(&["--main"]);
    assert_eq!(place.over(&session), OutcomeKind::Completed);
    let heard = place.heard();
    for (line, answer) in lines.iter().zip(&heard) {
        assert!(answer.starts_with(&format!("CUSTOM:REFUSED:{line}: it is ")), "{heard:?}");
    }
    assert_eq!(heard[lines.len()..], ["READY:T0.1,T0.2"]);
    assert_eq!(place.events(&session, "session.stopped").len(), 0, "no line stops it");
    assert_eq!(place.events(&session, "thin.asked").len(), lines.len() + 1);
}

#[test]
fn what_is_decided_about_tasks_is_carried_out_and_reported() {
    let mut place = Place::new("- [ ] T0.1: one\n- [ ] T0.2: two\n- [ ] T0.3: three\n");
    place.behave("T0.1", "exit 3\n");
    place.script(&format!(
        "{}{}",
        says(&["CUSTOM:PRIORITY:T0.3:high # now", "RESOLVE_NEXT", "CUSTOM:SKIP:T0.2", "CUSTOM:SKIP:T0.2"], 4),
        says(&["TASK_ID:T0.1"], 1) + &says(&["CUSTOM:RETRY:T0.1", "RESOLVE_NEXT"], 2),
    ));
    place.start(None);
    let session = place.run_main(&["--main"]);
    assert_eq!(place.over(&session), OutcomeKind::Completed);
    assert_eq!(
        place.heard(),
        [
            "CUSTOM:OK:PRIORITY:T0.3:high",
            "READY:T0.3,T0.1,T0.2",
            "CUSTOM:OK:SKIP:T0.2",
            "CUSTOM:REFUSED:SKIP:T0.2: the task is skipped",
            "FAIL:T0.1:the agent ended with exit code 3",
            "CUSTOM:OK:RETRY:T0.1",
            "READY:T0.3,T0.1",
        ]
    );
    let log = place.log();
    for line in ["CUSTOM:PRIORITY:T0.3", "CUSTOM:SKIP:T0.2", "CUSTOM:RETRY:T0.1"] {
        assert_eq!(log.iter().filter(|it| *it == line).count(), 1, "{line}: {log:?}");
    }
}

#[test]
fn a_verify_command_needs_trust_and_files_need_a_change() {
    let tasks = "- [ ] T0.1: one\n  - verify: touch proof\n- [ ] T0.2: two\n  - files: src/T0.2.txt\n";
    let mut place = Place::new(tasks);
    place.behave("T0.2", "true\n");
    place.script(&(says(&["TASK_ID:T0.1"], 1) + &says(&["TASK_ID:T0.2"], 1)));
    place.start(None);
    let session = place.run_main(&["--main"]);
    assert_eq!(place.over(&session), OutcomeKind::Completed);
    assert_eq!(
        place.heard(),
        [
            "FAIL:T0.1:nobody has agreed to `touch proof` (ostler trust)",
            "FAIL:T0.2:nothing has changed in src/T0.2.txt",
        ]
    );
    assert!(!place.project().join("proof").exists());
}

/// A main agent that has both tasks done, says one of them twice, and reads until somebody ends it.
const READER: &str = "\
printf 'TASK_ID:T0.1\\nTASK_ID:T0.2\\nTASK_ID:T0.1\\nCUSTOM:SKIP:T0.3\\n'
while :; do hear; done
";

/// One answer each, and each task done once.
fn answered_once(place: &Place, about: &str) {
    place.wait_file("heard", |heard| heard.lines().count() >= 4);
    let mut heard = place.heard();
    heard.sort();
    assert_eq!(heard, ["CUSTOM:OK:SKIP:T0.3", "DONE:T0.1", "DONE:T0.1", "DONE:T0.2"], "{about}");
    for task in ["T0.1", "T0.2"] {
        assert_eq!(place.times(task), 1, "{about}: {task}\n{}", place.read("ran"));
        // What was said to nobody is said again, and stands there again.
        assert!(place.log().contains(&format!("DONE:{task}")), "{about}: {:?}", place.log());
    }
}

fn three() -> Place {
    let place = Place::new(&format!("{TWO}- [ ] T0.3: three\n"));
    place.script(READER);
    place
}

#[test]
fn a_server_that_is_killed_while_tasks_run_answers_each_once() {
    let mut place = three();
    place.behave("any", "while [ ! -e $R/go ]; do sleep 0.02; done; echo x > src/$id.txt\n");
    place.start(None);
    let session = place.run_main(&["--main"]);
    place.wait_file("ran", |ran| ran.lines().count() == 2);
    place.kill();
    place.write("go", "");
    place.start(None);
    answered_once(&place, "killed");
    assert_eq!(place.events(&session, "thin.answered").len(), 4);
    let (_, err, code) = place.ostler(&["cancel", &session]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(place.over(&session), OutcomeKind::Cancelled);
}

#[test]
fn a_server_that_dies_at_any_step_of_an_errand_answers_once() {
    let named = std::env::var("OSTLER_CRASH_SITE").ok();
    // Here nothing fails; who dies between two tries is looked at below.
    let passed = MAIN_SITES.into_iter().filter(|site| *site != "after failed errand");
    for site in passed.filter(|site| named.as_ref().is_none_or(|named| named == site)) {
        let mut place = three();
        place.start(Some(&format!("{site}:2")));
        let session = place.run_main(&["--main"]);
        place.wait_for_death();
        place.kill();
        place.start(None);
        answered_once(&place, site);
        assert_eq!(place.events(&session, "thin.answered").len(), 4, "{site}");
    }
}

#[test]
fn a_failure_that_nobody_has_heard_of_is_said_and_not_tried_again() {
    let mut place = Place::new("- [ ] T0.1: one\n");
    place.behave("T0.1", "exit 3\n");
    place.script(&says(&["TASK_ID:T0.1"], 1));
    place.start(Some("after end errand:1"));
    let session = place.run_main(&["--main"]);
    place.wait_file("project/.claude/orchestrate.log", |log| log.contains("FAIL:T0.1"));
    place.wait_for_death();
    place.kill();
    place.start(None);
    assert_eq!(place.over(&session), OutcomeKind::Completed);
    assert_eq!(place.heard(), ["FAIL:T0.1:the agent ended with exit code 3"]);
    assert_eq!(place.times("T0.1"), 3, "three identical failures end it");
}

#[test]
fn a_task_that_fails_is_begun_again_and_told_why_also_over_a_crash() {
    for site in
        [None, Some("after failed errand:1"), Some("before end errand:2"), Some("after start errand:2")]
    {
        let mut place = Place::new("- [ ] T0.1: one\n");
        place.behave("T0.1", "echo \"no such host\"; [ $(wc -l < $R/ran) = 3 ]\n");
        place.script(&says(&["TASK_ID:T0.1"], 1));
        place.start(site);
        let session = place.run_main(&["--main"]);
        if site.is_some() {
            place.wait_for_death();
            place.kill();
            place.start(None);
        }
        assert_eq!(place.over(&session), OutcomeKind::Completed, "{site:?}");
        assert_eq!(place.heard(), ["DONE:T0.1"], "{site:?}");
        assert_eq!(place.times("T0.1"), 3, "{site:?}");
        let prompts = place.read("prompts.T0.1");
        assert_eq!(prompts.matches("## The last attempt").count(), 2, "{site:?}: {prompts}");
        assert_eq!(prompts.matches("no such host").count(), 2, "{site:?}: {prompts}");
        let failed = "FAIL:T0.1:the agent ended with exit code 1";
        assert_eq!(
            place.log().iter().filter(|line| *line == failed).count(),
            2,
            "{site:?}: {:?}",
            place.log()
        );
    }
}

#[test]
fn whoever_cancels_a_main_agent_ends_its_tasks_and_gives_them_back() {
    let mut place = Place::new(TWO);
    place.behave("any", "sleep 600\n");
    place.script(READER);
    place.start(None);
    let session = place.run_main(&["--main"]);
    place.wait_file("ran", |ran| ran.lines().count() == 2);
    let (shown, _, _) = place.ostler(&["show", &session]);
    assert!(shown.contains("TASK_ID:T0.1"), "{shown}");
    let (_, err, code) = place.ostler(&["cancel", &session]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(place.over(&session), OutcomeKind::Cancelled);
    place.wait_file("project/.claude/orchestrate-state.json", |state| {
        let state: serde_json::Value = serde_json::from_str(state).unwrap_or_default();
        state["tasks"]["in_progress"].as_array().is_some_and(Vec::is_empty)
    });
    let (line, _, _) = place.ostler(&["resolve"]);
    assert_eq!(line, "READY:T0.1,T0.2\n");
}

#[test]
fn what_a_cancelled_main_agent_had_begun_is_given_back_after_a_crash() {
    // The server dies when the run is cancelled and its task is not given back yet; or at once.
    for site in [Some("before end errand:1"), None] {
        let mut place = Place::new(TWO);
        place.configure("[orchestrate]\nmax_parallel = 1\n");
        place.behave("any", "[ -e $R/go ] || sleep 600; echo x > src/$id.txt\n");
        place.script(READER);
        place.start(site);
        let session = place.run_main(&["--main"]);
        // One works; the other is begun, and waits for its turn without a run.
        place.wait_file("ran", |ran| ran.lines().count() == 1);
        place.wait_file("project/.claude/orchestrate.log", |log| log.matches("EXECUTE:").count() == 2);
        place.ostler(&["cancel", &session]);
        if site.is_some() {
            place.wait_for_death();
        }
        place.kill();
        place.start(None);
        place.wait_file("project/.claude/orchestrate-state.json", |state| {
            let state: serde_json::Value = serde_json::from_str(state).unwrap_or_default();
            state["tasks"]["in_progress"].as_array().is_some_and(Vec::is_empty)
        });
        assert_eq!(place.over(&session), OutcomeKind::Cancelled);
        assert_eq!(place.read("ran").lines().count(), 1, "nothing is begun for who is cancelled");
        // Whoever asks for them now has them done anew.
        place.write("go", "");
        place.write("heard", "");
        place.script(&(says(&["TASK_ID:T0.1"], 1) + &says(&["TASK_ID:T0.2"], 1)));
        let session = place.run_main(&["--main"]);
        assert_eq!(place.over(&session), OutcomeKind::Completed);
        assert_eq!(place.heard(), ["DONE:T0.1", "DONE:T0.2"], "{site:?}");
    }
}

#[test]
fn a_task_that_nobody_can_do_stays_as_it_is() {
    let mut place = Place::new(TWO);
    place.write("config/ostler/config.toml", "");
    place.script(&says(&["TASK_ID:T0.1"], 1));
    place.start(None);
    let session = place.run_main(&["--main"]);
    assert_eq!(place.over(&session), OutcomeKind::Completed);
    let why = "no agent has the name of its owner, and there is no default agent";
    assert_eq!(place.heard(), [format!("FAIL:T0.1:{why}")]);
    let (line, _, code) = place.ostler(&["exec", "T0.1", "--agent", "nobody"]);
    assert_eq!((line.as_str(), code), ("FAIL:T0.1:there is no agent 'nobody'\n", 1));
    let (line, _, _) = place.ostler(&["exec", "T0.1"]);
    assert_eq!(line, format!("FAIL:T0.1:{why}\n"));
    assert!(!place.project().join(".claude").exists(), "nothing has changed");
}

#[test]
fn who_ends_with_tasks_under_way_is_waited_for() {
    let mut place = Place::new(TWO);
    place.behave("any", "while [ ! -e $R/go ]; do sleep 0.02; done; echo x > src/$id.txt\n");
    place.script(&says(&["TASK_ID:T0.1"], 0));
    place.start(None);
    let session = place.run_main(&["--main"]);
    place.wait_file("ran", |ran| ran.lines().count() == 1);
    place.wait_for(&session, "to wait", |session| session.status == "waiting_agent");
    place.write("go", "");
    // A program that remembers nothing is not started again: what came of it stands in the files.
    assert_eq!(place.over(&session), OutcomeKind::Completed);
    assert!(place.read("project/TASKS.md").contains("[x] T0.1"));
}

/// A CLI that speaks as claude does: each message is a turn, after which it waits for the next.
const STRUCTURED: &str = r#"#!/bin/sh
R=@ROOT@
say() { printf '{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"%s\\n"}]}}\n' "$1"; }
end() { printf '{"type":"result","subtype":"success","total_cost_usd":0,"usage":{"output_tokens":1}}\n'; }
read -r first
printf '{"type":"system","subtype":"init","session_id":"c-1"}\n'
printf '%s\n' '{"type":"assistant","message":{"model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cat README.md"}}]}}'
printf '%s\n' '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"TASK_ID:T0.2\nWORKTREE:src\nCUSTOM:SKIP:P2-R1-T2-of-somebody\nTASK_ID:T0.2\n"}]}}'
say '```\nTASK_ID:T0.2\n```\nTASK_ID:T0.2\nWORKTREE:src\nRESOLVE_NEXT'
end
while IFS= read -r line; do
    printf '%s\n' "$line" >> "$R/heard"
    case $line in
    *READY:*) say 'Both can run.\n\nTASK_ID:T0.1\nTASK_ID:T0.2' ;;
    *DONE:T0.1*) say 'RESOLVE_NEXT' ;;
    *ALL_DONE*) say 'Everything is done.' ;;
    *) say 'I see.' ;;
    esac
    end
done
"#;

#[test]
fn a_structured_cli_is_answered_in_its_own_form() {
    let mut place = Place::new(TWO);
    place.behave("T0.1", "until grep -q DONE:T0.2 $R/heard; do sleep 0.02; done; echo x > src/T0.1.txt\n");
    place.write_program("claude", STRUCTURED);
    let command = place.root.join("claude").display().to_string();
    place.configure(&format!(
        "[agents.fake]\nextends = \"claude\"\ncommand = [{command:?}]\nguide = \"none\"\n\
         [agents.fake.arguments]\nguide = []\nmcp_config = []\n"
    ));
    place.start(None);
    let (out, err, code) =
        place.ostler(&["--json", "run", "-d", "--main", "--no-mcp", "fake", "do all of it"]);
    assert_eq!(code, 0, "{out}{err}");
    let run: RunView = serde_json::from_str(&out).expect("a run");
    let session = run.sessions[0].id.clone();
    assert_eq!(place.over(&session), OutcomeKind::Completed);
    let texts: Vec<String> = place
        .heard()
        .iter()
        .map(|line| {
            let message: serde_json::Value = serde_json::from_str(line).expect("a message of its own form");
            assert_eq!(message["type"], "user");
            message["message"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
        })
        .collect();
    assert_eq!(
        texts,
        [
            "FAIL:T0.2:it also stands in what a tool has printed; ostler exec and ostler tasks do it",
            "READY:T0.1,T0.2",
            "DONE:T0.2",
            "DONE:T0.1",
            "PHASE_DONE:0",
        ]
    );
    // What stands in a fence is quoted, and nothing was done for it.
    assert_eq!((place.times("T0.1"), place.times("T0.2")), (1, 1));
}

#[test]
fn whoever_watches_sees_the_answers() {
    let mut place = Place::new(TWO);
    place.start(None);
    place.script("echo RESOLVE_NEXT; hear; echo TASK_ID:T0.1; hear\n");
    let program = place.root.join("main").display().to_string();
    let (out, err, code) = place.ostler(&["run", "--main", "--", &program]);
    assert_eq!((out.as_str(), code), ("RESOLVE_NEXT\nTASK_ID:T0.1\n", 0), "{err}");
    for answer in ["READY:T0.1,T0.2", "DONE:T0.1"] {
        assert_eq!(err.matches(&format!("ostler: to the agent: {answer}\n")).count(), 1, "{err}");
    }
    // Each stands behind what was asked, where both go to the same place.
    let both = fs::File::create(place.root.join("both")).expect("a file");
    let mut command = place.command(&["--lang", "ko", "run", "--main", "--", &program]);
    command.stderr(both.try_clone().expect("a file")).stdout(both);
    assert!(command.status().expect("the binary starts").success(), "{}", place.read("both"));
    let shown = place.read("both");
    for (asked, answer) in [("RESOLVE_NEXT", "READY:T0.2"), ("TASK_ID:T0.1", "DONE:T0.1")] {
        let place =
            |line: &str| shown.find(&format!("{line}\n")).unwrap_or_else(|| panic!("{line}: {shown}"));
        assert!(place(asked) < place(&format!("ostler: 에이전트에게: {answer}")), "{shown}");
    }
}

#[test]
fn a_main_agent_asks_for_groups_and_for_a_phase_too_early() {
    let mut place = Place::new(FOUR);
    place.script(&says(
        &["RESOLVE_NEXT:PHASE:1:GROUPS", "CUSTOM:SKIP:T0.1", "CUSTOM:CLOSE:0", "RESOLVE_NEXT:GROUPS"],
        4,
    ));
    place.start(None);
    let session = place.run_main(&["--main"]);
    assert_eq!(place.over(&session), OutcomeKind::Completed);
    let heard = place.heard();
    assert_eq!(heard[0], "ERROR:OPEN_DEP:T0.1", "{heard:?}");
    assert_eq!(heard[3], "READY:T1.1,T1.2|T1.3", "{heard:?}");
    let log = place.log();
    for line in ["RESOLVE_NEXT:PHASE:1:GROUPS", "ERROR:OPEN_DEP:T0.1", "RESOLVE_NEXT:GROUPS"] {
        assert!(log.iter().any(|it| it == line), "{log:?}");
    }
}

#[test]
fn whoever_watches_is_told_what_to_do_about_a_wrong_file() {
    let mut place = Place::new("- [ ] T0.1: one\n  - deps: T9.9\n");
    place.start(None);
    place.script("echo RESOLVE_NEXT; hear\n");
    let program = place.root.join("main").display().to_string();
    let (_, err, code) = place.ostler(&["run", "--main", "--", &program]);
    assert_eq!(code, 0, "{err}");
    let (_, behind) = err.split_once("ostler: to the agent: ERROR:MISSING_DEP:T0.1->T9.9\n").expect(&err);
    assert!(behind.contains("ostler: Put the task file right; ostler tasks check lists"), "{err}");
    assert_eq!(place.log(), ["RESOLVE_NEXT", "ERROR:MISSING_DEP:T0.1->T9.9"]);
}
