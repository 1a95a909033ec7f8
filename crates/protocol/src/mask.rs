//! The mask of secrets, as it appears in texts: each byte of a secret becomes `*`.

use alloc::{format, string::String};

/// The shortest mask: shorter secrets are not masked.
const SHORTEST: &str = "****";

/// Whether a text may contain a masked secret. Text that has as many stars of its own counts, too.
pub fn is_masked(text: &str) -> bool {
    text.contains(SHORTEST)
}

/// An option together with its number, for an agent that may have to find it by the number alone. A shim that knows the
/// option as it was puts that in place of the whole.
pub fn numbered(number: u32, option: &str, korean: bool) -> String {
    if korean { format!("{number}번 선택지: {option}") } else { format!("option {number}: {option}") }
}
