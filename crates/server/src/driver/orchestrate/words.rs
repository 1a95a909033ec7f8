//! What a person is asked when a loop cannot go on by itself.

use std::collections::BTreeMap;

use ostler_engine::{
    graph::GroupFacts,
    orchestrate::{About, Choice, target},
};
use ostler_protocol::{
    signal::{QuestionCategory, UserQuestion},
    thin::{ErrorCode, Thin},
};

use super::close::name_of;
use crate::task_list::short_list;

/// The last lines of what tests or agents said that are shown.
const LINES_MAX: usize = 12;

/// How many failed tasks are shown with their reasons.
const REASONS_MAX: usize = 5;

/// The question about something in a loop that is so far, with what can be answered.
pub(super) fn question(
    about: &About,
    groups: &BTreeMap<u32, GroupFacts>,
    failures: &BTreeMap<String, String>,
    korean: bool,
) -> UserQuestion {
    UserQuestion {
        category: QuestionCategory::Choice,
        question: if korean {
            in_korean(about, groups, failures)
        } else {
            in_english(about, groups, failures)
        },
        options: about.choices().iter().map(|choice: &Choice| choice.word().to_owned()).collect(),
        default: None,
        required: true,
    }
}

fn in_english(
    about: &About,
    groups: &BTreeMap<u32, GroupFacts>,
    failures: &BTreeMap<String, String>,
) -> String {
    match about {
        About::Blocked { phase, tasks } => format!(
            "Everything that is left of phase {phase} waits for tasks that have failed: {}.\n{}\
             retry: try them again. skip: do without them. close: do without them and all that waits for them in this \
             phase, then test and merge it. stop: end here.",
            short_list(tasks, false),
            reasons(failures, tasks, "Why the others have failed: ostler tasks show ID")
        ),
        About::Red { phase, .. } => format!(
            "The tests of phase {phase} have failed, so it is not merged.\n{}\n\
             retry: test again. merge: merge it all the same. stop: end here.",
            said(groups.get(phase))
        ),
        About::Unmerged { phase, .. } => format!(
            "Phase {phase} cannot be merged; the target is as it was.\n{}\n\
             retry: try again, after you have {}. stop: end here.",
            unmerged(groups.get(phase), false),
            match put_right(groups.get(phase)) {
                Some(worktree) => format!(
                    "merged {} into the branch in {worktree}, and committed that",
                    target(groups.values())
                        .map_or("what is checked out in the project".to_owned(), |it| format!("'{it}'"))
                ),
                None => "committed these files in the project, or put them away".to_owned(),
            }
        ),
        About::Hindered { message } => {
            let hint = if is_about_file(message) {
                "ostler tasks check lists everything that is wrong in the task file, with its lines.\n"
            } else {
                ""
            };
            format!(
                "Something stands in the way:\n{message}\n{hint}retry: try again, after you have put it right. stop: end here."
            )
        }
    }
}

fn in_korean(
    about: &About,
    groups: &BTreeMap<u32, GroupFacts>,
    failures: &BTreeMap<String, String>,
) -> String {
    match about {
        About::Blocked { phase, tasks } => format!(
            "{phase}단계에 남은 작업은 모두 실패한 작업을 기다립니다: {}.\n{}\
             retry: 다시 시도. skip: 건너뛰기. close: 이 단계에서 그것을 기다리는 작업까지 건너뛰고 테스트한 뒤 병합. stop: 여기서 끝내기.",
            short_list(tasks, true),
            reasons(failures, tasks, "나머지가 실패한 이유: ostler tasks show ID")
        ),
        About::Red { phase, .. } => format!(
            "{phase}단계의 테스트가 실패하여 병합하지 않았습니다.\n{}\n\
             retry: 다시 테스트. merge: 그래도 병합. stop: 여기서 끝내기.",
            said(groups.get(phase))
        ),
        About::Unmerged { phase, .. } => format!(
            "{phase}단계를 병합할 수 없습니다. 대상 브랜치는 그대로입니다.\n{}\n\
             retry: {} 다시 시도. stop: 여기서 끝내기.",
            unmerged(groups.get(phase), true),
            match put_right(groups.get(phase)) {
                Some(worktree) => format!(
                    "{worktree}에서 {} 브랜치를 병합하고 커밋한 뒤",
                    target(groups.values()).unwrap_or("프로젝트의 현재")
                ),
                None => "프로젝트에서 이 파일들을 커밋하거나 치운 뒤".to_owned(),
            }
        ),
        About::Hindered { message } => {
            let hint = if is_about_file(message) {
                "ostler tasks check가 작업 파일에서 틀린 곳을 줄 번호와 함께 모두 보여 줍니다.\n"
            } else {
                ""
            };
            format!(
                "더 나아갈 수 없습니다:\n{message}\n{hint}retry: 바로잡은 뒤 다시 시도. stop: 여기서 끝내기."
            )
        }
    }
}

