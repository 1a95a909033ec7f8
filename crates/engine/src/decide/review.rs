//! Reviews: a person approves exactly one tree, sends the work back, or ends the run. Nothing else can do that.

use super::Maker;
use crate::{
    action::Deed,
    answer::{Answer, Decision},
    event::Event,
    id::{RequestId, SessionId},
    input::Refusal,
    phases::{GateName, Return, Step, Why},
    request::{Ask, By, Review},
};

impl Maker<'_> {
    /// A person has looked at the work of a phase.
    pub(super) fn review(&mut self, request: RequestId, decision: &Decision) -> Result<(), Refusal> {
        let found = self.desk.get(request).ok_or(Refusal::NoRequest { request })?;
        let Ask::Review(review) = &found.ask else { return Err(Refusal::NotReview { request }) };
        if let Some(settled) = &found.settled {
            return Err(Refusal::Settled { request, settled: settled.clone() });
        }
        let (id, review) = (found.session, review.clone());
        self.made.request = Some(request);
        self.made.session = Some(id);
        match decision {
            Decision::Approve { tree, insist } => self.approve(id, request, &review, tree, *insist)?,
            Decision::Changes { words } if words.trim().is_empty() => return Err(Refusal::EmptyMessage),
            Decision::Changes { words } => {
                self.decide_review(id, request, By::Person, Answer::Changes { words: words.clone() });
                self.give_back(id, Return::Changes, Some(words.trim()));
            }
            Decision::Reject { words } => {
                self.decide_review(id, request, By::Person, Answer::Rejected { words: words.clone() });
                self.give_up(id);
            }
            Decision::Again => {
                self.decide_review(id, request, By::Person, Answer::Again);
                self.look_again(id, Why::Again);
            }
        }
        Ok(())
    }

    /// What a person was to approve is not what stands there any more.
    pub(super) fn tree_changed(&mut self, request: RequestId) {
        let Some(found) = self.desk.get(request).filter(|it| it.is_open()) else { return };
        if matches!(found.ask, Ask::Review(_)) {
            let id = found.session;
            self.decide_review(id, request, By::Change, Answer::Nothing);
            self.look_again(id, Why::Changed);
        }
    }

    fn approve(
        &mut self,
        id: SessionId,
        request: RequestId,
        review: &Review,
        tree: &str,
        insist: bool,
    ) -> Result<(), Refusal> {
        let (Some(shown), Some(commit)) = (&review.tree, &review.commit) else {
            return Err(Refusal::GateFailed { request });
        };
        if shown != tree {
            return Err(Refusal::TreeNotShown { request, tree: Some(shown.clone()) });
        }
        if !review.passed && !insist {
            return Err(Refusal::GateFailed { request });
        }
        let (tree, insisted) = (shown.clone(), !review.passed);
        self.decide_review(id, request, By::Person, Answer::TreeApproved { tree: tree.clone(), insisted });
        let (phase, gate, commit) = (review.phase, review.gate, commit.clone());
        self.emit(id, Event::PhaseApproved { phase, gate, tree, commit, insisted });
        self.advance(id);
        Ok(())
    }

    fn decide_review(&mut self, id: SessionId, request: RequestId, by: By, answer: Answer) {
        let (brings, relaunches, unseen) = (false, false, false);
        self.emit(
            id,
            Event::RequestSettled { request, by, answer, brings, relaunches, unseen, printed: None },
        );
    }

    fn look_again(&mut self, id: SessionId, why: Why) {
        let Some(gate) = self.gate_of(id).and_then(|name| self.gate(name)) else { return };
        let announced = gate.announced.clone();
        self.begin_gate(id, why, announced);
        self.advance(id);
    }

    /// Nobody wants to know any more what a gate would find.
    pub(super) fn clear_gate(&mut self, id: SessionId, name: GateName) {
        let verifier = match self.step_of(name) {
            Some(Step::Verifier { session }) => Some(*session),
            _ => None,
        };
        self.move_gate(id, name, Step::Done);
        self.act(id, Deed::ClearGate { gate: name });
        if let Some(verifier) = verifier.filter(|&it| !self.session(it).is_over()) {
            self.emit(verifier, Event::SessionCancelled);
            self.advance(verifier);
        }
    }
}
