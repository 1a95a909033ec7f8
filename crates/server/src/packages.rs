//! Which command adds a package to a project: its own package manager, as its files say. Nothing is run here, and a name
//! that could mean anything else than a package of a registry is refused.

use std::{fmt, path::Path};

use ostler_files::{FILE_BYTES_MAX, named};
use serde_json::Value;

mod manifest;

pub(crate) use manifest::record;

/// How a package is added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Add {
    /// Program and arguments.
    pub(crate) command: Vec<String>,
    /// The file that names the packages of the project, where the command makes it, or leaves it to Ostler.
    pub(crate) manifest: Option<&'static str>,
    /// What Ostler writes there itself.
    pub(crate) requirement: Option<String>,
}

/// Why it cannot be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PackageError {
    /// The name is none of a package.
    Name {
        /// It.
        name: String,
    },
    /// It is a file or an address.
    Elsewhere {
        /// It.
        name: String,
    },
    /// Nothing says which package manager the project has.
    NoManager {
        /// The directory.
        directory: String,
    },
    /// The package manager needs a project to add it to, and a person has to begin that.
    NoProject {
        /// How.
        command: &'static str,
    },
}

/// Where packages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Registry {
    Npm,
    PyPi,
    Crates,
    Go,
}

/// The command that adds a package to the project in a directory. A project without a manifest gets one, if the name
/// says which package manager is meant.
pub(crate) fn add(directory: &Path, name: &str) -> Result<Add, PackageError> {
    let (named, name) = prefix(name.trim());
    if is_elsewhere(name) {
        return Err(PackageError::Elsewhere { name: name.to_owned() });
    }
    let no_manager = || PackageError::NoManager { directory: directory.display().to_string() };
    let found = registries(directory);
    let registry = match (named, by_form(name)) {
        (Some(named), _) => named,
        (None, Some(meant)) if found.is_empty() || found.contains(&meant) => meant,
        (None, _) => *found.first().ok_or_else(no_manager)?,
    };
    let is_valid = match registry {
        Registry::Npm => is_npm(name),
        Registry::PyPi => is_pypi(name),
        Registry::Crates => is_crate(name),
        Registry::Go => is_go(name),
    };
    if !is_valid {
        return Err(PackageError::Name { name: name.to_owned() });
    }
    let is_new = !found.contains(&registry);
    let (words, manifest) = match registry {
        // Elsewhere npm would take the first directory above that has one.
        Registry::Npm if is_new => {
            (vec!["npm", "--prefix", ".", "install", "--save", "--"], Some("package.json"))
        }
        Registry::Crates if is_new => return Err(PackageError::NoProject { command: "cargo init" }),
        Registry::Go if is_new => return Err(PackageError::NoProject { command: "go mod init" }),
        registry => words(registry, directory),
    };
    let mut command: Vec<String> = words.iter().map(ToString::to_string).collect();
    command.push(name.to_owned());
    let requirement = (registry == Registry::PyPi && manifest.is_some()).then(|| name.to_owned());
    Ok(Add { command, manifest, requirement })
}

/// Whether it is a file or an address rather than the name of a package.
fn is_elsewhere(name: &str) -> bool {
    let ends = [".tgz", ".tar.gz", ".whl", ".zip", ".crate"];
    let is_path = name.starts_with(['.', '/', '~']) || name.contains("://") || name.contains('\\');
    is_path
        || name.starts_with("file:")
        || name.contains("@file:")
        || ends.iter().any(|it| name.ends_with(it))
}

/// `npm:left-pad` says where it comes from.
fn prefix(name: &str) -> (Option<Registry>, &str) {
    let known = [
        ("npm:", Registry::Npm),
        ("pip:", Registry::PyPi),
        ("pypi:", Registry::PyPi),
        ("cargo:", Registry::Crates),
        ("crates:", Registry::Crates),
        ("go:", Registry::Go),
    ];
    let found = known.into_iter().find_map(|(word, it)| Some((it, name.strip_prefix(word)?)));
    found.map_or((None, name), |(registry, rest)| (Some(registry), rest))
}

