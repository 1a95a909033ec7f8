//! How much of a session's time is its own. While it waits for somebody, none of that passes.

use super::Session;

impl Session {
    /// How long it may work on before a person is asked, if that is limited.
    pub(crate) fn time_left_ms(&self, at_ms: u64) -> Option<u64> {
        let now_ms = self.waiting_since_ms.unwrap_or(at_ms);
        Some(self.time_over_at_ms?.saturating_sub(now_ms))
    }

    /// For how long it has waited by now.
    pub fn waited_ms(&self, at_ms: u64) -> u64 {
        let waits_for = self.waiting_since_ms.map_or(0, |since| at_ms.saturating_sub(since));
        self.waited_ms.saturating_add(waits_for)
    }
}
