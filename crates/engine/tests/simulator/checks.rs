//! What must hold, whoever died when.

use std::collections::{BTreeMap, BTreeSet};

use ostler_engine::{
    AccountId, Entry, Event, SessionId, World,
    account::AccountLimit,
    answer::Answer,
    event::Parcel,
    input::News,
    request::{Ask, Bringing, Request},
    session::{Ending, LaunchCause, LaunchEnd, Session, Worktree, WorktreeAbout, WorktreeState},
    thin::ThinEvent,
};
use serde_json::Value;

use crate::{
    driver::{Around, Disk, Server},
    hearing,
    outside::Outside,
    shim::Shim,
};

/// What is asked, in the words that tell it from everything else.
pub(crate) fn text(ask: &Ask) -> String {
    match ask {
        Ask::Question(question) => question.question.clone(),
        Ask::AskUser(ask) => ask.question.clone(),
        Ask::Dependency(dependency) => dependency.name.clone(),
        Ask::Error(error) => error.message.clone(),
        Ask::Fault(fault) => fault.details.clone(),
        Ask::Permission(permission) => permission.input["command"].as_str().unwrap_or_default().to_owned(),
        Ask::Stall { reason } => reason.clone(),
        Ask::Steered { what } => panic!("nobody but the server steers here: {what:?}"),
        Ask::TimeOver { .. } => "time over".to_owned(),
        Ask::CostOver { .. } => "cost over".to_owned(),
        Ask::TokensOver { .. } => "tokens over".to_owned(),
        Ask::Review(review) => format!("review of phase {} gate {}", review.phase, review.gate),
    }
}

/// The same of an item; nothing if it asks for nothing.
fn text_of_item(item: &Value) -> Option<&str> {
    let key = match item["kind"].as_str()? {
        "user_question" | "ask_user" => &item["question"],
        "dependency_request" => &item["name"],
        "error" => &item["message"],
        // Nobody is asked about what a process was saying when it was killed.
        "fault" if item["ended_by"] == "cut_off" => return None,
        "fault" if item["tag"] != "TASK_ID" => &item["details"],
        "permission_request" => &item["input"]["command"],
        _ => return None,
    };
    key.as_str()
}

/// An agent is sent on only when nothing of what it asked for is open any more.
pub(crate) fn may_go_on(world: &World, session: SessionId, shim: &Shim) {
    for news in &shim.spool {
        let words = match news {
            // Who waits to be allowed something waits by itself.
            News::Heard { item } if item["kind"] != "permission_request" => text_of_item(item),
            _ => None,
        };
        let Some(asked) = words else { continue };
        let mut requests = requests_of(world, session).filter(|request| text(&request.ask) == asked);
        let last = requests.next_back();
        let last = last.unwrap_or_else(|| panic!("{session} goes on before '{asked}' was even heard"));
        assert!(!last.blocks(), "{session} goes on while '{asked}' is open");
    }
    // That it has used what it may comes while it is being sent on, too; it is stopped right after.
    let holds =
        |request: &&Request| !(request.ask.is_about_budget() || matches!(request.ask, Ask::Permission(_)));
    let mut open = world.blocking(session).filter(|request| request.holds()).filter(holds);
    assert_eq!(open.next(), None, "{session} goes on while it waits for something");
}

/// An agent is sent on only when everything that it was given is where it finds it. What a process asked for that is
/// gone may be given at any time; nobody waits for it.
pub(crate) fn has_its_values(world: &World, session: SessionId, written: Option<&BTreeSet<String>>) {
    let waits = |name: &str| requests_of(world, session).any(|it| text(&it.ask) == name && !it.left);
    for name in world.sessions[&session].values.keys().filter(|name| waits(name)) {
        assert!(written.is_some_and(|names| names.contains(name)), "{session} goes on without '{name}'");
    }
}

fn requests_of(world: &World, session: SessionId) -> impl DoubleEndedIterator<Item = &Request> {
    world.requests.values().filter(move |request| request.session == session)
}

/// After every step.
pub(crate) fn always(disk: &Disk, outside: &Outside) {
    let world = &disk.book.world;
    for &id in world.sessions.keys() {
        let alive = outside.shims.iter().filter(|((of, _), shim)| *of == id && shim.alive).count();
        assert!(alive <= 1, "{id} has {alive} processes");
        // Two callers at once have a card each.
        let (called, others): (Vec<&Request>, Vec<&Request>) =
            requests_of(world, id).filter(|it| it.is_open()).partition(|it| it.has_caller());
        let mut open: BTreeSet<String> = called.iter().map(|it| text(&it.ask)).collect();
        for request in others {
            assert!(open.insert(text(&request.ask)), "{id} has two cards for one question");
        }
    }
}

