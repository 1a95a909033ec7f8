//! Checkpoints: making one, looking at them, going back to one, letting go of old ones.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use axum::{
    Json,
    body::Bytes,
    extract::{RawQuery, State},
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
};
use ostler_engine::{
    CheckpointId, Input, SessionId,
    checkpoint::{Checkpoint, CheckpointState, Skip},
    session::Session,
};
use ostler_store::{Entity, Scope};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::{
    App,
    code::Code,
    extract::{Body, Path, Query},
    pages::{Limit, List, OF_HISTORY, Paged, Rows},
    read::configuration,
    wishes::key,
};
use crate::{
    api::{CheckpointView, NewPrune, NewRestore, Problem, PrunedView, RestoreView},
    driver,
    journal::Found,
};

/// How long one may take before the client is told that it goes on without it.
const WAIT_MAX: Duration = Duration::from_mins(10);

/// The most events that are read at once.
const EVENTS_MAX: u32 = 500;

/// The event with which a restore begins.
const BEGUN: &str = "checkpoint.restoring";

/// Which checkpoints.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Which {
    /// Of this session, by its id or its run's.
    #[param(pattern = "^[rs]_[0-9]{1,18}$")]
    session: Option<String>,
    /// Also those that were skipped or let go.
    all: bool,
    /// At most so many; 50, if nothing is said.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 1000)]
    limit: Option<Limit>,
    /// Only those older than this one.
    #[param(value_type = Option<String>, pattern = "^c_[0-9]{1,18}$")]
    before: Option<CheckpointId>,
}

/// What to compare with, and how it is to look.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DiffQuery {
    /// Another checkpoint; what stands there now, if nothing is said.
    to: Option<String>,
    /// A line per file instead of every changed line.
    stat: bool,
    /// With colours for a terminal.
    color: bool,
}

/// Makes a checkpoint of what stands in a session's directory. The answer comes once that is done.
#[utoipa::path(post, path = "/sessions/{id}/checkpoints", params(("id" = String, Path)),
    responses((status = 200, body = CheckpointView), (status = 409, body = Problem)))]
pub(super) async fn make(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<CheckpointView>, Problem> {
    let session = app.session_id(&id)?;
    let key = key(&headers, &format!("/sessions/{session}/checkpoints"), &Value::Null)?;
    let made = app.driver.journal.submit_for(Input::Checkpoint(session), key).await?;
    let checkpoint = made.checkpoint.ok_or_else(|| Problem::internal("no checkpoint was wanted"))?;
    app.until(|app| Ok(!app.checkpoint(checkpoint)?.is_wanted())).await?;
    app.checkpoint_view(checkpoint).map(Json)
}

/// Checkpoints, newest first.
#[utoipa::path(get, path = "/checkpoints", params(Which), responses((status = 200, body = [CheckpointView])))]
pub(super) async fn list(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    Query(which): Query<Which>,
) -> Result<Paged<CheckpointView>, Problem> {
    let session = which.session.as_deref().map(|id| app.session_id(id)).transpose()?;
    let scope = app.scope(None, None, session)?;
    let (before, limit) = (which.before.map(|id| id.0), which.limit.unwrap_or(OF_HISTORY));
    // Many may have been skipped: nothing had changed.
    let (found, next) = app.scan(Rows { entity: Entity::Checkpoint, scope, before, limit }, |row| {
        let Ok(Found::Checkpoint(checkpoint)) = crate::journal::read(row) else { return Ok(None) };
        let is_there = matches!(checkpoint.state, CheckpointState::Made { .. } | CheckpointState::Wanted);
        Ok((which.all || is_there).then(|| app.view_of(&checkpoint)))
    })?;
    let list = List { path: "/checkpoints", query: query.as_deref() };
    Ok(Paged::new(found, &list, next.map(|id| ("before", CheckpointId(id)))))
}

/// One checkpoint.
#[utoipa::path(get, path = "/checkpoints/{id}", params(("id" = String, Path)),
    responses((status = 200, body = CheckpointView), (status = 404, body = Problem)))]
pub(super) async fn one(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<CheckpointView>, Problem> {
    app.checkpoint_view(checkpoint_id(&id)?).map(Json)
}

/// What differs between a checkpoint and another, or what stands there now.
#[utoipa::path(get, path = "/checkpoints/{id}/diff", params(("id" = String, Path), DiffQuery),
    responses((status = 200, body = String), (status = 404, body = Problem)))]
