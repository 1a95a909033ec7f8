//! What Ostler writes to an agent's input as one line of JSON, and how an agent (or a test) reads it back.
//!
//! A reply never holds a secret: values travel another way.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::signal::DependencyType;

/// One line for the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Reply {
    /// The answer to a question.
    QuestionAnswer(QuestionAnswer),
    /// What became of a dependency.
    DependencyProvided(DependencyProvided),
}

/// The answer to a question; `null` if nobody gave one to an optional question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionAnswer {
    /// The id of the question.
    pub question_id: String,
    /// The answer.
    pub answer: Option<String>,
    /// The number of the option, counted from 1, where its text contains a masked secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<u32>,
}

/// What became of a dependency. Which fields are there depends on its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DependencyProvided {
    /// The id of the request.
    pub request_id: String,
    /// The name that was asked for.
    pub name: String,
    /// Its type.
    pub dependency_type: DependencyType,
    /// Whether it is there now.
    pub provided: bool,
    /// Where the file is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What the person decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// Whether the package was installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed: Option<bool>,
    /// Whether the default was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_used: Option<bool>,
    /// The command that prints the value, for a program that runs on and does not find it in its environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub get: Option<String>,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Reply {
    /// The line, with its newline.
    pub fn encode(&self) -> String {
        let mut line = serde_json::to_string(self).expect("a reply has only strings and booleans");
        line.push('\n');
        line
    }

    /// Reads a line.
    pub fn decode(line: &str) -> Result<Reply, serde_json::Error> {
        serde_json::from_str(line)
    }
}
