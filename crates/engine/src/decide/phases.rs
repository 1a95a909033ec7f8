//! Phases: one after the other, each with a session of its own, and what becomes of a run whose session is over.

use alloc::{
    boxed::Box,
    string::{String, ToString},
};

use super::{Maker, judge::failure};
use crate::{
    action::Deed,
    checkpoint::Why as Keep,
    event::Event,
    id::{RunId, SessionId},
    input::{NewRun, Refusal},
    phases::{Announced, GateName, Phase, Phases, Return, Step, Why},
    request::Ask,
    run::{Outcome, Reason},
    session::{Ending, LaunchCause, Order, Session},
    words,
};

impl Maker<'_> {
    /// Whether a run through phases can begin.
    pub(super) fn can_go_through_phases(&self, new: &NewRun) -> Result<(), Refusal> {
        if !new.git {
            return Err(Refusal::NotGit { directory: new.order.directory.clone() });
        }
        self.is_free_for_phases(&new.order.directory, None)
    }

    /// Nobody else goes through phases with the same files.
    pub(super) fn is_free_for_phases(&self, directory: &str, except: Option<RunId>) -> Result<(), Refusal> {
        let mut others = self.desk.sessions_under_way().into_iter().filter_map(|id| self.desk.get(id));
        let is_there = |run: RunId| self.desk.get(run).is_some_and(|it| it.phases.is_some());
        let is_other = |run: RunId| Some(run) != except && is_there(run);
        let other = others.find(|it| it.order.directory == directory && is_other(it.run));
        other.map_or(Ok(()), |other| Err(Refusal::PhasesBusy { run: other.run }))
    }

    /// A phase begins. What stood there before is the tree that was approved last, or is kept now.
    pub(super) fn start_phase(&mut self, id: SessionId, phase: u32) {
        let run = self.session(id).run;
        let phases = self.desk.get(run).and_then(|run| run.phases.as_deref());
        let approved = phases.and_then(Phases::current).and_then(|it| it.approved.as_ref());
        let base = approved.map(|approved| approved.commit.clone());
        self.emit(id, Event::PhaseStarted { phase });
        match base {
            Some(commit) => self.emit(id, Event::PhaseBased { phase, commit }),
            None => self.checkpoint_due(id, Keep::Phase, true),
        }
        self.advance(id);
    }

    /// The phases of the run that a session works for.
    pub(super) fn phases_of(&self, id: SessionId) -> Option<&Phases> {
        self.desk.get(self.desk.get(id)?.run)?.phases.as_deref()
    }

    /// The phase that a session works on.
    pub(super) fn phase_of(&self, id: SessionId) -> Option<&Phase> {
        self.phases_of(id)?.current().filter(|phase| phase.session == id)
    }

    /// The gate of a session that is gone through.
    pub(super) fn gate_of(&self, id: SessionId) -> Option<GateName> {
        let phase = self.phase_of(id)?;
        let gate = phase.gate()?.number;
        Some(GateName { run: self.session(id).run, phase: phase.number, gate })
    }

    /// An agent says that a phase is done. That begins a gate and is nothing else; while there is one, or where there
    /// are no phases, it stands in the journal.
    pub(super) fn announce(&mut self, id: SessionId, announced: Announced) {
        let Some(phase) = self.phase_of(id) else { return };
        if phase.base.is_none() || phase.approved.is_some() || phase.gate().is_some() {
            return;
        }
        self.begin_gate(id, Why::Said, Some(announced));
    }

    pub(super) fn begin_gate(&mut self, id: SessionId, why: Why, announced: Option<Announced>) {
        let Some(phase) = self.phase_of(id) else { return };
        let (phase, gate) = (phase.number, phase.gates_count + 1);
        self.emit(id, Event::PhaseAnnounced { phase, gate, why, announced });
    }

    /// What is due for a session that stands still for its phase.
    pub(super) fn advance_gated(&mut self, id: SessionId) {
        let Some(phase) = self.phase_of(id) else { return };
        if phase.base.is_some() {
            self.advance_gate(id);
            return;
        }
        let (phase, session) = (phase.number, self.session(id));
        if session.checkpoints.hold() {
            return;
        }
        if let Some(commit) = session.checkpoints.last.as_ref().map(|last| last.commit.clone()) {
            self.emit(id, Event::PhaseBased { phase, commit });
            self.advance(id);
        } else {
            let message = self.why_not_kept(id);
            self.finish(id, Outcome::Failed { reason: Reason::NoBase { message } });
        }
    }

    /// Its work is approved: it may end by itself, with its input closed, and is ended after a while.
    pub(super) fn advance_dismissed(&mut self, id: SessionId) {
        let session = self.session(id);
        let grace_ms = session.order.patience.grace_ms;
        let Some(live) = session.live() else {
            return self.finish(id, Outcome::Completed { verified: true });
        };
        let (launch, spool_seq, is_closed) = (live.number, live.spool_seq, live.input_closed);
        let (is_held, is_ending) = (live.held().is_some(), live.ending.is_some());
        if is_ending || live.process.is_none() || self.is_exchanging(id) {
            return;
        }
        let is_over = dismissed_over_at_ms(session).is_some_and(|at| at <= self.now_ms);
        let waits = session.checkpoints.hold() || session.parked_at_ms.is_some() || self.is_held_up(id);
        // Who may use nothing more is not sent on to say goodbye.
        if is_over || (is_held && self.is_over_budget(id)) {
            self.emit(id, Event::SessionRecalled { launch, why: Ending::Dismissed });
            self.act(id, Deed::End { launch, grace_ms });
            return;
        }
        if !is_closed {
            self.close_input(id, launch);
        }
        if is_held && !waits {
            self.release(id, launch, spool_seq);
        }
    }

    /// The agent of a phase has ended, and has not said that the phase is done. Who has not read what it was told is
    /// started again with it, once; then its end is one like any other.
    pub(super) fn end_unannounced(&mut self, id: SessionId, has_unread: bool) {
        if has_unread && self.phase_of(id).is_some_and(|phase| !phase.unread) {
            self.give_back(id, Return::Unread, None);
        } else {
            self.begin_gate(id, Why::Ended, None);
            self.advance(id);
        }
    }

    /// The phase goes back to its agent, with words.
    pub(super) fn give_back(&mut self, id: SessionId, why: Return, said: Option<&str>) {
        let Some(phase) = self.phase_of(id) else { return };
        let phase = phase.number;
        let session = self.session(id);
        let message = session.live().is_some_and(|live| live.ending.is_none() && !live.input_closed);
        let phases = self.phases_of(id).expect("it has a phase");
        let words = words::phases::returned(session, phases, why, said);
        let text = words::phases::input(session, phase, why, &words);
        self.emit(id, Event::PhaseReturned { phase, why, words, message });
        if message {
            self.write_message(id, &text);
        }
        self.advance(id);
    }

    /// What the agent of a phase is told when it is started next.
    pub(super) fn words_for(&self, id: SessionId) -> Option<String> {
        self.phase_of(id)?.words.clone()
    }

    /// More was asked than is recommended: that is said once.
    pub(super) fn warn_of_questions(&mut self, id: SessionId, ask_is_question: bool) {
        let Some(phase) = self.phase_of(id).filter(|_| ask_is_question) else { return };
        let (number, questions) = (phase.number, phase.questions);
        let max = self.phases_of(id).and_then(Phases::current_plan).map_or(u32::MAX, |it| it.questions_max);
        if questions == max.saturating_add(1) {
            self.emit(id, Event::PhaseWarned { phase: number, questions });
        }
    }

    /// A session of a phases run is over: its phase is, or what a verifier said is read.
    pub(super) fn phase_session_over(&mut self, id: SessionId, outcome: &Outcome) {
        let (project, run) = (self.session(id).project, self.session(id).run);
        let Some(phases) = self.phases_of(id) else { return };
        let Some(phase) = phases.current() else { return };
        let worker = phase.session;
        if worker != id {
            if let Some(gate) = self.gate_of(worker)
                && self.step_of(gate) == Some(&Step::Verifier { session: id })
            {
                self.move_gate(worker, gate, Step::Verdict { session: id });
                let launch = self.session(id).launches.last().map_or(0, |launch| launch.number);
                let (outcome, token) = (outcome.clone(), self.session(id).order.nonce.clone());
                self.act(worker, Deed::ReadVerdict { gate, verifier: id, launch, outcome, token });
            }
            return;
        }
        let (is_approved, next) = (phase.approved.is_some(), phase.number + 1);
        if !is_approved {
            self.emit_at(Some(project), Some(run), None, Event::RunEnded { outcome: outcome.clone() });
            return;
        }
        match phases.plan.order(next) {
            Some(order) => self.next_phase(id, next, order),
            None => {
                let outcome = Outcome::Completed { verified: true };
                self.emit_at(Some(project), Some(run), None, Event::RunEnded { outcome });
            }
        }
    }

    fn next_phase(&mut self, before: SessionId, phase: u32, order: Order) {
        let id = self.create_session(before, order);
        self.start_phase(id, phase);
    }

    /// Another session of the same run.
    pub(super) fn create_session(&mut self, beside: SessionId, order: Order) -> SessionId {
        let (project, run) = (self.session(beside).project, self.session(beside).run);
        let id = SessionId(self.desk.counters().session + 1);
        let created = Event::SessionCreated { order: Box::new(order), worktree: None };
        self.emit_at(Some(project), Some(run), Some(id), created);
        id
    }

    /// Why the agent of a phase has ended, if not well.
    pub(super) fn reason_ended(&self, id: SessionId) -> Option<Reason> {
        failure(self.session(id))
    }

    /// A word that came back from a phase is told to an agent that is not running.
    pub(super) fn launch_with_words(&mut self, id: SessionId) -> bool {
        let Some(words) = self.words_for(id) else { return false };
        self.launch(id, LaunchCause::Rework, Some(&words));
        true
    }

    fn why_not_kept(&self, id: SessionId) -> String {
        if self.session(id).checkpoints.off { "there is no repository" } else { "git failed" }.to_string()
    }
}

/// When a session whose work is approved is ended, if it has not ended by itself.
pub(super) fn dismissed_over_at_ms(session: &Session) -> Option<u64> {
    let at_ms = session.dismissed_at_ms?;
    session.live().filter(|live| live.ending.is_none())?;
    Some(at_ms.saturating_add(session.order.patience.grace_ms))
}

/// Whether something that is asked is a question.
pub(super) fn is_question(ask: &Ask) -> bool {
    matches!(ask, Ask::Question(_) | Ask::AskUser(_))
}
