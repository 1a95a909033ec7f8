//! The only clock of the server. It starts from the wall and then counts by itself, so that a clock that is set while
//! the server runs expires nothing and turns no order around.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, in UTC.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    started_at_ms: u64,
    started: Instant,
}

impl Clock {
    /// Begins now, but not before what is known to have happened.
    pub(crate) fn start(not_before_ms: u64) -> Clock {
        Clock { started_at_ms: wall_ms().max(not_before_ms), started: Instant::now() }
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.started_at_ms + u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// How long it is until then.
    pub(crate) fn until(&self, at_ms: u64) -> Duration {
        Duration::from_millis(at_ms.saturating_sub(self.now_ms()))
    }
}

/// What the clock on the wall says.
#[expect(clippy::disallowed_methods, reason = "this is the home of the clock")]
pub(crate) fn wall_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}
