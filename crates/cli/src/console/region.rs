//! How much of a terminal a text takes, so that it can be taken away and drawn again.

use unicode_width::UnicodeWidthChar;

/// A terminal's distance between two tab stops.
const TAB: usize = 8;

/// Where the cursor is after a text that began in the first column: rows below its first one, and the column. A row
/// that is just full has no column left; a terminal goes on only with the next letter.
pub(super) fn cursor_after(text: &str, columns: usize) -> (usize, usize) {
    let columns = columns.max(1);
    let (mut row, mut column) = (0, 0);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => (row, column) = (row + 1, 0),
            '\r' => column = 0,
            '\t' => column = ((column / TAB + 1) * TAB).min(columns - 1),
            '\u{1b}' => pass_over_escape(&mut letters),
            letter => {
                let width = letter.width().unwrap_or(0);
                if column + width > columns {
                    (row, column) = (row + 1, 0);
                }
                column += width;
            }
        }
    }
    (row, column)
}

/// Colours take no room. Other sequences do not get here, unless somebody wants bytes as they are.
fn pass_over_escape(letters: &mut std::str::Chars<'_>) {
    if letters.next() == Some('[') {
        letters.find(|letter| ('@'..='~').contains(letter));
    }
}

/// Takes away what stands behind such a text and everything of the text itself: the cursor is where it began.
pub(super) fn erase(text: &str, columns: usize) -> String {
    match cursor_after(text, columns).0 {
        0 => "\r\x1b[J".to_owned(),
        rows => format!("\r\x1b[{rows}A\x1b[J"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_in_columns() {
        assert_eq!(cursor_after("", 10), (0, 0));
        assert_eq!(cursor_after("0123456789", 10), (0, 10), "just full");
        assert_eq!(cursor_after("01234567890", 10), (1, 1));
        assert_eq!(cursor_after("한국어한국", 10), (0, 10), "Hangul takes two columns");
        assert_eq!(cursor_after("a한국어한국", 10), (1, 2), "and is not cut in half");
        assert_eq!(cursor_after("\x1b[1;31mred\x1b[0m\nx\ty", 10), (1, 9));
        assert_eq!(cursor_after("10%\r20%", 10), (0, 3));
    }

    #[test]
    fn erasing_begins_where_the_text_began() {
        assert_eq!(erase("abc", 10), "\r\x1b[J");
        assert_eq!(erase("01234567890123\nabc", 10), "\r\x1b[2A\x1b[J");
    }
}
