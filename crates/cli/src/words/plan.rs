//! What is said of task files: English and Korean beside each other, and problems by the names they have in JSON.

use ostler_orchestrate::plan::{PassedOver, Problem, Warning};
use serde::Serialize;
use serde_json::Value;

use super::{Key, Language, Words, fill};

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (Key::DispatchOutline, "This would run as follows:", "다음과 같이 실행할 예정입니다:"),
    (
        Key::DispatchNoAgents,
        "One session does this by itself; no role is needed.",
        "역할 없이 세션 하나로 충분합니다.",
    ),
    (Key::DispatchWhy, "Why:", "이유:"),
    (Key::ColumnPhase, "PHASE", "단계"),
    (Key::ColumnOwner, "OWNER", "담당"),
    (Key::TaskReady, "ready", "준비됨"),
    (Key::TaskPending, "waiting", "대기"),
    (Key::TaskInProgress, "in progress", "진행 중"),
    (Key::TaskCompleted, "done", "완료"),
    (Key::TaskFailed, "failed", "실패"),
    (Key::TaskFailedOnce, "it has failed once: {reason}", "한 번 실패: {reason}"),
    (
        Key::TaskFailedTimes,
        "it has failed {tries} times, the last time: {reason}",
        "{tries}번 실패, 마지막 이유: {reason}",
    ),
    (Key::TaskSkipped, "skipped", "건너뜀"),
    (Key::TaskBlocked, "blocked", "막힘"),
    (Key::TaskGroup, "all of {id}", "{id} 전체"),
    (Key::TaskPhase, "phase {n}", "{n}단계"),
    (Key::LabelPhase, "phase", "단계"),
    (Key::LabelNeeds, "waits for", "기다리는 것"),
    (Key::LabelThen, "then", "다음"),
    (Key::LabelOwner, "owner", "담당"),
    (Key::LabelFiles, "files", "파일"),
    (Key::LabelVerify, "verify", "검증"),
    (Key::LabelRisk, "risk", "위험도"),
    (Key::LabelPriority, "priority", "우선순위"),
    (Key::LabelWorktree, "worktree", "워크트리"),
    (Key::WarningWord, "warning", "주의"),
    (Key::OneTask, "{n} task", "작업 {n}개"),
    (Key::ManyTasks, "{n} tasks", "작업 {n}개"),
    (Key::OnePhase, "{n} phase", "{n}개 단계"),
    (Key::ManyPhases, "{n} phases", "{n}개 단계"),
    (Key::OneProblem, "{n} problem", "문제 {n}개"),
    (Key::ManyProblems, "{n} problems", "문제 {n}개"),
    (
        Key::TasksFine,
        "{file}: {tasks} in {phases} with {needs}, and it can be worked with",
        "{file}: {phases}에 {tasks}, {needs}. 이대로 쓸 수 있습니다",
    ),
    (Key::OneDependency, "{n} dependency", "의존성 {n}개"),
    (Key::ManyDependencies, "{n} dependencies", "의존성 {n}개"),
    (Key::PassedOverWord, "passed over", "지나침"),
    (Key::PassedOverMore, ", and {n} more", " 외 {n}개"),
    (Key::PhaseRead, "phase {n}{title}: {tasks}, {done} done", "{n}단계{title}: {tasks}, 완료 {done}개"),
    (
        Key::ForeignUnderstood,
        "'{key}' of another program counts: {n} of this file",
        "다른 프로그램의 '{key}'을(를) 반영합니다: 이 파일에 있는 것 {n}개",
    ),
    (
        Key::ForeignUnread,
        "'{key}' of another program is not understood and counts as nothing; list finished tasks in tasks.completed",
        "다른 프로그램의 '{key}'은(는) 알 수 없어 반영하지 않습니다. 끝난 작업은 tasks.completed에 적으세요",
    ),
    (
        Key::ForeignUnknown,
        "'{task}' is no task or phase of {file}",
        "'{task}'은(는) {file}에 없는 작업이나 단계입니다",
    ),
    (
        Key::HintMendTasks,
        "Put the task file right; ostler tasks check lists everything that is wrong, with its lines. Then ask again.",
        "작업 파일을 고치세요. ostler tasks check가 틀린 곳을 줄 번호와 함께 모두 보여 줍니다. 그다음 다시 물으세요.",
    ),
    (
        Key::PhaseAskedEarly,
        "what was asked for waits for {tasks}, which nobody has begun; without --phase these come first",
        "물어본 단계는 아직 시작하지 않은 {tasks}을(를) 기다립니다. --phase 없이 물으면 이것부터 나옵니다",
    ),
    (
        Key::TasksWrong,
        "{file}: {problems} to put right; nothing is done before",
        "{file}: {problems}. 고치기 전에는 아무것도 하지 않습니다",
    ),
    (Key::TasksAllDone, "Nothing is left to do.", "남은 작업이 없습니다."),
    (
        Key::TasksChain,
        "The longest chain of open tasks has {length} of {open}:",
        "가장 긴 사슬은 남은 작업 {open}개 중 {length}개입니다:",
    ),
    (
        Key::StateIgnored,
        "the state cannot be used, so the marks of the file count alone: {message}",
        "상태 파일을 쓸 수 없어 작업 파일의 표시만 봅니다: {message}",
    ),
    (
        Key::StateOfOther,
        "the state in .claude is about {file}; what is done there counts as done here where the id is the same",
        ".claude의 상태는 {file} 파일의 것입니다. 거기서 끝난 작업은 번호가 같으면 여기서도 끝난 것으로 봅니다",
    ),
    (
        Key::EndedWithoutState,
        "the state cannot be used, so what came of {id} stands in the task file and in the log alone: {message}",
        "상태 파일을 쓸 수 없어 {id}의 결과는 작업 파일과 로그에만 남았습니다: {message}",
    ),
    (
        Key::StateUnwritten,
        "the answer stands, and nothing was written: {message}",
        "답은 맞지만 아무것도 기록하지 못했습니다: {message}",
    ),
    (
        Key::GitNotAsked,
        "git could not be asked, so the marks and the log count alone: {message}",
        "git에 물어볼 수 없어 끝남 표시와 로그만 봅니다: {message}",
    ),
    (Key::NoTaskFile, "there is no task file here ({files})", "작업 파일이 없습니다({files})"),
    (Key::NoTaskFileAt, "there is no file {path}", "{path} 파일이 없습니다"),
    (Key::TaskFileTooLarge, "{name} is larger than 128 MiB", "{name} 파일이 128 MiB보다 큽니다"),
    (Key::TaskFileUnreadable, "{name} cannot be read: {source}", "{name} 파일을 읽을 수 없습니다: {source}"),
    (
        Key::HintTaskFile,
        "Write one, or name it with --tasks FILE. Its form stands in docs/orchestrate.md.",
        "작업 파일을 만들거나 --tasks FILE로 지정하세요. 형식은 docs/ko/orchestrate.md에 있습니다.",
    ),
    (
        Key::HintPlan,
        "See all of it: ostler tasks check. Nothing was changed.",
        "모두 보려면: ostler tasks check. 바뀐 것은 없습니다.",
    ),
    (
        Key::VerifyUntrusted,
        "nobody has agreed to `{command}` ({trust})",
        "`{command}`을(를) 실행해도 된다고 한 사람이 없습니다({trust})",
    ),
    (Key::HintVerifyTrust, "Look at it and decide: {trust}", "보고 정하세요: {trust}"),
    (
        Key::TaskFirstNow,
        "{id} comes first as soon as it can run.",
        "{id}은(는) 시작할 수 있게 되면 가장 먼저 합니다.",
    ),
    (
        Key::TaskSkippedNow,
        "{id} is skipped: whoever waits for it may go on.",
        "{id}을(를) 건너뜁니다. 기다리던 작업은 시작할 수 있습니다.",
    ),
    (Key::TaskRetryNow, "{id} is to be done again.", "{id}을(를) 다시 합니다."),
    (Key::PhaseClosed, "Phase {n} is over.", "{n}단계를 마칩니다."),
    (Key::NoSuchPhase, "there is no phase {n}", "{n}단계가 없습니다"),
    (Key::TaskNotSo, "{id} is {state}, so that cannot be", "{id}이(가) {state} 상태라 할 수 없습니다"),
    (Key::PhaseOpen, "phase {n} is not over: {tasks}", "{n}단계가 끝나지 않았습니다: {tasks}"),
    (
        Key::HintPhaseOpen,
        "--with-failures does without what has failed and what waits for it; the rest has to be done.",
        "--with-failures는 실패한 작업과 그것을 기다리는 작업을 건너뜁니다. 나머지는 해야 합니다.",
    ),
    (Key::StateRefused, "the state was not changed: {message}", "상태를 바꾸지 않았습니다: {message}"),
    (
        Key::HintState,
        "Put .claude/orchestrate-state.json right: it has to be a file of the project that you may read.",
        ".claude/orchestrate-state.json을 고치세요. 읽을 수 있는 이 프로젝트의 파일이어야 합니다.",
    ),
    (
        Key::HintStateLocked,
        "Try again when that process is through; the lock of one that has ended is taken over.",
        "그 프로세스가 끝난 뒤에 다시 하세요. 이미 끝난 프로세스의 잠금은 저절로 넘어옵니다.",
    ),
    (
        Key::HintStateLockUnowned,
        "The lock does not say whose it is, so nobody takes it over. If nobody is at it, remove it: rm .claude/orchestrate-state.json.lock",
        "잠금에 누구의 것인지 적혀 있지 않아 저절로 넘어오지 않습니다. 쓰는 사람이 없으면 지우세요: rm .claude/orchestrate-state.json.lock",
    ),
    (
        Key::HintStateRepair,
        "Put the file right, or begin anew from the done marks, the log and git: ostler resolve --repair",
        "파일을 고치거나, 끝남 표시, 로그, git에서 새로 시작하세요: ostler resolve --repair",
    ),
    (
        Key::HintStateUnwritable,
        "Check who may write to .claude in the project, and whether there is room.",
        "프로젝트의 .claude에 쓸 수 있는지, 남은 공간이 있는지 확인하세요.",
    ),
    (
        Key::HintTaskFileLarge,
        "Divide it: a task file has at most 128 MiB. Nothing was read.",
        "나누세요. 작업 파일은 128 MiB까지입니다. 아무것도 읽지 않았습니다.",
    ),
    (Key::NoSuchTask, "there is no task {id} in {file}", "{file}에 {id} 작업이 없습니다"),
    (Key::HintTasks, "See them: ostler tasks list", "목록 보기: ostler tasks list"),
];

