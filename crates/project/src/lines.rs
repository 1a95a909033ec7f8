//! Which line of a text a place in it is on.

/// The beginnings of the lines of a text.
pub(crate) struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub(crate) fn new(text: &'a str) -> LineIndex<'a> {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        LineIndex { text, starts }
    }

    /// The line of a byte, from 1.
    pub(crate) fn line(&self, at: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= at)).unwrap_or(u32::MAX)
    }

    /// The line on which a part of the text begins.
    pub(crate) fn line_of(&self, part: &str) -> u32 {
        let at = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        self.line(at.min(self.text.len()))
    }
}