pub(super) async fn diff(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<DiffQuery>,
) -> Result<impl IntoResponse, Problem> {
    let from = app.made(checkpoint_id(&id)?)?;
    let to = query.to.as_deref().map(|id| app.made(checkpoint_id(id)?)).transpose()?;
    if let Some(to) = to.as_ref().filter(|to| to.project != from.project) {
        let message = format!("{} and {} are of different projects", from.id, to.id);
        return Err(Problem::bad(Code::NoDiff, message).hint("Compare two of one project."));
    }
    let session: Session = app.with_session(from.session, |_, session| session.clone())?;
    let commit = |it: &Checkpoint| it.kept().map(|kept| kept.commit.clone()).unwrap_or_default();
    let (from, to) = (commit(&from), to.as_ref().map(commit));
    let (stat, color) = (query.stat, query.color);
    let place = driver::Place::of(&app.driver, session);
    let task = tokio::task::spawn_blocking(move || {
        driver::diff_checkpoint(&place, &from, to.as_deref(), stat, color)
    });
    let diff = task.await.map_err(Problem::from)?.map_err(|message| Problem::bad(Code::NoDiff, message))?;
    let truncated = if diff.truncated { "true" } else { "false" };
    Ok((
        [(header::CONTENT_TYPE.as_str(), "text/plain"), ("ostler-truncated", truncated)],
        Bytes::from(diff.bytes),
    ))
}

/// Brings a session's files, and its conversation, back to a checkpoint. The answer comes once that is done, or
/// found impossible.
#[utoipa::path(post, path = "/checkpoints/{id}/restore", params(("id" = String, Path)), request_body = NewRestore,
    responses((status = 200, body = RestoreView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn restore(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(new): Body<NewRestore>,
) -> Result<Json<RestoreView>, Problem> {
    let checkpoint = checkpoint_id(&id)?;
    let key = key(&headers, &format!("/checkpoints/{checkpoint}/restore"), &new)?;
    let conversation = new.conversation.unwrap_or(true);
    let made = app.driver.journal.submit_for(Input::Restore { checkpoint, conversation }, key).await?;
    let session = made.session.ok_or_else(|| Problem::internal("nothing was restored"))?;
    app.until(|app| app.with_session(session, |_, it| it.checkpoints.restoring.is_none())).await?;
    app.restore_view(session, checkpoint).map(Json)
}

/// Lets go of checkpoints that the policy does not keep.
#[utoipa::path(post, path = "/checkpoints/prune", request_body = NewPrune,
    responses((status = 200, body = [PrunedView]), (status = 400, body = Problem)))]
pub(super) async fn prune(
    State(app): State<App>,
    Body(new): Body<NewPrune>,
) -> Result<Json<Vec<PrunedView>>, Problem> {
    let policy = configuration()?.prune;
    let pruned = driver::prune(&app.driver, PathBuf::from(new.directory), policy, new.dry_run)
        .await
        .map_err(|message| Problem::bad(Code::Git, message).hint("See `ostler doctor`."))?;
    let view = |it: ostler_workspace::Pruned| PrunedView {
        reference: it.reference,
        commit: it.commit.as_str().to_owned(),
        checkpoint: it.id,
        session: it.session,
    };
    Ok(Json(pruned.into_iter().map(view).collect()))
}

fn checkpoint_id(id: &str) -> Result<CheckpointId, Problem> {
    id.parse().map_err(|_| Problem::not_found(Code::NoCheckpoint, id))
}

impl App {
    /// Waits until something is so, or the client would wait too long.
    async fn until(&self, is_so: impl Fn(&App) -> Result<bool, Problem>) -> Result<(), Problem> {
        let mut changed = self.driver.journal.watch();
        let so = async {
            while !is_so(self)? && changed.changed().await.is_ok() {}
            Ok(())
        };
        tokio::time::timeout(WAIT_MAX, so).await.unwrap_or(Ok(()))
    }

    fn checkpoint(&self, id: CheckpointId) -> Result<Checkpoint, Problem> {
        if let Some(checkpoint) = self.driver.journal.world().checkpoints.get(&id) {
            return Ok(checkpoint.clone());
        }
        let row = self.read(|reader| reader.entity(Entity::Checkpoint, id.0))?;
        match row.map(|row| crate::journal::read(&row)) {
            Some(Ok(Found::Checkpoint(checkpoint))) => Ok(*checkpoint),
            _ => Err(Problem::not_found(Code::NoCheckpoint, &id.to_string())),
        }
    }

