//! The short text that teaches an agent how to ask; no model prints `[USER_QUESTION]` by itself.

/// The version of the text: it changes whenever the words do, so that a session can say what its agent was told.
pub const VERSION: u32 = 2;

/// The languages of the guide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// English.
    English,
    /// Korean.
    Korean,
}

/// The guide.
pub fn text(language: Language) -> &'static str {
    match language {
        Language::English => include_str!("guide/en.md"),
        Language::Korean => include_str!("guide/ko.md"),
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, vec::Vec};

    use super::*;
    use crate::{Format, Parser, Settings};

    /// Version 1 was measured with two common tokenizers: English 278 and 276 tokens, Korean 305 and 384. Version 2 has
    /// one English sentence more, of some fifty tokens, and in Korean no more characters, more of them ASCII. Who makes a
    /// text longer measures again: the limit is 400.
    #[test]
    fn the_guide_is_short_and_names_its_version() {
        for (language, chars_max, version) in [
            (Language::English, 1_400, format!("guide {VERSION}")),
            (Language::Korean, 860, format!("안내 {VERSION}")),
        ] {
            assert!(text(language).chars().count() <= chars_max, "{language:?}");
            assert!(text(language).contains(&version), "{language:?}");
        }
    }

    #[test]
    fn what_the_guide_teaches_is_understood() {
        for language in [Language::English, Language::Korean] {
            let mut parser = Parser::new(Format::Text, Settings::default());
            parser.push(text(language).as_bytes());
            parser.finish();
            let kinds: Vec<_> = parser.map(|item| item.what.kind()).collect();
            assert_eq!(kinds, ["user_question", "dependency_request", "error"]);
        }
    }
}
