//! What clients see and say of runs that go through phases.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{CutText, Outcome, ProjectView, UsageView};

/// An idea that is to go through phases.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPhases {
    /// A directory of the project, absolute; its repository's root is worked in.
    pub directory: String,
    /// The idea.
    pub idea: String,
    /// Who works, if not who the configuration says.
    #[serde(default)]
    pub agent: Option<String>,
    /// Who verifies; `none` for nobody.
    #[serde(default)]
    pub verifier: Option<String>,
    /// Whether the agents are spoken to in Korean.
    #[serde(default)]
    pub korean: bool,
    /// After how many seconds of work, in all phases and at their gates, a person is asked whether to go on.
    #[serde(default)]
    pub time_s_max: Option<u64>,
    /// After how many US dollars a person is asked whether to go on.
    #[serde(default)]
    pub cost_usd_max: Option<f64>,
    /// After how many tokens a person is asked whether to go on.
    #[serde(default)]
    pub tokens_max: Option<u64>,
    /// The environment they run in; that of the server, if nothing is said.
    #[serde(default)]
    pub environment: Option<BTreeMap<String, String>>,
}

/// What a person decides about the work of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReview {
    /// What.
    pub decision: ReviewDecision,
    /// To approve: the tree that was shown.
    #[serde(default)]
    pub tree: Option<String>,
    /// What is to be changed, or why it is rejected.
    #[serde(default)]
    pub words: Option<String>,
    /// To approve although the gate has failed.
    #[serde(default)]
    pub insist: bool,
}

/// The ways to decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewDecision {
    /// It is approved, and the next phase begins.
    Approve,
    /// It goes back to its agent.
    Changes,
    /// The run ends.
    Reject,
    /// The gate is gone through again.
    Again,
}

/// Where approved phases go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewExport {
    /// The branch; `ostler/` and the run's id, if nothing is said.
    #[serde(default)]
    pub branch: Option<String>,
}

/// A branch with what was approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExportView {
    /// The branch.
    pub branch: String,
    /// Its commits, oldest first.
    pub commits: Vec<ExportedView>,
    /// The reports of the approved gates, in Markdown.
    pub report: String,
}

/// A commit with an approved phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExportedView {
    /// The number of the phase.
    pub phase: u32,
    /// Its name.
    pub name: String,
    /// The commit.
    pub commit: String,
    /// Exactly the tree that was approved.
    pub tree: String,
}

/// A run that goes through phases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PhasesView {
    /// The run.
    pub run: String,
    /// The project.
    pub project: ProjectView,
    /// The idea, in one line.
    pub title: String,
    /// The idea.
    pub idea: String,
    /// Where it is worked.
    pub directory: String,
    /// How it is.
    pub state: PhasesState,
    /// The number of the phase that it is in.
    pub current: u32,
    /// What it waits for: open requests of its current session.
    pub blocked_by: Vec<String>,
    /// When it was asked for.
    pub created_at_ms: u64,
    /// When it ended.
    pub ended_at_ms: Option<u64>,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// What was used for it.
    pub usage: UsageView,
    /// All phases, those too that have not begun.
    pub phases: Vec<PhaseView>,
    /// Which of its texts a list does not carry whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<CutText>,
}

/// How a run through phases is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PhasesState {
    /// An agent works on its current phase.
    Working,
    /// Its work is looked at.
    Gate,
    /// A person is asked.
    Review,
    /// Every phase is approved.
    Done,
    /// A person has rejected a phase.
    Rejected,
    /// It has failed.
    Failed,
    /// Somebody ended it.
    Cancelled,
}

/// One phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PhaseView {
    /// From 1.
    pub number: u32,
    /// What people call it.
    pub name: String,
    /// `waiting`, `preparing`, `working`, `gate`, `review`, `ending`, `approved` or `ended`.
    pub state: String,
    /// Who works on it.
    pub session: Option<String>,
    /// All sessions of it: who works, then those who verified.
    pub sessions: Vec<String>,
    /// The name of the agent that works.
    pub agent: String,
    /// The name of the agent that verifies.
    pub verifier: Option<String>,
    /// When it began.
    pub started_at_ms: Option<u64>,
    /// When it was over.
    pub ended_at_ms: Option<u64>,
    /// What was used for it.
    pub usage: UsageView,
    /// How often it went back by itself since a person last had it.
    pub reworks: u32,
    /// How often it may.
    pub rework_max: u32,
    /// How many questions were asked.
    pub questions: u32,
    /// How many are recommended at most.
    pub questions_max: u32,
    /// The commit of what stood there before.
    pub base: Option<String>,
    /// What it has to produce.
    pub artifacts: Vec<ArtifactView>,
    /// What was approved.
    pub approved: Option<ApprovedView>,
    /// Its last gates, oldest first.
    pub gates: Vec<GateView>,
}

