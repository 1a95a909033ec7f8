//! What is done at a gate: files are collected from git, commands and verifiers are run, and a report is written. All of
//! it runs beside everything else, and may be done again after a crash.

mod command;
mod verify;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ostler_engine::{
    ActionName, Input, RunId, SessionId,
    action::Deed,
    checkpoint::{CheckpointState, CheckpointTerms},
    phases::{Change, Collected, Gate, GateName, Phase, Phases},
    session::Session,
};
use ostler_workspace::{Commit, Limits, Repository, remove_disposable};
use tokio::{task::JoinError, time::sleep};

use super::{
    Driver,
    worktree::{self, Place},
};
use crate::{
    crash, home,
    phases::{
        collect::{Look, collect},
        report,
    },
};

/// Between two attempts at something that was refused.
const AGAIN: Duration = Duration::from_millis(500);

/// The most of a document that is read.
const DOCUMENT_BYTES_MAX: u64 = 1 << 20;

/// The reports of a gate, in its directory.
pub(crate) const REPORTS: [&str; 2] = ["report.md", "report.json"];

/// What is known of a gate, copied out of the world.
struct Facts {
    name: GateName,
    session: Session,
    phases: Phases,
    phase: Phase,
    gate: Gate,
    /// What the checkpoint has not got.
    left_out: Vec<String>,
    trusted: Place,
}

impl Facts {
    fn of(driver: &Driver, name: GateName) -> Option<Facts> {
        let world = driver.journal.world();
        let phases = (**world.runs.get(&name.run)?.phases.as_ref()?).clone();
        let phase = phases.begun.iter().find(|phase| phase.number == name.phase)?.clone();
        let gate = phase.gate_at(name.gate)?.clone();
        let session = world.sessions.get(&phase.session)?.clone();
        let checkpoint = gate.checkpoint.and_then(|id| world.checkpoints.get(&id));
        let left_out = match checkpoint.map(|it| &it.state) {
            Some(CheckpointState::Made { kept, .. }) => kept.left_out.clone(),
            _ => Vec::new(),
        };
        drop(world);
        let trusted = Place::of(driver, session.clone());
        Some(Facts { name, session, phases, phase, gate, left_out, trusted })
    }

    fn repository(&self) -> Result<Repository, String> {
        worktree::find(&self.trusted)?.ok_or_else(|| "there is no repository any more".to_owned())
    }

    fn commit(&self) -> Result<Commit, String> {
        let commit = self.gate.commit.as_deref().and_then(Commit::parse);
        commit.ok_or_else(|| "there is no checkpoint".to_owned())
    }
}

/// How much of what git does not know belongs to a tree: as much as to its checkpoints.
pub(crate) fn limits(session: &Session) -> Limits {
    let terms: CheckpointTerms = session.order.checkpoints.unwrap_or_default();
    Limits { file_bytes_max: terms.file_bytes_max, untracked_bytes_max: terms.untracked_bytes_max }
}

/// Does it beside everything else, and reports it.
pub(super) fn start(driver: &Arc<Driver>, deed: Deed, name: ActionName) {
    let driver = Arc::clone(driver);
    tokio::spawn(async move {
        match deed {
            Deed::Collect { gate } => collect_gate(driver, gate, name).await,
            Deed::GateCheck { gate, index } => command::run(driver, gate, index, name).await,
            Deed::Verify { gate, round } => verify::prepare(driver, gate, round, name).await,
            Deed::ReadVerdict { gate, verifier, launch, outcome, token } => {
                let said = verify::Said { verifier, launch, outcome, token };
                verify::read(driver, gate, said, name).await;
            }
            Deed::Report { gate } => write_report(driver, gate, name).await,
            Deed::ClearGate { gate } => clear(driver, gate, name).await,
            _ => {}
        }
    });
}

/// Reports something, however long the disk refuses.
async fn submit(driver: &Driver, input: Input, name: ActionName) {
    while driver.journal.submit(input.clone(), Some(name)).await.is_err() {
        sleep(AGAIN).await;
    }
}

/// What came of something that was done aside.
fn come_of<T>(done: Result<Result<T, String>, JoinError>) -> Result<T, String> {
    done.unwrap_or_else(|error| Err(error.to_string()))
}

