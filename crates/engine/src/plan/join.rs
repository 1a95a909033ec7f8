//! Joins what the reader has found: dependencies become edges, and what does not fit becomes a problem.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    vec::Vec,
};

use ostler_protocol::task_name::IdForm;

use super::{
    EDGES_MAX, circle,
    draft::{Draft, Named, shown},
    graph::{Graph, Junction},
    id::{Id, family},
    passed_over::PassedKind,
    phase::{NO_PHASE, PhaseStep},
    problem::{Problem, Unclear, Warning},
    task::{Entry, NONE, ONLY_PHASE, Phase, Plan, Shape, Span, small},
    wanted::NamedGroups,
};

/// How many nodes are looked at to find whether what a note names is waited for anyway.
const NOTE_STEPS_MAX: usize = 1 << 20;

/// The same for what other words name, of which there may be many.
const WORDS_STEPS_MAX: usize = 1 << 16;

pub(super) struct Joiner<'a> {
    pub(super) text: &'a [u8],
    pub(super) draft: Draft,
    pub(super) tasks: Vec<u32>,
    pub(super) nodes: Vec<u32>,
    /// The phases that have tasks, and their steps, sorted.
    phases: Vec<PhaseStep>,
    /// The first junction of the phases; nothing if there is only one of them.
    phase_junctions: Option<u32>,
    junctions: Vec<Junction>,
    pub(super) edges: Vec<(u32, u32)>,
    /// Of each entry: whether it names a dependency in an earlier phase.
    pub(super) is_early: Vec<bool>,
    /// What ids of tasks begin with that could be other words; nothing stands for numbers.
    pub(super) families: BTreeSet<&'a [u8]>,
    pub(super) named_groups: NamedGroups,
    /// Groups that have their members by name alone.
    pub(super) by_name: BTreeSet<u32>,
    pub(super) dependencies: usize,
}

pub(super) fn join(text: Vec<u8>, draft: Draft) -> Plan {
    let mut joiner = Joiner {
        text: &text,
        draft,
        tasks: Vec::new(),
        nodes: Vec::new(),
        phases: Vec::new(),
        phase_junctions: None,
        junctions: Vec::new(),
        edges: Vec::new(),
        is_early: Vec::new(),
        families: BTreeSet::new(),
        named_groups: NamedGroups::default(),
        by_name: BTreeSet::new(),
        dependencies: 0,
    };
    joiner.confirm();
    joiner.number();
    joiner.number_phases();
    joiner.known();
    joiner.groups();
    joiner.members_by_name();
    joiner.needs();
    joiner.diagrams();
    joiner.order_phases();
    joiner.order_items();
    joiner.mentions();
    let tasks = small(joiner.tasks.len());
    let graph = Graph::new(tasks, core::mem::take(&mut joiner.junctions), &joiner.edges);
    joiner.notes(&graph);
    let Joiner { mut draft, tasks, nodes, phases, dependencies, .. } = joiner;
    draft.more_boxes.sort_by_key(|(entry, _)| *entry);
    draft.passed_over.sort_by_key(|it| it.line);
    if draft.attributes.windows(2).any(|pair| pair[0].entry > pair[1].entry) {
        draft.attributes.sort_by_key(|attribute| attribute.entry);
    }
    draft.warnings.sort_by_key(|(line, _)| *line);
    // Those about single lines first; among equals the order of the file.
    draft.problems.sort_by_key(|problem| (matches!(problem, Problem::Missing { .. }), problem.line()));
    let counted = counted_titles(&draft);
    draft.titles.extend(counted);
    // The first title of a phase counts, so it is put there last.
    let said = draft.titles.iter().rev().filter(|(_, title)| *title != Span::default());
    let titles: BTreeMap<u32, &[u8]> = said.map(|(phase, title)| (*phase, title.in_text(&text))).collect();
    let title_of = |number: &u32| titles.get(number).map(|title| String::from_utf8_lossy(title).into_owned());
    let numbers: BTreeSet<u32> = phases.iter().map(|phase| phase.number).collect();
    let phases = numbers.iter().map(|number| Phase { number: *number, title: title_of(number) }).collect();
    let mut plan = Plan {
        text,
        entries: draft.entries,
        tasks,
        nodes,
        index: draft.index,
        attributes: draft.attributes,
        phases,
        problems: draft.problems,
        warnings: draft.warnings,
        passed_over: draft.passed_over,
        more_boxes: draft.more_boxes,
        dependencies,
        graph,
    };
    if let Some(problem) = circle::find(&plan) {
        plan.problems.push(problem);
    }
    plan
}

/// `## 1. Database` around `1.1` and `1.2` is the title of a phase too.
fn counted_titles(draft: &Draft) -> Vec<(u32, Span)> {
    let is_counted =
        |it: &&Entry| it.is_group && !it.is_tentative && it.form == IdForm::Number && it.phase != NO_PHASE;
    draft.entries.iter().filter(is_counted).map(|it| (it.phase.number, it.title)).collect()
}

