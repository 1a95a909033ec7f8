//! Budgets: who has used what its run may use stands still, or is not started, until a person has been asked.

use super::{Maker, requests::OSTLER};
use crate::{
    action::Deed,
    event::Event,
    id::SessionId,
    request::{Ask, Request},
    run::Run,
    session::Session,
};

/// So long after the report that reached it an agent is stopped. One that reports at the end of its turn says right
/// afterwards that it is through, and nobody has to be asked about that.
const REPORT_MS: u64 = 1_000;

/// When an agent at work is stopped, because its run has used what it may.
pub(super) fn over_at_ms(run: &Run, session: &Session, is_blocked: bool) -> Option<u64> {
    let live = session.live().filter(|live| live.process.is_some() && live.ending.is_none())?;
    let waits = is_blocked || session.paused_at_ms.is_some() || session.parked_at_ms.is_some();
    // Who has said that it is through may end. Before anything else is begun the question comes.
    let works = !waits && live.closes_at_ms.is_none();
    run.budget.question(&run.used).filter(|_| works)?;
    Some(run.over_since_ms.unwrap_or(0).saturating_add(REPORT_MS))
}

impl Maker<'_> {
    /// What a person has to be asked before it may go on.
    fn budget_question(&self, id: SessionId) -> Option<Ask> {
        let run = self.desk.get(self.session(id).run)?;
        run.budget.question(&run.used)
    }

    /// Whether its run has used what it may.
    pub(super) fn is_over_budget(&self, id: SessionId) -> bool {
        self.budget_question(id).is_some()
    }

    /// Whether it may not go on before a person has been asked for more. Whoever is not asked yet is.
    pub(super) fn waits_for_budget(&mut self, id: SessionId) -> bool {
        let Some(question) = self.budget_question(id) else { return false };
        let is_it = |request: &Request| matches!(request.ask, Ask::CostOver { .. } | Ask::TokensOver { .. });
        if self.desk.blocking(id).any(is_it) {
            return true;
        }
        let launch = self.session(id).launches.last().map_or(0, |launch| launch.number);
        self.open(id, launch, question, OSTLER, None);
        true
    }

    /// Stops what is at work, before anything is kept: that takes its time, and so much more would be used.
    pub(super) fn stand_still(&mut self, id: SessionId) {
        let session = self.session(id);
        let live = session.live().filter(|live| live.held().is_none() && live.ending.is_none());
        match (session.checking, live.map(|live| live.number)) {
            (Some(number), _) => self.act(id, Deed::SteerCheck { number }),
            (None, Some(launch)) => self.act(id, Deed::Stop { launch }),
            (None, None) => {}
        }
    }

    /// Stops who is at work and has used what it may.
    pub(super) fn end_budget(&mut self, id: SessionId) {
        let session = self.session(id);
        let Some(run) = self.desk.get(session.run) else { return };
        let is_due = over_at_ms(run, session, self.is_blocked(id)).is_some_and(|at| at <= self.now_ms);
        if is_due {
            self.waits_for_budget(id);
        }
    }

    /// A person lets it use more: so much, or as much again.
    pub(super) fn raise(&mut self, id: SessionId, ask: &Ask, by: Option<u64>) {
        let (run_id, project) = (self.session(id).run, self.session(id).project);
        let Some(run) = self.desk.get(run_id) else { return };
        let again = match ask {
            Ask::CostOver { .. } => run.terms.budget.cost_nusd_max,
            Ask::TokensOver { .. } => run.terms.budget.tokens_max,
            _ => run.terms.time_ms_max,
        };
        let more = by.or(again);
        if matches!(ask, Ask::TimeOver { .. }) {
            let time_over_at_ms = more.map(|more| self.now_ms.saturating_add(more));
            self.emit(id, Event::SessionExtended { time_over_at_ms });
        } else {
            let budget = run.budget.raised(&run.used, ask, more.unwrap_or(0));
            self.emit_at(Some(project), Some(run_id), None, Event::RunRaised { budget });
        }
    }
}
