//! Reads escapes: of strings in JSON and programs, of shells, of HTML and of URLs.
//!
//! | written | by | stands for |
//! |---|---|---|
//! | `\n`, `\"`, `\/`, `\u00e9`, two halves of a character | JSON | the character |
//! | `\$`, `\ `, `\_` | shells, Markdown | the character |
//! | `\x73`, `\163`, `\u{73}`, `\U00000073`, `\e`, `\a`, `\v` | `$'…'` of bash, programs | the byte or the character |
//! | `'\''`, `'"'"'` | shells, inside of `'…'` | `'` |
//! | `&#115;`, `&#x73;`, `&amp;` | HTML | the character |
//! | `%73` | URLs | the byte |

/// What can be said of the beginning of an escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// It may go on.
    Open,
    /// It is whole and stands for so many of these bytes.
    Whole([u8; 4], usize),
    /// It is whole and is left out.
    LeftOut,
    /// It is whole and is printed over the byte before it.
    Overprint,
    /// It is none: its first byte is only itself.
    None,
}

/// How a shell writes a quotation mark inside of quotation marks.
const QUOTES: [&[u8]; 2] = [b"'\\''", b"'\"'\"'"];

/// The most digits of a character's number in HTML.
const ENTITY_DIGITS_MAX: usize = 8;

/// The longest of the names below.
const ENTITY_NAME_MAX: usize = 16;

/// The names that HTML has for characters of ASCII.
const ENTITIES: [(&[u8], u8); 48] = [
    (b"Tab", b'\t'),
    (b"NewLine", b'\n'),
    (b"excl", b'!'),
    (b"quot", b'"'),
    (b"QUOT", b'"'),
    (b"num", b'#'),
    (b"dollar", b'$'),
    (b"percnt", b'%'),
    (b"amp", b'&'),
    (b"AMP", b'&'),
    (b"apos", b'\''),
    (b"lpar", b'('),
    (b"rpar", b')'),
    (b"ast", b'*'),
    (b"midast", b'*'),
    (b"plus", b'+'),
    (b"comma", b','),
    (b"period", b'.'),
    (b"sol", b'/'),
    (b"colon", b':'),
    (b"semi", b';'),
    (b"lt", b'<'),
    (b"LT", b'<'),
    (b"equals", b'='),
    (b"gt", b'>'),
    (b"GT", b'>'),
    (b"quest", b'?'),
    (b"commat", b'@'),
    (b"lsqb", b'['),
    (b"lbrack", b'['),
    (b"bsol", b'\\'),
    (b"rsqb", b']'),
    (b"rbrack", b']'),
    (b"Hat", b'^'),
    (b"lowbar", b'_'),
    (b"UnderBar", b'_'),
    (b"grave", b'`'),
    (b"DiacriticalGrave", b'`'),
    (b"lcub", b'{'),
    (b"lbrace", b'{'),
    (b"verbar", b'|'),
    (b"vert", b'|'),
    (b"VerticalLine", b'|'),
    (b"rcub", b'}'),
    (b"rbrace", b'}'),
    (b"nbsp", b' '),
    (b"dash", b'-'),
    (b"hyphen", b'-'),
];

/// An escape of one to four bytes.
pub(super) fn whole(bytes: &[u8]) -> Escape {
    let mut whole = [0; 4];
    whole[..bytes.len()].copy_from_slice(bytes);
    Escape::Whole(whole, bytes.len())
}

/// Reads an escape of a URL.
pub(super) fn url(bytes: &[u8]) -> Escape {
    match bytes {
        [_] => Escape::Open,
        [_, high] if high.is_ascii_hexdigit() => Escape::Open,
        [_, high, low] => match number(&[*high, *low]).map(u8::try_from) {
            Some(Ok(byte)) => whole(&[byte]),
            _ => Escape::None,
        },
        _ => Escape::None,
    }
}

/// Reads an escape of a string or a shell, and says how many of the bytes belong to it.
pub(super) fn string(bytes: &[u8]) -> (Escape, usize) {
    let all = bytes.len();
    match bytes {
        [b'\'', ..] if QUOTES.contains(&bytes) => (whole(b"'"), all),
        [b'\'', ..] if QUOTES.iter().any(|quote| quote.starts_with(bytes)) => (Escape::Open, all),
        [b'\'', ..] => (Escape::None, 1),
        [_] => (Escape::Open, 1),
        [_, b'u', b'{', digits @ ..] => (braced(digits), all),
        [_, b'u', ..] => (json(bytes), all),
        [_, b'U', digits @ ..] if digits.len() < 8 && number(digits).is_some() => (Escape::Open, all),
        [_, b'U', digits @ ..] => (number(digits).map_or(Escape::None, character), all),
        [_, b'x', digits @ ..] => run(digits, 16, 2).map_or((Escape::None, 1), |run| run.behind(2)),
        [_, b'0'..=b'7', ..] => run(&bytes[1..], 8, 3).map_or((Escape::None, 1), |run| run.behind(1)),
        [_, name] => (named(*name), all),
        _ => (Escape::None, 1),
    }
}

