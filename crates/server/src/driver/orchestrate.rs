//! The conductor of a loop through a task file: looks at the files, asks the engine what is next, does it, and looks again.
//!
//! It holds nothing that it would miss: what it has done stands in the journal, in the state file and in git, and every
//! step looks there first. A server that dies anywhere starts it again, for its action is done only when the loop is.

mod close;
pub(crate) mod command;
pub(crate) mod exchange;
mod found;
mod ground;
mod outside;
mod shared;
mod task;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    pin::pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use ostler_engine::{
    ActionName, Input, SessionId,
    answer::Answer,
    orchestrate::{About, Card, Choice, Loop, News, Next, Step},
    plan::State,
    run::{Outcome, Reason},
};
use ostler_orchestrate::{Hindrance, Look, Place, Project, Wish, enter, give_up, look, wish};
use ostler_protocol::{name::TaskId, thin::Thin};
use tokio::{sync::watch, task::JoinSet, time::sleep};

use self::{
    exchange::Exchange,
    outside::Wanted,
    shared::{Running, Shared, Wishes},
    task::blocking,
};
use super::Driver;
use crate::{config::orchestrate::Worktrees, crash, environment};

/// Between two looks at files that others write too.
const LOOK: Duration = Duration::from_millis(500);

/// Between two attempts at something that was refused.
const AGAIN: Duration = Duration::from_millis(500);

/// Begins to go through a task file, or goes on.
pub(super) fn start(driver: &Arc<Driver>, session: SessionId, name: ActionName) {
    let driver = Arc::clone(driver);
    tokio::spawn(async move {
        crash::site("before conduct");
        let outcome = match Conductor::of(&driver, session) {
            Some(mut conductor) => {
                let outcome = conductor.conduct().await;
                let shared = Arc::clone(&conductor.shared);
                blocking(move || shared.exchange.count()).await;
                outcome
            }
            None => Outcome::Cancelled,
        };
        crash::site("after conduct");
        let news = Box::new(News::Ended(outcome));
        let input = Input::Conducted { session, news };
        while driver.journal.submit(input.clone(), Some(name)).await.is_err() {
            sleep(AGAIN).await;
        }
    });
}

struct Conductor {
    shared: Arc<Shared>,
    tasks: JoinSet<TaskId>,
    /// What the log has as the last answer.
    said: Mutex<Option<String>>,
    outside: Outside,
}

/// How it stands with a resolver that somebody else wrote.
#[derive(Default)]
struct Outside {
    /// How often it was asked.
    asked: u32,
    /// Whether its last answer was none.
    was_refused: bool,
    /// Who worked when it said that there is nothing to do but to wait.
    waits_for: Option<BTreeSet<TaskId>>,
}

/// What follows from a look.
enum Turn {
    /// Look again at once.
    Again,
    /// Look again when something has changed.
    Wait,
    /// It is over.
    End(Outcome),
}

impl Conductor {
    fn of(driver: &Arc<Driver>, session: SessionId) -> Option<Conductor> {
        let found = driver.journal.world().sessions.get(&session).cloned()?;
        let asked = found.order.role.conducts()?.clone();
        let environment = environment::read(&driver.home, &found.order.environment).unwrap_or_default();
        let project = Project::find(Path::new(&found.order.directory), asked.tasks.as_ref().map(Path::new));
        let shared = Shared {
            driver: Arc::clone(driver),
            session,
            project,
            asked,
            korean: found.order.korean,
            environment,
            exchange: Exchange::new(&driver.home, found.run),
            commits: tokio::sync::Mutex::default(),
            running: Mutex::default(),
        };
        Some(Conductor {
            shared: Arc::new(shared),
            tasks: JoinSet::new(),
            said: Mutex::default(),
            outside: Outside::default(),
        })
    }

    async fn conduct(&mut self) -> Outcome {
        self.catch_up().await;
        let mut changed = self.shared.driver.journal.watch();
        loop {
            let wishes = self.shared.wishes();
            match self.turn().await {
                Turn::Again => {}
                Turn::End(outcome) => return outcome,
                Turn::Wait => self.wait(&wishes, &mut changed).await,
            }
            while let Some(ended) = self.tasks.try_join_next() {
                self.left(ended.ok());
            }
        }
    }

