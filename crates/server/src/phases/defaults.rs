//! The four phases as they are where nobody says otherwise: their documents with the sections of each, what has to stay,
//! and what a verifier is asked. Templates and prompts are made from the same lists.

/// A document that a phase writes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document {
    /// Its path.
    pub(crate) path: &'static str,
    /// What it is about, in both languages.
    pub(crate) title: [&'static str; 2],
    /// Its sections.
    pub(crate) sections: &'static [Section],
}

/// A section, in both languages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Section {
    /// Its name.
    pub(crate) name: [&'static str; 2],
    /// What it has to answer.
    pub(crate) question: [&'static str; 2],
}

/// A phase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Default {
    /// What people call it.
    pub(crate) name: &'static str,
    /// Its documents.
    pub(crate) documents: &'static [Document],
    /// Other files, how many at least, and whether they have to be changed in it.
    pub(crate) files: &'static [(&'static str, u32, bool)],
    /// Whether its tests are run and may not go away.
    pub(crate) has_tests: bool,
    /// Whether what looks like a test may not go away.
    pub(crate) keeps_tests: bool,
    /// What a verifier is asked: name and words.
    pub(crate) criteria: &'static [(&'static str, &'static str)],
}

/// What looks like a test.
pub(crate) const TESTS: &str = "**/{test,tests,__tests__,spec}/**";
/// The same by its name.
pub(crate) const TEST_NAMES: &str = "**/{test_*,*_test.*,*.test.*,*.spec.*,test.*,tests.*}";

/// Where tests write about themselves, mostly.
pub(crate) const JUNIT: [&str; 3] =
    ["**/junit*.xml", "**/{reports,test-results,test-reports}/**/*.xml", "**/TEST-*.xml"];

macro_rules! section {
    ($english:literal, $korean:literal, $asks:literal, $asks_korean:literal) => {
        Section { name: [$english, $korean], question: [$asks, $asks_korean] }
    };
}

macro_rules! document {
    ($path:literal, $english:literal, $korean:literal, $($section:expr),+) => {
        Document { path: $path, title: [$english, $korean], sections: &[$($section),+] }
    };
}

const PLANNING: &[Document] = &[
    document!(
        "docs/planning/01_idea.md",
        "Idea",
        "아이디어",
        section!(
            "Problem",
            "문제",
            "What is wrong today, and for whom?",
            "지금 무엇이, 누구에게 문제인가요?"
        ),
        section!("Solution", "해결책", "What will be there instead?", "그 대신 무엇이 생기나요?")
    ),
    document!(
        "docs/planning/02_market.md",
        "Market",
        "시장",
        section!(
            "Market",
            "시장",
            "Who would use it, and how many are they?",
            "누가, 얼마나 많이 쓰게 되나요?"
        ),
        section!("Competitors", "경쟁", "What do people use now?", "지금은 무엇을 쓰나요?")
    ),
    document!(
        "docs/planning/03_users.md",
        "Users",
        "사용자",
        section!("Users", "사용자", "Who are they?", "사용자는 누구인가요?"),
        section!("Needs", "요구", "What does each of them need?", "각각 무엇이 필요한가요?")
    ),
    document!(
        "docs/planning/04_features.md",
        "Features",
        "기능",
        section!("Features", "기능", "What can be done with it?", "무엇을 할 수 있나요?"),
        section!(
            "Priorities",
            "우선순위",
            "What comes first, and what later?",
            "무엇이 먼저이고 무엇이 나중인가요?"
        )
    ),
    document!(
        "docs/planning/05_flows.md",
        "Flows",
        "흐름",
        section!(
            "Flows",
            "흐름",
            "What does a user do, step by step?",
            "사용자는 어떤 순서로 무엇을 하나요?"
        )
    ),
    document!(
        "docs/planning/06_screens.md",
        "Screens",
        "화면",
        section!(
            "Screens",
            "화면",
            "What is shown, and what can be done there?",
            "무엇이 보이고 무엇을 할 수 있나요?"
        )
    ),
    document!(
        "docs/planning/07_backend.md",
        "Backend",
        "백엔드",
        section!("Backend", "백엔드", "What runs out of sight?", "보이지 않는 곳에서 무엇이 실행되나요?"),
        section!("Data", "데이터", "What is kept?", "무엇을 저장하나요?")
    ),
    document!(
        "docs/planning/08_tech.md",
        "Technology",
        "기술",
        section!("Technology", "기술", "What is it built with?", "무엇으로 만드나요?"),
        section!("Reasons", "이유", "Why with that?", "왜 그것으로 만드나요?")
    ),
    document!(
        "docs/planning/09_roadmap.md",
        "Roadmap",
        "로드맵",
        section!("Roadmap", "로드맵", "What is done in which order?", "어떤 순서로 진행하나요?"),
        section!("Risks", "위험", "What could go wrong?", "무엇이 잘못될 수 있나요?")
    ),
];

