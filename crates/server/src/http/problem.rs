//! What goes wrong, as a client sees it: a word that does not change, a sentence, and what to do next.

use axum::{
    Json,
    extract::Request,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use ostler_engine::{
    Refusal,
    answer::NotAnAnswer,
    input::{ChannelLimit, Wanted},
};
use serde_json::{Value, json};
use tokio::task::JoinError;

use super::code::Code;
use crate::{
    api::Problem,
    journal::{SubmitError, WriteRefusal},
};

impl Problem {
    pub(super) fn new(status: StatusCode, code: Code, title: impl Into<String>) -> Problem {
        let (kind, status, title) = (code.to_string(), status.as_u16(), title.into());
        Problem { kind, status, title, hint: None, details: Value::Null }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn details(mut self, details: Value) -> Problem {
        self.details = details;
        self
    }

    /// The code is one of those that begin with `no_`.
    pub(super) fn not_found(code: Code, id: &str) -> Problem {
        let what = code.as_str().trim_start_matches("no_");
        Problem::new(StatusCode::NOT_FOUND, code, format!("there is no {what} '{id}'"))
            .hint(format!(
                "List them: ostler {}",
                match what {
                    "request" => "inbox",
                    "checkpoint" => "checkpoint list",
                    "invocation" => "office invocations",
                    "result" => "office results",
                    _ => "ps -a",
                }
            ))
            .details(json!({ "key": code.as_str(), (what): id }))
    }

    pub(super) fn bad(code: Code, title: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, code, title)
    }

    pub(super) fn internal(title: impl Into<String>) -> Problem {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, Code::Internal, title)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, [(header::CONTENT_TYPE, "application/problem+json")], Json(self)).into_response()
    }
}

impl From<SubmitError> for Problem {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Refused(refusal) => refused(&refusal),
            SubmitError::KeyReused => Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                Code::KeyReused,
                "this Idempotency-Key was used for another request",
            )
            .hint("Use a new key for a new request."),
            SubmitError::Store(WriteRefusal::Failed(message)) => not_written(message),
            SubmitError::Store(locked @ WriteRefusal::Locked(_)) => journal_locked(&locked),
            SubmitError::Closed => {
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, Code::Stopping, "the server is about to end")
                    .hint("Try again: the next command starts it.")
            }
        }
    }
}

/// Work beside the handlers that did not come to its end.
impl From<JoinError> for Problem {
    fn from(error: JoinError) -> Self {
        // It was not begun any more.
        if error.is_cancelled() { SubmitError::Closed.into() } else { Problem::internal(error.to_string()) }
    }
}

/// A caller has as many connections as one caller may have.
pub(crate) fn too_many_connections(connections_max: usize) -> Problem {
    let title = format!("this session already has {connections_max} connections to the server");
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, Code::TooManyConnections, title)
        .hint("Wait for an answer on one of them, or close one, and try again.")
        .details(json!({ "key": "too_many_connections", "limit": "connections", "max": connections_max }))
}

/// The type of the problem below, for clients.
pub(crate) const NO_DESCRIPTORS: &str = "no_descriptors";

/// The server has too few file descriptors left to let one more client in.
pub(crate) fn no_descriptors() -> Problem {
    let title = "the server has no file descriptors left for another connection".to_owned();
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, Code::NoDescriptors, title)
        .hint("Try again in a few seconds. If this goes on, raise `ulimit -n`, then run: ostler serve --stop")
        .details(json!({ "key": NO_DESCRIPTORS }))
}

/// A session has said or asked as much over its socket as one session may.
fn over_limit(session: &str, limit: ChannelLimit, max: u64) -> Problem {
    let (title, hint) = match limit {
        ChannelLimit::OpenRequests => (
            format!("{session} has {max} open requests, and no session may have more at once"),
            "Wait until a person has answered some of them, and ask again.",
        ),
        ChannelLimit::OpenBytes => (
            format!("the open requests of {session} may have {max} bytes together"),
            "Put long text into a file, and name the file; or wait until a person has answered some of them.",
        ),
        ChannelLimit::Signals => (
            format!("{session} has sent {max} signals over its socket, and no session may send more"),
            "Report larger steps. A new session starts from zero.",
        ),
    };
    Problem::new(StatusCode::TOO_MANY_REQUESTS, Code::OverLimit, title).hint(hint)
}

/// The disk is full, or fails.
pub(super) fn not_written(message: String) -> Problem {
    Problem::new(StatusCode::INSUFFICIENT_STORAGE, Code::NotWritten, message)
        .hint("Nothing has changed. Make room on the disk, or look at `ostler doctor`, and try again.")
}

/// Another process keeps the journal's database locked.
fn journal_locked(refusal: &WriteRefusal) -> Problem {
    let WriteRefusal::Locked(holders) = refusal else { return not_written(refusal.to_string()) };
    let processes: Vec<Value> = holders.iter().map(|it| json!({ "pid": it.pid, "name": it.name })).collect();
    Problem::new(StatusCode::CONFLICT, Code::JournalLocked, refusal.to_string())
        .hint("Nothing has changed. End that process, or let it finish, and try again.")
        .details(json!({ "key": "journal_locked", "processes": processes }))
}

