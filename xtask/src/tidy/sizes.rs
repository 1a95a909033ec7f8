//! Files and functions stay small enough to read in one go. A ratchet lists the exceptions, and they may only
//! shrink.
//!
//! Lines are counted as they stand, comments and blank ones too. Test code does not count: files below `tests/`,
//! files called `tests.rs`, and everything from an inline `#[cfg(test)] mod … {` to the end of a file. A function
//! is a line that begins with `fn` and its qualifiers, up to the brace that closes its body; one that a macro
//! writes, or that shares its line with an attribute, is not seen.

use std::{cmp::Ordering, collections::BTreeMap};

use super::{File, Problem, rust};

/// Lines `path lines` for a file and `path::function lines` for a function; `#` begins a comment.
pub(super) const RATCHET: &str = "xtask/tidy-ratchet.txt";

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 70;

/// Something that has a size.
struct Measure {
    /// As the ratchet names it.
    name: String,
    path: String,
    line: usize,
    lines: usize,
    lines_max: usize,
}

pub(super) fn check(sources: &[File], ratchet: &File) -> Vec<Problem> {
    let (mut allowed, mut problems) = read_ratchet(ratchet);
    for Measure { name, path, line, lines, lines_max } in sources.iter().flat_map(measures) {
        if lines <= lines_max {
            continue;
        }
        let Some((lines_allowed, at)) = allowed.remove(&name) else {
            let what = format!("{name} has {lines} lines; the limit is {lines_max}");
            problems.push(Problem { path, line, what });
            continue;
        };
        match lines.cmp(&lines_allowed) {
            Ordering::Equal => {}
            Ordering::Greater => {
                let what = format!(
                    "{name} has {lines} lines; it had {lines_allowed}, and exceptions may only shrink"
                );
                problems.push(Problem { path, line, what });
            }
            Ordering::Less => {
                let what = format!("{name} has shrunk: lower its number to {lines}");
                problems.push(Problem { path: ratchet.path.clone(), line: at, what });
            }
        }
    }
    for (name, (_, line)) in allowed {
        let what = format!("{name} needs no exception any more: remove this line");
        problems.push(Problem { path: ratchet.path.clone(), line, what });
    }
    problems
}

/// The exceptions, each with its number of lines and where it is listed.
fn read_ratchet(ratchet: &File) -> (BTreeMap<String, (usize, usize)>, Vec<Problem>) {
    let mut allowed = BTreeMap::new();
    let mut problems = Vec::new();
    for (index, line) in ratchet.text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let entry = line.rsplit_once(' ').and_then(|(name, lines)| Some((name, lines.parse().ok()?)));
        match entry {
            Some((name, lines)) => {
                allowed.insert(name.trim().to_owned(), (lines, index + 1));
            }
            None => problems.push(Problem {
                path: ratchet.path.clone(),
                line: index + 1,
                what: "not of the form `path lines`".to_owned(),
            }),
        }
    }
    (allowed, problems)
}

fn measures(file: &File) -> Vec<Measure> {
    if file.path.split('/').any(|part| part == "tests" || part == "tests.rs") {
        return Vec::new();
    }
    let split = rust::split(&file.text);
    let production = production_lines(&split.code);
    let mut measures = vec![Measure {
        name: file.path.clone(),
        path: file.path.clone(),
        line: 1,
        lines: production,
        lines_max: FILE_LINES_MAX,
    }];
    for (name, line, lines) in functions(&split.code) {
        if line <= production {
            let name = format!("{}::{name}", file.path);
            let path = file.path.clone();
            measures.push(Measure { name, path, line, lines, lines_max: FUNCTION_LINES_MAX });
        }
    }
    measures
}

/// How many lines stand before the inline test module.
fn production_lines(code: &str) -> usize {
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let opens_tests = |index: usize| {
        let item = lines[index..].iter().find(|line| !line.is_empty() && !line.starts_with("#["));
        lines[index] == "#[cfg(test)]"
            && item.is_some_and(|item| item.starts_with("mod ") && item.ends_with('{'))
    };
    (0..lines.len()).find(|&index| opens_tests(index)).unwrap_or(lines.len())
}

