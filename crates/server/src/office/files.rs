//! Whether files differ between two calls: a call that is repeated may go on as long as somebody changes something.

use std::{collections::BTreeSet, fs, path::Path, time::UNIX_EPOCH};

use ostler_workspace::{GitError, Repository, fingerprint};

/// Stands for the checkouts in which these directories lie: their commits, and what differs from those. None where no
/// directory belongs to a repository that can be read.
pub(crate) fn state_of(directories: &BTreeSet<String>) -> Option<String> {
    let states: Vec<String> =
        directories.iter().filter_map(|it| checkout_state(Path::new(it)).ok().flatten()).collect();
    let parts: Vec<&str> = states.iter().map(String::as_str).collect();
    (!parts.is_empty()).then(|| fingerprint(&parts))
}

fn checkout_state(directory: &Path) -> Result<Option<String>, GitError> {
    let Some(repository) = Repository::find(directory)? else { return Ok(None) };
    let commit = repository.head()?.commit.map(|commit| commit.to_string());
    let changed = repository.changed_now()?;
    let mut parts = vec![commit.unwrap_or_default()];
    parts.extend(changed.iter().map(|path| {
        let file = repository.directory_root().join(path);
        // Its content may be long. Whoever writes a file gives it another time.
        let stamp = fs::symlink_metadata(&file).ok().map(|it| {
            let written = it.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            (it.len(), written.map(|time| time.as_nanos()))
        });
        format!("{} {stamp:?}", path.display())
    }));
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    Ok(Some(fingerprint(&parts)))
}
