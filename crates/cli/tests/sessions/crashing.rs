//! The server dies at a named place, again while it recovers, and once more when it comes to the same place.
//! `cargo xtask soak crashes` does it at all of them, a sample runs here.

use std::{collections::BTreeSet, env, fs, os::unix::fs::PermissionsExt, process::Command, time::Instant};

use ostler_server::{
    SITES,
    api::{EventView, NewPhases, NewRun, PhasesState, PhasesView, RequestView, RunView, SessionView},
    client::ClientError,
};
use serde_json::{Value, json};

use crate::{
    phases,
    support::{DEADLINE, QUESTION, World, kill, write},
};

/// The places that are tried with every change.
const SAMPLE: [&str; 20] = [
    "after commit",
    "after launch",
    "after checkpoint",
    "after restore",
    "before prune",
    "after deliver",
    "before stop",
    "after make worktree",
    "before steer check",
    "after end check",
    "reconciling a session",
    "before burial",
    "before caller gone",
    "before provide values",
    "after install",
    "before end install",
    "after notify",
    "after gate check",
    "after verify",
    "before clear gate",
];

/// Passed when a server with something live starts, which the first one is not.
const WITH_SOMETHING_LIVE: &str = "reconciling a session";

/// A world whose server dies.
struct Fragile {
    world: World,
    site: &'static str,
    deaths: u32,
}

impl Fragile {
    fn new(site: &'static str, count: u32) -> Fragile {
        let mut world = World::idle();
        for name in ["agent.sh", "talker.sh"] {
            let text = if name == "agent.sh" { AGENT } else { TALKER };
            write(&world.project, name, &text.replace("ASK", QUESTION));
        }
        git(&world, &["init", "-q", "-b", "main"]);
        git(&world, &["add", "."]);
        git(&world, &["-c", "user.name=T", "-c", "user.email=t@x", "commit", "-qm", "1"]);
        let config = world.home.join("config/ostler");
        fs::create_dir_all(&config).expect("a folder");
        write(&config, "config.toml", CONFIG);
        if site.ends_with("prune") {
            let none = "[checkpoints]\nlast = 0\nhourly = \"never\"\ndaily = \"never\"\n";
            write(&config, "config.toml", &format!("{CONFIG}{none}"));
        }
        if is_at_gate(site) {
            let verifier = if site.ends_with("clear gate") { "exec sleep 1000" } else { "verdict true" };
            let agents = [("worker", "plan; complete 1 docs/a.md; read -r line"), ("verifier", verifier)];
            let agents: String =
                agents.iter().map(|(name, script)| phases::agent(&world, name, script)).collect();
            phases::configure(&world, &format!("{agents}{PHASES}"));
        }
        if site.ends_with("notify") {
            let heard = world.project.join("told").display().to_string();
            let script = format!("echo $OSTLER_NOTICE_EVENT $OSTLER_NOTICE_ID >>'{heard}'");
            let command = json!(["sh", "-c", script]);
            let channel = format!("[[notify]]\ntype = 'command'\ncommand = {command}\nafter = '0s'\n");
            write(&config, "config.toml", &format!("{CONFIG}{channel}"));
        }
        if site.ends_with("not launched") {
            // Where the launch file is to be drafted there is a folder.
            fs::create_dir_all(world.home.join("sessions/s_1/1/launch.draft")).expect("a folder");
        }
        if site == WITH_SOMETHING_LIVE {
            world.start();
        } else {
            world.start_with(&[("OSTLER_CRASH_AT", &format!("{site}:{count}"))]);
        }
        Fragile { world, site, deaths: 0 }
    }

