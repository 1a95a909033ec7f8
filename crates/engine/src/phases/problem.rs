//! What can be wrong with a phase that is said to be done. A closed list, so that it can be said in any language.

use alloc::{
    format,
    string::{String, ToString},
};

use serde::{Deserialize, Serialize};

use crate::run::Reason;

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum Problem {
    /// The agent has ended and has not said that the phase is done.
    NotAnnounced {
        /// Why it has ended, if not well.
        reason: Option<Reason>,
    },
    /// It said so of another phase.
    WrongNumber {
        /// Of this one.
        announced: u32,
    },
    /// What stands there could not be kept.
    NotCheckpointed {
        /// Why not.
        message: String,
    },
    /// What was kept could not be looked at.
    NotCollected {
        /// Why not.
        message: String,
    },
    /// A file is not there.
    Missing {
        /// Which one.
        path: String,
    },
    /// There are too few files of a kind.
    TooFew {
        /// Which.
        glob: String,
        /// How many there are.
        count: u64,
        /// How many there have to be.
        min: u32,
    },
    /// There are too many.
    TooMany {
        /// Which.
        glob: String,
        /// How many there are.
        count: u64,
        /// How many there may be.
        max: u32,
    },
    /// Nothing stands in a file.
    Empty {
        /// Which one.
        path: String,
    },
    /// No file of a kind was changed since the phase began.
    Unchanged {
        /// Which.
        glob: String,
    },
    /// A section is not there.
    SectionMissing {
        /// In which file.
        path: String,
        /// Which one.
        section: String,
    },
    /// A section has nothing in it.
    SectionEmpty {
        /// In which file.
        path: String,
        /// Which one.
        section: String,
    },
    /// Something is left to be written.
    Placeholder {
        /// In which file.
        path: String,
        /// In which line.
        line: u64,
        /// As it stands there.
        text: String,
    },
    /// A file was announced and is not there.
    AnnouncedAbsent {
        /// As it was announced.
        path: String,
    },
    /// A file is gone that was to stay.
    Deleted {
        /// Which one.
        path: String,
    },
    /// A file is there and too large to be kept.
    TooLarge {
        /// Which one.
        path: String,
    },
    /// A file is there, and not among those that are kept and looked at.
    NotKept {
        /// Which one.
        path: String,
    },
    /// Nobody knows how the tests are run.
    NoTests,
    /// A command says no.
    CheckFailed {
        /// Which one.
        run: String,
        /// Its exit code.
        code: i32,
        /// What it said at the end.
        output: String,
    },
    /// A command has taken too long.
    CheckOverdue {
        /// Which one.
        run: String,
        /// How long it was given.
        time_ms_max: u64,
    },
    /// Tests have failed.
    TestsFailed {
        /// The command.
        run: String,
        /// How many.
        failures: u64,
        /// The first of them.
        failed: String,
    },
    /// Not one test was run.
    NoTestsRun {
        /// The command.
        run: String,
    },
    /// There are fewer tests than at an earlier gate.
    FewerTests {
        /// The command.
        run: String,
        /// How many there are.
        tests: u64,
        /// How many there were.
        before: u64,
    },
    /// The verifier says that something is not as it has to be.
    Criterion {
        /// Its name.
        id: String,
        /// In words.
        text: String,
        /// How one can see that.
        evidence: String,
    },
    /// There is no verdict.
    Verifier {
        /// Why not.
        failure: VerifierFailure,
    },
}

/// Why a verifier has given no verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "key", rename_all = "snake_case")]
pub enum VerifierFailure {
    /// Its place could not be made.
    NoPlace {
        /// Why not.
        message: String,
    },
    /// It has not ended as it should.
    Died {
        /// How.
        reason: Option<Reason>,
    },
    /// It has taken too long.
    Overdue,
    /// A person has ended it.
    Cancelled,
    /// What it said is no verdict.
    Invalid {
        /// Why not.
        message: String,
    },
    /// It wrote something in its place.
    ChangedPlace {
        /// What, the first of it.
        path: String,
    },
    /// Something of the project was changed while it was at work.
    ChangedProject {
        /// What, the first of it.
        path: String,
    },
}

