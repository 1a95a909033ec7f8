//! The skills of a project: those that are built in, and the files of both layouts.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fmt, io,
    path::{Path, PathBuf},
};

use ostler_files::beneath::{DirectoryEntry, HeldDirectory};

use crate::{
    built_in::{built_in, rule_of},
    skill_file::{SKILL_BYTES_MAX, SkillFile, SkillRule},
};

/// The most skills of a project.
pub const SKILLS_MAX: usize = 500;

/// Where a project keeps its skills.
const FOLDER: &str = ".claude/skills";

/// The file of a skill in a directory of its own.
const OWN_FILE: &str = "SKILL.md";

/// The skills that count, by name, and those that do not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillSet {
    /// Those that count, in the order of their names.
    pub skills: Vec<Skill>,
    /// Files that do not count.
    pub left_out: Vec<LeftOutSkill>,
}

/// A skill that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The stem of its file or the name of its directory.
    pub name: String,
    /// Where it comes from.
    pub origin: SkillOrigin,
    /// Its text.
    pub text: String,
    /// What the text says.
    pub file: SkillFile,
}

/// Where a skill comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillOrigin {
    /// It comes with Ostler.
    BuiltIn,
    /// A file of the project, as seen from its root.
    Project(PathBuf),
}

/// A file that is no skill of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutSkill {
    /// The file, as seen from the root of the project.
    pub path: PathBuf,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for SkillOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkillOrigin::BuiltIn => f.write_str("built in"),
            SkillOrigin::Project(path) => path.display().fmt(f),
        }
    }
}

impl SkillSet {
    /// The skills that come with Ostler.
    pub fn built_in() -> SkillSet {
        let skill = |(name, text, file): (&str, &str, SkillFile)| Skill {
            name: name.to_owned(),
            origin: SkillOrigin::BuiltIn,
            text: text.to_owned(),
            file,
        };
        SkillSet { skills: built_in().map(skill).collect(), left_out: Vec::new() }
    }

    /// Those, and the skills of a project. A file of the project counts instead of a built-in skill of its name.
    pub fn read(root: &Path) -> io::Result<SkillSet> {
        let mut set = SkillSet::default();
        let mut skills: BTreeMap<String, Skill> =
            SkillSet::built_in().skills.into_iter().map(|skill| (skill.name.clone(), skill)).collect();
        let folder = match HeldDirectory::open(root)?.descend(Path::new(FOLDER)) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                set.skills = skills.into_values().collect();
                return Ok(set);
            }
            Err(error) => return Err(error),
        };
        let mut entries = folder.entries(SKILLS_MAX)?;
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        for entry in entries {
            set.take(&folder, &entry, &mut skills);
        }
        set.skills = skills.into_values().collect();
        Ok(set)
    }

    fn take(&mut self, folder: &HeldDirectory, entry: &DirectoryEntry, skills: &mut BTreeMap<String, Skill>) {
        let Some((name, inside, read)) = candidate(folder, entry) else { return };
        let path = Path::new(FOLDER).join(inside);
        let leave_out = |reason: String| LeftOutSkill { path: path.clone(), reason };
        let text = match read.map(String::from_utf8) {
            Ok(Ok(text)) => text,
            Ok(Err(_)) => return self.left_out.push(leave_out("it is no text".to_owned())),
            Err(error) => return self.left_out.push(leave_out(error.to_string())),
        };
        let is_taken = skills.get(&name).is_some_and(|known| known.origin != SkillOrigin::BuiltIn);
        if is_taken {
            return self.left_out.push(leave_out("another file has this name".to_owned()));
        }
        let mut file = SkillFile::read(&text);
        // A file of the older form has the rule of a built-in skill in words; as data it is the built-in one's.
        if file.rule == SkillRule::default()
            && let Some(rule) = rule_of(&name)
        {
            file.rule = rule;
        }
        let origin = SkillOrigin::Project(path);
        skills.insert(name.clone(), Skill { name, origin, text, file });
    }

    /// The skill of a name.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name)
    }
}

/// The name of what may be a skill, its file as seen from the folder, and what stands in it.
fn candidate(
    folder: &HeldDirectory,
    entry: &DirectoryEntry,
) -> Option<(String, PathBuf, io::Result<Vec<u8>>)> {
    let name = Path::new(&entry.name);
    let text = entry.name.to_str()?;
    let is_hidden = text.starts_with(['.', '_']);
    let is_plain = !text.chars().any(char::is_control);
    if is_hidden || !is_plain {
        return None;
    }
    if text.to_ascii_lowercase().ends_with(".md") {
        let stem = name.file_stem()?.to_str()?.to_owned();
        return Some((stem, name.to_owned(), folder.read(&entry.name, SKILL_BYTES_MAX)));
    }
    let own = folder.descend(name).ok()?;
    own.stat(OsStr::new(OWN_FILE)).ok()?;
    Some((text.to_owned(), name.join(OWN_FILE), own.read(OsStr::new(OWN_FILE), SKILL_BYTES_MAX)))
}
