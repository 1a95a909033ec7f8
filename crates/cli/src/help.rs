//! Help in groups and in two languages. The definitions of the commands are in English; in Korean their sentences are
//! exchanged for those of one table, and so are the few words that the parser adds by itself.

use clap::{
    Arg, Command,
    builder::{PossibleValue, PossibleValuesParser, StyledStr},
};
use unicode_width::UnicodeWidthStr;

use crate::{
    screen::{add_line, wrap},
    words::{CommandHelp, HELP_CHROME, Key, Language, Words},
};

/// The headings under which commands with many options have them.
pub(crate) mod heading {
    pub(crate) const AGENT: &str = "Agent";
    pub(crate) const ANSWER: &str = "Answer";
    pub(crate) const APPROVAL: &str = "Approval";
    pub(crate) const CHECK: &str = "Check";
    pub(crate) const COMPATIBILITY: &str = "Without effect, for compatibility";
    pub(crate) const DECISION: &str = "Decision";
    pub(crate) const GLOBAL: &str = "Global options";
    pub(crate) const LIMITS: &str = "Limits";
    pub(crate) const OUTPUT: &str = "Output";
    pub(crate) const SECRET_VALUES: &str = "Secret values";
    pub(crate) const SESSION: &str = "Session";
    pub(crate) const TASKS: &str = "Tasks";
    pub(crate) const WORKTREE: &str = "Worktree";
}

/// The commands by what a person wants. A command that is in none is listed under the last.
pub(crate) const GROUPS: &[(Key, &[&str])] = &[
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
            "wait",
            "rename",
            "diff",
            "merge",
            "discard",
            "checkpoint",
        ],
    ),
    (Key::GroupAnswer, &["inbox", "answer", "review", "permissions"]),
    (Key::GroupLook, &["ps", "show", "logs", "search", "usage", "open"]),
    (
        Key::GroupProjects,
        &[
            "init",
            "context",
            "memory",
            "skills",
            "dispatch",
            "phases",
            "tasks",
            "orchestrate",
            "office",
            "resolve",
            "exec",
            "agents",
        ],
    ),
    (Key::GroupKeys, &["secret", "trust", "token"]),
    (Key::GroupAgents, &["ask", "need", "error", "step", "invoke", "deliver", "mcp", "guide"]),
    (
        Key::GroupServer,
        &["serve", "doctor", "notify", "export", "verify", "parse", "demo", "completions", "man", "help"],
    ),
];

/// The definitions in a language, for help of that width; nothing is wrapped without one.
pub(crate) fn localized(mut command: Command, words: Words, width: Option<usize>) -> Command {
    // The parser adds arguments of its own, which are translated with the others.
    command.build();
    let command = translated(command, "", words, width);
    let groups = grouped(&command, words, width);
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{}\n{{options}}{{after-help}}",
        title("Options")
    );
    command.help_template(StyledStr::from(template))
}

fn translated(command: Command, path: &str, words: Words, width: Option<usize>) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    let mut command = command.term_width(width.unwrap_or(0));
    for name in names {
        let path = below(path, &name);
        command = command.mut_subcommand(name, |it| translated(it, &path, words, width));
    }
    if words.language() == Language::En {
        return command.mut_args(|arg| with_heading(arg, words));
    }
    let help = words.help_of(path);
    if let Some(help) = help {
        command = command.about(help.about);
        if !help.more.is_empty() {
            command = command.long_about(format!("{}.\n\n{}", help.about, help.more));
        }
        if !help.after.is_empty() {
            command = command.after_help(help.after);
        }
    }
    command.mut_args(|arg| with_heading(translated_argument(arg, help, words), words))
}

/// The path of a command below another.
fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path} {name}") }
}

/// The options that every command has come last, under a heading of their own.
fn with_heading(arg: Arg, words: Words) -> Arg {
    let is_global = matches!(arg.get_id().as_str(), "help" | "version") || arg.is_global_set();
    let arg = if is_global { arg.help_heading(heading::GLOBAL) } else { arg };
    match arg.get_help_heading().and_then(|english| words.common_help(english)) {
        Some(korean) => arg.help_heading(korean),
        None => arg,
    }
}

fn translated_argument(arg: Arg, command: Option<&CommandHelp>, words: Words) -> Arg {
    let name = argument_name(&arg);
    let values: Vec<PossibleValue> = arg
        .get_possible_values()
        .into_iter()
        .map(|value| match command.and_then(|it| it.argument(&format!("{name}={}", value.get_name()))) {
            Some(help) => value.help(help),
            None => value,
        })
        .collect();
    let help = korean_of(&arg, command, words);
    // Only help is made of this definition: what a value would be read as does not count.
    let arg = if values.is_empty() { arg } else { arg.value_parser(PossibleValuesParser::new(values)) };
    // The parser's own argument says in `--help` where a summary is.
    let long = arg.get_long_help().and_then(|long| words.common_help(&long.to_string()));
    match help {
        Some(help) => arg.help(help).long_help(long.unwrap_or(help)),
        None => arg,
    }
}

fn korean_of(arg: &Arg, command: Option<&CommandHelp>, words: Words) -> Option<&'static str> {
    let own = command.and_then(|it| it.argument(&argument_name(arg)));
    let of_all = || words.help_of("").filter(|_| arg.is_global_set())?.argument(&argument_name(arg));
    own.or_else(of_all).or_else(|| words.common_help(&arg.get_help()?.to_string()))
}

