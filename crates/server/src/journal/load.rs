//! What the store kept, as the engine's data: at the start, for what was over by then, and to replay the journal.

use std::{collections::BTreeSet, fmt, ops::ControlFlow};

use ostler_engine::{
    Action, ActionName, CheckpointId, Entry, Input, ProjectId, RequestId, RunId, SessionId, World,
    account::Account,
    checkpoint::Checkpoint,
    graph::{WorkGraph, WorkGroup, WorkNode},
    input::Made,
    office::{Handover, Invocation, OfficeInput},
    request::Request,
    run::{Project, Run},
    session::Session,
    work_secret::WorkScan,
    world::Counters,
};
use ostler_store::{
    Commit, CommitError, Entity, EventRow, NEEDS_REPLAY, Page, Projection, ReadError, Reads, Scope, Store,
};
use serde::de::DeserializeOwned;

use super::rows;

/// The name in the database of the number behind which ids are given after something was lost.
pub(crate) const IDS_FROM: &str = "ids_from";

/// What is known when the server starts.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    /// Everything that is not over, and what something is still to be done about.
    pub(crate) world: World,
    /// What was to be done when the last server ended.
    pub(crate) open_actions: Vec<(ActionName, Action)>,
    /// When the last event happened.
    pub(crate) last_at_ms: u64,
}

