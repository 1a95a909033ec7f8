//! Who waits for whom: tasks and junctions, and the edges between them.

use alloc::{collections::BTreeSet, vec::Vec};

use super::task::{Plan, Span, TaskNumber, small};

/// Nodes are numbers: first the tasks in the order of the file, then the junctions.
#[derive(Debug, Default)]
pub struct Graph {
    tasks: u32,
    /// Where the successors of each node begin, and where those of the last one end.
    starts: Vec<u32>,
    successors: Vec<u32>,
    /// How many stand before each node.
    before: Vec<u32>,
    junctions: Vec<Junction>,
}

/// The same edges, from each node to those before it.
#[derive(Debug)]
pub struct Backwards {
    starts: Vec<u32>,
    predecessors: Vec<u32>,
}

/// What a task waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Before<'a> {
    /// A task.
    Task(TaskNumber),
    /// All of a group.
    Group(&'a str),
    /// All of a phase, and of those before it.
    Phase(u32),
    /// A phase up to a step of it, and all before: what `Phase 0.5` waits for is step 0 of phase 0.
    Step(u32, u32),
}

/// A node that joins many with many: it is settled when all before it are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Junction {
    /// Behind all of a phase.
    Phase(u32),
    /// Behind a step of a phase that has later ones.
    Step(u32, u32),
    /// Before all of a group: what the group waits for.
    GroupStart,
    /// Behind all of a group, which has this id.
    GroupEnd(Span),
    /// A node of a diagram that is no task.
    Node(Span),
}

impl Graph {
    pub(super) fn new(tasks: u32, junctions: Vec<Junction>, edges: &[(u32, u32)]) -> Graph {
        let nodes = tasks as usize + junctions.len();
        let mut before = alloc::vec![0; nodes];
        for (_, to) in edges {
            before[*to as usize] += 1;
        }
        let (starts, successors) = sorted(nodes, edges.iter().copied());
        Graph { tasks, starts, successors, before, junctions }
    }

    /// How many nodes there are, junctions included.
    pub(super) fn len(&self) -> usize {
        self.before.len()
    }

    /// How many edges there are.
    pub fn edges(&self) -> usize {
        self.successors.len()
    }

    pub(super) fn is_task(&self, node: u32) -> bool {
        node < self.tasks
    }

    pub(super) fn before(&self) -> &[u32] {
        &self.before
    }

    pub(super) fn successors(&self, node: u32) -> &[u32] {
        slice(&self.starts, &self.successors, node)
    }

    /// Nothing for a task.
    pub(super) fn junction(&self, node: u32) -> Option<Junction> {
        node.checked_sub(self.tasks).map(|junction| self.junctions[junction as usize])
    }

    /// All nodes in an order that respects the edges; fewer than there are if some wait for each other.
    pub(super) fn order(&self) -> Vec<u32> {
        let mut open = self.before.clone();
        let mut order: Vec<u32> = (0..small(self.len())).filter(|&node| open[node as usize] == 0).collect();
        order.reserve_exact(self.len() - order.len());
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for &next in self.successors(node) {
                open[next as usize] -= 1;
                if open[next as usize] == 0 {
                    order.push(next);
                }
            }
        }
        order
    }

    /// Of each node, how many before it never come to their end: those in a circle, or behind one.
    pub(super) fn stuck(&self) -> Vec<u32> {
        let mut open = self.before.clone();
        let mut settled = Vec::new();
        for first in (0..small(self.len())).filter(|&node| self.before[node as usize] == 0) {
            settled.push(first);
            while let Some(node) = settled.pop() {
                for &next in self.successors(node) {
                    open[next as usize] -= 1;
                    if open[next as usize] == 0 {
                        settled.push(next);
                    }
                }
            }
        }
        open
    }

    /// The edges the other way round.
    pub fn backwards(&self) -> Backwards {
        let edges =
            (0..small(self.len())).flat_map(|from| self.successors(from).iter().map(move |to| (*to, from)));
        let (starts, predecessors) = sorted(self.len(), edges);
        Backwards { starts, predecessors }
    }
}

impl Backwards {
    pub(super) fn predecessors(&self, node: u32) -> &[u32] {
        slice(&self.starts, &self.predecessors, node)
    }

    /// What a task waits for: tasks first, in the order of the file.
    pub fn of<'a>(&self, plan: &'a Plan, task: TaskNumber) -> Vec<Before<'a>> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = alloc::vec![task.0];
        while let Some(node) = open.pop() {
            for &before in self.predecessors(node) {
                match plan.graph.junction(before) {
                    None => {
                        found.insert(Before::Task(TaskNumber(before)));
                    }
                    Some(Junction::Phase(number)) => {
                        found.insert(Before::Phase(number));
                    }
                    Some(Junction::Step(number, step)) => {
                        found.insert(Before::Step(number, step));
                    }
                    Some(Junction::GroupEnd(id)) => {
                        let id = core::str::from_utf8(id.in_text(&plan.text)).unwrap_or_default();
                        found.insert(Before::Group(id));
                    }
                    // These have no name: what counts is what stands before them.
                    Some(Junction::GroupStart | Junction::Node(_)) => {
                        if seen.insert(before) {
                            open.push(before);
                        }
                    }
                }
            }
        }
        found.into_iter().collect()
    }

    /// The tasks that a task names as its dependencies, those of groups and of earlier steps of its phase included, in the
    /// order of the file.
    pub fn tasks_of(&self, plan: &Plan, task: TaskNumber) -> Vec<TaskNumber> {
        let mut found = Vec::new();
        // Groups and nodes of diagrams; a task rarely waits for one.
        let mut seen = BTreeSet::new();
        let mut open = Vec::new();
        let mut first = Some(task.0);
        while let Some(node) = first.take().or_else(|| open.pop()) {
            for &before in self.predecessors(node) {
                match plan.graph.junction(before) {
                    None => found.push(TaskNumber(before)),
                    Some(Junction::Phase(_)) => {}
                    Some(_) => {
                        if seen.insert(before) {
                            open.push(before);
                        }
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn slice<'a>(starts: &[u32], all: &'a [u32], node: u32) -> &'a [u32] {
    let node = node as usize;
    &all[starts[node] as usize..starts[node + 1] as usize]
}

/// The second parts of all pairs, by the first: where each begins, and all of them.
fn sorted(nodes: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> (Vec<u32>, Vec<u32>) {
    // While they are put in place, each node's start stands one further, and becomes its end: the start of the next.
    let mut starts = alloc::vec![0_u32; nodes + 2];
    for (from, _) in pairs.clone() {
        starts[from as usize + 2] += 1;
    }
    for node in 1..=nodes {
        starts[node + 1] += starts[node];
    }
    let mut all = alloc::vec![0; starts[nodes + 1] as usize];
    for (from, to) in pairs {
        let at = &mut starts[from as usize + 1];
        all[*at as usize] = to;
        *at += 1;
    }
    starts.pop();
    (starts, all)
}
