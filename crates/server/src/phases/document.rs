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
        let mut fence: Option<Fence> = None;
        let mut is_comment = false;
        let mut lines: Vec<Line<'a>> = Vec::new();
        for (number, text) in (1..).zip(text.lines()) {
            let opened = Fence::opened(text).filter(|_| fence.is_none() && !is_comment);
            let is_code = fence.is_some() || opened.is_some();
            match fence {
                Some(open) if open.is_closed_by(text) => fence = None,
                Some(_) => {}
                None => fence = opened,
            }
            let shown = if is_code { text.to_owned() } else { without_comments(text, &mut is_comment) };
            let heading = heading(&shown).filter(|_| !is_code);
            let mut says =
                heading.is_none() && if is_code { !is_blank(&shown) } else { says_something(&shown) };
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

/// What opens and closes code.
#[derive(Clone, Copy)]
struct Fence {
    sign: char,
    length: usize,
}

impl Fence {
    /// Code on one line between the same signs is no fence.
    fn opened(line: &str) -> Option<Fence> {
        let line = line.trim_start();
        let sign = line.chars().next().filter(|it| matches!(it, '`' | '~'))?;
        let length = line.chars().take_while(|it| *it == sign).count();
        let is_fence = length >= 3 && !(sign == '`' && line[length..].contains('`'));
        is_fence.then_some(Fence { sign, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|it| it == self.sign)
    }
}

/// Whether a reader of the finished page sees anything in a line: signs of Markdown, tags and empty cells show nothing.
fn says_something(line: &str) -> bool {
    let line = line.trim();
    // A definition of a link is shown nowhere.
    if line.starts_with('[') && line.split_once("]:").is_some_and(|(name, _)| !name.contains(' ')) {
        return false;
    }
    if line.contains("![") || line.contains("<img") {
        return true;
    }
    let mut shown = String::new();
    let mut rest = line;
    while let Some((before, behind)) = rest.split_once('<') {
        shown.push_str(before);
        let is_tag = behind.starts_with(|it: char| it.is_ascii_alphabetic() || it == '/');
        rest = match behind.split_once('>').filter(|_| is_tag) {
            Some((_, behind)) => behind,
            None => {
                shown.push('<');
                behind
            }
        };
    }
    shown.push_str(rest);
    let shown = shown.replace("&nbsp;", " ").replace("&#160;", " ").replace("&emsp;", " ");
    let is_seen = |it: char| {
        !(it.is_whitespace() || it.is_control() || it.is_ascii_punctuation() || INVISIBLE.contains(&it))
    };
    shown.chars().any(is_seen)
}

/// A heading that begins with signs.
fn heading(line: &str) -> Option<(usize, String)> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let line = if indent <= 3 { &line[indent..] } else { line };
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

/// A line without comments, which may go over several lines. What stands as code is none.
fn without_comments(line: &str, is_comment: &mut bool) -> String {
    let mut shown = String::new();
    let mut rest = line;
    loop {
        let end = if *is_comment { "-->" } else { "<!--" };
        let Some((before, behind)) = rest.split_once(end) else {
            if !*is_comment {
                shown.push_str(rest);
            }
            return shown;
        };
        if !*is_comment {
            shown.push_str(before);
            let is_code = shown.matches('`').count() % 2 == 1 && behind.contains('`');
            if is_code {
                shown.push_str(end);
                rest = behind;
                continue;
            }
        }
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
    let alone = ["todo", "tbd", "tba", "n/a", "coming soon", "fixme", "준비 중", "...", "…"];
    let is_word =
        |word: &&str| [body, body.trim_end_matches('.')].iter().any(|it| it.eq_ignore_ascii_case(word));
    let alone = alone.iter().any(is_word);
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
            "---",
            "***",
            "&nbsp;",
            "<div></div>",
            "<br/>",
            "[//]: # (nothing)",
            "-",
            ">",
            "| | |\n|---|---|\n| | |",
            "**",
        ] {
            assert_eq!(
                keys(&format!("## Problem\n{below}\n\n## Next\nx"), &["Problem"]),
                ["section_empty"],
                "{below}"
            );
        }
        for below in [
            "x",
            "<!-- a --> x",
            "<!--\na\n--> x",
            "| a |",
            "```\n<!-- a -->\n```",
            "![](b.png)",
            "문제",
            "3 < 4",
            "[a](b)",
            "✓",
            "<b>x</b>",
        ] {
            assert_eq!(
                keys(&format!("## Problem\n{below}\n\n## Next\nx"), &["Problem"]),
                Vec::<String>::new(),
                "{below}"
            );
        }
    }

    #[test]
    fn a_section_is_found_behind_whatever_looks_like_something_else() {
        for above in ["Use `<!--` to open a comment.", "```sh inline```", "~~~\n```\n~~~", "````\n```\n````"]
        {
            let text = format!("# A\n\n{above}\n\n   ## Solution\n\nSo.\n");
            assert_eq!(keys(&text, &["Solution"]), Vec::<String>::new(), "{above}");
        }
        assert_eq!(keys("# A\n\n    ## Solution\n\nSo.\n", &["Solution"]), ["section_missing"]);
        assert_eq!(keys("# A\n\n<!-- ```\n## Solution\nSo. -->\n", &["Solution"]), ["section_missing"]);
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
            "N/A",
            "Coming soon.",
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
