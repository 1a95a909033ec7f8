//! Looks who is called, at what is brought, and who still prints. All is done in the order in which an agent has said
//! it.

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use ostler_engine::{
    ActionName, Input, InvocationId, SessionId,
    office::{Delivery, NoSeat, OfficeInput},
};
use ostler_shim::{ERR, OUT};
use tokio::{task::spawn_blocking, time::sleep};

use super::Driver;
use crate::{
    journal::SubmitError,
    office::{
        examine::examine,
        seat::{self, Caller, Words},
    },
};

/// Between two attempts at something that was refused.
const AGAIN: Duration = Duration::from_millis(500);

/// Looks who is called.
pub(super) async fn seat(driver: &Arc<Driver>, invocation: InvocationId, name: ActionName) {
    let looking = Arc::clone(driver);
    let found = spawn_blocking(move || look(&looking, invocation)).await;
    let seat = found.unwrap_or_else(|error| Err(NoSeat::Bad { message: error.to_string() }));
    submit(driver, OfficeInput::Seated { invocation, seat }, name).await;
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
    seat::find(driver, &caller, &call.callee, Words { text: &text, name: &id.to_string() })
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

/// Looks when an agent has last printed something.
pub(super) async fn listen(
    driver: &Driver,
    session: SessionId,
    launch: u32,
    directory: &Path,
    name: ActionName,
) {
    let printed_at_ms = [OUT, ERR].into_iter().filter_map(|log| written_at_ms(&directory.join(log))).max();
    submit(driver, OfficeInput::Listened { session, launch, printed_at_ms }, name).await;
}

/// When something was last written to a file that is not empty.
fn written_at_ms(path: &Path) -> Option<u64> {
    let metadata = fs::metadata(path).ok().filter(|it| it.len() > 0)?;
    let since_1970 = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since_1970.as_millis()).ok()
}

async fn submit(driver: &Driver, input: OfficeInput, name: ActionName) {
    let input = Input::Office(Box::new(input));
    loop {
        match driver.journal.submit(input.clone(), Some(name)).await {
            Err(SubmitError::Store(_)) => sleep(AGAIN).await,
            // What is refused now is refused for ever.
            Err(SubmitError::Refused(_)) => {
                if driver.journal.done(name).await.is_ok() {
                    return;
                }
                sleep(AGAIN).await;
            }
            Ok(_) | Err(SubmitError::Closed | SubmitError::KeyReused) => return,
        }
    }
}
