//! Shapes that repositories have and no document names: none may make a task look ready that is not.

use expect_test::expect;

use crate::check;

#[test]
fn dependencies_in_quotations() {
    check(
        "## Phase 2: Orders\n\n### [ ] P2-R1-T1: Types\n> **담당**: backend | **의존성**: 없음\n\n\
         ### [ ] P2-R1-T2: Queries\n> **의존성**: P2-R1-T1\n> **파일**: `src/a.ts`\n\n\
         ### [ ] P2-S1-V: Look at it\n> **Depends on**:\n> - P2-R1-T1\n> - P2-R1-T2\n\n> - [ ] P2-S9-V: an example\n",
        expect![[r#"
            phase 2: Orders (worktree/phase-2-orders)
            3 [ ] P2-R1-T1 p2 Types
                  owner: backend
            6 [ ] P2-R1-T2 p2 Queries <- P2-R1-T1
                  files: src/a.ts
            10 [ ] P2-S1-V p2 Look at it <- P2-R1-T1, P2-R1-T2
            15-15 passed over: P2-S9-V is quoted: no task (1)
        "#]],
    );
    check(
        "## Phase 1\n> **의존성**: T0.1\n- [ ] T1.1: a\n- [ ] T0.1: b\n",
        expect![[r#"
        3 [ ] T1.1 p1 a <- phase 0
        4 [ ] T0.1 p0 b
        ERROR:PARSE_FAIL:TASKS.md:2: these dependencies belong to no task
    "#]],
    );
}

#[test]
fn dependencies_on_groups_that_only_their_members_name() {
    check(
        "- [ ] P2-R1-T1: a\n- [ ] P2-R1-T2: b\n- [ ] P2-S1-T1: c\n  - deps: P2-R1\n- [ ] P2-S1-V: d\n  - deps: P2-S1\n\
         - [ ] P3-T1: e\n  - deps: P2-R1, P2-S1\n- [ ] P3-T2: f\n  - deps: P2-R9\n",
        expect![[r#"
            1 [ ] P2-R1-T1 p2 a
            2 [ ] P2-R1-T2 p2 b
            3 [ ] P2-S1-T1 p2 c <- all of P2-R1
            5 [ ] P2-S1-V p2 d <- P2-S1-T1
            7 [ ] P3-T1 p3 e <- all of P2-R1, all of P2-S1
            9 [ ] P3-T2 p3 f <- phase 2
            ERROR:MISSING_DEP:P3-T2->P2-R9
        "#]],
    );
    check(
        "### P2-R1: Orders\n### [ ] P2-R1-T1: a\n### [ ] P2-R1-T2: b\n### [ ] P2-S1-V: c\n**의존성**: P2-R1\n",
        expect![[r#"
            2 [ ] P2-R1-T1 p2 a
            3 [ ] P2-R1-T2 p2 b
            4 [ ] P2-S1-V p2 c <- all of P2-R1
        "#]],
    );
}

#[test]
fn ids_with_words() {
    check(
        "## Setup\n- [x] ENV-001: Docker\n- [ ] ENV-002: Database\n  - depends on: ENV-001\n- [ ] TASK-C01: Cache\n  - deps: ENV-001 ~ ENV-002\n\
         - [ ] TASK-C02 Metrics (depends on TASK-C01, JIRA-7)\n- [ ] TASK-C03 Alerts\n  - deps: TASK-C09\n",
        expect![[r#"
            2 [x] ENV-001 p1 Docker
            3 [ ] ENV-002 p1 Database <- ENV-001
            5 [ ] TASK-C01 p1 Cache <- ENV-001, ENV-002
            7 [ ] TASK-C02 p1 Metrics <- TASK-C01
            8 [ ] TASK-C03 p1 Alerts
            7 warning: TASK-C02: nobody waits for 'JIRA-7', it is no task
            ERROR:MISSING_DEP:TASK-C03->TASK-C09
        "#]],
    );
    check(
        "- [ ] P5-Integration-T1: a\n- [ ] P5-Integration-T2: b\n  - deps: P5-Integration-T1\n- [ ] T16A: c\n  - phase: 5\n- [ ] T16B: d\n  \
         - phase: 5\n  - deps: T16A\n- [ ] T17: e\n  - phase: 5\n  - deps: T16\n",
        expect![[r#"
            1 [ ] P5-Integration-T1 p5 a
            2 [ ] P5-Integration-T2 p5 b <- P5-Integration-T1
            4 [ ] T16A p5 c
            6 [ ] T16B p5 d <- T16A
            9 [ ] T17 p5 e <- all of T16
        "#]],
    );
}

#[test]
fn words_that_look_like_ids_are_no_tasks() {
    check(
        "# Plan\n## ADR-001: Postgres\nWe chose it.\n## ADR-002: Redis\n\n- [ ] T1.1: Encode\n  - [ ] UTF-8 is kept\n  - [ ] 1.5 seconds at most\n\
         - [ ] SHA-256 hashes\n- [ ] T1.2: Decode\n  - requires: Node-18\n\n| ID | Requirement |\n|--|--|\n| FR-001 | fast |\n",
        expect![[r#"
            6 [ ] T1.1 p1 Encode
                  criterion: UTF-8 is kept
                  criterion: 1.5 seconds at most
            10 [ ] T1.2 p1 Decode
            9 warning: a box without an id is no task
            11 warning: T1.2: nobody waits for 'Node-18', it is no task
            2-2 passed over: ADR-001 is a heading without a box, and nothing is said about it: no task (1)
        "#]],
    );
}

#[test]
fn numbers() {
    check(
        "## 1. Database\n- [x] 1.1 Create the table\n- [ ] 1.2 Fill it (depends on 1.1)\n\n## 2. API\n- [ ] 2.1 Routes\n- [ ] 2.2 Errors\n  - after: 2.1\n\
         - [ ] 2.3 Limits\n  - deps: 1\n  - deps: 9.9\n\n## 3. Notes\nNothing to do.\n",
        expect![[r#"
            phase 1: Database (worktree/phase-1-database)
            phase 2: API (worktree/phase-2-api)
            2 [x] 1.1 p1 Create the table
            3 [ ] 1.2 p1 Fill it <- 1.1
            6 [ ] 2.1 p2 Routes <- phase 1
            7 [ ] 2.2 p2 Errors <- 2.1, phase 1
            9 [ ] 2.3 p2 Limits <- all of 1
            ERROR:MISSING_DEP:2.3->9.9
        "#]],
    );
    check(
        "- [ ] 1. Set up the project\n  - Create the folders\n  - _Requirements: 1.1, 2.3_\n- [ ] 2. Build the model\n  - [ ] 2.1 Types\n    - _Requirements: 1.2_\n  \
         - [ ]* 2.2 Tests\n- [ ] 3. Ship it\n  - Depends on: task 2\n",
        expect![[r#"
            phase 2: Build the model (worktree/phase-2-build-the-model)
            1 [ ] 1 p1 Set up the project
            5 [ ] 2.1 p2 Types <- phase 1
            7 [ ] 2.2 p2 Tests <- phase 1
            8 [ ] 3 p3 Ship it <- all of 2
        "#]],
    );
    check(
        "| # | Task | Depends on |\n|--|--|--|\n| 1 | Schema | - |\n| 2 | Seed | 1 |\n| 3 | Docs | none |\n| x | Release | 1-3 |\n",
        expect![[r#"
            3 [ ] 1 p1 Schema
            4 [ ] 2 p1 Seed <- 1
            5 [ ] 3 p1 Docs
            6-6 passed over: the row 'x' has no id: no task (1)
        "#]],
    );
}

#[test]
fn a_phase_that_does_not_repeat_the_number_is_part_of_the_id() {
    check(
        "- [ ] P1-T1.1: a\n- [ ] P2-T1.1: b\n  - deps: T1.1\n- [ ] P2-T1.2: c\n  - deps: P2-T1.1, P1-T1.1\n",
        expect![[r#"
            1 [ ] T1.1 p1 a
            2 [ ] P2-T1.1 p2 b <- T1.1
            4 [ ] P2-T1.2 p2 c <- T1.1, P2-T1.1
        "#]],
    );
}

#[test]
fn ranges_over_any_number() {
    check(
        "- [ ] P2-S1-V: a\n- [ ] P2-S2-V: b\n- [ ] P2-S3-V: c\n- [ ] P3-T1: d\n  - deps: P2-S1-V ~ P2-S3-V\n- [ ] P3-T2: e\n  - deps: P2-S1-V부터 P2-S2-V까지\n\
         - [ ] P3-T3: f\n  - deps: P2-S1-V ~ P2-S5-V\n- [ ] P3-T4: g\n  - deps: P2-S1-V ~ P3-S2-V\n",
        expect![[r#"
            1 [ ] P2-S1-V p2 a
            2 [ ] P2-S2-V p2 b
            3 [ ] P2-S3-V p2 c
            4 [ ] P3-T1 p3 d <- P2-S1-V, P2-S2-V, P2-S3-V
            6 [ ] P3-T2 p3 e <- P2-S1-V, P2-S2-V
            8 [ ] P3-T3 p3 f <- P2-S1-V, P2-S2-V, P2-S3-V
            10 [ ] P3-T4 p3 g <- phase 2
            ERROR:PARSE_FAIL:TASKS.md:11: 'P2-S1-V ~ P3-S2-V' is no range: exactly one number may differ
            ERROR:MISSING_DEP:P3-T3->P2-S4-V
        "#]],
    );
}

#[test]
fn half_phases() {
    check(
        "## M0 (Phase 0): Set up\n- [ ] T0.1: a\n- [ ] T0.2: b\n## M0.5 (Phase 0.5): Clean up\n- [ ] T0.5.1: c\n- [ ] T0.5.2: d\n  - deps: Phase 0\n\
         ## M1 (Phase 1): Build\n- [ ] T1.1: e\n- [ ] T1.2: f\n  - deps: Phase 0.5\n",
        expect![[r#"
            phase 0: Set up (worktree/phase-0-set-up)
            phase 1: Build (worktree/phase-1-build)
            2 [ ] T0.1 p0 a
            3 [ ] T0.2 p0 b
            5 [ ] T0.5.1 p0 c <- phase 0.0
            6 [ ] T0.5.2 p0 d <- phase 0.0
            9 [ ] T1.1 p1 e <- phase 0
            10 [ ] T1.2 p1 f <- phase 0
        "#]],
    );
    check(
        "## M1: Core\n- [ ] T001: a\n## M2: Shop\n- [ ] T002: b\n## Sprint 3\n- [ ] T003: c\n  - deps: M1\n",
        expect![[r#"
            phase 1: Core (worktree/phase-1-core)
            phase 2: Shop (worktree/phase-2-shop)
            2 [ ] T001 p1 a
            4 [ ] T002 p2 b <- phase 1
            6 [ ] T003 p3 c <- phase 1
        "#]],
    );
}

#[test]
fn summaries_repeat_ids() {
    check(
        "## Overview\n\n| Task | Status |\n|--|--|\n| T1.1 | open |\n\n- [ ] T1.1 Login page\n- [x] T1.2 Mail\n\n## Phase 1\n### [ ] T1.1: Login page with two fields\n**Depends on**: T1.2\n\n\
         ### [x] T1.2: Mail\n\n## Progress\n- [ ] T1.1: Login page\n- T1.2 is done\n\n| ID | Depends on |\n|--|--|\n| T1.1 | T1.2 |\n",
        expect![[r#"
            7 [ ] T1.1 p1 Login page <- T1.2
            8 [x] T1.2 p1 Mail
            5-5 passed over: T1.1 is mentioned: the task is elsewhere (1)
            11-11 passed over: T1.1 is named again: added to the task of that id (1)
            14-14 passed over: T1.2 is named again: added to the task of that id (1)
            17-17 passed over: T1.1 is named again: added to the task of that id (1)
            18-18 passed over: T1.2 is mentioned: the task is elsewhere (1)
            22-22 passed over: T1.1 is named again: added to the task of that id (1)
        "#]],
    );
    check(
        "- [ ] T1.1: Login\n\n### T1.1: Database\n",
        expect![[r#"
        1 [ ] T1.1 p1 Login
        3 warning: T1.1 is called 'Database' here and otherwise in line 1; taken as one task
        3-3 passed over: T1.1 is named again: added to the task of that id (1)
    "#]],
    );
    // The group stands below what repeats its members first.
    check(
        "- [ ] P2-R1-T1: a\n- [ ] P2-R1-T2: b\n\n### P2-R1: Orders\n#### [ ] P2-R1-T1: a\n#### [ ] P2-R1-T2: b\n### [ ] P2-S1-V: c\n**의존성**: P2-R1\n",
        expect![[r#"
            1 [ ] P2-R1-T1 p2 a
            2 [ ] P2-R1-T2 p2 b
            7 [ ] P2-S1-V p2 c <- all of P2-R1
            5-6 passed over: P2-R1-T1 is named again: added to the task of that id (2)
        "#]],
    );
}

#[test]
fn parts_of_diagrams_mean_their_tasks() {
    check(
        "- [ ] T1.1: a\n- [ ] T1.2: b\n- [ ] T1.3: c\n- [ ] T1.4: d\n- [ ] T1.5: e\n\n```mermaid\ngraph TD\nsubgraph Base[\"Base\"]\n  T1.1\n  subgraph Inner\n    A[T1.2: b]\n  end\nend\n\
         Base --> T1.3\nsubgraph Rest\n  T1.4 --> T1.5\nend\nT1.3 --> Rest\n```\n\n```mermaid\ngraph LR\nBrowser --> Server\n```\n",
        expect![[r#"
            1 [ ] T1.1 p1 a
            2 [ ] T1.2 p1 b
            3 [ ] T1.3 p1 c <- T1.1, T1.2
            4 [ ] T1.4 p1 d <- T1.3
            5 [ ] T1.5 p1 e <- T1.3, T1.4
            24-24 passed over: no task is in this diagram (1)
        "#]],
    );
}

#[test]
fn dependencies_that_only_people_understand_are_problems() {
    check(
        "- [ ] T1.1: Login page\n- [ ] T1.2: b\n  - deps: login page\n- [ ] T1.3: c\n  - deps: all tasks above\n- [ ] T1.4: d\n  - deps: 3\n- [ ] T1.5: e\n  - deps: t1.1\n\
         - [ ] ENV-1: f\n  - phase: 1\n- [ ] T1.6: g\n  - deps: env-1\n- [ ] T1.7: h\n  - deps: previous phase\n",
        expect![[r#"
            1 [ ] T1.1 p1 Login page
            2 [ ] T1.2 p1 b
            4 [ ] T1.3 p1 c
            6 [ ] T1.4 p1 d
            8 [ ] T1.5 p1 e
            10 [ ] ENV-1 p1 f
            12 [ ] T1.6 p1 g
            14 [ ] T1.7 p1 h
            15 warning: T1.7: nobody waits for 'previous phase', it is no task
            ERROR:PARSE_FAIL:TASKS.md:3: T1.2 depends on 'login page'; write its id, T1.1
            ERROR:PARSE_FAIL:TASKS.md:5: T1.3 depends on 'all tasks above'; name the tasks by their ids
            ERROR:PARSE_FAIL:TASKS.md:7: '3' is no id of a task
            ERROR:PARSE_FAIL:TASKS.md:9: 't1.1' is no id of a task
            ERROR:PARSE_FAIL:TASKS.md:13: T1.6 depends on 'env-1'; write its id, ENV-1
        "#]],
    );
}

#[test]
fn several_keys_in_a_line() {
    check(
        "### T1.1: a\n### T1.2: b\n**Owner**: backend (depends on: T1.1)\n### T1.3: c\n**담당**: front · **의존성**: T1.1, T1.2 · **파일**: `src/x.ts`\n",
        expect![[r#"
            1 [ ] T1.1 p1 a
            2 [ ] T1.2 p1 b <- T1.1
                  owner: backend
            4 [ ] T1.3 p1 c <- T1.1, T1.2
                  owner: front
                  files: src/x.ts
        "#]],
    );
}

#[test]
fn what_is_not_read_is_told() {
    check(
        "- [ ] T1.1: a\n\n```\n- [ ] T1.2: an example\n- [ ] T1.3: another\n```\n<!-- - [ ] T1.4: dropped -->\n\n| ID | Depends on |\n|--|--|\n| Setup | - |\n",
        expect![[r#"
            1 [ ] T1.1 p1 a
            4-5 passed over: T1.2 is in a code fence, which is not read (2)
            7-7 passed over: T1.4 is in a comment, which is not read (1)
            11-11 passed over: the row 'Setup' has no id: no task (1)
        "#]],
    );
}

#[test]
fn an_arrow_behind_the_key_is_no_prose() {
    for line in ["Deps → T1.1", "- deps -> T1.1", "**의존성** → T1.1"] {
        let plan = crate::plan(&format!("### T1.1: a\n### T1.2: b\n{line}\n"));
        let task = plan.find("T1.2").expect("a task").number();
        assert_eq!(plan.graph().backwards().tasks_of(&plan, task).len(), 1, "{line}");
    }
}
