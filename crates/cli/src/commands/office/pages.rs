//! One call, or one result, in full: what `ostler show i_4` and `ostler show d_2` print.

use ostler_server::{
    api::{InvocationStatus, InvocationView, ResultView},
    client::Client,
};

use super::call_state;
use crate::{
    clock,
    context::Context,
    error::Error,
    exit::Exit,
    screen::{Cell, Screen, Style, one_line, safe},
    words::{Key, Words},
};

/// Shows a call or a result, if that is what an id names.
pub(crate) async fn show(context: &Context, client: &Client, id: &str) -> Result<Option<Exit>, Error> {
    let words = context.words;
    let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    if id.strip_prefix("i_").is_some_and(is_number) {
        let call: InvocationView = client.get(&format!("/invocations/{id}")).await?;
        context.print(&call, |screen| call_page(words, screen, &call))?;
    } else if id.strip_prefix("d_").is_some_and(is_number) {
        let result: ResultView = client.get(&format!("/results/{id}")).await?;
        context.print(&result, |screen| result_page(words, screen, &result))?;
    } else {
        return Ok(None);
    }
    Ok(Some(Exit::Done))
}

fn fields(words: Words, screen: Screen, fields: &[(Key, String)]) -> String {
    let shown = fields.iter().filter(|(_, value)| !value.is_empty());
    let rows: Vec<Vec<Cell>> = shown
        .map(|(key, value)| vec![Cell::styled(Style::Dim, words.sentence(*key)), Cell::new(value)])
        .collect();
    screen.fields(&rows)
}

fn text(said: &mut String, text: &str) {
    if !text.is_empty() {
        said.push('\n');
        said.push_str(safe(text).trim_end());
        said.push('\n');
    }
}

fn call_page(words: Words, screen: Screen, call: &InvocationView) -> String {
    let (key, style) = call_state(call.status);
    let mut said = format!(
        "{}  {}  {} → {}\n",
        screen.style(Style::Bold, &call.id),
        screen.style(style, words.sentence(key)),
        one_line(&call.caller),
        one_line(&call.callee),
    );
    let seat = call.seat.as_deref().unwrap_or("-");
    said.push_str(&fields(
        words,
        screen,
        &[
            (Key::ColumnWhen, clock::local(call.opened_at_ms)),
            (Key::ColumnUntil, call.ended_at_ms.map(clock::local).unwrap_or_default()),
            (Key::ColumnSession, format!("{} → {seat}", call.session)),
            (Key::ColumnRun, call.run.clone()),
            (Key::CallResult, call.result.clone().unwrap_or_default()),
            (
                Key::ColumnWhy,
                call.why.clone().filter(|_| call.status == InvocationStatus::Failed).unwrap_or_default(),
            ),
            (Key::CallContext, call.context.as_deref().map(one_line).unwrap_or_default()),
        ],
    ));
    text(&mut said, &call.task);
    text(&mut said, call.words.as_deref().unwrap_or_default());
    said
}

fn result_page(words: Words, screen: Screen, result: &ResultView) -> String {
    let key = if result.delivered { Key::ResultDelivered } else { Key::ResultPending };
    let mut said = format!(
        "{}  {}  {} → {}\n",
        screen.style(Style::Bold, &result.id),
        words.sentence(key),
        one_line(&result.from),
        one_line(&result.to),
    );
    let file = result.file.as_ref().map(|file| match result.bytes {
        Some(bytes) => format!("{} ({bytes} B)", one_line(file)),
        None => one_line(file),
    });
    said.push_str(&fields(
        words,
        screen,
        &[
            (Key::ColumnWhen, clock::local(result.given_at_ms)),
            (Key::ColumnWhat, result.kind.clone()),
            (Key::CallOfResult, result.invocation.clone().unwrap_or_default()),
            (Key::ColumnRun, result.run.clone()),
            (Key::LabelFiles, file.unwrap_or_default()),
        ],
    ));
    text(&mut said, &result.content);
    if !result.whole {
        said.push_str("…\n");
    }
    said
}
