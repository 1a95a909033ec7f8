//! What agents of an office are told about each other, in the language of who reads it.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use ostler_agents::Output;
use ostler_protocol::{
    guard_task,
    signal::{QuestionCategory, UserQuestion},
};

use crate::{
    InvocationId,
    office::{DEPTH_MAX, Handover, Invocation, OPEN_MAX, Reference},
    session::Order,
};

/// What somebody is called for.
pub(crate) fn task(korean: bool, call: &Invocation) -> String {
    let caller = &call.caller;
    let head =
        if korean { format!("[작업 요청 from {caller}]") } else { format!("[Task from {caller}]") };
    if let Some(reference) = &call.reference {
        return format!("{head}\n{}", read_file(korean, reference));
    }
    let task = guard_task(call.task.trim_end());
    match (&call.context, korean) {
        (None, _) => format!("{head}\n{task}"),
        (Some(context), false) => format!("{head}\n{task}\nContext: {context}"),
        (Some(context), true) => format!("{head}\n{task}\n컨텍스트: {context}"),
    }
}

/// What somebody is brought.
pub(crate) fn result(korean: bool, given: &Handover) -> String {
    let head = result_head(korean, &given.from);
    let head = match (given.late, korean) {
        (false, _) => head,
        (true, false) => format!("{head} (late)"),
        (true, true) => format!("{head} (늦음)"),
    };
    match (given.copy(), &given.reference) {
        (Some(copy), _) => format!("{head}\n{}", copy.path),
        (None, Some(reference)) => format!("{head}\n{}", read_file(korean, reference)),
        (None, None) => format!("{head}\n{}", given.content),
    }
}

/// What ends a result for a program that reads its input line by line and cannot know otherwise where the result ends.
/// Agents with a structured stream get it as one message.
pub(crate) fn with_end(order: &Order, text: &str) -> String {
    match (&order.agent.output, order.korean) {
        (Output::Table(_), _) => text.to_string(),
        (Output::Text, false) => format!("{}\n[/Result]", text.trim_end_matches('\n')),
        (Output::Text, true) => format!("{}\n[/결과 수신]", text.trim_end_matches('\n')),
    }
}

fn result_head(korean: bool, from: &str) -> String {
    if korean { format!("[결과 수신 from {from}]") } else { format!("[Result from {from}]") }
}

fn no_result_head(korean: bool, from: &str) -> String {
    if korean { format!("[결과 없음 from {from}]") } else { format!("[No result from {from}]") }
}

pub(crate) fn read_file(korean: bool, Reference { path, bytes, sha256 }: &Reference) -> String {
    if korean {
        format!("내용이 길어 파일에 있습니다. 전부 읽으세요: {path} ({bytes}바이트, SHA-256 {sha256})")
    } else {
        format!("It is long and stands in a file. Read all of it: {path} ({bytes} bytes, SHA-256 {sha256})")
    }
}

/// That somebody is through with what it was called for, and brings nothing.
pub(crate) fn done(korean: bool, callee: &str, said: Option<&str>) -> String {
    let words = match (said, korean) {
        (Some(said), _) => said.to_string(),
        (None, false) => format!("{callee} is done, without a result."),
        (None, true) => format!("{callee}이(가) 결과 없이 작업을 마쳤습니다."),
    };
    format!("{}\n{words}", result_head(korean, callee))
}

/// That somebody will not do what it was called for.
pub(crate) fn not_done(korean: bool, callee: &str, why: &str) -> String {
    format!("{}\n{why}", no_result_head(korean, callee))
}

pub(crate) fn failed(korean: bool, callee: &str, reason: Option<&str>) -> String {
    match (reason, korean) {
        (None, false) => format!("{callee} has failed."),
        (None, true) => format!("{callee}이(가) 실패했습니다."),
        (Some(reason), false) => format!("{callee} has failed: {reason}"),
        (Some(reason), true) => format!("{callee}이(가) 실패했습니다: {reason}"),
    }
}

pub(crate) fn lost(korean: bool, callee: &str) -> String {
    if korean {
        format!("{callee}의 프로세스가 사라졌고, 다음 프로세스는 이 작업을 모릅니다.")
    } else {
        format!("The process of {callee} was lost, and the next one would know nothing of this.")
    }
}

pub(crate) fn unread(korean: bool, callee: &str) -> String {
    if korean {
        format!("{callee}이(가) 작업 요청을 읽지 않고 계속 끝났습니다.")
    } else {
        format!("{callee} ended again and again without reading what it was called for.")
    }
}

pub(crate) fn unknown(korean: bool, callee: &str, roles: &[String]) -> String {
    let roles = roles.join(", ");
    if korean {
        format!("{callee}(이)라는 에이전트가 없습니다. 있는 에이전트: {roles}")
    } else {
        format!("There is no agent {callee}. There are: {roles}")
    }
}

pub(crate) fn bad_role(korean: bool, callee: &str, why: &str) -> String {
    if korean {
        format!("{callee} 역할을 쓸 수 없습니다: {why}")
    } else {
        format!("The role {callee} cannot be used: {why}")
    }
}

/// That a call would have made everybody wait for the next.
pub(crate) fn cycle(korean: bool, path: &[String]) -> String {
    let path = path.join(" → ");
    if korean {
        format!("서로를 기다리게 되므로 호출하지 않았습니다: {path}")
    } else {
        format!("The call was not made, because everybody would wait for the next: {path}")
    }
}

