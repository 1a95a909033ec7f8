//! How well a file that holds every word fits: a word in its name counts most, then one in a heading.

use memchr::{memmem::Finder, memrchr};

use crate::query::MemoryQuery;

/// So many places of a word are looked at; a file that repeats one is no better for it.
const PLACES_MAX: usize = 4;

const NAME_POINTS: u32 = 12;
const HEADING_POINTS: u32 = 3;
const PLACE_POINTS: u32 = 1;

/// The points of a file by its folded text and folded name; nothing, if it lacks a word.
pub(crate) fn points(query: &MemoryQuery, name: &[u8], text: &[u8]) -> Option<u32> {
    let mut sum = 0;
    for finder in query.finders() {
        sum += points_of_word(finder, text)?;
        if finder.find(name).is_some() {
            sum += NAME_POINTS;
        }
    }
    Some(sum)
}

fn points_of_word(finder: &Finder<'_>, text: &[u8]) -> Option<u32> {
    let mut points = None;
    for place in finder.find_iter(text).take(PLACES_MAX) {
        let line = memrchr(b'\n', &text[..place]).map_or(0, |end| end + 1);
        let more = if text[line] == b'#' { HEADING_POINTS } else { PLACE_POINTS };
        points = Some(points.unwrap_or(0) + more);
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_headings_come_first() {
        let query = MemoryQuery::new(["token"]).expect("a word");
        let of = |name: &str, text: &str| points(&query, name.as_bytes(), text.as_bytes());
        assert_eq!(of("a.md", "nothing"), None);
        assert!(of("token.md", "token") > of("a.md", "# token"));
        assert!(of("a.md", "# token") > of("a.md", "token token"));
        assert!(of("a.md", "token token") > of("a.md", "token"));
        assert_eq!(of("a.md", &"token ".repeat(9)), of("a.md", &"token ".repeat(4)));
    }
}
