//! `cargo xtask dist`: one binary, as static as possible, in `dist/`.

use std::{env, fs, path::Path};

use crate::{
    error::Error,
    page,
    process::{cargo, executable, line, output, program, root, start_error},
};

pub(crate) fn run() -> Result<(), Error> {
    page::run()?;
    let host = host()?;
    println!("Building ostler for {host} with the C library linked in …");
    // With an explicit target the flags reach only what runs there, not build scripts and macros.
    let flags = format!("{} -C target-feature=+crt-static", env::var("RUSTFLAGS").unwrap_or_default());
    let mut build = cargo();
    build.args(["build", "--release", "--locked", "--package", "ostler", "--target", &host]);
    build.env("RUSTFLAGS", flags.trim());
    let binary = executable(&mut build, "ostler")?;

    let directory = root().join("dist");
    fs::create_dir_all(&directory).map_err(|source| Error::Write { path: directory.clone(), source })?;
    let path = directory.join("ostler");
    let size = fs::copy(&binary, &path).map_err(|source| Error::Write { path: path.clone(), source })?;
    println!("dist/ostler  {} KiB  {}", size / 1024, linkage(&path)?);
    let pages = directory.join("man");
    let mut man = program(&path);
    output(man.arg("man").arg("--directory").arg(&pages))?;
    println!("dist/man     the manual pages");
    Ok(())
}

/// The target triple of this machine.
fn host() -> Result<String, Error> {
    let mut rustc = program("rustc");
    rustc.arg("-vV");
    output(&mut rustc)?
        .lines()
        .find_map(|line| line.strip_prefix("host: ").map(str::to_owned))
        .ok_or_else(|| Error::Output { command: line(&rustc), lacks: "host line".into() })
}

/// What `ldd` says of the binary. It fails for some static binaries, and says so on stderr.
fn linkage(path: &Path) -> Result<String, Error> {
    let mut ldd = program("ldd");
    let output = ldd.arg(path).output().map_err(|source| start_error(&ldd, source))?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    Ok(said.lines().map(str::trim).collect::<Vec<_>>().join("; "))
}
