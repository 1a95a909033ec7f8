//! `ostler answer`: settles a request.

use std::{
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use ostler_server::{
    api::{NewAnswer, RequestView, SessionView},
    client::Client,
};
use zeroize::Zeroizing;

use super::{inbox, send::standard_input};
use crate::{
    answering, card,
    context::{Context, talk},
    error::{Error, Message},
    exit::Exit,
    form::{self, Form, Taken},
    help::heading,
    hidden,
    id::{self, Id},
    outcome,
    screen::Screen,
    words::Key,
};

/// Answer what an agent asked.
///
/// Without an answer, you are asked about the first request of the inbox. An answer without an id is taken only if one request
/// is open, and an answer to a session only if it has one. An option can be given by its number. A denial may carry a reason: --no "use the other database".
///
/// A value that an agent asks for is typed where it is not shown, or read from a pipe or a file; never given as an
/// argument.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ostler answer               the next one, asked on the terminal\n  ostler answer q_7 2\n  \
                        ostler answer q_7 use the one in docker\n  ostler answer q_8 --yes\n  ostler answer q_9 --file \
                        logo.png\n  pass show stripe | ostler answer q_10 --stdin --reuse"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that somebody may give")]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", help = "The request (q_7), or the session that asks (s_12)")]
    id: Option<String>,
    /// An option, its number, words, or a path. Several words behind an id are one answer.
    #[arg(value_name = "VALUE", conflicts_with_all = ["stdin", "file"])]
    value: Vec<String>,
    /// Yes.
    #[arg(long, conflicts_with = "no", help_heading = heading::ANSWER)]
    yes: bool,
    /// No.
    #[arg(long, help_heading = heading::ANSWER)]
    no: bool,
    /// Take the answer from standard input.
    #[arg(long, conflicts_with = "file", help_heading = heading::ANSWER)]
    stdin: bool,
    /// Take the answer from this file; where a file is asked for, it is the answer.
    #[arg(long, value_name = "F", help_heading = heading::ANSWER)]
    file: Option<PathBuf>,
    /// Give the words even if they are none of the options.
    #[arg(long, help_heading = heading::ANSWER)]
    insist: bool,
    /// The agent goes on without, or with its default.
    #[arg(long, conflicts_with_all = ["value", "yes", "no", "stdin", "file", "insist", "reuse"], help_heading = heading::ANSWER)]
    skip: bool,
    /// The value may be given to whoever asks for it in the same project.
    #[arg(long, conflicts_with_all = ["yes", "no", "insist"], help_heading = heading::SECRET_VALUES)]
    reuse: bool,
    /// The value is a secret: mask it everywhere, whatever it looks like.
    #[arg(long, conflicts_with_all = ["yes", "no", "insist", "skip", "plain"], help_heading = heading::SECRET_VALUES)]
    secret: bool,
    /// The value is no secret: show it everywhere, whatever it looks like.
    #[arg(long, conflicts_with_all = ["yes", "no", "insist", "skip"], help_heading = heading::SECRET_VALUES)]
    plain: bool,
}

impl Arguments {
    /// Whether the value counts as secret, if the person says so.
    fn marked(&self) -> Option<bool> {
        (self.secret || self.plain).then_some(self.secret)
    }
}

impl Arguments {
    /// Whether the command line carries an answer, so that nobody is asked on the terminal.
    fn is_answer(&self) -> bool {
        self.yes || self.no || self.skip || self.stdin || self.file.is_some()
    }
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    talk(async {
        let client = context.server().await?;
        let (request, value) = which(&client, arguments).await?;
        let answer = if request.settled.is_some() {
            // Nothing is read for what is over, least of all a value. The server says what became of it.
            NewAnswer::default()
        } else {
            match given(arguments, &request, value)? {
                Some(answer) => answer,
                None => NewAnswer { secret: arguments.marked(), ..ask(context, &request)? },
            }
        };
        let settled: RequestView = client.post(&format!("/requests/{}/answer", request.id), &answer).await?;
        let words = context.words;
        let said = settled.settled.as_ref().map(|it| outcome::answer(words, &it.answer)).unwrap_or_default();
        let is_lost = request.abandoned || settled.delivery == "undeliverable";
        let key = if is_lost { Key::AnsweredNobody } else { Key::Answered };
        context.print(&settled, |screen| {
            screen.text(&words.say(key, &[("id", &settled.id), ("answer", &said)]))
        })?;
        let open = inbox::open(&client).await?;
        if !open.is_empty() {
            context.note(&words.say(Key::MoreOpen, &[("n", &open.len())]));
        }
        Ok(if is_lost { Exit::Failed } else { Exit::Done })
    })
}

