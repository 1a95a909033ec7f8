//! What can run, and each line that says so.

use std::collections::BTreeSet;

use ostler_engine::plan::{Plan, Priority, Progress, Request, State, answer, critical_path};

use crate::{laws::edges, plan, progress};

const TWO_PHASES: &str = "## Phase 1: Auth\n- [ ] T1.1: a\n- [ ] T1.2: b\n- [ ] T1.3: c\n  - deps: T1.1, T1.2\n\
                          ## Phase 2: Shop\n- [ ] T2.1: d\n- [ ] T2.2: e\n  - deps: T1.1\n- [ ] T2.3: f\n  - deps: T2.1\n";

#[track_caller]
fn check(progress: &Progress<'_>, checkpoints: &[u32], request: Request, expected: &str) {
    let checkpoints: BTreeSet<u32> = checkpoints.iter().copied().collect();
    assert_eq!(answer(progress, &checkpoints, request).to_string(), expected);
}

const ASK: Request = Request { phase: None, groups: false };

#[test]
fn ready_by_priority_then_by_file() {
    let plan = plan(
        "- [ ] T1.1: a\n- [ ] T1.2: b\n  - priority: low\n- [ ] T1.3: c\n  - 우선순위: 높음\n- [x] T1.4: d\n",
    );
    let mut progress = Progress::new(&plan);
    check(&progress, &[], ASK, "READY:T1.3,T1.1,T1.2");
    progress.prefer(plan.find("P1-T1.2").unwrap().number());
    check(&progress, &[], ASK, "READY:T1.2,T1.3,T1.1");
}

#[test]
fn more_about_a_task_is_json() {
    let plan = plan(
        "- [ ] T1.1: a\n- [ ] T1.2: b\n  - META: {\"priority\":\"high\",\"timeout\":300}\n- [ ] T1.3: c\n  - meta: soon\n\
         - [ ] T1.4: d\n  - timeout: 30 s, then the login is refused\n",
    );
    check(&Progress::new(&plan), &[], ASK, "READY:T1.2,T1.1,T1.3,T1.4");
    let seconds = |id: &str| plan.find(id).unwrap().timeout().map(|it| it.as_secs());
    assert_eq!(["T1.1", "T1.2", "T1.3", "T1.4"].map(seconds), [None, Some(300), None, None]);
    assert!(plan.problems().is_empty());
    assert_eq!(plan.warnings().len(), 1, "{:?}", plan.warnings());
}

