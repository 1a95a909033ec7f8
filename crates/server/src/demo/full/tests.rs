//! The scripted agents and the verifier alone: what is written is whole, the tests pass, and whatever is taken away or
//! broken is named.
#![expect(clippy::disallowed_methods, reason = "these tests run the scripts and spoil what they wrote")]

use std::{
    fs, io::Write as _, process::Command, process::Stdio, sync::atomic::AtomicU32, sync::atomic::Ordering,
};

use serde_json::Value;

use super::*;
use crate::phases::defaults::PHASES;

/// A studio that goes away with the test.
struct Lab {
    studio: Studio,
    korean: bool,
}

const ANSWERS: [&str; 2] = [
    r#"{"type":"question_answer","questionId":"q_1","answer":"Kim & Sons \"1\" | total x #"}"#,
    r#"{"type":"question_answer","questionId":"q_2","answer":"12"}"#,
];
const LOOK: &str = r#"{"type":"question_answer","questionId":"q_3","answer":"csv"}"#;
const GIVEN: [&str; 2] = [
    r#"{"type":"dependency_provided","name":"prices.csv","provided":true,"path":"old/prices.csv"}"#,
    r#"{"type":"dependency_provided","name":"remove","provided":true,"approved":true}"#,
];
const YES: &str = r#"{"type":"question_answer","questionId":"q_6","answer":"Yes"}"#;

impl Lab {
    fn new(korean: bool) -> Lab {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let root = crate::test_directory().join(format!("studio-{}-{number}", std::process::id()));
        fs::remove_dir_all(&root).ok();
        fs::create_dir_all(&root).expect("a directory for tests");
        let studio = Studio::at(&root);
        studio.furnish(korean).expect("everything can be written");
        Lab { studio, korean }
    }