    /// One that is there to be looked at.
    fn made(&self, id: CheckpointId) -> Result<Checkpoint, Problem> {
        let checkpoint = self.checkpoint(id)?;
        if checkpoint.kept().is_some() {
            return Ok(checkpoint);
        }
        let title = format!("{id} was not made, or was let go");
        Err(Problem::new(StatusCode::CONFLICT, Code::CheckpointGone, title)
            .hint("List them: ostler checkpoint list")
            .details(json!({ "key": "checkpoint_gone", "checkpoint": id })))
    }

    fn checkpoint_view(&self, id: CheckpointId) -> Result<CheckpointView, Problem> {
        Ok(self.view_of(&self.checkpoint(id)?))
    }

    fn view_of(&self, checkpoint: &Checkpoint) -> CheckpointView {
        let can_rewind =
            self.with_session(checkpoint.session, |_, it| it.order.agent.can_rewind()).unwrap_or(false);
        let kept = checkpoint.kept();
        let reason = match &checkpoint.state {
            CheckpointState::Skipped { reason, .. } => json!(reason),
            _ => Value::Null,
        };
        let state = json!(checkpoint.state);
        CheckpointView {
            id: checkpoint.id.to_string(),
            session: checkpoint.session.to_string(),
            run: checkpoint.run.to_string(),
            why: json!(checkpoint.why).as_str().unwrap_or_default().to_owned(),
            state: state["state"].as_str().unwrap_or_default().to_owned(),
            at_ms: checkpoint.wanted_at_ms,
            seq: checkpoint.seq,
            requests: checkpoint.requests.iter().map(ToString::to_string).collect(),
            conversation: checkpoint.conversation.clone(),
            rewindable: can_rewind && kept.is_some_and(|kept| kept.anchor.is_some()),
            reference: kept.map(|kept| kept.reference.clone()),
            commit: kept.map(|kept| kept.commit.clone()),
            left_out: kept.map(|kept| kept.left_out.clone()).unwrap_or_default(),
            left_out_count: kept.map_or(0, |kept| kept.left_out_count),
            reason,
        }
    }

    /// The events of the last restore of a checkpoint, by their kinds.
    fn last_restore(&self, session: SessionId, id: CheckpointId) -> Result<BTreeMap<String, Value>, Problem> {
        let scope = Scope { session: Some(session.0), ..Scope::default() };
        let mut after = self.checkpoint(id)?.seq;
        let mut found = BTreeMap::new();
        loop {
            let rows = self.read(|reader| reader.events(after, scope, EVENTS_MAX))?;
            let Some(last) = rows.last() else { return Ok(found) };
            after = last.seq;
            for row in rows.into_iter().filter(|row| row.kind.starts_with("checkpoint.")) {
                let body: Value = serde_json::from_str(&row.body).unwrap_or_default();
                if body["checkpoint"] == json!(id) {
                    if row.kind == BEGUN {
                        found.clear();
                    }
                    found.insert(row.kind, body);
                }
            }
        }
    }

    /// What came of going back to a checkpoint the last time.
    fn restore_view(&self, session: SessionId, id: CheckpointId) -> Result<RestoreView, Problem> {
        let mut events = self.last_restore(session, id)?;
        let mut body = |kind: &str| events.remove(kind);
        let names = |value: &Value| -> Vec<String> {
            let names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
            names.map(str::to_owned).collect()
        };
        let (begun, done) = (body(BEGUN), body("checkpoint.restored"));
        let message = body("checkpoint.not_restored").and_then(|it| Some(it["message"].as_str()?.to_owned()));
        let before = begun.as_ref().and_then(|it| it["before"].as_str()?.parse().ok());
        let before = before.map(|before| self.shown_before(before)).transpose()?;
        let rewind = begun.as_ref().map(|it| &it["rewind"]["way"]["way"]).and_then(Value::as_str);
        let conversation = match rewind {
            Some("to") => "rewound",
            Some(_) => "new",
            None => "kept",
        };
        let done = done.unwrap_or_default();
        Ok(RestoreView {
            checkpoint: self.checkpoint_view(id)?,
            restored: !done.is_null(),
            message,
            before,
            changed: done["changed"].as_u64().unwrap_or_default(),
            different: names(&done["different"]),
            submodules: names(&done["submodules"]),
            conversation: conversation.to_owned(),
        })
    }

    /// The checkpoint that has what stood there: the one that was made first, or the one that had it already.
    fn shown_before(&self, before: CheckpointId) -> Result<CheckpointView, Problem> {
        let made = self.checkpoint(before)?;
        match &made.state {
            CheckpointState::Skipped { reason: Skip::Unchanged { checkpoint }, .. } => {
                self.checkpoint_view(*checkpoint)
            }
            _ => Ok(self.view_of(&made)),
        }
    }
}
