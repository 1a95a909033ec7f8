//! What a person says to a request, and what it means there.

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};

use ostler_protocol::{
    mask::is_masked,
    signal::{DependencyRequest, DependencyType},
};
use serde::{Deserialize, Serialize};

use crate::{
    budget,
    permission::{self, DENY, PermissionRule},
    request::Ask,
};

/// The option that has an agent do without what it asked for.
const SKIP: &str = "skip";

/// What a person gives.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Given {
    /// Words, an option, its number, or a path.
    #[serde(default)]
    pub value: Option<String>,
    /// Yes or no.
    #[serde(default)]
    pub decision: Option<bool>,
    /// Whether the words count although they are none of the options.
    #[serde(default)]
    pub insist: bool,
    /// The names of values that are in the vault by now. The values themselves never come here.
    #[serde(default)]
    pub provided: Vec<String>,
    /// Whether they may be given again to whoever asks for them in the same project.
    #[serde(default)]
    pub reuse: bool,
    /// Whether a person declines: the agent goes on without an answer, or with the default.
    #[serde(default)]
    pub skip: bool,
}

/// What settles a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Words, or an option.
    Text {
        /// As the agent gets it.
        text: String,
    },
    /// A yes or no, and words beside it. Who reads a reply in its form gets the one, who reads sentences both.
    Remarked {
        /// The yes or no, as the agent gets it.
        text: String,
        /// The words.
        remark: String,
    },
    /// An option whose text contains a masked secret. The agent is told the number, because only its own side knows the text.
    Chosen {
        /// The option as it is shown, masked.
        text: String,
        /// Its number, counted from 1.
        number: u32,
    },
    /// Nobody answered, and nothing stands for it.
    Nothing,
    /// It may have it, or do it.
    Approved {
        /// Whether that holds for the rest of the session.
        for_session: bool,
        /// The rule that a person chose with it, or by which it was approved. Answers of before there were rules have
        /// none, and allow nothing else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<Box<PermissionRule>>,
    },
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
    /// The values are in the vault.
    Provided {
        /// Under these names.
        names: Vec<String>,
        /// Whether they may be given again in the same project.
        reuse: bool,
    },
    /// It has to do without.
    Skipped {
        /// Or with this.
        default: Option<String>,
    },
    /// It is to go on, and may be told something.
    GoOn {
        /// What it is told.
        words: Option<String>,
    },
    /// It may use so much more from now on: milliseconds, billionths of a US dollar, or tokens.
    Raised {
        /// How much.
        by: u64,
    },
    /// It is to try again.
    Retry,
    /// The session has failed.
    Fail,
    /// The work of a phase is approved: exactly this.
    TreeApproved {
        /// The tree.
        tree: String,
        /// Whether the gate had failed.
        insisted: bool,
    },
    /// Something of it is to be changed.
    Changes {
        /// What.
        words: String,
    },
    /// It is rejected, and with it the run.
    Rejected {
        /// Why.
        words: Option<String>,
    },
    /// It is to be looked at again.
    Again,
}

impl Answer {
    /// It may have it, or do it, this once.
    pub const ONCE: Answer = Answer::Approved { for_session: false, rule: None };

    /// The answer that a text is, which may be the option at this place.
    fn of_option(text: String, place: Option<usize>) -> Self {
        let number = place.and_then(|place| u32::try_from(place + 1).ok());
        match number.filter(|_| is_masked(&text)) {
            Some(number) => Self::Chosen { text, number },
            None => Self::Text { text },
        }
    }

    /// The default of a question as its answer, if it has one.
    pub(crate) fn by_default(ask: &Ask) -> Option<Self> {
        let text = ask.default_answer()?;
        let place = ask.options().iter().position(|option| option == text);
        Some(Self::of_option(text.to_owned(), place))
    }

    /// Whether it gives the agent values, where it has asked for some.
    pub const fn gives_values(&self) -> bool {
        matches!(self, Self::Provided { .. } | Self::Skipped { default: Some(_) })
    }

    /// Whether the session is over with it.
    pub const fn ends(&self) -> bool {
        matches!(self, Self::Fail | Self::Rejected { .. })
    }
}

/// What a person decides about the work of a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is approved.
    Approve {
        /// The tree that they have seen.
        tree: String,
        /// Whether that holds although the gate has failed.
        insist: bool,
    },
    /// Something of it is to be changed.
    Changes {
        /// What.
        words: String,
    },
    /// It is rejected.
    Reject {
        /// Why.
        words: Option<String>,
    },
    /// It is to be looked at again.
    Again,
}

