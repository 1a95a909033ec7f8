//! Every kind of thing that can be in the place of a file, opened in every way.

use std::{
    env,
    ffi::OsStr,
    fs,
    io::Write,
    os::unix::{fs::symlink, net::UnixListener},
    path::PathBuf,
    process,
};

use rustix::fs::{CWD, Mode, mknodat};

use super::{beneath::HeldDirectory, *};

/// A directory of one test, removed with it.
struct Lab(PathBuf);

impl Lab {
    fn new(name: &str) -> Lab {
        let path = env::temp_dir().join(format!("ostler-files-{name}-{}", process::id()));
        fs::remove_dir_all(&path).ok();
        fs::create_dir_all(&path).expect("a temporary directory");
        Lab(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        private::create(self.at(name)).and_then(|mut it| it.write_all(text.as_bytes())).expect("a file");
        self.at(name)
    }

    fn pipe(&self, name: &str) -> PathBuf {
        mknodat(CWD, self.at(name), rustix::fs::FileType::Fifo, Mode::from(0o600), 0).expect("a pipe");
        self.at(name)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}

fn why<T>(result: io::Result<T>) -> Option<UnusableFile> {
    UnusableFile::of(&result.err()?)
}

#[test]
fn whatever_is_no_regular_file_is_refused_at_once() {
    let lab = Lab::new("kinds");
    fs::create_dir(lab.at("directory")).expect("a directory");
    let _socket = UnixListener::bind(lab.at("socket")).expect("a socket");
    lab.file("file", "text");
    symlink(lab.at("file"), lab.at("link")).expect("a link");
    symlink("/dev/zero", lab.at("device")).expect("a link");
    symlink(lab.pipe("pipe"), lab.at("link to a pipe")).expect("a link");
    let append = || OpenOptions::new().append(true).clone();
    for (name, expected) in [
        ("directory", UnusableFile::Directory),
        ("socket", UnusableFile::Socket),
        ("link", UnusableFile::Link),
        ("device", UnusableFile::Link),
        ("pipe", UnusableFile::Pipe),
        ("link to a pipe", UnusableFile::Link),
    ] {
        assert_eq!(why(private::read(lab.at(name), 100)), Some(expected), "{name}");
        assert_eq!(why(private::open_or_create(lab.at(name), &mut append())), Some(expected), "{name}");
    }
    for (name, expected) in [
        ("directory", UnusableFile::Directory),
        ("socket", UnusableFile::Socket),
        ("device", UnusableFile::Device),
        ("pipe", UnusableFile::Pipe),
        ("link to a pipe", UnusableFile::Pipe),
    ] {
        assert_eq!(why(named::read(lab.at(name), 100)), Some(expected), "{name}");
    }
    assert_eq!(named::read_text(lab.at("link"), 100).ok().as_deref(), Some("text"));
    assert_eq!(private::read_text(lab.at("file"), 100).ok().as_deref(), Some("text"));
}

#[test]
fn a_pipe_with_a_reader_or_a_writer_is_refused_as_well() {
    let lab = Lab::new("pipe");
    let path = lab.pipe("pipe");
    let _both_ends = OpenOptions::new().read(true).write(true).open(&path).expect("Linux opens both ends");
    assert_eq!(why(private::read(&path, 100)), Some(UnusableFile::Pipe));
    assert_eq!(why(private::open_or_create(&path, OpenOptions::new().write(true))), Some(UnusableFile::Pipe));
}

#[test]
fn a_file_has_a_bound_and_a_missing_one_is_missing() {
    let lab = Lab::new("bound");
    let path = lab.file("file", "12345");
    assert_eq!(private::read(&path, 5).ok().as_deref(), Some(b"12345".as_slice()));
    assert_eq!(why(private::read(&path, 4)), Some(UnusableFile::TooLong { bytes_max: 4 }));
    let missing = private::read(lab.at("missing"), 4).expect_err("nothing is there");
    assert_eq!((missing.kind(), UnusableFile::of(&missing)), (io::ErrorKind::NotFound, None));
    private::open_or_create(lab.at("new"), OpenOptions::new().append(true)).expect("it is made");
    let metadata = fs::metadata(lab.at("new")).expect("it is there");
    assert_eq!(metadata.mode() & 0o777, 0o600);
    assert!(private::create(&path).is_err(), "what is there is not made again");
}

#[test]
fn a_file_with_a_second_name_is_not_written_to() {
    let lab = Lab::new("names");
    let path = lab.file("file", "text");
    fs::hard_link(&path, lab.at("second")).expect("a second name");
    assert_eq!(
        why(private::open_or_create(&path, OpenOptions::new().append(true))),
        Some(UnusableFile::Shared)
    );
}

#[test]
fn nothing_beneath_a_held_directory_leads_out_of_it() {
    let place = Lab::new("beneath");
    let root = place.at("root");
    fs::create_dir_all(root.join("deep/er")).expect("it is there");
    place.file("root/deep/er/file", "inside");
    place.file("outside", "outside");
    symlink(place.at("outside"), root.join("deep/link")).expect("it is there");
    symlink(&place.0, root.join("up")).expect("it is there");
    let held = HeldDirectory::open(&root).expect("it is there");
    let deep = held.descend(Path::new("deep/./er")).expect("it is there");
    assert_eq!(deep.read(OsStr::new("file"), 6).unwrap(), b"inside");
    assert_eq!(
        UnusableFile::of(&deep.read(OsStr::new("file"), 5).expect_err("it is refused")),
        Some(UnusableFile::TooLong { bytes_max: 5 })
    );
    for path in ["..", "deep/../..", "/", "up", "up/root"] {
        assert!(held.descend(Path::new(path)).is_err(), "{path}");
    }
    assert_eq!(
        UnusableFile::of(&held.descend(Path::new("up")).expect_err("it is refused")),
        Some(UnusableFile::Link)
    );
    let deep = held.descend(Path::new("deep")).expect("it is there");
    assert_eq!(
        UnusableFile::of(&deep.open_file(OsStr::new("link")).expect_err("it is refused")),
        Some(UnusableFile::Link)
    );
    for name in ["er/file", "..", "er", "missing"] {
        assert!(deep.open_file(OsStr::new(name)).is_err(), "{name}");
    }
    // What is held stays what it was, whatever takes its name.
    fs::rename(root.join("deep"), root.join("away")).expect("it is there");
    symlink(&place.0, root.join("deep")).expect("it is there");
    let names: Vec<_> = deep.entries(10).unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(deep.entries(1).unwrap().len(), 1);
}
