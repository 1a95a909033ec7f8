//! The tasks that a loop has begun.
//!
//! A decision works on a copy of what it changes, and a loop changes with each of its thousands of tasks. So the copies share
//! all but the few tasks that were changed of late.

use alloc::{collections::BTreeMap, string::String, sync::Arc};
use core::iter;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Begun;

/// How many may differ from what the copies share before they share them too.
const RECENT_MAX: usize = 64;

/// Tasks by id.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    /// Of those that `recent` has too, that one counts.
    shared: Arc<BTreeMap<String, Begun>>,
    recent: BTreeMap<String, Begun>,
}

impl Tasks {
    /// A task, if it was begun.
    pub fn get(&self, id: &str) -> Option<&Begun> {
        self.recent.get(id).or_else(|| self.shared.get(id))
    }

    /// All of them, by id.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Begun)> {
        let mut shared = self.shared.iter().peekable();
        let mut recent = self.recent.iter().peekable();
        iter::from_fn(move || match (shared.peek(), recent.peek()) {
            (Some((old, _)), Some((new, _))) if old < new => shared.next(),
            (Some((old, _)), Some((new, _))) => {
                if old == new {
                    shared.next();
                }
                recent.next()
            }
            (_, None) => shared.next(),
            (None, _) => recent.next(),
        })
    }

    /// Their ids.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.iter().map(|(id, _)| id)
    }

    /// All of them without their ids.
    pub fn values(&self) -> impl Iterator<Item = &Begun> {
        self.iter().map(|(_, begun)| begun)
    }

    /// A task to be changed, which is begun if it was not.
    pub(super) fn change(&mut self, id: &str) -> &mut Begun {
        if self.recent.len() >= RECENT_MAX && !self.recent.contains_key(id) {
            Arc::make_mut(&mut self.shared).append(&mut self.recent);
        }
        let shared = &self.shared;
        let known = || shared.get(id).cloned().unwrap_or_default();
        self.recent.entry(String::from(id)).or_insert_with(known)
    }
}

impl PartialEq for Tasks {
    fn eq(&self, other: &Tasks) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Tasks {}

impl Serialize for Tasks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Tasks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let shared = Arc::new(BTreeMap::deserialize(deserializer)?);
        Ok(Tasks { shared, recent: BTreeMap::new() })
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, vec::Vec};

    use super::*;

    #[test]
    fn what_is_shared_and_what_is_recent_are_one() {
        let (mut tasks, mut plain) = (Tasks::default(), BTreeMap::<String, Begun>::new());
        for step in 0..1_000_u32 {
            let id = format!("T0.{}", step * 7 % 200);
            tasks.change(&id).tries += step;
            plain.entry(id).or_default().tries += step;
            if step % 50 == 0 {
                assert!(tasks.iter().eq(plain.iter()), "after {step}");
            }
        }
        let before = tasks.clone();
        tasks.change("T0.3").tries = 0;
        assert_ne!(before, tasks, "a copy stays what it was");
        assert_eq!(
            before.values().map(|it| it.tries).collect::<Vec<_>>(),
            plain.values().map(|it| it.tries).collect::<Vec<_>>()
        );
        let text = serde_json::to_string(&before).expect("plain data");
        assert_eq!(text, serde_json::to_string(&plain).expect("plain data"));
        assert_eq!(serde_json::from_str::<Tasks>(&text).expect("the same"), before);
        assert_eq!(before.get("T0.3"), plain.get("T0.3"));
        assert_eq!(before.get("T9.9"), None);
    }
}
