//! What is seen of a demonstration: sentences, a list that is drawn again in place where the terminal can do that, and
//! keys. It knows nothing of what is played.

use std::{
    io::{self, IsTerminal, Read, Write},
    thread,
    time::Duration,
};

use ostler_server::api::SessionView;
use rustix::{
    stdio::stdin,
    termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr},
};
use tokio::{sync::mpsc, time::sleep};
use unicode_width::UnicodeWidthStr;

use crate::{
    context::Context,
    error::Error,
    screen::{Cell, Screen, Style, add_line, wrap},
    status,
    words::{Key, Words},
};

/// A narrower terminal gets one list below the other: lines that wrap cannot be drawn again.
const LIVE_COLUMNS_MIN: usize = 60;

/// Longer lines are hard to read.
const TEXT_COLUMNS_MAX: usize = 100;

/// As wide as the number of a process becomes.
const PID_WIDEST: u32 = 4_194_304;

/// Where the demonstration is seen.
pub(super) struct Stage {
    words: Words,
    /// Whether a machine reads: it gets the facts at the end and nothing before.
    silent: bool,
    keys: Option<Keys>,
    /// The list as it was drawn last, if it can still be drawn again.
    drawn: String,
}

impl Stage {
    /// With `auto`, nobody is waited for; neither where there is no terminal.
    pub(super) fn new(context: &Context, auto: bool) -> Stage {
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let keys = if auto || context.json || !is_terminal { None } else { Keys::listen() };
        Stage { words: context.words, silent: context.json, keys, drawn: String::new() }
    }

    /// Whether somebody watches and can press a key.
    pub(super) fn has_audience(&self) -> bool {
        self.keys.is_some()
    }

    /// Time to read, for somebody who watches. Any key goes on.
    pub(super) async fn pause(&mut self, seconds: u64) {
        let Some(keys) = &mut self.keys else { return };
        keys.forget();
        tokio::select! {
            () = sleep(Duration::from_secs(seconds)) => {}
            Some(_) = keys.pressed.recv() => {}
        }
    }

    /// What happens now: a new paragraph.
    pub(super) fn act(&mut self, text: &str) -> Result<(), Error> {
        self.space()?;
        self.lines(Style::Bold, 0, text)
    }

    /// A line between two paragraphs.
    pub(super) fn space(&mut self) -> Result<(), Error> {
        self.print("\n")
    }

    /// Why that matters.
    pub(super) fn say(&mut self, text: &str) -> Result<(), Error> {
        self.lines(Style::Plain, 0, text)
    }

    /// A command, as somebody would type it.
    pub(super) fn command(&mut self, text: &str) -> Result<(), Error> {
        self.lines(Style::Dim, 2, &format!("$ {text}"))
    }

    /// What a program said.
    pub(super) fn quote(&mut self, style: Style, text: &str) -> Result<(), Error> {
        self.lines(style, 2, text)
    }

    /// Text that is laid out already.
    pub(super) fn print(&mut self, text: &str) -> Result<(), Error> {
        self.drawn.clear();
        self.write(text)
    }

    /// How the sessions are, while something is waited for. Only a terminal shows that.
    pub(super) fn watch(&mut self, sessions: &[SessionView]) -> Result<(), Error> {
        let screen = Screen::stdout();
        let is_wide = screen.width().is_some_and(|width| width >= LIVE_COLUMNS_MIN);
        if self.silent || !screen.can_redraw() || !is_wide {
            return Ok(());
        }
        let list = list(self.words, screen, sessions, &steady(self.words));
        if list == self.drawn {
            return Ok(());
        }
        let above = self.drawn.lines().count();
        let mut text = if above > 0 { format!("\x1b[{above}A") } else { "\n".to_owned() };
        for line in list.lines() {
            text.push_str("\r\x1b[2K");
            add_line(&mut text, 0, line);
        }
        self.drawn = list;
        self.write(&text)
    }

