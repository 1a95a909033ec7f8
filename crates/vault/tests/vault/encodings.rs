//! Masking of secrets that were encoded, quoted or cut up by control characters, and of nothing that only looks so.

use std::{fmt::Write as _, sync::Arc};

use ostler_vault::{Masker, Masks};
use proptest::prelude::*;

use crate::layout::{changed, masks, secret};

/// With characters that shells and HTML treat specially.
const KEY: &str = "sk_live&0123'45$67 <89>\"abc";

/// The ways in which tools write a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf16Little,
    Utf16Big,
    Utf16LittleMarked,
    Utf16BigMarked,
    Controls,
    Colours,
    CursorKeys,
    Quoted,
    QuotedTwice,
    Commented,
    Difference,
    SingleQuotes,
    SingleQuotesOfPython,
    DoubleQuotes,
    Backslashes,
    DollarQuotes,
    HexadecimalEscapes,
    OctalEscapes,
    BracedEscapes,
    LongEscapes,
    EntitiesDecimal,
    EntitiesHexadecimal,
    EntitiesOpen,
    EntitiesNamed,
    EntitiesTwice,
    ColouredXxd,
    ColouredOd,
    WideXxd,
    WideBase64,
}

const ENCODINGS: [Encoding; 29] = [
    Encoding::Utf16Little,
    Encoding::Utf16Big,
    Encoding::Utf16LittleMarked,
    Encoding::Utf16BigMarked,
    Encoding::Controls,
    Encoding::Colours,
    Encoding::CursorKeys,
    Encoding::Quoted,
    Encoding::QuotedTwice,
    Encoding::Commented,
    Encoding::Difference,
    Encoding::SingleQuotes,
    Encoding::SingleQuotesOfPython,
    Encoding::DoubleQuotes,
    Encoding::Backslashes,
    Encoding::DollarQuotes,
    Encoding::HexadecimalEscapes,
    Encoding::OctalEscapes,
    Encoding::BracedEscapes,
    Encoding::LongEscapes,
    Encoding::EntitiesDecimal,
    Encoding::EntitiesHexadecimal,
    Encoding::EntitiesOpen,
    Encoding::EntitiesNamed,
    Encoding::EntitiesTwice,
    Encoding::ColouredXxd,
    Encoding::ColouredOd,
    Encoding::WideXxd,
    Encoding::WideBase64,
];

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

fn base64(bytes: &[u8]) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let number =
            (0..3).fold(0_usize, |number, at| number << 8 | usize::from(*group.get(at).unwrap_or(&0)));
        out.extend((0..=group.len()).map(|place| char::from(alphabet[number >> (18 - 6 * place) & 63])));
    }
    out
}

fn entity(c: char) -> String {
    match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&apos;".to_owned(),
        '$' => "&dollar;".to_owned(),
        '_' => "&lowbar;".to_owned(),
        '=' => "&equals;".to_owned(),
        c => c.to_string(),
    }
}

/// Lines of `xxd`, with each byte coloured in both columns.
fn coloured_xxd(bytes: &[u8]) -> String {
    let mut out = String::new();
    for (number, line) in bytes.chunks(16).enumerate() {
        write!(out, "{:08x}: ", number * 16).expect("a string grows");
        for place in 0..16 {
            match line.get(place) {
                Some(byte) => write!(out, "\u{1b}[1;32m{byte:02x}\u{1b}[0m").expect("a string grows"),
                None => out.push_str("  "),
            }
            out.push_str(if place % 2 == 1 { " " } else { "" });
        }
        out.push(' ');
        for byte in line {
            let shown = if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' };
            write!(out, "\u{1b}[1;32m{shown}\u{1b}[0m").expect("a string grows");
        }
        out.push('\n');
    }
    out
}

