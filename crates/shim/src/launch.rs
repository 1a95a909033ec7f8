//! What a shim is told about the agent it is to run. The server hands it over as the shim's standard input, as a file
//! in memory that has no name and that nobody can change any more.
//!
//! Nothing that lies on the disk decides what runs: every process of the user can exchange a file there, and can also
//! write into a pipe that another one has open.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use ostler_files::{FILE_BYTES_MAX, private};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, memfd_create};
use serde::{Deserialize, Serialize};

use crate::{end_seal::EndKey, error::Error, lock_limit::LockLimit};

/// The name of the file that shims of older versions read from their directory. Nothing that runs depends on it.
pub const FILE: &str = "launch.json";

/// With these, neither the bytes nor the seals of a file in memory can change.
const SEALED: SealFlags =
    SealFlags::SEAL.union(SealFlags::SHRINK).union(SealFlags::GROW).union(SealFlags::WRITE);

/// How to run an agent and how to listen to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// The session's id; the agent's tree can be found by it when all else is lost.
    pub session: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Its whole environment.
    pub environment: BTreeMap<String, String>,
    /// What it is connected to.
    pub terminal: Terminal,
    /// What it reads from.
    pub input: Input,
    /// What it prints.
    pub format: OutputFormat,
    /// The word that makes its tags trustworthy.
    pub nonce: Option<String>,
    /// Whether it speaks the thin dialect.
    pub thin_role: bool,
    /// Whether a message that asks for something stops it.
    pub stop: bool,
    /// How large its output log may become.
    pub log_bytes_max: u64,
    /// How many files it may have open, if not as many as the shim: a server may have raised its own limit, and
    /// programs that still use `select` come to harm above 1,024.
    #[serde(default)]
    pub open_files_max: Option<u64>,
    /// Whether it may have a control group of its own.
    #[serde(default)]
    pub cgroup: CgroupPolicy,
    /// The private file with the values that it was given, if there is one. The shim masks them in what it writes down.
    #[serde(default)]
    pub values: Option<PathBuf>,
    /// The values that it was given so far. They are added to its environment, unless they are set there. The file above
    /// is not read for that: whoever exchanges it could have another program loaded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub given: BTreeMap<String, String>,
    /// The only places where it may write, if it may not write everywhere the user may. Where the kernel cannot see to
    /// that, it is not seen to.
    #[serde(default)]
    pub writes: Option<Vec<PathBuf>>,
    /// The limit of file locks that a person's processes have. The agent gets a lower one, and the shim obeys nobody who
    /// has a lower one. Without it the shim's own limit counts.
    #[serde(default)]
    pub baseline: Option<LockLimit>,
    /// Whether the agent may send no signal to a process outside of its own tree.
    #[serde(default)]
    pub scope_signals: bool,
    /// The key with which the shim signs the record of the agent's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_key: Option<EndKey>,
}

impl Launch {
    /// The lowest limit of file locks with which a process may steer the shim. The launch can only raise it.
    pub(crate) fn person_limit(&self) -> LockLimit {
        let own = LockLimit::own();
        self.baseline.map_or(own, |baseline| baseline.max(own))
    }

    /// The limit of file locks that marks the agent. The launch can only lower it.
    pub(crate) fn agent_limit(&self) -> LockLimit {
        let own = LockLimit::own();
        self.baseline.map_or(own, |baseline| baseline.min(own)).agent_mark()
    }
}

/// Whether an agent gets a control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CgroupPolicy {
    /// Where the system allows it.
    #[default]
    Auto,
    /// Not even there.
    Off,
}

/// What an agent's streams are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Terminal {
    /// Pipes, with standard error apart.
    None,
    /// A terminal of this size; both streams are one.
    Pty {
        /// Lines.
        rows: u16,
        /// Characters in a line.
        columns: u16,
    },
}

/// Where an agent's input comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// From the server, whenever there is some: through a pipe, or the terminal if there is one.
    Open,
    /// From the server through a pipe, also where the rest is a terminal.
    Piped,
    /// From nowhere: some CLIs wait for the end of an input that never comes.
    Empty,
}

/// How an agent's output is to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputFormat {
    /// As text.
    Text,
    /// As events that a table describes, in TOML.
    Table(String),
}

impl Launch {
    /// Makes what a shim is given as its standard input: a sealed file in memory.
    pub fn seal(&self) -> io::Result<OwnedFd> {
        let bytes = serde_json::to_vec(self)?;
        let mut file = File::from(memfd_create("launch", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
        file.write_all(&bytes)?;
        fcntl_add_seals(&file, SEALED)?;
        // Until the seal, another process of the user could open it through `/proc` and write.
        let mut sealed = Vec::with_capacity(bytes.len());
        file.seek(SeekFrom::Start(0))?;
        file.read_to_end(&mut sealed)?;
        if sealed != bytes {
            return Err(io::Error::other("another process has changed the launch"));
        }
        file.seek(SeekFrom::Start(0))?;
        Ok(file.into())
    }

    /// Reads what a server has handed over. Whatever another process could still change is refused.
    pub(crate) fn receive(input: impl AsFd) -> Result<Launch, Error> {
        if !fcntl_get_seals(&input).is_ok_and(|seals| seals.contains(SEALED)) {
            return Err(Error::NotSealed);
        }
        let received = || -> io::Result<Launch> {
            let mut file = File::from(input.as_fd().try_clone_to_owned()?);
            // The place in the file is shared with whoever else has it open.
            file.seek(SeekFrom::Start(0))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(serde_json::from_slice(&bytes)?)
        };
        received().map_err(|source| Error::System { what: "use the launch", source })
    }

    /// Reads the file that an older version has left in a shim's directory.
    pub fn read(directory: &Path) -> Result<Launch, Error> {
        let path = directory.join(FILE);
        let text = private::read(&path, FILE_BYTES_MAX)
            .map_err(|source| Error::Read { path: path.clone(), source })?;
        serde_json::from_slice(&text).map_err(|source| Error::Launch { path, source })
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, os::unix::net::UnixStream};

    use super::*;

    #[test]
    fn a_sealed_launch_arrives_and_nobody_changes_it() {
        let launch: Launch = serde_json::from_value(serde_json::json!({
            "session": "s_1.1@x", "command": ["true"], "directory": "/", "environment": {}, "terminal": "none",
            "input": "open", "format": "text", "nonce": null, "thin_role": false, "stop": true,
            "log_bytes_max": 1, "given": { "KEY": "sk" },
        }))
        .expect("a launch");
        let sealed = launch.seal().expect("memory");
        let mut again = File::options()
            .read(true)
            .write(true)
            .open(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&sealed)))
            .expect("a process of the user can open it");
        assert!(again.write_all(b"{").is_err(), "it cannot write to it");
        assert!(again.set_len(0).is_err());
        // Whoever shares the place in the file cannot have less of it read.
        File::from(sealed.try_clone().expect("a descriptor")).seek(SeekFrom::Start(7)).expect("a place");
        assert_eq!(Launch::receive(&sealed).expect("it is sealed"), launch);
    }

    #[test]
    fn what_can_still_be_changed_is_refused() {
        let (pipe, _other) = UnixStream::pair().expect("two ends");
        let open = memfd_create("open", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).expect("memory");
        let null = File::open("/dev/null").expect("a device");
        for input in [OwnedFd::from(pipe), open, null.into()] {
            assert!(matches!(Launch::receive(&input), Err(Error::NotSealed)), "{input:?}");
        }
    }
}
