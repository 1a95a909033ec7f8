//! Tables: which column says what, and the cells of a row.

use alloc::vec::Vec;

use super::key::{Key, STATES, trim};

/// What a column says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Id,
    /// A task: its title, or its id where there is no column of ids.
    Task,
    Title,
    Status,
    Key(Key),
    Other,
}

/// The header of a table that names tasks.
#[derive(Debug, Clone)]
pub(super) struct Table {
    columns: Vec<Column>,
    id: usize,
    title: Option<usize>,
    needs: Option<usize>,
}

/// What the cells of a row say.
#[derive(Debug, Clone)]
pub(super) struct Row<'a> {
    pub(super) id: &'a [u8],
    pub(super) title: Option<&'a [u8]>,
    pub(super) status: Option<&'a [u8]>,
    /// Everything that has a key, dependencies too.
    pub(super) pairs: Vec<(Key, &'a [u8])>,
}

impl Table {
    /// Reads the header; nothing if no column could hold ids.
    pub(super) fn open(header: &[u8]) -> Option<Table> {
        let columns: Vec<Column> = cells(header).into_iter().map(Column::of).collect();
        let at = |wanted: Column| columns.iter().position(|column| *column == wanted);
        let needs = at(Column::Key(Key::Needs));
        // Whatever the first column is called: beside dependencies it has those who have them.
        let first = needs.and_then(|_| columns.iter().position(|column| !matches!(column, Column::Key(_))));
        let id = at(Column::Id).or_else(|| at(Column::Task)).or(first)?;
        let title = at(Column::Title).or_else(|| at(Column::Task)).filter(|&title| title != id);
        Some(Table { columns, id, title, needs })
    }

    /// Whether its rows say what their tasks depend on.
    pub(super) fn has_needs(&self) -> bool {
        self.needs.is_some()
    }

    /// The cells by what they say; the two lengths if they differ.
    pub(super) fn row<'a>(&self, line: &'a [u8]) -> Result<Row<'a>, (usize, usize)> {
        let cells = cells(line);
        if cells.len() != self.columns.len() {
            return Err((cells.len(), self.columns.len()));
        }
        let mut row = Row {
            id: cells[self.id],
            title: self.title.map(|title| cells[title]),
            status: None,
            pairs: Vec::new(),
        };
        for (column, cell) in self.columns.iter().zip(&cells) {
            match column {
                Column::Status => row.status = Some(cell),
                Column::Key(key) => row.pairs.push((*key, cell)),
                Column::Id | Column::Task | Column::Title | Column::Other => {}
            }
        }
        Ok(row)
    }
}

impl Column {
    fn of(cell: &[u8]) -> Column {
        let word = trim(cell).to_ascii_lowercase();
        match core::str::from_utf8(&word).unwrap_or_default() {
            "id" | "task id" | "taskid" | "task_id" | "#" | "no" | "no." | "번호" | "태스크 id"
            | "작업 id" => Column::Id,
            "task" | "태스크" | "작업" => Column::Task,
            "title" | "name" | "description" | "제목" | "이름" | "내용" | "설명" => Column::Title,
            "status" | "done" | "상태" | "완료" => Column::Status,
            word if STATES.contains(&word) => Column::Other,
            _ => Key::of(&word).map_or(Column::Other, Column::Key),
        }
    }
}

/// The cells of a line. A bar behind a backslash belongs to its cell.
fn cells(line: &[u8]) -> Vec<&[u8]> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"|").unwrap_or(line);
    let mut cells = Vec::new();
    let mut start = 0;
    for (at, _) in line.iter().enumerate().filter(|(_, byte)| **byte == b'|') {
        if at == 0 || line[at - 1] != b'\\' {
            cells.push(line[start..at].trim_ascii());
            start = at + 1;
        }
    }
    // Behind the last bar stands nothing, or a cell without one.
    let last = line[start..].trim_ascii();
    if !last.is_empty() || cells.is_empty() {
        cells.push(last);
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows() {
        let table = Table::open("| ID | Layer | Task | Dependencies |".as_bytes()).expect("a table");
        assert!(table.has_needs());
        let row = table.row(b"| T1 | CODE | a \\| b | T2, T3 |").expect("a row");
        assert_eq!((row.id, row.title), (&b"T1"[..], Some(&b"a \\| b"[..])));
        assert_eq!(row.pairs, [(Key::Needs, &b"T2, T3"[..])]);
        assert_eq!(table.row(b"| T1 | CODE | a | b | T2 |").map(|_| ()), Err((5, 4)));
        assert_eq!(table.row(b"| T1 |  |  |  |").map(|row| row.pairs[0].1), Ok(&b""[..]));
    }

    #[test]
    fn other_tables() {
        assert!(Table::open(b"| Name | Value |").is_none());
        let table = Table::open("태스크 | 담당".as_bytes()).expect("a table");
        assert!(!table.has_needs());
        assert_eq!(table.row(b"T1.1 login | backend").map(|row| row.id), Ok(&b"T1.1 login"[..]));
    }
}
