//! Where tasks are done: the checkout for phase 0, a worktree for every later one, and what git is asked about them. All
//! of it blocks, and all of it may be done again: each looks at what is there first.

use std::path::{Path, PathBuf};

use ostler_engine::{graph::MergeFailure, orchestrate::GroupHeads, plan::overlap};
use ostler_workspace::{Commit, Diff, MergeOutcome, RemoveError, Repository, Worktree, WorktreeSpec};

use crate::driver::work_secrets::CHANGES;

/// How many changed files are remembered that were there before.
const FOREIGN_MAX: usize = 2_000;

/// Why a phase cannot begin while no branch is checked out, and none was when another phase began.
const DETACHED: &str = "nothing is checked out that the phase could be merged into: HEAD is detached";

/// Why nothing can be done in the checkout while another branch is checked out there. It says nothing of that one, so that
/// it is the same for as long as it is true.
fn off_branch(target: &str) -> String {
    format!(
        "'{target}' has to be checked out in the project: this loop's work goes there (git checkout {target})"
    )
}

/// The ground that a project stands on.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    /// The root of the project.
    pub(super) root: PathBuf,
    /// Its task file, relative to the root where it lies in it.
    pub(super) tasks: PathBuf,
    /// What a person lets its repository run.
    pub(super) trusted: Vec<String>,
    /// The branch that the work of all phases goes to; none as long as no phase has begun, and outside of git.
    pub(super) target: Option<String>,
}

/// The place of a phase.
#[derive(Default)]
pub(super) struct Prepared {
    /// Where in its worktree the project is; none where the project itself is worked in.
    pub(super) worktree: Option<String>,
    /// The branch that its work goes to.
    pub(super) target: Option<String>,
}

