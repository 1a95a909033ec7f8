//! Programs that the server starts itself: filters and merge drivers of git, commands that print a secret or open the
//! vault. The person trusts them, and they are no person at the server's socket, whatever they do to themselves.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    thread,
};

use ostler_server::api::NewRun;
use serde_json::{Value, json};

use crate::{
    receiver::Receiver,
    support::{QUESTION, World, kill, state, write},
    worktrees::{git, repository},
};

/// Leaves a process behind that has no parent, no session and no environment of its own any more, and has it do what only
/// a person may.
const ESCAPE: &str = r#"#!/bin/bash
setsid env -i PATH="$PATH" OSTLER_HOME=HOME PARENT=$$ bash -c '
    cd OUT
    while [ -e /proc/$PARENT ]; do sleep 0.02; done
    OSTLER answer q_1 1 >>NAME.said 2>&1; echo $? >NAME.$$.draft
    OSTLER token make evil >>NAME.said 2>&1; echo $? >>NAME.$$.draft
    mv NAME.$$.draft NAME.codes' </dev/null >/dev/null 2>&1 &
"#;

/// A program that leaves such a process behind, and then does a bit of work.
fn escaping(world: &World, name: &str, work: &str) -> PathBuf {
    let script = ESCAPE
        .replace("OSTLER_HOME=HOME", &format!("OSTLER_HOME='{}'", world.home.display()))
        .replace("OUT", &format!("\"{}\"", world.home.display()))
        .replace("    OSTLER ", &format!("    {} ", env!("CARGO_BIN_EXE_ostler")))
        .replace("NAME", name);
    program(world, name, &format!("{script}{work}\n"))
}

fn program(world: &World, name: &str, script: &str) -> PathBuf {
    let path = world.home.join(format!("{name}.sh"));
    write(&world.home, &format!("{name}.sh"), script);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("it is ours");
    path
}

/// Waits for what a process that was left behind tried.
fn refused(world: &World, name: &str) {
    let path = |end: &str| world.home.join(format!("{name}.{end}"));
    let codes = world.wait_for("an attempt", |_| fs::read_to_string(path("codes")).ok());
    let said = fs::read_to_string(path("said")).unwrap_or_default();
    assert_eq!(codes.lines().collect::<Vec<_>>(), ["7", "7"], "{name}: {said}");
    assert!(said.contains("only a person can"), "{name}: {said}");
    assert!(world.request("q_1").settled.is_none(), "{name}: {said}");
    let sign_ins = fs::read_to_string(world.home.join("sign-ins.json")).unwrap_or_default();
    assert!(!sign_ins.contains("evil"), "{name}: {said}");
}

fn configure(world: &World, toml: &str) {
    let folder = world.home.join("config/ostler");
    fs::create_dir_all(&folder).expect("a folder");
    write(&folder, "config.toml", toml);
}

/// Something that waits for a person.
fn ask(world: &World) {
    let asking = world.bash(&format!("{QUESTION}; read -r line"));
    assert_eq!(world.asked(&asking).id, "q_1");
}

/// A repository with a filter and a merge driver that the person's own configuration defines, and a server with that.
fn with_driver(world: &mut World, filter: &Path, driver: &Path) {
    repository(world);
    write(&world.project, ".gitattributes", "readme filter=ours merge=ours\n");
    git(&world.project, &["add", "."]);
    git(&world.project, &["commit", "-qm", "attributes"]);
    let global = world.home.join("gitconfig");
    let (filter, driver) = (filter.display(), driver.display());
    let text = format!(
        "[user]\nname = T\nemail = t@example.com\n[filter \"ours\"]\nsmudge = {filter}\nclean = cat\n\
         [merge \"ours\"]\ndriver = {driver} %A\n"
    );
    write(&world.home, "gitconfig", &text);
    world.start_with(&[("GIT_CONFIG_GLOBAL", &global.display().to_string())]);
}

#[test]
fn what_git_runs_is_no_person() {
    let mut world = World::idle();
    let filter = escaping(&world, "filter", "cat");
    let driver = escaping(&world, "driver", "echo merged >\"$1\"");
    with_driver(&mut world, &filter, &driver);
    ask(&world);
    let new = world.new_run(&["bash", "-c", "echo theirs >readme"]);
    let session = world.run_with(&NewRun { worktree: true, ..new });
    world.status(&session, "completed");
    refused(&world, "filter");
    write(&world.project, "readme", "ours\n");
    git(&world.project, &["commit", "-qam", "ours"]);
    world.wish(&session, "merge");
    refused(&world, "driver");
}

/// The settings of a repository run after a person agreed to them, and make nobody a person.
#[test]
fn what_a_trusted_repository_runs_is_no_person() {
    let mut world = World::idle();
    let filter = escaping(&world, "trusted", "cat");
    repository(&world);
    git(&world.project, &["config", "filter.theirs.clean", &filter.display().to_string()]);
    git(&world.project, &["config", "filter.theirs.smudge", &filter.display().to_string()]);
    write(&world.project, ".git/info/attributes", "readme filter=theirs\n");
    world.start();
    ask(&world);
    assert!(world.ostler(&["trust", "--yes"]).status.success());
    let new = world.new_run(&["true"]);
    let session = world.run_with(&NewRun { worktree: true, ..new });
    world.status(&session, "completed");
    refused(&world, "trusted");
}

