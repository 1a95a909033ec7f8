//! What each CLI is put through, and what has to come of it. Where they differ, the difference is written down here.

use std::{fs, path::Path};

use ostler_protocol::guide::{self, Language};
use ostler_server::api::{CheckpointView, RequestView, SessionView};

use super::{
    hearing,
    lab::Lab,
    model::Model,
    office, phases,
    support::{World, kill},
    tasks,
};

/// A case and its name.
type Case = (&'static str, fn(&Lab, &mut World, &Model));

/// In this order.
pub(crate) const ALL: [Case; 12] = [
    ("is found", is_found),
    ("runs", runs),
    ("asks and is answered", asks_and_is_answered),
    ("has a configuration of its own", has_its_own_configuration),
    ("asks by a tool", asks_by_a_tool),
    ("is lost, cancelled and resumed", is_lost_cancelled_and_resumed),
    ("is killed after it was told something", hearing::is_killed_after_a_message),
    ("goes back to a checkpoint", goes_back),
    ("goes through a phase", phases::goes_through_a_phase),
    ("calls another", office::calls_another),
    ("does tasks", tasks::does_tasks),
    ("is told something, hits a limit, wants permission", three_at_once),
];

fn is_found(lab: &Lab, world: &mut World, _: &Model) {
    let said = lab.done(world, &["agents", "check", lab.name]);
    assert!(said.contains("as tested"), "{said}");
}

fn runs(lab: &Lab, world: &mut World, model: &Model) {
    let said = lab.done(world, &["run", lab.name, &lab.words("do")]);
    assert!(said.contains("It is \"done\"."), "{said}");
    let sessions: Vec<SessionView> = world.get("/sessions?all=true").expect("sessions");
    let id = &sessions.iter().find(|it| it.title == lab.words("do")).expect("it is there").id;
    let view = lab.completed(world, id);
    assert!(view.conversation.is_some(), "{view:#?}");
    assert!(view.usage.input_tokens.is_some_and(|tokens| tokens > 0), "{:?}", view.usage);
    assert!(view.usage.output_tokens.is_some_and(|tokens| tokens > 0), "{:?}", view.usage);
    let logs = lab.done(world, &["logs", id]);
    assert!(logs.contains("It is \"done\".") && !logs.contains("\":\""), "words, not JSON: {logs}");
    let told = model.last(&lab.words("do"));
    assert!(told.contains(guide::text(Language::English).trim_end()), "{told}");
    world.wait_for("an empty machine", |world| world.processes().is_empty().then_some(()));
}

/// Waits until a session asks, and everything of it stands still.
fn question(world: &World, session: &str, text: &str) -> RequestView {
    let request = world.asked(session);
    assert_eq!((request.ask.kind.as_str(), request.ask.text.as_str()), ("question", text));
    let view = world.status(session, "waiting_input");
    assert!(view.conversation.is_some(), "{view:#?}");
    stands_still(world, &view);
    request
}

/// Stopped, or gone already: a CLI that has said its last word may have ended before it could be stopped.
fn stands_still(world: &World, view: &SessionView) {
    let number = view.launches.last().expect("a launch").number;
    world.wait_for("the stop", |world| {
        let is_stopped = world.events(&view.id).iter().any(|event| {
            event.kind == "session.stopped"
                && event.body["launch"] == number
                && event.body["confirmed"] == true
        });
        let has_ended = world.session(&view.id).launches.pop()?.ended.is_some();
        (is_stopped || has_ended).then_some(())
    });
}

/// The time that the tree of a session has spent on a core, in ticks.
fn ticks(world: &World) -> u64 {
    let shims = world.shims();
    let tree = world.processes().into_iter().map(|(pid, _)| pid).filter(|pid| !shims.contains(pid));
    let of_one = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<u64> = stat
            .rsplit(") ")
            .next()
            .unwrap_or_default()
            .split(' ')
            .filter_map(|it| it.parse().ok())
            .collect();
        fields.get(10..12).unwrap_or_default().iter().sum::<u64>()
    };
    tree.map(of_one).sum()
}

