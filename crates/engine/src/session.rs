//! One agent at work, over as many processes as it takes. Facts are stored; the status is derived from them.

mod conversation;
mod name;
mod order;
mod time;
mod worktree;

use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};

use ostler_agents::{
    InputWay,
    agent::{Argument, Terminal},
};
use ostler_protocol::fact::{AgentSession, End, RateLimit};
use serde::{Deserialize, Serialize};

use crate::{
    checkpoint::{Checkpoints, Rewind},
    id::{GraphId, MessageId, ProjectId, RunId, SessionId},
    office::{About, Standing},
    permission::SessionPermissions,
    request::{Ask, Bringing, Request},
    run::Outcome,
    thin::Errands,
    usage::{Meter, Used},
};

pub use name::{NotAName, SessionName, SessionNameEvent};
pub use order::{
    CheckRecall, LogPlace, Noted, Order, Patience, Resized, Role, Screen, StoredSecret, UnrecordedItems,
    Written,
};
pub use worktree::{
    About as WorktreeAbout, Back, Card as WorktreeCard, Choice as WorktreeChoice, UncommittedChanges,
    Worktree, WorktreeState, WorktreeTerms,
};

/// One agent at work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// What a person calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<SessionName>,
    /// Where it belongs.
    pub project: ProjectId,
    /// What it works for.
    pub run: RunId,
    /// What it is to do, and how it is run. Frozen: a table that changes later does not change a session.
    pub order: Box<Order>,
    /// When it was created.
    pub created_at_ms: u64,
    /// The place it works in, if it has one of its own.
    pub worktree: Option<Worktree>,
    /// Its processes, one after the other.
    pub launches: Vec<Launch>,
    /// The conversation that its CLI can resume.
    pub conversation: Option<AgentSession>,
    /// What people wrote to it unasked.
    pub messages: Vec<Message>,
    /// Since when it waits for its account.
    #[serde(default)]
    pub parked_at_ms: Option<u64>,
    /// When its CLI last showed that its account has no limit.
    #[serde(default)]
    pub proved_at_ms: Option<u64>,
    /// The limit at which its CLI tries again by itself.
    #[serde(default)]
    pub retrying: Option<RateLimit>,
    /// Since when a person holds it.
    pub paused_at_ms: Option<u64>,
    /// When somebody wanted it to end.
    pub cancelled_at_ms: Option<u64>,
    /// Its attempts to pass the check.
    pub attempts: Vec<Attempt>,
    /// The check that is running.
    pub checking: Option<u32>,
    /// When the check that is running has taken too long.
    #[serde(default)]
    pub check_over_at_ms: Option<u64>,
    /// Why the check that is running was told to end, if it was.
    #[serde(default)]
    pub check_ending: Option<CheckEnding>,
    /// Since when it waits for one.
    pub waiting_since_ms: Option<u64>,
    /// When it last had to wait no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_until_ms: Option<u64>,
    /// For how long it has waited, all together: for a person, while it was paused, for its account.
    #[serde(default)]
    pub waited_ms: u64,
    /// When a person is asked whether it may go on.
    pub time_over_at_ms: Option<u64>,
    /// What its CLI says it used.
    #[serde(default)]
    pub used: Used,
    /// The same by the quarter of an hour in which it was reported, by its beginning in UTC milliseconds.
    #[serde(default)]
    pub used_at: BTreeMap<u64, Used>,
    /// Where the counters of its CLI stand.
    #[serde(default)]
    pub meter: Meter,
    /// How often it went on by itself after an error.
    #[serde(default)]
    pub retries: Retries,
    /// The limit that its account has hit.
    pub limited: Option<RateLimit>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
    /// The first launch whose answers still hold if it begins again from nothing.
    #[serde(default)]
    pub anew_from: u32,
    /// How many signals came over its own socket.
    #[serde(default)]
    pub signals: u64,
    /// The keys of the last things that it told over its socket: what comes again is known.
    #[serde(default)]
    pub told: Vec<String>,
    /// The values it was given, by name; what they are is in the vault.
    #[serde(default)]
    pub values: BTreeMap<String, ValueSource>,
    /// Whether its process has to be started again to have them.
    #[serde(default)]
    pub needs_relaunch: bool,
    /// How it stands with its checkpoints.
    #[serde(default, skip_serializing_if = "Checkpoints::is_default")]
    pub checkpoints: Checkpoints,
    /// How it stands with the others of its office.
    #[serde(default, skip_serializing_if = "Standing::is_default")]
    pub office: Standing,
    /// What it has asked in the thin dialect, if it is a main agent.
    #[serde(default, skip_serializing_if = "Errands::is_default")]
    pub thin: Errands,
    /// What a person allowed its CLI until it is over.
    #[serde(default, skip_serializing_if = "SessionPermissions::is_default")]
    pub permissions: SessionPermissions,
    /// Whether it stands still, or is not started, until its phase may go on.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub gated: bool,
    /// The graph that it is the handle of. Such a session has no process of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphId>,
    /// Since when nothing more is wanted of it: its work is approved, and it may end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dismissed_at_ms: Option<u64>,
}