    /// Until a task has ended, something else is wanted of the loop, or the files may have changed. What happens to all
    /// others is no reason to read them again.
    async fn wait(&mut self, wishes: &Wishes, changed: &mut watch::Receiver<u64>) {
        let mut look = pin!(sleep(LOOK));
        loop {
            tokio::select! {
                Some(ended) = self.tasks.join_next(), if !self.tasks.is_empty() => return self.left(ended.ok()),
                happened = changed.changed() => {
                    if happened.is_err() || self.shared.wishes() != *wishes {
                        return;
                    }
                }
                () = &mut look => return,
            }
        }
    }

    fn left(&self, task: Option<TaskId>) {
        if let Some(task) = task {
            self.shared.running.lock().expect("nobody panics while holding it").remove(&task);
        }
    }

    /// Tasks that were over when the last server ended before it could say so.
    async fn catch_up(&self) {
        let Some(facts) = self.shared.facts() else { return };
        let shared = Arc::clone(&self.shared);
        let states = blocking(move || shared.project.state().ok().flatten().map(|state| state.tasks())).await;
        let Some(states) = states.flatten() else { return };
        self.take_away(&facts, &states).await;
        for (task, begun) in facts.tasks.iter().filter(|(_, begun)| begun.line.is_none()) {
            let Ok(id) = task.parse::<TaskId>() else { continue };
            let line = match states.get(&id) {
                Some(State::Completed) => Thin::done(id).to_string(),
                Some(State::Failed) => Thin::fail(id, "it has failed").to_string(),
                _ => continue,
            };
            let over = begun.runs.iter().filter_map(|run| facts.over.get(run));
            let (tries, worked_ms) =
                over.fold((0, 0), |(tries, worked), it| (tries + it.tries, worked + it.worked_ms));
            self.shared.moved(Step::TaskEnded { task: task.clone(), line, worked_ms, tries }).await;
        }
    }

    /// Takes worktrees of tasks away that are done, which the last server could not any more.
    async fn take_away(&self, facts: &Loop, states: &BTreeMap<TaskId, State>) {
        let shared = Arc::clone(&self.shared);
        if !shared.config().is_ok_and(|config| config.orchestrate.worktrees == Worktrees::Task) {
            return;
        }
        let begun = facts.tasks.keys().filter_map(|task| task.parse::<TaskId>().ok());
        let done: Vec<TaskId> = begun.filter(|id| states.get(id) == Some(&State::Completed)).collect();
        blocking(move || {
            let ground = shared.ground();
            for id in done {
                // What cannot be taken away now stays; its work is merged.
                ground.remove_task(&task::worktree_of(&id)).ok();
            }
        })
        .await;
    }

    /// Looks once, and does what is to be done.
    async fn turn(&mut self) -> Turn {
        if self.shared.is_cancelled() {
            // Those who do its tasks see that too, and give them back.
            return if self.tasks.is_empty() { Turn::End(Outcome::Cancelled) } else { Turn::Wait };
        }
        let Some(facts) = self.shared.facts() else { return Turn::End(Outcome::Cancelled) };
        if let Some(card) = facts.card.clone() {
            return self.heed(&card).await;
        }
        if self.shared.is_paused() {
            return Turn::Wait;
        }
        let looked = match self.look(&facts).await {
            Ok(looked) => looked,
            Err(hindrance) => return self.ask(About::Hindered { message: hindrance.message() }).await,
        };
        let worktree = |phase: u32| facts.phases.get(&phase).and_then(|stage| stage.worktree.clone());
        for task in &looked.abandoned {
            self.begin(task.clone(), worktree(task.phase));
        }
        match looked.next {
            Next::Begin(_) => match self.choose(looked).await {
                Ok(tasks) => {
                    for task in tasks {
                        let worktree = worktree(task.phase);
                        self.begin(task, worktree);
                    }
                    Turn::Wait
                }
                Err(message) => self.ask(About::Hindered { message }).await,
            },
            Next::Prepare(phase) => self.prepare(phase, &looked.places).await,
            // Nobody takes anything from under the feet of who works.
            Next::Close(_) | Next::Done if !self.tasks.is_empty() => Turn::Wait,
            Next::Close(phase) => {
                let title = looked.titles.iter().find(|it| it.0 == phase).map(|it| it.1.clone());
                close::turn(&self.shared, phase, &title.unwrap_or_default()).await
            }
            Next::Wait => Turn::Wait,
            Next::Ask(about) => self.ask(about).await,
            Next::Done => Turn::End(Outcome::Completed { verified: true }),
            Next::Refuse(line) => {
                Turn::End(Outcome::Failed { reason: Reason::Reported { message: line.to_string() } })
            }
        }
    }

