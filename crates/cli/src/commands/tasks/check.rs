//! `ostler tasks check`: what of a task file is understood, what is wrong or strange, and what is passed over.

use std::{collections::BTreeMap, fmt::Display};

use ostler_orchestrate::{
    ForeignState, State,
    plan::{PassedOver, State as TaskState, Task},
};
use serde_json::{Value, json};

use super::Book;
use crate::{
    context::Context,
    error::Error,
    exit::Exit,
    screen::{Screen, Style, add_line, one_line},
    words::{Key, Words},
};

/// What the state is called in messages.
const STATE_FILE: &str = ".claude/orchestrate-state.json";

/// A phase with how many tasks it has, and how many of them are done by the marks of the file or by its state.
struct PhaseCount<'a> {
    number: u32,
    title: Option<&'a str>,
    tasks: usize,
    done: usize,
}

pub(super) fn check(context: &Context, book: &Book) -> Result<Exit, Error> {
    let (state, error) = match book.project.state() {
        Ok(state) => (state, None),
        Err(error) => (None, Some(error)),
    };
    let foreign = state.as_ref().map(|state| state.foreign(&book.plan)).unwrap_or_default();
    let phases = phases(book, state.as_ref());
    let is_fine = book.plan.problems().is_empty() && error.is_none();
    let mut about = value(book, &phases, &foreign);
    about["state_error"] = error.as_ref().map(ToString::to_string).into();
    context.print(&about, |screen| {
        let mut said = findings(context.words, screen, book);
        if let Some(error) = &error {
            let place = screen.style(Style::Bad, STATE_FILE);
            let ignored = context.words.say(Key::StateIgnored, &[("message", error)]);
            add_line(&mut said, 0, &format!("{place}: {}", one_line(&ignored)));
        }
        add_foreign(&mut said, context.words, screen, book, &foreign);
        if !book.plan.is_empty() {
            add_phases(&mut said, context.words, &phases);
        }
        let problems = book.plan.problems().len() + usize::from(error.is_some());
        add_line(&mut said, 0, &verdict(context.words, book, problems));
        said
    })?;
    Ok(if is_fine { Exit::Done } else { Exit::Plan })
}

fn phases<'a>(book: &'a Book, state: Option<&State>) -> Vec<PhaseCount<'a>> {
    // How far a file is that cannot be worked with, its marks say alone.
    let progress = state.filter(|_| book.plan.problems().is_empty()).map(|it| it.progress(&book.plan));
    let is_done = |task: Task<'_>| match &progress {
        Some(progress) => progress.state(task.number()) == TaskState::Completed,
        None => task.is_done(),
    };
    let mut counts: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for task in book.plan.tasks() {
        let (tasks, done) = counts.entry(task.phase()).or_default();
        *tasks += 1;
        *done += usize::from(is_done(task));
    }
    let all = book.plan.phases().iter();
    all.map(|phase| {
        let (tasks, done) = counts.get(&phase.number).copied().unwrap_or_default();
        PhaseCount { number: phase.number, title: phase.title.as_deref(), tasks, done }
    })
    .collect()
}

