//! Names and ids that agents print, checked once and carried as types from then on.

use alloc::string::{String, ToString};
use core::{fmt, str::FromStr};

use serde::Serialize;
use unicode_ident::is_xid_continue;

/// The name of an office agent: letters of any script, digits, `_`, `-` and `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct AgentName(String);

/// The id of a task: `T1.3`, `T1.3.2`, `T014`, `P2-R1-T2` or `P4-S1-V`.
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
        if text.len() <= 64 {
            if is_dotted(text) {
                return Ok(TaskId(text.to_string()));
            }
            if let Some((phase, rest)) = text.split_once('-')
                && is_number_after(phase, "P")
            {
                if is_dotted(rest) && rest.contains('.') {
                    return Ok(TaskId(rest.to_string()));
                }
                if rest.split('-').all(is_letter_with_number) {
                    return Ok(TaskId(text.to_string()));
                }
            }
        }
        Err(InvalidName::new(text, "a task's id, such as T1.3, T014 or P2-R1-T2"))
    }
}

/// `T1`, `T1.3` or `T1.3.2`.
fn is_dotted(text: &str) -> bool {
    text.strip_prefix('T').is_some_and(|rest| rest.split('.').count() <= 3 && rest.split('.').all(is_number))
}

fn is_number_after(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// `R1`, `T2` or `V`.
fn is_letter_with_number(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_uppercase());
    rest.len() < text.len() && rest.bytes().all(|b| b.is_ascii_digit())
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
    fn task_ids_of_every_form() {
        for id in ["T1.3", "T1.3.2", "T014", "T7", "P2-R1-T2", "P4-S1-V", "P0-T3"] {
            assert_eq!(id.parse::<TaskId>().map(|id| id.to_string()), Ok(id.to_string()));
        }
        assert_eq!("P1-T1.3".parse::<TaskId>().map(|id| id.to_string()), Ok("T1.3".to_string()));
        for no in
            ["", "T", "1.3", "T1.", "T1.2.3.4", "t1.3", "T1 .3", "P-T1", "P1-", "P1--T1", "P1-t1", "T１"]
        {
            assert!(no.parse::<TaskId>().is_err(), "{no}");
        }
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
