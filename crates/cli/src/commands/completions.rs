//! `ostler completions`: what a shell has to know to complete a command line.

use std::io::{self, Write};

use clap::Args;
use clap_complete::{Shell, env::Shells};

use crate::{completing, error::Error, exit::Exit};

/// Print completions for a shell.
///
/// The shell then asks ostler for commands, ids, names, agents and tasks. For bash, in ~/.bashrc:
/// source <(ostler completions bash). For zsh, in ~/.zshrc: source <(ostler completions zsh). For fish, in
/// ~/.config/fish/config.fish: ostler completions fish | source
#[derive(Args)]
pub(crate) struct Arguments {
    /// Which shell.
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Error> {
    let name = arguments.shell.to_string();
    let mut text = Vec::new();
    let shells = Shells::builtins();
    let shell = shells.completer(&name).expect("every shell that can be named can be completed");
    let written = shell.write_registration(completing::VARIABLE, "ostler", "ostler", "ostler", &mut text);
    let mut stdout = io::stdout().lock();
    written.and_then(|()| stdout.write_all(&text)).and_then(|()| stdout.flush()).map_err(Error::Output)?;
    Ok(Exit::Done)
}
