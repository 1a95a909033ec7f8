//! What is in the tree of a gate, against what was announced, what is expected, and what stood there before. It sees no
//! disk: files come from the checkpoint.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use ostler_engine::phases::{
    Change, Collected, FileFound,
    plan::{CommandKind, GateCommand, PhasePlan, Rule},
    problem::Problem,
};

use super::{announced, document, glob, tests_command};

/// The most files that are named.
const FILES_MAX: usize = 500;

/// The most problems that are named.
const PROBLEMS_MAX: usize = 100;

/// The most documents of a rule that are read.
const READ_MAX: usize = 200;

/// A file of so few bytes may hold nothing but white space.
const SMALL_BYTES_MAX: u64 = 64;

/// What a gate is looked at with.
pub(crate) struct Look<'a> {
    /// What is expected.
    pub(crate) plan: &'a PhasePlan,
    /// The name of the tree.
    pub(crate) tree: String,
    /// What was announced.
    pub(crate) announced: &'a [String],
    /// Where the worker works: what it announces may begin with that.
    pub(crate) directory: &'a str,
    /// The files of the tree, with their sizes. Links are none.
    pub(crate) files: BTreeMap<String, u64>,
    /// What has changed since the phase began.
    pub(crate) changed: BTreeMap<String, Change>,
    /// The files that stood there when the phase began, or at an earlier gate of it, with the most that stood in each.
    pub(crate) before: BTreeMap<String, u64>,
    /// What is there and too large to be kept.
    pub(crate) too_large: &'a [String],
    /// Whether something is in the worker's directory, kept or not.
    pub(crate) is_on_disk: &'a dyn Fn(&str) -> bool,
    /// What stands in a file.
    pub(crate) read: &'a dyn Fn(&str) -> Option<String>,
}

impl fmt::Debug for Look<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Look").field("tree", &self.tree).finish_non_exhaustive()
    }
}

/// Looks at all of it.
pub(crate) fn collect(look: &Look<'_>) -> Collected {
    let mut announced = BTreeSet::new();
    let mut problems = Vec::new();
    for rule in &look.plan.artifacts {
        look.follow(rule, &mut problems);
    }
    for said in look.announced {
        match look.meant_by(said) {
            Meant::Files(paths) => announced.extend(paths),
            Meant::Absent(problem) => problems.push(problem),
        }
    }
    look.miss(&mut problems);
    let mut commands = look.plan.commands.clone();
    match (look.plan.find_tests_ms_max, look.find_tests()) {
        (Some(time_ms_max), Some(run)) => {
            commands.push(GateCommand { run, kind: CommandKind::Tests, time_ms_max, in_project: false });
        }
        (Some(_), None) => problems.push(Problem::NoTests),
        (None, _) => {}
    }
    problems.truncate(PROBLEMS_MAX);
    let extra = announced.iter().filter(|path| !look.is_expected(path)).cloned().collect();
    let (files, files_count) = look.list(&announced);
    Collected { tree: look.tree.clone(), files, files_count, commands, problems, extra }
}

/// What an announcement means.
enum Meant {
    /// These; none where it says that there are none.
    Files(Vec<String>),
    /// Something that is not among the files.
    Absent(Problem),
}

