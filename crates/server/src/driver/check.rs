//! Checks: a command that says whether the work is done, under a shim like everything that runs code of a project.

use std::{
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ostler_engine::{ActionName, Input, SessionId, session::CheckWish};
use ostler_files::private;
use ostler_shim::{
    ERR, OUT,
    control::Command,
    spool::{Happening, Record, SpoolReader},
};
use tokio::{sync::Notify, time::sleep};

use super::{
    Driver,
    forget::forget,
    launch,
    link::Link,
    reach::CommandReach,
    remains::{self, Remains},
    values,
};
use crate::crash;

/// The most of a check's output that is kept: its end says what is wrong.
const OUTPUT_BYTES_MAX: u64 = 8 << 10;

/// The most that is read of a command where all of it has to be known.
const WHOLE_BYTES_MAX: u64 = 4 << 20;

/// The exit code that stands for a check that could not be run.
const NOT_RUN: i32 = 127;

/// How long an unwanted check may take to end by itself.
const GRACE_MS: u64 = 1_000;

/// Between two attempts at something that was refused.
const AGAIN: Duration = Duration::from_millis(500);

/// Begins a check beside everything else: it takes as long as it takes, and may have to be ended.
pub(super) fn start(driver: &Arc<Driver>, session: SessionId, number: u32, name: ActionName) {
    let changed = Arc::new(Notify::new());
    let mut checks = driver.checks.lock().expect("nobody panics while holding it");
    checks.insert((session, number), Arc::clone(&changed));
    tokio::spawn(run(Arc::clone(driver), session, number, name, changed));
}

/// Something else is wanted of a check than before: it is to be held, sent on or ended, if it still runs. What that is
/// stands in the world alone, so that a word that got lost with a server is not missed.
pub(super) fn steer(driver: &Driver, session: SessionId, number: u32) {
    let checks = driver.checks.lock().expect("nobody panics while holding it");
    if let Some(changed) = checks.get(&(session, number)) {
        changed.notify_one();
    }
}

/// Runs a check to its end and reports it. After a crash it goes on with the one that runs, or begins again.
async fn run(driver: Arc<Driver>, session: SessionId, number: u32, name: ActionName, changed: Arc<Notify>) {
    crash::site("before check");
    let (code, output) = match carry_out(&driver, session, number, &changed).await {
        Ok(Some(result)) => result,
        Ok(None) => (NOT_RUN, "the session is gone".to_owned()),
        Err(message) => (NOT_RUN, message),
    };
    crash::site("after check");
    let input = Input::CheckEnded { session, number, code, output };
    while driver.journal.submit(input.clone(), Some(name)).await.is_err() {
        sleep(AGAIN).await;
    }
    driver.checks.lock().expect("nobody panics while holding it").remove(&(session, number));
    let mut directory = first(&driver, session, number);
    while directory.exists() {
        forget(&directory);
        directory = following(&directory);
    }
}

async fn carry_out(
    driver: &Arc<Driver>,
    session: SessionId,
    number: u32,
    changed: &Notify,
) -> Result<Option<(i32, String)>, String> {
    let planned = {
        let world = driver.journal.world();
        let found = world.sessions.get(&session);
        let command = found.and_then(|it| world.runs.get(&it.run)?.terms.check.clone());
        found.zip(command).map(|(it, command)| launch::check(driver, it, number, &command))
    };
    let Some(planned) = planned else { return Ok(None) };
    let mut file = planned.map_err(|error| error.to_string())?;
    file.given = values::given(driver, session).await?;
    let mut directory = newest(first(driver, session, number));
    let mut reach = CommandReach::default();
    let wish = || driver.journal.world().check_wish(session, number);
    loop {
        match remains::look(&directory) {
            // Its shim was ended without its socket.
            Remains::Nothing if is_again(&directory) && wish() == CheckWish::End => {
                return Err("it was ended".to_owned());
            }
            Remains::Nothing => {
                let started = launch::start(&driver.program, &directory, &file).await;
                started.map_err(|error| error.to_string())?;
            }
            Remains::Held => {
                let Some(mut link) =
                    reach.open(&driver.shim(&directory, &file.session), || wish() != CheckWish::End).await
                else {
                    continue;
                };
                follow(&mut link, changed, wish).await;
            }
            Remains::Unknown(_) => reach.again().await,
            Remains::Left => match result(&directory) {
                Some(result) => return Ok(Some(result)),
                // It was lost half-way: what it would have said is not known, so it begins again.
                None => {
                    let sweep = driver.orphan_sweep(session, &file.session, &directory);
                    // Whatever could not be ended is not waited for: the next check says what is true.
                    tokio::task::spawn_blocking(move || sweep.run()).await.ok();
                    directory = following(&directory);
                }
            },
        }
    }
}

/// Waits until the shim of a directory has ended; meanwhile it does what is wanted of it.
async fn follow(link: &mut Link, changed: &Notify, wish: impl Fn() -> CheckWish) {
    loop {
        // If it has gone meanwhile, it has ended.
        match wish() {
            CheckWish::Run => drop(link.ask(Command::GoOn { after: None }).await),
            CheckWish::Hold => drop(link.ask(Command::Stop).await),
            CheckWish::End => link.end(GRACE_MS).await,
        }
        loop {
            tokio::select! {
                record = link.next() => if record.is_err() {
                    return;
                },
                () = changed.notified() => break,
            }
        }
    }
}

/// Exit code and last words, if it has ended.
pub(super) fn result(directory: &Path) -> Option<(i32, String)> {
    let is_end =
        |record: &Record| matches!(record.what, Happening::Ended { .. } | Happening::NotStarted { .. });
    match SpoolReader::open(directory).ok()?.filter(is_end).last()?.what {
        Happening::Ended { code, signal, .. } => {
            let code = code.or(signal.map(|signal| 128 + signal)).unwrap_or(NOT_RUN);
            Some((code, output(directory)))
        }
        Happening::NotStarted { message } => Some((NOT_RUN, message)),
        _ => None,
    }
}

fn output(directory: &Path) -> String {
    let ends: Vec<String> = [OUT, ERR].iter().filter_map(|log| end_of(&directory.join(log)).ok()).collect();
    ends.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

/// All that a command said, unless that is too much.
pub(super) fn whole(directory: &Path) -> Option<String> {
    let mut text = String::new();
    for log in [OUT, ERR] {
        let path = directory.join(log);
        text += &String::from_utf8_lossy(&private::read(path, WHOLE_BYTES_MAX).ok()?);
        text.push('\n');
    }
    Some(text)
}

fn end_of(path: &Path) -> io::Result<String> {
    let mut file = private::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(OUTPUT_BYTES_MAX)))?;
    let mut bytes = Vec::new();
    file.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn first(driver: &Driver, session: SessionId, number: u32) -> PathBuf {
    driver.home.session(session).join(format!("check-{number}"))
}

/// The newest directory of something that may begin again: `check-1`, then `check-1.2`, `check-1.3` …
pub(super) fn newest(mut directory: PathBuf) -> PathBuf {
    loop {
        let next = following(&directory);
        if !next.exists() {
            return directory;
        }
        directory = next;
    }
}

/// Whether this is the directory of a further try.
pub(super) fn is_again(directory: &Path) -> bool {
    directory.extension().is_some()
}

pub(super) fn following(directory: &Path) -> PathBuf {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let (base, count) = name.split_once('.').unwrap_or((name, "1"));
    let count = count.parse::<u32>().unwrap_or(1) + 1;
    directory.with_file_name(format!("{base}.{count}"))
}
