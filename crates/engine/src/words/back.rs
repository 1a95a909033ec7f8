//! What a person is asked about the work of a role that does not come back by itself.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use ostler_protocol::signal::{QuestionCategory, UserQuestion};

use crate::session::{Session, Worktree, WorktreeAbout};

/// The last lines of what tests said that are shown.
const LINES_MAX: usize = 12;

/// Where something can be put right before it is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hint {
    /// In the worktree, or wherever the words say.
    Place,
    /// In the worktree, by bringing both sides together.
    Conflict,
    /// In the target, where files are in the way.
    Target,
}

/// The question about a worktree, with what can be answered.
pub(crate) fn question(
    session: &Session,
    worktree: &Worktree,
    about: &WorktreeAbout,
    (message, files): (&str, &[String]),
    hint: Hint,
) -> UserQuestion {
    let role = session.order.role.seat().unwrap_or_default();
    let said = if files.is_empty() {
        message.trim_end().to_owned()
    } else {
        format!("{}: {}", message.trim_end(), files.join(", "))
    };
    let told = Told { session: session.id.to_string(), role, said: &said, worktree, hint };
    UserQuestion {
        category: QuestionCategory::Choice,
        question: if session.order.korean { told.in_korean(about) } else { told.in_english(about) },
        options: about.choices().iter().map(|choice| choice.word().to_owned()).collect(),
        default: None,
        required: true,
    }
}

/// What is told of a worktree.
struct Told<'a> {
    session: String,
    role: &'a str,
    said: &'a str,
    worktree: &'a Worktree,
    hint: Hint,
}

impl Told<'_> {
    fn in_english(&self, about: &WorktreeAbout) -> String {
        let Told { session, role, said, worktree, .. } = self;
        let path = &worktree.path;
        let leave = format!(
            "leave: leave it in {path}; ostler merge {session} or ostler discard {session} ends it later."
        );
        match about {
            WorktreeAbout::Red { .. } => format!(
                "The tests of what {role} has done ({session}) have failed, so it is not merged.\n{said}\n\
                 retry: commit what is in {path} by then, and test again. merge: merge it all the same. {leave}"
            ),
            WorktreeAbout::Unfinished => format!(
                "{role} ({session}) has work in its worktree that is not merged: {said}.\n\
                 merge: test it, and merge it if that is well. {leave}"
            ),
            WorktreeAbout::Unmerged => format!(
                "What {role} has done ({session}) cannot be merged; the target is as it was.\n{said}\n\
                 retry: test and merge again, after you have {}. {leave}",
                match self.hint {
                    Hint::Place => "put it right".to_owned(),
                    Hint::Conflict => format!(
                        "resolved it there (git -C {path} merge {}, edit the files, git -C {path} commit -a)",
                        self.target()
                    ),
                    Hint::Target => "committed these files in the project, or put them away".to_owned(),
                }
            ),
        }
    }

    fn in_korean(&self, about: &WorktreeAbout) -> String {
        let Told { session, role, said, worktree, .. } = self;
        let path = &worktree.path;
        let leave = format!(
            "leave: {path}에 그대로 두기. 나중에 ostler merge {session} 또는 ostler discard {session}."
        );
        match about {
            WorktreeAbout::Red { .. } => format!(
                "{role}({session})의 작업이 테스트에 실패하여 병합하지 않았습니다.\n{said}\n\
                 retry: 그때 {path}에 있는 것을 커밋하고 다시 테스트. merge: 그래도 병합. {leave}"
            ),
            WorktreeAbout::Unfinished => format!(
                "{role}({session})의 워크트리에 병합하지 않은 작업이 있습니다: {said}.\n\
                 merge: 테스트하고 통과하면 병합. {leave}"
            ),
            WorktreeAbout::Unmerged => format!(
                "{role}({session})의 작업을 병합할 수 없습니다. 대상 브랜치는 그대로입니다.\n{said}\n\
                 retry: {} 다시 테스트하고 병합. {leave}",
                match self.hint {
                    Hint::Place => "바로잡은 뒤".to_owned(),
                    Hint::Conflict => format!(
                        "거기서 해결한 뒤(git -C {path} merge {}, 파일을 고치고 git -C {path} commit -a)",
                        self.target()
                    ),
                    Hint::Target => "프로젝트에서 이 파일들을 커밋하거나 치운 뒤".to_owned(),
                }
            ),
        }
    }

    fn target(&self) -> &str {
        self.worktree.target.as_deref().unwrap_or("HEAD")
    }
}

/// Why a role's work is not tested by itself.
pub(crate) fn unfinished(korean: bool) -> &'static str {
    if korean {
        "끝나기 전에 실패했거나 중단되었습니다"
    } else {
        "it failed, or was ended, before it was through"
    }
}

/// Why work is not tested when its role ends.
pub(crate) fn restoring(korean: bool) -> &'static str {
    if korean {
        "끝날 때 파일을 체크포인트로 되돌리는 중이었습니다"
    } else {
        "its files were being brought back to a checkpoint when it ended"
    }
}

/// The end of what tests said.
pub(crate) fn end_of(output: &str) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES_MAX)..].join("\n")
}