/// The same to who is in it and has called before: whose call was not made, and that their own are not touched by it.
pub(crate) fn cycle_of_others(korean: bool, path: &[String], name: &str, calls: &[InvocationId]) -> String {
    let (from, to) = (path.first().map_or("", String::as_str), path.get(1).map_or("", String::as_str));
    let is_you = to == name;
    let calls = calls.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let path = path.join(" → ");
    if korean {
        let to = if is_you { "당신" } else { to };
        format!(
            "{from}이(가) {to}을(를) 호출하려 했지만, 서로를 기다리게 되므로 그 호출은 하지 않았습니다: {path}. \
             당신의 호출 {calls}은(는) 계속됩니다."
        )
    } else {
        let to = if is_you { "you" } else { to };
        format!(
            "{from} wanted to call {to}. That call was not made, because everybody would wait for the next: \
             {path}. Your call {calls} goes on."
        )
    }
}

pub(crate) fn too_deep(korean: bool) -> String {
    if korean {
        format!("호출은 {DEPTH_MAX}단계까지만 이어질 수 있습니다.")
    } else {
        format!("Calls may go {DEPTH_MAX} deep, and this would be one more.")
    }
}

pub(crate) fn too_many(korean: bool) -> String {
    if korean {
        format!("한 번에 열어 둘 수 있는 호출은 {OPEN_MAX}개까지입니다. 결과를 기다리세요.")
    } else {
        format!("At most {OPEN_MAX} calls may be open at once. Wait for a result.")
    }
}

/// To who called: that a person has stopped what it repeats.
pub(crate) fn repeated(korean: bool, callee: &str) -> String {
    if korean {
        format!(
            "{callee}을(를) 같은 내용으로 거듭 호출했지만 새로운 결과가 없어 사람이 이 호출을 중단했습니다. 다른 방법을 쓰거나 사용자에게 물어보세요."
        )
    } else {
        format!(
            "A person stopped this call: the same call of {callee} brought nothing new again and again. Do something \
             else, or ask the user."
        )
    }
}

/// Whether a call that is repeated is made once more.
pub(crate) fn repeated_question(
    korean: bool,
    call: &Invocation,
    role: &str,
    times: u32,
    options: Vec<String>,
) -> UserQuestion {
    let Invocation { id, caller, task, .. } = call;
    let task = beginning(task);
    let question = if korean {
        format!(
            "{caller}이(가) 같은 내용으로 {role}을(를) {times}번 호출했지만 새로운 것이 없었습니다({id}). 다시 호출할까요?\n\
             작업: {task}\n\
             continue: 호출합니다. {times}번 더 되풀이되면 다시 묻습니다. stop: 호출하지 않고 {caller}에게 알립니다. \
             기다리는 {role} 호출이 더 있으면 모두에 적용됩니다."
        )
    } else {
        format!(
            "{caller} has called {role} {times} times with the same words, and nothing new came of it. Make the call \
             again ({id})?\n\
             Task: {task}\n\
             continue: make it, and ask again after {times} more. stop: do not make it, and tell {caller} so. \
             The answer counts for every call to {role} that waits by then."
        )
    };
    UserQuestion { category: QuestionCategory::Choice, question, options, default: None, required: true }
}

/// As much of a text as a question has room for.
fn beginning(text: &str) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = line.char_indices().nth(QUOTED_CHARS_MAX) {
        line.truncate(end);
        line.push('…');
    }
    line
}

/// How much of a task a question quotes.
const QUOTED_CHARS_MAX: usize = 200;

pub(crate) fn marked(korean: bool, callee: &str) -> String {
    if korean {
        format!(
            "이 호출은 다른 누군가가 쓴 글에도 있으므로 하지 않았습니다. 정말 필요하면 `ostler invoke {callee} \"…\"`을 쓰세요."
        )
    } else {
        format!(
            "The call was not made, because it also stands in a text that somebody else may have written. If you mean \
             it, use `ostler invoke {callee} \"…\"`."
        )
    }
}

/// To who was called: that nobody waits for it any more.
pub(crate) fn not_wanted(korean: bool, call: &Invocation) -> String {
    let Invocation { id, caller, .. } = call;
    if korean {
        format!("{caller}이(가) 맡긴 작업({id})은 이제 아무도 기다리지 않습니다.")
    } else {
        format!("Nobody waits any more for what {caller} called you for ({id}).")
    }
}

/// To who called: that a person has taken it back.
pub(crate) fn cancelled(korean: bool, callee: &str) -> String {
    if korean {
        format!("{callee}에 대한 호출이 취소되었습니다.")
    } else {
        format!("The call of {callee} was cancelled.")
    }
}

/// That a result did not go anywhere.
pub(crate) fn not_delivered(korean: bool, to: &str, why: &str) -> String {
    if korean {
        format!("{to}에게 결과를 전달하지 못했습니다: {why}")
    } else {
        format!("Your result for {to} was not delivered: {why}")
    }
}

/// Why a printed result did not go anywhere that is longer than the parser takes, and what can be done about it.
pub(crate) fn too_long(korean: bool, to: &str, limit: &str) -> String {
    if korean {
        let limit = limit.replace(" bytes", "바이트").replace(" lines", "줄");
        format!(
            "출력한 결과가 {limit}보다 깁니다. `ostler deliver {to} --stdin < 파일`을 쓰거나, 파일에 적고 `타입: file_path`로 그 \
             경로를 전달하세요."
        )
    } else {
        format!(
            "what is printed may have {limit}. Use `ostler deliver {to} --stdin < FILE`, or write it to a file and bring \
             its path with `type: file_path`."
        )
    }
}

/// Why a result is not that of the call that was named.
pub(crate) fn no_such_task(korean: bool, named: InvocationId, to: &str) -> String {
    if korean {
        format!("{named}은(는) {to}이(가) 당신에게 맡긴 열린 호출이 아닙니다")
    } else {
        format!("{named} is no open call of {to} that you work on")
    }
}

#[cfg(test)]
mod tests;
