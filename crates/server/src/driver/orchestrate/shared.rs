//! What the conductor of a loop and those who do its tasks share: the project, what was asked, and who is at work.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex},
};

use ostler_engine::{
    Input, SessionId,
    input::{Made, NewRun},
    orchestrate::{Card, Conduct, Loop, News, Step},
    session::Session,
};
use ostler_orchestrate::Project;
use ostler_protocol::{name::TaskId, thin::Thin};
use tokio::time::sleep;

use super::{AGAIN, exchange::Exchange, ground::Ground, task};
use crate::{
    config::Config,
    driver::Driver,
    journal::{Key, SubmitError},
};

/// How many ports each phase has.
const PORTS: u32 = 10;

/// Where the ports of tasks with worktrees of their own begin, behind those of a hundred phases.
const TASK_PORTS: u32 = 1_000;

/// What the conductor and those who do its tasks share.
pub(super) struct Shared {
    pub(super) driver: Arc<Driver>,
    pub(super) session: SessionId,
    pub(super) project: Project,
    pub(super) asked: Conduct,
    pub(super) korean: bool,
    /// What all agents and commands find in their environment.
    pub(super) environment: BTreeMap<String, String>,
    /// What it says and reads.
    pub(super) exchange: Exchange,
    /// One commits at a time.
    pub(super) commits: tokio::sync::Mutex<()>,
    /// The tasks under way.
    pub(super) running: Mutex<BTreeMap<TaskId, Running>>,
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
    card: Option<Card>,
}

impl Shared {
    pub(super) fn now_ms(&self) -> u64 {
        self.driver.journal.clock().now_ms()
    }

    /// How far the loop is; none if it is gone.
    pub(super) fn facts(&self) -> Option<Loop> {
        self.read(|session| session.conducts.as_deref().cloned()).flatten()
    }

    pub(super) fn read<T>(&self, read: impl FnOnce(&Session) -> T) -> Option<T> {
        self.driver.journal.world().sessions.get(&self.session).map(read)
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.read(|session| session.cancelled_at_ms.is_some()).unwrap_or(true)
    }

    pub(super) fn is_paused(&self) -> bool {
        self.read(|session| session.paused_at_ms.is_some()).unwrap_or(false)
    }

    pub(super) fn wishes(&self) -> Wishes {
        self.read(|session| Wishes {
            is_cancelled: session.cancelled_at_ms.is_some(),
            is_paused: session.paused_at_ms.is_some(),
            card: session.conducts.as_ref().and_then(|conducts| conducts.card.clone()),
        })
        .unwrap_or_default()
    }

    pub(super) async fn report(&self, news: News) {
        let input = Input::Conducted { session: self.session, news: Box::new(news) };
        while let Err(error) = self.driver.journal.submit(input.clone(), None).await {
            if matches!(error, SubmitError::Closed) {
                return;
            }
            sleep(AGAIN).await;
        }
    }

    pub(super) async fn moved(&self, step: Step) {
        self.report(News::Moved(step)).await;
    }

    /// Asks for a run under a key. None if the key stands for something else.
    pub(super) async fn submit_run(&self, wanted: NewRun, key: Key) -> Result<Option<Made>, String> {
        let input = Input::CreateRun(Box::new(wanted));
        loop {
            match self.driver.journal.submit_for(input.clone(), Some(key.clone())).await {
                Ok(made) => return Ok(Some(made)),
                Err(SubmitError::KeyReused) => return Ok(None),
                Err(SubmitError::Refused(refusal)) => return Err(format!("{refusal:?}")),
                Err(SubmitError::Closed) => std::future::pending().await,
                Err(SubmitError::Store(_)) => sleep(AGAIN).await,
            }
        }
    }

    pub(super) fn config(&self) -> Result<Config, String> {
        let root = crate::config::project_root(self.project.root());
        Config::load(root.as_deref().or(Some(self.project.root()))).map_err(|error| error.to_string())
    }

    /// What a person lets the repository run.
    pub(super) fn trusted(&self) -> Vec<String> {
        let world = self.driver.journal.world();
        let project = world.sessions.get(&self.session).and_then(|it| world.projects.get(&it.project));
        project.into_iter().flat_map(|it| &it.trusted).map(|it| it.hash.clone()).collect()
    }

    /// A question to a resolver, and its answer.
    pub(super) fn resolved(&self, line: &str) {
        let question = Thin::ResolveNext { phase: self.asked.phase, force: false };
        self.exchange.line(&question.to_string());
        self.exchange.line(line);
    }

    pub(super) fn ground(&self) -> Ground {
        let root = self.project.root().to_path_buf();
        let tasks = self.project.task_file().map(|(path, _)| path).unwrap_or_default();
        let tasks = tasks.strip_prefix(&root).map(Path::to_path_buf).unwrap_or(tasks);
        Ground { root, tasks, trusted: self.trusted() }
    }

    /// What was changed in the project before a phase that is worked on there.
    pub(super) fn foreign(&self, phase: u32) -> Vec<String> {
        let facts = self.facts().unwrap_or_default();
        facts.phases.get(&phase).map(|stage| stage.foreign.clone()).unwrap_or_default()
    }

    pub(super) fn files_of_others(&self, id: &TaskId) -> Vec<String> {
        let running = self.running.lock().expect("nobody panics while holding it");
        running.iter().filter(|(other, _)| *other != id).flat_map(|(_, it)| it.files.clone()).collect()
    }

    /// A port and a prefix for caches, so that two worktrees do not get in each other's way.
    pub(super) fn place_environment(&self, config: &Config, directory: &Path) -> BTreeMap<String, String> {
        let facts = self.facts().unwrap_or_default();
        let inside = |worktree: &str| {
            let place = self.project.root().join(worktree);
            directory.starts_with(place.canonicalize().unwrap_or(place))
        };
        let mut stages =
            facts.phases.iter().filter_map(|(phase, stage)| Some((phase, stage.worktree.as_ref()?)));
        let (number, worktree) = match self.of_task(&inside) {
            Some(found) => found,
            None => match stages.find(|(_, worktree)| inside(worktree)) {
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