    /// Sees to it that there is a server. The second always dies while it recovers, the third at the same place as
    /// the first, if it comes there.
    fn keep(&mut self) {
        if !self.world.has_died() {
            return;
        }
        self.deaths += 1;
        if self.deaths > 1 {
            return self.world.start();
        }
        self.world.spawn(&[("OSTLER_CRASH_AT", "reconciling:1")]);
        let deadline = Instant::now() + DEADLINE;
        while !self.world.has_died() {
            assert!(Instant::now() < deadline, "it has to die while it recovers");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        self.world.start_with(&[("OSTLER_CRASH_AT", &format!("{}:1", self.site))]);
    }

    /// Asks again until it has worked, as a person would.
    fn persist<T>(&mut self, what: &str, look: impl Fn(&World) -> Option<T>) -> T {
        let deadline = Instant::now() + DEADLINE;
        loop {
            self.keep();
            if let Some(found) = look(&self.world) {
                return found;
            }
            let site = self.site;
            assert!(Instant::now() < deadline, "{site}: waited too long for {what}\n{}", self.world.log());
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// Waits for its first death: some places are reached only behind the last thing of a story that can be seen.
    fn linger(&mut self) {
        let deadline = Instant::now() + DEADLINE;
        while self.deaths == 0 && Instant::now() < deadline {
            self.keep();
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    fn run(&mut self, new: &NewRun) -> String {
        self.persist("a run", |world| {
            let runs = world.get::<Vec<RunView>>("/runs").ok()?;
            let known = runs.first().map(|run| run.sessions[0].id.clone());
            // The answer may be lost with the server; then it is found the next time.
            known.or_else(|| match world.post::<RunView>("/runs", new) {
                Err(ClientError::Refused(problem)) => panic!("a run was refused: {problem:?}"),
                made => made.ok().map(|run| run.sessions[0].id.clone()),
            })
        })
    }

    fn status(&mut self, id: &str, status: &str) {
        self.persist(status, |world| view(world, id).filter(|it| it.status == status).map(drop));
    }

    /// Waits until something happened to a session.
    fn happened(&mut self, id: &str, kind: &str) {
        self.persist(kind, |world| events(world, id)?.iter().any(|it| it.kind == kind).then_some(()));
    }

    /// Wants something until it has happened: whether an earlier wish was heard is looked up first.
    fn wish(&mut self, id: &str, what: &str, body: &Value, kind: &str) {
        self.persist(what, |world| {
            if events(world, id)?.iter().any(|it| it.kind == kind) {
                return Some(());
            }
            world.post::<Value>(&format!("/sessions/{id}/{what}"), body).ok();
            None
        });
    }

    /// Answers until it is answered.
    fn wish_answer(&mut self, request: &str, value: &str) {
        self.persist("the answer", |world| {
            let path = format!("/requests/{request}");
            if world.get::<RequestView>(&path).ok()?.settled.is_some() {
                return Some(());
            }
            world.post::<Value>(&format!("{path}/answer"), &json!({ "value": value })).ok();
            None
        });
    }

    fn worktree(&mut self, id: &str, what: &str, state: &str) {
        self.persist(what, |world| {
            if view(world, id)?.worktree?.state == state {
                return Some(());
            }
            world.post::<Value>(&format!("/sessions/{id}/{what}"), &json!({})).ok();
            None
        });
    }

    fn listener(&self, agent: &str, check: Option<&str>) -> NewRun {
        NewRun {
            agent: Some(agent.to_owned()),
            prompt: Some("begin".to_owned()),
            check: check.map(str::to_owned),
            attempts_max: check.map(|_| 5),
            worktree: check.is_some(),
            ..self.world.new_run(&[])
        }
    }
}

fn git(world: &World, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(&world.project).output().expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn view(world: &World, id: &str) -> Option<SessionView> {
    world.get(&format!("/sessions/{id}")).ok()
}

fn events(world: &World, id: &str) -> Option<Vec<EventView>> {
    world.get(&format!("/events?session={id}")).ok()
}

/// Writes down what it is told, and by which process.
const AGENT: &str = r#"
echo "begin $$" >>heard
read -r first; echo "first: $first" >>heard
if [ ! -e asked ]; then
    touch asked; ASK; read -r answer; echo "answer: $answer" >>heard
    read -r word; echo "message: $word" >>heard; echo "end $$" >>heard
    exit 0
fi
touch done
"#;

/// Says that it is through, and waits for more until there is no more.
const TALKER: &str = r#"
echo "begin $$" >>heard
read -r first; echo "first: $first" >>heard
echo '{"event":"done"}'
while read -r more; do echo "more: $more" >>heard; done
echo "end $$" >>heard
"#;

const CONFIG: &str = r#"
[agents.listener]
about = "reads what it is told"
command = ["bash", "agent.sh"]

[agents.talker]
about = "waits for more"
command = ["bash", "talker.sh"]
end.close_input = true
output.speech = [{ when = { event = "say" }, give = { text = "text" } }]
output.end = [{ when = { event = "done" }, give = { status = "success" } }]
"#;

/// A worktree, a launch, a first word, a question, an answer, a pause, a message, a failed check, a second attempt,
/// a check that passes, a merge.
fn work(fragile: &mut Fragile) {
    let id = fragile.run(&fragile.listener("listener", Some("echo ran >>checks; test -e done")));
    let pid = fragile.persist("its process", |world| view(world, &id)?.pid);
    let request = fragile.persist("its question", |world| {
        let inbox = world.get::<Vec<RequestView>>("/inbox").ok()?;
        inbox.into_iter().next().map(|request| request.id)
    });
    if fragile.site == WITH_SOMETHING_LIVE {
        fragile.world.kill_server();
        fragile.world.start_with(&[("OSTLER_CRASH_AT", &format!("{WITH_SOMETHING_LIVE}:1"))]);
    }
    fragile.wish_answer(&request, "MySQL");
    fragile.happened(&id, "input.consumed");
    let now = fragile.persist("its process", |world| view(world, &id)?.pid);
    assert_eq!(now, pid, "the agent has not noticed the server's death at {}", fragile.site);
    fragile.wish(&id, "pause", &json!({}), "session.paused");
    fragile.persist("a standstill", |world| {
        let stopped = |it: &EventView| it.kind == "session.stopped" && it.body["cause"] == "command";
        events(world, &id)?.iter().any(stopped).then_some(())
    });
    fragile.wish(&id, "continue", &json!({}), "session.unpaused");
    fragile.wish(&id, "messages", &json!({ "text": "go on" }), "message.written");
    fragile.status(&id, "completed");
    fragile.worktree(&id, "merge", "merged");
    let events = settled(fragile, &id);
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count("request.opened"), count("request.settled"), count("check.finished")), (1, 1, 2));
    assert_eq!((count("session.launched"), count("session.started"), count("session.ended")), (2, 2, 2));
    assert_eq!((count("session.paused"), count("session.unpaused"), count("message.written")), (1, 1, 1));
    assert_eq!(count("input.delivered"), 2, "the answer and the message");
    let project = &fragile.world.project;
    let heard = fs::read_to_string(project.join("heard")).expect("what it heard");
    let said = |word: &str| heard.matches(word).count();
    assert_eq!((said("first: "), said("answer: "), said("message: go on")), (2, 1, 1), "{heard}");
    assert_eq!(said(&format!("begin {pid}\n")) + said(&format!("end {pid}\n")), 2, "one process: {heard}");
    assert_eq!(said("begin "), 2, "{heard}");
    let checks = fs::read_to_string(project.join("checks")).expect("what the checks wrote");
    assert_eq!(checks, "ran\nran\n", "each check ran once");
    assert_eq!(git(&fragile.world, &["log", "--oneline"]).lines().count(), 2, "the work came once");
}

/// An agent that ends when its input does.
fn close(fragile: &mut Fragile) {
    let id = fragile.run(&fragile.listener("talker", None));
    fragile.status(&id, "completed");
    let events = settled(fragile, &id);
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count("input.closed"), count("session.launched"), count("session.started")), (1, 1, 1));
    let heard = fs::read_to_string(fragile.world.project.join("heard")).expect("what it heard");
    assert_eq!(heard.lines().count(), 3, "{heard}");
}

/// An agent that is cancelled.
fn cancel(fragile: &mut Fragile) {
    let id =
        fragile.run(&fragile.world.new_run(&["bash", "-c", "echo begin >>heard; sleep 1000 & sleep 1001"]));
    fragile.persist("its process", |world| view(world, &id)?.pid);
    fragile.persist("its first words", |world| world.project.join("heard").exists().then_some(()));
    fragile.wish(&id, "cancel", &json!({}), "session.cancelled");
    fragile.status(&id, "cancelled");
    let events = settled(fragile, &id);
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count("session.cancelled"), count("session.started"), count("session.ended")), (1, 1, 1));
    assert_eq!(fs::read_to_string(fragile.world.project.join("heard")).expect("a file"), "begin\n");
}

