//! Shows the tasks of a project. What a file can hold is more than anybody looks at, so every part has a bound.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use ostler_engine::{RunId, SessionId};
use ostler_orchestrate::{
    Attempt, State, TASK_FILES, TasksError,
    plan::{
        Backwards, Before, Obstacle, Plan, Priority, Progress, Request, State as Standing, Task, TaskNumber,
        answer, critical_path, obstacle,
    },
};
use ostler_protocol::name::TaskId;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Place, no_task, outside, unclear, unreadable};
use crate::{
    api::{
        Problem, TaskAttemptView, TaskCriterionView, TaskDetailView, TaskPhaseState, TaskPhaseView,
        TaskProblemView, TaskState, TaskView, TaskWaitView, TasksSummary, TasksView,
    },
    http::{App, code::Code, views},
};

/// The largest task file that is shown. The command line reads larger ones.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// So many tasks are shown.
const TASKS_MAX: usize = 5_000;

/// So many of whatever a task has several of are shown.
const SEVERAL_MAX: usize = 100;

/// So much of a line is shown, in characters.
const LINE_CHARS_MAX: usize = 500;

/// So much of what stands below a task is shown, in characters.
const BODY_CHARS_MAX: usize = 20_000;

/// A task file that was read, and how far it is.
struct Book<'a> {
    plan: &'a Plan,
    state: Option<State>,
    progress: Progress<'a>,
    backwards: Backwards,
    ready: BTreeSet<TaskNumber>,
    blocked: BTreeSet<TaskNumber>,
    critical: BTreeSet<TaskNumber>,
    history: BTreeMap<TaskId, Vec<Attempt>>,
}

/// Reads the task file, if there is one.
fn plan(place: &Place) -> Result<Option<(Plan, String)>, Problem> {
    let (path, _) = match place.project.task_file() {
        Err(TasksError::NotFound { .. }) => return Ok(None),
        found => found.map_err(|error| unreadable(&error))?,
    };
    if !place.project.is_task_file_inside() {
        return Err(outside());
    }
    if fs::metadata(&path).is_ok_and(|about| about.len() > FILE_BYTES_MAX) {
        let title = format!("the task file is larger than {} MiB", FILE_BYTES_MAX >> 20);
        return Err(super::conflict(Code::TasksUnreadable, title)
            .hint("It is not shown here; `ostler tasks list` reads larger ones."));
    }
    place.project.plan().map(Some).map_err(|error| unreadable(&error))
}

/// How far a project is; nothing without a task file that can be read.
pub(super) fn summary(app: &App, place: &Place) -> Option<TasksSummary> {
    let (plan, file) = plan(place).ok()??;
    let progress = match place.project.state() {
        Ok(Some(state)) => state.progress(&plan),
        _ => Progress::new(&plan),
    };
    let count = |is_so: &dyn Fn(Standing) -> bool| {
        plan.tasks().filter(|task| is_so(progress.state(task.number()))).count() as u64
    };
    Some(TasksSummary {
        project: views::project(&app.driver.journal.world(), place.id),
        file,
        tasks: plan.len() as u64,
        settled: count(&Standing::is_settled),
        in_progress: count(&|state| state == Standing::InProgress),
        failed: count(&|state| state == Standing::Failed),
        problems: plan.problems().len() as u64,
    })
}

/// All tasks of a project.
pub(super) fn tasks(app: &App, place: &Place) -> Result<TasksView, Problem> {
    let mut view = TasksView {
        project: views::project(&app.driver.journal.world(), place.id),
        file: None,
        looked_for: TASK_FILES.map(str::to_owned).to_vec(),
        line: String::new(),
        state_problem: None,
        phases: Vec::new(),
        tasks: Vec::new(),
        left_off: 0,
        problems: Vec::new(),
        warnings: Vec::new(),
    };
    let Some((plan, name)) = plan(place)? else {
        let error = place.project.task_file().err();
        view.line = error.map(|error| error.thin().to_string()).unwrap_or_default();
        return Ok(view);
    };
    view.warnings = plan.warnings().iter().map(|(line, it)| wrong(*line, it.to_string(), it)).collect();
    view.problems = plan.problems().iter().map(|it| wrong(it.line(), it.to_string(), it)).collect();
    if let Some(problem) = plan.problems().first() {
        view.line = problem.thin(&name).to_string();
        view.file = Some(name);
        return Ok(view);
    }
    view.file = Some(name);
    let (book, state_error) = Book::open(place, &plan);
    view.line = match state_error {
        Some(error) => {
            view.state_problem = Some(error.to_string());
            error.thin().map(|line| line.to_string()).unwrap_or_default()
        }
        None => book.line(),
    };
    view.phases = book.phases();
    view.tasks = plan.tasks().take(TASKS_MAX).map(|task| book.task(app, place, task)).collect();
    view.left_off = plan.len().saturating_sub(TASKS_MAX) as u64;
    Ok(view)
}

