//! What happens outside, and what is refused. Every input may come twice; the second time it changes nothing.

use alloc::{boxed::Box, string::String, vec::Vec};

use ostler_protocol::{fact::Usage, mark::Mark};
use serde_json::Value;

use crate::{
    answer::{Decision, Given},
    event::NotTaken,
    graph::{GraphReport, GraphSpec},
    id::{CheckpointId, ProjectId, RequestId, SessionId},
    office::OfficeInput,
    phases::{CheckResult, Collected, GateName, Round, plan::Plan},
    request::{Ask, Install},
    run::{Terms, Trusted},
    session::{LogPlace, Order, Screen, SessionName, WorktreeTerms},
    thin::ThinNews,
    work_secret::WorkScan,
};

pub use crate::checkpoint::{CheckpointNews, RestoreNews};
pub use crate::refusal::{ChannelLimit, Made, Refusal, Wanted};

/// The key of the input that a process gets first, before anything is brought to it.
pub const FIRST_KEY: &str = "first";

/// Something that happened outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// Somebody asks for something.
    CreateRun(Box<NewRun>),
    /// Somebody wants a directory to be known as a project.
    Register(NewProject),
    /// A secret was kept, or is no longer kept.
    Secret {
        /// Whose it is.
        project: ProjectId,
        /// Its name.
        name: String,
        /// What has become of it.
        news: SecretNews,
    },
    /// A person lets a repository run something.
    Trust {
        /// The canonical root of the project.
        root: String,
        /// What a person calls it.
        name: String,
        /// Whether it is a git repository.
        git: bool,
        /// What it may run.
        commands: Vec<Trusted>,
    },
    /// A person lets a repository run nothing any more.
    Distrust {
        /// The canonical root of the project.
        root: String,
    },
    /// A shim says something.
    Shim {
        /// Whose shim.
        session: SessionId,
        /// Of which launch.
        launch: u32,
        /// The number of the record.
        spool_seq: u64,
        /// What it says.
        news: News,
    },
    /// Several records of a shim, one after the other.
    ShimRecords {
        /// Whose shim.
        session: SessionId,
        /// Of which launch.
        launch: u32,
        /// The number of each record, and what it says.
        records: Vec<(u64, News)>,
    },
    /// Heard in the log of a lost shim, after its last record.
    Overheard {
        /// Whose log.
        session: SessionId,
        /// Of which launch.
        launch: u32,
        /// How many items of the log come before these.
        before: u64,
        /// The items in order.
        items: Vec<Value>,
    },
    /// The shim is gone and left no word of an end.
    ShimLost {
        /// Whose shim.
        session: SessionId,
        /// Of which launch.
        launch: u32,
    },
    /// Another process answers in place of the shim of this launch.
    ShimDisplaced(SessionId, u32),
    /// The shim could not be started.
    LaunchFailed {
        /// Whose shim.
        session: SessionId,
        /// Of which launch.
        launch: u32,
        /// Why not.
        message: String,
    },
    /// The shim did not take what was to be written to its agent.
    NotTaken {
        /// Whose shim.
        session: SessionId,
        /// What, and why not.
        what: NotTaken,
        /// Whether no other process could be told it either.
        for_good: bool,
    },
    /// The check has ended.
    CheckEnded {
        /// Whose check.
        session: SessionId,
        /// Its number.
        number: u32,
        /// Its exit code; a signal counts as 128 and its number.
        code: i32,
        /// What it said at the end.
        output: String,
    },
    /// Something has become of the worktree.
    Worktree {
        /// Whose.
        session: SessionId,
        /// What.
        news: WorktreeNews,
    },
    /// A process of an agent asks over the session's own socket, and is blocked there.
    Call {
        /// Whose process.
        session: SessionId,
        /// Of which launch.
        launch: u32,
        /// Its own name for the call.
        key: String,
        /// What it asks.
        ask: Box<Ask>,
        /// Where the same also stands, in what tools showed its agent.
        shown: Option<Mark>,
        /// Its number.
        pid: i32,
        /// When it began, in the kernel's ticks.
        began: u64,
    },
    /// The caller has got the answer, and will say it only if this is taken.
    Taken {
        /// Of what.
        request: RequestId,
        /// The name of its call.
        key: String,
    },
    /// The caller is gone.
    CallerGone {
        /// Of what.
        request: RequestId,
        /// The name of its call.
        key: String,
    },
    /// A process of an agent tells something over the session's socket that nobody has to settle.
    Told {
        /// Whose process.
        session: SessionId,
        /// Of which launch.
        launch: u32,
        /// Its own name for it.
        key: String,
        /// What it tells.
        item: Value,
    },
    /// What a request asks for is in the vault, and may be given again.
    InVault {
        /// The request.
        request: RequestId,
        /// Under these names.
        names: Vec<String>,
    },
    /// The values that a session was given could not be written for it.
    ValuesNotWritten {
        /// Whose.
        session: SessionId,
        /// Why not.
        message: String,
    },
    /// Something has come of an installation.
    Installed {
        /// The request that asks for it.
        request: RequestId,
        /// What.
        install: Install,
    },
    /// Something has become of a checkpoint.
    Checkpointed {
        /// Whose.
        session: SessionId,
        /// Which one.
        checkpoint: CheckpointId,
        /// What.
        news: CheckpointNews,
    },
    /// What a session has changed was looked through for secrets.
    WorkScanned(WorkScan),
    /// Something has become of a restore.
    Restored {
        /// Whose.
        session: SessionId,
        /// Of which checkpoint.
        checkpoint: CheckpointId,
        /// What.
        news: RestoreNews,
    },
    /// Checkpoints are gone from the repository.
    Pruned {
        /// Whose.
        session: SessionId,
        /// Which.
        checkpoints: Vec<CheckpointId>,
    },
    /// A person wants a checkpoint.
    Checkpoint(SessionId),
    /// A person wants to go back to one.
    Restore {
        /// Which one.
        checkpoint: CheckpointId,
        /// Whether the conversation goes back too.
        conversation: bool,
    },
    /// What is in the tree of a gate is known, or could not be looked at.
    Collected {
        /// Which gate.
        gate: GateName,
        /// What is in it, or why it is not known.
        collected: Box<Result<Collected, String>>,
    },
    /// A command at a gate has ended.
    Checked {
        /// Which gate.
        gate: GateName,
        /// Which one, from 0.
        index: u32,
        /// What it said.
        result: CheckResult,
    },
    /// There is a place for a verifier, or none.
    VerifierReady {
        /// Of which gate.
        gate: GateName,
        /// Which one, from 1.
        round: u32,
        /// What it is to do, or why there is no place.
        order: Result<Box<Order>, String>,
    },
    /// What a verifier has said was read.
    Verified {
        /// At which gate.
        gate: GateName,
        /// Who said it.
        session: SessionId,
        /// What.
        round: Round,
    },
    /// The report of a gate is written.
    Reported(GateName),
    /// What a person was to approve is not what stands there.
    TreeChanged(RequestId),
    /// The driver of a graph reports.
    GraphReported {
        /// The session of the graph.
        session: SessionId,
        /// What.
        report: Box<GraphReport>,
    },
    /// Something came of what a main agent has asked.
    Thin {
        /// The main agent.
        session: SessionId,
        /// The number of what it asked.
        number: u64,
        /// What.
        news: ThinNews,
    },
    /// A person has looked at the work of a phase.
    Review {
        /// Where they were asked.
        request: RequestId,
        /// What they say.
        decision: Decision,
    },
    /// A person answers.
    Answer {
        /// What.
        request: RequestId,
        /// What they say.
        given: Given,
        /// How far the log of the session was written by then.
        printed: Option<LogPlace>,
    },
    /// A person takes back a permission rule of a session.
    Revoke {
        /// Whose.
        session: SessionId,
        /// Its number.
        number: u64,
    },
    /// A person writes to an agent.
    Send {
        /// To whom.
        session: SessionId,
        /// The words.
        text: String,
        /// How far its log was written by then.
        printed: Option<LogPlace>,
    },
    /// The terminal of an agent has another size.
    Resized {
        /// Whose.
        session: SessionId,
        /// Of which launch.
        launch: u32,
        /// How large it is now.
        screen: Screen,
    },
    /// Something about an office.
    Office(Box<OfficeInput>),
    /// A person calls a session something, or takes its name away.
    Rename(SessionId, Option<SessionName>),
    /// A person holds an agent.
    Pause(SessionId),
    /// A person lets it go on.
    Continue(SessionId),
    /// A person wants an agent that was lost or has ended to go on.
    Resume {
        /// Who.
        session: SessionId,
        /// What it is told.
        prompt: Option<String>,
    },
    /// A person wants it to end.
    Cancel(SessionId),
    /// A person wants the work in the worktree.
    Merge(SessionId),
    /// A person does not want it.
    Discard(SessionId),
    /// Time has passed.
    Tick,
}

