//! People: they answer, steer, change their minds, and ask again when nobody replies.

use ostler_engine::{
    CheckpointId, Input, RequestId, SessionId, World,
    answer::{Decision, Given},
    budget::Budget,
    checkpoint::CheckpointTerms,
    phases::plan::{Criterion, PhasePlan, Plan, PlannedAgent, Verifier},
    request::{Ask, Request, Review},
    run::{Terms, Trusted},
    session::{Role, Session},
};

use crate::{
    agent::Script,
    common::{self, random::Random},
    driver::Wish,
};

/// Somebody with wishes.
#[derive(Debug, Default)]
pub(crate) struct Person {
    last_key: u64,
    /// What they have asked for and got no reply to.
    pub(crate) waits_for: Vec<Wish>,
}

/// Something that the repository may run from now on.
fn trust(random: &mut Random) -> Input {
    let hash = random.below(3).to_string();
    let command = Trusted { key: "core.editor".to_owned(), file: "/repo/.git/config".to_owned(), hash };
    let (root, name) = ("/repo".to_owned(), "repo".to_owned());
    Input::Trust { root, name, git: true, commands: vec![command] }
}

impl Person {
    pub(crate) fn wish(&mut self, input: Input) -> Wish {
        self.last_key += 1;
        let wish = Wish { key: self.last_key, input };
        self.waits_for.push(wish.clone());
        wish
    }

    /// Anything that a person could want, sensible or not.
    pub(crate) fn think(&mut self, world: &World, random: &mut Random) -> Wish {
        let sessions: Vec<SessionId> = world.sessions.keys().copied().collect();
        let session = random.one_of(&sessions).copied().unwrap_or(SessionId(9));
        let open: Vec<RequestId> = world.inbox().map(|request| request.id).collect();
        let is_checked = world.sessions.get(&session).is_some_and(|it| it.checking.is_some());
        let is_lost = world.sessions.get(&session).is_some_and(Session::is_interrupted);
        let installs = world.blocking(session).any(|request| request.installing);
        let input = match random.below(33) {
            0 => Input::Cancel(session),
            _ if is_lost && random.once_in(2) => Input::Resume { session, prompt: None },
            _ if is_checked && random.once_in(3) => Input::Cancel(session),
            _ if installs => Input::Cancel(session),
            1..=3 => Input::Pause(session),
            4..=7 => Input::Continue(session),
            8 | 9 => Input::Send { session, text: "by the way".to_owned(), printed: None },
            10..=12 => Input::Resume { session, prompt: random.once_in(2).then(|| "go on".to_owned()) },
            13 => Input::Merge(session),
            14 => Input::Discard(session),
            15 => Input::Answer {
                request: RequestId(1 + random.below(9)),
                given: Given::default(),
                printed: None,
            },
            16 => Input::Cancel(SessionId(99)),
            17 => trust(random),
            18 => Input::Distrust { root: "/repo".to_owned() },
            19 => Input::Checkpoint(session),
            20 | 21 => {
                let made = world.checkpoints.values().filter(|it| it.kept().is_some());
                let made: Vec<CheckpointId> = made.map(|it| it.id).collect();
                let checkpoint = random.one_of(&made).copied().unwrap_or(CheckpointId(9));
                Input::Restore { checkpoint, conversation: random.once_in(2) }
            }
            _ => match random.one_of(&open) {
                Some(id) => answer(&world.requests[id], random),
                None => Input::Continue(session),
            },
        };
        self.wish(input)
    }

    /// What is needed for everything to come to an end.
    pub(crate) fn settle(&mut self, world: &World, random: &mut Random) -> Vec<Wish> {
        let inputs: Vec<Input> = world
            .sessions
            .values()
            .filter_map(|session| {
                let is_lost = session.is_interrupted() && random.once_in(2);
                if is_lost {
                    Some(Input::Resume { session: session.id, prompt: None })
                } else if let Some(request) = world.pending(session.id).find(|request| request.is_open()) {
                    Some(answer(request, random))
                } else {
                    let waits = session.paused_at_ms.or(session.parked_at_ms).filter(|_| !session.is_over());
                    waits.map(|_| Input::Continue(session.id))
                }
            })
            .collect();
        inputs.into_iter().map(|input| self.wish(input)).collect()
    }
}

/// What is decided about the work of a phase; to approve more often than not, so that it comes to an end.
fn decision(review: &Review, random: &mut Random) -> Decision {
    match (random.below(8), &review.tree) {
        (0, _) => Decision::Changes { words: "something else".to_owned() },
        (1, _) => Decision::Reject { words: None },
        (2, _) => Decision::Again,
        (_, Some(tree)) => Decision::Approve { tree: tree.clone(), insist: true },
        (_, None) => Decision::Reject { words: None },
    }
}

