//! Search of a project's memory: the Markdown files below `.claude/memory`, or another directory of the project.

#![expect(unused_qualifications, reason = "the document's macro writes paths out")]

use std::path::{Component, Path as FilePath, PathBuf};

use axum::{
    Extension, Json,
    extract::{ConnectInfo, State},
};
use ostler_memory::{MemoryIndex, MemoryQuery, QueryError, sections};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{
    App,
    caller::Caller,
    channel::agent,
    code::Code,
    extract::{Path, Query},
    runs,
};
use crate::{
    api::{MemoryFileView, MemoryLineView, MemorySearchView, MemorySectionView, Problem},
    memory::MemoryError,
    peer::Peer,
};

/// The directory that is searched unless another one is named.
const MEMORY: &str = ".claude/memory";

/// How many files are named, if nothing is said, and at most.
const FILES_DEFAULT: usize = 20;
const FILES_MAX: usize = 1_000;

/// Of so many files sections are shown, if no layer is named.
const FILES_WITH_SECTIONS: usize = 5;

/// The most text of one answer, in bytes: sections and whole files.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// The most text of one file.
const FILE_TEXT_BYTES_MAX: usize = 256 << 10;

/// What to search for.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct MemorySearchQuery {
    /// What a file has to hold, letters in any case; several texts with line ends between them, all of which it has to hold.
    #[param(min_length = 1, max_length = 4000)]
    text: String,
    /// 1: names; 2: the lines with a word, with five around them; 3: whole files. Without it, names, and of the best five
    /// files what layer 2 shows.
    #[param(minimum = 1, maximum = 3)]
    layer: Option<u8>,
    /// Another directory of the project: a path as seen from its root, or an absolute one below it.
    #[serde(rename = "in")]
    inside: Option<String>,
    /// How many files are named at most; 20, if nothing is said.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// The same, in the project of a directory.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct DirectorySearchQuery {
    /// An absolute path.
    directory: String,
    /// What a file has to hold, letters in any case; several texts with line ends between them, all of which it has to hold.
    #[param(min_length = 1, max_length = 4000)]
    text: String,
    /// 1: names; 2: the lines with a word, with five around them; 3: whole files. Without it, names, and of the best five
    /// files what layer 2 shows.
    #[param(minimum = 1, maximum = 3)]
    layer: Option<u8>,
    /// Another directory of the project: a path as seen from its root, or an absolute one below it.
    #[serde(rename = "in")]
    inside: Option<String>,
    /// How many files are named at most; 20, if nothing is said.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<usize>,
}

