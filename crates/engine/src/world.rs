//! Everything that is known, and changes to it that are not committed yet.
//!
//! A [`World`] changes by [`World::absorb`] alone. A decision works on an [`Overlay`]: copies of what it touches. If
//! the commit fails, the copies are dropped and the world is as it was.

mod graphs;
mod index;
mod staged;
mod tables;

use alloc::{collections::BTreeMap, vec::Vec};
use core::{mem, ops::Deref};

use serde::{Deserialize, Serialize};

use self::index::{DeadlineOf, Index};
pub(crate) use self::staged::StagedWorld;
pub use self::tables::{Entity, EntityId, Tables};
use crate::{
    account::Account,
    decide::{account_due_at_ms, account_name, due_at_ms},
    id::{CheckpointId, GraphId, GroupId, InvocationId, NodeId, ProjectId, RequestId, ResultId, SessionId},
    request::Request,
    session::{CheckWish, LaunchEnd, Session},
};

/// Everything that is known. It dereferences to its tables for reading; [`World::put`] and [`World::absorb`] alone write,
/// so that the indexes hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct World {
    /// The last event that is part of it.
    pub last_seq: u64,
    /// The highest numbers given so far.
    pub counters: Counters,
    tables: Tables,
    index: Index,
}

impl Deref for World {
    type Target = Tables;

    fn deref(&self) -> &Tables {
        &self.tables
    }
}

/// The highest numbers given so far. They only grow, so that no id comes twice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    #[serde(default)]
    pub account: u64,
    /// Of checkpoints.
    pub checkpoint: u64,
    /// Of calls between agents.
    #[serde(default)]
    pub invocation: u64,
    /// Of their results.
    #[serde(default)]
    pub result: u64,
    /// Of graphs.
    #[serde(default)]
    pub graph: u64,
    /// Of their nodes.
    #[serde(default)]
    pub node: u64,
    /// Of their groups.
    #[serde(default)]
    pub group: u64,
}

impl Counters {
    fn max(self, other: Counters) -> Counters {
        Counters {
            project: self.project.max(other.project),
            run: self.run.max(other.run),
            session: self.session.max(other.session),
            request: self.request.max(other.request),
            account: self.account.max(other.account),
            checkpoint: self.checkpoint.max(other.checkpoint),
            invocation: self.invocation.max(other.invocation),
            result: self.result.max(other.result),
            graph: self.graph.max(other.graph),
            node: self.node.max(other.node),
            group: self.group.max(other.group),
        }
    }
}

/// Copies of what was touched.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overlay {
    /// The last event that is part of it; 0 if there is none.
    pub last_seq: u64,
    /// The highest numbers given in it.
    pub counters: Counters,
    /// The copies.
    pub tables: Tables,
}

impl World {
    /// Makes changes part of the world.
    pub fn absorb(&mut self, overlay: Overlay) {
        self.last_seq = self.last_seq.max(overlay.last_seq);
        self.counters = self.counters.max(overlay.counters);
        self.put_all(overlay.tables);
        self.refresh_deadlines();
    }

    /// Adds to an overlay what came after it.
    pub fn stack(group: &mut Overlay, later: Overlay) {
        group.last_seq = group.last_seq.max(later.last_seq);
        group.counters = group.counters.max(later.counters);
        group.tables.extend(later.tables);
    }

    /// Puts an entity in its place.
    pub fn put<E: Entity>(&mut self, entity: E) {
        self.replace(entity);
        self.refresh_deadlines();
    }

    /// Puts an entity in its place; deadlines are refreshed afterwards.
    fn replace<E: Entity>(&mut self, entity: E) {
        let (id, table) = (entity.id(), E::table_mut(&mut self.tables));
        E::index(table.get(&id), Some(&entity), &mut self.index);
        table.insert(id, entity);
    }

    fn remove<I: EntityId>(&mut self, id: I) -> Option<I::Entity> {
        let entity = I::Entity::table_mut(&mut self.tables).remove(&id)?;
        I::Entity::index(Some(&entity), None, &mut self.index);
        Some(entity)
    }