/// A check that nobody waits for any more, and a worktree that nobody wants.
fn unwanted(fragile: &mut Fragile) {
    let mut new = fragile.listener("listener", Some("echo ran >>\"$OSTLER_TEST_CHECKS\"; sleep 1000"));
    let checks = fragile.world.home.join("checks");
    new.environment
        .get_or_insert_default()
        .insert("OSTLER_TEST_CHECKS".to_owned(), checks.display().to_string());
    new.agent = None;
    new.prompt = None;
    new.command = vec!["sh".to_owned(), "-c".to_owned(), "echo work >work".to_owned()];
    let id = fragile.run(&new);
    fragile.persist("the check", |_| checks.exists().then_some(()));
    fragile.wish(&id, "pause", &json!({}), "session.paused");
    fragile.wish(&id, "continue", &json!({}), "session.unpaused");
    fragile.wish(&id, "cancel", &json!({}), "session.cancelled");
    fragile.status(&id, "cancelled");
    fragile.worktree(&id, "discard", "discarded");
    settled(fragile, &id);
    assert_eq!(fs::read_to_string(checks).expect("a file"), "ran\n", "the check ran once");
    let pins = git(&fragile.world, &["for-each-ref", "--format=%(refname)", "refs/ostler"]);
    assert_eq!(pins.lines().count(), 1, "what was discarded is pinned once: {pins}");
}

