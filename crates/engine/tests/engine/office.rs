//! The office: agents that call each other, played on a stage where every process answers at once.

use std::collections::{BTreeMap, VecDeque};

use ostler_agents::Agent;
use ostler_engine::{
    Action, Input, InvocationId, Overlay, ProjectId, SessionId, World,
    action::Deed,
    answer::Given,
    input::News,
    office::{
        Delivery, Examined, Handover, Invocation, NoSeat, OfficeEvent, OfficeInput, Seat, Verdict, Why,
        has_nothing_to_do,
    },
    request::Bringing,
    run::Terms,
    session::{Role, Session, Status},
};
use serde_json::{Value, json};

use crate::common::{
    self, Book, all_read_back, claude, codex, decide_well, may_come_twice, plain, random::Random, said,
};

/// How long an idle seat is kept here.
const IDLE_MS: u64 = 60_000;

/// Everybody, and what is to be done.
struct Stage {
    book: Book,
    now_ms: u64,
    actions: VecDeque<Action>,
    offset: u64,
    /// The agent of each role.
    roles: BTreeMap<String, Agent>,
    /// How long an idle seat is kept that is taken from now on.
    idle_ms: u64,
    /// What each session was told, in order.
    told: Vec<(SessionId, String)>,
    /// How often each result was delivered, and how often each call ended.
    delivered: BTreeMap<String, u32>,
    ended: BTreeMap<InvocationId, u32>,
    /// Those who are brought something next die of it.
    deaths: Vec<Death>,
    /// Whether nobody says that it has read what it was handed.
    is_mute: bool,
    /// When each session last printed anything.
    printed_at_ms: BTreeMap<SessionId, u64>,
}

/// When a process dies that is brought something.
#[derive(Debug, Clone, Copy)]
enum Death {
    /// Before its shim has taken it.
    BeforeTaken,
    /// Before it has read it.
    BeforeRead,
}

