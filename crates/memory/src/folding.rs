//! Letters without their case, as `rg -i` compares them: simple case folding of Unicode, one character for one.

/// The text with each letter in one case. What is no UTF-8 stays as it is.
pub fn fold(bytes: &[u8]) -> Vec<u8> {
    let mut folded = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        fold_text(chunk.valid(), &mut folded);
        folded.extend_from_slice(chunk.invalid());
    }
    folded
}

fn fold_text(text: &str, folded: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let plain = rest.bytes().take_while(u8::is_ascii).count();
        if plain > 0 {
            folded.extend(rest.as_bytes()[..plain].iter().map(u8::to_ascii_lowercase));
            rest = &rest[plain..];
            continue;
        }
        let (this, after) = rest.split_at(c.len_utf8());
        if has_case(c) {
            folded.extend_from_slice(folded_char(c).encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            folded.extend_from_slice(this.as_bytes());
        }
        rest = after;
    }
}

/// Whether a character may have another case. The large scripts without any are told apart quickly.
fn has_case(c: char) -> bool {
    !matches!(c, '\u{2E80}'..='\u{A63F}' | '\u{AC00}'..='\u{D7FF}')
}

/// The one character that stands for all that differ from it in case alone.
fn folded_char(c: char) -> char {
    match c {
        // The dotless i is no other case of i, and the dotted capital is none of it either, outside of Turkish.
        'ı' | 'İ' => return c,
        // These have no capital of one character, and yet a second form.
        '\u{1FD3}' => return '\u{390}',
        '\u{1FE3}' => return '\u{3B0}',
        '\u{FB05}' => return '\u{FB06}',
        _ => {}
    }
    let upper = only(c.to_uppercase()).unwrap_or(c);
    only(upper.to_lowercase()).unwrap_or(upper)
}

/// The character, if it is one alone.
fn only(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

    use super::*;

    #[test]
    fn case_is_folded_as_the_engine_of_ripgrep_does() {
        let mut classes: BTreeMap<char, Vec<char>> = BTreeMap::new();
        for c in '\0'..=char::MAX {
            classes
                .entry(if c.is_ascii() { c.to_ascii_lowercase() } else { folded_char(c) })
                .or_default()
                .push(c);
        }
        let mut wrong = Vec::new();
        for c in '\0'..=char::MAX {
            let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
            class.case_fold_simple();
            let expected: Vec<char> = class.ranges().iter().flat_map(|it| it.start()..=it.end()).collect();
            let key = if c.is_ascii() { c.to_ascii_lowercase() } else { folded_char(c) };
            // Letters of Unicode 17, which that engine does not know yet.
            let is_newer = matches!(c, '\u{A7CE}'..='\u{A7D5}' | '\u{16EA0}'..='\u{16ED3}');
            if classes[&key] != expected && !is_newer {
                wrong.push((c, expected, classes[&key].clone()));
            }
            assert!(has_case(c) || folded_char(c) == c, "{c:?}");
        }
        assert!(wrong.is_empty(), "{} differ: {:?}", wrong.len(), &wrong[..wrong.len().min(40)]);
    }

    #[test]
    fn text_keeps_everything_but_its_case() {
        let check = |text: &[u8], expected: &[u8]| assert_eq!(fold(text), expected);
        check("로그인 Token ÄÖ".as_bytes(), "로그인 token äö".as_bytes());
        check(b"A\xff\xfeB\xe2\x82", b"a\xff\xfeb\xe2\x82");
        check("K ſ ς".as_bytes(), "k s σ".as_bytes());
        check(b"", b"");
    }
}
