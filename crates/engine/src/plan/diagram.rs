//! Mermaid: the edges of a `graph` or `flowchart`, one line at a time.

use alloc::vec::Vec;

/// What a line of a diagram says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A node with a label.
    Label { name: &'a [u8], label: &'a [u8] },
    /// One after the other.
    Edge { from: &'a [u8], to: &'a [u8] },
    /// A part with a name of its own begins.
    Part { name: &'a [u8] },
    /// A node, or another part, stands in a part.
    Member { part: &'a [u8], name: &'a [u8] },
    /// A link without a direction.
    NoArrow,
    /// More than [`PIECES_MAX`] in one line.
    TooMany,
}

/// How much a line may say: `A & B --> C & D` says the product of both sides.
const PIECES_MAX: usize = 1 << 16;

/// How far a text on a link may reach.
const TEXT_BYTES_MAX: usize = 512;

/// A diagram that is being read.
#[derive(Debug, Clone, Default)]
pub(super) struct Diagram<'a> {
    /// Whether its kind was said, and is one with edges of this form.
    is_flowchart: Option<bool>,
    /// The parts that are open.
    parts: Vec<&'a [u8]>,
}

/// How deep parts may stand in each other.
const PARTS_MAX: usize = 32;

/// How two nodes are linked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    There,
    Back,
    Both,
    None,
}

impl<'a> Diagram<'a> {
    /// A chain of ids outside of any diagram.
    pub(super) fn bare() -> Diagram<'a> {
        Diagram { is_flowchart: Some(true), parts: Vec::new() }
    }

    /// Reads a line; what it says is added.
    pub(super) fn read(&mut self, line: &'a [u8], pieces: &mut Vec<Piece<'a>>) {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"%%") || line.starts_with(b"---") {
            return;
        }
        let first = line.split(|&byte| byte.is_ascii_whitespace() || byte == b';').next().unwrap_or_default();
        match self.is_flowchart {
            None => self.is_flowchart = Some(matches!(first, b"graph" | b"flowchart" | b"flowchart-elk")),
            Some(false) => {}
            Some(true) => match first {
                b"end" => drop(self.parts.pop()),
                b"style" | b"classDef" | b"class" | b"click" | b"linkStyle" | b"direction" => {}
                b"subgraph" => {
                    let name = line[first.len()..].trim_ascii();
                    let end = name.iter().position(|byte| matches!(byte, b'[' | b' ')).unwrap_or(name.len());
                    let name = &name[..end];
                    pieces.push(Piece::Part { name });
                    pieces.extend(self.parts.last().map(|part| Piece::Member { part, name }));
                    if self.parts.len() < PARTS_MAX {
                        self.parts.push(name);
                    } else {
                        pieces.push(Piece::TooMany);
                    }
                }
                _ => {
                    let part = self.parts.last().copied();
                    let mut rest = chain(line, part, pieces);
                    while let Some(behind) = rest.strip_prefix(b";") {
                        rest = chain(behind, part, pieces);
                    }
                }
            },
        }
    }
}

/// `A --> B & C --> D`. Gives what stands behind.
fn chain<'a>(statement: &'a [u8], part: Option<&'a [u8]>, pieces: &mut Vec<Piece<'a>>) -> &'a [u8] {
    let mut rest = statement.trim_ascii();
    let mut left: Vec<&[u8]> = Vec::new();
    let mut link = Link::None;
    while !rest.is_empty() {
        let mut right = Vec::new();
        while let Some((name, behind)) = node(rest, pieces) {
            right.push(name);
            pieces.extend(part.map(|part| Piece::Member { part, name }));
            rest = behind.trim_ascii_start();
            match rest.strip_prefix(b"&") {
                Some(behind) => rest = behind.trim_ascii_start(),
                None => break,
            }
        }
        if right.is_empty() {
            return rest;
        }
        if left.len().saturating_mul(right.len()).saturating_add(pieces.len()) > PIECES_MAX {
            pieces.push(Piece::TooMany);
            return &[];
        }
        for (from, to) in left.iter().flat_map(|from| right.iter().map(move |to| (*from, *to))) {
            if matches!(link, Link::There | Link::Both) {
                pieces.push(Piece::Edge { from, to });
            }
            if matches!(link, Link::Back | Link::Both) {
                pieces.push(Piece::Edge { from: to, to: from });
            }
        }
        if link == Link::None && !left.is_empty() {
            pieces.push(Piece::NoArrow);
        }
        let Some((next, behind)) = arrow(rest) else { return rest };
        link = next;
        rest = behind.trim_ascii_start();
        left = right;
    }
    rest
}