impl Encoding {
    /// A text as a tool prints it, with something before and behind.
    fn print(self, text: &str, width: usize) -> Vec<u8> {
        let each = |print: &dyn Fn(char) -> String| text.chars().map(print).collect::<String>();
        let bytes = |print: &dyn Fn(u8) -> String| text.bytes().map(print).collect::<String>();
        let lines = |between: &str| {
            let characters: Vec<char> = text.chars().collect();
            let lines: Vec<String> = characters.chunks(width).map(|line| line.iter().collect()).collect();
            lines.join(between)
        };
        let special = |c: char| c.is_ascii_punctuation() || c == ' ';
        let printed = match self {
            Encoding::Utf16Little => return [b"a=", &utf16(text, u16::to_le_bytes)[..], b".\n"].concat(),
            Encoding::Utf16Big => return [b"a=", &utf16(text, u16::to_be_bytes)[..], b".\n"].concat(),
            Encoding::Utf16LittleMarked => {
                return [b"\xff\xfe", &utf16(text, u16::to_le_bytes)[..], b".\n"].concat();
            }
            Encoding::Utf16BigMarked => {
                return [b"\xfe\xff", &utf16(text, u16::to_be_bytes)[..], b".\n"].concat();
            }
            Encoding::Controls => each(&|c| format!("{c}\u{1}")),
            Encoding::Colours => each(&|c| format!("\u{1b}[3{}m{c}\u{1b}[0m", u32::from(c) % 8)),
            Encoding::CursorKeys => lines("\u{1b}[K\u{7}\u{1b}[1C\u{1b}7"),
            Encoding::Quoted => format!("> {}", lines("\n> ")),
            Encoding::QuotedTwice => format!("> > {}", lines("\n> > ")),
            Encoding::Commented => format!("# {}", lines("\n# ")),
            Encoding::Difference => format!("+{}", lines("\n+")),
            Encoding::SingleQuotes => format!("'{}'", text.replace('\'', "'\\''")),
            Encoding::SingleQuotesOfPython => format!("'{}'", text.replace('\'', "'\"'\"'")),
            Encoding::DoubleQuotes => {
                let escaped = |c: char| if "\"$`\\".contains(c) { format!("\\{c}") } else { c.to_string() };
                format!("\"{}\"", each(&escaped))
            }
            Encoding::Backslashes => each(&|c| if special(c) { format!("\\{c}") } else { c.to_string() }),
            Encoding::DollarQuotes => {
                let escaped = |byte: u8| match byte {
                    b'\'' | b'\\' => format!("\\{}", char::from(byte)),
                    0x20..0x7f => char::from(byte).to_string(),
                    _ => format!("\\{byte:03o}"),
                };
                format!("$'{}'", bytes(&escaped))
            }
            Encoding::HexadecimalEscapes => bytes(&|byte| format!("\\x{byte:02X}")),
            Encoding::OctalEscapes => bytes(&|byte| format!("\\{byte:o}")),
            Encoding::BracedEscapes => each(&|c| format!("\\u{{{:x}}}", u32::from(c))),
            Encoding::LongEscapes => each(&|c| format!("\\U{:08x}", u32::from(c))),
            Encoding::EntitiesDecimal => each(&|c| format!("&#{};", u32::from(c))),
            Encoding::EntitiesHexadecimal => each(&|c| format!("&#x{:04X};", u32::from(c))),
            Encoding::EntitiesOpen => each(&|c| format!("&#{}", u32::from(c))),
            Encoding::EntitiesNamed => each(&entity),
            Encoding::EntitiesTwice => each(&entity).replace('&', "&amp;"),
            Encoding::ColouredXxd => coloured_xxd(format!("KEY={text}\n").as_bytes()),
            Encoding::ColouredOd => {
                let cell = |byte: u8| format!(" \u{1b}[32m{byte:02x}\u{1b}[m");
                format!("0000000{}\n", bytes(&cell))
            }
            Encoding::WideXxd => coloured_xxd(&utf16(text, u16::to_le_bytes)).replace("\u{1b}[0m", ""),
            Encoding::WideBase64 => base64(&utf16(&format!("echo {text} "), u16::to_le_bytes)),
        };
        format!("KEY={printed}.\n").into_bytes()
    }
}

fn in_pieces(masks: &Arc<Masks>, text: &[u8], length: usize) -> Vec<u8> {
    let mut masker = Masker::new(Arc::clone(masks));
    let mut out = Vec::new();
    text.chunks(length).for_each(|piece| masker.push(piece, &mut out));
    masker.flush(&mut out);
    out
}

/// A text as it is masked, whatever the cuts.
fn mask(secret: &str, text: &[u8]) -> Vec<u8> {
    let masks = masks(&[secret]);
    let whole = in_pieces(&masks, text, text.len().max(1));
    for length in 1..8 {
        assert_eq!(in_pieces(&masks, text, length), whole, "in pieces of {length}");
    }
    assert_eq!(whole.len(), text.len());
    whole
}

