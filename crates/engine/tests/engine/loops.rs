//! Whole loops through a task file, by chance: a conductor does what the engine says, forgets everything wherever it
//! stands, and does it again. In the end every task is done once, and every phase is merged once, in its turn and as it
//! was tested.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    num::NonZeroU32,
};

use ostler_engine::{
    Input, RunId, SessionId,
    answer::Answer,
    graph::{
        GraphHold, GraphReport, GraphSpec, GroupChange, GroupFacts, GroupTest, MergeFailure, NodeEffort,
        NodeOutcome,
    },
    orchestrate::{About, Choice, CloseStep, GroupHeads, LoopSpec, NextStep, close, ready},
    plan::{Plan, Progress, State, Task, TaskNumber},
    run::{Outcome, Terms},
};
use ostler_protocol::signal::{QuestionCategory, UserQuestion};

use crate::{
    common::{order, plain, random::Random},
    play::{Play, S},
};

/// More than any loop takes.
const TURNS_MAX: u32 = 4_000;

/// What outlives a server: the journal, the state file, and git.
struct Episode<'a> {
    random: &'a mut Random,
    play: Play,
    plan: &'a Plan,
    states: BTreeMap<TaskNumber, State>,
    closed: BTreeSet<u32>,
    /// The head of the branch of each phase, and which head of the target it has in it.
    branches: BTreeMap<u32, (u32, u32)>,
    target: u32,
    commits: u32,
    merged: Vec<u32>,
    done: Vec<TaskNumber>,
    /// What the conductor alone knows.
    ours: BTreeSet<TaskNumber>,
    /// The last run.
    runs: u64,
    crashes: u32,
}

/// The conductor is no more.
struct Crash;

