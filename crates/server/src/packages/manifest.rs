//! The manifest of a project whose package manager does not write it: pip installs a package and leaves it to others to
//! name it in `requirements.txt` or `pyproject.toml`. Nothing here follows a link, and nothing else is changed there.

use std::{
    fmt, fs,
    fs::OpenOptions,
    io::{self, Write},
    ops::Range,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::Path,
};

use ostler_files::named;
use serde::Deserialize;
use toml::Spanned;

/// The most that is read.
const BYTES_MAX: u64 = 1024 * 1024;

/// Why a package is not named in the manifest.
#[derive(Debug)]
pub(crate) enum RecordError {
    /// The file cannot be read or written.
    Io(io::Error),
    /// The file is no plain file, or too large.
    NotAFile,
    /// The file cannot be understood.
    Unreadable,
}

/// The parts of `pyproject.toml` that matter.
#[derive(Deserialize)]
struct PyProject {
    project: Option<PyProjectTable>,
}

/// Its table `[project]`.
#[derive(Deserialize)]
struct PyProjectTable {
    dependencies: Option<Spanned<Vec<Spanned<String>>>>,
}

/// The file in which the packages of a project are named whose package manager is pip.
pub(super) fn of_pip(directory: &Path) -> &'static str {
    let requirements = "requirements.txt";
    let project = named::read_text(directory.join("pyproject.toml"), BYTES_MAX).unwrap_or_default();
    let has_table = toml::from_str::<PyProject>(&project).is_ok_and(|it| it.project.is_some());
    if has_table && !directory.join(requirements).exists() { "pyproject.toml" } else { requirements }
}

/// Names a package in the manifest of a directory. One that is named there already gets the newer requirement.
pub(crate) fn record(directory: &Path, manifest: &str, requirement: &str) -> Result<(), RecordError> {
    let path = directory.join(manifest);
    let (before, mode) = match fs::symlink_metadata(&path) {
        Ok(found) if !found.is_file() || found.len() > BYTES_MAX => return Err(RecordError::NotAFile),
        Ok(found) => {
            (named::read_text(&path, BYTES_MAX).map_err(RecordError::Io)?, found.permissions().mode())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => (String::new(), 0o666),
        Err(error) => return Err(RecordError::Io(error)),
    };
    let after = if manifest == "pyproject.toml" {
        in_project(&before, requirement).ok_or(RecordError::Unreadable)?
    } else {
        in_requirements(&before, requirement)
    };
    if after == before { Ok(()) } else { replace(&path, &after, mode).map_err(RecordError::Io) }
}

/// Puts another file in the place of one, which may not be there yet.
fn replace(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let draft = path.with_extension("ostler-draft");
    // What a crash left, or somebody planted, is not written into.
    match fs::remove_file(&draft) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(source),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&draft)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
    let replaced = written.and_then(|()| fs::rename(&draft, path));
    if replaced.is_err() {
        fs::remove_file(&draft).ok();
    }
    replaced
}

fn in_requirements(before: &str, requirement: &str) -> String {
    let is_it = |line: &str| names_the_same(without_comment(line), requirement);
    match find_line(before, is_it) {
        // A package that is asked for without a version keeps the one that stands there.
        Some(_) if bare(requirement) == requirement => before.to_owned(),
        Some(line) => format!("{}{requirement}{}", &before[..line.start], &before[line.end..]),
        None => {
            let gap = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
            format!("{before}{gap}{requirement}\n")
        }
    }
}

fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

/// Where the first line stands that is so, without its end.
fn find_line(text: &str, is_it: impl Fn(&str) -> bool) -> Option<Range<usize>> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\r', '\n']);
        if is_it(bare) {
            return Some(start..start + bare.len());
        }
        start += line.len();
    }
    None
}

