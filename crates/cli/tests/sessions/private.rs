//! A configuration directory of its own: the user's settings and login are there, what the agent writes is not the
//! user's, and a login that it renews is.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::PathBuf,
};

use ostler_server::api::NewRun;

use crate::support::{World, write};

const TABLE: &str = r#"
[agents.fake]
command = ["sh", "-c", "{prompt}"]
private.use = true
private.variable = "FAKE_HOME"
private.default = ".fake"
private.shared = ["settings.json", "rules"]
private.copied = ["state.json"]
private.login = ["sub/auth.json"]
private.locks = ["auth.lock"]
private.elsewhere = { "state.json" = ".fake.json" }
"#;

/// A person with a CLI that is configured and signed in. The login is a link, as in a collection of such files.
struct Person {
    world: World,
    home: PathBuf,
}

impl Person {
    fn new() -> Person {
        let mut world = World::idle();
        let config = world.home.join("config/ostler");
        fs::create_dir_all(&config).expect("a folder");
        write(&config, "config.toml", TABLE);
        let home = world.project.join("person");
        fs::create_dir_all(home.join(".fake/rules")).expect("a folder");
        fs::create_dir_all(home.join(".fake/sub")).expect("a folder");
        fs::create_dir_all(home.join("kept")).expect("a folder");
        write(&home, ".fake/settings.json", "{\"theme\":\"dark\"}");
        write(&home, ".fake/rules/one", "be kind\n");
        write(&home, ".fake.json", "mine");
        write(&home, "kept/auth.json", "{\"token\":\"old\"}");
        let login = home.join("kept/auth.json");
        fs::set_permissions(&login, fs::Permissions::from_mode(0o600)).expect("it is ours");
        symlink(&login, home.join(".fake/sub/auth.json")).expect("a link");
        world.start();
        Person { world, home }
    }

    fn begin(&self, script: &str) -> String {
        let mut new = NewRun {
            agent: Some("fake".to_owned()),
            prompt: Some(script.to_owned()),
            ..self.world.new_run(&[])
        };
        new.environment.get_or_insert_default().insert("HOME".to_owned(), self.home.display().to_string());
        self.world.run_with(&new)
    }

    /// Runs a script to its end, and gives what it printed.
    fn run(&self, script: &str) -> String {
        let session = self.begin(script);
        self.world.status(&session, "completed");
        self.world.output(&session)
    }

    fn login(&self) -> String {
        fs::read_to_string(self.home.join("kept/auth.json")).expect("a login")
    }

    fn own(&self, session: &str, name: &str) -> PathBuf {
        self.world.home.join("sessions").join(session).join("config").join(name)
    }
}

/// How a CLI puts another file in the place of its login.
const RENEW: &str = "printf '{\"token\":\"new\"}' > draft$$; mv draft$$ $FAKE_HOME/sub/auth.json";

/// Waits until a file holds a word.
fn until(file: &str, word: &str) -> String {
    format!("until grep -q {word} {file}; do sleep 0.05; done; echo seen")
}

#[test]
fn settings_and_login_are_the_users_and_the_rest_is_private() {
    let person = Person::new();
    let script = "cat $FAKE_HOME/settings.json $FAKE_HOME/rules/one $FAKE_HOME/state.json $FAKE_HOME/sub/auth.json; \
                  echo; echo theirs > $FAKE_HOME/state.json; echo x > $FAKE_HOME/history; : > $FAKE_HOME/auth.lock; \
                  echo $FAKE_HOME; stat -c %a $FAKE_HOME";
    let session = person.begin(script);
    person.world.status(&session, "completed");
    let own = person.own(&session, "");
    let own = own.display().to_string();
    assert_eq!(
        person.world.output(&session),
        format!(
            "{{\"theme\":\"dark\"}}be kind\nmine{{\"token\":\"old\"}}\n{}\n700\n",
            own.trim_end_matches('/')
        ),
    );
    assert_eq!(fs::read_to_string(person.home.join(".fake.json")).expect("a file"), "mine");
    assert!(!person.home.join(".fake/history").exists());
    assert!(person.home.join(".fake/auth.lock").exists(), "whoever locks it locks it for all");
    assert!(person.own(&session, "history").exists());
}

