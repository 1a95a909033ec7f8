//! The longest chain of tasks that wait for each other.

use alloc::vec::Vec;

use super::{
    progress::Progress,
    task::{TaskNumber, small},
};

/// The chain that decides how long the rest takes at least, first task first. Settled tasks are not in it.
pub fn critical_path(progress: &Progress<'_>, weight: impl Fn(TaskNumber) -> u64) -> Vec<TaskNumber> {
    const NOBODY: u32 = u32::MAX;
    let graph = progress.plan().graph();
    let counts = |node: u32| graph.is_task(node) && !progress.state(TaskNumber(node)).is_settled();
    let own = |node: u32| if counts(node) { weight(TaskNumber(node)) } else { 0 };
    let mut length = alloc::vec![0_u64; graph.len()];
    let mut before = alloc::vec![NOBODY; graph.len()];
    for node in graph.order() {
        length[node as usize] += own(node);
        for &next in graph.successors(node) {
            if length[node as usize] > length[next as usize] || before[next as usize] == NOBODY {
                length[next as usize] = length[node as usize];
                before[next as usize] = node;
            }
        }
    }
    let last = (0..small(graph.len())).rev().max_by_key(|&node| length[node as usize]);
    let mut path = Vec::new();
    let mut at = last.unwrap_or(NOBODY);
    while at != NOBODY {
        if counts(at) {
            path.push(TaskNumber(at));
        }
        at = before[at as usize];
    }
    path.reverse();
    path
}
