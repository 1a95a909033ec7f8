//! What is known of the terminals at both ends, and how text is put on them: colours, columns, and nothing that an
//! agent could use to control a terminal.

use std::{
    borrow::Cow,
    env,
    io::{self, IsTerminal},
};

use rustix::termios::tcgetwinsize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::table::{Overflow, Table};

/// A terminal that does not say how large it is.
const USUAL_SIZE: (u16, u16) = (24, 80);

/// Text is not wider, however wide the terminal is.
const TEXT_COLUMNS_MAX: usize = 80;

/// Where text goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    colours: bool,
    /// Characters in a line, where lines have an end.
    columns: Option<usize>,
    /// Whether what was drawn can be drawn over.
    redraws: bool,
}

/// How a text stands out. Colour comes last: every state also has a word and a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// As it is.
    Plain,
    /// Important.
    Bold,
    /// Less important.
    Dim,
    /// Well.
    Good,
    /// Needs somebody.
    Attention,
    /// Not well.
    Bad,
}

impl Screen {
    /// Standard output.
    pub(crate) fn stdout() -> Screen {
        Screen::of(io::stdout().is_terminal())
    }

    /// Standard error.
    pub(crate) fn stderr() -> Screen {
        Screen::of(io::stderr().is_terminal())
    }

    fn of(is_terminal: bool) -> Screen {
        let no_colour = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|value| value == "dumb");
        Screen {
            colours: is_terminal && !no_colour && !dumb,
            columns: is_terminal.then(|| wanted_columns().unwrap_or_else(|| usize::from(size().1))),
            redraws: is_terminal && !dumb,
        }
    }

    /// A file, a model or a test.
    pub(crate) fn plain() -> Screen {
        Screen { colours: false, columns: None, redraws: false }
    }

    /// A terminal with lines of this width.
    #[cfg(test)]
    pub(crate) fn of_width(columns: usize) -> Screen {
        Screen { columns: Some(columns), ..Screen::plain() }
    }

    /// A terminal with colours.
    #[cfg(test)]
    pub(crate) fn coloured() -> Screen {
        Screen { colours: true, ..Screen::plain() }
    }

    /// Whether colours are shown.
    pub(crate) fn colours(self) -> bool {
        self.colours
    }

    /// Characters in a line, where lines have an end.
    pub(crate) fn width(self) -> Option<usize> {
        self.columns
    }

    /// The same terminal for text behind so many characters.
    pub(crate) fn indented(self, indent: usize) -> Screen {
        Screen { columns: self.columns.map(|columns| columns.saturating_sub(indent)), ..self }
    }

    /// How wide text is that is read and not looked up: it is hard to read in longer lines.
    pub(crate) fn text_width(self) -> Option<usize> {
        self.columns.map(|columns| columns.min(TEXT_COLUMNS_MAX))
    }

    /// Adds a text in a style, so many characters from the left, in lines that fit.
    pub(crate) fn add_text(self, said: &mut String, indent: usize, style: Style, text: &str) {
        for line in self.wrapped(indent, text) {
            add_line(said, indent, &self.style(style, &line));
        }
    }

    /// A text in lines that fit.
    pub(crate) fn text(self, text: &str) -> String {
        let mut said = String::new();
        self.add_text(&mut said, 0, Style::Plain, text);
        said
    }

    /// The text in lines that fit behind so many characters.
    pub(crate) fn wrapped(self, indent: usize, text: &str) -> Vec<String> {
        match self.text_width() {
            Some(width) => wrap(text, width.saturating_sub(indent)),
            None => vec![text.to_owned()],
        }
    }

    /// All of a text in lines that fit, however wide they are.
    pub(crate) fn whole(self, text: &str) -> Vec<String> {
        self.columns.map_or_else(|| vec![text.to_owned()], |columns| wrap(text, columns))
    }

    /// Whether what was drawn can be drawn over.
    pub(crate) fn can_redraw(self) -> bool {
        self.redraws
    }

    /// The text in a style.
    pub(crate) fn style(self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Plain => return text.to_owned(),
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Good => "32",
            Style::Attention => "33",
            Style::Bad => "31",
        };
        if self.colours && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Rows with their columns below each other, in lines that fit.
    pub(crate) fn columns(self, rows: &[Vec<Cell>]) -> String {
        self.columns_of_at_least(rows, &[])
    }

    /// The same with columns of at least these widths, so that nothing moves when their contents change.
    pub(crate) fn columns_of_at_least(self, rows: &[Vec<Cell>], widths_min: &[usize]) -> String {
        let table = Table::new(self, widths(rows.iter(), widths_min), Overflow::Cut);
        rows.iter().map(|row| table.row(row)).collect()
    }

    /// The same where another column than the last is cut, if the line is short.
    pub(crate) fn columns_around(self, flexible: usize, rows: &[Vec<Cell>]) -> String {
        let table = Table::around(self, widths(rows.iter(), &[]), flexible);
        rows.iter().map(|row| table.row(row)).collect()
    }

    /// Each row as text of its own, so that something can be said between two.
    pub(crate) fn rows(self, rows: &[Vec<Cell>]) -> Vec<String> {
        let table = Table::new(self, widths(rows.iter(), &[]), Overflow::Cut);
        rows.iter().map(|row| table.row(row)).collect()
    }

    /// Names with their values, of which nothing is left out.
    pub(crate) fn fields(self, rows: &[Vec<Cell>]) -> String {
        let table = Table::new(self, widths(rows.iter(), &[]), Overflow::Wrap);
        rows.iter().map(|row| table.row(row)).collect()
    }
}

