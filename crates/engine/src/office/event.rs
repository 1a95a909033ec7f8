//! What happens in the office.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::{Reference, Verdict, Why};
use crate::{
    id::{InvocationId, RequestId, ResultId, RunId, SessionId},
    request::Call,
};

/// What can happen in an office. Each belongs to the session that caused it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum OfficeEvent {
    /// One agent calls another.
    #[serde(rename = "invocation.opened")]
    Opened {
        /// Its id.
        invocation: InvocationId,
        /// The name of who calls.
        caller: String,
        /// Who is called, as it was said.
        callee: String,
        /// What is to be done.
        task: String,
        /// What the other should know.
        context: Option<String>,
        /// The launch that calls.
        launch: u32,
        /// How many calls deep it is.
        depth: u32,
        /// The run of who began the chain.
        root: RunId,
        /// Who said it.
        trust: String,
        /// The process that is blocked until it is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Call>,
    },
    /// It is known who is to do it.
    #[serde(rename = "invocation.seated")]
    Seated {
        /// Which one.
        invocation: InvocationId,
        /// The name of the role.
        callee: String,
        /// The session.
        seat: SessionId,
        /// Where its words are, if they are too long to be said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<Reference>,
        /// Stands for the files of caller and callee, where the call is a repeated one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files: Option<String>,
    },
    /// Nothing came of the same call before: it is not made until a person has answered.
    #[serde(rename = "invocation.held")]
    Held {
        /// Which one.
        invocation: InvocationId,
        /// What the person is asked.
        request: RequestId,
        /// How often the same call has ended before.
        times: u32,
    },
    /// A person has said that it may be made.
    #[serde(rename = "invocation.released")]
    Released {
        /// Which one.
        invocation: InvocationId,
    },
    /// Its words were read.
    #[serde(rename = "invocation.began")]
    Began {
        /// Which one.
        invocation: InvocationId,
    },
    /// Its words were not read by a process that has ended: they are said again.
    #[serde(rename = "invocation.unread")]
    Unread {
        /// Which one.
        invocation: InvocationId,
    },
    /// It is over.
    #[serde(rename = "invocation.ended")]
    Ended {
        /// Which one.
        invocation: InvocationId,
        /// How.
        status: Verdict,
        /// Why.
        why: Why,
        /// What was brought, if it was.
        result: Option<ResultId>,
        /// What the caller is told, where that is more than the result.
        words: Option<String>,
    },
    /// The process that was blocked until it is over has been told, or is gone.
    #[serde(rename = "invocation.parted")]
    Parted {
        /// Which one.
        invocation: InvocationId,
        /// Whether it has what it waited for.
        taken: bool,
    },
    /// One agent brings another something.
    #[serde(rename = "result.given")]
    Given {
        /// Its id.
        result: ResultId,
        /// The name of who gives it.
        from: String,
        /// The name of who is to have it.
        to: String,
        /// What sort of thing it is.
        #[serde(rename = "type")]
        kind: String,
        /// The thing itself, or its beginning.
        content: String,
        /// Where it is, if it is too long to be said; or the copy of a file that stands in a worktree.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<Reference>,
        /// Whether the content is only its beginning, and all of it stands where the reference says.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        cut: bool,
        /// The call that it is the result of.
        invocation: Option<InvocationId>,
        /// Whether that was over by then.
        late: bool,
        /// The session that is to read it, if it is known.
        receiver: Option<SessionId>,
        /// The run of who began the chain.
        root: RunId,
        /// Where it was heard.
        origin: String,
        /// The launch, and behind which place of its output it ends, if it was printed.
        printed: Option<(u32, u64)>,
    },
    /// What an agent has printed for another one cannot be brought: it is told why.
    #[serde(rename = "result.refused")]
    Refused {
        /// Who was to have it, as it was said.
        to: String,
        /// Why not.
        why: String,
        /// Where it was heard.
        origin: String,
    },
    /// There is a session for it now.
    #[serde(rename = "result.addressed")]
    Addressed {
        /// Which one.
        result: ResultId,
        /// The session.
        receiver: SessionId,
    },
    /// It was read.
    #[serde(rename = "result.delivered")]
    Delivered {
        /// Which one.
        result: ResultId,
    },
    /// Nobody has had anything for a role to do for a while: it is looked whether it still prints.
    #[serde(rename = "role.unused")]
    Unused {
        /// Which process of it.
        launch: u32,
    },
    /// A role that nobody had anything for has printed something.
    #[serde(rename = "role.printed")]
    Printed {
        /// Which process of it.
        launch: u32,
        /// When.
        printed_at_ms: u64,
    },
    /// A role that nobody had anything for is at work all the same, though it prints nothing.
    #[serde(rename = "role.busy")]
    Busy {
        /// Which process of it.
        launch: u32,
    },
    /// A role is kept for another time from now on when it has nothing to do.
    #[serde(rename = "role.kept")]
    Kept {
        /// For how long.
        idle_ms: u64,
    },
}
