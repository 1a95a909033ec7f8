//! How long a search of 20,000 Markdown files takes, beside ripgrep, and how long the first reading of them.
//!
//! Prints a Markdown table of medians.
#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark makes its files and runs ripgrep as a user would"
)]

use std::{
    fs,
    hint::black_box,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use ostler_files::beneath::HeldDirectory;
use ostler_memory::{MemoryIndex, MemoryQuery};

const FILES: usize = 20_000;
const ROUNDS: usize = 11;

const WORDS: [&str; 24] = [
    "session",
    "token",
    "login",
    "database",
    "schema",
    "migration",
    "review",
    "architect",
    "useAuthToken",
    "get_user_id",
    "retry",
    "cache",
    "로그인",
    "인증",
    "세션",
    "토큰",
    "결정",
    "게시판",
    "목록",
    "결제",
    "검토",
    "스키마",
    "배포",
    "요구사항",
];

fn main() {
    let root =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-memory-{}", std::process::id()));
    make(&root);
    let read =
        || MemoryIndex::read(HeldDirectory::open(&root).expect("it is there"), 0).expect("it can be read");
    let first = median((0..3).map(|_| time(|| drop(read()))).collect());
    let mut index = read();
    let bytes = index.text_bytes();
    println!("{FILES} files, {bytes} bytes; the first reading takes {first:.1?}\n");
    println!(
        "| words | files | search | after an edit | ripgrep | search : ripgrep |\n|---|---:|---:|---:|---:|---:|"
    );
    let cases: [&[&str]; 7] = [
        &["token"],
        &["로그인"],
        &["인"],
        &["useauthtoken", "검토"],
        &["결정", "schema", "retry"],
        &["number 19999"],
        &["nowhere"],
    ];
    for words in cases {
        let query = MemoryQuery::new(words.iter().copied()).expect("words");
        let mut times: [Vec<Duration>; 3] = Default::default();
        let mut files = 0;
        for round in 0..ROUNDS {
            times[0].push(time(|| {
                index.refresh(0).expect("it can be read");
                files = black_box(index.search(&query)).len();
            }));
            fs::write(root.join("edited.md"), format!("edit {round}\n")).expect("a file is written");
            times[1].push(time(|| {
                index.refresh(0).expect("it can be read");
                black_box(index.search(&query));
            }));
            times[2].push(time(|| words.iter().for_each(|word| ripgrep(&root, word))));
        }
        let [search, edited, ripgrep] = times.map(median);
        let ratio = ripgrep.as_secs_f64() / edited.as_secs_f64();
        println!(
            "| {} | {files} | {search:.1?} | {edited:.1?} | {ripgrep:.1?} | 1 : {ratio:.0} |",
            words.join(" ")
        );
    }
    fs::remove_dir_all(&root).expect("it was made here");
}

fn make(root: &Path) {
    let mut number = 7_usize;
    let mut next = |bound: usize| {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (number >> 33) % bound
    };
    for file in 0..FILES {
        let folder = root.join(format!("{}/{}", ["decisions", "notepads", "plans"][file % 3], file / 400));
        fs::create_dir_all(&folder).expect("a directory is made");
        let mut text = format!("# number {file}\n\n");
        for _ in 0..20 {
            let some = WORDS.len() / (1 + file % 3);
            let line: Vec<&str> = (0..8).map(|_| WORDS[(file + next(some)) % WORDS.len()]).collect();
            text.extend(["- ", &line.join(" "), "\n"]);
        }
        fs::write(folder.join(format!("{file}.md")), text).expect("a file is written");
    }
}

fn ripgrep(root: &Path, word: &str) {
    let mut command = Command::new("rg");
    command.args(["--no-config", "-liF", "--hidden", "--no-ignore", "--glob", "*.md", "--", word]);
    // Where it is not installed, its column holds nothing of worth.
    command.arg(root).stdout(Stdio::null()).stderr(Stdio::null()).status().ok();
}

fn time(work: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    work();
    begin.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
