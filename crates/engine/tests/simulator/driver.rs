//! The server: takes what happened, decides, commits, publishes, carries out; and dies anywhere.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ostler_engine::{
    Action, ActionName, CheckpointId, Entry, Input, Overlay, Refusal, RunId, SessionId, World,
    action::Deed,
    event::Parcel,
    graph::GraphReport,
    office::{NoSeat, OfficeInput, RepeatTerms},
    request::{Ask, Bringing, Request},
    session::Session,
    thin::ThinNews,
};
use serde_json::Value;

use crate::{
    agent::Letter,
    checks,
    common::{Book, decide_well, may_come_twice, random::Random, said},
    gates, graphs,
    outside::{Outside, Place},
    sites::{self, Crash, Sites},
};

/// What a commit leaves behind.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    pub(crate) book: Book,
    pub(crate) journal: Vec<Entry>,
    pub(crate) outbox: BTreeMap<ActionName, Action>,
    /// Wishes that were granted, by their keys.
    granted: BTreeSet<u64>,
}

/// A wish of a person, under a key.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) key: u64,
    pub(crate) input: Input,
}

/// What is only in memory.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) world: World,
    pub(crate) mail: VecDeque<Wish>,
    /// What came of actions; their rows go with the commit.
    reports: VecDeque<(Option<ActionName>, Input)>,
    /// Rows of actions that are done and have nothing to tell.
    done: Vec<ActionName>,
    /// Actions that were begun.
    begun: BTreeSet<ActionName>,
    /// The last record of each shim that was taken.
    followed: BTreeMap<Place, u64>,
    /// Actions that were open at the start and are not done again yet.
    to_recover: BTreeSet<ActionName>,
}

/// What the server leans on while it does one thing.
pub(crate) struct Around<'a> {
    pub(crate) disk: &'a mut Disk,
    pub(crate) outside: &'a mut Outside,
    pub(crate) random: &'a mut Random,
    pub(crate) sites: &'a mut Sites,
    pub(crate) now_ms: u64,
    /// The server dies once in so many places; never, if nothing.
    pub(crate) crash_once_in: Option<u64>,
}

/// What whoever had a wish is told.
pub(crate) type Replies = Vec<(u64, Result<(), Refusal>)>;

impl Server {
    /// Reads what the last one left.
    pub(crate) fn start(around: &mut Around<'_>) -> Result<Server, Crash> {
        let world = around.disk.book.world.clone();
        around.site(sites::AT_START, false)?;
        Ok(Server {
            world,
            mail: VecDeque::new(),
            reports: VecDeque::new(),
            done: Vec::new(),
            begun: BTreeSet::new(),
            followed: BTreeMap::new(),
            to_recover: around.disk.outbox.keys().copied().collect(),
        })
    }

    fn is_recovering(&self) -> bool {
        !self.to_recover.is_empty()
    }

    /// Whether everything that is known outside is known here, and everything is done.
    pub(crate) fn is_up_to_date(around: &Around<'_>, session: &Session) -> bool {
        let is_idle = !around.disk.outbox.values().any(|action| action.session == session.id);
        let Some(live) = session.live() else { return is_idle };
        let shim = around.outside.shims.get(&(session.id, live.number));
        is_idle && shim.is_some_and(|shim| shim.spool.len() as u64 == live.spool_seq)
    }

