//! The id under which an input goes to an agent whose stream names its inputs.
//!
//! It is a UUID of version 8, because CLIs want one there. It holds session, launch, kind and number, so no two inputs of
//! a conversation have the same, and nothing has to be remembered to know an id again.

use alloc::{format, string::String};

use crate::{entry::Parcel, id::SessionId};

/// The id of the prompt of a launch.
pub fn of_prompt(session: SessionId, launch: u32) -> String {
    uuid(session, launch, 0, 0)
}

/// The id of something that is brought to a launch.
pub(crate) fn of_parcel(session: SessionId, launch: u32, parcel: Parcel) -> String {
    let (kind, number) = match parcel {
        Parcel::Request(id) => (1, id.0),
        Parcel::Expiry(id) => (2, id.0),
        Parcel::Message(id) => (3, id.0),
    };
    uuid(session, launch, kind, number)
}

/// The bits of a UUID that its version leaves free: 48 for the session, 12 for the kind, 22 for the launch, 40 for the
/// number. A number that is larger than that loses its upper bits.
fn uuid(session: SessionId, launch: u32, kind: u64, number: u64) -> String {
    let bits = |value: u64, count: u32| value & ((1 << count) - 1);
    let first = bits(session.0, 48);
    let last = 0b10 << 62 | bits(u64::from(launch), 22) << 40 | bits(number, 40);
    format!(
        "{:08x}-{:04x}-8{kind:03x}-{:04x}-{:012x}",
        first >> 16,
        bits(first, 16),
        last >> 48,
        bits(last, 48)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{MessageId, RequestId};

    #[test]
    fn ids_are_uuids_and_differ() {
        let session = SessionId(7);
        let ids = [
            of_prompt(session, 1),
            of_prompt(session, 2),
            of_parcel(session, 1, Parcel::Request(RequestId(5))),
            of_parcel(session, 1, Parcel::Expiry(RequestId(5))),
            of_parcel(session, 1, Parcel::Message(MessageId(5))),
            of_parcel(session, 2, Parcel::Message(MessageId(5))),
        ];
        assert_eq!(ids[0], "00000000-0007-8000-8000-010000000000");
        assert_eq!(ids[5], "00000000-0007-8003-8000-020000000005");
        for (number, id) in ids.iter().enumerate() {
            assert!(!ids[..number].contains(id), "{id}");
        }
        let most = of_parcel(SessionId(u64::MAX), u32::MAX, Parcel::Message(MessageId(u64::MAX)));
        assert_eq!(most, "ffffffff-ffff-8003-bfff-ffffffffffff");
    }
}
