//! State files that other programs have begun: `completedTasks`, `completedPhases`, `failed_tasks` and the like, at the top
//! or one level below it. What is understood counts; what is not is named, so that nobody takes it for nothing.

use std::collections::BTreeSet;

use ostler_engine::plan::{Plan, State as TaskState};
use ostler_protocol::name::TaskId;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::state::{State, id_of};

/// Parts of the file that are Ostler's own, or the form's; nothing is looked for in them.
const OWN: [&str; 18] = [
    "version",
    "mode",
    "project",
    "tasks",
    "dependencies",
    "checkpoints",
    "metrics",
    "config",
    "executor",
    "runs",
    "failures",
    "decided",
    "task_file",
    "name",
    "description",
    "timestamp",
    "created_at",
    "updated_at",
];

/// Lists that follow from the task file, so that nobody needs them.
const DERIVED: [&str; 8] = [
    "pending_tasks",
    "ready_tasks",
    "blocked_tasks",
    "remaining_tasks",
    "pending",
    "ready",
    "blocked",
    "total_tasks",
];

/// What was found in a state file beside its own parts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ForeignState {
    /// Keys that were understood, each with how many tasks or phases it names.
    pub understood: Vec<(String, usize)>,
    /// Keys that may say how far tasks are, and were not understood.
    pub unread: Vec<String>,
    /// Entries that name no task of the file.
    pub unknown_tasks: Vec<String>,
}

/// What a key of somebody else's says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Tasks(TaskState),
    Phases,
}

impl State {
    /// Goes through the tasks that somebody else has listed in this state.
    pub(crate) fn each_foreign(&self, wanted: TaskState, mut take: impl FnMut(TaskId)) {
        for (_, meaning, list) in lists(self.parts()) {
            if meaning == Meaning::Tasks(wanted) {
                entries(list).iter().filter_map(|entry| id_of(entry)).for_each(&mut take);
            }
        }
    }

    /// The phases that somebody else has listed as completed.
    pub(crate) fn foreign_phases(&self) -> BTreeSet<u32> {
        let phases = lists(self.parts()).filter(|(_, meaning, _)| *meaning == Meaning::Phases);
        phases.flat_map(|(_, _, list)| entries(list)).filter_map(phase_of).collect()
    }

    /// Takes a task out of what others have listed in another state: whoever writes its state now knows better.
    pub(crate) fn forget_foreign(&mut self, id: &TaskId, state: TaskState) {
        let is_of = |entry: &Value| id_of(entry).as_ref() == Some(id);
        let forget = |parts: &mut Map<String, Value>| {
            for (key, list) in parts.iter_mut() {
                if let (Some(Meaning::Tasks(listed)), Value::Array(entries)) = (meaning(key), list)
                    && listed != state
                {
                    entries.retain(|entry| !is_of(entry));
                }
            }
        };
        let parts = self.parts_mut();
        forget(parts);
        for (_, part) in parts.iter_mut().filter(|(key, _)| !OWN.contains(&key.as_str())) {
            if let Value::Object(part) = part {
                forget(part);
            }
        }
    }

    /// Whether somebody else has put something into the state that may say how far tasks are.
    pub fn has_foreign(&self) -> bool {
        lists(self.parts()).next().is_some() || !unread(self.parts()).is_empty()
    }

    /// What somebody else has put into the state, and how much of it is understood.
    pub fn foreign(&self, plan: &Plan) -> ForeignState {
        let mut found = ForeignState::default();
        for (key, meaning, list) in lists(self.parts()) {
            let entries = entries(list);
            let is_known = |entry: &&Value| match meaning {
                Meaning::Tasks(_) => id_of(entry).is_some_and(|id| plan.find(id.as_str()).is_some()),
                Meaning::Phases => {
                    phase_of(entry).is_some_and(|it| plan.phases().iter().any(|at| at.number == it))
                }
            };
            found.understood.push((key, entries.iter().copied().filter(is_known).count()));
            found.unknown_tasks.extend(entries.into_iter().filter(|entry| !is_known(entry)).map(shown));
        }
        found.unread = unread(self.parts());
        found
    }
}

