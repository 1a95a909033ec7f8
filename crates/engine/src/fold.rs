//! What an event changes. Nothing is decided here: the same events give the same world, in every version.

mod accounts;
mod checkpoints;
mod graph;
mod hearing;
mod input;
mod office;
mod permissions;
mod phases;
mod requests;

use alloc::collections::BTreeMap;

use crate::{
    checkpoint::Checkpoints,
    event::{Entry, Event},
    graph::GraphSpec,
    id::{GraphId, ProjectId, RunId, SessionId},
    office::Standing,
    permission::SessionPermissions,
    request::Bringing,
    run::{Project, Run},
    session::{
        Launch, Message, Process, Resized, Retries, Role, Screen, Session, SessionNameEvent, Stop, Written,
    },
    thin::Errands,
    usage::{Meter, Used},
    world::{Overlay, StagedWorld, World},
};

use self::{
    hearing::{fold_heard, fold_unrecorded},
    phases::is_of_phase,
};

impl World {
    /// The world after an event of the journal.
    ///
    /// # Panics
    ///
    /// If the event names something that no earlier event made: the journal has lost its order.
    pub fn fold(&mut self, entry: &Entry) {
        let nothing = Overlay::default();
        let mut desk = StagedWorld::new(self, &nothing);
        desk.fold(entry);
        let own = desk.own;
        self.absorb(own);
    }
}

/// The place of an event: every event of a session has all three.
#[derive(Clone, Copy)]
struct Place {
    project: ProjectId,
    run: RunId,
    session: SessionId,
}

