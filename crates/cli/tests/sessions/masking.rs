//! Which values count as secret, and that nothing which is delivered to an agent is masked.

use std::{fs, path::Path};

use ostler_server::api::{NewAnswer, RequestView};

use crate::{
    mcp::CLIENT,
    needs::{give, values},
    support::{World, write},
};

/// A value that looks like a key.
const SECRET: &str = "sk_live_51HqQonlyForTests0123456789";

/// Another one of the same length: both look the same once they are masked.
const OTHER: &str = "sk_live_86XyZnotTheSameAsAbove98765";

fn need(kind: &str, name: &str) -> String {
    format!(
        "printf '%s\\n' '[DEPENDENCY_REQUEST]' 'type: {kind}' 'name: {name}' 'description: because' 'required: true' \
         '[/DEPENDENCY_REQUEST]'"
    )
}

/// Asks for values one after the other, waits for a line, and goes on with a script that has them.
fn given_to(world: &World, needs: &[(&str, &str, &str)], script: &str, answer: &NewAnswer) -> String {
    write(&world.project, "then.sh", script);
    let asks: Vec<String> = needs.iter().map(|(kind, name, _)| need(kind, name)).collect();
    let ready = "printf '%s\\n' '[USER_QUESTION]' 'category: clarification' 'question: Ready?' 'required: true' \
                 '[/USER_QUESTION]'";
    let session = world.bash(&format!("{}\n{ready}\nread -r line\nexec bash then.sh", asks.join("\n")));
    for (_, name, value) in needs {
        let request = world.wait_for("a need", |world| {
            world.inbox().into_iter().find(|it| it.session == session && it.ask.text == *name)
        });
        let given = NewAnswer { secret: answer.secret, ..values(&[(name, value)]) };
        give(world, &request.id, &given);
    }
    let ready = question(world, &session, "Ready?");
    world.answer(&ready.id, "yes");
    session
}

fn question(world: &World, session: &str, begins: &str) -> RequestView {
    world.wait_for("a question", |world| {
        let mut open = world.inbox().into_iter();
        open.find(|it| it.session == session && it.ask.kind == "question" && it.ask.text.starts_with(begins))
    })
}

/// A script that asks which of these is right, and keeps the line that it gets.
const CHOICE: &str = r#"
printf '%s\n' '[USER_QUESTION]' 'category: choice' "question: Which of $NODE_ENV$KEY$OTHER?" \
    "options: [none, \"$NODE_ENV$KEY\", \"$NODE_ENV$OTHER\"]" 'required: true' '[/USER_QUESTION]'
read -r line
printf '%s' "$line" >reply.json
echo "id=13000x $NODE_ENV"
"#;

