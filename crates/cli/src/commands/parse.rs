//! `ostler parse`: shows what Ostler hears in a stream, one JSON object per item.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufWriter, Read, StdoutLock, Write},
    num::NonZeroUsize,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use ostler_protocol::{
    Format, Item, Parser, Settings,
    name::Nonce,
    stream::{Cli, Table},
};
use serde::Serialize;

use crate::{error::Error, exit::Exit, usage_error::BadValue, words::Key};

/// Read a stream and print what it says, one JSON object per item.
///
/// Memory stays constant however much is read. Silence rules need a living agent and do not apply here; thin lines
/// are shown whatever the session's role would be.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The file to read; '-' is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    input: PathBuf,
    /// What the stream consists of.
    #[arg(long, value_enum, default_value = "text")]
    format: StreamFormat,
    /// Hand the bytes to the parser in pieces of this size; the items are the same for every size.
    #[arg(long, value_name = "BYTES", value_parser = chunk_size)]
    chunk: Option<NonZeroUsize>,
    /// The session's nonce: tags that carry it are trusted as 'tagged'.
    #[arg(long, value_name = "WORD", value_parser = nonce)]
    nonce: Option<Nonce>,
    /// Print one JSON object with counts on standard error at the end.
    #[arg(long)]
    stats: bool,
}

fn chunk_size(text: &str) -> Result<NonZeroUsize, BadValue> {
    text.parse().map_err(|_| BadValue::new(Key::WhyBytes))
}

fn nonce(text: &str) -> Result<Nonce, BadValue> {
    text.parse().map_err(|_| BadValue::new(Key::WhyNonce))
}

#[derive(Clone, Copy, ValueEnum)]
enum StreamFormat {
    Text,
    Claude,
    Codex,
    Gemini,
    Opencode,
}

/// What was read and heard.
#[derive(Default, Serialize)]
struct Stats {
    bytes: u64,
    items: u64,
    kinds: BTreeMap<&'static str, u64>,
    /// The most that was ever held of the stream between two pieces.
    buffered_bytes_max: usize,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Error> {
    let settings = Settings { nonce: arguments.nonce.clone(), thin_role: true, ..Settings::default() };
    let mut parser = Parser::new(arguments.format.format(), settings);
    let mut output = BufWriter::new(io::stdout().lock());
    let mut stats = Stats::default();
    let heard = hear(arguments, &mut parser, &mut output, &mut stats);
    // What came before a failure still counts, so it is ended and printed first.
    parser.finish();
    print(&mut parser, &mut output, &mut stats).and_then(|()| output.flush()).map_err(Error::Output)?;
    heard?;
    if arguments.stats {
        let stats = serde_json::to_string(&stats).map_err(|error| Error::Stats(error.into()))?;
        writeln!(io::stderr(), "{stats}").map_err(Error::Stats)?;
    }
    Ok(Exit::Done)
}

fn hear(
    arguments: &Arguments,
    parser: &mut Parser,
    output: &mut BufWriter<StdoutLock<'_>>,
    stats: &mut Stats,
) -> Result<(), Error> {
    let mut input = Input::open(&arguments.input)?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = input.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        stats.bytes += read as u64;
        let size = arguments.chunk.map_or(read, NonZeroUsize::get);
        for piece in buffer[..read].chunks(size) {
            parser.push(piece);
            stats.buffered_bytes_max = stats.buffered_bytes_max.max(parser.buffered_bytes());
            print(parser, output, stats).map_err(Error::Output)?;
        }
        // A reader at the other end sees each item as soon as nothing more is there to be read.
        output.flush().map_err(Error::Output)?;
    }
}

fn print(parser: &mut Parser, output: &mut impl Write, stats: &mut Stats) -> io::Result<()> {
    for item in parser.by_ref() {
        stats.count(&item);
        serde_json::to_writer(&mut *output, &item)?;
        output.write_all(b"\n")?;
    }
    Ok(())
}

impl Stats {
    fn count(&mut self, item: &Item) {
        self.items += 1;
        *self.kinds.entry(item.what.kind()).or_default() += 1;
    }
}

impl StreamFormat {
    fn format(self) -> Format {
        let cli = match self {
            StreamFormat::Text => return Format::Text,
            StreamFormat::Claude => Cli::Claude,
            StreamFormat::Codex => Cli::Codex,
            StreamFormat::Gemini => Cli::Gemini,
            StreamFormat::Opencode => Cli::Opencode,
        };
        Format::Structured(Table::builtin(cli))
    }
}

/// A file or standard input, with its name for messages.
struct Input {
    path: Option<PathBuf>,
    reader: Box<dyn Read>,
}

impl Input {
    fn open(path: &Path) -> Result<Input, Error> {
        if path.as_os_str() == "-" {
            return Ok(Input { path: None, reader: Box::new(io::stdin().lock()) });
        }
        let file =
            File::open(path).map_err(|source| Error::Stream { path: Some(path.to_path_buf()), source })?;
        Ok(Input { path: Some(path.to_path_buf()), reader: Box::new(file) })
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        loop {
            match self.reader.read(buffer) {
                Err(source) if source.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(Error::Stream { path: self.path.clone(), source }),
                Ok(read) => return Ok(read),
            }
        }
    }
}
