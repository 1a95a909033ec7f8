//! What the resolver writes into the state: `ready`, `blocked`, `pending` and `dependencies`.
//!
//! All of it follows from the plan and from the parts of others, so nobody here ever reads it. It stays the text that it is
//! in the file: values of a plan with 100,000 tasks would take ten times as long as the plan itself.

use std::{collections::BTreeMap, sync::Arc};

use ostler_engine::plan::{Progress, State as TaskState, Task, TaskNumber};
use serde_json::value::RawValue;

/// The part that is no list of tasks.
pub(crate) const DEPENDENCIES: &str = "dependencies";

/// The lists.
const LISTS: [&str; 3] = ["ready", "blocked", "pending"];

/// Before each id of a list, which stands in a part of the file, and behind the last.
const ID_START: &str = "\n      \"";
const LIST_END: &str = "\n    ]";

/// The resolver's parts, by name, as they are written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Derived {
    /// Shared, for a state is copied to see whether it changes.
    texts: BTreeMap<&'static str, Arc<Box<RawValue>>>,
}

impl Derived {
    /// Takes a list of tasks over as it stands in the file; whether it is one of the resolver's.
    pub(crate) fn take_list(&mut self, name: &str, text: &RawValue) -> bool {
        let own = LISTS.iter().find(|own| **own == name);
        own.map(|own| self.texts.insert(own, Arc::new(text.to_owned()))).is_some()
    }

    /// Takes the dependencies over as they stand in the file.
    pub(crate) fn take_dependencies(&mut self, text: &RawValue) {
        self.texts.insert(DEPENDENCIES, Arc::new(text.to_owned()));
    }

    /// The lists of tasks.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (&'static str, &RawValue)> {
        self.texts.iter().filter(|(name, _)| **name != DEPENDENCIES).map(|(name, text)| (*name, &***text))
    }

    /// Who waits for whom.
    pub(crate) fn dependencies(&self) -> Option<&RawValue> {
        self.texts.get(DEPENDENCIES).map(|text| &***text)
    }

    /// Writes everything anew.
    pub(crate) fn write(&mut self, progress: &Progress<'_>) {
        let plan = progress.plan();
        let name = |task: TaskNumber| plan.task(task).name();
        let blocked = progress.blocked();
        let waits = |task: &TaskNumber| {
            progress.state(*task) == TaskState::Pending
                && !progress.is_ready(*task)
                && blocked.binary_search(task).is_err()
        };
        self.put("ready", list(progress.ready().map(name)));
        self.put("blocked", list(blocked.iter().copied().map(name)));
        self.put("pending", list(plan.tasks().map(Task::number).filter(waits).map(name)));
        self.put(DEPENDENCIES, dependencies(progress));
    }

    /// What says the same already stays as somebody has written it.
    fn put(&mut self, name: &'static str, text: String) {
        if self.texts.get(name).is_none_or(|old| !is_same(old.get(), &text)) {
            let text = RawValue::from_string(text).expect("ids in quotes are JSON");
            self.texts.insert(name, Arc::new(text));
        }
    }
}

impl PartialEq for Derived {
    fn eq(&self, other: &Derived) -> bool {
        let is_same = |one: &Arc<Box<RawValue>>, other: &Arc<Box<RawValue>>| {
            Arc::ptr_eq(one, other) || one.get() == other.get()
        };
        self.texts.len() == other.texts.len()
            && self
                .texts
                .iter()
                .zip(&other.texts)
                .all(|(one, other)| one.0 == other.0 && is_same(one.1, other.1))
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    add_list(&mut text, names);
    text
}

/// Ids are letters that need no escape.
fn add_list<'a>(text: &mut String, names: impl Iterator<Item = &'a str>) {
    text.push('[');
    let start = text.len();
    for name in names {
        if text.len() > start {
            text.push(',');
        }
        text.push_str(ID_START);
        text.push_str(name);
        text.push('"');
    }
    text.push_str(if text.len() > start { LIST_END } else { "]" });
}

/// Of each task that names some, in the order of the file.
fn dependencies(progress: &Progress<'_>) -> String {
    let plan = progress.plan();
    let backwards = plan.graph().backwards();
    let mut text = String::from("{");
    for task in plan.tasks() {
        let before = backwards.tasks_of(plan, task.number());
        if !before.is_empty() {
            text.push_str(if text.len() > 1 { ",\n    \"" } else { "\n    \"" });
            text.push_str(task.name());
            text.push_str("\": ");
            add_list(&mut text, before.iter().map(|it| plan.task(*it).name()));
        }
    }
    text.push_str(if text.len() > 1 { "\n  }" } else { "}" });
    text
}

/// Whether two texts of JSON differ in nothing but white space.
fn is_same(one: &str, other: &str) -> bool {
    one == other || solid(one).eq(solid(other))
}

/// Without the white space between what is said.
fn solid(text: &str) -> impl Iterator<Item = u8> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.bytes().filter(move |byte| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = is_quoted && *byte == b'\\' && !is_escaped;
        is_quoted ^= ends;
        is_quoted || !byte.is_ascii_whitespace()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_says_nothing_but_between_quotes() {
        for (one, other) in [
            (r#"["T1.1","T1.2"]"#, "[ \"T1.1\",\n \"T1.2\" ]"),
            (r#"{"T1.1": ["a \" b"]}"#, r#"{ "T1.1":["a \" b"] }"#),
            (r#"["\\" ]"#, r#"["\\"]"#),
        ] {
            assert!(is_same(one, other) && is_same(other, one), "{one} {other}");
        }
        for (one, other) in [
            (r#"["T1.1"]"#, r#"["T1.2"]"#),
            (r#"["a b"]"#, r#"["ab"]"#),
            (r#"["a \" b"]"#, r#"["a \"b"]"#),
            (r#"["T1.1"]"#, r#"["T1.1","T1.2"]"#),
        ] {
            assert!(!is_same(one, other) && !is_same(other, one), "{one} {other}");
        }
    }
}