impl StagedWorld<'_> {
    pub(crate) fn fold(&mut self, entry: &Entry) {
        self.own.last_seq = entry.seq;
        match &entry.event {
            Event::ProjectRegistered { root, name, git } => {
                let id = entry.project.expect("it has its project");
                self.own.counters.project = self.counters().project.max(id.0);
                self.insert(Project::new(id, root, name, *git, entry.at_ms));
            }
            Event::ProjectRoles { names } => {
                self.get_mut(entry.project.expect("it has its project")).roles.clone_from(names);
            }
            // What is kept stands in the vault; the journal only tells that it is.
            Event::SecretStored { .. } | Event::SecretRemoved { .. } | Event::WorkSecret(_) => {}
            Event::TrustGiven { commands } => {
                let project = self.get_mut(entry.project.expect("it has its project"));
                project.trust(commands, entry.at_ms);
            }
            Event::TrustRevoked => {
                let project = self.get_mut(entry.project.expect("it has its project"));
                project.trusted.clear();
                project.trusted_at_ms = None;
            }
            Event::RunCreated { title, terms, parent } => {
                let project = entry.project.expect("it has its project");
                let id = entry.run.expect("it has its run");
                self.own.counters.run = self.counters().run.max(id.0);
                let run = Run {
                    id,
                    project,
                    title: title.clone(),
                    created_at_ms: entry.at_ms,
                    terms: terms.clone(),
                    sessions: [].into(),
                    outcome: None,
                    ended_at_ms: None,
                    used: Used::default(),
                    budget: terms.budget,
                    over_since_ms: None,
                    phases: None,
                    parent: *parent,
                };
                self.insert(run);
            }
            Event::RunEnded { outcome } => {
                let run = self.get_mut(entry.run.expect("it has its run"));
                (run.outcome, run.ended_at_ms) = (Some(outcome.clone()), Some(entry.at_ms));
                self.note_end_of(entry.run.expect("it has its run"), entry.at_ms);
            }
            Event::RunReopened => {
                let run = self.get_mut(entry.run.expect("it has its run"));
                (run.outcome, run.ended_at_ms) = (None, None);
            }
            Event::RunRaised { budget } => {
                self.get_mut(entry.run.expect("it has its run")).raise(*budget);
            }
            Event::RunPhased { plan } => self.get_mut(entry.run.expect("it has its run")).begin(plan),
            Event::AccountLimited(_) | Event::AccountTried { .. } | Event::AccountRecovered { .. } => {
                self.fold_account(entry);
            }
            event => {
                let place = Place {
                    project: entry.project.expect("it has its project"),
                    run: entry.run.expect("it has its run"),
                    session: entry.session.expect("it has its session"),
                };
                self.fold_session(&place, entry.seq, entry.at_ms, event);
            }
        }
    }

    fn fold_session(&mut self, place: &Place, seq: u64, at_ms: u64, event: &Event) {
        match event {
            Event::SessionCreated { .. } => self.fold_creation(place, at_ms, event),
            Event::RequestOpened { .. }
            | Event::RequestRepeated { .. }
            | Event::RequestLeft { .. }
            | Event::RequestParted { .. }
            | Event::RequestSettled { .. }
            | Event::RequestExpired { .. }
            | Event::InstallStarted { .. }
            | Event::InstallFinished { .. } => {
                self.fold_request(place, at_ms, event);
                if let Event::RequestSettled { request, answer, .. } = event {
                    self.answer_hold(place, *request, answer);
                }
                self.count_waiting(place.session, at_ms);
            }
            Event::InputSent { .. }
            | Event::InputDelivered { .. }
            | Event::InputConsumed { .. }
            | Event::InputHeard { .. }
            | Event::InputRefused(_)
            | Event::InputReturned { .. } => self.fold_input(place, at_ms, event),
            Event::SessionLaunched { .. }
            | Event::SessionStarted { .. }
            | Event::SessionResized(_)
            | Event::SessionHeard { .. }
            | Event::SessionUnrecorded(_)
            | Event::SessionStopped { .. }
            | Event::SessionContinued { .. }
            | Event::SessionReleased { .. }
            | Event::SessionRecalled { .. }
            | Event::SessionEnded { .. }
            | Event::SessionNoted(_)
            | Event::ValuesWithheld { .. }
            | Event::InputClosed { .. } => self.fold_launch(place, at_ms, event),
            Event::CheckpointWanted { .. }
            | Event::CheckpointMade { .. }
            | Event::CheckpointSkipped { .. }
            | Event::CheckpointRestoring { .. }
            | Event::CheckpointRestored { .. }
            | Event::CheckpointNotRestored { .. }
            | Event::CheckpointPruned { .. } => self.fold_checkpoint(place, seq, at_ms, event),
            Event::LoopMoved { step } => self.fold_loop_step(place, at_ms, step),
            Event::Graph(event) => self.fold_graph(place, at_ms, event),
            Event::Office(event) => self.fold_office(place, at_ms, event),
            Event::Name(SessionNameEvent::Renamed { name }) => {
                self.get_mut(place.session).name.clone_from(name);
            }
            Event::Permission(event) => self.fold_permission(place.session, at_ms, event),
            Event::Thin(event) => self.get_mut(place.session).thin.fold(event, at_ms),
            event if is_of_phase(event) => self.fold_phase(place, at_ms, event),
            Event::CheckStarted { number } => self.fold_check(place, at_ms, *number),
            _ => {
                fold_wish(self.get_mut(place.session), at_ms, event);
                self.count_waiting(place.session, at_ms);
                match event {
                    Event::SessionFinished { .. } => self.end_phase(place, at_ms),
                    Event::SessionResumed { .. } => self.reopen_phase(place),
                    Event::MessageWritten(written) => self.fold_about(place.session, written),
                    _ => {}
                }
            }
        }
    }

    fn fold_check(&mut self, place: &Place, at_ms: u64, number: u32) {
        let run = self.get(place.run).expect("a session has its run");
        let time_ms_max = run.terms.check_time_ms_max;
        let over_at_ms = time_ms_max.map(|time| at_ms.saturating_add(time));
        self.get_mut(place.session).begin_check(number, over_at_ms);
    }

    fn fold_creation(&mut self, place: &Place, at_ms: u64, event: &Event) {
        let Event::SessionCreated { order, worktree } = event else { return };
        let id = place.session;
        self.own.counters.session = self.counters().session.max(id.0);
        let time_left_ms = self.time_left_ms(place.run, at_ms).filter(|_| !order.role.verifies());
        let time_over_at_ms = time_left_ms.map(|left| at_ms.saturating_add(left));
        self.get_mut(place.run).sessions.push(id);
        let check_over_at_ms = match order.role {
            Role::Verify { time_ms_max, .. } => Some(at_ms.saturating_add(time_ms_max)),
            Role::Work
            | Role::Main
            | Role::Phase { .. }
            | Role::Office { .. }
            | Role::Graph { .. }
            | Role::Conduct(_) => None,
        };
        let graph = self.graph_of_role(place, &order.role);
        let session = Session {
            id,
            name: None,
            project: place.project,
            run: place.run,
            order: order.clone(),
            created_at_ms: at_ms,
            worktree: worktree.clone(),
            launches: [].into(),
            conversation: None,
            messages: [].into(),
            parked_at_ms: None,
            proved_at_ms: None,
            retrying: None,
            paused_at_ms: None,
            cancelled_at_ms: None,
            attempts: [].into(),
            checking: None,
            check_over_at_ms,
            check_ending: None,
            waiting_since_ms: None,
            waited_until_ms: None,
            waited_ms: 0,
            time_over_at_ms,
            used: Used::default(),
            used_at: [].into(),
            meter: Meter::default(),
            retries: Retries::default(),
            limited: None,
            outcome: None,
            ended_at_ms: None,
            anew_from: 0,
            signals: 0,
            told: [].into(),
            values: BTreeMap::new(),
            needs_relaunch: false,
            checkpoints: Checkpoints::default(),
            office: Standing::default(),
            thin: Errands::default(),
            permissions: SessionPermissions::default(),
            gated: false,
            graph,
            dismissed_at_ms: None,
        };
        self.insert(session);
        self.fold_seat(place, at_ms);
    }

    /// The graph that a session is the handle of. An old loop names none: it gets the next one.
    fn graph_of_role(&mut self, place: &Place, role: &Role) -> Option<GraphId> {
        match role {
            Role::Graph { graph } => Some(*graph),
            Role::Conduct(spec) => {
                let graph = GraphId(self.counters().graph + 1);
                self.add_graph(place, graph, GraphSpec::TaskFile(spec.clone()));
                Some(graph)
            }
            _ => None,
        }
    }

    /// How long somebody may work for a run that begins to: what who worked on the phase before has left, if there is one.
    fn time_left_ms(&self, run: RunId, at_ms: u64) -> Option<u64> {
        let run = self.get(run)?;
        let before = run.phases.as_ref().and_then(|phases| self.get(phases.current()?.session));
        match before {
            Some(before) => before.time_left_ms(at_ms),
            None => run.terms.time_ms_max,
        }
    }

    /// Adds what was used to the run and the project.
    fn fold_used(&mut self, place: &Place, at_ms: u64, used: &Used) {
        let run = self.get_mut(place.run);
        run.used.add(used);
        if run.budget.question(&run.used).is_some() {
            run.over_since_ms.get_or_insert(at_ms);
        }
        self.get_mut(place.project).used.add(used);
    }

    fn fold_launch(&mut self, place: &Place, at_ms: u64, event: &Event) {
        let seq = self.own.last_seq;
        let session = self.get_mut(place.session);
        if matches!(event, Event::SessionLaunched { .. }) {
            begin_launch(session, at_ms, event);
            self.forget_words(place);
            return;
        }
        let Some(launch) = session.launches.last_mut() else { return };
        match event {
            Event::SessionResized(Resized { rows, columns, .. }) => {
                launch.screen = Some(Screen { rows: *rows, columns: *columns });
            }
            Event::SessionStarted { spool_seq, pid, began, .. } => {
                launch.spool_seq = *spool_seq;
                launch.process = Some(Process { pid: *pid, began: *began, at_ms });
            }
            Event::SessionHeard { spool_seq, item, .. } => {
                launch.spool_seq = spool_seq.unwrap_or(launch.spool_seq);
                session.office.owes_word = false;
                if let Some(used) = fold_heard(session, at_ms, item) {
                    self.fold_used(place, at_ms, &used);
                }
            }
            Event::SessionUnrecorded(unrecorded) => {
                for used in fold_unrecorded(session, at_ms, unrecorded) {
                    self.fold_used(place, at_ms, &used);
                }
            }
            Event::SessionStopped { spool_seq, confirmed, .. } => {
                launch.spool_seq = *spool_seq;
                // A shim says again that the tree stands still when more is asked meanwhile.
                let at_ms = launch.stopped.map_or(at_ms, |stop| stop.at_ms);
                launch.stopped = Some(Stop { at_ms, spool_seq: *spool_seq, confirmed: *confirmed });
            }
            Event::SessionContinued { spool_seq, .. } => {
                launch.spool_seq = *spool_seq;
                launch.stopped = None;
            }
            Event::SessionNoted(noted) => launch.spool_seq = noted.spool_seq,
            Event::SessionReleased { spool_seq, .. } => launch.released_seq = *spool_seq,
            // Whoever was to be sent on is not.
            Event::ValuesWithheld { .. } => {
                launch.released_seq = 0;
                launch.withheld_at = seq;
            }
            Event::SessionRecalled { why, .. } => {
                launch.ending = Some(*why);
                session.checkpoints.failed = None;
            }
            Event::InputClosed { .. } => launch.input_closed = true,
            Event::SessionEnded { spool_seq, end, .. } => {
                launch.spool_seq = spool_seq.unwrap_or(launch.spool_seq);
                launch.stopped = None;
                launch.ended = Some(end.clone());
                session.office.owes_word = false;
            }
            _ => {}
        }
    }

    /// Time spent waiting for a person does not count against a limit.
    fn count_waiting(&mut self, id: SessionId, at_ms: u64) {
        let is_blocked = self.blocking(id).next().is_some();
        let session = self.get_mut(id);
        let waits = is_blocked || session.paused_at_ms.is_some() || session.parked_at_ms.is_some();
        match session.waiting_since_ms {
            None if waits => session.waiting_since_ms = Some(at_ms),
            Some(since) if !waits => {
                session.waiting_since_ms = None;
                session.waited_until_ms = Some(at_ms);
                let waited = at_ms.saturating_sub(since);
                session.waited_ms = session.waited_ms.saturating_add(waited);
                let later = |at: u64| at.saturating_add(waited);
                session.time_over_at_ms = session.time_over_at_ms.map(later);
                session.check_over_at_ms = session.check_over_at_ms.map(later);
            }
            _ => {}
        }
    }

    fn known(&mut self, session: SessionId, number: u32, spool_seq: Option<u64>) {
        let launches = &mut self.get_mut(session).launches;
        if let (Some(launch), Some(seq)) = (launches.last_mut().filter(|it| it.number == number), spool_seq) {
            launch.spool_seq = seq;
        }
    }
}

