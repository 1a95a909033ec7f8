//! A main agent asks in the thin dialect: each line is an errand, which is carried out once and answered once.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use ostler_protocol::thin::Thin;
use serde_json::Value;

use super::Maker;
use crate::{
    action::Deed,
    event::Event,
    id::SessionId,
    thin::{OPEN_MAX, Spoken, ThinEvent, ThinNews, refused},
};

/// Why a line that also stands in what the agent was shown is not acted on: it may not be the agent who says it.
const MARKED: &str = "it also stands in what a tool has printed; ostler exec and ostler tasks do it";

/// Why one more is not taken.
const TOO_MANY: &str = "too many lines of this session wait for their answers";

impl Maker<'_> {
    /// Something was said in the thin dialect that asks for something. From everybody but a main agent it is text.
    pub(super) fn hear_thin(&mut self, id: SessionId, launch: u32, spoken: &Spoken, item: &Value) {
        let session = self.session(id);
        if !session.order.role.is_main() {
            return;
        }
        let is_full = session.thin.open.len() >= OPEN_MAX;
        let is_marked = item.get("mark").is_some_and(|mark| !mark.is_null());
        let (line, answer) = match spoken {
            Spoken::Unclear { line, answer } => (line.clone(), Some(answer.clone())),
            Spoken::Clear(said) => {
                // A question changes nothing, whoever has written it.
                let is_marked = is_marked && !matches!(said, Thin::ResolveNext { .. });
                let trouble = is_marked.then_some(MARKED).or(is_full.then_some(TOO_MANY));
                (said.to_string(), trouble.map(|reason| refused(said, reason)))
            }
        };
        let is_under_way = session.thin.same_task(&line).next().is_some();
        let number = session.thin.count + 1;
        let trust = String::from(item["trust"].as_str().unwrap_or("plain"));
        let asked = ThinEvent::Asked { number, launch, line, trust };
        self.emit(id, Event::Thin(asked));
        match answer {
            Some(answer) => self.answer_errand(id, number, &answer.to_string()),
            // It is answered with the one that is under way.
            None if is_under_way => {}
            None => self.act(id, Deed::Thin { number }),
        }
    }

    /// Something came of an errand. One that is answered is over, whoever reports about it again.
    pub(super) fn thin_news(&mut self, id: SessionId, number: u64, news: &ThinNews) {
        let Some(errand) = self.desk.get(id).and_then(|session| session.thin.open.get(&number)) else {
            return;
        };
        match news {
            ThinNews::Began(run) => {
                if errand.run != Some(*run) {
                    self.emit(id, Event::Thin(ThinEvent::Began { number, child: *run }));
                }
            }
            ThinNews::Answered(line) => {
                let errands = &self.session(id).thin;
                let also = errands.same_task(&errand.line).filter(|it| *it > number);
                let all: Vec<u64> = [number].into_iter().chain(also).collect();
                for number in all {
                    self.answer_errand(id, number, line);
                }
                self.advance(id);
            }
        }
    }

    /// Answers an errand. Who is over has nobody to read it.
    fn answer_errand(&mut self, id: SessionId, number: u64, line: &str) {
        self.emit(id, Event::Thin(ThinEvent::Answered { number, line: line.to_string() }));
        let session = self.session(id);
        if !session.is_over() && session.cancelled_at_ms.is_none() {
            self.write_message(id, line);
        }
    }
}
