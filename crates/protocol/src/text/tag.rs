//! Recognises the lines that begin or end a message.

use crate::{name::AgentName, thin::Thin};

/// What a line begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Opening<'a> {
    pub(crate) tag: Tag,
    /// The nonce behind `n=`.
    pub(crate) nonce: Option<&'a str>,
}

/// The beginning of a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tag {
    Block(BlockTag),
    Office(OfficeTag, Target),
    Phase(u32),
    Thin(Thin),
    /// A question of the thin dialect, by its word, that cannot be understood.
    Malformed(&'static str),
}

/// Messages of `key: value` lines that need their closing tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockTag {
    DependencyRequest,
    UserQuestion,
    Error,
}

/// Messages of free text that end at the next tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OfficeTag {
    AskUser,
    Invoke,
    DeliverResult,
    StepComplete,
}

/// Whom an office message is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// Nobody is named.
    None,
    Agent(AgentName),
    /// What is named can be nobody's name.
    Invalid,
}

/// The name in a closing tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    Block(BlockTag),
    Office(OfficeTag),
}

impl BlockTag {
    const ALL: [BlockTag; 3] = [BlockTag::DependencyRequest, BlockTag::UserQuestion, BlockTag::Error];

    pub(crate) fn name(self) -> &'static str {
        match self {
            BlockTag::DependencyRequest => "DEPENDENCY_REQUEST",
            BlockTag::UserQuestion => "USER_QUESTION",
            BlockTag::Error => "ERROR",
        }
    }
}

impl OfficeTag {
    const ALL: [OfficeTag; 4] =
        [OfficeTag::AskUser, OfficeTag::Invoke, OfficeTag::DeliverResult, OfficeTag::StepComplete];

    pub(crate) fn name(self) -> &'static str {
        match self {
            OfficeTag::AskUser => "ASK_USER",
            OfficeTag::Invoke => "INVOKE",
            OfficeTag::DeliverResult => "DELIVER_RESULT",
            OfficeTag::StepComplete => "STEP_COMPLETE",
        }
    }

    pub(crate) fn has_target(self) -> bool {
        matches!(self, OfficeTag::Invoke | OfficeTag::DeliverResult)
    }
}

impl Closing {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Closing::Block(tag) => tag.name(),
            Closing::Office(tag) => tag.name(),
        }
    }
}

/// Space that may stand around a tag; some programs begin their output with a byte order mark.
pub(crate) fn trim(line: &str) -> &str {
    line.trim_matches(is_space)
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// What the line begins, if it is a tag and nothing else.
pub(crate) fn opening(line: &str) -> Option<Opening<'_>> {
    let line = trim(line);
    match line.as_bytes().first()? {
        b'[' => bracket(line.strip_prefix('[')?.strip_suffix(']')?),
        b'=' => phase(line.strip_prefix("===")?.strip_suffix("===")?),
        _ => Thin::parse_line(line).map(|thin| Opening { tag: Tag::Thin(thin), nonce: None }),
    }
}

/// What the line begins if somebody with a thin role prints it: they wait for an answer to what they got wrong, too.
pub(crate) fn malformed(line: &str) -> Option<Opening<'_>> {
    let (word, _) = trim(line).split_once(':')?;
    let word = Thin::QUESTIONS.into_iter().find(|it| *it == word)?;
    Some(Opening { tag: Tag::Malformed(word), nonce: None })
}

fn bracket(inner: &str) -> Option<Opening<'_>> {
    let (inner, nonce) = split_nonce(inner);
    if let Some(tag) = BlockTag::ALL.into_iter().find(|tag| tag.name() == inner) {
        return Some(Opening { tag: Tag::Block(tag), nonce });
    }
    let (name, target) = match inner.split_once(':').map(|(name, target)| (name, trim(target))) {
        None | Some((_, "")) => (inner.trim_end_matches(':'), Target::None),
        Some((name, target)) => (name, target.parse().map_or(Target::Invalid, Target::Agent)),
    };
    let tag = OfficeTag::ALL.into_iter().find(|tag| tag.name() == name)?;
    (tag.has_target() || target == Target::None).then_some(Opening { tag: Tag::Office(tag, target), nonce })
}

fn phase(inner: &str) -> Option<Opening<'_>> {
    let (inner, nonce) = split_nonce(trim(inner));
    let number = inner.strip_prefix("PHASE")?.strip_suffix("COMPLETE")?;
    let is_apart = number.starts_with([' ', '\t']) && number.ends_with([' ', '\t']);
    let number = is_apart.then(|| number.trim())?;
    let number = number.bytes().all(|b| b.is_ascii_digit()).then(|| number.parse().ok())??;
    Some(Opening { tag: Tag::Phase(number), nonce })
}

/// Takes ` n=…` off the end.
fn split_nonce(inner: &str) -> (&str, Option<&str>) {
    match inner.rsplit_once([' ', '\t']) {
        Some((before, last)) if last.starts_with("n=") => (before.trim_end(), last.strip_prefix("n=")),
        _ => (inner, None),
    }
}

/// The closing tag that the line so far consists of, with the nonce that it does not need but models repeat.
pub(crate) fn closing(line: &[u8]) -> Option<(Closing, Option<&str>)> {
    let inner = trim(core::str::from_utf8(line).ok()?).strip_prefix("[/")?.strip_suffix(']')?;
    let (name, nonce) = split_nonce(inner);
    if let Some(tag) = BlockTag::ALL.into_iter().find(|tag| tag.name() == name) {
        return Some((Closing::Block(tag), nonce));
    }
    let (name, target) = name.split_once(':').map_or((name, None), |(name, target)| (name, Some(target)));
    let tag = OfficeTag::ALL.into_iter().find(|tag| tag.name() == name)?;
    (tag.has_target() || target.is_none()).then_some((Closing::Office(tag), nonce))
}