    /// Decides on a group of inputs and commits what follows. Whether there was anything to commit.
    pub(crate) fn commit(&mut self, around: &mut Around<'_>, replies: &mut Replies) -> Result<bool, Crash> {
        let mut group = Overlay::default();
        let (mut entries, mut actions) = (Vec::new(), Vec::new());
        let mut rows: Vec<ActionName> = self.done.drain(..).collect();
        let (mut keys, mut told) = (Vec::new(), Replies::new());
        for _ in 0..=around.random.below(3) {
            let (row, key, input) = self.next_input(around);
            if key.is_some_and(|key| around.disk.granted.contains(&key)) {
                told.extend(key.map(|key| (key, Ok(()))));
                continue;
            }
            rows.extend(row);
            match decide_well(&self.world, &group, around.now_ms, &input) {
                Ok(decision) => {
                    entries.extend(decision.entries);
                    actions.extend(decision.actions);
                    World::stack(&mut group, decision.overlay);
                    keys.extend(key);
                    told.extend(key.map(|key| (key, Ok(()))));
                    if may_come_twice(&input) {
                        let again = decide_well(&self.world, &group, around.now_ms, &input);
                        let again = again.expect("what was taken once is not refused");
                        assert!(again.entries.is_empty(), "{input:?} comes twice: {:?}", again.entries);
                    }
                }
                Err(refusal) => told.extend(key.map(|key| (key, Err(refusal)))),
            }
        }
        around.site(sites::BEFORE_COMMIT, self.is_recovering())?;
        let is_something = !(entries.is_empty() && rows.is_empty());
        let disk = &mut *around.disk;
        disk.book.add(&entries, group.clone());
        disk.journal.extend(entries);
        disk.outbox.extend(actions);
        disk.outbox.retain(|name, _| !rows.contains(name));
        disk.granted.extend(keys);
        let was_recovering = self.is_recovering();
        around.site(sites::AFTER_COMMIT, was_recovering)?;
        self.world.absorb(group);
        assert_eq!(self.world, around.disk.book.world);
        self.to_recover.retain(|name| !rows.contains(name));
        replies.extend(told);
        around.site(sites::AFTER_PUBLISHING, was_recovering)?;
        Ok(is_something)
    }

    /// Something that happened: a wish, a report, a record, a loss, or only time.
    fn next_input(&mut self, around: &mut Around<'_>) -> (Option<ActionName>, Option<u64>, Input) {
        match around.random.below(5) {
            4 => {
                if let Some(input) = self.next_call(around) {
                    return (None, None, input);
                }
            }
            0 => {
                if let Some(Wish { key, input }) = self.mail.pop_front() {
                    return (None, Some(key), input);
                }
            }
            1 => {
                if let Some((row, input)) = self.reports.pop_front() {
                    return (row, None, input);
                }
            }
            2 => {
                if let Some(input) = self.next_record(around) {
                    return (None, None, input);
                }
            }
            _ => self.look_around(around),
        }
        (None, None, Input::Tick)
    }

    /// The next record of some shim. What was taken before may come again, in order.
    fn next_record(&mut self, around: &mut Around<'_>) -> Option<Input> {
        if around.random.once_in(12) {
            let places: Vec<Place> = self.followed.keys().copied().collect();
            if let Some(place) = around.random.one_of(&places) {
                let seq = self.followed.get_mut(place).expect("it was found there");
                *seq = seq.saturating_sub(around.random.below(8));
            }
        }
        let shims = around.outside.shims.iter();
        let behind = shims.filter(|(place, shim)| {
            let followed = self.followed.get(place).copied().unwrap_or_default();
            followed < shim.spool.len() as u64
        });
        let behind: Vec<Place> = behind.map(|(&place, _)| place).collect();
        let place = *around.random.one_of(&behind)?;
        let seq = self.followed.entry(place).or_default();
        let news = around.outside.shims[&place].spool[usize::try_from(*seq).expect("small")].clone();
        *seq += 1;
        Some(Input::Shim { session: place.0, launch: place.1, spool_seq: *seq, news })
    }

    /// Somebody at a session's socket: what it asks, the word that it has the answer, or nothing but hearing it.
    fn next_call(&mut self, around: &mut Around<'_>) -> Option<Input> {
        let shims = around.outside.shims.iter();
        let calls = shims.filter(|(_, shim)| shim.is_running() && shim.agent.caller.is_some());
        let calls: Vec<Place> = calls.map(|(&place, _)| place).collect();
        let &(session, launch) = around.random.one_of(&calls)?;
        let agent = &mut around.outside.shims.get_mut(&(session, launch)).expect("it was found there").agent;
        let caller = agent.caller.as_ref().expect("it was found so");
        let key = caller.key.clone();
        let is_it = |request: &&Request| request.call.as_ref().is_some_and(|call| call.key == key);
        let Some(request) = self.world.requests.values().find(is_it) else {
            let ask = Box::new(said::asked(&caller.item));
            return Some(Input::Call { session, launch, key, ask, shown: None, pid: 9, began: 2 });
        };
        match request.bringing {
            _ if request.is_open() => None,
            Bringing::Waiting => Some(Input::Taken { request: request.id, key }),
            Bringing::Consumed { .. } => {
                agent.hears(Some(Parcel::Request(request.id).to_string()));
                None
            }
            _ => {
                agent.hears(None);
                None
            }
        }
    }

