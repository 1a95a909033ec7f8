//! The parts of a text around the lines that hold a word.

use crate::{folding::fold, query::MemoryQuery};

/// So many lines are shown before and after a line with a word.
const CONTEXT_LINES: usize = 5;

/// The most parts of one text.
const SECTIONS_MAX: usize = 8;

/// The most lines of one part: where every line holds a word, the part goes on and on.
const SECTION_LINES_MAX: usize = 60;

/// The longest line that is shown, in characters; of a longer one, its beginning.
pub const LINE_CHARS_MAX: usize = 400;

/// The parts of a text that are shown of a search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Excerpt {
    /// The parts, in their order.
    pub sections: Vec<MemorySection>,
    /// Whether there are more of them, or longer ones.
    pub is_cut: bool,
}

/// Lines that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySection {
    /// The heading above the first line with a word.
    pub heading: Option<String>,
    /// The lines.
    pub lines: Vec<MemoryLine>,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryLine {
    /// Its number, from one.
    pub number: usize,
    /// Its text; of a long one, its beginning.
    pub text: String,
    /// Whether it holds one of the words.
    pub hit: bool,
}

/// The parts of a text around the lines that hold any of the words.
pub fn sections(text: &str, query: &MemoryQuery) -> Excerpt {
    let lines: Vec<&str> = text.lines().collect();
    let hits: Vec<usize> =
        (0..lines.len()).filter(|at| query.is_partly_in(&fold(lines[*at].as_bytes()))).collect();
    let mut excerpt = Excerpt::default();
    let mut rest = hits.as_slice();
    while let Some(first) = rest.first() {
        if excerpt.sections.len() == SECTIONS_MAX {
            excerpt.is_cut = true;
            break;
        }
        // Parts that touch each other are one.
        let near = rest.windows(2).take_while(|pair| pair[1] - pair[0] <= 2 * CONTEXT_LINES + 1).count() + 1;
        let (these, after) = rest.split_at(near);
        rest = after;
        let from = first.saturating_sub(CONTEXT_LINES);
        let to = (these[near - 1] + CONTEXT_LINES + 1).min(lines.len());
        excerpt.is_cut |= to - from > SECTION_LINES_MAX;
        let to = to.min(from + SECTION_LINES_MAX);
        let heading = lines[..=*first].iter().rev().find(|line| is_heading(line));
        let line = |at: usize| MemoryLine {
            number: at + 1,
            text: beginning(lines[at]),
            hit: these.binary_search(&at).is_ok(),
        };
        excerpt.sections.push(MemorySection {
            heading: heading.map(|line| beginning(line.trim_start_matches('#').trim())),
            lines: (from..to).map(line).collect(),
        });
    }
    excerpt
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - rest.len())) && rest.starts_with([' ', '\t'])
}

fn beginning(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, words: &[&str]) -> Excerpt {
        sections(text, &MemoryQuery::new(words.iter().copied()).expect("words"))
    }

    #[test]
    fn five_lines_stand_around_a_word() {
        let text: Vec<String> = (1..=40).map(|n| format!("line {n}")).collect();
        let text = text.join("\n");
        let text = format!("# 결정\n{}", text.replace("line 20", "Critical 20"));
        let found = of(&text, &["critical"]);
        let [section] = found.sections.as_slice() else { panic!("{found:?}") };
        assert_eq!(section.heading.as_deref(), Some("결정"));
        let numbers: Vec<usize> = section.lines.iter().map(|line| line.number).collect();
        assert_eq!(numbers, (16..=26).collect::<Vec<_>>());
        assert_eq!(section.lines.iter().filter(|line| line.hit).count(), 1);
        assert!(!found.is_cut);
    }

    #[test]
    fn parts_that_touch_are_one() {
        let lines = |at: &[usize]| -> String {
            (0..60).map(|n| if at.contains(&n) { "WORD\n" } else { "x\n" }).collect()
        };
        assert_eq!(of(&lines(&[10, 21]), &["word"]).sections.len(), 1);
        assert_eq!(of(&lines(&[10, 22]), &["word"]).sections.len(), 2);
        assert_eq!(of(&lines(&[]), &["word"]), Excerpt::default());
    }

    #[test]
    fn what_is_shown_is_bounded() {
        let found = of(&"word\n".repeat(5000), &["word"]);
        assert_eq!(found.sections[0].lines.len(), SECTION_LINES_MAX);
        assert!(found.is_cut);
        let far = "word\n".to_owned() + &"x\n".repeat(20);
        let found = of(&far.repeat(50), &["word"]);
        assert_eq!(found.sections.len(), SECTIONS_MAX);
        assert!(found.is_cut);
        let found = of(&"긴".repeat(5000), &["긴"]);
        assert_eq!(found.sections[0].lines[0].text.chars().count(), LINE_CHARS_MAX + 1);
    }
}
