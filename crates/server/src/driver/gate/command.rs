//! Commands at a gate, each under a shim of its own: in a checkout of the checkpoint that is made for the gate, or in
//! the project's directory where the configuration says so.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use ostler_engine::{
    ActionName, Input,
    phases::{
        CheckResult, GateName, Junit, Step,
        plan::{CommandKind, GateCommand},
    },
};
use ostler_files::private;
use ostler_shim::{
    LOCK,
    spool::{Happening, SpoolReader},
};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::{Facts, command_place, submit};
use crate::{
    crash,
    driver::{
        Driver,
        check::{following, newest, result, whole},
        forget::forget,
        launch,
        link::Link,
        reach::CommandReach,
        remains::{self, Remains},
        values,
    },
    phases::{glob, junit, tests_command},
};

/// How long a command that is ended may take to end by itself.
const GRACE_MS: u64 = 2_000;

/// The exit code of a command that could not be run.
const NOT_RUN: i32 = 127;

/// A note in a shim's directory: it was ended because its time was over.
const OVERDUE: &str = "overdue";

/// The most that is looked through for what tests write about themselves.
const ENTRIES_MAX: usize = 50_000;

/// The most files of that kind.
const REPORTS_MAX: usize = 200;

/// The largest of them.
const REPORT_BYTES_MAX: u64 = 8 << 20;

/// Runs a command to its end and reports it. After a crash it goes on with the one that runs, or begins again.
pub(super) async fn run(driver: Arc<Driver>, gate: GateName, index: u32, name: ActionName) {
    crash::site("before gate check");
    let unwanted = Arc::new(Notify::new());
    let key = (gate, index);
    driver.gate_commands.lock().expect("nobody panics while holding it").insert(key, Arc::clone(&unwanted));
    let planned = Facts::of(&driver, gate).and_then(|facts| {
        let command = facts.gate.collected.as_ref()?.commands.get(index as usize)?.clone();
        Some((facts, command))
    });
    let result = match planned {
        Some((facts, command)) => carry_out(&driver, &facts, index, &command, &unwanted)
            .await
            .unwrap_or_else(|message| failed(&command, message)),
        None => {
            let command = GateCommand {
                run: String::new(),
                kind: CommandKind::Check,
                time_ms_max: 0,
                in_project: false,
            };
            failed(&command, "the run is gone".to_owned())
        }
    };
    crash::site("after gate check");
    submit(&driver, Input::Checked { gate, index, result }, name).await;
    driver.gate_commands.lock().expect("nobody panics while holding it").remove(&key);
    if let Some(mut directory) = first(&driver, gate, index) {
        while directory.exists() {
            forget(&directory);
            directory = following(&directory);
        }
    }
}

fn failed(command: &GateCommand, output: String) -> CheckResult {
    let (run, kind) = (command.run.clone(), command.kind);
    CheckResult { run, kind, code: NOT_RUN, overdue_ms: None, time_ms: 0, output, junit: None }
}

/// Where the first shim of a command is; one that had to begin again is beside it.
fn first(driver: &Driver, gate: GateName, index: u32) -> Option<PathBuf> {
    let session = super::worker_of(driver, gate)?;
    Some(driver.home.session(session).join(format!("gate-{}-{}-{index}", gate.phase, gate.gate)))
}

