//! The attached mode on a real terminal: questions are answered right there, Ctrl-C asks first and leaves then.

use std::{
    fs::File,
    io::{Read, Write},
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use rustix::{
    process::{ioctl_tiocsctty, setsid},
    pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt},
    stdio::stdin,
    termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize},
};

use crate::{
    picture,
    support::{ASK, Place, signal, until, wait_until_caught},
};

/// A command on a terminal of its own.
pub(crate) struct Terminal {
    child: Child,
    keys: File,
    columns: u16,
    screen: Arc<Mutex<String>>,
}

impl Terminal {
    pub(crate) fn start(place: &Place, arguments: &[&str]) -> Terminal {
        Terminal::of(place.command(arguments))
    }

    pub(crate) fn of(command: Command) -> Terminal {
        Terminal::sized(command, 100)
    }

    #[expect(unsafe_code, reason = "only between fork and exec can a process take a terminal")]
    pub(crate) fn sized(mut command: Command, columns: u16) -> Terminal {
        let ours =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("a terminal can be used");
        tcsetwinsize(&ours, size_of(columns)).expect("it has a size");
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let theirs = ioctl_tiocgptpeer(&ours, flags).expect("its other end");
        let end = |fd: &OwnedFd| Stdio::from(fd.try_clone().expect("it can be shared"));
        command.stdin(end(&theirs)).stdout(end(&theirs)).stderr(end(&theirs));
        // SAFETY: both are plain system calls.
        unsafe {
            command.pre_exec(|| {
                setsid()?;
                ioctl_tiocsctty(stdin())?;
                Ok(())
            });
        }
        let child = command.spawn().expect("the binary starts");
        drop((command, theirs));
        let keys = File::from(ours);
        let screen = Arc::new(Mutex::new(String::new()));
        let (mut output, shown) = (keys.try_clone().expect("it can be shared"), Arc::clone(&screen));
        // Ends when the other end is closed.
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
                shown.lock().expect("nobody panics with it").push_str(&text);
            }
        });
        Terminal { child, keys, columns, screen }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Presses a key, if anybody is still there.
    pub(crate) fn try_press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).ok();
    }

    pub(crate) fn resize(&mut self, columns: u16) {
        tcsetwinsize(&self.keys, size_of(columns)).expect("it has a size");
        self.columns = columns;
    }

    /// How the terminal treats what is typed.
    pub(crate) fn modes(&self) -> LocalModes {
        tcgetattr(&self.keys).expect("a terminal has modes").local_modes
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The state of the process: `T`, if it is stopped.
    pub(crate) fn state(&self) -> String {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let behind = stat.rsplit_once(") ").map(|(_, behind)| behind).unwrap_or_default();
        behind.split(' ').next().unwrap_or_default().to_owned()
    }

    /// What a person sees.
    pub(crate) fn rows(&self) -> Vec<String> {
        picture::rows(&self.screen(), usize::from(self.columns))
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it is ours").is_some()
    }

    /// Ends the command as nobody should.
    pub(crate) fn kill(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).expect("it is ours");
    }

    /// Waits until this stands on the screen.
    pub(crate) fn sees(&self, text: &str) {
        until(&format!("{text:?} on the screen"), || {
            let screen = self.screen.lock().expect("nobody panics with it");
            screen.contains(text).then_some(())
        });
    }

    pub(crate) fn code(&mut self) -> i32 {
        until("the end of the command", || self.child.try_wait().expect("it is ours")).code().unwrap_or(-1)
    }

    pub(crate) fn screen(&self) -> String {
        self.screen.lock().expect("nobody panics with it").clone()
    }
}

