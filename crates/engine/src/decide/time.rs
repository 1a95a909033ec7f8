//! What becomes due by itself.

use alloc::vec::Vec;

use super::{
    Maker, budget, checkpoints::checkpoint_at_ms, office, phases::dismissed_over_at_ms, requests::OSTLER,
};
use crate::{
    action::Deed,
    answer::Answer,
    checkpoint::Why,
    event::Event,
    id::SessionId,
    request::{Ask, By, Request},
    run::{Outcome, Reason},
    session::{CheckEnding, Ending, Launch, Session},
    world::World,
};

/// When something becomes due for a session by itself.
pub(crate) fn due_at_ms(world: &World, session: &Session) -> Option<u64> {
    let expiries = world.blocking(session.id).filter_map(|request| request.expires_at_ms);
    let is_blocked = world.blocking(session.id).next().is_some();
    let is_held_up = world.blocking(session.id).any(Request::holds);
    let others = [
        rest_at_ms(session, is_held_up).filter(|_| !world.is_exchanged(session)),
        time_over_at_ms(session, is_blocked),
        world.runs.get(&session.run).and_then(|run| budget::over_at_ms(run, session, is_blocked)),
        check_over_at_ms(session, is_blocked),
        closes_at_ms(session).filter(|_| !is_blocked),
        checkpoint_at_ms(session, is_held_up),
        dismissed_over_at_ms(session),
        office::idle_at_ms(session).filter(|_| !is_blocked),
        verifier_over_at_ms(session, is_blocked),
    ];
    expiries.chain(others.into_iter().flatten()).min()
}

/// When the input of a CLI that is through is closed, so that it ends.
pub(super) fn closes_at_ms(session: &Session) -> Option<u64> {
    let live = session.live().filter(|live| live.ending.is_none() && !live.input_closed)?;
    let waits = session.order.agent.end.close_input && session.paused_at_ms.is_none();
    let at_ms = live.closes_at_ms.filter(|_| waits)?;
    office::closes_at_ms(session, at_ms)
}

/// When an agent that waits has waited so long that it is better ended and started again at the answer.
fn rest_at_ms(session: &Session, is_held_up: bool) -> Option<u64> {
    let live = session.live().filter(|live| live.ending.is_none())?;
    let waits = is_held_up || session.parked_at_ms.is_some();
    // What is being kept is waited for.
    let is_kept = !session.checkpoints.hold();
    let stop = live.held().filter(|_| waits && is_kept && session.can_resume())?;
    Some(stop.at_ms.saturating_add(session.order.patience.stopped_ms))
}

fn time_over_at_ms(session: &Session, is_blocked: bool) -> Option<u64> {
    let works = session.live().is_some_and(|live| live.process.is_some() && live.ending.is_none());
    let waits = is_blocked || session.paused_at_ms.is_some() || session.parked_at_ms.is_some();
    // At a gate it stands still: whether it may go on is asked when it would.
    let works = (works || is_checked(session)) && !waits && !session.gated;
    session.time_over_at_ms.filter(|_| works)
}

/// When the check that is running has taken too long.
fn check_over_at_ms(session: &Session, is_blocked: bool) -> Option<u64> {
    let works = is_checked(session) && !is_blocked && session.paused_at_ms.is_none();
    session.check_over_at_ms.filter(|_| works)
}

/// When a verifier has taken too long.
fn verifier_over_at_ms(session: &Session, is_blocked: bool) -> Option<u64> {
    let waits = is_blocked || session.paused_at_ms.is_some() || session.parked_at_ms.is_some();
    let is_ending = session.live().is_some_and(|live| live.ending.is_some());
    let works = session.verifies() && !waits && !is_ending && session.cancelled_at_ms.is_none();
    session.check_over_at_ms.filter(|_| works)
}

/// Whether a check runs whose result somebody wants to know.
fn is_checked(session: &Session) -> bool {
    session.checking.is_some() && session.check_ending.is_none() && session.cancelled_at_ms.is_none()
}

