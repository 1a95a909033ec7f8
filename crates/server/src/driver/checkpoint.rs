//! Checkpoints: keeps what stands in a session's directory, brings it back, and lets go of what is too much.
//!
//! All of it runs beside everything else: a large repository must hold up neither the keeper, which listens to a shim,
//! nor the thread that writes.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use ostler_agents::Output;
use ostler_engine::{
    ActionName, CheckpointId, Input, RequestId, SessionId,
    checkpoint::{Checkpoint, CheckpointTerms, Kept},
    input::{CheckpointNews, RestoreNews},
    session::Session,
};
use ostler_files::private;
use ostler_protocol::stream::Table;
use ostler_shim::OUT;
use ostler_workspace::{
    CheckpointOutcome, CheckpointSpec, Commit, Diff, DiffFormat, DiffOptions, KeptCheckpoint, LeftOut,
    Limits, NotRestored, PrunePolicy, Pruned, Repository, WhyLeftOut, Worktree,
};
use tokio::time::{sleep, timeout};

use super::{
    Driver, work_secrets,
    worktree::{self, Place},
};
use crate::{config::Config, crash};

/// How many are made at once. A restore waits until none is made in its project.
pub(super) const AT_ONCE: usize = 4;

/// How long a word about one may take. An answer waits for it, and git may hang in some other repository.
const WORD_MAX: Duration = Duration::from_mins(5);

/// Between two attempts at something that was refused.
const AGAIN: Duration = Duration::from_millis(500);

/// The most names of what was left out that stand in the journal.
const NAMES_MAX: usize = 20;

/// How much of a log is looked through for the agent's last words.
const LOG_END_BYTES: u64 = 4 << 20;

/// The most of a diff that is shown.
const DIFF_BYTES_MAX: u64 = 16 << 20;

/// So often old ones are let go of in a repository, at most.
const PRUNE_EVERY_MS: u64 = 60 * 60 * 1000;

/// Makes one beside everything else, and reports it.
pub(super) fn start(driver: &Arc<Driver>, session: SessionId, checkpoint: CheckpointId, name: ActionName) {
    tokio::spawn(make(Arc::clone(driver), session, checkpoint, name));
}

async fn make(driver: Arc<Driver>, session: SessionId, checkpoint: CheckpointId, name: ActionName) {
    let time_max = crash::patience(WORD_MAX);
    let kept = timeout(time_max, keep_in_turn(Arc::clone(&driver), session, checkpoint)).await;
    let news = kept.unwrap_or_else(|_| failed(too_late(time_max)));
    crash::site("after checkpoint");
    let made = match &news {
        CheckpointNews::Made { kept } => Some(kept.commit.clone()),
        _ => None,
    };
    let input = Input::Checkpointed { session, checkpoint, news };
    while driver.journal.submit(input.clone(), Some(name)).await.is_err() {
        sleep(AGAIN).await;
    }
    // An answer waits for the checkpoint, and not for this.
    if let Some(commit) = made {
        work_secrets::in_checkpoint(&driver, session, &commit).await;
    }
    tidy(&driver, session).await;
}

/// Waits until it is its turn, and makes it. Whoever does not wait for the end leaves it to end by itself, and its
/// turn with it.
async fn keep_in_turn(driver: Arc<Driver>, session: SessionId, checkpoint: CheckpointId) -> CheckpointNews {
    let Some((place, checkpoint)) = wanted(&driver, session, checkpoint) else {
        return failed("the session is gone".to_owned());
    };
    // Who waits for a restore takes no turn from those who do not.
    let files = driver.files.beside(place.session.project).await;
    let permit = Arc::clone(&driver.checkpoints).acquire_owned().await;
    crash::site("before checkpoint");
    let task = tokio::task::spawn_blocking(move || {
        let news = keep(&driver, &place, &checkpoint);
        drop((permit, files));
        news
    });
    task.await.unwrap_or_else(|_| failed("git could not be run".to_owned()))
}

