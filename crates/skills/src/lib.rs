//! Reads skills: Markdown files that say for which requests they are meant, what they need, and which agents do the work.
//!
//! [`SkillFile::read`] reads the text of one, in Korean or English headings; [`SkillSet::read`] reads those of a project
//! in both layouts and adds the built-in ones. Reading a text needs no file and no clock.
//!
//! [`judge`] says for a request which skill fires, which does not and why; [`skill_for`] gives the plan what the skill brings.
//!
//! It runs nothing, writes nothing, and follows no link.

mod built_in;
mod front_matter;
mod headings;
mod matching;
mod phrase;
mod set;
mod skill_file;
mod workflow;

pub use matching::{
    Known, SkillFacts, SkillMatch, SkillReason, SkillVerdict, judge, match_request, skill_for,
};
pub use set::{LeftOutSkill, SKILLS_MAX, Skill, SkillOrigin, SkillSet};
pub use skill_file::{
    ParameterDefault, SKILL_BYTES_MAX, SkillExclusion, SkillFile, SkillParameter, SkillRule, WordGroup,
};
pub use workflow::{StepTask, WorkflowStep};
