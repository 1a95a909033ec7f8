//! Where everything is kept: one directory, for its owner alone.

use std::{
    env, fmt, fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use ostler_engine::SessionId;

/// The state directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

/// Why there is no state directory.
#[derive(Debug)]
pub enum HomeError {
    /// No variable says where it could be.
    Nowhere,
    /// It cannot be made or used.
    Io {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Others can look into it.
    Open {
        /// Which one.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
}

impl Home {
    /// `OSTLER_HOME`, else `ostler` in the user's state directory.
    pub fn find() -> Result<Home, HomeError> {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let state = || set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")));
        let root = set("OSTLER_HOME").or_else(|| Some(state()?.join("ostler"))).ok_or(HomeError::Nowhere)?;
        let root = std::path::absolute(&root).map_err(|source| HomeError::Io { path: root, source })?;
        Ok(Home { root })
    }

    /// This directory.
    pub fn at(root: &Path) -> Home {
        Home { root: root.to_path_buf() }
    }

    /// Makes the directory, or sees that nobody else can look into it.
    pub fn prepare(&self) -> Result<(), HomeError> {
        let failed = |source| HomeError::Io { path: self.root.clone(), source };
        private_directory(&self.root).map_err(failed)?;
        let mode = fs::metadata(&self.root).map_err(failed)?.permissions().mode() & 0o777;
        let for_others = mode & 0o077;
        if for_others > 0 { Err(HomeError::Open { path: self.root.clone(), mode }) } else { Ok(()) }
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.root.join("journal.sqlite")
    }

    /// Held by the server that uses the directory.
    pub fn lock(&self) -> PathBuf {
        self.root.join("server.lock")
    }

    /// Where the server listens.
    pub fn socket(&self) -> PathBuf {
        self.root.join("api.sock")
    }

    /// Where it listens to the processes of agents.
    pub fn channel(&self) -> PathBuf {
        self.root.join("channel.sock")
    }

    /// Where agents find this program, if nowhere else.
    pub fn programs(&self) -> PathBuf {
        self.root.join("bin")
    }

    /// What the server has to say.
    pub fn log(&self) -> PathBuf {
        self.root.join("server.log")
    }

    /// Environments of sessions, by what they contain.
    pub fn environments(&self) -> PathBuf {
        self.root.join("environments")
    }

    /// The vault.
    pub fn vault(&self) -> PathBuf {
        self.root.join("vault")
    }

    /// Worktrees of sessions.
    pub fn worktrees(&self) -> PathBuf {
        self.root.join("worktrees")
    }

    /// Everything of all sessions.
    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// Everything of one session.
    pub fn session(&self, session: SessionId) -> PathBuf {
        self.sessions().join(session.to_string())
    }

    /// The values that a session was given, in a file of their own.
    pub fn values(&self, session: SessionId) -> PathBuf {
        self.session(session).join("values")
    }

    /// The shim's directory of one launch.
    pub fn launch(&self, session: SessionId, launch: u32) -> PathBuf {
        self.session(session).join(launch.to_string())
    }
}

/// Replaces a file, which only its owner can read, as a whole.
pub(crate) fn write_private(path: &Path, text: &[u8]) -> io::Result<()> {
    let draft = draft_of(path);
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(text)?;
    file.sync_data()?;
    fs::rename(&draft, path)
}

/// Where a file is written before it takes its place.
pub(crate) fn draft_of(path: &Path) -> PathBuf {
    path.with_extension("draft")
}

/// Makes a directory, with those above it, that only its owner can look into.
pub(crate) fn private_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

impl fmt::Display for HomeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HomeError::Nowhere => write!(f, "neither OSTLER_HOME nor XDG_STATE_HOME nor HOME is set"),
            HomeError::Io { path, source } => write!(f, "cannot use '{}': {source}", path.display()),
            HomeError::Open { path, mode } => {
                write!(f, "others can look into '{}' (mode {mode:o})", path.display())
            }
        }
    }
}

impl std::error::Error for HomeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            HomeError::Io { source, .. } => Some(source),
            HomeError::Nowhere | HomeError::Open { .. } => None,
        }
    }
}
