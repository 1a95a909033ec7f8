//! Notifications, with real receivers on loopback: what arrives, how often, when it is taken back, and what never
//! leaves.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use ostler_server::api::{NotificationsView, NotifyChannelView, NotifyState};
use serde_json::{Value, json};

use crate::{
    receiver::{Receiver, Reply, Taken},
    support::{DEADLINE, QUESTION, World, state, write},
};

/// A world that is to notify somebody.
fn configured(toml: &str) -> World {
    let world = World::idle();
    configure(&world, toml);
    world
}

fn configure(world: &World, toml: &str) {
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("a folder");
    write(&folder, "config.toml", toml);
}

fn webhook(name: &str, receiver: &Receiver) -> String {
    let url = receiver.url("/hook");
    format!(
        "[[notify]]\nname = '{name}'\ntype = 'webhook'\nurl = '{url}'\nsecret = 'shared'\nafter = '0s'\n\
         allow_private = true\n"
    )
}

/// An agent that asks, and goes on with the answer.
fn asks(world: &World) -> (String, String) {
    let session = world.bash(&format!("{QUESTION}; read -r line; echo \"got $line\""));
    let request = world.asked(&session).id;
    (session, request)
}

/// Waits until so many came, and gives them.
fn came(world: &World, receiver: &Receiver, count: usize) -> Vec<Taken> {
    world.wait_for("what is told", |_| Some(receiver.taken()).filter(|taken| taken.len() >= count))
}

fn channel(world: &World, name: &str) -> NotifyChannelView {
    let all: NotificationsView = world.get("/notifications").expect("notifications");
    all.channels.into_iter().find(|it| it.name == name).expect("a channel")
}

/// Waits until a channel is so.
fn until(world: &World, name: &str, is_so: impl Fn(&NotifyChannelView) -> bool) -> NotifyChannelView {
    world.wait_for("a channel", |world| Some(channel(world, name)).filter(&is_so))
}

#[test]
fn a_question_is_told_with_its_link_and_taken_back() {
    let receiver = Receiver::new();
    let mut world = configured(&webhook("hook", &receiver));
    world.start();
    let (session, request) = asks(&world);
    let told = came(&world, &receiver, 1)[0].json();
    assert_eq!((&told["event"], &told["channel"], &told["v"]), (&json!("notice"), &json!("hook"), &json!(1)));
    let notice = &told["notices"][0];
    let shown = ["kind", "request", "session", "text"].map(|name| notice[name].as_str().unwrap_or_default());
    assert_eq!(shown, ["question", &request, &session, "Which database?"]);
    assert!(notice["title"].as_str().is_some_and(|title| title.contains("project")), "{notice}");
    let url = notice["url"].as_str().expect("a link");
    assert!(url.starts_with("http://127.0.0.1:") && url.ends_with(&format!("/requests/{request}")), "{url}");
    assert_eq!(told["id"], notice["id"]);
    world.answer(&request, "1");
    let settled = came(&world, &receiver, 2)[1].json();
    assert_eq!((&settled["event"], &settled["id"]), (&json!("settled"), &told["id"]));
    world.status(&session, "completed");
    let channel = until(&world, "hook", |it| it.pending == 0 && it.state == NotifyState::Idle);
    assert_eq!((channel.sent, channel.given_up, channel.last_error), (1, 0, None));
    assert_eq!(receiver.taken().len(), 2, "nobody wants to hear that it is done");
}

