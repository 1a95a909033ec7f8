//! `ostler logs`: what a session printed.

use std::io::{self, Write};

use clap::Args;
use ostler_protocol::stream::{Piece, Table, Transcript};
use ostler_server::{
    api::{PieceView, SessionView},
    client::{Client, Pieces},
};

use crate::{
    context::{Context, json, talk},
    error::Error,
    exit::Exit,
    id,
    render::Renderer,
    screen::Screen,
};

/// Show what a session printed.
///
/// Structured output of a CLI is shown as speech and tools. Colours reach only a terminal, other escapes nobody.
/// With --json, one object per piece.
#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", help = id::HELP)]
    id: String,
    /// Go on with what comes, until the process ends.
    #[arg(short, long)]
    follow: bool,
    /// Standard error instead of standard output.
    #[arg(long)]
    err: bool,
    /// Bytes as they are.
    #[arg(long, conflicts_with = "json")]
    raw: bool,
    /// Which process of the session, counted from 1; otherwise the last.
    #[arg(long, value_name = "N")]
    launch: Option<u32>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    talk(async {
        let client = context.server().await?;
        let id = id::session(&client, &arguments.id).await?;
        let session: SessionView = client.get(&format!("/sessions/{id}")).await?;
        let pieces = open(&client, &session, arguments).await?;
        if context.json {
            print_json(context, &session, arguments, pieces).await?;
        } else {
            print(context, &session, arguments, pieces).await?;
        }
        Ok(Exit::Done)
    })
}

async fn open(client: &Client, session: &SessionView, arguments: &Arguments) -> Result<Pieces, Error> {
    let stream = if arguments.err { "err" } else { "out" };
    let launch = arguments.launch.map(|launch| format!("&launch={launch}")).unwrap_or_default();
    let query = format!("stream={stream}&follow={}{launch}", arguments.follow);
    Ok(client.stream(&format!("/sessions/{}/output?{query}", session.id)).await?)
}

async fn print(
    context: &Context,
    session: &SessionView,
    arguments: &Arguments,
    mut pieces: Pieces,
) -> Result<(), Error> {
    let agent = context.agent(&session.agent).filter(|_| !arguments.err);
    let mut renderer = Renderer::new(context.words, Screen::stdout(), agent, arguments.raw);
    let mut stdout = io::stdout().lock();
    while let Some(piece) = pieces.next().await? {
        stdout.write_all(&renderer.push(&piece)).and_then(|()| stdout.flush()).map_err(Error::Output)?;
    }
    stdout.write_all(&renderer.finish()).and_then(|()| stdout.flush()).map_err(Error::Output)
}

async fn print_json(
    context: &Context,
    session: &SessionView,
    arguments: &Arguments,
    mut pieces: Pieces,
) -> Result<(), Error> {
    let agent = context.agent(&session.agent).filter(|_| !arguments.err);
    let table = agent.and_then(|agent| match &agent.output {
        ostler_agents::Output::Table(toml) => Table::parse(toml).ok(),
        ostler_agents::Output::Text => None,
    });
    let mut reading = match table {
        Some(table) => Reading::Events(Transcript::new(table)),
        None => Reading::Lines(Vec::new()),
    };
    let mut stdout = io::stdout().lock();
    loop {
        let piece = pieces.next().await?;
        let is_last = piece.is_none();
        let lines = match &piece {
            Some(bytes) => reading.push(bytes),
            None => reading.finish(),
        };
        for line in lines {
            let line = json(&PieceView::from(line));
            stdout.write_all(line.as_bytes()).map_err(Error::Output)?;
        }
        stdout.flush().map_err(Error::Output)?;
        if is_last {
            return Ok(());
        }
    }
}

/// Bytes as pieces, whatever the agent speaks.
enum Reading {
    Events(Transcript),
    Lines(Vec<u8>),
}

impl Reading {
    fn push(&mut self, bytes: &[u8]) -> Vec<Piece> {
        match self {
            Reading::Events(transcript) => transcript.push(bytes),
            Reading::Lines(held) => {
                // What is held has no end of a line in it: only the new bytes are looked at.
                let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
                    held.extend_from_slice(bytes);
                    return Vec::new();
                };
                let mut whole = std::mem::replace(held, bytes[end + 1..].to_vec());
                whole.extend_from_slice(&bytes[..end]);
                let lines = whole.split(|byte| *byte == b'\n');
                lines.map(|line| Piece::Line { bytes: line.to_vec() }).collect()
            }
        }
    }

    fn finish(&mut self) -> Vec<Piece> {
        match self {
            Reading::Events(transcript) => transcript.finish(),
            Reading::Lines(held) if held.is_empty() => Vec::new(),
            Reading::Lines(held) => vec![Piece::Line { bytes: std::mem::take(held) }],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_they_come() {
        let mut reading = Reading::Lines(Vec::new());
        let mut lines = Vec::new();
        for bytes in ["a", "b\nc\n\nd", "", "e", "\n", "f"] {
            lines.extend(reading.push(bytes.as_bytes()));
        }
        lines.extend(reading.finish());
        let line = |text: &str| Piece::Line { bytes: text.into() };
        assert_eq!(lines, ["ab", "c", "", "de", "f"].map(line));
    }
}
