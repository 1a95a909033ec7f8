//! Finds the command that runs a project's tests, from what is in its tree.

use std::collections::BTreeSet;

use serde_json::Value;

/// The command, if it can be told. `has` says whether a path is there, `read` what stands in it, `all` which files of a
/// kind there are.
pub(crate) fn find(
    has: impl Fn(&str) -> bool,
    read: impl Fn(&str) -> Option<String>,
    all: impl Fn(&str) -> Vec<String>,
) -> Option<String> {
    let command = if has("Cargo.toml") {
        "cargo test"
    } else if has("package.json") && read("package.json").is_some_and(|text| has_test_script(&text)) {
        "npm test"
    } else if has("go.mod") {
        "go test ./..."
    } else if has("pytest.ini") || has("conftest.py") {
        "python3 -m pytest"
    } else if let Some(command) = unittest(&has, &all) {
        return Some(command);
    } else if has("Makefile") && read("Makefile").is_some_and(|text| has_target(&text)) {
        "make test"
    } else if has("test.sh") {
        "sh test.sh"
    } else if has("tests/run.sh") {
        "sh tests/run.sh"
    } else {
        return None;
    };
    Some(command.to_owned())
}

/// Python's own way goes only into packages, and only to files of one pattern: each place and pattern is named, or tests
/// that are there would not be run.
fn unittest(has: impl Fn(&str) -> bool, all: impl Fn(&str) -> Vec<String>) -> Option<String> {
    let mut places = BTreeSet::new();
    for pattern in ["test*.py", "*_test.py"] {
        for path in all(&format!("**/{pattern}")) {
            let above = |folder: &str| folder.rsplit_once('/').map_or(String::new(), |(it, _)| it.to_owned());
            let mut folder = above(&path);
            while !folder.is_empty() && has(&format!("{folder}/__init__.py")) {
                folder = above(&folder);
            }
            places.insert((folder, pattern));
        }
    }
    let commands = places.iter().map(|(folder, pattern)| {
        let folder = if folder.is_empty() { "." } else { folder };
        format!("python3 -m unittest discover -s {} -p '{pattern}'", quoted(folder))
    });
    let commands: Vec<String> = commands.collect();
    (!commands.is_empty()).then(|| commands.join(" && "))
}

/// A word for a shell, whatever stands in it.
fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '/' | '.' | '_');
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Whether a runner says of itself that it ran not a single test. What it said has to be whole: a part of it does not
/// tell.
pub(crate) fn ran_none(output: &str) -> bool {
    let number = |line: &str, before: &str, behind: &str| {
        let (number, rest) = line.strip_prefix(before)?.split_once(' ')?;
        rest.starts_with(behind).then(|| number.parse::<u64>().ok()).flatten()
    };
    let (mut said, mut ran) = (false, 0);
    for line in output.lines().map(str::trim_end) {
        let count = number(line, "Ran ", "test").or_else(|| number(line, "running ", "test"));
        let is_go = line.starts_with("ok  \t") && !line.contains("[no tests to run]");
        said |= count.is_some() || line.contains("[no test files]") || line.contains("[no tests to run]");
        ran += count.unwrap_or(0) + u64::from(is_go);
    }
    said && ran == 0
}

/// What `npm init` writes says that there are no tests.
fn has_test_script(text: &str) -> bool {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    package["scripts"]["test"].as_str().is_some_and(|script| !script.contains("no test specified"))
}

fn has_target(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("test:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expected: Option<&str>) {
        let read = |path: &str| files.iter().find(|(it, _)| *it == path).map(|(_, text)| (*text).to_owned());
        let all = |glob: &str| {
            let found = files.iter().filter(|(path, _)| super::super::glob::matches(glob, path));
            found.map(|(path, _)| (*path).to_owned()).collect()
        };
        assert_eq!(find(|path| read(path).is_some(), read, all).as_deref(), expected, "{files:?}");
    }

    #[test]
    fn by_what_the_project_is_made_of() {
        check(&[], None);
        check(&[("Cargo.toml", "")], Some("cargo test"));
        check(&[("package.json", r#"{"scripts":{"test":"vitest"}}"#)], Some("npm test"));
        check(&[("package.json", r#"{"scripts":{"test":"echo \"no test specified\" && exit 1"}}"#)], None);
        check(&[("go.mod", "")], Some("go test ./..."));
        check(&[("test_shop.py", "")], Some("python3 -m unittest discover -s . -p 'test*.py'"));
        check(&[("tests/test_shop.py", "")], Some("python3 -m unittest discover -s tests -p 'test*.py'"));
        let packages =
            [("shop/__init__.py", ""), ("shop/tests/__init__.py", ""), ("shop/tests/test_a.py", "")];
        check(&packages, Some("python3 -m unittest discover -s . -p 'test*.py'"));
        let two = [("a b/test_x.py", ""), ("it's/shop_test.py", "")];
        let each = "python3 -m unittest discover -s 'a b' -p 'test*.py' && \
                    python3 -m unittest discover -s 'it'\\''s' -p '*_test.py'";
        check(&two, Some(each));
        check(&[("Makefile", "all:\n\ntest: all\n")], Some("make test"));
        check(&[("test.sh", "")], Some("sh test.sh"));
    }

    #[test]
    fn a_runner_that_ran_nothing_says_so() {
        for output in [
            "\n----\nRan 0 tests in 0.000s\n\nOK\n",
            "   Compiling shop v0.1.0\nrunning 0 tests\n\ntest result: ok. 0 passed\n\nrunning 0 tests\n",
            "?   \tshop\t[no test files]\n",
            "ok  \tshop\t0.1s [no tests to run]\n",
        ] {
            assert!(ran_none(output), "{output}");
        }
        for output in [
            "",
            "all is well\n",
            "Ran 0 tests in 0.000s\nOK\nRan 2 tests in 0.1s\n\nOK\n",
            "running 0 tests\n\nrunning 1 test\n",
            "?   \tshop\t[no test files]\nok  \tshop/cart\t0.1s\n",
            "We are running 0 tests\n",
        ] {
            assert!(!ran_none(output), "{output}");
        }
    }
}
