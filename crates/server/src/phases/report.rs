//! The report of a gate, for people and for the agent that gets it back: in Markdown, and as JSON.

use std::fmt::Write;

use ostler_engine::phases::{Gate, Phase, Phases, Round};
use serde_json::{Value, json};

/// How much of a command's words stands in it.
const OUTPUT_LINES_MAX: usize = 30;

/// The most files that are listed.
const FILES_MAX: usize = 200;

/// The report as JSON: the gate as it is known, beside what it belongs to.
pub(crate) fn json(run: &str, phases: &Phases, phase: &Phase, gate: &Gate) -> Value {
    let korean = phases.plan.common.korean;
    let name = phases.plan.phase(phase.number).map(|plan| plan.name.clone());
    let problems: Vec<Value> = gate
        .problems
        .iter()
        .map(|problem| {
            let mut value = json!(problem);
            value["text"] = json!(problem.sentence(korean));
            value
        })
        .collect();
    let mut gate = json!(gate);
    gate["problems"] = json!(problems);
    json!({
        "run": run, "phase": phase.number, "name": name, "base": phase.base, "session": phase.session,
        "questions": phase.questions, "reworks": phase.reworks, "gate": gate,
    })
}

/// Words in both languages.
struct Words {
    korean: bool,
}

impl Words {
    fn say(&self, english: &'static str, korean: &'static str) -> &'static str {
        if self.korean { korean } else { english }
    }
}

/// The report in Markdown.
pub(crate) fn markdown(run: &str, phases: &Phases, phase: &Phase, gate: &Gate) -> String {
    let words = Words { korean: phases.plan.common.korean };
    let plan = phases.plan.phase(phase.number);
    let name = plan.map_or("", |plan| plan.name.as_str());
    let result = match gate.passed {
        Some(true) => words.say("passed", "통과"),
        Some(false) => words.say("failed", "실패"),
        None => words.say("not known yet", "아직 모름"),
    };
    let mut text = String::new();
    let mut line = |it: String| {
        text.push_str(&it);
        text.push('\n');
    };
    line(format!("# {} {}: {}", words.say("Phase", "단계"), phase.number, plain(name)));
    line(String::new());
    line(format!("- {}: **{result}**", words.say("Gate", "관문").to_owned() + &format!(" {}", gate.number)));
    line(format!("- {}: {run}", words.say("Run", "실행")));
    if let (Some(tree), Some(commit)) = (gate.tree(), &gate.commit) {
        line(format!("- {}: `{tree}` (`{commit}`)", words.say("Tree", "트리")));
    }
    let max = plan.map_or(0, |plan| plan.questions_max);
    line(format!("- {}: {} / {max}", words.say("Questions", "질문"), phase.questions));
    line(String::new());
    text.push_str(&problems(&words, gate));
    text.push_str(&files(&words, gate));
    text.push_str(&checks(&words, gate));
    let has_verifier = plan.is_some_and(|plan| plan.verifier.is_some());
    text.push_str(&verifier(&words, gate, has_verifier));
    text
}

fn problems(words: &Words, gate: &Gate) -> String {
    if gate.problems.is_empty() {
        return String::new();
    }
    let mut text = format!("## {}\n\n", words.say("What is wrong", "문제점"));
    for problem in &gate.problems {
        let sentence = problem.sentence(words.korean);
        let mut lines = sentence.lines();
        writeln!(text, "- {}", plain(lines.next().unwrap_or_default())).expect("text takes everything");
        let rest: Vec<&str> = lines.collect();
        if !rest.is_empty() {
            writeln!(text, "\n{}", code(&rest)).expect("text takes everything");
        }
    }
    text + "\n"
}

