//! `ostler exec`: a task that a person, or a main agent by its channel, asks for by name.
//!
//! One execution of a task is under way at a time, whoever asks: a caller that comes back after it was killed, and one
//! that asks for the same meanwhile, hear the same end. It goes on without them. What a server leaves when it dies, the
//! next caller takes over by the note in the state file.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ostler_engine::{RunId, SessionId, graph::NodeEffort};
use ostler_orchestrate::{Begun, Ended, Project, Work, begin, ended_before};
use ostler_protocol::name::TaskId;
use serde_json::Value;
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};

use super::{
    Executed, ExecutorSites, PlannedRun, TaskFront, check_agent, execute,
    parent::{Parent, blocking},
    refuse,
    time_limits::{CallerLimit, TimeLimits, caller_limit},
};
use crate::{crash, driver::Driver};

/// How long a caller is held before it hears that the task is still under way: it asks again.
const HOLD: Duration = Duration::from_secs(20);

/// How long an end is kept that no caller has heard. After that the task can be asked for anew.
const UNHEARD_MAX: Duration = Duration::from_mins(10);

/// The most ends that are kept.
const ENDS_MAX: usize = 1_000;

/// What is asked for.
#[derive(Debug, Clone)]
pub(crate) struct ExecutionRequest {
    /// Where it is asked for.
    pub(crate) directory: PathBuf,
    /// The task.
    pub(crate) task: TaskId,
    /// The task file, if one is named.
    pub(crate) tasks: Option<PathBuf>,
    /// The worktree in which the task is done.
    pub(crate) worktree: Option<PathBuf>,
    /// What the caller says about it.
    pub(crate) meta: Option<Value>,
    /// The agent, if one is named.
    pub(crate) agent: Option<String>,
    /// Whether the agent is spoken to in Korean.
    pub(crate) korean: bool,
    /// The environment of the caller.
    pub(crate) environment: BTreeMap<String, String>,
    /// The main agent that asks; a person has no session.
    pub(crate) session: Option<SessionId>,
    /// Whether the caller has heard before that the task is under way.
    pub(crate) again: bool,
}

/// How an execution is.
#[derive(Debug, Clone)]
pub(crate) enum ExecutionState {
    /// It is looked at whether the task can begin.
    Starting,
    /// The task is under way.
    Running,
    /// The task has ended so.
    Ended(Executed),
}

/// The executions of a server.
#[derive(Debug, Default)]
pub(crate) struct Executions(Mutex<HashMap<(PathBuf, TaskId), Arc<Execution>>>);

/// A task that is asked for.
#[derive(Debug)]
struct Execution {
    state: watch::Sender<ExecutionState>,
    /// The callers that wait for its end.
    callers: AtomicUsize,
    /// When it ended, or began.
    at: Mutex<Instant>,
}

/// Has a task done, or joins whoever has it done. How it is when it has ended, or after a while.
pub(crate) async fn ask(driver: &Arc<Driver>, request: ExecutionRequest) -> ExecutionState {
    let project = Project::find(&request.directory, request.tasks.as_deref());
    let root = project.root().canonicalize().unwrap_or_else(|_| project.root().to_path_buf());
    let key = (root, request.task.clone());
    let is_first = !request.again;
    let (execution, is_new) = driver.executions.join(&key);
    if is_new {
        let (driver, execution) = (Arc::clone(driver), Arc::clone(&execution));
        tokio::spawn(async move {
            let executed = run(&driver, project, request, &execution).await;
            execution.end(executed);
        });
    }
    let caller = Caller::new(&execution);
    let mut state = execution.state.subscribe();
    let is_said = |state: &ExecutionState| match state {
        ExecutionState::Starting => false,
        // Whoever hears it once comes back for the end, and gets it also from the next server.
        ExecutionState::Running => is_first,
        ExecutionState::Ended(_) => true,
    };
    let said = timeout(HOLD, state.wait_for(is_said)).await;
    let said = match said {
        Ok(Ok(state)) => state.clone(),
        // It is still under way; its sender lives as long as it does.
        Ok(Err(_)) | Err(_) => ExecutionState::Running,
    };
    drop(caller);
    if let ExecutionState::Ended(_) = said {
        driver.executions.leave(&key, &execution);
    }
    said
}

impl Executions {
    /// The execution of a task, and whether it is a new one.
    fn join(&self, key: &(PathBuf, TaskId)) -> (Arc<Execution>, bool) {
        let mut executions = self.0.lock().expect("nobody panics while holding it");
        executions.retain(|_, it| !it.is_stale());
        if executions.len() > ENDS_MAX {
            executions.retain(|_, it| !it.has_ended());
        }
        if let Some(execution) = executions.get(key) {
            return (Arc::clone(execution), false);
        }
        let execution = Arc::new(Execution {
            state: watch::Sender::new(ExecutionState::Starting),
            callers: AtomicUsize::new(0),
            at: Mutex::new(Instant::now()),
        });
        executions.insert(key.clone(), Arc::clone(&execution));
        (execution, true)
    }

