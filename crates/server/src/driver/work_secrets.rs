//! Looks for secrets in what a session has changed, and says which one is in which file. A secret in a repository is
//! hard to take back once it is merged; the word comes at the diff, the merge, the commit and the checkpoint, and stops none of them.
//!
//! Looked for are the values that the vault keeps and those that the session was given, in every form that is masked.
//! Only added lines are looked at, and only so many bytes of them. A value never leaves this module; its name does.

use std::{
    str,
    sync::{Arc, PoisonError},
};

use ostler_engine::{
    Input, SessionId,
    work_secret::{SecretFound, WorkScan, WorkStep},
};
use ostler_shim::values::{is_signal_word, read_secrets};
use ostler_vault::{Masks, Secret};
use ostler_workspace::{Commit, Diff, DiffFormat, DiffOptions, Repository};
use tokio::runtime::Handle;

use super::{
    Driver,
    worktree::{self, Place},
};
use crate::api::{FoundSecretView, UncheckedWork, WorkSecretsView};

/// The most of a change that is looked at.
const CHANGE_BYTES_MAX: u64 = 8 << 20;

/// The most that is said of one change.
const FOUND_MAX: usize = 20;

/// How much of what was said is remembered, so that a checkpoint does not say it again.
const SAID_MAX: usize = 10_000;

/// How changes are asked for.
pub(crate) const CHANGES: DiffOptions =
    DiffOptions { format: DiffFormat::Added, color: false, bytes_max: CHANGE_BYTES_MAX };

/// Looks through everything that a session has changed in its worktree.
pub(crate) fn in_worktree(driver: &Driver, place: &Place) -> Result<WorkSecretsView, String> {
    let (repository, worktree) = worktree::found(place)?;
    let diff = repository.diff(&worktree, &CHANGES).map_err(|error| error.to_string())?;
    Ok(look(driver, place.session.id, &diff))
}

/// Looks through the worktree of a session before it is merged, and puts down what was found.
pub(super) async fn before_merge(driver: &Arc<Driver>, session: SessionId) {
    let Some(place) = place_of(driver, session) else { return };
    let asked = Arc::clone(driver);
    let looked = tokio::task::spawn_blocking(move || in_worktree(&asked, &place)).await;
    // What cannot be looked at cannot be merged either, and the merge says why.
    if let Ok(Ok(found)) = looked {
        tell(driver, session, WorkStep::Merge, found).await;
    }
}

/// Looks through a change that is about to be merged, and puts down what was found.
pub(super) async fn in_change(driver: &Arc<Driver>, session: SessionId, diff: Diff) {
    let asked = Arc::clone(driver);
    if let Ok(found) = tokio::task::spawn_blocking(move || look(&asked, session, &diff)).await {
        tell(driver, session, WorkStep::Merge, found).await;
    }
}

/// Looks through a commit that Ostler made in the checkout of a project, and puts down what was found. A commit without
/// any known secret costs no git. The caller is on a thread that may block.
pub(super) fn in_commit(driver: &Driver, session: SessionId, repository: &Repository, commit: &Commit) {
    let (known, is_all_known) = known(driver, session);
    if known.is_empty() && is_all_known {
        return;
    }
    // A commit that cannot be read says so wherever it is used.
    if let Ok(diff) = repository.diff_commit(commit, &CHANGES) {
        let found = look(driver, session, &diff);
        Handle::current().block_on(tell(driver, session, WorkStep::Commit, found));
    }
}

/// Looks through a checkpoint, from where the work began, and puts down what was not said before.
pub(super) async fn in_checkpoint(driver: &Arc<Driver>, session: SessionId, commit: &str) {
    let (Some(place), Some(commit)) = (place_of(driver, session), Commit::parse(commit)) else { return };
    let asked = Arc::clone(driver);
    let looked = tokio::task::spawn_blocking(move || {
        let (repository, base) = if place.session.worktree.is_some() {
            let (repository, worktree) = worktree::known(&place).ok()?;
            (repository, worktree.base)
        } else {
            let repository = worktree::find(&place).ok()??;
            let head = repository.head().ok()?.commit?;
            (repository, head)
        };
        let diff = repository.diff_checkpoint(None, &base, Some(&commit), &CHANGES).ok()?;
        Some(look(&asked, session, &diff))
    });
    if let Ok(Some(mut found)) = looked.await {
        found.found.retain(|it| is_new(driver, session, &it.secret, &it.file));
        // No file has an empty name.
        found.unchecked.retain(|it| is_new(driver, session, it.word(), ""));
        tell(driver, session, WorkStep::Checkpoint, found).await;
    }
}