fn reply(world: &World) -> serde_json::Value {
    let text = fs::read_to_string(world.project.join("reply.json")).expect("the agent has kept it");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_variable_that_does_not_look_like_a_secret_is_masked_nowhere() {
    let world = World::new();
    let needs = [("env_variable", "NODE_ENV", "production"), ("env_variable", "PORT", "3000")];
    let session = given_to(&world, &needs, CHOICE, &NewAnswer::default());
    let asked = question(&world, &session, "Which");
    assert_eq!(asked.ask.text, "Which of production?");
    assert_eq!(asked.ask.options[1], "production");
    world.answer(&asked.id, "2");
    world.status(&session, "completed");
    assert_eq!(reply(&world)["answer"], "production");
    let said = world.output(&session);
    assert!(said.ends_with("id=13000x production\n"), "{said}");
}

#[test]
fn a_person_decides_what_counts() {
    let world = World::new();
    let marked = NewAnswer { secret: Some(true), ..NewAnswer::default() };
    let session = given_to(&world, &[("env_variable", "NODE_ENV", "production")], "echo $NODE_ENV", &marked);
    world.status(&session, "completed");
    assert!(world.output(&session).ends_with("\n**********\n"), "{}", world.output(&session));
    let marked = NewAnswer { secret: Some(false), ..NewAnswer::default() };
    let session = given_to(&world, &[("api_key", "KEY", SECRET)], "echo $KEY", &marked);
    world.status(&session, "completed");
    assert!(world.output(&session).ends_with(&format!("\n{SECRET}\n")), "{}", world.output(&session));
    let session =
        given_to(&world, &[("env_variable", "KEY_ID", SECRET)], "echo $KEY_ID", &NewAnswer::default());
    world.status(&session, "completed");
    let stars = "*".repeat(SECRET.len());
    assert!(world.output(&session).ends_with(&format!("\n{stars}\n")), "{}", world.output(&session));
}

#[test]
fn an_option_is_delivered_as_the_agent_has_said_it() {
    let mut world = World::new();
    let needs = [("api_key", "KEY", SECRET), ("api_key", "OTHER", OTHER)];
    let session = given_to(&world, &needs, CHOICE, &NewAnswer::default());
    let asked = question(&world, &session, "Which");
    let stars = "*".repeat(SECRET.len());
    assert_eq!(asked.ask.options, ["none", &stars, &stars]);
    // The shim alone knows what was said, also for the next server.
    world.restart();
    world.answer(&asked.id, "3");
    world.status(&session, "completed");
    let reply = reply(&world);
    assert_eq!((&reply["answer"], &reply["option"]), (&OTHER.into(), &3.into()));
    assert!(!world.output(&session).contains(SECRET));
}

#[test]
fn who_asks_over_the_socket_gets_its_own_words() {
    let world = World::new();
    let script =
        "ostler ask \"Which of $KEY?\" --option none --option \"$KEY\" --option \"$OTHER\" >reply.json";
    let needs = [("api_key", "KEY", SECRET), ("api_key", "OTHER", OTHER)];
    let session = given_to(&world, &needs, script, &NewAnswer::default());
    let asked = question(&world, &session, "Which");
    let stars = "*".repeat(SECRET.len());
    assert_eq!(asked.ask.options, ["none", &stars, &stars]);
    world.answer(&asked.id, "3");
    world.status(&session, "completed");
    let said = fs::read_to_string(world.project.join("reply.json")).expect("it has answered");
    assert_eq!(said, format!("{OTHER}\n"));
}

/// The files below a directory that hold a text.
fn holding(directory: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if let Ok(bytes) = fs::read(&path)
            && bytes.windows(text.len()).any(|window| window == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// The commands and the tools by which an agent speaks over its socket, each with the value in every field.
const COMMANDS: &[(&str, &str)] = &[
    ("ask", r#"ostler ask "ask $KEY" --option "o $KEY" --option other --default "$KEY""#),
    ("need", r#"ostler need "need $KEY" --type permission --description "d $KEY""#),
    ("error", r#"ostler error "error $KEY" --details "d $KEY""#),
    ("step", r#"ostler step "step $KEY" --summary "s $KEY""#),
    ("invoke", r#"ostler invoke helper "invoke $KEY" --context "c $KEY""#),
    ("deliver", r#"ostler deliver helper "deliver $KEY""#),
    ("deliver json", r#"printf '{"a":"%s"}' "$KEY" | ostler deliver helper --type json --stdin"#),
];

const TOOLS: &str = r#"
key = os.environ["KEY"]
begin()
call("ask_human", {"question": "tool ask " + key, "options": ["o " + key, "other"], "default": key}, id="a")
call("need", {"name": "tool need " + key, "type": "permission", "description": "d " + key}, id="b")
call("report_error", {"message": "tool error " + key, "details": "d " + key}, id="c")
send({"id": "d", "method": "tools/call", "params": {"name": "invoke_agent", "arguments":
      {"agent": "helper", "task": "tool invoke " + key, "context": "c " + key}}})
send({"id": "e", "method": "tools/call", "params": {"name": "deliver_result", "arguments":
      {"agent": "helper", "type": "message", "content": "tool deliver " + key}}})
while True:
    hear()
"#;

#[test]
fn nothing_that_is_said_over_the_socket_holds_a_value() {
    let world = World::new();
    let role = "[agents.a]\ncommand = [\"sleep\", \"600\"]\n[office.roles.helper]\nagent = \"a\"\n";
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("it is ours");
    write(&folder, "config.toml", role);
    write(&world.project, "tools.py", &format!("{CLIENT}\n{TOOLS}"));
    let commands =
        COMMANDS.iter().map(|(name, command)| format!("({command}; echo \"{name} $?\" >>said) &\n"));
    let script = format!("exec 2>>said\n{}python3 tools.py &\nwait", commands.collect::<String>());
    let session = given_to(&world, &[("api_key", "KEY", SECRET)], &script, &NewAnswer::default());
    let stars = "*".repeat(SECRET.len());
    let asked = ["ask", "need", "error", "tool ask", "tool need", "tool error"];
    for asked in asked.map(|asked| format!("{asked} {stars}")) {
        let it = world.wait_for(&asked, |world| {
            world.inbox().into_iter().find(|it| it.session == session && it.ask.text == asked)
        });
        assert!(!serde_json::to_string(&it).expect("it is data").contains(SECRET), "{it:?}");
    }
    let events = |kind: &str, text: &str| {
        let text = format!("{text} {stars}");
        world.wait_for(&text, |world| {
            let events = world.events(&session).into_iter();
            let mut found = events.map(|event| serde_json::to_string(&event).expect("it is data"));
            found.find(|event| event.contains(kind) && event.contains(&text))
        })
    };
    events("step", "step");
    for (kind, text) in [("invo", "invoke"), ("invo", "tool invoke"), ("", "deliver"), ("", "tool deliver")] {
        events(kind, text);
    }
    world.wait_for("the result in JSON", |world| {
        let results: serde_json::Value = world.get("/projects/p_1/office/results").ok()?;
        results.to_string().contains(&format!("{{\\\"a\\\":\\\"{stars}\\\"}}")).then_some(())
    });
    let export = world.ostler(&["export"]).stdout;
    assert!(!String::from_utf8_lossy(&export).contains(SECRET));
    let held = holding(&world.home, SECRET);
    let private = format!("{session}/values");
    assert!(held.iter().all(|path| path.ends_with(&private)), "{held:?}");
}
