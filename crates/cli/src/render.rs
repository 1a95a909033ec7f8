//! Makes something readable of what an agent prints: speech instead of JSON, one line per tool, and no escapes that
//! would control the terminal of whoever looks.

use ostler_agents::{Agent, Output};
use ostler_protocol::{
    shown::Shown,
    stream::{Piece, Table, Transcript},
};

use crate::{
    screen::{Screen, Style},
    veil::{Part, Veil},
    words::{Key, Words},
};

/// Turns bytes of one launch into what is shown.
#[derive(Debug)]
pub(crate) struct Renderer {
    words: Words,
    screen: Screen,
    reading: Reading,
    filter: Shown,
    /// Whether the last thing shown did not end its line.
    line_open: bool,
    /// Whether all of what a tool gave back is shown, not only its first line.
    is_full: bool,
    /// What keeps questions back that are shown as cards.
    veil: Option<Veil>,
    /// How much of the log was read.
    read: u64,
    /// Where in the log the line begins that is being read.
    line_at: u64,
}

/// How the bytes are read.
#[derive(Debug)]
enum Reading {
    /// They are shown as they are.
    Raw,
    /// They are text.
    Text,
    /// They are events of a CLI.
    Events(Transcript),
}

impl Renderer {
    /// For what this agent prints; without one it is text.
    pub(crate) fn new(words: Words, screen: Screen, agent: Option<&Agent>, raw: bool) -> Renderer {
        let table = agent.and_then(|agent| match &agent.output {
            Output::Table(toml) => Table::parse(toml).ok(),
            Output::Text => None,
        });
        let reading = match table {
            _ if raw => Reading::Raw,
            Some(table) => Reading::Events(Transcript::new(table)),
            None => Reading::Text,
        };
        Renderer {
            words,
            screen,
            reading,
            filter: Shown::new(screen.colours()),
            line_open: false,
            is_full: false,
            veil: None,
            read: 0,
            line_at: 0,
        }
    }

    /// From now on all of what tools give back is shown.
    pub(crate) fn show_tool_output(&mut self) {
        self.is_full = true;
    }

    /// From now on questions are kept back until it is decided whether they are shown. Bytes as they are stay so.
    pub(crate) fn keep_questions_back(&mut self) {
        self.veil = match self.reading {
            Reading::Raw => None,
            Reading::Text => Some(Veil::new(true)),
            Reading::Events(_) => Some(Veil::new(false)),
        };
    }

    /// What keeps questions back.
    pub(crate) fn veil(&mut self) -> Option<&mut Veil> {
        self.veil.as_mut()
    }