/// Why the journal cannot be used.
#[derive(Debug)]
pub enum LoadError {
    /// The store says no.
    Read(ReadError),
    /// It cannot be written.
    Write(CommitError),
    /// A row is not what it should be.
    Row {
        /// Which one.
        what: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// What an input is about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject {
    Session(SessionId),
    Request(RequestId),
    /// A checkpoint with its session and all others of it.
    Checkpoint(CheckpointId),
}

/// Something that the store kept.
pub(crate) enum Found {
    Project(Project),
    Run(Run),
    Session(Box<Session>),
    Request(Box<Request>),
    Account(Account),
    Checkpoint(Box<Checkpoint>),
    Invocation(Box<Invocation>),
    Graph(Box<WorkGraph>),
    Node(Box<WorkNode>),
    Group(Box<WorkGroup>),
    Result(Box<Handover>),
}

impl Found {
    pub(crate) fn put(self, world: &mut World) {
        match self {
            Found::Project(it) => world.put(it),
            Found::Run(it) => world.put(it),
            Found::Session(it) => world.put(*it),
            Found::Request(it) => world.put(*it),
            Found::Account(it) => world.put(it),
            Found::Checkpoint(it) => world.put(*it),
            Found::Invocation(it) => world.put(*it),
            Found::Graph(it) => world.put(*it),
            Found::Node(it) => world.put(*it),
            Found::Group(it) => world.put(*it),
            Found::Result(it) => world.put(*it),
        }
    }
}

/// Reads what is not over.
pub(crate) fn load(store: &dyn Reads) -> Result<Loaded, LoadError> {
    let mut loaded = Loaded::default();
    let counters = store.counters().map_err(LoadError::Read)?;
    let from = store.meta(IDS_FROM).map_err(LoadError::Read)?.and_then(|text| text.parse().ok()).unwrap_or(0);
    loaded.world.counters = Counters {
        project: counters.project.max(from),
        run: counters.run.max(from),
        session: counters.session.max(from),
        request: counters.request.max(from),
        account: counters.account.max(from),
        checkpoint: counters.checkpoint.max(from),
        invocation: counters.invocation.max(from),
        result: counters.result.max(from),
        graph: counters.graph.max(from),
        node: counters.node.max(from),
        group: counters.group.max(from),
    };
    loaded.world.last_seq = store.last_seq().map_err(LoadError::Read)?;
    for entity in Entity::ALL {
        for projection in store.live(entity).map_err(LoadError::Read)? {
            read(&projection)?.put(&mut loaded.world);
        }
    }
    let graphs = loaded.world.sessions.values().filter(|session| session.graph.is_some());
    for session in graphs.map(|session| session.id).collect::<Vec<_>>() {
        for row in of_graph(store, session).map_err(LoadError::Read)? {
            read(&row)?.put(&mut loaded.world);
        }
    }
    for row in store.open_actions().map_err(LoadError::Read)? {
        let name = ActionName { seq: row.name.seq, index: row.name.index };
        let what = || format!("action {}.{}", name.seq, name.index);
        let action =
            serde_json::from_str(&row.body).map_err(|source| LoadError::Row { what: what(), source })?;
        loaded.open_actions.push((name, action));
    }
    // A request may outlive its session: its answer was on its way. So may an action: a check to be ended, a merge.
    let requests = loaded.world.requests.values().map(|request| request.session);
    let actions = loaded.open_actions.iter().map(|(_, action)| action.session);
    let wanted: BTreeSet<SessionId> = requests.chain(actions).collect();
    for session in wanted {
        if !loaded.world.sessions.contains_key(&session) {
            let found = find(store, Subject::Session(session)).map_err(LoadError::Read)?;
            for it in found {
                it.put(&mut loaded.world);
            }
        }
    }
    let last = loaded.world.last_seq.saturating_sub(1);
    let last = store.events(last, Scope::default(), 1).map_err(LoadError::Read)?;
    loaded.last_at_ms = last.first().map_or(0, |event| event.at_ms);
    Ok(loaded)
}

pub(super) fn subject(input: &Input) -> Option<Subject> {
    match input {
        Input::CreateRun(_)
        | Input::Register(_)
        | Input::Secret { .. }
        | Input::Trust { .. }
        | Input::Distrust { .. }
        // What a gate has found is of use only as long as its session is there.
        | Input::Collected { .. }
        | Input::Checked { .. }
        | Input::VerifierReady { .. }
        | Input::Verified { .. }
        | Input::Reported(_)
        | Input::Tick => None,
        Input::Office(input) => of_office(input),
        Input::Restore { checkpoint, .. } => Some(Subject::Checkpoint(*checkpoint)),
        Input::Pruned { checkpoints, .. } => checkpoints.first().copied().map(Subject::Checkpoint),
        Input::Answer { request, .. }
        | Input::TreeChanged(request)
        | Input::Review { request, .. }
        | Input::Taken { request, .. }
        | Input::CallerGone { request, .. }
        | Input::InVault { request, .. }
        | Input::Installed { request, .. } => Some(Subject::Request(*request)),
        Input::Call { session, .. }
        | Input::GraphReported { session, .. }
        | Input::Told { session, .. }
        | Input::Thin { session, .. }
        | Input::ValuesNotWritten { session, .. }
        | Input::Shim { session, .. }
        | Input::ShimRecords { session, .. }
        | Input::Overheard { session, .. }
        | Input::ShimLost { session, .. }
        | Input::ShimDisplaced(session, _)
        | Input::LaunchFailed { session, .. }
        | Input::NotTaken { session, .. }
        | Input::CheckEnded { session, .. }
        | Input::Worktree { session, .. }
        | Input::Checkpointed { session, .. }
        | Input::Restored { session, .. }
        | Input::Checkpoint(session)
        | Input::Revoke { session, .. }
        | Input::Send { session, .. }
        | Input::Resized { session, .. }
        | Input::Rename(session, _)
        | Input::Pause(session)
        | Input::Continue(session)
        | Input::Resume { session, .. }
        | Input::Cancel(session)
        | Input::Merge(session)
        | Input::WorkScanned(WorkScan { session, .. })
        | Input::Discard(session) => Some(Subject::Session(*session)),
    }
}

/// The session that an office takes up again, or that speaks.
fn of_office(input: &OfficeInput) -> Option<Subject> {
    match input {
        OfficeInput::Invoke { session, .. }
        | OfficeInput::Examined { session, .. }
        | OfficeInput::Listened { session, .. } => Some(Subject::Session(*session)),
        OfficeInput::Seated { seat: Ok(seat), .. } | OfficeInput::Send { seat, .. } => {
            seat.session.map(Subject::Session)
        }
        OfficeInput::Seated { seat: Err(_), .. }
        | OfficeInput::Taken { .. }
        | OfficeInput::CallerGone { .. }
        | OfficeInput::Cancel(_) => None,
    }
}

pub(super) fn knows(world: &World, subject: Subject) -> bool {
    match subject {
        Subject::Session(id) => world.sessions.contains_key(&id) || id.0 > world.counters.session,
        Subject::Request(id) => world.requests.contains_key(&id) || id.0 > world.counters.request,
        // Those of a session that goes on are not in memory: they are asked for once in a while.
        Subject::Checkpoint(id) => id.0 > world.counters.checkpoint,
    }
}

/// What the store kept of a session, or of a request's session.
pub(crate) fn kept(
    store: &dyn Reads,
    session: Option<SessionId>,
    request: Option<RequestId>,
) -> Result<Vec<Found>, ReadError> {
    match (session, request) {
        (Some(id), _) => find(store, Subject::Session(id)),
        (None, Some(id)) => find(store, Subject::Request(id)),
        (None, None) => Ok(Vec::new()),
    }
}

/// What was made under a client's key, if anything was.
pub(crate) fn made_under(store: &dyn Reads, key: &str) -> Result<Option<Made>, ReadError> {
    Ok(store.reply(key)?.and_then(|reply| serde_json::from_str(&reply.body).ok()))
}

/// A session with its run and its requests.
pub(super) fn find(store: &dyn Reads, subject: Subject) -> Result<Vec<Found>, ReadError> {
    let session = match subject {
        Subject::Session(id) => Some(id.0),
        Subject::Request(id) => store.entity(Entity::Request, id.0)?.and_then(|row| row.session),
        Subject::Checkpoint(id) => store.entity(Entity::Checkpoint, id.0)?.and_then(|row| row.session),
    };
    let Some(session) = session else { return Ok(Vec::new()) };
    let Some(row) = store.entity(Entity::Session, session)? else { return Ok(Vec::new()) };
    let run = row.run.map(|run| store.entity(Entity::Run, run)).transpose()?.flatten();
    let scope = Scope { session: Some(session), ..Scope::default() };
    let page = Page { entity: Entity::Request, scope, live: None, before: None, limit: u32::MAX };
    let requests = store.page(&page)?;
    let checkpoints = match subject {
        Subject::Checkpoint(_) => store.page(&Page { entity: Entity::Checkpoint, ..page })?,
        _ => Vec::new(),
    };
    let graph = of_graph(store, SessionId(session))?;
    let rows = run.iter().chain([&row]).chain(&requests).chain(&checkpoints).chain(&graph);
    Ok(rows.filter_map(|row| read(row).ok()).collect())
}

/// The graph of a session, with its nodes and groups; nothing for most sessions.
fn of_graph(store: &dyn Reads, session: SessionId) -> Result<Vec<Projection>, ReadError> {
    let scope = Scope { session: Some(session.0), ..Scope::default() };
    let page = |entity| Page { entity, scope, live: None, before: None, limit: u32::MAX };
    let mut rows = store.page(&page(Entity::Graph))?;
    if !rows.is_empty() {
        rows.extend(store.page(&page(Entity::Node))?);
        rows.extend(store.page(&page(Entity::Group))?);
    }
    Ok(rows)
}

pub(crate) fn read(row: &Projection) -> Result<Found, LoadError> {
    Ok(match row.entity {
        Entity::Project => Found::Project(body(row)?),
        Entity::Run => Found::Run(body(row)?),
        Entity::Session => Found::Session(Box::new(body(row)?)),
        Entity::Request => Found::Request(Box::new(body(row)?)),
        Entity::Account => Found::Account(body(row)?),
        Entity::Checkpoint => Found::Checkpoint(Box::new(body(row)?)),
        Entity::Invocation => Found::Invocation(Box::new(body(row)?)),
        Entity::Graph => Found::Graph(Box::new(body(row)?)),
        Entity::Node => Found::Node(Box::new(body(row)?)),
        Entity::Group => Found::Group(Box::new(body(row)?)),
        Entity::Result => Found::Result(Box::new(body(row)?)),
    })
}

fn body<T: DeserializeOwned>(row: &Projection) -> Result<T, LoadError> {
    serde_json::from_str(&row.body)
        .map_err(|source| LoadError::Row { what: format!("{} {}", row.entity, row.id), source })
}

/// An event of the journal as the engine knows it.
pub(crate) fn entry(row: &EventRow) -> Result<Entry, LoadError> {
    let failed = |source| LoadError::Row { what: format!("event {}", row.seq), source };
    let mut value: serde_json::Value = serde_json::from_str(&row.body).map_err(failed)?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("kind".to_owned(), row.kind.clone().into());
    }
    let event = serde_json::from_value(value).map_err(failed)?;
    let (project, run) = (row.project.map(ProjectId), row.run.map(RunId));
    Ok(Entry { seq: row.seq, at_ms: row.at_ms, project, run, session: row.session.map(SessionId), event })
}

