//! What help and complaints about a command line say: English and Korean beside each other, and the Korean sentences for
//! the definitions of the commands, which are in English themselves.

mod answer;
mod inside;
mod keys;
mod look;
mod memory;
mod projects;
mod run;
mod server;
mod skills;

use super::{Key, Language, Words};

/// A key with its sentence in English and in Korean.
pub(super) const SENTENCES: &[(Key, &str, &str)] = &[
    (Key::GroupRun, "Run and steer", "실행과 조종"),
    (Key::GroupAnswer, "Answer", "답하기"),
    (Key::GroupLook, "Look", "보기"),
    (Key::GroupProjects, "Projects: phases, tasks, office", "프로젝트: 단계, 작업, 오피스"),
    (Key::GroupKeys, "Keys and trust", "비밀 값과 신뢰"),
    (Key::GroupAgents, "For agents, inside a session", "에이전트용(세션 안에서)"),
    (Key::GroupServer, "Server and setup", "서버와 설정"),
    (
        Key::UsageUnknownArgument,
        "there is no argument '{argument}' here",
        "여기에는 '{argument}'이라는 인수가 없습니다",
    ),
    (Key::UsageNoValue, "{argument} needs a value", "{argument}에는 값이 필요합니다"),
    (
        Key::UsageBadValue,
        "'{value}' is not a value of {argument}",
        "'{value}'은(는) {argument}에 쓸 수 없는 값입니다",
    ),
    (
        Key::UsageRefusedValue,
        "'{value}' is not a value of {argument}: {why}",
        "'{value}'은(는) {argument}에 쓸 수 없는 값입니다: {why}",
    ),
    (Key::UsageMissing, "{arguments} is missing", "{arguments}이(가) 빠졌습니다"),
    (
        Key::UsageConflict,
        "{argument} cannot be used with {other}",
        "{argument}은(는) {other}와 함께 쓸 수 없습니다",
    ),
    (Key::WhyWholeNumber, "it must be a whole number", "정수여야 합니다"),
    (Key::WhyNegative, "it must not be negative", "음수일 수 없습니다"),
    (Key::WhyTooLarge, "it is too large", "너무 큽니다"),
    (Key::WhyRange, "it must be from {from} to {to}", "{from}부터 {to}까지여야 합니다"),
    (Key::WhyRangeFrom, "it must be at least {from}", "{from} 이상이어야 합니다"),
    (
        Key::WhyDuration,
        "write a length of time such as 90s, 10m or 2h",
        "90s, 10m, 2h처럼 시간 길이를 쓰십시오",
    ),
    (Key::WhyCost, "write US dollars such as 5 or 2.50", "5나 2.50처럼 미국 달러로 쓰십시오"),
    (Key::WhyTokens, "write a number of tokens such as 200k or 1.5m", "200k나 1.5m처럼 토큰 수를 쓰십시오"),
    (
        Key::WhyTaskId,
        "a task's id is written as T1.3, T014, P2-R1-T2, ENV-001 or 1.1",
        "작업 ID는 T1.3, T014, P2-R1-T2, ENV-001, 1.1처럼 씁니다",
    ),
    (
        Key::WhyNonce,
        "a nonce is 1 to 64 letters, digits, '_' or '-'",
        "nonce는 글자, 숫자, '_', '-'로 1~64자입니다",
    ),
    (Key::WhyNoCommand, "it is no command", "명령이 아닙니다"),
    (Key::WhyBytes, "write a number of bytes, at least 1", "1 이상의 바이트 수를 쓰십시오"),
    (Key::WhyNoJsonObject, "it is no JSON object", "JSON 객체가 아닙니다"),
    (
        Key::WhyMetaTimeout,
        "\"timeout\" must be a whole number of seconds, 0 for none, and not {value}",
        "\"timeout\"은 초 단위의 정수여야 하고(0이면 제한 없음), {value}일 수 없습니다",
    ),
    (Key::UsageTwice, "{argument} can be given only once", "{argument}은(는) 한 번만 쓸 수 있습니다"),
];

/// Words of the parser itself that are not part of a definition.
pub(crate) const CHROME: &[(&str, &str)] = &[
    ("Usage:", "사용법:"),
    ("Options:", "옵션:"),
    ("Arguments:", "인수:"),
    ("Commands:", "명령:"),
    ("[default: ", "[기본값: "),
    ("[possible values: ", "[가능한 값: "),
    ("Possible values:", "가능한 값:"),
];

/// What the help of a command says in Korean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandHelp {
    /// Its name behind those of the commands above it.
    pub(crate) path: &'static str,
    /// The sentence that lists show.
    pub(crate) about: &'static str,
    /// What `--help` adds to it; empty, if nothing.
    pub(crate) more: &'static str,
    /// What is below the options, such as examples; empty, if nothing.
    pub(crate) after: &'static str,
    /// Its arguments by `--option` or by name, and their possible values by `--option=value`.
    pub(crate) arguments: &'static [(&'static str, &'static str)],
}