/// How wide the columns of these rows are, and each at least so wide.
pub(crate) fn widths<R: AsRef<[Cell]>>(rows: impl Iterator<Item = R>, widths_min: &[usize]) -> Vec<usize> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        let row = row.as_ref();
        while widths.len() < row.len() {
            widths.push(widths_min.get(widths.len()).copied().unwrap_or_default());
        }
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.text.width());
        }
    }
    widths
}

/// A text in a column.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) style: Style,
}

impl Cell {
    pub(crate) fn new(text: &str) -> Cell {
        Cell::styled(Style::Plain, text)
    }

    pub(crate) fn styled(style: Style, text: &str) -> Cell {
        Cell { text: one_line(text), style }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// The width that a person wants by `COLUMNS`, whatever the terminal says of itself.
fn wanted_columns() -> Option<usize> {
    env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0)
}

/// The size of the terminal: lines, then characters in a line.
pub(crate) fn size() -> (u16, u16) {
    let sizes = [
        tcgetwinsize(rustix::stdio::stdout()),
        tcgetwinsize(rustix::stdio::stderr()),
        tcgetwinsize(rustix::stdio::stdin()),
    ];
    let known: Vec<(u16, u16)> = sizes.into_iter().flatten().map(|it| (it.ws_row, it.ws_col)).collect();
    size_of(&known)
}

/// Each number from the first terminal that states it: one that knows only how wide it is counts for that.
fn size_of(known: &[(u16, u16)]) -> (u16, u16) {
    let rows = known.iter().map(|(rows, _)| *rows).find(|rows| *rows > 0);
    let columns = known.iter().map(|(_, columns)| *columns).find(|columns| *columns > 0);
    (rows.unwrap_or(USUAL_SIZE.0), columns.unwrap_or(USUAL_SIZE.1))
}

/// Somebody's text without anything that a terminal would obey.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    let is_obeyed = |letter: char| is_obeyed(letter) && !matches!(letter, '\n' | '\t');
    if text.contains(is_obeyed) { text.replace(is_obeyed, "").into() } else { text.into() }
}

/// Somebody's line with everything in it visible: what a person agrees to must not hide anything.
pub(crate) fn visible(line: &str) -> String {
    let mut said = String::new();
    for letter in line.chars() {
        let is_nothing = matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if is_obeyed(letter) || is_nothing {
            said.extend(letter.escape_unicode());
        } else {
            said.push(letter);
        }
    }
    said
}

/// Whether a terminal would do something instead of showing a letter, such as turn the direction of those behind it.
pub(crate) fn is_obeyed(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The same in one line.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    safe(&words.join(" ")).into_owned()
}

/// Adds a line, so many characters from the left.
pub(crate) fn add_line(said: &mut String, indent: usize, text: &str) {
    said.extend(std::iter::repeat_n(' ', indent));
    said.push_str(text);
    said.push('\n');
}

/// The text in lines of at most that width, broken between words. A command that is meant to be copied is not broken,
/// and neither is a path; a longer one stands alone. Another word that is longer than a line goes on in the next.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in unbroken(text) {
        let is_copied = word.contains([' ', '/']);
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.width() + 1 + word.width() <= width {
            line.push(' ');
            line.push_str(&word);
            continue;
        }
        let mut pieces = if is_copied { vec![word] } else { pieces(&word, width) };
        if line.is_empty() && !pieces.is_empty() {
            *line = pieces.remove(0);
        }
        lines.append(&mut pieces);
    }
    lines
}

/// A word in pieces that are not wider.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for letter in word.chars() {
        let room = letter.width().unwrap_or(0);
        if used > 0 && used + room > width {
            pieces.push(String::new());
            used = 0;
        }
        used += room;
        pieces.last_mut().expect("there is always a piece").push(letter);
    }
    pieces
}

