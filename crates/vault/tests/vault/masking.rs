//! Masking: every form of a secret, in every cut of the stream, and nothing else.

use std::sync::Arc;

use ostler_vault::{Masker, Masks, Secret};
use proptest::prelude::*;

fn masks(secrets: &[&str]) -> Arc<Masks> {
    let secrets: Vec<Secret> = secrets.iter().map(|&text| Secret::new(text.to_owned())).collect();
    Arc::new(Masks::new(&secrets))
}

/// Masks a stream that comes in pieces of these lengths, again and again.
fn masked(secrets: &[&str], stream: &[u8], lengths: &[usize]) -> Vec<u8> {
    let mut masker = Masker::new(masks(secrets));
    let (mut out, mut rest) = (Vec::new(), stream);
    for &length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, behind) = rest.split_at(length.clamp(1, rest.len()));
        masker.push(piece, &mut out);
        assert_eq!(out.len() + masker.held(), stream.len() - behind.len());
        rest = behind;
    }
    masker.flush(&mut out);
    out
}

/// Says what becomes of a text, in pieces of one byte and as a whole.
fn check(secrets: &[&str], text: &str, expected: &str) {
    for length in [1, 7, text.len()] {
        let out = masked(secrets, text.as_bytes(), &[length]);
        assert_eq!(String::from_utf8(out).unwrap(), expected, "in pieces of {length}");
    }
    assert_eq!(masks(secrets).text(text), expected);
}

#[test]
fn a_secret_is_masked_as_it_is() {
    check(&["hush!"], "say hush! twice: hush!hush!", "say ***** twice: **********");
    check(&["hush!"], "hus hush hhush!", "hus hush h*****");
    check(&["hush!", "sh! and"], "hush! and", "*********");
    check(&["비밀번호"], "그 비밀번호 는", "그 ************ 는");
    check(&[], "hush!", "hush!");
}

#[test]
fn a_secret_is_masked_in_json() {
    let secret = "a\"b\\c/d\té😀<";
    for written in [
        r#"a\"b\\c/d\té😀<"#,
        r#"a\"b\\c\/d\t\u00e9\ud83d\ude00<"#,
        r#"a\"b\\c/d\t\u00E9\uD83D\uDE00\u003c"#,
        r#"a\u0022b\u005cc\u002fd\u0009é😀\u003C"#,
        r#"\u0061\u0022\u0062\u005c\u0063\u002f\u0064\u0009\u00e9\ud83d\ude00\u003c"#,
    ] {
        let stars = "*".repeat(written.len());
        check(&[secret], &format!("{{\"key\":\"{written}\"}}"), &format!("{{\"key\":\"{stars}\"}}"));
        // And in JSON that stands in JSON.
        let twice = serde_json::to_string(written).unwrap();
        let stars = "*".repeat(twice.len() - 2);
        check(&[secret], &twice, &format!("\"{stars}\""));
    }
}

#[test]
fn a_secret_is_masked_in_a_url() {
    check(&["a b&c/é"], "?k=a%20b%26c%2F%C3%A9&l=1", "?k=******************&l=1");
    check(&["a b&c/é"], "?k=a+b%26c%2f%c3%a9&l=1", "?k=****************&l=1");
    check(&["a b+c"], "a%20b+c a+b%2Bc", "******* *******");
    check(&["pass%word"], "pass%word pass%25word", "********* ***********");
    check(&["hush!"], "100% of %4 %zz %", "100% of %4 %zz %");
}

#[test]
fn a_secret_is_masked_in_base64_and_hexadecimal() {
    // As `printf … | base64` and `xxd -p` print it.
    check(&["hush!"], "aHVzaCE=", "*******=");
    check(&["hush!"], "eGh1c2gh", "eG******");
    check(&["hush!"], "eHhodXNoIXh4", "eHh******Xh4");
    check(&["hush!"], "687573682 68757368216a", "687573682 **********6a");
    check(&["\u{fb}\u{ff}\u{fe}~~~"], "w7vDv8O+fn5+ w7vDv8O-fn5-", "************ ************");
    // An authorization header: a name and a colon before it.
    check(&["hunter2hunter2"], "Basic YWRtaW46aHVudGVyMmh1bnRlcjI=", "Basic YWRtaW46*******************=");
}