/// Some names can only be meant for one.
fn by_form(name: &str) -> Option<Registry> {
    let host = name.split_once('/').map(|(host, _)| host);
    match host {
        Some(host) if host.starts_with('@') => Some(Registry::Npm),
        Some(host) if host.contains('.') => Some(Registry::Go),
        _ if name.contains("==") || name.contains('[') => Some(Registry::PyPi),
        _ => None,
    }
}

/// What the files of a project say, the likeliest first.
fn registries(directory: &Path) -> Vec<Registry> {
    let has = |file: &&str| directory.join(file).is_file();
    let signs: [(Registry, &[&str]); 4] = [
        (Registry::Npm, &["package.json"]),
        (Registry::PyPi, &["pyproject.toml", "requirements.txt", "setup.py", "setup.cfg", "uv.lock"]),
        (Registry::Crates, &["Cargo.toml"]),
        (Registry::Go, &["go.mod"]),
    ];
    signs.into_iter().filter(|(_, files)| files.iter().any(has)).map(|(registry, _)| registry).collect()
}

/// The command before the name, and the manifest that it leaves alone. The name is checked and begins with no dash; `--`
/// says so once more to those who know it.
fn words(registry: Registry, directory: &Path) -> (Vec<&'static str>, Option<&'static str>) {
    let has = |file: &str| directory.join(file).exists();
    let words = match registry {
        Registry::Npm => match node_manager(directory) {
            "pnpm" => vec!["pnpm", "add"],
            "yarn" => vec!["yarn", "add"],
            "bun" => vec!["bun", "add"],
            _ => vec!["npm", "install", "--save", "--"],
        },
        Registry::PyPi => {
            let project =
                named::read_text(directory.join("pyproject.toml"), FILE_BYTES_MAX).unwrap_or_default();
            if has("uv.lock") || project.contains("[tool.uv") {
                vec!["uv", "add", "--"]
            } else if has("poetry.lock") || project.contains("[tool.poetry") {
                vec!["poetry", "add", "--"]
            } else {
                let python = if has(".venv/bin/python") { ".venv/bin/python" } else { "python3" };
                return (vec![python, "-m", "pip", "install", "--"], Some(manifest::of_pip(directory)));
            }
        }
        Registry::Crates => vec!["cargo", "add", "--"],
        Registry::Go => vec!["go", "get", "--"],
    };
    (words, None)
}

/// What `packageManager` says, else what the lock file belongs to.
fn node_manager(directory: &Path) -> &'static str {
    const LOCKS: [(&str, &str); 6] = [
        ("pnpm-lock.yaml", "pnpm"),
        ("yarn.lock", "yarn"),
        ("bun.lock", "bun"),
        ("bun.lockb", "bun"),
        ("package-lock.json", "npm"),
        ("npm-shrinkwrap.json", "npm"),
    ];
    let package = named::read(directory.join("package.json"), FILE_BYTES_MAX).unwrap_or_default();
    let package: Value = serde_json::from_slice(&package).unwrap_or_default();
    let declared = package["packageManager"].as_str().and_then(|text| text.split('@').next());
    let known = ["npm", "pnpm", "yarn", "bun"].into_iter().find(|known| Some(*known) == declared);
    let locked = || LOCKS.into_iter().find(|(file, _)| directory.join(file).exists()).map(|(_, it)| it);
    known.or_else(locked).unwrap_or("npm")
}

fn is_npm(name: &str) -> bool {
    let (name, version) = match name.rfind('@') {
        Some(at) if at > 0 => (&name[..at], Some(&name[at + 1..])),
        _ => (name, None),
    };
    let part =
        |text: &str| text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && only(text, "._-~");
    let is_name = match name.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/').is_some_and(|(scope, name)| part(scope) && part(name)),
        None => part(name),
    };
    is_name && version.is_none_or(is_version)
}