/// A session about which everything is known and done is as it should be.
pub(crate) fn settled(server: &Server, around: &Around<'_>) {
    for session in server.world.sessions.values() {
        if !Server::is_up_to_date(around, session) {
            continue;
        }
        let id = session.id;
        let Some(live) = session.live() else {
            let alive = around.outside.shims.iter().any(|((of, _), shim)| *of == id && shim.alive);
            assert!(!alive, "{id} runs, and nobody knows");
            continue;
        };
        let shim = &around.outside.shims[&(id, live.number)];
        if !shim.alive || live.ending.is_some() {
            continue;
        }
        let blocking: Vec<&Request> = server.world.blocking(id).collect();
        let must_stand = |request: &&Request| request.holds() && !matches!(request.ask, Ask::Permission(_));
        if session.parked_at_ms.is_some() {
            // Who hit the limit itself may still be about to end.
            continue;
        }
        if session.gated {
            assert!(shim.stopped, "{id} runs while its work is looked at");
            continue;
        }
        if session.paused_at_ms.is_some() || blocking.iter().any(must_stand) {
            assert!(shim.stopped, "{id} runs while it should stand still");
        } else if waits_for_files(&server.world, session) {
            // It goes on when they are there.
        } else if blocking.iter().all(|request| request.call.is_some()) {
            assert!(!shim.stopped, "{id} stands still, and nobody will send it on");
        }
    }
}

/// Whether the files of a session are being exchanged by a restore of another.
fn waits_for_files(world: &World, session: &Session) -> bool {
    let shares = |other: &&Session| other.project == session.project && other.worktree.is_none();
    let mut others = world.sessions.values().filter(shares).filter(|other| other.id != session.id);
    session.worktree.is_none() && others.any(|other| other.checkpoints.restoring.is_some())
}

/// What a main agent has asked is answered once, and everybody else only prints.
fn answers_once(journal: &[Entry], session: &Session) {
    let (mut asked, mut answered) = (BTreeSet::new(), BTreeSet::new());
    for entry in journal.iter().filter(|entry| entry.session == Some(session.id)) {
        match &entry.event {
            Event::Thin(ThinEvent::Asked { number, .. }) => assert!(asked.insert(*number)),
            Event::Thin(ThinEvent::Answered { number, .. }) => {
                assert!(answered.insert(*number), "{} is answered twice to {number}", session.id);
            }
            _ => {}
        }
    }
    assert_eq!(asked, answered, "{} is answered to all that it has asked", session.id);
    assert!(asked.is_empty() || session.order.role.is_main(), "{} has no such role", session.id);
    assert!(!session.thin.waits());
}

/// While an account has a limit, only who was tried is started.
fn nobody_begins_under_a_limit(journal: &[Entry]) {
    let mut accounts: BTreeMap<SessionId, String> = BTreeMap::new();
    let mut limits: BTreeMap<String, (AccountId, Vec<SessionId>)> = BTreeMap::new();
    for entry in journal {
        match (&entry.event, entry.session) {
            (Event::SessionCreated { order, .. }, Some(id)) => {
                accounts.insert(id, order.account.clone().unwrap_or_else(|| id.to_string()));
            }
            (Event::AccountLimited(AccountLimit { account, name, .. }), _) => {
                limits.insert(name.clone(), (*account, Vec::new()));
            }
            (Event::AccountTried { account }, Some(id)) => {
                let limit = limits.values_mut().find(|(limited, _)| limited == account);
                limit.expect("only what is limited is tried").1.push(id);
            }
            (Event::AccountRecovered { account }, _) => limits.retain(|_, (limited, _)| limited != account),
            (Event::SessionLaunched { .. }, Some(id)) => {
                let limit = limits.get(&accounts[&id]);
                assert!(limit.is_none_or(|(_, tried)| tried.contains(&id)), "{id} begins under a limit");
            }
            _ => {}
        }
    }
}

/// Who has used what its run may is told nothing, sent on and started only when a person has raised that.
fn nobody_goes_on_without_a_budget(journal: &[Entry]) {
    let mut world = World::default();
    for entry in journal {
        let goes_on = matches!(
            entry.event,
            Event::SessionLaunched { .. } | Event::SessionReleased { .. } | Event::InputSent { .. }
        );
        if let Some(run) = entry.run.filter(|_| goes_on).and_then(|id| world.runs.get(&id)) {
            let is_reached = |used: Option<u64>, max: Option<u64>| max.is_some() && used >= max;
            let is_over = is_reached(run.used.cost_nusd, run.budget.cost_nusd_max)
                || is_reached(run.used.tokens(), run.budget.tokens_max);
            assert!(!is_over, "{:?} goes on with {:?}", entry.session, run.used);
        }
        world.fold(entry);
    }
}

