//! The only clock of the server. It starts from the wall and then counts by itself, so that a clock that is set while
//! the server runs expires nothing and turns no order around. The time that a machine sleeps counts: a limit that is
//! over at three o'clock is over then.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// Milliseconds since 1970, in UTC.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    started_at_ms: u64,
    /// How long the machine had been on by then.
    started_on_ms: u64,
}

impl Clock {
    /// Begins now, but not before what is known to have happened.
    pub(crate) fn start(not_before_ms: u64) -> Clock {
        Clock { started_at_ms: wall_ms().max(not_before_ms), started_on_ms: on_ms() }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.started_at_ms + on_ms().saturating_sub(self.started_on_ms)
    }

    /// How long it is until then.
    pub(crate) fn until(&self, at_ms: u64) -> Duration {
        Duration::from_millis(at_ms.saturating_sub(self.now_ms()))
    }
}

/// For how long the machine has been on, asleep or not.
fn on_ms() -> u64 {
    let on = clock_gettime(ClockId::Boottime);
    let part = |part: i64, per_ms: i64| u64::try_from(part / per_ms).unwrap_or_default();
    part(on.tv_sec, 1) * 1000 + part(on.tv_nsec, 1_000_000)
}

/// What the clock on the wall says.
#[expect(clippy::disallowed_methods, reason = "this is the home of the clock")]
pub(crate) fn wall_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}
