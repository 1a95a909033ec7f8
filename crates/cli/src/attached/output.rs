//! What the agent prints, launch after launch. A connection that breaks is taken up where it broke.

use std::time::Duration;

use ostler_server::{
    api::SessionView,
    client::{Client, ClientError, Pieces},
};
use tokio::time::sleep;

pub(super) use crate::console::Stream;
use crate::{context::Context, error::Error, render::Renderer, screen::Screen, veil::Veil};

/// Between two attempts to reach a server that is gone.
const LOOK: Duration = Duration::from_millis(100);

/// Follows one stream of a session.
pub(super) struct Follow {
    client: Client,
    session: String,
    stream: Stream,
    /// The launch that is followed, and how much of it was read.
    launch: Option<(u32, u64)>,
    /// The last launch that was begun: what is told of it again is no other.
    last: Option<u32>,
    /// Launches that have begun meanwhile.
    waiting: Vec<u32>,
    pieces: Option<Pieces>,
    renderer: Renderer,
}

impl Follow {
    pub(super) fn new(
        context: &Context,
        client: &Client,
        session: &SessionView,
        stream: Stream,
        raw: bool,
    ) -> Follow {
        let (screen, agent) = match stream {
            Stream::Out => (Screen::stdout(), context.agent(&session.agent)),
            // What a CLI writes there is text, whatever else it speaks.
            Stream::Err => (Screen::stderr(), None),
        };
        let mut renderer = Renderer::new(context.words, screen, agent, raw);
        if stream == Stream::Out && !context.json {
            renderer.keep_questions_back();
        }
        Follow {
            client: client.watching(),
            session: session.id.clone(),
            stream,
            launch: None,
            last: None,
            waiting: Vec::new(),
            pieces: None,
            renderer,
        }
    }

    /// Follows a launch once the one before has been read to its end.
    pub(super) fn begin(&mut self, launch: Option<u32>) {
        let launch = launch.filter(|launch| self.last.is_none_or(|last| last < *launch));
        self.last = launch.or(self.last);
        self.waiting.extend(launch);
        self.take_next();
    }

    /// Whether more may come.
    pub(super) fn is_open(&self) -> bool {
        self.launch.is_some()
    }

    /// The next bytes; nothing at the end of a launch. May be dropped and called again at any time.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        loop {
            let Some((launch, offset)) = self.launch else { return Ok(None) };
            let result = match &mut self.pieces {
                Some(pieces) => pieces.next().await,
                None => match self.client.stream(&self.path(launch, offset)).await {
                    Ok(pieces) => {
                        self.pieces = Some(pieces);
                        continue;
                    }
                    Err(error) => Err(error),
                },
            };
            match result {
                Ok(Some(bytes)) => {
                    self.launch = Some((launch, offset + bytes.len() as u64));
                    return Ok(Some(bytes.to_vec()));
                }
                Ok(None) => return Ok(None),
                Err(ClientError::Broken { .. } | ClientError::NoServer { .. }) => {
                    // Whoever follows the events says so, and gives up when it takes too long.
                    self.pieces = None;
                    sleep(LOOK).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What is shown of some bytes.
    pub(super) fn render(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.renderer.push(bytes)
    }

    /// There is no more of the launch; questions are still kept back.
    pub(super) fn end_text(&mut self) -> Vec<u8> {
        self.renderer.end_text()
    }

    /// The launch that is followed, and how much of it was read.
    pub(super) fn read(&self) -> Option<(u32, u64)> {
        self.launch
    }

    /// How much the launch that is followed has printed by now; nothing, where no launch is followed or no server
    /// answers.
    pub(super) async fn printed(&self) -> Option<(u32, u64)> {
        let (launch, _) = self.launch?;
        let path = format!("{}&launch={launch}&tail=0", self.place());
        let answer = self.client.stream(&path).await.ok()?;
        Some((launch, answer.header("ostler-length")?.parse().ok()?))
    }

    /// Whether so much of a launch was read.
    pub(super) fn has_read(&self, printed: Option<(u32, u64)>) -> bool {
        match (printed, self.launch) {
            (Some(printed), Some(read)) => read >= printed,
            _ => true,
        }
    }

    /// What keeps questions back.
    pub(super) fn veil(&mut self) -> Option<&mut Veil> {
        self.renderer.veil()
    }

    /// What is shown of what is not kept back any more.
    pub(super) fn ready(&mut self) -> Vec<u8> {
        self.renderer.ready()
    }

    /// The launch has ended; what was left of it is shown, and the next one is followed.
    pub(super) fn end(&mut self) -> Vec<u8> {
        self.pieces = None;
        self.launch = None;
        self.take_next();
        self.renderer.finish()
    }

    /// Ends the line that is open, so that something else can be said.
    pub(super) fn end_line(&mut self) -> Vec<u8> {
        self.renderer.end_line()
    }

    fn path(&self, launch: u32, offset: u64) -> String {
        format!("{}&launch={launch}&offset={offset}&follow=true", self.place())
    }

    fn place(&self) -> String {
        let stream = if self.stream == Stream::Out { "out" } else { "err" };
        format!("/sessions/{}/output?stream={stream}", self.session)
    }

    fn take_next(&mut self) {
        if self.launch.is_none() && !self.waiting.is_empty() {
            self.launch = Some((self.waiting.remove(0), 0));
        }
    }
}
