//! `ostler tasks`: a task file as a list, a graph, a chain, and what is wrong with it; and what a person decides about its
//! tasks. Needs no server.

mod check;

use std::{collections::BTreeMap, env, fmt::Write as _, path::PathBuf};

use clap::{Args, Subcommand};
use ostler_orchestrate::{
    Project, Wish, WishError, close,
    plan::{Backwards, Before, Plan, Priority, Progress, State, Task, TaskNumber, critical_path},
    wish,
};
use ostler_protocol::name::TaskId;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::{
    clock,
    context::{Context, directory},
    error::{Error, Message},
    exit::Exit,
    screen::{Cell, Screen, Style, add_line, one_line},
    words::{Key, Words},
};

/// Look at a task file: its tasks, who waits for whom, and what is wrong with it.
///
/// The file is TASKS.md, docs/planning/TASKS.md or docs/planning/06-tasks.md of the project. How far the tasks are comes from
/// its done marks and from .claude/orchestrate-state.json, if that is there. Only first, skip, retry and close change
/// something, and that is the state.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the tasks.
    List(File),
    /// Show everything about a task.
    Show {
        /// Its id.
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        file: File,
    },
    /// Draw who waits for whom, phase by phase.
    Graph {
        /// As a Mermaid diagram.
        #[arg(long)]
        mermaid: bool,
        #[command(flatten)]
        file: File,
    },
    /// Say what of the file is understood, what is wrong or strange, and what is passed over, with its lines.
    ///
    /// Lists the phases with their tasks, how many dependencies are named, and what of a state file that another program
    /// has begun counts. The exit code is 15 if the file cannot be worked with.
    Check(File),
    /// Show the longest chain of open tasks that wait for each other.
    CriticalPath(File),
    /// Have a task come before all others that can run.
    First(Named),
    /// Do without a task: those who wait for it may go on.
    Skip(Named),
    /// Have a task tried again that has failed or was skipped.
    Retry(Named),
    /// Record that a phase is over, as a main loop does at its end.
    Close {
        /// The phase.
        #[arg(value_name = "N")]
        phase: u32,
        /// Skip what has failed in it, and what waits for that.
        #[arg(long)]
        with_failures: bool,
        #[command(flatten)]
        file: File,
    },
}

#[derive(Args)]
struct Named {
    /// Its id.
    #[arg(value_name = "ID")]
    id: TaskId,
    #[command(flatten)]
    file: File,
}

#[derive(Args)]
struct File {
    /// The task file [default: that of the project].
    #[arg(long, value_name = "FILE")]
    tasks: Option<PathBuf>,
}

/// A file that was read.
struct Book {
    project: Project,
    plan: Plan,
    name: String,
}

/// The book with how far it is.
struct Page<'a> {
    book: &'a Book,
    progress: Progress<'a>,
    backwards: Backwards,
    /// In the order of the file.
    blocked: Vec<TaskNumber>,
    /// None if there is none that can be used.
    state: Option<ostler_orchestrate::State>,
}

/// Tasks as machines read them, each made when it is written: of a million there would be gigabytes.
struct Listed<'a, F>(&'a Page<'a>, F);

impl<I: Iterator<Item = TaskNumber>, F: Fn() -> I> Serialize for Listed<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Listed(page, tasks) = self;
        serializer.collect_seq(tasks().map(|task| page.json(page.book.plan.task(task))))
    }
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    match &arguments.command {
        Command::List(file) => list(context, &file.whole()?),
        Command::Show { id, file } => show(context, &file.whole()?, id),
        Command::Graph { mermaid, file } => graph(context, &file.whole()?, *mermaid),
        Command::Check(file) => check::check(context, &file.read()?),
        Command::CriticalPath(file) => chain(context, &file.whole()?),
        Command::First(named) => decide(context, named, Wish::First, Key::TaskFirstNow),
        Command::Skip(named) => decide(context, named, Wish::Skip, Key::TaskSkippedNow),
        Command::Retry(named) => decide(context, named, Wish::Retry, Key::TaskRetryNow),
        Command::Close { phase, with_failures, file } => over(context, file, *phase, *with_failures),
    }
}

