//! One world and what is said to it, written down line by line for a snapshot.

use ostler_agents::Agent;
use ostler_engine::{
    Action, Entry, Input, Overlay, Refusal, RequestId, SessionId,
    answer::Given,
    input::{NewRun, News},
    request::Request,
    run::Terms,
    session::{Session, Status},
};
use serde_json::Value;

use crate::common::{self, Book, all_read_back, decide_well, may_come_twice, said};

/// The only session of most tests.
pub(crate) const S: SessionId = SessionId(1);

/// A world with a clock.
#[derive(Clone)]
pub(crate) struct Play {
    pub(crate) book: Book,
    pub(crate) now_ms: u64,
    log: String,
    spool_seq: u64,
    offset: u64,
}

impl Play {
    pub(crate) fn new() -> Play {
        Play { book: Book::default(), now_ms: 1000, log: String::new(), spool_seq: 0, offset: 0 }
    }

    /// A session of this agent whose process runs.
    pub(crate) fn running(agent: Agent) -> Play {
        Play::with_terms(agent, Terms::default())
    }

    pub(crate) fn with_terms(agent: Agent, terms: Terms) -> Play {
        let mut play = Play::ordered(common::order(agent, terms));
        play.started();
        play.forget();
        play
    }

    pub(crate) fn ordered(new: NewRun) -> Play {
        let mut play = Play::new();
        play.give(Input::CreateRun(Box::new(new)));
        play
    }

    /// Something happens. A report comes twice, and changes nothing the second time.
    pub(crate) fn try_give(&mut self, input: &Input) -> Result<(), Refusal> {
        let nothing = Overlay::default();
        let decision = decide_well(&self.book.world, &nothing, self.now_ms, input)?;
        for entry in &decision.entries {
            self.log.push_str(&event_line(entry));
            let actions = decision.actions.iter().filter(|(name, _)| name.seq == entry.seq);
            actions.for_each(|(_, action)| self.log.push_str(&action_line(action)));
        }
        all_read_back(&decision.overlay);
        self.book.add(&decision.entries, decision.overlay);
        if may_come_twice(input) {
            let again = decide_well(&self.book.world, &nothing, self.now_ms, input);
            let again = again.expect("what was taken once is not refused");
            assert_eq!((again.entries, again.actions), (vec![], vec![]), "{input:?} came twice");
        }
        Ok(())
    }

    #[expect(clippy::needless_pass_by_value, reason = "most callers make the input in place")]
    pub(crate) fn give(&mut self, input: Input) {
        self.try_give(&input).unwrap_or_else(|refusal| panic!("{input:?}: {refusal:?}"));
    }

    #[expect(clippy::needless_pass_by_value, reason = "most callers make the input in place")]
    pub(crate) fn refused(&mut self, input: Input) -> Refusal {
        self.try_give(&input).expect_err("it is refused")
    }

    /// The shim of the last launch says something.
    pub(crate) fn shim(&mut self, news: News) {
        let launch = self.session().launches.last().expect("a launch");
        let (launch, known) = (launch.number, launch.spool_seq);
        self.spool_seq = known + 1;
        self.give(Input::Shim { session: S, launch, spool_seq: self.spool_seq, news });
    }

    pub(crate) fn started(&mut self) {
        self.shim(News::Started { pid: 7, began: 1 });
    }

    pub(crate) fn heard(&mut self, item: Value) {
        self.offset += 100;
        let item = said::at(self.offset, item);
        self.shim(News::Heard { item });
    }

    pub(crate) fn stopped(&mut self) {
        self.shim(News::Stopped { cause: "signal".to_owned(), processes: 1, confirmed: true });
    }

    /// A question, and the stop at it.
    pub(crate) fn asks(&mut self, item: Value) {
        self.heard(item);
        self.stopped();
    }

    pub(crate) fn ended(&mut self, code: i32) {
        self.shim(News::Ended { code: Some(code), signal: None, clean: true });
    }

