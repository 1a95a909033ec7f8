//! Secrets of a project: the journal tells that they are kept, and nothing of what they are.

use ostler_engine::{
    Input, ProjectId,
    input::{NewProject, SecretNews},
};

use crate::play::Play;

fn secret(news: SecretNews) -> Input {
    Input::Secret { project: ProjectId(1), name: "STRIPE_KEY".to_owned(), news }
}

#[test]
fn a_project_is_registered_once_and_its_secrets_are_noted() {
    let mut play = Play::new();
    let project = NewProject { root: "/shop".to_owned(), name: "shop".to_owned(), git: true };
    play.give(Input::Register(project.clone()));
    let seq = play.book.world.last_seq;
    play.give(Input::Register(project));
    assert_eq!((seq, play.book.world.last_seq), (1, 1));
    assert_eq!(play.book.world.project_at("/shop"), Some(ProjectId(1)));

    play.give(secret(SecretNews::Stored { what: "stored".to_owned(), reuse: true, version: 3 }));
    play.give(secret(SecretNews::Removed));
    let page = play.page();
    assert!(page.contains("secret.stored") && page.contains("secret.removed"), "{page}");
}
