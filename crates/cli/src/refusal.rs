//! Why the server said no, in the language of whoever asked. What is not known here is said as the server says it.

mod obstacles;

use ostler_server::api::Problem;
use serde_json::Value;

use crate::{
    exit::Exit,
    outcome,
    screen::{one_line, safe},
    status,
    words::{Key, Words},
};

/// What is wrong, in a sentence.
pub(crate) fn message(words: Words, problem: &Problem) -> String {
    let details = &problem.details;
    let text = |name: &str| details[name].as_str().map(|it| safe(it).into_owned()).unwrap_or_default();
    let session = || text("session");
    match details["key"].as_str().unwrap_or_default() {
        "no_session" => words.say(Key::NoSuchSession, &[("id", &session())]),
        "no_run" => words.say(Key::NoSuchRun, &[("id", &text("run"))]),
        "no_request" => words.say(Key::NoSuchRequest, &[("id", &text("request"))]),
        "settled" => settled(words, details),
        "not_an_answer" => {
            let key = match details["why"]["key"].as_str().unwrap_or_default() {
                "empty" => Key::RefusedEmpty,
                "no_amount" => Key::RefusedNoAmount,
                "yes_or_no" => Key::RefusedYesOrNo,
                "value_wanted" => Key::RefusedValueWanted,
                "not_asked" => Key::RefusedNotAsked,
                "required" => Key::RefusedRequired,
                "review_wanted" => Key::RefusedReviewWanted,
                "not_an_option" => Key::RefusedNotAnOption,
                _ => return problem.title.clone(),
            };
            words.say(key, &[("id", &text("request"))])
        }
        "not_now" => {
            let word = text("status");
            let status = status::of_word(&word, false).map_or(word.as_str(), |it| words.sentence(it.key));
            words.say(Key::RefusedNotNow, &[("id", &session()), ("status", &status)])
        }
        "no_worktree" => words.say(Key::RefusedNoWorktree, &[("id", &session())]),
        "worktree_gone" => words.say(Key::RefusedWorktreeGone, &[("id", &session())]),
        "no_permission" => no_permission(words, details),
        "name_taken" | "bad_session_name" | "not_installed" => start(words, details).0,
        "no_checkpoint" => words.say(Key::NoSuchCheckpoint, &[("id", &text("checkpoint"))]),
        "checkpoint_gone" => words.say(Key::RefusedCheckpointGone, &[("id", &text("checkpoint"))]),
        "place_busy" => words.say(Key::RefusedPlaceBusy, &[("id", &session()), ("other", &text("other"))]),
        "restoring" => {
            words.say(Key::RefusedRestoring, &[("session", &session()), ("id", &text("checkpoint"))])
        }
        "tree_changed" | "tree_not_shown" | "gate_failed" | "not_review" | "phases_busy" | "loop_busy"
        | "loop_options" => review(words, details),
        "no_invocation" | "invocation_over" | "no_role" | "not_delivered" | "not_called" => {
            office(words, details)
        }
        "too_large" => words.say(Key::RefusedTooLong, &[("max", &text("max"))]),
        "long_field" => words.say(Key::RefusedLongField, &[("field", &text("field"))]),
        "empty_field" => words.say(Key::RefusedEmptyField, &[("field", &text("field"))]),
        "over_limit" | "too_many_connections" => over_limit(words, details).0,
        "no_descriptors" => words.sentence(Key::RefusedNoDescriptors).to_owned(),
        "empty_message" => words.sentence(Key::RefusedEmptyMessage).to_owned(),
        "untrusted" => untrusted(words, details),
        "loop_obstacles" => obstacles::message(words, details),
        "trust_changed" => words.sentence(Key::RefusedTrustChanged).to_owned(),
        "not_git" => words.say(Key::RefusedNotGit, &[("directory", &text("directory"))]),
        _ => match problem.kind.as_str() {
            "no_agent" if details["name"].is_null() => words.sentence(Key::NoAgentNamed).to_owned(),
            "no_agent" => words.say(Key::UnknownAgent, &[("name", &text("name"))]),
            "inside" => words.sentence(Key::RefusedInside).to_owned(),
            "no_secret" => words.say(Key::NoSuchSecret, &[("name", &text("name"))]),
            "vault_locked" => words.sentence(Key::VaultLocked).to_owned(),
            "no_notify_channel" => words.say(Key::NoSuchNotify, &[("name", &text("name"))]),
            "not_notified" => words.say(Key::NotNotified, &[("name", &text("name")), ("why", &text("why"))]),
            "vault_wrong_key" => words.sentence(Key::VaultNotOpened).to_owned(),
            "no_sign_in" => words.say(Key::NoSuchSignIn, &[("name", &text("name"))]),
            "token_taken" => words.say(Key::RefusedTokenTaken, &[("name", &text("name"))]),
            "page_shut" if details["why"].is_null() => words.sentence(Key::RefusedPageOff).to_owned(),
            "page_shut" => words.say(Key::RefusedPageShut, &[("why", &text("why"))]),
            _ => exchanged(words, details).unwrap_or_else(|| safe(&problem.title).into_owned()),
        },
    }
}