/// The words of a text. A command is one of them as a whole: in quotation marks up to the closing one, behind a colon or
/// a comma up to the end of its clause.
fn unbroken(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    // What closes the command that is being read; a space, if its clause does.
    let mut closing: Option<char> = None;
    for word in text.split(' ') {
        let goes_on = closing.is_some_and(|it| it != ' ' || !word.starts_with('('));
        let inside = match words.last_mut() {
            Some(last) if goes_on => {
                last.push(' ');
                last.push_str(word);
                word
            }
            last => {
                let is_clause = last.is_none_or(|last| last.ends_with([':', ',']));
                let mark = word.chars().next().filter(|mark| matches!(mark, '\'' | '`'));
                let name = word.trim_start_matches(['\'', '`']);
                let is_command = matches!(name, "ostler" | "git" | "npm" | "pip" | "brew" | "curl");
                closing = mark.or(is_clause.then_some(' ')).filter(|_| is_command);
                words.push(word.to_owned());
                name
            }
        };
        let is_closed = match closing {
            Some(' ') => inside.ends_with(['.', ',', ';', ')', '?']),
            Some(mark) => inside.contains(mark),
            None => true,
        };
        closing = closing.filter(|_| !is_closed);
    }
    words
}

/// As much of the text as fits.
pub(crate) fn cut(text: &str, room: Option<usize>) -> Cow<'_, str> {
    let Some(room) = room.filter(|room| text.width() > *room) else { return text.into() };
    let mut short = String::new();
    for letter in text.chars() {
        let next = format!("{short}{letter}");
        if next.width() + 1 > room {
            break;
        }
        short = next;
    }
    short.push('…');
    short.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_whatever_the_script() {
        let rows = [
            vec![Cell::new("s_1"), Cell::new("로그인 고치기"), Cell::new("a")],
            vec![Cell::new("s_12"), Cell::new("fix"), Cell::new("b")],
            vec![Cell::new("s_3"), Cell::new(""), Cell::new("")],
        ];
        assert_eq!(
            Screen::plain().columns(&rows),
            "s_1   로그인 고치기  a\n\
             s_12  fix            b\n\
             s_3\n"
        );
        let rows = [vec![Cell::new("a"), Cell::new("완료"), Cell::new("b")]];
        assert_eq!(Screen::plain().columns_of_at_least(&rows, &[2, 6]), "a   완료    b\n");
    }

    #[test]
    fn a_terminal_that_does_not_know_its_height_counts_for_its_width() {
        assert_eq!(size_of(&[(0, 120), (50, 0)]), (50, 120));
        assert_eq!(size_of(&[(0, 40)]), (24, 40));
        assert_eq!(size_of(&[]), USUAL_SIZE);
    }

    #[test]
    fn lines_are_broken_between_words() {
        assert_eq!(wrap("the agents do not notice", 11), ["the agents", "do not", "notice"]);
        assert_eq!(wrap("에이전트는 계속 일합니다", 15), ["에이전트는 계속", "일합니다"]);
        assert_eq!(wrap("unbreakable", 4), ["unbr", "eaka", "ble"]);
        assert_eq!(wrap("a 에이전트는 b", 5), ["a", "에이", "전트", "는 b"]);
        assert_eq!(wrap("see docs/ko/exit-codes.md", 8), ["see", "docs/ko/exit-codes.md"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(
            wrap("or answer later: ostler answer q_1 1 (you are asked)", 20),
            ["or answer later:", "ostler answer q_1 1", "(you are asked)"]
        );
        assert_eq!(
            wrap("See 'ostler run --help'. Then go on", 18),
            ["See", "'ostler run --help'.", "Then go on"]
        );
    }

    #[test]
    fn colours_only_where_they_are_wanted() {
        assert_eq!(Screen::plain().style(Style::Bad, "x"), "x");
        let screen = Screen { colours: true, ..Screen::plain() };
        assert_eq!(screen.style(Style::Bad, "x"), "\x1b[31mx\x1b[0m");
        assert_eq!(screen.style(Style::Plain, "x"), "x");
    }

    #[test]
    fn nothing_controls_the_terminal() {
        assert_eq!(safe("a\x1b]52;c;x\x07\nb\u{9b}31m"), "a]52;c;x\nb31m");
        assert_eq!(one_line(" a\n\tb\x07 "), "a b");
        assert_eq!(safe("a\u{202e}gpj.exe\u{2069}"), "agpj.exe");
        assert_eq!(visible("rm\r\u{200b}-r\u{202e}"), "rm\\u{d}\\u{200b}-r\\u{202e}");
    }
}