/// Two files share a state by the ids of their tasks: whoever uses the second one has to know.
pub(super) fn warn_of_other(context: &Context, project: &Project, state: &ostler_orchestrate::State) {
    if let Some(other) = project.other_task_file(state) {
        context.note(&context.words.say(Key::StateOfOther, &[("file", &one_line(&other))]));
    }
}

/// A person's decision about a task.
fn decide(context: &Context, named: &Named, wanted: Wish, key: Key) -> Result<Exit, Error> {
    not_inside()?;
    let project = Project::find(&directory()?, named.file.tasks.as_deref());
    if let Ok(Some(state)) = project.state() {
        warn_of_other(context, &project, &state);
    }
    wish(&project, &named.id, wanted, clock::now_ms())
        .map_err(|error| refused(&named.id.to_string(), error))?;
    context.print(&json!({ "id": named.id }), |screen| {
        screen.text(&context.words.say(key, &[("id", &named.id)]))
    })?;
    Ok(Exit::Done)
}

fn over(context: &Context, file: &File, phase: u32, with_failures: bool) -> Result<Exit, Error> {
    not_inside()?;
    let project = Project::find(&directory()?, file.tasks.as_deref());
    if let Ok(Some(state)) = project.state() {
        warn_of_other(context, &project, &state);
    }
    let closed = close(&project, phase, with_failures, clock::now_ms());
    let skipped = closed.map_err(|error| refused(&phase.to_string(), error))?;
    let names: Vec<&str> = skipped.iter().map(TaskId::as_str).collect();
    context.print(&json!({ "phase": phase, "skipped": names }), |_| {
        let mut said = context.words.say(Key::PhaseClosed, &[("n", &phase)]);
        said.push('\n');
        for name in &names {
            add_line(&mut said, 2, &context.words.say(Key::TaskSkippedNow, &[("id", name)]));
        }
        said
    })?;
    Ok(Exit::Done)
}

/// These are for people and for main agents. Whoever does a task does not decide about the others.
fn not_inside() -> Result<(), Error> {
    if env::var_os("OSTLER_SESSION").is_none() {
        return Ok(());
    }
    Err(Error::Refused {
        message: Message::new(Key::RefusedInside),
        hint: Message::new(Key::HintRefusedInside),
    })
}

fn refused(what: &str, error: WishError) -> Error {
    let hint = || Message::new(Key::HintTasks);
    let state_word = |state: State| match state {
        State::Pending => "pending",
        State::InProgress => "in_progress",
        State::Completed => "completed",
        State::Failed => "failed",
        State::Skipped => "skipped",
    };
    match error {
        WishError::Tasks(error) => Error::Tasks(error),
        WishError::Plan { name, problem } => Error::Plan { name, problem },
        WishError::NoTask { name } => Error::NotFound {
            message: Message::new(Key::NoSuchTask).with("id", &what).with("file", &name),
            hint: hint(),
        },
        WishError::NoPhase => {
            Error::NotFound { message: Message::new(Key::NoSuchPhase).with("n", &what), hint: hint() }
        }
        WishError::NotSo { state } => Error::Refused {
            message: Message::new(Key::TaskNotSo).with("id", &what).with("state", &state_word(state)),
            hint: hint(),
        },
        WishError::Open { tasks } => {
            let names: Vec<String> = tasks.iter().map(ToString::to_string).collect();
            Error::Refused {
                message: Message::new(Key::PhaseOpen).with("n", &what).with("tasks", &short(&names)),
                hint: Message::new(Key::HintPhaseOpen),
            }
        }
        WishError::State(error) => Error::State(error),
    }
}