#[test]
fn base64_is_found_across_line_breaks() {
    let secret = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.~0123456789";
    let lines = "MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6QUJDREVGR0hJSktMTU5PUFFSU1RV\n\
                 VldYWVotXy5+MDEyMzQ1Njc4OQ==";
    let expected = format!("{}\n{}==", "*".repeat(76), "*".repeat(26));
    check(&[secret], lines, &expected);
    check(&[secret], &lines.replace('\n', "\\n"), &expected.replace('\n', "**"));
}

#[test]
fn lines_stay_lines() {
    let secret = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nab\n-----END KEY-----\n";
    check(
        &[secret],
        "x\n-----BEGIN KEY-----\nMIIEvQIBADANBg\nab\n-----END KEY-----\ny",
        "x\n*******************\n**************\n**\n*****************\ny",
    );
    check(
        &[secret],
        "-----BEGIN KEY-----\r\nMIIEvQIBADANBg\r\nab\r\n-----END KEY-----\r\n",
        "*******************\r\n**************\r\n**\r\n*****************\r\n",
    );
    check(&[secret], "ab: MIIEvQIBADANBg", "ab: **************");
}

#[test]
fn short_ones_are_left() {
    check(&["abc", "", "  x  "], "abc x", "abc x");
}

#[test]
fn a_beginning_is_masked_when_the_stream_ends() {
    assert_eq!(masked(&["sk_live_0123456789"], b"key sk_live_012", &[3]), b"key ***********");
    assert_eq!(masked(&["sk_live_0123456789"], b"key sk_li", &[3]), b"key sk_li");
    // A text that is whole has no end that could go on.
    assert_eq!(masks(&["sk_live_0123456789"]).text("key sk_live_012"), "key sk_live_012");
}

#[test]
fn a_flush_in_the_middle_gives_little_away() {
    let mut masker = Masker::new(masks(&["sk_live_0123456789"]));
    let mut out = Vec::new();
    masker.push(b"key sk_li", &mut out);
    assert_eq!(out, b"key ");
    masker.flush(&mut out);
    masker.push(b"ve_0123", &mut out);
    masker.flush(&mut out);
    masker.push(b"456789 sk_live_0123456789.", &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "key sk_li************* ******************.");
}

#[test]
fn a_secret_that_comes_later_is_masked_from_there_on() {
    let mut masker = Masker::new(masks(&[]));
    let mut out = Vec::new();
    masker.push(b"hush! key", &mut out);
    masker.renew(masks(&["key of gold", "hush!"]));
    masker.push(b" hush! key of ", &mut out);
    assert_eq!(masker.held(), 7);
    masker.renew(masks(&["key of gold", "hush!", "of iron"]));
    masker.push(b"iron key of ", &mut out);
    masker.renew(masks(&["key of gold", "hush!", "of iron", "silver"]));
    masker.push(b"gold silve", &mut out);
    masker.push(b"r hush!", &mut out);
    masker.renew(masks(&[]));
    masker.flush(&mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "hush! key ***** key ******* *********** ****** *****");
}

#[test]
fn only_a_beginning_is_held_back() {
    let mut masker = Masker::new(masks(&["hush!"]));
    let mut out = Vec::new();
    masker.push(b"nothing of it\n", &mut out);
    assert_eq!((out.len(), masker.held()), (14, 0));
    masker.push(b"hu", &mut out);
    assert_eq!((out.len(), masker.held()), (14, 2));
    masker.push(b"m", &mut out);
    assert_eq!((out.len(), masker.held()), (17, 0));
    masker.push(b"\\u00", &mut out);
    assert_eq!((out.len(), masker.held()), (17, 4));
    masker.push(b"zz", &mut out);
    assert_eq!((out.len(), masker.held()), (23, 0));
}

/// Words that agents and tools print, among them such as look like parts of the secrets and of escapes.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(b"ab\\\"u00e9%2F+/ \n\r=x\xc3\xa9*".to_vec()), 0..24)
}

