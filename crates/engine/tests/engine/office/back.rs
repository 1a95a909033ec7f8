//! What a role has done in a worktree of its own comes back when it is over.

use ostler_engine::{
    Input, Overlay, Refusal, RequestId, SessionId,
    action::Deed,
    answer::Given,
    decide,
    input::{TestVerdict, WorktreeNews},
    office::{Verdict, Why},
    request::By,
    session::{Status, WorktreeState},
};

use super::stage::{IDLE_MS, Stage, ended};
use crate::common::plain;

/// A role with a worktree that has brought its result and is over.
fn over() -> (Stage, SessionId, SessionId) {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.is_apart = true;
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    let seat = stage.seat("PO");
    stage.delivers(seat, "s_1", "One.");
    stage.passes(IDLE_MS);
    assert_eq!(stage.status(seat), Status::Completed);
    (stage, caller, seat)
}

fn state(stage: &Stage, seat: SessionId) -> &WorktreeState {
    &stage.session(seat).worktree.as_ref().expect("a worktree").state
}

fn tested(stage: &mut Stage, session: SessionId, number: u32, verdict: TestVerdict) {
    stage.give(&Input::Worktree { session, news: WorktreeNews::Tested { number, verdict } });
    stage.settle();
}

fn red(commit: &str) -> TestVerdict {
    let (command, output) = ("make test".to_owned(), "1 failed".to_owned());
    TestVerdict::Red { commit: commit.to_owned(), command, output }
}

fn green(commit: &str) -> TestVerdict {
    TestVerdict::Green { commit: commit.to_owned() }
}

fn not_merged(stage: &mut Stage, session: SessionId, conflict: bool) {
    let (message, files) = ("both sides".to_owned(), vec!["a.rs".to_owned()]);
    stage.give(&Input::Worktree { session, news: WorktreeNews::NotMerged { message, files, conflict } });
    stage.settle();
}

fn merged(stage: &mut Stage, session: SessionId) {
    let commit = "def".to_owned();
    stage.give(&Input::Worktree { session, news: WorktreeNews::Merged { commit } });
    stage.settle();
}

/// The question that stands in the inbox, with what can be said to it.
fn card(stage: &Stage) -> (RequestId, String, Vec<String>) {
    let mut open = stage.world().inbox();
    let request = open.next().expect("a card");
    assert!(open.next().is_none(), "one card");
    let ostler_engine::request::Ask::Question(question) = &request.ask else { panic!("{request:?}") };
    (request.id, question.question.clone(), question.options.clone())
}

fn answer(stage: &mut Stage, word: &str) {
    let given = Given { value: Some(word.to_owned()), ..Given::default() };
    let request = card(stage).0;
    stage.give(&Input::Answer { request, given, printed: None });
    stage.settle();
}

fn has_no_card(stage: &Stage) -> bool {
    stage.world().inbox().next().is_none()
}

#[test]
fn what_is_well_is_merged_without_a_word() {
    let (mut stage, _, seat) = over();
    assert_eq!(stage.trees, [(seat, Deed::TestWorktree { number: 1 })]);
    assert_eq!(*state(&stage, seat), WorktreeState::Testing);
    tested(&mut stage, seat, 1, green("c1"));
    assert_eq!(*state(&stage, seat), WorktreeState::Merging { tested: Some("c1".to_owned()) });
    merged(&mut stage, seat);
    assert_eq!(stage.trees[1..], [(seat, Deed::MergeWorktree)]);
    assert!(has_no_card(&stage));
}

#[test]
fn where_nothing_was_done_the_role_keeps_its_place() {
    let (mut stage, caller, seat) = over();
    tested(&mut stage, seat, 1, TestVerdict::Nothing);
    assert_eq!(*state(&stage, seat), WorktreeState::Made);
    stage.invokes(caller, "PO", "Second.");
    assert_eq!((stage.seat("PO"), stage.status(seat)), (seat, Status::Active));
}

#[test]
fn red_tests_ask_and_a_person_may_merge_all_the_same() {
    let (mut stage, _, seat) = over();
    tested(&mut stage, seat, 1, red("c1"));
    let (_, words, options) = card(&stage);
    assert!(words.contains("PO") && words.contains("$ make test\n1 failed"), "{words}");
    assert_eq!(options, ["retry", "merge", "leave"]);
    answer(&mut stage, "merge");
    assert_eq!(*state(&stage, seat), WorktreeState::Merging { tested: Some("c1".to_owned()) });
    assert!(has_no_card(&stage));
}

#[test]
fn red_tests_are_run_again_after_a_fix() {
    let (mut stage, _, seat) = over();
    tested(&mut stage, seat, 1, red("c1"));
    answer(&mut stage, "retry");
    assert_eq!(stage.trees[1..], [(seat, Deed::TestWorktree { number: 2 })]);
    // The word of the first test comes once more.
    tested(&mut stage, seat, 1, red("c1"));
    assert!(has_no_card(&stage));
    tested(&mut stage, seat, 2, green("c2"));
    assert_eq!(*state(&stage, seat), WorktreeState::Merging { tested: Some("c2".to_owned()) });
}

