//! The folded text of every Markdown file of a tree, current at every search.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fmt, io, mem,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use memchr::memchr;
use ostler_files::{UnusableFile, beneath::HeldDirectory};
use rustix::fs::{FileType, Stat};

use crate::{
    file_stamp::FileStamp,
    folding::fold,
    query::MemoryQuery,
    ranking::points,
    tree::{
        DIRECTORIES_MAX, ENTRIES_MAX, FILE_BYTES_MAX, FILES_MAX, TEXT_BYTES_MAX, is_entered, is_markdown,
        tells_changes,
    },
    watch::{ChangeWatch, Changes},
};

/// The index of a tree.
#[derive(Debug)]
pub struct MemoryIndex {
    root: HeldDirectory,
    files: BTreeMap<PathBuf, IndexedFile>,
    /// Files with a second name: a change under that one brings no event.
    shared: BTreeSet<PathBuf>,
    /// None where changes bring no events; then every search looks at every file.
    watch: Option<ChangeWatch>,
    text_bytes: u64,
    /// Whether there are more files or directories than are looked at.
    is_cut: bool,
    /// The time of the last look.
    now_ms: u64,
}

#[derive(Debug)]
struct IndexedFile {
    stamp: FileStamp,
    /// Whether the next change is sure to change the stamp.
    is_settled: bool,
    name: Box<[u8]>,
    content: FileContent,
}

#[derive(Debug)]
enum FileContent {
    Text(Box<[u8]>),
    LeftOut,
}

/// A file that holds every word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryHit<'a> {
    /// Its path, as seen from the root.
    pub path: &'a Path,
    /// How well it fits.
    pub points: u32,
    /// Its length.
    pub bytes: u64,
    /// When it was changed last, in UTC milliseconds.
    pub modified_ms: u64,
}

/// Files that are not searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Files that are too long, are no text or cannot be read.
    pub files: u64,
    /// Whether there are more files or directories than are looked at.
    pub is_cut: bool,
}

/// The reason why a tree cannot be read.
#[derive(Debug)]
pub struct IndexError {
    /// The part of the tree.
    pub path: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read the directory '{}': {}", self.path.display(), self.source)
    }
}

impl std::error::Error for IndexError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl MemoryIndex {
    /// Reads a tree. The time decides whether a file was changed too lately to be known by its facts.
    pub fn read(root: HeldDirectory, now_ms: u64) -> Result<MemoryIndex, IndexError> {
        let mut index = MemoryIndex {
            root,
            files: BTreeMap::new(),
            shared: BTreeSet::new(),
            watch: None,
            text_bytes: 0,
            is_cut: false,
            now_ms,
        };
        index.read_everything()?;
        Ok(index)
    }

    /// Whether this is the index of a directory with these facts.
    pub fn is_of(&self, directory: &Stat) -> bool {
        self.root
            .stat_self()
            .is_ok_and(|own| own.st_dev == directory.st_dev && own.st_ino == directory.st_ino)
    }

    /// Takes in every change until now.
    pub fn refresh(&mut self, now_ms: u64) -> Result<(), IndexError> {
        self.now_ms = now_ms;
        let changes = self.watch.as_ref().map_or(Changes::Unknown, ChangeWatch::drain);
        match changes {
            Changes::Unknown => self.read_everything(),
            Changes::Names(mut names) => {
                names.extend(self.shared.iter().cloned());
                self.take_in(&names)
            }
        }
    }

