//! The configuration: what it changes, and what is said of a mistake in it.

use crate::support::Place;

#[test]
fn a_mistake_is_named_with_its_line() {
    let place = Place::new();
    place.configure("\nlangauge = \"ko\"\n");
    let said = place.run(&["run", "claude", "work"]);
    assert_eq!(said.code, 9, "{said:?}");
    assert!(said.err.contains("config.toml:2: unknown key `langauge`"), "{said:?}");
    assert!(said.err.contains("did you mean `language`?"), "{said:?}");
    assert!(said.err.contains("Nothing was started or changed."), "{said:?}");
    let said = place.run(&["run", "--", "true"]);
    assert_eq!((said.code, said.err.matches("unknown key").count()), (9, 1), "{said:?}");
    place.configure("language = \n");
    let said = place.run(&["agents", "list"]);
    assert_eq!(said.code, 9, "{said:?}");
    assert!(said.err.contains("config.toml:1: "), "{said:?}");
}

#[test]
fn looking_is_possible_all_the_same() {
    let place = Place::new();
    place.configure("langauge = \"ko\"\n");
    let said = place.run(&["ps"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("the configuration is not used here"), "{said:?}");
}

#[test]
fn the_default_agent_needs_no_name() {
    let place = Place::new();
    place.configure("default_agent = \"mine\"\n[agents.mine]\ncommand = [\"echo\"]\n[agents.mine.arguments]\nprompt = [\"{prompt}\"]\n");
    let said = place.run(&["run", "say this"]);
    assert_eq!((said.code, said.out.as_str()), (0, "say this\n"), "{said:?}");
    let said = place.pipe(&["run", "mine", "-"], "say that");
    assert_eq!((said.code, said.out.as_str()), (0, "say that\n"), "{said:?}");
}

#[test]
fn the_language_is_configured() {
    let place = Place::new();
    place.configure("language = \"ko\"\n");
    assert!(place.done(&[]).starts_with("지금 필요한 답이 없습니다."));
    assert!(place.done(&["--lang", "en"]).starts_with("Nothing needs you."));
    let place = Place::new();
    let mut command = place.command(&["run"]);
    let output = command.env("LC_ALL", "ko_KR.UTF-8").output().expect("the binary starts");
    assert!(String::from_utf8_lossy(&output.stderr).contains("에이전트를 지정하지 않았고"), "{output:?}");
}

#[test]
fn a_table_that_is_shown_can_stand_in_a_configuration() {
    let place = Place::new();
    let rules = "[agents.helper]\ncommand = [\"helper\", \"--json\"]\ninput.way = \"relaunch\"\n\
                 arguments.resume = [\"--continue={conversation}\"]\narguments.prompt = [\"--\", \"{prompt}\"]\n\
                 output.speech = [{ when = { event = \"say\" }, give = { text = \"text\" } }]\n\
                 output.end = [{ when = { event = \"done\" }, give = { status = \"success\" } }]\n";
    let changed = "[agents.claude]\nmodel = \"opus\"\nprivate.use = true\n\
                   environment.CLAUDE_CONFIG_DIR = \"/x\"\n";
    for (configuration, names) in
        [("", &["claude", "codex", "gemini", "opencode"][..]), (rules, &["helper"]), (changed, &["claude"])]
    {
        place.configure(configuration);
        for name in names {
            let known = place.json(&["agents", "show", name]);
            let shown = place.done(&["agents", "show", name]);
            let mine = shown.replace(&format!("agents.{name}"), "agents.mine");
            place.configure(&mine);
            let mut read = place.json(&["agents", "show", "mine"]);
            read["name"] = known["name"].clone();
            assert_eq!(read, known, "{mine}");
            place.configure(configuration);
        }
    }
}

/// A server reads the configuration of whoever started it; everybody else is told.
#[test]
fn somebody_with_another_configuration_is_told_whose_the_server_reads() {
    let place = Place::with_commit();
    place.configure("language = \"en\"\n");
    assert!(!place.run(&["ps"]).err.contains("the server reads"));
    let elsewhere = place.project().with_file_name("elsewhere");
    let ps = |file: bool| {
        std::fs::create_dir_all(elsewhere.join("ostler")).expect("a directory");
        if file {
            std::fs::write(elsewhere.join("ostler/config.toml"), "").expect("a file");
        }
        let output = place.command(&["ps"]).env("XDG_CONFIG_HOME", &elsewhere).output().expect("it starts");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for has_file in [false, true] {
        let said = ps(has_file);
        assert!(
            said.contains("the server reads ") && said.contains("config/ostler/config.toml, not your"),
            "{said}"
        );
        assert!(said.contains("elsewhere/ostler/config.toml"), "{said}");
    }
}
