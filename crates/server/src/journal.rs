//! The one thread that writes. It takes what was submitted, lets the engine decide, commits the whole group, and only
//! then publishes the new world, hands out the actions and answers.
//!
//! If a commit fails, what was decided is dropped and everybody is told: nothing acts on what is not committed.

mod contention;
mod load;
mod open_actions;
mod rows;
mod tail;

use std::{
    collections::BTreeSet,
    fmt, mem,
    sync::{
        Arc, RwLock, RwLockReadGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use ostler_engine::{
    Action, ActionName, Decision, Input, Overlay, Refusal, SessionId, World, decide, input::Made,
};
use ostler_store::{Commit, CommitError, ReadError, Reads, Sqlite, Store, StoredReply};
use serde_json::json;
use tokio::sync::{mpsc, oneshot, watch};

use self::open_actions::OpenActions;
use crate::{clock::Clock, crash, log::Log, metrics::Times, reserve::Reserve};

pub use contention::lock_holders;
pub(crate) use contention::{WriteRefusal, open, watch_locks};
pub(crate) use load::{Found, IDS_FROM, Loaded, entry, kept, load, made_under, read, rebuild, replay};
pub use load::{LoadError, Replayed};
pub(crate) use tail::{Happened, Tail};

/// The most that is committed at once.
const GROUP_MAX: usize = 64;

/// The most that may wait to be written; beyond it whoever submits has to wait.
const QUEUE_MAX: usize = 1024;

/// Where to submit, and what is known.
#[derive(Debug, Clone)]
pub(crate) struct Journal {
    queue: mpsc::Sender<Submission>,
    world: Arc<RwLock<World>>,
    seq: watch::Receiver<u64>,
    tail: Arc<Tail>,
    writing: Arc<Writing>,
    clock: Clock,
}

/// How writing goes.
#[derive(Debug)]
pub(crate) struct Writing {
    /// How long commits took.
    pub(crate) times: Times,
    /// How many were refused.
    pub(crate) failures: AtomicU64,
    is_failing: AtomicBool,
}

impl Writing {
    /// Whether the last commit was refused.
    pub(crate) fn is_failing(&self) -> bool {
        self.is_failing.load(Ordering::Relaxed)
    }
}

/// Something that happened, and who waits for its commit.
#[derive(Debug)]
pub(crate) struct Submission {
    /// What happened; none if only something was done.
    input: Option<Input>,
    /// The action that this is the end of.
    done: Option<ActionName>,
    /// The client's key.
    key: Option<Key>,
    /// A fact of the database, by its name, that is written instead.
    fact: Option<(&'static str, String)>,
    answer: oneshot::Sender<Result<Made, SubmitError>>,
}

/// A client's idempotency key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    /// The key.
    pub(crate) key: String,
    /// Stands for what was asked under it.
    pub(crate) fingerprint: String,
}

/// Why something was not written. Nothing has changed.
#[derive(Debug)]
pub(crate) enum SubmitError {
    /// The engine says no.
    Refused(Box<Refusal>),
    /// The same key was used for something else.
    KeyReused,
    /// The store says no.
    Store(WriteRefusal),
    /// The server is about to end.
    Closed,
}

/// Actions that are to be carried out, in order.
pub(crate) type Outbox = mpsc::UnboundedReceiver<(ActionName, Action)>;

impl Journal {
    /// Starts the thread.
    pub(crate) fn start(
        store: Sqlite,
        loaded: Loaded,
        clock: Clock,
        reserve: Reserve,
        log: Arc<Log>,
    ) -> (Journal, Outbox) {
        let (queue, submissions) = mpsc::channel(QUEUE_MAX);
        // Without a bound, because whoever takes actions submits too: a full queue could wait for itself. What is
        // in it is in the outbox table anyway.
        let (actions, outbox) = mpsc::unbounded_channel();
        let (publish_seq, seq) = watch::channel(loaded.world.last_seq);
        let tail = Arc::new(Tail::behind(loaded.world.last_seq));
        let (failures, is_failing) = (AtomicU64::new(0), AtomicBool::new(false));
        let writing = Arc::new(Writing { times: Times::new(), failures, is_failing });
        let world = Arc::new(RwLock::new(loaded.world));
        let open = loaded.open_actions.iter().map(|(name, action)| (*name, action.session)).collect();
        for action in loaded.open_actions {
            actions.send(action).expect("the receiver is in this function");
        }
        let writer = Writer {
            store,
            world: Arc::clone(&world),
            open,
            revived: BTreeSet::new(),
            clock,
            actions,
            tail: Arc::clone(&tail),
            publish_seq,
            reserve,
            writing: Arc::clone(&writing),
            log,
        };
        thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || {
                let _end = EndOfAll;
                writer.run(submissions);
            })
            .expect("a thread can be started when the server starts");
        (Journal { queue, world, seq, tail, writing, clock }, outbox)
    }

    /// What is known now.
    pub(crate) fn world(&self) -> RwLockReadGuard<'_, World> {
        self.world.read().expect("the writer does not panic while it publishes")
    }

    /// Tells when something was committed.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.seq.clone()
    }

    /// What was committed of late.
    pub(crate) fn tail(&self) -> &Tail {
        &self.tail
    }

    /// How writing goes.
    pub(crate) fn writing(&self) -> &Writing {
        &self.writing
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Submits, and waits for the commit.
    pub(crate) async fn submit(&self, input: Input, done: Option<ActionName>) -> Result<Made, SubmitError> {
        self.queue(Some(input), done, None).await?.await.map_err(|_| SubmitError::Closed)?
    }

    /// Submits what a client wants under its key, and waits for the commit.
    pub(crate) async fn submit_for(&self, input: Input, key: Option<Key>) -> Result<Made, SubmitError> {
        self.queue(Some(input), None, key).await?.await.map_err(|_| SubmitError::Closed)?
    }

    /// Says that something was done, and waits for the commit.
    pub(crate) async fn done(&self, action: ActionName) -> Result<(), SubmitError> {
        let answer = self.queue(None, Some(action), None).await?;
        answer.await.map_err(|_| SubmitError::Closed)?.map(|_| ())
    }

    /// Keeps a client's key under which something was done that the journal does not know.
    pub(crate) async fn remember(&self, key: Key) -> Result<(), SubmitError> {
        let answer = self.queue(None, None, Some(key)).await?;
        answer.await.map_err(|_| SubmitError::Closed)?.map(|_| ())
    }

    /// Writes a fact about the state directory into the database, on a thread that may wait.
    pub(crate) fn write_fact(&self, name: &'static str, value: String) -> Result<(), SubmitError> {
        let (answer, receiver) = oneshot::channel();
        let submission = Submission { input: None, done: None, key: None, fact: Some((name, value)), answer };
        self.queue.blocking_send(submission).map_err(|_| SubmitError::Closed)?;
        receiver.blocking_recv().map_err(|_| SubmitError::Closed)?.map(drop)
    }

    /// Submits without waiting; the order is kept.
    pub(crate) async fn queue(
        &self,
        input: Option<Input>,
        done: Option<ActionName>,
        key: Option<Key>,
    ) -> Result<oneshot::Receiver<Result<Made, SubmitError>>, SubmitError> {
        let (answer, receiver) = oneshot::channel();
        let submission = Submission { input, done, key, fact: None, answer };
        self.queue.send(submission).await.map_err(|_| SubmitError::Closed)?;
        Ok(receiver)
    }
}

