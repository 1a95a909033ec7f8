//! The play, act by act. Each act does something real, waits until it has come about, and says what was seen.
//!
//! Agents wait at gates, so that the order is the same on every machine; what they do behind them is their own work.

use std::{collections::BTreeMap, env, fs, path::Path, time::Duration};

use ostler_server::{
    api::{EventView, InfoView, NewAnswer, NewRun, RequestView, RunView, SessionView},
    client::{Client, ClientError},
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

/// The agents: the name of the script, its check, and how often it may try.
const AGENTS: [(&str, &str, u32); 3] = [
    ("database", "grep '^database = .' settings.conf", 1),
    ("total", "sh test.sh", 3),
    ("prices", "test -s prices.txt", 1),
];

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
        place.furnish()?;
        let client = start::ensure(&place.home()).await.map_err(Error::Start)?.watching();
        let server = client.get::<InfoView>("/info").await?.pid;
        Ok(Play { context, words, place, stage, client, server })
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
        for (name, check, attempts_max) in AGENTS {
            let new = self.new_run(name, check, attempts_max)?;
            self.client.post::<RunView>("/runs", &new).await?;
        }
        self.until(1, |sessions| sessions.len() == AGENTS.len() && is(sessions, WAITING)).await?;
        self.stage.pause(4).await;
        Ok(())
    }

    fn new_run(&self, name: &str, check: &str, attempts_max: u32) -> Result<NewRun, Error> {
        let text = |path: &Path| {
            path.to_str().map(str::to_owned).ok_or_else(|| Error::Usage {
                message: Message::new(Key::NotUnicode).with("what", &path.display()),
                command: "demo",
            })
        };
        // Somebody who watches wants to see them work.
        let tick = if self.stage.has_audience() { "0.7" } else { "0.02" };
        let mut environment = BTreeMap::from([
            ("DEMO_GATES".to_owned(), text(&self.place.gates())?),
            ("DEMO_QUESTION".to_owned(), self.words.sentence(Key::DemoQuestion).to_owned()),
            ("DEMO_TICK".to_owned(), tick.to_owned()),
        ]);
        environment.extend(env::var("PATH").map(|path| ("PATH".to_owned(), path)));
        Ok(NewRun {
            directory: text(&self.place.project())?,
            command: vec!["sh".to_owned(), text(&self.place.agent(name))?],
            check: Some(check.to_owned()),
            attempts_max: Some(attempts_max),
            worktree: true,
            environment: Some(environment),
            korean: self.words.language() == Language::Ko,
            ..NewRun::default()
        })
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

    /// Whether it was answered; not, if the keys came to an end.
    async fn answer(&mut self, request: &RequestView) -> Result<bool, Error> {
        let number = if self.stage.has_audience() {
            let prompt = self.words.say(Key::DemoPress, &[("n", &request.ask.options.len())]);
            self.stage.act(&prompt)?;
            let Some(number) = self.stage.choice(request.ask.options.len()).await else { return Ok(false) };
            number
        } else {
            1
        };
        self.stage.space()?;
        self.stage.command(&format!("ostler answer {} {number}", request.id))?;
        let answer = NewAnswer { value: Some(number.to_string()), ..NewAnswer::default() };
        let settled: RequestView =
            self.client.post(&format!("/requests/{}/answer", request.id), &answer).await?;
        let words = self.words;
        let said = settled.settled.as_ref().map(|it| outcome::answer(words, &it.answer)).unwrap_or_default();
        self.stage.act(&words.say(Key::DemoAnswered, &[("answer", &said)]))?;
        self.until(4, |sessions| is(sessions, ["completed", "active", "active"])).await?;
        self.stage.pause(4).await;
        Ok(true)
    }

    async fn one_is_sent_back(&mut self) -> Result<(), Error> {
        self.stage.act(self.words.sentence(Key::DemoClaims))?;
        self.place.open_gate("total-1")?;
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
        self.stage.command(AGENTS[1].1)?;
        self.stage.quote(Style::Bad, &one_line(attempt["output"].as_str().unwrap_or_default()))?;
        self.stage.pause(3).await;
        self.stage.act(&self.words.say(Key::DemoSentBack, &[("code", &attempt["code"])]))?;
        self.stage.pause(5).await;
        Ok(())
    }

    async fn all_green(&mut self) -> Result<Vec<SessionView>, Error> {
        self.place.open_gate("total-2")?;
        self.place.open_gate("prices")?;
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
    let list = worktree.and_then(|it| fs::read_to_string(Path::new(&it.path).join("prices.txt")).ok());
    list.map_or(0, |text| text.lines().count())
}

fn stuck(act: u32, sessions: &[SessionView]) -> Error {
    let states: Vec<String> = sessions.iter().map(|it| format!("{} {}", it.id, it.status)).collect();
    let message = Message::new(Key::DemoStuck).with("act", &act).with("states", &states.join(", "));
    Error::Demo { message }
}