/// Problems and warnings in Korean; in English they say themselves what they are.
pub(super) const KOREAN: &[(&str, &str)] = &[
    ("no_tasks", "작업이 하나도 없습니다. 예: '- [ ] T1.1: 제목'"),
    ("too_large", "파일이 128 MiB보다 큽니다"),
    ("utf16", "UTF-16 파일입니다. UTF-8로 저장하세요"),
    ("open_fence", "여기서 시작한 코드 블록이 닫히지 않았습니다"),
    ("open_comment", "여기서 시작한 주석이 닫히지 않았습니다"),
    ("not_an_id", "'{word}'은(는) 작업 번호가 아닙니다"),
    ("not_a_range", "'{word}'은(는) 범위가 아닙니다. 숫자 하나만 다를 수 있습니다"),
    ("backwards", "'{word}' 범위는 끝이 시작보다 앞입니다. 작은 번호를 먼저 쓰세요"),
    ("twice", "{id}이(가) 두 번 나옵니다. 처음은 {first}번째 줄입니다"),
    ("no_box", "{id}에 체크박스가 없습니다. '- [ ] {id}: 제목'처럼 쓰세요"),
    ("no_needs_column", "{id}이(가) 의존성 열이 없는 표에만 있습니다"),
    ("row_length", "이 행은 {cells}칸인데 표는 {columns}칸입니다"),
    ("needs_of_nobody", "어느 작업의 의존성인지 알 수 없습니다"),
    ("only_in_note", "{id}이(가) 메모에만 있습니다. 의존성이면 메모 앞에 쓰세요"),
    ("key_slip", "'{key}'은(는) 모르는 이름입니다. '{meant}'인가요?"),
    ("no_phase", "{id}에 단계가 없습니다. 다른 작업에는 있습니다"),
    ("phase_number", "'{word}'은(는) 단계가 아닙니다"),
    ("own_phase", "{id}이(가) 자기 단계를 기다리게 됩니다"),
    ("subgraph", "다이어그램의 묶음 '{name}'에 이은 선인데 그 안에 작업이 없습니다"),
    ("vague", "{task}이(가) 기다리는 '{text}'이(가) 무엇인지 알 수 없습니다. 작업 번호를 적으세요"),
    ("by_title", "{task}이(가) 기다리는 '{text}'은(는) 번호로 적으세요: {id}"),
    ("not_in_file", "{id}은(는) 다이어그램에만 있고 작업이 아닙니다"),
    ("too_many_needs", "의존성이 4194304개보다 많습니다"),
    ("too_many_tasks", "여기서 작업이 1000000개를 넘습니다. 파일을 나누세요"),
    ("missing", "{task}이(가) 기다리는 {needs}이(가) 없습니다"),
    ("circular", "서로 기다립니다: {circle}"),
    ("external", "{task}: '{text}'은(는) 작업이 아니어서 아무도 기다리지 않습니다"),
    ("unknown_box", "'{letter}' 체크박스는 안 된 것으로 봅니다"),
    ("contradiction", "{task}: 표시가 서로 달라 안 된 것으로 봅니다"),
    ("boxed_group", "{task}: 체크박스가 있지만 아래에 작업이 있어 묶음으로 보며, 따로 하지 않습니다"),
    ("nameless_box", "번호 없는 체크박스는 작업이 아닙니다"),
    ("unknown_key", "'{key}' 아래의 번호는 의존성으로 보지 않습니다"),
    ("unknown_value", "{key}: '{value}'은(는) 모르는 값입니다"),
    ("mention", "{task}이(가) {id}을(를) 언급하지만 기다리지 않습니다. 기다려야 하면 의존성으로 적으세요"),
    ("no_arrow", "화살표 없는 선은 의존성이 아닙니다"),
    (
        "other_title",
        "{task}의 제목이 여기서는 '{title}', {first}번째 줄에서는 다릅니다. 같은 작업으로 봅니다",
    ),
    ("in_fence", "{text}은(는) 코드 블록 안에 있어 읽지 않습니다"),
    ("in_comment", "{text}은(는) 주석 안에 있어 읽지 않습니다"),
    ("quoted", "{text}은(는) 인용문 안에 있어 작업이 아닙니다"),
    ("again", "{text}이(가) 다시 나와 같은 번호의 작업에 더했습니다"),
    ("mentioned", "{text}을(를) 언급합니다. 작업은 다른 곳에 있습니다"),
    (
        "named",
        "여기에 {text}이(가) 나오지만 기다리지 않습니다. 기다려야 하면 'depends on {text}'이라고 쓰세요",
    ),
    ("heading_only", "{text}은(는) 체크박스가 없고 설명하는 항목도 없는 제목이라 작업이 아닙니다"),
    ("nameless_row", "'{text}' 행에는 번호가 없어 작업이 아닙니다"),
    ("other_diagram", "이 다이어그램에는 작업이 없습니다"),
];