/// When nothing is left to do.
pub(crate) fn at_the_end(disk: &Disk, outside: &Outside) {
    let world = &disk.book.world;
    let mut replayed = World::default();
    disk.journal.iter().for_each(|entry| replayed.fold(entry));
    assert_eq!(&replayed, world, "the whole journal gives another world");
    assert!(disk.journal.iter().zip(1..).all(|(entry, seq)| entry.seq == seq));
    assert_eq!(world.inbox().count(), 0, "the inbox is empty");
    assert!(outside.values.is_empty(), "values lie about: {:?}", outside.values);
    assert!(!world.requests.values().any(|request| request.installing), "something is still being installed");
    nobody_begins_under_a_limit(&disk.journal);
    nobody_goes_on_without_a_budget(&disk.journal);
    nobody_works_where_files_are_exchanged(&disk.journal);
    for session in world.sessions.values() {
        let id = session.id;
        assert!(session.is_over(), "{id} is over");
        ends_once(&disk.journal, id);
        answers_once(&disk.journal, session);
        waits_for_checkpoints(&disk.journal, id);
        comes_back_as_tested(&disk.journal, session);
        assert!(session.checkpoints.pending.is_empty() && session.checkpoints.restoring.is_none());
        for launch in &session.launches {
            let place = (id, launch.number);
            let not_started = matches!(launch.ended, Some(LaunchEnd::NotStarted { .. }));
            let Some(shim) = outside.shims.get(&place) else {
                assert!(not_started || session.cancelled_at_ms.is_some(), "{place:?} never ran");
                continue;
            };
            assert!(!shim.alive);
            is_heard_once(&disk.journal, id, launch.number, shim);
        }
    }
    for session in world.sessions.values() {
        hearing::is_told_once(&disk.journal, session.id);
        hearing::holds_its_messages(session, outside);
    }
    for request in world.requests.values() {
        let session = &world.sessions[&request.session];
        let is_left = hearing::waits_for_a_resume(session, request.bringing);
        assert!(!request.bringing.is_under_way() || is_left, "{request:?} never arrives");
        if let Bringing::Consumed { launch } | Bringing::Heard { launch } = request.bringing {
            let place = (request.session, launch);
            let shim = &outside.shims[&place];
            let key = Parcel::Request(request.id).to_string();
            let was_read = shim.agent.read.contains(&key);
            // What stands in a prompt is known by the words, a terminal does not tell.
            let words = text(&request.ask);
            let is_words = matches!(request.ask, Ask::Error(_) | Ask::Fault { .. } | Ask::Permission(_));
            let has_terminal = shim.agent.has_terminal();
            // A caller that was killed with the answer in its hands has it, and cannot say it any more.
            let was_taken = request.has_caller();
            assert!(
                was_taken || was_read || shim.agent.was_told(&words) || is_words || has_terminal,
                "{request:?} was not read"
            );
        }
    }
}

/// Nothing is left half-way with a worktree, and what comes back by itself was found to be well, or a person has said so
/// to a card about exactly that.
fn comes_back_as_tested(journal: &[Entry], session: &Session) {
    let mut before: Option<&Worktree> = None;
    let mut said = None;
    for entry in journal.iter().filter(|entry| entry.session == Some(session.id)) {
        match &entry.event {
            Event::RequestSettled { request, answer: Answer::Text { text }, .. } => {
                said = Some((*request, text.as_str()));
            }
            Event::WorktreeChanged { worktree } => {
                if let WorktreeState::Merging { tested: Some(tested) } = &worktree.state {
                    let before = before.expect("it was made");
                    let insists = before.back.card.as_ref().is_some_and(|card| {
                        let is_about = card.about == WorktreeAbout::Red { commit: tested.clone() };
                        is_about && said == Some((card.request, "merge"))
                    });
                    assert!(before.state == WorktreeState::Testing || insists, "{before:?}");
                }
                before = Some(worktree);
            }
            _ => {}
        }
    }
    if let Some(worktree) = &session.worktree {
        assert!(!matches!(worktree.state, WorktreeState::Testing | WorktreeState::Merging { .. }));
        assert_eq!(worktree.back.card, None, "it was answered, or withdrawn");
        let has_tested = worktree.back.tests > 0;
        assert!(
            !has_tested || session.order.role.seat().is_some(),
            "only a role's work comes back by itself"
        );
    }
}

