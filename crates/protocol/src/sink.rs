//! Collects finished items and numbers those that begin in the same raw line.

use alloc::{
    collections::{BTreeMap, VecDeque},
    vec::Vec,
};

use crate::{
    drawn::Drawn,
    item::{EndedBy, Item, Trust, What},
    mark::Saying,
    recent::Recent,
};

/// Items on their way out, in the order in which they were completed.
///
/// The queue is bounded by what one `push` can hold: the caller empties it before the next.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    pub(crate) items: VecDeque<Item>,
    /// What the agent was shown lately.
    pub(crate) recent: Recent,
    /// The screens on which everything stands, on a terminal.
    drawn: Option<Drawn>,
    current: Line,
    /// A line before the current one in which something may still turn out to have begun.
    held: Line,
}

/// A raw line and the index of the next item that begins in it.
#[derive(Debug, Default, Clone, Copy)]
struct Line {
    offset: u64,
    next_index: u32,
}

impl Sink {
    /// For what stands on a terminal, or not.
    pub(crate) fn on(drawn: Option<Drawn>) -> Sink {
        Sink { drawn, ..Sink::default() }
    }

    /// The index of an item that begins in the raw line at `offset`. Taken when it begins, not when it ends, so
    /// that it depends on the text alone.
    pub(crate) fn index(&mut self, offset: u64) -> u32 {
        let line = if self.held.offset == offset && self.current.offset != offset {
            &mut self.held
        } else {
            if self.current.offset != offset {
                self.current = Line { offset, next_index: 0 };
            }
            &mut self.current
        };
        line.next_index += 1;
        line.next_index - 1
    }

    /// Remembers the count of a line whose last words may go on in the lines after it.
    pub(crate) fn hold(&mut self, offset: u64) {
        self.held = match self.current {
            current if current.offset == offset => current,
            _ => Line { offset, next_index: 0 },
        };
    }

    /// The place just behind the first escape in these bytes that begins a screen, on a terminal.
    pub(crate) fn screen_begun(&mut self, bytes: &[u8]) -> Option<usize> {
        self.drawn.as_mut()?.screens.begun(bytes)
    }

    /// What comes now stands on another screen.
    pub(crate) fn begin_screen(&mut self) {
        if let Some(drawn) = &mut self.drawn {
            drawn.begin();
        }
    }

    /// Adds a message, of which this is the text between its tags, unless it only stands on a screen that is drawn again.
    /// One that is spoken is marked if it also stands in what the agent was shown.
    pub(crate) fn add(&mut self, mut item: Item, body: &str) {
        if self.drawn.as_mut().is_some_and(|drawn| !drawn.is_new(&item)) {
            return;
        }
        if item.trust == Trust::Speech {
            item.mark = self.recent.find(&Saying::of(&item.what, body));
        }
        self.items.push_back(item);
    }

    /// Adds what concerns a raw line as a whole.
    pub(crate) fn report(&mut self, offset: u64, end: u64, trust: Trust, what: What) {
        let index = self.index(offset);
        let (extra, warnings) = (BTreeMap::new(), Vec::new());
        let item =
            Item { offset, end, index, trust, mark: None, ended_by: EndedBy::Line, what, extra, warnings };
        self.items.push_back(item);
    }
}
