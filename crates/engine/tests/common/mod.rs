//! What every test of the engine leans on: a world that is kept twice, things an agent can say, and chance that repeats.

pub(crate) mod random;
pub(crate) mod said;

use std::collections::BTreeSet;

use ostler_agents::{Agent, Agents};
use ostler_engine::{
    Decision, Entry, Input, Overlay, Refusal, World, decide,
    input::NewRun,
    office::OfficeInput,
    run::Terms,
    session::{Order, Patience, Role, WorktreeTerms},
    usage::Prices,
};
use serde::{Serialize, de::DeserializeOwned};

/// A world as the changes made it, and again as its journal makes it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Book {
    pub(crate) world: World,
    replayed: World,
}

impl Book {
    /// Adds what was committed. Replaying the journal, as it is read back, must give the same world.
    pub(crate) fn add(&mut self, entries: &[Entry], overlay: Overlay) {
        for entry in entries {
            let text = serde_json::to_string(entry).expect("an entry can be written");
            self.replayed.fold(&serde_json::from_str(&text).expect("an entry can be read"));
        }
        self.world.absorb(overlay);
        assert_eq!(self.world, self.replayed, "the journal gives another world");
        assert_eq!(self.world, indexed_anew(&self.world), "an index does not follow from the tables");
    }
}

/// A world with the same tables, whose indexes and deadlines were made from nothing.
fn indexed_anew(world: &World) -> World {
    let mut anew = World::default();
    (anew.last_seq, anew.counters) = (world.last_seq, world.counters);
    world.projects.values().cloned().for_each(|it| anew.put(it));
    world.runs.values().cloned().for_each(|it| anew.put(it));
    world.sessions.values().cloned().for_each(|it| anew.put(it));
    world.requests.values().cloned().for_each(|it| anew.put(it));
    world.accounts.values().cloned().for_each(|it| anew.put(it));
    world.checkpoints.values().cloned().for_each(|it| anew.put(it));
    world.invocations.values().cloned().for_each(|it| anew.put(it));
    world.graphs.values().cloned().for_each(|it| anew.put(it));
    world.nodes.values().cloned().for_each(|it| anew.put(it));
    world.groups.values().cloned().for_each(|it| anew.put(it));
    world.results.values().cloned().for_each(|it| anew.put(it));
    anew
}

/// Whatever was touched can be written and read back.
pub(crate) fn all_read_back(overlay: &Overlay) {
    let tables = &overlay.tables;
    tables.projects.values().for_each(reads_back);
    tables.runs.values().for_each(reads_back);
    tables.sessions.values().for_each(reads_back);
    tables.requests.values().for_each(reads_back);
    tables.accounts.values().for_each(reads_back);
    tables.checkpoints.values().for_each(reads_back);
    tables.invocations.values().for_each(reads_back);
    tables.graphs.values().for_each(reads_back);
    tables.nodes.values().for_each(reads_back);
    tables.groups.values().for_each(reads_back);
    tables.results.values().for_each(reads_back);
}

/// Decides, and checks the form of what was decided.
pub(crate) fn decide_well(
    world: &World,
    group: &Overlay,
    now_ms: u64,
    input: &Input,
) -> Result<Decision, Refusal> {
    let decision = decide(world, group, now_ms, input).inspect_err(reads_back)?;
    let before = world.last_seq.max(group.last_seq);
    for (entry, seq) in decision.entries.iter().zip(before + 1..) {
        assert_eq!(entry.seq, seq, "the journal has no gaps");
        assert_eq!(entry.at_ms, now_ms);
        reads_back(entry);
    }
    let mut names = BTreeSet::new();
    for (name, action) in &decision.actions {
        assert!(names.insert(name), "{name:?} is the name of two actions");
        assert!(decision.entries.iter().any(|entry| entry.seq == name.seq), "{name:?} follows from no event");
        reads_back(name);
        reads_back(action);
    }
    if matches!(input, Input::Tick) {
        let mut after = world.clone();
        after.absorb(group.clone());
        after.absorb(decision.overlay.clone());
        let again = decide(&after, &Overlay::default(), now_ms, input)?;
        assert_eq!(again.entries, [], "a tick leaves something undone");
    }
    if decision.entries.is_empty() {
        assert_eq!(decision.overlay, Overlay::default(), "nothing changes without an event");
    }
    Ok(decision)
}

