//! Work that a person asked for in one go: nodes, each done by an agent, and groups that are tested and merged together.
//!
//! A task file is the front end so far ([`crate::orchestrate`]). The file says which tasks exist; a node gets its row when
//! its task is first started or decided. Rows hold facts; [`WorkNode::state`] alone derives what a node is doing.
//! The graph's session is the handle for pause, cancel and requests. No row grows with the number of nodes.

mod decision;
mod event;

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use ostler_protocol::signal::UserQuestion;
use serde::{Deserialize, Serialize};

pub use self::{
    decision::{NodeStart, end, start},
    event::{GraphEvent, GroupChange},
};
use crate::{
    answer::Answer,
    check_output::tests_run,
    id::{GraphId, GroupId, NodeId, ProjectId, RequestId, RunId, SessionId},
    orchestrate::{About, Choice, LoopSpec},
    run::{Outcome, Run},
    session::Session,
};

/// What a graph was asked to do. Frozen: a person who wants something else starts another graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "front_end", rename_all = "snake_case")]
pub enum GraphSpec {
    /// Go through a task file.
    TaskFile(LoopSpec),
}

/// A graph. Its nodes and groups have rows of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkGraph {
    /// Its id.
    pub id: GraphId,
    /// Its project.
    pub project: ProjectId,
    /// Its run.
    pub run: RunId,
    /// The session by which people pause, cancel and answer it.
    pub session: SessionId,
    /// What it was asked.
    pub spec: GraphSpec,
    /// The question that holds the whole graph, until the answer is carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<GraphHold>,
    /// Runs that ended before their task named them. Only journals from before there were graphs have such.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unclaimed: BTreeMap<RunId, RunSummary>,
}

/// A question to a person that holds a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphHold {
    /// Its card in the inbox.
    pub request: RequestId,
    /// What the question is about.
    pub about: About,
    /// The person's answer, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// One piece of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkNode {
    /// Its id.
    pub id: NodeId,
    /// Its graph.
    pub graph: GraphId,
    /// Its project.
    pub project: ProjectId,
    /// The run of the graph, not of the node.
    pub run: RunId,
    /// The session of the graph.
    pub session: SessionId,
    /// The name that people use, unique in the graph: a task's id.
    pub key: String,
    /// The run that has the node now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<RunId>,
    /// One for each time it was started from nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<NodeAttempt>,
    /// How the node ended; none while it is open again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<NodeResult>,
    /// The effort of all attempts that ended.
    #[serde(default)]
    pub spent: NodeEffort,
    /// The number of attempts that `spent` includes.
    #[serde(default)]
    pub counted: u32,
}

/// One start of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeAttempt {
    /// The run that works on it.
    pub run: RunId,
    /// When it started.
    pub started_at_ms: u64,
    /// How the run ended, in the commit that ended it: the run itself is forgotten soon after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<RunSummary>,
}

/// The end of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeResult {
    /// How.
    pub outcome: NodeOutcome,
    /// When.
    pub ended_at_ms: u64,
}

/// How a node ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum NodeOutcome {
    /// Its work is proven.
    Done,
    /// No attempt succeeded.
    Failed {
        /// In few words.
        reason: String,
    },
}

/// The effort that a node took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NodeEffort {
    /// The number of tries.
    pub tries: u32,
    /// Time spent working.
    pub worked_ms: u64,
    /// Time spent waiting for a person or an account besides.
    pub waited_ms: u64,
    /// The number of tests that the last check ran, by its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<u32>,
}

/// What a node is doing. The first that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeState {
    /// A run has it.
    Running,
    /// Its work is proven.
    Done,
    /// No attempt succeeded.
    Failed,
    /// Nothing of that: its front end says whether it can start.
    Open,
}

/// Nodes that are tested and merged together: a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkGroup {
    /// Its id.
    pub id: GroupId,
    /// Its graph.
    pub graph: GraphId,
    /// Its project.
    pub project: ProjectId,
    /// The run of the graph.
    pub run: RunId,
    /// The session of the graph.
    pub session: SessionId,
    /// Its number, unique in the graph: that of the phase.
    pub number: u32,
    /// How far it is.
    #[serde(flatten)]
    pub facts: GroupFacts,
}

