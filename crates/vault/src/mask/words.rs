//! The forms of a secret that are looked for as they are. JSON and URLs are not among them: those are undone in the
//! stream, which finds every way of writing them.

use zeroize::Zeroizing;

use super::layer::{Form, Layer, Unit};

/// Shorter secrets are not masked: they stand in every other word.
pub const MASKED_BYTES_MIN: usize = 4;

/// Shorter lines of a secret with several are not masked by themselves.
const LINE_BYTES_MIN: usize = 8;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Everything that a secret is looked for as.
pub(super) fn forms(secret: &str) -> Vec<Zeroizing<Vec<u8>>> {
    // White space around it tells nothing and is often lost on the way.
    let text = secret.trim();
    if text.len() < MASKED_BYTES_MIN {
        return Vec::new();
    }
    let mut forms = vec![Zeroizing::new(text.as_bytes().to_vec())];
    if text.contains('\n') {
        // As a terminal prints it.
        forms.push(Zeroizing::new(text.replace('\n', "\r\n").into_bytes()));
        let lines = text.lines().map(str::trim).filter(|line| line.len() >= LINE_BYTES_MIN);
        forms.extend(lines.map(|line| Zeroizing::new(line.as_bytes().to_vec())));
    }
    for alphabet in [STANDARD, URL_SAFE] {
        for before in 0..3 {
            forms.extend(base64(text.as_bytes(), before, alphabet));
        }
    }
    for digits in [b"0123456789abcdef", b"0123456789ABCDEF"] {
        let digit = |value: u8| digits[usize::from(value)];
        let bytes = text.bytes().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
        forms.push(Zeroizing::new(bytes.collect()));
    }
    forms
}

/// The forms of a secret that are hexadecimal digits, which tools print with separators: its bytes, and the secret itself if
/// it is nothing else.
pub(super) fn digits(secret: &str) -> Vec<Zeroizing<Vec<u8>>> {
    let text = secret.trim();
    if text.len() < MASKED_BYTES_MIN {
        return Vec::new();
    }
    let bytes = Zeroizing::new(crate::hex::digits(text.as_bytes()));
    let is_digits = text.len() >= LINE_BYTES_MIN && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let own = is_digits.then(|| Zeroizing::new(text.to_owned()));
    let all = own.into_iter().chain([bytes]);
    let all = all.chain(utf16(text).map(|bytes| Zeroizing::new(crate::hex::digits(&bytes))));
    let cases = all.flat_map(|text| [text.to_ascii_lowercase(), text.to_ascii_uppercase()]);
    cases.map(|text| Zeroizing::new(text.into_bytes())).collect()
}

/// A secret in UTF-16, as a screen shows it: without control characters, and so without the zero bytes. What is left of
/// one in ASCII is the secret itself. The text beside a dump shows each of them as a dot.
pub(super) fn wide(secret: &str) -> Vec<Zeroizing<Vec<u8>>> {
    let text = secret.trim();
    if text.len() < LINE_BYTES_MIN {
        return Vec::new();
    }
    let mut forms: Vec<_> = utf16(text).map(|bytes| seen(Form::Shown, &bytes)).into();
    // A secret with control characters of its own.
    forms.push(seen(Form::Shown, text.as_bytes()));
    if text.is_ascii() {
        let dots = text.bytes().flat_map(|byte| [byte, b'.']).take(2 * text.len() - 1);
        forms.push(Zeroizing::new(dots.collect()));
    }
    let [low, _] = utf16(text);
    forms.extend((0..3).flat_map(|before| base64(&low, before, STANDARD)));
    forms.retain(|form| form.len() >= LINE_BYTES_MIN);
    forms
}

/// The bytes of UTF-16 in both orders. Of one in ASCII, the zero bytes at both ends tell nothing and are left out.
fn utf16(text: &str) -> [Zeroizing<Vec<u8>>; 2] {
    let low = text.encode_utf16().flat_map(u16::to_le_bytes);
    let high = text.encode_utf16().flat_map(u16::to_be_bytes);
    let zeros = usize::from(text.is_ascii());
    let length = 2 * text.encode_utf16().count() - zeros;
    [Zeroizing::new(low.take(length).collect()), Zeroizing::new(high.skip(zeros).collect())]
}

/// A form without what layout may put between its characters.
pub(super) fn skeleton(form: &[u8]) -> Zeroizing<Vec<u8>> {
    // A line break is left out in any case, and settles what comes before it.
    seen(Form::Skeleton, &Zeroizing::new([form, b"\n"].concat()))
}

/// Bytes as a layer sees them.
fn seen(form: Form, text: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut layer = Layer::new(form);
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    for &byte in text {
        layer.push(Unit::of(byte, 0));
        while let Some(unit) = layer.next() {
            bytes.extend((!unit.is_overprint).then_some(unit.byte));
        }
    }
    bytes
}

/// The characters that depend on nothing but the secret, when so many bytes stand before it in their group of three:
/// once in the middle of a text, and once at its end, where one more character is known.
fn base64(bytes: &[u8], before: usize, alphabet: &[u8; 64]) -> [Zeroizing<Vec<u8>>; 2] {
    let bits = 8 * (before + bytes.len());
    let bit = |at: usize| {
        let byte = (at / 8).checked_sub(before).and_then(|place| bytes.get(place)).copied().unwrap_or(0);
        usize::from(byte >> (7 - at % 8) & 1)
    };
    let character =
        |at: usize| alphabet[(6 * at..6 * at + 6).fold(0, |value, place| value << 1 | bit(place))];
    let from = (8 * before).div_ceil(6);
    let middle: Zeroizing<Vec<u8>> = Zeroizing::new((from..bits / 6).map(character).collect());
    let end = Zeroizing::new((from..bits.div_ceil(6)).map(character).collect());
    [middle, end]
}

#[cfg(test)]
mod tests {
    use super::{STANDARD, base64, forms};

    fn texts(secret: &str) -> Vec<String> {
        forms(secret).iter().map(|form| String::from_utf8(form.to_vec()).unwrap()).collect()
    }

    #[test]
    fn base64_is_found_in_every_alignment() {
        // As `printf xhush! | base64` and the like print it.
        let middle = |before| String::from_utf8(base64(b"hush!", before, STANDARD)[0].to_vec()).unwrap();
        assert!("aHVzaCE=".starts_with(&middle(0)) && middle(0).len() == 6);
        assert!("eGh1c2gh".ends_with(&middle(1)) && middle(1).len() == 6);
        assert!("eHhodXNoIQ==".contains(&middle(2)) && middle(2).len() == 6);
        let end = |before| String::from_utf8(base64(b"hush!", before, STANDARD)[1].to_vec()).unwrap();
        assert_eq!(end(0), "aHVzaCE");
        assert!("eHhodXNoIQ==".contains(&end(2)) && end(2).len() == 7);
    }

    #[test]
    fn short_ones_have_no_form() {
        assert!(forms("abc").is_empty());
        assert!(forms("  abc\n").is_empty());
        assert!(texts("abcd\n").contains(&"abcd".to_owned()));
        assert!(texts("abcd").contains(&"61626364".to_owned()));
    }

    #[test]
    fn lines_count_by_themselves() {
        let forms = texts("-----BEGIN-----\nMIIEvQIBADAN\n==\n-----END-----\n");
        assert!(forms.contains(&"MIIEvQIBADAN".to_owned()));
        assert!(!forms.contains(&"==".to_owned()));
        assert!(forms.contains(&"-----BEGIN-----\r\nMIIEvQIBADAN\r\n==\r\n-----END-----".to_owned()));
    }
}
