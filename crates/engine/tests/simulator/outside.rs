//! Everything that outlives the server: processes, checks, worktrees, and what CLIs remember.

use std::collections::{BTreeMap, BTreeSet};

use ostler_engine::{
    RequestId, SessionId, World,
    checkpoint::Kept,
    input::{CheckpointNews, RestoreNews, TestVerdict, WorktreeNews},
    input_id,
    request::Install,
    session::{CheckWish, Session, WorktreeState},
};

use crate::{
    agent::{Agent, Mind, Script},
    common::random::Random,
    graphs::StateFile,
    shim::Shim,
};

/// The name of a launch.
pub(crate) type Place = (SessionId, u32);

/// The world outside.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    pub(crate) scripts: BTreeMap<SessionId, Script>,
    pub(crate) state_file: StateFile,
    pub(crate) shims: BTreeMap<Place, Shim>,
    /// What CLIs keep on disk.
    memories: BTreeMap<SessionId, Mind>,
    pub(crate) checks: BTreeMap<Place, Check>,
    trees: BTreeMap<SessionId, WorktreeNews>,
    /// What came of tests of worktrees.
    tests: BTreeMap<Place, TestVerdict>,
    /// What came of installations, if anything has.
    pub(crate) installs: BTreeMap<RequestId, Option<Install>>,
    /// The names in the private file of each session.
    pub(crate) values: BTreeMap<SessionId, BTreeSet<String>>,
    /// What git keeps, by the number of the checkpoint.
    kept: BTreeMap<u64, CheckpointNews>,
}

/// A check, in a shim of its own.
#[derive(Debug, Default)]
pub(crate) struct Check {
    alive: bool,
    pub(crate) is_held: bool,
    pub(crate) result: Option<(i32, String)>,
}

impl Outside {
    /// Writes the values that a session was given.
    pub(crate) fn provide(&mut self, world: &World, id: SessionId) {
        let session = &world.sessions[&id];
        if !session.is_over() && !session.values.is_empty() {
            self.values.insert(id, session.values.keys().cloned().collect());
        }
    }

    /// Takes them away, unless the session goes on.
    pub(crate) fn remove_values(&mut self, world: &World, id: SessionId) {
        if world.sessions[&id].is_over() {
            self.values.remove(&id);
        }
    }

    /// Starts the process of a launch, unless that was done before. Whether there is one.
    pub(crate) fn launch(&mut self, world: &World, place: Place, random: &mut Random, may_die: bool) -> bool {
        self.provide(world, place.0);
        if self.shims.contains_key(&place) {
            return true;
        }
        if may_die && random.once_in(40) {
            return false;
        }
        let (id, number) = place;
        let others = self.shims.iter().filter(|((of, _), shim)| *of == id && shim.alive);
        assert_eq!(others.count(), 0, "{id} has a process already");
        let session = &world.sessions[&id];
        let launch = session.launches.last().expect("a launch that is wanted");
        assert_eq!(launch.number, number, "only the last launch is started");
        let is_free = session.worktree.as_ref().is_none_or(|worktree| worktree.state.is_at_rest());
        assert!(is_free, "{id} begins where somebody tests or merges: {:?}", session.worktree);
        if !self.scripts.contains_key(&id) {
            let script = self.later_script(world, id);
            self.scripts.insert(id, script);
        }
        let script = &self.scripts[&id];
        let memory = if launch.fresh {
            None
        } else {
            Some(self.memories.get(&id).cloned().expect("a conversation that is resumed exists"))
        };
        let name = format!("{id}/{number}");
        let prompt_id = input_id::of_prompt(id, number);
        let agent = Agent::start(script, memory, (&launch.prompt, &prompt_id), &name);
        let shim = Shim::start(agent, script.table.terminal, name, random);
        if script.remembers() {
            self.memories.insert(id, shim.agent.mind.clone());
        }
        self.shims.insert(place, shim);
        true
    }

    /// The script of a session that the engine itself has begun: the next phase of a run, or a verifier; or that a graph has begun.
    fn later_script(&self, world: &World, id: SessionId) -> Script {
        let session = &world.sessions[&id];
        if session.verifies() {
            return Script::of_verifier(session.order.agent.clone());
        }
        if let Some(script) = self.state_file.script_of(world, session.run) {
            return script;
        }
        let phases = world.runs[&session.run].phases.as_ref().expect("only phases begin sessions");
        let first = &self.scripts[&phases.begun[0].session];
        first.of_phase(phases.current().expect("one has begun").number)
    }

    /// Starts a check, unless it runs or has ended. One that died without a word begins again.
    pub(crate) fn check(&mut self, world: &World, place: Place) {
        self.checks.entry(place).or_default().alive = true;
        self.steer_check(world, place);
    }

    /// What is wanted of it is looked up when it is steered, and when a server begins to follow it.
    pub(crate) fn steer_check(&mut self, world: &World, place: Place) {
        let Some(check) = self.checks.get_mut(&place) else { return };
        match world.check_wish(place.0, place.1) {
            CheckWish::Run => check.is_held = false,
            CheckWish::Hold => check.is_held = true,
            CheckWish::End => self.end_check(place),
        }
    }

    pub(crate) fn end_check(&mut self, place: Place) {
        if let Some(check) = self.checks.get_mut(&place) {
            check.result.get_or_insert((143, "ended".to_owned()));
        }
    }

    /// Ends an installation that runs.
    pub(crate) fn end_install(&mut self, request: RequestId) {
        if let Some(result) = self.installs.get_mut(&request) {
            result.get_or_insert(Install { installed: false, reason: Some("ended".to_owned()) });
        }
    }

