//! What the conductor of a loop and those who do its tasks share: the project, what was asked, and who is at work.

use std::{collections::BTreeMap, ops::Deref, path::Path, sync::Mutex};

use ostler_engine::{
    Input,
    orchestrate::{Card, Conduct, Loop, News, Stage, Step},
};
use ostler_orchestrate::{Begins, Over};
use ostler_protocol::{name::TaskId, thin::Thin};
use tokio::{
    sync::{Notify, oneshot},
    time::sleep,
};

use super::{
    AGAIN,
    exchange::Exchange,
    ground::{Ground, Whose},
    parent::Parent,
    task,
};
use crate::{
    config::{Config, orchestrate::Worktrees},
    driver::work_secrets,
    journal::SubmitError,
};

/// How many ports each phase has.
const PORTS: u32 = 10;

/// Where the ports of tasks with worktrees of their own begin, behind those of a hundred phases.
const TASK_PORTS: u32 = 1_000;

/// What the conductor and those who do its tasks share.
pub(super) struct Shared {
    /// What it has in common with a main agent.
    pub(super) parent: Parent,
    pub(super) asked: Conduct,
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
    said: oneshot::Sender<Thin>,
}

impl HandedIn {
    /// It is put down, and this is said of it.
    pub(super) fn put_down(self, line: Thin) {
        // Whoever waits ends only with the server.
        self.said.send(line).ok();
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
    pub(super) fn hand_in(&self, over: Over) -> Result<oneshot::Receiver<Thin>, Over> {
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
    card: Option<Card>,
}

impl Deref for Shared {
    type Target = Parent;

    fn deref(&self) -> &Parent {
        &self.parent
    }
}

impl Shared {
    /// How far the loop is; none if it is gone.
    pub(super) fn facts(&self) -> Option<Loop> {
        self.read_facts(Loop::clone)
    }

    /// The phases that it has come to, and what it has asked; none if it is gone.
    pub(super) fn stages(&self) -> Option<(BTreeMap<u32, Stage>, Option<Card>)> {
        self.read_facts(|facts| (facts.phases.clone(), facts.card.clone()))
    }

    fn read_facts<T>(&self, read: impl FnOnce(&Loop) -> T) -> Option<T> {
        self.read(|session| session.conducts.as_deref().map(read)).flatten()
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
        let target = self.read_facts(|facts| facts.target().map(str::to_owned)).flatten();
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
    pub(super) fn stage(&self, phase: u32) -> Stage {
        self.read_facts(|facts| facts.phases.get(&phase).cloned()).flatten().unwrap_or_default()
    }

    pub(super) fn files_of_others(&self, id: &TaskId) -> Vec<String> {
        let running = self.running.lock().expect("nobody panics while holding it");
        running.iter().filter(|(other, _)| *other != id).flat_map(|(_, it)| it.files.clone()).collect()
    }

    /// A port and a prefix for caches, so that two worktrees do not get in each other's way.
    pub(super) fn place_environment(&self, config: &Config, directory: &Path) -> BTreeMap<String, String> {
        let (phases, _) = self.stages().unwrap_or_default();
        let inside = |worktree: &str| {
            let place = self.project.root().join(worktree);
            directory.starts_with(place.canonicalize().unwrap_or(place))
        };
        let mut stages = phases.iter().filter_map(|(phase, stage)| Some((phase, stage.worktree.as_ref()?)));
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