impl Stage {
    fn new(roles: &[(&str, Agent)]) -> Stage {
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
        }
    }

    fn world(&self) -> &World {
        &self.book.world
    }

    fn give(&mut self, input: &Input) {
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

    fn office(&mut self, input: OfficeInput) {
        self.give(&Input::Office(Box::new(input)));
    }

    /// An ordinary session, whose process runs.
    fn caller(&mut self, agent: Agent) -> SessionId {
        let new = common::order(agent, Terms::default());
        self.give(&Input::CreateRun(Box::new(new)));
        self.settle();
        *self.world().sessions.keys().last().expect("it was made")
    }

    fn session(&self, id: SessionId) -> &Session {
        &self.world().sessions[&id]
    }

    fn seat(&self, name: &str) -> SessionId {
        self.world().projects[&ProjectId(1)].seats[name]
    }

    fn status(&self, id: SessionId) -> Status {
        let blocking: Vec<_> = self.world().blocking(id).collect();
        self.session(id).status(&blocking)
    }

    fn call(&self, id: u64) -> &Invocation {
        &self.world().invocations[&InvocationId(id)]
    }

    fn result(&self, number: usize) -> &Handover {
        self.world().results.values().nth(number - 1).expect("a result")
    }

    fn shim(&mut self, id: SessionId, news: News) {
        let launch = self.session(id).launches.last().expect("a launch");
        let (launch, spool_seq) = (launch.number, launch.spool_seq + 1);
        self.give(&Input::Shim { session: id, launch, spool_seq, news });
    }

    fn says(&mut self, id: SessionId, item: Value) {
        self.offset += 1_000;
        let item = said::at(self.offset, item);
        self.prints(id);
        self.shim(id, News::Heard { item });
        self.settle();
    }

    /// Something in which nothing is to be heard.
    fn prints(&mut self, id: SessionId) {
        self.printed_at_ms.insert(id, self.now_ms);
    }

    /// A person writes to a role.
    fn writes(&mut self, role: &str, text: &str) -> SessionId {
        let seat = self.find(role).expect("a role");
        self.office(OfficeInput::Send { project: ProjectId(1), seat, text: text.to_owned() });
        self.settle();
        self.seat(role)
    }

    fn passes(&mut self, ms: u64) {
        self.now_ms += ms;
        self.give(&Input::Tick);
        self.settle();
    }

    fn invokes(&mut self, id: SessionId, callee: &str, task: &str) {
        let item = json!({ "kind": "invoke", "target": callee, "task": task, "context": null });
        self.says(id, item);
    }

    fn delivers(&mut self, id: SessionId, to: &str, content: &str) {
        let item =
            json!({ "kind": "deliver_result", "target": to, "result_type": "message", "content": content });
        self.says(id, item);
    }

    fn ends(&mut self, id: SessionId, code: i32) {
        self.shim(id, News::Ended { code: Some(code), signal: None, clean: true });
        self.settle();
    }

    /// Carries everything out: processes start at once, and read at once what they are given.
    fn settle(&mut self) {
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
                Deed::Deliver { parcel, text, launch }
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
                    self.office(OfficeInput::Seated { invocation, seat });
                }
                Deed::Examine { delivery } => {
                    let found = self.examine(&delivery);
                    let delivery = *delivery;
                    self.office(OfficeInput::Examined { session, launch: None, delivery, found });
                }
                Deed::Listen { launch } => {
                    let printed_at_ms = self.printed_at_ms.get(&session).copied();
                    self.office(OfficeInput::Listened { session, launch, printed_at_ms });
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

    fn find(&self, name: &str) -> Result<Box<Seat>, NoSeat> {
        let known = self.roles.get_key_value(name);
        let roles = self.roles.keys().cloned().collect();
        let (name, agent) = known.ok_or(NoSeat::Unknown { roles })?;
        let mut order = common::order(agent.clone(), Terms::default()).order;
        order.prompt = String::new();
        order.role = Role::Office { name: name.clone(), hash: "1".to_owned(), idle_ms: self.idle_ms };
        let session = self.world().projects[&ProjectId(1)].seats.get(name).copied();
        let (terms, worktrees, reference) = (Terms::default(), None, None);
        Ok(Box::new(Seat { name: name.clone(), session, order, terms, worktrees, reference }))
    }

    fn examine(&self, delivery: &Delivery) -> Result<Examined, String> {
        let is_known = self.roles.contains_key(&delivery.to) || delivery.to.starts_with("s_");
        if !is_known {
            return Err("there is nobody of that name".to_owned());
        }
        Ok(Examined { to: delivery.to.clone(), content: None, reference: None })
    }

    fn told(&self, id: SessionId) -> Vec<&str> {
        self.told.iter().filter(|(it, _)| *it == id).map(|(_, text)| text.as_str()).collect()
    }
}

fn ended(call: &Invocation) -> (Verdict, Why) {
    let ended = call.ended.as_ref().expect("it is over");
    (ended.status, ended.why)
}

#[test]
fn a_call_is_done_by_a_seat_and_its_result_comes_back() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "Plan it.");
    let seat = stage.seat("PO");
    assert_eq!(stage.told(seat), ["[Task from s_1]\nPlan it.\n"]);
    assert!(stage.call(1).began_at_ms.is_some());
    stage.delivers(seat, "s_1", "A plan.");
    assert_eq!(ended(stage.call(1)), (Verdict::Completed, Why::Delivered));
    assert_eq!(stage.told(caller), ["[Result from PO]\nA plan.\n"]);
    assert!(stage.result(1).delivered_at_ms.is_some());
    // A step that is complete right behind it, without a word between, is another one if there was another task.
    stage.invokes(caller, "PO", "More.");
    stage.offset = 1_010;
    stage.says(seat, json!({ "kind": "step_complete", "step": null, "summary": "Done." }));
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Step));
    assert_eq!(stage.told(caller).last(), Some(&"[Result from PO]\nDone.\n"));
}

#[test]
fn a_step_that_is_complete_with_its_result_is_the_same_one() {
    let result = |to: &str| json!({ "kind": "deliver_result", "target": to, "result_type": "message", "content": "x" });
    let step = json!({ "kind": "step_complete", "step": null, "summary": "Done." });
    let mut stage = Stage::new(&[("PO", plain()), ("QA", plain())]);
    let (one, two) = (stage.caller(plain()), stage.caller(plain()));
    stage.invokes(one, "PO", "First.");
    stage.invokes(two, "PO", "Second.");
    let seat = stage.seat("PO");
    // Both are heard before anybody has looked at the first.
    stage.shim(seat, News::Heard { item: said::at(5_000, result("s_1")) });
    stage.shim(seat, News::Heard { item: said::at(5_010, step.clone()) });
    stage.settle();
    assert_eq!(ended(stage.call(1)), (Verdict::Completed, Why::Delivered));
    assert_eq!(stage.told(one), ["[Result from PO]\nx\n"]);
    assert!(stage.call(2).ended.is_none());
    // What goes to somebody else is not the result of what is worked on: the step is.
    stage.shim(seat, News::Heard { item: said::at(6_000, result("QA")) });
    stage.shim(seat, News::Heard { item: said::at(6_010, step) });
    stage.settle();
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Step));
    assert_eq!(stage.told(two), ["[Result from PO]\nDone.\n"]);
}

