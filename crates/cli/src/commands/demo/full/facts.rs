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
