//! A stage for the office, where every process answers at once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ostler_agents::Agent;
use ostler_engine::{
    Action, Input, InvocationId, Overlay, ProjectId, SessionId, World,
    action::Deed,
    input::{News, WorktreeNews},
    office::{
        Delivery, Examined, Handover, Invocation, NoSeat, OfficeEvent, OfficeInput, RepeatTerms, Seat,
        Verdict, Why,
    },
    run::Terms,
    session::{Role, Session, Status},
};
use serde_json::{Value, json};

use crate::common::{self, Book, all_read_back, decide_well, may_come_twice, said};

/// How long an idle seat is kept here.
pub(super) const IDLE_MS: u64 = 60_000;

/// Everybody, and what is to be done.
pub(super) struct Stage {
    pub(super) book: Book,
    pub(super) now_ms: u64,
    pub(super) actions: VecDeque<Action>,
    pub(super) offset: u64,
    /// The agent of each role.
    pub(super) roles: BTreeMap<String, Agent>,
    /// How long an idle seat is kept that is taken from now on.
    pub(super) idle_ms: u64,
    /// What each session was told, in order.
    pub(super) told: Vec<(SessionId, String)>,
    /// How often each result was delivered, and how often each call ended.
    pub(super) delivered: BTreeMap<String, u32>,
    pub(super) ended: BTreeMap<InvocationId, u32>,
    /// Those who are brought something next die of it.
    pub(super) deaths: Vec<Death>,
    /// Whether nobody says that it has read what it was handed.
    pub(super) is_mute: bool,
    /// When each session last printed anything.
    pub(super) printed_at_ms: BTreeMap<SessionId, u64>,
    /// Those who are seen to do something.
    pub(super) at_work: BTreeSet<SessionId>,
    /// Whether roles have worktrees of their own.
    pub(super) is_apart: bool,
    /// What is to be done with those.
    pub(super) trees: Vec<(SessionId, Deed)>,
    /// When a call that is repeated is held.
    pub(super) repeats: RepeatTerms,
}

/// When a process dies that is brought something.
#[derive(Debug, Clone, Copy)]
pub(super) enum Death {
    /// Before its shim has taken it.
    BeforeTaken,
    /// Before it has read it.
    BeforeRead,
}

impl Stage {
    pub(super) fn new(roles: &[(&str, Agent)]) -> Stage {
        Stage {
            book: Book::default(),
            now_ms: 1_000,
            actions: VecDeque::new(),
            offset: 0,
            roles: roles.iter().map(|(name, agent)| ((*name).to_owned(), agent.clone())).collect(),
            idle_ms: IDLE_MS,
            told: Vec::new(),
            delivered: BTreeMap::new(),
            ended: BTreeMap::new(),
            deaths: Vec::new(),
            is_mute: false,
            printed_at_ms: BTreeMap::new(),
            at_work: BTreeSet::new(),
            is_apart: false,
            trees: Vec::new(),
            repeats: RepeatTerms::default(),
        }
    }

    pub(super) fn world(&self) -> &World {
        &self.book.world
    }

    pub(super) fn give(&mut self, input: &Input) {
        let nothing = Overlay::default();
        let decision = decide_well(&self.book.world, &nothing, self.now_ms, input)
            .unwrap_or_else(|refusal| panic!("{input:?}: {refusal:?}"));
        all_read_back(&decision.overlay);
        for entry in &decision.entries {
            match &entry.event {
                ostler_engine::Event::Office(OfficeEvent::Ended { invocation, .. }) => {
                    *self.ended.entry(*invocation).or_default() += 1;
                }
                ostler_engine::Event::Office(OfficeEvent::Delivered { result }) => {
                    *self.delivered.entry(result.to_string()).or_default() += 1;
                }
                _ => {}
            }
        }
        self.actions.extend(decision.actions.into_iter().map(|(_, action)| action));
        self.book.add(&decision.entries, decision.overlay);
        if may_come_twice(input) {
            let again = decide_well(&self.book.world, &nothing, self.now_ms, input);
            let again = again.map(|it| (it.entries, it.actions));
            assert!(again.is_err() || again == Ok((vec![], vec![])), "{input:?} came twice");
        }
    }

    pub(super) fn office(&mut self, input: OfficeInput) {
        self.give(&Input::Office(Box::new(input)));
    }

    /// An ordinary session, whose process runs.
    pub(super) fn caller(&mut self, agent: Agent) -> SessionId {
        let new = common::order(agent, Terms::default());
        self.give(&Input::CreateRun(Box::new(new)));
        self.settle();
        *self.world().sessions.keys().last().expect("it was made")
    }

    pub(super) fn session(&self, id: SessionId) -> &Session {
        &self.world().sessions[&id]
    }

    pub(super) fn seat(&self, name: &str) -> SessionId {
        self.world().projects[&ProjectId(1)].seats[name]
    }

    pub(super) fn status(&self, id: SessionId) -> Status {
        let blocking: Vec<_> = self.world().blocking(id).collect();
        self.session(id).status(&blocking)
    }

    pub(super) fn call(&self, id: u64) -> &Invocation {
        &self.world().invocations[&InvocationId(id)]
    }

    pub(super) fn result(&self, number: usize) -> &Handover {
        self.world().results.values().nth(number - 1).expect("a result")
    }

    pub(super) fn shim(&mut self, id: SessionId, news: News) {
        let launch = self.session(id).launches.last().expect("a launch");
        let (launch, spool_seq) = (launch.number, launch.spool_seq + 1);
        self.give(&Input::Shim { session: id, launch, spool_seq, news });
    }

