//! The conversation that a session has with its CLI: whether it can be gone on with, and under which id.

use alloc::string::String;

use ostler_agents::Output;

use super::Session;
use crate::{checkpoint::RewindWay, id::successor};

impl Session {
    /// Whether its CLI can go on with what was said before.
    pub fn can_resume(&self) -> bool {
        let agent = &self.order.agent;
        // Who prints text cannot say which conversation it is: it is the one that it was given.
        let was_given = agent.takes_conversation_id() && agent.output == Output::Text;
        let has_run = || self.launches.iter().any(|launch| launch.process.is_some());
        // Some CLIs keep nothing of a conversation in which their model has not said a word.
        let is_kept = self.used.output_tokens != Some(0);
        agent.can_resume() && is_kept && (self.conversation.is_some() || (was_given && has_run()))
    }

    /// The id that its CLI was given for its newest conversation. None is given twice: most CLIs refuse one that they
    /// know.
    pub fn given_conversation(&self) -> String {
        let first = &self.order.new_conversation;
        let Some(launch) = self.launches.iter().rev().find(|launch| launch.fresh) else {
            return first.clone();
        };
        match launch.rewind.as_ref().map(|rewind| &rewind.way) {
            Some(RewindWay::Anew { conversation }) => conversation.clone(),
            _ if launch.number > 1 => successor(first, launch.number),
            _ => first.clone(),
        }
    }
}
