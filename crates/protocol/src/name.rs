//! Names and ids that agents print, checked once and carried as types from then on.

use alloc::string::{String, ToString};
use core::{fmt, str::FromStr};

use serde::Serialize;
use unicode_ident::is_xid_continue;

use crate::task_name;

/// The name of an office agent: letters of any script, digits, `_`, `-` and `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct AgentName(String);

/// The id of a task: `T1.3`, `T014`, `P2-R1-T2`, `ENV-001`, `1.1` and the like; [`crate::task_name`] has the grammar.
///
/// `P1-T1.3` is another name of `T1.3` and is carried as that.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct TaskId(String);

/// The secret word of one session, by which its own tags are told from pasted ones.
#[derive(Clone, PartialEq, Eq)]
pub struct Nonce(String);

/// A name or id that does not have the form it must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidName {
    text: String,
    expected: &'static str,
}

impl InvalidName {
    fn new(text: &str, expected: &'static str) -> Self {
        InvalidName { text: text.to_string(), expected }
    }
}

impl AgentName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TaskId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Nonce {
    /// The nonce as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AgentName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        // Letters, digits and marks of any script, and the underscore; not what shows nothing or turns text around.
        let fits = |c: char| is_xid_continue(c) || matches!(c, '-' | '.');
        if !text.is_empty() && text.len() <= 256 && text.chars().all(fits) {
            Ok(AgentName(text.to_string()))
        } else {
            Err(InvalidName::new(text, "an agent's name: letters, digits, '_', '-' and '.'"))
        }
    }
}

impl FromStr for TaskId {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let name = task_name::read(text.as_bytes()).and_then(|read| core::str::from_utf8(read.name).ok());
        let expected = "a task's id, such as T1.3, T014, P2-R1-T2, ENV-001 or 1.1";
        name.map(|name| TaskId(name.to_string())).ok_or_else(|| InvalidName::new(text, expected))
    }
}

impl FromStr for Nonce {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        if (1..=64).contains(&text.len()) && text.bytes().all(is_nonce_byte) {
            Ok(Nonce(text.to_string()))
        } else {
            Err(InvalidName::new(text, "a nonce: 1 to 64 letters, digits, '_' or '-'"))
        }
    }
}

/// Whether a byte may stand in a nonce.
pub(crate) fn is_nonce_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonce(…)")
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not {}", self.text, self.expected)
    }
}

impl core::error::Error for InvalidName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_ids_are_carried_by_one_name() {
        for id in ["T1.3", "T014", "P2-R1-T2", "P2-T1.1", "ENV-001", "1.1"] {
            assert_eq!(id.parse::<TaskId>().map(|id| id.to_string()), Ok(id.to_string()));
        }
        assert_eq!("P1-T1.3".parse::<TaskId>().map(|id| id.to_string()), Ok("T1.3".to_string()));
        assert!("t1.3".parse::<TaskId>().is_err());
    }

    #[test]
    fn agent_names_of_any_script() {
        for name in
            ["PO", "backend-dev", "디자이너", "qa.2", "front_end", "テスト", "हिन्दी", "ไม้", "e\u{301}"]
        {
            assert!(name.parse::<AgentName>().is_ok(), "{name}");
        }
        for no in ["", "two words", "a/b", "a:b", "<x>", "a\u{202e}b"] {
            assert!(no.parse::<AgentName>().is_err(), "{no}");
        }
    }
}
