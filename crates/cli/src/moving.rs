//! Lines that are drawn over and over below everything else. A terminal is one, whoever writes to it: what is said goes
//! where they stood, and they are drawn again below it.

use std::{
    io::{self, Write},
    sync::atomic::{AtomicBool, Ordering},
};

/// Whether lines are drawn. The cursor stands before the first of them.
static DRAWN: AtomicBool = AtomicBool::new(false);

/// Whether the last thing that was said waits for somebody to type behind it.
static TYPING: AtomicBool = AtomicBool::new(false);

/// Whether the cursor stands behind that.
static BEHIND: AtomicBool = AtomicBool::new(false);

/// Draws lines in place of those that stand there, unless somebody may be typing.
pub(crate) fn draw(lines: &[String]) {
    if TYPING.load(Ordering::Relaxed) || lines.is_empty() {
        return;
    }
    let back = match lines.len() - 1 {
        0 => String::new(),
        more => format!("\x1b[{more}A"),
    };
    let text = format!("\r\x1b[J{}\r{back}", lines.join("\r\n"));
    let mut stderr = io::stderr().lock();
    // What cannot be drawn is missing, and nothing else.
    stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()).ok();
    DRAWN.store(true, Ordering::Relaxed);
}

/// Takes the lines away.
pub(crate) fn clear() {
    if DRAWN.swap(false, Ordering::Relaxed) {
        let mut stderr = io::stderr().lock();
        write!(stderr, "\r\x1b[J").and_then(|()| stderr.flush()).ok();
    }
}

/// Makes room for lines that are printed: takes what is drawn away, and goes below what somebody may be typing behind.
pub(crate) fn make_room() {
    clear();
    if BEHIND.swap(false, Ordering::Relaxed) {
        let mut stderr = io::stderr().lock();
        // What cannot be said is missing, and nothing else.
        stderr.write_all(b"\n").and_then(|()| stderr.flush()).ok();
    }
}

/// Says something where people look, and machines do not.
pub(crate) fn say(text: &str) -> io::Result<()> {
    clear();
    TYPING.store(!text.ends_with('\n'), Ordering::Relaxed);
    BEHIND.store(!text.ends_with('\n'), Ordering::Relaxed);
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush())
}
