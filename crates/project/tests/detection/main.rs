//! Small projects of many stacks: what is found in each stands at the end of its file, and nothing else may be found.
//!
//! `UPDATE_EXPECT=1` writes what is found now.
#![expect(clippy::disallowed_methods, reason = "these tests make files")]

use std::{
    fmt::Write as _,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use ostler_project::{StackDetection, WhyUnread};

/// What begins the part of a project's file that says what is found.
const EXPECTED: &str = "-- expected --\n";

/// A directory that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::remove_dir_all(&path).ok();
        fs::create_dir_all(&path).expect("a directory can be made");
        Scratch(path)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("it has a parent")).expect("a directory can be made");
        fs::write(path, text).expect("a file can be written");
    }

    fn found(&self) -> String {
        shown(&StackDetection::of(&self.0).expect("it can be listed"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

/// A line for each finding and each manifest that says nothing.
fn shown(detection: &StackDetection) -> String {
    let mut text = String::new();
    for finding in &detection.findings {
        let section = serde_json::to_value(finding.section).expect("a word");
        let evidence: Vec<String> = finding.evidence.iter().map(ToString::to_string).collect();
        let (section, evidence) = (section.as_str().expect("a word"), evidence.join(", "));
        writeln!(text, "{section} / {}: {} — {evidence}", finding.key, finding.value()).expect("text");
    }
    for unread in &detection.unread {
        writeln!(text, "unread: {} {:?}", unread.file, unread.why).expect("text");
    }
    for (section, key) in detection.unclear() {
        writeln!(text, "unclear: {section:?} {key}").expect("text");
    }
    if detection.is_cut {
        text.push_str("cut\n");
    }
    text
}

#[test]
fn every_project_is_described_by_its_own_files_and_by_nothing_else() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/detection/projects");
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("the projects are there").flatten().map(|it| it.path()).collect();
    files.sort();
    assert!(files.len() >= 25, "{} projects", files.len());
    let mut wrong = String::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a project can be read");
        let (project, expected) = text.split_once(EXPECTED).unwrap_or((&text, ""));
        let place = Scratch::new(file.file_stem().and_then(|it| it.to_str()).expect("it has a name"));
        for part in project.split("\n-- ").skip(1) {
            let (name, content) = part.split_once(" --\n").expect("a file has a name");
            place.write(name, format!("{content}\n"));
        }
        let found = place.found();
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&file, format!("{project}{EXPECTED}{found}")).expect("it can be written");
        } else if found != expected {
            writeln!(wrong, "{}:\n{found}\ninstead of\n{expected}", file.display()).expect("text");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn files_that_cannot_be_read_are_named_and_keep_nothing_waiting() {
    let place = Scratch::new("hostile");
    place.write("Cargo.toml", [0xff, 0xfe, 0x00]);
    place.write("composer.json", vec![b' '; (1 << 20) + 1]);
    place.write("pom.xml", format!("<project>{}", "<a>".repeat(300_000)));
    place.write("pyproject.toml", format!("a = {}", "[".repeat(200_000)));
    place.write("package.json", "{ \"dependencies\": { \"express\": ");
    symlink("/dev/zero", place.0.join("Gemfile")).expect("a link can be made");
    make_pipe(&place.0.join("go.mod"));
    let detection = StackDetection::of(&place.0).expect("it can be listed");
    let mut why: Vec<(&str, WhyUnread)> =
        detection.unread.iter().map(|it| (it.file.as_str(), it.why)).collect();
    why.sort_by_key(|it| it.0);
    assert_eq!(why[0], ("Cargo.toml", WhyUnread::NotText));
    assert_eq!(why[1], ("composer.json", WhyUnread::TooLarge));
    assert_eq!(why[2], ("package.json", WhyUnread::Malformed { line: Some(1) }));
    assert!(matches!(why[3], ("pom.xml", WhyUnread::Malformed { .. })), "{why:?}");
    assert!(matches!(why[4], ("pyproject.toml", WhyUnread::Malformed { .. })), "{why:?}");
    assert_eq!(why.len(), 5, "links and pipes are no manifests: {why:?}");
}

/// A named pipe, which nobody writes to.
fn make_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().expect("mkfifo runs");
    assert!(made.success());
}

#[test]
fn values_of_other_types_are_passed_over() {
    let place = Scratch::new("types");
    place.write(
        "package.json",
        r#"{ "dependencies": { "express": 4, "react": ["18"], "koa": null }, "devDependencies": 7,
             "packageManager": {}, "engines": "x" }"#,
    );
    place.write("pyproject.toml", "project = 3\n[tool]\npoetry = \"x\"\n[dependency-groups]\ndev = 1\n");
    assert_eq!(
        place.found(),
        "frontend / Framework: React — package.json:1\nbackend / Framework: Express — package.json:1\n\
         backend / Framework: Koa — package.json:1\n"
    );
}

#[test]
fn a_tree_without_end_is_cut() {
    let place = Scratch::new("wide");
    for index in 0..600 {
        place.write(&format!("packages/p{index}/package.json"), "{}");
    }
    assert!(StackDetection::of(&place.0).expect("it can be listed").is_cut);
}
