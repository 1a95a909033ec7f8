//! What the conductor of a loop and those who do its tasks share: the project, what was asked, and who is at work.

use std::{collections::BTreeMap, ops::Deref, path::Path, sync::Mutex};

use ostler_engine::{
    Input, RunId, SessionId, World,
    graph::{
        GraphHold, GraphReport, GroupChange, GroupFacts, NodeEffort, NodeOutcome, NodeResult, NodeState,
        WorkGraph, WorkNode,
    },
    orchestrate::{LoopSpec, target},
};
use ostler_orchestrate::{Begins, Ended, Over};
use ostler_protocol::{name::TaskId, thin::Thin};
use tokio::{
    sync::{Notify, oneshot},
    time::sleep,
};

use super::{
    AGAIN,
    exchange::Exchange,
    ground::{Ground, Whose},
    task,
};
use crate::{
    config::{Config, orchestrate::Worktrees},
    driver::{
        executor::parent::{Parent, blocking},
        work_secrets,
    },
    journal::SubmitError,
};

/// How many ports each phase has.
const PORTS: u32 = 10;

/// Where the ports of tasks with worktrees of their own begin, behind those of a hundred phases.
const TASK_PORTS: u32 = 1_000;

/// What the conductor and those who do its tasks share.
pub(super) struct Shared {
    /// What it has in common with other callers of an executor.
    pub(super) parent: Parent,
    /// The loop's own.
    pub(super) session: SessionId,
    pub(super) asked: LoopSpec,
    /// What it says and reads.
    pub(super) exchange: Exchange,
    /// One commits at a time.
    pub(super) commits: tokio::sync::Mutex<()>,
    /// The tasks under way.
    pub(super) running: Mutex<BTreeMap<TaskId, Running>>,
    /// Where those who are done with a task hand it in.
    pub(super) desk: Desk,
}

/// Work that is over, and who waits until that is put down.
pub(super) struct HandedIn {
    pub(super) over: Over,
    said: oneshot::Sender<Ended>,
}

impl HandedIn {
    /// It is put down, and has ended so.
    pub(super) fn put_down(self, ended: Ended) {
        // Whoever waits ends only with the server.
        self.said.send(ended).ok();
    }
}

/// The conductor takes all that lies here when it looks at the files, so that the end of one task and the beginning of the
/// next are written together. While it is away, everybody puts down their own.
#[derive(Default)]
pub(super) struct Desk {
    lies: Mutex<Lying>,
    called: Notify,
}

#[derive(Default)]
struct Lying {
    is_away: bool,
    handed_in: Vec<HandedIn>,
}

impl Desk {
    /// Hands it in. Back it comes if nobody will be there for a while.
    pub(super) fn hand_in(&self, over: Over) -> Result<oneshot::Receiver<Ended>, Over> {
        let mut lying = self.lies.lock().expect("nobody panics while holding it");
        if lying.is_away {
            return Err(over);
        }
        let (said, receiver) = oneshot::channel();
        lying.handed_in.push(HandedIn { over, said });
        drop(lying);
        self.called.notify_one();
        Ok(receiver)
    }

    /// Takes everything that lies here.
    pub(super) fn take(&self) -> Vec<HandedIn> {
        std::mem::take(&mut self.lies.lock().expect("nobody panics while holding it").handed_in)
    }

    /// Leaves the desk, or comes back to it. What lies there when it is left is taken along.
    pub(super) fn leave(&self, is_away: bool) -> Vec<HandedIn> {
        let mut lying = self.lies.lock().expect("nobody panics while holding it");
        lying.is_away = is_away;
        std::mem::take(&mut lying.handed_in)
    }

    /// Until something is handed in.
    pub(super) async fn called(&self) {
        self.called.notified().await;
    }
}

/// A task under way.
pub(super) struct Running {
    /// The files that it declares.
    pub(super) files: Vec<String>,
    /// No other that is under way has the same.
    pub(super) number: u32,
}

/// What people want of a loop.
#[derive(Default, PartialEq, Eq)]
pub(super) struct Wishes {
    is_cancelled: bool,
    is_paused: bool,
    hold: Option<GraphHold>,
}

