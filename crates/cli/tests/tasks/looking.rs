//! `ostler tasks`: lists, drawings, what is wrong with a file, and what a person decides.

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::{Place, TASKS};

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
          phase_1 --> phase_2
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
