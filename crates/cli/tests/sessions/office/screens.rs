//! Programs on a terminal that draw their screen again, with everything on it: what is said there counts once.

use std::fs;

use super::{calls, output_with, results, seat, set_roles, wait_for_call};
use crate::support::World;
use ostler_server::api::InvocationStatus;

/// Roles on terminals.
fn at_terminals(world: &World, roles: &[(&str, &str)]) {
    set_roles(world, "", roles);
    let config = world.home.join("config/ostler/config.toml");
    let mut text = fs::read_to_string(&config).expect("it was written");
    for number in 0..roles.len() {
        let agent = format!("[agents.a{number}]\n");
        text = text.replace(&agent, &format!("{agent}terminal = \"pty\"\n"));
    }
    fs::write(&config, text).expect("it is ours");
}

/// It draws its screen anew for every line, and what it says stands in the middle of that, in colour.
const DRAWS: &str = r#"draw() { printf '\e[?1049h\e[2J\e[H\e[7m 화면 %s \e[0m\r\n\e[4;1H' "$1"; }
printf '\e]0;office\a\e[?25l'; draw 0; number=0
while read -r head; do number=$((number + 1)); draw $number
    case $head in "[Task from "*) read -r task
    printf '\e[2K\r\e[1;32m[DELIVER_RESULT:%s]\e[0m\r\n\e[33mcontent: \e[1m%s\e[0m 완료\e[K\r\n[/DELIVER_RESULT]\r\n' "$(name_in "$head")" "$task"
    draw "$number";; esac; done"#;

#[test]
fn a_program_that_redraws_its_screen_calls_and_is_called() {
    let world = World::new();
    let relay = r#"printf '\e[?1049h'; while read -r head; do printf '\e[2J\e[H'; case $head in
        "[Task from "*) caller=$(name_in "$head"); read -r task
            for draw in 1 2 3; do
                printf '\e[2J\e[5;5H\e[36m[INVOKE:draws]\e[0m\r\n\e[1m%s\e[0m\r\n[/INVOKE]\r\n' "$task"
            done;;
        "[Result from "*) read -r it; for draw in 1 2; do printf '\e[2J\e[H'; deliver "$caller" "$it"; done;; esac; done"#;
    at_terminals(&world, &[("relay", relay), ("draws", DRAWS)]);
    let caller = world.bash(
        "for n in 1 2 3; do printf '[INVOKE:relay]\\n작업 %s\\n[/INVOKE]\\n' $n; read -r a; read -r b; read -r end; echo \"$b\"; done",
    );
    world.status(&caller, "completed");
    let output = world.output(&caller);
    let heard: Vec<&str> = output.lines().filter(|line| line.ends_with("완료")).collect();
    assert_eq!(heard, ["작업 1 완료", "작업 2 완료", "작업 3 완료"], "{output}");
    assert_eq!(calls(&world).len(), 6, "what is drawn again is no other call");
    assert_eq!(results(&world).len(), 6);
    world.verify();
}

/// It keeps all that was said on its screen, and draws that again and again; `heard` is what it does about a line, and
/// `later` when everything was drawn again five times.
const KEEPS: &str = r#"
import os, re, select, sys
shown, since, typed = ["화면"], 0, b""
def say(*lines): shown.extend(lines)
def draw(): sys.stdout.write("\x1b[H\x1b[2J" + "".join(line + "\r\n" for line in shown)); sys.stdout.flush()
caller = task = None
HEARD
while True:
    if select.select([0], [], [], 0.05)[0]:
        read = os.read(0, 65536)
        if not read: break
        *lines, typed = (typed + read).split(b"\n")
        for line in lines:
            since = 0
            say("> " + line.decode())
            heard(line.decode())
    draw()
    since += 1
    if since == 5: later()
    if since == 10: say(f"drawn ten times after {len(shown)}")
"#;