/// The world that the journal gives.
fn replayed(store: &dyn Reads) -> Result<World, LoadError> {
    let mut world = World::default();
    let mut failed = None;
    store
        .each_event(&mut |row| match entry(&row) {
            Ok(entry) => {
                world.fold(&entry);
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        })
        .map_err(LoadError::Read)?;
    failed.map_or(Ok(world), Err)
}

/// Replays the whole journal and says what is not as it was kept.
pub(crate) fn replay(store: &dyn Reads) -> Result<Replayed, LoadError> {
    let replayed = compared(store)?;
    if replayed.differences.is_empty() {
        return Ok(replayed);
    }
    // A server may have written meanwhile. Now nothing counts that comes later, which keeps it from tidying up.
    let mut again = Ok(replayed);
    let mut compare = |store: &dyn Reads| {
        again = compared(store);
        Ok(())
    };
    store.snapshot(&mut compare).map_err(LoadError::Read)?;
    again
}

fn compared(store: &dyn Reads) -> Result<Replayed, LoadError> {
    let world = replayed(store)?;
    let mut replayed = Replayed { events: world.last_seq, things: 0, differences: Vec::new() };
    for expected in rows::projections(&world, world.last_seq) {
        replayed.things += 1;
        let kept = store.entity(expected.entity, expected.id).map_err(LoadError::Read)?;
        let is_same = kept.is_some_and(|kept| kept.live == expected.live && same(&kept.body, &expected.body));
        if !is_same {
            replayed.differences.push(format!("{} {}", expected.entity, expected.id));
        }
    }
    Ok(replayed)
}

/// Makes what follows from the journal anew, where it is missing.
pub(crate) fn rebuild(store: &mut dyn Store) -> Result<(), LoadError> {
    if store.meta(NEEDS_REPLAY).map_err(LoadError::Read)?.as_deref() != Some("yes") {
        return Ok(());
    }
    let world = replayed(&*store)?;
    let upserts = rows::projections(&world, world.last_seq).collect();
    store.commit(&[Commit { upserts, ..Commit::default() }]).map_err(LoadError::Write)?;
    store.set_meta(NEEDS_REPLAY, "no").map_err(LoadError::Write)
}

fn same(a: &str, b: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    value(a) == value(b)
}

/// What a replay of the journal gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// How many events there are.
    pub events: u64,
    /// How many things follow from them.
    pub things: u64,
    /// Those that are kept differently.
    pub differences: Vec<String>,
}

impl LoadError {
    /// Whether the database is damaged.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, LoadError::Read(ReadError::Corrupt { .. }) | LoadError::Row { .. })
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Read(source) => write!(f, "{source}"),
            LoadError::Write(source) => write!(f, "{source}"),
            LoadError::Row { what, source } => write!(f, "{what} cannot be understood: {source}"),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LoadError::Read(source) => Some(source),
            LoadError::Write(source) => Some(source),
            LoadError::Row { source, .. } => Some(source),
        }
    }
}
