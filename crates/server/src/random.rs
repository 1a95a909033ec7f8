//! The only place where anything is random: words that nobody can guess.

use std::fmt::Write;

/// A word of 32 hexadecimal digits.
pub(crate) fn word() -> String {
    hexadecimal(&bytes::<16>())
}

/// A word of 64 hexadecimal digits, for what is good for a long time.
pub(crate) fn long_word() -> String {
    hexadecimal(&bytes::<32>())
}

/// Bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("a string can be written to");
        digits
    })
}

/// A random UUID, as CLIs want it for a new conversation.
pub(crate) fn uuid() -> String {
    let mut bytes = bytes::<16>();
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let digits = hexadecimal(&bytes);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the kernel has randomness once it has booted");
    bytes
}
