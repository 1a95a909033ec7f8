//! Worktrees: what the engine wants done about one, by git.

use std::{fs, path::Path, sync::Arc};

use ostler_engine::{
    SessionId,
    action::Deed,
    input::WorktreeNews,
    session::{Session, Worktree as Kept, WorktreeState},
};
use ostler_files::{FILE_BYTES_MAX, private};
use ostler_workspace::{
    Commit, Diff, DiffFormat, DiffOptions, GitError, MergeMessages, MergeOutcome, Repository, Worktree,
    WorktreeSpec,
};

use super::{Driver, launch, work_secrets};
use crate::home::private_directory;

/// The most of a diff that is shown.
const DIFF_BYTES_MAX: u64 = 16 << 20;

/// The name of the note with the commit of a merge, in the session's directory.
const MERGED: &str = "merged";

/// Does it, and says what came of it.
pub(super) async fn carry_out(driver: &Arc<Driver>, session: SessionId, deed: &Deed) -> WorktreeNews {
    let deed = deed.clone();
    if matches!(deed, Deed::MergeWorktree) {
        work_secrets::before_merge(driver, session).await;
    }
    let work = {
        let world = driver.journal.world();
        let found = world.sessions.get(&session).cloned();
        let title = found.as_ref().and_then(|it| Some(world.runs.get(&it.run)?.title.clone()));
        found.zip(title)
    };
    let Some((session, title)) = work else { return failure(&deed, "the session is gone".to_owned()) };
    let place = Place::of(driver, session);
    let fallback = deed.clone();
    let note = driver.home.session(place.session.id).join(MERGED);
    tokio::task::spawn_blocking(move || match deed {
        Deed::MakeWorktree => make(&place),
        Deed::MergeWorktree => merge(&place, &title, &note),
        _ => discard(&place),
    })
    .await
    .unwrap_or_else(|_| failure(&fallback, "git could not be run".to_owned()))
}

/// A session, and what a person lets its repository run.
pub(crate) struct Place {
    pub(super) session: Session,
    trusted: Vec<String>,
}

impl Place {
    pub(crate) fn of(driver: &Driver, session: Session) -> Place {
        let root = driver.journal.world().projects.get(&session.project).map(|it| it.root.clone());
        let trusted = root.map(|root| driver.trusted(&root)).unwrap_or_default();
        Place { session, trusted }
    }

    /// The repository that the session works in.
    pub(crate) fn repository(&self) -> Result<Repository, String> {
        repository(self)
    }
}

fn failure(deed: &Deed, message: String) -> WorktreeNews {
    match deed {
        Deed::MakeWorktree => WorktreeNews::NotMade { message },
        Deed::MergeWorktree => not_merged(message),
        _ => WorktreeNews::NotDiscarded { message },
    }
}

fn not_merged(message: String) -> WorktreeNews {
    WorktreeNews::NotMerged { message, files: Vec::new(), conflict: false }
}

fn make(place: &Place) -> WorktreeNews {
    let made = || -> Result<Worktree, String> {
        let kept = place.session.worktree.as_ref().ok_or("the session has no worktree")?;
        let repository = repository(place)?;
        let path = Path::new(&kept.path);
        let is_new = repository.worktree(path, &kept.branch).map_err(|error| error.to_string())?.is_none();
        let base = if is_new && kept.changes.taken {
            let message = format!("Changes that were not committed when {} began", kept.branch);
            repository.commit_of_changes(&message).map_err(|error| error.to_string())?
        } else {
            None
        };
        let spec = WorktreeSpec { path: path.to_owned(), branch: kept.branch.clone(), base, target: None };
        let made = repository.make_worktree(&spec).map_err(|error| error.to_string())?;
        if let Some(directory) = &kept.directory {
            make_below(path, Path::new(directory))?;
        }
        Ok(made)
    };
    match made() {
        Ok(made) => WorktreeNews::Made { base: made.base.as_str().to_owned(), target: made.target },
        Err(message) => WorktreeNews::NotMade { message },
    }
}

/// Makes the directory in which a session works, if no commit has it. A link on the way could lead out of the worktree.
fn make_below(root: &Path, directory: &Path) -> Result<(), String> {
    let below = directory.strip_prefix(root).map_err(|_| "the journal names a directory elsewhere")?;
    let mut at = root.to_owned();
    for name in below.components() {
        at.push(name);
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(format!("'{}' is no directory in the worktree", below.display())),
            Err(_) => {
                private_directory(&at).map_err(|error| format!("cannot make '{}': {error}", at.display()))?;
            }
        }
    }
    Ok(())
}

