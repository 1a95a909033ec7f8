//! When a rule of a table applies: what must stand at some places of an event.
//!
//! A place whose value has another type than expected fails its condition; nothing here is an error.

use alloc::{collections::BTreeMap, string::String, vec, vec::Vec};

use serde::Deserialize;
use serde_json::Value;

use super::path::Path;

/// Conditions by place; all must hold.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Conditions(BTreeMap<Path, Condition>);

/// A literal, a list of literals of which one must stand there, or a table of tests.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Value")]
enum Condition {
    OneOf(Vec<Value>),
    Tests(Tests),
}

/// All tests that are given must hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Tests {
    /// Whether anything stands there; `null` is nothing.
    present: Option<bool>,
    /// What must not stand there. Holds for an absent value.
    not: Option<Value>,
    /// How the text must begin.
    starts_with: Option<String>,
    /// Phrases of which the text must hold one, in upper or lower case.
    contains: Option<Vec<String>>,
}

impl Conditions {
    pub(super) fn hold(&self, event: &Value) -> bool {
        self.0.iter().all(|(path, condition)| condition.holds(path.first(event)))
    }
}

impl Condition {
    fn holds(&self, value: Option<&Value>) -> bool {
        match self {
            Condition::OneOf(literals) => value.is_some_and(|value| literals.contains(value)),
            Condition::Tests(tests) => tests.hold(value),
        }
    }
}

impl Tests {
    fn hold(&self, value: Option<&Value>) -> bool {
        let text = value.and_then(Value::as_str);
        self.present.is_none_or(|present| present == value.is_some())
            && self.not.as_ref().is_none_or(|literal| value != Some(literal))
            && self.starts_with.as_ref().is_none_or(|start| text.is_some_and(|text| text.starts_with(start)))
            && self.contains.as_ref().is_none_or(|phrases| text.is_some_and(|text| holds_one(text, phrases)))
    }
}

impl TryFrom<Value> for Condition {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        Ok(match value {
            Value::Object(_) => Condition::Tests(Tests::deserialize(value)?),
            Value::Array(literals) => Condition::OneOf(literals),
            literal => Condition::OneOf(vec![literal]),
        })
    }
}

fn holds_one(text: &str, phrases: &[String]) -> bool {
    let text = text.to_ascii_lowercase();
    phrases.iter().any(|phrase| text.contains(&phrase.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks that `when` holds for the events of the first list and for none of the second.
    fn check<const H: usize, const F: usize>(when: Value, holding: [Value; H], failing: [Value; F]) {
        let conditions = Conditions::deserialize(when).expect("a valid condition");
        for event in holding {
            assert!(conditions.hold(&event), "must hold for {event}");
        }
        for event in failing {
            assert!(!conditions.hold(&event), "must not hold for {event}");
        }
    }

    #[test]
    fn a_literal_stands_there() {
        check(
            json!({"a": "x"}),
            [json!({"a": "x"})],
            [json!({}), json!({"a": "y"}), json!(["x"]), json!(null)],
        );
        check(json!({"a": true}), [json!({"a": true})], [json!({"a": "true"}), json!({"a": 1})]);
        check(
            json!({"a.b": 429}),
            [json!({"a": {"b": 429}})],
            [json!({"a": {"b": "429"}}), json!({"a": 429})],
        );
        check(
            json!({"a": ["x", 1]}),
            [json!({"a": "x"}), json!({"a": 1})],
            [json!({"a": ["x", 1]}), json!({})],
        );
    }

    #[test]
    fn all_places_count() {
        check(json!({"a": 1, "b": 2}), [json!({"a": 1, "b": 2})], [json!({"a": 1}), json!({"b": 2})]);
        check(json!({}), [json!({}), json!(null), json!("text")], []);
    }

    #[test]
    fn null_is_absent() {
        let present = [json!({"a": 0}), json!({"a": ""}), json!({"a": []})];
        let absent = [json!({}), json!({"a": null}), json!(7)];
        check(json!({"a": {"present": true}}), present.clone(), absent.clone());
        check(json!({"a": {"present": false}}), absent, present);
    }

    #[test]
    fn not_holds_for_the_absent() {
        check(
            json!({"a": {"not": "x"}}),
            [json!({}), json!({"a": null}), json!({"a": 1})],
            [json!({"a": "x"})],
        );
    }

    #[test]
    fn texts_are_looked_into() {
        check(
            json!({"a": {"starts_with": "err"}}),
            [json!({"a": "error"})],
            [json!({"a": "an err"}), json!({})],
        );
        check(
            json!({"a": {"contains": ["Quota", "too many"]}}),
            [json!({"a": "your quota is used up"}), json!({"a": "429 Too Many Requests"})],
            [json!({"a": "app.rs:429"}), json!({"a": ["quota"]}), json!({})],
        );
        check(
            json!({"a": {"starts_with": "Re", "contains": ["429"]}}),
            [json!({"a": "Retry: 429"})],
            [json!({"a": "Retry"}), json!({"a": "429"})],
        );
    }
}
