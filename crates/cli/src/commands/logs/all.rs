//! `ostler logs -f` without an id: what all sessions print from now on, each line behind the name of its session.

use std::collections::BTreeMap;

use ostler_server::{
    api::{EventView, InfoView, SessionView, StatusView},
    client::{Client, ClientError},
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{
    printer::{LogPrinter, LogStyle},
    told::{ToldPiece, ToldReader},
    write,
};
use crate::{
    attached::Events,
    context::{self, Context},
    error::Error,
    exit::Exit,
    outcome,
    screen::{Screen, Style},
    sessions,
};

/// The events that begin or end something to be shown.
const KINDS: &str = "session.launched,session.heard,session.finished,request.settled,message.written";

/// How many pieces of all sessions wait to be shown.
const PIECES_MAX: usize = 16;

/// A piece of what a process printed; none at its end.
struct LaunchOutput {
    session: String,
    launch: u32,
    bytes: Result<Option<Vec<u8>>, ClientError>,
}

/// Shows what all sessions print from now on, until somebody ends it.
pub(super) async fn follow(context: &Context, style: LogStyle) -> Result<Exit, Error> {
    let client = context.server().await?;
    // The place in the journal comes first, so that nothing that happens meanwhile is missed.
    let info: InfoView = client.get("/info").await?;
    let status: StatusView = client.get("/status").await?;
    let mut events = Events::of_kinds(&client, KINDS, info.seq);
    let (sender, mut output) = mpsc::channel(PIECES_MAX);
    let mut all = AllLogs {
        context,
        client: &client,
        style,
        sender,
        shown: BTreeMap::new(),
        told: BTreeMap::new(),
        ended: BTreeMap::new(),
    };
    for session in status.sessions {
        if let Some(launch) = session.launches.last().filter(|launch| launch.ended.is_none()) {
            let number = launch.number;
            all.open(&session, number, "&tail=0");
        }
    }
    loop {
        tokio::select! {
            piece = output.recv() => match piece {
                Some(piece) => all.show(piece)?,
                None => return Ok(Exit::Done),
            },
            event = events.next(context) => all.happened(&event?).await?,
        }
    }
}

/// Everything that is followed.
struct AllLogs<'a> {
    context: &'a Context,
    client: &'a Client,
    style: LogStyle,
    sender: mpsc::Sender<LaunchOutput>,
    /// The processes that print, by session and number.
    shown: BTreeMap<(String, u32), ShownLaunch<'a>>,
    told: BTreeMap<String, ToldReader>,
    /// Sessions that have ended, and print still.
    ended: BTreeMap<String, SessionView>,
}

/// A process whose output is shown.
struct ShownLaunch<'a> {
    printer: LogPrinter<'a>,
    prefix: String,
    session: String,
    /// The line that is not whole yet.
    open: Vec<u8>,
}

impl<'a> AllLogs<'a> {
    /// Follows a process from some place on.
    fn open(&mut self, session: &SessionView, launch: u32, from: &str) {
        let client = self.client.clone();
        let stream = if self.style.err { "err" } else { "out" };
        let path =
            format!("/sessions/{}/output?launch={launch}&stream={stream}&follow=true{from}", session.id);
        let (sender, id) = (self.sender.clone(), session.id.clone());
        tokio::spawn(async move {
            let mut pieces = match client.stream(&path).await {
                Ok(pieces) => pieces,
                Err(error) => {
                    sender.send(LaunchOutput { session: id, launch, bytes: Err(error) }).await.ok();
                    return;
                }
            };
            loop {
                let bytes = pieces.next().await.map(|piece| piece.map(|bytes| bytes.to_vec()));
                let is_last = !matches!(bytes, Ok(Some(_)));
                let piece = LaunchOutput { session: id.clone(), launch, bytes };
                if sender.send(piece).await.is_err() || is_last {
                    return;
                }
            }
        });
        let shown = self.launch(session);
        self.shown.insert((session.id.clone(), launch), shown);
    }

