//! The graph as a Mermaid diagram, which reads back as the same edges.

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::fmt::Write as _;

use super::{
    graph::{Backwards, Before},
    progress::Progress,
    task::{Plan, TaskNumber},
};

/// The longest title in a diagram, in characters.
const TITLE_CHARS_MAX: usize = 60;

impl Plan {
    /// A flowchart with a part for each phase.
    pub fn mermaid(&self, progress: &Progress<'_>) -> String {
        let mut said = String::from("flowchart TD\n");
        for phase in &self.phases {
            let title =
                phase.title.as_deref().map(|title| alloc::format!(": {}", label(title))).unwrap_or_default();
            let number = phase.number;
            // Writing to text does not fail.
            writeln!(said, "  subgraph phase_{number}[\"Phase {number}{title}\"]").ok();
            for task in self.tasks().filter(|task| task.phase() == number) {
                let class = if progress.state(task.number()).is_settled() { ":::done" } else { "" };
                writeln!(said, "    {0}[\"{0}: {1}\"]{class}", task.name(), label(&task.title())).ok();
            }
            said.push_str("  end\n");
        }
        let backwards = self.graph.backwards();
        for task in self.tasks() {
            for before in backwards.tasks_of(self, task.number()) {
                writeln!(said, "  {} --> {}", self.task(before).name(), task.name()).ok();
            }
        }
        self.phase_edges(&mut said, &backwards);
        said.push_str("  classDef done opacity:0.5\n");
        said
    }

    /// From a phase to the next one if all of that wait for it, else to each task that does.
    fn phase_edges(&self, said: &mut String, backwards: &Backwards) {
        let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
        let mut waiting: BTreeMap<(u32, u32), Vec<TaskNumber>> = BTreeMap::new();
        for task in self.tasks() {
            *sizes.entry(task.phase()).or_default() += 1;
            for before in backwards.of(self, task.number()) {
                if let Before::Phase(before) = before {
                    waiting.entry((before, task.phase())).or_default().push(task.number());
                }
            }
        }
        for ((before, phase), tasks) in waiting {
            if sizes.get(&phase) == Some(&tasks.len()) {
                writeln!(said, "  phase_{before} --> phase_{phase}").ok();
                continue;
            }
            for task in tasks {
                writeln!(said, "  phase_{before} --> {}", self.task(task).name()).ok();
            }
        }
    }
}

/// Text that ends no label and is no markup.
fn label(text: &str) -> String {
    let mut said = String::new();
    for letter in text.chars().take(TITLE_CHARS_MAX) {
        match letter {
            '"' => said.push_str("#quot;"),
            '<' => said.push_str("#lt;"),
            '>' => said.push_str("#gt;"),
            '#' => said.push_str("#35;"),
            ';' => said.push_str("#59;"),
            letter if letter.is_control() => said.push(' '),
            letter => said.push(letter),
        }
    }
    said
}
