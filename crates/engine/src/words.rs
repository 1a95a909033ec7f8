//! What Ostler says to an agent, in the agent's own form and language.

pub(crate) mod back;
pub(crate) mod office;
pub(crate) mod phases;

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use ostler_agents::{Decision, InputWay};
use ostler_protocol::{
    mask::numbered,
    reply::{DependencyProvided, QuestionAnswer, Reply},
    signal::{DependencyRequest, DependencyType},
};

use crate::{
    answer::Answer,
    checkpoint::{Rewind, RewindWay},
    event::Parcel,
    input_id,
    request::{Ask, Request},
    session::Session,
    told::{self, Long},
};

/// Why an agent is ended that asks for more than anybody can settle.
pub(crate) fn flood(korean: bool, max: usize) -> String {
    if korean {
        format!("답을 기다리지 않고 {max}개가 넘는 요청을 열어 두었거나, 읽지 않은 말이 {max}개를 넘었습니다")
    } else {
        format!("it has {max} open requests, or {max} messages that it has not read, and prints more")
    }
}

/// The bytes that go to an agent's input; where its terminal would cut them, what they are made of.
pub(crate) fn input(
    session: &Session,
    launch: u32,
    parcel: Parcel,
    request: Option<&Request>,
) -> (String, Option<Long>) {
    let agent = &session.order.agent;
    let (text, is_line) = match said(session, parcel, request) {
        Said::Bytes(bytes) => return (bytes, None),
        Said::Line(line) => (line, true),
        Said::Words(words) => (words, false),
    };
    let bytes = match agent.message(&text, &input_id::of_parcel(session.id, launch, parcel)) {
        Some(message) if !is_line => message,
        _ => format!("{}\n", text.trim_end_matches('\n')),
    };
    if told::fits(agent, &bytes) {
        return (bytes, None);
    }
    (text, Some(if is_line { Long::Line } else { Long::Words }))
}

/// What is written to an agent's input.
enum Said {
    /// Something that only its CLI understands.
    Bytes(String),
    /// An object in JSON.
    Line(String),
    /// Words, which its table may wrap.
    Words(String),
}

fn said(session: &Session, parcel: Parcel, request: Option<&Request>) -> Said {
    let agent = &session.order.agent;
    if let Some((request, answer)) = request.and_then(|it| Some((it, &it.settled.as_ref()?.answer))) {
        if let Ask::Permission(asked) = &request.ask {
            let korean = session.order.korean;
            let decision = match answer {
                // Rules of a session are kept here: what a CLI was told could not be taken back, and would end with its
                // process.
                Answer::Approved { .. } => Decision::Allow,
                Answer::Denied { reason: Some(reason) } => Decision::Deny(reason),
                _ if korean => Decision::Deny("사람이 허락하지 않았습니다."),
                _ => Decision::Deny("A person did not allow it."),
            };
            if let Some(line) = agent.permission_reply(asked, decision) {
                return Said::Bytes(line);
            }
        }
        let is_late = request.settled.as_ref().is_some_and(|settled| settled.late);
        if agent.input.way == InputWay::Line && !is_late && parcel == Parcel::Request(request.id) {
            return line(session, request, answer);
        }
    }
    let words = sentence(session, parcel, request);
    let message = session.messages.iter().find(|message| parcel == Parcel::Message(message.id));
    let is_ours = message.is_some_and(|message| !message.personal && message.about.is_none());
    if agent.input.way == InputWay::Line && is_ours && told::object(&words).is_some() {
        return Said::Line(words);
    }
    Said::Words(words)
}

/// The line that a program reads: a reply in JSON, or the bare words.
fn line(session: &Session, request: &Request, answer: &Answer) -> Said {
    match (&request.ask, answer) {
        (
            Ask::Question(_),
            Answer::Text { .. }
            | Answer::Chosen { .. }
            | Answer::Remarked { .. }
            | Answer::Skipped { .. }
            | Answer::Nothing,
        ) => {
            let (answer, option) = match answer {
                Answer::Text { text } | Answer::Remarked { text, .. } => (Some(text.clone()), None),
                Answer::Chosen { text, number } => (Some(text.clone()), Some(*number)),
                _ => (None, None),
            };
            let question_id = request.id.to_string();
            Said::Line(Reply::QuestionAnswer(QuestionAnswer { question_id, answer, option }).encode())
        }
        (Ask::Dependency(dependency), answer) => {
            let get = getting(session, request).filter(|_| answer.gives_values());
            let reply = DependencyProvided { get, ..provided(dependency, request, answer) };
            Said::Line(Reply::DependencyProvided(reply).encode())
        }
        (_, Answer::Text { text } | Answer::Remarked { text, .. }) => Said::Words(text.clone()),
        (_, Answer::Chosen { text, number }) => Said::Words(numbered(*number, text, session.order.korean)),
        _ => Said::Words(sentence(session, Parcel::Request(request.id), Some(request))),
    }
}

