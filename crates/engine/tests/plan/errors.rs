//! What cannot be worked with: the line, and where.

use std::fmt::Write as _;

use expect_test::expect;
use ostler_engine::plan::{Plan, Problem};

use crate::dump;

/// Only the problems.
#[track_caller]
fn check(text: &str, expected: &[&str]) {
    let plan = Plan::read(text.as_bytes().to_vec());
    let said: Vec<String> =
        plan.problems().iter().map(|problem| problem.thin("TASKS.md").to_string()).collect();
    assert_eq!(said, expected, "{text}\n{}", dump(&plan));
}

#[test]
fn nothing_in_it() {
    let none = ["ERROR:PARSE_FAIL:TASKS.md:1: there is no task in it, such as '- [ ] T1.1: title'"];
    for text in ["", "\n\n", "# Tasks\n\nNothing yet.\n", "- [ ] write docs\n", "\u{feff}"] {
        check(text, &none);
    }
}

#[test]
fn missing() {
    check("- [ ] T1.5: a\n  - deps: T9.9\n", &["ERROR:MISSING_DEP:T1.5->T9.9"]);
    check("- [ ] T7: a\n- [ ] T9: b\n- [ ] T12: c\n  - deps: T7-T9\n", &["ERROR:MISSING_DEP:T12->T8"]);
    check("- [ ] T1.1: a\n  - deps: Phase 7\n", &["ERROR:MISSING_DEP:T1.1->Phase 7"]);
    check("- [ ] T1.1: a\n```mermaid\ngraph TD\nT9.9 --> T1.1\n```\n", &["ERROR:MISSING_DEP:T1.1->T9.9"]);
}

#[test]
fn circular() {
    check(
        "- [ ] T1.3: a\n  - deps: T1.4\n- [ ] T1.4: b\n  - deps: T1.3\n",
        &["ERROR:CIRCULAR_DEP:T1.3->T1.4->T1.3"],
    );
    check("- [ ] T1.1: a\n  - deps: T1.1\n", &["ERROR:CIRCULAR_DEP:T1.1->T1.1"]);
    // The shortest, and from its first task in the file.
    check(
        "- [ ] T1.1: a\n  - deps: T1.3\n- [ ] T1.2: b\n  - deps: T1.1, T1.5\n- [ ] T1.3: c\n  - deps: T1.2\n- [ ] T1.4: d\n  \
         - deps: T1.5\n- [ ] T1.5: e\n  - deps: T1.4\n",
        &["ERROR:CIRCULAR_DEP:T1.4->T1.5->T1.4"],
    );
    // Through the end of a phase.
    check("- [ ] T1.1: a\n  - deps: T2.1\n- [ ] T2.1: b\n", &["ERROR:CIRCULAR_DEP:T1.1->T2.1->T1.1"]);
    // Through a group.
    check("### T1: g\n- [ ] T1.1: a\n  - deps: T1\n", &["ERROR:CIRCULAR_DEP:T1.1->T1->T1.1"]);
    check("- [ ] T1.1: P1-T1.1\n  - deps: P1-T1.1\n", &["ERROR:CIRCULAR_DEP:T1.1->T1.1"]);
}

#[test]
fn a_long_circle_is_cut() {
    let mut text = String::new();
    for number in 0..100 {
        write!(text, "- [ ] T1.{number}: a\n  - deps: T1.{}\n", (number + 1) % 100)
            .expect("text can be written");
    }
    let plan = Plan::read(text.into_bytes());
    let line = plan.problems()[0].thin("TASKS.md").to_string();
    assert!(line.starts_with("ERROR:CIRCULAR_DEP:T1.0->T1.1->") && line.ends_with("->...->T1.0"), "{line}");
    assert!(matches!(&plan.problems()[0], Problem::Circular { circle, .. } if circle.len() == 100));
}

