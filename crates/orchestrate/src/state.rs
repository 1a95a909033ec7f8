//! The state file: who has done what. Others write it too, so everything in it that is unknown is kept.
//!
//! Each part has an owner: the resolver writes `ready`, `pending`, `blocked` and `dependencies` ([`crate::derived`]); the
//! executor `in_progress`, `completed`, `failed` and our own `skipped`; the main loop everything else. How the file is read
//! and written is in [`crate::keeping`].

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, io,
    path::PathBuf,
};

use ostler_engine::plan::{Plan, Progress, State as TaskState};
use ostler_protocol::{
    name::TaskId,
    thin::{ErrorCode, Thin},
};
use serde::ser::{Serialize, Serializer};
use serde_json::{Map, Value, json, value::RawValue};

use crate::{
    derived::{DEPENDENCIES, Derived},
    executor_note::ExecutorNote,
    foreign::{status, word_of},
    stamp::stamp,
};

/// The parts in the order in which people look for them; unknown ones follow.
const ORDER: [&str; 9] =
    ["version", "mode", "project", "execution", "tasks", "dependencies", "checkpoints", "metrics", "config"];

/// The lists of tasks, in the same way.
const LISTS: [&str; 6] = ["pending", "ready", "in_progress", "completed", "failed", "blocked"];

/// The most of a failure's reason that is kept.
const REASON_CHARS_MAX: usize = 4_000;

/// How often a task is tried if the state does not say.
const RETRY_LIMIT: u32 = 10;

/// How often it is tried at most, whatever the state says.
const RETRY_LIMIT_MAX: u32 = 1000;

/// What stands in the state file.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// All but those of the resolver.
    parts: Map<String, Value>,
    derived: Derived,
}

/// Why the state cannot be used.
#[derive(Debug)]
pub enum StateError {
    /// Somebody holds its lock, and did so for five seconds.
    Locked {
        /// Who, if the lock says so.
        pid: Option<u32>,
    },
    /// It cannot be understood.
    Corrupt {
        /// Why.
        reason: String,
        /// Where a copy was put.
        kept: Option<PathBuf>,
    },
    /// Its directory is a link that leads out of the project.
    Outside,
    /// It cannot be read.
    Unreadable(io::Error),
    /// It, or its lock, cannot be written.
    Unwritable(io::Error),
}

impl State {
    /// The state of a project that nobody has begun.
    pub fn new(project: &str, plan: &Plan, at_ms: u64) -> State {
        let at = stamp(at_ms) + "Z";
        let phase = plan.phases().first().map_or(0, |phase| phase.number);
        let parts = json!({
            "version": "2.0",
            "mode": "ultra-thin",
            "project": project,
            "execution": { "current_phase": phase, "worktree": null, "started_at": at, "last_updated": at },
            "tasks": {
                "pending": [], "ready": [], "in_progress": [], "completed": [], "failed": [], "blocked": [],
            },
            "dependencies": {},
            "checkpoints": {},
            "metrics": { "total_tasks": plan.len(), "completed_count": 0, "failed_count": 0 },
            "config": { "max_parallel": 3, "retry_limit": 10 },
        });
        State::parse(parts.to_string().as_bytes()).expect("it is written as one")
    }

    /// Reads the file, if it is one.
    pub fn parse(bytes: &[u8]) -> Result<State, String> {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        let texts: BTreeMap<String, &RawValue> = serde_json::from_slice(bytes).map_err(|error| {
            if error.is_data() { "it is no JSON object".to_owned() } else { error.to_string() }
        })?;
        let value = |text: &RawValue| -> Result<Value, String> {
            serde_json::from_str(text.get()).map_err(|error| error.to_string())
        };
        let mut state = State { parts: Map::new(), derived: Derived::default() };
        for (name, text) in texts {
            if name == DEPENDENCIES {
                state.derived.take_dependencies(text);
            } else if name == "tasks"
                && let Ok(lists) = serde_json::from_str::<BTreeMap<String, &RawValue>>(text.get())
            {
                let mut tasks = Map::new();
                for (name, text) in lists {
                    if !state.derived.take_list(&name, text) {
                        tasks.insert(name, value(text)?);
                    }
                }
                state.parts.insert("tasks".to_owned(), tasks.into());
            } else {
                state.parts.insert(name, value(text)?);
            }
        }
        match unusable(&state.parts) {
            Some(reason) => Err(reason),
            None => Ok(state),
        }
    }