/// Why something given is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum NotAnAnswer {
    /// It is none of the options.
    NotAnOption {
        /// What can be chosen.
        options: Vec<String>,
        /// The one that was probably meant.
        nearest: Option<String>,
    },
    /// A budget cannot be raised by it.
    NoAmount {
        /// What was given.
        text: String,
    },
    /// Nothing was given.
    Empty,
    /// A yes or no is wanted.
    YesOrNo,
    /// A value is wanted, and words are none: they would stand in the journal.
    ValueWanted,
    /// Values were given to something that asks for none, or under other names.
    NotAsked {
        /// The names.
        names: Vec<String>,
    },
    /// It cannot be skipped: the agent says that it cannot do without.
    Required,
    /// It is about a tree, which an answer does not name.
    ReviewWanted,
}

/// What something given means as the answer to a request.
pub fn read(ask: &Ask, rules: &[PermissionRule], given: &Given) -> Result<Answer, NotAnAnswer> {
    if !given.provided.is_empty() && !ask.wants_values() {
        return Err(NotAnAnswer::NotAsked { names: given.provided.clone() });
    }
    match ask {
        Ask::Question(_) | Ask::AskUser(_) => choice(ask, given),
        Ask::Dependency(dependency) => read_dependency(ask, dependency, given),
        Ask::Permission(_) => match (given.decision, &given.value) {
            (Some(true), _) => Ok(Answer::ONCE),
            (Some(false), _) => Ok(Answer::Denied { reason: reason(given) }),
            (None, Some(word)) => permission_word(word, &permission::options(rules), rules, given.insist),
            (None, None) => Err(NotAnAnswer::YesOrNo),
        },
        Ask::TimeOver { .. } | Ask::CostOver { .. } | Ask::TokensOver { .. } => raise(ask, given),
        Ask::Error(_) | Ask::Fault { .. } | Ask::Stall { .. } | Ask::Steered { .. } => go_on(ask, given),
        Ask::Review(_) => Err(NotAnAnswer::ReviewWanted),
    }
}

/// Why it is denied, if somebody said so.
fn reason(given: &Given) -> Option<String> {
    let reason = given.value.as_deref().map(str::trim)?;
    (!reason.is_empty()).then(|| reason.to_owned())
}

/// Words or an option; beside a yes or no they say why.
fn choice(ask: &Ask, given: &Given) -> Result<Answer, NotAnAnswer> {
    if given.skip {
        return decline(ask);
    }
    let options = ask.options();
    let word = given.decision.map(|yes| if yes { "Yes" } else { "No" });
    let remark = given.value.as_deref().map(str::trim).filter(|remark| !remark.is_empty());
    if let (Some(word), Some(remark)) = (word, remark)
        && let Ok(text) = choose(&options, word, false)
    {
        return Ok(Answer::Remarked { text, remark: remark.to_owned() });
    }
    let value = given.value.as_deref().filter(|_| word.is_none() || remark.is_some());
    let words = value.or(word).ok_or(NotAnAnswer::Empty)?;
    choose(&options, words, given.insist).map(|text| {
        let number = words.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let is_its = |place: &usize| options.get(*place) == Some(&text);
        let place = number.filter(is_its).or_else(|| options.iter().position(|option| *option == text));
        Answer::of_option(text, place)
    })
}

/// A person declines a question: its default is the answer; without one, an optional question has none.
fn decline(ask: &Ask) -> Result<Answer, NotAnAnswer> {
    match Answer::by_default(ask) {
        Some(answer) => Ok(answer),
        None if ask.is_required() => Err(NotAnAnswer::Required),
        None => Ok(Answer::Skipped { default: None }),
    }
}

/// What can be chosen for a dependency, in the order of its numbers; empty where a value or a file is wanted. Every
/// client shows these, so a number means the same everywhere.
pub(crate) fn dependency_options(dependency: &DependencyRequest) -> Vec<String> {
    let is_decided =
        matches!(dependency.dependency_type, DependencyType::Permission | DependencyType::Package);
    let skip = (!dependency.required).then_some(SKIP);
    let options = ["approve", DENY].into_iter().chain(skip).filter(|_| is_decided);
    options.map(ToOwned::to_owned).collect()
}

