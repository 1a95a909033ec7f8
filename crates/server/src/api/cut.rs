//! Lists carry only the beginning of long texts; the route of the single thing carries all of it.
//!
//! Whatever was cut is named, with the length of the whole. An option or a default is either whole or absent: a client
//! sends it back as an answer, and the beginning of one could be another.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{
    AskView, ChangedLine, CheckpointView, EventView, InvocationView, LookedView, OfficeView, PhasesView,
    ProjectSummary, RequestView, ResultView, RunView, SessionView, StatusView, ToolCallView,
};

/// The longest text in a list, in characters; also that of all options of a request together.
const CHARS_MAX: usize = 2_000;

/// A text of which a list carries only the beginning, or nothing where an answer repeats it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CutText {
    /// Which field, as a JSON Pointer: `/ask/context`.
    pub field: String,
    /// How long the whole is, in characters.
    pub chars: u64,
}

/// What lists contain.
pub(crate) trait Listed {
    /// Cuts long texts. Each view that has none says so by leaving this as it is.
    fn shorten(&mut self) {}
}

// An event has no route of its own, and exports need it whole; pages of events are bounded in bytes instead.
impl Listed for EventView {}
impl Listed for CheckpointView {}
impl Listed for ProjectSummary {}
// Its content is cut where the view is made, and says so in `whole`.
impl Listed for ResultView {}

impl Listed for PhasesView {
    fn shorten(&mut self) {
        let mut cut = Cuts::default();
        cut.text("/idea", &mut self.idea);
        let gates = self.phases.iter_mut().enumerate().flat_map(|(phase, it)| {
            it.gates
                .iter_mut()
                .enumerate()
                .map(move |(gate, it)| (format!("/phases/{phase}/gates/{gate}"), it))
        });
        for (place, gate) in gates {
            for (index, check) in gate.checks.iter_mut().enumerate() {
                cut.text(&format!("{place}/checks/{index}/output"), &mut check.output);
            }
            for (index, problem) in gate.problems.iter_mut().enumerate() {
                cut.text(&format!("{place}/problems/{index}/text"), &mut problem.text);
                cut.reason(&format!("{place}/problems/{index}/fields"), Some(&mut problem.fields));
            }
            for (index, round) in gate.rounds.iter_mut().enumerate() {
                cut.optional(&format!("{place}/rounds/{index}/summary"), &mut round.summary);
                for (number, criterion) in round.criteria.iter_mut().enumerate() {
                    let place = format!("{place}/rounds/{index}/criteria/{number}");
                    cut.text(&format!("{place}/text"), &mut criterion.text);
                    cut.text(&format!("{place}/evidence"), &mut criterion.evidence);
                }
            }
        }
        self.cut = cut.0;
    }
}

impl Listed for RunView {
    fn shorten(&mut self) {
        let mut cut = Cuts::default();
        cut.optional("/check", &mut self.check);
        cut.reason("/outcome/reason", self.outcome.as_mut().map(|it| &mut it.reason));
        self.cut = cut.0;
        self.sessions.iter_mut().for_each(Listed::shorten);
    }
}

impl Listed for SessionView {
    fn shorten(&mut self) {
        let mut cut = Cuts::default();
        for (index, launch) in self.launches.iter_mut().enumerate() {
            cut.text(&format!("/launches/{index}/prompt"), &mut launch.prompt);
            cut.reason(&format!("/launches/{index}/ended"), launch.ended.as_mut());
        }
        for (index, errand) in self.errands.iter_mut().flatten().enumerate() {
            cut.text(&format!("/errands/{index}/line"), &mut errand.line);
        }
        if let Some(wait) = &mut self.wait {
            cut.optional("/wait/message", &mut wait.message);
        }
        if let Some(worktree) = &mut self.worktree {
            cut.optional("/worktree/message", &mut worktree.message);
        }
        for (index, permission) in self.permissions.iter_mut().enumerate() {
            cut.text(&format!("/permissions/{index}/rule/text"), &mut permission.rule.text);
        }
        cut.reason("/outcome/reason", self.outcome.as_mut().map(|it| &mut it.reason));
        self.cut = cut.0;
    }
}

impl Listed for RequestView {
    fn shorten(&mut self) {
        let mut cut = Cuts::default();
        cut.ask(&mut self.ask);
        if let Some(mark) = &mut self.mark {
            cut.optional("/mark/about", &mut mark.about);
        }
        if let Some(install) = &mut self.install {
            cut.optional("/install/reason", &mut install.reason);
        }
        cut.reason("/settled/answer", self.settled.as_mut().map(|it| &mut it.answer));
        self.cut = cut.0;
    }
}

