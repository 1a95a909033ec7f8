//! How fast the parser reads, beside what others take for the same bytes in the same run.
//!
//! Prints Markdown tables of ratios; times alone mean nothing on a shared machine. `--cases` lists the inputs and
//! `--instructions CASE BYTES` pushes that many bytes through the parser once, for an instruction counter.

use std::{
    fmt::Write as _,
    hint::black_box,
    time::{Duration, Instant},
};

use ostler_protocol::{Format, Parser, Settings};

const CHUNK: usize = 64 << 10;
const INPUT_BYTES: usize = 8 << 20;
const ROUNDS: usize = 9;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["--cases"] => CASES.iter().for_each(|case| println!("{}", case.name)),
        ["--instructions", name, bytes] => {
            let case = CASES.iter().find(|case| case.name == *name).expect("a case that --cases lists");
            let bytes: usize = bytes.parse().expect("a number of bytes");
            black_box(parse_block(&case.input(CHUNK), bytes / CHUNK));
        }
        _ => {
            beside_others();
            by_chunk();
            growth();
        }
    }
}

/// A kind of input.
struct Case {
    name: &'static str,
    line: fn(&mut String, usize),
}

const CASES: [Case; 4] = [
    Case { name: "realistic", line: realistic },
    Case { name: "plain", line: plain },
    Case { name: "escape-dense", line: escapes },
    Case { name: "bracket-dense", line: brackets },
];

impl Case {
    fn input(&self, bytes: usize) -> Vec<u8> {
        let mut text = String::with_capacity(bytes + 1024);
        let mut number = 0;
        while text.len() < bytes {
            (self.line)(&mut text, number);
            number += 1;
        }
        text.into_bytes()
    }
}

/// Of 180 lines 126 are plain, 45 are coloured and 9 are a block.
fn realistic(text: &mut String, number: usize) {
    match number % 172 {
        171 => text.push_str(
            "[USER_QUESTION]\ncategory: choice\nquestion: Which database would you prefer?\noptions:\n  - \
             PostgreSQL\n  - SQLite\ndefault: SQLite\nrequired: true\n[/USER_QUESTION]\n",
        ),
        number if number * 45 % 171 < 45 => coloured(text, number),
        _ => plain(text, number),
    }
}

fn plain(text: &mut String, number: usize) {
    const LINES: [&str; 7] = [
        "   Compiling serde_json v1.0.154 (registry)",
        "test engine::sessions::answers_survive_a_restart ... ok",
        "    at Object.<anonymous> (src/server/session.test.ts:118:24)",
        "이메일 로그인 화면을 다시 확인하고 있습니다. 잠시만 기다려 주세요.",
        "+        let deadline = now + limits.patience_ms; // counted from the last byte",
        "Reading src/text/parser.rs and looking for places where a line is copied twice before it is needed.",
        "",
    ];
    text.push_str(LINES[number % LINES.len()]);
    text.push('\n');
}

fn coloured(text: &mut String, number: usize) {
    writeln!(
        text,
        "\x1b[2m2026-11-15T10:00:{:02}Z\x1b[0m \x1b[32m INFO\x1b[0m \x1b[1mserver\x1b[0m: request {number} took \
         \x1b[33m{}ms\x1b[0m",
        number % 60,
        number % 977,
    )
    .expect("a string takes any text");
}

fn escapes(text: &mut String, number: usize) {
    for column in 0..12 {
        let colour = (number + column) % 256;
        write!(text, "\x1b[38;5;{colour}m\x1b[1m{column}\x1b[0m\x1b[K").expect("a string takes any text");
    }
    text.push('\n');
}

fn brackets(text: &mut String, number: usize) {
    const LINES: [&str; 6] = [
        "[INFO] [server] [3/17] compiled [ok]",
        "[ERROR] [db] connection refused [retry 3]",
        "[2026-11-15 10:00:00] [DEBUG] [a][b][c][d]",
        "[[1,2],[3,4],[5,[6,[7]]]]",
        "[USER] said [hello] and [INVOKE] is not [INVOKED]",
        "  [x] done [ ] open [DEPENDENCIES] [STEP 2]",
    ];
    text.push_str(LINES[number % LINES.len()]);
    text.push('\n');
}

