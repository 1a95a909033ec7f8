//! Loops through a task file: which tasks are ready, and how a phase is closed.

use std::{collections::BTreeSet, num::NonZeroU32};

use ostler_engine::{
    graph::{GroupFacts, GroupTest, MergeFailure},
    orchestrate::{About, CloseStep, GroupHeads, LoopSpec, NextStep, close, ready},
    plan::{Plan, Progress},
};
use ostler_protocol::thin::Thin;

const FILE: &str = "\
## Phase 0: Setup
- [ ] T0.1: one
- [ ] T0.2: two
## Phase 1: Auth
- [ ] T1.1: three
  - deps: [T0.1]
- [ ] T1.2: four
";

fn asked(phase: Option<u32>, parallel: u32) -> LoopSpec {
    let parallel_max = NonZeroU32::new(parallel).expect("it is not nothing");
    LoopSpec { tasks: None, phase, parallel_max, agent: None }
}

fn names(plan: &Plan, next: &NextStep) -> Vec<String> {
    let NextStep::Begin(tasks) = next else { panic!("{next:?}") };
    tasks.iter().map(|task| plan.task(*task).name().to_owned()).collect()
}

#[test]
fn a_phase_begins_where_the_one_before_was_merged() {
    let plan = Plan::read(FILE.into());
    let mut progress = Progress::new(&plan);
    let number = |id: &str| plan.find(id).expect("it is in the file").number();
    let (none, first) = (BTreeSet::new(), BTreeSet::from([0]));
    assert_eq!(ready(&progress, &none, &none, 0, &asked(None, 3)), NextStep::Prepare(0));
    let begins = ready(&progress, &none, &first, 0, &asked(None, 3));
    assert_eq!(names(&plan, &begins), ["T0.1", "T0.2"]);
    assert_eq!(
        names(&plan, &ready(&progress, &none, &first, 2, &asked(None, 3))),
        ["T0.1"],
        "one place is left"
    );
    assert_eq!(ready(&progress, &none, &first, 3, &asked(None, 3)), NextStep::Wait, "no place is left");
    progress.complete(number("T0.1"));
    progress.start(number("T0.2"));
    assert_eq!(
        ready(&progress, &none, &first, 1, &asked(None, 3)),
        NextStep::Wait,
        "T1.1 is ready, its phase is not"
    );
    progress.complete(number("T0.2"));
    assert_eq!(ready(&progress, &none, &first, 0, &asked(None, 3)), NextStep::Close(0));
    assert_eq!(ready(&progress, &first, &first, 0, &asked(None, 3)), NextStep::Prepare(1));
    for task in ["T1.1", "T1.2"] {
        progress.complete(number(task));
    }
    let both = BTreeSet::from([0, 1]);
    assert_eq!(ready(&progress, &first, &both, 0, &asked(None, 3)), NextStep::Close(1));
    assert_eq!(ready(&progress, &both, &both, 0, &asked(None, 3)), NextStep::Done);
}

#[test]
fn a_person_decides_when_all_waits_for_a_failure() {
    let plan = Plan::read(FILE.into());
    let mut progress = Progress::new(&plan);
    let number = |id: &str| plan.find(id).expect("it is in the file").number();
    let (none, first) = (BTreeSet::new(), BTreeSet::from([0]));
    progress.fail(number("T0.1"));
    assert_eq!(names(&plan, &ready(&progress, &none, &first, 0, &asked(None, 3))), ["T0.2"], "others go on");
    progress.complete(number("T0.2"));
    let blocked = About::Blocked { phase: 0, tasks: vec!["T0.1".to_owned()] };
    assert_eq!(ready(&progress, &none, &first, 0, &asked(None, 3)), NextStep::Ask(blocked));
    progress.skip(number("T0.1"));
    assert_eq!(ready(&progress, &none, &first, 0, &asked(None, 3)), NextStep::Close(0));
}

#[test]
fn a_phase_that_is_asked_for_has_to_be_there_and_its_turn() {
    let plan = Plan::read(FILE.into());
    let progress = Progress::new(&plan);
    let none = BTreeSet::new();
    let refused = ready(&progress, &none, &none, 0, &asked(Some(7), 3));
    assert!(matches!(refused, NextStep::Refuse(Thin::Error { .. })), "{refused:?}");
    let early = ready(&progress, &none, &BTreeSet::from([1]), 0, &asked(Some(1), 3));
    assert!(matches!(early, NextStep::Refuse(Thin::Error { .. })), "{early:?}");
}

#[test]
fn a_phase_is_tested_then_merged_then_recorded() {
    let heads =
        |head: &str, target: &str| GroupHeads { head: Some(head.into()), target: Some(target.into()) };
    let tested = |commit: &str, code: i32| GroupTest {
        commit: Some(commit.into()),
        command: Some("true".into()),
        code,
        output: String::new(),
        waived: false,
    };
    let mut group = GroupFacts::default();
    assert_eq!(close(1, &group, &heads("a", "m")), CloseStep::Test);
    group.tested = Some(tested("a", 1));
    let red = About::Red { phase: 1, commit: Some("a".into()) };
    assert_eq!(close(1, &group, &heads("a", "m")), CloseStep::Ask(red));
    assert_eq!(close(1, &group, &heads("b", "m")), CloseStep::Test, "somebody has mended it");
    group.tested = Some(tested("b", 0));
    assert_eq!(close(1, &group, &heads("b", "m")), CloseStep::Merge);
    group.unmerged = Some(MergeFailure {
        commit: "b".into(),
        target: "m".into(),
        message: "both sides".into(),
        files: vec!["x".into()],
        is_conflict: true,
    });
    assert_eq!(close(1, &group, &heads("b", "m")), CloseStep::Repair);
    group.repairs = vec![ostler_engine::RunId(1), ostler_engine::RunId(2)];
    let unmerged = About::Unmerged { phase: 1, commit: "b".into(), target: "m".into() };
    assert_eq!(close(1, &group, &heads("b", "m")), CloseStep::Ask(unmerged));
    assert_eq!(close(1, &group, &heads("b", "n")), CloseStep::Merge, "the target is another");
    group.merged = Some("n".into());
    assert_eq!(close(1, &group, &heads("b", "n")), CloseStep::Record);
}
