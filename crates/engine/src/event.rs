//! Events, as the journal stores them for ever: a form that changes gets a new version, and the old one stays readable.

use alloc::{boxed::Box, string::String, vec::Vec};

use ostler_protocol::mark::Mark;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::entry::{Entry, NotTaken, Parcel, VERSION};
use crate::{
    account::AccountLimit,
    answer::Answer,
    budget::Budget,
    checkpoint::{Kept, RestoredFiles, Rewind, Skip, UnrestoredFiles, Why},
    id::{AccountId, CheckpointId, RequestId, SessionId},
    phases::{Announced, Found, Return, Step, Why as Announcing, plan::Plan},
    request::{Ask, By, Call, Caller, Install},
    run::{Outcome, Terms, Trusted},
    session::{
        self, Attempt, CheckRecall, Ending, LaunchCause, LaunchEnd, LogPlace, Noted, Order, Worktree, Written,
    },
};

/// What can happen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum Event {
    /// A repository is looked after from now on.
    #[serde(rename = "project.registered")]
    ProjectRegistered {
        /// Its canonical root.
        root: String,
        /// What a person calls it.
        name: String,
        /// Whether it is a git repository.
        git: bool,
    },
    /// Other roles are described in it than before.
    #[serde(rename = "project.roles")]
    ProjectRoles {
        /// Their names.
        names: Vec<String>,
    },
    /// A secret is kept for the project. Its value is in the vault and nowhere else.
    #[serde(rename = "secret.stored")]
    SecretStored(session::StoredSecret),
    /// A secret is no longer kept.
    #[serde(rename = "secret.removed")]
    SecretRemoved {
        /// Its name.
        secret: String,
    },
    /// A person lets a repository run something.
    #[serde(rename = "trust.given")]
    TrustGiven {
        /// What, in addition to what it may run already.
        commands: Vec<Trusted>,
    },
    /// A person lets a repository run nothing any more.
    #[serde(rename = "trust.revoked")]
    TrustRevoked,
    /// Somebody asked for something.
    #[serde(rename = "run.created")]
    RunCreated {
        /// In one line.
        title: String,
        /// When it counts as done.
        terms: Terms,
        /// The loop that asked for it, if no person did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<SessionId>,
    },
    /// How a run ended.
    #[serde(rename = "run.ended")]
    RunEnded {
        /// How.
        outcome: Outcome,
    },
    /// A run that had ended goes on.
    #[serde(rename = "run.reopened")]
    RunReopened,
    /// It may use more.
    #[serde(rename = "run.raised")]
    RunRaised {
        /// All that it may use.
        budget: Budget,
    },
    /// A run goes through phases.
    #[serde(rename = "run.phased")]
    RunPhased {
        /// All that is known of them beforehand.
        plan: Box<Plan>,
    },
    /// A loop has done a step: written before there were graphs.
    #[serde(rename = "loop.moved")]
    LoopMoved {
        /// Which.
        step: crate::orchestrate::LoopStep,
    },
    /// A phase begins: this session works on it.
    #[serde(rename = "phase.started")]
    PhaseStarted {
        /// Its number.
        phase: u32,
    },
    /// It is known what stood there before.
    #[serde(rename = "phase.based")]
    PhaseBased {
        /// Its number.
        phase: u32,
        /// The commit.
        commit: String,
    },
    /// Somebody says that a phase is done, or its agent has ended: a gate begins.
    #[serde(rename = "phase.announced")]
    PhaseAnnounced {
        /// Its number.
        phase: u32,
        /// The number of the gate.
        gate: u32,
        /// Why.
        why: Announcing,
        /// What was said, if anything was.
        announced: Option<Announced>,
    },
    /// More was asked in a phase than is recommended.
    #[serde(rename = "phase.warned")]
    PhaseWarned {
        /// Its number.
        phase: u32,
        /// How many questions.
        questions: u32,
    },
    /// A gate comes to its next step.
    #[serde(rename = "gate.moved")]
    GateMoved {
        /// The number of the phase.
        phase: u32,
        /// Its own.
        gate: u32,
        /// Which step.
        step: Step,
    },
    /// Something is known at a gate.
    #[serde(rename = "gate.found")]
    GateFound {
        /// The number of the phase.
        phase: u32,
        /// Its own.
        gate: u32,
        /// What.
        found: Found,
    },
    /// A phase goes back to its agent.
    #[serde(rename = "phase.returned")]
    PhaseReturned {
        /// Its number.
        phase: u32,
        /// Why.
        why: Return,
        /// What the agent is told.
        words: String,
        /// Whether it is told as a message; else when it is started.
        message: bool,
    },
    /// A person has approved a phase.
    #[serde(rename = "phase.approved")]
    PhaseApproved {
        /// Its number.
        phase: u32,
        /// The gate that it came through.
        gate: u32,
        /// The tree.
        tree: String,
        /// The commit that has it.
        commit: String,
        /// Whether the gate had failed.
        insisted: bool,
    },
    /// An agent is to work.
    #[serde(rename = "session.created")]
    SessionCreated {
        /// What it is to do, and how.
        order: Box<Order>,
        /// The place it gets.
        worktree: Option<Worktree>,
    },
    /// A process of it is to be started.
    #[serde(rename = "session.launched")]
    SessionLaunched {
        /// Its number.
        launch: u32,
        /// Why.
        cause: LaunchCause,
        /// Whether it begins from nothing, not with what was said before.
        fresh: bool,
        /// What it is told.
        prompt: String,
        /// Where it takes up the conversation after a restore.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rewind: Option<Rewind>,
    },
    /// The process runs.
    #[serde(rename = "session.started")]
    SessionStarted {
        /// Which launch.
        launch: u32,
        /// The shim's record.
        spool_seq: u64,
        /// The process.
        pid: i32,
        /// When it began, in the kernel's ticks.
        began: u64,
    },
    /// Something was heard on its output.
    #[serde(rename = "session.heard")]
    SessionHeard {
        /// Which launch.
        launch: u32,
        /// The shim's record; none if the log was read again after the shim was lost.
        spool_seq: Option<u64>,
        /// The item, as `ostler parse` prints it.
        item: Value,
    },
    /// It printed more than is recorded of one launch. What asks, calls or brings something is still recorded.
    #[serde(rename = "session.unrecorded")]
    SessionUnrecorded(session::UnrecordedItems),
    /// It told something over its own socket that nobody has to settle.
    #[serde(rename = "session.told")]
    SessionTold {
        /// Which launch.
        launch: u32,
        /// Which of the signals over its socket it is.
        number: u64,
        /// The caller's own name for it.
        key: String,
        /// The item, as `ostler parse` would print it.
        item: Value,
    },
    /// Its tree stands still.
    #[serde(rename = "session.stopped")]
    SessionStopped {
        /// Which launch.
        launch: u32,
        /// The shim's record.
        spool_seq: u64,
        /// What for: `signal`, `command` or `stall`.
        cause: String,
        /// How many processes.
        processes: u64,
        /// Whether all were seen to stand still.
        confirmed: bool,
    },
    /// Its tree was sent on.
    #[serde(rename = "session.continued")]
    SessionContinued {
        /// Which launch.
        launch: u32,
        /// The shim's record.
        spool_seq: u64,
    },
    /// Its tree is to be sent on.
    #[serde(rename = "session.released")]
    SessionReleased {
        /// Which launch.
        launch: u32,
        /// Stops up to this record of the shim are lifted.
        spool_seq: u64,
    },
    /// Its process was told to end.
    #[serde(rename = "session.recalled")]
    SessionRecalled {
        /// Which launch.
        launch: u32,
        /// Why.
        why: Ending,
    },
    /// Its process has ended.
    #[serde(rename = "session.ended")]
    SessionEnded {
        /// Which launch.
        launch: u32,
        /// The shim's record; none if the shim left no word.
        spool_seq: Option<u64>,
        /// How.
        end: LaunchEnd,
    },
    /// Its terminal has another size.
    #[serde(rename = "session.resized")]
    SessionResized(session::Resized),
    /// A person holds it.
    #[serde(rename = "session.paused")]
    SessionPaused,
    /// A person lets it go on.
    #[serde(rename = "session.unpaused")]
    SessionUnpaused,
    /// A person wants it to end.
    #[serde(rename = "session.cancelled")]
    SessionCancelled,
    /// A person wants it to go on after it was lost or had ended.
    #[serde(rename = "session.resumed")]
    SessionResumed {
        /// Whether it was over, or is told something else than before: what people allowed is asked anew.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        anew: bool,
    },
    /// It is over.
    #[serde(rename = "session.finished")]
    SessionFinished {
        /// How it ended.
        outcome: Outcome,
    },
    /// Its time is counted anew from here.
    #[serde(rename = "session.extended")]
    SessionExtended {
        /// When a person is asked again; never, if nothing.
        time_over_at_ms: Option<u64>,
    },
    /// It waits until the limit of its account is over.
    #[serde(rename = "session.parked")]
    SessionParked {
        /// The account.
        account: AccountId,
    },
    /// It need not wait for its account any longer.
    #[serde(rename = "session.unparked")]
    SessionUnparked,
    /// An account has hit a limit: its sessions wait.
    #[serde(rename = "account.limited")]
    AccountLimited(AccountLimit),
    /// One of its sessions goes on: the wait is over, the one before has shown that it is, or a person wants it.
    #[serde(rename = "account.tried")]
    AccountTried {
        /// Its id.
        account: AccountId,
    },
    /// Nobody waits for it any more.
    #[serde(rename = "account.recovered")]
    AccountRecovered {
        /// Its id.
        account: AccountId,
    },
    /// Somebody wrote to it.
    #[serde(rename = "message.written")]
    MessageWritten(Written),
    /// Something was handed to a launch.
    #[serde(rename = "input.sent")]
    InputSent {
        /// Which launch.
        launch: u32,
        /// What.
        parcel: Parcel,
    },
    /// The shim has taken it for the agent, or it stands in the prompt.
    #[serde(rename = "input.delivered")]
    InputDelivered {
        /// Which launch.
        launch: u32,
        /// The shim's record; none if it stood in the prompt.
        spool_seq: Option<u64>,
        /// What.
        parcel: Parcel,
    },
    /// The agent has read it.
    #[serde(rename = "input.consumed")]
    InputConsumed {
        /// Which launch.
        launch: u32,
        /// The shim's record; none if it is known only from the end of a process that had it.
        spool_seq: Option<u64>,
        /// What.
        parcel: Parcel,
    },
    /// The agent's conversation holds it: a process that resumes the conversation knows it.
    #[serde(rename = "input.heard")]
    InputHeard {
        /// Which launch.
        launch: u32,
        /// What.
        parcel: Parcel,
    },
    /// The shim did not take it.
    #[serde(rename = "input.refused")]
    InputRefused(NotTaken),
    /// There is nobody left to bring it to.
    #[serde(rename = "input.returned")]
    InputReturned {
        /// What.
        parcel: Parcel,
    },
    /// There will be no more input for a launch.
    #[serde(rename = "input.closed")]
    InputClosed {
        /// Which launch.
        launch: u32,
    },
    /// Somebody has to settle something.
    #[serde(rename = "request.opened")]
    RequestOpened {
        /// Its id.
        request: RequestId,
        /// The launch that asks.
        launch: u32,
        /// What is asked.
        ask: Ask,
        /// Who said it.
        trust: String,
        /// Where the same also stands.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark: Option<Mark>,
        /// When nobody waits for it any more.
        expires_at_ms: Option<u64>,
        /// The call that waits for it, if it came over the session's socket.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Call>,
    },
    /// A later launch or call asks the same.
    #[serde(rename = "request.repeated")]
    RequestRepeated {
        /// Which one.
        request: RequestId,
        /// The launch that asks.
        launch: u32,
        /// What is asked, with the numbers of this launch.
        ask: Ask,
        /// Where the same also stands, now or when it was asked first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mark: Option<Mark>,
        /// When nobody waits for it any more.
        expires_at_ms: Option<u64>,
        /// The call that waits for it now, if it came over the session's socket.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<Call>,
    },
    /// Who asked it over the session's socket is not there any more.
    #[serde(rename = "request.parted")]
    RequestParted {
        /// Which one.
        request: RequestId,
        /// How it stands with the caller.
        caller: Caller,
    },
    /// The process that asked is gone, and the next began from nothing: nobody waits for it, unless it is asked again.
    #[serde(rename = "request.left")]
    RequestLeft {
        /// Which one.
        request: RequestId,
    },
    /// It is settled.
    #[serde(rename = "request.settled")]
    RequestSettled {
        /// Which one.
        request: RequestId,
        /// By whom.
        by: By,
        /// With what.
        answer: Answer,
        /// Whether something is to be brought to the agent.
        brings: bool,
        /// Whether its process has to be started again to have what it was given.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        relaunches: bool,
        /// Whether its program runs on and does not see the values that it was given by itself.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        unseen: bool,
        /// How far the log of its process was written by then, where a person answered a process that ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        printed: Option<LogPlace>,
    },
    /// Nobody waits for it any more.
    #[serde(rename = "request.expired")]
    RequestExpired {
        /// Which one.
        request: RequestId,
    },
    /// Values that it was given could not be put where it finds them: it does not go on before they are there.
    #[serde(rename = "values.withheld")]
    ValuesWithheld {
        /// Which launch.
        launch: u32,
        /// Why not.
        reason: String,
    },
    /// A package is to be installed, because a person approved it.
    #[serde(rename = "install.started")]
    InstallStarted {
        /// The request that asks for it.
        request: RequestId,
    },
    /// Something has come of it.
    #[serde(rename = "install.finished")]
    InstallFinished {
        /// The request that asks for it.
        request: RequestId,
        /// What.
        install: Install,
        /// Whether that is to be brought to the agent.
        brings: bool,
    },
    /// The check is to be run.
    #[serde(rename = "check.started")]
    CheckStarted {
        /// Its number: that of the launch whose work it looks at.
        number: u32,
    },
    /// The check was told to end, because its time is over or somebody has given the work up.
    #[serde(rename = "check.recalled")]
    CheckRecalled(CheckRecall),
    /// An attempt has been judged.
    #[serde(rename = "check.finished")]
    CheckFinished {
        /// The check's number, if it came to that.
        number: Option<u32>,
        /// What came of it.
        attempt: Attempt,
    },
    /// The place to work in is there, or something else has become of it.
    #[serde(rename = "worktree.changed")]
    WorktreeChanged {
        /// How it is now.
        worktree: Worktree,
    },
    /// What stands in the directory is to be kept.
    #[serde(rename = "checkpoint.wanted")]
    CheckpointWanted {
        /// Its id.
        checkpoint: CheckpointId,
        /// Why.
        why: Why,
        /// Whether the agent waits for it.
        holds: bool,
        /// The launch whose work it is.
        launch: Option<u32>,
        /// The conversation by then.
        conversation: Option<String>,
        /// What is open by then.
        requests: Vec<RequestId>,
    },
    /// It is kept.
    #[serde(rename = "checkpoint.made")]
    CheckpointMade {
        /// Which one.
        checkpoint: CheckpointId,
        /// What the repository has of it.
        kept: Kept,
    },
    /// There is no checkpoint.
    #[serde(rename = "checkpoint.skipped")]
    CheckpointSkipped {
        /// Which one; none if there will be none at all.
        checkpoint: Option<CheckpointId>,
        /// Why not.
        reason: Skip,
    },
    /// Files are to be brought back to a checkpoint.
    #[serde(rename = "checkpoint.restoring")]
    CheckpointRestoring {
        /// Which one.
        checkpoint: CheckpointId,
        /// Its commit.
        commit: String,
        /// The one that is made of what stands there first.
        before: CheckpointId,
        /// Where the conversation is taken up, if it goes back too.
        rewind: Option<Rewind>,
    },
    /// Files are as they were then.
    #[serde(rename = "checkpoint.restored")]
    CheckpointRestored(RestoredFiles),
    /// Files could not be brought back, and are as they were.
    #[serde(rename = "checkpoint.not_restored")]
    CheckpointNotRestored(UnrestoredFiles),
    /// A checkpoint was let go.
    #[serde(rename = "checkpoint.pruned")]
    CheckpointPruned {
        /// Which one.
        checkpoint: CheckpointId,
    },
    /// A record of the shim that changes nothing.
    #[serde(rename = "session.noted")]
    SessionNoted(Noted),
    /// Something has happened to a graph.
    #[serde(untagged)]
    Graph(crate::graph::GraphEvent),
    /// Something has happened between agents.
    #[serde(untagged)]
    Office(crate::office::OfficeEvent),
    /// A main agent has said something in the thin dialect, or is answered.
    #[serde(untagged)]
    Thin(crate::thin::ThinEvent),
    /// A person is offered, gives or takes back a permission for the rest of a session.
    #[serde(untagged)]
    Permission(crate::permission::PermissionEvent),
    /// A secret is in a session's work, or the work could not be checked.
    #[serde(untagged)]
    WorkSecret(crate::work_secret::WorkSecretEvent),
    /// A person calls a session something.
    #[serde(untagged)]
    Name(session::SessionNameEvent),
}