fn secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab]{4,9}",
        "[ -~é\t\n😀]{4,40}",
        "[A-Za-z0-9+/_-]{20,90}",
        "(a|b|\\\\|\"|%|u00e9|\\+){4,12}"
    ]
    .prop_filter("long enough", |text| text.trim().len() >= 4)
}

/// The ways of writing a secret that have to be found, whatever stands around them.
const WAYS: usize = 8;

fn written(secret: &str, way: usize) -> String {
    let json = || {
        let text = serde_json::to_string(secret).unwrap();
        text[1..text.len() - 1].to_owned()
    };
    let escape = |c: char| {
        let units: Vec<String> =
            c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
        units.concat()
    };
    let hexadecimal = || secret.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let percent = |byte: u8| match byte {
        b'-' | b'_' | b'.' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    match way {
        0 => secret.to_owned(),
        1 => json(),
        2 => json().chars().map(|c| if c.is_ascii() { c.to_string() } else { escape(c) }).collect(),
        3 => secret.chars().map(escape).collect(),
        4 => secret.bytes().map(percent).collect(),
        5 => secret.bytes().map(|byte| percent(byte).to_lowercase()).collect(),
        6 => hexadecimal(),
        _ => hexadecimal().to_uppercase(),
    }
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    for group in bytes.chunks(3) {
        let number =
            (0..3).fold(0_usize, |number, at| number << 8 | usize::from(*group.get(at).unwrap_or(&0)));
        out.extend((0..=group.len()).map(|place| alphabet[number >> (18 - 6 * place) & 63]));
    }
    out
}

fn is_masked(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'*' | b'\n' | b'\r'))
}

fn breaks(bytes: &[u8]) -> Vec<usize> {
    (0..bytes.len()).filter(|&at| matches!(bytes[at], b'\n' | b'\r')).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_form_is_left_in_any_cut(
        secrets in prop::collection::vec(secret(), 1..4),
        which in any::<prop::sample::Index>(),
        way in 0..WAYS,
        before in noise(),
        after in noise(),
        lengths in prop::collection::vec(1_usize..20, 1..8),
    ) {
        let secret = which.get(&secrets).trim();
        // Lower-case letters are another secret, except in digits.
        prop_assume!(way != 5 || secret.bytes().all(|byte| !byte.is_ascii_uppercase()));
        let form = written(secret, way);
        let stream = [&before[..], b"\"", form.as_bytes(), b"\"", &after].concat();
        let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
        let out = masked(&secrets, &stream, &[stream.len()]);
        prop_assert_eq!(&out, &masked(&secrets, &stream, &lengths));
        prop_assert_eq!(out.len(), stream.len());
        prop_assert_eq!(breaks(&out), breaks(&stream));
        let from = before.len() + 1;
        // Outside of the strings of a line of JSON it is a number, which stays one.
        let masked: Vec<u8> = if form.bytes().all(|byte| byte.is_ascii_digit()) {
            out[from..from + form.len()].iter().map(|&byte| if byte == b'1' { b'*' } else { byte }).collect()
        } else {
            out[from..from + form.len()].to_vec()
        };
        prop_assert!(is_masked(&masked), "{}", String::from_utf8_lossy(&out));
    }

    #[test]
    fn base64_is_found_wherever_it_begins(
        secret in secret(),
        before in noise(),
        after in noise(),
        lengths in prop::collection::vec(1_usize..20, 1..8),
    ) {
        let secret = secret.trim();
        let stream = base64(&[&before[..], secret.as_bytes(), &after].concat());
        let out = masked(&[secret], &stream, &lengths);
        let known = (8 * before.len()).div_ceil(6)..8 * (before.len() + secret.len()) / 6;
        prop_assert!(is_masked(&out[known]), "{}", String::from_utf8_lossy(&out));
    }

    #[test]
    fn what_holds_no_secret_is_left(text in noise(), lengths in prop::collection::vec(1_usize..5, 1..4)) {
        prop_assert_eq!(masked(&["QQQQQQQQ"], &text, &lengths), text);
    }

    #[test]
    fn a_masked_text_is_text(secrets in prop::collection::vec(secret(), 1..4), text in "[ab\\\\\"u0-9%+é😀\n ]{0,60}") {
        let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
        prop_assert_eq!(masks(&secrets).text(&text).len(), text.len());
    }
}