impl Look<'_> {
    /// The files of the tree that an announcement means: one, all below a folder, or all of a kind.
    fn meant_by(&self, said: &str) -> Meant {
        let said = said.trim();
        if ["", "-", "none", "n/a", "없음"]
            .iter()
            .any(|none| said.trim_end_matches('.').eq_ignore_ascii_case(none))
        {
            return Meant::Files(Vec::new());
        }
        let readings = announced::readings(said, self.directory);
        let files = readings.iter().map(|reading| self.files_at(reading)).find(|files| !files.is_empty());
        if let Some(files) = files {
            return Meant::Files(files);
        }
        let is_there = |reading: &&String| announced::is_inside(reading) && (self.is_on_disk)(reading);
        Meant::Absent(match readings.iter().find(is_there) {
            Some(reading) if self.too_large.contains(reading) => Problem::TooLarge { path: reading.clone() },
            Some(reading) => Problem::NotKept { path: reading.clone() },
            None => Problem::AnnouncedAbsent { path: said.to_owned() },
        })
    }

    fn files_at(&self, reading: &str) -> Vec<String> {
        if self.files.contains_key(reading) {
            return vec![reading.to_owned()];
        }
        let folder = format!("{}/", reading.trim_end_matches('/'));
        let is_glob = reading.contains('*') && glob::problem(reading).is_none();
        let is_meant =
            |path: &&String| path.starts_with(&folder) || (is_glob && glob::matches(reading, path));
        self.files.keys().filter(is_meant).cloned().collect()
    }

    /// What was to stay, and is gone or has nothing in it any more.
    fn miss(&self, problems: &mut Vec<Problem>) {
        let stays = |path: &str| self.plan.keep.iter().any(|glob| glob::matches(glob, path));
        for (path, &bytes_before) in self.before.iter().filter(|(path, _)| stays(path)) {
            match self.files.get(path) {
                None => problems.push(Problem::Deleted { path: path.clone() }),
                Some(&bytes) if bytes < bytes_before && self.is_empty(path, bytes) => {
                    problems.push(Problem::Empty { path: path.clone() });
                }
                Some(_) => {}
            }
        }
    }

    fn is_empty(&self, path: &str, bytes: u64) -> bool {
        bytes == 0
            || (bytes <= SMALL_BYTES_MAX && (self.read)(path).is_none_or(|text| document::is_blank(&text)))
    }

    fn is_expected(&self, path: &str) -> bool {
        self.plan.artifacts.iter().any(|rule| glob::matches(&rule.glob, path))
    }

    fn follow(&self, rule: &Rule, problems: &mut Vec<Problem>) {
        let found: Vec<(&String, &u64)> =
            self.files.iter().filter(|(path, _)| glob::matches(&rule.glob, path)).collect();
        let (count, glob) = (found.len() as u64, rule.glob.clone());
        if count < u64::from(rule.min) {
            let is_there = |left: &&String| glob::matches(&rule.glob, left);
            problems.push(match self.too_large.iter().find(is_there) {
                Some(path) => Problem::TooLarge { path: path.clone() },
                None if !glob::is_plain(&glob) => {
                    Problem::TooFew { glob: glob.clone(), count, min: rule.min }
                }
                None if (self.is_on_disk)(&glob) => Problem::NotKept { path: glob.clone() },
                None => Problem::Missing { path: glob.clone() },
            });
        }
        if let Some(max) = rule.max.filter(|max| count > u64::from(*max)) {
            problems.push(Problem::TooMany { glob: glob.clone(), count, max });
        }
        let is_new = |path: &String| self.changed.get(path).is_some_and(|change| *change != Change::Deleted);
        if rule.changed && !found.is_empty() && !found.iter().any(|(path, _)| is_new(path)) {
            problems.push(Problem::Unchanged { glob });
        }
        let mut read = 0;
        for (path, &bytes) in found {
            let is_document = !rule.sections.is_empty() || rule.placeholders;
            if bytes > SMALL_BYTES_MAX && (!is_document || read >= READ_MAX) {
                continue;
            }
            read += 1;
            let text = if bytes == 0 { String::new() } else { (self.read)(path).unwrap_or_default() };
            if document::is_blank(&text) {
                problems.push(Problem::Empty { path: path.clone() });
            } else {
                problems.extend(document::problems(path, &text, rule));
            }
        }
    }

    fn find_tests(&self) -> Option<String> {
        let has = |path: &str| self.files.contains_key(path);
        let all = |glob: &str| self.files.keys().filter(|path| glob::matches(glob, path)).cloned().collect();
        tests_command::find(has, self.read, all)
    }

    /// What is announced, expected or changed.
    fn list(&self, announced: &BTreeSet<String>) -> (Vec<FileFound>, u64) {
        // What is gone, a link and a repository of its own are no files, and yet a reader has to know of them.
        let paths: BTreeSet<&String> = self.files.keys().chain(self.changed.keys()).collect();
        let found = paths.into_iter().map(|path| FileFound {
            bytes: self.files.get(path).copied(),
            announced: announced.contains(path),
            expected: self.is_expected(path),
            change: self.changed.get(path).copied(),
            path: path.clone(),
        });
        let mut found: Vec<FileFound> =
            found.filter(|it| it.announced || it.expected || it.change.is_some()).collect();
        let count = found.len() as u64;
        // What was expected or announced comes before what only changed.
        found.sort_by_key(|it| !(it.expected || it.announced));
        found.truncate(FILES_MAX);
        (found, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(glob: &str) -> Rule {
        Rule { glob: glob.into(), min: 1, max: None, sections: vec![], changed: true, placeholders: true }
    }

    fn plan(artifacts: Vec<Rule>) -> PhasePlan {
        PhasePlan {
            name: "Planning".into(),
            prompt: String::new(),
            agent: 0,
            model: None,
            nonce: String::new(),
            conversation: String::new(),
            artifacts,
            keep: vec!["tests/**".into()],
            commands: vec![],
            find_tests_ms_max: None,
            junit: vec![],
            verifier: None,
            rework_max: 3,
            questions_max: 3,
        }
    }

    /// What is found of these files, all of them new.
    fn check(plan: &PhasePlan, files: &[(&str, &str)], announced: &[&str], before: &[&str]) -> Collected {
        let texts: BTreeMap<String, String> =
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let is_old = |path: &String| before.contains(&path.as_str());
        let changed = texts.keys().filter(|path| !is_old(path)).map(|path| (path.clone(), Change::Added));
        let announced: Vec<String> = announced.iter().map(ToString::to_string).collect();
        collect(&Look {
            plan,
            tree: "t".into(),
            announced: &announced,
            directory: "/repo",
            files: texts.iter().map(|(path, text)| (path.clone(), text.len() as u64)).collect(),
            changed: changed.collect(),
            before: before.iter().map(|path| ((*path).to_owned(), 20)).collect(),
            too_large: &["big.bin".to_owned()],
            is_on_disk: &|path| ["big.bin", "dist/app.js"].contains(&path),
            read: &|path| texts.get(path).cloned(),
        })
    }

    #[test]
    fn what_is_there_is_fine() {
        let plan = plan(vec![rule("docs/a.md"), rule("docs/*.md")]);
        let files = [("docs/a.md", "# A\n\nText."), ("docs/b.md", "# B\n\nText.")];
        let announced = ["docs/a.md", "`docs/b.md` - the second", "./docs/a.md", "/repo/docs/b.md"];
        let found = check(&plan, &files, &announced, &[]);
        assert_eq!((found.problems, found.extra), (vec![], vec![]));
        assert!(found.files.iter().all(|it| it.announced && it.expected && it.change == Some(Change::Added)));
    }

    #[test]
    fn what_is_announced_in_other_words_is_found() {
        let plan = plan(vec![]);
        let files = [("src/a.rs", "text"), ("src/b.rs", "text"), ("d.md", "text")];
        let found = |said: &str| {
            let collected = check(&plan, &files, &[said], &[]);
            assert_eq!(collected.problems, [], "{said}");
            collected.files.iter().filter(|it| it.announced).count()
        };
        for said in ["src/", "src", "src/ (all sources)", "src/*", "`src/*.rs`", "./src//"] {
            assert_eq!(found(said), 2, "{said}");
        }
        for said in [
            "**src/a.rs**",
            "[src/a.rs](src/a.rs)",
            "[the program](./src/a.rs)",
            "src/a.rs, 12 bytes",
            "src/a.rs → the program",
            "src/a.rs -> the program",
            "src//a.rs",
            "src/./a.rs",
            "src/a.rs:12",
            "src/a.rs.",
            "`src/a.rs`: the program",
            "/repo/src/a.rs",
        ] {
            assert_eq!(found(said), 1, "{said}");
        }
        for said in ["none", "None.", "없음", "-"] {
            assert_eq!(found(said), 0, "{said}");
        }
        let problem = |said: &str| check(&plan, &files, &[said], &[]).problems;
        assert_eq!(problem("dist/app.js (built)"), [Problem::NotKept { path: "dist/app.js".into() }]);
        assert_eq!(problem("big.bin"), [Problem::TooLarge { path: "big.bin".into() }]);
        for said in ["src/c.rs", "sr", "../d.md", "/etc", "**/*.py"] {
            assert_eq!(problem(said), [Problem::AnnouncedAbsent { path: said.into() }], "{said}");
        }
    }

    #[test]
    fn missing_too_many_empty_unchanged_and_announced_without_being_there() {
        let problems = |plan: &PhasePlan, files: &[(&str, &str)], announced: &[&str], before: &[&str]| {
            check(plan, files, announced, before).problems
        };
        let one = plan(vec![rule("a.md")]);
        let path = || "a.md".to_owned();
        assert_eq!(problems(&one, &[], &[], &[]), [Problem::Missing { path: path() }]);
        assert_eq!(problems(&one, &[("a.md", "")], &[], &[]), [Problem::Empty { path: path() }]);
        assert_eq!(problems(&one, &[("a.md", " \n\t\n")], &[], &[]), [Problem::Empty { path: path() }]);
        let old = problems(&one, &[("a.md", "text")], &[], &["a.md"]);
        assert_eq!(old, [Problem::Unchanged { glob: path() }]);
        let absent = problems(&one, &[("a.md", "text")], &["b.md", "../etc/passwd"], &[]);
        let said = |path: &str| Problem::AnnouncedAbsent { path: path.to_owned() };
        assert_eq!(absent, [said("b.md"), said("../etc/passwd")]);
        let mut few = rule("*.md");
        (few.min, few.max) = (2, Some(2));
        let few = plan(vec![few]);
        let text = "text";
        let glob = || "*.md".to_owned();
        assert_eq!(
            problems(&few, &[("a.md", text)], &[], &[]),
            [Problem::TooFew { glob: glob(), count: 1, min: 2 }]
        );
        let files = [("a.md", text), ("b.md", text), ("c.md", text)];
        assert_eq!(problems(&few, &files, &[], &[]), [Problem::TooMany { glob: glob(), count: 3, max: 2 }]);
        let large = plan(vec![rule("big.bin")]);
        assert_eq!(problems(&large, &[], &[], &[]), [Problem::TooLarge { path: "big.bin".into() }]);
    }

    #[test]
    fn a_test_that_is_gone_is_missed_and_what_is_extra_is_noted() {
        let one = plan(vec![rule("a.md")]);
        let found = check(&one, &[("a.md", "text"), ("x.md", "text")], &["x.md"], &["tests/a.sh", "other"]);
        assert_eq!(found.problems, [Problem::Deleted { path: "tests/a.sh".into() }]);
        assert_eq!(found.extra, ["x.md"]);
        let emptied = check(&one, &[("a.md", "text"), ("tests/a.sh", " \n")], &[], &["tests/a.sh"]);
        assert_eq!(emptied.problems, [Problem::Empty { path: "tests/a.sh".into() }]);
    }

    #[test]
    fn tests_are_found_or_asked_for() {
        let mut tested = plan(vec![]);
        tested.find_tests_ms_max = Some(5);
        assert_eq!(check(&tested, &[], &[], &[]).problems, [Problem::NoTests]);
        let commands = check(&tested, &[("test.sh", "true")], &[], &[]).commands;
        assert_eq!((commands[0].run.as_str(), commands[0].kind), ("sh test.sh", CommandKind::Tests));
    }
}
