//! Finds tasks that wait for each other.

use alloc::{collections::VecDeque, string::String, vec::Vec};

use super::{
    graph::{Backwards, Graph, Junction},
    problem::Problem,
    task::{Plan, TaskNumber, small},
};

/// How many edges are looked at for a shorter circle than the one that was found.
const STEPS_MAX: usize = 20 << 20;

const FAR: u32 = u32::MAX;

/// A shortest circle, beginning with its first task in the order of the file.
///
/// Each node that may be in one is tried, as far as the shortest circle so far. Only a file made for it needs more
/// steps than there are; then it is the shortest that was found.
pub(super) fn find(plan: &Plan) -> Option<Problem> {
    let graph = &plan.graph;
    let stuck = graph.stuck();
    if stuck.iter().all(|before| *before == 0) {
        return None;
    }
    let is_settled = stuck.iter().map(|before| *before == 0).collect();
    let backwards = graph.backwards();
    let mut search = Search {
        graph,
        backwards: &backwards,
        is_settled,
        distance: alloc::vec![FAR; graph.len()],
        next: alloc::vec![0; graph.len()],
        steps: 0,
    };
    search.trim();
    let mut best: Option<Vec<u32>> = None;
    for node in 0..small(graph.len()) {
        if search.is_settled[node as usize] || !is_named(graph, node) || search.steps > STEPS_MAX {
            continue;
        }
        let limit = best.as_ref().map_or(FAR, |best| small(best.len()));
        best = search.shortest(node, limit).or(best);
    }
    let best = best.unwrap_or_default();
    let line = best
        .first()
        .filter(|&&node| graph.is_task(node))
        .map_or(1, |&node| plan.entry(TaskNumber(node)).line);
    Some(Problem::Circular { line, circle: best.iter().map(|&node| name(plan, node)).collect() })
}

struct Search<'a> {
    graph: &'a Graph,
    backwards: &'a Backwards,
    /// In no circle.
    is_settled: Vec<bool>,
    distance: Vec<u32>,
    /// By which node one came.
    next: Vec<u32>,
    steps: usize,
}

impl Search<'_> {
    /// Takes away who only waits for a circle, without being in one.
    fn trim(&mut self) {
        let open = |node: &&u32| !self.is_settled[**node as usize];
        let mut after: Vec<usize> = (0..small(self.graph.len()))
            .map(|node| self.graph.successors(node).iter().filter(open).count())
            .collect();
        let is_end = |node: &u32| !self.is_settled[*node as usize] && after[*node as usize] == 0;
        let mut ends: Vec<u32> = (0..small(self.graph.len())).filter(is_end).collect();
        while let Some(node) = ends.pop() {
            self.is_settled[node as usize] = true;
            for &before in self.backwards.predecessors(node) {
                after[before as usize] -= 1;
                if after[before as usize] == 0 && !self.is_settled[before as usize] {
                    ends.push(before);
                }
            }
        }
    }

    /// The shortest circle through a node, counted in names, if it has fewer than the limit.
    fn shortest(&mut self, from: u32, limit: u32) -> Option<Vec<u32>> {
        let mut touched = alloc::vec![from];
        let mut queue = VecDeque::from([from]);
        self.distance[from as usize] = 0;
        let mut found = None;
        while let Some(node) = queue.pop_front() {
            let distance = self.distance[node as usize];
            for &before in self.backwards.predecessors(node) {
                self.steps += 1;
                if before == from && distance + 1 < limit {
                    found = Some(node);
                }
                let weight = u32::from(is_named(self.graph, before));
                let further = distance + weight;
                let is_open = !self.is_settled[before as usize] && further < self.distance[before as usize];
                if found.is_some() || !is_open || further + 1 >= limit {
                    continue;
                }
                if self.distance[before as usize] == FAR {
                    touched.push(before);
                }
                self.distance[before as usize] = further;
                self.next[before as usize] = node;
                // What has no name costs nothing and comes first.
                if weight == 0 { queue.push_front(before) } else { queue.push_back(before) }
            }
            if found.is_some() {
                break;
            }
        }
        let circle = found.map(|last| self.way(from, last));
        for node in touched {
            self.distance[node as usize] = FAR;
        }
        circle
    }

    /// From the node to the last one before the circle closes, with names only.
    fn way(&self, from: u32, last: u32) -> Vec<u32> {
        let mut way = Vec::new();
        let mut node = last;
        while node != from {
            way.push(node);
            node = self.next[node as usize];
        }
        way.push(from);
        way.reverse();
        way.retain(|&node| is_named(self.graph, node));
        way
    }
}

fn is_named(graph: &Graph, node: u32) -> bool {
    matches!(graph.junction(node), None | Some(Junction::GroupEnd(_) | Junction::Node(_)))
}

fn name(plan: &Plan, node: u32) -> String {
    match plan.graph.junction(node) {
        None => plan.task(TaskNumber(node)).name().into(),
        Some(Junction::GroupEnd(name) | Junction::Node(name)) => {
            String::from_utf8_lossy(name.in_text(&plan.text)).into_owned()
        }
        Some(Junction::Phase(number)) => alloc::format!("Phase {number}"),
        Some(Junction::Step(number, step)) => alloc::format!("Phase {number}.{step}"),
        Some(Junction::GroupStart) => String::new(),
    }
}
