//! Files that a person gives to an agent: copied into `uploads/` of its directory under a safe name. Nothing is ever
//! overwritten, no link leads out of the directory, and what did not come whole is not left there.

use std::{
    fmt,
    fs::File,
    io::{self, Read, Seek, Write},
    os::fd::{AsFd, AsRawFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, linkat, mkdirat, open, openat, unlinkat},
    io::Errno,
};

use crate::random;

/// The directory in the workspace.
const DIRECTORY: &str = "uploads";

/// The largest file that is taken.
pub(crate) const BYTES_MAX: u64 = 1 << 30;

/// So many names are tried before somebody is told that there are too many.
const NAMES_MAX: u32 = 1_000;

/// The longest name.
const NAME_BYTES_MAX: usize = 100;

/// Why a file could not be given.
#[derive(Debug)]
pub(crate) enum UploadError {
    /// It cannot be read.
    Source {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is a directory or a device.
    NotAFile {
        /// Which one.
        path: PathBuf,
    },
    /// It is too large.
    TooLarge {
        /// Which one.
        path: PathBuf,
        /// How large.
        bytes: u64,
    },
    /// It did not come whole.
    Broken {
        /// Why not.
        source: io::Error,
    },
    /// It cannot be written.
    Target {
        /// Where to.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Brings a file into a workspace, and gives its path as seen from there. One that is there already stays where it is.
pub(crate) fn bring(workspace: &Path, path: &Path, wanted: &str) -> Result<String, UploadError> {
    let unread = |source: io::Error| UploadError::Source { path: path.to_path_buf(), source };
    let real = path.canonicalize().map_err(unread)?;
    // A pipe or a device must not be waited for.
    let opened = open(&real, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty());
    let file = File::from(opened.map_err(|error| unread(error.into()))?);
    let status = fstat(&file).map_err(|error| unread(error.into()))?;
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
        return Err(UploadError::NotAFile { path: real });
    }
    let bytes = u64::try_from(status.st_size).unwrap_or_default();
    if bytes > BYTES_MAX {
        return Err(UploadError::TooLarge { path: real, bytes });
    }
    let inside =
        workspace.canonicalize().ok().and_then(|root| Some(real.strip_prefix(root).ok()?.to_owned()));
    if let Some(inside) = inside.and_then(|inside| inside.to_str().map(str::to_owned)) {
        return Ok(inside);
    }
    // What was closed to others stays closed to them.
    let mode = Mode::from_raw_mode(status.st_mode & 0o755 | 0o600);
    let own = real.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let received = receive(workspace, file, mode, BYTES_MAX).map_err(|error| match error {
        UploadError::Broken { source } => unread(source),
        other => other,
    })?;
    received.place(&safe_name(wanted, own)).map(|placed| placed.path)
}

/// A file that has come whole and has no name yet. Without one it goes away again.
#[derive(Debug)]
pub(crate) struct Received {
    workspace: PathBuf,
    folder: OwnedFd,
    file: File,
    /// Where the system keeps no files without a name.
    draft: Option<String>,
}

/// A file that is in its place.
#[derive(Debug)]
pub(crate) struct Placed {
    /// As the agent sees it.
    pub(crate) path: String,
    folder: OwnedFd,
    name: String,
    is_new: bool,
}

/// Takes what comes, for a workspace. It has a name only once it is placed.
pub(crate) fn receive(
    workspace: &Path,
    mut source: impl Read,
    mode: Mode,
    bytes_max: u64,
) -> Result<Received, UploadError> {
    let target = workspace.join(DIRECTORY);
    let failed = |source: io::Error| UploadError::Target { path: target.clone(), source };
    let folder = folder(workspace).map_err(failed)?;
    let mut received = Received::open(workspace, folder, mode).map_err(failed)?;
    let (mut piece, mut bytes) = (vec![0; 64 << 10], 0);
    loop {
        let count = match source.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(UploadError::Broken { source }),
        };
        bytes += count as u64;
        if bytes > bytes_max {
            return Err(UploadError::TooLarge { path: target, bytes });
        }
        received.file.write_all(&piece[..count]).map_err(failed)?;
    }
    received.file.sync_data().map_err(failed)?;
    Ok(received)
}

impl Received {
    /// A file without a name, so that nothing is left of it whatever happens; else under a name that nobody has.
    fn open(workspace: &Path, folder: OwnedFd, mode: Mode) -> io::Result<Received> {
        let workspace = workspace.to_path_buf();
        match openat(&folder, ".", OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC, mode) {
            Ok(file) => Ok(Received { workspace, folder, file: file.into(), draft: None }),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {
                let draft = format!(".{}.draft", random::word());
                let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let file = openat(&folder, &draft, flags, mode)?;
                Ok(Received { workspace, folder, file: file.into(), draft: Some(draft) })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Gives it the first name that is free or holds the same.
    pub(crate) fn place(self, name: &str) -> Result<Placed, UploadError> {
        let failed = |source: io::Error| {
            let path = self.workspace.join(DIRECTORY).join(name);
            UploadError::Target { path, source }
        };
        let placed = |name: String, is_new| {
            let folder = self.folder.try_clone().map_err(failed)?;
            Ok(Placed { path: format!("{DIRECTORY}/{name}"), folder, name, is_new })
        };
        for number in 1..=NAMES_MAX {
            let name = numbered(name, number);
            match self.link(&name) {
                Ok(()) => return placed(name, true),
                Err(Errno::EXIST) if holds_the_same(&self.folder, &self.file, &name) => {
                    return placed(name, false);
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(failed(error.into())),
            }
        }
        Err(failed(io::Error::other("there are too many files of that name")))
    }

    fn link(&self, name: &str) -> rustix::io::Result<()> {
        match &self.draft {
            Some(draft) => linkat(&self.folder, draft, &self.folder, name, AtFlags::empty()),
            None => {
                let nameless = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                linkat(CWD, nameless, &self.folder, name, AtFlags::SYMLINK_FOLLOW)
            }
        }
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        if let Some(draft) = &self.draft {
            unlinkat(&self.folder, draft, AtFlags::empty()).ok();
        }
    }
}

impl Placed {
    /// Nobody wants it any more. One that was there already stays.
    pub(crate) fn take_back(self) {
        if self.is_new {
            unlinkat(&self.folder, &self.name, AtFlags::empty()).ok();
        }
    }
}

/// `uploads` in the workspace, which must be a directory and not a link to one.
fn folder(workspace: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = open(workspace, flags, Mode::empty())?;
    let is_new = match mkdirat(&root, DIRECTORY, Mode::from_raw_mode(0o755)) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(error) => return Err(error.into()),
    };
    let folder = openat(&root, DIRECTORY, flags | OFlags::NOFOLLOW, Mode::empty())?;
    if is_new {
        keep_out_of_git(&folder)?;
    }
    Ok(folder)
}

/// What a person gives to an agent is not work of the agent: it goes into no commit, merge or checkpoint by itself.
fn keep_out_of_git(folder: &OwnedFd) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(folder, ".gitignore", flags, Mode::from_raw_mode(0o644))?;
    File::from(file).write_all(b"*\n")
}

/// Whether a file of the directory has the same content: then nothing has to be added.
fn holds_the_same(folder: &OwnedFd, file: &File, name: &str) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(there) = openat(folder.as_fd(), name, flags, Mode::empty()).map(File::from) else { return false };
    let Ok(mut again) = file.try_clone() else { return false };
    let is_file = there.metadata().is_ok_and(|it| it.is_file());
    let lengths = file.metadata().ok().zip(there.metadata().ok());
    let same_length = lengths.is_some_and(|(a, b)| a.len() == b.len());
    is_file && same_length && again.rewind().is_ok() && same_bytes(again, there).unwrap_or(false)
}

fn same_bytes(a: File, b: File) -> io::Result<bool> {
    let (mut a, mut b) = (io::BufReader::new(a), io::BufReader::new(b));
    let (mut left, mut right) = ([0; 8192], [0; 8192]);
    loop {
        let count = a.read(&mut left)?;
        if count == 0 {
            return Ok(b.read(&mut right)? == 0);
        }
        b.read_exact(&mut right[..count])?;
        if left[..count] != right[..count] {
            return Ok(false);
        }
    }
}

/// The last part of the name that was asked for, of harmless characters; else that of the file's own name.
pub(crate) fn safe_name(wanted: &str, own: &str) -> String {
    let clean = |text: &str| {
        let last = text.rsplit(['/', '\\']).next().unwrap_or_default();
        let kept = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let name: String = last.chars().map(kept).collect();
        let name = name.trim_start_matches(['.', '-', '_']).trim_end_matches('.').to_owned();
        let mut end = name.len().min(NAME_BYTES_MAX);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        name[..end].to_owned()
    };
    let names = [clean(wanted), clean(own)];
    names.into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| "file".to_owned())
}

/// `logo.png`, `logo-2.png`, `logo-3.png` …
fn numbered(name: &str, number: u32) -> String {
    match (number, name.rsplit_once('.')) {
        (1, _) => name.to_owned(),
        (number, Some((stem, end))) if !stem.is_empty() => format!("{stem}-{number}.{end}"),
        (number, _) => format!("{name}-{number}"),
    }
}

impl fmt::Display for UploadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UploadError::Source { path, source } => write!(f, "cannot read '{}': {source}", path.display()),
            UploadError::NotAFile { path } => write!(f, "'{}' is no file", path.display()),
            UploadError::TooLarge { path, bytes } => {
                write!(f, "'{}' has {bytes} bytes, and {BYTES_MAX} are allowed", path.display())
            }
            UploadError::Broken { source } => write!(f, "the file did not come whole: {source}"),
            UploadError::Target { path, source } => write!(f, "cannot write '{}': {source}", path.display()),
        }
    }
}

