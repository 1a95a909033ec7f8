//! Files are opened where nobody can make the opener wait.
//!
//! An agent can put a named pipe in the place of any file of its user. The crates that read the state directory and the
//! configuration open files through `ostler-files`, which does not block; every other way needs a reason in the table
//! below. Tests open what they like.

use super::{File, Problem, rust};

/// The crates that open files which an agent may have exchanged.
const CRATES: [&str; 10] = [
    "crates/cli/src/",
    "crates/files/src/",
    "crates/memory/src/",
    "crates/project/src/",
    "crates/server/src/",
    "crates/shim/src/",
    "crates/skills/src/",
    "crates/store/src/",
    "crates/vault/src/",
    "crates/workspace/src/",
];

/// The ways of the standard library to open a file that may block.
const FORBIDDEN: [&str; 8] = [
    "fs::read(",
    "fs::read_to_string(",
    "fs::copy(",
    "File::open(",
    "File::create(",
    "File::options(",
    "OpenOptions::new()",
    "options.open(",
];

/// Where another way is right, and why.
const HOMES: &[(&str, &str)] = &[
    ("crates/files/src/", "this is where files are opened"),
    ("crates/cli/src/commands/answer.rs", "a person names the file, which may be a pipe of their shell"),
    ("crates/cli/src/commands/export.rs", "a person names the file, which may be a pipe of their shell"),
    ("crates/cli/src/commands/parse.rs", "a person names the file, which may be a pipe of their shell"),
    ("crates/cli/src/commands/phases.rs", "writes the first files of a project at the wish of a person"),
    (
        "crates/server/src/packages/manifest.rs",
        "makes a draft with the permissions of the manifest, which must not be there",
    ),
    ("crates/workspace/src/repository.rs", "opens the lock for both ends, which waits for nothing"),
    ("crates/workspace/src/snapshot.rs", "makes a copy that must not be there yet"),
    ("crates/server/src/verifier_config.rs", "copies files and directories, each opened without blocking"),
];

pub(super) fn check(file: &File) -> Vec<Problem> {
    let is_test = file.path.ends_with("/tests.rs");
    let is_home = HOMES.iter().any(|(path, _)| file.path.starts_with(path));
    if is_test || is_home || !CRATES.iter().any(|path| file.path.starts_with(path)) {
        return Vec::new();
    }
    let code = rust::split(&file.text).code;
    let code = code.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut problems = Vec::new();
    for (index, line) in code.lines().enumerate() {
        for found in FORBIDDEN.iter().filter(|word| has(line, word)) {
            let what = format!(
                "{found}…) waits for a pipe that an agent puts there: open it through ostler-files, or say in \
                 xtask/src/tidy/opening.rs why not"
            );
            problems.push(Problem { path: file.path.clone(), line: index + 1, what });
        }
    }
    problems
}

/// Whether a line opens a file that way. Options that are handed to `ostler-files` open nothing by themselves.
fn has(line: &str, word: &str) -> bool {
    let Some(at) = line.find(word) else { return false };
    let is_of_longer_name = line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_handed_over = word.starts_with("OpenOptions") && !line.contains(".open(");
    !is_of_longer_name && !is_handed_over
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str) -> usize {
        super::check(&File { path: path.to_owned(), text: text.to_owned() }).len()
    }

    #[test]
    fn only_the_home_opens_files_by_itself() {
        let server = "crates/server/src/mark.rs";
        assert_eq!(check(server, "let text = fs::read_to_string(path)?;"), 1);
        assert_eq!(check(server, "let file = fs::File::open(path)?;"), 1);
        assert_eq!(check(server, "OpenOptions::new().append(true).open(path)"), 1);
        assert_eq!(check(server, "private::open_or_create(&path, OpenOptions::new().append(true))"), 0);
        assert_eq!(check(server, "// fs::read(path)\nprivate::read(path, 4)"), 0);
        assert_eq!(check(server, "#[cfg(test)]\nmod tests {\n    fs::read(path)\n}"), 0);
        assert_eq!(check("crates/files/src/lib.rs", "File::open(path)"), 0);
        assert_eq!(check("crates/engine/src/lib.rs", "File::open(path)"), 0);
    }
}