    async fn look(&self, facts: &Loop) -> Result<Look, Hindrance> {
        let shared = Arc::clone(&self.shared);
        let stages = facts.phases.clone();
        let ours: BTreeSet<TaskId> =
            shared.running.lock().expect("nobody panics while holding it").keys().cloned().collect();
        let said = self.said.lock().expect("nobody panics while holding it").clone();
        let looked = blocking(move || {
            let asked = &shared.asked;
            let outside = shared.config().is_ok_and(|config| config.orchestrate.resolver.is_some());
            look(&shared.project, asked, &stages, &ours, said.as_deref(), outside, shared.now_ms())
        })
        .await;
        if let Some(Ok(Look { line: Some(line), .. })) = &looked {
            let before = self.said.lock().expect("nobody panics while holding it").replace(line.clone());
            if before.as_ref() != Some(line) {
                self.shared.resolved(line);
            }
        }
        let panicked = || {
            let error = std::io::Error::other("the files could not be looked at");
            Hindrance::State(ostler_orchestrate::StateError::Unreadable(error))
        };
        looked.unwrap_or_else(|| Err(panicked()))
    }

    /// What begins now, of all that can. A resolver of somebody else's is asked once more if its answer is none.
    async fn choose(&mut self, looked: Look) -> Result<Vec<Place>, String> {
        let Some(resolver) = self.shared.config()?.orchestrate.resolver else { return Ok(looked.begin) };
        let running: BTreeSet<TaskId> =
            self.shared.running.lock().expect("nobody panics while holding it").keys().cloned().collect();
        if self.outside.waits_for.as_ref() == Some(&running) {
            return Ok(Vec::new());
        }
        self.outside.waits_for = None;
        self.outside.asked += 1;
        let number = self.outside.asked;
        let said = self.shared.ask_resolver(&resolver, &looked.ready, !running.is_empty(), number).await;
        let was_refused = std::mem::replace(&mut self.outside.was_refused, said.is_err());
        match said {
            Ok(Wanted::Begin(ids)) => {
                let places = ids.iter().filter_map(|id| looked.ready.iter().find(|place| place.id == *id));
                Ok(places.take(looked.begin.len()).cloned().collect())
            }
            Ok(Wanted::Wait) => {
                self.outside.waits_for = Some(running);
                Ok(Vec::new())
            }
            // Who is not understood is asked again, at once if nobody works, and else when something has changed.
            Err(_) if !running.is_empty() => {
                self.outside.waits_for = Some(running);
                Ok(Vec::new())
            }
            Err(_) if !was_refused => Ok(Vec::new()),
            Err(message) => {
                self.outside.was_refused = false;
                Err(message)
            }
        }
    }

    fn begin(&mut self, task: Place, worktree: Option<String>) {
        let mut running = self.shared.running.lock().expect("nobody panics while holding it");
        if running.contains_key(&task.id) {
            return;
        }
        let is_free = |number: &u32| running.values().all(|it| it.number != *number);
        let number = (1..=u32::MAX).find(is_free).unwrap_or_default();
        running.insert(task.id.clone(), Running { files: task.files.clone(), number });
        drop(running);
        let (shared, id) = (Arc::clone(&self.shared), task.id.clone());
        self.tasks.spawn(async move {
            task::carry_out(shared, task, worktree).await;
            id
        });
    }

