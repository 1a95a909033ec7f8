//! `ostler logs`: what sessions printed and what they were told, in order.

mod all;
mod printer;
mod told;

use std::io::{self, Write};

use clap::Args;
use ostler_server::{
    api::{EventView, InfoView, LaunchView, SessionView},
    client::{Client, Pieces},
};

use self::{
    printer::{LogPrinter, LogStyle},
    told::{ToldMark, ToldPiece, ToldReader},
};
use crate::{
    attached::Events,
    context::{Context, talk},
    error::{Error, Message},
    exit::Exit,
    help::heading,
    id,
    words::Key,
};

/// Show what a session printed and what it was told.
///
/// All its processes in order: where each begins and why, its prompt, what the agent said, its tools, the answers and
/// messages of people. Structured output of a CLI is shown as speech and tools. Colours reach only a terminal, other
/// escapes nobody. With --json, one object per piece.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that somebody may give")]
pub(crate) struct Arguments {
    #[arg(
        value_name = "ID",
        help = "The session or run (s_12, r_8), its name, or 'last'; with -f, all sessions without it"
    )]
    id: Option<String>,
    /// Go on with what comes, until the session has ended.
    #[arg(short, long, help_heading = heading::SESSION)]
    follow: bool,
    /// Show all of what tools gave back, and of long prompts.
    #[arg(long, help_heading = heading::OUTPUT)]
    full: bool,
    /// Standard error instead of standard output.
    #[arg(long, help_heading = heading::SESSION)]
    err: bool,
    /// Bytes of the last process as they are, and nothing else.
    #[arg(long, conflicts_with_all = ["json", "full"], help_heading = heading::OUTPUT)]
    raw: bool,
    /// Only this process of the session, counted from 1.
    #[arg(long, value_name = "N", help_heading = heading::SESSION)]
    launch: Option<u32>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let Some(id) = &arguments.id else {
        if arguments.follow && !arguments.raw && arguments.launch.is_none() {
            return talk(all::follow(context, arguments.style()));
        }
        return Err(Error::Usage { message: Message::new(Key::LogsWhich), command: "logs" });
    };
    talk(async {
        let client = context.server().await?;
        let id = id::session(&client, id).await?;
        let session: SessionView = client.get(&format!("/sessions/{id}")).await?;
        let mut told = ToldReader::default();
        let marks = if arguments.is_told() {
            told.read(&client, &session.id).await?
        } else {
            told.seq = client.get::<InfoView>("/info").await?.seq;
            Vec::new()
        };
        let log = SessionLog { context, client: &client, arguments, told, marks };
        if arguments.follow { log.follow(session).await } else { log.print(&session).await }
    })
}

impl Arguments {
    /// Whether what the agent was told is shown.
    fn is_told(&self) -> bool {
        !self.raw && !self.err
    }

    fn style(&self) -> LogStyle {
        LogStyle { full: self.full, raw: self.raw, err: self.err }
    }
}

/// The log of a session.
struct SessionLog<'a> {
    context: &'a Context,
    client: &'a Client,
    arguments: &'a Arguments,
    told: ToldReader,
    marks: Vec<ToldMark>,
}

impl<'a> SessionLog<'a> {
    /// Shows what there is.
    async fn print(mut self, session: &SessionView) -> Result<Exit, Error> {
        for launch in self.chosen(session) {
            self.launch(session, launch).await?;
        }
        self.nothing_of(session).await
    }

