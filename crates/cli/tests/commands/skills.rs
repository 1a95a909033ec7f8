//! `ostler skills`: the skills of a project, and which of them a request means.

use std::fs;

use crate::support::Place;

#[test]
fn a_request_means_a_skill_and_the_others_say_why_not() {
    let place = Place::with_commit();
    let said = place.done(&["skills", "match", "소셜 로그인 연동해줘"]);
    assert!(said.contains("✓  auth-flow") && said.contains("that is auth-flow"), "{said}");
    let found = place.json(&["skills", "match", "쿠폰 CRUD 구현해줘"]);
    assert_eq!(
        (&found["skill"], &found["parameters"]["리소스명"]),
        (&"crud-feature".into(), &"쿠폰".into()),
        "{found}"
    );
    let nothing = place.run(&["--json", "skills", "match", "로그인이 뭐야?"]);
    let found: serde_json::Value = serde_json::from_str(&nothing.out).expect("JSON");
    assert_eq!((nothing.code, &found["skill"]), (1, &serde_json::Value::Null), "{nothing:?}");
    assert_eq!(found["verdicts"][1]["reason"]["kind"], "other_work", "{found}");
    let korean = place.run(&["--lang", "ko", "skills", "match", "다크 모드 추가해줘"]);
    assert!(korean.out.contains("요청에 키워드가 없습니다"), "{korean:?}");
}

#[test]
fn files_of_both_layouts_are_listed_and_shown() {
    let place = Place::with_commit();
    let folder = place.project().join(".claude/skills");
    fs::create_dir_all(folder.join("pdf")).expect("a directory");
    fs::write(folder.join("pdf/SKILL.md"), "---\nname: pdf\ndescription: Reads \x1b[31mPDF.\n---\nUse it.\n")
        .expect("a file");
    fs::write(folder.join("report.md"), "# Skill: report\n## 트리거 조건\n### 키워드\n`보고서`\n")
        .expect("a file");
    fs::write(folder.join("broken.md"), [0xff, 0xfe]).expect("a file");
    let said = place.run(&["skills", "list"]);
    assert!(said.out.contains("report") && said.out.contains("for agents alone"), "{said:?}");
    assert!(said.err.contains("broken.md is no skill") && !said.out.contains('\x1b'), "{said:?}");
    let list = place.json(&["skills", "list"]);
    assert_eq!(list["skills"].as_array().map(Vec::len), Some(5), "{list}");
    assert_eq!(place.json(&["skills", "match", "월간 보고서 기능 추가해줘"])["skill"], "report");
    assert!(place.done(&["skills", "show", "auth-flow"]).starts_with("# Skill: auth-flow\n"));
    assert_eq!(
        place.json(&["skills", "show", "auth-flow"])["workflow"][3]["tasks"].as_array().map(Vec::len),
        Some(3)
    );
    let missing = place.run(&["skills", "show", "nothing"]);
    assert_eq!(missing.code, 8, "{missing:?}");
}
