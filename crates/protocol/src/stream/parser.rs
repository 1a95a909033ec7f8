//! Reads a structured stream: JSON lines to text with its provenance, text to messages.
//!
//! What is no JSON is log. Speech goes to one text parser, which joins fragments; what was shown to somebody goes
//! to another, in which every message is a quotation.

use alloc::{borrow::Cow, string::String, vec::Vec};

use memchr::{memchr, memchr2};
use serde_json::Value;

use super::{Heard, Provenance, Table, decode, heard_inputs::HeardInputs, tools};
use crate::{
    escape::{ESC, strip_line},
    fact::{AgentSession, Fact},
    fault::{Fault, FaultReason},
    item::{EndedBy, QuoteSource, Trust, What},
    mark::MarkSource,
    name::Nonce,
    parser::Settings,
    sink::Sink,
    text::{Mode, Place, TextParser},
};

/// Reads one structured stream.
#[derive(Debug)]
pub(crate) struct StreamParser {
    table: Table,
    line_bytes_max: usize,
    /// Offset of the next byte.
    position: u64,
    /// Offset of the current line.
    line_start: u64,
    /// The current line as far as it came with earlier chunks.
    line: Vec<u8>,
    /// Whether the current line is too long to be held.
    too_long: bool,
    speech: TextParser,
    /// Where the last fragment stood of a message that may go on.
    speaking: Option<Place>,
    quoted: TextParser,
    /// The session last reported; some CLIs name it in every event.
    session: Option<AgentSession>,
    inputs: HeardInputs,
}

impl StreamParser {
    pub(crate) fn new(table: Table, settings: Settings) -> Self {
        StreamParser {
            table,
            line_bytes_max: settings.limits.line_bytes,
            position: 0,
            line_start: 0,
            line: Vec::new(),
            too_long: false,
            speech: TextParser::new(Mode::Speech, settings.clone()),
            speaking: None,
            quoted: TextParser::new(Mode::Quoted(QuoteSource::ToolOutput), settings),
            session: None,
            inputs: HeardInputs::default(),
        }
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8], sink: &mut Sink) {
        while let Some(newline) = memchr(b'\n', bytes) {
            self.end_line(&bytes[..newline], sink);
            bytes = &bytes[newline + 1..];
        }
        self.hold(bytes);
    }

    pub(crate) fn finish(&mut self, ended_by: EndedBy, sink: &mut Sink) {
        if self.position > self.line_start {
            self.end_line(&[], sink);
        }
        self.end_speech(ended_by, sink);
    }

    pub(crate) fn set_nonce(&mut self, nonce: &Nonce) {
        self.quoted.set_nonce(nonce.clone());
    }

    pub(crate) fn buffered_bytes(&self) -> usize {
        self.line.len() + self.speech.buffered_bytes() + self.quoted.buffered_bytes()
    }

    /// Keeps a part of the current line for later, unless the line is too long.
    fn hold(&mut self, part: &[u8]) {
        self.position += part.len() as u64;
        self.too_long |= self.line.len() + part.len() > self.line_bytes_max;
        if self.too_long {
            self.line.clear();
        } else {
            self.line.extend_from_slice(part);
        }
    }

    /// Ends the current line, of which `last` is the part in the chunk at hand.
    fn end_line(&mut self, last: &[u8], sink: &mut Sink) {
        if self.line.is_empty() && !self.too_long && last.len() <= self.line_bytes_max {
            self.position += last.len() as u64;
            self.hear_line(last, sink);
        } else {
            self.hold(last);
            let mut line = core::mem::take(&mut self.line);
            if self.too_long {
                self.report(What::Fault(Fault::of_line(FaultReason::LineTooLong)), sink);
            } else {
                self.hear_line(&line, sink);
            }
            line.clear();
            self.line = line;
        }
        self.too_long = false;
        self.position += 1;
        self.line_start = self.position;
    }

    fn hear_line(&mut self, line: &[u8], sink: &mut Sink) {
        let Some(event) = read_json(line) else { return };
        let heard = decode(&self.table, &event);
        let is_fragment = |heard: &Heard| {
            matches!(heard, Heard::Text { provenance: Provenance::Speech, fragment: true, .. })
        };
        if !heard.is_empty() && !heard.iter().any(is_fragment) {
            self.end_speech(EndedBy::Message, sink);
        }
        self.inputs.hear(&self.table, &event);
        // Items come in the order of their places, and a message that goes on began before this line.
        if self.speaking.is_none() {
            for proof in self.inputs.take_proofs() {
                self.report(What::Fact(Fact::InputHeard(proof)), sink);
            }
        }
        sink.recent.begin(tools(&self.table, &event));
        for heard in heard {
            match heard {
                Heard::MessageEnd => {}
                Heard::Fact(fact) => self.hear_fact(fact, sink),
                Heard::Text { provenance: Provenance::Speech, text, fragment, .. } => {
                    self.hear_speech(&text, fragment, sink);
                }
                Heard::Text { provenance, text, tool, .. } => {
                    self.hear_quoted(provenance, text, tool.as_deref(), sink);
                }
            }
        }
        if self.speech.unfinished_line() == Some(self.line_start) {
            sink.hold(self.line_start);
        }
    }

    fn hear_fact(&mut self, fact: Fact, sink: &mut Sink) {
        if let Fact::AgentSession(session) = &fact {
            if self.session.as_ref() == Some(session) {
                return;
            }
            self.session = Some(session.clone());
        }
        self.report(What::Fact(fact), sink);
    }

    fn hear_speech(&mut self, text: &str, fragment: bool, sink: &mut Sink) {
        let place = self.place();
        self.speech.push(text.as_bytes(), place, sink);
        self.speaking = Some(place);
        if !fragment {
            self.end_speech(EndedBy::Message, sink);
        }
    }

    fn hear_quoted(&mut self, provenance: Provenance, text: String, tool: Option<&str>, sink: &mut Sink) {
        let place = self.place();
        let (source, shown) = match provenance {
            Provenance::ToolOutput => (QuoteSource::ToolOutput, Some(MarkSource::ToolOutput)),
            Provenance::SubAgent => (QuoteSource::SubAgent, Some(MarkSource::SubAgent)),
            // Whoever started the agent knows what it was told, and what of it was Ostler's own guide.
            Provenance::Prompt | Provenance::Speech => (QuoteSource::Prompt, None),
        };
        self.quoted.set_mode(Mode::Quoted(source));
        self.quoted.push(text.as_bytes(), place, sink);
        self.quoted.end(EndedBy::Message, place, sink);
        if let Some(source) = shown {
            sink.recent.keep(source, tool, text);
        }
    }

    /// Text in the current line stands there.
    fn place(&self) -> Place {
        Place::Within { offset: self.line_start, end: self.position }
    }

    fn end_speech(&mut self, ended_by: EndedBy, sink: &mut Sink) {
        if let Some(place) = self.speaking.take() {
            self.speech.end(ended_by, place, sink);
        }
    }

    /// Records what the current line holds beside text.
    fn report(&self, what: What, sink: &mut Sink) {
        sink.report(self.line_start, self.position, Trust::Stream, what);
    }
}

