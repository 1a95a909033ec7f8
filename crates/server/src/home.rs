//! Where everything is kept: one directory, for its owner alone.

use std::{
    env, fmt, fs,
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use ostler_engine::{RunId, SessionId, phases::GateName};
use ostler_files::{kernel, private};
use rustix::process::geteuid;

/// Where a user cannot be named, such as the owners of what lies outside of a container, the system says this.
const NOBODY: u32 = 65_534;

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
    /// It would be another one in every directory.
    Relative {
        /// The variable that names it.
        variable: &'static str,
        /// What that says.
        path: PathBuf,
    },
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
    /// It, or a directory above it, belongs to another user, who could put another one in its place.
    Foreign {
        /// Which one.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// Everybody can put another directory in its place.
    Replaceable {
        /// The directory above in which everybody can rename.
        path: PathBuf,
    },
}

impl Home {
    /// `OSTLER_HOME`, else `ostler` in the user's state directory.
    pub fn find() -> Result<Home, HomeError> {
        let places = [("OSTLER_HOME", ""), ("XDG_STATE_HOME", "ostler"), ("HOME", ".local/state/ostler")];
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let found = places.iter().find_map(|&(variable, below)| Some((variable, set(variable)?, below)));
        let (variable, path, below) = found.ok_or(HomeError::Nowhere)?;
        if path.is_relative() {
            return Err(HomeError::Relative { variable, path });
        }
        let root = if below.is_empty() { path } else { path.join(below) };
        let root = std::path::absolute(&root).map_err(|source| HomeError::Io { path: root, source })?;
        Ok(Home { root })
    }

    /// This directory.
    pub fn at(root: &Path) -> Home {
        Home { root: root.to_path_buf() }
    }

    /// Makes the directory, or sees that it is ours, that nobody else can look into it, and that nobody can put
    /// another one in its place.
    pub fn prepare(&self) -> Result<(), HomeError> {
        let failed = |source| HomeError::Io { path: self.root.clone(), source };
        private_directory(&self.root).map_err(failed)?;
        self.check()
    }

    /// The same for one that is there. Nothing is made.
    pub fn check(&self) -> Result<(), HomeError> {
        let failed = |source| HomeError::Io { path: self.root.clone(), source };
        // A link to it may be ours too, but nobody else's.
        owned(&self.root, &self.root.symlink_metadata().map_err(failed)?)?;
        let root = self.root.canonicalize().map_err(failed)?;
        let metadata = root.metadata().map_err(failed)?;
        if metadata.uid() != geteuid().as_raw() {
            return Err(HomeError::Foreign { path: root, owner: metadata.uid() });
        }
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 > 0 {
            return Err(HomeError::Open { path: self.root.clone(), mode });
        }
        for folder in root.ancestors().skip(1) {
            let metadata = folder.metadata().map_err(failed)?;
            owned(folder, &metadata)?;
            let mode = metadata.permissions().mode();
            // In a directory such as /tmp only the owner of something can rename it.
            if mode & 0o002 > 0 && mode & 0o1000 == 0 {
                return Err(HomeError::Replaceable { path: folder.to_path_buf() });
            }
        }
        Ok(())
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

    /// How often the vault was changed, kept apart from it: a vault that is brought back as a whole is noticed.
    pub fn vault_changes(&self) -> PathBuf {
        self.root.join("vault-changes")
    }

    /// Who may come in over TCP.
    pub fn sign_ins(&self) -> PathBuf {
        self.root.join("sign-ins.json")
    }

    /// The port of the page, and behind it the one that it had while somebody else was there.
    pub fn page_port(&self) -> PathBuf {
        self.root.join("page.port")
    }

    /// How far those who are notified have been told.
    pub(crate) fn notifications(&self) -> PathBuf {
        self.root.join("notifications")
    }

    /// When the person last looked.
    pub(crate) fn looked(&self) -> PathBuf {
        self.root.join("looked.json")
    }

    /// Everything of one gate: its reports, and the places that are made for it.
    pub fn gate(&self, gate: GateName) -> PathBuf {
        self.root.join("phases").join(gate.run.to_string()).join(format!("{}-{}", gate.phase, gate.gate))
    }

    /// What a loop through a task file has exchanged.
    pub(crate) fn exchange(&self, run: RunId) -> PathBuf {
        self.root.join("orchestrate").join(run.to_string())
    }

    /// Where texts are kept that are too long to be said to an agent.
    pub fn office(&self) -> PathBuf {
        self.root.join("office")
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

    /// Where texts are kept that are too long for the terminal of a session's agent.
    pub(crate) fn told(&self, session: SessionId) -> PathBuf {
        self.session(session).join("told")
    }

    /// The shim's directory of one launch.
    pub fn launch(&self, session: SessionId, launch: u32) -> PathBuf {
        self.session(session).join(launch.to_string())
    }
}

/// Replaces a file, which only its owner can read, as a whole.
pub(crate) fn write_private(path: &Path, text: &[u8]) -> io::Result<()> {
    let draft = draft_of(path);
    // What a crash left, or somebody planted, is not written into.
    match fs::remove_file(&draft) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(source),
        _ => {}
    }
    let mut file = private::create(&draft)?;
    let replaced =
        file.write_all(text).and_then(|()| file.sync_data()).and_then(|()| fs::rename(&draft, path));
    if replaced.is_err() {
        // It may hold values, and it takes up room.
        fs::remove_file(&draft).ok();
    }
    replaced
}

/// Where a file is written before it takes its place.
pub(crate) fn draft_of(path: &Path) -> PathBuf {
    path.with_extension("draft")
}

/// Sees that something belongs to this user or to the system.
fn owned(path: &Path, metadata: &fs::Metadata) -> Result<(), HomeError> {
    let owner = metadata.uid();
    let is_fine = owner == geteuid().as_raw() || owner == 0 || (owner == NOBODY && is_in_container());
    if is_fine { Ok(()) } else { Err(HomeError::Foreign { path: path.to_path_buf(), owner }) }
}

/// Whether some users of the system have no name here.
fn is_in_container() -> bool {
    let map = kernel::read_text("/proc/self/uid_map").unwrap_or_default();
    let fields: Vec<&str> = map.split_whitespace().collect();
    !map.is_empty() && fields != ["0", "0", "4294967295"]
}

/// Makes a directory, with those above it, that only its owner can look into.
pub(crate) fn private_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

impl fmt::Display for HomeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HomeError::Nowhere => write!(f, "neither OSTLER_HOME nor XDG_STATE_HOME nor HOME is set"),
            HomeError::Relative { variable, path } => {
                let path = path.display();
                write!(
                    f,
                    "{variable} has to be an absolute path: '{path}' is another place in every directory"
                )
            }
            HomeError::Io { path, source } => write!(f, "cannot use '{}': {source}", path.display()),
            HomeError::Open { path, mode } => {
                write!(f, "others can look into '{}' (mode {mode:o})", path.display())
            }
            HomeError::Foreign { path, owner } => {
                write!(f, "'{}' belongs to another user ({owner})", path.display())
            }
            HomeError::Replaceable { path } => {
                write!(f, "everybody can rename what is in '{}'", path.display())
            }
        }
    }
}

impl std::error::Error for HomeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            HomeError::Io { source, .. } => Some(source),
            HomeError::Nowhere
            | HomeError::Relative { .. }
            | HomeError::Open { .. }
            | HomeError::Foreign { .. }
            | HomeError::Replaceable { .. } => None,
        }
    }
}
