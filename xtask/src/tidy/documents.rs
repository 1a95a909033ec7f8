//! Links in the documents lead somewhere, decisions are numbered without gaps, tests that prove claims are there, and
//! every error is explained.

use std::path::Path;

use super::{File, Problem};

const DECISIONS: &str = "docs/decisions/";

/// Every relative link must point to a file or folder. Links in code, to the web and within the page are left
/// alone.
pub(super) fn check_links(root: &Path, file: &File) -> Vec<Problem> {
    let folder = root.join(&file.path);
    let folder = folder.parent().unwrap_or(root);
    let mut problems = Vec::new();
    for (line, target) in links(&file.text) {
        let path = target.split('#').next().unwrap_or_default();
        let elsewhere = path.is_empty() || path.contains("://") || path.starts_with("mailto:");
        if !elsewhere && !folder.join(path).exists() {
            let what = format!("the link to `{target}` leads nowhere");
            problems.push(Problem { path: file.path.clone(), line, what });
        }
    }
    problems
}

/// Decisions are called `NNNN-some-title.md`, from 0001 on.
pub(super) fn check_decisions(documents: &[File]) -> Vec<Problem> {
    let mut names: Vec<&str> =
        documents.iter().filter_map(|file| file.path.strip_prefix(DECISIONS)).collect();
    names.sort_unstable();
    let mut problems = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let expected = format!("{:04}-", index + 1);
        if !name.starts_with(&expected) {
            let what = format!("decisions are numbered without gaps: `{expected}…` is due here");
            problems.push(Problem { path: format!("{DECISIONS}{name}"), line: 1, what });
            break;
        }
    }
    problems
}

/// The documents whose every claim names its tests.
const CLAIMS: [&str; 2] = ["docs/reliability.md", "docs/security.md"];

/// A test that a claim names as `file::function` must be there; `file::*` and `file::…` stand for a whole file.
pub(super) fn check_claims(documents: &[File], sources: &[File]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for file in documents.iter().filter(|file| CLAIMS.contains(&file.path.as_str())) {
        for (index, line) in file.text.lines().enumerate() {
            let code = line.split('`').skip(1).step_by(2).filter_map(|code| code.split_once("::"));
            for (module, function) in code.filter(|(module, test)| !is_there(sources, module, test)) {
                let what = format!("there is no test `{module}::{function}`");
                problems.push(Problem { path: file.path.clone(), line: index + 1, what });
            }
        }
    }
    problems
}

/// Where the words stand by which programs know what went wrong, behind some head.
const CODES: [(&str, &str); 2] =
    [("crates/server/src/http/code.rs", "\ncodes! {"), ("crates/cli/src/error.rs", "fn code(")];

/// The document that explains them, a row for each.
const EXPLAINED: &str = "docs/troubleshooting.md";

/// Every code of an error has a row, and every row is about one that there is.
pub(super) fn check_codes(documents: &[File], sources: &[File]) -> Vec<Problem> {
    let codes: Vec<&str> = CODES.iter().flat_map(|(path, head)| texts(sources, path, head)).collect();
    let text = documents.iter().find(|file| file.path == EXPLAINED).map_or("", |file| &file.text);
    let row = |line| Some(str::strip_prefix(line, "| `")?.split_once('`')?.0);
    let rows: Vec<(usize, &str)> =
        text.lines().enumerate().filter_map(|(index, line)| Some((index + 1, row(line)?))).collect();
    let problem = |line, what| Problem { path: EXPLAINED.into(), line, what };
    let missing = codes.iter().filter(|code| !rows.iter().any(|(_, row)| row == *code));
    let missing = missing.map(|code| problem(1, format!("the error `{code}` is not explained")));
    let unknown = rows.iter().filter(|(_, row)| !codes.contains(row));
    missing.chain(unknown.map(|(line, row)| problem(*line, format!("there is no error `{row}`")))).collect()
}

