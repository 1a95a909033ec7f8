//! `ostler guide`: the text that teaches an agent how to ask.

use std::io::{self, Write};

use clap::{Args, ValueEnum};
use ostler_protocol::guide::{Language, text};

use crate::error::Error;

/// Print the short text that teaches an agent how to ask.
///
/// Add it to an agent's system prompt. It is at most 400 tokens long and names its version.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The language of the text.
    #[arg(long, value_enum, default_value = "en")]
    lang: Lang,
}

#[derive(Clone, Copy, ValueEnum)]
enum Lang {
    En,
    Ko,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let language = match arguments.lang {
        Lang::En => Language::English,
        Lang::Ko => Language::Korean,
    };
    io::stdout().write_all(text(language).as_bytes()).map_err(Error::Output)
}
