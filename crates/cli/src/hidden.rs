//! Reads what nobody is to see over somebody's shoulder: a star for each character, and nothing in the terminal's
//! history.
//!
//! The terminal is left as it was, also when the person gives up.

use std::io::{self, IsTerminal, Read, Write};

use ostler_vault::Secret;
use rustix::{
    stdio::stdin,
    termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr},
};
use zeroize::Zeroizing;

use crate::{
    error::{Error, Message},
    words::Key,
};

const INTERRUPT: u8 = 3;
const END: u8 = 4;
const ERASE_ALL: u8 = 21;

/// Asks on the terminal. Where there is none, nobody can be asked, and `how` says what to do then.
pub(crate) fn ask(prompt: &str, how: Key) -> Result<Secret, Error> {
    if !io::stdin().is_terminal() {
        return Err(Error::Refused { message: Message::new(Key::NoTerminal), hint: Message::new(how) });
    }
    let _quiet = Quiet::begin().map_err(|source| Error::Input { path: None, source })?;
    show(prompt)?;
    let line = read_line();
    show("\r\n")?;
    let line = line.map_err(|source| Error::Input { path: None, source })?;
    let line = line.ok_or_else(|| Error::Refused {
        message: Message::new(Key::SecretGivenUp),
        hint: Message::new(Key::HintUnchanged),
    })?;
    let text = str::from_utf8(&line).map_err(|error| {
        let source = io::Error::new(io::ErrorKind::InvalidData, error);
        Error::Input { path: None, source }
    })?;
    Ok(Secret::new(text.to_owned()))
}

/// One line; nothing, if the person gives up.
fn read_line() -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    // With room for all that can come, so that growing leaves no copies behind.
    let mut line = Zeroizing::new(Vec::with_capacity(ostler_vault::VALUE_BYTES_MAX));
    let mut input = io::stdin().lock();
    let mut byte = [0];
    loop {
        if input.read(&mut byte)? == 0 {
            return Ok(Some(line));
        }
        match byte[0] {
            b'\r' | b'\n' => return Ok(Some(line)),
            INTERRUPT => return Ok(None),
            END if line.is_empty() => return Ok(None),
            END => return Ok(Some(line)),
            8 | 127 => erase(&mut line)?,
            ERASE_ALL => {
                while !line.is_empty() {
                    erase(&mut line)?;
                }
            }
            byte if line.len() < ostler_vault::VALUE_BYTES_MAX => {
                line.push(byte);
                if begins_character(byte) {
                    write!(io::stderr(), "*")?;
                }
            }
            _ => {}
        }
    }
}

/// Takes the last character back.
fn erase(line: &mut Vec<u8>) -> io::Result<()> {
    while let Some(byte) = line.pop() {
        if begins_character(byte) {
            return write!(io::stderr(), "\x08 \x08");
        }
    }
    Ok(())
}

fn begins_character(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

fn show(text: &str) -> Result<(), Error> {
    let mut stderr = io::stderr().lock();
    stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()).map_err(Error::Stats)
}

/// A terminal that shows nothing of what is typed.
struct Quiet {
    before: Termios,
}

impl Quiet {
    fn begin() -> io::Result<Quiet> {
        let before = tcgetattr(stdin())?;
        let mut modes = before.clone();
        modes.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN;
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        // What was typed before was typed for everybody to see.
        tcsetattr(stdin(), OptionalActions::Flush, &modes)?;
        Ok(Quiet { before })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        tcsetattr(stdin(), OptionalActions::Flush, &self.before).ok();
    }
}
