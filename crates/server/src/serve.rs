//! The server of one state directory, from the lock to the last connection.

use std::{
    env, fmt,
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ostler_files::{FILE_BYTES_MAX, private};
use ostler_shim::LockLimit;
use ostler_store::{OpenError, Store};
use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};
use serde_json::json;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::Notify,
    time::{Instant, sleep},
};

use crate::{
    baseline,
    clock::{Clock, wall_ms},
    descriptors,
    driver::Driver,
    end_secret::EndSecret,
    helper,
    home::{Home, HomeError, private_directory},
    http, inject,
    journal::{self, Journal, LoadError},
    journal_fact,
    listening_socket::ListeningSocket,
    log::Log,
    mark::mark,
    notify::Notifications,
    peer::Door,
    reserve::Reserve,
    sign_in::Keeper,
    tcp, unix_door,
};

/// For how long a reply is remembered under its key.
const REPLIES_KEPT_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// How long a server that is to end may leave its socket there.
const STOP_MAX: Duration = Duration::from_secs(1);

/// How long a server that has taken its socket away may hold the lock.
const END_MAX: Duration = Duration::from_secs(5);

/// Between two looks at the lock.
const LOOK: Duration = Duration::from_millis(5);

/// Between two looks whether the state directory is still there.
const LOOK_FOR_DIRECTORY: Duration = Duration::from_secs(2);

