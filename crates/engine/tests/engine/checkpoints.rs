//! Checkpoints: at each question, by time, on demand; an agent waits for them, and a person goes back to one.

use expect_test::expect;
use ostler_engine::{
    CheckpointId, Input, Refusal, RequestId,
    budget::Budget,
    checkpoint::{CheckpointTerms, Kept, RewindWay},
    input::{CheckpointNews, News, RestoreNews, Wanted, WorktreeNews},
    run::Terms,
    session::Status,
};

use crate::{
    common::{self, said},
    play::{Play, S},
};

/// A session that gets checkpoints, whose process runs.
fn kept(agent: ostler_agents::Agent) -> Play {
    let mut new = common::order(agent, Terms::default());
    new.order.checkpoints = Some(CheckpointTerms::default());
    let mut play = Play::ordered(new);
    play.started();
    play.forget();
    play
}

fn news(number: u64) -> CheckpointNews {
    let kept = Kept {
        reference: format!("refs/c_{number}"),
        commit: format!("{number}"),
        anchor: Some("there".to_owned()),
        left_out: Vec::new(),
        left_out_count: 0,
    };
    CheckpointNews::Made { kept }
}

fn word(play: &mut Play, number: u64, news: CheckpointNews) {
    play.give(Input::Checkpointed { session: S, checkpoint: CheckpointId(number), news });
}

fn restore(number: u64, conversation: bool) -> Input {
    Input::Restore { checkpoint: CheckpointId(number), conversation }
}

