//! Masking of secrets that were wrapped, framed, printed over or dumped, and of nothing that only looks so.

use std::{fmt::Write as _, sync::Arc};

use ostler_vault::{Masker, Masks, Secret};
use proptest::prelude::*;

const KEY: &str = "sk_live_0123456789abcdefXYZ";

pub(crate) fn masks(secrets: &[&str]) -> Arc<Masks> {
    let secrets: Vec<Secret> = secrets.iter().map(|&text| Secret::new(text.to_owned())).collect();
    Arc::new(Masks::new(&secrets))
}

fn in_pieces(secrets: &[&str], text: &str, length: usize) -> String {
    let mut masker = Masker::new(masks(secrets));
    let mut out = Vec::new();
    text.as_bytes().chunks(length).for_each(|piece| masker.push(piece, &mut out));
    masker.flush(&mut out);
    String::from_utf8(out).expect("what is masked is whole characters")
}

/// A text as it is masked, whatever the cuts.
fn mask(secrets: &[&str], text: &str) -> String {
    let whole = in_pieces(secrets, text, text.len().max(1));
    for length in 1..8 {
        assert_eq!(in_pieces(secrets, text, length), whole, "in pieces of {length}");
    }
    assert_eq!(whole.len(), text.len());
    whole
}

/// Pieces of so many characters.
fn pieces(text: &str, length: usize) -> Vec<String> {
    text.chars().collect::<Vec<_>>().chunks(length).map(|piece| piece.iter().collect()).collect()
}

/// The ways in which a text is laid out by tools.
#[derive(Debug, Clone, Copy)]
enum Layout {
    Indented,
    Backslash,
    Borders,
    ColouredBorders,
    ZeroWidth,
    SoftHyphen,
    Bold,
    Underlined,
    HexdumpC,
    Xxd,
    OdHex,
    OdHexWithoutOffset,
    OdCharacters,
}

const LAYOUTS: [Layout; 13] = [
    Layout::Indented,
    Layout::Backslash,
    Layout::Borders,
    Layout::ColouredBorders,
    Layout::ZeroWidth,
    Layout::SoftHyphen,
    Layout::Bold,
    Layout::Underlined,
    Layout::HexdumpC,
    Layout::Xxd,
    Layout::OdHex,
    Layout::OdHexWithoutOffset,
    Layout::OdCharacters,
];

impl Layout {
    /// A text as a tool prints it, with something before and behind.
    fn print(self, text: &str, width: usize) -> String {
        let framed = |left: &str, right: &str| {
            let rows = pieces(text, width).into_iter().map(|piece| format!("{left}{piece:width$}{right}\n"));
            format!("┌──────┐\n{}└──────┘\n", rows.collect::<String>())
        };
        let each = |print: &dyn Fn(char) -> String| text.chars().map(print).collect::<String>() + "\n";
        match self {
            Layout::Indented => format!("  value: {}\n", pieces(text, width).join("\n         ")),
            Layout::Backslash => format!("KEY={}\n", pieces(text, width).join("\\\n    ")),
            Layout::Borders => framed("│     | ", "   │").replacen("│    ", "│ KEY", 1),
            Layout::ColouredBorders => framed("\u{1b}[2m│\u{1b}[0m ", " \u{1b}[2m│\u{1b}[0m"),
            Layout::ZeroWidth => format!("{}\n", pieces(text, width).join("\u{200b}")),
            Layout::SoftHyphen => format!("{}\n", pieces(text, width).join("\u{ad}")),
            Layout::Bold => each(&|c| format!("{c}\u{8}{c}")),
            Layout::Underlined => each(&|c| format!("_\u{8}{c}")),
            Layout::HexdumpC | Layout::Xxd | Layout::OdHex | Layout::OdHexWithoutOffset => self.dump(text),
            Layout::OdCharacters => {
                let cell = |byte: &u8| match byte {
                    b'\n' => "  \\n".to_owned(),
                    b'\t' => "  \\t".to_owned(),
                    0x80.. => format!(" {byte:03o}"),
                    byte => format!("   {}", char::from(*byte)),
                };
                let bytes = format!("KEY={text}\n").into_bytes();
                let lines = bytes.chunks(16).enumerate().map(|(number, line)| {
                    format!("{:07o}{}\n", number * 16, line.iter().map(cell).collect::<String>())
                });
                lines.collect()
            }
        }
    }