fn read_dependency(ask: &Ask, dependency: &DependencyRequest, given: &Given) -> Result<Answer, NotAnAnswer> {
    if given.decision == Some(false) {
        return Ok(Answer::Denied { reason: reason(given) });
    }
    if given.skip {
        return skip(ask, dependency);
    }
    match (dependency.dependency_type, given.decision, &given.value) {
        (DependencyType::Permission | DependencyType::Package, Some(true), _) => Ok(Answer::ONCE),
        (DependencyType::Permission | DependencyType::Package, _, Some(word)) => {
            let options = dependency_options(dependency);
            match choose(&options, word.trim(), false) {
                Ok(option) if option == SKIP => skip(ask, dependency),
                _ => permission_word(word, &options, &[], given.insist),
            }
        }
        (DependencyType::Permission | DependencyType::Package, _, None) => Err(NotAnAnswer::YesOrNo),
        (DependencyType::File, _, Some(path)) if !path.trim().is_empty() => {
            Ok(Answer::Path { path: path.clone() })
        }
        (DependencyType::File, _, _) => Err(NotAnAnswer::Empty),
        (DependencyType::ApiKey | DependencyType::EnvVariable | DependencyType::Service, _, _) => {
            let names = given.provided.clone();
            let is_service = dependency.dependency_type == DependencyType::Service;
            if names.is_empty() {
                Err(NotAnAnswer::ValueWanted)
            } else if is_service || names == [dependency.name.as_str()] {
                Ok(Answer::Provided { names, reuse: given.reuse })
            } else {
                Err(NotAnAnswer::NotAsked { names })
            }
        }
    }
}

/// What can be done without is done without, and what has a default is done with that.
fn skip(ask: &Ask, dependency: &DependencyRequest) -> Result<Answer, NotAnAnswer> {
    let default = ask.default_answer().map(ToOwned::to_owned);
    if dependency.required && default.is_none() {
        return Err(NotAnAnswer::Required);
    }
    Ok(Answer::Skipped { default })
}

/// A budget: as much again, so much more, or over.
fn raise(ask: &Ask, given: &Given) -> Result<Answer, NotAnAnswer> {
    let word = given.decision.map(|yes| if yes { "raise" } else { "stop" });
    let words = given.value.as_deref().or(word).ok_or(NotAnAnswer::Empty)?.trim();
    let mut parts = words.split_whitespace().filter(|part| *part != "by");
    let first = parts.next().ok_or(NotAnAnswer::Empty)?;
    // To go on or to fail is what other cards offer; here it means the same.
    let first = match first {
        "continue" => "raise",
        "fail" => "stop",
        other => other,
    };
    let amount = parts.next();
    let is_more = parts.next().is_some();
    let option = choose(&ask.options(), if is_more { words } else { first }, false)?;
    match (option.as_str(), amount) {
        ("raise", None) => Ok(Answer::GoOn { words: None }),
        ("raise", Some(amount)) => {
            let by = match ask {
                Ask::CostOver { .. } => budget::cost_nusd(amount),
                Ask::TokensOver { .. } => budget::tokens(amount),
                _ => budget::time_ms(amount),
            };
            by.map(|by| Answer::Raised { by }).ok_or_else(|| NotAnAnswer::NoAmount { text: amount.into() })
        }
        (_, None) => Ok(Answer::Fail),
        (_, Some(_)) => Err(NotAnAnswer::NotAnOption { options: ask.options(), nearest: Some(option) }),
    }
}

/// Errors: on with it, again, or over. Other words are told to an agent that can use them.
fn go_on(ask: &Ask, given: &Given) -> Result<Answer, NotAnAnswer> {
    let word = given.decision.map(|yes| if yes { "continue" } else { "fail" });
    let words = given.value.as_deref().or(word).map(str::trim);
    let words = words.filter(|words| !words.is_empty()).ok_or(NotAnAnswer::Empty)?;
    let can_be_told = matches!(ask, Ask::Error(_) | Ask::Fault { .. });
    match choose(&ask.options(), words, false) {
        Ok(option) => Ok(match option.as_str() {
            "retry" => Answer::Retry,
            "fail" => Answer::Fail,
            _ => Answer::GoOn { words: None },
        }),
        Err(_) if can_be_told && words.contains(' ') => Ok(Answer::GoOn { words: Some(words.to_owned()) }),
        Err(error) => Err(error),
    }
}

/// An option, or words: those deny, and say why.
fn permission_word(
    word: &str,
    options: &[String],
    rules: &[PermissionRule],
    insist: bool,
) -> Result<Answer, NotAnAnswer> {
    let sentence = word.trim();
    match choose(options, sentence, false) {
        Ok(option) if option == DENY => Ok(Answer::Denied { reason: None }),
        Ok(option) => Ok(match rules.iter().find(|rule| rule.option() == option) {
            Some(rule) => Answer::Approved { for_session: true, rule: Some(Box::new(rule.clone())) },
            None => Answer::ONCE,
        }),
        Err(error) => match permission::why_denied(sentence, options, insist, &error) {
            Some(reason) => Ok(Answer::Denied { reason: Some(reason.to_owned()) }),
            None => Err(error),
        },
    }
}

