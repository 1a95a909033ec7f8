//! Sessions that were recorded from the CLIs themselves, where this machine has them.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use ostler_protocol::{
    Item, Settings, What,
    fact::{EndStatus, Fact},
    fault::Severity,
    stream::Cli,
};

use super::parse;

/// Stand-ins for the recordings prove the wiring everywhere else.
#[test]
fn every_recording_is_heard() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/transcripts");
    let Ok(entries) = fs::read_dir(&directory) else {
        // Not with `println!`: what a passing test prints that way nobody sees.
        writeln!(io::stderr(), "SKIPPED transcripts: none stand beside the repository")
            .expect("standard error is open");
        return;
    };
    let mut heard = 0;
    for entry in entries {
        let path = entry.expect("a directory that can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name in ASCII");
        let is_stream = path.extension().is_some_and(|extension| extension == "jsonl");
        if is_stream && !name.starts_with("acp") {
            check(name, &fs::read(&path).expect("a file that can be read"));
            heard += 1;
        }
    }
    assert!(heard > 0, "no recordings in {}", directory.display());
}

fn check(name: &str, stream: &[u8]) {
    let cli = Cli::ALL.into_iter().find(|cli| name.split('-').next() == Some(cli.name()));
    let cli = cli.unwrap_or_else(|| panic!("{name} begins with the name of a CLI"));
    let settings = Settings::default();
    let items = parse(cli, &settings, stream, usize::MAX);
    for length in [1, 7] {
        assert_eq!(items, parse(cli, &settings, stream, length), "{name} in chunks of {length}");
    }

    let spoken = items.iter().filter(|item| is_spoken(item)).count();
    let quoted = items.iter().filter(|item| matches!(item.what, What::Quoted(_))).count();
    match name {
        _ if name.ends_with("-text.jsonl") => assert_eq!((spoken, quoted), (1, 0), "{name}: {items:?}"),
        _ if name.ends_with("-tool.jsonl") => assert_eq!((spoken, quoted), (0, 1), "{name}: {items:?}"),
        _ => assert_eq!(spoken, 0, "{name}: {items:?}"),
    }

    let failed = name.contains("-429") && !name.contains("recover");
    let expected = if failed { EndStatus::Error } else { EndStatus::Success };
    let last = items.last().map(|item| &item.what);
    let ended = matches!(last, Some(What::Fact(Fact::End(end))) if end.status == expected);
    assert!(ended, "{name} must end with {expected:?}: {last:?}");
    let limited = items.iter().any(|item| matches!(item.what, What::Fact(Fact::RateLimit(_))));
    assert_eq!(limited, name.contains("-429"), "{name}: {items:?}");
}

/// A signal, or a fault on which the agent may wait.
fn is_spoken(item: &Item) -> bool {
    match &item.what {
        What::Signal(_) => true,
        What::Fault(fault) => fault.severity() == Severity::Fault,
        What::Quoted(_) | What::Fact(_) => false,
    }
}
