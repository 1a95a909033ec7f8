//! The index on real directories: what it finds, and how it follows changes.

#![expect(clippy::disallowed_methods, reason = "a test makes its files and asks ripgrep")]

use std::{
    collections::BTreeSet,
    env, fs,
    os::unix::{ffi::OsStrExt, fs::symlink},
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

use ostler_files::beneath::HeldDirectory;
use ostler_memory::{FILE_BYTES_MAX, MemoryIndex, MemoryQuery};

/// The time is that of the epoch, so that no file counts as settled: each is read again where no event tells of it.
const NOW_MS: u64 = 0;

/// A directory of its own, removed at the end.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("ostler-memory-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("it works");
        Place(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it works")).expect("it works");
        fs::write(path, text).expect("it works");
    }

    fn index(&self) -> MemoryIndex {
        MemoryIndex::read(HeldDirectory::open(&self.0).expect("it works"), NOW_MS).expect("it works")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn found(index: &MemoryIndex, words: &[&str]) -> BTreeSet<PathBuf> {
    let query = MemoryQuery::new(words.iter().copied()).expect("it works");
    index.search(&query).into_iter().map(|hit| hit.path.to_owned()).collect()
}

/// What a search gives right after a change, as one line.
fn now(index: &mut MemoryIndex, word: &str) -> String {
    index.refresh(NOW_MS).expect("it works");
    found(index, &[word]).iter().map(|it| it.display().to_string()).collect::<Vec<_>>().join(" ")
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("it works") % bound
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const VOCABULARY: [&str; 40] = [
    "login",
    "Login",
    "TOKEN",
    "token",
    "useAuthToken",
    "get_user_id",
    "API",
    "cache",
    "Straße",
    "STRASSE",
    "ΣΟΦΟΣ",
    "σοφος",
    "Ünïcode",
    "ÜNÏCODE",
    "Kelvin",
    "i",
    "İstanbul",
    "ı",
    "é",
    "É",
    "로그인",
    "로그",
    "인증",
    "세션을",
    "토큰이",
    "결정",
    "게시판",
    "목록",
    "댓글",
    "검토",
    "아키텍처",
    "가",
    "인",
    "a",
    "Z",
    "42",
    "v2.0",
    "C++",
    "$x",
    "[a-z]*",
];

fn generate(place: &Place, files: usize) {
    let mut numbers = Numbers(7);
    for file in 0..files {
        let mut text = String::new();
        for _ in 0..numbers.below(30) {
            for _ in 0..numbers.below(6) {
                text.push_str(numbers.one(&VOCABULARY));
                text.push_str(numbers.one(&[" ", "", "-", "\t"]));
            }
            text.push_str(numbers.one(&["\n", "\r\n", "\n\n# "]));
        }
        let mut bytes = text.into_bytes();
        if numbers.below(20) == 0 {
            bytes.splice(0..0, *b"\xff\xc3(\xe2\x82");
        }
        let name = format!(
            "{}/{file}{}",
            numbers.one(&["a", "결정", ".hidden", "a/b/c"]),
            numbers.one(&[".md", ".md", ".txt"])
        );
        place.write(&name, bytes);
    }
}

/// The files with a word by ripgrep; nothing where it is not installed.
fn by_ripgrep(place: &Place, word: &str) -> Option<BTreeSet<PathBuf>> {
    let mut command = Command::new("rg");
    command.args(["--no-config", "-liF0", "--hidden", "--no-ignore", "--glob", "*.md", "--", word, "."]);
    let output = command.current_dir(&place.0).output().ok()?;
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&output.stderr));
    let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let path = |name: &[u8]| {
        Path::new(std::ffi::OsStr::from_bytes(name)).strip_prefix(".").expect("it works").to_owned()
    };
    Some(names.map(path).collect())
}

#[test]
fn the_same_files_are_found_as_by_ripgrep() {
    let place = Place::new();
    generate(&place, 400);
    let index = place.index();
    let mut numbers = Numbers(11);
    let mut hits = 0;
    for round in 0..160 {
        let count = 1 + numbers.below(3);
        let words: Vec<String> = (0..count)
            .map(|_| {
                let word: Vec<char> = numbers.one(&VOCABULARY).chars().collect();
                let from = numbers.below(word.len());
                let to = from + 1 + numbers.below(word.len() - from);
                word[from..to].iter().collect()
            })
            .collect();
        let mut expected: Option<BTreeSet<PathBuf>> = None;
        for word in &words {
            let Some(these) = by_ripgrep(&place, word) else {
                println!("SKIPPED: ripgrep is not installed");
                return;
            };
            expected =
                Some(expected.map_or(these.clone(), |all| all.intersection(&these).cloned().collect()));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let these = found(&index, &words);
        assert_eq!(Some(&these), expected.as_ref(), "round {round}: {words:?}");
        hits += these.len();
    }
    assert!(hits > 1000, "{hits} hits show nothing");
}

#[test]
fn every_change_shows_at_once() {
    let place = Place::new();
    place.write("a.md", "one");
    let mut index = place.index();
    assert!(index.is_watched());
    assert_eq!(now(&mut index, "one"), "a.md");
    place.write("a.md", "two");
    assert_eq!((now(&mut index, "one"), now(&mut index, "two")), (String::new(), "a.md".to_owned()));
    place.write("deep/er/b.md", "two");
    assert_eq!(now(&mut index, "two"), "a.md deep/er/b.md");
    place.write("deep/er/c.md", "two");
    assert_eq!(now(&mut index, "two"), "a.md deep/er/b.md deep/er/c.md");
    fs::rename(place.path("deep"), place.path("far")).expect("it works");
    assert_eq!(now(&mut index, "two"), "a.md far/er/b.md far/er/c.md");
    // The directory that was moved is watched under its new name.
    place.write("far/er/b.md", "three");
    assert_eq!(now(&mut index, "two"), "a.md far/er/c.md");
    fs::rename(place.path("a.md"), place.path("far/er/c.md")).expect("it works");
    assert_eq!(now(&mut index, "two"), "far/er/c.md");
    fs::rename(place.path("far/er/c.md"), place.path("far/er/c.txt")).expect("it works");
    assert_eq!(now(&mut index, "two"), "");
    fs::remove_dir_all(place.path("far")).expect("it works");
    assert_eq!(now(&mut index, "three"), "");
    assert!(index.is_empty());
    assert_eq!(index.text_bytes(), 0);
}

#[test]
fn two_directories_that_change_places_are_told_apart() {
    let place = Place::new();
    place.write("a/x.md", "left");
    place.write("b/x.md", "right");
    let mut index = place.index();
    fs::rename(place.path("a"), place.path("c")).expect("it works");
    fs::rename(place.path("b"), place.path("a")).expect("it works");
    fs::rename(place.path("c"), place.path("b")).expect("it works");
    assert_eq!((now(&mut index, "left").as_str(), now(&mut index, "right").as_str()), ("b/x.md", "a/x.md"));
    place.write("a/x.md", "left");
    place.write("b/x.md", "right");
    assert_eq!((now(&mut index, "left").as_str(), now(&mut index, "right").as_str()), ("a/x.md", "b/x.md"));
}

#[test]
fn a_change_under_a_second_name_shows_too() {
    let (place, elsewhere) = (Place::new(), Place::new());
    elsewhere.write("original.txt", "one");
    fs::hard_link(elsewhere.path("original.txt"), place.path("a.md")).expect("it works");
    let mut index = place.index();
    assert_eq!(now(&mut index, "one"), "a.md");
    elsewhere.write("original.txt", "two");
    assert_eq!(now(&mut index, "two"), "a.md");
}

#[test]
fn more_changes_than_the_kernel_keeps_lose_nothing() {
    let place = Place::new();
    place.write("a.md", "before");
    let mut index = place.index();
    for round in 0..9000 {
        place.write(&format!("{}/{round}.md", round % 7), "after");
        if round % 2 == 0 {
            fs::remove_file(place.path(&format!("{}/{round}.md", round % 7))).expect("it works");
        }
    }
    place.write("a.md", "after");
    index.refresh(NOW_MS).expect("it works");
    assert_eq!(found(&index, &["after"]).len(), 4501);
    assert_eq!(found(&index, &["before"]).len(), 0);
    // And it follows on.
    place.write("1/1.md", "before");
    assert_eq!(now(&mut index, "before"), "1/1.md");
}

#[test]
fn after_any_changes_it_is_as_if_read_anew() {
    let place = Place::new();
    let mut index = place.index();
    let mut numbers = Numbers(3);
    let names = ["a.md", "b.md", "d/a.md", "d/e/a.md", "d/e/b.md", "f/a.md", "f/g/b.md", "f/x.txt"];
    let directories = ["d", "d/e", "f", "f/g", "h"];
    for round in 0..600 {
        let (name, other) = (numbers.one(&names), numbers.one(&names));
        let (directory, target) = (numbers.one(&directories), numbers.one(&directories));
        // Much of it fails, because nothing is there or something else is: that is as good.
        match numbers.below(8) {
            0..=2 => {
                fs::create_dir_all(place.path(name).parent().expect("it works")).ok();
                fs::write(place.path(name), numbers.one(&["one", "two", "one two"])).ok();
            }
            3 => drop(fs::remove_file(place.path(name))),
            4 => drop(fs::rename(place.path(name), place.path(other))),
            5 => drop(fs::rename(place.path(directory), place.path(target))),
            6 => drop(fs::remove_dir_all(place.path(directory))),
            _ => drop(symlink(place.path(name), place.path(other))),
        }
        if numbers.below(3) > 0 {
            continue;
        }
        index.refresh(NOW_MS).expect("it works");
        let fresh = place.index();
        for word in ["one", "two"] {
            assert_eq!(found(&index, &[word]), found(&fresh, &[word]), "round {round}: {word}");
        }
        assert_eq!((index.len(), index.text_bytes()), (fresh.len(), fresh.text_bytes()), "round {round}");
    }
}

#[test]
fn links_and_what_is_no_text_lead_nowhere() {
    let (place, elsewhere) = (Place::new(), Place::new());
    elsewhere.write("secret.md", "needle");
    symlink(elsewhere.path("secret.md"), place.path("link.md")).expect("it works");
    symlink(&elsewhere.0, place.path("linked")).expect("it works");
    symlink(&place.0, place.path("circle")).expect("it works");
    rustix::fs::mkfifoat(rustix::fs::CWD, place.path("pipe.md"), rustix::fs::Mode::from_raw_mode(0o600))
        .expect("it works");
    place.write("binary.md", b"needle\0");
    place.write("long.md", "needle\n".repeat(usize::try_from(FILE_BYTES_MAX).expect("it works") / 7 + 1));
    place.write("dir.md/inner.md", "needle");
    place.write(".git/x.md", "needle");
    let hostile = std::ffi::OsStr::from_bytes(b"\x1b[31m\n\xff \"'.md");
    fs::write(place.0.join(hostile), "needle").expect("it works");
    let mut index = place.index();
    let all: BTreeSet<PathBuf> = [PathBuf::from("dir.md/inner.md"), PathBuf::from(hostile)].into();
    assert_eq!(found(&index, &["needle"]), all);
    assert_eq!(index.left_out().files, 2);
    assert!(index.text(Path::new("link.md")).is_err());
    assert!(index.text(Path::new("linked/secret.md")).is_err());
    assert!(index.text(Path::new("../secret.md")).is_err());
    assert!(index.text(Path::new("pipe.md")).is_err());
    assert_eq!(index.text(Path::new(hostile)).expect("it works"), "needle");
    // A file that becomes a link is gone.
    fs::remove_file(place.0.join("dir.md/inner.md")).expect("it works");
    symlink(elsewhere.path("secret.md"), place.path("dir.md/inner.md")).expect("it works");
    index.refresh(NOW_MS).expect("it works");
    assert_eq!(found(&index, &["needle"]).len(), 1);
}
