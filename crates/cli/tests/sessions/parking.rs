//! Limits of accounts, with real processes: who parks, who goes on, in which order, and that it counts for nothing.

use std::fs;

use ostler_server::api::NewRun;

use crate::{
    preload::Preload,
    support::{World, write},
};

/// A CLI that speaks as claude does. While the file of its account is there, its account is limited; otherwise it
/// notes that it was at work, waits until it may end, and is done.
const AGENT: &str = r#"
echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"c-$NAME\"}"
read -r _
if [ -e "limited-$CLAUDE_CONFIG_DIR" ]; then
    echo "{\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"status\":\"rejected\"$(cat "limited-$CLAUDE_CONFIG_DIR")}}"
    echo '{"type":"result","subtype":"success","is_error":true,"result":"limit","total_cost_usd":0,"usage":{"output_tokens":0}}'
    exit 1
fi
echo "$NAME" >>went-on
while [ ! -e "end-$NAME" ] && [ ! -e end-all ]; do sleep 0.05; done
echo '{"type":"result","subtype":"success","total_cost_usd":0.1,"usage":{"output_tokens":5}}'
exit 0
"#;

fn configured(patience: &str) -> World {
    let mut world = World::idle();
    configure(&world, patience);
    world.start();
    world
}

fn configure(world: &World, patience: &str) {
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("a folder");
    let table = format!(
        "[agents.fake]\nextends = \"claude\"\ncommand = [\"bash\", \"agent.sh\"]\nguide = \"none\"\n\
         [agents.fake.arguments]\nguide = []\n[patience]\n{patience}\n"
    );
    write(&folder, "config.toml", &table);
    write(&world.project, "agent.sh", AGENT);
}

/// An agent of this name on this account.
fn run(world: &World, name: &str, account: &str) -> String {
    let mut new = NewRun { agent: Some("fake".into()), prompt: Some("do it".into()), ..world.new_run(&[]) };
    new.environment.get_or_insert_default().insert("NAME".into(), name.into());
    new.environment.get_or_insert_default().insert("CLAUDE_CONFIG_DIR".into(), account.into());
    new.check = Some("true".into());
    new.attempts_max = Some(2);
    world.run_with(&new)
}

fn went_on(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.project.join("went-on")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn at_work(world: &World, name: &str) {
    world.wait_for(name, |world| went_on(world).contains(&name.to_owned()).then_some(()));
}

#[test]
fn one_account_parks_and_the_other_goes_on_and_the_parked_ones_follow_in_order() {
    // Where the clock can be set nobody waits for the reset.
    let preload = Preload::new();
    let environment = preload.as_ref().map(Preload::environment);
    let environment = environment.as_ref().map_or(&[][..], |pairs| &pairs[..]);
    let mut world = World::idle();
    configure(&world, "stagger = \"1d\"\nstopped = \"1d\"\n");
    world.start_with(environment);
    let first = run(&world, "first", "one");
    at_work(&world, "first");
    let wait_ms = if preload.is_some() { 7_200_000 } else { 60_000 };
    let reset_s = (world.session(&first).created_at_ms + wait_ms) / 1000;
    write(&world.project, "limited-one", &format!(",\"resetsAt\":{reset_s}"));
    let second = run(&world, "second", "one");
    world.status(&second, "parked");
    world.status(&first, "parked");
    // Those at work stand still; none is started; the other account goes on to its end.
    world.wait_for("the stop", |world| world.session(&first).launches[0].stopped_at_ms);
    let third = run(&world, "third", "one");
    assert_eq!((world.session(&third).status.as_str(), world.session(&third).launches.len()), ("parked", 0));
    let other = run(&world, "other", "two");
    at_work(&world, "other");
    write(&world.project, "end-other", "");
    world.status(&other, "completed");
    let wait = world.session(&third).wait.expect("a wait");
    assert_eq!((wait.kind.as_str(), wait.reset_at_ms), ("limit", Some(reset_s * 1000)));
    assert_eq!(wait.account.as_deref(), Some("CLAUDE_CONFIG_DIR one"));
    // Another server knows it, too.
    world.kill_server();
    world.start_with(environment);
    assert_eq!([&first, &second, &third].map(|id| world.session(id).status), ["parked"; 3]);
    assert_eq!(world.session(&third).wait, Some(wait));
    world.kill_server();
    if let Some(preload) = &preload {
        preload.set("wall", "7200");
    }
    fs::remove_file(world.project.join("limited-one")).expect("it is there");
    world.start_with(environment);
    // The limit is over. The first goes on as the same process; nobody follows before it has shown that.
    world.status(&first, "active");
    assert_eq!([&second, &third].map(|id| world.session(id).status), ["parked", "parked"]);
    write(&world.project, "end-first", "");
    at_work(&world, "second");
    assert_eq!(world.session(&third).status, "parked");
    write(&world.project, "end-second", "");
    at_work(&world, "third");
    write(&world.project, "end-third", "");
    for session in [&first, &second, &third] {
        let view = world.status(session, "completed");
        assert_eq!(view.attempts, 1, "only the check of its work counts");
    }
    assert_eq!(went_on(&world), ["first", "other", "second", "third"]);
    assert_eq!(world.session(&first).launches.len(), 1);
    let causes: Vec<String> = world.session(&second).launches.into_iter().map(|it| it.cause).collect();
    assert_eq!(causes.last().map(String::as_str), Some("limit"));
    world.wait_for("the end of the limit", |world| {
        let events: Vec<ostler_server::api::EventView> = world.get("/events?after=0").expect("events");
        events.iter().any(|event| event.kind == "account.recovered").then_some(())
    });
    world.verify();
}

#[test]
fn a_reset_that_is_named_is_waited_for_and_a_person_need_not() {
    let world = configured("");
    write(&world.project, "limited-one", ",\"resetsAt\":4102444800");
    let session = run(&world, "only", "one");
    let wait = world.status(&session, "parked").wait.expect("a wait");
    assert_eq!((wait.until_ms, wait.reset_at_ms), (Some(4_102_444_800_000), Some(4_102_444_800_000)));
    world.wait_for("its end", |world| world.session(&session).launches[0].ended.clone());
    let new = run(&world, "new", "one");
    assert_eq!(world.session(&new).status, "parked");
    fs::remove_file(world.project.join("limited-one")).expect("it is there");
    world.wish(&new, "continue");
    at_work(&world, "new");
    write(&world.project, "end-all", "");
    // It has shown that the limit is over, whatever was said of it.
    for id in [&session, &new] {
        world.status(id, "completed");
    }
    // A reset that nobody names is not invented.
    write(&world.project, "limited-two", "");
    let unknown = run(&world, "unknown", "two");
    assert_eq!(world.status(&unknown, "parked").wait.and_then(|wait| wait.reset_at_ms), None);
    let ps = String::from_utf8(world.ostler(&["ps"]).stdout).expect("text");
    assert!(ps.contains("parked, reset unknown, next try"), "{ps}");
}