#[test]
fn a_step_is_about_the_next_task_as_soon_as_that_was_handed_over() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    let seat = stage.seat("PO");
    let result =
        json!({ "kind": "deliver_result", "target": "s_1", "result_type": "message", "content": "x" });
    stage.shim(seat, News::Heard { item: said::at(5_000, result) });
    stage.settle();
    assert_eq!(ended(stage.call(1)), (Verdict::Completed, Why::Delivered));
    // It prints little, and is heard before it is known to have read.
    stage.is_mute = true;
    stage.invokes(caller, "PO", "Second.");
    let step = json!({ "kind": "step_complete", "step": null, "summary": null });
    stage.shim(seat, News::Heard { item: said::at(5_010, step) });
    stage.settle();
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Step));
}

#[test]
fn a_seat_works_on_one_call_at_a_time_in_order() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let (one, two) = (stage.caller(plain()), stage.caller(plain()));
    stage.invokes(one, "PO", "First.");
    stage.invokes(two, "PO", "Second.");
    let seat = stage.seat("PO");
    assert_eq!(stage.told(seat).len(), 1);
    stage.delivers(seat, &two.to_string(), "Not asked yet.");
    assert!(stage.call(2).ended.is_none(), "it was not told of it");
    stage.delivers(seat, &one.to_string(), "One.");
    assert_eq!(stage.told(seat)[1], "[Task from s_2]\nSecond.\n");
    stage.delivers(seat, &two.to_string(), "Two.");
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Delivered));
    assert_eq!(stage.told(two), ["[Result from PO]\nNot asked yet.\n", "[Result from PO]\nTwo.\n"]);
}

#[test]
fn who_is_unknown_and_who_exists_is_told() {
    let mut stage = Stage::new(&[("PO", plain()), ("QA", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "Nobody", "Do it.");
    assert_eq!(ended(stage.call(1)), (Verdict::Failed, Why::UnknownRole));
    assert_eq!(
        stage.told(caller),
        ["[No result from Nobody]\nThere is no agent Nobody. There are: PO, QA\n"]
    );
    // As often as it is tried: who hears nothing thinks that it was delivered.
    for nth in [1, 2] {
        stage.delivers(caller, "Nobody", "x");
        assert_eq!(
            stage.told(caller)[nth],
            "Your result for Nobody was not delivered: there is nobody of that name\n"
        );
    }
}

#[test]
fn who_prints_a_result_that_is_too_long_is_told_what_to_do_instead() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "All of it.");
    let seat = stage.seat("PO");
    let fault = json!({ "kind": "fault", "severity": "fault", "tag": "DELIVER_RESULT", "field": "262144 bytes",
        "reason": "too_long", "details": "DELIVER_RESULT is longer than the limit of 262144 bytes",
        "raw": "[DELIVER_RESULT:s_1]\ncontent: xxx" });
    stage.says(seat, fault);
    assert!(stage.world().requests.is_empty(), "nobody is asked");
    assert!(stage.call(1).ended.is_none());
    assert_eq!(
        stage.told(seat).last(),
        Some(
            &"Your result for s_1 was not delivered: what is printed may have 262144 bytes. Use `ostler deliver s_1 \
             --stdin < FILE`, or write it to a file and bring its path with `type: file_path`.\n"
        )
    );
}

