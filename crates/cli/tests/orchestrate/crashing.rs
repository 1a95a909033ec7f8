//! A server that dies at every step of a loop: in the end everything stands as if it had not.

use std::{
    thread,
    time::{Duration, Instant},
};

use ostler_server::{
    EXEC_SITES, LOOP_SITES,
    api::{LoopView, NewAnswer, OutcomeKind},
};
use serde_json::Value;

use crate::{
    preload::Preload,
    support::{DEADLINE, Place},
};

const SMALL: &str = "\
## Phase 0: Setup
- [ ] T0.1: one
  - files: src/T0.1.txt
## Phase 1: Auth
- [ ] T1.1: two
  - files: src/shared.txt
- [ ] T1.2: three
- [ ] T1.3: four
";

/// Everything that a loop can meet: a task that fails once and then stands against what somebody has committed meanwhile,
/// one that declares nothing, one that never passes, tests that do, and an agent for the conflict.
fn small() -> Place {
    let place = Place::new(SMALL);
    place.configure("[orchestrate]\ntest = \"true\"\n");
    place.behave(
        "T1.1",
        "if [ ! -e $R/tried ]; then touch $R/tried; exit 1; fi\n\
         echo theirs > src/shared.txt; cd $R/project; echo ours > src/shared.txt\n\
         git commit -q -m 'somebody else' -- src/shared.txt\n",
    );
    place.behave("T1.3", "exit 3\n");
    place.behave(
        "mend",
        "git merge -q main >/dev/null 2>&1; printf 'ours\\ntheirs\\n' > src/shared.txt; git commit -qam merged\n",
    );
    place
}

/// A person who does without what has failed, and has everything else tried again.
fn decide(place: &Place, run: &str) {
    let Ok(view) = place.get::<LoopView>(&format!("/orchestrate/{run}")) else { return };
    let Some(request) = view.request else { return };
    let has_failed = view.tasks.iter().any(|task| task.state == "failed");
    let word = if has_failed { "skip" } else { "retry" };
    let answer = NewAnswer { value: Some(word.to_owned()), ..NewAnswer::default() };
    // It may be answered already, and its server gone.
    place.post::<Value>(&format!("/requests/{request}/answer"), &answer).ok();
}

fn finish(place: &mut Place, crash_at: Option<&str>) {
    place.start(crash_at);
    // The server may be gone before it has answered; the loop is in the journal then, or is begun by the next.
    let begun = place.command(&["--json", "orchestrate", "--detach"]).output().ok();
    let begun = begun.and_then(|begun| serde_json::from_slice::<LoopView>(&begun.stdout).ok());
    let deadline = Instant::now() + DEADLINE;
    while crash_at.is_some() && !place.has_died() {
        assert!(Instant::now() < deadline, "{crash_at:?} was never passed:\n{}", place.read("server.log"));
        if let Some(view) = &begun {
            decide(place, &view.run);
        }
        thread::sleep(Duration::from_millis(10));
    }
    if crash_at.is_some() {
        place.kill();
        place.start(None);
    }
    let run = begun.map_or_else(|| place.begin(&[]), |view| view.run);
    let view = place.until(&run, "its end", |view| {
        decide(place, &run);
        view.outcome.is_some()
    });
    assert_eq!(view.outcome.expect("an outcome").outcome, OutcomeKind::Completed, "{crash_at:?}");
    assert_eq!((view.counts.completed, view.counts.skipped), (3, 1), "{crash_at:?}");
}

#[test]
fn a_server_that_dies_at_any_step_goes_on() {
    let mut undisturbed = small();
    finish(&mut undisturbed, None);
    assert_eq!(undisturbed.git(&["show", "HEAD:src/shared.txt"]), "ours\ntheirs");
    // One place alone, for whoever looks for a cause.
    let named = std::env::var("OSTLER_CRASH_SITE").ok();
    for site in LOOP_SITES.into_iter().filter(|site| named.as_ref().is_none_or(|named| named == site)) {
        let mut place = small();
        finish(&mut place, Some(&format!("{site}:1")));
        assert_eq!(place.content(), undisturbed.content(), "{site}: {:?}", place.tree());
        assert_eq!(place.tree(), undisturbed.tree(), "{site}");
        let mut subjects = place.subjects();
        let mut expected = undisturbed.subjects();
        subjects.sort();
        expected.sort();
        assert_eq!(subjects, expected, "{site}: each is committed once");
        assert_eq!(place.git(&["status", "--porcelain", "--", "src"]), "", "{site}");
    }
}