/// A project whose package manager writes down that it ran, and an agent that needs a key and a package.
fn needy(fragile: &Fragile, npm: &str) -> NewRun {
    let tools = fragile.world.home.join("tools");
    fs::create_dir_all(&tools).expect("a folder");
    write(&tools, "npm", &format!("#!/bin/sh\necho \"$@\" >>installs\n{npm}\n"));
    fs::set_permissions(tools.join("npm"), fs::Permissions::from_mode(0o755)).expect("it is ours");
    write(&fragile.world.project, "package.json", "{}");
    let block = |kind: &str, name: &str| {
        format!(
            "[DEPENDENCY_REQUEST]\\ntype: {kind}\\nname: {name}\\ndescription: x\\nrequired: true\\n[/DEPENDENCY_REQUEST]\\n"
        )
    };
    let script = format!(
        "echo begin >>heard; printf '{}{}'; read -r line; echo \"line: $line\" >>heard; bash -c 'echo \"key: $KEY\"' >>heard",
        block("api_key", "KEY"),
        block("package", "left-pad"),
    );
    let mut new = fragile.world.new_run(&["bash", "-c", &script]);
    let path = format!("{}:{}", tools.display(), new.environment.get_or_insert_default()["PATH"]);
    new.environment.get_or_insert_default().insert("PATH".to_owned(), path);
    new
}

/// Gives the key and approves the package.
fn give(fragile: &mut Fragile) {
    for (request, answer) in
        [("q_1", json!({ "values": { "KEY": "given" } })), ("q_2", json!({ "decision": true }))]
    {
        fragile.persist("what it needs", |world| {
            let path = format!("/requests/{request}");
            if world.get::<RequestView>(&path).ok()?.settled.is_some() {
                return Some(());
            }
            world.post::<Value>(&format!("{path}/answer"), &answer).ok();
            None
        });
    }
}

/// An agent that needs a value and a package.
fn need(fragile: &mut Fragile) {
    let new = needy(fragile, "exit 0");
    let id = fragile.run(&new);
    give(fragile);
    fragile.status(&id, "completed");
    let values = fragile.world.home.join("sessions").join(&id).join("values");
    fragile.persist("no values", |_| (!values.exists()).then_some(()));
    let events = settled(fragile, &id);
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count("request.settled"), count("install.started"), count("install.finished")), (2, 1, 1));
    assert_eq!((count("session.started"), count("input.delivered"), count("values.withheld")), (1, 1, 0));
    let project = &fragile.world.project;
    let heard = fs::read_to_string(project.join("heard")).expect("what it heard");
    assert!(heard.starts_with("begin\nline: {") && heard.ends_with("key: given\n"), "{heard}");
    assert!(heard.contains("\"installed\":true"), "{heard}");
    let installs = fs::read_to_string(project.join("installs")).expect("what npm wrote");
    assert_eq!(installs, "install --save -- left-pad\n", "it was installed once");
}

/// An installation that nobody waits for any more.
fn unneeded(fragile: &mut Fragile) {
    let new = needy(fragile, "exec sleep 1000");
    let id = fragile.run(&new);
    give(fragile);
    fragile.persist("the installation", |world| world.project.join("installs").exists().then_some(()));
    fragile.wish(&id, "cancel", &json!({}), "session.cancelled");
    fragile.status(&id, "cancelled");
    let events = settled(fragile, &id);
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count("install.started"), count("install.finished")), (1, 1));
}

