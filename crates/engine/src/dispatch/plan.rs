//! The plan that a request becomes: agents with their work, who waits for whom, what is unclear, and why.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, Serialize};

use super::{
    intent::{Intent, Reading, intent},
    role::{Role, Stage},
    roles::{ChosenRoles, choose, is_simple},
    rules::DispatchRules,
    sentences::{Sentences, ask_goal, ask_subject},
    text::{RequestText, WordForm},
};

/// From this many agents on, a person agrees to the plan first.
const CONFIRM_FROM: usize = 3;

/// What is known of the project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DispatchFacts {
    /// Whether its stack names a backend.
    pub has_backend: bool,
    /// Whether its stack names a frontend.
    pub has_frontend: bool,
    /// The command that runs its tests.
    pub test_command: Option<String>,
}

/// How much work a request is, by its number of agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Complexity {
    /// No agent.
    Simple,
    /// One or two.
    Small,
    /// Three to five.
    Medium,
    /// Six or more.
    Large,
}

impl Complexity {
    fn of(agents: usize) -> Complexity {
        match agents {
            0 => Complexity::Simple,
            1 | 2 => Complexity::Small,
            3..=5 => Complexity::Medium,
            _ => Complexity::Large,
        }
    }
}

/// One agent of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedAgent {
    /// The role.
    pub agent: Role,
    /// The work, in a sentence.
    pub work: String,
    /// Positions of the agents that come first.
    pub after: Vec<usize>,
    /// Globs of the files that the agent may change.
    pub scope: Vec<String>,
    /// The command that proves the work.
    pub check: Option<String>,
    /// The model.
    pub model: String,
    /// When the work is done, in a sentence.
    pub done: String,
}

/// Something that the rules cannot decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanQuestion {
    /// A name for the answer.
    pub id: String,
    /// The question.
    pub question: String,
    /// What can be answered; anything if it is empty.
    pub options: Vec<String>,
    /// What holds without an answer.
    pub default: Option<String>,
}

/// A rule that decided something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanReason {
    /// Its name.
    pub rule: String,
    /// The rule in words.
    pub text: String,
}

/// What a request becomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DispatchPlan {
    /// What kind of work it is.
    pub intent: Intent,
    /// How much work it is.
    pub complexity: Complexity,
    /// The skill that gave the agents.
    pub skill: Option<String>,
    /// What the skill read from the request.
    pub parameters: BTreeMap<String, String>,
    /// The agents in the order in which they are shown.
    pub agents: Vec<PlannedAgent>,
    /// What a person has to clear up first.
    pub asks: Vec<PlanQuestion>,
    /// Whether a person agrees to the plan before anything starts.
    pub confirm: bool,
    /// The rules that decided.
    pub why: Vec<PlanReason>,
}

/// The skill that a request asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChosenSkill {
    /// Its name.
    pub name: String,
    /// The roles of its workflow.
    pub roles: BTreeSet<Role>,
    /// What it reads from the request, by name.
    pub parameters: BTreeMap<String, String>,
    /// What it needs and does not know.
    pub asks: Vec<PlanQuestion>,
}

/// Makes a plan of a request. `skill` is asked only for a request that skills are for, and answers with the one that fires.
pub fn analyse(
    request: &str,
    rules: &DispatchRules,
    facts: &DispatchFacts,
    skill: impl FnOnce(&RequestText) -> Option<ChosenSkill>,
) -> DispatchPlan {
    let text = RequestText::read(request);
    let reading = Reading::of(&text, rules);
    let (found, rule) = intent(&reading);
    // A typo or one value is no fault and no feature, whatever its verb is.
    let is_small = matches!(found, Intent::Feature | Intent::Bug) && is_simple(&reading);
    let intent = if is_small { Intent::Other } else { found };
    let skill = (intent == Intent::Feature).then(|| skill(&text)).flatten();
    let ChosenRoles { roles, rules: chosen_by } =
        choose(&reading, intent, facts, skill.as_ref().map(|it| &it.roles));
    let skill = skill.filter(|_| chosen_by.contains(&"skill"));
    let sentences = Sentences::of(&text, request);
    let agents = agents(&roles, rules, facts, &sentences);
    let mut why = alloc::vec![sentences.why(rule, &reading)];
    why.extend(chosen_by.iter().filter(|it| **it != rule).map(|rule| sentences.why(rule, &reading)));
    why.dedup_by(|one, other| one.rule == other.rule);
    let mut asks = asks(&reading, intent, &text);
    let ChosenSkill { name, parameters, asks: of_skill, .. } = skill.clone().unwrap_or_default();
    asks.extend(of_skill);
    DispatchPlan {
        intent,
        complexity: Complexity::of(agents.len()),
        skill: skill.map(|_| name),
        parameters,
        confirm: agents.len() >= CONFIRM_FROM,
        agents,
        asks,
        why,
    }
}

