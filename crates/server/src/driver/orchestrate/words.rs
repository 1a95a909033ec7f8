//! What a person is asked when a loop cannot go on by itself.

use ostler_engine::orchestrate::{About, Choice, Stage};
use ostler_protocol::signal::{QuestionCategory, UserQuestion};

/// The last lines of what tests said that are shown.
const LINES_MAX: usize = 12;

/// The question about something, with what can be answered.
pub(super) fn question(about: &About, stage: Option<&Stage>, korean: bool) -> UserQuestion {
    UserQuestion {
        category: QuestionCategory::Choice,
        question: if korean { in_korean(about, stage) } else { in_english(about, stage) },
        options: about.choices().iter().map(|choice: &Choice| choice.word().to_owned()).collect(),
        default: None,
        required: true,
    }
}

fn in_english(about: &About, stage: Option<&Stage>) -> String {
    match about {
        About::Blocked { phase, tasks } => format!(
            "Everything that is left of phase {phase} waits for tasks that have failed: {}.\n\
             retry: try them again. skip: do without them. close: the phase is done, with failures. stop: end here.",
            tasks.join(", ")
        ),
        About::Red { phase, .. } => format!(
            "The tests of phase {phase} have failed, so it is not merged.\n{}\n\
             retry: test again. merge: merge it all the same. stop: end here.",
            said(stage)
        ),
        About::Unmerged { phase, .. } => format!(
            "Phase {phase} cannot be merged; the target is as it was.\n{}\n\
             retry: try again, after you have put it right. stop: end here.",
            unmerged(stage)
        ),
        About::Hindered { message } => {
            format!(
                "Something stands in the way:\n{message}\nretry: try again, after you have put it right. stop: end here."
            )
        }
    }
}

fn in_korean(about: &About, stage: Option<&Stage>) -> String {
    match about {
        About::Blocked { phase, tasks } => format!(
            "{phase}단계에 남은 작업은 모두 실패한 작업을 기다립니다: {}.\n\
             retry: 다시 시도. skip: 건너뛰기. close: 실패가 있는 채로 단계를 마치기. stop: 여기서 끝내기.",
            tasks.join(", ")
        ),
        About::Red { phase, .. } => format!(
            "{phase}단계의 테스트가 실패하여 병합하지 않았습니다.\n{}\n\
             retry: 다시 테스트. merge: 그래도 병합. stop: 여기서 끝내기.",
            said(stage)
        ),
        About::Unmerged { phase, .. } => format!(
            "{phase}단계를 병합할 수 없습니다. 대상 브랜치는 그대로입니다.\n{}\n\
             retry: 바로잡은 뒤 다시 시도. stop: 여기서 끝내기.",
            unmerged(stage)
        ),
        About::Hindered { message } => {
            format!("더 나아갈 수 없습니다:\n{message}\nretry: 바로잡은 뒤 다시 시도. stop: 여기서 끝내기.")
        }
    }
}

/// The command and the end of what it said.
fn said(stage: Option<&Stage>) -> String {
    let Some(tested) = stage.and_then(|stage| stage.tested.as_ref()) else { return String::new() };
    let lines: Vec<&str> = tested.output.lines().collect();
    let end = lines[lines.len().saturating_sub(LINES_MAX)..].join("\n");
    format!("$ {}\n{end}", tested.command.as_deref().unwrap_or_default())
}

fn unmerged(stage: Option<&Stage>) -> String {
    let Some(unmerged) = stage.and_then(|stage| stage.unmerged.as_ref()) else { return String::new() };
    if unmerged.files.is_empty() {
        return unmerged.message.clone();
    }
    format!("{}: {}", unmerged.message, unmerged.files.join(", "))
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