/// Going back to a checkpoint after an agent that spoiled everything.
fn back(fragile: &mut Fragile) {
    let script = format!("echo good >work; {QUESTION}; read -r line; echo bad >work; echo more >more");
    let id = fragile.run(&fragile.world.new_run(&["bash", "-c", &script]));
    let request = fragile.persist("its question", |world| {
        let inbox = world.get::<Vec<RequestView>>("/inbox").ok()?;
        inbox.into_iter().next().map(|request| request.id)
    });
    fragile.persist("the answer", |world| {
        world.post::<Value>(&format!("/requests/{request}/answer"), &json!({ "value": "MySQL" })).ok();
        world.get::<RequestView>(&format!("/requests/{request}")).ok()?.settled
    });
    fragile.status(&id, "completed");
    fragile.persist("the restore", |world| {
        let events = events(world, &id)?;
        let has = |kind: &str| events.iter().any(|it| it.kind == kind);
        // Once it has begun it is carried out, whoever is the server then.
        if !has("checkpoint.restoring") {
            world.post::<Value>("/checkpoints/c_1/restore", &json!({})).ok();
        }
        has("checkpoint.restored").then_some(())
    });
    let events = settled(fragile, &id);
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count("checkpoint.wanted"), count("checkpoint.made")), (2, 2));
    assert_eq!((count("checkpoint.restoring"), count("checkpoint.restored")), (1, 1));
    let project = &fragile.world.project;
    assert_eq!(fs::read_to_string(project.join("work")).expect("a file"), "good\n");
    assert!(!project.join("more").exists());
    let bad = git(&fragile.world, &["show", &format!("refs/ostler/checkpoints/{id}/c_2:work")]);
    assert_eq!(bad, "bad\n");
}

/// Letting go of a checkpoint that is too much.
fn thin_out(fragile: &mut Fragile) {
    let script = format!("echo one >work; {QUESTION}; read -r line; echo two >work");
    let id = fragile.run(&fragile.world.new_run(&["bash", "-c", &script]));
    let request = fragile.persist("its question", |world| {
        let inbox = world.get::<Vec<RequestView>>("/inbox").ok()?;
        inbox.into_iter().next().map(|request| request.id)
    });
    fragile.wish_answer(&request, "MySQL");
    fragile.status(&id, "completed");
    fragile.world.post::<Value>(&format!("/sessions/{id}/checkpoints"), &json!({})).expect("a second one");
    fragile.persist("the end of the first", |world| {
        let directory = world.project.display().to_string();
        world.post::<Value>("/checkpoints/prune", &json!({ "directory": directory })).ok();
        let refs = git(world, &["for-each-ref", "--format=%(refname)", "refs/ostler/checkpoints"]);
        (refs == format!("refs/ostler/checkpoints/{id}/c_2\n")).then_some(())
    });
    let events = settled(fragile, &id);
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count("checkpoint.made"), count("checkpoint.pruned")), (2, 1));
}

/// A shim that is killed.
fn lose(fragile: &mut Fragile) {
    let script = format!("echo begin >>heard; {QUESTION}; read -r line; sleep 1000");
    let id = fragile.run(&fragile.world.new_run(&["bash", "-c", &script]));
    fragile.happened(&id, "request.opened");
    kill(fragile.world.shim_of(&id), "KILL");
    fragile.status(&id, "interrupted");
    fragile.wish(&id, "cancel", &json!({}), "session.cancelled");
    fragile.status(&id, "cancelled");
    let events = settled(fragile, &id);
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count("request.opened"), count("session.ended"), count("session.started")), (1, 1, 1));
    assert_eq!(fs::read_to_string(fragile.world.project.join("heard")).expect("a file"), "begin\n");
}

/// An agent whose process asks at the session's socket and is killed there.
fn call(fragile: &mut Fragile) {
    let script = "ostler ask 'Which?' >>heard & echo $! >caller.draft; mv caller.draft caller; wait; \
                  read -r line; echo \"answer: $line\" >>heard";
    let id = fragile.run(&fragile.world.new_run(&["bash", "-c", script]));
    fragile.happened(&id, "request.opened");
    let caller =
        fragile.world.wait_for("its number", |world| fs::read_to_string(world.project.join("caller")).ok());
    kill(caller.trim().parse().expect("a number"), "KILL");
    fragile.happened(&id, "request.parted");
    fragile.wish_answer("q_1", "this");
    fragile.status(&id, "completed");
    let events = settled(fragile, &id);
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count("request.opened"), count("request.parted"), count("input.delivered")), (1, 1, 1));
    let heard = fs::read_to_string(fragile.world.project.join("heard")).expect("a file");
    assert_eq!(heard.lines().count(), 1, "{heard}");
}

