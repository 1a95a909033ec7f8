//! Who called whom, as a Mermaid sequence diagram. It is text that others draw: nothing that an agent has written may
//! become a line of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::{InvocationStatus, InvocationView, ResultView};

/// How much of a task is shown beside an arrow, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// Words that Mermaid takes for its own where the name of a participant could stand.
const RESERVED: [&str; 28] = [
    "activate",
    "actor",
    "alt",
    "and",
    "autonumber",
    "box",
    "break",
    "create",
    "critical",
    "deactivate",
    "destroy",
    "details",
    "else",
    "end",
    "link",
    "links",
    "loop",
    "note",
    "off",
    "opt",
    "option",
    "over",
    "par",
    "par_over",
    "participant",
    "properties",
    "rect",
    "title",
];

/// Calls and what came of them, and results that came without a call or after it was over, in the order in which that
/// happened.
pub(crate) fn mermaid(calls: &[InvocationView], results: &[ResultView]) -> String {
    let mut calls: Vec<&InvocationView> = calls.iter().collect();
    calls.sort_by_key(|call| (call.opened_at_ms, number(&call.id)));
    let mut results: Vec<&ResultView> = results.iter().collect();
    results.sort_by_key(|result| (result.given_at_ms, number(&result.id)));
    let mut people = People::of(&calls, &results);
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
    for result in results {
        let (from, to) = (people.id(&result.from), people.id(&result.to));
        // An arrow of its own: nobody waits at its end.
        let line = format!("{from}--){to}: {} {}", result.id, text(&result.content));
        lines.push((result.given_at_ms, false, line));
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
    fn of(calls: &[&InvocationView], results: &[&ResultView]) -> People {
        let called = calls.iter().map(|it| (it.opened_at_ms, &it.caller, &it.callee));
        let brought = results.iter().map(|it| (it.given_at_ms, &it.from, &it.to));
        let mut all: Vec<_> = called.chain(brought).collect();
        all.sort_by_key(|(at_ms, ..)| *at_ms);
        let mut people = People::default();
        for (_, from, to) in all {
            people.id(from);
            people.id(to);
        }
        people
    }

    /// A name with the letters that Mermaid takes; two people never have the same.
    fn id(&mut self, name: &str) -> String {
        if let Some(id) = self.ids.get(name) {
            return id.clone();
        }
        let letters: String =
            name.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '_' }).collect();
        let letters = if begins_reserved(&letters) { format!("_{letters}") } else { letters };
        let is_free = |id: &String| !self.taken.contains(id);
        let numbered = (2..).map(|n: u32| format!("{letters}_{n}"));
        let id = std::iter::once(letters.clone()).chain(numbered).find(is_free).unwrap_or_default();
        self.taken.insert(id.clone());
        self.ids.insert(name.to_owned(), id.clone());
        self.order.push((id.clone(), name.to_owned()));
        id
    }
}

/// Whether Mermaid would take the beginning of a name for a word of its own, which for it ends where ASCII does.
fn begins_reserved(letters: &str) -> bool {
    let end = letters.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(letters.len());
    RESERVED.contains(&letters[..end].to_ascii_lowercase().as_str())
}

/// One short line. What Mermaid would end it at, or take for markup or for one of its settings, stands there by its code,
/// which is drawn as what was written. A colon behind the first one is text.
fn text(words: &str) -> String {
    let is_end = |c: char| c.is_control() || "\u{2028}\u{2029}".contains(c);
    let line: String = words.chars().map(|c| if is_end(c) { ' ' } else { c }).collect();
    let line = line.trim();
    let is_short = line.chars().count() <= SHOWN_CHARS_MAX;
    let shown = if is_short { SHOWN_CHARS_MAX } else { SHOWN_CHARS_MAX - 1 };
    let mut said = String::new();
    for c in line.chars().take(shown) {
        match c {
            ';' | '#' | '<' | '>' => said.extend(["#", &u32::from(c).to_string(), ";"]),
            c => said.push(c),
        }
    }
    // Two of them begin a comment or a setting, wherever they stand.
    let mut said = said.replace("%%", "#37;#37;");
    if !is_short {
        said.push('…');
    }
    said
}