impl File {
    fn read(&self) -> Result<Book, Error> {
        let project = Project::find(&directory()?, self.tasks.as_deref());
        let (plan, name) = project.plan().map_err(Error::Tasks)?;
        Ok(Book { project, plan, name })
    }

    /// A file without problems.
    fn whole(&self) -> Result<Book, Error> {
        let book = self.read()?;
        match book.plan.problems().first() {
            Some(problem) => Err(Error::Plan { name: book.name, problem: Box::new(problem.clone()) }),
            None => Ok(book),
        }
    }
}

impl Book {
    /// How far it is. A state that cannot be used is told, and the marks of the file count alone.
    fn page(&self, context: &Context) -> Page<'_> {
        let state = self.project.state().unwrap_or_else(|error| {
            context.note(&context.words.say(Key::StateIgnored, &[("message", &error)]));
            None
        });
        if let Some(state) = &state {
            warn_of_other(context, &self.project, state);
        }
        let progress =
            state.as_ref().map_or_else(|| Progress::new(&self.plan), |state| state.progress(&self.plan));
        let backwards = self.plan.graph().backwards();
        Page { book: self, backwards, blocked: progress.blocked(), progress, state }
    }
}

impl Page<'_> {
    /// How a task stands: a word for machines, one for people, a shape and a style.
    fn standing(&self, task: TaskNumber) -> (&'static str, Key, char, Style) {
        match self.progress.state(task) {
            State::Completed => ("completed", Key::TaskCompleted, '✓', Style::Good),
            State::Skipped => ("skipped", Key::TaskSkipped, '–', Style::Dim),
            State::Failed => ("failed", Key::TaskFailed, '✗', Style::Bad),
            State::InProgress => ("in_progress", Key::TaskInProgress, '●', Style::Plain),
            State::Pending if self.progress.is_ready(task) => ("ready", Key::TaskReady, '○', Style::Bold),
            State::Pending if self.blocked.binary_search(&task).is_ok() => {
                ("blocked", Key::TaskBlocked, '◇', Style::Attention)
            }
            State::Pending => ("pending", Key::TaskPending, '·', Style::Dim),
        }
    }

    /// What a task waits for, in words.
    fn before(&self, words: Words, task: TaskNumber) -> Vec<String> {
        let plan = &self.book.plan;
        let said = |before: &Before<'_>| match before {
            Before::Task(number) => plan.task(*number).name().to_owned(),
            Before::Group(id) => words.say(Key::TaskGroup, &[("id", id)]),
            Before::Phase(number) | Before::Step(number, 0) => words.say(Key::TaskPhase, &[("n", number)]),
            Before::Step(number, step) => words.say(Key::TaskPhase, &[("n", &format!("{number}.{step}"))]),
        };
        self.backwards.of(plan, task).iter().map(said).collect()
    }

    /// How often a task was tried that is not done, and why it was not the last time.
    fn failure(&self, task: Task<'_>) -> Option<(u64, &str)> {
        let is_settled = self.progress.state(task.number()).is_settled();
        self.state.as_ref().filter(|_| !is_settled)?.failure(&task.id())
    }

    /// Who waits for a task by name.
    fn after(&self, task: TaskNumber) -> Vec<&str> {
        let plan = &self.book.plan;
        let waits = |other: &Task<'_>| self.backwards.tasks_of(plan, other.number()).contains(&task);
        plan.tasks().filter(waits).map(Task::name).collect()
    }

    fn json(&self, task: Task<'_>) -> Value {
        let plan = &self.book.plan;
        let tasks = self.backwards.tasks_of(plan, task.number());
        let phases = self.backwards.of(plan, task.number()).into_iter().filter_map(|before| match before {
            Before::Phase(number) => Some(number),
            Before::Task(_) | Before::Group(_) | Before::Step(..) => None,
        });
        json!({
            "id": task.name(),
            "title": task.title(),
            "line": task.line(),
            "phase": task.phase(),
            "state": self.standing(task.number()).0,
            "needs": tasks.iter().map(|it| plan.task(*it).name()).collect::<Vec<_>>(),
            "after_phase": phases.max(),
            "owner": task.owner(),
            "files": task.files(),
            "verify": task.verify(),
            "risk": task.risk(),
            "priority": task.priority(),
            "worktree": task.worktree(),
            "parallel": task.parallel(),
            "criteria": task.criteria(),
        })
    }
}

