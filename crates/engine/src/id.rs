//! Ids that a person can say: a letter for the kind and a number from a sequence.

use alloc::{format, string::String};
use core::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Text that is not an id of the kind it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidId {
    text: String,
    example: &'static str,
}

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not an id such as {}", self.text, self.example)
    }
}

impl core::error::Error for InvalidId {}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let number = text.strip_prefix(concat!($prefix, "_"));
                let digits = number.filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
                digits.and_then(|it| it.parse().ok()).map($name).ok_or_else(|| InvalidId {
                    text: text.into(),
                    example: concat!($prefix, "_7"),
                })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&format!("{self}"))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

id!(
    /// A repository or directory that is looked after.
    ProjectId, "p"
);
id!(
    /// What a person asked for.
    RunId, "r"
);
id!(
    /// One agent at work.
    SessionId, "s"
);
id!(
    /// Whose allowance sessions use.
    AccountId, "a"
);
id!(
    /// Something that somebody has to settle.
    RequestId, "q"
);
id!(
    /// What stood in a session's directory at one moment.
    CheckpointId, "c"
);
id!(
    /// One agent has called another.
    InvocationId, "i"
);
id!(
    /// Something that one agent brings another.
    ResultId, "d"
);
id!(
    /// Work that a person asked for in one go: nodes with dependencies.
    GraphId, "g"
);
id!(
    /// One piece of work in a graph.
    NodeId, "n"
);
id!(
    /// Nodes of a graph that are tested and merged together.
    GroupId, "w"
);
id!(
    /// Something a person wrote to an agent unasked; counted per session.
    MessageId, "m"
);

/// Another UUID, the same for the same launch: nothing here is random.
pub(crate) fn successor(uuid: &str, launch: u32) -> String {
    let split = uuid.len().saturating_sub(8);
    let (head, tail) = uuid.split_at_checked(split).unwrap_or((uuid, ""));
    let number = u32::from_str_radix(tail, 16).unwrap_or(0);
    format!("{head}{:08x}", number.wrapping_add(launch))
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn an_id_reads_back() {
        assert_eq!("s_12".parse(), Ok(SessionId(12)));
        assert_eq!(SessionId(12).to_string(), "s_12");
        for no in ["", "s", "s_", "s_+1", "s_-1", "q_1", "12", "s_1x", "s_99999999999999999999"] {
            assert!(no.parse::<SessionId>().is_err(), "{no}");
        }
    }
}
