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

struct Line<'a> {
    number: u64,
    text: &'a str,
    is_code: bool,
}

impl<'a> Line<'a> {
    fn all(text: &'a str) -> Vec<Line<'a>> {
        let mut fence: Option<&str> = None;
        let mut lines = Vec::new();
        for (number, text) in (1..).zip(text.lines()) {
            let mark = ["```", "~~~"].into_iter().find(|mark| text.trim_start().starts_with(mark));
            let is_code = fence.is_some() || mark.is_some();
            match (fence, mark) {
                (None, Some(mark)) => fence = Some(mark),
                (Some(open), Some(mark)) if open == mark => fence = None,
                _ => {}
            }
            lines.push(Line { number, text, is_code });
        }
        lines
    }

    /// Level and words, if it is a heading.
    fn heading(&self) -> Option<(usize, String)> {
        let level = self.text.bytes().take_while(|byte| *byte == b'#').count();
        let rest = self.text.get(level..)?;
        let is_heading = (1..=6).contains(&level) && rest.starts_with([' ', '\t']) && !self.is_code;
        is_heading.then(|| (level, rest.trim().to_lowercase()))
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
        let Some((level, words)) = line.heading() else { continue };
        if !names.iter().any(|name| !name.is_empty() && words.contains(name)) {
            continue;
        }
        let below = lines[at + 1..].iter();
        let mut own = below.take_while(|it| it.heading().is_none_or(|(other, _)| other > level));
        if own.any(|it| !it.text.trim().is_empty() && it.heading().is_none()) {
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
