//! What agents need: values that reach them in every way, files, permissions, packages.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, path::Path};

use ostler_server::api::{FormView, GivenValue, NewAnswer, NewRun, RequestView, SecretView};

use crate::support::{QUESTION, World, write};

/// The example of the first source document, as it stands there, with a line that shows what came of it.
const STRIPE: &str = "
// Phase 3에서 Stripe 연동이 필요한 경우
console.log(`
[DEPENDENCY_REQUEST]
type: api_key
name: STRIPE_SECRET_KEY
description: Stripe API secret key for payment processing
required: true
[/DEPENDENCY_REQUEST]
`);

// 이후 재개되면 환경 변수로 사용 가능
const stripeKey = process.env.STRIPE_SECRET_KEY;
console.log('got ' + stripeKey.length);
";

/// A block that asks for something, for bash.
fn need(kind: &str, name: &str, rest: &str) -> String {
    format!(
        "printf '[DEPENDENCY_REQUEST]\\ntype: {kind}\\nname: {name}\\ndescription: because\\n{rest}\\n[/DEPENDENCY_REQUEST]\\n'"
    )
}

pub(crate) fn values(pairs: &[(&str, &str)]) -> NewAnswer {
    let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), GivenValue::new((*value).to_owned())));
    NewAnswer { values: pairs.collect(), ..NewAnswer::default() }
}

pub(crate) fn give(world: &World, request: &str, answer: &NewAnswer) -> RequestView {
    world.post(&format!("/requests/{request}/answer"), answer).expect("it is taken")
}

fn skip() -> NewAnswer {
    NewAnswer { skip: true, ..NewAnswer::default() }
}

fn yes() -> NewAnswer {
    NewAnswer { decision: Some(true), ..NewAnswer::default() }
}

/// The same, with a question behind it: a shell runs on until it is stopped, and one that reads a line does not.
fn need_and_wait(kind: &str, name: &str, rest: &str) -> String {
    format!("{}; {QUESTION}; read -r line", need(kind, name, rest))
}

/// Gives what is asked for first, and then answers the question behind it.
fn give_and_answer(world: &World, session: &str, answer: &NewAnswer) {
    let request = world.asked(session);
    give(world, &request.id, answer);
    let question = world.wait_for("the question", |world| {
        world.inbox().into_iter().find(|it| it.session == session && it.ask.kind == "question")
    });
    world.answer(&question.id, "1");
    world.status(session, "completed");
}

/// Runs a script that asks once for a key, gives it, and says what was printed in the end.
fn printed(world: &World, command: &[&str], answer: &NewAnswer) -> String {
    let session = world.run(command);
    let request = world.asked(&session);
    give(world, &request.id, answer);
    world.status(&session, "completed");
    world.output(&session)
}

/// A value as it stands in what is written down.
fn masked(value: &str) -> String {
    value.bytes().map(|byte| if byte == b'\n' { '\n' } else { '*' }).collect()
}

fn values_file(world: &World, session: &str) -> std::path::PathBuf {
    world.home.join("sessions").join(session).join("values")
}

#[test]
fn the_documents_example_finds_its_key_in_the_next_statement() {
    let world = World::new();
    write(&world.project, "agent.js", STRIPE);
    for round in 0..20 {
        let key = format!("sk_live_{}", "x".repeat(round));
        let said = printed(&world, &["node", "agent.js"], &values(&[("STRIPE_SECRET_KEY", &key)]));
        assert!(said.ends_with(&format!("got {}\n", key.len())), "round {round}: {said}");
    }
}

#[test]
fn every_later_bash_and_every_child_finds_it() {
    let world = World::new();
    // A variable with everything in it that a shell could misread.
    let value = "a b'c\"d$(echo no)`echo no`\\ \nnext line 한";
    let script = format!(
        "{}\nbash -c 'printf \"[%s]\" \"$KEY\"'\nbash -c 'python3 -c \"import os; print(os.environ[\\\"KEY\\\"] == \
         open(\\\"expected\\\").read())\"'\nbash -c 'node -e \"console.log(process.env.KEY.length)\"'\n",
        need_and_wait("env_variable", "KEY", "required: true")
    );
    write(&world.project, "expected", value);
    let session = world.bash(&script);
    give_and_answer(&world, &session, &values(&[("KEY", value)]));
    let said = world.output(&session);
    let seen = masked(value);
    assert!(said.contains(&format!("[{seen}]True\n{}\n", value.encode_utf16().count())), "{said}");
}

