//! From a request in words to a plan: what kind of work it is, which roles do it, and who waits for whom.
//!
//! Nothing here asks a model. The rules are data (`dispatch/rules.toml`), a project may add to them, and the plan says
//! which rule decided what.

mod intent;
mod lexicon;
mod marks;
mod outline;
mod plan;
mod role;
mod roles;
mod rules;
mod sentences;
mod text;

pub use self::{
    intent::Intent,
    lexicon::Lexicon,
    outline::outline,
    plan::{
        ChosenSkill, Complexity, DispatchFacts, DispatchPlan, PlanQuestion, PlanReason, PlannedAgent, analyse,
    },
    role::{Role, Stage},
    rules::{DispatchRules, RulesError},
    text::{RequestText, Sentence, Word, WordForm},
};
