//! How fast a stream is masked, beside a copy that looks at every byte.
//!
//! Prints a Markdown table. Each round measures everything once, and the medians are shown.

use std::{fmt::Write as _, hint::black_box, sync::Arc, time::Duration};

use ostler_vault::{Masker, Masks, Secret};
use rustix::time::{ClockId, clock_gettime};

const BYTES: usize = 1 << 20;
const CHUNK_BYTES: usize = 64 << 10;
const ROUNDS: usize = 5;

/// Keys as services give them out, and a connection with a password.
const SECRETS: [&str; 4] = [
    "sk-proj-0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P",
    "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5",
    "postgres://app:hunter2-Tr0ub4dor@db.internal:5432/app",
    "3f786850e387550fdab836ed7e6dc881de23001b",
];

/// The input that is masked without a secret.
const NO_VALUE: &str = "log of a build, no value known";

fn main() {
    let secrets: Vec<Secret> = SECRETS.iter().map(|&text| Secret::new(text.to_owned())).collect();
    let masks = Arc::new(Masks::new(&secrets));
    let none = Arc::new(Masks::new([]));
    println!("{} MiB, chunks of {} KiB, median of {ROUNDS}\n", BYTES >> 20, CHUNK_BYTES >> 10);
    println!("| input | MB/s | to a copy |\n|---|---:|---:|");
    for (name, text) in inputs() {
        let (mut masking, mut copying) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            copying.push(time(|| copy(&text)));
            let masks = if name == NO_VALUE { &none } else { &masks };
            masking.push(time(|| mask(masks, &text)));
        }
        let [masking, copying] = [&mut masking, &mut copying].map(|times| {
            times.sort();
            times[ROUNDS / 2].as_secs_f64()
        });
        #[expect(clippy::cast_precision_loss, reason = "a few millions")]
        let speed = text.len() as f64 / masking / 1e6;
        println!("| {name} | {speed:.0} | {:.3} |", copying / masking);
    }
}

fn inputs() -> [(&'static str, Vec<u8>); 9] {
    let repeat = |line: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        for number in 0.. {
            if text.len() >= BYTES {
                break;
            }
            writeln!(text, "{}", line(number)).expect("a string grows");
        }
        text.into_bytes()
    };
    let log = |number: usize| {
        format!("   Compiling crate_{number} v0.1.{number} (/src/crate_{number}) finished in 0.{number} s")
    };
    let json = |number: usize| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"msg_{number}","content":[{{"type":"text","text":"I changed `src/main.rs`:\n\n    let x = \"{number}\";\n\nand ran the tests."}}]}}}}"#
        )
    };
    let table = |number: usize| format!("│ service-{number} │ \u{1b}[32mhealthy\u{1b}[0m │ {number} │");
    let dump = |number: usize| {
        format!("{:08x}  73 6b 2d 70 72 6f 6a 2d  67 68 70 5f 33 66 37 38  |sk-proj-ghp_3f78|", number * 16)
    };
    let near =
        |number: usize| format!("sk-proj-0a1B {number} ghp_aB3d\n   E5 postgres://app:hunter | 3f7868");
    let html = |number: usize| {
        format!(
            "<li><a href=\"/docs?page={number}&amp;q=it&#39;s\">Tom &amp; Jerry &mdash; it&#39;s &lt;{number}&gt;</a></li>"
        )
    };
    let wide = repeat(&log).into_iter().flat_map(|byte| [byte, 0]).collect();
    [
        (NO_VALUE, repeat(&log)),
        ("no letter that begins a form", repeat(&|_| "(=[]) @#$ {~} <> ^ !".repeat(4))),
        ("HTML with entities", repeat(&html)),
        ("log of a build in UTF-16", wide),
        ("log of a build", repeat(&log)),
        ("lines of JSON", repeat(&json)),
        ("table with colours", repeat(&table)),
        ("hexadecimal dump", repeat(&dump)),
        ("beginnings of secrets", repeat(&near)),
    ]
}

fn mask(masks: &Arc<Masks>, text: &[u8]) {
    let mut masker = Masker::new(Arc::clone(masks));
    let mut out = Vec::with_capacity(text.len());
    for chunk in text.chunks(CHUNK_BYTES) {
        masker.push(chunk, &mut out);
    }
    masker.flush(&mut out);
    black_box(&out);
}

/// Copies byte by byte; each is asked for, so that it is no `memcpy`.
fn copy(text: &[u8]) {
    let mut out = Vec::with_capacity(text.len());
    for chunk in text.chunks(CHUNK_BYTES) {
        out.extend(chunk.iter().map(|&byte| black_box(byte)));
    }
    black_box(&out);
}

/// The time of the processor, which a busy machine does not change much.
fn time(run: impl FnOnce()) -> Duration {
    let now = || {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::try_from(now).expect("it is after its beginning")
    };
    let start = now();
    run();
    now().saturating_sub(start)
}
