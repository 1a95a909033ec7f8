//! The interface as other programs see it: events in one form, and a problem for whatever cannot be read.

use serde_json::Value;

use crate::support::World;

#[test]
fn events_have_one_form_everywhere() {
    let world = World::new();
    let session = world.run(&["true"]);
    world.status(&session, "completed");
    let listed: Vec<Value> = world.get("/events").expect("events");
    let exported = world.ostler(&["export"]);
    let exported = String::from_utf8(exported.stdout).expect("text");
    let exported: Vec<Value> =
        exported.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert_eq!(listed, exported);
    let launched = listed.iter().find(|event| event["kind"] == "session.launched").expect("it was launched");
    let place = ["project", "run", "session"].map(|name| launched[name].as_str().unwrap_or_default());
    assert_eq!(place, ["p_1", "r_1", session.as_str()]);
    assert_eq!((&launched["v"], &launched["launch"]), (&1.into(), &1.into()));
    assert!(launched["seq"].is_u64() && launched["at"].is_u64(), "{launched}");
    let registered = &listed[0];
    assert_eq!((registered["kind"].as_str(), &registered["run"]), (Some("project.registered"), &Value::Null));
}
