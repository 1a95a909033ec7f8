//! The part of the joiner that finds what dependencies name: tasks, groups, ranges, phases, or nothing in this file.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use ostler_protocol::task_name::{self, IdForm, TaskName};

use super::{
    EDGES_MAX,
    draft::{Need, Wanted, shown},
    graph::Junction,
    id::{digits, family, number_of},
    join::Joiner,
    phase::{NO_PHASE, PhaseStep},
    problem::{PROBLEMS_MAX, Problem, Unclear, Warning},
    task::{Span, small},
};

/// Groups that no heading has, only the ids of their members: `P2-R1` of `P2-R1-T1`.
#[derive(Debug, Default)]
pub(super) struct NamedGroups {
    /// All entries by name, once somebody asks.
    sorted: Vec<u32>,
    groups: BTreeMap<Vec<u8>, NamedGroup>,
    /// Ids and titles in lower case, once somebody asks.
    titles: Option<BTreeMap<Vec<u8>, u32>>,
}

/// Everything whose id begins with the same name.
#[derive(Debug)]
struct NamedGroup {
    members: Vec<u32>,
    /// The first phase that one of them is in.
    earliest: PhaseStep,
    /// The node behind all of them, once somebody waits for it.
    node: Option<u32>,
}

/// Words by which somebody means other tasks without naming them.
const VAGUE: [&str; 14] = [
    "above",
    "previous",
    "preceding",
    "all tasks",
    "all other",
    "all earlier",
    "earlier tasks",
    "위의",
    "앞의",
    "이전 작업",
    "이전 태스크",
    "모든 작업",
    "모든 태스크",
    "앞선",
];

/// Words that make them harmless: a phase waits for the one before it anyway.
const PHASES: [&str; 4] = ["phase", "milestone", "단계", "페이즈"];