fn place_of(driver: &Driver, session: SessionId) -> Option<Place> {
    let session = driver.journal.world().sessions.get(&session).cloned()?;
    Some(Place::of(driver, session))
}

fn is_new(driver: &Driver, session: SessionId, what: &str, file: &str) -> bool {
    let mut said = driver.said_secrets.lock().unwrap_or_else(PoisonError::into_inner);
    if said.len() >= SAID_MAX {
        said.clear();
    }
    said.insert((session, what.to_owned(), file.to_owned()))
}

async fn tell(driver: &Driver, session: SessionId, step: WorkStep, looked: WorkSecretsView) {
    let found = looked.found.into_iter().map(|it| SecretFound {
        secret: it.secret,
        file: it.file,
        line: it.line,
        step,
    });
    let unchecked = looked.unchecked.iter().map(|it| it.word().to_owned());
    let (found, unchecked): (Vec<_>, Vec<_>) = (found.collect(), unchecked.collect());
    if found.is_empty() && unchecked.is_empty() {
        return;
    }
    // It is a word beside the work: where the journal cannot take it, the work itself says so.
    driver.journal.submit(Input::WorkScanned(WorkScan { session, step, found, unchecked }), None).await.ok();
}

fn look(driver: &Driver, session: SessionId, diff: &Diff) -> WorkSecretsView {
    let (known, is_all_known) = known(driver, session);
    let mut found = scan(&known, &diff.bytes);
    let more = found.len().saturating_sub(FOUND_MAX) as u64;
    found.truncate(FOUND_MAX);
    let vault = (!is_all_known).then_some(UncheckedWork::Vault);
    let long = diff.truncated.then_some(UncheckedWork::Long);
    WorkSecretsView { found, more, unchecked: vault.into_iter().chain(long).collect() }
}

/// The values that count as secret, and whether all of them can be had. A reference is not looked up for this: that may
/// run a command.
fn known(driver: &Driver, session: SessionId) -> (Vec<(String, Secret)>, bool) {
    let given = read_secrets(&driver.home.values(session));
    let kept = driver.secrets.existing().ok().and_then(|vault| match vault {
        Some(vault) => vault.stored().ok(),
        None => Some(Vec::new()),
    });
    let is_all_known = given.is_ok() && kept.is_some();
    let mut known: Vec<(String, Secret)> = Vec::new();
    let given = given.unwrap_or_default().into_iter().map(|(name, value)| (name, Secret::new(value)));
    let kept = kept.unwrap_or_default().into_iter().map(|(name, value)| (name.as_str().to_owned(), value));
    for (name, value) in given.chain(kept) {
        let is_known =
            known.iter().any(|(other, secret)| *other == name && secret.expose() == value.expose());
        if !is_known && !is_signal_word(value.expose()) {
            known.push((name, value));
        }
    }
    (known, is_all_known)
}

/// Which secrets are in which files of a patch, each at its first line.
fn scan(known: &[(String, Secret)], patch: &[u8]) -> Vec<FoundSecretView> {
    let all = Arc::new(Masks::new(known.iter().map(|(_, secret)| secret)));
    let mut found = Vec::new();
    if all.is_empty() {
        return found;
    }
    // One pass over all of them; whose it is matters only where there is one.
    for file in added(patch).into_iter().filter(|file| !all.lines(&file.text).is_empty()) {
        for (name, secret) in known {
            let lines = Arc::new(Masks::new([secret])).lines(&file.text);
            let number = lines.first().and_then(|line| file.numbers.get(*line));
            if let Some(&line) = number {
                found.push(FoundSecretView { secret: name.clone(), file: all.text(&file.path), line });
            }
        }
    }
    found
}