/// One task, with everything about it.
pub(super) fn task(app: &App, place: &Place, id: &TaskId) -> Result<TaskDetailView, Problem> {
    let (plan, name) = plan(place)?.ok_or_else(|| no_task(id.as_str()))?;
    if let Some(problem) = plan.problems().first() {
        return Err(unclear(&name, problem));
    }
    let task = plan.find(id.as_str()).ok_or_else(|| no_task(id.as_str()))?;
    let (book, _) = Book::open(place, &plan);
    let waits = |other: &Task<'_>| book.backwards.tasks_of(&plan, other.number()).contains(&task.number());
    let then = plan.tasks().take(TASKS_MAX).filter(waits).take(SEVERAL_MAX).map(|it| it.name().to_owned());
    Ok(TaskDetailView {
        body: short(&task.body(), BODY_CHARS_MAX),
        then: then.collect(),
        task: book.task(app, place, task),
    })
}

impl<'a> Book<'a> {
    fn open(place: &Place, plan: &'a Plan) -> (Book<'a>, Option<ostler_orchestrate::StateError>) {
        let (state, error) = match place.project.state() {
            Ok(state) => (state, None),
            Err(error) => (None, Some(error)),
        };
        let progress =
            state.as_ref().map_or_else(|| Progress::new(plan), |state: &State| state.progress(plan));
        let book = Book {
            plan,
            backwards: plan.graph().backwards(),
            ready: progress.ready().collect(),
            blocked: progress.blocked().into_iter().collect(),
            critical: critical_path(&progress, |_| 1).into_iter().collect(),
            history: place.project.history(),
            state,
            progress,
        };
        (book, error)
    }

    fn checkpoints(&self) -> BTreeSet<u32> {
        self.state.as_ref().map(State::checkpoints).unwrap_or_default()
    }

    /// What a resolver would answer.
    fn line(&self) -> String {
        answer(&self.progress, &self.checkpoints(), Request::default()).to_string()
    }

    fn phases(&self) -> Vec<TaskPhaseView> {
        let closed = self.checkpoints();
        let view = |phase: &ostler_orchestrate::plan::Phase| TaskPhaseView {
            number: phase.number,
            title: phase.title.as_deref().map(line_of),
            state: match (self.progress.is_phase_settled(phase.number), closed.contains(&phase.number)) {
                (true, true) => TaskPhaseState::Closed,
                (true, false) => TaskPhaseState::Settled,
                (false, _) => TaskPhaseState::Open,
            },
        };
        self.plan.phases().iter().map(view).collect()
    }

    fn standing(&self, task: TaskNumber) -> TaskState {
        match self.progress.state(task) {
            Standing::Completed => TaskState::Completed,
            Standing::Skipped => TaskState::Skipped,
            Standing::Failed => TaskState::Failed,
            Standing::InProgress => TaskState::InProgress,
            Standing::Pending if self.ready.contains(&task) => TaskState::Ready,
            Standing::Pending if self.blocked.contains(&task) => TaskState::Blocked,
            Standing::Pending => TaskState::Pending,
        }
    }

