//! The roles of a project: its files in `.claude/agents`, the tables of its configuration, and agents as they are.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use ostler_agents::agent::Guide;
use ostler_files::named;
use ostler_protocol::name::AgentName;

use super::front::{self, Field, Value, Wrong};
use crate::config::{Config, ConfigError, RepositoryCommand, RoleSetting};

/// Where the files are, below the project.
pub(crate) const FOLDER: &str = ".claude/agents";

/// The longest file of a role. It goes through a CLI's arguments, which have bounds of their own.
const FILE_BYTES_MAX: u64 = 96 << 10;

/// What is understood of a file's head and has no meaning here.
const LEFT: [&str; 3] = ["color", "memory", "skills"];

/// What somebody can be called as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Role {
    /// The name by which it is called.
    pub(crate) name: String,
    /// What it is there for.
    pub(crate) description: Option<String>,
    /// Its agent, if one was named.
    pub(crate) agent: Option<String>,
    /// The model.
    pub(crate) model: Option<String>,
    /// The most turns.
    pub(crate) turns: Option<u32>,
    /// The tools that need no permission.
    pub(crate) tools: Vec<String>,
    /// What it is told.
    pub(crate) instruction: Option<String>,
    /// Whether it works in a worktree of its own.
    pub(crate) worktree: bool,
    /// Whether it is spoken to in Korean, if that is said.
    pub(crate) korean: Option<bool>,
    /// Where it stands; nowhere, if it is an agent as it is.
    pub(crate) place: Option<Place>,
    /// What a person has to agree to, if it comes with a repository.
    pub(crate) command: Option<RepositoryCommand>,
}

/// Where something of a role stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The file.
    pub(crate) file: PathBuf,
    /// Its line, by what is said there.
    pub(crate) lines: BTreeMap<&'static str, usize>,
}

/// So many roles of a project are written down.
const NAMES_MAX: usize = 1_000;

/// A role that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadRole {
    /// What it is called, as far as can be told.
    pub(crate) name: String,
    /// Why not, with file and line.
    pub(crate) message: String,
}

/// All that can be called, by name.
#[derive(Debug)]
pub(crate) struct Roles {
    found: BTreeMap<String, Result<Role, BadRole>>,
    /// Those that are described; the others are agents as they are.
    pub(crate) config: Config,
    /// The hashes of what a person agreed to in the project.
    trusted: Vec<String>,
}

impl Roles {
    /// Reads what there is; settings of the project count as far as a person agreed to them.
    pub(crate) fn read(root: &Path, trusted: Vec<String>) -> Result<Roles, ConfigError> {
        let config = Config::load(Some(root), &trusted)?;
        let mut found = BTreeMap::new();
        for name in config.agents.iter().map(|agent| &agent.name) {
            found.insert(name.clone(), Ok(Role::of_agent(name)));
        }
        for (name, role) in files(root) {
            found.insert(name, role);
        }
        for (name, setting) in &config.office.roles {
            found.insert(name.clone(), of_table(root, name, setting, &config));
        }
        Ok(Roles { found, config, trusted })
    }

    /// Whether a person agreed to something of the project.
    pub(crate) fn is_agreed(&self, command: &RepositoryCommand) -> bool {
        self.trusted.contains(&command.fingerprint())
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Result<Role, BadRole>)> {
        self.found.iter()
    }

    /// The names of those that can be used, as far as somebody else knows.
    pub(crate) fn names(&self, can_be_used: impl Fn(&Role) -> bool) -> Vec<String> {
        let usable = self.found.iter().filter(|(_, role)| role.as_ref().is_ok_and(&can_be_used));
        usable.map(|(name, _)| name.clone()).collect()
    }

    /// The one that is meant: as it is written, or else without regard to case if that leaves exactly one.
    pub(crate) fn find(&self, name: &str) -> Option<&Result<Role, BadRole>> {
        self.found.get(name).or_else(|| {
            let meant = name.to_lowercase();
            let mut alike = self.found.iter().filter(|(known, _)| known.to_lowercase() == meant);
            let (_, first) = alike.next()?;
            alike.next().is_none().then_some(first)
        })
    }
}

impl Role {
    fn of_agent(name: &str) -> Role {
        Role {
            name: name.to_owned(),
            description: None,
            agent: Some(name.to_owned()),
            model: None,
            turns: None,
            tools: Vec::new(),
            instruction: None,
            worktree: false,
            korean: None,
            place: None,
            command: None,
        }
    }