impl Problem {
    /// Whether the agent of the phase can do something about it.
    pub(crate) fn is_for_agent(&self) -> bool {
        !matches!(
            self,
            Problem::NotCheckpointed { .. } | Problem::NotCollected { .. } | Problem::Verifier { .. }
        )
    }

    /// In a sentence.
    pub fn sentence(&self, korean: bool) -> String {
        if korean { self.in_korean() } else { self.in_english() }
    }

    fn in_english(&self) -> String {
        match self {
            Problem::NotAnnounced { .. } => {
                "You ended without announcing that the phase is complete.".to_string()
            }
            Problem::WrongNumber { announced } => {
                format!("Phase {announced} was announced, and that is not the phase that is worked on.")
            }
            Problem::NotCheckpointed { message } => format!("The files could not be kept: {message}"),
            Problem::NotCollected { message } => format!("The files could not be looked at: {message}"),
            Problem::Missing { path } => format!("{path} is missing."),
            Problem::TooFew { glob, count, min } => {
                format!("{glob}: there are {count} files, and there have to be at least {min}.")
            }
            Problem::TooMany { glob, count, max } => {
                format!("{glob}: there are {count} files, and there may be at most {max}.")
            }
            Problem::Empty { path } => format!("{path} is empty."),
            Problem::Unchanged { glob } => format!("{glob}: nothing has changed since the phase began."),
            Problem::SectionMissing { path, section } => {
                format!("{path} has no section \"{}\".", name(section))
            }
            Problem::SectionEmpty { path, section } => {
                format!("{path}: the section \"{}\" is empty.", name(section))
            }
            Problem::Placeholder { path, line, text } => {
                format!("{path}:{line} still has a placeholder: {text}")
            }
            Problem::AnnouncedAbsent { path } => format!("{path} was announced and is not there."),
            Problem::Deleted { path } => format!("{path} was deleted, and has to stay."),
            Problem::TooLarge { path } => format!("{path} is too large to be kept."),
            Problem::NotKept { path } => format!(
                "{path} is there and cannot be looked at: git ignores it, it is a link, or it stands in a repository of its own."
            ),
            Problem::NoTests => {
                "No command was found that runs the tests; `tests` under [phases] can name one.".to_string()
            }
            Problem::CheckFailed { run, code, output } => {
                format!("`{run}` failed with exit code {code}:\n{}", output.trim_end())
            }
            Problem::CheckOverdue { run, time_ms_max } => {
                format!("`{run}` was ended because it took longer than {} s.", time_ms_max / 1000)
            }
            Problem::TestsFailed { run, failures, failed } => {
                format!("`{run}`: {failures} tests failed: {failed}")
            }
            Problem::NoTestsRun { run } => format!("`{run}` ran not a single test."),
            Problem::FewerTests { run, tests, before } => {
                format!("`{run}` ran {tests} tests; at an earlier gate it ran {before}.")
            }
            Problem::Criterion { text, evidence, .. } => {
                format!("The verifier says that this is not so: {text} ({evidence})")
            }
            Problem::Verifier { failure } => failure.in_english(),
        }
    }