/// The code that the page shows is what a receiver runs.
#[test]
fn a_receiver_can_verify_the_signature() {
    let receiver = Receiver::new();
    let mut world = configured(&webhook("hook", &receiver));
    world.start();
    world.post::<Value>("/notifications/hook/test", &json!({})).expect("it arrives");
    let [taken] = &receiver.taken()[..] else { panic!("one came") };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/notifications.md");
    let page = fs::read_to_string(page).expect("a page");
    let code = |language: &str| {
        let begin = format!("```{language}\n");
        page.split_once(&begin).and_then(|(_, rest)| rest.split_once("```")).expect(language).0.to_owned()
    };
    let (time, signed) =
        (taken.header("ostler-timestamp").expect("a time"), taken.header("ostler-signature").expect("one"));
    fs::write(world.project.join("body"), &taken.body).expect("a file");
    let python = "import sys\nt, s, key = sys.argv[1:]\nsys.exit(0 if verify(key, t, s, open('body', 'rb').read()) else 1)\n";
    let node = "const [t, s, key] = process.argv.slice(2);\nprocess.exit(verify(key, t, s, \
                require('fs').readFileSync('body')) ? 0 : 1);\n";
    for (program, name, code) in
        [("python3", "verify.py", code("python") + python), ("node", "verify.js", code("js") + node)]
    {
        write(&world.project, name, &code);
        let verified = |time: &str, signed: &str, key: &str| {
            let mut command = Command::new(program);
            command.args([name, time, signed, key]).current_dir(&world.project);
            command.status().ok().map(|status| status.success())
        };
        let Some(is_right) = verified(time, signed, "shared") else {
            eprintln!("SKIPPED: {program} is not here");
            continue;
        };
        assert!(is_right, "{program}: {time} {signed}");
        let other = signed.replace(|it: char| it.is_ascii_digit(), "a");
        for (time, signed, key) in
            [(time, signed, "other"), ("1", signed, "shared"), (time, &other, "shared")]
        {
            assert_eq!(verified(time, signed, key), Some(false), "{program}");
        }
    }
}

#[test]
fn ntfy_replaces_and_deletes() {
    let receiver = Receiver::new();
    let url = receiver.url("/my-topic");
    let mut world = configured(&format!(
        "language = 'ko'\n[page]\npublic_url = 'https://ostler.example.org/'\n[[notify]]\ntype = 'ntfy'\nurl = '{url}'\ntoken = 'env:NTFY_TOKEN'\nafter = '0s'\n\
         allow_private = true\n"
    ));
    world.start_with(&[("NTFY_TOKEN", "tk_hush")]);
    let (_, request) = asks(&world);
    let told = came(&world, &receiver, 1).remove(0);
    assert_eq!((told.method.as_str(), told.path.as_str()), ("POST", "/"));
    assert_eq!(told.header("authorization"), Some("Bearer tk_hush"));
    let body = told.json();
    assert_eq!((&body["topic"], &body["message"]), (&json!("my-topic"), &json!("Which database?")));
    assert!(body["title"].as_str().is_some_and(|title| title.ends_with("질문이 있습니다")), "{body}");
    assert_eq!(body["click"], format!("https://ostler.example.org/requests/{request}"));
    let id = body["sequence_id"].as_str().expect("an id");
    assert_eq!(told.header("x-sequence-id"), Some(id));
    world.answer(&request, "1");
    let gone = came(&world, &receiver, 2).remove(1);
    assert_eq!((gone.method, gone.path), ("DELETE".to_owned(), format!("/my-topic/{id}")));
    assert_eq!(gone.headers.iter().filter(|(name, _)| name == "authorization").count(), 1);
}

#[test]
fn what_an_agent_says_is_text_for_slack() {
    let receiver = Receiver::new();
    let url = receiver.url("/services/T/B/x");
    let mut world = configured(&format!(
        "[[notify]]\ntype = 'slack'\nurl = '{url}'\nafter = '0s'\nallow_private = true\n"
    ));
    world.start();
    let hostile = "<!channel> <https://evil.example|safe> & \\033[31m\\342\\200\\256x @here";
    let session = world.bash(&format!(
        "printf '[USER_QUESTION]\\ncategory: choice\\nquestion: {hostile}\\noptions:\\n  - <@U1>\\n  - b\\nrequired: true\\n[/USER_QUESTION]\\n'; read x"
    ));
    let request = world.asked(&session).id;
    let body = came(&world, &receiver, 1)[0].json();
    let fallback = body["text"].as_str().expect("text");
    assert!(!fallback.contains(['<', '>']) && fallback.contains("&lt;!channel&gt;"), "{body}");
    let head = body["blocks"][0]["text"]["text"].as_str().expect("text");
    assert_eq!((head.matches('<').count(), head.matches('>').count()), (1, 1), "only our own link: {head}");
    assert!(head.contains(&format!("/requests/{request}|")), "{head}");
    for block in &body["blocks"].as_array().expect("blocks")[1..] {
        assert_eq!(block["text"]["type"], "plain_text", "{block}");
    }
    let whole = body.to_string();
    assert!(!whole.contains("\\u001b") && !whole.contains('\u{202e}'), "{whole}");
    world.answer(&request, "2");
    world.status(&session, "completed");
    until(&world, "slack", |it| it.pending == 0);
    assert_eq!(receiver.taken().len(), 1, "it cannot take back, so nothing more is sent");
}

