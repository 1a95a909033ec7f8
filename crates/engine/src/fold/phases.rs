//! What the events of phases change.

use super::Place;
use crate::{
    event::Event,
    phases::{Approved, Found, Gate, Phase, Return, Step},
    world::StagedWorld,
};

/// Whether an event is about a phase of its session.
pub(super) fn is_of_phase(event: &Event) -> bool {
    matches!(
        event,
        Event::PhaseStarted { .. }
            | Event::PhaseBased { .. }
            | Event::PhaseAnnounced { .. }
            | Event::PhaseWarned { .. }
            | Event::GateMoved { .. }
            | Event::GateFound { .. }
            | Event::PhaseReturned { .. }
            | Event::PhaseApproved { .. }
    )
}

impl StagedWorld<'_> {
    pub(super) fn fold_phase(&mut self, place: &Place, at_ms: u64, event: &Event) {
        if let Event::PhaseStarted { phase } = event {
            let run = self.get_mut(place.run);
            if let Some(phases) = &mut run.phases {
                phases.begun.push(Phase::new(*phase, place.session, at_ms));
            }
            self.get_mut(place.session).gated = true;
            return;
        }
        let session = self.get_mut(place.session);
        match event {
            Event::PhaseBased { .. } | Event::PhaseReturned { .. } => session.gated = false,
            Event::PhaseAnnounced { .. } => session.gated = true,
            Event::PhaseApproved { .. } => {
                session.gated = false;
                session.dismissed_at_ms = Some(at_ms);
            }
            _ => {}
        }
        let Some(phase) = self.phase_mut(place) else { return };
        match event {
            Event::PhaseBased { commit, .. } => phase.base = Some(commit.clone()),
            Event::PhaseAnnounced { gate, why, announced, .. } => {
                end_gate(phase, at_ms);
                phase.push_gate(Gate::new(*gate, *why, announced.clone(), at_ms));
            }
            Event::GateMoved { gate, step, .. } => {
                if let Some(gate) = phase.gate_mut(*gate) {
                    fold_step(gate, step, at_ms);
                }
            }
            Event::GateFound { gate, found, .. } => {
                if let Some(gate) = phase.gate_mut(*gate) {
                    fold_found(gate, found);
                }
            }
            Event::PhaseReturned { why, words, message, .. } => {
                end_gate(phase, at_ms);
                phase.words = (!message).then(|| words.clone());
                phase.told = Some(words.clone());
                match why {
                    Return::Rework => phase.reworks += 1,
                    Return::Changes => phase.reworks = 0,
                    Return::Unread => {}
                }
                phase.unread = *why == Return::Unread;
            }
            Event::PhaseApproved { gate, tree, commit, insisted, .. } => {
                end_gate(phase, at_ms);
                let (gate, tree, commit, insisted) = (*gate, tree.clone(), commit.clone(), *insisted);
                phase.approved = Some(Approved { at_ms, gate, tree, commit, insisted });
            }
            _ => {}
        }
    }

    fn phase_mut(&mut self, place: &Place) -> Option<&mut Phase> {
        self.get(place.run)?.phases.as_ref()?;
        let phases = self.get_mut(place.run).phases.as_mut()?;
        phases.current_mut().filter(|phase| phase.session == place.session)
    }

    /// Who is started has been told.
    pub(super) fn forget_words(&mut self, place: &Place) {
        if let Some(phase) = self.phase_mut(place) {
            phase.words = None;
        }
    }

    pub(super) fn count_question(&mut self, place: &Place) {
        if let Some(phase) = self.phase_mut(place) {
            phase.questions += 1;
        }
    }

    /// The session of a phase goes on after all.
    pub(super) fn reopen_phase(&mut self, place: &Place) {
        if let Some(phase) = self.phase_mut(place) {
            phase.ended_at_ms = None;
        }
    }

    /// The session of a phase is over.
    pub(super) fn end_phase(&mut self, place: &Place, at_ms: u64) {
        if let Some(phase) = self.phase_mut(place) {
            end_gate(phase, at_ms);
            phase.ended_at_ms = Some(at_ms);
        }
    }
}

fn end_gate(phase: &mut Phase, at_ms: u64) {
    if let Some(gate) = phase.gates.last_mut().filter(|gate| gate.step != Step::Done) {
        gate.step = Step::Done;
        gate.ended_at_ms = Some(at_ms);
    }
}

fn fold_step(gate: &mut Gate, step: &Step, at_ms: u64) {
    match step {
        Step::Checkpoint { checkpoint } => gate.checkpoint = Some(*checkpoint),
        Step::Collect { commit } => gate.commit = Some(commit.clone()),
        Step::Review { request } => gate.request = Some(*request),
        Step::Done => gate.ended_at_ms = Some(at_ms),
        _ => {}
    }
    gate.step = step.clone();
}

fn fold_found(gate: &mut Gate, found: &Found) {
    match found {
        Found::Collected(collected) => gate.collected = Some((**collected).clone()),
        Found::Checked(result) => gate.checks.push(result.clone()),
        Found::Verified(round) => gate.rounds.push(round.clone()),
        Found::Judged { problems } => {
            gate.problems.clone_from(problems);
            gate.passed = Some(problems.is_empty());
        }
    }
}
