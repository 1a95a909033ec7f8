//! `ostler resume`: goes on with a session that was interrupted or has ended.

use clap::Args;
use ostler_server::api::{NewResume, SessionView};

use crate::{
    attached::{self, Options, Signals},
    context::{Context, talk},
    error::Error,
    exit::Exit,
    id,
    words::Key,
};

/// Go on with a session that was interrupted or is over.
///
/// Its conversation is taken up where it was, if its CLI can do that. You watch it as with 'run'.
#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", help = id::HELP)]
    id: String,
    /// What it is told; otherwise to go on where it was.
    #[arg(value_name = "PROMPT")]
    prompt: Option<String>,
    /// Do not watch it.
    #[arg(short, long)]
    detach: bool,
    /// Show bytes as they are.
    #[arg(long)]
    raw: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    talk(async {
        let mut signals = Signals::catch();
        let ask = async {
            let client = context.server().await?;
            let id = id::session(&client, &arguments.id).await?;
            let new = NewResume { prompt: arguments.prompt.clone() };
            let session: SessionView = client.post(&format!("/sessions/{id}/resume"), &new).await?;
            Ok::<_, Error>((client, session))
        };
        let Some(resumed) = signals.during(ask).await else { return Ok(attached::left(context)) };
        let (client, session) = resumed?;
        if arguments.detach {
            let said = context.words.say(Key::Resumed, &[("id", &session.id)]);
            context.print(&session, |_| format!("{said}\n"))?;
            return Ok(Exit::Done);
        }
        attached::watch(
            context,
            &client,
            &session.id,
            Options { raw: arguments.raw, ..Options::default() },
            signals,
        )
        .await
    })
}