    /// How far each task is, by its id. Where a task is in several lists, the one that is furthest counts.
    pub fn tasks(&self) -> BTreeMap<TaskId, TaskState> {
        let mut states = BTreeMap::new();
        self.each_task(|id, state| {
            states.insert(id, state);
        });
        states
    }

    /// Goes through all that is said of tasks; what is said of one later counts.
    fn each_task(&self, mut take: impl FnMut(TaskId, TaskState)) {
        let lists = [
            ("in_progress", TaskState::InProgress),
            ("failed", TaskState::Failed),
            ("skipped", TaskState::Skipped),
            ("completed", TaskState::Completed),
        ];
        let tasks = self.parts.get("tasks");
        for (list, state) in lists {
            for id in ids(tasks.and_then(|tasks| tasks.get(list))) {
                take(id, state);
            }
            self.each_foreign(state, |id| take(id, state));
        }
        // Some keep a task's state beside it instead.
        for (id, entry) in tasks.and_then(Value::as_object).into_iter().flatten() {
            let state = word_of(entry).and_then(status).filter(|state| *state != TaskState::Pending);
            if let (Ok(id), Some(state)) = (id.parse(), state) {
                take(id, state);
            }
        }
    }

    /// The phases for which the main loop has recorded a checkpoint.
    pub fn checkpoints(&self) -> BTreeSet<u32> {
        let recorded = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
        let checkpoints = self.parts.get("checkpoints").and_then(Value::as_object).into_iter().flatten();
        let number =
            |key: &str| key.trim_start_matches("phase").trim_start_matches(['_', '-', ' ']).parse().ok();
        let own = checkpoints.filter(|(_, value)| recorded(value)).filter_map(|(key, _)| number(key));
        own.chain(self.foreign_phases()).collect()
    }

    /// The tasks that somebody asked to come first.
    pub fn preferred(&self) -> Vec<TaskId> {
        ids(self.parts.get("tasks").and_then(|tasks| tasks.get("preferred")))
    }

