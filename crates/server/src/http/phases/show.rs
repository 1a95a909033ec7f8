//! Shows a run that goes through phases.

use ostler_engine::{
    RunId, SessionId,
    phases::{
        CheckResult, Gate, GateName, Phase, PhaseState, Phases, Round, Step,
        plan::{PhasePlan, Rule},
        problem::Problem as Wrong,
    },
    run::{Outcome, Reason, Run},
    usage::Used,
};
use serde::Serialize;
use serde_json::json;

use crate::{
    api::{
        AnnouncedView, ApprovedView, ArtifactView, CriterionView, GateCheckView, GateFileView,
        GateProblemView, GateView, JunitView, PhaseView, PhasesState, PhasesView, Problem, RoundView,
    },
    http::{App, usage, views},
};

impl App {
    /// A run that goes through phases, with everything that is known of it.
    pub(super) fn phases_view(&self, id: RunId) -> Result<PhasesView, Problem> {
        let run = self.phased(id)?;
        let phases = run.phases.as_deref().ok_or_else(|| Problem::internal("it has no phases"))?;
        let current = phases.current();
        let session = current.map(|phase| phase.session);
        let (project, blocked_by) = {
            let world = self.driver.journal.world();
            // A verifier that asks holds the run up as much as who works does.
            let verifier = current.and_then(Phase::gate).and_then(|gate| match &gate.step {
                Step::Verifier { session } => Some(*session),
                _ => None,
            });
            let at_work = session.into_iter().chain(verifier);
            let open = at_work.flat_map(|id| world.offered(id));
            (views::project(&world, run.project), open.map(|it| it.id.to_string()).collect())
        };
        let mut shown = Vec::new();
        for (number, plan) in (1..).zip(&phases.plan.phases) {
            shown.push(self.phase_view(&run, phases, number, plan));
        }
        Ok(PhasesView {
            run: run.id.to_string(),
            project,
            title: run.title.clone(),
            idea: phases.plan.idea.clone(),
            directory: phases.plan.common.directory.clone(),
            state: state(&run, phases),
            current: current.map_or(0, |phase| phase.number),
            blocked_by,
            created_at_ms: run.created_at_ms,
            ended_at_ms: run.ended_at_ms,
            outcome: run.outcome.as_ref().map(views::outcome),
            usage: usage::view(&run.used),
            phases: shown,
            cut: Vec::new(),
        })
    }

    fn waits(&self, run: &Run, phase: u32, gate: &Gate) -> bool {
        self.driver.verifier_waits(GateName { run: run.id, phase, gate: gate.number })
    }

    fn phase_view(&self, run: &Run, phases: &Phases, number: u32, plan: &PhasePlan) -> PhaseView {
        let phase = phases.begun.iter().find(|phase| phase.number == number);
        let sessions: Vec<SessionId> = phase.map(sessions).unwrap_or_default();
        let mut used = Used::default();
        for &id in &sessions {
            // One that cannot be read is missing in the sum, and in nothing else.
            if let Ok(of_session) = self.with_session(id, |_, session| session.used) {
                used.add(&of_session);
            }
        }
        let agent = |index: usize| phases.plan.agents.get(index).map(|it| it.agent.name.clone());
        let korean = phases.plan.common.korean;
        PhaseView {
            number,
            name: plan.name.clone(),
            state: word(&phases.state(number, run.outcome.is_some())),
            session: phase.map(|phase| phase.session.to_string()),
            sessions: sessions.iter().map(ToString::to_string).collect(),
            agent: agent(plan.agent).unwrap_or_default(),
            verifier: plan.verifier.as_ref().and_then(|it| agent(it.agent)),
            started_at_ms: phase.map(|phase| phase.started_at_ms),
            ended_at_ms: phase.and_then(|phase| phase.ended_at_ms),
            usage: usage::view(&used),
            reworks: phase.map_or(0, |phase| phase.reworks),
            rework_max: plan.rework_max,
            questions: phase.map_or(0, |phase| phase.questions),
            questions_max: plan.questions_max,
            base: phase.and_then(|phase| phase.base.clone()),
            artifacts: plan.artifacts.iter().map(artifact).collect(),
            approved: phase.and_then(approved),
            gates: phase
                .iter()
                .flat_map(|it| &it.gates)
                .map(|it| GateView { waits_for_login: self.waits(run, number, it), ..gate(it, plan, korean) })
                .collect(),
        }
    }
}

/// Who works on a phase, then those who verified.
fn sessions(phase: &Phase) -> Vec<SessionId> {
    let verifiers = phase.gates.iter().flat_map(|gate| {
        let now = match &gate.step {
            Step::Verifier { session } | Step::Verdict { session } => Some(*session),
            _ => None,
        };
        gate.rounds.iter().filter_map(|round| round.session).chain(now)
    });
    [phase.session].into_iter().chain(verifiers).collect()
}

