//! The office of a project: who can be called, who waits for whom, and what was brought.

use ostler_engine::office::{Handover, Invocation};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

/// The office of a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OfficeView {
    /// Its project.
    pub project: String,
    /// Who can be called.
    pub roles: Vec<RoleView>,
    /// Calls that are open, oldest first.
    pub invocations: Vec<InvocationView>,
    /// Results that nobody has read yet, oldest first.
    pub results: Vec<ResultView>,
}

/// What somebody can be called as.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RoleView {
    /// The name by which it is called.
    pub name: String,
    /// What it is there for.
    pub description: Option<String>,
    /// Its agent, if one was named.
    pub agent: Option<String>,
    /// The model, if one was named.
    pub model: Option<String>,
    /// The file that describes it; none if it is an agent as it is.
    pub file: Option<String>,
    /// Why it cannot be used, if it cannot.
    pub problem: Option<String>,
    /// The session that has it, or had it last.
    pub session: Option<String>,
    /// How that is.
    pub status: Option<super::SessionStatus>,
    /// Whether it is there and nobody has anything for it to do: no call is open, and nothing that was written to it is
    /// unread. An agent that takes turns has ended its last one; of any other program that is not known.
    pub idle: bool,
}

/// How a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum InvocationStatus {
    /// Its words were not read yet.
    Pending,
    /// Somebody works on it.
    InProgress,
    /// It was done.
    Completed,
    /// It was not done.
    Failed,
    /// Nobody wants it any more.
    Cancelled,
}

/// A call of one agent by another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InvocationView {
    /// Its id.
    pub id: String,
    /// Its project.
    pub project: String,
    /// The run of who began the chain that it is part of.
    pub run: String,
    /// The session of who called.
    pub session: String,
    /// The name of who called: its role, or the id of its session.
    pub caller: String,
    /// The role that was called.
    pub callee: String,
    /// The session that is to do it.
    pub seat: Option<String>,
    /// What is to be done.
    pub task: String,
    /// What the other should know.
    pub context: Option<String>,
    /// How it stands.
    pub status: InvocationStatus,
    /// Why it has ended, if it has.
    pub why: Option<String>,
    /// What the caller is told, where that is more than a result.
    pub words: Option<String>,
    /// The result, if there is one.
    pub result: Option<String>,
    /// How many calls deep it is.
    pub depth: u32,
    /// When it was opened.
    pub opened_at_ms: u64,
    /// When its words were read.
    pub began_at_ms: Option<u64>,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
}

/// Something that one agent brings another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ResultView {
    /// Its id.
    pub id: String,
    /// Its project.
    pub project: String,
    /// The run of who began the chain that it is part of.
    pub run: String,
    /// The name of who gave it.
    pub from: String,
    /// The name of who is to have it.
    pub to: String,
    /// `message`, `github_issue`, `markdown`, `json` or `file_path`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The thing itself.
    pub content: String,
    /// The file in which it stands, if it is too long to be said.
    pub file: Option<String>,
    /// The call that it is the result of.
    pub invocation: Option<String>,
    /// Whether that was over by then.
    pub late: bool,
    /// Whether it was read.
    pub delivered: bool,
    /// When it was given.
    pub given_at_ms: u64,
    /// When it was read.
    pub delivered_at_ms: Option<u64>,
}

/// Words for a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOfficeMessage {
    /// To whom.
    pub role: String,
    /// The words.
    pub text: String,
    /// Whether it is spoken to in Korean, if nothing else says so.
    #[serde(default)]
    pub korean: bool,
}

/// Who called whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiagramView {
    /// A sequence diagram in Mermaid's language.
    pub mermaid: String,
}

/// A process of an agent calls another agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewInvocation {
    /// Who is called.
    pub agent: String,
    /// What is to be done.
    pub task: String,
    /// What the other should know.
    #[serde(default)]
    pub context: Option<String>,
    /// Whether it waits until the call is over.
    #[serde(default)]
    pub wait: bool,
}

/// A process of an agent brings another agent something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewResult {
    /// Who is to have it.
    pub agent: String,
    /// What sort of thing it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// The thing itself.
    pub content: String,
    /// The call that is meant, if one is named.
    #[serde(default)]
    pub invocation: Option<String>,
}

/// What a process of an agent is told of its call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalledView {
    /// The call.
    pub invocation: InvocationView,
    /// Its result, if there is one.
    pub result: Option<ResultView>,
    /// Whether this process is the one that is told what came of it; else it comes as a message.
    pub waited_for: bool,
}

impl InvocationView {
    pub(crate) fn of(call: &Invocation) -> InvocationView {
        let word = |value: serde_json::Value| value.as_str().map(str::to_owned);
        let ended = call.ended.as_ref();
        InvocationView {
            id: call.id.to_string(),
            project: call.project.to_string(),
            run: call.run.to_string(),
            session: call.session.to_string(),
            caller: call.caller.clone(),
            callee: call.callee.clone(),
            seat: call.seat.map(|seat| seat.to_string()),
            task: call.task.clone(),
            context: call.context.clone(),
            status: status(call),
            why: ended.and_then(|ended| word(json!(ended.why))),
            words: ended.and_then(|ended| ended.words.clone()),
            result: ended.and_then(|ended| ended.result).map(|result| result.to_string()),
            depth: call.depth,
            opened_at_ms: call.opened_at_ms,
            began_at_ms: call.began_at_ms,
            ended_at_ms: ended.map(|ended| ended.at_ms),
        }
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.ended_at_ms.is_some()
    }
}

fn status(call: &Invocation) -> InvocationStatus {
    use ostler_engine::office::Verdict;
    match call.ended.as_ref().map(|ended| ended.status) {
        Some(Verdict::Completed) => InvocationStatus::Completed,
        Some(Verdict::Failed) => InvocationStatus::Failed,
        Some(Verdict::Cancelled) => InvocationStatus::Cancelled,
        None if call.began_at_ms.is_some() => InvocationStatus::InProgress,
        None => InvocationStatus::Pending,
    }
}

impl ResultView {
    pub(crate) fn of(result: &Handover) -> ResultView {
        ResultView {
            id: result.id.to_string(),
            project: result.project.to_string(),
            run: result.run.to_string(),
            from: result.from.clone(),
            to: result.to.clone(),
            kind: result.kind.clone(),
            content: result.content.clone(),
            file: result.reference.as_ref().map(|reference| reference.path.clone()),
            invocation: result.invocation.map(|id| id.to_string()),
            late: result.late,
            delivered: result.delivered_at_ms.is_some(),
            given_at_ms: result.given_at_ms,
            delivered_at_ms: result.delivered_at_ms,
        }
    }
}
