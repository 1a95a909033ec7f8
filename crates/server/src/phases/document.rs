//! What can be wrong with a document without asking anybody: a section that is not there or says nothing, and what its
//! author has left to be written.

use ostler_engine::phases::{plan::Rule, problem::Problem};

/// How much of a placeholder is shown.
const SHOWN_CHARS_MAX: usize = 80;

/// The most problems that are listed of one document.
const PROBLEMS_MAX: usize = 10;

/// What nobody leaves in a finished text, in small letters.
const PHRASES: [&str; 8] = [
    "lorem ipsum",
    "작성 예정",
    "추후 작성",
    "추후 보완",
    "내용을 입력",
    "<placeholder>",
    "[placeholder]",
    "[여기에",
];

/// Letters without a shape.
const INVISIBLE: [char; 14] = [
    '\u{ad}', '\u{34f}', '\u{115f}', '\u{1160}', '\u{180e}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}',
    '\u{2063}', '\u{2800}', '\u{3164}', '\u{feff}', '\u{ffa0}',
];

/// What is wrong with a document that a rule is about.
pub(super) fn problems(path: &str, text: &str, rule: &Rule) -> Vec<Problem> {
    let lines = Line::all(text);
    let mut problems = Vec::new();
    for section in &rule.sections {
        match look_for(&lines, section) {
            Section::Missing => {
                problems.push(Problem::SectionMissing { path: path.to_owned(), section: section.clone() });
            }
            Section::Empty => {
                problems.push(Problem::SectionEmpty { path: path.to_owned(), section: section.clone() });
            }
            Section::Full => {}
        }
    }
    if rule.placeholders {
        let left = lines.iter().filter(|line| !line.is_code && is_placeholder(line.text));
        problems.extend(left.map(|line| Problem::Placeholder {
            path: path.to_owned(),
            line: line.number,
            text: line.text.trim().chars().take(SHOWN_CHARS_MAX).collect(),
        }));
    }
    problems.truncate(PROBLEMS_MAX);
    problems
}

/// Whether a reader sees nothing: white space, and letters that have no shape.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|letter| letter.is_whitespace() || letter.is_control() || INVISIBLE.contains(&letter))
}

struct Line<'a> {
    number: u64,
    text: &'a str,
    is_code: bool,
    /// Level and words, if it is a heading.
    heading: Option<(usize, String)>,
    /// Whether it says anything by itself, to somebody who reads the document.
    says: bool,
}

