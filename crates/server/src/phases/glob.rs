//! Globs for paths in a repository: `*` and `?` within a name, `**` for any number of folders, `{a,b}` for either.

/// The longest glob.
const CHARS_MAX: usize = 300;

/// The most that braces may expand to.
const EXPANDED_MAX: usize = 64;

/// Why a text is no glob.
pub(crate) fn problem(glob: &str) -> Option<&'static str> {
    if glob.is_empty() || glob.chars().count() > CHARS_MAX {
        Some("it is empty or too long")
    } else if glob.starts_with('/') || glob.split('/').any(|part| part == "..") {
        Some("it does not lie in the repository")
    } else if expand(glob).len() > EXPANDED_MAX {
        Some("its braces stand for too much")
    } else {
        None
    }
}

/// Whether a path is meant.
pub(crate) fn matches(glob: &str, path: &str) -> bool {
    let path: Vec<&str> = path.split('/').collect();
    expand(glob).iter().any(|glob| {
        let glob: Vec<&str> = glob.split('/').collect();
        folders(&glob, &path)
    })
}

/// Whether a glob names one path and no other.
pub(crate) fn is_plain(glob: &str) -> bool {
    !glob.contains(['*', '?', '{'])
}

/// Which beginnings of the path the glob so far can mean, part by part: the cost is the product of the lengths.
fn folders(glob: &[&str], path: &[&str]) -> bool {
    // Behind the last `**` there is at least a name.
    let name = if glob.last() == Some(&"**") { ["*"].as_slice() } else { &[] };
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for part in glob.iter().chain(name) {
        let mut next = vec![false; path.len() + 1];
        if *part == "**" {
            let mut any = false;
            for (at, it) in next.iter_mut().enumerate() {
                any |= reached[at];
                *it = any;
            }
        } else {
            let part: Vec<char> = part.chars().collect();
            for (at, name) in path.iter().enumerate() {
                let name: Vec<char> = name.chars().collect();
                next[at + 1] = reached[at] && is_name(&part, &name);
            }
        }
        reached = next;
    }
    reached[path.len()]
}

/// Goes back to the last star at most, so that the cost is bounded by the product of the lengths.
fn is_name(part: &[char], name: &[char]) -> bool {
    let (mut at, mut here, mut star) = (0, 0, None);
    while here < name.len() {
        match part.get(at) {
            Some('*') => {
                star = Some((at, here));
                at += 1;
            }
            Some(&it) if it == '?' || it == name[here] => {
                at += 1;
                here += 1;
            }
            _ => match star {
                Some((of, from)) => {
                    at = of + 1;
                    here = from + 1;
                    star = Some((of, from + 1));
                }
                None => return false,
            },
        }
    }
    part[at..].iter().all(|it| *it == '*')
}

fn expand(glob: &str) -> Vec<String> {
    let Some((before, rest)) = glob.split_once('{') else { return vec![glob.to_owned()] };
    let Some((inside, after)) = rest.split_once('}') else { return vec![glob.to_owned()] };
    let mut all = Vec::new();
    for part in inside.split(',').take(EXPANDED_MAX) {
        for tail in expand(after) {
            all.push(format!("{before}{part}{tail}"));
            if all.len() > EXPANDED_MAX {
                return all;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_folders_and_braces() {
        for (glob, path, expected) in [
            ("docs/planning/*.md", "docs/planning/01_idea.md", true),
            ("docs/planning/*.md", "docs/planning/more/01_idea.md", false),
            ("src/**", "src/a.rs", true),
            ("src/**", "src/a/b/c.rs", true),
            ("src/**", "srcs/a.rs", false),
            ("**/*_test.go", "a_test.go", true),
            ("**/*_test.go", "pkg/deep/a_test.go", true),
            ("**/test/**", "test", false),
            ("**/test*/**", "x/tests/a.py", true),
            ("a?c.{md,txt}", "abc.txt", true),
            ("a?c.{md,txt}", "abbc.txt", false),
            ("*", "안녕.md", true),
            ("**/a/**/b", "a/b", true),
            ("**/a/**/b", "x/a/y/z/b", true),
            ("**/a/**/b", "x/a/y/z/c", false),
            ("*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(matches(glob, path), expected, "{glob} {path}");
        }
        assert!(is_plain("docs/a.md") && !is_plain("docs/*.md"));
        assert!(problem("../x").is_some() && problem("/x").is_some() && problem("").is_some());
        assert!(problem("{a,b}".repeat(20).as_str()).is_some());
        assert_eq!(problem("**/{a,b}/*.md"), None);
    }
}