/// Whether an input is a report, which may come twice and must change nothing the second time.
pub(crate) fn may_come_twice(input: &Input) -> bool {
    match input {
        Input::Shim { .. }
        | Input::ShimRecords { .. }
        | Input::Overheard { .. }
        | Input::ShimLost { .. }
        | Input::ShimDisplaced(..)
        | Input::LaunchFailed { .. }
        | Input::NotTaken { .. }
        | Input::CheckEnded { .. }
        | Input::Worktree { .. }
        | Input::Checkpointed { .. }
        | Input::Restored { .. }
        | Input::Pruned { .. }
        | Input::Call { .. }
        | Input::Taken { .. }
        | Input::CallerGone { .. }
        | Input::Told { .. }
        | Input::InVault { .. }
        | Input::Installed { .. }
        | Input::Collected { .. }
        | Input::Checked { .. }
        | Input::VerifierReady { .. }
        | Input::Verified { .. }
        | Input::Reported(_)
        | Input::GraphReported { .. }
        | Input::Thin { .. }
        | Input::TreeChanged(_)
        | Input::ValuesNotWritten { .. }
        | Input::Resized { .. }
        | Input::Revoke { .. }
        | Input::Rename(..)
        | Input::Pause(_)
        | Input::Cancel(_)
        | Input::Register(_)
        | Input::Trust { .. }
        | Input::Distrust { .. }
        | Input::Tick => true,
        Input::Office(input) => !matches!(**input, OfficeInput::Send { .. }),
        Input::CreateRun(_)
        | Input::Secret { .. }
        | Input::Answer { .. }
        | Input::Review { .. }
        | Input::WorkScanned(_)
        | Input::Checkpoint(_)
        | Input::Restore { .. }
        | Input::Send { .. }
        | Input::Continue(_)
        | Input::Resume { .. }
        | Input::Merge(_)
        | Input::Discard(_) => false,
    }
}

fn reads_back<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(it: &T) {
    let text = serde_json::to_string(it).expect("it can be written");
    assert_eq!(&serde_json::from_str::<T>(&text).expect("it can be read"), it);
}

/// Any program: it prints text, reads lines, and remembers nothing.
pub(crate) fn plain() -> Agent {
    Agent::plain(&["agent".to_owned()])
}

/// A CLI that reads messages, remembers its conversation, and waits for more when it is through.
pub(crate) fn claude() -> Agent {
    Agent::builtin("claude").expect("it is built in")
}

/// A CLI that takes words only when it is started, and remembers its conversation.
pub(crate) fn codex() -> Agent {
    Agent::builtin("codex").expect("it is built in")
}

/// A program that reads lines and remembers its conversation.
pub(crate) fn lines() -> Agent {
    let toml = "[agents.lines]\nabout = \"reads lines\"\ncommand = [\"lines\"]\n\
                [agents.lines.arguments]\nresume = [\"--resume={conversation}\"]\n";
    let mut agents = Agents::builtin();
    agents.add(toml).expect("a valid table");
    agents.get("lines").expect("it was added").clone()
}

/// Something to be done by this agent.
pub(crate) fn order(agent: Agent, terms: Terms) -> NewRun {
    NewRun {
        root: "/repo".to_owned(),
        name: "repo".to_owned(),
        git: true,
        title: "a task".to_owned(),
        terms,
        order: Box::new(Order {
            agent,
            prompt: "Do it.".to_owned(),
            directory: "/repo".to_owned(),
            environment: "env/1".to_owned(),
            model: None,
            turns_max: None,
            nonce: None,
            new_conversation: "00000000-0000-4000-8000-000000000001".to_owned(),
            guide: true,
            channel: true,
            korean: false,
            patience: Patience::default(),
            account: None,
            prices: Prices::new(),
            checkpoints: None,
            role: Role::Work,
            instruction: None,
            tools: Vec::new(),
            screen: None,
        }),
        worktrees: None,
        worktree_terms: WorktreeTerms::default(),
        phases: None,
        session_name: None,
        parent: None,
        node: None,
        graph: None,
        roles: Vec::new(),
    }
}
