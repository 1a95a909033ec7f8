//! `ostler invoke`: an agent's process calls another agent.

use std::io::{self, IsTerminal};

use clap::Args;
use ostler_server::{
    api::{CalledView, InvocationStatus, NewInvocation},
    channel::Channel,
};

use crate::{
    commands::send::standard_input,
    context::{Context, talk},
    error::Error,
    exit::Exit,
    inside,
    words::Key,
};

/// Inside a session: call another agent of this project.
///
/// It prints the id of the call, and the result comes as a message. With --wait it waits for as long as it takes, also
/// while the server restarts, and prints the result, byte for byte; if the tool that runs it gives up and ends it, the
/// result comes as a message.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ostler invoke designer \"Sketch the sign-in page\" --context \"See docs/brief.md\"\n  \
                        ostler invoke --wait QA \"Run the tests and say what fails\"\n\n\
                        Exit codes: 0 called, or done; 1 it was not done; 7 not inside a session; 13 the result comes as a message."
)]
pub(crate) struct Arguments {
    /// Who is called.
    #[arg(value_name = "ROLE")]
    role: String,
    /// What is to be done.
    #[arg(value_name = "TASK", required_unless_present = "stdin", conflicts_with = "stdin")]
    task: Option<String>,
    /// Take the task from standard input.
    #[arg(long)]
    stdin: bool,
    /// What the other should know.
    #[arg(long, value_name = "TEXT")]
    context: Option<String>,
    /// Wait until it is done, and print the result.
    #[arg(long)]
    wait: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let channel = inside::channel()?;
    let task = match &arguments.task {
        Some(task) => task.clone(),
        None => standard_input()?,
    };
    let (agent, wait) = (arguments.role.clone(), arguments.wait);
    let new = NewInvocation { agent, task, context: arguments.context.clone(), wait };
    let key = Channel::key();
    let view = talk(async {
        let opened = channel.invoke(&key, &new).await?;
        let called = channel.called(&key, &opened, false).await?;
        if !wait {
            return Ok(called);
        }
        Ok(tokio::select! {
            over = channel.called(&key, &called, true) => over?,
            // A tool that has given up may leave this process behind: then the result has to go another way.
            () = inside::nobody_reads() => channel.leave_call(&key, &called).await?,
        })
    })?;
    let is_mine = !wait || view.waited_for;
    let exit = say(context, &view, wait, is_mine)?;
    if wait && is_mine {
        // If it is refused, this process was taken for gone, and the result comes as a message too.
        talk(async { Ok(channel.take_result(&key, &view).await?) }).ok();
    }
    Ok(exit)
}

fn say(context: &Context, view: &CalledView, wait: bool, is_mine: bool) -> Result<Exit, Error> {
    let call = &view.invocation;
    if wait && !is_mine {
        context.note(&context.words.say(Key::NoResultHere, &[("id", &call.id)]));
    }
    let has_failed = matches!(call.status, InvocationStatus::Failed | InvocationStatus::Cancelled);
    context.print(view, |_| match (&view.result, &call.words) {
        _ if wait && !is_mine => String::new(),
        (Some(result), _) if wait => as_brought(&result.content),
        (_, Some(words)) if call.is_over() => format!("{}\n", words.trim_end()),
        _ => format!("{}\n", call.id),
    })?;
    Ok(match (has_failed, wait && !is_mine) {
        (true, _) => Exit::Failed,
        (false, true) => Exit::NoAnswer,
        (false, false) => Exit::Done,
    })
}

/// A result as it was brought, byte for byte. Only at a terminal is the last line ended, so that the next thing that is
/// said there begins on a line of its own.
fn as_brought(content: &str) -> String {
    let is_open = !content.ends_with('\n') && io::stdout().is_terminal();
    if is_open { format!("{content}\n") } else { content.to_owned() }
}