impl Listed for InvocationView {
    fn shorten(&mut self) {
        let mut cut = Cuts::default();
        cut.text("/task", &mut self.task);
        cut.optional("/context", &mut self.context);
        cut.optional("/words", &mut self.words);
        self.cut = cut.0;
    }
}

impl Listed for StatusView {
    fn shorten(&mut self) {
        self.needs_you.iter_mut().for_each(Listed::shorten);
        self.sessions.iter_mut().for_each(Listed::shorten);
    }
}

impl Listed for LookedView {
    fn shorten(&mut self) {
        self.ended.iter_mut().for_each(Listed::shorten);
    }
}

impl Listed for OfficeView {
    fn shorten(&mut self) {
        self.invocations.iter_mut().for_each(Listed::shorten);
    }
}

/// What was cut so far.
#[derive(Debug, Default)]
struct Cuts(Vec<CutText>);

impl Cuts {
    fn note(&mut self, field: &str, chars: usize) {
        let chars = u64::try_from(chars).unwrap_or(u64::MAX);
        self.0.push(CutText { field: field.to_owned(), chars });
    }

    fn text(&mut self, field: &str, text: &mut String) {
        if let Some((end, _)) = text.char_indices().nth(CHARS_MAX) {
            self.note(field, text.chars().count());
            text.truncate(end);
        }
    }

    fn optional(&mut self, field: &str, text: &mut Option<String>) {
        if let Some(text) = text {
            self.text(field, text);
        }
    }

    /// The fields of an object, each for itself: its names are Ostler's own, and stay.
    fn reason(&mut self, field: &str, value: Option<&mut Value>) {
        for (name, value) in value.and_then(Value::as_object_mut).into_iter().flatten() {
            let mut left = CHARS_MAX;
            let whole = length(value);
            if whole > CHARS_MAX && shorten(value, &mut left) {
                self.note(&format!("{field}/{name}"), whole);
            }
        }
    }

    fn ask(&mut self, ask: &mut AskView) {
        self.text("/ask/text", &mut ask.text);
        self.optional("/ask/context", &mut ask.context);
        let fields = &mut ask.fields;
        let mut remove = |name: &str| fields.as_object_mut().and_then(|fields| fields.remove(name));
        let rules = ask.rules.iter().map(|rule| rule.text.as_str());
        let texts = ask.options.iter().map(String::as_str).chain(rules);
        // Each counts, so that many short ones are no longer than one long one.
        let chars: usize = texts.map(|text| text.chars().count() + 1).sum();
        if chars > CHARS_MAX {
            self.note("/ask/options", chars);
            ask.options.clear();
            ask.rules.clear();
            remove("options");
        }
        let default = ask.default.as_ref().map_or(0, |default| default.chars().count());
        if default > CHARS_MAX {
            self.note("/ask/default", default);
            ask.default = None;
            remove("default");
        }
        if let Some(form) = &mut ask.form {
            self.optional("/ask/form/problem", &mut form.problem);
        }
        if let Some(call) = &mut ask.call {
            self.call(call);
        }
        self.reason("/ask/fields", Some(&mut ask.fields));
    }

    fn call(&mut self, call: &mut ToolCallView) {
        self.optional("/ask/call/command", &mut call.command);
        self.optional("/ask/call/path", &mut call.path);
        self.reason("/ask/call/rest", Some(&mut call.rest));
        let length = |line: &ChangedLine| line.text.chars().count() + 1;
        let chars = call.changes.iter().map(length).sum();
        if chars > CHARS_MAX {
            self.note("/ask/call/changes", chars);
            let mut left = CHARS_MAX;
            call.changes.retain(|line| {
                let fits = length(line) <= left;
                left = if fits { left - length(line) } else { 0 };
                fits
            });
        }
    }
}

/// About how long a value is: its texts, and one for everything else.
fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.iter().map(|item| length(item) + 1).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.chars().count() + length(value) + 1).sum()
        }
        _ => 1,
    }
}

