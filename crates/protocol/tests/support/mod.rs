//! What must hold for any input whatever: the laws that the fuzz targets try to break and that every committed
//! seed is held to.
//!
//! Each law takes raw bytes. The first three choose how the rest is parsed, so that a fuzzer can vary that too:
//! flags, the greatest length of a chunk, and where a silence falls.

use std::{collections::BTreeSet, fmt::Debug, sync::LazyLock, time::Duration};

use ostler_protocol::{
    Format, Item, Limits, Parser, Settings, Trust, What,
    fault::Severity,
    guard_task,
    reply::Reply,
    stream::{Cli, Table},
    thin::Thin,
};

mod events;

/// The nonce of cases that have one.
const NONCE: &str = "k7Qx";
const SMALL: Limits = Limits { line_bytes: 160, block_bytes: 120, block_lines: 5 };
/// What a parser may hold beyond its limits: the nonce's place and the last bytes before a cut.
const SLACK_BYTES: usize = 512;

/// What an agent was shown lately.
const RECENT_BYTES: usize = 256 << 10;
const CHUNK_MAX: usize = 32;
const BYTEWISE_MAX: usize = 256;
const FRAGMENTS_MAX: usize = 16;

const WITH_NONCE: u8 = 1;
const THIN_ROLE: u8 = 2;
const SMALL_LIMITS: u8 = 4;
const SILENCE: u8 = 8;
const LONG_SILENCE: u8 = 16;
/// The bytes are a stream; without this flag they are put into the events of one.
const AS_STREAM: u8 = 32;
/// The bytes are drawn on a terminal.
const TERMINAL: u8 = 128;

/// Bytes and how they are to be parsed.
struct Case<'a> {
    settings: Settings,
    chunk_max: usize,
    as_stream: bool,
    /// A silence of that length, and after how many bytes it falls.
    silence: Option<(Duration, usize)>,
    body: &'a [u8],
}

/// Raw text gives the same items whatever the cuts, in bounded memory, each in its place.
pub fn text(data: &[u8]) {
    let Some(case) = Case::read(data) else { return };
    for item in case.check(&Format::Text) {
        assert!(
            matches!(item.trust, Trust::Plain | Trust::Tagged),
            "raw text is neither speech nor an event: {item:?}"
        );
        assert!(
            item.trust == Trust::Plain || case.settings.nonce.is_some(),
            "nobody can be vouched for without a nonce: {item:?}"
        );
    }
}

/// A structured stream gives the same items whatever the cuts, and only speech ever becomes a signal.
pub fn stream(cli: Cli, data: &[u8]) {
    // Read once: a fuzzer comes here a million times.
    static TABLES: LazyLock<[Table; 4]> = LazyLock::new(|| Cli::ALL.map(Table::builtin));
    let Some(case) = Case::read(data) else { return };
    let table = Cli::ALL.iter().position(|&known| known == cli).map(|at| TABLES[at].clone());
    let format = Format::Structured(table.expect("all of them are there"));
    if case.as_stream {
        case.check(&format);
        return;
    }

    let text = String::from_utf8_lossy(case.body);
    let fragment_chars = case.chunk_max.max(text.len() / FRAGMENTS_MAX);
    let spoken = events::session(cli, &text, fragment_chars);
    let mut derived =
        Case { settings: case.settings.clone(), silence: None, body: spoken.as_bytes(), ..case };
    derived.check(&format);

    let shown = events::quotations(cli, &text);
    derived.body = shown.as_bytes();
    for item in derived.check(&format) {
        let quoted = match &item.what {
            What::Signal(_) => false,
            What::Fault(fault) => fault.severity() == Severity::Warning,
            What::Quoted(_) => item.trust == Trust::Quoted,
            What::Fact(_) => true,
        };
        assert!(quoted, "what nobody said became a signal: {item:?}");
    }

    // How a message is cut into fragments says nothing, as long as no event is too long.
    derived.settings.limits.line_bytes = Limits::default().line_bytes;
    let in_fragments = derived.whole(&format, spoken.as_bytes());
    let at_once = derived.whole(&format, events::session(cli, &text, usize::MAX).as_bytes());
    assert_same(&in_fragments, &at_once, |item| (item.trust, item.ended_by, item.what.clone()));
}

/// What can be decoded at all is encoded to something that decodes to the same.
pub fn replies(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(reply) = Reply::decode(&text) {
        let line = reply.encode();
        assert!(line.ends_with('\n') && line.lines().count() == 1, "a reply is one line: {line:?}");
        assert_eq!(Reply::decode(&line).expect("an encoded reply can be decoded"), reply);
    }
    let guarded = guard_task(&text);
    assert_eq!(guard_task(&guarded), guarded, "a guarded task stays as it is");
    if let Some(thin) = Thin::parse(&text) {
        let encoded = thin.to_string();
        assert_eq!(Thin::parse(&encoded), Some(thin), "{encoded:?}");
    }
}

