//! A loop through a task file: the front end of a graph whose nodes are tasks and whose groups are phases.
//!
//! The tasks themselves stand in the task file and the state file, which other programs write too; the loop reads both before
//! every step, and [`ready`] and [`close`] decide from them. The rows of [`crate::graph`] hold what only the loop knows.

mod loop_step;
mod next;

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::num::NonZeroU32;

use serde::{Deserialize, Serialize};

pub use self::{
    loop_step::LoopStep,
    next::{CloseStep, GroupHeads, NextStep, close, ready},
};
use crate::{graph::GroupFacts, plan::Plan};

/// How many tasks run at once if nobody says otherwise.
pub const PARALLEL: NonZeroU32 = NonZeroU32::new(3).expect("three is not nothing");

/// What a loop was asked. Frozen: a person who wants something else starts another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopSpec {
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

/// Whether something else than the word of an agent says of each done task that it is done: its command, its files, or the
/// tests of its phase. A loop that has done no task has verified nothing.
pub fn is_verified<'a>(
    plan: &Plan,
    groups: &BTreeMap<u32, GroupFacts>,
    done: impl IntoIterator<Item = &'a str>,
) -> bool {
    let is_green = |phase: u32| {
        let tested = groups.get(&phase).and_then(|group| group.tested.as_ref());
        tested.is_some_and(|it| it.command.is_some() && it.code == 0)
    };
    let mut done = done.into_iter().peekable();
    done.peek().is_some()
        && done.all(|id| {
            let task = plan.find(id);
            task.is_some_and(|it| it.verify().is_some() || !it.files().is_empty() || is_green(it.phase()))
        })
}

/// The branch that the work of all phases goes to, once the first of them has begun: whatever is checked out later, one
/// phase finds what the one before it has done.
pub fn target<'a>(groups: impl IntoIterator<Item = &'a GroupFacts>) -> Option<&'a str> {
    groups.into_iter().find_map(|group| group.target.as_deref())
}