/// A server that cannot write is none: it ends, and the next one goes on from what is committed.
struct EndOfAll;

impl Drop for EndOfAll {
    fn drop(&mut self) {
        if thread::panicking() {
            std::process::abort();
        }
    }
}

/// What the thread owns.
struct Writer {
    store: Sqlite,
    world: Arc<RwLock<World>>,
    /// Actions that are not done, and whose they are.
    open: OpenActions,
    /// Sessions that were brought back because somebody asked for something.
    revived: BTreeSet<SessionId>,
    clock: Clock,
    actions: mpsc::UnboundedSender<(ActionName, Action)>,
    tail: Arc<Tail>,
    publish_seq: watch::Sender<u64>,
    reserve: Reserve,
    writing: Arc<Writing>,
    log: Arc<Log>,
}

type Answer = (oneshot::Sender<Result<Made, SubmitError>>, Made);

impl Writer {
    fn run(mut self, mut submissions: mpsc::Receiver<Submission>) {
        let mut waiting = Vec::with_capacity(GROUP_MAX);
        while submissions.blocking_recv_many(&mut waiting, GROUP_MAX) > 0 {
            self.write(waiting.drain(..));
        }
    }

    /// Decides, commits, publishes, answers: in this order.
    fn write(&mut self, submissions: impl Iterator<Item = Submission>) {
        let mut group = Group::default();
        for submission in submissions {
            let Submission { input, done, key, fact, answer } = submission;
            if let Some((name, value)) = fact {
                let set = |store: &mut Sqlite| store.set_meta(name, &value).map(|()| Made::default());
                let written = contention::write(&mut self.store, &self.log, set);
                answer.send(written.map_err(|error| SubmitError::Store(self.refusal(&error)))).ok();
                continue;
            }
            match self.take(&mut group, input.as_ref(), done, key) {
                Ok(made) => group.answers.push((answer, made)),
                Err(error) => drop(answer.send(Err(error))),
            }
        }
        // What several of them have changed is written once, as the last of them left it.
        if let Some(last) = group.commits.last_mut() {
            last.upserts = rows::projections(&group.overlay.tables, group.overlay.last_seq).collect();
        }
        crash::site("before commit");
        if !group.commits.is_empty()
            && let Err(error) = self.commit(&group.commits)
        {
            let refusal = self.refusal(&error);
            let tell = |(answer, _): Answer| drop(answer.send(Err(SubmitError::Store(refusal.again()))));
            group.answers.into_iter().for_each(tell);
            return;
        }
        crash::site("after commit");
        self.publish(group);
    }

