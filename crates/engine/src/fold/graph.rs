//! What the events of a graph change, and what the steps of loops change that journals have from before there were graphs.
//!
//! Ids come with the events. An old step names a task or a phase alone; its row gets the next id, so that every replay gives
//! the same one.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use super::Place;
use crate::{
    answer::Answer,
    graph::{
        GraphEvent, GraphHold, GraphSpec, GroupChange, GroupFacts, NodeAttempt, NodeEffort, NodeOutcome,
        NodeResult, RunSummary, WorkGraph, WorkGroup, WorkNode,
    },
    id::{GraphId, GroupId, NodeId, RequestId, RunId},
    orchestrate::{About, Choice, LoopStep},
    session::Session,
    world::StagedWorld,
};

impl StagedWorld<'_> {
    pub(super) fn fold_graph(&mut self, place: &Place, at_ms: u64, event: &GraphEvent) {
        let Some(graph) = self.get(place.session).and_then(|session| session.graph) else { return };
        match event {
            GraphEvent::Created { graph, spec } => self.add_graph(place, *graph, spec.clone()),
            GraphEvent::NodeStarted { node, key, holder, .. } => {
                self.start_node((place, graph), *node, key, *holder, at_ms);
            }
            GraphEvent::NodeEnded { node, key, result, effort, .. } => {
                self.end_node((place, graph), *node, key, (result.clone(), *effort), at_ms);
            }
            GraphEvent::GroupChanged { group, number, change } => {
                self.change_group((place, graph), *group, *number, change, at_ms);
            }
            GraphEvent::Held { hold } => self.get_mut(graph).hold = Some(hold.clone()),
            GraphEvent::HoldEnded { request, choice } => self.end_hold(graph, *request, *choice),
        }
    }

    /// A step of a loop from before there were graphs.
    pub(super) fn fold_loop_step(&mut self, place: &Place, at_ms: u64, step: &LoopStep) {
        let Some(graph) = self.get(place.session).and_then(|session| session.graph) else { return };
        let of = (place, graph);
        let (phase, change) = match step {
            LoopStep::TaskBegun { task, run } => {
                return self.start_node(of, self.node_or_next(graph, task), task, *run, at_ms);
            }
            LoopStep::TaskEnded { task, line, worked_ms, waited_ms, tries } => {
                let (tries, worked_ms, waited_ms) = (*tries, *worked_ms, *waited_ms);
                let effort = NodeEffort { tries, worked_ms, waited_ms, tests: None };
                let (node, ended) = (self.node_or_next(graph, task), (outcome_of(line), effort));
                return self.end_node(of, node, task, ended, at_ms);
            }
            LoopStep::RunOver { run, over } => return self.end_attempt(graph, *run, over.clone()),
            LoopStep::Asked { card } => {
                self.get_mut(graph).hold = Some(card.clone());
                return;
            }
            LoopStep::Settled { request, choice } => return self.end_hold(graph, *request, *choice),
            LoopStep::PhaseBegun { phase, worktree, target, foreign } => {
                let (worktree, target, foreign) = (worktree.clone(), target.clone(), foreign.clone());
                (*phase, GroupChange::Entered { worktree, target, foreign })
            }
            LoopStep::Tested { phase, tested } => (*phase, GroupChange::Tested { tested: tested.clone() }),
            LoopStep::NotMerged { phase, unmerged } => {
                (*phase, GroupChange::NotMerged { unmerged: unmerged.clone() })
            }
            LoopStep::Mending { phase, run } => (*phase, GroupChange::Repaired { by: *run }),
            LoopStep::Merged { phase, commit } => (*phase, GroupChange::Merged { commit: commit.clone() }),
            LoopStep::Recorded { phase } => (*phase, GroupChange::Recorded),
        };
        let group = self.group_at(graph, phase).unwrap_or(GroupId(self.counters().group + 1));
        self.change_group(of, group, phase, &change, at_ms);
    }

    /// Adds the graph of a session.
    pub(super) fn add_graph(&mut self, place: &Place, id: GraphId, spec: GraphSpec) {
        self.own.counters.graph = self.counters().graph.max(id.0);
        let Place { project, run, session } = *place;
        self.insert(WorkGraph { id, project, run, session, spec, hold: None, unclaimed: BTreeMap::new() });
    }

    /// Tells a graph the answer to its question.
    pub(super) fn answer_hold(&mut self, place: &Place, request: RequestId, answer: &Answer) {
        let Some(graph) = self.get(place.session).and_then(|session| session.graph) else { return };
        let is_of = |hold: &GraphHold| hold.request == request;
        if self.get(graph).and_then(|it| it.hold.as_ref()).is_some_and(is_of)
            && let Some(hold) = &mut self.get_mut(graph).hold
        {
            hold.answer = Some(answer.clone());
        }
    }

    /// Notes the end of a run in the node that it has, as long as the graph is under way: its rows are forgotten with it.
    pub(super) fn note_end_of(&mut self, run: RunId, at_ms: u64) {
        let Some(graph) = self.node_of(run).map(|node| node.graph) else { return };
        let session = |id| self.get(id).map(|graph: &WorkGraph| graph.session);
        if session(graph).and_then(|id| self.get(id)).is_none_or(Session::is_over) {
            return;
        }
        let summary = self.get(run).and_then(|run| {
            let session = self.get(run.session()?)?;
            RunSummary::of(run, session, at_ms)
        });
        if let Some(summary) = summary {
            self.end_attempt(graph, run, summary);
        }
    }

    fn node_or_next(&self, graph: GraphId, key: &str) -> NodeId {
        self.node_at(graph, key).unwrap_or(NodeId(self.counters().node + 1))
    }

    fn start_node(&mut self, of: (&Place, GraphId), id: NodeId, key: &str, holder: RunId, at_ms: u64) {
        let graph = of.1;
        let is_unclaimed = self.get(graph).is_some_and(|it| it.unclaimed.contains_key(&holder));
        let ended = if is_unclaimed { self.get_mut(graph).unclaimed.remove(&holder) } else { None };
        let node = self.node_mut(of, id, key);
        node.drop_texts();
        if !node.attempts.iter().any(|attempt| attempt.run == holder) {
            node.attempts.push(NodeAttempt { run: holder, started_at_ms: at_ms, ended });
        }
        (node.holder, node.result) = (Some(holder), None);
    }

    fn end_node(
        &mut self,
        of: (&Place, GraphId),
        id: NodeId,
        key: &str,
        (outcome, effort): (NodeOutcome, NodeEffort),
        at_ms: u64,
    ) {
        let node = self.node_mut(of, id, key);
        node.drop_texts();
        node.spent.add(effort);
        node.counted = node.attempt();
        (node.holder, node.result) = (None, Some(NodeResult { outcome, ended_at_ms: at_ms }));
    }

    fn end_attempt(&mut self, graph: GraphId, run: RunId, summary: RunSummary) {
        let Some(node) = self.node_of(run).map(|node| node.id) else {
            self.get_mut(graph).unclaimed.insert(run, summary);
            return;
        };
        let attempts = &mut self.get_mut(node).attempts;
        if let Some(attempt) = attempts.iter_mut().rfind(|attempt| attempt.run == run) {
            attempt.ended = Some(summary);
        }
    }

    fn change_group(
        &mut self,
        (place, graph): (&Place, GraphId),
        id: GroupId,
        number: u32,
        change: &GroupChange,
        at_ms: u64,
    ) {
        if self.get(id).is_none() {
            self.own.counters.group = self.counters().group.max(id.0);
            let (Place { project, run, session }, facts) = (*place, GroupFacts::begun(at_ms));
            self.insert(WorkGroup { id, graph, project, run, session, number, facts });
        }
        self.get_mut(id).facts.fold(change, at_ms);
    }

    fn end_hold(&mut self, graph: GraphId, request: RequestId, choice: Option<Choice>) {
        let Some(hold) = self.get_mut(graph).hold.take_if(|hold| hold.request == request) else { return };
        let (About::Red { phase, .. } | About::Unmerged { phase, .. }) = hold.about else { return };
        if let Some(group) = self.group_at(graph, phase) {
            self.get_mut(group).facts.heed(&hold.about, choice);
        }
    }

    /// A node, which gets its row now if it has none.
    fn node_mut(&mut self, (place, graph): (&Place, GraphId), id: NodeId, key: &str) -> &mut WorkNode {
        if self.get(id).is_none() {
            self.own.counters.node = self.counters().node.max(id.0);
            let Place { project, run, session } = *place;
            self.insert(WorkNode {
                id,
                graph,
                project,
                run,
                session,
                key: String::from(key),
                holder: None,
                attempts: Vec::new(),
                result: None,
                spent: NodeEffort::default(),
                counted: 0,
            });
        }
        self.get_mut(id)
    }
}

impl WorkNode {
    /// Drops what checks said: the next attempt has its own.
    fn drop_texts(&mut self) {
        self.attempts.iter_mut().filter_map(|attempt| attempt.ended.as_mut()).for_each(|it| it.said = None);
    }
}

/// How a task ended, by the line that an old journal has of it: `DONE:T1.1`, or `FAIL:T1.1:reason`.
fn outcome_of(line: &str) -> NodeOutcome {
    if line.starts_with("DONE") {
        return NodeOutcome::Done;
    }
    let reason = line.strip_prefix("FAIL:").and_then(|rest| rest.split_once(':')).map_or(line, |it| it.1);
    NodeOutcome::Failed { reason: String::from(reason) }
}
