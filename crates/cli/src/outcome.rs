//! How something ended: in a sentence, and as an exit code.

use ostler_protocol::shown::Shown;
use ostler_server::api::{Outcome, OutcomeKind, RuleView, SessionView};
use serde_json::Value;

use crate::{
    clock,
    exit::Exit,
    permission,
    screen::{one_line, safe},
    words::{Key, Words},
};

/// How much of a check is shown: its end says what is wrong.
const CHECK_LINES_MAX: usize = 10;

/// The exit code for a session that is over, or was lost.
pub(crate) fn exit(session: &SessionView) -> Exit {
    match session.outcome.as_ref().map(|outcome| outcome.outcome) {
        Some(OutcomeKind::Failed) => Exit::Failed,
        Some(OutcomeKind::Cancelled) => Exit::Cancelled,
        None if session.status == "interrupted" => Exit::Interrupted,
        Some(OutcomeKind::Completed) | None => Exit::Done,
    }
}

/// How a session ended, and what can be done next.
pub(crate) fn sentence(words: Words, session: &SessionView) -> Vec<String> {
    let id: &str = &session.id;
    let mut said = Vec::new();
    match &session.outcome {
        Some(Outcome { outcome: OutcomeKind::Completed, verified, .. }) => {
            let checked = words.sentence(match verified {
                true => Key::EndChecked,
                // A command has given nobody its word, and a loop is none of its agents.
                false if session.plain => Key::EndNoCheck,
                false => Key::EndUnchecked,
            });
            said.push(words.say(Key::EndDone, &[("session", &id), ("checked", &checked)]));
        }
        Some(Outcome { outcome: OutcomeKind::Failed, reason: why, .. }) => {
            said.push(words.say(Key::EndFailed, &[("session", &id), ("reason", &reason(words, why))]));
        }
        Some(Outcome { outcome: OutcomeKind::Cancelled, .. }) => {
            said.push(words.say(Key::EndCancelled, &[("session", &id)]));
        }
        None if session.status == "interrupted" => {
            said.push(words.say(Key::EndInterrupted, &[("session", &id)]));
            said.push(how_to_resume(words, session));
        }
        None => {}
    }
    said.extend(how_to_merge(words, session));
    said
}

/// Why a session that is over has failed, and what can be done with its work.
pub(crate) fn next_steps(words: Words, session: &SessionView) -> Vec<String> {
    let failed = session.outcome.as_ref().filter(|it| it.outcome == OutcomeKind::Failed);
    let why = failed.map(|it| reason(words, &it.reason));
    why.into_iter().chain(how_to_merge(words, session)).collect()
}

/// How an interrupted session goes on.
pub(crate) fn how_to_resume(words: Words, session: &SessionView) -> String {
    let key = if session.resumable { Key::ToResume } else { Key::NotResumable };
    words.say(key, &[("session", &session.id)])
}

/// Where the work of a session is put right that could not be merged, and which command comes next.
pub(crate) fn how_to_put_right(words: Words, session: &SessionView) -> Option<String> {
    let worktree = session.worktree.as_ref().filter(|it| it.state == "not_merged")?;
    let key = match (worktree.conflict, worktree.files.is_empty()) {
        (true, _) => Key::ResolveConflict,
        (false, false) => Key::CommitInTarget,
        (false, true) => Key::MergeAgain,
    };
    let target = worktree.target.as_deref().unwrap_or_default();
    let (path, root) = (one_line(&worktree.path), one_line(&session.project.root));
    let values: &[(&str, &dyn std::fmt::Display)] =
        &[("path", &path), ("root", &root), ("target", &target), ("session", &session.id)];
    Some(words.say(key, values))
}

/// How the work of a session that is over comes into its branch.
fn how_to_merge(words: Words, session: &SessionView) -> Option<String> {
    if let Some(said) = how_to_put_right(words, session) {
        return Some(said);
    }
    let worktree = session.worktree.as_ref().filter(|it| it.state == "made")?;
    session.outcome.as_ref()?;
    Some(words.say(Key::WorktreeHint, &[("branch", &worktree.branch), ("session", &session.id)]))
}

