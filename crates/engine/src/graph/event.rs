//! What happens to a graph, as the journal stores it. Each event belongs to the session of its graph.

use alloc::{string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{GraphHold, GraphSpec, GroupTest, MergeFailure, NodeEffort, NodeOutcome};
use crate::{
    id::{GraphId, GroupId, NodeId, RequestId, RunId},
    orchestrate::Choice,
};

/// What can happen to a graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
pub enum GraphEvent {
    /// A graph begins.
    #[serde(rename = "graph.created")]
    Created {
        /// Its id.
        graph: GraphId,
        /// What it was asked.
        spec: GraphSpec,
    },
    /// A run works on a node. The first start also gives the node its row.
    #[serde(rename = "graph.node_started")]
    NodeStarted {
        /// The id of the node.
        node: NodeId,
        /// The name that people use.
        key: String,
        /// Counts from 1.
        attempt: u32,
        /// The run.
        holder: RunId,
    },
    /// A node ended.
    #[serde(rename = "graph.node_ended")]
    NodeEnded {
        /// The id of the node.
        node: NodeId,
        /// The name that people use.
        key: String,
        /// The attempt that ended; 0 if the node could not even be started.
        attempt: u32,
        /// How it ended.
        result: NodeOutcome,
        /// The effort since the last end.
        effort: NodeEffort,
    },
    /// A group changed. The first change also gives the group its row.
    #[serde(rename = "graph.group_changed")]
    GroupChanged {
        /// The id of the group.
        group: GroupId,
        /// Its number: that of the phase.
        number: u32,
        /// How it changed.
        change: GroupChange,
    },
    /// A question to a person holds the graph.
    #[serde(rename = "graph.held")]
    Held {
        /// The question.
        hold: GraphHold,
    },
    /// The answer is carried out, or the question settled itself.
    #[serde(rename = "graph.hold_ended")]
    HoldEnded {
        /// The question.
        request: RequestId,
        /// The answer; none if the question settled itself.
        choice: Option<Choice>,
    },
}

/// How a group changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum GroupChange {
    /// Its worktree is ready.
    Entered {
        /// Relative to the project; none where agents work in the project itself.
        worktree: Option<String>,
        /// The branch that its work is merged into.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        /// Files that differed there before.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        foreign: Vec<String>,
    },
    /// Its tests ended.
    Tested {
        /// Their result.
        tested: GroupTest,
    },
    /// Its merge failed.
    NotMerged {
        /// Why.
        unmerged: MergeFailure,
    },
    /// A run that was to resolve the conflict is over.
    Repaired {
        /// The run.
        by: RunId,
    },
    /// It is merged.
    Merged {
        /// The commit that has its work.
        commit: String,
    },
    /// Its checkpoint is recorded.
    Recorded,
}
