//! Indexes over the tables of a world, so that no decision walks over all sessions or all requests.
//!
//! Everything here follows from the tables. [`World::put`](super::World::put) and
//! [`World::absorb`](super::World::absorb) keep it up to date; nothing else changes a table of a world.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
};

use crate::{
    account::Account,
    checkpoint::Checkpoint,
    decide::account_name,
    graph::{WorkGraph, WorkGroup, WorkNode},
    id::{
        AccountId, CheckpointId, GraphId, GroupId, InvocationId, NodeId, ProjectId, RequestId, ResultId,
        RunId, SessionId,
    },
    office::{Handover, Invocation},
    request::Request,
    run::{Project, Run},
    session::Session,
};

/// Values by key, several per key. A key without values is not kept.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Groups<K, V>(BTreeMap<K, BTreeSet<V>>);

impl<K, V> Default for Groups<K, V> {
    fn default() -> Self {
        Groups(BTreeMap::new())
    }
}

impl<K: Ord, V: Ord + Copy> Groups<K, V> {
    fn insert(&mut self, key: K, value: V) {
        self.0.entry(key).or_default().insert(value);
    }

    fn remove<Q: Ord + ?Sized>(&mut self, key: &Q, value: V)
    where
        K: core::borrow::Borrow<Q>,
    {
        let Some(values) = self.0.get_mut(key) else { return };
        values.remove(&value);
        if values.is_empty() {
            self.0.remove(key);
        }
    }

    /// The values of a key, in order.
    pub(super) fn of<'a, Q: Ord + ?Sized>(&'a self, key: &Q) -> impl Iterator<Item = V> + use<'a, K, V, Q>
    where
        K: core::borrow::Borrow<Q>,
    {
        self.0.get(key).into_iter().flatten().copied()
    }

    pub(super) fn contains_key(&self, key: &K) -> bool {
        self.0.contains_key(key)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.0.keys()
    }
}

/// Who has a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DeadlineOf {
    Session(SessionId),
    Account(AccountId),
}

/// When something becomes due by itself, earliest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Deadlines {
    in_order: BTreeSet<(u64, DeadlineOf)>,
    by_owner: BTreeMap<DeadlineOf, u64>,
}

impl Deadlines {
    pub(super) fn set(&mut self, owner: DeadlineOf, at_ms: Option<u64>) {
        let before = match at_ms {
            Some(at_ms) => self.by_owner.insert(owner, at_ms),
            None => self.by_owner.remove(&owner),
        };
        if before == at_ms {
            return;
        }
        if let Some(before) = before {
            self.in_order.remove(&(before, owner));
        }
        if let Some(at_ms) = at_ms {
            self.in_order.insert((at_ms, owner));
        }
    }

    pub(super) fn first_at_ms(&self) -> Option<u64> {
        self.in_order.first().map(|(at_ms, _)| *at_ms)
    }

    /// The sessions with a deadline that has come.
    pub(super) fn sessions_due(&self, now_ms: u64) -> impl Iterator<Item = SessionId> {
        let due = self.in_order.iter().take_while(move |(at_ms, _)| *at_ms <= now_ms);
        due.filter_map(|(_, owner)| match owner {
            DeadlineOf::Session(id) => Some(*id),
            DeadlineOf::Account(_) => None,
        })
    }
}

/// Whose deadline has to be computed again.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Stale {
    pub(super) sessions: BTreeSet<SessionId>,
    pub(super) accounts: BTreeSet<AccountId>,
    /// A restore began or ended: it holds up whoever shares its files.
    pub(super) all_sessions: bool,
}

/// Everything that follows from the tables of a world.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Index {
    /// Projects by their root.
    pub(super) roots: BTreeMap<String, ProjectId>,
    /// Sessions that are not over.
    pub(super) under_way: BTreeSet<SessionId>,
    /// Sessions, over or not, whose files are being brought back.
    pub(super) restoring: BTreeSet<SessionId>,
    /// Sessions that are not over, by the name of their account.
    pub(super) by_account: Groups<String, SessionId>,
    /// Accounts by their name.
    pub(super) accounts: BTreeMap<String, AccountId>,
    /// Accounts that a limit holds.
    pub(super) limited: BTreeSet<AccountId>,
    /// All known requests, by session.
    pub(super) requests: Groups<SessionId, RequestId>,
    /// Requests that are open, or whose answer is still on its way, by session.
    pub(super) pending: Groups<SessionId, RequestId>,
    /// All known checkpoints, by session.
    pub(super) checkpoints: Groups<SessionId, CheckpointId>,
    /// Calls to which something can still happen, by project.
    pub(super) live_calls: Groups<ProjectId, InvocationId>,
    /// Results that were not read yet, by project.
    pub(super) undelivered: Groups<ProjectId, ResultId>,
    /// The nodes of each graph by their keys.
    pub(super) nodes: BTreeMap<GraphId, BTreeMap<String, NodeId>>,
    /// The groups of each graph by their numbers.
    pub(super) groups: BTreeMap<GraphId, BTreeMap<u32, GroupId>>,
    /// The node that each run has.
    pub(super) holders: BTreeMap<RunId, NodeId>,
    pub(super) deadlines: Deadlines,
    pub(super) stale: Stale,
}