fn files(words: &Words, gate: &Gate) -> String {
    let Some(collected) = &gate.collected else { return String::new() };
    let mut text = format!(
        "## {}\n\n| {} | {} | {} | {} |\n|---|---|---|---|\n",
        words.say("Files", "파일"),
        words.say("path", "경로"),
        words.say("bytes", "바이트"),
        words.say("announced", "보고됨"),
        words.say("changed", "변경")
    );
    let yes = |it: bool| if it { "✓" } else { "" };
    for file in collected.files.iter().take(FILES_MAX) {
        let change = file.change.map(|change| json!(change)).unwrap_or_default();
        let bytes = file.bytes.map_or_else(|| "–".to_owned(), |bytes| bytes.to_string());
        let change = change.as_str().unwrap_or("");
        writeln!(text, "| {} | {bytes} | {} | {change} |", plain(&file.path), yes(file.announced))
            .expect("text takes everything");
    }
    let more = collected.files_count.saturating_sub(FILES_MAX as u64);
    if more > 0 {
        writeln!(text, "| … +{more} | | | |").expect("text takes everything");
    }
    if !collected.extra.is_empty() {
        let names: Vec<String> = collected.extra.iter().map(|it| plain(it)).collect();
        let said = words.say("Announced, and expected by nothing", "보고되었지만 예상에 없는 파일");
        writeln!(text, "\n{said}: {}", names.join(", ")).expect("text takes everything");
    }
    text + "\n"
}

fn checks(words: &Words, gate: &Gate) -> String {
    if gate.checks.is_empty() {
        return String::new();
    }
    let mut text = format!("## {}\n\n", words.say("Checks", "검사"));
    for check in &gate.checks {
        let code_word = words.say("exit code", "종료 코드");
        write!(text, "- `{}`: {code_word} {}", check.run.replace('`', "'"), check.code)
            .expect("text takes everything");
        if let Some(junit) = &check.junit {
            let (tests, failed) = (words.say("tests", "테스트"), words.say("failed", "실패"));
            write!(text, ", {tests} {}, {failed} {}", junit.tests, junit.failures + junit.errors)
                .expect("text takes everything");
        }
        text.push('\n');
        if check.code != 0 || check.overdue_ms.is_some() {
            let lines: Vec<&str> = check.output.lines().collect();
            let from = lines.len().saturating_sub(OUTPUT_LINES_MAX);
            writeln!(text, "\n{}", code(&lines[from..])).expect("text takes everything");
        }
    }
    text + "\n"
}

fn verifier(words: &Words, gate: &Gate, has_verifier: bool) -> String {
    let mut text = format!("## {}\n\n", words.say("Verifier", "검증자"));
    if !has_verifier {
        text.push_str(words.say("There is none in this phase.\n", "이 단계에는 검증자가 없습니다.\n"));
    } else if gate.rounds.is_empty() {
        text.push_str(words.say("It was not asked.\n", "검증을 요청하지 않았습니다.\n"));
    }
    for round in &gate.rounds {
        text.push_str(&spoken(words, round));
    }
    text
}

fn spoken(words: &Words, round: &Round) -> String {
    let mut text = String::new();
    if let Some(failure) = &round.failure {
        let problem = ostler_engine::phases::problem::Problem::Verifier { failure: failure.clone() };
        writeln!(text, "- {}", plain(&problem.sentence(words.korean))).expect("text takes everything");
    }
    for it in round.verdict.iter().flat_map(|verdict| &verdict.criteria) {
        let mark = if it.passed { "✓" } else { "✗" };
        writeln!(text, "- {mark} {}: {}", plain(&it.id), plain(&it.evidence)).expect("text takes everything");
    }
    if let Some(verdict) = round.verdict.as_ref().filter(|it| !it.summary.is_empty()) {
        writeln!(text, "\n{}", plain(&verdict.summary)).expect("text takes everything");
    }
    text
}

/// Words of others on one line, without what Markdown would make of them.
fn plain(text: &str) -> String {
    let special = ['\\', '`', '*', '_', '[', ']', '<', '>', '#', '|', '!'];
    let mut safe = String::new();
    for it in text.chars() {
        if it.is_control() {
            safe.push(' ');
        } else if it == '_' && safe.ends_with(char::is_alphanumeric) {
            safe.push(it);
        } else {
            if special.contains(&it) {
                safe.push('\\');
            }
            safe.push(it);
        }
    }
    safe
}

/// Lines of others as code, which they cannot leave.
fn code(lines: &[&str]) -> String {
    let lines: Vec<String> =
        lines.iter().map(|line| format!("    {}", line.replace(char::is_control, " "))).collect();
    lines.join("\n")
}