fn too_late(time_max: Duration) -> String {
    format!("it was not done after {} s: git hangs here, or in other sessions", time_max.as_secs_f64())
}

/// Goes back to one beside everything else, and reports it.
pub(super) fn start_restore(
    driver: &Arc<Driver>,
    session: SessionId,
    [target, before]: [CheckpointId; 2],
    commit: String,
    name: ActionName,
) {
    tokio::spawn(restore(Arc::clone(driver), session, [target, before], commit, name));
}

async fn restore(
    driver: Arc<Driver>,
    session: SessionId,
    [target, before]: [CheckpointId; 2],
    commit: String,
    name: ActionName,
) {
    let news = match wanted(&driver, session, before) {
        Some((place, before)) => restore_in_turn(&driver, place, before, commit).await,
        None => not_restored("the session is gone".to_owned()),
    };
    crash::site("after restore");
    let input = Input::Restored { session, checkpoint: target, news };
    while driver.journal.submit(input.clone(), Some(name)).await.is_err() {
        sleep(AGAIN).await;
    }
}

/// Waits until nobody keeps anything of these files, and exchanges them.
async fn restore_in_turn(
    driver: &Arc<Driver>,
    place: Place,
    before: Checkpoint,
    commit: String,
) -> RestoreNews {
    let time_max = crash::patience(WORD_MAX);
    let Ok(files) = timeout(time_max, driver.files.alone(place.session.project)).await else {
        return not_restored(too_late(time_max));
    };
    crash::site("before restore");
    let driver = Arc::clone(driver);
    let task = tokio::task::spawn_blocking(move || {
        let news = bring_back(&driver, &place, &before, &commit);
        drop(files);
        news
    });
    task.await.unwrap_or_else(|_| not_restored("git could not be run".to_owned()))
}

fn wanted(driver: &Driver, session: SessionId, checkpoint: CheckpointId) -> Option<(Place, Checkpoint)> {
    let (session, checkpoint) = {
        let world = driver.journal.world();
        (world.sessions.get(&session)?.clone(), world.checkpoints.get(&checkpoint)?.clone())
    };
    Some((Place::of(driver, session), checkpoint))
}

fn failed(message: String) -> CheckpointNews {
    CheckpointNews::Failed { message }
}

fn not_restored(message: String) -> RestoreNews {
    RestoreNews::NotRestored { before: failed(message.clone()), message }
}

fn keep(driver: &Driver, place: &Place, checkpoint: &Checkpoint) -> CheckpointNews {
    let session = &place.session;
    let (repository, worktree) = match files(place) {
        Ok(Some(files)) => files,
        Ok(None) => return CheckpointNews::NoRepository,
        Err(message) => return failed(message),
    };
    let spec = spec(driver, session, checkpoint);
    match repository.checkpoint(worktree.as_ref(), &spec) {
        Ok(outcome) => news(driver, session, outcome),
        Err(error) => failed(error.to_string()),
    }
}

fn bring_back(driver: &Driver, place: &Place, before: &Checkpoint, commit: &str) -> RestoreNews {
    let session = &place.session;
    let found = files(place).and_then(|files| {
        let commit = Commit::parse(commit).ok_or("the checkpoint has no commit")?;
        Ok((files.ok_or("there is no repository")?, commit))
    });
    let ((repository, worktree), target) = match found {
        Ok(found) => found,
        Err(message) => return not_restored(message),
    };
    let text = |paths: Vec<PathBuf>| paths.iter().map(|path| path.display().to_string()).collect();
    match repository.restore(worktree.as_ref(), &target, &spec(driver, session, before)) {
        Ok(restored) => RestoreNews::Restored {
            before: news(driver, session, restored.before),
            changed: restored.changed as u64,
            different: text(restored.different),
            submodules: text(restored.submodules),
        },
        Err(NotRestored { error, before }) => {
            let message = error.to_string();
            // What was kept is there to go back to, whatever became of the rest.
            let before = before.map_or_else(|| failed(message.clone()), |kept| news(driver, session, *kept));
            RestoreNews::NotRestored { before, message }
        }
    }
}

