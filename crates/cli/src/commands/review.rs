//! `ostler review`: shows the work of a phase, and decides about it. An approval is for exactly the tree that was shown.

use clap::Args;
use ostler_server::{
    api::{NewReview, PhaseView, PhasesView, RequestView, ReviewDecision},
    client::Client,
};

use crate::{
    card,
    commands::{inbox, phases::print_text},
    context::{Context, talk},
    error::{Error, Message},
    exit::Exit,
    help::heading,
    outcome,
    screen::{Style, add_line, one_line, safe},
    words::Key,
};

/// Look at the work of a phase, and approve it, send it back, or reject it.
///
/// Without a decision it shows the tree, the report, the questions and answers, and how to decide. If the files have
/// changed since they were shown, nothing is approved: they are looked at again, and shown again.
#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Arguments {
    #[arg(
        value_name = "ID",
        help = "The request or run (q_7, r_8); the one that waits, if there is only one"
    )]
    id: Option<String>,
    /// Approve it: the next phase begins.
    #[arg(long, group = "decision", help_heading = heading::DECISION)]
    approve: bool,
    /// Send it back with what is to be changed.
    #[arg(long, value_name = "TEXT", group = "decision", help_heading = heading::DECISION)]
    changes: Option<String>,
    /// Reject it: the run ends. A reason may follow.
    #[arg(long, value_name = "TEXT", num_args = 0..=1, default_missing_value = "", group = "decision", help_heading = heading::DECISION)]
    reject: Option<String>,
    /// Have it looked at again.
    #[arg(long, group = "decision", help_heading = heading::DECISION)]
    again: bool,
    /// The tree that was seen, or its beginning: another one is not approved.
    #[arg(long, value_name = "TREE", requires = "approve", help_heading = heading::APPROVAL)]
    tree: Option<String>,
    /// Approve it although the gate has failed.
    #[arg(long, requires = "approve", help_heading = heading::APPROVAL)]
    insist: bool,
    /// Show every line that has changed since the phase began.
    #[arg(long, conflicts_with = "decision", help_heading = heading::OUTPUT)]
    diff: bool,
    /// Show every line that has changed since you were asked about this phase before.
    #[arg(long, conflicts_with_all = ["decision", "diff"], help_heading = heading::OUTPUT)]
    since_shown: bool,
}

/// The fewest letters by which a tree is known.
const TREE_CHARS_MIN: usize = 7;

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    talk(async {
        let client = context.server().await?;
        let decision = decision(arguments);
        let Some(request) = find(&client, arguments.id.as_deref()).await? else {
            if decision.is_some() {
                return Err(Error::NotFound {
                    message: Message::new(Key::ReviewNone),
                    hint: Message::new(Key::HintUnchanged),
                });
            }
            context.print(&Vec::<RequestView>::new(), |screen| {
                screen.text(context.words.sentence(Key::ReviewNone))
            })?;
            return Ok(Exit::Done);
        };
        match decision {
            None => show(context, &client, &request, arguments).await,
            // Behind the one that was shown there may be another by now.
            Some(ReviewDecision::Approve) if !names_what_was_seen(arguments) => Err(Error::Refused {
                message: Message::new(Key::ReviewWhich),
                hint: Message::new(Key::HintReviewWhich).with("id", &request.id),
            }),
            Some(decision) => decide(context, &client, &request, arguments, decision).await,
        }
    })
}

/// A request is about one tree, and a tree is one; a run, or whatever waits, may be about another than a moment ago.
fn names_what_was_seen(arguments: &Arguments) -> bool {
    arguments.tree.is_some() || arguments.id.as_deref().is_some_and(|id| id.starts_with("q_"))
}

fn decision(arguments: &Arguments) -> Option<ReviewDecision> {
    if arguments.approve {
        Some(ReviewDecision::Approve)
    } else if arguments.changes.is_some() {
        Some(ReviewDecision::Changes)
    } else if arguments.reject.is_some() {
        Some(ReviewDecision::Reject)
    } else {
        arguments.again.then_some(ReviewDecision::Again)
    }
}

/// The review that is meant: by its id, that of a run, or the only one that is open.
async fn find(client: &Client, id: Option<&str>) -> Result<Option<RequestView>, Error> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let not_an_id = |text: &str| Error::NotFound {
        message: Message::new(Key::NotAnId).with("text", &one_line(text)),
        hint: Message::new(Key::HintIds),
    };
    let run = match id.map(|id| (id, id.split_once('_'))) {
        Some((id, Some(("q", number)))) if is_number(number) => {
            return Ok(Some(client.get(&format!("/requests/{id}")).await?));
        }
        Some((id, Some(("r", number)))) if is_number(number) => Some(id),
        Some((id, _)) => return Err(not_an_id(id)),
        None => None,
    };
    let open: Vec<RequestView> = client.get("/inbox").await?;
    let is_meant = |it: &RequestView| it.ask.kind == "review" && run.is_none_or(|run| it.run == run);
    let mut open: Vec<RequestView> = open.into_iter().filter(is_meant).collect();
    if open.len() > 1 {
        let ids: Vec<&str> = open.iter().map(|it| it.id.as_str()).collect();
        return Err(Error::Refused {
            message: Message::new(Key::ReviewSeveral).with("ids", &ids.join(", ")),
            hint: Message::new(Key::HintReview),
        });
    }
    if let Some(run) = run.filter(|_| open.is_empty()) {
        // Whether there is such a run at all is said by who knows.
        client.get::<PhasesView>(&format!("/phases/{run}")).await?;
    }
    match open.pop() {
        Some(request) => inbox::whole(client, request).await.map(Some),
        None => Ok(None),
    }
}

