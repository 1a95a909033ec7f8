//! The skills of a project, in both layouts.
#![expect(clippy::disallowed_methods, reason = "a test makes its files")]

use std::{env, fs, os::unix::fs::symlink, path::PathBuf, process};

use ostler_skills::{SKILL_BYTES_MAX, SkillOrigin, SkillSet};

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let root = env::temp_dir().join(format!("ostler-skills-{name}-{}", process::id()));
        fs::remove_dir_all(&root).ok();
        fs::create_dir_all(root.join(".claude/skills")).expect("a directory");
        Place(root)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.0.join(".claude/skills").join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

#[test]
fn both_layouts_are_read_and_a_project_counts_first() {
    let place = Place::new("layouts");
    place.write("auth-flow.md", "# Skill: auth-flow\n## 트리거 조건\n### 키워드\n`로그인`\n");
    place.write("pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF.\n---\nUse it.\n");
    place.write("_template.md", "# Skill: x\n");
    place.write("notes.txt", "nothing");
    place.write("empty/readme.md", "nothing");
    let set = SkillSet::read(&place.0).expect("a set");
    let names: Vec<&str> = set.skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["api-integration", "auth-flow", "crud-feature", "pdf"]);
    let auth = set.get("auth-flow").expect("a skill");
    assert_eq!(auth.origin, SkillOrigin::Project(".claude/skills/auth-flow.md".into()));
    // Its words are its own, its rule is that of the built-in skill, because it says none as data.
    assert_eq!((auth.file.keywords.len(), auth.file.rule.any_of.len()), (1, 1));
    let pdf = set.get("pdf").expect("a skill");
    assert!(!pdf.file.can_fire() && pdf.file.description == "Reads PDF.");
    assert_eq!(set.left_out, []);
    assert_eq!(SkillSet::read(&env::temp_dir().join("ostler-no-such-directory")).ok(), None);
}

#[test]
fn files_that_cannot_be_skills_are_left_out() {
    let place = Place::new("hostile");
    fs::write(place.0.join("secret.md"), "# Skill: secret\n").expect("a file");
    symlink(place.0.join("secret.md"), place.0.join(".claude/skills/linked.md")).expect("a link");
    symlink(&place.0, place.0.join(".claude/skills/folder")).expect("a link");
    place.write("long.md", "x".repeat(usize::try_from(SKILL_BYTES_MAX).expect("a length") + 1));
    place.write("binary.md", [0xff, 0xfe, 0]);
    place.write("twice.md", "# Skill: twice\n");
    place.write("twice/SKILL.md", "# Skill: twice\n");
    place.write("line\nbreak.md", "# Skill: x\n");
    let set = SkillSet::read(&place.0).expect("a set");
    let names: Vec<&str> = set.skills.iter().map(|skill| skill.name.as_str()).collect();
    assert_eq!(names, ["api-integration", "auth-flow", "crud-feature", "twice"]);
    let left: Vec<String> = set.left_out.iter().map(|it| it.path.display().to_string()).collect();
    let expected = ["binary.md", "linked.md", "long.md", "twice.md"].map(|it| format!(".claude/skills/{it}"));
    assert_eq!(left, expected);
}
