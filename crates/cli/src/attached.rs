//! Watching a session: its output as it comes, its questions asked right there, until it is over or somebody leaves.
//!
//! The agent does not depend on this: whoever leaves, or loses the connection, comes back with `ostler attach`.

mod events;
mod input;
mod output;
mod questions;
mod signals;

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use ostler_server::{
    api::{EventView, NewSize, RequestView, RunView, SessionView, StatusView},
    client::{Client, ClientError},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};
use zeroize::Zeroizing;

pub(crate) use self::{events::Events, signals::Signals};
use self::{
    input::Lines,
    output::{Follow, Stream},
    questions::Questions,
};
use crate::{
    card, commands::status, console, context::Context, error::Error, exit::Exit, outcome, screen, words::Key,
};

/// How long output has to be quiet before a question is shown: what the agent said before it comes first.
const QUIET: Duration = Duration::from_millis(150);

/// How long words are kept back that may be a question. What nobody knows more about by then is shown as it is.
const HOLD: Duration = Duration::from_secs(5);

/// How long what was said to a server that is gone waits until it is said again.
const AGAIN: Duration = Duration::from_millis(200);

/// How it is watched.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    /// Bytes as they are.
    pub(crate) raw: bool,
    /// It runs on a terminal, which is to be as large as this one.
    pub(crate) pty: bool,
    /// From where on in the journal what happens is told; from now on, if nothing is said.
    pub(crate) after: Option<u64>,
}

/// Watches a session until it is over or somebody leaves.
pub(crate) async fn watch(
    context: &Context,
    client: &Client,
    session: &str,
    options: Options,
    mut signals: Signals,
) -> Result<Exit, Error> {
    let asked = async {
        // The place in the journal comes first, so that nothing that happens meanwhile is missed.
        let status: StatusView = client.get("/status").await?;
        let session: SessionView = client.get(&format!("/sessions/{session}")).await?;
        Ok::<_, Error>((status, session))
    };
    let Some(begun) = signals.during(asked).await else { return Ok(left(context)) };
    let (status, session) = begun?;
    let is_terminal = io::stdin().is_terminal() && !context.json;
    let mut watch = Watch {
        context,
        client,
        options,
        events: Events::of_session(client, &session.id, options.after.unwrap_or(status.seq)),
        out: Follow::new(context, client, &session, Stream::Out, options.raw),
        err: Follow::new(context, client, &session, Stream::Err, options.raw),
        questions: Questions::new(context, client, is_terminal),
        is_terminal,
        leaving: false,
        cancels: false,
        quiet_at: Instant::now(),
        read_at: Instant::now(),
        held_since: None,
        again_at: Instant::now(),
        answers: Vec::new(),
        printed: [None, None],
        session,
    };
    let Some(begun) = signals.during(watch.begin()).await else { return Ok(left(context)) };
    begun?;
    let lines = Lines::new(is_terminal);
    if lines.are_edited() {
        signals.catch_suspend();
    }
    match watch.run(lines, signals).await {
        // Whoever read the output has gone away; that is a way to leave, too.
        Err(Error::Output(source)) if source.kind() == io::ErrorKind::BrokenPipe => Ok(watch.leave()),
        Err(error) => {
            watch.say_unsent();
            Err(error)
        }
        Ok(exit) => Ok(exit),
    }
}

/// Whoever leaves before the server has answered should know that it may have heard them.
pub(crate) fn left(context: &Context) -> Exit {
    context.note_below(context.words.sentence(Key::LeftUnanswered));
    Exit::Detached
}

struct Watch<'a> {
    context: &'a Context,
    client: &'a Client,
    options: Options,
    session: SessionView,
    events: Events,
    out: Follow,
    err: Follow,
    questions: Questions<'a>,
    /// Whether somebody can be asked.
    is_terminal: bool,
    /// Whether somebody pressed Ctrl-C and has not said yet what they want.
    leaving: bool,
    /// Whether somebody wants it cancelled, and no server has heard it yet.
    cancels: bool,
    /// When output will have been quiet for long enough.
    quiet_at: Instant,
    /// When something was printed last.
    read_at: Instant,
    /// Since when words are kept back.
    held_since: Option<Instant>,
    /// When a server that was gone is told again.
    again_at: Instant,
    /// What a main agent was answered, and is not shown yet: what it has asked comes first.
    answers: Vec<String>,
    /// How much of standard output and standard error is shown before the next question: all that was printed when it
    /// was asked.
    printed: [Option<(u32, u64)>; 2],
}

