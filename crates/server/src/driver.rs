//! Carries out what the engine wants done, and reports what came of it.
//!
//! Each session that has something to do has a keeper: a task that carries out its actions one after the other and
//! listens to its shim. On start every session that was running gets one, before any action is carried out: what is
//! really there is looked at first.

mod attachment;
mod back;
pub(crate) mod callers;
mod check;
mod checkpoint;
pub(crate) mod executor;
mod forget;
pub(crate) mod gate;
mod install;
mod keeper;
mod launch;
mod link;
mod mailboxes;
mod office;
pub(crate) mod orchestrate;
mod reach;
mod real_path;
mod records;
mod recovery;
mod remains;
mod sweep;
mod tell;
mod thin;
pub(crate) mod values;
pub(crate) mod work_secrets;
mod worktree;

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, Weak},
};

use ostler_engine::{Action, ActionName, Input, ProjectId, RequestId, SessionId, phases::GateName};
use ostler_shim::{LockLimit, ShimPeer};
use ostler_store::SqliteReader;
use serde_json::json;
use tokio::sync::{Notify, Semaphore};

use self::{
    executor::request::Executions, keeper::Keeper, mailboxes::Mailboxes, reach::UnreachedShims,
    recovery::Recovery,
};
use crate::{
    consent::{self, ConfigConsent},
    crash,
    end_secret::EndSecret,
    home::Home,
    journal::{Journal, Outbox},
    journal_fact::JournalFact,
    listening_socket::TakenSockets,
    log::Log,
    office::kept::Texts,
    secrets::Secrets,
    turns::{Places, Turns},
};

pub(crate) use self::{
    checkpoint::{diff as diff_checkpoint, prune},
    orchestrate::command::find as find_tests,
    worktree::{Place, diff},
};

/// Says something to a shim beside its keeper; only what leaves no trace in the journal.
pub(crate) async fn tell(
    driver: &Driver,
    session: SessionId,
    launch: u32,
    command: ostler_shim::control::Command,
) -> Result<(), String> {
    let (directory, marker) =
        (driver.home.launch(session, launch), driver.marker(session, &launch.to_string()));
    let mut link = link::Link::open(&driver.shim(&directory, &marker), u64::MAX)
        .await
        .map_err(|error| error.to_string())?;
    match link.ask(command).await.map_err(|error| error.to_string())? {
        ostler_shim::control::Reply::Refused(why) => Err(why),
        _ => Ok(()),
    }
}

/// Ends the agent of a launch that the journal does not know any more, and says whether there was one. For when there is
/// no server.
pub(crate) fn end_unknown(
    (mark, baseline): (&str, Option<LockLimit>),
    session: SessionId,
    launch: &str,
    directory: &Path,
) -> bool {
    if remains::look(directory) != remains::Remains::Held {
        return false;
    }
    // What cannot be ended by its lock is found by its mark.
    ostler_shim::end_lock_holder(directory).ok();
    let (marker, directory) = (marker(session, launch, mark), directory.to_path_buf());
    sweep::OrphanSweep { marker, directory, baseline, since: None }.run();
    true
}

/// What the processes of a launch or check carry in their environment.
fn marker(session: SessionId, what: &str, mark: &str) -> String {
    format!("{session}.{what}@{mark}")
}