impl Joiner<'_> {
    pub(super) fn needs(&mut self) {
        let needs = core::mem::take(&mut self.draft.needs);
        for need in &needs {
            self.dependencies += usize::from(!matches!(need.what, Wanted::Words(_)));
            match need.what {
                Wanted::Id(id) => {
                    self.need(need, id);
                }
                Wanted::Maybe(id, words) => self.maybe(need, id, words),
                Wanted::Range { first, start, end, last } => self.range(need, first, (start, end), last),
                Wanted::Phase(phase) => self.phase(need, phase),
                Wanted::Milestone(phase, words) => {
                    if self.draft.has_milestones {
                        self.phase(need, phase);
                    } else {
                        self.external(need, words);
                    }
                }
                Wanted::Words(words) => self.external(need, words),
            }
            if self.edges.len() > EDGES_MAX {
                return self.draft.unclear(need.line, Unclear::TooManyNeeds);
            }
        }
    }

    /// One dependency; whether it is there.
    fn need(&mut self, need: &Need, name: Span) -> bool {
        let is_there = self.wait_for(need, name.in_text(self.text), name);
        if !is_there {
            self.missing(need.line, need.entry, &shown(name.in_text(self.text)));
        }
        is_there
    }

    /// Waits for a task or a group, if there is one of that name. The place is where the dependency is written.
    fn wait_for(&mut self, need: &Need, name: &[u8], place: Span) -> bool {
        if let Some(before) = self.find(name) {
            self.depend(before, need.entry);
            return true;
        }
        // Taken out and put back: it may be large, and many may wait for it.
        let mut group = self.named_groups.groups.remove(name).unwrap_or_else(|| self.group_of(name));
        let own = self.draft.entries[need.entry as usize].phase;
        self.is_early[need.entry as usize] |= group.earliest < own;
        if self.draft.entries[need.entry as usize].name.in_text(self.text).starts_with(name) {
            // A member that names its own group waits for the others in it.
            for &member in group.members.iter().filter(|&&member| member != need.entry) {
                self.edge(self.nodes[member as usize], self.start(need.entry));
            }
        } else if !group.members.is_empty() {
            let node = group.node.unwrap_or_else(|| {
                let node = self.add_junction(Junction::GroupEnd(place));
                for &member in &group.members {
                    self.edge(self.nodes[member as usize], node);
                }
                node
            });
            group.node = Some(node);
            self.edge(node, self.start(need.entry));
        }
        let is_there = !group.members.is_empty();
        self.named_groups.groups.insert(name.to_vec(), group);
        is_there
    }

    /// All whose ids begin with a name.
    fn group_of(&mut self, name: &[u8]) -> NamedGroup {
        let text = self.text;
        if self.named_groups.sorted.is_empty() {
            let mut sorted: Vec<u32> = (0..small(self.draft.entries.len())).collect();
            sorted.sort_unstable_by_key(|&entry| self.draft.entries[entry as usize].name.in_text(text));
            self.named_groups.sorted = sorted;
        }
        let sorted = &self.named_groups.sorted;
        let name_of = |entry: u32| self.draft.entries[entry as usize].name.in_text(text);
        let start = sorted.partition_point(|&entry| name_of(entry) < name);
        let like = sorted[start..].iter().copied().take_while(|&entry| name_of(entry).starts_with(name));
        let is_member = |entry: &u32| {
            let next = name_of(*entry).get(name.len()).copied().unwrap_or_default();
            let ends_in_digit = name.last().is_some_and(u8::is_ascii_digit);
            let is_joint = matches!(next, b'-' | b'.' | b'_') || ends_in_digit && next.is_ascii_alphabetic();
            is_joint && !self.draft.entries[*entry as usize].is_tentative
        };
        let members: Vec<u32> = like.filter(is_member).collect();
        let earliest = members.iter().map(|&entry| self.draft.entries[entry as usize].phase).min();
        NamedGroup { members, earliest: earliest.unwrap_or(NO_PHASE), node: None }
    }

    /// An id that could be another word: a task if there is one, or others like it.
    fn maybe(&mut self, need: &Need, id: Span, words: Span) {
        let (name, around) = (id.in_text(self.text), words.in_text(self.text));
        let is_number = matches!(task_name::read(name), Some(TaskName { form: IdForm::Number, .. }));
        let is_alone = is_named_alone(around, name);
        // "Epic 3" is no task 3, whatever the file counts.
        let is_other = is_number && !is_alone && !name.contains(&b'.');
        if !is_other && self.wait_for(need, name, id) {
            self.draft.entries[need.entry as usize].named = true;
            return;
        }
        let has_kind = self.families.contains(family(name));
        let phase = number_of(name).filter(|_| is_number && has_kind && is_alone);
        match phase.map(|number| PhaseStep { number, step: 0 }) {
            Some(phase) if self.phase_place(phase, u32::MAX).is_some() => self.phase(need, phase),
            _ if has_kind && (is_alone || !is_number) => {
                self.missing(need.line, need.entry, &shown(name));
            }
            _ if is_number && is_alone => {
                self.draft.unclear(need.line, Unclear::NotAnId { word: shown(name) });
            }
            _ => self.external(need, words),
        }
    }

    /// The ids of a range one after the other, up to the first that is not there.
    fn range(&mut self, need: &Need, first: Span, (start, end): (u32, u32), last: u32) {
        let name = first.in_text(self.text);
        let is_plain = matches!(task_name::read(name), Some(TaskName { form: IdForm::Plain, .. }));
        if !is_plain && !self.families.contains(family(name)) {
            let is_number = name.iter().all(u8::is_ascii_digit);
            if is_number {
                return self.draft.unclear(need.line, Unclear::NotAnId { word: shown(name) });
            }
            return self.external(need, first);
        }
        let (prefix, rest) = name.split_at(start as usize);
        let (number, suffix) = rest.split_at((end - start) as usize);
        let width = if number.starts_with(b"0") { digits(number) } else { 0 };
        let text = |part: &[u8]| String::from_utf8_lossy(part).into_owned();
        let (prefix, suffix) = (text(prefix), text(suffix));
        for number in number_of(number).unwrap_or_default()..=last {
            let name = alloc::format!("{prefix}{number:0width$}{suffix}");
            if !self.wait_for(need, name.as_bytes(), first) {
                return self.missing(need.line, need.entry, &name);
            }
            if self.edges.len() > EDGES_MAX {
                return;
            }
        }
    }

    /// All of a phase.
    fn phase(&mut self, need: &Need, wanted: PhaseStep) {
        let own = self.draft.entries[need.entry as usize].phase;
        match (self.phase_place(wanted, own.number), self.has_phases()) {
            _ if wanted.number == own.number && wanted >= own => {
                let id = self.name(need.entry);
                self.draft.unclear(need.line, Unclear::OwnPhase { id });
            }
            (None, _) => {
                let PhaseStep { number, step } = wanted;
                let step = if step > 0 { alloc::format!(".{step}") } else { String::new() };
                self.missing(need.line, need.entry, &alloc::format!("Phase {number}{step}"));
            }
            (Some(at), Some(first)) => {
                self.is_early[need.entry as usize] |= wanted < own;
                self.edge(first + small(at), self.start(need.entry));
            }
            (Some(_), None) => {}
        }
    }

    /// Words that are no id: somebody else's business, unless a task of this file is meant by them.
    fn external(&mut self, need: &Need, words: Span) {
        let words = words.in_text(self.text);
        let (task, text) = (self.name(need.entry), shown(words));
        if let Some(meant) = self.titled(words).filter(|&meant| meant != need.entry) {
            let id = self.name(meant);
            return self.draft.unclear(need.line, Unclear::ByTitle { task, text, id });
        }
        let lower = String::from_utf8_lossy(words).to_lowercase();
        let has = |list: &[&str]| list.iter().any(|word| lower.contains(word));
        if has(&VAGUE) && !has(&PHASES) {
            self.draft.unclear(need.line, Unclear::Vague { task, text });
        } else {
            self.draft.warn(need.line, Warning::External { task, text });
        }
    }

    /// The task that has these words for its title, or its id in other letters.
    fn titled(&mut self, words: &[u8]) -> Option<u32> {
        let (text, entries) = (self.text, &self.draft.entries);
        let titles = self.named_groups.titles.get_or_insert_with(|| {
            let mut titles = BTreeMap::new();
            for (number, entry) in (0..).zip(entries).filter(|(_, entry)| !entry.is_tentative) {
                for words in [entry.title, entry.name] {
                    titles.entry(folded(words.in_text(text))).or_insert(number);
                }
            }
            titles
        });
        let words = folded(words);
        if words.len() < 3 { None } else { titles.get(&words).copied() }
    }

    pub(super) fn missing(&mut self, line: u32, entry: u32, needs: &str) {
        if self.draft.problems.len() < PROBLEMS_MAX {
            let (task, needs) = (self.name(entry), needs.to_string());
            self.draft.problems.push(Problem::Missing { line, task, needs });
        }
    }
}

/// Whether words name an id and nothing else: `3`, `#3`, `task 3`.
fn is_named_alone(words: &[u8], name: &[u8]) -> bool {
    let Some(before) = words.strip_suffix(name) else { return false };
    let before = before.strip_suffix(b"#").unwrap_or(before).trim_ascii();
    before.is_empty()
        || ["task", "tasks", "작업", "태스크"].iter().any(|it| before.eq_ignore_ascii_case(it.as_bytes()))
}

/// Letters and digits in lower case.
fn folded(words: &[u8]) -> Vec<u8> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    words.iter().filter(|byte| is_letter(byte)).map(u8::to_ascii_lowercase).collect()
}
