//! The office: agents of a project that call each other by name, and bring each other results.
//!
//! A call and a result are records of their own, beside sessions and requests. What carries their words is a message of
//! the session that is to read them, so there is one queue for everything that an agent is told.

mod event;
mod repeats;

use alloc::{
    boxed::Box,
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    vec::Vec,
};

use ostler_agents::agent::Terminal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    id::{InvocationId, MessageId, ProjectId, RequestId, ResultId, RunId, SessionId},
    request::{Bringing, Call, Caller},
    run::Terms,
    session::{LogPlace, Order, Session},
};

pub use event::OfficeEvent;
pub use repeats::RepeatedCalls;

/// How many calls deep agents may wait for each other.
pub const DEPTH_MAX: u32 = 8;

/// How many calls of one agent may be open at once.
pub const OPEN_MAX: usize = 16;

/// One agent has called another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Invocation {
    /// Its id.
    pub id: InvocationId,
    /// Where it belongs.
    pub project: ProjectId,
    /// The run of who began the chain that it is part of.
    pub run: RunId,
    /// The session of who called.
    pub session: SessionId,
    /// The name of who called: its role, or the id of its session.
    pub caller: String,
    /// The role that was called.
    pub callee: String,
    /// What is to be done.
    pub task: String,
    /// What the other should know.
    pub context: Option<String>,
    /// Who said it, as the parser names it.
    pub trust: String,
    /// How many calls deep it is.
    pub depth: u32,
    /// When.
    pub opened_at_ms: u64,
    /// The process that is blocked until it is over, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// What a person is asked before it is made, because nothing came of the same call before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldCall>,
    /// The session that is to do it.
    pub seat: Option<SessionId>,
    /// Where its words are, if they are too long to be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// The message of that session that has its words.
    pub message: Option<MessageId>,
    /// How many processes had its words and ended without reading them.
    #[serde(default)]
    pub unread: u32,
    /// When its words were read.
    pub began_at_ms: Option<u64>,
    /// What came of it.
    pub ended: Option<Ended>,
}

impl Invocation {
    /// Whether it can still be done.
    pub fn is_open(&self) -> bool {
        self.ended.is_none()
    }

    /// Whether a process is blocked until it is over, and has not been told that it is.
    pub fn is_waited_for(&self) -> bool {
        self.call.as_ref().is_some_and(|call| call.caller == Caller::Blocked)
    }

    /// Whether a process hears by itself how it ends: one that is blocked, or one that called and does not know yet
    /// whether anybody is called.
    pub(crate) fn is_heard(&self) -> bool {
        self.is_waited_for() || (self.call.is_some() && self.seat.is_none() && self.held.is_none())
    }

    /// Whether anything can still happen to it.
    pub fn is_live(&self) -> bool {
        self.is_open() || self.is_waited_for()
    }
}

/// A call about which a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCall {
    /// Where the person is asked.
    pub request: RequestId,
    /// Whether the person has said that it may be made.
    pub released: bool,
}

/// When a repeated call is held, and what the caller's files are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RepeatTerms {
    /// So often the same call may end in a row while nothing changes; without an end if none.
    pub max: Option<u32>,
    /// Stands for the files of the caller and of who is called, where that is known.
    pub files: Option<String>,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// When.
    pub at_ms: u64,
    /// How.
    pub status: Verdict,
    /// Why.
    pub why: Why,
    /// What was brought, if it was.
    pub result: Option<ResultId>,
    /// What the caller is told, where that is more than the result.
    pub words: Option<String>,
}

/// The ways in which a call ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It was done.
    Completed,
    /// It was not done.
    Failed,
    /// Nobody wants it any more.
    Cancelled,
}

/// Why a call has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Its result was brought.
    Delivered,
    /// Who works on it has completed its step.
    Step,
    /// Who works on it has ended, and well.
    Ended,
    /// Who works on it has ended, and not well.
    Failed,
    /// The process of who works on it was lost, and the next would know nothing of it.
    Lost,
    /// Nobody has that name.
    UnknownRole,
    /// The role cannot be used as it stands in its file.
    BadRole,
    /// Everybody in it would have waited for the next.
    Cycle,
    /// It would have been one too deep.
    TooDeep,
    /// Its caller has too many open already.
    TooMany,
    /// Nothing came of the same call before, and a person has stopped it.
    Repeated,
    /// It also stands where somebody else may have written it.
    Marked,
    /// Its caller, or a person, does not want it any more.
    Cancelled,
}