/// Which request is meant, and what is left as the value: the only word may be either.
async fn which(client: &Client, arguments: &Arguments) -> Result<(RequestView, Option<String>), Error> {
    let Some(text) = &arguments.id else {
        let open = inbox::open(client).await?;
        // The terminal shows which request it asks about; a flag would settle one that was never named.
        let request = if arguments.is_answer() { only(open)? } else { first(open)? };
        return Ok((inbox::whole(client, request).await?, None));
    };
    let id = match id::read(client, text).await {
        Ok(Id::Request(id)) => id,
        Ok(Id::Session(id) | Id::Run(id)) => {
            let session: SessionView = client.get(&format!("/sessions/{id}")).await?;
            let open = inbox::open(client).await?;
            let none = || if open.is_empty() { nothing_open() } else { nothing_open_there(&session.id) };
            // What holds it up comes first; a card whose caller is gone holds nobody up.
            let others = open.iter().filter(|it| it.session == session.id).map(|it| &it.id);
            let mut ids: Vec<&String> = session.blocked_by.iter().collect();
            ids.extend(others.filter(|id| !session.blocked_by.contains(id)));
            if arguments.is_answer() || !arguments.value.is_empty() {
                several_are_refused(ids.iter().map(|id| id.as_str()))?;
            }
            ids.first().map(|id| (*id).clone()).ok_or_else(none)?
        }
        // A word that is no id is an answer, if it is clear to what.
        Err(_) if arguments.value.is_empty() => {
            let request = only(inbox::open(client).await?)?;
            return Ok((inbox::whole(client, request).await?, Some(text.clone())));
        }
        Err(error) => return Err(error),
    };
    let value = (!arguments.value.is_empty()).then(|| arguments.value.join(" "));
    Ok((client.get(&format!("/requests/{id}")).await?, value))
}

/// The request that the inbox offers first.
fn first(open: Vec<RequestView>) -> Result<RequestView, Error> {
    open.into_iter().next().ok_or_else(nothing_open)
}

/// The one open request; several are refused by name.
fn only(open: Vec<RequestView>) -> Result<RequestView, Error> {
    several_are_refused(open.iter().map(|request| request.id.as_str()))?;
    first(open)
}

/// An answer is for one request: among several it would settle one that was never named.
fn several_are_refused<'a>(ids: impl Iterator<Item = &'a str>) -> Result<(), Error> {
    let ids: Vec<&str> = ids.collect();
    if ids.len() > 1 {
        let message = Message::new(Key::SeveralOpen).with("ids", &ids.join(", "));
        return Err(Error::Refused { message, hint: Message::new(Key::HintInbox) });
    }
    Ok(())
}

fn nothing_open_there(id: &str) -> Error {
    let message = Message::new(Key::NothingOpenThere).with("id", &id);
    Error::Refused { message, hint: Message::new(Key::HintInbox) }
}

fn nothing_open() -> Error {
    Error::Refused { message: Message::new(Key::NothingOpen), hint: Message::new(Key::HintInbox) }
}

