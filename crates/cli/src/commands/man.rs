//! `ostler man`: the manual pages, made from the definitions of the commands.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, Command};

use crate::{error::Error, exit::Exit};

/// Print the manual page, or write the pages of all commands into a directory.
///
/// To read it: ostler man | man -l -
#[derive(Args)]
pub(crate) struct Arguments {
    /// Write ostler.1 and a page for every command here.
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, command: Command) -> Result<Exit, Error> {
    if let Some(directory) = &arguments.directory {
        fs::create_dir_all(directory)
            .and_then(|()| clap_mangen::generate_to(command, directory))
            .map_err(|source| Error::File { path: directory.clone(), source })?;
        return Ok(Exit::Done);
    }
    let mut page = Vec::new();
    let mut stdout = io::stdout().lock();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .and_then(|()| stdout.write_all(&page))
        .and_then(|()| stdout.flush())
        .map_err(Error::Output)?;
    Ok(Exit::Done)
}
