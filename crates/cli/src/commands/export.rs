//! `ostler export`: the journal, for others to read.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::PathBuf,
};

use clap::Args;
use ostler_server::{ExportError, Exported, KeepError};
use serde_json::json;

use crate::{
    context::{Context, home},
    error::Error,
    exit::Exit,
    words::Key,
};

/// Write the journal as lines of JSON.
///
/// It needs no server and disturbs none.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Where to; '-' or nothing is standard output.
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let home = home()?;
    if arguments.file.as_os_str() == "-" {
        let mut stdout = BufWriter::new(io::stdout().lock());
        let exported =
            ostler_server::export(&home, &mut stdout).map_err(|error| not_exported(error, Error::Output))?;
        stdout.flush().map_err(Error::Output)?;
        return Ok(missing(context, &exported));
    }
    let path = arguments.file.clone();
    let failed = |source| Error::File { path: path.clone(), source };
    let mut file = BufWriter::new(File::create(&arguments.file).map_err(failed)?);
    let exported = ostler_server::export(&home, &mut file).map_err(|error| not_exported(error, failed))?;
    let lines = exported.lines;
    file.flush().and_then(|()| file.get_ref().sync_all()).map_err(failed)?;
    let path = arguments.file.display().to_string();
    context.print(&json!({ "path": path, "lines": lines }), |screen| {
        screen.text(&context.words.say(Key::Exported, &[("n", &lines), ("path", &path)]))
    })?;
    Ok(missing(context, &exported))
}

/// Says which results could not be written out whole.
fn missing(context: &Context, exported: &Exported) -> Exit {
    for file in &exported.missing {
        context.note(&context.words.say(Key::ExportedCut, &[("file", file)]));
    }
    if exported.missing.is_empty() { Exit::Done } else { Exit::Failed }
}

/// Whether the journal could not be read, or what was read not be written.
fn not_exported(error: KeepError, not_written: impl FnOnce(io::Error) -> Error) -> Error {
    match error {
        KeepError::Export(ExportError::Write(source)) => not_written(source),
        error => Error::Keep(error),
    }
}
