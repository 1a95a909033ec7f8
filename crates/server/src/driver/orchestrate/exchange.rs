//! What a loop exchanges, beside what a main agent would have exchanged that hands out whole prompts and reads whole
//! reports. Both are kept as files and counted when the loop is over, so that what is saved is measured.

use std::{
    fs::{self, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use ostler_agents::Output;
use ostler_engine::{RunId, SessionId};
use ostler_files::{FILE_BYTES_MAX, private};
use ostler_protocol::stream::{Piece, Table, Transcript};
use ostler_shim::{ERR, OUT};
use serde::{Deserialize, Serialize};

use crate::home::{Home, private_directory, write_private};

/// So much of the end of what an agent printed is read.
const SAID_BYTES_MAX: u64 = 1 << 20;

/// What the loop itself said and read.
const THIN: &str = "thin.txt";

/// What it would have been otherwise, a file for each call.
const FULL: &str = "full";

/// What came of counting.
const COUNTED: &str = "counted.json";

/// How many tokens there were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub(crate) calls: u64,
    /// Nothing, if this build cannot count.
    pub(crate) tokens: Option<Tokens>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tokens {
    pub(crate) tokenizer: String,
    pub(crate) thin: u64,
    pub(crate) full: u64,
}

/// A call of somebody, as a main agent makes it that knows only the long form.
pub(super) struct Call<'a> {
    pub(super) run: RunId,
    pub(super) task: &'a str,
    pub(super) agent: &'a str,
    pub(super) title: &'a str,
    pub(super) prompt: &'a str,
    pub(super) report: &'a str,
}

/// Where it is kept.
pub(super) struct Exchange {
    directory: PathBuf,
}

impl Exchange {
    pub(super) fn new(home: &Home, run: RunId) -> Exchange {
        Exchange { directory: home.exchange(run) }
    }

    /// Something that the loop said or read. What cannot be kept is missing here and nowhere else.
    pub(super) fn line(&self, line: &str) {
        let write = || {
            private_directory(&self.directory)?;
            let mut file =
                private::open_or_create(self.directory.join(THIN), OpenOptions::new().append(true))?;
            file.write_all(format!("{line}\n").as_bytes())
        };
        write().ok();
    }

    /// A call that is over. One that is reported again after a crash is the same.
    pub(super) fn call(&self, call: &Call<'_>) {
        let Call { run, task, agent, title, prompt, report } = call;
        let text = format!(
            "Task({{\n  subagent_type: \"{agent}\",\n  description: \"{task}: {title}\",\n  prompt: \"\"\"\n{prompt}\"\"\"\n}})\n\n{report}\n"
        );
        let folder = self.directory.join(FULL);
        let write = || {
            private_directory(&folder)?;
            let path = folder.join(format!("{task}-{run}.txt"));
            // Nobody waits for the disk: what a power cut takes is a transcript.
            let mut file = private::open_or_create(&path, OpenOptions::new().write(true).truncate(false))?;
            // Only after it is known to be ours.
            file.set_len(0)?;
            file.write_all(text.as_bytes())
        };
        write().ok();
    }

    /// Counts both. It takes its time.
    pub(super) fn count(&self) {
        let thin = private::read_text(self.directory.join(THIN), FILE_BYTES_MAX).unwrap_or_default();
        let files = fs::read_dir(self.directory.join(FULL)).into_iter().flatten().flatten();
        let full: Vec<PathBuf> =
            files.map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == "txt")).collect();
        let calls = full.len() as u64;
        let texts = full.iter().filter_map(|path| private::read_text(path, FILE_BYTES_MAX).ok());
        let counted = Counted { calls, tokens: tokens(&thin, texts) };
        let write = || {
            private_directory(&self.directory)?;
            write_private(&self.directory.join(COUNTED), &serde_json::to_vec(&counted)?)
        };
        write().ok();
    }
}