/// Two at once, each with a configuration directory of its own: what the user has set up is there, and what they write
/// is not the user's. An answer finds the conversation again.
fn has_its_own_configuration(lab: &Lab, world: &mut World, model: &Model) {
    let (instructions, conversations) = match lab.name {
        "claude" => (".claude/CLAUDE.md", ".claude/projects"),
        "codex" => (".codex/AGENTS.md", ".codex/sessions"),
        "gemini" => (".gemini/GEMINI.md", ".gemini/tmp"),
        // It has no variable of its own.
        _ => return,
    };
    let (instructions, conversations) = (lab.home.join(instructions), lab.home.join(conversations));
    fs::write(&instructions, "Whoever reads this knows the user's own settings.")
        .expect("its home can be written");
    let before = files(&conversations);
    let agent = format!("{}-private", lab.name);
    let sessions = ["own", "share"].map(|case| lab.run(world, &agent, case));
    let asked: Vec<RequestView> = sessions.iter().map(|session| question(world, session, "Whose?")).collect();
    for request in &asked {
        lab.done(world, &["answer", &request.id, "ours"]);
    }
    for session in &sessions {
        lab.completed(world, session);
        let own = world.home.join("sessions").join(session).join("config");
        assert!(files(&own) > 0, "{} writes where it is told", lab.name);
    }
    for case in ["own", "share"] {
        let told = model.last(&lab.words(case));
        assert!(told.contains("knows the user's own settings") && told.contains("ours"), "{told}");
    }
    assert_eq!(files(&conversations), before, "{} writes nothing beside", lab.name);
    fs::remove_file(&instructions).expect("its home can be written");
}

/// How many files there are in a directory and below it; links are not followed.
fn files(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.file_type() {
            Ok(kind) if kind.is_dir() => files(&entry.path()),
            Ok(kind) => usize::from(kind.is_file()),
            Err(_) => 0,
        })
        .sum()
}

/// The CLI starts the server of its session's tools, waits in a call, and hears the answer as the tool's result.
fn asks_by_a_tool(lab: &Lab, world: &mut World, model: &Model) {
    if lab.name == "gemini" {
        // It cannot be given one without touching the user's settings.
        return;
    }
    let session = lab.run(world, lab.name, "call");
    let request = world.asked(&session);
    assert_eq!((request.trust.as_str(), request.ask.text.as_str()), ("channel", "Which colour?"));
    assert_eq!(world.status(&session, "waiting_input").blocked_by, [request.id.as_str()]);
    assert_eq!(world.count(&session, "session.stopped"), 0, "nothing is stopped for it");
    world.restart();
    lab.done(world, &["answer", &request.id, "a \"dark\" green"]);
    let view = lab.completed(world, &session);
    assert_eq!(view.launches.len(), 1, "{view:#?}");
    let told = model.last(&lab.words("call"));
    assert!(told.contains("dark"), "{told}");
    assert_eq!(world.request(&request.id).delivery, "consumed");
}

fn asks_and_is_answered(lab: &Lab, world: &mut World, model: &Model) {
    let is_claude = lab.name == "claude";
    let session = lab.run(world, lab.name, "ask");
    let first = question(world, &session, "Which one?");
    let conversation = world.session(&session).conversation;
    lab.done(world, &["answer", &first.id, "the \"left\" one"]);
    if is_claude {
        // Its input is still open when a tool is asked for in the turn after the answer.
        let request = world.asked(&session);
        assert_eq!(request.ask.kind, "permission");
        lab.done(world, &["answer", &request.id, "--yes"]);
    }
    let second = question(world, &session, "And then?");
    let told = model.last(&lab.words("ask"));
    assert!(told.contains("Which one?") && told.contains("the \"left\" one"), "{told}");
    // gemini has no shell unless it is allowed.
    assert_eq!(lab.work.join("answered").exists(), lab.name != "gemini");

    let (before, spent) = (world.session(&session), ticks(world));
    world.restart();
    assert_eq!(ticks(world), spent, "nothing of it has run");
    let after = world.session(&session);
    assert_eq!((after.status.as_str(), after.pid), ("waiting_input", before.pid));
    assert_eq!(world.inbox().iter().map(|it| &it.id).collect::<Vec<_>>(), [&second.id]);
    lab.done(world, &["answer", &second.id, "home"]);
    let view = lab.completed(world, &session);
    let told = model.last(&lab.words("ask"));
    assert!(told.contains("And then?") && told.contains("home"), "{told}");
    assert_eq!(view.conversation, conversation);
    assert_eq!(view.launches.len(), if is_claude { 1 } else { 3 }, "{view:#?}");
    for request in [&first, &second] {
        assert_eq!(world.request(&request.id).delivery, "heard");
    }
    assert_eq!(world.count(&session, "request.opened"), if is_claude { 3 } else { 2 });
}

