//! `ostler secret`: what a person keeps for the agents of a project, and what nobody else is told of it.

use std::{
    fs,
    os::unix::fs::{FileExt, PermissionsExt},
    path::Path,
};

use serde_json::json;

use crate::{
    support::{Place, Said, until},
    terminal::Terminal,
};

const VALUE: &str = "sk_live_51HqQ-only-for-tests";

impl Place {
    fn keep(&self, name: &str, value: &str) -> Said {
        self.pipe(&["secret", "set", name, "--stdin"], value)
    }
}

/// Everything below a directory that holds some bytes.
fn holding(directory: &Path, wanted: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("it is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, wanted));
        } else if fs::read(&path)
            .is_ok_and(|text| text.windows(wanted.len()).any(|window| window == wanted.as_bytes()))
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn a_secret_is_kept_and_its_value_shown_to_nobody_else() {
    let place = Place::new();
    let said = place.keep("STRIPE_SECRET_KEY", &format!("{VALUE}\n"));
    assert_eq!((said.code, said.out.as_str()), (0, "STRIPE_SECRET_KEY is kept for p_1.\n"), "{said:?}");
    place.done(&["secret", "set", "FROM_FILE", "--from", "file:/etc/hostname", "--ask"]);

    let mut listed = place.json(&["secret", "list"]);
    for one in listed.as_array_mut().expect("a list") {
        one.as_object_mut().expect("a secret").remove("at_ms");
    }
    let expected = json!([
        { "scope": "p_1", "name": "FROM_FILE", "what": "file", "reuse": false, "plain": false, "version": 2 },
        { "scope": "p_1", "name": "STRIPE_SECRET_KEY", "what": "stored", "reuse": true, "plain": false, "version": 1 },
    ]);
    assert_eq!(listed, expected);
    let table = place.done(&["secret", "list", "--all"]);
    assert!(table.contains("without asking") && table.contains("when you agree"), "{table}");
    assert_eq!(place.done(&["secret", "get", "STRIPE_SECRET_KEY"]), format!("{VALUE}\n"));
    assert_eq!(place.json(&["secret", "get", "STRIPE_SECRET_KEY"])["value"], VALUE);

    // The journal tells that it is kept, and the state directory holds it nowhere.
    let journal = place.done(&["export"]);
    assert!(journal.contains("secret.stored") && !journal.contains(VALUE), "{journal}");
    assert_eq!(holding(&place.state(), VALUE), Vec::<String>::new());

    place.done(&["secret", "rm", "STRIPE_SECRET_KEY"]);
    let gone = place.run(&["secret", "get", "STRIPE_SECRET_KEY"]);
    assert_eq!(gone.code, 8, "{gone:?}");
    assert_eq!(place.run(&["secret", "rm", "STRIPE_SECRET_KEY"]).code, 8);
    assert!(place.done(&["export"]).contains("secret.removed"));
    assert!(place.done(&["verify"]).lines().count() > 0);
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let place = Place::new();
    for (arguments, input, code) in [
        (&["secret", "set", "A B", "--stdin"][..], "x", 7),
        (&["secret", "set", "OSTLER_SHOWN", "--stdin"], "x", 7),
        (&["secret", "set", "KEY", "--stdin"], "", 7),
        (&["secret", "set", "KEY", "--stdin"], "a\0b", 7),
        (&["secret", "set", "KEY", "--from", "http://x"], "", 7),
        (&["secret", "set", "KEY"], "x", 7),
        (&["secret", "set", "KEY", "--stdin", "--project", "nowhere"], "x", 8),
        (&["secret", "set", "KEY", "value"], "", 2),
    ] {
        let said = place.pipe(arguments, input);
        assert_eq!(said.code, code, "{arguments:?}: {said:?}");
        assert!(said.err.lines().count() >= 2, "what to do is said: {said:?}");
    }
    assert!(!place.state().join("vault").exists(), "nothing was made");
    assert!(place.done(&["secret", "list"]).contains("No secrets"));
    assert!(!place.state().join("vault").exists(), "whoever looks makes nothing");
}

#[test]
fn an_agent_cannot_get_it_from_the_vault() {
    let place = Place::new();
    place.keep("KEY", VALUE);
    let mut inside = place.command(&["secret", "get", "KEY"]);
    let said: Said = inside.env("OSTLER_SESSION", "s_1.1@x").output().expect("the binary starts").into();
    assert_eq!((said.code, said.out.as_str()), (7, ""), "{said:?}");
}

#[test]
fn a_value_is_typed_behind_stars() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["secret", "set", "KEY"]);
    terminal.sees("(not shown): ");
    terminal.press("wrong\x15sk_lie\x7f\x7five_é");
    terminal.press("\r");
    terminal.sees("is kept for p_1");
    let screen = terminal.screen();
    assert!(!screen.contains("sk_l") && screen.contains("*****"), "{screen:?}");
    assert_eq!(place.done(&["secret", "get", "KEY"]), "sk_live_é\n");
}

