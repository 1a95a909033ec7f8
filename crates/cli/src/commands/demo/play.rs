//! The play, act by act. Each act does something real, waits until it has come about, and says what was seen.
//!
//! Agents wait at gates, so that the order is the same on every machine; what they do behind them is their own work.

use std::{path::Path, time::Duration};

use ostler_files::{FILE_BYTES_MAX, named};
use ostler_server::{
    api::{EventView, InfoView, LinkView, NewAnswer, NewLink, RequestView, RunView, SessionView},
    client::{Client, ClientError},
    demo::{AGENTS, DemoError, Manner},
    start,
};
use tokio::time::{Instant, sleep};

use super::{facts::Facts, place::Place, process, process::Process, stage::Stage};
use crate::{
    card,
    commands::diff,
    context::Context,
    error::{Error, Message},
    outcome,
    screen::{Screen, Style, one_line},
    words::{Key, Language, Words},
};

/// How long an act may take, on a machine that has a lot else to do.
const ACT_MAX: Duration = Duration::from_mins(1);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// A play under way.
pub(super) struct Play<'a> {
    context: &'a Context,
    words: Words,
    place: &'a Place,
    stage: &'a mut Stage,
    client: Client,
    server: u32,
}

impl<'a> Play<'a> {
    /// Makes the project and starts the server.
    pub(super) async fn begin(
        context: &'a Context,
        place: &'a Place,
        stage: &'a mut Stage,
    ) -> Result<Play<'a>, Error> {
        let words = context.words;
        stage.print(&format!("{}\n", Screen::stdout().style(Style::Bold, words.sentence(Key::DemoTitle))))?;
        stage.say(&words.say(Key::DemoPlace, &[("path", &place.root().display())]))?;
        if stage.has_audience() {
            stage.say(words.sentence(Key::DemoKeys))?;
        }
        place.shop().furnish().map_err(not_made)?;
        let client = start::ensure(&place.home()).await.map_err(Error::Start)?.watching();
        let info: InfoView = client.get("/info").await?;
        // Where the page cannot be had, the terminal has to do.
        if info.page.url.is_some() && stage.has_audience() {
            let link: LinkView = client.post("/links", &NewLink::default()).await?;
            stage.say(&words.say(Key::DemoPage, &[("url", &link.url)]))?;
        }
        Ok(Play { context, words, place, stage, client, server: info.pid })
    }

    /// Everything, and what was seen of it; nothing if somebody left.
    pub(super) async fn perform(mut self) -> Result<Option<Facts>, Error> {
        self.stage.pause(2).await;
        self.three_start().await?;
        let request = self.one_asks().await?;
        let first_server = self.server;
        let (before, meanwhile, after) = self.server_is_killed(&request).await?;
        if !self.answer(&request).await? {
            return Ok(None);
        }
        self.one_is_sent_back().await?;
        let sessions = self.all_green().await?;
        let diff = self.diff(&sessions).await?;
        Ok(Some(Facts {
            servers: [first_server, self.server],
            before,
            meanwhile,
            after,
            request: self.client.get(&format!("/requests/{}", request.id)).await?,
            sessions,
            events: self.events().await?,
            diff,
            nothing_left: false,
        }))
    }

    async fn three_start(&mut self) -> Result<(), Error> {
        self.stage.act(&self.words.say(Key::DemoStart, &[("pid", &self.server)]))?;
        let korean = self.words.language() == Language::Ko;
        let manner = Manner { korean, watched: self.stage.has_audience(), alone: false };
        for new in self.place.shop().runs(manner).map_err(not_made)? {
            self.client.post::<RunView>("/runs", &new).await?;
        }
        self.until(1, |sessions| sessions.len() == AGENTS.len() && is(sessions, WAITING)).await?;
        self.stage.pause(4).await;
        Ok(())
    }

    async fn one_asks(&mut self) -> Result<RequestView, Error> {
        self.stage.act(self.words.sentence(Key::DemoAsks))?;
        let request = self.open_request().await?;
        self.show_card(&request)?;
        self.stage.pause(5).await;
        Ok(request)
    }

    async fn server_is_killed(
        &mut self,
        request: &RequestView,
    ) -> Result<(Vec<Process>, Vec<Process>, Vec<Process>), Error> {
        let sessions = self.sessions().await?;
        let before = processes(&sessions);
        self.stage.act(self.words.sentence(Key::DemoKill))?;
        self.stage.command(&format!("kill -9 {}", self.server))?;
        process::kill(self.server).map_err(|source| Error::Demo {
            message: Message::new(Key::DemoNotKilled).with("source", &source),
        })?;
        self.until_so(3, || {
            process::reap();
            i32::try_from(self.server).is_ok_and(|pid| Process::of(pid).is_none())
        })
        .await?;
        // Nobody answers, and the third agent works on all the same.
        let written = lines_of(&sessions);
        self.until_so(3, || lines_of(&sessions) > written).await?;
        let answer = self.client.get::<InfoView>("/info").await;
        let nobody = matches!(answer, Err(ClientError::NoServer { .. } | ClientError::Broken { .. }));
        let meanwhile = if nobody { processes(&sessions) } else { Vec::new() };
        let said = self.words.say(Key::DemoGone, &[("pids", &numbers(&meanwhile))]);
        self.stage.say(&said)?;
        self.stage.say(self.words.sentence(Key::DemoGrown))?;
        self.stage.pause(5).await;

        start::ensure(&self.place.home()).await.map_err(Error::Start)?;
        self.server = self.client.get::<InfoView>("/info").await?.pid;
        self.stage.act(&self.words.say(Key::DemoBack, &[("pid", &self.server)]))?;
        let sessions = self.until(3, |sessions| is(sessions, WAITING)).await?;
        let after = processes(&sessions);
        let again = self.open_request().await?;
        if again.id != request.id || again.ask != request.ask {
            return Err(Error::Demo { message: Message::new(Key::DemoQuestionLost) });
        }
        self.stage.pause(3).await;
        self.show_card(&again)?;
        Ok((before, meanwhile, after))
    }

    /// Whether it was answered, with a key here or on the page; not, if the keys came to an end.
    async fn answer(&mut self, request: &RequestView) -> Result<bool, Error> {
        let path = format!("/requests/{}", request.id);
        let options = request.ask.options.len();
        let answered = if self.stage.has_audience() {
            self.stage.act(&self.words.say(Key::DemoPress, &[("n", &options)]))?;
            tokio::select! {
                number = self.stage.choice(options) => match number {
                    Some(number) => Err(number),
                    None => return Ok(false),
                },
                settled = settled(&self.client, &path) => Ok(settled?),
            }
        } else {
            Err(1)
        };
        self.stage.space()?;
        let settled = match answered {
            Ok(settled) => settled,
            Err(number) => {
                self.stage.command(&format!("ostler answer {} {number}", request.id))?;
                let answer = NewAnswer { value: Some(number.to_string()), ..NewAnswer::default() };
                self.client.post(&format!("{path}/answer"), &answer).await?
            }
        };
        let words = self.words;
        let said = settled.settled.as_ref().map(|it| outcome::answer(words, &it.answer)).unwrap_or_default();
        self.stage.act(&words.say(Key::DemoAnswered, &[("answer", &said)]))?;
        self.until(4, |sessions| is(sessions, ["completed", "active", "active"])).await?;
        self.stage.pause(4).await;
        Ok(true)
    }

    async fn one_is_sent_back(&mut self) -> Result<(), Error> {
        self.stage.act(self.words.sentence(Key::DemoClaims))?;
        self.place.shop().open_gate("total-1").map_err(not_made)?;
        let has_failed = |sessions: &[SessionView]| {
            is(sessions, ["completed", "active", "active"]) && sessions[1].launches.len() == 2
        };
        let sessions = self.wait(5, has_failed).await?;
        let events = self.events().await?;
        let failed = events
            .iter()
            .find(|event| event.kind == "check.finished" && event.session.as_ref() == Some(&sessions[1].id));
        let attempt = failed.map(|event| event.body["attempt"].clone()).unwrap_or_default();
        self.stage.space()?;
        self.stage.command(AGENTS[1].check)?;
        self.stage.quote(Style::Bad, &one_line(attempt["output"].as_str().unwrap_or_default()))?;
        self.stage.pause(3).await;
        self.stage.act(&self.words.say(Key::DemoSentBack, &[("code", &attempt["code"])]))?;
        self.stage.pause(5).await;
        Ok(())
    }

    async fn all_green(&mut self) -> Result<Vec<SessionView>, Error> {
        self.place.shop().open_gate("total-2").map_err(not_made)?;
        self.place.shop().open_gate("prices").map_err(not_made)?;
        let sessions = self.until(6, |sessions| is(sessions, ["completed"; 3])).await?;
        self.stage.act(self.words.sentence(Key::DemoGreen))?;
        Ok(sessions)
    }

    async fn diff(&mut self, sessions: &[SessionView]) -> Result<String, Error> {
        let id = &sessions[1].id;
        self.stage.say(self.words.sentence(Key::DemoDiff))?;
        self.stage.pause(3).await;
        self.stage.space()?;
        self.stage.command(&format!("ostler diff {id}"))?;
        let colours = Screen::stdout().colours() && !self.context.json;
        let mut diff = Vec::new();
        let mut pieces = diff::pieces(&self.client, id, false, colours).await?;
        while let Some(piece) = pieces.next().await? {
            diff.extend_from_slice(&piece);
        }
        let diff = String::from_utf8_lossy(&diff).into_owned();
        let indented: Vec<String> = diff.lines().map(|line| format!("  {line}\n")).collect();
        self.stage.print(&indented.concat())?;
        self.stage.pause(4).await;
        Ok(diff)
    }

    fn show_card(&mut self, request: &RequestView) -> Result<(), Error> {
        let card = card::card(self.words, Screen::stdout(), request);
        let indented: Vec<String> = card.lines().map(|line| format!("  {line}\n")).collect();
        self.stage.print(&format!("\n{}", indented.concat()))
    }

    async fn sessions(&self) -> Result<Vec<SessionView>, Error> {
        let mut sessions: Vec<SessionView> = self.client.get("/sessions?all=true&limit=10").await?;
        sessions.reverse();
        Ok(sessions)
    }

    async fn open_request(&self) -> Result<RequestView, Error> {
        let open: Vec<RequestView> = self.client.get("/inbox").await?;
        let lost = || Error::Demo { message: Message::new(Key::DemoQuestionLost) };
        open.into_iter().next().ok_or_else(lost)
    }

    async fn events(&self) -> Result<Vec<EventView>, Error> {
        let mut events: Vec<EventView> = Vec::new();
        loop {
            let after = events.last().map_or(0, |event| event.seq);
            let page: Vec<EventView> = self.client.get(&format!("/events?after={after}")).await?;
            if page.is_empty() {
                return Ok(events);
            }
            events.extend(page);
        }
    }

    /// Waits until the sessions are as they should be, and shows that.
    async fn until(
        &mut self,
        act: u32,
        is_so: impl Fn(&[SessionView]) -> bool,
    ) -> Result<Vec<SessionView>, Error> {
        let sessions = self.wait(act, is_so).await?;
        self.stage.show(&sessions)?;
        Ok(sessions)
    }

    /// Waits until the sessions are as they should be; on a terminal it is seen how they get there.
    async fn wait(
        &mut self,
        act: u32,
        is_so: impl Fn(&[SessionView]) -> bool,
    ) -> Result<Vec<SessionView>, Error> {
        let deadline = Instant::now() + ACT_MAX;
        loop {
            let sessions = self.sessions().await?;
            self.stage.watch(&sessions)?;
            if is_so(&sessions) {
                return Ok(sessions);
            }
            let is_lost = sessions
                .iter()
                .any(|session| matches!(session.status.as_str(), "failed" | "cancelled" | "interrupted"));
            if is_lost || Instant::now() > deadline {
                return Err(stuck(act, &sessions));
            }
            sleep(LOOK).await;
        }
    }

    async fn until_so(&self, act: u32, is_so: impl Fn() -> bool) -> Result<(), Error> {
        let deadline = Instant::now() + ACT_MAX;
        while !is_so() {
            if Instant::now() > deadline {
                return Err(stuck(act, &[]));
            }
            sleep(LOOK).await;
        }
        Ok(())
    }
}

