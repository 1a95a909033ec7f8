//! The verifier of a gate: a session of the run whose verdict is read, and only read.

use ostler_engine::{
    Input, SessionId,
    input::News,
    phases::{
        CriterionResult, PhaseState, Round, Step, Verdict,
        problem::{Problem, VerifierFailure},
    },
    request::Ask,
    run::{Outcome, Reason},
    session::Status,
};

use super::{R, collected, complete, gate, kept, phases, state, step, working};
use crate::{
    common::{self, said},
    play::{Play, S},
};

const V: SessionId = SessionId(2);

fn verdict(passed: bool) -> Round {
    let criteria = vec![CriterionResult {
        id: "good".to_owned(),
        passed,
        evidence: "looked".to_owned(),
        files: Vec::new(),
    }];
    let verdict = Verdict { passed, criteria, summary: String::new() };
    Round { session: Some(V), verdict: Some(verdict), failure: None }
}

fn nonsense() -> Round {
    let failure = VerifierFailure::Invalid { message: "no JSON".to_owned() };
    Round { session: None, verdict: None, failure: Some(failure) }
}

/// A run whose verifier runs.
fn verifying() -> Play {
    let mut play = working(common::plain(), true);
    play.heard(complete(1));
    play.stopped();
    kept(&mut play, 2);
    collected(&mut play, gate(1, 1), Vec::new());
    ready(&mut play, 1);
    play
}

fn ready(play: &mut Play, round: u32) {
    let mut order = phases(play).plan.verification(1).expect("it has a verifier");
    "/place".clone_into(&mut order.directory);
    play.give(Input::VerifierReady { gate: gate(1, 1), round, order: Ok(Box::new(order)) });
}

/// Says something for a verifier.
fn verifier(play: &mut Play, session: SessionId, news: News) {
    let launch = play.book.world.sessions[&session].launches.last().expect("a launch");
    let (launch, spool_seq) = (launch.number, launch.spool_seq + 1);
    play.give(Input::Shim { session, launch, spool_seq, news });
}

fn ends(play: &mut Play, session: SessionId, code: i32) {
    verifier(play, session, News::Started { pid: 9, began: 1 });
    verifier(play, session, News::Ended { code: Some(code), signal: None, clean: true });
}

#[test]
fn a_verifier_is_a_session_of_the_run() {
    let mut play = verifying();
    assert_eq!(step(&play), Some(Step::Verifier { session: V }));
    assert_eq!((play.book.world.sessions[&V].directory(), play.status()), ("/place", Status::Checking));
    // What it says of phases is nothing.
    verifier(&mut play, V, News::Started { pid: 9, began: 1 });
    verifier(&mut play, V, News::Heard { item: said::at(1, complete(1)) });
    assert_eq!(phases(&play).current().map(|phase| phase.gates_count), Some(1));
    verifier(&mut play, V, News::Ended { code: Some(0), signal: None, clean: true });
    assert_eq!(step(&play), Some(Step::Verdict { session: V }));
    assert_eq!(play.book.world.runs[&R].outcome, None);
    play.give(Input::Verified { gate: gate(1, 1), session: V, round: verdict(true) });
    play.give(Input::Reported(gate(1, 1)));
    assert_eq!(state(&play, 1), PhaseState::Review);
}

#[test]
fn a_verdict_of_no_goes_back_to_the_agent() {
    let mut play = verifying();
    ends(&mut play, V, 0);
    play.give(Input::Verified { gate: gate(1, 1), session: V, round: verdict(false) });
    play.forget();
    play.give(Input::Reported(gate(1, 1)));
    let page = play.page();
    assert!(page.contains("it is good (looked)") && page.contains("why=\"rework\""), "{page}");
}

#[test]
fn without_a_verdict_nothing_passes_and_a_person_is_asked() {
    let mut play = verifying();
    ends(&mut play, V, 0);
    play.give(Input::Verified { gate: gate(1, 1), session: V, round: nonsense() });
    assert_eq!(step(&play), Some(Step::Place { round: 2 }));
    ready(&mut play, 2);
    let second = SessionId(3);
    ends(&mut play, second, 0);
    play.give(Input::Verified { gate: gate(1, 1), session: second, round: nonsense() });
    play.give(Input::Reported(gate(1, 1)));
    let Ask::Review(review) = &play.request(1).ask else { panic!("a review") };
    assert!(!review.passed, "no rework is spent on it");
    assert_eq!(phases(&play).begun[0].reworks, 0);
    assert!(matches!(review.problems[..], [Problem::Verifier { .. }]));
}

#[test]
fn a_verifier_that_takes_too_long_is_ended() {
    let mut play = verifying();
    verifier(&mut play, V, News::Started { pid: 9, began: 1 });
    play.forget();
    play.wait_ms(59_000);
    assert_eq!(play.page(), "");
    play.wait_ms(1_000);
    assert!(play.page().contains("→ end"));
    verifier(&mut play, V, News::Ended { code: None, signal: Some(15), clean: true });
    let outcome = play.book.world.sessions[&V].outcome.clone();
    assert_eq!(outcome, Some(Outcome::Failed { reason: Reason::VerifierOverdue }));
    assert_eq!(step(&play), Some(Step::Verdict { session: V }));
}

#[test]
fn a_lost_verifier_is_a_dead_one() {
    let mut play = verifying();
    verifier(&mut play, V, News::Started { pid: 9, began: 1 });
    play.give(Input::ShimLost { session: V, launch: 1 });
    assert_eq!(step(&play), Some(Step::Verdict { session: V }));
}

#[test]
fn to_cancel_ends_all_of_it() {
    let mut play = verifying();
    verifier(&mut play, V, News::Started { pid: 9, began: 1 });
    play.forget();
    play.give(Input::Cancel(S));
    play.killed();
    let page = play.page();
    assert!(page.contains("→ clear_gate") && page.contains("run.ended"), "{page}");
    assert_eq!(play.book.world.sessions[&V].cancelled_at_ms, Some(play.now_ms));
    verifier(&mut play, V, News::Ended { code: None, signal: Some(15), clean: true });
    assert_eq!(play.book.world.runs[&R].outcome, Some(Outcome::Cancelled));
    assert!(!play.page().contains("→ read_verdict"));
}
