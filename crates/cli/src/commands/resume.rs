//! `ostler resume`: goes on with a session that was interrupted or has ended.

use clap::Args;
use ostler_server::{
    api::{NewResume, SessionView, StatusView},
    client::Client,
};

use crate::{
    attached::{self, Options, Signals},
    context::{Context, talk},
    error::{Error, Message},
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
    id: Option<String>,
    /// What it is told; otherwise to go on where it was.
    #[arg(value_name = "PROMPT")]
    prompt: Option<String>,
    /// Every interrupted session, such as after a reboot; nothing is watched.
    #[arg(long, conflicts_with_all = ["id", "prompt", "detach", "raw"])]
    all: bool,
    /// Do not watch it.
    #[arg(short, long)]
    detach: bool,
    /// Show bytes as they are.
    #[arg(long)]
    raw: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    if arguments.all {
        return all(context);
    }
    let Some(id) = &arguments.id else {
        return Err(Error::Usage { message: Message::new(Key::ResumeWhich), command: "resume" });
    };
    talk(async {
        let mut signals = Signals::catch();
        let ask = async {
            let client = context.server().await?;
            let id = id::session(&client, id).await?;
            let session = resume(&client, &id, arguments.prompt.clone()).await?;
            Ok::<_, Error>((client, session))
        };
        let Some(resumed) = signals.during(ask).await else { return Ok(attached::left(context)) };
        let (client, session) = resumed?;
        if arguments.detach {
            context.print(&session, |_| resumed_line(context, &session))?;
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

/// Resumes every interrupted session. One that cannot be resumed does not keep the others from it; the first error is
/// told at the end.
fn all(context: &Context) -> Result<Exit, Error> {
    talk(async {
        let client = context.server().await?;
        let status: StatusView = client.get("/status").await?;
        let interrupted = status.sessions.iter().filter(|session| session.status == "interrupted");
        let (mut first_error, mut resumed) = (None, Vec::new());
        for session in interrupted {
            match resume(&client, &session.id, None).await {
                Ok(session) => {
                    if !context.json {
                        context.print(&session, |_| resumed_line(context, &session))?;
                    }
                    resumed.push(session);
                }
                Err(error) if first_error.is_none() => first_error = Some(error),
                Err(error) => context.note(&error.message(context.words)),
            }
        }
        if context.json {
            context.print(&resumed, |_| String::new())?;
        } else if resumed.is_empty() && first_error.is_none() {
            context.print(&resumed, |screen| screen.text(context.words.sentence(Key::NothingToResume)))?;
        }
        first_error.map_or(Ok(Exit::Done), Err)
    })
}

async fn resume(client: &Client, id: &str, prompt: Option<String>) -> Result<SessionView, Error> {
    Ok(client.post(&format!("/sessions/{id}/resume"), &NewResume { prompt }).await?)
}

fn resumed_line(context: &Context, session: &SessionView) -> String {
    format!("{}\n", context.words.say(Key::Resumed, &[("id", &session.id)]))
}