/// A file of the repository that is missing here is fetched from a server that wants a password, for which git asks the
/// person's credential helper.
#[test]
fn what_gives_git_a_password_is_no_person() {
    let mut world = World::idle();
    let helper = escaping(&world, "credential", "echo username=me; echo password=wrong");
    repository(&world);
    // What is kept of the project with a question must not bring the file back.
    write(&world.project, "readme", "changed\n");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(&stream).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let refusal = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"r\"\r\n\
                           Content-Length: 0\r\nConnection: close\r\n\r\n";
            (&stream).write_all(refusal.as_bytes()).ok();
        }
    });
    let global = world.home.join("gitconfig");
    let text =
        format!("[user]\nname = T\nemail = t@example.com\n[credential]\nhelper = {}\n", helper.display());
    write(&world.home, "gitconfig", &text);
    world.start_with(&[("GIT_CONFIG_GLOBAL", &global.display().to_string())]);
    ask(&world);
    let blob = git(&world.project, &["rev-parse", "HEAD:readme"]);
    let (folder, name) = blob.trim().split_at(2);
    fs::remove_file(world.project.join(".git/objects").join(folder).join(name)).expect("a loose object");
    let url = format!("http://{address}/x.git");
    for (key, value) in [
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", &url),
        ("remote.origin.promisor", "true"),
    ] {
        git(&world.project, &["config", key, value]);
    }
    let new = world.new_run(&["true"]);
    world.run_with(&NewRun { worktree: true, ..new });
    refused(&world, "credential");
}

#[test]
fn what_prints_a_secret_or_opens_the_vault_is_no_person() {
    let mut world = World::idle();
    let receiver = Receiver::new();
    let vault = escaping(&world, "vault", "echo a long passphrase");
    let address = escaping(&world, "address", &format!("echo {}", receiver.url("/hook")));
    let kept = escaping(&world, "kept", "echo a-value-that-is-kept-elsewhere");
    configure(
        &world,
        &format!(
            "[vault]\nkey = 'cmd:{}'\n[[notify]]\nname = 'hook'\ntype = 'webhook'\nurl = 'cmd:{}'\n\
             secret = 'shared'\nallow_private = true\n",
            vault.display(),
            address.display()
        ),
    );
    world.start();
    ask(&world);
    let secret =
        json!({ "directory": world.project, "name": "API_KEY", "from": format!("cmd:{}", kept.display()) });
    world.post::<Value>("/secrets", &secret).expect("a secret");
    refused(&world, "vault");
    let wants = world.bash("ostler need API_KEY");
    world.status(&wants, "completed");
    refused(&world, "kept");
    world.post::<Value>("/notifications/hook/test", &json!({})).expect("it arrives");
    refused(&world, "address");
}

/// The sweep after a lost shim is for agents. What a helper has left, such as a git that is at work, is not theirs, and no
/// agent can take on its limit.
#[test]
fn what_a_helper_has_left_is_not_swept_with_an_agent() {
    let mut world = World::idle();
    let path = world.home.join("left");
    let leaves = format!(
        "#!/bin/bash\nsetsid sleep 1000 </dev/null >/dev/null 2>&1 &\necho $! >'{0}.draft'; mv '{0}.draft' '{0}'\ncat\n",
        path.display()
    );
    let filter = program(&world, "leaves", &leaves);
    with_driver(&mut world, &filter, &filter);
    let session = world.bash("ulimit -Hx; setsid env -i sleep 1000 & echo \"pid $!\"; wait");
    let agents: u32 = world.wait_for("an agent", |world| {
        world.output(&session).lines().find_map(|line| line.strip_prefix("pid ")?.parse().ok())
    });
    let new = world.new_run(&["true"]);
    let other = world.run_with(&NewRun { worktree: true, ..new });
    world.status(&other, "completed");
    let left: u32 = fs::read_to_string(&path).expect("the filter ran").trim().parse().expect("a number");
    let limit = |pid: u32| {
        let limits = fs::read_to_string(format!("/proc/{pid}/limits")).expect("it lives");
        let line = limits.lines().find(|line| line.starts_with("Max file locks")).expect("a limit");
        line.split_whitespace().nth(4).map(str::to_owned).expect("a hard limit")
    };
    assert_ne!(limit(left), limit(world.server_pid()), "the helper is marked");
    assert_ne!(limit(left), limit(agents), "in another way than an agent");
    let shims = world.shims();
    assert_eq!(shims.len(), 1, "one session runs");
    kill(shims[0], "KILL");
    world.status(&session, "interrupted");
    world.wait_for("its end", |_| state(agents).is_none_or(|state| state == 'Z').then_some(()));
    assert!(state(left).is_some_and(|state| state != 'Z'), "it is no process of the agent");
    kill(left, "KILL");
}

/// A helper at work is no shell that was branded.
#[test]
fn doctor_does_not_name_what_the_server_runs() {
    let mut world = World::idle();
    let path = world.home.join("at-work");
    let script = format!("echo $$ >'{0}.draft'; mv '{0}.draft' '{0}'; exec sleep 1000", path.display());
    let command = json!(["sh", "-c", script]);
    configure(&world, &format!("[[notify]]\ntype = 'command'\ncommand = {command}\nafter = '0s'\n"));
    world.start();
    ask(&world);
    let pid = world.wait_for("the command", |_| fs::read_to_string(&path).ok());
    let doctor = world.ostler(&["doctor"]);
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(!said.contains(&format!("process {}", pid.trim())), "{said}");
}
