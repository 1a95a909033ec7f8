//! Phases: an agent claims, the gate looks, a person decides. Nothing that an agent says does anything else.

use expect_test::expect;
use ostler_engine::{
    CheckpointId, Input, Refusal, RequestId, RunId, SessionId,
    answer::{Answer, Decision},
    checkpoint::{CheckpointTerms, Kept},
    input::{CheckpointNews, NewRun, News, RestoreNews},
    phases::{
        CheckResult, Collected, GateName, Junit, PhaseState, Phases, Step, Why,
        plan::{CommandKind, Criterion, GateCommand, PhasePlan, Plan, PlannedAgent, Rule, Verifier},
        problem::Problem,
    },
    request::{Ask, By},
    run::{Outcome, Reason, Terms},
    session::{LaunchCause, Status},
};
use serde_json::{Value, json};

use crate::{
    common::{self, said},
    play::{Play, S},
};

mod verifier;

const R: RunId = RunId(1);

fn complete(phase: u32) -> Value {
    let mut said = said::phase_complete(phase);
    said["name"] = json!("Planning");
    said["documents"] = json!(["a.md"]);
    said
}

fn phase_plan(name: &str, agent: usize, verifier: Option<usize>) -> PhasePlan {
    PhasePlan {
        name: name.to_owned(),
        prompt: format!("Do {name}."),
        agent,
        model: None,
        nonce: format!("nonce-{name}"),
        conversation: "00000000-0000-4000-8000-000000000002".to_owned(),
        artifacts: vec![Rule {
            glob: "a.md".to_owned(),
            min: 1,
            max: None,
            sections: Vec::new(),
            changed: true,
            placeholders: true,
        }],
        keep: Vec::new(),
        commands: Vec::new(),
        find_tests_ms_max: None,
        junit: Vec::new(),
        verifier: verifier.map(|agent| Verifier {
            agent,
            model: None,
            criteria: vec![Criterion { id: "good".to_owned(), text: "it is good".to_owned() }],
            time_ms_max: 60_000,
        }),
        rework_max: 3,
        questions_max: 3,
    }
}

fn phased(agent: ostler_agents::Agent, verifier: bool) -> NewRun {
    let mut new = common::order(agent.clone(), Terms::default());
    new.order.checkpoints = Some(CheckpointTerms { every_ms: None, ..CheckpointTerms::default() });
    let planned = |agent| PlannedAgent { agent, environment: "env/1".to_owned(), account: None };
    let plan = Plan {
        idea: "a shop".to_owned(),
        common: new.order.clone(),
        agents: vec![planned(agent), planned(common::plain())],
        phases: vec![
            phase_plan("Planning", 0, verifier.then_some(1)),
            phase_plan("Design", 0, verifier.then_some(1)),
        ],
        confine: true,
    };
    "Do Planning.".clone_into(&mut new.order.prompt);
    new.phases = Some(Box::new(plan));
    new
}

/// A run whose first phase is worked on.
fn working(agent: ostler_agents::Agent, verifier: bool) -> Play {
    let mut play = Play::ordered(phased(agent, verifier));
    kept(&mut play, 1);
    play.started();
    play.forget();
    play
}

fn kept(play: &mut Play, number: u64) {
    kept_for(play, S, number);
}

fn kept_for(play: &mut Play, session: SessionId, number: u64) {
    let kept = Kept {
        reference: format!("refs/c_{number}"),
        commit: format!("commit{number}"),
        anchor: None,
        left_out: Vec::new(),
        left_out_count: 0,
    };
    let (checkpoint, news) = (CheckpointId(number), CheckpointNews::Made { kept });
    play.give(Input::Checkpointed { session, checkpoint, news });
}

fn phases(play: &Play) -> &Phases {
    play.book.world.runs[&R].phases.as_deref().expect("it has phases")
}

fn state(play: &Play, number: u32) -> PhaseState {
    phases(play).state(number, play.book.world.runs[&R].outcome.is_some())
}

fn step(play: &Play) -> Option<Step> {
    phases(play).current()?.gate().map(|gate| gate.step.clone())
}

fn gate(phase: u32, gate: u32) -> GateName {
    GateName { run: R, phase, gate }
}