async fn collect_gate(driver: Arc<Driver>, gate: GateName, name: ActionName) {
    crash::site("before collect");
    let looking = Arc::clone(&driver);
    let task = tokio::task::spawn_blocking(move || {
        let facts = Facts::of(&looking, gate).ok_or("the run is gone")?;
        look(&facts)
    });
    let collected = Box::new(come_of(task.await));
    crash::site("after collect");
    submit(&driver, Input::Collected { gate, collected }, name).await;
}

fn look(facts: &Facts) -> Result<Collected, String> {
    let repository = facts.repository()?;
    let commit = facts.commit()?;
    let base = facts.phase.base.as_deref().and_then(Commit::parse).ok_or("the phase has no beginning")?;
    let said = |error: ostler_workspace::GitError| error.to_string();
    let listed = repository.files(&commit).map_err(said)?;
    let listed: BTreeMap<String, _> = listed
        .into_iter()
        .filter(|file| file.is_regular)
        .map(|file| (file.path.to_string_lossy().into_owned(), file))
        .collect();
    let changed = repository.changed(&base, &commit).map_err(said)?;
    // Nobody has worked on a file by making it a program.
    let changed = changed.into_iter().filter(|it| !it.mode_alone).map(|it| {
        let change = match it.how {
            'A' => Change::Added,
            'D' => Change::Deleted,
            _ => Change::Modified,
        };
        (it.path.to_string_lossy().into_owned(), change)
    });
    let too_large = facts.left_out.iter().filter_map(|it| it.rsplit_once(" ("));
    let too_large: Vec<String> =
        too_large.filter(|(_, why)| why.contains("bytes")).map(|(path, _)| path.to_owned()).collect();
    let plan = facts.phases.plan.phase(facts.name.phase).ok_or("there is no such phase")?;
    let announced = facts.gate.announced.as_ref().map(|it| it.documents.clone()).unwrap_or_default();
    let read = |path: &str| {
        let bytes = repository.read(listed.get(path)?, DOCUMENT_BYTES_MAX).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let place = Path::new(facts.session.directory());
    let is_on_disk = |path: &str| place.join(path).symlink_metadata().is_ok();
    Ok(collect(&Look {
        plan,
        tree: repository.tree(&commit).map_err(said)?,
        announced: &announced,
        directory: facts.session.directory(),
        files: listed.iter().map(|(path, file)| (path.clone(), file.bytes)).collect(),
        changed: changed.collect(),
        before: before(facts, &repository, &base)?,
        too_large: &too_large,
        is_on_disk: &is_on_disk,
        read: &read,
    }))
}

/// The files that stood there when the phase began, or at an earlier gate of it, as far as they may not go away.
fn before(facts: &Facts, repository: &Repository, base: &Commit) -> Result<BTreeMap<String, u64>, String> {
    let plan = facts.phases.plan.phase(facts.name.phase);
    if plan.is_none_or(|plan| plan.keep.is_empty()) {
        return Ok(BTreeMap::new());
    }
    let earlier = facts.phase.gates.iter().filter(|gate| gate.number < facts.name.gate);
    let earlier = earlier.filter_map(|gate| Commit::parse(gate.commit.as_deref()?));
    let mut before = BTreeMap::new();
    for commit in earlier.chain([base.clone()]) {
        let files = repository.files(&commit).map_err(|error| error.to_string())?;
        for file in files.into_iter().filter(|file| file.is_regular) {
            let most = before.entry(file.path.to_string_lossy().into_owned()).or_insert(0);
            *most = file.bytes.max(*most);
        }
    }
    Ok(before)
}

async fn write_report(driver: Arc<Driver>, gate: GateName, name: ActionName) {
    crash::site("before report");
    loop {
        let writing = Arc::clone(&driver);
        let task = tokio::task::spawn_blocking(move || match Facts::of(&writing, gate) {
            Some(facts) => put_report(&writing, &facts),
            None => Ok(()),
        });
        // A full disk is waited for, as everywhere: without a report nobody decides.
        match come_of(task.await) {
            Ok(()) => break,
            Err(_) => sleep(AGAIN).await,
        }
    }
    crash::site("after report");
    submit(&driver, Input::Reported(gate), name).await;
    throw_away(&driver, gate).await;
}

fn put_report(driver: &Driver, facts: &Facts) -> Result<(), String> {
    let directory = driver.home.gate(facts.name);
    let run = facts.name.run.to_string();
    let text = report::markdown(&run, &facts.phases, &facts.phase, &facts.gate);
    let json = report::json(&run, &facts.phases, &facts.phase, &facts.gate);
    let json = serde_json::to_string_pretty(&json).unwrap_or_default() + "\n";
    let put = |name: &str, text: &str| home::write_private(&directory.join(name), text.as_bytes());
    home::private_directory(&directory)
        .and_then(|()| put(REPORTS[0], &text))
        .and_then(|()| put(REPORTS[1], &json))
        .map_err(|error| error.to_string())?;
    // What may be approved does not go away with old checkpoints, nor does what the first phase began from, on which an
    // export stands.
    if let (Ok(repository), Ok(commit)) = (facts.repository(), facts.commit()) {
        keep(&repository, &kept(driver.mark(), facts.name), &commit)?;
        if let Some(base) = facts.phase.base.as_deref().and_then(Commit::parse) {
            let reference = format!("phases/{}/{}/{}-base", driver.mark(), facts.name.run, facts.name.phase);
            keep(&repository, &reference, &base)?;
        }
    }
    Ok(())
}

/// Keeps a commit. One that is gone, with the repository that had it, cannot be waited for: who wants it says so then.
fn keep(repository: &Repository, reference: &str, commit: &Commit) -> Result<(), String> {
    if repository.tree(commit).is_err() {
        return Ok(());
    }
    repository.keep_commit(reference, commit).map_err(|error| error.to_string())
}

/// The name under which the checkpoint of a gate is kept, below `refs/ostler/`.
fn kept(mark: &str, gate: GateName) -> String {
    format!("phases/{mark}/{}/{}-{}", gate.run, gate.phase, gate.gate)
}

/// Where the commands of a gate run.
fn command_place(driver: &Driver, gate: GateName) -> PathBuf {
    driver.home.gate(gate).join("check")
}

/// Where one of its verifiers runs.
fn verifier_place(driver: &Driver, gate: GateName, round: u32) -> PathBuf {
    driver.home.gate(gate).join(format!("verify-{round}"))
}

/// Nobody wants to know any more what a gate would find.
async fn clear(driver: Arc<Driver>, gate: GateName, name: ActionName) {
    crash::site("before clear gate");
    {
        let commands = driver.gate_commands.lock().expect("nobody panics while holding it");
        commands.iter().filter(|((of, _), _)| *of == gate).for_each(|(_, unwanted)| unwanted.notify_one());
    }
    throw_away(&driver, gate).await;
    crash::site("after clear gate");
    while driver.journal.done(name).await.is_err() {
        sleep(AGAIN).await;
    }
}

/// Takes the places of a gate away. What cannot be removed now is in nobody's way.
async fn throw_away(driver: &Arc<Driver>, gate: GateName) {
    let directory = driver.home.gate(gate);
    let task = tokio::task::spawn_blocking(move || {
        let Ok(entries) = std::fs::read_dir(&directory) else { return };
        for entry in entries.filter_map(Result::ok) {
            let is_place = entry.file_type().is_ok_and(|it| it.is_dir());
            if is_place {
                remove_disposable(&entry.path()).ok();
            }
        }
    });
    task.await.ok();
}

/// Takes away the places that earlier servers have left.
pub(super) fn sweep_places(driver: &Driver) {
    let folders = |path: &Path| {
        let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    for run in folders(&driver.home.root().join("phases")) {
        for gate in folders(&run) {
            let name = |path: &Path| path.file_name().and_then(|it| it.to_str()).map(str::to_owned);
            let is_open = name(&run).zip(name(&gate)).is_some_and(|(run, gate)| is_open(driver, &run, &gate));
            if !is_open {
                for place in folders(&gate) {
                    remove_disposable(&place).ok();
                }
            }
        }
    }
}

/// Whether a gate is gone through, by the names of its folders.
fn is_open(driver: &Driver, run: &str, gate: &str) -> bool {
    let world = driver.journal.world();
    let run = run.parse().ok().and_then(|id: RunId| world.runs.get(&id));
    let phase = run.filter(|run| run.outcome.is_none()).and_then(|run| run.phases.as_ref()?.current());
    let open = phase.and_then(|phase| Some((phase.number, phase.gate()?.number)));
    open.is_some_and(|(phase, number)| gate == format!("{phase}-{number}"))
}

/// Whether a session is gone from the world, and with it whoever waits.
fn worker_of(driver: &Driver, gate: GateName) -> Option<SessionId> {
    let world = driver.journal.world();
    let phases = world.runs.get(&gate.run)?.phases.as_ref()?;
    phases.begun.iter().find(|phase| phase.number == gate.phase).map(|phase| phase.session)
}

/// A path as text.
fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