/// Another process keeps the journal locked.
fn journal_locked(words: Words, details: &Value) -> String {
    let one =
        |it: &Value| format!("{} ({})", it["pid"], it["name"].as_str().map(one_line).unwrap_or_default());
    let named: Vec<String> = details["processes"].as_array().into_iter().flatten().map(one).collect();
    let processes = if named.is_empty() { "?".to_owned() } else { named.join(", ") };
    words.say(Key::RefusedJournalLocked, &[("processes", &processes)])
}

/// What another process has locked or exchanged.
fn exchanged(words: Words, details: &Value) -> Option<String> {
    if details["key"] == "journal_locked" {
        Some(journal_locked(words, details))
    } else {
        log_replaced(words, details)
    }
}

/// A log that another process has exchanged.
fn log_replaced(words: Words, details: &Value) -> Option<String> {
    let text = |name: &str| details[name].as_str().map(one_line).unwrap_or_default();
    let (path, why) = (text("path"), text("why"));
    (details["key"] == "log_replaced")
        .then(|| words.say(Key::RefusedLogReplaced, &[("path", &path), ("why", &why)]))
}

/// How a request was settled before.
fn settled(words: Words, details: &Value) -> String {
    let id = details["request"].as_str().map(one_line).unwrap_or_default();
    let by = details["settled"]["by"].as_str().unwrap_or_default();
    let answer = outcome::settled(words, by, &details["settled"]["answer"]);
    words.say(Key::RefusedSettled, &[("id", &id), ("answer", &answer)])
}

/// A text in which every letter beyond ASCII is written as its number.
fn escaped(text: &str) -> String {
    let one = |letter: char| {
        if letter.is_ascii() { letter.to_string() } else { letter.escape_unicode().to_string() }
    };
    text.chars().map(one).collect()
}

/// Why a session is not started or not called so, and what to do then.
fn start(words: Words, details: &Value) -> (String, String) {
    let text = |name: &str| details[name].as_str().map(one_line).unwrap_or_default();
    let (name, session, program) = (text("name"), text("session"), text("program"));
    match (details["key"].as_str().unwrap_or_default(), details["install"].is_string()) {
        ("name_taken", _) => (
            words.say(Key::RefusedNameTaken, &[("session", &session), ("name", &name)]),
            words.say(Key::HintNameTaken, &[("session", &session)]),
        ),
        ("bad_session_name", _) => {
            let key = match details["why"].as_str() {
                Some("invisible") => Key::HintNameInvisible,
                Some("scripts") => Key::HintNameScripts,
                _ => Key::HintName,
            };
            // A letter that shows nothing, or something else, is written as its number.
            let is_plain = name.chars().all(|letter| letter.is_ascii() || letter.is_alphanumeric());
            let name = if key == Key::HintName && is_plain { name } else { escaped(&name) };
            (words.say(Key::RefusedName, &[("name", &name)]), words.sentence(key).to_owned())
        }
        (_, is_known) => {
            let key = if is_known { Key::HintInstall } else { Key::HintInstallUnknown };
            let said = words.say(Key::RefusedNotInstalled, &[("name", &name), ("program", &program)]);
            (said, words.say(key, &[("install", &text("install"))]))
        }
    }
}

