//! The real path of a file that a tool would be used on: permission rules are about where a path leads, not about how
//! it is written.
//!
//! The engine has no files, so the path is looked up when the CLI asks. Where that fails or takes long there is none, and
//! a person is asked.

use std::{
    ffi::OsStr,
    fs,
    path::{Component, Path, PathBuf},
    time::Duration,
};

use ostler_engine::{permission::REAL_PATH, session::Session};
use ostler_shim::spool::{Happening, Record};
use serde_json::{Value, json};

/// How long a file system may take.
const LOOK_MAX: Duration = Duration::from_secs(2);

/// The path that a permission request is about, if its agent's table says where that stands.
pub(super) fn asked(session: &Session, record: &Record) -> Option<String> {
    let Happening::Heard { item } = &record.what else { return None };
    if item["kind"] != "permission_request" {
        return None;
    }
    let tools = &session.order.agent.permission.as_ref()?.tools;
    let field = tools.get(item["tool"].as_str()?)?.path.as_ref()?;
    item["input"][field].as_str().map(str::to_owned)
}

/// Puts the real path into the item of a record.
pub(super) async fn put(record: &mut Record, path: String) {
    let Happening::Heard { item } = &mut record.what else { return };
    let looking = tokio::task::spawn_blocking(move || resolve(Path::new(&path)));
    let found = tokio::time::timeout(LOOK_MAX, looking).await.ok().and_then(Result::ok).flatten();
    item[REAL_PATH] = found.map_or(Value::Null, |path| json!(path));
}

/// Where an absolute path without `..` leads. What does not exist yet is in the directory above that does.
fn resolve(path: &Path) -> Option<String> {
    let is_clear = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    if !path.is_absolute() || !path.components().all(is_clear) {
        return None;
    }
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut there = path;
    // A link that leads nowhere is there, and has no real path.
    while fs::symlink_metadata(there).is_err() {
        missing.push(there.file_name()?);
        there = there.parent()?;
    }
    let mut real: PathBuf = fs::canonicalize(there).ok()?;
    real.extend(missing.iter().rev());
    real.into_os_string().into_string().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_and_dots_are_not_believed() {
        let root = std::env::temp_dir().join(format!("ostler-real-path-{}", std::process::id()));
        fs::create_dir_all(root.join("inside/deep")).expect("a directory");
        let root = fs::canonicalize(&root).expect("it is there");
        symlink("/etc", root.join("inside/out")).expect("a link");
        symlink("/nowhere/at/all", root.join("inside/broken")).expect("a link");
        let real = |path: &str| resolve(&root.join(path));
        let inside = |path: &str| Some(root.join(path).display().to_string());
        assert_eq!(real("inside/new.txt"), inside("inside/new.txt"));
        assert_eq!(real("inside/deep/not/yet"), inside("inside/deep/not/yet"));
        assert_eq!(real("inside/out/passwd").as_deref(), Some("/etc/passwd"));
        assert_eq!(real("inside/out/new").as_deref(), Some("/etc/new"));
        assert_eq!(real("inside/broken"), None);
        assert_eq!(real("inside/../inside/x"), None);
        assert_eq!(resolve(Path::new("inside/x")), None);
        fs::remove_dir_all(&root).expect("it is ours");
    }
}