/// How far a group is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GroupFacts {
    /// Its worktree, relative to the project; none where agents work in the project itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// The branch that its work is merged into; none outside of git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// When its worktree was ready.
    pub began_at_ms: u64,
    /// The last result of its tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested: Option<GroupTest>,
    /// The number of times its tests ran.
    #[serde(default)]
    pub tests: u32,
    /// Why the last merge failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmerged: Option<MergeFailure>,
    /// The runs that were to resolve its conflicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<RunId>,
    /// Files that differed before any task began: no task's commit includes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<String>,
    /// The commit that has its work, once it is merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<String>,
    /// When its checkpoint was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<u64>,
}

/// The result of a group's tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupTest {
    /// The commit that was tested; none outside of git.
    pub commit: Option<String>,
    /// The command; none if there is nothing to run.
    pub command: Option<String>,
    /// Its exit code.
    pub code: i32,
    /// The end of its output.
    pub output: String,
    /// Whether a person wants to go on all the same.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub waived: bool,
}

/// A merge that was not possible. The target is as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeFailure {
    /// The head of the group's branch at that time.
    pub commit: String,
    /// The head of the target at that time.
    pub target: String,
    /// The reason.
    pub message: String,
    /// The files in which both sides changed the same places.
    pub files: Vec<String>,
    /// Whether an agent can resolve it.
    pub is_conflict: bool,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Its outcome.
    pub outcome: Outcome,
    /// The number of tries.
    pub tries: u32,
    /// For how long its agent worked.
    pub worked_ms: u64,
    /// For how long its agent waited besides: for a person, or for an account.
    #[serde(default)]
    pub waited_ms: u64,
    /// The last output of its check, if that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The number of tests that its last check ran, by its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<u32>,
}

/// What the driver of a graph reports.
#[derive(Debug, Clone, PartialEq)]
pub enum GraphReport {
    /// A run that exists already works on a node.
    Started {
        /// The node.
        key: String,
        /// The run.
        run: RunId,
    },
    /// A node ended: its evidence was looked at, and its front end knows.
    Ended {
        /// The node.
        key: String,
        /// How.
        outcome: NodeOutcome,
        /// The effort since its last end.
        effort: NodeEffort,
    },
    /// A group changed.
    Group {
        /// Its number.
        number: u32,
        /// How.
        change: GroupChange,
    },
    /// A person has to decide.
    Ask {
        /// About what.
        about: About,
        /// The question.
        question: UserQuestion,
    },
    /// The question settled itself.
    Withdrawn(RequestId),
    /// The answer is carried out.
    Settled {
        /// The question.
        request: RequestId,
        /// The answer.
        choice: Option<Choice>,
    },
    /// The graph is over.
    Finished(Outcome),
}

impl WorkGraph {
    /// What it was asked, as the loop through a task file.
    pub fn task_file(&self) -> &LoopSpec {
        let GraphSpec::TaskFile(spec) = &self.spec;
        spec
    }
}

impl WorkNode {
    /// What it is doing.
    pub fn state(&self) -> NodeState {
        match (self.holder, &self.result) {
            (Some(_), _) => NodeState::Running,
            (None, Some(NodeResult { outcome: NodeOutcome::Done, .. })) => NodeState::Done,
            (None, Some(NodeResult { outcome: NodeOutcome::Failed { .. }, .. })) => NodeState::Failed,
            (None, None) => NodeState::Open,
        }
    }

    /// The number of its last attempt; 0 before the first.
    pub fn attempt(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(u32::MAX)
    }

    /// When it was first started.
    pub fn began_at_ms(&self) -> Option<u64> {
        self.attempts.first().map(|attempt| attempt.started_at_ms)
    }

    /// The end of a run that worked on it, if the journal knows of it.
    pub fn run_summary(&self, run: RunId) -> Option<&RunSummary> {
        self.attempts.iter().rfind(|attempt| attempt.run == run)?.ended.as_ref()
    }

