//! Crates depend on each other in one direction, and the pure ones stay pure.
//!
//! The table below is `docs/architecture.md` in a form that can be checked. A new crate is added to both.

use std::path::Path;

use serde_json::Value;

use super::{File, Problem, relative, rust};
use crate::{error::Error, process::metadata};

/// What a crate of the workspace may lean on.
struct Rule {
    name: &'static str,
    /// Crates of the workspace.
    workspace: &'static [&'static str],
    /// Crates of the workspace that its tests alone may use.
    tests: &'static [&'static str],
    /// For a pure crate, the only other crates it may use. Those of its tests are free.
    pure: Option<&'static [&'static str]>,
}

const RULES: &[Rule] = &[
    Rule {
        name: "ostler-protocol",
        workspace: &[],
        tests: &[],
        pure: Some(&["memchr", "serde", "serde_json", "toml", "unicode-ident", "wide"]),
    },
    Rule {
        name: "ostler-agents",
        workspace: &["ostler-protocol"],
        tests: &[],
        pure: Some(&["serde", "serde_json", "toml"]),
    },
    Rule {
        name: "ostler-engine",
        workspace: &["ostler-agents", "ostler-protocol"],
        tests: &[],
        pure: Some(&["memchr", "serde", "serde_json", "toml", "unicode-security"]),
    },
    Rule {
        name: "ostler-orchestrate",
        workspace: &["ostler-engine", "ostler-protocol"],
        tests: &[],
        pure: None,
    },
    Rule { name: "ostler-files", workspace: &[], tests: &[], pure: None },
    Rule { name: "ostler-project", workspace: &["ostler-files"], tests: &[], pure: None },
    Rule {
        name: "ostler-shim",
        workspace: &["ostler-files", "ostler-protocol", "ostler-vault"],
        tests: &[],
        pure: None,
    },
    Rule {
        name: "ostler-server",
        workspace: &[
            "ostler-agents",
            "ostler-engine",
            "ostler-files",
            "ostler-memory",
            "ostler-orchestrate",
            "ostler-project",
            "ostler-protocol",
            "ostler-shim",
            "ostler-store",
            "ostler-vault",
            "ostler-workspace",
        ],
        tests: &[],
        pure: None,
    },
    Rule {
        name: "ostler",
        workspace: &[
            "ostler-agents",
            "ostler-engine",
            "ostler-files",
            "ostler-orchestrate",
            "ostler-project",
            "ostler-protocol",
            "ostler-server",
            "ostler-shim",
            "ostler-skills",
            "ostler-vault",
            "ostler-workspace",
        ],
        tests: &["ostler-store"],
        pure: None,
    },
    Rule { name: "ostler-memory", workspace: &["ostler-files"], tests: &[], pure: None },
    Rule { name: "ostler-skills", workspace: &["ostler-engine", "ostler-files"], tests: &[], pure: None },
    Rule { name: "ostler-store", workspace: &["ostler-files"], tests: &[], pure: None },
    Rule { name: "ostler-vault", workspace: &["ostler-files"], tests: &[], pure: None },
    Rule { name: "ostler-workspace", workspace: &["ostler-files"], tests: &[], pure: None },
    Rule { name: "xtask", workspace: &[], tests: &[], pure: None },
];

pub(super) fn check(root: &Path, sources: &[File]) -> Result<Vec<Problem>, Error> {
    let metadata = metadata(&root.join("Cargo.toml"))?;
    let mut problems = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let manifest = relative(root, Path::new(text(&package["manifest_path"])));
        let name = text(&package["name"]);
        let Some(rule) = RULES.iter().find(|rule| rule.name == name) else {
            let what = format!("{name} is not in the table of xtask/src/tidy/crates.rs: say what it may use");
            problems.push(Problem { path: manifest, line: 1, what });
            continue;
        };
        let lines = super::read(root, &root.join(&manifest))?.text;
        problems.extend(dependencies(rule, &package["dependencies"]).into_iter().map(
            |(dependency, what)| {
                let line =
                    lines.lines().position(|line| line.starts_with(&dependency)).map_or(1, |index| index + 1);
                Problem { path: manifest.clone(), line, what }
            },
        ));
        if rule.pure.is_some() {
            problems.extend(impurities(manifest.trim_end_matches("Cargo.toml"), sources));
        }
    }
    Ok(problems)
}