fn parse(input: &[u8], chunk: usize) -> usize {
    let mut parser = Parser::new(Format::Text, Settings::default());
    let mut items = 0;
    for piece in input.chunks(chunk) {
        parser.push(piece);
        items += parser.by_ref().map(black_box).count();
    }
    parser.finish();
    items + parser.count()
}

/// One block again and again, so that making the input does not count.
fn parse_block(block: &[u8], times: usize) -> usize {
    let mut parser = Parser::new(Format::Text, Settings::default());
    (0..times)
        .map(|_| {
            parser.push(block);
            parser.by_ref().map(black_box).count()
        })
        .sum()
}

fn newlines(input: &[u8]) -> usize {
    input.chunks(CHUNK).map(|piece| memchr::memchr_iter(b'\n', piece).map(black_box).count()).sum()
}

/// A terminal that looks at nothing.
struct Blind;

impl vte::Perform for Blind {}

fn vte(input: &[u8]) -> usize {
    let mut terminal = vte::Parser::new();
    for piece in input.chunks(CHUNK) {
        terminal.advance(&mut Blind, piece);
    }
    input.len()
}

fn strip(input: &[u8]) -> usize {
    input.chunks(CHUNK).map(|piece| black_box(strip_ansi_escapes::strip(piece)).len()).sum()
}

/// The shortest of several runs, each beside the others, so that a busy moment hits all alike.
fn times<const N: usize>(runs: [&dyn Fn() -> usize; N]) -> [Duration; N] {
    let mut best = [Duration::MAX; N];
    for _ in 0..ROUNDS {
        for (run, best) in runs.iter().zip(&mut best) {
            let start = Instant::now();
            black_box(run());
            *best = start.elapsed().min(*best);
        }
    }
    best
}

fn ratio(of: Duration, to: Duration) -> f64 {
    of.as_secs_f64() / to.as_secs_f64()
}

fn beside_others() {
    println!("Speed with 64 KiB chunks; a ratio over 1 means that Ostler is faster.\n");
    println!("| input | MB/s | to memchr_iter | to vte | to strip-ansi-escapes |");
    println!("|---|---|---|---|---|");
    for case in &CASES {
        let input = case.input(INPUT_BYTES);
        let [ours, newlines, vte, strip] =
            times([&|| parse(&input, CHUNK), &|| newlines(&input), &|| vte(&input), &|| strip(&input)]);
        println!(
            "| {} | {:.0} | {:.2} | {:.1} | {:.0} |",
            case.name,
            megabytes(input.len()) / ours.as_secs_f64(),
            ratio(newlines, ours),
            ratio(vte, ours),
            ratio(strip, ours),
        );
    }
}

fn by_chunk() {
    println!("\nSpeed by chunk size, realistic input; 64 KiB = 1.\n");
    println!("| chunk | speed |");
    println!("|---|---|");
    let input = CASES[0].input(INPUT_BYTES);
    let [tiny, page, large] =
        times([&|| parse(&input, 64), &|| parse(&input, 4 << 10), &|| parse(&input, CHUNK)]);
    for (name, time) in [("64 B", tiny), ("4 KiB", page), ("64 KiB", large)] {
        println!("| {name} | {:.2} |", ratio(large, time));
    }
}

/// Each chunk read once, against reading everything again with each chunk.
fn growth() {
    let small = CASES[0].input(INPUT_BYTES);
    let large = CASES[0].input(2 * INPUT_BYTES);
    let [once, twice] = times([&|| parse(&small, CHUNK), &|| parse(&large, CHUNK)]);
    println!("\ntime(2n) / time(n) = {:.2}", ratio(twice, once));

    let short = &small[..1 << 20];
    let chunk = 4 << 10;
    let again = || (chunk..=short.len()).step_by(chunk).map(|end| parse(&short[..end], CHUNK)).sum();
    let [once, again] = times([&|| parse(short, chunk), &again]);
    println!(
        "Re-parsing the whole buffer for each 4 KiB of 1 MiB takes {:.0} times as long.",
        ratio(again, once)
    );
}

#[expect(clippy::cast_precision_loss, reason = "a benchmark's input is far smaller than 2^53 bytes")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