fn collected(play: &mut Play, name: GateName, problems: Vec<Problem>) {
    let tree = format!("tree{}-{}", name.phase, name.gate);
    let collected = Collected { tree, problems, ..Collected::default() };
    play.give(Input::Collected { gate: name, collected: Box::new(Ok(collected)) });
}

/// The agent says that it is through, and everything up to the report is done.
fn through(play: &mut Play, name: GateName, checkpoint: u64, problems: Vec<Problem>) {
    play.heard(complete(name.phase));
    play.stopped();
    kept(play, checkpoint);
    collected(play, name, problems);
    play.give(Input::Reported(name));
}

fn missing() -> Vec<Problem> {
    vec![Problem::Missing { path: "a.md".to_owned() }]
}

fn approve(request: u64, tree: &str) -> Input {
    let decision = Decision::Approve { tree: tree.to_owned(), insist: false };
    Input::Review { request: RequestId(request), decision }
}

fn changes(request: u64, words: &str) -> Input {
    Input::Review { request: RequestId(request), decision: Decision::Changes { words: words.to_owned() } }
}

#[test]
fn nothing_begins_before_it_is_kept_what_stood_there() {
    let mut play = Play::ordered(phased(common::plain(), false));
    assert_eq!((play.status(), state(&play, 1)), (Status::Checking, PhaseState::Preparing));
    assert!(!play.page().contains("→ launch"));
    kept(&mut play, 1);
    expect![[r#"
        checkpoint.made checkpoint="c_1" kept={"commit":"commit1","reference":"refs/c_1"}
        phase.based commit="commit1" phase=1
        session.launched cause="first" fresh=true launch=1 prompt="Do Planning."
            → launch launch=1
    "#]]
    .assert_eq(&play.page());
    assert_eq!(state(&play, 2), PhaseState::Waiting);
}

#[test]
fn nothing_begins_while_files_are_exchanged() {
    let mut play = Play::ordered(phased(common::plain(), false));
    play.give(Input::Pause(S));
    kept(&mut play, 1);
    play.give(Input::Restore { checkpoint: CheckpointId(1), conversation: false });
    play.forget();
    play.give(Input::Continue(S));
    assert!(!play.page().contains("session.launched"));
    let news = RestoreNews::NotRestored { before: CheckpointNews::Unchanged, message: "no room".to_owned() };
    play.give(Input::Restored { session: S, checkpoint: CheckpointId(1), news });
    assert!(play.page().contains("session.launched"));
}

#[test]
fn a_run_whose_beginning_cannot_be_kept_fails() {
    let mut play = Play::ordered(phased(common::plain(), false));
    let news = CheckpointNews::Failed { message: "disk full".to_owned() };
    play.give(Input::Checkpointed { session: S, checkpoint: CheckpointId(1), news });
    let outcome = play.book.world.runs[&R].outcome.clone();
    assert!(matches!(outcome, Some(Outcome::Failed { reason: Reason::NoBase { .. } })), "{outcome:?}");
}

#[test]
fn a_gate_from_its_announcement_to_the_next_phase() {
    let mut play = working(common::plain(), false);
    play.heard(complete(1));
    play.stopped();
    assert_eq!(play.status(), Status::Checking);
    kept(&mut play, 2);
    collected(&mut play, gate(1, 1), Vec::new());
    play.give(Input::Reported(gate(1, 1)));
    expect![[r#"
        session.heard phase_complete launch=1
        phase.announced announced={"documents":["a.md"],"name":"Planning","phase":1} gate=1 phase=1 why="said"
        checkpoint.wanted checkpoint="c_2" holds=true launch=1 requests=[] why="phase"
            → checkpoint number=2
        gate.moved gate=1 phase=1 step={"checkpoint":"c_2","step":"checkpoint"}
        session.stopped cause="signal" launch=1
        checkpoint.made checkpoint="c_2" kept={"commit":"commit2","reference":"refs/c_2"}
        gate.moved gate=1 phase=1 step={"commit":"commit2","step":"collect"}
            → collect gate={"gate":1,"phase":1,"run":"r_1"}
        gate.found found={"commands":[],"extra":[],"files":[],"files_count":0,"found":"collected","problems":[],"tree":"tree1-1"} gate=1 phase=1
        gate.found found={"found":"judged","problems":[]} gate=1 phase=1
        gate.moved gate=1 phase=1 step={"step":"report"}
            → report gate={"gate":1,"phase":1,"run":"r_1"}
        request.opened review launch=1 request="q_1"
        gate.moved gate=1 phase=1 step={"request":"q_1","step":"review"}
    "#]]
    .assert_eq(&play.page());
    assert_eq!((play.status(), state(&play, 1)), (Status::WaitingReview, PhaseState::Review));
    play.give(approve(1, "tree1-1"));
    expect![[r#"
        request.settled answer={"answer":"tree_approved","insisted":false,"tree":"tree1-1"} brings=false by="person" request="q_1"
        phase.approved commit="commit2" gate=1 insisted=false phase=1 tree="tree1-1"
        input.closed launch=1
            → close_input launch=1
        session.released launch=1
            → go_on after=3 launch=1
    "#]]
    .assert_eq(&play.page());
    assert_eq!(state(&play, 1), PhaseState::Ending);
    play.shim(News::WentOn);
    play.ended(0);
    let page = play.page();
    for line in
        ["session.finished outcome={\"outcome\":\"completed\",\"verified\":true}", "phase.started phase=2"]
    {
        assert!(page.contains(line), "{page}");
    }
    assert!(page.contains("phase.based commit=\"commit2\" phase=2") && page.contains("→ launch"), "{page}");
    assert!(!page.contains("run.ended"), "{page}");
    assert_eq!([state(&play, 1), state(&play, 2)], [PhaseState::Approved, PhaseState::Working]);
    let second = &play.book.world.sessions[&SessionId(2)];
    assert_eq!(
        (second.order.prompt.as_str(), second.order.nonce.as_deref()),
        ("Do Design.", Some("nonce-Design"))
    );
}

#[test]
fn after_the_last_phase_the_run_is_done() {
    let mut new = phased(common::plain(), false);
    new.phases.as_mut().expect("it has phases").phases.truncate(1);
    let mut play = Play::ordered(new);
    kept(&mut play, 1);
    play.started();
    through(&mut play, gate(1, 1), 2, Vec::new());
    play.give(approve(1, "tree1-1"));
    assert_eq!(play.book.world.runs[&R].outcome, None);
    // It does not end by itself.
    play.wait_ms(10_000);
    assert!(play.page().contains("why=\"dismissed\""));
    play.killed();
    assert_eq!(play.book.world.runs[&R].outcome, Some(Outcome::Completed { verified: true }));
    assert!(matches!(play.refused(Input::Resume { session: S, prompt: None }), Refusal::NotNow { .. }));
}

/// The time of a run passes in all of its phases, and at its gates; not while a person has it.
#[test]
fn time_is_that_of_the_run_and_is_asked_about_when_an_agent_would_go_on() {
    let mut new = phased(common::plain(), false);
    new.terms.time_ms_max = Some(100_000);
    let mut play = Play::ordered(new);
    kept(&mut play, 1);
    play.started();
    play.wait_ms(60_000);
    play.heard(complete(1));
    play.stopped();
    kept(&mut play, 2);
    play.wait_ms(30_000);
    collected(&mut play, gate(1, 1), Vec::new());
    play.give(Input::Reported(gate(1, 1)));
    play.wait_ms(500_000);
    play.forget();
    play.give(approve(1, "tree1-1"));
    play.shim(News::WentOn);
    play.ended(0);
    assert!(!play.page().contains("time_over launch"), "some is left");
    let second = &play.book.world.sessions[&SessionId(2)];
    assert_eq!(second.time_over_at_ms.map(|at| at - second.created_at_ms), Some(10_000));
}

#[test]
fn a_gate_is_gone_through_although_the_time_is_over() {
    let mut new = phased(common::claude(), true);
    new.terms.time_ms_max = Some(100_000);
    let mut play = Play::ordered(new);
    kept(&mut play, 1);
    play.started();
    play.heard(json!({ "kind": "agent_session", "id": "abc", "model": null }));
    play.heard(complete(1));
    play.stopped();
    kept(&mut play, 2);
    play.wait_ms(200_000);
    assert!(!play.page().contains("request.opened"), "nobody is asked while it stands still");
    collected(&mut play, gate(1, 1), missing());
    play.give(Input::Reported(gate(1, 1)));
    play.wait_ms(1);
    let page = play.page();
    assert!(page.contains("phase.returned") && page.contains("request.opened time_over"), "{page}");
    assert_eq!(play.request(1).ask, Ask::TimeOver { time_ms_max: 100_000 });
    play.answer(1, "raise 10m");
    assert!(play.page().contains("session.extended"));
}

#[test]
fn what_fails_goes_back_three_times_and_then_to_a_person() {
    let mut play = working(common::claude(), false);
    play.heard(json!({ "kind": "agent_session", "id": "abc", "model": null }));
    for attempt in 1..=3 {
        play.forget();
        through(&mut play, gate(1, attempt), u64::from(attempt) + 1, missing());
        let page = play.page();
        assert!(page.contains("phase.returned") && page.contains("a.md is missing."), "{page}");
        assert!(
            page.contains("why=\"rework\"") && page.contains("→ deliver") && page.contains("→ go_on"),
            "{page}"
        );
        assert!(!page.contains("request.opened"), "{page}");
        let key = format!("m_{attempt}");
        play.took(&key);
        play.shim(News::WentOn);
        play.read(&key);
    }
    through(&mut play, gate(1, 4), 5, missing());
    let page = play.page();
    assert!(page.contains("request.opened review") && !page.contains("phase.returned"), "{page}");
    let Ask::Review(review) = &play.request(1).ask else { panic!("a review") };
    assert!(!review.passed && review.problems == missing());
    assert_eq!(play.refused(approve(1, "tree1-4")), Refusal::GateFailed { request: RequestId(1) });
    play.give(changes(1, "write it yourself"));
    let page = play.page();
    assert!(page.contains("write it yourself") && page.contains("→ deliver"), "{page}");
    assert_eq!(phases(&play).current().map(|phase| phase.reworks), Some(0), "the count begins again");
}

#[test]
fn who_hears_only_when_it_starts_ends_its_turn_first() {
    let mut play = working(common::codex(), false);
    play.heard(said::conversation("abc"));
    play.forget();
    through(&mut play, gate(1, 1), 2, missing());
    let page = play.page();
    assert!(page.contains("→ go_on") && !page.contains("→ end") && !page.contains("→ deliver"), "{page}");
    play.shim(News::WentOn);
    play.heard(said::end("success"));
    play.ended(0);
    let launch = play.session().launches.last().expect("another launch");
    assert_eq!((launch.number, launch.cause, launch.fresh), (2, LaunchCause::Bring, false));
    assert!(launch.prompt.contains("a.md is missing."), "{}", launch.prompt);
    through(&mut play, gate(1, 2), 3, Vec::new());
    // After an approval its conversation may end, and nothing is started again.
    play.started();
    play.give(approve(1, "tree1-2"));
    play.ended(0);
    assert_eq!(state(&play, 1), PhaseState::Approved);
}

#[test]
fn who_insists_may_approve_what_failed() {
    let mut new = phased(common::plain(), false);
    new.phases.as_mut().expect("it has phases").phases[0].rework_max = 0;
    let mut play = Play::ordered(new);
    kept(&mut play, 1);
    play.started();
    through(&mut play, gate(1, 1), 2, missing());
    let decision = Decision::Approve { tree: "tree1-1".to_owned(), insist: true };
    play.give(Input::Review { request: RequestId(1), decision });
    let approved = phases(&play).begun[0].approved.clone().expect("it is approved");
    assert!(approved.insisted && approved.tree == "tree1-1");
}

#[test]
fn a_wrong_number_is_told_to_the_agent() {
    let mut play = working(common::plain(), false);
    play.heard(complete(3));
    play.stopped();
    play.give(Input::Reported(gate(1, 1)));
    let page = play.page();
    assert!(!page.contains("checkpoint.wanted") && page.contains("phase.returned"), "{page}");
    assert!(page.contains("Phase 3 was announced") && page.contains("→ go_on"), "{page}");
    // A program that reads lines gets one line.
    let text = play.session().messages[0].text.clone();
    let line: Value = serde_json::from_str(&text).expect("a line of JSON");
    assert_eq!((line["type"].as_str(), line["phase"].as_u64()), (Some("phase_returned"), Some(1)));
    assert_eq!(state(&play, 1), PhaseState::Working);
}

#[test]
fn who_ends_without_a_word_is_not_done() {
    let mut play = working(common::plain(), false);
    play.ended(0);
    assert_eq!(play.session().outcome, None);
    play.give(Input::Reported(gate(1, 1)));
    let page = play.page();
    assert!(page.contains("why=\"ended\"") && page.contains("not_announced"), "{page}");
    let launch = play.session().launches.last().expect("another launch");
    assert_eq!((launch.number, launch.cause), (2, LaunchCause::Rework));
    assert!(launch.prompt.starts_with("Do Planning.\n\nPhase 1 is not complete yet."), "{}", launch.prompt);
    // The line stands inside of a sentence: to repeat it is not to say it.
    assert!(launch.prompt.lines().all(|line| line != "=== PHASE 1 COMPLETE ==="));
}

#[test]
fn who_has_not_read_what_was_wrong_is_started_again_with_it() {
    let mut play = working(common::plain(), false);
    through(&mut play, gate(1, 1), 2, missing());
    play.took("m_1");
    play.shim(News::WentOn);
    play.forget();
    play.ended(0);
    let page = play.page();
    assert!(page.contains("why=\"unread\"") && page.contains("cause=\"rework\""), "{page}");
    assert!(page.contains("a.md is missing."), "{page}");
    let phase = phases(&play).current().expect("a phase");
    assert_eq!((phase.reworks, phase.gates_count, &phase.words), (1, 1, &None));
    // Once: who goes on like that would be started for ever.
    play.started();
    play.give(Input::Send { session: S, text: "And the other one.".to_owned(), printed: None });
    play.forget();
    play.ended(0);
    let page = play.page();
    assert!(page.contains("why=\"ended\"") && !page.contains("unread"), "{page}");
}

#[test]
fn what_a_person_wanted_is_said_again_to_who_has_not_read_it() {
    let mut play = working(common::plain(), false);
    through(&mut play, gate(1, 1), 2, Vec::new());
    play.give(changes(1, "the cart is missing"));
    play.took("m_1");
    play.shim(News::WentOn);
    play.ended(0);
    let launch = play.session().launches.last().expect("another launch");
    assert_eq!(launch.number, 2);
    assert!(launch.prompt.contains("the cart is missing"), "{}", launch.prompt);
}

#[test]
fn a_gate_waits_for_what_is_open_and_begins_once() {
    let mut play = working(common::plain(), false);
    play.heard(said::question("Which one?"));
    play.heard(complete(1));
    play.heard(complete(1));
    play.stopped();
    assert_eq!(step(&play), Some(Step::Waiting));
    assert_eq!(play.status(), Status::WaitingInput);
    play.answer(1, "this one");
    // The one at the question shows the same tree.
    assert_eq!(step(&play), Some(Step::Checkpoint { checkpoint: CheckpointId(2) }));
    assert_eq!(phases(&play).current().map(|phase| phase.gates_count), Some(1));
    kept(&mut play, 2);
    assert_eq!(step(&play), Some(Step::Collect { commit: "commit2".to_owned() }));
    assert!(!play.page().contains("→ go_on"));
}

#[test]
fn the_fourth_question_warns_once() {
    let mut play = working(common::plain(), false);
    for number in 1..=5_u64 {
        play.asks(said::question(&format!("Question {number}?")));
        kept(&mut play, number + 1);
        play.answer(number, "yes");
        play.took(&format!("q_{number}"));
        play.shim(News::WentOn);
        play.read(&format!("q_{number}"));
        let page = play.page();
        assert_eq!(page.contains("phase.warned"), number == 4, "{number}: {page}");
    }
    assert_eq!(phases(&play).current().map(|phase| phase.questions), Some(5));
}

#[test]
fn an_approval_is_for_the_tree_that_was_shown() {
    let mut play = working(common::plain(), false);
    through(&mut play, gate(1, 1), 2, Vec::new());
    let shown = Some("tree1-1".to_owned());
    let refused = Refusal::TreeNotShown { request: RequestId(1), tree: shown };
    assert_eq!(play.refused(approve(1, "tree1-2")), refused);
    play.forget();
    play.give(Input::TreeChanged(RequestId(1)));
    let settled = play.request(1).settled.clone().expect("it is closed");
    assert_eq!((settled.by, settled.answer), (By::Change, Answer::Nothing));
    assert!(matches!(play.refused(approve(1, "tree1-1")), Refusal::Settled { .. }));
    assert_eq!(phases(&play).current().and_then(|it| it.gate()).map(|it| it.why), Some(Why::Changed));
    kept(&mut play, 3);
    collected(&mut play, gate(1, 2), Vec::new());
    play.give(Input::Reported(gate(1, 2)));
    play.give(approve(2, "tree1-2"));
    let approved = phases(&play).begun[0].approved.clone().expect("it is approved");
    assert_eq!((approved.tree.as_str(), approved.commit.as_str()), ("tree1-2", "commit3"));
}

#[test]
fn an_answer_approves_nothing() {
    let mut play = working(common::plain(), false);
    through(&mut play, gate(1, 1), 2, Vec::new());
    for word in ["approve", "1", "yes"] {
        assert!(matches!(play.refused(crate::play::answer(1, word)), Refusal::NotAnAnswer { .. }));
    }
    assert!(play.request(1).is_open());
}

#[test]
fn a_rejection_ends_the_run() {
    let mut play = working(common::plain(), false);
    through(&mut play, gate(1, 1), 2, Vec::new());
    let decision = Decision::Reject { words: Some("no shop".to_owned()) };
    play.give(Input::Review { request: RequestId(1), decision });
    play.killed();
    let reason = Reason::Rejected { phase: 1, message: Some("no shop".to_owned()) };
    assert_eq!(play.book.world.runs[&R].outcome, Some(Outcome::Failed { reason }));
    assert_eq!(state(&play, 1), PhaseState::Ended);
}

#[test]
fn a_rejection_waits_until_what_was_done_is_kept() {
    let mut play = working(common::claude(), false);
    play.heard(said::conversation("abc"));
    play.heard(complete(1));
    kept(&mut play, 2);
    play.now_ms += 1;
    play.stopped();
    collected(&mut play, gate(1, 1), Vec::new());
    play.give(Input::Reported(gate(1, 1)));
    play.forget();
    play.wait_ms(5 * 60_000);
    let page = play.page();
    assert!(page.contains("why=\"rest\"") && !page.contains("→ end"), "{page}");
    play.give(Input::Review { request: RequestId(1), decision: Decision::Reject { words: None } });
    let page = play.page();
    assert!(!page.contains("→ end"), "{page}");
    let news = CheckpointNews::Unchanged;
    play.give(Input::Checkpointed { session: S, checkpoint: CheckpointId(3), news });
    assert!(play.page().contains("→ end"), "{}", play.page());
    play.killed();
    let reason = Reason::Rejected { phase: 1, message: None };
    assert_eq!(play.book.world.runs[&R].outcome, Some(Outcome::Failed { reason }));
}

#[test]
fn to_look_again_is_another_gate() {
    let mut play = working(common::plain(), false);
    through(&mut play, gate(1, 1), 2, Vec::new());
    play.give(Input::Review { request: RequestId(1), decision: Decision::Again });
    let news = CheckpointNews::Unchanged;
    play.give(Input::Checkpointed { session: S, checkpoint: CheckpointId(3), news });
    assert_eq!(step(&play), Some(Step::Collect { commit: "commit2".to_owned() }));
}

fn command(run: &str) -> GateCommand {
    GateCommand { run: run.to_owned(), kind: CommandKind::Tests, time_ms_max: 1000, in_project: false }
}

fn result(code: i32, junit: Option<Junit>) -> CheckResult {
    let (run, kind, output) = ("test".to_owned(), CommandKind::Tests, "said".to_owned());
    CheckResult { run, kind, code, overdue_ms: None, time_ms: 5, output, junit }
}

/// What a gate says to these commands, one after the other.
fn check(results: &[CheckResult]) -> Vec<Problem> {
    let mut play = working(common::plain(), false);
    play.heard(complete(1));
    play.stopped();
    kept(&mut play, 2);
    let commands = results.iter().map(|it| command(&it.run)).collect();
    let collected = Collected { tree: "t".to_owned(), commands, ..Collected::default() };
    play.give(Input::Collected { gate: gate(1, 1), collected: Box::new(Ok(collected)) });
    for (index, result) in (0_u32..).zip(results) {
        assert_eq!(step(&play), Some(Step::Check { index }));
        play.give(Input::Checked { gate: gate(1, 1), index, result: result.clone() });
    }
    assert_eq!(step(&play), Some(Step::Report));
    phases(&play).begun[0].gates[0].problems.clone()
}

#[test]
fn commands_are_believed_only_as_far_as_they_go() {
    let junit =
        |tests, failures| Junit { tests, failures, failed: vec!["one".to_owned()], ..Junit::default() };
    assert_eq!(check(&[result(0, None), result(0, Some(junit(3, 0)))]), []);
    let run = "test".to_owned();
    let failed = Problem::CheckFailed { run: run.clone(), code: 1, output: "said".to_owned() };
    // All of them are run, whatever the first says.
    assert_eq!(check(&[result(1, None), result(0, None), result(1, None)]), [failed.clone(), failed]);
    let failed = Problem::TestsFailed { run: run.clone(), failures: 1, failed: "one".to_owned() };
    assert_eq!(check(&[result(0, Some(junit(3, 1)))]), [failed]);
    assert_eq!(check(&[result(0, Some(junit(0, 0)))]), [Problem::NoTestsRun { run: run.clone() }]);
    let skipped = |skipped| Junit { skipped, ..junit(3, 0) };
    assert_eq!(check(&[result(0, Some(skipped(2)))]), []);
    assert_eq!(check(&[result(0, Some(skipped(3)))]), [Problem::NoTestsRun { run: run.clone() }]);
    let late = CheckResult { overdue_ms: Some(1000), ..result(137, None) };
    assert_eq!(check(&[late]), [Problem::CheckOverdue { run, time_ms_max: 1000 }]);
}

#[test]
fn a_worker_that_is_lost_at_the_gate_is_not_missed() {
    let mut play = working(common::plain(), false);
    play.heard(complete(1));
    play.stopped();
    play.lost();
    assert_eq!(play.status(), Status::Checking);
    kept(&mut play, 2);
    collected(&mut play, gate(1, 1), Vec::new());
    play.give(Input::Reported(gate(1, 1)));
    play.give(changes(1, "more of it"));
    let launch = play.session().launches.last().expect("a launch");
    assert_eq!(launch.number, 2);
    assert!(launch.prompt.contains("more of it"), "{}", launch.prompt);
}

#[test]
fn one_directory_has_one_run_at_a_time() {
    let mut play = working(common::plain(), false);
    let again = Input::CreateRun(Box::new(phased(common::plain(), false)));
    assert_eq!(play.refused(again), Refusal::PhasesBusy { run: R });
    let mut outside = phased(common::plain(), false);
    outside.git = false;
    assert!(matches!(play.refused(Input::CreateRun(Box::new(outside))), Refusal::NotGit { .. }));
}

#[test]
fn a_rate_limit_in_the_middle_is_no_attempt() {
    let mut play = working(common::plain(), false);
    play.heard(said::error("Rate limit exceeded", "pause_and_retry"));
    play.stopped();
    kept(&mut play, 2);
    assert_eq!(play.status(), Status::Parked);
    play.wait_ms(5 * 60_000);
    play.shim(News::WentOn);
    through(&mut play, gate(1, 1), 3, Vec::new());
    assert_eq!((state(&play, 1), phases(&play).begun[0].reworks), (PhaseState::Review, 0));
}

#[test]
fn outside_of_a_phases_run_it_is_only_recorded() {
    let mut play = Play::running(common::plain());
    play.heard(complete(1));
    play.stopped();
    let page = play.page();
    assert!(!page.contains("phase.announced") && page.contains("→ go_on"), "{page}");
}
