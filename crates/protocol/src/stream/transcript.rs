//! A structured stream as a person reads it: who says what, and which tools are used.
//!
//! The command line shows these pieces where the bytes would be JSON. It uses the same tables as the parser and
//! decides nothing: what is heard and acted on comes from the parser alone.

use alloc::{borrow::ToOwned, string::String, vec::Vec};

use memchr::memchr;

use super::{Heard, Provenance, Table, decode, parser::read_json, tools};

/// Beyond this a line is not held; its beginning was no event that somebody could read anyway.
const LINE_BYTES_MAX: usize = 16 << 20;

/// One thing to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// The agent speaks.
    Speech {
        /// Its words.
        text: String,
        /// Whether more of the same message may follow.
        fragment: bool,
    },
    /// A tool begins.
    Tool {
        /// Its name.
        name: String,
        /// What it is used on, in one line.
        about: Option<String>,
    },
    /// What a tool printed.
    ToolOutput {
        /// All of it.
        text: String,
    },
    /// An agent that the agent started speaks.
    SubAgent {
        /// Its words.
        text: String,
    },
    /// A line that is no event: the CLI printed it as it is.
    Line {
        /// The bytes, without the line's end.
        bytes: Vec<u8>,
    },
}

/// Reads a structured stream in chunks of any size.
#[derive(Debug)]
pub struct Transcript {
    table: Table,
    line: Vec<u8>,
    too_long: bool,
}

impl Transcript {
    /// For a CLI with this table.
    pub fn new(table: Table) -> Transcript {
        Transcript { table, line: Vec::new(), too_long: false }
    }

    /// What the bytes complete, in order.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        while let Some(newline) = memchr(b'\n', bytes) {
            self.hold(&bytes[..newline]);
            self.end_line(&mut pieces);
            bytes = &bytes[newline + 1..];
        }
        self.hold(bytes);
        pieces
    }

    /// What is left at the end.
    pub fn finish(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if !self.line.is_empty() {
            self.end_line(&mut pieces);
        }
        pieces
    }

    fn hold(&mut self, part: &[u8]) {
        self.too_long |= self.line.len() + part.len() > LINE_BYTES_MAX;
        if self.too_long {
            self.line.clear();
        } else {
            self.line.extend_from_slice(part);
        }
    }

    fn end_line(&mut self, pieces: &mut Vec<Piece>) {
        let mut line = core::mem::take(&mut self.line);
        if !core::mem::take(&mut self.too_long) {
            match read_json(&line) {
                Some(event) => {
                    let heard = decode(&self.table, &event);
                    let (speech, rest): (Vec<Heard>, Vec<Heard>) = heard.into_iter().partition(is_speech);
                    pieces.extend(speech.into_iter().filter_map(piece));
                    // A CLI that reports a tool only when it is through says both in one event.
                    let began = tools(&self.table, &event).into_iter();
                    pieces.extend(
                        began.map(|tool| Piece::Tool { name: tool.name, about: tool.about.map(one_line) }),
                    );
                    pieces.extend(rest.into_iter().filter_map(piece));
                }
                None if line.trim_ascii().is_empty() => {}
                None => {
                    let text = line.strip_suffix(b"\r").unwrap_or(&line);
                    pieces.push(Piece::Line { bytes: text.to_vec() });
                }
            }
        }
        line.clear();
        self.line = line;
    }
}

fn is_speech(heard: &Heard) -> bool {
    matches!(heard, Heard::Text { provenance: Provenance::Speech, .. })
}

/// What is shown of something heard. The prompt is known to whoever reads, and facts are shown elsewhere.
fn piece(heard: Heard) -> Option<Piece> {
    let Heard::Text { provenance, text, fragment, .. } = heard else { return None };
    match provenance {
        Provenance::Speech => Some(Piece::Speech { text, fragment }),
        Provenance::ToolOutput => Some(Piece::ToolOutput { text }),
        Provenance::SubAgent => Some(Piece::SubAgent { text }),
        Provenance::Prompt => None,
    }
}

fn one_line(text: String) -> String {
    if text.contains(char::is_control) {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        line.replace(char::is_control, " ").trim().to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use expect_test::{Expect, expect};

    use super::*;
    use crate::stream::Cli;

    /// The pieces of a stream, which do not depend on how it is cut.
    #[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
    fn check(cli: Cli, stream: &str, expect: Expect) {
        let pieces = |size: usize| {
            let mut transcript = Transcript::new(Table::builtin(cli));
            let mut pieces = Vec::new();
            for chunk in stream.as_bytes().chunks(size) {
                pieces.extend(transcript.push(chunk));
            }
            pieces.extend(transcript.finish());
            pieces
        };
        let whole = pieces(stream.len());
        for size in [1, 7, 64] {
            assert_eq!(pieces(size), whole, "{size}");
        }
        expect.assert_eq(&whole.iter().fold(String::new(), |all, piece| format!("{all}{piece:?}\n")));
    }

    #[test]
    fn claude_speaks_and_uses_tools() {
        check(
            Cli::Claude,
            r#"warning: old
{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"Running it."},{"type":"tool_use","name":"Bash","input":{"command":"npm test\nnpm run lint"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"ok\n41 passed"}]}}
{"type":"assistant","parent_tool_use_id":"t","message":{"model":"m","content":[{"type":"text","text":"I am a helper."}]}}
{"type":"result","subtype":"success","result":"Running it."}"#,
            expect![[r#"
                Line { bytes: [119, 97, 114, 110, 105, 110, 103, 58, 32, 111, 108, 100] }
                Speech { text: "Running it.", fragment: false }
                Tool { name: "Bash", about: Some("npm test") }
                ToolOutput { text: "ok\n41 passed" }
                SubAgent { text: "I am a helper." }
            "#]],
        );
    }

    #[test]
    fn the_others_do_so_too() {
        check(
            Cli::Codex,
            r#"{"type":"item.started","item":{"type":"command_execution","command":"ls"}}
{"type":"item.completed","item":{"type":"command_execution","command":"ls","aggregated_output":"a\n"}}
{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}
"#,
            expect![[r#"
                Tool { name: "command_execution", about: Some("ls") }
                ToolOutput { text: "a\n" }
                Speech { text: "Done.", fragment: false }
            "#]],
        );
        check(
            Cli::Gemini,
            r#"{"type":"message","role":"assistant","content":"To","delta":true}
{"type":"message","role":"assistant","content":"ol","delta":true}
{"type":"tool_use","tool_name":"run_shell_command","parameters":{"command":"ls"}}
"#,
            expect![[r#"
                Speech { text: "To", fragment: true }
                Speech { text: "ol", fragment: true }
                Tool { name: "run_shell_command", about: Some("ls") }
            "#]],
        );
        check(
            Cli::Opencode,
            r#"{"type":"tool_use","sessionID":"s","part":{"tool":"bash","state":{"input":{"command":"ls"},"output":"a"}}}
"#,
            expect![[r#"
                Tool { name: "bash", about: Some("ls") }
                ToolOutput { text: "a" }
            "#]],
        );
    }

    #[test]
    fn a_line_without_end_is_not_held() {
        let mut transcript = Transcript::new(Table::builtin(Cli::Claude));
        let long = "x".repeat(LINE_BYTES_MAX + 1);
        assert!(transcript.push(long.as_bytes()).is_empty());
        assert!(transcript.push(b"\nhello\n") == [Piece::Line { bytes: b"hello".to_vec() }]);
    }
}
