//! Permission rules, said.

use ostler_server::api::RuleView;

use crate::{
    screen::one_line,
    words::{Key, Words},
};

/// What a rule allows, in one line.
pub(crate) fn said(words: Words, rule: &RuleView) -> String {
    let key = match rule.scope.as_str() {
        "call" => Key::RuleCall,
        "prefix" => Key::RulePrefix,
        "file" => Key::RuleFile,
        "directory" => Key::RuleDirectory,
        _ => Key::RuleTool,
    };
    words.say(key, &[("tool", &one_line(&rule.tool)), ("text", &one_line(&rule.text))])
}
