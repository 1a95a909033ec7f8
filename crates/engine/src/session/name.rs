//! What a person calls a session, beside its id.

use alloc::{borrow::ToOwned, string::String};
use core::fmt;

use serde::{Deserialize, Serialize};

/// What a person calls a session: 1 to 40 letters and digits of any script, `-`, `_` and `.`, a letter first. It looks
/// like no id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionName(String);

/// Why a text is no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotAName {
    /// There is nothing, or more than a line of a list can show.
    Length,
    /// A letter is none of those that a name may have, or the first one is no letter.
    Letters,
    /// It is an id, or `last`, and would mean something else.
    Reserved,
}

/// Events about the name of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum SessionNameEvent {
    /// A person calls it something else.
    #[serde(rename = "session.renamed")]
    Renamed {
        /// The name; none if it has none any more.
        name: Option<SessionName>,
    },
}

impl SessionName {
    /// The longest name.
    pub const LETTERS_MAX: usize = 40;

    /// Reads a name.
    pub fn new(text: &str) -> Result<SessionName, NotAName> {
        if text.is_empty() || text.chars().count() > SessionName::LETTERS_MAX {
            return Err(NotAName::Length);
        }
        let fits = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
        if !text.chars().all(fits) || !text.starts_with(char::is_alphabetic) {
            return Err(NotAName::Letters);
        }
        let is_id = text.split_once('_').is_some_and(|(kind, number)| {
            kind.len() == 1 && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        if is_id || text == "last" { Err(NotAName::Reserved) } else { Ok(SessionName(text.to_owned())) }
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_that_is_no_id() {
        for name in ["login-fix", "로그인", "v2.1_rc", "a", "s_1x", "Fix_2"] {
            assert_eq!(SessionName::new(name).as_ref().map(SessionName::as_str), Ok(name));
        }
        for (text, why) in [
            ("", NotAName::Length),
            ("two words", NotAName::Letters),
            ("-d", NotAName::Letters),
            ("2nd", NotAName::Letters),
            ("../x", NotAName::Letters),
            ("a\u{1b}[31m", NotAName::Letters),
            ("s_12", NotAName::Reserved),
            ("q_1", NotAName::Reserved),
            ("last", NotAName::Reserved),
        ] {
            assert_eq!(SessionName::new(text), Err(why), "{text}");
        }
        assert_eq!(SessionName::new(&"x".repeat(40)).map(|_| ()), Ok(()));
        assert_eq!(SessionName::new(&"x".repeat(41)), Err(NotAName::Length));
    }
}