    /// A caller has heard the end. The next one who asks begins anew.
    fn leave(&self, key: &(PathBuf, TaskId), heard: &Arc<Execution>) {
        let mut executions = self.0.lock().expect("nobody panics while holding it");
        let is_it = executions.get(key).is_some_and(|it| Arc::ptr_eq(it, heard));
        if is_it && heard.callers.load(Ordering::SeqCst) == 0 {
            executions.remove(key);
        }
    }
}

impl Execution {
    fn end(&self, executed: Executed) {
        *self.at.lock().expect("nobody panics while holding it") = Instant::now();
        self.state.send_replace(ExecutionState::Ended(executed));
    }

    fn has_ended(&self) -> bool {
        matches!(*self.state.borrow(), ExecutionState::Ended(_))
    }

    fn is_stale(&self) -> bool {
        let at = *self.at.lock().expect("nobody panics while holding it");
        self.has_ended() && at.elapsed() > UNHEARD_MAX
    }
}

/// Counts a caller for as long as it waits.
struct Caller(Arc<Execution>);

impl Caller {
    fn new(execution: &Arc<Execution>) -> Caller {
        execution.callers.fetch_add(1, Ordering::SeqCst);
        Caller(Arc::clone(execution))
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.callers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Begins a task and has it done.
async fn run(
    driver: &Arc<Driver>,
    project: Project,
    request: ExecutionRequest,
    execution: &Execution,
) -> Executed {
    crash::site("before begin exec");
    let not_begun = |ended: Ended| Executed { ended, spent: NodeEffort::default() };
    let driver = Arc::clone(driver);
    let begun = blocking(move || RequestedTask::begin(&driver, project, request)).await;
    let (task, work) = match begun {
        Some(Ok(begun)) => begun,
        Some(Err(ended)) => return not_begun(ended),
        None => return not_begun(Ended::failed("it could not be begun")),
    };
    crash::site("after begin exec");
    execution.state.send_replace(ExecutionState::Running);
    let used_ms = u64::try_from(work.used.as_millis()).unwrap_or(u64::MAX);
    let mut executed = execute(&Arc::new(task), work).await;
    // What earlier servers have seen of it counts too.
    executed.spent.worked_ms = executed.spent.worked_ms.saturating_add(used_ms);
    executed
}

/// A task that was asked for by name.
struct RequestedTask {
    parent: Parent,
    agent: Option<String>,
    limit: CallerLimit,
}

impl RequestedTask {
    /// Begins it, or says how it has ended.
    fn begin(
        driver: &Arc<Driver>,
        project: Project,
        request: ExecutionRequest,
    ) -> Result<(RequestedTask, Arc<Work>), Ended> {
        let ExecutionRequest { task, worktree, meta, agent, korean, environment, session, again, .. } =
            request;
        let asking = session.and_then(|session| driver.journal.world().sessions.get(&session).cloned());
        let parent = match (session, asking) {
            (Some(_), Some(asking)) => Parent::of(driver, &asking, request.tasks.as_deref()),
            (Some(_), None) => return Err(Ended::failed("its main agent is gone")),
            (None, _) => {
                let root = root_of(&project);
                Parent::person(driver, project, root, environment, korean)
            }
        };
        let refused = |reason: String| refuse(&parent, &task, &reason);
        let limit = caller_limit(meta).map_err(refused)?;
        if let Some(ended) =
            Some(&task).filter(|_| again).and_then(|task| ended_before(&parent.project, task))
        {
            return Err(ended);
        }
        check_agent(&parent, &task, agent.as_ref()).map_err(refused)?;
        match begin(&parent.project, &task, worktree.as_deref(), parent.korean, parent.now_ms()) {
            Begun::Settled(ended) => Err(ended),
            Begun::Work(work) => Ok((RequestedTask { parent, agent, limit }, work)),
        }
    }
}

/// The root by which the journal knows a project. Where git cannot say it, the run that is asked for says why.
fn root_of(project: &Project) -> String {
    let root = project.root().canonicalize().unwrap_or_else(|_| project.root().to_path_buf());
    crate::http::runs::root_of(&root).unwrap_or_else(|_| root.to_string_lossy().into_owned())
}

impl TaskFront for RequestedTask {
    const SITES: ExecutorSites = ExecutorSites {
        run_started: "after start exec",
        before_end: "before end exec",
        attempt_failed: "after failed exec",
        after_end: "after end exec",
    };
    const CANCELLED: &'static str = "its main agent was cancelled";

    fn parent(&self) -> &Parent {
        &self.parent
    }

    fn limits(&self, work: &Work) -> TimeLimits {
        let usual = self.parent.config().ok().and_then(|config| config.orchestrate.timeout);
        TimeLimits::of(work, usual, self.limit)
    }

    fn planned(&self, work: &Work) -> Result<PlannedRun, String> {
        let new = self.parent.task_run(&*self.parent.config()?, work, self.agent.as_ref())?;
        Ok(PlannedRun { new, is_outside: false })
    }

    async fn began(&self, _: &Work, _: RunId) {}
}
