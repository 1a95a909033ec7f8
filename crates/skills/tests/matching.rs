//! Which requests mean which built-in skill.

use ostler_engine::dispatch::{DispatchFacts, DispatchRules, RequestText, Role};
use ostler_skills::{Known, SkillFacts, SkillReason, SkillSet, judge, skill_for};

fn fired(request: &str) -> Option<String> {
    let skills = SkillSet::built_in().skills;
    let verdicts = judge(
        request,
        &DispatchRules::with_files(&[]).expect("the built-in rules are tested"),
        &DispatchFacts::default(),
        &skills,
    );
    assert!(verdicts.iter().filter(|verdict| verdict.fires).count() <= 1, "{verdicts:?}");
    verdicts.into_iter().find(|verdict| verdict.fires).map(|verdict| verdict.name)
}

#[test]
fn requests_mean_the_skill_that_they_ask_for() {
    let check =
        |request: &str, expected: &str| assert_eq!(fired(request).as_deref(), Some(expected), "{request}");
    for request in [
        "로그인 기능 구현해줘",
        "JWT 인증을 추가해줘",
        "회원가입이랑 로그인 만들어줘",
        "소셜 로그인 연동해줘",
        "2FA 도입해줘",
        "Add login with JWT",
        "Implement OAuth sign up",
        "add password reset",
    ] {
        check(request, "auth-flow");
    }
    for request in [
        "게시판 CRUD 만들어줘",
        "상품 목록과 등록 기능을 추가해줘",
        "쿠폰 CRUD 구현해줘",
        "Build product CRUD",
        "add comment list and edit",
    ] {
        check(request, "crud-feature");
    }
    for request in [
        "Stripe 결제 연동해줘",
        "슬랙 연동 추가해줘",
        "웹훅 추가해줘",
        "Integrate Slack notifications",
        "add a Stripe webhook",
    ] {
        check(request, "api-integration");
    }
}

#[test]
fn words_that_are_not_asked_for_mean_nothing() {
    for request in [
        "로그인이 뭐야?",
        "is auth broken?",
        "로그인 버그 고쳐줘",
        "로그인 없이 볼 수 있는 대시보드 추가해줘",
        "add a dashboard without login",
        "`login` 함수에 로그를 추가해줘",
        "src/auth/login.ts 파일에 헬퍼 함수 추가해줘",
        "로그인 버그를 고치고 다크 모드를 추가해줘",
        "통합 테스트 추가해줘",
        "세션 타임아웃 값을 30분으로 수정해줘",
        "README에 목록 하나 추가해줘",
        "회원 목록 화면에 검색창을 추가해줘",
        "SSL 인증서를 갱신하는 스크립트를 만들어줘",
        "로그인 화면에 배경 이미지를 추가해줘",
        "할 일 관리 웹앱을 처음부터 개발해줘",
        "다크 모드 추가해줘",
        "코드를 리뷰해줘",
        "",
    ] {
        assert_eq!(fired(request), None, "{request}");
    }
}

#[test]
fn a_skill_brings_roles_parameters_and_questions() {
    let skills = SkillSet::built_in().skills;
    let rules = DispatchRules::with_files(&[]).expect("the built-in rules are tested");
    let chosen = |request: &str, facts| {
        skill_for(&RequestText::read(request), &rules, facts, &skills).expect("a skill")
    };
    let login = chosen("OAuth 로그인 추가해줘", SkillFacts { backend: Known::No, database: Known::Yes });
    assert_eq!(login.parameters["인증 방식"], "OAuth");
    assert!(!login.parameters.contains_key("2FA"));
    assert_eq!(login.asks.iter().map(|ask| ask.id.as_str()).collect::<Vec<_>>(), ["stack:backend"]);
    assert!(
        login.roles.contains(&Role::Dba)
            && login.roles.contains(&Role::CodeReviewer)
            && login.roles.len() == 8
    );
    let coupons = chosen("쿠폰 CRUD 구현해줘", SkillFacts::default());
    assert_eq!(
        (coupons.parameters["리소스명"].as_str(), coupons.parameters["페이지네이션"].as_str()),
        ("쿠폰", "cursor")
    );
    assert_eq!(coupons.asks, []);
    let hook = chosen("웹훅 추가해줘", SkillFacts::default());
    assert_eq!(hook.asks[0].id, "parameter:서비스명");
}

#[test]
fn every_skill_says_why_it_does_not_fire() {
    let skills = SkillSet::built_in().skills;
    let reasons = |request: &str| -> Vec<SkillReason> {
        let verdicts = judge(
            request,
            &DispatchRules::with_files(&[]).expect("the built-in rules are tested"),
            &DispatchFacts::default(),
            &skills,
        );
        verdicts.into_iter().map(|verdict| verdict.reason).collect()
    };
    let [api, auth, crud] =
        <[SkillReason; 3]>::try_from(reasons("소셜 로그인 연동해줘")).expect("three skills");
    assert_eq!(auth, SkillReason::Fires);
    assert!(matches!(api, SkillReason::Excluded { target: Some(target), .. } if target == "auth-flow"));
    assert_eq!(crud, SkillReason::NoKeyword);
    let of_crud = |request: &str| reasons(request).pop().expect("a reason");
    assert!(
        matches!(of_crud("태그 기능 추가해줘"), SkillReason::RuleUnmet { group } if group == "기본 작업")
    );
    assert!(matches!(of_crud("로그인이 뭐야?"), SkillReason::OtherWork { intent: "research" }));
}
