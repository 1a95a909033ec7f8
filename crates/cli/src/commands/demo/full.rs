//! The full play: an idea goes through all four phases. Whatever is asked is answered with the commands that a person
//! would type, by a person here or on the page, or by the demonstration itself.

mod facts;
mod person;

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use ostler_files::{FILE_BYTES_MAX, private};
use ostler_server::{
    api::{
        ExportView, GateView, InfoView, LinkView, NewExport, NewLink, NewTrust, PhasesState, PhasesView,
        RequestView, TrustView,
    },
    client::{Client, encoded},
    demo::{Manner, full::Studio},
    start,
};
use tokio::{
    io::AsyncWriteExt,
    process::Command,
    time::{Instant, sleep},
};

pub(super) use self::facts::FullFacts;
use self::{facts::KeyStands, person::Given};
use super::{place::Place, play::not_made, stage::Stage};
use crate::{
    card,
    context::Context,
    error::{Error, Message},
    screen::{Screen, Style, one_line},
    words::{Key, Language, Words},
};

/// How long nothing may happen, on a machine that has a lot else to do.
const STEP_MAX: Duration = Duration::from_mins(3);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);

/// What is given as a key. It opens nothing.
const KEY: &str = "demo-key-4711-opens-nothing";

/// How much of a tree's name people look at.
const TREE_CHARS: usize = 12;

/// A full play under way.
pub(super) struct FullPlay<'a> {
    words: Words,
    place: &'a Place,
    studio: Studio,
    stage: &'a mut Stage,
    client: Client,
    /// Whether a person answers.
    by_hand: bool,
    /// What was said already, so that nothing is said twice.
    said: BTreeSet<String>,
}

