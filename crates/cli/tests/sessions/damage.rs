//! Files that somebody or something has damaged: it is noticed and said, what is whole is kept, and nothing that was lost
//! is mistaken for something new.

use std::{
    fs::{self, OpenOptions},
    path::{Path, PathBuf},
    process::Output,
};

use serde_json::Value;

use crate::support::{QUESTION, World, kill, state, write};

/// Exchanges every one of these words in a file.
fn exchange(path: &Path, word: &str, other: &str) -> usize {
    assert_eq!(word.len(), other.len());
    let mut bytes = fs::read(path).expect("a file");
    let places: Vec<usize> =
        (0..bytes.len()).filter(|&at| bytes[at..].starts_with(word.as_bytes())).collect();
    for &at in &places {
        bytes[at..at + other.len()].copy_from_slice(other.as_bytes());
    }
    fs::write(path, bytes).expect("it is ours");
    places.len()
}

fn cut(path: &Path, length: u64) {
    OpenOptions::new().write(true).open(path).expect("a file").set_len(length).expect("it is ours");
}

fn words(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it)).concat()
}

/// Runs a command that has to end so, and gives what it said.
fn says(world: &World, arguments: &[&str], code: i32) -> String {
    let output = world.ostler(arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", words(&output));
    words(&output)
}

fn launch(world: &World, session: &str) -> PathBuf {
    world.home.join("sessions").join(session).join("1")
}

/// What the journal says about a damaged spool.
fn noted(world: &World, session: &str) -> Option<String> {
    let noted = world.events(session).into_iter().filter(|event| event.kind == "session.noted");
    let mut words = noted.filter_map(|event| event.body["what"].as_str().map(str::to_owned));
    words.find(|it| it.contains("damaged"))
}

/// A session that asks and one that is lost, and no server.
fn with_two(world: &World) -> (String, String, u32) {
    let kept = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
    world.status(&kept, "waiting_input");
    let lost = world.bash("echo lost-word; sleep 1000");
    let pid = world.status(&lost, "active").pid.expect("a process");
    (kept, lost, u32::try_from(pid).expect("a pid"))
}

/// After mending: what is kept goes on, what is lost is gone, and nothing has its number.
fn goes_on(world: &mut World, kept: &str, lost_pid: u32) {
    assert!(state(lost_pid).is_none_or(|state| state == 'Z'), "nobody could ever end it");
    world.start();
    let request = world.asked(kept);
    world.answer(&request.id, "1");
    world.status(kept, "completed");
    assert_eq!(world.output(kept).matches("PostgreSQL\"}").count(), 1, "{}", world.output(kept));
    let new = world.bash("echo new");
    assert_eq!(new, "s_1001", "no id is given twice");
    world.status(&new, "completed");
    assert_eq!(world.output(&new), "new\n");
    world.verify();
}

#[test]
fn a_changed_letter_in_the_journal_is_found_and_mended() {
    let mut world = World::new();
    let (kept, _, lost_pid) = with_two(&world);
    says(&world, &["serve", "--stop"], 0);
    world.wait_for("one file", |world| {
        // Whoever looks while there is no server writes the log back.
        world.ostler(&["verify"]);
        (!world.home.join("journal.sqlite-wal").exists()).then_some(())
    });
    assert!(exchange(&world.home.join("journal.sqlite"), "lost-word", "lost-wird") > 0);
    let said = says(&world, &["verify"], 1);
    assert!(said.contains("not what was written") && said.contains("ostler verify --mend"), "{said}");
    let said = says(&world, &["doctor"], 1);
    assert!(said.contains("bad") && said.contains("ostler verify --mend"), "{said}");
    world.start();
    let said = says(&world, &["verify", "--mend"], 7);
    assert!(said.contains("ostler serve --stop"), "{said}");
    world.kill_server();
    let said = says(&world, &["verify", "--mend"], 1);
    for word in ["events are kept", "Lost: what came behind event", "New ids begin behind 1000", "was ended"]
    {
        assert!(said.contains(word), "{word}: {said}");
    }
    let aside = fs::read_dir(&world.home).expect("a folder").filter_map(Result::ok);
    let is_aside = |name: &str| name.starts_with("journal.sqlite.broken-");
    assert!(aside.map(|it| it.file_name()).any(|name| is_aside(&name.to_string_lossy())), "it is set aside");
    goes_on(&mut world, &kept, lost_pid);
    world.kill_server();
    assert!(says(&world, &["verify", "--mend"], 0).contains("agree"), "what is whole is left alone");
}

#[test]
fn a_torn_database_starts_no_server_and_says_what_to_do() {
    let mut world = World::new();
    let (kept, lost, lost_pid) = with_two(&world);
    world.kill_server();
    let log = world.home.join("journal.sqlite-wal");
    assert!(exchange(&log, "lost-word", "lost-wird") > 0, "it was not written back yet");
    let said = says(&world, &["ps"], 6);
    assert!(said.contains("is damaged") && said.contains("ostler verify --mend"), "{said}");
    assert!(says(&world, &["doctor"], 1).contains("is damaged"));
    assert_eq!(world.shims().len(), 2, "agents are not affected");
    let said = says(&world, &["verify", "--mend"], 1);
    assert!(said.contains("events are kept"), "{said}");
    goes_on(&mut world, &kept, lost_pid);
    assert!(world.home.join("sessions").join(&lost).join("1/out.log").exists(), "what it left is there");
}

#[test]
fn a_damaged_spool_is_said_and_its_beginning_counts() {
    let mut world = World::new();
    let script = format!("{QUESTION}; read -r line; echo \"got $line\"; sleep 1000");
    let [passed_over, lost, cut_off] = [(); 3].map(|()| world.bash(&script));
    for session in [&passed_over, &lost, &cut_off] {
        world.status(session, "waiting_input");
    }
    for session in [&passed_over, &lost, &cut_off] {
        let request = world.asked(session);
        world.answer(&request.id, "1");
        world.wait_for("its answer", |world| world.output(session).contains("got ").then_some(()));
    }
    says(&world, &["serve", "--stop"], 0);
    world.wait_for("no server", |world| world.get::<Value>("/info").is_err().then_some(()));
    kill(world.shim_of(&lost), "KILL");
    world.wait_for("its end", |world| (world.shims().len() == 2).then_some(()));
    for session in [&passed_over, &lost] {
        let changed =
            exchange(&launch(&world, session).join("spool.ndjson"), "\"took_input\"", "\"took\u{1}input\"");
        assert_eq!(changed, 1);
    }
    cut(&launch(&world, &cut_off).join("spool.ndjson"), 10);
    let said = says(&world, &["verify"], 1);
    assert_eq!(said.matches("record 4 cannot be read").count(), 2, "{said}");
    world.start();
    world.status(&lost, "interrupted");
    assert!(noted(&world, &lost).is_some(), "{:?}", world.events(&lost));
    world.status(&cut_off, "interrupted");
    assert!(noted(&world, &cut_off).is_some(), "{:?}", world.events(&cut_off));
    world.status(&passed_over, "active");
    world.wish(&passed_over, "cancel");
    world.status(&passed_over, "cancelled");
    world.wait_for("nothing left", |world| world.processes().is_empty().then_some(()));
    world.verify();
}

#[test]
fn every_other_damaged_file_is_said_and_made_good_or_done_without() {
    let mut world = World::new();
    let session = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
    let request = world.asked(&session);
    world.status(&session, "waiting_input");
    let mark = fs::read_to_string(world.home.join("mark")).expect("a mark");
    let shim = world.shim_of(&session);
    world.kill_server();
    kill(shim, "KILL");
    world.wait_for("its end", |world| world.shims().is_empty().then_some(()));
    let folder = world.home.join("sessions").join(&session);
    let environment = fs::read_dir(world.home.join("environments")).expect("a folder").next();
    let environment = environment.expect("one").expect("a name").path();
    write(&world.home, "mark", "");
    write(&world.home, "server.lock", "no number\u{0}\n");
    write(&folder.join("1"), "launch.json", "{\"session\":");
    write(&folder, "values", "\u{0}\u{0}=broken");
    cut(&folder.join("1/out.log"), 20);
    exchange(&environment, "\"LC_ALL\"", "\"LC_ELL\"");
    let said = says(&world, &["verify"], 1);
    for word in ["/mark' is not what was written", "out.log' ends at byte 20", "environments"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert_eq!(says(&world, &["doctor"], 1).matches("files: ").count(), 3);
    world.start();
    world.status(&session, "interrupted");
    assert_eq!(fs::read_to_string(world.home.join("mark")).expect("a mark"), mark, "it is the same again");
    assert_eq!(world.inbox()[0].id, request.id, "nothing of the journal is lost");
    // It cannot be started with an environment that it never had.
    world.wish(&session, "resume");
    let failed = world.status(&session, "failed").outcome.expect("an outcome").reason;
    assert!(failed["message"].as_str().is_some_and(|it| it.contains("not what was written")), "{failed}");
    // Whoever brings the same environment again makes it good.
    let other = world.bash("echo fine");
    world.status(&other, "completed");
    world.wish(&session, "resume");
    let request = world.asked(&session);
    world.answer(&request.id, "1");
    world.status(&session, "completed");
    world.verify();
}
