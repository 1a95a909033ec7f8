//! A project as its own files describe it: the stack with evidence, the context files, and what an agent is told of them.
//!
//! Everything read here was written by other people: sizes, depths and counts are bounded, links are not followed, and
//! nothing that is found is run. Only the four context files are written. This crate knows nothing of git, the server or the database. How a stack is recognised
//! stands in `docs/project.md`.

mod agent_context;
mod context_draft;
mod context_file;
mod detection;
mod first_run;
mod lines;
mod manifest;
mod role_template;
mod technology;
mod template_tree;
mod tree;
mod version;

pub use agent_context::{AgentContext, CONTEXT_TOKENS_MAX, LeftOutSection, estimated_tokens};
pub use context_draft::{ContextAnswers, ProjectStatus, context_draft};
pub use context_file::{
    CONTEXT_BYTES_MAX, ContextDirectory, ContextDocument, ContextFile, ContextFileError, ContextLanguage,
    ContextSection, ContextState, write_new_file,
};
pub use detection::{Evidence, StackDetection, StackFinding, UnreadManifest, WhyUnread};
pub use first_run::{HistoryFacts, HistoryStep};
pub use role_template::{RoleTemplate, role_templates};
pub use technology::{Ecosystem, StackSection, Technology, technologies};
pub use template_tree::{has_template_files, last_segment, looks_secret, settings_name};
pub use version::StackVersion;
