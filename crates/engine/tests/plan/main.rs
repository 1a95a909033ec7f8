//! Task files of every shape, what is wrong with them, what can run, and laws that hold for any bytes.

#[path = "../common/random.rs"]
mod random;

mod answers;
mod clauses;
mod errors;
mod examples;
pub mod laws;
mod marks;
mod properties;
mod shapes;
mod wild;

use std::fmt::Write as _;

use expect_test::Expect;
use ostler_engine::plan::{Before, Plan, Progress, State, Task};

/// A file as the reader has it.
#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
#[track_caller]
fn check(text: &str, expect: Expect) {
    expect.assert_eq(&dump(&Plan::read(text.as_bytes().to_vec())));
}

/// Everything about a plan, a line for each task, problem and warning.
fn dump(plan: &Plan) -> String {
    let mut said = String::new();
    let backwards = plan.graph().backwards();
    for phase in plan.phases() {
        if let Some(title) = &phase.title {
            writeln!(said, "phase {}: {title} ({})", phase.number, phase.worktree()).ok();
        }
    }
    for task in plan.tasks() {
        let before: Vec<String> =
            backwards.of(plan, task.number()).iter().map(|it| said_of(plan, *it)).collect();
        let arrow = if before.is_empty() { String::new() } else { format!(" <- {}", before.join(", ")) };
        let mark = if task.is_done() { 'x' } else { ' ' };
        writeln!(said, "{} [{mark}] {} p{} {}{arrow}", task.line(), task.name(), task.phase(), task.title())
            .ok();
        details(&mut said, task);
    }
    for (line, warning) in plan.warnings() {
        writeln!(said, "{line} warning: {warning}").ok();
    }
    for passed in plan.passed_over() {
        writeln!(said, "{}-{} passed over: {passed} ({})", passed.line, passed.last, passed.count).ok();
    }
    for problem in plan.problems() {
        writeln!(said, "{}", problem.thin("TASKS.md")).ok();
    }
    said
}

fn details(said: &mut String, task: Task<'_>) {
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            writeln!(said, "      {name}: {value}").ok();
        }
    };
    add("owner", task.owner());
    add("files", Some(task.files().join(" ")));
    add("verify", task.verify());
    add("worktree", task.worktree());
    add("parallel", task.parallel());
    add("risk", task.risk().map(|risk| format!("{risk:?}")));
    add(
        "priority",
        (task.priority() != ostler_engine::plan::Priority::Medium).then(|| format!("{:?}", task.priority())),
    );
    for criterion in task.criteria() {
        add(if criterion.done { "met" } else { "criterion" }, Some(criterion.text));
    }
}

fn said_of(plan: &Plan, before: Before<'_>) -> String {
    match before {
        Before::Task(number) => plan.task(number).name().to_owned(),
        Before::Group(id) => format!("all of {id}"),
        Before::Phase(number) => format!("phase {number}"),
        Before::Step(number, step) => format!("phase {number}.{step}"),
    }
}

/// A plan without problems.
#[track_caller]
fn plan(text: &str) -> Plan {
    let plan = Plan::read(text.as_bytes().to_vec());
    assert!(plan.problems().is_empty(), "{:?}", plan.problems());
    plan
}

/// Progress in which these are in these states.
fn progress<'a>(plan: &'a Plan, states: &[(&str, State)]) -> Progress<'a> {
    Progress::with(plan, |task| {
        let name = plan.task(task).name();
        states.iter().find(|(id, _)| *id == name).map_or(State::Pending, |(_, state)| *state)
    })
}