/// The option that is meant: exactly, else by its number, else whatever the case.
fn choose(options: &[String], words: &str, insist: bool) -> Result<String, NotAnAnswer> {
    let words = words.trim_end_matches(['\r', '\n']);
    if options.is_empty() || options.iter().any(|option| option == words) {
        return if words.trim().is_empty() { Err(NotAnAnswer::Empty) } else { Ok(words.to_owned()) };
    }
    let trimmed = words.trim();
    let by_number = trimmed.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
    let folded = trimmed.to_lowercase();
    let same = |option: &&String| option.trim().to_lowercase() == folded;
    if let Some(option) = by_number.or_else(|| options.iter().find(same)) {
        return Ok(option.clone());
    }
    if insist && !trimmed.is_empty() {
        return Ok(words.to_owned());
    }
    let begins = |option: &&String| !folded.is_empty() && option.to_lowercase().starts_with(&folded);
    let mut nearest = options.iter().filter(begins);
    let nearest = nearest.next().filter(|_| nearest.next().is_none()).or_else(|| closest(options, &folded));
    Err(NotAnAnswer::NotAnOption { options: options.to_vec(), nearest: nearest.map(ToString::to_string) })
}

/// The option with the fewest changes to the word, if they are few.
fn closest<'a>(options: &'a [String], word: &str) -> Option<&'a String> {
    let names = options.iter().map(String::as_str);
    let name = ostler_agents::nearest(word, names)?;
    options.iter().find(|option| *option == name)
}

#[cfg(test)]
mod tests {
    use std::vec;

    use ostler_protocol::{
        fact::PermissionRequest,
        signal::{QuestionCategory, UserQuestion},
    };

    use super::*;
    use crate::request::FaultReport;

    fn read(ask: &Ask, given: &Given) -> Result<Answer, NotAnAnswer> {
        super::read(ask, &[], given)
    }

    fn question(options: &[&str], category: QuestionCategory) -> Ask {
        Ask::Question(UserQuestion {
            category,
            question: "Which one?".into(),
            options: options.iter().map(ToString::to_string).collect(),
            default: None,
            required: true,
        })
    }

    fn said(value: &str) -> Given {
        Given { value: Some(value.into()), ..Given::default() }
    }

    #[test]
    fn a_masked_option_is_answered_by_its_number() {
        let ask = question(&["****", "****", "other"], QuestionCategory::Choice);
        let chosen = |number| Ok(Answer::Chosen { text: "****".into(), number });
        assert_eq!(read(&ask, &said("2")), chosen(2));
        assert_eq!(read(&ask, &said("****")), chosen(1), "as it is shown");
        assert_eq!(read(&ask, &said("3")), Ok(Answer::Text { text: "other".into() }));
        let Ask::Question(question) = ask else { panic!("a question") };
        let ask = Ask::Question(UserQuestion { default: Some("****".into()), ..question });
        assert_eq!(Answer::by_default(&ask), Some(Answer::Chosen { text: "****".into(), number: 1 }));
    }

    #[test]
    fn blank_words_settle_nothing_and_are_no_reason() {
        let fault = Ask::Fault(FaultReport { raw: "[ERROR".into(), ..FaultReport::default() });
        for blank in ["", " ", "  ", " \n"] {
            assert_eq!(read(&fault, &said(blank)), Err(NotAnAnswer::Empty), "{blank:?}");
        }
        assert_eq!(read(&fault, &said(" Continue ")), Ok(Answer::GoOn { words: None }));
        let words = Some("look at it again".into());
        assert_eq!(read(&fault, &said(" look at it again\n")), Ok(Answer::GoOn { words }));
        let permission = Ask::Permission(PermissionRequest {
            request_id: "1".into(),
            tool: "Bash".into(),
            description: None,
            input: serde_json::Value::Null,
        });
        for (words, reason) in [
            ("deny: use npm", Some("use npm")),
            ("deny use npm", Some("use npm")),
            ("use npm instead", Some("use npm instead")),
            ("deny, use npm", Some("use npm")),
            ("nope", Some("nope")),
            ("안돼", Some("안돼")),
            ("alow", None),
            ("7", None),
            ("yes please", None),
            ("allow it", None),
            ("allow this cal", None),
        ] {
            let denied = reason.map(|reason| Answer::Denied { reason: Some(reason.into()) });
            assert_eq!(read(&permission, &said(words)).ok(), denied, "{words}");
        }
        let insisted = Given { insist: true, ..said("alow") };
        assert_eq!(read(&permission, &insisted), Ok(Answer::Denied { reason: Some("alow".into()) }));
        let denied = Given { decision: Some(false), ..said("  ") };
        assert_eq!(read(&permission, &denied), Ok(Answer::Denied { reason: None }));
    }

