//! The terminal, whoever writes to it. What stands at its bottom is drawn below everything else: the prompt with what a
//! person has typed so far, or lines that show how things are. What is said meanwhile goes above, and the bottom is
//! drawn again below it.
//!
//! | at the bottom                  | a line is said                    | the person types  | Enter            |
//! |--------------------------------|-----------------------------------|-------------------|------------------|
//! | nothing, or a picture          | goes above                        | replaces it       | –                |
//! | a prompt, and what is typed    | goes above, both are drawn again  | is drawn behind it| becomes a line   |
//! | the same, and an open line     | ends the open line first          | the same          | the same         |
//!
//! Where the terminal keeps editing lines itself (`take` was not called), nothing is known of what is typed, so a prompt
//! is written once and not drawn again.

mod editor;
mod region;

use std::{
    io::{self, IsTerminal, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustix::{
    process::{Signal, getpgrp, getpid, kill_process},
    stdio::stdin,
    termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr},
};

pub(crate) use self::editor::Typed;
use self::{
    editor::Editor,
    region::{cursor_after, erase},
};
use crate::screen::{Screen, size, wrap};

/// An open line that is longer is not drawn again: what comes next stands on its own line.
const OPEN_BYTES_MAX: usize = 4096;

static CONSOLE: Mutex<Console> = Mutex::new(Console::new());

/// Where output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

struct Console {
    /// The modes that the terminal had before its lines were edited here.
    before: Option<Termios>,
    editor: Option<Editor>,
    /// What stands in front of the line that is typed; empty, if nothing is asked.
    prompt: String,
    /// Lines that show how things are.
    picture: Vec<String>,
    /// The end of what was printed, as far as its line is open.
    open: Vec<u8>,
    /// Whether the open line was taken away with the bottom and has to be written again.
    is_open_gone: bool,
    /// What is drawn at the bottom, from the beginning of the open line to the cursor.
    drawn: String,
}

/// While this is held, lines are edited here. The terminal gets its modes back with it.
pub(crate) struct LineEditing(());

/// Edits lines here from now on, where a terminal is at both ends and what was drawn can be drawn over.
pub(crate) fn take() -> Option<LineEditing> {
    if !io::stdin().is_terminal() || !Screen::stderr().can_redraw() {
        return None;
    }
    let mut console = console();
    let before = tcgetattr(stdin()).ok()?;
    set_modes(&before)?;
    console.before = Some(before);
    console.editor = Some(Editor::default());
    Some(LineEditing(()))
}

impl Drop for LineEditing {
    fn drop(&mut self) {
        let mut console = console();
        console.leave();
        console.editor = None;
        if let Some(before) = console.before.take() {
            // A terminal that is gone needs no modes.
            tcsetattr(stdin(), OptionalActions::Now, &before).ok();
        }
    }
}

/// Signals stay signals; letters come at once, and none is shown by the terminal itself.
fn set_modes(before: &Termios) -> Option<()> {
    let mut modes = before.clone();
    modes.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN;
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    tcsetattr(stdin(), OptionalActions::Now, &modes).ok()
}

/// Stops this process, as Ctrl-Z wants it. The shell gets the terminal as it was; when the process goes on, it takes the
/// terminal again, unless it goes on in the background, where it would be stopped for that.
pub(crate) fn suspend() {
    let mut console = console();
    console.erase();
    if let Some(before) = &console.before {
        tcsetattr(stdin(), OptionalActions::Now, before).ok();
    }
    // It stops here.
    kill_process(getpid(), Signal::STOP).ok();
    if tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp())
        && let Some(before) = &console.before
    {
        set_modes(before);
    }
    console.draw();
}

/// The terminal has another size.
pub(crate) fn redraw() {
    let mut console = console();
    console.erase();
    console.draw();
}

/// Draws lines in place of those that stand there, unless a person may be typing.
pub(crate) fn draw(lines: &[String]) {
    let mut console = console();
    if console.prompt.is_empty() && !lines.is_empty() {
        console.erase();
        lines.clone_into(&mut console.picture);
        console.draw();
    }
}

/// Takes the lines away.
pub(crate) fn clear() {
    let mut console = console();
    if !console.picture.is_empty() {
        console.erase();
        console.picture.clear();
        console.draw();
    }
}

