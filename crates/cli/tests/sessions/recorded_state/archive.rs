//! A state directory as text: the rows of its database, the files that belong to it, and the repositories it looks after.
//!
//! Rows are read and written through the store alone. The folder in which everything was made is called [`ROOT`].

use std::{
    fmt::Write as _,
    fs,
    io::Write as _,
    ops::ControlFlow,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use ostler_store::{
    ActionName, ActionRow, CREATED_AT_MS, Commit, Counters, Entity, EventRow, NEEDS_REPLAY, Projection,
    Reads, SCHEMA_VERSION, Sqlite, Store, StoredReply,
};
use serde_json::{Value, json};

/// Stands in a recording for the folder that holds the state directory and the projects.
pub(crate) const ROOT: &str = "/srv/recorded";

const ROWS: &str = "rows.ndjson";
const FILES: &str = "files.ndjson";

/// Facts about the database that are recorded. The mark is not: it tells state directories apart, and every import is
/// another one.
const META: [&str; 4] = [SCHEMA_VERSION, CREATED_AT_MS, NEEDS_REPLAY, "ids_from"];

/// What the rows of a database say.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Rows {
    pub(crate) meta: Vec<(String, String)>,
    pub(crate) counters: Counters,
    pub(crate) events: Vec<EventRow>,
    pub(crate) projections: Vec<Projection>,
    pub(crate) actions: Vec<ActionRow>,
    pub(crate) replies: Vec<StoredReply>,
}

impl Rows {
    /// Everything in a store, with the replies that were given under these keys.
    pub(crate) fn read(store: &dyn Reads, keys: &[&str]) -> Rows {
        let mut rows = Rows { counters: store.counters().expect("counters"), ..Rows::default() };
        for name in META {
            let value = store.meta(name).expect("a fact");
            rows.meta.extend(value.map(|value| (name.to_owned(), value)));
        }
        let mut event = |row| {
            rows.events.push(row);
            ControlFlow::Continue(())
        };
        store.each_event(&mut event).expect("events");
        let mut projection = |row| {
            rows.projections.push(row);
            ControlFlow::Continue(())
        };
        store.each_projection(&mut projection).expect("projections");
        rows.actions = store.open_actions().expect("actions");
        rows.replies = keys.iter().filter_map(|key| store.reply(key).expect("a reply")).collect();
        rows
    }

    /// Puts everything into a new database, as the commits of an earlier server have.
    pub(crate) fn write(&self, database: &Path) {
        let mut store = Sqlite::open(database, self.number(CREATED_AT_MS)).expect("a new database");
        let mut group: Vec<Commit> = self
            .replies
            .iter()
            .map(|reply| Commit { reply: Some(reply.clone()), ..Commit::default() })
            .collect();
        group.push(Commit {
            events: self.events.clone(),
            upserts: self.projections.clone(),
            actions: self.actions.clone(),
            ..Commit::default()
        });
        store.commit(&group).expect("the rows fit");
        let own = |name: &str| name == SCHEMA_VERSION || name == CREATED_AT_MS;
        for (name, value) in self.meta.iter().filter(|(name, _)| !own(name)) {
            store.set_meta(name, value).expect("a fact");
        }
        // The migration to a newer schema asks for this where it changes what follows from the journal.
        let newest = store.meta(SCHEMA_VERSION).expect("a fact");
        if newest.and_then(|it| it.parse().ok()) > Some(self.number(SCHEMA_VERSION)) {
            store.set_meta(NEEDS_REPLAY, "yes").expect("a fact");
        }
        store.close().expect("it is on the disk");
    }

    pub(crate) fn number(&self, name: &str) -> u64 {
        let value = self.meta.iter().find(|(it, _)| it == name).map(|(_, value)| value);
        value.and_then(|value| value.parse().ok()).expect(name)
    }