    /// Looks for shims and callers that are gone, and for checks and installations that have ended.
    fn look_around(&mut self, around: &mut Around<'_>) {
        for request in self.world.requests.values().filter(|it| it.has_caller() && it.is_pending()) {
            let shim = around.outside.shims.get(&(request.session, request.launch));
            let key = &request.call.as_ref().expect("it has a caller").key;
            let caller = shim.filter(|shim| shim.alive).and_then(|shim| shim.agent.caller.as_ref());
            if caller.is_none_or(|caller| caller.key != *key) {
                let input = Input::CallerGone { request: request.id, key: key.clone() };
                self.reports.push_back((None, input));
            }
        }
        let lost: Vec<Place> =
            self.world.live_launches().filter(|&place| self.is_lost(around, place)).collect();
        for (session, launch) in lost {
            let items = around.outside.shims[&(session, launch)].log.clone();
            self.reports.push_back((None, Input::Overheard { session, launch, before: 0, items }));
            self.reports.push_back((None, Input::ShimLost { session, launch }));
        }
        self.look_at_graph(around);
        for (&name, action) in &around.disk.outbox {
            let session = action.session;
            let ended = match action.what {
                // What is asked in the thin dialect takes its time; some of it is done by a run of its own.
                Deed::Thin { number } if self.begun.contains(&name) && around.random.once_in(3) => {
                    let news = if around.random.once_in(2) {
                        ThinNews::Answered(format!("DONE:T0.{number}"))
                    } else {
                        self.reports.push_back((None, began(session, number)));
                        ThinNews::Answered("FAIL:T0.1:no luck".to_owned())
                    };
                    Some(Input::Thin { session, number, news })
                }
                Deed::Check { number } => {
                    let result =
                        around.outside.checks.get(&(session, number)).and_then(|it| it.result.clone());
                    result.map(|(code, output)| Input::CheckEnded { session, number, code, output })
                }
                Deed::Install { request } => {
                    let result = around.outside.installs.get(&request).cloned().flatten();
                    result.map(|install| Input::Installed { request, install })
                }
                _ => None,
            };
            let is_reported = self.reports.iter().any(|(row, _)| *row == Some(name));
            self.reports.extend(ended.filter(|_| !is_reported).map(|input| (Some(name), input)));
        }
    }

    /// The next step of a graph, unless the last one is not decided yet. The action is done with the graph.
    fn look_at_graph(&mut self, around: &mut Around<'_>) {
        let is_begun = |(name, action): &(&ActionName, &Action)| {
            action.what == Deed::RunGraph && self.begun.contains(name)
        };
        let Some(name) = around.disk.outbox.iter().find(is_begun).map(|(name, _)| *name) else { return };
        let is_step = |input: &Input| match input {
            Input::GraphReported { .. } => true,
            Input::CreateRun(new) => new.node.is_some(),
            _ => false,
        };
        if self.reports.iter().any(|(_, input)| is_step(input)) {
            return;
        }
        let Some(input) = graphs::next(&self.world, around.outside, around.random) else { return };
        let is_last = matches!(&input, Input::GraphReported { report, .. } if matches!(**report, GraphReport::Finished(_)));
        self.reports.push_back((is_last.then_some(name), input));
    }

    fn is_lost(&self, around: &Around<'_>, place: Place) -> bool {
        let is_wanted = around
            .disk
            .outbox
            .values()
            .any(|action| action.session == place.0 && action.what == (Deed::Launch { launch: place.1 }));
        let Some(shim) = around.outside.shims.get(&place) else { return false };
        let is_known = self.followed.get(&place).copied().unwrap_or_default() == shim.spool.len() as u64;
        !is_wanted && !shim.alive && !shim.has_ended() && is_known
    }

