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
    /// Sessions that are done or have failed since, and are neither merged nor discarded; the latest first.
    pub ended: Vec<SessionView>,
    /// How many more there are.
    pub more: u64,
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