/// The keys that may say how far tasks are, without a meaning that is known.
fn unread(parts: &Map<String, Value>) -> Vec<String> {
    let own = |key: &str| OWN.contains(&key) || key == "execution";
    let may_say = |key: &str, value: &Value| {
        let key = snake(key);
        let is_about =
            ["task", "phase", "complete", "done", "finished", "status"].iter().any(|it| key.contains(it));
        let is_position = key.starts_with("current") || key.starts_with("last") || key.starts_with("next");
        let holds = value.is_object() || value.as_array().is_some_and(|list| !list.is_empty());
        is_about && holds && !is_position && !DERIVED.contains(&key.as_str())
    };
    let top = parts.iter().filter(|(key, value)| !own(key) && meaning(key).is_none() && may_say(key, value));
    let mut keys: Vec<String> = top.map(|(key, _)| key.clone()).collect();
    keys.extend(known(parts).filter(|(_, _, value)| holds_otherwise(value)).map(|(key, ..)| key));
    let states = parts.get("tasks").and_then(Value::as_object).into_iter().flatten();
    let is_task = |(key, _): &(&String, &Value)| key.parse::<TaskId>().is_ok();
    let unclear = |(_, value): &(&String, &Value)| {
        word_of(value).is_some_and(|word| status(word).is_none())
            || value.is_object() && word_of(value).is_none()
    };
    keys.extend(states.filter(is_task).filter(unclear).take(10).map(|(key, _)| format!("tasks.{key}")));
    keys
}

/// The lists of others: at the top of the file, and in its parts that are not its own.
fn lists(parts: &Map<String, Value>) -> impl Iterator<Item = (String, Meaning, &Value)> {
    known(parts).filter(|(_, _, value)| value.is_array())
}

/// Whether a value that should be a list says something in another form. A number only counts.
fn holds_otherwise(value: &Value) -> bool {
    let is_id = |text: &str| text.split([',', ' ']).any(|word| word.parse::<TaskId>().is_ok());
    value.as_object().is_some_and(|it| !it.is_empty()) || value.as_str().is_some_and(is_id)
}

/// What has a key with a meaning, whatever its form.
fn known(parts: &Map<String, Value>) -> impl Iterator<Item = (String, Meaning, &Value)> {
    let top = parts.iter().map(|(key, value)| (String::new(), key, value));
    let below = parts.iter().filter(|(key, _)| !OWN.contains(&key.as_str())).flat_map(|(outer, value)| {
        let inner = value.as_object().into_iter().flatten();
        inner.map(move |(key, value)| (format!("{outer}."), key, value))
    });
    top.chain(below).filter_map(|(prefix, key, value)| Some((format!("{prefix}{key}"), meaning(key)?, value)))
}

fn entries(list: &Value) -> Vec<&Value> {
    list.as_array().into_iter().flatten().collect()
}

/// What a key says, however its words are joined.
fn meaning(key: &str) -> Option<Meaning> {
    let key = snake(key);
    let about_phases = ["completed_phases", "phases_completed", "done_phases", "finished_phases"];
    if about_phases.contains(&key.as_str()) {
        return Some(Meaning::Phases);
    }
    let word = key
        .strip_suffix("_tasks")
        .or_else(|| key.strip_suffix("_task_ids"))
        .or_else(|| key.strip_prefix("tasks_"))
        .unwrap_or(&key);
    status(word).filter(|state| *state != TaskState::Pending).map(Meaning::Tasks)
}

/// The state that a word means.
pub(crate) fn status(word: &str) -> Option<TaskState> {
    Some(match snake(word).as_str() {
        "completed" | "complete" | "done" | "finished" | "success" | "passed" | "closed" => {
            TaskState::Completed
        }
        "failed" | "failure" | "error" | "errored" => TaskState::Failed,
        "skipped" | "cancelled" | "canceled" => TaskState::Skipped,
        "in_progress" | "running" | "active" | "started" | "doing" => TaskState::InProgress,
        "pending" | "todo" | "open" | "ready" | "blocked" | "waiting" | "not_started" | "queued" => {
            TaskState::Pending
        }
        _ => return None,
    })
}

/// The word by which an entry says how far a task is.
pub(crate) fn word_of(entry: &Value) -> Option<&str> {
    entry.as_str().or_else(|| entry.get("status")?.as_str()).or_else(|| entry.get("state")?.as_str())
}

/// `1`, `"phase_1"`, `"Phase 1"`, `"P1"`, or something that has one.
fn phase_of(entry: &Value) -> Option<u32> {
    if let Some(number) = entry.as_u64() {
        return u32::try_from(number).ok();
    }
    let text = match entry {
        Value::String(text) => text.as_str(),
        _ => return ["phase", "number", "id"].iter().find_map(|key| phase_of(entry.get(key)?)),
    };
    let number = text.trim().trim_start_matches(|c: char| !c.is_ascii_digit());
    let word = &text.trim()[..text.trim().len() - number.len()];
    let is_phase = ["", "p", "phase", "m", "milestone"]
        .contains(&word.trim_end_matches(['_', '-', ' ']).to_lowercase().as_str());
    number.parse().ok().filter(|_| is_phase)
}

