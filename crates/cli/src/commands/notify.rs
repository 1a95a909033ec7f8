//! `ostler notify`: who is told what needs you, how that goes, and whether it arrives.

use clap::{Args, Subcommand};
use ostler_server::{
    api::{NotificationsView, NotifyChannelView, NotifyState, NotifyTestView, NotifyType},
    client::encoded,
};
use serde_json::json;

use crate::{
    clock,
    context::{Context, talk},
    error::Error,
    exit::Exit,
    screen::{Cell, Screen, Style, add_line, one_line},
    words::{Key, Words},
};

/// See who is notified of what, and try it.
///
/// Your own configuration says who: `[[notify]]`, in docs/notifications.md. Addresses and tokens are never shown.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the channels, and how it goes with each.
    List,
    /// Send a test to a channel, and say whether it has arrived.
    Test {
        /// Its name.
        #[arg(value_name = "NAME")]
        name: String,
    },
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let words = context.words;
    match &arguments.command {
        Command::List => {
            let all: NotificationsView =
                talk(async { Ok(context.server().await?.get("/notifications").await?) })?;
            context.print(&all, |screen| page(words, screen, &all))?;
        }
        Command::Test { name } => {
            // A name holds no slash: one that does names nobody, and not another address.
            let path = format!("/notifications/{}/test", encoded(name).replace('/', "%2F"));
            let sent: NotifyTestView =
                talk(async { Ok(context.server().await?.post(&path, &json!({})).await?) })?;
            let name = one_line(&sent.channel);
            context.print(&sent, |screen| screen.text(&words.say(Key::NotifyTested, &[("name", &name)])))?;
        }
    }
    Ok(Exit::Done)
}

fn page(words: Words, screen: Screen, all: &NotificationsView) -> String {
    let mut said = String::new();
    if let Some(problem) = &all.problem {
        add_line(&mut said, 0, &words.say(Key::NotifyProblem, &[("problem", &one_line(problem))]));
    }
    if all.channels.is_empty() {
        add_line(&mut said, 0, words.sentence(Key::NotifyNobody));
        return said;
    }
    let keys = [
        Key::ColumnName,
        Key::ColumnWhat,
        Key::ColumnStatus,
        Key::ColumnPending,
        Key::ColumnLast,
        Key::ColumnKinds,
    ];
    let head = keys.iter().map(|key| Cell::styled(Style::Dim, words.sentence(*key))).collect();
    let rows = all.channels.iter().map(|channel| row(words, channel));
    said.push_str(&screen.columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>()));
    for channel in all.channels.iter().filter(|channel| channel.state == NotifyState::Failing) {
        let error = one_line(channel.last_error.as_deref().unwrap_or_default());
        let values: &[(&str, &dyn std::fmt::Display)] = &[("name", &channel.name), ("error", &error)];
        add_line(&mut said, 0, &screen.style(Style::Bad, &words.say(Key::NotifyWhy, values)));
    }
    said
}

fn row(words: Words, channel: &NotifyChannelView) -> Vec<Cell> {
    let (style, state) = match channel.state {
        NotifyState::Failing => (Style::Bad, Key::NotifyFailing),
        NotifyState::Waiting => (Style::Plain, Key::NotifyWaiting),
        NotifyState::Idle => (Style::Plain, Key::NotifyIdle),
    };
    let kind = match channel.kind {
        NotifyType::Slack => "slack",
        NotifyType::Webhook => "webhook",
        NotifyType::Ntfy => "ntfy",
        NotifyType::Command => "command",
    };
    let kinds: Vec<&str> = channel.kinds.iter().map(|kind| kind.as_str()).collect();
    let last = channel.last_success_ms.map_or_else(|| "-".to_owned(), |at_ms| clock::since(words, at_ms));
    vec![
        Cell::new(&channel.name),
        Cell::new(kind),
        Cell::styled(style, words.sentence(state)),
        Cell::new(&channel.pending.to_string()),
        Cell::new(&last),
        Cell::new(&kinds.join(" ")),
    ]
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::words::Language;
    use ostler_server::NotifyKind;

    fn channel(name: &str, state: NotifyState) -> NotifyChannelView {
        NotifyChannelView {
            name: name.into(),
            kind: NotifyType::Ntfy,
            kinds: vec![NotifyKind::Question, NotifyKind::Failed],
            after_ms: 30_000,
            per_minute: 6,
            text: true,
            withdraws: true,
            state,
            pending: 2,
            sent: 7,
            given_up: 0,
            last_success_ms: None,
            last_error_ms: None,
            last_error: Some("it answers 500".into()),
            next_try_ms: None,
        }
    }

    #[test]
    fn a_channel_that_fails_says_why() {
        let channels = vec![channel("phone", NotifyState::Waiting), channel("work", NotifyState::Failing)];
        let mut all = NotificationsView { channels, page: String::new(), problem: Some("x".into()) };
        expect![[r#"
            Not all of your configuration counts: x
            NAME   WHAT  STATUS   WAITING  LAST  TOLD OF
            phone  ntfy  waiting  2        -     question failed
            work   ntfy  failing  2        -     question failed
            work: it answers 500
        "#]]
        .assert_eq(&page(Words::new(Language::En), Screen::plain(), &all));
        (all.channels, all.problem) = (Vec::new(), None);
        let said = page(Words::new(Language::Ko), Screen::plain(), &all);
        assert!(said.contains("[[notify]]"), "{said}");
    }
}
