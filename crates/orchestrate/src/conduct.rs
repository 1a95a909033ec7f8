//! What a main loop asks of the files: what to do next, and what it puts down itself. Executing is in [`crate::exec`].

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use ostler_engine::{
    graph::GroupFacts,
    orchestrate::{About, LoopSpec, NextStep, ready},
    plan::{Plan, Progress, State as TaskState, Task, TaskNumber, obstacle},
};
use ostler_protocol::{
    name::TaskId,
    thin::{ErrorCode, Thin},
};

use crate::{
    exec::{Ended, Over, Start, Work, begins, end_all, is_abandoned, patiently, put_down, said},
    executor_log::NoteEntry,
    log::LogEntry,
    project::Project,
    resolve::log_refusal,
    state::{State, StateError},
    wish::{self, WishError},
};

/// What was found in the files.
#[derive(Debug)]
pub struct Look {
    /// What is to be done.
    pub next: NextStep,
    /// The tasks of it, if some are to be begun.
    pub begin: Vec<Place>,
    /// Those of them that are begun by now.
    pub begun: BTreeMap<TaskId, Arc<Work>>,
    /// All that could be begun now, whether or not there is room; where somebody else is asked.
    pub ready: Vec<Place>,
    /// Tasks in progress that nobody works on any more.
    pub abandoned: Vec<Place>,
    /// The name of the place of each phase, from phase 1 on.
    pub places: Vec<(u32, Option<String>)>,
    /// What a resolver would have said.
    pub line: Option<String>,
    /// The titles of the phases.
    pub titles: Vec<(u32, String)>,
}

/// A task, and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The task.
    pub id: TaskId,
    /// What it is called.
    pub title: String,
    /// Its phase.
    pub phase: u32,
    /// The files that it declares.
    pub files: Vec<String>,
}

/// Why a loop cannot go on by itself.
#[derive(Debug)]
pub enum Hindrance {
    /// The task file cannot be worked with.
    Line(Thin),
    /// The state cannot be used.
    State(StateError),
}

impl Hindrance {
    /// One line of the thin dialect, or what the system said.
    pub fn message(&self) -> String {
        match self {
            Hindrance::Line(line) => line.to_string(),
            Hindrance::State(error) => {
                error.thin().map_or_else(|| error.to_string(), |line| line.to_string())
            }
        }
    }
}

/// What a main loop knows when it looks at the files.
#[derive(Debug)]
pub struct Question<'a> {
    /// What it was asked.
    pub asked: &'a LoopSpec,
    /// The phases that it has come to.
    pub stages: &'a BTreeMap<u32, GroupFacts>,
    /// What it has under way.
    pub ours: &'a BTreeSet<TaskId>,
    /// What was not put down yet: that comes before everything else.
    pub over: &'a [Over],
    /// What was said last, which is not said again.
    pub said: Option<&'a str>,
    /// Who decides what begins, and how.
    pub begins: Begins,
}

/// Who decides what of all that can begin does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begins {
    /// The loop, which begins it at once. Whoever does it is told in this language.
    Now {
        /// In Korean rather than in English.
        is_korean: bool,
    },
    /// The loop, which makes a place for each first.
    Later,
    /// Somebody else is asked. What can be begun is not said at all.
    Outside,
}

/// What came of a look.
#[derive(Debug)]
pub struct Looked {
    /// How all that was put down has ended, in its order.
    pub ended: Vec<Ended>,
    /// What was found.
    pub found: Result<Look, Hindrance>,
}

impl Question<'_> {
    /// What a resolver is asked.
    fn line(&self) -> Thin {
        Thin::ResolveNext { phase: self.asked.phase, groups: false, force: false }
    }
}