impl<'a> FullPlay<'a> {
    /// Makes the project and starts the server.
    pub(super) async fn begin(
        context: &'a Context,
        place: &'a Place,
        stage: &'a mut Stage,
        by_hand: bool,
    ) -> Result<FullPlay<'a>, Error> {
        let words = context.words;
        stage.print(&format!("{}\n", Screen::stdout().style(Style::Bold, words.sentence(Key::FullTitle))))?;
        stage.say(&words.say(Key::DemoPlace, &[("path", &place.root().display())]))?;
        let studio = Studio::at(place.root());
        studio.furnish(words.language() == Language::Ko).map_err(not_made)?;
        let client = start::ensure(&place.home()).await.map_err(Error::Start)?;
        let info: InfoView = client.get("/info").await?;
        // Where the page cannot be had, the terminal has to do.
        if info.page.url.is_some() && by_hand {
            let link: LinkView = client.post("/links", &NewLink::default()).await?;
            stage.say(&words.say(Key::DemoPage, &[("url", &link.url)]))?;
        }
        Ok(FullPlay { words, place, studio, stage, client, by_hand, said: BTreeSet::new() })
    }

    /// Everything, and what was seen of it; nothing if somebody left.
    pub(super) async fn perform(mut self) -> Result<Option<FullFacts>, Error> {
        let run = self.start().await?;
        let Some(view) = self.go_through(&run).await? else { return Ok(None) };
        if view.state == PhasesState::Rejected {
            self.stage.act(self.words.sentence(Key::FullRejected))?;
            return Ok(None);
        }
        if view.state != PhasesState::Done {
            return Err(stuck(&view));
        }
        let export = self.export(&run).await?;
        let tests = self.run_tests().await?;
        let requests = self.client.get(&format!("/requests?run={run}&limit=200")).await?;
        let key_stands = self.find_key();
        Ok(Some(FullFacts { view, requests, export, tests, key_stands, nothing_left: false }))
    }

    /// Agrees to what the project brings along, and has the idea go through phases.
    async fn start(&mut self) -> Result<String, Error> {
        let korean = self.words.language() == Language::Ko;
        let manner = Manner { korean, watched: self.by_hand, alone: false };
        let new = self.studio.run(manner).map_err(not_made)?;
        let directory = new.directory.clone();
        self.stage.act(self.words.sentence(Key::FullTrust))?;
        self.stage.command("ostler trust")?;
        let trust: TrustView = self.client.get(&format!("/trust?directory={}", encoded(&directory))).await?;
        let hashes = trust.commands.iter().map(|command| command.hash.clone()).collect();
        self.client.post::<TrustView>("/trust", &NewTrust { directory, hashes, tasks: None }).await?;
        self.stage.command(&format!("ostler phases run \"{}\"", new.idea))?;
        Ok(self.client.post::<PhasesView>("/phases", &new).await?.run)
    }

    /// Until it is over; nothing if somebody left.
    async fn go_through(&mut self, run: &str) -> Result<Option<PhasesView>, Error> {
        let mut deadline = Instant::now() + STEP_MAX;
        let mut before = String::new();
        loop {
            let view: PhasesView = self.client.get(&format!("/phases/{run}")).await?;
            self.tell(&view)?;
            if view.outcome.is_some() {
                return Ok(Some(view));
            }
            let progress = progress(&view);
            if let Some(request) = self.open_request().await? {
                if !self.settle(&request).await? {
                    return Ok(None);
                }
                deadline = Instant::now() + STEP_MAX;
            } else if progress != before {
                before = progress;
                deadline = Instant::now() + STEP_MAX;
            } else if Instant::now() > deadline {
                return Err(stuck(&view));
            }
            sleep(LOOK).await;
        }
    }

    /// Says what is new.
    fn tell(&mut self, view: &PhasesView) -> Result<(), Error> {
        for phase in view.phases.iter().filter(|phase| phase.state != "waiting") {
            let number = phase.number;
            if self.is_new(format!("phase {number}")) {
                let values: &[(&str, &dyn std::fmt::Display)] =
                    &[("phase", &number), ("phases", &view.phases.len()), ("name", &phase.name)];
                self.stage.act(&self.words.say(Key::FullPhase, values))?;
            }
            for gate in phase.gates.iter().filter(|gate| gate.passed.is_some()) {
                if self.is_new(format!("gate {number} {}", gate.number)) {
                    self.tell_gate(gate)?;
                }
            }
            if let Some(approved) = &phase.approved
                && self.is_new(format!("approved {number}"))
            {
                let tree: String = approved.tree.chars().take(TREE_CHARS).collect();
                self.stage.say(&self.words.say(Key::FullApproved, &[("tree", &tree)]))?;
            }
        }
        Ok(())
    }

    fn tell_gate(&mut self, gate: &GateView) -> Result<(), Error> {
        self.stage.space()?;
        if gate.passed == Some(true) {
            let criteria = gate.rounds.last().map_or(0, |round| round.criteria.len());
            let values: &[(&str, &dyn std::fmt::Display)] = &[
                ("gate", &gate.number),
                ("files", &gate.files_count),
                ("commands", &gate.checks.len()),
                ("criteria", &criteria),
            ];
            return self.stage.say(&self.words.say(Key::FullGatePassed, values));
        }
        self.stage.say(&self.words.say(Key::FullGateFailed, &[("gate", &gate.number)]))?;
        for problem in &gate.problems {
            self.stage.quote(Style::Bad, &one_line(&problem.text))?;
        }
        Ok(())
    }

    fn is_new(&mut self, what: String) -> bool {
        self.said.insert(what)
    }

    /// What somebody has to settle. An error that passes is only told.
    async fn open_request(&mut self) -> Result<Option<RequestView>, Error> {
        let open: Vec<RequestView> = self.client.get("/inbox").await?;
        for request in open {
            if request.retry.is_none() {
                return Ok(Some(request));
            }
            if self.is_new(request.id.clone()) {
                let message = one_line(&request.ask.text);
                let values: &[(&str, &dyn std::fmt::Display)] = &[("id", &request.id), ("message", &message)];
                self.stage.act(&self.words.say(Key::FullGoesOn, values))?;
            }
        }
        Ok(None)
    }

    /// Whether it was settled; not, if somebody left.
    async fn settle(&mut self, request: &RequestView) -> Result<bool, Error> {
        self.stage.space()?;
        if self.by_hand {
            // The command shows it.
            return match self.ask_person(request).await? {
                Given::Here => Ok(true),
                Given::Elsewhere => {
                    self.stage.say(self.words.sentence(Key::FullElsewhere))?;
                    Ok(true)
                }
                Given::Nothing => Ok(false),
            };
        }
        let card = card::question(self.words, Screen::stdout(), request);
        let indented: Vec<String> = card.lines().map(|line| format!("  {line}\n")).collect();
        self.stage.print(&indented.concat())?;
        let (arguments, input) = self.answer(request);
        let typed = typed(&arguments);
        let piped =
            if input.is_some() { format!("printf … | ostler {typed}") } else { format!("ostler {typed}") };
        self.stage.command(&piped)?;
        self.ostler(&arguments, input).await?;
        Ok(true)
    }

    /// What the demonstration says, and what it pipes in.
    fn answer(&self, request: &RequestView) -> (Vec<String>, Option<&'static str>) {
        let id = request.id.as_str();
        let ask = &request.ask;
        let prices = self.studio.prices().display().to_string();
        let (words, input): (Vec<&str>, _) = match (ask.kind.as_str(), ask.fields["type"].as_str()) {
            ("review", _) => {
                let tree = ask.fields["tree"].as_str().unwrap_or_default();
                (vec!["review", id, "--approve", "--tree", tree], None)
            }
            ("dependency", Some("file")) => (vec!["answer", id, "--file", &prices], None),
            ("dependency", Some("api_key")) => (vec!["answer", id, "--stdin"], Some(KEY)),
            ("dependency", _) => (vec!["answer", id, "--yes"], None),
            _ if !ask.options.is_empty() => (vec!["answer", id, "1"], None),
            _ => (vec!["answer", id, ask.default.as_deref().unwrap_or("-")], None),
        };
        (words.into_iter().map(str::to_owned).collect(), input)
    }

    /// Runs one of our own commands in the demonstration's world.
    async fn ostler(&self, arguments: &[String], input: Option<&str>) -> Result<(), Error> {
        let failed = |message: String| Error::Demo {
            message: Message::new(Key::FullNotDone)
                .with("command", &typed(arguments))
                .with("message", &message),
        };
        let not_run = |source: std::io::Error| failed(source.to_string());
        let mut command = self.command(arguments).map_err(not_run)?;
        command.stdin(if input.is_some() {
            std::process::Stdio::piped()
        } else {
            std::process::Stdio::null()
        });
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
        let mut child = command.spawn().map_err(not_run)?;
        if let (Some(input), Some(mut pipe)) = (input, child.stdin.take()) {
            pipe.write_all(input.as_bytes()).await.map_err(not_run)?;
        }
        let output = child.wait_with_output().await.map_err(not_run)?;
        if output.status.success() {
            return Ok(());
        }
        Err(failed(one_line(String::from_utf8_lossy(&output.stderr).trim())))
    }

    fn command(&self, arguments: &[String]) -> std::io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        let language = if self.words.language() == Language::Ko { "ko" } else { "en" };
        command.args(["--lang", language]).args(arguments).env("OSTLER_HOME", self.place.home().root());
        command.kill_on_drop(true);
        Ok(command)
    }

    async fn export(&mut self, run: &str) -> Result<ExportView, Error> {
        self.stage.act(self.words.sentence(Key::FullDone))?;
        self.stage.command(&format!("ostler phases export {run}"))?;
        let export: ExportView =
            self.client.post(&format!("/phases/{run}/export"), &NewExport::default()).await?;
        let lines = export.commits.iter().map(|it| {
            let commit: String = it.commit.chars().take(TREE_CHARS).collect();
            format!("  {commit}  {} {}\n", it.phase, one_line(&it.name))
        });
        self.stage.print(&lines.collect::<Vec<_>>().concat())?;
        Ok(export)
    }

    /// The exit code of the program's tests, run once more where it was written.
    async fn run_tests(&self) -> Result<Option<i32>, Error> {
        let mut command = Command::new("sh");
        command.arg("tests/run.sh").current_dir(self.studio.project()).kill_on_drop(true);
        Ok(command.output().await.map_err(Error::Output)?.status.code())
    }

    /// Where the key stands in plain letters, if anywhere: in the project, in reports and in logs.
    fn find_key(&self) -> KeyStands {
        if self.by_hand {
            return KeyStands::Unknown;
        }
        let home = self.place.home();
        let places = [self.studio.project(), home.root().join("phases"), home.root().join("sessions")];
        places.iter().find_map(|place| find_in(place)).map_or(KeyStands::Nowhere, KeyStands::In)
    }
}

