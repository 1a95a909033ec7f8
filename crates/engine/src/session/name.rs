//! What a person calls a session, beside its id.

use alloc::{borrow::ToOwned, string::String};
use core::fmt;

use serde::{Deserialize, Serialize};
use unicode_security::{
    GeneralSecurityProfile, RestrictionLevel, RestrictionLevelDetection, confusable_detection,
};

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
    /// A letter is invisible, or is not used in any language of today.
    Invisible,
    /// Letters of several scripts stand beside each other that look alike.
    MixedScripts,
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

    /// Reads a name that a person gives: one that a person can read and type again.
    pub fn new(text: &str) -> Result<SessionName, NotAName> {
        let name = SessionName::existing(text)?;
        let is_seen = |letter: char| "-_.".contains(letter) || letter.identifier_allowed();
        if !text.chars().all(is_seen) {
            return Err(NotAName::Invisible);
        }
        // Latin beside Chinese, Japanese or Korean letters is usual, and none of these look like each other.
        if text.check_restriction_level(RestrictionLevel::HighlyRestrictive) {
            Ok(name)
        } else {
            Err(NotAName::MixedScripts)
        }
    }

    /// Reads a name by which a session may be called already. Earlier versions took names that look like others.
    pub fn existing(text: &str) -> Result<SessionName, NotAName> {
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

    /// Whether a person may take one name for the other: `l` for `1`, or a Cyrillic letter for a Latin one.
    pub fn looks_like(&self, other: &SessionName) -> bool {
        confusable_detection::skeleton(&self.0).eq(confusable_detection::skeleton(&other.0))
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
        for (text, why) in [
            ("ab\u{3164}", NotAName::Invisible),
            ("\u{115f}a", NotAName::Invisible),
            ("a\u{ffa0}", NotAName::Invisible),
            ("a\u{200b}b", NotAName::Letters),
            ("a\u{202e}b", NotAName::Letters),
            ("a\u{2066}b", NotAName::Letters),
            ("logi\u{43d}", NotAName::MixedScripts),
            ("l\u{3bf}gin", NotAName::MixedScripts),
        ] {
            assert_eq!(SessionName::new(text), Err(why), "{text:?}");
        }
        for text in ["로그인-v2", "ログイン_fix", "登录.fix", "вход", "größe", "ab\u{301}"] {
            assert_eq!(
                SessionName::new(text).map(|_| ()).err(),
                (text == "ab\u{301}").then_some(NotAName::Letters),
                "{text}"
            );
        }
        assert_eq!(SessionName::new(&"x".repeat(40)).map(|_| ()), Ok(()));
        assert_eq!(SessionName::new(&"x".repeat(41)), Err(NotAName::Length));
    }

    #[test]
    fn names_that_look_alike_are_known() {
        let name = |text: &str| SessionName::new(text).expect("a name");
        for (one, other) in [("cop", "\u{441}\u{43e}\u{440}"), ("fix-1", "fix-l"), ("fix", "fix")] {
            assert!(name(one).looks_like(&name(other)), "{one} {other}");
        }
        for (one, other) in [("login", "logout"), ("fix", "Fix"), ("로그인", "로그아웃")] {
            assert!(!name(one).looks_like(&name(other)), "{one} {other}");
        }
    }
}
