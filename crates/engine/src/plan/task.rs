//! The tasks of a file, as spans of its text.

use alloc::{
    borrow::{Cow, ToOwned},
    string::{String, ToString},
    vec::Vec,
};
use core::time::Duration;

use ostler_protocol::{name::TaskId, task_name::IdForm};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    declared::paths,
    graph::Graph,
    id::Id,
    index::Index,
    key::{Key, trim},
    passed_over::PassedOver,
    phase::PhaseStep,
    problem::{Problem, Warning},
    reader,
    subject::Mark,
};

/// No parent.
pub(super) const NONE: u32 = u32::MAX;

/// The phase of a file without phases.
pub(super) const ONLY_PHASE: u32 = 1;

/// The longest slug of a phase, in characters.
const SLUG_CHARS_MAX: usize = 40;

/// A task file that was read.
#[derive(Debug)]
pub struct Plan {
    pub(super) text: Vec<u8>,
    /// Tasks and groups, in the order of the file.
    pub(super) entries: Vec<Entry>,
    /// The entry of each task.
    pub(super) tasks: Vec<u32>,
    /// The node of each entry: a task's number, or the junction behind a group.
    pub(super) nodes: Vec<u32>,
    pub(super) index: Index,
    /// By entry.
    pub(super) attributes: Vec<Attribute>,
    /// By number.
    pub(super) phases: Vec<Phase>,
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<(u32, Warning)>,
    pub(super) passed_over: Vec<PassedOver>,
    /// By entry: boxes beside the one of [`Entry::place`].
    pub(super) more_boxes: Vec<(u32, Span)>,
    /// How many dependencies the file names.
    pub(super) dependencies: usize,
    pub(super) graph: Graph,
}

/// A task's place in the order of the file, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskNumber(pub(super) u32);

/// A phase, and what it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Its number.
    pub number: u32,
    /// What its heading says, if there is one.
    pub title: Option<String>,
}

/// How urgent a task is: the lower, the sooner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Priority {
    /// Somebody asked for it to come first.
    First,
    /// Critical, urgent, P0.
    Critical,
    /// High, P1.
    High,
    /// Medium, P2, or not said.
    #[default]
    Medium,
    /// Low, P3.
    Low,
}

/// How much can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Low.
    Low,
    /// Medium.
    Medium,
    /// High.
    High,
    /// It runs alone.
    Critical,
}

/// One of a task's criteria.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Criterion {
    /// What has to hold.
    pub text: String,
    /// Whether its box is marked.
    pub done: bool,
}

/// A task, read from its file.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    plan: &'a Plan,
    number: TaskNumber,
}

/// A part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

/// In which shape a task is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Heading,
    Item,
    Row,
}

/// Where a done mark is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Between the brackets.
    Inside(Span),
    /// A tick, at this offset.
    Tick(u32),
}

/// A task or a group.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own: none follows from another")]
pub(super) struct Entry {
    pub(super) name: Span,
    pub(super) title: Span,
    pub(super) body: Span,
    pub(super) line: u32,
    pub(super) phase: PhaseStep,
    /// The group around it.
    pub(super) parent: u32,
    pub(super) place: Place,
    pub(super) mark: Mark,
    pub(super) shape: Shape,
    pub(super) priority: Priority,
    pub(super) risk: Option<Risk>,
    /// Whether other tasks stand below it.
    pub(super) is_group: bool,
    pub(super) parallel: bool,
    /// Whether it names dependencies.
    pub(super) named: bool,
    pub(super) form: IdForm,
    /// A heading with an id that could be another word, as long as nothing shows that a task is meant.
    pub(super) is_tentative: bool,
    /// Whether a row of a table has more about it elsewhere.
    pub(super) is_detailed: bool,
    /// Whether it stands where others are summed up.
    pub(super) in_summary: bool,
}

/// Something that is said about an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attribute {
    pub(super) entry: u32,
    pub(super) key: Key,
    pub(super) value: Span,
    /// Of a criterion: whether its box is marked.
    pub(super) done: bool,
}

/// A number of bytes or of tasks, which [`super::FILE_BYTES_MAX`] keeps small.
pub(super) fn small(number: usize) -> u32 {
    u32::try_from(number).expect("a file is not that large")
}

/// The place of a phase in a list by number. Most files leave no number out, so it is where it should be.
pub(super) fn place_of<T>(phases: &[T], number: u32, number_of: impl Fn(&T) -> u32) -> Option<usize> {
    let guess = number.checked_sub(number_of(phases.first()?))? as usize;
    if phases.get(guess).is_some_and(|phase| number_of(phase) == number) {
        return Some(guess);
    }
    phases.binary_search_by_key(&number, number_of).ok()
}

