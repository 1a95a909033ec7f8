//! What clients see of projects, runs, sessions, requests and events.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    BudgetView, CutText, NewSize, PageView, PermissionView, RuleView, TakenSocketView, ToolCallView,
    UsageView, WorktreeView,
};

/// What needs somebody, and what runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StatusView {
    /// Open requests, oldest first.
    pub needs_you: Vec<RequestView>,
    /// Sessions that are not over, oldest first.
    pub sessions: Vec<SessionView>,
    /// The last event that this is true of.
    pub seq: u64,
}

/// The server itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InfoView {
    /// Its version.
    pub version: String,
    /// What tells it from the server of every other state directory, for as long as that is there.
    #[serde(default)]
    pub server: String,
    /// Its process.
    pub pid: u32,
    /// Since when, in UTC milliseconds.
    pub started_at_ms: u64,
    /// The last event of the journal.
    pub seq: u64,
    /// The user's configuration that it reads, whether or not the file is there.
    #[serde(default)]
    pub configuration: Option<String>,
    /// Where the page can be had. A server of an older version does not say it.
    #[serde(default)]
    pub page: PageView,
    /// The largest file that can be given to an agent.
    #[serde(default)]
    pub upload_bytes_max: u64,
    /// Whether secrets can be kept and given.
    #[serde(default)]
    pub vault: VaultState,
    /// The sessions whose shims are alive and cannot be reached. Only a cancel ends them.
    #[serde(default)]
    pub unreached: Vec<String>,
    /// The sockets that another process has removed or replaced since the server started.
    #[serde(default)]
    pub taken_sockets: Vec<TakenSocketView>,
}

/// Whether the vault of secrets can be used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum VaultState {
    /// As it is.
    #[default]
    Ready,
    /// Once somebody gives its passphrase.
    Locked,
    /// There is none yet, and somebody has to choose its passphrase.
    Unmade,
}

/// A repository or directory that is looked after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProjectView {
    /// Its id.
    pub id: String,
    /// What a person calls it.
    pub name: String,
    /// Its root.
    pub root: String,
    /// Whether it is a git repository.
    pub git: bool,
}

/// A project, with what goes on in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProjectSummary {
    /// Which one.
    #[serde(flatten)]
    pub project: ProjectView,
    /// How many of its sessions are neither over nor waiting for a person, and have something to do.
    pub running: u64,
    /// How many of its sessions wait for a person.
    pub waiting: u64,
    /// How many of its requests are open.
    pub requests: u64,
    /// When a session of it last changed how it is, in UTC milliseconds; null if there was none.
    pub active_at_ms: Option<u64>,
}

/// Something that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunView {
    /// Its id.
    pub id: String,
    /// The project.
    pub project: ProjectView,
    /// What was asked for, in one line.
    pub title: String,
    /// When.
    pub created_at_ms: u64,
    /// The check, if there is one.
    pub check: Option<String>,
    /// How often the agent may try.
    pub attempts_max: Option<u32>,
    /// How much may be used before a person is asked.
    #[serde(default)]
    pub budget: BudgetView,
    /// What was used for it.
    #[serde(default)]
    pub usage: UsageView,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
    /// Who works on it.
    pub sessions: Vec<SessionView>,
    /// Whether it goes through phases; how far it is stands under `/phases`.
    #[serde(default)]
    pub phased: bool,
    /// Which of its texts a list does not carry whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<CutText>,
}

/// One agent at work.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and a field of the interface")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionView {
    /// Its id.
    pub id: String,
    /// What a person calls it.
    #[serde(default)]
    pub name: Option<String>,
    /// What it works for.
    pub run: String,
    /// What was asked for, in one line.
    pub title: String,
    /// The project.
    pub project: ProjectView,
    /// The agent's name.
    pub agent: String,
    /// Whether that is any command rather than an agent.
    #[serde(default)]
    pub plain: bool,
    /// How it is.
    #[schema(value_type = SessionStatus)]
    pub status: String,
    /// Since when it is so, in UTC milliseconds.
    pub since_ms: u64,
    /// Whether it is active and has a role for which nobody has anything to do: no call is open, and nothing that was
    /// written to it is unread.
    #[serde(default)]
    pub idle: bool,
    /// Whether it goes through a task file; how far it is stands under `/orchestrate`.
    #[serde(default)]
    pub conducts: bool,
    /// The requests it waits for, oldest first.
    pub blocked_by: Vec<String>,
    /// What it waits for by itself, and until when.
    #[serde(default)]
    pub wait: Option<WaitView>,
    /// What it has asked in the thin dialect and is not answered yet, oldest first; null for who is no main agent.
    #[serde(default)]
    pub errands: Option<Vec<ErrandView>>,
    /// Where it works.
    pub directory: String,
    /// Its own branch and directory.
    pub worktree: Option<WorktreeView>,
    /// Its process, while it runs.
    pub pid: Option<i32>,
    /// Its processes so far, oldest first.
    pub launches: Vec<LaunchView>,
    /// The conversation that its CLI can resume.
    pub conversation: Option<String>,
    /// Whether it can be started again where it was.
    pub resumable: bool,
    /// Whether what it is told when it is started again is only in its environment, as `OSTLER_PROMPT`.
    #[serde(default)]
    pub told_by_environment: bool,
    /// What a person allowed its CLI until it is over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<PermissionView>,
    /// What its CLI says it used: tokens and cost.
    #[serde(default)]
    pub usage: UsageView,
    /// Whose allowance it uses, in words that hold no key.
    #[serde(default)]
    pub account: Option<String>,
    /// How often its work was checked.
    pub attempts: u32,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// When it was created.
    pub created_at_ms: u64,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
    /// Which of its texts a list does not carry whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<CutText>,
}

