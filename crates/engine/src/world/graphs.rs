//! Graphs, their nodes and groups, as they are looked up.

use super::{StagedWorld, World};
use crate::{
    graph::{RunSummary, WorkGraph, WorkGroup, WorkNode},
    id::{GraphId, GroupId, NodeId, RunId, SessionId},
};

impl World {
    /// The graph of a session.
    pub fn graph_of(&self, session: SessionId) -> Option<&WorkGraph> {
        self.graphs.get(&self.sessions.get(&session)?.graph?)
    }

    /// The node with this key, if it was ever started or decided.
    pub fn node(&self, graph: GraphId, key: &str) -> Option<&WorkNode> {
        self.nodes.get(self.index.nodes.get(&graph)?.get(key)?)
    }

    /// The nodes of a graph that have a row, by their keys.
    pub fn nodes_of(&self, graph: GraphId) -> impl Iterator<Item = &WorkNode> {
        let ids = self.index.nodes.get(&graph).into_iter().flat_map(|nodes| nodes.values());
        ids.filter_map(|id| self.nodes.get(id))
    }

    /// The groups of a graph that have a row, by their numbers.
    pub fn groups_of(&self, graph: GraphId) -> impl Iterator<Item = &WorkGroup> {
        let ids = self.index.groups.get(&graph).into_iter().flat_map(|groups| groups.values());
        ids.filter_map(|id| self.groups.get(id))
    }

    /// The end of a run that has a node, as the node notes it.
    pub fn run_summary(&self, run: RunId) -> Option<&RunSummary> {
        self.nodes.get(self.index.holders.get(&run)?)?.run_summary(run)
    }
}

impl StagedWorld<'_> {
    /// The node with this key, if it has a row.
    pub(crate) fn node_at(&self, graph: GraphId, key: &str) -> Option<NodeId> {
        let touched = self.touched::<WorkNode>().find(|node| node.graph == graph && node.key == key);
        touched.map(|node| node.id).or_else(|| self.world.index.nodes.get(&graph)?.get(key).copied())
    }

    /// The group with this number, if it has a row.
    pub(crate) fn group_at(&self, graph: GraphId, number: u32) -> Option<GroupId> {
        let touched = self.touched::<WorkGroup>().find(|it| it.graph == graph && it.number == number);
        touched.map(|group| group.id).or_else(|| self.world.index.groups.get(&graph)?.get(&number).copied())
    }

    /// The node that a run has.
    pub(crate) fn node_of(&self, run: RunId) -> Option<&WorkNode> {
        let is_holder = |node: &&WorkNode| node.holder == Some(run);
        let known = || self.get(*self.world.index.holders.get(&run)?).filter(is_holder);
        self.touched::<WorkNode>().find(is_holder).or_else(known)
    }
}