    fn launch(&self, session: &SessionView) -> ShownLaunch<'a> {
        ShownLaunch {
            printer: LogPrinter::new(self.context, session, self.style, Vec::new()),
            prefix: Screen::stdout().style(Style::Dim, &format!("{} │ ", sessions::label(session))),
            session: session.id.clone(),
            open: Vec::new(),
        }
    }

    /// Whether some of what a process of it printed is still to be shown.
    fn prints(&self, id: &str) -> bool {
        self.shown.keys().any(|(session, _)| session == id)
    }

    fn show(&mut self, piece: LaunchOutput) -> Result<(), Error> {
        let key = (piece.session, piece.launch);
        let Some(shown) = self.shown.get_mut(&key) else { return Ok(()) };
        match piece.bytes {
            Ok(Some(bytes)) => {
                let lines = shown.printer.push(&bytes);
                shown.print(self.context, &lines)
            }
            // A server that goes away is not the end of anything: what is missed can be read later.
            Ok(None) | Err(_) => {
                let lines = shown.printer.finish();
                shown.print(self.context, &lines)?;
                shown.end(self.context)?;
                self.shown.remove(&key);
                match self.ended.remove(&key.0) {
                    Some(session) => self.end_of(session),
                    None => Ok(()),
                }
            }
        }
    }

    async fn happened(&mut self, event: &EventView) -> Result<(), Error> {
        let Some(id) = event.session.clone() else { return Ok(()) };
        let mark = self.told.entry(id.clone()).or_default().happened(self.client, event).await?;
        match (event.kind.as_str(), mark) {
            ("session.launched", _) => {
                let session: SessionView = self.client.get(&format!("/sessions/{id}")).await?;
                let number = event.body["launch"].as_u64().and_then(|it| u32::try_from(it).ok()).unwrap_or(1);
                let launch = session.launches.iter().find(|launch| launch.number == number);
                let begins = launch.map(ToldPiece::of_launch);
                self.open(&session, number, "");
                begins.map_or(Ok(()), |begins| self.tell(&id, &begins))
            }
            ("session.finished", _) => {
                self.told.remove(&id);
                let session: SessionView = self.client.get(&format!("/sessions/{id}")).await?;
                self.end_of(session)
            }
            (_, Some(mark)) if self.prints(&id) => self.tell(&id, &mark.piece),
            // Its process has ended, and waits for what it is told now.
            (_, Some(mark)) => {
                let session: SessionView = self.client.get(&format!("/sessions/{id}")).await?;
                let mut told = self.launch(&session);
                let lines = told.printer.tell(&mark.piece);
                told.print(self.context, &lines)
            }
            _ => Ok(()),
        }
    }

    /// Shows what a session is told, with the process that prints.
    fn tell(&mut self, id: &str, piece: &ToldPiece) -> Result<(), Error> {
        let newest = self.shown.iter_mut().rev().find(|((session, _), _)| session == id);
        let Some((_, shown)) = newest else { return Ok(()) };
        let lines = shown.printer.tell(piece);
        shown.print(self.context, &lines)
    }

    /// Says how a session has ended, behind everything that it printed.
    fn end_of(&mut self, session: SessionView) -> Result<(), Error> {
        if self.prints(&session.id) {
            self.ended.insert(session.id.clone(), session);
            return Ok(());
        }
        if self.context.json {
            let ended = json!({ "session": session.id, "piece": "ended", "outcome": session.outcome });
            return write(context::json(&ended).as_bytes());
        }
        let prefix = Screen::stdout().style(Style::Dim, &format!("{} │ ", sessions::label(&session)));
        let lines = outcome::sentence(self.context.words, &session);
        let lines: Vec<String> = lines.iter().map(|line| format!("{prefix}{line}\n")).collect();
        write(lines.concat().as_bytes())
    }
}

impl ShownLaunch<'_> {
    /// Prints whole lines, each with whose it is; keeps the rest.
    fn print(&mut self, context: &Context, bytes: &[u8]) -> Result<(), Error> {
        self.open.extend_from_slice(bytes);
        let Some(end) = self.open.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        let rest = self.open.split_off(end + 1);
        let whole = std::mem::replace(&mut self.open, rest);
        let mut shown = Vec::new();
        for line in whole.split_inclusive(|byte| *byte == b'\n') {
            if !context.json {
                shown.extend_from_slice(self.prefix.as_bytes());
                shown.extend_from_slice(line);
                continue;
            }
            let mut piece: Value = serde_json::from_slice(line).unwrap_or_default();
            piece["session"] = self.session.as_str().into();
            shown.extend(context::json(&piece).into_bytes());
        }
        write(&shown)
    }

    fn end(&mut self, context: &Context) -> Result<(), Error> {
        if self.open.is_empty() { Ok(()) } else { self.print(context, b"\n") }
    }
}