/// Puts down what is over, reads the files, says what is to be done, and begins what can begin: everything that happens at
/// the same moment is written once. The answer stands in the log as a resolver's would, and the resolver's parts of the
/// state are written; while there is nothing to do but to wait, nothing is.
pub fn look(project: &Project, question: &Question<'_>, at_ms: u64) -> Looked {
    let hindered = |hindrance: Hindrance| {
        let message = hindrance.message();
        if question.said != Some(message.as_str()) {
            log_refusal(project, at_ms, &[question.line().to_string(), message]);
        }
        Looked { ended: end_all(project, question.over, at_ms), found: Err(hindrance) }
    };
    let plan = match project.plan() {
        Err(error) => return hindered(Hindrance::Line(error.thin())),
        Ok((plan, name)) => match plan.problems().first() {
            Some(problem) => return hindered(Hindrance::Line(problem.thin(&name))),
            None => plan,
        },
    };
    let begin = || State::new(&project.name(), &plan, at_ms);
    let mut state = match project.known_state() {
        Ok(state) => state.unwrap_or_else(|| Arc::new(begin())),
        Err(error) => return hindered(Hindrance::State(error)),
    };
    question.over.iter().for_each(|it| it.write(Arc::make_mut(&mut state)));
    let looked = of(project, &state.progress(&plan), &state, question);
    if looked.next == NextStep::Wait && looked.abandoned.is_empty() && question.over.is_empty() {
        return Looked { ended: Vec::new(), found: Ok(looked) };
    }
    let mut starts = Starts::of(project, &plan, &looked, question);
    let mut change = || {
        project.change_state(at_ms, begin, |state| {
            let mut lines = put_down(project, Some(&plan), question.over, state);
            let mut progress = state.progress(&plan);
            let mut looked = of(project, &progress, state, question);
            if question.begins == Begins::Outside && matches!(looked.next, NextStep::Begin(_)) {
                looked.line = None;
            }
            let asked = question.line();
            let said = looked.line.iter().filter(|line| question.said != Some(line.as_str()));
            lines.extend(said.flat_map(|line| [asked.to_string().into(), LogEntry::Line(line.clone())]));
            looked.begun = starts.take_up(&looked.next, &mut progress, state, at_ms);
            lines.extend(looked.begun.values().flat_map(|work| begins(project, state, work)));
            state.resolved(&progress);
            state.measured(&progress);
            (looked, lines)
        })
    };
    // Work that is done is worth a longer wait.
    let changed = if question.over.is_empty() { change() } else { patiently(change) };
    let ended = said(project, question.over, changed.as_ref().err(), at_ms);
    Looked { ended, found: changed.map_err(Hindrance::State) }
}

/// What can begin as soon as somebody holds the lock.
struct Starts<'a> {
    project: &'a Project,
    is_korean: bool,
    by_number: BTreeMap<TaskNumber, Start<'a>>,
}

impl<'a> Starts<'a> {
    fn of(project: &'a Project, plan: &'a Plan, looked: &Look, question: &'a Question<'_>) -> Starts<'a> {
        let mut starts = Starts { project, is_korean: false, by_number: BTreeMap::new() };
        let (NextStep::Begin(tasks), Begins::Now { is_korean }) = (&looked.next, question.begins) else {
            return starts;
        };
        starts.is_korean = is_korean;
        for task in tasks.iter().map(|task| plan.task(*task)) {
            let stage = question.stages.get(&task.phase());
            let worktree = stage.and_then(|stage| stage.worktree.as_deref()).map(Path::new);
            // Whoever has no place is told so when its own turn comes.
            if let Ok(start) = Start::of(project, task, worktree) {
                starts.by_number.insert(task.number(), start);
            }
        }
        starts
    }

    /// Begins those that can still begin. What has come up only now begins later, in its own time.
    fn take_up(
        &mut self,
        next: &NextStep,
        progress: &mut Progress<'_>,
        state: &mut State,
        at_ms: u64,
    ) -> BTreeMap<TaskId, Arc<Work>> {
        let NextStep::Begin(tasks) = next else { return BTreeMap::new() };
        let mut begun = BTreeMap::new();
        for task in tasks {
            let Some(start) = self.by_number.remove(task) else { continue };
            if let Ok(work) = start.take_up(self.project, progress, state, self.is_korean, at_ms) {
                progress.start(*task);
                begun.insert(work.id.clone(), Arc::new(work));
            }
        }
        begun
    }
}

