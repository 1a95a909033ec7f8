//! What an agent is told about a task: the long form, in the sections that specialists know.

use alloc::string::String;
use core::fmt::Write as _;

use super::task::Task;

/// The headings of the sections and the words between them.
struct Form {
    about: &'static str,
    id: &'static str,
    work: &'static str,
    criteria: &'static str,
    rules: &'static str,
    role: &'static str,
    files: &'static str,
    verify: &'static str,
    end: &'static str,
}

const ENGLISH: Form = Form {
    about: "Task",
    id: "Task ID",
    work: "Work",
    criteria: "Acceptance criteria",
    rules: "Rules",
    role: "You work as",
    files: "Change only these files",
    verify: "It is done when this passes",
    end: "Do this task and no other. The list of tasks is kept by somebody else: do not mark it there.",
};

const KOREAN: Form = Form {
    about: "태스크 정보",
    id: "태스크 ID",
    work: "작업 내용",
    criteria: "완료 조건",
    rules: "규칙",
    role: "담당",
    files: "이 파일만 바꾸세요",
    verify: "이 명령이 통과하면 끝입니다",
    end: "이 태스크만 하세요. 작업 목록은 다른 곳에서 관리하니 직접 표시하지 마세요.",
};

impl Task<'_> {
    /// The prompt for whoever does it, and where that is.
    pub fn prompt(self, worktree: Option<&str>, is_korean: bool) -> String {
        let form = if is_korean { &KOREAN } else { &ENGLISH };
        let mut said = String::new();
        let mut line = |text: core::fmt::Arguments<'_>| {
            // Writing to text does not fail.
            writeln!(said, "{text}").ok();
        };
        let (phase, name) = (self.phase(), self.name());
        line(format_args!("## {}\n- **Phase**: {phase}", form.about));
        // Those who know only the long form know ids with their phase.
        let prefix = if name.starts_with('P') { String::new() } else { alloc::format!("P{phase}-") };
        line(format_args!("- **{}**: {prefix}{name}", form.id));
        if let Some(worktree) = worktree {
            line(format_args!("- **Worktree**: {worktree}"));
        }
        line(format_args!("\n## {}\n{}", form.work, self.title()));
        let body = self.body();
        if !body.trim().is_empty() {
            line(format_args!("\n{}", body.trim_matches(['\n', '\r'])));
        }
        let criteria = self.criteria();
        if !criteria.is_empty() {
            line(format_args!("\n## {}", form.criteria));
            for criterion in criteria {
                line(format_args!("- {}", criterion.text));
            }
        }
        line(format_args!("\n## {}", form.rules));
        if let Some(owner) = self.owner() {
            line(format_args!("- {}: {owner}", form.role));
        }
        let files = self.files();
        if !files.is_empty() {
            line(format_args!("- {}: {}", form.files, files.join(", ")));
        }
        if let Some(verify) = self.verify() {
            line(format_args!("- {}: `{verify}`", form.verify));
        }
        line(format_args!("- {}", form.end));
        said
    }
}