    /// Commits, on a full disk with the room that was kept for that: whoever fills it must still be ended.
    fn commit(&mut self, commits: &[Commit]) -> Result<(), CommitError> {
        let began = Instant::now();
        let mut result = contention::write(&mut self.store, &self.log, |store| store.commit(commits));
        while matches!(result, Err(CommitError::Full { .. })) && self.reserve.give() {
            result = contention::write(&mut self.store, &self.log, |store| store.commit(commits));
        }
        self.writing.times.add(began.elapsed());
        self.writing.is_failing.store(result.is_err(), Ordering::Relaxed);
        match &result {
            Ok(()) => self.reserve.renew(),
            Err(error) => {
                self.writing.failures.fetch_add(1, Ordering::Relaxed);
                let message = self.refusal(error).to_string();
                self.log.error("journal.not_written", json!({ "message": message }));
            }
        }
        result
    }

    fn refusal(&self, error: &CommitError) -> WriteRefusal {
        WriteRefusal::of(error, self.store.path())
    }

    fn publish(&mut self, group: Group) {
        let Group { overlay, commits, actions, done, answers } = group;
        let last_seq = overlay.last_seq;
        let mut touched = mem::take(&mut self.revived);
        touched.extend(overlay.tables.sessions.keys());
        touched.extend(done.iter().filter_map(|name| self.open.remove(name)));
        for (name, action) in &actions {
            self.open.insert(*name, action.session);
        }
        {
            let mut world = self.world.write().expect("nobody panics while reading");
            world.absorb(overlay);
            // What is over would be kept for as long as the server runs. Whoever carries something out looks at it.
            for session in touched {
                if !self.open.has_any(session) {
                    world.forget(session);
                }
            }
            world.forget_calls();
        }
        for action in actions {
            // The driver ends only with the server.
            self.actions.send(action).ok();
        }
        self.tail.extend(commits.into_iter().flat_map(|commit| commit.events));
        if last_seq > 0 {
            self.publish_seq.send_replace(last_seq);
        }
        for (answer, made) in answers {
            // Who submitted may have lost interest.
            answer.send(Ok(made)).ok();
        }
    }

