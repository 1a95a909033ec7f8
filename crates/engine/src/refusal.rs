//! Why something is not done, and what came of something that is.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::{
    answer::NotAnAnswer,
    id::{CheckpointId, InvocationId, ProjectId, RequestId, ResultId, RunId, SessionId},
    request::Settled,
    session::{SessionName, Status},
};

/// Why something is not done. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum Refusal {
    /// There is no such session.
    NoSession {
        /// The id that was named.
        session: SessionId,
    },
    /// There is no such project.
    NoProject {
        /// The id that was named.
        project: ProjectId,
    },
    /// There is no such request.
    NoRequest {
        /// The id that was named.
        request: RequestId,
    },
    /// It is settled already.
    Settled {
        /// Which one.
        request: RequestId,
        /// How.
        settled: Settled,
    },
    /// What was given is no answer to it.
    NotAnAnswer {
        /// To which one.
        request: RequestId,
        /// Why not.
        why: NotAnAnswer,
    },
    /// That cannot be done to a session that is so.
    NotNow {
        /// Which one.
        session: SessionId,
        /// How it is.
        status: Status,
        /// What was wanted.
        wanted: Wanted,
    },
    /// It has no worktree.
    NoWorktree {
        /// Which one.
        session: SessionId,
    },
    /// Its worktree is gone, or something is being done to it.
    WorktreeGone {
        /// Which one.
        session: SessionId,
    },
    /// No caller of this name waits for it: its answer goes another way, or went to somebody else.
    NotWaitedFor {
        /// Which one.
        request: RequestId,
    },
    /// There is no such checkpoint, or it was let go.
    NoCheckpoint {
        /// The id that was named.
        checkpoint: CheckpointId,
    },
    /// Another session works on the same files.
    PlaceBusy {
        /// Which one is meant.
        session: SessionId,
        /// Who works there.
        other: SessionId,
    },
    /// The files are being brought back to a checkpoint.
    Restoring {
        /// Whose files.
        session: SessionId,
        /// To which one.
        checkpoint: CheckpointId,
    },
    /// Another run goes through the tasks of the same project.
    LoopBusy {
        /// Which one.
        run: RunId,
    },
    /// Another run works on the same node.
    NodeHeld {
        /// That run.
        run: RunId,
    },
    /// Another run goes through phases in the same directory.
    PhasesBusy {
        /// Which one.
        run: RunId,
    },
    /// It asks for something else than a review.
    NotReview {
        /// Which one.
        request: RequestId,
    },
    /// It is about another tree.
    TreeNotShown {
        /// Which one.
        request: RequestId,
        /// About this one.
        tree: Option<String>,
    },
    /// Something is wrong with it, and nobody insists.
    GateFailed {
        /// Which one.
        request: RequestId,
    },
    /// There is no such call.
    NoInvocation {
        /// The id that was named.
        invocation: InvocationId,
    },
    /// The call is over.
    InvocationOver {
        /// Which one.
        invocation: InvocationId,
    },
    /// No process of this name waits for the call.
    NotCalled {
        /// Which one.
        invocation: InvocationId,
    },
    /// What was to be brought cannot be.
    NotDelivered {
        /// Why not.
        why: String,
    },
    /// Its session has as much of something as one session may have.
    OverLimit {
        /// Which session.
        session: SessionId,
        /// Of what.
        limit: ChannelLimit,
        /// The limit.
        max: u64,
    },
    /// The session never had a permission rule of this number.
    NoPermission {
        /// Whose.
        session: SessionId,
        /// The number that was named.
        number: u64,
    },
    /// Another session that is not over has this name.
    NameTaken {
        /// The name.
        name: SessionName,
        /// Who has it.
        session: SessionId,
    },
    /// There is nothing to write.
    EmptyMessage,
    /// A repository is needed for that.
    NotGit {
        /// The directory.
        directory: String,
    },
}

/// A bound on what the processes of one session may say over its socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChannelLimit {
    /// The requests that wait for a person.
    OpenRequests,
    /// All their text together, in bytes.
    OpenBytes,
    /// Everything that was said since the session was made.
    Signals,
}

/// What can be wanted of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// To hold it.
    Pause,
    /// To let it go on.
    Continue,
    /// To start it again.
    Resume,
    /// To end it.
    Cancel,
    /// To write to it.
    Send,
    /// To merge its work.
    Merge,
    /// To drop its work.
    Discard,
    /// To go back to a checkpoint.
    Restore,
    /// To ask for something, as one of its processes.
    Ask,
}

/// What came of an input that somebody waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Made {
    /// The project it concerns, where only that is asked for.
    #[serde(default)]
    pub project: Option<ProjectId>,
    /// The run that was created.
    pub run: Option<RunId>,
    /// The session it concerns.
    pub session: Option<SessionId>,
    /// The request it concerns.
    pub request: Option<RequestId>,
    /// The checkpoint it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointId>,
    /// The call between agents that it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation: Option<InvocationId>,
    /// The result that it concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultId>,
}
