//! Bytes as hexadecimal digits, and back.

/// Lower-case digits.
pub(crate) fn digits(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).expect("half a byte is one digit");
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// What the digits stand for, if they are digits.
pub(crate) fn bytes(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| u8::try_from(char::from(digit).to_digit(16)?).ok();
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| Some(value(*high)? << 4 | value(*low)?)).collect()
}