    pub(crate) fn killed(&mut self) {
        self.shim(News::Ended { code: None, signal: Some(15), clean: true });
    }

    pub(crate) fn lost(&mut self) {
        let launch = self.session().launches.last().expect("a launch").number;
        self.give(Input::ShimLost { session: S, launch });
    }

    pub(crate) fn took(&mut self, key: &str) {
        self.shim(News::TookInput { key: key.to_owned() });
    }

    pub(crate) fn read(&mut self, key: &str) {
        self.shim(News::Consumed { key: key.to_owned() });
    }

    /// A process of the last launch asks over the session's socket.
    pub(crate) fn calls(&mut self, key: &str, ask: &Value) {
        let launch = self.session().launches.last().expect("a launch").number;
        self.give(call(launch, key, ask));
    }

    /// It has got the answer.
    pub(crate) fn takes(&mut self, request: u64, key: &str) {
        self.give(Input::Taken { request: RequestId(request), key: key.to_owned() });
    }

    /// It is gone.
    pub(crate) fn parts(&mut self, request: u64, key: &str) {
        self.give(Input::CallerGone { request: RequestId(request), key: key.to_owned() });
    }

    pub(crate) fn answer(&mut self, request: u64, value: &str) {
        self.give(answer(request, value));
    }

    /// Time passes.
    pub(crate) fn wait_ms(&mut self, time_ms: u64) {
        self.now_ms += time_ms;
        self.give(Input::Tick);
    }

    pub(crate) fn session(&self) -> &Session {
        &self.book.world.sessions[&S]
    }

    pub(crate) fn request(&self, id: u64) -> &Request {
        &self.book.world.requests[&RequestId(id)]
    }

    pub(crate) fn status(&self) -> Status {
        let blocking: Vec<&Request> = self.book.world.blocking(S).collect();
        self.session().status(&blocking)
    }

    /// Begins a new page.
    pub(crate) fn forget(&mut self) {
        self.log.clear();
    }

    /// What happened since.
    pub(crate) fn page(&mut self) -> String {
        std::mem::take(&mut self.log)
    }
}

pub(crate) fn call(launch: u32, key: &str, item: &Value) -> Input {
    let ask = Box::new(said::asked(item));
    Input::Call { session: S, launch, key: key.to_owned(), ask, shown: None, pid: 9, began: 2 }
}

pub(crate) fn answer(request: u64, value: &str) -> Input {
    let given = Given { value: Some(value.to_owned()), ..Given::default() };
    Input::Answer { request: RequestId(request), given, printed: None }
}

fn event_line(entry: &Entry) -> String {
    let event = serde_json::to_value(&entry.event).expect("it can be written");
    let kind = event["kind"].as_str().unwrap_or_default().to_owned();
    let left_out =
        ["kind", "spool_seq", "order", "terms", "processes", "confirmed", "cause_", "began", "pid", "trust"];
    format!("{kind}{}\n", fields(&event, &left_out))
}

fn action_line(action: &Action) -> String {
    let deed = serde_json::to_value(&action.what).expect("it can be written");
    let name = deed["do"].as_str().unwrap_or_default().to_owned();
    format!("    → {name}{}\n", fields(&deed, &["do"]))
}

fn fields(value: &Value, left_out: &[&str]) -> String {
    let fields = value.as_object().into_iter().flatten();
    let fields = fields.filter(|(key, value)| !left_out.contains(&key.as_str()) && !value.is_null());
    fields
        .map(|(key, value)| match (key.as_str(), value) {
            ("item", item) => format!(" {}", item["kind"].as_str().unwrap_or_default()),
            ("ask", ask) => format!(" {}", ask["kind"].as_str().unwrap_or_default()),
            ("worktree", worktree) => format!(" {}", worktree["state"]["state"].as_str().unwrap_or_default()),
            (key, Value::String(text)) => format!(" {key}={text:?}"),
            (key, value) => format!(" {key}={value}"),
        })
        .collect()
}