impl Deref for Shared {
    type Target = Parent;

    fn deref(&self) -> &Parent {
        &self.parent
    }
}

impl Shared {
    /// The phases that it has come to; none if the loop is gone.
    pub(super) fn groups(&self) -> Option<BTreeMap<u32, GroupFacts>> {
        self.read_graph(|world, graph| {
            world.groups_of(graph.id).map(|group| (group.number, group.facts.clone())).collect()
        })
    }

    /// The question that holds it; none if there is none, or if the loop is gone.
    pub(super) fn hold(&self) -> Option<GraphHold> {
        self.read_graph(|_, graph| graph.hold.clone()).flatten()
    }

    /// A task, if it was ever started.
    pub(super) fn node(&self, id: &TaskId) -> Option<WorkNode> {
        self.read_graph(|world, graph| world.node(graph.id, id.as_str()).cloned()).flatten()
    }

    /// The tasks in a state, or all that were ever started. This walks over all of them, so it is for the beginning and
    /// the end of a loop alone.
    pub(super) fn nodes(&self, state: Option<NodeState>) -> Vec<WorkNode> {
        let is_in = |node: &&WorkNode| state.is_none_or(|state| node.state() == state);
        self.read_graph(|world, graph| world.nodes_of(graph.id).filter(is_in).cloned().collect())
            .unwrap_or_default()
    }

    /// Why each of these tasks failed: in whole as the state has it, or else in few words.
    pub(super) async fn failures(&self, tasks: &[String]) -> BTreeMap<String, String> {
        let (project, names) = (self.project.clone(), tasks.to_vec());
        let found = blocking(move || {
            let state = project.state().ok().flatten()?;
            let failure = |task: &String| Some(state.failure(&task.parse().ok()?)?.1.to_owned());
            Some(names.iter().filter_map(|task| Some((task.clone(), failure(task)?))).collect())
        });
        let mut found: BTreeMap<String, String> = found.await.flatten().unwrap_or_default();
        for task in tasks.iter().filter_map(|task| task.parse::<TaskId>().ok()) {
            let result = self.node(&task).and_then(|node| node.result);
            if let Some(NodeResult { outcome: NodeOutcome::Failed { reason }, .. }) = result {
                found.entry(task.to_string()).or_insert(reason);
            }
        }
        found
    }

    /// The number of tasks that ended.
    pub(super) fn ended_tasks(&self) -> usize {
        let is_over = |node: &&WorkNode| node.result.is_some();
        self.read_graph(|world, graph| world.nodes_of(graph.id).filter(is_over).count()).unwrap_or(0)
    }

    fn read_graph<T>(&self, read: impl FnOnce(&World, &WorkGraph) -> T) -> Option<T> {
        let world = self.driver.journal.world();
        world.graph_of(self.session).map(|graph| read(&world, graph))
    }

    pub(super) fn wishes(&self) -> Wishes {
        let hold = self.hold();
        self.read(|session| Wishes {
            is_cancelled: session.cancelled_at_ms.is_some(),
            is_paused: session.paused_at_ms.is_some(),
            hold,
        })
        .unwrap_or_default()
    }

    pub(super) async fn report(&self, report: GraphReport) {
        let input = Input::GraphReported { session: self.session, report: Box::new(report) };
        while let Err(error) = self.driver.journal.submit(input.clone(), None).await {
            // A run that was found under its key counts for its task even if the engine gives that to another.
            if matches!(error, SubmitError::Closed | SubmitError::Refused(_)) {
                return;
            }
            sleep(AGAIN).await;
        }
    }

    /// A run works on a task. The commit that creates a run says so by itself; this is for one that was found.
    pub(super) async fn started(&self, id: &TaskId, run: RunId) {
        self.report(GraphReport::Started { key: id.to_string(), run }).await;
    }

    /// A task ended.
    pub(super) async fn ended(&self, id: &TaskId, ended: &Ended, effort: NodeEffort) {
        let outcome = match ended {
            Ended::Failed { reason } => NodeOutcome::Failed { reason: reason.clone() },
            Ended::Done => NodeOutcome::Done,
        };
        self.report(GraphReport::Ended { key: id.to_string(), outcome, effort }).await;
    }

