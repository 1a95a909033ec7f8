//! What goes wrong, and who decides then.

use std::{fs, os::unix::fs::PermissionsExt};

use ostler_server::api::{GivenValue, NewAnswer, OutcomeKind};

use crate::{straight::THREE, support::Place};

#[test]
fn a_task_that_fails_for_good_blocks_its_descendants_until_a_person_skips_it() {
    let mut place = Place::new(THREE);
    place.start(None);
    place.behave("T1.1", "exit 3\n");
    let run = place.begin(&[]);
    let card = place.asked(&run);
    let view = place.view(&run);
    let state = |id: &str| view.tasks.iter().find(|task| task.id == id).expect("a task").state.clone();
    assert_eq!([state("T0.1"), state("T1.1"), state("T1.2")], ["completed", "failed", "blocked"]);
    let (line, _, _) = place.ostler(&["resolve"]);
    assert_eq!(line, "ERROR:BLOCKED:T1.1\n");
    // What became of its sessions is one line, however many there were.
    let (overview, _, _) = place.ostler(&[]);
    let lines: Vec<&str> = overview.lines().filter(|line| line.contains("loop in ")).collect();
    assert!(lines.len() == 1 && lines[0].contains(": 3 of its sessions have failed, "), "{overview}");
    assert!(!overview.contains("✗ failed") && overview.starts_with("Ended so far:\n"), "{overview}");
    place.answer(&card, "skip");
    let view = place.end(&run);
    assert_eq!(view.outcome.expect("an outcome").outcome, OutcomeKind::Completed);
    assert_eq!((view.counts.completed, view.counts.skipped), (4, 1));
    assert!(place.tree().0.contains("src/T1.2.txt"));
}

#[test]
fn a_card_has_whole_reasons() {
    let files = (0..20).map(|n| format!("src/somewhere/file{n}.txt")).collect::<Vec<_>>().join(", ");
    let mut place = Place::new(&format!("## Phase 0: All\n\n- [ ] T0.1: a\n  - files: {files}\n"));
    place.start(None);
    let run = place.begin(&[]);
    let card = place.asked(&run);
    let asked = serde_json::to_string(&card).expect("JSON");
    assert!(asked.contains(&format!("T0.1: nothing has changed in {files}")), "{asked}");
}

const ONE: &str = "## Phase 0: All\n\n- [ ] T0.1: a\n";

/// Counts what it does, in `$n`.
const COUNTS: &str = "n=$(($(cat $R/count 2>/dev/null || echo 0) + 1)); echo $n > $R/count\n";

/// Three failures in the same way are enough; others show that somebody gets on.
#[test]
fn failures_that_differ_are_tried_again_up_to_the_limit() {
    for (said, tries) in [
        ("echo \"cannot find module number $n\"", 10),
        ("echo \"cannot find module number $n\" >&2", 10),
        ("echo \"cannot find it, after 0.${n}s, see /tmp/build$n\"", 3),
    ] {
        let mut place = Place::new(ONE);
        place.start(None);
        place.behave("T0.1", &format!("{COUNTS}{said}; exit 1\n"));
        let run = place.begin(&[]);
        let card = place.asked(&run);
        assert_eq!(place.read("ran").lines().count(), tries, "{said}");
        let whole = if tries == 10 { "cannot find module number 10" } else { "cannot find it, after 0.3s" };
        for (where_, text) in [
            ("the card", format!("{:?}", card.ask)),
            ("show", place.ostler(&["tasks", "show", "T0.1"]).0),
            ("the prompt", place.read("prompts.T0.1").replace(" 9", " 10").replace("0.2s", "0.3s")),
        ] {
            assert!(text.contains("the agent ended with exit code 1"), "{where_}: {text}");
            assert!(text.contains(whole), "{where_}: {text}");
        }
        let log = place.read("project/.claude/orchestrate.log");
        assert!(log.contains("FAIL:T0.1:the agent ended with exit code 1\n"), "a line is short: {log}");
    }
}

