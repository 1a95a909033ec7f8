//! What a person sees of the bytes that went to a terminal: its rows, all of them that there ever were.

use unicode_width::UnicodeWidthChar;
use vte::{Params, Parser, Perform};

/// The rows of a terminal that never scrolls anything away.
pub(crate) fn rows(bytes: &str, columns: usize) -> Vec<String> {
    let mut picture = Picture { columns, rows: vec![Vec::new()], row: 0, column: 0 };
    Parser::new().advance(&mut picture, bytes.as_bytes());
    let row = |letters: Vec<char>| letters.into_iter().filter(|letter| *letter != '\0').collect::<String>();
    picture.rows.into_iter().map(row).map(|row| row.trim_end().to_owned()).collect()
}

struct Picture {
    columns: usize,
    /// A letter per column; one of two columns is followed by nothing.
    rows: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Picture {
    fn go_down(&mut self) {
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push(Vec::new());
        }
    }
}

impl Perform for Picture {
    fn print(&mut self, letter: char) {
        let width = letter.width().unwrap_or(0);
        if self.column + width > self.columns {
            self.go_down();
            self.column = 0;
        }
        let row = &mut self.rows[self.row];
        row.resize(row.len().max(self.column + width), ' ');
        for (index, place) in row[self.column..self.column + width].iter_mut().enumerate() {
            *place = if index == 0 { letter } else { '\0' };
        }
        self.column += width;
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.go_down(),
            b'\r' => self.column = 0,
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _intermediates: &[u8], _ignore: bool, action: char) {
        let count = params.iter().next().and_then(|param| param.first().copied()).unwrap_or(0);
        match action {
            'A' => self.row = self.row.saturating_sub(usize::from(count.max(1))),
            'J' => {
                self.rows.truncate(self.row + 1);
                self.rows[self.row].truncate(self.column);
            }
            _ => {}
        }
    }
}