fn of(project: &Project, progress: &Progress<'_>, state: &State, question: &Question<'_>) -> Look {
    let plan = progress.plan();
    // Those that are about to be begun are not in the state yet.
    let ours = question.ours.iter().filter_map(|id| plan.find(id.as_str())).map(Task::number);
    let coming: Vec<TaskNumber> = ours.filter(|task| progress.state(*task) == TaskState::Pending).collect();
    let mut progress = Cow::Borrowed(progress);
    for task in coming {
        progress.to_mut().start(task);
    }
    let stages = question.stages;
    let prepared = stages.keys().copied().collect();
    // Whoever else records a phase knows nothing of what the loop has in its place: that is tested and merged all the same.
    let mut closed = state.checkpoints();
    closed.retain(|phase| stages.get(phase).is_none_or(|stage| stage.ended_at_ms.is_some()));
    let next = match ready(&progress, &closed, &prepared, question.ours.len(), question.asked) {
        // What an earlier loop, or somebody else, has done there is tested and merged before the phase is over.
        NextStep::Close(phase) if !stages.contains_key(&phase) && has_place(project, plan, phase) => {
            NextStep::Prepare(phase)
        }
        next => next,
    };
    let begin = match &next {
        NextStep::Begin(tasks) => tasks.iter().map(|task| place(plan.task(*task))).collect(),
        _ => Vec::new(),
    };
    let ready = match &next {
        NextStep::Begin(tasks) if question.begins == Begins::Outside => {
            let phase = tasks.first().map(|task| plan.task(*task).phase());
            let of_phase =
                progress.ready().map(|task| plan.task(task)).filter(|it| Some(it.phase()) == phase);
            of_phase.filter(|task| obstacle(&progress, task.number()).is_none()).map(place).collect()
        }
        _ => Vec::new(),
    };
    let running = progress.running().map(|task| plan.task(task));
    let abandoned = running.filter(|task| {
        let id = task.id();
        !question.ours.contains(&id) && state.note(&id).is_some_and(|note| is_abandoned(&note))
    });
    let abandoned = abandoned.map(place).collect();
    let own_place = |number: u32| number > 0;
    let phases = plan.phases();
    Look {
        line: line(plan, &next),
        next,
        begin,
        begun: BTreeMap::new(),
        ready,
        abandoned,
        places: phases.iter().map(|it| (it.number, own_place(it.number).then(|| it.worktree()))).collect(),
        titles: phases.iter().map(|it| (it.number, it.title.clone().unwrap_or_default())).collect(),
    }
}

/// Whether a phase has a place of its own that stands there already.
fn has_place(project: &Project, plan: &Plan, phase: u32) -> bool {
    let found = plan.phases().iter().find(|it| it.number == phase && phase > 0);
    found.is_some_and(|it| project.root().join(it.worktree()).is_dir())
}

fn place(task: Task<'_>) -> Place {
    Place { id: task.id(), title: task.title().into_owned(), phase: task.phase(), files: task.files() }
}

/// What a resolver would have said.
fn line(plan: &Plan, next: &NextStep) -> Option<String> {
    let ids = |tasks: &[TaskNumber]| tasks.iter().map(|task| plan.task(*task).id()).collect();
    match next {
        NextStep::Begin(tasks) => Thin::ready(vec![ids(tasks)]).map(|line| line.to_string()),
        NextStep::Close(phase) => Some(Thin::PhaseDone { phase: *phase }.to_string()),
        NextStep::Done => Some(Thin::AllDone {}.to_string()),
        NextStep::Refuse(line) => Some(line.to_string()),
        NextStep::Ask(About::Blocked { tasks, .. }) => {
            Some(Thin::error(ErrorCode::Blocked, Some(&tasks.join(","))).to_string())
        }
        NextStep::Prepare(_) | NextStep::Wait | NextStep::Ask(_) => None,
    }
}

