//! What the driver of a graph reports becomes events. [`crate::orchestrate`] decides what is next, from files that other
//! programs write too, so nothing of that stands here.

use alloc::string::String;

use super::{Maker, requests::OSTLER};
use crate::{
    answer::Answer,
    event::Event,
    graph::{self, GraphEvent, GraphHold, GraphReport, GroupChange, NodeEffort, NodeOutcome, NodeStart},
    id::{GraphId, GroupId, NodeId, RequestId, RunId, SessionId},
    input::{NewRun, Refusal},
    request::{Ask, By, Request},
    session::Session,
};

impl Maker<'_> {
    /// Refuses a second loop through the tasks of the same project.
    pub(super) fn is_free_for_graph(&self, new: &NewRun) -> Result<(), Refusal> {
        let mut others = self.desk.sessions_under_way().into_iter().filter_map(|id| self.desk.get(id));
        let other = others.find(|it| it.graph.is_some() && it.order.directory == new.order.directory);
        other.map_or(Ok(()), |other| Err(Refusal::LoopBusy { run: other.run }))
    }

    /// The driver of a graph reports. Only a start can be refused.
    pub(super) fn graph_reported(&mut self, id: SessionId, report: &GraphReport) -> Result<(), Refusal> {
        let Some(graph) = self.graph_under_way(id) else { return Ok(()) };
        match report {
            GraphReport::Started { key, run } => self.start_node(id, key, *run)?,
            GraphReport::Ended { key, outcome, effort } => self.end_node((id, graph), key, outcome, *effort),
            GraphReport::Group { number, change } => self.change_group((id, graph), *number, change),
            GraphReport::Ask { about, question } => {
                if self.hold_of(graph).is_none() {
                    let request = self.open(id, 0, Ask::Question(question.clone()), OSTLER, None);
                    let hold = GraphHold { request, about: about.clone(), answer: None };
                    self.emit(id, Event::Graph(GraphEvent::Held { hold }));
                }
            }
            GraphReport::Withdrawn(request) if self.hold_of(graph) == Some(*request) => {
                self.withdraw_request(id, *request);
            }
            GraphReport::Settled { request, choice } if self.hold_of(graph) == Some(*request) => {
                let (request, choice) = (*request, *choice);
                self.emit(id, Event::Graph(GraphEvent::HoldEnded { request, choice }));
            }
            GraphReport::Withdrawn(_) | GraphReport::Settled { .. } => {}
            GraphReport::Finished(outcome) => self.finish(id, outcome.clone()),
        }
        Ok(())
    }

    /// Gives a node to a run, in the commit that reports or creates it.
    pub(super) fn start_node(&mut self, id: SessionId, key: &str, run: RunId) -> Result<(), Refusal> {
        let Some(graph) = self.graph_under_way(id) else { return Ok(()) };
        if self.desk.node_of(run).is_some_and(|other| other.graph != graph || other.key != key) {
            return Err(Refusal::NodeHeld { run });
        }
        let node = self.desk.node_at(graph, key);
        let is_under_way = |run: RunId| self.desk.get(run).is_some_and(|run| run.outcome.is_none());
        match graph::start(node.and_then(|node| self.desk.get(node)), run, is_under_way) {
            NodeStart::Known => Ok(()),
            NodeStart::Refused { holder } => Err(Refusal::NodeHeld { run: holder }),
            NodeStart::Granted { attempt } => {
                let node = node.unwrap_or_else(|| self.next_node());
                let (key, holder) = (String::from(key), run);
                self.emit(id, Event::Graph(GraphEvent::NodeStarted { node, key, attempt, holder }));
                Ok(())
            }
        }
    }

    /// The graph of a session that is not over.
    fn graph_under_way(&self, id: SessionId) -> Option<GraphId> {
        self.desk.get(id).filter(|session: &&Session| !session.is_over())?.graph
    }

    fn end_node(
        &mut self,
        (id, graph): (SessionId, GraphId),
        key: &str,
        outcome: &NodeOutcome,
        effort: NodeEffort,
    ) {
        let node = self.desk.node_at(graph, key);
        if let Some(attempt) = graph::end(node.and_then(|node| self.desk.get(node))) {
            let (node, key) = (node.unwrap_or_else(|| self.next_node()), String::from(key));
            let result = outcome.clone();
            self.emit(id, Event::Graph(GraphEvent::NodeEnded { node, key, attempt, result, effort }));
        }
    }

    fn change_group(&mut self, (id, graph): (SessionId, GraphId), number: u32, change: &GroupChange) {
        let group = self.desk.group_at(graph, number);
        if group.and_then(|group| self.desk.get(group)).is_some_and(|it| it.facts.knows(change)) {
            return;
        }
        let group = group.unwrap_or_else(|| GroupId(self.desk.counters().group + 1));
        let change = change.clone();
        self.emit(id, Event::Graph(GraphEvent::GroupChanged { group, number, change }));
    }

    fn next_node(&self) -> NodeId {
        NodeId(self.desk.counters().node + 1)
    }

    /// The question that holds a graph.
    fn hold_of(&self, graph: GraphId) -> Option<RequestId> {
        self.desk.get(graph)?.hold.as_ref().map(|hold| hold.request)
    }

    /// Settles a question that is none any more.
    fn withdraw_request(&mut self, id: SessionId, request: RequestId) {
        if self.desk.get(request).is_some_and(Request::is_open) {
            let (by, answer, brings) = (By::Change, Answer::Nothing, false);
            self.emit(
                id,
                Event::RequestSettled {
                    request,
                    by,
                    answer,
                    brings,
                    relaunches: false,
                    unseen: false,
                    printed: None,
                },
            );
        }
        self.emit(id, Event::Graph(GraphEvent::HoldEnded { request, choice: None }));
    }
}