fn is_lost_cancelled_and_resumed(lab: &Lab, world: &mut World, model: &Model) {
    let session = lab.run(world, &lab.free(), "lose");
    lab.wait_for_tool(world, "lose");
    let conversation = world.wait_for("its conversation", |world| world.session(&session).conversation);
    kill(world.shim_of(&session), "KILL");
    let view = world.status(&session, "interrupted");
    assert!(view.resumable, "{view:#?}");
    world.wait_for("the end of the tool", |_| lab.tools("lose").is_empty().then_some(()));

    lab.done(world, &["resume", "-d", &session]);
    lab.wait_for_tool(world, "cancel");
    let told = model.last(&lab.words("lose"));
    assert!(told.contains("You were interrupted."), "{told}");
    lab.done(world, &["cancel", &session]);
    let view = world.status(&session, "cancelled");
    assert!(view.resumable, "{view:#?}");
    assert_eq!((lab.tools("cancel"), world.processes()), (Vec::new(), Vec::new()), "nothing is left");

    lab.done(world, &["resume", "-d", &session, "Finish it after all."]);
    let view = lab.completed(world, &session);
    assert_eq!(view.conversation, Some(conversation));
    let told = model.last(&lab.words("lose"));
    assert!(told.contains("Finish it after all."), "{told}");
}

/// Files and conversation are as they were when it asked, as far as the CLI can; the bad state is kept.
fn goes_back(lab: &Lab, world: &mut World, model: &Model) {
    let way = lab.work.join("way");
    fs::write(&way, "good\n").expect("a file");
    let session = lab.run(world, &lab.free(), "back");
    let request = question(world, &session, "Which way?");
    lab.done(world, &["answer", &request.id, "left"]);
    lab.completed(world, &session);
    assert_eq!(fs::read_to_string(&way).expect("a file"), "bad\n");
    assert!(model.last(&lab.words("back")).contains("It goes wrong."), "the bad turn was part of it");

    let path = format!("/checkpoints?session={session}");
    let kept: Vec<CheckpointView> = world.get(&path).expect("checkpoints");
    let good = kept.last().expect("one at the question");
    assert_eq!(good.rewindable, lab.name == "claude", "{good:?}");
    let said = lab.done(world, &["checkpoint", "restore", &good.id]);
    assert_eq!(fs::read_to_string(&way).expect("a file"), "good\n", "{said}");
    let kept: Vec<CheckpointView> = world.get(&path).expect("checkpoints");
    let bad = kept.first().expect("what was replaced");
    assert!(bad.why == "restore" && said.contains(&bad.id), "{said}");

    lab.done(world, &["resume", "-d", &session, "Take the other one."]);
    lab.completed(world, &session);
    let told = model.last(&lab.words("back"));
    assert!(told.contains("Take the other one.") && !told.contains("It goes wrong."), "{told}");
    let is_known = told.contains("The files are as they were") && told.contains("One thing:");
    let is_new = told.contains("You have worked on this before.") && !told.contains("One thing:");
    assert!(if lab.name == "claude" { is_known } else { is_new }, "{told}");
}

/// Each for itself would take longer to start. A limit would hold the others up: it belongs to their account.
fn three_at_once(lab: &Lab, world: &mut World, model: &Model) {
    let careful = if lab.name == "opencode" { "opencode-careful" } else { lab.name };
    let told = lab.run(world, &lab.free(), "tell");
    let refused = lab.run(world, careful, "permit");
    is_told_something(lab, world, model, &told);
    wants_permission(lab, world, model, &refused);
    let limited = lab.run(world, lab.name, "limit");
    hits_a_limit(lab, world, model, &limited);
}