/// Writes that a phase is worked on, and where.
pub fn enter(project: &Project, phase: u32, worktree: Option<&str>, at_ms: u64) -> Result<(), StateError> {
    project.change_state(
        at_ms,
        || unknown(project, at_ms),
        |state| {
            state.enter(phase, worktree, at_ms);
            ((), Vec::new())
        },
    )
}

/// Records the checkpoint of a phase whose tasks are settled; the commit that has it, if it was merged.
pub fn record(project: &Project, phase: u32, merged: Option<&str>, at_ms: u64) -> Result<(), WishError> {
    let is_recorded = project
        .state()
        .ok()
        .flatten()
        .is_some_and(|state| state.checkpoints().contains(&phase) && state.is_merged(phase, merged));
    if is_recorded {
        return Ok(());
    }
    wish::close(project, phase, false, at_ms)?;
    project
        .change_state(
            at_ms,
            || unknown(project, at_ms),
            |state| {
                state.merged(phase, merged);
                ((), Vec::new())
            },
        )
        .map_err(WishError::State)
}

/// A task that was begun is given back: nobody works on it, and it has not failed. Where the state cannot be used, the log
/// has it.
pub fn release(project: &Project, work: &Work, at_ms: u64) -> Result<(), StateError> {
    let remains = work.remains();
    let entry = || vec![LogEntry::Noted(NoteEntry::of(&work.id, remains.clone()))];
    let released = project.change_state(
        at_ms,
        || unknown(project, at_ms),
        |state| {
            if state.note(&work.id).is_none_or(|note| !note.is_about(&work.key)) {
                return ((), Vec::new());
            }
            state.executed(&work.id, TaskState::Pending);
            state.set_note(&work.id, remains.as_deref());
            ((), entry())
        },
    );
    match released {
        Err(StateError::Corrupt { .. } | StateError::Unreadable(_)) => project.log_alone(at_ms, entry),
        released => released,
    }
}