/// Which permission rule a session never had.
fn no_permission(words: Words, details: &Value) -> String {
    let id = details["session"].as_str().map(one_line).unwrap_or_default();
    words.say(Key::NoSuchPermission, &[("id", &id), ("number", &details["number"])])
}

/// A sentence with one value of the details.
fn say_of(words: Words, key: Key, place: &str, details: &Value, name: &str) -> String {
    words.say(key, &[(place, &safe(details[name].as_str().unwrap_or_default()))])
}

/// What is refused to agents that speak to each other, and to who speaks to them.
fn office(words: Words, details: &Value) -> String {
    let text = |name: &str| details[name].as_str().map(|it| safe(it).into_owned()).unwrap_or_default();
    let key = match details["key"].as_str().unwrap_or_default() {
        "invocation_over" => Key::RefusedCallOver,
        "not_called" => Key::RefusedNotWaitedFor,
        "no_role" => return words.say(Key::RefusedNoRole, &[("role", &text("role"))]),
        "not_delivered" => return words.say(Key::RefusedNotDelivered, &[("why", &text("why"))]),
        _ => Key::NoSuchCall,
    };
    words.say(key, &[("id", &text("invocation"))])
}

/// A session has asked or said as much as one session may, and what to do then.
fn over_limit(words: Words, details: &Value) -> (String, String) {
    let (said, hint) = match details["limit"].as_str().unwrap_or_default() {
        "open_bytes" => (Key::RefusedOpenBytes, Key::HintOpenBytes),
        "connections" => (Key::RefusedConnections, Key::HintConnections),
        "signals" => (Key::RefusedSignals, Key::HintSignals),
        _ => (Key::RefusedOpenRequests, Key::HintOpenRequests),
    };
    let session = details["session"].as_str().map(one_line).unwrap_or_default();
    (words.say(said, &[("id", &session), ("max", &details["max"])]), words.sentence(hint).to_owned())
}

/// What a repository would run, and nobody has agreed to.
fn untrusted(words: Words, details: &Value) -> String {
    let first = &details["commands"][0];
    let shown = |name: &str| first[name].as_str().map(one_line).unwrap_or_default();
    let count = details["commands"].as_array().map_or(0, Vec::len);
    let values: &[(&str, &dyn std::fmt::Display)] =
        &[("n", &count), ("key", &shown("key")), ("value", &shown("value")), ("file", &shown("file"))];
    words.say(if count == 1 { Key::RefusedUntrusted } else { Key::RefusedUntrustedMany }, values)
}

/// Why a phase is not begun, or not decided about.
fn review(words: Words, details: &Value) -> String {
    let id = details["request"].as_str().map(one_line).unwrap_or_default();
    let key = match details["key"].as_str().unwrap_or_default() {
        "tree_changed" => Key::RefusedTreeChanged,
        "tree_not_shown" => Key::RefusedTreeNotShown,
        "gate_failed" => Key::RefusedGateFailed,
        "not_review" => Key::RefusedNotReview,
        busy => {
            let shown = |name: &str| details[name].as_str().map(one_line).unwrap_or_default();
            let key = match busy {
                "loop_busy" => Key::RefusedLoopBusy,
                "loop_options" => Key::RefusedLoopOptions,
                _ => Key::RefusedPhasesBusy,
            };
            return words.say(key, &[("run", &shown("run")), ("options", &shown("options"))]);
        }
    };
    words.say(key, &[("id", &id)])
}

