//! What is known, as clients see it.

use std::path::Path;

use ostler_engine::{
    ProjectId, SessionId, World,
    office::has_nothing_to_do,
    permission::{AllowedRule, PermissionRule},
    request::{Ask, Bringing, Request},
    run::{Outcome, Project, Run},
    session::{Ending, Launch, LaunchEnd, Retries, Screen, Session, Status, Worktree, WorktreeState},
    thin::Errand,
};
use ostler_protocol::signal::DependencyType;
use ostler_store::EventRow;
use serde::Serialize;
use serde_json::{Value, json};

use super::{tool_call, usage};
use crate::{
    api::{
        AskView, ErrandView, EventView, FieldView, FormView, InstallView, LaunchView, MarkView, NewSize,
        Outcome as OutcomeView, OutcomeKind, PermissionView, ProjectView, RequestView, RuleView, RunView,
        SessionView, SettledView, ToolCallView, WaitView, WorktreeView,
    },
    packages, services,
};

/// The word by which something is known in JSON.
pub(super) fn word(value: &impl Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

pub(super) fn project(world: &World, id: ProjectId) -> ProjectView {
    world.projects.get(&id).map_or_else(
        || ProjectView { id: id.to_string(), name: String::new(), root: String::new(), git: false },
        |Project { id, root, name, git, .. }| ProjectView {
            id: id.to_string(),
            name: name.clone(),
            root: root.clone(),
            git: *git,
        },
    )
}

pub(super) fn run(world: &World, run: &Run) -> RunView {
    let sessions = run.sessions.iter().filter_map(|id| world.sessions.get(id));
    RunView {
        id: run.id.to_string(),
        project: project(world, run.project),
        title: run.title.clone(),
        created_at_ms: run.created_at_ms,
        check: run.terms.check.clone(),
        attempts_max: run.terms.attempts_max,
        budget: usage::budget(run),
        usage: usage::view(&run.used),
        outcome: run.outcome.as_ref().map(outcome),
        ended_at_ms: run.ended_at_ms,
        sessions: sessions.map(|it| session(world, it)).collect(),
        phased: run.phases.is_some(),
        cut: Vec::new(),
    }
}

pub(super) fn session(world: &World, session: &Session) -> SessionView {
    let blocking: Vec<&Request> = world.blocking(session.id).collect();
    let status = session.status(&blocking);
    let title = world.runs.get(&session.run).map(|run| run.title.clone()).unwrap_or_default();
    SessionView {
        id: session.id.to_string(),
        name: session.name.as_ref().map(ToString::to_string),
        run: session.run.to_string(),
        title,
        project: project(world, session.project),
        agent: session.order.agent.name.clone(),
        plain: session.order.agent.is_plain(),
        status: word(&status),
        since_ms: since_ms(session, status, &blocking),
        idle: is_idle(world, session),
        conducts: session.graph.is_some(),
        blocked_by: world.offered(session.id).iter().map(|it| it.id.to_string()).collect(),
        wait: wait(world, session, &blocking),
        errands: session.order.role.is_main().then(|| errands(session)),
        directory: session.directory().to_owned(),
        worktree: session.worktree.as_ref().map(worktree),
        pid: session.live().and_then(|live| live.process).map(|process| process.pid),
        launches: session.launches.iter().map(launch).collect(),
        conversation: session.conversation.as_ref().map(|it| it.id.clone()),
        resumable: session.can_resume(),
        permissions: session.permissions.allowed.iter().map(permission).collect(),
        told_by_environment: session.order.reads_answers_only(),
        usage: usage::view(&session.used),
        account: session.order.account.clone(),
        attempts: u32::try_from(session.attempts.len()).unwrap_or(u32::MAX),
        outcome: session.outcome.as_ref().map(outcome),
        created_at_ms: session.created_at_ms,
        ended_at_ms: session.ended_at_ms,
        cut: Vec::new(),
    }
}

fn permission((number, allowed): (&u64, &AllowedRule)) -> PermissionView {
    PermissionView {
        number: *number,
        rule: rule(&allowed.rule),
        request: allowed.request.to_string(),
        at_ms: allowed.at_ms,
    }
}

fn rule(rule: &PermissionRule) -> RuleView {
    RuleView {
        option: rule.option().to_owned(),
        scope: json!(rule)["scope"].as_str().unwrap_or_default().to_owned(),
        tool: rule.tool.clone(),
        text: rule.text(),
    }
}

/// What a main agent is not answered yet.
fn errands(session: &Session) -> Vec<ErrandView> {
    let view = |(number, errand): (&u64, &Errand)| ErrandView {
        number: *number,
        line: errand.line.clone(),
        at_ms: errand.at_ms,
        run: errand.run.map(|run| run.to_string()),
    };
    session.thin.open.iter().map(view).collect()
}

/// Whether somebody who has a role is there, and nobody has anything for it to do.
pub(super) fn is_idle(world: &World, session: &Session) -> bool {
    let blocking: Vec<&Request> = world.blocking(session.id).collect();
    session.status(&blocking) == Status::Active && has_nothing_to_do(session)
}

/// What it waits for by itself.
fn wait(world: &World, session: &Session, blocking: &[&Request]) -> Option<WaitView> {
    let nothing = WaitView::default();
    let retries = blocking.iter().find_map(|request| Some((request.retry?, request.expires_at_ms)));
    if let Some((retry, until_ms)) = retries {
        let (retry, retries_max) = (Some(retry), Some(Retries::MAX));
        return Some(WaitView { kind: "retry".to_owned(), until_ms, retry, retries_max, ..nothing });
    }
    if session.parked_at_ms.is_some() && !session.is_over() {
        let account = world.limited_account(session);
        let limit = account.and_then(|account| account.limit.as_ref());
        return Some(WaitView {
            kind: "limit".to_owned(),
            until_ms: limit.map(|limit| limit.next_try_at_ms),
            reset_at_ms: limit.and_then(|limit| limit.reset_at_ms),
            account: account.map(|account| account.name.clone()),
            message: limit.and_then(|limit| limit.message.clone()),
            ..nothing
        });
    }
    let limit = session.retrying.as_ref().filter(|_| session.live().is_some())?;
    let (until_ms, message) = (limit.reset_at_ms, limit.message.clone());
    Some(WaitView { kind: "cli_retry".to_owned(), until_ms, message, ..nothing })
}

/// Since when it is as it is.
pub(super) fn since_ms(session: &Session, status: Status, blocking: &[&Request]) -> u64 {
    let last = session.launches.last();
    let ended = last.and_then(|launch| launch.ended.as_ref()).map(|end| match end {
        LaunchEnd::Exited { at_ms, .. } | LaunchEnd::NotStarted { at_ms, .. } | LaunchEnd::Lost { at_ms } => {
            *at_ms
        }
    });
    let started = last.and_then(|launch| Some(launch.process?.at_ms));
    let since = match status {
        Status::Completed | Status::Failed | Status::Cancelled => session.ended_at_ms,
        Status::WaitingInput
        | Status::WaitingDependency
        | Status::WaitingPermission
        | Status::WaitingReview => {
            blocking.iter().find(|request| request.is_open()).map(|request| request.opened_at_ms)
        }
        Status::Installing => blocking.first().and_then(|it| it.settled.as_ref()).map(|it| it.at_ms),
        Status::Paused => session.paused_at_ms,
        Status::Parked => session.parked_at_ms,
        Status::Ending => session.cancelled_at_ms.or(session.dismissed_at_ms),
        Status::Interrupted | Status::Checking => ended,
        Status::WaitingAgent => ended.or(started),
        Status::Active => session.waiting_since_ms.or_else(|| session.waited_until_ms.max(started)),
        Status::Starting => last.map(|launch| launch.at_ms),
    };
    since.unwrap_or(session.created_at_ms)
}

fn launch(launch: &Launch) -> LaunchView {
    LaunchView {
        number: launch.number,
        cause: word(&launch.cause),
        prompt: launch.prompt.clone(),
        at_ms: launch.at_ms,
        pid: launch.process.map(|process| process.pid),
        usage: usage::view(&launch.used),
        heard_at: launch.heard.map(|(offset, _)| offset),
        unrecorded: launch.unrecorded,
        stopped_at_ms: launch.stopped.map(|stop| stop.at_ms),
        terminal: launch.screen.map(|Screen { rows, columns }| NewSize { rows, columns }),
        ending: launch.ending.as_ref().map(word),
        ended: launch.ended.as_ref().map(|ended| json!(ended)),
    }
}

fn worktree(worktree: &Worktree) -> WorktreeView {
    let (state, changes) = (json!(worktree.state), &worktree.changes);
    let (message, files) = match &worktree.state {
        WorktreeState::NotMerged { message, files, .. } => (Some(message.clone()), files.clone()),
        WorktreeState::NotDiscarded { message } => (Some(message.clone()), Vec::new()),
        WorktreeState::Merged { commit } => (Some(commit.clone()), Vec::new()),
        WorktreeState::Discarded { kept } => (Some(kept.clone()), Vec::new()),
        _ => (None, Vec::new()),
    };
    WorktreeView {
        path: worktree.path.clone(),
        branch: worktree.branch.clone(),
        target: worktree.target.clone(),
        state: state["state"].as_str().unwrap_or_default().to_owned(),
        message,
        files,
        conflict: matches!(worktree.state, WorktreeState::NotMerged { conflict: true, .. }),
        left_out: if changes.taken { Vec::new() } else { changes.files.clone() },
        left_out_more: if changes.taken { 0 } else { changes.more },
    }
}

pub(super) fn outcome(outcome: &Outcome) -> OutcomeView {
    match outcome {
        Outcome::Completed { verified } => {
            OutcomeView { outcome: OutcomeKind::Completed, verified: *verified, reason: Value::Null }
        }
        Outcome::Failed { reason } => {
            OutcomeView { outcome: OutcomeKind::Failed, verified: false, reason: json!(reason) }
        }
        Outcome::Cancelled => {
            OutcomeView { outcome: OutcomeKind::Cancelled, verified: false, reason: Value::Null }
        }
    }
}

pub(super) fn request(world: &World, request: &Request) -> RequestView {
    let session: Option<&Session> = world.sessions.get(&SessionId(request.session.0));
    RequestView {
        id: request.id.to_string(),
        session: request.session.to_string(),
        session_name: session.and_then(|session| session.name.as_ref()).map(ToString::to_string),
        run: request.run.to_string(),
        project: project(world, request.project),
        agent: session.map(|session| session.order.agent.name.clone()).unwrap_or_default(),
        role: session.and_then(|session| session.order.role.seat()).map(ToOwned::to_owned),
        ask: AskView {
            options: request.options(),
            rules: request.rules.iter().map(rule).collect(),
            form: session.and_then(|session| form(session, request)),
            call: session.and_then(|session| call(world, session, request)),
            ..ask(&request.ask)
        },
        trust: request.trust.clone(),
        mark: request.mark.clone().map(|mark| MarkView {
            source: mark.source.name().to_owned(),
            tool: mark.tool,
            about: mark.about,
        }),
        opened_at_ms: request.opened_at_ms,
        expires_at_ms: request.expires_at_ms,
        expired: request.expired_at_ms.is_some(),
        retry: request.retry.filter(|_| request.blocks()),
        settled: request.settled.as_ref().map(|settled| SettledView {
            at_ms: settled.at_ms,
            by: word(&settled.by),
            answer: json!(settled.answer),
            late: settled.late,
        }),
        delivery: delivery(request.bringing).to_owned(),
        abandoned: request.is_open() && session.is_some_and(|session| is_abandoned(session, &request.ask)),
        install: install(request),
        cut: Vec::new(),
    }
}

/// Whether whoever asked has ended, and cannot be started again with an answer.
fn is_abandoned(session: &Session, ask: &Ask) -> bool {
    // What is decided about an error or a budget is done, whoever hears of it.
    let is_told = matches!(ask, Ask::Question(_) | Ask::AskUser(_) | Ask::Dependency(_) | Ask::Permission(_));
    let was_sent_away = |launch: &Launch| matches!(launch.ending, Some(Ending::Rest | Ending::Relaunch));
    let has_ended = matches!(session.last_end(), Some(LaunchEnd::Exited { .. }))
        && !session.launches.last().is_some_and(was_sent_away);
    is_told && has_ended && !session.is_over() && !session.can_resume()
}

fn install(request: &Request) -> Option<InstallView> {
    let (state, reason) = match &request.install {
        Some(install) if install.installed => ("installed", None),
        Some(install) => ("failed", install.reason.clone()),
        None if request.installing => ("running", None),
        None => return None,
    };
    Some(InstallView { state: state.to_owned(), reason })
}

/// The call that waits for permission, as a person reads it.
fn call(world: &World, session: &Session, request: &Request) -> Option<ToolCallView> {
    let Ask::Permission(asked) = &request.ask else { return None };
    let root = world.projects.get(&request.project).map_or("", |project| project.root.as_str());
    tool_call::view(session, root, asked)
}

/// What has to be filled in, or what approval does.
fn form(session: &Session, request: &Request) -> Option<FormView> {
    let Ask::Dependency(it) = &request.ask else { return None };
    let field = |name: &str, secret, optional| FieldView { name: name.to_owned(), secret, optional };
    let form = match it.dependency_type {
        DependencyType::ApiKey => {
            FormView { fields: vec![field(&it.name, true, false)], ..FormView::default() }
        }
        DependencyType::EnvVariable => {
            FormView { fields: vec![field(&it.name, false, false)], ..FormView::default() }
        }
        DependencyType::Service => {
            let variables = services::find(&it.name).into_iter().flat_map(|service| &service.variables);
            let fields = variables.map(|it| field(&it.name, !it.shown, it.optional)).collect();
            FormView { fields, other_names: true, ..FormView::default() }
        }
        DependencyType::Package => match packages::add(Path::new(session.directory()), &it.name) {
            Ok(add) => FormView {
                command: add.command,
                manifest: add.manifest.map(ToOwned::to_owned),
                ..FormView::default()
            },
            Err(error) => FormView { problem: Some(error.to_string()), ..FormView::default() },
        },
        DependencyType::File | DependencyType::Permission => return None,
    };
    let unseen = session.runs_on_without_values(request);
    request.is_open().then_some(FormView { unseen, ..form })
}

fn delivery(bringing: Bringing) -> &'static str {
    match bringing {
        Bringing::Nothing => "nothing",
        Bringing::Waiting => "waiting",
        Bringing::Sent { .. } => "sent",
        Bringing::Refused { .. } => "refused",
        Bringing::Prompted { .. } => "prompted",
        Bringing::Delivered { .. } => "delivered",
        Bringing::Unproven { .. } | Bringing::Consumed { .. } => "consumed",
        Bringing::Heard { .. } => "heard",
        Bringing::Undeliverable => "undeliverable",
    }
}

