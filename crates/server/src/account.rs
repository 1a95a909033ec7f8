//! Whose allowance a session uses, in words that tell one account from another and hold no key.

use std::collections::BTreeMap;

use ostler_agents::Agent;

use crate::environment::digest;

/// How many characters of a digest tell one key from another.
const DIGEST_CHARS: usize = 8;

/// What the agent's table calls an account: the first key that is set, else the directory in which the CLI keeps who
/// is signed in. Nothing if the table names neither.
pub(crate) fn name(agent: &Agent, variables: &BTreeMap<String, String>, salt: &str) -> Option<String> {
    let set = |name: &str| variables.get(name).filter(|value| !value.is_empty());
    let key = agent.account.keys.iter().find_map(|name| Some((name, set(name)?)));
    if let Some((name, value)) = key {
        let digest = digest(format!("{salt}\0{value}").as_bytes());
        return Some(format!("{name} #{}", &digest[..DIGEST_CHARS]));
    }
    let variable = agent.account.directory.as_ref()?;
    Some(match (set(variable), set("HOME")) {
        (Some(directory), _) => format!("{variable} {}", directory.trim_end_matches('/')),
        // Where the CLI looks by itself depends on whose home it is.
        (None, Some(home)) => format!("{variable} of {}", home.trim_end_matches('/')),
        (None, None) => format!("{variable} of nobody"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(variables: &[(&str, &str)]) -> Option<String> {
        let claude = Agent::builtin("claude").expect("it is built in");
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        name(&claude, &variables.collect(), "salt")
    }

    #[test]
    fn a_key_counts_before_a_directory_and_is_not_shown() {
        let one = named(&[("ANTHROPIC_API_KEY", "sk-one"), ("CLAUDE_CONFIG_DIR", "/c")]).expect("an account");
        let two = named(&[("ANTHROPIC_API_KEY", "sk-two")]).expect("an account");
        assert!(one.starts_with("ANTHROPIC_API_KEY #") && !one.contains("sk-"), "{one}");
        assert_ne!(one, two);
        assert_eq!(named(&[("ANTHROPIC_API_KEY", "sk-one")]), Some(one));
    }

    #[test]
    fn a_directory_or_whose_home_it_is() {
        let work = named(&[("CLAUDE_CONFIG_DIR", "/home/me/.claude-work/"), ("HOME", "/home/me")]);
        assert_eq!(work.as_deref(), Some("CLAUDE_CONFIG_DIR /home/me/.claude-work"));
        let default = named(&[("CLAUDE_CONFIG_DIR", ""), ("HOME", "/home/me")]);
        assert_eq!(default.as_deref(), Some("CLAUDE_CONFIG_DIR of /home/me"));
        assert_eq!(name(&Agent::plain(&["x".to_owned()]), &BTreeMap::new(), ""), None);
    }
}