/// Merges and takes the worktree away. Once that has begun, nothing of the branch may be left to tell what came of the
/// merge, so it is noted before: who begins again after a crash only has to take away the rest.
fn merge(place: &Place, title: &str, note: &Path) -> WorktreeNews {
    let merged = || -> Result<WorktreeNews, String> {
        let noted = private::read_text(note, FILE_BYTES_MAX).ok().and_then(|text| Commit::parse(&text));
        let (repository, worktree) = if noted.is_some() { known(place)? } else { found(place)? };
        let commit = match noted {
            Some(commit) => commit,
            None => match merge_work(&repository, &worktree, &place.session, title)? {
                Ok(commit) => commit,
                Err(refused) => return Ok(refused),
            },
        };
        launch::write_private(note, commit.as_str().as_bytes()).map_err(|error| error.to_string())?;
        repository.remove_merged(&worktree, None).map_err(|error| error.to_string())?;
        Ok(WorktreeNews::Merged { commit: commit.as_str().to_owned() })
    };
    merged().unwrap_or_else(|message| {
        // Whoever tries again later may have more to merge.
        fs::remove_file(note).ok();
        not_merged(message)
    })
}

/// The commit that has the work; or why there is none, with the target as it was.
fn merge_work(
    repository: &Repository,
    worktree: &Worktree,
    session: &Session,
    title: &str,
) -> Result<Result<Commit, WorktreeNews>, String> {
    let work = work_message(session, title);
    let merge = format!("Merge {}: {title}", worktree.branch);
    let messages = MergeMessages { work: &work, merge: &merge };
    let refused = |message: &str, files: Vec<std::path::PathBuf>, conflict: bool| {
        let files = files.iter().map(|file| file.display().to_string()).collect();
        Ok(Err(WorktreeNews::NotMerged { message: message.to_owned(), files, conflict }))
    };
    // What tests have left behind is nobody's work.
    let merged = match session.worktree.as_ref().map(|kept| &kept.state) {
        Some(WorktreeState::Merging { tested: Some(tested) }) => {
            let tested = Commit::parse(tested).ok_or("the journal names no commit")?;
            repository.merge_seen(worktree, &tested, &merge)
        }
        _ => repository.merge(worktree, None, messages),
    };
    match merged.map_err(|error| error.to_string())? {
        MergeOutcome::Merged { commit } | MergeOutcome::AlreadyMerged { commit } => Ok(Ok(commit)),
        MergeOutcome::NothingToDo => Ok(Ok(worktree.base.clone())),
        MergeOutcome::Conflict { files } => refused("both sides changed the same places", files, true),
        MergeOutcome::TargetDirty { files } => {
            refused("the target has changes of its own in these files", files, false)
        }
    }
}

/// What is said of work that its session has not committed.
pub(super) fn work_message(session: &Session, title: &str) -> String {
    format!("{title}\n\nOstler-Session: {}", session.id)
}

fn discard(place: &Place) -> WorktreeNews {
    let discarded = || -> Result<WorktreeNews, String> {
        // What a server that died has taken away already is pinned, and found there.
        let (repository, worktree) = found(place).or_else(|_| known(place))?;
        let removed = repository.discard(&worktree).map_err(|error| error.to_string())?;
        let kept = removed.pin.map(|pin| pin.reference).unwrap_or_default();
        Ok(WorktreeNews::Discarded { kept })
    };
    discarded().unwrap_or_else(|message| WorktreeNews::NotDiscarded { message })
}

/// What a session has changed in its worktree.
pub(crate) fn diff(place: &Place, stat: bool, color: bool) -> Result<Diff, String> {
    let (repository, worktree) = found(place)?;
    let format = if stat { DiffFormat::Stat } else { DiffFormat::Patch };
    let options = DiffOptions { format, color, bytes_max: DIFF_BYTES_MAX };
    repository.diff(&worktree, &options).map_err(|error| error.to_string())
}

/// The repository of a session; none outside of git.
pub(super) fn find(place: &Place) -> Result<Option<Repository>, String> {
    let found: Result<Option<Repository>, GitError> =
        Repository::find(Path::new(&place.session.order.directory));
    let found = found.map_err(|error| error.to_string())?;
    Ok(found.map(|found| found.trusting(place.trusted.iter().cloned())))
}

fn repository(place: &Place) -> Result<Repository, String> {
    let directory = &place.session.order.directory;
    find(place)?.ok_or_else(|| format!("'{directory}' is not in a git repository"))
}

pub(super) fn found(place: &Place) -> Result<(Repository, Worktree), String> {
    let kept: &Kept = place.session.worktree.as_ref().ok_or("the session has no worktree")?;
    let repository = repository(place)?;
    let worktree = repository
        .worktree(Path::new(&kept.path), &kept.branch)
        .map_err(|error| error.to_string())?
        .ok_or_else(|| format!("the repository does not know branch '{}' any more", kept.branch))?;
    Ok((repository, worktree))
}

/// The same from what the journal knows, when the repository may have forgotten it.
pub(super) fn known(place: &Place) -> Result<(Repository, Worktree), String> {
    let kept: &Kept = place.session.worktree.as_ref().ok_or("the session has no worktree")?;
    let base = kept.base.as_deref().and_then(Commit::parse).ok_or("the worktree was never made")?;
    let (path, branch) = (kept.path.clone().into(), kept.branch.clone());
    Ok((repository(place)?, Worktree { path, branch, base, target: kept.target.clone() }))
}