/// Name, line and number of lines of each function with a body.
fn functions(code: &str) -> Vec<(&str, usize, usize)> {
    let mut found = Vec::new();
    let mut offset = 0;
    for (index, line) in code.split_inclusive('\n').enumerate() {
        if let Some(name) = function_name(line)
            && let Some(length) = body_end(&code[offset..])
        {
            let lines = code[offset..offset + length].lines().count();
            found.push((name, index + 1, lines));
        }
        offset += line.len();
    }
    found
}

fn function_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix("fn ") {
            let name = after.trim_start();
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
            return (end > 0).then(|| &name[..end]);
        }
        let qualifiers = ["pub", "const", "async", "unsafe", "extern", "default"];
        let after = qualifiers.iter().find_map(|word| rest.strip_prefix(word))?;
        let after = match after.strip_prefix('(') {
            Some(scope) => scope.split_once(')')?.1,
            None => after,
        };
        rest = after.strip_prefix(' ')?.trim_start();
    }
}

/// The offset behind the brace that closes a function's body; none for a function without one.
fn body_end(code: &str) -> Option<usize> {
    let mut braces = 0_usize;
    let mut brackets = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            ';' if braces == 0 && brackets == 0 => return None,
            '{' => braces += 1,
            '}' if braces <= 1 => return Some(at + 1),
            '}' => braces -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{check, functions, production_lines};
    use crate::tidy::{File, rust};

    fn file(path: &str, text: impl Into<String>) -> File {
        File { path: path.into(), text: text.into() }
    }

    fn problems(source: &File, ratchet: &str) -> Vec<String> {
        let found = check(std::slice::from_ref(source), &file("ratchet", ratchet));
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn measures_functions() {
        let code = "fn a() {\n  if x { y }\n}\n\npub(crate) const fn b<T>(\n  c: [u8; 4],\n) -> T\nwhere\n  T: C,\n{\n}\nfn d();\n    async fn e() {}\nlet f: fn(u8) = g;\n";
        assert_eq!(functions(code), [("a", 1, 3), ("b", 5, 7), ("e", 13, 1)]);
    }

    #[test]
    fn braces_in_literals_do_not_count() {
        let split = rust::split("fn a() {\n  b(\"}\", '}'); // }\n}\n");
        assert_eq!(functions(&split.code), [("a", 1, 3)]);
    }

    #[test]
    fn the_inline_test_module_does_not_count() {
        assert_eq!(production_lines("a\n#[cfg(test)]\nmod tests {\n}\n"), 1);
        assert_eq!(production_lines("a\n#[cfg(test)]\n#[path]\nmod tests {\n}\n"), 1);
        assert_eq!(production_lines("#[cfg(test)]\nmod tests;\nb\n"), 3);
        assert_eq!(production_lines("#[cfg(test)]\nuse a;\nb {\n"), 3);
    }

    #[test]
    fn limits_hold_outside_tests() {
        let long = "\n".repeat(601);
        assert_eq!(problems(&file("a.rs", &long), ""), ["a.rs:1: a.rs has 601 lines; the limit is 600"]);
        assert!(problems(&file("crates/a/tests/a.rs", &long), "").is_empty());
        assert!(problems(&file("a.rs", format!("#[cfg(test)]\nmod tests {{\n{long}}}\n")), "").is_empty());
        let function = format!("fn a() {{\n{}}}\n", "\n".repeat(69));
        assert_eq!(problems(&file("a.rs", function), ""), ["a.rs:1: a.rs::a has 71 lines; the limit is 70"]);
    }

    #[test]
    fn the_ratchet_only_shrinks() {
        let long = file("a.rs", "\n".repeat(620));
        assert!(problems(&long, "# why\na.rs 620\n").is_empty());
        let grown = "a.rs:1: a.rs has 620 lines; it had 610, and exceptions may only shrink";
        assert_eq!(problems(&long, "a.rs 610\n"), [grown]);
        assert_eq!(problems(&long, "a.rs 630\n"), ["ratchet:1: a.rs has shrunk: lower its number to 620"]);
        let gone = "ratchet:1: a.rs needs no exception any more: remove this line";
        assert_eq!(problems(&file("a.rs", "\n"), "a.rs 630\n"), [gone]);
        assert_eq!(problems(&file("a.rs", "\n"), "a.rs\n"), ["ratchet:1: not of the form `path lines`"]);
    }
}
