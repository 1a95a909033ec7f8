//! `ostler man`: the manual pages, made from the definitions of the commands.

use std::{
    fs,
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, Command, builder::Resettable};
use clap_mangen::Man;
use ostler_files::named;
use roff::{Roff, roman};

use crate::{
    error::Error,
    exit::Exit,
    help,
    words::{Language, Words},
};

/// Print the manual page, or write the pages of all commands into a directory.
///
/// To read it: ostler man | man -l -
#[derive(Args)]
pub(crate) struct Arguments {
    /// Write ostler.1 and a page for every command here.
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, command: Command) -> Result<Exit, Error> {
    let mut pages = pages(command).map_err(Error::Output)?;
    if let Some(directory) = &arguments.directory {
        fs::create_dir_all(directory)
            .and_then(|()| {
                pages
                    .iter()
                    .try_for_each(|page| named::create(directory.join(&page.name))?.write_all(&page.text))
            })
            .map_err(|source| Error::File { path: directory.clone(), source })?;
        return Ok(Exit::Done);
    }
    let page = pages.swap_remove(0);
    let mut stdout = io::stdout().lock();
    stdout.write_all(&page.text).and_then(|()| stdout.flush()).map_err(Error::Output)?;
    Ok(Exit::Done)
}

/// A page and the name of its file.
struct Page {
    name: String,
    text: Vec<u8>,
}

/// The page of the program, then those of its commands.
fn pages(command: Command) -> io::Result<Vec<Page>> {
    let words = Words::new(Language::En);
    let command = help::localized(command.disable_help_subcommand(true), words, None);
    let source = format!("ostler {}", command.get_version().unwrap_or_default());
    let mut pages = Vec::new();
    let mut left = vec![&command];
    while let Some(next) = left.pop() {
        pages.push(page(next, &source, words)?);
        left.extend(next.get_subcommands().filter(|it| !it.is_hide_set()));
    }
    Ok(pages)
}

fn page(command: &Command, source: &str, words: Words) -> io::Result<Page> {
    let name = name_of(command);
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    // What the generator writes badly, or at the wrong place, is left out and added below.
    let plain = command
        .clone()
        .override_usage(usage)
        .version(Resettable::Reset)
        .after_help(Resettable::Reset)
        .mut_subcommands(|it| it.hide(true))
        .mut_args(|arg| match (arg.get_help_heading(), arg.is_positional()) {
            (Some(_), _) => arg,
            (None, true) => arg.help_heading("Arguments"),
            (None, false) => arg.help_heading("Options"),
        });
    // An empty date would be no argument at all, and the source would be taken for it.
    let man = Man::new(plain).title(name.to_uppercase()).date(" ").source(source).manual("Ostler");
    let mut text = Vec::new();
    man.render(&mut text)?;
    let mut rest = Roff::new();
    add_commands(&mut rest, command, words);
    add_after(&mut rest, &command.get_after_help().map(ToString::to_string).unwrap_or_default());
    if name != "ostler" {
        rest.control("SH", ["SEE ALSO"]).text([roman("ostler(1)")]);
    }
    text.extend_from_slice(rest.to_roff().as_bytes());
    Ok(Page { name: format!("{name}.1"), text })
}

fn name_of(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

/// The commands below this one; those of the program in the groups of its help.
fn add_commands(roff: &mut Roff, command: &Command, words: Words) {
    let all: Vec<&Command> = command.get_subcommands().filter(|it| !it.is_hide_set()).collect();
    if all.is_empty() {
        return;
    }
    roff.control("SH", ["COMMANDS"]);
    if command.get_name() != "ostler" {
        return all.iter().for_each(|it| add_command(roff, it));
    }
    for (key, names) in help::GROUPS {
        roff.control("SS", [words.sentence(*key)]);
        for name in *names {
            all.iter().filter(|it| it.get_name() == *name).for_each(|it| add_command(roff, it));
        }
    }
}

fn add_command(roff: &mut Roff, command: &Command) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    roff.control("TP", []).text([roman(format!("{}(1)", name_of(command)))]).text([roman(about)]);
}