const fn command(path: &'static str, about: &'static str) -> CommandHelp {
    CommandHelp { path, about, more: "", after: "", arguments: &[] }
}

impl CommandHelp {
    const fn more(self, more: &'static str) -> CommandHelp {
        CommandHelp { more, ..self }
    }

    const fn after(self, after: &'static str) -> CommandHelp {
        CommandHelp { after, ..self }
    }

    const fn arguments(self, arguments: &'static [(&'static str, &'static str)]) -> CommandHelp {
        CommandHelp { arguments, ..self }
    }

    /// What it says about an argument or a possible value.
    pub(crate) fn argument(&self, name: &str) -> Option<&'static str> {
        self.arguments.iter().find(|(known, _)| *known == name).map(|(_, korean)| *korean)
    }
}

/// The help of all commands in Korean, in the groups of `ostler --help`.
pub(crate) fn korean() -> impl Iterator<Item = &'static CommandHelp> {
    let groups = [
        server::COMMANDS,
        run::COMMANDS,
        answer::COMMANDS,
        look::COMMANDS,
        memory::COMMANDS,
        skills::COMMANDS,
        projects::COMMANDS,
        keys::COMMANDS,
        inside::COMMANDS,
    ];
    groups.into_iter().flatten()
}

impl Words {
    /// The Korean help of the command with this path. English is in the definitions themselves.
    pub(crate) fn help_of(self, path: &str) -> Option<&'static CommandHelp> {
        korean().find(|it| self.language() == Language::Ko && it.path == path)
    }

    /// The Korean for a heading or a sentence that several commands have in common, and for the parser's own.
    pub(crate) fn common_help(self, english: &str) -> Option<&'static str> {
        let known = COMMON.iter().find(|(known, _)| self.language() == Language::Ko && *known == english)?;
        Some(known.1)
    }
}

const COMMON: &[(&str, &str)] = &[
    ("Agent", "에이전트"),
    ("Answer", "답"),
    ("Approval", "승인"),
    ("Check", "검사"),
    ("Decision", "결정"),
    ("Global options", "공통 옵션"),
    ("Limits", "한도"),
    ("Output", "출력"),
    ("Secret values", "비밀 값"),
    ("Session", "세션"),
    ("Tasks", "작업"),
    ("Worktree", "워크트리"),
    ("Without effect, for compatibility", "효과 없음(호환용)"),
    (
        "Print this message or the help of the given subcommand(s)",
        "이 도움말이나 명령의 도움말을 보여 줍니다",
    ),
    ("Print help (see more with '--help')", "도움말을 보여 줍니다(자세히: '--help')"),
    ("Print help (see a summary with '-h')", "도움말을 보여 줍니다(요약: '-h')"),
    ("Print help", "도움말을 보여 줍니다"),
    ("Print version", "버전을 보여 줍니다"),
    (crate::id::HELP, "세션이나 실행(s_12, r_8), 그 이름, 또는 가장 최근 세션을 뜻하는 'last'"),
    ("The checkpoint, such as c_4", "c_4 같은 체크포인트"),
    (
        "The run, such as r_8; the newest that goes through phases, if nothing is said",
        "r_8 같은 실행. 없으면 단계를 거치는 가장 최근 실행",
    ),
    (
        "Show bytes as they are: JSON of the CLI, escapes of the program",
        "CLI의 JSON과 프로그램의 이스케이프를 있는 그대로 보여 줍니다",
    ),
    ("Do not watch it: print its ids and return", "지켜보지 않고 ID만 출력하고 돌아옵니다"),
    (
        "Show what happens until it needs you, or is over",
        "당신이 필요하거나 끝날 때까지 일어나는 일을 보여 줍니다",
    ),
    ("A line per file instead of every changed line", "바뀐 줄 대신 파일마다 한 줄씩 보여 줍니다"),
    ("Do not ask", "묻지 않습니다"),
    ("At most so many", "이 개수까지만"),
    ("Its name", "이름"),
    ("Its id", "ID"),
    ("The words", "보낼 글"),
    ("Take the words from standard input", "보낼 글을 표준 입력에서 읽습니다"),
    ("The task file [default: that of the project]", "작업 파일 [기본값: 프로젝트의 작업 파일]"),
    (
        "The project, by its id or name [default: that of the current directory]",
        "프로젝트의 ID나 이름 [기본값: 현재 디렉터리의 프로젝트]",
    ),
    (
        "Ask whether to go on after so much work: 90s, 10m, 2h",
        "이만큼 일하면 계속할지 묻습니다: 90s, 10m, 2h",
    ),
    (
        "Ask whether to go on after so many US dollars: 5, 2.50",
        "이만큼 쓰면 계속할지 묻습니다(미국 달러): 5, 2.50",
    ),
    (
        "Ask whether to go on after so many tokens: 200000, 200k, 1.5m",
        "토큰을 이만큼 쓰면 계속할지 묻습니다: 200000, 200k, 1.5m",
    ),
];