/// Cuts a value to what is left, and says whether anything is gone.
fn shorten(value: &mut Value, left: &mut usize) -> bool {
    match value {
        Value::String(text) => {
            let end = text.char_indices().nth(*left).map(|(end, _)| end);
            *left = left.saturating_sub(text.chars().count());
            end.inspect(|end| text.truncate(*end)).is_some()
        }
        Value::Array(items) => {
            let mut is_cut = false;
            items.retain_mut(|item| {
                if is_cut || *left == 0 {
                    is_cut = true;
                    return false;
                }
                *left -= 1;
                is_cut = shorten(item, left);
                true
            });
            is_cut
        }
        Value::Object(fields) => {
            let mut is_cut = false;
            fields.retain(|name, value| {
                let needed = name.chars().count() + 1;
                if is_cut || *left < needed {
                    is_cut = true;
                    return false;
                }
                *left -= needed;
                is_cut = shorten(value, left);
                true
            });
            is_cut
        }
        _ => {
            *left = left.saturating_sub(1);
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::LineChange;

    fn ask(options: &[String], default: Option<String>, fields: Value) -> AskView {
        AskView {
            call: None,
            kind: "question".to_owned(),
            text: "Which?".to_owned(),
            context: None,
            options: options.to_vec(),
            default,
            required: true,
            rules: Vec::new(),
            fields,
            form: None,
            skippable: false,
        }
    }

    #[test]
    fn a_text_is_cut_between_characters_and_says_how_long_it_was() {
        let mut cut = Cuts::default();
        let mut long = "길".repeat(CHARS_MAX + 7);
        cut.text("/task", &mut long);
        assert_eq!(long, "길".repeat(CHARS_MAX));
        assert_eq!(cut.0, [CutText { field: "/task".to_owned(), chars: 2007 }]);
        let mut cut = Cuts::default();
        let mut short = "길".repeat(CHARS_MAX);
        cut.text("/task", &mut short);
        assert_eq!((short.chars().count(), cut.0.len()), (CHARS_MAX, 0));
    }

    /// The beginning of one option could be another option.
    #[test]
    fn options_and_defaults_are_whole_or_absent() {
        let long = "a".repeat(CHARS_MAX);
        let options = ["a".to_owned(), long.clone()];
        let mut asked =
            ask(&options, Some(long + "!"), json!({ "options": options, "default": "…", "x": 1 }));
        let mut cut = Cuts::default();
        cut.ask(&mut asked);
        assert!(asked.options.is_empty() && asked.default.is_none());
        assert_eq!(asked.fields, json!({ "x": 1 }));
        let named: Vec<&str> = cut.0.iter().map(|it| it.field.as_str()).collect();
        assert_eq!(named, ["/ask/options", "/ask/default"]);
        let mut asked = ask(&["a".to_owned(), "b".repeat(1_900)], None, json!({}));
        let mut cut = Cuts::default();
        cut.ask(&mut asked);
        assert_eq!((asked.options.len(), cut.0.len()), (2, 0));
        let many: Vec<String> = (0..2_000).map(|it| (it % 10).to_string()).collect();
        let mut asked = ask(&many, None, json!({}));
        let mut cut = Cuts::default();
        cut.ask(&mut asked);
        assert!(asked.options.is_empty() && cut.0.len() == 1);
    }

    #[test]
    fn whatever_an_agent_nests_is_bounded() {
        let wide: Vec<u32> = (0..50_000).collect();
        let deep = json!({ "a": { "b": ["x".repeat(10_000), "y"] }, "z": 1 });
        let mut fields = json!({ "input": wide, "deep": deep, "tool": "Bash", "none": null });
        let mut cut = Cuts::default();
        cut.reason("/ask/fields", Some(&mut fields));
        assert!(fields.to_string().len() < 20_000, "{}", fields.to_string().len());
        assert_eq!(fields["tool"], "Bash");
        assert!(fields["deep"]["a"]["b"][0].as_str().is_some_and(|text| text.len() < CHARS_MAX));
        let named: Vec<&str> = cut.0.iter().map(|it| it.field.as_str()).collect();
        assert_eq!(named, ["/ask/fields/deep", "/ask/fields/input"]);
    }

    #[test]
    fn a_long_edit_keeps_its_first_lines() {
        let line = |text: String| ChangedLine { change: LineChange::Added, text };
        let changes = vec![line("a".repeat(1_500)), line("b".repeat(1_500)), line("c".to_owned())];
        let rest = json!({ "note": "x".repeat(3_000) });
        let mut call = ToolCallView { command: None, path: Some("a.rs".to_owned()), changes, rest };
        let mut cut = Cuts::default();
        cut.call(&mut call);
        let fields: Vec<&str> = cut.0.iter().map(|cut| cut.field.as_str()).collect();
        assert_eq!(fields, ["/ask/call/rest/note", "/ask/call/changes"]);
        assert_eq!(call.changes, [line("a".repeat(1_500))], "nothing is skipped in the middle");
    }
}
