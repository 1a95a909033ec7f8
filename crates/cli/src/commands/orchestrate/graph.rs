//! The graph of a task file in a few lines: all phases in one, and of those that are worked on who comes after whom.

use std::collections::BTreeMap;

use ostler_server::api::{LoopPhaseView, LoopTaskView, LoopView};
use unicode_width::UnicodeWidthStr;

/// The most lines for the tasks of a phase.
const LINES_MAX: usize = 6;

/// Between two waves.
const ARROW: &str = " → ";

/// The shape of a task, as `ostler tasks` has it; who waits for a person does not look like somebody at work.
fn shape(task: &LoopTaskView) -> char {
    match task.state.as_str() {
        "in_progress" if task.request.is_some() => '◆',
        "completed" => '✓',
        "skipped" => '–',
        "failed" => '✗',
        "in_progress" => '●',
        "ready" => '○',
        "blocked" => '◇',
        _ => '·',
    }
}

/// The lines, none of which is wider than that.
pub(super) fn lines(view: &LoopView, width: usize) -> Vec<String> {
    let of = |phase: &LoopPhaseView| -> Vec<&LoopTaskView> {
        view.tasks.iter().filter(|task| task.phase == phase.number).collect()
    };
    let is_settled = |task: &&LoopTaskView| matches!(task.state.as_str(), "completed" | "skipped");
    let mut heads = Vec::new();
    let mut open = Vec::new();
    for phase in &view.phases {
        let tasks = of(phase);
        let settled = tasks.iter().filter(|task| is_settled(task)).count();
        let is_begun = tasks.iter().any(|task| matches!(task.state.as_str(), "in_progress" | "failed"));
        let is_over = phase.ended_at_ms.is_some() || settled == tasks.len();
        let is_next = open.is_empty() && !is_over;
        let shape = if is_over {
            '✓'
        } else if is_begun || is_next {
            '●'
        } else {
            '·'
        };
        heads.push(format!("{shape} {} {settled}/{}", phase.number, tasks.len()));
        if !is_over && (is_begun || is_next) {
            open.push(tasks);
        }
    }
    let mut lines = folded(&heads, "  ", width);
    lines.truncate(2);
    for tasks in open {
        lines.extend(of_phase(&tasks, width));
    }
    lines
}

/// The waves of a phase, one behind the other.
fn of_phase(tasks: &[&LoopTaskView], width: usize) -> Vec<String> {
    let depths = depths(tasks);
    let mut waves: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for task in tasks {
        let depth = depths.get(task.id.as_str()).copied().unwrap_or_default();
        waves.entry(depth).or_default().push(format!("{}{}", shape(task), task.id));
    }
    let mut words: Vec<String> = Vec::new();
    for (number, wave) in waves.into_values().enumerate() {
        words.extend(wave.into_iter().enumerate().map(|(at, word)| {
            let before = if at > 0 {
                " "
            } else if number > 0 {
                ARROW
            } else {
                ""
            };
            format!("{before}{word}")
        }));
    }
    let mut lines = folded(&words, "", width.saturating_sub(2));
    if lines.len() > LINES_MAX {
        lines.truncate(LINES_MAX);
        lines.push("…".to_owned());
    }
    lines.iter().map(|line| format!("  {}", line.trim_start())).collect()
}

/// How many tasks of the same phase stand before each, at most, one behind the other.
fn depths<'a>(tasks: &[&'a LoopTaskView]) -> BTreeMap<&'a str, usize> {
    let mut depths: BTreeMap<&str, usize> = tasks.iter().map(|task| (task.id.as_str(), 0)).collect();
    // A file lists most tasks behind those that they wait for, so that a few rounds do.
    for _ in 0..tasks.len() {
        let mut is_changed = false;
        for task in tasks {
            let before = task.needs.iter().filter_map(|id| depths.get(id.as_str()));
            let depth = before.max().map_or(0, |depth| depth + 1);
            is_changed |= depths.insert(&task.id, depth) != Some(depth);
        }
        if !is_changed {
            break;
        }
    }
    depths
}

/// Words in lines that are not wider than that.
fn folded(words: &[String], between: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.width() + between.width() + word.width() <= width => {
                line.push_str(between);
                line.push_str(word);
            }
            _ => lines.push(word.clone()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, phase: u32, state: &str, needs: &[&str]) -> LoopTaskView {
        let text = format!(
            "{{\"id\":\"{id}\",\"title\":\"\",\"phase\":{phase},\"state\":\"{state}\",\"tries\":0,\"worked_ms\":0}}"
        );
        let mut task: LoopTaskView = serde_json::from_str(&text).expect("a task");
        task.needs = needs.iter().map(|&id| id.to_owned()).collect();
        task
    }

    #[test]
    fn waves_stand_behind_each_other_and_long_ones_are_folded() {
        let tasks = [
            task("T1.4", 1, "pending", &["T1.2", "T1.3"]),
            task("T1.1", 1, "completed", &["T0.1"]),
            task("T1.2", 1, "in_progress", &["T1.1"]),
            task("T1.3", 1, "ready", &["T1.1"]),
        ];
        let tasks: Vec<&LoopTaskView> = tasks.iter().collect();
        assert_eq!(of_phase(&tasks, 80), ["  ✓T1.1 → ●T1.2 ○T1.3 → ·T1.4"]);
        assert_eq!(of_phase(&tasks, 16), ["  ✓T1.1 → ●T1.2", "  ○T1.3 → ·T1.4"]);
    }

    #[test]
    fn who_waits_for_a_person_does_not_look_like_who_waits_for_nothing() {
        let mut asks = task("T1.1", 1, "in_progress", &[]);
        asks.request = Some(crate::card::tests::request());
        let states = ["completed", "skipped", "failed", "in_progress", "ready", "blocked", "pending"];
        let mut shapes: Vec<char> = states.map(|state| shape(&task("T1.2", 1, state, &[]))).to_vec();
        shapes.push(shape(&asks));
        assert_eq!(shapes, ['✓', '–', '✗', '●', '○', '◇', '·', '◆']);
    }

    #[test]
    fn what_does_not_fit_is_cut() {
        let tasks: Vec<LoopTaskView> = (0..100).map(|n| task(&format!("T1.{n}"), 1, "failed", &[])).collect();
        let lines = of_phase(&tasks.iter().collect::<Vec<_>>(), 20);
        assert_eq!((lines.len(), lines[LINES_MAX].as_str()), (LINES_MAX + 1, "  …"));
        assert!(lines.iter().all(|line| line.width() <= 20), "{lines:?}");
    }
}
