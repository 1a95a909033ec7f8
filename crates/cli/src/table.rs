//! Rows in columns on a line that may be too short for them. All rows have the same places:
//!
//! | the line                                          | what happens                                             |
//! |---------------------------------------------------|----------------------------------------------------------|
//! | has room for all columns                          | nothing                                                  |
//! | leaves the last column `LAST_COLUMNS_MIN` or more | the last column is cut, or goes on below itself          |
//! | is shorter                                        | a row takes several lines, each with the columns that fit |
//!
//! Only the last column, and what is wider than a line by itself, is ever cut.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use crate::screen::{Cell, Screen, cut, wrap};

/// Between two columns.
const GAP: usize = 2;

/// With less room than this, the last column goes to a line of its own.
const LAST_COLUMNS_MIN: usize = 10;

/// The columns of lines that continue a row begin below the second column, but not further right than this.
const INDENT_MAX: usize = 8;

/// What happens to a last column that is longer than its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// It ends with `…`: a list has a line for each thing.
    Cut,
    /// It goes on below: a page about one thing says everything.
    Wrap,
}

/// Where the columns of some rows are.
#[derive(Debug)]
pub(crate) struct Table {
    screen: Screen,
    widths: Vec<usize>,
    /// The columns of each line of a row.
    lines: Vec<Range<usize>>,
    indent: usize,
    overflow: Overflow,
}

impl Table {
    /// For columns of these widths.
    pub(crate) fn new(screen: Screen, widths: Vec<usize>, overflow: Overflow) -> Table {
        let indent = widths.first().map_or(0, |first| (first + GAP).min(INDENT_MAX));
        let room = screen.width().unwrap_or(usize::MAX);
        let mut lines = Vec::new();
        let (mut begin, mut used) = (0, 0);
        for (index, &width) in widths.iter().enumerate() {
            let is_last = index + 1 == widths.len();
            let needed = if is_last { width.min(LAST_COLUMNS_MIN) } else { width };
            if index > begin && used + needed > room {
                lines.push(begin..index);
                (begin, used) = (index, indent);
            }
            used = used.saturating_add(width + GAP);
        }
        lines.push(begin..widths.len());
        Table { screen, widths, lines, indent, overflow }
    }

    /// The same for columns of which this one gives way where the line is short.
    pub(crate) fn around(screen: Screen, mut widths: Vec<usize>, flexible: usize) -> Table {
        let needed: usize = widths.iter().map(|width| width + GAP).sum();
        let missing = screen.width().map_or(0, |room| needed.saturating_sub(GAP).saturating_sub(room));
        if let Some(width) = widths.get_mut(flexible) {
            *width = width.saturating_sub(missing).max((*width).min(LAST_COLUMNS_MIN));
        }
        Table::new(screen, widths, Overflow::Cut)
    }

    /// A row as lines.
    pub(crate) fn row(&self, cells: &[Cell]) -> String {
        let mut said = String::new();
        for (number, columns) in self.lines.iter().enumerate() {
            let columns = columns.start..columns.end.min(cells.len());
            let is_empty = cells.get(columns.clone()).is_none_or(|them| them.iter().all(Cell::is_empty));
            // A row that has nothing in its later columns is no longer for them.
            if number == 0 || !is_empty {
                self.line(&mut said, if number == 0 { 0 } else { self.indent }, cells, columns);
            }
        }
        said
    }