/// A node with its label, and what stands behind.
fn node<'a>(text: &'a [u8], pieces: &mut Vec<Piece<'a>>) -> Option<(&'a [u8], &'a [u8])> {
    let is_part = |at: usize| {
        let byte = text[at];
        let next = text.get(at + 1).copied().unwrap_or_default();
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'.')
            || !byte.is_ascii()
            || byte == b'-' && (next.is_ascii_alphanumeric() || next == b'_')
    };
    let end = (0..text.len()).find(|&at| !is_part(at)).unwrap_or(text.len());
    if end == 0 {
        return None;
    }
    let (name, mut rest) = text.split_at(end);
    let open =
        rest.iter().take_while(|byte| matches!(byte, b'[' | b'(' | b'{' | b'>' | b'/' | b'\\')).count();
    if open > 0 {
        let inside = &rest[open..];
        let (label, behind) = match inside.strip_prefix(b"\"") {
            Some(quoted) => {
                let end = quoted.iter().position(|&byte| byte == b'"').unwrap_or(quoted.len());
                (&quoted[..end], quoted.get(end + 1..).unwrap_or_default())
            }
            None => {
                let closing = match rest[open - 1] {
                    b'(' => b')',
                    b'{' => b'}',
                    _ => b']',
                };
                let end = inside.iter().position(|&byte| byte == closing).unwrap_or(inside.len());
                inside.split_at(end)
            }
        };
        let close =
            behind.iter().take_while(|byte| matches!(byte, b']' | b')' | b'}' | b'/' | b'\\')).count();
        pieces.push(Piece::Label { name, label: label.trim_ascii() });
        rest = &behind[close..];
    }
    if let Some(class) = rest.strip_prefix(b":::") {
        let end = class.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(class.len());
        rest = &class[end..];
    }
    Some((name, rest))
}

/// A link, with its text if it has one, and what stands behind.
fn arrow(text: &[u8]) -> Option<(Link, &[u8])> {
    let back = text.starts_with(b"<");
    let line = if back { &text[1..] } else { text };
    let length = line.iter().take_while(|byte| matches!(byte, b'-' | b'=' | b'.' | b'~')).count();
    if length < 2 {
        return None;
    }
    let mut behind = &line[length..];
    let mut there = behind.first() == Some(&b'>');
    if there {
        behind = &behind[1..];
    } else if length == 2 && !back {
        // `-- text -->`: the end of the text is the next link.
        let ends: [&[u8]; 6] = [b"-->", b"==>", b".->", b"---", b"===", b".-"];
        let text = &behind[..behind.len().min(TEXT_BYTES_MAX)];
        let found = ends.iter().filter_map(|end| Some((find(text, end)?, *end))).min_by_key(|(at, _)| *at);
        let (at, end) = found?;
        there = end.ends_with(b">");
        behind = &behind[at + end.len()..];
    }
    behind = behind.trim_ascii_start();
    if let Some(label) = behind.strip_prefix(b"|") {
        let end = label.iter().position(|&byte| byte == b'|')?;
        behind = &label[end + 1..];
    }
    let direction = match (back, there) {
        (false, true) => Link::There,
        (true, false) => Link::Back,
        (true, true) => Link::Both,
        (false, false) => Link::None,
    };
    Some((direction, behind))
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use std::{format, string::String, vec};

    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let mut pieces = Vec::new();
        Diagram::bare().read(line.as_bytes(), &mut pieces);
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said: Vec<String> = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Label { name, label } => format!("{}={}", said(name), said(label)),
                Piece::Edge { from, to } => format!("{}>{}", said(from), said(to)),
                Piece::Part { name } => format!("part {}", said(name)),
                Piece::Member { part, name } => format!("{} in {}", said(name), said(part)),
                Piece::NoArrow => "no arrow".into(),
                Piece::TooMany => "too many".into(),
            })
            .collect();
        assert_eq!(said.join(" "), expected, "{line}");
    }

    #[test]
    fn edges() {
        check("T0.1 --> T0.2 --> T0.3", "T0.1>T0.2 T0.2>T0.3");
        check("T0.1-->T0.2", "T0.1>T0.2");
        check("P2-R1-T1 --> P2-R1-T2", "P2-R1-T1>P2-R1-T2");
        check("A & B --> C & D", "A>C A>D B>C B>D");
        check("A -.-> B ==> C", "A>B B>C");
        check("A -->|yes| B", "A>B");
        check("A -- some text --> B", "A>B");
        check("A -. text .-> B", "A>B");
        check("A <-- B", "B>A");
        check("A <--> B", "A>B B>A");
        check("A --- B", "no arrow");
        check("A --> B; B --> C;", "A>B B>C");
    }

    #[test]
    fn labels() {
        check("A[T0.1: setup] --> B[\"T0.2 (x)\"]", "A=T0.1: setup B=T0.2 (x) A>B");
        check("A([x]) --> B{{y}}:::done --> C", "A=x B=y A>B B>C");
    }

    #[test]
    fn what_is_no_edge() {
        check("style T1 fill:#fff", "");
        check("%% T1 --> T2", "");
        check("subgraph P1[Phase 1]", "part P1");
        check("end", "");
        check("--> T1", "");
        check("T1 -->", "");
    }

    #[test]
    fn a_line_has_its_limit() {
        let side = vec!["A"; 300].join(" & ");
        check(&format!("{side} --> {side}"), "too many");
    }

    #[test]
    fn nodes_stand_in_the_innermost_part() {
        let mut pieces = Vec::new();
        let mut diagram = Diagram::default();
        for line in ["graph TD", "subgraph A", "subgraph B[x]", "T1", "end", "T2 --> T3", "end", "T4"] {
            diagram.read(line.as_bytes(), &mut pieces);
        }
        let members = pieces.iter().filter_map(|piece| match piece {
            Piece::Member { part, name } => Some((*part, *name)),
            _ => None,
        });
        let expected: [(&[u8], &[u8]); 4] = [(b"A", b"B"), (b"B", b"T1"), (b"A", b"T2"), (b"A", b"T3")];
        assert_eq!(members.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn only_flowcharts() {
        let mut pieces = Vec::new();
        let mut diagram = Diagram::default();
        for line in ["sequenceDiagram", "A-->>B: x"] {
            diagram.read(line.as_bytes(), &mut pieces);
        }
        assert!(pieces.is_empty());
    }
}
