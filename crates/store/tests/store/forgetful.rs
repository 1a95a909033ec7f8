//! A disk that forgets what it could not sync.
//!
//! After a failed sync the system may show what was written, and let go of it: the next sync succeeds and has written
//! nothing of it. A library that is loaded before the system's keeps a second copy of the files, as such a disk would
//! have them, and lets every few syncs fail. What was reported as written has to be in that copy.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use ostler_store::{Commit, CommitError, Sqlite, Store};

use crate::support::{Folder, Random, all_events, child, event, folder_of_child, program};

const LIBRARY: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* What was written and not synced yet; data is none for a new length. */
struct write { struct write *next; char name[64]; char *data; size_t size; off_t at; };
static struct write *first, **last = &first;
static unsigned long long chance;

static int name_of(int fd, char name[64]) {
    char link[32], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    const char *base = strrchr(path, '/');
    if (!base || (strcmp(base, "/journal.db") && strcmp(base, "/journal.db-wal"))) return 0;
    snprintf(name, 64, "%s", base + 1);
    return 1;
}
static void keep(int fd, const void *data, size_t size, off_t at) {
    struct write *it = calloc(1, sizeof *it);
    if (!name_of(fd, it->name)) { free(it); return; }
    if (data) { it->data = malloc(size); memcpy(it->data, data, size); }
    it->size = size; it->at = at;
    *last = it; last = &it->next;
}
static void apply(struct write *it) {
    char path[4096];
    snprintf(path, sizeof path, "%s/disk/%s", getenv("OSTLER_STORE_TEST_FOLDER"), it->name);
    int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT, 0600);
    long done = it->data ? syscall(SYS_pwrite64, file, it->data, it->size, it->at)
                         : syscall(SYS_ftruncate, file, it->at);
    if (file < 0 || done < 0) abort();
    syscall(SYS_close, file);
}
static int sync_of(int fd, long call) {
    char name[64];
    if (!name_of(fd, name)) return syscall(call, fd);
    if (!chance) chance = strtoull(getenv("OSTLER_STORE_TEST_SEED"), 0, 10);
    chance ^= chance << 13; chance ^= chance >> 7; chance ^= chance << 17;
    int lost = chance % 8 == 0;
    struct write **place = &first;
    while (*place) {
        struct write *it = *place;
        if (strcmp(it->name, name)) { place = &it->next; continue; }
        if (!lost) apply(it);
        *place = it->next;
        free(it->data); free(it);
    }
    last = place;
    if (lost) { errno = EIO; return -1; }
    return 0;
}
ssize_t pwrite64(int fd, const void *data, size_t size, off_t at) {
    ssize_t written = syscall(SYS_pwrite64, fd, data, size, at);
    if (written > 0) keep(fd, data, written, at);
    return written;
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return pwrite64(fd, data, size, at); }
int ftruncate64(int fd, off_t length) {
    int outcome = syscall(SYS_ftruncate, fd, length);
    if (!outcome) keep(fd, 0, 0, length);
    return outcome;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }
int fsync(int fd) { return sync_of(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_of(fd, SYS_fdatasync); }
"#;

/// Where the seed of the library and of its child stands.
const SEED: &str = "OSTLER_STORE_TEST_SEED";

/// How many groups are tried: enough for the log to be written back and begun anew several times.
const GROUPS: u64 = 3000;

fn build(folder: &Path) -> Option<PathBuf> {
    let (source, library) = (folder.join("forget.c"), folder.join("forget.so"));
    File::create(&source).unwrap().write_all(LIBRARY.as_bytes()).unwrap();
    let mut compiler = program(Path::new("cc"));
    compiler.args(["-shared", "-fPIC", "-o"]).args([&library, &source]);
    compiler.output().is_ok_and(|output| output.status.success()).then_some(library)
}

/// How often, and beginning with which seed: more in a storm.
fn rounds() -> (u64, u64) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed = number("OSTLER_SEED").unwrap_or_else(|| u64::from(std::process::id()) | 1);
    (number("OSTLER_ROUNDS").unwrap_or(2), seed)
}

#[test]
fn what_was_reported_is_on_a_disk_that_forgets_what_it_could_not_sync() {
    let (rounds, first) = rounds();
    let (mut reported, mut failed) = (0, 0);
    for seed in first..first + rounds {
        let folder = Folder::new("forgetful");
        let Some(library) = build(folder.path()) else {
            println!("SKIPPED a disk that forgets: no C compiler");
            return;
        };
        Sqlite::open(&folder.database(), 1).unwrap().close().unwrap();
        let disk = folder.path().join("disk");
        fs::create_dir(&disk).unwrap();
        fs::copy(folder.database(), disk.join("journal.db")).unwrap();
        let mut child = child("forgetful::writes_on_it", folder.path());
        let output = child.env("LD_PRELOAD", library).env(SEED, seed.to_string()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("through"), "seed {seed}: {said}\n{}", String::from_utf8_lossy(&output.stderr));
        let bodies: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("written ")).collect();
        failed += said.lines().filter(|line| *line == "refused").count();
        reported += bodies.len();
        look(&disk.join("journal.db"), &bodies, seed);
    }
    assert!(failed > 100, "{failed}");
    println!("faults disk: {reported} groups reported and found, {failed} refused, {rounds} disks");
}

/// Everything that was reported is there as it was reported; a group that was refused at the end may be.
fn look(path: &Path, bodies: &[&str], seed: u64) {
    let store = Sqlite::open(path, 2).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    store.reader().unwrap().check().unwrap();
    let found = all_events(&store);
    assert!(found.len() - bodies.len() <= 1, "seed {seed}: {} of {}", found.len(), bodies.len());
    for (found, body) in found.iter().zip(bodies) {
        assert_eq!(found.body, **body, "seed {seed}");
    }
}

#[test]
#[ignore = "runs only as a child of the test above"]
fn writes_on_it() {
    let mut store = Sqlite::open(&folder_of_child().join("journal.db"), 1).unwrap();
    // The name of this test stands on the line before.
    println!();
    let mut random = Random(std::env::var(SEED).unwrap().parse().unwrap());
    let mut last = 0;
    for attempt in 0..GROUPS {
        // Each attempt says something else, so that it is seen whose bytes are on the disk.
        let long = "x".repeat(usize::try_from(random.below(3000)).unwrap());
        let body = format!("\"{attempt} {long}\"");
        match store.commit(&[Commit { events: vec![event(last + 1, &body)], ..Commit::default() }]) {
            Ok(()) => {
                last += 1;
                println!("written {body}");
            }
            Err(CommitError::Io { .. }) => println!("refused"),
            Err(error) => panic!("{error}"),
        }
    }
    println!("through");
    // Nothing is written back or tidied up: the power is gone.
    std::process::abort();
}