    /// Computes the deadlines anew that a change may have moved.
    fn refresh_deadlines(&mut self) {
        let mut stale = mem::take(&mut self.index.stale);
        if stale.all_sessions {
            stale.sessions.extend(&self.index.under_way);
        }
        for id in stale.sessions {
            let session = self.sessions.get(&id);
            let at_ms = session.filter(|session| !session.is_over()).and_then(|it| due_at_ms(self, it));
            // An account that tries one session after the other waits for what the last one shows.
            let account = session.and_then(|session| self.index.accounts.get(&account_name(session)));
            stale.accounts.extend(account);
            self.index.deadlines.set(DeadlineOf::Session(id), at_ms);
        }
        for id in stale.accounts {
            let at_ms = self.accounts.get(&id).and_then(|account| account_due_at_ms(self, account));
            self.index.deadlines.set(DeadlineOf::Account(id), at_ms);
        }
    }

    /// Drops a session that is over, with its run and its requests, unless something of it is still on its way. The store
    /// keeps them.
    pub fn forget(&mut self, session: SessionId) {
        let is_over = self.sessions.get(&session).is_some_and(Session::is_over);
        let is_kept = self.sessions.get(&session).is_some_and(|it| !it.checkpoints.pending.is_empty());
        if !is_over || is_kept || self.index.pending.contains_key(&session) {
            return;
        }
        let requests: Vec<RequestId> = self.index.requests.of(&session).collect();
        for request in requests {
            self.remove(request);
        }
        let checkpoints: Vec<CheckpointId> = self.index.checkpoints.of(&session).collect();
        for checkpoint in checkpoints {
            self.remove(checkpoint);
        }
        let Some(forgotten) = self.remove(session) else { return };
        if let Some(graph) = forgotten.graph {
            self.forget_graph(graph);
        }
        if let Some(run) = self.runs.get(&forgotten.run)
            && run.outcome.is_some()
            && !run.sessions.iter().any(|session| self.sessions.contains_key(session))
        {
            self.remove(forgotten.run);
        }
        self.index.stale.accounts.extend(self.index.accounts.get(&account_name(&forgotten)));
        self.refresh_deadlines();
    }

    fn forget_graph(&mut self, graph: GraphId) {
        let nodes: Vec<NodeId> = self.nodes_of(graph).map(|node| node.id).collect();
        let groups: Vec<GroupId> = self.groups_of(graph).map(|group| group.id).collect();
        for node in nodes {
            self.remove(node);
        }
        for group in groups {
            self.remove(group);
        }
        self.remove(graph);
    }

    /// Drops calls and results to which nothing can happen any more. The store keeps them.
    pub fn forget_calls(&mut self) {
        self.tables.invocations.retain(|_, invocation| invocation.is_live());
        self.tables.results.retain(|_, result| result.delivered_at_ms.is_none());
    }

    /// The requests of a session that it waits for, oldest first.
    pub fn blocking(&self, session: SessionId) -> impl Iterator<Item = &Request> {
        self.pending(session).filter(|request| request.blocks())
    }

    /// The requests of a session that are open, or whose answer waits.
    pub fn pending(&self, session: SessionId) -> impl Iterator<Item = &Request> {
        self.index.pending.of(&session).filter_map(|id| self.requests.get(&id))
    }

    /// The open requests that a session waits for, in the order of their turns.
    pub fn offered(&self, session: SessionId) -> Vec<&Request> {
        let mut open: Vec<&Request> = self.blocking(session).filter(|request| request.is_open()).collect();
        open.sort_by_key(|request| request.ask.turn());
        open
    }

    /// The requests that are open, oldest first. Several of one session share their places by their turns: an error
    /// comes before a question, whatever was printed first.
    pub fn inbox(&self) -> impl Iterator<Item = &Request> {
        self.inbox_after(None)
    }