/// A text as it is masked, whatever the cuts.
fn mask(secrets: &[&str], text: &str) -> String {
    let whole = masked(secrets, text.as_bytes(), &[text.len()]);
    for length in 1..8 {
        assert_eq!(
            masked(secrets, text.as_bytes(), &vec![length; text.len()]),
            whole,
            "in pieces of {length}"
        );
    }
    String::from_utf8(whole).expect("it is text")
}

#[test]
fn what_a_terminal_does_to_a_secret_is_undone() {
    let secret = "sk_live_0123456789";
    let stars = "*".repeat(secret.len());
    let inside = |between: &str| [&secret[..9], between, &secret[9..]].concat();
    for between in
        ["\x1b[0m", "\x1b[38;2;255;1;2m\x1b[K", "\x1b]8;;https://x/?a=1\x07", "\x1b]0;title\x1b\\", "\x1b(B"]
    {
        let masked = mask(&[secret], &format!("a {} b", inside(between)));
        assert_eq!(masked, format!("a {stars}{} b", "*".repeat(between.len())), "{between:?}");
        let json = serde_json::to_string(&inside(between)).expect("a text");
        assert!(!mask(&[secret], &json).contains("live"), "{json}");
    }
    for between in ["\n", "\r\n"] {
        let masked = mask(&[secret], &inside(between));
        assert_eq!(masked, format!("{}{between}{}", &stars[..9], &stars[9..]));
        assert!(!mask(&[secret], &serde_json::to_string(&inside(between)).expect("a text")).contains("live"));
    }
    // A short one may be two lines of something else.
    assert_eq!(mask(&["4711"], "47\n11"), "47\n11");
}

#[test]
fn hexadecimal_digits_are_found_with_separators() {
    let secret = "hush-hush";
    for separator in [" ", ":", "-", ", ", "\n"] {
        for upper in [false, true] {
            let digits: Vec<String> = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
            let text = digits.join(separator);
            let text = if upper { text.to_uppercase() } else { text };
            let masked = mask(&[secret], &format!("x {text} y"));
            assert!(!masked.contains(|c: char| c.is_ascii_digit()), "{text}: {masked}");
            assert!(masked.starts_with("x *") && masked.ends_with("* y"), "{masked}");
        }
    }
    let own = "deadbeef00c0ffee";
    assert_eq!(mask(&[own], "de:ad:be:ef:00:c0:ff:ee"), "*".repeat(23));
    assert_eq!(mask(&["sesame"], "se sa me, too"), "se sa me, too", "words are no digits");
}

#[test]
fn a_number_in_json_stays_a_number() {
    let line = r#"{"pin":12345678,"text":"12345678","list":[1,12345678.5],"id":912345678}"#;
    let masked = mask(&["12345678"], line);
    assert_eq!(masked, r#"{"pin":11111111,"text":"********","list":[1,11111111.5],"id":911111111}"#);
    serde_json::from_str::<serde_json::Value>(&masked).expect("it is still JSON");
    assert_eq!(mask(&["12345678"], "pin 12345678\n{\"a\": 12345678}\n"), "pin ********\n{\"a\": 11111111}\n");
    let masks = masks(&["12345678"]);
    let mut value = serde_json::json!({ "n": 12_345_678, "list": [12_345_678.5] });
    masks.json(&mut value);
    assert_eq!(value, serde_json::json!({ "n": 11_111_111, "list": [11_111_111.5] }));
}

#[test]
fn nothing_is_held_back_for_ever() {
    let masks = masks(&["sk_live_0123456789"]);
    let mut masker = Masker::new(masks);
    let mut out = Vec::new();
    masker.push(b"sk_live_", &mut out);
    for _ in 0..1000 {
        masker.push("\n\x1b[0m ".repeat(10).as_bytes(), &mut out);
    }
    assert!(masker.held() < 20_000, "{} bytes are held back", masker.held());
}
