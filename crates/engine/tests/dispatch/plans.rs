//! Plans: who takes part, who waits for whom, what is asked, and why.

use expect_test::{Expect, expect};
use ostler_engine::dispatch::{
    ChosenSkill, DispatchFacts, DispatchPlan, DispatchRules, Role, analyse, outline,
};

use super::built_in;

fn plan(request: &str) -> DispatchPlan {
    analyse(request, &built_in(), &DispatchFacts::default(), |_| None)
}

#[expect(clippy::needless_pass_by_value, reason = "an inline snapshot is written in the call")]
#[track_caller]
fn check(request: &str, expect: Expect) {
    let plan = plan(request);
    let edge = |at: usize| {
        let agent = &plan.agents[at];
        let after: Vec<String> =
            agent.after.iter().map(|it| plan.agents[*it].agent.name().to_owned()).collect();
        format!("{} <- {}\n", agent.agent.name(), after.join(", "))
    };
    let edges: String = (0..plan.agents.len()).map(edge).collect();
    let why = plan.why.iter().map(|it| format!("{}: {}", it.rule, it.text));
    let asks = plan.asks.iter().map(|it| format!("ask {}: {}", it.id, it.question));
    let rest: Vec<String> = asks.chain(why).collect();
    let rest = rest.join("\n");
    expect.assert_eq(&format!(
        "{} {:?} confirm={}\n{edges}{rest}\n",
        plan.intent.name(),
        plan.complexity,
        plan.confirm
    ));
}

#[test]
fn whole_product_has_every_stage() {
    check(
        "Build an e-commerce platform from scratch with AI recommendations and a PRD",
        expect![[r#"
        feature Large confirm=true
        researcher <- 
        analyst <- 
        pm <- researcher, analyst
        planner <- pm
        designer <- pm
        dba <- planner
        frontend <- designer, dba
        backend <- dba
        ai-server <- dba
        unit-tester <- frontend, backend, ai-server
        code-reviewer <- unit-tester
        architect <- code-reviewer
        verb_of_making: The request asks for something new: build
        large: The request is large
        area_named: The request names the area of the role
        product_document_named: The request names a product document, so pm takes part
    "#]],
    );
}

#[test]
fn two_areas_are_researched_and_planned_first() {
    check(
        "주문 테이블을 만들고 조회 API도 추가해줘",
        expect![[r#"
        feature Large confirm=true
        researcher <- 
        planner <- researcher
        dba <- planner
        backend <- dba
        unit-tester <- backend
        code-reviewer <- unit-tester
        verb_of_making: 새로 만드는 요청입니다: 만들고, 추가해줘
        several_areas: 두 영역 이상이라 조사와 계획이 먼저입니다
        area_named: 요청에 나온 영역의 역할입니다
    "#]],
    );
}

#[test]
fn fault_needs_one_implementer_and_tests() {
    check(
        "로그인이 안 돼요",
        expect![[r#"
        bug Small confirm=false
        backend <- 
        unit-tester <- backend
        something_is_wrong: 문제가 있다고 합니다: 안, 돼요
        one_implementer_and_tests: 구현 하나와 테스트로 충분합니다
    "#]],
    );
}

#[test]
fn subject_without_work_is_asked_about() {
    check(
        "로그인",
        expect![[r#"
        feature Medium confirm=true
        backend <- 
        unit-tester <- backend
        code-reviewer <- unit-tester
        ask goal: 무엇을 할까요?
        subject_named: 무엇을 할지는 없고 대상만 있습니다
        one_area: 한 영역의 작업입니다
    "#]],
    );
    check(
        "fix it",
        expect![[r#"
        bug Small confirm=false
        executor <- 
        unit-tester <- executor
        ask subject: Which part is this about?
        verb_of_mending: The request asks to mend something: fix
        one_implementer_and_tests: One implementer and tests are enough
    "#]],
    );
    check(
        "",
        expect![[r#"
        other Simple confirm=false
        ask goal: What should be done?
        nothing_asked: The request asks for nothing
        chore: No role is for this chore; one session does it
    "#]],
    );
}

#[test]
fn skill_gives_the_agents_of_the_documented_example() {
    use Role::{Analyst, Backend, CodeReviewer, Dba, Frontend, Planner, Researcher, UnitTester};
    let roles = [Researcher, Analyst, Planner, Dba, Frontend, Backend, UnitTester, CodeReviewer]
        .into_iter()
        .collect();
    let skill = ChosenSkill { name: "auth-flow".to_owned(), roles, ..ChosenSkill::default() };
    let plan =
        analyse("로그인 기능 구현해줘", &built_in(), &DispatchFacts::default(), |_| Some(skill));
    let expected = [
        "1. researcher + analyst (병렬 분석)",
        "2. planner (설계)",
        "3. dba → frontend + backend (구현)",
        "4. unit-tester → code-reviewer (검증)",
    ];
    assert_eq!(outline(&plan, true), expected);
    assert_eq!(plan.skill.as_deref(), Some("auth-flow"));
    assert!(plan.confirm);
}

#[test]
fn skill_is_not_asked_about_questions_and_faults() {
    for request in ["로그인이 뭐야?", "로그인이 안 돼요", "오타 고쳐줘"] {
        analyse(request, &built_in(), &DispatchFacts::default(), |_| panic!("{request}"));
    }
}

#[test]
fn stack_decides_who_implements_what_names_no_area() {
    let facts = |has_backend, has_frontend| DispatchFacts {
        has_backend,
        has_frontend,
        test_command: Some("npm test".to_owned()),
    };
    let implementer = |facts: &DispatchFacts| {
        let plan = analyse("엑셀 내보내기를 추가해줘", &built_in(), facts, |_| None);
        assert_eq!(plan.agents[1].check.as_deref(), Some("npm test"));
        plan.agents[0].agent
    };
    assert_eq!(implementer(&facts(true, true)), Role::Backend);
    assert_eq!(implementer(&facts(false, true)), Role::Frontend);
    assert_eq!(implementer(&facts(false, false)), Role::Executor);
}

#[test]
fn project_adds_to_the_rules_or_replaces_them() {
    let request = "Add a frobnicator";
    let agent =
        |rules: &DispatchRules| analyse(request, rules, &DispatchFacts::default(), |_| None).agents[0].agent;
    assert_eq!(agent(&built_in()), Role::Executor);
    let rules = DispatchRules::with_files(&["[areas]\ndba = [\"frobnicator\"]\n".to_owned()]).expect("rules");
    assert_eq!(agent(&rules), Role::Dba);
    let rules =
        DispatchRules::with_files(&["replace = true\n[verbs]\nfeature = [\"frobnicate\"]\n".to_owned()])
            .expect("rules");
    assert_ne!(analyse(request, &rules, &DispatchFacts::default(), |_| None).intent.name(), "feature");
    let error =
        DispatchRules::with_files(&["[verbs]\nfeatures = []\n".to_owned()]).expect_err("an unknown key");
    assert!(error.message.contains("features"), "{}", error.message);
}
