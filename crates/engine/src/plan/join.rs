//! Joins what the reader has found: dependencies become edges, and what does not fit becomes a problem.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::{String, ToString},
    vec::Vec,
};

use super::{
    EDGES_MAX, circle,
    draft::{Draft, Need, Wanted, shown},
    graph::{Graph, Junction},
    needs::number_at_end,
    problem::{PROBLEMS_MAX, Problem, Unclear, Warning},
    task::{NONE, ONLY_PHASE, Phase, Plan, Shape, Span, place_of, small},
};

/// How many nodes are looked at to find whether what a note names is waited for anyway.
const NOTE_STEPS_MAX: usize = 1 << 20;

pub(super) struct Joiner<'a> {
    pub(super) text: &'a [u8],
    pub(super) draft: Draft,
    pub(super) tasks: Vec<u32>,
    pub(super) nodes: Vec<u32>,
    /// Numbers of the phases that have tasks, sorted.
    phases: Vec<u32>,
    /// The first junction of the phases; nothing if there is only one of them.
    phase_junctions: Option<u32>,
    junctions: Vec<Junction>,
    pub(super) edges: Vec<(u32, u32)>,
    /// Of each entry: whether it names a dependency in an earlier phase.
    is_early: Vec<bool>,
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
    };
    joiner.number();
    joiner.number_phases();
    joiner.known();
    joiner.groups();
    joiner.needs();
    joiner.diagrams();
    joiner.order_phases();
    joiner.order_items();
    joiner.mentions();
    let tasks = small(joiner.tasks.len());
    let graph = Graph::new(tasks, core::mem::take(&mut joiner.junctions), &joiner.edges);
    joiner.notes(&graph);
    let Joiner { mut draft, tasks, nodes, phases, .. } = joiner;
    if draft.attributes.windows(2).any(|pair| pair[0].entry > pair[1].entry) {
        draft.attributes.sort_by_key(|attribute| attribute.entry);
    }
    draft.warnings.sort_by_key(|(line, _)| *line);
    // Those about single lines first; among equals the order of the file.
    draft.problems.sort_by_key(|problem| (matches!(problem, Problem::Missing { .. }), problem.line()));
    // The first title of a phase counts, so it is put there last.
    let said = draft.titles.iter().rev().filter(|(_, title)| *title != Span::default());
    let titles: BTreeMap<u32, &[u8]> = said.map(|(phase, title)| (*phase, title.in_text(&text))).collect();
    let title_of = |number: &u32| titles.get(number).map(|title| String::from_utf8_lossy(title).into_owned());
    let phases = phases.iter().map(|number| Phase { number: *number, title: title_of(number) }).collect();
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
        graph,
    };
    if let Some(problem) = circle::find(&plan) {
        plan.problems.push(problem);
    }
    plan
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
        let has_any = self.tasks.iter().any(|&task| self.draft.entries[task as usize].phase != NONE);
        for at in 0..self.draft.entries.len() {
            let entry = &mut self.draft.entries[at];
            if entry.phase == NONE && !has_any {
                entry.phase = ONLY_PHASE;
            } else if entry.phase == NONE && !entry.is_group {
                let (line, id) = (entry.line, self.name(small(at)));
                self.draft.unclear(line, Unclear::NoPhase { id });
            }
        }
        let of_tasks = self.tasks.iter().map(|&task| self.draft.entries[task as usize].phase);
        let mut phases: Vec<u32> = of_tasks.filter(|&phase| phase != NONE).collect();
        phases.dedup();
        phases.sort_unstable();
        phases.dedup();
        self.phases = phases;
        if self.phases.len() > 1 {
            self.phase_junctions = Some(self.next_junction());
            self.junctions.extend(self.phases.iter().map(|&phase| Junction::Phase(phase)));
        }
    }

    fn phase_place(&self, number: u32) -> Option<usize> {
        place_of(&self.phases, number, |phase| *phase)
    }

    /// The node behind all of a phase.
    pub(super) fn phase_end(&self, number: u32) -> Option<u32> {
        Some(self.phase_junctions? + small(self.phase_place(number)?))
    }

    fn next_junction(&self) -> u32 {
        small(self.tasks.len() + self.junctions.len())
    }

    pub(super) fn add_junction(&mut self, junction: Junction) -> u32 {
        let node = self.next_junction();
        self.junctions.push(junction);
        node
    }

    fn name(&self, entry: u32) -> String {
        self.draft.entries[entry as usize]
            .name
            .in_text(self.text)
            .iter()
            .map(|&byte| char::from(byte))
            .collect()
    }

    pub(super) fn find(&self, name: &[u8]) -> Option<u32> {
        self.draft.index.find(name, |entry| self.draft.entries[entry as usize].name.in_text(self.text))
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
        // Each task has edges from and to its phase.
        edges.reserve(self.draft.needs.len() + 2 * self.tasks.len());
        self.edges = edges;
    }

    fn needs(&mut self) {
        let needs = core::mem::take(&mut self.draft.needs);
        for need in &needs {
            match need.what {
                Wanted::Id(id) => {
                    self.need(need, id.in_text(self.text));
                }
                Wanted::Range { first, last } => self.range(need, first.in_text(self.text), last),
                Wanted::Phase(number) => self.phase(need, number),
            }
            if self.edges.len() > EDGES_MAX {
                return self.draft.unclear(need.line, Unclear::TooManyNeeds);
            }
        }
    }

    /// One dependency; whether it is there.
    fn need(&mut self, need: &Need, name: &[u8]) -> bool {
        let Some(before) = self.find(name) else {
            self.missing(need.line, need.entry, &shown(name));
            return false;
        };
        self.depend(before, need.entry);
        true
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

    pub(super) fn missing(&mut self, line: u32, entry: u32, needs: &str) {
        if self.draft.problems.len() < PROBLEMS_MAX {
            let (task, needs) = (self.name(entry), needs.to_string());
            self.draft.problems.push(Problem::Missing { line, task, needs });
        }
    }

    /// The ids of a range one after the other, up to the first that is not there.
    fn range(&mut self, need: &Need, first: &[u8], last: u32) {
        let (prefix, number) = first.split_at(number_at_end(first));
        let width = if number.starts_with(b"0") { number.len() } else { 0 };
        let start = number
            .iter()
            .fold(0_u32, |sum, digit| sum.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')));
        let prefix = String::from_utf8_lossy(prefix).into_owned();
        for number in start..=last {
            let name = alloc::format!("{prefix}{number:0width$}");
            if !self.need(need, name.as_bytes()) || self.edges.len() > EDGES_MAX {
                return;
            }
        }
    }

    /// All of a phase.
    fn phase(&mut self, need: &Need, number: u32) {
        let own = self.draft.entries[need.entry as usize].phase;
        match (self.phase_place(number), self.phase_junctions) {
            (None, _) => self.missing(need.line, need.entry, &alloc::format!("Phase {number}")),
            (Some(_), _) if number == own => {
                let id = self.name(need.entry);
                self.draft.unclear(need.line, Unclear::OwnPhase { id });
            }
            (Some(at), Some(first)) => {
                self.is_early[need.entry as usize] |= number < own;
                self.edge(first + small(at), self.start(need.entry));
            }
            (Some(_), None) => {}
        }
    }

    /// A phase waits for the one before it, except who names what it waits for there.
    fn order_phases(&mut self) {
        let Some(first) = self.phase_junctions else { return };
        for entry in 0..self.nodes.len() {
            let fields = &self.draft.entries[entry];
            // A group comes before its members, so its own is known by then.
            if fields.parent != NONE {
                self.is_early[entry] |= self.is_early[fields.parent as usize];
            }
            let fields = &self.draft.entries[entry];
            if fields.is_group {
                continue;
            }
            let Some(at) = self.phase_place(fields.phase) else { continue };
            let node = self.nodes[entry];
            self.edge(node, first + small(at));
            if at > 0 && !self.is_early[entry] {
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
        let marked: BTreeSet<u32> = entries.iter().filter(|it| it.parallel).map(|it| it.phase).collect();
        if marked.is_empty() {
            return;
        }
        // Of each phase: the last one that came alone, and who came since.
        let mut last: BTreeMap<u32, (Option<u32>, Vec<u32>)> = BTreeMap::new();
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
            if self.find(id).is_none() {
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
        let mut steps = 0;
        for note in &notes {
            let id = note.id.in_text(self.text);
            let Some(named) = self.find(id).filter(|&named| named != note.entry) else { continue };
            let goal = self.nodes[named as usize];
            let mut seen = BTreeSet::new();
            let mut open = alloc::vec![self.start(note.entry)];
            let mut is_waited_for = false;
            while let Some(node) = open.pop()
                && steps < NOTE_STEPS_MAX
                && !is_waited_for
            {
                for &before in backwards.predecessors(node) {
                    steps += 1;
                    is_waited_for |= before == goal;
                    if seen.insert(before) {
                        open.push(before);
                    }
                }
            }
            if is_waited_for {
                continue;
            }
            let id = shown(id);
            if note.in_title {
                let task = self.name(note.entry);
                self.draft.warn(note.line, Warning::Mention { task, id });
            } else {
                self.draft.unclear(note.line, Unclear::OnlyInNote { id });
            }
        }
    }
}
