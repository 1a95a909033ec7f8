//! A gate: what stands there is kept, collected, checked and verified, and a report is made of it. Each step is known by
//! the report of the one before; one that comes twice, or too late, changes nothing.

use alloc::{boxed::Box, string::String, vec::Vec};

use super::{Maker, requests::OSTLER};
use crate::{
    action::Deed,
    checkpoint::{CheckpointState, Skip, Why as Keep},
    event::Event,
    id::{CheckpointId, SessionId},
    phases::{
        CheckResult, Collected, Found, Gate, GateName, ROUNDS_MAX, Return, Round, Step, Why,
        plan::CommandKind,
        problem::{Problem, VerifierFailure},
    },
    request::{Ask, Review},
    session::Order,
};

/// How much of what a command said stands in a problem.
const OUTPUT_CHARS_MAX: usize = 2_000;

impl Maker<'_> {
    /// A gate that the world knows.
    pub(super) fn gate(&self, name: GateName) -> Option<&Gate> {
        let phases = self.desk.get(name.run)?.phases.as_deref()?;
        phases.current().filter(|phase| phase.number == name.phase)?.gate_at(name.gate)
    }

    pub(super) fn step_of(&self, name: GateName) -> Option<&Step> {
        self.gate(name).map(|gate| &gate.step)
    }

    /// The session that works on the phase of a gate, if the gate is still gone through.
    fn worker(&self, name: GateName) -> Option<SessionId> {
        let run = self.desk.get(name.run).filter(|run| run.outcome.is_none())?;
        let phase = run.phases.as_deref()?.current().filter(|phase| phase.number == name.phase)?;
        phase.gate().filter(|gate| gate.number == name.gate)?;
        Some(phase.session)
    }

    pub(super) fn move_gate(&mut self, id: SessionId, name: GateName, step: Step) {
        self.emit(id, Event::GateMoved { phase: name.phase, gate: name.gate, step });
    }

    fn find_at_gate(&mut self, id: SessionId, name: GateName, found: Found) {
        self.emit(id, Event::GateFound { phase: name.phase, gate: name.gate, found });
    }

    /// The steps that wait for something else than a report.
    pub(super) fn advance_gate(&mut self, id: SessionId) {
        let Some(name) = self.gate_of(id) else { return };
        match self.step_of(name) {
            Some(Step::Waiting) if !self.is_blocked(id) => self.enter_gate(id, name),
            Some(Step::Checkpoint { checkpoint }) => self.keep_gate(id, name, *checkpoint),
            _ => {}
        }
    }

    fn enter_gate(&mut self, id: SessionId, name: GateName) {
        let gate = self.gate(name).expect("it was found there");
        let is_wrong = gate.announced.as_ref().is_some_and(|it| it.phase != name.phase);
        let is_unsaid = gate.announced.is_none();
        let session = self.session(id);
        if is_wrong || is_unsaid || session.checkpoints.off {
            self.judge_gate(id, name, None);
            return;
        }
        // One that holds may be under way for a question that came with it: the tree stands still, so it is the same.
        let under_way = session.checkpoints.pending.iter().find(|it| it.holds).map(|it| it.checkpoint);
        let checkpoint = under_way.unwrap_or_else(|| {
            let checkpoint = self.want_checkpoint(id, Keep::Phase, true);
            self.act(id, Deed::Checkpoint { number: checkpoint.0 });
            checkpoint
        });
        self.move_gate(id, name, Step::Checkpoint { checkpoint });
    }

    fn keep_gate(&mut self, id: SessionId, name: GateName, checkpoint: CheckpointId) {
        let session = self.session(id);
        if session.checkpoints.pending.iter().any(|it| it.checkpoint == checkpoint) {
            return;
        }
        let last = session.checkpoints.last.as_ref().map(|last| last.commit.clone());
        let commit = match self.desk.get(checkpoint).map(|it| &it.state) {
            Some(CheckpointState::Made { kept, .. }) => Ok(kept.commit.clone()),
            Some(CheckpointState::Skipped { reason: Skip::Unchanged { .. }, .. }) => {
                last.ok_or_else(|| String::from("the checkpoint before is gone"))
            }
            Some(CheckpointState::Skipped { reason: Skip::Failed { message }, .. }) => Err(message.clone()),
            _ => Err(String::from("there is no checkpoint")),
        };
        match commit {
            Ok(commit) => {
                self.move_gate(id, name, Step::Collect { commit });
                self.act(id, Deed::Collect { gate: name });
            }
            Err(message) => self.judge_gate(id, name, Some(Problem::NotCheckpointed { message })),
        }
    }

    pub(super) fn collected(&mut self, name: GateName, collected: &Result<Collected, String>) {
        let Some(id) = self.worker(name) else { return };
        if !matches!(self.step_of(name), Some(Step::Collect { .. })) {
            return;
        }
        match collected {
            Ok(collected) => {
                self.find_at_gate(id, name, Found::Collected(Box::new(collected.clone())));
                self.check_next(id, name, 0);
            }
            Err(message) => {
                let message = message.clone();
                self.judge_gate(id, name, Some(Problem::NotCollected { message }));
            }
        }
    }

    fn check_next(&mut self, id: SessionId, name: GateName, index: u32) {
        let commands = self.gate(name).and_then(|gate| gate.collected.as_ref()).map(|it| it.commands.len());
        if commands.is_some_and(|count| (index as usize) < count) {
            self.move_gate(id, name, Step::Check { index });
            self.act(id, Deed::GateCheck { gate: name, index });
        } else {
            self.verify(id, name);
        }
    }

    pub(super) fn checked(&mut self, name: GateName, index: u32, result: &CheckResult) {
        let Some(id) = self.worker(name) else { return };
        if self.step_of(name) != Some(&Step::Check { index }) {
            return;
        }
        self.find_at_gate(id, name, Found::Checked(result.clone()));
        self.check_next(id, name, index + 1);
    }

    /// A model is not asked to look at what is known to be wrong.
    fn verify(&mut self, id: SessionId, name: GateName) {
        let phases = self.phases_of(id).expect("its gate is there");
        let is_wanted = phases.current_plan().is_some_and(|plan| plan.verifier.is_some());
        if is_wanted && self.problems(name).is_empty() {
            self.make_place(id, name, 1);
        } else {
            self.judge_gate(id, name, None);
        }
    }

    fn make_place(&mut self, id: SessionId, name: GateName, round: u32) {
        self.move_gate(id, name, Step::Place { round });
        self.act(id, Deed::Verify { gate: name, round });
    }

    pub(super) fn verifier_ready(&mut self, name: GateName, round: u32, order: &Result<Box<Order>, String>) {
        let Some(id) = self.worker(name) else { return };
        if self.step_of(name) != Some(&Step::Place { round }) {
            return;
        }
        match order {
            Ok(order) => {
                let verifier = self.create_session(id, (**order).clone());
                self.move_gate(id, name, Step::Verifier { session: verifier });
                self.advance(verifier);
            }
            Err(message) => {
                let failure = VerifierFailure::NoPlace { message: message.clone() };
                let round = Round { session: None, verdict: None, failure: Some(failure) };
                self.end_round(id, name, round);
            }
        }
    }

    pub(super) fn verified(&mut self, name: GateName, session: SessionId, round: &Round) {
        let Some(id) = self.worker(name) else { return };
        if self.step_of(name) == Some(&Step::Verdict { session }) {
            self.end_round(id, name, round.clone());
        }
    }

    /// Who gives no verdict is asked once more, or rather another one is.
    fn end_round(&mut self, id: SessionId, name: GateName, round: Round) {
        let has_verdict = round.verdict.is_some() && round.failure.is_none();
        self.find_at_gate(id, name, Found::Verified(round));
        let rounds = self.gate(name).map_or(0, |gate| gate.rounds.len());
        let rounds = u32::try_from(rounds).unwrap_or(u32::MAX);
        if has_verdict || rounds >= ROUNDS_MAX {
            self.judge_gate(id, name, None);
        } else {
            self.make_place(id, name, rounds + 1);
        }
    }

    /// Everything is known that will be. A report is made in any case.
    fn judge_gate(&mut self, id: SessionId, name: GateName, problem: Option<Problem>) {
        let mut problems = self.problems(name);
        problems.extend(problem);
        let gate = self.gate(name).expect("it was found there");
        match &gate.announced {
            None if gate.why == Why::Ended => {
                problems.insert(0, Problem::NotAnnounced { reason: self.reason_ended(id) });
            }
            Some(it) if it.phase != name.phase => {
                problems.insert(0, Problem::WrongNumber { announced: it.phase });
            }
            _ => {}
        }
        if problems.is_empty() && gate.collected.is_none() {
            let message = String::from("there is no repository");
            problems.push(Problem::NotCheckpointed { message });
        }
        self.find_at_gate(id, name, Found::Judged { problems });
        self.move_gate(id, name, Step::Report);
        self.act(id, Deed::Report { gate: name });
    }

    /// What a gate has found so far.
    fn problems(&self, name: GateName) -> Vec<Problem> {
        let Some(gate) = self.gate(name) else { return Vec::new() };
        let mut problems: Vec<Problem> =
            gate.collected.iter().flat_map(|collected| collected.problems.clone()).collect();
        let before = self.tests_before(name);
        for result in &gate.checks {
            problems.extend(problem_of(result, before));
        }
        let Some(round) = gate.rounds.last() else { return problems };
        if let Some(failure) = &round.failure {
            problems.push(Problem::Verifier { failure: failure.clone() });
        }
        let phases = self.desk.get(name.run).and_then(|run| run.phases.as_deref());
        let verifier = phases.and_then(|it| it.plan.phase(name.phase)?.verifier.as_ref());
        let text = |id: &str| {
            let mut criteria = verifier.into_iter().flat_map(|it| &it.criteria);
            criteria.find(|it| it.id == id).map(|it| it.text.clone()).unwrap_or_default()
        };
        let failed = round.verdict.iter().flat_map(|it| &it.criteria).filter(|it| !it.passed);
        problems.extend(failed.map(|it| Problem::Criterion {
            id: it.id.clone(),
            text: text(&it.id),
            evidence: it.evidence.clone(),
        }));
        problems
    }

    /// The most tests that an earlier gate of the phase has seen.
    fn tests_before(&self, name: GateName) -> Option<u64> {
        let phases = self.desk.get(name.run)?.phases.as_deref()?;
        let earlier = phases.current()?.gates.iter().filter(|gate| gate.number < name.gate);
        earlier.flat_map(|gate| &gate.checks).filter_map(|it| Some(it.junit.as_ref()?.tests)).max()
    }

    /// The report is written: back to the agent, or to a person.
    pub(super) fn reported(&mut self, name: GateName) {
        let Some(id) = self.worker(name) else { return };
        if self.step_of(name) != Some(&Step::Report) {
            return;
        }
        let gate = self.gate(name).expect("it was found there");
        let is_for_agent = !gate.problems.is_empty() && gate.problems.iter().all(Problem::is_for_agent);
        let reworks = self.phase_of(id).map_or(0, |phase| phase.reworks);
        let max = self.phases_of(id).and_then(|it| it.current_plan()).map_or(0, |plan| plan.rework_max);
        if is_for_agent && reworks < max {
            self.give_back(id, Return::Rework, None);
        } else {
            self.ask_for_review(id, name);
        }
    }

    fn ask_for_review(&mut self, id: SessionId, name: GateName) {
        let gate = self.gate(name).expect("it was found there");
        let plan = self.phases_of(id).and_then(|it| it.plan.phase(name.phase));
        let review = Review {
            phase: name.phase,
            name: plan.map(|plan| plan.name.clone()).unwrap_or_default(),
            gate: name.gate,
            tree: gate.tree().map(String::from),
            commit: gate.commit.clone(),
            passed: gate.passed == Some(true),
            problems: gate.problems.clone(),
        };
        let launch = self.session(id).launches.last().map_or(0, |launch| launch.number);
        let request = self.open(id, launch, Ask::Review(review), OSTLER, None);
        self.move_gate(id, name, Step::Review { request });
    }
}

/// What is wrong with what a command said.
fn problem_of(result: &CheckResult, tests_before: Option<u64>) -> Option<Problem> {
    let run = result.run.clone();
    if let Some(time_ms_max) = result.overdue_ms {
        return Some(Problem::CheckOverdue { run, time_ms_max });
    }
    let junit = result.junit.as_ref().filter(|_| result.kind == CommandKind::Tests);
    if let Some(junit) = junit.filter(|it| it.failures + it.errors > 0) {
        let failures = junit.failures + junit.errors;
        return Some(Problem::TestsFailed { run, failures, failed: junit.failed.join(", ") });
    }
    if result.code != 0 {
        let chars = result.output.chars().count();
        let output = result.output.chars().skip(chars.saturating_sub(OUTPUT_CHARS_MAX)).collect();
        return Some(Problem::CheckFailed { run, code: result.code, output });
    }
    let junit = junit?;
    let tests = junit.tests;
    // Those that were left out have shown nothing.
    if tests <= junit.skipped {
        return Some(Problem::NoTestsRun { run });
    }
    let before = tests_before.filter(|before| *before > tests)?;
    Some(Problem::FewerTests { run, tests, before })
}
