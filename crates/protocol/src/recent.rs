//! What the agent was shown lately by tools and sub-agents, so that it can be told where the same stands that it says.
//!
//! Filled by the stream parser with texts that are there anyway; nothing is copied or looked at until somebody asks.
//! It holds a bounded number of bytes: what is old or too much is let go.

use alloc::{collections::VecDeque, string::String};

use crate::mark::{Mark, MarkSource, Saying, letters, short};

/// Bytes of all texts that are held.
const BYTES_MAX: usize = 256 << 10;

/// How many texts are held.
const TEXTS_MAX: usize = 1024;

/// A text that is shorter cannot hold what is looked for.
const TEXT_BYTES_MIN: usize = 16;

/// How many tools are remembered by their ids.
const TOOLS_MAX: usize = 64;

/// The texts, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    texts: VecDeque<Shown>,
    /// Bytes of all texts as they came.
    bytes: usize,
    tools: VecDeque<Tool>,
}

/// A text, and who showed it.
#[derive(Debug)]
struct Shown {
    source: MarkSource,
    tool: Option<String>,
    about: Option<String>,
    text: String,
    /// Bytes as it came.
    bytes: usize,
    /// Whether only its letters and digits are left.
    is_read: bool,
}

/// A tool that has begun.
#[derive(Debug)]
pub(crate) struct Tool {
    /// What its output names it by, where the stream says that.
    pub(crate) id: Option<String>,
    /// Its name.
    pub(crate) name: String,
    /// What it is used on.
    pub(crate) about: Option<String>,
}

impl Recent {
    /// Tools have begun with this event. Those without an id are known only during it.
    pub(crate) fn begin(&mut self, tools: impl IntoIterator<Item = Tool>) {
        self.tools.retain(|tool| tool.id.is_some());
        for Tool { id, name, about } in tools {
            if self.tools.len() == TOOLS_MAX {
                self.tools.pop_front();
            }
            self.tools.push_back(Tool { id, name: short(&name), about: about.as_deref().map(short) });
        }
    }

    /// Keeps what was shown, by the tool with this id.
    pub(crate) fn keep(&mut self, source: MarkSource, id: Option<&str>, mut text: String) {
        if text.len() < TEXT_BYTES_MIN {
            return;
        }
        if text.len() > BYTES_MAX {
            let cut = text.ceil_char_boundary(text.len() - BYTES_MAX);
            text.drain(..cut);
            text.shrink_to_fit();
        }
        while self.bytes + text.len() > BYTES_MAX || self.texts.len() == TEXTS_MAX {
            let Some(oldest) = self.texts.pop_front() else { break };
            self.bytes -= oldest.bytes;
        }
        // Without an id it is the tool of the same event, if there is but one: to name the wrong one would mislead.
        let mut same_event = self.tools.iter().filter(|tool| tool.id.is_none());
        let found = match id {
            Some(id) => self.tools.iter().rev().find(|tool| tool.id.as_deref() == Some(id)),
            None => same_event.next().filter(|_| same_event.next().is_none()),
        };
        let (tool, about) = found.map(|tool| (tool.name.clone(), tool.about.clone())).unzip();
        let bytes = text.len();
        self.bytes += bytes;
        self.texts.push_back(Shown { source, tool, about: about.flatten(), text, bytes, is_read: false });
    }

    /// Where it stands, in the latest text of all.
    pub(crate) fn find(&mut self, saying: &Saying) -> Option<Mark> {
        if saying.is_empty() {
            return None;
        }
        let mut texts = self.texts.iter_mut().rev();
        let found = texts.find_map(|text| {
            if !text.is_read {
                text.text = letters(&text.text);
                text.is_read = true;
            }
            saying.stands_in_letters(&text.text).then_some(text)
        })?;
        Some(Mark { source: found.source, tool: found.tool.clone(), about: found.about.clone() })
    }

    /// Bytes held at the moment.
    pub(crate) fn buffered_bytes(&self) -> usize {
        self.bytes
    }
}