#[test]
fn a_ring_of_waiting_agents_is_reported_to_all_in_it() {
    let mut stage = Stage::new(&[("A", plain()), ("B", plain()), ("C", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "A", "a");
    stage.invokes(stage.seat("A"), "B", "b");
    stage.invokes(stage.seat("B"), "C", "c");
    stage.invokes(stage.seat("C"), "A", "back");
    assert_eq!(ended(stage.call(4)), (Verdict::Failed, Why::Cycle));
    for name in ["A", "B", "C"] {
        let told = stage.told(stage.seat(name));
        assert!(told.iter().any(|it| it.contains("C → A → B → C")), "{name}: {told:?}");
    }
    assert_eq!(
        stage.told(stage.seat("C")).last(),
        Some(
            &"[No result from A]\nThe call was not made, because everybody would wait for the next: \
             C → A → B → C\n"
        )
    );
    // Who called before is not told that its own call was refused.
    let others = |callee: &str, call: &str| {
        format!(
            "C wanted to call {callee}. That call was not made, because everybody would wait for the next: \
             C → A → B → C. Your call {call} goes on.\n"
        )
    };
    assert_eq!(stage.told(stage.seat("A")).last(), Some(&others("you", "i_2").as_str()));
    assert_eq!(stage.told(stage.seat("B")).last(), Some(&others("A", "i_3").as_str()));
    assert_eq!(stage.told(caller), [] as [&str; 0]);
    // Nobody is held up by it.
    stage.delivers(stage.seat("C"), "B", "c");
    stage.delivers(stage.seat("B"), "A", "b");
    stage.delivers(stage.seat("A"), "s_1", "a");
    assert_eq!(ended(stage.call(1)), (Verdict::Completed, Why::Delivered));
}

#[test]
fn calls_go_eight_deep_and_no_further() {
    let names: Vec<String> = (1..=9).map(|n| format!("R{n}")).collect();
    let roles: Vec<(&str, Agent)> = names.iter().map(|name| (name.as_str(), plain())).collect();
    let mut stage = Stage::new(&roles);
    let mut at = stage.caller(plain());
    for name in &names[..8] {
        stage.invokes(at, name, "deeper");
        at = stage.seat(name);
    }
    stage.invokes(at, "R9", "too deep");
    assert_eq!(ended(stage.call(9)), (Verdict::Failed, Why::TooDeep));
    for n in (1..=8).rev() {
        let to = if n == 1 { "s_1".to_owned() } else { format!("R{}", n - 1) };
        stage.delivers(stage.seat(&format!("R{n}")), &to, "done");
    }
    assert!((1..=8).all(|n| ended(stage.call(n)) == (Verdict::Completed, Why::Delivered)));
    assert!((1..=8).all(|n| stage.call(n).run == stage.call(1).run), "one chain");
}

#[test]
fn sixteen_calls_are_open_at_once_and_no_more() {
    let names: Vec<String> = (1..=17).map(|n| format!("R{n}")).collect();
    let roles: Vec<(&str, Agent)> = names.iter().map(|name| (name.as_str(), plain())).collect();
    let mut stage = Stage::new(&roles);
    let caller = stage.caller(plain());
    for name in &names {
        stage.invokes(caller, name, "at once");
    }
    assert_eq!(ended(stage.call(17)), (Verdict::Failed, Why::TooMany));
    for name in &names[..16] {
        stage.delivers(stage.seat(name), "s_1", name);
    }
    assert_eq!(stage.told(caller).len(), 17);
    stage.invokes(caller, "R17", "now");
    assert!(stage.call(18).seat.is_some());
}

#[test]
fn who_has_ended_with_open_calls_is_not_done() {
    for agent in [claude(), codex(), plain()] {
        let mut stage = Stage::new(&[("PO", plain())]);
        let name = agent.name.clone();
        let caller = stage.caller(agent);
        if name != "agent" {
            stage.says(caller, json!({ "kind": "agent_session", "id": "c1", "model": null }));
        }
        stage.invokes(caller, "PO", "Plan it.");
        if name != "agent" {
            stage.says(caller, json!({ "kind": "end", "status": "success", "reason": null }));
        }
        if name != "claude" {
            stage.ends(caller, 0);
        }
        assert_eq!(stage.status(caller), Status::WaitingAgent, "{name}");
        stage.delivers(stage.seat("PO"), "s_1", "A plan.");
        if name == "agent" {
            // Nobody can be brought anything who remembers nothing; the result is there to be looked at.
            assert_eq!(stage.status(caller), Status::Completed);
            assert_eq!(stage.result(1).delivered_at_ms, None);
        } else {
            let told = stage.told(caller);
            assert!(told.last().is_some_and(|it| it.contains("[Result from PO]")), "{name}: {told:?}");
            assert_eq!(stage.status(caller), Status::Active, "{name}");
        }
    }
}

#[test]
fn a_callee_that_fails_fails_its_call_and_serves_the_next() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    stage.invokes(caller, "PO", "Second.");
    let seat = stage.seat("PO");
    stage.ends(seat, 3);
    assert_eq!(ended(stage.call(1)), (Verdict::Failed, Why::Failed));
    assert_eq!(stage.told(caller), ["[No result from PO]\nPO has failed: exit code 3\n"]);
    assert_eq!(stage.told(seat).last(), Some(&"[Task from s_1]\nSecond.\n"));
    stage.ends(seat, 0);
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Ended));
    assert_eq!(stage.told(caller)[1], "[Result from PO]\nPO is done, without a result.\n");
    // Whoever calls again has it begin again.
    stage.invokes(caller, "PO", "Third.");
    assert_eq!((stage.seat("PO"), stage.told(seat).len()), (seat, 3));
}

