//! Sockets of the server that another process has removed or replaced.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A socket of the server that another process has removed or replaced. The server listens there again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TakenSocketView {
    /// Its path.
    pub socket: String,
    /// How often that happened since the server started.
    pub times: u64,
    /// When it happened last, in UTC milliseconds.
    pub last_at_ms: u64,
}
