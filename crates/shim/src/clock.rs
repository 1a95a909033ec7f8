//! The time of day, for records that people read. Nothing is decided by it.
#![expect(clippy::disallowed_methods, reason = "this is the shim's one clock")]

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, UTC.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
