//! Shims that live and cannot be reached: which ones there are, and how a command beside an agent is ended all the same.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard},
    time::{Duration, Instant},
};

use ostler_engine::SessionId;
use ostler_shim::ShimPeer;
use tokio::time::sleep;

use super::link::{ANSWER_MAX, Link, end_holder};

/// Between two looks at a shim that does not listen yet.
const LOOK: Duration = Duration::from_millis(2);

/// The longest time between two looks.
const LOOK_MAX: Duration = Duration::from_millis(200);

/// The launches whose shims live and cannot be reached.
#[derive(Debug, Default)]
pub(crate) struct UnreachedShims(Mutex<BTreeMap<SessionId, u32>>);

impl UnreachedShims {
    /// Adds a launch, and says whether it is new.
    pub(super) fn insert(&self, session: SessionId, launch: u32) -> bool {
        self.launches().insert(session, launch) != Some(launch)
    }

    pub(super) fn remove(&self, session: SessionId) {
        self.launches().remove(&session);
    }

    /// Every session with such a shim.
    pub(crate) fn list(&self) -> Vec<SessionId> {
        self.launches().keys().copied().collect()
    }

    fn launches(&self) -> MutexGuard<'_, BTreeMap<SessionId, u32>> {
        self.0.lock().expect("nobody panics while holding it")
    }
}

/// The way to the shim of a command.
#[derive(Debug, Default)]
pub(super) struct CommandReach {
    /// Since when it cannot be reached, and how long the last wait was.
    missed: Option<(Instant, Duration)>,
}

impl CommandReach {
    /// Connects. If that fails for long and the command is not wanted any more, its shim is ended without its socket.
    pub(super) async fn open(&mut self, shim: &ShimPeer, is_wanted: impl Fn() -> bool) -> Option<Link> {
        if let Ok(link) = Link::open(shim, 0).await {
            self.missed = None;
            return Some(link);
        }
        let (since, wait) = self.missed.unwrap_or((Instant::now(), LOOK));
        if since.elapsed() >= ANSWER_MAX && !is_wanted() {
            // Where nobody can tell who holds the lock, this is tried again at the next look.
            end_holder(&shim.directory).await.ok();
        }
        self.wait(since, wait).await;
        None
    }

    /// Waits before the next look at a directory of which the system does not say how it is.
    pub(super) async fn again(&mut self) {
        let (since, wait) = self.missed.unwrap_or((Instant::now(), LOOK));
        self.wait(since, wait).await;
    }

    async fn wait(&mut self, since: Instant, wait: Duration) {
        sleep(wait).await;
        self.missed = Some((since, (wait * 2).min(LOOK_MAX)));
    }
}
