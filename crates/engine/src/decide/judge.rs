//! Whether the work is done. An exit code alone proves nothing; a check does.

use alloc::{format, string::String};

use ostler_protocol::fact::EndStatus;

use super::Maker;
use crate::{
    action::Deed,
    event::Event,
    id::SessionId,
    run::{Outcome, Reason},
    session::{Attempt, CheckEnding, CheckRecall, LaunchCause, LaunchEnd, Session},
    signature::signature,
    words,
};

/// So many failures of the same kind in a row, and trying again is no use.
const SAME_FAILURES_MAX: u32 = 3;

/// The exit code of a check that has taken too long, as `timeout` gives it.
const OVERDUE: i32 = 124;

impl Maker<'_> {
    /// The process has ended, and nothing is left to bring to it.
    pub(super) fn judge(&mut self, id: SessionId) {
        let session = self.session(id);
        let failure = failure(session);
        let terms = &self.desk.get(session.run).expect("a session has its run").terms;
        let (has_check, tries) = (terms.check.is_some(), terms.attempts_max.is_some());
        let launch = session.launches.last().map_or(0, |launch| launch.number);
        match failure {
            None if has_check => {
                // The number of a launch comes once in a session, also where attempts are counted anew.
                self.emit(id, Event::CheckStarted { number: launch });
                self.act(id, Deed::Check { number: launch });
            }
            None => self.finish(id, Outcome::Completed { verified: false }),
            Some(reason) if tries => {
                let output = format!("{reason:?}");
                let attempt = Attempt { launch, code: None, signature: output.clone(), output };
                self.emit(id, Event::CheckFinished { number: None, attempt });
                self.try_again(id);
            }
            Some(reason) => self.finish(id, Outcome::Failed { reason }),
        }
    }

    pub(super) fn end_check(&mut self, id: SessionId, number: u32, code: i32, output: &str) {
        let Some(session) = self.desk.get(id) else { return };
        if session.checking != Some(number) {
            return;
        }
        let launch = session.launches.last().map_or(0, |launch| launch.number);
        let (ending, is_cancelled) = (session.check_ending, session.cancelled_at_ms.is_some());
        let (code, output) = match ending {
            Some(CheckEnding::Overdue) => {
                let run = self.desk.get(session.run).expect("a session has its run");
                let time_ms_max = run.terms.check_time_ms_max.unwrap_or_default();
                (OVERDUE, words::overdue(session.order.korean, time_ms_max, output))
            }
            Some(CheckEnding::Failed) | None => (code, String::from(output)),
        };
        let signature = format!("{code} {}", signature(&output));
        let attempt = Attempt { launch, code: Some(code), output, signature };
        self.emit(id, Event::CheckFinished { number: Some(number), attempt });
        if is_cancelled {
            self.advance(id);
        } else if ending == Some(CheckEnding::Failed) {
            let reason = self.reason_given_up(id);
            self.finish(id, Outcome::Failed { reason });
        } else if code == 0 {
            self.finish(id, Outcome::Completed { verified: true });
        } else {
            self.advance(id);
        }
    }

    pub(super) fn end_running_check(&mut self, id: SessionId, number: u32, why: CheckEnding) {
        self.emit(id, Event::CheckRecalled(CheckRecall { number, why }));
        self.act(id, Deed::EndCheck { number });
    }

    /// Something has happened that may hold the check that is running, or send it on.
    pub(super) fn steer_check(&mut self, id: SessionId) {
        if let Some(number) = self.session(id).checking {
            self.act(id, Deed::SteerCheck { number });
        }
    }

    /// The last attempt has failed: another one, unless it is no use.
    pub(super) fn try_again(&mut self, id: SessionId) {
        let session = self.session(id);
        let attempts = &session.attempts;
        let count = u32::try_from(attempts.len()).unwrap_or(u32::MAX);
        let reason = match attempts.last().and_then(|attempt| attempt.code) {
            Some(code) => Reason::CheckFailed { code, attempts: count },
            None => failure(session).unwrap_or(Reason::NoEnd),
        };
        let attempts_max =
            self.desk.get(session.run).and_then(|run| run.terms.attempts_max).unwrap_or(1) as usize;
        let last = attempts.last().map(|attempt| &attempt.signature);
        let same = attempts.iter().rev().take_while(|it| Some(&it.signature) == last).count();
        let times = u32::try_from(same).unwrap_or(u32::MAX);
        if attempts.len() >= attempts_max {
            self.finish(id, Outcome::Failed { reason });
        } else if times >= SAME_FAILURES_MAX {
            self.finish(id, Outcome::Failed { reason: Reason::SameFailure { times } });
        } else {
            self.launch(id, LaunchCause::Attempt, None);
        }
    }
}

/// Why the last process did not end well.
pub(super) fn failure(session: &Session) -> Option<Reason> {
    let launch = session.launches.last()?;
    let Some(LaunchEnd::Exited { code, signal, .. }) = launch.ended else { return Some(Reason::NoEnd) };
    let end = launch.end.as_ref();
    let says_success = end.map(|end| end.status == EndStatus::Success);
    let is_success = match says_success {
        Some(success) => success && code == Some(0),
        None => code == Some(0) && !session.order.agent.end.required,
    };
    if is_success {
        return None;
    }
    if let Some(limit) = &session.limited {
        let (reset_at_ms, message) = (limit.reset_at_ms, limit.message.clone());
        return Some(Reason::RateLimited { reset_at_ms, message });
    }
    if let Some(end) = end.filter(|end| end.status != EndStatus::Success) {
        return Some(Reason::AgentError { message: end.reason.clone() });
    }
    match (code, signal) {
        (_, Some(signal)) => Some(Reason::KilledBy { signal }),
        (Some(0) | None, None) => Some(Reason::NoEnd),
        (Some(code), None) => Some(Reason::ExitCode { code }),
    }
}