/// Asks for a value, waits until it is there, and says more than is kept, with the value at the end.
const LEAKS: &str = r#"printf '%s\n' '[DEPENDENCY_REQUEST]' 'type: api_key' 'name: KEY' 'description: because' \
    'required: true' '[/DEPENDENCY_REQUEST]'
printf '%s\n' '[USER_QUESTION]' 'category: clarification' 'question: Ready?' 'required: true' '[/USER_QUESTION]'
read -r line
until bash -c 'test -n "$KEY"'; do sleep 0.05; done
seq 1 5000; bash -c 'echo "refused: $KEY."'; bash -c 'echo "$KEY" >&2'; exit 1
"#;

/// What is kept of a failure has its beginning and the end of what was printed, and no secret.
#[test]
fn the_end_of_what_was_printed_is_kept_without_secrets() {
    let mut place = Place::new(ONE);
    place.start(None);
    place.behave("T0.1", LEAKS);
    let run = place.begin(&[]);
    let state = || place.read("project/.claude/orchestrate-state.json");
    place.until(&run, "a failure", |view| {
        if let Some(request) =
            view.tasks[0].request.as_ref().filter(|_| place.read("ran").lines().count() == 1)
        {
            let given = [("KEY".to_owned(), GivenValue::new("correct-horse-battery".to_owned()))];
            let answer = match request.ask.kind.as_str() {
                "dependency" => NewAnswer { values: given.into(), ..NewAnswer::default() },
                _ => NewAnswer { value: Some("go".to_owned()), ..NewAnswer::default() },
            };
            // It may be answered already.
            place.post::<serde_json::Value>(&format!("/requests/{}/answer", request.id), &answer).ok();
        }
        state().contains("refused: ")
    });
    let (shown, _, _) = place.ostler(&["tasks", "show", "T0.1"]);
    assert!(shown.contains("exit code 1") && shown.contains("\n  5000\n"), "{shown}");
    assert!(shown.contains("refused: ****") && !shown.contains("\n  2500\n"), "{shown}");
    assert!(!state().contains("correct-horse") && !shown.contains("correct-horse"), "{shown}");
}

#[test]
fn a_skip_from_outside_settles_the_card() {
    let mut place = Place::new(THREE);
    place.start(None);
    place.behave("T1.1", "exit 3\n");
    let run = place.begin(&[]);
    place.asked(&run);
    let (out, err, code) = place.ostler(&["tasks", "skip", "T1.1"]);
    assert_eq!(code, 0, "{out}{err}");
    // Whoever comes at once sees the same loop, and no question that is settled.
    let (out, err, code) = place.ostler(&["orchestrate"]);
    assert_eq!(code, 0, "{out}{err}");
    let view = place.end(&run);
    assert_eq!((view.counts.completed, view.counts.skipped), (4, 1));
}

#[test]
fn an_answer_that_comes_after_another_decision_changes_nothing() {
    let mut place = Place::new(THREE);
    place.start(None);
    place.behave("T1.1", "exit 3\n");
    let run = place.begin(&[]);
    let card = place.asked(&run);
    let (out, err, code) = place.ostler(&["tasks", "skip", "T1.1"]);
    assert_eq!(code, 0, "{out}{err}");
    // The loop may have seen the first decision by then.
    let answer = serde_json::json!({ "value": "retry" });
    place.post::<serde_json::Value>(&format!("/requests/{}/answer", card.id), &answer).ok();
    let view = place.end(&run);
    assert_eq!((view.counts.completed, view.counts.skipped), (4, 1));
    assert!(!place.read("project/.claude/orchestrate.log").contains("CUSTOM:RETRY"));
}

