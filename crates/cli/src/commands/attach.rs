//! `ostler attach`: watches a session that runs.

use clap::Args;

use crate::{
    attached::{self, Options, Signals},
    context::{Context, talk},
    error::Error,
    exit::Exit,
    id,
};

/// Watch a session: its output as it comes, its questions asked right there.
///
/// Ctrl-C asks whether to cancel it, to leave it, or to go on; Ctrl-C again leaves it. The exit code says how it ended.
#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", help = id::HELP)]
    id: String,
    /// Show bytes as they are: JSON of the CLI, escapes of the program.
    #[arg(long)]
    raw: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    talk(async {
        let mut signals = Signals::catch();
        let ask = async {
            let client = context.server().await?;
            let id = id::session(&client, &arguments.id).await?;
            Ok::<_, Error>((client, id))
        };
        let Some(found) = signals.during(ask).await else { return Ok(attached::left(context)) };
        let (client, id) = found?;
        attached::watch(context, &client, &id, Options { raw: arguments.raw, ..Options::default() }, signals)
            .await
    })
}
