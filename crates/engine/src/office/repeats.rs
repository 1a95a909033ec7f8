//! Calls that an agent makes again and again while nothing changes.
//!
//! A call is the same if its role, task and context are, whatever numbers and spaces they have. Something has changed
//! if the agent hears words that it has not heard before, is given a task of another run, if a person speaks to it, or if
//! files differ.

use alloc::{
    collections::{BTreeMap, VecDeque},
    string::String,
};

use serde::{Deserialize, Serialize};

use super::Invocation;
use crate::id::InvocationId;

/// How many texts are known again. An agent that hears more of them makes progress.
const HEARD_MAX: usize = 64;

/// How many calls are counted at once.
const CALLS_MAX: usize = 64;

/// What of an agent's calls says whether they lead to anything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RepeatedCalls {
    /// Stands for what it was told by other agents, oldest first.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    heard: VecDeque<u64>,
    /// The calls that it has made since something changed, by what stands for each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    rounds: BTreeMap<u64, Rounds>,
    /// Stands for the files when a call was last repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<String>,
}

/// How often a call was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Rounds {
    count: u32,
    /// The newest call of all when the last round ended: a call up to this one was open beside it, and is no round of
    /// its own.
    until: u64,
}

impl RepeatedCalls {
    pub(crate) fn is_default(&self) -> bool {
        *self == RepeatedCalls::default()
    }

    /// How often a call has ended in a row since something changed.
    pub fn count(&self, callee: &str, task: &str, context: Option<&str>) -> u32 {
        let key = sum(0, &[callee, task, context.unwrap_or_default()]);
        self.rounds.get(&key).map_or(0, |rounds| rounds.count)
    }

    /// Whether files differ from what they were when a call was last repeated.
    pub(crate) fn has_changed(&self, files: Option<&str>) -> bool {
        self.files.as_deref().zip(files).is_some_and(|(before, now)| before != now)
    }

    /// A call of the agent has ended, and it is told what came of it.
    pub(crate) fn end(&mut self, call: &Invocation, told: &str, newest: InvocationId) {
        self.hear(sum(0, &[told]));
        let key = sum(0, &[&call.callee, &call.task, call.context.as_deref().unwrap_or_default()]);
        if self.rounds.len() >= CALLS_MAX {
            self.rounds.clear();
        }
        let rounds = self.rounds.entry(key).or_default();
        if call.id.0 > rounds.until {
            *rounds = Rounds { count: rounds.count.saturating_add(1), until: newest.0 };
        }
    }

    /// The agent is given a task. The same words are another task in another run: somebody else began it.
    pub(crate) fn begin(&mut self, call: &Invocation) {
        let context = call.context.as_deref().unwrap_or_default();
        self.hear(sum(call.run.0, &[&call.caller, &call.task, context]));
    }

    /// The agent is brought something.
    pub(crate) fn receive(&mut self, content: &str) {
        self.hear(sum(0, &[content]));
    }

    fn hear(&mut self, sum: u64) {
        if self.heard.contains(&sum) {
            return;
        }
        if self.heard.len() >= HEARD_MAX {
            self.heard.pop_front();
        }
        self.heard.push_back(sum);
        self.begin_again();
    }

    /// Files are known to be as this says.
    pub(crate) fn see(&mut self, files: &str) {
        if self.has_changed(Some(files)) {
            self.begin_again();
        }
        self.files = Some(files.into());
    }

    /// Something has changed.
    pub(crate) fn begin_again(&mut self) {
        self.rounds.clear();
    }
}

/// Stands for texts of a run in their order, without regard to which numbers they have and how they are spaced. FNV-1a: nobody
/// gains anything from two texts with the same sum but a question to a person.
fn sum(run: u64, texts: &[&str]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |byte: u8| sum = (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    run.to_le_bytes().into_iter().for_each(&mut add);
    for text in texts {
        for word in text.split_whitespace() {
            let mut before = ' ';
            for char in word.chars() {
                let is_number = char.is_numeric();
                if !(is_number && before.is_numeric()) {
                    let char = if is_number { '0' } else { char };
                    char.encode_utf8(&mut [0; 4]).bytes().for_each(&mut add);
                }
                before = char;
            }
            add(b' ');
        }
        add(0);
    }
    sum
}
