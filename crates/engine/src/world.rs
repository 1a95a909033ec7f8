//! Everything that is known, and changes to it that are not committed yet.
//!
//! A [`World`] changes by [`World::absorb`] alone. A decision works on an [`Overlay`]: copies of what it touches. If
//! the commit fails, the copies are dropped and the world is as it was.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use crate::{
    account::Account,
    checkpoint::Checkpoint,
    decide::{account_due_at_ms, account_name, due_at_ms},
    id::{AccountId, CheckpointId, InvocationId, ProjectId, RequestId, ResultId, RunId, SessionId},
    office::{Handover, Invocation},
    request::Request,
    run::{Project, Run},
    session::{CheckWish, LaunchEnd, Session},
};

/// Everything that is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct World {
    /// The last event that is part of it.
    pub last_seq: u64,
    /// Projects.
    pub projects: BTreeMap<ProjectId, Project>,
    /// Runs.
    pub runs: BTreeMap<RunId, Run>,
    /// Sessions.
    pub sessions: BTreeMap<SessionId, Session>,
    /// Requests.
    pub requests: BTreeMap<RequestId, Request>,
    /// Accounts that have ever hit a limit.
    pub accounts: BTreeMap<AccountId, Account>,
    /// Checkpoints, as far as somebody asked about them or they are being made.
    pub checkpoints: BTreeMap<CheckpointId, Checkpoint>,
    /// Calls between agents, as far as something can still happen to them.
    pub invocations: BTreeMap<InvocationId, Invocation>,
    /// Results that were not read yet.
    pub results: BTreeMap<ResultId, Handover>,
    /// Requests that are open, or whose answer is still on its way, by session.
    pending: BTreeMap<SessionId, BTreeSet<RequestId>>,
    /// Projects by their root.
    roots: BTreeMap<String, ProjectId>,
    /// The highest numbers given so far.
    pub counters: Counters,
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
    /// Projects.
    pub projects: BTreeMap<ProjectId, Project>,
    /// Runs.
    pub runs: BTreeMap<RunId, Run>,
    /// Sessions.
    pub sessions: BTreeMap<SessionId, Session>,
    /// Requests.
    pub requests: BTreeMap<RequestId, Request>,
    /// Accounts.
    pub accounts: BTreeMap<AccountId, Account>,
    /// Checkpoints.
    pub checkpoints: BTreeMap<CheckpointId, Checkpoint>,
    /// Calls between agents.
    pub invocations: BTreeMap<InvocationId, Invocation>,
    /// Their results.
    pub results: BTreeMap<ResultId, Handover>,
}

impl World {
    /// Makes changes part of the world.
    pub fn absorb(&mut self, overlay: Overlay) {
        self.last_seq = self.last_seq.max(overlay.last_seq);
        self.counters = self.counters.max(overlay.counters);
        overlay.projects.into_values().for_each(|project| self.put_project(project));
        self.runs.extend(overlay.runs);
        self.sessions.extend(overlay.sessions);
        overlay.requests.into_values().for_each(|request| self.put_request(request));
        self.accounts.extend(overlay.accounts);
        self.checkpoints.extend(overlay.checkpoints);
        self.invocations.extend(overlay.invocations);
        self.results.extend(overlay.results);
    }

    /// Adds to an overlay what came after it.
    pub fn stack(group: &mut Overlay, later: Overlay) {
        group.last_seq = group.last_seq.max(later.last_seq);
        group.counters = group.counters.max(later.counters);
        group.projects.extend(later.projects);
        group.runs.extend(later.runs);
        group.sessions.extend(later.sessions);
        group.requests.extend(later.requests);
        group.accounts.extend(later.accounts);
        group.checkpoints.extend(later.checkpoints);
        group.invocations.extend(later.invocations);
        group.results.extend(later.results);
    }

    /// Puts a project in its place.
    pub fn put_project(&mut self, project: Project) {
        self.roots.insert(project.root.clone(), project.id);
        self.projects.insert(project.id, project);
    }

    /// Puts a request in its place.
    pub fn put_request(&mut self, request: Request) {
        let pending = self.pending.entry(request.session).or_default();
        if request.is_pending() {
            pending.insert(request.id);
        } else {
            pending.remove(&request.id);
        }
        if pending.is_empty() {
            self.pending.remove(&request.session);
        }
        self.requests.insert(request.id, request);
    }

    /// Lets go of a session that is over, with its run and its requests, unless something of it is still on its way.
    /// The store keeps them.
    pub fn forget(&mut self, session: SessionId) {
        let is_over = self.sessions.get(&session).is_some_and(Session::is_over);
        let is_kept = self.sessions.get(&session).is_some_and(|it| !it.checkpoints.pending.is_empty());
        if !is_over || is_kept || self.pending.contains_key(&session) {
            return;
        }
        let run = self.sessions.remove(&session).map(|session| session.run);
        self.requests.retain(|_, request| request.session != session);
        self.checkpoints.retain(|_, checkpoint| checkpoint.session != session);
        if let Some(run) = run.and_then(|run| self.runs.get(&run))
            && run.outcome.is_some()
            && !run.sessions.iter().any(|session| self.sessions.contains_key(session))
        {
            let run = run.id;
            self.runs.remove(&run);
        }
    }

