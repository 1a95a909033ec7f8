//! The table `dispatch`: rules that add to the built-in ones of dispatch, or replace them.

use ostler_engine::dispatch::DispatchRules;
use toml::Spanned;

use super::{ConfigError, Source};

/// Adds the rules of a file to those of the files before it.
pub(super) fn add(
    files: &mut Vec<String>,
    source: &Source,
    table: Spanned<toml::Table>,
) -> Result<(), ConfigError> {
    let span = table.span();
    files.push(table.into_inner().to_string());
    match DispatchRules::with_files(files) {
        Ok(_) => Ok(()),
        Err(error) => {
            let message = error.message.lines().last().unwrap_or_default().to_owned();
            Err(source.wrong(span, format!("`dispatch`: {message}"), None))
        }
    }
}