/// The repository of a session, and its worktree if it has one; none outside of git.
fn files(place: &Place) -> Result<Option<(Repository, Option<Worktree>)>, String> {
    if place.session.worktree.is_some() {
        let (repository, worktree) = worktree::known(place)?;
        return Ok(Some((repository, Some(worktree))));
    }
    Ok(worktree::find(place)?.map(|repository| (repository, None)))
}

fn spec(driver: &Driver, session: &Session, checkpoint: &Checkpoint) -> CheckpointSpec {
    let terms: CheckpointTerms = session.order.checkpoints.unwrap_or_default();
    let why = serde_json::to_value(checkpoint.why).unwrap_or_default();
    CheckpointSpec {
        id: checkpoint.id.to_string(),
        session: session.id.to_string(),
        state: driver.mark().to_owned(),
        why: why.as_str().unwrap_or_default().to_owned(),
        journal: checkpoint.seq,
        conversation: checkpoint.conversation.clone(),
        requests: checkpoint.requests.iter().map(RequestId::to_string).collect(),
        last: session.checkpoints.last.as_ref().and_then(|last| Commit::parse(&last.commit)),
        limits: Limits {
            file_bytes_max: terms.file_bytes_max,
            untracked_bytes_max: terms.untracked_bytes_max,
        },
    }
}

fn news(driver: &Driver, session: &Session, outcome: CheckpointOutcome) -> CheckpointNews {
    let CheckpointOutcome::Made(made) = outcome else { return CheckpointNews::Unchanged };
    CheckpointNews::Made {
        kept: Kept {
            reference: made.reference,
            commit: made.commit.as_str().to_owned(),
            anchor: anchor(driver, session),
            left_out: made.left_out.iter().take(NAMES_MAX).map(describe).collect(),
            left_out_count: made.left_out.len() as u64,
        },
    }
}

fn describe(left_out: &LeftOut) -> String {
    let why = match left_out.why {
        WhyLeftOut::Large { bytes } => format!("{bytes} bytes"),
        WhyLeftOut::Unreadable => "unreadable".to_owned(),
        WhyLeftOut::Special => "a pipe, a socket or a device".to_owned(),
        WhyLeftOut::Nested => "a repository of its own".to_owned(),
        WhyLeftOut::Submodule => "changes in a submodule".to_owned(),
    };
    format!("{} ({why})", left_out.path.display())
}

/// The last place in the agent's conversation that its CLI can go back to.
fn anchor(driver: &Driver, session: &Session) -> Option<String> {
    let Output::Table(toml) = &session.order.agent.output else { return None };
    if !session.order.agent.can_rewind() {
        return None;
    }
    let table = Table::parse(toml).ok()?;
    // A process that has said nothing yet is where the one before it was.
    session.launches.iter().rev().find_map(|launch| {
        let log = driver.home.launch(session.id, launch.number).join(OUT);
        let end = end_of(&log).ok()?;
        let lines = end.rsplit(|&byte| byte == b'\n');
        let events = lines.filter_map(|line| serde_json::from_slice(line).ok());
        events.into_iter().find_map(|event: serde_json::Value| table.anchor(&event))
    })
}

fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = private::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_END_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(LOG_END_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What differs between two checkpoints of a session, or between one and what stands there now.
pub(crate) fn diff(
    place: &Place,
    from: &str,
    to: Option<&str>,
    stat: bool,
    color: bool,
) -> Result<Diff, String> {
    let (repository, worktree) = files(place)?.ok_or("there is no repository")?;
    let commit = |text: &str| Commit::parse(text).ok_or("the checkpoint has no commit");
    let (from, to) = (commit(from)?, to.map(commit).transpose()?);
    let format = if stat { DiffFormat::Stat } else { DiffFormat::Patch };
    let options = DiffOptions { format, color, bytes_max: DIFF_BYTES_MAX };
    repository
        .diff_checkpoint(worktree.as_ref(), &from, to.as_ref(), &options)
        .map_err(|error| error.to_string())
}

/// Lets go of what the policy does not keep in the repository of a session, now and then.
async fn tidy(driver: &Arc<Driver>, session: SessionId) {
    let directory = {
        let world = driver.journal.world();
        let found = world.sessions.get(&session);
        found.map(|session| PathBuf::from(&session.order.directory))
    };
    let Some(directory) = directory else { return };
    let now_ms = driver.journal.clock().now_ms();
    {
        let mut tidied = driver.tidied.lock().expect("nobody panics while holding it");
        let last_ms = tidied.entry(directory.clone()).or_insert(0);
        if now_ms.saturating_sub(*last_ms) < PRUNE_EVERY_MS {
            return;
        }
        *last_ms = now_ms;
    }
    // What could not be let go of today is not in the way; the next time says it again.
    if let Ok(config) = Config::of_user() {
        prune(driver, directory, config.prune, false).await.ok();
    }
}

/// Lets go of what the policy does not keep in a repository, and says what; with `dry_run` only says it.
pub(crate) async fn prune(
    driver: &Arc<Driver>,
    directory: PathBuf,
    policy: PrunePolicy,
    dry_run: bool,
) -> Result<Vec<Pruned>, String> {
    let (sessions, requests): (BTreeSet<String>, BTreeSet<String>) = {
        let world = driver.journal.world();
        let open = world.sessions.values().filter(|session| !session.is_over());
        let asked = world.inbox().map(|request| request.id.to_string());
        (open.map(|session| session.id.to_string()).collect(), asked.collect())
    };
    let now_s = driver.journal.clock().now_ms() / 1000;
    let looking = Arc::clone(driver);
    let task = tokio::task::spawn_blocking(move || {
        let Some(found) = Repository::find(&directory).map_err(|error| error.to_string())? else {
            return Ok(None);
        };
        let trusted = looking.trusted(&found.main_root().to_string_lossy());
        let repository = found.trusting(trusted);
        let is_needed = |kept: &KeptCheckpoint| {
            sessions.contains(&kept.session) || kept.requests.iter().any(|it| requests.contains(it))
        };
        let unwanted = repository.too_many(&policy, looking.mark(), now_s, &is_needed);
        unwanted.map(|unwanted| Some((repository, unwanted))).map_err(|error| error.to_string())
    });
    let found: Result<_, String> = task.await.map_err(|error| error.to_string())?;
    let Some((repository, unwanted)) = found? else { return Ok(Vec::new()) };
    if dry_run || unwanted.is_empty() {
        return Ok(unwanted);
    }
    // Nobody is to go back to what is about to go. If the server dies in between, the refs are found again.
    say_pruned(driver, &unwanted).await?;
    crash::site("before prune");
    let task = tokio::task::spawn_blocking(move || repository.prune(&unwanted).map(|()| unwanted));
    let pruned = task.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    crash::site("after prune");
    Ok(pruned)
}

async fn say_pruned(driver: &Driver, pruned: &[Pruned]) -> Result<(), String> {
    let mut of_sessions: BTreeMap<SessionId, Vec<CheckpointId>> = BTreeMap::new();
    for it in pruned {
        let id = it.id.as_ref().and_then(|id| id.parse().ok());
        if let (Ok(session), Some(id)) = (it.session.parse(), id) {
            of_sessions.entry(session).or_default().push(id);
        }
    }
    for (session, checkpoints) in of_sessions {
        let input = Input::Pruned { session, checkpoints };
        driver.journal.submit(input, None).await.map_err(|error| error.to_string())?;
    }
    Ok(())
}