/// The command that prints a value, for the process that has asked for it and runs on.
fn getting(session: &Session, request: &Request) -> Option<String> {
    let Ask::Dependency(dependency) = &request.ask else { return None };
    let name = &dependency.name;
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    let runs_on = session.live().is_some_and(|live| live.number == request.launch);
    let is_service = dependency.dependency_type == DependencyType::Service;
    let service = if is_service { " --type service" } else { "" };
    (request.ask.wants_values() && is_plain && runs_on).then(|| format!("ostler need {name}{service}"))
}

/// What became of a dependency.
fn provided(dependency: &DependencyRequest, request: &Request, answer: &Answer) -> DependencyProvided {
    let mut reply = DependencyProvided {
        request_id: request.id.to_string(),
        name: dependency.name.clone(),
        dependency_type: dependency.dependency_type,
        provided: true,
        path: None,
        approved: None,
        installed: None,
        default_used: None,
        get: None,
        reason: None,
    };
    let is_decided =
        matches!(dependency.dependency_type, DependencyType::Permission | DependencyType::Package);
    match answer {
        Answer::Path { path } => reply.path = Some(path.clone()),
        Answer::Approved { .. } => {
            reply.approved = Some(true);
            if let Some(install) = &request.install {
                reply.provided = install.installed;
                reply.installed = Some(install.installed);
                reply.reason.clone_from(&install.reason);
            }
        }
        Answer::Denied { reason } => {
            reply.provided = false;
            reply.approved = is_decided.then_some(false);
            reply.reason.clone_from(reason);
        }
        Answer::Skipped { default } => {
            reply.provided = default.is_some();
            reply.default_used = default.as_ref().map(|_| true);
            reply.approved = is_decided.then_some(false);
            if dependency.dependency_type == DependencyType::File {
                reply.path.clone_from(default);
            }
            if default.is_none() {
                reply.reason = Some("skipped".to_string());
            }
        }
        Answer::Nothing => reply.provided = false,
        _ => {}
    }
    reply
}

/// What came of something, as a person would say it.
pub(crate) fn sentence(session: &Session, parcel: Parcel, request: Option<&Request>) -> String {
    let korean = session.order.korean;
    let Some(request) = request else {
        let Parcel::Message(id) = parcel else { return String::new() };
        let message = session.messages.iter().find(|message| message.id == id);
        return message.map(|message| message.text.clone()).unwrap_or_default();
    };
    let asked = asked(&request.ask);
    let Some(settled) = request.settled.as_ref().filter(|_| matches!(parcel, Parcel::Request(_))) else {
        return if korean {
            format!("질문 \"{asked}\"에 아무도 답하지 않았습니다. 스스로 판단해서 계속하세요.")
        } else {
            format!("Nobody answered your question \"{asked}\". Go on as you think best.")
        };
    };
    match (&settled.answer, korean) {
        (Answer::Text { text }, _) => answered(korean, settled.late, &asked, text),
        (Answer::Chosen { text, number }, _) => {
            answered(korean, settled.late, &asked, &numbered(*number, text, korean))
        }
        (Answer::Remarked { text, remark }, _) => {
            answered(korean, settled.late, &asked, &format!("{text}. {remark}"))
        }
        (Answer::Nothing, false) => {
            format!("Nobody answered your question \"{asked}\". Go on as you think best.")
        }
        (Answer::Nothing, true) => {
            format!("질문 \"{asked}\"에 아무도 답하지 않았습니다. 스스로 판단해서 계속하세요.")
        }
        (Answer::Approved { .. }, _) if request.install.is_some() => installed(request, &asked, korean),
        (Answer::Approved { .. }, false) => format!("Approved: {asked}"),
        (Answer::Approved { .. }, true) => format!("승인됨: {asked}"),
        (Answer::Provided { names, .. }, _) => given(session, request, &asked, names),
        (Answer::Skipped { default }, _) => skipped(&request.ask, &asked, default.as_deref(), korean),
        (Answer::Denied { reason }, false) => with_reason("Denied", &asked, reason.as_deref()),
        (Answer::Denied { reason }, true) => with_reason("거부됨", &asked, reason.as_deref()),
        (Answer::Path { path }, false) => format!("The file you asked for ({asked}) is at {path}"),
        (Answer::Path { path }, true) => format!("요청한 파일({asked})의 위치: {path}"),
        (Answer::GoOn { words }, _) => words.clone().unwrap_or_default(),
        (Answer::Retry, false) => "Try again.".to_string(),
        (Answer::Retry, true) => "다시 시도하세요.".to_string(),
        (Answer::Changes { words }, _) => words.clone(),
        (
            Answer::Raised { .. }
            | Answer::Fail
            | Answer::TreeApproved { .. }
            | Answer::Rejected { .. }
            | Answer::Again,
            _,
        ) => String::new(),
    }
}