/// What help has below the options: examples line by line, since they are copied, and exit codes.
fn add_after(roff: &mut Roff, after: &str) {
    for part in after.split("\n\n").filter(|part| !part.is_empty()) {
        if let Some(examples) = part.strip_prefix("Examples:\n") {
            roff.control("SH", ["EXAMPLES"]).control("nf", []);
            for line in examples.lines() {
                roff.text([roman(line.trim_start())]);
            }
            roff.control("fi", []);
        } else {
            let codes = part.strip_prefix("Exit codes: ");
            roff.control("SH", [if codes.is_some() { "EXIT STATUS" } else { "NOTES" }]);
            roff.text([roman(codes.unwrap_or(part))]);
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    /// The requests and macros that pages consist of.
    const CONTROLS: &[&str] =
        &["ie", "el", "TH", "SH", "SS", "PP", "TP", "IP", "RS", "RE", "br", "sp", "nf", "fi"];

    fn texts() -> Vec<(String, String)> {
        let pages = pages(Cli::command()).expect("memory can be written");
        let text = |page: Page| (page.name, String::from_utf8(page.text).expect("pages are UTF-8"));
        pages.into_iter().map(text).collect()
    }

    #[test]
    fn no_text_is_taken_for_a_request() {
        for (name, text) in texts() {
            let mut is_filled = true;
            for line in text.lines() {
                let Some(control) = line.strip_prefix('.') else {
                    assert!(!line.starts_with('\''), "{name}: {line}");
                    assert!(!is_filled || !line.starts_with(' '), "{name}, a line that would break: {line}");
                    continue;
                };
                let control = control.split_whitespace().next().unwrap_or_default();
                assert!(CONTROLS.contains(&control), "{name}: {line}");
                is_filled = if control == "nf" { false } else { is_filled || control == "fi" };
            }
            assert!(is_filled, "{name} ends without filling lines again");
        }
    }

    #[test]
    fn every_command_is_named_and_has_a_page() {
        let texts = texts();
        let page = |name: &str| {
            let found = texts.iter().find(|(known, _)| known == name);
            &found.unwrap_or_else(|| panic!("there is no page {name}")).1
        };
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        let mut left = vec![&command];
        let mut count = 0;
        while let Some(next) = left.pop() {
            let own = page(&format!("{}.1", name_of(next)));
            count += 1;
            for it in next.get_subcommands().filter(|it| !it.is_hide_set()) {
                let named = format!("\n{}(1)\n", name_of(it)).replace('-', "\\-");
                assert_eq!(own.matches(&named).count(), 1, "{named} on the page of {}", name_of(next));
                left.push(it);
            }
            for arg in next.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let option = arg.get_long().map(|long| format!("\\-\\-{}", long.replace('-', "\\-")));
                let option = option.or_else(|| Some(arg.get_value_names()?.first()?.to_string()));
                assert!(own.contains(&option.unwrap_or_default()), "{arg} on the page of {}", name_of(next));
            }
        }
        assert_eq!(texts.len(), count);
        assert_eq!(texts[0].0, "ostler.1");
    }

    #[test]
    fn a_page_has_the_sections_of_a_page() {
        let texts = texts();
        let (_, run) = texts.iter().find(|(name, _)| name == "ostler-run.1").expect("its page");
        let sections: Vec<&str> = run.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        let begins = ["NAME", "SYNOPSIS", "DESCRIPTION", "ARGUMENTS", "SESSION", "AGENT", "CHECK", "LIMITS"];
        assert!(sections.starts_with(&begins), "{sections:?}");
        let ends = ["\"GLOBAL OPTIONS\"", "EXAMPLES", "\"SEE ALSO\""];
        assert!(sections.ends_with(&ends), "{sections:?}");
        assert!(
            run.contains(&format!(
                ".TH OSTLER-RUN 1 \" \" \"ostler {}\" Ostler\n",
                env!("CARGO_PKG_VERSION")
            )),
            "{run}"
        );
        assert!(run.contains(".nf\nostler run claude"), "{run}");
        assert!(texts[0].1.contains(".SS \"Run and steer\"") && texts[0].1.contains(".SH \"EXIT STATUS\""));
    }
}