/// Files that a phase has to produce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ArtifactView {
    /// Which.
    pub glob: String,
    /// How many at least.
    pub min: u32,
    /// How many at most.
    pub max: Option<u32>,
    /// What each has to have a section about.
    pub sections: Vec<String>,
}

/// What a person has approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApprovedView {
    /// When.
    pub at_ms: u64,
    /// The gate.
    pub gate: u32,
    /// The request by which it was asked for.
    pub request: Option<String>,
    /// Exactly this tree.
    pub tree: String,
    /// The commit that has it.
    pub commit: String,
    /// Whether the gate had failed.
    pub insisted: bool,
}

/// A look at the work of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GateView {
    /// From 1, in its phase.
    pub number: u32,
    /// Why there is one: `said`, `ended`, `again` or `changed`.
    pub why: String,
    /// `waiting`, `checkpoint`, `collect`, `check`, `place`, `verifier`, `verdict`, `report`, `review` or `done`.
    pub step: String,
    /// At `check`: which command, from 0.
    pub index: Option<u32>,
    /// At `verifier` and `verdict`: who.
    pub verifier: Option<String>,
    /// At `place`: whether the verifier waits until another one that uses the same login has ended.
    #[serde(default)]
    pub waits_for_login: bool,
    /// Whether nothing is wrong; null while that is not known.
    pub passed: Option<bool>,
    /// When it began.
    pub at_ms: u64,
    /// When it was over.
    pub ended_at_ms: Option<u64>,
    /// Where a person is asked.
    pub request: Option<String>,
    /// What the agent has said.
    pub announced: Option<AnnouncedView>,
    /// The checkpoint that it is about.
    pub checkpoint: Option<String>,
    /// Its commit.
    pub commit: Option<String>,
    /// Its tree.
    pub tree: Option<String>,
    /// What is announced, expected or changed, the first of them.
    pub files: Vec<GateFileView>,
    /// How many there are.
    pub files_count: u64,
    /// What is to be run.
    pub commands: Vec<String>,
    /// What was run.
    pub checks: Vec<GateCheckView>,
    /// What verifiers have said, oldest first.
    pub rounds: Vec<RoundView>,
    /// What is wrong.
    pub problems: Vec<GateProblemView>,
    /// What was announced and is expected by nothing.
    pub extra: Vec<String>,
}

/// What an agent says of a phase that it has done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AnnouncedView {
    /// The number of the phase.
    pub phase: u32,
    /// Its name.
    pub name: Option<String>,
    /// The documents.
    pub documents: Vec<String>,
}

/// A file at a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GateFileView {
    /// Its path in the repository.
    pub path: String,
    /// How large it is; null if it is not there.
    pub bytes: Option<u64>,
    /// Whether the agent has announced it.
    pub announced: bool,
    /// Whether it is expected.
    pub expected: bool,
    /// `added`, `modified` or `deleted` since the phase began.
    pub change: Option<String>,
}

/// What a command has said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GateCheckView {
    /// The command.
    pub run: String,
    /// `setup`, `check` or `tests`.
    pub kind: String,
    /// Its exit code.
    pub code: i32,
    /// Whether it has taken too long.
    pub overdue: bool,
    /// How long it took.
    pub time_ms: u64,
    /// What it said at the end.
    pub output: String,
    /// What it wrote about its tests.
    pub junit: Option<JunitView>,
}

/// What was written about tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JunitView {
    /// How many.
    pub tests: u64,
    /// How many failed.
    pub failures: u64,
    /// How many could not be run.
    pub errors: u64,
    /// How many were left out.
    pub skipped: u64,
    /// The first of those that failed.
    pub failed: Vec<String>,
}

/// What a verifier has said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RoundView {
    /// Who it was.
    pub session: Option<String>,
    /// Whether everything is as it has to be; null if it gave no verdict.
    pub passed: Option<bool>,
    /// What it found, one by one.
    pub criteria: Vec<CriterionView>,
    /// In a sentence.
    pub summary: Option<String>,
    /// Why there is no verdict: a `key` with its parameters.
    #[schema(value_type = Option<Object>)]
    pub failure: Option<Value>,
}

/// What was found about a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CriterionView {
    /// Its name.
    pub id: String,
    /// In words.
    pub text: String,
    /// Whether it is so.
    pub passed: bool,
    /// How one can see that.
    pub evidence: String,
    /// Where.
    pub files: Vec<String>,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GateProblemView {
    /// What kind of thing, such as `missing`.
    pub key: String,
    /// In a sentence, in the run's language.
    pub text: String,
    /// The file it is about, if it is about one.
    pub path: Option<String>,
    /// All of it.
    #[schema(value_type = Object)]
    pub fields: Value,
}
