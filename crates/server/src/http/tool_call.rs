//! A call that a CLI asks about, as a person reads it: the command, the file, and what would change in it.
//!
//! Which fields hold these is said by the agent's table. Every field that the table does not name is shown as it is:
//! nothing that is agreed to is left out.

use std::path::{Component, Path};

use ostler_agents::agent::ToolShape;
use ostler_engine::session::Session;
use ostler_protocol::fact::PermissionRequest;
use serde_json::{Map, Value};

use crate::api::{ChangedLine, LineChange, ToolCallView};

/// As many lines that stay as they are are shown around those that change.
const CONTEXT_LINES: usize = 3;

/// The call, if the agent's table knows the tool.
pub(super) fn view(session: &Session, root: &str, request: &PermissionRequest) -> Option<ToolCallView> {
    let shape = session.order.agent.permission.as_ref()?.tools.get(&request.tool)?;
    of_shape(shape, [session.directory(), root], request)
}

fn of_shape(shape: &ToolShape, directories: [&str; 2], request: &PermissionRequest) -> Option<ToolCallView> {
    let mut rest = request.input.as_object()?.clone();
    let command = take(&mut rest, shape.command.as_ref());
    let path = take(&mut rest, shape.path.as_ref());
    let after = take(&mut rest, shape.after.as_ref());
    // What is replaced says something only beside what takes its place.
    let before = if after.is_some() { take(&mut rest, shape.before.as_ref()) } else { None };
    if command.is_none() && path.is_none() {
        return None;
    }
    let changes = after.map(|after| changes(before.as_deref(), &after)).unwrap_or_default();
    Some(ToolCallView {
        command,
        path: path.map(|path| relative(&path, directories)),
        changes,
        rest: Value::Object(rest),
    })
}

/// Takes a field that holds a text.
fn take(fields: &mut Map<String, Value>, name: Option<&String>) -> Option<String> {
    let name = name?;
    let text = fields.get(name)?.as_str()?.to_owned();
    fields.remove(name);
    Some(text)
}

/// The path as seen from the first of these directories that it is below; as it is, if it is below none or goes up.
fn relative(path: &str, directories: [&str; 2]) -> String {
    let goes_up = Path::new(path).components().any(|it| it == Component::ParentDir);
    let below = directories.iter().filter_map(|directory| Path::new(path).strip_prefix(directory).ok());
    let below = below.filter(|rest| !goes_up && !rest.as_os_str().is_empty()).find_map(Path::to_str);
    below.unwrap_or(path).to_owned()
}

/// The lines that change, with a few around them.
fn changes(before: Option<&str>, after: &str) -> Vec<ChangedLine> {
    let old: Vec<&str> = before.map(|text| text.split('\n').collect()).unwrap_or_default();
    let new: Vec<&str> = after.split('\n').collect();
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[same..], &new[same..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let line = |change: LineChange| move |text: &&str| ChangedLine { change, text: (*text).to_owned() };
    let behind = &old_rest[old_rest.len() - tail..];
    let mut lines: Vec<ChangedLine> =
        old[same.saturating_sub(CONTEXT_LINES)..same].iter().map(line(LineChange::Same)).collect();
    lines.extend(old_rest[..old_rest.len() - tail].iter().map(line(LineChange::Removed)));
    lines.extend(new_rest[..new_rest.len() - tail].iter().map(line(LineChange::Added)));
    lines.extend(behind.iter().take(CONTEXT_LINES).map(line(LineChange::Same)));
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shape(table: &Value) -> ToolShape {
        serde_json::from_value(table.clone()).expect("a shape")
    }

    fn call(table: &Value, input: Value) -> Option<ToolCallView> {
        let request = PermissionRequest { tool: "T".into(), input, ..PermissionRequest::default() };
        of_shape(&shape(table), ["/p/worktree", "/p"], &request)
    }

    fn lines(changes: &[ChangedLine]) -> String {
        let sign = |line: &ChangedLine| match line.change {
            LineChange::Same => ' ',
            LineChange::Removed => '-',
            LineChange::Added => '+',
        };
        changes.iter().flat_map(|line| [sign(line).to_string(), line.text.clone(), "\n".to_owned()]).collect()
    }

    #[test]
    fn nothing_that_is_agreed_to_is_left_out() {
        let bash = json!({ "command": "command", "free": ["description"] });
        let input = json!({ "command": "rm x", "run_in_background": true, "description": "clean" });
        let view = call(&bash, input).expect("a call");
        assert_eq!(view.command.as_deref(), Some("rm x"));
        assert_eq!(view.rest, json!({ "run_in_background": true, "description": "clean" }));
        let edit = json!({ "path": "file_path", "before": "old", "after": "new" });
        // Half an edit is shown as fields.
        let view = call(&edit, json!({ "file_path": "/p/a", "old": "x", "new": 7 })).expect("a call");
        assert_eq!((view.changes.as_slice(), view.rest), (&[][..], json!({ "old": "x", "new": 7 })));
        assert_eq!(call(&bash, json!({ "command": ["rm"] })), None);
        assert_eq!(call(&bash, json!("rm")), None);
    }

    #[test]
    fn a_path_is_seen_from_the_project() {
        let seen = |path: &str| relative(path, ["/p/worktree", "/p"]);
        assert_eq!(seen("/p/worktree/src/a.rs"), "src/a.rs");
        assert_eq!(seen("/p/b.rs"), "b.rs");
        for other in ["/p2/a", "/p", "/p/../etc/passwd", "/etc/passwd", "c.rs"] {
            assert_eq!(seen(other), other);
        }
    }

    #[test]
    fn an_edit_is_a_diff() {
        let old = "1\n2\n3\n4\nfive\n6\n7\n8\n9";
        assert_eq!(
            lines(&changes(Some(old), "1\n2\n3\n4\n5\n5.5\n6\n7\n8\n9")),
            " 2\n 3\n 4\n-five\n+5\n+5.5\n 6\n 7\n 8\n"
        );
        assert_eq!(lines(&changes(None, "a\nb")), "+a\n+b\n");
        assert_eq!(lines(&changes(Some("a"), "a\n")), " a\n+\n");
        assert_eq!(lines(&changes(Some("a\na"), "a")), " a\n-a\n");
        assert_eq!(lines(&changes(Some("a"), "")), "-a\n+\n");
    }
}