#[test]
fn a_command_is_told_and_knows_nothing_else() {
    let mut world = World::idle();
    let script = "cat >in.draft; env >env.draft; mv env.draft env-$OSTLER_NOTICE_EVENT; mv in.draft in-$OSTLER_NOTICE_EVENT";
    let script = format!("cd '{}'; {script}", world.project.display());
    let command = json!(["sh", "-c", script]);
    configure(&world, &format!("[[notify]]\ntype = 'command'\ncommand = {command}\nafter = '0s'\n"));
    world.start_with(&[("AWS_SECRET_ACCESS_KEY", "hush"), ("OSTLER_SESSION", "")]);
    let mut new = world.new_run(&["bash", "-c", &format!("{QUESTION}; read -r line")]);
    new.environment.get_or_insert_default().insert("OF_THE_AGENT".to_owned(), "yes".to_owned());
    let session = world.run_with(&new);
    let request = world.asked(&session).id;
    let read = |name: &str| {
        let path = world.project.join(name);
        world.wait_for(name, |_| fs::read_to_string(&path).ok())
    };
    let told: Value = serde_json::from_str(&read("in-notice")).expect("JSON");
    assert_eq!(told["notices"][0]["request"], request.as_str());
    let environment = read("env-notice");
    for line in ["OSTLER_NOTICE_KIND=question", "OSTLER_NOTICE_TEXT=Which database?"] {
        assert!(environment.lines().any(|it| it == line), "{environment}");
    }
    for name in ["AWS_SECRET", "OF_THE_AGENT", "OSTLER_SESSION", "OSTLER_CHANNEL="] {
        assert!(!environment.contains(name), "{environment}");
    }
    world.answer(&request, "1");
    let back: Value = serde_json::from_str(&read("in-settled")).expect("JSON");
    assert_eq!((&back["event"], &back["id"]), (&json!("settled"), &told["id"]));
}

/// A program that the server starts is no person, whoever has put it into the configuration.
#[test]
fn a_command_answers_nothing() {
    let mut world = World::idle();
    // What counts is the limit that was stored, and not the server's own, which may be higher.
    write(&world.home, "lock-limit", "1000");
    let ostler = env!("CARGO_BIN_EXE_ostler");
    let script = format!(
        "cd '{}'; {ostler} answer q_1 1 >said 2>&1; echo $? >code.draft; \
         {ostler} token make evil >>said 2>&1; echo $? >>code.draft; mv code.draft code; \
         setsid env -i PATH=\"$PATH\" OSTLER_HOME=\"$OSTLER_HOME\" sh -c \"while [ -e /proc/$$ ]; do sleep 0.02; done; \
         {ostler} answer q_1 1 >alone 2>&1; echo \\$? >late.draft; mv late.draft late\" </dev/null >/dev/null 2>&1 &",
        world.project.display()
    );
    let command = json!(["sh", "-c", script]);
    configure(&world, &format!("[[notify]]\ntype = 'command'\ncommand = {command}\nafter = '0s'\n"));
    world.start();
    let session = world.bash(&format!("{QUESTION}; read -r line"));
    let request = world.asked(&session).id;
    let code = world.wait_for("an end", |world| fs::read_to_string(world.project.join("code")).ok());
    assert!(code.lines().all(|code| code != "0"), "{code}: {}", said(&world));
    assert!(world.request(&request).settled.is_none(), "{}", said(&world));
    let late = world.wait_for("an end", |world| fs::read_to_string(world.project.join("late")).ok());
    assert_ne!(late.trim(), "0", "nor when it is alone");
    assert!(world.request(&request).settled.is_none());
}

fn said(world: &World) -> String {
    fs::read_to_string(world.project.join("said")).unwrap_or_default()
}

