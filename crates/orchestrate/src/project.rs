//! Where the files of a project are.

use std::{
    collections::BTreeSet,
    fmt::{self, Write as _},
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use ostler_engine::plan::{FILE_BYTES_MAX, Plan, Problem, Task, Unclear};
use ostler_protocol::thin::{ErrorCode, Thin};

use crate::{file::read, keeping::Known};

/// Where a task file is looked for, in this order.
pub const TASK_FILES: [&str; 3] = ["TASKS.md", "docs/planning/TASKS.md", "docs/planning/06-tasks.md"];

/// The longest file by which git names another directory.
const POINTER_BYTES_MAX: u64 = 16 << 10;

/// How many commands of one file a person is asked about; those beyond are never run.
const COMMANDS_MAX: usize = 1000;

/// A project with a task file.
#[derive(Debug, Clone)]
pub struct Project {
    root: PathBuf,
    /// The task file that was named.
    tasks: Option<PathBuf>,
    /// What the state file held last, and what that says.
    pub(crate) known: Arc<Known>,
}

/// Why there is no plan.
#[derive(Debug)]
pub enum TasksError {
    /// There is no such file.
    NotFound {
        /// The file that was named; otherwise [`TASK_FILES`] were looked for.
        named: Option<PathBuf>,
    },
    /// It is larger than [`FILE_BYTES_MAX`].
    TooLarge {
        /// What the file is called.
        name: String,
    },
    /// It is there and cannot be read.
    Unreadable {
        /// What the file is called.
        name: String,
        /// Why not.
        source: io::Error,
    },
}

impl Project {
    /// The project that a directory belongs to: the nearest directory above it with a task file, otherwise the repository;
    /// without git the directory itself. From a worktree it is the one in the main repository. A task file may be named,
    /// relative to the directory.
    pub fn find(directory: &Path, tasks: Option<&Path>) -> Project {
        let tasks = tasks.map(|tasks| directory.join(tasks));
        let Some(top) = top_of(directory) else {
            return Project { root: directory.to_owned(), tasks, known: Arc::default() };
        };
        let main = main_repository(top).unwrap_or_else(|| top.to_owned());
        let start = directory.strip_prefix(top).map_or_else(|_| main.clone(), |below| main.join(below));
        let above = start.ancestors().take_while(|it| it.starts_with(&main));
        let has_tasks = |it: &&Path| TASK_FILES.iter().any(|name| it.join(name).exists());
        let root = above.into_iter().find(has_tasks).map_or(main.clone(), Path::to_owned);
        Project { root, tasks, known: Arc::default() }
    }

    /// Its root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether somebody has named the task file.
    pub(crate) fn names_tasks(&self) -> bool {
        self.tasks.is_some()
    }

    /// What it is called: the name of its directory.
    pub fn name(&self) -> String {
        let root = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        root.file_name().map_or_else(|| "project".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// The task file, as it is and as it is called.
    pub fn task_file(&self) -> Result<(PathBuf, String), TasksError> {
        if let Some(named) = &self.tasks {
            if !named.exists() {
                return Err(TasksError::NotFound { named: Some(named.clone()) });
            }
            return Ok((named.clone(), self.shown(named)));
        }
        let found = TASK_FILES.iter().map(|name| self.root.join(name)).find(|path| path.exists());
        let path = found.ok_or(TasksError::NotFound { named: None })?;
        let name = self.shown(&path);
        Ok((path, name))
    }

    /// Reads the task file; also what it is called. What is wrong with it are the plan's problems.
    pub fn plan(&self) -> Result<(Plan, String), TasksError> {
        let (path, name) = self.task_file()?;
        match read(&path, FILE_BYTES_MAX as u64, true) {
            Ok(bytes) => Ok((Plan::read(bytes), name)),
            Err(source) if source.kind() == io::ErrorKind::FileTooLarge => Err(TasksError::TooLarge { name }),
            Err(source) => Err(TasksError::Unreadable { name, source }),
        }
    }

    /// The task file, and each command by which it has a task verified, in its order. They come from a repository, and run
    /// only if a person has agreed.
    pub fn commands(&self) -> Option<(PathBuf, Vec<String>)> {
        let (path, _) = self.task_file().ok()?;
        let (plan, _) = self.plan().ok()?;
        let mut commands: Vec<String> = Vec::new();
        let mut known = BTreeSet::new();
        for command in plan.tasks().filter_map(Task::verify) {
            if commands.len() < COMMANDS_MAX && known.insert(command.clone()) {
                commands.push(command);
            }
        }
        Some((path, commands))
    }

    /// The command by which a person agrees to what the task file has run; from the root of the project.
    pub fn trust_command(&self) -> String {
        match &self.tasks {
            Some(named) => trust_command(&self.shown(named)),
            None => "ostler trust".to_owned(),
        }
    }

    /// Whether the task file lies in the project, links followed; also if there is none. Who does not sit at the machine is
    /// shown no other.
    pub fn is_task_file_inside(&self) -> bool {
        self.task_file().map_or(true, |(path, _)| self.is_inside(&path))
    }

    /// Changes whenever one of the files does: they are replaced, or grow.
    pub fn version(&self) -> String {
        let mut version = String::new();
        let task_file = self.task_file().ok().map(|(path, _)| path);
        for path in task_file.into_iter().chain([self.state_file(), self.log_file()]) {
            if let Ok(about) = fs::metadata(&path) {
                let (inode, bytes) = (about.ino(), about.len());
                // Writing to text does not fail.
                write!(version, "{inode}:{bytes}:{}:{}:", about.mtime(), about.mtime_nsec()).ok();
            }
            write!(version, "{};", path.display()).ok();
        }
        version
    }

    /// Whether the directory of the state lies in the project, links followed; also if there is none.
    pub(crate) fn is_folder_inside(&self) -> bool {
        let folder = self.folder();
        !folder.is_symlink() || self.is_inside(&folder)
    }

    fn is_inside(&self, path: &Path) -> bool {
        match (path.canonicalize(), self.root.canonicalize()) {
            (Ok(path), Ok(root)) => path.starts_with(root),
            _ => false,
        }
    }

    /// The directory of the state file, the lock and the log.
    pub(crate) fn folder(&self) -> PathBuf {
        self.root.join(".claude")
    }

    pub(crate) fn state_file(&self) -> PathBuf {
        self.folder().join("orchestrate-state.json")
    }

    pub(crate) fn lock_file(&self) -> PathBuf {
        self.folder().join("orchestrate-state.json.lock")
    }

    pub(crate) fn log_file(&self) -> PathBuf {
        self.folder().join("orchestrate.log")
    }

    /// Relative to the root where it lies in it.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }
}

/// Whether a path is the place of a project in a linked worktree of its repository, or the top of one. Both have their
/// links followed.
pub(crate) fn is_worktree(root: &Path, path: &Path) -> bool {
    let (Some(main), Some(top)) = (top_of(root), top_of(path)) else { return false };
    let (within, below) = (root.strip_prefix(main).ok(), path.strip_prefix(top).ok());
    let is_place = below.is_some_and(|below| Some(below) == within || below.as_os_str().is_empty());
    is_place && top != main && is_linked(main, top)
}

/// Whether git knows the one as a linked worktree of the other's repository: both name each other.
fn is_linked(main: &Path, top: &Path) -> bool {
    let (Some(ours), Some(git)) = (git_of(main), pointed(top, ".git", "gitdir:")) else { return false };
    let is_same = |one: &Path, other: &Path| {
        one.canonicalize().is_ok_and(|it| other.canonicalize().is_ok_and(|other| it == other))
    };
    let back = pointed(&git, "gitdir", "");
    pointed(&git, "commondir", "").is_some_and(|common| is_same(&common, &ours))
        && back.is_some_and(|back| is_same(&back, &top.join(".git")))
}

/// The directory of git that all checkouts of a repository share, as one of them names it.
fn git_of(top: &Path) -> Option<PathBuf> {
    let own = top.join(".git");
    let git = if own.is_dir() { own } else { pointed(top, ".git", "gitdir:")? };
    Some(pointed(&git, "commondir", "").unwrap_or(git))
}

/// Whether a directory is the top of a checkout. An empty `.git`, such as a sandbox leaves behind, is none.
pub fn has_repository(directory: &Path) -> bool {
    let git = directory.join(".git");
    git.is_file() || git.join("HEAD").exists()
}

/// The nearest directory from here on upwards that is the top of a checkout.
fn top_of(path: &Path) -> Option<&Path> {
    path.ancestors().find(|it| has_repository(it))
}

/// The path that a file of git in a directory names, behind a word.
fn pointed(directory: &Path, name: &str, word: &str) -> Option<PathBuf> {
    let text = String::from_utf8(read(&directory.join(name), POINTER_BYTES_MAX, true).ok()?).ok()?;
    Some(directory.join(text.strip_prefix(word)?.trim()))
}

/// The main repository of a linked worktree, whose `.git` is a file that names a directory in the main one's.
fn main_repository(root: &Path) -> Option<PathBuf> {
    let git = pointed(root, ".git", "gitdir:")?;
    let common = normal(&pointed(&git, "commondir", "")?);
    let is_plain = common.file_name().is_some_and(|name| name == ".git");
    is_plain.then(|| common.parent().map(Path::to_owned)).flatten()
}

/// Without `..`, by name alone.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// The command by which a person agrees to what a named task file has run, as a shell reads it.
pub fn trust_command(file: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'_' | b'-');
    if file.bytes().all(is_plain) {
        return format!("ostler trust --tasks {file}");
    }
    format!("ostler trust --tasks '{}'", file.replace('\'', "'\\''"))
}

impl TasksError {
    /// The line of the thin dialect.
    pub fn thin(&self) -> Thin {
        match self {
            TasksError::NotFound { named: None } => Thin::error(ErrorCode::TasksNotFound, None),
            TasksError::NotFound { named: Some(path) } => {
                Thin::error(ErrorCode::TasksNotFound, Some(&path.display().to_string()))
            }
            TasksError::TooLarge { name } => Problem::Unclear { line: 1, what: Unclear::TooLarge }.thin(name),
            TasksError::Unreadable { .. } => Thin::error(ErrorCode::TasksNotFound, Some(&self.to_string())),
        }
    }
}

impl fmt::Display for TasksError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TasksError::NotFound { named: Some(path) } => write!(f, "there is no file {}", path.display()),
            TasksError::NotFound { named: None } => {
                write!(f, "there is no task file ({})", TASK_FILES.join(", "))
            }
            TasksError::TooLarge { name } => write!(f, "{name} is larger than 128 MiB"),
            TasksError::Unreadable { name, source } => write!(f, "{name} cannot be read: {source}"),
        }
    }
}

impl std::error::Error for TasksError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TasksError::NotFound { .. } | TasksError::TooLarge { .. } => None,
            TasksError::Unreadable { source, .. } => Some(source),
        }
    }
}