async fn carry_out(
    driver: &Arc<Driver>,
    facts: &Facts,
    index: u32,
    command: &GateCommand,
    unwanted: &Notify,
) -> Result<CheckResult, String> {
    let place = place(driver, facts, command).await?;
    let shell = vec!["/bin/sh".to_owned(), "-c".to_owned(), command.run.clone()];
    let marker = format!("gate{}.{}.{index}", facts.name.phase, facts.name.gate);
    let mut file =
        launch::errand(driver, &facts.session, &marker, shell).map_err(|error| error.to_string())?;
    file.directory.clone_from(&place);
    file.values = Some(driver.home.values(facts.session.id));
    file.given = values::given(driver, facts.session.id).await?;
    let first = first(driver, facts.name, index).ok_or("the run is gone")?;
    let mut directory = newest(first);
    // Whoever clears a gate moves it on first: they have found this one on the list, or it finds that out here.
    let is_wanted = facts.gate.step == Step::Check { index };
    if !is_wanted {
        unwanted.notify_one();
    }
    let mut reach = CommandReach::default();
    loop {
        match remains::look(&directory) {
            Remains::Nothing if !is_wanted || !is_asked(driver, facts.name, index) => {
                return Err("nobody wants to know any more".to_owned());
            }
            Remains::Nothing => {
                let started = launch::start(&driver.program, &directory, &file).await;
                started.map_err(|error| error.to_string())?;
            }
            Remains::Held => {
                let is_wanted = || is_asked(driver, facts.name, index) && !is_late(&directory, command);
                let Some(mut link) = reach.open(&driver.shim(&directory, &file.session), is_wanted).await
                else {
                    continue;
                };
                follow(&mut link, &directory, command, unwanted).await;
            }
            Remains::Unknown(_) => reach.again().await,
            Remains::Left => match result(&directory) {
                Some((code, output)) => {
                    let (driver, name, command) = (Arc::clone(driver), facts.name, command.clone());
                    let task = tokio::task::spawn_blocking(move || {
                        let facts = Facts::of(&driver, name).ok_or("the run is gone")?;
                        Ok(told(&facts, &command, &directory, &place, code, output))
                    });
                    return super::come_of(task.await);
                }
                // Its shim was ended without its socket.
                None if directory.join(OVERDUE).exists() => {
                    let sweep = driver.orphan_sweep(facts.session.id, &file.session, &directory);
                    tokio::task::spawn_blocking(move || sweep.run()).await.ok();
                    let overdue_ms = Some(command.time_ms_max);
                    return Ok(CheckResult { overdue_ms, ..failed(command, String::new()) });
                }
                // It was lost half-way: what it would have said is not known, so it begins again.
                None => {
                    let sweep = driver.orphan_sweep(facts.session.id, &file.session, &directory);
                    tokio::task::spawn_blocking(move || sweep.run()).await.ok();
                    directory = following(&directory);
                }
            },
        }
    }
}

async fn place(driver: &Arc<Driver>, facts: &Facts, command: &GateCommand) -> Result<PathBuf, String> {
    if command.in_project {
        return Ok(PathBuf::from(facts.session.directory()));
    }
    let path = command_place(driver, facts.name);
    let (repository, commit, made) = (facts.repository()?, facts.commit()?, path.clone());
    let task = tokio::task::spawn_blocking(move || {
        repository.make_disposable(&made, &commit).map_err(|error| error.to_string())
    });
    super::come_of(task.await)?;
    Ok(path)
}

