//! `ostler memory`: what a project remembers.

use std::path::{Component, Path, PathBuf};

use clap::{Args, Subcommand};
use ostler_server::{
    api::{MemoryFileView, MemoryLineView, MemorySearchView},
    channel::Channel,
    client::encoded,
};

use crate::{
    clock,
    context::{Context, directory, talk},
    error::Error,
    exit::Exit,
    screen::{Screen, Style, add_line, one_line},
    words::{Key, Words},
};

/// Search the memory of this project: its context, plans, notes, decisions and artifacts.
///
/// The memory is the Markdown files below .claude/memory. What agents and people write there is found at once.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Search(SearchArguments),
}

/// List the files that hold every word, best first.
///
/// A word counts in any case and as a part of another; words in quotes are found together. The layers go from names to
/// sections (the lines with a word, with five around them) to whole files. Without --layer, names are listed, and sections
/// of the best five files. The exit code is 1 if no file is found.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  ostler memory search 인증 JWT\n  ostler memory search Critical --layer 2\n  ostler memory search \
                  \"page size\" --layer 3 -n 1\n  ostler memory search retry --in docs"
)]
struct SearchArguments {
    /// The words that a file must hold.
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
    /// How much to show: 1 names, 2 sections, 3 whole files.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    layer: Option<u8>,
    /// Search the Markdown files of another directory of the project.
    #[arg(long = "in", value_name = "PATH")]
    inside: Option<PathBuf>,
    /// At most so many files.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
}

pub(crate) fn run(context: &Context, arguments: &Arguments) -> Result<Exit, Error> {
    let Command::Search(arguments) = &arguments.command;
    let found = search(context, arguments)?;
    let words = context.words;
    context.print(&found, |screen| shown(words, screen, &found))?;
    for note in notes(words, &found) {
        context.note(&note);
    }
    Ok(if found.files.is_empty() { Exit::Failed } else { Exit::Done })
}

fn search(context: &Context, arguments: &SearchArguments) -> Result<MemorySearchView, Error> {
    let mut query = format!("text={}&limit={}", encoded(&arguments.words.join("\n")), arguments.limit);
    if let Some(layer) = arguments.layer {
        query.extend([format!("&layer={layer}")]);
    }
    talk(async {
        if let Some(channel) = Channel::find() {
            // An agent may work in a worktree; the memory is that of the project.
            query.extend(
                arguments.inside.as_deref().map(|path| format!("&in={}", encoded(&path.to_string_lossy()))),
            );
            return Ok(channel.search_memory(&query).await?);
        }
        let here = directory()?.canonicalize().map_err(|source| Error::Input { path: None, source })?;
        if let Some(path) = &arguments.inside {
            query.extend([format!("&in={}", encoded(&plain(&here.join(path)).to_string_lossy()))]);
        }
        let client = context.server().await?;
        let path = format!("/memory?directory={}&{query}", encoded(&here.to_string_lossy()));
        Ok(client.get(&path).await?)
    })
}

/// A path without `.` and `..` in it.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// What was found, as people and models read it.
pub(crate) fn shown(words: Words, screen: Screen, found: &MemorySearchView) -> String {
    if found.files.is_empty() {
        let key = if found.exists { Key::MemoryNothing } else { Key::MemoryMissing };
        return screen.text(&words.say(key, &[("directory", &one_line(&found.directory))]));
    }
    let mut said = String::new();
    for file in &found.files {
        add_file(&mut said, screen, file);
    }
    said
}

/// What is to be known beside what was found.
pub(crate) fn notes(words: Words, found: &MemorySearchView) -> Vec<String> {
    let shown = found.files.len();
    let mut notes = Vec::new();
    if found.total > shown as u64 {
        notes.push(words.say(Key::MemoryMore, &[("n", &shown), ("total", &found.total)]));
    }
    if found.left_out > 0 {
        notes.push(words.say(Key::MemoryLeftOut, &[("n", &found.left_out)]));
    }
    if found.incomplete {
        notes.push(words.sentence(Key::MemoryIncomplete).to_owned());
    }
    notes
}

fn add_file(said: &mut String, screen: Screen, file: &MemoryFileView) {
    let path = screen.style(Style::Bold, &one_line(&file.path));
    let facts = screen.style(Style::Dim, &format!("  {}", clock::date(file.modified_at_ms)));
    add_line(said, 0, &format!("{path}{facts}"));
    for section in &file.sections {
        if let Some(heading) = &section.heading {
            add_line(said, 2, &screen.style(Style::Dim, &format!("# {}", one_line(heading))));
        }
        for line in &section.lines {
            add_section_line(said, screen, line);
        }
    }
    for line in file.text.iter().flat_map(|text| text.lines()) {
        let line = screen.indented(2).whole(&one_line(line));
        for part in if line.is_empty() { vec![String::new()] } else { line } {
            add_line(said, 2, &part);
        }
    }
    if file.cut {
        add_line(said, 2, "…");
    }
}

fn add_section_line(said: &mut String, screen: Screen, line: &MemoryLineView) {
    let (mark, style) = if line.hit { ('›', Style::Plain) } else { (' ', Style::Dim) };
    let number = format!("{mark} {:>5}  ", line.number);
    let text = screen.indented(12).whole(&one_line(&line.text));
    for (at, part) in text.iter().enumerate() {
        let number = if at == 0 { number.as_str() } else { "         " };
        add_line(said, 2, &format!("{number}{}", screen.style(style, part)));
    }
    if text.is_empty() {
        add_line(said, 2, number.trim_end());
    }
}