    /// A phase changed.
    pub(super) async fn changed(&self, number: u32, change: GroupChange) {
        self.report(GraphReport::Group { number, change }).await;
    }

    /// Who decides what begins, and how. What cannot be read is complained about when something is to begin.
    pub(super) fn begins(&self) -> Begins {
        match self.config() {
            Ok(config) if config.orchestrate.resolver.is_some() => Begins::Outside,
            Ok(config) if config.orchestrate.worktrees != Worktrees::Task => {
                Begins::Now { is_korean: self.korean }
            }
            _ => Begins::Later,
        }
    }

    /// A question to a resolver, and its answer.
    pub(super) fn resolved(&self, line: &str) {
        let question = Thin::ResolveNext { phase: self.asked.phase, groups: false, force: false };
        self.exchange.line(&question.to_string());
        self.exchange.line(line);
    }

    pub(super) fn ground(&self) -> Ground {
        let root = self.project.root().to_path_buf();
        let tasks = self.project.task_file().map(|(path, _)| path).unwrap_or_default();
        let tasks = tasks.strip_prefix(&root).map(Path::to_path_buf).unwrap_or(tasks);
        let groups = self.groups().unwrap_or_default();
        let target = target(groups.values()).map(str::to_owned);
        Ground { root, tasks, trusted: self.trusted(), target }
    }

    /// Commits what was done in a directory of the project, and says which secrets are in it.
    pub(super) fn commit(
        &self,
        directory: &Path,
        whose: &Whose<'_>,
        foreign: &[String],
        message: &str,
    ) -> Result<(), String> {
        if let Some((repository, commit)) = self.ground().commit(directory, whose, foreign, message)? {
            work_secrets::in_commit(&self.driver, self.session, &repository, &commit);
        }
        Ok(())
    }

    /// How far a phase is.
    pub(super) fn group(&self, phase: u32) -> GroupFacts {
        self.groups().and_then(|mut groups| groups.remove(&phase)).unwrap_or_default()
    }

    pub(super) fn files_of_others(&self, id: &TaskId) -> Vec<String> {
        let running = self.running.lock().expect("nobody panics while holding it");
        running.iter().filter(|(other, _)| *other != id).flat_map(|(_, it)| it.files.clone()).collect()
    }

    /// A port and a prefix for caches, so that two worktrees do not get in each other's way.
    pub(super) fn place_environment(&self, config: &Config, directory: &Path) -> BTreeMap<String, String> {
        let groups = self.groups().unwrap_or_default();
        let inside = |worktree: &str| {
            let place = self.project.root().join(worktree);
            directory.starts_with(place.canonicalize().unwrap_or(place))
        };
        let mut groups = groups.iter().filter_map(|(phase, group)| Some((phase, group.worktree.as_ref()?)));
        let (number, worktree) = match self.of_task(&inside) {
            Some(found) => found,
            None => match groups.find(|(_, worktree)| inside(worktree)) {
                Some((phase, worktree)) => (phase.saturating_mul(PORTS), worktree.clone()),
                None => return BTreeMap::new(),
            },
        };
        let port = (u32::from(config.orchestrate.port) + number).min(u32::from(u16::MAX));
        let prefix = worktree.split('/').nth(1).unwrap_or(&worktree).to_owned();
        [("PORT".to_owned(), port.to_string()), ("CACHE_PREFIX".to_owned(), prefix)].into()
    }

    /// The task whose own worktree a directory lies in, with a number for its port that no phase has.
    fn of_task(&self, inside: &dyn Fn(&str) -> bool) -> Option<(u32, String)> {
        let running = self.running.lock().expect("nobody panics while holding it");
        running.iter().find_map(|(id, it)| {
            let worktree = task::worktree_of(id);
            inside(&worktree).then(|| (TASK_PORTS.saturating_add(it.number.saturating_mul(PORTS)), worktree))
        })
    }
}