fn list(context: &Context, book: &Book) -> Result<Exit, Error> {
    let words = context.words;
    let page = book.page(context);
    let columns = [
        Key::ColumnId,
        Key::ColumnStatus,
        Key::ColumnPhase,
        Key::ColumnOwner,
        Key::ColumnBlockedBy,
        Key::ColumnTitle,
    ];
    let row = |task: Task<'_>| {
        let (_, word, shape, style) = page.standing(task.number());
        vec![
            Cell::new(task.name()),
            Cell::styled(style, &format!("{shape} {}", words.sentence(word))),
            Cell::new(&task.phase().to_string()),
            Cell::new(&task.owner().unwrap_or_default()),
            Cell::new(&short(&page.before(words, task.number()))),
            Cell::new(&task.title()),
        ]
    };
    context.print_rows(&Listed(&page, || book.plan.tasks().map(Task::number)), "", || {
        let head = columns.iter().map(|key| Cell::styled(Style::Dim, words.sentence(*key))).collect();
        std::iter::once(head).chain(book.plan.tasks().map(row))
    })?;
    Ok(Exit::Done)
}

/// The first few of a list.
fn short(names: &[String]) -> String {
    const SHOWN_MAX: usize = 4;
    let shown = names.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN_MAX { format!("{shown}, …") } else { shown }
}

fn show(context: &Context, book: &Book, id: &str) -> Result<Exit, Error> {
    let words = context.words;
    let task = book.plan.find(id).ok_or_else(|| Error::NotFound {
        message: Message::new(Key::NoSuchTask).with("id", &one_line(id)).with("file", &book.name),
        hint: Message::new(Key::HintTasks),
    })?;
    let page = book.page(context);
    let mut value = page.json(task);
    value["then"] = json!(page.after(task.number()));
    value["body"] = json!(task.body());
    value["failure"] =
        json!(page.failure(task).map(|(tries, reason)| json!({ "tries": tries, "reason": reason })));
    context.print(&value, |screen| detail(words, screen, &page, task))?;
    Ok(Exit::Done)
}

fn detail(words: Words, screen: Screen, page: &Page<'_>, task: Task<'_>) -> String {
    let (_, word, shape, style) = page.standing(task.number());
    let status = Cell::styled(style, &format!("{shape} {}", words.sentence(word)));
    let mut said = screen.fields(&[vec![Cell::new(task.name()), status, Cell::new(&task.title())]]);
    add_line(&mut said, 0, &format!("{}:{}", page.book.name, task.line()));
    let risk = task.risk().map(|risk| format!("{risk:?}").to_lowercase());
    let then = page.after(task.number()).join(", ");
    // Most tasks say none, and that is this one.
    let priority = Some(task.priority()).filter(|priority| *priority != Priority::Medium);
    let rows: Vec<Vec<Cell>> = [
        (Key::LabelPhase, Some(task.phase().to_string())),
        (Key::LabelNeeds, Some(page.before(words, task.number()).join(", "))),
        (Key::LabelThen, Some(then)),
        (Key::LabelOwner, task.owner()),
        (Key::LabelFiles, Some(task.files().join(", "))),
        (Key::LabelVerify, task.verify()),
        (Key::LabelRisk, risk),
        (Key::LabelPriority, priority.map(|priority| format!("{priority:?}").to_lowercase())),
        (Key::LabelWorktree, task.worktree()),
    ]
    .into_iter()
    .filter_map(|(label, value)| Some((label, value.filter(|value| !value.is_empty())?)))
    .map(|(label, value)| vec![Cell::styled(Style::Dim, words.sentence(label)), Cell::new(&value)])
    .collect();
    said.push_str(&screen.fields(&rows));
    if let Some((tries, reason)) = page.failure(task) {
        let key = if tries == 1 { Key::TaskFailedOnce } else { Key::TaskFailedTimes };
        let mut lines = reason.trim().lines();
        let first = one_line(lines.next().unwrap_or_default());
        add_line(&mut said, 0, &words.say(key, &[("tries", &tries), ("reason", &first)]));
        for line in lines.filter(|line| !line.trim().is_empty()) {
            add_line(&mut said, 2, &one_line(line));
        }
    }
    for criterion in task.criteria() {
        let mark = if criterion.done { 'x' } else { ' ' };
        add_line(&mut said, 2, &format!("[{mark}] {}", one_line(&criterion.text)));
    }
    said
}

