//! The history of a project that is set up: a repository where there is none, and a root of its own for a template's clone.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use ostler_project::{
    HistoryFacts, HistoryStep, has_template_files, last_segment, looks_secret, settings_name,
};
use ostler_server::crash_site;
use ostler_workspace::{
    HistoryState, NewRoot, Repository, UncommittedWork, files_to_commit, make_repository,
};
use serde_json::{Value, json};

use super::{card, refused};
use crate::{
    context::Context,
    error::Error,
    screen::{Screen, add_line, one_line},
    words::{Key, Words},
};

/// What templates of projects are called.
const TEMPLATES: [&str; 2] = ["dev-ai", "claude-agents-web"];

/// How many names of files are shown.
const NAMES_MAX: usize = 20;

/// What became of the history.
pub(super) enum HistoryReport {
    /// It is as it was.
    Kept,
    /// There is no repository, and none was wanted.
    Without,
    /// A repository was made; these files look like secrets and are not in its first commit.
    Made { left_out: Vec<PathBuf> },
    /// The branch has a new root.
    Rooted(NewRoot),
    /// It is a template with work of one's own, and nobody was there to say what becomes of it.
    TemplateKept,
}

/// What becomes of the history; none if somebody wants nothing at all.
pub(super) fn step(
    context: &Context,
    yes: bool,
    root: &Path,
    repository: Option<&Repository>,
) -> Result<Option<HistoryReport>, Error> {
    let Some(repository) = repository else { return without(context, yes, root).map(Some) };
    let state = repository.history_state().map_err(|error| refused(&error))?;
    let step = HistoryStep::of(Some(facts(root, repository, &state)));
    let words = context.words;
    let uncommitted = match step {
        HistoryStep::Keep | HistoryStep::AskRepository => return Ok(Some(HistoryReport::Kept)),
        HistoryStep::NewRoot | HistoryStep::FinishRoot => UncommittedWork::LeaveOut,
        HistoryStep::AskKeep if yes => return Ok(Some(HistoryReport::Kept)),
        HistoryStep::AskTemplate if yes => return Ok(Some(HistoryReport::TemplateKept)),
        HistoryStep::AskKeep => {
            if card::agrees(words.sentence(Key::InitAskKeep))? {
                return Ok(Some(HistoryReport::Kept));
            }
            UncommittedWork::LeaveOut
        }
        HistoryStep::AskTemplate => {
            tell_own(words, &state)?;
            let names =
                [Key::InitCommitFirst, Key::InitLeaveOut, Key::InitCancel].map(|key| words.sentence(key));
            match card::choose(words.sentence(Key::InitAskTemplate), &names, words)? {
                Some(0) => UncommittedWork::Include,
                Some(1) => UncommittedWork::LeaveOut,
                _ => return Ok(None),
            }
        }
    };
    let name = settings_name(root).filter(|name| TEMPLATES.contains(&name.as_str()));
    let segment = state.origin.as_deref().map(last_segment).unwrap_or_default();
    let message = if has_template_files(root, &TEMPLATES) {
        format!("chore: init project from {} template\n", name.as_deref().unwrap_or(segment))
    } else {
        "chore: init project\n".to_owned()
    };
    crash_site("before new root");
    let made = repository.new_root(&message, uncommitted).map_err(|error| refused(&error))?;
    crash_site("after new root");
    Ok(Some(HistoryReport::Rooted(made)))
}

fn facts(root: &Path, repository: &Repository, state: &HistoryState) -> HistoryFacts {
    let segment = state.origin.as_deref().map(last_segment);
    let is_main = repository.directory_root() == repository.main_root();
    HistoryFacts {
        is_template_origin: segment.is_some_and(|segment| TEMPLATES.contains(&segment)),
        has_template_files: has_template_files(root, &TEMPLATES),
        has_origin: state.origin.is_some(),
        has_commit: state.has_commit,
        is_clean: state.changes.is_empty(),
        has_own_work: !state.own.is_empty(),
        can_root: is_main && !state.own.is_detached && state.own.unfinished.is_none(),
        is_half_rooted: state.is_half_rooted,
    }
}