/// Whether a printed secret is masked from its first to its last character, but for what the tool prints around it.
fn is_hidden(encoding: Encoding, is_json: bool, masked: &[u8]) -> bool {
    let around = match encoding {
        // Offsets, the padding of the last line, and the colours of the first bytes and behind the last one.
        Encoding::ColouredXxd | Encoding::WideXxd | Encoding::ColouredOd => 200,
        Encoding::WideBase64 => 24,
        _ => 16,
    };
    let left = masked.iter().filter(|byte| !matches!(byte, b'*' | b'\n')).count();
    left <= if is_json { 2 * around } else { around }
}

fn shown(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

#[test]
fn a_secret_is_masked_in_every_encoding() {
    for encoding in ENCODINGS {
        let text = encoding.print(KEY, 10);
        let masked = mask(KEY, &text);
        assert!(is_hidden(encoding, false, &masked), "{encoding:?}\n{}\n{}", shown(&text), shown(&masked));
        // And where an agent prints it as a string of JSON.
        let Ok(text) = String::from_utf8(text) else { continue };
        let json = serde_json::to_string(&text).expect("a text");
        let masked = mask(KEY, json.as_bytes());
        assert!(is_hidden(encoding, true, &masked), "{encoding:?} in JSON\n{json}\n{}", shown(&masked));
        serde_json::from_slice::<String>(&masked).expect("it is still JSON");
    }
}

#[test]
fn what_is_around_an_encoded_secret_stays() {
    let secret = "it's-a-secret";
    for (text, expected) in [
        ("x 'it'\\''s-a-secret' y", "x '****************' y"),
        ("x 'it'\"'\"'s-a-secret' y", "x '*****************' y"),
        ("x it\\'s-a-secret y", "x ************** y"),
        ("<b>it&#39;s-a-secret</b>", "<b>*****************</b>"),
        ("i\0t\0'\0s\0-\0a\0-\0s\0e\0c\0r\0e\0t\0 y", "*************************\0 y"),
        ("\u{1b}[1mit's\u{1b}[0m-a-secret\u{1b}[0m.", "\u{1b}[1m*****************\u{1b}[0m."),
        ("> it's-a\n> -secret\n> y", "> ******\n*********\n> y"),
    ] {
        assert_eq!(shown(&mask(secret, text.as_bytes())), shown(expected.as_bytes()));
    }
}

#[test]
fn a_short_secret_is_found_too() {
    for text in [
        "h\0u\0s\0h\0!\0",
        "h\u{1}ush!",
        "\\x68ush!",
        "h&#117;sh&excl;",
        "hush\\!",
        "h\u{1b}[1mush!",
        "\\150ush!",
    ] {
        assert!(!mask("hush!", text.as_bytes()).ends_with(b"sh!"), "{text:?}");
        assert!(mask("hush!", text.as_bytes()).contains(&b'*'), "{text:?}");
    }
}

#[test]
fn a_secret_that_is_no_ascii_is_found_in_utf16() {
    let secret = "비밀번호-é-0123";
    for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let text = [b"a=", &utf16(secret, bytes)[..], b"."].concat();
        let masked = mask(secret, &text);
        let left = masked.iter().filter(|byte| **byte != b'*').count();
        assert!(left <= 5, "{}", shown(&masked));
    }
}

#[test]
fn bytes_of_utf16_within_characters_leave_a_text() {
    // The second halves of its characters in UTF-8 are the secret in UTF-16.
    let secret = "\u{a4c3}\u{a5c3}\u{a6c3}\u{a7c3}\u{a8c3}\u{a9c3}\u{aac3}\u{abc3}";
    let text = String::from_utf8(utf16(secret, u16::to_le_bytes)).expect("it is UTF-8 as well");
    assert_eq!(masks(&[secret]).text(&text), "*".repeat(text.len()));
    let text = format!("é{text}é");
    assert_eq!(masks(&[secret]).text(&text).len(), text.len());
    let secret = "\u{c3a4}\u{c3a5}\u{c3a6}\u{c3a7}\u{c3a8}\u{c3a9}\u{c3aa}\u{c3ab}";
    let text = "\u{e4}\u{e5}\u{e6}\u{e7}\u{e8}\u{e9}\u{ea}\u{eb}\u{ec}";
    assert_eq!(masks(&[secret]).text(text).len(), text.len());
}

