//! The directory of a demonstration: a state directory, a small project and three scripted agents. Whatever was started
//! in it can be ended, also what a former demonstration left. It never touches a directory that is not its own.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::Duration,
};

use ostler_files::private;
use ostler_server::{Home, api::SessionView, client::Client, demo::Shop, start};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::process;
use crate::{
    error::{Error, Message},
    words::Key,
};

/// Says whose directory it is, and is locked for as long as a demonstration uses it.
const MARKER: &str = "ostler-demo";

/// How long something may take to end by itself.
const END_MAX: Duration = Duration::from_secs(30);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// A directory that is held by this process.
pub(super) struct Place {
    root: PathBuf,
    /// The lock goes with it.
    _marker: File,
}

impl Place {
    /// Takes the directory. What a former demonstration left in it is ended and removed first.
    pub(super) async fn take(root: &Path) -> Result<Place, Error> {
        let marker = root.join(MARKER);
        if root.symlink_metadata().is_ok() && !marker.exists() && !is_empty(root) {
            return Err(refused(Key::DemoForeign, root));
        }
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| Error::File { path, source }
        };
        DirBuilder::new().recursive(true).mode(0o700).create(root).map_err(failed(root))?;
        let mut options = OpenOptions::new();
        let file = private::open_or_create(&marker, options.write(true).truncate(false));
        let file = file.map_err(failed(&marker))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(refused(Key::DemoBusy, root)),
            Err(TryLockError::Error(source)) => return Err(failed(&marker)(source)),
        }
        let place = Place { root: root.to_path_buf(), _marker: file };
        place.end().await;
        place.clear().map_err(failed(root))?;
        Ok(place)
    }

    /// The project and the agents.
    pub(super) fn shop(&self) -> Shop {
        Shop::at(&self.root)
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The state directory.
    pub(super) fn home(&self) -> Home {
        Home::at(&self.root.join("state"))
    }

    /// Ends everything that was started here. Says whether it ended by itself or by the server's doing, as it should.
    pub(super) async fn end(&self) -> bool {
        let client = Client::new(&self.home());
        if process::of_home(&self.home()).is_empty() {
            return true;
        }
        // A server knows best how to end agents, and there may be none, or one that is just starting. Where none
        // starts, the processes are ended all the same.
        start::ensure(&self.home()).await.ok();
        timeout(END_MAX, cancel_all(&client)).await.ok();
        client.post::<Value>("/stop", &json!({})).await.ok();
        let deadline = Instant::now() + END_MAX;
        while Instant::now() < deadline {
            process::reap();
            if process::of_home(&self.home()).is_empty() {
                return true;
            }
            sleep(LOOK).await;
        }
        process::kill_all(&self.home()).await;
        false
    }

    /// Removes the directory.
    pub(super) fn remove(self) -> Result<(), Error> {
        let failed = |source| Error::File { path: self.root.clone(), source };
        self.clear().map_err(failed)?;
        // The marker goes last: without it nobody would dare to remove the rest.
        fs::remove_file(self.root.join(MARKER)).map_err(failed)?;
        fs::remove_dir(&self.root).map_err(failed)
    }

    /// Removes everything but the marker.
    fn clear(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            if entry.file_name() == MARKER {
                continue;
            }
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// Cancels what is not over, until nothing is left or nobody answers.
async fn cancel_all(client: &Client) {
    while let Ok(sessions) = client.get::<Vec<SessionView>>("/sessions").await {
        if sessions.is_empty() {
            return;
        }
        for session in sessions.iter().filter(|session| session.status != "ending") {
            client.post::<Value>(&format!("/sessions/{}/cancel", session.id), &json!({})).await.ok();
        }
        sleep(LOOK).await;
    }
}

fn is_empty(root: &Path) -> bool {
    fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_none())
}

fn refused(key: Key, root: &Path) -> Error {
    Error::Refused {
        message: Message::new(key).with("path", &root.display()),
        hint: Message::new(Key::HintDemoDir),
    }
}