fn size_of(columns: u16) -> Winsize {
    Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

#[test]
fn a_question_is_answered_right_there() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", ASK]);
    terminal.sees("or answer later: ostler answer q_1 1");
    terminal.sees("Your answer, a number or words (Enter: PostgreSQL): ");
    terminal.press("MySQ\n");
    terminal.sees("Did you mean 'MySQL'?");
    terminal.press("2\n");
    terminal.sees(r#""answer":"MySQL""#);
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    terminal.sees("s_1 is done");
}

/// Where this stands on the screen, once.
fn once(screen: &str, text: &str) -> usize {
    let found: Vec<usize> = screen.match_indices(text).map(|(at, _)| at).collect();
    assert_eq!(found.len(), 1, "{text:?} once: {screen}");
    found[0]
}

#[test]
fn a_question_is_shown_once_and_behind_what_came_before() {
    let place = Place::new();
    let script = format!("seq -f 'line %g' 3000; {ASK}");
    std::fs::write(place.project().join("ask.sh"), script).expect("a script");
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "ask.sh"]);
    terminal.sees("Your answer");
    let screen = terminal.screen();
    assert!(!screen.contains("USER_QUESTION") && !screen.contains("category:"), "{screen}");
    assert!(once(&screen, "thinking") < once(&screen, "Which database?"), "{screen}");
    // Who comes later sees the same.
    let mut second = Terminal::start(&place, &["attach", "s_1"]);
    second.sees("Your answer");
    let screen = second.screen();
    assert!(!screen.contains("USER_QUESTION"), "{screen}");
    assert!(once(&screen, "thinking") < once(&screen, "Which database?"), "{screen}");
    terminal.press("2\n");
    assert_eq!((terminal.code(), second.code()), (0, 0), "{}", terminal.screen());
    assert!(terminal.screen().contains("got {"), "{}", terminal.screen());
    assert!(place.done(&["logs", "s_1"]).contains("[USER_QUESTION]\ncategory: choice"));
    // What was answered has no card: who looks back sees the words.
    let said = place.run(&["attach", "s_1"]);
    assert!(said.out.contains("thinking\n[USER_QUESTION]\n"), "{said:?}");
}

#[test]
fn words_that_may_become_a_question_are_not_kept_back_for_ever() {
    let place = Place::new();
    let script = "echo '[USER_QUESTION'; echo '[x] done'; printf '[USER_QUESTION]\\nhm\\n'; sleep 1000";
    let terminal = Terminal::start(&place, &["run", "--", "bash", "-c", script]);
    terminal.sees("[USER_QUESTION\r\n[x] done\r\n[USER_QUESTION]\r\nhm\r\n");
    place.done(&["cancel", "s_1"]);
}

#[test]
fn what_a_model_asks_is_shown_once() {
    let place = Place::new();
    let asks =
        "Well.\n[USER_QUESTION]\ncategory: clarification\nquestion: How many?\n[/USER_QUESTION]\nThat is it.";
    let says = |text: &str| format!("echo '{}'; ", serde_json::json!({ "event": "say", "text": text }));
    let script = format!("{}{}read -r line", says("Before."), says(asks));
    std::fs::write(place.project().join("speaker.sh"), script).expect("a script");
    place.configure(
        "[agents.speaker]\ncommand = [\"bash\", \"speaker.sh\"]\n\
         output.speech = [{ when = { event = \"say\" }, give = { text = \"text\" } }]\n",
    );
    let terminal = Terminal::start(&place, &["run", "speaker", "go"]);
    terminal.sees("Your answer");
    let screen = terminal.screen();
    assert!(!screen.contains("USER_QUESTION"), "{screen}");
    assert!(once(&screen, "Well.") < once(&screen, "How many?"), "{screen}");
    place.done(&["cancel", "s_1"]);
}

#[test]
fn enter_is_the_default() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["--lang", "ko", "run", "--", "bash", "-c", ASK]);
    terminal.sees("답(번호나 글) (Enter: PostgreSQL): ");
    terminal.press("\n");
    terminal.sees(r#""answer":"PostgreSQL""#);
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
}

#[test]
fn answering_alone_asks_for_the_next_one() {
    let place = Place::new();
    place.start(ASK);
    place.wait_for_request();
    let mut terminal = Terminal::start(&place, &["answer"]);
    terminal.sees("Your answer");
    terminal.press("2\n");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    terminal.sees("q_1 is answered: MySQL");
}

#[test]
fn an_answer_from_elsewhere_is_seen() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", ASK]);
    terminal.sees("Your answer");
    place.done(&["answer", "q_1", "2"]);
    terminal.sees("q_1 is settled: MySQL");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
}

#[test]
fn an_answer_waits_for_a_server_that_was_killed() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", ASK]);
    terminal.sees("Your answer");
    place.kill_server();
    terminal.press("2\n");
    terminal.sees(r#""answer":"MySQL""#);
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
    let screen = terminal.screen();
    assert!(!screen.contains("no server answers") && !screen.contains("was not sent"), "{screen}");
}

