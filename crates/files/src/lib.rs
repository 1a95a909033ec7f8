//! Opens files that another process of the user may have exchanged, without waiting for it.
//!
//! An agent can put a named pipe, a link, a directory or a huge file in the place of any file that its user owns. A plain
//! `open` of a pipe waits until another process opens the other end. So whatever Ostler reads or writes in its state
//! directory and its configuration is opened here: without blocking, and only if it is a regular file. `cargo xtask tidy`
//! refuses other ways to open a file in the crates that do so.
//!
//! - [`private`]: files that Ostler itself has written. No link is followed; the file belongs to the user.
//! - [`named`]: files whose path a person or a project chose. A link is followed: people keep configurations that way.
//! - [`beneath`]: files below a directory that is held open. No link is followed on the way.
//! - [`kernel`]: files that the kernel makes up, below `/proc` and `/sys`.
//!
//! It knows nothing of what is in a file, and it has no thread and no clock.

use std::{
    fmt,
    fs::{self, File, FileType, OpenOptions},
    io::{self, Read},
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    path::Path,
};

use rustix::{fs::OFlags, io::Errno, process::geteuid};

pub mod beneath;
pub mod kernel;
pub mod named;
pub mod private;

/// The longest file that is read as a whole where nothing smaller is known of it.
pub const FILE_BYTES_MAX: u64 = 16 << 20;

/// What is in the place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnusableFile {
    /// A symbolic link, where none is followed.
    Link,
    /// A named pipe.
    Pipe,
    /// A directory.
    Directory,
    /// A socket.
    Socket,
    /// A device.
    Device,
    /// A file of another user.
    Foreign,
    /// A file with a second name, where the second could be anywhere.
    Shared,
    /// A file that is longer than anything Ostler writes there.
    TooLong {
        /// The bound.
        bytes_max: u64,
    },
    /// A file that another process keeps from being opened by a lease.
    Leased,
}

impl UnusableFile {
    /// The reason in an error of this crate, if a file was refused and not merely missing or unreadable.
    pub fn of(error: &io::Error) -> Option<UnusableFile> {
        error.get_ref()?.downcast_ref().copied()
    }

    fn of_kind(kind: FileType) -> Option<UnusableFile> {
        if kind.is_symlink() {
            Some(UnusableFile::Link)
        } else if kind.is_fifo() {
            Some(UnusableFile::Pipe)
        } else if kind.is_dir() {
            Some(UnusableFile::Directory)
        } else if kind.is_socket() {
            Some(UnusableFile::Socket)
        } else if kind.is_file() {
            None
        } else {
            Some(UnusableFile::Device)
        }
    }
}

impl fmt::Display for UnusableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            UnusableFile::Link => "a link",
            UnusableFile::Pipe => "a named pipe",
            UnusableFile::Directory => "a directory",
            UnusableFile::Socket => "a socket",
            UnusableFile::Device => "a device",
            UnusableFile::Foreign => return f.write_str("it belongs to another user; remove it"),
            UnusableFile::Shared => return f.write_str("it has a second name; remove it"),
            UnusableFile::TooLong { bytes_max } => {
                return write!(f, "it is longer than {bytes_max} bytes; remove it");
            }
            UnusableFile::Leased => return f.write_str("another process holds a lease on it"),
        };
        write!(f, "not a regular file but {what}; remove it")
    }
}

impl std::error::Error for UnusableFile {}

impl From<UnusableFile> for io::Error {
    fn from(why: UnusableFile) -> io::Error {
        // Never `NotFound`: what is there and cannot be used must not count as missing.
        let kind = match why {
            UnusableFile::Link | UnusableFile::Foreign | UnusableFile::Shared => {
                io::ErrorKind::PermissionDenied
            }
            _ => io::ErrorKind::InvalidInput,
        };
        io::Error::new(kind, why)
    }
}

/// Makes the disk keep the names in a directory.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    open_directory(path)?.sync_all()
}

/// Opens a directory, to hold on to it or to reach something in it.
pub fn open_directory(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags(OFlags::DIRECTORY)).open(path)
}

/// Opens without blocking and sees that the result is a regular file.
fn open(path: &Path, options: &mut OpenOptions, links: Links) -> io::Result<File> {
    let nofollow = if links == Links::Refused { OFlags::NOFOLLOW } else { OFlags::empty() };
    let opened = options.custom_flags(flags(OFlags::NONBLOCK | OFlags::NOCTTY | nofollow)).open(path);
    let file = opened.map_err(|error| explained(path, error, links))?;
    match UnusableFile::of_kind(file.metadata()?.file_type()) {
        Some(why) => Err(why.into()),
        None => Ok(file),
    }
}

/// Whether a link in the last part of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    Refused,
    Followed,
}

/// The system's error, or what is in the place of the file where that says more: a link that is not followed, a pipe
/// without a reader, a socket, a directory that cannot be written, a lease.
fn explained(path: &Path, error: io::Error, links: Links) -> io::Error {
    if error.kind() == io::ErrorKind::WouldBlock {
        return UnusableFile::Leased.into();
    }
    let is_telling = [Errno::LOOP, Errno::NXIO, Errno::ISDIR]
        .iter()
        .any(|it| error.raw_os_error() == Some(it.raw_os_error()));
    if !is_telling {
        return error;
    }
    let found = if links == Links::Refused { fs::symlink_metadata(path) } else { fs::metadata(path) };
    found.ok().and_then(|it| UnusableFile::of_kind(it.file_type())).map_or(error, io::Error::from)
}

/// Sees that a file is not another user's. Root is told nothing new by anybody's file.
fn owned(file: &File) -> io::Result<()> {
    let (owner, user) = (file.metadata()?.uid(), geteuid().as_raw());
    if owner == user || owner == 0 || user == 0 { Ok(()) } else { Err(UnusableFile::Foreign.into()) }
}

/// All of a file that is not longer than a bound.
fn read_whole(file: File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(UnusableFile::TooLong { bytes_max }.into());
    }
    Ok(bytes)
}

fn into_text(bytes: Vec<u8>) -> io::Result<String> {
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "the file is not valid UTF-8");
    String::from_utf8(bytes).map_err(invalid)
}

fn flags(flags: OFlags) -> i32 {
    i32::try_from(flags.bits()).expect("flags of the system fit")
}

#[cfg(test)]
mod tests;
