//! A disk that is full, and one that fails.
//!
//! A small library that is loaded before the system's makes writes and syncs fail while a file says so. A real small
//! file system is used besides, where making one is permitted.

use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use ostler_store::{Commit, CommitError, Reads, Sqlite, Store};

use crate::support::{Folder, all_events, child, event, events, folder_of_child, program};

/// Fails with the error whose number stands in the file `fail-write` or `fail-sync` of the directory.
const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fails(const char *name) {
    char path[4096], number[8] = "";
    const char *folder = getenv("OSTLER_STORE_TEST_FOLDER");
    if (!folder) return 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
    if (file < 0) return 0;
    syscall(SYS_read, file, number, sizeof number - 1);
    syscall(SYS_close, file);
    errno = atoi(number);
    return 1;
}
ssize_t pwrite64(int fd, const void *data, size_t size, off_t at) {
    if (fails("fail-write")) return -1;
    return syscall(SYS_pwrite64, fd, data, size, at);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return pwrite64(fd, data, size, at); }
int fsync(int fd) { return fails("fail-sync") ? -1 : syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return fails("fail-sync") ? -1 : syscall(SYS_fdatasync, fd); }
"#;

fn library(folder: &Folder) -> Option<PathBuf> {
    let source = folder.path().join("fail.c");
    let library = folder.path().join("fail.so");
    File::create(&source).unwrap().write_all(LIBRARY.as_bytes()).unwrap();
    let built = program(Path::new("cc"))
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .output()
        .is_ok_and(|output| output.status.success());
    built.then_some(library)
}

/// Runs a child, and fails with what it said.
fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn a_failing_disk_is_told_and_survived() {
    let folder = Folder::new("failing");
    let Some(library) = library(&folder) else {
        println!("SKIPPED a_failing_disk_is_told_and_survived: no C compiler");
        return;
    };
    succeed(child("faults::meets_a_failing_disk", folder.path()).env("LD_PRELOAD", library));
    // The child is gone without closing. Its last group was refused because the sync failed, and may be there
    // or not; everything before it is.
    let mut store = Sqlite::open(&folder.database(), 1).unwrap();
    store.reader().unwrap().check().unwrap();
    let last = store.last_seq().unwrap();
    assert!(last == 8 || last == 9, "{last}");
    assert_eq!(all_events(&store), events(1..=last).events);
    store.commit(&[events(last + 1..=last + 1)]).unwrap();
}

#[test]
#[ignore = "runs only as a child of the test above"]
fn meets_a_failing_disk() {
    const EIO: &str = "5";
    const ENOSPC: &str = "28";
    let folder = folder_of_child();
    let mut store = Sqlite::open(&folder.join("journal.db"), 1).unwrap();
    let mut last = 0;
    for (file, error, expected) in [
        ("fail-write", ENOSPC, "full"),
        ("fail-sync", EIO, "io"),
        ("fail-write", EIO, "io"),
        ("fail-sync", EIO, "io"),
    ] {
        store.commit(&[events(last + 1..=last + 1)]).unwrap();
        last += 1;
        File::create(folder.join(file)).unwrap().write_all(error.as_bytes()).unwrap();
        for _ in 0..3 {
            let got = match store.commit(&[events(last + 1..=last + 1)]) {
                Ok(()) => "ok".to_owned(),
                Err(CommitError::Full { .. }) => "full".to_owned(),
                Err(CommitError::Io { .. }) => "io".to_owned(),
                Err(error) => error.to_string(),
            };
            assert_eq!(got, expected, "{file} {error}");
            assert_eq!(store.last_seq().unwrap(), last);
        }
        fs::remove_file(folder.join(file)).unwrap();
        store.commit(&[events(last + 1..=last + 1)]).unwrap();
        last += 1;
        assert_eq!(all_events(&store), events(1..=last).events);
    }
    File::create(folder.join("fail-sync")).unwrap().write_all(EIO.as_bytes()).unwrap();
    assert!(matches!(store.commit(&[events(9..=9)]), Err(CommitError::Io { .. })));
    std::mem::forget(store);
}

#[test]
fn a_full_disk_is_told_and_survived() {
    let folder = Folder::new("full");
    let small = "mount -t tmpfs -o size=4m none \"$OSTLER_STORE_TEST_FOLDER\" && exec \"$@\"";
    let namespace = |command: &str| {
        let mut unshare = program(Path::new("unshare"));
        unshare.args(["--map-root-user", "--mount", "sh", "-c", command, "sh"]);
        unshare.env(crate::support::FOLDER, folder.path());
        unshare
    };
    if !namespace(small).arg("true").output().is_ok_and(|output| output.status.success()) {
        println!("SKIPPED a_full_disk_is_told_and_survived: no small file system may be mounted here");
        return;
    }
    let test = child("faults::meets_a_full_disk", folder.path());
    succeed(namespace(small).arg(test.get_program()).args(test.get_args()));
}

#[test]
#[ignore = "runs only as a child of the test above"]
fn meets_a_full_disk() {
    let folder = folder_of_child();
    let filler = folder.join("filler");
    File::create(&filler).unwrap().write_all(&vec![1; 2 << 20]).unwrap();
    let path = folder.join("journal.db");
    let mut store = Sqlite::open(&path, 1).unwrap();
    let large =
        |seq| Commit { events: vec![event(seq, format!("\"{}\"", "x".repeat(3000)))], ..Commit::default() };
    let mut last = 0;
    let error = loop {
        match store.commit(&[large(last + 1)]) {
            Ok(()) => last += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, CommitError::Full { .. }), "{error}");
    assert!(last > 10, "{last}");
    for _ in 0..5 {
        assert!(matches!(store.commit(&[large(last + 1)]), Err(CommitError::Full { .. })));
        assert_eq!(all_events(&store).len() as u64, last);
    }
    OpenOptions::new().write(true).open(&filler).unwrap().set_len(0).unwrap();
    for seq in last + 1..=last + 20 {
        store.commit(&[large(seq)]).unwrap();
    }
    store.close().unwrap();
    let store = Sqlite::open(&path, 2).unwrap();
    store.reader().unwrap().check().unwrap();
    assert_eq!(store.last_seq().unwrap(), last + 20);
}