/// An outcome, and after it nothing but another beginning.
fn ends_once(journal: &[Entry], id: SessionId) {
    let mut is_over = false;
    for entry in journal.iter().filter(|entry| entry.session == Some(id)) {
        match entry.event {
            Event::SessionFinished { .. } => {
                assert!(!is_over, "{id} ends twice");
                is_over = true;
            }
            Event::SessionResumed { .. } => is_over = false,
            // Who has failed leaves its errands behind, which are answered to nobody. What is asked about its worktree
            // comes when it is over.
            Event::Thin(_)
            | Event::RequestOpened { launch: 0, .. }
            | Event::RequestSettled { .. }
            | Event::WorktreeChanged { .. }
            | Event::CheckpointWanted { .. }
            | Event::CheckpointMade { .. }
            | Event::CheckpointSkipped { .. }
            | Event::CheckpointRestoring { .. }
            | Event::CheckpointRestored { .. }
            | Event::CheckpointNotRestored { .. } => {}
            _ => assert!(!is_over, "{id} is over, and {:?} happens", entry.event),
        }
    }
    assert!(is_over);
}

/// Nothing is brought to an agent, it is not sent on, and it is not ended as a failure, before the checkpoint at its
/// question has a word.
fn waits_for_checkpoints(journal: &[Entry], id: SessionId) {
    let mut waited_for = BTreeSet::new();
    let mut is_restoring = false;
    for entry in journal.iter().filter(|entry| entry.session == Some(id)) {
        match &entry.event {
            Event::CheckpointWanted { checkpoint, holds: true, .. } => {
                waited_for.insert(*checkpoint);
            }
            Event::CheckpointMade { checkpoint, .. }
            | Event::CheckpointSkipped { checkpoint: Some(checkpoint), .. } => {
                waited_for.remove(checkpoint);
            }
            Event::CheckpointRestoring { .. } => is_restoring = true,
            Event::CheckpointRestored { .. } | Event::CheckpointNotRestored { .. } => is_restoring = false,
            Event::InputSent { .. }
            | Event::SessionReleased { .. }
            | Event::SessionRecalled { why: Ending::Failed, .. }
            | Event::SessionLaunched { .. } => {
                assert!(!is_restoring, "{id}: {:?} while files are exchanged", entry.event);
                // A person who starts it again does not wait.
                let is_wished =
                    matches!(entry.event, Event::SessionLaunched { cause: LaunchCause::Resume, .. });
                assert!(is_wished || waited_for.is_empty(), "{id}: {:?} before {waited_for:?}", entry.event);
            }
            _ => {}
        }
    }
}

/// While the files of a session are exchanged, nobody else begins or goes on in them.
fn nobody_works_where_files_are_exchanged(journal: &[Entry]) {
    let mut apart = BTreeSet::new();
    let mut exchanged = BTreeMap::new();
    for entry in journal {
        let (Some(id), Some(project)) = (entry.session, entry.project) else { continue };
        match &entry.event {
            Event::SessionCreated { worktree: Some(_), .. } => {
                apart.insert(id);
            }
            Event::CheckpointRestoring { .. } if !apart.contains(&id) => {
                exchanged.insert(id, project);
            }
            Event::CheckpointRestored { .. } | Event::CheckpointNotRestored { .. } => {
                exchanged.remove(&id);
            }
            Event::InputSent { .. }
            | Event::SessionReleased { .. }
            | Event::SessionLaunched { .. }
            | Event::CheckStarted { .. }
                if !apart.contains(&id) =>
            {
                let mut others = exchanged.iter().filter(|(other, at)| **other != id && **at == project);
                let other = others.next();
                assert_eq!(other, None, "{id}: {:?} while files are exchanged", entry.event);
            }
            _ => {}
        }
    }
}

/// Each thing that a launch printed or stalled for is one request, or the repetition of one.
fn is_heard_once(journal: &[Entry], id: SessionId, launch: u32, shim: &Shim) {
    let mut printed: BTreeMap<String, u32> = BTreeMap::new();
    for asked in shim.log.iter().filter_map(text_of_item) {
        *printed.entry(asked.to_owned()).or_default() += 1;
    }
    let mut calls = BTreeSet::new();
    let mut heard: BTreeMap<String, u32> = BTreeMap::new();
    for entry in journal.iter().filter(|entry| entry.session == Some(id)) {
        let (Event::RequestOpened { launch: of, ask, call, .. }
        | Event::RequestRepeated { launch: of, ask, call, .. }) = &entry.event
        else {
            continue;
        };
        if let Some(call) = call {
            assert!(calls.insert(call.key.clone()), "{id} is called twice by {}", call.key);
            continue;
        }
        let is_own = matches!(ask, Ask::Stall { .. } | Ask::Review(_)) || ask.is_about_budget();
        if *of == launch && !is_own {
            *heard.entry(text(ask)).or_default() += 1;
        }
    }
    assert_eq!(heard, printed, "what {id} printed in launch {launch}, and what was heard of it");
}