#[test]
fn a_child_of_a_node_program_has_it_too() {
    let world = World::new();
    let script = format!(
        "{STRIPE}\nconst {{ execFileSync }} = require('child_process');\n\
         process.stdout.write(execFileSync('python3', ['-c', 'import os; print(len(os.environ[\"STRIPE_SECRET_KEY\"]))']));\n\
         import('./module.mjs');\n"
    );
    write(&world.project, "agent.js", &script);
    write(
        &world.project,
        "module.mjs",
        "import { env } from 'node:process'; import { Worker } from 'node:worker_threads';\n\
         console.log('module', env.STRIPE_SECRET_KEY.length, structuredClone(env).STRIPE_SECRET_KEY.length);\n\
         new Worker('console.log(\"worker\", process.env.STRIPE_SECRET_KEY.length)', { eval: true });\n",
    );
    let said = printed(&world, &["node", "agent.js"], &values(&[("STRIPE_SECRET_KEY", "12345678")]));
    assert!(said.ends_with("got 8\n8\nmodule 8 8\nworker 8\n"), "{said}");
}

#[test]
fn what_is_set_on_purpose_stays_and_the_users_own_settings_hold() {
    let world = World::new();
    write(&world.project, "own.sh", "OWN=from-the-user; export OWN\nSET=by-the-user\n");
    write(&world.project, "own.cjs", "process.own = 'loaded';\n");
    let script = format!(
        "{}\nbash -c 'echo \"$KEY $SET $OWN\"'\nSET=here KEY=here bash -c 'echo \"$KEY $SET\"'\nKEY= bash -c 'echo \"[$KEY]\"'\n\
         KEY=mine node -e 'delete process.env.SET; console.log(process.env.KEY, process.env.SET, process.own)'\n",
        need_and_wait("service", "something", "required: true")
    );
    let mut new = world.new_run(&["bash", "-c", &script]);
    let own = world.project.join("own.cjs");
    new.environment.get_or_insert_default().insert("BASH_ENV".to_owned(), "$PROJECT/own.sh".to_owned());
    new.environment.get_or_insert_default().insert("PROJECT".to_owned(), world.project.display().to_string());
    new.environment
        .get_or_insert_default()
        .insert("NODE_OPTIONS".to_owned(), format!("--require={}", own.display()));
    let session = world.run_with(&new);
    give_and_answer(&world, &session, &values(&[("KEY", "given"), ("SET", "given")]));
    let said = world.output(&session);
    // What the user's own file sets comes before what was given, in the shell as in its children.
    let rest = "***** by-the-user from-the-user\nhere by-the-user\n[]\nmine ***** loaded\n";
    assert!(said.ends_with(rest), "{said}");
}

