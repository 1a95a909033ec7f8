//! What must hold for any bytes whatever. The fuzz target `plan` tries to break it.

use std::collections::BTreeSet;

use ostler_engine::plan::{Plan, Progress, Request, State, Task, answer};

/// Reading never panics, and what is read holds together.
pub fn any_bytes(data: &[u8]) {
    let plan = Plan::read(data.to_vec());
    assert_eq!(plan.text(), data);
    let lines = data.split(|&byte| byte == b'\n').count();
    let is_in_file = |line: u32| (1..=lines).contains(&(line as usize));
    assert!(plan.problems().iter().all(|problem| is_in_file(problem.line())));
    assert!(plan.warnings().iter().all(|(line, _)| is_in_file(*line)));
    for problem in plan.problems() {
        let line = problem.thin("TASKS.md").to_string();
        let read = ostler_protocol::thin::Thin::parse(&line);
        assert_eq!(read.map(|read| read.to_string()), Some(line), "every line reads back");
    }
    let backwards = plan.graph().backwards();
    for task in plan.tasks() {
        assert_eq!(plan.find(task.name()).map(Task::number), Some(task.number()));
        assert!(is_in_file(task.line()));
        backwards.of(&plan, task.number());
        let texts = [task.owner(), task.verify(), task.worktree(), task.parallel()];
        let lengths = task.files().len() + task.criteria().len() + texts.iter().flatten().count();
        assert!(lengths <= data.len() && task.title().len() + task.body().len() <= data.len() * 6);
    }
    // A mark changes nothing but itself, and reads back.
    let marked = plan.marked(plan.tasks().map(Task::number));
    let again = Plan::read(marked);
    if plan.problems().is_empty() {
        let shown = String::from_utf8_lossy(again.text());
        assert!(again.problems().is_empty(), "{:?}\n{shown:?}", again.problems());
        assert!(again.tasks().all(Task::is_done), "{shown:?}");
        assert_eq!(edges(&again), edges(&plan), "{shown:?}");
        in_order(&plan);
    }
}

/// Every task comes once, after all that it waits for, whatever is done together.
pub fn in_order(plan: &Plan) {
    let mut progress = Progress::new(plan);
    let backwards = plan.graph().backwards();
    let mut checkpoints = BTreeSet::new();
    let mut done: BTreeSet<_> = plan.tasks().filter(|task| task.is_done()).map(Task::number).collect();
    loop {
        let line = answer(&progress, &checkpoints, Request::default()).to_string();
        if let Some(ids) = line.strip_prefix("READY:") {
            for id in ids.split(',') {
                let task = plan.find(id).expect("it comes from the plan").number();
                assert!(done.insert(task), "{id} comes twice");
                let before = backwards.tasks_of(plan, task);
                assert!(
                    before.iter().all(|it| progress.state(*it) == State::Completed),
                    "{id} comes too early"
                );
                progress.start(task);
            }
            let running: Vec<_> = progress.running().collect();
            for task in running {
                progress.complete(task);
            }
        } else if let Some(phase) = line.strip_prefix("PHASE_DONE:") {
            assert!(checkpoints.insert(phase.parse().expect("a number")), "a phase ends once");
        } else {
            assert_eq!(line, "ALL_DONE");
            break;
        }
    }
    assert_eq!(done.len(), plan.len(), "every task comes");
}

/// Every task with what it waits for.
pub fn edges(plan: &Plan) -> Vec<(String, u32, Vec<String>)> {
    let backwards = plan.graph().backwards();
    let of = |task: Task<'_>| {
        let before = backwards.of(plan, task.number());
        (task.name().to_owned(), task.phase(), before.iter().map(|it| format!("{it:?}")).collect())
    };
    plan.tasks().map(of).collect()
}