fn keeps(heard: &str) -> String {
    format!("exec python3 -c \"$(cat <<'END'\n{}\nEND\n)\"", KEEPS.replace("HEARD", heard))
}

/// A person writes to the one who keeps everything.
fn send(world: &World, words: &str) {
    // The first run makes the directory a project.
    world.status(&world.bash("true"), "completed");
    let sent = world.ostler(&["office", "send", "keeper", words]);
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
}

#[test]
fn what_stays_on_a_screen_is_no_answer_to_the_next_task() {
    let world = World::new();
    let heard = r#"
def heard(line):
    global caller, task
    if line.startswith("[Task from "): caller = line[11:-1]
    if line.startswith("task"): task = line
def later():
    global task
    if task: say(f"[DELIVER_RESULT:{caller}]", f"content: about {task}", "[/DELIVER_RESULT]")
    task = None"#;
    at_terminals(&world, &[("keeper", &keeps(heard))]);
    let caller = world.bash(
        "printf '[INVOKE:keeper]\\ntask 1\\n[INVOKE:keeper]\\ntask 2\\n[INVOKE:keeper]\\ntask 2\\n[/INVOKE]\\n'
        for n in 1 2 3; do read -r a; read -r b; read -r end; echo \"$b\"; done",
    );
    world.status(&caller, "completed");
    let output = world.output(&caller);
    let heard: Vec<&str> = output.lines().filter(|line| line.starts_with("about")).collect();
    assert_eq!(heard, ["about task 1", "about task 2", "about task 2"], "{output}");
    assert_eq!(results(&world).len(), 3);
    let answered: Vec<Option<String>> = calls(&world).into_iter().map(|call| call.result).collect();
    assert_eq!(answered, ["d_1", "d_2", "d_3"].map(|id| Some(id.to_owned())), "each call has its own");
    world.verify();
}

#[test]
fn a_call_that_stays_on_a_screen_is_made_once() {
    let world = World::new();
    let heard = r#"
def heard(line):
    if line == "go": say("[INVOKE:other]", "한 번", "[/INVOKE]")
def later(): pass"#;
    let other = r#"while read -r head; do case $head in "[Task from "*) read -r task; deliver "$(name_in "$head")" "$task";; esac; done"#;
    at_terminals(&world, &[("keeper", &keeps(heard)), ("other", other)]);
    for (words, lines) in [("go", 8), ("again", 10)] {
        send(&world, words);
        let keeper = seat(&world, "keeper").id;
        wait_for_call(&world, 1, InvocationStatus::Completed);
        output_with(&world, &keeper, &format!("drawn ten times after {lines}"));
    }
    assert_eq!((calls(&world).len(), results(&world).len()), (1, 1));
    world.verify();
}

#[test]
fn a_question_that_stays_on_a_screen_is_asked_once() {
    let world = World::new();
    let heard = r#"
def heard(line):
    if line == "go": say("[ASK_USER]", "질문: 어느 쪽?", "[/ASK_USER]")
    if line == "left": say("[USER_QUESTION]", "category: business", "question: And then?", "required: true", "[/USER_QUESTION]")
    if "question_answer" in line: say("both are answered")
def later(): pass"#;
    at_terminals(&world, &[("keeper", &keeps(heard))]);
    send(&world, "go");
    for (request, answer) in [("q_1", "left"), ("q_2", "right")] {
        world.wait_for(request, |world| world.inbox().iter().any(|it| it.id == request).then_some(()));
        world.answer(request, answer);
    }
    let keeper = seat(&world, "keeper").id;
    let output = output_with(&world, &keeper, "both are answered");
    output_with(&world, &keeper, "drawn ten times after 13");
    assert!(world.inbox().is_empty(), "{output}");
    let asked: Vec<ostler_server::api::RequestView> = world.get("/requests?state=settled").expect("a list");
    assert_eq!(asked.len(), 2, "{asked:#?}");
    world.verify();
}