impl Index {
    pub(super) fn index_project(&mut self, before: Option<&Project>, after: Option<&Project>) {
        if let Some(project) = before {
            self.roots.remove(&project.root);
        }
        if let Some(project) = after {
            self.roots.insert(project.root.clone(), project.id);
        }
    }

    pub(super) fn index_run(&mut self, before: Option<&Run>, after: Option<&Run>) {
        self.stale
            .sessions
            .extend(before.into_iter().chain(after).flat_map(|run| run.sessions.iter().copied()));
    }

    pub(super) fn index_session(&mut self, before: Option<&Session>, after: Option<&Session>) {
        let is_restoring = |session: &Session| session.checkpoints.restoring.is_some();
        self.stale.all_sessions |= before.is_some_and(is_restoring) != after.is_some_and(is_restoring);
        if let Some(session) = before {
            self.under_way.remove(&session.id);
            self.restoring.remove(&session.id);
            self.by_account.remove(account_name(session).as_str(), session.id);
            self.stale.sessions.insert(session.id);
        }
        if let Some(session) = after {
            if !session.is_over() {
                self.under_way.insert(session.id);
                self.by_account.insert(account_name(session), session.id);
            }
            if is_restoring(session) {
                self.restoring.insert(session.id);
            }
            self.stale.sessions.insert(session.id);
        }
    }

    pub(super) fn index_request(&mut self, before: Option<&Request>, after: Option<&Request>) {
        if let Some(request) = before {
            self.requests.remove(&request.session, request.id);
            self.pending.remove(&request.session, request.id);
            self.stale.sessions.insert(request.session);
        }
        if let Some(request) = after {
            self.requests.insert(request.session, request.id);
            if request.is_pending() {
                self.pending.insert(request.session, request.id);
            }
            self.stale.sessions.insert(request.session);
        }
    }

    pub(super) fn index_account(&mut self, before: Option<&Account>, after: Option<&Account>) {
        if let Some(account) = before {
            self.accounts.remove(&account.name);
            self.limited.remove(&account.id);
            self.stale.accounts.insert(account.id);
        }
        if let Some(account) = after {
            self.accounts.insert(account.name.clone(), account.id);
            if account.limit.is_some() {
                self.limited.insert(account.id);
            }
            self.stale.accounts.insert(account.id);
        }
    }

    pub(super) fn index_checkpoint(&mut self, before: Option<&Checkpoint>, after: Option<&Checkpoint>) {
        if let Some(checkpoint) = before {
            self.checkpoints.remove(&checkpoint.session, checkpoint.id);
        }
        if let Some(checkpoint) = after {
            self.checkpoints.insert(checkpoint.session, checkpoint.id);
        }
    }

    pub(super) fn index_invocation(&mut self, before: Option<&Invocation>, after: Option<&Invocation>) {
        if let Some(call) = before {
            self.live_calls.remove(&call.project, call.id);
        }
        if let Some(call) = after.filter(|call| call.is_live()) {
            self.live_calls.insert(call.project, call.id);
        }
    }

    /// A graph needs no index: its session names it.
    #[expect(clippy::unused_self, reason = "every kind of entity has such a function")]
    pub(super) fn index_graph(&mut self, _: Option<&WorkGraph>, _: Option<&WorkGraph>) {}

    /// Neither its graph nor its key ever changes.
    pub(super) fn index_node(&mut self, before: Option<&WorkNode>, after: Option<&WorkNode>) {
        match (before, after) {
            (None, Some(node)) => {
                self.nodes.entry(node.graph).or_default().insert(node.key.clone(), node.id);
            }
            (Some(node), None) => {
                let nodes = self.nodes.entry(node.graph).or_default();
                nodes.remove(&node.key);
                if nodes.is_empty() {
                    self.nodes.remove(&node.graph);
                }
            }
            _ => {}
        }
        let (had, has) = (before.and_then(|node| node.holder), after.and_then(|node| node.holder));
        if had != has {
            if let Some(run) = had {
                self.holders.remove(&run);
            }
            self.holders.extend(has.zip(after.map(|node| node.id)));
        }
    }

    /// Neither its graph nor its number ever changes.
    pub(super) fn index_group(&mut self, before: Option<&WorkGroup>, after: Option<&WorkGroup>) {
        match (before, after) {
            (None, Some(group)) => {
                self.groups.entry(group.graph).or_default().insert(group.number, group.id);
            }
            (Some(group), None) => {
                let groups = self.groups.entry(group.graph).or_default();
                groups.remove(&group.number);
                if groups.is_empty() {
                    self.groups.remove(&group.graph);
                }
            }
            _ => {}
        }
    }

    pub(super) fn index_result(&mut self, before: Option<&Handover>, after: Option<&Handover>) {
        if let Some(result) = before {
            self.undelivered.remove(&result.project, result.id);
        }
        if let Some(result) = after.filter(|result| result.delivered_at_ms.is_none()) {
            self.undelivered.insert(result.project, result.id);
        }
    }
}
