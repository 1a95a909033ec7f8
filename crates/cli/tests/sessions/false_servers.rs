//! A process of an agent that listens in place of the server, and one that keeps its shim from looking at its tree.

use std::{
    fs,
    os::unix::{fs::MetadataExt, net::UnixListener},
};

use ostler_server::api::InfoView;

use crate::support::{QUESTION, World, kill, state, write};

/// Takes the place of both sockets of the server when it is told to, and writes down what it hears.
const FALSE_SERVER: &str = r#"
import os, socket, threading, time
project, home = os.getcwd(), os.environ["OSTLER_HOME"]
heard = open("heard", "ab", 0)
while not os.path.exists("go"):
    time.sleep(0.02)
os.chdir(home)

def listen(name):
    os.rename(name, name + ".real")
    it = socket.socket(socket.AF_UNIX)
    it.bind(name)
    it.listen(64)
    while True:
        client = it.accept()[0]
        heard.write(client.recv(65536))
        client.close()

for name in ["api.sock", "channel.sock"]:
    threading.Thread(target=listen, args=[name], daemon=True).start()
while not all(os.path.exists(name + ".real") for name in ["api.sock", "channel.sock"]):
    time.sleep(0.02)
open(f"{project}/ready", "w")
threading.Event().wait()
"#;

#[test]
fn nothing_is_sent_to_a_process_of_an_agent_in_place_of_the_server() {
    let world = World::new();
    write(&world.project, "false_server.py", FALSE_SERVER);
    let attacker = world.run(&["python3", "false_server.py"]);
    let victim = world.bash(
        "until [ -e ready ]; do sleep 0.05; done; ostler ask 'Drop the table?' --type confirm 2>said; echo $? >code",
    );
    world.status(&attacker, "active");
    world.status(&victim, "active");
    let pid = world.session(&attacker).pid.expect("it runs").cast_unsigned();
    // A server that runs takes its place again at once.
    kill(world.server_pid(), "STOP");
    write(&world.project, "go", "");
    world.wait_for("the code", |world| {
        fs::read_to_string(world.project.join("code")).ok().filter(|it| it.ends_with('\n'))
    });
    let code = fs::read_to_string(world.project.join("code")).expect("a code");
    let said = fs::read_to_string(world.project.join("said")).expect("words");
    assert_ne!(code, "0\n", "{said}");
    assert!(said.contains("in place of the server"), "{said}");
    for arguments in [&["ps"] as &[&str], &["inbox"], &["answer", "q_1", "1"]] {
        let output = world.ostler(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(6), "{said}");
        assert!(said.contains(&format!("kill {pid}")), "{said}");
    }
    assert_eq!(
        fs::read_to_string(world.project.join("heard")).expect("a file"),
        "",
        "something was sent to it"
    );
    kill(pid, "KILL");
    kill(world.server_pid(), "CONT");
    world.wait_for("the server", |world| world.get::<InfoView>("/info").ok());
    world.status(&victim, "completed");
}

#[test]
fn a_server_whose_sockets_are_removed_or_replaced_listens_there_again_and_says_so() {
    let world = World::new();
    let asking = world.bash("ostler ask 'Which one?' --type confirm; sleep 1000");
    let request = world.asked(&asking);
    for name in ["api.sock", "channel.sock"] {
        fs::remove_file(world.home.join(name)).expect("it is there");
    }
    let back = |world: &World, name: &str, before: u64| {
        world.wait_for("the socket", |world| {
            let now = fs::symlink_metadata(world.home.join(name)).ok()?;
            (now.ino() != before).then_some(())
        });
    };
    back(&world, "api.sock", 0);
    back(&world, "channel.sock", 0);
    world.answer(&request.id, "yes");
    // A socket of somebody else's in its place.
    let path = world.home.join("api.sock");
    fs::remove_file(&path).expect("it is there");
    let other = UnixListener::bind(&path).expect("a socket");
    let before = fs::symlink_metadata(&path).expect("it is there").ino();
    back(&world, "api.sock", before);
    drop(other);
    let info: InfoView = world.get("/info").expect("an answer");
    let taken: Vec<_> =
        info.taken_sockets.iter().map(|it| (it.socket.ends_with("api.sock"), it.times)).collect();
    assert_eq!(taken, [(true, 2), (false, 1)], "{info:?}");
    for command in ["doctor", "inbox"] {
        let said = world.ostler(&[command]);
        let words = String::from_utf8_lossy(&said.stdout).into_owned();
        assert!(words.contains("api.sock 2 time(s)"), "{command}: {words}");
    }
    assert!(fs::read_to_string(world.home.join("log.jsonl")).is_ok_and(|log| log.contains("socket.taken")));
}

/// Neither hangs: the shim ends with its agent as soon as it notices, and the session says why, where that can be written.
#[test]
fn a_shim_whose_limits_are_taken_away_ends_with_its_agent() {
    let world = World::new();
    for (limit, why) in [("--nofile=3:3", "number of files"), ("--fsize=0:0", "")] {
        let session = world.bash(&format!("prlimit --pid $PPID {limit}; {QUESTION}; sleep 100000"));
        world.status(&session, "interrupted");
        let events = format!("{:?}", world.events(&session));
        assert!(events.contains(why), "{limit}: {events}");
        assert_eq!(world.processes(), Vec::new(), "{limit}");
    }
}

/// Without descriptors a shim cannot look at the processes of its agent.
#[test]
fn what_a_shim_could_not_end_is_ended_before_its_session_is_over() {
    let world = World::new();
    let session = world.bash(
        "setsid sh -c 'echo $$ >left; exec >/dev/null 2>&1; while :; do sleep 0.1; done' & \
         until [ -s left ]; do sleep 0.05; done; prlimit --pid $PPID --nofile=3:3; echo limited; sleep 100000",
    );
    world.wait_for("the limit", |world| world.output(&session).contains("limited").then_some(()));
    let left: u32 =
        fs::read_to_string(world.project.join("left")).expect("a pid").trim().parse().expect("a pid");
    world.status(&session, "interrupted");
    assert!(state(left).is_none_or(|state| state == 'Z'), "{left} lives although its session is over");
}
