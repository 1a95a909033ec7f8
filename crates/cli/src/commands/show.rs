//! `ostler show`: everything about one session, run or request, a checkpoint, a call or a result.

use clap::Args;
use ostler_server::{
    api::{EventView, LaunchView, RequestView, RunView, SessionView},
    client::Client,
};
use serde_json::{Value, json};

use super::{checkpoint, office::pages, permissions, usage};
use crate::{
    card, clock,
    context::{Context, talk},
    error::Error,
    exit::Exit,
    id::{self, Id},
    outcome,
    screen::{Cell, Screen, Style, add_line, one_line, safe},
    sessions, status,
    words::{Key, Words},
};

/// How many events are asked for at once.
const PAGE: usize = 500;

/// How many events are shown, unless all are wanted.
const SHOWN: usize = 200;

/// Beyond the last event of every journal.
const NEWEST: u64 = 9_007_199_254_740_991;

/// Show everything about a session, a run, a request, a checkpoint, a call or a result.
#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(
        value_name = "ID",
        help = "A session, run, request, checkpoint, call or result (s_12, r_8, q_7, c_4, i_3, d_2), or 'last'"
    )]
    id: String,
    #[arg(long, help = "Show every event, not only the newest 200")]
    all: bool,
}

/// Events of a session or a run, oldest first.
struct EventHistory {
    events: Vec<EventView>,
    /// Whether there are earlier ones.
    is_cut: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let words = context.words;
    talk(async {
        let client = context.server().await?;
        if let Some(exit) = pages::show(context, &client, &arguments.id).await? {
            return Ok(exit);
        }
        if let Ok(id) = checkpoint::checkpoint(&arguments.id) {
            return checkpoint::show(context, &client, id).await;
        }
        match id::read(&client, &arguments.id).await? {
            Id::Session(id) => {
                let session: SessionView = client.get(&format!("/sessions/{id}")).await?;
                let run: RunView = client.get(&format!("/runs/{}", session.run)).await?;
                let history = history(&client, &format!("session={id}"), arguments.all).await?;
                let EventHistory { events, is_cut } = &history;
                let value = json!({ "session": session, "run": run, "events": events, "events_cut": is_cut });
                context.print(&value, |screen| {
                    session_page(words, screen, &session, &run)
                        + &check(words, screen, events)
                        + &timeline(words, screen, &id, &history)
                })?;
            }
            Id::Run(id) => {
                let run: RunView = client.get(&format!("/runs/{id}")).await?;
                let history = history(&client, &format!("run={id}"), arguments.all).await?;
                let EventHistory { events, is_cut } = &history;
                context.print(&json!({ "run": run, "events": events, "events_cut": is_cut }), |screen| {
                    run_page(words, screen, &run) + &timeline(words, screen, &id, &history)
                })?;
            }
            Id::Request(id) => {
                let request: RequestView = client.get(&format!("/requests/{id}")).await?;
                context.print(&request, |screen| request_page(words, screen, &request))?;
            }
        }
        Ok(Exit::Done)
    })
}

/// The newest events, or all of them.
async fn history(client: &Client, scope: &str, all: bool) -> Result<EventHistory, Error> {
    if all {
        return Ok(EventHistory { events: events(client, scope).await?, is_cut: false });
    }
    // One more than is shown tells whether there are earlier ones.
    let path = format!("/events?{scope}&before={NEWEST}&limit={}", SHOWN + 1);
    let mut events: Vec<EventView> = client.get(&path).await?;
    let is_cut = events.len() > SHOWN;
    events.truncate(SHOWN);
    events.reverse();
    Ok(EventHistory { events, is_cut })
}

async fn events(client: &Client, scope: &str) -> Result<Vec<EventView>, Error> {
    let mut events: Vec<EventView> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.seq);
        let page: Vec<EventView> = client.get(&format!("/events?{scope}&after={after}&limit={PAGE}")).await?;
        let is_last = page.len() < PAGE;
        events.extend(page);
        if is_last {
            return Ok(events);
        }
    }
}

fn fields(words: Words, screen: Screen, fields: &[(Key, String)]) -> String {
    let rows: Vec<Vec<Cell>> = fields
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| vec![Cell::styled(Style::Dim, words.sentence(*key)), Cell::new(value)])
        .collect();
    screen.fields(&rows)
}

