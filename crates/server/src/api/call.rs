//! What is said over a session's own socket. Both ends are this program, so nothing of it stands in the document of the
//! interface.

use ostler_engine::{
    answer::Answer,
    request::{Ask, Install},
};
use ostler_protocol::mask::is_masked;
use ostler_protocol::signal::{
    DependencyRequest, DependencyType, ErrorReport, ErrorSeverity, QuestionCategory, Recovery, UserQuestion,
};
use serde::{Deserialize, Serialize};

/// The longest text of one field: as much as a whole block on the output.
const TEXT_BYTES_MAX: usize = 256 << 10;

/// Something that a process of an agent asks, and waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum NewCall {
    /// A question.
    Question {
        /// What it is about; by the options, if nothing is said.
        #[serde(default)]
        category: Option<QuestionCategory>,
        /// The question.
        question: String,
        /// What can be chosen.
        #[serde(default)]
        options: Vec<String>,
        /// The answer when nobody gives one.
        #[serde(default)]
        default: Option<String>,
        /// Whether it waits for ever.
        required: bool,
    },
    /// A thing that it needs.
    Dependency {
        /// What sort of thing.
        #[serde(rename = "type")]
        dependency_type: DependencyType,
        /// Its name.
        name: String,
        /// What the person is told.
        #[serde(default)]
        description: String,
        /// Whether it cannot do without.
        required: bool,
        /// What to use when the person gives nothing.
        #[serde(default)]
        default: Option<String>,
    },
    /// Something that went wrong.
    Error {
        /// Whether going on is thinkable.
        severity: ErrorSeverity,
        /// One line.
        message: String,
        /// The long form.
        #[serde(default)]
        details: Option<String>,
        /// What should happen now.
        #[serde(default)]
        recovery: Option<Recovery>,
    },
}

/// A step that is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewStep {
    /// Which step.
    pub step: String,
    /// What came of it.
    #[serde(default)]
    pub summary: Option<String>,
}

/// How it stands with a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallView {
    /// The request that was made of it.
    pub request: String,
    /// The caller's own name for it.
    pub key: String,
    /// How it stands.
    pub state: CallState,
}

/// How it can stand with a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CallState {
    /// Nobody has settled it yet.
    Waiting,
    /// It is settled, and the answer is the caller's to say. It says that it has it first.
    Answered {
        /// The answer.
        answer: CallAnswer,
    },
    /// There will be no answer: the session is over, or is to end.
    Over,
    /// What comes of it goes another way: somebody else has asked the same, or the caller was taken for gone.
    Elsewhere,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum CallAnswer {
    /// Words, or an option.
    Text {
        /// As it was given.
        text: String,
        /// What was said beside a yes or no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remark: Option<String>,
        /// The number of the option, counted from 1, where its text contains a masked secret: the caller has the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        option: Option<u32>,
    },
    /// Nobody answered, and nothing stands for it.
    Nothing,
    /// It may have it, or do it.
    Approved,
    /// It may not.
    Denied {
        /// Why not.
        reason: Option<String>,
    },
    /// The file is there.
    Path {
        /// Where.
        path: String,
    },
    /// The values are in the session's private file by now, which the caller reads itself.
    Provided {
        /// Under these names.
        names: Vec<String>,
    },
    /// It has to do without.
    Skipped {
        /// Or with this.
        default: Option<String>,
    },
    /// A package was approved, and something has come of it.
    Installed {
        /// Whether it is there now.
        installed: bool,
        /// Why not.
        reason: Option<String>,
    },
    /// It is to go on, and may be told something.
    GoOn {
        /// What it is told.
        words: Option<String>,
    },
    /// It is to try again.
    Retry,
    /// The session has failed.
    Fail,
}

impl CallAnswer {
    /// What came of a request.
    pub(crate) fn of(answer: &Answer, install: Option<&Install>) -> CallAnswer {
        match answer {
            Answer::Text { text } => CallAnswer::Text { text: text.clone(), remark: None, option: None },
            Answer::Chosen { text, number } => {
                CallAnswer::Text { text: text.clone(), remark: None, option: Some(*number) }
            }
            Answer::Remarked { text, remark } => {
                CallAnswer::Text { text: text.clone(), remark: Some(remark.clone()), option: None }
            }
            // Nobody is blocked for a review.
            Answer::Nothing
            | Answer::TreeApproved { .. }
            | Answer::Changes { .. }
            | Answer::Rejected { .. }
            | Answer::Again => CallAnswer::Nothing,
            Answer::Approved { .. } => match install {
                Some(Install { installed, reason }) => {
                    CallAnswer::Installed { installed: *installed, reason: reason.clone() }
                }
                None => CallAnswer::Approved,
            },
            Answer::Denied { reason } => CallAnswer::Denied { reason: reason.clone() },
            Answer::Path { path } => CallAnswer::Path { path: path.clone() },
            Answer::Provided { names, .. } => CallAnswer::Provided { names: names.clone() },
            Answer::Skipped { default } => CallAnswer::Skipped { default: default.clone() },
            Answer::GoOn { words } => CallAnswer::GoOn { words: words.clone() },
            Answer::Raised { .. } => CallAnswer::GoOn { words: None },
            Answer::Retry => CallAnswer::Retry,
            Answer::Fail => CallAnswer::Fail,
        }
    }
}