    /// Why an agent cannot be this role: its table does not say how it is given something.
    pub(crate) fn objection(&self, agent: &ostler_agents::Agent) -> Option<String> {
        let wants = [
            ("model", "model", self.model.is_some()),
            ("max_turns", "turns", self.turns.is_some()),
            ("tools", "tools", !self.tools.is_empty()),
        ];
        let missing = wants.into_iter().find(|(what, _, wanted)| *wanted && !agent.takes(what));
        let missing = missing.map(|(_, said, _)| said);
        let has_words = self.instruction.as_ref().is_some_and(|it| !it.trim().is_empty());
        let missing = missing.or_else(|| (has_words && agent.guide == Guide::None).then_some("instruction"));
        let missing = missing?;
        let at = self.place.as_ref().map(|place| place.at(missing)).unwrap_or_default();
        Some(format!(
            "{at}agent `{}` cannot be given its `{missing}`: its table has no argument for it",
            agent.name
        ))
    }
}

impl Place {
    /// File and line of something that is said there.
    pub(crate) fn at(&self, what: &str) -> String {
        let line = self.lines.get(what).or_else(|| self.lines.values().min()).copied().unwrap_or(1);
        format!("{}:{line}: ", self.file.display())
    }
}

/// The files of a project, by the names of their roles. Of two with the same name none can be used: nobody could tell
/// which is meant.
fn files(root: &Path) -> Vec<(String, Result<Role, BadRole>)> {
    let Ok(folder) = fs::read_dir(root.join(FOLDER)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = folder.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "md"));
    paths.sort();
    let mut found: BTreeMap<String, (String, Result<Role, BadRole>)> = BTreeMap::new();
    for path in paths {
        let stem = path.file_stem().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
        let role = read_text(root, &path).and_then(|text| of_file(&path, &stem, &text));
        let name = role.as_ref().map_or_else(|_| stem.clone(), |role| role.name.clone());
        let place = role.as_ref().ok().and_then(|role| role.place.as_ref());
        let line = place.and_then(|place| place.lines.get("name")).copied().unwrap_or(1);
        let at = format!("{}:{line}", path.display());
        let role = role.and_then(|role| match found.get(&name) {
            Some((first, _)) => {
                Err(format!("{at}: the name `{name}` is taken by {first}: each role needs one of its own"))
            }
            None => Ok(role),
        });
        let role = role.map_err(|message| BadRole { name: name.clone(), message });
        found.insert(name, (at, role));
    }
    found.into_iter().map(|(name, (_, role))| (name, role)).collect()
}

/// A file of the project, and nothing that only looks like one.
fn read_text(root: &Path, path: &Path) -> Result<String, String> {
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    let real = fs::canonicalize(path).map_err(failed)?;
    let is_inside = fs::canonicalize(root).is_ok_and(|root| real.starts_with(root));
    let metadata = fs::metadata(&real).map_err(failed)?;
    if !is_inside || !metadata.is_file() {
        return Err(format!("{}: not a file of the project", path.display()));
    }
    if metadata.len() > FILE_BYTES_MAX {
        return Err(format!("{}: longer than {FILE_BYTES_MAX} bytes", path.display()));
    }
    String::from_utf8(named::read(&real, FILE_BYTES_MAX).map_err(failed)?).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.split(|byte| *byte == b'\n').count();
        format!("{}:{line}: not UTF-8", path.display())
    })
}

fn of_file(path: &Path, stem: &str, text: &str) -> Result<Role, String> {
    let at = |Wrong { line, message }: Wrong| format!("{}:{line}: {message}", path.display());
    let front = front::read(text).map_err(at)?;
    let mut role = Role::of_agent(stem);
    role.agent = None;
    let mut lines = BTreeMap::from([("name", 1)]);
    for field in &front.fields {
        let key = take(&mut role, field).map_err(at)?;
        lines.insert(key, field.line);
    }
    if role.name.parse::<AgentName>().is_err() {
        let line = lines["name"];
        return Err(at(Wrong { line, message: format!("`{}` is no name of a role", role.name) }));
    }
    let end = text.lines().count() - front.body.lines().count().min(text.lines().count());
    lines.insert("instruction", end + 1);
    role.instruction = Some(front.body).filter(|body| !body.trim().is_empty());
    role.place = Some(Place { file: path.to_path_buf(), lines });
    let key = format!("{FOLDER}/{}", path.file_name().map(|it| it.to_string_lossy()).unwrap_or_default());
    role.command = Some(RepositoryCommand { key, value: text.to_owned(), file: path.to_path_buf() });
    Ok(role)
}