/// How often a session went on by itself after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Retries {
    /// In a row, as far as nobody has said otherwise and nothing else went well for long.
    pub count: u32,
    /// When that was last.
    pub at_ms: u64,
}

impl Retries {
    /// After so many in a row a person is asked.
    pub const MAX: u32 = 5;

    /// After so long without an error, the next one is another one.
    const FORGOTTEN_MS: u64 = 30 * 60_000;

    /// The number of the next one, if there may be one.
    pub(crate) fn next(self, now_ms: u64) -> Option<u32> {
        let is_old = now_ms.saturating_sub(self.at_ms) > Retries::FORGOTTEN_MS;
        let number = if is_old { 1 } else { self.count + 1 };
        (number <= Retries::MAX).then_some(number)
    }
}

/// Where a value is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "source", rename_all = "snake_case")]
pub enum ValueSource {
    /// In the vault, for this session alone.
    Session,
    /// In the vault, for everybody who asks for it in the project.
    Project,
    /// The agent itself said what to use when nobody gives anything.
    Default {
        /// That.
        text: String,
    },
}

/// One process of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Counted from 1.
    pub number: u32,
    /// Why it was started.
    pub cause: LaunchCause,
    /// Whether it began from nothing, not with what was said before.
    pub fresh: bool,
    /// What it was told.
    pub prompt: String,
    /// When it was ordered.
    pub at_ms: u64,
    /// The process, once it runs.
    pub process: Option<Process>,
    /// The last record of its shim that is known.
    pub spool_seq: u64,
    /// The place of the last thing heard: offset and index.
    pub heard: Option<(u64, u32)>,
    /// Whether its tree stands still, and since when.
    pub stopped: Option<Stop>,
    /// Stops up to this record of the shim have been lifted.
    pub released_seq: u64,
    /// The last event by which it was held again for want of what it was given; to send it on because of an earlier one
    /// is wrong.
    #[serde(default)]
    pub withheld_at: u64,
    /// Why it was told to end, if it was.
    pub ending: Option<Ending>,
    /// Whether its input was closed.
    pub input_closed: bool,
    /// Whether it was told something after its first word.
    pub fed: bool,
    /// When its input may be closed: it has said that it is through, and nothing is on its way to it.
    pub closes_at_ms: Option<u64>,
    /// What its CLI said at the end.
    pub end: Option<End>,
    /// How it ended.
    pub ended: Option<LaunchEnd>,
    /// What it used.
    #[serde(default)]
    pub used: Used,
    /// Where it takes up the conversation after a restore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewind: Option<Rewind>,
    /// How large its terminal is, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<Screen>,
    /// How many items of its output were counted and not recorded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unrecorded: u64,
    /// How often its stream has proven that the conversation holds something it was told.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub proofs: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Why a process is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchCause {
    /// It is the first.
    First,
    /// To bring something to an agent that is not running.
    Bring,
    /// A person wanted it to go on.
    Resume,
    /// The check has failed.
    Attempt,
    /// The limit that ended the last one is over.
    Limit,
    /// Its phase has come back to it.
    Rework,
}

/// A process, told from all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// When it began, in the kernel's ticks.
    pub began: u64,
    /// When it was first seen.
    pub at_ms: u64,
}

/// A tree that stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Since when.
    pub at_ms: u64,
    /// The record of the shim that says so.
    pub spool_seq: u64,
    /// Whether all of it was seen to stand still.
    pub confirmed: bool,
}

