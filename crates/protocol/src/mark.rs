//! Whether what an agent says also stands in what it was shown: then somebody else may have written it.
//!
//! Texts are compared by their letters and digits alone. So neither white space nor case nor Markdown hides that two
//! are the same, nor do the numbers, bars and quotation marks that tools put before a line. Nothing is decided here:
//! a mark is told to whoever has to answer.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::{item::What, signal::Signal};

/// So many letters and digits can be the same by chance, and no more.
const LETTERS_MIN: usize = 16;

/// The longest name of a tool, or of what it was used on, that is kept.
const NAME_CHARS_MAX: usize = 120;

/// Where the same stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// In whose text.
    pub source: MarkSource,
    /// The tool's name, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the tool was used on, in one line: a command, a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// In whose text the same stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkSource {
    /// In what a tool printed.
    ToolOutput,
    /// In what a sub-agent said.
    SubAgent,
    /// In what the agent was told to do.
    Prompt,
    /// In what a person wrote to the agent later.
    Message,
    /// In what the check printed.
    Check,
}

impl Mark {
    /// A mark without a tool.
    pub fn new(source: MarkSource) -> Mark {
        Mark { source, tool: None, about: None }
    }

    /// A mark with the tool that showed it; what is too long is cut.
    pub fn by_tool(source: MarkSource, tool: Option<&str>, about: Option<&str>) -> Mark {
        Mark { source, tool: tool.map(short), about: about.map(short) }
    }
}

/// What is looked for in other texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saying {
    /// Letters and digits. One that is found is enough.
    wanted: Vec<String>,
}

impl Saying {
    /// Made of texts of which each says enough to be told from others. Too short ones do not.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Saying {
        let mut wanted: Vec<String> = texts.into_iter().map(letters).collect();
        wanted.retain(|text| text.chars().count() >= LETTERS_MIN);
        Saying { wanted }
    }

    /// Whether there is anything to look for.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Whether it stands in the text.
    pub fn stands_in(&self, text: &str) -> bool {
        !self.is_empty() && self.stands_in_letters(&letters(text))
    }

    /// The same for a text of which only letters and digits are left.
    pub(crate) fn stands_in_letters(&self, text: &str) -> bool {
        self.wanted.iter().any(|wanted| memmem::find(text.as_bytes(), wanted.as_bytes()).is_some())
    }

    /// What is said in an item with this body.
    pub(crate) fn of(what: &What, body: &str) -> Saying {
        match what {
            What::Signal(signal) => Saying::new([body].into_iter().chain(question(signal))),
            What::Fault(_) => Saying::new([body]),
            What::Quoted(_) | What::Fact(_) => Saying { wanted: Vec::new() },
        }
    }
}

/// The words that a person is to act on. What an error reports or a result holds is often what a tool printed, and
/// counts only as a whole.
fn question(signal: &Signal) -> Option<&str> {
    match signal {
        Signal::DependencyRequest(request) => Some(&request.description),
        Signal::UserQuestion(question) => Some(&question.question),
        Signal::AskUser(ask) => Some(&ask.question),
        _ => None,
    }
}

/// Letters and digits, in lower case. What stands before the first letter of a line is left out: a tool may have put
/// it there.
pub(crate) fn letters(text: &str) -> String {
    let mut letters = String::with_capacity(text.len());
    for line in text.lines() {
        for char in line.chars().skip_while(|char| !char.is_alphabetic()) {
            if char.is_ascii() {
                letters.extend(char.is_ascii_alphanumeric().then_some(char.to_ascii_lowercase()));
            } else if char.is_alphanumeric() {
                letters.extend(char.to_lowercase());
            }
        }
    }
    letters
}

/// One line that fits on a card.
pub(crate) fn short(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut chars = line.chars().map(|char| if char.is_control() { ' ' } else { char });
    let mut short: String = chars.by_ref().take(NAME_CHARS_MAX).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short.trim().to_owned()
}

impl MarkSource {
    /// The name as it is written in JSON.
    pub fn name(self) -> &'static str {
        match self {
            MarkSource::ToolOutput => "tool_output",
            MarkSource::SubAgent => "sub_agent",
            MarkSource::Prompt => "prompt",
            MarkSource::Message => "message",
            MarkSource::Check => "check",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_letters_and_digits_count() {
        assert_eq!(letters("  12→**Which** data-base?\n> - PostgreSQL 17\n"), "whichdatabasepostgresql17");
        assert_eq!(letters("질문: 어떤\u{200b} 로그인?"), "질문어떤로그인");
        assert_eq!(letters("\n 1 2 3 \n"), "");
    }

    #[test]
    fn what_a_tool_puts_before_lines_hides_nothing() {
        let saying = Saying::new(["category: choice\nquestion: Which one?\n- red\n"]);
        for shown in [
            "category: choice\nquestion: Which one?\n- red",
            "     1\tcategory: choice\n     2\tquestion: Which one?\n     3\t- red\n",
            "> category: choice\n> question: Which one?\n> - red\n",
            "+category: CHOICE\r\n+question:   which one?\r\n+- red",
            "text before category: choice question: Which one? - red text behind",
        ] {
            assert!(saying.stands_in(shown), "{shown}");
        }
        assert!(!saying.stands_in("category: choice\nquestion: Which two?\n- red"));
    }

    #[test]
    fn what_is_too_short_proves_nothing() {
        let saying = Saying::new(["Go on, please?", ""]);
        assert!(saying.is_empty());
        assert!(!saying.stands_in("Go on, please?"));
    }

    #[test]
    fn a_name_is_one_short_line() {
        assert_eq!(short("\n cat\ta\nrm b"), "cat a");
        assert_eq!(short(&"x".repeat(200)).chars().count(), NAME_CHARS_MAX + 1);
    }

    #[test]
    fn a_source_is_written_as_it_is_called() {
        for source in [
            MarkSource::ToolOutput,
            MarkSource::SubAgent,
            MarkSource::Prompt,
            MarkSource::Message,
            MarkSource::Check,
        ] {
            let json = serde_json::to_value(source).expect("a name");
            assert_eq!(json, source.name());
        }
    }
}
