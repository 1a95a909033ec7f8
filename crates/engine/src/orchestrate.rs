//! A loop through a task file: what it was asked, how far it has got, and what it does next.
//!
//! The tasks themselves stand in the task file and the state file, which others write too; the loop reads them before
//! every step. Here stands what only the loop knows: which runs it has started, which phases it has tested and merged,
//! and what it has asked a person.

mod next;
mod tasks;

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::num::NonZeroU32;

use ostler_protocol::signal::UserQuestion;
use serde::{Deserialize, Serialize};

pub use self::{
    next::{Due, Next, Standing, due, next},
    tasks::Tasks,
};
use crate::{
    answer::Answer,
    id::{RequestId, RunId},
    plan::Plan,
    run::{Outcome, Run},
    session::Session,
};

/// How many tasks run at once if nobody says otherwise.
pub const PARALLEL: NonZeroU32 = NonZeroU32::new(3).expect("three is not nothing");

/// What a loop was asked. Frozen: who wants something else starts another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conduct {
    /// The task file, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<String>,
    /// This phase alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<u32>,
    /// How many tasks run at once.
    pub parallel_max: NonZeroU32,
    /// Who does all tasks, whoever their owners are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// How far a loop has got.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Loop {
    /// The tasks that it has begun, by id.
    pub tasks: Tasks,
    /// The phases that it has come to.
    pub phases: BTreeMap<u32, Stage>,
    /// The runs that have ended since, until it has taken them in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub over: BTreeMap<RunId, Over>,
    /// What it has asked a person, until it has done what they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
}

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Over {
    /// How.
    pub outcome: Outcome,
    /// How often it was tried.
    pub tries: u32,
    /// For how long somebody worked on it.
    pub worked_ms: u64,
    /// For how long that one waited besides: for a person, or for an account.
    #[serde(default)]
    pub waited_ms: u64,
    /// What its check said last, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

impl Over {
    /// How a run ended that a session has worked on until then; none if it has not ended.
    pub fn of(run: &Run, session: &Session, ended_at_ms: u64) -> Option<Over> {
        let outcome = run.outcome.clone()?;
        let failed = session.attempts.last().filter(|it| it.code.is_some_and(|code| code != 0));
        let waited_ms = session.waited_ms(ended_at_ms);
        Some(Over {
            outcome,
            tries: u32::try_from(session.attempts.len()).unwrap_or(u32::MAX).max(1),
            worked_ms: ended_at_ms.saturating_sub(session.created_at_ms).saturating_sub(waited_ms),
            waited_ms,
            said: failed.map(|attempt| attempt.output.clone()),
        })
    }
}

/// A task that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Begun {
    /// Its runs, one for each time it was begun from nothing.
    pub runs: Vec<RunId>,
    /// When the first of them began.
    pub began_at_ms: u64,
    /// When the last of them was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<u64>,
    /// What was said of it then: one line of the thin dialect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// For how long somebody worked on it.
    #[serde(default)]
    pub worked_ms: u64,
    /// For how long they waited besides.
    #[serde(default)]
    pub waited_ms: u64,
    /// How often it was tried, over all runs.
    #[serde(default)]
    pub tries: u32,
}

/// How far a phase is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stage {
    /// Where it is worked on, relative to the project; none where that is the project itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// The branch that its work goes to; none outside of git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// When that was there.
    pub began_at_ms: u64,
    /// What its tests said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tested: Option<Tested>,
    /// How often they were run.
    #[serde(default)]
    pub tests: u32,
    /// Why it could not be merged when that was tried last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmerged: Option<Unmerged>,
    /// Those who were asked to bring the two sides together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mending: Vec<RunId>,
    /// What was changed in its place before, by a set-up or by whom is not known: none of it is committed for a task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<String>,
    /// The commit that has its work, once it is merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<String>,
    /// When its checkpoint was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<u64>,
}

/// What the tests of a phase said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tested {
    /// About which commit; none outside of git.
    pub commit: Option<String>,
    /// The command; none if there is nothing to run.
    pub command: Option<String>,
    /// Its exit code.
    pub code: i32,
    /// What it said at the end.
    pub output: String,
    /// Whether a person wants to go on all the same.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub waived: bool,
}

/// A merge that was not possible. The target is as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unmerged {
    /// The head of the phase's branch by then.
    pub commit: String,
    /// The head of the target by then.
    pub target: String,
    /// Why not.
    pub message: String,
    /// The files in which both sides changed the same places.
    pub files: Vec<String>,
    /// Whether an agent can do something about it.
    pub is_conflict: bool,
}

