//! What has happened since the person last looked.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::SessionView;

/// What has ended since the person last looked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LookedView {
    /// The last event that this is true of: who has shown it says so with this number.
    pub seq: u64,
    /// When the last event happened that the person has seen, in UTC milliseconds; null if they have seen none.
    pub last_looked_at_ms: Option<u64>,
    /// Sessions that are done or have failed since, and are neither merged nor discarded; the latest first. Those that
    /// work on tasks of a loop are counted in `loops`.
    pub ended: Vec<SessionView>,
    /// How many more there are.
    pub more: u64,
    /// Loops of which sessions have ended since, by the number of the loop.
    #[serde(default)]
    pub loops: Vec<LoopEndsView>,
}

/// What has ended of a loop through a task file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LoopEndsView {
    /// The session of the loop.
    pub session: String,
    /// The loop's own project.
    pub project: String,
    /// How many of its sessions are done.
    pub done: u64,
    /// How many have failed, attempts that were repeated included.
    pub failed: u64,
}

/// A person has looked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLook {
    /// At the end of this session, by its id or its run's.
    #[serde(default)]
    pub session: Option<String>,
    /// At everything up to this event.
    #[serde(default)]
    pub seq: Option<u64>,
}