/// What an earlier server has seen of a task stands in the report.
#[test]
fn tries_that_an_earlier_server_has_seen_count() {
    let mut place = Place::new("## Phase 0: All\n- [ ] T0.1: one\n  - files: src/T0.1.txt\n");
    place.behave(
        "T0.1",
        "n=$(wc -l < $R/ran); if [ $n -lt 3 ]; then exit $n; fi\n\
         until [ -e \"$R/go\" ]; do sleep 0.05; done; echo done > src/T0.1.txt\n",
    );
    place.start(None);
    let run = place.begin(&[]);
    let before = place.until(&run, "a third try", |_| place.read("ran").lines().count() == 3);
    assert_eq!(before.report.retries, 0, "it is not over");
    place.kill();
    place.start(None);
    place.write("go", "");
    let view = place.end(&run);
    assert_eq!((view.tasks[0].tries, view.report.retries), (3, 2), "{view:?}");
    assert!(view.report.agent_ms > 0, "{view:?}");
}

#[test]
fn time_that_an_earlier_server_has_seen_counts() {
    let Some(preload) = Preload::new() else { return };
    let mut place = Place::new("## Phase 0: All\n- [ ] T0.1: one\n  - META: {\"timeout\": 3600}\n");
    place.behave("T0.1", "until [ -e \"$R/go\" ]; do sleep 0.05; done\n");
    place.start_with(&preload.environment());
    let run = place.begin(&[]);
    place.until(&run, "work", |_| !place.read("ran").is_empty());
    let log = "project/.claude/orchestrate.log";
    assert!(!place.read(log).contains("FAIL:"), "{}", place.read(log));
    place.kill();
    preload.set("wall", "7200");
    place.start_with(&preload.environment());
    let deadline = Instant::now() + DEADLINE;
    while !place.read(log).contains("FAIL:T0.1:it was ended after 3600 s") {
        assert!(Instant::now() < deadline, "{}", place.read(log));
        thread::sleep(Duration::from_millis(20));
    }
    place.write("go", "");
    place.end(&run);
}

#[test]
fn a_task_of_exec_is_done_once_wherever_the_server_dies() {
    let named = std::env::var("OSTLER_CRASH_SITE").ok();
    for site in EXEC_SITES.into_iter().filter(|site| named.as_ref().is_none_or(|named| named == site)) {
        let mut place = Place::new("- [ ] T0.1: one\n  - files: src/T0.1.txt\n");
        // Its first attempt fails.
        place.behave(
            "T0.1",
            "if [ -e $R/tried ]; then echo x >> src/T0.1.txt; else touch $R/tried; exit 3; fi\n",
        );
        place.start(Some(&format!("{site}:1")));
        let (line, err, code) = place.ostler(&["exec", "T0.1"]);
        assert_eq!((line.as_str(), code), ("DONE:T0.1\n", 0), "{site}: {err}");
        assert!(place.has_died(), "{site} was passed");
        assert_eq!(place.read("ran").lines().count(), 2, "{site}: each attempt has one run");
        assert_eq!(place.read("project/src/T0.1.txt"), "x\n", "{site}");
        assert!(place.read("project/TASKS.md").starts_with("- [x] T0.1: one\n"), "{site}");
        let log = place.read("project/.claude/orchestrate.log");
        let said: Vec<&str> = log.lines().filter_map(|line| Some(line.split_once("] ")?.1)).collect();
        let failed = "FAIL:T0.1:the agent ended with exit code 3";
        let mut wanted = vec!["EXECUTE:T0.1", failed, "EXECUTE:T0.1", "DONE:T0.1"];
        if site == "after end exec" {
            // The client asks the next server, which knows that it is done.
            wanted.push("DONE:T0.1");
        }
        assert_eq!(said, wanted, "{site}");
        let state: Value =
            serde_json::from_str(&place.read("project/.claude/orchestrate-state.json")).expect("JSON");
        assert_eq!(state["tasks"]["completed"], serde_json::json!(["T0.1"]), "{site}");
        assert_eq!(state["metrics"]["completed_count"], 1, "{site}");
    }
}
