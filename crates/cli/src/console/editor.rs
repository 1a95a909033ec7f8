//! The line that a person is typing, as bytes of a terminal that no longer edits lines itself. The keys are those of a
//! terminal's own line: Backspace, Ctrl-W, Ctrl-U and Ctrl-D. Other control keys and arrows are ignored.

use unicode_width::UnicodeWidthChar;
use zeroize::Zeroizing;

const END: char = '\u{4}';
const ERASE_ALL: char = '\u{15}';
const ERASE_WORD: char = '\u{17}';
const ESCAPE: char = '\u{1b}';

/// The longest line that is kept, as long as a terminal's own.
const LINE_BYTES_MAX: usize = 4096;

/// What a person has finished.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A line.
    Line(Zeroizing<String>),
    /// The input: Ctrl-D in an empty line, or twice.
    End,
}

/// A line that is being typed.
#[derive(Debug, Default)]
pub(super) struct Editor {
    line: Zeroizing<String>,
    /// The first bytes of a letter whose others have not come yet.
    partial: Vec<u8>,
    escape: Escape,
    /// Whether the last key was Ctrl-D behind a word, which is not said by closing the input.
    wants_end: bool,
    /// Whether a star is shown for each letter.
    pub(super) is_hidden: bool,
}

/// How much of a key's escape sequence has come.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Begun,
    Sequence,
    /// One letter of a function key follows.
    Function,
}

impl Editor {
    /// Takes what the terminal sent; gives everything that was finished with it, as it is shown.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<(String, Typed)> {
        let mut finished = Vec::new();
        self.partial.extend_from_slice(bytes);
        let bytes = Zeroizing::new(std::mem::take(&mut self.partial));
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            match str::from_utf8(rest) {
                Ok(text) => {
                    self.push_text(text, &mut finished);
                    break;
                }
                Err(error) => {
                    let (valid, behind) = rest.split_at(error.valid_up_to());
                    self.push_text(str::from_utf8(valid).unwrap_or_default(), &mut finished);
                    let Some(wrong) = error.error_len() else {
                        self.partial = behind.to_vec();
                        break;
                    };
                    rest = &behind[wrong..];
                }
            }
        }
        finished
    }

    fn push_text(&mut self, text: &str, finished: &mut Vec<(String, Typed)>) {
        for letter in text.chars() {
            if let Some(typed) = self.key(letter) {
                finished.push((self.shown(), typed));
                self.line.clear();
            }
        }
    }

    fn key(&mut self, letter: char) -> Option<Typed> {
        let wanted_end = std::mem::take(&mut self.wants_end);
        match (self.escape, letter) {
            (Escape::Begun, '[') => self.escape = Escape::Sequence,
            (Escape::Begun, 'O') => self.escape = Escape::Function,
            (Escape::Sequence, ' '..='?') => {}
            (Escape::Begun | Escape::Sequence | Escape::Function, ' '..='~') => self.escape = Escape::None,
            (_, ESCAPE) => self.escape = Escape::Begun,
            _ => {
                self.escape = Escape::None;
                return self.plain_key(letter, wanted_end);
            }
        }
        None
    }

    fn plain_key(&mut self, letter: char, wanted_end: bool) -> Option<Typed> {
        match letter {
            '\r' | '\n' => return Some(Typed::Line(self.line.clone())),
            END if self.line.is_empty() || wanted_end => return Some(Typed::End),
            END => self.wants_end = true,
            '\u{8}' | '\u{7f}' => self.erase_letter(),
            ERASE_ALL => self.line.clear(),
            ERASE_WORD => {
                let kept = self.line.trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.line.truncate(kept);
            }
            '\t' => self.line.push(' '),
            letter if letter.is_control() => {}
            letter if self.line.len() + letter.len_utf8() <= LINE_BYTES_MAX => self.line.push(letter),
            _ => {}
        }
        None
    }

    /// Takes the last letter back, with the marks above it.
    fn erase_letter(&mut self) {
        while self.line.pop().is_some_and(|letter| letter.width() == Some(0)) {}
    }

    /// Forgets what was typed.
    pub(super) fn clear(&mut self) {
        self.line.clear();
        self.partial.clear();
        self.wants_end = false;
    }

    /// What of it is on the screen.
    pub(super) fn shown(&self) -> String {
        if self.is_hidden { "*".repeat(self.line.chars().count()) } else { self.line.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_keys(editor: &mut Editor, keys: &[u8]) -> Vec<Typed> {
        editor.push(keys).into_iter().map(|(_, typed)| typed).collect()
    }

    fn line(text: &str) -> Typed {
        Typed::Line(Zeroizing::new(text.to_owned()))
    }

    #[test]
    fn the_keys_of_a_terminals_own_line() {
        let mut editor = Editor::default();
        assert_eq!(type_keys(&mut editor, b"MySX\x7fQL\r"), [line("MySQL")]);
        assert_eq!(type_keys(&mut editor, b"one two \x17three\n"), [line("one three")]);
        assert_eq!(type_keys(&mut editor, b"all of it\x15x\n\n"), [line("x"), line("")]);
        assert_eq!(
            type_keys(&mut editor, b"a\x1b[D\x1b[3~\x1bOA\x01b\n"),
            [line("ab")],
            "arrows are ignored"
        );
    }

    #[test]
    fn a_letter_may_come_in_pieces() {
        let mut editor = Editor::default();
        for byte in "한국".as_bytes() {
            assert_eq!(type_keys(&mut editor, &[*byte]), []);
        }
        assert_eq!(editor.shown(), "한국");
        assert_eq!(type_keys(&mut editor, b"\x7f\xff!\n"), [line("한!")], "what is no text is ignored");
    }

    #[test]
    fn the_input_ends_in_an_empty_line_or_when_it_is_said_twice() {
        let mut editor = Editor::default();
        assert_eq!(type_keys(&mut editor, b"\x04"), [Typed::End]);
        assert_eq!(type_keys(&mut editor, b"word\x04"), []);
        assert_eq!(type_keys(&mut editor, b"s\x04\n"), [line("words")]);
        assert_eq!(type_keys(&mut editor, b"word\x04\x04"), [Typed::End]);
        assert_eq!(editor.shown(), "");
    }

    #[test]
    fn a_secret_is_shown_as_stars() {
        let mut editor = Editor { is_hidden: true, ..Editor::default() };
        type_keys(&mut editor, "sk_한".as_bytes());
        assert_eq!(editor.shown(), "****");
    }
}