#[test]
fn programs_that_ask_for_nothing_run_as_they_would() {
    let world = World::new();
    write(
        &world.project,
        "a.test.js",
        "require('node:test')('x', () => require('assert').equal(process.env.NO, undefined));",
    );
    write(&world.project, "package.json", r#"{"name":"x","version":"1.0.0","scripts":{"hi":"node -p 1+1"}}"#);
    let script = "node --test a.test.js | grep '^# fail'; npm run --silent hi; node -p 'Object.keys(process.env).length > 1'\n\
                  node -e 'process.env.A=1; console.log(process.env.A, \"A\" in process.env, delete process.env.A, process.env.A)'";
    let session = world.bash(script);
    world.status(&session, "completed");
    let said = world.output(&session);
    assert_eq!(said, "# fail 0\n2\ntrue\n1 true true undefined\n");
}

#[test]
fn values_lie_in_one_private_file_and_only_while_the_session_goes_on() {
    let mut world = World::new();
    let secret = "sk_live_51H8xyzUnlikely";
    let script = format!("{}\ncat >/dev/null", need("api_key", "KEY", "required: true"));
    let session = world.bash(&script);
    let request = world.asked(&session);
    give(&world, &request.id, &values(&[("KEY", secret)]));
    let file = values_file(&world, &session);
    world.wait_for("the file", |_| file.exists().then_some(()));
    assert_eq!(fs::read(&file).expect("it is there"), format!("KEY={secret}\0").into_bytes());
    assert_eq!(fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o600);
    assert_eq!(places(&world.home, secret), std::slice::from_ref(&file));
    // Somebody took it away while nobody looked.
    world.kill_server();
    fs::remove_file(&file).expect("it is there");
    world.start();
    world.wait_for("the file", |_| file.exists().then_some(()));
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    world.wait_for("its removal", |_| (!file.exists()).then_some(()));
    assert_eq!(places(&world.home, secret), [] as [&Path; 0]);
    world.verify();
}

/// The files below a directory in which a text stands.
fn places(directory: &Path, text: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(places(&path, text));
        } else if fs::read(&path).is_ok_and(|bytes| bytes.windows(text.len()).any(|it| it == text.as_bytes()))
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_resumed_session_has_what_it_was_given() {
    let world = World::new();
    let script = format!(
        "echo \"first ${{KEY:-none}}\"; [ -n \"$KEY\" ] && exit 0; {}; exit 3",
        need("api_key", "KEY", "required: true")
    );
    let session = world.bash(&script);
    let request = world.asked(&session);
    give(&world, &request.id, &values(&[("KEY", "given")]));
    world.status(&session, "failed");
    world.wait_for("no values", |world| (!values_file(world, &session).exists()).then_some(()));
    world.wish(&session, "resume");
    world.status(&session, "completed");
    assert!(world.output(&session).contains("first *****"), "{}", world.output(&session));
}

#[test]
fn with_consent_it_is_given_again_without_asking() {
    let world = World::new();
    let script =
        format!("{}\nbash -c 'echo \"got $KEY\"'", need_and_wait("api_key", "KEY", "required: true"));
    let session = world.bash(&script);
    give_and_answer(&world, &session, &NewAnswer { reuse: true, ..values(&[("KEY", "given")]) });
    let session = world.bash(&script);
    let question = world.wait_for("the question", |world| {
        world.inbox().into_iter().find(|it| it.session == session && it.ask.kind == "question")
    });
    world.wait_for("the vault", |world| world.request("q_3").settled.filter(|it| it.by == "vault"));
    world.answer(&question.id, "1");
    world.status(&session, "completed");
    assert!(world.output(&session).ends_with("got *****\n"));
    // Another name was never given, and one that was given for once is asked for again.
    let once = format!("{}\ntrue", need("api_key", "ONCE", "required: true"));
    printed(&world, &["bash", "-c", &once], &values(&[("ONCE", "x")]));
    let session = world.bash(&once);
    let request = world.asked(&session);
    give(&world, &request.id, &NewAnswer { decision: Some(false), ..NewAnswer::default() });
    world.status(&session, "completed");
}

#[test]
fn a_cli_that_resumes_is_started_again_with_the_value() {
    let world = World::new();
    let config = world.home.join("config/ostler");
    fs::create_dir_all(&config).expect("a folder");
    // The first process asks and waits, as a stopped CLI does; the second has the value in its environment.
    let agent = format!(
        "echo \"prompt: $1; key ${{KEY:-none}}\"; [ -n \"$KEY\" ] && exit 0; {}; sleep 600",
        need("api_key", "KEY", "required: true")
    );
    write(&world.project, "agent.sh", &agent);
    write(
        &config,
        "config.toml",
        "[agents.cli]\ncommand = [\"bash\", \"agent.sh\"]\ninput.way = \"relaunch\"\n\
         arguments.fresh = [\"{new_conversation}\"]\narguments.resume = [\"{conversation}\"]\n\
         arguments.prompt = [\"{prompt}\"]\nvalues = { node = false, relaunch = true }\n",
    );
    let new = NewRun {
        agent: Some("cli".to_owned()),
        command: Vec::new(),
        prompt: Some("begin".to_owned()),
        ..world.new_run(&[])
    };
    let session = world.run_with(&new);
    let request = world.asked(&session);
    give(&world, &request.id, &values(&[("KEY", "given")]));
    world.status(&session, "completed");
    assert_eq!(world.session(&session).launches.len(), 2);
    assert!(world.output(&session).ends_with("key *****\n"), "{}", world.output(&session));
}

#[test]
fn what_is_not_given_is_told_or_has_a_default() {
    let world = World::new();
    let script = |rest: &str| {
        let wait = need_and_wait("env_variable", "PORT", rest);
        format!("{wait}; bash -c 'echo \"[$PORT]\"'; echo \"line $line\"")
    };
    let session = world.bash(&script("required: false\\ndefault: 8080"));
    give_and_answer(&world, &session, &skip());
    let said = world.output(&session);
    // The one line that it reads is the answer to its question. A default is what it said itself, and stays readable.
    assert!(said.contains("[8080]\nline {\"type\":\"question_answer\""), "{said}");
    let no = NewAnswer { decision: Some(false), value: Some("not yet".to_owned()), ..NewAnswer::default() };
    let session = world.bash(&script("required: true"));
    give_and_answer(&world, &session, &no);
    let told = r#"{"type":"dependency_provided","requestId":"q_3","name":"PORT","dependencyType":"env_variable","provided":false,"reason":"not yet"}"#;
    let said = world.output(&session);
    assert!(said.ends_with(&format!("[]\nline {told}\n")), "{said}");
}

/// Reads what came of its request, and gets the value as it says.
const PYTHON: &str = r#"
import json, shlex, subprocess, sys
print("[DEPENDENCY_REQUEST]\ntype: env_variable\nname: SHOP_KEY\ndescription: To pay.\nrequired: true\n[/DEPENDENCY_REQUEST]", flush=True)
reply = json.loads(sys.stdin.readline())
print("get:", reply["get"])
value = subprocess.run(shlex.split(reply["get"]), capture_output=True, text=True, check=True).stdout.strip()
print("length:", len(value))
"#;

#[test]
fn a_running_program_is_told_how_to_get_a_value() {
    let world = World::new();
    fs::create_dir_all(world.home.join("config/ostler")).expect("a folder");
    let table = "[agents.mine]\ncommand = [\"python3\", \"agent.py\"]\narguments.prompt = [\"{prompt}\"]\nvalues.reply = true\n";
    write(&world.home.join("config/ostler"), "config.toml", table);
    write(&world.project, "agent.py", PYTHON);
    let (agent, prompt) = (Some("mine".to_owned()), Some("pay".to_owned()));
    let session = world.run_with(&NewRun { agent, prompt, ..world.new_run(&[]) });
    let request = world.asked(&session);
    assert!(!request.ask.form.expect("a form").unseen, "it is told");
    give(&world, &request.id, &values(&[("SHOP_KEY", "k-123456")]));
    world.status(&session, "completed");
    let said = world.output(&session);
    assert!(said.ends_with("get: ostler need SHOP_KEY\nlength: 8\n"), "{said}");
    assert_eq!(world.count(&session, "request.opened"), 2, "it asked, and asked at the socket");
}

#[test]
fn what_a_session_was_given_is_not_asked_for_again() {
    let world = World::new();
    let ostler = env!("CARGO_BIN_EXE_ostler");
    let script = format!(
        "{}; v=$('{ostler}' need SHOP_KEY); echo \"length ${{#v}}\"; '{ostler}' need OTHER_KEY --optional; echo $?",
        need_and_wait("api_key", "SHOP_KEY", "required: true")
    );
    let session = world.bash(&script);
    let request = world.asked(&session);
    assert!(request.ask.form.expect("a form").unseen, "a shell that runs does not look again");
    let card = String::from_utf8(world.ostler(&["inbox"]).stdout).expect("text");
    assert!(
        card.contains("the running program cannot see it; it gets it with 'ostler need SHOP_KEY'"),
        "{card}"
    );
    give(&world, &request.id, &values(&[("SHOP_KEY", "k-123456")]));
    let settled = world.events(&session).into_iter().find(|event| event.kind == "request.settled");
    assert_eq!(settled.expect("it is settled").body["unseen"], true);
    let question = world.wait_for("the question", |world| {
        world.inbox().into_iter().find(|it| it.session == session && it.ask.kind == "question")
    });
    world.answer(&question.id, "1");
    // Another name is asked for as ever.
    let other = world.wait_for("another request", |world| {
        world.inbox().into_iter().find(|it| it.session == session && it.ask.text == "OTHER_KEY")
    });
    assert!(!other.ask.form.expect("a form").unseen, "who is blocked at the socket gets it there");
    give(&world, &other.id, &skip());
    world.status(&session, "completed");
    let said = world.output(&session);
    assert!(said.ends_with("length 8\n14\n"), "{said}");
}

#[test]
fn a_file_comes_to_the_workspace() {
    let world = World::new();
    let outside = world.home.join("elsewhere.png");
    fs::write(&outside, "picture").expect("a file");
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o600)).expect("it is ours");
    let script = format!(
        "{}; read -r line; echo \"$line\"",
        need("file", "../../logo.png", "required: false\\ndefault: p.png")
    );
    let path = NewAnswer { value: Some(outside.display().to_string()), ..NewAnswer::default() };
    let said = printed(&world, &["bash", "-c", &script], &path);
    assert!(said.contains(r#""provided":true,"path":"uploads/logo.png"}"#), "{said}");
    let given = world.project.join("uploads/logo.png");
    assert_eq!(fs::read_to_string(&given).expect("it is there"), "picture");
    assert_eq!(fs::metadata(&given).expect("it is there").permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(world.project.join("uploads/.gitignore")).expect("it is there"), "*\n");
    let said = printed(&world, &["bash", "-c", &script], &skip());
    assert!(said.contains(r#""provided":true,"path":"p.png","defaultUsed":true}"#), "{said}");
    let session = world.bash(&script);
    let request = world.asked(&session);
    let missing = NewAnswer { value: Some("/no/such/file".to_owned()), ..NewAnswer::default() };
    let problem = world.refused(&format!("/requests/{}/answer", request.id), &missing);
    assert_eq!(problem.kind, "no_file");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
}

/// A project with a package manager of which nothing is real but its name.
fn with_npm(world: &World, script: &str) -> BTreeMap<String, String> {
    write(&world.project, "package.json", "{}");
    with_tool(world, "npm", script)
}

/// A program of which nothing is real but its name.
fn with_tool(world: &World, name: &str, script: &str) -> BTreeMap<String, String> {
    let tools = world.home.join("tools");
    fs::create_dir_all(&tools).expect("a folder");
    write(&tools, name, script);
    fs::set_permissions(tools.join(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    BTreeMap::from([("PATH".to_owned(), path)])
}

#[test]
fn a_package_is_installed_by_the_projects_own_manager() {
    let world = World::new();
    let npm = "#!/bin/sh\nif [ \"$4\" = bad ]; then echo 'E404 no such package' >&2; exit 1; fi\nprintf '%s\\n' \"$@\" > installed\n";
    let environment = with_npm(&world, npm);
    let script = format!("{}; read -r line; echo \"$line\"", need("package", "NAME", "required: true"));
    let check = |package: &str, said: &str| {
        let new = NewRun {
            environment: Some(environment.clone()),
            ..world.new_run(&["bash", "-c", &script.replace("NAME", package)])
        };
        let session = world.run_with(&new);
        let request = world.asked(&session);
        let form = request.ask.form.expect("it has a form");
        assert_eq!(form.command.join(" "), format!("npm install --save -- {package}"));
        give(&world, &request.id, &yes());
        world.status(&session, "completed");
        let output = world.output(&session);
        assert!(output.contains(said), "{output}");
    };
    check("@supabase/supabase-js", r#""provided":true,"approved":true,"installed":true}"#);
    let installed = fs::read_to_string(world.project.join("installed")).expect("it ran");
    assert_eq!(installed, "install\n--save\n--\n@supabase/supabase-js\n");
    check(
        "bad",
        r#""provided":false,"approved":true,"installed":false,"reason":"exit code 1\nE404 no such package"}"#,
    );
}

/// Has a package approved, and gives what its program was told.
fn installed(world: &World, environment: &BTreeMap<String, String>, package: &str) -> (FormView, String) {
    let script = format!("{}; read -r line; echo \"$line\"", need("package", package, "required: true"));
    let environment = Some(environment.clone());
    let session = world.run_with(&NewRun { environment, ..world.new_run(&["bash", "-c", &script]) });
    let request = world.asked(&session);
    give(world, &request.id, &yes());
    world.status(&session, "completed");
    (request.ask.form.expect("it has a form"), world.output(&session))
}

#[test]
fn a_project_without_a_manifest_gets_one_if_the_name_says_which() {
    let world = World::new();
    let environment = with_tool(&world, "npm", "#!/bin/sh\nprintf '%s ' \"$@\" > package.json\n");
    let (form, said) = installed(&world, &environment, "@supabase/supabase-js");
    assert_eq!(form.command.join(" "), "npm --prefix . install --save -- @supabase/supabase-js");
    assert_eq!(form.manifest.as_deref(), Some("package.json"));
    assert!(said.contains(r#""installed":true"#), "{said}");
    assert!(world.project.join("package.json").exists());
}

#[test]
fn pip_leaves_it_to_ostler_to_name_a_package() {
    let world = World::new();
    let environment = with_tool(&world, "python3", "#!/bin/sh\necho \"$@\" >> installed\n");
    write(&world.project, "requirements.txt", "flask");
    let (form, said) = installed(&world, &environment, "requests==2.0");
    assert_eq!(
        (form.command.join(" "), form.manifest.as_deref()),
        ("python3 -m pip install -- requests==2.0".to_owned(), Some("requirements.txt"),)
    );
    assert!(said.contains(r#""installed":true"#), "{said}");
    let named = || fs::read_to_string(world.project.join("requirements.txt")).expect("it is there");
    assert_eq!(named(), "flask\nrequests==2.0\n");
    // Nothing that a link names is changed.
    fs::rename(world.project.join("requirements.txt"), world.home.join("elsewhere")).expect("it is moved");
    std::os::unix::fs::symlink(world.home.join("elsewhere"), world.project.join("requirements.txt"))
        .expect("a link");
    let (_, said) = installed(&world, &environment, "django");
    assert!(
        said.contains("it was installed, but not added to requirements.txt: it is no plain file"),
        "{said}"
    );
    assert_eq!(named(), "flask\nrequests==2.0\n");
    let (form, said) = installed(&world, &environment, "./x.tgz");
    let why = "'./x.tgz' is a file or an address; only packages of a registry are installed, by name";
    assert_eq!(form.problem.as_deref(), Some(why));
    assert!(said.contains(&format!(r#""installed":false,"reason":"{why}"#)), "{said}");
}

#[test]
fn what_an_installation_was_started_with_is_in_no_file() {
    let mut world = World::new();
    let environment = with_npm(&world, "#!/bin/sh\ntouch begun\nuntil [ -e go ]; do sleep 0.05; done\n");
    let script = format!("{}; read -r line", need("package", "left-pad", "required: true"));
    let new = NewRun { environment: Some(environment), ..world.new_run(&["bash", "-c", &script]) };
    let session = world.run_with(&new);
    let request = world.asked(&session);
    give(&world, &request.id, &yes());
    world.wait_for("the installation", |world| world.project.join("begun").exists().then_some(()));
    let folder = world.home.join("sessions").join(&session).join(format!("install-{}", request.id));
    let file = folder.join("launch.json");
    assert!(folder.exists() && !file.exists());
    // A server of an older version has written one.
    write(&folder, "launch.json", "{}");
    world.restart();
    assert!(file.exists(), "a shim of that version may just be reading it");
    write(&world.project, "go", "");
    world.status(&session, "completed");
    world.wait_for("it to be forgotten", |_| (!file.exists()).then_some(()));
}

#[test]
fn an_installation_ends_when_its_session_is_cancelled() {
    let world = World::new();
    let environment = with_npm(&world, "#!/bin/sh\ntouch begun\nexec sleep 600\n");
    let script = format!("{}; read -r line", need("package", "left-pad", "required: true"));
    let new = NewRun { environment: Some(environment), ..world.new_run(&["bash", "-c", &script]) };
    let session = world.run_with(&new);
    let request = world.asked(&session);
    give(&world, &request.id, &yes());
    world.wait_for("the installation", |world| world.project.join("begun").exists().then_some(()));
    let view = world.session(&session);
    assert_eq!((view.status.as_str(), view.blocked_by), ("installing", Vec::new()));
    assert!(world.inbox().is_empty(), "nobody has to do anything");
    let said = world.ostler(&[]).stdout;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("installing") && !said.contains("waiting for you"), "{said}");
    world.wish(&session, "cancel");
    world.status(&session, "cancelled");
    world.wait_for("an empty machine", |world| world.processes().is_empty().then_some(()));
}

#[test]
fn what_is_no_answer_is_refused_and_kept_nowhere() {
    let world = World::new();
    let session = world.bash(&format!("{}\nexit 0", need("api_key", "not a name", "required: true")));
    let request = world.asked(&session);
    let path = format!("/requests/{}/answer", request.id);
    let words = NewAnswer { value: Some("sk-7-as_words".to_owned()), ..NewAnswer::default() };
    assert_eq!(world.refused(&path, &words).kind, "value_wanted");
    assert_eq!(world.refused(&path, &values(&[("OTHER", "sk-7-other")])).kind, "not_asked");
    assert_eq!(world.refused(&path, &values(&[("not a name", "sk-7-name")])).kind, "bad_name");
    assert_eq!(world.refused(&path, &skip()).kind, "required");
    for text in ["sk-7-as_words", "sk-7-other", "sk-7-name"] {
        assert_eq!(places(&world.home, text), [] as [&Path; 0]);
    }
    world.wish(&session, "cancel");
    let session = world.bash(&format!("{}\nexit 0", need("service", "acme", "required: true")));
    let request = world.asked(&session);
    let path = format!("/requests/{}/answer", request.id);
    assert_eq!(world.refused(&path, &values(&[("OSTLER_HOME", "/tmp")])).kind, "bad_name");
    assert_eq!(world.refused(&path, &values(&[("EMPTY", "")])).kind, "bad_value");
    assert_eq!(world.refused(&path, &values(&[("ZERO", "a\0b")])).kind, "bad_value");
    // Of several, all are kept or none: the first alone would be given to the next session that asks.
    let some = NewAnswer { reuse: true, ..values(&[("A", "1"), ("B", "a\0b")]) };
    assert_eq!(world.refused(&path, &some).kind, "bad_value");
    let kept: Vec<SecretView> = world.get("/secrets").expect("a list");
    assert_eq!(kept, []);
    give(&world, &request.id, &values(&[("A", "1"), ("B", "2")]));
    world.status(&session, "completed");
}

#[test]
fn without_room_for_values_it_stands_still_until_there_is() {
    let world = World::new();
    let wait = need_and_wait("api_key", "KEY", "required: true");
    let session = world.bash(&format!("{wait}\nbash -c 'echo \"got $KEY\"'"));
    let request = world.asked(&session);
    // Where the file is to be drafted there is a folder.
    let draft = values_file(&world, &session).with_extension("draft");
    fs::create_dir(&draft).expect("a folder");
    give(&world, &request.id, &values(&[("KEY", "given")]));
    let stall = world.wait_for("a card", |world| {
        world.inbox().into_iter().find(|it| it.session == session && it.ask.kind == "stall")
    });
    assert_eq!((stall.ask.kind.as_str(), stall.trust.as_str()), ("stall", "ostler"));
    assert!(stall.ask.text.contains("values"), "{}", stall.ask.text);
    fs::remove_dir(&draft).expect("it is empty");
    world.answer(&stall.id, "continue");
    let question = world.asked(&session);
    world.answer(&question.id, "1");
    world.status(&session, "completed");
    assert!(world.output(&session).ends_with("got *****\n"), "{}", world.output(&session));
    world.verify();
}
