//! What follows from an attempt at a task: the work is over, or it is tried again and told why. The engine decides
//! ([`ostler_engine::retry`]); here the tally is read and kept.

use std::sync::Arc;

use ostler_engine::{
    check_output::last_meaningful_line,
    retry::{FailureCause, RetryDecision, retry},
    signature,
};

use crate::{
    conduct::unknown,
    exec::{Ended, Over, Work},
    executor_log::NoteEntry,
    log::LogEntry,
    project::Project,
    state::StateError,
};

/// The most of a failure that the next attempt is told: its end says what is wrong.
const TOLD_CHARS_MAX: usize = 4_000;

/// An attempt that is over.
#[derive(Debug, Clone)]
pub struct AttemptEnd {
    /// How it ended, by the word of whoever worked and by the check.
    pub ended: Ended,
    /// Why its work is not done, if it is not.
    pub cause: FailureCause,
    /// What the check printed, if it failed.
    pub checked: Option<String>,
    /// What whoever worked printed at the end.
    pub report: String,
    /// How many tries it was: a check that fails goes back to the same agent.
    pub tries: u32,
    /// How long it took.
    pub used_ms: u64,
    /// What the next attempt is told, where that is not what was printed.
    pub told: Option<String>,
}

/// What follows from an attempt.
#[derive(Debug)]
pub enum Settled {
    /// The task is tried again. This attempt has ended so.
    Again(Ended),
    /// The task is over.
    Over(Over),
}

impl AttemptEnd {
    /// An attempt of one try that has ended so.
    pub fn new(ended: Ended, cause: FailureCause) -> AttemptEnd {
        AttemptEnd { ended, cause, checked: None, report: String::new(), tries: 1, used_ms: 0, told: None }
    }

    /// The same after a look at the evidence: work that is called done, and is not, has failed.
    #[must_use]
    pub fn proven(self, work: &Work) -> AttemptEnd {
        match work.proven(self.ended.clone()) {
            ended if ended == self.ended => self,
            ended => AttemptEnd {
                ended,
                cause: FailureCause::NotDone,
                checked: None,
                report: String::new(),
                ..self
            },
        }
    }

    /// The same where the work could not be kept; the next attempt is told how that can be put right.
    #[must_use]
    pub fn not_kept(self, reason: String, told: String) -> AttemptEnd {
        let ended = Ended::Failed { reason };
        AttemptEnd { ended, cause: FailureCause::NotDone, told: Some(told), ..self }
    }

    /// How it has failed in the words of the wire: what the check said at last comes before everything else.
    fn short(&self) -> Ended {
        match (&self.ended, self.checked.as_deref().and_then(last_meaningful_line)) {
            (Ended::Failed { .. }, Some(reason)) if self.cause != FailureCause::AttemptTimeout => {
                Ended::Failed { reason }
            }
            (ended, _) => ended.clone(),
        }
    }

    /// What the next attempt is told.
    fn told(&self, reason: &str) -> String {
        if let Some(told) = &self.told {
            return told.clone();
        }
        let said = self.checked.as_deref().unwrap_or(&self.report);
        let room = TOLD_CHARS_MAX.saturating_sub(reason.chars().count() + 2);
        match tail(said, room) {
            said if said.is_empty() => reason.to_owned(),
            said => format!("{reason}\n\n{said}"),
        }
    }
}

/// Puts down that an attempt has failed, if the task is tried again; otherwise it is over. The evidence was looked at.
pub fn settle(project: &Project, work: &Arc<Work>, attempt: &AttemptEnd, at_ms: u64) -> Settled {
    let Ended::Failed { reason } = &attempt.ended else {
        return Settled::Over(Over::proven(work, Ended::Done));
    };
    let (short, told) = (attempt.short(), attempt.told(reason));
    // Whatever keeps it from being noted keeps it from being begun: then it is over.
    match try_again(project, work, attempt, (&short, &told), at_ms) {
        Ok(true) => Settled::Again(short),
        Ok(false) | Err(_) => Settled::Over(Over::proven(work, short).telling(Some(told))),
    }
}

/// Notes a failed attempt, if another one follows.
fn try_again(
    project: &Project,
    work: &Work,
    attempt: &AttemptEnd,
    (short, told): (&Ended, &str),
    at_ms: u64,
) -> Result<bool, StateError> {
    project.change_state(
        at_ms,
        || unknown(project, at_ms),
        |state| {
            let limit = state.retry_limit();
            let Some(mut note) = state.note(&work.id).filter(|note| note.is_about(&work.key)) else {
                return (false, Vec::new());
            };
            let sign = signature(told);
            let (tally, decision) = retry(&note.tally(), attempt.cause, attempt.tries, &sign, limit);
            if decision == RetryDecision::GiveUp {
                return (false, Vec::new());
            }
            // No id has this sign in it, so no two tasks get the same key.
            let first = work.key.split('#').next().unwrap_or_default();
            note.key = Some(format!("{first}#{}", tally.tries + 1));
            note.set_tally(tally);
            note.begun_at_ms = Some(at_ms);
            note.used_ms = note.used_ms.saturating_add(attempt.used_ms);
            note.failure = Some(told.to_owned());
            state.set_note(&work.id, Some(&note));
            state.add_failure(&work.id, told);
            let noted = LogEntry::Noted(NoteEntry::of(&work.id, Some(Box::new(note))));
            (true, vec![LogEntry::Line(short.line(&work.id).to_string()), noted])
        },
    )
}

fn tail(text: &str, chars_max: usize) -> String {
    let text = text.trim();
    let more = text.chars().count().saturating_sub(chars_max);
    text.chars().skip(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(checked: Option<&str>, report: &str) -> AttemptEnd {
        let ended = Ended::Failed { reason: "the check failed with exit code 1".to_owned() };
        AttemptEnd {
            checked: checked.map(str::to_owned),
            report: report.to_owned(),
            ..AttemptEnd::new(ended, FailureCause::NotDone)
        }
    }

    #[test]
    fn the_reason_is_what_the_check_said_at_last() {
        let reason = |attempt: &AttemptEnd| match attempt.short() {
            Ended::Failed { reason } => reason,
            Ended::Done => String::new(),
        };
        let checked = failed(Some("start\nRedis connection refused\n}\n"), "I am done");
        assert_eq!(reason(&checked), "Redis connection refused");
        let told = checked.told("the check failed");
        assert_eq!(told, "the check failed\n\nstart\nRedis connection refused\n}");
        assert_eq!(reason(&failed(None, "no")), "the check failed with exit code 1");
        assert_eq!(reason(&failed(Some("\n--\n"), "")), "the check failed with exit code 1");
        assert_eq!(failed(None, "no luck").told("it failed"), "it failed\n\nno luck");
        let id = "T2.5".parse().expect("an id");
        assert_eq!(checked.short().line(&id).to_string(), "FAIL:T2.5:Redis connection refused");
    }

    #[test]
    fn what_is_told_keeps_its_beginning_and_its_end() {
        let told = failed(Some(&"가".repeat(9_000)), "").told("the check failed");
        assert_eq!(told.chars().count(), TOLD_CHARS_MAX);
        assert!(told.starts_with("the check failed\n\n가"), "{told}");
    }
}