fn given(session: &Session, request: &Request, asked: &str, names: &[String]) -> String {
    let names = names.join(", ");
    match (getting(session, request), session.order.korean) {
        (None, false) => format!("What you asked for ({asked}) is in your environment now, as {names}."),
        (None, true) => format!("요청한 것({asked})은 이제 환경 변수 {names}에 있습니다."),
        (Some(get), false) => format!(
            "What you asked for ({asked}) is there now, as {names}: in the environment of new shells, and by `{get}`."
        ),
        (Some(get), true) => {
            format!(
                "요청한 것({asked})이 {names}(으)로 준비되었습니다. 새 셸의 환경에 있고, `{get}`(으)로도 읽을 수 있습니다."
            )
        }
    }
}

fn skipped(ask: &Ask, asked: &str, default: Option<&str>, korean: bool) -> String {
    let is_question = matches!(ask, Ask::Question(_) | Ask::AskUser(_));
    match (default, korean) {
        (Some(default), false) => format!("Nobody gave \"{asked}\". Use the default: {default}"),
        (Some(default), true) => {
            format!("\"{asked}\"은(는) 주어지지 않았습니다. 기본값을 쓰세요: {default}")
        }
        (None, false) if is_question => {
            format!("The person declined to answer \"{asked}\". Go on as you think best.")
        }
        (None, true) if is_question => {
            format!("질문 \"{asked}\"에 답하지 않기로 했습니다. 스스로 판단해서 계속하세요.")
        }
        (None, false) => format!("Go on without \"{asked}\"."),
        (None, true) => format!("\"{asked}\" 없이 계속하세요."),
    }
}

fn answered(korean: bool, late: bool, asked: &str, text: &str) -> String {
    match (late, korean) {
        (true, false) => format!("Late answer to \"{asked}\": {text}"),
        (true, true) => format!("\"{asked}\"에 대한 늦은 답: {text}"),
        (false, false) => format!("Answer to your question \"{asked}\": {text}"),
        (false, true) => format!("질문 \"{asked}\"에 대한 답: {text}"),
    }
}

fn installed(request: &Request, asked: &str, korean: bool) -> String {
    let Some(install) = &request.install else { return String::new() };
    match (install.installed, korean) {
        (true, false) => format!("Approved and installed: {asked}"),
        (true, true) => format!("승인되어 설치됨: {asked}"),
        (false, false) => with_reason("Approved, but not installed", asked, install.reason.as_deref()),
        (false, true) => with_reason("승인되었지만 설치되지 않음", asked, install.reason.as_deref()),
    }
}

fn with_reason(what: &str, asked: &str, reason: Option<&str>) -> String {
    reason.map_or_else(|| format!("{what}: {asked}"), |reason| format!("{what}: {asked}. {reason}"))
}

fn asked(ask: &Ask) -> String {
    match ask {
        Ask::Question(question) => question.question.clone(),
        Ask::AskUser(ask) => ask.question.clone(),
        Ask::Dependency(dependency) => dependency.name.clone(),
        Ask::Error(error) => error.message.clone(),
        Ask::Fault(fault) => fault.details.clone(),
        Ask::Permission(permission) => permission.tool.clone(),
        Ask::Stall { reason } => reason.clone(),
        Ask::Steered { .. }
        | Ask::TimeOver { .. }
        | Ask::CostOver { .. }
        | Ask::TokensOver { .. }
        | Ask::Review(_) => String::new(),
    }
}

/// Something that is said once more, because nothing proves that the conversation holds it.
pub(crate) fn repeated(korean: bool, text: &str) -> String {
    let mark = if korean {
        "(다시 전달합니다. 이미 읽은 내용일 수 있습니다.)"
    } else {
        "(Repeated: you may have read this already.)"
    };
    format!("{mark}\n{text}")
}