/// Makes a repository, unless nobody wants one. Files that look like secrets are named, and left out of the first commit.
fn without(context: &Context, yes: bool, root: &Path) -> Result<HistoryReport, Error> {
    let words = context.words;
    if !yes && !card::agrees(words.sentence(Key::InitAskGit))? {
        return Ok(HistoryReport::Without);
    }
    let files = files_to_commit(root).map_err(|error| refused(&error))?;
    let secrets: BTreeSet<PathBuf> = files.into_iter().filter(|path| looks_secret(path)).collect();
    if !secrets.is_empty() {
        let names = names(secrets.iter());
        context.note(&words.say(Key::InitSecrets, &[("files", &names)]));
    }
    crash_site("before init repository");
    make_repository(root, "chore: init project\n", &secrets).map_err(|error| refused(&error))?;
    crash_site("after init repository");
    Ok(HistoryReport::Made { left_out: secrets.into_iter().collect() })
}

/// What the clone has that its origin has not.
fn tell_own(words: Words, state: &HistoryState) -> Result<(), Error> {
    let mut lines = Vec::new();
    if !state.changes.is_empty() {
        lines.push(words.say(Key::InitOwnChanges, &[("files", &names(state.changes.iter()))]));
    }
    if state.own.commits > 0 {
        lines.push(words.say(Key::InitOwnCommits, &[("n", &state.own.commits)]));
    }
    if !state.own.branches.is_empty() {
        let branches: Vec<String> =
            state.own.branches.iter().take(NAMES_MAX).map(|it| one_line(it)).collect();
        lines.push(words.say(Key::InitOwnBranches, &[("branches", &branches.join(", "))]));
    }
    if state.own.stash {
        lines.push(words.sentence(Key::InitOwnStash).to_owned());
    }
    if state.own.worktrees > 0 {
        lines.push(words.say(Key::InitOwnWorktrees, &[("n", &state.own.worktrees)]));
    }
    lines.iter().try_for_each(|line| card::say(&format!("  {line}\n")))
}

fn names<'a>(paths: impl ExactSizeIterator<Item = &'a PathBuf>) -> String {
    let more = paths.len() > NAMES_MAX;
    let mut names: Vec<String> = paths.take(NAMES_MAX).map(|it| one_line(&it.to_string_lossy())).collect();
    if more {
        names.push("…".to_owned());
    }
    names.join(", ")
}

impl HistoryReport {
    pub(super) fn json(&self) -> Value {
        match self {
            HistoryReport::Kept => json!({ "kind": "kept" }),
            HistoryReport::Without => json!({ "kind": "no_repository" }),
            HistoryReport::TemplateKept => json!({ "kind": "template_kept" }),
            HistoryReport::Made { left_out } => json!({ "kind": "made", "left_out": left_out }),
            HistoryReport::Rooted(root) => json!({
                "kind": "new_root", "commit": root.commit.as_str(), "before": root.before,
                "origin": root.origin, "undo": undo(root),
            }),
        }
    }

    pub(super) fn shown(&self, words: Words, screen: Screen) -> String {
        match self {
            HistoryReport::Kept => String::new(),
            HistoryReport::Without => screen.text(words.sentence(Key::InitWithoutGit)),
            HistoryReport::TemplateKept => screen.text(words.sentence(Key::InitTemplateKept)),
            HistoryReport::Made { .. } => screen.text(words.sentence(Key::InitGitMade)),
            HistoryReport::Rooted(root) => {
                let before = root.before.clone().unwrap_or_default();
                let mut said = screen.text(&words.say(Key::InitRooted, &[("before", &before)]));
                add_line(&mut said, 2, &undo(root));
                said
            }
        }
    }
}

/// The command that brings the branch and the remote back.
fn undo(root: &NewRoot) -> String {
    let reset = root.before.as_ref().map(|before| format!("git reset --soft {before}"));
    let remote = root.origin.as_ref().map(|origin| format!("git remote add origin {}", quoted(origin)));
    [reset, remote].into_iter().flatten().collect::<Vec<_>>().join(" && ")
}

/// As a shell reads it.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"./:_-@".contains(&byte);
    if text.bytes().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", one_line(text).replace('\'', "'\\''"))
    }
}
