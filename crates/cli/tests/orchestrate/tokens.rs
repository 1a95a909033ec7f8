//! What the loop says and reads is kept, beside what a main agent would have had to, and both are counted.

use std::{fs, path::Path};

use crate::{straight::THREE, support::Place};

/// The texts of a directory.
fn texts(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.map(|path| fs::read_to_string(path).expect("a text")).collect()
}

#[test]
fn both_forms_are_kept_and_counted() {
    let place = Place::new(THREE);
    for task in ["T0.1", "T0.2", "T1.1", "T1.2", "T2.1"] {
        let report =
            format!("echo 'I have written the file of {task}, and these are my many words about it.'\n");
        place.behave(task, &format!("echo done > src/{task}.txt\n{report}"));
    }
    let (out, err, code) = place.ostler(&["orchestrate"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(
        out.contains("tokens said and read by the loop") && out.contains("% less, by o200k_base"),
        "{out}"
    );
    let run = err.split_whitespace().find(|word| word.starts_with("r_")).expect("its run").to_owned();
    let exchange = place.view(&run).report.exchange.expect("it is over");
    assert_eq!(exchange.calls, 5, "{exchange:?}");
    let directory = Path::new(&exchange.directory);
    let thin = fs::read_to_string(directory.join("thin.txt")).expect("a transcript");
    let lines: Vec<&str> = thin.lines().collect();
    for line in [
        "RESOLVE_NEXT",
        "READY:T0.1,T0.2",
        "TASK_ID:T1.1",
        "WORKTREE:worktree/phase-1-auth",
        "DONE:T1.1",
        "PHASE_DONE:1",
        "ALL_DONE",
    ] {
        assert!(lines.contains(&line), "{line}: {thin}");
    }
    assert!(!thin.contains("many words"), "{thin}");
    let full = texts(&directory.join("full"));
    assert_eq!(full.len(), 5);
    let login = full.iter().find(|text| text.contains("description: \"T1.1: three\"")).expect("its call");
    for words in
        ["subagent_type: \"builder\"", "- **Worktree**: worktree/phase-1-auth", "my many words about it"]
    {
        assert!(login.contains(words), "{words}: {login}");
    }
    let (thin, full) = (exchange.thin_tokens.expect("counted"), exchange.full_tokens.expect("counted"));
    assert!(thin > 0 && full > thin, "{thin} {full}");
    let saved = exchange.saved_percent.expect("counted");
    let measured = 100.0
        - 100.0 * f64::from(u32::try_from(thin).expect("few")) / f64::from(u32::try_from(full).expect("few"));
    assert!((saved - measured).abs() < 0.2, "{saved} {measured}");
}

/// A reply that leads to another attempt was read too.
#[test]
fn every_reply_is_kept() {
    let mut place = Place::new("## Phase 0: All\n- [ ] T0.1: one\n  - files: src/T0.1.txt\n");
    place
        .behave("T0.1", "n=$(wc -l < $R/ran); if [ $n -lt 3 ]; then exit $n; fi; echo done > src/T0.1.txt\n");
    place.start(None);
    let run = place.begin(&[]);
    let exchange = place.end(&run).report.exchange.expect("it is over");
    let thin = fs::read_to_string(Path::new(&exchange.directory).join("thin.txt")).expect("a transcript");
    let lines: Vec<&str> =
        thin.lines().filter(|line| line.contains("T0.1") && !line.starts_with("READY")).collect();
    let failed = |code: u32| format!("FAIL:T0.1:the agent ended with exit code {code}");
    assert_eq!(
        lines,
        ["TASK_ID:T0.1", &failed(1), "TASK_ID:T0.1", &failed(2), "TASK_ID:T0.1", "DONE:T0.1"],
        "{thin}"
    );
}

#[test]
fn nothing_is_counted_twice_after_a_crash() {
    let mut place = Place::new(THREE);
    place.start(Some("after end task:2"));
    let (out, _, _) = place.ostler(&["--json", "orchestrate", "--detach"]);
    while !place.has_died() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    place.start(None);
    let run = place.begin(&[]);
    assert!(out.contains(&run), "it is the same loop: {out}");
    let exchange = place.end(&run).report.exchange.expect("it is over");
    assert_eq!(exchange.calls, 5, "{exchange:?}");
}
