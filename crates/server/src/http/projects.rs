//! Projects that a person makes known before anything runs in them.

use axum::{Json, extract::State, http::HeaderMap};
use ostler_engine::Input;

use super::{App, extract::Body, runs, wishes::key};
use crate::api::{NewProjectPlace, Problem, ProjectSummary};

/// Makes the project of a directory known, if it is not. Nothing is started in it, and nothing is agreed to.
#[utoipa::path(post, path = "/projects", request_body = NewProjectPlace,
    responses((status = 200, body = ProjectSummary), (status = 400, body = Problem)))]
pub(super) async fn register(
    State(app): State<App>,
    headers: HeaderMap,
    Body(new): Body<NewProjectPlace>,
) -> Result<Json<ProjectSummary>, Problem> {
    let key = key(&headers, "/projects", &new)?;
    let found = tokio::task::spawn_blocking(move || runs::project_at(&new.directory)).await??;
    let known = app.driver.journal.world().project_at(&found.root);
    let project = match known {
        Some(project) => project,
        None => {
            let made = app.driver.journal.submit_for(Input::Register(found), key).await?;
            made.project.ok_or_else(|| Problem::internal("a project was not made"))?
        }
    };
    app.project_summary(project).map(Json)
}