/// Whether a line says that the task file cannot be worked with.
fn is_about_file(line: &str) -> bool {
    let codes =
        [ErrorCode::ParseFail, ErrorCode::MissingDep, ErrorCode::CircularDep, ErrorCode::TasksNotFound];
    matches!(Thin::parse(line), Some(Thin::Error { code, .. }) if codes.contains(&code))
}

/// Why each of the first few has failed, with the end of what was printed; `more` says where the others stand.
fn reasons(failures: &BTreeMap<String, String>, tasks: &[String], more: &str) -> String {
    let reason = |task: &String| Some(format!("{task}: {}\n", beginning_and_end(failures.get(task)?.trim())));
    let mut said: String = tasks.iter().take(REASONS_MAX).filter_map(reason).collect();
    if tasks.len() > REASONS_MAX {
        said.push_str(more);
        said.push('\n');
    }
    said
}

/// The first line of a reason, and the last ones of what was printed.
fn beginning_and_end(reason: &str) -> String {
    let lines: Vec<&str> = reason.lines().filter(|line| !line.trim().is_empty()).collect();
    let Some(left_out) = lines.len().checked_sub(LINES_MAX + 1).filter(|left_out| *left_out > 0) else {
        return lines.join("\n");
    };
    [&lines[..1], &["…"], &lines[1 + left_out..]].concat().join("\n")
}

/// The worktree in which a phase can be put right; none if it is the target that stands in the way.
fn put_right(stage: Option<&GroupFacts>) -> Option<&str> {
    let stage = stage?;
    stage.unmerged.as_ref().filter(|unmerged| unmerged.is_conflict)?;
    name_of(stage.worktree.as_deref())
}

/// The command and the end of what it said.
fn said(stage: Option<&GroupFacts>) -> String {
    let Some(tested) = stage.and_then(|stage| stage.tested.as_ref()) else { return String::new() };
    let lines: Vec<&str> = tested.output.lines().collect();
    let end = lines[lines.len().saturating_sub(LINES_MAX)..].join("\n");
    format!("$ {}\n{end}", tested.command.as_deref().unwrap_or_default())
}

fn unmerged(stage: Option<&GroupFacts>, korean: bool) -> String {
    let Some(unmerged) = stage.and_then(|stage| stage.unmerged.as_ref()) else { return String::new() };
    if unmerged.files.is_empty() {
        return unmerged.message.clone();
    }
    format!("{}: {}", unmerged.message, short_list(&unmerged.files, korean))
}

/// What an agent is told that is to bring the two sides of a merge together.
pub(super) fn mend(branch: &str, target: &str, files: &[String], korean: bool) -> String {
    if korean {
        format!(
            "이 작업 디렉터리의 브랜치 `{branch}`을(를) `{target}`에 병합할 수 없습니다. 양쪽이 같은 곳을 바꾸었습니다: {}.\n\n\
             여기에서 `git merge {target}`을(를) 실행하고, 양쪽의 뜻을 모두 살려 충돌을 풀고, 테스트를 통과시킨 다음 병합을 커밋하십시오. \
             `{target}`은(는) 바꾸지 마십시오.",
            files.join(", ")
        )
    } else {
        format!(
            "The branch `{branch}` of this working directory cannot be merged into `{target}`: both sides have changed the \
             same places in {}.\n\n\
             Run `git merge {target}` here, resolve the conflicts so that what both sides meant is kept, make the tests \
             pass, and commit the merge. Do not change `{target}` itself.",
            files.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_names_ten_tasks_and_counts_the_others() {
        let tasks: Vec<String> = (1..=40).map(|n| format!("T1.{n}")).collect();
        let about = About::Blocked { phase: 1, tasks };
        let ask = |korean| question(&about, &BTreeMap::new(), &BTreeMap::new(), korean).question;
        assert!(
            ask(false).contains("have failed: T1.1, T1.2, ") && ask(false).contains("T1.10 and 30 more.\n")
        );
        assert!(ask(true).contains("T1.10 외 30개.\n") && !ask(true).contains("T1.11"));
    }
}