    fn task(&self, app: &App, place: &Place, task: Task<'_>) -> TaskView {
        let (id, number) = (task.id(), task.number());
        let needs = self.backwards.tasks_of(self.plan, number);
        let phases = self.backwards.of(self.plan, number).into_iter().filter_map(|before| match before {
            Before::Phase(number) => Some(number),
            Before::Task(_) | Before::Group(_) | Before::Step(..) => None,
        });
        let after_phase = phases.max();
        let is_preferred = self.state.as_ref().is_some_and(|state| state.preferred().contains(&id));
        let priority = if is_preferred { Priority::First } else { task.priority() };
        let made = self.state.as_ref().and_then(|state| app.made_for(place, state.run_key(&id)?));
        let session = made.and_then(|(_, session)| session);
        let criterion = |it: ostler_orchestrate::plan::Criterion| TaskCriterionView {
            text: line_of(&it.text),
            done: it.done,
        };
        TaskView {
            title: line_of(&task.title()),
            phase: task.phase(),
            line: task.line(),
            state: self.standing(number),
            owner: task.owner().as_deref().map(line_of),
            waits: self.waits(number, &needs, after_phase),
            needs: self.names(&needs, SEVERAL_MAX),
            after_phase,
            files: task.files().iter().take(SEVERAL_MAX).map(|it| line_of(it)).collect(),
            verify: task.verify().as_deref().map(line_of),
            risk: task.risk().map(word),
            priority: word(priority),
            worktree: task.worktree().as_deref().map(line_of),
            criteria: task.criteria().into_iter().take(SEVERAL_MAX).map(criterion).collect(),
            critical: self.critical.contains(&number),
            attempts: self.attempts(&id, number),
            run: made.map(|(run, _)| run.to_string()),
            session: session.map(|session| session.to_string()),
            request: session.and_then(|session| app.asks(session)),
            id: id.to_string(),
        }
    }

    fn names(&self, tasks: &[TaskNumber], max: usize) -> Vec<String> {
        tasks.iter().take(max).map(|it| self.plan.task(*it).name().to_owned()).collect()
    }

    /// What a task waits for that nobody has begun.
    fn waits(&self, task: TaskNumber, needs: &[TaskNumber], after: Option<u32>) -> Option<TaskWaitView> {
        if self.progress.state(task) != Standing::Pending {
            return None;
        }
        if self.ready.contains(&task) {
            let Some(Obstacle::Beside(other)) = obstacle(&self.progress, task) else { return None };
            let beside = Some(self.plan.task(other).name().to_owned());
            return Some(TaskWaitView { beside, ..TaskWaitView::default() });
        }
        let open: Vec<TaskNumber> =
            needs.iter().copied().filter(|it| !self.progress.state(*it).is_settled()).collect();
        let before = self.plan.phases().iter().map(|phase| phase.number);
        let phase = before
            .take_while(|number| after.is_some_and(|after| *number <= after))
            .find(|number| !self.progress.is_phase_settled(*number));
        Some(TaskWaitView { tasks: self.names(&open, SEVERAL_MAX), phase, beside: None })
    }

    /// What the log knows. Whatever it says, one that is in progress has not ended.
    fn attempts(&self, id: &TaskId, number: TaskNumber) -> Vec<TaskAttemptView> {
        let known = self.history.get(id).map(Vec::as_slice).unwrap_or_default();
        let mut attempts: Vec<TaskAttemptView> = known
            .iter()
            .map(|it| TaskAttemptView {
                begun_at_ms: it.begun_at_ms,
                ended_at_ms: it.ended_at_ms,
                failed: it.failed.as_deref().map(line_of),
            })
            .collect();
        if self.progress.state(number) == Standing::InProgress
            && let Some(last) = attempts.last_mut()
        {
            (last.ended_at_ms, last.failed) = (None, None);
        }
        attempts
    }
}

impl App {
    /// What was made under a key that stands in a state file. Anybody may have written that, so it counts only for a run of
    /// the same project.
    fn made_for(&self, place: &Place, key: &str) -> Option<(RunId, Option<SessionId>)> {
        let run = self.run_under(key).ok()??;
        let session = self.session_id(&run.to_string()).ok();
        let project = self.with_session(session?, |_, session| session.project).ok()?;
        (project == place.id).then_some((run, session))
    }

    /// What a session asks that nobody has answered.
    fn asks(&self, session: SessionId) -> Option<String> {
        let world = self.driver.journal.world();
        world.offered(session).first().map(|request| request.id.to_string())
    }
}

fn wrong(line: u32, message: String, about: &impl Serialize) -> TaskProblemView {
    TaskProblemView { line, message, about: json!(about) }
}

/// What something is called over the wire.
fn word(value: impl Serialize) -> String {
    match json!(value) {
        Value::String(word) => word,
        _ => String::new(),
    }
}

fn line_of(text: &str) -> String {
    short(text, LINE_CHARS_MAX)
}

/// The beginning of a text.
fn short(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
