//! `[phases]`: what a run through phases goes through. What nobody says is as in `phases/defaults.rs`.

use std::{fmt, marker::PhantomData, ops::Range};

use ostler_agents::Agents;
use ostler_engine::phases::plan::{CommandKind, Criterion, GateCommand, Rule};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};
use toml::Spanned;

use super::{ConfigError, Source, parse_duration};
use crate::phases::{
    defaults::{self, Document, JUNIT, PHASES, TEST_NAMES, TESTS},
    glob, prompt,
};

/// The most phases.
const PHASES_MAX: usize = 20;

/// The most that a phase may go back by itself.
const REWORK_MAX: u32 = 20;

/// The most rules, commands or criteria of a phase.
const LIST_MAX: usize = 100;

/// The word for no verifier.
const NONE: &str = "none";

/// The word for tests that are found by themselves.
const AUTO: &str = "auto";

/// What a run through phases goes through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseSettings {
    /// Who works, if somebody said so.
    pub agent: Option<String>,
    /// Who verifies.
    pub verifier: Choice,
    /// Whether verifiers are kept from writing elsewhere.
    pub confine: bool,
    /// The phases.
    pub phases: Vec<PhaseSetting>,
}

/// Who does something.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Choice {
    /// Nobody said.
    #[default]
    Unsaid,
    /// Nobody does it.
    Nobody,
    /// This agent.
    Agent(String),
}