impl Words {
    /// What is wrong with a task file.
    pub(crate) fn plan_problem(self, problem: &Problem) -> String {
        self.about_plan(problem, &problem.to_string())
    }

    /// What is strange in one.
    pub(crate) fn plan_warning(self, warning: &Warning) -> String {
        self.about_plan(warning, &warning.to_string())
    }

    /// What in one was passed over.
    pub(crate) fn plan_passed(self, passed: &PassedOver) -> String {
        self.about_plan(passed, &passed.to_string())
    }

    fn about_plan(self, about: &impl Serialize, english: &str) -> String {
        if self.language == Language::En {
            return english.to_owned();
        }
        let fields = serde_json::to_value(about).unwrap_or_default();
        let name = ["what", "problem", "warning"].iter().find_map(|tag| fields.get(tag)?.as_str());
        let korean = KOREAN.iter().find(|(known, _)| Some(*known) == name).map(|(_, sentence)| *sentence);
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" → "),
            other => other.to_string(),
        };
        korean.map_or_else(|| english.to_owned(), |korean| fill(korean, |name| fields.get(name).map(text)))
    }
}

#[cfg(test)]
mod tests {
    use ostler_orchestrate::plan::Plan;

    use super::*;

    /// Files that have every problem and every warning between them.
    const FILES: &[&str] = &[
        "### [ ] T1: a\n- [ ] T1.1: b\n",
        "",
        "\u{feff}- [ ] T1.x: a\n- [ ] T1.1: a\n- [ ] T1.1: b\n- T7.1: c\n  - x\n```\n",
        "- [ ] T1.1: a\n  - deps: T9.9, Epic 3, T1.1-T2.2, Phase 1, Phase 99999999999\n  - depnds: T1.1\n  - related: T1.1\n<!--\n",
        "| ID | Deps |\n|--|--|\n| T1.1 | - | x |\n\n| ID | Owner |\n|--|--|\n| T5.1 | x |\n",
        "- [ ] nobody\n- [v] T1.1: a ✅\n  - risk: ?\n  - deps: T1.1 (not T1.2)\n- [ ] T1.2: b (see T1.3)\n- [ ] T1.3: c\n- [ ] T9: d\n# x\ndeps: T1.1\n",
        "- [ ] T1.1: a\n```mermaid\ngraph TD\nsubgraph S\nend\nT1.1 --- T1.1\nS --> T1.1\nT1.1 --> T8.8\n```\n",
        "- [ ] T1.1: a\n  - deps: T1.1\n- [ ] T1.2: b\n  - pending T1.1\n",
        "- [ ] T1.1: a\n- [ ] T1.5: b\n  - deps: T1.5~T1.1\n",
        "- [ ] T1.1: Login\n- [ ] T1.2: b\n  - deps: login\n  - deps: all tasks above\n### T1.2: Other\n- T1.1 again\n```\nT1.1\n```\n<!-- T1.1 -->\n> T1.1\n## ADR-1: x\n\n| ID | Deps |\n|--|--|\n| x | - |\n\n```mermaid\ngraph TD\nA --> B\n```\n",
    ];

