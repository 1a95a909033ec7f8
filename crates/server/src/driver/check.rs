//! Checks: a command that says whether the work is done, under a shim like everything that runs code of a project.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ostler_engine::{ActionName, Input, SessionId};
use ostler_shim::{
    ERR, OUT,
    control::Command,
    spool::{self, Happening},
};
use tokio::time::sleep;

use super::{
    Driver, launch,
    link::Link,
    remains::{self, Remains},
    sweep::sweep,
};
use crate::crash;

/// The most of a check's output that is kept: its end says what is wrong.
const OUTPUT_BYTES_MAX: u64 = 8 << 10;

/// The exit code that stands for a check that could not be run.
const NOT_RUN: i32 = 127;

/// Between two attempts at something that was refused.
const AGAIN: Duration = Duration::from_millis(500);

/// Runs a check to its end and reports it. After a crash it goes on with the one that runs, or begins again.
pub(super) async fn run(driver: Arc<Driver>, session: SessionId, number: u32, name: ActionName) {
    crash::site("before check");
    let (code, output) = match carry_out(&driver, session, number).await {
        Ok(Some(result)) => result,
        Ok(None) => (NOT_RUN, "the session is gone".to_owned()),
        Err(message) => (NOT_RUN, message),
    };
    crash::site("after check");
    let input = Input::CheckEnded { session, number, code, output };
    while driver.journal.submit(input.clone(), Some(name)).await.is_err() {
        sleep(AGAIN).await;
    }
}

/// Ends a check that nobody wants to know the result of.
pub(super) async fn end(driver: &Arc<Driver>, session: SessionId, number: u32) {
    let directory = latest(driver, session, number);
    if remains::look(&directory) == Remains::Held
        && let Ok(mut link) = Link::open(&directory, 0).await
    {
        // If it has gone meanwhile, it has ended.
        link.ask(Command::Cancel { grace_ms: 1_000 }).await.ok();
    }
}

async fn carry_out(
    driver: &Arc<Driver>,
    session: SessionId,
    number: u32,
) -> Result<Option<(i32, String)>, String> {
    let planned = {
        let world = driver.journal.world();
        let found = world.sessions.get(&session);
        let command = found.and_then(|it| world.runs.get(&it.run)?.terms.check.clone());
        found.zip(command).map(|(it, command)| launch::check(driver, it, number, &command))
    };
    let Some(planned) = planned else { return Ok(None) };
    let file = planned.map_err(|error| error.to_string())?;
    let mut directory = latest(driver, session, number);
    loop {
        match remains::look(&directory) {
            Remains::Nothing => {
                let started = launch::start(&driver.program, &directory, &file).await;
                started.map_err(|error| error.to_string())?;
            }
            Remains::Held => follow(&directory).await,
            Remains::Left => match result(&directory) {
                Some(result) => return Ok(Some(result)),
                // It was lost half-way: what it would have said is not known, so it begins again.
                None => {
                    sweep(&file.session, remains::cgroup(&directory).as_deref());
                    directory = following(&directory);
                }
            },
        }
    }
}

/// Waits until the shim of a directory has ended.
async fn follow(directory: &Path) {
    if let Ok(mut link) = Link::open(directory, 0).await {
        while link.next().await.is_ok() {}
    } else {
        sleep(Duration::from_millis(2)).await;
    }
}

fn result(directory: &Path) -> Option<(i32, String)> {
    let records = spool::read(directory).ok()?;
    records.into_iter().rev().find_map(|record| match record.what {
        Happening::Ended { code, signal, .. } => {
            let code = code.or(signal.map(|signal| 128 + signal)).unwrap_or(NOT_RUN);
            Some((code, output(directory)))
        }
        Happening::NotStarted { message } => Some((NOT_RUN, message)),
        _ => None,
    })
}

fn output(directory: &Path) -> String {
    let ends: Vec<String> = [OUT, ERR].iter().filter_map(|log| end_of(&directory.join(log)).ok()).collect();
    ends.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn end_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(OUTPUT_BYTES_MAX)))?;
    let mut bytes = Vec::new();
    file.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The newest directory of a check: `check-1`, then `check-1.2`, `check-1.3` …
fn latest(driver: &Driver, session: SessionId, number: u32) -> PathBuf {
    let mut directory = driver.home.session(session).join(format!("check-{number}"));
    loop {
        let next = following(&directory);
        if !next.exists() {
            return directory;
        }
        directory = next;
    }
}

fn following(directory: &Path) -> PathBuf {
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let (base, count) = name.split_once('.').unwrap_or((name, "1"));
    let count = count.parse::<u32>().unwrap_or(1) + 1;
    directory.with_file_name(format!("{base}.{count}"))
}