    /// How the sessions are, now that it has come about.
    pub(super) fn show(&mut self, sessions: &[SessionView]) -> Result<(), Error> {
        self.watch(sessions)?;
        if std::mem::take(&mut self.drawn).is_empty() {
            let list = list(self.words, Screen::stdout(), sessions, &[]);
            self.write(&format!("\n{list}"))?;
        }
        Ok(())
    }

    /// Waits for one of the numbers up to `count`. What was pressed before the question does not count.
    pub(super) async fn choice(&mut self, count: usize) -> Option<usize> {
        let keys = self.keys.as_mut()?;
        keys.forget();
        loop {
            let key = char::from(keys.pressed.recv().await?);
            let number = key.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
            if let Some(number) = number.filter(|number| (1..=count).contains(number)) {
                return Some(number);
            }
        }
    }

    fn lines(&mut self, style: Style, indent: usize, text: &str) -> Result<(), Error> {
        let screen = Screen::stdout();
        // In a file a sentence is one line, so that it can be found.
        let width = screen.width().map_or(usize::MAX, |width| width.min(TEXT_COLUMNS_MAX));
        let mut said = String::new();
        for line in text.lines().flat_map(|line| wrap(line, width.saturating_sub(indent))) {
            add_line(&mut said, indent, &screen.style(style, &line));
        }
        self.print(&said)
    }

    fn write(&mut self, text: &str) -> Result<(), Error> {
        if self.silent {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)
    }
}

/// One line for each session: its id, how it is, its process, and what it does.
fn list(words: Words, screen: Screen, sessions: &[SessionView], widths_min: &[usize]) -> String {
    let whats = [Key::DemoAgentDatabase, Key::DemoAgentTotal, Key::DemoAgentPrices];
    let row = |(session, what): (&SessionView, Key)| {
        let (status, style) = status::said(words, session);
        let process = session.pid.map(|pid| words.say(Key::DemoProcess, &[("pid", &pid)]));
        vec![
            Cell::new(""),
            Cell::new(&session.id),
            Cell::styled(style, &status),
            Cell::styled(Style::Dim, &process.unwrap_or_default()),
            Cell::new(words.sentence(what)),
        ]
    };
    screen.columns_of_at_least(&sessions.iter().zip(whats).map(row).collect::<Vec<_>>(), widths_min)
}

/// The widths of the list's columns that stay as they are whatever happens to a session.
fn steady(words: Words) -> [usize; 4] {
    let width_of = |word: &str| {
        let known = status::of_word(word, false)?;
        Some(format!("{} {}", known.shape, words.sentence(known.key)).width())
    };
    let states = ["starting", "active", "checking", "waiting_input", "completed"];
    let widest = states.into_iter().filter_map(width_of).max().unwrap_or(0);
    [0, 0, widest, words.say(Key::DemoProcess, &[("pid", &PID_WIDEST)]).width()]
}

/// The keys of the terminal, one by one. Ctrl-C stays a signal.
struct Keys {
    pressed: mpsc::Receiver<u8>,
    before: Termios,
}

impl Keys {
    fn listen() -> Option<Keys> {
        let before = tcgetattr(stdin()).ok()?;
        let mut single = before.clone();
        single.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        single.special_codes[SpecialCodeIndex::VMIN] = 1;
        single.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(stdin(), OptionalActions::Now, &single).ok()?;
        // More than anybody presses while nobody looks.
        let (sender, pressed) = mpsc::channel(64);
        // Ends with the process: there is no other way to wait for a terminal.
        thread::spawn(move || {
            let mut key = [0];
            while let Ok(1) = io::stdin().read(&mut key) {
                // What does not fit was not meant for a question.
                if let Err(mpsc::error::TrySendError::Closed(_)) = sender.try_send(key[0]) {
                    return;
                }
            }
        });
        Some(Keys { pressed, before })
    }

    /// What was pressed so far was not meant for what comes.
    fn forget(&mut self) {
        while self.pressed.try_recv().is_ok() {}
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // A terminal that has gone needs nothing.
        tcsetattr(stdin(), OptionalActions::Flush, &self.before).ok();
    }
}