#[test]
fn unclear() {
    check("- [ ] T1.x: a\n- [ ] T1.1: b\n", &["ERROR:PARSE_FAIL:TASKS.md:1: 'T1.x' is no id of a task"]);
    check("- [ ] T1.1: b\n  - deps: T1.x\n", &["ERROR:PARSE_FAIL:TASKS.md:2: 'T1.x' is no id of a task"]);
    check(
        "- [ ] T1.1: b\n### T1.2.3.4: c\n",
        &["ERROR:PARSE_FAIL:TASKS.md:2: 'T1.2.3.4' is no id of a task"],
    );
    check(
        "- [ ] T1.1: a\n- [ ] T1.1: b\n",
        &["ERROR:PARSE_FAIL:TASKS.md:2: T1.1 is there twice; first in line 1"],
    );
    check(
        "- [ ] T1.1: a\n- [ ] T1.1: a again with other words\n",
        &["ERROR:PARSE_FAIL:TASKS.md:2: T1.1 is there twice; first in line 1"],
    );
    check(
        "### [ ] T1.1: a\n### [ ] T1.1: a again\n",
        &["ERROR:PARSE_FAIL:TASKS.md:2: T1.1 is there twice; first in line 1"],
    );
    check("- [ ] T1.1: a\n- [ ] T1.1: A!\n", &[]);
    check("## Summary\n- [ ] T1.1: a\n## All\n- [ ] T1.1: a again\n", &[]);
    check(
        "- [ ] T1.1: a\n- [ ] P1-T1.1: b\n",
        &["ERROR:PARSE_FAIL:TASKS.md:2: T1.1 is there twice; first in line 1"],
    );
    check(
        "- [ ] T1.1: a\n- T1.2: b\n",
        &["ERROR:PARSE_FAIL:TASKS.md:2: T1.2 has no box; a task is written '- [ ] T1.2: title'"],
    );
    check(
        "- [ ] T1.1: a\n\n| ID | Title |\n|--|--|\n| T1.2 | x |\n",
        &[
            "ERROR:PARSE_FAIL:TASKS.md:5: T1.2 stands in a table without a column 'Dependencies', and nowhere else",
        ],
    );
    check(
        "| ID | Deps |\n|--|--|\n| T1.1 | - |\n| T1.2 | a | T1.1 |\n",
        &["ERROR:PARSE_FAIL:TASKS.md:4: the row has 3 cells, its table has 2 columns"],
    );
    check(
        "- [ ] T1.1: a\n\n## Notes\nDepends on: T1.1\n",
        &["ERROR:PARSE_FAIL:TASKS.md:4: these dependencies belong to no task"],
    );
    check(
        "- [ ] T1.1: a\n- [ ] T1.2: b\n- [ ] T1.3: c\n  - deps: T1.1 (after T1.2)\n",
        &[
            "ERROR:PARSE_FAIL:TASKS.md:4: T1.2 stands only in a note; name it before the note if it is a dependency",
        ],
    );
    check(
        "- [ ] T1.1: a\n- [ ] T1.2: b\n  - depnds: T1.1\n",
        &["ERROR:PARSE_FAIL:TASKS.md:3: the key 'depnds' is unknown; is it 'depends'?"],
    );
    check("- [ ] T1.1: a\n- [ ] T9: b\n", &["ERROR:PARSE_FAIL:TASKS.md:2: T9 has no phase, and others have"]);
    check(
        "- [ ] T1.1: a\n  - deps: Phase 1\n",
        &["ERROR:PARSE_FAIL:TASKS.md:2: T1.1 would wait for its own phase"],
    );
    check("- [ ] T1.1: a\n```\n", &["ERROR:PARSE_FAIL:TASKS.md:2: a code fence begins here and never ends"]);
    check("- [ ] T1.1: a\n<!-- x\n", &["ERROR:PARSE_FAIL:TASKS.md:2: a comment begins here and never ends"]);
    check(
        "- [ ] T1.1: a\n- [ ] T2.2: a\n- [ ] T3.1: b\n  - deps: T1.1-T2.2\n",
        &["ERROR:PARSE_FAIL:TASKS.md:4: 'T1.1-T2.2' is no range: exactly one number may differ"],
    );
    check(
        "- [ ] T1.1: a\n```mermaid\ngraph TD\nsubgraph S\nRedis\nend\nS --> T1.1\n```\n",
        &[
            "ERROR:PARSE_FAIL:TASKS.md:7: an edge to or from the part 'S' of a diagram, in which no task stands",
        ],
    );
    check(
        "- [ ] T1.1: a\n```mermaid\ngraph TD\nT1.1 --> T9.9\n```\n",
        &["ERROR:PARSE_FAIL:TASKS.md:4: T9.9 is in the diagram and is no task"],
    );
}