#[test]
fn who_gives_up_changes_nothing() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["secret", "set", "KEY"]);
    terminal.sees("(not shown): ");
    terminal.press("abc\x03");
    terminal.sees("nothing was given");
    assert!(place.done(&["secret", "list"]).contains("No secrets"));
}

#[test]
fn a_vault_with_a_passphrase_is_locked_until_it_is_given() {
    let place = Place::new();
    place.configure("[vault]\nkey = 'passphrase'\n");
    let locked = place.keep("KEY", VALUE);
    assert_eq!(locked.code, 7, "{locked:?}");
    assert!(locked.err.contains("ostler secret unlock"), "{locked:?}");
    assert_eq!(place.pipe(&["secret", "unlock", "--stdin"], "correct horse\n").code, 0);
    assert_eq!(place.keep("KEY", VALUE).code, 0);
    assert!(!place.state().join("vault/key").exists());

    // The next server knows nothing of it.
    place.done(&["serve", "--stop"]);
    until("the server is gone", || (!place.state().join("api.sock").exists()).then_some(()));
    assert_eq!(place.run(&["secret", "list"]).code, 7);
    let wrong = place.pipe(&["secret", "unlock", "--stdin"], "battery staple\n");
    assert_eq!(wrong.code, 7, "{wrong:?}");
    assert_eq!(place.pipe(&["secret", "unlock", "--stdin"], "correct horse\n").code, 0);
    assert_eq!(place.json(&["secret", "list"])[0]["name"], "KEY");
    assert_eq!(holding(&place.state(), "correct horse"), Vec::<String>::new());
}

/// What to do is said for this command, not for another one.
#[test]
fn without_a_terminal_a_passphrase_comes_by_a_pipe_or_not_at_all() {
    let place = Place::new();
    place.configure("[vault]\nkey = \"passphrase\"\n");
    let unlock = place.run(&["secret", "unlock"]);
    assert!(unlock.code == 7 && unlock.err.contains("secret unlock --stdin"), "{unlock:?}");
    assert_eq!(place.pipe(&["secret", "unlock", "--stdin"], "correct horse\n").code, 0);
    assert_eq!(place.keep("KEY", VALUE).code, 0);
    let get = place.run(&["secret", "get", "KEY"]);
    assert!(get.code == 7 && get.err.contains("run it on a terminal"), "{get:?}");
}

#[test]
fn a_keyring_opens_it_by_a_command() {
    let place = Place::new();
    place.configure("[vault]\nkey = \"cmd:printf 'correct horse'\"\n");
    assert_eq!(place.keep("KEY", VALUE).code, 0);
    assert_eq!(place.done(&["secret", "get", "KEY"]), format!("{VALUE}\n"));
}