#[test]
fn what_nobody_lived_to_read_is_said_to_the_next_process() {
    for death in [Death::BeforeTaken, Death::BeforeRead] {
        let mut stage = Stage::new(&[("PO", plain())]);
        let caller = stage.caller(plain());
        stage.deaths = vec![death; 2];
        stage.invokes(caller, "PO", "Plan it.");
        let seat = stage.seat("PO");
        assert_eq!(stage.told(seat), ["[Task from s_1]\nPlan it.\n"], "{death:?}");
        stage.delivers(seat, "s_1", "A plan.");
        // Some die of whatever they are told: their callers learn it.
        stage.deaths = vec![death; 3];
        stage.invokes(caller, "PO", "Again.");
        assert_eq!(ended(stage.call(2)), (Verdict::Failed, Why::Failed), "{death:?}");
        // What a person has to say is no call.
        stage.deaths = vec![death];
        let seat = stage.find("PO").expect("it is there");
        stage.office(OfficeInput::Send { project: ProjectId(1), seat, text: "Hello.".to_owned() });
        stage.settle();
        let seat = stage.seat("PO");
        let is_said = stage.told(seat).last() == Some(&"Hello.\n");
        assert_eq!(is_said, matches!(death, Death::BeforeTaken), "{death:?}: {:?}", stage.told(seat));
    }
}

#[test]
fn who_dies_with_open_calls_and_remembers_nothing_fails_its_task_alone() {
    let mut stage = Stage::new(&[("PO", plain()), ("QA", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    stage.invokes(caller, "PO", "Second.");
    let seat = stage.seat("PO");
    stage.invokes(seat, "QA", "Test it.");
    stage.ends(seat, 3);
    assert_eq!(ended(stage.call(1)), (Verdict::Failed, Why::Failed));
    assert_eq!(ended(stage.call(3)), (Verdict::Cancelled, Why::Cancelled), "nobody knows what it was for");
    assert_eq!(stage.told(seat), ["[Task from s_1]\nFirst.\n", "[Task from s_1]\nSecond.\n"]);
    stage.delivers(seat, "s_1", "Done.");
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Delivered));
}

#[test]
fn a_result_that_is_printed_right_before_the_end_is_not_lost() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "Plan it.");
    let seat = stage.seat("PO");
    let item = json!({ "kind": "deliver_result", "target": "s_1", "result_type": "message", "content": "x" });
    stage.shim(seat, News::Heard { item: said::at(5_000, item) });
    stage.shim(seat, News::Ended { code: Some(0), signal: None, clean: true });
    assert!(stage.call(1).ended.is_none(), "it is looked at first");
    stage.settle();
    assert_eq!(ended(stage.call(1)), (Verdict::Completed, Why::Delivered));
    assert_eq!(stage.told(caller), ["[Result from PO]\nx\n"]);
}