/// Why something failed: the engine's key with its parameters, said.
pub(crate) fn reason(words: Words, reason: &Value) -> String {
    let text = |name: &str| match &reason[name] {
        Value::String(text) => safe(text).into_owned(),
        Value::Null => "?".to_owned(),
        other => other.to_string(),
    };
    let say = |key: Key, names: &[&str]| {
        let values: Vec<(&str, String)> = names.iter().map(|name| (*name, text(name))).collect();
        let values: Vec<(&str, &dyn std::fmt::Display)> =
            values.iter().map(|(name, value)| (*name, value as &dyn std::fmt::Display)).collect();
        words.say(key, &values)
    };
    match reason["key"].as_str().unwrap_or_default() {
        "not_started" => say(Key::ReasonNotStarted, &["message"]),
        "exit_code" => say(Key::ReasonExitCode, &["code"]),
        "killed_by" => say(Key::ReasonKilledBy, &["signal"]),
        "agent_error" => say(Key::ReasonAgentError, &["message"]),
        "no_end" => say(Key::ReasonNoEnd, &[]),
        "rate_limited" => {
            let reset = match reason["reset_at_ms"].as_u64() {
                Some(at_ms) => words.say(Key::ReasonResetAt, &[("time", &clock::local(at_ms))]),
                None => words.sentence(Key::ReasonResetUnknown).to_owned(),
            };
            words.say(Key::ReasonRateLimited, &[("message", &text("message")), ("reset", &reset)])
        }
        "check_failed" => say(Key::ReasonCheckFailed, &["code", "attempts"]),
        "same_failure" => say(Key::ReasonSameFailure, &["times"]),
        "reported" => say(Key::ReasonReported, &["message"]),
        "time_over" => say(Key::ReasonTimeOver, &[]),
        "cost_over" => say(Key::ReasonCostOver, &[]),
        "tokens_over" => say(Key::ReasonTokensOver, &[]),
        "rejected" => say(Key::ReasonRejected, &["phase"]),
        "verifier_overdue" => say(Key::ReasonVerifierOverdue, &[]),
        "no_base" => say(Key::ReasonNoBase, &["message"]),
        "no_worktree" => say(Key::ReasonNoWorktree, &["message"]),
        _ => reason.to_string(),
    }
}

/// The end of what a check said that failed, without anything that a terminal would obey; nothing if it passed.
pub(crate) fn check_said(attempt: &Value) -> Vec<String> {
    let output = attempt["output"].as_str().filter(|_| attempt["code"] != 0).unwrap_or_default();
    let mut shown = Vec::new();
    Shown::new(false).push(output.as_bytes(), &mut shown);
    let shown = String::from_utf8_lossy(&shown);
    let lines: Vec<&str> = shown.trim_end().lines().map(str::trim_end).collect();
    let first = lines.len().saturating_sub(CHECK_LINES_MAX);
    lines[first..].iter().map(ToString::to_string).collect()
}

/// How a request was settled, said. A request that was withdrawn got no answer, and no answer was missing.
pub(crate) fn settled(words: Words, by: &str, given: &Value) -> String {
    match (given["answer"].as_str(), by) {
        (Some("nothing"), "change" | "end") => words.sentence(Key::AnswerWithdrawn).to_owned(),
        _ => answer(words, given),
    }
}