#[test]
fn a_damaged_vault_is_told_and_mended() {
    let place = Place::new();
    place.keep("ONE", VALUE);
    place.keep("TWO", "another value");
    let path = place.state().join("vault/secrets");
    let text = fs::read_to_string(&path).expect("it is there");
    let at = text.rfind("\"sealed\":\"").expect("a line with a value") + 40;
    let file = fs::OpenOptions::new().write(true).open(&path).expect("it is ours");
    file.write_at(b"!", at as u64).expect("it is ours");
    let told = place.run(&["secret", "get", "ONE"]);
    assert_eq!(told.code, 7, "{told:?}");
    assert!(told.err.contains("ostler secret mend"), "{told:?}");
    let mended = place.run(&["secret", "mend"]);
    assert_eq!(mended.code, 1, "one was lost: {mended:?}");
    assert!(mended.out.contains("Lost: p_1 TWO"), "{mended:?}");
    assert_eq!(place.done(&["secret", "get", "ONE"]), format!("{VALUE}\n"));

    fs::set_permissions(place.state().join("vault/key"), fs::Permissions::from_mode(0o644)).expect("ours");
    let open = place.run(&["secret", "get", "ONE"]);
    assert_eq!(open.code, 7, "{open:?}");
    assert!(open.err.contains("others have rights on it"), "{open:?}");
}

/// The files of the vault together, as a backup has them.
#[test]
fn a_vault_that_is_brought_back_or_removed_as_a_whole_is_noticed() {
    let place = Place::new();
    place.keep("ONE", "the old value");
    let files = ["vault/secrets", "vault/newest"].map(|name| place.state().join(name));
    let old = files.each_ref().map(|path| fs::read(path).expect("it is there"));
    place.keep("ONE", VALUE);
    for (path, text) in files.iter().zip(&old) {
        fs::write(path, text).expect("it is ours");
    }
    // Whether a server has it open or not.
    for arguments in [&["secret", "list"][..], &["secret", "get", "ONE"]] {
        let told = place.run(arguments);
        assert_eq!(told.code, 7, "{told:?}");
        assert!(told.err.contains("is older than the last one written"), "{told:?}");
        assert!(told.err.contains("ostler secret mend"), "{told:?}");
    }
    assert_eq!(place.run(&["secret", "mend"]).code, 0);
    assert_eq!(place.done(&["secret", "get", "ONE"]), "the old value\n");
    place.keep("ONE", VALUE);

    for path in &files {
        fs::remove_file(path).expect("it is ours");
    }
    let told = place.run(&["secret", "list"]);
    assert_eq!(told.code, 7, "{told:?}");
    assert!(told.err.contains("was removed") && told.err.contains("ostler secret mend"), "{told:?}");
    let mended = place.run(&["secret", "mend"]);
    assert_eq!(mended.code, 1, "all was lost: {mended:?}");
    place.keep("ONE", VALUE);
    assert_eq!(place.done(&["secret", "get", "ONE"]), format!("{VALUE}\n"));
}

/// Somebody who helps is told everything but secrets and what was said.
#[test]
fn a_bundle_holds_no_secret() {
    let place = Place::new();
    place.keep("STRIPE_SECRET_KEY", VALUE);
    place.configure("[agents.mine]\ncommand = ['true']\nenvironment = { MY_TOKEN = 'only-in-the-file' }\n");
    let session = place.start(&format!("echo {VALUE}; echo said-by-an-agent"));
    place.wait_for(&session, "completed");
    fs::write(
        place.state().join("server.log"),
        format!("{VALUE}\nc2tfbGl2ZV81MUhxUS1vbmx5LWZvci10ZXN0cw==\n"),
    )
    .expect("a log");
    let mut command = place.command(&["doctor", "--bundle"]);
    let output = command.env("MY_PASSWORD", "only-in-the-environment").output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("read it before you pass it on"), "{said}");
    let path = place.project().join("ostler-bundle.txt");
    let text = fs::read_to_string(&path).expect("it is written");
    for wanted in ["== Checks\nok", "MY_PASSWORD", "MY_TOKEN", "run.created", "s_1/1/out.log", "server.log"] {
        assert!(text.contains(wanted), "{wanted} in {text}");
    }
    for secret in
        [VALUE, "c2tfbGl2", "only-in-the-file", "only-in-the-environment", "said-by-an-agent", "/home/"]
    {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let mode = fs::metadata(&path).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = place.run(&["doctor", "--bundle", "ostler-bundle.txt"]);
    assert!(again.code == 4 && again.err.contains("File exists"), "{again:?}");
    assert!(again.err.contains("what is there is not written over"), "{again:?}");
}
