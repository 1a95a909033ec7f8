//! Requests: opened by an agent, settled by a person or by time.

use alloc::{boxed::Box, format, string::String};

use ostler_protocol::{
    mark::Mark,
    signal::{ErrorReport, Recovery},
};

use super::{Maker, phases::is_question};
use crate::{
    action::Deed,
    answer::{self, Answer, Given},
    checkpoint::Why,
    event::Event,
    id::{RequestId, SessionId},
    input::Refusal,
    permission::PermissionRule,
    request::{Ask, Bringing, By, Call, Request},
    reset,
    run::{Outcome, Reason},
    session::{CheckEnding, Ending, Launch, LaunchCause, LogPlace},
};

/// Where something that is asked comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source<'a> {
    /// From the agent's output, or from Ostler itself.
    Heard {
        /// Who said it, as the parser names it.
        trust: &'a str,
        /// Where the same also stands.
        mark: Option<&'a Mark>,
        /// The real path of the file that a tool would be used on.
        real_path: Option<&'a str>,
    },
    /// From a process that is blocked at the session's own socket.
    Called {
        /// Which one, and under which name.
        call: &'a Call,
        /// Where the same also stands.
        mark: Option<&'a Mark>,
    },
}

/// Ostler itself asks.
pub(super) const OSTLER: Source<'_> = Source::Heard { trust: "ostler", mark: None, real_path: None };

impl<'a> Source<'a> {
    fn trust(self) -> &'a str {
        match self {
            Source::Heard { trust, .. } => trust,
            Source::Called { .. } => "channel",
        }
    }

    fn mark(self) -> Option<Mark> {
        match self {
            Source::Heard { mark, .. } | Source::Called { mark, .. } => mark.cloned(),
        }
    }

    fn real_path(self) -> Option<&'a str> {
        match self {
            Source::Heard { real_path, .. } => real_path,
            Source::Called { .. } => None,
        }
    }

    fn call(self) -> Option<Call> {
        match self {
            Source::Heard { .. } => None,
            Source::Called { call, .. } => Some(call.clone()),
        }
    }

    /// Whether a request that asks the same is meant again, and no second card is made of it. What was asked by a
    /// caller that has gone is asked again by the next one, who also gets an answer that has not set out yet.
    fn takes_over(self, launch: u32, request: &Request) -> bool {
        let is_earlier = request.launch < launch;
        match self {
            Source::Heard { .. } => is_earlier && request.is_open(),
            Source::Called { .. } => {
                let is_free = request.call.is_some() && !request.has_caller();
                let has_answer = request.bringing == Bringing::Waiting;
                (is_earlier || is_free) && (request.is_open() || has_answer)
            }
        }
    }
}

