//! Which inputs the conversation holds: those that the CLI took before the model's latest reply.

use alloc::{string::String, vec::Vec};

use serde_json::Value;

use super::{Table, decode};
use crate::fact::InputHeard;

/// The most inputs that wait for a reply, and the longest id. An input beyond that is never proven, which only means
/// that the next process is told it once more.
const WAITING_MAX: usize = 256;
const ID_BYTES_MAX: usize = 128;

/// The inputs that the CLI has taken and the model has not replied to.
#[derive(Debug, Default)]
pub(super) struct HeardInputs {
    taken: Vec<String>,
    /// Whether the prompt of the process is proven. Only used where inputs have no ids.
    has_prompt: bool,
    /// What is proven and was not given out.
    proofs: Vec<InputHeard>,
}

impl HeardInputs {
    /// Reads an event.
    pub(super) fn hear(&mut self, table: &Table, event: &Value) {
        // A CLI takes an input before it makes the request, so a reply in the same event is an earlier one's.
        if decode::is_model_reply(table, event) {
            if table.proves_input() {
                self.proofs.extend(self.taken.drain(..).map(|id| InputHeard { id: Some(id) }));
            } else if !core::mem::replace(&mut self.has_prompt, true) {
                self.proofs.push(InputHeard::default());
            }
        }
        for id in decode::taken_inputs(table, event) {
            let has_room = self.taken.len() + self.proofs.len() < WAITING_MAX;
            if has_room && id.len() <= ID_BYTES_MAX && !self.taken.contains(&id) {
                self.taken.push(id);
            }
        }
    }

    /// What is proven since the last call.
    pub(super) fn take_proofs(&mut self) -> Vec<InputHeard> {
        core::mem::take(&mut self.proofs)
    }
}
