//! Which command adds a package to a project: its own package manager, as its files say. Nothing is run here, and a name
//! that could mean anything else than a package of a registry is refused.

use std::{fmt, fs, path::Path};

use serde_json::Value;

/// How a package is added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Add {
    /// Program and arguments.
    pub(crate) command: Vec<String>,
}

/// Why it cannot be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PackageError {
    /// The name is none of a package.
    Name {
        /// It.
        name: String,
    },
    /// Nothing says which package manager the project has.
    NoManager {
        /// The directory.
        directory: String,
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

/// The command that adds a package to the project in a directory.
pub(crate) fn add(directory: &Path, name: &str) -> Result<Add, PackageError> {
    let (named, name) = prefix(name.trim());
    let refused = || PackageError::Name { name: name.to_owned() };
    let no_manager = || PackageError::NoManager { directory: directory.display().to_string() };
    let found = registries(directory);
    let meant = named.or_else(|| by_form(name)).filter(|meant| found.contains(meant));
    let registry = match (named, meant) {
        (_, Some(registry)) => registry,
        (Some(_), None) => return Err(no_manager()),
        (None, None) => *found.first().ok_or_else(no_manager)?,
    };
    let is_valid = match registry {
        Registry::Npm => is_npm(name),
        Registry::PyPi => is_pypi(name),
        Registry::Crates => is_crate(name),
        Registry::Go => is_go(name),
    };
    if !is_valid {
        return Err(refused());
    }
    let mut command: Vec<String> = words(registry, directory).iter().map(ToString::to_string).collect();
    command.push(name.to_owned());
    Ok(Add { command })
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

/// The command before the name. The name is checked and begins with no dash; `--` says so once more to those who know it.
fn words(registry: Registry, directory: &Path) -> Vec<&'static str> {
    let has = |file: &str| directory.join(file).exists();
    match registry {
        Registry::Npm => match node_manager(directory) {
            "pnpm" => vec!["pnpm", "add"],
            "yarn" => vec!["yarn", "add"],
            "bun" => vec!["bun", "add"],
            _ => vec!["npm", "install", "--save", "--"],
        },
        Registry::PyPi => {
            let project = fs::read_to_string(directory.join("pyproject.toml")).unwrap_or_default();
            if has("uv.lock") || project.contains("[tool.uv") {
                vec!["uv", "add", "--"]
            } else if has("poetry.lock") || project.contains("[tool.poetry") {
                vec!["poetry", "add", "--"]
            } else if has(".venv/bin/python") {
                vec![".venv/bin/python", "-m", "pip", "install", "--"]
            } else {
                vec!["python3", "-m", "pip", "install", "--"]
            }
        }
        Registry::Crates => vec!["cargo", "add", "--"],
        Registry::Go => vec!["go", "get", "--"],
    }
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
    let package = fs::read(directory.join("package.json")).unwrap_or_default();
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
            PackageError::NoManager { directory } => {
                write!(f, "no file in '{directory}' says which package manager it could be for")
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
