//! The rule for each key of a project's file: how it counts beside the user's own file.
//!
//! A repository may be anybody's. No key of its file weakens a setting of the user's before a person agreed to it: the
//! table says for every key why not. Tests compare the table with the parser, with what a configuration becomes, and with
//! the page of the documentation.

use super::{File, RepositoryCommand, Source};

/// How a key of a project's file counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectRule {
    /// It is an error there: only the user's own file may have it.
    UserOnly,
    /// It counts where the user's own file does not set it.
    Fallback,
    /// The stricter of both files counts.
    Stricter,
    /// It is not applied before a person agreed to it.
    Withheld,
    /// A command that needs it is refused before a person agreed to it.
    Refused,
    /// It counts as it is: it weakens nothing.
    Plain,
}

/// Every key of a project's file with its rule. A row stands for all keys below it.
pub const PROJECT_KEYS: &[(&str, ProjectRule)] = &[
    ("language", ProjectRule::Fallback),
    ("default_agent", ProjectRule::Withheld),
    ("agents", ProjectRule::Refused),
    ("patience", ProjectRule::Withheld),
    ("prices", ProjectRule::UserOnly),
    ("budget.cost", ProjectRule::Stricter),
    ("budget.tokens", ProjectRule::Stricter),
    ("budget.time", ProjectRule::Stricter),
    ("vault", ProjectRule::UserOnly),
    ("checkpoints", ProjectRule::UserOnly),
    ("page", ProjectRule::UserOnly),
    ("notify", ProjectRule::UserOnly),
    ("phases", ProjectRule::Refused),
    ("orchestrate.test", ProjectRule::Refused),
    ("orchestrate.setup", ProjectRule::Refused),
    ("orchestrate.max_parallel", ProjectRule::Stricter),
    ("orchestrate.timeout", ProjectRule::Stricter),
    ("orchestrate.port", ProjectRule::Plain),
    ("orchestrate.resolver", ProjectRule::Withheld),
    ("orchestrate.executor", ProjectRule::Withheld),
    ("orchestrate.worktrees", ProjectRule::Stricter),
    ("office.agent", ProjectRule::Withheld),
    ("office.idle", ProjectRule::Withheld),
    ("office.repeats", ProjectRule::Withheld),
    ("office.roles", ProjectRule::Refused),
    ("dispatch", ProjectRule::Plain),
];

/// Tables whose entries have names of their own: a person agrees to each.
const NAMED: [&str; 2] = ["agents", "office.roles"];

impl ProjectRule {
    /// Every rule.
    pub const ALL: [ProjectRule; 6] = [
        ProjectRule::UserOnly,
        ProjectRule::Fallback,
        ProjectRule::Stricter,
        ProjectRule::Withheld,
        ProjectRule::Refused,
        ProjectRule::Plain,
    ];

    /// Whether a person has to agree to it.
    pub fn needs_consent(self) -> bool {
        matches!(self, ProjectRule::Withheld | ProjectRule::Refused)
    }

    /// The words of the documentation.
    pub fn label(self) -> &'static str {
        match self {
            ProjectRule::UserOnly => "an error",
            ProjectRule::Fallback => "counts if your own file does not set it",
            ProjectRule::Stricter => "the stricter of both counts",
            ProjectRule::Withheld => "not applied before `ostler trust`",
            ProjectRule::Refused => "refused before `ostler trust`",
            ProjectRule::Plain => "counts",
        }
    }
}

/// All that a person has to agree to in a file, in the order of the table.
pub(super) fn commands(source: &Source, is_counted: impl Fn(&str) -> bool) -> Vec<RepositoryCommand> {
    let Ok(table) = toml::from_str::<toml::Table>(&source.text) else { return Vec::new() };
    let command = |key: String, value: &toml::Value| RepositoryCommand {
        key,
        value: text(value),
        file: source.path.clone(),
    };
    let mut found = Vec::new();
    for (key, _) in PROJECT_KEYS.iter().filter(|(key, _)| is_counted(key)) {
        match look_up(&table, key) {
            Some(toml::Value::Table(entries)) if NAMED.contains(key) => {
                found.extend(entries.iter().map(|(name, entry)| command(format!("{key}.{name}"), entry)));
            }
            // `ostler phases init` writes a table in which every setting is a comment.
            Some(toml::Value::Table(entries)) if entries.is_empty() => {}
            Some(value) => found.push(command((*key).to_owned(), value)),
            None => {}
        }
    }
    found
}

