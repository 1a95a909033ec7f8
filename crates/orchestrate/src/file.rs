//! Reads and replaces files that others may have put there: with a limit, never through a link, never half.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Read, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::fs::OFlags;

/// Reads a regular file of at most so many bytes. A pipe in its place does not keep us waiting.
pub(crate) fn read(path: &Path, bytes_max: u64, follow: bool) -> io::Result<Vec<u8>> {
    let mut flags = OFlags::NONBLOCK | OFlags::CLOEXEC;
    if !follow {
        flags |= OFlags::NOFOLLOW;
    }
    let file = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    if about.len() > bytes_max {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it is larger than {bytes_max} bytes"),
        ));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or_default());
    // It may have grown since.
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Puts a file in the place of another at once, on disk before it is there, and for good.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, bytes)?;
    File::open(directory(path))?.sync_all()
}

/// The same, but for whoever does not depend on it: after a power cut the old one may stand there, and never half of one.
pub(crate) fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let permissions =
        fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file).map(|about| about.permissions());
    let temporary = beside(path);
    let written = write_new(&temporary, bytes, permissions).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // What cannot be put there is not left lying about.
        fs::remove_file(&temporary).ok();
    }
    written
}

/// Writes a file that is not there yet.
fn write_new(path: &Path, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.set_permissions(Permissions::from_mode(permissions.mode() & 0o777))?;
    }
    file.sync_all()
}

/// A name beside a file that nobody else uses: two threads of a process have different ones.
pub(crate) fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let thread = format!("{:?}", std::thread::current().id());
    let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
    directory(path).join(format!(".{name}.{}.{thread}.tmp", std::process::id()))
}

pub(crate) fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