#[test]
fn a_conflict_asks_whoever_wanted_the_merge() {
    let (mut stage, _, seat) = over();
    tested(&mut stage, seat, 1, green("c1"));
    not_merged(&mut stage, seat, true);
    let (request, words, options) = card(&stage);
    assert!(words.contains("git -C /state/worktrees/s_2 merge main"), "{words}");
    assert_eq!(options, ["retry", "leave"]);
    // By hand: the card is not the question any more, and is again if that fails.
    stage.give(&Input::Merge(seat));
    stage.settle();
    assert_eq!(stage.world().requests[&request].settled.as_ref().map(|it| it.by), Some(By::Change));
    assert_eq!(*state(&stage, seat), WorktreeState::Merging { tested: None });
    not_merged(&mut stage, seat, false);
    assert!(card(&stage).1.contains("committed these files in the project"));
    stage.give(&Input::Discard(seat));
    assert!(has_no_card(&stage));
}

#[test]
fn a_role_that_is_called_while_it_is_tested_goes_on_where_it_was() {
    let (mut stage, caller, seat) = over();
    stage.invokes(caller, "PO", "Second.");
    assert_eq!((stage.seat("PO"), stage.status(seat)), (seat, Status::Active));
    assert_eq!(*state(&stage, seat), WorktreeState::Made);
    // What the test says now is about what was there before.
    tested(&mut stage, seat, 1, green("c1"));
    assert_eq!(*state(&stage, seat), WorktreeState::Made);
    stage.delivers(seat, "s_1", "Two.");
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Delivered));
    stage.passes(IDLE_MS);
    assert_eq!(stage.trees.last(), Some(&(seat, Deed::TestWorktree { number: 2 })));
}

#[test]
fn a_role_that_is_called_while_its_work_waits_goes_on_and_nobody_has_to_decide() {
    let (mut stage, caller, seat) = over();
    tested(&mut stage, seat, 1, red("c1"));
    let request = card(&stage).0;
    stage.invokes(caller, "PO", "Mend it.");
    assert_eq!((stage.seat("PO"), stage.status(seat)), (seat, Status::Active));
    assert_eq!(stage.world().requests[&request].settled.as_ref().map(|it| it.by), Some(By::Change));
    stage.delivers(seat, "s_1", "Mended.");
    stage.passes(IDLE_MS);
    tested(&mut stage, seat, 2, green("c2"));
    assert_eq!(*state(&stage, seat), WorktreeState::Merging { tested: Some("c2".to_owned()) });
}

#[test]
fn a_role_that_is_called_while_it_is_merged_begins_in_a_new_place() {
    let (mut stage, caller, first) = over();
    tested(&mut stage, first, 1, green("c1"));
    stage.invokes(caller, "PO", "Second.");
    let second = stage.seat("PO");
    assert_ne!(second, first);
    assert_eq!(stage.status(second), Status::Active);
    not_merged(&mut stage, first, true);
    assert_eq!(stage.world().requests[&card(&stage).0].session, first, "what it did is not forgotten");
}

#[test]
fn what_is_left_stays_until_somebody_merges_it() {
    let (mut stage, _, seat) = over();
    tested(&mut stage, seat, 1, TestVerdict::Hindered { message: "a lock".to_owned() });
    answer(&mut stage, "leave");
    assert!(has_no_card(&stage) && matches!(state(&stage, seat), WorktreeState::NotMerged { .. }));
    assert_eq!(stage.trees.len(), 1, "nothing more is done");
    stage.give(&Input::Merge(seat));
    assert_eq!(*state(&stage, seat), WorktreeState::Merging { tested: None });
}

#[test]
fn the_work_of_who_has_failed_is_not_merged_unasked() {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.is_apart = true;
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    let seat = stage.seat("PO");
    stage.give(&Input::Cancel(seat));
    stage.settle();
    tested(&mut stage, seat, 1, TestVerdict::Unfinished);
    let (request, words, options) = card(&stage);
    assert!(words.contains("before it was through"), "{words}");
    assert_eq!(options, ["merge", "leave"]);
    let given = Given { value: Some("retry".to_owned()), insist: true, ..Given::default() };
    let refused = decide(
        stage.world(),
        &Overlay::default(),
        stage.now_ms,
        &Input::Answer { request, given, printed: None },
    );
    assert!(matches!(refused, Err(Refusal::NotAnAnswer { .. })), "{refused:?}");
    answer(&mut stage, "merge");
    assert!(stage.session(seat).worktree.as_ref().is_some_and(|it| it.back.insisted), "the driver is told");
    tested(&mut stage, seat, 2, green("c2"));
    assert_eq!(*state(&stage, seat), WorktreeState::Merging { tested: Some("c2".to_owned()) });
}

#[test]
fn only_the_work_of_a_role_comes_back_by_itself() {
    let mut stage = Stage::new(&[]);
    let mut new = crate::common::order(plain(), ostler_engine::run::Terms::default());
    new.worktrees = Some("/state/worktrees".to_owned());
    stage.give(&Input::CreateRun(Box::new(new)));
    stage.settle();
    stage.ends(SessionId(1), 0);
    assert_eq!(stage.status(SessionId(1)), Status::Completed);
    assert_eq!(stage.trees, []);
    stage.give(&Input::Merge(SessionId(1)));
    not_merged(&mut stage, SessionId(1), true);
    assert!(has_no_card(&stage), "whoever merges it is told");
}