/// The prompt with which a conversation goes on.
pub(crate) fn go_on(korean: bool, was_lost: bool, texts: &[String], prompt: Option<&str>) -> String {
    let mut parts: Vec<&str> = Vec::new();
    if was_lost {
        parts.push(if korean {
            "작업이 중단되었다가 다시 시작되었습니다."
        } else {
            "You were interrupted."
        });
    }
    parts.extend(texts.iter().map(String::as_str));
    parts.extend(prompt);
    if texts.is_empty() && prompt.is_none() {
        parts.push(if korean { "하던 일을 계속하세요." } else { "Go on where you were." });
    }
    parts.join("\n\n")
}

/// That files are as they were at an earlier moment. Who remembers no more than that moment is told only this.
pub(crate) fn restored(korean: bool, rewind: &Rewind) -> String {
    let sentence = match (&rewind.way, korean) {
        (RewindWay::To { .. }, false) => "The files are as they were at this point of our conversation.",
        (RewindWay::To { .. }, true) => "파일은 대화의 이 시점에 있던 상태 그대로입니다.",
        (RewindWay::Anew { .. }, false) => {
            "You have worked on this before. The files were brought back to an earlier state of that work; look at \
             what is there before you go on."
        }
        (RewindWay::Anew { .. }, true) => {
            "이전에 이 작업을 한 적이 있습니다. 파일은 그 작업의 이전 상태로 되돌려졌으니, 계속하기 전에 현재 상태를 확인하세요."
        }
    };
    sentence.to_string()
}

/// The prompt with which an agent begins again from nothing.
pub(crate) fn begin_again(session: &Session, texts: &[String], prompt: Option<&str>) -> String {
    joined([session.order.prompt.as_str()].into_iter().chain(texts.iter().map(String::as_str)).chain(prompt))
}

/// The parts of a prompt, one below the other. A plain command has no first prompt, and no gap in its place.
fn joined<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// What a check that took too long has said, behind the word that it did.
pub(crate) fn overdue(korean: bool, time_ms_max: u64, output: &str) -> String {
    let seconds = time_ms_max / 1000;
    let time = match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, 0) => format!("{minutes}m"),
        (0, minutes, seconds) => format!("{minutes}m {seconds}s"),
        (hours, 0, _) => format!("{hours}h"),
        (hours, minutes, _) => format!("{hours}h {minutes}m"),
    };
    let sentence = if korean {
        format!("검사가 {time} 안에 끝나지 않아 중단되었습니다.")
    } else {
        format!("The check was ended because it took longer than {time}.")
    };
    if output.is_empty() { sentence } else { format!("{}\n{sentence}", output.trim_end()) }
}

/// The prompt with which an agent goes on whose last process was ended by a limit. What that one was told is said
/// again if it may not have been heard.
pub(crate) fn after_limit(session: &Session, fresh: bool, texts: &[String]) -> String {
    let Some(last) = session.launches.last() else { return session.order.prompt.clone() };
    let first = match (session.order.korean, repeats_prompt(session, fresh)) {
        (false, false) => "The usage limit is over. Go on where you were.",
        (true, false) => "사용량 제한이 풀렸습니다. 하던 일을 계속하세요.",
        (_, true) => last.prompt.as_str(),
    };
    joined([first].into_iter().chain(texts.iter().map(String::as_str)))
}

/// Whether an agent whose last process was ended by a limit is given the prompt of that process again.
pub(crate) fn repeats_prompt(session: &Session, fresh: bool) -> bool {
    let last = session.launches.last();
    let was_heard = last.and_then(|last| last.used.output_tokens).is_some_and(|tokens| tokens > 0);
    fresh || !was_heard
}

/// The prompt after a failed check.
pub(crate) fn attempt(session: &Session, check: &str, fresh: bool, texts: &[String]) -> String {
    let Some(last) = session.attempts.last() else { return session.order.prompt.clone() };
    let code = last.code.unwrap_or_default();
    let output = last.output.trim_end();
    let failure = match (session.order.korean, check.is_empty() || last.code.is_none()) {
        (false, false) => {
            format!("The work is not done: `{check}` failed with exit code {code}:\n\n{output}")
        }
        (true, false) => {
            format!("작업이 끝나지 않았습니다. `{check}`가 종료 코드 {code}로 실패했습니다:\n\n{output}")
        }
        (false, true) => "The last attempt failed. Try again.".to_string(),
        (true, true) => "지난 시도가 실패했습니다. 다시 시도하세요.".to_string(),
    };
    let first = fresh.then_some(session.order.prompt.as_str());
    joined(first.into_iter().chain([failure.as_str()]).chain(texts.iter().map(String::as_str)))
}