/// In lower case, with `_` between the words: `completedTasks`, `completed-tasks` and `Completed Tasks` are the same.
fn snake(key: &str) -> String {
    let mut snake = String::new();
    let mut was_lower = false;
    for letter in key.trim().chars() {
        if matches!(letter, '-' | ' ' | '_') {
            snake.push('_');
            was_lower = false;
            continue;
        }
        if letter.is_ascii_uppercase() && was_lower {
            snake.push('_');
        }
        was_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// An entry for a message: short, and on one line.
fn shown(entry: &Value) -> String {
    let text = entry.as_str().map_or_else(|| entry.to_string(), str::to_owned);
    text.chars().take(60).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FILE: &str =
        "- [ ] T1.1: a\n- [ ] T1.2: b\n- [ ] T1.3: c\n- [ ] T2.1: d\n- [ ] T2.2: e\n- [ ] T3.1: f\n";

    fn state(value: &Value) -> State {
        State::parse(value.to_string().as_bytes()).expect("a state")
    }

    #[track_caller]
    fn check(value: &Value, expected: &str, found: &ForeignState) {
        let plan = Plan::read(FILE.as_bytes().to_vec());
        let state = state(value);
        let progress = state.progress(&plan);
        let said: Vec<String> =
            plan.tasks().map(|it| format!("{} {:?}", it.name(), progress.state(it.number()))).collect();
        let done: Vec<String> = said.into_iter().filter(|it| !it.ends_with("Pending")).collect();
        assert_eq!(done.join(", "), expected, "{value}");
        assert_eq!(&state.foreign(&plan), found, "{value}");
    }

    fn understood(keys: &[(&str, usize)]) -> ForeignState {
        let understood = keys.iter().map(|(key, count)| ((*key).to_owned(), *count)).collect();
        ForeignState { understood, ..ForeignState::default() }
    }

    #[test]
    fn lists_of_others_count() {
        check(
            &json!({ "completedTasks": ["T1.1", { "id": "P1-T1.2" }], "failed_tasks": ["T1.3"], "currentPhase": 1 }),
            "T1.1 Completed, T1.2 Completed, T1.3 Failed",
            &understood(&[("completedTasks", 2), ("failed_tasks", 1)]),
        );
        check(
            &json!({ "completedPhases": [1, "phase_2"], "pendingTasks": ["T3.1"] }),
            "T1.1 Completed, T1.2 Completed, T1.3 Completed, T2.1 Completed, T2.2 Completed",
            &understood(&[("completedPhases", 2)]),
        );
        check(
            &json!({ "progress": { "completed_tasks": ["T1.1"] }, "tasks": { "T1.2": { "status": "done" } } }),
            "T1.1 Completed, T1.2 Completed",
            &understood(&[("progress.completed_tasks", 1)]),
        );
        assert_eq!(state(&json!({ "completedPhases": ["Phase 1"] })).checkpoints(), [1].into());
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let found = ForeignState {
            unread: ["phaseResults", "tasks.T1.1"].map(String::from).into(),
            unknown_tasks: ["Set up", "T9.9"].map(String::from).into(),
            ..understood(&[("completedTasks", 0)])
        };
        check(
            &json!({
                "completedTasks": ["Set up", "T9.9"],
                "phaseResults": { "1": "fine" },
                "tasks": { "T1.1": { "status": "half-way" } },
            }),
            "",
            &found,
        );
    }

    #[test]
    fn a_known_key_without_a_list_is_named() {
        let unread = |key: &str| ForeignState { unread: vec![key.to_owned()], ..ForeignState::default() };
        check(&json!({ "completedTasks": { "a": 1 } }), "", &unread("completedTasks"));
        check(&json!({ "completedTasks": "T1.1, T1.2" }), "", &unread("completedTasks"));
        check(&json!({ "progress": { "failed": { "T1.1": true } } }), "", &unread("progress.failed"));
        for nothing in [json!({}), json!(3), json!(null), json!("")] {
            check(&json!({ "completedTasks": nothing }), "", &ForeignState::default());
        }
    }

    #[test]
    fn whoever_writes_a_state_knows_better() {
        let mut state =
            state(&json!({ "failedTasks": ["T1.1"], "tasks": { "T1.2": { "status": "failed" } } }));
        let [one, two]: [TaskId; 2] = ["T1.1", "T1.2"].map(|id| id.parse().expect("an id"));
        state.executed(&one, TaskState::InProgress);
        state.executed(&two, TaskState::Completed);
        assert_eq!(state.tasks().get(&one), Some(&TaskState::InProgress));
        assert_eq!(state.tasks().get(&two), Some(&TaskState::Completed));
    }
}
