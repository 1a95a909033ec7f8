//! The agent CLIs whose tables come with Ostler.
//!
//! Only names and the text of the tables live here; nothing may depend on a CLI except through its table.

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