fn in_project(before: &str, requirement: &str) -> Option<String> {
    let quoted = format!("\"{requirement}\"");
    let table = toml::from_str::<PyProject>(before).ok()?.project?;
    let put =
        |range: Range<usize>, text: &str| format!("{}{text}{}", &before[..range.start], &before[range.end..]);
    let after = match table.dependencies {
        Some(named) => match named.get_ref().iter().find(|it| names_the_same(it.get_ref(), requirement)) {
            Some(_) if bare(requirement) == requirement => return Some(before.to_owned()),
            Some(known) => put(known.span(), &quoted),
            None => match named.get_ref().last() {
                Some(last) => put(last.span().end..last.span().end, &format!(", {quoted}")),
                None => put(named.span(), &format!("[{quoted}]")),
            },
        },
        None => {
            let end = find_line(before, |line| without_comment(line) == "[project]")?.end;
            put(end..end, &format!("\ndependencies = [{quoted}]"))
        }
    };
    // What was made of it says what it should, or it is not written.
    let is_named = |table: PyProjectTable| {
        let list = table.dependencies.map(Spanned::into_inner).unwrap_or_default();
        list.iter().any(|it| it.get_ref() == requirement)
    };
    toml::from_str::<PyProject>(&after).ok()?.project.is_some_and(is_named).then_some(after)
}

/// Whether two requirements are about one package: case, `-`, `_` and `.` make no difference to pip.
fn names_the_same(a: &str, b: &str) -> bool {
    let folded = |text: &str| bare(text.trim()).to_ascii_lowercase().replace(['_', '.'], "-");
    !bare(a.trim()).is_empty() && folded(a) == folded(b)
}

/// The name without extras and version.
fn bare(requirement: &str) -> &str {
    let end = requirement.find(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c));
    &requirement[..end.unwrap_or(requirement.len())]
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::Io(source) => write!(f, "{source}"),
            RecordError::NotAFile => write!(f, "it is no plain file"),
            RecordError::Unreadable => write!(f, "it cannot be understood"),
        }
    }
}

impl std::error::Error for RecordError {}

#[cfg(test)]
mod tests {
    use super::{in_project, in_requirements};

    #[test]
    fn a_requirement_is_added_once() {
        let check = |before: &str, requirement: &str, after: &str| {
            assert_eq!(in_requirements(before, requirement), after);
            assert_eq!(in_requirements(after, requirement), after, "once is enough");
        };
        check("", "requests", "requests\n");
        check("flask", "requests==2.0", "flask\nrequests==2.0\n");
        check("# requests\nFlask_Login>=1\n", "flask-login==2", "# requests\nflask-login==2\n");
        check("requests==2.0 # pinned\n", "requests", "requests==2.0 # pinned\n");
        check("-r base.txt\nrequests[socks]\n", "requests>=2", "-r base.txt\nrequests>=2\n");
    }

    #[test]
    fn a_dependency_is_added_to_the_project_table() {
        let check = |before: &str, requirement: &str, after: &str| {
            assert_eq!(in_project(before, requirement).as_deref(), Some(after));
            assert_eq!(in_project(after, requirement).as_deref(), Some(after), "once is enough");
        };
        let with =
            |list: &str| format!("[project] # ours\nname = \"x\"\ndependencies = {list}\n[tool.x]\na = 1\n");
        check(&with("[]"), "requests", &with("[\"requests\"]"));
        check(&with("[\n  \"flask\", # web\n]"), "requests", &with("[\n  \"flask\", \"requests\", # web\n]"));
        check(&with("['Requests>=1']"), "requests==2", &with("[\"requests==2\"]"));
        check(
            "[project]\nname = \"x\"\n",
            "httpx[http2]>=0.27",
            "[project]\ndependencies = [\"httpx[http2]>=0.27\"]\nname = \"x\"\n",
        );
        assert_eq!(in_project("[project]\ndependencies = 3\n", "requests"), None);
        assert_eq!(in_project("nonsense", "requests"), None);
    }
}
