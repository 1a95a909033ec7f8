//! The part of the joiner that takes the edges of diagrams.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

use super::{
    EDGES_MAX,
    draft::{Diagrams, shown},
    graph::Junction,
    id::{Id, family, number_of},
    join::Joiner,
    passed_over::PassedKind,
    phase::NO_PHASE,
    problem::Unclear,
    task::Span,
};

/// What a node of a diagram means.
#[derive(Clone, Copy)]
enum Node<'a> {
    /// A task or a group.
    Entry(u32),
    /// An id that nothing has.
    Unknown(&'a [u8]),
    /// A part of the diagram.
    Part,
    /// Anything else.
    Other,
}

/// The names of all diagrams, by the number of the diagram.
struct Names<'a> {
    labels: BTreeMap<(u32, &'a [u8]), &'a [u8]>,
    /// The nodes and parts that stand in each part.
    parts: BTreeMap<(u32, &'a [u8]), BTreeSet<&'a [u8]>>,
    /// Junctions before and behind all of a part.
    around: BTreeMap<(u32, &'a [u8]), (u32, u32)>,
    /// Junctions of nodes that are neither.
    others: BTreeMap<(u32, &'a [u8]), u32>,
    /// Junctions before all of a phase.
    phases: BTreeMap<u32, u32>,
}

impl<'a> Joiner<'a> {
    /// Adds the edges. A diagram without tasks is about something else.
    pub(super) fn diagrams(&mut self) {
        let Diagrams { edges, labels, parts, members, .. } = core::mem::take(&mut self.draft.diagrams);
        let text = self.text;
        let mut names = Names {
            labels: labels
                .iter()
                .map(|(at, name, id)| ((*at, name.in_text(text)), id.in_text(text)))
                .collect(),
            parts: parts.iter().map(|(at, name)| ((*at, name.in_text(text)), BTreeSet::new())).collect(),
            around: BTreeMap::new(),
            others: BTreeMap::new(),
            phases: BTreeMap::new(),
        };
        for (at, part, name) in &members {
            names.parts.entry((*at, part.in_text(text))).or_default().insert(name.in_text(text));
        }
        for edges in edges.chunk_by(|one, next| one.0 == next.0) {
            let ends = edges.iter().flat_map(|(at, _, from, to)| [(*at, *from), (*at, *to)]);
            let nodes: Vec<Node<'a>> =
                ends.map(|(at, name)| self.node(&names, at, name.in_text(text))).collect();
            let is_task = |node: &Node<'_>| matches!(node, Node::Entry(_));
            let diagram = edges[0].0;
            let in_parts = || {
                let parts = names.parts.range((diagram, &[][..])..).take_while(|((at, _), _)| *at == diagram);
                let mut members = parts.flat_map(|(_, members)| members);
                members.any(|name| is_task(&self.node(&names, diagram, name)))
            };
            if !nodes.iter().any(is_task) && !in_parts() {
                self.draft.pass_over(edges[0].1, PassedKind::OtherDiagram, &[]);
                continue;
            }
            for ((diagram, line, from, to), nodes) in edges.iter().zip(nodes.chunks_exact(2)) {
                if self.edges.len() > EDGES_MAX {
                    return self.draft.unclear(*line, Unclear::TooManyNeeds);
                }
                let ends = [(*from, nodes[0]), (*to, nodes[1])];
                self.drawn(&mut names, *diagram, *line, ends);
            }
        }
    }

    fn node(&self, names: &Names<'a>, diagram: u32, name: &'a [u8]) -> Node<'a> {
        let id = Id::parse(name).map(|id| id.name).or_else(|| names.labels.get(&(diagram, name)).copied());
        let is_ours =
            |id: &[u8]| Id::parse(id).is_some_and(Id::is_plain) || self.families.contains(family(id));
        match id.map(|id| (self.find(id), id)) {
            Some((Some(entry), _)) => Node::Entry(entry),
            _ if names.parts.contains_key(&(diagram, name)) => Node::Part,
            Some((None, id)) if is_ours(id) => Node::Unknown(id),
            Some(_) | None => Node::Other,
        }
    }

    /// One edge of a diagram.
    fn drawn(&mut self, names: &mut Names<'a>, diagram: u32, line: u32, ends: [(Span, Node<'a>); 2]) {
        let [(from_name, from), (to_name, to)] = ends;
        match (from, to) {
            (Node::Entry(from), Node::Entry(to)) => {
                self.draft.entries[to as usize].named = true;
                self.dependencies += 1;
                self.depend(from, to);
            }
            (Node::Unknown(id), Node::Entry(to)) => self.missing(line, to, &shown(id)),
            (Node::Unknown(id), _) | (_, Node::Unknown(id)) => {
                self.draft.unclear(line, Unclear::NotInFile { id: shown(id) });
            }
            (Node::Part, Node::Entry(_) | Node::Part) if self.phase_edge(names, from_name, (to_name, to)) => {
            }
            _ => {
                let before = match from {
                    Node::Entry(entry) => self.nodes[entry as usize],
                    Node::Part => match self.part(names, diagram, from_name) {
                        Ok((_, end)) => end,
                        Err(what) => return self.draft.unclear(line, what),
                    },
                    _ => self.other(names, diagram, from_name),
                };
                let after = match to {
                    Node::Entry(entry) => self.start(entry),
                    Node::Part => match self.part(names, diagram, to_name) {
                        Ok((start, _)) => start,
                        Err(what) => return self.draft.unclear(line, what),
                    },
                    _ => self.other(names, diagram, to_name),
                };
                self.dependencies += usize::from(matches!(to, Node::Entry(_) | Node::Part));
                self.edge(before, after);
            }
        }
    }

    /// The junctions before and behind all tasks of a part. They only make somebody wait: nobody names an earlier phase by
    /// them.
    fn part(&mut self, names: &mut Names<'a>, diagram: u32, name: Span) -> Result<(u32, u32), Unclear> {
        let outer = name.in_text(self.text);
        if let Some(&known) = names.around.get(&(diagram, outer)) {
            return Ok(known);
        }
        let mut tasks = BTreeSet::new();
        let mut others = BTreeSet::new();
        let mut seen = BTreeSet::from([outer]);
        let mut open = alloc::vec![outer];
        while let Some(part) = open.pop() {
            for &member in names.parts.get(&(diagram, part)).into_iter().flatten() {
                match self.node(names, diagram, member) {
                    Node::Entry(entry) => drop(tasks.insert(entry)),
                    Node::Part if seen.insert(member) => open.push(member),
                    Node::Part => {}
                    Node::Unknown(id) => return Err(Unclear::NotInFile { id: shown(id) }),
                    Node::Other => drop(others.insert(member)),
                }
            }
        }
        if tasks.is_empty() {
            return Err(Unclear::Subgraph { name: shown(outer) });
        }
        let start = self.add_junction(Junction::Node(name));
        let end = self.add_junction(Junction::Node(name));
        names.around.insert((diagram, outer), (start, end));
        for entry in tasks {
            self.edge(start, self.start(entry));
            self.edge(self.nodes[entry as usize], end);
        }
        for other in others {
            let node = self.other(names, diagram, Span::of(self.text, other));
            self.edge(start, node);
            self.edge(node, end);
        }
        Ok((start, end))
    }

    /// An edge from a part that has the name of a phase to what comes later, as [`Plan::mermaid`] draws it. It only
    /// makes somebody wait: whoever put other tasks into such a part must not free the task from its own phase's order.
    ///
    /// [`Plan::mermaid`]: super::Plan::mermaid
    fn phase_edge(&mut self, names: &mut Names<'a>, from: Span, (to_name, to): (Span, Node<'a>)) -> bool {
        let number = |name: Span| number_of(name.in_text(self.text).strip_prefix(b"phase_")?);
        let Some(before) = number(from) else { return false };
        let later = match to {
            Node::Entry(entry) => Some(self.draft.entries[entry as usize].phase.number),
            _ => number(to_name),
        };
        let Some(later) = later.filter(|&later| later > before && later != NO_PHASE.number) else {
            return false;
        };
        let (Some(end), Some(_)) = (self.phase_end(before), self.phase_end(later)) else { return false };
        let start = match to {
            Node::Entry(entry) => self.start(entry),
            _ => self.phase_start(names, to_name, later),
        };
        self.edge(end, start);
        true
    }

    /// The junction before all of a phase: many edges may lead there, and its tasks are looked for once.
    fn phase_start(&mut self, names: &mut Names<'a>, name: Span, number: u32) -> u32 {
        if let Some(&start) = names.phases.get(&number) {
            return start;
        }
        let start = self.add_junction(Junction::Node(name));
        names.phases.insert(number, start);
        for at in 0..self.tasks.len() {
            let task = self.tasks[at];
            if self.draft.entries[task as usize].phase.number == number {
                self.edge(start, self.start(task));
            }
        }
        start
    }

    /// The junction of a node that is no task.
    fn other(&mut self, names: &mut Names<'a>, diagram: u32, name: Span) -> u32 {
        let key = (diagram, name.in_text(self.text));
        if let Some(&node) = names.others.get(&key) {
            return node;
        }
        let node = self.add_junction(Junction::Node(name));
        names.others.insert(key, node);
        node
    }
}
