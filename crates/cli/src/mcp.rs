//! `ostler mcp`: a server of the Model Context Protocol on standard input and output, for the agent of a session.
//!
//! It offers to ask, to need, to report and to search the project's memory, over the session's own socket. While somebody is waited for it says so
//! every few seconds to a client that wants to know, because some count that and would give up otherwise. Values of
//! secrets never stand in a result: what a model reads goes to whoever runs it.

mod memory;
mod office;
mod tools;
mod wire;

use std::{
    collections::HashMap,
    io::{self, BufRead, Read},
    pin::pin,
    thread,
    time::Duration,
};

use ostler_server::{
    api::{CallState, CallView, NewCall},
    channel::Channel,
    client::ClientError,
};
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::{Instant, interval_at, timeout},
};

use self::{
    office::{Errand, Taken},
    tools::{Heard, Tool},
    wire::{Era, Incoming},
};

/// The longest message that a client may send.
const MESSAGE_BYTES_MAX: u64 = 4 << 20;

/// How often a client is told that somebody is still waited for. The shortest time-out that is known is a minute.
const PROGRESS: Duration = Duration::from_secs(5);

/// So long it is tried, when a client has gone, to say that it has what it was told: a server that restarts takes a moment.
const LAST_WORDS: Duration = Duration::from_secs(20);

/// The most messages that may wait to be handled; beyond it the client has to wait.
const QUEUE_MAX: usize = 64;

/// Serves until the client closes its end.
pub(crate) async fn serve(channel: Channel) -> io::Result<()> {
    let (queue, mut messages) = mpsc::channel(QUEUE_MAX);
    // Standard input can only be read by waiting for it, and nothing else may wait for that.
    thread::Builder::new().name("input".to_owned()).spawn(move || read(&queue))?;
    let (said, mut to_say) = mpsc::channel::<Reply>(QUEUE_MAX);
    let mut server = Server { channel: channel.clone(), said, calls: HashMap::new() };
    let mut settling = JoinSet::new();
    loop {
        tokio::select! {
            message = messages.recv() => match message {
                Some(line) => {
                    if let Some(reply) = server.hear(&line) {
                        wire::write(&reply)?;
                    }
                }
                // Who waits is known to be gone when this process is. What was said before that counts.
                None => {
                    timeout(LAST_WORDS, settling.join_all()).await.ok();
                    return Ok(());
                }
            },
            Some(reply) = to_say.recv() => {
                wire::write(&reply.message)?;
                if let Some(taken) = reply.taken {
                    let channel = channel.clone();
                    settling.spawn(async move { taken.settle(&channel).await });
                }
            }
            Some(_) = settling.join_next() => {}
        }
    }
}

/// Something that is said to the client when its time has come.
struct Reply {
    message: Value,
    /// What the client has when it was said.
    taken: Option<Taken>,
}

impl From<Value> for Reply {
    fn from(message: Value) -> Reply {
        Reply { message, taken: None }
    }
}

/// Reads lines until there are no more.
fn read(queue: &mpsc::Sender<Vec<u8>>) {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match input.by_ref().take(MESSAGE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(1..) if queue.blocking_send(line).is_ok() => {}
            _ => return,
        }
    }
}

/// One client.
struct Server {
    channel: Channel,
    /// Where replies go that take their time.
    said: mpsc::Sender<Reply>,
    /// Calls under way, by their ids, and how to end them.
    calls: HashMap<String, oneshot::Sender<()>>,
}

impl Server {
    /// What is replied at once, if anything is.
    fn hear(&mut self, line: &[u8]) -> Option<Value> {
        self.calls.retain(|_, cancel| !cancel.is_closed());
        match wire::incoming(line) {
            Ok(None) => None,
            Ok(Some(Incoming::Notification { method, params })) => {
                if method == "notifications/cancelled"
                    && let Some(cancel) = self.calls.remove(&params["requestId"].to_string())
                {
                    // It may have ended meanwhile.
                    cancel.send(()).ok();
                }
                None
            }
            Ok(Some(Incoming::Request { id, method, params })) => self.handle(id, &method, &params),
            Err(reply) => Some(reply),
        }
    }

    fn handle(&mut self, id: Value, method: &str, params: &Value) -> Option<Value> {
        let era = match Era::of(params) {
            Ok(era) => era,
            Err(requested) => return Some(wire::unsupported(&id, &requested)),
        };
        match method {
            "initialize" => Some(wire::result(&id, era, wire::initialized(params))),
            "server/discover" => Some(wire::result(&id, era, wire::discovered())),
            "ping" => Some(wire::result(&id, era, json!({}))),
            "tools/list" => Some(wire::result(&id, era, wire::cached(era, json!({ "tools": all_tools() })))),
            "tools/call" => self.call(id, era, params),
            _ => Some(wire::error(&id, wire::NO_METHOD, &format!("there is no method '{method}'"))),
        }
    }

