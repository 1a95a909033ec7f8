//! What somebody means who announces a file. People put words behind a path, and marks around it.

/// What parts a path from the words behind it.
const ENDS: [&str; 8] = [" - ", " (", ": ", " — ", " – ", ", ", " → ", " -> "];

/// The paths that an announcement may mean, the likeliest first. `directory` is where whoever announces works.
pub(super) fn readings(said: &str, directory: &str) -> Vec<String> {
    let short = ENDS.iter().filter_map(|end| said.split_once(end)).map(|(path, _)| path);
    let mut readings = Vec::new();
    for reading in [said].into_iter().chain(short) {
        let reading = inside(unmarked(reading), directory);
        let bare = reading.trim_end_matches(['.', ',', ';', ':']);
        // `src/a.rs:12` is a place in a file.
        let place = bare.rsplit_once(':').filter(|(_, line)| line.bytes().all(|byte| byte.is_ascii_digit()));
        for reading in [reading.as_str(), bare].into_iter().chain(place.map(|(path, _)| path)) {
            if !reading.is_empty() && !readings.iter().any(|known| known == reading) {
                readings.push(reading.to_owned());
            }
        }
    }
    readings
}

/// Whether a path stays in the directory.
pub(super) fn is_inside(path: &str) -> bool {
    !path.starts_with('/') && path.split('/').all(|part| part != "..")
}

/// A path without the marks of Markdown: emphasis, code, and a link, of which the target counts.
fn unmarked(said: &str) -> &str {
    let said = said.trim();
    let target = said.strip_prefix('[').and_then(|rest| rest.split_once("](")?.1.split_once(')'));
    let said = target.map_or(said, |(target, _)| target);
    let mut path = said.trim_matches(['`', '"', '\'']);
    while let Some(inner) = path.strip_prefix("**").and_then(|it| it.strip_suffix("**")) {
        path = inner.trim_matches('`');
    }
    path.trim()
}

/// A path from the directory on, written the one way.
fn inside(path: &str, directory: &str) -> String {
    let rest = path.strip_prefix(directory).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let is_absolute = path.starts_with('/') && rest.is_none();
    let parts = rest.unwrap_or(path).split('/').filter(|part| !part.is_empty() && *part != ".");
    let joined = parts.collect::<Vec<_>>().join("/");
    if is_absolute { format!("/{joined}") } else { joined }
}
