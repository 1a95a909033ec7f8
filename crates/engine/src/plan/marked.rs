//! Puts done marks into the text of a file.

use alloc::vec::Vec;

use super::task::{Place, Plan, Span, TaskNumber};

impl Plan {
    /// The text with these tasks marked as done, in every box they have. Every other byte is as it was.
    pub fn marked(&self, done: impl IntoIterator<Item = TaskNumber>) -> Vec<u8> {
        let open = done.into_iter().filter(|&task| !self.task(task).is_done());
        let mut changes: Vec<(Span, &str)> = Vec::new();
        for task in open {
            changes.push(match self.entry(task).place {
                Place::Inside(span) => (span, "x"),
                Place::Tick(offset) => (Span { start: offset, end: offset }, " ✅"),
            });
            let entry = self.tasks[task.index()];
            let start = self.more_boxes.partition_point(|(it, _)| *it < entry);
            let boxes = self.more_boxes[start..].iter().take_while(|(it, _)| *it == entry);
            changes.extend(boxes.map(|(_, span)| (*span, "x")));
        }
        changes.sort_unstable_by_key(|(span, _)| span.start);
        changes.dedup();
        let mut text = Vec::with_capacity(self.text.len() + changes.len() * 4);
        let mut at = 0;
        for (span, mark) in changes {
            text.extend_from_slice(&self.text[at..span.start as usize]);
            text.extend_from_slice(mark.as_bytes());
            at = span.end as usize;
        }
        text.extend_from_slice(&self.text[at..]);
        text
    }
}