fn state(run: &Run, phases: &Phases) -> PhasesState {
    match &run.outcome {
        Some(Outcome::Completed { .. }) => PhasesState::Done,
        Some(Outcome::Failed { reason: Reason::Rejected { .. } }) => PhasesState::Rejected,
        Some(Outcome::Failed { .. }) => PhasesState::Failed,
        Some(Outcome::Cancelled) => PhasesState::Cancelled,
        None => match phases.current().map(|phase| phases.state(phase.number, false)) {
            Some(PhaseState::Gate) => PhasesState::Gate,
            Some(PhaseState::Review) => PhasesState::Review,
            _ => PhasesState::Working,
        },
    }
}

fn artifact(rule: &Rule) -> ArtifactView {
    let (glob, sections) = (rule.glob.clone(), rule.sections.clone());
    ArtifactView { glob, min: rule.min, max: rule.max, sections }
}

fn approved(phase: &Phase) -> Option<ApprovedView> {
    let it = phase.approved.as_ref()?;
    Some(ApprovedView {
        at_ms: it.at_ms,
        gate: it.gate,
        request: phase.gate_at(it.gate).and_then(|gate| gate.request).map(|id| id.to_string()),
        tree: it.tree.clone(),
        commit: it.commit.clone(),
        insisted: it.insisted,
    })
}

fn gate(gate: &Gate, plan: &PhasePlan, korean: bool) -> GateView {
    let step = json!(gate.step);
    let collected = gate.collected.as_ref();
    let announced = gate.announced.as_ref().map(|it| AnnouncedView {
        phase: it.phase,
        name: it.name.clone(),
        documents: it.documents.clone(),
    });
    let files = collected.into_iter().flat_map(|it| &it.files).map(|file| GateFileView {
        path: file.path.clone(),
        bytes: file.bytes,
        announced: file.announced,
        expected: file.expected,
        change: file.change.as_ref().map(word),
    });
    GateView {
        number: gate.number,
        why: word(&gate.why),
        step: step["step"].as_str().unwrap_or_default().to_owned(),
        index: step["index"].as_u64().and_then(|it| u32::try_from(it).ok()),
        verifier: step["session"].as_str().map(str::to_owned),
        waits_for_login: false,
        passed: gate.passed,
        at_ms: gate.at_ms,
        ended_at_ms: gate.ended_at_ms,
        request: gate.request.map(|id| id.to_string()),
        announced,
        checkpoint: gate.checkpoint.map(|id| id.to_string()),
        commit: gate.commit.clone(),
        tree: gate.tree().map(str::to_owned),
        files: files.collect(),
        files_count: collected.map_or(0, |it| it.files_count),
        commands: collected.into_iter().flat_map(|it| &it.commands).map(|it| it.run.clone()).collect(),
        checks: gate.checks.iter().map(check).collect(),
        rounds: gate.rounds.iter().map(|it| round(it, plan)).collect(),
        problems: gate.problems.iter().map(|it| problem(it, korean)).collect(),
        extra: collected.map(|it| it.extra.clone()).unwrap_or_default(),
    }
}

fn check(result: &CheckResult) -> GateCheckView {
    GateCheckView {
        run: result.run.clone(),
        kind: word(&result.kind),
        code: result.code,
        overdue: result.overdue_ms.is_some(),
        time_ms: result.time_ms,
        output: result.output.clone(),
        junit: result.junit.as_ref().map(|it| JunitView {
            tests: it.tests,
            failures: it.failures,
            errors: it.errors,
            skipped: it.skipped,
            failed: it.failed.clone(),
        }),
    }
}

fn round(round: &Round, plan: &PhasePlan) -> RoundView {
    let text = |id: &str| {
        let mut criteria = plan.verifier.iter().flat_map(|verifier| &verifier.criteria);
        criteria.find(|it| it.id == id).map(|it| it.text.clone()).unwrap_or_default()
    };
    let criteria = round.verdict.iter().flat_map(|it| &it.criteria).map(|it| CriterionView {
        id: it.id.clone(),
        text: text(&it.id),
        passed: it.passed,
        evidence: it.evidence.clone(),
        files: it.files.clone(),
    });
    RoundView {
        session: round.session.map(|id| id.to_string()),
        passed: round.verdict.as_ref().map(|verdict| verdict.passed),
        criteria: criteria.collect(),
        summary: round.verdict.as_ref().map(|verdict| verdict.summary.clone()),
        failure: round.failure.as_ref().map(|failure| json!(failure)),
    }
}

fn problem(problem: &Wrong, korean: bool) -> GateProblemView {
    let fields = json!(problem);
    GateProblemView {
        key: fields["key"].as_str().unwrap_or_default().to_owned(),
        text: problem.sentence(korean),
        path: fields["path"].as_str().map(str::to_owned),
        fields,
    }
}

fn word(value: &impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}
