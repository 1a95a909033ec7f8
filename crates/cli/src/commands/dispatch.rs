//! `ostler dispatch --plan`: the roles that a request needs, and why.

use clap::Args;
use ostler_engine::dispatch::{DispatchFacts, DispatchPlan, DispatchRules, RequestText, analyse, outline};

use ostler_project::{StackDetection, StackSection};
use ostler_server::config::project_root;
use ostler_skills::{Known, SkillFacts, SkillSet, skill_for};

use crate::{
    context::{Context, directory},
    error::Error,
    exit::Exit,
    screen::{Screen, Style},
    words::{Key, Language, Words},
};

/// Show which roles a request needs, who waits for whom, and why.
///
/// The rules read Korean and English. They start nothing, ask nothing and need no server. A project adds to them in the
/// table `dispatch` of its ostler.toml.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ostler dispatch --plan \"add a dark mode\"\n  ostler dispatch --plan --json \"로그인 기능 구현해줘\""
)]
pub(crate) struct Arguments {
    /// The request, in your own words.
    #[arg(value_name = "REQUEST", required = true)]
    request: Vec<String>,
    /// Show the plan and start nothing.
    #[arg(long, required = true)]
    plan: bool,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let request = arguments.request.join(" ");
    let rules = DispatchRules::with_files(&context.config()?.dispatch)
        .expect("a configuration is read only with rules that can be used");
    let here = directory()?;
    let root = project_root(&here).unwrap_or(here);
    let unreadable = |source| Error::Input { path: Some(root.clone()), source };
    let skills = SkillSet::read(&root).map_err(unreadable)?.skills;
    let detection = StackDetection::of(&root).map_err(unreadable)?;
    let (facts, known) = facts(&detection);
    let plan = analyse(&request, &rules, &facts, |text| skill_for(text, &rules, known, &skills));
    // The plan is in the language of the request, and so is what stands around it.
    let is_korean = RequestText::read(&request).is_korean();
    let words = if is_korean { Words::new(Language::Ko) } else { context.words };
    context.print(&plan, |screen| shown(words, screen, &plan))?;
    Ok(Exit::Done)
}

/// Reads the facts of dispatch and skills from the manifests of the project. Without manifests they are unknown.
fn facts(detection: &StackDetection) -> (DispatchFacts, SkillFacts) {
    let has = |section| detection.findings.iter().any(|it| it.section == section && !it.is_dev);
    let known = |section| match (detection.is_empty(), has(section)) {
        (true, _) => Known::Unknown,
        (false, true) => Known::Yes,
        (false, false) => Known::No,
    };
    let facts = DispatchFacts {
        has_backend: has(StackSection::Backend),
        has_frontend: has(StackSection::Frontend),
        test_command: None,
    };
    (facts, SkillFacts { backend: known(StackSection::Backend), database: known(StackSection::Database) })
}

fn shown(words: Words, screen: Screen, plan: &DispatchPlan) -> String {
    let mut said = String::new();
    let lines = outline(plan, words.language() == Language::Ko);
    let head = if lines.is_empty() { Key::DispatchNoAgents } else { Key::DispatchOutline };
    screen.add_text(&mut said, 0, Style::Plain, words.sentence(head));
    for line in &lines {
        screen.add_text(&mut said, 2, Style::Plain, line);
    }
    for ask in &plan.asks {
        screen.add_text(&mut said, 0, Style::Bold, &ask.question);
        for option in &ask.options {
            screen.add_text(&mut said, 2, Style::Plain, &format!("- {option}"));
        }
    }
    screen.add_text(&mut said, 0, Style::Dim, words.sentence(Key::DispatchWhy));
    for reason in &plan.why {
        screen.add_text(&mut said, 2, Style::Dim, &reason.text);
    }
    said
}