#[test]
fn another_word_for_dependencies_makes_nobody_ready() {
    for key in [
        "Prereqs",
        "Predecessors",
        "Blocked",
        "Blockers",
        "Upstream",
        "Must follow",
        "선행태스크",
        "이전 작업",
        "전제 조건",
    ] {
        let text = format!("### T1.1: a\n\n### T1.2: b\n**{key}**: T1.1\n");
        let plan = crate::plan(&text);
        let backwards = plan.graph().backwards();
        let task = plan.find("T1.2").expect("a task").number();
        assert_eq!(backwards.of(&plan, task).len(), 1, "{key}");
    }
    for (key, value) in
        [("Hard dependencies", "T1.1"), ("Required", "T1.1 and a database"), ("선행되는 일", "`T1.1`")]
    {
        check(
            &format!("### T1.1: a\n\n### T1.2: b\n**{key}**: {value}\n"),
            &[&format!("ERROR:PARSE_FAIL:TASKS.md:4: the key '{key}' is unknown; is it 'depends on'?")],
        );
    }
    // What says something else stays a word in passing.
    for key in ["Related", "Blocks", "See", "Required by", "병렬 실행 가능", "Next"] {
        check(&format!("### T1.1: a\n\n### T1.2: b\n**{key}**: T1.1\n"), &[]);
    }
    check("### T1.1: a\n\n### T1.2: b\n**Required**: yes, by P0 customers\n", &[]);
}

#[test]
fn notes_that_change_nothing() {
    // T1.2 is waited for anyway, T9.9 is no task, T1.3 is the task itself.
    check(
        "- [ ] T1.1: a\n- [ ] T1.2: b\n- [ ] T1.3: c\n  - deps: T1.4 (uses T1.2, T9.9 and T1.3)\n- [ ] T1.4: d\n  - deps: T1.2\n",
        &[],
    );
}

#[test]
fn by_precedence_then_by_line() {
    check(
        "- [ ] T1.1: a\n  - deps: T1.2\n- [ ] T1.2: b\n  - deps: T1.1\n- [ ] T1.3: c\n  - deps: T9.9\n- [ ] T1.3: d\n",
        &[
            "ERROR:PARSE_FAIL:TASKS.md:7: T1.3 is there twice; first in line 5",
            "ERROR:MISSING_DEP:T1.3->T9.9",
            "ERROR:CIRCULAR_DEP:T1.1->T1.2->T1.1",
        ],
    );
}

#[test]
fn files_that_are_none() {
    let read = |bytes: &[u8]| Plan::read(bytes.to_vec()).problems()[0].thin("TASKS.md").to_string();
    assert_eq!(
        read(&[0xff, 0xfe, b'-', 0]),
        "ERROR:PARSE_FAIL:TASKS.md:1: the file is in UTF-16; save it as UTF-8"
    );
    // Bytes that are no text are no tasks, and do no harm beside them.
    let plan = Plan::read(b"\xff\x00\n- [ ] T1.1: \xff title\n".to_vec());
    expect![[r#"
         2 [ ] T1.1 p1 � title
    "#]]
    .assert_eq(&dump(&plan));
}

#[test]
fn what_a_file_may_not_cost() {
    // A range that nobody could count through ends at the first task that is not there.
    check(
        "- [ ] T1: a\n- [ ] T2: b\n  - deps: T1-T4000000000\n",
        &["ERROR:MISSING_DEP:T2->T3", "ERROR:CIRCULAR_DEP:T2->T2"],
    );
    // Ranges over ranges have a limit.
    let mut text = String::new();
    for number in 0..4000 {
        writeln!(text, "- [ ] T1.{number}: a").expect("text can be written");
    }
    for number in 0..3000 {
        write!(text, "- [ ] T2.{number}: a\n  - deps: T1.0-T1.3999\n").expect("text can be written");
    }
    let plan = Plan::read(text.into_bytes());
    assert!(
        plan.problems()[0].to_string().contains("more than 4194304 dependencies"),
        "{:?}",
        plan.problems()[0]
    );
    // A file is bounded, and so are the messages about it.
    let mut large = vec![b'x'; ostler_engine::plan::FILE_BYTES_MAX + 1];
    large[0] = b'#';
    assert!(Plan::read(large).problems()[0].to_string().contains("128 MiB"));
    let mut crowd: String = "# All\n".into();
    for number in 0..=ostler_engine::plan::TASKS_MAX {
        writeln!(crowd, "- [ ] T1.{number}: a").expect("text can be written");
    }
    crowd.push_str("- [ ] T1.x: what is behind it is not read\n");
    let plan = Plan::read(crowd.into_bytes());
    let said: Vec<String> = plan.problems().iter().map(|it| format!("{}: {it}", it.line())).collect();
    assert_eq!(said, ["1000002: there are more than 1000000 tasks; divide the file"]);
    let many = "- [ ] T1.x: a\n".repeat(5000);
    assert_eq!(Plan::read(many.into_bytes()).problems().len(), ostler_engine::plan::PROBLEMS_MAX);
}