/// What a main agent has asked in the thin dialect, and is not answered yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrandView {
    /// Counted from 1, in its session.
    pub number: u64,
    /// What it said: `TASK_ID:T1.3`, with up to two lines below it.
    pub line: String,
    /// When, in UTC milliseconds.
    pub at_ms: u64,
    /// The run that does the task, once there is one.
    pub run: Option<String>,
}

/// How a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
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

impl SessionStatus {
    /// All of them.
    pub const ALL: [SessionStatus; 16] = [
        SessionStatus::Starting,
        SessionStatus::Active,
        SessionStatus::Checking,
        SessionStatus::WaitingInput,
        SessionStatus::WaitingDependency,
        SessionStatus::WaitingPermission,
        SessionStatus::WaitingReview,
        SessionStatus::WaitingAgent,
        SessionStatus::Installing,
        SessionStatus::Paused,
        SessionStatus::Parked,
        SessionStatus::Interrupted,
        SessionStatus::Ending,
        SessionStatus::Completed,
        SessionStatus::Failed,
        SessionStatus::Cancelled,
    ];

    /// Whether a session that is so is over.
    pub fn is_end(self) -> bool {
        matches!(self, SessionStatus::Completed | SessionStatus::Failed | SessionStatus::Cancelled)
    }
}

/// One of the two things that a process prints to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Whether a request is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestState {
    /// Nobody has answered it.
    Open,
    /// It is settled, by whomever.
    Settled,
}

/// A wait that ends by itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct WaitView {
    /// `retry`: it goes on after an error. `limit`: its account has hit a limit. `cli_retry`: its CLI tries again by
    /// itself at a limit.
    pub kind: String,
    /// Until when, in UTC milliseconds; for `limit`, the reset or the next try. Null if nobody says.
    pub until_ms: Option<u64>,
    /// For `limit`: when it resets, if somebody named that.
    pub reset_at_ms: Option<u64>,
    /// For `limit`: the account.
    pub account: Option<String>,
    /// For limits: in the words of whoever said it.
    pub message: Option<String>,
    /// For `retry`: the number of the retry that follows.
    pub retry: Option<u32>,
    /// For `retry`: after so many a person is asked.
    pub retries_max: Option<u32>,
}

/// One process of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LaunchView {
    /// Counted from 1.
    pub number: u32,
    /// Why it was started: `first`, `bring`, `resume`, `attempt`, `limit` or `rework`.
    pub cause: String,
    /// What it was told.
    pub prompt: String,
    /// When it was ordered.
    pub at_ms: u64,
    /// The process, once it ran.
    pub pid: Option<i32>,
    /// What it used.
    #[serde(default)]
    pub usage: UsageView,
    /// Where in its output the last thing that was heard begins.
    #[serde(default)]
    pub heard_at: Option<u64>,
    /// How many items of its output were counted and not recorded, because it printed more than is recorded of one launch.
    #[serde(default)]
    pub unrecorded: u64,
    /// Since when its tree stands still.
    pub stopped_at_ms: Option<u64>,
    /// How large its terminal is, if it has one.
    #[serde(default)]
    pub terminal: Option<NewSize>,
    /// Why Ostler ended it, if it did: `rest` (it waited long for an answer; the answer starts it again), `relaunch`,
    /// `cancel`, `failed`, `dismissed` or `idle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// How it ended: `how` is `exited`, `not_started` or `lost`.
    #[schema(value_type = Option<Object>)]
    pub ended: Option<Value>,
}

/// How something ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Outcome {
    /// How.
    pub outcome: OutcomeKind,
    /// Whether a check says that it is done; otherwise it is the agent's word.
    pub verified: bool,
    /// Why it failed: a `key` with its parameters.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub reason: Value,
}

/// The ways to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// It was done.
    Completed,
    /// It was not.
    Failed,
    /// Somebody ended it.
    Cancelled,
}