/// Says something where people look, and machines do not. A last line without an end is a prompt.
pub(crate) fn say(text: &str) -> io::Result<()> {
    let mut console = console();
    console.erase();
    console.picture.clear();
    let (lines, prompt) = text.split_at(text.rfind('\n').map_or(0, |at| at + 1));
    let mut above = console.end_open_line();
    above.extend_from_slice(lines.as_bytes());
    if console.editor.is_some() {
        // A line alone does not end a question.
        if !prompt.is_empty() {
            prompt.clone_into(&mut console.prompt);
        }
    } else {
        let is_here = io::stderr().is_terminal();
        above.extend_from_slice(if is_here { wrapped(prompt) } else { prompt.to_owned() }.as_bytes());
        prompt.clone_into(&mut console.prompt);
    }
    let written = write(Stream::Err, &above);
    console.draw();
    written
}

/// Leaves the line in which a person may be typing: what was typed so far is forgotten, and stays to be read.
pub(crate) fn leave() -> io::Result<()> {
    let mut console = console();
    if console.editor.is_some() {
        console.leave();
        return Ok(());
    }
    console.prompt.clear();
    write(Stream::Err, b"\n")
}

/// Prints what an agent printed, or lines that were asked for. The last line may be open.
pub(crate) fn print(stream: Stream, bytes: &[u8]) -> io::Result<()> {
    let mut console = console();
    let is_here = match stream {
        Stream::Out => io::stdout().is_terminal(),
        Stream::Err => io::stderr().is_terminal(),
    };
    if !is_here || bytes.is_empty() {
        return write(stream, bytes);
    }
    if console.editor.is_none() {
        console.erase();
        console.picture.clear();
        // The cursor is behind a prompt.
        if !std::mem::take(&mut console.prompt).is_empty() {
            write(Stream::Err, b"\n")?;
        }
        return write(stream, bytes);
    }
    console.picture.clear();
    console.erase();
    // Without a bottom the open line is still there; with one it went away with it.
    let is_gone = std::mem::take(&mut console.is_open_gone);
    let mut text = if is_gone { console.open.clone() } else { Vec::new() };
    text.extend_from_slice(bytes);
    let written = write(stream, &text);
    console.note_open(bytes);
    console.draw();
    written
}

/// Takes keys; gives what was finished with them. A line that was finished stays where it is.
pub(crate) fn press(keys: &[u8]) -> Vec<Typed> {
    let mut console = console();
    let finished = console.editor.as_mut().map(|editor| editor.push(keys)).unwrap_or_default();
    let mut typed = Vec::new();
    for (shown, it) in finished {
        console.keep_line(&shown);
        typed.push(it);
    }
    console.update();
    typed
}

/// Shows a star for each letter that is typed from now on, or the letters. Says whether lines are edited here: a
/// terminal that edits its lines itself has to be told by other means.
pub(crate) fn hide(is_hidden: bool) -> bool {
    let mut console = console();
    if let Some(editor) = &mut console.editor {
        editor.is_hidden = is_hidden;
    }
    console.update();
    console.editor.is_some()
}

impl Console {
    const fn new() -> Console {
        Console {
            before: None,
            editor: None,
            prompt: String::new(),
            picture: Vec::new(),
            open: Vec::new(),
            is_open_gone: false,
            drawn: String::new(),
        }
    }

    /// Takes the bottom away, with the open line above it.
    fn erase(&mut self) {
        let drawn = std::mem::take(&mut self.drawn);
        if !drawn.is_empty() {
            write(Stream::Err, erase(&drawn, columns()).as_bytes()).ok();
            self.is_open_gone = true;
        }
    }

    /// What should be at the bottom.
    fn bottom(&self) -> String {
        let typed = self.editor.as_ref().map(Editor::shown).unwrap_or_default();
        if self.prompt.is_empty() && typed.is_empty() {
            return self.picture.join("\r\n");
        }
        match self.editor {
            Some(_) => format!("{}{typed}", wrapped(&self.prompt)),
            // The terminal has written it down.
            None => String::new(),
        }
    }

    /// The bottom below the open line.
    fn below_open_line(&self, bottom: &str) -> String {
        let open = String::from_utf8_lossy(&self.open);
        let mut drawn = if open.is_empty() { bottom.to_owned() } else { format!("{open}\r\n{bottom}") };
        // The cursor has to be somewhere before the next letter.
        if cursor_after(&drawn, columns()).1 >= columns() {
            drawn.push_str("\r\n");
        }
        drawn
    }