/// The lines that a patch adds to a file.
#[derive(Debug, Default)]
struct AddedLines {
    path: String,
    /// One below the other, so that a secret over several lines is found.
    text: Vec<u8>,
    /// Where in the file each of them is.
    numbers: Vec<u64>,
}

fn added(patch: &[u8]) -> Vec<AddedLines> {
    let mut files: Vec<AddedLines> = Vec::new();
    // What is left of a hunk is counted: a line of a file may look like a head.
    let (mut old, mut new, mut number) = (0, 0, 0);
    for line in patch.split(|byte| *byte == b'\n') {
        if old == 0 && new == 0 {
            if let Some(path) = line.strip_prefix(b"+++ ") {
                files.push(AddedLines { path: path_of(path), ..AddedLines::default() });
            } else if let Some(counts) = hunk(line) {
                (old, new, number) = counts;
            }
            continue;
        }
        match (line.split_first(), files.last_mut()) {
            (Some((b'+', text)), Some(file)) if new > 0 => {
                file.text.extend_from_slice(text);
                file.text.push(b'\n');
                file.numbers.push(number);
                (new, number) = (new - 1, number + 1);
            }
            (Some((b'-', _)), _) if old > 0 => old -= 1,
            _ => {}
        }
    }
    files
}

/// The path behind `+++ `: git puts it in quotes where it has special characters.
fn path_of(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let text = text.trim_end_matches('\t').trim_matches('"');
    text.strip_prefix("b/").unwrap_or(text).to_owned()
}

/// Of `@@ -1,2 +3,4 @@`: how many lines go, how many come, and the number of the first that comes.
fn hunk(line: &[u8]) -> Option<(u64, u64, u64)> {
    let line = line.strip_prefix(b"@@ -")?;
    let end = line.windows(3).position(|it| it == b" @@")?;
    let (old, new) = str::from_utf8(&line[..end]).ok()?.split_once(" +")?;
    let range = |text: &str| -> Option<(u64, u64)> {
        let (first, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((first.parse().ok()?, count.parse().ok()?))
    };
    let ((_, old), (first, new)) = (range(old)?, range(new)?);
    Some((old, new, first))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -3,2 +3,3 @@ fn here()\n--- gone\n-gone sk-live-1234567890\n\
        +++ b/not-a-file\n+two\n+key = \"sk-live-1234567890\"\n@@ -9,0 +11 @@\n+last\n\\ No newline at end of file\n\
        diff --git a/sk-live-1234567890 b/sk-live-1234567890\nnew file mode 100644\n--- /dev/null\n\
        +++ b/sk-live-1234567890\n@@ -0,0 +1 @@\n+c2stbGl2ZS0xMjM0NTY3ODkw\n";

    #[test]
    fn a_line_of_a_file_is_no_head_of_a_patch() {
        let files = added(PATCH.as_bytes());
        let shown = |file: &AddedLines| String::from_utf8_lossy(&file.text).into_owned();
        assert_eq!(files.len(), 2);
        assert_eq!(files[0].path, "x");
        assert_eq!(shown(&files[0]), "++ b/not-a-file\ntwo\nkey = \"sk-live-1234567890\"\nlast\n");
        assert_eq!(files[0].numbers, [3, 4, 5, 11]);
    }

    #[test]
    fn a_secret_is_named_with_its_place_and_never_shown() {
        let secret = |name: &str, value: &str| (name.to_owned(), Secret::new(value.to_owned()));
        let known = [secret("API_KEY", "sk-live-1234567890"), secret("OTHER", "nowhere-9876543210")];
        let found = scan(&known, PATCH.as_bytes());
        let places: Vec<_> = found.iter().map(|it| (it.secret.as_str(), it.file.as_str(), it.line)).collect();
        // What is taken away is not found, what is encoded is; a name of a file is masked.
        assert_eq!(places, [("API_KEY", "x", 5), ("API_KEY", "******************", 1)]);
        assert!(scan(&[], PATCH.as_bytes()).is_empty());
    }
}
