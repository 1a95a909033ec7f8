//! The agent CLIs whose tables come with Ostler.
//!
//! Only names and the text of the tables live here; nothing may depend on a CLI except through its table.

use alloc::{borrow::ToOwned, string::String};
use core::{fmt, str::FromStr};

/// An agent CLI with a built-in table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cli {
    /// `claude --output-format stream-json`.
    Claude,
    /// `codex exec --json`.
    Codex,
    /// `gemini -o stream-json`.
    Gemini,
    /// `opencode run --format json`.
    Opencode,
}

/// A name that no built-in table has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCli(pub String);

impl Cli {
    /// All of them.
    pub const ALL: [Cli; 4] = [Cli::Claude, Cli::Codex, Cli::Gemini, Cli::Opencode];

    /// The name as it is written on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Cli::Claude => "claude",
            Cli::Codex => "codex",
            Cli::Gemini => "gemini",
            Cli::Opencode => "opencode",
        }
    }

    /// The table's TOML text, a model for the table of another CLI.
    pub fn table_toml(self) -> &'static str {
        match self {
            Cli::Claude => include_str!("../../tables/claude.toml"),
            Cli::Codex => include_str!("../../tables/codex.toml"),
            Cli::Gemini => include_str!("../../tables/gemini.toml"),
            Cli::Opencode => include_str!("../../tables/opencode.toml"),
        }
    }
}

impl FromStr for Cli {
    type Err = UnknownCli;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Cli::ALL.into_iter().find(|cli| cli.name() == name).ok_or_else(|| UnknownCli(name.to_owned()))
    }
}

impl fmt::Display for UnknownCli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown agent CLI `{}`, expected one of", self.0)?;
        Cli::ALL.iter().try_for_each(|cli| write!(f, " {}", cli.name()))
    }
}

impl core::error::Error for UnknownCli {}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use expect_test::expect;

    use super::*;

    #[test]
    fn a_name_leads_back_to_its_cli() {
        for cli in Cli::ALL {
            assert_eq!(cli.name().parse(), Ok(cli));
        }
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let error = "Claude".parse::<Cli>().expect_err("names are lower case");
        expect!["unknown agent CLI `Claude`, expected one of claude codex gemini opencode"]
            .assert_eq(&error.to_string());
    }
}
