//! `ostler context`: what Ostler knows of a project by its files.

use clap::{Args, Subcommand};
use ostler_project::{
    AgentContext, CONTEXT_TOKENS_MAX, ContextDirectory, ContextFile, ContextState, StackDetection,
    StackFinding, StackSection, WhyUnread,
};
use ostler_server::config::project_root;
use ostler_workspace::Repository;
use serde_json::json;

use crate::{
    context::{Context, directory},
    error::Error,
    exit::Exit,
    screen::{Cell, Screen, Style, add_line, one_line, visible},
    words::{Key, Words},
};

/// How many places are shown for one finding; `--json` has them all.
const EVIDENCE_SHOWN_MAX: usize = 3;

/// Show what Ostler knows of this project: its stack with the lines that prove it, and what agents are told.
///
/// The commands only read. docs/project.md lists what they recognise.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Detect the stack from manifests, lock files, configurations and directories.
    Detect,
    /// Show the four context files, and the text that agents are told, with its length in tokens.
    Show,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    match arguments.command {
        Command::Detect => detect(context),
        Command::Show => show(context),
    }
}

fn detect(context: &Context) -> Result<Exit, Error> {
    let here = directory()?;
    let root = project_root(&here).unwrap_or(here);
    let detection =
        StackDetection::of(&root).map_err(|source| Error::Input { path: Some(root.clone()), source })?;
    context.print(&detection, |screen| shown(context.words, screen, &detection))?;
    Ok(Exit::Done)
}

/// Shows the context files and the text that agents get. A worktree shows those of the main checkout.
fn show(context: &Context) -> Result<Exit, Error> {
    let here = directory()?;
    let repository = Repository::find(&here).map_err(|error| super::init::refused(&error))?;
    let root = repository.map_or_else(
        || project_root(&here).unwrap_or_else(|| here.clone()),
        |it| it.main_root().to_path_buf(),
    );
    let (told, files, words) = (AgentContext::of(&root), ContextDirectory::of(&root), context.words);
    let states: Vec<(&str, Option<ContextState>)> = ContextFile::ALL
        .iter()
        .map(|file| (file.name(), files.read(*file).ok().map(|it| it.state)))
        .collect();
    let rows = states.iter().map(|(name, state)| json!({ "file": name, "state": state }));
    let value = json!({ "root": root, "files": rows.collect::<Vec<_>>(), "told": told });
    context.print(&value, |screen| {
        let rows: Vec<Vec<Cell>> = states
            .iter()
            .map(|(name, state)| vec![Cell::new(name), Cell::new(words.sentence(state_word(*state)))])
            .collect();
        let mut said = screen.columns(&rows);
        for message in &told.unread {
            said.push_str(&screen.text(&one_line(message)));
        }
        if told.text.is_empty() {
            said.push_str(&screen.text(words.sentence(Key::ContextTellsNothing)));
            return said;
        }
        let values: &[(&str, &dyn std::fmt::Display)] =
            &[("tokens", &told.tokens), ("max", &CONTEXT_TOKENS_MAX)];
        said.push_str(&screen.text(&words.say(Key::ContextTold, values)));
        for line in told.text.lines() {
            add_line(&mut said, 2, &visible(line));
        }
        for section in &told.left_out {
            let values: &[(&str, &dyn std::fmt::Display)] =
                &[("file", &section.file.name()), ("heading", &one_line(&section.heading))];
            said.push_str(&screen.text(&words.say(Key::ContextLeftOut, values)));
        }
        said
    })?;
    Ok(Exit::Done)
}

fn state_word(state: Option<ContextState>) -> Key {
    match state {
        Some(ContextState::Filled) => Key::ContextFilled,
        Some(ContextState::Template) => Key::ContextTemplate,
        Some(ContextState::Missing) => Key::ContextMissing,
        Some(ContextState::Foreign) => Key::ContextForeign,
        None => Key::ContextUnusable,
    }
}

/// A line for each finding with its evidence, then what is not known.
pub(super) fn shown(words: Words, screen: Screen, detection: &StackDetection) -> String {
    if detection.is_empty() {
        return screen.text(words.sentence(Key::StackNothing));
    }
    let rows: Vec<Vec<Cell>> = detection.findings.iter().map(|finding| row(words, finding)).collect();
    let mut said = screen.columns_around(1, &rows);
    for unread in &detection.unread {
        let (file, why) = (one_line(&unread.file), why_unread(words, unread.why));
        said.push_str(&screen.text(&words.say(Key::StackUnread, &[("file", &file), ("why", &why)])));
    }
    for (section, key) in detection.unclear() {
        let section = section_name(words, section);
        said.push_str(&screen.text(&words.say(Key::StackUnclear, &[("section", &section), ("key", &key)])));
    }
    if detection.is_cut {
        said.push_str(&screen.text(words.sentence(Key::StackCut)));
    }
    said
}

fn row(words: Words, finding: &StackFinding) -> Vec<Cell> {
    let evidence = finding.evidence.iter().take(EVIDENCE_SHOWN_MAX).map(ToString::to_string);
    let more = (finding.evidence.len() > EVIDENCE_SHOWN_MAX).then(|| "…".to_owned());
    let evidence: Vec<String> = evidence.chain(more).collect();
    let place = match finding.section {
        StackSection::Layout => section_name(words, finding.section).to_owned(),
        section => format!("{}: {}", section_name(words, section), finding.key),
    };
    vec![
        Cell::new(&place),
        Cell::styled(Style::Bold, &one_line(&finding.value())),
        Cell::styled(Style::Dim, &one_line(&evidence.join(", "))),
    ]
}

pub(super) fn section_name(words: Words, section: StackSection) -> &'static str {
    words.sentence(match section {
        StackSection::Frontend => Key::SectionFrontend,
        StackSection::Backend | StackSection::Either => Key::SectionBackend,
        StackSection::Database => Key::SectionDatabase,
        StackSection::Ai => Key::SectionAi,
        StackSection::Infrastructure => Key::SectionInfrastructure,
        StackSection::PackageManager => Key::SectionPackages,
        StackSection::Testing => Key::SectionTesting,
        StackSection::Style => Key::SectionStyle,
        StackSection::Git => Key::SectionGit,
        StackSection::Layout => Key::SectionLayout,
    })
}

fn why_unread(words: Words, why: WhyUnread) -> String {
    let key = match why {
        WhyUnread::Unsupported => Key::UnreadUnsupported,
        WhyUnread::TooLarge => Key::UnreadTooLarge,
        WhyUnread::NotText => Key::UnreadNotText,
        WhyUnread::Unreadable => Key::UnreadUnreadable,
        WhyUnread::Malformed { line: None } => Key::UnreadMalformed,
        WhyUnread::Malformed { line: Some(line) } => {
            return words.say(Key::UnreadMalformedAt, &[("line", &line)]);
        }
    };
    words.sentence(key).to_owned()
}
