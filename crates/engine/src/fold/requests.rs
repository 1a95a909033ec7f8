//! Folds the events of requests: opened, settled, expired, and what was installed or given for them.

use super::Place;
use crate::{
    answer::Answer,
    event::Event,
    id::{RequestId, SessionId},
    request::{Ask, Bringing, By, Call, Request, Settled},
    session::{Retries, ValueSource},
    world::StagedWorld,
};

impl StagedWorld<'_> {
    fn fold_opening(&mut self, place: &Place, at_ms: u64, event: &Event) {
        let Event::RequestOpened { request, launch, ask, trust, mark, expires_at_ms, call } = event else {
            return;
        };
        self.count_signal(place.session, call.as_ref());
        self.own.counters.request = self.counters().request.max(request.0);
        let retry = self.retry(place.session, at_ms, ask, *expires_at_ms);
        let opened = Request {
            id: *request,
            project: place.project,
            run: place.run,
            session: place.session,
            launch: *launch,
            ask: ask.clone(),
            trust: trust.clone(),
            mark: mark.clone(),
            opened_at_ms: at_ms,
            expires_at_ms: *expires_at_ms,
            expired_at_ms: None,
            settled: None,
            left: false,
            bringing: Bringing::Nothing,
            call: call.clone(),
            retry,
            installing: false,
            install: None,
            rules: [].into(),
        };
        let is_question = matches!(ask, Ask::Question(_) | Ask::AskUser(_));
        self.insert(opened);
        if is_question {
            self.count_question(place);
        }
    }

    pub(super) fn fold_request(&mut self, place: &Place, at_ms: u64, event: &Event) {
        match event {
            Event::RequestOpened { .. } => self.fold_opening(place, at_ms, event),
            Event::RequestRepeated { request, launch, ask, mark, expires_at_ms, call } => {
                self.count_signal(place.session, call.as_ref());
                let retry = self.retry(place.session, at_ms, ask, *expires_at_ms);
                let request = self.get_mut(*request);
                request.retry = retry;
                request.launch = *launch;
                request.ask = ask.clone();
                request.mark.clone_from(mark);
                request.expires_at_ms = *expires_at_ms;
                request.expired_at_ms = None;
                request.left = false;
                // An answer that has not set out yet is for whoever asks now.
                request.bringing = if request.is_open() { Bringing::Nothing } else { Bringing::Waiting };
                request.call.clone_from(call);
            }
            Event::RequestParted { request, caller } => {
                if let Some(call) = &mut self.get_mut(*request).call {
                    call.caller = *caller;
                }
            }
            Event::RequestLeft { request } => self.get_mut(*request).left = true,
            Event::RequestSettled { .. } => self.fold_settled(place, at_ms, event),
            Event::RequestExpired { request } => {
                let request = self.get_mut(*request);
                request.expired_at_ms = Some(at_ms);
                request.bringing = Bringing::Waiting;
            }
            Event::InstallStarted { .. } | Event::InstallFinished { .. } => self.fold_install(event),
            _ => {}
        }
    }

    fn fold_settled(&mut self, place: &Place, at_ms: u64, event: &Event) {
        let Event::RequestSettled { request, by, answer, brings, relaunches, unseen: _, printed: _ } = event
        else {
            return;
        };
        self.fold_values(place.session, *request, answer, *relaunches);
        let is_exchanged = self.exchanged(place.session).is_some();
        let session = self.get_mut(place.session);
        let waits = session.checkpoints.hold() || is_exchanged;
        if answer.ends() && waits && !session.is_over() {
            session.checkpoints.failed = Some(*request);
        }
        if *by == By::Person {
            session.office.repeats.begin_again();
        }
        let request = self.get_mut(*request);
        let (retry, is_error) = (request.retry, matches!(request.ask, Ask::Error(_)));
        // An agent that was not told yet that nobody answered still waits for it.
        let was_told = request.expired_at_ms.is_some() && request.bringing != Bringing::Waiting;
        let late = was_told && *by == By::Person;
        request.settled = Some(Settled { at_ms, by: *by, answer: answer.clone(), late });
        request.bringing = if *brings { Bringing::Waiting } else { Bringing::Nothing };
        // The wait for an account counts for nothing.
        if is_error && *by != By::Limit {
            let count = if *by == By::Expiry { retry.unwrap_or(0) } else { 0 };
            self.get_mut(place.session).retries = Retries { count, at_ms };
        }
    }

    fn fold_install(&mut self, event: &Event) {
        match event {
            Event::InstallStarted { request } => self.get_mut(*request).installing = true,
            Event::InstallFinished { request, install, brings } => {
                let request = self.get_mut(*request);
                request.installing = false;
                request.install = Some(install.clone());
                request.bringing = if *brings { Bringing::Waiting } else { Bringing::Nothing };
            }
            _ => {}
        }
    }

    /// Where the values are that an answer has brought.
    pub(super) fn fold_values(
        &mut self,
        session: SessionId,
        request: RequestId,
        answer: &Answer,
        relaunches: bool,
    ) {
        let name = match self.get(request).map(|request| &request.ask) {
            Some(ask @ Ask::Dependency(dependency)) if ask.wants_values() => dependency.name.clone(),
            _ => return,
        };
        let session = self.get_mut(session);
        session.needs_relaunch |= relaunches;
        match answer {
            Answer::Provided { names, reuse } => {
                let source = if *reuse { ValueSource::Project } else { ValueSource::Session };
                session.values.extend(names.iter().map(|name| (name.clone(), source.clone())));
            }
            Answer::Skipped { default: Some(text) } => {
                session.values.insert(name, ValueSource::Default { text: text.clone() });
            }
            _ => {}
        }
    }

    /// The number of the retry by which an error is settled when it expires.
    fn retry(&self, id: SessionId, at_ms: u64, ask: &Ask, expires_at_ms: Option<u64>) -> Option<u32> {
        let settles_itself = matches!(ask, Ask::Error(_)) && expires_at_ms.is_some();
        self.get(id).filter(|_| settles_itself)?.retries.next(at_ms)
    }

    pub(super) fn count_signal(&mut self, session: SessionId, call: Option<&Call>) {
        if let Some(call) = call {
            self.get_mut(session).signals = call.number;
        }
    }
}
