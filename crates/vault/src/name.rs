//! What a secret is called, and to whom it belongs.

use std::fmt;

/// The longest name.
const NAME_BYTES_MAX: usize = 128;

/// The name of a secret, which is that of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

/// What was said is no name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidName {
    /// What was said.
    pub text: String,
}

impl Name {
    /// Letters, digits and underscores, and no digit first: what every shell takes as a variable.
    pub fn new(text: &str) -> Result<Name, InvalidName> {
        let is_word = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
        let begins = text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
        if begins && text.len() <= NAME_BYTES_MAX && text.bytes().all(is_word) {
            Ok(Name(text.to_owned()))
        } else {
            Err(InvalidName { text: text.to_owned() })
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// To whom a secret belongs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// To a project, by its id (`p_3`): its sessions may be given it.
    Project(String),
    /// To one session, by its id (`s_12`).
    Session(String),
}

/// What was said belongs to nobody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidScope {
    /// What was said.
    pub text: String,
}

impl Scope {
    /// From the id of a project or a session.
    pub fn new(id: &str) -> Result<Scope, InvalidScope> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match id.split_once('_') {
            Some(("p", number)) if is_number(number) => Ok(Scope::Project(id.to_owned())),
            Some(("s", number)) if is_number(number) => Ok(Scope::Session(id.to_owned())),
            _ => Err(InvalidScope { text: id.to_owned() }),
        }
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        match self {
            Scope::Project(id) | Scope::Session(id) => id,
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no name of a variable: letters, digits and _, no digit first", self.text)
    }
}

impl fmt::Display for InvalidScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no id of a project or a session", self.text)
    }
}

impl std::error::Error for InvalidName {}

impl std::error::Error for InvalidScope {}

#[cfg(test)]
mod tests {
    use super::{Name, Scope};

    #[test]
    fn names_are_those_of_variables() {
        for good in ["A", "_", "STRIPE_SECRET_KEY", "a1"] {
            assert_eq!(Name::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "1A", "A-B", "A B", "A=B", "A\n", "ключ", &"A".repeat(129)] {
            assert!(Name::new(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn scopes_are_ids() {
        assert_eq!(Scope::new("p_3"), Ok(Scope::Project("p_3".to_owned())));
        assert_eq!(Scope::new("s_12"), Ok(Scope::Session("s_12".to_owned())));
        for bad in ["", "p_", "p_x", "q_1", "p_1\u{0}", "../p_1"] {
            assert!(Scope::new(bad).is_err(), "{bad}");
        }
    }
}
