//! Where a value stands in a JSON event: `message.model`, or `content[].text` for every element's text.
//!
//! Conditions and fields of a table look things up through this module. A path that leads nowhere finds
//! nothing; it never fails on the shape of an event.

use alloc::{borrow::ToOwned, format, string::String, vec, vec::Vec};

use serde::Deserialize;
use serde_json::Value;

/// Keys joined by dots; `[]` behind a key stands for all elements of an array or all values of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Path(Vec<Step>);

/// A field of what a rule gives: one path, or several of which the first that finds something counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Value")]
pub(super) struct Field(Vec<Path>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Key(String),
    Each,
}

impl Path {
    /// All values that the path leads to, in order. `null` is no value.
    pub(super) fn all<'v>(&self, root: &'v Value) -> Vec<&'v Value> {
        let mut found = Vec::new();
        visit(&self.0, root, &mut |value| found.push(value));
        found
    }

    /// The first of them.
    pub(super) fn first<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        let mut first = None;
        visit(&self.0, root, &mut |value| {
            first.get_or_insert(value);
        });
        first
    }
}

impl Field {
    /// The text that stands there, several texts joined by newlines. An empty text is none.
    pub(super) fn text(&self, root: &Value) -> Option<String> {
        self.0.iter().find_map(|path| {
            let texts: Vec<&str> = path.all(root).into_iter().filter_map(Value::as_str).collect();
            Some(texts.join("\n")).filter(|text| !text.is_empty())
        })
    }

    /// The first value for which `read` has a meaning.
    pub(super) fn read<'v, T>(&self, root: &'v Value, read: impl Fn(&'v Value) -> Option<T>) -> Option<T> {
        self.0.iter().find_map(|path| path.first(root).and_then(&read))
    }
}

impl TryFrom<String> for Path {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (key, each) = part.strip_suffix("[]").map_or((part, false), |key| (key, true));
            if key.is_empty() {
                return Err(format!("path `{text}` has an empty key"));
            }
            steps.push(Step::Key(key.to_owned()));
            steps.extend(each.then_some(Step::Each));
        }
        Ok(Path(steps))
    }
}

impl TryFrom<Value> for Field {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let paths = if value.is_array() { value } else { Value::Array(vec![value]) };
        Vec::deserialize(paths).map(Field)
    }
}

/// Recursion is as deep as the path is long, whatever the depth of the event.
fn visit<'v>(steps: &[Step], value: &'v Value, found: &mut impl FnMut(&'v Value)) {
    match (steps, value) {
        (_, Value::Null) => {}
        ([], _) => found(value),
        ([Step::Key(key), rest @ ..], Value::Object(map)) => {
            if let Some(value) = map.get(key) {
                visit(rest, value, found);
            }
        }
        ([Step::Each, rest @ ..], Value::Array(list)) => {
            for value in list {
                visit(rest, value, found);
            }
        }
        ([Step::Each, rest @ ..], Value::Object(map)) => {
            for value in map.values() {
                visit(rest, value, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "the tables below read better without borrows")]
    fn check(field: Value, root: Value, expect: Expect) {
        let text = Field::try_from(field).map(|field| field.text(&root));
        expect.assert_eq(&match text {
            Ok(text) => format!("{text:?}"),
            Err(error) => format!("{error}"),
        });
    }

    #[test]
    fn a_path_walks_objects() {
        check(json!("a.b-c"), json!({"a": {"b-c": "x"}}), expect![[r#"Some("x")"#]]);
        check(json!("a.b"), json!({"a": {"c": "x"}}), expect!["None"]);
        check(json!("a.b"), json!({"a": "x"}), expect!["None"]);
        check(json!("a.b"), json!([{"b": "x"}]), expect!["None"]);
        check(json!("a"), json!({"a": null}), expect!["None"]);
        check(json!("a"), json!({"a": ""}), expect!["None"]);
        check(json!("a"), json!({"a": 7}), expect!["None"]);
    }

    #[test]
    fn brackets_collect() {
        let parts = json!({"a": [{"b": "x"}, {"c": 1}, "odd", null, {"b": "y"}]});
        check(json!("a[].b"), parts, expect![[r#"Some("x\ny")"#]]);
        check(json!("a[]"), json!({"a": ["x", 1, "y"]}), expect![[r#"Some("x\ny")"#]]);
        check(json!("a[].b"), json!({"a": {"k": {"b": "x"}, "l": {"b": "y"}}}), expect![[r#"Some("x\ny")"#]]);
        check(json!("a[].b"), json!({"a": "x"}), expect!["None"]);
        check(json!("a[].b"), json!({"a": []}), expect!["None"]);
    }

    #[test]
    fn the_first_alternative_that_finds_something_counts() {
        check(json!(["a", "b"]), json!({"b": "y"}), expect![[r#"Some("y")"#]]);
        check(json!(["a", "b"]), json!({"a": "x", "b": "y"}), expect![[r#"Some("x")"#]]);
        check(json!(["a", "a[].b"]), json!({"a": [{"b": "x"}]}), expect![[r#"Some("x")"#]]);
        check(json!([]), json!({"a": "x"}), expect!["None"]);
    }

    #[test]
    fn a_path_has_a_form() {
        check(json!(""), json!({}), expect!["path `` has an empty key"]);
        check(json!("a..b"), json!({}), expect!["path `a..b` has an empty key"]);
        check(json!("a.[]"), json!({}), expect!["path `a.[]` has an empty key"]);
        check(json!(7), json!({}), expect!["invalid type: integer `7`, expected a string"]);
    }
}