impl Maker<'_> {
    /// An agent asks. A later process that asks the same as an earlier one does not make a second card of it.
    /// What is marked waits for a person, whatever it says.
    pub(super) fn asked(&mut self, id: SessionId, launch: u32, ask: Ask, source: Source<'_>) -> RequestId {
        let is_meant = |request: &&Request| request.asks_the_same(&ask) && source.takes_over(launch, request);
        let known = self.desk.requests_of(id).find(is_meant);
        let (known, earlier) = known.map(|request| (request.id, request.mark.clone())).unzip();
        let mark = source.mark().or(earlier.flatten());
        let patience = self.session(id).order.patience;
        let expires_in_ms = match &ask {
            Ask::Question(question) if !question.required && mark.is_none() => Some(patience.question_ms),
            Ask::AskUser(_) => Some(patience.ask_user_ms),
            ask if mark.is_none() => self.retries_in_ms(id, ask),
            _ => None,
        };
        let rule = self.rule_for(id, &ask, source.real_path()).filter(|_| mark.is_none());
        if let Some(request) = known {
            let expires_at_ms = expires_in_ms.map(|time| self.now_ms.saturating_add(time));
            let call = source.call();
            let holds = call.is_none();
            self.emit(id, Event::RequestRepeated { request, launch, ask, mark, expires_at_ms, call });
            match rule {
                Some(rule) => self.settle(request, By::Rule, approved_by(rule)),
                None => self.checkpoint_due(id, Why::Request, holds),
            }
            return request;
        }
        if let Some(rule) = rule {
            let request = self.open_card(id, launch, ask, source, None);
            self.settle(request, By::Rule, approved_by(rule));
            return request;
        }
        // What the session has been given is there for whoever asks at its socket.
        let is_call = source.call().is_some() && mark.is_none();
        if let Some(answer) = self.value_given(id, &ask).filter(|_| is_call) {
            let request = self.open_card(id, launch, ask, source, None);
            self.settle(request, By::Repetition, answer);
            return request;
        }
        let repeated = self.repeated_answer(id, launch, &ask);
        let gives_up = gives_up(&ask);
        // Who is blocked at the socket waits there, and nothing of it has to be stopped.
        let limit = limit_in(&ask).filter(|_| source.call().is_none());
        let expires_in_ms = expires_in_ms.filter(|_| limit.is_none());
        let is_question = is_question(&ask);
        let request = self.open(id, launch, ask, source, expires_in_ms);
        self.offer_rules(request, source.real_path());
        self.warn_of_questions(id, is_question);
        if !self.desk.get(request).is_some_and(Request::may_be_settled_by_policy) {
            return request;
        }
        if let Some(message) = limit {
            self.settle(request, By::Limit, Answer::Retry);
            self.hit_limit(id, None, None, Some(message));
        } else if let Some(answer) = repeated {
            self.settle(request, By::Repetition, answer);
        } else if gives_up {
            self.settle(request, By::End, Answer::Fail);
        } else if self.desk.get(request).is_some_and(|request| request.ask.wants_values()) {
            self.act(id, Deed::LookInVault { request });
        }
        request
    }

    /// An agent that began again from nothing asks what was answered before: the answer is still the same, as long as the
    /// same work goes on. After its end, or with other words, it is another. An error that comes again is another one.
    fn repeated_answer(&self, id: SessionId, launch: u32, ask: &Ask) -> Option<Answer> {
        if matches!(ask, Ask::Error(_) | Ask::Fault { .. }) {
            return None;
        }
        // Its caller had gone, and the answer is on its way as a message when it is asked again.
        let is_under_way =
            |it: &&Request| it.launch == launch && it.call.is_some() && it.bringing.is_under_way();
        let same = self.desk.requests_of(id).filter(|it| it.asks_the_same(ask));
        if let Some(settled) = same.filter(is_under_way).find_map(|it| it.settled.as_ref()) {
            return Some(settled.answer.clone());
        }
        let session = self.session(id);
        let began_again = |launch: &&Launch| launch.cause == LaunchCause::Resume && launch.fresh;
        session.live().filter(began_again)?;
        let earlier = self.desk.requests_of(id).filter(|it| (session.anew_from..launch).contains(&it.launch));
        let settled = earlier.filter(|it| it.asks_the_same(ask)).filter_map(|it| it.settled.as_ref());
        // A rule that still holds has been found before this; one that was revoked must not come back here.
        let is_of_rule = |answer: &Answer| matches!(answer, Answer::Approved { for_session: true, .. });
        let counts = |answer: &Answer| *answer != Answer::Fail && !is_of_rule(answer);
        let by_person = settled.filter(|it| it.by == By::Person && counts(&it.answer));
        by_person.last().map(|settled| settled.answer.clone())
    }

    pub(super) fn open(
        &mut self,
        id: SessionId,
        launch: u32,
        ask: Ask,
        source: Source<'_>,
        expires_in_ms: Option<u64>,
    ) -> RequestId {
        // Where there is no room, there is none for a checkpoint either.
        // What is reviewed is kept already.
        // Who is over has left what it did where it is.
        let is_kept = matches!(ask, Ask::Stall { .. } | Ask::Steered { .. } | Ask::Review(_))
            || self.session(id).is_over();
        // Whoever asks over its socket runs on and does not wait; unless that is the last thing it does.
        let holds = source.call().is_none() || gives_up(&ask);
        let is_over = ask.is_about_budget();
        let request = self.open_card(id, launch, ask, source, expires_in_ms);
        if is_over {
            self.stand_still(id);
        }
        if !is_kept {
            self.checkpoint_due(id, Why::Request, holds);
        }
        request
    }

    /// Opens a request, and makes no checkpoint for it.
    fn open_card(
        &mut self,
        id: SessionId,
        launch: u32,
        ask: Ask,
        source: Source<'_>,
        expires_in_ms: Option<u64>,
    ) -> RequestId {
        let request = RequestId(self.desk.counters().request + 1);
        let expires_at_ms = expires_in_ms.map(|time| self.now_ms.saturating_add(time));
        let (trust, mark, call) = (source.trust().into(), source.mark(), source.call());
        self.emit(id, Event::RequestOpened { request, launch, ask, trust, mark, expires_at_ms, call });
        request
    }

    /// A person answers.
    pub(super) fn answer(
        &mut self,
        id: RequestId,
        given: &Given,
        printed: Option<LogPlace>,
    ) -> Result<(), Refusal> {
        let request = self.desk.get(id).ok_or(Refusal::NoRequest { request: id })?;
        if let Some(settled) = &request.settled {
            return Err(Refusal::Settled { request: id, settled: settled.clone() });
        }
        let answer = answer::read(&request.ask, &request.rules, given)
            .map_err(|why| Refusal::NotAnAnswer { request: id, why })?;
        let session = request.session;
        let choice = self.choice_of(session, id, &answer)?;
        let repeat = self.repeat_choice_of(id, &answer)?;
        self.made.request = Some(id);
        self.made.session = Some(session);
        self.printed = printed.map(|place| (session, place));
        let is_rule = if let Answer::Approved { for_session: true, rule: Some(rule) } = &answer {
            self.allow_rule(session, id, (**rule).clone());
            true
        } else {
            false
        };
        self.settle(id, By::Person, answer);
        if is_rule {
            self.settle_covered(session);
        }
        if let Some((about, choice)) = choice {
            self.heed_choice(session, &about, choice);
        }
        if let Some((calls, choice)) = repeat {
            for call in calls {
                self.heed_repeat(call, choice);
            }
        }
        self.advance(session);
        Ok(())
    }

    pub(super) fn settle(&mut self, id: RequestId, by: By, answer: Answer) {
        let request = self.desk.get(id).expect("it was looked up before");
        let (session, ask) = (request.session, request.ask.clone());
        // The driver of a graph looks for the answer by itself.
        let is_waited_for = {
            let asks = self.session(session);
            !request.left && !asks.is_over() && asks.graph.is_none()
        };
        // What is said about a call is for Ostler, not for who calls.
        let is_waited_for = is_waited_for && self.held_call(id).is_none();
        let is_running = self.session(session).live().is_some();
        let has_caller = request.has_caller();
        let is_approval = matches!(answer, Answer::Approved { .. });
        let installs = is_waited_for && is_approval && ask.wants_package();
        // Who came after the one that asked has the value as well.
        let gives_values = ask.wants_values() && answer.gives_values();
        let relaunches = is_waited_for && gives_values && self.relaunches_for_values(session, id);
        let unseen = gives_values && !relaunches && self.session(session).runs_on_without_values(request);
        let brings = is_waited_for
            && !installs
            && match &answer {
                Answer::Fail => false,
                // Who is blocked has to be told whatever it is.
                _ if has_caller => true,
                Answer::GoOn { words: None } | Answer::Raised { .. } => false,
                _ if ask.wants_values() => self.tells_of_values(session, &ask, &answer, relaunches),
                // Who reads lines is simply sent on; who reads messages, or has ended, has to be told.
                Answer::Retry => !(self.reads_lines(session) && is_running),
                _ => true,
            };
        let fails = answer.ends();
        let raised_by = if let Answer::Raised { by } = answer { Some(by) } else { None };
        let printed = self.printed(session);
        let settled = Event::RequestSettled { request: id, by, answer, brings, relaunches, unseen, printed };
        self.emit(session, settled);
        // Values that could not be written are tried again when somebody says that it may go on.
        let tries_again = matches!(ask, Ask::Stall { .. }) && !self.session(session).values.is_empty();
        if is_running && (gives_values || tries_again) {
            self.act(session, Deed::ProvideValues);
        }
        if installs {
            self.install(session, id);
        } else if fails {
            self.give_up(session);
        } else if ask.is_about_budget() {
            self.raise(session, &ask, raised_by);
        }
        if !fails {
            self.steer_check(session);
        }
    }

    /// A person, or the agent itself, says that it has failed. What it did is kept first.
    pub(super) fn give_up(&mut self, id: SessionId) {
        if self.session(id).checkpoints.failed.is_none() {
            self.end_as_failed(id);
        }
    }

    /// Ends it, now.
    pub(super) fn end_as_failed(&mut self, id: SessionId) {
        let session = self.session(id);
        let grace_ms = session.order.patience.grace_ms;
        if let Some(live) = session.live() {
            let launch = live.number;
            self.emit(id, Event::SessionRecalled { launch, why: Ending::Failed });
            self.act(id, Deed::End { launch, grace_ms });
        } else if let Some(number) = session.checking {
            self.end_running_check(id, number, CheckEnding::Failed);
        } else {
            let reason = self.reason_given_up(id);
            self.finish(id, Outcome::Failed { reason });
        }
    }

    /// Why the process that was told to end as a failure had to.
    pub(super) fn reason_given_up(&self, id: SessionId) -> Reason {
        let answer = |request: &Request| request.settled.as_ref().map(|settled| settled.answer.clone());
        let ended = self.desk.requests_of(id).filter_map(|it| Some((it, answer(it)?)));
        let last = ended.filter(|(_, answer)| answer.ends()).last();
        let overdue = if self.session(id).verifies() { Reason::VerifierOverdue } else { Reason::NoEnd };
        last.map_or(overdue, |(request, answer)| match (&request.ask, answer) {
            (Ask::Review(review), Answer::Rejected { words }) => {
                Reason::Rejected { phase: review.phase, message: words }
            }
            (ask, _) => reason(ask),
        })
    }
}

