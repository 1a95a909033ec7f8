//! Consent to commands of the user's own configuration: where a person sees what waits, and what does not run before.

use std::fs;

use serde_json::{Value, json};

use crate::support::{World, write};

fn configure(world: &World, toml: &str) {
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("a folder");
    write(&folder, "config.toml", toml);
}

fn said(world: &World, arguments: &[&str]) -> String {
    let output = world.ostler(arguments);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// Neither the server nor the command line of a person runs it before.
#[test]
fn a_command_that_opens_the_vault_waits_for_a_person() {
    let mut world = World::new();
    let secret = json!({ "directory": world.project, "name": "API_KEY", "value": "a-value-of-a-person" });
    world.post::<Value>("/secrets", &secret).expect("a secret");
    let ran = world.home.join("ran");
    let command = |words: &str| {
        format!("[vault]\nkey = 'cmd:touch {}; echo {words}'\n", ran.display().to_string().replace('\'', ""))
    };
    configure(&world, &command("a long passphrase"));
    let waits = |world: &World| {
        let problem = world.refused("/secrets", &secret);
        assert!(problem.title.contains("nobody has agreed to it"), "{problem:?}");
        assert!(problem.hint.is_some_and(|it| it.contains("ostler trust --config")));
        for arguments in
            [&["secret", "mend"][..], &["doctor"], &["doctor", "--bundle", "bundle.txt"], &["secret", "list"]]
        {
            let said = said(world, arguments);
            assert!(!ran.exists(), "{arguments:?}: {said}");
        }
        assert!(said(world, &["secret", "mend"]).contains("nobody has agreed to it"));
    };
    world.restart();
    waits(&world);
    // Whoever removes the file agrees to nothing by that.
    world.kill_server();
    fs::remove_file(world.home.join("config-consent.json")).expect("it is there");
    world.start();
    waits(&world);
    let agent = world.bash("ostler trust --config --yes; echo \"code $?\"");
    world.status(&agent, "completed");
    assert!(!world.output(&agent).contains("code 0"), "{}", world.output(&agent));
    waits(&world);
    let agreed = world.ostler(&["trust", "--config", "--yes"]);
    let words = String::from_utf8_lossy(&agreed.stdout).into_owned();
    assert!(agreed.status.success() && words.contains("ostler trust --config --revoke"), "{words}");
    // The vault has another key, so it stays closed; the command has run.
    world.refused("/secrets", &secret);
    assert!(ran.exists());
    fs::remove_file(&ran).expect("it is there");
    configure(&world, &command("another passphrase"));
    waits(&world);
}

#[test]
fn what_waits_is_above_the_inbox_in_full() {
    let world = World::new();
    assert_eq!(said(&world, &["inbox"]), "Nothing needs you.\n");
    let command = json!(["sh", "-c", "first --line\nsecond --line"]);
    configure(&world, &format!("[[notify]]\nname = 'evil'\ntype = 'command'\ncommand = {command}\n"));
    for arguments in [&["inbox"][..], &[]] {
        let said = said(&world, arguments);
        assert!(said.starts_with("Your configuration has new or changed commands."), "{said}");
        assert!(said.contains("notify.evil (new, in ") && said.contains("config.toml)"), "{said}");
        assert!(said.contains("first --line") && said.contains("second --line"), "{said}");
        assert!(said.contains("ostler trust --config") && !said.contains("Nothing needs you."), "{said}");
    }
    let korean = said(&world, &["--lang", "ko", "inbox"]);
    assert!(korean.starts_with("설정에 새로 생기거나 바뀐 명령이 있습니다."), "{korean}");
    assert_eq!(said(&world, &["--json", "inbox"]).trim(), "[]", "the list of requests is what it was");
    let session = world.bash("ostler ask 'Which?'");
    world.asked(&session);
    let both = said(&world, &["inbox"]);
    assert!(both.contains("notify.evil") && both.contains("Which?"), "{both}");
    world.answer("q_1", "ours");
    world.status(&session, "completed");
    // Left alone, it goes on waiting; removed or agreed to, it does not.
    assert!(said(&world, &["inbox"]).contains("notify.evil"));
    assert!(world.ostler(&["trust", "--config", "--yes"]).status.success());
    assert_eq!(said(&world, &["inbox"]), "Nothing needs you.\n");
    configure(&world, &format!("[[notify]]\nname = 'other'\ntype = 'command'\ncommand = {command}\n"));
    assert!(said(&world, &["inbox"]).contains("notify.other"));
    configure(&world, "");
    assert_eq!(said(&world, &["inbox"]), "Nothing needs you.\n");
}
