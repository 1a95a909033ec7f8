//! What is found at a gate: anything, by chance.

use ostler_engine::{
    Input, World,
    action::Deed,
    phases::{
        CheckResult, Collected, CriterionResult, GateName, Round, Verdict,
        plan::{CommandKind, GateCommand},
        problem::{Problem, VerifierFailure},
    },
};

use crate::common::random::Random;

/// What comes of it.
pub(crate) fn carry_out(world: &World, deed: &Deed, random: &mut Random) -> Option<Input> {
    match deed {
        Deed::Collect { gate } => {
            let collected = Box::new(collected(*gate, random));
            Some(Input::Collected { gate: *gate, collected })
        }
        Deed::GateCheck { gate, index } => {
            Some(Input::Checked { gate: *gate, index: *index, result: checked(random) })
        }
        Deed::Verify { gate, round } => {
            let plan = &world.runs[&gate.run].phases.as_ref().expect("it has phases").plan;
            let order = plan.verification(gate.phase).filter(|_| !random.once_in(6));
            let order = order.map(Box::new).ok_or_else(|| "no room".to_owned());
            Some(Input::VerifierReady { gate: *gate, round: *round, order })
        }
        Deed::ReadVerdict { gate, verifier, .. } => {
            Some(Input::Verified { gate: *gate, session: *verifier, round: said(random) })
        }
        Deed::Report { gate } => Some(Input::Reported(*gate)),
        _ => None,
    }
}

fn collected(gate: GateName, random: &mut Random) -> Result<Collected, String> {
    if random.once_in(10) {
        return Err("no such commit".to_owned());
    }
    let problem = Problem::Missing { path: "a.md".to_owned() };
    let command = GateCommand {
        run: "test".to_owned(),
        kind: CommandKind::Tests,
        time_ms_max: 1000,
        in_project: false,
    };
    Ok(Collected {
        tree: format!("tree {}.{}", gate.phase, gate.gate),
        problems: if random.once_in(3) { vec![problem] } else { Vec::new() },
        commands: vec![command; usize::from(random.once_in(2))],
        ..Collected::default()
    })
}

fn checked(random: &mut Random) -> CheckResult {
    let (run, kind, output) = ("test".to_owned(), CommandKind::Tests, String::new());
    let code = i32::from(random.once_in(3));
    CheckResult { run, kind, code, overdue_ms: None, time_ms: 1, output, junit: None }
}

fn said(random: &mut Random) -> Round {
    if random.once_in(3) {
        let failure = VerifierFailure::Invalid { message: "nonsense".to_owned() };
        return Round { session: None, verdict: None, failure: Some(failure) };
    }
    let passed = !random.once_in(3);
    let criteria = vec![CriterionResult {
        id: "good".to_owned(),
        passed,
        evidence: "looked".to_owned(),
        files: Vec::new(),
    }];
    let verdict = Some(Verdict { passed, criteria, summary: String::new() });
    Round { session: None, verdict, failure: None }
}