    /// The processes that are wanted: all, or for bytes as they are the last.
    fn chosen<'s>(&self, session: &'s SessionView) -> Vec<&'s LaunchView> {
        let last = session.launches.last().map(|launch| launch.number);
        let only = self.arguments.launch.or(last.filter(|_| self.arguments.raw));
        session.launches.iter().filter(|launch| only.is_none_or(|only| launch.number == only)).collect()
    }

    /// A process that is named and not there, and a session without any, is refused as the server says it.
    async fn nothing_of(&self, session: &SessionView) -> Result<Exit, Error> {
        if self.arguments.launch.is_some() && self.chosen(session).is_empty() {
            self.open(session, self.arguments.launch, false).await?;
        }
        Ok(Exit::Done)
    }

    /// Shows all of one process.
    async fn launch(&mut self, session: &SessionView, launch: &LaunchView) -> Result<(), Error> {
        let mut pieces = self.open(session, Some(launch.number), false).await?;
        let mut printer = self.printer(session, launch);
        self.begin(&mut printer, launch)?;
        while let Some(piece) = pieces.next().await? {
            write(&printer.push(&piece))?;
        }
        write(&printer.finish())
    }

    fn printer(&mut self, session: &SessionView, launch: &LaunchView) -> LogPrinter<'a> {
        let all = std::mem::take(&mut self.marks);
        let (marks, others) = all.into_iter().partition(|mark| mark.launch == launch.number);
        self.marks = others;
        LogPrinter::new(self.context, session, self.arguments.style(), marks)
    }

    /// Says which process begins.
    fn begin(&self, printer: &mut LogPrinter<'_>, launch: &LaunchView) -> Result<(), Error> {
        if self.arguments.err && launch.number == 1 {
            return Ok(());
        }
        write(&printer.tell(&ToldPiece::of_launch(launch)))
    }

    async fn open(&self, session: &SessionView, launch: Option<u32>, follow: bool) -> Result<Pieces, Error> {
        let stream = if self.arguments.err { "err" } else { "out" };
        let launch = launch.map(|launch| format!("&launch={launch}")).unwrap_or_default();
        let query = format!("stream={stream}&follow={follow}{launch}");
        Ok(self.client.stream(&format!("/sessions/{}/output?{query}", session.id)).await?)
    }

    /// Shows what there is and what comes, until the session has ended, or the process that was named.
    async fn follow(mut self, mut session: SessionView) -> Result<Exit, Error> {
        let mut events = Events::of_session(self.client, &session.id, self.told.seq);
        let mut shown = 0;
        loop {
            let now = session.clone();
            let launches = self.chosen(&now);
            let before = shown;
            for launch in launches.iter().filter(|launch| launch.number > before) {
                // What a later process is started with was told before, also where both were there from the beginning.
                if shown > 0 {
                    for event in events.rest(self.context).await? {
                        self.tell_between(&now, &event).await?;
                    }
                }
                shown = launch.number;
                self.follow_launch(&now, launch, &mut events).await?;
            }
            if self.arguments.raw || self.arguments.launch.is_some() {
                return self.nothing_of(&now).await;
            }
            session = events.get(self.context, &format!("/sessions/{}", session.id)).await?;
            let is_over = session.outcome.is_some() || session.status == "interrupted";
            if is_over && session.launches.last().is_none_or(|launch| launch.number <= shown) {
                return Ok(Exit::Done);
            }
            if session.launches.last().is_none_or(|launch| launch.number <= shown) {
                let event = events.next(self.context).await?;
                self.tell_between(&session, &event).await?;
            }
        }
    }

    /// Shows what an agent is told that has no process then.
    async fn tell_between(&mut self, session: &SessionView, event: &EventView) -> Result<(), Error> {
        if !self.arguments.is_told() {
            return Ok(());
        }
        if let Some(mark) = self.told.happened(self.client, event).await? {
            let mut printer = LogPrinter::new(self.context, session, self.arguments.style(), Vec::new());
            write(&printer.tell(&mark.piece))?;
        }
        Ok(())
    }

    async fn follow_launch(
        &mut self,
        session: &SessionView,
        launch: &LaunchView,
        events: &mut Events,
    ) -> Result<(), Error> {
        let mut pieces = self.open(session, Some(launch.number), true).await?;
        let mut printer = self.printer(session, launch);
        self.begin(&mut printer, launch)?;
        let is_told = self.arguments.is_told();
        loop {
            tokio::select! {
                biased;
                piece = pieces.next() => match piece? {
                    Some(piece) => write(&printer.push(&piece))?,
                    None => return write(&printer.finish()),
                },
                event = events.next(self.context), if is_told => {
                    if let Some(mark) = self.told.happened(self.client, &event?).await? {
                        write(&printer.happened(mark))?;
                    }
                }
            }
        }
    }
}

fn write(bytes: &[u8]) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(Error::Output)
}