/// The event on a line. Under a terminal escapes may stand around it; bytes that are no UTF-8 are replaced.
pub(super) fn read_json(line: &[u8]) -> Option<Value> {
    let line: Cow<'_, [u8]> = match memchr2(ESC, b'\r', line) {
        Some(_) => strip_line(line).into(),
        None => line.into(),
    };
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line).trim_ascii();
    if !line.starts_with(b"{") {
        return None;
    }
    let line = String::from_utf8_lossy(line);
    serde_json::from_str(&line).ok().or_else(|| serde_json::from_str(&mend_surrogates(&line)?).ok())
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Replaces escapes of half a character, which JavaScript writes where a text was cut in the middle of one, and which
/// no reader of JSON takes. Nothing if there is none.
fn mend_surrogates(json: &str) -> Option<String> {
    let mut mended = String::with_capacity(json.len());
    let mut rest = json;
    let mut found = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let length = match (surrogate(escape), surrogate(escape.get(6..).unwrap_or_default())) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(_), _) => {
                found = true;
                mended.push_str("\\ufffd");
                rest = &escape[6..];
                continue;
            }
            // Whatever is escaped, it is one more character.
            (None, _) => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        let (escape, behind) = escape.split_at(length);
        mended.push_str(escape);
        rest = behind;
    }
    mended.push_str(rest);
    found.then_some(mended)
}

/// The code of an escaped half of a character.
fn surrogate(escape: &str) -> Option<u32> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok().filter(|code| (0xd800..0xe000).contains(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_is_replaced() {
        let check =
            |json: &str, mended: Option<&str>| assert_eq!(mend_surrogates(json).as_deref(), mended, "{json}");
        check(r#""a\ud83d""#, Some(r#""a\ufffd""#));
        check(r#""\uDE00 \ud83d\ude00""#, Some(r#""\ufffd \ud83d\ude00""#));
        check(r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#));
        check(r#""\\ud83d \n \u00e9""#, None);
        check("\\", None);
        check("\\u12", None);
    }

    #[test]
    fn an_event_is_read_around_what_is_odd() {
        for line in
            ["{\"a\":1}", "\u{feff} {\"a\":1}\r", "\x1b[0m{\"a\":1}\x1b[?25h", "{\"a\":1,\"b\":\"\\ud800\"}"]
        {
            assert_eq!(
                read_json(line.as_bytes()).map(|event| event["a"].clone()),
                Some(1.into()),
                "{line:?}"
            );
        }
        for line in ["", "text", "[1]", "{", "{\"a\":}", "{\"\\ud800"] {
            assert_eq!(read_json(line.as_bytes()), None, "{line:?}");
        }
    }
}
