//! Sees to it that git runs no program that a repository brings along and nobody has agreed to.
//!
//! Before each call the configuration of the repository is looked at: its own files, those of the worktree, and all
//! that they include. What the user's and the system's files say is the user's own word and stays in force. To look
//! runs nothing: `git config` reads files and prints them.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    ffi::OsStr,
    io,
    ops::Deref,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use crate::{
    GitError,
    checkout::{Checkout, file, read_file},
    git::{Call, joined},
    programs::{Program, runs},
};

/// A configuration beyond this is not remembered.
const CONFIG_BYTES_MAX: u64 = 1 << 20;

/// How many configurations are remembered.
const REMEMBERED_MAX: usize = 1024;

/// How many files a configuration may include under conditions.
const INCLUDED_MAX: usize = 64;

/// How deep submodules may lie in each other.
const DEPTH_MAX: usize = 16;

/// A git directory, which git may be called on as far as somebody agreed to what it would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitDir {
    path: PathBuf,
    owner: Arc<Owner>,
    /// It belongs to a repository inside the owner's.
    is_inner: bool,
}

/// The repository that somebody may have agreed to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Owner {
    /// What a person knows it by.
    pub(crate) root: PathBuf,
    pub(crate) common_dir: PathBuf,
    /// The checkout of another repository whose files it came as, configuration and all.
    pub(crate) came_in: Option<PathBuf>,
    /// Fingerprints of what may run.
    pub(crate) trusted: BTreeSet<String>,
}

impl Deref for GitDir {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl AsRef<Path> for GitDir {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

impl GitDir {
    pub(crate) fn of(owner: &Arc<Owner>, path: PathBuf) -> GitDir {
        GitDir { path, owner: Arc::clone(owner), is_inner: false }
    }

    /// Another git directory of the same repository.
    pub(crate) fn sibling(&self, path: PathBuf) -> GitDir {
        GitDir { path, ..self.clone() }
    }

    /// The repository that begins in a directory inside the checkout of this one.
    pub(crate) fn inner(&self, directory: &Path) -> Result<Checkout, GitError> {
        let link = directory.join(".git");
        let failed = |source| file(&link, source);
        let mut path = link.canonicalize().map_err(failed)?;
        if path.is_file() {
            let text = read_file(&path, CONFIG_BYTES_MAX).map_err(failed)?;
            let text = text.strip_prefix(b"gitdir: ").unwrap_or_default().trim_ascii_end();
            path = directory.join(OsStr::from_bytes(text)).canonicalize().map_err(failed)?;
        }
        let git_dir = GitDir { path, owner: Arc::clone(&self.owner), is_inner: true };
        Ok(Checkout { git_dir, root: directory.to_owned() })
    }

    pub(crate) fn owner(&self) -> &Arc<Owner> {
        &self.owner
    }

    /// Refuses where git would run something that nobody agreed to.
    pub(crate) fn check(&self) -> Result<(), GitError> {
        let mut programs = self.programs()?;
        programs.retain(|program| !self.owner.trusted.contains(&program.fingerprint()));
        if programs.is_empty() {
            return Ok(());
        }
        Err(GitError::Untrusted { repository: self.owner.root.clone(), programs })
    }

    /// Everything that the configuration of this git directory would have git run.
    pub(crate) fn programs(&self) -> Result<Vec<Program>, GitError> {
        let files = Files::of(&self.path)?;
        if !self.is_inner && files.common_dir != self.owner.common_dir {
            return Err(GitError::Misled { path: self.path.clone(), to: files.common_dir });
        }
        let mut found: BTreeSet<Program> = settings(&self.path, &files)?
            .into_iter()
            .filter(|setting| setting.is_unreadable_include || runs(&setting.key, &setting.value))
            .map(|Setting { key, value, file, .. }| Program { label: self.label(&file), key, value, file })
            .collect();
        if let Some(outer) = self.owner.came_in.as_ref().filter(|_| !self.is_inner) {
            let (key, file) = ("safe.bareRepository".to_owned(), self.path.clone());
            let label = self.label(&file);
            found.insert(Program { key, value: outer.to_string_lossy().into_owned(), file, label });
        }
        Ok(found.into_iter().collect())
    }

