//! `ostler skills`: what a project can do by a known way, and which requests mean it.

use clap::{Args, Subcommand};
use ostler_server::config::project_root;
use ostler_skills::{Skill, SkillMatch, SkillReason, SkillSet, SkillVerdict, match_request};
use serde_json::{Value, json};

use crate::{
    context::{Context, directory},
    error::{Error, Message},
    exit::Exit,
    screen::{Cell, Style, add_line, one_line},
    words::{Key, Words},
};

/// Show the skills of this project, and which of them a request means.
///
/// A skill is a file .claude/skills/NAME.md or .claude/skills/NAME/SKILL.md; three are built in. The format:
/// docs/skills.md.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the skills, and the files that are none, with the reason.
    List,
    /// Print a skill.
    Show(ShowArguments),
    Match(MatchArguments),
}

#[derive(Args)]
struct ShowArguments {
    /// The skill.
    #[arg(value_name = "NAME")]
    name: String,
}

/// Say which skill a request means, and why the others do not fire.
///
/// Nothing is started. The exit code is 1 if no skill fires.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ostler skills match \"로그인 기능 구현해줘\"\n  ostler skills match \"Add product CRUD\" --json"
)]
struct MatchArguments {
    /// The request, in words.
    #[arg(value_name = "REQUEST")]
    request: String,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let here = directory()?;
    let root = project_root(&here).unwrap_or(here);
    let set = SkillSet::read(&root).map_err(|source| Error::Input { path: Some(root.clone()), source })?;
    match &arguments.command {
        Command::List => list(context, &set),
        Command::Show(arguments) => show(context, &set, &arguments.name),
        Command::Match(arguments) => explain(context, &set, &arguments.request),
    }
}

fn list(context: &Context, set: &SkillSet) -> Result<Exit, Error> {
    let left_out =
        set.left_out.iter().map(|it| json!({ "path": it.path.to_string_lossy(), "reason": it.reason }));
    let value = json!({
        "skills": set.skills.iter().map(value_of).collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
    });
    let row = |skill: &Skill| {
        let use_key = if skill.file.can_fire() { Key::SkillForRequests } else { Key::SkillForAgents };
        vec![
            Cell::styled(Style::Bold, &one_line(&skill.name)),
            Cell::new(context.words.sentence(use_key)),
            Cell::styled(Style::Dim, &one_line(&skill.origin.to_string())),
            Cell::new(&one_line(&skill.file.description)),
        ]
    };
    context.print(&value, |screen| screen.columns(&set.skills.iter().map(row).collect::<Vec<_>>()))?;
    for left in &set.left_out {
        let (file, why) = (one_line(&left.path.to_string_lossy()), one_line(&left.reason));
        context.note(&context.words.say(Key::SkillLeftOut, &[("file", &file), ("why", &why)]));
    }
    Ok(Exit::Done)
}

fn show(context: &Context, set: &SkillSet, name: &str) -> Result<Exit, Error> {
    let skill = set.get(name).ok_or_else(|| Error::NotFound {
        message: Message::new(Key::NoSuchSkill).with("name", &one_line(name)),
        hint: Message::new(Key::HintSkills),
    })?;
    context.print(&value_of(skill), |_| {
        let mut said = String::new();
        for line in skill.text.lines() {
            add_line(&mut said, 0, &one_line(line));
        }
        said
    })?;
    Ok(Exit::Done)
}

fn explain(context: &Context, set: &SkillSet, request: &str) -> Result<Exit, Error> {
    let SkillMatch { chosen, verdicts } = match_request(request, &set.skills);
    let fires = chosen.is_some();
    let chosen = chosen.unwrap_or_default();
    let value = json!({
        "skill": fires.then_some(&chosen.name),
        "parameters": chosen.parameters,
        "asks": chosen.asks,
        "verdicts": verdicts.iter().map(verdict_value).collect::<Vec<_>>(),
    });
    let words = context.words;
    context.print(&value, |screen| {
        let mut said = screen.columns(&verdicts.iter().map(|it| row(words, it)).collect::<Vec<_>>());
        for (name, value) in &chosen.parameters {
            add_line(&mut said, 2, &one_line(&format!("{name}: {value}")));
        }
        for ask in &chosen.asks {
            add_line(&mut said, 2, &one_line(&ask.question));
        }
        said
    })?;
    Ok(if fires { Exit::Done } else { Exit::Failed })
}