/// Waits until the shim has ended, or ends it: nobody wants it any more, or its time is over.
async fn follow(link: &mut Link, directory: &Path, command: &GateCommand, unwanted: &Notify) {
    let left = Duration::from_millis(command.time_ms_max).saturating_sub(age(directory));
    // A length of time that no clock can count is no limit.
    let over_at = Instant::now().checked_add(left);
    let over = async {
        match over_at {
            Some(at) => sleep_until(at).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(over);
    let mut is_over = false;
    loop {
        tokio::select! {
            record = link.next() => if record.is_err() {
                return;
            },
            () = unwanted.notified() => {
                link.end(GRACE_MS).await;
            }
            () = &mut over, if !is_over => {
                is_over = true;
                // Noted before it is done, so that whoever reads the result later knows why.
                note_overdue(directory);
                link.end(GRACE_MS).await;
            }
        }
    }
}

/// How long ago a command was started. Its shim makes the lock, and nobody writes to it.
fn age(directory: &Path) -> Duration {
    let at = fs::metadata(directory.join(LOCK)).and_then(|it| it.modified()).ok();
    at.and_then(|at| at.elapsed().ok()).unwrap_or_default()
}

/// Notes that a command is ended because its time is over. What is there already says the same.
fn note_overdue(directory: &Path) {
    private::create(directory.join(OVERDUE)).ok();
}

/// Whether the time of a command is over. This is noted before it is ended.
fn is_late(directory: &Path, command: &GateCommand) -> bool {
    let is_late = age(directory) > Duration::from_millis(command.time_ms_max);
    if is_late {
        note_overdue(directory);
    }
    is_late
}

/// Whether the gate still waits for this command.
fn is_asked(driver: &Driver, gate: GateName, index: u32) -> bool {
    Facts::of(driver, gate).is_some_and(|facts| facts.gate.step == Step::Check { index })
}

fn told(
    facts: &Facts,
    command: &GateCommand,
    directory: &Path,
    place: &Path,
    code: i32,
    output: String,
) -> CheckResult {
    let (mut began, mut ended) = (None, None);
    for record in SpoolReader::open(directory).into_iter().flatten() {
        match record.what {
            Happening::Started { .. } => began = began.or(Some(record.at_ms)),
            Happening::Ended { .. } => ended = ended.or(Some(record.at_ms)),
            _ => {}
        }
    }
    let time_ms = began.zip(ended).map_or(0, |(began, ended)| ended.saturating_sub(began));
    let ran_none = || whole(directory).is_some_and(|output| tests_command::ran_none(&output));
    let none = || ran_none().then(Junit::default);
    let junit = (command.kind == CommandKind::Tests).then(|| junit_in(facts, place, began).or_else(none));
    let junit = junit.flatten();
    let overdue_ms = directory.join(OVERDUE).exists().then_some(command.time_ms_max);
    let (run, kind) = (command.run.clone(), command.kind);
    CheckResult { run, kind, code, overdue_ms, time_ms, output, junit }
}

/// What the tests wrote about themselves. What was there before them is not theirs: what is older, and what stands in the
/// tree as it is, whenever it was checked out.
fn junit_in(facts: &Facts, place: &Path, began_ms: Option<u64>) -> Option<Junit> {
    let globs = &facts.phases.plan.phase(facts.name.phase)?.junit;
    let repository = facts.repository().ok()?;
    let kept = repository.files(&facts.commit().ok()?).ok()?;
    let kept: HashMap<PathBuf, _> = kept.into_iter().map(|file| (file.path.clone(), file)).collect();
    let is_kept = |path: &Path, bytes: &[u8]| {
        let file = kept.get(path).filter(|file| file.bytes == bytes.len() as u64);
        file.is_some_and(|file| repository.read(file, REPORT_BYTES_MAX).is_ok_and(|it| it == bytes))
    };
    let since = SystemTime::UNIX_EPOCH + Duration::from_millis(began_ms?.saturating_sub(1_000));
    let mut found = Vec::new();
    let mut left = ENTRIES_MAX;
    walk(place, Path::new(""), &mut left, &mut |path| {
        let name = path.to_string_lossy();
        if globs.iter().any(|glob| glob::matches(glob, &name)) {
            found.push(path.to_owned());
        }
    });
    let mut total = Junit::default();
    let mut is_there = false;
    for path in found.into_iter().take(REPORTS_MAX) {
        let file = place.join(&path);
        let is_new = fs::symlink_metadata(&file).is_ok_and(|it| {
            it.is_file() && it.len() <= REPORT_BYTES_MAX && it.modified().is_ok_and(|at| at >= since)
        });
        if let (true, Ok(text)) = (is_new, private::read(&file, REPORT_BYTES_MAX))
            && !is_kept(&path, &text)
        {
            is_there |= junit::add(&mut total, &String::from_utf8_lossy(&text));
        }
    }
    is_there.then_some(total)
}

/// Every file below a folder, without following links.
fn walk(root: &Path, folder: &Path, left: &mut usize, visit: &mut dyn FnMut(&Path)) {
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return };
    for entry in entries.filter_map(Result::ok) {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let path = folder.join(entry.file_name());
        match entry.file_type() {
            Ok(kind)
                if kind.is_dir() && !matches!(entry.file_name().to_str(), Some(".git" | "node_modules")) =>
            {
                walk(root, &path, left, visit);
            }
            Ok(kind) if kind.is_file() => visit(&path),
            _ => {}
        }
    }
}
