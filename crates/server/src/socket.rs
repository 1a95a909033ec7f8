//! Unix sockets by paths of any length: a name may have 108 bytes, so it is reached through its directory.

use std::{
    fs::File,
    io,
    os::{
        fd::AsRawFd,
        unix::{
            fs::PermissionsExt,
            net::{UnixListener, UnixStream},
        },
    },
    path::{Path, PathBuf},
};

/// Connects, without blocking from then on.
pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    let (_directory, short) = shorten(path)?;
    let stream = UnixStream::connect(short)?;
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// Listens, for the owner alone. A socket that somebody left behind is replaced: the caller holds the lock.
pub(crate) fn listen(path: &Path) -> io::Result<UnixListener> {
    let (_directory, short) = shorten(path)?;
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(source),
        _ => {}
    }
    let listener = UnixListener::bind(&short)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn shorten(path: &Path) -> io::Result<(File, PathBuf)> {
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, "not the path of a socket");
    let name = path.file_name().ok_or_else(missing)?;
    let directory = File::open(path.parent().ok_or_else(missing)?)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name);
    Ok((directory, short))
}