/// One phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseSetting {
    /// What people call it.
    pub name: String,
    /// What its agent is told, with names in braces.
    pub prompt: Option<String>,
    /// Who works.
    pub agent: Option<String>,
    /// Who verifies.
    pub verifier: Choice,
    /// The model of who works.
    pub model: Option<String>,
    /// The model of who verifies.
    pub verifier_model: Option<String>,
    /// What it has to produce.
    pub artifacts: Vec<Rule>,
    /// What may not go away.
    pub keep: Vec<String>,
    /// What is run.
    pub commands: Vec<GateCommand>,
    /// How long the tests may take that are found by themselves, if they are.
    pub find_tests_ms_max: Option<u64>,
    /// Where tests write about themselves.
    pub junit: Vec<String>,
    /// What a verifier is asked.
    pub criteria: Vec<Criterion>,
    /// How long it may take.
    pub verifier_ms_max: u64,
    /// How often the phase goes back by itself.
    pub rework_max: u32,
    /// How many questions are recommended at most.
    pub questions_max: u32,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PhasesTable {
    agent: Option<Spanned<String>>,
    verifier: Option<Spanned<String>>,
    rework: Option<Spanned<u32>>,
    questions: Option<u32>,
    confine: Option<bool>,
    time: Option<Spanned<String>>,
    verifier_time: Option<Spanned<String>>,
    phase: Option<Spanned<Vec<Spanned<PhaseTable>>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PhaseTable {
    name: Option<Spanned<String>>,
    prompt: Option<Spanned<String>>,
    agent: Option<Spanned<String>>,
    verifier: Option<Spanned<String>>,
    model: Option<String>,
    verifier_model: Option<String>,
    rework: Option<Spanned<u32>>,
    questions: Option<u32>,
    time: Option<Spanned<String>>,
    verifier_time: Option<Spanned<String>>,
    #[serde(default)]
    criteria: Vec<Spanned<Item<CriterionTable>>>,
    #[serde(default)]
    artifacts: Vec<Spanned<ArtifactTable>>,
    #[serde(default)]
    keep: Vec<Spanned<String>>,
    setup: Option<Spanned<String>>,
    #[serde(default)]
    checks: Vec<Spanned<Item<CheckTable>>>,
    tests: Option<Spanned<String>>,
    junit: Option<Vec<Spanned<String>>>,
}

/// Words alone, or a table that says more.
#[derive(Debug)]
enum Item<T> {
    Words(String),
    Table(T),
}

/// By hand, so that a mistake in a table is named and does not make it look like no table at all.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Item<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Item<T>, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Item<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("words or a table")
            }

            fn visit_str<E>(self, words: &str) -> Result<Item<T>, E> {
                Ok(Item::Words(words.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Item<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Item::Table)
            }
        }
        from.deserialize_any(Reader(PhantomData))
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CriterionTable {
    id: String,
    text: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArtifactTable {
    glob: Spanned<String>,
    min: Option<u32>,
    max: Option<u32>,
    #[serde(default)]
    sections: Vec<String>,
    changed: Option<bool>,
    placeholders: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckTable {
    run: String,
    time: Option<String>,
    place: Option<String>,
}

/// What has been said so far, over what nobody has.
#[derive(Debug, Clone)]
pub(super) struct Said {
    agent: Option<String>,
    verifier: Choice,
    rework: u32,
    questions: u32,
    confine: bool,
    time_ms: u64,
    verifier_ms: u64,
    phases: Option<Vec<PhaseSetting>>,
}

impl Default for Said {
    fn default() -> Self {
        Said {
            agent: None,
            verifier: Choice::Unsaid,
            rework: 3,
            questions: 3,
            confine: true,
            time_ms: 10 * 60_000,
            verifier_ms: 30 * 60_000,
            phases: None,
        }
    }
}

/// What a file says of all phases.
struct Common {
    agent: Option<String>,
    verifier: Option<Choice>,
    rework: Option<u32>,
    questions: Option<u32>,
    time_ms: Option<u64>,
    verifier_ms: Option<u64>,
}

impl PhaseSetting {
    /// What is said of all phases holds for this one, whatever it says itself.
    fn go_by(&mut self, common: &Common) {
        if common.agent.is_some() {
            self.agent = None;
        }
        if common.verifier.is_some() {
            self.verifier = Choice::Unsaid;
        }
        if let Some(time_ms) = common.time_ms {
            for command in &mut self.commands {
                command.time_ms_max = time_ms;
            }
            self.find_tests_ms_max = self.find_tests_ms_max.map(|_| time_ms);
        }
        self.rework_max = common.rework.unwrap_or(self.rework_max);
        self.questions_max = common.questions.unwrap_or(self.questions_max);
        self.verifier_ms_max = common.verifier_ms.unwrap_or(self.verifier_ms_max);
    }
}

impl Said {
    /// What a file says goes over what the one before said, wherever that said it.
    pub(super) fn take(
        &mut self,
        source: &Source,
        agents: &Agents,
        table: PhasesTable,
    ) -> Result<(), ConfigError> {
        let time = |value: Option<Spanned<String>>| value.map(|value| time_ms(source, &value)).transpose();
        let common = Common {
            agent: table.agent.map(|name| agent(source, agents, &name)).transpose()?,
            verifier: table.verifier.map(|name| choice(source, agents, &name)).transpose()?,
            rework: table.rework.map(|value| rework(source, &value)).transpose()?,
            questions: table.questions,
            time_ms: time(table.time)?,
            verifier_ms: time(table.verifier_time)?,
        };
        // Phases that are known already are those of another file: this one goes before it.
        for phase in self.phases.iter_mut().flatten() {
            phase.go_by(&common);
        }
        self.agent = common.agent.or(self.agent.take());
        self.verifier = common.verifier.unwrap_or(std::mem::take(&mut self.verifier));
        self.rework = common.rework.unwrap_or(self.rework);
        self.questions = common.questions.unwrap_or(self.questions);
        self.time_ms = common.time_ms.unwrap_or(self.time_ms);
        self.verifier_ms = common.verifier_ms.unwrap_or(self.verifier_ms);
        self.confine = table.confine.unwrap_or(self.confine);
        if let Some(phases) = table.phase {
            let span = phases.span();
            let phases = phases.into_inner();
            if phases.is_empty() || phases.len() > PHASES_MAX {
                let message = format!("there are between 1 and {PHASES_MAX} phases");
                return Err(source.wrong(span, message, None));
            }
            let read = phases.into_iter().map(|it| self.read(source, agents, it));
            self.phases = Some(read.collect::<Result<_, _>>()?);
        }
        Ok(())
    }

    fn read(
        &self,
        source: &Source,
        agents: &Agents,
        table: Spanned<PhaseTable>,
    ) -> Result<PhaseSetting, ConfigError> {
        let span = table.span();
        let table = table.into_inner();
        let name = table.name.as_ref().map(|name| name.get_ref().trim().to_owned()).unwrap_or_default();
        if name.is_empty() {
            return Err(source.wrong(span, "a phase has a name".to_owned(), None));
        }
        let lists = [table.artifacts.len(), table.checks.len(), table.criteria.len(), table.keep.len()];
        if lists.iter().any(|count| *count > LIST_MAX) {
            return Err(source.wrong(span, format!("a phase has at most {LIST_MAX} of each"), None));
        }
        let time =
            table.time.as_ref().map(|value| time_ms(source, value)).transpose()?.unwrap_or(self.time_ms);
        let verifier_time = table.verifier_time.as_ref().map(|value| time_ms(source, value)).transpose()?;
        let globs = |list: Vec<Spanned<String>>| {
            list.into_iter().map(|it| checked_glob(source, &it)).collect::<Result<Vec<_>, _>>()
        };
        let mut commands = Vec::new();
        let command = |run: Spanned<String>, kind| {
            let run = checked_command(source, run.span(), run.into_inner())?;
            Ok::<_, ConfigError>(GateCommand { run, kind, time_ms_max: time, in_project: false })
        };
        commands.extend(table.setup.map(|run| command(run, CommandKind::Setup)).transpose()?);
        for check in table.checks {
            commands.push(check_item(source, check, time)?);
        }
        let finds_tests = table.tests.as_ref().is_some_and(|tests| tests.get_ref() == AUTO);
        let tests = table.tests.filter(|tests| tests.get_ref() != AUTO);
        commands.extend(tests.map(|run| command(run, CommandKind::Tests)).transpose()?);
        let usual = || JUNIT.map(str::to_owned).to_vec();
        Ok(PhaseSetting {
            name,
            prompt: table.prompt.map(|prompt| checked_prompt(source, prompt)).transpose()?,
            agent: table.agent.map(|name| agent(source, agents, &name)).transpose()?,
            verifier: table.verifier.map_or(Ok(Choice::Unsaid), |name| choice(source, agents, &name))?,
            model: table.model,
            verifier_model: table.verifier_model,
            artifacts: table.artifacts.into_iter().map(|it| rule(source, it)).collect::<Result<_, _>>()?,
            keep: globs(table.keep)?,
            commands,
            find_tests_ms_max: finds_tests.then_some(time),
            junit: table.junit.map_or_else(|| Ok(usual()), globs)?,
            criteria: criteria(source, table.criteria)?,
            verifier_ms_max: verifier_time.unwrap_or(self.verifier_ms),
            rework_max: table.rework.map(|value| rework(source, &value)).transpose()?.unwrap_or(self.rework),
            questions_max: table.questions.unwrap_or(self.questions),
        })
    }

    /// All of it, with what nobody said.
    pub(super) fn finish(self) -> PhaseSettings {
        let usual = || PHASES.iter().map(|phase| self.usual(phase)).collect();
        let phases = self.phases.clone().unwrap_or_else(usual);
        PhaseSettings { agent: self.agent, verifier: self.verifier, confine: self.confine, phases }
    }

    fn usual(&self, phase: &defaults::Default) -> PhaseSetting {
        let documents = phase.documents.iter().map(document_rule);
        let files = phase.files.iter().map(|&(glob, min, changed)| Rule {
            glob: glob.to_owned(),
            min,
            max: None,
            sections: Vec::new(),
            changed,
            placeholders: false,
        });
        let keep = [TESTS, TEST_NAMES].map(str::to_owned);
        PhaseSetting {
            name: phase.name.to_owned(),
            prompt: None,
            agent: None,
            verifier: Choice::Unsaid,
            model: None,
            verifier_model: None,
            artifacts: documents.chain(files).collect(),
            keep: if phase.keeps_tests { keep.to_vec() } else { Vec::new() },
            commands: Vec::new(),
            find_tests_ms_max: phase.has_tests.then_some(self.time_ms),
            junit: JUNIT.map(str::to_owned).to_vec(),
            criteria: phase
                .criteria
                .iter()
                .map(|(id, text)| Criterion { id: (*id).to_owned(), text: (*text).to_owned() })
                .collect(),
            verifier_ms_max: self.verifier_ms,
            rework_max: self.rework,
            questions_max: self.questions,
        }
    }
}

fn document_rule(document: &Document) -> Rule {
    Rule {
        glob: document.path.to_owned(),
        min: 1,
        max: None,
        sections: document.sections.iter().map(|section| section.name.join("|")).collect(),
        changed: true,
        placeholders: true,
    }
}

fn agent(source: &Source, agents: &Agents, name: &Spanned<String>) -> Result<String, ConfigError> {
    if agents.get(name.get_ref()).is_none() {
        let message = format!("`{}` is no agent", name.get_ref());
        return Err(source.wrong(name.span(), message, agents.nearest(name.get_ref())));
    }
    Ok(name.get_ref().clone())
}

fn choice(source: &Source, agents: &Agents, name: &Spanned<String>) -> Result<Choice, ConfigError> {
    if name.get_ref() == NONE {
        return Ok(Choice::Nobody);
    }
    agent(source, agents, name).map(Choice::Agent)
}

fn rework(source: &Source, value: &Spanned<u32>) -> Result<u32, ConfigError> {
    if *value.get_ref() > REWORK_MAX {
        let message = format!("a phase goes back by itself at most {REWORK_MAX} times");
        return Err(source.wrong(value.span(), message, None));
    }
    Ok(*value.get_ref())
}

fn time_ms(source: &Source, value: &Spanned<String>) -> Result<u64, ConfigError> {
    let time = parse_duration(value.get_ref())
        .map_err(|error| source.wrong(value.span(), error.to_string(), None))?;
    Ok(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

fn checked_glob(source: &Source, value: &Spanned<String>) -> Result<String, ConfigError> {
    match glob::problem(value.get_ref()) {
        Some(why) => {
            let message = format!("`{}` is no glob that can be used: {why}", value.get_ref());
            Err(source.wrong(value.span(), message, None))
        }
        None => Ok(value.get_ref().clone()),
    }
}

fn rule(source: &Source, table: Spanned<ArtifactTable>) -> Result<Rule, ConfigError> {
    let span = table.span();
    let table = table.into_inner();
    let min = table.min.unwrap_or(1);
    if table.max.is_some_and(|max| max < min) {
        return Err(source.wrong(span, format!("there cannot be at least {min} and fewer"), None));
    }
    let glob = checked_glob(source, &table.glob)?;
    // Code may have a name for what is left to be done; a text may not.
    let is_text = [".md", ".txt", ".rst", ".adoc"].iter().any(|end| glob.ends_with(end));
    Ok(Rule {
        glob,
        min,
        max: table.max,
        sections: table.sections,
        changed: table.changed.unwrap_or(true),
        placeholders: table.placeholders.unwrap_or(is_text),
    })
}

fn check_item(
    source: &Source,
    item: Spanned<Item<CheckTable>>,
    usual_ms: u64,
) -> Result<GateCommand, ConfigError> {
    let span = item.span();
    let wrong = |message: String| source.wrong(span.clone(), message, None);
    let (run, time, place) = match item.into_inner() {
        Item::Words(run) => (run, None, None),
        Item::Table(CheckTable { run, time, place }) => (run, time, place),
    };
    let in_project = match place.as_deref() {
        None | Some("checkpoint") => false,
        Some("project") => true,
        Some(other) => {
            return Err(wrong(format!("unknown place `{other}`, expected `checkpoint` or `project`")));
        }
    };
    let time_ms_max = match time {
        Some(text) => {
            let time = parse_duration(&text).map_err(|error| wrong(error.to_string()))?;
            u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
        }
        None => usual_ms,
    };
    let run = checked_command(source, span.clone(), run)?;
    Ok(GateCommand { run, kind: CommandKind::Check, time_ms_max, in_project })
}

fn checked_command(source: &Source, span: Range<usize>, run: String) -> Result<String, ConfigError> {
    if run.trim().is_empty() || run.contains('\0') {
        return Err(source.wrong(span, "there is no command".to_owned(), None));
    }
    Ok(run)
}

/// A slip in one of the names in braces would reach the agent as it is.
fn checked_prompt(source: &Source, prompt: Spanned<String>) -> Result<String, ConfigError> {
    if let Some((unknown, nearest)) = prompt::mistaken_name(prompt.get_ref()) {
        let message = format!("`{{{unknown}}}` stands for nothing in a prompt");
        return Err(source.wrong(prompt.span(), message, Some(&format!("{{{nearest}}}"))));
    }
    Ok(prompt.into_inner())
}

/// Who is asked nothing in particular is asked whether it is what was wanted.
fn criteria(
    source: &Source,
    items: Vec<Spanned<Item<CriterionTable>>>,
) -> Result<Vec<Criterion>, ConfigError> {
    let mut criteria: Vec<Criterion> = Vec::with_capacity(items.len());
    for (number, item) in (1..).zip(items) {
        let span = item.span();
        let criterion = match item.into_inner() {
            Item::Words(text) => Criterion { id: format!("c{number}"), text },
            Item::Table(CriterionTable { id, text }) => Criterion { id, text },
        };
        if criterion.id.trim().is_empty() || criterion.text.trim().is_empty() {
            return Err(source.wrong(span, "a criterion has an id and a text".to_owned(), None));
        }
        if criteria.iter().any(|it| it.id == criterion.id) {
            let message =
                format!("there are two criteria `{}`: no verdict could name one of them", criterion.id);
            return Err(source.wrong(span, message, None));
        }
        criteria.push(criterion);
    }
    if criteria.is_empty() {
        let text = "The work of this phase is what the idea asks for, and it is complete.".to_owned();
        criteria.push(Criterion { id: "complete".to_owned(), text });
    }
    Ok(criteria)
}
