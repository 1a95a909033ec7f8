//! `cargo xtask demo`: builds the page and the `ostler` binary, and becomes its demonstration.

use crate::{
    error::Error,
    page,
    process::{cargo, executable, program, replace},
};

/// Arguments are handed on: `--full`, `--auto`, `--keep`, `--dir`, `--lang`.
pub(crate) fn run(arguments: &[&str]) -> Result<(), Error> {
    match page::missing() {
        None => page::build()?,
        Some(reason) => eprintln!("The page is left out: {reason}."),
    }
    eprintln!("Building ostler …");
    let ostler = executable(cargo().args(["build", "--quiet", "--package", "ostler"]), "ostler")?;
    // Ctrl-C is for the demonstration alone, which has things to put away.
    Err(replace(program(ostler).arg("demo").args(arguments)))
}
