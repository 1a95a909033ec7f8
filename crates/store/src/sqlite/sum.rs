//! A sum over everything that an event says, stored beside it.
//!
//! SQLite notices a page whose structure is broken, but not a changed letter in a text. With the sum, an event
//! that can be read is the one that was written. It is no protection against somebody who changes both.

use crate::rows::EventRow;

const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a with 64 bits: a single changed byte always changes it, because no step loses anything.
pub(super) fn of(event: &EventRow) -> u64 {
    let EventRow { seq, version, at_ms, kind, project, run, session, body } = event;
    let mut sum = START;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            sum = (sum ^ u64::from(*byte)).wrapping_mul(PRIME);
        }
    };
    add(&seq.to_le_bytes());
    add(&version.to_le_bytes());
    add(&at_ms.to_le_bytes());
    for id in [project, run, session] {
        add(&[u8::from(id.is_some())]);
        add(&id.unwrap_or_default().to_le_bytes());
    }
    add(kind.as_bytes());
    // A byte that no text holds keeps "ab" + "c" apart from "a" + "bc".
    add(&[0xff]);
    add(body.as_bytes());
    sum
}