    /// The requests that come after this one in the inbox. One that is settled by now counts by its age.
    pub fn inbox_after(&self, after: Option<RequestId>) -> impl Iterator<Item = &Request> {
        let mut places: BTreeMap<RequestId, &Request> = BTreeMap::new();
        for session in self.index.pending.keys() {
            let mut open: Vec<&Request> = self.pending(*session).filter(|it| it.is_open()).collect();
            let ids: Vec<RequestId> = open.iter().map(|request| request.id).collect();
            open.sort_by_key(|request| request.ask.turn());
            places.extend(ids.into_iter().zip(open));
        }
        let place = after.map(|after| {
            let at = places.iter().find(|(_, request)| request.id == after);
            at.map_or(after, |(place, _)| *place)
        });
        places.into_iter().filter(move |(at, _)| place.is_none_or(|place| *at > place)).map(|(_, it)| it)
    }

    /// The calls of a project to which something can still happen.
    pub(crate) fn live_calls(&self, project: ProjectId) -> impl Iterator<Item = InvocationId> {
        self.index.live_calls.of(&project)
    }

    /// The results of a project that were not read yet.
    pub(crate) fn undelivered_results(&self, project: ProjectId) -> impl Iterator<Item = ResultId> {
        self.index.undelivered.of(&project)
    }

    /// The project with this root.
    pub fn project_at(&self, root: &str) -> Option<ProjectId> {
        self.index.roots.get(root).copied()
    }

    /// When something becomes due by itself.
    pub fn next_deadline_ms(&self) -> Option<u64> {
        self.index.deadlines.first_at_ms()
    }

    /// Whether another session exchanges the files of this one.
    pub(crate) fn is_exchanged(&self, session: &Session) -> bool {
        let mut others = self.index.restoring.iter().filter(|other| **other != session.id);
        others.any(|other| self.sessions.get(other).is_some_and(|other| other.shares_files(session)))
    }

    /// The account of a session, if a limit holds it.
    pub fn limited_account(&self, session: &Session) -> Option<&Account> {
        let account = self.index.accounts.get(&account_name(session))?;
        self.accounts.get(account).filter(|account| account.limit.is_some())
    }

    /// What is wanted of a check now.
    pub fn check_wish(&self, id: SessionId, number: u32) -> CheckWish {
        let session = self.sessions.get(&id).filter(|session| session.checking == Some(number));
        match session {
            Some(session) if session.cancelled_at_ms.is_some() || session.check_ending.is_some() => {
                CheckWish::End
            }
            Some(session) if session.paused_at_ms.is_some() || self.blocking(id).next().is_some() => {
                CheckWish::Hold
            }
            Some(_) => CheckWish::Run,
            None => CheckWish::End,
        }
    }

    /// Whether the process of a launch has to end, also where its shim cannot be reached: it was told to end, its session
    /// is cancelled, or it runs on beyond a limit. A session that is not known has no process.
    pub fn must_end(&self, id: SessionId, launch: u32) -> bool {
        let Some(session) = self.sessions.get(&id) else { return true };
        let Some(live) = session.live().filter(|live| live.number == launch) else { return true };
        let is_over_limit = || self.blocking(id).any(|request| request.ask.is_about_budget());
        let runs_on = live.held().is_none();
        session.cancelled_at_ms.is_some() || live.ending.is_some() || (runs_on && is_over_limit())
    }

    /// The sessions whose last launch has not ended, with its number.
    pub fn live_launches(&self) -> impl Iterator<Item = (SessionId, u32)> {
        self.sessions.values().filter_map(|session| Some((session.id, session.live()?.number)))
    }

    /// Sessions that were lost.
    pub fn interrupted(&self) -> impl Iterator<Item = &Session> {
        let lost = |end: &LaunchEnd| matches!(end, LaunchEnd::Lost { .. });
        self.under_way().filter(move |session| session.last_end().is_some_and(lost))
    }

    /// The sessions that are not over.
    fn under_way(&self) -> impl Iterator<Item = &Session> {
        self.index.under_way.iter().filter_map(|id| self.sessions.get(id))
    }
}