/// Takes a key that nobody agreed to yet out of a file.
pub(super) fn withhold(file: &mut File, key: &str) {
    match key {
        "default_agent" => file.default_agent = None,
        "patience" => file.patience = super::PatienceTable::default(),
        "orchestrate.resolver" => file.orchestrate.withhold_resolver(),
        "orchestrate.executor" => file.orchestrate.withhold_executor(),
        "office.agent" => file.office.iter_mut().for_each(super::OfficeTable::withhold_agent),
        "office.idle" => file.office.iter_mut().for_each(super::OfficeTable::withhold_idle),
        "office.repeats" => file.office.iter_mut().for_each(super::OfficeTable::withhold_repeats),
        _ => {}
    }
}

/// Whether a key is applied only after a person agreed to it.
pub(super) fn is_withheld(key: &str) -> bool {
    PROJECT_KEYS.contains(&(key, ProjectRule::Withheld))
}

/// Whether a person has to agree to a key of a project's file.
pub(super) fn needs_consent(key: &str) -> bool {
    PROJECT_KEYS.iter().any(|(known, rule)| *known == key && rule.needs_consent())
}

fn look_up<'a>(table: &'a toml::Table, key: &str) -> Option<&'a toml::Value> {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let value = table.get(first)?;
    match rest {
        Some(rest) => look_up(value.as_table()?, rest),
        None => Some(value),
    }
}

