//! Verifiers: a place is made for one, and when it has ended its words are read, and what it may have written is looked
//! for. What it says is believed only as a whole.

use std::{
    collections::BTreeSet,
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    pin::pin,
    sync::{Arc, PoisonError},
    time::Duration,
};

use ostler_agents::Output;
use ostler_engine::{
    ActionName, Input, SessionId,
    phases::{GateName, Round, Verdict, problem::VerifierFailure},
    run::{Outcome, Reason},
    session::Order,
};
use ostler_files::private;
use ostler_protocol::stream::{Piece, Table, Transcript};
use ostler_shim::OUT;
use ostler_workspace::{Limits, Repository, remove_disposable};
use tokio::{
    sync::OwnedMutexGuard,
    time::{sleep, timeout},
};

use super::{Facts, come_of, submit, text, verifier_place};
use crate::{
    crash,
    driver::{Driver, forget::settle_verifiers},
    environment,
    phases::{
        prompt::{self, Verification},
        verdict::{self, Asked},
    },
    random,
    verifier_config::VerifierConfig,
};

/// Between two looks at whether a login is free: much may change in that time.
const LOOK: Duration = Duration::from_millis(100);

/// How much of the end of what a verifier said is read.
const LOG_BYTES_MAX: u64 = 8 << 20;

/// Makes a place for a verifier, and says what it is to do there.
pub(super) async fn prepare(driver: Arc<Driver>, gate: GateName, round: u32, name: ActionName) {
    crash::site("before verify");
    let making = Arc::clone(&driver);
    let task = tokio::task::spawn_blocking(move || {
        let facts = Facts::of(&making, gate).ok_or("the run is gone")?;
        order(&making, &facts, round).map(Box::new)
    });
    let order = come_of(task.await);
    // Held until the session is known to the next one that waits.
    let _turn = match &order {
        Ok(order) => turn(&driver, gate, order).await,
        Err(_) => None,
    };
    crash::site("after verify");
    submit(&driver, Input::VerifierReady { gate, round, order }, name).await;
}

fn order(driver: &Driver, facts: &Facts, round: u32) -> Result<Order, String> {
    let plan = &facts.phases.plan;
    let mut order = plan.verification(facts.name.phase).ok_or("the phase has no verifier")?;
    let (repository, commit) = (facts.repository()?, facts.commit()?);
    let place = verifier_place(driver, facts.name, round);
    repository.make_disposable(&place, &commit).map_err(|error| error.to_string())?;
    let token = random::word();
    order.prompt = prompt::verifier(&Verification {
        idea: &plan.idea,
        number: facts.name.phase,
        plan: plan.phase(facts.name.phase).ok_or("there is no such phase")?,
        gate: &facts.gate,
        base: facts.phase.base.as_deref().unwrap_or_default(),
        commit: commit.as_str(),
        token: &token,
    });
    order.directory = text(&place);
    order.nonce = Some(token);
    order.new_conversation = random::uuid();
    Ok(order)
}

/// Waits until no other verifier uses the same login: each has a copy of it, and a renewed one ends the others.
async fn turn(driver: &Arc<Driver>, gate: GateName, order: &Order) -> Option<OwnedMutexGuard<()>> {
    let login = logins(driver, vec![order.clone()]).await.pop()?;
    let mut wait = pin!(driver.verifier_logins.wait(login.clone()));
    let mut waiting = None;
    let turn = if let Ok(turn) = timeout(LOOK, &mut wait).await {
        turn
    } else {
        waiting = Some(WaitingVerifier::new(driver, gate));
        wait.await
    };
    let mut changed = driver.journal.watch();
    loop {
        changed.mark_unchanged();
        if !logins(driver, at_work(driver)).await.contains(&login) {
            // What the last one renewed is the user's before it is copied again.
            let settling = Arc::clone(driver);
            tokio::task::spawn_blocking(move || settle_verifiers(&settling)).await.ok();
            return Some(turn);
        }
        waiting.get_or_insert_with(|| WaitingVerifier::new(driver, gate));
        // The journal ends with the server, and what was waited for is done again by the next one.
        if changed.changed().await.is_err() {
            return None;
        }
        sleep(LOOK).await;
    }
}

/// Shows that the verifier of a gate waits for its turn, as long as it does.
struct WaitingVerifier {
    driver: Arc<Driver>,
    gate: GateName,
}

impl WaitingVerifier {
    fn new(driver: &Arc<Driver>, gate: GateName) -> WaitingVerifier {
        driver.waiting_verifiers.lock().unwrap_or_else(PoisonError::into_inner).insert(gate);
        WaitingVerifier { driver: Arc::clone(driver), gate }
    }
}

impl Drop for WaitingVerifier {
    fn drop(&mut self) {
        self.driver.waiting_verifiers.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.gate);
    }
}

impl Driver {
    /// Whether the verifier of a gate waits until another one has ended that uses the same login.
    pub(crate) fn verifier_waits(&self, gate: GateName) -> bool {
        self.waiting_verifiers.lock().unwrap_or_else(PoisonError::into_inner).contains(&gate)
    }
}

/// What the verifiers at work were told.
fn at_work(driver: &Driver) -> Vec<Order> {
    let world = driver.journal.world();
    let verifiers = world.sessions.values().filter(|session| session.verifies());
    let at_work = verifiers.filter(|session| !session.is_over() || session.live().is_some());
    at_work.map(|session| (*session.order).clone()).collect()
}

/// The logins that they use.
async fn logins(driver: &Arc<Driver>, orders: Vec<Order>) -> Vec<PathBuf> {
    let driver = Arc::clone(driver);
    let login = move |order: &Order| {
        let variables = environment::read(&driver.home, &order.environment).ok()?;
        VerifierConfig::login_of(&order.agent, &variables)
    };
    let task = tokio::task::spawn_blocking(move || orders.iter().filter_map(login).collect());
    task.await.unwrap_or_default()
}