    pub(super) fn says(&mut self, id: SessionId, item: Value) {
        self.offset += 1_000;
        let item = said::at(self.offset, item);
        self.prints(id);
        self.shim(id, News::Heard { item });
        self.settle();
    }

    /// Something in which nothing is to be heard.
    pub(super) fn prints(&mut self, id: SessionId) {
        self.printed_at_ms.insert(id, self.now_ms);
    }

    /// A person writes to a role.
    pub(super) fn writes(&mut self, role: &str, text: &str) -> SessionId {
        let seat = self.find(role).expect("a role");
        self.office(OfficeInput::Send { project: ProjectId(1), seat, text: text.to_owned(), printed: None });
        self.settle();
        self.seat(role)
    }

    pub(super) fn passes(&mut self, ms: u64) {
        self.now_ms += ms;
        self.give(&Input::Tick);
        self.settle();
    }

    pub(super) fn invokes(&mut self, id: SessionId, callee: &str, task: &str) {
        let item = json!({ "kind": "invoke", "target": callee, "task": task, "context": null });
        self.says(id, item);
    }

    pub(super) fn delivers(&mut self, id: SessionId, to: &str, content: &str) {
        let item =
            json!({ "kind": "deliver_result", "target": to, "result_type": "message", "content": content });
        self.says(id, item);
    }

    pub(super) fn ends(&mut self, id: SessionId, code: i32) {
        self.shim(id, News::Ended { code: Some(code), signal: None, clean: true });
        self.settle();
    }

    /// Carries everything out: processes start at once, and read at once what they are given.
    pub(super) fn settle(&mut self) {
        while let Some(Action { session, what }) = self.actions.pop_front() {
            match what {
                Deed::Launch { launch } => {
                    let is_live = self.session(session).live().is_some_and(|live| live.number == launch);
                    let prompt = self.session(session).launches.last().map(|it| it.prompt.clone());
                    if is_live {
                        self.shim(session, News::Started { pid: 7, began: 1 });
                        // What an ordinary session is to do says nothing of the office.
                        let prompt = prompt.filter(|it| !it.is_empty() && it != "Do it.");
                        self.told.extend(prompt.map(|it| (session, it)));
                    }
                }
                Deed::Deliver { parcel, text, launch, .. }
                    if self.session(session).live().is_some_and(|live| live.number == launch) =>
                {
                    let key = parcel.to_string();
                    let death = self.deaths.pop();
                    if !matches!(death, Some(Death::BeforeTaken)) {
                        self.shim(session, News::TookInput { key: key.clone() });
                    }
                    if death.is_some() {
                        self.shim(session, News::Ended { code: None, signal: Some(9), clean: true });
                        continue;
                    }
                    if !self.is_mute {
                        self.shim(session, News::Consumed { key });
                    }
                    self.told.push((session, text));
                }
                Deed::Seat { invocation } => {
                    let name = self.world().invocations[&invocation].callee.clone();
                    let seat = self.find(&name);
                    self.office(OfficeInput::Seated { invocation, seat, repeats: self.repeats.clone() });
                }
                Deed::Examine { delivery } => {
                    let found = self.examine(&delivery);
                    let delivery = *delivery;
                    self.office(OfficeInput::Examined { session, launch: None, delivery, found });
                }
                Deed::Listen { launch } => {
                    let printed_at_ms = self.printed_at_ms.get(&session).copied();
                    let at_work = self.at_work.contains(&session);
                    self.office(OfficeInput::Listened { session, launch, printed_at_ms, at_work });
                }
                Deed::MakeWorktree => {
                    let (base, target) = ("abc".to_owned(), Some("main".to_owned()));
                    self.give(&Input::Worktree { session, news: WorktreeNews::Made { base, target } });
                }
                deed @ (Deed::TestWorktree { .. } | Deed::MergeWorktree | Deed::DiscardWorktree) => {
                    self.trees.push((session, deed));
                }
                Deed::End { .. } => {
                    self.shim(session, News::Ended { code: None, signal: Some(15), clean: true });
                }
                Deed::CloseInput { .. } => {
                    self.shim(session, News::Ended { code: Some(0), signal: None, clean: true });
                }
                _ => {}
            }
        }
    }

    pub(super) fn find(&self, name: &str) -> Result<Box<Seat>, NoSeat> {
        let known = self.roles.get_key_value(name);
        let roles = self.roles.keys().cloned().collect();
        let (name, agent) = known.ok_or(NoSeat::Unknown { roles })?;
        let mut order = common::order(agent.clone(), Terms::default()).order;
        order.prompt = String::new();
        order.role = Role::Office { name: name.clone(), hash: "1".to_owned(), idle_ms: self.idle_ms };
        let session = self.world().projects[&ProjectId(1)].seats.get(name).copied();
        let worktrees = self.is_apart.then(|| "/state/worktrees".to_owned());
        let (terms, reference) = (Terms::default(), None);
        Ok(Box::new(Seat { name: name.clone(), session, order, terms, worktrees, reference }))
    }

    pub(super) fn examine(&self, delivery: &Delivery) -> Result<Examined, String> {
        let is_known = self.roles.contains_key(&delivery.to) || delivery.to.starts_with("s_");
        if !is_known {
            return Err("there is nobody of that name".to_owned());
        }
        Ok(Examined { to: delivery.to.clone(), content: None, reference: None, cut: false })
    }

    pub(super) fn told(&self, id: SessionId) -> Vec<&str> {
        self.told.iter().filter(|(it, _)| *it == id).map(|(_, text)| text.as_str()).collect()
    }
}

pub(super) fn ended(call: &Invocation) -> (Verdict, Why) {
    let ended = call.ended.as_ref().expect("it is over");
    (ended.status, ended.why)
}