impl Joiner<'_> {
    /// Gives tasks and groups their nodes.
    fn number(&mut self) {
        let entries = &self.draft.entries;
        let count = small(entries.iter().filter(|entry| !entry.is_group).count());
        self.nodes.reserve_exact(entries.len());
        self.tasks.reserve_exact(count as usize);
        for (number, entry) in (0..).zip(entries) {
            if entry.is_group {
                self.junctions.push(Junction::GroupStart);
                self.junctions.push(Junction::GroupEnd(entry.name));
                self.nodes.push(count + small(self.junctions.len()) - 1);
            } else {
                self.nodes.push(small(self.tasks.len()));
                self.tasks.push(number);
            }
        }
        self.is_early = alloc::vec![false; entries.len()];
        if count == 0 && self.draft.problems.is_empty() {
            self.draft.unclear(1, Unclear::NoTasks);
        }
    }

    fn number_phases(&mut self) {
        let has_any = self.tasks.iter().any(|&task| self.draft.entries[task as usize].phase != NO_PHASE);
        for at in 0..self.draft.entries.len() {
            let entry = &mut self.draft.entries[at];
            if entry.phase == NO_PHASE && !has_any {
                entry.phase = PhaseStep { number: ONLY_PHASE, step: 0 };
            } else if entry.phase == NO_PHASE && !entry.is_group {
                let (line, id) = (entry.line, self.name(small(at)));
                self.draft.unclear(line, Unclear::NoPhase { id });
            }
        }
        let of_tasks = self.tasks.iter().map(|&task| self.draft.entries[task as usize].phase);
        let mut phases: Vec<PhaseStep> = of_tasks.filter(|&phase| phase != NO_PHASE).collect();
        phases.dedup();
        phases.sort_unstable();
        phases.dedup();
        self.phases = phases;
        if self.phases.len() > 1 {
            self.phase_junctions = Some(self.next_junction());
            let nexts = self.phases.iter().skip(1).map(Some).chain([None]);
            let is_end =
                nexts.zip(&self.phases).map(|(next, it)| next.is_none_or(|next| next.number > it.number));
            let junctions = is_end.zip(&self.phases).map(|(is_end, &PhaseStep { number, step })| {
                if is_end { Junction::Phase(number) } else { Junction::Step(number, step) }
            });
            self.junctions.extend(junctions);
        }
    }

    /// Where a phase or a step stands among all; a phase that is named without a step ends with its last one, as seen from
    /// another phase.
    pub(super) fn phase_place(&self, wanted: PhaseStep, own: u32) -> Option<usize> {
        if wanted.step > 0 || wanted.number == own {
            return self.phases.binary_search(&wanted).ok();
        }
        let end = self.phases.partition_point(|phase| phase.number <= wanted.number);
        end.checked_sub(1).filter(|&at| self.phases[at].number == wanted.number)
    }

    /// The node behind all of a phase.
    pub(super) fn phase_end(&self, number: u32) -> Option<u32> {
        let place = self.phase_place(PhaseStep { number, step: 0 }, NO_PHASE.number)?;
        Some(self.phase_junctions? + small(place))
    }

    pub(super) fn has_phases(&self) -> Option<u32> {
        self.phase_junctions
    }

    fn next_junction(&self) -> u32 {
        small(self.tasks.len() + self.junctions.len())
    }

    pub(super) fn add_junction(&mut self, junction: Junction) -> u32 {
        let node = self.next_junction();
        self.junctions.push(junction);
        node
    }

    pub(super) fn name(&self, entry: u32) -> String {
        self.draft.entries[entry as usize]
            .name
            .in_text(self.text)
            .iter()
            .map(|&byte| char::from(byte))
            .collect()
    }

    /// The task or group of an id; what only looked like one is none.
    pub(super) fn find(&self, name: &[u8]) -> Option<u32> {
        let found =
            self.draft.index.find(name, |entry| self.draft.entries[entry as usize].name.in_text(self.text));
        found.filter(|&entry| !self.draft.entries[entry as usize].is_tentative)
    }

    /// The node that waits for what an entry depends on.
    pub(super) fn start(&self, entry: u32) -> u32 {
        self.nodes[entry as usize] - u32::from(self.draft.entries[entry as usize].is_group)
    }

    pub(super) fn edge(&mut self, from: u32, to: u32) {
        self.edges.push((from, to));
    }

    /// A group begins before its members and ends behind them.
    fn groups(&mut self) {
        for entry in 0..small(self.nodes.len()) {
            let parent = self.draft.entries[entry as usize].parent;
            if parent != NONE {
                self.edge(self.start(parent), self.start(entry));
                self.edge(self.nodes[entry as usize], self.nodes[parent as usize]);
            }
        }
    }

    /// They become edges where they stand, since there are many.
    fn known(&mut self) {
        let mut edges = core::mem::take(&mut self.draft.known);
        if let Some((_, entry)) = edges.get(EDGES_MAX) {
            let line = self.draft.entries[*entry as usize].line;
            return self.draft.unclear(line, Unclear::TooManyNeeds);
        }
        for edge in &mut edges {
            let (before, entry) = *edge;
            self.look_back(before, entry);
            *edge = (self.nodes[before as usize], self.start(entry));
        }
        self.dependencies += edges.len();
        // Each task has edges from and to its phase.
        edges.reserve(self.draft.needs.len() + 2 * self.tasks.len());
        self.edges = edges;
    }

    pub(super) fn depend(&mut self, before: u32, entry: u32) {
        self.look_back(before, entry);
        self.edge(self.nodes[before as usize], self.start(entry));
    }

    /// Whether what an entry names is in an earlier phase.
    fn look_back(&mut self, before: u32, entry: u32) {
        let (earlier, own) = (&self.draft.entries[before as usize], &self.draft.entries[entry as usize]);
        self.is_early[entry as usize] |= earlier.phase < own.phase;
    }

    /// A phase waits for the one before it, except who names what it waits for there.
    fn order_phases(&mut self) {
        let Some(first) = self.phase_junctions else { return };
        for entry in 0..self.nodes.len() {
            let fields = &self.draft.entries[entry];
            if fields.is_group {
                continue;
            }
            let mut is_early = self.is_early[entry];
            let mut around = fields.parent;
            while around != NONE && !is_early {
                is_early = self.is_early[around as usize];
                around = self.draft.entries[around as usize].parent;
            }
            let Ok(at) = self.phases.binary_search(&fields.phase) else { continue };
            let node = self.nodes[entry];
            self.edge(node, first + small(at));
            if at > 0 && !is_early {
                self.edge(first + small(at) - 1, node);
            }
        }
        for at in 1..small(self.phases.len()) {
            self.edge(first + at - 1, first + at);
        }
    }

    /// Where somebody marks items with `[P]`, the others come one after the other.
    fn order_items(&mut self) {
        let entries = &self.draft.entries;
        let marked: BTreeSet<PhaseStep> =
            entries.iter().filter(|it| it.parallel).map(|it| it.phase).collect();
        if marked.is_empty() {
            return;
        }
        // Of each phase: the last one that came alone, and who came since.
        let mut last: BTreeMap<PhaseStep, (Option<u32>, Vec<u32>)> = BTreeMap::new();
        let mut edges = Vec::new();
        for &task in &self.tasks {
            let fields = &entries[task as usize];
            if fields.shape != Shape::Item || !marked.contains(&fields.phase) {
                continue;
            }
            let (alone, since) = last.entry(fields.phase).or_default();
            let node = self.nodes[task as usize];
            if !fields.named {
                edges.extend(alone.map(|alone| (alone, node)));
            }
            if fields.parallel {
                since.push(node);
            } else {
                if !fields.named {
                    edges.extend(since.iter().map(|&before| (before, node)));
                }
                // One that names its dependencies does not wait for these; who comes next waits for all.
                if fields.named {
                    since.push(node);
                } else {
                    since.clear();
                    *alone = Some(node);
                }
            }
        }
        self.edges.extend(edges);
    }

    /// Ids where a task may have been meant must be tasks elsewhere.
    fn mentions(&mut self) {
        let mentions = core::mem::take(&mut self.draft.mentions);
        for mention in mentions {
            let id = mention.id.in_text(self.text);
            let is_ours = Id::parse(id).is_some_and(Id::is_plain) || self.families.contains(family(id));
            if self.find(id).is_some() {
                self.draft.pass_over(mention.line, PassedKind::Mentioned, id);
            } else if is_ours {
                let id = shown(id);
                let what =
                    if mention.in_table { Unclear::NoNeedsColumn { id } } else { Unclear::NoBox { id } };
                self.draft.unclear(mention.line, what);
            }
        }
    }

    /// A task that a note names must be waited for, by this way or another.
    fn notes(&mut self, graph: &Graph) {
        let notes = core::mem::take(&mut self.draft.notes);
        if notes.is_empty() {
            return;
        }
        let backwards = graph.backwards();
        let (mut of_notes, mut of_words) = (0, 0);
        for note in &notes {
            let (steps, steps_max) = match note.named {
                Named::Note | Named::Title => (&mut of_notes, NOTE_STEPS_MAX),
                Named::Words => (&mut of_words, WORDS_STEPS_MAX),
            };
            let id = note.id.in_text(self.text);
            let Some(named) = self.find(id).filter(|&named| named != note.entry) else { continue };
            let goal = self.nodes[named as usize];
            let mut seen = BTreeSet::new();
            let mut open = alloc::vec![self.start(note.entry)];
            let mut is_waited_for = false;
            while let Some(node) = open.pop()
                && *steps < steps_max
                && !is_waited_for
            {
                for &before in backwards.predecessors(node) {
                    *steps += 1;
                    is_waited_for |= before == goal;
                    if seen.insert(before) {
                        open.push(before);
                    }
                }
            }
            if is_waited_for {
                continue;
            }
            match note.named {
                Named::Words => self.draft.pass_over(note.line, PassedKind::Named, id),
                Named::Title => {
                    let (task, id) = (self.name(note.entry), shown(id));
                    self.draft.warn(note.line, Warning::Mention { task, id });
                }
                Named::Note => self.draft.unclear(note.line, Unclear::OnlyInNote { id: shown(id) }),
            }
        }
    }
}