#[test]
fn a_secret_with_control_characters_is_found() {
    let secret = "first\u{1}second\u{1b}third";
    for text in [
        secret.to_owned(),
        "first\\u0001second\\u001bthird".to_owned(),
        secret.chars().flat_map(|c| [c, '\0']).collect(),
    ] {
        let masked = mask(secret, text.as_bytes());
        assert!(!masked.contains(&b'r'), "{}", shown(&masked));
    }
}

#[test]
fn nothing_is_hidden_by_a_control_string_before_it() {
    // A letter that begins the secret stands before a title that holds it, and before a sequence that is cut off.
    for text in
        ["s\u{1b}]0;sk_live_0123456789\u{7}", "s\u{1b}[sk_live_0123456789", "s\0\u{1b}sk_live_0123456789"]
    {
        let masked = mask("sk_live_0123456789", text.as_bytes());
        assert!(!masked.windows(4).any(|part| part == b"live"), "{}", shown(&masked));
    }
}

#[test]
fn a_dump_that_was_coloured_on_the_way_is_found() {
    // The colour comes after the first bytes, so that a view has begun before.
    let text = "00000000: 736b 5f6c 6976 655f 3031 \u{1b}[32m3233\u{1b}[0m 3435 3637  sk_live_01234567\n\
                00000010: 3839 0a                                   89.\n";
    let masked = mask("sk_live_0123456789", text.as_bytes());
    let text = String::from_utf8(masked).expect("it is text");
    assert!(!text.contains("736b") && !text.contains("3435") && !text.contains("3839"), "{text}");
}

#[test]
fn what_is_held_back_for_control_characters_is_bounded() {
    let mut masker = Masker::new(masks(&["sk_live_0123456789"]));
    let mut out = Vec::new();
    let mut held = 0;
    for _ in 0..40 {
        for piece in [&b"sk_live_"[..], &[0; 3000], b"\x1b]0;title", &[b'x'; 9000], b"0123"] {
            masker.push(piece, &mut out);
            held = held.max(masker.held());
        }
    }
    assert!(held < 100 << 10, "{held} bytes were held back");
}

#[test]
fn ordinary_text_stays() {
    let secrets =
        ["sk_live_0123456789abcdefXYZ", "hush!", "it's-a-secret", "12345678", "correct horse battery staple"];
    let masks = masks(&secrets);
    for text in [
        "<p>Tom &amp; Jerry &lt;tom@example.com&gt; &#8212; it&#39;s &quot;fun&quot; &hellip; &nbsp;&copy; 2026</p>",
        "it's 'quoted' and \"quoted\", don't; echo 'it'\\''s' \\$HOME C:\\users\\x41 \\1 \\12 \\400",
        "> quoted\n> > twice\n# comment\n// comment\n+ added\n- removed\n * list\n",
        r#"{"a":"\u0000\u001b[31mred\u001b[0m\\n","b":"it's","c":[1,2.5e3,-7],"d":"&amp;#39;"}"#,
        "\u{1b}[1;32mok\u{1b}[0m\r\n\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[H1.2.3.4 1.2.3.4.5.6.7.0 end",
        "s\0o\0m\0e\0 \0t\0e\0x\0t\0\n\0&#x110000; &#; &#x; &; &nosuch; &#99999999999;",
    ] {
        for length in [1, 3, text.len()] {
            assert_eq!(shown(&in_pieces(&masks, text.as_bytes(), length)), shown(text.as_bytes()));
        }
    }
}

/// What is printed around it, of the bytes that mean something to some view.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let bytes = b"sk0a&#x;39'\"\\u{}n> \n\r\0\x01\x1b[m]\x07\x08%|".to_vec();
    prop::collection::vec(prop::sample::select(bytes), 0..40)
}