    /// Makes the place of a phase.
    async fn prepare(&self, phase: u32, places: &[(u32, Option<String>)]) -> Turn {
        let name = places.iter().find(|it| it.0 == phase).and_then(|it| it.1.clone());
        crash::site("before prepare phase");
        let shared = Arc::clone(&self.shared);
        let made = blocking(move || {
            let made = match &name {
                Some(name) => shared.ground().prepare(name)?,
                None => None,
            };
            enter(&shared.project, phase, made.as_deref(), shared.now_ms())
                .map_err(|error| error.to_string())?;
            Ok::<_, String>(made)
        });
        let worktree = match made.await.unwrap_or_else(|| Err("the worktree could not be made".to_owned())) {
            Ok(made) => made,
            Err(message) => return self.ask(About::Hindered { message }).await,
        };
        if let Some(worktree) = &worktree {
            match close::set_up(&self.shared, &phase.to_string(), worktree).await {
                Ok(true) => {}
                Ok(false) => return Turn::Again,
                Err(message) => return self.ask(About::Hindered { message }).await,
            }
        }
        // What was there before, and what the set-up has left, is no task's work.
        let (shared, place) = (Arc::clone(&self.shared), worktree.clone());
        let foreign = blocking(move || {
            let ground = shared.ground();
            let place = place.map_or_else(|| ground.root.clone(), |place| ground.root.join(place));
            ground.foreign(&place)
        });
        let foreign = match foreign.await.unwrap_or_else(|| Err("the place cannot be looked at".to_owned())) {
            Ok(foreign) => foreign,
            Err(message) => return self.ask(About::Hindered { message }).await,
        };
        crash::site("after prepare phase");
        self.shared.moved(Step::PhaseBegun { phase, worktree, foreign }).await;
        Turn::Again
    }

    async fn ask(&self, about: About) -> Turn {
        if !self.tasks.is_empty() {
            return Turn::Wait;
        }
        ask(&self.shared, about).await;
        Turn::Again
    }

    /// Does what a person has said, or sees that the question has settled itself.
    async fn heed(&self, card: &Card) -> Turn {
        let Some(answer) = &card.answer else {
            if self.still_asks(card).await {
                return Turn::Wait;
            }
            self.shared.report(News::Withdrawn(card.request)).await;
            return Turn::Again;
        };
        let choice = match answer {
            Answer::Text { text } | Answer::Remarked { text, .. } => Choice::of(text),
            _ => None,
        };
        crash::site("before heed");
        if let (About::Blocked { phase, tasks }, Some(choice)) = (card.about.clone(), choice) {
            let (shared, phase, tasks) = (Arc::clone(&self.shared), phase, tasks);
            blocking(move || decide_tasks(&shared, phase, &tasks, choice)).await;
        }
        crash::site("after heed");
        if choice == Some(Choice::Stop) {
            let message = "a person has ended it".to_owned();
            return Turn::End(Outcome::Failed { reason: Reason::Reported { message } });
        }
        self.shared.moved(Step::Settled { request: card.request, choice }).await;
        Turn::Again
    }

    /// Whether what a person was asked is still the question: somebody may have put it right in the meantime.
    async fn still_asks(&self, card: &Card) -> bool {
        let Some(mut facts) = self.shared.facts() else { return true };
        facts.card = None;
        match &card.about {
            About::Blocked { .. } => {
                let looked = self.look(&facts).await;
                looked.is_ok_and(|it| it.next == Next::Ask(card.about.clone()))
            }
            About::Red { phase, .. } | About::Unmerged { phase, .. } => {
                let Some(stage) = facts.phases.get(phase).cloned() else { return false };
                let (shared, phase, about) = (Arc::clone(&self.shared), *phase, card.about.clone());
                blocking(move || close::still_asks(&shared.ground(), phase, &stage, &about))
                    .await
                    .unwrap_or(true)
            }
            About::Hindered { message } => {
                let looked = self.look(&facts).await;
                // What was wrong with the files shows by looking; everything else has to be said.
                looked.map_or_else(|now| now.message() == *message, |_| !message.starts_with("ERROR:"))
            }
        }
    }
}

async fn ask(shared: &Shared, about: About) {
    let question = words::question(&about, &shared.facts().unwrap_or_default(), shared.korean);
    shared.report(News::Ask { about, question }).await;
}

/// What a person said about tasks that have failed. Who came first with another decision is left alone.
fn decide_tasks(shared: &Shared, phase: u32, tasks: &[String], choice: Choice) {
    let wanted = match choice {
        Choice::Retry => Wish::Retry,
        Choice::Skip => Wish::Skip,
        Choice::Close => {
            give_up(&shared.project, phase, shared.now_ms()).ok();
            return;
        }
        Choice::Merge | Choice::Stop => return,
    };
    let states = shared.project.state().ok().flatten().map(|state| state.tasks()).unwrap_or_default();
    let ids = tasks.iter().filter_map(|task| task.parse::<TaskId>().ok());
    for id in ids.filter(|id| states.get(id) == Some(&State::Failed)) {
        wish(&shared.project, &id, wanted, shared.now_ms()).ok();
    }
}
