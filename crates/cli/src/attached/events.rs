//! The stream of events of one session, or of all. After a restart of the server it continues after the last event; a
//! server that did not end on purpose is started again.

use std::time::Duration;

use ostler_server::{
    api::EventView,
    client::{Client, ClientError, Pieces},
    start::{self, StartError},
};
use serde::de::DeserializeOwned;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

use crate::{
    context::{Context, home},
    error::Error,
    words::Key,
};

/// How long a server may be gone. Agents do not need it, so there is no hurry.
const GONE_MAX: Duration = Duration::from_mins(1);

/// Between two attempts.
const LOOK: Duration = Duration::from_millis(100);

/// Events from a place on.
pub(crate) struct Events {
    client: Client,
    /// The part of the query that selects the events.
    scope: String,
    /// The session, if they are those of one.
    session: Option<String>,
    after: u64,
    pieces: Option<Pieces>,
    buffer: Vec<u8>,
    gone_since: Option<Instant>,
    /// Another server on its way. It is a task of its own, since whoever waits for it may be dropped.
    starting: Option<JoinHandle<Result<Client, StartError>>>,
    /// Why none could be started. It is not tried twice: what is in the way is still there.
    not_started: Option<StartError>,
}

impl Events {
    /// Those of one session.
    pub(crate) fn of_session(client: &Client, session: &str, after: u64) -> Events {
        let scope = format!("session={session}");
        Events { session: Some(session.to_owned()), ..Events::new(client, scope, after) }
    }

    /// Those of these kinds, with commas between them, of all sessions.
    pub(crate) fn of_kinds(client: &Client, kinds: &str, after: u64) -> Events {
        Events::new(client, format!("kind={kinds}"), after)
    }

    fn new(client: &Client, scope: String, after: u64) -> Events {
        Events {
            client: client.watching(),
            scope,
            session: None,
            after,
            pieces: None,
            buffer: Vec::new(),
            gone_since: None,
            starting: None,
            not_started: None,
        }
    }

    /// The next event. May be dropped and called again at any time.
    pub(crate) async fn next(&mut self, context: &Context) -> Result<EventView, Error> {
        loop {
            if let Some(event) = self.read() {
                self.after = event.seq;
                return Ok(event);
            }
            match self.fill().await {
                Ok(()) => self.is_back(context),
                Err(error) => self.lost(context, error).await?,
            }
        }
    }

    /// What has happened by now and was not told yet.
    pub(crate) async fn rest(&mut self, context: &Context) -> Result<Vec<EventView>, Error> {
        let path = format!("/events?{}&after={}&limit=1000", self.scope, self.after);
        let events: Vec<EventView> = self.get(context, &path).await?;
        self.after = events.last().map_or(self.after, |event| event.seq);
        Ok(events)
    }

    /// Asks for something, with the same patience.
    pub(crate) async fn get<T: DeserializeOwned>(
        &mut self,
        context: &Context,
        path: &str,
    ) -> Result<T, Error> {
        loop {
            match self.client.get(path).await {
                Ok(answer) => {
                    self.is_back(context);
                    return Ok(answer);
                }
                Err(error) => self.lost(context, error).await?,
            }
        }
    }

    /// Reads more; no more than one step, so that nothing is lost when it is dropped half-way.
    async fn fill(&mut self) -> Result<(), ClientError> {
        match &mut self.pieces {
            None => {
                let path = format!("/events?{}&after={}&follow=true", self.scope, self.after);
                let pieces = self.client.stream(&path).await?;
                self.buffer.clear();
                self.pieces = Some(pieces);
                Ok(())
            }
            Some(pieces) => match pieces.next().await? {
                Some(piece) => {
                    self.buffer.extend_from_slice(&piece);
                    Ok(())
                }
                None => {
                    let message = "the server has ended".to_owned();
                    Err(ClientError::Broken { path: "/events".into(), message })
                }
            },
        }
    }

    fn is_back(&mut self, context: &Context) {
        self.not_started = None;
        if self.gone_since.take().is_some() {
            context.note(context.words.sentence(Key::ServerBack));
        }
    }

    /// Waits a little for a server that is gone, or starts one; other errors are errors.
    async fn lost(&mut self, context: &Context, error: ClientError) -> Result<(), Error> {
        self.pieces = None;
        if !matches!(error, ClientError::Broken { .. } | ClientError::NoServer { .. }) {
            return Err(error.into());
        }
        match self.gone_since {
            None => {
                self.gone_since = Some(Instant::now());
                context.note(context.words.sentence(Key::ServerGone));
            }
            Some(since) if since.elapsed() > GONE_MAX => {
                if let Some(session) = &self.session {
                    context.note(&context.words.say(Key::LoseNothing, &[("session", session)]));
                }
                return Err(self.not_started.take().map_or_else(|| error.into(), Error::Start));
            }
            // One that ends on purpose takes its socket away; at the second look it has had the time for that.
            Some(since) if since.elapsed() >= LOOK && matches!(error, ClientError::NoServer { .. }) => {
                self.start_another(context).await?;
            }
            Some(_) => {}
        }
        sleep(LOOK).await;
        Ok(())
    }

    /// Starts a server in the place of one that left its socket behind.
    async fn start_another(&mut self, context: &Context) -> Result<(), Error> {
        let home = home()?;
        if self.starting.is_none() && (self.not_started.is_some() || !home.socket().exists()) {
            return Ok(());
        }
        let starting = self.starting.get_or_insert_with(|| {
            context.note(context.words.sentence(Key::ServerStarts));
            tokio::spawn(async move { start::ensure(&home).await })
        });
        let started = starting.await;
        self.starting = None;
        if let Ok(Err(error)) = started {
            self.not_started = Some(error);
        }
        Ok(())
    }

    /// The next whole event of what was read. Everything but its data is passed over.
    fn read(&mut self) -> Option<EventView> {
        loop {
            let end = self.buffer.windows(2).position(|pair| pair == b"\n\n")?;
            let block: Vec<u8> = self.buffer.drain(..end + 2).collect();
            let data: Vec<&[u8]> =
                block.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"data: ")).collect();
            if let Ok(event) = serde_json::from_slice(&data.concat()) {
                return Some(event);
            }
        }
    }
}
