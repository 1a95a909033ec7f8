//! What is settled and what can run, kept up to date: a completion looks at its successors and at nothing else.

use alloc::{collections::BTreeSet, vec::Vec};

use serde::Serialize;

use super::task::{Plan, Priority, TaskNumber, small};

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not begun.
    Pending,
    /// Somebody does it.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Failed,
    /// A person decided to do without it.
    Skipped,
}

/// How far all tasks of a plan are.
#[derive(Debug, Clone)]
pub struct Progress<'a> {
    plan: &'a Plan,
    states: Vec<State>,
    /// Of each node: how many before it are not settled.
    open: Vec<u32>,
    ready: BTreeSet<(Priority, TaskNumber)>,
    running: BTreeSet<TaskNumber>,
    failed: BTreeSet<TaskNumber>,
    preferred: BTreeSet<TaskNumber>,
    /// Of each phase: how many of its tasks are not settled.
    unsettled: Vec<u32>,
}

impl State {
    /// Whether those behind it may go on.
    pub fn is_settled(self) -> bool {
        matches!(self, State::Completed | State::Skipped)
    }
}

impl<'a> Progress<'a> {
    /// As the file has it.
    pub fn new(plan: &'a Plan) -> Progress<'a> {
        Progress::with(plan, |_| State::Pending)
    }

    /// As somebody else has it. What the file marks as done is done, whatever others say.
    pub fn with(plan: &'a Plan, state_of: impl Fn(TaskNumber) -> State) -> Progress<'a> {
        let state =
            |task: super::Task<'_>| if task.is_done() { State::Completed } else { state_of(task.number()) };
        Progress::of(plan, plan.tasks().map(state).collect())
    }

    /// As if nothing had been done, whatever the file marks: for questions about the whole of it.
    pub fn unmarked(plan: &'a Plan) -> Progress<'a> {
        Progress::of(plan, alloc::vec![State::Pending; plan.len()])
    }

    fn of(plan: &'a Plan, states: Vec<State>) -> Progress<'a> {
        let mut progress = Progress {
            plan,
            open: plan.graph.before().to_vec(),
            ready: BTreeSet::new(),
            running: with_state(&states, State::InProgress),
            failed: with_state(&states, State::Failed),
            preferred: BTreeSet::new(),
            unsettled: alloc::vec![0; plan.phases.len()],
            states,
        };
        for node in 0..small(plan.graph.len()) {
            let is_task = plan.graph.is_task(node);
            if is_task && !progress.states[node as usize].is_settled() {
                let phase = progress.phase_index(TaskNumber(node));
                progress.unsettled[phase] += 1;
            } else if is_task || plan.graph.before()[node as usize] == 0 {
                progress.release(node, |_, _| {});
            }
        }
        progress.ready = (0..small(plan.len()))
            .map(TaskNumber)
            .filter(|&task| progress.can_run(task))
            .map(|task| (progress.priority(task), task))
            .collect();
        progress
    }

    /// The plan.
    pub fn plan(&self) -> &'a Plan {
        self.plan
    }

    /// How far a task is.
    pub fn state(&self, task: TaskNumber) -> State {
        self.states[task.index()]
    }

    /// What can run, by priority, then in the order of the file.
    pub fn ready(&self) -> impl Iterator<Item = TaskNumber> {
        self.ready.iter().map(|(_, task)| *task)
    }

    /// Whether nobody has begun it, and nothing stands before it.
    pub fn is_ready(&self, task: TaskNumber) -> bool {
        self.can_run(task)
    }

    /// What somebody does.
    pub fn running(&self) -> impl Iterator<Item = TaskNumber> {
        self.running.iter().copied()
    }

    /// What was given up.
    pub fn failed(&self) -> impl Iterator<Item = TaskNumber> {
        self.failed.iter().copied()
    }

    /// Whether all of a phase is completed or skipped.
    pub fn is_phase_settled(&self, number: u32) -> bool {
        self.plan.phase_place(number).is_some_and(|at| self.unsettled[at] == 0)
    }

    /// What waits, directly or not, for something that was given up; in the order of the file.
    pub fn blocked(&self) -> Vec<TaskNumber> {
        let mut is_blocked = alloc::vec![false; self.plan.graph.len()];
        let mut open: Vec<u32> = self.failed.iter().map(|task| task.0).collect();
        while let Some(node) = open.pop() {
            for &next in self.plan.graph.successors(node) {
                let goes_on = !self.plan.graph.is_task(next) || self.states[next as usize] == State::Pending;
                if goes_on && !core::mem::replace(&mut is_blocked[next as usize], true) {
                    open.push(next);
                }
            }
        }
        (0..small(self.plan.len())).filter(|&node| is_blocked[node as usize]).map(TaskNumber).collect()
    }

    /// Somebody begins a task.
    pub fn start(&mut self, task: TaskNumber) {
        if !self.state(task).is_settled() {
            self.change(task, State::InProgress);
        }
    }

    /// A task is done.
    pub fn complete(&mut self, task: TaskNumber) {
        self.settle(task, State::Completed);
    }

    /// A task is done without.
    pub fn skip(&mut self, task: TaskNumber) {
        self.settle(task, State::Skipped);
    }

    /// A task was given up.
    pub fn fail(&mut self, task: TaskNumber) {
        if !self.state(task).is_settled() {
            self.change(task, State::Failed);
        }
    }

    /// A task that was given up, or that nobody does any more, is to be done again.
    pub fn retry(&mut self, task: TaskNumber) {
        if !self.state(task).is_settled() {
            self.change(task, State::Pending);
        }
    }

    /// A task comes before all others that can run.
    pub fn prefer(&mut self, task: TaskNumber) {
        let was_ready = self.ready.remove(&(self.priority(task), task));
        self.preferred.insert(task);
        if was_ready {
            self.ready.insert((self.priority(task), task));
        }
    }

    fn settle(&mut self, task: TaskNumber, state: State) {
        if self.state(task).is_settled() {
            self.states[task.index()] = state;
            return;
        }
        self.change(task, state);
        let phase = self.phase_index(task);
        self.unsettled[phase] -= 1;
        self.release(task.0, |progress, freed| {
            progress.ready.insert((progress.priority(freed), freed));
        });
    }

    fn change(&mut self, task: TaskNumber, state: State) {
        match self.states[task.index()] {
            State::Pending => {
                self.ready.remove(&(self.priority(task), task));
            }
            State::InProgress => {
                self.running.remove(&task);
            }
            State::Failed => {
                self.failed.remove(&task);
            }
            State::Completed | State::Skipped => {}
        }
        self.states[task.index()] = state;
        match state {
            State::Pending if self.can_run(task) => {
                self.ready.insert((self.priority(task), task));
            }
            State::InProgress => {
                self.running.insert(task);
            }
            State::Failed => {
                self.failed.insert(task);
            }
            State::Pending | State::Completed | State::Skipped => {}
        }
    }

    /// Goes on from a settled node through the junctions behind it.
    fn release(&mut self, node: u32, free: impl Fn(&mut Self, TaskNumber)) {
        let graph = &self.plan.graph;
        let mut last = Some(node);
        // Junctions behind junctions; a task rarely has one.
        let mut more = Vec::new();
        while let Some(node) = last.take().or_else(|| more.pop()) {
            for &next in graph.successors(node) {
                self.open[next as usize] -= 1;
                if self.open[next as usize] > 0 {
                    continue;
                }
                if !graph.is_task(next) {
                    more.push(next);
                } else if self.states[next as usize] == State::Pending {
                    free(self, TaskNumber(next));
                }
            }
        }
    }

    fn can_run(&self, task: TaskNumber) -> bool {
        self.state(task) == State::Pending && self.open[task.index()] == 0
    }

    fn priority(&self, task: TaskNumber) -> Priority {
        if self.preferred.contains(&task) { Priority::First } else { self.plan.entry(task).priority }
    }

    fn phase_index(&self, task: TaskNumber) -> usize {
        self.plan.phase_place(self.plan.entry(task).phase.number).unwrap_or_default()
    }
}

fn with_state(states: &[State], wanted: State) -> BTreeSet<TaskNumber> {
    let numbers = (0..small(states.len())).map(TaskNumber);
    numbers.zip(states).filter(|(_, state)| **state == wanted).map(|(task, _)| task).collect()
}