impl Episode<'_> {
    fn hold(&self) -> Option<GraphHold> {
        self.play.book.world.graph_of(S).expect("it has one").hold.clone()
    }

    fn groups(&self) -> BTreeMap<u32, GroupFacts> {
        let world = &self.play.book.world;
        let graph = world.graph_of(S).expect("it has one").id;
        world.groups_of(graph).map(|group| (group.number, group.facts.clone())).collect()
    }

    /// Maybe the server dies here.
    fn site(&mut self) -> Result<(), Crash> {
        if self.random.once_in(5) { Err(Crash) } else { Ok(()) }
    }

    fn report(&mut self, report: GraphReport) -> Result<(), Crash> {
        self.site()?;
        self.play.now_ms += 1;
        self.play.give(Input::GraphReported { session: S, report: Box::new(report) });
        self.site()
    }

    fn commit(&mut self) -> u32 {
        self.commits += 1;
        self.commits
    }

    /// One turn. True if it was the last.
    fn turn(&mut self, asked: &LoopSpec) -> Result<bool, Crash> {
        if let Some(card) = self.hold() {
            let Some(answer) = card.answer else {
                // Whoever stops has no end to be looked at.
                let choices = card.about.choices().split_last().expect("there are some").1;
                let choice = self.random.one_of(choices).expect("there are some");
                self.play.answer(card.request.0, choice.word());
                return Ok(false);
            };
            let Answer::Text { text } = answer else { panic!("{answer:?}") };
            let choice = Choice::of(&text).expect("it is one of them");
            self.heed(&card.about, choice);
            self.report(GraphReport::Settled { request: card.request, choice: Some(choice) })?;
            return Ok(false);
        }
        let progress = Progress::with(self.plan, |task| self.states[&task]);
        let groups = self.groups();
        let prepared = groups.keys().copied().collect();
        match ready(&progress, &self.closed, &prepared, self.ours.len(), asked) {
            NextStep::Prepare(phase) => {
                let target = self.target;
                self.branches.entry(phase).or_insert((target, target));
                let worktree = Some(format!("worktree/{phase}"));
                let target = Some("main".to_owned());
                self.group(phase, GroupChange::Entered { worktree, target, foreign: Vec::new() })?;
            }
            NextStep::Begin(tasks) => {
                for task in tasks {
                    self.states.insert(task, State::InProgress);
                    self.ours.insert(task);
                    self.site()?;
                }
            }
            NextStep::Wait => self.end_one()?,
            NextStep::Close(phase) => {
                // Nobody who works is left behind.
                assert!(self.ours.is_empty(), "{phase}: {:?}", self.ours);
                self.close(phase, &groups.get(&phase).cloned().unwrap_or_default())?;
            }
            NextStep::Ask(about) => self.ask(about)?,
            NextStep::Done => {
                self.report(GraphReport::Finished(Outcome::Completed { verified: true }))?;
                return Ok(true);
            }
            NextStep::Refuse(line) => panic!("{line}"),
        }
        Ok(false)
    }

    fn ask(&mut self, about: About) -> Result<(), Crash> {
        let question = UserQuestion {
            category: QuestionCategory::Choice,
            question: "What now?".to_owned(),
            options: about.choices().iter().map(|choice| choice.word().to_owned()).collect(),
            default: None,
            required: true,
        };
        self.report(GraphReport::Ask { about, question })
    }

    /// What a person said about tasks; it may be done twice.
    fn heed(&mut self, about: &About, choice: Choice) {
        let About::Blocked { phase, .. } = about else { return };
        let left: Vec<TaskNumber> = match choice {
            Choice::Close => {
                let of_phase = self.plan.tasks().filter(|task| task.phase() == *phase);
                of_phase.map(Task::number).filter(|task| !self.states[task].is_settled()).collect()
            }
            _ => self.states.iter().filter(|it| *it.1 == State::Failed).map(|it| *it.0).collect(),
        };
        let state = if choice == Choice::Retry { State::Pending } else { State::Skipped };
        self.states.extend(left.into_iter().map(|task| (task, state)));
    }

    /// One of those who work comes to an end; whom nobody waits for any more is taken over.
    fn end_one(&mut self) -> Result<(), Crash> {
        let running: Vec<TaskNumber> =
            self.states.iter().filter(|it| *it.1 == State::InProgress).map(|it| *it.0).collect();
        self.ours.extend(&running);
        let task = *self.random.one_of(&running).expect("somebody works");
        let id = self.plan.task(task).name().to_owned();
        self.runs += 1;
        let run = RunId(self.runs + 1_000);
        self.report(GraphReport::Started { key: id.clone(), run })?;
        let (state, outcome) = if self.random.once_in(6) {
            (State::Failed, NodeOutcome::Failed { reason: "no".to_owned() })
        } else {
            let commit = self.commit();
            self.branches.get_mut(&self.plan.task(task).phase()).expect("it was prepared").0 = commit;
            self.done.push(task);
            (State::Completed, NodeOutcome::Done)
        };
        self.states.insert(task, state);
        self.ours.remove(&task);
        let effort = NodeEffort { tries: 1, worked_ms: 1, ..NodeEffort::default() };
        self.report(GraphReport::Ended { key: id, outcome, effort })
    }

    fn group(&mut self, number: u32, change: GroupChange) -> Result<(), Crash> {
        self.report(GraphReport::Group { number, change })
    }

    fn close(&mut self, phase: u32, group: &GroupFacts) -> Result<(), Crash> {
        let branch = self.branches.get(&phase).copied();
        let head = branch.map(|branch| branch.0.to_string());
        let heads = match &group.merged {
            Some(commit) => GroupHeads { head: Some(commit.clone()), target: None },
            None => GroupHeads { target: branch.map(|_| self.target.to_string()), head },
        };
        match close(phase, group, &heads) {
            CloseStep::Test => {
                let code = i32::from(self.random.once_in(5));
                let command = Some("test".to_owned());
                let tested =
                    GroupTest { commit: heads.head, command, code, output: String::new(), waived: false };
                self.group(phase, GroupChange::Tested { tested })
            }
            CloseStep::Merge => self.merge(phase, group, &heads),
            CloseStep::Repair => {
                if !self.random.once_in(3) {
                    let commit = self.commit();
                    self.branches.insert(phase, (commit, self.target));
                }
                let run = RunId(u64::from(self.commits) * 10 + group.repairs.len() as u64 + 100_000);
                self.group(phase, GroupChange::Repaired { by: run })
            }
            CloseStep::Ask(about) => self.ask(about),
            CloseStep::Record => {
                self.closed.insert(phase);
                self.group(phase, GroupChange::Recorded)
            }
        }
    }

    fn merge(&mut self, phase: u32, group: &GroupFacts, heads: &GroupHeads) -> Result<(), Crash> {
        let (head, base) = self.branches[&phase];
        let tested = group.tested.as_ref().expect("nothing is merged that was not tested");
        assert!(tested.commit == Some(head.to_string()) && (tested.code == 0 || tested.waived), "{tested:?}");
        if self.merged.contains(&phase) {
            return self.group(phase, GroupChange::Merged { commit: self.target.to_string() });
        }
        // Somebody else has changed the same places in the meantime.
        if self.random.once_in(3) {
            self.target = self.commit();
        }
        if base != self.target {
            let unmerged = MergeFailure {
                commit: heads.head.clone().unwrap_or_default(),
                target: self.target.to_string(),
                message: "both sides".to_owned(),
                files: vec!["x".to_owned()],
                is_conflict: true,
            };
            return self.group(phase, GroupChange::NotMerged { unmerged });
        }
        self.target = head;
        self.merged.push(phase);
        self.group(phase, GroupChange::Merged { commit: head.to_string() })
    }
}