fn is_pypi(name: &str) -> bool {
    let end = name.find(['[', '=', '<', '>', '~', '!']).unwrap_or(name.len());
    let (bare, rest) = name.split_at(end);
    let (extras, version) = match rest.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((extras, version)) => (Some(extras), version),
            None => return false,
        },
        None => (None, rest),
    };
    let is_word = |text: &str| text.starts_with(|c: char| c.is_ascii_alphanumeric()) && only(text, "._-");
    is_word(bare)
        && extras.is_none_or(|extras| extras.split(',').all(|extra| is_word(extra.trim())))
        && (version.is_empty()
            || (only(version, "=<>~!,.*+-") && version.starts_with(['=', '<', '>', '~', '!'])))
}

fn is_crate(name: &str) -> bool {
    let (name, version) = name.split_once('@').map_or((name, None), |(name, it)| (name, Some(it)));
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && only(name, "_-") && version.is_none_or(is_version)
}

fn is_go(name: &str) -> bool {
    let (path, version) = name.split_once('@').map_or((name, None), |(path, it)| (path, Some(it)));
    let mut parts = path.split('/');
    let is_host = parts.next().is_some_and(|host| host.contains('.') && is_go_part(host));
    is_host && parts.all(is_go_part) && version.is_none_or(is_version)
}

fn is_go_part(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && only(part, "._-~") && part != ".."
}

fn is_version(version: &str) -> bool {
    version.starts_with(|c: char| c.is_ascii_alphanumeric() || "^~<>=*".contains(c))
        && only(version, ".^~<>=*+-_")
}

/// Whether a text is of ASCII letters, digits and these alone, and not too long.
fn only(text: &str, others: &str) -> bool {
    !text.is_empty()
        && text.len() <= 214
        && text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}

impl fmt::Display for PackageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PackageError::Name { name } => write!(f, "'{name}' is not the name of a package"),
            PackageError::Elsewhere { name } => {
                write!(
                    f,
                    "'{name}' is a file or an address; only packages of a registry are installed, by name"
                )
            }
            PackageError::NoManager { directory } => write!(
                f,
                "no file in '{directory}' says which package manager it could be for; the agent can name one, as in 'npm:left-pad' or 'pip:requests'"
            ),
            PackageError::NoProject { command } => {
                write!(f, "there is no project here to add it to; begin one first ({command})")
            }
        }
    }
}

