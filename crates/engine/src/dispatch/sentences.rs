//! What a plan says in words: the work of each agent, when it is done, what is asked, and why. Korean for a Korean request.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    intent::{Reading, quoted},
    plan::{PlanQuestion, PlanReason},
    role::Role,
    text::RequestText,
};

/// The most characters of a request that are repeated in a sentence.
const SUBJECT_CHARS_MAX: usize = 120;

/// Makes the sentences of one plan.
pub(super) struct Sentences<'a> {
    request: &'a str,
    is_korean: bool,
}

impl<'a> Sentences<'a> {
    pub(super) fn of(text: &RequestText, request: &'a str) -> Sentences<'a> {
        Sentences { request, is_korean: text.is_korean() }
    }

    /// The first line of the request, cut between characters.
    fn subject(&self) -> String {
        let line = self.request.trim().lines().next().unwrap_or_default().trim();
        let mut cut: String = line.chars().take(SUBJECT_CHARS_MAX).collect();
        if cut.len() < line.len() {
            cut.push('…');
        }
        cut
    }

    fn either(&self, korean: &str, english: &str) -> String {
        if self.is_korean { korean.to_string() } else { english.to_string() }
    }

    /// The work of a role, in a sentence.
    pub(super) fn work(&self, role: Role) -> String {
        let (korean, english) = match role {
            Role::Researcher => {
                ("관련 코드와 구조를 조사한다", "Read the code that this concerns and describe it")
            }
            Role::Analyst => {
                ("요구사항과 예외 상황을 정리한다", "Write down the requirements and edge cases")
            }
            Role::Pm => ("제품 요구사항 문서를 작성한다", "Write the product requirements document"),
            Role::Planner => ("작업 계획과 파일 범위를 정한다", "Plan the steps and the files of each"),
            Role::Designer => {
                ("화면과 상태별 디자인 스펙을 작성한다", "Specify the screens and their states")
            }
            Role::Dba => ("스키마와 마이그레이션을 만든다", "Make the schema and its migration"),
            Role::Frontend => ("화면 쪽을 구현한다", "Implement the user interface"),
            Role::Backend => ("서버 쪽을 구현한다", "Implement the server side"),
            Role::AiServer => ("모델과 추론 쪽을 구현한다", "Implement the model side"),
            Role::Executor => ("작업을 수행한다", "Do the work"),
            Role::UnitTester => ("유닛 테스트를 작성하고 실행한다", "Write and run unit tests"),
            Role::IntegrationTester => ("통합 테스트를 작성하고 실행한다", "Write and run integration tests"),
            Role::CodeReviewer => ("변경된 코드를 검토한다", "Review the changed code"),
            Role::Architect => ("구조를 검토한다", "Review the architecture"),
        };
        format!("{}: {}", self.either(korean, english), self.subject())
    }

    /// When a role has done its work, in a sentence.
    pub(super) fn done(&self, role: Role, test_command: Option<&str>) -> String {
        let (korean, english) = match role {
            Role::Researcher => {
                ("관련 파일과 주의사항이 보고되었다", "The report names the files and what to watch for")
            }
            Role::Analyst => {
                ("요구사항이 우선순위와 함께 적혀 있다", "The requirements are listed with their priority")
            }
            Role::Pm => {
                ("목표, 범위, 우선순위가 문서에 있다", "The document has goals, scope and priorities")
            }
            Role::Planner => (
                "에이전트별 작업과 파일 범위가 계획에 있다",
                "The plan has the work and the files of each agent",
            ),
            Role::Designer => {
                ("모든 화면과 상태가 스펙에 있다", "The specification covers every screen and state")
            }
            Role::Dba => {
                ("마이그레이션이 적용되고 되돌릴 수 있다", "The migration applies and can be taken back")
            }
            Role::Frontend | Role::Backend | Role::AiServer | Role::Executor => {
                ("요청한 동작이 되고 빌드가 성공한다", "The requested behaviour works and the build succeeds")
            }
            Role::UnitTester | Role::IntegrationTester => ("테스트가 모두 통과한다", "All tests pass"),
            Role::CodeReviewer => ("Critical 이슈가 없다", "No critical issue is open"),
            Role::Architect => ("구조가 승인되었다", "The architecture is approved"),
        };
        match test_command.filter(|_| role == Role::UnitTester) {
            Some(command) if self.is_korean => format!("`{command}`가 성공한다"),
            Some(command) => format!("`{command}` succeeds"),
            None => self.either(korean, english),
        }
    }

    /// A rule in words, with the request's words that it looked at.
    pub(super) fn why(&self, rule: &str, reading: &Reading<'_>) -> PlanReason {
        let (korean, english) = rule_in_words(rule);
        let verbs: Vec<&str> =
            reading.verbs.iter().map(|verb| reading.text.words[verb.at].text.as_str()).take(4).collect();
        let words = match rule {
            "something_is_wrong" => {
                let hits: Vec<_> =
                    reading.symptom_nouns.iter().chain(&reading.symptom_states).cloned().collect();
                quoted(&hits, reading.text)
            }
            "tests_asked_for" | "tests_named" => quoted(&reading.tests, reading.text),
            "documents_asked_for" => quoted(&reading.documents, reading.text),
            it if it.starts_with("verb_of") || it == "chore" => verbs.join(", "),
            _ => String::new(),
        };
        let sentence = self.either(korean, english);
        let text = if words.is_empty() { sentence } else { format!("{sentence}: {words}") };
        PlanReason { rule: rule.to_string(), text }
    }
}

fn rule_in_words(rule: &str) -> (&'static str, &'static str) {
    match rule {
        "question" => ("질문이므로 답만 합니다", "This is a question, so it gets an answer and no work"),
        "nothing_asked" => ("요청한 작업이 없습니다", "The request asks for nothing"),
        "tests_asked_for" | "tests_named" => ("테스트를 요청했습니다", "The request is about tests"),
        "documents_asked_for" => ("문서 작업입니다", "The work is a document"),
        "verb_of_mending" => ("고쳐 달라는 요청입니다", "The request asks to mend something"),
        "verb_of_reshaping" => (
            "동작을 유지하며 구조를 바꾸는 요청입니다",
            "The request asks for a better shape of what is there",
        ),
        "verb_of_making" => ("새로 만드는 요청입니다", "The request asks for something new"),
        "verb_of_changing" => ("동작을 바꾸는 요청입니다", "The request asks to change a behaviour"),
        "something_is_wrong" => ("문제가 있다고 합니다", "The request says that something is wrong"),
        "verb_of_reviewing" | "verb_of_looking" | "review_alone" => {
            ("검토 요청입니다", "The request asks for a review")
        }
        "verb_of_answering" => ("조사나 설명을 요청했습니다", "The request asks for an answer"),
        "chore" => ("에이전트가 필요 없는 작업입니다", "No role is for this chore; one session does it"),
        "architecture_named" => (
            "아키텍처를 언급해 architect가 참여합니다",
            "The request names the architecture, so the architect takes part",
        ),
        "subject_named" => ("무엇을 할지는 없고 대상만 있습니다", "The request names a subject and no work"),
        "nothing_known" => ("무엇을 할지 알 수 없습니다", "The rules do not know what this asks for"),
        "research_reads_only" => ("조사는 읽기만 합니다", "Research only reads, so one researcher does it"),
        "tests_alone" => ("테스트만 필요합니다", "Only tests are needed"),
        "integration_test_named" => ("통합 테스트를 요청했습니다", "The request names integration tests"),
        "small_change" => (
            "오타, 문구, 값 하나처럼 작은 변경입니다",
            "A typo, wording, one value or one name needs no role",
        ),
        "one_implementer_and_tests" => {
            ("구현 하나와 테스트로 충분합니다", "One implementer and tests are enough")
        }
        "refactor_is_planned" => {
            ("리팩토링은 먼저 조사하고 계획합니다", "A refactoring is researched and planned first")
        }
        "several_areas" => (
            "두 영역 이상이라 조사와 계획이 먼저입니다",
            "Two areas or more are researched and planned first",
        ),
        "area_named" => ("요청에 나온 영역의 역할입니다", "The request names the area of the role"),
        "one_area" => ("한 영역의 작업입니다", "The work is in one area"),
        "large" => ("대규모 요청입니다", "The request is large"),
        "product_document_named" => {
            ("제품 문서를 요청해 pm이 참여합니다", "The request names a product document, so pm takes part")
        }
        "design_named" => {
            ("디자인을 요청해 designer가 참여합니다", "The request names design, so the designer takes part")
        }
        "research_asked_first" => ("먼저 조사해 달라고 했습니다", "The request asks for research first"),
        "review_asked_for" => ("리뷰를 함께 요청했습니다", "The request asks for a review, too"),
        "not_wanted" => ("요청에서 제외한 부분은 뺍니다", "The request excludes this part"),
        "skill" => ("스킬의 워크플로우를 따릅니다", "A skill gives the agents"),
        _ => ("규칙이 정했습니다", "A rule decided this"),
    }
}

/// Asks what to do with a subject.
pub(super) fn ask_goal(is_korean: bool) -> PlanQuestion {
    let (question, options): (&str, [&str; 4]) = if is_korean {
        ("무엇을 할까요?", ["새로 만들기", "고치기", "구조 개선", "설명"])
    } else {
        ("What should be done?", ["build it", "fix it", "refactor it", "explain it"])
    };
    let options: Vec<String> = options.iter().map(|it| (*it).to_string()).collect();
    PlanQuestion {
        id: "goal".to_string(),
        question: question.to_string(),
        default: options.first().cloned(),
        options,
    }
}

/// Asks what the work is about.
pub(super) fn ask_subject(is_korean: bool) -> PlanQuestion {
    let question = if is_korean { "무엇에 대한 작업인가요?" } else { "Which part is this about?" };
    PlanQuestion {
        id: "subject".to_string(),
        question: question.to_string(),
        options: Vec::new(),
        default: None,
    }
}