    fn lines(&self) -> String {
        let mut text = String::new();
        let mut line = |value: Value| writeln!(text, "{value}").expect("memory");
        for (name, value) in &self.meta {
            line(json!({ "row": "meta", "name": name, "value": value }));
        }
        line(counters_line(&self.counters));
        for EventRow { seq, version, at_ms, kind, project, run, session, body } in &self.events {
            line(json!({ "row": "event", "seq": seq, "version": version, "at_ms": at_ms, "kind": kind,
                "project": project, "run": run, "session": session, "body": body }));
        }
        for Projection { entity, id, project, run, session, live, seq, body } in &self.projections {
            line(json!({ "row": "projection", "entity": entity.name(), "id": id, "project": project,
                "run": run, "session": session, "live": live, "seq": seq, "body": body }));
        }
        for ActionRow { name, session, body } in &self.actions {
            line(
                json!({ "row": "action", "seq": name.seq, "index": name.index, "session": session, "body": body }),
            );
        }
        for StoredReply { key, fingerprint, at_ms, status, body } in &self.replies {
            line(json!({ "row": "reply", "key": key, "fingerprint": fingerprint, "at_ms": at_ms,
                "status": status, "body": body }));
        }
        text
    }

    fn parse(text: &str) -> Rows {
        let mut rows = Rows::default();
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).expect("a line of JSON");
            let (project, run, session) = (id(&value["project"]), id(&value["run"]), id(&value["session"]));
            match value["row"].as_str() {
                Some("meta") => rows.meta.push((words(&value["name"]), words(&value["value"]))),
                Some("counters") => rows.counters = parse_counters(&value),
                Some("event") => rows.events.push(EventRow {
                    seq: number(&value["seq"]),
                    version: u32::try_from(number(&value["version"])).expect("a version"),
                    at_ms: number(&value["at_ms"]),
                    kind: words(&value["kind"]),
                    project,
                    run,
                    session,
                    body: words(&value["body"]),
                }),
                Some("projection") => rows.projections.push(Projection {
                    entity: entity(&value["entity"]),
                    id: number(&value["id"]),
                    project,
                    run,
                    session,
                    live: value["live"].as_bool().expect("yes or no"),
                    seq: number(&value["seq"]),
                    body: words(&value["body"]),
                }),
                Some("action") => rows.actions.push(ActionRow {
                    name: ActionName {
                        seq: number(&value["seq"]),
                        index: u32::try_from(number(&value["index"])).expect("an index"),
                    },
                    session,
                    body: words(&value["body"]),
                }),
                Some("reply") => rows.replies.push(StoredReply {
                    key: words(&value["key"]),
                    fingerprint: words(&value["fingerprint"]),
                    at_ms: number(&value["at_ms"]),
                    status: u16::try_from(number(&value["status"])).expect("a status"),
                    body: words(&value["body"]),
                }),
                other => panic!("{other:?} is no row"),
            }
        }
        rows
    }
}

fn counters_line(counters: &Counters) -> Value {
    let Counters { project, run, session, request, account, checkpoint, invocation, result, .. } = counters;
    let Counters { graph, node, group, .. } = counters;
    json!({ "row": "counters", "projects": project, "runs": run, "sessions": session, "requests": request,
        "accounts": account, "checkpoints": checkpoint, "invocations": invocation, "results": result,
        "graphs": graph, "nodes": node, "groups": group })
}

