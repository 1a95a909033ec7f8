//! What a person lets a repository run: known by what it is, kept until it is revoked.

use expect_test::expect;
use ostler_engine::{Input, run::Trusted};

use crate::play::Play;

fn command(key: &str, hash: &str) -> Trusted {
    Trusted { key: key.to_owned(), file: "/repo/.git/config".to_owned(), hash: hash.to_owned() }
}

fn trust(commands: &[Trusted]) -> Input {
    Input::Trust { root: "/repo".into(), name: "repo".into(), git: true, commands: commands.to_vec() }
}

#[test]
fn it_grows_until_it_is_revoked() {
    let mut play = Play::new();
    let [one, other] = [command("filter.a.clean", "1"), command("filter.a.clean", "2")];
    let revoke = || Input::Distrust { root: "/repo".to_owned() };
    // Of a project that nobody knows, there is nothing to take back.
    play.give(revoke());
    play.give(trust(&[one.clone(), one.clone()]));
    // The same again says nothing new.
    play.give(trust(std::slice::from_ref(&one)));
    play.now_ms = 2000;
    play.give(trust(&[one.clone(), other.clone()]));
    let project = play.book.world.projects.values().next().expect("it is registered");
    assert_eq!((project.trusted.as_slice(), project.trusted_at_ms), ([one, other].as_slice(), Some(2000)));
    play.give(revoke());
    play.give(revoke());
    let project = play.book.world.projects.values().next().expect("it stays");
    assert_eq!((project.trusted.len(), project.trusted_at_ms), (0, None));
    expect![[r#"
        project.registered git=true name="repo" root="/repo"
        trust.given commands=[{"file":"/repo/.git/config","hash":"1","key":"filter.a.clean"}]
        trust.given commands=[{"file":"/repo/.git/config","hash":"2","key":"filter.a.clean"}]
        trust.revoked
    "#]]
    .assert_eq(&play.page());
}

/// A project of an earlier version knows nothing of trust, and one without it is written as it was.
#[test]
fn an_old_project_is_read_as_it_was() {
    let old = r#"{"id":"p_1","root":"/repo","name":"repo","git":true,"registered_at_ms":1000}"#;
    let project: ostler_engine::run::Project = serde_json::from_str(old).expect("it is read");
    assert_eq!((project.trusted.len(), project.trusted_at_ms), (0, None));
    assert!(!serde_json::to_string(&project).expect("it is written").contains("trusted"));
}