    fn install_something(&mut self, random: &mut Random, may_die: bool) -> bool {
        let running = self.installs.iter().filter(|(_, result)| result.is_none());
        let running: Vec<RequestId> = running.map(|(&request, _)| request).collect();
        let Some(request) = random.one_of(&running) else { return false };
        // In a storm it takes so long that it is often cancelled.
        if random.once_in(if may_die { 400 } else { 10 }) {
            let installed = random.once_in(2);
            let reason = (!installed).then(|| "no network".to_owned());
            self.installs.insert(*request, Some(Install { installed, reason }));
        }
        true
    }

    /// Keeps what stands there; what was kept once stays so.
    pub(crate) fn checkpoint(&mut self, number: u64, random: &mut Random) -> CheckpointNews {
        let news = match random.below(8) {
            0 => CheckpointNews::Unchanged,
            1 => CheckpointNews::Failed { message: "no room".to_owned() },
            2 if random.once_in(4) => CheckpointNews::NoRepository,
            _ => CheckpointNews::Made {
                kept: Kept {
                    reference: format!("refs/ostler/checkpoints/c_{number}"),
                    commit: format!("{number:040x}"),
                    anchor: random.once_in(2).then(|| "here".to_owned()),
                    left_out: Vec::new(),
                    left_out_count: 0,
                },
            },
        };
        self.kept.entry(number).or_insert(news).clone()
    }

    /// Brings files back, or not, after what stands there was kept.
    pub(crate) fn restore(&mut self, before: u64, random: &mut Random) -> RestoreNews {
        let before = self.checkpoint(before, random);
        if random.once_in(4) {
            return RestoreNews::NotRestored { before, message: "in the way".to_owned() };
        }
        RestoreNews::Restored { before, changed: 1, different: Vec::new(), submodules: Vec::new() }
    }

    pub(crate) fn make_tree(&mut self, id: SessionId, random: &mut Random) -> WorktreeNews {
        let news = if random.once_in(8) {
            WorktreeNews::NotMade { message: "no room".to_owned() }
        } else {
            WorktreeNews::Made { base: "abc".to_owned(), target: Some("main".to_owned()) }
        };
        self.trees.entry(id).or_insert(news).clone()
    }

    /// Tests a worktree; what a test said once it says again.
    pub(crate) fn test_tree(&mut self, session: &Session, number: u32, random: &mut Random) -> WorktreeNews {
        let alive = self.shims.iter().any(|((of, _), shim)| *of == session.id && shim.alive);
        let is_wanted = session
            .worktree
            .as_ref()
            .is_some_and(|it| it.state == WorktreeState::Testing && it.back.tests == number);
        assert!(!(alive && is_wanted), "{} is tested while it works", session.id);
        let commit = format!("{number:040x}");
        let verdict = match random.below(6) {
            0 => TestVerdict::Nothing,
            1 => TestVerdict::Unfinished,
            2 => TestVerdict::Hindered { message: "a lock".to_owned() },
            3 => TestVerdict::Red { commit, command: "make test".to_owned(), output: "1 failed".to_owned() },
            _ => TestVerdict::Green { commit },
        };
        let verdict = self.tests.entry((session.id, number)).or_insert(verdict).clone();
        WorktreeNews::Tested { number, verdict }
    }

    /// Merges or discards; what was done once stays so.
    pub(crate) fn finish_tree(&mut self, id: SessionId, merges: bool, random: &mut Random) -> WorktreeNews {
        let was_done = |news: &&WorktreeNews| {
            matches!(news, WorktreeNews::Merged { .. } | WorktreeNews::Discarded { .. })
        };
        if let Some(done) = self.trees.get(&id).filter(was_done) {
            return done.clone();
        }
        let news = match (merges, random.once_in(3)) {
            (true, true) => {
                let (message, files) = ("conflict".to_owned(), vec!["a".to_owned()]);
                WorktreeNews::NotMerged { message, files, conflict: random.once_in(2) }
            }
            (true, false) => WorktreeNews::Merged { commit: "def".to_owned() },
            (false, true) => WorktreeNews::NotDiscarded { message: "busy".to_owned() },
            (false, false) => WorktreeNews::Discarded { kept: "refs/ostler/kept".to_owned() },
        };
        self.trees.insert(id, news.clone());
        news
    }

    /// Lets a little time pass for somebody. Whether anybody could do anything.
    pub(crate) fn step(&mut self, random: &mut Random, may_die: bool) -> bool {
        let alive: Vec<Place> =
            self.shims.iter().filter(|(_, shim)| shim.alive).map(|(&place, _)| place).collect();
        let checks: Vec<Place> =
            self.checks.iter().filter(|(_, it)| it.is_running()).map(|(&it, _)| it).collect();
        if let Some(place) = random.one_of(&checks).filter(|_| random.once_in(12)) {
            let check = self.checks.get_mut(place).expect("it was found there");
            let output =
                if random.once_in(2) { "1 failed".to_owned() } else { format!("{} failed", place.1) };
            check.result = Some(if random.once_in(2) { (0, String::new()) } else { (1, output) });
        }
        if let Some(place) = random.one_of(&alive) {
            let shim = self.shims.get_mut(place).expect("it was found there");
            shim.step(random, may_die);
            if let Some(memory) = self.memories.get_mut(&place.0) {
                *memory = shim.agent.mind.clone();
            }
        }
        let installs = self.install_something(random, may_die);
        installs || !checks.is_empty() || self.shims.values().any(Shim::is_running)
    }

    /// Everything that runs is gone; files stay.
    pub(crate) fn reboot(&mut self) {
        self.shims.values_mut().for_each(|shim| shim.alive = false);
        self.checks.values_mut().for_each(|check| (check.alive, check.is_held) = (false, false));
    }
}

impl Check {
    fn is_running(&self) -> bool {
        self.alive && !self.is_held && self.result.is_none()
    }
}
