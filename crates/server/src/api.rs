//! What is said over HTTP: the bodies of requests and answers. The `OpenAPI` document is made from these types.
//!
//! They are apart from the engine's types, so that what is stored can change without what clients see.

mod call;
mod checkpoint;
mod cut;
mod execution;
mod looked;
mod memory;
mod name;
mod notification;
mod office;
mod orchestrate;
mod permission;
mod phases;
mod piece;
mod problem;
mod secret;
mod sign_in;
mod socket;
mod tasks;
mod tool_call;
mod trust;
mod usage;
mod view;
mod work_secrets;
mod worktree;

pub use call::{CallAnswer, CallState, CallView, NewCall, NewStep};
pub(crate) use call::{NotAsked, clean, text};
pub use checkpoint::{CheckpointView, NewPrune, NewRestore, PrunedView, RestoreView};
pub use cut::CutText;
pub(crate) use cut::Listed;
pub use execution::{ExecutionStatus, ExecutionView, NewExecution};
pub use looked::{LookedView, LoopEndsView, NewLook};
pub use memory::{MemoryFileView, MemoryLineView, MemorySearchView, MemorySectionView};
pub use name::{NewSessionName, SearchHitView, SearchView};
pub use notification::{NotificationsView, NotifyChannelView, NotifyState, NotifyTestView, NotifyType};
pub use office::{
    CalledView, DiagramView, InvocationStatus, InvocationView, NewInvocation, NewOfficeMessage,
    NewProjectPlace, NewResult, OfficeView, ResultView, RoleView, UnmergedView,
};
pub use orchestrate::{LoopCounts, LoopExchange, LoopPhaseView, LoopReport, LoopTaskView, LoopView, NewLoop};
pub use permission::{PermissionView, RuleView};
pub use phases::{
    AnnouncedView, ApprovedView, ArtifactView, CriterionView, ExportView, ExportedView, GateCheckView,
    GateFileView, GateProblemView, GateView, JunitView, NewExport, NewPhases, NewReview, PhaseView,
    PhasesState, PhasesView, ReviewDecision, RoundView,
};
pub use piece::{LogLineView, LogSearchView, OutputForm, PieceView, PiecesView};
pub use problem::Problem;
pub use secret::{NewSecret, SecretView, Unlock, WhichSecret};
pub use sign_in::{
    LinkView, NewLink, NewSignIn, NewToken, PageState, PageView, SignInKind, SignInView, SignedInView,
    TokenView,
};
pub use socket::TakenSocketView;
pub use tasks::{
    ClosedView, NewClose, TaskAttemptView, TaskCriterionView, TaskDetailView, TaskPhaseState, TaskPhaseView,
    TaskProblemView, TaskState, TaskView, TaskWaitView, TasksSummary, TasksView,
};
pub use tool_call::{ChangedLine, LineChange, ToolCallView};
pub use trust::{TrustView, TrustedView};
pub use usage::{BudgetView, UsageReport, UsageRow, UsageView};
pub use view::{
    AgentView, AskView, ErrandView, EventView, FieldView, FormView, InfoView, InstallView, LaunchView,
    MarkView, Outcome, OutcomeKind, OutputStream, ProjectSummary, ProjectView, RequestState, RequestView,
    RunView, SessionStatus, SessionView, SettledView, StatusView, VaultState, WaitView,
};
pub use work_secrets::{FoundSecretView, UncheckedWork, WorkSecretsView};
pub use worktree::WorktreeView;

use std::{collections::BTreeMap, fmt};

use ostler_orchestrate::Work;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use zeroize::Zeroize;