/// Waits until somebody has answered elsewhere.
async fn settled(client: &Client, path: &str) -> Result<RequestView, Error> {
    loop {
        let request: RequestView = client.get(path).await?;
        if request.settled.is_some() {
            return Ok(request);
        }
        sleep(LOOK).await;
    }
}

pub(super) fn not_made(error: DemoError) -> Error {
    match error {
        DemoError::File { path, source } => Error::File { path, source },
        DemoError::NoProject(source) => {
            Error::Demo { message: Message::new(Key::DemoNoProject).with("source", &source) }
        }
        DemoError::NotUnicode(path) => Error::Usage {
            message: Message::new(Key::NotUnicode).with("what", &path.display()),
            command: "demo",
        },
    }
}

/// One asks, two are at work.
const WAITING: [&str; 3] = ["waiting_input", "active", "active"];

/// Whether the sessions are so, each with a process while it is at work.
fn is(sessions: &[SessionView], wanted: [&str; 3]) -> bool {
    let fits = |(session, wanted): (&SessionView, &str)| {
        session.status == wanted && (session.pid.is_some() || wanted == "completed")
    };
    sessions.len() == wanted.len() && sessions.iter().zip(wanted).all(fits)
}

/// The agents' processes, as the kernel knows them.
fn processes(sessions: &[SessionView]) -> Vec<Process> {
    sessions.iter().filter_map(|session| Process::of(session.pid?)).collect()
}

fn numbers(processes: &[Process]) -> String {
    processes.iter().map(|process| process.pid.to_string()).collect::<Vec<_>>().join(", ")
}

/// How long the price list of the third agent is.
fn lines_of(sessions: &[SessionView]) -> usize {
    let worktree = sessions.get(2).and_then(|session| session.worktree.as_ref());
    let list =
        worktree.and_then(|it| named::read_text(Path::new(&it.path).join("prices.txt"), FILE_BYTES_MAX).ok());
    list.map_or(0, |text| text.lines().count())
}

fn stuck(act: u32, sessions: &[SessionView]) -> Error {
    let states: Vec<String> = sessions.iter().map(|it| format!("{} {}", it.id, it.status)).collect();
    let message = Message::new(Key::DemoStuck).with("act", &act).with("states", &states.join(", "));
    Error::Demo { message }
}