    /// The files that hold every word, best first.
    pub fn search(&self, query: &MemoryQuery) -> Vec<MemoryHit<'_>> {
        let mut hits: Vec<MemoryHit<'_>> = Vec::new();
        for (path, file) in &self.files {
            let FileContent::Text(text) = &file.content else { continue };
            if let Some(points) = points(query, &file.name, text) {
                let (bytes, modified_ms) = (file.stamp.bytes(), file.stamp.modified_ms());
                hits.push(MemoryHit { path, points, bytes, modified_ms });
            }
        }
        // They come in the order of their paths, and stay so where nothing else tells them apart.
        hits.sort_by_key(|hit| Reverse((hit.points, hit.modified_ms)));
        hits
    }

    /// The text of a file as it is now, at most [`FILE_BYTES_MAX`] of it.
    pub fn text(&self, path: &Path) -> io::Result<String> {
        let (parent, name) = split(path)?;
        let bytes = self.root.descend(parent)?.read(name, FILE_BYTES_MAX)?;
        Ok(String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    /// How many files there are, also those that are left out.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// How much text is held.
    pub fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// The files that are not searched.
    pub fn left_out(&self) -> LeftOut {
        let is_left_out = |file: &&IndexedFile| matches!(file.content, FileContent::LeftOut);
        LeftOut { files: self.files.values().filter(is_left_out).count() as u64, is_cut: self.is_cut }
    }

    /// Whether events tell of changes.
    pub fn is_watched(&self) -> bool {
        self.watch.is_some()
    }

    fn read_everything(&mut self) -> Result<(), IndexError> {
        // Where not every directory can be watched, none is: the next search looks at everything again.
        self.watch = tells_changes(&self.root).then(ChangeWatch::new).and_then(Result::ok);
        let known = mem::take(&mut self.files);
        self.shared.clear();
        self.text_bytes = 0;
        self.is_cut = false;
        self.read_directory(PathBuf::new(), known)
    }

    /// Reads a directory and everything below it. Files that are known and have not changed are not read again.
    fn read_directory(
        &mut self,
        path: PathBuf,
        mut known: BTreeMap<PathBuf, IndexedFile>,
    ) -> Result<(), IndexError> {
        let is_root = path.as_os_str().is_empty();
        let mut open = vec![path];
        let mut directories = 0;
        while let Some(path) = open.pop() {
            directories += 1;
            if directories > DIRECTORIES_MAX {
                self.is_cut = true;
                return Ok(());
            }
            let entries = self.enter(&path);
            let (directory, entries) = match entries {
                Ok(entries) => entries,
                Err(source) if is_root && directories == 1 => return Err(IndexError { path, source }),
                // It went meanwhile, became a link, or cannot be read: then its files cannot be either.
                Err(_) => continue,
            };
            for entry in entries {
                let path = path.join(&entry.name);
                match entry.kind {
                    FileType::Directory if is_entered(&entry.name, &path) => open.push(path),
                    FileType::RegularFile if is_markdown(&entry.name) => {
                        let known = known.remove(&path);
                        self.read_file(&directory, path, known);
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn enter(
        &mut self,
        path: &Path,
    ) -> io::Result<(HeldDirectory, Vec<ostler_files::beneath::DirectoryEntry>)> {
        let directory = self.root.descend(path)?;
        if let Some(watch) = &mut self.watch
            && watch.add(&directory, path).is_err()
        {
            self.watch = None;
        }
        let entries = directory.entries(ENTRIES_MAX)?;
        self.is_cut |= entries.len() == ENTRIES_MAX;
        Ok((directory, entries))
    }

    /// Looks at names again to which something happened.
    fn take_in(&mut self, names: &BTreeSet<PathBuf>) -> Result<(), IndexError> {
        // All are forgotten before any is read: a directory that was moved is still watched under its old name.
        for path in names {
            self.forget(path);
        }
        for path in names {
            let Ok((parent, name)) = split(path) else { continue };
            let Ok(directory) = self.root.descend(parent) else { continue };
            let Ok(stat) = directory.stat(name) else { continue };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory if is_entered(name, path) => {
                    self.read_directory(path.clone(), BTreeMap::new())?;
                }
                FileType::RegularFile if is_markdown(name) => {
                    self.read_file(&directory, path.clone(), None);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn forget(&mut self, path: &Path) {
        if let Some(watch) = &mut self.watch {
            watch.forget(path);
        }
        let below = self.files.range(path.to_owned()..).take_while(|(it, _)| it.starts_with(path));
        let below: Vec<PathBuf> = below.map(|(path, _)| path.clone()).collect();
        for path in below {
            self.drop_file(&path);
        }
    }

    fn drop_file(&mut self, path: &Path) {
        if let Some(IndexedFile { content: FileContent::Text(text), .. }) = self.files.remove(path) {
            self.text_bytes -= text.len() as u64;
        }
        self.shared.remove(path);
    }

    /// Takes in one file. What cannot be searched is kept by its name, so that it is counted.
    fn read_file(&mut self, directory: &HeldDirectory, path: PathBuf, known: Option<IndexedFile>) {
        let Some(name) = path.file_name().map(OsStr::to_owned) else { return };
        let Ok(stat) = directory.stat(&name) else { return };
        let stamp = FileStamp::of_stat(&stat);
        self.drop_file(&path);
        if self.files.len() >= FILES_MAX {
            self.is_cut = true;
            return;
        }
        let unchanged = known.filter(|known| known.is_settled && known.stamp == stamp);
        let file = unchanged.unwrap_or_else(|| {
            let (stamp, content) = read_text(directory, &name).unwrap_or((stamp, FileContent::LeftOut));
            let is_settled = stamp.is_settled(self.now_ms);
            IndexedFile { stamp, is_settled, name: fold(path.as_os_str().as_bytes()).into(), content }
        });
        self.insert(path, file);
    }

    fn insert(&mut self, path: PathBuf, mut file: IndexedFile) {
        if let FileContent::Text(text) = &file.content {
            let bytes = text.len() as u64;
            if self.text_bytes + bytes > TEXT_BYTES_MAX {
                file.content = FileContent::LeftOut;
                file.is_settled = false;
            } else {
                self.text_bytes += bytes;
            }
        }
        if file.stamp.names > 1 {
            self.shared.insert(path.clone());
        }
        self.files.insert(path, file);
    }
}

/// The folded text of a file, if it is text and not too long.
fn read_text(directory: &HeldDirectory, name: &OsStr) -> io::Result<(FileStamp, FileContent)> {
    let file = directory.open_file(name)?;
    let stamp = FileStamp::of(&file.metadata()?);
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, FILE_BYTES_MAX + 1), &mut bytes)?;
    let is_text = bytes.len() as u64 <= FILE_BYTES_MAX && memchr(0, &bytes).is_none();
    let content = if is_text { FileContent::Text(fold(&bytes).into()) } else { FileContent::LeftOut };
    Ok((stamp, content))
}

/// The directory and the name of a path.
fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    path.parent().zip(path.file_name()).ok_or_else(|| UnusableFile::Directory.into())
}
