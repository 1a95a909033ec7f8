//! `ostler serve`: the server in the foreground, its end, and a unit for systemd.

use std::{convert::Infallible, env, path::Path, time::Duration};

use clap::Args;
use ostler_server::{
    Home,
    api::InfoView,
    client::{Client, ClientError},
    end_git, serve, start,
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    context::{Context, home, talk},
    error::Error,
    exit::Exit,
    words::Key,
};

/// Between two looks whether it answers.
const LOOK: Duration = Duration::from_millis(20);

/// How long work with files may go on after the last connection.
const END_MAX: Duration = Duration::from_secs(10);

/// Run the server in the foreground.
///
/// Other commands start it when they need it, so this is for those who want it looked after: by systemd, or in a
/// terminal. Agents do not end with it.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Say nothing and outlive the terminal: this is how other commands start it.
    #[arg(long)]
    background: bool,
    /// End the server that runs. Agents go on.
    #[arg(long, conflicts_with_all = ["background", "systemd"])]
    stop: bool,
    /// Print a unit for 'systemctl --user'.
    #[arg(long, conflicts_with = "background")]
    systemd: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    if arguments.systemd {
        let unit = unit(&env::current_exe().map_err(Error::Output)?);
        context.print(&json!({ "unit": unit }), |_| unit.clone())?;
        return Ok(Exit::Done);
    }
    if arguments.stop {
        return stop(context);
    }
    let home = home()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Error::Output)?;
    let served = runtime.block_on(async {
        // A terminal that goes away says so to everything that was started on it; from then on it is not heard.
        let _hangup = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup());
        tokio::select! {
            served = serve(&home) => served.map_err(Error::Serve),
            never = say_that_it_runs(context, &home), if !arguments.background => match never {},
        }
    });
    // What is half done is given a moment; what hangs would hold the process for ever. Either is done again later.
    runtime.shutdown_timeout(END_MAX);
    end_git();
    served.map(|()| Exit::Done)
}

/// Says so once it answers, and not before: it may be refused.
async fn say_that_it_runs(context: &Context, home: &Home) -> Infallible {
    let client = Client::new(home);
    let pid = std::process::id();
    while !client.get::<InfoView>("/info").await.is_ok_and(|info| info.pid == pid) {
        sleep(LOOK).await;
    }
    let version = env!("CARGO_PKG_VERSION");
    context.note(&context.words.say(Key::ServerRuns, &[("pid", &pid), ("version", &version)]));
    std::future::pending().await
}

fn stop(context: &Context) -> Result<Exit, Error> {
    let home = home()?;
    let client = Client::new(&home);
    talk(async {
        let info = start::in_time(&home, client.get::<InfoView>("/info")).await.map_err(Error::Start)?;
        let said = match info {
            Ok(info) => {
                let stopped = start::in_time(&home, client.post::<Value>("/stop", &json!({}))).await;
                stopped.map_err(Error::Start)??;
                // The next command is not for this one any more.
                client.let_end().await;
                context.print(&json!({ "stopped": true, "pid": info.pid }), |screen| {
                    screen.text(context.words.sentence(Key::ServerStops))
                })
            }
            Err(ClientError::NoServer { .. }) => context.print(&json!({ "stopped": false }), |screen| {
                screen.text(context.words.sentence(Key::ServerNotThere))
            }),
            Err(error) => Err(error.into()),
        };
        said.map(|()| Exit::Done)
    })
}

/// Without `KillMode=process` systemd would end every agent together with the server.
fn unit(program: &Path) -> String {
    format!(
        "[Unit]\n\
         Description=Ostler looks after AI coding agents\n\
         \n\
         [Service]\n\
         ExecStart=\"{}\" serve\n\
         KillMode=process\n\
         Restart=on-failure\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        program.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systemd_leaves_the_agents_alone() {
        let unit = unit(Path::new("/opt/my tools/ostler"));
        assert!(unit.contains("ExecStart=\"/opt/my tools/ostler\" serve\nKillMode=process\n"));
    }
}