/// Why there is no server.
#[derive(Debug)]
pub enum ServeError {
    /// The state directory cannot be used.
    Home(HomeError),
    /// Another server uses it.
    Held {
        /// The lock.
        path: PathBuf,
        /// Its process, if it says so.
        pid: Option<u32>,
    },
    /// It was removed.
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// The journal was removed or replaced while the server ran.
    JournalGone {
        /// Which file of it.
        path: PathBuf,
    },
    /// There are sessions and no journal.
    NoJournal {
        /// Where it should be.
        path: PathBuf,
        /// The directory of the sessions.
        sessions: PathBuf,
    },
    /// The database cannot be opened.
    Open(OpenError),
    /// The journal cannot be used.
    Load(LoadError),
    /// This process belongs to an agent, or an agent has branded it.
    Marked {
        /// Its limit of file locks.
        limit: LockLimit,
        /// The limit of a person's processes.
        baseline: LockLimit,
        /// The file with that.
        path: PathBuf,
    },
    /// Another process has lowered the number of files that the server may open.
    FewFiles {
        /// How many there may be now.
        limit: u64,
        /// How many there could be before.
        before: u64,
    },
    /// The system refused something.
    Io {
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

/// Serves until it is told to stop. Agents go on without it.
pub async fn serve(home: &Home) -> Result<(), ServeError> {
    home.prepare().map_err(ServeError::Home)?;
    let open_files_max = descriptors::raise_limit();
    let lock = hold_soon(home).await?;
    refuse_without_journal(home)?;
    let log = Arc::new(Log::open(home));
    tokio::spawn(journal::watch_locks(home.database(), Arc::clone(&log)));
    let mut store = journal::open(&home.database(), wall_ms()).map_err(ServeError::Open)?;
    // Who asks again after a week is heard as if for the first time. A full disk is no reason not to start.
    store.prune_replies(wall_ms().saturating_sub(REPLIES_KEPT_MS)).ok();
    journal::rebuild(&mut store).map_err(ServeError::Load)?;
    let loaded = journal::load(&store).map_err(ServeError::Load)?;
    let is_new = loaded.world.last_seq == 0;
    let baseline = baseline::baseline(home, &mut store, is_new)
        .map_err(|source| ServeError::Io { what: "store the limit that tells agents from people", source })?;
    check_limit(home, baseline)?;
    helper::mark_from_now_on(baseline);
    journal_fact::adopt(home, &mut store, is_new);
    let clock = Clock::start(loaded.last_at_ms);
    let mark = mark(home, &mut store)
        .map_err(|source| ServeError::Io { what: "mark the state directory", source })?;
    let end_secret = EndSecret::of(&mut store, clock.now_ms())
        .map_err(|source| ServeError::Io { what: "keep the secret of ends", source })?;
    let reader = store.reader().map_err(ServeError::Open)?;
    let listener = store.reader().map_err(ServeError::Open)?;
    let kept = store.reader().map_err(ServeError::Open)?;
    let journal_files = JournalFiles::of(&home.database());
    let reserve = Reserve::keep(&home.root().join("reserve"));
    let (version, pid) = (env!("CARGO_PKG_VERSION"), std::process::id());
    log.info("server.started", json!({ "version": version, "pid": pid, "seq": loaded.world.last_seq }));
    let (journal, outbox) = Journal::start(store, loaded, clock, reserve, Arc::clone(&log));
    inject::write(home)
        .map_err(|source| ServeError::Io { what: "write what is put beside agents", source })?;
    let program = offered_program(home)?;
    let driver = Driver::new(
        journal,
        kept,
        home.clone(),
        Arc::clone(&log),
        program,
        (mark.clone(), baseline, end_secret),
        open_files_max,
    );
    let door = |path| door(path, home, &driver, (&mark, baseline));
    let (people, agents) = (door(home.socket())?, door(home.channel())?);
    let stop = Arc::new(Notify::new());
    let page = tcp::Door::new(home, Arc::clone(&log));
    let entrance = http::Entrance::new(Keeper::of(home, &reader, &driver.journal), Arc::clone(&page));
    let notifications = Notifications::new(Arc::clone(&driver), listener, Arc::clone(&page));
    tokio::spawn(Arc::clone(&notifications).run());
    let routers = http::routers(Arc::clone(&driver), reader, entrance, Arc::clone(&stop), notifications);
    tokio::spawn(Arc::clone(&driver).run(outbox));
    driver.recovery.wait().await;
    let served = tokio::select! {
        () = unix_door::serve(people, routers.people) => Ok(()),
        () = unix_door::serve(agents, routers.agents) => Ok(()),
        () = page.serve(routers.tcp) => Ok(()),
        () = asked_to_stop(stop) => Ok(()),
        // What lies under its name now, if anything does, belongs to another server.
        error = branded(home, baseline) => return Err(error),
        () = taken_away(&lock) => return Err(ServeError::Gone { path: home.root().to_path_buf() }),
        path = journal_files.replaced() => return Err(ServeError::JournalGone { path }),
    };
    log.info("server.ended", json!({ "pid": pid }));
    // Whoever comes now finds nobody and starts another.
    fs::remove_file(home.socket()).ok();
    fs::remove_file(home.channel()).ok();
    served.map_err(|source| ServeError::Io { what: "serve", source })
}

/// A socket of the server, and by what processes of agents are known there.
fn door(
    path: PathBuf,
    home: &Home,
    driver: &Driver,
    (mark, baseline): (&str, LockLimit),
) -> Result<Door, ServeError> {
    let (taken, log) = (Arc::clone(&driver.taken_sockets), Arc::clone(&driver.log));
    let socket = ListeningSocket::bind(path, home, taken, log);
    let socket = socket.map_err(|source| ServeError::Io { what: "listen", source })?;
    Ok(Door::new(socket, home, mark, baseline))
}

/// This program, put where agents find it.
fn offered_program(home: &Home) -> Result<PathBuf, ServeError> {
    let program = env::current_exe().map_err(|source| ServeError::Io { what: "find the program", source })?;
    offer(home, &program).map_err(|source| ServeError::Io { what: "offer the program", source })?;
    Ok(program)
}

/// Puts this program where agents find it, also after it has moved.
fn offer(home: &Home, program: &Path) -> io::Result<()> {
    let folder = home.programs();
    private_directory(&folder)?;
    let (link, draft) = (folder.join("ostler"), folder.join("ostler.draft"));
    if fs::read_link(&link).is_ok_and(|there| there == program) {
        return Ok(());
    }
    fs::remove_file(&draft).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    std::os::unix::fs::symlink(program, &draft)?;
    fs::rename(&draft, &link)
}

/// A signal, or somebody who says so.
async fn asked_to_stop(stop: Arc<Notify>) {
    let mut terminate = signal(SignalKind::terminate()).ok();
    let terminated = async {
        match &mut terminate {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = terminated => {}
        interrupted = tokio::signal::ctrl_c() => drop(interrupted),
        () = stop.notified() => {}
    }
}

/// The state directory is removed, or the lock in it: nobody finds this server any more, and the next one would not know
/// of it.
async fn taken_away(lock: &fs::File) {
    while lock.metadata().is_ok_and(|about| about.nlink() > 0) {
        sleep(LOOK_FOR_DIRECTORY).await;
    }
}

/// Sees that this process has the limit of a person's. Shims and people would refuse a server with a lower one.
fn check_limit(home: &Home, baseline: LockLimit) -> Result<(), ServeError> {
    let limit = LockLimit::own();
    if limit >= baseline {
        return Ok(());
    }
    Err(ServeError::Marked { limit, baseline, path: baseline::path(home) })
}

/// Waits until another process of the user has lowered a limit of this one: the next server has the old one again.
async fn branded(home: &Home, baseline: LockLimit) -> ServeError {
    loop {
        if let Err(error) = check_limit(home, baseline) {
            return error;
        }
        if let Some((limit, before)) = descriptors::lowered() {
            return ServeError::FewFiles { limit, before };
        }
        sleep(LOOK_FOR_DIRECTORY).await;
    }
}

/// A journal that is missing while sessions are there was removed. A new one would give their ids to others.
pub(crate) fn refuse_without_journal(home: &Home) -> Result<(), ServeError> {
    let has_sessions = fs::read_dir(home.sessions()).is_ok_and(|mut sessions| sessions.next().is_some());
    if has_sessions && matches!(home.database().try_exists(), Ok(false)) {
        return Err(ServeError::NoJournal { path: home.database(), sessions: home.sessions() });
    }
    Ok(())
}

/// The files of the journal as they were when it was opened: each with its device and inode.
struct JournalFiles(Vec<(PathBuf, [u64; 2])>);

impl JournalFiles {
    fn of(database: &Path) -> JournalFiles {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        let files = [database.to_path_buf(), PathBuf::from(log)].into_iter();
        JournalFiles(files.filter_map(|path| identity(&path).ok().map(|it| (path, it))).collect())
    }

    /// Waits until one of them is removed or replaced: nothing that is written from then on would be found again.
    async fn replaced(&self) -> PathBuf {
        loop {
            let is_other = |(path, before): &&(PathBuf, [u64; 2])| match identity(path) {
                Ok(now) => now != *before,
                // Only a missing file says that it is gone. A directory that cannot be read for a moment says nothing.
                Err(error) => error.kind() == io::ErrorKind::NotFound,
            };
            if let Some((path, _)) = self.0.iter().find(is_other) {
                return path.clone();
            }
            sleep(LOOK_FOR_DIRECTORY).await;
        }
    }
}

fn identity(path: &Path) -> io::Result<[u64; 2]> {
    fs::symlink_metadata(path).map(|about| [about.dev(), about.ino()])
}

/// Takes the state directory. A server that is about to end answers nobody, then takes its socket away, and lets go of
/// the lock right after it.
async fn hold_soon(home: &Home) -> Result<fs::File, ServeError> {
    let since = Instant::now();
    loop {
        let time_max = if home.socket().exists() { STOP_MAX } else { END_MAX };
        match hold(home) {
            Err(ServeError::Held { .. }) if since.elapsed() < time_max => sleep(LOOK).await,
            held => return held,
        }
    }
}

/// Takes the state directory for this process. The lock goes with it, whatever ends it.
pub(crate) fn hold(home: &Home) -> Result<fs::File, ServeError> {
    let path = home.lock();
    let failed = |source| ServeError::Io { what: "lock the state directory", source };
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).truncate(false);
    let mut file = private::open_or_create(&path, options).map_err(failed)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {
            // The number is only for people to read: a full disk is no reason not to start.
            file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).ok();
            Ok(file)
        }
        Err(Errno::WOULDBLOCK) => {
            let pid =
                private::read_text(&path, FILE_BYTES_MAX).ok().and_then(|text| text.trim().parse().ok());
            Err(ServeError::Held { path, pid })
        }
        Err(source) => Err(failed(source.into())),
    }
}

