//! Finds the command that runs a project's tests, from what is in its tree.

use serde_json::Value;

/// The command, if it can be told. `has` says whether a path is there, `read` what stands in it, `any` whether there is
/// a file of a kind.
pub(crate) fn find(
    has: impl Fn(&str) -> bool,
    read: impl Fn(&str) -> Option<String>,
    any: impl Fn(&str) -> bool,
) -> Option<String> {
    let command = if has("Cargo.toml") {
        "cargo test"
    } else if has("package.json") && read("package.json").is_some_and(|text| has_test_script(&text)) {
        "npm test"
    } else if has("go.mod") {
        "go test ./..."
    } else if has("pytest.ini") || has("conftest.py") {
        "python3 -m pytest"
    } else if any("**/test_*.py") || any("**/*_test.py") {
        "python3 -m unittest discover"
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
        let any = |glob: &str| files.iter().any(|(path, _)| super::super::glob::matches(glob, path));
        assert_eq!(find(|path| read(path).is_some(), read, any).as_deref(), expected, "{files:?}");
    }

    #[test]
    fn by_what_the_project_is_made_of() {
        check(&[], None);
        check(&[("Cargo.toml", "")], Some("cargo test"));
        check(&[("package.json", r#"{"scripts":{"test":"vitest"}}"#)], Some("npm test"));
        check(&[("package.json", r#"{"scripts":{"test":"echo \"no test specified\" && exit 1"}}"#)], None);
        check(&[("go.mod", "")], Some("go test ./..."));
        check(&[("tests/test_shop.py", "")], Some("python3 -m unittest discover"));
        check(&[("Makefile", "all:\n\ntest: all\n")], Some("make test"));
        check(&[("test.sh", "")], Some("sh test.sh"));
    }
}