/// What every keeper needs.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) journal: Journal,
    /// What the journal has kept of those who are over.
    kept: Mutex<SqliteReader>,
    pub(crate) home: Home,
    pub(crate) log: Arc<Log>,
    /// The program that is started as a shim.
    pub(crate) program: PathBuf,
    /// Tells the processes of this state directory from those of another.
    mark: String,
    /// The limit of file locks below which a process is an agent's.
    baseline: LockLimit,
    /// How many files an agent may have open: what the user had, not what the server needs.
    open_files_max: Option<u64>,
    /// To tell the ends that shims wrote from others.
    end_secret: EndSecret,
    /// What of the user's configuration the server may run.
    pub(crate) consent: Arc<ConfigConsent>,
    /// The values that agents are given.
    pub(crate) secrets: Secrets,
    /// What is too long to be said to an agent.
    pub(crate) texts: Texts,
    keepers: Mailboxes<SessionId, (ActionName, Action)>,
    /// Checks that are running, and how to make them look again at what is wanted of them.
    checks: Mutex<HashMap<(SessionId, u32), Arc<Notify>>>,
    /// The keys of the calls whose callers are watched.
    callers: Mutex<HashSet<String>>,
    /// Commands of gates that are running, and how to end them.
    gate_commands: Mutex<HashMap<(GateName, u32), Arc<Notify>>>,
    /// Installations that are running, and how to end them.
    installs: Mutex<HashMap<RequestId, Arc<Notify>>>,
    /// To write the values of a session: its keeper and those who wait at its socket all see to them.
    value_files: Turns<SessionId>,
    /// What is masked in the words of a session. Its file could be exchanged by any process of the user.
    masked_values: Mutex<HashMap<SessionId, values::MaskedValues>>,
    /// To answer a request with a value or a file, which is put in its place before the answer is known.
    pub(crate) answers: Turns<RequestId>,
    /// To begin a verifier, by the login that it uses.
    verifier_logins: Turns<PathBuf>,
    /// The gates whose verifier waits for its turn at a login.
    waiting_verifiers: Mutex<HashSet<GateName>>,
    /// How many checkpoints may be made at once.
    checkpoints: Arc<Semaphore>,
    /// Whose files are being kept, or exchanged. A restore that hangs holds up its own project alone.
    files: Places<ProjectId>,
    /// When old checkpoints were let go of last, by the directory of a session.
    tidied: Mutex<HashMap<PathBuf, u64>>,
    /// Which secrets were said to be in which files of a session since the server began.
    said_secrets: Mutex<HashSet<(SessionId, String, String)>>,
    /// What main agents have asked, in the order in which each has said it.
    errands: Mailboxes<SessionId, (ActionName, u64)>,
    /// How many tasks of a main agent may be worked on at once.
    rooms: Mutex<HashMap<SessionId, Weak<Semaphore>>>,
    /// The tasks that were asked for by name.
    executions: Executions,
    /// The first look at what the last server left.
    pub(crate) recovery: Recovery,
    /// Shims that live and cannot be reached.
    pub(crate) unreached: UnreachedShims,
    /// Sockets of the server that another process has taken away.
    pub(crate) taken_sockets: Arc<TakenSockets>,
}

impl Driver {
    pub(crate) fn new(
        journal: Journal,
        kept: SqliteReader,
        home: Home,
        log: Arc<Log>,
        program: PathBuf,
        (mark, baseline, end_secret): (String, LockLimit, EndSecret),
        open_files_max: Option<u64>,
    ) -> Arc<Driver> {
        let fact = JournalFact::of(&kept, &journal, consent::FACT);
        let consent = Arc::new(ConfigConsent::open(&home, fact));
        Arc::new(Driver {
            journal,
            kept: Mutex::new(kept),
            secrets: Secrets::new(&home, Arc::clone(&consent)),
            consent,
            texts: Texts::new(&home),
            home,
            log,
            program,
            mark,
            baseline,
            end_secret,
            open_files_max,
            keepers: Mailboxes::default(),
            checks: Mutex::default(),
            callers: Mutex::default(),
            gate_commands: Mutex::default(),
            installs: Mutex::default(),
            value_files: Turns::default(),
            masked_values: Mutex::default(),
            answers: Turns::default(),
            verifier_logins: Turns::default(),
            waiting_verifiers: Mutex::default(),
            checkpoints: Arc::new(Semaphore::new(checkpoint::AT_ONCE)),
            files: Places::default(),
            tidied: Mutex::default(),
            said_secrets: Mutex::default(),
            errands: Mailboxes::default(),
            rooms: Mutex::default(),
            executions: Executions::default(),
            recovery: Recovery::default(),
            unreached: UnreachedShims::default(),
            taken_sockets: Arc::default(),
        })
    }