    /// Something for another agent.
    fn run_errand(&mut self, id: Value, era: Era, errand: Result<Errand, String>) -> Option<Value> {
        let errand = match errand {
            Ok(errand) => errand,
            Err(why) => return Some(wire::result(&id, era, wire::said(&why, true))),
        };
        let (cancel, cancelled) = oneshot::channel();
        self.calls.insert(id.to_string(), cancel);
        let (channel, said) = (self.channel.clone(), self.said.clone());
        tokio::spawn(async move {
            let Some(report) = office::run(&channel, &errand, cancelled).await else { return };
            let message = wire::result(&id, era, wire::said(&report.text, report.is_error));
            // A client that does not read any more has ended, and has nothing.
            said.send(Reply { message, taken: report.taken }).await.ok();
        });
        None
    }

    fn search_memory(&self, id: Value, era: Era, arguments: &Value) -> Option<Value> {
        let query = match memory::query(arguments) {
            Ok(query) => query,
            Err(why) => return Some(wire::result(&id, era, wire::said(&why, true))),
        };
        let (channel, said) = (self.channel.clone(), self.said.clone());
        tokio::spawn(async move {
            let (text, is_error) = memory::run(&channel, &query).await;
            // A client that does not read any more has ended.
            said.send(wire::result(&id, era, wire::said(&text, is_error)).into()).await.ok();
        });
        None
    }

    fn call(&mut self, id: Value, era: Era, params: &Value) -> Option<Value> {
        let name = params["name"].as_str().unwrap_or_default();
        if let Some(errand) = office::errand(name, &params["arguments"]) {
            return self.run_errand(id, era, errand);
        }
        if name == memory::NAME {
            return self.search_memory(id, era, &params["arguments"]);
        }
        let Some(tool) = Tool::of_name(name) else {
            return Some(wire::error(&id, wire::BAD_PARAMS, &format!("there is no tool '{name}'")));
        };
        let call = match tool.call(&params["arguments"]) {
            Ok(call) => call,
            // The model reads this and can try again.
            Err(why) => return Some(wire::result(&id, era, wire::said(&why, true))),
        };
        let token =
            params["_meta"].get("progressToken").filter(|token| token.is_string() || token.is_number());
        let (cancel, cancelled) = oneshot::channel();
        self.calls.insert(id.to_string(), cancel);
        let waiting =
            Waiting { channel: self.channel.clone(), said: self.said.clone(), token: token.cloned() };
        let said = self.said.clone();
        tokio::spawn(async move {
            let Some(heard) = waiting.ask(&call, cancelled).await else { return };
            let (text, is_error) = heard.say();
            // A client that does not read any more has ended.
            said.send(wire::result(&id, era, wire::said(&text, is_error)).into()).await.ok();
        });
        None
    }
}

/// Everything that an agent can do here.
fn all_tools() -> Value {
    let mut tools = tools::list();
    if let Some(list) = tools.as_array_mut() {
        list.extend(office::list());
        list.push(memory::tool());
    }
    tools
}

/// A call that waits for somebody.
struct Waiting {
    channel: Channel,
    said: mpsc::Sender<Reply>,
    /// The client's name for its progress, if it wants to know.
    token: Option<Value>,
}

impl Waiting {
    /// What came of it; nothing, if the client does not want to know any more.
    async fn ask(&self, call: &NewCall, mut cancelled: oneshot::Receiver<()>) -> Option<Heard> {
        let key = Channel::key();
        let mut open = pin!(self.channel.open(&key, call));
        let (opened, is_cancelled) = tokio::select! {
            opened = &mut open => (opened, false),
            // Whether it was heard is not known, so it is heard first and left then.
            Ok(()) = &mut cancelled => (open.await, true),
        };
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => return Some(Heard::Refused(error.to_string())),
        };
        if is_cancelled {
            self.channel.leave(&opened).await.ok();
            return None;
        }
        let settled = tokio::select! {
            settled = self.channel.settled(&opened) => settled,
            () = self.progress(&opened.request) => return None,
            Ok(()) = &mut cancelled => {
                // If that is refused, the answer has been taken meanwhile, and nobody wants it.
                self.channel.leave(&opened).await.ok();
                return None;
            }
        };
        Some(match self.take(settled).await {
            Ok(CallView { state: CallState::Answered { answer }, .. }) => {
                Heard::Answer(call.restored(answer))
            }
            Ok(CallView { state: CallState::Over, .. }) => Heard::Over,
            Ok(_) => Heard::Elsewhere,
            Err(error) => Heard::Refused(error.to_string()),
        })
    }

    async fn take(&self, settled: Result<CallView, ClientError>) -> Result<CallView, ClientError> {
        let settled = settled?;
        match settled.state {
            CallState::Answered { .. } => self.channel.take(&settled).await,
            _ => Ok(settled),
        }
    }

    /// Says every few seconds that somebody is still waited for, until the client is gone.
    async fn progress(&self, request: &str) {
        let Some(token) = &self.token else { return std::future::pending().await };
        let mut ticks = interval_at(Instant::now(), PROGRESS);
        for count in 1_u64.. {
            ticks.tick().await;
            let message = format!("{request} waits for a person");
            let progress = json!({ "progressToken": token, "progress": count, "message": message });
            let told = wire::notification("notifications/progress", &progress);
            if self.said.send(told.into()).await.is_err() {
                return;
            }
        }
    }
}