    #[test]
    fn everything_is_said_in_korean() {
        let words = Words::new(Language::Ko);
        let mut names: Vec<String> = Vec::new();
        let mut check = |said: String, about: Value| {
            assert!(said.chars().any(|letter| ('가'..='힣').contains(&letter)), "{about}: {said}");
            assert!(!said.contains(['{', '}']), "{about}: {said}");
            names.extend(
                ["what", "problem", "warning"]
                    .iter()
                    .find_map(|tag| Some(about.get(tag)?.as_str()?.to_owned())),
            );
        };
        for file in FILES {
            let plan = Plan::read(file.as_bytes().to_vec());
            for problem in plan.problems() {
                check(words.plan_problem(problem), serde_json::to_value(problem).expect("plain data"));
            }
            for passed in plan.passed_over() {
                check(words.plan_passed(passed), serde_json::to_value(passed).expect("plain data"));
            }
            for (_, warning) in plan.warnings() {
                check(words.plan_warning(warning), serde_json::to_value(warning).expect("plain data"));
            }
        }
        // These need a file that is too large, or in another form.
        names.extend(["too_large", "utf16", "too_many_needs", "too_many_tasks"].map(str::to_owned));
        let missing: Vec<&str> =
            KOREAN.iter().map(|(name, _)| *name).filter(|name| !names.iter().any(|it| it == name)).collect();
        assert!(missing.is_empty(), "no file shows {missing:?}");
    }
}