    /// Lets go of calls and results to which nothing can happen any more. The store keeps them.
    pub fn forget_calls(&mut self) {
        self.invocations.retain(|_, invocation| invocation.is_live());
        self.results.retain(|_, result| result.delivered_at_ms.is_none());
    }

    /// The requests of a session that it waits for, oldest first.
    pub fn blocking(&self, session: SessionId) -> impl Iterator<Item = &Request> {
        self.pending(session).filter(|request| request.blocks())
    }

    /// The requests of a session that are open, or whose answer waits.
    pub fn pending(&self, session: SessionId) -> impl Iterator<Item = &Request> {
        self.pending.get(&session).into_iter().flatten().filter_map(|id| self.requests.get(id))
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
        for session in self.pending.keys() {
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

    /// The project with this root.
    pub fn project_at(&self, root: &str) -> Option<ProjectId> {
        self.roots.get(root).copied()
    }

    /// When something becomes due by itself.
    pub fn next_deadline_ms(&self) -> Option<u64> {
        let sessions = self.sessions.values().filter(|session| !session.is_over());
        let sessions = sessions.filter_map(|session| due_at_ms(self, session));
        sessions.chain(self.accounts.values().filter_map(|account| account_due_at_ms(self, account))).min()
    }

    /// Whether another session exchanges the files of this one.
    pub(crate) fn is_exchanged(&self, session: &Session) -> bool {
        let mut others = self.sessions.values().filter(|other| other.id != session.id);
        others.any(|other| other.checkpoints.restoring.is_some() && other.shares_files(session))
    }

    /// The account of a session, if a limit holds it.
    pub fn limited_account(&self, session: &Session) -> Option<&Account> {
        let name = account_name(session);
        self.accounts.values().find(|account| account.name == name && account.limit.is_some())
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
        let sessions = self.sessions.values();
        sessions.filter(move |session| !session.is_over() && session.last_end().is_some_and(lost))
    }
}

/// The world as a decision sees it: its own changes over those of its group over what is committed.
#[derive(Debug)]
pub(crate) struct Desk<'a> {
    pub(crate) world: &'a World,
    pub(crate) group: &'a Overlay,
    pub(crate) own: Overlay,
}

impl<'a> Desk<'a> {
    pub(crate) fn new(world: &'a World, group: &'a Overlay) -> Self {
        Desk { world, group, own: Overlay::default() }
    }

    pub(crate) fn next_seq(&self) -> u64 {
        self.own.last_seq.max(self.group.last_seq).max(self.world.last_seq) + 1
    }

    pub(crate) fn project_at(&self, root: &str) -> Option<ProjectId> {
        let added = |overlay: &Overlay| {
            overlay.projects.values().find(|project| project.root == root).map(|project| project.id)
        };
        added(&self.own).or_else(|| added(self.group)).or_else(|| self.world.project_at(root))
    }

    pub(crate) fn has_project(&self, id: ProjectId) -> bool {
        self.project(id).is_some()
    }

    pub(crate) fn project(&self, id: ProjectId) -> Option<&Project> {
        let overlays = self.own.projects.get(&id).or_else(|| self.group.projects.get(&id));
        overlays.or_else(|| self.world.projects.get(&id))
    }

    pub(crate) fn run(&self, id: RunId) -> Option<&Run> {
        let overlays = self.own.runs.get(&id).or_else(|| self.group.runs.get(&id));
        overlays.or_else(|| self.world.runs.get(&id))
    }

    pub(crate) fn session(&self, id: SessionId) -> Option<&Session> {
        let overlays = self.own.sessions.get(&id).or_else(|| self.group.sessions.get(&id));
        overlays.or_else(|| self.world.sessions.get(&id))
    }

    pub(crate) fn request(&self, id: RequestId) -> Option<&Request> {
        let overlays = self.own.requests.get(&id).or_else(|| self.group.requests.get(&id));
        overlays.or_else(|| self.world.requests.get(&id))
    }

    pub(crate) fn checkpoint(&self, id: CheckpointId) -> Option<&Checkpoint> {
        let overlays = self.own.checkpoints.get(&id).or_else(|| self.group.checkpoints.get(&id));
        overlays.or_else(|| self.world.checkpoints.get(&id))
    }

    pub(crate) fn checkpoint_mut(&mut self, id: CheckpointId) -> &mut Checkpoint {
        let checkpoint = self.checkpoint(id).expect("an event names a checkpoint that exists").clone();
        self.own.checkpoints.entry(id).or_insert(checkpoint)
    }