    /// How far a plan is by this state.
    pub fn progress<'a>(&self, plan: &'a Plan) -> Progress<'a> {
        let mut states = vec![TaskState::Pending; plan.len()];
        self.each_task(|id, state| {
            if let Some(task) = plan.find(id.as_str()) {
                states[task.number().index()] = state;
            }
        });
        let phases = self.foreign_phases();
        for task in plan.tasks().filter(|task| phases.contains(&task.phase())) {
            let state = &mut states[task.number().index()];
            if !state.is_settled() {
                *state = TaskState::Completed;
            }
        }
        let mut progress = Progress::with(plan, |task| states[task.index()]);
        for task in self.preferred().iter().filter_map(|id| plan.find(id.as_str())) {
            progress.prefer(task.number());
        }
        progress
    }

    /// Writes the resolver's own parts.
    pub fn resolved(&mut self, progress: &Progress<'_>) {
        self.part("tasks");
        self.derived.write(progress);
    }

    /// Writes how many tasks there are.
    pub(crate) fn measured(&mut self, progress: &Progress<'_>) {
        self.set_metric("total_tasks", progress.plan().len());
    }

    /// Counts the lists, so that whoever reads the one reads the other.
    pub(crate) fn count_lists(&mut self) {
        for (name, list, state) in [
            ("completed_count", "completed", TaskState::Completed),
            ("failed_count", "failed", TaskState::Failed),
        ] {
            let count = self.count(list, state);
            self.set_metric(name, count);
        }
    }

    /// The tasks of a list, with those that another program has put elsewhere.
    fn count(&self, list: &str, state: TaskState) -> usize {
        let own = self.parts.get("tasks").and_then(|tasks| tasks.get(list));
        let mut foreign = BTreeSet::new();
        self.each_foreign(state, |id| {
            foreign.insert(id);
        });
        if !foreign.is_empty() {
            foreign.extend(ids(own));
            return foreign.len();
        }
        match own {
            Some(Value::Array(entries)) => entries.len(),
            Some(Value::Object(entries)) => entries.len(),
            _ => 0,
        }
    }

    /// What somebody else has put beside it stays.
    fn set_metric(&mut self, name: &str, count: usize) {
        let metrics = self.parts.entry("metrics").or_insert_with(|| json!({}));
        if let Some(metrics) = metrics.as_object_mut() {
            metrics.insert(name.to_owned(), count.into());
        }
    }

    /// Writes the executor's own parts: a task is in this state, and in no other list of the executor's.
    pub fn executed(&mut self, id: &TaskId, state: TaskState) {
        let wanted = match state {
            TaskState::Pending => None,
            TaskState::InProgress => Some("in_progress"),
            TaskState::Completed => Some("completed"),
            TaskState::Failed => Some("failed"),
            TaskState::Skipped => Some("skipped"),
        };
        if state == TaskState::Completed
            && let Some(Value::Object(failures)) = self.parts.get_mut("failures")
        {
            failures.remove(id.as_str());
        }
        self.forget_foreign(id, state);
        let tasks = self.part("tasks");
        // Who keeps a task's state beside it has it there.
        let beside = tasks.iter_mut().find(|(key, _)| key.parse().ok().as_ref() == Some(id));
        let word = beside.and_then(|(_, entry)| {
            if entry.is_string() {
                return Some(entry);
            }
            let key = if entry.get("status").is_some() { "status" } else { "state" };
            entry.get_mut(key)
        });
        if let Some(word @ Value::String(_)) = word {
            *word = wanted.unwrap_or("pending").into();
        }
        for list in ["in_progress", "completed", "failed", "skipped"] {
            let is_wanted = wanted == Some(list);
            match tasks.get_mut(list) {
                Some(Value::Array(entries)) => {
                    let is_there = entries.iter().any(|entry| is_of(entry, id));
                    if is_wanted && !is_there {
                        entries.push(id.as_str().into());
                    } else if !is_wanted {
                        entries.retain(|entry| !is_of(entry, id));
                    }
                }
                Some(Value::Object(entries)) if is_wanted => {
                    entries.entry(id.as_str()).or_insert_with(|| json!({}));
                }
                Some(Value::Object(entries)) => {
                    entries.retain(|entry, _| entry.parse().ok().as_ref() != Some(id));
                }
                _ if is_wanted => {
                    tasks.insert(list.to_owned(), json!([id.as_str()]));
                }
                _ => {}
            }
        }
    }

    /// Has a task come before all others that can run.
    pub(crate) fn prefer(&mut self, id: &TaskId) {
        let is_there = self.preferred().contains(id);
        let preferred = self.part("tasks").entry("preferred").or_insert_with(|| json!([]));
        match preferred.as_array_mut() {
            Some(entries) if !is_there => entries.push(id.as_str().into()),
            Some(_) => {}
            None => *preferred = json!([id.as_str()]),
        }
    }

    /// Records the checkpoint of a phase, as a main loop does, and the phase that follows.
    pub(crate) fn close<'a>(
        &mut self,
        plan: &Plan,
        number: u32,
        tasks: impl Iterator<Item = &'a str>,
        at_ms: u64,
    ) {
        let at = stamp(at_ms) + "Z";
        let tasks: Vec<&str> = tasks.collect();
        let checkpoint = json!({ "completed_at": at, "tasks": tasks, "merged": false });
        self.part("checkpoints").insert(format!("phase_{number}"), checkpoint);
        let next =
            plan.phases().iter().map(|phase| phase.number).find(|phase| *phase > number).unwrap_or(number);
        let execution = self.part("execution");
        execution.insert("current_phase".to_owned(), next.into());
        execution.insert("last_updated".to_owned(), at.into());
    }

    /// Writes that a phase is worked on.
    pub(crate) fn enter(&mut self, phase: u32, worktree: Option<&str>, at_ms: u64) {
        let execution = self.part("execution");
        execution.insert("current_phase".to_owned(), phase.into());
        execution.insert("worktree".to_owned(), worktree.into());
        execution.insert("last_updated".to_owned(), (stamp(at_ms) + "Z").into());
    }

    /// Whether the checkpoint of a phase names this commit.
    pub(crate) fn is_merged(&self, phase: u32, commit: Option<&str>) -> bool {
        let checkpoint = self.parts.get("checkpoints").and_then(|it| it.get(format!("phase_{phase}")));
        checkpoint.is_some_and(|it| it.get("merge_commit").and_then(Value::as_str) == commit)
    }

    /// Writes into the checkpoint of a phase which commit has its work.
    pub(crate) fn merged(&mut self, phase: u32, commit: Option<&str>) {
        let checkpoint =
            self.part("checkpoints").entry(format!("phase_{phase}")).or_insert_with(|| json!({}));
        if let (Some(checkpoint), Some(commit)) = (checkpoint.as_object_mut(), commit) {
            checkpoint.insert("merged".to_owned(), true.into());
            checkpoint.insert("merge_commit".to_owned(), commit.into());
        }
        self.part("execution").insert("worktree".to_owned(), Value::Null);
    }

    /// What the executor of a task has noted for itself.
    pub(crate) fn note(&self, id: &TaskId) -> Option<ExecutorNote> {
        ExecutorNote::read(self.parts.get("executor")?.get(id.as_str())?)
    }

    /// Notes something for the executor of a task; nothing removes it.
    pub(crate) fn set_note(&mut self, id: &TaskId, note: Option<&ExecutorNote>) {
        let notes = self.part("executor");
        match note {
            Some(note) => notes.insert(id.as_str().to_owned(), note.value()),
            None => notes.remove(id.as_str()),
        };
    }

    /// Under which key the run of a task was last asked for.
    pub fn run_key(&self, id: &TaskId) -> Option<&str> {
        self.parts.get("runs")?.get(id.as_str())?.as_str()
    }

    /// Remembers under which key the run of a task is asked for, also when that is over.
    pub(crate) fn set_run_key(&mut self, id: &TaskId, key: &str) {
        self.part("runs").insert(id.as_str().to_owned(), key.into());
    }

    /// How often somebody has tried a task that is not done, and why it was not done the last time.
    pub fn failure(&self, id: &TaskId) -> Option<(u64, &str)> {
        let failure = self.parts.get("failures")?.get(id.as_str())?;
        Some((failure.get("tries")?.as_u64()?, failure.get("reason")?.as_str()?))
    }

    /// Remembers the whole reason of a failure: a line of the wire has its beginning alone.
    pub(crate) fn add_failure(&mut self, id: &TaskId, reason: &str) {
        let tries = self.failure(id).map_or(0, |(tries, _)| tries).saturating_add(1);
        let reason: String = reason.chars().take(REASON_CHARS_MAX).collect();
        let failure = json!({ "tries": tries, "reason": reason });
        self.part("failures").insert(id.as_str().to_owned(), failure);
    }

    /// What the next one who tries a task is told of how it failed the last time.
    pub(crate) fn told(&self, id: &TaskId) -> Option<&str> {
        let failure = self.parts.get("failures")?.get(id.as_str())?;
        // Earlier versions kept what was more than the reason beside it.
        failure.get("told").and_then(Value::as_str).or_else(|| failure.get("reason")?.as_str())
    }

    /// Whether what was last decided about a task was decided under this key.
    pub(crate) fn is_decided(&self, id: &TaskId, key: &str) -> bool {
        let found = self.parts.get("decided").and_then(|decided| decided.get(id.as_str())?.as_str());
        found == Some(key)
    }

    /// Remembers under which key something was decided about a task.
    pub(crate) fn set_decided(&mut self, id: &TaskId, key: Option<&str>) {
        match key {
            Some(key) => drop(self.part("decided").insert(id.as_str().to_owned(), key.into())),
            None if self.parts.contains_key("decided") => drop(self.part("decided").remove(id.as_str())),
            None => {}
        }
    }

    /// Which task file it is about, if whoever began it says so.
    pub(crate) fn task_file(&self) -> Option<&str> {
        self.parts.get("task_file")?.as_str()
    }

    /// Says which one it is about.
    pub(crate) fn set_task_file(&mut self, name: String) {
        self.parts.insert("task_file".to_owned(), name.into());
    }

    /// How often a task may be tried.
    pub fn retry_limit(&self) -> u32 {
        let limit = self.parts.get("config").and_then(|config| config.get("retry_limit")?.as_u64());
        limit
            .and_then(|limit| u32::try_from(limit).ok())
            .map_or(RETRY_LIMIT, |limit| limit.clamp(1, RETRY_LIMIT_MAX))
    }

    /// The file as it is written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut parts = values(&self.parts);
        if let Some(Value::Object(tasks)) = self.parts.get("tasks") {
            let mut lists = values(tasks);
            lists.extend(self.derived.lists().map(|(name, text)| (name, Part::Text(text))));
            parts.insert("tasks", Part::Ordered(lists, &LISTS));
        }
        parts.extend(self.derived.dependencies().map(|text| (DEPENDENCIES, Part::Text(text))));
        let whole = Part::Ordered(parts, &ORDER);
        let mut bytes = serde_json::to_vec_pretty(&whole).expect("JSON is plain data");
        bytes.push(b'\n');
        bytes
    }

    pub(crate) fn parts(&self) -> &Map<String, Value> {
        &self.parts
    }

    pub(crate) fn parts_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.parts
    }

    /// A part that holds others. What stands in its place and is none is replaced.
    fn part(&mut self, name: &str) -> &mut Map<String, Value> {
        let part = self.parts.entry(name).or_insert_with(|| Value::Object(Map::new()));
        if !part.is_object() {
            *part = Value::Object(Map::new());
        }
        part.as_object_mut().expect("it was made one")
    }
}