    /// Decides about one submission and adds what follows to the group.
    fn take(
        &mut self,
        group: &mut Group,
        input: Option<&Input>,
        done: Option<ActionName>,
        key: Option<Key>,
    ) -> Result<Made, SubmitError> {
        if let Some(key) = &key
            && let Some(made) = self.answered(group, key)?
        {
            return Ok(made);
        }
        let done = done.filter(|name| self.open.contains(name) && !group.done.contains(name));
        let decision = match input {
            None => Decision::default(),
            Some(input) => self.decide(group, input)?,
        };
        let made = decision.made;
        let is_empty = decision.entries.is_empty() && done.is_none() && key.is_none();
        if is_empty {
            return Ok(made);
        }
        let reply = key.map(|Key { key, fingerprint }| StoredReply {
            key,
            fingerprint,
            at_ms: self.clock.now_ms(),
            status: 200,
            body: serde_json::to_string(&made).expect("what was made is plain data"),
        });
        group.commits.push(Commit {
            events: decision.entries.iter().map(rows::event).collect(),
            upserts: Vec::new(),
            actions: decision.actions.iter().map(rows::action).collect(),
            done: done.iter().map(|name| rows::action_name(*name)).collect(),
            reply,
        });
        group.done.extend(done);
        group.actions.extend(decision.actions);
        World::stack(&mut group.overlay, decision.overlay);
        Ok(made)
    }

    fn decide(&mut self, group: &Group, input: &Input) -> Result<Decision, SubmitError> {
        self.revive(input).map_err(|error| SubmitError::Store(WriteRefusal::Failed(error.to_string())))?;
        let world = self.world.read().expect("nobody panics while writing");
        decide(&world, &group.overlay, self.clock.now_ms(), input)
            .map_err(|refusal| SubmitError::Refused(Box::new(refusal)))
    }

    /// Brings back what an input is about, if it was over when the server started.
    fn revive(&mut self, input: &Input) -> Result<(), ReadError> {
        let Some(subject) = load::subject(input) else { return Ok(()) };
        if load::knows(&self.world.read().expect("nobody panics while writing"), subject) {
            return Ok(());
        }
        let found = load::find(&self.store, subject)?;
        let mut world = self.world.write().expect("nobody panics while reading");
        for it in found {
            if let Found::Session(session) = &it {
                self.revived.insert(session.id);
            }
            it.put(&mut world);
        }
        Ok(())
    }

    /// What was answered under this key before.
    fn answered(&self, group: &Group, key: &Key) -> Result<Option<Made>, SubmitError> {
        let mut in_group = group.commits.iter().filter_map(|commit| commit.reply.as_ref());
        let in_group = in_group.find(|reply| reply.key == key.key).cloned();
        let stored = match in_group {
            Some(reply) => Some(reply),
            None => self
                .store
                .reply(&key.key)
                .map_err(|error| SubmitError::Store(WriteRefusal::Failed(error.to_string())))?,
        };
        match stored {
            None => Ok(None),
            Some(reply) if reply.fingerprint == key.fingerprint => serde_json::from_str(&reply.body)
                .map(Some)
                .map_err(|error| SubmitError::Store(WriteRefusal::Failed(error.to_string()))),
            Some(_) => Err(SubmitError::KeyReused),
        }
    }
}

/// What will be committed together.
#[derive(Default)]
struct Group {
    overlay: Overlay,
    commits: Vec<Commit>,
    actions: Vec<(ActionName, Action)>,
    done: Vec<ActionName>,
    answers: Vec<Answer>,
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubmitError::Refused(refusal) => write!(f, "refused: {refusal:?}"),
            SubmitError::KeyReused => write!(f, "the key was used for something else"),
            SubmitError::Store(refusal) => write!(f, "{refusal}"),
            SubmitError::Closed => write!(f, "the server is about to end"),
        }
    }
}

impl std::error::Error for SubmitError {}