    /// A file of the repository by its place in it. Git copies the configuration of a worktree to each new one, and
    /// those of submodules lie below the worktree's: they are the same file for whoever agrees.
    fn label(&self, file: &Path) -> String {
        let Ok(inside) = file.strip_prefix(&self.owner.common_dir) else {
            return file.to_string_lossy().into_owned();
        };
        let mut parts = inside.components();
        let of_worktree =
            parts.next().is_some_and(|part| part.as_os_str() == "worktrees") && parts.next().is_some();
        let rest = if of_worktree { parts.as_path() } else { inside };
        joined("git:", rest).to_string_lossy().into_owned()
    }
}

/// Looks at the repositories of submodules too, and of theirs: git goes into them by itself.
pub(crate) fn check_submodules(checkout: &Checkout, submodules: &[PathBuf]) -> Result<(), GitError> {
    each_submodule(checkout, submodules, 0, &mut |inner| inner.git_dir.check())
}

/// What the submodules of a checkout would have git run.
pub(crate) fn programs_of_submodules(
    checkout: &Checkout,
    submodules: &[PathBuf],
) -> Result<Vec<Program>, GitError> {
    let mut found = Vec::new();
    each_submodule(checkout, submodules, 0, &mut |inner| {
        found.extend(inner.git_dir.programs()?);
        Ok(())
    })?;
    Ok(found)
}

fn each_submodule(
    checkout: &Checkout,
    submodules: &[PathBuf],
    depth: usize,
    look: &mut dyn FnMut(&Checkout) -> Result<(), GitError>,
) -> Result<(), GitError> {
    for submodule in submodules {
        let directory = checkout.root.join(submodule);
        if depth == DEPTH_MAX {
            return Err(file(&directory, io::Error::other("submodules lie too deep in each other")));
        }
        let inner = checkout.git_dir.inner(&directory)?;
        look(&inner)?;
        let theirs = submodules_in(&inner)?;
        each_submodule(&inner, &theirs, depth + 1, look)?;
    }
    Ok(())
}

/// The submodules that are checked out. To list the index runs nothing, so this may be asked before anybody agreed.
pub(crate) fn submodules_in(checkout: &Checkout) -> Result<Vec<PathBuf>, GitError> {
    let list = Call::unguarded(checkout).args(["ls-files", "--stage", "-z"]).run()?;
    let mut found = Vec::new();
    // MODE OBJECT STAGE, a tab, the path.
    for entry in list.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"160000 ")) {
        let path = entry.splitn(2, |byte| *byte == b'\t').nth(1).unwrap_or_default();
        let path = PathBuf::from(OsStr::from_bytes(path));
        if checkout.root.join(&path).join(".git").symlink_metadata().is_ok() {
            found.push(path);
        }
    }
    found.dedup();
    Ok(found)
}

/// One setting of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Setting {
    key: String,
    value: String,
    file: PathBuf,
    /// It includes a file at a place that cannot be told from here.
    is_unreadable_include: bool,
}

/// The files that decide what git reads, as they are now.
#[derive(PartialEq, Eq)]
struct Files {
    common_dir: PathBuf,
    /// None if they are too large to be remembered.
    bytes: Option<[Vec<u8>; 3]>,
}

impl Files {
    fn of(git_dir: &Path) -> Result<Files, GitError> {
        let link = read(&git_dir.join("commondir"))?.unwrap_or_default();
        let common_dir = match link.trim_ascii_end() {
            [] => git_dir.to_owned(),
            path => git_dir.join(OsStr::from_bytes(path)),
        };
        let common_dir = common_dir.canonicalize().map_err(|source| file(&common_dir, source))?;
        let shared = read(&common_dir.join("config"))?;
        let own = read(&git_dir.join("config.worktree"))?;
        Ok(Files { common_dir, bytes: shared.zip(own).map(|(shared, own)| [link, shared, own]) })
    }
}

/// A file that does not have to be there; none if it is too large.
fn read(path: &Path) -> Result<Option<Vec<u8>>, GitError> {
    match read_file(path, CONFIG_BYTES_MAX + 1) {
        Ok(bytes) => Ok((bytes.len() as u64 <= CONFIG_BYTES_MAX).then_some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(Vec::new())),
        Err(error) => Err(file(path, error)),
    }
}

/// Whether git would take a folder for a git directory.
fn is_git_dir(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}

/// Looks at what git reads first, wherever it is called in a directory: it would wait for ever at a pipe. An agent
/// can put one there right afterwards; then git is ended when its time is up.
pub(crate) fn look_ahead(directory: &Path) -> Result<(), GitError> {
    for folder in directory.ancestors() {
        let link = folder.join(".git");
        let named = read_file(&link, CONFIG_BYTES_MAX).ok();
        let named = named.as_deref().and_then(|text| text.strip_prefix(b"gitdir: "));
        let linked = named.map(|path| folder.join(OsStr::from_bytes(path.trim_ascii_end())));
        let places = [linked.unwrap_or(link), folder.to_owned()];
        if let Some(git_dir) = places.iter().find(|place| is_git_dir(place)) {
            return see_includes(git_dir, &Files::of(git_dir)?);
        }
    }
    Ok(())
}

/// Sees that everything that a configuration includes is a file, without having git open it.
fn see_includes(git_dir: &Path, files: &Files) -> Result<(), GitError> {
    let names = |bytes: &Vec<u8>| bytes.windows(7).any(|word| word.eq_ignore_ascii_case(b"include"));
    if files.bytes.as_ref().is_some_and(|bytes| !bytes.iter().any(names)) {
        return Ok(());
    }
    let mut waiting = Vec::new();
    for path in [files.common_dir.join("config"), git_dir.join("config.worktree")] {
        if path.exists() {
            waiting.extend(settings_in(&path)?.into_iter().filter(Setting::includes));
        }
    }
    follow(waiting).map(drop)
}

/// The settings that files were found to hold, by git directory. What the files hold is compared, not when they were
/// written: an agent can write without that showing.
static REMEMBERED: Mutex<BTreeMap<PathBuf, Remembered>> = Mutex::new(BTreeMap::new());