/// Searches the memory of a project in three layers: names, sections, whole files.
#[utoipa::path(get, path = "/projects/{id}/memory", params(("id" = String, Path), MemorySearchQuery),
    responses((status = 200, body = MemorySearchView), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn of_project(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<MemorySearchQuery>,
) -> Result<Json<MemorySearchView>, Problem> {
    let root = app.root_of(&id)?;
    app.search_memory(root, query).await.map(Json)
}

/// Searches the memory of the project of a directory. Looking makes no project known; over TCP only one that is known is
/// searched.
#[utoipa::path(get, path = "/memory", params(DirectorySearchQuery),
    responses((status = 200, body = MemorySearchView), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn of_directory(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Query(query): Query<DirectorySearchQuery>,
) -> Result<Json<MemorySearchView>, Problem> {
    let DirectorySearchQuery { directory, text, layer, inside, limit } = query;
    let found = tokio::task::spawn_blocking(move || runs::project_at(&directory)).await??;
    let is_known = app.driver.journal.world().project_at(&found.root).is_some();
    if caller.is_remote() && !is_known {
        return Err(Problem::not_found(Code::NoProject, &found.root));
    }
    app.search_memory(found.root, MemorySearchQuery { text, layer, inside, limit }).await.map(Json)
}

/// Searches the memory of the project that an agent works in.
pub(super) async fn of_agent(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Query(query): Query<MemorySearchQuery>,
) -> Result<Json<MemorySearchView>, Problem> {
    let (session, _) = agent(&peer)?;
    let root = app.with_session(session, |world, session| {
        world.projects.get(&session.project).map(|project| project.root.clone())
    })?;
    let root = root.ok_or_else(|| Problem::internal("a session has no project"))?;
    app.search_memory(root, query).await.map(Json)
}

impl App {
    fn root_of(&self, id: &str) -> Result<String, Problem> {
        let not_found = || Problem::not_found(Code::NoProject, id);
        let project = id.parse().map_err(|_| not_found())?;
        let world = self.driver.journal.world();
        world.projects.get(&project).map(|project| project.root.clone()).ok_or_else(not_found)
    }

    async fn search_memory(
        &self,
        root: String,
        query: MemorySearchQuery,
    ) -> Result<MemorySearchView, Problem> {
        let search = MemorySearch::new(PathBuf::from(root), &query)?;
        let (indexes, now_ms) = (self.memories.clone(), self.driver.journal.clock().now_ms());
        let view = tokio::task::spawn_blocking(move || {
            indexes.search(&search.root, &search.inside, now_ms, |index| search.view(index)).map(|view| {
                view.unwrap_or_else(|| MemorySearchView {
                    directory: search.directory(),
                    ..Default::default()
                })
            })
        })
        .await?;
        self.memories.sweep_later();
        view.map_err(Problem::from)
    }
}

/// A search that makes sense.
struct MemorySearch {
    root: PathBuf,
    inside: PathBuf,
    words: MemoryQuery,
    layer: Option<u8>,
    limit: usize,
}

impl MemorySearch {
    fn new(root: PathBuf, query: &MemorySearchQuery) -> Result<MemorySearch, Problem> {
        let words = MemoryQuery::new(query.text.split('\n'))?;
        if !matches!(query.layer, None | Some(1..=3)) {
            return Err(Problem::bad(Code::BadQuery, "the layers are 1, 2 and 3"));
        }
        let limit = query.limit.unwrap_or(FILES_DEFAULT);
        if !(1..=FILES_MAX).contains(&limit) {
            return Err(Problem::bad(Code::BadQuery, format!("a search names 1 to {FILES_MAX} files")));
        }
        let inside = match &query.inside {
            None => PathBuf::from(MEMORY),
            Some(path) => below(&root, FilePath::new(path)).ok_or_else(|| {
                let title = format!("'{path}' is not in the project '{}'", root.display());
                Problem::bad(Code::BadDirectory, title)
            })?,
        };
        Ok(MemorySearch { root, inside, words, layer: query.layer, limit })
    }

    fn directory(&self) -> String {
        self.root.join(&self.inside).to_string_lossy().into_owned()
    }

    fn view(&self, index: &MemoryIndex) -> MemorySearchView {
        let hits = index.search(&self.words);
        let mut room = TEXT_BYTES_MAX;
        let files = hits.iter().take(self.limit).enumerate().map(|(at, hit)| {
            let mut file = MemoryFileView {
                path: hit.path.to_string_lossy().into_owned(),
                bytes: hit.bytes,
                modified_at_ms: hit.modified_ms,
                ..MemoryFileView::default()
            };
            let layer = self.layer.unwrap_or(if at < FILES_WITH_SECTIONS { 2 } else { 1 });
            if layer > 1 && room > 0 {
                // What went just now is named without its text.
                let text = index.text(hit.path).unwrap_or_default();
                if layer == 2 {
                    self.add_sections(&mut file, &text, &mut room);
                } else {
                    add_text(&mut file, text, &mut room);
                }
            }
            file.cut |= layer > 1 && room == 0;
            file
        });
        let files = files.collect();
        let left_out = index.left_out();
        MemorySearchView {
            directory: self.directory(),
            exists: true,
            total: hits.len() as u64,
            files,
            left_out: left_out.files,
            incomplete: left_out.is_cut,
        }
    }

    fn add_sections(&self, file: &mut MemoryFileView, text: &str, room: &mut usize) {
        let excerpt = sections(text, &self.words);
        file.cut = excerpt.is_cut;
        for section in excerpt.sections {
            let bytes: usize = section.lines.iter().map(|line| line.text.len() + 1).sum();
            if bytes > *room {
                *room = 0;
                return;
            }
            *room -= bytes;
            let lines = section.lines.into_iter().map(|line| MemoryLineView {
                number: line.number as u64,
                text: line.text,
                hit: line.hit,
            });
            file.sections.push(MemorySectionView { heading: section.heading, lines: lines.collect() });
        }
    }
}

fn add_text(file: &mut MemoryFileView, mut text: String, room: &mut usize) {
    let bytes = text.floor_char_boundary(FILE_TEXT_BYTES_MAX.min(*room));
    file.cut = bytes < text.len();
    text.truncate(bytes);
    *room = room.saturating_sub(bytes);
    file.text = Some(text);
}

/// A path as seen from a root, if it does not lead out of it.
fn below(root: &FilePath, path: &FilePath) -> Option<PathBuf> {
    let path = if path.is_absolute() { path.strip_prefix(root).ok()? } else { path };
    let mut inside = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => inside.push(name),
            Component::ParentDir if inside.pop() => {}
            _ => return None,
        }
    }
    Some(inside)
}

impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Problem {
        Problem::bad(Code::BadQuery, error.to_string())
    }
}

impl From<MemoryError> for Problem {
    fn from(error: MemoryError) -> Problem {
        Problem::bad(Code::BadDirectory, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_nowhere_else() {
        let check = |path: &str, expected: Option<&str>| {
            let found = below(FilePath::new("/p"), FilePath::new(path));
            assert_eq!(found.as_deref(), expected.map(FilePath::new), "{path}");
        };
        check("docs", Some("docs"));
        check("./docs/../notes", Some("notes"));
        check("/p/docs", Some("docs"));
        check("/p", Some(""));
        check(".", Some(""));
        check("..", None);
        check("docs/../..", None);
        check("/q", None);
        check("/p/../q", None);
    }
}
