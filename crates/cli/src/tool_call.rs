//! A call that a CLI asks about, on a card: a command as a command, an edit as a diff. Everything in it is visible: a
//! person agrees to it.

use ostler_server::api::{ChangedLine, LineChange, ToolCallView};
use serde_json::Value;

use crate::screen::{Screen, Style, add_line, visible};

/// The file, behind the name of the tool.
pub(crate) fn heading(tool: &str, call: &ToolCallView) -> String {
    match &call.path {
        Some(path) => format!("{tool}  {}", visible(path)),
        None => tool.to_owned(),
    }
}

/// The lines below the name of the tool.
pub(crate) fn lines(screen: Screen, call: &ToolCallView) -> String {
    let mut said = String::new();
    for (index, line) in call.command.iter().flat_map(|command| command.split('\n')).enumerate() {
        let sign = if index == 0 { "$ " } else { "  " };
        add_line(&mut said, 4, &format!("{sign}{}", visible(line)));
    }
    for ChangedLine { change, text } in &call.changes {
        let (sign, style) = match change {
            LineChange::Same => (' ', Style::Dim),
            LineChange::Removed => ('-', Style::Bad),
            LineChange::Added => ('+', Style::Good),
        };
        add_line(&mut said, 4, screen.style(style, &format!("{sign}{}", visible(text))).trim_end());
    }
    for (name, value) in call.rest.as_object().into_iter().flatten() {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mut rest = text.split('\n');
        let first = rest.next().unwrap_or_default();
        let style = |line: &str| screen.style(Style::Dim, &visible(line));
        add_line(&mut said, 4, &style(&format!("{name}: {first}")));
        rest.for_each(|line| add_line(&mut said, 6, &style(line)));
    }
    said
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(json: Value) -> ToolCallView {
        serde_json::from_value(json).expect("a call")
    }

    #[test]
    fn a_command_is_a_command_and_hides_nothing() {
        let call =
            call(json!({ "command": "cd x &&\n  rm\u{1b}[2K -r y", "rest": { "run_in_background": true } }));
        assert_eq!(heading("Bash", &call), "Bash");
        assert_eq!(
            lines(Screen::plain(), &call),
            "    $ cd x &&\n        rm\\u{1b}[2K -r y\n    run_in_background: true\n"
        );
    }

    #[test]
    fn an_edit_is_a_diff_below_its_file() {
        let call = call(json!({ "path": "src/a.rs", "rest": {}, "changes": [
            { "change": "same", "text": "a" }, { "change": "removed", "text": "b" },
            { "change": "added", "text": "c\u{202e}" } ] }));
        assert_eq!(heading("Edit", &call), "Edit  src/a.rs");
        assert_eq!(lines(Screen::plain(), &call), "     a\n    -b\n    +c\\u{202e}\n");
        let coloured = lines(Screen::coloured(), &call);
        assert!(coloured.contains("\x1b[31m-b\x1b[0m") && coloured.contains("\x1b[32m+c"), "{coloured}");
    }
}