const DESIGN: &[Document] = &[
    document!(
        "docs/design/01_screens.md",
        "Screens",
        "화면 설계",
        section!("Screens", "화면", "Each screen, with its states.", "각 화면과 그 상태를 적으세요.")
    ),
    document!(
        "docs/design/02_data_model.md",
        "Data model",
        "데이터 모델",
        section!("Entities", "엔티티", "What is kept, with its fields.", "무엇을 어떤 필드로 저장하나요?"),
        section!("Relations", "관계", "How does one belong to another?", "서로 어떤 관계인가요?")
    ),
    document!(
        "docs/design/03_task_flow.md",
        "Task flow",
        "작업 흐름",
        section!("Tasks", "작업", "What has to be built, in which order?", "무엇을 어떤 순서로 만드나요?")
    ),
    document!(
        "docs/design/04_api.md",
        "API",
        "API",
        section!(
            "Endpoints",
            "엔드포인트",
            "What can be asked for, and what comes back?",
            "무엇을 요청하고 무엇을 돌려받나요?"
        ),
        section!(
            "Errors",
            "오류",
            "What is said when something goes wrong?",
            "문제가 생기면 무엇을 알리나요?"
        )
    ),
    document!(
        "docs/design/05_architecture.md",
        "Architecture",
        "아키텍처",
        section!(
            "Components",
            "구성 요소",
            "Which parts are there, and who talks to whom?",
            "어떤 부분이 있고 누가 누구와 이야기하나요?"
        ),
        section!("Decisions", "결정", "What was decided, and why?", "무엇을 왜 결정했나요?")
    ),
];

const TESTING: &[Document] = &[document!(
    "docs/testing/results.md",
    "Test results",
    "테스트 결과",
    section!(
        "Results",
        "결과",
        "What was tested, and what came of it?",
        "무엇을 테스트했고 결과는 어땠나요?"
    )
)];

/// All of them, in their order.
pub(crate) const PHASES: [Default; 4] = [
    Default {
        name: "Planning",
        documents: PLANNING,
        files: &[],
        has_tests: false,
        keeps_tests: false,
        criteria: &[
            ("idea", "The documents are about the idea, and about nothing else."),
            ("agree", "The documents do not contradict each other."),
            ("concrete", "Users, features and flows are concrete enough to be designed from."),
        ],
    },
    Default {
        name: "Design",
        documents: DESIGN,
        files: &[],
        has_tests: false,
        keeps_tests: false,
        criteria: &[
            (
                "planned",
                "The design covers every feature that the plan puts first, and does not contradict the plan.",
            ),
            ("agree", "Screens, data model, API and architecture fit each other."),
        ],
    },
    Default {
        name: "Development",
        documents: &[],
        files: &[("src/**", 1, true)],
        has_tests: false,
        keeps_tests: true,
        criteria: &[
            ("designed", "The program does what the design says, without parts that only pretend to."),
            ("whole", "Nothing that the design puts first is missing."),
        ],
    },
    Default {
        name: "Testing",
        documents: TESTING,
        files: &[("**/{*test*,*spec*,test/**,tests/**,__tests__/**}", 1, false)],
        has_tests: true,
        keeps_tests: true,
        criteria: &[
            ("tested", "The tests would fail if what they are about were broken."),
            ("honest", "The results that are written down are what the tests show."),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_documents_and_five() {
        let counts = PHASES.map(|phase| phase.documents.len());
        assert_eq!(counts, [9, 5, 0, 1]);
        assert_eq!(PHASES.map(|phase| phase.name), ["Planning", "Design", "Development", "Testing"]);
    }

    #[test]
    fn what_looks_like_a_test() {
        let is_test = |path: &str| {
            [TESTS, TEST_NAMES, PHASES[3].files[0].0]
                .iter()
                .any(|glob| super::super::glob::matches(glob, path))
        };
        for path in ["tests/a.sh", "src/tests/x.rs", "a_test.go", "pkg/x.test.ts", "test_a.py", "test.sh"] {
            assert!(is_test(path), "{path}");
        }
        assert!(!is_test("src/main.rs") && !is_test("docs/planning/01_idea.md"));
    }
}