/// What was counted in a directory, if that is done.
pub(crate) fn counted(directory: &Path) -> Option<Counted> {
    serde_json::from_slice(&private::read(directory.join(COUNTED), FILE_BYTES_MAX).ok()?).ok()
}

#[cfg(feature = "tokens")]
fn tokens(thin: &str, full: impl Iterator<Item = String>) -> Option<Tokens> {
    // Its words take up more memory than all else together, so nobody keeps them.
    let words = tiktoken_rs::o200k_base().ok()?;
    let count = |text: &str| words.count_ordinary(text) as u64;
    let full = full.map(|text| count(&text)).sum();
    Some(Tokens { tokenizer: "o200k_base".to_owned(), thin: count(thin), full })
}

#[cfg(not(feature = "tokens"))]
fn tokens(_: &str, _: impl Iterator<Item = String>) -> Option<Tokens> {
    None
}

/// What an agent said at last: its last message, where its CLI prints events, and else all that it printed.
pub(in crate::driver) fn said(home: &Home, session: SessionId, output: &Output) -> String {
    let bytes = last(home, session, OUT);
    match output {
        Output::Text => String::from_utf8_lossy(&bytes).trim().to_owned(),
        Output::Table(toml) => {
            Table::parse(toml).map(|table| last_message(table, &bytes)).unwrap_or_default()
        }
    }
}

/// What an agent complained about at last.
pub(in crate::driver) fn complaint(home: &Home, session: SessionId) -> String {
    String::from_utf8_lossy(&last(home, session, ERR)).trim().to_owned()
}

/// The end of a file of the last launch. Secrets are masked in it.
fn last(home: &Home, session: SessionId, name: &str) -> Vec<u8> {
    let entries = fs::read_dir(home.session(session)).into_iter().flatten().flatten();
    let launches = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let launch = launches.max();
    launch.and_then(|launch| read(&home.launch(session, launch).join(name)).ok()).unwrap_or_default()
}

/// The end of a file, from the beginning of a line.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut file = private::open(path)?;
    let more = file.metadata()?.len().saturating_sub(SAID_BYTES_MAX);
    file.seek(SeekFrom::Start(more))?;
    file.take(SAID_BYTES_MAX).read_to_end(&mut bytes)?;
    if more > 0 {
        let begins = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.drain(..begins);
    }
    Ok(bytes)
}

fn last_message(table: Table, bytes: &[u8]) -> String {
    let mut transcript = Transcript::new(table);
    let mut pieces = transcript.push(bytes);
    pieces.extend(transcript.finish());
    let (mut message, mut goes_on) = (String::new(), false);
    for piece in pieces {
        if let Piece::Speech { text, fragment } = piece {
            if !goes_on {
                message.clear();
            }
            message.push_str(&text);
            goes_on = fragment;
        } else {
            goes_on = false;
        }
    }
    message.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use ostler_agents::Agent;

    use super::*;

    #[test]
    fn the_report_of_an_agent_is_its_last_message() {
        let Some(Output::Table(toml)) = Agent::builtin("gemini").map(|it| it.output) else {
            panic!("gemini prints events");
        };
        let speech = |text: &str| {
            format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"{text}\",\"delta\":true}}\n")
        };
        let log = speech("I begin.")
            + "{\"type\":\"tool_use\",\"tool_name\":\"ls\"}\n"
            + &speech("안녕, ")
            + &speech("done");
        let table = Table::parse(&toml).expect("a table of ours");
        assert_eq!(last_message(table, log.as_bytes()), "안녕, done");
    }

    #[cfg(feature = "tokens")]
    #[test]
    fn tokens_are_those_of_a_real_tokenizer() {
        let full = ["hello world".to_owned(), "안녕하세요".to_owned()];
        let counted = tokens("RESOLVE_NEXT\nREADY:T1.3,T1.4\n", full.into_iter()).expect("a tokenizer");
        assert_eq!((counted.thin, counted.full), (14, 4));
    }
}