fn special_secret() -> impl Strategy<Value = String> {
    prop_oneof![secret(), "[A-Za-z0-9&<>'\"$!_=-]{16,40}"]
        .prop_filter("ends with letters", |text| !text.starts_with(' ') && !text.ends_with(' '))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_encoding_hides_a_secret(
        secret in special_secret(),
        encoding in prop::sample::select(ENCODINGS.to_vec()),
        width in 4_usize..30,
        before in "[a-z0-9 ]{0,12}",
        length in 1_usize..40,
        is_json in any::<bool>(),
    ) {
        // A space of the secret behind a mark of the line cannot be told from the mark's own.
        let is_marked = matches!(encoding, Encoding::Commented | Encoding::Difference);
        prop_assume!(!is_marked || !secret.contains([' ', '+', '#']));
        let is_quoted = matches!(encoding, Encoding::Quoted | Encoding::QuotedTwice);
        prop_assume!(!is_quoted || !secret.contains('>'));
        // In the text of a dump, neither can padding, and what stands at the end of a line.
        let is_dump = matches!(encoding, Encoding::ColouredXxd | Encoding::WideXxd);
        prop_assume!(!is_dump || !secret.contains([' ', '<', '|']));
        let text = [before.as_bytes(), b"\n", &encoding.print(&secret, width)].concat();
        let text = match String::from_utf8(text) {
            Ok(text) if is_json => serde_json::to_string(&text).expect("a text").into_bytes(),
            Ok(text) => text.into_bytes(),
            Err(text) => text.into_bytes(),
        };
        let masks = masks(&[&secret]);
        let masked = in_pieces(&masks, &text, text.len());
        prop_assert_eq!(&in_pieces(&masks, &text, length), &masked);
        prop_assert_eq!(masked.len(), text.len());
        let own = &masked[before.len()..];
        prop_assert!(is_hidden(encoding, is_json, own), "{:?}\n{}\n{}", encoding, shown(&text), shown(&masked));
        if is_json && text.starts_with(b"\"") {
            prop_assert!(serde_json::from_slice::<String>(&masked).is_ok(), "{}", shown(&masked));
        }
    }

    #[test]
    fn what_differs_in_one_character_is_left_in_every_encoding(
        secret in special_secret(),
        at in any::<prop::sample::Index>(),
        encoding in prop::sample::select(ENCODINGS.to_vec()),
        width in 4_usize..30,
        length in 1_usize..40,
    ) {
        let at = at.index(secret.len());
        // The last byte of an escape sequence may be the first one of the secret.
        prop_assume!(at > 0);
        // Layout may put it between any two characters.
        prop_assume!(secret.as_bytes()[at] != b'>');
        // Base64 is the same for some neighbours of the last character.
        prop_assume!(encoding != Encoding::WideBase64 || at + 1 < secret.len());
        let other = changed(&secret, at);
        let text = [&encoding.print(&other, width)[..], b"\nand so on, until the end.\n"].concat();
        prop_assert_eq!(shown(&in_pieces(&masks(&[&secret]), &text, length)), shown(&text));
    }

    #[test]
    fn no_cut_and_no_noise_changes_the_result(
        secrets in prop::collection::vec(special_secret(), 1..4),
        encoding in prop::sample::select(ENCODINGS.to_vec()),
        pieces in prop::collection::vec(noise(), 3),
        lengths in (1_usize..9, 1_usize..40),
    ) {
        let texts: Vec<&str> = secrets.iter().map(String::as_str).collect();
        let masks = masks(&texts);
        let [before, between, behind] = [&pieces[0], &pieces[1], &pieces[2]];
        let half = &secrets[0].as_bytes()[..8];
        let encoded = encoding.print(&secrets[0], 10);
        let text = [before, half, between, &encoded, behind, secrets[0].as_bytes(), b"."].concat();
        let masked = in_pieces(&masks, &text, text.len());
        prop_assert_eq!(shown(&in_pieces(&masks, &text, lengths.0)), shown(&masked));
        prop_assert_eq!(shown(&in_pieces(&masks, &text, lengths.1)), shown(&masked));
        prop_assert_eq!(masked.len(), text.len());
        // Whatever comes before, the secret itself is masked.
        let own = &masked[text.len() - 1 - secrets[0].len()..text.len() - 1];
        let is_masked = own.iter().all(|&byte| byte == b'*');
        prop_assert!(is_masked || secrets[0].bytes().all(|byte| byte.is_ascii_digit()), "{}", shown(&masked));
    }
}