    fn in_korean(&self) -> String {
        match self {
            Problem::NotAnnounced { .. } => "단계 완료를 알리지 않고 종료했습니다.".to_string(),
            Problem::WrongNumber { announced } => {
                format!("{announced}단계 완료를 알렸지만, 지금 진행 중인 단계가 아닙니다.")
            }
            Problem::NotCheckpointed { message } => format!("파일을 보관하지 못했습니다: {message}"),
            Problem::NotCollected { message } => format!("파일을 살펴보지 못했습니다: {message}"),
            Problem::Missing { path } => format!("{path} 파일이 없습니다."),
            Problem::TooFew { glob, count, min } => {
                format!("{glob}: 파일이 {count}개인데 최소 {min}개여야 합니다.")
            }
            Problem::TooMany { glob, count, max } => {
                format!("{glob}: 파일이 {count}개인데 최대 {max}개까지입니다.")
            }
            Problem::Empty { path } => format!("{path} 파일이 비어 있습니다."),
            Problem::Unchanged { glob } => format!("{glob}: 단계가 시작된 뒤로 바뀐 것이 없습니다."),
            Problem::SectionMissing { path, section } => {
                format!("{path}에 \"{}\" 절이 없습니다.", korean_name(section))
            }
            Problem::SectionEmpty { path, section } => {
                format!("{path}의 \"{}\" 절이 비어 있습니다.", korean_name(section))
            }
            Problem::Placeholder { path, line, text } => {
                format!("{path}:{line}에 자리표시자가 남아 있습니다: {text}")
            }
            Problem::AnnouncedAbsent { path } => format!("{path} 파일을 만들었다고 했지만 없습니다."),
            Problem::Deleted { path } => format!("{path} 파일이 삭제되었습니다. 남아 있어야 합니다."),
            Problem::TooLarge { path } => format!("{path} 파일이 너무 커서 보관할 수 없습니다."),
            Problem::NotKept { path } => format!(
                "{path} 파일은 있지만 살펴볼 수 없습니다. git이 무시하거나, 링크이거나, 별도의 저장소 안에 있습니다."
            ),
            Problem::NoTests => {
                "테스트를 실행할 명령을 찾지 못했습니다. [phases]의 `tests`로 지정할 수 있습니다.".to_string()
            }
            Problem::CheckFailed { run, code, output } => {
                format!("`{run}` 명령이 종료 코드 {code}로 실패했습니다:\n{}", output.trim_end())
            }
            Problem::CheckOverdue { run, time_ms_max } => {
                format!("`{run}` 명령이 {}초 안에 끝나지 않아 중단되었습니다.", time_ms_max / 1000)
            }
            Problem::TestsFailed { run, failures, failed } => {
                format!("`{run}`: 테스트 {failures}개가 실패했습니다: {failed}")
            }
            Problem::NoTestsRun { run } => format!("`{run}` 명령이 테스트를 하나도 실행하지 않았습니다."),
            Problem::FewerTests { run, tests, before } => {
                format!("`{run}` 명령이 테스트 {tests}개를 실행했습니다. 이전에는 {before}개였습니다.")
            }
            Problem::Criterion { text, evidence, .. } => {
                format!("검증자가 충족되지 않았다고 판단했습니다: {text} ({evidence})")
            }
            Problem::Verifier { failure } => failure.in_korean(),
        }
    }
}

impl VerifierFailure {
    fn in_english(&self) -> String {
        match self {
            VerifierFailure::NoPlace { message } => format!("There is no place for the verifier: {message}"),
            VerifierFailure::Died { .. } => "The verifier ended without a verdict.".to_string(),
            VerifierFailure::Overdue => "The verifier took too long.".to_string(),
            VerifierFailure::Cancelled => "The verifier was cancelled.".to_string(),
            VerifierFailure::Invalid { message } => {
                format!("What the verifier said is no verdict: {message}")
            }
            VerifierFailure::ChangedPlace { path } => {
                format!("The verifier changed what it was to look at: {path}")
            }
            VerifierFailure::ChangedProject { path } => {
                format!("The project was changed while the verifier was at work: {path}")
            }
        }
    }

    fn in_korean(&self) -> String {
        match self {
            VerifierFailure::NoPlace { message } => {
                format!("검증자의 작업 공간을 만들지 못했습니다: {message}")
            }
            VerifierFailure::Died { .. } => "검증자가 판정 없이 종료했습니다.".to_string(),
            VerifierFailure::Overdue => "검증자가 시간을 초과했습니다.".to_string(),
            VerifierFailure::Cancelled => "검증자가 취소되었습니다.".to_string(),
            VerifierFailure::Invalid { message } => format!("검증자의 출력이 판정이 아닙니다: {message}"),
            VerifierFailure::ChangedPlace { path } => format!("검증자가 검증 대상을 바꾸었습니다: {path}"),
            VerifierFailure::ChangedProject { path } => {
                format!("검증자가 작업하는 동안 프로젝트가 바뀌었습니다: {path}")
            }
        }
    }
}

/// The first of the names of a section.
fn name(section: &str) -> &str {
    section.split('|').next().unwrap_or(section).trim()
}

/// The last of them: the Korean one stands behind the English one.
fn korean_name(section: &str) -> &str {
    section.rsplit('|').next().unwrap_or(section).trim()
}