/// Reads an entity of HTML, and says how many of the bytes belong to it.
pub(super) fn entity(bytes: &[u8]) -> (Escape, usize) {
    let all = bytes.len();
    match bytes {
        [_] | [_, b'#'] | [_, b'#', b'x' | b'X'] => (Escape::Open, all),
        [_, b'#', b'x' | b'X', digits @ ..] => numbered(digits, 16, 3),
        [_, b'#', digits @ ..] => numbered(digits, 10, 2),
        [_, name @ .., b';'] => {
            let entity = ENTITIES.iter().find(|(known, _)| *known == name);
            (entity.map_or(Escape::None, |(_, byte)| whole(&[*byte])), all)
        }
        [_, name @ ..] if name.len() <= ENTITY_NAME_MAX && name[name.len() - 1].is_ascii_alphabetic() => {
            (Escape::Open, all)
        }
        _ => (Escape::None, 1),
    }
}

/// A number of a character behind so many bytes. Browsers read it without the `;` too.
fn numbered(digits: &[u8], radix: u32, before: usize) -> (Escape, usize) {
    let count = digits.iter().take_while(|&&digit| char::from(digit).is_digit(radix)).count();
    if count == 0 || count > ENTITY_DIGITS_MAX {
        return (Escape::None, 1);
    }
    let Some(end) = digits.get(count) else { return (Escape::Open, before + count) };
    let number = digits[..count].iter().try_fold(0_u32, |value, &digit| {
        value.checked_mul(radix)?.checked_add(char::from(digit).to_digit(radix)?)
    });
    (number.map_or(Escape::None, character), before + count + usize::from(*end == b';'))
}

/// A byte in digits, of which there can be fewer than the most.
enum Run {
    Open(usize),
    Whole(u8, usize),
}

impl Run {
    fn behind(self, count: usize) -> (Escape, usize) {
        match self {
            Run::Open(length) => (Escape::Open, count + length),
            Run::Whole(byte, length) => (whole(&[byte]), count + length),
        }
    }
}

fn run(digits: &[u8], radix: u32, length_max: usize) -> Option<Run> {
    let (mut value, mut length) = (None, 0);
    for &digit in digits.iter().take(length_max) {
        let Some(digit) = char::from(digit).to_digit(radix) else { break };
        let Ok(next) = u8::try_from(u32::from(value.unwrap_or(0_u8)) * radix + digit) else { break };
        (value, length) = (Some(next), length + 1);
    }
    match value {
        Some(value) if length == length_max || length < digits.len() => Some(Run::Whole(value, length)),
        None if !digits.is_empty() => None,
        _ => Some(Run::Open(length)),
    }
}

/// `\u{1f600}`, behind the brace.
fn braced(digits: &[u8]) -> Escape {
    match digits {
        [digits @ .., b'}'] if !digits.is_empty() => number(digits).map_or(Escape::None, character),
        _ if digits.len() <= 6 && number(digits).is_some() => Escape::Open,
        _ => Escape::None,
    }
}

fn named(name: u8) -> Escape {
    match name {
        b'a' => whole(b"\x07"),
        b'b' => whole(b"\x08"),
        b'e' | b'E' => whole(b"\x1b"),
        b'f' => whole(b"\x0c"),
        b'n' => whole(b"\n"),
        b'r' => whole(b"\r"),
        b't' => whole(b"\t"),
        b'v' => whole(b"\x0b"),
        b' ' => whole(b" "),
        name if name.is_ascii_punctuation() => whole(&[name]),
        _ => Escape::None,
    }
}

fn json(bytes: &[u8]) -> Escape {
    match bytes {
        [_, b'u', digits @ ..] if digits.len() < 4 => {
            if number(digits).is_some() {
                Escape::Open
            } else {
                Escape::None
            }
        }
        [_, b'u', a, b, c, d, rest @ ..] => match number(&[*a, *b, *c, *d]) {
            Some(high @ 0xd800..0xdc00) => second_half(high, rest),
            Some(number) => character(number),
            None => Escape::None,
        },
        _ => Escape::None,
    }
}

/// Characters beyond 16 bits are written in two halves.
fn second_half(high: u32, rest: &[u8]) -> Escape {
    match rest {
        [] | [b'\\'] | [b'\\', b'u'] => Escape::Open,
        [b'\\', b'u', digits @ ..] => match number(digits) {
            Some(low @ 0xdc00..0xe000) => character(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)),
            Some(_) if digits.len() < 4 => Escape::Open,
            _ => Escape::None,
        },
        _ => Escape::None,
    }
}

fn character(number: u32) -> Escape {
    let character = char::from_u32(number);
    character.map_or(Escape::None, |character| whole(character.encode_utf8(&mut [0; 4]).as_bytes()))
}

fn number(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}