    /// Runs one of the scripts with these lines on its input; what it printed.
    fn play(&self, script: &str, lines: &[&str], prompt: &str) -> String {
        let manner = Manner { korean: self.korean, watched: false, alone: false };
        let mut command = Command::new("sh");
        command.arg(self.studio.root.join("agents").join(script)).arg(prompt);
        command.current_dir(self.studio.project()).env_clear();
        command.envs(self.studio.environment(manner).expect("paths of this test are text"));
        command.env("OSTLER_NONCE", "tok3n").env("RECEIPT_KEY", "a key of the test");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("sh starts");
        let input: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
        // One that reads nothing may have ended before.
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).ok();
        let output = child.wait_with_output().expect("it ends");
        let (said, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && errors.is_empty(), "{script}: {said}{errors}");
        said.into_owned()
    }

    /// What the verifier says of a phase: whether it has passed, and all its evidence.
    fn verdict(&self, phase: u64) -> (bool, String) {
        let ids = ["plan_documents", "design_documents", "program_documents", "tests_documents"];
        let prompt = format!("Say of each: {}", ids[usize::try_from(phase).expect("small") - 1]);
        let said = self.play("inspector.sh", &[], &prompt);
        let (_, json) = said.split_once("=== VERIFICATION_RESULT ===\n").expect("a verdict");
        let verdict: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
        assert_eq!((&verdict["phase"], &verdict["token"]), (&phase.into(), &"tok3n".into()));
        let criteria = verdict["criteria"].as_array().expect("a list");
        let wanted = self.criteria(phase);
        let found: Vec<&str> = criteria.iter().filter_map(|it| it["id"].as_str()).collect();
        assert_eq!(found, wanted, "all that it was asked, and nothing else");
        let all = criteria.iter().all(|it| it["passed"] == true);
        assert_eq!(verdict["passed"], all, "{verdict}");
        let evidence: Vec<&str> = criteria.iter().filter_map(|it| it["evidence"].as_str()).collect();
        assert!(evidence.iter().all(|it| !it.is_empty()), "{verdict}");
        (all, evidence.join("\n"))
    }

    /// A phase of the configuration.
    fn phase(&self, phase: u64) -> toml::Table {
        let text = fs::read_to_string(self.studio.project().join("ostler.toml")).expect("it was written");
        let file: toml::Table = text.parse().expect("it can be read");
        let phases = file["phases"]["phase"].as_array().expect("a list");
        phases[usize::try_from(phase).expect("small") - 1].as_table().expect("a table").clone()
    }

    fn criteria(&self, phase: u64) -> Vec<String> {
        let phase = self.phase(phase);
        let criteria = phase["criteria"].as_array().expect("a list");
        criteria.iter().map(|it| it["id"].as_str().expect("a name").to_owned()).collect()
    }

    /// Plays until a phase is done.
    fn play_until(&self, phase: u64) {
        self.play("planner.sh", &ANSWERS, "");
        if phase > 1 {
            self.play("designer.sh", &[LOOK, r#"{"type":"phase_returned","words":"…"}"#], "");
        }
        if phase > 2 {
            self.play("developer.sh", &GIVEN, "");
        }
        if phase > 3 {
            self.play("tester.sh", &[YES], "");
        }
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.studio.project().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Spoils a file, and expects that the verifier of a phase names it.
    fn spoil(&self, phase: u64, path: &str, how: impl Fn(&str) -> Option<String>) {
        let place = self.studio.project().join(path);
        let before = self.read(path);
        match how(&before) {
            Some(text) => {
                assert_ne!(text, before, "{path} is spoilt");
                fs::write(&place, text).expect("it is ours");
            }
            None => fs::remove_file(&place).expect("it is ours"),
        }
        let (passed, evidence) = self.verdict(phase);
        assert!(!passed && evidence.contains(path), "{path} in phase {phase}: {evidence}");
        fs::write(&place, before).expect("it is ours");
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.studio.root).ok();
    }
}

/// The documents of the phases up to one.
fn documents(phase: u64) -> Vec<String> {
    let folders = match phase {
        1 => &["planning"][..],
        2 | 3 => &["planning", "design"][..],
        _ => &["planning", "design", "testing"][..],
    };
    let names = ENGLISH.iter().filter_map(|(path, _)| path.strip_prefix("drafts/en/"));
    names
        .filter(|it| folders.iter().any(|folder| it.starts_with(folder)))
        .map(|it| format!("docs/{it}"))
        .collect()
}

#[test]
fn the_agents_do_what_their_phases_ask_for() {
    for korean in [false, true] {
        let lab = Lab::new(korean);
        let said = lab.play("planner.sh", &ANSWERS, "");
        assert!(said.contains("category: business") && said.contains("category: clarification"), "{said}");
        assert!(said.contains("\n=== PHASE 1 COMPLETE ===\n"), "{said}");
        assert!(lab.verdict(1).0);

        let said = lab.play("designer.sh", &[LOOK], "");
        assert!(said.contains("category: choice"), "{said}");
        let (passed, evidence) = lab.verdict(2);
        assert!(
            !passed && evidence.contains("docs/design/04_api.md") && evidence.contains("`refund`"),
            "{evidence}"
        );
        // Whether it still runs or was started again, it does what is missing.
        let returned =
            [r#"{"type":"phase_returned","phase":2,"decision":"rework","words":"refund is missing"}"#];
        if korean {
            lab.play("designer.sh", &[], "refund is missing");
        } else {
            fs::remove_dir_all(lab.studio.project().join("docs/design")).expect("it is ours");
            lab.play("designer.sh", &[LOOK, returned[0]], "");
        }
        assert!(lab.verdict(2).0);

        let said = lab.play("developer.sh", &GIVEN, "");
        for part in ["type: file", "type: permission", "recovery: pause_and_retry", "seal"] {
            assert!(korean && part == "seal" || said.contains(part), "{part}: {said}");
        }
        assert!(!lab.studio.project().join("old/receipt.sh").exists(), "it was allowed");
        assert!(lab.verdict(3).0);

        let said = lab.play("tester.sh", &[YES], "");
        assert!(said.contains("category: confirmation") && said.contains("6 tests, 0 failed"), "{said}");
        let (passed, evidence) = lab.verdict(4);
        assert!(passed, "{evidence}");
        assert!(lab.read("docs/testing/results.md").contains("\nseal,"), "a receipt is shown");
        for phase in 1..=4 {
            assert_rules(&lab, phase);
        }
    }
}

/// What the rules of a phase ask for is there, and nothing of a draft is left.
fn assert_rules(lab: &Lab, phase: u64) {
    for rule in lab.phase(phase)["artifacts"].as_array().expect("a list") {
        let glob = rule["glob"].as_str().expect("a glob");
        let Some(sections) = rule.get("sections") else { continue };
        let text = lab.read(glob);
        assert!(!text.contains('@') && text.len() > 300, "{glob}: {text}");
        for section in sections.as_array().expect("a list") {
            let names: Vec<&str> = section.as_str().expect("names").split('|').collect();
            let name = names[usize::from(lab.korean)].to_lowercase();
            let is_it = |line: &str| line.starts_with('#') && line.to_lowercase().contains(&name);
            assert!(text.lines().any(is_it), "{glob}: {names:?}");
        }
    }
}

/// They are an example: what is asked for where nobody says otherwise is in them, too.
#[test]
fn the_documents_would_do_in_any_project() {
    for korean in [false, true] {
        let drafts = if korean { &KOREAN } else { &ENGLISH };
        for document in PHASES.iter().flat_map(|phase| phase.documents) {
            let name = document.path.strip_prefix("docs/").expect("a document");
            let (_, text) = drafts.iter().find(|(path, _)| path.ends_with(name)).expect("a draft");
            for section in document.sections {
                let name = section.name[usize::from(korean)].to_lowercase();
                let is_it = |line: &str| line.starts_with('#') && line.to_lowercase().contains(&name);
                assert!(text.lines().any(is_it), "{}: {name}", document.path);
            }
        }
    }
}

#[test]
fn what_a_person_wants_changed_is_written_down() {
    let lab = Lab::new(false);
    let returned = r#"{"type":"phase_returned","phase":1,"decision":"changes","words":"It says:\nmention \"tea\"\nThen go on."}"#;
    let said = lab.play("planner.sh", &[ANSWERS[0], ANSWERS[1], returned], "");
    assert_eq!(said.matches("=== PHASE 1 COMPLETE ===").count(), 2, "{said}");
    assert!(lab.read("CHANGES.md").ends_with("- mention tea\n"));
}

#[test]
fn answers_that_fit_nowhere_spoil_nothing() {
    let lab = Lab::new(false);
    let answer = |text: &str| serde_json::json!({ "type": "question_answer", "answer": text }).to_string();
    let odd = answer("'; touch gotcha; echo $(touch gotcha) `touch gotcha` # \\ & / \n | 가게");
    lab.play("planner.sh", &[&odd, &answer("as many as you like")], "");
    assert!(lab.verdict(1).0);
    lab.play("designer.sh", &[&answer("neither"), "{}"], "");
    lab.play("developer.sh", &[r#"{"provided":false}"#, r#"{"approved":false}"#], "");
    assert!(lab.studio.project().join("old/receipt.sh").exists(), "it was denied");
    lab.play("tester.sh", &[&answer("No")], "");
    assert!(lab.verdict(4).0);
    assert!(lab.read("src/shop.conf").contains("discount_from=10\nlook=text\n"));
    assert!(!lab.studio.project().join("gotcha").exists());
}

#[test]
fn whatever_document_is_spoilt_is_named() {
    let lab = Lab::new(false);
    for phase in [1, 2, 4] {
        lab.play_until(phase);
        assert!(lab.verdict(phase).0);
        for path in documents(phase) {
            lab.spoil(phase, &path, |_| None);
            // The last one also runs the tests, which takes its time.
            if phase < 4 || path.starts_with("docs/testing") {
                lab.spoil(phase, &path, |_| Some(String::new()));
                lab.spoil(phase, &path, |_| Some("# A title\n\n## A section\n".to_owned()));
            }
        }
        assert!(lab.verdict(phase).0, "everything is as it was");
    }
}

#[test]
fn whatever_test_is_spoilt_is_named() {
    let lab = Lab::new(true);
    lab.play_until(4);
    assert!(lab.verdict(4).0);
    let tests = FILES.iter().filter_map(|(path, _)| path.strip_prefix("drafts/"));
    let tests: Vec<&str> = tests.filter(|path| path.starts_with("tests/test_")).collect();
    assert_eq!(tests.len(), 6);
    for path in tests {
        lab.spoil(4, path, |_| None);
        lab.spoil(4, path, |_| Some("exit 0\n".to_owned()));
        lab.spoil(4, path, |text| Some(text.replacen("\nexpect ", "\nexpect no", 1)));
        lab.spoil(4, path, |text| Some(text.replacen('\n', "\nexit 0\n", 1)));
    }
    lab.spoil(4, "docs/testing/results.md", |text| Some(text.replacen("6개를", "7개를", 1)));
    let place = lab.studio.project().join("tests/expect.sh");
    let before = lab.read("tests/expect.sh");
    fs::write(&place, format!("{before}\nexpect() {{ :; }}\n")).expect("it is ours");
    let (passed, evidence) = lab.verdict(4);
    assert!(!passed && evidence.contains("tests/test_total.sh"), "{evidence}");
    fs::write(&place, before).expect("it is ours");
    // A runner that says yes to everything helps nobody.
    fs::write(lab.studio.project().join("tests/run.sh"), "echo '6 tests, 0 failed'\n").expect("it is ours");
    for (from, to, test) in [
        (">= from", "> from", "tests/test_discount.sh"),
        ("sum += $4", "sum += $3", "tests/test_discount.sh"),
        ("cut -c 1-16", "cut -c 1-1 | tr a-f0-9 x", "tests/test_seal.sh"),
        ("before - ", "0 - ", "tests/test_refund.sh"),
    ] {
        let place = lab.studio.project().join("src/receipt.sh");
        let before = lab.read("src/receipt.sh");
        assert!(before.contains(from), "{from}");
        fs::write(&place, before.replace(from, to)).expect("it is ours");
        let (passed, evidence) = lab.verdict(4);
        assert!(!passed && evidence.contains(test), "{from}: {evidence}");
        fs::write(&place, before).expect("it is ours");
    }
    assert!(lab.verdict(4).0);
}
