//! A place of its own: made before the agent begins, merged or discarded after its end.

use expect_test::{Expect, expect};
use ostler_engine::{
    Input, Refusal,
    input::{Wanted, WorktreeNews},
    run::{Outcome, Reason, Terms},
    session::Status,
};

use crate::{
    common::{order, plain},
    play::{Play, S},
};

fn check(play: &mut Play, expect: &Expect) {
    expect.assert_eq(&play.page());
}

fn news(news: WorktreeNews) -> Input {
    Input::Worktree { session: S, news }
}

fn made() -> Input {
    news(WorktreeNews::Made { base: "abc".to_owned(), target: Some("main".to_owned()) })
}

fn ordered() -> Play {
    let mut new = order(plain(), Terms::default());
    new.worktrees = Some("/state/worktrees".to_owned());
    Play::ordered(new)
}

fn ended() -> Play {
    let mut play = ordered();
    play.give(made());
    play.started();
    play.ended(0);
    play.forget();
    play
}

#[test]
fn an_agent_begins_when_its_place_is_made() {
    let mut play = ordered();
    assert_eq!(play.status(), Status::Starting);
    play.give(made());
    assert_eq!(play.session().directory(), "/state/worktrees/s_1");
    check(
        &mut play,
        &expect![[r#"
        project.registered git=true name="repo" root="/repo"
        run.created title="a task"
        session.created wanted
            → make_worktree
        worktree.changed made
        session.launched cause="first" fresh=true launch=1 prompt="Do it."
            → launch launch=1
    "#]],
    );
}

#[test]
fn without_its_place_it_has_failed() {
    let mut play = ordered();
    play.give(news(WorktreeNews::NotMade { message: "no room".to_owned() }));
    let reason = Reason::NoWorktree { message: "no room".to_owned() };
    assert_eq!(play.session().outcome, Some(Outcome::Failed { reason }));
    assert_eq!(play.refused(Input::Merge(S)), Refusal::WorktreeGone { session: S });
}

#[test]
fn a_conflict_can_be_tried_again() {
    let mut play = ended();
    play.give(Input::Merge(S));
    assert_eq!(play.refused(Input::Discard(S)), Refusal::WorktreeGone { session: S });
    let files = vec!["a.rs".to_owned()];
    play.give(news(WorktreeNews::NotMerged { message: "conflict".to_owned(), files, conflict: true }));
    play.give(Input::Merge(S));
    play.give(news(WorktreeNews::Merged { commit: "def".to_owned() }));
    check(
        &mut play,
        &expect![[r#"
        worktree.changed merging
            → merge_worktree
        worktree.changed not_merged
        worktree.changed merging
            → merge_worktree
        worktree.changed merged
    "#]],
    );
    assert_eq!(
        play.refused(Input::Resume { session: S, prompt: None }),
        Refusal::WorktreeGone { session: S }
    );
}

#[test]
fn what_is_discarded_is_kept_under_a_ref() {
    let mut play = ended();
    play.give(Input::Discard(S));
    play.give(news(WorktreeNews::NotDiscarded { message: "busy".to_owned() }));
    play.give(Input::Discard(S));
    play.give(news(WorktreeNews::Discarded { kept: "refs/ostler/kept/s_1".to_owned() }));
    check(
        &mut play,
        &expect![[r#"
        worktree.changed discarding
            → discard_worktree
        worktree.changed not_discarded
        worktree.changed discarding
            → discard_worktree
        worktree.changed discarded
    "#]],
    );
}

#[test]
fn nothing_is_taken_from_under_somebody_who_will_go_on() {
    let mut play = ordered();
    play.give(made());
    play.started();
    for wanted in [Wanted::Merge, Wanted::Discard] {
        let input = if wanted == Wanted::Merge { Input::Merge(S) } else { Input::Discard(S) };
        assert_eq!(play.refused(input), Refusal::NotNow { session: S, status: Status::Active, wanted });
    }
    play.lost();
    assert!(matches!(play.refused(Input::Merge(S)), Refusal::NotNow { status: Status::Interrupted, .. }));
    play.give(Input::Cancel(S));
    play.give(Input::Merge(S));
}

#[test]
fn who_is_cancelled_before_its_place_is_made_does_not_begin() {
    let mut play = ordered();
    play.give(Input::Cancel(S));
    play.forget();
    play.give(made());
    check(
        &mut play,
        &expect![[r#"
        worktree.changed made
    "#]],
    );
}