pub(super) fn refused(refusal: &Refusal) -> Problem {
    let details = serde_json::to_value(refusal).unwrap_or_default();
    let conflict = |code: Code, title: String| Problem::new(StatusCode::CONFLICT, code, title);
    let problem = match refusal {
        Refusal::NoSession { session } => Problem::not_found(Code::NoSession, &session.to_string()),
        Refusal::NoProject { project } => Problem::not_found(Code::NoProject, &project.to_string()),
        Refusal::NoRequest { request } => Problem::not_found(Code::NoRequest, &request.to_string()),
        Refusal::Settled { request, settled } => {
            let by = json!(settled.by);
            let by = by.as_str().unwrap_or_default();
            conflict(Code::Settled, format!("{request} is settled already (by {by})"))
                .hint(format!("See what came of it: ostler show {request}"))
        }
        Refusal::NotAnAnswer { request, why } => not_an_answer(&request.to_string(), why),
        Refusal::NotNow { session, status, wanted } => {
            let status = json!(status);
            let status = status.as_str().unwrap_or_default().replace('_', " ");
            conflict(Code::NotNow, format!("{session} is {status}: {}", cannot(*wanted)))
                .hint(instead(*wanted))
        }
        Refusal::NoWorktree { session } => conflict(Code::NoWorktree, format!("{session} has no worktree"))
            .hint("It worked in the directory itself. Use `ostler run --worktree` for one of its own."),
        Refusal::WorktreeGone { session } => {
            conflict(Code::WorktreeGone, format!("the worktree of {session} is gone, or being taken away"))
                .hint(format!("See what became of it: ostler show {session}"))
        }
        Refusal::NotWaitedFor { request } => {
            conflict(Code::NotWaitedFor, format!("no caller waits for {request} any more"))
                .hint("What came of it is brought to the agent as a message.")
        }
        Refusal::NoCheckpoint { checkpoint } => {
            Problem::not_found(Code::NoCheckpoint, &checkpoint.to_string())
        }
        Refusal::NoPermission { session, number } => {
            Problem::not_found(Code::NoPermission, &format!("permission {number} of {session}"))
        }
        Refusal::PlaceBusy { session, other } => {
            conflict(Code::PlaceBusy, format!("{other} works on the same files as {session}"))
                .hint(format!("Wait for it, or hold it: ostler pause {other}"))
        }
        Refusal::Restoring { session, checkpoint } => {
            let title = format!("the files of {session} are being brought back to {checkpoint}");
            conflict(Code::Restoring, title).hint(format!("Wait until that is done: ostler show {session}"))
        }
        Refusal::LoopBusy { run } | Refusal::NodeHeld { run } => {
            conflict(Code::LoopBusy, format!("{run} goes through the tasks of this project already"))
        }
        Refusal::PhasesBusy { run } => {
            conflict(Code::PhasesBusy, format!("{run} goes through phases in this directory already"))
                .hint(format!("See how far it is: ostler phases status {run}"))
        }
        Refusal::NotReview { .. } | Refusal::TreeNotShown { .. } | Refusal::GateFailed { .. } => {
            of_review(refusal)
        }
        Refusal::NoInvocation { .. }
        | Refusal::InvocationOver { .. }
        | Refusal::NotCalled { .. }
        | Refusal::NotDelivered { .. } => of_office(refusal),
        Refusal::OverLimit { session, limit, max } => over_limit(&session.to_string(), *limit, *max),
        Refusal::NameTaken { name, session } => {
            conflict(Code::NameTaken, format!("{session} is called '{name}', and is not over"))
        }
        Refusal::EmptyMessage => Problem::bad(Code::EmptyMessage, "there is nothing to send"),
        Refusal::NotGit { directory } => {
            Problem::bad(Code::NotGit, format!("'{directory}' is not in a git repository"))
                .hint("Worktrees and checkpoints need one: `git init` and a first commit.")
        }
    };
    problem.details(details)
}

/// What is refused to who decides about the work of a phase.
fn of_review(refusal: &Refusal) -> Problem {
    let conflict = |code: Code, title: String| Problem::new(StatusCode::CONFLICT, code, title);
    match refusal {
        Refusal::NotReview { request } => {
            Problem::bad(Code::NotReview, format!("{request} asks for something else than a review"))
                .hint(format!("See what it asks: ostler show {request}"))
        }
        Refusal::TreeNotShown { request, tree } => {
            let tree = tree.as_deref().unwrap_or("no tree");
            conflict(Code::TreeNotShown, format!("{request} is about {tree}, and another tree was named"))
                .hint(format!("Look at what is there, then decide: ostler review {request}"))
        }
        Refusal::GateFailed { request } => {
            conflict(Code::GateFailed, format!("the gate of {request} has failed; nothing was approved"))
                .hint("Send it back with --changes, or approve it all the same with --insist.")
        }
        _ => Problem::internal("it is refused for another reason"),
    }
}

