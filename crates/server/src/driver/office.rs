//! Looks who is called, at what is brought, and who still prints or works. All is done in the order in which an agent has
//! said it.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use ostler_engine::{
    ActionName, Input, InvocationId, SessionId,
    office::{Delivery, NoSeat, OfficeInput, Reference, RepeatTerms},
};
use ostler_shim::{ERR, OUT, work_of};
use tokio::{task::spawn_blocking, time::sleep};

use super::Driver;
use crate::{
    config::{Config, Office},
    journal::SubmitError,
    office::{
        examine::examine,
        files::state_of,
        seat::{self, Caller},
    },
};

/// Between two attempts at something that was refused.
const AGAIN: Duration = Duration::from_millis(500);

/// How long it is looked whether an agent uses a core.
const LOOK: Duration = Duration::from_millis(500);

/// Who is on a core for so long meanwhile is at work: four hundredths. A program that waits wakes up now and then.
const WORK_TICKS_MIN: u64 = 2;

/// Looks who is called.
pub(super) async fn seat(driver: &Arc<Driver>, invocation: InvocationId, name: ActionName) {
    let looking = Arc::clone(driver);
    let found =
        spawn_blocking(move || (look(&looking, invocation), repeat_terms(&looking, invocation))).await;
    let (seat, repeats) = found
        .unwrap_or_else(|error| (Err(NoSeat::Bad { message: error.to_string() }), RepeatTerms::default()));
    submit(driver, OfficeInput::Seated { invocation, seat, repeats }, name).await;
}

/// When a repeated call is held. Files are looked at only for a call that is repeated: that takes time.
fn repeat_terms(driver: &Driver, id: InvocationId) -> RepeatTerms {
    let (project, directories) = {
        let world = driver.journal.world();
        let Some(call) = world.invocations.get(&id) else { return RepeatTerms::default() };
        let caller = world.sessions.get(&call.session);
        // A name in another case is another call here, which only means that its files are looked at later.
        let is_repeated = caller.is_some_and(|session| {
            session.office.repeats.count(&call.callee, &call.task, call.context.as_deref()) > 0
        });
        let seat = seat::seat_in(&world, call.project, &call.callee);
        let seat = seat.and_then(|seat| world.sessions.get(&seat));
        let places = [caller, seat].into_iter().flatten().filter(|_| is_repeated);
        let directories: BTreeSet<String> = places.map(|it| it.directory().to_owned()).collect();
        (call.project, directories)
    };
    let Some((root, _)) = seat::place(driver, project) else { return RepeatTerms::default() };
    // What is wrong with the configuration is said of the seat.
    let config = Config::load(Some(Path::new(&root)), &driver.trusted(&root));
    let max = config.map_or_else(|_| Office::default().repeats, |config| config.office.repeats);
    RepeatTerms { max, files: state_of(&directories) }
}

fn look(driver: &Driver, id: InvocationId) -> Result<Box<ostler_engine::office::Seat>, NoSeat> {
    let known = {
        let world = driver.journal.world();
        let call = world.invocations.get(&id).cloned();
        call.and_then(|call| {
            let session = world.sessions.get(&call.session)?;
            let caller = Caller {
                project: call.project,
                agent: Some(session.order.agent.name.clone()),
                environment: Some(session.order.environment.clone()),
                korean: session.order.korean,
            };
            Some((call, caller))
        })
    };
    let gone = || NoSeat::Bad { message: "the call is gone".to_owned() };
    let (call, caller) = known.ok_or_else(gone)?;
    let text = match &call.context {
        Some(context) => format!("{}\n{context}", call.task),
        None => call.task.clone(),
    };
    seat::find(driver, &caller, &call.callee, &text)
}

/// Looks at what is brought.
pub(super) async fn examine_delivery(
    driver: &Arc<Driver>,
    session: SessionId,
    delivery: Delivery,
    name: ActionName,
) {
    let (looking, brought) = (Arc::clone(driver), delivery.clone());
    let found = spawn_blocking(move || examine(&looking, session, &brought)).await;
    let found = found.unwrap_or_else(|error| Err(error.to_string()));
    submit(driver, OfficeInput::Examined { session, launch: None, delivery, found }, name).await;
}

/// Looks when an agent has last printed something, and whether it is at work.
pub(super) async fn listen(
    driver: &Driver,
    session: SessionId,
    launch: u32,
    directory: &Path,
    name: ActionName,
) {
    let printed_at_ms = [OUT, ERR].into_iter().filter_map(|log| written_at_ms(&directory.join(log))).max();
    let at_work = is_at_work(driver, session, launch).await;
    submit(driver, OfficeInput::Listened { session, launch, printed_at_ms, at_work }, name).await;
}

/// Whether a process of an agent is on a core, or was begun by it and has not ended.
async fn is_at_work(driver: &Driver, session: SessionId, launch: u32) -> bool {
    let (process, told_at_ms) = {
        let world = driver.journal.world();
        let session = world.sessions.get(&session);
        let live = session.and_then(|it| it.live()).filter(|live| live.number == launch);
        let told = session.and_then(|it| it.office.told).filter(|(of, _)| *of == launch);
        (live.and_then(|live| live.process), told.map(|(_, at_ms)| at_ms))
    };
    let Some(process) = process else { return false };
    let told_at = told_at_ms.map(|at_ms| UNIX_EPOCH + Duration::from_millis(at_ms));
    let look = || work_of(process.pid, process.began, told_at.and_then(|at| at.elapsed().ok()));
    let Some(before) = look() else { return false };
    if before.is_seen {
        return true;
    }
    sleep(LOOK).await;
    look().is_some_and(|now| now.is_seen || now.ticks >= before.ticks.saturating_add(WORK_TICKS_MIN))
}

/// When something was last written to a file that is not empty.
fn written_at_ms(path: &Path) -> Option<u64> {
    let metadata = fs::metadata(path).ok().filter(|it| it.len() > 0)?;
    let since_1970 = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since_1970.as_millis()).ok()
}

async fn submit(driver: &Driver, input: OfficeInput, name: ActionName) {
    let reference = kept_for(&input).cloned();
    let is_taken = submit_until_settled(driver, &Input::Office(Box::new(input)), name).await;
    if let Some(reference) = reference {
        driver.texts.settle(&reference, is_taken);
    }
}

/// What was kept so that this can name it.
fn kept_for(input: &OfficeInput) -> Option<&Reference> {
    match input {
        OfficeInput::Seated { seat: Ok(seat), .. } => seat.reference.as_ref(),
        OfficeInput::Examined { found: Ok(found), .. } => found.reference.as_ref(),
        _ => None,
    }
}

/// Gives false if it is refused.
async fn submit_until_settled(driver: &Driver, input: &Input, name: ActionName) -> bool {
    loop {
        match driver.journal.submit(input.clone(), Some(name)).await {
            Err(SubmitError::Store(_)) => sleep(AGAIN).await,
            // What is refused now is refused for ever.
            Err(SubmitError::Refused(_)) => {
                if driver.journal.done(name).await.is_ok() {
                    return false;
                }
                sleep(AGAIN).await;
            }
            Ok(_) | Err(SubmitError::Closed | SubmitError::KeyReused) => return true,
        }
    }
}
