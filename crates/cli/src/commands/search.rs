//! `ostler search`: lines of what sessions printed.

use clap::Args;
use ostler_server::{
    api::{OutputStream, SearchHitView, SearchView},
    client::encoded,
};

use crate::{
    clock,
    context::{Context, talk},
    error::Error,
    exit::Exit,
    id,
    screen::{Cell, Screen, Style, add_line, one_line},
    sessions,
    words::{Key, Words},
};

/// Search what sessions printed, in all their processes.
///
/// A line is found if it has all the words, in any case; words in quotes are found together. Those of the newest session
/// come first, each with the line before and after it. The exit code is 1 if nothing is found.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ostler search panicked\n  ostler search \"connection refused\" postgres -n 200"
)]
pub(crate) struct Arguments {
    /// What a line has to have.
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
    /// At most so many lines.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    #[arg(long, value_name = "ID", help = "Only in this session")]
    session: Option<String>,
    #[arg(
        long,
        value_name = "ID",
        conflicts_with = "session",
        help = "Only in sessions older than this one"
    )]
    before: Option<String>,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let found: SearchView = talk(async {
        let client = context.server().await?;
        let mut path =
            format!("/search?limit={}&text={}", arguments.limit, encoded(&arguments.words.join("\n")));
        for (name, text) in [("session", &arguments.session), ("before", &arguments.before)] {
            if let Some(text) = text {
                path.extend([format!("&{name}="), id::session(&client, text).await?]);
            }
        }
        Ok(client.get(&path).await?)
    })?;
    let words = context.words;
    context.print(&found, |screen| match found.hits.as_slice() {
        [] => screen.text(words.sentence(Key::SearchNothing)),
        hits => shown(words, screen, hits),
    })?;
    if found.unsearched_bytes > 0 {
        let mib = found.unsearched_bytes.div_ceil(1 << 20);
        context.note(&words.say(Key::SearchUnread, &[("mib", &mib)]));
    }
    let n = found.hits.len();
    match &found.before {
        Some(before) => context.note(&words.say(Key::SearchMore, &[("n", &n), ("before", before)])),
        None if n == arguments.limit as usize => context.note(&words.say(Key::SearchFull, &[("n", &n)])),
        None => {}
    }
    Ok(if found.hits.is_empty() { Exit::Failed } else { Exit::Done })
}

/// The lines, below the process that printed them.
fn shown(words: Words, screen: Screen, hits: &[SearchHitView]) -> String {
    let mut said = String::new();
    let mut last = None;
    for hit in hits {
        let place = (&hit.session, hit.launch, hit.stream);
        if last.replace(place) != Some(place) {
            let stream = if hit.stream == OutputStream::Err { " · stderr" } else { "" };
            let time = clock::local(hit.at_ms);
            let agent = one_line(&hit.agent);
            let session = sessions::named(&hit.session, hit.name.as_deref());
            let process = words.say(Key::LogProcess, &[("number", &hit.launch)]);
            let head = format!("{session} · {agent} · {process} · {time}{stream}");
            for line in screen.whole(&head) {
                let (name, rest) = line.split_at(if line.starts_with(&session) { session.len() } else { 0 });
                let (name, rest) = (screen.style(Style::Bold, name), screen.style(Style::Dim, rest));
                add_line(&mut said, 0, &format!("{name}{rest}"));
            }
        }
        let near = |line: &Option<String>| {
            let text = line.as_ref()?;
            Some(screen.indented(4).columns(&[vec![Cell::styled(Style::Dim, text)]]))
        };
        said.extend(near(&hit.before).map(|line| format!("    {line}")));
        for (number, line) in screen.indented(4).whole(&one_line(&hit.text)).iter().enumerate() {
            add_line(&mut said, 2, &format!("{} {line}", if number == 0 { '›' } else { ' ' }));
        }
        said.extend(near(&hit.after).map(|line| format!("    {line}")));
    }
    said
}
