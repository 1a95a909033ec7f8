//! What really happened in a full demonstration, and whether it is what was promised.

use ostler_server::api::{ExportView, PhaseView, PhasesView, RequestView};
use serde_json::{Value, json};

use crate::words::Key;

/// What was seen, from beginning to end.
#[derive(Debug)]
pub(in super::super) struct FullFacts {
    /// The run, at the end.
    pub(super) view: PhasesView,
    /// Everything that was asked.
    pub(super) requests: Vec<RequestView>,
    /// The branch.
    pub(super) export: ExportView,
    /// The exit code of the program's tests.
    pub(super) tests: Option<i32>,
    /// Where the key was found.
    pub(super) key_stands: KeyStands,
    /// Whether everything has ended as it should.
    pub(in super::super) nothing_left: bool,
}

/// Where a key was found.
#[derive(Debug)]
pub(super) enum KeyStands {
    /// A person typed it, so nobody knows what to look for.
    Unknown,
    /// In none of the places that were looked at.
    Nowhere,
    /// In this file.
    In(String),
}

impl FullFacts {
    /// What was promised, and whether it is so.
    pub(in super::super) fn verify(&self) -> Vec<(Key, bool)> {
        let phases = &self.view.phases;
        let approved = phases.len() == 4 && phases.iter().all(|phase| self.is_approved(phase));
        let commits = &self.export.commits;
        let exported = commits.len() == phases.len()
            && commits.iter().zip(phases).all(|(commit, phase)| {
                phase.approved.as_ref().is_some_and(|approved| approved.tree == commit.tree)
            });
        let mut promises = vec![
            (Key::FullFactApproved, approved),
            (Key::FullFactSentBack, phases.iter().any(was_sent_back)),
            (Key::FullFactAsked, self.was_asked()),
            (Key::FullFactTests, self.tests == Some(0) && phases.last().is_some_and(has_tested)),
            (Key::FullFactExported, exported),
            (Key::DemoFactNothingLeft, self.nothing_left),
        ];
        match self.key_stands {
            KeyStands::Unknown => {}
            KeyStands::Nowhere => promises.insert(4, (Key::FullFactSecret, true)),
            KeyStands::In(_) => promises.insert(4, (Key::FullFactSecret, false)),
        }
        promises
    }

    /// For machines.
    pub(in super::super) fn to_json(&self) -> Value {
        json!({
            "verified": self.verify().iter().all(|(_, is_so)| *is_so),
            "phases": self.view,
            "requests": self.requests.iter().map(|it| json!({
                "id": it.id, "kind": it.ask.kind, "fields": it.ask.fields, "settled": it.settled,
            })).collect::<Vec<_>>(),
            "export": self.export,
            "tests": self.tests,
            "key_stands_in": if let KeyStands::In(path) = &self.key_stands { Some(path) } else { None },
            "nothing_left": self.nothing_left,
        })
    }

    /// A person has approved the tree of a gate that nothing was wrong with.
    fn is_approved(&self, phase: &PhaseView) -> bool {
        let Some(approved) = &phase.approved else { return false };
        let gate = phase.gates.iter().find(|gate| gate.number == approved.gate);
        let is_shown =
            gate.is_some_and(|gate| gate.passed == Some(true) && gate.tree.as_ref() == Some(&approved.tree));
        let request = self.requests.iter().find(|it| Some(&it.id) == approved.request.as_ref());
        let settled = request.and_then(|it| it.settled.as_ref());
        let is_by_person =
            settled.is_some_and(|it| it.by == "person" && it.answer["tree"] == approved.tree.as_str());
        is_shown && is_by_person && !approved.insisted
    }

    fn was_asked(&self) -> bool {
        let has = |field: &str, value: &str| {
            self.requests.iter().any(|it| it.ask.fields[field] == value && it.settled.is_some())
        };
        let categories = ["business", "clarification", "choice", "confirmation"];
        let types = ["api_key", "file", "permission"];
        let passed_by_itself = self.requests.iter().any(|it| {
            it.ask.kind == "error" && it.settled.as_ref().is_some_and(|settled| settled.by != "person")
        });
        categories.iter().all(|it| has("category", it))
            && types.iter().all(|it| has("type", it))
            && passed_by_itself
    }
}

/// A verifier has said no, and later the phase passed.
fn was_sent_back(phase: &PhaseView) -> bool {
    let is_refused = |key: &str| key == "criterion";
    let refused = phase.gates.iter().position(|gate| {
        gate.passed == Some(false) && gate.problems.iter().any(|problem| is_refused(&problem.key))
    });
    let passed = phase.gates.iter().rposition(|gate| gate.passed == Some(true));
    refused.is_some() && refused < passed
}

