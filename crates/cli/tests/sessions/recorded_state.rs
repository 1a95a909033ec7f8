//! State directories of earlier versions: each is imported through the store, replayed, and a server goes on with it.
//!
//! `tests/recorded` holds them, and its README says when and how another one is made.

mod archive;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use ostler_server::{
    Home,
    api::{
        InvocationStatus, InvocationView, LoopView, NewLoop, NewPhases, NewRun, PhasesState, PhasesView,
        RunView, SessionView,
    },
};
use ostler_store::{NEEDS_REPLAY, Reads, SCHEMA_VERSION, Sqlite};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use self::archive::{Rows, git, load, save};
use crate::{
    phases,
    support::{QUESTION, World, kill, write},
};

/// The key under which the first run was asked for.
const KEY: &str = "recorded-run";

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded")
}

fn root(world: &World) -> PathBuf {
    world.home.parent().expect("a folder").to_path_buf()
}

fn calls(world: &World) -> Vec<InvocationView> {
    world.get("/projects/p_1/office/invocations").expect("calls")
}

/// The agents and what each does. `ROOT` is the folder of everything; whoever finds `ROOT/go` ends its work.
const AGENTS: [(&str, &str); 6] = [
    (
        "listener",
        "while read -r line; do echo \"$line\" >>heard; case $line in *MySQL*) exit 0;; esac\n\
         if [ ! -e asked ]; then touch asked; QUESTION; fi; done",
    ),
    ("sleeper", "read -r first; echo here; read -r more"),
    (
        "caller",
        "read -r first; if [ ! -e called ]; then touch called; printf '[INVOKE:QA]\\nCount them\\n[/INVOKE]\\n'; fi\n\
         while read -r line; do echo \"$line\" >>results; case $line in *counted*) exit 0;; esac; done",
    ),
    (
        "qa",
        "work() { until [ -e ROOT/go ]; do sleep 0.05; done\n\
         printf '[DELIVER_RESULT:%s]\\ncontent: counted\\n[/DELIVER_RESULT]\\n' \"$(cat asker)\"; }\n\
         case $OSTLER_PROMPT in *\"Go on where\"*) work;; esac; while read -r head; do case $head in\n\
         \"[Task from \"*) it=${head#* from }; echo \"${it%%]*}\" >asker; read -r task; work;; esac; done",
    ),
    (
        "builder",
        "id=$(printf '%s' \"$OSTLER_PROMPT\" | grep -oE '\\bT[0-9]+\\.[0-9]+\\b' | head -1); mkdir -p src\n\
         if [ $id = T0.2 ]; then until [ -e ROOT/go ]; do sleep 0.05; done; fi; echo \"done $id\" >src/$id.txt",
    ),
    (
        "worker",
        "mkdir -p docs; printf '# A\\n\\n## Problem\\n\\nNobody finds it.\\n' >docs/a.md\n\
         printf '=== PHASE 1 COMPLETE ===\\nDocuments created:\\n- docs/a.md\\n.\\n'; read -r line",
    ),
];

const CONFIG: &str = r#"
default_agent = "builder"

[patience]
question = "3650d"
ask_user = "3650d"

[office.roles.QA]
agent = "qa"

[orchestrate]
max_parallel = 1

[phases]
agent = "worker"
verifier = "none"

[[phases.phase]]
name = "Planning"
artifacts = [{ glob = "docs/a.md", sections = ["Problem"] }]
criteria = ["the problem is one"]
checks = ["until [ -e ROOT/go ]; do sleep 0.05; done"]
"#;

/// Every agent can be resumed.
const CONVERSATION: &str =
    "arguments.fresh = [\"{new_conversation}\"]\narguments.resume = [\"{conversation}\"]\n";

const TASKS: &str = "\
## Phase 0: Setup
- [ ] T0.1: one
  - files: src/T0.1.txt
- [ ] T0.2: two
  - files: src/T0.2.txt
";