/// What a person was asked, and what about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Where it stands in the inbox.
    pub request: RequestId,
    /// What about.
    pub about: About,
    /// What was said, once something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// What a loop asks a person about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum About {
    /// Everything that is left waits for tasks that were given up.
    Blocked {
        /// The lowest phase that is not over.
        phase: u32,
        /// The tasks.
        tasks: Vec<String>,
    },
    /// The tests of a phase are red, or cannot be run.
    Red {
        /// The phase.
        phase: u32,
        /// The commit that they are about.
        commit: Option<String>,
    },
    /// A phase cannot be merged.
    Unmerged {
        /// The phase.
        phase: u32,
        /// The head of its branch.
        commit: String,
        /// The head of the target.
        target: String,
    },
    /// Something stands in the way that only a person can put right.
    Hindered {
        /// What.
        message: String,
    },
}

/// What a person can say to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Try again.
    Retry,
    /// Do without.
    Skip,
    /// The phase is done, with failures.
    Close,
    /// Merge all the same.
    Merge,
    /// End the loop; what is done stays done.
    Stop,
}

impl About {
    /// What can be said to it.
    pub fn choices(&self) -> &'static [Choice] {
        match self {
            About::Blocked { .. } => &[Choice::Retry, Choice::Skip, Choice::Close, Choice::Stop],
            About::Red { .. } => &[Choice::Retry, Choice::Merge, Choice::Stop],
            About::Unmerged { .. } | About::Hindered { .. } => &[Choice::Retry, Choice::Stop],
        }
    }
}

impl Choice {
    /// All of them.
    const ALL: [Choice; 5] = [Choice::Retry, Choice::Skip, Choice::Close, Choice::Merge, Choice::Stop];

    /// Its word, which is never translated.
    pub fn word(self) -> &'static str {
        match self {
            Choice::Retry => "retry",
            Choice::Skip => "skip",
            Choice::Close => "close",
            Choice::Merge => "merge",
            Choice::Stop => "stop",
        }
    }

    /// The choice that a word stands for.
    pub fn of(word: &str) -> Option<Choice> {
        Choice::ALL.into_iter().find(|choice| choice.word() == word)
    }
}

/// A step of a loop, as it stands in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// A task is worked on by this run.
    TaskBegun {
        /// The task.
        task: String,
        /// The run.
        run: RunId,
    },
    /// A task is over.
    TaskEnded {
        /// The task.
        task: String,
        /// What was said of it.
        line: String,
        /// For how long somebody worked on it.
        worked_ms: u64,
        /// For how long they waited besides.
        #[serde(default)]
        waited_ms: u64,
        /// How often it was tried.
        tries: u32,
    },
    /// A phase begins.
    PhaseBegun {
        /// The phase.
        phase: u32,
        /// Its place, where it has one of its own.
        worktree: Option<String>,
        /// The branch that its work goes to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
        /// What was changed there before.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        foreign: Vec<String>,
    },
    /// A run that it asked for has ended.
    RunOver {
        /// Which.
        run: RunId,
        /// How.
        over: Over,
    },
    /// Its tests have ended.
    Tested {
        /// The phase.
        phase: u32,
        /// What they said.
        tested: Tested,
    },
    /// It could not be merged.
    NotMerged {
        /// The phase.
        phase: u32,
        /// Why not.
        unmerged: Unmerged,
    },
    /// An agent is to bring the two sides together.
    Mending {
        /// The phase.
        phase: u32,
        /// Its run.
        run: RunId,
    },
    /// It is merged.
    Merged {
        /// The phase.
        phase: u32,
        /// The commit.
        commit: String,
    },
    /// Its checkpoint is recorded.
    Recorded {
        /// The phase.
        phase: u32,
    },
    /// A person was asked.
    Asked {
        /// Where.
        card: Card,
    },
    /// What they said is done, or is not wanted any more.
    Settled {
        /// Where they were asked.
        request: RequestId,
        /// What they said, unless the question has settled itself.
        choice: Option<Choice>,
    },
}

/// What a conductor reports.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A step is done.
    Moved(Step),
    /// A person is to decide.
    Ask {
        /// What about.
        about: About,
        /// In words.
        question: UserQuestion,
    },
    /// What was asked has settled itself.
    Withdrawn(RequestId),
    /// It is over.
    Ended(Outcome),
}