#[test]
fn an_answer_waits_for_the_checkpoint_at_its_question() {
    let mut play = kept(common::plain());
    play.asks(said::question("Which one?"));
    play.answer(1, "this one");
    expect![[r#"
        session.heard user_question launch=1
        request.opened question launch=1 request="q_1"
        checkpoint.wanted checkpoint="c_1" holds=true launch=1 requests=["q_1"] why="request"
            → checkpoint number=1
        session.stopped cause="signal" launch=1
        request.settled answer={"answer":"text","text":"this one"} brings=true by="person" request="q_1"
    "#]]
    .assert_eq(&play.page());
    word(&mut play, 1, news(1));
    let page = play.page();
    assert!(page.contains("→ deliver") && page.contains("→ go_on"), "{page}");
}

#[test]
fn a_failure_holds_nobody() {
    let mut play = kept(common::plain());
    play.asks(said::question("Which one?"));
    play.answer(1, "this one");
    word(&mut play, 1, CheckpointNews::Failed { message: "disk full".to_owned() });
    let page = play.page();
    assert!(page.contains("disk full") && page.contains("→ go_on"), "{page}");
}

#[test]
fn several_questions_at_one_stop_share_a_checkpoint() {
    let mut play = kept(common::plain());
    play.heard(said::question("One?"));
    play.heard(said::question("Two?"));
    play.stopped();
    assert_eq!(play.page().matches("→ checkpoint").count(), 1);
    word(&mut play, 1, news(1));
    play.answer(1, "1");
    play.answer(2, "2");
    assert!(play.page().contains("→ go_on"));
}

#[test]
fn time_makes_one_due_while_it_works() {
    let mut play = kept(common::plain());
    play.wait_ms(9 * 60_000);
    assert_eq!(play.page(), "");
    play.wait_ms(60_000);
    assert!(play.page().contains("why=\"time\""));
    play.wait_ms(60 * 60_000);
    assert_eq!(play.page(), "", "one at a time");
    word(&mut play, 1, CheckpointNews::Unchanged);
    play.page();
    assert_eq!(play.book.world.next_deadline_ms(), Some(play.now_ms + 10 * 60_000));
    // It does not hold up an answer, and who stands still changes nothing.
    play.wait_ms(10 * 60_000);
    play.asks(said::question("Which one?"));
    word(&mut play, 3, news(3));
    play.answer(1, "x");
    assert!(play.page().contains("→ go_on"));
}

#[test]
fn outside_of_git_it_is_said_once() {
    let mut new = common::order(common::plain(), Terms::default());
    new.order.checkpoints = Some(CheckpointTerms::default());
    new.git = false;
    let mut play = Play::ordered(new);
    assert_eq!(play.page().matches("no_repository").count(), 1);
    play.started();
    play.asks(said::question("Which one?"));
    play.answer(1, "x");
    let page = play.page();
    assert!(!page.contains("checkpoint") && page.contains("→ go_on"), "{page}");
    assert!(matches!(play.refused(Input::Checkpoint(S)), Refusal::NotGit { .. }));
}

#[test]
fn the_same_tree_names_the_one_that_has_it() {
    let mut play = kept(common::plain());
    play.give(Input::Checkpoint(S));
    word(&mut play, 1, news(1));
    play.give(Input::Checkpoint(S));
    play.forget();
    word(&mut play, 2, CheckpointNews::Unchanged);
    let page = play.page();
    assert!(page.contains(r#"reason={"checkpoint":"c_1","key":"unchanged"}"#), "{page}");
}

#[test]
fn before_it_is_ended_for_now_what_it_did_is_kept() {
    let mut play = kept(common::claude());
    play.heard(said::conversation("abc"));
    play.heard(said::question("Which one?"));
    word(&mut play, 1, news(1));
    play.now_ms += 1;
    play.stopped();
    play.forget();
    play.wait_ms(5 * 60_000);
    let page = play.page();
    assert!(page.contains("why=\"rest\"") && !page.contains("→ end"), "{page}");
    word(&mut play, 2, CheckpointNews::Unchanged);
    assert!(play.page().contains("→ end"));
}

/// A claude that asked, was answered, and went wrong.
fn gone_wrong() -> Play {
    let mut play = kept(common::claude());
    play.heard(said::conversation("abc"));
    play.asks(said::question("Which one?"));
    word(&mut play, 1, news(1));
    play.answer(1, "this one");
    play.give(Input::Cancel(S));
    play.killed();
    assert_eq!(play.status(), Status::Cancelled);
    play.forget();
    play
}

fn restored(play: &mut Play, before: u64) {
    let (different, submodules) = (Vec::new(), Vec::new());
    let news = RestoreNews::Restored { before: news(before), changed: 3, different, submodules };
    play.give(Input::Restored { session: S, checkpoint: CheckpointId(1), news });
}

#[test]
fn files_and_conversation_go_back_together() {
    let mut play = gone_wrong();
    play.give(restore(1, true));
    let resume = Input::Resume { session: S, prompt: None };
    assert!(matches!(play.refused(resume), Refusal::Restoring { .. }));
    assert!(matches!(play.refused(restore(1, true)), Refusal::Restoring { .. }));
    restored(&mut play, 2);
    let page = play.page();
    assert!(
        page.contains("→ restore before=2 commit=\"1\" number=1") && page.contains("checkpoint.made"),
        "{page}"
    );
    play.give(Input::Resume { session: S, prompt: Some("Try the other.".to_owned()) });
    let launch = play.session().launches.last().expect("a launch");
    let rewind = launch.rewind.clone().expect("it goes back");
    let (conversation, anchor) = ("abc".to_owned(), "there".to_owned());
    assert_eq!(rewind.way, RewindWay::To { conversation, anchor });
    assert!(!launch.fresh);
    expect![[r#"
        The files are as they were at this point of our conversation.

        Answer to your question "Which one?": this one

        Try the other."#]]
    .assert_eq(&launch.prompt);
    assert_eq!(play.session().checkpoints.rewind, None, "the one after it goes on from there");
}

#[test]
fn a_cli_that_cannot_go_back_begins_anew_and_is_told() {
    let mut play = kept(common::codex());
    play.heard(said::conversation("abc"));
    play.asks(said::question("Which one?"));
    word(&mut play, 1, news(1));
    play.give(Input::Cancel(S));
    play.killed();
    play.give(restore(1, true));
    restored(&mut play, 2);
    play.give(Input::Resume { session: S, prompt: None });
    let launch = play.session().launches.last().expect("a launch");
    assert!(launch.fresh && launch.prompt.contains("You have worked on this before."), "{}", launch.prompt);
    let conversation = "00000000-0000-4000-8000-000000000003".to_owned();
    let way = launch.rewind.as_ref().map(|rewind| &rewind.way);
    assert_eq!(way, Some(&RewindWay::Anew { conversation: conversation.clone() }));
    assert_eq!(play.session().given_conversation(), conversation);
}

/// Going back takes back what it asked, not what it has used.
#[test]
fn the_question_about_a_budget_is_not_asked_again() {
    let budget = Budget { cost_nusd_max: Some(5), ..Budget::default() };
    let mut new = common::order(common::claude(), Terms { budget, ..Terms::default() });
    new.order.checkpoints = Some(CheckpointTerms::default());
    let mut play = Play::ordered(new);
    play.started();
    play.heard(said::conversation("abc"));
    play.asks(said::question("Which one?"));
    word(&mut play, 1, news(1));
    play.answer(1, "this one");
    play.heard(said::usage(0.5));
    play.wait_ms(1_000);
    word(&mut play, 2, news(2));
    play.lost();
    play.give(restore(1, true));
    restored(&mut play, 3);
    play.give(Input::Resume { session: S, prompt: None });
    let open: Vec<RequestId> = play.book.world.inbox().map(|request| request.id).collect();
    assert_eq!((open, play.request(2).left), (vec![RequestId(2)], false));
    play.answer(2, "raise");
    let launch = play.session().launches.last().expect("a launch");
    assert!(launch.number == 2 && launch.rewind.is_some(), "it goes back when it may use more");
}

#[test]
fn files_alone_leave_the_conversation() {
    let mut play = gone_wrong();
    play.give(restore(1, false));
    restored(&mut play, 2);
    play.give(Input::Resume { session: S, prompt: None });
    let launch = play.session().launches.last().expect("a launch");
    assert!(launch.rewind.is_none() && !launch.fresh);
}

#[test]
fn who_works_is_not_pulled_the_rug() {
    let mut play = kept(common::plain());
    play.give(Input::Checkpoint(S));
    word(&mut play, 1, news(1));
    for conversation in [true, false] {
        let refusal = play.refused(restore(1, conversation));
        assert!(matches!(refusal, Refusal::NotNow { wanted: Wanted::Restore, .. }), "{refusal:?}");
    }
    // Who stands still may go on with other files, once they are there.
    play.asks(said::question("Which one?"));
    word(&mut play, 2, news(2));
    assert!(matches!(play.refused(restore(1, true)), Refusal::NotNow { .. }));
    play.give(restore(1, false));
    play.forget();
    play.answer(1, "x");
    assert!(!play.page().contains("→"), "not while files are exchanged");
    restored(&mut play, 3);
    assert!(play.page().contains("→ go_on"));
    let refusal = play.refused(restore(9, false));
    assert_eq!(refusal, Refusal::NoCheckpoint { checkpoint: CheckpointId(9) });
}

#[test]
fn somebody_else_at_work_in_the_same_files_stands_in_the_way() {
    let mut play = gone_wrong();
    play.give(Input::CreateRun(Box::new(common::order(common::plain(), Terms::default()))));
    let other = ostler_engine::SessionId(2);
    assert_eq!(play.refused(restore(1, true)), Refusal::PlaceBusy { session: S, other });
    play.give(Input::Cancel(other));
    play.give(Input::LaunchFailed { session: other, launch: 1, message: String::new() });
    play.give(restore(1, true));
}

#[test]
fn nobody_begins_or_goes_on_in_files_that_are_being_exchanged() {
    let mut play = gone_wrong();
    let [asking, ended, new] = [2, 3, 4].map(ostler_engine::SessionId);
    let order = || Input::CreateRun(Box::new(common::order(common::plain(), Terms::default())));
    for other in [asking, ended] {
        play.give(order());
        let news = News::Started { pid: 1, began: 1 };
        play.give(Input::Shim { session: other, launch: 1, spool_seq: 1, news });
    }
    play.give(Input::Pause(asking));
    let news = News::Stopped { cause: "signal".to_owned(), processes: 1, confirmed: true };
    play.give(Input::Shim { session: asking, launch: 1, spool_seq: 2, news });
    play.give(Input::Cancel(ended));
    play.give(Input::ShimLost { session: ended, launch: 1 });
    play.give(restore(1, true));
    play.forget();
    play.give(order());
    play.give(Input::Continue(asking));
    play.give(Input::Resume { session: ended, prompt: Some("go on".to_owned()) });
    let page = play.page();
    assert!(!page.contains("→"), "not while files are exchanged: {page}");
    restored(&mut play, 2);
    let page = play.page();
    assert_eq!((page.matches("→ launch").count(), page.matches("→ go_on").count()), (2, 1), "{page}");
    assert!(play.book.world.sessions[&new].live().is_some());
    let resumed = &play.book.world.sessions[&ended];
    assert!(resumed.live().is_some() && resumed.messages[0].text == "go on");
}

/// Asked to end, an agent may still write, and what it writes between two files is in no checkpoint.
#[test]
fn nobody_is_ended_while_files_are_exchanged() {
    let mut play = kept(common::plain());
    play.asks(said::question("Which one?"));
    word(&mut play, 1, news(1));
    play.give(restore(1, false));
    play.forget();
    play.give(Input::Cancel(S));
    let page = play.page();
    assert!(page.contains("session.cancelled") && !page.contains("→"), "{page}");
    assert_eq!(play.status(), Status::Ending);
    restored(&mut play, 2);
    let page = play.page();
    assert!(page.contains("session.recalled launch=1 why=\"cancel\""), "{page}");
    assert!(page.contains("→ end"), "{page}");
}

#[test]
fn nor_is_anybody_else_in_the_same_files() {
    let mut play = gone_wrong();
    let [cancelled, failed, waiting] = [2, 3, 4].map(ostler_engine::SessionId);
    for other in [cancelled, failed, waiting] {
        play.give(Input::CreateRun(Box::new(common::order(common::claude(), Terms::default()))));
        let mut spool_seq = 0;
        let mut shim = |play: &mut Play, news: News| {
            spool_seq += 1;
            play.give(Input::Shim { session: other, launch: 1, spool_seq, news });
        };
        shim(&mut play, News::Started { pid: 1, began: 1 });
        for (at, item) in [(1, said::conversation("abc")), (2, said::error("what now", "notify_user"))] {
            shim(&mut play, News::Heard { item: said::at(at, item) });
        }
        shim(&mut play, News::Stopped { cause: "signal".to_owned(), processes: 1, confirmed: true });
    }
    play.give(restore(1, true));
    play.forget();
    play.give(Input::Cancel(cancelled));
    play.answer(3, "fail");
    // Long after whoever waits is ended for now.
    play.wait_ms(24 * 60 * 60_000);
    let page = play.page();
    assert!(!page.contains("→"), "not while files are exchanged: {page}");
    let due = play.book.world.next_deadline_ms();
    assert!(due.is_none_or(|at| at > play.now_ms), "nothing is due that cannot be done: {due:?}");
    restored(&mut play, 2);
    play.wait_ms(1);
    let page = play.page();
    for why in ["cancel", "failed", "rest"] {
        assert!(page.contains(&format!("why=\"{why}\"")), "{why}: {page}");
    }
    assert_eq!(page.matches("→ end").count(), 3, "{page}");
}

/// Somebody has started another agent in the worktree of a session.
#[test]
fn whoever_works_in_a_worktree_shares_its_files() {
    let mut new = common::order(common::plain(), Terms::default());
    new.order.checkpoints = Some(CheckpointTerms::default());
    new.worktrees = Some("/state/worktrees".to_owned());
    let mut play = Play::ordered(new);
    play.give(Input::Worktree {
        session: S,
        news: WorktreeNews::Made { base: "abc".to_owned(), target: Some("main".to_owned()) },
    });
    play.started();
    play.give(Input::Checkpoint(S));
    word(&mut play, 1, news(1));
    play.ended(0);
    let mut inside = |directory: &str| {
        let mut new = common::order(common::plain(), Terms::default());
        new.order.directory = directory.to_owned();
        play.give(Input::CreateRun(Box::new(new)));
    };
    inside("/repo");
    inside("/state/worktrees/s_11");
    inside("/state/worktrees/s_1/src");
    let other = ostler_engine::SessionId(4);
    assert_eq!(play.refused(restore(1, true)), Refusal::PlaceBusy { session: S, other });
    play.give(Input::Cancel(other));
    play.give(Input::LaunchFailed { session: other, launch: 1, message: String::new() });
    play.give(restore(1, true));
    play.forget();
    play.give(Input::Resume { session: other, prompt: None });
    assert!(!play.page().contains("→"), "not while files are exchanged");
    restored(&mut play, 2);
    assert!(play.page().contains("→ launch launch=2"));
}

/// Two sessions were there, and both are to go back: one after the other.
#[test]
fn two_restores_of_the_same_files_wait_for_each_other() {
    let mut play = gone_wrong();
    play.give(Input::CreateRun(Box::new(common::order(common::plain(), Terms::default()))));
    let other = ostler_engine::SessionId(2);
    play.give(Input::Cancel(other));
    play.give(Input::LaunchFailed { session: other, launch: 1, message: String::new() });
    play.give(Input::Checkpoint(other));
    play.give(Input::Checkpointed { session: other, checkpoint: CheckpointId(2), news: news(2) });
    play.give(restore(1, true));
    let under_way = Refusal::Restoring { session: S, checkpoint: CheckpointId(1) };
    assert_eq!(play.refused(restore(2, true)), under_way);
    assert_eq!(play.refused(restore(1, true)), under_way);
    assert_eq!(play.refused(Input::Checkpoint(S)), under_way);
    restored(&mut play, 3);
    play.give(restore(2, true));
}

#[test]
fn a_refused_restore_changes_nothing_but_what_is_known() {
    let mut play = gone_wrong();
    play.give(restore(1, true));
    let news = RestoreNews::NotRestored {
        before: CheckpointNews::Failed { message: "locked".to_owned() },
        message: "locked".to_owned(),
    };
    play.give(Input::Restored { session: S, checkpoint: CheckpointId(1), news });
    assert!(play.page().contains("checkpoint.not_restored"));
    play.give(Input::Resume { session: S, prompt: None });
    assert!(play.session().launches.last().expect("a launch").rewind.is_none());
}

#[test]
fn what_is_pruned_cannot_be_restored() {
    let mut play = gone_wrong();
    play.give(Input::Pruned { session: S, checkpoints: vec![CheckpointId(1)] });
    assert_eq!(play.refused(restore(1, true)), Refusal::NoCheckpoint { checkpoint: CheckpointId(1) });
}

#[test]
fn what_was_asked_after_it_was_not_asked() {
    let mut play = kept(common::claude());
    play.heard(said::conversation("abc"));
    play.asks(said::question("One?"));
    word(&mut play, 1, news(1));
    play.answer(1, "1");
    play.asks(said::question("Two?"));
    word(&mut play, 2, news(2));
    play.lost();
    play.give(restore(1, true));
    restored(&mut play, 3);
    play.give(Input::Resume { session: S, prompt: None });
    assert!(play.request(2).left && !play.request(1).left);
    assert_eq!(play.request(2).id, RequestId(2));
}

#[test]
fn who_gives_up_is_ended_when_what_it_did_is_kept() {
    let mut play = kept(common::plain());
    play.asks(said::error("the disk is broken", "checkpoint_and_fail"));
    expect![[r#"
        session.heard error launch=1
        request.opened error launch=1 request="q_1"
        checkpoint.wanted checkpoint="c_1" holds=true launch=1 requests=["q_1"] why="request"
            → checkpoint number=1
        request.settled answer={"answer":"fail"} brings=false by="end" request="q_1"
        session.stopped cause="signal" launch=1
    "#]]
    .assert_eq(&play.page());
    assert_eq!(play.status(), Status::Ending);
    word(&mut play, 1, news(1));
    expect![[r#"
        checkpoint.made checkpoint="c_1" kept={"anchor":"there","commit":"1","reference":"refs/c_1"}
        session.recalled launch=1 why="failed"
            → end grace_ms=10000 launch=1
    "#]]
    .assert_eq(&play.page());
    play.killed();
    assert_eq!(play.status(), Status::Failed);
}

#[test]
fn a_person_who_gives_up_does_not_lose_what_was_done_either() {
    let mut play = kept(common::plain());
    play.asks(said::error("what now", "notify_user"));
    play.answer(1, "fail");
    assert!(!play.page().contains("→ end"));
    // It may end before, or the word may be that there is none.
    play.killed();
    assert_eq!(play.status(), Status::Ending);
    word(&mut play, 1, CheckpointNews::Failed { message: "disk full".to_owned() });
    assert_eq!(play.status(), Status::Failed);
    assert!(!play.page().contains("→ end"));
}

#[test]
fn over_the_socket_too_and_to_cancel_is_to_cancel() {
    let mut play = kept(common::plain());
    play.calls("k1", &said::error("hopeless", "checkpoint_and_fail"));
    let page = play.page();
    assert!(page.contains("holds=true") && !page.contains("→ end"), "{page}");
    play.give(Input::Cancel(S));
    assert!(play.page().contains("→ end"));
    word(&mut play, 1, news(1));
    assert!(!play.page().contains("→ end"));
    play.killed();
    assert_eq!(play.status(), Status::Cancelled);
}
