//! Done marks in the text of a file.

use ostler_engine::plan::Plan;

use crate::dump;

/// Marks tasks, and compares the text.
#[track_caller]
fn check(text: &str, done: &[&str], expected: &str) {
    let plan = Plan::read(text.as_bytes().to_vec());
    let numbers = done.iter().map(|id| plan.find(id).expect("a task").number());
    let marked = String::from_utf8(plan.marked(numbers)).expect("text stays text");
    assert_eq!(marked, expected);
    let again = Plan::read(marked.into_bytes());
    for id in done {
        assert!(again.find(id).is_some_and(ostler_engine::plan::Task::is_done), "{id}\n{}", dump(&again));
    }
    assert_eq!(again.warnings(), plan.warnings());
}

#[test]
fn in_every_shape() {
    check("- [ ] T1.1: a\n- [ ] T1.2: b\n", &["T1.2"], "- [ ] T1.1: a\n- [x] T1.2: b\n");
    check("### [ ] Phase 1, T1.1: a\r\n", &["T1.1"], "### [x] Phase 1, T1.1: a\r\n");
    check("### T1: [v0.2.x] a  \r\nx", &["T1"], "### T1: [v0.2.x] a ✅  \r\nx");
    check("### **T1: a** ###\n", &["T1"], "### **T1: a** ✅ ###\n");
    check("- [] T1.1: a", &["T1.1"], "- [x] T1.1: a");
    check("| ID | Deps |\n|--|--|\n| T1 | - |\n", &["T1"], "| ID | Deps |\n|--|--|\n| T1 ✅ | - |\n");
    check(
        "| ID | Deps |\n|--|--|\n| [T1](#t1) | - |\n",
        &["T1"],
        "| ID | Deps |\n|--|--|\n| [T1](#t1) ✅ | - |\n",
    );
    check(
        "| ID | Status | Deps |\n|--|--|--|\n| T1 | [ ] | - |\n",
        &["T1"],
        "| ID | Status | Deps |\n|--|--|--|\n| T1 | [x] | - |\n",
    );
    check(
        "| ID | Deps |\n|--|--|\n| T1 | - |\n\n### T1: a\ntext\n",
        &["T1"],
        "| ID | Deps |\n|--|--|\n| T1 | - |\n\n### T1: a ✅\ntext\n",
    );
    check(
        "| ID | Deps |\n|--|--|\n| T1 | - |\n\n### [ ] T1: a\ntext\n",
        &["T1"],
        "| ID | Deps |\n|--|--|\n| T1 | - |\n\n### [x] T1: a\ntext\n",
    );
}

#[test]
fn an_empty_box_at_the_detail_of_a_row() {
    check(
        "| ID | Deps |\n|--|--|\n| T1 | - |\n\n- [] T1: a\n",
        &["T1"],
        "| ID | Deps |\n|--|--|\n| T1 | - |\n\n- [x] T1: a\n",
    );
}

#[test]
fn a_heading_is_no_header_of_a_table() {
    check("### T1.1: a | b |\n|--|--|\n| x | y |\n", &["T1.1"], "### T1.1: a | b | ✅\n|--|--|\n| x | y |\n");
}

#[test]
fn what_is_done_stays_as_it_is() {
    check("- [X] T1.1: a\n- ✅ T1.2: b\n", &["T1.1", "T1.2"], "- [X] T1.1: a\n- ✅ T1.2: b\n");
}