fn graph(context: &Context, book: &Book, mermaid: bool) -> Result<Exit, Error> {
    let words = context.words;
    let page = book.page(context);
    if mermaid {
        let drawn = book.plan.mermaid(&page.progress);
        context.print(&json!({ "mermaid": drawn }), |_| drawn.clone())?;
    } else {
        let listed = Listed(&page, || book.plan.tasks().map(Task::number));
        context.print(&listed, |screen| phases(words, screen, &page))?;
    }
    Ok(Exit::Done)
}

fn phases(words: Words, screen: Screen, page: &Page<'_>) -> String {
    let plan = &page.book.plan;
    let mut said = String::new();
    let mut by_phase: BTreeMap<u32, Vec<Task<'_>>> = BTreeMap::new();
    for task in plan.tasks() {
        by_phase.entry(task.phase()).or_default().push(task);
    }
    for phase in plan.phases() {
        let title = phase.title.as_deref().map(|title| format!(": {}", one_line(title))).unwrap_or_default();
        let heading = words.say(Key::TaskPhase, &[("n", &phase.number)]);
        // Writing to text does not fail.
        writeln!(said, "{}{title}", screen.style(Style::Bold, &heading)).ok();
        let tasks = by_phase.remove(&phase.number).unwrap_or_default();
        let rows: Vec<Vec<Cell>> = tasks
            .into_iter()
            .map(|task| {
                let (_, _, shape, style) = page.standing(task.number());
                let before = page.before(words, task.number());
                let arrow =
                    if before.is_empty() { String::new() } else { format!("← {}", before.join(", ")) };
                vec![
                    Cell::styled(style, &format!("  {shape}")),
                    Cell::new(task.name()),
                    Cell::new(&task.title()),
                    Cell::styled(Style::Dim, &arrow),
                ]
            })
            .collect();
        said.push_str(&screen.columns_around(2, &rows));
    }
    said
}

fn chain(context: &Context, book: &Book) -> Result<Exit, Error> {
    let words = context.words;
    let page = book.page(context);
    let path = critical_path(&page.progress, |_| 1);
    let open = book.plan.tasks().filter(|task| !page.progress.state(task.number()).is_settled()).count();
    let value = Chain { length: path.len(), open, tasks: Listed(&page, || path.iter().copied()) };
    let said = match path.len() {
        0 => words.sentence(Key::TasksAllDone).to_owned(),
        length => words.say(Key::TasksChain, &[("length", &length), ("open", &open)]),
    };
    context.print_rows(&value, &format!("{said}\n"), || {
        path.iter().map(|&number| {
            let task = book.plan.task(number);
            let (_, _, shape, style) = page.standing(number);
            let shape = Cell::styled(style, &format!("  {shape}"));
            vec![shape, Cell::new(task.name()), Cell::new(&task.title())]
        })
    })?;
    Ok(Exit::Done)
}

/// A chain as machines read it.
#[derive(Serialize)]
struct Chain<T: Serialize> {
    length: usize,
    open: usize,
    tasks: T,
}