/// The tests ran at the last gate, and all of them passed.
fn has_tested(phase: &PhaseView) -> bool {
    let checks = phase.gates.last().map(|gate| gate.checks.as_slice()).unwrap_or_default();
    let mut junits = checks.iter().filter_map(|check| check.junit.as_ref());
    junits.any(|junit| junit.tests > 0 && junit.failures + junit.errors + junit.skipped == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::tests::request;

    fn asked(id: &str, kind: &str, fields: &Value, by: &str, tree: &str) -> RequestView {
        let mut request = request();
        (request.id, request.ask.kind) = (id.to_owned(), kind.to_owned());
        request.ask.fields = fields.clone();
        let settled =
            json!({ "at_ms": 0, "by": by, "answer": { "answer": "x", "tree": tree }, "late": false });
        request.settled = serde_json::from_value(settled).expect("the form of a settlement");
        request
    }

    fn gate(number: u32, passed: bool) -> Value {
        let problem = json!({ "key": "criterion", "text": "no", "path": null, "fields": {} });
        let junit = json!({ "tests": 6, "failures": 0, "errors": 0, "skipped": 0, "failed": [] });
        let check = json!({ "run": "x", "kind": "tests", "code": 0, "overdue": false, "time_ms": 1, "output": "", "junit": junit });
        json!({
            "number": number, "why": "said", "step": "done", "index": null, "verifier": null, "passed": passed,
            "at_ms": 0, "ended_at_ms": 0, "request": null, "announced": null, "checkpoint": null, "commit": null,
            "tree": "tree", "files": [], "files_count": 0, "commands": [], "checks": [check], "rounds": [],
            "problems": if passed { json!([]) } else { json!([problem]) }, "extra": [],
        })
    }

    fn phase(number: u32) -> Value {
        json!({
            "number": number, "name": "x", "state": "approved", "session": null, "sessions": [], "agent": "x",
            "verifier": null, "started_at_ms": 0, "ended_at_ms": 0, "usage": {}, "reworks": 0, "rework_max": 3,
            "questions": 0, "questions_max": 3, "base": null, "artifacts": [], "gates": [gate(1, false), gate(2, true)],
            "approved": {
                "at_ms": 0, "gate": 2, "request": format!("q_{number}"), "tree": "tree", "commit": "c", "insisted": false,
            },
        })
    }

    fn as_promised() -> FullFacts {
        let view = json!({
            "run": "r_1", "project": request().project, "title": "x", "idea": "x", "directory": "/x", "state": "done",
            "current": 4, "blocked_by": [], "created_at_ms": 0, "ended_at_ms": 0, "outcome": null, "usage": {},
            "phases": [phase(1), phase(2), phase(3), phase(4)],
        });
        let mut requests: Vec<RequestView> =
            (1..=4).map(|it| asked(&format!("q_{it}"), "review", &json!({}), "person", "tree")).collect();
        for category in ["business", "clarification", "choice", "confirmation"] {
            requests.push(asked("q_9", "question", &json!({ "category": category }), "person", ""));
        }
        for kind in ["api_key", "file", "permission"] {
            requests.push(asked("q_9", "dependency", &json!({ "type": kind }), "person", ""));
        }
        requests.push(asked("q_9", "error", &json!({}), "expiry", ""));
        let commits: Vec<Value> = (1..=4)
            .map(|phase| json!({ "phase": phase, "name": "x", "commit": "c", "tree": "tree" }))
            .collect();
        FullFacts {
            view: serde_json::from_value(view).expect("the form of a run"),
            requests,
            export: serde_json::from_value(json!({ "branch": "b", "commits": commits, "report": "" }))
                .expect("the form of an export"),
            tests: Some(0),
            key_stands: KeyStands::Nowhere,
            nothing_left: true,
        }
    }

    /// How a promise is broken.
    type Break = fn(&mut FullFacts);

    #[test]
    fn every_promise_can_be_broken() {
        let not_so = |facts: &FullFacts| {
            let promises = facts.verify().into_iter();
            promises.filter(|(_, is_so)| !is_so).map(|(key, _)| key).collect::<Vec<Key>>()
        };
        assert_eq!(not_so(&as_promised()), []);
        let broken: [(Key, Break); 14] = [
            (Key::FullFactApproved, |facts| facts.requests[0].settled = None),
            (Key::FullFactApproved, |facts| {
                facts.requests[1] = asked("q_2", "review", &json!({}), "person", "other");
            }),
            (Key::FullFactApproved, |facts| {
                facts.requests[2] = asked("q_3", "review", &json!({}), "expiry", "tree");
            }),
            (Key::FullFactApproved, |facts| facts.view.phases[3].gates[1].passed = Some(false)),
            (Key::FullFactApproved, |facts| facts.view.phases[3].gates[1].tree = None),
            (Key::FullFactSentBack, |facts| {
                facts.view.phases.iter_mut().for_each(|phase| drop(phase.gates.remove(0)));
            }),
            (Key::FullFactAsked, |facts| drop(facts.requests.remove(4))),
            (Key::FullFactAsked, |facts| facts.requests[8].settled = None),
            (Key::FullFactAsked, |facts| drop(facts.requests.pop())),
            (Key::FullFactTests, |facts| facts.tests = Some(1)),
            (Key::FullFactTests, |facts| facts.view.phases[3].gates[1].checks.clear()),
            (Key::FullFactSecret, |facts| facts.key_stands = KeyStands::In("file".to_owned())),
            (Key::FullFactExported, |facts| facts.export.commits[2].tree = "other".to_owned()),
            (Key::DemoFactNothingLeft, |facts| facts.nothing_left = false),
        ];
        for (promise, breaks) in broken {
            let mut facts = as_promised();
            breaks(&mut facts);
            assert_eq!(not_so(&facts), [promise]);
        }
    }
}
