//! The workflow of a skill: numbered steps, each for one role or for several at the same time.

use crate::headings::is_fence;

/// The most steps, tasks of a step, and lines of a task.
const STEPS_MAX: usize = 50;
const TASKS_MAX: usize = 20;
const LINES_MAX: usize = 50;

/// A step. Its tasks may be done at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowStep {
    /// Its title.
    pub title: String,
    /// Its tasks; one, unless the step is parallel.
    pub tasks: Vec<StepTask>,
}

/// The work of one role in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepTask {
    /// The role.
    pub role: String,
    /// The work: the title of the task, or the lines below it.
    pub work: Vec<String>,
}

/// Reads the lines of a workflow, with or without a fence around them.
pub(crate) fn workflow(lines: &[&str]) -> Vec<WorkflowStep> {
    let mut steps: Vec<WorkflowStep> = Vec::new();
    let mut is_parallel = false;
    for line in lines.iter().filter(|line| !is_fence(line)) {
        let text = line.trim();
        if let Some((role, title)) = numbered(text).and_then(bracketed) {
            if steps.len() == STEPS_MAX {
                break;
            }
            is_parallel = matches!(role.to_lowercase().as_str(), "parallel" | "병렬");
            let own = StepTask { role: role.to_owned(), work: Vec::new() };
            let tasks = if is_parallel { Vec::new() } else { vec![own] };
            steps.push(WorkflowStep { title: title.to_owned(), tasks });
            continue;
        }
        let (Some(step), Some(item)) = (steps.last_mut(), dashed(text)) else { continue };
        match bracketed(item) {
            Some((role, work)) if is_parallel && step.tasks.len() < TASKS_MAX => {
                let work = if work.is_empty() { Vec::new() } else { vec![work.to_owned()] };
                step.tasks.push(StepTask { role: role.to_owned(), work });
            }
            _ => {
                if let Some(task) = step.tasks.last_mut().filter(|task| task.work.len() < LINES_MAX) {
                    task.work.push(item.to_owned());
                }
            }
        }
    }
    steps.retain(|step| !step.tasks.is_empty());
    steps
}

/// What follows `4.` or `4)`.
fn numbered(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < text.len()).then_some(())?;
    Some(rest.strip_prefix(['.', ')'])?.trim_start())
}

/// What follows a dash, a star or a bullet.
fn dashed(text: &str) -> Option<&str> {
    text.strip_prefix(['-', '*', '•']).map(str::trim_start).filter(|rest| !rest.is_empty())
}

/// A role in brackets, and what follows it. Marks around it, such as those of an automatic step, are left out.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '[');
    let (role, rest) = text.strip_prefix('[')?.split_once(']')?;
    let role = role.trim();
    let is_name = !role.is_empty() && role.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    is_name.then(|| (role, rest.trim().trim_end_matches(|c: char| c == '⚡' || c.is_whitespace())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let lines: Vec<&str> = text.lines().collect();
        let task = |task: &StepTask| format!("{}({})", task.role, task.work.join("; "));
        let step = |step: &WorkflowStep| {
            format!("{}: {}", step.title, step.tasks.iter().map(task).collect::<Vec<_>>().join(" + "))
        };
        workflow(&lines).iter().map(step).collect()
    }

    #[test]
    fn steps_are_read() {
        let text = "```\n1. [researcher] 코드 분석\n   - 인증 코드 확인\n   - 라이브러리\n\n4. [parallel] 구현\n   - [dba] User 스키마\n   \
                    - [backend] API\n     - 라우트\n5. [unit-tester] 테스트 ⚡\n6) **[code-reviewer]** 리뷰\n```\n";
        let expected = [
            "코드 분석: researcher(인증 코드 확인; 라이브러리)",
            "구현: dba(User 스키마) + backend(API; 라우트)",
            "테스트: unit-tester()",
        ];
        assert_eq!(shown(text)[..3], expected);
        assert_eq!(shown(text).len(), 4);
    }

    #[test]
    fn what_is_no_step_is_none() {
        for text in
            ["", "text", "- [backend] alone", "1. no role", "1. [a b c] x", "1. [parallel] nothing below"]
        {
            assert_eq!(shown(text), Vec::<String>::new(), "{text}");
        }
        let many = "1. [a] b\n".repeat(1000);
        assert_eq!(shown(&many).len(), STEPS_MAX);
    }
}