impl Span {
    /// The span of a part of the text; an empty one stands for nothing.
    pub(super) fn of(text: &[u8], part: &[u8]) -> Span {
        if part.is_empty() { Span::default() } else { Span::within(text, part) }
    }

    /// The span of a part that was cut out of the text, also where nothing stands between its ends.
    pub(super) fn within(text: &[u8], part: &[u8]) -> Span {
        let start = part.as_ptr().addr().wrapping_sub(text.as_ptr().addr());
        debug_assert!(start + part.len() <= text.len(), "it was cut out of the text");
        Span { start: small(start), end: small(start + part.len()) }
    }

    pub(super) fn in_text(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..self.end as usize]
    }
}

impl Plan {
    /// Reads a whole file. What is wrong with it are [`Plan::problems`].
    pub fn read(text: Vec<u8>) -> Plan {
        reader::read(text)
    }

    /// What keeps it from being worked with, most important first; nothing can be done while there is any.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// What is strange, with its line, in the order of the file.
    pub fn warnings(&self) -> &[(u32, Warning)] {
        &self.warnings
    }

    /// What was taken neither for a task nor for something about one, in the order of the file.
    pub fn passed_over(&self) -> &[PassedOver] {
        &self.passed_over
    }

    /// How many dependencies the file names, in words and in diagrams.
    pub fn dependencies(&self) -> usize {
        self.dependencies
    }

    /// How many tasks there are.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// All tasks, in the order of the file.
    pub fn tasks(&self) -> impl Iterator<Item = Task<'_>> {
        (0..small(self.tasks.len())).map(|number| self.task(TaskNumber(number)))
    }

    /// One of them.
    pub fn task(&self, number: TaskNumber) -> Task<'_> {
        Task { plan: self, number }
    }

    /// The task with that id, or with another name of it.
    pub fn find(&self, id: &str) -> Option<Task<'_>> {
        let id = Id::parse(id.as_bytes())?;
        let entry = self.index.find(id.name, |entry| self.name(entry))?;
        let number = TaskNumber(self.nodes[entry as usize]);
        (!self.entries[entry as usize].is_group).then(|| self.task(number))
    }

    /// The phases that have tasks, by number.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// Who waits for whom. Without meaning while there are problems.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The whole text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    pub(super) fn name(&self, entry: u32) -> &[u8] {
        self.entries[entry as usize].name.in_text(&self.text)
    }

    /// The place of a phase among those that have tasks.
    pub(super) fn phase_place(&self, number: u32) -> Option<usize> {
        place_of(&self.phases, number, |phase| phase.number)
    }

    pub(super) fn entry(&self, number: TaskNumber) -> &Entry {
        &self.entries[self.tasks[number.0 as usize] as usize]
    }
}

impl Phase {
    /// The path of its worktree, which is also the name of its branch.
    pub fn worktree(&self) -> String {
        let mut slug = String::new();
        for letter in self.title.as_deref().unwrap_or_default().chars().flat_map(char::to_lowercase) {
            if slug.chars().count() == SLUG_CHARS_MAX {
                break;
            }
            if letter.is_alphanumeric() {
                slug.push(letter);
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
        }
        let slug = slug.trim_end_matches('-');
        let number = self.number;
        if slug.is_empty() {
            alloc::format!("worktree/phase-{number}")
        } else {
            alloc::format!("worktree/phase-{number}-{slug}")
        }
    }
}

impl TaskNumber {
    /// From 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl<'a> Task<'a> {
    /// Its place in the order of the file.
    pub fn number(self) -> TaskNumber {
        self.number
    }

    /// Its id.
    pub fn id(self) -> TaskId {
        self.name().parse().expect("the reader knows what an id is")
    }

    /// Its id as text.
    pub fn name(self) -> &'a str {
        core::str::from_utf8(self.plan.name(self.entry_number())).expect("an id is plain letters")
    }