#[test]
fn a_cancelled_caller_takes_its_calls_back_and_late_results_are_marked() {
    let mut stage = Stage::new(&[("PO", plain()), ("QA", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "Plan it.");
    let (po, other) = (stage.seat("PO"), stage.caller(plain()));
    stage.invokes(other, "PO", "Later.");
    stage.give(&Input::Cancel(caller));
    stage.settle();
    assert_eq!(ended(stage.call(1)), (Verdict::Cancelled, Why::Cancelled));
    assert!(stage.told(po)[1].contains("Nobody waits any more"), "{:?}", stage.told(po));
    stage.delivers(po, "s_1", "Too late.");
    assert!(stage.result(1).late);
    assert!(stage.call(2).ended.is_none());
    // A person takes one back that its caller still wants.
    stage.office(OfficeInput::Cancel(InvocationId(2)));
    stage.settle();
    assert_eq!(stage.told(other), ["[No result from PO]\nThe call of PO was cancelled.\n"]);
}

#[test]
fn a_result_for_who_is_not_there_waits_for_the_first_session() {
    let mut stage = Stage::new(&[("QA", plain())]);
    let caller = stage.caller(plain());
    stage.delivers(caller, "QA", "Read this first.");
    assert_eq!(stage.result(1).receiver, None);
    stage.invokes(caller, "QA", "Test it.");
    let told = stage.told(stage.seat("QA"));
    assert_eq!(told, ["[Result from s_1]\nRead this first.\n", "[Task from s_1]\nTest it.\n"]);
    assert!(stage.result(1).delivered_at_ms.is_some());
}

#[test]
fn what_somebody_else_may_have_written_calls_nobody() {
    let mut stage = Stage::new(&[("QA", plain())]);
    let caller = stage.caller(plain());
    let mark = json!({ "where": "tool_output" });
    let item = json!({ "kind": "invoke", "target": "QA", "task": "rm", "context": null, "mark": mark });
    stage.says(caller, item);
    assert_eq!(ended(stage.call(1)), (Verdict::Failed, Why::Marked));
    assert!(stage.told(caller)[0].contains("ostler invoke QA"));
}

#[test]
fn an_idle_seat_ends_and_comes_back_when_it_is_called() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    let seat = stage.seat("PO");
    stage.delivers(seat, "s_1", "One.");
    stage.now_ms += IDLE_MS;
    stage.give(&Input::Tick);
    stage.settle();
    assert_eq!(stage.status(seat), Status::Completed);
    stage.invokes(caller, "PO", "Second.");
    assert_eq!((stage.seat("PO"), stage.status(seat)), (seat, Status::Active));
    stage.delivers(seat, "s_1", "Two.");
    assert_eq!(ended(stage.call(2)), (Verdict::Completed, Why::Delivered));
}

#[test]
fn how_soon_a_seat_ends_is_no_reason_to_begin_anew() {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Good morning.");
    stage.prints(seat);
    stage.passes(IDLE_MS);
    assert_eq!(stage.status(seat), Status::Completed);
    stage.idle_ms *= 2;
    assert_eq!(stage.writes("PO", "Once more."), seat);
}

#[test]
fn who_has_asked_a_person_stays_for_the_answer_though_nobody_waits_for_it_any_more() {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Good morning.");
    stage.says(seat, said::ask_user("Which one?"));
    let request = *stage.world().requests.keys().next().expect("a question");
    stage.passes(3_600_000);
    stage.passes(IDLE_MS * 3);
    assert!(stage.world().requests[&request].is_open(), "it can still be answered");
    assert_eq!(stage.status(seat), Status::Active);
    let given = Given { value: Some("This one.".to_owned()), ..Given::default() };
    stage.give(&Input::Answer { request, given });
    stage.settle();
    assert!(stage.told(seat).iter().any(|told| told.contains("This one.")), "{:?}", stage.told(seat));
    stage.prints(seat);
    stage.passes(IDLE_MS);
    assert_eq!(stage.status(seat), Status::Completed);
}

#[test]
fn who_was_written_to_by_a_person_is_not_idle_before_it_has_said_something() {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Good morning.");
    stage.passes(IDLE_MS * 3);
    assert_eq!(stage.status(seat), Status::Active, "it has not answered");
    stage.passes(IDLE_MS * 3);
    assert_eq!(stage.status(seat), Status::Active, "it has still not answered");
    stage.prints(seat);
    stage.passes(IDLE_MS - 1);
    assert_eq!(stage.status(seat), Status::Active, "it has just said something");
    stage.passes(1);
    assert_eq!(stage.status(seat), Status::Completed);
    // Who comes back for more is not ended for what it said long ago.
    let told = stage.writes("PO", "Once more.");
    assert_eq!((told, stage.status(seat)), (seat, Status::Active));
    stage.passes(IDLE_MS * 3);
    assert_eq!(stage.status(seat), Status::Active, "it has not answered that");
    stage.delivers(seat, "s_1", "An answer.");
    stage.passes(IDLE_MS);
    assert_eq!(stage.status(seat), Status::Completed);
}

#[test]
fn an_answer_is_known_for_one_though_its_file_bears_an_earlier_tick() {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Good morning.");
    stage.printed_at_ms.insert(seat, stage.now_ms - 4);
    stage.passes(IDLE_MS);
    assert_eq!(stage.status(seat), Status::Completed);
}

#[test]
fn who_still_prints_is_not_idle() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    let seat = stage.seat("PO");
    stage.delivers(seat, "s_1", "One.");
    for _ in 0..20 {
        stage.passes(IDLE_MS / 3);
        stage.prints(seat);
        assert_eq!(stage.status(seat), Status::Active, "it has just printed something");
    }
    stage.passes(IDLE_MS);
    assert_eq!(stage.status(seat), Status::Completed);
}