fn value(book: &Book, phases: &[PhaseCount<'_>], foreign: &ForeignState) -> Value {
    let plan = &book.plan;
    let problems: Vec<Value> = plan
        .problems()
        .iter()
        .map(|problem| json!({ "line": problem.line(), "code": problem.code(), "message": problem.to_string(), "about": problem }))
        .collect();
    let warnings: Vec<Value> = plan
        .warnings()
        .iter()
        .map(|(line, warning)| json!({ "line": line, "message": warning.to_string(), "about": warning }))
        .collect();
    let passed_over: Vec<Value> = plan
        .passed_over()
        .iter()
        .map(|passed| {
            let mut value = json!(passed);
            value["message"] = passed.to_string().into();
            value
        })
        .collect();
    let counted: Vec<Value> = phases
        .iter()
        .map(|it| json!({ "number": it.number, "title": it.title, "tasks": it.tasks, "done": it.done }))
        .collect();
    json!({
        "file": book.name,
        "tasks": plan.len(),
        "phases": phases.iter().map(|phase| phase.number).collect::<Vec<_>>(),
        "understood": { "phases": counted, "tasks": plan.len(), "dependencies": plan.dependencies() },
        "edges": plan.graph().edges(),
        "problems": problems,
        "warnings": warnings,
        "passed_over": passed_over,
        "state": foreign,
    })
}

/// Problems, warnings, and what was passed over, each with its line.
fn findings(words: Words, screen: Screen, book: &Book) -> String {
    let plan = &book.plan;
    let mut said = String::new();
    for problem in plan.problems() {
        let place = screen.style(Style::Bad, &format!("{}:{}", book.name, problem.line()));
        add_line(&mut said, 0, &format!("{place}: {}", one_line(&words.plan_problem(problem))));
    }
    for (line, warning) in plan.warnings() {
        let place = screen.style(Style::Attention, &format!("{}:{line}", book.name));
        let word = words.sentence(Key::WarningWord);
        add_line(&mut said, 0, &format!("{place}: {word}: {}", one_line(&words.plan_warning(warning))));
    }
    for passed in plan.passed_over() {
        let PassedOver { line, last, count, .. } = passed;
        let lines = if last > line { format!("{line}-{last}") } else { line.to_string() };
        let place = screen.style(Style::Dim, &format!("{}:{lines}", book.name));
        let word = words.sentence(Key::PassedOverWord);
        let more = match count {
            0 | 1 => String::new(),
            count => words.say(Key::PassedOverMore, &[("n", &(count - 1))]),
        };
        add_line(&mut said, 0, &format!("{place}: {word}: {}{more}", one_line(&words.plan_passed(passed))));
    }
    said
}

/// What another program has put into the state.
fn add_foreign(said: &mut String, words: Words, screen: Screen, book: &Book, foreign: &ForeignState) {
    let place = screen.style(Style::Attention, STATE_FILE);
    let mut add = |key: Key, values: &[(&str, &dyn Display)]| {
        add_line(said, 0, &format!("{place}: {}", words.say(key, values)));
    };
    for (key, count) in &foreign.understood {
        add(Key::ForeignUnderstood, &[("key", &one_line(key)), ("n", count)]);
    }
    for key in &foreign.unread {
        add(Key::ForeignUnread, &[("key", &one_line(key))]);
    }
    for task in &foreign.unknown_tasks {
        add(Key::ForeignUnknown, &[("task", &one_line(task)), ("file", &book.name)]);
    }
}

fn add_phases(said: &mut String, words: Words, phases: &[PhaseCount<'_>]) {
    for phase in phases {
        let title = phase.title.map(|title| format!(" ({})", one_line(title))).unwrap_or_default();
        let tasks = count(words, phase.tasks, Key::OneTask, Key::ManyTasks);
        let values: [(&str, &dyn Display); 4] =
            [("n", &phase.number), ("title", &title), ("tasks", &tasks), ("done", &phase.done)];
        add_line(said, 0, &words.say(Key::PhaseRead, &values));
    }
}

fn verdict(words: Words, book: &Book, problems: usize) -> String {
    let plan = &book.plan;
    let key = if problems == 0 { Key::TasksFine } else { Key::TasksWrong };
    let tasks = count(words, plan.len(), Key::OneTask, Key::ManyTasks);
    let phases = count(words, plan.phases().len(), Key::OnePhase, Key::ManyPhases);
    let needs = count(words, plan.dependencies(), Key::OneDependency, Key::ManyDependencies);
    let problems = count(words, problems, Key::OneProblem, Key::ManyProblems);
    let values: [(&str, &dyn Display); 5] = [
        ("file", &book.name),
        ("tasks", &tasks),
        ("phases", &phases),
        ("needs", &needs),
        ("problems", &problems),
    ];
    words.say(key, &values)
}

fn count(words: Words, n: usize, one: Key, many: Key) -> String {
    words.say(if n == 1 { one } else { many }, &[("n", &n)])
}