/// Whose files are committed.
pub(super) enum Whose<'a> {
    /// Those that fit these patterns.
    Declared(&'a [String]),
    /// All, but for those that fit these: others work on them.
    AllBut(&'a [String]),
}

/// What came of a merge.
pub(super) enum Merged {
    /// The commit that has the work.
    Yes(String),
    /// The target is as it was.
    No(MergeFailure),
}

impl Ground {
    fn find(&self, directory: &Path) -> Result<Option<Repository>, String> {
        let found = Repository::find(directory).map_err(|error| error.to_string())?;
        Ok(found.map(|found| found.trusting(self.trusted.iter().cloned())))
    }

    /// The repository of the project; none outside of git.
    pub(super) fn repository(&self) -> Result<Option<Repository>, String> {
        self.find(&self.root)
    }

    /// The place of a phase relative to the project, by the name of its worktree.
    fn place(&self, repository: &Repository, name: &str) -> String {
        let within = within(repository, &self.root);
        if within.as_os_str().is_empty() { name.to_owned() } else { format!("{name}/{}", within.display()) }
    }

    /// Settles which branch the work of a phase goes to, and makes its worktree, if it has one. Outside of git it has
    /// neither. Without a branch nothing is made: what is remembered of a worktree is never changed.
    pub(super) fn prepare(&self, name: Option<&str>, needs_branch: bool) -> Result<Prepared, String> {
        let Some(repository) = self.repository()? else { return Ok(Prepared::default()) };
        let target = match self.target.clone() {
            Some(target) => Some(target),
            None => self.first_target(&repository, name)?,
        };
        if needs_branch && target.is_none() {
            return Err(DETACHED.to_owned());
        }
        let Some(name) = name else { return Ok(Prepared { worktree: None, target }) };
        if let Some(target) = &target {
            self.put_away(&repository, name, target)?;
        }
        let folder = name.split('/').next().unwrap_or(name);
        let within = within(&repository, &self.root);
        repository.exclude(&within.join(folder).to_string_lossy()).map_err(|error| error.to_string())?;
        let (path, branch) = (self.root.join(name), name.to_owned());
        let spec = WorktreeSpec { path, branch, base: None, target: target.clone() };
        repository.make_worktree(&spec).map_err(|error| error.to_string())?;
        Ok(Prepared { worktree: Some(self.place(&repository, name)), target })
    }

    /// The branch that the first phase of a loop goes to: the one that its worktree was made for by a loop before this
    /// one, or else the one that is checked out.
    fn first_target(&self, repository: &Repository, name: Option<&str>) -> Result<Option<String>, String> {
        let made = name.map(|name| self.find_worktree(repository, name)).transpose()?.flatten();
        match made.and_then(|made| made.target) {
            Some(target) => Ok(Some(target)),
            None => repository.branch().map_err(|error| error.to_string()),
        }
    }

    /// Takes a worktree away that was made for another branch, or on a detached HEAD for none, so that it can be made from
    /// the right one. Where somebody has worked in it, that is theirs to do.
    fn put_away(&self, repository: &Repository, name: &str, target: &str) -> Result<(), String> {
        let Some(made) = self.find_worktree(repository, name)? else { return Ok(()) };
        if made.target.as_deref() == Some(target) {
            return Ok(());
        }
        if repository.has_work(&made).map_err(|error| error.to_string())? {
            let from = made.target.map_or("a detached HEAD".to_owned(), |from| format!("'{from}'"));
            return Err(format!(
                "{name} began on {from} and has work in it, and this loop's work goes to '{target}': bring it to where \
                 you want it, and take the worktree away (git worktree remove {name}; git branch -D {name})"
            ));
        }
        match repository.discard(&made) {
            // Somebody has taken it away, and only what was remembered of it was left.
            Ok(_) | Err(RemoveError::Unknown { .. }) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Why nothing can be done in the checkout: another branch is checked out there than the one that the work goes to.
    pub(super) fn off_branch(&self) -> Option<String> {
        self.target.as_ref()?;
        self.off_branch_of(&self.repository().ok()??)
    }

    /// The same, asked of the repository that was found already.
    fn off_branch_of(&self, repository: &Repository) -> Option<String> {
        let target = self.target.as_ref()?;
        let branch = repository.branch().ok()?;
        (branch.as_ref() != Some(target)).then(|| off_branch(target))
    }

    /// Whether what a person was told stands in the way still; none if it is not about what is checked out.
    pub(super) fn still_hinders(&self, message: &str) -> Option<bool> {
        if message == DETACHED {
            return Some(self.repository().ok()??.branch().ok()?.is_none());
        }
        let is_about = message.ends_with(&off_branch(self.target.as_ref()?));
        is_about.then(|| self.off_branch().is_some())
    }

    /// Makes the worktree of a task, from what the branch of its phase has by now, and says where in it the project is.
    pub(super) fn prepare_task(&self, phase: &str, name: &str) -> Result<String, String> {
        let repository = self.repository()?.ok_or("there is no repository")?;
        let of_phase = self.find(&self.root.join(phase))?.ok_or("the worktree of the phase is gone")?;
        let (path, branch) = (self.root.join(name), name.to_owned());
        let spec = WorktreeSpec { path, branch, base: None, target: None };
        of_phase.make_worktree(&spec).map_err(|error| error.to_string())?;
        Ok(self.place(&repository, name))
    }

    /// Merges what is committed on the branch of a task into that of its phase.
    pub(super) fn merge_task(&self, phase: &str, name: &str, title: &str) -> Result<Merged, String> {
        let of_phase = self.find(&self.root.join(phase))?.ok_or("the worktree of the phase is gone")?;
        let worktree = self.worktree(&of_phase, name)?;
        let standing = GroupHeads { head: None, target: None };
        merge(&of_phase, &worktree, &standing, &titled(&format!("Merge {name}"), title))
    }

    /// Takes the worktree of a task away that is merged, into its phase or with it. What was left in it is kept under a
    /// ref.
    pub(super) fn remove_task(&self, name: &str) -> Result<(), String> {
        let Some(repository) = self.repository()? else { return Ok(()) };
        let Ok(worktree) = self.worktree(&repository, name) else { return Ok(()) };
        if repository.remove_merged(&worktree, None).is_ok() {
            return Ok(());
        }
        let removed = repository.remove_merged(&worktree, self.target.as_deref());
        removed.map(drop).map_err(|error| error.to_string())
    }

    /// What is changed now in a checkout of the project, whoever did it.
    pub(super) fn foreign(&self, checkout: &Path) -> Result<Vec<String>, String> {
        let Some(repository) = self.find(checkout)? else { return Ok(Vec::new()) };
        let changed = repository.changed_now().map_err(|error| error.to_string())?;
        Ok(changed.iter().take(FOREIGN_MAX).map(|path| path.to_string_lossy().into_owned()).collect())
    }

    /// Commits what was done in a directory of the project. In the checkout of everybody that is done on one branch alone:
    /// what is on another one is not in any later phase. Gives the commit that was made there; one in a worktree is looked
    /// at when it is merged.
    pub(super) fn commit(
        &self,
        directory: &Path,
        whose: &Whose<'_>,
        foreign: &[String],
        message: &str,
    ) -> Result<Option<(Repository, Commit)>, String> {
        let Some(repository) = self.find(directory)? else { return Ok(None) };
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let is_checkout = root.starts_with(repository.directory_root());
        if is_checkout && let Some(message) = self.off_branch_of(&repository) {
            return Err(message);
        }
        let within = within(&repository, directory);
        let is_wanted = |path: &Path| {
            let shown = path.to_string_lossy();
            let Ok(inner) = path.strip_prefix(&within) else { return false };
            let inner = inner.to_string_lossy();
            if self.is_own(&inner) {
                return false;
            }
            match whose {
                Whose::Declared(patterns) => fits(patterns, &inner),
                Whose::AllBut(patterns) => {
                    !fits(patterns, &inner) && !foreign.iter().any(|it| it.as_str() == shown)
                }
            }
        };
        let made = repository.commit_changed(is_wanted, message).map_err(|error| error.to_string())?;
        Ok(made.filter(|_| is_checkout).map(|commit| (repository, commit)))
    }

    /// Brings files in the worktree of a phase that fit these patterns back to what is committed. What stood there is kept
    /// under the ref that keeps what is left when the worktree goes.
    pub(super) fn put_back(
        &self,
        name: &str,
        directory: &Path,
        patterns: &[String],
        foreign: &[String],
    ) -> Result<(), String> {
        let Some(repository) = self.repository()?.filter(|_| !patterns.is_empty()) else { return Ok(()) };
        let worktree = self.worktree(&repository, name)?;
        let seen = self.find(directory)?.ok_or("the worktree is gone")?;
        let within = within(&seen, directory);
        let is_wanted = |path: &Path| {
            let Ok(inner) = path.strip_prefix(&within) else { return false };
            let is_foreign = foreign.iter().any(|it| it.as_str() == path.to_string_lossy());
            fits(patterns, &inner.to_string_lossy()) && !is_foreign
        };
        repository.put_back(&worktree, is_wanted).map(drop).map_err(|error| error.to_string())
    }

    /// Where in its checkout the project is: empty where it is the root of it.
    pub(super) fn within(&self) -> PathBuf {
        let repository = self.repository().ok().flatten();
        repository.map(|repository| within(&repository, &self.root)).unwrap_or_default()
    }

    /// Whether a file is the loop's own: the task file, whose marks are written in the project alone, the state and the
    /// log; also what a server that was killed while it replaced one of them has left.
    pub(super) fn is_own(&self, path: &str) -> bool {
        let path = Path::new(path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let tasks = self.tasks.file_name().unwrap_or_default().to_string_lossy();
        let is_of_folder = path.parent() == Some(Path::new(".claude"))
            && name.trim_start_matches('.').starts_with("orchestrate");
        let is_draft = path.parent() == self.tasks.parent()
            && name.starts_with(&format!(".{tasks}."))
            && name.ends_with(".tmp");
        self.tasks == path || is_of_folder || is_draft
    }

    /// How a phase stands: the head of its branch, and that of the branch it is merged into.
    pub(super) fn standing(&self, name: Option<&str>) -> Result<GroupHeads, String> {
        let Some(repository) = self.repository()? else { return Ok(GroupHeads { head: None, target: None }) };
        let head = |repository: &Repository| {
            let head = repository.head().map_err(|error| error.to_string())?;
            Ok::<_, String>(head.commit.map(|commit| commit.as_str().to_owned()))
        };
        let Some(name) = name else { return Ok(GroupHeads { head: head(&repository)?, target: None }) };
        let worktree = self.worktree(&repository, name)?;
        let seen = self.find(&worktree.path)?.ok_or("the worktree is gone")?;
        let target = repository.target_head(&worktree).map_err(|error| error.to_string())?;
        Ok(GroupHeads { head: head(&seen)?, target: Some(target.as_str().to_owned()) })
    }

    fn worktree(&self, repository: &Repository, name: &str) -> Result<Worktree, String> {
        let found = self.find_worktree(repository, name)?;
        found.ok_or_else(|| format!("the repository does not know the worktree '{name}'"))
    }

    fn find_worktree(&self, repository: &Repository, name: &str) -> Result<Option<Worktree>, String> {
        let path = self.root.join(name);
        let path = path.canonicalize().unwrap_or(path);
        repository.worktree(&path, name).map_err(|error| error.to_string())
    }

    /// Merges what is committed on the branch of a phase.
    pub(super) fn merge(&self, name: &str, standing: &GroupHeads, title: &str) -> Result<Merged, String> {
        let repository = self.repository()?.ok_or("there is no repository")?;
        let worktree = self.worktree(&repository, name)?;
        merge(&repository, &worktree, standing, &titled(&format!("Merge {name}"), title))
    }

    /// What was changed in the worktree of a phase.
    pub(super) fn changes(&self, name: &str) -> Result<Diff, String> {
        let repository = self.repository()?.ok_or("there is no repository")?;
        let worktree = self.worktree(&repository, name)?;
        repository.diff(&worktree, &CHANGES).map_err(|error| error.to_string())
    }

    /// The branch that a phase is merged into.
    pub(super) fn target(&self, name: &str) -> Result<String, String> {
        let repository = self.repository()?.ok_or("there is no repository")?;
        self.worktree(&repository, name)?.target.ok_or_else(|| "there is no target".to_owned())
    }

    /// Takes the worktree of a phase away that is merged. What was left in it is kept under a ref.
    pub(super) fn remove(&self, name: &str) -> Result<(), String> {
        let Some(repository) = self.repository()? else { return Ok(()) };
        let Some(worktree) = self.find_worktree(&repository, name)? else { return Ok(()) };
        repository.remove_merged(&worktree, None).map(drop).map_err(|error| error.to_string())
    }
}

/// What a commit is called: nothing stands behind the colon of what has no title, so there is none.
pub(super) fn titled(what: &str, title: &str) -> String {
    if title.is_empty() { what.to_owned() } else { format!("{what}: {title}") }
}

fn fits(patterns: &[String], path: &str) -> bool {
    patterns.iter().any(|pattern| overlap(pattern, path))
}

/// A directory within the checkout that it lies in: empty where it is the root of it.
fn within(repository: &Repository, directory: &Path) -> PathBuf {
    let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_path_buf());
    directory.strip_prefix(repository.directory_root()).map(Path::to_path_buf).unwrap_or_default()
}

/// Merges what is committed in a worktree into its target.
fn merge(
    repository: &Repository,
    worktree: &Worktree,
    standing: &GroupHeads,
    message: &str,
) -> Result<Merged, String> {
    let no = |message: &str, files: Vec<PathBuf>, is_conflict: bool| {
        let files = files.iter().map(|file| file.display().to_string()).collect();
        let (commit, target) = (standing.head.clone(), standing.target.clone());
        let (commit, target) = (commit.unwrap_or_default(), target.unwrap_or_default());
        Ok(Merged::No(MergeFailure { commit, target, message: message.to_owned(), files, is_conflict }))
    };
    match repository.merge_committed(worktree, message) {
        Ok(MergeOutcome::Merged { commit } | MergeOutcome::AlreadyMerged { commit }) => {
            Ok(Merged::Yes(commit.as_str().to_owned()))
        }
        Ok(MergeOutcome::NothingToDo) => Ok(Merged::Yes(worktree.base.as_str().to_owned())),
        Ok(MergeOutcome::Conflict { files }) => no("both sides changed the same places", files, true),
        Ok(MergeOutcome::TargetDirty { files }) => {
            no("the target has changes of its own in these files", files, false)
        }
        Err(error) => no(&error.to_string(), Vec::new(), false),
    }
}
