//! A loop through a task file: what its conductor reports becomes events. What it does next is decided by
//! [`crate::orchestrate::next`], from files that others write too, so nothing of that stands here.

use super::{Maker, requests::OSTLER};
use crate::{
    answer::Answer,
    event::Event,
    id::{RequestId, SessionId},
    input::{NewRun, Refusal},
    orchestrate::{Card, News, Over, Step},
    request::{Ask, By, Request},
    session::Session,
};

impl Maker<'_> {
    /// Nobody else goes through the tasks of the same project.
    pub(super) fn is_free_for_loop(&self, new: &NewRun) -> Result<(), Refusal> {
        let mut others = self.desk.sessions_under_way().into_iter().filter_map(|id| self.desk.get(id));
        let other = others.find(|it| it.conducts.is_some() && it.order.directory == new.order.directory);
        other.map_or(Ok(()), |other| Err(Refusal::LoopBusy { run: other.run }))
    }

    /// A conductor reports.
    pub(super) fn conducted(&mut self, id: SessionId, news: &News) {
        let Some(conducts) =
            self.desk.get(id).filter(|it| !it.is_over()).and_then(|it| it.conducts.as_deref())
        else {
            return;
        };
        let card = conducts.card.clone();
        match news {
            News::Moved(step) if conducts.knows(step) => {}
            News::Moved(step) => self.emit(id, Event::LoopMoved { step: step.clone() }),
            News::Ask { about, question } => {
                if card.is_none() {
                    let request = self.open(id, 0, Ask::Question(question.clone()), OSTLER, None);
                    let card = Card { request, about: about.clone(), answer: None };
                    self.emit(id, Event::LoopMoved { step: Step::Asked { card } });
                }
            }
            News::Withdrawn(request) => {
                if card.is_some_and(|card| card.request == *request) {
                    self.withdraw_request(id, *request);
                }
            }
            News::Ended(outcome) => self.finish(id, outcome.clone()),
        }
    }

    /// A run that a loop asked for is over: the loop hears of it in the same breath, for it is forgotten soon after.
    pub(super) fn tell_loop(&mut self, id: SessionId) {
        let session = self.session(id);
        let Some(run) = self.desk.get(session.run) else { return };
        let (Some(parent), Some(over)) = (run.parent, Over::of(run, session, self.now_ms)) else { return };
        let run = run.id;
        let is_loop = |parent: &Session| parent.conducts.is_some() && !parent.is_over();
        if self.desk.get(parent).is_some_and(is_loop) {
            self.emit(parent, Event::LoopMoved { step: Step::RunOver { run, over } });
        }
    }

    /// What was asked is not the question any more.
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
        self.emit(id, Event::LoopMoved { step: Step::Settled { request, choice: None } });
    }
}
