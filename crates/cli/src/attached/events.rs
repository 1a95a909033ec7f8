//! What happens to one session, as the server says it. A server that goes away and comes back is picked up where it was.

use std::time::Duration;

use ostler_server::{
    api::EventView,
    client::{Client, ClientError, Pieces},
};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep};

use crate::{context::Context, error::Error, words::Key};

/// How long a server may be gone. Agents do not need it, so there is no hurry.
const GONE_MAX: Duration = Duration::from_mins(1);

/// Between two attempts.
const LOOK: Duration = Duration::from_millis(100);

/// The events of a session from a place on.
pub(super) struct Events {
    client: Client,
    session: String,
    after: u64,
    pieces: Option<Pieces>,
    buffer: Vec<u8>,
    gone_since: Option<Instant>,
}

impl Events {
    pub(super) fn new(client: &Client, session: &str, after: u64) -> Events {
        let (client, session) = (client.clone(), session.to_owned());
        Events { client, session, after, pieces: None, buffer: Vec::new(), gone_since: None }
    }

    /// The next event. May be dropped and called again at any time.
    pub(super) async fn next(&mut self, context: &Context) -> Result<EventView, Error> {
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

    /// Asks for something, with the same patience.
    pub(super) async fn get<T: DeserializeOwned>(
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
                let path = format!("/events?session={}&after={}&follow=true", self.session, self.after);
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
        if self.gone_since.take().is_some() {
            context.note(context.words.sentence(Key::ServerBack));
        }
    }

    /// Waits a little for a server that is gone; other errors are errors.
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
                context.note(&context.words.say(Key::LoseNothing, &[("session", &self.session)]));
                return Err(error.into());
            }
            Some(_) => {}
        }
        sleep(LOOK).await;
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