fn parse_counters(value: &Value) -> Counters {
    Counters {
        project: number(&value["projects"]),
        run: number(&value["runs"]),
        session: number(&value["sessions"]),
        request: number(&value["requests"]),
        account: number(&value["accounts"]),
        checkpoint: number(&value["checkpoints"]),
        invocation: number(&value["invocations"]),
        result: number(&value["results"]),
        // A recording from before there were graphs has none.
        graph: value["graphs"].as_u64().unwrap_or_default(),
        node: value["nodes"].as_u64().unwrap_or_default(),
        group: value["groups"].as_u64().unwrap_or_default(),
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn id(value: &Value) -> Option<u64> {
    value.as_u64()
}

fn words(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

fn entity(value: &Value) -> Entity {
    let found = Entity::ALL.into_iter().find(|entity| value == entity.name());
    found.unwrap_or_else(|| panic!("{value} is no entity"))
}

/// Writes a recording: the rows, the files below these folders of `root`, and these repositories of it.
pub(crate) fn save(recording: &Path, root: &Path, rows: &Rows, folders: &[&str], repositories: &[&str]) {
    fs::create_dir_all(recording).expect("a folder");
    let real = root.display().to_string();
    fs::write(recording.join(ROWS), rows.lines().replace(&real, ROOT)).expect("rows");
    let mut text = String::new();
    for name in repositories {
        let head = git(&root.join(name), &["symbolic-ref", "HEAD"], b"");
        let export = git(&root.join(name), &["fast-export", "--all", "--signed-tags=strip"], b"");
        let line = json!({ "repository": name, "head": head.trim(), "export": export });
        writeln!(text, "{line}").expect("memory");
    }
    let mut files = Vec::new();
    for folder in folders.iter().chain(repositories) {
        walk(&root.join(folder), &mut files);
    }
    files.sort();
    for path in files {
        let name = path.strip_prefix(root).expect("below the root").to_str().expect("a name in UTF-8");
        let mode = fs::metadata(&path).expect("a file").permissions().mode() & 0o777;
        let content = String::from_utf8(fs::read(&path).expect("a file")).expect("text");
        let line = json!({ "path": name, "mode": format!("{mode:o}"), "text": content });
        writeln!(text, "{line}").expect("memory");
    }
    fs::write(recording.join(FILES), text.replace(&real, ROOT)).expect("files");
}

/// Regular files: no repository's own, no socket, no link.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let kind = entry.file_type().expect("a kind");
        if kind.is_dir() && entry.file_name() != ".git" {
            walk(&entry.path(), files);
        } else if kind.is_file() && entry.file_name() != ".git" {
            files.push(entry.path());
        }
    }
}

/// Brings a recording back below `root`, and gives its rows.
pub(crate) fn load(recording: &Path, root: &Path) -> Rows {
    let real = root.display().to_string();
    let recorded = |name: &str| {
        let text = fs::read_to_string(recording.join(name)).expect("a recording");
        text.replace(ROOT, &real)
    };
    for line in recorded(FILES).lines() {
        let value: Value = serde_json::from_str(line).expect("a line of JSON");
        match value["repository"].as_str() {
            Some(name) => repository(&root.join(name), &words(&value["head"]), &words(&value["export"])),
            None => file(root, &value),
        }
    }
    let rows = Rows::parse(&recorded(ROWS));
    rows.write(&root.join("home/journal.sqlite"));
    rows
}

fn repository(folder: &Path, head: &str, export: &str) {
    fs::create_dir_all(folder).expect("a folder");
    git(folder, &["init", "-q"], b"");
    git(folder, &["symbolic-ref", "HEAD", head], b"");
    git(folder, &["fast-import", "--quiet"], export.as_bytes());
    git(folder, &["reset", "-q", "--hard"], b"");
}

/// A file with its rights, in folders that only their owner can look into.
fn file(root: &Path, value: &Value) {
    let path = root.join(value["path"].as_str().expect("a path"));
    let folder = path.parent().expect("a folder");
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    fs::create_dir_all(folder).expect("a folder");
    for folder in missing {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).expect("it is ours");
    }
    fs::write(&path, words(&value["text"])).expect("a file");
    let mode = u32::from_str_radix(value["mode"].as_str().expect("a mode"), 8).expect("a mode");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
}

/// Runs git without what the user or the system has configured, and gives what it prints.
pub(crate) fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=T", "-c", "user.email=t@x"]).args(arguments);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("git runs");
    child.stdin.take().expect("a pipe").write_all(input).expect("git reads");
    let output = child.wait_with_output().expect("git ends");
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout).expect("text")
}