/// Why a process was told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It has waited too long; the answer starts it again.
    Rest,
    /// It takes what is brought only when it starts.
    Relaunch,
    /// Somebody wanted the session to end.
    Cancel,
    /// A person has given the work up.
    Failed,
    /// Its work is approved, and it has not ended by itself.
    Dismissed,
    /// Nobody of its office has anything for it to do.
    Idle,
}

/// Why a check was told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckEnding {
    /// It has taken too long, and counts as failed.
    Overdue,
    /// A person has given the work up.
    Failed,
}

/// What is wanted of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckWish {
    /// It is to run.
    Run,
    /// A person holds it, or is asked whether it may go on.
    Hold,
    /// Nobody wants to know its result.
    End,
}

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum LaunchEnd {
    /// By itself or by a signal.
    Exited {
        /// When.
        at_ms: u64,
        /// Its exit code.
        code: Option<i32>,
        /// The signal.
        signal: Option<i32>,
        /// Whether all of its tree is seen to be gone.
        clean: bool,
    },
    /// It never ran.
    NotStarted {
        /// When.
        at_ms: u64,
        /// Why not.
        message: String,
    },
    /// Its shim is gone and left no word.
    Lost {
        /// When that was noticed.
        at_ms: u64,
    },
}

/// What was written to an agent unasked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// The words.
    pub text: String,
    /// How far it has got.
    pub bringing: Bringing,
    /// What it carries, if it is from another agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<About>,
    /// Whether a person wrote it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub personal: bool,
}

/// One attempt to pass the check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The launch that was tried.
    pub launch: u32,
    /// The check's exit code; none if the agent failed before it came to that.
    pub code: Option<i32>,
    /// What the check said at the end.
    pub output: String,
    /// Two failures with the same signature are the same failure.
    pub signature: String,
}

/// How a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is about to begin.
    Starting,
    /// Its agent works.
    Active,
    /// Its work is being checked.
    Checking,
    /// It waits for an answer.
    WaitingInput,
    /// It waits for a thing.
    WaitingDependency,
    /// It waits to be allowed something.
    WaitingPermission,
    /// A person is asked to look at its work.
    WaitingReview,
    /// It waits for another agent.
    WaitingAgent,
    /// What it was allowed to have is being installed.
    Installing,
    /// A person holds it.
    Paused,
    /// It waits until the limit of its account is over.
    Parked,
    /// Its process was lost.
    Interrupted,
    /// It is about to end.
    Ending,
    /// It is done.
    Completed,
    /// It has failed.
    Failed,
    /// Somebody ended it.
    Cancelled,
}

impl Launch {
    pub(crate) fn new(number: u32, cause: LaunchCause, fresh: bool, prompt: &str, at_ms: u64) -> Launch {
        Launch {
            number,
            cause,
            fresh,
            prompt: prompt.into(),
            at_ms,
            process: None,
            spool_seq: 0,
            heard: None,
            stopped: None,
            released_seq: 0,
            withheld_at: 0,
            ending: None,
            input_closed: false,
            fed: false,
            closes_at_ms: None,
            end: None,
            ended: None,
            used: Used::default(),
            rewind: None,
            screen: None,
            unrecorded: 0,
            proofs: 0,
        }
    }

    /// The stop that nobody has lifted.
    pub fn held(&self) -> Option<Stop> {
        self.stopped.filter(|stop| stop.spool_seq > self.released_seq)
    }
}

/// Programs that are Node, or have it run what they are given.
const NODE_PROGRAMS: [&str; 8] = ["node", "nodejs", "npm", "npx", "pnpm", "tsx", "ts-node", "yarn"];

impl Session {
    /// The process that runs now, or is about to.
    pub fn live(&self) -> Option<&Launch> {
        self.launches.last().filter(|launch| launch.ended.is_none())
    }

    /// How large the terminal of its next process is, if it has one: as large as the last one was.
    pub(crate) fn screen(&self) -> Option<Screen> {
        let last = self.launches.last().and_then(|launch| launch.screen);
        let has_terminal = self.order.agent.terminal == Terminal::Pty;
        has_terminal.then(|| last.or(self.order.screen).unwrap_or(Screen::USUAL))
    }

    /// Where it runs.
    pub fn directory(&self) -> &str {
        match &self.worktree {
            Some(worktree) => worktree.directory.as_deref().unwrap_or(&worktree.path),
            None => &self.order.directory,
        }
    }

