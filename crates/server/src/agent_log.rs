//! The part of an agent's log that the server reads.
//!
//! A shim writes a log up to a limit, without holes. Another process of the user can make the file longer, as with
//! `truncate -s 3T`, so that a reader would go on for hours.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::FileExt,
};

use rustix::fs::{SeekFrom as Hole, seek};

/// The longest log that a shim writes, with what a person lets it grow by.
const LOG_BYTES_MAX: u64 = 2 << 30;

/// The end of what a shim may have written. A longer file ends at its first hole, and at the limit in any case.
pub(crate) fn end(file: &File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    if length <= LOG_BYTES_MAX {
        return Ok(length);
    }
    // A descriptor of its own would be needed to keep the place in the file; nobody reads from there.
    let hole = seek(file, Hole::Hole(0)).unwrap_or(length);
    Ok(hole.min(LOG_BYTES_MAX))
}

/// The last bytes of a log, from the beginning of a line on, and where they begin.
pub(crate) fn last_bytes(mut file: File, bytes_max: u64) -> io::Result<(u64, impl Read)> {
    let end = end(&file)?;
    let mut offset = end.saturating_sub(bytes_max);
    if offset > 0 {
        offset += line_begins_after(&file, offset)?;
    }
    file.seek(SeekFrom::Start(offset))?;
    Ok((offset, file.take(end - offset.min(end))))
}

/// How far it is from a place to the beginning of the next line; nothing, if no line begins near.
fn line_begins_after(file: &File, offset: u64) -> io::Result<u64> {
    let mut piece = vec![0; 64 << 10];
    let length = file.read_at(&mut piece, offset)?;
    Ok(piece[..length].iter().position(|&byte| byte == b'\n').map_or(0, |at| at as u64 + 1))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_log_that_was_made_longer_ends_where_its_words_end() {
        let path = crate::test_directory().join(format!("log-{}", std::process::id()));
        let open = || ostler_files::private::open(&path).expect("a file");
        let mut file = ostler_files::private::create(&path).expect("a file");
        file.write_all(&b"first\nsecond\n".repeat(1000)).expect("a disk");
        assert_eq!(end(&open()).expect("a file"), 13_000);
        file.set_len(3 << 40).expect("a sparse file");
        // The file system tells holes in blocks.
        assert!(end(&open()).expect("a file") < 1 << 20);
        file.set_len(13_000).expect("a file");
        let (offset, mut rest) = last_bytes(open(), 20).expect("a file");
        let mut read = String::new();
        rest.read_to_string(&mut read).expect("text");
        assert_eq!((offset, read.as_str()), (12_987, "first\nsecond\n"));
        std::fs::remove_file(&path).expect("it is ours");
    }
}