    /// The runs that ended and that `spent` does not include yet.
    pub fn uncounted(&self) -> impl Iterator<Item = (RunId, &RunSummary)> {
        let attempts = self.attempts.iter().skip(self.counted as usize);
        attempts.filter_map(|attempt| Some((attempt.run, attempt.ended.as_ref()?)))
    }
}

impl NodeEffort {
    /// The effort of a run.
    pub fn of(summary: &RunSummary) -> NodeEffort {
        let RunSummary { tries, worked_ms, waited_ms, tests, .. } = *summary;
        NodeEffort { tries, worked_ms, waited_ms, tests }
    }

    /// Adds a later one.
    pub fn add(&mut self, later: NodeEffort) {
        self.tries = self.tries.saturating_add(later.tries);
        self.worked_ms = self.worked_ms.saturating_add(later.worked_ms);
        self.waited_ms = self.waited_ms.saturating_add(later.waited_ms);
        self.tests = later.tests.or(self.tests);
    }
}

impl RunSummary {
    /// How a run ended that a session worked on until then; none if it has not ended.
    pub fn of(run: &Run, session: &Session, ended_at_ms: u64) -> Option<RunSummary> {
        let outcome = run.outcome.clone()?;
        let failed = session.attempts.last().filter(|it| it.code.is_some_and(|code| code != 0));
        let waited_ms = session.waited_ms(ended_at_ms);
        Some(RunSummary {
            outcome,
            tries: u32::try_from(session.attempts.len()).unwrap_or(u32::MAX).max(1),
            worked_ms: ended_at_ms.saturating_sub(session.created_at_ms).saturating_sub(waited_ms),
            waited_ms,
            said: failed.map(|attempt| attempt.output.clone()),
            tests: session.attempts.last().and_then(|attempt| tests_run(&attempt.output)),
        })
    }
}

impl GroupFacts {
    /// A group whose worktree is ready.
    pub(crate) fn begun(at_ms: u64) -> GroupFacts {
        GroupFacts { began_at_ms: at_ms, ..GroupFacts::default() }
    }

    pub(crate) fn fold(&mut self, change: &GroupChange, at_ms: u64) {
        match change {
            GroupChange::Entered { worktree, target, foreign } => {
                self.worktree.clone_from(worktree);
                self.target.clone_from(target);
                self.foreign.clone_from(foreign);
            }
            GroupChange::Tested { tested } => {
                self.tested = Some(tested.clone());
                self.tests += 1;
            }
            GroupChange::NotMerged { unmerged } => self.unmerged = Some(unmerged.clone()),
            GroupChange::Repaired { by } => {
                if !self.repairs.contains(by) {
                    self.repairs.push(*by);
                }
            }
            GroupChange::Merged { commit } => self.merged = Some(commit.clone()),
            GroupChange::Recorded => self.ended_at_ms = Some(at_ms),
        }
    }

    /// Whether a change is known already: a report may come twice.
    pub(crate) fn knows(&self, change: &GroupChange) -> bool {
        match change {
            GroupChange::Entered { .. } => true,
            GroupChange::Tested { tested } => self.tested.as_ref() == Some(tested),
            GroupChange::NotMerged { unmerged } => self.unmerged.as_ref() == Some(unmerged),
            GroupChange::Repaired { by } => self.repairs.contains(by),
            GroupChange::Merged { commit } => self.merged.as_ref() == Some(commit),
            GroupChange::Recorded => self.ended_at_ms.is_some(),
        }
    }

    /// Carries out what a person said about the end of the group.
    pub(crate) fn heed(&mut self, about: &About, choice: Option<Choice>) {
        match (about, choice) {
            (About::Red { .. }, Some(Choice::Merge)) => {
                if let Some(tested) = &mut self.tested {
                    tested.waived = true;
                }
            }
            (About::Red { .. }, _) => self.tested = None,
            (About::Unmerged { .. }, _) => {
                self.unmerged = None;
                self.repairs.clear();
            }
            (About::Blocked { .. } | About::Hindered { .. }, _) => {}
        }
    }
}
