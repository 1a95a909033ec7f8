//! The demonstration, for whoever looks at the page for the first time.

use std::{
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use axum::{Json, extract::State, http::StatusCode};

use super::{App, code::Code, extract::Body, phases, problem::not_written, runs};
use crate::{
    api::{NewDemo, NewPhases, NewRun, Problem, RunView},
    demo::{DemoError, Manner, Shop, full::Studio},
};

/// More of them than anybody plays.
const DEMOS_MAX: u32 = 1_000;

/// What is asked for, when everything is in its place.
enum Furnished {
    Minute(Vec<NewRun>),
    Full(NewPhases),
}

/// Starts three scripted agents in a small project of their own, below the state directory; or scripted agents that take
/// an idea through all four phases.
#[utoipa::path(post, path = "/demo", request_body = NewDemo,
    responses((status = 201, body = [RunView]), (status = 409, body = Problem)))]
pub(super) async fn play(
    State(app): State<App>,
    Body(new): Body<NewDemo>,
) -> Result<(StatusCode, Json<Vec<RunView>>), Problem> {
    // Whoever presses twice gets one.
    let _turn = app.demos.lock().await;
    let demos = app.driver.home.root().join("demos");
    if app.plays_in(&demos) {
        return Err(Problem::new(StatusCode::CONFLICT, Code::DemoPlays, "the demonstration is being played")
            .hint("Answer its questions, or cancel its sessions, and start it again."));
    }
    let furnished = tokio::task::spawn_blocking(move || {
        let directory = new_directory(&demos).map_err(|error| error.to_string())?;
        furnish(&directory, new).map_err(|error| error.to_string())
    });
    let mut started = Vec::new();
    match furnished.await?.map_err(not_written)? {
        Furnished::Minute(asked) => {
            for new in asked {
                started.push(runs::start(&app, new, None).await?);
            }
        }
        Furnished::Full(new) => {
            app.trust_own(new.directory.clone()).await?;
            let run = phases::start(&app, new, None).await?;
            started.push(app.run_view(run)?);
        }
    }
    Ok((StatusCode::CREATED, Json(started)))
}

fn furnish(directory: &Path, NewDemo { korean, full }: NewDemo) -> Result<Furnished, DemoError> {
    let manner = Manner { korean, watched: true, alone: true };
    if full {
        let studio = Studio::at(directory);
        studio.furnish(korean)?;
        return studio.run(manner).map(Furnished::Full);
    }
    let shop = Shop::at(directory);
    shop.furnish()?;
    shop.runs(manner).map(Furnished::Minute)
}

impl App {
    /// Whether something is not over in a project below this directory.
    fn plays_in(&self, demos: &Path) -> bool {
        let world = self.driver.journal.world();
        let is_below = |root: &String| Path::new(root).starts_with(demos);
        world.sessions.values().any(|session| {
            let project = world.projects.get(&session.project);
            !session.is_over() && project.is_some_and(|project| is_below(&project.root))
        })
    }
}

/// One that was not there: what an earlier demonstration left can still be looked at.
fn new_directory(demos: &Path) -> io::Result<PathBuf> {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    DirBuilder::new().recursive(true).mode(0o700).create(demos)?;
    for number in 1..=DEMOS_MAX {
        let path = demos.join(number.to_string());
        match builder.create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
    Err(io::Error::other("there are too many demonstrations: remove some of the directory 'demos'"))
}
