//! Every source file opens with a module doc and holds no unfinished work.
//!
//! Words inside string literals are data and are left alone.

use super::{File, Problem, rust};

const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

/// Written in two halves, so that this file is not its own first problem when somebody searches for them.
const MARKERS: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];

pub(super) fn check(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut report = |line, what| problems.push(Problem { path: file.path.clone(), line, what });
    let first = file.text.lines().enumerate().find(|(_, line)| !line.trim().is_empty());
    if !first.is_some_and(|(_, line)| line.starts_with("//!")) {
        let line = first.map_or(1, |(index, _)| index + 1);
        report(
            line,
            "the file does not open with a `//!` module doc: its role and whom it talks to".to_owned(),
        );
    }
    let split = rust::split(&file.text);
    for (index, (code, comment)) in split.code.lines().zip(split.comments.lines()).enumerate() {
        for name in MACROS {
            if words(code).any(|(word, after)| word == name && after.starts_with('!')) {
                report(index + 1, format!("`{name}!` is left in the code"));
            }
        }
        for marker in MARKERS {
            if words(code).chain(words(comment)).any(|(word, _)| word == marker) {
                report(index + 1, format!("{marker} is left in the code; finish it or open an issue"));
            }
        }
    }
    problems
}

/// The identifiers of a line, each with what follows it.
fn words(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = line;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c| !is_part(c));
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        (!word.is_empty()).then_some((word, after))
    })
}

#[cfg(test)]
mod tests {
    use super::{MARKERS, check};
    use crate::tidy::File;

    #[track_caller]
    fn lines(text: &str, expected: &[usize]) {
        let file = File { path: "a.rs".into(), text: text.into() };
        let found: Vec<usize> = check(&file).iter().map(|problem| problem.line).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn wants_a_module_doc() {
        lines("//! Role.\n", &[]);
        lines("\n//! Role.\n", &[]);
        lines("", &[1]);
        lines("\nuse a;\n//! Role.\n", &[2]);
        lines("// Role.\n", &[1]);
    }

    #[test]
    fn finds_unfinished_work_but_not_in_literals() {
        let [first, second] = MARKERS;
        let text = format!("//! Role.\n// {first}: more\nlet a = \"{second}\";\n// {second}\n");
        lines(&text, &[2, 4]);
        lines("//! Role.\nfn a() {\n    todo!()\n}\nlet todo = dbg!(1);\n", &[3, 5]);
        lines("//! Role.\nlet todo = a != \"todo!\";\nmytodo!();\n", &[]);
    }
}
