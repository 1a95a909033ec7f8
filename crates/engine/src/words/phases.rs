//! What the agent of a phase is told when the phase comes back to it.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use ostler_agents::InputWay;
use serde_json::json;

use crate::{
    phases::{Phase, Phases, Return, problem::Problem},
    session::Session,
};

/// What the agent is told.
pub(crate) fn returned(session: &Session, phases: &Phases, why: Return, said: Option<&str>) -> String {
    match (phases.current(), why) {
        (None, _) => String::new(),
        // What it has not read is said again.
        (Some(phase), Return::Unread) => phase.told.clone().unwrap_or_default(),
        (Some(phase), _) => sentences(session.order.korean, phase, why, said),
    }
}

/// The same on the input of an agent that runs: a program that reads lines gets one line.
pub(crate) fn input(session: &Session, phase: u32, why: Return, words: &str) -> String {
    if session.order.agent.input.way != InputWay::Line {
        return words.to_string();
    }
    let decision = if why == Return::Changes { "changes" } else { "rework" };
    json!({ "type": "phase_returned", "phase": phase, "decision": decision, "words": words }).to_string()
}

fn sentences(korean: bool, phase: &Phase, why: Return, words: Option<&str>) -> String {
    let number = phase.number;
    let mut parts: Vec<String> = Vec::new();
    match (why, korean) {
        (Return::Changes, false) => {
            parts.push(format!("A person has looked at phase {number} and wants something changed:"));
        }
        (Return::Changes, true) => {
            parts.push(format!("사람이 {number}단계를 검토하고 변경을 요청했습니다:"));
        }
        (_, false) => parts.push(format!("Phase {number} is not complete yet. This is wrong:")),
        (_, true) => parts.push(format!("{number}단계는 아직 완료되지 않았습니다. 문제점:")),
    }
    match words {
        Some(words) if why == Return::Changes => parts.push(words.to_string()),
        _ => parts.extend(problems(phase).iter().map(|problem| format!("- {}", problem.sentence(korean)))),
    }
    parts.push(closing(korean, number));
    parts.join("\n")
}

/// What to do then. The marker stands inside of a sentence, so that whoever repeats it has not said it.
fn closing(korean: bool, number: u32) -> String {
    if korean {
        format!("모두 고친 뒤 `=== PHASE {number} COMPLETE ===` 줄을 다시 출력하세요.")
    } else {
        format!("Put it right, then print the line `=== PHASE {number} COMPLETE ===` again.")
    }
}

/// What the last gate has found; one that had nothing to look at leaves standing what the one before it found.
fn problems(phase: &Phase) -> Vec<&Problem> {
    let mut found: Vec<&Problem> = Vec::new();
    for gate in phase.gates.iter().rev() {
        found.extend(&gate.problems);
        if gate.collected.is_some() {
            break;
        }
    }
    found.dedup();
    found
}
