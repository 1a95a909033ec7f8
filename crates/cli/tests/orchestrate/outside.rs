//! A resolver and an executor that somebody else wrote: heard, and never believed over what the files say.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use ostler_server::api::OutcomeKind;

use crate::{straight::THREE, support::Place};

/// Adds an agent that is a script, and says what it is there for.
fn outside(place: &Place, role: &str, script: &str) {
    let path = place.root.join(role);
    let root = place.root.display();
    place.write(
        role,
        &format!("#!/bin/sh\nR={root}\nprintf '%s\\n' \"$OSTLER_PROMPT\" >> \"$R/asked.{role}\"\n{script}"),
    );
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let command = path.display().to_string();
    place.configure(&format!("[agents.{role}]\ncommand = [{command:?}]\n[orchestrate]\n{role} = {role:?}\n"));
}

/// What an executor does: it reads the lines, and works where it is told to.
const EXECUTOR: &str = r#"
id=$(printf '%s\n' "$OSTLER_PROMPT" | sed -n 's/^TASK_ID://p')
tree=$(printf '%s\n' "$OSTLER_PROMPT" | sed -n 's/^WORKTREE://p')
pwd >> "$R/places"
if [ -e "$R/behave/$id" ]; then . "$R/behave/$id"; else mkdir -p "./$tree/src"; echo "done $id" > "./$tree/src/$id.txt"; echo "DONE:$id"; fi
"#;

#[test]
fn an_executor_is_told_in_one_line_and_answers_in_one() {
    let mut place = Place::new(THREE);
    outside(&place, "executor", EXECUTOR);
    // The first time it fails, and says why.
    place.behave("T1.2", "if printf '%s' \"$OSTLER_PROMPT\" | grep -q META; then echo x > \"$tree/src/$id.txt\"; echo DONE:$id; else echo FAIL:$id:no luck; fi\n");
    place.start(None);
    let run = place.begin(&[]);
    let view = place.end(&run);
    assert_eq!((view.counts.completed, view.counts.failed), (5, 0));
    let asked = place.read("asked.executor");
    for lines in
        ["TASK_ID:T0.1\n", "TASK_ID:T1.1\nWORKTREE:worktree/phase-1-auth\n", "META:{\"failure\":\"no luck\"}"]
    {
        assert!(asked.contains(lines), "{lines}: {asked}");
    }
    assert!(!asked.contains("## Task"), "{asked}");
    let project = place.project().canonicalize().expect("it is there").display().to_string();
    assert!(place.read("places").lines().all(|line| line == project), "it is started in the project");
    let task = view.tasks.iter().find(|task| task.id == "T1.2").expect("the task");
    assert_eq!(task.tries, 2);
    let exchange = view.report.exchange.expect("it is over");
    let thin = fs::read_to_string(Path::new(&exchange.directory).join("thin.txt")).expect("a transcript");
    assert!(thin.contains("\nFAIL:T1.2:no luck\n") && thin.contains("\nDONE:T1.2\n"), "{thin}");
}

#[test]
fn an_executor_reads_all_that_the_task_says_about_itself() {
    let meta = r#"{"timeout":300,"priority":"high","model":{"name":"large"},"labels":["a","b"]}"#;
    let mut place = Place::new(&format!("- [ ] T0.1: one\n  - files: src/T0.1.txt\n  - META: {meta}\n"));
    outside(&place, "executor", EXECUTOR);
    place.start(None);
    let run = place.begin(&[]);
    assert_eq!(place.end(&run).counts.completed, 1);
    let asked = place.read("asked.executor");
    let line = asked.lines().find_map(|line| line.strip_prefix("META:")).expect("a line of its own");
    let (asked, said): (serde_json::Value, serde_json::Value) =
        (serde_json::from_str(line).expect("JSON"), serde_json::from_str(meta).expect("JSON"));
    assert_eq!(asked, said);
}