/// A process is started. What an earlier one hit, wanted or said is not this one's.
fn begin_launch(session: &mut Session, at_ms: u64, event: &Event) {
    let Event::SessionLaunched { launch, cause, fresh, prompt, rewind } = event else { return };
    session.limited = None;
    session.retrying = None;
    session.meter.process = Used::default();
    if *fresh {
        session.meter.conversation = Used::default();
    }
    session.needs_relaunch = false;
    session.office.drawn.clear();
    session.checkpoints.rewind = None;
    session.checkpoints.failed = None;
    let (rewind, screen) = (rewind.clone(), session.screen());
    let launch = Launch::new(*launch, *cause, *fresh, prompt, at_ms);
    session.launches.push(Launch { rewind, screen, ..launch });
}

/// What people want of a session, and what follows from it.
fn fold_wish(session: &mut Session, at_ms: u64, event: &Event) {
    match event {
        Event::SessionParked { .. } => session.parked_at_ms = Some(at_ms),
        Event::SessionUnparked => session.parked_at_ms = None,
        Event::SessionPaused => session.paused_at_ms = Some(at_ms),
        Event::SessionUnpaused => session.paused_at_ms = None,
        Event::SessionCancelled => session.cancelled_at_ms = Some(at_ms),
        Event::SessionResumed { anew } => {
            if *anew {
                session.anew_from = session.launches.last().map_or(0, |launch| launch.number) + 1;
            }
            session.outcome = None;
            session.ended_at_ms = None;
            session.paused_at_ms = None;
            session.cancelled_at_ms = None;
            session.retries = Retries::default();
            session.attempts.clear();
            session.gated = false;
        }
        Event::SessionFinished { outcome } => {
            session.outcome = Some(outcome.clone());
            session.ended_at_ms = Some(at_ms);
            session.parked_at_ms = None;
            session.checkpoints.failed = None;
            end_check(session);
        }
        Event::SessionExtended { time_over_at_ms } => session.time_over_at_ms = *time_over_at_ms,
        Event::MessageWritten(Written { message, text, about, personal, printed: _ }) => {
            let (text, bringing, about) = (text.clone(), Bringing::Waiting, *about);
            session.messages.push(Message { id: *message, text, bringing, about, personal: *personal });
        }
        Event::CheckRecalled(recall) => session.check_ending = Some(recall.why),
        Event::CheckFinished { attempt, .. } => {
            end_check(session);
            session.attempts.push(attempt.clone());
        }
        Event::WorktreeChanged { worktree } => session.worktree = Some(worktree.clone()),
        Event::SessionTold { number, key, .. } => {
            session.signals = *number;
            session.told.push(key.clone());
            let too_many = session.told.len().saturating_sub(TOLD_MAX);
            session.told.drain(..too_many);
        }
        _ => {}
    }
}

/// How many keys of what was told are remembered: only what was told just now comes again.
const TOLD_MAX: usize = 16;

impl Session {
    fn begin_check(&mut self, number: u32, over_at_ms: Option<u64>) {
        self.checking = Some(number);
        self.check_over_at_ms = over_at_ms;
    }
}

fn end_check(session: &mut Session) {
    session.checking = None;
    session.check_over_at_ms = None;
    session.check_ending = None;
}