/// Who has said something, and how it ended.
pub(super) struct Said {
    pub(super) verifier: SessionId,
    pub(super) launch: u32,
    pub(super) outcome: Outcome,
    /// The word that it was given.
    pub(super) token: Option<String>,
}

/// Reads what a verifier has said.
pub(super) async fn read(driver: Arc<Driver>, gate: GateName, said: Said, name: ActionName) {
    crash::site("before read verdict");
    let (reading, verifier) = (Arc::clone(&driver), said.verifier);
    let round = Facts::of(&driver, gate).map_or(1, |facts| round_of(&facts));
    let task = tokio::task::spawn_blocking(move || {
        let facts = Facts::of(&reading, gate).ok_or("the run is gone")?;
        Ok(judge(&reading, &facts, &said))
    });
    let judged = come_of(task.await).unwrap_or_else(|message| Err(VerifierFailure::Invalid { message }));
    let (verdict, failure) = match judged {
        Ok(verdict) => (Some(verdict), None),
        Err(failure) => (None, Some(failure)),
    };
    let place = verifier_place(&driver, gate, round);
    let folder = driver.home.session(verifier);
    tokio::task::spawn_blocking(move || VerifierConfig::settle(&folder)).await.ok();
    let round = Round { session: Some(verifier), verdict, failure };
    crash::site("after read verdict");
    submit(&driver, Input::Verified { gate, session: verifier, round }, name).await;
    // Another verifier gets a place of its own.
    tokio::task::spawn_blocking(move || remove_disposable(&place)).await.ok();
}

/// Which of the verifiers it is whose words are not known yet.
fn round_of(facts: &Facts) -> u32 {
    u32::try_from(facts.gate.rounds.len()).unwrap_or(u32::MAX).saturating_add(1)
}

fn judge(driver: &Driver, facts: &Facts, said: &Said) -> Result<Verdict, VerifierFailure> {
    let invalid = |message: String| VerifierFailure::Invalid { message };
    let commit = facts.commit().map_err(invalid)?;
    let repository = facts.repository().map_err(invalid)?;
    // What it wrote is looked for first: how it ended is no excuse.
    let limits = super::limits(&facts.session);
    match repository.first_change(&commit, limits, true) {
        Ok(None) => {}
        Ok(Some(path)) => return Err(VerifierFailure::ChangedProject { path: text(&path) }),
        Err(error) => return Err(VerifierFailure::ChangedProject { path: error.to_string() }),
    }
    place_is_whole(&verifier_place(driver, facts.name, round_of(facts)), &commit)?;
    match &said.outcome {
        Outcome::Completed { .. } => {}
        Outcome::Cancelled => return Err(VerifierFailure::Cancelled),
        Outcome::Failed { reason: Reason::VerifierOverdue } => return Err(VerifierFailure::Overdue),
        Outcome::Failed { reason } => return Err(VerifierFailure::Died { reason: Some(reason.clone()) }),
    }
    let spoken = words(driver, facts, said).map_err(|error| invalid(error.to_string()))?;
    let files = repository.files(&commit).map_err(|error| invalid(error.to_string()))?;
    let files: BTreeSet<String> = files.iter().map(|file| text(&file.path)).collect();
    let token = said.token.as_deref().ok_or_else(|| invalid("it was given no token".to_owned()))?;
    let plan = facts.phases.plan.phase(facts.name.phase).and_then(|plan| plan.verifier.as_ref());
    let criteria = plan.map(|verifier| verifier.criteria.as_slice()).unwrap_or_default();
    let asked = Asked { phase: facts.name.phase, token, criteria, files: &files };
    verdict::read(&spoken, &asked).map_err(invalid)
}

/// Whether everything that it was to look at is as it was. What it made beside that goes with its place.
fn place_is_whole(place: &Path, commit: &ostler_workspace::Commit) -> Result<(), VerifierFailure> {
    let changed = |path: String| Err(VerifierFailure::ChangedPlace { path });
    match Repository::find(place) {
        Ok(Some(repository)) => match repository.first_change(commit, Limits::NONE, false) {
            Ok(None) => Ok(()),
            Ok(Some(path)) => changed(text(&path)),
            Err(error) => changed(error.to_string()),
        },
        Ok(None) => changed(".git".to_owned()),
        Err(error) => changed(error.to_string()),
    }
}

/// What it said: all of a plain program, and of a CLI what its model says itself.
fn words(driver: &Driver, facts: &Facts, said: &Said) -> io::Result<String> {
    let log = end_of(&driver.home.launch(said.verifier, said.launch).join(OUT))?;
    let plan = facts.phases.plan.phase(facts.name.phase).and_then(|plan| plan.verifier.as_ref());
    let agent = plan.and_then(|it| facts.phases.plan.agents.get(it.agent));
    let Some(Output::Table(toml)) = agent.map(|planned| &planned.agent.output) else {
        return Ok(String::from_utf8_lossy(&log).into_owned());
    };
    let table = Table::parse(toml).map_err(|error| io::Error::other(error.to_string()))?;
    let mut transcript = Transcript::new(table);
    let mut said = String::new();
    let mut hear = |pieces: Vec<Piece>| {
        for piece in pieces {
            if let Piece::Speech { text, fragment } = piece {
                said.push_str(&text);
                if !fragment {
                    said.push('\n');
                }
            }
        }
    };
    for line in log.split_inclusive(|byte| *byte == b'\n') {
        hear(transcript.push(line));
    }
    hear(transcript.finish());
    Ok(said)
}

fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = private::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_BYTES_MAX)))?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}