/// What is refused to agents that speak to each other.
fn of_office(refusal: &Refusal) -> Problem {
    let conflict = |code: Code, title: String| Problem::new(StatusCode::CONFLICT, code, title);
    match refusal {
        Refusal::NoInvocation { invocation } => {
            Problem::not_found(Code::NoInvocation, &invocation.to_string())
        }
        Refusal::InvocationOver { invocation } => {
            conflict(Code::InvocationOver, format!("the call {invocation} is over"))
                .hint("See what came of it: ostler office invocations")
        }
        Refusal::NotCalled { invocation } => {
            conflict(Code::NotWaitedFor, format!("no process waits for {invocation} any more"))
                .hint("What came of it is brought to the agent as a message.")
        }
        Refusal::NotDelivered { why } => {
            Problem::bad(Code::NotDelivered, format!("the result was not delivered: {why}"))
                .hint("Nothing has changed.")
        }
        _ => Problem::internal("it has nothing to do with an office"),
    }
}

fn not_an_answer(request: &str, why: &NotAnAnswer) -> Problem {
    match why {
        NotAnAnswer::NotAnOption { options, nearest } => {
            let title = format!("that is none of the options of {request}: {}", options.join(", "));
            let hint = match nearest {
                Some(nearest) => format!("Did you mean '{nearest}'? --insist gives it as it stands."),
                None => "Choose one by its number or words; --insist gives it as it stands.".to_owned(),
            };
            Problem::bad(Code::NotAnOption, title).hint(hint)
        }
        NotAnAnswer::NoAmount { text } => {
            Problem::bad(Code::NoAmount, format!("{request} cannot be raised by '{text}'"))
                .hint("Say `raise`, or by how much: `raise 5` dollars, `raise 200k` tokens, `raise 30m`.")
        }
        NotAnAnswer::Empty => {
            Problem::bad(Code::EmptyAnswer, format!("there is no answer to {request} in that"))
        }
        NotAnAnswer::YesOrNo => {
            Problem::bad(Code::YesOrNo, format!("{request} wants a yes or a no")).hint("Use --yes or --no.")
        }
        NotAnAnswer::ValueWanted => Problem::bad(
            Code::ValueWanted,
            format!("{request} asks for a value, which is never given as words"),
        )
        .hint(format!("Type it where nobody sees it: ostler answer {request}; or --stdin, --file.")),
        NotAnAnswer::NotAsked { names } => {
            let names = names.join(", ");
            Problem::bad(Code::NotAsked, format!("{request} does not ask for a value under the name {names}"))
        }
        NotAnAnswer::ReviewWanted => {
            Problem::bad(Code::ReviewWanted, format!("{request} is a review, and an approval names a tree"))
                .hint(format!("Look and decide: ostler review {request}"))
        }
        NotAnAnswer::Required => {
            Problem::bad(Code::Required, format!("{request} cannot be skipped: the agent cannot do without"))
                .hint("Deny it with --no; the agent is told.")
        }
    }
}

fn cannot(wanted: Wanted) -> &'static str {
    match wanted {
        Wanted::Pause => "it cannot be held",
        Wanted::Continue => "nobody holds it",
        Wanted::Resume => "it cannot be started again while it is not over",
        Wanted::Cancel => "it cannot be ended",
        Wanted::Send => "nothing can be sent to it",
        Wanted::Merge => "its work cannot be merged",
        Wanted::Discard => "its work cannot be dropped",
        Wanted::Restore => "its files cannot be brought back",
        Wanted::Ask => "none of its processes can ask for anything",
    }
}

fn instead(wanted: Wanted) -> &'static str {
    match wanted {
        Wanted::Pause | Wanted::Continue => {
            "See `ostler ps`; `ostler resume` starts one that was interrupted."
        }
        Wanted::Resume => "Attach to it, or cancel it first.",
        Wanted::Cancel => "See `ostler ps`.",
        Wanted::Send => "`ostler resume ID \"…\"` starts it again with what you want to say.",
        Wanted::Ask => "It has ended, or was told to end.",
        Wanted::Merge | Wanted::Discard | Wanted::Restore => "Wait for it to end, or cancel it first.",
    }
}

pub(super) async fn no_method(request: Request) -> Problem {
    let title = format!("{} is not possible at {}", request.method(), request.uri().path());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, Code::NoMethod, title)
        .hint("GET /api/v1/openapi.json lists what there is.")
}

pub(super) async fn no_route(request: Request) -> Problem {
    let title = format!("there is nothing at {} {}", request.method(), request.uri().path());
    Problem::new(StatusCode::NOT_FOUND, Code::NoRoute, title)
        .hint("GET /api/v1/openapi.json lists what there is.")
}
