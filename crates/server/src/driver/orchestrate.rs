//! The conductor of a loop through a task file: looks at the files, asks the engine what is next, does it, and looks again.
//!
//! It holds nothing that it would miss: what it has done stands in the journal, in the state file and in git, and every
//! step looks there first. A server that dies anywhere starts it again, for its action is done only when the loop is.

mod before;
mod close;
pub(crate) mod command;
pub(crate) mod exchange;
mod ground;
pub(in crate::driver) mod outside;
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
    graph::{GraphHold, GraphReport, GroupChange, GroupFacts, NodeEffort, NodeState},
    orchestrate::{About, Choice, NextStep, is_verified},
    plan::State,
    run::{Outcome, Reason},
};
use ostler_orchestrate::{
    Begins, Ended, Hindrance, Look, Looked, Over, Place, Question, Wish, Work, end_all, enter, give_up, look,
    wish,
};
use ostler_protocol::{name::TaskId, thin::Thin};
use tokio::{sync::watch, task::JoinSet, time::sleep};

use self::{
    exchange::Exchange,
    ground::Prepared,
    outside::Wanted,
    shared::{Desk, HandedIn, Running, Shared, Wishes},
    task::Left,
};
use super::{
    Driver,
    executor::{NOT_CONCLUDED, Parent, blocking},
};
use crate::{config::orchestrate::Worktrees, crash};

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
        let report = Box::new(GraphReport::Finished(outcome));
        let input = Input::GraphReported { session, report };
        while driver.journal.submit(input.clone(), Some(name)).await.is_err() {
            sleep(AGAIN).await;
        }
    });
}

