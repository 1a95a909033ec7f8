//! Who called whom, as a Mermaid sequence diagram. It is text that others draw: nothing that an agent has written may
//! become a line of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::{InvocationStatus, InvocationView};

/// How much of a task is shown beside an arrow, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// Words that Mermaid takes for its own where the name of a participant could stand.
const RESERVED: [&str; 13] = [
    "end",
    "loop",
    "alt",
    "else",
    "opt",
    "par",
    "and",
    "rect",
    "note",
    "critical",
    "break",
    "box",
    "participant",
];

/// Calls and what came of them, in the order in which that happened.
pub(crate) fn mermaid(calls: &[InvocationView]) -> String {
    let mut calls: Vec<&InvocationView> = calls.iter().collect();
    calls.sort_by_key(|call| (call.opened_at_ms, number(&call.id)));
    let mut people = People::default();
    // What ends and what begins in the same millisecond: the end came first, unless it is of the same call.
    let mut lines: Vec<(u64, bool, String)> = Vec::new();
    for call in calls {
        let (from, to) = (people.id(&call.caller), people.id(&call.callee));
        let line = format!("{from}->>{to}: {} {}", call.id, text(&call.task));
        lines.push((call.opened_at_ms, true, line));
        let Some(ended_at_ms) = call.ended_at_ms else { continue };
        let line = match call.status {
            InvocationStatus::Completed => {
                format!("{to}-->>{from}: {}", call.result.as_deref().unwrap_or(&call.id))
            }
            _ => format!("{to}--x{from}: {} {}", call.id, call.why.as_deref().unwrap_or_default()),
        };
        lines.push((ended_at_ms, ended_at_ms == call.opened_at_ms, line));
    }
    lines.sort_by_key(|(at_ms, opens, _)| (*at_ms, *opens));
    let people = people.order.iter().map(|(id, name)| format!("participant {id} as {}", text(name)));
    let lines = people.chain(lines.into_iter().map(|(_, _, line)| line));
    let mut said = "sequenceDiagram\n".to_owned();
    for line in lines {
        said.extend(["    ", line.trim_end(), "\n"]);
    }
    said
}

/// Who takes part, in the order in which they first appear.
#[derive(Default)]
struct People {
    order: Vec<(String, String)>,
    ids: BTreeMap<String, String>,
    taken: BTreeSet<String>,
}

impl People {
    /// A name with the letters that Mermaid takes; two people never have the same.
    fn id(&mut self, name: &str) -> String {
        if let Some(id) = self.ids.get(name) {
            return id.clone();
        }
        let letters: String =
            name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
        let is_free =
            |id: &String| !self.taken.contains(id) && !RESERVED.contains(&id.to_lowercase().as_str());
        let numbered = (2..).map(|n: u32| format!("{letters}_{n}"));
        let id = std::iter::once(letters.clone()).chain(numbered).find(is_free).unwrap_or_default();
        self.taken.insert(id.clone());
        self.ids.insert(name.to_owned(), id.clone());
        self.order.push((id.clone(), name.to_owned()));
        id
    }
}

/// One short line, without what Mermaid would end it at or take for markup.
fn text(words: &str) -> String {
    let is_plain = |c: char| !c.is_control() && !";#:<>\u{2028}\u{2029}".contains(c);
    let line: String = words.chars().map(|c| if is_plain(c) { c } else { ' ' }).collect();
    let line = line.trim();
    if line.chars().count() <= SHOWN_CHARS_MAX {
        return line.to_owned();
    }
    line.chars().take(SHOWN_CHARS_MAX - 1).chain(['…']).collect()
}

fn number(id: &str) -> u64 {
    id.rsplit('_').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{InvocationStatus, InvocationView, mermaid};

    fn call(number: u64, from: &str, to: &str, task: &str, ended: Option<&str>) -> InvocationView {
        let status = match ended {
            None => InvocationStatus::InProgress,
            Some("delivered") => InvocationStatus::Completed,
            Some(_) => InvocationStatus::Failed,
        };
        InvocationView {
            id: format!("i_{number}"),
            project: "p_1".to_owned(),
            run: "r_1".to_owned(),
            session: "s_1".to_owned(),
            caller: from.to_owned(),
            callee: to.to_owned(),
            seat: None,
            task: task.to_owned(),
            context: None,
            status,
            why: ended.map(str::to_owned),
            words: None,
            result: (status == InvocationStatus::Completed).then(|| format!("d_{number}")),
            depth: 1,
            opened_at_ms: number,
            began_at_ms: None,
            ended_at_ms: ended.map(|_| 100 - number),
        }
    }

    #[test]
    fn calls_and_results_stand_in_their_order() {
        let calls = [
            call(2, "PO", "designer", "Sketch it", Some("delivered")),
            call(1, "s_1", "PO", "Plan it", Some("delivered")),
            call(3, "PO", "QA", "Test it", Some("cycle")),
            call(4, "PO", "backend", "Build it", None),
        ];
        assert_eq!(
            mermaid(&calls),
            "sequenceDiagram
    participant s_1 as s_1
    participant PO as PO
    participant designer as designer
    participant QA as QA
    participant backend as backend
    s_1->>PO: i_1 Plan it
    PO->>designer: i_2 Sketch it
    PO->>QA: i_3 Test it
    PO->>backend: i_4 Build it
    QA--xPO: i_3 cycle
    designer-->>PO: d_2
    PO-->>s_1: d_1
"
        );
    }

    #[test]
    fn what_agents_write_becomes_no_line() {
        let task = "x\nEND;<script>#60;\r\u{2028}participant evil: y";
        let text = mermaid(&[call(1, "a-b", "a.b", task, None), call(2, "a-b", "end", "", None)]);
        assert_eq!(text.lines().count(), 6, "{text}");
        assert!(
            text.contains("participant a_b as a-b") && text.contains("participant a_b_2 as a.b"),
            "{text}"
        );
        assert!(text.contains("a_b->>end_2: i_2\n"), "{text}");
        assert!(!text.contains('<') && !text.contains(';'), "{text}");
    }
}
