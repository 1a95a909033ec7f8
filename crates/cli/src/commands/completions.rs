//! `ostler completions`: what a shell has to know to complete a command line.

use std::io::{self, Write};

use clap::{Args, Command};
use clap_complete::Shell;

use crate::{error::Error, exit::Exit};

/// Print completions for a shell.
///
/// For bash: ostler completions bash > ~/.local/share/bash-completion/completions/ostler
#[derive(Args)]
pub(crate) struct Arguments {
    /// Which shell.
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, mut command: Command) -> Result<Exit, Error> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "ostler", &mut text);
    let mut stdout = io::stdout().lock();
    stdout.write_all(&text).and_then(|()| stdout.flush()).map_err(Error::Output)?;
    Ok(Exit::Done)
}
