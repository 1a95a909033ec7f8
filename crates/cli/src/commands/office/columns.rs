//! What `--json` prints of questions, calls and results: the columns of the views that the database has of them, so that
//! whoever reads one knows the other.

use std::borrow::Cow;

use ostler_server::api::{InvocationStatus, InvocationView, RequestView, ResultView};
use serde::Serialize;
use serde_json::Value;

use crate::clock;

/// A row of `user_questions`.
#[derive(Debug, Serialize)]
pub(super) struct Asked<'a> {
    id: &'a str,
    agent_id: String,
    office_id: &'a str,
    question_type: &'a Value,
    question: &'a Value,
    options: &'a Value,
    status: &'static str,
    expires_at: Option<String>,
    response: Option<&'a str>,
    expires_at_ms: Option<u64>,
}

impl<'a> Asked<'a> {
    pub(super) fn of(view: &'a RequestView) -> Asked<'a> {
        let (office, fields) = (view.project.id.as_str(), &view.ask.fields);
        Asked {
            id: &view.id,
            agent_id: agent(office, view.role.as_ref().unwrap_or(&view.session)),
            office_id: office,
            question_type: &fields["type"],
            question: &fields["question"],
            options: &fields["options"],
            status: question_status(view),
            expires_at: view.expires_at_ms.map(clock::iso),
            response: response(view),
            expires_at_ms: view.expires_at_ms,
        }
    }
}

/// A row of `agent_invocations`.
#[derive(Debug, Serialize)]
pub(super) struct Invocation<'a> {
    id: &'a str,
    office_id: &'a str,
    caller_agent_id: String,
    callee_agent_id: String,
    reason: &'a str,
    context: Option<&'a str>,
    status: InvocationStatus,
}

impl<'a> Invocation<'a> {
    pub(super) fn of(view: &'a InvocationView) -> Invocation<'a> {
        Invocation {
            id: &view.id,
            office_id: &view.project,
            caller_agent_id: agent(&view.project, &view.caller),
            callee_agent_id: agent(&view.project, &view.callee),
            reason: &view.task,
            context: view.context.as_deref(),
            status: view.status,
        }
    }
}

/// A row of `agent_results`.
#[derive(Debug, Serialize)]
pub(super) struct Brought<'a> {
    id: &'a str,
    office_id: &'a str,
    from_agent_id: String,
    to_agent_id: String,
    result_type: &'a str,
    content_type: &'static str,
    content: Cow<'a, str>,
    status: &'static str,
}

impl<'a> Brought<'a> {
    pub(super) fn of(view: &'a ResultView) -> Brought<'a> {
        Brought {
            id: &view.id,
            office_id: &view.project,
            from_agent_id: agent(&view.project, &view.from),
            to_agent_id: agent(&view.project, &view.to),
            result_type: &view.kind,
            content_type: match view.kind.as_str() {
                _ if !view.whole => "application/vnd.ostler.reference+json",
                "json" => "application/json",
                "markdown" | "github_issue" => "text/markdown",
                _ => "text/plain",
            },
            content: if view.whole {
                Cow::Borrowed(&view.content)
            } else {
                let ResultView { file, bytes, sha256, .. } = view;
                let reference = Reference { path: file.as_deref(), bytes: *bytes, sha256: sha256.as_deref() };
                Cow::Owned(serde_json::to_string(&reference).unwrap_or_default())
            },
            status: if view.delivered { "delivered" } else { "pending" },
        }
    }
}

/// What stands for a result that is too long for a list.
#[derive(Debug, Serialize)]
struct Reference<'a> {
    path: Option<&'a str>,
    bytes: Option<u64>,
    sha256: Option<&'a str>,
}

/// How a question stands.
pub(super) fn question_status(view: &RequestView) -> &'static str {
    match &view.settled {
        _ if response(view).is_some() => "answered",
        Some(settled) if settled.by == "end" => "cancelled",
        _ if view.expired => "expired",
        Some(_) => "answered",
        None => "pending",
    }
}

fn response(view: &RequestView) -> Option<&str> {
    view.settled.as_ref().and_then(|settled| settled.answer["text"].as_str())
}

/// An agent is named by its office and its role, or by its office and its session.
fn agent(office: &str, name: &str) -> String {
    format!("{office}/{name}")
}
