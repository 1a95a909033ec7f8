//! What the parser hands out: one [`Item`] per signal, fault, quotation or fact, with its place in the stream.
//!
//! These are plain data that the rest of Ostler passes around and writes down; nothing here parses.

use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};

use serde::{Serialize, Serializer};

use crate::{
    fact::Fact,
    fault::{Fault, Warning},
    mark::Mark,
    signal::Signal,
};

/// One thing heard on a stream.
///
/// `(offset, index)` identifies it within one launch of an agent, whatever the chunks it arrived in.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Offset of the raw line that holds the first character.
    pub offset: u64,
    /// Offset just behind the last byte that belongs to it.
    pub end: u64,
    /// Number among the items that begin in the same raw line.
    pub index: u32,
    /// Who said it.
    pub trust: Trust,
    /// Where the same also stands, so that somebody else may have written it.
    pub mark: Option<Mark>,
    /// What ended it.
    pub ended_by: EndedBy,
    /// The thing itself.
    pub what: What,
    /// Keys of a block that no rule knows, kept as they stood.
    pub extra: BTreeMap<String, String>,
    /// What was odd about it without making it invalid.
    pub warnings: Vec<Warning>,
}

/// The content of an [`Item`].
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A protocol message, spoken.
    Signal(Signal),
    /// A protocol message that could not be understood.
    Fault(Fault),
    /// A protocol message that was shown, not spoken: recorded, never acted on.
    Quoted(Quoted),
    /// Something the agent's CLI reports about itself in a structured stream.
    Fact(Fact),
}

/// A signal or fault that stands where nobody speaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Quoted {
    /// Where it stood.
    pub source: QuoteSource,
    /// What it would have been.
    pub what: Box<What>,
}

/// Where a quoted block stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QuoteSource {
    /// Inside a Markdown code fence of an assistant message.
    Fence,
    /// In what a tool printed.
    ToolOutput,
    /// In what a sub-agent said.
    SubAgent,
    /// In an echo of the prompt.
    Prompt,
}

/// Who said it, from most to least trusted. No value is an authority: a signal only ever asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Over the session's own socket.
    Channel,
    /// Assistant text of a structured stream.
    Speech,
    /// Raw output with the session's nonce.
    Tagged,
    /// Raw output.
    Plain,
    /// An event of the CLI itself.
    Stream,
    /// Shown, not said.
    Quoted,
}

/// What made an item complete. Recorded, so that a replay with the same silences gives the same items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// Its closing tag.
    ClosingTag,
    /// The end of its line.
    Line,
    /// A line that does not belong to it.
    NextLine,
    /// The opening tag of another message.
    NextTag,
    /// A closing tag that is not its own.
    WrongTag,
    /// The end of the code fence it stood in.
    Fence,
    /// The end of the assistant message.
    Message,
    /// The end of the stream.
    Stream,
    /// The end of the stream of a process that was killed: perhaps it had more to say.
    CutOff,
    /// The screen of a terminal that was begun anew.
    Screen,
    /// A silence.
    Silence,
    /// A limit on lines or bytes.
    Limit,
}

impl What {
    /// The item's kind as it is written in JSON.
    pub fn kind(&self) -> &'static str {
        match self {
            What::Signal(signal) => signal.kind(),
            What::Fault(_) => "fault",
            What::Quoted(_) => "quoted",
            What::Fact(fact) => fact.kind(),
        }
    }
}

impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Wire {
            kind: self.what.kind(),
            offset: self.offset,
            end: self.end,
            index: self.index,
            trust: self.trust,
            mark: self.mark.as_ref(),
            ended_by: self.ended_by,
            fields: (&self.what).into(),
            extra: &self.extra,
            warnings: &self.warnings,
        }
        .serialize(serializer)
    }
}

/// The JSON shape of an item: its place first, then the fields of its kind on the same level.
#[derive(Serialize)]
struct Wire<'a> {
    kind: &'static str,
    offset: u64,
    end: u64,
    index: u32,
    trust: Trust,
    #[serde(skip_serializing_if = "Option::is_none")]
    mark: Option<&'a Mark>,
    ended_by: EndedBy,
    #[serde(flatten)]
    fields: Fields<'a>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    extra: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [Warning],
}

#[derive(Serialize)]
#[serde(untagged)]
enum Fields<'a> {
    Signal(&'a Signal),
    Fault(&'a Fault),
    Quoted { source: QuoteSource, quoted: Box<Inner<'a>> },
    Fact(&'a Fact),
}

/// What a quotation holds, with its kind beside its fields.
#[derive(Serialize)]
struct Inner<'a> {
    kind: &'static str,
    #[serde(flatten)]
    fields: Fields<'a>,
}

impl<'a> From<&'a What> for Fields<'a> {
    fn from(what: &'a What) -> Self {
        match what {
            What::Signal(signal) => Fields::Signal(signal),
            What::Fault(fault) => Fields::Fault(fault),
            What::Fact(fact) => Fields::Fact(fact),
            What::Quoted(quoted) => Fields::Quoted {
                source: quoted.source,
                quoted: Box::new(Inner { kind: quoted.what.kind(), fields: (&*quoted.what).into() }),
            },
        }
    }
}