/// The texts of a list or function that gives one for each case: `… => "text",`.
fn texts<'a>(sources: &'a [File], path: &str, head: &str) -> Vec<&'a str> {
    let text = sources.iter().find(|file| file.path == path).map_or("", |file| &file.text);
    let body = text.split_once(head).map_or("", |(_, body)| body);
    let end = ["\n    }\n", "\n}\n"].iter().filter_map(|end| body.find(end)).min();
    let body = &body[..end.unwrap_or(body.len())];
    body.split("=> \"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0)).collect()
}

fn is_there(sources: &[File], module: &str, function: &str) -> bool {
    let names = [format!("/{module}.rs"), format!("/{module}/tests.rs"), format!("/{module}.mjs")];
    // Tests of the page are called by sentences.
    let heads = [format!("fn {function}("), format!("test(\"{function}\"")];
    let is_whole = matches!(function, "*" | "…");
    let is_it = |file: &File| names.iter().any(|name| file.path.ends_with(name));
    let has_it = |file: &File| is_whole || heads.iter().any(|head| file.text.contains(head));
    sources.iter().any(|file| is_it(file) && has_it(file))
}

/// Line and target of each `[text](target)` and `[name]: target` outside code.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        let start = line.trim_start();
        match fence {
            Some(open) if start.starts_with(open) => fence = None,
            Some(_) => {}
            None if start.starts_with("```") => fence = Some("```"),
            None if start.starts_with("~~~") => fence = Some("~~~"),
            None => links.extend(links_in_line(&without_code(line)).map(|target| (index + 1, target))),
        }
    }
    links
}

fn links_in_line(line: &str) -> impl Iterator<Item = String> {
    let inline = line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    // A title may follow the target: [text](target "title").
    let targets = inline.chain(definition).filter_map(|target| target.split_whitespace().next());
    targets.map(|target| target.trim_matches(['<', '>']).to_owned()).collect::<Vec<_>>().into_iter()
}

/// The line with its inline code blanked out.
fn without_code(line: &str) -> String {
    let parts = line.split('`').enumerate();
    parts.map(|(index, part)| if index % 2 == 0 { part } else { " " }).collect()
}

#[cfg(test)]
mod tests {
    use super::{check_claims, check_codes, check_decisions, links};
    use crate::tidy::File;

    #[test]
    fn finds_links_outside_code() {
        let text =
            "[a](b.md) and ![c](d.png \"e\")\n`[f](g)`\n```\n[h](i)\n```\n[j]: k.md\n[USER_QUESTION]\n";
        let found = links(text);
        let found: Vec<(usize, &str)> = found.iter().map(|(line, target)| (*line, target.as_str())).collect();
        assert_eq!(found, [(1, "b.md"), (1, "d.png"), (6, "k.md")]);
    }

    #[test]
    fn errors_are_explained() {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let code = "    fn code(&self) {\n        A => \"a_b\",\n        B => \"c\",\n    }\n    fn more() { x => \"d\" }\n";
        let sources = [file("crates/cli/src/error.rs", code)];
        let said = |text| check_codes(&[file("docs/troubleshooting.md", text)], &sources).len();
        assert_eq!(said("| `a_b` | x |\n| `c` | y |\n"), 0);
        assert_eq!(said("| `a_b` | x |\n| `d` | y |\n"), 2);
    }

    #[test]
    fn tests_that_prove_something_are_there() {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let sources = [file("crates/a/tests/b/locks.rs", "#[test]\nfn a_lock() {")];
        let claims = |text| check_claims(&[file("docs/security.md", text)], &sources).len();
        assert_eq!(claims("| x | `cli` `locks::a_lock`, `locks::*` |"), 0);
        assert_eq!(claims("| x | `locks::a_loc`, `lock::a_lock` |"), 2);
    }

    #[test]
    fn decisions_have_no_gaps() {
        let check = |names: &[&str]| {
            let file = |name: &&str| File { path: format!("docs/decisions/{name}"), text: String::new() };
            check_decisions(&names.iter().map(file).collect::<Vec<_>>()).len()
        };
        assert_eq!(check(&["0002-b.md", "0001-a.md"]), 0);
        assert_eq!(check(&["0001-a.md", "0003-c.md"]), 1);
        assert_eq!(check(&["0001-a.md", "0001-b.md"]), 1);
        assert_eq!(check(&["a.md"]), 1);
    }
}
