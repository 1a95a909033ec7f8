//! What really happened in a demonstration, and whether it is what was promised.

use ostler_server::api::{EventView, OutcomeKind, RequestView, SessionView};
use serde_json::{Value, json};

use super::process::Process;
use crate::words::Key;

/// What was seen, from beginning to end.
#[derive(Debug)]
pub(super) struct Facts {
    /// The servers: the one that was killed, and the one after it.
    pub(super) servers: [u32; 2],
    /// The agents' processes before the kill.
    pub(super) before: Vec<Process>,
    /// While there was no server.
    pub(super) meanwhile: Vec<Process>,
    /// When there was one again.
    pub(super) after: Vec<Process>,
    /// The question, at the end.
    pub(super) request: RequestView,
    /// The sessions, at the end.
    pub(super) sessions: Vec<SessionView>,
    /// Everything that happened.
    pub(super) events: Vec<EventView>,
    /// What the second agent changed.
    pub(super) diff: String,
    /// Whether everything has ended as it should.
    pub(super) nothing_left: bool,
}

impl Facts {
    /// What was promised, and whether it is so.
    pub(super) fn verify(&self) -> Vec<(Key, bool)> {
        let same = self.before.len() == self.sessions.len()
            && self.before == self.meanwhile
            && self.before == self.after;
        let two_servers = self.servers[0] != self.servers[1];
        let asked_by_person = self.request.settled.as_ref().is_some_and(|settled| settled.by == "person");
        let answered_once = self.count("request.opened") == 1 && self.count("request.settled") == 1;
        let codes = self.check_codes();
        let sent_back = codes.len() == 2 && codes[0] > 0 && codes[1] == 0;
        let all_green = self.sessions.iter().all(|session| {
            let outcome = session.outcome.as_ref();
            outcome.is_some_and(|it| it.outcome == OutcomeKind::Completed && it.verified)
        });
        vec![
            (Key::DemoFactSame, same && two_servers),
            (Key::DemoFactAnswered, asked_by_person && answered_once),
            (Key::DemoFactChecked, sent_back && all_green),
            (Key::DemoFactDiff, !self.diff.trim().is_empty()),
            (Key::DemoFactNothingLeft, self.nothing_left),
        ]
    }

    /// Whether all of it is so.
    pub(super) fn is_verified(&self) -> bool {
        self.verify().iter().all(|(_, is_so)| *is_so)
    }

    /// For machines.
    pub(super) fn to_json(&self) -> Value {
        let sessions: Vec<Value> = self.sessions.iter().map(|it| json!([it.id, it.status])).collect();
        json!({
            "verified": self.is_verified(),
            "servers": self.servers,
            "agents": { "before": self.before, "meanwhile": self.meanwhile, "after": self.after },
            "request": { "id": self.request.id, "settled": self.request.settled },
            "check_codes": self.check_codes(),
            "sessions": sessions,
            "diff": self.diff,
            "nothing_left": self.nothing_left,
        })
    }

    fn count(&self, kind: &str) -> usize {
        self.events.iter().filter(|event| event.kind == kind).count()
    }

    /// The exit codes of the second agent's checks, in their order.
    fn check_codes(&self) -> Vec<i64> {
        let second = self.sessions.get(1).map(|session| session.id.as_str());
        let checks = self.events.iter().filter(|event| event.kind == "check.finished");
        let of_second = checks.filter(|event| event.session.as_deref() == second);
        of_second.filter_map(|event| event.body["attempt"]["code"].as_i64()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{card::tests::request, sessions::tests::session};

    fn event(kind: &str, session: &str, body: &Value) -> EventView {
        let session = Some(session.to_owned());
        let (project, run, body) = (None, None, body.clone());
        EventView { seq: 1, v: 1, at_ms: 0, kind: kind.to_owned(), project, run, session, body }
    }

    fn as_promised() -> Facts {
        let done = json!({"outcome": "completed", "verified": true});
        let sessions = ["s_1", "s_2", "s_3"].map(|id| session(id, "completed", "x", &done)).to_vec();
        let mut request = request();
        request.settled = serde_json::from_value(json!({
            "at_ms": 0, "by": "person", "answer": {"answer": "text", "text": "MySQL"}, "late": false,
        }))
        .expect("the form of a settlement");
        let check = |code: i32| event("check.finished", "s_2", &json!({"attempt": {"code": code}}));
        let processes: Vec<Process> = (7..10).map(|pid| Process { pid, started_ticks: 1 }).collect();
        Facts {
            servers: [1, 2],
            before: processes.clone(),
            meanwhile: processes.clone(),
            after: processes,
            request,
            sessions,
            events: vec![
                event("request.opened", "s_1", &Value::Null),
                event("request.settled", "s_1", &Value::Null),
                check(1),
                check(0),
            ],
            diff: "+x".to_owned(),
            nothing_left: true,
        }
    }

    /// How a promise is broken.
    type Break = fn(&mut Facts);

    #[test]
    fn every_promise_can_be_broken() {
        assert!(as_promised().is_verified());
        let broken: [(Key, Break); 10] = [
            (Key::DemoFactSame, |facts| facts.after[1].started_ticks = 2),
            (Key::DemoFactSame, |facts| facts.meanwhile.clear()),
            (Key::DemoFactSame, |facts| facts.servers[1] = 1),
            (Key::DemoFactAnswered, |facts| facts.request.settled = None),
            (Key::DemoFactAnswered, |facts| facts.events.push(facts.events[1].clone())),
            (Key::DemoFactChecked, |facts| drop(facts.events.remove(2))),
            (Key::DemoFactChecked, |facts| facts.events.swap(2, 3)),
            (Key::DemoFactChecked, |facts| facts.sessions[2].outcome = None),
            (Key::DemoFactDiff, |facts| facts.diff.clear()),
            (Key::DemoFactNothingLeft, |facts| facts.nothing_left = false),
        ];
        for (promise, breaks) in broken {
            let mut facts = as_promised();
            breaks(&mut facts);
            let not_so: Vec<Key> =
                facts.verify().into_iter().filter(|(_, is_so)| !is_so).map(|(key, _)| key).collect();
            assert_eq!(not_so, [promise]);
        }
    }
}
