//! What may happen to a node, decided from its row alone.
//!
//! | report | holder | result | follows |
//! |---|---|---|---|
//! | a run starts | that run | any | nothing: it is known |
//! | a run starts | another that is under way | any | a refusal that names it |
//! | a run starts | none, or one that is over | any | the next attempt |
//! | the node ended | none | some | nothing: it is known |
//! | the node ended | any | none | its last attempt ends |

use super::WorkNode;
use crate::id::RunId;

/// What follows from a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeStart {
    /// The run has the node already.
    Known,
    /// Another run has it.
    Refused {
        /// That run.
        holder: RunId,
    },
    /// The run gets it.
    Granted {
        /// The number of the attempt, from 1 on.
        attempt: u32,
    },
}

/// Decides whether a run may have a node, which has no row before its first start.
pub fn start(node: Option<&WorkNode>, run: RunId, is_under_way: impl FnOnce(RunId) -> bool) -> NodeStart {
    let holder = node.and_then(|node| node.holder);
    match holder {
        Some(holder) if holder == run => NodeStart::Known,
        Some(holder) if is_under_way(holder) => NodeStart::Refused { holder },
        _ => NodeStart::Granted { attempt: node.map_or(0, WorkNode::attempt).saturating_add(1) },
    }
}

/// The attempt that ends when a node does; none if that is known already.
pub fn end(node: Option<&WorkNode>) -> Option<u32> {
    let is_known = node.is_some_and(|node| node.holder.is_none() && node.result.is_some());
    (!is_known).then(|| node.map_or(0, WorkNode::attempt))
}