impl ServeError {
    /// Whether the journal is damaged.
    pub fn is_damage(&self) -> bool {
        match self {
            ServeError::Open(error) => matches!(error, OpenError::Corrupt { .. }),
            ServeError::Load(error) => error.is_damage(),
            _ => false,
        }
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Home(source) => write!(f, "{source}"),
            ServeError::Held { path, pid } => {
                write!(f, "another server uses '{}'", path.display())?;
                pid.map_or(Ok(()), |pid| f.write_fmt(format_args!(" (process {pid})")))
            }
            ServeError::Gone { path } => {
                write!(
                    f,
                    "the state directory '{}' was removed, or its lock was: the server has ended",
                    path.display()
                )
            }
            ServeError::JournalGone { path } => {
                let path = path.display();
                write!(f, "'{path}' was removed or replaced under the server: the server has ended")
            }
            ServeError::NoJournal { path, sessions } => {
                let (path, sessions) = (path.display(), sessions.display());
                write!(
                    f,
                    "'{path}' is missing and '{sessions}' is not empty: put the journal back from a copy, or move \
                     '{sessions}' away to begin anew"
                )
            }
            ServeError::Open(source) => write!(f, "{source}"),
            ServeError::Load(source) => write!(f, "{source}"),
            ServeError::Marked { limit, baseline, path } => write!(
                f,
                "this process carries the mark of an agent: its limit of file locks is {limit}, and '{}' says \
                 {baseline}",
                path.display()
            ),
            ServeError::FewFiles { limit, before } => write!(
                f,
                "another process lowered the limit of open files from {before} to {limit}: the server has ended, and \
                 the next command starts another"
            ),
            ServeError::Io { what, source } => write!(f, "cannot {what}: {source}"),
        }
    }
}

impl std::error::Error for ServeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ServeError::Home(source) => Some(source),
            ServeError::Open(source) => Some(source),
            ServeError::Load(source) => Some(source),
            ServeError::Io { source, .. } => Some(source),
            ServeError::Held { .. }
            | ServeError::Gone { .. }
            | ServeError::Marked { .. }
            | ServeError::FewFiles { .. }
            | ServeError::JournalGone { .. }
            | ServeError::NoJournal { .. } => None,
        }
    }
}
