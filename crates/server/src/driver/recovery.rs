//! The first look of a new server at the agents of the last one.
//!
//! The server answers nobody before it has looked at every one of them, within a bound: after a reboot they would be
//! shown as working, although none of them is there.

use std::time::Duration;

use tokio::{sync::watch, time::timeout};

/// How long the server waits for the first look. A shim that cannot be reached takes longer, and is named then.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// How many sessions were not looked at yet; unknown before the driver runs.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    unseen: watch::Sender<Option<usize>>,
}

impl Recovery {
    /// The driver runs, and begins with this many sessions.
    pub(super) fn begin(&self, sessions: usize) {
        self.unseen.send_replace(Some(sessions));
    }

    /// One of them was looked at: its shim is followed, or it is lost.
    pub(super) fn seen(&self) {
        self.unseen.send_modify(|unseen| *unseen = unseen.map(|unseen| unseen.saturating_sub(1)));
    }

    /// Whether every agent that ran when the last server ended has somebody who looks after it.
    pub(crate) fn has_begun(&self) -> bool {
        self.unseen.borrow().is_some()
    }

    /// Waits until every session was looked at, for a second at most.
    pub(crate) async fn wait(&self) {
        let mut unseen = self.unseen.subscribe();
        timeout(WAIT_MAX, unseen.wait_for(|unseen| *unseen == Some(0))).await.ok();
    }
}
