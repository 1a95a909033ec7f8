//! Decides whether a node is tried again after an attempt that has not done its work. The loop, main agents and
//! `ostler exec` ask the same function; docs/design/graph.md has its table.
//!
//! Pure: the caller reads and keeps the tally.

use alloc::string::String;

use crate::run::{Outcome, Reason};

/// How many failures in a row with the same signature end a node before its tries are used up.
pub const SAME_FAILURES_MAX: u32 = 3;

/// Why an attempt has not done its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureCause {
    /// The check, the evidence or the agent says so. The next attempt is told why.
    NotDone,
    /// The attempt has used up its own time limit.
    AttemptTimeout,
    /// All attempts together have used up the time that the caller allows.
    TotalTimeout,
    /// A person or the caller has cancelled it.
    Cancelled,
    /// Nothing could be started, or nobody has allowed what would run.
    NotStarted,
    /// The session itself has seen the same failure again and again.
    Repeated,
    /// The account was limited until the session's own retries were used up. That says nothing about the work.
    RateLimited,
}

/// What is known of the attempts at a node so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetryTally {
    /// How many tries have failed.
    pub tries: u32,
    /// How many of the last ones failed in the same way.
    pub same: u32,
    /// The signature of the last failure.
    pub signature: Option<String>,
}

/// What follows from a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    /// The next attempt starts, with the failure in its prompt.
    Retry,
    /// The node has failed. A person or the caller decides what becomes of it.
    GiveUp,
}

impl FailureCause {
    /// Why a run has not done its work; nothing if it was completed. Whoever has ended it because of a time limit knows
    /// better.
    pub fn of(outcome: &Outcome) -> Option<FailureCause> {
        match outcome {
            Outcome::Completed { .. } => None,
            Outcome::Cancelled => Some(FailureCause::Cancelled),
            Outcome::Failed { reason } => Some(match reason {
                Reason::NotStarted { .. } => FailureCause::NotStarted,
                Reason::SameFailure { .. } => FailureCause::Repeated,
                Reason::RateLimited { .. } => FailureCause::RateLimited,
                _ => FailureCause::NotDone,
            }),
        }
    }

    /// Whether the attempt counts against the limit of tries.
    fn counts(self) -> bool {
        self != FailureCause::RateLimited
    }

    /// Whether another attempt could do better.
    fn may_retry(self) -> bool {
        matches!(self, FailureCause::NotDone | FailureCause::AttemptTimeout)
    }
}

/// Counts a failed attempt of so many tries, and decides what follows.
pub fn retry(
    before: &RetryTally,
    cause: FailureCause,
    tries: u32,
    signature: &str,
    limit: u32,
) -> (RetryTally, RetryDecision) {
    if !cause.counts() {
        return (before.clone(), RetryDecision::GiveUp);
    }
    let is_same = before.signature.as_deref() == Some(signature);
    let tally = RetryTally {
        tries: before.tries.saturating_add(tries),
        same: if is_same { before.same.saturating_add(1) } else { 1 },
        signature: Some(signature.into()),
    };
    let goes_on = cause.may_retry() && tally.tries < limit && tally.same < SAME_FAILURES_MAX;
    (tally, if goes_on { RetryDecision::Retry } else { RetryDecision::GiveUp })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(tries: u32, same: u32, signature: &str) -> RetryTally {
        RetryTally { tries, same, signature: Some(signature.into()) }
    }

    #[test]
    fn the_cause_decides() {
        let check = |cause, wanted| {
            assert_eq!(retry(&RetryTally::default(), cause, 1, "a", 10).1, wanted, "{cause:?}");
        };
        check(FailureCause::NotDone, RetryDecision::Retry);
        check(FailureCause::AttemptTimeout, RetryDecision::Retry);
        for cause in [
            FailureCause::TotalTimeout,
            FailureCause::Cancelled,
            FailureCause::NotStarted,
            FailureCause::Repeated,
            FailureCause::RateLimited,
        ] {
            check(cause, RetryDecision::GiveUp);
        }
    }

    #[test]
    fn the_limit_counts_tries_and_not_attempts() {
        let before = tally(7, 1, "a");
        let (after, decision) = retry(&before, FailureCause::NotDone, 2, "b", 10);
        assert_eq!((after, decision), (tally(9, 1, "b"), RetryDecision::Retry));
        let (after, decision) = retry(&before, FailureCause::NotDone, 3, "b", 10);
        assert_eq!((after, decision), (tally(10, 1, "b"), RetryDecision::GiveUp));
        assert_eq!(retry(&RetryTally::default(), FailureCause::NotDone, 1, "a", 1).1, RetryDecision::GiveUp);
    }

    #[test]
    fn three_equal_signatures_end_it_early() {
        let (second, decision) = retry(&tally(1, 1, "a"), FailureCause::NotDone, 1, "a", 10);
        assert_eq!((&second, decision), (&tally(2, 2, "a"), RetryDecision::Retry));
        assert_eq!(retry(&second, FailureCause::NotDone, 1, "a", 10).1, RetryDecision::GiveUp);
        let (other, decision) = retry(&second, FailureCause::NotDone, 1, "b", 10);
        assert_eq!(
            (other, decision),
            (tally(3, 1, "b"), RetryDecision::Retry),
            "another failure is progress"
        );
    }

    #[test]
    fn a_rate_limit_counts_as_nothing() {
        let before = tally(4, 2, "a");
        assert_eq!(
            retry(&before, FailureCause::RateLimited, 3, "a", 10),
            (before.clone(), RetryDecision::GiveUp)
        );
    }

    #[test]
    fn the_outcome_of_a_run_names_its_cause() {
        let failed = |reason| FailureCause::of(&Outcome::Failed { reason });
        assert_eq!(FailureCause::of(&Outcome::Completed { verified: true }), None);
        assert_eq!(FailureCause::of(&Outcome::Cancelled), Some(FailureCause::Cancelled));
        assert_eq!(failed(Reason::NotStarted { message: "a".into() }), Some(FailureCause::NotStarted));
        assert_eq!(failed(Reason::SameFailure { times: 3 }), Some(FailureCause::Repeated));
        assert_eq!(failed(Reason::ExitCode { code: 1 }), Some(FailureCause::NotDone));
        assert_eq!(failed(Reason::KilledBy { signal: 9 }), Some(FailureCause::NotDone));
        let limited = Reason::RateLimited { reset_at_ms: None, message: None };
        assert_eq!(failed(limited), Some(FailureCause::RateLimited));
    }
}
