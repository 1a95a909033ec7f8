//! The agent's end of its session's own socket: asks, and waits for as long as it takes.
//!
//! A server that dies is waited for: the same is asked again under the same key, and it is the same call. Nothing here
//! starts a server, because it would belong to the agent and end with it.

use std::{env, io, path::PathBuf, time::Duration};

use hyper::{Method, body::Bytes};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    api::{
        CallState, CallView, CalledView, ExecutionView, MemorySearchView, NewCall, NewExecution,
        NewInvocation, NewResult, NewStep,
    },
    client::{ClientError, exchange, read},
    random,
    server_peer::Asker,
};

/// The variable with the path of the socket.
pub const VARIABLE: &str = "OSTLER_CHANNEL";

/// Before the first attempt to reach a server that is gone; doubled each time.
const AGAIN: Duration = Duration::from_millis(50);

/// The longest time between two attempts.
const AGAIN_MAX: Duration = Duration::from_secs(1);

/// The way to whoever looks after this process.
#[derive(Debug, Clone)]
pub struct Channel {
    socket: PathBuf,
}

impl Channel {
    /// The one of this session; nothing, if this process is in none.
    pub fn find() -> Option<Channel> {
        let socket = env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
        Some(Channel { socket: PathBuf::from(socket) })
    }

    /// The one at this socket.
    pub fn at(socket: PathBuf) -> Channel {
        Channel { socket }
    }

    /// Asks. Whether it was heard before does not matter under the same key.
    pub async fn open(&self, key: &str, call: &NewCall) -> Result<CallView, ClientError> {
        self.post("/calls", call, Some(key)).await
    }

    /// Waits until it is settled.
    pub async fn settled(&self, call: &CallView) -> Result<CallView, ClientError> {
        let path = format!("/calls/{}?key={}", call.request, call.key);
        loop {
            let view: CallView = self.get(&path).await?;
            if view.state != CallState::Waiting {
                return Ok(view);
            }
        }
    }

    /// Says that the answer is here. It is said to the agent only if this succeeds.
    pub async fn take(&self, call: &CallView) -> Result<CallView, ClientError> {
        self.post(&format!("/calls/{}/taken", call.request), &json!({ "key": call.key }), None).await
    }

    /// Says that nobody waits any more: the answer goes to the agent as a message.
    pub async fn leave(&self, call: &CallView) -> Result<CallView, ClientError> {
        self.post(&format!("/calls/{}/left", call.request), &json!({ "key": call.key }), None).await
    }

    /// Asks, waits, and takes the answer.
    pub async fn ask(&self, call: &NewCall) -> Result<CallView, ClientError> {
        let opened = self.open(&Channel::key(), call).await?;
        let settled = self.settled(&opened).await?;
        match settled.state {
            CallState::Answered { .. } => self.take(&settled).await,
            _ => Ok(settled),
        }
    }

    /// Tells that a step is done.
    pub async fn step(&self, step: &NewStep) -> Result<(), ClientError> {
        let _: Value = self.post("/steps", step, Some(&Channel::key())).await?;
        Ok(())
    }

    /// Has a task done, or hears how it is.
    pub async fn execute(&self, new: &NewExecution) -> Result<ExecutionView, ClientError> {
        self.post("/executions", new, None).await
    }

    /// Calls another agent.
    pub async fn invoke(&self, key: &str, call: &NewInvocation) -> Result<CalledView, ClientError> {
        self.post("/invocations", call, Some(key)).await
    }

    /// Waits until somebody is called, or nobody; or, with `over`, until the call is over or is not waited for any more.
    pub async fn called(&self, key: &str, call: &CalledView, over: bool) -> Result<CalledView, ClientError> {
        let path = format!("/invocations/{}?key={key}&over={over}", call.invocation.id);
        loop {
            let view: CalledView = self.get(&path).await?;
            let call = &view.invocation;
            // A person may take long to say whether it is made.
            let is_known = call.seat.is_some() || call.request.is_some();
            let is_enough = call.is_over() || (!over && is_known) || (over && !view.waited_for);
            if is_enough {
                return Ok(view);
            }
        }
    }

    /// Says that the agent has the result. Until then it comes as a message if this process ends.
    pub async fn take_result(&self, key: &str, call: &CalledView) -> Result<CalledView, ClientError> {
        let path = format!("/invocations/{}/taken", call.invocation.id);
        self.post(&path, &json!({ "key": key }), None).await
    }

    /// Says that nobody waits any more: the result goes to the agent as a message.
    pub async fn leave_call(&self, key: &str, call: &CalledView) -> Result<CalledView, ClientError> {
        let path = format!("/invocations/{}/left", call.invocation.id);
        self.post(&path, &json!({ "key": key }), None).await
    }

    /// Brings another agent something, and gives the id of that.
    pub async fn deliver(&self, result: &NewResult) -> Result<Option<String>, ClientError> {
        let made: Value = self.post("/results", result, Some(&Channel::key())).await?;
        Ok(made["result"].as_str().map(str::to_owned))
    }

    /// Searches the memory of the session's project. The query is that of the route.
    pub async fn search_memory(&self, query: &str) -> Result<MemorySearchView, ClientError> {
        self.get(&format!("/memory?{query}")).await
    }

    /// A name for a call that nobody else has.
    pub fn key() -> String {
        random::word()
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.send(Method::GET, path, Bytes::new(), None).await
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        key: Option<&str>,
    ) -> Result<T, ClientError> {
        let body = Bytes::from(serde_json::to_vec(body).expect("what is sent is plain data"));
        self.send(Method::POST, path, body, key).await
    }

    /// Sends until somebody answers.
    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        key: Option<&str>,
    ) -> Result<T, ClientError> {
        let mut wait = AGAIN;
        loop {
            let socket = (self.socket.as_path(), Asker::Agent);
            let sent = exchange(socket, "/channel/v1", method.clone(), path, body.clone(), key).await;
            let answer = match sent {
                Ok(response) => read(path, response).await,
                Err(error) => Err(error),
            };
            match answer {
                // A sandbox that lets nobody out will not do so later.
                Err(ClientError::NoServer { source, path })
                    if source.kind() == io::ErrorKind::PermissionDenied =>
                {
                    return Err(ClientError::NoServer { source, path });
                }
                Err(ClientError::NoServer { .. } | ClientError::Broken { .. }) => {}
                // The server is about to end, or has no room on its disk: nothing was done.
                Err(ClientError::Refused(problem)) if matches!(problem.status, 503 | 507) => {}
                answer => return answer,
            }
            sleep(wait).await;
            wait = (wait * 2).min(AGAIN_MAX);
        }
    }
}
