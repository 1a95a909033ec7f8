//! The roles among which a request is divided, and what comes after what.

use serde::{Deserialize, Serialize};

/// A role, in the order in which roles are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names of the roles say what they are")]
pub enum Role {
    Researcher,
    Analyst,
    Pm,
    Planner,
    Designer,
    Dba,
    Frontend,
    Backend,
    AiServer,
    Executor,
    UnitTester,
    IntegrationTester,
    CodeReviewer,
    Architect,
}

/// The part of the work that a role belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Looking at what is there and what is wanted.
    Analysis,
    /// Deciding how.
    Design,
    /// Making it.
    Implementation,
    /// Proving it.
    Verification,
}

impl Role {
    /// The name that agents, files and people use.
    pub fn name(self) -> &'static str {
        match self {
            Role::Researcher => "researcher",
            Role::Analyst => "analyst",
            Role::Pm => "pm",
            Role::Planner => "planner",
            Role::Designer => "designer",
            Role::Dba => "dba",
            Role::Frontend => "frontend",
            Role::Backend => "backend",
            Role::AiServer => "ai-server",
            Role::Executor => "executor",
            Role::UnitTester => "unit-tester",
            Role::IntegrationTester => "integration-tester",
            Role::CodeReviewer => "code-reviewer",
            Role::Architect => "architect",
        }
    }

    /// The stage of the role.
    pub fn stage(self) -> Stage {
        match self {
            Role::Researcher | Role::Analyst | Role::Pm => Stage::Analysis,
            Role::Planner | Role::Designer => Stage::Design,
            Role::Dba | Role::Frontend | Role::Backend | Role::AiServer | Role::Executor => {
                Stage::Implementation
            }
            Role::UnitTester | Role::IntegrationTester | Role::CodeReviewer | Role::Architect => {
                Stage::Verification
            }
        }
    }

    /// The roles that a role directly waits for, if they take part.
    pub(super) fn waits_for(self) -> &'static [Role] {
        use Role::{
            AiServer, Analyst, Architect, Backend, CodeReviewer, Dba, Designer, Executor, Frontend,
            IntegrationTester, Planner, Pm, Researcher, UnitTester,
        };
        match self {
            Researcher | Analyst => &[],
            Pm => &[Researcher, Analyst],
            Planner | Designer => &[Researcher, Analyst, Pm],
            Dba => &[Researcher, Analyst, Pm, Planner],
            Frontend | Executor => &[Researcher, Analyst, Pm, Planner, Designer, Dba],
            Backend | AiServer => &[Researcher, Analyst, Pm, Planner, Dba],
            UnitTester => {
                &[Researcher, Analyst, Pm, Planner, Designer, Dba, Frontend, Backend, AiServer, Executor]
            }
            IntegrationTester => &[
                Researcher, Analyst, Pm, Planner, Designer, Dba, Frontend, Backend, AiServer, Executor,
                UnitTester,
            ],
            CodeReviewer => &[
                Researcher,
                Analyst,
                Pm,
                Planner,
                Designer,
                Dba,
                Frontend,
                Backend,
                AiServer,
                Executor,
                UnitTester,
                IntegrationTester,
            ],
            Architect => &[
                Researcher,
                Analyst,
                Pm,
                Planner,
                Designer,
                Dba,
                Frontend,
                Backend,
                AiServer,
                Executor,
                UnitTester,
                IntegrationTester,
                CodeReviewer,
            ],
        }
    }
}
