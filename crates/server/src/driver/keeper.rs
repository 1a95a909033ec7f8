//! The keeper of one session: carries out its actions in order, and listens to its shim.
//!
//! Nothing here decides anything. What an action is about may be long over by the time it is carried out; then there
//! is nothing to do, and it is done.

use std::{
    io,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use ostler_engine::{
    Action, ActionName, CheckpointId, Input, RequestId, SessionId,
    action::Deed,
    input::{FIRST_KEY, News},
    session::{Launch, Session},
};
use ostler_shim::{
    ShimPeer,
    control::Command,
    spool::{Happening, Record},
};
use tokio::{sync::mpsc, time::sleep};

use super::{
    Driver, back, check, checkpoint, forget::forget, gate, install, launch, link::Link, office, orchestrate,
    real_path, records, remains::Remains, thin, values, worktree,
};
use crate::{crash, journal::SubmitError, private};

/// Between two attempts at something that the disk or the system refused.
pub(super) const AGAIN: Duration = Duration::from_millis(500);

/// So often the plan of a launch is tried again whose shim is there already.
const PLANS_MAX: u32 = 60;

/// The most records that are submitted together.
const RECORDS_MAX: usize = 256;

/// So many bytes of them are enough.
const RECORDS_BYTES_MAX: usize = 1 << 20;

pub(super) struct Keeper {
    pub(super) driver: Arc<Driver>,
    pub(super) session: SessionId,
    /// The launch that is listened to.
    pub(super) link: Option<(u32, Link)>,
    /// The launch to look at before anything else.
    first: Option<u32>,
    /// Since when it is listened to, and how often in a row it hung up at once.
    pub(super) attached_at: Instant,
    pub(super) broken: u32,
}

/// What comes next.
enum Next {
    Action(Option<(ActionName, Action)>),
    Record(io::Result<Record>),
}

/// Whether an action starts this launch.
pub(super) fn launches(action: &Action, session: SessionId, launch: u32) -> bool {
    action.session == session && action.what == Deed::Launch { launch }
}

impl Keeper {
    pub(super) fn new(driver: Arc<Driver>, session: SessionId) -> Keeper {
        Keeper { driver, session, link: None, first: None, attached_at: Instant::now(), broken: 0 }
    }

    /// Looks at a launch of the last server's before anything else.
    pub(super) fn attach_first(&mut self, launch: u32) {
        self.first = Some(launch);
    }

    pub(super) async fn run(mut self, mut actions: mpsc::UnboundedReceiver<(ActionName, Action)>) {
        tokio::spawn(private::watch(Arc::clone(&self.driver), self.session));
        if let Some(launch) = self.first.take() {
            // Whoever took the file away, the agent may still look for it. What cannot be written is asked about when
            // something is given again.
            values::given(&self.driver, self.session).await.ok();
            self.attach(launch).await;
            self.driver.recovery.seen();
        }
        loop {
            if self.link.is_none() && self.driver.keepers.leave(&self.session, &actions) {
                return;
            }
            let next = match &mut self.link {
                None => Next::Action(actions.recv().await),
                Some((_, link)) => tokio::select! {
                    record = link.next() => Next::Record(record),
                    action = actions.recv() => Next::Action(action),
                },
            };
            match next {
                Next::Action(Some((name, action))) => self.carry_out(name, action.what).await,
                Next::Action(None) => return,
                Next::Record(Ok(record)) => self.report(record).await,
                Next::Record(Err(_)) => self.shim_left().await,
            }
        }
    }

    pub(super) fn read_session<T>(&self, read: impl FnOnce(&Session) -> T) -> Option<T> {
        self.driver.journal.world().sessions.get(&self.session).map(read)
    }

    pub(super) fn directory(&self, launch: u32) -> PathBuf {
        self.driver.home.launch(self.session, launch)
    }

    pub(super) fn shim(&self, launch: u32) -> ShimPeer {
        let marker = self.driver.marker(self.session, &launch.to_string());
        self.driver.shim(&self.directory(launch), &marker)
    }

    /// The last record of a launch that is committed.
    pub(super) fn known_seq(&self, launch: u32) -> Option<u64> {
        let known = |live: &Launch| (live.number == launch).then_some(live.spool_seq);
        self.read_session(|session| session.live().and_then(known)).flatten()
    }

    async fn carry_out(&mut self, name: ActionName, deed: Deed) {
        match deed {
            Deed::Launch { launch } => self.launch(launch).await,
            Deed::Deliver { launch, parcel, text, long } => self.deliver(launch, parcel, text, long).await,
            // It may have been taken back, for want of what the agent was given.
            Deed::GoOn { launch, .. } if self.is_withheld(launch, name) => {}
            Deed::GoOn { launch, after } => {
                let command = Command::GoOn { after: Some(after) };
                self.control(launch, command, ["before go on", "after go on"]).await;
            }
            Deed::Stop { launch } => {
                self.control(launch, Command::Stop, ["before stop", "after stop"]).await;
                // To stop once more somebody who was sent on meanwhile would be wrong. Everything else does no harm
                // when it is done again, and nobody waits until it is written down.
                self.done(name).await;
                return;
            }
            Deed::End { launch, grace_ms } => {
                self.control(launch, Command::Cancel { grace_ms }, ["before end", "after end"]).await;
            }
            Deed::CloseInput { launch } => {
                let command = Command::CloseInput { key: "close".to_owned() };
                self.control(launch, command, ["before close input", "after close input"]).await;
            }
            Deed::Check { number } => return check::start(&self.driver, self.session, number, name),
            Deed::SteerCheck { number } => {
                self.steer_check(number, ["before steer check", "after steer check"]);
            }
            Deed::EndCheck { number } => self.steer_check(number, ["before end check", "after end check"]),
            Deed::LookInVault { request } => return self.look_in_vault(name, request),
            Deed::ProvideValues => return self.provide_values(name).await,
            Deed::RemoveValues => self.remove_values().await,
            Deed::Install { request } => return install::start(&self.driver, self.session, request, name),
            Deed::EndInstall { request } => {
                crash::site("before end install");
                install::end(&self.driver, request);
                crash::site("after end install");
            }
            Deed::Checkpoint { number } => {
                checkpoint::start(&self.driver, self.session, CheckpointId(number), name);
                return;
            }
            Deed::Restore { number, before, commit } => {
                let [target, before] = [number, before].map(CheckpointId);
                checkpoint::start_restore(&self.driver, self.session, [target, before], commit, name);
                return;
            }
            deed @ (Deed::Collect { .. }
            | Deed::GateCheck { .. }
            | Deed::Verify { .. }
            | Deed::ReadVerdict { .. }
            | Deed::Report { .. }
            | Deed::ClearGate { .. }) => return gate::start(&self.driver, deed, name),
            Deed::RunGraph => return orchestrate::start(&self.driver, self.session, name),
            deed @ (Deed::Seat { .. } | Deed::Examine { .. } | Deed::Listen { .. }) => {
                return self.office(deed, name).await;
            }
            Deed::Thin { number } => return thin::take(&self.driver, self.session, number, name),
            Deed::TestWorktree { number } => return self.test_worktree(number, name).await,
            Deed::MakeWorktree | Deed::MergeWorktree | Deed::DiscardWorktree => {
                return self.change_worktree(name, &deed).await;
            }
        }
        self.note_done(name).await;
    }

    /// Looks who is called, at what is brought, or who still prints, before anything else that this agent has said.
    async fn office(&self, deed: Deed, name: ActionName) {
        match deed {
            Deed::Seat { invocation } => office::seat(&self.driver, invocation, name).await,
            Deed::Examine { delivery } => {
                office::examine_delivery(&self.driver, self.session, *delivery, name).await;
            }
            Deed::Listen { launch } => {
                office::listen(&self.driver, self.session, launch, &self.directory(launch), name).await;
            }
            _ => {}
        }
    }

    fn steer_check(&self, number: u32, [before, after]: [&'static str; 2]) {
        crash::site(before);
        check::steer(&self.driver, self.session, number);
        crash::site(after);
    }

    /// Says that something was done, without waiting until it is written down.
    async fn note_done(&self, name: ActionName) {
        crash::site("before done");
        // In the queue before anything that follows from it.
        let queued = self.driver.journal.queue(None, Some(name), None).await;
        let driver = Arc::clone(&self.driver);
        tokio::spawn(async move {
            let written = match queued {
                Ok(answer) => answer.await.is_ok_and(|answer| answer.is_ok()),
                Err(_) => false,
            };
            if !written {
                say_done(&driver, name).await;
            }
        });
    }

    /// Whether a process was held again after this was wanted.
    fn is_withheld(&self, launch: u32, name: ActionName) -> bool {
        let later = |live: &Launch| live.number == launch && name.seq < live.withheld_at;
        self.read_session(|session| session.live().is_some_and(later)).unwrap_or(false)
    }

    /// Looks beside everything else: what the vault refers to may take its time.
    fn look_in_vault(&self, name: ActionName, request: RequestId) {
        let driver = Arc::clone(&self.driver);
        tokio::spawn(async move {
            crash::site("before look in vault");
            let looking = Arc::clone(&driver);
            let found = tokio::task::spawn_blocking(move || values::look(&looking, request)).await;
            crash::site("after look in vault");
            let Some(names) = found.ok().flatten() else { return say_done(&driver, name).await };
            let input = Input::InVault { request, names };
            while driver.journal.submit(input.clone(), Some(name)).await.is_err() {
                sleep(AGAIN).await;
            }
        });
    }

    async fn provide_values(&mut self, name: ActionName) {
        crash::site("before provide values");
        let provided = values::given(&self.driver, self.session).await;
        crash::site("after provide values");
        let Err(message) = provided else { return self.done(name).await };
        let input = Input::ValuesNotWritten { session: self.session, message };
        while self.driver.journal.submit(input.clone(), Some(name)).await.is_err() {
            sleep(AGAIN).await;
        }
    }

    async fn remove_values(&self) {
        crash::site("before remove values");
        loop {
            // Somebody may hold the file for as long as the vault takes to look something up.
            let (driver, session) = (Arc::clone(&self.driver), self.session);
            let removed = tokio::task::spawn_blocking(move || values::remove(&driver, session)).await;
            if matches!(removed, Ok(Ok(()))) {
                break;
            }
            sleep(AGAIN).await;
        }
        crash::site("after remove values");
    }

    async fn done(&self, name: ActionName) {
        crash::site("before done");
        say_done(&self.driver, name).await;
    }

    /// Waits for it: whoever goes on there is started when nothing of the test runs any more.
    async fn test_worktree(&self, number: u32, name: ActionName) {
        back::test(&self.driver, self.session, number, name).await;
    }

    async fn change_worktree(&mut self, name: ActionName, deed: &Deed) {
        let [before, after] = match deed {
            Deed::MergeWorktree => ["before merge", "after merge"],
            Deed::DiscardWorktree => ["before discard", "after discard"],
            _ => ["before make worktree", "after make worktree"],
        };
        crash::site(before);
        let news = worktree::carry_out(&self.driver, self.session, deed).await;
        crash::site(after);
        let input = Input::Worktree { session: self.session, news };
        while self.driver.journal.submit(input.clone(), Some(name)).await.is_err() {
            sleep(AGAIN).await;
        }
    }

    async fn launch(&mut self, number: u32) {
        let Some(after_seq) = self.known_seq(number) else { return };
        let directory = self.directory(number);
        // Looked at before anything can fail: a shim that an earlier server has started is never "not launched".
        let Some(found) = self.look_surely(number).await else { return };
        let is_new = after_seq == 0 && found == Remains::Nothing;
        let plan = match self.plan(number, is_new).await {
            Some(Ok(plan)) => plan,
            Some(Err(message)) if is_new => return self.not_launched(number, message).await,
            // Its shim is there, and only what it is told first is not known.
            Some(Err(_)) => return self.attach(number).await,
            None => return,
        };
        if is_new {
            crash::site("before launch");
            let started = launch::start(&self.driver.program, &directory, &plan.file).await;
            crash::site("after launch");
            if let Err(error) = started
                && self.look_surely(number).await == Some(Remains::Nothing)
            {
                return self.not_launched(number, error.to_string()).await;
            }
        }
        self.attach(number).await;
        if !plan.first_input.is_empty() && self.known_seq(number).is_some() {
            crash::site("before first input");
            let (key, text) = (FIRST_KEY.to_owned(), plan.first_input);
            // That it fits was seen to when it was planned; who does not read it is judged by how it ends.
            self.tell(number, Command::Input { key, text, go_on: false, asked: None }).await;
            crash::site("after first input");
        }
    }

    /// Plans a launch and provides its values. For a shim that is there already, this is tried again for a while.
    async fn plan(&self, number: u32, is_new: bool) -> Option<Result<launch::Plan, String>> {
        let mut tries = 1;
        loop {
            let planned = self.read_session(|session| {
                let launch = session.launches.iter().find(|launch| launch.number == number)?;
                Some((session.clone(), launch.clone()))
            });
            let (session, launch) = planned.flatten()?;
            let driver = Arc::clone(&self.driver);
            let planned = tokio::task::spawn_blocking(move || launch::plan(&driver, &session, &launch)).await;
            let planned = planned.map_err(|error| error.to_string());
            let planned = planned.and_then(|plan| plan.map_err(|error| error.to_string()));
            let planned = match planned {
                Ok(mut plan) => values::given(&self.driver, self.session).await.map(|given| {
                    plan.file.given = given;
                    plan
                }),
                Err(message) => Err(message),
            };
            if planned.is_ok() || is_new || tries == PLANS_MAX {
                return Some(planned);
            }
            tries += 1;
            sleep(AGAIN).await;
        }
    }

    async fn not_launched(&mut self, launch: u32, message: String) {
        crash::site("before not launched");
        self.submit(Input::LaunchFailed { session: self.session, launch, message }).await;
        crash::site("after not launched");
        self.forget_ended(launch);
    }

    /// Takes away what only a launch that lives needs.
    pub(super) fn forget_ended(&self, launch: u32) {
        if self.known_seq(launch).is_none() {
            forget(&self.directory(launch));
        }
    }

    /// Submits something, however long the disk refuses.
    pub(super) async fn submit(&self, input: Input) {
        while self.driver.journal.submit(input.clone(), None).await.is_err() {
            sleep(AGAIN).await;
        }
    }

    /// Reports a record, and with it those that are there already.
    async fn report(&mut self, first: Record) {
        let Some((launch, link)) = &mut self.link else { return };
        let launch = *launch;
        let mut records = vec![first];
        let mut bytes = link.line_bytes();
        // Nothing more is read before these are committed; what the agent says meanwhile waits in its spool.
        while records.len() < RECORDS_MAX
            && bytes < RECORDS_BYTES_MAX
            && let Some(record) = link.ready().await
        {
            bytes += link.line_bytes();
            records.push(record);
        }
        let records = self.believed(launch, records);
        let is_end = records
            .iter()
            .any(|record| matches!(record.what, Happening::Ended { .. } | Happening::NotStarted { .. }));
        let last_seq = records.last().map_or(0, |record| record.seq);
        if is_end {
            self.link = None;
            self.released(launch).await;
        }
        // A shim that could not look at the tree, for want of descriptors, has left some of it.
        if records.iter().any(|record| matches!(record.what, Happening::Ended { clean: false, .. })) {
            self.sweep_left(launch).await;
        }
        self.report_whole(launch, records).await;
        if is_end {
            self.forget_ended(launch);
        } else if self.known_seq(launch).is_some_and(|known| known < last_seq) {
            // One was left out on the way: listen again from where it is known.
            self.attach(launch).await;
        }
    }

    /// Takes an end that the shim of the launch did not write out of its records: another process wrote it into the spool.
    pub(super) fn believed(&self, launch: u32, mut records: Vec<Record>) -> Vec<Record> {
        let marker = self.driver.marker(self.session, &launch.to_string());
        let began = |session: &Session| session.live().filter(|it| it.number == launch).map(|it| it.at_ms);
        let Some(at_ms) = self.read_session(began).flatten() else { return records };
        for record in &mut records {
            if !self.driver.end_secret.is_believed(&marker, at_ms, record) {
                let said =
                    serde_json::json!({ "session": self.session, "launch": launch, "seq": record.seq });
                self.driver.log.error("shim.forged_end", said);
                record.what = Happening::Forged;
            }
        }
        records
    }

    /// Ends what is left of the tree of a launch whose shim is gone.
    async fn sweep_left(&self, launch: u32) {
        let marker = self.driver.marker(self.session, &launch.to_string());
        let sweep = self.driver.orphan_sweep(self.session, &marker, &self.directory(launch));
        tokio::task::spawn_blocking(move || sweep.run()).await.ok();
    }

    /// Submits records, and says where some are missing between them: a shim passes over what it cannot read.
    async fn report_whole(&mut self, launch: u32, mut records: Vec<Record>) {
        while let Some(mut known) = self.known_seq(launch) {
            let is_behind_gap = |record: &Record| {
                let gap = record.seq > known + 1;
                known = record.seq;
                gap
            };
            let Some(at) = records.iter().position(is_behind_gap) else { break };
            let rest = records.split_off(at);
            self.report_all(launch, records).await;
            let missing = rest[0].seq - 1;
            self.note_damage(launch, missing, &format!("record {missing} cannot be read")).await;
            records = rest;
        }
        self.report_all(launch, records).await;
    }

    /// Puts into the journal that something of a spool is lost.
    pub(super) async fn note_damage(&self, launch: u32, spool_seq: u64, damage: &str) {
        let news = News::Unknown { what: format!("the spool is damaged: {damage}") };
        self.submit(Input::Shim { session: self.session, launch, spool_seq, news }).await;
    }

    /// Submits records in their order, until all are committed.
    pub(super) async fn report_all(&mut self, launch: u32, mut records: Vec<Record>) {
        let session = self.session;
        for record in &mut records {
            let path = self.read_session(|session| real_path::asked(session, record)).flatten();
            if let Some(path) = path {
                real_path::put(record, path).await;
            }
        }
        let mut records: Vec<(u64, News)> =
            records.into_iter().map(|Record { seq, what, .. }| (seq, records::news(what))).collect();
        while !records.is_empty() {
            let input = Input::ShimRecords { session, launch, records: records.clone() };
            match self.driver.journal.submit(input, None).await {
                Ok(_) | Err(SubmitError::Closed) => return,
                Err(_) => {}
            }
            sleep(AGAIN).await;
            let known = self.known_seq(launch).unwrap_or(u64::MAX);
            records.retain(|(seq, _)| *seq > known);
        }
    }
}

/// Writes down that an action is done, however long the disk refuses.
async fn say_done(driver: &Driver, name: ActionName) {
    while let Err(error) = driver.journal.done(name).await {
        if matches!(error, SubmitError::Closed) {
            return;
        }
        sleep(AGAIN).await;
    }
}