/// What to do next.
pub(crate) fn hint(words: Words, problem: &Problem) -> Option<String> {
    let details = &problem.details;
    let why = &details["why"];
    match details["key"].as_str().unwrap_or_default() {
        "tree_changed" => Some(words.sentence(Key::HintTreeChanged).to_owned()),
        "tree_not_shown" => Some(say_of(words, Key::HintTreeNotShown, "id", details, "request")),
        "gate_failed" => Some(words.sentence(Key::HintGateFailed).to_owned()),
        "phases_busy" => Some(say_of(words, Key::HintPhasesBusy, "run", details, "run")),
        "loop_options" => Some(words.sentence(Key::HintLoopOptions).to_owned()),
        "no_session" | "no_run" => Some(words.sentence(Key::HintIds).to_owned()),
        "not_called" => Some(words.sentence(Key::HintAsMessage).to_owned()),
        "name_taken" | "bad_session_name" | "not_installed" => Some(start(words, details).1),
        "log_replaced" => Some(words.sentence(Key::HintLogReplaced).to_owned()),
        "journal_locked" => Some(words.sentence(Key::HintJournalLocked).to_owned()),
        "long_field" => Some(words.sentence(Key::HintLongField).to_owned()),
        "over_limit" | "too_many_connections" => Some(over_limit(words, details).1),
        "no_descriptors" => Some(words.sentence(Key::HintNoDescriptors).to_owned()),
        "too_large" => Some(words.sentence(Key::HintTooLong).to_owned()),
        "no_invocation" | "invocation_over" => Some(words.sentence(Key::HintCalls).to_owned()),
        "no_role" => {
            let roles = details["roles"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let roles = roles.map(one_line).collect::<Vec<_>>().join(", ");
            Some(words.say(Key::HintRoles, &[("roles", &roles)]))
        }
        "untrusted" => {
            let directory = details["directory"].as_str().map(one_line).unwrap_or_default();
            Some(words.say(Key::HintTrust, &[("directory", &directory)]))
        }
        "loop_obstacles" => Some(obstacles::hint(words, details)),
        "trust_changed" => Some(words.sentence(Key::HintTrustAgain).to_owned()),
        "no_request" | "settled" => Some(words.sentence(Key::HintInbox).to_owned()),
        "no_checkpoint" | "checkpoint_gone" => Some(words.sentence(Key::HintCheckpoints).to_owned()),
        "no_permission" => Some(say_of(words, Key::HintPermissions, "id", details, "session")),
        "place_busy" => {
            let other = details["other"].as_str().unwrap_or_default();
            Some(words.say(Key::HintPlaceBusy, &[("other", &safe(other))]))
        }
        "restoring" => {
            let session = details["session"].as_str().unwrap_or_default();
            Some(words.say(Key::HintRestoring, &[("session", &safe(session))]))
        }
        "not_an_answer" if why["key"] == "not_an_option" => Some(options(words, why, Key::HintInsist)),
        "not_an_answer" if why["key"] == "value_wanted" => {
            let id = details["request"].as_str().unwrap_or_default();
            Some(words.say(Key::HintValueInstead, &[("id", &id)]))
        }
        "not_an_answer" | "no_worktree" | "worktree_gone" | "empty_message" | "not_delivered" => {
            Some(words.sentence(Key::HintUnchanged).to_owned())
        }
        _ => match (problem.kind.as_str(), details["nearest"].as_str()) {
            ("no_agent", Some(nearest)) => Some(words.say(Key::HintDidYouMean, &[("nearest", &nearest)])),
            ("inside", _) => Some(words.sentence(Key::HintRefusedInside).to_owned()),
            ("no_secret", _) => Some(words.sentence(Key::HintSecrets).to_owned()),
            ("no_notify_channel", _) => Some(words.sentence(Key::HintNotify).to_owned()),
            ("not_notified", _) => Some(words.sentence(Key::HintNotNotified).to_owned()),
            ("vault_locked", _) => Some(words.sentence(Key::HintUnlock).to_owned()),
            ("no_sign_in", _) => Some(words.sentence(Key::HintSignIns).to_owned()),
            ("token_taken", _) => {
                let name = details["name"].as_str().unwrap_or_default();
                Some(words.say(Key::HintTokenTaken, &[("name", &safe(name))]))
            }
            ("page_shut", _) => Some(words.sentence(Key::HintPage).to_owned()),
            ("no_agent", None) if details["name"].is_null() => {
                Some(words.sentence(Key::HintNameAgent).to_owned())
            }
            ("no_agent", None) => Some(words.sentence(Key::HintAgents).to_owned()),
            _ => problem.hint.as_ref().map(|hint| safe(hint).into_owned()),
        },
    }
}

/// What could have been meant by an answer that is none of the options, and how to give it all the same.
pub(crate) fn options(words: Words, why: &Value, insist: Key) -> String {
    let mut said = Vec::new();
    if let Some(nearest) = why["nearest"].as_str() {
        said.push(words.say(Key::HintDidYouMean, &[("nearest", &safe(nearest))]));
    }
    let options: Vec<String> = why["options"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .enumerate()
        .map(|(index, option)| format!("{} {}", index + 1, safe(option)))
        .collect();
    said.push(words.say(Key::HintOptions, &[("options", &options.join(", "))]));
    said.push(words.sentence(insist).to_owned());
    said.join(" ")
}

/// The exit code of a refusal.
pub(crate) fn exit(problem: &Problem) -> Exit {
    match (problem.kind.as_str(), problem.status) {
        ("configuration", _) => Exit::Config,
        ("bad_body" | "not_json", _) => Exit::Usage,
        ("not_written" | "journal_locked", _) => Exit::Output,
        (_, 404) => Exit::NotFound,
        (_, 500..) => Exit::NoServer,
        _ => Exit::Refused,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::words::Language;

    fn problem(kind: &str, status: u16, details: Value) -> Problem {
        Problem { kind: kind.into(), status, title: "as the server says".into(), hint: None, details }
    }

    #[test]
    fn a_refusal_is_said_in_both_languages() {
        let settled = problem(
            "settled",
            409,
            json!({"key": "settled", "request": "q_7", "settled": {"answer": {"answer": "text", "text": "MySQL"}}}),
        );
        let (english, korean) = (Words::new(Language::En), Words::new(Language::Ko));
        assert_eq!(message(english, &settled), "q_7 is settled already: MySQL");
        assert_eq!(message(korean, &settled), "q_7에는 이미 답이 정해졌습니다: MySQL");
        assert_eq!(exit(&settled), Exit::Refused);
        let unknown = problem("new_kind", 418, json!({"key": "new_key"}));
        assert_eq!(message(korean, &unknown), "as the server says");
        let agent = problem("no_agent", 404, json!({"name": "cladue", "nearest": "claude"}));
        assert_eq!(message(english, &agent), "there is no agent 'cladue'");
        assert_eq!(hint(english, &agent).as_deref(), Some("Did you mean 'claude'?"));
        assert_eq!(exit(&agent), Exit::NotFound);
    }

    #[test]
    fn what_is_refused_in_an_office_is_said_in_korean_with_what_to_do() {
        let korean = Words::new(Language::Ko);
        for details in [
            json!({"key": "too_large", "max": "64 MiB"}),
            json!({"key": "not_delivered", "why": "내용이 없습니다"}),
            json!({"key": "no_run", "run": "r_9"}),
            json!({"key": "not_called", "invocation": "i_9"}),
            json!({"key": "invocation_over", "invocation": "i_9"}),
            json!({"key": "long_field", "field": "task"}),
        ] {
            let problem = Problem { hint: Some("In English.".into()), ..problem("x", 400, details) };
            let said =
                [Some(message(korean, &problem)), hint(korean, &problem)].map(Option::unwrap_or_default);
            assert!(said.iter().all(|it| it.contains(|letter| ('가'..='힣').contains(&letter))), "{said:?}");
        }
        let empty = problem("empty_field", 400, json!({"key": "empty_field", "field": "task"}));
        assert_eq!(message(korean, &empty), "'task' 값이 비어 있습니다");
    }

    #[test]
    fn an_answer_that_is_no_option_shows_them() {
        let why = json!({"key": "not_an_option", "options": ["PostgreSQL", "MySQL"], "nearest": "MySQL"});
        let problem =
            problem("not_an_option", 400, json!({"key": "not_an_answer", "request": "q_7", "why": why}));
        let words = Words::new(Language::En);
        assert_eq!(message(words, &problem), "that is none of the options of q_7");
        assert_eq!(
            hint(words, &problem).as_deref(),
            Some("Did you mean 'MySQL'? Options: 1 PostgreSQL, 2 MySQL. To send it all the same: --insist")
        );
    }
}