async fn show(
    context: &Context,
    client: &Client,
    request: &RequestView,
    arguments: &Arguments,
) -> Result<Exit, Error> {
    let fields = &request.ask.fields;
    let (phase, gate) = (fields["phase"].as_u64().unwrap_or(0), fields["gate"].as_u64().unwrap_or(0));
    let words = context.words;
    if context.json {
        context.print(request, |_| String::new())?;
        return Ok(Exit::Done);
    }
    context.print(request, |screen| {
        let mut said = card::question(words, screen, request);
        if let Some(tree) = fields["tree"].as_str() {
            add_line(&mut said, 2, &words.say(Key::ReviewTree, &[("tree", &safe(tree))]));
        }
        said.push('\n');
        said
    })?;
    print_text(client, &format!("/phases/{}/report?phase={phase}&gate={gate}", request.run), false).await?;
    let view: PhasesView = client.get(&format!("/phases/{}", request.run)).await?;
    let shown = view.phases.iter().find(|it| u64::from(it.number) == phase);
    answers(context, client, shown.and_then(|it| it.session.as_deref())).await?;
    if fields["tree"].is_string() {
        let path = format!("/phases/{}/diff?phase={phase}&gate={gate}", request.run);
        context.print(&(), |_| "\n".to_owned())?;
        print_text(client, &format!("{path}&stat={}", !arguments.diff), false).await?;
        let before = shown.and_then(|it| shown_before(it, gate));
        let heading = match before {
            Some(since) => words.say(Key::ReviewSince, &[("gate", &since)]),
            None if arguments.since_shown => words.sentence(Key::ReviewFirst).to_owned(),
            None => String::new(),
        };
        if !heading.is_empty() {
            context.print(&(), |screen| format!("\n{}\n", screen.style(Style::Bold, &heading)))?;
        }
        if let Some(since) = before {
            let path = format!("{path}&since={since}&stat={}", !arguments.since_shown);
            print_text(client, &path, false).await?;
        }
    }
    if request.settled.is_none() {
        let how = words.say(Key::ReviewDecide, &[("id", &request.id)]);
        context.print(&(), |screen| format!("\n{}\n", screen.style(Style::Attention, &how)))?;
    }
    Ok(Exit::Done)
}

/// The gate of a phase about which a person was asked before this one.
fn shown_before(phase: &PhaseView, gate: u64) -> Option<u32> {
    let mut earlier = phase.gates.iter().rev().filter(|it| u64::from(it.number) < gate);
    earlier.find(|it| it.request.is_some() && it.commit.is_some()).map(|it| it.number)
}

/// What was asked in the phase, and what was answered.
async fn answers(context: &Context, client: &Client, session: Option<&str>) -> Result<(), Error> {
    let Some(session) = session else { return Ok(()) };
    let mut asked: Vec<RequestView> = client.get(&format!("/requests?session={session}&limit=200")).await?;
    asked.retain(|it| it.ask.kind != "review");
    asked.reverse();
    if asked.is_empty() {
        return Ok(());
    }
    let words = context.words;
    context.print(&asked, |screen| {
        let mut said = format!("\n{}\n", screen.style(Style::Bold, words.sentence(Key::ReviewQuestions)));
        for it in &asked {
            add_line(&mut said, 2, &format!("{}  {}", it.id, one_line(&it.ask.text)));
            if let Some(settled) = &it.settled {
                add_line(&mut said, 4, &one_line(&outcome::settled(words, &settled.by, &settled.answer)));
            }
        }
        said
    })
}

async fn decide(
    context: &Context,
    client: &Client,
    request: &RequestView,
    arguments: &Arguments,
    decision: ReviewDecision,
) -> Result<Exit, Error> {
    if arguments.changes.as_ref().is_some_and(|words| words.trim().is_empty()) {
        return Err(Error::Usage { message: Message::new(Key::ReviewNoChanges), command: "review" });
    }
    let shown = request.ask.fields["tree"].as_str().unwrap_or_default();
    // What was named by its beginning is the whole tree, if it is this one.
    let named = arguments.tree.as_deref().map(str::trim);
    let tree = match named {
        Some(named) if named.len() >= TREE_CHARS_MIN && shown.starts_with(named) => shown.to_owned(),
        Some(named) => named.to_owned(),
        None => shown.to_owned(),
    };
    let words = arguments.changes.clone().or_else(|| arguments.reject.clone()).filter(|it| !it.is_empty());
    let tree = (decision == ReviewDecision::Approve).then_some(tree);
    let new = NewReview { decision, tree: tree.clone(), words, insist: arguments.insist };
    let settled: RequestView = client.post(&format!("/requests/{}/review", request.id), &new).await?;
    let key = match decision {
        ReviewDecision::Approve => Key::ReviewApproved,
        ReviewDecision::Changes => Key::ReviewChanges,
        ReviewDecision::Reject => Key::ReviewRejected,
        ReviewDecision::Again => Key::ReviewAgain,
    };
    let phase = settled.ask.fields["phase"].as_u64().unwrap_or(0);
    let short: String = tree.unwrap_or_default().chars().take(12).collect();
    let values: &[(&str, &dyn std::fmt::Display)] =
        &[("id", &settled.id), ("phase", &phase), ("tree", &short)];
    context.print(&settled, |screen| screen.text(&context.words.say(key, values)))?;
    Ok(Exit::Done)
}