#[test]
fn what_is_half_typed_when_the_input_is_closed_is_no_answer() {
    let place = Place::new();
    let session = place.start(ASK);
    place.wait_for(&session, "waiting_input");
    let mut answer = Terminal::start(&place, &["answer", "q_1"]);
    answer.sees("Your answer");
    answer.press("MySQL\u{4}\u{4}");
    assert_eq!(answer.code(), 3, "{}", answer.screen());
    let mut attached = Terminal::start(&place, &["attach", &session]);
    attached.sees("Your answer");
    attached.press("MySQL\u{4}\u{4}");
    attached.sees("nothing is read here any more");
    assert_eq!(place.json(&["show", "q_1"])["settled"], serde_json::Value::Null);
    place.done(&["answer", "q_1", "1"]);
    attached.sees(r#""answer":"PostgreSQL""#);
    assert_eq!(attached.code(), 0, "{}", attached.screen());
}

#[test]
fn a_closed_input_is_said_and_ctrl_c_still_asks() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", ASK]);
    terminal.sees("Your answer");
    terminal.press("\x04");
    terminal.sees("\r\nostler: nothing is read here any more");
    terminal.sees("ostler answer s_1");
    terminal.press("\x03");
    terminal.sees("\r\nostler: Ctrl-C: c cancels it");
    terminal.press("\n");
    let asked = || terminal.rows().iter().filter(|row| row.contains("Your answer")).count();
    until("the question again", || (asked() == 2).then_some(()));
    terminal.press("2\n");
    terminal.sees(r#""answer":"MySQL""#);
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
}

#[test]
fn ctrl_c_asks_first() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", "echo begun; sleep 60"]);
    terminal.sees("begun\r\n");
    terminal.press("\x03");
    terminal.sees("c cancels it");
    terminal.press("\n");
    terminal.sees("it goes on");
    terminal.press("\x03");
    until("a second question", || (terminal.screen().matches("c cancels it").count() == 2).then_some(()));
    terminal.press("c\n");
    assert_eq!(terminal.code(), 10, "{}", terminal.screen());
    assert_eq!(place.session("s_1")["status"], "cancelled");
}

#[test]
fn ctrl_c_twice_leaves_it_working() {
    let place = Place::new();
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", "echo begun; sleep 60"]);
    terminal.sees("begun\r\n");
    terminal.press("\x03");
    terminal.sees("c cancels it");
    terminal.press("\x03");
    assert_eq!(terminal.code(), 12, "{}", terminal.screen());
    terminal.sees("ostler attach s_1");
    place.wait_for("s_1", "active");
    // Coming back is as easy.
    let mut terminal = Terminal::start(&place, &["attach", "last"]);
    terminal.sees("begun\r\n");
    terminal.press("\x03");
    terminal.sees("c cancels it");
    terminal.press("d\n");
    assert_eq!(terminal.code(), 12, "{}", terminal.screen());
}

/// Whatever is asked of it: who wants to leave does not have to wait.
#[test]
fn a_server_that_answers_nobody_can_be_left() {
    let place = Place::new();
    let arguments = ["run", "--", "bash", "-c", ASK];
    // While a wish is on its way.
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", "echo begun; sleep 60"]);
    terminal.sees("begun\r\n");
    let halted = place.halt_server();
    terminal.press("\x03");
    terminal.sees("c cancels it");
    terminal.press("c\n");
    terminal.press("\x03");
    assert_eq!(terminal.code(), 12, "{}", terminal.screen());
    drop(halted);
    // While an answer is, or before it was given.
    for (number, name) in [(15, "TERM"), (1, "HUP")] {
        let mut terminal = Terminal::start(&place, &arguments);
        terminal.sees("Which database?");
        wait_until_caught(terminal.child.id(), number);
        let halted = place.halt_server();
        terminal.press("MySQL\n");
        terminal.sees("MySQL\r\n");
        signal(&terminal.child.id().to_string(), name);
        assert_eq!(terminal.code(), 12, "{}", terminal.screen());
        drop(halted);
    }
}

#[test]
fn colours_reach_a_terminal_and_nothing_else_does() {
    let place = Place::new();
    let script = r"printf 'a\033]0;title\007b\033[31mred\033[0m\n'";
    let mut terminal = Terminal::start(&place, &["run", "--", "bash", "-c", script]);
    assert_eq!(terminal.code(), 0);
    terminal.sees("ab\u{1b}[31mred\u{1b}[0m");
    assert!(!terminal.screen().contains("title\u{7}"), "{:?}", terminal.screen());
}

#[test]
fn an_agent_gets_a_terminal_of_its_own() {
    let place = Place::new();
    let mut terminal =
        Terminal::start(&place, &["run", "--pty", "--", "bash", "-c", "[ -t 0 ] && echo on a terminal"]);
    terminal.sees("on a terminal");
    assert_eq!(terminal.code(), 0, "{}", terminal.screen());
}
