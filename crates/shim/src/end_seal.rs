//! The seal of an end: only the shim of a launch, and the server that started it, can say that its agent has ended.
//!
//! Every process of the user can write into a spool. The server hands each shim a key of its own in the sealed launch; the
//! shim signs its record of the end with it, and the server believes no other end.

use std::fmt::{self, Write as _};

use ring::hmac::{HMAC_SHA256, Key, sign, verify};
use serde::{Deserialize, Serialize};

use crate::spool::{Happening, Record};

/// How many bytes a key has.
const KEY_BYTES: usize = 32;

/// The key of one launch. It is not shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EndKey([u8; KEY_BYTES]);

impl EndKey {
    /// The key of one launch, from the secret of a state directory and the name of the launch.
    pub fn derive(secret: &[u8], launch: &str) -> EndKey {
        let tag = sign(&Key::new(HMAC_SHA256, secret), launch.as_bytes());
        EndKey(tag.as_ref().try_into().expect("a tag has that many bytes"))
    }

    /// The seal of an end. A launch has one end, so the seal is good for no other.
    pub(crate) fn seal(&self, code: Option<i32>, signal: Option<i32>, clean: bool) -> String {
        let tag = sign(&self.key(), said(code, signal, clean).as_bytes());
        let mut digits = String::new();
        for byte in tag.as_ref() {
            write!(digits, "{byte:02x}").expect("a string can be written to");
        }
        digits
    }

    /// Whether the shim of the launch wrote a record of an end. Every other record is believed.
    pub fn is_believed(&self, record: &Record) -> bool {
        let Happening::Ended { code, signal, clean, seal, .. } = &record.what else { return true };
        let Some(tag) = seal.as_deref().and_then(bytes) else { return false };
        verify(&self.key(), said(*code, *signal, *clean).as_bytes(), &tag).is_ok()
    }

    fn key(&self) -> Key {
        Key::new(HMAC_SHA256, &self.0)
    }
}

impl fmt::Debug for EndKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EndKey")
    }
}

fn said(code: Option<i32>, signal: Option<i32>, clean: bool) -> String {
    format!("{code:?} {signal:?} {clean}")
}

fn bytes(hexadecimal: &str) -> Option<Vec<u8>> {
    let pairs = hexadecimal.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_believed_only_as_its_shim_wrote_it() {
        let key = EndKey::derive(b"secret", "s_1/1");
        let record = |code, signal, seal: Option<String>| Record {
            seq: 7,
            at_ms: 1,
            what: Happening::Ended { code, signal, clean: true, input_bytes_left: 0, seal },
        };
        let seal = key.seal(Some(1), None, true);
        assert!(key.is_believed(&record(Some(1), None, Some(seal.clone()))));
        for forged in [
            record(Some(0), None, Some(seal.clone())),
            record(Some(1), Some(9), Some(seal.clone())),
            record(Some(1), None, Some(seal.replace(char::is_alphabetic, "0"))),
            record(Some(1), None, Some("\u{e9}".to_owned())),
            record(Some(1), None, None),
        ] {
            assert!(!key.is_believed(&forged), "{forged:?}");
        }
        let other = EndKey::derive(b"secret", "s_1/2");
        assert!(!other.is_believed(&record(Some(1), None, Some(seal))));
        assert!(key.is_believed(&Record { seq: 1, at_ms: 1, what: Happening::WentOn }));
    }
}