/// What is unclear: a request that names a thing and no work, or work and no thing.
fn asks(reading: &Reading<'_>, intent: Intent, text: &RequestText) -> Vec<PlanQuestion> {
    let is_korean = text.is_korean();
    if text.words.is_empty() {
        return alloc::vec![ask_goal(is_korean)];
    }
    if matches!(intent, Intent::Research) {
        return Vec::new();
    }
    if reading.verbs.is_empty() {
        let is_clear = matches!(intent, Intent::Bug | Intent::Tests | Intent::Review);
        return if is_clear { Vec::new() } else { alloc::vec![ask_goal(is_korean)] };
    }
    let of_verbs: BTreeSet<usize> = reading.verbs.iter().flat_map(|verb| verb.at..=verb.last).collect();
    let names_something = text.words.iter().enumerate().any(|(at, word)| {
        !of_verbs.contains(&at)
            && !word.is_negated
            && (word.form != WordForm::Plain || is_content(&word.text))
    });
    let of_verb = reading
        .verbs
        .iter()
        .any(|verb| text.words[verb.at].is_korean() && text.words[verb.at].text.chars().count() > 5);
    let needs_subject = matches!(intent, Intent::Feature | Intent::Bug | Intent::Refactor);
    if needs_subject && !names_something && !of_verb {
        alloc::vec![ask_subject(is_korean)]
    } else {
        Vec::new()
    }
}

/// Words that name nothing.
fn is_content(word: &str) -> bool {
    const EMPTY: [&str; 44] = [
        "it",
        "this",
        "that",
        "please",
        "the",
        "a",
        "an",
        "some",
        "something",
        "stuff",
        "things",
        "thing",
        "them",
        "these",
        "those",
        "can",
        "you",
        "could",
        "and",
        "i",
        "to",
        "me",
        "now",
        "just",
        "want",
        "need",
        "would",
        "like",
        "좀",
        "이거",
        "이것",
        "그거",
        "저거",
        "그것",
        "빨리",
        "줘",
        "주세요",
        "해줘",
        "해주세요",
        "다시",
        "한번",
        "모두",
        "전부",
        "제발",
    ];
    !EMPTY.contains(&word)
}

fn agents(
    chosen: &BTreeSet<Role>,
    rules: &DispatchRules,
    facts: &DispatchFacts,
    sentences: &Sentences<'_>,
) -> Vec<PlannedAgent> {
    let order: Vec<Role> = chosen.iter().copied().collect();
    let check = |role: Role| (role == Role::UnitTester).then(|| facts.test_command.clone()).flatten();
    let agent = |role: &Role| PlannedAgent {
        agent: *role,
        work: sentences.work(*role),
        after: after(*role, &order),
        scope: rules.scopes.get(role).cloned().unwrap_or_default(),
        check: check(*role),
        model: rules.models.get(role).cloned().unwrap_or_else(|| "inherit".to_string()),
        done: sentences.done(*role, facts.test_command.as_deref()),
    };
    order.iter().map(agent).collect()
}

/// The positions of the agents that come directly before a role: those it waits for, without those that another of them
/// waits for anyway.
fn after(role: Role, order: &[Role]) -> Vec<usize> {
    let waits: Vec<Role> = role.waits_for().iter().copied().filter(|it| order.contains(it)).collect();
    let is_direct = |it: &Role| !waits.iter().any(|other| other.waits_for().contains(it));
    let direct = waits.iter().filter(|it| is_direct(it));
    direct.filter_map(|it| order.iter().position(|other| other == it)).collect()
}

impl DispatchPlan {
    /// The waves of a stage: the agents that run at the same time, in order.
    pub(super) fn waves(&self, stage: Stage) -> Vec<Vec<Role>> {
        let mut left: Vec<usize> =
            (0..self.agents.len()).filter(|at| self.agents[*at].agent.stage() == stage).collect();
        let mut waves = Vec::new();
        while !left.is_empty() {
            let is_free = |at: &usize| !self.agents[*at].after.iter().any(|it| left.contains(it));
            let (free, rest): (Vec<usize>, Vec<usize>) = left.iter().copied().partition(is_free);
            if free.is_empty() {
                break;
            }
            waves.push(free.iter().map(|at| self.agents[*at].agent).collect());
            left = rest;
        }
        waves
    }
}
