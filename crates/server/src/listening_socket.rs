//! A socket of the server that stays where clients look for it: if another process removes or replaces its file, the
//! server listens there again, and says so.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use tokio::{
    net::{UnixListener, UnixStream},
    time::{Interval, MissedTickBehavior, interval},
};

use crate::{api::TakenSocketView, clock::wall_ms, home::Home, log::Log, socket};

/// Between two looks at the file of a socket.
const LOOK: Duration = Duration::from_millis(500);

/// Which sockets another process has removed or replaced since the server started.
#[derive(Debug, Default)]
pub(crate) struct TakenSockets(Mutex<BTreeMap<String, TakenSocketView>>);

/// One of the sockets, at its path.
#[derive(Debug)]
pub(crate) struct ListeningSocket {
    path: PathBuf,
    listener: UnixListener,
    /// The file that this server has made, by device and inode.
    own: Option<[u64; 2]>,
    /// The lock of the state directory, and the file that it was when the server took it.
    lock: (PathBuf, Option<[u64; 2]>),
    looks: Interval,
    taken: Arc<TakenSockets>,
    log: Arc<Log>,
}

impl TakenSockets {
    /// All of them.
    pub(crate) fn list(&self) -> Vec<TakenSocketView> {
        self.0.lock().expect("nobody panics while holding it").values().cloned().collect()
    }

    fn add(&self, path: &Path) {
        let socket = path.display().to_string();
        let mut taken = self.0.lock().expect("nobody panics while holding it");
        let first = TakenSocketView { socket: socket.clone(), times: 0, last_at_ms: 0 };
        let it = taken.entry(socket).or_insert(first);
        it.times += 1;
        it.last_at_ms = wall_ms();
    }
}

impl ListeningSocket {
    /// Listens at a path. The caller holds the lock of the state directory.
    pub(crate) fn bind(
        path: PathBuf,
        home: &Home,
        taken: Arc<TakenSockets>,
        log: Arc<Log>,
    ) -> io::Result<ListeningSocket> {
        let listener = UnixListener::from_std(socket::listen(&path)?)?;
        let own = identity(&path).ok();
        let lock = (home.lock(), identity(&home.lock()).ok());
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(ListeningSocket { path, listener, own, lock, looks, taken, log })
    }

    /// The next connection.
    pub(crate) async fn accept(&mut self) -> io::Result<UnixStream> {
        loop {
            tokio::select! {
                biased;
                _ = self.looks.tick() => self.listen_again(),
                accepted = self.listener.accept() => return accepted.map(|(stream, _)| stream),
            }
        }
    }

    /// Listens again, if the file is gone or another one. A state directory that is another server's by now is left alone,
    /// and so is one that cannot be looked at.
    fn listen_again(&mut self) {
        let is_taken = match identity(&self.path) {
            Ok(now) => Some(now) != self.own,
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        let (lock, held) = &self.lock;
        if !is_taken || identity(lock).ok() != *held {
            return;
        }
        match socket::listen(&self.path).and_then(UnixListener::from_std) {
            Ok(listener) => {
                self.listener = listener;
                self.own = identity(&self.path).ok();
                self.taken.add(&self.path);
                self.log.error("socket.taken", json!({ "path": self.path }));
            }
            Err(error) => {
                let said = json!({ "path": self.path, "message": error.to_string() });
                self.log.error("socket.not_listening", said);
            }
        }
    }
}

fn identity(path: &Path) -> io::Result<[u64; 2]> {
    fs::symlink_metadata(path).map(|about| [about.dev(), about.ino()])
}