fn session_page(words: Words, screen: Screen, session: &SessionView, run: &RunView) -> String {
    let (status, style) = status::said(words, session);
    let mut said = screen.fields(&[vec![
        Cell::styled(Style::Bold, &sessions::label(session)),
        Cell::styled(style, &status),
        Cell::new(&session.title),
    ]]);
    let waits = session.blocked_by.join(" ");
    let worktree = session.worktree.as_ref();
    let worktree = worktree.map(|it| format!("{} ({}) {}", it.branch, it.state, it.path)).unwrap_or_default();
    let attempts = run
        .attempts_max
        .map_or_else(|| session.attempts.to_string(), |max| format!("{} / {max}", session.attempts));
    said.push_str(&fields(
        words,
        screen,
        &[
            (Key::ShowRun, session.run.clone()),
            (Key::ShowAgent, session.agent.clone()),
            (Key::ShowProject, format!("{} {}", session.project.id, session.project.root)),
            (Key::ShowDirectory, session.directory.clone()),
            (Key::ShowCreated, clock::local(session.created_at_ms)),
            (Key::ColumnBlockedBy, waits),
            (Key::ShowErrands, errands(session)),
            (Key::ShowConversation, session.conversation.clone().unwrap_or_default()),
            (Key::ShowAccount, session.account.clone().unwrap_or_default()),
            (Key::ShowWaits, limit(session)),
            (Key::ShowUsage, usage::said(words, &session.usage)),
            (Key::ShowBudget, usage::budget(words, &run.budget)),
            (Key::ShowWorktree, worktree),
            (Key::ShowCheck, run.check.clone().unwrap_or_default()),
            (Key::ShowAttempts, if run.check.is_some() { attempts } else { String::new() }),
        ],
    ));
    for line in outcome::sentence(words, session) {
        screen.add_text(&mut said, 0, Style::Plain, &line);
    }
    if !session.permissions.is_empty() {
        said.push('\n');
        add_line(&mut said, 0, &screen.style(Style::Bold, words.sentence(Key::ShowAllowed)));
        said.push_str(&permissions::list(words, screen, session));
    }
    if !session.launches.is_empty() {
        said.push('\n');
        add_line(&mut said, 0, &screen.style(Style::Bold, words.sentence(Key::ShowLaunches)));
        let rows: Vec<Vec<Cell>> = session.launches.iter().map(|it| launch_row(words, it)).collect();
        said.push_str(&screen.columns(&rows));
    }
    said
}

/// What a main agent is not answered yet, and the runs that do it.
fn errands(session: &SessionView) -> String {
    let errands = session.errands.iter().flatten().map(|errand| {
        let line = one_line(&safe(errand.line.lines().next().unwrap_or_default()));
        errand.run.as_ref().map_or_else(|| line.clone(), |run| format!("{line} ({run})"))
    });
    errands.collect::<Vec<_>>().join(", ")
}

/// The account that has hit a limit, and in which words.
fn limit(session: &SessionView) -> String {
    let wait = session.wait.as_ref().filter(|wait| wait.kind != "retry");
    let said = wait.map(|wait| [wait.account.as_deref(), wait.message.as_deref()]);
    let said: Vec<&str> = said.into_iter().flatten().flatten().collect();
    one_line(&safe(&said.join(": ")))
}

fn launch_row(words: Words, launch: &LaunchView) -> Vec<Cell> {
    let ended = launch.ended.as_ref().map(|ended| {
        let how = ended["how"].as_str().unwrap_or_default();
        let detail = ["code", "signal", "message"].iter().find(|name| !ended[**name].is_null());
        match detail {
            Some(name) => format!("{how}: {name} {}", ended[*name]),
            None => how.to_owned(),
        }
    });
    let count = Some(launch.unrecorded).filter(|&count| count > 0);
    let unrecorded = count.map(|count| words.say(Key::ShowUnrecorded, &[("n", &count)]));
    vec![
        Cell::new(&launch.number.to_string()),
        Cell::new(&clock::local(launch.at_ms)),
        Cell::new(&launch.cause),
        Cell::new(&launch.pid.map(|pid| format!("pid {pid}")).unwrap_or_default()),
        Cell::new(&ended.unwrap_or_default()),
        Cell::new(&usage::said(words, &launch.usage)),
        Cell::new(&unrecorded.unwrap_or_default()),
    ]
}

fn run_page(words: Words, screen: Screen, run: &RunView) -> String {
    let mut said = format!("{}  {}\n", screen.style(Style::Bold, &run.id), one_line(&run.title));
    let git = if run.project.git { "" } else { words.sentence(Key::ShowNotGit) };
    said.push_str(&fields(
        words,
        screen,
        &[
            (Key::ShowProject, format!("{} {} {git}", run.project.id, run.project.root)),
            (Key::ShowCreated, clock::local(run.created_at_ms)),
            (Key::ShowUsage, usage::said(words, &run.usage)),
            (Key::ShowBudget, usage::budget(words, &run.budget)),
            (Key::ShowCheck, run.check.clone().unwrap_or_default()),
        ],
    ));
    said.push('\n');
    said.push_str(&sessions::table(words, screen, &run.sessions));
    said
}