/// What one key says; its name here is given back.
fn take(role: &mut Role, field: &Field) -> Result<&'static str, Wrong> {
    let wrong = |message: String| Wrong { line: field.line, message };
    let text = || match &field.value {
        Value::Text(text) => Ok(text.clone()),
        Value::List(_) => Err(wrong(format!("`{}` is a list", field.key))),
    };
    Ok(match field.key.as_str() {
        "name" => {
            role.name = text()?;
            "name"
        }
        "description" => {
            role.description = Some(text()?);
            "description"
        }
        "model" => {
            // As its caller has it.
            role.model = Some(text()?).filter(|model| model != "inherit" && !model.is_empty());
            "model"
        }
        "tools" => {
            role.tools = match &field.value {
                Value::List(items) => items.clone(),
                Value::Text(text) => split(text),
            };
            "tools"
        }
        "maxTurns" => {
            let turns = text()?;
            let number = turns.parse().ok().filter(|number| *number > 0);
            role.turns = Some(number.ok_or_else(|| wrong(format!("`{turns}` is no number of turns")))?);
            "turns"
        }
        "permissionMode" => match text()?.as_str() {
            "default" => "permissionMode",
            other => return Err(wrong(format!("the permission mode `{other}` cannot be given to an agent"))),
        },
        "isolation" => match text()?.as_str() {
            "worktree" => {
                role.worktree = true;
                "isolation"
            }
            "none" => "isolation",
            other => {
                return Err(wrong(format!("unknown isolation `{other}`, expected `worktree` or `none`")));
            }
        },
        key if LEFT.contains(&key) => "left",
        key => return Err(wrong(format!("unknown key `{key}`"))),
    })
}

