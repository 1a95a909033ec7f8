//! Why a loop is not begun: all that is in its way, one line each.

use serde_json::Value;

use crate::{
    screen::one_line,
    words::{Key, Words},
};

/// Everything that is in the way.
pub(super) fn message(words: Words, details: &Value) -> String {
    let all: Vec<&Value> = details["obstacles"].as_array().into_iter().flatten().collect();
    if let [one] = all.as_slice() {
        return obstacle(words, one);
    }
    let count = details["count"].as_u64().unwrap_or_default();
    let mut lines = vec![words.say(Key::LoopObstacles, &[("n", &count)])];
    lines.extend(all.iter().map(|it| format!("  - {}", obstacle(words, it))));
    let more = count.saturating_sub(all.len() as u64);
    if more > 0 {
        lines.push(format!("  - {}", words.say(Key::LoopMoreObstacles, &[("n", &more)])));
    }
    lines.join("\n")
}

/// What to do about it.
pub(super) fn hint(words: Words, details: &Value) -> String {
    let has = |why: &str| details["obstacles"].as_array().into_iter().flatten().any(|it| it["why"] == why);
    let mut hints = Vec::new();
    if has("untrusted") {
        hints.push(words.say(Key::HintObstacleTrust, &[("command", &text(details, "trust"))]));
    }
    let obstacles = details["obstacles"].as_array().into_iter().flatten();
    for install in obstacles.filter_map(|it| it["install"].as_str()) {
        hints.push(words.say(Key::HintInstall, &[("install", &one_line(install))]) + ".");
    }
    if has("no_agent") {
        hints.push(words.sentence(Key::HintNameAgent).to_owned());
    }
    hints.push(words.sentence(Key::HintNothingStarted).to_owned());
    hints.join(" ")
}

fn obstacle(words: Words, it: &Value) -> String {
    let tasks = short_list(words, it);
    match it["why"].as_str().unwrap_or_default() {
        "unknown_agent" => {
            let said =
                words.say(Key::ObstacleUnknownAgent, &[("name", &text(it, "name")), ("at", &text(it, "at"))]);
            match it["nearest"].as_str().map(one_line) {
                Some(nearest) => said + &words.say(Key::ObstacleDidYouMean, &[("nearest", &nearest)]),
                None => said,
            }
        }
        "no_agent" => words.say(Key::ObstacleNoAgent, &[("tasks", &tasks)]),
        "not_installed" => {
            let values: &[(&str, &dyn std::fmt::Display)] =
                &[("name", &text(it, "name")), ("program", &text(it, "program"))];
            words.say(Key::ObstacleNotInstalled, values)
        }
        _ if tasks.is_empty() => {
            let values: &[(&str, &dyn std::fmt::Display)] =
                &[("key", &text(it, "key")), ("value", &text(it, "value")), ("file", &text(it, "file"))];
            words.say(Key::ObstacleUntrusted, values)
        }
        _ => words.say(Key::ObstacleVerify, &[("tasks", &tasks), ("value", &text(it, "value"))]),
    }
}

fn text(of: &Value, name: &str) -> String {
    of[name].as_str().map(one_line).unwrap_or_default()
}

/// The ids that the server names, and how many more there are.
fn short_list(words: Words, of: &Value) -> String {
    let ids: Vec<String> =
        of["tasks"].as_array().into_iter().flatten().filter_map(Value::as_str).map(one_line).collect();
    let names = ids.join(", ");
    match of["count"].as_u64().unwrap_or_default().saturating_sub(ids.len() as u64) {
        0 => names,
        more => words.say(Key::ListAndMore, &[("names", &names), ("n", &more)]),
    }
}