    #[test]
    fn an_option_exactly_by_number_or_in_any_case() {
        let ask = question(&["PostgreSQL", "MySQL", "2"], QuestionCategory::Choice);
        let text = |value: &str| read(&ask, &said(value));
        assert_eq!(text("MySQL"), Ok(Answer::Text { text: "MySQL".into() }));
        assert_eq!(text("mysql"), Ok(Answer::Text { text: "MySQL".into() }));
        assert_eq!(text("1"), Ok(Answer::Text { text: "PostgreSQL".into() }));
        // What stands there exactly is meant before a number is.
        assert_eq!(text("2"), Ok(Answer::Text { text: "2".into() }));
        let options = vec!["PostgreSQL".into(), "MySQL".into(), "2".into()];
        let nearest = Some("PostgreSQL".into());
        assert_eq!(text("Postgre"), Err(NotAnAnswer::NotAnOption { options, nearest }));
        let insisted = Given { insist: true, ..said("SQLite") };
        assert_eq!(read(&ask, &insisted), Ok(Answer::Text { text: "SQLite".into() }));
        assert!(matches!(text("0"), Err(NotAnAnswer::NotAnOption { .. })));
    }

    #[test]
    fn a_confirmation_takes_yes_and_no() {
        let ask = question(&[], QuestionCategory::Confirmation);
        let yes = Given { decision: Some(true), ..Given::default() };
        assert_eq!(read(&ask, &yes), Ok(Answer::Text { text: "Yes".into() }));
        assert_eq!(read(&ask, &said("no")), Ok(Answer::Text { text: "No".into() }));
        assert!(read(&ask, &said("perhaps")).is_err());
        assert_eq!(read(&ask, &Given::default()), Err(NotAnAnswer::Empty));
        let no = Given { decision: Some(false), ..said("not on a Friday\n") };
        let remarked = Answer::Remarked { text: "No".into(), remark: "not on a Friday".into() };
        assert_eq!(read(&ask, &no), Ok(remarked));
        let no = Given { decision: Some(false), ..said(" ") };
        assert_eq!(read(&ask, &no), Ok(Answer::Text { text: "No".into() }), "nothing is no reason");
        // Where no yes or no can be chosen, the words are what counts.
        let ask = question(&["PostgreSQL", "MySQL"], QuestionCategory::Choice);
        let yes = Given { decision: Some(true), ..said("2") };
        assert_eq!(read(&ask, &yes), Ok(Answer::Text { text: "MySQL".into() }));
    }

    #[test]
    fn a_number_means_the_same_whether_a_permission_is_optional_or_not() {
        for dependency_type in [DependencyType::Permission, DependencyType::Package] {
            for required in [true, false] {
                let (name, description) = ("drop the table".into(), "It is empty.".into());
                let dependency =
                    DependencyRequest { dependency_type, name, description, required, default: None };
                let ask = Ask::Dependency(dependency);
                let options: &[&str] =
                    if required { &["approve", "deny"] } else { &["approve", "deny", "skip"] };
                assert_eq!(ask.options(), options);
                assert_eq!(read(&ask, &said("1")), Ok(Answer::ONCE));
                assert_eq!(read(&ask, &said("2")), Ok(Answer::Denied { reason: None }));
                let skipped = read(&ask, &said("3"));
                if required {
                    assert!(matches!(skipped, Err(NotAnAnswer::NotAnOption { .. })));
                } else {
                    assert_eq!(skipped, Ok(Answer::Skipped { default: None }));
                }
            }
        }
    }

    #[test]
    fn an_error_is_retried_passed_over_or_final() {
        let ask = Ask::Fault(FaultReport::default());
        assert_eq!(read(&ask, &said("continue")), Ok(Answer::GoOn { words: None }));
        assert_eq!(read(&ask, &said("2")), Ok(Answer::Fail));
        let words = Some("close the block please".into());
        assert_eq!(read(&ask, &said("close the block please")), Ok(Answer::GoOn { words }));
        assert!(read(&ask, &said("contine")).is_err());
    }
}