/// Something to be done, by an agent or a command.
#[expect(clippy::struct_excessive_bools, reason = "each is a wish of its own, and a field of the interface")]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRun {
    /// The directory of the project, absolute.
    pub directory: String,
    /// The agent, by the name of its table. Without one there must be a command.
    #[serde(default)]
    pub agent: Option<String>,
    /// A plain command: program and arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// What the agent is to do.
    #[serde(default)]
    pub prompt: Option<String>,
    /// What it is called in lists; the first line of what is to be done, if nothing is said.
    #[serde(default)]
    pub title: Option<String>,
    /// What its session is called, beside its id: 1 to 40 letters, digits, `-`, `_` and `.`, a letter first. No other
    /// session that is not over may have the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model, if not the agent's own choice.
    #[serde(default)]
    pub model: Option<String>,
    /// The most turns.
    #[serde(default)]
    pub turns_max: Option<u32>,
    /// Rules of the agent's CLI for what needs no permission in this run, such as `Bash(git *)`; beside those of its table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// What the agent may do without asking in this run, in the word of its CLI, such as `acceptEdits`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// More arguments for the agent's CLI in this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Whether the agent is told how to ask; yes, if nothing is said.
    #[serde(default)]
    pub guide: Option<bool>,
    /// Whether the agent is told what the project has on record (`.claude/memory/context`); yes, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<bool>,
    /// Whether the agent is given the tools with which it asks; yes, if nothing is said.
    #[serde(default)]
    pub mcp: Option<bool>,
    /// A shell command that exits with 0 only if the work is done.
    #[serde(default)]
    pub check: Option<String>,
    /// How often the agent may try until the check passes; once, if nothing is said.
    #[serde(default)]
    pub attempts_max: Option<u32>,
    /// After how many seconds of work a person is asked whether to go on.
    #[serde(default)]
    pub time_s_max: Option<u64>,
    /// After how many US dollars a person is asked whether to go on.
    #[serde(default)]
    pub cost_usd_max: Option<f64>,
    /// After how many tokens a person is asked whether to go on.
    #[serde(default)]
    pub tokens_max: Option<u64>,
    /// After how many seconds a check is ended and counts as failed; half an hour, if nothing is said.
    #[serde(default)]
    pub check_time_s_max: Option<u64>,
    /// Whether it gets a branch and a directory of its own.
    #[serde(default)]
    pub worktree: bool,
    /// Whether its worktree begins with what the checkout holds and no commit has, instead of leaving it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_changes: bool,
    /// Whether it runs on a terminal, and of which size: lines, then characters in a line.
    #[serde(default)]
    pub terminal: Option<(u16, u16)>,
    /// The environment it runs in; that of the server, if nothing is said. It is kept in a file that only the user can
    /// read, never in the journal.
    #[serde(default)]
    pub environment: Option<BTreeMap<String, String>>,
    /// Whether the agent is spoken to in Korean.
    #[serde(default)]
    pub korean: bool,
    /// Whether it is a main agent: what it prints in the thin dialect (`RESOLVE_NEXT`, `TASK_ID:T1.3`, `CUSTOM:SKIP:T1.3`)
    /// is carried out, and answered on its input.
    #[serde(default)]
    pub main: bool,
}

impl NewRun {
    /// What does a task of a task file.
    pub fn of_task(work: &Work, agent: &str, environment: BTreeMap<String, String>, korean: bool) -> NewRun {
        NewRun {
            directory: work.directory.to_string_lossy().into_owned(),
            agent: Some(agent.to_owned()),
            prompt: Some(work.prompt.clone()),
            title: Some(format!("{}: {}", work.id, work.title)),
            name: None,
            check: work.check.clone(),
            attempts_max: work.check.is_some().then_some(work.attempts_max),
            environment: Some(environment),
            korean,
            ..NewRun::default()
        }
    }
}

/// A demonstration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDemo {
    /// Whether its agents speak Korean.
    #[serde(default)]
    pub korean: bool,
    /// Whether an idea goes through all four phases, instead of a minute with three agents.
    #[serde(default)]
    pub full: bool,
}

/// An answer to a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAnswer {
    /// Words, an option, its number, or a path.
    #[serde(default)]
    pub value: Option<String>,
    /// Yes or no.
    #[serde(default)]
    pub decision: Option<bool>,
    /// Whether the words count although they are none of the options.
    #[serde(default)]
    pub insist: bool,
    /// Values by name, for a request that asks for values. They go to the vault, and nowhere else.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = Object)]
    pub values: BTreeMap<String, GivenValue>,
    /// Whether these values may be given to whoever asks for them in the same project.
    #[serde(default)]
    pub reuse: bool,
    /// Whether these values count as secret and are masked. Without it, keys do, and a variable if it looks like one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<bool>,
    /// Whether the agent has to do without, or with its default.
    #[serde(default)]
    pub skip: bool,
}

/// A value on its way to the vault. It is sent, and never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GivenValue(String);

impl GivenValue {
    /// This value.
    pub fn new(value: String) -> GivenValue {
        GivenValue(value)
    }

    /// The value itself, for the vault.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl Drop for GivenValue {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for GivenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GivenValue")
    }
}

/// Words for an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMessage {
    /// The words.
    pub text: String,
}

/// How a session is to go on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewResume {
    /// What it is told; if nothing, to go on where it was.
    #[serde(default)]
    pub prompt: Option<String>,
}

/// A terminal of another size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSize {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

/// Trust in what a repository would run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTrust {
    /// A directory of the project, absolute.
    pub directory: String,
    /// What was shown to the person who agrees: the `hash` of every command.
    pub hashes: Vec<String>,
    /// A task file whose commands were shown too, if not that of the project.
    #[serde(default)]
    pub tasks: Option<String>,
}

/// The end of trust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRevocation {
    /// A directory of the project, or its root if it is gone; absolute.
    pub directory: String,
}