    /// Draws the bottom; nothing may be drawn there.
    fn draw(&mut self) {
        let bottom = self.bottom();
        let is_gone = std::mem::take(&mut self.is_open_gone);
        if bottom.is_empty() {
            // Whatever comes next is written behind the open line.
            if is_gone {
                write(Stream::Err, &self.open).ok();
            }
            return;
        }
        let drawn = self.below_open_line(&bottom);
        let is_there = if is_gone { 0 } else { String::from_utf8_lossy(&self.open).len() };
        // What cannot be drawn is missing, and nothing else.
        write(Stream::Err, &drawn.as_bytes()[is_there..]).ok();
        self.drawn = drawn;
    }

    /// Draws what is new at the bottom; letters that are typed are written behind the others.
    fn update(&mut self) {
        let bottom = self.bottom();
        let drawn = self.below_open_line(&bottom);
        match drawn.strip_prefix(&self.drawn) {
            Some(new) if !self.drawn.is_empty() && !bottom.is_empty() => {
                write(Stream::Err, new.as_bytes()).ok();
                self.drawn = drawn;
            }
            _ => {
                self.erase();
                self.draw();
            }
        }
    }

    /// Leaves the prompt and what was typed where they are, as a line; nothing is asked any more.
    fn keep_line(&mut self, shown: &str) {
        let line = format!("{}{shown}", wrapped(&std::mem::take(&mut self.prompt)));
        if line.is_empty() {
            return;
        }
        let drawn = std::mem::take(&mut self.drawn);
        let open = String::from_utf8_lossy(&self.open);
        let text = if open.is_empty() { line } else { format!("{open}\r\n{line}") };
        let new = match text.strip_prefix(&drawn) {
            Some(new) if !drawn.is_empty() => format!("{new}\n"),
            // It was drawn otherwise, or is not drawn at all.
            _ if !drawn.is_empty() => format!("{}{text}\n", erase(&drawn, columns())),
            _ if self.is_open_gone => format!("{text}\n"),
            _ => format!("{}\n", &text[open.len()..]),
        };
        write(Stream::Err, new.as_bytes()).ok();
        self.open.clear();
        self.is_open_gone = false;
    }

    /// What ends the open line, if there is one.
    fn end_open_line(&mut self) -> Vec<u8> {
        let is_gone = std::mem::take(&mut self.is_open_gone);
        let mut open = std::mem::take(&mut self.open);
        if open.is_empty() {
            return open;
        }
        if !is_gone {
            open.clear();
        }
        open.push(b'\n');
        open
    }

    fn note_open(&mut self, bytes: &[u8]) {
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => self.open = bytes[end + 1..].to_vec(),
            None => self.open.extend_from_slice(bytes),
        }
        if self.open.len() > OPEN_BYTES_MAX {
            write(Stream::Err, b"\n").ok();
            self.open.clear();
        }
    }

    fn leave(&mut self) {
        let Some(editor) = &mut self.editor else { return };
        let shown = editor.shown();
        editor.clear();
        self.keep_line(&shown);
        self.update();
    }
}

fn console() -> MutexGuard<'static, Console> {
    CONSOLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn columns() -> usize {
    usize::from(size().1)
}

/// A prompt broken between words, as wide as the terminal is now. Lines that go on begin where the first one does; the
/// space at its end stays, because a person types behind it.
fn wrapped(prompt: &str) -> String {
    broken(prompt, columns())
}

fn broken(prompt: &str, columns: usize) -> String {
    let text = prompt.trim();
    let indent = &prompt[..prompt.len() - prompt.trim_start().len()];
    let end = &prompt[prompt.trim_end().len()..];
    if text.is_empty() || cursor_after(prompt.trim_end(), columns).0 == 0 {
        return prompt.to_owned();
    }
    let lines = wrap(text, columns.saturating_sub(indent.len()).max(1));
    format!("{indent}{}{end}", lines.join(&format!("\r\n{indent}")))
}

fn write(stream: Stream, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    match stream {
        Stream::Out => {
            let mut stdout = io::stdout().lock();
            stdout.write_all(bytes).and_then(|()| stdout.flush())
        }
        Stream::Err => io::stderr().lock().write_all(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_broken_between_words() {
        let prompt = "  Your answer, a number or words (Enter: PostgreSQL): ";
        assert_eq!(broken(prompt, 80), prompt);
        assert_eq!(broken(prompt, 30), "  Your answer, a number or\r\n  words (Enter: PostgreSQL): ");
        assert_eq!(broken("  답, 번호나 글(Enter: MySQL): ", 20), "  답, 번호나\r\n  글(Enter: MySQL): ");
        assert_eq!(broken("", 5), "");
    }
}
