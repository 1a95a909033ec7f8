//! Notes of executors in the state file: who works on a task, under which key, and what earlier attempts have left.
//!
//! Other programs may have written the file, and older versions of this one did: a field that cannot be read is as if it
//! were missing, and what is unknown is kept.

use ostler_engine::retry::RetryTally;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::lock::Owner;

/// What an executor notes about a task. One with a key says that the task has begun; one without says what remains of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ExecutorNote {
    /// The key under which the run is asked for.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// When the attempt began, by the clock of the executor.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub(crate) begun_at_ms: Option<u64>,
    /// How the declared files looked before anybody worked on the task.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Fingerprint>,
    /// How they looked after it.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Fingerprint>,
    /// The worktree, as it was asked for; without it the project itself.
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) worktree: Option<String>,
    /// The process that looks after the task.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<Owner>,
    /// What the next attempt is told.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
    /// How many tries have failed.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "is_zero")]
    pub(crate) tries: u32,
    /// How many of the last ones failed in the same way.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "is_zero")]
    pub(crate) same: u32,
    /// The signature of the last failure.
    #[serde(default, rename = "sign", deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    pub(crate) signature: Option<String>,
    /// How long the earlier attempts took.
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "is_zero")]
    pub(crate) used_ms: u64,
    /// What another version has noted.
    #[serde(flatten)]
    pub(crate) others: Map<String, Value>,
}

/// Files in one number. JSON has it as text: not every program reads 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint(pub(crate) u64);

impl ExecutorNote {
    /// Reads a note; nothing if it is none.
    pub(crate) fn read(value: &Value) -> Option<ExecutorNote> {
        ExecutorNote::deserialize(value).ok()
    }

    /// As it is written.
    pub(crate) fn value(&self) -> Value {
        serde_json::to_value(self).expect("a note is plain data")
    }

    /// Whether somebody has begun the task.
    pub(crate) fn is_begun(&self) -> bool {
        self.key.is_some()
    }

    /// Whether it is about the attempt with this key.
    pub(crate) fn is_about(&self, key: &str) -> bool {
        self.key.as_deref() == Some(key)
    }

    /// What is known of the attempts so far.
    pub(crate) fn tally(&self) -> RetryTally {
        RetryTally { tries: self.tries, same: self.same, signature: self.signature.clone() }
    }

    /// Notes the attempts so far.
    pub(crate) fn set_tally(&mut self, tally: RetryTally) {
        let RetryTally { tries, same, signature } = tally;
        (self.tries, self.same, self.signature) = (tries, same, signature);
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fingerprint, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Fingerprint).map_err(serde::de::Error::custom)
    }
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

/// A value of another kind than it should be is as if it were missing.
fn lenient<'de, T: DeserializeOwned + Default, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn notes_of_other_versions_and_hands_are_read() {
        // As earlier versions wrote it, with something of a later one.
        let old = json!({
            "key": "exec-T1.1-5-7#2", "begun_at_ms": 5, "before": "18446744073709551615", "worktree": null,
            "owner": { "pid": 7, "start_time": 9 }, "tries": 3, "same": 1, "used_ms": 12, "sign": "a", "failure": "b",
            "later": [1],
        });
        let note = ExecutorNote::read(&old).expect("a note");
        assert!(note.is_begun() && note.is_about("exec-T1.1-5-7#2"), "{note:?}");
        assert_eq!(note.before, Some(Fingerprint(u64::MAX)));
        assert_eq!(note.tally(), RetryTally { tries: 3, same: 1, signature: Some("a".to_owned()) });
        assert_eq!(note.value()["later"], json!([1]));
        assert_eq!(ExecutorNote::read(&note.value()), Some(note));
        let wild = json!({ "key": 7, "before": 5, "tries": "many", "owner": "me", "worktree": "w" });
        let note = ExecutorNote::read(&wild).expect("a note");
        assert!(!note.is_begun() && note.before.is_none() && note.owner.is_none());
        assert_eq!((note.tries, note.worktree.as_deref()), (0, Some("w")));
        assert_eq!(ExecutorNote::read(&json!("T1.1")), None);
    }
}