    /// What it is called.
    pub fn title(self) -> Cow<'a, str> {
        self.text(self.entry().title)
    }

    /// The line it begins in.
    pub fn line(self) -> u32 {
        self.entry().line
    }

    /// Its phase.
    pub fn phase(self) -> u32 {
        self.entry().phase.number
    }

    /// Whether the file marks it as done.
    pub fn is_done(self) -> bool {
        self.entry().mark == Mark::Done
    }

    /// How urgent it is.
    pub fn priority(self) -> Priority {
        self.entry().priority
    }

    /// How much can go wrong, if it says so.
    pub fn risk(self) -> Option<Risk> {
        self.entry().risk
    }

    /// Everything that stands below it.
    pub fn body(self) -> Cow<'a, str> {
        self.text(self.entry().body)
    }

    /// Who is to do it.
    pub fn owner(self) -> Option<String> {
        self.values(Key::Owner).map(|value| plain(&value)).find(|owner| !owner.is_empty())
    }

    /// Where it is to be done, if it says so.
    pub fn worktree(self) -> Option<String> {
        self.values(Key::Worktree).map(|value| plain(&value)).find(|path| !path.is_empty())
    }

    /// The command that shows that it is done.
    pub fn verify(self) -> Option<String> {
        self.values(Key::Verify).map(|value| command(&value)).find(|command| !command.is_empty())
    }

    /// What it says about itself in JSON: the first object that can be read.
    pub fn meta(self) -> Option<Map<String, Value>> {
        self.values(Key::Meta).find_map(|value| meta(&value))
    }

    /// After how long whoever does it is ended.
    pub fn timeout(self) -> Option<Duration> {
        let seconds = |value: Cow<'_, str>| timeout_s(&meta(&value)?).ok()?;
        self.values(Key::Meta).find_map(seconds).filter(|seconds| *seconds > 0).map(Duration::from_secs)
    }

    /// What it says about whom it can run beside.
    pub fn parallel(self) -> Option<String> {
        self.values(Key::Parallel).map(|value| value.trim().to_owned()).find(|note| !note.is_empty())
    }

    /// The files that it may change, as patterns.
    pub fn files(self) -> Vec<String> {
        self.values(Key::Files).flat_map(|value| paths(&value)).collect()
    }

    /// What has to hold when it is done.
    pub fn criteria(self) -> Vec<Criterion> {
        let of_key = self.attributes().iter().filter(|it| it.key == Key::Criteria);
        let criterion =
            |it: &Attribute| Criterion { text: self.text(it.value).trim().to_string(), done: it.done };
        of_key.map(criterion).filter(|it| !it.text.is_empty()).collect()
    }

    fn values(self, key: Key) -> impl Iterator<Item = Cow<'a, str>> {
        self.attributes().iter().filter(move |it| it.key == key).map(move |it| self.text(it.value))
    }

    fn attributes(self) -> &'a [Attribute] {
        let all = &self.plan.attributes;
        let entry = self.entry_number();
        let start = all.partition_point(|it| it.entry < entry);
        let end = all.partition_point(|it| it.entry <= entry);
        &all[start..end]
    }

    fn entry_number(self) -> u32 {
        self.plan.tasks[self.number.index()]
    }

    fn entry(self) -> &'a Entry {
        self.plan.entry(self.number)
    }

    fn text(self, span: Span) -> Cow<'a, str> {
        String::from_utf8_lossy(span.in_text(&self.plan.text))
    }
}

/// A name without emphasis, and without the note behind it.
fn plain(value: &str) -> String {
    let value = value.split(['(', ',']).next().unwrap_or_default();
    let value = String::from_utf8_lossy(trim(value.as_bytes())).into_owned();
    value.trim_start_matches('@').to_owned()
}

/// A command: what stands between the first backticks, or all.
fn command(value: &str) -> String {
    value.split('`').nth(1).unwrap_or(value).trim().to_owned()
}

/// More about a task, in JSON: what the thin dialect has behind `META:`.
pub(super) fn meta(value: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(value.trim().trim_matches('`')).ok()
}

/// After how many seconds somebody is ended by what is said about a task: never, if it is none. What is no number of
/// seconds is given back.
pub fn timeout_s(meta: &Map<String, Value>) -> Result<Option<u64>, &Value> {
    match meta.get("timeout") {
        None | Some(Value::Null) => Ok(None),
        Some(said) => said.as_u64().map(Some).ok_or(said),
    }
}

impl Priority {
    /// Reads what people write.
    pub fn parse(text: &str) -> Option<Priority> {
        let word = first_word(text);
        Some(match word.as_str() {
            "critical" | "urgent" | "p0" | "긴급" | "최우선" => Priority::Critical,
            "high" | "p1" | "높음" | "1" => Priority::High,
            "medium" | "normal" | "p2" | "보통" | "중간" | "중" | "2" => Priority::Medium,
            "low" | "p3" | "p4" | "낮음" | "3" => Priority::Low,
            _ => return None,
        })
    }
}

impl Risk {
    /// Reads what people write.
    pub fn parse(text: &str) -> Option<Risk> {
        let word = first_word(text);
        Some(match word.as_str() {
            "critical" | "치명적" | "심각" => Risk::Critical,
            "high" | "높음" => Risk::High,
            "medium" | "normal" | "보통" | "중간" | "중" => Risk::Medium,
            "low" | "낮음" => Risk::Low,
            _ => return None,
        })
    }
}

/// The first word, in lower case, without marks around it.
fn first_word(text: &str) -> String {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.next().unwrap_or_default().to_lowercase()
}