    /// Tells this state directory from another.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// What a person lets the repository of a project run, as fingerprints.
    pub(crate) fn trusted(&self, root: &str) -> Vec<String> {
        let world = self.journal.world();
        let project = world.project_at(root).and_then(|id| world.projects.get(&id));
        project.into_iter().flat_map(|it| &it.trusted).map(|it| it.hash.clone()).collect()
    }

    fn marker(&self, session: SessionId, what: &str) -> String {
        marker(session, what, &self.mark)
    }

    /// The shim that was started in a directory with this marker.
    fn shim(&self, directory: &Path, marker: &str) -> ShimPeer {
        let (directory, session) = (directory.to_path_buf(), marker.to_owned());
        ShimPeer { directory, session, baseline: self.baseline }
    }

    /// Looks at what is there, then carries out actions for as long as there is a server.
    pub(crate) async fn run(self: Arc<Driver>, mut outbox: Outbox) {
        let live: Vec<(SessionId, u32)> = self.journal.world().live_launches().collect();
        let sessions = live.len();
        // What was wanted before the start is known before anything is looked at: a launch that is still to be
        // carried out has left nothing behind, and is not lost because of that.
        let mut first = Vec::new();
        while let Ok(action) = outbox.try_recv() {
            first.push(action);
        }
        let is_wanted = |session: SessionId, launch: u32| {
            first.iter().any(|(_, action)| keeper::launches(action, session, launch))
        };
        crash::site("reconciling");
        self.recovery.begin(live.iter().filter(|(session, launch)| !is_wanted(*session, *launch)).count());
        for (session, launch) in live {
            crash::site("reconciling a session");
            let wanted = is_wanted(session, launch);
            self.keepers.open(session, |actions| {
                let mut keeper = Keeper::new(Arc::clone(&self), session);
                if !wanted {
                    keeper.attach_first(launch);
                }
                tokio::spawn(keeper.run(actions));
            });
        }
        for action in first {
            self.dispatch(action);
        }
        self.log.info("server.recovered", json!({ "sessions": sessions }));
        callers::watch_all(&self);
        tokio::spawn(Arc::clone(&self).keep_time());
        let driver = Arc::clone(&self);
        tokio::task::spawn_blocking(move || forget::forget_all(&driver));
        while let Some(action) = outbox.recv().await {
            self.dispatch(action);
        }
    }

    fn dispatch(self: &Arc<Driver>, action: (ActionName, Action)) {
        let session = action.1.session;
        self.keepers.send(session, action, |actions| {
            tokio::spawn(Keeper::new(Arc::clone(self), session).run(actions));
        });
    }

    /// Says when something is due.
    async fn keep_time(self: Arc<Driver>) {
        /// Between two looks: whatever is due may be due a little later.
        const LOOK: std::time::Duration = std::time::Duration::from_millis(100);
        /// The longest sleep: while a machine sleeps, sleeps do not count, but the clock does.
        const SLEEP_MAX: std::time::Duration = std::time::Duration::from_secs(30);
        let mut changed = self.journal.watch();
        let clock = self.journal.clock();
        loop {
            let deadline_ms = self.journal.world().next_deadline_ms();
            let wait = deadline_ms.map(|at_ms| clock.until(at_ms));
            tokio::select! {
                () = sleep(wait.map(|wait| wait.min(SLEEP_MAX))) => {
                    if wait > Some(SLEEP_MAX) {
                        continue;
                    }
                    // A refused commit is tried again at the next look.
                    self.journal.submit(Input::Tick, None).await.ok();
                    tokio::time::sleep(LOOK).await;
                }
                change = changed.changed() => {
                    if change.is_err() {
                        return;
                    }
                    tokio::time::sleep(LOOK).await;
                }
            }
        }
    }
}

/// Sleeps for so long, or for ever.
async fn sleep(wait: Option<std::time::Duration>) {
    match wait {
        Some(wait) => tokio::time::sleep(wait).await,
        None => std::future::pending().await,
    }
}