/// The answer on the command line, if there is one.
fn given(
    arguments: &Arguments,
    request: &RequestView,
    value: Option<String>,
) -> Result<Option<NewAnswer>, Error> {
    if arguments.skip {
        return Ok(Some(NewAnswer { skip: true, ..NewAnswer::default() }));
    }
    if card::wants_values(request) && !arguments.no {
        return given_values(arguments, request, value.is_some());
    }
    let wants_file = request.ask.kind == "dependency" && request.ask.fields["type"] == "file";
    let value = match (&arguments.file, value) {
        (Some(path), _) if wants_file => Some(absolute(path)),
        (Some(path), _) => {
            let failed = |source| Error::Input { path: Some(path.clone()), source };
            Some(fs::read_to_string(path).map_err(failed)?)
        }
        (None, _) if arguments.stdin => Some(standard_input()?),
        (None, Some(value)) if wants_file && Path::new(&value).exists() => Some(absolute(Path::new(&value))),
        (None, value) => value,
    };
    let decision = (arguments.yes || arguments.no).then_some(arguments.yes);
    if value.is_none() && decision.is_none() {
        return Ok(None);
    }
    Ok(Some(NewAnswer { value, decision, insist: arguments.insist, ..NewAnswer::default() }))
}

/// Values from a pipe or a file, if there are any.
fn given_values(
    arguments: &Arguments,
    request: &RequestView,
    has_argument: bool,
) -> Result<Option<NewAnswer>, Error> {
    if has_argument || arguments.yes {
        let message = Message::new(if has_argument { Key::ValueAsArgument } else { Key::RefusedValueWanted });
        let hint = Message::new(Key::HintValueInstead).with("id", &request.id);
        return Err(Error::Refused { message: message.with("id", &request.id), hint });
    }
    let text = Zeroizing::new(match &arguments.file {
        Some(path) => {
            let failed = |source| Error::Input { path: Some(path.clone()), source };
            fs::read_to_string(path).map_err(failed)?
        }
        None if arguments.stdin => standard_input()?,
        None => return Ok(None),
    });
    let values = form::read(request, &text).map_err(|number| Error::Refused {
        message: Message::new(Key::NotAPair).with("number", &number),
        hint: Message::new(Key::HintPairs),
    })?;
    let secret = arguments.marked();
    Ok(Some(NewAnswer { values, reuse: arguments.reuse, secret, ..NewAnswer::default() }))
}

/// An agent works in another directory than whoever answers it.
fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).display().to_string()
}

/// Asks on the terminal.
fn ask(context: &Context, request: &RequestView) -> Result<NewAnswer, Error> {
    if !io::stdin().is_terminal() || context.json {
        let hint = Message::new(Key::AnswerFreely).with("id", &request.id);
        return Err(Error::Refused { message: Message::new(Key::NoTerminal), hint });
    }
    let card = card::question(context.words, Screen::stderr(), request);
    let Some(mut form) = Form::of(request) else {
        let line = read_line(&format!("{card}{}", answering::prompt(context.words, request)), false)?;
        return Ok(answering::of_line(request, line.trim_end_matches(['\r', '\n'])));
    };
    let mut said = card;
    loop {
        said.push_str(&form.prompt(context.words));
        let line = read_line(&said, form.is_secret())?;
        said = match form.take(context.words, &line) {
            Taken::Next => String::new(),
            Taken::Again(why) if why.is_empty() => match Form::of(request) {
                Some(again) => {
                    form = again;
                    why
                }
                None => why,
            },
            Taken::Again(why) => format!("  {why}\n"),
            Taken::Done(answer) => return Ok(answer),
        };
    }
}

/// A line that somebody types after this was said. The end of the input is an end of everything.
fn read_line(said: &str, is_secret: bool) -> Result<Zeroizing<String>, Error> {
    if is_secret {
        return hidden::ask(said, Key::HintSecretInput)
            .map(|secret| Zeroizing::new(secret.expose().to_owned()));
    }
    let mut stderr = io::stderr().lock();
    stderr.write_all(said.as_bytes()).and_then(|()| stderr.flush()).map_err(Error::Stats)?;
    let mut line = Zeroizing::new(String::new());
    let failed = |source| Error::Input { path: None, source };
    io::stdin().read_line(&mut line).map_err(failed)?;
    // Who closes the input behind a word has not said it.
    if line.ends_with('\n') { Ok(line) } else { Err(failed(io::ErrorKind::UnexpectedEof.into())) }
}