/// What the files held, and what follows from it.
type Remembered = ([Vec<u8>; 3], Vec<Setting>);

/// What the configuration of the repository says, without the user's and the system's.
fn settings(git_dir: &Path, files: &Files) -> Result<Vec<Setting>, GitError> {
    let remembered = || REMEMBERED.lock().expect("nobody panics while holding it");
    if let (Some(bytes), Some((known, settings))) = (&files.bytes, remembered().get(git_dir))
        && bytes == known
    {
        return Ok(settings.clone());
    }
    see_includes(git_dir, files)?;
    let args = ["config", "--list", "--show-scope", "--show-origin", "-z"];
    let list = Call::blind(git_dir).args(args).run()?;
    let mut parts = list.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let (Some(scope), Some(origin), Some(setting)) = (parts.next(), parts.next(), parts.next()) {
        if matches!(scope, b"local" | b"worktree") {
            found.push(Setting::read(git_dir, origin, setting));
        }
    }
    let is_whole = !found.iter().any(Setting::includes);
    found.extend(follow(found.iter().filter(|it| it.is_conditional()).cloned().collect())?);
    // Included files are not compared, so what they hold is not remembered.
    if let (true, Some(bytes)) = (is_whole && *files == Files::of(git_dir)?, &files.bytes) {
        let mut remembered = remembered();
        if remembered.len() >= REMEMBERED_MAX {
            remembered.clear();
        }
        remembered.insert(git_dir.to_owned(), (bytes.clone(), found.clone()));
    }
    Ok(found)
}

impl Setting {
    /// From `file:PATH` and `KEY`, a line end, `VALUE`.
    fn read(directory: &Path, origin: &[u8], setting: &[u8]) -> Setting {
        let origin = origin.strip_prefix(b"file:").unwrap_or(origin);
        let mut parts = setting.splitn(2, |byte| *byte == b'\n');
        let text = |part: Option<&[u8]>| part.map(|it| String::from_utf8_lossy(it).into_owned());
        let key = text(parts.next()).unwrap_or_default();
        // A name without a value means yes.
        let value = text(parts.next()).unwrap_or_else(|| "true".to_owned());
        let file = directory.join(OsStr::from_bytes(origin));
        Setting { key, value, file, is_unreadable_include: false }
    }

    fn includes(&self) -> bool {
        self.key == "include.path" || self.is_conditional()
    }

    fn is_conditional(&self) -> bool {
        self.key.strip_prefix("includeif.").is_some_and(|rest| rest.rsplit('.').next() == Some("path"))
    }

    /// The file that it includes; none if the place depends on how git was built, or on another user.
    fn included(&self) -> Option<PathBuf> {
        let path = Path::new(&self.value);
        if let Ok(rest) = path.strip_prefix("~") {
            return Some(PathBuf::from(env::var_os("HOME")?).join(rest));
        }
        let is_plain = !self.value.starts_with(['~', '%']);
        is_plain.then(|| self.file.parent().unwrap_or(Path::new("/")).join(path))
    }
}

/// What is included, and what that includes, whether a condition holds now or not: `onbranch` may hold in the
/// worktree that is about to be made, although it does not here.
fn follow(mut waiting: Vec<Setting>) -> Result<Vec<Setting>, GitError> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    while let Some(include) = waiting.pop() {
        let Some(path) = include.included() else {
            found.push(Setting { is_unreadable_include: true, ..include });
            continue;
        };
        if !path.exists() || !seen.insert(path.clone()) {
            continue;
        }
        if seen.len() > INCLUDED_MAX {
            return Err(file(&path, io::Error::other("the configuration includes too many files")));
        }
        // Seen to be a regular file first.
        read(&path)?;
        let settings = settings_in(&path)?;
        waiting.extend(settings.iter().filter(|setting| setting.includes()).cloned());
        found.extend(settings);
    }
    Ok(found)
}

/// What one file says, without what it includes.
fn settings_in(path: &Path) -> Result<Vec<Setting>, GitError> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let args = ["config", "--list", "--show-origin", "-z", "--no-includes", "--file"];
    let list = Call::at(folder).args(args).args([path]).run()?;
    let mut parts = list.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let (Some(origin), Some(setting)) = (parts.next(), parts.next()) {
        found.push(Setting::read(folder, origin, setting));
    }
    Ok(found)
}

/// The checkout that a repository without files of its own is part of, as files: then whoever wrote those wrote its
/// configuration too.
pub(crate) fn carrier(git_dir: &Path) -> Result<Option<PathBuf>, GitError> {
    let has_git = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    let Some(outer) = git_dir.ancestors().skip(1).find(has_git) else { return Ok(None) };
    let name = joined(":(top,literal)", &git_dir.strip_prefix(outer).unwrap_or(git_dir).join("HEAD"));
    look_ahead(outer)?;
    // To list the index runs nothing.
    let listed = Call::at(outer).args(["ls-files", "-z", "--"]).args([name]).output()?;
    let is_part = listed.status.success() && !listed.stdout.is_empty();
    Ok(is_part.then(|| outer.to_owned()))
}
