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

use super::{document, glob, tests_command};

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
    /// What stood there when the phase began, or at an earlier gate of it.
    pub(crate) before: BTreeSet<String>,
    /// What is there and was not kept.
    pub(crate) left_out: &'a [String],
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
    let announced: Vec<(&str, Option<String>)> =
        look.announced.iter().map(|said| (said.as_str(), look.path_of(said))).collect();
    let mut problems = Vec::new();
    for rule in &look.plan.artifacts {
        look.follow(rule, &mut problems);
    }
    let absent = announced.iter().filter(|(_, path)| path.is_none());
    problems.extend(absent.map(|(said, _)| Problem::AnnouncedAbsent { path: (*said).to_owned() }));
    let gone = look.before.iter().filter(|path| !look.files.contains_key(*path));
    let gone = gone.filter(|path| look.plan.keep.iter().any(|glob| glob::matches(glob, path)));
    problems.extend(gone.map(|path| Problem::Deleted { path: path.clone() }));
    let mut commands = look.plan.commands.clone();
    match (look.plan.find_tests_ms_max, look.find_tests()) {
        (Some(time_ms_max), Some(run)) => {
            commands.push(GateCommand { run, kind: CommandKind::Tests, time_ms_max, in_project: false });
        }
        (Some(_), None) => problems.push(Problem::NoTests),
        (None, _) => {}
    }
    problems.truncate(PROBLEMS_MAX);
    let announced: BTreeSet<String> = announced.into_iter().filter_map(|(_, path)| path).collect();
    let extra = announced.iter().filter(|path| !look.is_expected(path)).cloned().collect();
    let (files, files_count) = look.list(&announced);
    Collected { tree: look.tree.clone(), files, files_count, commands, problems, extra }
}

impl Look<'_> {
    /// A path of the tree that an announcement means. People put words behind a path, and marks around it.
    fn path_of(&self, said: &str) -> Option<String> {
        let said = said.trim().trim_matches(['`', '"', '\'']);
        let inside = said.strip_prefix(self.directory).map_or(said, |rest| rest.trim_start_matches('/'));
        let inside = inside.trim_start_matches("./");
        let ends = [" - ", " (", ": ", " — ", " – "];
        let short = ends.iter().filter_map(|end| inside.split_once(end)).map(|(path, _)| path);
        let mut meant = [inside].into_iter().chain(short).map(|it| it.trim().trim_matches('`'));
        meant.find(|path| self.files.contains_key(*path)).map(str::to_owned)
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
            match self.left_out.iter().find(is_there) {
                Some(path) => problems.push(Problem::TooLarge { path: path.clone() }),
                None if glob::is_plain(&glob) => problems.push(Problem::Missing { path: glob.clone() }),
                None => problems.push(Problem::TooFew { glob: glob.clone(), count, min: rule.min }),
            }
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
        let any = |glob: &str| self.files.keys().any(|path| glob::matches(glob, path));
        tests_command::find(has, self.read, any)
    }

    /// What is announced, expected or changed.
    fn list(&self, announced: &BTreeSet<String>) -> (Vec<FileFound>, u64) {
        let gone = self.changed.iter().filter(|(_, change)| **change == Change::Deleted);
        let paths: BTreeSet<&String> = self.files.keys().chain(gone.map(|(path, _)| path)).collect();
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
            before: before.iter().map(ToString::to_string).collect(),
            left_out: &["big.bin".to_owned()],
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