/// Something that one agent brings another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Handover {
    /// Its id.
    pub id: ResultId,
    /// Where it belongs.
    pub project: ProjectId,
    /// The run of who began the chain that it is part of.
    pub run: RunId,
    /// The session of who gave it.
    pub session: SessionId,
    /// The name of who gave it.
    pub from: String,
    /// The name of who is to have it.
    pub to: String,
    /// What sort of thing it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// The thing itself, or its beginning.
    pub content: String,
    /// Where it is, if it is too long to be said; or the copy of a file that stands in a worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<Reference>,
    /// Whether the content is only its beginning, and all of it stands where the reference says.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub cut: bool,
    /// The call that it is the result of.
    pub invocation: Option<InvocationId>,
    /// Whether that was over by then.
    pub late: bool,
    /// When.
    pub given_at_ms: u64,
    /// The session that is to read it; none as long as nobody has that name.
    pub receiver: Option<SessionId>,
    /// The message of that session that has its words.
    pub message: Option<MessageId>,
    /// When it was read.
    pub delivered_at_ms: Option<u64>,
}

impl Handover {
    /// The copy of the file that is brought, if there is one: the file itself goes with its worktree.
    pub fn copy(&self) -> Option<&Reference> {
        self.reference.as_ref().filter(|_| self.kind == "file_path")
    }
}

/// Something that is kept in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reference {
    /// The file.
    pub path: String,
    /// How long it is.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}

/// What a message of a session carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// What it is called for.
    Task(InvocationId),
    /// What it is brought.
    Result(ResultId),
}

/// How a session stands with the others of its office.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Standing {
    /// Its own calls that are open, and whether a process of it is blocked for one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<InvocationId, bool>,
    /// What it is called for and has not done, oldest first.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tasks: BTreeSet<InvocationId>,
    /// That of them which it works on, or is about to be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<InvocationId>,
    /// The last one that it has done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Past>,
    /// The launch and the place of its output behind the last result that it has printed: that its step is complete,
    /// printed right there, is about the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<(u32, u64)>,
    /// Since when it has nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_since_ms: Option<u64>,
    /// The last launch that was told anything, and when it was first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<(u32, u64)>,
    /// When it was last looked whether it still prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listened_at_ms: Option<u64>,
    /// Whether a person's words were handed to it, and it has said nothing since, as far as is known.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub owes_word: bool,
    /// What it has printed for others and is being looked at, by where it was heard.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub examined: BTreeSet<String>,
    /// That its step is complete, printed while something is being looked at: it may be about the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Step>,
    /// What it gave last, by where it was heard: what comes again is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<String>,
    /// What stands for all that it has said to others since it was last told something, if it has a terminal: what it says
    /// again until then is a screen that is drawn again.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub drawn: BTreeSet<u64>,
    /// The calls that it repeats.
    #[serde(default, skip_serializing_if = "RepeatedCalls::is_default")]
    pub repeats: RepeatedCalls,
}

impl Standing {
    /// How many places are remembered: only what was heard just now comes again.
    pub(crate) const GIVEN_MAX: usize = 32;

    /// How much of what was said is known again.
    pub(crate) const DRAWN_MAX: usize = 1_000;

    pub(crate) fn is_default(&self) -> bool {
        *self == Standing::default()
    }

    /// Something that it has printed for others was looked at.
    pub(crate) fn looked_at(&mut self, origin: &str) {
        self.examined.remove(origin);
        if self.examined.is_empty() {
            self.step = None;
        }
    }

    /// Whether it waits for others.
    pub fn waits(&self) -> bool {
        !self.calls.is_empty()
    }
}

/// A step that is said to be complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The launch and the place of its output, if it was printed.
    pub printed: Option<(u32, u64)>,
    /// What is said of it.
    pub summary: Option<String>,
}

/// A call that a session has worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// Which one.
    pub invocation: InvocationId,
    /// Who called.
    pub caller: String,
    /// The session of who called.
    pub session: SessionId,
    /// Whether it has had its result.
    pub has_result: bool,
}

/// Something that is to be brought, as it was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Who is to have it.
    pub to: String,
    /// What sort of thing it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// The thing itself.
    pub content: String,
    /// The call that is meant, if one was named.
    pub invocation: Option<InvocationId>,
    /// Where it was heard: the launch with the place in its output, or the key of the call.
    pub origin: String,
    /// The launch, and behind which place of its output it ends, if it was printed.
    pub printed: Option<(u32, u64)>,
}

/// Who is called, or is to have something, as it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Seat {
    /// The name of the role, as it is written.
    pub name: String,
    /// The session that had it last, as far as is known.
    pub session: Option<SessionId>,
    /// How it would be run.
    pub order: Box<Order>,
    /// How far it may go.
    pub terms: Terms,
    /// Where worktrees are made, if it is to have one of its own.
    pub worktrees: Option<String>,
    /// Where the words are, if they are too long for it.
    pub reference: Option<Reference>,
}

