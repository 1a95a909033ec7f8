//! The engine's data as the store keeps it.

use std::collections::BTreeMap;

use ostler_engine::{
    Action, ActionName, Entry, ProjectId, RunId, SessionId,
    account::Account,
    checkpoint::Checkpoint,
    event::VERSION,
    graph::{WorkGraph, WorkGroup, WorkNode},
    office::{Handover, Invocation},
    request::Request,
    run::{Project, Run},
    session::Session,
    world::Tables,
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

/// Every row of the tables, each after what it belongs to.
pub(super) fn projections(tables: &Tables, seq: u64) -> impl Iterator<Item = Projection> {
    fn rows<I, E: Row>(table: &BTreeMap<I, E>, seq: u64) -> impl Iterator<Item = Projection> {
        table.values().map(move |entity| entity.projection(seq))
    }
    rows(&tables.projects, seq)
        .chain(rows(&tables.runs, seq))
        .chain(rows(&tables.sessions, seq))
        .chain(rows(&tables.requests, seq))
        .chain(rows(&tables.accounts, seq))
        .chain(rows(&tables.checkpoints, seq))
        .chain(rows(&tables.invocations, seq))
        .chain(rows(&tables.graphs, seq))
        .chain(rows(&tables.nodes, seq))
        .chain(rows(&tables.groups, seq))
        .chain(rows(&tables.results, seq))
}

/// An entity of the engine that has a row in the store.
trait Row: Serialize {
    /// Its row: where it belongs, and whether something can still happen to it.
    fn place(&self) -> Place;

    fn projection(&self, seq: u64) -> Projection {
        let Place { entity, id, project, run, session, live } = self.place();
        Projection { entity, id, project, run, session, live, seq, body: json(self) }
    }
}

/// Where a row belongs.
struct Place {
    entity: Entity,
    id: u64,
    project: Option<u64>,
    run: Option<u64>,
    session: Option<u64>,
    live: bool,
}

impl Place {
    /// The place of what belongs to a session.
    fn of_session(entity: Entity, id: u64, of: (ProjectId, RunId, SessionId), live: bool) -> Place {
        let (project, run, session) = of;
        Place { entity, id, project: Some(project.0), run: Some(run.0), session: Some(session.0), live }
    }
}

impl Row for Project {
    fn place(&self) -> Place {
        let id = self.id.0;
        Place { entity: Entity::Project, id, project: Some(id), run: None, session: None, live: true }
    }
}

impl Row for Run {
    fn place(&self) -> Place {
        let (id, project, live) = (self.id.0, Some(self.project.0), self.outcome.is_none());
        Place { entity: Entity::Run, id, project, run: Some(id), session: None, live }
    }
}

impl Row for Session {
    fn place(&self) -> Place {
        let of = (self.project, self.run, self.id);
        Place::of_session(Entity::Session, self.id.0, of, !self.is_over())
    }
}

impl Row for Request {
    fn place(&self) -> Place {
        let of = (self.project, self.run, self.session);
        Place::of_session(Entity::Request, self.id.0, of, self.is_pending())
    }
}

/// There are few accounts, and their names are kept: all are live.
impl Row for Account {
    fn place(&self) -> Place {
        Place { entity: Entity::Account, id: self.id.0, project: None, run: None, session: None, live: true }
    }
}

impl Row for Checkpoint {
    fn place(&self) -> Place {
        let of = (self.project, self.run, self.session);
        Place::of_session(Entity::Checkpoint, self.id.0, of, self.is_wanted())
    }
}

impl Row for Invocation {
    fn place(&self) -> Place {
        let of = (self.project, self.run, self.session);
        Place::of_session(Entity::Invocation, self.id.0, of, self.is_live())
    }
}

impl Row for Handover {
    fn place(&self) -> Place {
        let of = (self.project, self.run, self.session);
        Place::of_session(Entity::Result, self.id.0, of, self.delivered_at_ms.is_none())
    }
}

/// The rows of a graph are read with its session, so none of them is live by itself: a graph of thousands of nodes ends
/// without rewriting them.
impl Row for WorkGraph {
    fn place(&self) -> Place {
        Place::of_session(Entity::Graph, self.id.0, (self.project, self.run, self.session), false)
    }
}

impl Row for WorkNode {
    fn place(&self) -> Place {
        Place::of_session(Entity::Node, self.id.0, (self.project, self.run, self.session), false)
    }
}

impl Row for WorkGroup {
    fn place(&self) -> Place {
        Place::of_session(Entity::Group, self.id.0, (self.project, self.run, self.session), false)
    }
}

pub(super) fn action((name, action): &(ActionName, Action)) -> ActionRow {
    ActionRow { name: action_name(*name), session: Some(action.session.0), body: json(action) }
}

pub(super) fn action_name(name: ActionName) -> ostler_store::ActionName {
    ostler_store::ActionName { seq: name.seq, index: name.index }
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("what the engine keeps is plain data")
}
