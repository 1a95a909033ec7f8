//! Watches processes that are blocked at a session's socket. One that ends without having taken its answer is reported,
//! so that the answer goes to its agent as a message.
//!
//! Whether a caller is gone is decided by its process and not by its connection: that breaks when the server dies, and
//! the caller comes back.

use std::{sync::Arc, time::Duration};

use ostler_engine::{Input, InvocationId, RequestId, office::OfficeInput};
use tokio::time::sleep;

use super::Driver;
use crate::{crash, journal::SubmitError, peer::Process};

/// Between two attempts at something that was refused.
const AGAIN: Duration = Duration::from_millis(500);

/// Watches the callers that an earlier server knew.
pub(super) fn watch_all(driver: &Arc<Driver>) {
    let calls: Vec<_> = {
        let world = driver.journal.world();
        let blocked = world.requests.values().filter(|request| request.has_caller() && request.is_pending());
        blocked.filter_map(|request| Some((request.id, request.call.clone()?))).collect()
    };
    for (request, call) in calls {
        let process = Process { pid: call.process.pid, began: call.process.began };
        watch(driver, request, &call.key, process);
    }
    let calls: Vec<_> = {
        let world = driver.journal.world();
        let blocked = world.invocations.values().filter(|call| call.is_waited_for());
        blocked.filter_map(|call| Some((call.id, call.call.clone()?))).collect()
    };
    for (invocation, call) in calls {
        let process = Process { pid: call.process.pid, began: call.process.began };
        watch_call(driver, invocation, &call.key, process);
    }
}

/// The same for a process that is blocked until another agent has done something.
pub(crate) fn watch_call(driver: &Arc<Driver>, invocation: InvocationId, key: &str, process: Process) {
    let mut callers = driver.callers.lock().expect("nobody panics while holding it");
    if callers.insert(key.to_owned()) {
        tokio::spawn(follow_call(Arc::clone(driver), invocation, key.to_owned(), process));
    }
}

async fn follow_call(driver: Arc<Driver>, invocation: InvocationId, key: String, process: Process) {
    let mut changed = driver.journal.watch();
    let waits = || {
        let world = driver.journal.world();
        let call = world.invocations.get(&invocation).filter(|call| call.is_waited_for());
        call.and_then(|call| call.call.as_ref()).is_some_and(|call| call.key == key)
    };
    let is_over = async { while waits() && changed.changed().await.is_ok() {} };
    let is_gone = tokio::select! {
        () = process.ended() => true,
        () = is_over => false,
    };
    if is_gone {
        let input = OfficeInput::CallerGone { invocation, key: key.clone() };
        let input = Input::Office(Box::new(input));
        while let Err(SubmitError::Store(_)) = driver.journal.submit(input.clone(), None).await {
            sleep(AGAIN).await;
        }
    }
    driver.callers.lock().expect("nobody panics while holding it").remove(&key);
}

/// Watches a caller until it is gone or has its answer. Once is enough.
pub(crate) fn watch(driver: &Arc<Driver>, request: RequestId, key: &str, process: Process) {
    let mut callers = driver.callers.lock().expect("nobody panics while holding it");
    if callers.insert(key.to_owned()) {
        tokio::spawn(follow(Arc::clone(driver), request, key.to_owned(), process));
    }
}

async fn follow(driver: Arc<Driver>, request: RequestId, key: String, process: Process) {
    let mut changed = driver.journal.watch();
    let is_over = async { while waits(&driver, request, &key) && changed.changed().await.is_ok() {} };
    let is_gone = tokio::select! {
        () = process.ended() => true,
        () = is_over => false,
    };
    if is_gone {
        crash::site("before caller gone");
        let input = Input::CallerGone { request, key: key.clone() };
        while let Err(SubmitError::Store(_)) = driver.journal.submit(input.clone(), None).await {
            sleep(AGAIN).await;
        }
    }
    driver.callers.lock().expect("nobody panics while holding it").remove(&key);
}

/// Whether a caller still waits for its answer.
fn waits(driver: &Driver, request: RequestId, key: &str) -> bool {
    let world = driver.journal.world();
    let request = world.requests.get(&request).filter(|request| request.has_caller() && request.is_pending());
    request.and_then(|request| request.call.as_ref()).is_some_and(|call| call.key == key)
}