/// The first file with the key in it. The files that bring values to their sessions are private and go with them.
fn find_in(path: &Path) -> Option<String> {
    if path.is_dir() {
        let entries = fs::read_dir(path).ok()?.filter_map(Result::ok);
        return entries.map(|entry| entry.path()).find_map(|path| find_in(&path));
    }
    let is_value = path.file_name().is_some_and(|name| name == "values");
    let text = private::read(path, FILE_BYTES_MAX).ok().filter(|_| !is_value)?;
    let found = text.windows(KEY.len()).any(|part| part == KEY.as_bytes());
    found.then(|| path.display().to_string())
}

/// Arguments as somebody would type them.
fn typed(arguments: &[String]) -> String {
    let quoted = |it: &String| if it.contains([' ', '"']) { format!("'{it}'") } else { it.clone() };
    arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Changes whenever something happens.
fn progress(view: &PhasesView) -> String {
    let steps = view.phases.iter().map(|phase| {
        let gate = phase.gates.last().map(|gate| (gate.number, gate.step.as_str(), gate.index));
        format!("{} {:?} {:?};", phase.state, gate, phase.sessions)
    });
    steps.collect::<Vec<_>>().concat()
}

fn stuck(view: &PhasesView) -> Error {
    let phase = view.phases.iter().find(|phase| phase.number == view.current);
    let state = phase.map(|phase| phase.state.clone()).unwrap_or_default();
    let gate = phase.and_then(|phase| phase.gates.last()).map(|gate| gate.step.clone());
    let state = format!("{state} {}", gate.unwrap_or_default());
    Error::Demo {
        message: Message::new(Key::FullStuck).with("phase", &view.current).with("state", &state.trim()),
    }
}
