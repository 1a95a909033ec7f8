//! An event in its place in the journal, and the name of something on its way to an agent.

use alloc::string::String;
use core::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    event::Event,
    id::{InvalidId, MessageId, ProjectId, RequestId, RunId, SessionId},
};

/// The version of the forms below.
pub const VERSION: u32 = 1;

/// An event in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its place in the journal, without gaps.
    pub seq: u64,
    /// When, in UTC milliseconds.
    pub at_ms: u64,
    /// The project it belongs to.
    pub project: Option<ProjectId>,
    /// The run it belongs to.
    pub run: Option<RunId>,
    /// The session it belongs to.
    pub session: Option<SessionId>,
    /// What happened.
    pub event: Event,
}

/// Something on its way to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parcel {
    /// What came of a request.
    Request(RequestId),
    /// The word that a request has expired.
    Expiry(RequestId),
    /// What a person wrote.
    Message(MessageId),
}

/// Something that a shim did not take for its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotTaken {
    /// The launch.
    pub launch: u32,
    /// What.
    pub parcel: Parcel,
    /// Why not.
    pub why: String,
}

impl fmt::Display for Parcel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Parcel::Request(id) => write!(f, "{id}"),
            Parcel::Expiry(id) => write!(f, "{id}:expired"),
            Parcel::Message(id) => write!(f, "{id}"),
        }
    }
}

impl FromStr for Parcel {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        if let Some(id) = text.strip_suffix(":expired") {
            return id.parse().map(Parcel::Expiry);
        }
        text.parse().map(Parcel::Message).or_else(|_| text.parse().map(Parcel::Request))
    }
}