/// Something that somebody has to settle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RequestView {
    /// Its id.
    pub id: String,
    /// Who asks.
    pub session: String,
    /// What a person calls that session.
    #[serde(default)]
    pub session_name: Option<String>,
    /// To which run it belongs.
    pub run: String,
    /// The project.
    pub project: ProjectView,
    /// The agent's name.
    pub agent: String,
    /// The role it has in its office, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What is asked.
    pub ask: AskView,
    /// Who said it: `channel`, `speech`, `tagged`, `plain`, `stream`, or `ostler`.
    pub trust: String,
    /// Where the same also stands, so that somebody else may have written it: only a person settles it then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<MarkView>,
    /// When it was opened.
    pub opened_at_ms: u64,
    /// When nobody waits for it any more.
    pub expires_at_ms: Option<u64>,
    /// Whether nobody waits for it any more; it can still be answered.
    pub expired: bool,
    /// For an error that is tried again when it expires: the number of the retry.
    #[serde(default)]
    pub retry: Option<u32>,
    /// How it was settled.
    pub settled: Option<SettledView>,
    /// How far the answer has got: `nothing`, `waiting`, `sent`, `refused`, `prompted`, `delivered`, `consumed` (the
    /// process has read it), `heard` (the conversation holds it; only where the agent's stream proves it) or
    /// `undeliverable`.
    pub delivery: String,
    /// Whether it is open, and whoever asked has ended and cannot be started again with an answer.
    #[serde(default)]
    pub abandoned: bool,
    /// What has become of a package that was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub install: Option<InstallView>,
    /// Which of its texts a list does not carry whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<CutText>,
}

/// Where the same stands that an agent asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MarkView {
    /// In whose text: `tool_output`, `sub_agent`, `prompt`, `message` or `check`.
    pub source: String,
    /// The tool's name, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the tool was used on: a command, a path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// What is asked, in a form that can be shown without knowing every kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AskView {
    /// `question`, `ask_user`, `dependency`, `error`, `fault`, `permission`, `stall`, `steered`, `time_over`, `cost_over`,
    /// `tokens_over` or `review`.
    pub kind: String,
    /// The question, or what is wrong, or what is wanted.
    pub text: String,
    /// More about it.
    pub context: Option<String>,
    /// What can be chosen; empty where anything can be said.
    pub options: Vec<String>,
    /// What stands for an answer when there is none.
    pub default: Option<String>,
    /// Whether the agent waits for ever.
    pub required: bool,
    /// Whether a person can decline it (`skip`): the agent goes on with the default, or without.
    #[serde(default)]
    pub skippable: bool,
    /// The options that allow something for the rest of the session, the narrowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleView>,
    /// The call that waits for permission, if the agent's table knows the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolCallView>,
    /// All fields, as the agent gave them.
    #[schema(value_type = Object)]
    pub fields: Value,
    /// What has to be filled in, or what approval does, as long as it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<FormView>,
}

/// What has to be filled in, or what approval does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FormView {
    /// The values that are wanted, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldView>,
    /// Whether values under other names can be given, too.
    #[serde(default)]
    pub other_names: bool,
    /// The command that approval runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The file that approval makes or changes beside the command, such as `requirements.txt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// Whether the program runs on and does not see the values by itself: `ostler need` prints them to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unseen: bool,
    /// Why it cannot be done here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A value that is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldView {
    /// The variable.
    pub name: String,
    /// Whether nobody is to see it while it is typed.
    pub secret: bool,
    /// Whether most do without.
    pub optional: bool,
}

/// What has become of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InstallView {
    /// `running`, `installed` or `failed`.
    pub state: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a request was settled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SettledView {
    /// When.
    pub at_ms: u64,
    /// `person`, `expiry`, `repetition`, `vault`, `end`, `limit`, `change` or `rule`.
    pub by: String,
    /// With what: `answer` says which kind.
    #[schema(value_type = Object)]
    pub answer: Value,
    /// Whether it had expired by then.
    pub late: bool,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EventView {
    /// Its place in the journal.
    pub seq: u64,
    /// The version of its form.
    pub v: u32,
    /// When, in UTC milliseconds.
    #[serde(rename = "at")]
    pub at_ms: u64,
    /// What, as `noun.past_verb`.
    pub kind: String,
    /// The project.
    pub project: Option<String>,
    /// The run.
    pub run: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The fields that events of its kind have, beside the others.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    pub body: Value,
}

/// An agent that can be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentView {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// The version that was tested.
    pub tested: Option<String>,
    /// Whether the server finds its program; null if its table does not say which that is.
    #[serde(default)]
    pub installed: Option<bool>,
    /// Where its table comes from: `built in`, or a file.
    pub source: String,
    /// Whether a conversation can be taken up again.
    pub resumable: bool,
    /// How it is spoken to while it runs: `line`, `message` or `relaunch`.
    pub input: String,
    /// How it learns to ask: `none`, `argument` or `prompt`.
    pub guide: String,
    /// The table.
    #[schema(value_type = Object)]
    pub table: Value,
}
