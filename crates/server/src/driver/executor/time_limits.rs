//! How long a task may take: one rule for the loop, main agents and `ostler exec`.
//!
//! What the task file or the configuration says bounds each attempt, and one that was late may be faster the next time.
//! What the caller says with its request bounds all attempts together, and takes the place of the other.

use std::time::Duration;

use ostler_engine::retry::FailureCause;
use ostler_orchestrate::{Work, plan::timeout_s};
use serde_json::Value;

/// What the caller says about the time of a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::driver) enum CallerLimit {
    /// Nothing: the limit of the task counts.
    #[default]
    Unsaid,
    /// No limit at all.
    Unlimited,
    /// All attempts together.
    Total(Duration),
}

/// How long an attempt may take, and all of them together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::driver) struct TimeLimits {
    attempt: Option<Duration>,
    total: Option<Duration>,
    /// What earlier attempts have used.
    used: Duration,
}

impl CallerLimit {
    /// What a number of seconds means, as it stands in `META`.
    pub(in crate::driver) fn of_seconds(seconds: Option<u64>) -> CallerLimit {
        match seconds {
            None => CallerLimit::Unsaid,
            Some(0) => CallerLimit::Unlimited,
            Some(seconds) => CallerLimit::Total(Duration::from_secs(seconds)),
        }
    }
}

/// What a caller says about the time in its `META`.
pub(in crate::driver) fn caller_limit(meta: Option<Value>) -> Result<CallerLimit, String> {
    let meta = match meta {
        None => return Ok(CallerLimit::Unsaid),
        Some(Value::Object(meta)) => meta,
        Some(_) => return Err("its META is no JSON object".to_owned()),
    };
    let wrong =
        |said: &Value| format!("\"timeout\" is a whole number of seconds, 0 for none, and not {said}");
    Ok(CallerLimit::of_seconds(timeout_s(&meta).map_err(wrong)?))
}

impl TimeLimits {
    /// The limits of an attempt at a task; `usual` is for tasks that say nothing.
    pub(in crate::driver) fn of(work: &Work, usual: Option<Duration>, caller: CallerLimit) -> TimeLimits {
        let (attempt, total) = match caller {
            CallerLimit::Unsaid => (work.timeout.or(usual), None),
            CallerLimit::Unlimited => (None, None),
            CallerLimit::Total(total) => (None, Some(total)),
        };
        TimeLimits { attempt, total, used: work.used }
    }

    /// The limit of a run by itself.
    pub(in crate::driver) fn of_run(limit: Duration) -> TimeLimits {
        TimeLimits { attempt: Some(limit), ..TimeLimits::default() }
    }

    /// How much an attempt has left that has run for so long, the limit that ends it first, and what its end means.
    pub(super) fn left(&self, run: Duration) -> Option<(Duration, Duration, FailureCause)> {
        let attempt =
            self.attempt.map(|limit| (limit.saturating_sub(run), limit, FailureCause::AttemptTimeout));
        let all = self.used.saturating_add(run);
        let total = self.total.map(|limit| (limit.saturating_sub(all), limit, FailureCause::TotalTimeout));
        attempt.into_iter().chain(total).min_by_key(|(left, ..)| *left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn an_attempt_has_its_own_time_and_all_of_them_that_of_the_caller() {
        let attempt = TimeLimits { attempt: Some(s(60)), total: None, used: s(500) };
        assert_eq!(attempt.left(s(10)), Some((s(50), s(60), FailureCause::AttemptTimeout)));
        let total = TimeLimits { attempt: None, total: Some(s(60)), used: s(20) };
        assert_eq!(total.left(s(10)), Some((s(30), s(60), FailureCause::TotalTimeout)));
        assert_eq!(total.left(s(90)), Some((s(0), s(60), FailureCause::TotalTimeout)));
        assert_eq!(TimeLimits::default().left(s(10)), None);
    }

    #[test]
    fn no_seconds_are_no_limit() {
        assert_eq!(CallerLimit::of_seconds(None), CallerLimit::Unsaid);
        assert_eq!(CallerLimit::of_seconds(Some(0)), CallerLimit::Unlimited);
        assert_eq!(CallerLimit::of_seconds(Some(5)), CallerLimit::Total(s(5)));
    }
}