impl NewCall {
    /// The answer as the caller knows it: with its own words in place of masked ones. Nothing that is delivered to an
    /// agent is masked, and the caller is the only one who has its words as they were.
    pub fn restored(&self, answer: CallAnswer) -> CallAnswer {
        match (self, answer) {
            (NewCall::Question { options, default, .. }, CallAnswer::Text { text, remark, option })
                if is_masked(&text) =>
            {
                // As on the server, a default that is not among the options comes after them.
                let own = match option.and_then(|number| usize::try_from(number).ok()) {
                    Some(number) => options.get(number - 1).or(default.as_ref()),
                    None => default.as_ref().filter(|default| default.trim().len() == text.len()),
                };
                let text = own.map_or(text, |own| own.trim().to_owned());
                CallAnswer::Text { text, remark, option: None }
            }
            (
                NewCall::Dependency { default: Some(own), .. },
                CallAnswer::Skipped { default: Some(default) },
            ) if is_masked(&default) => CallAnswer::Skipped { default: Some(own.trim().to_owned()) },
            (_, answer) => answer,
        }
    }
}

/// Why something cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAsked {
    /// A text is missing.
    Empty {
        /// Which one.
        field: &'static str,
    },
    /// A text is too long.
    Long {
        /// Which one.
        field: &'static str,
    },
    /// A choice without anything to choose from.
    NoOptions,
}

impl NewCall {
    /// What is asked, in the form that a block on the output would have given it.
    pub(crate) fn ask(self) -> Result<Ask, NotAsked> {
        match self {
            NewCall::Question { category, question, options, default, required } => {
                let question = text("question", &question)?;
                let options = options.iter().map(|option| text("option", option));
                let mut options = options.collect::<Result<Vec<_>, _>>()?;
                let default = default.map(|default| text("default", &default)).transpose()?;
                let category = category.unwrap_or(if options.is_empty() {
                    QuestionCategory::Clarification
                } else {
                    QuestionCategory::Choice
                });
                if category == QuestionCategory::Choice && options.is_empty() {
                    return Err(NotAsked::NoOptions);
                }
                // As on the output: a default outside the options is one of them.
                if let Some(default) =
                    default.as_ref().filter(|it| !options.is_empty() && !options.contains(it))
                {
                    options.push(default.clone());
                }
                Ok(Ask::Question(UserQuestion { category, question, options, default, required }))
            }
            NewCall::Dependency { dependency_type, name, description, required, default } => {
                let name = text("name", &name)?;
                let description = clean("description", &description)?;
                let default = default.map(|default| text("default", &default)).transpose()?;
                Ok(Ask::Dependency(DependencyRequest {
                    dependency_type,
                    name,
                    description,
                    required,
                    default,
                }))
            }
            NewCall::Error { severity, message, details, recovery } => {
                let message = text("message", &message)?;
                let details = details.map(|details| clean("details", &details)).transpose()?;
                let recovery = match (severity, recovery.unwrap_or(Recovery::NotifyUser)) {
                    // What will not work later is not waited for.
                    (ErrorSeverity::Fatal, Recovery::PauseAndRetry) => Recovery::NotifyUser,
                    (_, recovery) => recovery,
                };
                Ok(Ask::Error(ErrorReport { severity, message, details, recovery }))
            }
        }
    }
}

/// A text that has to be there.
pub(crate) fn text(field: &'static str, value: &str) -> Result<String, NotAsked> {
    let cleaned = clean(field, value)?;
    if cleaned.is_empty() { Err(NotAsked::Empty { field }) } else { Ok(cleaned) }
}

/// A text without what a terminal would take for commands.
pub(crate) fn clean(field: &'static str, value: &str) -> Result<String, NotAsked> {
    if value.len() > TEXT_BYTES_MAX {
        return Err(NotAsked::Long { field });
    }
    let kept = |it: &char| !it.is_control() || matches!(it, '\n' | '\t');
    Ok(value.chars().filter(kept).collect::<String>().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(options: &[&str], default: Option<&str>, category: Option<QuestionCategory>) -> NewCall {
        NewCall::Question {
            category,
            question: " Which\u{1b}[31m? ".to_owned(),
            options: options.iter().map(ToString::to_string).collect(),
            default: default.map(str::to_owned),
            required: true,
        }
    }

    #[test]
    fn a_call_asks_what_a_block_would() {
        let Ok(Ask::Question(asked)) = question(&["a", "b"], Some("c"), None).ask() else {
            panic!("a question")
        };
        assert_eq!(asked.question, "Which[31m?");
        assert_eq!(asked.category, QuestionCategory::Choice);
        assert_eq!(asked.options, ["a", "b", "c"]);
        let choice = question(&[], None, Some(QuestionCategory::Choice));
        assert_eq!(choice.ask(), Err(NotAsked::NoOptions));
        assert_eq!(question(&["a", " "], None, None).ask(), Err(NotAsked::Empty { field: "option" }));
        let long = NewCall::Error {
            severity: ErrorSeverity::Fatal,
            message: "x".repeat(TEXT_BYTES_MAX + 1),
            details: None,
            recovery: None,
        };
        assert_eq!(long.ask(), Err(NotAsked::Long { field: "message" }));
    }

    #[test]
    fn a_fatal_error_is_not_tried_again_by_itself() {
        let error = NewCall::Error {
            severity: ErrorSeverity::Fatal,
            message: "gone".to_owned(),
            details: None,
            recovery: Some(Recovery::PauseAndRetry),
        };
        let Ok(Ask::Error(report)) = error.ask() else { panic!("an error") };
        assert_eq!(report.recovery, Recovery::NotifyUser);
    }
}
