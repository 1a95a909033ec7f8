//! Gives a database whose list of tables is damaged the list of a new one.
//!
//! Where the tables begin is the same in every database, because the same steps made it. Should that be wrong, the
//! sums of the events show it: then nothing is found, as before.

use std::{collections::BTreeSet, fs::OpenOptions, io, os::unix::fs::FileExt, path::Path};

use ostler_files::{FILE_BYTES_MAX, private};

/// Where the file's own header ends on the first page.
const HEADER_BYTES: usize = 100;
const INTERIOR_TABLE: u8 = 0x05;

/// Copies the pages that hold the list of tables.
pub(super) fn list_of_tables(from: &Path, to: &Path) -> io::Result<()> {
    let good = private::read(from, FILE_BYTES_MAX)?;
    let page_bytes = usize::from(u16::from_be_bytes([good[16], good[17]]));
    // A file that is gone is made: its log may still hold everything.
    let file = private::open_or_create(to, OpenOptions::new().write(true).truncate(false))?;
    for page in pages_of_list(&good, page_bytes) {
        let start = (page as usize - 1) * page_bytes;
        file.write_all_at(&good[start..start + page_bytes], start as u64)?;
    }
    let pages = u32::try_from(file.metadata()?.len() / page_bytes as u64).unwrap_or(u32::MAX);
    // The size is that of the damaged file. It counts only when both change counters agree, as those copied do. No
    // page is free for reuse: nothing is going to be written.
    file.write_all_at(&pages.to_be_bytes(), 28)?;
    file.write_all_at(&[0; 8], 32)
}

/// The first page, and those below it when the list does not fit there.
fn pages_of_list(file: &[u8], page_bytes: usize) -> BTreeSet<u32> {
    let number = |at: usize| u32::from_be_bytes([file[at], file[at + 1], file[at + 2], file[at + 3]]);
    let mut pages = BTreeSet::from([1]);
    if file[HEADER_BYTES] != INTERIOR_TABLE {
        return pages;
    }
    let cells = usize::from(u16::from_be_bytes([file[HEADER_BYTES + 3], file[HEADER_BYTES + 4]]));
    pages.insert(number(HEADER_BYTES + 8));
    for cell in 0..cells {
        let at = HEADER_BYTES + 12 + 2 * cell;
        let pointer = usize::from(u16::from_be_bytes([file[at], file[at + 1]]));
        pages.insert(number(pointer));
    }
    assert!(pages.iter().all(|page| *page as usize * page_bytes <= file.len()), "a new database is whole");
    pages
}
