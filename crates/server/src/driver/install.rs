//! Packages that a person approved, added by the project's own package manager: it runs code of strangers, so it runs
//! under a shim, by an argument list, with a name that was checked.

use std::{path::PathBuf, sync::Arc, time::Duration};

use ostler_engine::{
    ActionName, Input, RequestId, SessionId,
    request::{Ask, Install},
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep, sleep_until},
};

use super::{
    Driver,
    check::{following, is_again, newest, result},
    forget::forget,
    launch,
    link::Link,
    reach::CommandReach,
    remains::{self, Remains},
    sweep::OrphanSweep,
};
use crate::{
    crash,
    packages::{self, Add},
};

/// How long an installation may take.
const TIME_MAX: Duration = Duration::from_mins(30);

/// How long one that nobody waits for may take to end by itself.
const GRACE_MS: u64 = 2_000;

/// Between two attempts at something that was refused.
const AGAIN: Duration = Duration::from_millis(500);

/// The most that is said about a failure.
const REASON_BYTES_MAX: usize = 1_000;

/// Begins an installation beside everything else.
pub(super) fn start(driver: &Arc<Driver>, session: SessionId, request: RequestId, name: ActionName) {
    let unwanted = Arc::new(Notify::new());
    let mut installs = driver.installs.lock().expect("nobody panics while holding it");
    installs.insert(request, Arc::clone(&unwanted));
    tokio::spawn(run(Arc::clone(driver), session, request, name, unwanted));
}

/// Ends an installation that nobody waits for, if it still runs.
pub(super) fn end(driver: &Driver, request: RequestId) {
    let installs = driver.installs.lock().expect("nobody panics while holding it");
    if let Some(unwanted) = installs.get(&request) {
        unwanted.notify_one();
    }
}

/// Runs it to its end and reports it. After a crash it goes on with the one that runs, or begins again.
async fn run(
    driver: Arc<Driver>,
    session: SessionId,
    request: RequestId,
    name: ActionName,
    unwanted: Arc<Notify>,
) {
    crash::site("before install");
    let install = match carry_out(&driver, session, request, &unwanted).await {
        Ok((0, _)) => match record(&driver, session, request) {
            Ok(()) => Install { installed: true, reason: None },
            Err(message) => not_installed(&message),
        },
        Ok((code, output)) => not_installed(&format!("exit code {code}\n{}", end_of(&output))),
        Err(message) => not_installed(&message),
    };
    crash::site("after install");
    let input = Input::Installed { request, install };
    while driver.journal.submit(input.clone(), Some(name)).await.is_err() {
        sleep(AGAIN).await;
    }
    driver.installs.lock().expect("nobody panics while holding it").remove(&request);
    let mut directory = first(&driver, session, request);
    while directory.exists() {
        forget(&directory);
        directory = following(&directory);
    }
}

/// Where the first shim of an installation is; one that had to begin again is beside it.
fn first(driver: &Driver, session: SessionId, request: RequestId) -> PathBuf {
    driver.home.session(session).join(format!("install-{request}"))
}

fn not_installed(reason: &str) -> Install {
    Install { installed: false, reason: Some(reason.trim_end().to_owned()) }
}

/// The last words say what is wrong.
fn end_of(output: &str) -> &str {
    let mut start = output.len().saturating_sub(REASON_BYTES_MAX);
    while !output.is_char_boundary(start) {
        start += 1;
    }
    &output[start..]
}

/// How the package of a request is added to the project of its session.
fn planned(
    driver: &Driver,
    session: SessionId,
    request: RequestId,
) -> Option<Result<(Add, PathBuf), String>> {
    let world = driver.journal.world();
    let Ask::Dependency(dependency) = &world.requests.get(&request)?.ask else { return None };
    let directory = PathBuf::from(world.sessions.get(&session)?.directory());
    let add = packages::add(&directory, &dependency.name).map_err(|error| error.to_string());
    Some(add.map(|add| (add, directory)))
}

/// Names the package in the manifest, where its package manager leaves that to others.
fn record(driver: &Driver, session: SessionId, request: RequestId) -> Result<(), String> {
    let Some(Ok((Add { manifest: Some(manifest), requirement: Some(requirement), .. }, directory))) =
        planned(driver, session, request)
    else {
        return Ok(());
    };
    packages::record(&directory, manifest, &requirement)
        .map_err(|error| format!("it was installed, but not added to {manifest}: {error}"))
}

async fn carry_out(
    driver: &Arc<Driver>,
    session: SessionId,
    request: RequestId,
    unwanted: &Notify,
) -> Result<(i32, String), String> {
    let gone = || "the session is gone".to_owned();
    let (add, _) = planned(driver, session, request).ok_or_else(gone)??;
    let file = {
        let world = driver.journal.world();
        let session = world.sessions.get(&session).ok_or_else(gone)?;
        let name = format!("install-{request}");
        launch::errand(driver, session, &name, add.command).map_err(|it| it.to_string())?
    };
    let mut directory = newest(first(driver, session, request));
    let deadline = Instant::now() + TIME_MAX;
    let mut reach = CommandReach::default();
    let is_wanted = || is_installing(driver, request) && Instant::now() < deadline;
    loop {
        match remains::look(&directory) {
            // Its shim was ended without its socket.
            Remains::Nothing if is_again(&directory) && !is_wanted() => return Err("it was ended".to_owned()),
            Remains::Nothing => {
                let started = launch::start(&driver.program, &directory, &file).await;
                started.map_err(|error| error.to_string())?;
            }
            Remains::Held => {
                let Some(mut link) = reach.open(&driver.shim(&directory, &file.session), is_wanted).await
                else {
                    continue;
                };
                follow(&mut link, driver, request, unwanted, deadline).await;
            }
            Remains::Unknown(_) => reach.again().await,
            Remains::Left => match result(&directory) {
                Some(result) => return Ok(result),
                // It was lost half-way: to add what is there already does no harm.
                None => directory = bury(driver.orphan_sweep(session, &file.session, &directory)).await,
            },
        }
    }
}

/// Ends what is left of an installation that was lost, and says where the next one is made.
async fn bury(sweep: OrphanSweep) -> PathBuf {
    let next = following(&sweep.directory);
    tokio::task::spawn_blocking(move || sweep.run()).await.ok();
    next
}

/// Waits until the shim of a directory has ended, or ends it: when nobody waits for it, or it takes too long. Whether
/// anybody waits stands in the world, so that a word that got lost with a server is not missed.
async fn follow(link: &mut Link, driver: &Driver, request: RequestId, unwanted: &Notify, deadline: Instant) {
    let mut ends = !is_installing(driver, request);
    loop {
        if ends {
            // If it has gone meanwhile, it has ended.
            link.end(GRACE_MS).await;
        }
        tokio::select! {
            record = link.next() => if record.is_err() {
                return;
            },
            () = unwanted.notified() => {}
            () = sleep_until(deadline), if !ends => ends = true,
        }
        ends |= !is_installing(driver, request);
    }
}

fn is_installing(driver: &Driver, request: RequestId) -> bool {
    driver.journal.world().requests.get(&request).is_some_and(|it| it.installing)
}