/// A directory that is to be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProject {
    /// Its canonical root.
    pub root: String,
    /// What a person calls it.
    pub name: String,
    /// Whether it is a git repository.
    pub git: bool,
}

/// What can become of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretNews {
    /// It is kept.
    Stored {
        /// What is kept.
        what: String,
        /// Whether it may be given without asking.
        reuse: bool,
        /// The change of the vault that made it.
        version: u64,
    },
    /// It is not kept any more.
    Removed,
}

/// What somebody asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    /// The canonical root of the project.
    pub root: String,
    /// What a person calls it.
    pub name: String,
    /// Whether it is a git repository.
    pub git: bool,
    /// In one line.
    pub title: String,
    /// When it counts as done.
    pub terms: Terms,
    /// What the agent is to do, and how.
    pub order: Box<Order>,
    /// Where worktrees are made, if it is to have one.
    pub worktrees: Option<String>,
    /// Where that worktree begins.
    pub worktree_terms: WorktreeTerms,
    /// What it goes through, if it goes through phases.
    pub phases: Option<Box<Plan>>,
    /// The session that asks for it, if no person does: of a graph, or a main agent's.
    pub parent: Option<SessionId>,
    /// The node of that graph that it works on.
    pub node: Option<String>,
    /// The graph that its session is the handle of.
    pub graph: Option<GraphSpec>,
    /// What its session is called.
    pub session_name: Option<SessionName>,
    /// The roles that are described in the project by now.
    pub roles: Vec<String>,
}