/// An agent can write the configuration: a command that comes into it later waits for a person.
#[test]
fn a_command_that_is_new_in_the_configuration_waits_for_a_person() {
    let mut world = World::idle();
    let project = world.project.clone();
    let told = |name: &str| json!(["sh", "-c", format!("touch '{}'", project.join(name).display())]);
    let channel = |name: &str| {
        format!("[[notify]]\nname = '{name}'\ntype = 'command'\ncommand = {}\nafter = '0s'\n", told(name))
    };
    configure(&world, &channel("first"));
    let (first, second, both) = ("first", "second", format!("{}{}", channel("first"), channel("second")));
    world.start();
    configure(&world, &both);
    asks(&world);
    let has = |name: &str| project.join(name).exists();
    world.wait_for(first, |_| has(first).then_some(()));
    let view: NotificationsView = world.get("/notifications").expect("how they go");
    let names: Vec<&str> = view.channels.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, [first], "what was there from the beginning is agreed");
    let problem = view.problem.unwrap_or_default();
    assert!(problem.contains("second") && problem.contains("ostler trust --config"), "{problem}");
    let doctor = world.ostler(&["doctor"]);
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("notify.second = "), "{doctor:?}");
    // A key that runs nothing waits for nobody.
    configure(&world, &format!("language = 'en'\n{both}"));

    // The agent itself cannot agree.
    let agent = world.bash("ostler trust --config --yes; echo \"code $?\"");
    world.status(&agent, "completed");
    assert!(!world.output(&agent).contains("code 0"), "{}", world.output(&agent));
    assert!(!has(second));
    // A server that begins again believes no more than the one before.
    world.restart();
    let shown = world.ostler(&["trust", "--config"]);
    assert_eq!(shown.status.code(), Some(7), "{shown:?}");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("notify.first (agreed") && shown.contains("notify.second (new"), "{shown}");
    assert!(!has(second));
    assert!(world.ostler(&["trust", "--config", "--yes"]).status.success());
    world.wait_for(second, |_| has(second).then_some(()));
}