impl Loop {
    pub(crate) fn fold(&mut self, step: &Step, at_ms: u64) {
        match step {
            Step::TaskBegun { task, run } => {
                let begun = self.tasks.change(task);
                if begun.runs.is_empty() {
                    begun.began_at_ms = at_ms;
                }
                if !begun.runs.contains(run) {
                    begun.runs.push(*run);
                }
                begun.ended_at_ms = None;
                begun.line = None;
            }
            Step::TaskEnded { task, line, worked_ms, waited_ms, tries } => {
                let begun = self.tasks.change(task);
                begun.ended_at_ms = Some(at_ms);
                begun.line = Some(line.clone());
                begun.worked_ms += worked_ms;
                begun.waited_ms += waited_ms;
                begun.tries += tries;
                let runs = begun.runs.clone();
                self.over.retain(|run, _| !runs.contains(run));
            }
            Step::PhaseBegun { phase, worktree, target, foreign } => {
                let stage = self.stage(*phase, at_ms);
                stage.worktree.clone_from(worktree);
                stage.target.clone_from(target);
                stage.foreign.clone_from(foreign);
            }
            Step::RunOver { run, over } => {
                self.over.insert(*run, over.clone());
            }
            Step::Tested { phase, tested } => {
                let stage = self.stage(*phase, at_ms);
                stage.tested = Some(tested.clone());
                stage.tests += 1;
            }
            Step::NotMerged { phase, unmerged } => {
                self.stage(*phase, at_ms).unmerged = Some(unmerged.clone());
            }
            Step::Mending { phase, run } => {
                let mending = &mut self.stage(*phase, at_ms).mending;
                if !mending.contains(run) {
                    mending.push(*run);
                }
            }
            Step::Merged { phase, commit } => self.stage(*phase, at_ms).merged = Some(commit.clone()),
            Step::Recorded { phase } => self.stage(*phase, at_ms).ended_at_ms = Some(at_ms),
            Step::Asked { card } => self.card = Some(card.clone()),
            Step::Settled { request, choice } => {
                if let Some(card) = self.card.take_if(|card| card.request == *request) {
                    self.heed(&card.about, *choice, at_ms);
                }
            }
        }
    }

    /// What a person says about the end of a phase.
    fn heed(&mut self, about: &About, choice: Option<Choice>, at_ms: u64) {
        match (about, choice) {
            (About::Red { phase, .. }, Some(Choice::Merge)) => {
                if let Some(tested) = &mut self.stage(*phase, at_ms).tested {
                    tested.waived = true;
                }
            }
            (About::Red { phase, .. }, _) => self.stage(*phase, at_ms).tested = None,
            (About::Unmerged { phase, .. }, _) => {
                let stage = self.stage(*phase, at_ms);
                stage.unmerged = None;
                stage.mending.clear();
            }
            (About::Blocked { .. } | About::Hindered { .. }, _) => {}
        }
    }

    /// The branch that the work of all phases goes to, once the first of them has begun: whatever is checked out later, one
    /// phase finds what the one before it has done.
    pub fn target(&self) -> Option<&str> {
        self.phases.values().find_map(|stage| stage.target.as_deref())
    }

    /// Whether something else than the word of an agent says of each task that it is done: its command, its files, or the
    /// tests of its phase. Who has done none has verified nothing.
    pub fn is_verified(&self, plan: &Plan) -> bool {
        let is_green = |phase: u32| {
            let tested = self.phases.get(&phase).and_then(|stage| stage.tested.as_ref());
            tested.is_some_and(|it| it.command.is_some() && it.code == 0)
        };
        let is_done = |begun: &Begun| begun.line.as_deref().is_some_and(|line| line.starts_with("DONE"));
        let mut done = self.tasks.iter().filter(|(_, begun)| is_done(begun)).peekable();
        done.peek().is_some()
            && done.all(|(id, _)| {
                let task = plan.find(id);
                task.is_some_and(|it| it.verify().is_some() || !it.files().is_empty() || is_green(it.phase()))
            })
    }

    /// Whether a step is known already: a report may come twice.
    pub(crate) fn knows(&self, step: &Step) -> bool {
        let stage = |phase: &u32| self.phases.get(phase);
        match step {
            Step::TaskBegun { task, run } => {
                self.tasks.get(task).is_some_and(|begun| begun.runs.contains(run) && begun.line.is_none())
            }
            Step::TaskEnded { task, .. } => self.tasks.get(task).is_some_and(|begun| begun.line.is_some()),
            Step::RunOver { run, .. } => self.over.contains_key(run),
            Step::PhaseBegun { phase, .. } => stage(phase).is_some(),
            Step::Tested { phase, tested } => {
                stage(phase).is_some_and(|it| it.tested.as_ref() == Some(tested))
            }
            Step::NotMerged { phase, unmerged } => {
                stage(phase).is_some_and(|it| it.unmerged.as_ref() == Some(unmerged))
            }
            Step::Mending { phase, run } => stage(phase).is_some_and(|it| it.mending.contains(run)),
            Step::Merged { phase, commit } => {
                stage(phase).is_some_and(|it| it.merged.as_ref() == Some(commit))
            }
            Step::Recorded { phase } => stage(phase).is_some_and(|it| it.ended_at_ms.is_some()),
            Step::Asked { card } => self.card.as_ref().is_some_and(|it| it.request == card.request),
            Step::Settled { request, .. } => self.card.as_ref().is_none_or(|it| it.request != *request),
        }
    }

    /// Somebody has settled a request.
    pub(crate) fn settled(&mut self, request: RequestId, answer: &Answer) {
        if let Some(card) = self.card.as_mut().filter(|card| card.request == request) {
            card.answer = Some(answer.clone());
        }
    }

    fn stage(&mut self, phase: u32, at_ms: u64) -> &mut Stage {
        self.phases.entry(phase).or_insert_with(|| Stage { began_at_ms: at_ms, ..Stage::default() })
    }
}
