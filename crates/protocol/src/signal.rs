//! The signals an agent can send, as types: what a message says once it has been read and found valid.
//!
//! Field names are those of the wire, in `snake_case`; the JSON of `ostler parse` is made from these types.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::{name::AgentName, thin::Thin};

/// One protocol message of any dialect.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Signal {
    /// The agent needs a key, a file, a permission …
    DependencyRequest(DependencyRequest),
    /// The agent asks the person.
    UserQuestion(UserQuestion),
    /// The agent says that its phase is done.
    PhaseComplete(PhaseComplete),
    /// The agent reports that something went wrong.
    Error(ErrorReport),
    /// An office agent asks the person.
    AskUser(AskUser),
    /// An office agent calls another.
    Invoke(Invoke),
    /// An office agent hands over a result.
    DeliverResult(DeliverResult),
    /// An office agent has finished its step.
    StepComplete(StepComplete),
    /// A line of the thin dialect.
    Thin(Thin),
}

impl Signal {
    /// The kind as it is written in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            Signal::DependencyRequest(_) => "dependency_request",
            Signal::UserQuestion(_) => "user_question",
            Signal::PhaseComplete(_) => "phase_complete",
            Signal::Error(_) => "error",
            Signal::AskUser(_) => "ask_user",
            Signal::Invoke(_) => "invoke",
            Signal::DeliverResult(_) => "deliver_result",
            Signal::StepComplete(_) => "step_complete",
            Signal::Thin(thin) => thin.kind(),
        }
    }
}

/// `[DEPENDENCY_REQUEST]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DependencyRequest {
    /// What sort of thing is needed.
    #[serde(rename = "type")]
    pub dependency_type: DependencyType,
    /// Variable, service, file or package name.
    pub name: String,
    /// What the person is told.
    pub description: String,
    /// Whether the agent cannot do without.
    pub required: bool,
    /// What to use when the person gives nothing.
    pub default: Option<String>,
}

/// `[USER_QUESTION]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserQuestion {
    /// What the question is about.
    pub category: QuestionCategory,
    /// The question.
    pub question: String,
    /// What can be answered; empty: anything.
    pub options: Vec<String>,
    /// The answer when nobody gives one; always one of the options, if there are any.
    pub default: Option<String>,
    /// Whether the agent waits for ever.
    pub required: bool,
}

/// `=== PHASE N COMPLETE ===`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PhaseComplete {
    /// The number of the phase.
    pub phase: u32,
    /// Its name, as announced.
    pub name: Option<String>,
    /// The documents it announces.
    pub documents: Vec<String>,
}

/// `[ERROR]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReport {
    /// Whether going on is thinkable.
    #[serde(rename = "type")]
    pub severity: ErrorSeverity,
    /// One line.
    pub message: String,
    /// The long form.
    pub details: Option<String>,
    /// What should happen now.
    pub recovery: Recovery,
}

/// `[ASK_USER]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskUser {
    /// The question.
    pub question: String,
    /// How it wants to be answered.
    #[serde(rename = "type")]
    pub answer_type: AnswerType,
    /// What can be chosen.
    pub options: Vec<String>,
    /// What the person should know.
    pub context: Option<String>,
}

/// `[INVOKE:Agent]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Invoke {
    /// Who is called.
    pub target: AgentName,
    /// What is to be done.
    pub task: String,
    /// What the other should know.
    pub context: Option<String>,
}

/// `[DELIVER_RESULT:Agent]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeliverResult {
    /// Who receives it.
    pub target: AgentName,
    /// What sort of result it is.
    pub result_type: ResultType,
    /// The result.
    pub content: String,
}

/// `[STEP_COMPLETE]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StepComplete {
    /// Which step.
    pub step: Option<String>,
    /// What came of it.
    pub summary: Option<String>,
}

impl UserQuestion {
    /// Whether it is answered by yes or no.
    pub fn is_confirmation(&self) -> bool {
        self.category == QuestionCategory::Confirmation
    }
}

impl AskUser {
    /// Whether it is answered by yes or no.
    pub fn is_confirmation(&self) -> bool {
        self.answer_type == AnswerType::Confirmation
    }
}

/// A closed set of words that may stand in a field.
pub(crate) trait Vocabulary: Sized + Copy + 'static {
    /// Every word with its meaning; several words may mean the same.
    const WORDS: &'static [(&'static str, Self)];

    /// The meaning of a word, whatever its case.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|&(_, meaning)| meaning)
    }
}

/// What sort of thing an agent needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DependencyType {
    /// A secret key.
    ApiKey,
    /// An environment variable.
    EnvVariable,
    /// An outside service with its variables.
    Service,
    /// A file.
    File,
    /// A yes or no.
    Permission,
    /// A package of the project's package manager.
    Package,
}

impl Vocabulary for DependencyType {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("api_key", Self::ApiKey),
        ("env_variable", Self::EnvVariable),
        ("service", Self::Service),
        ("file", Self::File),
        ("permission", Self::Permission),
        ("package", Self::Package),
    ];
}

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionCategory {
    /// A business decision.
    Business,
    /// An unclear requirement.
    Clarification,
    /// A choice among options.
    Choice,
    /// A yes or no.
    Confirmation,
}

impl Vocabulary for QuestionCategory {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("business", Self::Business),
        ("clarification", Self::Clarification),
        ("choice", Self::Choice),
        ("confirmation", Self::Confirmation),
    ];
}

/// How bad an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorSeverity {
    /// It may work later.
    Recoverable,
    /// It will not.
    Fatal,
}

impl Vocabulary for ErrorSeverity {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("recoverable", Self::Recoverable),
        ("fatal", Self::Fatal),
        ("execution_failed", Self::Recoverable),
        ("validation_error", Self::Fatal),
    ];
}

/// What an agent wants done about its error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovery {
    /// Wait, then go on by itself.
    PauseAndRetry,
    /// Keep the work, end the session.
    CheckpointAndFail,
    /// Ask the person.
    NotifyUser,
}

impl Vocabulary for Recovery {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("pause_and_retry", Self::PauseAndRetry),
        ("checkpoint_and_fail", Self::CheckpointAndFail),
        ("notify_user", Self::NotifyUser),
    ];
}

/// How an office agent wants to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerType {
    /// In words.
    Text,
    /// By choosing an option.
    Selection,
    /// By yes or no.
    Confirmation,
}

impl Vocabulary for AnswerType {
    const WORDS: &'static [(&'static str, Self)] =
        &[("text", Self::Text), ("selection", Self::Selection), ("confirmation", Self::Confirmation)];
}

/// What sort of result is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultType {
    /// Plain words.
    Message,
    /// A GitHub issue.
    GithubIssue,
    /// A Markdown text.
    Markdown,
    /// JSON.
    Json,
    /// The path of a file.
    FilePath,
}

impl Vocabulary for ResultType {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("message", Self::Message),
        ("github_issue", Self::GithubIssue),
        ("markdown", Self::Markdown),
        ("json", Self::Json),
        ("file_path", Self::FilePath),
    ];
}
