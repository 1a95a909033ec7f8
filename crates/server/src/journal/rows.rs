//! The engine's data as the store keeps it.

use ostler_engine::{
    Action, ActionName, Entry, Overlay,
    account::Account,
    checkpoint::Checkpoint,
    event::VERSION,
    office::{Handover, Invocation},
    request::Request,
    run::{Project, Run},
    session::Session,
};
use ostler_store::{ActionRow, Entity, EventRow, Projection};
use serde::Serialize;
use serde_json::Value;

pub(super) fn event(entry: &Entry) -> EventRow {
    let mut body = serde_json::to_value(&entry.event).expect("an event is plain data");
    let kind = body.as_object_mut().and_then(|fields| fields.remove("kind"));
    let Some(Value::String(kind)) = kind else { unreachable!("every event says its kind") };
    EventRow {
        seq: entry.seq,
        version: VERSION,
        at_ms: entry.at_ms,
        kind,
        project: entry.project.map(|id| id.0),
        run: entry.run.map(|id| id.0),
        session: entry.session.map(|id| id.0),
        body: body.to_string(),
    }
}

/// What was touched, each behind what it belongs to.
pub(super) fn upserts(overlay: &Overlay) -> Vec<Projection> {
    let seq = overlay.last_seq;
    let projects = overlay.projects.values().map(|it| project(it, seq));
    let runs = overlay.runs.values().map(|it| run(it, seq));
    let sessions = overlay.sessions.values().map(|it| session(it, seq));
    let requests = overlay.requests.values().map(|it| request(it, seq));
    let accounts = overlay.accounts.values().map(|it| account(it, seq));
    let checkpoints = overlay.checkpoints.values().map(|it| checkpoint(it, seq));
    let invocations = overlay.invocations.values().map(|it| invocation(it, seq));
    let results = overlay.results.values().map(|it| result(it, seq));
    let office = invocations.chain(results);
    projects
        .chain(runs)
        .chain(sessions)
        .chain(requests)
        .chain(accounts)
        .chain(checkpoints)
        .chain(office)
        .collect()
}

pub(super) fn project(project: &Project, seq: u64) -> Projection {
    let id = project.id.0;
    let (entity, body) = (Entity::Project, json(project));
    Projection { entity, id, project: Some(id), run: None, session: None, live: true, seq, body }
}

pub(super) fn run(run: &Run, seq: u64) -> Projection {
    Projection {
        entity: Entity::Run,
        id: run.id.0,
        project: Some(run.project.0),
        run: Some(run.id.0),
        session: None,
        live: run.outcome.is_none(),
        seq,
        body: json(run),
    }
}

pub(super) fn session(session: &Session, seq: u64) -> Projection {
    Projection {
        entity: Entity::Session,
        id: session.id.0,
        project: Some(session.project.0),
        run: Some(session.run.0),
        session: Some(session.id.0),
        live: !session.is_over(),
        seq,
        body: json(session),
    }
}

pub(super) fn request(request: &Request, seq: u64) -> Projection {
    Projection {
        entity: Entity::Request,
        id: request.id.0,
        project: Some(request.project.0),
        run: Some(request.run.0),
        session: Some(request.session.0),
        live: request.is_pending(),
        seq,
        body: json(request),
    }
}

/// There are few, and their names are kept.
pub(super) fn account(account: &Account, seq: u64) -> Projection {
    let (entity, id, body) = (Entity::Account, account.id.0, json(account));
    Projection { entity, id, project: None, run: None, session: None, live: true, seq, body }
}

pub(super) fn checkpoint(checkpoint: &Checkpoint, seq: u64) -> Projection {
    Projection {
        entity: Entity::Checkpoint,
        id: checkpoint.id.0,
        project: Some(checkpoint.project.0),
        run: Some(checkpoint.run.0),
        session: Some(checkpoint.session.0),
        live: checkpoint.is_wanted(),
        seq,
        body: json(checkpoint),
    }
}

pub(super) fn invocation(invocation: &Invocation, seq: u64) -> Projection {
    Projection {
        entity: Entity::Invocation,
        id: invocation.id.0,
        project: Some(invocation.project.0),
        run: Some(invocation.run.0),
        session: Some(invocation.session.0),
        live: invocation.is_live(),
        seq,
        body: json(invocation),
    }
}

pub(super) fn result(result: &Handover, seq: u64) -> Projection {
    Projection {
        entity: Entity::Result,
        id: result.id.0,
        project: Some(result.project.0),
        run: Some(result.run.0),
        session: Some(result.session.0),
        live: result.delivered_at_ms.is_none(),
        seq,
        body: json(result),
    }
}

pub(super) fn action((name, action): &(ActionName, Action)) -> ActionRow {
    ActionRow { name: action_name(*name), session: Some(action.session.0), body: json(action) }
}

pub(super) fn action_name(name: ActionName) -> ostler_store::ActionName {
    ostler_store::ActionName { seq: name.seq, index: name.index }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what the engine keeps is plain data")
}