impl std::error::Error for PackageError {}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use super::{PackageError, add, is_crate, is_go, is_npm, is_pypi};

    fn project(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let directory = crate::test_directory().join(format!("packages-{}-{name}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        for (file, text) in files {
            let path = directory.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            #[expect(clippy::disallowed_methods, reason = "a file of a test")]
            fs::write(path, text).unwrap();
        }
        directory
    }

    #[track_caller]
    fn check(name: &str, files: &[(&str, &str)], package: &str, command: &str) {
        let directory = project(name, files);
        let found = add(&directory, package).map(|it| it.command.join(" "));
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(found.as_deref(), Ok(command));
    }

    #[test]
    fn the_projects_own_manager_is_used() {
        let package = ("package.json", "{}");
        check("npm", &[package], "left-pad", "npm install --save -- left-pad");
        check("lock", &[package, ("pnpm-lock.yaml", "")], "@a/b@^1.2", "pnpm add @a/b@^1.2");
        check("yarn", &[package, ("yarn.lock", "")], "left-pad", "yarn add left-pad");
        check("bun", &[package, ("bun.lockb", "")], "left-pad", "bun add left-pad");
        let declared = ("package.json", r#"{"packageManager":"pnpm@9.1.0+sha512.x"}"#);
        check("declared", &[declared, ("yarn.lock", "")], "left-pad", "pnpm add left-pad");
        let uv = [("pyproject.toml", "[project]\n"), ("uv.lock", "")];
        check("uv", &uv, "httpx[http2]>=0.27", "uv add -- httpx[http2]>=0.27");
        check("poetry", &[("pyproject.toml", "[tool.poetry]\n")], "requests", "poetry add -- requests");
        check("pip", &[("requirements.txt", "")], "requests==2.0", "python3 -m pip install -- requests==2.0");
        let bare = ("pyproject.toml", "[project]\nname = \"x\"\n");
        check("bare", &[bare], "requests", "python3 -m pip install -- requests");
        let venv = [("requirements.txt", ""), (".venv/bin/python", "")];
        check("venv", &venv, "requests", ".venv/bin/python -m pip install -- requests");
        check("cargo", &[("Cargo.toml", "")], "serde@1", "cargo add -- serde@1");
        check("go", &[("go.mod", "")], "golang.org/x/text@v0.3.0", "go get -- golang.org/x/text@v0.3.0");
    }

    #[test]
    fn where_there_are_several_the_name_decides() {
        let both = [("package.json", "{}"), ("requirements.txt", ""), ("go.mod", "")];
        check("scope", &both, "@supabase/supabase-js", "npm install --save -- @supabase/supabase-js");
        check("host", &both, "github.com/a/b", "go get -- github.com/a/b");
        check("named", &both, "pip:requests", "python3 -m pip install -- requests");
        check("first", &both, "left-pad", "npm install --save -- left-pad");
        let directory = project("none", &[]);
        assert!(matches!(add(&directory, "left-pad"), Err(PackageError::NoManager { .. })));
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_name_that_says_its_manager_needs_no_manifest() {
        let directory = project("new", &[]);
        let planned = |name: &str| add(&directory, name).map(|it| (it.command.join(" "), it.manifest));
        let npm = |name: &str| (format!("npm --prefix . install --save -- {name}"), Some("package.json"));
        assert_eq!(planned("@supabase/supabase-js"), Ok(npm("@supabase/supabase-js")));
        assert_eq!(planned("npm:left-pad"), Ok(npm("left-pad")));
        let pip = |name: &str| (format!("python3 -m pip install -- {name}"), Some("requirements.txt"));
        assert_eq!(planned("requests==2.0"), Ok(pip("requests==2.0")));
        assert_eq!(planned("pip:requests"), Ok(pip("requests")));
        assert_eq!(planned("cargo:serde"), Err(PackageError::NoProject { command: "cargo init" }));
        assert_eq!(planned("github.com/a/b"), Err(PackageError::NoProject { command: "go mod init" }));
        assert!(matches!(planned("left-pad"), Err(PackageError::NoManager { .. })));
        fs::remove_dir_all(&directory).unwrap();
        let directory = project("other", &[("Cargo.toml", "")]);
        let other = add(&directory, "npm:left-pad").map(|it| it.command.join(" "));
        assert_eq!(other, Ok(npm("left-pad").0), "another manager beside the one that is there");
        assert!(matches!(add(&directory, "@a/b"), Err(PackageError::Name { .. })), "nobody named another");
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn files_and_addresses_are_refused_in_words() {
        let directory = project("files", &[("package.json", "{}")]);
        for name in
            ["./x.tgz", "../x", "/srv/x", "file:x", "x@file:../x", "x.tgz", "https://a/b", "git+ssh://a/b"]
        {
            let why = add(&directory, name).expect_err(name).to_string();
            assert_eq!(
                why,
                format!(
                    "'{name}' is a file or an address; only packages of a registry are installed, by name"
                )
            );
        }
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn what_could_mean_anything_else_is_refused() {
        let bad = [
            "",
            "-g",
            "--global",
            "a b",
            "a;b",
            "$(x)",
            "`x`",
            "../x",
            "./x",
            "/etc",
            "git+ssh://x",
            "http://x",
            "file:x",
            "a\nb",
            "a|b",
            "a&b",
            "@/x",
            "@a/",
            "a@",
            "a@-x",
            "name@file:../x",
            "a@npm:b",
        ];
        for name in bad {
            assert!(!is_npm(name), "npm {name:?}");
            assert!(!is_pypi(name), "pypi {name:?}");
            assert!(!is_crate(name), "cargo {name:?}");
            assert!(!is_go(name), "go {name:?}");
        }
        let directory = project("refused", &[("package.json", "{}")]);
        assert!(matches!(add(&directory, "--force"), Err(PackageError::Name { .. })));
        fs::remove_dir_all(directory).unwrap();
    }
}
