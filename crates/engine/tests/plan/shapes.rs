//! Every shape that people write.

use expect_test::expect;

use crate::check;

#[test]
fn headings_with_boxes_and_bold_keys() {
    check(
        "# Shop\n\n## Phase 1: Auth\n\n### [x] Phase 1, T1.1: Schema\n**담당**: database-specialist\n**의존성**: 없음\n\n\
         ### [ ] Phase 1, T1.2: API\n**담당**: backend-specialist\n**의존성**: T1.1 - notes\n\n\
         ### [ ] Phase 1, T1.3: Login page\n**담당**: frontend-specialist\n**의존성**: T1.1, T1.2 - notes\n\
         **병렬 실행 가능**: T2.4\n**위험도**: 높음\n- [ ] shows an error\n- [x] remembers the name\n\n\
         ## Phase 2\n\n### [ ] Phase 2, T2.4: Mail\n**의존성**: T1.1\n",
        expect![[r#"
            phase 1: Auth (worktree/phase-1-auth)
            5 [x] T1.1 p1 Schema
                  owner: database-specialist
            9 [ ] T1.2 p1 API <- T1.1
                  owner: backend-specialist
            13 [ ] T1.3 p1 Login page <- T1.1, T1.2
                  owner: frontend-specialist
                  parallel: T2.4
                  risk: High
                  criterion: shows an error
                  met: remembers the name
            23 [ ] T2.4 p2 Mail <- T1.1
        "#]],
    );
}

#[test]
fn headings_with_items_below() {
    check(
        "## P2: Services\n### P2-R1: Orders\n#### [x] P2-R1-T1: Types\n- **담당**: backend-specialist\n\
         #### [ ] P2-R1-T2: Service queries\n- **담당**: backend-specialist\n- **의존**: P2-R1-T1 (Mock: `x`)\n\
         - **파일**: `tests/x.ts` → `src/x.ts`\n- **검증**: `npm test -- x`\n\
         ### P2-S1: Screen\n#### [ ] P2-S1-V: Look at it\n- **의존**: P2-R1\n",
        expect![[r#"
            phase 2: Services (worktree/phase-2-services)
            3 [x] P2-R1-T1 p2 Types
                  owner: backend-specialist
            5 [ ] P2-R1-T2 p2 Service queries <- P2-R1-T1
                  owner: backend-specialist
                  files: tests/x.ts src/x.ts
                  verify: npm test -- x
            11 [ ] P2-S1-V p2 Look at it <- all of P2-R1
        "#]],
    );
}

#[test]
fn items_with_boxes() {
    check(
        "- [x] T1.1: first\n- [ ] T1.2: title\n  - deps: [T1.1]\n  - files: src/user/*\n  - owner: backend\n\
         - [ ] T1.3: third\n  - depends on:\n    - T1.1\n    - T1.2\n  - verify: cargo test\n  - priority: high\n\
         \x20 - worktree: worktree/phase-1-auth\n  - [ ] it works\n",
        expect![[r#"
            1 [x] T1.1 p1 first
            2 [ ] T1.2 p1 title <- T1.1
                  owner: backend
                  files: src/user/*
            6 [ ] T1.3 p1 third <- T1.1, T1.2
                  verify: cargo test
                  worktree: worktree/phase-1-auth
                  priority: High
                  criterion: it works
        "#]],
    );
}

#[test]
fn items_beside_their_task() {
    check(
        "- [ ] T1.1: a\n- [ ] T1.2: b\n- deps: [T1.1]\n- owner: backend\n",
        expect![[r#"
            1 [ ] T1.1 p1 a
            2 [ ] T1.2 p1 b <- T1.1
                  owner: backend
        "#]],
    );
}

#[test]
fn a_table_and_its_details() {
    check(
        "## Overview\n\n| ID | Layer | Task | Complexity | Dependencies |\n|----|---|---|---|---|\n\
         | T1 | v0.2.x | structure | S | - |\n| T2 | v0.5.x | parser | M | T1 |\n| T4 | v0.5.x | a | M | T2 |\n\
         | T5 | v0.5.x | b | M | T2 |\n| T6 | v0.5.x | c | M | T2 |\n| T7 | v0.5.x | d | L | T2, T4-T6, Epic 3 |\n\n\
         ## Details\n\n### T1: [v0.2.x] structure\n- **Dependencies**: -\n- **Acceptance Criteria**:\n  - [ ] directory\n\
         \x20 - [ ] files\n\n### T7: [v0.5.x] d ✅\n- **Dependencies**: T4\n\n## Tests\n```ts\n- [ ] T99: not read\n```\n",
        expect![[r#"
            5 [ ] T1 p1 structure
                  criterion: directory
                  criterion: files
            6 [ ] T2 p1 parser <- T1
            7 [ ] T4 p1 a <- T2
            8 [ ] T5 p1 b <- T2
            9 [ ] T6 p1 c <- T2
            10 [x] T7 p1 d <- T2, T4, T5, T6
            10 warning: T7: nobody waits for 'Epic 3', it is no task
            14-14 passed over: T1 is named again: added to the task of that id (1)
            20-20 passed over: T7 is named again: added to the task of that id (1)
            25-25 passed over: T99 is in a code fence, which is not read (1)
        "#]],
    );
}

#[test]
fn a_table_with_states() {
    check(
        "| Task | Status | Owner | Depends on |\n|:--|--|--|--|\n| T1.1 set up | ✅ | ops | |\n\
         | **T1.2** a \\| b | [ ] | dev | T1.1 |\n| [T1.3](#t13) | | | T1.1, T1.2 |\n",
        expect![[r#"
            3 [x] T1.1 p1 set up
                  owner: ops
            4 [ ] T1.2 p1 a \| b <- T1.1
                  owner: dev
            5 [ ] T1.3 p1  <- T1.1, T1.2
        "#]],
    );
}

#[test]
fn items_with_tags() {
    check(
        "## Phase 1: Setup (Shared)\n- [x] T001 Create the project\n- [ ] T002 [P] Linting\n- [ ] T003 [P] Formatting\n\
         - [ ] T004 Framework\n## Phase 2: Story\n- [ ] T012 [P] [US1] Model A in src/a.py\n\
         - [ ] T013 [P] [US1] Model B in src/b.py\n- [ ] T014 [P] [US1] Service (depends on T012, T013)\n\
         - [ ] T015 [US1] Endpoint, depends on T014\n- [ ] T016 Clean up (see T012)\n",
        expect![[r#"
            phase 1: Setup (Shared) (worktree/phase-1-setup-shared)
            phase 2: Story (worktree/phase-2-story)
            2 [x] T001 p1 Create the project
            3 [ ] T002 p1 Linting <- T001
            4 [ ] T003 p1 Formatting <- T001
            5 [ ] T004 p1 Framework <- T001, T002, T003
            7 [ ] T012 p2 [US1] Model A in src/a.py <- phase 1
            8 [ ] T013 p2 [US1] Model B in src/b.py <- phase 1
            9 [ ] T014 p2 [US1] Service <- T012, T013, phase 1
            10 [ ] T015 p2 [US1] Endpoint, depends on T014 <- T014, phase 1
            11 [ ] T016 p2 Clean up (see T012) <- T012, T013, T014, T015, phase 1
        "#]],
    );
}

#[test]
fn diagrams() {
    check(
        "- [ ] T0.1: a\n- [ ] T0.2: b\n- [ ] T0.3: c\n- [ ] T0.4: d\n\n```mermaid\ngraph TD\n  T0.1 --> T0.2 --> T0.3\n  \
         A[T0.3: c] -->|then| M{Gate}\n  M --> T0.4\n```\n\n```mermaid\nflowchart LR\n  Client --> Server\n```\n",
        expect![[r#"
            1 [ ] T0.1 p0 a
            2 [ ] T0.2 p0 b <- T0.1
            3 [ ] T0.3 p0 c <- T0.2
            4 [ ] T0.4 p0 d <- T0.3
            15-15 passed over: no task is in this diagram (1)
        "#]],
    );
    check(
        "- [ ] T0.1: a\n- [ ] T0.2: b\n\nT0.1 --> T0.2\n",
        expect![[r#"
         1 [ ] T0.1 p0 a
         2 [ ] T0.2 p0 b <- T0.1
    "#]],
    );
}

#[test]
fn groups() {
    check(
        "## Phase 1\n### T1: Set up\n- deps: T0.9\n- [ ] T1.1: a\n- [ ] T1.2: b\n### T1.3-T1.4: More\n#### T1.3: c\n#### T1.4: d\n\
         ## Phase 2\n### T2.1: e\nDepends on: T1\n## Phase 0\n- [x] T0.9: z\n",
        expect![[r#"
            4 [ ] T1.1 p1 a <- T0.9
            5 [ ] T1.2 p1 b <- T0.9
            7 [ ] T1.3 p1 c <- phase 0
            8 [ ] T1.4 p1 d <- phase 0
            10 [ ] T2.1 p2 e <- all of T1
            13 [x] T0.9 p0 z
        "#]],
    );
    check(
        "- [ ] T1.1: parent\n  - [ ] T1.1.1: child\n  - [ ] T1.1.2: child\n- [ ] T1.2: next\n  - deps: T1.1\n",
        expect![[r#"
         2 [ ] T1.1.1 p1 child
         3 [ ] T1.1.2 p1 child
         4 [ ] T1.2 p1 next <- all of T1.1
    "#]],
    );
}

#[test]
fn what_is_not_read() {
    check(
        "- [ ] T1.1: a\n  ```\n  - [ ] T1.2: code\n  ```\n<!-- - [ ] T1.3: hidden -->\n<!--\n- [ ] T1.4: hidden\n-->\n\
         > - [ ] T1.5: quoted\n~~~\n```\n- [ ] T1.6: code\n~~~\n    - deps: none\n",
        expect![[r#"
            1 [ ] T1.1 p1 a
            3-3 passed over: T1.2 is in a code fence, which is not read (1)
            5-5 passed over: T1.3 is in a comment, which is not read (1)
            7-7 passed over: T1.4 is in a comment, which is not read (1)
            9-9 passed over: T1.5 is quoted: no task (1)
            12-12 passed over: T1.6 is in a code fence, which is not read (1)
        "#]],
    );
}

#[test]
fn line_ends_marks_and_tabs() {
    check(
        "\u{feff}- [ ] T1.1: a\r\n- [ ] T1.2: b\r\n\t- deps: T1.1\r\n\t- owner: x\r\n",
        expect![[r#"
            1 [ ] T1.1 p1 a
            2 [ ] T1.2 p1 b <- T1.1
                  owner: x
        "#]],
    );
    check(
        "- [ ] T1.1: a\n- [ ] T1.2: b\n  - deps: T1.1",
        expect![[r#"
         1 [ ] T1.1 p1 a
         2 [ ] T1.2 p1 b <- T1.1
    "#]],
    );
}

#[test]
fn phases_of_every_kind() {
    check(
        "- [ ] T0.1: zero\n## Phase 1\n- [ ] T7: of the heading\n- [ ] P2-R1-T1: of its id\n- [ ] Phase 3, T1.9: its own\n\
         - [ ] T1.1: of its number\n- [ ] T9: said\n  - phase: 2\n- [ ] T2.1: early\n  - deps: T0.1\n- [ ] T2.2: late\n  - deps: T2.1\n\
         - [ ] T2.3: all\n  - deps: T0.1, Phase 1\n",
        expect![[r#"
            1 [ ] T0.1 p0 zero
            3 [ ] T7 p1 of the heading <- phase 0
            4 [ ] P2-R1-T1 p2 of its id <- phase 1
            5 [ ] T1.9 p3 its own <- phase 2
            6 [ ] T1.1 p1 of its number <- phase 0
            7 [ ] T9 p2 said <- phase 1
            9 [ ] T2.1 p2 early <- T0.1
            11 [ ] T2.2 p2 late <- T2.1, phase 1
            13 [ ] T2.3 p2 all <- T0.1, phase 1
        "#]],
    );
}

#[test]
fn what_is_strange() {
    check(
        "- [ ] nobody's\n- [v] T1.1: a\n- [ ] T1.2: b ✅\n  - related: T1.1\n  - risk: unheard\n  - deps: Redis\n- T1.1 is mentioned\n\
         | ID | Owner |\n|--|--|\n| T1.2 | x |\n\n```mermaid\ngraph TD\nT1.1 --- T1.2\nT1.1 --> T1.2\n```\n",
        expect![[r#"
            2 [ ] T1.1 p1 a
            3 [ ] T1.2 p1 b <- T1.1
            1 warning: a box without an id is no task
            2 warning: a box with 'v' is taken as open
            3 warning: T1.2: two marks contradict each other; taken as open
            4 warning: ids below 'related' are not taken as dependencies
            5 warning: 'unheard' is unknown for 'risk'
            6 warning: T1.2: nobody waits for 'Redis', it is no task
            14 warning: a line without an arrow is no dependency
            7-7 passed over: T1.1 is mentioned: the task is elsewhere (1)
            10-10 passed over: T1.2 is mentioned: the task is elsewhere (1)
        "#]],
    );
}

#[test]
fn values_over_lines() {
    check(
        "### T1.1: a\n### T1.2: b\n### T1.3: c\n**의존성**: T1.1,\n  T1.2\n**파일**:\n- `src/a.rs`\n- `src/b.rs`\n- **담당**: me\n",
        expect![[r#"
            1 [ ] T1.1 p1 a
            2 [ ] T1.2 p1 b
            3 [ ] T1.3 p1 c <- T1.1, T1.2
                  owner: me
                  files: src/a.rs src/b.rs
        "#]],
    );
}

#[test]
fn a_group_with_a_box_is_warned_about() {
    check(
        "#### [ ] P2-S1-V: Verify\n- [ ] P2-S1-T1: a\n- [ ] P2-S1-T2: b\n\n#### P2-S2-V: Plain\n- [ ] P2-S2-T1: c\n",
        expect![[r#"
            2 [ ] P2-S1-T1 p2 a
            3 [ ] P2-S1-T2 p2 b
            6 [ ] P2-S2-T1 p2 c
            1 warning: P2-S1-V has a box and tasks below it: it is a group, and is not done itself
        "#]],
    );
}