/// Which kind of thing is asked.
pub(super) fn ask_kind(ask: &Ask) -> String {
    json!(ask)["kind"].as_str().unwrap_or_default().to_owned()
}

fn ask(ask: &Ask) -> AskView {
    let mut fields = json!(ask);
    let kind = ask_kind(ask);
    if let Some(fields) = fields.as_object_mut() {
        fields.remove("kind");
    }
    let (text, context) = match ask {
        Ask::Question(it) => (it.question.clone(), None),
        Ask::AskUser(it) => (it.question.clone(), it.context.clone()),
        Ask::Dependency(it) => (it.name.clone(), Some(it.description.clone())),
        Ask::Error(it) => (it.message.clone(), it.details.clone()),
        Ask::Fault(it) => (it.sentence(), Some(it.raw.clone()).filter(|raw| !raw.is_empty())),
        Ask::Permission(it) => {
            // What would be done comes first and always: a description says what somebody makes of it.
            let input = serde_json::to_string_pretty(&it.input).unwrap_or_default();
            let described = it.description.as_ref().map(|words| format!("\n\n{words}"));
            (it.tool.clone(), Some(input + &described.unwrap_or_default()))
        }
        Ask::Stall { reason } => (reason.clone(), None),
        Ask::Steered { what } => (what.sentence().to_owned(), None),
        Ask::TimeOver { time_ms_max } => (format!("{} s", time_ms_max / 1000), None),
        Ask::CostOver { cost_nusd, .. } => (format!("{} USD", usage::dollars(*cost_nusd)), None),
        Ask::TokensOver { tokens, .. } => (format!("{tokens} tokens"), None),
        Ask::Review(it) => {
            let problems: Vec<String> = it.problems.iter().map(|problem| problem.sentence(false)).collect();
            (format!("{} {}", it.phase, it.name), Some(problems.join("\n")).filter(|it| !it.is_empty()))
        }
    };
    let default = ask.default_answer().map(str::to_owned);
    AskView {
        kind,
        text,
        context,
        options: ask.options(),
        default,
        required: ask.is_required(),
        skippable: ask.can_be_skipped(),
        fields,
        rules: Vec::new(),
        call: None,
        form: None,
    }
}

pub(super) fn event(row: &EventRow) -> EventView {
    EventView {
        seq: row.seq,
        v: row.version,
        at_ms: row.at_ms,
        kind: row.kind.clone(),
        project: row.project.map(|id| format!("p_{id}")),
        run: row.run.map(|id| format!("r_{id}")),
        session: row.session.map(|id| format!("s_{id}")),
        body: serde_json::from_str(&row.body).unwrap_or_default(),
    }
}
