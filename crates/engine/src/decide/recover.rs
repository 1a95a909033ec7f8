//! What happens after an error that the agent wants to recover from by itself: wait, then go on.
//!
//! The card in the inbox is the wait: it is settled by time, unless a person does so before.

use ostler_protocol::signal::{ErrorReport, Recovery};

use super::Maker;
use crate::{id::SessionId, request::Ask, reset, session::Retries};

/// The first wait, if nothing names a time.
const WAIT_MS: u64 = 10_000;

/// The longest.
const WAIT_MS_MAX: u64 = 5 * 60_000;

impl Maker<'_> {
    /// How long it is until an error is tried again by itself; nothing if a person has to say what happens.
    pub(super) fn retries_in_ms(&self, id: SessionId, ask: &Ask) -> Option<u64> {
        let Ask::Error(ErrorReport { recovery: Recovery::PauseAndRetry, message, details, .. }) = ask else {
            return None;
        };
        let number = self.session(id).retries.next(self.now_ms)?;
        let named = |words: &str| reset::named(words, self.now_ms);
        let named = named(message).or_else(|| named(details.as_deref()?));
        Some(named.map_or_else(|| wait_ms(id, number), |at_ms| at_ms.saturating_sub(self.now_ms)))
    }
}

/// Twice as long each time, and up to a quarter more, so that those who failed together do not try again together.
fn wait_ms(id: SessionId, number: u32) -> u64 {
    let doubled = WAIT_MS << (number - 1).min(Retries::MAX);
    let spread = scatter(id.0 ^ (u64::from(number) << 48)) % (doubled / 4);
    (doubled + spread).min(WAIT_MS_MAX)
}

/// A number that looks like chance and is always the same: the engine has no chance of its own.
fn scatter(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_doubles_and_is_scattered() {
        for id in 1..50 {
            for number in 1..=5 {
                let wait = wait_ms(SessionId(id), number);
                let plain = WAIT_MS << (number - 1);
                assert!((plain..plain + plain / 4).contains(&wait), "{id} {number} {wait}");
            }
        }
        assert_ne!(wait_ms(SessionId(1), 1), wait_ms(SessionId(2), 1));
        assert_eq!(wait_ms(SessionId(1), 99), WAIT_MS_MAX);
    }
}