pub(crate) fn unknown(project: &Project, at_ms: u64) -> State {
    State::new(&project.name(), &Plan::read(Vec::new()), at_ms)
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::PathBuf};

    use super::*;

    const TASKS: &str = "## Phase 0: All\n\n- [ ] T0.1: a\n- [ ] T0.2: b\n- [ ] T0.3: c\n- [ ] T0.4: d\n";

    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Place {
            let root = env::temp_dir().join(format!("ostler-conduct-{name}-{}", std::process::id()));
            fs::remove_dir_all(&root).ok();
            fs::create_dir_all(&root).expect("the temporary directory can be written");
            let place = Place(root);
            place.write(TASKS);
            place
        }

        #[expect(clippy::disallowed_methods, reason = "files of a test")]
        fn write(&self, text: &str) {
            fs::write(self.0.join("TASKS.md"), text).expect("a file");
        }

        fn read(&self, name: &str) -> String {
            fs::read_to_string(self.0.join(name)).unwrap_or_default()
        }

        /// What the log has, without its times.
        fn log(&self) -> Vec<String> {
            let line = |line: &str| line.split_once("] ").map(|it| it.1.to_owned()).unwrap_or_default();
            let log = self.read(".claude/orchestrate.log");
            log.lines().map(line).collect()
        }

        fn look(&self, ours: &[&str], over: &[Over], begins: Begins) -> Looked {
            let parallel_max = 2.try_into().expect("two is not nothing");
            let question = Question {
                asked: &LoopSpec { tasks: None, phase: None, parallel_max, agent: None },
                stages: &BTreeMap::from([(0, GroupFacts::default())]),
                ours: &ours.iter().map(|id| id.parse().expect("an id")).collect(),
                over,
                said: None,
                begins,
            };
            look(&Project::find(&self.0, None), &question, 1_000)
        }

        fn state(&self, id: &str) -> Option<TaskState> {
            let state = Project::find(&self.0, None).state().expect("a state").expect("one was written");
            state.tasks().get(&id.parse().expect("an id")).copied()
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).ok();
        }
    }

    const NOW: Begins = Begins::Now { is_korean: false };

    fn begun(looked: &Looked) -> Vec<&str> {
        looked.found.as_ref().expect("a look").begun.keys().map(TaskId::as_str).collect()
    }

    fn over(looked: &Looked, id: &str, ended: Ended) -> Over {
        let id: TaskId = id.parse().expect("an id");
        Over::proven(&looked.found.as_ref().expect("a look").begun[&id], ended)
    }

    #[test]
    fn what_ends_and_what_begins_is_written_at_once() {
        let place = Place::new("at-once");
        let first = place.look(&[], &[], NOW);
        assert_eq!(begun(&first), ["T0.1", "T0.2"]);
        assert!(place.look(&["T0.1", "T0.2"], &[], NOW).found.is_ok_and(|it| it.next == NextStep::Wait));
        let failed = Ended::Failed { reason: "no".to_owned() };
        let ends = [over(&first, "T0.1", Ended::Done), over(&first, "T0.2", failed)];
        let second = place.look(&[], &ends, NOW);
        let ended = [Ended::Done, Ended::Failed { reason: "no".to_owned() }];
        assert_eq!(second.ended, ended);
        assert_eq!(begun(&second), ["T0.3", "T0.4"]);
        assert_eq!(place.read("TASKS.md"), TASKS.replace("[ ] T0.1", "[x] T0.1"));
        let states = ["T0.1", "T0.2", "T0.3", "T0.4"].map(|id| place.state(id));
        let [done, failed, third, fourth] = states;
        assert_eq!((done, failed), (Some(TaskState::Completed), Some(TaskState::Failed)));
        assert_eq!((third, fourth), (Some(TaskState::InProgress), Some(TaskState::InProgress)));
        let log = [
            "RESOLVE_NEXT",
            "READY:T0.1,T0.2",
            "EXECUTE:T0.1",
            "EXECUTE:T0.2",
            "DONE:T0.1",
            "FAIL:T0.2:no",
            "RESOLVE_NEXT",
            "READY:T0.3,T0.4",
            "EXECUTE:T0.3",
            "EXECUTE:T0.4",
        ];
        assert_eq!(place.log(), log);
    }

    #[test]
    fn what_ends_is_put_down_whatever_the_task_file_has_become() {
        let place = Place::new("broken");
        let first = place.look(&[], &[], NOW);
        place.write("## Phase 0\n\n- [ ] T0.1: a\n- [ ] T0.1: again\n");
        let second = place.look(&[], &[over(&first, "T0.1", Ended::Done)], NOW);
        assert_eq!(second.ended, [Ended::Done]);
        assert!(matches!(second.found, Err(Hindrance::Line(_))));
        assert_eq!(place.state("T0.1"), Some(TaskState::Completed));
    }

    #[test]
    fn nothing_begins_where_a_place_is_made_or_somebody_asked_first() {
        let place = Place::new("later");
        let later = place.look(&[], &[], Begins::Later);
        assert_eq!(begun(&later), [""; 0]);
        assert_eq!(place.log(), ["RESOLVE_NEXT", "READY:T0.1,T0.2"]);
        let outside = place.look(&[], &[], Begins::Outside);
        assert_eq!(begun(&outside), [""; 0]);
        assert_eq!(outside.found.expect("a look").ready.len(), 4);
        assert_eq!(place.log().len(), 2, "what somebody else is asked is not said");
        assert_eq!(place.state("T0.1"), None);
    }
}