/// What the table of Korean help calls an argument.
fn argument_name(arg: &Arg) -> String {
    arg.get_long().map_or_else(|| arg.get_id().to_string(), |long| format!("--{long}"))
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
        add_line(&mut said, 0, &title(words.sentence(*key)));
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
fn title(text: &str) -> String {
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
    use crate::{Cli, words::korean_help};

    fn help(language: Language, width: Option<usize>) -> String {
        let words = Words::new(language);
        let mut command = localized(Cli::command(), words, width);
        with_own_words(&command.render_help().to_string(), words)
    }

    /// A command and all below it that are listed, each with its path.
    fn listed<'a>(command: &'a Command, path: &str, found: &mut Vec<(String, &'a Command)>) {
        found.push((path.to_owned(), command));
        for it in command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help") {
            listed(it, &below(path, it.get_name()), found);
        }
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut command = Cli::command();
        command.build();
        for it in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            let groups = GROUPS.iter().filter(|(_, names)| names.contains(&it.get_name())).count();
            assert_eq!(groups, 1, "{} is in one group", it.get_name());
        }
    }

    #[test]
    fn every_command_option_and_argument_is_said_in_korean() {
        let words = Words::new(Language::Ko);
        let mut command = Cli::command();
        command.build();
        let mut commands = Vec::new();
        listed(&command, "", &mut commands);
        let mut unsaid = Vec::new();
        for (path, command) in commands {
            let Some(help) = words.help_of(&path) else {
                unsaid.push(path);
                continue;
            };
            let is_longer =
                |long: Option<&StyledStr>| long.is_some_and(|long| Some(long) != command.get_about());
            assert_eq!(!help.more.is_empty(), is_longer(command.get_long_about()), "{path}: the long text");
            assert_eq!(
                !help.after.is_empty(),
                command.get_after_help().is_some(),
                "{path}: below the options"
            );
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                let name = argument_name(arg);
                if korean_of(arg, Some(help), words).is_none() {
                    unsaid.push(format!("{path} {name}"));
                }
                let explained = arg.get_possible_values().into_iter().filter(|it| it.get_help().is_some());
                for value in explained.map(|it| format!("{name}={}", it.get_name())) {
                    if !arg.is_hide_possible_values_set() && help.argument(&value).is_none() {
                        unsaid.push(format!("{path} {value}"));
                    }
                }
                unsaid.extend(
                    arg.get_help_heading().filter(|it| words.common_help(it).is_none()).map(str::to_owned),
                );
            }
        }
        assert!(unsaid.is_empty(), "not said in Korean: {unsaid:#?}");
        assert!(words.common_help(heading::GLOBAL).is_some());
    }

    #[test]
    fn nothing_is_said_in_korean_that_no_command_has() {
        let mut command = Cli::command();
        command.build();
        for help in korean_help() {
            let mut names = help.path.split(' ').filter(|name| !name.is_empty());
            let found = names.try_fold(&command, |it, name| it.find_subcommand(name));
            let found = found.unwrap_or_else(|| panic!("there is no command {:?}", help.path));
            for (name, korean) in help.arguments {
                let (argument, value) = name.split_once('=').unwrap_or((name, ""));
                let arg = found.get_arguments().find(|arg| argument_name(arg) == argument);
                let arg = arg.unwrap_or_else(|| panic!("{} has no {name}", help.path));
                let has_value = arg.get_possible_values().iter().any(|it| it.get_name() == value);
                assert!(value.is_empty() || has_value, "{} has no {name}", help.path);
                let is_korean = korean.chars().any(|letter| ('가'..='힣').contains(&letter));
                assert!(is_korean || *korean == "JSON", "{} {name}: {korean}", help.path);
            }
        }
    }

    /// What `ostler COMMAND --help` shows.
    fn long_help(arguments: &[&str], language: Language, width: usize) -> String {
        let words = Words::new(language);
        let command = localized(Cli::command(), words, Some(width));
        let line = ["ostler"].iter().chain(arguments).chain(&["--help"]);
        let shown = command.try_get_matches_from(line).expect_err("help is no match").to_string();
        with_own_words(&shown, words)
    }

    #[test]
    fn options_are_under_headings_in_both_languages() {
        let english = long_help(&["run"], Language::En, 80);
        let korean = long_help(&["run"], Language::Ko, 80);
        for headings in [
            (
                &english,
                ["Agent:", "Check:", "Limits:", "Worktree:", "Session:", "Global options:", "Examples:"],
            ),
            (&korean, ["에이전트:", "검사:", "한도:", "워크트리:", "세션:", "공통 옵션:", "예:"]),
        ] {
            let lines: Vec<&str> = headings.0.lines().collect();
            for heading in headings.1 {
                assert!(lines.contains(&heading), "{heading}: {}", headings.0);
            }
            assert!(!lines.contains(&"Options:") && !lines.contains(&"옵션:"), "{}", headings.0);
        }
        assert!(korean.contains("두고 나갈지") && korean.contains("(요약: '-h')"), "the long text: {korean}");
        let english_words = ["Print help", "The model", "Possible values", "default:"];
        assert!(!english_words.iter().any(|it| korean.contains(it)), "{korean}");
        let ask = long_help(&["ask"], Language::Ko, 80);
        assert!(ask.contains("예나 아니요로") && ask.contains("가능한 값:"), "{ask}");
    }

    /// Neither a usage nor an example is broken, because it is copied: only sentences have to fit.
    #[test]
    fn help_of_every_command_fits_the_line() {
        let mut command = Cli::command();
        command.build();
        let mut commands = Vec::new();
        listed(&command, "", &mut commands);
        for (path, _) in commands.iter().skip(1) {
            let arguments: Vec<&str> = path.split(' ').collect();
            for (language, width) in [(Language::En, 80), (Language::Ko, 80), (Language::Ko, 60)] {
                for line in long_help(&arguments, language, width).lines() {
                    let is_copied = line.contains("ostler ") || line.contains("[OPTIONS]");
                    assert!(line.width() <= width || is_copied, "{path}, {} columns: {line}", line.width());
                }
            }
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