/// Everything that a recording begins with, and a server.
fn stage() -> World {
    let mut world = World::idle();
    let root = root(&world);
    let own = |text: &str| text.replace("ROOT", &root.display().to_string()).replace("QUESTION", QUESTION);
    let mut config = own(CONFIG);
    fs::create_dir_all(root.join("agents")).expect("a folder");
    for (name, script) in AGENTS {
        write(&root.join("agents"), &format!("{name}.sh"), &own(script));
        config += &own(&format!(
            "[agents.{name}]\ncommand = [\"bash\", \"ROOT/agents/{name}.sh\"]\n{CONVERSATION}"
        ));
    }
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("a folder");
    write(&folder, "config.toml", &config);
    for name in ["project", "loop", "gate"] {
        let project = root.join(name);
        fs::create_dir_all(&project).expect("a folder");
        git(&project, &["init", "-q", "-b", "main"], b"");
        write(&project, "TASKS.md", TASKS);
        git(&project, &["add", "."], b"");
        git(&project, &["commit", "-q", "-m", "begin"], b"");
    }
    world.start();
    world
}

fn environment() -> BTreeMap<String, String> {
    let variables = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LC_ALL", "C")];
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

fn new_run(world: &World, agent: &str) -> NewRun {
    let (agent, prompt) = (Some(agent.to_owned()), Some("begin".to_owned()));
    NewRun { agent, prompt, environment: Some(environment()), ..world.new_run(&[]) }
}

/// An ordinary run that asks, two that are steered, a call, a loop and a gate, all in the middle of their work.
fn begin(world: &World) {
    let client = world.client();
    let run: RunView =
        world.block_on(client.post_once("/runs", &new_run(world, "listener"), KEY)).expect("a run");
    assert_eq!(run.sessions[0].id, "s_1");
    world.asked("s_1");
    for id in ["s_2", "s_3"] {
        assert_eq!(world.run_with(&new_run(world, "sleeper")), id);
        world.wait_for("its words", |world| world.output(id).contains("here").then_some(()));
    }
    assert_eq!(world.run_with(&new_run(world, "caller")), "s_4");
    world.wait_for("a call", |world| {
        calls(world).iter().any(|call| call.status == InvocationStatus::InProgress).then_some(())
    });
    let new = NewLoop {
        directory: root(world).join("loop").display().to_string(),
        environment: Some(environment()),
        ..NewLoop::default()
    };
    let run: LoopView = world.post("/orchestrate", &new).expect("a loop");
    world.wait_for("a task at work", |world| {
        let view: LoopView = world.get(&format!("/orchestrate/{}", run.run)).ok()?;
        let states: Vec<&str> = view.tasks.iter().map(|task| task.state.as_str()).collect();
        (states == ["completed", "in_progress"]).then_some(())
    });
    let new = NewPhases {
        directory: root(world).join("gate").display().to_string(),
        idea: "a shop".to_owned(),
        environment: Some(environment()),
        ..NewPhases::default()
    };
    let run: PhasesView = world.post("/phases", &new).expect("a run");
    world.wait_for("a gate at work", |world| {
        let view: PhasesView = world.get(&format!("/phases/{}", run.run)).ok()?;
        (view.phases[0].gates.last()?.step == "check").then_some(())
    });
}

#[test]
#[ignore = "records a state directory; run whenever a layout has changed"]
fn record_the_present_state() {
    let mut world = stage();
    begin(&world);
    world.kill_server();
    world.start_with(&[("OSTLER_CRASH_AT", "before deliver:1")]);
    // A shim that stands still answers nobody: what it is asked for stays open.
    for id in ["s_2", "s_3"] {
        world.status(id, "active");
        kill(world.shim_of(id), "STOP");
    }
    world.wish("s_2", "pause");
    world.wish("s_3", "cancel");
    world.post::<Value>("/requests/q_1/answer", &json!({ "value": "MySQL" })).ok();
    while !world.has_died() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    world.end_processes();
    let root = root(&world);
    let store = Sqlite::open(&Home::at(&world.home).database(), 0).expect("a database");
    let rows = Rows::read(&store, &[KEY]);
    let folder = recordings().join(format!("state-{}", rows.number(SCHEMA_VERSION)));
    let folders = [
        "agents",
        "home/config",
        "home/environments",
        "home/office",
        "home/orchestrate",
        "home/phases",
        "home/sessions",
    ];
    save(&folder, &root, &rows, &folders, &["project", "loop", "gate"]);
}

#[test]
fn recorded_states_are_read_and_go_on() {
    let entries = fs::read_dir(recordings()).expect("recordings").flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    for folder in folders {
        println!("{}", folder.display());
        go_on(&folder);
    }
}

/// Imports a recording, starts a server on it, and does what a person would.
fn go_on(recording: &Path) {
    let mut world = World::idle();
    let root = root(&world);
    let rows = load(recording, &root);
    imported(&world, &rows);
    write(&root, "go", "");
    world.start();

    // The shims are gone. An answer that was on its way is brought to the next process; a stop and an end are settled.
    world.status("s_1", "completed");
    let heard = fs::read_to_string(world.project.join("heard")).expect("what it heard");
    assert_eq!(heard.matches("MySQL").count(), 1, "the answer comes once: {heard}");
    assert_eq!(world.request("q_1").settled.map(|it| it.by), Some("person".to_owned()));
    world.status("s_3", "cancelled");
    world.status("s_2", "interrupted");
    world.wish("s_2", "cancel");
    world.status("s_2", "cancelled");
    for session in ["s_4", "s_5"] {
        world.status(session, "interrupted");
        world.wish(session, "resume");
    }
    world.status("s_4", "completed");
    let call = calls(&world).pop().expect("a call");
    assert_eq!((call.id.as_str(), call.status), ("i_1", InvocationStatus::Completed));

    let done = world.wait_for("the end of the loop", |world| {
        world.get::<LoopView>("/orchestrate/r_6").ok().filter(|view| view.outcome.is_some())
    });
    assert_eq!(done.counts.completed, 2, "{done:?}");
    assert_eq!(git(&root.join("loop"), &["show", "HEAD:src/T0.2.txt"], b""), "done T0.2\n");
    phases::approve(&world, &phases::review(&world, "r_9"));
    phases::state(&world, "r_9", PhasesState::Done);

    let session = world.run_with(&new_run(&world, "sleeper"));
    let number: u64 = session.trim_start_matches("s_").parse().expect("a number");
    assert!(number > rows.counters.session, "{session} is a new id");
    for session in world.get::<Vec<SessionView>>("/sessions").expect("sessions") {
        // It may have ended meanwhile.
        world.post::<Value>(&format!("/sessions/{}/cancel", session.id), &json!({})).ok();
    }
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
    settled(&mut world, &rows);
}

/// The database says what was recorded, and the journal replays to it.
fn imported(world: &World, recorded: &Rows) {
    let store = Sqlite::open(&Home::at(&world.home).database(), 0).expect("a database");
    store.reader().expect("a reader").check().expect("it is whole");
    let rows = Rows::read(&store, &[KEY]);
    assert_eq!(rows.events, recorded.events);
    assert_eq!(rows.projections, recorded.projections);
    assert_eq!((rows.counters, rows.actions), (recorded.counters, recorded.actions.clone()));
    assert_eq!(rows.replies, recorded.replies);
    let open: String = recorded.actions.iter().map(|action| action.body.as_str()).collect();
    let is_open = |what: &str| open.contains(&format!("\"do\":\"{what}\""));
    assert!(is_open("conduct") || is_open("run_graph"), "a loop is open: {open}");
    for what in ["gate_check", "stop", "end", "deliver", "go_on"] {
        assert!(is_open(what), "{what} is open: {open}");
    }
    let needs_replay = store.meta(NEEDS_REPLAY).expect("a fact").as_deref() == Some("yes");
    drop(store);
    if !needs_replay {
        world.verify();
    }
}

/// Every action is done, the journal has gone on without a gap, and it replays to what is kept.
fn settled(world: &mut World, recorded: &Rows) {
    let database = Home::at(&world.home).database();
    world.wait_for("the last action", |_| {
        let reader = Connection::open_with_flags(&database, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        let open: u64 = reader.query_row("SELECT count(*) FROM actions", (), |row| row.get(0)).ok()?;
        (open == 0).then_some(())
    });
    world.kill_server();
    world.verify();
    let store = Sqlite::open(&database, 0).expect("a database");
    let rows = Rows::read(&store, &[]);
    assert_eq!(rows.events[..recorded.events.len()], recorded.events);
    assert!(rows.events.iter().zip(1..).all(|(event, seq)| event.seq == seq), "no gap");
}
