//! What commands inside a session share: they ask over its own socket, and are blocked until somebody has settled it.

use std::{
    env,
    io::{self, Write},
    path::PathBuf,
    time::Duration,
};

use ostler_server::{
    api::{CallAnswer, CallState, CallView, NewCall},
    channel::Channel,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use zeroize::Zeroizing;

use crate::{
    context::{Context, talk},
    error::{Error, Message},
    exit::Exit,
    words::Key,
};

/// Between two looks whether anybody still reads what will be said.
const LOOK: Duration = Duration::from_millis(500);

/// What came of something that was asked.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The request that was made of it.
    pub(crate) request: String,
    /// The answer; none, if there is nothing to be said here.
    pub(crate) answer: Option<CallAnswer>,
    /// Whether there will never be one: the session is over, or is to end.
    pub(crate) is_over: bool,
}

/// The way to whoever looks after this session.
pub(crate) fn channel() -> Result<Channel, Error> {
    Channel::find().ok_or_else(not_inside)
}

fn not_inside() -> Error {
    Error::Refused { message: Message::new(Key::NotInside), hint: Message::new(Key::HintNotInside) }
}

/// Asks, and waits for as long as it takes and anybody reads.
pub(crate) fn ask(context: &Context, call: &NewCall) -> Result<Outcome, Error> {
    let channel = channel()?;
    let view = talk(async {
        let opened = channel.open(&Channel::key(), call).await?;
        let settled = tokio::select! {
            settled = channel.settled(&opened) => settled?,
            // A tool that has given up may leave this process behind: then the answer has to go another way.
            () = nobody_reads() => channel.leave(&opened).await?,
        };
        match settled.state {
            CallState::Answered { .. } => Ok(channel.take(&settled).await?),
            _ => Ok(settled),
        }
    })?;
    let CallView { request, state, .. } = view;
    let is_over = state == CallState::Over;
    let (answer, why) = match state {
        CallState::Answered { answer: CallAnswer::Nothing } => {
            (Some(CallAnswer::Nothing), Some(Key::NobodyAnswered))
        }
        CallState::Answered { answer: answer @ CallAnswer::Skipped { default: None } } => {
            (Some(answer), Some(Key::CallDeclined))
        }
        CallState::Answered { answer } => (Some(call.restored(answer)), None),
        CallState::Over => (None, Some(Key::NoAnswerOver)),
        CallState::Elsewhere | CallState::Waiting => (None, Some(Key::NoAnswerHere)),
    };
    if let Some(why) = why {
        context.note(&context.words.say(why, &[("id", &request)]));
    }
    Ok(Outcome { request, answer, is_over })
}

/// The values that this session was given, from its private file.
pub(crate) fn values() -> Result<Vec<(String, Zeroizing<String>)>, Error> {
    let path = env::var_os("OSTLER_VALUES").map(PathBuf::from).ok_or_else(not_inside)?;
    let values = ostler_shim::values::read(&path)
        .map_err(|source| Error::Input { path: Some(path.clone()), source })?;
    Ok(values.into_iter().map(|(name, value)| (name, Zeroizing::new(value))).collect())
}

/// Prints a text that holds a value.
pub(crate) fn print_secret(text: &Zeroizing<String>) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)
}

/// How a command ends that has this answer.
pub(crate) fn exit(outcome: &Outcome) -> Exit {
    match &outcome.answer {
        None | Some(CallAnswer::Nothing | CallAnswer::Skipped { default: None }) => Exit::NoAnswer,
        Some(CallAnswer::Denied { .. }) => Exit::Denied,
        Some(_) => Exit::Done,
    }
}

/// Comes back when nobody reads standard output any more.
pub(crate) async fn nobody_reads() {
    loop {
        let stdout = io::stdout();
        let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
        let found = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        let is_closed = fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP);
        if found.is_ok() && is_closed {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}