    /// Carries out one action: of each session the oldest that was not begun. Whether there was one.
    pub(crate) fn carry_out(&mut self, around: &mut Around<'_>) -> Result<bool, Crash> {
        let mut next: BTreeMap<_, ActionName> = BTreeMap::new();
        // Nothing else is done for a session before it is written down that its launch has failed.
        let is_told = |(_, input): &(_, Input), id| matches!(input, Input::LaunchFailed { session, .. } if *session == id);
        for (&name, action) in around.disk.outbox.iter().filter(|(name, _)| !self.begun.contains(name)) {
            if self.reports.iter().any(|report| is_told(report, action.session)) {
                continue;
            }
            next.entry(action.session).or_insert(name);
        }
        // What came of values is written down before anything that follows is done.
        let provides = |(name, action): &(&ActionName, &Action)| {
            action.what == Deed::ProvideValues && self.begun.contains(name)
        };
        for (_, action) in around.disk.outbox.iter().filter(provides) {
            next.remove(&action.session);
        }
        let next: Vec<ActionName> = next.into_values().collect();
        let Some(&name) = around.random.one_of(&next) else { return Ok(false) };
        let action = around.disk.outbox[&name].clone();
        let (deed, recovers) = (sites::name(&action.what), self.to_recover.contains(&name));
        around.site(&sites::before(deed), recovers)?;
        let report = self.do_it(around, name, &action);
        around.site(&sites::after(deed), recovers)?;
        self.begun.insert(name);
        match report {
            Some(input) => self.reports.push_back((Some(name), input)),
            None if takes_its_time(&action.what) => {}
            None => self.done.push(name),
        }
        Ok(true)
    }

    fn do_it(&mut self, around: &mut Around<'_>, name: ActionName, action: &Action) -> Option<Input> {
        let Around { outside, random, crash_once_in, .. } = around;
        let session = action.session;
        let may_die = crash_once_in.is_some();
        match &action.what {
            Deed::Launch { launch } => {
                // The process it was for may be known to have ended by now.
                let is_wanted =
                    self.world.sessions[&session].live().is_some_and(|live| live.number == *launch);
                if is_wanted && !outside.launch(&self.world, (session, *launch), random, may_die) {
                    let message = "no room".to_owned();
                    return Some(Input::LaunchFailed { session, launch: *launch, message });
                }
            }
            Deed::Deliver { launch, parcel, text, .. } => {
                let letter = letter(&self.world, *parcel, text);
                if let Some(shim) = outside.shims.get_mut(&(session, *launch)) {
                    shim.take(letter);
                }
            }
            Deed::Stop { launch } => {
                if let Some(shim) = outside.shims.get_mut(&(session, *launch)) {
                    shim.stop();
                }
            }
            Deed::GoOn { launch, after } => {
                // It may have been taken back, for want of what the agent was given.
                let live = around.disk.book.world.sessions[&session].live();
                let is_wanted = live.is_none_or(|live| name.seq > live.withheld_at);
                if let Some(shim) = outside.shims.get_mut(&(session, *launch)).filter(|_| is_wanted) {
                    if shim.heeds(*after) {
                        checks::may_go_on(&around.disk.book.world, session, shim);
                        let written = outside.values.get(&session);
                        checks::has_its_values(&around.disk.book.world, session, written);
                    }
                    shim.go_on(*after);
                }
            }
            Deed::End { launch, .. } => {
                if let Some(shim) = outside.shims.get_mut(&(session, *launch)) {
                    shim.cancel();
                }
            }
            Deed::CloseInput { launch } => {
                if let Some(shim) = outside.shims.get_mut(&(session, *launch)) {
                    shim.close_input();
                }
            }
            Deed::Check { number } => outside.check(&self.world, (session, *number)),
            Deed::SteerCheck { number } => outside.steer_check(&self.world, (session, *number)),
            Deed::EndCheck { number } => outside.end_check((session, *number)),
            Deed::LookInVault { request } => {
                let names = vec![checks::text(&self.world.requests[request].ask)];
                return random.once_in(3).then_some(Input::InVault { request: *request, names });
            }
            Deed::ProvideValues if may_die && random.once_in(6) => {
                let message = format!("no room for values {}", random.below(3));
                return Some(Input::ValuesNotWritten { session, message });
            }
            Deed::ProvideValues => outside.provide(&self.world, session),
            Deed::RemoveValues => outside.remove_values(&self.world, session),
            Deed::Install { request } => {
                outside.installs.entry(*request).or_default();
            }
            Deed::EndInstall { request } => outside.end_install(*request),
            Deed::Checkpoint { number } => {
                let (checkpoint, news) = (CheckpointId(*number), outside.checkpoint(*number, random));
                return Some(Input::Checkpointed { session, checkpoint, news });
            }
            Deed::Restore { number, before, .. } => {
                let (checkpoint, news) = (CheckpointId(*number), outside.restore(*before, random));
                return Some(Input::Restored { session, checkpoint, news });
            }
            deed @ (Deed::Collect { .. }
            | Deed::GateCheck { .. }
            | Deed::Verify { .. }
            | Deed::ReadVerdict { .. }
            | Deed::Report { .. }
            | Deed::ClearGate { .. }) => return gates::carry_out(&self.world, deed, random),
            deed @ (Deed::Seat { .. } | Deed::Examine { .. } | Deed::Listen { .. }) => {
                return Some(Input::Office(Box::new(office(session, deed))));
            }
            // It is answered later.
            Deed::Thin { .. } | Deed::RunGraph => {}
            Deed::MakeWorktree => {
                return Some(Input::Worktree { session, news: outside.make_tree(session, random) });
            }
            Deed::TestWorktree { number } => {
                let news = outside.test_tree(&self.world.sessions[&session], *number, random);
                return Some(Input::Worktree { session, news });
            }
            Deed::MergeWorktree => {
                return Some(Input::Worktree { session, news: outside.finish_tree(session, true, random) });
            }
            Deed::DiscardWorktree => {
                return Some(Input::Worktree { session, news: outside.finish_tree(session, false, random) });
            }
        }
        None
    }
}