/// What happens next.
enum Next {
    Output(Stream, Option<Vec<u8>>),
    Event(Box<EventView>),
    Line(Option<Zeroizing<String>>),
    Interrupt,
    End,
    Resize,
    Quiet,
    Held,
    Again,
}

impl Watch<'_> {
    /// Begins with what there is.
    async fn begin(&mut self) -> Result<(), Error> {
        let launch = self.session.launches.last().map(|launch| launch.number);
        self.follow(launch);
        self.open_questions().await?;
        if self.options.pty {
            self.resize().await;
        }
        Ok(())
    }

    async fn run(&mut self, mut lines: Lines, mut signals: Signals) -> Result<Exit, Error> {
        loop {
            if let Some(exit) = self.exit().await? {
                return Ok(exit);
            }
            if self.has_read_all() {
                self.say_answers()?;
            }
            let asks = self.questions.are_waiting() && self.has_read_all();
            let held_until = self.held_until();
            let is_unsaid = self.cancels || self.questions.unsent().is_some();
            let next = tokio::select! {
                biased;
                next = signals.next() => next,
                () = sleep_until(self.again_at), if is_unsaid => Next::Again,
                bytes = self.out.next(), if self.out.is_open() => Next::Output(Stream::Out, bytes?),
                bytes = self.err.next(), if self.err.is_open() => Next::Output(Stream::Err, bytes?),
                event = self.events.next(self.context) => Next::Event(Box::new(event?)),
                line = lines.next() => Next::Line(line),
                () = sleep_until(self.quiet_at), if asks => Next::Quiet,
                () = sleep_until(held_until.unwrap_or(self.quiet_at)), if held_until.is_some() => Next::Held,
            };
            match next {
                Next::Interrupt if self.leaving || !self.is_terminal => return Ok(self.leave()),
                Next::Interrupt => {
                    lines.reopen();
                    self.questions.put_away();
                    self.questions.set_can_ask(true);
                    self.leaving = true;
                    self.context.note_below(self.context.words.sentence(Key::CtrlC));
                }
                Next::End => return Ok(self.leave()),
                // Whatever is asked of the server here: who wants to leave does not have to wait for it.
                next => match signals.during(self.handle(next)).await {
                    None => return Ok(left(self.context)),
                    Some(handled) => {
                        if let Some(exit) = handled? {
                            return Ok(exit);
                        }
                    }
                },
            }
        }
    }

    /// Does what is due; says whether that was the last.
    async fn handle(&mut self, next: Next) -> Result<Option<Exit>, Error> {
        match next {
            Next::Output(stream, bytes) => self.show(stream, bytes.as_deref()).await?,
            Next::Event(event) => self.happened(&event).await?,
            Next::Line(line) => return self.said(line).await,
            Next::Resize => {
                console::redraw();
                if self.options.pty {
                    self.resize().await;
                }
            }
            Next::Quiet => {
                self.end_lines()?;
                self.questions.show()?;
            }
            Next::Held => self.hold_no_longer().await?,
            Next::Again => self.say_again().await?,
            Next::Interrupt | Next::End => {}
        }
        Ok(None)
    }

    /// Says again what no server has heard yet.
    async fn say_again(&mut self) -> Result<(), Error> {
        if self.cancels {
            self.cancel().await;
        }
        self.questions.send().await?;
        self.again_at = Instant::now() + AGAIN;
        Ok(())
    }

    /// Whether there is nothing more to see.
    async fn exit(&mut self) -> Result<Option<Exit>, Error> {
        let is_over = self.session.outcome.is_some() || self.session.status == "interrupted";
        if !is_over || self.out.is_open() || self.err.is_open() {
            return Ok(None);
        }
        if self.session.errands.is_some() {
            // Who ends quickly is over before everything that happened to it was told.
            let rest = self.events.rest(self.context).await?;
            self.answers.extend(rest.iter().filter_map(answer));
            self.say_answers()?;
        }
        self.end_lines()?;
        if self.context.json {
            self.context.print(&self.session, |_| String::new())?;
        }
        for line in outcome::sentence(self.context.words, &self.session) {
            self.context.note(&line);
        }
        if !self.context.json && io::stderr().is_terminal() {
            status::saw_end(self.client, &self.session.id).await;
        }
        Ok(Some(outcome::exit(&self.session)))
    }

    /// Goes away; the agent goes on.
    fn leave(&mut self) -> Exit {
        let words = self.context.words;
        self.context.note_below(&words.say(Key::RunDetached, &[("session", &self.session.id)]));
        self.say_unsent();
        Exit::Detached
    }

    /// Whoever goes away should know what was not heard.
    fn say_unsent(&self) {
        if let Some(id) = self.questions.unsent() {
            self.context.note(&self.context.words.say(Key::AnswerNotSent, &[("id", &id)]));
        }
    }

    async fn show(&mut self, stream: Stream, bytes: Option<&[u8]>) -> Result<(), Error> {
        if stream == Stream::Out {
            self.read_at = Instant::now();
            if bytes.is_none() {
                // Whatever was heard of it is known by now.
                let shown = self.out.end_text();
                print(self.context, stream, &shown)?;
                self.decide(true).await?;
            }
        }
        let follow = if stream == Stream::Out { &mut self.out } else { &mut self.err };
        let shown = match bytes {
            Some(bytes) => follow.render(bytes),
            None => follow.end(),
        };
        self.quiet_at = Instant::now() + QUIET;
        print(self.context, stream, &shown)?;
        self.decide(false).await
    }

    /// Whether everything was read that the agent printed before what was heard last.
    fn has_read_all(&mut self) -> bool {
        let is_holding = self.out.veil().is_some_and(|veil| veil.is_holding());
        let last = self.session.launches.last();
        let heard = last.and_then(|launch| Some((launch.number, launch.heard_at?)));
        let has_read = match (heard, self.out.read()) {
            (Some(heard), Some(read)) => read > heard,
            _ => true,
        };
        let [out, err] = self.printed;
        has_read && !is_holding && self.out.has_read(out) && self.err.has_read(err)
    }

    /// Takes over which questions are open. What was printed before one that is new is shown before it: events and
    /// output come by two ways, so it is asked how long the logs are by now.
    async fn open_questions(&mut self) -> Result<(), Error> {
        if self.questions.open(&mut self.events, &self.session.blocked_by).await? {
            self.printed = [self.out.printed().await, self.err.printed().await];
        }
        Ok(())
    }

    /// Shows questions as cards, and words that are none as they are, once it is known what they are.
    async fn decide(&mut self, has_ended: bool) -> Result<(), Error> {
        if self.out.veil().is_none_or(|veil| veil.block().is_none()) {
            return Ok(());
        }
        self.refresh().await?;
        self.open_questions().await?;
        let current = self.out.read().map_or(0, |(launch, _)| launch);
        let launch = self.session.launches.iter().find(|launch| launch.number == current);
        let heard_at = launch.and_then(|launch| launch.heard_at);
        while let Some(veil) = self.out.veil()
            && let Some(block) = veil.block()
            && (has_ended || heard_at.is_some_and(|heard_at| block.at <= heard_at))
        {
            veil.decide(self.questions.holds(&block.item));
            let shown = self.out.ready();
            print(self.context, Stream::Out, &shown)?;
        }
        Ok(())
    }

    /// When what is kept back has been kept back for long enough.
    fn held_until(&mut self) -> Option<Instant> {
        let veil = self.out.veil()?;
        if !veil.is_holding() {
            self.held_since = None;
            return None;
        }
        let silent_at = veil.patience().map(|patience| self.read_at + patience);
        let until = *self.held_since.get_or_insert_with(Instant::now) + HOLD;
        Some(silent_at.map_or(until, |at| at.min(until)))
    }

    async fn hold_no_longer(&mut self) -> Result<(), Error> {
        let is_long = self.held_since.is_some_and(|since| since.elapsed() >= HOLD);
        let silence = self.read_at.elapsed();
        if let Some(veil) = self.out.veil() {
            if is_long {
                veil.let_go();
            } else {
                veil.silent_for(silence);
            }
        }
        let shown = self.out.ready();
        print(self.context, Stream::Out, &shown)?;
        self.decide(false).await
    }

    fn end_lines(&mut self) -> Result<(), Error> {
        let (out, err) = (self.out.end_line(), self.err.end_line());
        print(self.context, Stream::Out, &out)?;
        print(self.context, Stream::Err, &err)
    }

    fn follow(&mut self, launch: Option<u32>) {
        self.out.begin(launch);
        self.err.begin(launch);
        self.quiet_at = Instant::now() + QUIET;
    }

    /// Says what somebody who watches would not learn otherwise: that an answer is an old one, or that a value does not
    /// reach the program by itself.
    fn say_settled(&mut self, body: &Value) -> Result<(), Error> {
        let words = self.context.words;
        let answer = outcome::answer(words, &body["answer"]);
        if body["by"] == "repetition" && body["answer"]["answer"] != "nothing" {
            let id = body["request"].as_str().unwrap_or_default();
            self.note_now(&words.say(Key::AnsweredAsBefore, &[("id", &id), ("answer", &answer)]))?;
        }
        if body["unseen"] == true {
            self.note_now(&words.say(Key::ValuesUnseen, &[("names", &answer)]))?;
        }
        Ok(())
    }

    /// Something happened to the session.
    async fn happened(&mut self, event: &EventView) -> Result<(), Error> {
        let words = self.context.words;
        let id = self.session.id.clone();
        match event.kind.as_str() {
            "session.launched" => {
                let number = event.body["launch"].as_u64().and_then(|it| u32::try_from(it).ok());
                self.refresh().await?;
                if number.is_some_and(|number| number > 1) {
                    self.say_launched(number, &event.body)?;
                }
                self.follow(number);
            }
            "request.opened" | "request.repeated" | "request.settled" | "request.expired" => {
                self.refresh().await?;
                self.say_settled(&event.body)?;
                self.open_questions().await?;
                self.decide(false).await?;
            }
            "session.heard" => self.decide(false).await?,
            "install.started" | "install.finished" => {
                self.refresh().await?;
                let path = format!("/requests/{}", event.body["request"].as_str().unwrap_or_default());
                let request: RequestView = self.events.get(self.context, &path).await?;
                if let Some(said) = card::install(words, &request) {
                    self.note_now(&said)?;
                }
            }
            "check.started" => {
                let check = self.check().await?;
                self.note_now(&words.say(Key::CheckRuns, &[("check", &check)]))?;
            }
            "check.finished" => {
                let attempt = &event.body["attempt"];
                if let Some(code) = attempt["code"].as_i64() {
                    self.refresh().await?;
                    let said = match code {
                        0 => words.sentence(Key::CheckPassed).to_owned(),
                        _ => words.say(
                            Key::CheckFailedOnce,
                            &[("code", &code), ("attempt", &self.session.attempts)],
                        ),
                    };
                    let lines = std::iter::once(said).chain(outcome::check_said(attempt));
                    self.note_now(&lines.collect::<Vec<_>>().join("\n  "))?;
                }
            }
            "thin.answered" => {
                self.answers.extend(answer(event));
                self.refresh().await?;
            }
            "input.refused" => {
                let why = event.body["why"].as_str().unwrap_or_default();
                self.note_now(&words.say(Key::NotTaken, &[("session", &id), ("why", &why)]))?;
            }
            "session.paused" => self.note_now(&words.say(Key::PausedNow, &[("session", &id)]))?,
            "session.unpaused" => self.note_now(words.sentence(Key::GoesOn))?,
            "session.ended" | "session.finished" | "session.cancelled" | "session.resumed"
            | "run.reopened" => {
                self.refresh().await?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Says what a main agent was answered: nobody else sees what goes to its input.
    fn say_answers(&mut self) -> Result<(), Error> {
        for line in std::mem::take(&mut self.answers) {
            let words = self.context.words;
            self.note_now(&words.say(Key::ThinAnswered, &[("line", &line)]))?;
            // The agent cannot put the file right; the person who watches can.
            let is_about_file = ["PARSE_FAIL", "MISSING_DEP", "CIRCULAR_DEP"]
                .iter()
                .any(|code| line.strip_prefix("ERROR:").is_some_and(|error| error.starts_with(code)));
            if is_about_file {
                self.note_now(words.sentence(Key::HintMendTasks))?;
            }
        }
        Ok(())
    }

    fn say_launched(&mut self, number: Option<u32>, body: &Value) -> Result<(), Error> {
        let words = self.context.words;
        let cause = words.sentence(match body["cause"].as_str().unwrap_or_default() {
            "bring" => Key::CauseBring,
            "resume" => Key::CauseResume,
            "attempt" => Key::CauseAttempt,
            _ => Key::CauseFirst,
        });
        let number = number.unwrap_or_default();
        self.note_now(&words.say(Key::Launched, &[("number", &number), ("cause", &cause)]))
    }

    fn note_now(&mut self, text: &str) -> Result<(), Error> {
        self.end_lines()?;
        self.context.note(text);
        Ok(())
    }

    async fn check(&mut self) -> Result<String, Error> {
        let path = format!("/runs/{}", self.session.run);
        let run: RunView = self.events.get(self.context, &path).await?;
        Ok(screen::one_line(&run.check.unwrap_or_default()))
    }

    async fn refresh(&mut self) -> Result<(), Error> {
        self.session = self.events.get(self.context, &format!("/sessions/{}", self.session.id)).await?;
        Ok(())
    }

    /// Somebody typed a line, or closed the input.
    async fn said(&mut self, line: Option<Zeroizing<String>>) -> Result<Option<Exit>, Error> {
        let Some(line) = line else {
            // With the input closed nothing can be asked any more; the rest is still shown.
            self.leaving = false;
            self.questions.set_can_ask(false);
            let words = self.context.words;
            self.context.note_below(&words.say(Key::InputClosed, &[("session", &self.session.id)]));
            return Ok(None);
        };
        if std::mem::take(&mut self.leaving) {
            match line.trim() {
                "d" | "D" => return Ok(Some(self.leave())),
                "c" | "C" => self.cancel().await,
                _ => {
                    self.context.note(self.context.words.sentence(Key::GoesOn));
                    self.questions.show_again();
                }
            }
            return Ok(None);
        }
        if !self.questions.said(&line).await? && !line.trim().is_empty() {
            let words = self.context.words;
            self.context.note(&words.say(Key::NothingAsked, &[("session", &self.session.id)]));
        }
        Ok(None)
    }

    /// What came of it is heard as an event. A server that is gone right now is told when it is back.
    async fn cancel(&mut self) {
        let words = self.context.words;
        let path = format!("/sessions/{}/cancel", self.session.id);
        let was_kept = std::mem::take(&mut self.cancels);
        match self.client.post::<SessionView>(&path, &json!({})).await {
            Ok(_) => self.context.note(words.sentence(Key::Cancelling)),
            Err(ClientError::NoServer { .. } | ClientError::Broken { .. }) => {
                self.cancels = true;
                if !was_kept {
                    self.context.note(words.sentence(Key::CancelKept));
                }
            }
            Err(error) => self.context.note(&Error::Client(error).message(words)),
        }
    }

    /// The agent's terminal becomes as large as this one. One that has none does not mind.
    async fn resize(&self) {
        let (rows, columns) = screen::size();
        let path = format!("/sessions/{}/size", self.session.id);
        self.client.post::<SessionView>(&path, &NewSize { rows, columns }).await.ok();
    }
}

/// What a main agent is answered, if that is what has happened.
fn answer(event: &EventView) -> Option<String> {
    let line = event.body["line"].as_str().filter(|_| event.kind == "thin.answered")?;
    Some(screen::one_line(line))
}

fn print(context: &Context, stream: Stream, bytes: &[u8]) -> Result<(), Error> {
    if bytes.is_empty() || context.json {
        return Ok(());
    }
    console::print(stream, bytes).map_err(match stream {
        Stream::Out => Error::Output,
        Stream::Err => Error::Stats,
    })
}
