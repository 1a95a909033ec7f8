//! Whether a directory is a copy of a project template, and which of its files look like secrets.

use std::path::Path;

use ostler_files::named;
use serde::Deserialize;

/// The longest settings file that is read.
const SETTINGS_BYTES_MAX: u64 = 1 << 20;

/// A file that only templates of document 004 have.
const PROTOCOL: &str = ".claude/references/orchestrator-protocol.md";

/// Ends of names that keys, certificates and passwords have.
const SECRET_ENDINGS: [&str; 9] =
    [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc"];

/// Names of files that hold secrets.
const SECRET_NAMES: [&str; 11] = [
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".npmrc",
    ".pypirc",
    ".netrc",
    ".htpasswd",
    "credentials",
    "credentials.json",
    "secrets.json",
];

#[derive(Deserialize)]
struct Settings {
    project: Option<ProjectSettings>,
}

#[derive(Deserialize)]
struct ProjectSettings {
    name: Option<String>,
}

/// The name that the settings of a project give it.
pub fn settings_name(root: &Path) -> Option<String> {
    let text = named::read_text(root.join(".claude/settings.json"), SETTINGS_BYTES_MAX).ok()?;
    serde_json::from_str::<Settings>(&text).ok()?.project?.name
}

/// Whether the files of a template are there.
pub fn has_template_files(root: &Path, names: &[&str]) -> bool {
    let is_named = settings_name(root).is_some_and(|name| names.contains(&name.as_str()));
    is_named || root.join(PROTOCOL).is_file()
}

/// The last segment of a repository's address, without `.git`: `dev-ai` of `git@host:me/dev-ai.git`.
pub fn last_segment(address: &str) -> &str {
    let address = address.trim_end_matches('/');
    let segment = address.rsplit(['/', ':']).next().unwrap_or(address);
    segment.strip_suffix(".git").unwrap_or(segment)
}

/// Whether a file looks like a secret by its name. Examples of environments are none.
pub fn looks_secret(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|it| it.to_str()) else { return false };
    let name = name.to_ascii_lowercase();
    let is_example = ["example", "sample", "template", "dist"].iter().any(|word| name.ends_with(word));
    let is_environment = name == ".env" || (name.starts_with(".env.") && !is_example);
    let is_key = SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending));
    is_environment || is_key || SECRET_NAMES.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_ends_in_a_name() {
        for (address, name) in [
            ("git@host:me/dev-ai.git", "dev-ai"),
            ("https://host/me/dev-ai/", "dev-ai"),
            ("dev-ai", "dev-ai"),
            ("host:dev-ai.git", "dev-ai"),
            ("https://host/me/dev-ai-fork", "dev-ai-fork"),
            ("/srv/git/dev-ai.git/", "dev-ai"),
            ("", ""),
        ] {
            assert_eq!(last_segment(address), name, "{address}");
        }
    }

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [".env", ".env.local", "a/id_rsa", "server.PEM", "credentials.json", ".npmrc"] {
            assert!(looks_secret(Path::new(name)), "{name}");
        }
        for name in [".env.example", "env.ts", "monkey", "id_rsa.pub", "keyboard.rs", ".envrc.sample"] {
            assert!(!looks_secret(Path::new(name)), "{name}");
        }
    }
}