    fn dump(self, text: &str) -> String {
        let mut out = String::new();
        let bytes = format!("KEY={text}\n").into_bytes();
        for (number, line) in bytes.chunks(16).enumerate() {
            let at = number * 16;
            let shown = |byte: &u8| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' };
            let shown: String = line.iter().map(shown).collect();
            let pairs: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
            let groups =
                |count: usize| pairs.chunks(count).map(<[String]>::concat).collect::<Vec<_>>().join(" ");
            match self {
                Layout::HexdumpC => {
                    let halves: Vec<String> = pairs.chunks(8).map(|half| half.join(" ")).collect();
                    writeln!(out, "{at:08x}  {:49} |{shown}|", halves.join("  "))
                }
                Layout::Xxd => writeln!(out, "{at:08x}: {:39}  {shown}", groups(2)),
                Layout::OdHex => writeln!(out, "{at:07o} {}", groups(1)),
                _ => writeln!(out, " {}", groups(1)),
            }
            .expect("a string grows");
        }
        out
    }
}

/// Whether two pieces in a row of a secret, or of its digits, are still to be read.
fn tells(masked: &str, secret: &str) -> bool {
    let bare: String =
        masked.chars().filter(|c| !c.is_whitespace() && !"│|\u{8}\u{200b}\u{ad}".contains(*c)).collect();
    let digits = secret.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let characters: Vec<char> = secret.chars().collect();
    let is_part = |part: &[char]| bare.contains(&part.iter().collect::<String>());
    characters.windows(4).any(is_part) || (0..digits.len() - 8).any(|at| bare.contains(&digits[at..at + 8]))
}

#[test]
fn a_secret_is_masked_in_every_layout() {
    for layout in LAYOUTS {
        let text = layout.print(KEY, 10);
        let masked = mask(&[KEY], &text);
        assert!(!tells(&masked, KEY), "{layout:?}\n{text}\n{masked}");
        // And where an agent prints it as a string of JSON.
        let json = serde_json::to_string(&text).expect("a text");
        let masked = mask(&[KEY], &json);
        assert!(!tells(&masked, KEY), "{layout:?} in JSON\n{json}\n{masked}");
        serde_json::from_str::<String>(&masked).expect("it is still JSON");
    }
}

#[test]
fn lines_and_what_is_around_a_secret_stay() {
    let text = "before\n  value: sk_live_0123456\n         789abcdefXYZ behind\n";
    let expected = format!("before\n  value: {}\n{} behind\n", "*".repeat(15), "*".repeat(21));
    assert_eq!(mask(&[KEY], text), expected);
    // Also the second half of the last character.
    let bold = "hush-hush".chars().map(|c| format!("{c}\u{8}{c}")).collect::<Vec<_>>().concat();
    assert_eq!(mask(&["hush-hush"], &format!("{bold}.")), format!("{}.", "*".repeat(27)));
}

#[test]
fn a_secret_of_several_words_is_masked_however_it_is_wrapped() {
    let secret = "correct horse | battery \\ staple";
    for text in ["correct horse |\n   battery \\ staple", "correct\thorse | bat\ntery \\ staple"] {
        let masked = mask(&[secret], text);
        assert!(masked.chars().all(|c| matches!(c, '*' | '\n')), "{masked}");
    }
}

#[test]
fn a_short_secret_is_not_looked_for_in_loose_text() {
    assert_eq!(mask(&["password"], "pass word, pass | word"), "pass word, pass | word");
    assert_eq!(mask(&["12345678"], "│ 1234 │\n│ 5678 │\n"), "│ 1234 │\n│ 5678 │\n");
    assert_eq!(mask(&["4711"], "47\n  11 4\u{200b}711"), "47\n  11 4\u{200b}711");
}