/// `Read, Bash(git log:*)`: a comma between brackets is none.
fn split(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0_u32;
    for c in text.chars() {
        match c {
            ',' if depth == 0 => items.push(String::new()),
            _ => {
                depth = match c {
                    '(' => depth + 1,
                    ')' => depth.saturating_sub(1),
                    _ => depth,
                };
                if let Some(last) = items.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    items.into_iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

fn of_table(root: &Path, name: &str, setting: &RoleSetting, config: &Config) -> Result<Role, BadRole> {
    let (file, line) = setting.place.clone();
    let bad = |message: String| BadRole { name: name.to_owned(), message };
    let instruction = match &setting.file {
        Some(path) => {
            let text = read_text(root, &root.join(path));
            let text = text.map_err(|message| bad(format!("{}:{line}: {message}", file.display())))?;
            Some(front::read(&text).map_or(text, |front| front.body))
        }
        None => setting.instruction.clone(),
    };
    let key = format!("office.roles.{name}");
    let own = config.commands.iter().find(|command| command.key == key).cloned();
    // The text of a file is the repository's, although the user's own configuration may name the file.
    let command = match &setting.file {
        Some(path) => {
            let table = own.map_or_else(|| format!("file = {path:?}\n"), |command| command.value);
            let value = format!("{table}\n\n{}", instruction.as_deref().unwrap_or_default());
            Some(RepositoryCommand { key, value, file: root.join(path) })
        }
        None => own,
    };
    Ok(Role {
        name: name.to_owned(),
        description: setting.description.clone(),
        agent: setting.agent.clone(),
        model: setting.model.clone(),
        turns: setting.turns,
        tools: setting.tools.clone(),
        instruction,
        worktree: setting.worktree,
        korean: setting.korean,
        place: Some(Place { file, lines: BTreeMap::from([("name", line)]) }),
        command,
    })
}

/// The names of the roles that are described in a project or in the user's configuration; agents as they are aside.
pub(crate) fn described(root: &Path, trusted: Vec<String>) -> Vec<String> {
    let Ok(roles) = Roles::read(root, trusted) else { return Vec::new() };
    let mut names = roles.names(|role| role.place.is_some());
    names.truncate(NAMES_MAX);
    names
}

/// What roles of a repository would give to an agent, for a person to look at.
pub(crate) fn commands(root: &Path) -> Vec<RepositoryCommand> {
    let Ok(roles) = Roles::read(root, Vec::new()) else { return Vec::new() };
    let roles = roles.found.into_values().filter_map(Result::ok);
    roles.filter_map(|role| role.command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(text: &str) -> Result<Role, String> {
        of_file(Path::new("a/po.md"), "po", text)
    }

    #[test]
    fn a_file_says_what_a_role_is() {
        let text = "---\nname: PO\ndescription: >\n  Plans,\n  decides\ntools: Read, Bash(git log:*, x)\nmodel: opus\n\
                    maxTurns: 4\ncolor: blue\nisolation: worktree\n---\n\nYou are the product owner.\n";
        let role = role(text).expect("it is understood");
        assert_eq!((role.name.as_str(), role.description.as_deref()), ("PO", Some("Plans, decides")));
        assert_eq!(role.tools, ["Read", "Bash(git log:*, x)"]);
        assert_eq!((role.model.as_deref(), role.turns, role.worktree), (Some("opus"), Some(4), true));
        assert_eq!(role.instruction.as_deref(), Some("You are the product owner."));
    }

    #[test]
    fn a_mistake_has_its_file_and_line() {
        for (text, expected) in [
            ("---\nname: PO\nmaxTurns: many\n---\n", "a/po.md:3: `many` is no number of turns"),
            ("---\nname: PO\ntool: Read\n---\n", "a/po.md:3: unknown key `tool`"),
            ("---\nname: P O\n---\n", "a/po.md:2: `P O` is no name of a role"),
            ("---\nname: PO\n", "a/po.md:1: the head does not end: there is no second `---`"),
            (
                "---\npermissionMode: bypassPermissions\n---\n",
                "a/po.md:2: the permission mode `bypassPermissions` cannot be given to an agent",
            ),
        ] {
            assert_eq!(role(text).expect_err(text), expected);
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files of a test need not survive a crash")]
    fn what_is_no_text_and_who_has_the_name_of_another_have_their_lines() {
        let root = crate::test_directory().join(format!("roles-{}", std::process::id()));
        let folder = root.join(FOLDER);
        fs::create_dir_all(&folder).expect("it is ours");
        for (file, bytes) in [
            ("a", b"---\ndescription: x\nname: QA\n---\n".as_slice()),
            ("b", b"---\nname: QA\n---\n"),
            ("bad", b"---\nname: QA\n---\nIt is\nb\xe9.\n"),
            // Its name is that of the file.
            ("c", b"Plan.\n"),
            ("d", b"---\n\nname: c\n---\n"),
        ] {
            fs::write(folder.join(format!("{file}.md")), bytes).expect("it is ours");
        }
        let found = files(&root);
        fs::remove_dir_all(&root).expect("it is ours");
        let wrong: Vec<(&str, String)> = found
            .iter()
            .filter_map(|(name, role)| Some((name.as_str(), role.as_ref().err()?.message.clone())))
            .collect();
        let at = |file: &str| folder.join(file).display().to_string();
        let taken = |name: &str, by: &str| {
            format!("the name `{name}` is taken by {by}: each role needs one of its own")
        };
        assert_eq!(
            wrong,
            [
                ("QA", format!("{}:2: {}", at("b.md"), taken("QA", &format!("{}:3", at("a.md"))))),
                ("bad", format!("{}:5: not UTF-8", at("bad.md"))),
                ("c", format!("{}:3: {}", at("d.md"), taken("c", &format!("{}:1", at("c.md"))))),
            ]
        );
    }

    #[test]
    fn what_an_agent_cannot_be_given_is_refused_with_its_line() {
        let codex = ostler_agents::Agent::builtin("codex").expect("it is built in");
        let role = role("---\nname: PO\ntools: Read\n---\nBody.").expect("it is understood");
        let objection = role.objection(&codex).expect("it has none");
        assert!(objection.starts_with("a/po.md:3: agent `codex` cannot be given its `tools`"), "{objection}");
        let plain = ostler_agents::Agent::plain(&["cat".to_owned()]);
        let role = Role { tools: Vec::new(), ..role };
        assert!(role.objection(&plain).expect("it is told nothing").contains("a/po.md:5: "));
        assert_eq!(role.objection(&codex), None);
    }
}
