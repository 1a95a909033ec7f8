//! Unix sockets by paths of any length: a name may have 108 bytes, so it is reached through its directory.

use std::{
    fs::File,
    io,
    os::{
        fd::AsRawFd,
        unix::{fs::PermissionsExt, net::UnixListener},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use ostler_files::open_directory;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use tokio::{
    net::UnixStream,
    time::{Instant, sleep},
};

/// How long the queue of a socket may be full, where nobody sets a shorter time. A server that is stopped takes nothing
/// out of it.
const QUEUE_MAX: Duration = Duration::from_mins(1);

/// Between two attempts at a socket whose queue is full.
const LOOK: Duration = Duration::from_millis(20);

/// Connects, and waits where the queue is full: never in the call itself, which would hold its thread.
pub(crate) async fn connect(path: &Path) -> io::Result<UnixStream> {
    let since = Instant::now();
    loop {
        match connect_now(path) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && since.elapsed() < QUEUE_MAX => {
                sleep(LOOK).await;
            }
            Ok(stream) => return UnixStream::from_std(stream),
            Err(error) => return Err(error),
        }
    }
}

fn connect_now(path: &Path) -> io::Result<std::os::unix::net::UnixStream> {
    let (_directory, short) = shorten(path)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(short)?)?;
    Ok(socket.into())
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
    let directory = open_directory(path.parent().ok_or_else(missing)?)?;
    let short = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name);
    Ok((directory, short))
}
