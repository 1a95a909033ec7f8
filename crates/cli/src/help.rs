//! Help in groups and in two languages. The definitions of the commands are in English; in Korean their sentences are
//! exchanged for those of one table, and so are the few words that the parser adds by itself.

use clap::{Command, builder::StyledStr};
use unicode_width::UnicodeWidthStr;

use crate::{
    screen::{add_line, wrap},
    words::{HELP_CHROME, Key, Language, Words},
};

/// The commands by what a person wants. A command that is in none is listed under the last.
const GROUPS: &[(Key, &[&str])] = &[
    (
        Key::GroupRun,
        &[
            "run",
            "attach",
            "send",
            "pause",
            "continue",
            "resume",
            "cancel",
            "diff",
            "merge",
            "discard",
            "checkpoint",
        ],
    ),
    (Key::GroupAnswer, &["inbox", "answer", "review", "permissions"]),
    (Key::GroupLook, &["ps", "show", "logs", "usage", "open"]),
    (Key::GroupProjects, &["phases", "tasks", "orchestrate", "office", "resolve", "exec", "agents"]),
    (Key::GroupKeys, &["secret", "trust", "token"]),
    (Key::GroupAgents, &["ask", "need", "error", "step", "invoke", "deliver", "mcp", "guide"]),
    (
        Key::GroupServer,
        &["serve", "doctor", "notify", "export", "verify", "parse", "demo", "completions", "man", "help"],
    ),
];

/// The definitions in a language, for help of that width; nothing is wrapped without one.
pub(crate) fn localized(command: Command, words: Words, width: Option<usize>) -> Command {
    let mut command = translated(command, "", words, width);
    command.build();
    let groups = grouped(&command, words, width);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{}\n{{options}}{{after-help}}",
        heading("Options")
    );
    let command = command.help_template(StyledStr::from(template));
    match words.language() {
        Language::En => command,
        Language::Ko => command.after_help(words.sentence(Key::HelpExitCodes)),
    }
}

fn translated(command: Command, path: &str, words: Words, width: Option<usize>) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    let mut command = command.term_width(width.unwrap_or(0));
    for name in names {
        let path = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
        command = command.mut_subcommand(name, |it| translated(it, &path, words, width));
    }
    if words.language() == Language::En {
        return command;
    }
    if let Some(about) = words.help_of(path) {
        command = command.about(about).long_about(about);
    }
    command.mut_args(|arg| {
        let name = arg.get_long().map_or_else(|| arg.get_id().to_string(), |long| format!("--{long}"));
        let own = words.help_of(format!("{path} {name}").trim_start());
        match own.or_else(|| words.help_of(&name)) {
            Some(help) => arg.help(help).long_help(help),
            None => arg,
        }
    })
}

/// The commands with a heading for each group.
fn grouped(command: &Command, words: Words, width: Option<usize>) -> String {
    let is_named = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let names: Vec<&str> =
        command.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name).collect();
    let column = names.iter().map(|name| name.width()).max().unwrap_or(0) + 4;
    let mut said = String::new();
    for (index, (key, group)) in GROUPS.iter().enumerate() {
        let is_last = index + 1 == GROUPS.len();
        add_line(&mut said, 0, &heading(words.sentence(*key)));
        let others = names.iter().filter(|name| is_last && !is_named(name));
        for name in group.iter().filter(|name| names.contains(name)).chain(others) {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let room = width.map_or(usize::MAX, |width| width.saturating_sub(column).max(20));
            for (line, text) in wrap(&about, room).iter().enumerate() {
                if line > 0 {
                    add_line(&mut said, column, text);
                    continue;
                }
                let gap = " ".repeat(column - 2 - name.width());
                add_line(&mut said, 2, &format!("\x1b[1m{name}\x1b[0m{gap}{text}"));
            }
        }
        said.push('\n');
    }
    said
}

/// As the parser writes its own.
fn heading(text: &str) -> String {
    format!("\x1b[1m\x1b[4m{text}:\x1b[0m")
}

/// The parser's own words in a language.
pub(crate) fn with_own_words(text: &str, words: Words) -> String {
    let pairs = if words.language() == Language::Ko { HELP_CHROME } else { &[] };
    pairs.iter().fold(text.to_owned(), |text, (english, korean)| text.replace(english, korean))
}

#[cfg(test)]
pub(crate) mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Cli;

    fn help(language: Language, width: Option<usize>) -> String {
        let words = Words::new(language);
        let mut command = localized(Cli::command(), words, width);
        with_own_words(&command.render_help().to_string(), words)
    }

    #[test]
    fn every_command_is_in_one_group_and_said_in_korean() {
        let mut command = Cli::command();
        command.build();
        for it in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            let groups = GROUPS.iter().filter(|(_, names)| names.contains(&it.get_name())).count();
            assert_eq!(groups, 1, "{} is in one group", it.get_name());
        }
        let words = Words::new(Language::Ko);
        let mut unsaid = Vec::new();
        collect_unsaid(&Cli::command(), "", words, &mut unsaid);
        assert!(unsaid.is_empty(), "not said in Korean: {unsaid:#?}");
    }

    fn collect_unsaid(command: &Command, path: &str, words: Words, unsaid: &mut Vec<String>) {
        for it in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            let path = format!("{path} {}", it.get_name()).trim().to_owned();
            if words.help_of(&path).is_none() {
                unsaid.push(path.clone());
            }
            collect_unsaid(it, &path, words, unsaid);
        }
    }

    #[test]
    fn help_is_grouped_and_fits_the_line() {
        let english = help(Language::En, Some(80));
        for heading in ["Run and steer:\n", "Answer:\n", "For agents, inside a session:\n", "Options:\n"] {
            assert!(english.contains(heading), "{heading}: {english}");
        }
        let korean = help(Language::Ko, Some(80));
        for heading in ["실행과 조종:\n", "답하기:\n", "사용법: ostler", "옵션:\n"] {
            assert!(korean.contains(heading), "{heading}: {korean}");
        }
        assert!(!korean.contains("Print help"), "{korean}");
        for line in english.lines().chain(korean.lines()) {
            assert!(line.width() <= 80, "{} columns: {line}", line.width());
        }
        assert!(help(Language::En, None).lines().any(|line| line.width() > 100), "a pipe gets no wrapping");
    }
}
