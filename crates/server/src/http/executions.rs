//! Tasks that are asked for by name: from a person over the interface, from a main agent over its channel.

use std::path::PathBuf;

use axum::{
    Json,
    extract::{ConnectInfo, State},
    http::StatusCode,
};
use ostler_engine::SessionId;
use ostler_orchestrate::Ended;

use super::{App, agent_body::AgentBody, channel::agent, code::Code, extract::Body, runs};
use crate::{
    api::{ExecutionStatus, ExecutionView, NewExecution, Problem},
    driver::executor::{
        Executed,
        request::{ExecutionRequest, ExecutionState, ask},
    },
    environment,
    peer::Peer,
};

/// Has a task done, or joins whoever has it done. The answer comes when the task is under way; with `again`, when it has
/// ended or after 20 seconds.
#[utoipa::path(post, path = "/executions", request_body = NewExecution,
    responses((status = 200, body = ExecutionView), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn create(
    State(app): State<App>,
    Body(new): Body<NewExecution>,
) -> Result<Json<ExecutionView>, Problem> {
    execute(&app, new, None).await
}

/// The same for a main agent, whose tasks run in its project and environment.
pub(super) async fn create_inside(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    AgentBody(new): AgentBody<NewExecution>,
) -> Result<Json<ExecutionView>, Problem> {
    let (session, _) = agent(&peer)?;
    let directory =
        app.with_session(session, |_, it| it.order.role.is_main().then(|| it.directory().to_owned()))?;
    let directory = directory.ok_or_else(|| {
        let title = "only a main agent may have tasks done from inside a session";
        Problem::new(StatusCode::FORBIDDEN, Code::NotMain, title)
            .hint("Start it with `ostler run --main`, or ask from outside of the session.")
    })?;
    execute(&app, NewExecution { directory, ..new }, Some(session)).await
}

async fn execute(
    app: &App,
    new: NewExecution,
    session: Option<SessionId>,
) -> Result<Json<ExecutionView>, Problem> {
    let directory = runs::directory(&new.directory)?;
    let task = new.task.parse().map_err(|_| Problem::not_found(Code::NoTask, &new.task))?;
    let request = ExecutionRequest {
        tasks: new.tasks.as_ref().map(|tasks| directory.join(tasks)),
        directory,
        task,
        worktree: new.worktree.map(PathBuf::from),
        meta: new.meta.map(Into::into),
        agent: new.agent,
        korean: new.korean,
        environment: new.environment.unwrap_or_else(environment::of_server),
        session,
        again: new.again,
    };
    let task = request.task.to_string();
    let view = |state, reason, executed: Option<Executed>| {
        let spent = executed.map(|executed| executed.spent).unwrap_or_default();
        let elapsed_ms = spent.worked_ms.saturating_add(spent.waited_ms);
        ExecutionView { task, state, reason, elapsed_ms, tries: spent.tries, tests: spent.tests }
    };
    Ok(Json(match ask(&app.driver, request).await {
        ExecutionState::Starting | ExecutionState::Running => view(ExecutionStatus::Running, None, None),
        ExecutionState::Ended(executed) => match executed.ended.clone() {
            Ended::Done => view(ExecutionStatus::Done, None, Some(executed)),
            Ended::Failed { reason } => view(ExecutionStatus::Failed, Some(reason), Some(executed)),
        },
    }))
}
