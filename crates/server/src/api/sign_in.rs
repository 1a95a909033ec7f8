//! What is said of who may come in over TCP. A secret word is said once, to the one whom it is for.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Where the page can be had.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PageView {
    /// How the door for browsers stands.
    pub state: PageState,
    /// Its address on this machine, while it is open.
    pub url: Option<String>,
    /// Its address for other machines, if it has one.
    pub away: Option<String>,
    /// Why it is not open.
    pub problem: Option<String>,
}

/// How the door for browsers stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PageState {
    /// It is open.
    Open,
    /// The configuration wants none.
    Off,
    /// It cannot be opened.
    Shut,
    /// It was not tried yet.
    #[default]
    Closed,
}

/// A link that signs a browser in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLink {
    /// Where on the page it leads, such as `/requests/q_7`.
    #[serde(default)]
    pub path: Option<String>,
}

/// A link that signs a browser in once. There is no `Debug`: it is a key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LinkView {
    /// The link, for this machine.
    pub url: String,
    /// The same link for other machines, if they can reach this one.
    pub away: Option<String>,
    /// Until when it is good, in milliseconds since 1970, UTC.
    pub over_at_ms: u64,
}

/// What a browser shows to be signed in. There is no `Debug`: it holds the code.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSignIn {
    /// What stands behind the `#` of the link, up to the first `/`.
    pub code: String,
}

/// A browser that is signed in. The cookie comes beside it. There is no `Debug`: it holds the proof.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SignedInView {
    /// What is sent in `Ostler-Proof` with every request, beside the cookie.
    pub proof: String,
    /// The sign-in.
    pub id: String,
    /// The server, as it stands in `Ostler-Server` of every answer.
    pub server: String,
}

/// A token for a script.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// What its owner calls it: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// For how many days it is good; 90, if nothing is said.
    #[serde(default)]
    pub days: Option<u32>,
    /// Whether it may only look, and see no secrets.
    #[serde(default)]
    pub read_only: bool,
}

/// A token that was just made. There is no `Debug`: it is a key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenView {
    /// What a script sends as `Authorization: Bearer …`. It is said this once.
    pub token: String,
    /// What is known of it.
    pub sign_in: SignInView,
}

/// A browser or a script that may come in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SignInView {
    /// Its id.
    pub id: String,
    /// Whose it is.
    pub kind: SignInKind,
    /// What it is called.
    pub name: String,
    /// Whether it may only look, and see no secrets.
    pub read_only: bool,
    /// Since when, in milliseconds since 1970, UTC.
    pub made_at_ms: u64,
    /// When it was used last, to the day.
    pub used_at_ms: Option<u64>,
    /// When it ends. A browser that comes back has 30 days from then on.
    pub over_at_ms: u64,
    /// Whether it is the one that asks.
    pub current: bool,
    /// Whether Ostler did not make it: another process has written it into the file. It lets nobody in.
    #[serde(default)]
    pub forged: bool,
}

/// Whose a sign-in is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignInKind {
    /// A browser's.
    Browser,
    /// A script's.
    Token,
}