#[test]
fn an_executor_is_not_believed_without_evidence() {
    let mut place =
        Place::new("- [ ] T0.1: one\n  - files: src/T0.1.txt\n- [ ] T0.2: two\n  - files: src/T0.2.txt\n");
    outside(&place, "executor", EXECUTOR);
    place.behave("T0.1", "echo DONE:T0.1\n");
    place.behave("T0.2", "echo x > src/T0.2.txt; echo DONE:T0.1\n");
    place.start(None);
    let run = place.begin(&[]);
    place.asked(&run);
    let view = place.view(&run);
    let line = |id: &str| view.tasks.iter().find(|task| task.id == id).and_then(|task| task.line.clone());
    assert_eq!(line("T0.1").as_deref(), Some("FAIL:T0.1:nothing has changed in src/T0.1.txt"));
    assert!(line("T0.2").is_some_and(|line| line.contains("neither DONE:T0.2")), "{view:?}");
}

#[test]
fn a_resolver_says_what_begins_first() {
    let mut place = Place::new(THREE);
    let script = "if grep -q '\\[ \\] T0.1' TASKS.md && grep -q '\\[x\\] T0.2' TASKS.md; then echo READY:T0.1; \
                  elif grep -q '\\[ \\] T0.2' TASKS.md; then echo thinking; echo READY:T0.2; \
                  else ostler=$(grep -o '\\[ \\] T[0-9.]*' TASKS.md | head -1); echo \"READY:${ostler#\\[ \\] }\"; fi\n";
    outside(&place, "resolver", script);
    place.start(None);
    let run = place.begin(&["--max-parallel", "1"]);
    let view = place.end(&run);
    assert_eq!(view.outcome.expect("an outcome").outcome, OutcomeKind::Completed);
    let ran: Vec<String> =
        place.read("ran").lines().filter_map(|line| line.split(' ').next().map(str::to_owned)).collect();
    assert_eq!(ran, ["T0.2", "T0.1", "T1.1", "T1.2", "T2.1"]);
    assert!(place.read("asked.resolver").lines().all(|line| line == "RESOLVE_NEXT"));
    let log = place.read("project/.claude/orchestrate.log");
    assert!(log.contains("] READY:T0.2\n"), "{log}");
    let own = log.matches("READY:T0.1,T0.2").count();
    assert_eq!(own, 1, "only before the loop begins: {log}");
}

#[test]
fn a_resolver_that_names_what_cannot_begin_is_refused() {
    let mut place = Place::new(THREE);
    outside(
        &place,
        "resolver",
        "if [ -e $R/well ]; then echo READY:T0.1,T0.2,T1.1,T1.2,T2.1; else echo READY:T1.2; fi\n",
    );
    place.start(None);
    let run = place.begin(&[]);
    let card = place.asked(&run);
    assert_eq!(place.read("ran"), "", "nobody was begun");
    assert_eq!(place.read("asked.resolver").lines().count(), 2, "it was asked once more");
    let request = serde_json::to_string(&card).expect("JSON");
    assert!(
        request.contains("the resolver has said READY:T1.2") && request.contains("T0.1, T0.2"),
        "{request}"
    );
    place.write("well", "");
    place.answer(&card, "retry");
    assert_eq!(place.end(&run).counts.completed, 5);
}

#[test]
fn somebody_outside_has_to_be_there() {
    let place = Place::new(THREE);
    place.configure("[orchestrate]\nresolver = \"nobody\"\n");
    let (out, err, code) = place.ostler(&["orchestrate"]);
    assert_ne!(code, 0, "{out}{err}");
    assert!(err.contains("nobody"), "{err}");
    assert!(!place.project().join(".claude").exists());
}

#[test]
fn a_task_may_say_how_long_it_takes_at_most() {
    let mut place = Place::new(
        "- [ ] T0.1: one\n  - files: src/T0.1.txt\n  - meta: {\"timeout\":1,\"priority\":\"low\"}\n- [ ] T0.2: two\n  - files: src/T0.2.txt\n",
    );
    // The second time it is faster.
    place
        .behave("T0.1", "if [ -e $R/late ]; then echo x > src/T0.1.txt; else touch $R/late; sleep 600; fi\n");
    place.start(None);
    let run = place.begin(&["--max-parallel", "1"]);
    assert_eq!(place.end(&run).counts.completed, 2);
    let prompts = place.read("prompts.T0.1");
    assert!(prompts.contains("it was ended after 1 s"), "{prompts}");
    assert!(place.read("ran").starts_with("T0.2 "), "its priority is low");
}
