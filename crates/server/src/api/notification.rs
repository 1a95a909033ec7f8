//! What clients see of notifications: who is told of what, and how it goes. Never where to.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::notify::Kind;

/// Who is told what needs somebody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NotificationsView {
    /// The channels, in the order of the configuration.
    pub channels: Vec<NotifyChannelView>,
    /// Where links in notices lead to.
    pub page: String,
    /// What is wrong with the configuration; the channels are still those from before.
    pub problem: Option<String>,
}

/// Somebody who is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NotifyChannelView {
    /// Its name.
    pub name: String,
    /// How it is reached.
    #[serde(rename = "type")]
    pub kind: NotifyType,
    /// What it is told of.
    pub kinds: Vec<Kind>,
    /// After how many milliseconds it is told what can be settled.
    pub after_ms: u64,
    /// How many messages it gets in a minute.
    pub per_minute: u32,
    /// Whether it is told what agents say.
    pub text: bool,
    /// Whether it can take back what is settled.
    pub withdraws: bool,
    /// How it stands.
    pub state: NotifyState,
    /// How many notices wait.
    pub pending: u64,
    /// How many messages have arrived.
    pub sent: u64,
    /// How many notices were given up.
    pub given_up: u64,
    /// When a message arrived last.
    pub last_success_ms: Option<u64>,
    /// When one last did not.
    pub last_error_ms: Option<u64>,
    /// Why not.
    pub last_error: Option<String>,
    /// When it is tried again.
    pub next_try_ms: Option<u64>,
}

/// How somebody is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotifyType {
    /// An incoming webhook of Slack.
    Slack,
    /// A program that takes signed requests.
    Webhook,
    /// A topic of ntfy.
    Ntfy,
    /// A program on this machine.
    Command,
}

/// How it stands with somebody who is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotifyState {
    /// Nothing waits.
    Idle,
    /// Something is due later, or on its way.
    Waiting,
    /// The last message did not arrive.
    Failing,
}

/// A test has arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NotifyTestView {
    /// Where.
    pub channel: String,
    /// Its id, which a receiver can find again.
    pub id: String,
}