fn is_told_something(lab: &Lab, world: &World, model: &Model, session: &str) {
    lab.wait_for_tool(world, "tell");
    lab.done(world, &["send", session, "Use the \"old\" name."]);
    if lab.name == "claude" {
        world.wait_for("its reading", |world| (world.count(session, "input.consumed") == 1).then_some(()));
    }
    lab.let_go("tell");
    let view = lab.completed(world, session);
    let told = model.last(&lab.words("tell"));
    assert!(told.contains("Use the \"old\" name."), "{told}");
    // One that reads nothing is told when it is through, in the same conversation.
    assert_eq!(view.launches.len(), if lab.name == "claude" { 1 } else { 2 });
}

fn hits_a_limit(lab: &Lab, world: &World, model: &Model, session: &str) {
    if matches!(lab.name, "codex" | "opencode") {
        // They wait as long as they are told to, and are not over.
        world.wait_for("a refusal", |_| (!model.requests(&lab.words("limit")).is_empty()).then_some(()));
        if lab.name == "codex" {
            world.wait_for("a word of it", |world| {
                let events = world.events(session);
                events.iter().any(|event| event.body["item"]["kind"] == "rate_limit").then_some(())
            });
        }
        assert_eq!(world.session(session).status, "active");
        lab.done(world, &["cancel", session]);
        world.status(session, "cancelled");
        return;
    }
    let wait = world.status(session, "parked").wait.expect("a wait");
    assert!(wait.until_ms.is_some() && wait.account.is_some(), "{wait:?}");
    world.wait_for("its end", |world| world.session(session).launches[0].ended.clone());
    // Who is sent on before the limit is over parks again; that is neither a failure nor an attempt. Each start of a
    // CLI has its own time.
    let mut view = world.session(session);
    while view.ended_at_ms.is_none() {
        let tries = view.launches.len();
        view = world.wait_for("the limit's end", |world| {
            let view = world.session(session);
            if view.status == "parked" && view.launches.last().is_some_and(|launch| launch.ended.is_some()) {
                world.ostler(&["continue", session]);
            }
            (view.ended_at_ms.is_some() || view.launches.len() > tries).then_some(view)
        });
        assert!(view.launches.len() < 20, "{view:#?}");
    }
    assert_eq!((view.status.as_str(), view.attempts), ("completed", 0), "{view:#?}");
    assert!(view.launches.iter().skip(1).all(|launch| launch.cause == "limit"), "{view:#?}");
}

fn wants_permission(lab: &Lab, world: &World, model: &Model, session: &str) {
    if lab.name == "claude" {
        let decisions: [&[&str]; 3] = [&["--no", "A person said \"no\"."], &["--yes"], &["allow this tool"]];
        for decision in decisions {
            let request = world.asked(session);
            assert_eq!(
                (request.ask.kind.as_str(), request.ask.fields["tool"].as_str()),
                ("permission", Some("Bash"))
            );
            assert_eq!(world.session(session).status, "waiting_permission");
            lab.done(world, &[&["answer", &request.id], decision].concat());
        }
    }
    let view = lab.end(world, session);
    let made = ["denied", "once", "session", "later"].map(|name| lab.work.join(name).exists());
    let told = model.last(&lab.words("permit"));
    let (status, reached, asked) = match lab.name {
        // The fourth is settled by the rule of the third.
        "claude" => ("completed", [false, true, true, true], 4),
        // The sandbox refuses, or there is no such tool; the model is told so and goes on.
        "codex" | "gemini" => ("completed", [false; 4], 0),
        // What it would ask is refused, and with that it ends.
        _ => ("failed", [false; 4], 0),
    };
    assert_eq!((view.status.as_str(), made), (status, reached), "{told}");
    assert_eq!(world.count(session, "request.opened"), asked);
    if lab.name == "claude" {
        assert!(told.contains("A person said \"no\"."), "{told}");
    }
    if status == "failed" {
        let said = lab.done(world, &["show", session]);
        assert!(said.contains("rejected permission"), "{said}");
    }
}
