//! The names of objects. Whatever is handed to git as a revision is one of these, so that no text from outside can
//! be read as an option or as a rule for finding revisions.

use std::fmt;

/// The full name of a commit: 40 or 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Commit(String);

impl Commit {
    /// The commit with this name; none if it is no full name.
    pub fn parse(text: &str) -> Option<Commit> {
        let is_name = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_name.then(|| Commit(text.to_ascii_lowercase()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The full name of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tree(pub(crate) String);

#[cfg(test)]
mod tests {
    use super::Commit;

    #[test]
    fn only_full_names() {
        assert!(Commit::parse(&"a1".repeat(20)).is_some());
        assert!(Commit::parse(&"A1".repeat(32)).is_some());
        for text in ["", "a1b2c3d", "HEAD", "--all", &"g1".repeat(20)] {
            assert!(Commit::parse(text).is_none(), "{text}");
        }
    }
}
