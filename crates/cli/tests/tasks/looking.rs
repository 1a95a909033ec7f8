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
            phase 1 (Auth): 4 tasks, 1 done
            phase 2 (Orders): 1 task, 0 done
            TASKS.md: 5 tasks in 2 phases with 4 dependencies, and it can be worked with
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
            phase 1: 1 task, 0 done
            TASKS.md: 1 task in 1 phase with 0 dependencies, and it can be worked with
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
            phase 1: 1 task, 0 done
            TASKS.md: 1 problem to put right; nothing is done before
            --- 15
        "#]],
    );
}

#[test]
fn a_check_counts_what_the_state_says() {
    let place = Place::new("- [ ] T1.1: a\n- [ ] T1.2: b\n");
    place.write(".claude/orchestrate-state.json", r#"{"completedTasks":["T1.1"]}"#);
    let said = place.run(&["tasks", "check"]);
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success() && text.contains("phase 1: 2 tasks, 1 done\n"), "{text}");
    place.write(".claude/orchestrate-state.json", r#"{"completedTasks":{"a":1}}"#);
    let text = place.run(&["tasks", "check"]).stdout;
    let text = String::from_utf8_lossy(&text);
    assert!(
        text.starts_with(".claude/orchestrate-state.json: ") && text.contains("completedTasks"),
        "{text}"
    );
}

#[test]
fn a_check_refuses_a_broken_state() {
    let place = Place::new("- [ ] T1.1: a\n");
    place.write(".claude/orchestrate-state.json", "{");
    let said = place.run(&["tasks", "check"]);
    let text = String::from_utf8_lossy(&said.stdout);
    assert_eq!(said.status.code(), Some(15), "{text}");
    assert!(text.starts_with(".claude/orchestrate-state.json: the state cannot be used"), "{text}");
    assert!(text.ends_with("TASKS.md: 1 problem to put right; nothing is done before\n"), "{text}");
    let about: Value =
        serde_json::from_slice(&place.run(&["--json", "tasks", "check"]).stdout).expect("JSON");
    assert!(about["state_error"].is_string(), "{about}");
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
            phase 1: 1 task, 0 done
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
            1단계: 작업 1개, 완료 0개
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
        (&json!(2), &json!(1))
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

#[test]
fn what_was_understood_and_what_was_passed_over() {
    let place = Place::new(
        "# Shop\n\n| Task | Status |\n|--|--|\n| T1.1 | open |\n\n## ADR-001: Postgres\n\n## Phase 1: Auth\n### [ ] T1.1: Login\n> **Depends on**: T1.2\n\n\
         ### [x] T1.2: Mail\n\n## M1.5 (Phase 1.5): Clean up\n- [ ] T1.5.1: Names\n\n## Progress\n- [ ] T1.1: Login\n- [x] T1.2: Mail\n\n```text\n- [ ] T9.9: an example\n```\n",
    );
    place.check(
        &["tasks", "check"],
        &expect![[r#"
        TASKS.md:5: passed over: T1.1 is mentioned: the task is elsewhere
        TASKS.md:7: passed over: ADR-001 is a heading without a box, and nothing is said about it: no task
        TASKS.md:19-20: passed over: T1.1 is named again: added to the task of that id, and 1 more
        TASKS.md:23: passed over: T9.9 is in a code fence, which is not read
        phase 1 (Auth): 3 tasks, 1 done
        TASKS.md: 3 tasks in 1 phase with 1 dependency, and it can be worked with
        --- 0
    "#]],
    );
    place.check(
        &["--lang", "ko", "tasks", "check"],
        &expect![[r#"
        TASKS.md:5: 지나침: T1.1을(를) 언급합니다. 작업은 다른 곳에 있습니다
        TASKS.md:7: 지나침: ADR-001은(는) 체크박스가 없고 설명하는 항목도 없는 제목이라 작업이 아닙니다
        TASKS.md:19-20: 지나침: T1.1이(가) 다시 나와 같은 번호의 작업에 더했습니다 외 1개
        TASKS.md:23: 지나침: T9.9은(는) 코드 블록 안에 있어 읽지 않습니다
        1단계 (Auth): 작업 3개, 완료 1개
        TASKS.md: 1개 단계에 작업 3개, 의존성 1개. 이대로 쓸 수 있습니다
        --- 0
    "#]],
    );
    let said: Value = serde_json::from_slice(&place.run(&["--json", "tasks", "check"]).stdout).expect("JSON");
    assert_eq!(
        said["understood"],
        json!({
            "phases": [{ "number": 1, "title": "Auth", "tasks": 3, "done": 1 }],
            "tasks": 3, "dependencies": 1,
        })
    );
    assert_eq!(
        said["passed_over"][2],
        json!({
            "line": 19, "last": 20, "count": 2, "what": "again", "text": "T1.1",
            "message": "T1.1 is named again: added to the task of that id",
        })
    );
    place.resolve(&[], "READY:T1.1");
}

#[test]
fn the_state_of_another_program_counts_or_is_named() {
    let place = Place::new("- [ ] T1.1: a\n- [ ] T1.2: b\n- [ ] T2.1: c\n- [ ] T3.1: d\n");
    let state = json!({
        "completedPhases": [1], "completedTasks": ["T2.1", "Set up"], "phaseNotes": { "1": "fine" }, "currentPhase": 2,
    });
    place.write(".claude/orchestrate-state.json", &state.to_string());
    place.check(&["tasks", "check"], &expect![[r#"
        .claude/orchestrate-state.json: 'completedPhases' of another program counts: 1 of this file
        .claude/orchestrate-state.json: 'completedTasks' of another program counts: 1 of this file
        .claude/orchestrate-state.json: 'phaseNotes' of another program is not understood and counts as nothing; list finished tasks in tasks.completed
        .claude/orchestrate-state.json: 'Set up' is no task or phase of TASKS.md
        phase 1: 2 tasks, 2 done
        phase 2: 1 task, 1 done
        phase 3: 1 task, 0 done
        TASKS.md: 4 tasks in 3 phases with 0 dependencies, and it can be worked with
        --- 0
    "#]]);
    place.check(&["--lang", "ko", "tasks", "check"], &expect![[r#"
        .claude/orchestrate-state.json: 다른 프로그램의 'completedPhases'을(를) 반영합니다: 이 파일에 있는 것 1개
        .claude/orchestrate-state.json: 다른 프로그램의 'completedTasks'을(를) 반영합니다: 이 파일에 있는 것 1개
        .claude/orchestrate-state.json: 다른 프로그램의 'phaseNotes'은(는) 알 수 없어 반영하지 않습니다. 끝난 작업은 tasks.completed에 적으세요
        .claude/orchestrate-state.json: 'Set up'은(는) TASKS.md에 없는 작업이나 단계입니다
        1단계: 작업 2개, 완료 2개
        2단계: 작업 1개, 완료 1개
        3단계: 작업 1개, 완료 0개
        TASKS.md: 3개 단계에 작업 4개, 의존성 0개. 이대로 쓸 수 있습니다
        --- 0
    "#]]);
    place.check(&["resolve"], &expect![[r#"
        PHASE_DONE:2
        --- 0
        ostler: 'phaseNotes' of another program is not understood and counts as nothing; list finished tasks in tasks.completed
        ostler: 'Set up' is no task or phase of TASKS.md
    "#]]);
    let kept = place.state();
    assert_eq!(kept["completedTasks"], state["completedTasks"], "what others wrote stays");
    assert_eq!(kept["phaseNotes"], state["phaseNotes"]);
    let said: Value = serde_json::from_slice(&place.run(&["--json", "tasks", "check"]).stdout).expect("JSON");
    assert_eq!(said["state"]["unread"], json!(["phaseNotes"]));
}
