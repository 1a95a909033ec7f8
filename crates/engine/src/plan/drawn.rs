//! The part of the joiner that takes the edges of diagrams.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

use super::{
    EDGES_MAX,
    draft::{Diagrams, shown},
    graph::Junction,
    id::{Id, number_of},
    join::Joiner,
    problem::Unclear,
    task::{NONE, Span},
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
    parts: BTreeSet<(u32, &'a [u8])>,
    /// Junctions of nodes that are neither.
    others: BTreeMap<(u32, &'a [u8]), u32>,
    /// Junctions before all of a phase.
    phases: BTreeMap<u32, u32>,
}

impl<'a> Joiner<'a> {
    /// Adds the edges. A diagram without tasks is about something else.
    pub(super) fn diagrams(&mut self) {
        let Diagrams { edges, labels, parts, .. } = core::mem::take(&mut self.draft.diagrams);
        let text = self.text;
        let mut names = Names {
            labels: labels
                .iter()
                .map(|(at, name, id)| ((*at, name.in_text(text)), id.in_text(text)))
                .collect(),
            parts: parts.iter().map(|(at, name)| (*at, name.in_text(text))).collect(),
            others: BTreeMap::new(),
            phases: BTreeMap::new(),
        };
        for edges in edges.chunk_by(|one, next| one.0 == next.0) {
            let ends = edges.iter().flat_map(|(at, _, from, to)| [(*at, *from), (*at, *to)]);
            let nodes: Vec<Node<'a>> = ends.map(|(at, name)| self.node(&names, at, name)).collect();
            if !nodes.iter().any(|node| matches!(node, Node::Entry(_))) {
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

    fn node(&self, names: &Names<'a>, diagram: u32, name: Span) -> Node<'a> {
        let name = name.in_text(self.text);
        let id = Id::parse(name).map(|id| id.name).or_else(|| names.labels.get(&(diagram, name)).copied());
        match id.map(|id| (self.find(id), id)) {
            Some((Some(entry), _)) => Node::Entry(entry),
            _ if names.parts.contains(&(diagram, name)) => Node::Part,
            Some((None, id)) => Node::Unknown(id),
            None => Node::Other,
        }
    }

    /// One edge of a diagram.
    fn drawn(&mut self, names: &mut Names<'a>, diagram: u32, line: u32, ends: [(Span, Node<'a>); 2]) {
        let [(from_name, from), (to_name, to)] = ends;
        match (from, to) {
            (Node::Entry(from), Node::Entry(to)) => {
                self.draft.entries[to as usize].named = true;
                self.depend(from, to);
            }
            (Node::Unknown(id), Node::Entry(to)) => self.missing(line, to, &shown(id)),
            (Node::Unknown(id), _) | (_, Node::Unknown(id)) => {
                self.draft.unclear(line, Unclear::NotInFile { id: shown(id) });
            }
            (Node::Part, Node::Entry(_) | Node::Part) if self.phase_edge(names, from_name, (to_name, to)) => {
            }
            (Node::Part, _) | (_, Node::Part) => {
                let name = if matches!(from, Node::Part) { from_name } else { to_name };
                self.draft.unclear(line, Unclear::Subgraph { name: shown(name.in_text(self.text)) });
            }
            (_, Node::Other) | (Node::Other, _) => {
                let before = match from {
                    Node::Entry(entry) => self.nodes[entry as usize],
                    _ => self.other(names, diagram, from_name),
                };
                let after = match to {
                    Node::Entry(entry) => self.start(entry),
                    _ => self.other(names, diagram, to_name),
                };
                self.edge(before, after);
            }
        }
    }

    /// An edge from a part that has the name of a phase to what comes later, as [`Plan::mermaid`] draws it. It only
    /// makes somebody wait: whoever put other tasks into such a part must not free the task from its own phase's order.
    ///
    /// [`Plan::mermaid`]: super::Plan::mermaid
    fn phase_edge(&mut self, names: &mut Names<'a>, from: Span, (to_name, to): (Span, Node<'a>)) -> bool {
        let number = |name: Span| number_of(name.in_text(self.text).strip_prefix(b"phase_")?);
        let Some(before) = number(from) else { return false };
        let later = match to {
            Node::Entry(entry) => Some(self.draft.entries[entry as usize].phase),
            _ => number(to_name),
        };
        let Some(later) = later.filter(|&later| later > before && later != NONE) else { return false };
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
            if self.draft.entries[task as usize].phase == number {
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