/// The dependencies that a crate may not have, and why.
fn dependencies(rule: &Rule, dependencies: &Value) -> Vec<(String, String)> {
    let mut problems = Vec::new();
    for dependency in dependencies.as_array().into_iter().flatten() {
        let name = text(&dependency["name"]);
        let in_workspace = dependency["path"].is_string();
        let for_tests = dependency["kind"] == "dev";
        let is_allowed = rule.workspace.contains(&name) || (for_tests && rule.tests.contains(&name));
        if in_workspace && !is_allowed {
            let what = format!("{} may not depend on {name}: see docs/architecture.md", rule.name);
            problems.push((name.to_owned(), what));
        }
        if let Some(allowed) = rule.pure
            && !(in_workspace || for_tests || allowed.contains(&name))
        {
            let what =
                format!("{} is pure: {name} is not on its list in xtask/src/tidy/crates.rs", rule.name);
            problems.push((name.to_owned(), what));
        }
    }
    problems
}

/// Without the standard library there is no clock, no file, no socket and no thread to reach for.
fn impurities(folder: &str, sources: &[File]) -> Vec<Problem> {
    let source_folder = format!("{folder}src/");
    let lib = format!("{source_folder}lib.rs");
    let mut problems = Vec::new();
    for file in sources.iter().filter(|file| file.path.starts_with(&source_folder)) {
        let code = rust::split(&file.text).code;
        if file.path == lib && !code.lines().any(|line| line.trim() == "#![no_std]") {
            let what = "a pure crate says `#![no_std]`".to_owned();
            problems.push(Problem { path: lib.clone(), line: 1, what });
        }
        let lines: Vec<&str> = code.lines().map(str::trim).collect();
        for (index, line) in lines.iter().enumerate() {
            let for_tests = index > 0 && lines[index - 1] == "#[cfg(test)]";
            if line.starts_with("extern crate std") && !for_tests {
                let what = "a pure crate does not bring the standard library back".to_owned();
                problems.push(Problem { path: file.path.clone(), line: index + 1, what });
            }
        }
    }
    problems
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Rule, dependencies, impurities};
    use crate::tidy::File;

    #[test]
    fn dependencies_have_one_direction() {
        let rule = Rule { name: "a", workspace: &["b"], tests: &["d"], pure: Some(&["serde"]) };
        let found = dependencies(
            &rule,
            &json!([
                { "name": "b", "kind": null, "path": "/b" },
                { "name": "c", "kind": "dev", "path": "/c" },
                { "name": "d", "kind": "dev", "path": "/d" },
                { "name": "d", "kind": null, "path": "/d" },
                { "name": "serde", "kind": null },
                { "name": "proptest", "kind": "dev" },
                { "name": "tokio", "kind": null },
            ]),
        );
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["c", "d", "tokio"]);
    }

    #[test]
    fn a_pure_crate_goes_without_std() {
        let lines = |text: &str, expected: &[usize]| {
            let file = File { path: "crates/a/src/lib.rs".into(), text: text.into() };
            let found = impurities("crates/a/", &[file]);
            assert_eq!(found.iter().map(|problem| problem.line).collect::<Vec<_>>(), expected, "{text}");
        };
        lines("//! A.\n#![no_std]\n#[cfg(test)]\nextern crate std;\n", &[]);
        lines("//! A.\n// #![no_std]\n", &[1]);
        lines("//! A.\n#![no_std]\nextern crate std;\n", &[3]);
    }
}