impl<'a> Case<'a> {
    fn read(data: &'a [u8]) -> Option<Self> {
        let [flags, chunk_max, silent_after, body @ ..] = data else { return None };
        let has = |flag| flags & flag != 0;
        let limits = if has(SMALL_LIMITS) { SMALL } else { Limits::default() };
        let nonce = has(WITH_NONCE).then(|| NONCE.parse().expect("a nonce of letters and digits"));
        let silence = Duration::from_millis(if has(LONG_SILENCE) { 31_000 } else { 400 });
        let silent_after = usize::from(silent_after.wrapping_sub(b' ')) % (body.len() + 1);
        Some(Case {
            settings: Settings { limits, nonce, thin_role: has(THIN_ROLE), terminal: has(TERMINAL) },
            chunk_max: 1 + usize::from(*chunk_max) % CHUNK_MAX,
            as_stream: has(AS_STREAM),
            silence: has(SILENCE).then_some((silence, silent_after)),
            body,
        })
    }

    /// Parses whole, byte by byte and in chunks, and hands out the items that each of these gave.
    fn check(&self, format: &Format) -> Vec<Item> {
        let whole = self.whole(format, self.body);
        // Byte by byte takes long, and what can happen there happens in a short text too.
        let bytewise = (self.body.len() <= BYTEWISE_MAX).then_some(1);
        for chunk_max in bytewise.into_iter().chain([self.chunk_max]) {
            let chunked = self.parse(format, self.body, chunk_max);
            assert_same(&chunked, &whole, Item::clone);
        }
        self.check_places(&whole);
        whole
    }

    fn whole(&self, format: &Format, body: &[u8]) -> Vec<Item> {
        self.parse(format, body, usize::MAX)
    }

    fn parse(&self, format: &Format, body: &[u8], chunk_max: usize) -> Vec<Item> {
        let mut parser = Parser::new(format.clone(), self.settings.clone());
        let mut items = Vec::new();
        let (before, behind) = body.split_at(self.silence.map_or(0, |(_, after)| after));
        let mut lengths = Lengths::new(chunk_max);
        let mut push = |mut rest: &[u8], parser: &mut Parser| {
            while !rest.is_empty() {
                let (chunk, left) = rest.split_at(lengths.next(rest.len()));
                parser.push(chunk);
                items.extend(&mut *parser);
                self.check_memory(parser);
                rest = left;
            }
        };
        push(before, &mut parser);
        if let Some((silence, _)) = self.silence {
            parser.silent_for(silence);
            assert!(parser.patience().is_none_or(|patience| patience > silence), "waited for long enough");
        }
        push(behind, &mut parser);
        parser.finish();
        items.extend(parser);
        items
    }

    fn check_memory(&self, parser: &Parser) {
        let Limits { line_bytes, block_bytes, .. } = self.settings.limits;
        // The line of a stream and the line in its text; a byte that is no text is held as the three of U+FFFD.
        let bound = 2 * line_bytes + 3 * block_bytes + RECENT_BYTES + SLACK_BYTES;
        assert!(parser.buffered_bytes() <= bound, "holds {} bytes of {bound}", parser.buffered_bytes());
    }

    fn check_places(&self, items: &[Item]) {
        let mut places = BTreeSet::new();
        for item in items {
            assert!(item.offset <= item.end, "ends before it begins: {item:?}");
            assert!(item.end <= self.body.len() as u64, "ends behind the stream: {item:?}");
            assert!(places.insert((item.offset, item.index)), "two items in one place: {item:?}");
            let before = usize::try_from(item.offset).ok().and_then(|offset| offset.checked_sub(1));
            let begins_line = before.is_none_or(|before| self.body[before] == b'\n');
            assert!(begins_line, "an offset is that of a line: {item:?}");
        }
    }
}

/// Lengths of chunks, different from one another but the same in every run.
struct Lengths {
    max: usize,
    state: usize,
}

impl Lengths {
    fn new(max: usize) -> Self {
        Lengths { max, state: max }
    }

    fn next(&mut self, left: usize) -> usize {
        self.state = self.state.wrapping_mul(25).wrapping_add(13) % 256;
        let length = if self.max > CHUNK_MAX { left } else { 1 + self.state % self.max };
        length.min(left)
    }
}

/// Compares one by one, because a fuzzer's report of two long lists shows nothing.
fn assert_same<T: PartialEq + Debug>(left: &[Item], right: &[Item], part: impl Fn(&Item) -> T) {
    for (left, right) in left.iter().zip(right) {
        assert_eq!(part(left), part(right));
    }
    assert_eq!(left.len(), right.len(), "more items one way than the other: {left:?} {right:?}");
}