#[test]
fn a_phase_may_be_closed_with_failures() {
    let mut place = Place::new(THREE);
    place.start(None);
    place.behave("T1.1", "exit 3\n");
    let run = place.begin(&[]);
    place.answer(&place.asked(&run), "close");
    let view = place.end(&run);
    assert_eq!((view.counts.completed, view.counts.skipped), (3, 2));
    assert!(place.tree().0.contains("src/T2.1.txt"));
}

const TWO: &str = "\
## Phase 1: One
- [ ] T1.1: fails
- [ ] T1.2: is done
  - files: src/T1.2.txt
## Phase 2: Two
- [ ] T2.1: goes on
  - deps: T1.2
  - files: src/T2.1.txt
";

#[test]
fn what_was_done_in_a_phase_that_is_closed_with_failures_is_merged() {
    let mut place = Place::new(TWO);
    place.start(None);
    place.behave("T1.1", "echo no >&2; exit 3\n");
    place.behave("T2.1", "test -e src/T1.2.txt && echo two > src/T2.1.txt\n");
    let run = place.begin(&[]);
    let card = place.asked(&run);
    let reason = "T1.1: the agent ended with exit code 3";
    assert!(format!("{:?}", card.ask).contains(reason), "{:?}", card.ask);
    place.answer(&card, "close");
    let view = place.end(&run);
    assert_eq!((view.counts.completed, view.counts.skipped), (2, 1), "{view:?}");
    assert!(place.tree().0.contains("src/T1.2.txt") && place.tree().0.contains("src/T2.1.txt"));
    assert!(place.git(&["branch", "--list", "worktree/*"]).is_empty(), "nothing is left behind");
    let (out, err, code) = place.ostler(&["orchestrate"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn who_closes_a_phase_from_outside_does_not_take_it_from_the_loop() {
    let mut place = Place::new(TWO);
    place.configure("[orchestrate]\ntest = \"! test -e src/T1.2.txt || test -e src/T2.1.txt\"\n");
    place.start(None);
    let run = place.begin(&[]);
    let card = place.asked(&run);
    let (out, err, code) = place.ostler(&["tasks", "close", "1"]);
    assert_eq!(code, 0, "{out}{err}");
    place.answer(&card, "merge");
    let view = place.end(&run);
    assert_eq!(view.counts.completed, 3, "{view:?}");
    assert!(place.tree().0.contains("src/T1.2.txt"), "it was merged");
    let state = place.read("project/.claude/orchestrate-state.json");
    let state: serde_json::Value = serde_json::from_str(&state).expect("JSON");
    assert_eq!(state["checkpoints"]["phase_1"]["merged"], true, "{state}");
}

#[test]
fn a_target_that_was_put_in_order_is_merged_into_without_a_word() {
    let mut place = Place::new(TWO);
    place.write("project/src/T1.2.txt", "before\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "before"]);
    place.write("project/src/T1.2.txt", "not committed\n");
    place.start(None);
    let run = place.begin(&["--phase", "1"]);
    let card = place.asked(&run);
    assert!(format!("{:?}", card.ask).contains("committed these files in the project"), "{:?}", card.ask);
    assert_eq!(place.read("project/src/T1.2.txt"), "not committed\n");
    place.git(&["checkout", "-q", "src/T1.2.txt"]);
    let view = place.end(&run);
    assert_eq!(view.counts.completed, 2, "{view:?}");
    assert_ne!(place.read("project/src/T1.2.txt"), "before\n");
}

/// Whoever stops a loop at the end of a phase finds it there again: it is tested in its place and merged.
#[test]
fn a_phase_that_was_stopped_before_its_merge_is_merged_by_the_next_loop() {
    let mut place = Place::new(TWO);
    place.behave("T1.1", "echo one > src/T1.1.txt\n");
    place.behave("T2.1", "test -e src/T1.1.txt && test -e src/T1.2.txt && echo two > src/T2.1.txt\n");
    place.write("project/src/T1.2.txt", "in the way\n");
    place.configure("[orchestrate]\ntest = \"test -e src/T1.1.txt && test ! -e src/no\"\n");
    place.start(None);
    let run = place.begin(&[]);
    place.answer(&place.asked(&run), "stop");
    assert_eq!(place.end(&run).outcome.expect("an outcome").outcome, OutcomeKind::Failed);
    fs::remove_file(place.project().join("src/T1.2.txt")).expect("it is there");
    let run = place.begin(&[]);
    let view = place.end(&run);
    assert_eq!(view.outcome.clone().expect("an outcome").outcome, OutcomeKind::Completed, "{view:?}");
    for file in ["src/T1.1.txt", "src/T1.2.txt", "src/T2.1.txt"] {
        assert!(place.tree().0.contains(file), "{file}: {}", place.tree().0);
    }
    assert!(place.git(&["branch", "--list", "worktree/*"]).is_empty(), "nothing is left behind");
    // Who finds nothing to do has verified nothing.
    let run = place.begin(&[]);
    assert!(!place.end(&run).outcome.expect("an outcome").verified);
}

#[test]
fn red_tests_block_the_merge() {
    let mut place = Place::new(THREE);
    place.configure("[orchestrate]\ntest = \"! test -e src/T1.1.txt || test -e src/mended.txt\"\n");
    place.start(None);
    let before = place.git(&["rev-parse", "HEAD"]);
    let run = place.begin(&[]);
    let card = place.asked(&run);
    assert!(!place.tree().0.contains("src/T1.1.txt"), "nothing is merged");
    assert_ne!(place.git(&["rev-parse", "HEAD"]), before, "phase 0 stands in the checkout");
    // Who mends it in the worktree does not have to say so.
    let worktree = place.project().join("worktree/phase-1-auth");
    fs::write(worktree.join("src/mended.txt"), "mended\n").expect("a file");
    place.git(&["-C", "worktree/phase-1-auth", "add", "-A"]);
    place.git(&["-C", "worktree/phase-1-auth", "commit", "-q", "-m", "mend it"]);
    let view = place.end(&run);
    assert_eq!(view.outcome.expect("an outcome").outcome, OutcomeKind::Completed);
    assert!(place.tree().0.contains("src/mended.txt"));
    let card = place.get::<serde_json::Value>(&format!("/requests/{}", card.id)).expect("the card");
    assert_eq!(card["settled"]["by"], "change", "{card}");
}

#[test]
fn a_person_may_merge_all_the_same() {
    let mut place = Place::new(THREE);
    place.configure("[orchestrate]\ntest = \"! test -e src/T1.1.txt || test -e src/T2.1.txt\"\n");
    place.start(None);
    let run = place.begin(&[]);
    place.answer(&place.asked(&run), "merge");
    assert_eq!(place.end(&run).counts.completed, 5);
}

/// What was agreed to before the loop began is not what an agent made of it meanwhile.
#[test]
fn a_command_that_an_agent_has_changed_runs_only_if_somebody_agrees_again() {
    let mut place = Place::new(THREE);
    place.write("project/ostler.toml", "[orchestrate]\ntest = \"true\"\n");
    place.git(&["add", "-A"]);
    place.git(&["commit", "-q", "-m", "tests"]);
    place.start(None);
    let (out, err, code) = place.ostler(&["trust", "--yes"]);
    assert_eq!(code, 0, "{out}{err}");
    let change =
        "printf '[orchestrate]\\ntest = \"touch ../tested\"\\n' > ostler.toml; echo done > src/T0.1.txt\n";
    place.behave("T0.1", change);
    let run = place.begin(&["--phase", "0"]);
    let card = place.asked(&run);
    assert!(!place.root.join("tested").exists());
    let (out, err, code) = place.ostler(&["trust", "--yes"]);
    assert_eq!(code, 0, "{out}{err}");
    place.answer(&card, "retry");
    assert_eq!(place.end(&run).outcome.expect("an outcome").outcome, OutcomeKind::Completed);
    assert!(place.root.join("tested").exists());
}

/// Two sides change the same line: the one in the worktree, and somebody in the checkout meanwhile.
fn conflict(mend: &str) -> (Place, String) {
    let mut place = Place::new("## Phase 1: Auth\n- [ ] T1.1: one\n  - files: src/shared.txt\n");
    place.start(None);
    place.behave(
        "T1.1",
        "echo theirs > src/shared.txt\n\
         cd $R/project && echo ours > src/shared.txt && git commit -qam 'somebody else' && cd - >/dev/null\n",
    );
    place.behave("mend", mend);
    let run = place.begin(&[]);
    (place, run)
}

#[test]
fn a_conflict_goes_to_an_agent() {
    let mend = "git merge -q main >/dev/null 2>&1; printf 'ours\\ntheirs\\n' > src/shared.txt; git commit -qam merged\n";
    let (place, run) = conflict(mend);
    let view = place.end(&run);
    assert_eq!(view.outcome.expect("an outcome").outcome, OutcomeKind::Completed);
    assert_eq!(place.git(&["show", "HEAD:src/shared.txt"]), "ours\ntheirs");
}

#[test]
fn a_conflict_that_stays_goes_to_a_person_and_changes_nothing() {
    let (place, run) = conflict("exit 1\n");
    let card = place.asked(&run);
    assert_eq!(place.git(&["show", "HEAD:src/shared.txt"]), "ours");
    assert_eq!(place.read("project/src/shared.txt"), "ours\n");
    place.git(&["-C", "worktree/phase-1-auth", "merge", "-q", "-X", "theirs", "main"]);
    // That alone is seen; an answer does as well.
    let answer = serde_json::json!({ "value": "retry" });
    place.post::<serde_json::Value>(&format!("/requests/{}/answer", card.id), &answer).ok();
    assert_eq!(place.end(&run).outcome.expect("an outcome").outcome, OutcomeKind::Completed);
}

#[test]
fn what_cannot_be_begun_changes_nothing() {
    let unchanged = |place: &Place, code: i32, word: &str| {
        let before = (place.git(&["rev-parse", "HEAD"]), place.git(&["status", "--porcelain"]));
        let (out, err, found) = place.ostler(&["orchestrate"]);
        assert_eq!(found, code, "{out}{err}");
        assert!(format!("{out}{err}").contains(word), "{word}: {out}{err}");
        let after = (place.git(&["rev-parse", "HEAD"]), place.git(&["status", "--porcelain"]));
        assert_eq!(before, after);
    };
    let place = Place::new(THREE);
    fs::remove_file(place.project().join("TASKS.md")).expect("it is there");
    unchanged(&place, 15, "ERROR:TASKS_NOT_FOUND");
    place.write("project/TASKS.md", "- [ ] T1.1: a\n  - deps: [T1.2]\n- [ ] T1.2: b\n  - deps: [T1.1]\n");
    unchanged(&place, 15, "ERROR:CIRCULAR_DEP:T1.1->T1.2->T1.1");
    place.write("project/TASKS.md", THREE);
    place.git(&["checkout", "-q", "--detach"]);
    unchanged(&place, 7, "detached");
    place.git(&["checkout", "-q", "main"]);
    place.write("config/ostler/config.toml", "");
    unchanged(&place, 7, "no agent");
}

#[test]
fn a_project_that_cannot_be_written_is_refused() {
    let place = Place::new(THREE);
    let project = place.project();
    fs::set_permissions(&project, fs::Permissions::from_mode(0o555)).expect("it is ours");
    let can_write_anyway = fs::write(project.join("probe"), "").is_ok();
    let (out, err, code) = place.ostler(&["orchestrate"]);
    fs::set_permissions(&project, fs::Permissions::from_mode(0o755)).expect("it is ours");
    // Who may do everything is not kept from writing by a mode.
    if !can_write_anyway {
        assert_ne!(code, 0, "{out}{err}");
        assert!(!project.join(".claude").exists());
    }
}