impl<'a> Line<'a> {
    fn all(text: &'a str) -> Vec<Line<'a>> {
        let mut fence: Option<&str> = None;
        let mut is_comment = false;
        let mut lines: Vec<Line<'a>> = Vec::new();
        for (number, text) in (1..).zip(text.lines()) {
            let mark = ["```", "~~~"].into_iter().find(|mark| text.trim_start().starts_with(mark));
            let is_code = fence.is_some() || mark.is_some();
            match (fence, mark) {
                (None, Some(mark)) => fence = Some(mark),
                (Some(open), Some(mark)) if open == mark => fence = None,
                _ => {}
            }
            let shown = if is_code { text.to_owned() } else { without_comments(text, &mut is_comment) };
            let heading = heading(&shown).filter(|_| !is_code);
            let mut says = heading.is_none() && !is_blank(&shown);
            if let (Some(level), Some(above)) = (underline(text).filter(|_| !is_code), lines.last_mut())
                && above.says
                && !above.is_code
            {
                above.heading = Some((level, above.text.trim().to_lowercase()));
                (above.says, says) = (false, false);
            }
            lines.push(Line { number, text, is_code, heading, says });
        }
        lines
    }
}

/// A heading that begins with signs.
fn heading(line: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let rest = line.get(level..)?;
    let is_heading = (1..=6).contains(&level) && rest.starts_with([' ', '\t']);
    is_heading.then(|| (level, rest.trim().to_lowercase()))
}

/// The level of the heading above, if a line does nothing but underline it.
fn underline(line: &str) -> Option<usize> {
    let line = line.trim();
    let is_all = |sign: char| line.len() > 1 && line.chars().all(|it| it == sign);
    if is_all('=') { Some(1) } else { is_all('-').then_some(2) }
}

/// A line without comments, which may go over several lines.
fn without_comments(line: &str, is_comment: &mut bool) -> String {
    let mut shown = String::new();
    let mut rest = line;
    loop {
        let end = if *is_comment { "-->" } else { "<!--" };
        let (before, behind) = rest.split_once(end).map_or((rest, None), |(it, behind)| (it, Some(behind)));
        if !*is_comment {
            shown.push_str(before);
        }
        let Some(behind) = behind else { return shown };
        *is_comment = !*is_comment;
        rest = behind;
    }
}

enum Section {
    Missing,
    Empty,
    Full,
}

/// A heading counts that has one of the names in it. What stands up to the next one of its level is its own.
fn look_for(lines: &[Line<'_>], section: &str) -> Section {
    let names: Vec<String> = section.split('|').map(|name| name.trim().to_lowercase()).collect();
    let mut found = Section::Missing;
    for (at, line) in lines.iter().enumerate() {
        let Some((level, words)) = &line.heading else { continue };
        if !names.iter().any(|name| !name.is_empty() && words.contains(name)) {
            continue;
        }
        let below = lines[at + 1..].iter();
        let mut own = below.take_while(|it| it.heading.as_ref().is_none_or(|(other, _)| other > level));
        if own.any(|it| it.says) {
            return Section::Full;
        }
        found = Section::Empty;
    }
    found
}

fn is_placeholder(line: &str) -> bool {
    let line = without_code(line);
    let body = line.trim().trim_start_matches(['-', '*', '+', '>', '|', ' ']).trim_end_matches(['|', ' ']);
    let small = line.to_lowercase();
    let alone = ["todo", "tbd", "fixme", "...", "…"].iter().any(|word| body.eq_ignore_ascii_case(word));
    let slot = line.split_once("{{").is_some_and(|(_, rest)| rest.contains("}}"));
    let marked = ["TODO:", "TODO(", "FIXME:", "FIXME("].iter().any(|mark| line.contains(mark));
    let mut words = line.split(|it: char| !it.is_alphanumeric());
    alone || slot || marked || words.any(|word| word == "TBD") || PHRASES.iter().any(|it| small.contains(it))
}

/// A line without what stands between backticks.
fn without_code(line: &str) -> String {
    if line.matches('`').count() < 2 {
        return line.to_owned();
    }
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(sections: &[&str]) -> Rule {
        Rule {
            glob: "a.md".into(),
            min: 1,
            max: None,
            sections: sections.iter().map(ToString::to_string).collect(),
            changed: true,
            placeholders: true,
        }
    }

    fn keys(text: &str, sections: &[&str]) -> Vec<String> {
        let found = problems("a.md", text, &rule(sections));
        found.iter().map(|it| serde_json::json!(it)["key"].as_str().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn sections_in_either_language() {
        let text = "# Idea\n\n## 1. The Problem\n\nNobody finds it.\n\n## 해결책\n### How\nSo.\n## Risks\n\n## Next\nx";
        assert_eq!(keys(text, &["Problem|문제", "Solution|해결책", "next"]), Vec::<String>::new());
        assert_eq!(keys(text, &["Risks|위험"]), ["section_empty"]);
        assert_eq!(keys(text, &["Market|시장"]), ["section_missing"]);
        assert_eq!(keys("```\n# Problem\nx\n```\n", &["Problem"]), ["section_missing"]);
        let underlined =
            "Plan\n====\n\n1. Problem\n---\n\nNobody finds it.\n\nSolution\n--------\n\nNext\n----\nx\n";
        assert_eq!(keys(underlined, &["Problem", "Plan"]), Vec::<String>::new());
        assert_eq!(keys(underlined, &["Solution"]), ["section_empty"]);
    }

    #[test]
    fn what_nobody_sees_says_nothing() {
        for below in [
            "",
            "\u{200b}\u{3164}",
            "<!-- later -->",
            "<!--\nlater\n-->",
            "<!-- a --> <!-- b -->",
            "### More",
        ] {
            assert_eq!(
                keys(&format!("## Problem\n{below}\n\n## Next\nx"), &["Problem"]),
                ["section_empty"],
                "{below}"
            );
        }
        for below in
            ["x", "<!-- a --> x", "<!--\na\n--> x", "| a |", "```\n<!-- a -->\n```", "![a](b.png)", "문제"]
        {
            assert_eq!(
                keys(&format!("## Problem\n{below}\n\n## Next\nx"), &["Problem"]),
                Vec::<String>::new(),
                "{below}"
            );
        }
    }

    #[test]
    fn placeholders_but_not_texts_about_them() {
        for text in [
            "TODO",
            "- TBD",
            "TODO: write it",
            "The price is TBD.",
            "{{what is wrong today?}}",
            "...",
            "Lorem ipsum dolor",
            "| TBD |",
            "내용은 추후 작성합니다.",
        ] {
            assert_eq!(keys(text, &[]), ["placeholder"], "{text}");
        }
        for text in [
            "A TODO list for teams.",
            "Users keep a todo list...",
            "In Vue, `{{ name }}` is a slot.",
            "```\nTODO: code\n```",
            "Wait for the reply… then go on.",
            "TBDs",
        ] {
            assert_eq!(keys(text, &[]), Vec::<String>::new(), "{text}");
        }
    }
}
