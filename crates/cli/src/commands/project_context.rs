//! `ostler context`: what Ostler knows of a project by its files.

use clap::{Args, Subcommand};
use ostler_project::{StackDetection, StackFinding, StackSection, WhyUnread};
use ostler_server::config::project_root;

use crate::{
    context::{Context, directory},
    error::Error,
    exit::Exit,
    screen::{Cell, Screen, Style, one_line},
    words::{Key, Words},
};

/// How many places are shown for one finding; `--json` has them all.
const EVIDENCE_SHOWN_MAX: usize = 3;

/// Show what Ostler knows of this project: its stack, with the lines that prove it.
///
/// It only reads. What it recognises stands in docs/project.md.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Detect the stack from manifests, lock files, configurations and directories.
    Detect,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    match arguments.command {
        Command::Detect => detect(context),
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

/// A line for each finding with its evidence, then what is not known.
fn shown(words: Words, screen: Screen, detection: &StackDetection) -> String {
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

fn section_name(words: Words, section: StackSection) -> &'static str {
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
