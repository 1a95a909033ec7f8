//! Files beneath a directory that is held open. No link is followed on the way, so no name leads out of it, and exchanging
//! a directory for a link while it is read changes nothing.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Component, Path},
};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat};

use crate::UnusableFile;

/// A directory that is held open.
#[derive(Debug)]
pub struct HeldDirectory {
    descriptor: OwnedFd,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// The name.
    pub name: OsString,
    /// The kind of what has the name; a link is a link.
    pub kind: FileType,
}

impl HeldDirectory {
    /// Opens a directory that a person or a project named. Links on the way to it are followed.
    pub fn open(path: &Path) -> io::Result<HeldDirectory> {
        let descriptor = openat(CWD, path, directory_flags() - OFlags::NOFOLLOW, Mode::empty())?;
        Ok(HeldDirectory { descriptor })
    }

    /// Opens a directory beneath this one, following no link.
    pub fn descend(&self, path: &Path) -> io::Result<HeldDirectory> {
        let mut held = HeldDirectory { descriptor: self.descriptor.try_clone()? };
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) => held = held.step(name)?,
                _ => return Err(leads_out()),
            }
        }
        Ok(held)
    }

    /// Opens a regular file in this directory to read it, following no link and waiting for no pipe.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        if name.as_bytes().contains(&b'/') || name == ".." {
            return Err(leads_out());
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
        let opened = openat(&self.descriptor, name, flags, Mode::empty());
        let file = File::from(opened.map_err(|error| self.explained(name, error.into()))?);
        match UnusableFile::of_kind(file.metadata()?.file_type()) {
            Some(why) => Err(why.into()),
            None => Ok(file),
        }
    }

    /// Reads a file in this directory that is not longer than a bound.
    pub fn read(&self, name: &OsStr, bytes_max: u64) -> io::Result<Vec<u8>> {
        crate::read_whole(self.open_file(name)?, bytes_max)
    }

    /// The facts about a name in this directory; of a link, those about the link.
    pub fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// The facts about this directory.
    pub fn stat_self(&self) -> io::Result<Stat> {
        Ok(fstat(&self.descriptor)?)
    }

    /// The names in this directory, at most so many.
    pub fn entries(&self, max: usize) -> io::Result<Vec<DirectoryEntry>> {
        let mut found = Vec::new();
        for entry in Dir::read_from(&self.descriptor)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            if name == "." || name == ".." {
                continue;
            }
            if found.len() == max {
                break;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => match self.stat(&name) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    // It went meanwhile.
                    Err(_) => continue,
                },
                kind => kind,
            };
            found.push(DirectoryEntry { name, kind });
        }
        Ok(found)
    }

    fn step(&self, name: &OsStr) -> io::Result<HeldDirectory> {
        let opened = openat(&self.descriptor, name, directory_flags(), Mode::empty());
        let descriptor = opened.map_err(|error| self.explained(name, error.into()))?;
        Ok(HeldDirectory { descriptor })
    }

    /// The system's error, or that a link is in the place, which says more.
    fn explained(&self, name: &OsStr, error: io::Error) -> io::Error {
        let is_link = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink;
        match self.stat(name) {
            Ok(stat) if is_link(&stat) => UnusableFile::Link.into(),
            _ => error,
        }
    }
}

impl AsFd for HeldDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn directory_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW
}

fn leads_out() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the path leads out of its directory")
}
