//! A secret in a session that leaks it in every way it can is found nowhere: in no file of the state directory, in
//! nothing that is shown, and in no process but the agent's own.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ostler_server::api::{GivenValue, NewAnswer, NewRun, RequestView};

use crate::support::{DEADLINE, World, kill, state, write};

/// With characters that JSON, URLs and shells write differently.
const SECRET: &str = "sk_live_51\"Hq/Q é+only=for~tests_0123456789";

/// The way in: the value is asked for, then comes with the private file, and every later bash has it.
const ASK: &str = r"printf '%s\n' '[DEPENDENCY_REQUEST]' 'type: api_key' 'name: KEY' 'description: because' \
    'required: true' '[/DEPENDENCY_REQUEST]'
printf '%s\n' '[USER_QUESTION]' 'category: clarification' 'question: Ready?' 'required: true' '[/USER_QUESTION]'
read -r line
exec bash leaks.sh
";

/// Ways to leak it.
const LEAKS: &str = r#"
echo "whole: $KEY."
echo "in the errors: $KEY." >&2
printf '%s' "${KEY:0:11}"; sleep 0.7; printf '%s\n' "${KEY:11}"
for ((at = 0; at < ${#KEY}; at++)); do printf '%s' "${KEY:at:1}"; done; echo
python3 leaks.py "$KEY"
echo "$KEY" >"$TMPDIR/leak" && rm "$TMPDIR/leak"
python3 -c 'import faulthandler, os; faulthandler._sigsegv()' "$KEY"
bash -c 'kill -ABRT $$' "$KEY"
printf '%s\n' "[STEP_COMPLETE]" "summary: done with $KEY"
printf '%s\n' '[ERROR]' 'type: recoverable' "message: $KEY was refused" "details: |" "  $KEY" 'recovery: notify_user' '[/ERROR]'
printf '%s\n' '[USER_QUESTION]' 'category: choice' "question: Is $KEY right?" "options: [yes, $KEY]" 'required: true' '[/USER_QUESTION]'
read -r line
printf '%s\n' '[USER_QUESTION]' "note $KEY" '[/USER_QUESTION]'
sleep 600 &
echo ready
wait
"#;

const LEAKS_PY: &str = r#"
import base64, binascii, json, os, sys, time, urllib.parse
key = os.environ["KEY"]
assert key == sys.argv[1]
for text in ("", "a", "ab"):
    print(base64.b64encode((text + key + text).encode()).decode())
    print(base64.urlsafe_b64encode((text + key).encode()).decode())
print(base64.encodebytes((key * 3).encode()).decode())
print(json.dumps({"key": key}), json.dumps({"key": key}, ensure_ascii=False), json.dumps(json.dumps(key)))
print("https://x/?k=" + urllib.parse.quote(key, safe=""), urllib.parse.urlencode({"k": key}))
print(binascii.hexlify(key.encode()).decode(), binascii.hexlify(key.encode()).decode().upper())
"#;

/// What would be enough to know the secret.
fn traces() -> Vec<String> {
    let json = serde_json::to_string(SECRET).expect("a text");
    let json = json[1..json.len() - 1].to_owned();
    let hexadecimal: Vec<String> = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
    let hexadecimal = hexadecimal.concat();
    [
        SECRET,
        &json,
        "only=for~tests",
        "only%3Dfor~tests",
        "sk_live_51%22Hq",
        "\\u00e9+only",
        "c2tfbGl2ZV81",
        "NrX2xpdmVfNT",
        "za19saXZlXzUx",
        &hexadecimal[..24],
        &hexadecimal.to_uppercase()[..24],
        "_0123456789",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn leaked(text: &[u8]) -> Option<String> {
    let holds = |trace: &String| text.windows(trace.len()).any(|window| window == trace.as_bytes());
    traces().into_iter().find(holds)
}

/// Every file below a directory that holds a trace.
fn leaks(directory: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type());
        if kind.as_ref().is_ok_and(fs::FileType::is_dir) {
            found.extend(leaks(&path));
        } else if kind.is_ok_and(|kind| kind.is_file())
            && let Some(trace) = fs::read(&path).ok().and_then(|text| leaked(&text))
        {
            found.push((path, trace));
        }
    }
    found
}

/// Processes that show a trace to others, without those of agents.
fn showing(world: &World) -> Vec<(u32, &'static str, String)> {
    let own: Vec<u32> = world.processes().into_iter().map(|(pid, _)| pid).collect();
    let shims = world.shims();
    let pids = fs::read_dir("/proc").expect("Linux").flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let others = pids.filter(|pid| !own.contains(pid) || shims.contains(pid));
    let looked = others.flat_map(|pid| ["cmdline", "environ"].map(|file| (pid, file)));
    let found = looked.filter_map(|(pid, file)| {
        let text = fs::read(format!("/proc/{pid}/{file}")).ok()?;
        // A process of the agent that has ended since the first look is nobody's.
        leaked(&text).filter(|_| state(pid).is_some()).map(|trace| (pid, file, trace))
    });
    found.collect()
}

fn core_limit(pid: u32) -> String {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).expect("it lives");
    let line = limits.lines().find(|line| line.starts_with("Max core file size")).expect("Linux");
    line.split_whitespace().nth(4).unwrap_or_default().to_owned()
}

/// The open request of a session with this kind.
fn open(world: &World, session: &str, kind: &str) -> RequestView {
    world.wait_for(kind, |world| {
        world.inbox().into_iter().find(|it| it.session == session && it.ask.kind == kind)
    })
}

#[test]
fn a_secret_is_found_nowhere() {
    let mut world = World::new();
    write(&world.project, "leaks.sh", LEAKS);
    write(&world.project, "leaks.py", LEAKS_PY);
    let check = "echo \"checked with $KEY\"; echo \"$KEY\" >&2; false".to_owned();
    let mut new = NewRun { check: Some(check), ..world.new_run(&["bash", "-c", ASK]) };
    new.environment.get_or_insert_default().insert("TMPDIR".to_owned(), world.project.display().to_string());
    let session = world.run_with(&new);

    let request = open(&world, &session, "dependency");
    let given = [("KEY".to_owned(), GivenValue::new(SECRET.to_owned()))];
    let answer = NewAnswer { values: given.into(), ..NewAnswer::default() };
    world.post::<RequestView>(&format!("/requests/{}/answer", request.id), &answer).expect("it is taken");
    let ready = open(&world, &session, "question");
    world.answer(&ready.id, "go");

    let error = open(&world, &session, "error");
    assert!(leaked(error.ask.text.as_bytes()).is_none(), "{}", error.ask.text);
    world.answer(&error.id, "continue");
    let question = open(&world, &session, "question");
    assert!(question.ask.text.contains("Is ****"), "{}", question.ask.text);
    // In the middle of it all the server is killed, and the next one goes on.
    world.restart();
    world.answer(&question.id, "1");
    let fault = open(&world, &session, "fault");
    world.answer(&fault.id, "continue");
    world.wait_for("the last words", |world| world.output(&session).ends_with("ready\n").then_some(()));

    let values = world.home.join("sessions").join(&session).join("values");
    let holding: Vec<PathBuf> = leaks(&world.home).into_iter().map(|(path, _)| path).collect();
    assert_eq!(holding, std::slice::from_ref(&values), "while it is needed it stands in one private file");
    assert_eq!(showing(&world), []);
    assert_eq!(core_limit(world.shim_of(&session)), "0");
    assert_eq!(core_limit(world.session(&session).pid.expect("it runs").cast_unsigned()), "0");

    let is_sleep =
        |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n");
    world.processes().into_iter().map(|(pid, _)| pid).filter(is_sleep).for_each(|pid| kill(pid, "TERM"));
    let reason = world.status(&session, "failed").outcome.expect("an outcome").reason;
    assert_eq!(reason["key"], "check_failed", "{reason}");
    world.wait_for("no values", |_| (!values.exists()).then_some(()));
    assert_eq!(leaks(&world.home), []);
    shows_nothing(&world, &session);
    world.verify();
}

/// What people and programs are shown of it.
fn shows_nothing(world: &World, session: &str) {
    for arguments in [
        &["export"][..],
        &["show", session, "--json"],
        &["logs", session, "--raw"],
        &["logs", session, "--json"],
        &["logs", session, "--err"],
        &["secret", "list", "--all"],
        &["inbox", "--json"],
    ] {
        let output = world.ostler(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert!(!output.stdout.is_empty(), "{arguments:?}");
        assert_eq!(leaked(&output.stdout).or_else(|| leaked(&output.stderr)), None, "{arguments:?}");
    }
    let events = serde_json::to_string(&world.events(session)).expect("plain data");
    assert_eq!(leaked(events.as_bytes()), None);
    assert!(events.contains("done with ****") && events.contains("checked with ****"), "{events}");
}

#[test]
fn a_server_that_crashes_leaves_nothing_of_it() {
    let mut world = World::new();
    let kept: serde_json::Value = world
        .post("/secrets", &serde_json::json!({ "directory": world.project, "name": "KEY", "value": SECRET }))
        .expect("it is kept");
    assert_eq!(kept["name"], "KEY");
    assert_eq!(core_limit(world.server_pid()), "0");
    kill(world.server_pid(), "ABRT");
    let deadline = Instant::now() + DEADLINE;
    while !world.has_died() {
        assert!(Instant::now() < deadline, "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(leaks(&world.home), []);
    assert_eq!(leaks(&world.project), []);
    world.restart();
    let output = world.ostler(&["secret", "get", "KEY"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{SECRET}\n"));
}