fn row(words: Words, verdict: &SkillVerdict) -> Vec<Cell> {
    let (mark, style) = if verdict.fires { ("✓", Style::Good) } else { ("·", Style::Dim) };
    vec![
        Cell::styled(style, mark),
        Cell::styled(Style::Bold, &one_line(&verdict.name)),
        Cell::new(&one_line(&reason(words, &verdict.reason))),
        Cell::styled(Style::Dim, &one_line(&verdict.keywords.join(", "))),
    ]
}

fn reason(words: Words, reason: &SkillReason) -> String {
    match reason {
        SkillReason::Fires => words.sentence(Key::SkillFires).to_owned(),
        SkillReason::Tied { with } => words.say(Key::SkillTied, &[("others", &with.join(", "))]),
        SkillReason::OtherWork { intent } => words.say(Key::SkillOtherWork, &[("intent", intent)]),
        SkillReason::InjectionOnly => words.sentence(Key::SkillInjectionOnly).to_owned(),
        SkillReason::NoKeyword => words.sentence(Key::SkillNoKeyword).to_owned(),
        SkillReason::NotAskedFor { word } => words.say(Key::SkillNotAskedFor, &[("word", word)]),
        SkillReason::RuleUnmet { group } => words.say(Key::SkillRuleUnmet, &[("group", group)]),
        SkillReason::Forbidden { word } => words.say(Key::SkillForbidden, &[("word", word)]),
        SkillReason::Excluded { case, target: None } => words.say(Key::SkillExcluded, &[("case", case)]),
        SkillReason::Excluded { case, target: Some(target) } => {
            words.say(Key::SkillExcludedFor, &[("case", case), ("target", target)])
        }
        SkillReason::FewerKeywords { than } => words.say(Key::SkillFewerKeywords, &[("other", than)]),
    }
}

fn verdict_value(verdict: &SkillVerdict) -> Value {
    let reason = match &verdict.reason {
        SkillReason::Fires => json!({ "kind": "fires" }),
        SkillReason::Tied { with } => json!({ "kind": "tied", "with": with }),
        SkillReason::OtherWork { intent } => json!({ "kind": "other_work", "intent": intent }),
        SkillReason::InjectionOnly => json!({ "kind": "injection_only" }),
        SkillReason::NoKeyword => json!({ "kind": "no_keyword" }),
        SkillReason::NotAskedFor { word } => json!({ "kind": "not_asked_for", "word": word }),
        SkillReason::RuleUnmet { group } => json!({ "kind": "rule_unmet", "group": group }),
        SkillReason::Forbidden { word } => json!({ "kind": "forbidden", "word": word }),
        SkillReason::Excluded { case, target } => {
            json!({ "kind": "excluded", "case": case, "target": target })
        }
        SkillReason::FewerKeywords { than } => json!({ "kind": "fewer_keywords", "than": than }),
    };
    json!({ "name": verdict.name, "fires": verdict.fires, "keywords": verdict.keywords, "reason": reason })
}

fn value_of(skill: &Skill) -> Value {
    let file = &skill.file;
    let steps = file.workflow.iter().map(|step| {
        let tasks = step.tasks.iter().map(|task| json!({ "agent": task.role, "work": task.work }));
        json!({ "title": step.title, "tasks": tasks.collect::<Vec<_>>() })
    });
    json!({
        "name": skill.name,
        "origin": skill.origin.to_string(),
        "description": file.description,
        "keywords": file.keywords,
        "rules": file.prose,
        "examples": file.examples,
        "preconditions": file.preconditions,
        "parameters": file.parameters.iter().map(|it| &it.name).collect::<Vec<_>>(),
        "workflow": steps.collect::<Vec<_>>(),
    })
}