#[test]
fn a_list_of_numbers_in_json_stays_one() {
    // The digits of "hush" are decimal ones.
    let line = r#"{"list":[68,75,73, 68],"text":"68757368"}"#;
    let masked = mask(&["hush"], line);
    assert_eq!(masked, r#"{"list":[11,11,11, 11],"text":"********"}"#);
}

#[test]
fn what_is_held_back_for_gaps_is_bounded() {
    let secret: String = ('a'..='z').cycle().take(400).collect();
    let mut masker = Masker::new(masks(&[&secret]));
    let (mut out, mut held) = (Vec::new(), 0);
    for character in secret.bytes() {
        masker.push(&[character], &mut out);
        masker.push(&[b'\n'; 1000], &mut out);
        held = held.max(masker.held());
    }
    assert!(held < 100 << 10, "{held} bytes were held back");
}

pub(crate) fn secret() -> impl Strategy<Value = String> {
    prop_oneof!["[A-Za-z0-9]{16,40}", "[A-Za-z0-9_/+.=-]{16,60}", "[a-z]{4,8}( [a-z]{4,8}){3,5}"]
}

/// What is printed around it.
fn noise() -> impl Strategy<Value = String> {
    "[a-f0-9 |│_\\\\\u{8}\n:>-]{0,30}"
}

/// Changes one character, so that it is another secret in each of its forms.
pub(crate) fn changed(secret: &str, at: usize) -> String {
    secret.char_indices().map(|(place, c)| if place == at { '~' } else { c }).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_layout_hides_a_secret(
        secret in secret(),
        layout in prop::sample::select(LAYOUTS.to_vec()),
        width in 3_usize..30,
        before in noise(),
        after in noise(),
        length in 1_usize..40,
        is_json in any::<bool>(),
    ) {
        // In the text of `xxd`, padding and a space at the beginning of a line cannot be told apart.
        prop_assume!(!matches!(layout, Layout::Xxd) || !secret.contains(' '));
        let printed = layout.print(&secret, width);
        let text = format!("{before}\n{printed}{after}");
        let text = if is_json { serde_json::to_string(&text).expect("a text") } else { text };
        let masked = in_pieces(&[&secret], &text, text.len());
        prop_assert_eq!(&in_pieces(&[&secret], &text, length), &masked);
        prop_assert_eq!(masked.len(), text.len());
        prop_assert!(!tells(&masked, &secret), "{:?}\n{}\n{}", layout, text, masked);
        if is_json {
            prop_assert!(serde_json::from_str::<String>(&masked).is_ok(), "{}", masked);
        }
    }

    #[test]
    fn what_differs_in_one_character_is_left(
        secret in secret(),
        at in any::<prop::sample::Index>(),
        layout in prop::sample::select(LAYOUTS.to_vec()),
        width in 3_usize..30,
        length in 1_usize..40,
    ) {
        let other = changed(&secret, at.index(secret.len()));
        let text = format!("{}\nand so on, until the end.\n", layout.print(&other, width));
        prop_assert_eq!(in_pieces(&[&secret], &text, length), text);
    }

    #[test]
    fn json_stays_json(
        secret in prop_oneof![secret(), "[0-9]{8,20}"],
        cut in any::<prop::sample::Index>(),
        layout in prop::sample::select(LAYOUTS.to_vec()),
        length in 1_usize..40,
        is_pretty in any::<bool>(),
    ) {
        let (first, second) = secret.split_at(cut.index(secret.len()));
        let digits: Vec<u32> = secret.bytes().map(u32::from).collect();
        let number: serde_json::Value =
            serde_json::from_str(&secret).unwrap_or_else(|_| serde_json::json!(digits));
        let value = serde_json::json!({
            "printed": layout.print(&secret, 12), "number": number, secret.as_str(): [first, second], "digits": digits,
        });
        let text = if is_pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.expect("a value");
        let masked = in_pieces(&[&secret], &text, length);
        let is_json = serde_json::from_str::<serde_json::Value>(&masked).is_ok();
        // A number that stands in a line of its own is not known to be in JSON.
        prop_assert!(is_json || is_pretty && number.is_number(), "{}", masked);
        prop_assert_eq!(masked.len(), text.len());
    }
}