impl Maker<'_> {
    /// What one session does may be what another one waits for: it goes on until nothing is due.
    pub(super) fn tick(&mut self) {
        loop {
            let before = self.entries.len();
            self.tick_sessions();
            self.tick_accounts();
            if self.entries.len() == before {
                return;
            }
        }
    }

    fn tick_sessions(&mut self) {
        for id in self.desk.sessions_to_look_at(self.now_ms) {
            let due = |request: &&Request| request.expires_at_ms.is_some_and(|at| at <= self.now_ms);
            let expired: Vec<_> = self.desk.blocking(id).filter(due).map(|request| request.id).collect();
            for &request in &expired {
                self.expire(request);
            }
            self.end_late_check(id);
            self.end_late_verifier(id);
            self.end_time(id);
            self.end_budget(id);
            self.let_rest(id);
            self.listen_to_idle(id);
            let closes = closes_at_ms(self.session(id)).is_some_and(|at| at <= self.now_ms);
            let is_left = dismissed_over_at_ms(self.session(id)).is_some_and(|at| at <= self.now_ms);
            if closes || is_left || !expired.is_empty() {
                self.advance(id);
            }
            let keeps = checkpoint_at_ms(self.session(id), self.is_held_up(id));
            if keeps.is_some_and(|at| at <= self.now_ms) {
                self.checkpoint_due(id, Why::Time, false);
            }
        }
    }

    fn expire(&mut self, id: crate::id::RequestId) {
        let request = self.desk.get(id).expect("it was looked up before");
        let session = request.session;
        match &request.ask {
            Ask::AskUser(_) => self.emit(session, Event::RequestExpired { request: id }),
            Ask::Error(_) => self.settle(id, By::Expiry, Answer::Retry),
            ask => {
                let default = Answer::by_default(ask).unwrap_or(Answer::Nothing);
                self.settle(id, By::Expiry, default);
            }
        }
    }

    pub(super) fn let_rest(&mut self, id: SessionId) {
        let session = self.session(id);
        let due = rest_at_ms(session, self.is_held_up(id)).is_some_and(|at| at <= self.now_ms);
        let due = due && self.exchanged(id).is_none();
        let stopped_at_ms = session.live().and_then(Launch::held).map(|stop| stop.at_ms);
        if due && session.checkpoints.word_at_ms < stopped_at_ms {
            self.checkpoint_due(id, Why::Rest, true);
        }
        let session = self.session(id);
        let due = due && !session.checkpoints.hold();
        if let Some(launch) = session.live().filter(|_| due).map(|live| live.number) {
            let grace_ms = session.order.patience.grace_ms;
            self.emit(id, Event::SessionRecalled { launch, why: Ending::Rest });
            self.act(id, Deed::End { launch, grace_ms });
        }
    }

    fn end_time(&mut self, id: SessionId) {
        let session = self.session(id);
        let due = time_over_at_ms(session, self.is_blocked(id)).is_some_and(|at| at <= self.now_ms);
        let time_ms_max = self.desk.get(session.run).and_then(|run| run.terms.time_ms_max);
        let launch = session.launches.last().filter(|_| due).map(|launch| launch.number);
        let (Some(launch), Some(again)) = (launch, time_ms_max) else { return };
        let time_ms_max = self.time_ms_so_far(id, again).unwrap_or(again);
        self.open(id, launch, Ask::TimeOver { time_ms_max }, OSTLER, None);
    }

    /// All the time that a session was given, with those who worked for its run before, where somebody has let it go on.
    fn time_ms_so_far(&self, id: SessionId, again: u64) -> Option<u64> {
        let run = self.desk.get(self.session(id).run)?;
        let sessions = run.sessions.iter().filter_map(|&id| self.desk.get(id));
        let requests =
            sessions.flat_map(|it| self.desk.requests_of(it.id).filter(|of| of.launch >= it.anew_from));
        let raised = requests.filter_map(|it| {
            let Ask::TimeOver { time_ms_max } = it.ask else { return None };
            match it.settled.as_ref()?.answer {
                Answer::GoOn { .. } => Some(time_ms_max.saturating_add(again)),
                Answer::Raised { by } => Some(time_ms_max.saturating_add(by)),
                _ => None,
            }
        });
        raised.last()
    }

    fn end_late_verifier(&mut self, id: SessionId) {
        let session = self.session(id);
        let due = verifier_over_at_ms(session, self.is_blocked(id)).is_some_and(|at| at <= self.now_ms);
        let grace_ms = session.order.patience.grace_ms;
        match session.live().map(|live| live.number) {
            _ if !due => {}
            Some(launch) => {
                self.emit(id, Event::SessionRecalled { launch, why: Ending::Failed });
                self.act(id, Deed::End { launch, grace_ms });
            }
            None => self.finish(id, Outcome::Failed { reason: Reason::VerifierOverdue }),
        }
    }

    fn end_late_check(&mut self, id: SessionId) {
        let session = self.session(id);
        let due = check_over_at_ms(session, self.is_blocked(id)).is_some_and(|at| at <= self.now_ms);
        if let Some(number) = session.checking.filter(|_| due) {
            self.end_running_check(id, number, CheckEnding::Overdue);
        }
    }
}