/// A run works on what a main agent has asked for.
/// A check is done when it has ended, and so is an installation or a graph, and an errand when it is answered.
fn takes_its_time(deed: &Deed) -> bool {
    matches!(deed, Deed::Check { .. } | Deed::Install { .. } | Deed::Thin { .. } | Deed::RunGraph)
}

fn began(session: SessionId, number: u64) -> Input {
    Input::Thin { session, number, news: ThinNews::Began(RunId(1_000 + number)) }
}

/// Nobody is found in the office here, and nobody prints.
fn office(session: SessionId, deed: &Deed) -> OfficeInput {
    match deed {
        Deed::Seat { invocation } => {
            let seat = Err(NoSeat::Unknown { roles: vec!["PO".to_owned()] });
            OfficeInput::Seated { invocation: *invocation, seat, repeats: RepeatTerms::default() }
        }
        Deed::Examine { delivery } => {
            let (delivery, found) = ((**delivery).clone(), Err("there is nobody".to_owned()));
            OfficeInput::Examined { session, launch: None, delivery, found }
        }
        Deed::Listen { launch } => {
            OfficeInput::Listened { session, launch: *launch, printed_at_ms: None, at_work: false }
        }
        deed => unreachable!("{deed:?} is no deed of the office"),
    }
}

impl Around<'_> {
    /// A place where the server may die.
    fn site(&mut self, site: &str, recovers: bool) -> Result<(), Crash> {
        // Commits are many and actions are few.
        let is_deed = !matches!(site, sites::BEFORE_COMMIT | sites::AFTER_COMMIT | sites::AFTER_PUBLISHING);
        let times = self.crash_once_in.map(|times| if is_deed { times / 4 } else { times });
        if times.is_none_or(|times| !self.random.once_in(times)) {
            return Ok(());
        }
        let site = if recovers { sites::again(site) } else { site.to_owned() };
        self.sites.hit(&site);
        Err(Crash)
    }
}

/// Something for the input of an agent. The id stands in the bytes, where the agent's table puts one there.
fn letter(world: &World, parcel: Parcel, text: &str) -> Letter {
    let request = match parcel {
        Parcel::Request(id) | Parcel::Expiry(id) => Some(&world.requests[&id]),
        Parcel::Message(_) => None,
    };
    // Words about an error answer nothing that is waited for.
    let waits = |ask: &Ask| !matches!(ask, Ask::Error(_) | Ask::Fault { .. });
    let about = request.filter(|request| waits(&request.ask)).map(|request| checks::text(&request.ask));
    let is_request = matches!(parcel, Parcel::Request(_));
    let late =
        is_request && request.is_some_and(|it| it.settled.as_ref().is_some_and(|settled| settled.late));
    let message: Option<Value> = serde_json::from_str(text).ok();
    let id = message.and_then(|message| Some(message["uuid"].as_str()?.to_owned()));
    Letter { key: parcel.to_string(), about, late, id }
}
