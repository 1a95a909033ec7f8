//! What a phases run is going to do. It is made once, before the run begins, and nothing changes it afterwards.

use alloc::{boxed::Box, string::String, vec::Vec};

use ostler_agents::Agent;
use serde::{Deserialize, Serialize};

use crate::session::{Order, Role};

/// All that is known beforehand.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What a person wants, in their words.
    pub idea: String,
    /// What all of its sessions have in common.
    pub common: Box<Order>,
    /// Those who work and verify.
    pub agents: Vec<PlannedAgent>,
    /// The phases in their order.
    pub phases: Vec<PhasePlan>,
    /// Whether verifiers are kept from writing elsewhere, where the kernel can do that.
    pub confine: bool,
}

/// An agent as it was when the run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedAgent {
    /// How its CLI is used.
    pub agent: Agent,
    /// Where its environment is kept.
    pub environment: String,
    /// Whose allowance it uses.
    pub account: Option<String>,
}

/// One phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhasePlan {
    /// What people call it.
    pub name: String,
    /// What its agent is told.
    pub prompt: String,
    /// Which of the agents works.
    pub agent: usize,
    /// The model, where one was named.
    pub model: Option<String>,
    /// The word that makes the agent's tags trustworthy.
    pub nonce: String,
    /// The id for its conversation.
    pub conversation: String,
    /// What it has to produce.
    pub artifacts: Vec<Rule>,
    /// Files that may not go away, as globs.
    pub keep: Vec<String>,
    /// What is run, in this order.
    pub commands: Vec<GateCommand>,
    /// Whether the project's tests are run, by the command that is found when it comes to that; how long they may take.
    pub find_tests_ms_max: Option<u64>,
    /// Where tests write their results, as globs.
    pub junit: Vec<String>,
    /// Who looks at it.
    pub verifier: Option<Verifier>,
    /// How often it goes back by itself.
    pub rework_max: u32,
    /// How many questions are recommended at most.
    pub questions_max: u32,
}

/// Files that a phase has to produce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Which.
    pub glob: String,
    /// How many at least.
    pub min: u32,
    /// How many at most.
    pub max: Option<u32>,
    /// What each has to have a section about; `|` between names for the same.
    pub sections: Vec<String>,
    /// Whether one of them has to be changed since the phase began.
    pub changed: bool,
    /// Whether placeholders are looked for.
    pub placeholders: bool,
}

/// A command that is run at a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateCommand {
    /// For the shell.
    pub run: String,
    /// What for.
    pub kind: CommandKind,
    /// How long it may take.
    pub time_ms_max: u64,
    /// Whether it runs in the project's directory and not in a checkout of its own.
    pub in_project: bool,
}

/// What a command is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandKind {
    /// The others need it.
    Setup,
    /// It says whether something is so.
    Check,
    /// It runs the project's tests.
    Tests,
}

/// Who looks at the work of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verifier {
    /// Which of the agents.
    pub agent: usize,
    /// The model, where one was named.
    pub model: Option<String>,
    /// What it is asked.
    pub criteria: Vec<Criterion>,
    /// How long it may take.
    pub time_ms_max: u64,
}

/// Something that has to be so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Criterion {
    /// Its name.
    pub id: String,
    /// In words.
    pub text: String,
}

impl Plan {
    /// A phase by its number, from 1.
    pub fn phase(&self, number: u32) -> Option<&PhasePlan> {
        self.phases.get(usize::try_from(number.checked_sub(1)?).ok()?)
    }

    /// What the agent of a phase is to do.
    pub fn order(&self, number: u32) -> Option<Order> {
        let phase = self.phase(number)?;
        let mut order = self.order_of(phase.agent, phase.model.clone())?;
        order.prompt.clone_from(&phase.prompt);
        order.nonce = Some(phase.nonce.clone());
        order.new_conversation.clone_from(&phase.conversation);
        order.role = Role::Phase { phase: number };
        Some(order)
    }

    /// What the verifier of a phase is to do; where, and under which words, is not known beforehand.
    pub fn verification(&self, number: u32) -> Option<Order> {
        let verifier = self.phase(number)?.verifier.as_ref()?;
        let mut order = self.order_of(verifier.agent, verifier.model.clone())?;
        let (time_ms_max, project) = (verifier.time_ms_max, order.directory.clone());
        order.role = Role::Verify { time_ms_max, confined: self.confine, project };
        // It is asked nothing, and nobody is asked by it.
        (order.guide, order.channel, order.checkpoints) = (false, false, None);
        Some(order)
    }

    fn order_of(&self, agent: usize, model: Option<String>) -> Option<Order> {
        let planned = self.agents.get(agent)?;
        let mut order = (*self.common).clone();
        order.agent = planned.agent.clone();
        order.environment.clone_from(&planned.environment);
        order.account.clone_from(&planned.account);
        order.model = model;
        Some(order)
    }
}
