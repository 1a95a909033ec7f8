//! `cargo xtask demo`: builds the `ostler` binary and becomes its demonstration.

use crate::{
    error::Error,
    process::{cargo, executable, program, replace},
};

/// Arguments are handed on: `--auto`, `--keep`, `--dir`, `--lang`.
pub(crate) fn run(arguments: &[&str]) -> Result<(), Error> {
    eprintln!("Building ostler …");
    let ostler = executable(cargo().args(["build", "--quiet", "--package", "ostler"]), "ostler")?;
    // Ctrl-C is for the demonstration alone, which has things to put away.
    Err(replace(program(ostler).arg("demo").args(arguments)))
}