fn request_page(words: Words, screen: Screen, request: &RequestView) -> String {
    let mut said = match request.settled {
        None => card::card(words, screen, request),
        Some(_) => card::question(words, screen, request),
    };
    let settled = request.settled.as_ref().map(|settled| {
        let answer = outcome::settled(words, &settled.by, &settled.answer);
        let by = match settled.by.as_str() {
            "repetition" => words.sentence(Key::AsBefore),
            by => by,
        };
        format!("{answer} ({by}, {})", clock::local(settled.at_ms))
    });
    said.push_str(&fields(
        words,
        screen,
        &[
            (Key::ShowSession, request.session.clone()),
            (Key::ShowRun, request.run.clone()),
            (Key::ShowTrust, request.trust.clone()),
            (Key::ShowSettled, settled.unwrap_or_default()),
            (Key::ShowDelivery, delivery(words, &request.delivery)),
        ],
    ));
    said
}

/// How far the answer has got. Nothing where there is nothing to bring; a word of a later server is shown as it is.
fn delivery(words: Words, state: &str) -> String {
    let key = match state {
        "nothing" => return String::new(),
        "waiting" => Key::DeliveryWaiting,
        "sent" => Key::DeliverySent,
        "refused" => Key::DeliveryRefused,
        "prompted" => Key::DeliveryPrompted,
        "delivered" => Key::DeliveryDelivered,
        "consumed" => Key::DeliveryConsumed,
        "heard" => Key::DeliveryHeard,
        "undeliverable" => Key::DeliveryUndeliverable,
        state => return state.to_owned(),
    };
    words.sentence(key).to_owned()
}

/// What the last check said, if it failed.
fn check(words: Words, screen: Screen, events: &[EventView]) -> String {
    let last = events.iter().rev().find(|event| event.kind == "check.finished");
    let lines = last.map(|event| outcome::check_said(&event.body["attempt"])).unwrap_or_default();
    if lines.is_empty() {
        return String::new();
    }
    let mut said = format!("\n{}\n", screen.style(Style::Bold, words.sentence(Key::ShowCheckSaid)));
    for line in lines {
        add_line(&mut said, 2, &line);
    }
    said
}

/// What happened, with the time and what is worth knowing of it. Kinds are names of the interface and not translated.
fn timeline(words: Words, screen: Screen, id: &str, history: &EventHistory) -> String {
    let EventHistory { events, is_cut } = history;
    if events.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<Cell>> = events
        .iter()
        .map(|event| {
            vec![
                Cell::styled(Style::Dim, &clock::local(event.at_ms)),
                Cell::new(&event.kind),
                Cell::styled(Style::Dim, &about(words, &event.body)),
            ]
        })
        .collect();
    let head = screen.style(Style::Bold, words.sentence(Key::ShowTimeline));
    let earlier = is_cut.then(|| words.say(Key::ShowEarlier, &[("id", &id), ("n", &SHOWN)]) + "\n");
    format!("\n{head}\n{}{}", earlier.unwrap_or_default(), screen.columns(&rows))
}

/// The few fields of an event that a person looks for.
fn about(words: Words, body: &Value) -> String {
    let short = |name: &str, value: &Value| match value {
        Value::Null | Value::Object(_) | Value::Array(_) => None,
        Value::String(text) => Some(format!("{name} {}", one_line(&safe(text)))),
        other => Some(format!("{name} {other}")),
    };
    let names = [
        "request", "launch", "cause", "pid", "number", "parcel", "trust", "why", "by", "title", "text",
        "line", "child", "items", "unseen", "secret", "file", "step",
    ];
    let mut said: Vec<String> = names.iter().filter_map(|name| short(name, &body[*name])).collect();
    said.extend(short("heard", &body["item"]["kind"]));
    said.extend(short("also in", &body["mark"]["source"]));
    said.extend(short("state", &body["worktree"]["state"]["state"]));
    said.extend(short("code", &body["attempt"]["code"]));
    if body["answer"].is_object() {
        said.push(format!("answer {}", one_line(&outcome::answer(words, &body["answer"]))));
    }
    said.extend(short("outcome", &body["outcome"]["outcome"]));
    said.join(", ")
}
