//! Puts the page into the server: what stands in `web/dist`, with its compressed form where there is one. It builds
//! nothing itself; without a page, the server says how one is made.

use std::{
    env, fmt, fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

/// What the compressed form of a file is called.
const BROTLI: &str = "br";

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let web = variable("CARGO_MANIFEST_DIR")?.join("../../web");
    let dist = web.join("dist");
    println!("cargo::rerun-if-changed=build.rs");
    // A path that is not there would have this run each time, and everything behind it be compiled anew.
    if let Some(watched) = [&dist, &web].into_iter().find(|it| it.is_dir()) {
        println!("cargo::rerun-if-changed={}", watched.display());
    }
    let mut files = Vec::new();
    if dist.join("index.html").is_file() {
        collect(&dist.canonicalize()?, "", &mut files)?;
    }
    // By their paths, for a search.
    files.sort();
    let table: String = files.iter().map(ToString::to_string).collect();
    #[expect(clippy::disallowed_methods, reason = "a build that is interrupted is done again")]
    fs::write(variable("OUT_DIR")?.join("page.rs"), format!("&[\n{table}]"))
}

/// A file of the page.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct File {
    /// As it stands in an address.
    path: String,
    at: PathBuf,
    brotli: Option<PathBuf>,
    tag: u64,
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let at = entry?.path();
        let Some(name) = at.file_name().and_then(|name| name.to_str()) else { continue };
        let path = format!("{prefix}/{name}");
        if at.is_dir() {
            collect(&at, &path, files)?;
        } else if at.extension().is_none_or(|extension| extension != BROTLI) {
            let mut hasher = DefaultHasher::new();
            fs::read(&at)?.hash(&mut hasher);
            let brotli = Some(PathBuf::from(format!("{}.{BROTLI}", at.display()))).filter(|it| it.is_file());
            files.push(File { path, brotli, tag: hasher.finish(), at });
        }
    }
    Ok(())
}

/// As it stands in the table.
impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = |at: &PathBuf| format!("include_bytes!({:?})", at.display().to_string());
        let brotli = self.brotli.as_ref().map_or("None".to_owned(), |at| format!("Some({})", bytes(at)));
        let bytes = bytes(&self.at);
        let (path, tag) = (&self.path, self.tag);
        writeln!(
            f,
            "    File {{ path: {path:?}, tag: \"\\\"{tag:016x}\\\"\", bytes: {bytes}, brotli: {brotli} }},"
        )
    }
}