struct Conductor {
    shared: Arc<Shared>,
    tasks: JoinSet<Left>,
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

/// Who is to be begun, and the work of those who are.
type Chosen = (Vec<Place>, BTreeMap<TaskId, Arc<Work>>);

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
        let world = driver.journal.world();
        let found = world.sessions.get(&session).cloned()?;
        let asked = world.graph_of(session)?.task_file().clone();
        drop(world);
        let shared = Shared {
            parent: Parent::of(driver, &found, asked.tasks.as_ref().map(Path::new)),
            session,
            asked,
            exchange: Exchange::new(&driver.home, found.run),
            commits: tokio::sync::Mutex::default(),
            running: Mutex::default(),
            desk: Desk::default(),
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
                () = self.shared.desk.called() => return,
                Some(ended) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    let is_known = matches!(ended, Ok(Left { is_known: true, .. }));
                    self.left(ended.ok());
                    // Its end was looked at, with all that follows from it but for the end of a phase.
                    if !is_known || self.tasks.is_empty() {
                        return;
                    }
                }
                happened = changed.changed() => {
                    if happened.is_err() || self.shared.wishes() != *wishes {
                        return;
                    }
                }
                () = &mut look => return,
            }
        }
    }

    fn left(&self, left: Option<Left>) {
        // What the conductor knows the end of may have been begun again since.
        if let Some(Left { id, is_known: false }) = left {
            self.shared.running.lock().expect("nobody panics while holding it").remove(&id);
        }
    }

    /// Says of work that was handed in what came of putting it down.
    fn put_down(&self, handed_in: Vec<HandedIn>, ended: Vec<Ended>) {
        if handed_in.is_empty() {
            return;
        }
        crash::site("after end task");
        let mut running = self.shared.running.lock().expect("nobody panics while holding it");
        let mut ended = ended.into_iter();
        for it in handed_in {
            running.remove(it.over.id());
            let ended = ended.next().unwrap_or_else(|| Ended::failed(NOT_CONCLUDED));
            self.shared.exchange.line(&ended.line(it.over.id()).to_string());
            it.put_down(ended);
        }
    }

    /// Puts down what was handed in, and nothing else.
    async fn end_all(&self, handed_in: Vec<HandedIn>) {
        if handed_in.is_empty() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let over: Vec<Over> = handed_in.iter().map(|it| it.over.clone()).collect();
        let ended = blocking(move || end_all(&shared.project, &over, shared.now_ms())).await;
        self.put_down(handed_in, ended.unwrap_or_default());
    }

    /// Tasks that were over when the last server ended before it could say so.
    async fn catch_up(&self) {
        let shared = Arc::clone(&self.shared);
        let states = blocking(move || shared.project.state().ok().flatten().map(|state| state.tasks())).await;
        let Some(states) = states.flatten() else { return };
        self.take_away(&states).await;
        for node in self.shared.nodes(Some(NodeState::Running)) {
            let Ok(id) = node.key.parse::<TaskId>() else { continue };
            let ended = match states.get(&id) {
                Some(State::Completed) => Ended::Done,
                Some(State::Failed) => Ended::failed("it has failed"),
                _ => continue,
            };
            let mut effort = NodeEffort::default();
            node.uncounted().for_each(|(_, summary)| effort.add(NodeEffort::of(summary)));
            self.shared.ended(&id, &ended, effort).await;
        }
    }

    /// Takes worktrees of tasks away that are done, which the last server could not any more.
    async fn take_away(&self, states: &BTreeMap<TaskId, State>) {
        let shared = Arc::clone(&self.shared);
        if !shared.config().is_ok_and(|config| config.orchestrate.worktrees == Worktrees::Task) {
            return;
        }
        let begun = shared.nodes(None).into_iter().filter_map(|node| node.key.parse::<TaskId>().ok());
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
        let handed_in = self.shared.desk.take();
        let card = self.shared.hold();
        let stages = self.shared.groups().filter(|_| !self.shared.is_cancelled());
        if stages.is_none() || card.is_some() || self.shared.is_paused() {
            self.end_all(handed_in).await;
            return match (stages, card) {
                // Those who do its tasks see that too, and give them back.
                (None, _) if !self.tasks.is_empty() => Turn::Wait,
                (None, _) => Turn::End(Outcome::Cancelled),
                (_, Some(card)) => self.heed(&card).await,
                _ => Turn::Wait,
            };
        }
        let stages = stages.unwrap_or_default();
        if let Some(message) = before::stands_in_the_way(&self.shared, &stages).await {
            self.end_all(handed_in).await;
            return self.ask(About::Hindered { message }).await;
        }
        let looked = match self.look(&stages, handed_in, self.shared.begins()).await {
            Ok(looked) => looked,
            Err(hindrance) => return self.ask(About::Hindered { message: hindrance.message() }).await,
        };
        let worktree = |phase: u32| stages.get(&phase).and_then(|stage| stage.worktree.clone());
        let abandoned: Vec<&Place> =
            looked.abandoned.iter().filter(|it| !self.is_of_main_agent(it)).collect();
        // Nobody goes on with a task whose phase has no place yet: its work would be merged into nothing.
        if let Some(task) = abandoned.iter().find(|it| !stages.contains_key(&it.phase)) {
            return self.prepare(task.phase, &looked.places).await;
        }
        for task in abandoned {
            self.begin(task.clone(), worktree(task.phase), None);
        }
        match looked.next {
            NextStep::Begin(_) => match self.choose(looked).await {
                Ok((tasks, mut begun)) => {
                    for task in tasks {
                        let (worktree, work) = (worktree(task.phase), begun.remove(&task.id));
                        self.begin(task, worktree, work);
                    }
                    Turn::Wait
                }
                Err(message) => self.ask(About::Hindered { message }).await,
            },
            NextStep::Prepare(phase) => self.prepare(phase, &looked.places).await,
            // Nobody takes anything from under the feet of who works.
            NextStep::Close(_) | NextStep::Done if !self.tasks.is_empty() => Turn::Wait,
            NextStep::Close(phase) => {
                let title = looked.titles.iter().find(|it| it.0 == phase).map(|it| it.1.clone());
                close::turn(&self.shared, phase, &title.unwrap_or_default()).await
            }
            NextStep::Wait => Turn::Wait,
            NextStep::Ask(about) => self.ask(about).await,
            NextStep::Done => self.done().await,
            NextStep::Refuse(line) => {
                Turn::End(Outcome::Failed { reason: Reason::Reported { message: line.to_string() } })
            }
        }
    }

    /// Whether a main agent waits for a task. It is taken up by who answers that one, also after a crash.
    fn is_of_main_agent(&self, task: &Place) -> bool {
        let asks = |line: &str| matches!(Thin::parse(line), Some(Thin::Task { id, .. }) if id == task.id);
        let world = self.shared.driver.journal.world();
        let project = world.sessions.get(&self.shared.session).map(|it| it.project);
        let mut others = world.sessions.values().filter(|it| Some(it.project) == project && !it.is_over());
        others.any(|it| it.thin.open.values().any(|errand| asks(&errand.line)))
    }

    /// Nothing is left. Who has done nothing but to look has verified nothing.
    async fn done(&self) -> Turn {
        let (project, groups) = (self.shared.project.clone(), self.shared.groups().unwrap_or_default());
        let done = self.shared.nodes(Some(NodeState::Done));
        let look = move || {
            let done = done.iter().map(|node| node.key.as_str());
            project.plan().is_ok_and(|(plan, _)| is_verified(&plan, &groups, done))
        };
        Turn::End(Outcome::Completed { verified: blocking(look).await.unwrap_or(false) })
    }

    /// Looks at the files, and puts down in the same breath what was handed in.
    async fn look(
        &self,
        stages: &BTreeMap<u32, GroupFacts>,
        handed_in: Vec<HandedIn>,
        begins: Begins,
    ) -> Result<Look, Hindrance> {
        let (shared, stages) = (Arc::clone(&self.shared), stages.clone());
        let over: Vec<Over> = handed_in.iter().map(|it| it.over.clone()).collect();
        let mut ours: BTreeSet<TaskId> =
            shared.running.lock().expect("nobody panics while holding it").keys().cloned().collect();
        ours.retain(|id| !over.iter().any(|it| it.id() == id));
        let said = self.said.lock().expect("nobody panics while holding it").clone();
        let looked = blocking(move || {
            let question = Question {
                asked: &shared.asked,
                stages: &stages,
                ours: &ours,
                over: &over,
                said: said.as_deref(),
                begins,
            };
            look(&shared.project, &question, shared.now_ms())
        });
        let Some(Looked { ended, found }) = looked.await else {
            let error = std::io::Error::other("the files could not be looked at");
            self.put_down(handed_in, Vec::new());
            return Err(Hindrance::State(ostler_orchestrate::StateError::Unreadable(error)));
        };
        self.put_down(handed_in, ended);
        if let Err(Hindrance::Line(line)) = &found {
            // It is in the log once, for as long as it is the same.
            *self.said.lock().expect("nobody panics while holding it") = Some(line.to_string());
        }
        if let Ok(Look { line: Some(line), .. }) = &found {
            let before = self.said.lock().expect("nobody panics while holding it").replace(line.clone());
            if before.as_ref() != Some(line) {
                self.shared.resolved(line);
            }
        }
        found
    }

    /// What begins now, of all that can. A resolver of somebody else's is asked once more if its answer is none.
    async fn choose(&mut self, looked: Look) -> Result<Chosen, String> {
        if !looked.begun.is_empty() {
            return Ok((looked.begin, looked.begun));
        }
        let Some(resolver) = self.shared.config()?.orchestrate.resolver.clone() else {
            return Ok((looked.begin, looked.begun));
        };
        // It may take its time.
        self.end_all(self.shared.desk.leave(true)).await;
        let chosen = self.ask_outside(&resolver, &looked).await;
        self.shared.desk.leave(false);
        chosen.map(|tasks| (tasks, BTreeMap::new()))
    }

    async fn ask_outside(&mut self, resolver: &str, looked: &Look) -> Result<Vec<Place>, String> {
        let running: BTreeSet<TaskId> =
            self.shared.running.lock().expect("nobody panics while holding it").keys().cloned().collect();
        if self.outside.waits_for.as_ref() == Some(&running) {
            return Ok(Vec::new());
        }
        self.outside.waits_for = None;
        self.outside.asked += 1;
        let number = self.outside.asked;
        let said = self.shared.ask_resolver(resolver, &looked.ready, !running.is_empty(), number).await;
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

    /// Has a task done; `work` is there if it is begun already.
    fn begin(&mut self, task: Place, worktree: Option<String>, work: Option<Arc<Work>>) {
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
            let is_known = task::carry_out(shared, task, worktree, work).await;
            Left { id, is_known }
        });
    }

    /// Makes the place of a phase.
    async fn prepare(&self, phase: u32, places: &[(u32, Option<String>)]) -> Turn {
        let name = places.iter().find(|it| it.0 == phase).and_then(|it| it.1.clone());
        crash::site("before prepare phase");
        let shared = Arc::clone(&self.shared);
        // Who works in the checkout alone may do that on a detached HEAD.
        let needs_branch = places.iter().any(|it| it.1.is_some());
        let made = blocking(move || {
            let made = shared.ground().prepare(name.as_deref(), needs_branch)?;
            enter(&shared.project, phase, made.worktree.as_deref(), shared.now_ms())
                .map_err(|error| error.to_string())?;
            Ok::<_, String>(made)
        });
        let Prepared { worktree, target } =
            match made.await.unwrap_or_else(|| Err("the worktree could not be made".to_owned())) {
                Ok(made) => made,
                Err(message) => return self.ask(About::Hindered { message }).await,
            };
        let before = match (&worktree, self.changed(worktree.clone()).await) {
            // In a place of its own only the set-up leaves what is nobody's: the rest was done for the phase before.
            (Some(_), Ok(changed)) => changed,
            (None, Ok(_)) => Vec::new(),
            (_, Err(message)) => return self.ask(About::Hindered { message }).await,
        };
        if let Some(worktree) = &worktree {
            match close::set_up(&self.shared, &phase.to_string(), worktree).await {
                Ok(true) => {}
                Ok(false) => return Turn::Again,
                Err(message) => return self.ask(About::Hindered { message }).await,
            }
        }
        // What was there before in the checkout, and what the set-up has left, is no task's work.
        let foreign = match self.changed(worktree.clone()).await {
            Ok(changed) if worktree.is_none() => before::foreign(&self.shared, phase, changed).await,
            Ok(changed) => Ok(changed.into_iter().filter(|file| !before.contains(file)).collect()),
            Err(message) => Err(message),
        };
        let foreign = match foreign {
            Ok(foreign) => foreign,
            Err(message) => return self.ask(About::Hindered { message }).await,
        };
        crash::site("after prepare phase");
        self.shared.changed(phase, GroupChange::Entered { worktree, target, foreign }).await;
        Turn::Again
    }

    /// What is changed now in the place of a phase.
    async fn changed(&self, worktree: Option<String>) -> Result<Vec<String>, String> {
        let shared = Arc::clone(&self.shared);
        let changed = blocking(move || {
            let ground = shared.ground();
            let place = worktree.map_or_else(|| ground.root.clone(), |place| ground.root.join(place));
            ground.foreign(&place)
        });
        changed.await.unwrap_or_else(|| Err("the place cannot be looked at".to_owned()))
    }

    async fn ask(&self, about: About) -> Turn {
        if !self.tasks.is_empty() {
            return Turn::Wait;
        }
        ask(&self.shared, about).await;
        Turn::Again
    }

    /// Does what a person has said, or sees that the question has settled itself.
    async fn heed(&self, card: &GraphHold) -> Turn {
        let Some(answer) = &card.answer else {
            if self.still_asks(card).await {
                return Turn::Wait;
            }
            self.shared.report(GraphReport::Withdrawn(card.request)).await;
            return Turn::Again;
        };
        let choice = match answer {
            Answer::Text { text } | Answer::Chosen { text, .. } | Answer::Remarked { text, .. } => {
                Choice::of(text)
            }
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
        self.shared.report(GraphReport::Settled { request: card.request, choice }).await;
        Turn::Again
    }

    /// Whether what a person was asked is still the question: somebody may have put it right in the meantime.
    async fn still_asks(&self, card: &GraphHold) -> bool {
        let Some(stages) = self.shared.groups() else { return true };
        match &card.about {
            About::Blocked { .. } => {
                let looked = self.look(&stages, Vec::new(), Begins::Later).await;
                looked.is_ok_and(|it| it.next == NextStep::Ask(card.about.clone()))
            }
            About::Red { phase, .. } | About::Unmerged { phase, .. } => {
                let Some(stage) = stages.get(phase).cloned() else { return false };
                let (shared, phase, about) = (Arc::clone(&self.shared), *phase, card.about.clone());
                blocking(move || close::still_asks(&shared.ground(), phase, &stage, &about))
                    .await
                    .unwrap_or(true)
            }
            About::Hindered { message } => {
                let (shared, said) = (Arc::clone(&self.shared), message.clone());
                if let Some(Some(hinders)) = blocking(move || shared.still_hinders(&said)).await {
                    return hinders;
                }
                let looked = self.look(&stages, Vec::new(), Begins::Later).await;
                // What was wrong with the files shows by looking; everything else has to be said.
                looked.map_or_else(
                    |now| now.message() == *message,
                    |_| !matches!(Thin::parse(message), Some(Thin::Error { .. })),
                )
            }
        }
    }
}

async fn ask(shared: &Shared, about: About) {
    let failures = match &about {
        About::Blocked { tasks, .. } => shared.failures(tasks).await,
        About::Red { .. } | About::Unmerged { .. } | About::Hindered { .. } => BTreeMap::new(),
    };
    let groups = shared.groups().unwrap_or_default();
    let question = words::question(&about, &groups, &failures, shared.korean);
    shared.report(GraphReport::Ask { about, question }).await;
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
