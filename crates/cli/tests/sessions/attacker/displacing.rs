//! The attacks on what a session is started with, and on the way to its shim: one session exchanges what the next one is
//! started with, and answers the next server in place of another shim and of its own.

use super::{Attack, Victims, Watch, cancel_the_unreachable};
use crate::support::{World, kill};

pub(super) fn displace(world: &mut World, watch: &Watch, round: u64) {
    let victims = Victims::start(world);
    let name = format!("displacing{round}");
    let attack = Attack::start(world, &victims, &name, &["launch", "impostor"]);
    attack.reached("AT launch", world);
    let started = world.run(&["sh", "-c", "echo \"${PLANTED-ours}\""]);
    world.status(&started, "completed");
    assert_eq!(world.output(&started), "ours\n", "another command or another variable");
    attack.go_on("launch");
    attack.reached("AT impostor", world);
    watch.during_restart(|| world.restart());
    for session in [&victims.asking, &attack.session] {
        let card = world.wait_for("a card", |world| {
            world.inbox().into_iter().find(|it| it.session == *session && it.ask.kind == "steered")
        });
        assert_eq!(card.ask.fields["what"], "displaced");
        world.answer(&card.id, "continue");
    }
    victims.are_untouched(world);
    world.answer(&victims.question, "PostgreSQL");
    attack.go_on("impostor");
    attack.reached(" impostor: ", world);
    let attempts = attack.attempts();
    println!("{attempts}");
    assert!(attempts.contains("TRIED launch") && !attempts.contains("GAINED"), "{attempts}");
    cancel_the_unreachable(world, &attack);
    // Its shim cannot be reached again. The answer holds for the next process of the session.
    kill(world.shim_of(&victims.asking), "KILL");
    world.status(&victims.asking, "interrupted");
    world.wish(&victims.asking, "resume");
    world.status(&victims.asking, "completed");
    let output = world.output(&victims.asking);
    assert!(output.contains("got ") && output.contains("PostgreSQL"), "{output}");
    world.wish(&victims.working, "cancel");
    world.status(&victims.working, "cancelled");
}