impl std::error::Error for UploadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            UploadError::Source { source, .. }
            | UploadError::Broken { source }
            | UploadError::Target { source, .. } => Some(source),
            UploadError::NotAFile { .. } | UploadError::TooLarge { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        io::{self, Read},
        os::unix::fs::symlink,
        path::PathBuf,
    };

    use rustix::fs::Mode;

    use super::{UploadError, bring, receive, safe_name};

    struct Lab(PathBuf);

    impl Lab {
        fn new(name: &str) -> Lab {
            let root = crate::test_directory().join(format!("uploads-{}-{name}", std::process::id()));
            fs::create_dir_all(root.join("work")).unwrap();
            Lab(root)
        }

        fn file(&self, name: &str, text: &str) -> PathBuf {
            let path = self.0.join(name);
            #[expect(clippy::disallowed_methods, reason = "a file of a test")]
            fs::write(&path, text).unwrap();
            path
        }

        fn work(&self) -> PathBuf {
            self.0.join("work")
        }
    }

    impl Drop for Lab {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).ok();
        }
    }

    #[test]
    fn nothing_is_overwritten_and_the_same_is_not_added_twice() {
        let lab = Lab::new("names");
        let (one, other) = (lab.file("a.png", "one"), lab.file("b.png", "other"));
        let give = |path| bring(&lab.work(), path, "logo.png").unwrap();
        assert_eq!(give(&one), "uploads/logo.png");
        assert_eq!(give(&other), "uploads/logo-2.png");
        assert_eq!(give(&one), "uploads/logo.png");
        assert_eq!(give(&other), "uploads/logo-2.png");
        assert_eq!(
            fs::read_dir(lab.work().join("uploads")).unwrap().count(),
            3,
            "two files, what keeps them out of git, and no draft"
        );
        assert_eq!(fs::read_to_string(lab.work().join("uploads/logo-2.png")).unwrap(), "other");
    }

    #[test]
    fn no_link_leads_out() {
        let lab = Lab::new("links");
        let file = lab.file("a.txt", "text");
        fs::create_dir(lab.0.join("elsewhere")).unwrap();
        symlink(lab.0.join("elsewhere"), lab.work().join("uploads")).unwrap();
        assert!(matches!(bring(&lab.work(), &file, "a.txt"), Err(UploadError::Target { .. })));
        assert_eq!(fs::read_dir(lab.0.join("elsewhere")).unwrap().count(), 0);
        fs::remove_file(lab.work().join("uploads")).unwrap();
        fs::create_dir(lab.work().join("uploads")).unwrap();
        let victim = lab.file("victim", "text");
        symlink(&victim, lab.work().join("uploads/a.txt")).unwrap();
        assert_eq!(bring(&lab.work(), &file, "a.txt").unwrap(), "uploads/a-2.txt");
    }

    #[test]
    fn what_is_no_file_is_refused_and_what_is_there_stays() {
        let lab = Lab::new("sorts");
        assert!(matches!(bring(&lab.work(), &lab.0, "x"), Err(UploadError::NotAFile { .. })));
        assert!(matches!(bring(&lab.work(), &lab.0.join("no"), "x"), Err(UploadError::Source { .. })));
        assert!(matches!(bring(&lab.work(), "/dev/null".as_ref(), "x"), Err(UploadError::NotAFile { .. })));
        let inside = lab.file("work/here.txt", "x");
        assert_eq!(bring(&lab.work(), &inside, "other").unwrap(), "here.txt");
    }

    #[test]
    fn what_does_not_come_whole_is_not_left() {
        struct Breaks(usize);
        impl Read for Breaks {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::UnexpectedEof)?;
                Ok(buffer.len())
            }
        }
        let lab = Lab::new("broken");
        let mode = Mode::from_raw_mode(0o644);
        let left = || fs::read_dir(lab.work().join("uploads")).unwrap().count();
        let broken = receive(&lab.work(), Breaks(3), mode, u64::MAX);
        assert!(matches!(broken, Err(UploadError::Broken { .. })));
        assert_eq!(left(), 1, "what keeps files out of git");
        let long = receive(&lab.work(), Breaks(usize::MAX), mode, 1 << 20);
        assert!(matches!(long, Err(UploadError::TooLarge { .. })));
        drop(receive(&lab.work(), &b"whole"[..], mode, 5).unwrap());
        assert_eq!(left(), 1, "nobody gave it a name");
        let placed = receive(&lab.work(), &b"whole"[..], mode, 5).unwrap().place("a.txt").unwrap();
        assert_eq!((placed.path.as_str(), left()), ("uploads/a.txt", 2));
        let again = receive(&lab.work(), &b"whole"[..], mode, 5).unwrap().place("a.txt").unwrap();
        again.take_back();
        assert_eq!(left(), 2, "it was there before");
        placed.take_back();
        assert_eq!(left(), 1);
    }

    #[test]
    fn a_name_is_made_safe() {
        let check = |wanted: &str, name: &str| assert_eq!(safe_name(wanted, "own.bin"), name);
        check("logo.png", "logo.png");
        check("../../etc/passwd", "passwd");
        check("a b;c$(d).png", "a_b_c__d_.png");
        check(".ssh", "ssh");
        check("-rf", "rf");
        check("로고.png", "로고.png");
        check("..", "own.bin");
        check("c:\\x\\y.txt", "y.txt");
    }
}
