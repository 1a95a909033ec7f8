//! The office of a project: who can be called, who waits for whom, and what was brought.

use std::{collections::BTreeMap, io};

use ostler_engine::office::{Handover, Invocation};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::CutText;
use crate::office::kept::{INLINE_BYTES_MAX, beginning, read};

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
    /// What roles have done in worktrees of their own and is not merged, oldest first.
    #[serde(default)]
    pub unmerged: Vec<UnmergedView>,
}

/// What a role has done in a worktree of its own and is not merged, though the role is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UnmergedView {
    /// The session that has done it.
    pub session: String,
    /// Its role.
    pub role: String,
    /// How far its worktree has got: `testing`, `merging` or `not_merged`.
    pub state: String,
    /// Why it is not merged, if that was found out.
    pub message: Option<String>,
    /// Where a person is asked about it.
    pub request: Option<String>,
}

/// What somebody can be called as.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RoleView {
    /// The name by which it is called.
    pub name: String,
    /// What it is there for.
    pub description: Option<String>,
    /// Its agent: the one that it names, or that of the office. None if it is that of who calls.
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
    /// The request that a person has to answer before it is made, because the same call brought nothing new before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
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
    /// Which of its texts a list does not carry whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<CutText>,
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
    /// The thing itself, or its beginning.
    pub content: String,
    /// Whether the content is all of it. Of more than 16 KiB it is not; all of it stands in the file.
    #[serde(default = "yes")]
    pub whole: bool,
    /// The file in which it stands, if it is too long to be said.
    pub file: Option<String>,
    /// How long that file is.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Its SHA-256.
    #[serde(default)]
    pub sha256: Option<String>,
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
    /// The variables that it finds in its environment where it has to be started; those of the server, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<BTreeMap<String, String>>,
}

/// A project that is to be known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProjectPlace {
    /// A directory in it, absolute.
    pub directory: String,
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
            request: call
                .held
                .filter(|held| call.is_open() && !held.released)
                .map(|it| it.request.to_string()),
            why: ended.and_then(|ended| word(json!(ended.why))),
            words: ended.and_then(|ended| ended.words.clone()),
            result: ended.and_then(|ended| ended.result).map(|result| result.to_string()),
            depth: call.depth,
            opened_at_ms: call.opened_at_ms,
            began_at_ms: call.began_at_ms,
            ended_at_ms: ended.map(|ended| ended.at_ms),
            cut: Vec::new(),
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

/// How much of a result is shown beside others, in bytes.
const SHORT_BYTES_MAX: usize = 1 << 10;

/// A server of an older version knows nothing else.
fn yes() -> bool {
    true
}

impl ResultView {
    /// As it stands in lists. Journals of older versions hold long ones whole.
    pub(crate) fn of(result: &Handover) -> ResultView {
        let is_short = result.content.len() <= INLINE_BYTES_MAX;
        let content = if is_short { &result.content } else { beginning(&result.content) };
        let reference = result.reference.as_ref();
        ResultView {
            id: result.id.to_string(),
            project: result.project.to_string(),
            run: result.run.to_string(),
            from: result.from.clone(),
            to: result.to.clone(),
            kind: result.kind.clone(),
            content: content.to_owned(),
            whole: is_short && !result.cut,
            file: reference.map(|reference| reference.path.clone()),
            bytes: reference.map(|reference| reference.bytes),
            sha256: reference.map(|reference| reference.sha256.clone()),
            invocation: result.invocation.map(|id| id.to_string()),
            late: result.late,
            delivered: result.delivered_at_ms.is_some(),
            given_at_ms: result.given_at_ms,
            delivered_at_ms: result.delivered_at_ms,
        }
    }

    /// The same, where there may be many and each is only mentioned.
    pub(crate) fn in_short(result: &Handover) -> ResultView {
        let mut view = ResultView::of(result);
        let end = view.content.floor_char_boundary(SHORT_BYTES_MAX);
        view.whole &= end == view.content.len();
        view.content.truncate(end);
        view
    }

    /// The same for who is to have it: of a file that was copied, it is told where the copy is.
    pub(crate) fn for_receiver(result: &Handover) -> ResultView {
        let mut view = ResultView::of(result);
        if let Some(copy) = result.copy() {
            view.content.clone_from(&copy.path);
        }
        view
    }

    /// All of it, for who is to have it.
    pub(crate) fn whole(result: &Handover) -> io::Result<ResultView> {
        let whole = match result.reference.as_ref().filter(|_| result.cut) {
            Some(reference) => read(reference)?,
            None => result.content.clone(),
        };
        Ok(ResultView { content: whole, whole: true, ..ResultView::of(result) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Handover, ResultView};

    /// A result as a journal of an older version holds it: whole, however long it is.
    fn old(content: &str) -> Handover {
        serde_json::from_value(json!({
            "id": "d_1", "project": "p_1", "run": "r_1", "session": "s_1", "from": "QA", "to": "PO",
            "type": "message", "content": content, "invocation": null, "late": false, "given_at_ms": 1,
            "reference": { "path": "/office/s_1.k", "bytes": content.len(), "sha256": "0" },
            "receiver": null, "message": null, "delivered_at_ms": null,
        }))
        .expect("it can be read")
    }

    #[test]
    fn lists_are_bounded_whatever_a_journal_holds() {
        let long = old(&"길".repeat(10_000));
        let view = ResultView::of(&long);
        assert!(!view.whole && view.content.len() <= 4096 && long.content.starts_with(&view.content));
        assert_eq!((view.file.as_deref(), view.bytes), (Some("/office/s_1.k"), Some(30_000)));
        assert_eq!(ResultView::whole(&long).expect("it stands here").content, long.content);
        let short = old(&"x".repeat(2_000));
        assert_eq!((ResultView::of(&short).content.len(), ResultView::of(&short).whole), (2_000, true));
        let mentioned = ResultView::in_short(&short);
        assert_eq!((mentioned.content.len(), mentioned.whole), (1_024, false));
    }
}