fn number(id: &str) -> u64 {
    id.rsplit('_').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{InvocationStatus, InvocationView, ResultView, mermaid};

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
            request: None,
            why: ended.map(str::to_owned),
            words: None,
            result: (status == InvocationStatus::Completed).then(|| format!("d_{number}")),
            depth: 1,
            opened_at_ms: number,
            began_at_ms: None,
            ended_at_ms: ended.map(|_| 100 - number),
            cut: Vec::new(),
        }
    }

    fn result(number: u64, from: &str, to: &str, content: &str) -> ResultView {
        ResultView {
            id: format!("d_{number}"),
            project: "p_1".to_owned(),
            run: "r_1".to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            kind: "message".to_owned(),
            content: content.to_owned(),
            whole: true,
            file: None,
            bytes: None,
            sha256: None,
            invocation: None,
            late: false,
            delivered: true,
            given_at_ms: number,
            delivered_at_ms: Some(number),
        }
    }

    #[test]
    fn what_nobody_asked_for_is_no_call() {
        let calls = [call(2, "PO", "designer", "Sketch it", None)];
        let results = [result(3, "designer", "QA", "For you"), result(1, "QA", "PO", "By the way")];
        assert_eq!(
            mermaid(&calls, &results),
            "sequenceDiagram
    participant QA as QA
    participant PO as PO
    participant designer as designer
    QA--)PO: d_1 By the way
    PO->>designer: i_2 Sketch it
    designer--)QA: d_3 For you
"
        );
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
            mermaid(&calls, &[]),
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

    /// Only what Mermaid draws by a code has its signs.
    fn is_plain(line: &str) -> bool {
        let mut rest = line.to_owned();
        for code in ["#59;", "#35;", "#60;", "#62;", "#37;"] {
            rest = rest.replace(code, "");
        }
        !rest.contains([';', '#', '<']) && !rest.contains("%%")
    }

    #[test]
    fn what_agents_write_becomes_no_line() {
        let task = "x\nEND;<script>#60;\r\u{2028}participant evil: %%{init: y}%%";
        let calls = [
            call(1, "a-b", "a.b", task, None),
            call(2, "a-b", "end", "", None),
            call(3, "a_b", "Note담당", "wrap: 100% :%%%", None),
        ];
        let text = mermaid(&calls, &[result(4, "a-b", "a.b", task)]);
        assert_eq!(text.lines().count(), 10, "{text}");
        assert!(
            text.contains("participant a_b as a-b") && text.contains("participant a_b_2 as a.b"),
            "{text}"
        );
        assert!(text.contains("a_b->>_end: i_2\n") && text.contains("participant _end as end\n"), "{text}");
        assert!(text.contains("a_b_3->>_Note담당: i_3 wrap: 100% :#37;#37;%\n"), "{text}");
        assert!(text.lines().all(is_plain), "{text}");
    }

    #[test]
    fn what_was_written_can_be_read() {
        let long = ";".repeat(70);
        for (task, expected) in [
            ("Sketch this: Good morning", "Sketch this: Good morning"),
            ("12:30, and: then", "12:30, and: then"),
            ("Plan it; all", "Plan it#59; all"),
            ("Fix #12 in <main>", "Fix #35;12 in #60;main#62;"),
            (":", ":"),
            // It is cut as it was written, and never within a code.
            (long.as_str(), &format!("{}…", "#59;".repeat(59))),
        ] {
            let text = mermaid(&[call(1, "PO", "QA", task, None)], &[]);
            assert!(text.ends_with(&format!("    PO->>QA: i_1 {expected}\n")), "{text}");
        }
    }
}
