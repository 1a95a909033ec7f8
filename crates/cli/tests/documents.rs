//! What the pages show is what the binary prints: every command with its output is run.
#![expect(clippy::disallowed_methods, reason = "this test runs what the pages show")]

use std::{collections::BTreeSet, env, fs, path::PathBuf, process::Command};

#[test]
fn readme() {
    assert!(check("README.md") >= 3);
    assert_eq!(check("README.ko.md"), check("README.md"), "both show the same");
}

#[test]
fn command_line() {
    for page in ["docs/cli.md", "docs/ko/cli.md"] {
        assert!(check(page) >= 3, "{page}");
    }
}

/// What the page's types are generated from is what the server says of itself; `UPDATE_EXPECT=1` writes it anew.
#[test]
fn interface() {
    let document = serde_json::to_string_pretty(&ostler_server::openapi()).expect("a document is plain data");
    expect_test::expect_file!["../../../web/openapi.json"].assert_eq(&(document + "\n"));
}

/// What stands in a path is said to stand there, and the rest behind it.
#[test]
fn parameters() {
    let document = ostler_server::openapi();
    for (path, methods) in document["paths"].as_object().expect("a document has paths") {
        let all = methods.as_object().expect("a path has methods").values();
        for parameter in all.filter_map(|method| method["parameters"].as_array()).flatten() {
            let name = parameter["name"].as_str().expect("a name");
            let wanted = if path.contains(&format!("{{{name}}}")) { "path" } else { "query" };
            let found = parameter["in"].as_str();
            assert!(found == Some(wanted) || found == Some("header"), "{path} {name}: {found:?}");
        }
    }
}

/// Every route stands in the table of the page about the interface, and nothing else does.
#[test]
fn interface_page() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
    let text = fs::read_to_string(path).expect("a page");
    let (_, table) = text.split_once("## Every route").expect("a table");
    let rows = table.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned()));
    let document = ostler_server::openapi();
    let paths = document["paths"].as_object().expect("a document has paths");
    let routes = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("a path has methods").keys();
        methods.filter(|it| *it != "servers").map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    // The document does not describe itself.
    let routes: BTreeSet<String> = routes.chain(["GET /openapi.json".to_owned()]).collect();
    assert_eq!(rows.collect::<BTreeSet<String>>(), routes);
}

/// Runs each `sh` block that a block of output follows, and counts them.
fn check(page: &str) -> usize {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
    let blocks = blocks(&text);
    let place = Place::new(page);
    let mut checked = 0;
    for pair in blocks.windows(2) {
        let [(info, script), (next, output)] = pair else { unreachable!("windows of two") };
        if *info == "sh" && matches!(*next, "json" | "jsonl" | "text") {
            assert_eq!(place.run(script), *output, "{page}:\n{script}");
            checked += 1;
        }
    }
    checked
}

/// A person's directory and state, the same for all of a page: what one block begins, the next goes on with.
struct Place {
    root: PathBuf,
}

impl Place {
    fn new(page: &str) -> Place {
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pages").join(page.replace('/', "-"));
        fs::remove_dir_all(&root).ok();
        fs::create_dir_all(root.join("project")).expect("the target directory can be written");
        let place = Place { root };
        // What is around the target directory is none of a page's business.
        place.run("git init --quiet");
        place
    }

    /// What a person would see: both streams, as they come.
    fn run(&self, script: &str) -> String {
        let binary = PathBuf::from(env!("CARGO_BIN_EXE_ostler"));
        let directory = binary.parent().expect("a binary is in a directory").to_path_buf();
        let before = env::var_os("PATH").unwrap_or_default();
        let search = env::join_paths([directory].into_iter().chain(env::split_paths(&before)));
        let mut bash = Command::new("bash");
        bash.args(["-c", &format!("exec 2>&1\n{script}")]).current_dir(self.root.join("project"));
        bash.env("PATH", search.expect("no colon in the path")).env("LC_ALL", "C.UTF-8");
        bash.env("OSTLER_HOME", self.root.join("home")).env("XDG_CONFIG_HOME", self.root.join("config"));
        let output = bash.output().expect("bash starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.run("ostler serve --stop");
    }
}

/// The fenced blocks of a page: info string and text.
fn blocks(page: &str) -> Vec<(&str, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((info.trim(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}