/// What of a state is there and is not what it has to be. To take it as nothing would have tasks done again.
fn unusable(parts: &Map<String, Value>) -> Option<String> {
    let is_empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    for name in ["tasks", "checkpoints"] {
        if parts.get(name).is_some_and(|part| !part.is_object() && !is_empty(part)) {
            return Some(format!("{name} is no object"));
        }
    }
    let is_entry = |entry: &Value| entry.is_string() || entry.is_object();
    for list in ["in_progress", "completed", "failed", "skipped", "preferred"] {
        match parts.get("tasks").and_then(|tasks| tasks.get(list)) {
            None | Some(Value::Null | Value::Object(_)) => {}
            Some(Value::Array(entries)) if entries.iter().all(is_entry) => {}
            Some(_) => return Some(format!("tasks.{list} is no list of tasks")),
        }
    }
    None
}

/// The ids of a list, or of the keys of an object.
fn ids(list: Option<&Value>) -> Vec<TaskId> {
    match list {
        Some(Value::Array(entries)) => entries.iter().filter_map(id_of).collect(),
        Some(Value::Object(entries)) => entries.keys().filter_map(|key| key.parse().ok()).collect(),
        _ => Vec::new(),
    }
}

/// An entry of a list: an id, or something that has one.
pub(crate) fn id_of(entry: &Value) -> Option<TaskId> {
    let text = entry
        .as_str()
        .or_else(|| ["id", "task_id", "task"].iter().find_map(|key| entry.get(key)?.as_str()))?;
    text.trim().parse().ok()
}