/// Items that a shim has counted.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldedNews {
    /// How many.
    pub items: u64,
    /// The place of the last one: offset and index.
    pub last: (u64, u32),
    /// What they say was used, one report for each span.
    pub usage: Vec<Usage>,
}

/// What a shim can say.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// The agent runs.
    Started {
        /// Its process.
        pid: i32,
        /// When it began.
        began: u64,
    },
    /// Something was heard.
    Heard {
        /// The item.
        item: Value,
    },
    /// Items that ask for nothing, which the shim has counted and not written down one by one.
    Folded(FoldedNews),
    /// The tree stands still.
    Stopped {
        /// What for.
        cause: String,
        /// How many processes.
        processes: u64,
        /// Whether all were seen to stand still.
        confirmed: bool,
    },
    /// The tree was sent on.
    WentOn,
    /// Output has nowhere to go.
    Stalled {
        /// Why not.
        reason: String,
    },
    /// The agent could not be started.
    NotStarted {
        /// Why not.
        message: String,
    },
    /// Input was taken under this name.
    TookInput {
        /// The name.
        key: String,
    },
    /// Input was read by the agent.
    Consumed {
        /// Its name.
        key: String,
    },
    /// The input was closed.
    ClosedInput,
    /// The agent has ended.
    Ended {
        /// Its exit code.
        code: Option<i32>,
        /// The signal.
        signal: Option<i32>,
        /// Whether all of its tree is seen to be gone.
        clean: bool,
    },
    /// Something that a later shim says and this code does not know.
    Unknown {
        /// In its words.
        what: String,
    },
}

/// What can become of a worktree.
#[derive(Debug, Clone, PartialEq)]
pub enum WorktreeNews {
    /// It is there.
    Made {
        /// Where it began.
        base: String,
        /// The branch it is merged into.
        target: Option<String>,
    },
    /// It could not be made.
    NotMade {
        /// Why not.
        message: String,
    },
    /// Its work is merged.
    Merged {
        /// The commit.
        commit: String,
    },
    /// The merge was not possible.
    NotMerged {
        /// Why not.
        message: String,
        /// Which files are in the way.
        files: Vec<String>,
        /// Whether both sides have changed the same places in them.
        conflict: bool,
    },
    /// What came of a test of it.
    Tested {
        /// Which one, from 1.
        number: u32,
        /// What.
        verdict: TestVerdict,
    },
    /// It is gone.
    Discarded {
        /// The ref that keeps its work.
        kept: String,
    },
    /// It could not be taken away.
    NotDiscarded {
        /// Why not.
        message: String,
    },
}

/// What can come of a test of a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestVerdict {
    /// Nothing was done in it.
    Nothing,
    /// It can be merged: this commit, which has everything that was there.
    Green {
        /// The commit.
        commit: String,
    },
    /// The tests say no, or may not be run.
    Red {
        /// The commit that they are about.
        commit: String,
        /// What was run.
        command: String,
        /// What was said at the end.
        output: String,
    },
    /// Its role has failed or was ended, and it was not looked further.
    Unfinished,
    /// It could not be looked at, or not be committed.
    Hindered {
        /// Why not.
        message: String,
    },
}