/// Why nobody is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum NoSeat {
    /// Nobody has that name.
    Unknown {
        /// Those that there are.
        roles: Vec<String>,
    },
    /// The role cannot be used.
    Bad {
        /// Why not, with file and line.
        message: String,
    },
}

/// What was found about something that is to be brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// The name of who is to have it, as it is written.
    pub to: String,
    /// What is kept of it, if that is not what was said: a path, or its beginning.
    pub content: Option<String>,
    /// Where it is, if it is too long to be said; or the copy of a file that stands in a worktree.
    pub reference: Option<Reference>,
    /// Whether only its beginning is kept beside the reference.
    pub cut: bool,
}

/// What happens outside that concerns an office.
#[derive(Debug, Clone, PartialEq)]
pub enum OfficeInput {
    /// A process of an agent calls another agent over the session's own socket.
    Invoke {
        /// Whose process.
        session: SessionId,
        /// Of which launch.
        launch: u32,
        /// Its own name for the call.
        key: String,
        /// Who is called.
        callee: String,
        /// What is to be done.
        task: String,
        /// What the other should know.
        context: Option<String>,
        /// Its number, and when it began.
        process: (i32, u64),
        /// Whether it is blocked until the call is over.
        waits: bool,
    },
    /// It was looked who is called.
    Seated {
        /// By which call.
        invocation: InvocationId,
        /// Who, or why nobody.
        seat: Result<Box<Seat>, NoSeat>,
        /// When a call that is repeated is held.
        repeats: RepeatTerms,
    },
    /// It was looked at what somebody brings.
    Examined {
        /// Who brings it.
        session: SessionId,
        /// The launch that says so over the session's own socket; none if it was printed.
        launch: Option<u32>,
        /// What.
        delivery: Delivery,
        /// To whom, or why not.
        found: Result<Examined, String>,
    },
    /// The process that was blocked has what it waited for, and says it to its agent only if this is taken.
    Taken {
        /// By which call.
        invocation: InvocationId,
        /// Its own name for the call.
        key: String,
    },
    /// The process that was blocked is gone.
    CallerGone {
        /// By which call.
        invocation: InvocationId,
        /// Its own name for the call.
        key: String,
    },
    /// It was looked when somebody has last printed something, and whether it is at work.
    Listened {
        /// Who.
        session: SessionId,
        /// Which process of it.
        launch: u32,
        /// When, if it has printed anything.
        printed_at_ms: Option<u64>,
        /// Whether processes of it are seen to do something.
        at_work: bool,
    },
    /// Somebody does not want a call any more.
    Cancel(InvocationId),
    /// A person writes to a role.
    Send {
        /// Whose office it is.
        project: ProjectId,
        /// To whom.
        seat: Box<Seat>,
        /// The words.
        text: String,
        /// How far the log of its session was written by then.
        printed: Option<LogPlace>,
    },
}

/// Whether somebody works as a role, and nobody has anything for it to do. Who says when it is through has something to
/// do until then; of any other program only this is known, and not whether it is still busy with what it has read.
pub fn has_nothing_to_do(session: &Session) -> bool {
    let live = session.live().filter(|live| live.process.is_some() && live.ending.is_none());
    let (Some(live), Some(_)) = (live, session.order.role.seat()) else { return false };
    let tells_what_it_reads = session.order.agent.terminal == Terminal::None;
    let is_on_its_way = session.messages.iter().any(|message| match message.bringing {
        Bringing::Waiting | Bringing::Sent { .. } => true,
        Bringing::Delivered { launch } => tells_what_it_reads && launch == live.number,
        _ => false,
    });
    let is_held = live.held().is_some() || session.paused_at_ms.is_some() || session.parked_at_ms.is_some();
    let is_at_work = says_when_through(session) && live.end.is_none();
    let has_calls = session.office.waits() || !session.office.tasks.is_empty();
    !(has_calls || is_on_its_way || is_held || is_at_work)
}

/// Whether an agent ends by itself, or says that its input can be closed.
pub(crate) fn says_when_through(session: &Session) -> bool {
    session.order.agent.end.required || session.order.agent.end.close_input
}

/// Where something was heard in the output of an agent.
pub(crate) fn origin(launch: u32, item: &Value) -> String {
    let number = |key: &str| item[key].as_u64().unwrap_or_default();
    format!("{launch}:{}.{}", number("offset"), number("index"))
}

/// The name of a session in its office: that of its role, or its id.
pub(crate) fn name_of(order: &Order, id: SessionId) -> String {
    order.role.seat().map_or_else(|| id.to_string(), ToString::to_string)
}