    pub(crate) fn project_mut(&mut self, id: ProjectId) -> &mut Project {
        let project = self.project(id).expect("an event names a project that exists").clone();
        self.own.projects.entry(id).or_insert(project)
    }

    pub(crate) fn account(&self, id: AccountId) -> Option<&Account> {
        let overlays = self.own.accounts.get(&id).or_else(|| self.group.accounts.get(&id));
        overlays.or_else(|| self.world.accounts.get(&id))
    }

    pub(crate) fn account_mut(&mut self, id: AccountId) -> &mut Account {
        let account = self.account(id).expect("an event names an account that exists").clone();
        self.own.accounts.entry(id).or_insert(account)
    }

    /// The account with this name, if it has ever hit a limit. There are few.
    pub(crate) fn account_named(&self, name: &str) -> Option<&Account> {
        let all = [&self.own.accounts, &self.group.accounts, &self.world.accounts];
        let mut named = all.into_iter().flat_map(|accounts| accounts.values()).filter(|it| it.name == name);
        named.next()
    }

    /// The accounts that a limit holds.
    pub(crate) fn limited_accounts(&self) -> Vec<AccountId> {
        let all = [&self.world.accounts, &self.group.accounts, &self.own.accounts];
        let ids: BTreeSet<AccountId> =
            all.into_iter().flat_map(|accounts| accounts.keys().copied()).collect();
        let is_limited = |id: &AccountId| self.account(*id).is_some_and(|account| account.limit.is_some());
        ids.into_iter().filter(is_limited).collect()
    }

    pub(crate) fn run_mut(&mut self, id: RunId) -> &mut Run {
        let run = self.run(id).expect("an event names a run that exists").clone();
        self.own.runs.entry(id).or_insert(run)
    }

    pub(crate) fn session_mut(&mut self, id: SessionId) -> &mut Session {
        if !self.own.sessions.contains_key(&id) {
            let session = self.session(id).expect("an event names a session that exists").clone();
            self.own.sessions.insert(id, session);
        }
        self.own.sessions.get_mut(&id).expect("it was put there just now")
    }

    pub(crate) fn request_mut(&mut self, id: RequestId) -> &mut Request {
        let request = self.request(id).expect("an event names a request that exists").clone();
        self.own.requests.entry(id).or_insert(request)
    }

    /// The ids of a session's requests that are open, or whose answer waits, oldest first.
    pub(crate) fn pending(&self, session: SessionId) -> BTreeSet<RequestId> {
        let mut ids = self.world.pending.get(&session).cloned().unwrap_or_default();
        for (&id, request) in self.group.requests.iter().chain(&self.own.requests) {
            if request.session != session {
                continue;
            }
            if request.is_pending() {
                ids.insert(id);
            } else {
                ids.remove(&id);
            }
        }
        ids
    }

    /// The sessions that are not over.
    pub(crate) fn sessions_under_way(&self) -> BTreeSet<SessionId> {
        let all = [&self.world.sessions, &self.group.sessions, &self.own.sessions];
        let ids = all.into_iter().flat_map(|sessions| sessions.keys().copied());
        ids.filter(|&id| self.session(id).is_some_and(|session| !session.is_over())).collect()
    }

    /// The sessions, over or not, whose files are being brought back.
    pub(crate) fn sessions_restoring(&self) -> impl Iterator<Item = &Session> {
        let all = [&self.world.sessions, &self.group.sessions, &self.own.sessions];
        let restoring = |session: &&Session| session.checkpoints.restoring.is_some();
        let ids = all.into_iter().flat_map(|sessions| sessions.values()).filter(restoring).map(|it| it.id);
        // What a later map says counts.
        ids.filter_map(|id| self.session(id)).filter(restoring)
    }

    /// Another session whose files are being exchanged, and are those of this one too.
    pub(crate) fn exchanged(&self, id: SessionId) -> Option<SessionId> {
        let session = self.session(id)?;
        let mut others = self.sessions_restoring().filter(|other| other.id != id);
        others.find(|other| other.shares_files(session)).map(|other| other.id)
    }

    /// The requests that a session waits for, oldest first.
    pub(crate) fn blocking(&self, session: SessionId) -> impl Iterator<Item = &Request> {
        let pending = self.pending(session);
        pending.into_iter().filter_map(|id| self.request(id)).filter(|request| request.blocks())
    }

    /// Every request of a session, whatever became of it.
    pub(crate) fn requests_of(&self, session: SessionId) -> impl Iterator<Item = &Request> {
        let ids: BTreeSet<RequestId> = [&self.world.requests, &self.group.requests, &self.own.requests]
            .into_iter()
            .flat_map(|requests| requests.values())
            .filter(|request| request.session == session)
            .map(|request| request.id)
            .collect();
        ids.into_iter().filter_map(|id| self.request(id))
    }

    /// The highest numbers given so far.
    pub(crate) fn counters(&self) -> Counters {
        self.world.counters.max(self.group.counters).max(self.own.counters)
    }
}
