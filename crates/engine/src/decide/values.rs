//! What an agent needs beside words: values, and packages. A value itself never comes here; it is in the vault, and an
//! action puts it where the agent finds it.

use alloc::{string::String, vec::Vec};

use ostler_agents::InputWay;

use super::{Maker, requests::OSTLER};
use crate::{
    action::Deed,
    answer::Answer,
    event::Event,
    id::{RequestId, SessionId},
    request::{Ask, By, Install, Request},
};

impl Maker<'_> {
    /// What a request asks for is in the vault, and a person allowed that it is given again.
    pub(super) fn find_in_vault(&mut self, id: RequestId, names: &[String]) {
        let Some(request) = self.desk.get(id) else { return };
        let session = request.session;
        let may_be_given = request.is_open() && request.blocks() && request.may_be_settled_by_policy();
        if !may_be_given || names.is_empty() {
            return;
        }
        self.settle(id, By::Vault, Answer::Provided { names: names.to_vec(), reuse: true });
        self.advance(session);
    }

    /// The answer by which the session was given the value that is asked for, if it was.
    pub(super) fn value_given(&self, session: SessionId, ask: &Ask) -> Option<Answer> {
        let same = self.desk.requests_of(session).filter(|it| it.ask.wants_same_values(ask));
        let settled = same.filter_map(|it| it.settled.as_ref()).map(|settled| &settled.answer);
        let answer = settled.filter(|answer| answer.gives_values()).last()?;
        Some(answer.clone())
    }

    /// Whether the process has to be started again to have a value. Who asked over the session's own socket is given it
    /// there.
    pub(super) fn relaunches_for_values(&self, session: SessionId, request: RequestId) -> bool {
        let is_channel = self.desk.get(request).is_some_and(|request| request.call.is_some());
        let it = self.session(session);
        it.live().is_some() && it.order.agent.values.relaunch && it.can_resume() && !is_channel
    }

    /// Whether an agent is told in words what came of its wish for a value. A running program that reads lines is not,
    /// unless its table says so: who waits for one line must not find another in its place. That it will not get what
    /// it cannot do without, everybody is told.
    pub(super) fn tells_of_values(
        &self,
        id: SessionId,
        ask: &Ask,
        answer: &Answer,
        relaunches: bool,
    ) -> bool {
        let session = self.session(id);
        let is_required = matches!(ask, Ask::Dependency(dependency) if dependency.required);
        let is_denied = matches!(answer, Answer::Denied { .. }) && is_required;
        let runs_on = session.live().is_some_and(|live| live.ending.is_none()) && !relaunches;
        let agent = &session.order.agent;
        is_denied || agent.values.reply || agent.input.way != InputWay::Line || !runs_on
    }

    /// The values could not be written. A process that was to be sent on stands still until they are, or a person says
    /// what is to be done; whoever is started later is not started without them.
    pub(super) fn withhold_values(&mut self, id: SessionId, message: &str) {
        let Some(session) = self.desk.get(id) else { return };
        let Some(live) = session.live() else { return };
        let launch = live.number;
        if live.ending.is_some() {
            // What was to send it on is taken back. The next one is not started without them, so that nobody is asked.
            if live.released_seq > 0 {
                self.emit(id, Event::ValuesWithheld { launch, reason: message.into() });
            }
            return;
        }
        let ask = Ask::Stall { reason: message.into() };
        let is_known =
            |request: &Request| request.is_open() && request.launch == launch && request.ask == ask;
        if session.cancelled_at_ms.is_some() || self.desk.requests_of(id).any(is_known) {
            return;
        }
        self.emit(id, Event::ValuesWithheld { launch, reason: message.into() });
        self.open(id, launch, ask, OSTLER, None);
        self.act(id, Deed::Stop { launch });
    }

    /// A person has approved a package. The agent is told when something has come of that.
    pub(super) fn install(&mut self, session: SessionId, request: RequestId) {
        self.emit(session, Event::InstallStarted { request });
        self.act(session, Deed::Install { request });
    }

    pub(super) fn end_install(&mut self, id: RequestId, install: &Install) {
        let Some(request) = self.desk.get(id).filter(|request| request.installing) else { return };
        let (session, brings) = (request.session, !request.left);
        let install = install.clone();
        self.emit(session, Event::InstallFinished { request: id, install, brings });
        self.advance(session);
    }

    /// Nobody waits any more for what is being installed.
    pub(super) fn end_installs(&mut self, id: SessionId) {
        let pending = self.desk.pending(id).into_iter().filter_map(|id| self.desk.get(id));
        let running: Vec<RequestId> =
            pending.filter(|request: &&Request| request.installing).map(|request| request.id).collect();
        for request in running {
            let install = Install { installed: false, reason: None };
            self.emit(id, Event::InstallFinished { request, install, brings: false });
            self.act(id, Deed::EndInstall { request });
        }
    }
}