#[test]
fn a_renewed_login_reaches_the_user_and_the_other_session() {
    let person = Person::new();
    let other = person.begin(&until("$FAKE_HOME/sub/auth.json", "new"));
    let first = person.begin(&format!("{RENEW}; {}", until("$HOME/.fake/sub/auth.json", "new")));
    for session in [&first, &other] {
        person.world.status(session, "completed");
        assert_eq!(person.world.output(session), "seen\n");
        let own = person.own(session, "sub/auth.json");
        person.world.wait_for("the link", |_| own.is_symlink().then_some(()));
    }
    assert_eq!(person.login(), "{\"token\":\"new\"}");
    let mode = fs::metadata(person.home.join("kept/auth.json")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(person.home.join(".fake/sub/auth.json").is_symlink(), "the user's own link is left alone");
    let left = fs::read_dir(person.home.join("kept")).expect("a folder").count();
    assert_eq!(left, 1, "nothing is left beside it");
}

#[test]
fn a_login_that_is_written_through_the_link_is_the_users_at_once() {
    let person = Person::new();
    person.run("printf '{\"token\":\"inside\"}' > $FAKE_HOME/sub/auth.json");
    assert_eq!(person.login(), "{\"token\":\"inside\"}");
}

#[test]
fn a_newer_login_of_the_users_is_never_overwritten() {
    let person = Person::new();
    // Renewed long ago, as it were, and the user has signed in since.
    let script = "printf '{\"token\":\"stale\"}' > draft; touch -d 2001-01-01 draft; mv draft $FAKE_HOME/sub/auth.json; \
                  until [ -L $FAKE_HOME/sub/auth.json ]; do sleep 0.05; done; cat $FAKE_HOME/sub/auth.json";
    assert_eq!(person.run(script), "{\"token\":\"old\"}");
    assert_eq!(person.login(), "{\"token\":\"old\"}");
}

/// Runs a script twice in one session: before the second process begins, whatever the first left is looked at.
fn run_twice(person: &Person, script: &str) -> String {
    let session = person.begin(script);
    person.world.status(&session, "completed");
    person.world.wish(&session, "resume");
    person.world.wait_for("the second process", |world| {
        let session = world.session(&session);
        (session.launches.len() == 2 && session.outcome.is_some()).then_some(())
    });
    session
}

#[test]
fn half_a_login_is_not_brought_back() {
    let person = Person::new();
    let session = run_twice(&person, "printf '{\"tok' > draft; mv draft $FAKE_HOME/sub/auth.json");
    assert_eq!(person.login(), "{\"token\":\"old\"}");
    assert!(!person.own(&session, "sub/auth.json").is_symlink());
}

#[test]
fn who_has_signed_out_stays_so() {
    let person = Person::new();
    run_twice(&person, &format!("rm -f $HOME/kept/auth.json; {RENEW}"));
    assert!(!person.home.join("kept/auth.json").exists());
}

#[test]
fn a_login_that_is_renewed_without_a_server_is_brought_back_later() {
    let mut person = Person::new();
    let script = format!(
        "until [ -e go ]; do sleep 0.05; done; {RENEW}; : > renewed; until [ -e end ]; do sleep 0.05; done"
    );
    let session = person.begin(&script);
    person.world.status(&session, "active");
    person.world.kill_server();
    write(&person.world.project, "go", "");
    person.world.wait_for("the renewal", |world| world.project.join("renewed").exists().then_some(()));
    assert_eq!(person.login(), "{\"token\":\"old\"}");
    person.world.start();
    person.world.wait_for("the user's login", |_| person.login().contains("new").then_some(()));
    write(&person.world.project, "end", "");
    person.world.status(&session, "completed");
}
