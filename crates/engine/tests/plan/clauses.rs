//! Dependencies without a key and its colon: which words count, and which stay words.

use ostler_engine::plan::Plan;

use crate::dump;

/// What the last task of the file waits for, then what is warned about and what is wrong, in lines 3 and 4.
#[track_caller]
fn check(task: &str, expected: &str) {
    let text = format!("- [ ] T1.1: a\n- [ ] T1.2: b\n{task}\n");
    let plan = Plan::read(text.into_bytes());
    let said = dump(&plan);
    let task = plan.find("T1.7").expect("it is there");
    let before = plan.graph().backwards().tasks_of(&plan, task.number());
    let mut found: Vec<String> = before.iter().map(|it| plan.task(*it).name().to_owned()).collect();
    found.extend(plan.warnings().iter().map(|(line, it)| format!("{line} {it}")));
    found.extend(plan.problems().iter().map(|it| it.thin("TASKS.md").to_string()));
    assert_eq!(found.join("; "), expected, "{}\n{said}", String::from_utf8_lossy(plan.text()));
}

#[test]
fn lines_without_a_colon() {
    for line in [
        "depends on T1.1",
        "Depends on T1.1",
        "**Depends on** T1.1",
        "**Depends on** - T1.1",
        "depends on [T1.1]",
        "depends on `T1.1`",
        "depends-on T1.1",
        "depends_on T1.1",
        "depends = T1.1",
        "deps T1.1",
        "dependencies T1.1",
        "requires T1.1",
        "needs T1.1 to be merged",
        "blocked by T1.1",
        "blocked on T1.1",
        "waits for T1.1",
        "Waits on T1.1",
        "waiting for T1.1",
        "waiting on task T1.1",
        "wait for T1.1",
        "Waiting: T1.1",
        "대기: T1.1",
        "대기 작업: T1.1",
        "T1.1 대기",
        "T1.1 완료 대기",
        "⛔ T1.1",
        "⛔\u{fe0f} T1.1",
        "⛔T1.1 (the table)",
        "⛔: T1.1",
        "🔒 T1.1",
        "after T1.1",
        "prerequisite T1.1: the table",
        "의존 T1.1",
        "의존성 T1.1",
        "**선행** T1.1",
        "선행 작업 T1.1 완료",
        "<- T1.1",
        "← T1.1",
        "depends on task T1.1",
        "선행 태스크 T1.1",
        "(depends on T1.1)",
        "[depends on T1.1]",
        "T1.1 이후",
    ] {
        check(&format!("- [ ] T1.7: g\n  - {line}"), "T1.1");
        check(&format!("### [ ] T1.7: g\n{line}"), "T1.1");
    }
    check("- [ ] T1.7: g\n  - depends on T1.1, T1.2", "T1.1; T1.2");
    check("- [ ] T1.7: g\n  - depends on T1.1-T1.2", "T1.1; T1.2");
    check("- [ ] T1.7: g\n  - depends on T1.1 as well as T1.2", "T1.1; T1.2");
    check("- [ ] T1.7: g\n- depends on T1.1", "T1.1");
    check("### T1.7: g\n**완료 조건**:\n- it works\n- **Depends on** T1.1", "T1.1");
    check("- [ ] T1.7: g\n  - depends on T9.9", "ERROR:MISSING_DEP:T1.7->T9.9");
    check("- [ ] T1.7: g\n  - depends on T1.x", "ERROR:PARSE_FAIL:TASKS.md:4: 'T1.x' is no id of a task");
    check(
        "- [ ] T1.7: g\n  - depends on T1.1 (after T1.2)",
        "T1.1; ERROR:PARSE_FAIL:TASKS.md:4: T1.2 stands only in a note; name it before the note if it is a dependency",
    );
}

#[test]
fn a_sign_before_a_title_says_how_far_that_task_is() {
    check("- [ ] T1.7: g\n- ⛔ T1.1: a\n- 🔒 T1.2: b", "");
    // A column of states has no dependencies, so that its rows are no tasks.
    check("- [ ] T1.7: g\n\n| ID | 완료 | 대기 |\n|--|--|--|\n| T1.1 | 3 | 5 |\n", "");
}

#[test]
fn a_key_alone() {
    check("- [ ] T1.7: g\n  - depends on\n    - T1.1\n    - T1.2", "T1.1; T1.2");
    check("### T1.7: g\n**Dependencies**\n- T1.1\n- T1.2", "T1.1; T1.2");
    check("### T1.7: g\n#### Dependencies\n- T1.1\n- T1.2\n#### Notes\n- T1.7 is mentioned", "T1.1; T1.2");
    check("### T1.7: g\n#### 의존성\n\nT1.1, T1.2\n\nOnce more: nothing.", "T1.1; T1.2");
    check("### T1.7: g\n#### Depends on T1.1", "T1.1");
    check("### T1.7: g\n#### Dependencies\nnone", "");
    check("### T1.7: g\n#### Dependencies\n#### Notes\n- T1.1 is mentioned", "");
    check("### T1.7: g\n## Dependencies\n- T1.1 is one of T1.2's", "");
}