/// An agent that asks, and somebody who is told of it and of its end, each perhaps twice and under one id.
fn told(fragile: &mut Fragile) {
    let script = format!("{QUESTION}; read -r line");
    let id = fragile.run(&fragile.world.new_run(&["bash", "-c", &script]));
    let heard = fragile.world.project.join("told");
    let said = |word: &str| fs::read_to_string(&heard).ok().filter(|it| it.contains(word));
    fragile.persist("a notice", |_| said("notice "));
    fragile.wish_answer("q_1", "1");
    fragile.status(&id, "completed");
    let all = fragile.persist("its end", |_| said("settled "));
    let ids: BTreeSet<&str> = all.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
    assert_eq!(ids.len(), 1, "{all}");
    settled(fragile, &id);
}

/// An agent that cannot be launched.
fn fail(fragile: &mut Fragile) {
    let id = fragile.run(&fragile.world.new_run(&["true"]));
    fragile.status(&id, "failed");
    let events = settled(fragile, &id);
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count("session.launched"), count("session.started"), count("session.ended")), (1, 0, 1));
}

/// What holds at the end of every story: one end, events without a gap, no open action, nothing left running, and a
/// journal that gives what is kept.
fn settled(fragile: &mut Fragile, id: &str) -> Vec<EventView> {
    let events = fragile.persist("its events", |world| events(world, id));
    assert_eq!(events.iter().filter(|event| event.kind == "session.finished").count(), 1);
    // It may die once more, when its session is over.
    let all = fragile.persist("all events", |world| world.get::<Vec<EventView>>("/events").ok());
    let numbers: Vec<u64> = all.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>(), "without a gap");
    fragile.persist("nothing left", |world| world.processes().is_empty().then_some(()));
    fragile.world.verify();
    events
}

/// Whether a place is passed at a gate.
fn is_at_gate(site: &str) -> bool {
    let gate = ["collect", "gate check", "verify", "read verdict", "report", "clear gate"];
    gate.iter().any(|it| site.ends_with(it))
}

const PHASES: &str = r#"
[phases]
agent = "worker"
verifier = "verifier"

[[phases.phase]]
name = "Planning"
artifacts = [{ glob = "docs/a.md", sections = ["Problem"] }]
criteria = ["the problem is one"]
checks = ["echo ran >>\"$OSTLER_TEST_RAN\"; test -s docs/a.md"]
"#;

/// A run through a phase, up to here.
fn phased(fragile: &mut Fragile) -> PhasesView {
    let ran = fragile.world.home.join("ran").display().to_string();
    let path = env::var("PATH").unwrap_or_default();
    let new = NewPhases {
        directory: fragile.world.project.display().to_string(),
        idea: "a shop".to_owned(),
        environment: Some([("PATH", path), ("OSTLER_TEST_RAN", ran)].map(|(a, b)| (a.to_owned(), b)).into()),
        ..NewPhases::default()
    };
    fragile.persist("a run", |world| {
        let known = world.get::<Vec<PhasesView>>("/phases").ok()?.into_iter().next();
        known.or_else(|| match world.post::<PhasesView>("/phases", &new) {
            Ok(run) => Some(run),
            Err(ClientError::Refused(problem)) => panic!("{problem:?}"),
            Err(_) => None,
        })
    })
}

