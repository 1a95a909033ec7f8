//! The world as a decision sees it.

use alloc::{collections::BTreeSet, vec::Vec};

use super::{Counters, Entity, EntityId, Overlay, World};
use crate::{
    account::Account,
    decide::account_name,
    id::{AccountId, ProjectId, RequestId, SessionId},
    request::Request,
    run::{Project, Run},
    session::Session,
};

/// The world as a decision sees it: its own changes over those of its group over what is committed.
#[derive(Debug)]
pub(crate) struct StagedWorld<'a> {
    pub(crate) world: &'a World,
    pub(crate) group: &'a Overlay,
    pub(crate) own: Overlay,
}

impl<'a> StagedWorld<'a> {
    pub(crate) fn new(world: &'a World, group: &'a Overlay) -> Self {
        StagedWorld { world, group, own: Overlay::default() }
    }

    pub(crate) fn next_seq(&self) -> u64 {
        self.own.last_seq.max(self.group.last_seq).max(self.world.last_seq) + 1
    }

    pub(crate) fn project_at(&self, root: &str) -> Option<ProjectId> {
        let touched = self.touched::<Project>().find(|project| project.root == root);
        touched.map(|project| project.id).or_else(|| self.world.project_at(root))
    }

    pub(crate) fn has_project(&self, id: ProjectId) -> bool {
        self.get(id).is_some()
    }

    /// An entity: as this decision leaves it, else as its group does, else as it is committed.
    pub(crate) fn get<I: EntityId>(&self, id: I) -> Option<&I::Entity> {
        let layers = [&self.own.tables, &self.group.tables, &self.world.tables];
        layers.into_iter().find_map(|tables| I::Entity::table(tables).get(&id))
    }

    /// An entity that an event names, to change it.
    pub(crate) fn get_mut<I: EntityId>(&mut self, id: I) -> &mut I::Entity {
        if !I::Entity::table(&self.own.tables).contains_key(&id) {
            let entity = self.get(id).expect("an event names something that exists").clone();
            self.insert(entity);
        }
        I::Entity::table_mut(&mut self.own.tables).get_mut(&id).expect("it was put there just now")
    }

    /// Adds an entity, or replaces it.
    pub(crate) fn insert<E: Entity>(&mut self, entity: E) {
        E::table_mut(&mut self.own.tables).insert(entity.id(), entity);
    }

    /// The entities of a kind that were touched and are not committed yet, as they are now.
    pub(super) fn touched<E: Entity>(&self) -> impl Iterator<Item = &E> {
        let (own, group) = (E::table(&self.own.tables), E::table(&self.group.tables));
        own.values().chain(group.iter().filter(|(id, _)| !own.contains_key(id)).map(|(_, entity)| entity))
    }

    /// The given ids with those of the touched entities of their kind, in order.
    pub(crate) fn with_touched<I: EntityId>(&self, ids: impl Iterator<Item = I>) -> impl Iterator<Item = I> {
        let touched = self.touched::<I::Entity>().map(Entity::id);
        ids.chain(touched).collect::<BTreeSet<I>>().into_iter()
    }

    /// The account with this name, if it has ever hit a limit.
    pub(crate) fn account_named(&self, name: &str) -> Option<&Account> {
        let touched = self.touched::<Account>().find(|account| account.name == name);
        touched.or_else(|| self.world.accounts.get(self.world.index.accounts.get(name)?))
    }

    /// The accounts that a limit holds.
    pub(crate) fn limited_accounts(&self) -> Vec<AccountId> {
        let ids = self.with_touched(self.world.index.limited.iter().copied());
        ids.filter(|id| self.get(*id).is_some_and(|account| account.limit.is_some())).collect()
    }

    /// The ids of a session's requests that are open, or whose answer waits, oldest first.
    pub(crate) fn pending(&self, session: SessionId) -> BTreeSet<RequestId> {
        let is_pending = |id: &RequestId| {
            self.get(*id).is_some_and(|request| request.session == session && request.is_pending())
        };
        self.with_touched(self.world.index.pending.of(&session)).filter(is_pending).collect()
    }

    /// The sessions that are not over.
    pub(crate) fn sessions_under_way(&self) -> BTreeSet<SessionId> {
        self.under_way(self.world.index.under_way.iter().copied())
    }

    /// The sessions of an account that are not over.
    pub(crate) fn sessions_of_account(&self, name: &str) -> BTreeSet<SessionId> {
        let mut ids = self.under_way(self.world.index.by_account.of(name));
        ids.retain(|id| self.get(*id).is_some_and(|session| account_name(session) == name));
        ids
    }

    /// The sessions for which something may be due by now: their deadline has come, or they were touched since it was
    /// computed.
    pub(crate) fn sessions_to_look_at(&self, now_ms: u64) -> BTreeSet<SessionId> {
        let is_restoring = |session: &Session| session.checkpoints.restoring.is_some();
        let was_restoring = |session: &Session| self.world.index.restoring.contains(&session.id);
        if self.touched::<Session>().any(|it| is_restoring(it) != was_restoring(it)) {
            // A restore that begins or ends holds up, or frees, whoever shares its files.
            return self.sessions_under_way();
        }
        let due = self.world.index.deadlines.sessions_due(now_ms);
        let of_requests = self.touched::<Request>().map(|request| request.session);
        let of_runs = self.touched::<Run>().flat_map(|run| run.sessions.iter().copied());
        self.under_way(due.chain(of_requests).chain(of_runs))
    }

    /// Those of the given sessions, and of the touched ones, that are not over.
    fn under_way(&self, ids: impl Iterator<Item = SessionId>) -> BTreeSet<SessionId> {
        let is_under_way = |id: &SessionId| self.get(*id).is_some_and(|session| !session.is_over());
        self.with_touched(ids).filter(is_under_way).collect()
    }

    /// The sessions, over or not, whose files are being brought back.
    pub(crate) fn sessions_restoring(&self) -> impl Iterator<Item = &Session> {
        let ids = self.with_touched(self.world.index.restoring.iter().copied());
        ids.filter_map(|id| self.get(id)).filter(|session| session.checkpoints.restoring.is_some())
    }

    /// Another session whose files are being exchanged, and are those of this one too.
    pub(crate) fn exchanged(&self, id: SessionId) -> Option<SessionId> {
        let session = self.get(id)?;
        let mut others = self.sessions_restoring().filter(|other| other.id != id);
        others.find(|other| other.shares_files(session)).map(|other| other.id)
    }

    /// The requests that a session waits for, oldest first.
    pub(crate) fn blocking(&self, session: SessionId) -> impl Iterator<Item = &Request> {
        let pending = self.pending(session);
        pending.into_iter().filter_map(|id| self.get(id)).filter(|request| request.blocks())
    }

    /// Every request of a session, whatever became of it.
    pub(crate) fn requests_of(&self, session: SessionId) -> impl Iterator<Item = &Request> {
        let requests =
            self.with_touched(self.world.index.requests.of(&session)).filter_map(|id| self.get(id));
        requests.filter(move |request| request.session == session)
    }

    /// The highest numbers given so far.
    pub(crate) fn counters(&self) -> Counters {
        self.world.counters.max(self.group.counters).max(self.own.counters)
    }
}
