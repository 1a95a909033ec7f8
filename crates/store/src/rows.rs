//! What is stored, as the engine and the server see it.
//!
//! The store does not look into `body`: it is JSON that the engine wrote and the engine reads.

use std::fmt;

/// What one decision of the engine writes. A group of them is one transaction.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Commit {
    /// What happened, in order. Their numbers go on where the journal ends, without a gap.
    pub events: Vec<EventRow>,
    /// The new states of what the events touched.
    pub upserts: Vec<Projection>,
    /// What has to be done now.
    pub actions: Vec<ActionRow>,
    /// What has been done. Each must be open.
    pub done: Vec<ActionName>,
    /// What the client was told, if this came from one.
    pub reply: Option<StoredReply>,
}

/// One event of the journal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EventRow {
    /// Its place in the journal; the first is 1.
    pub seq: u64,
    /// The version of the form of its body.
    pub version: u32,
    /// When it happened, in UTC milliseconds.
    pub at_ms: u64,
    /// What happened, as `noun.past_verb`.
    pub kind: String,
    /// The project it belongs to.
    pub project: Option<u64>,
    /// The run it belongs to.
    pub run: Option<u64>,
    /// The session it belongs to.
    pub session: Option<u64>,
    /// The rest of it, as JSON.
    pub body: String,
}

/// A kind of thing whose state is kept.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Entity {
    /// A repository that is looked after.
    Project,
    /// What a person asked for.
    Run,
    /// One agent at work.
    Session,
    /// Something that waits for somebody.
    Request,
    /// Whose allowance sessions use, if it has ever hit a limit.
    Account,
    /// What stood in a session's directory at one moment.
    Checkpoint,
    /// One agent has called another.
    Invocation,
    /// Work that a person asked for in one go.
    Graph,
    /// One piece of work in a graph.
    Node,
    /// Nodes of a graph that are tested and merged together.
    Group,
    /// Something that one agent brings another.
    Result,
}

impl Entity {
    /// All of them, each behind those it can belong to.
    pub const ALL: [Entity; 11] = [
        Entity::Project,
        Entity::Run,
        Entity::Session,
        Entity::Request,
        Entity::Account,
        Entity::Checkpoint,
        Entity::Invocation,
        Entity::Graph,
        Entity::Node,
        Entity::Group,
        Entity::Result,
    ];

    /// Its name, as in events.
    pub fn name(self) -> &'static str {
        match self {
            Entity::Project => "project",
            Entity::Run => "run",
            Entity::Session => "session",
            Entity::Request => "request",
            Entity::Account => "account",
            Entity::Checkpoint => "checkpoint",
            Entity::Invocation => "invocation",
            Entity::Graph => "graph",
            Entity::Node => "node",
            Entity::Group => "group",
            Entity::Result => "result",
        }
    }
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The state of one thing, as the events so far have made it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Projection {
    /// What kind of thing it is.
    pub entity: Entity,
    /// Its number among its kind; the first is 1.
    pub id: u64,
    /// The project it belongs to.
    pub project: Option<u64>,
    /// The run it belongs to.
    pub run: Option<u64>,
    /// The session it belongs to.
    pub session: Option<u64>,
    /// Whether it still matters when the server starts: an unfinished run or session, an open request.
    pub live: bool,
    /// The last event that touched it.
    pub seq: u64,
    /// Its state, as JSON.
    pub body: String,
}

/// An action is named by the event that caused it and its number among that event's actions.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ActionName {
    /// The event.
    pub seq: u64,
    /// Its number among the actions of that event.
    pub index: u32,
}

impl fmt::Display for ActionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.seq, self.index)
    }
}

/// Something that has to be done, and stays until it is reported as done.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ActionRow {
    /// What it is called.
    pub name: ActionName,
    /// The session it is about.
    pub session: Option<u64>,
    /// What is to be done, as JSON.
    pub body: String,
}

/// What a client was told, so that it is told the same when it asks again.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredReply {
    /// The client's idempotency key.
    pub key: String,
    /// Stands for the request, so that another request under the same key is noticed.
    pub fingerprint: String,
    /// When, in UTC milliseconds.
    pub at_ms: u64,
    /// The status of the answer.
    pub status: u16,
    /// The answer.
    pub body: String,
}

/// Which rows are meant: those that belong to all that is named here.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Scope {
    /// Of this project.
    pub project: Option<u64>,
    /// Of this run.
    pub run: Option<u64>,
    /// Of this session.
    pub session: Option<u64>,
}

/// One page of projections, newest first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Page {
    /// Which kind.
    pub entity: Entity,
    /// Which of them.
    pub scope: Scope,
    /// Only those that still matter, or only those that do not.
    pub live: Option<bool>,
    /// Only ids below this one: the last id of the page before.
    pub before: Option<u64>,
    /// At most so many.
    pub limit: u32,
}

/// The highest id given out so far per kind; 0 when there is none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Of projects.
    pub project: u64,
    /// Of runs.
    pub run: u64,
    /// Of sessions.
    pub session: u64,
    /// Of requests.
    pub request: u64,
    /// Of accounts.
    pub account: u64,
    /// Of checkpoints.
    pub checkpoint: u64,
    /// Of calls between agents.
    pub invocation: u64,
    /// Of their results.
    pub result: u64,
    /// Of graphs.
    pub graph: u64,
    /// Of their nodes.
    pub node: u64,
    /// Of their groups.
    pub group: u64,
}