/// What settled a request, said.
pub(crate) fn answer(words: Words, answer: &Value) -> String {
    let text = |name: &str| answer[name].as_str().map(|it| safe(it).into_owned());
    let key = match answer["answer"].as_str().unwrap_or_default() {
        "text" => return text("text").unwrap_or_default(),
        "chosen" => {
            return format!("{}. {}", answer["number"], text("text").unwrap_or_default());
        }
        "remarked" => {
            return format!("{}. {}", text("text").unwrap_or_default(), text("remark").unwrap_or_default());
        }
        "path" => return text("path").unwrap_or_default(),
        "nothing" => Key::AnswerNothing,
        "approved" if answer["rule"].is_object() => {
            let is_chosen = answer["for_session"] == true;
            let key = if is_chosen { Key::AnswerApprovedRule } else { Key::AnswerByRule };
            return words.say(key, &[("rule", &rule(words, &answer["rule"]))]);
        }
        "approved" if answer["for_session"] == true => Key::AnswerApprovedSession,
        "approved" => Key::AnswerApproved,
        "denied" => match text("reason") {
            Some(reason) => return words.say(Key::AnswerDeniedBecause, &[("reason", &reason)]),
            None => Key::AnswerDenied,
        },
        "provided" => {
            let names = answer["names"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let names = safe(&names.collect::<Vec<_>>().join(", ")).into_owned();
            let is_reused = answer["reuse"] == true;
            let key = if is_reused { Key::AnswerProvidedReuse } else { Key::AnswerProvided };
            return words.say(key, &[("names", &names)]);
        }
        "skipped" => match text("default") {
            Some(default) => return words.say(Key::AnswerUsesDefault, &[("default", &default)]),
            None => Key::AnswerSkipped,
        },
        "go_on" => match text("words") {
            Some(words) => return words,
            None => Key::AnswerGoOn,
        },
        "tree_approved" => {
            return words.say(Key::AnsweredApproved, &[("tree", &text("tree").unwrap_or_default())]);
        }
        "changes" => {
            return words.say(Key::AnsweredChanges, &[("words", &text("words").unwrap_or_default())]);
        }
        "rejected" => Key::AnsweredRejected,
        "again" => Key::AnsweredAgain,
        "raised" => Key::AnswerRaised,
        "retry" => Key::AnswerRetry,
        "fail" => Key::AnswerFail,
        _ => return answer.to_string(),
    };
    words.sentence(key).to_owned()
}

/// What a rule of an answer allows.
fn rule(words: Words, rule: &Value) -> String {
    let text = |name: &str| rule[name].as_str().unwrap_or_default().to_owned();
    let shown = match text("scope").as_str() {
        "call" => {
            let fields: Vec<&Value> =
                rule["input"].as_object().into_iter().flat_map(|it| it.values()).collect();
            match fields.as_slice() {
                [Value::String(only)] => only.clone(),
                _ => rule["input"].to_string(),
            }
        }
        "prefix" => format!("{} …", text("prefix")),
        "file" => text("path"),
        "directory" => text("directory"),
        _ => text("tool"),
    };
    let (scope, tool) = (text("scope"), text("tool"));
    permission::said(words, &RuleView { option: String::new(), scope, tool, text: shown })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::words::Language;

    #[test]
    fn every_reason_has_its_sentence() {
        let words = Words::new(Language::En);
        for (why, said) in [
            (json!({"key": "exit_code", "code": 3}), "its exit code was 3"),
            (json!({"key": "killed_by", "signal": 9}), "signal 9 ended it"),
            (json!({"key": "agent_error", "message": "no\u{1b} key"}), "its CLI reports: no key"),
            (
                json!({"key": "rate_limited", "reset_at_ms": null, "message": "weekly"}),
                "its account has hit a limit (weekly); it is not known when that resets",
            ),
            (
                json!({"key": "check_failed", "code": 1, "attempts": 10}),
                "the check failed with exit code 1 in attempt 10",
            ),
            (json!({"key": "new_one"}), r#"{"key":"new_one"}"#),
        ] {
            assert_eq!(reason(words, &why), said);
        }
    }

    #[test]
    fn a_check_that_failed_is_shown_by_its_end() {
        let lines: Vec<String> = (1..=12).map(|n| format!("line {n}\u{1b}[31m")).collect();
        let output = lines.join("\n");
        let said = check_said(&json!({"code": 1, "output": output}));
        assert_eq!((said.len(), said[0].as_str(), said[9].as_str()), (10, "line 3", "line 12"));
        assert_eq!(check_said(&json!({"code": 0, "output": "all is well"})), [""; 0]);
        assert_eq!(check_said(&json!({"code": 1, "output": ""})), [""; 0]);
    }

    #[test]
    fn every_answer_has_its_words() {
        let words = Words::new(Language::En);
        for (given, said) in [
            (json!({"answer": "text", "text": "MySQL"}), "MySQL"),
            (json!({"answer": "approved", "for_session": true}), "approved for this session"),
            (json!({"answer": "remarked", "text": "No", "remark": "not today"}), "No. not today"),
            (json!({"answer": "denied", "reason": "use the other one"}), "denied: use the other one"),
            (json!({"answer": "go_on", "words": null}), "go on"),
            (json!({"answer": "nothing"}), "nobody answered"),
            (json!({"answer": "provided", "names": ["A", "B"], "reuse": false}), "A, B given"),
            (json!({"answer": "skipped", "default": "x"}), "the default: x"),
            (json!({"answer": "skipped", "default": null}), "skipped"),
        ] {
            assert_eq!(answer(words, &given), said);
            assert_eq!(settled(words, "person", &given), said);
        }
        for (by, said) in [
            ("expiry", "nobody answered"),
            ("change", "no answer is needed any more"),
            ("end", "no answer is needed any more"),
        ] {
            assert_eq!(settled(words, by, &json!({"answer": "nothing"})), said);
        }
    }
}