    fn line(&self, said: &mut String, indent: usize, cells: &[Cell], columns: Range<usize>) {
        let mut line = " ".repeat(indent);
        let mut used = indent;
        let last = columns.end.saturating_sub(1);
        for index in columns {
            let Cell { text, style } = &cells[index];
            let room = self.screen.width().map(|columns| columns.saturating_sub(used));
            if index < last {
                let width = self.widths[index];
                let text = cut(text, Some(room.map_or(width, |room| room.min(width))));
                line.push_str(&self.screen.style(*style, &text));
                line.extend(std::iter::repeat_n(' ', width + GAP - text.width()));
                used += width + GAP;
                continue;
            }
            let parts = match (self.overflow, room) {
                (Overflow::Wrap, Some(room)) if index + 1 == self.widths.len() => wrap(text, room.max(1)),
                _ => vec![cut(text, room).into_owned()],
            };
            for (number, part) in parts.iter().enumerate() {
                if number > 0 {
                    line.truncate(line.trim_end().len());
                    line.push('\n');
                    line.extend(std::iter::repeat_n(' ', used));
                }
                line.push_str(&self.screen.style(*style, part));
            }
        }
        said.push_str(line.trim_end());
        said.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::screen::widths;

    #[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
    fn check(width: usize, overflow: Overflow, rows: &[&[&str]], expect: Expect) {
        let rows: Vec<Vec<Cell>> =
            rows.iter().map(|row| row.iter().map(|text| Cell::new(text)).collect()).collect();
        let table = Table::new(Screen::of_width(width), widths(rows.iter(), &[]), overflow);
        let said: String = rows.iter().map(|row| table.row(row)).collect();
        for line in said.lines() {
            assert!(line.width() <= width, "{} columns: {line}", line.width());
        }
        expect.assert_eq(&said);
    }

    const SESSIONS: &[&[&str]] = &[
        &["ID", "STATUS", "SINCE", "WAITS FOR", "AGENT", "PROJECT", "WHAT"],
        &["s_1", "● working", "4 min", "", "claude", "shop-app", "fix the flaky test of the checkout"],
        &["s_12", "◆ 답을 기다림", "12분", "q_7", "codex", "가게", "로그인 화면을 고치고 테스트를 추가하기"],
    ];

    #[test]
    fn the_last_column_is_cut_and_the_others_stay() {
        check(
            72,
            Overflow::Cut,
            SESSIONS,
            expect![[r#"
            ID    STATUS         SINCE  WAITS FOR  AGENT   PROJECT   WHAT
            s_1   ● working      4 min             claude  shop-app  fix the flaky …
            s_12  ◆ 답을 기다림  12분   q_7        codex   가게      로그인 화면을 …
        "#]],
        );
    }

    #[test]
    fn a_row_takes_several_lines_where_the_line_is_short() {
        check(
            40,
            Overflow::Cut,
            SESSIONS,
            expect![[r#"
            ID    STATUS         SINCE  WAITS FOR
                  AGENT   PROJECT   WHAT
            s_1   ● working      4 min
                  claude  shop-app  fix the flaky t…
            s_12  ◆ 답을 기다림  12분   q_7
                  codex   가게      로그인 화면을 …
        "#]],
        );
        check(
            20,
            Overflow::Cut,
            SESSIONS,
            expect![[r#"
            ID    STATUS
                  SINCE
                  WAITS FOR
                  AGENT
                  PROJECT
                  WHAT
            s_1   ● working
                  4 min
                  claude
                  shop-app
                  fix the flaky…
            s_12  ◆ 답을 기다림
                  12분
                  q_7
                  codex
                  가게
                  로그인 화면을…
        "#]],
        );
    }

    #[test]
    fn another_column_gives_way() {
        let rows = ["T1.2", "Write the orders table and its index", "← T1.1"].map(Cell::new).to_vec();
        let of =
            |width| Table::around(Screen::of_width(width), widths([&rows].into_iter(), &[]), 1).row(&rows);
        assert_eq!(of(60), "T1.2  Write the orders table and its index  ← T1.1\n");
        assert_eq!(of(40), "T1.2  Write the orders table an…  ← T1.1\n");
        assert_eq!(of(20), "T1.2  Write the ord…\n      ← T1.1\n");
    }

    #[test]
    fn a_page_loses_nothing() {
        let fields: &[&[&str]] = &[
            &["files", "src/checkout.rs, src/cart.rs, tests/checkout.rs"],
            &["소유자", "결제 화면을 맡은 백엔드 전문가"],
        ];
        check(
            30,
            Overflow::Wrap,
            fields,
            expect![[r#"
            files   src/checkout.rs,
                    src/cart.rs,
                    tests/checkout.rs
            소유자  결제 화면을 맡은
                    백엔드 전문가
        "#]],
        );
    }

    #[test]
    fn what_is_wider_than_a_line_is_cut() {
        check(
            10,
            Overflow::Cut,
            &[&["a-very-long-name", "x"], &["긴이름긴이름", "y"]],
            expect![[r#"
            a-very-lo…
                    x
            긴이름긴…
                    y
        "#]],
        );
    }
}