/// Something that settles it, now and then by giving up.
fn answer(request: &Request, random: &mut Random) -> Input {
    if let Ask::Review(review) = &request.ask {
        return Input::Review { request: request.id, decision: decision(review, random) };
    }
    let said = |value: &str| Given { value: Some(value.to_owned()), ..Given::default() };
    let given = match &request.ask {
        // Ostler itself asks about a worktree.
        Ask::Question(question) if request.launch == 0 => {
            said(random.one_of(&question.options).expect("some"))
        }
        Ask::Question(_) | Ask::AskUser(_) => said("this one"),
        Ask::Dependency(dependency) if request.ask.wants_values() && !random.once_in(4) => {
            let skip = !dependency.required && random.once_in(2);
            let provided = if skip { Vec::new() } else { vec![dependency.name.clone()] };
            Given { skip, provided, reuse: random.once_in(2), ..Given::default() }
        }
        Ask::Dependency(_) if request.ask.wants_values() => {
            Given { decision: Some(false), ..Given::default() }
        }
        Ask::Dependency(_) | Ask::Permission(_) => {
            Given { decision: Some(random.once_in(2)), ..Given::default() }
        }
        Ask::Error(_) if random.once_in(3) => said("retry"),
        Ask::Error(_) | Ask::Fault { .. } if random.once_in(3) => said("try it the other way"),
        Ask::Error(_) | Ask::Fault { .. } | Ask::Stall { .. } => {
            said(if random.once_in(6) { "fail" } else { "continue" })
        }
        Ask::Steered { what } => panic!("nobody but the server steers here: {what:?}"),
        Ask::TimeOver { .. } => said(random.one_of(&["raise", "raise 20m", "stop"]).expect("some")),
        Ask::CostOver { .. } => said(random.one_of(&["raise", "raise 0.05", "stop"]).expect("some")),
        Ask::TokensOver { .. } => said(random.one_of(&["raise", "raise by 2", "stop"]).expect("some")),
        Ask::Review(_) => unreachable!("it was decided above"),
    };
    Input::Answer { request: request.id, given, printed: None }
}

/// A run with its script.
pub(crate) fn order(random: &mut Random, name: &str) -> (Input, Script) {
    let mut table = match random.below(6) {
        0 | 1 => common::claude(),
        2 => common::codex(),
        3 => common::lines(),
        _ => common::plain(),
    };
    if table.name == "agent" && random.once_in(4) {
        table.terminal = ostler_agents::Terminal::Pty;
    }
    let script = Script::invent(random, table.clone(), name);
    let has_check = random.once_in(2);
    let terms = Terms {
        check: has_check.then(|| "make test".to_owned()),
        attempts_max: random.once_in(2).then_some(4),
        time_ms_max: random.once_in(4).then_some(600_000),
        check_time_ms_max: random.once_in(2).then_some(300_000),
        budget: Budget {
            cost_nusd_max: random.once_in(3).then_some(100_000_000),
            tokens_max: random.once_in(4).then_some(3),
        },
        task: None,
    };
    let mut new = common::order(table, terms);
    new.order.account =
        random.one_of(&[None, Some("one"), Some("two")]).copied().flatten().map(str::to_owned);
    if !random.once_in(4) {
        let every_ms = random.once_in(2).then_some(60_000);
        new.order.checkpoints = Some(CheckpointTerms { every_ms, ..CheckpointTerms::default() });
    }
    new.worktrees = random.once_in(3).then(|| "/state/worktrees".to_owned());
    if new.worktrees.is_some() && random.once_in(2) {
        new.order.role = Role::Office { name: name.to_owned(), hash: "1".to_owned(), idle_ms: 600_000 };
    } else if random.once_in(2) {
        new.order.role = Role::Main;
    }
    (Input::CreateRun(Box::new(new)), script)
}

/// A run through two phases, some with a verifier, and the script of its first agent.
pub(crate) fn phased(random: &mut Random) -> (Input, Script) {
    let table = match random.below(4) {
        0 => common::claude(),
        1 => common::codex(),
        2 => common::lines(),
        _ => common::plain(),
    };
    let terms = Terms {
        time_ms_max: random.once_in(6).then_some(300_000),
        budget: Budget {
            cost_nusd_max: random.once_in(8).then_some(100_000_000),
            tokens_max: random.once_in(8).then_some(3),
        },
        ..Terms::default()
    };
    let mut new = common::order(table.clone(), terms);
    let every_ms = random.once_in(2).then_some(60_000);
    new.order.checkpoints = Some(CheckpointTerms { every_ms, ..CheckpointTerms::default() });
    "Do phase 1.".clone_into(&mut new.order.prompt);
    let planned = |agent| PlannedAgent { agent, environment: "env/1".to_owned(), account: None };
    let phase = |number: u32, verifies: bool| PhasePlan {
        name: format!("phase {number}"),
        prompt: format!("Do phase {number}."),
        agent: 0,
        model: None,
        nonce: "nonce".to_owned(),
        conversation: format!("00000000-0000-4000-8000-00000000000{number}"),
        artifacts: Vec::new(),
        keep: Vec::new(),
        commands: Vec::new(),
        find_tests_ms_max: None,
        junit: Vec::new(),
        verifier: verifies.then(|| Verifier {
            agent: 1,
            model: None,
            criteria: vec![Criterion { id: "good".to_owned(), text: "it is good".to_owned() }],
            time_ms_max: 600_000,
        }),
        rework_max: 2,
        questions_max: 1,
    };
    let plan = Plan {
        idea: "a shop".to_owned(),
        common: new.order.clone(),
        agents: vec![planned(table.clone()), planned(common::plain())],
        phases: vec![phase(1, !random.once_in(3)), phase(2, !random.once_in(3))],
        confine: true,
    };
    new.phases = Some(Box::new(plan));
    let said = if random.once_in(6) { 7 } else { 1 };
    let script = Script::invent(random, table, "run 1").of_phase(said);
    (Input::CreateRun(Box::new(new)), script)
}