    /// Whether somebody else works on the same files: in the same project, or one of them in the worktree of the other.
    pub(crate) fn shares_files(&self, other: &Session) -> bool {
        let is_in = |inner: &Session, worktree: &Worktree| {
            let rest = inner.order.directory.strip_prefix(worktree.path.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match (&self.worktree, &other.worktree) {
            (None, None) => self.project == other.project,
            (Some(worktree), None) => is_in(other, worktree),
            (None, Some(worktree)) => is_in(self, worktree),
            (Some(_), Some(_)) => false,
        }
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    /// Whether its last process was lost and nobody has started another.
    pub fn is_interrupted(&self) -> bool {
        let is_lost =
            |launch: &Launch| launch.ending.is_none() && matches!(launch.ended, Some(LaunchEnd::Lost { .. }));
        self.outcome.is_none() && !self.gated && self.launches.last().is_some_and(is_lost)
    }

    /// Whether nothing more is wanted of it once it is over. A loop is not resumed but started again: what is done stands
    /// in its files.
    pub(crate) fn is_through(&self) -> bool {
        self.dismissed_at_ms.is_some() || self.verifies() || self.graph.is_some()
    }

    /// Whether it says what it thinks of somebody else's work.
    pub fn verifies(&self) -> bool {
        self.order.role.verifies()
    }

    /// Whether others still do something for it, of which it will hear.
    pub(crate) fn waits_for_others(&self) -> bool {
        self.office.waits() || self.thin.waits()
    }

    /// Whether it can do nothing before another agent has done something.
    fn waits_for_agents(&self) -> bool {
        let is_through = self.live().is_none_or(|live| live.process.is_some() && live.end.is_some());
        self.office.calls.values().any(|blocked| *blocked || is_through) || (self.thin.waits() && is_through)
    }

    /// How its last process ended, if it has.
    pub fn last_end(&self) -> Option<&LaunchEnd> {
        self.launches.last()?.ended.as_ref()
    }

    /// Whether the program that asked for values by printing runs on, and has no way to see them by itself. A Node
    /// program looks again; whoever is started later has them in its environment.
    pub fn runs_on_without_values(&self, request: &Request) -> bool {
        let asked = |live: &Launch| live.number == request.launch && live.ending.is_none();
        let agent = &self.order.agent;
        let program = agent.command.first().map_or("", Argument::text);
        let is_node = NODE_PROGRAMS.contains(&program.rsplit('/').next().unwrap_or_default());
        let is_told = agent.input.way != InputWay::Line || agent.values.reply;
        let sees = is_told || (is_node && agent.values.node);
        request.ask.wants_values() && request.call.is_none() && self.live().is_some_and(asked) && !sees
    }

    /// How it is. The requests are those of this session that it waits for.
    pub fn status(&self, blocked_by: &[&Request]) -> Status {
        match &self.outcome {
            Some(Outcome::Completed { .. }) => return Status::Completed,
            Some(Outcome::Failed { .. }) => return Status::Failed,
            Some(Outcome::Cancelled) => return Status::Cancelled,
            None => {}
        }
        let live = self.live();
        let is_given_up = live.is_some_and(|it| it.ending == Some(Ending::Failed))
            || self.check_ending == Some(CheckEnding::Failed)
            || self.checkpoints.failed.is_some();
        if self.cancelled_at_ms.is_some() || self.dismissed_at_ms.is_some() || is_given_up {
            Status::Ending
        } else if self.is_interrupted() {
            Status::Interrupted
        } else if let Some(request) =
            blocked_by.iter().filter(|it| it.is_open()).min_by_key(|it| it.ask.turn())
        {
            match request.ask {
                Ask::Dependency(_) => Status::WaitingDependency,
                Ask::Permission(_) => Status::WaitingPermission,
                Ask::Review(_) => Status::WaitingReview,
                _ => Status::WaitingInput,
            }
        } else if !blocked_by.is_empty() {
            Status::Installing
        } else if self.paused_at_ms.is_some() {
            Status::Paused
        } else if self.parked_at_ms.is_some() {
            Status::Parked
        } else if self.checking.is_some() || self.gated {
            Status::Checking
        } else if self.waits_for_agents() {
            Status::WaitingAgent
        } else if live.is_some_and(|launch| launch.process.is_some()) || self.graph.is_some() {
            Status::Active
        } else {
            Status::Starting
        }
    }
}
