//! The short text that teaches an agent how to ask; no model prints `[USER_QUESTION]` by itself.

/// The version of the text: it changes whenever the words do, so that a session can say what its agent was told.
pub const VERSION: u32 = 1;

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
