//! `ostler dispatch --plan`: the roles that a request needs.

use std::fs;

use crate::support::Place;

/// The settings of the project.
fn project(place: &Place, toml: &str) {
    fs::write(place.project().join("ostler.toml"), toml).expect("the file is written");
}

#[test]
fn plan_is_shown_without_a_server() {
    let place = Place::new();
    let said = place.done(&["dispatch", "--plan", "주문 테이블을 만들고 조회 API도 추가해줘"]);
    let expected = "다음과 같이 실행할 예정입니다:\n  1. researcher (분석)\n  2. planner (설계)\n  \
                    3. dba → backend (구현)\n  4. unit-tester → code-reviewer (검증)\n이유:\n";
    assert!(said.starts_with(expected), "{said}");
    let said = place.done(&["dispatch", "--plan", "fix", "a", "typo", "in", "the", "README"]);
    assert!(said.starts_with("One session does this by itself; no role is needed.\n"), "{said}");
    let plan = place.json(&["dispatch", "--plan", "Is auth broken?"]);
    assert_eq!(
        (plan["intent"].as_str(), plan["complexity"].as_str()),
        (Some("research"), Some("small")),
        "{plan}"
    );
    assert_eq!(plan["agents"][0]["agent"], "researcher");
    assert_eq!((plan["skill"].is_null(), plan["confirm"].as_bool()), (true, Some(false)), "{plan}");
    assert!(!place.state().join("api.sock").exists(), "no server was started");
}

#[test]
fn project_adds_rules_and_a_mistake_in_them_is_named() {
    let place = Place::new();
    project(&place, "[dispatch.areas]\ndba = [\"frobnicator\"]\n");
    let plan = place.json(&["dispatch", "--plan", "Add a frobnicator"]);
    assert_eq!(plan["agents"][0]["agent"], "dba", "{plan}");
    project(&place, "\n[dispatch.areas]\nkitchen = [\"stove\"]\n");
    let refused = place.run(&["dispatch", "--plan", "Add a stove"]);
    assert!(
        refused.code != 0 && refused.err.contains("ostler.toml:2") && refused.err.contains("kitchen"),
        "{refused:?}"
    );
}

#[test]
fn request_and_plan_are_required() {
    let place = Place::new();
    for arguments in [&["dispatch"][..], &["dispatch", "--plan"], &["dispatch", "add a page"]] {
        assert_eq!(place.run(arguments).code, 2, "{arguments:?}");
    }
    assert_eq!(place.json(&["dispatch", "--plan", ""])["asks"][0]["id"], "goal");
}

#[test]
fn skill_gives_the_lines_of_the_documented_example() {
    let place = Place::new();
    let said = place.done(&["dispatch", "--plan", "로그인 기능 구현해줘"]);
    let expected = "다음과 같이 실행할 예정입니다:\n  1. researcher + analyst (병렬 분석)\n  2. planner (설계)\n  \
                    3. dba → frontend + backend (구현)\n  4. unit-tester → code-reviewer (검증)\n";
    assert!(said.starts_with(expected), "{said}");
    let plan = place.json(&["dispatch", "--plan", "로그인 기능 구현해줘"]);
    assert_eq!(
        (plan["skill"].as_str(), plan["confirm"].as_bool()),
        (Some("auth-flow"), Some(true)),
        "{plan}"
    );
    assert!(place.json(&["dispatch", "--plan", "로그인이 뭐야?"])["skill"].is_null());
}

#[test]
fn stack_of_the_project_says_who_implements_and_what_a_skill_lacks() {
    let place = Place::new();
    let request = ["dispatch", "--plan", "엑셀 내보내기를 추가해줘"];
    assert_eq!(place.json(&request)["agents"][0]["agent"], "executor");
    fs::write(place.project().join("package.json"), r#"{"dependencies":{"express":"^4.19.0"}}"#)
        .expect("written");
    assert_eq!(place.json(&request)["agents"][0]["agent"], "backend");
    let asks = place.json(&["dispatch", "--plan", "로그인 기능 구현해줘"])["asks"].to_string();
    assert!(asks.contains("stack:database"), "{asks}");
}