#[test]
fn what_is_brought_is_something_to_do() {
    let mut stage = Stage::new(&[("PO", plain()), ("QA", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Have it tested.");
    stage.invokes(seat, "QA", "Test it.");
    stage.passes(IDLE_MS * 3);
    assert_eq!(stage.status(seat), Status::Active, "it waits for another");
    stage.delivers(stage.seat("QA"), "PO", "All is well.");
    stage.passes(IDLE_MS - 1);
    assert_eq!(stage.status(seat), Status::Active, "it was told that just now");
    stage.passes(1);
    assert_eq!(stage.status(seat), Status::Completed);
}

#[test]
fn who_was_held_or_had_a_question_is_not_idle_for_that() {
    let mut stage = Stage::new(&[("PO", plain())]);
    stage.caller(plain());
    let seat = stage.writes("PO", "Good morning.");
    stage.prints(seat);
    stage.give(&Input::Pause(seat));
    stage.passes(IDLE_MS * 3);
    stage.give(&Input::Continue(seat));
    stage.passes(IDLE_MS - 1);
    assert_eq!(stage.status(seat), Status::Active, "it could do nothing before");

    let ask = said::asked(&said::question("Which one?"));
    let (session, launch, key) = (seat, 1, "k1".to_owned());
    stage.give(&Input::Call { session, launch, key: key.clone(), ask: Box::new(ask), pid: 9, began: 2 });
    stage.passes(IDLE_MS * 2);
    assert_eq!(stage.status(seat), Status::WaitingInput, "a process of it is blocked");
}

#[test]
fn a_seat_has_nothing_to_do_between_calls_and_who_takes_turns_between_those() {
    let mut stage = Stage::new(&[("PO", plain()), ("QA", claude())]);
    let caller = stage.caller(plain());
    assert!(!has_nothing_to_do(stage.session(caller)), "it is no role");
    stage.invokes(caller, "PO", "First.");
    let seat = stage.seat("PO");
    assert!(!has_nothing_to_do(stage.session(seat)));
    stage.delivers(seat, "s_1", "One.");
    assert!(has_nothing_to_do(stage.session(seat)));
    stage.passes(IDLE_MS);
    assert!(!has_nothing_to_do(stage.session(seat)), "it is not there");

    let seat = stage.writes("QA", "Good morning.");
    assert!(!has_nothing_to_do(stage.session(seat)), "it has not ended its turn");
    stage.says(seat, json!({ "kind": "end", "status": "success", "reason": null }));
    assert!(has_nothing_to_do(stage.session(seat)));
    stage.writes("QA", "Once more.");
    assert!(!has_nothing_to_do(stage.session(seat)));
}

#[test]
fn who_says_when_it_is_through_is_not_idle_before() {
    let mut agent = plain();
    agent.end.required = true;
    let mut stage = Stage::new(&[("PO", agent)]);
    let caller = stage.caller(plain());
    stage.invokes(caller, "PO", "First.");
    let seat = stage.seat("PO");
    stage.delivers(seat, "s_1", "One.");
    stage.now_ms += IDLE_MS * 2;
    stage.give(&Input::Tick);
    stage.settle();
    assert_eq!(stage.status(seat), Status::Active, "it has more to say");
    stage.says(seat, json!({ "kind": "end", "status": "success", "reason": null }));
    stage.shim(seat, News::Ended { code: Some(0), signal: None, clean: true });
    stage.settle();
    assert_eq!(stage.status(seat), Status::Completed);
}

#[test]
fn who_is_blocked_in_a_call_gets_its_result_there_or_as_a_message() {
    let mut stage = Stage::new(&[("PO", plain())]);
    let caller = stage.caller(plain());
    let invoke = |key: &str| OfficeInput::Invoke {
        session: caller,
        launch: 1,
        key: key.to_owned(),
        callee: "PO".to_owned(),
        task: "Plan it.".to_owned(),
        context: Some("All of it.".to_owned()),
        process: (9, 2),
        waits: true,
    };
    stage.office(invoke("k1"));
    stage.settle();
    assert_eq!(stage.status(caller), Status::WaitingAgent);
    let seat = stage.seat("PO");
    assert_eq!(stage.told(seat), ["[Task from s_1]\nPlan it.\nContext: All of it.\n"]);
    stage.delivers(seat, "s_1", "One.");
    assert_eq!(stage.told(caller), [] as [&str; 0]);
    stage.office(OfficeInput::Taken { invocation: InvocationId(1), key: "k1".to_owned() });
    assert!(stage.result(1).delivered_at_ms.is_some());
    stage.office(invoke("k2"));
    stage.settle();
    stage.office(OfficeInput::CallerGone { invocation: InvocationId(2), key: "k2".to_owned() });
    stage.delivers(seat, "s_1", "Two.");
    assert_eq!(stage.told(caller), ["[Result from PO]\nTwo.\n"]);
}

/// Whatever agents call, bring, and die of: each call ends in exactly one way, each result is delivered at most once,
/// and when everybody has ended nobody waits.
#[test]
fn any_graph_of_calls_comes_to_its_end() {
    for seed in 0..12 {
        let random = &mut Random::new(seed);
        let names: Vec<String> = (0..6).map(|n| format!("R{n}")).collect();
        let roles: Vec<(&str, Agent)> = names
            .iter()
            .map(|name| (name.as_str(), if random.once_in(3) { codex() } else { plain() }))
            .collect();
        let mut stage = Stage::new(&roles);
        for _ in 0..3 {
            stage.caller(plain());
        }
        for _ in 0..60 {
            play(&mut stage, random, &names);
            let forgotten = stage.world().invocations.values().find(|call| is_forgotten(&stage, call));
            assert_eq!(forgotten, None, "seed {seed}: nobody will ever hear of it");
        }
        finish(&mut stage, seed);
        let calls: Vec<&Invocation> = stage.world().invocations.values().collect();
        for call in calls {
            assert_eq!(stage.ended.get(&call.id), Some(&1), "seed {seed}: {call:?}");
        }
        assert!(stage.delivered.values().all(|times| *times == 1), "seed {seed}: {:?}", stage.delivered);
        let waits = stage.world().sessions.values().find(|session| session.office.waits());
        assert_eq!(waits.map(|session| session.id), None, "seed {seed}: nobody waits");
    }
}

/// Whether a seat is to work on a call of which it is never told.
fn is_forgotten(stage: &Stage, call: &Invocation) -> bool {
    let Some(seat) = call.seat.map(|id| stage.session(id)).filter(|it| it.office.current == Some(call.id))
    else {
        return false;
    };
    let message = seat.messages.iter().find(|message| Some(message.id) == call.message);
    call.ended.is_none() && message.is_none_or(|message| message.bringing == Bringing::Undeliverable)
}

/// Somebody who runs does something.
fn play(stage: &mut Stage, random: &mut Random, names: &[String]) {
    stage.now_ms += random.below(2_000);
    let runs = |session: &&Session| session.live().is_some_and(|live| live.process.is_some());
    let running: Vec<SessionId> = stage.world().sessions.values().filter(runs).map(|it| it.id).collect();
    let Some(&who) = random.one_of(&running) else { return };
    if random.once_in(8) {
        stage.deaths.push(if random.once_in(2) { Death::BeforeTaken } else { Death::BeforeRead });
    }
    let session = stage.session(who);
    let current = session.office.current.map(|call| stage.world().invocations[&call].caller.clone());
    let has_conversation = session.conversation.is_some();
    match random.below(12) {
        0..=4 => {
            let callee = random.one_of(names).expect("there are some").clone();
            stage.invokes(who, &callee, "do");
        }
        5..=7 => {
            let to = current.unwrap_or_else(|| random.one_of(names).expect("some").clone());
            stage.delivers(who, &to, "done");
        }
        8 => stage.says(who, json!({ "kind": "step_complete", "step": null, "summary": null })),
        9 if !has_conversation && stage.session(who).order.agent.can_resume() => {
            stage.says(who, json!({ "kind": "agent_session", "id": "c", "model": null }));
        }
        10 => stage.ends(who, i32::from(random.once_in(2))),
        11 if random.once_in(6) => {
            stage.give(&Input::Cancel(who));
            stage.settle();
        }
        _ => stage.says(who, json!({ "kind": "end", "status": "success", "reason": null })),
    }
}

/// Everybody ends, and what was waiting gets its turn, until nothing is left.
fn finish(stage: &mut Stage, seed: u64) {
    stage.deaths.clear();
    for _ in 0..2_000 {
        let is_live = |session: &&Session| session.live().is_some();
        let Some(id) = stage.world().sessions.values().find(is_live).map(|session| session.id) else {
            return;
        };
        let current = stage.session(id).office.current;
        let current = current.map(|call| stage.world().invocations[&call].caller.clone());
        if let Some(to) = current {
            stage.delivers(id, &to, "at last");
        }
        if stage.session(id).live().is_some() {
            stage.ends(id, 0);
        }
    }
    panic!("seed {seed}: somebody runs for ever");
}
