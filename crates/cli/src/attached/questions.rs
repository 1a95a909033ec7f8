//! The questions of a session, asked one after the other on the terminal where it is watched.

use std::collections::VecDeque;

use ostler_server::{
    api::{NewAnswer, RequestView},
    client::{Client, ClientError},
};
use serde_json::Value;

use super::events::Events;
use crate::{
    answering, card, console,
    context::Context,
    error::Error,
    form::{Form, Hidden, Taken},
    outcome, refusal,
    screen::{Screen, Style},
    words::{Key, Words},
};

/// What is asked, and what was shown of it.
pub(super) struct Questions<'a> {
    context: &'a Context,
    client: &'a Client,
    /// Whether answers can be typed here.
    can_ask: bool,
    open: VecDeque<RequestView>,
    /// The one that stands on the screen.
    shown: Option<String>,
    unsent: Option<Unsent>,
    /// What has been typed so far for the one on the screen, if it asks for values.
    form: Option<Form>,
    /// Held while a terminal that edits its lines itself does not show what is typed.
    hidden: Option<Hidden>,
}

/// An answer that no server has heard yet.
struct Unsent {
    id: String,
    answer: NewAnswer,
    /// Whether it was sent before, and may have been heard after all.
    is_again: bool,
}

impl<'a> Questions<'a> {
    pub(super) fn new(context: &'a Context, client: &'a Client, can_ask: bool) -> Questions<'a> {
        Questions {
            context,
            client,
            can_ask,
            open: VecDeque::new(),
            shown: None,
            unsent: None,
            form: None,
            hidden: None,
        }
    }

    /// Whether answers can be typed here from now on.
    pub(super) fn set_can_ask(&mut self, can_ask: bool) {
        self.can_ask = can_ask;
    }

    /// To which request there is an answer that no server has heard yet.
    pub(super) fn unsent(&self) -> Option<&str> {
        self.unsent.as_ref().map(|unsent| unsent.id.as_str())
    }

    /// These are open now. What was settled elsewhere goes away. Says whether one is new.
    pub(super) async fn open(&mut self, events: &mut Events, ids: &[String]) -> Result<bool, Error> {
        let mut is_new = false;
        self.open.retain(|request| ids.contains(&request.id));
        if let Some(id) = self.shown.take_if(|shown| !ids.contains(shown)) {
            self.put_away();
            let request: RequestView = events.get(self.context, &format!("/requests/{id}")).await?;
            if let Some(settled) = request.settled {
                let words = self.context.words;
                let answer = outcome::settled(words, &settled.by, &settled.answer);
                let said = match settled.by.as_str() {
                    // Who asked does not want to know any more.
                    "change" => words.say(Key::AskedNoMore, &[("id", &id)]),
                    _ => words.say(Key::AnsweredElsewhere, &[("id", &id), ("answer", &answer)]),
                };
                self.context.note_below(&said);
            }
        }
        for id in ids {
            if !self.open.iter().any(|request| request.id == *id) {
                self.open.push_back(events.get(self.context, &format!("/requests/{id}")).await?);
                is_new = true;
            }
        }
        // Which one comes first is for the server to say.
        self.open.make_contiguous().sort_by_key(|request| ids.iter().position(|id| *id == request.id));
        Ok(is_new)
    }

    /// Whether this question, as the parser reads it, is one of those that are open.
    pub(super) fn holds(&self, item: &Value) -> bool {
        let is_same = |(name, value): (&String, &Value)| value.is_null() || item[name] == *value;
        let asks = |request: &RequestView| match request.ask.fields.as_object() {
            Some(fields) => !fields.is_empty() && fields.iter().all(is_same),
            None => false,
        };
        self.open.iter().any(asks)
    }

    /// Whether one should be shown and is not.
    pub(super) fn are_waiting(&self) -> bool {
        self.shown.is_none() && !self.open.is_empty() && !self.context.json
    }

    /// Shows the first.
    pub(super) fn show(&mut self) -> Result<(), Error> {
        let Some(request) = self.open.front() else { return Ok(()) };
        let words = self.context.words;
        let screen = Screen::stderr();
        let mut said = card::question(words, screen, request);
        let example = card::example(request);
        let values: &[(&str, &dyn std::fmt::Display)] = &[("id", &request.id), ("value", &example)];
        if request.ask.kind == "review" {
            // It is decided where all of it is shown.
            screen.add_text(&mut said, 2, Style::Plain, &words.say(Key::AnswerReview, values));
        } else if self.can_ask {
            screen.add_text(&mut said, 2, Style::Plain, words.say(Key::AnswerLater, values).trim_end());
            self.form = Form::of(request);
            said.push_str(&prompt(self.form.as_ref(), words, request));
        } else {
            screen.add_text(&mut said, 2, Style::Plain, &words.say(Key::AnswerElsewhere, values));
        }
        self.shown = Some(request.id.clone());
        self.hide();
        put(&said)
    }

    /// What is typed next is shown, or not.
    fn hide(&mut self) {
        let is_secret = self.form.as_ref().is_some_and(Form::is_secret);
        if console::hide(is_secret) {
            return;
        }
        match (is_secret, self.hidden.is_some()) {
            (true, false) => self.hidden = Hidden::begin(),
            (false, true) => self.hidden = None,
            _ => {}
        }
    }

    /// What was typed so far is forgotten, and what is typed next is shown.
    pub(super) fn put_away(&mut self) {
        self.form = None;
        self.hidden = None;
        console::hide(false);
    }

    /// Something else stood on the screen meanwhile.
    pub(super) fn show_again(&mut self) {
        self.put_away();
        self.shown = None;
    }

    /// Takes a line as the answer to what is shown; says whether there was something to answer.
    pub(super) async fn said(&mut self, line: &str) -> Result<bool, Error> {
        let Some(id) = self.shown.clone() else { return Ok(false) };
        let Some(request) = self.open.iter().find(|request| request.id == id) else { return Ok(false) };
        let words = self.context.words;
        let answer = match self.form.as_mut().map(|form| form.take(words, line)) {
            None => answering::of_line(request, line),
            Some(Taken::Done(answer)) => answer,
            Some(Taken::Next) => {
                let said = prompt(self.form.as_ref(), words, request);
                self.hide();
                return put(&said).map(|()| true);
            }
            Some(Taken::Again(why)) => {
                if why.is_empty() {
                    self.form = Form::of(request);
                } else {
                    self.context.note(&why);
                }
                let said = prompt(self.form.as_ref(), words, request);
                self.hide();
                return put(&said).map(|()| true);
            }
        };
        self.put_away();
        let is_again = self.unsent.as_ref().is_some_and(|unsent| unsent.id == id);
        self.unsent = Some(Unsent { id, answer, is_again });
        self.send().await?;
        Ok(true)
    }

    /// Sends the answer that no server has heard yet, if there is one. Where none answers it is kept.
    pub(super) async fn send(&mut self) -> Result<(), Error> {
        let Some(unsent) = self.unsent.take() else { return Ok(()) };
        let words = self.context.words;
        let path = format!("/requests/{}/answer", unsent.id);
        let result: Result<RequestView, ClientError> = self.client.post(&path, &unsent.answer).await;
        match result {
            Ok(settled) => {
                self.open.retain(|request| request.id != unsent.id);
                self.shown = None;
                if settled.delivery == "undeliverable" {
                    let answer = settled.settled.map(|it| outcome::answer(words, &it.answer));
                    let values: &[(&str, &dyn std::fmt::Display)] =
                        &[("id", &settled.id), ("answer", &answer.unwrap_or_default())];
                    self.context.note(&words.say(Key::AnsweredNobody, values));
                }
                Ok(())
            }
            // It was heard the first time, or somebody else was faster: the event says with what it is settled.
            Err(ClientError::Refused(problem)) if unsent.is_again && problem.details["key"] == "settled" => {
                Ok(())
            }
            Err(ClientError::Refused(problem)) => {
                self.context.note(&refusal::message(words, &problem));
                let why = &problem.details["why"];
                if why["key"] == "not_an_option" {
                    self.context.note(&refusal::options(words, why, Key::HintInsistHere));
                }
                self.prompt(&unsent.id)
            }
            Err(ClientError::NoServer { .. } | ClientError::Broken { .. }) => {
                if !unsent.is_again {
                    self.context.note(words.sentence(Key::AnswerKept));
                }
                self.unsent = Some(Unsent { is_again: true, ..unsent });
                Ok(())
            }
            Err(error) => {
                self.context.note(&Error::Client(error).message(words));
                self.prompt(&unsent.id)
            }
        }
    }

    /// Asks again, from the beginning.
    fn prompt(&mut self, id: &str) -> Result<(), Error> {
        let Some(request) = self.open.iter().find(|request| request.id == id) else { return Ok(()) };
        self.form = Form::of(request);
        let said = prompt(self.form.as_ref(), self.context.words, request);
        self.hide();
        put(&said)
    }
}

/// What stands in front of the cursor.
fn prompt(form: Option<&Form>, words: Words, request: &RequestView) -> String {
    form.map_or_else(|| answering::prompt(words, request), |form| form.prompt(words))
}

/// Writes where people look, and machines do not.
fn put(text: &str) -> Result<(), Error> {
    console::say(text).map_err(Error::Stats)
}
