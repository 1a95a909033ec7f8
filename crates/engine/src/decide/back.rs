//! How the work of a role that has a worktree of its own comes back: tested when the role is over, merged if that is well.
//! Otherwise a person is asked, for as long as that is the question.
//!
//! What is to be merged is looked at by who carries it out. Here stands only what follows from it, so that a role that is
//! called meanwhile goes on where it was, and every word is heard once.

use alloc::{format, string::String, vec::Vec};

use super::{Maker, requests::OSTLER};
use crate::{
    action::Deed,
    answer::{Answer, NotAnAnswer},
    event::Event,
    id::{RequestId, SessionId},
    input::{Refusal, TestVerdict},
    request::{Ask, By, Request},
    session::{Worktree, WorktreeAbout, WorktreeCard, WorktreeChoice, WorktreeState},
    words::back,
};

impl Maker<'_> {
    /// A session is over: what a role has done in a worktree of its own is tested, and merged if that is well.
    pub(super) fn bring_back(&mut self, id: SessionId) {
        let session = self.session(id);
        let is_role = session.order.role.seat().is_some() && session.is_over();
        let Some(worktree) = session.worktree.as_ref().filter(|it| is_role && it.state.is_at_rest()) else {
            return;
        };
        let worktree = worktree.clone();
        if self.is_not_restoring(id).is_err() {
            let message = back::restoring(session.order.korean).into();
            return self.ask_about(id, WorktreeAbout::Unmerged, message, Vec::new(), back::Hint::Place);
        }
        self.test(id, worktree);
    }

    fn test(&mut self, id: SessionId, mut worktree: Worktree) {
        worktree.state = WorktreeState::Testing;
        worktree.back.tests += 1;
        worktree.back.tested_at_ms = self.now_ms;
        worktree.back.card = None;
        let number = worktree.back.tests;
        self.emit(id, Event::WorktreeChanged { worktree });
        self.act(id, Deed::TestWorktree { number });
    }

    fn merge_tested(&mut self, id: SessionId, mut worktree: Worktree, commit: &str) {
        worktree.state = WorktreeState::Merging { tested: Some(commit.into()) };
        worktree.back.card = None;
        self.emit(id, Event::WorktreeChanged { worktree });
        self.act(id, Deed::MergeWorktree);
    }

    /// What came of the test that was wanted last.
    pub(super) fn tested(&mut self, id: SessionId, verdict: &TestVerdict) {
        let session = self.session(id);
        let korean = session.order.korean;
        let Some(mut worktree) = session.worktree.clone() else { return };
        match verdict {
            TestVerdict::Nothing => {
                worktree.state = WorktreeState::Made;
                self.emit(id, Event::WorktreeChanged { worktree });
            }
            TestVerdict::Green { commit } => self.merge_tested(id, worktree, commit),
            TestVerdict::Red { commit, command, output } => {
                let about = WorktreeAbout::Red { commit: commit.clone() };
                let message = format!("$ {command}\n{}", back::end_of(output));
                self.ask_about(id, about, message, Vec::new(), back::Hint::Place);
            }
            TestVerdict::Unfinished => {
                let message = back::unfinished(korean).into();
                self.ask_about(id, WorktreeAbout::Unfinished, message, Vec::new(), back::Hint::Place);
            }
            TestVerdict::Hindered { message } => {
                let message = message.clone();
                self.ask_about(id, WorktreeAbout::Unmerged, message, Vec::new(), back::Hint::Place);
            }
        }
    }

    /// It could not be merged, and the target is as it was. Whoever wanted the merge of a role's work, it waits now.
    pub(super) fn not_merged(&mut self, id: SessionId, message: &str, files: &[String], conflict: bool) {
        let session = self.session(id);
        let Some(mut worktree) = session.worktree.clone() else { return };
        if session.order.role.seat().is_some() {
            let hint = match (conflict, files.is_empty()) {
                (true, _) => back::Hint::Conflict,
                (false, false) => back::Hint::Target,
                (false, true) => back::Hint::Place,
            };
            return self.ask_about(id, WorktreeAbout::Unmerged, message.into(), files.to_vec(), hint);
        }
        worktree.state =
            WorktreeState::NotMerged { message: message.into(), files: files.to_vec(), conflict };
        self.emit(id, Event::WorktreeChanged { worktree });
    }

    fn ask_about(
        &mut self,
        id: SessionId,
        about: WorktreeAbout,
        message: String,
        files: Vec<String>,
        hint: back::Hint,
    ) {
        let session = self.session(id);
        let Some(mut worktree) = session.worktree.clone() else { return };
        let question = back::question(session, &worktree, &about, (&message, &files), hint);
        let request = self.open(id, 0, Ask::Question(question), OSTLER, None);
        let conflict = hint == back::Hint::Conflict;
        worktree.state = WorktreeState::NotMerged { message, files, conflict };
        worktree.back.insisted = false;
        worktree.back.card = Some(WorktreeCard { request, about });
        self.emit(id, Event::WorktreeChanged { worktree });
    }

    /// What is meant by an answer, if it is to a question about a worktree.
    pub(super) fn choice_of(
        &self,
        id: SessionId,
        request: RequestId,
        answer: &Answer,
    ) -> Result<Option<(WorktreeAbout, WorktreeChoice)>, Refusal> {
        let worktree = self.desk.get(id).and_then(|session| session.worktree.as_ref());
        let card = worktree.and_then(|it| it.back.card.as_ref()).filter(|card| card.request == request);
        let Some(card) = card else { return Ok(None) };
        let choices = card.about.choices();
        let is_meant =
            |choice: &&WorktreeChoice| matches!(answer, Answer::Text { text } if *text == choice.word());
        let choice = choices.iter().find(is_meant).copied().ok_or_else(|| {
            let options = choices.iter().map(|choice| choice.word().into()).collect();
            Refusal::NotAnAnswer { request, why: NotAnAnswer::NotAnOption { options, nearest: None } }
        })?;
        // Nothing is tested or merged while its files are exchanged.
        if choice != WorktreeChoice::Leave {
            self.is_not_restoring(id)?;
        }
        Ok(Some((card.about.clone(), choice)))
    }

    /// Does what a person wants with work that waits.
    pub(super) fn heed_choice(&mut self, id: SessionId, about: &WorktreeAbout, choice: WorktreeChoice) {
        let Some(mut worktree) = self.session(id).worktree.clone() else { return };
        match (choice, about) {
            (WorktreeChoice::Leave, _) => {
                worktree.back.card = None;
                self.emit(id, Event::WorktreeChanged { worktree });
            }
            (WorktreeChoice::Merge, WorktreeAbout::Red { commit }) => self.merge_tested(id, worktree, commit),
            (WorktreeChoice::Merge | WorktreeChoice::Retry, _) => {
                worktree.back.insisted = true;
                self.test(id, worktree);
            }
        }
    }

    /// Somebody goes on in a worktree: it is not tested now, and nobody has to decide about it.
    pub(super) fn stay(&mut self, id: SessionId) {
        let Some(mut worktree) = self.session(id).worktree.clone() else { return };
        if worktree.state != WorktreeState::Testing && worktree.back.card.is_none() {
            return;
        }
        self.withdraw_card(id);
        if worktree.state == WorktreeState::Testing {
            worktree.state = WorktreeState::Made;
        }
        worktree.back.card = None;
        worktree.back.insisted = false;
        self.emit(id, Event::WorktreeChanged { worktree });
    }

    /// What was asked about a worktree is not the question any more.
    pub(super) fn withdraw_card(&mut self, id: SessionId) {
        let card = self.session(id).worktree.as_ref().and_then(|worktree| worktree.back.card.as_ref());
        let Some(request) = card.map(|card| card.request) else { return };
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
    }
}
