//! The commands of a project that a loop runs: what makes a worktree ready, and what tests a phase. Each runs under a shim
//! of its own, which outlives the server; after a crash the one that runs is listened to again.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ostler_engine::{SessionId, session::Session};
use ostler_files::{FILE_BYTES_MAX, named};
use tokio::time::sleep;

use crate::{
    config::{Config, RepositoryCommand},
    driver::{
        Driver,
        check::{following, newest, result},
        forget::forget,
        launch,
        link::Link,
        reach::CommandReach,
        remains::{self, Remains},
    },
    phases::tests_command,
};

/// Between two looks at a shim, and at whether anybody still wants to know.
const LOOK: Duration = Duration::from_millis(100);

/// How long a command that is ended may take to end by itself.
const GRACE_MS: u64 = 2_000;

/// The exit code of a command that may not run.
pub(super) const NOT_ALLOWED: i32 = 126;

/// What is said of it.
pub(in crate::driver) const NOT_AGREED: &str =
    "nobody has agreed to this command of the repository: ostler trust";

/// What is to be run.
pub(in crate::driver) struct Errand {
    /// What tells it from all others of the session.
    pub(in crate::driver) name: String,
    /// The shell command.
    pub(in crate::driver) command: String,
    /// Where.
    pub(in crate::driver) directory: PathBuf,
    /// What it finds in its environment beside what everybody does.
    pub(in crate::driver) environment: BTreeMap<String, String>,
}

impl Errand {
    /// The folder of its first try. A point begins the number of a later one, so that of T1.1 would be found in T1.2.
    fn folder(&self) -> String {
        format!("loop-{}", self.name.replace('.', "_"))
    }
}

/// Runs it to its end: exit code and last words. None if nobody wants to know any more.
pub(in crate::driver) async fn run(
    driver: &Arc<Driver>,
    session: &Session,
    errand: &Errand,
    is_wanted: impl Fn() -> bool,
) -> Result<Option<(i32, String)>, String> {
    let shell = vec!["/bin/sh".to_owned(), "-c".to_owned(), errand.command.clone()];
    let mut file = launch::errand(driver, session, &errand.name, shell).map_err(|error| error.to_string())?;
    file.directory.clone_from(&errand.directory);
    file.environment.extend(errand.environment.clone());
    let first = driver.home.session(session.id).join(errand.folder());
    let mut directory = newest(first.clone());
    let mut reach = CommandReach::default();
    let said = loop {
        match remains::look(&directory) {
            Remains::Nothing if !is_wanted() => return Ok(None),
            Remains::Nothing => {
                let started = launch::start(&driver.program, &directory, &file).await;
                started.map_err(|error| error.to_string())?;
            }
            Remains::Held => {
                let Some(mut link) = reach.open(&driver.shim(&directory, &file.session), &is_wanted).await
                else {
                    continue;
                };
                follow(&mut link, &is_wanted).await;
            }
            Remains::Unknown(_) => reach.again().await,
            Remains::Left => match result(&directory) {
                Some(said) => break said,
                // It was lost half-way: what it would have said is not known, so it begins again.
                None => {
                    let sweep = driver.orphan_sweep(session.id, &file.session, &directory);
                    tokio::task::spawn_blocking(move || sweep.run()).await.ok();
                    directory = following(&directory);
                }
            },
        }
    };
    let mut left = first;
    while left.exists() {
        forget(&left);
        left = following(&left);
    }
    Ok(is_wanted().then_some(said))
}

/// Forgets how it ended, so that it runs again when it is wanted again.
pub(super) fn clear(driver: &Driver, session: SessionId, errand: &Errand) {
    let mut directory = driver.home.session(session).join(errand.folder());
    while directory.exists() {
        let next = following(&directory);
        if std::fs::remove_dir_all(&directory).is_err() {
            return;
        }
        directory = next;
    }
}

async fn follow(link: &mut Link, is_wanted: &impl Fn() -> bool) {
    let mut is_ended = false;
    loop {
        tokio::select! {
            record = link.next() => if record.is_err() {
                return;
            },
            () = sleep(LOOK), if !is_ended => if !is_wanted() {
                is_ended = true;
                link.end(GRACE_MS).await;
            },
        }
    }
}

/// A command of the project, and whether it may run.
pub(in crate::driver) struct Chosen {
    pub(in crate::driver) command: String,
    pub(in crate::driver) allowed: bool,
}

/// What tests the project in a directory: what is configured, or what is found there.
pub(in crate::driver) fn test(config: &Config, directory: &Path, trusted: &[String]) -> Option<Chosen> {
    use crate::config::orchestrate::TEST;
    let is_of_project = config.commands.iter().any(|it| it.key == TEST);
    match &config.orchestrate.test {
        Some(command) => Some(chosen(TEST, command, is_of_project, trusted)),
        None => find(directory).map(|command| chosen(TEST, &command, true, trusted)),
    }
}

/// What makes a new worktree ready, if anything does.
pub(super) fn setup(config: &Config, trusted: &[String]) -> Option<Chosen> {
    use crate::config::orchestrate::SETUP;
    let is_of_project = config.commands.iter().any(|it| it.key == SETUP);
    let command = config.orchestrate.setup.as_ref()?;
    Some(chosen(SETUP, command, is_of_project, trusted))
}

fn chosen(key: &str, command: &str, is_of_project: bool, trusted: &[String]) -> Chosen {
    let asked = RepositoryCommand { key: key.to_owned(), value: command.to_owned(), file: PathBuf::new() };
    let allowed = !is_of_project || trusted.contains(&asked.fingerprint());
    Chosen { command: command.to_owned(), allowed }
}

/// The command that runs the tests of a project, by what stands in its directory.
pub(crate) fn find(directory: &Path) -> Option<String> {
    let has = |name: &str| directory.join(name).is_file();
    let read = |name: &str| named::read_text(directory.join(name), FILE_BYTES_MAX).ok();
    // Where tests of Python lie; everything else is told by one file in the root.
    let files = || {
        ["", "tests", "test"].into_iter().flat_map(|folder| {
            let entries = std::fs::read_dir(directory.join(folder)).into_iter().flatten().flatten();
            let named = move |name: String| if folder.is_empty() { name } else { format!("{folder}/{name}") };
            entries.map(move |entry| named(entry.file_name().to_string_lossy().into_owned()))
        })
    };
    let all = |glob: &str| files().filter(|path| crate::phases::glob::matches(glob, path)).collect();
    tests_command::find(has, read, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_task_has_the_folder_of_another() {
        let errand = |name: &str| Errand {
            name: name.to_owned(),
            command: String::new(),
            directory: PathBuf::new(),
            environment: BTreeMap::new(),
        };
        let folder = |name: &str| PathBuf::from(errand(name).folder());
        assert_ne!(following(&folder("setup-T1.1")), folder("setup-T1.2"));
        assert_eq!(following(&folder("setup-T1.1")), PathBuf::from("loop-setup-T1_1.2"));
        assert_eq!(following(&folder("test-1-0")), PathBuf::from("loop-test-1-0.2"));
    }
}