/// Some phases of some tasks, each of which may need earlier ones.
fn file(random: &mut Random) -> String {
    let mut text = String::new();
    for phase in 1..=1 + random.below(4) {
        writeln!(text, "## Phase {phase}: Part {phase}").expect("text");
        for n in 1..=1 + random.below(6) {
            writeln!(text, "- [ ] T{phase}.{n}: task").expect("text");
            if n > 1 && random.once_in(2) {
                writeln!(text, "  - deps: [T{phase}.{}]", 1 + random.below(n - 1)).expect("text");
            }
        }
    }
    text
}

/// Crashes and merges of one loop.
fn episode(seed: u64) -> (u32, usize) {
    let random = &mut Random::new(seed);
    let plan = Plan::read(file(random).into_bytes());
    let parallel_max = NonZeroU32::new(1 + u32::from(random.once_in(2)) * 2).expect("it is not nothing");
    let asked = LoopSpec { tasks: None, phase: None, parallel_max, agent: None };
    let mut new = order(plain(), Terms::default());
    new.graph = Some(GraphSpec::TaskFile(asked.clone()));
    let mut episode = Episode {
        random,
        play: Play::ordered(new),
        plan: &plan,
        states: plan.tasks().map(|task| (task.number(), State::Pending)).collect(),
        closed: BTreeSet::new(),
        branches: BTreeMap::new(),
        target: 0,
        commits: 0,
        merged: Vec::new(),
        done: Vec::new(),
        ours: BTreeSet::new(),
        runs: 0,
        crashes: 0,
    };
    let mut turns = 0;
    while !episode.play.session().is_over() {
        turns += 1;
        assert!(turns < TURNS_MAX, "seed {seed}: it never ends: {:#?}", episode.groups());
        if episode.turn(&asked).is_err() {
            episode.crashes += 1;
            episode.ours.clear();
        }
    }
    let Episode { states, closed, merged, done, .. } = &episode;
    assert!(states.values().all(|state| state.is_settled()), "seed {seed}: {states:?}");
    let phases: Vec<u32> = plan.phases().iter().map(|phase| phase.number).collect();
    assert!(closed.iter().eq(&phases), "seed {seed}: {closed:?}");
    let expected: Vec<u32> =
        phases.into_iter().filter(|phase| episode.branches.contains_key(phase)).collect();
    assert_eq!(*merged, expected, "seed {seed}: each once, in their turn");
    let completed = states.values().filter(|state| **state == State::Completed).count();
    assert_eq!(done.len(), completed, "seed {seed}: each once");
    (episode.crashes, merged.len())
}

#[test]
fn loops_end_the_same_wherever_their_conductor_forgets() {
    let (mut crashes, mut merges) = (0, 0);
    for seed in 0..100 {
        let counts = episode(seed);
        crashes += counts.0;
        merges += counts.1;
    }
    println!("loops: 100, {crashes} crashes, {merges} merges");
    assert!(crashes > 500 && merges > 100, "{crashes} {merges}");
}

#[test]
fn a_task_that_was_lost_is_over_with_its_loop() {
    let asked =
        LoopSpec { tasks: None, phase: None, parallel_max: NonZeroU32::new(2).expect("two"), agent: None };
    let mut new = order(plain(), Terms::default());
    new.graph = Some(GraphSpec::TaskFile(asked));
    let mut play = Play::ordered(new);
    for _ in 0..2 {
        let mut task = order(plain(), Terms::default());
        task.parent = Some(S);
        play.give(Input::CreateRun(Box::new(task)));
    }
    let [first, second] = [SessionId(2), SessionId(3)];
    let is_interrupted = |play: &Play, id: SessionId| play.book.world.sessions[&id].is_interrupted();
    play.give(Input::ShimLost { session: first, launch: 1 });
    assert!(is_interrupted(&play, first));
    let report = GraphReport::Finished(Outcome::Completed { verified: false });
    play.give(Input::GraphReported { session: S, report: Box::new(report) });
    assert!(!is_interrupted(&play, first));
    // One whose loop is over already.
    play.give(Input::ShimLost { session: second, launch: 1 });
    for id in [first, second] {
        assert_eq!(play.book.world.sessions[&id].outcome, Some(Outcome::Cancelled));
    }
}
