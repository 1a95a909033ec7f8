//! The words of a search.

use std::fmt;

use memchr::memmem::Finder;

use crate::folding::fold;

/// The most words of one search.
pub const WORDS_MAX: usize = 16;

/// The longest word, in characters.
pub const WORD_CHARS_MAX: usize = 200;

/// Words that a file has to hold, all of them, in any case. A word may have spaces in it.
#[derive(Debug, Clone)]
pub struct MemoryQuery {
    finders: Vec<Finder<'static>>,
}

/// The reason why words cannot be searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryError {
    /// There is no word.
    Empty,
    /// There are more than [`WORDS_MAX`].
    TooMany,
    /// A word has more than [`WORD_CHARS_MAX`] characters.
    TooLong,
    /// A word goes over the end of a line, or has a character that no text has.
    NoText,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryError::Empty => f.write_str("there is no word to search for"),
            QueryError::TooMany => write!(f, "a search takes at most {WORDS_MAX} words"),
            QueryError::TooLong => write!(f, "a word has at most {WORD_CHARS_MAX} characters"),
            QueryError::NoText => f.write_str("a word stands in one line, and has no NUL in it"),
        }
    }
}

impl std::error::Error for QueryError {}

impl MemoryQuery {
    /// Takes words as a person wrote them. Empty ones do not count.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<MemoryQuery, QueryError> {
        let mut finders = Vec::new();
        for word in words.into_iter().map(str::trim).filter(|it| !it.is_empty()) {
            if word.contains(['\n', '\r', '\0']) {
                return Err(QueryError::NoText);
            }
            if word.chars().count() > WORD_CHARS_MAX {
                return Err(QueryError::TooLong);
            }
            if finders.len() == WORDS_MAX {
                return Err(QueryError::TooMany);
            }
            finders.push(Finder::new(&fold(word.as_bytes())).into_owned());
        }
        if finders.is_empty() { Err(QueryError::Empty) } else { Ok(MemoryQuery { finders }) }
    }

    /// The words, ready to be looked for in folded text.
    pub(crate) fn finders(&self) -> &[Finder<'static>] {
        &self.finders
    }

    /// Whether folded text holds every word.
    pub fn is_in(&self, folded: &[u8]) -> bool {
        self.finders.iter().all(|finder| finder.find(folded).is_some())
    }

    /// Whether folded text holds any of the words.
    pub fn is_partly_in(&self, folded: &[u8]) -> bool {
        self.finders.iter().any(|finder| finder.find(folded).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_bounded() {
        let check = |words: &[&str], expected: Option<QueryError>| {
            assert_eq!(MemoryQuery::new(words.iter().copied()).err(), expected, "{words:?}");
        };
        check(&["a"], None);
        check(&["", " 인 "], None);
        check(&[], Some(QueryError::Empty));
        check(&["", "  "], Some(QueryError::Empty));
        check(&["a\nb"], Some(QueryError::NoText));
        check(&[&"가".repeat(WORD_CHARS_MAX)], None);
        check(&[&"가".repeat(WORD_CHARS_MAX + 1)], Some(QueryError::TooLong));
        check(&["x"; WORDS_MAX], None);
        check(&["x"; WORDS_MAX + 1], Some(QueryError::TooMany));
    }
}