/// Whether an entry of a list is about this task. By whatever name it has it, that ends with the id.
fn is_of(entry: &Value, id: &TaskId) -> bool {
    let cannot_be = entry.as_str().is_some_and(|text| !text.trim_end().ends_with(id.as_str()));
    !cannot_be && id_of(entry).as_ref() == Some(id)
}

/// A part as it is written.
enum Part<'a> {
    Value(&'a Value),
    Text(&'a RawValue),
    /// An object with some of its keys first.
    Ordered(BTreeMap<&'a str, Part<'a>>, &'a [&'a str]),
}

fn values(parts: &Map<String, Value>) -> BTreeMap<&str, Part<'_>> {
    parts.iter().map(|(name, value)| (name.as_str(), Part::Value(value))).collect()
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Part::Value(value) => value.serialize(serializer),
            Part::Text(text) => text.serialize(serializer),
            Part::Ordered(parts, order) => {
                let first = order.iter().filter_map(|name| parts.get_key_value(name));
                let rest = parts.iter().filter(|(name, _)| !order.contains(*name));
                serializer.collect_map(first.chain(rest))
            }
        }
    }
}

/// What is known of a lock that nobody can take over.
const UNOWNED: &str = ".claude/orchestrate-state.json.lock does not say whose it is";

impl StateError {
    /// The line of the thin dialect; nothing for what has none.
    pub fn thin(&self) -> Option<Thin> {
        match self {
            StateError::Locked { pid } => {
                let holder = match pid {
                    Some(pid) => format!("held by process {pid}"),
                    None => format!("{UNOWNED}; a person removes it"),
                };
                Some(Thin::error(ErrorCode::StateLocked, Some(&holder)))
            }
            StateError::Corrupt { .. } | StateError::Outside | StateError::Unreadable(_) => {
                Some(Thin::error(ErrorCode::StateCorrupt, Some(&self.to_string())))
            }
            StateError::Unwritable(_) => None,
        }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateError::Locked { pid: Some(pid) } => write!(f, "process {pid} holds the state file"),
            StateError::Locked { pid: None } => f.write_str(UNOWNED),
            StateError::Corrupt { reason, kept: Some(kept) } => {
                let name = kept.file_name().unwrap_or_default().to_string_lossy();
                write!(f, "{reason}; a copy is kept as .claude/{name}")
            }
            StateError::Corrupt { reason, kept: None } => f.write_str(reason),
            StateError::Outside => f.write_str(".claude leads out of the project"),
            StateError::Unreadable(source) => write!(f, "the state file cannot be read: {source}"),
            StateError::Unwritable(source) => write!(f, "the state file cannot be written: {source}"),
        }
    }
}

impl std::error::Error for StateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StateError::Unreadable(source) | StateError::Unwritable(source) => Some(source),
            StateError::Locked { .. } | StateError::Corrupt { .. } | StateError::Outside => None,
        }
    }
}
