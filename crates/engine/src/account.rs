//! Whose allowance sessions use. A limit belongs to an account, and holds all of its sessions.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use crate::id::{AccountId, SessionId};

/// An account that has hit a limit at least once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// What tells it from others, in words that hold no key; the id of a session that has no account.
    pub name: String,
    /// The limit that it has hit.
    pub limit: Option<Limit>,
}

/// A limit that an account has hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// When it was hit.
    pub at_ms: u64,
    /// When it resets, where somebody said so.
    pub reset_at_ms: Option<u64>,
    /// When the first of its sessions goes on.
    pub next_try_at_ms: u64,
    /// How often in a row it was hit.
    pub times: u32,
    /// In the words of whoever said it.
    pub message: Option<String>,
    /// The sessions that went on since, one after the other; the last is looked at before the next follows.
    pub tried: Vec<SessionId>,
    /// When the last of them went on.
    pub tried_at_ms: u64,
}

/// The event that an account has hit a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountLimit {
    /// Its id.
    pub account: AccountId,
    /// What tells it from others, in words that hold no key.
    pub name: String,
    /// When the limit resets, where somebody said so.
    pub reset_at_ms: Option<u64>,
    /// When the first of its sessions goes on.
    pub next_try_at_ms: u64,
    /// How often in a row it was hit.
    pub times: u32,
    /// In the words of whoever said it.
    pub message: Option<String>,
}
