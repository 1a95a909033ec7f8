//! Which agents there are, whether they are installed and signed in, and what is said where one is missing.

use std::fs;

use crate::support::Place;

#[test]
fn the_agents_are_listed_shown_and_checked() {
    let place = Place::new();
    place.configure(
        "[agents.mine]\ncommand = [\"cat\"]\nversion = [\"echo\", \"mine 1.2.3\"]\ntested = \"1.2\"\n\
         [agents.gone]\ncommand = [\"cat\"]\nversion = [\"no-such-program-anywhere\"]\n",
    );
    let listed = place.done(&["agents", "list"]);
    assert!(listed.starts_with("AGENT"), "{listed}");
    assert!(listed.contains("\nclaude ") && listed.contains("\nmine "), "{listed}");
    assert!(place.done(&["agents", "show", "claude"]).contains("command ="));
    assert!(place.done(&["agents", "show", "mine"]).contains("[agents.mine]"));
    assert_eq!(place.done(&["agents", "check", "mine"]), "mine: mine 1.2.3, as tested\n");
    let gone = place.run(&["agents", "check", "gone"]);
    assert_eq!(gone.code, 1, "{gone:?}");
    let unknown = place.run(&["agents", "show", "cladue"]);
    assert_eq!(unknown.code, 8);
    assert_eq!(unknown.err, "ostler: there is no agent 'cladue'\n  Did you mean 'claude'?\n");
}

#[test]
fn a_missing_cli_is_refused_with_the_command_that_installs_it() {
    let place = Place::new();
    place.configure(
        "[agents.mine]\ncommand = [\"no-such-program-anywhere\"]\ninstall = \"get-mine --now\"\n\
         [agents.bare]\ncommand = [\"no-such-program-anywhere\"]\n",
    );
    let said = place.run(&["run", "mine", "work"]);
    assert_eq!(said.code, 8, "{said:?}");
    assert!(
        said.err.contains("agent 'mine' is not installed") && said.err.contains("get-mine --now"),
        "{said:?}"
    );
    let said = place.run(&["--lang", "ko", "run", "mine", "work"]);
    assert!(said.err.contains("설치하려면: get-mine --now"), "{said:?}");
    assert!(place.run(&["run", "bare", "work"]).err.contains("on your PATH"));
    // A program of a built-in table is looked for on the path of whoever asks.
    let said: crate::support::Said =
        place.command(&["run", "claude", "work"]).env("PATH", "/nowhere").output().expect("it starts").into();
    assert!(said.err.contains("npm install -g @anthropic-ai/claude-code"), "{said:?}");
    assert_eq!(place.json(&["ps", "-a"]), serde_json::json!([]), "nothing was begun");
    // A plain command is not looked for.
    assert_eq!(place.run(&["run", "--", "no-such-program-anywhere"]).code, 1);
}

#[test]
fn the_list_says_who_is_installed_and_signed_in_and_shows_no_value() {
    let place = Place::new();
    place.configure(
        "[agents.mine]\ncommand = [\"cat\"]\nversion = [\"echo\", \"mine v1.2.3\"]\n\
         login.variables = [\"MINE_KEY\"]\nlogin.files = { \".mine/auth.json\" = [\"token\", \"key\"] }\n\
         [agents.gone]\ncommand = [\"no-such-program-anywhere\"]\ninstall = \"get-gone\"\n",
    );
    let row = |name: &str| {
        let list = place.json(&["agents", "list"]);
        list.as_array().expect("a list").iter().find(|it| it["name"] == name).expect("a row").clone()
    };
    let mine = row("mine");
    assert_eq!((&mine["installed"], &mine["version"]), (&true.into(), &"mine v1.2.3".into()), "{mine}");
    assert_eq!(mine["signed_in"], "not_found", "{mine}");
    let gone = row("gone");
    assert_eq!((&gone["installed"], &gone["signed_in"]), (&false.into(), &"unknown".into()), "{gone}");
    assert_eq!(row("claude")["signed_in"], "not_found");
    // A file that is there and says nothing, or cannot be read, is no proof.
    let file = place.project().join("../home/.mine/auth.json");
    fs::create_dir_all(file.parent().expect("a folder")).expect("it is ours");
    for (text, signed_in) in [
        ("{\"token\": null, \"other\": \"x\"}", "not_found"),
        ("no JSON", "unknown"),
        ("{\"token\": null, \"key\": \"sk-very-secret\"}", "yes"),
    ] {
        fs::write(&file, text).expect("a file");
        assert_eq!(row("mine")["signed_in"], signed_in, "{text}");
    }
    assert_eq!(row("mine")["signed_in_by"], ".mine/auth.json");
    let said = place.run(&["agents", "list"]);
    assert!(said.out.contains("SIGNED IN") && said.out.contains("1.2.3"), "{said:?}");
    assert!(said.out.contains("yes (.mine/auth.json)") && said.out.contains("no login found"), "{said:?}");
    assert!(said.err.contains("gone is not installed: get-gone"), "{said:?}");
    let output =
        place.command(&["agents", "list"]).env("MINE_KEY", "sk-very-secret").output().expect("it starts");
    let said = format!("{output:?}");
    assert!(said.contains("yes (MINE_KEY)") && !said.contains("sk-very-secret"), "{said}");
}

#[test]
fn a_check_fails_where_one_is_missing_and_one_can_be_checked_alone() {
    let place = Place::new();
    place.configure("[agents.mine]\ncommand = [\"cat\"]\n[agents.gone]\ncommand = [\"no-such-program-anywhere\"]\ninstall = \"get-gone\"\n");
    let said = place.run(&["agents", "check"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("gone is not installed: get-gone"), "{said:?}");
    assert!(said.err.contains("ostler agents check NAME"), "{said:?}");
    assert_eq!(place.run(&["agents", "check", "mine"]).code, 0);
    assert_eq!(place.run(&["agents", "check", "gone"]).code, 1);
}

#[test]
fn a_program_that_never_says_its_version_is_not_waited_for_for_ever() {
    let place = Place::new();
    place.configure(
        "[agents.slow]\ncommand = [\"cat\"]\nversion = [\"bash\", \"-c\", \"sleep 1000 & wait\"]\n",
    );
    let said = place.run(&["agents", "check", "slow"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("in time"), "{said:?}");
}