/// Nobody is left to end it when its time is over.
#[test]
fn a_command_ends_with_the_server_and_all_it_has_started() {
    let mut world = World::idle();
    let script = "sleep 1000 & echo \"$$ $!\" >pids.draft; mv pids.draft pids; wait";
    let command = json!(["sh", "-c", format!("cd '{}'; {script}", world.project.display())]);
    let missing = json!(["/no/such/program"]);
    configure(
        &world,
        &format!(
            "[[notify]]\ntype = 'command'\ncommand = {command}\nafter = '0s'\n\
             [[notify]]\nname = 'missing'\ntype = 'command'\ncommand = {missing}\nafter = '0s'\n"
        ),
    );
    world.start();
    asks(&world);
    let why =
        |it: &NotifyChannelView| it.last_error.as_deref().is_some_and(|why| why.contains("No such file"));
    until(&world, "missing", why);
    let path = world.project.join("pids");
    let pids = world.wait_for("the command", |_| fs::read_to_string(&path).ok());
    let pids: Vec<u32> = pids.split_whitespace().map(|pid| pid.parse().expect("a number")).collect();
    assert!(pids.len() == 2 && pids.iter().all(|pid| is_alive(*pid)), "{pids:?}");
    world.kill_server();
    let over = Instant::now() + DEADLINE;
    while pids.iter().any(|pid| is_alive(*pid)) {
        assert!(Instant::now() < over, "{pids:?} go on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process is there, and not only waited for.
fn is_alive(pid: u32) -> bool {
    state(pid).is_some_and(|state| !['Z', 'X'].contains(&state))
}

#[test]
fn what_is_settled_before_its_time_is_never_told() {
    let (patient, eager) = (Receiver::new(), Receiver::new());
    let slow = webhook("slow", &patient).replace("'0s'", "'1h'");
    let mut world = configured(&(slow + &webhook("fast", &eager)));
    world.start();
    let (session, request) = asks(&world);
    came(&world, &eager, 1);
    until(&world, "slow", |it| it.pending == 1);
    world.answer(&request, "1");
    came(&world, &eager, 2);
    world.status(&session, "completed");
    until(&world, "slow", |it| it.pending == 0);
    assert_eq!(patient.connected(), 0);
}

#[test]
fn what_fails_is_tried_again_under_the_same_id() {
    let receiver = Receiver::new();
    receiver.replies([
        Reply::Status(500, String::new()),
        Reply::Break,
        Reply::Status(429, "Retry-After: 1\r\n".to_owned()),
    ]);
    let mut world = configured(&webhook("hook", &receiver));
    world.start();
    asks(&world);
    let failing = until(&world, "hook", |it| it.state == NotifyState::Failing);
    assert_eq!((failing.sent, failing.last_error.as_deref()), (0, Some("it answers 500")));
    let ids: Vec<Value> = came(&world, &receiver, 4).iter().map(|it| it.json()["id"].clone()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    let well = until(&world, "hook", |it| it.state == NotifyState::Idle);
    assert_eq!((well.sent, well.last_error.as_deref()), (1, Some("it answers 429")));
}

#[test]
fn a_redirect_is_not_followed() {
    let (first, second) = (Receiver::new(), Receiver::new());
    first.replies([Reply::Status(307, format!("Location: {}\r\n", second.url("/")))]);
    let mut world = configured(&webhook("hook", &first));
    world.start();
    let problem = world.refused("/notifications/hook/test", &json!({}));
    assert_eq!((problem.kind.as_str(), problem.status), ("not_notified", 409));
    assert!(problem.title.contains("another address (307), which is not followed"), "{}", problem.title);
    world.post::<Value>("/notifications/hook/test", &json!({})).expect("it arrives");
    assert_eq!((first.taken().len(), second.connected()), (2, 0));
}

#[test]
fn one_that_hangs_holds_up_nobody() {
    let (stuck, well) = (Receiver::new(), Receiver::new());
    stuck.replies([Reply::Hang]);
    let mut world = configured(&(webhook("stuck", &stuck) + &webhook("well", &well)));
    world.start();
    let (session, request) = asks(&world);
    came(&world, &stuck, 1);
    came(&world, &well, 1);
    world.answer(&request, "1");
    world.status(&session, "completed");
    came(&world, &well, 2);
    assert_eq!(channel(&world, "stuck").sent, 0, "it still waits for an answer");
    let output = world.ostler(&["serve", "--stop"]);
    assert!(output.status.success(), "{output:?}");
    world.wait_for("its end", |world| (!world.home.join("api.sock").exists()).then_some(()));
}

#[test]
fn a_server_that_dies_before_it_has_written_it_down_sends_it_again() {
    let receiver = Receiver::new();
    let mut world = configured(&webhook("hook", &receiver));
    world.start_with(&[("OSTLER_CRASH_AT", "after notify:1")]);
    let session = world.bash(&format!("{QUESTION}; read -r line"));
    while !world.has_died() {
        std::thread::sleep(Duration::from_millis(5));
    }
    world.kill_server();
    assert_eq!(receiver.taken().len(), 1);
    world.start();
    let request = world.asked(&session).id;
    let taken = came(&world, &receiver, 2);
    assert_eq!(taken[0].json()["id"], taken[1].json()["id"]);
    assert_eq!(taken[1].json()["notices"][0]["request"], request.as_str());
    until(&world, "hook", |it| it.sent == 1);
    world.restart();
    world.answer(&request, "1");
    let all = came(&world, &receiver, 3);
    assert_eq!((all.len(), &all[2].json()["event"]), (3, &json!("settled")));
}

#[test]
fn nothing_is_sent_to_this_machine_unless_it_is_allowed() {
    let receiver = Receiver::encrypted();
    let ca = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions/tls/ca.pem");
    let hosts = ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "0x7f.1", "2130706433", "0.0.0.0"];
    let table = |(index, host): (usize, &&str)| {
        let url = format!("https://{host}:{}/", receiver.port());
        format!("[[notify]]\nname = 'n{index}'\ntype = 'slack'\nurl = '{url}'\nca = '{}'\n", ca.display())
    };
    let toml: String = hosts.iter().enumerate().map(table).collect();
    let mut world = configured(&toml);
    world.start();
    for (index, host) in hosts.iter().enumerate() {
        let problem = world.refused(&format!("/notifications/n{index}/test"), &json!({}));
        let why = problem.title.split_once(": ").map_or("", |(_, why)| why);
        let is_refused = why.starts_with("it leads to this machine or its network")
            || why.starts_with("no connection can lead to its address");
        assert!(is_refused, "{host}: {}", problem.title);
        assert!(!problem.title.contains(host), "{}", problem.title);
    }
    assert_eq!(receiver.connected(), 0);
}

#[test]
fn a_certificate_is_believed_only_from_who_is_trusted() {
    let receiver = Receiver::encrypted();
    let (url, foreign) = (receiver.url("/hook"), format!("https://[::1]:{}/", receiver.port()));
    let ca = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions/tls/ca.pem");
    let table = |name: &str, url: &str, more: &str| {
        format!("[[notify]]\nname = '{name}'\ntype = 'slack'\nurl = '{url}'\nallow_private = true\n{more}\n")
    };
    let ours = format!("ca = '{}'", ca.display());
    let mut world = configured(
        &(table("ours", &url, &ours)
            + &table("public", &url, "")
            + &table("foreign", &foreign, &ours)
            + &table("nothing", &url, "ca = '/dev/null'")),
    );
    world.start();
    world.post::<Value>("/notifications/ours/test", &json!({})).expect("it arrives");
    let said = |name: &str| world.refused(&format!("/notifications/{name}/test"), &json!({})).title;
    assert!(said("public").contains("its certificate is not to be trusted"), "{}", said("public"));
    assert!(said("nothing").contains("holds no certificate to trust"), "{}", said("nothing"));
    // Nobody listens there; a certificate for another name is the business of the library.
    assert!(said("foreign").contains("nobody answers there"), "{}", said("foreign"));
    assert_eq!(receiver.taken().len(), 1);
}

#[test]
fn a_new_channel_begins_with_what_is_open() {
    let mut world = World::idle();
    world.start();
    let failed = world.bash("exit 3");
    world.status(&failed, "failed");
    let (_, old) = asks(&world);
    world.answer(&old, "1");
    let (_, open) = asks(&world);
    let receiver = Receiver::new();
    configure(&world, &webhook("hook", &receiver));
    let told = came(&world, &receiver, 1)[0].json();
    assert_eq!(told["notices"][0]["request"], open.as_str());
    let again = world.bash("exit 3");
    world.status(&again, "failed");
    let told = came(&world, &receiver, 2)[1].json();
    assert_eq!(
        (&told["notices"][0]["kind"], &told["notices"][0]["session"]),
        (&json!("failed"), &json!(again))
    );
    assert_eq!(receiver.taken().len(), 2, "what was over before is not told");
    // A mistake leaves everything as it is, and is shown; without a channel its file goes.
    configure(&world, "[[notify]]\ntype = 'slak'\n");
    let all: NotificationsView = world.get("/notifications").expect("notifications");
    assert!(all.problem.is_some_and(|it| it.contains("did you mean `slack`?")) && all.channels.len() == 1);
    configure(&world, "# nobody\n");
    let all: NotificationsView = world.get("/notifications").expect("notifications");
    assert_eq!((all.channels.len(), all.problem), (0, None));
    let file = world.home.join("notifications/hook.json");
    world.wait_for("an end", |_| (!file.exists()).then_some(()));
}

#[test]
fn many_come_together() {
    let receiver = Receiver::new();
    let mut world = configured("");
    world.start();
    let open: Vec<String> = (0..5).map(|_| asks(&world).1).collect();
    configure(&world, &webhook("hook", &receiver));
    let told = came(&world, &receiver, 1)[0].json();
    let notices = told["notices"].as_array().expect("notices");
    let requests: Vec<&str> = notices.iter().filter_map(|it| it["request"].as_str()).collect();
    assert_eq!(requests, open);
    world.answer(&open[2], "1");
    let settled = came(&world, &receiver, 2)[1].json();
    assert_eq!(settled["notices"][0]["request"], open[2].as_str());
    assert_eq!(settled["id"], notices[2]["id"]);
}

/// Where every byte of a directory is searched, but for the configuration itself.
fn search(folder: &Path, needle: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            if !path.ends_with("config") {
                search(&path, needle, found);
            }
        } else if fs::read(&path)
            .is_ok_and(|text| text.windows(needle.len()).any(|it| it == needle.as_bytes()))
        {
            found.push(path.display().to_string());
        }
    }
}

#[test]
fn addresses_and_tokens_are_found_nowhere() {
    let (receiver, broken) = (Receiver::new(), Receiver::new());
    broken.replies((0..50).map(|_| Reply::Status(500, String::new())));
    let mut world = World::idle();
    write(&world.project, "token", "hush-of-file\n");
    let (hook, topic) = (receiver.url("/hook/hush-of-vault"), broken.url("/hush-of-command"));
    let file = world.project.join("token").display().to_string();
    let plain = broken.url("/hush-in-plain");
    configure(
        &world,
        &format!(
            "[[notify]]\ntype = 'webhook'\nurl = 'vault:project/HOOK_URL'\nsecret = 'env:HOOK_SECRET'\n\
             after = '0s'\nallow_private = true\n\
             [[notify]]\ntype = 'ntfy'\nurl = 'cmd:echo {topic}'\ntoken = 'file:{file}'\nafter = '0s'\n\
             allow_private = true\n\
             [[notify]]\ntype = 'slack'\nurl = '{plain}'\nafter = '0s'\nallow_private = true\n"
        ),
    );
    world.start_with(&[("HOOK_SECRET", "hush-of-env")]);
    let secret = json!({ "directory": world.project, "name": "HOOK_URL", "value": hook, "reuse": false });
    world.post::<Value>("/secrets", &secret).expect("a secret");
    let (session, request) = asks(&world);
    assert_eq!(came(&world, &receiver, 1)[0].path, "/hook/hush-of-vault");
    let tokens = came(&world, &broken, 2);
    assert!(tokens.iter().any(|it| it.header("authorization") == Some("Bearer hush-of-file")), "{tokens:?}");
    until(&world, "ntfy", |it| it.state == NotifyState::Failing);
    until(&world, "slack", |it| it.state == NotifyState::Failing);
    world.refused("/notifications/slack/test", &json!({}));
    world.answer(&request, "1");
    world.status(&session, "completed");
    let mut said = String::new();
    for arguments in [
        &["notify", "list"][..],
        &["--json", "notify", "list"],
        &["--json", "notify", "test", "slack"],
        &["export"],
        &["doctor", "--bundle", "bundle.txt"],
    ] {
        let output = world.ostler(arguments);
        said += &String::from_utf8_lossy(&[output.stdout, output.stderr].concat());
    }
    said += &fs::read_to_string(world.project.join("bundle.txt")).expect("a bundle");
    said += &world.get::<Value>("/events").expect("events").to_string();
    said += &world.get::<Value>("/notifications").expect("notifications").to_string();
    assert!(said.contains("it answers 500"), "{said}");
    for hush in ["hush-of-vault", "hush-of-env", "hush-of-command", "hush-of-file", "hush-in-plain"] {
        assert!(!said.contains(hush), "{hush}: {said}");
        let mut found = Vec::new();
        search(&world.home, hush, &mut found);
        assert_eq!(found, Vec::<String>::new(), "{hush}");
    }
}

#[test]
fn no_agent_has_anything_sent() {
    let receiver = Receiver::new();
    let mut world = configured(&webhook("hook", &receiver));
    world.start();
    let script = format!("OSTLER_HOME='{}' ostler --json notify test hook >said 2>&1", world.home.display());
    let session = world.bash(&script);
    world.status(&session, "failed");
    let said = fs::read_to_string(world.project.join("said")).expect("a file");
    assert!(said.contains("\"type\":\"inside\""), "{said}");
    let told = came(&world, &receiver, 1)[0].json();
    assert_eq!((told["notices"][0]["kind"].as_str(), receiver.taken().len()), (Some("failed"), 1));
}

#[test]
fn the_command_line_shows_and_tries_them() {
    let receiver = Receiver::new();
    let mut world = configured(&webhook("hook", &receiver));
    world.start();
    let run = |arguments: &[&str]| {
        let output = world.ostler(arguments);
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    let (code, said) = run(&["notify", "list"]);
    assert!(code == Some(0) && said.contains("hook  webhook  nothing waits"), "{said}");
    assert_eq!(run(&["notify", "test", "hook"]), (Some(0), "The test has arrived at hook.\n".to_owned()));
    assert_eq!(receiver.taken()[0].json()["event"], "test");
    let (code, said) = run(&["notify", "test", "../hook"]);
    assert!(code == Some(8) && said.contains("nobody is notified under the name '../hook'"), "{said}");
    receiver.replies([Reply::Status(403, String::new())]);
    let (code, said) = run(&["--lang", "ko", "notify", "test", "hook"]);
    assert!(code == Some(7) && said.contains("도착하지 못했습니다: it answers 403"), "{said}");
    let (code, said) = run(&["--json", "notify", "test", "nobody"]);
    assert!(code == Some(8) && said.contains("\"type\":\"no_notify_channel\""), "{said}");
}
