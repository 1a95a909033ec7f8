//! Events of files: which names in which directories something happened to since the last look.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    io,
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
};

use ostler_files::beneath::HeldDirectory;
use rustix::{
    fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch},
    io::Errno,
};

/// With more changes than these, looking at everything is no slower.
const CHANGES_MAX: usize = 20_000;

/// Room for the events of one read.
const BUFFER_BYTES: usize = 16 << 10;

/// What happened since the last look.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    /// Something to these names, and to nothing else.
    Names(BTreeSet<PathBuf>),
    /// It is not known what.
    Unknown,
}

/// Watches directories. Nothing reads the events until somebody looks: the kernel keeps them in order, and says when it
/// has kept too many.
#[derive(Debug)]
pub(crate) struct ChangeWatch {
    events: OwnedFd,
    paths: HashMap<i32, PathBuf>,
    watches: BTreeMap<PathBuf, i32>,
}

impl ChangeWatch {
    pub(crate) fn new() -> io::Result<ChangeWatch> {
        let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(ChangeWatch { events, paths: HashMap::new(), watches: BTreeMap::new() })
    }

    /// Watches the directory that is held, whatever has its name by now. Called before its names are read.
    pub(crate) fn add(&mut self, directory: &HeldDirectory, path: &Path) -> io::Result<()> {
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::ONLYDIR;
        let held = format!("/proc/self/fd/{}", directory.as_fd().as_raw_fd());
        let watch = add_watch(&self.events, held, flags)?;
        self.paths.insert(watch, path.to_owned());
        self.watches.insert(path.to_owned(), watch);
        Ok(())
    }

    /// Watches nothing at this path and below it any more.
    pub(crate) fn forget(&mut self, path: &Path) {
        let below = self.watches.range(path.to_owned()..).take_while(|(it, _)| it.starts_with(path));
        let below: Vec<(PathBuf, i32)> = below.map(|(path, watch)| (path.clone(), *watch)).collect();
        for (path, watch) in below {
            self.watches.remove(&path);
            self.paths.remove(&watch);
            // The kernel may have dropped it with the directory.
            remove_watch(&self.events, watch).ok();
        }
    }

    /// Everything that has happened until now.
    pub(crate) fn drain(&self) -> Changes {
        let mut buffer = [const { MaybeUninit::uninit() }; BUFFER_BYTES];
        let mut reader = Reader::new(&self.events, &mut buffer);
        let mut names = BTreeSet::new();
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return Changes::Names(names),
                Err(Errno::INTR) => continue,
                Err(_) => return Changes::Unknown,
            };
            if event.events().intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
                return Changes::Unknown;
            }
            // A watch that was taken back may have left events.
            let directory = self.paths.get(&event.wd());
            if let (Some(directory), Some(name)) = (directory, event.file_name()) {
                names.insert(directory.join(std::ffi::OsStr::from_bytes(name.to_bytes())));
            }
            if names.len() > CHANGES_MAX {
                return Changes::Unknown;
            }
        }
    }
}