/// A value as a person is shown it.
fn text(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Table(table) => toml::to_string(table).unwrap_or_else(|_| value.to_string()),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;
    use crate::config::{
        Config,
        tests::{load, load_with},
    };

    /// A key that no table has.
    const STRANGE: &str = "strange_key";

    /// For each row of the table a user's file, a project's file that would weaken it, and one that is stricter.
    const SAMPLES: &[(&str, &str, &str, &str)] = &[
        ("language", "language = 'ko'", "language = 'en'", ""),
        ("default_agent", "default_agent = 'claude'", "default_agent = 'codex'", ""),
        ("agents", "", "[agents.mine]\ncommand = ['x']", ""),
        ("patience", "[patience]\nquestion = '2h'", "[patience]\nquestion = '1ms'\ngrace = '1d'", ""),
        ("prices", "", "[prices.x]\ninput = 1.0\noutput = 1.0", ""),
        ("budget.cost", "[budget]\ncost = 5", "[budget]\ncost = 7", "[budget]\ncost = 1"),
        ("budget.tokens", "[budget]\ntokens = 5", "[budget]\ntokens = 7", "[budget]\ntokens = 1"),
        ("budget.time", "[budget]\ntime = '5m'", "[budget]\ntime = '1d'", "[budget]\ntime = '1m'"),
        ("vault", "", "[vault]\nkey = 'cmd:x'", ""),
        ("checkpoints", "", "[checkpoints]\nautomatic = false", ""),
        ("page", "", "[page]\nlisten = 'off'", ""),
        ("notify", "", "[[notify]]\ntype = 'command'\ncommand = ['x']", ""),
        ("phases", "", "[phases]\nverifier = 'none'\nconfine = false", ""),
        ("orchestrate.test", "", "[orchestrate]\ntest = 'true'", ""),
        ("orchestrate.setup", "", "[orchestrate]\nsetup = 'true'", ""),
        (
            "orchestrate.max_parallel",
            "[orchestrate]\nmax_parallel = 2",
            "[orchestrate]\nmax_parallel = 9",
            "[orchestrate]\nmax_parallel = 1",
        ),
        (
            "orchestrate.timeout",
            "[orchestrate]\ntimeout = '5m'",
            "[orchestrate]\ntimeout = '1d'",
            "[orchestrate]\ntimeout = '1m'",
        ),
        ("orchestrate.port", "", "[orchestrate]\nport = 5000", ""),
        ("orchestrate.resolver", "", "[orchestrate]\nresolver = 'codex'", ""),
        ("orchestrate.executor", "", "[orchestrate]\nexecutor = 'codex'", ""),
        (
            "orchestrate.worktrees",
            "[orchestrate]\nworktrees = 'task'",
            "[orchestrate]\nworktrees = 'phase'",
            "[orchestrate]\nworktrees = 'task'",
        ),
        ("office.agent", "[office]\nagent = 'claude'", "[office]\nagent = 'codex'", ""),
        ("office.idle", "[office]\nidle = '1m'", "[office]\nidle = '1d'", ""),
        ("office.repeats", "[office]\nrepeats = 3", "[office]\nrepeats = 0", ""),
        ("office.roles", "", "[office.roles.PO]\ndescription = 'plans'", ""),
        ("dispatch", "", "[dispatch.areas]\ndba = ['shard']", ""),
    ];

    /// The keys that the parser takes at a place, as its own error lists them; none if it is no table.
    fn accepted(document: &str) -> Option<Vec<String>> {
        let error = toml::from_str::<File>(document).err()?.message().to_owned();
        let list = error.strip_prefix(&format!("unknown field `{STRANGE}`, expected "))?;
        Some(list.split('`').skip(1).step_by(2).map(str::to_owned).collect())
    }

    /// All keys below a place that are no tables. `outer` writes a document around a value.
    fn leaves(path: &str, outer: &dyn Fn(&str) -> String, found: &mut BTreeSet<String>) {
        let table = |value: &str| outer(&format!("{{ {value} }}"));
        let list = |value: &str| outer(&format!("[{{ {value} }}]"));
        let names = |value: &str| outer(&format!("{{ any = {{ {value} }} }}"));
        let shapes: [&dyn Fn(&str) -> String; 3] = [&table, &list, &names];
        let strange = format!("{STRANGE} = 1");
        let Some((shape, keys)) = shapes.iter().find_map(|shape| Some((shape, accepted(&shape(&strange))?)))
        else {
            found.insert(path.to_owned());
            return;
        };
        for key in keys {
            leaves(&format!("{path}.{key}"), &|value| shape(&format!("{key} = {value}")), found);
        }
    }

    fn rules_of(key: &str) -> Vec<ProjectRule> {
        let is_above =
            |row: &str| key == row || key.strip_prefix(row).is_some_and(|rest| rest.starts_with('.'));
        PROJECT_KEYS.iter().filter(|(row, _)| is_above(row)).map(|(_, rule)| *rule).collect()
    }

    #[test]
    fn every_key_that_the_parser_takes_has_one_rule() {
        let mut found = BTreeSet::new();
        for key in accepted(&format!("{STRANGE} = 1")).expect("the keys of a file") {
            leaves(&key, &|value| format!("{key} = {value}"), &mut found);
        }
        assert!(
            found.contains("phases.phase.checks.run") && found.contains("office.roles.tools"),
            "{found:?}"
        );
        for key in &found {
            assert_eq!(rules_of(key).len(), 1, "`{key}` has no rule, or two, in PROJECT_KEYS");
        }
        for (row, _) in PROJECT_KEYS {
            let is_below = |key: &&String| key.as_str() == *row || key.starts_with(&format!("{row}."));
            assert!(found.iter().any(|key| is_below(&key)), "no file can have `{row}`");
        }
    }

    #[test]
    fn each_rule_holds_for_its_keys() {
        let rows: Vec<&str> = PROJECT_KEYS.iter().map(|(key, _)| *key).collect();
        let samples: Vec<&str> = SAMPLES.iter().map(|sample| sample.0).collect();
        assert_eq!(rows, samples, "each row has a sample");
        let bare = |config: Config| Config { commands: Vec::new(), ..config };
        for ((key, rule), (_, user, weaker, stricter)) in PROJECT_KEYS.iter().zip(SAMPLES) {
            let own = bare(load(user, "").expect("the user's file is right"));
            let untrusted = load_with(user, weaker, &[]);
            if *rule == ProjectRule::UserOnly {
                untrusted.expect_err(key);
                continue;
            }
            let untrusted = untrusted.unwrap_or_else(|error| panic!("{key}: {error}"));
            let listed: Vec<&str> = untrusted.commands.iter().map(|command| command.key.as_str()).collect();
            let is_listed = listed.iter().any(|it| it.starts_with(key));
            assert_eq!(is_listed, rule.needs_consent(), "{key}: {listed:?}");
            match rule {
                ProjectRule::Fallback | ProjectRule::Withheld => assert_eq!(bare(untrusted), own, "{key}"),
                ProjectRule::Stricter => {
                    assert_eq!(bare(untrusted), own, "{key}");
                    let both = load_with(user, stricter, &[]).expect("both are right");
                    assert_eq!(bare(both), bare(load(stricter, "").expect("it is right")), "{key}");
                }
                ProjectRule::Refused | ProjectRule::Plain | ProjectRule::UserOnly => {}
            }
            if rule.needs_consent() {
                assert_ne!(bare(load(user, weaker).expect("it is right")), own, "{key} counts after consent");
            }
        }
    }

    /// Nobody can say what counts if the page says something else.
    #[test]
    fn the_page_has_the_same_table() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/design/trust.md");
        let page = fs::read_to_string(path).expect("a page");
        let rows: Vec<(&str, &str)> = page
            .lines()
            .skip_while(|line| *line != "| key | in a project's file |")
            .skip(2)
            .map_while(|line| line.strip_prefix("| `")?.strip_suffix(" |")?.split_once("` | "))
            .collect();
        let expected: Vec<(&str, &str)> =
            PROJECT_KEYS.iter().map(|(key, rule)| (*key, rule.label())).collect();
        assert_eq!(rows, expected);
    }
}