/// The answer to a call that a rule of the session covers.
pub(super) fn approved_by(rule: PermissionRule) -> Answer {
    Answer::Approved { for_session: false, rule: Some(Box::new(rule)) }
}

/// What an error says, if it says that an account has hit a limit and is to be tried again. Others may only be about
/// limits: an agent that works on them has errors too.
fn limit_in(ask: &Ask) -> Option<String> {
    let Ask::Error(ErrorReport { recovery: Recovery::PauseAndRetry, message, details, .. }) = ask else {
        return None;
    };
    let all = format!("{message}. {}", details.as_deref().unwrap_or_default());
    reset::says_limit(message).then_some(all)
}

/// Whether an agent says that it has failed, and that what it did is to be kept.
fn gives_up(ask: &Ask) -> bool {
    matches!(ask, Ask::Error(error) if error.recovery == Recovery::CheckpointAndFail)
}

fn reason(ask: &Ask) -> Reason {
    match ask {
        Ask::Error(error) => Reason::Reported { message: error.message.clone() },
        Ask::Fault(fault) => Reason::Reported { message: fault.details.clone() },
        Ask::Stall { reason } => Reason::Reported { message: reason.clone() },
        Ask::Steered { what } => Reason::Reported { message: what.sentence().into() },
        Ask::CostOver { .. } => Reason::CostOver,
        Ask::TokensOver { .. } => Reason::TokensOver,
        _ => Reason::TimeOver,
    }
}