/// One gate with a command and a verifier, an approval, and the end.
fn gate(fragile: &mut Fragile) {
    let run = phased(fragile).run;
    let review = fragile.persist("a review", |world| {
        let inbox = world.get::<Vec<RequestView>>("/inbox").ok()?;
        inbox.into_iter().find(|request| request.ask.kind == "review")
    });
    assert_eq!(review.ask.fields["passed"], true, "{review:?}");
    let decision = json!({ "decision": "approve", "tree": review.ask.fields["tree"] });
    fragile.persist("the approval", |world| {
        world.post::<Value>(&format!("/requests/{}/review", review.id), &decision).ok();
        world.get::<RequestView>(&format!("/requests/{}", review.id)).ok()?.settled
    });
    let done = fragile.persist("the end", |world| {
        let view = world.get::<PhasesView>(&format!("/phases/{run}")).ok()?;
        (view.state == PhasesState::Done).then_some(view)
    });
    assert_eq!(done.phases[0].gates.len(), 1);
    let worker = done.phases[0].session.clone().expect("a worker");
    let events = settled(fragile, &worker);
    let count = |kind: &str| events.iter().filter(|event| event.kind == kind).count();
    assert_eq!((count("phase.announced"), count("phase.approved"), count("session.launched")), (1, 1, 1));
    // What is in the tree, what the command and the verifier said, and what that comes to: each once.
    assert_eq!(count("gate.found"), 4);
    assert_eq!(done.phases[0].sessions.len(), 2, "one verifier was asked");
    let ran = fs::read_to_string(fragile.world.home.join("ran")).expect("the command has run");
    assert_eq!(ran, "ran\n", "it has run once");
    cleared(fragile, &run);
}

/// Nothing is left of where the commands and the verifier of the first gate ran.
fn cleared(fragile: &mut Fragile, run: &str) {
    let places = fragile.world.home.join("phases").join(run).join("1-1");
    let left = |_: &World| fs::read_dir(&places).ok()?.flatten().all(|it| it.path().is_file()).then_some(());
    fragile.persist("an empty place", left);
}

/// A run that is cancelled while its verifier looks.
fn gate_unwanted(fragile: &mut Fragile) {
    let run = phased(fragile).run;
    let worker = fragile.persist("a verifier at work", |world| {
        let view = world.get::<PhasesView>(&format!("/phases/{run}")).ok()?;
        let phase = view.phases.into_iter().next()?;
        (phase.gates.last()?.step == "verifier").then_some(phase.session)?
    });
    fragile.wish(&worker, "cancel", &json!({}), "session.cancelled");
    fragile.persist("the end", |world| {
        let view = world.get::<PhasesView>(&format!("/phases/{run}")).ok()?;
        (view.state == PhasesState::Cancelled).then_some(())
    });
    settled(fragile, &worker);
    cleared(fragile, &run);
}

fn story(site: &str) -> fn(&mut Fragile) {
    match site.split_once(' ').map_or(site, |(_, what)| what) {
        "close input" => close,
        "end" => cancel,
        "steer check" | "end check" | "discard" => unwanted,
        "restore" => back,
        "prune" => thin_out,
        "burial" => lose,
        "caller gone" => call,
        "look in vault" | "provide values" | "remove values" | "install" => need,
        "end install" => unneeded,
        "not launched" => fail,
        "notify" => told,
        "clear gate" => gate_unwanted,
        "collect" | "gate check" | "verify" | "read verdict" | "report" => gate,
        _ => work,
    }
}

/// How many times each place is tried; all of them in `soak`.
fn times() -> Option<u32> {
    env::var("OSTLER_CRASHES").ok().and_then(|text| text.parse().ok())
}

#[test]
fn the_server_may_die_anywhere() {
    // One place alone, for whoever looks for a cause.
    let named = env::var("OSTLER_CRASH_SITE").ok();
    let is_wanted = |site: &&str| match &named {
        Some(named) => site.ends_with(named.as_str()),
        None => times().is_some() || SAMPLE.contains(site),
    };
    let wanted: Vec<&str> = SITES.into_iter().filter(is_wanted).collect();
    let mut hit = BTreeSet::new();
    let (mut stories, mut deaths) = (0, 0);
    for &site in &wanted {
        // Every session commits some forty times.
        let more = if site.ends_with("commit") { 10 } else { 1 };
        for count in 1..=times().map_or(1, |times| times * more) {
            let mut fragile = Fragile::new(site, count);
            story(site)(&mut fragile);
            if count == 1 {
                fragile.linger();
            }
            stories += 1;
            // One death more than was seen: the one while it recovered.
            deaths += if fragile.deaths > 0 { fragile.deaths + 1 } else { 0 };
            if fragile.deaths > 0 {
                hit.insert(site);
            }
        }
    }
    println!(
        "crashes: {} of {} sites hit, {stories} sessions, {deaths} servers killed",
        hit.len(),
        wanted.len()
    );
    let missed: Vec<&&str> = wanted.iter().filter(|site| !hit.contains(*site)).collect();
    assert_eq!(missed, Vec::<&&str>::new(), "these were not hit");
}