#[test]
fn lines_that_are_prose() {
    for line in [
        "depends on nothing that T1.1 has",
        "needs a table, as T1.1 does",
        "afterwards T1.1 can be reverted",
        "requires t3.medium",
        "independent of T1.1",
        "this replaces T1.1",
        "[ ] after T1.1 the list is empty",
        "[x] depends on T1.1 no more",
    ] {
        check(&format!("- [ ] T1.7: g\n  - {line}"), "");
    }
    check("- [ ] T1.7: g\n  - acceptance criteria:\n    - after T1.1 the list is empty", "");
    check("- [ ] T1.7: g\n\n## Notes\n\nAfter T1.1 we look at it again.\n- after T1.1 too", "");
}

#[test]
fn titles_that_name_dependencies() {
    for title in [
        "g (depends on T1.1)",
        "g (requires T1.1)",
        "g (prerequisite: T1.1)",
        "g (T1.1 이후)",
        "g（의존: T1.1）",
        "g (it depends on T1.1)",
        "g (small, after T1.1) here",
        "g [M, needs T1.1]",
        "g [depends: T1.1]",
        "g [depends on T1.1]",
        "g [deps=T1.1]",
        "[US1] g [after T1.1]",
        "g [P] [의존성: T1.1]",
        "g, depends on T1.1",
        "g, after T1.1",
        "g after T1.1.",
        "g; requires T1.1",
        "g, needs: **T1.1**",
        "g – blocked by T1.1 (the table)",
        "g, 선행 T1.1",
        "g, T1.1 이후",
        "g - T1.1 완료 후",
        "g, T1.1에 의존",
        "g <- T1.1",
        "g <-T1.1",
        "g <-- T1.1",
        "g <= T1.1",
        "g ← T1.1",
        "g ← T1.1 ✅",
        "g ⛔ T1.1",
        "g ⛔\u{fe0f} T1.1",
        "g ⛔T1.1",
        "g 🔒 T1.1",
        "g (⛔ T1.1)",
        "g (waits on T1.1)",
        "g, waiting for T1.1",
        "g, waits on T1.1",
        "g, T1.1 대기",
        "g, after task T1.1",
        "g (needs task T1.1)",
    ] {
        check(&format!("### T1.7: {title}"), "T1.1");
    }
    check("- [ ] T1.7: g [depends: T1.1, T1.2]", "T1.1; T1.2");
    check("- [ ] T1.7: g, after T1.1 and T1.2", "T1.1; T1.2");
    check("- [ ] T1.7: g <- T1.1, T1.2", "T1.1; T1.2");
    check("- [ ] T1.7: g, T1.1, T1.2 이후", "T1.1; T1.2");
    check("- [ ] T1.7: g [depends: T9.9]", "ERROR:MISSING_DEP:T1.7->T9.9");
    check("- [ ] T1.7: g <- T1.x", "ERROR:PARSE_FAIL:TASKS.md:3: 'T1.x' is no id of a task");
    let plan = Plan::read(b"- [ ] T1.1: a\n- [ ] T1.7: [US1] g [deps: T1.1]\n".to_vec());
    assert_eq!(plan.find("T1.7").expect("it is there").title(), "[US1] g");
}

#[test]
fn titles_that_may_name_one() {
    let warned = "3 T1.7 names T1.1 and does not wait for it; write 'depends on T1.1' if it should";
    for title in [
        "Show what happens after T1.1 fails",
        "Remove what needs T1.1 in the tests",
        "T1.1 이후 생긴 오류",
        "g (see T1.1)",
        "g [see T1.1]",
    ] {
        check(&format!("- [ ] T1.7: {title}"), warned);
    }
    // Nothing is left to be said about one that is waited for.
    check("- [ ] T1.7: Show what happens after T1.1 fails\n  - deps: T1.1", "T1.1");
    check("- [ ] T1.7: Show what happened after T9.9 failed", "");
}

#[test]
fn titles_that_mention() {
    for title in [
        "Revert T1.1",
        "Revert T1.1 and T1.2",
        "Document T1.1, then publish",
        "Thereafter T1.1",
        "Hereafter, T1.1",
        "T1.1의 모델을 고친다",
        "a < T1.1",
        "[US1] [api] g",
        "[link](x) g",
        "Needs analysis",
        "Look after XT1.1",
    ] {
        check(&format!("- [ ] T1.7: {title}"), "");
    }
}

#[test]
fn long_titles_take_no_time() {
    // Each of these would be quadratic if what follows were read again at every one of them.
    for part in
        ["after T1.1 (x) ", "depends on T1.1 (x) ", "after T1.1 x ", "- - - T1.1 ", "[[[", "T1.1 , , , "]
    {
        let title = part.repeat(1_000_000 / part.len());
        let plan = Plan::read(format!("- [ ] T1.1: a\n- [ ] T1.7: {title}\n").into_bytes());
        assert_eq!((plan.len(), plan.problems().len()), (2, 0), "{part}");
    }
}

#[test]
fn what_is_named_in_other_words_is_told() {
    for task in
        ["- [ ] T1.7: g\n  - pending T1.1", "- [ ] T1.7: g pending T1.1", "- [ ] T1.7: g\n  - 🧱 T1.1 first"]
    {
        let plan = Plan::read(format!("- [ ] T1.1: a\n{task}\n").into_bytes());
        assert!(plan.problems().is_empty() && plan.passed_over().len() == 1, "{}", dump(&plan));
    }
}