#[test]
fn what_is_wrong_in_json_is_told_with_its_line() {
    let said = |meta: &str| {
        let plan = plan(&format!("- [ ] T1.1: a\n  - META: {meta}\n"));
        let task = plan.find("T1.1").unwrap();
        assert_eq!(task.timeout(), None, "{meta}");
        let told = plan.warnings().iter().map(|(line, warning)| format!("{line}: {warning}"));
        (task.priority(), told.collect::<Vec<_>>().join("; "))
    };
    let told = |text: &str| (Priority::Medium, text.to_owned());
    assert_eq!(said(r#"{"timeout":"5"}"#), told("2: '\"5\"' is unknown for 'timeout'"));
    assert_eq!(said(r#"{"timeout":-1}"#), told("2: '-1' is unknown for 'timeout'"));
    assert_eq!(said(r#"{"timeout":1.5}"#), told("2: '1.5' is unknown for 'timeout'"));
    assert_eq!(said(r#"{"priority":"soon!"}"#), told("2: '\"soon!\"' is unknown for 'priority'"));
    assert_eq!(said(r#"{"priority":[]}"#), told("2: '[]' is unknown for 'priority'"));
    assert_eq!(said(r#"{"timeout":0,"priority":null}"#), told(""));
    assert_eq!(said(r#"{"priority":1}"#), (Priority::High, String::new()));
    assert_eq!(said(r#"{"priority":"urgent!"}"#), (Priority::Critical, String::new()));
}

#[test]
fn phases_wait_unless_the_task_names_what_for() {
    let plan = plan(TWO_PHASES);
    let settled = [("T1.1", State::Completed)];
    check(&progress(&plan, &settled), &[], ASK, "READY:T1.2,T2.2");
    let all = [("T1.1", State::Completed), ("T1.2", State::Completed), ("T1.3", State::Skipped)];
    check(&progress(&plan, &all), &[], ASK, "PHASE_DONE:1");
    check(&progress(&plan, &all), &[1], ASK, "READY:T2.1,T2.2");
}

#[test]
fn to_the_end() {
    let plan = plan(TWO_PHASES);
    let done = Progress::with(&plan, |_| State::Completed);
    check(&done, &[], ASK, "PHASE_DONE:1");
    check(&done, &[1], ASK, "PHASE_DONE:2");
    check(&done, &[1, 2], ASK, "ALL_DONE");
}

#[test]
fn wait_and_blocked() {
    let plan = plan(TWO_PHASES);
    let running = [("T1.1", State::InProgress), ("T1.2", State::InProgress)];
    check(&progress(&plan, &running), &[], ASK, "WAIT");
    let failed = [("T1.1", State::Completed), ("T1.2", State::Failed), ("T2.2", State::Completed)];
    let mut progress = progress(&plan, &failed);
    check(&progress, &[], ASK, "ERROR:BLOCKED:T1.2");
    let blocked: Vec<&str> = progress.blocked().iter().map(|&task| plan.task(task).name()).collect();
    assert_eq!(blocked, ["T1.3", "T2.1", "T2.3"]);
    let task = plan.find("T1.2").unwrap().number();
    progress.retry(task);
    check(&progress, &[], ASK, "READY:T1.2");
    assert!(progress.blocked().is_empty());
    progress.skip(task);
    check(&progress, &[], ASK, "READY:T1.3");
}

#[test]
fn one_phase_alone() {
    let plan = plan(TWO_PHASES);
    let ask = |phase| Request { phase: Some(phase), groups: false };
    let fresh = Progress::new(&plan);
    check(&fresh, &[], ask(1), "READY:T1.1,T1.2");
    // Nothing of it can run, and nobody does what it waits for.
    check(&fresh, &[], ask(2), "ERROR:OPEN_DEP:T1.1,T1.2");
    // Only behind failures it is blocked; T2.2 waits for T1.1 alone.
    let failed = [("T1.2", State::Failed)];
    check(&progress(&plan, &failed), &[], ask(2), "ERROR:OPEN_DEP:T1.1");
    let failed = [("T1.1", State::Failed), ("T1.2", State::Completed)];
    check(&progress(&plan, &failed), &[], ask(2), "ERROR:BLOCKED:T1.1");
    check(&progress(&plan, &[("T1.1", State::InProgress), ("T1.2", State::Completed)]), &[], ask(2), "WAIT");
    check(&fresh, &[], ask(7), "ERROR:TASKS_NOT_FOUND:there is no phase 7");
    let done = Progress::with(&plan, |_| State::Completed);
    check(&done, &[1, 2], ask(1), "PHASE_DONE:1");
}

#[test]
fn groups_are_waves_of_the_phase() {
    let plan = plan(TWO_PHASES);
    let groups = Request { phase: None, groups: true };
    check(&Progress::new(&plan), &[], groups, "READY:T1.1,T1.2|T1.3");
    check(&progress(&plan, &[("T1.1", State::InProgress)]), &[], groups, "READY:T1.2|T1.3");
    let all = [("T1.1", State::Completed), ("T1.2", State::Completed), ("T1.3", State::Completed)];
    check(&progress(&plan, &all), &[1], groups, "READY:T2.1,T2.2|T2.3");
}

#[test]
fn files_that_overlap_and_risk_come_one_by_one() {
    let plan = plan(
        "- [ ] T1.1: a\n  - files: src/user/*\n- [ ] T1.2: b\n  - files: `src/user/a.rs`, `docs/x.md`\n- [ ] T1.3: c\n  - files: docs/\n\
         - [ ] T1.4: d\n- [ ] T1.5: e\n  - risk: critical\n",
    );
    let groups = Request { phase: None, groups: true };
    check(&Progress::new(&plan), &[], groups, "READY:T1.1,T1.3,T1.4|T1.2|T1.5");
    check(&progress(&plan, &[("T1.3", State::InProgress)]), &[], ASK, "READY:T1.1,T1.4");
    check(&progress(&plan, &[("T1.5", State::InProgress)]), &[], ASK, "WAIT");
    let but_risk = [
        ("T1.1", State::Completed),
        ("T1.2", State::Completed),
        ("T1.3", State::Completed),
        ("T1.4", State::InProgress),
    ];
    check(&progress(&plan, &but_risk), &[], ASK, "WAIT");
}

#[test]
fn however_files_are_joined_those_that_overlap_do_not_run_together() {
    for joined in [
        "src/b.rs and src/c.rs",
        "src/b.rs & src/c.rs",
        "src/b.rs 및 src/c.rs",
        "src/b.rs와 src/c.rs",
        "src/b.rs src/c.rs",
        "`src/b.rs` and src/c.rs",
        "src/{b,c}.rs",
        "{lib,src}/b.rs, {lib,src}/c.rs",
        "{lib/x,src}/*",
    ] {
        let plan = plan(&format!(
            "- [ ] T1.1: a\n  - files: {joined}\n- [ ] T1.2: b\n  - files: src/b.rs\n- [ ] T1.3: c\n  - files: src/c.rs\n"
        ));
        check(&Progress::new(&plan), &[], ASK, "READY:T1.1");
        check(&progress(&plan, &[("T1.2", State::InProgress)]), &[], ASK, "READY:T1.3");
    }
}

#[test]
fn a_critical_task_at_the_front_is_alone() {
    let plan = plan("- [ ] T1.1: a\n- [ ] T1.2: b\n  - risk: critical\n  - priority: high\n");
    check(&Progress::new(&plan), &[], Request { phase: None, groups: true }, "READY:T1.2|T1.1");
}

#[test]
fn the_longest_chain() {
    let plan = plan(
        "- [ ] T1.1: a\n- [ ] T1.2: b\n  - deps: T1.1\n- [ ] T1.3: c\n- [ ] T2.1: d\n- [ ] T2.2: e\n  - deps: T2.1\n- [ ] T2.3: f\n  \
         - deps: T1.3\n",
    );
    let names = |path: Vec<ostler_engine::plan::TaskNumber>| -> Vec<String> {
        path.into_iter().map(|task| plan.task(task).name().to_owned()).collect()
    };
    assert_eq!(names(critical_path(&Progress::new(&plan), |_| 1)), ["T1.1", "T1.2", "T2.1", "T2.2"]);
    let weighed =
        critical_path(&Progress::new(&plan), |task| if plan.task(task).name() == "T2.3" { 10 } else { 1 });
    assert_eq!(names(weighed), ["T1.3", "T2.3"]);
    let some = progress(&plan, &[("T1.1", State::Completed), ("T1.2", State::Completed)]);
    assert_eq!(names(critical_path(&some, |_| 1)), ["T1.3", "T2.1", "T2.2"]);
    assert!(names(critical_path(&Progress::with(&plan, |_| State::Completed), |_| 1)).is_empty());
}

#[test]
fn a_diagram_that_reads_back() {
    let plan = plan(TWO_PHASES);
    let drawn = plan.mermaid(&Progress::new(&plan));
    expect_test::expect![[r#"
        flowchart TD
          subgraph phase_1["Phase 1: Auth"]
            T1.1["T1.1: a"]
            T1.2["T1.2: b"]
            T1.3["T1.3: c"]
          end
          subgraph phase_2["Phase 2: Shop"]
            T2.1["T2.1: d"]
            T2.2["T2.2: e"]
            T2.3["T2.3: f"]
          end
          T1.1 --> T1.3
          T1.2 --> T1.3
          T1.1 --> T2.2
          T2.1 --> T2.3
          phase_1 --> T2.1
          phase_1 --> T2.3
          classDef done opacity:0.5
    "#]]
    .assert_eq(&drawn);
    // Beside the file, and instead of what it says about dependencies.
    let bare: String = TWO_PHASES.split_inclusive('\n').filter(|line| !line.contains("deps")).collect();
    for text in [TWO_PHASES, &bare] {
        let again = self::plan(&format!("{text}\n```mermaid\n{drawn}```\n"));
        assert_eq!(edges(&again), edges(&plan), "{text}");
    }
}

#[test]
fn a_diagram_of_phases_that_wait_as_a_whole() {
    let text = "- [ ] T0.1: a\n- [ ] T1.1: b\n- [ ] T1.2: c\n- [ ] T3.1: d\n- [ ] T3.2: e\n  - deps: T3.1\n- [ ] T3.3: f\n  - deps: Phase 0\n";
    let plan = plan(text);
    let drawn = plan.mermaid(&Progress::new(&plan));
    expect_test::expect![[r#"
        flowchart TD
          subgraph phase_0["Phase 0"]
            T0.1["T0.1: a"]
          end
          subgraph phase_1["Phase 1"]
            T1.1["T1.1: b"]
            T1.2["T1.2: c"]
          end
          subgraph phase_3["Phase 3"]
            T3.1["T3.1: d"]
            T3.2["T3.2: e"]
            T3.3["T3.3: f"]
          end
          T3.1 --> T3.2
          phase_0 --> phase_1
          phase_0 --> T3.3
          phase_1 --> T3.1
          phase_1 --> T3.2
          classDef done opacity:0.5
    "#]]
    .assert_eq(&drawn);
    let again = self::plan(&format!("{text}\n```mermaid\n{drawn}```\n"));
    assert_eq!(edges(&again), edges(&plan));
}

#[test]
fn edges_from_parts_that_are_phases_only_add() {
    let check = |edge: &str, expected: &str| {
        let text = format!(
            "- [ ] T1.1: a\n- [ ] T2.1: b\n- [ ] T2.2: c\n  - deps: T1.1\n- [ ] T3.1: d\n\n```mermaid\ngraph TD\nsubgraph phase_1\nend\n\
             subgraph phase_2\nend\nsubgraph phase_3\nend\nsubgraph phase_7\nend\nT1.1 --> T2.2\n{edge}\n```\n"
        );
        let plan = Plan::read(text.into_bytes());
        let backwards = plan.graph().backwards();
        let before = |id: &str| format!("{:?}", backwards.of(&plan, plan.find(id).unwrap().number()));
        let said: Vec<String> = plan.problems().iter().map(|it| it.thin("TASKS.md").to_string()).collect();
        assert_eq!(format!("{} {} {}", before("T2.2"), before("T3.1"), said.join("")), expected, "{edge}");
    };
    check("T1.1 --> T2.2", "[Task(TaskNumber(0))] [Phase(2)] ");
    check("phase_1 --> phase_2", "[Task(TaskNumber(0)), Phase(1)] [Phase(2)] ");
    check("phase_1 --> T3.1", "[Task(TaskNumber(0))] [Phase(1), Phase(2)] ");
    for (edge, part) in [
        ("phase_2 --> phase_1", "phase_2"),
        ("phase_2 --> T2.2", "phase_2"),
        ("phase_2 --> T1.1", "phase_2"),
        ("T1.1 --> phase_2", "phase_2"),
        ("phase_7 --> T3.1", "phase_7"),
        ("phase_1 --> phase_7", "phase_1"),
    ] {
        let line = format!(
            "[Task(TaskNumber(0))] [Phase(2)] ERROR:PARSE_FAIL:TASKS.md:18: an edge to or from the part '{part}' of a diagram, in which no task stands"
        );
        check(edge, &line);
    }
}