    /// What is shown of the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        if self.veil.is_some() {
            self.push_behind_veil(bytes);
            return self.ready();
        }
        let mut shown = Vec::new();
        match &mut self.reading {
            Reading::Raw => shown.extend_from_slice(bytes),
            Reading::Text => self.filter.push(bytes, &mut shown),
            Reading::Events(transcript) => {
                for piece in transcript.push(bytes) {
                    self.piece(&piece, &mut shown);
                }
            }
        }
        if let Some(last) = shown.last() {
            self.line_open = *last != b'\n';
        }
        shown
    }

    fn push_behind_veil(&mut self, bytes: &[u8]) {
        let Some(veil) = &mut self.veil else { return };
        let Reading::Events(transcript) = &mut self.reading else {
            veil.text(bytes, self.read);
            self.read += bytes.len() as u64;
            return;
        };
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.read += line.len() as u64;
            for piece in transcript.push(line) {
                veil_piece(veil, piece, self.line_at);
            }
            if line.ends_with(b"\n") {
                self.line_at = self.read;
            }
        }
    }

    /// There is no more of this launch; questions are still kept back.
    pub(crate) fn end_text(&mut self) -> Vec<u8> {
        if let Some(veil) = &mut self.veil {
            if let Reading::Events(transcript) = &mut self.reading {
                for piece in transcript.finish() {
                    veil_piece(veil, piece, self.line_at);
                }
            }
            veil.end_text();
        }
        (self.read, self.line_at) = (0, 0);
        self.ready()
    }

    /// What is shown of what is not kept back any more.
    pub(crate) fn ready(&mut self) -> Vec<u8> {
        let mut shown = Vec::new();
        while let Some(part) = self.veil.as_mut().and_then(Veil::next) {
            match part {
                Part::Text(text) => {
                    let before = shown.len();
                    self.filter.push(&text, &mut shown);
                    if let Some(last) = shown[before..].last() {
                        self.line_open = *last != b'\n';
                    }
                }
                Part::LineEnd => shown.extend_from_slice(&self.end_line()),
                Part::Piece(piece) => self.piece(&piece, &mut shown),
                Part::Block(_) => {}
            }
        }
        shown
    }

    /// What is left at the end of a launch. The last line is ended, so that what follows stands on its own.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let mut shown = self.end_text();
        if let Some(veil) = &mut self.veil {
            veil.let_go();
        }
        shown.extend_from_slice(&self.ready());
        if let Reading::Events(transcript) = &mut self.reading {
            for piece in transcript.finish() {
                self.piece(&piece, &mut shown);
            }
        }
        if !matches!(self.reading, Reading::Raw) {
            shown.extend_from_slice(&self.end_line());
        }
        shown
    }

    /// Ends the line that is open, if one is.
    pub(crate) fn end_line(&mut self) -> Vec<u8> {
        if std::mem::take(&mut self.line_open) { b"\n".to_vec() } else { Vec::new() }
    }

    fn piece(&mut self, piece: &Piece, shown: &mut Vec<u8>) {
        if !matches!(piece, Piece::Speech { .. }) {
            shown.extend_from_slice(&self.end_line());
        }
        match piece {
            Piece::Speech { text, fragment } => {
                self.text(text, shown);
                self.line_open = !text.ends_with('\n');
                if !fragment {
                    shown.extend_from_slice(&self.end_line());
                }
            }
            Piece::Tool { name, about } => {
                let about = about.as_deref().unwrap_or_default();
                self.line(Style::Dim, "› ", format!("{name}  {about}").trim_end(), shown);
            }
            Piece::ToolOutput { text } if self.is_full => {
                for line in text.lines() {
                    self.line(Style::Dim, "  ", line, shown);
                }
            }
            Piece::ToolOutput { text } => {
                let mut lines = text.lines().filter(|line| !line.trim().is_empty());
                let first = lines.next().unwrap_or_default();
                let more = lines.count();
                let more = match more {
                    0 => String::new(),
                    n => format!("  {}", self.words.say(Key::MoreLines, &[("n", &n)])),
                };
                self.line(Style::Dim, "  ", &format!("{first}{more}"), shown);
            }
            Piece::SubAgent { text } => {
                for line in text.lines() {
                    self.line(Style::Dim, "  ┊ ", line, shown);
                }
            }
            Piece::Line { bytes } => {
                self.filter.push(bytes, shown);
                shown.push(b'\n');
            }
        }
    }

    /// One line in a style; what an agent has to say in it is made harmless first.
    fn line(&mut self, style: Style, before: &str, text: &str, shown: &mut Vec<u8>) {
        let mut harmless = Vec::new();
        Shown::new(false).push(text.as_bytes(), &mut harmless);
        let text = format!("{before}{}", String::from_utf8_lossy(&harmless));
        shown.extend_from_slice(self.screen.style(style, &text).as_bytes());
        shown.push(b'\n');
    }

    fn text(&mut self, text: &str, shown: &mut Vec<u8>) {
        self.filter.push(text.as_bytes(), shown);
    }
}

/// Hands a piece of this line of the log over.
fn veil_piece(veil: &mut Veil, piece: Piece, at: u64) {
    let Piece::Speech { text, fragment } = piece else { return veil.piece(piece) };
    veil.text(text.as_bytes(), at);
    if !fragment {
        veil.end_line();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    fn render(agent: Option<&Agent>, raw: bool, pieces: &[&str]) -> String {
        let mut renderer = Renderer::new(Words::new(Language::En), Screen::plain(), agent, raw);
        let mut shown: Vec<u8> = pieces.iter().flat_map(|piece| renderer.push(piece.as_bytes())).collect();
        shown.extend(renderer.finish());
        String::from_utf8_lossy(&shown).into_owned()
    }

    #[test]
    fn text_is_shown_without_control() {
        assert_eq!(render(None, false, &["a\x1b]52;c;x\x07b\x1b[31mc"]), "abc\n");
        assert_eq!(render(None, true, &["a\x1b[31mc"]), "a\x1b[31mc");
    }

    #[test]
    fn events_are_shown_as_speech_and_tools() {
        let claude = Agent::builtin("claude");
        let stream = r#"{"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"Running it."},{"type":"tool_use","name":"Bash","input":{"command":"npm test"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"ok\u001b[2J\n41 passed\n"}]}}
{"type":"result","subtype":"success"}
"#;
        assert_eq!(
            render(claude.as_ref(), false, &[stream]),
            "Running it.\n› Bash  npm test\n  ok  (+1 more)\n"
        );
    }

    #[test]
    fn fragments_are_joined() {
        let gemini = Agent::builtin("gemini");
        let fragment = |text: &str| {
            format!("{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"{text}\",\"delta\":true}}\n")
        };
        let pieces =
            [fragment("To"), fragment("ol"), "{\"type\":\"tool_use\",\"tool_name\":\"ls\"}\n".into()];
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        assert_eq!(render(gemini.as_ref(), false, &pieces), "Tool\n› ls\n");
    }
}
