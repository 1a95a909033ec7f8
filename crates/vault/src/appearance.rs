//! Decides whether a value looks like a secret, for values that nobody has marked as secret or plain.
//!
//! The rule is a pure function of the variable's name and its value. A value looks like a secret if one of these holds:
//!
//! | rule | example |
//! |---|---|
//! | the last word of the name is PASSWORD, PASSWD, PASSPHRASE, SECRET, TOKEN, KEY or CREDENTIALS | `DB_PASSWORD` |
//! | the value contains a private key in PEM form | `-----BEGIN PRIVATE KEY-----` |
//! | the value is a URL with a password | `postgres://app:hunter2@db/app` |
//! | the value begins with a known token prefix | `sk-`, `ghp_`, `AKIA` |
//! | the value is 8 to 64 characters without spaces, of all four kinds: small, capital, digit, punctuation | `Tr0ub4dor&3` |
//! | a part of at least 16 characters mixes letters and digits, or cases, like a random word | 32 hexadecimal digits |
//!
//! A mixed part has at least 3 bits of entropy per character and changes its kind of character at least once in six.

/// Last words of a name whose value counts whatever it looks like.
const NAMES: [&str; 7] = ["PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "KEY", "CREDENTIALS"];

/// Beginnings of tokens that services give out.
const PREFIXES: [&str; 20] = [
    "sk-",
    "sk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
    "npm_",
    "whsec_",
    "shpat_",
    "SG.",
];

/// The shortest rest of a token after its prefix.
const PREFIXED_CHARS_MIN: usize = 8;

/// The lengths of a password that is known by its four kinds of characters.
const PASSWORD_CHARS: std::ops::RangeInclusive<usize> = 8..=64;

/// The shortest part that can be known by its mixture.
const MIXED_CHARS_MIN: usize = 16;

/// The least entropy of a mixed part, in bits per character.
const ENTROPY_MIN: f64 = 3.0;

/// A mixed part changes its kind of character at least once in so many.
const CHANGE_EVERY: usize = 6;

/// Says whether a value looks like a secret; the module's documentation has the rule.
pub fn looks_secret(name: &str, value: &str) -> bool {
    let value = value.trim();
    if value.is_empty() {
        return false;
    }
    let last = name.rsplit('_').next().unwrap_or_default().to_ascii_uppercase();
    NAMES.contains(&last.as_str())
        || value.contains("PRIVATE KEY-----")
        || has_url_password(value)
        || has_token_prefix(value)
        || is_password(value)
        || value.split(|c| !is_token_char(c)).any(is_mixed)
}

/// `scheme://user:password@host`, also without a user.
fn has_url_password(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((user, _)) = authority.rsplit_once('@') else { return false };
    user.split_once(':').is_some_and(|(_, password)| !password.is_empty())
}

fn has_token_prefix(value: &str) -> bool {
    let rest = PREFIXES.iter().find_map(|prefix| value.strip_prefix(prefix));
    rest.is_some_and(|rest| {
        let is_one_word = rest.chars().all(|c| is_token_char(c) || c == '.');
        let is_long = rest.len() >= MIXED_CHARS_MIN;
        let has_digit = rest.bytes().any(|byte| byte.is_ascii_digit());
        is_one_word && rest.len() >= PREFIXED_CHARS_MIN && (is_long || has_digit)
    })
}

fn is_password(value: &str) -> bool {
    let has = |is: fn(&char) -> bool| value.chars().any(|c| is(&c));
    PASSWORD_CHARS.contains(&value.chars().count())
        && !value.contains("://")
        && !value.contains(char::is_whitespace)
        && has(char::is_ascii_lowercase)
        && has(char::is_ascii_uppercase)
        && has(char::is_ascii_digit)
        && value.contains(['!', '#', '$', '%', '&', '*', '?', '@', '^', '~'])
}

/// Characters of tokens, base64 and identifiers.
fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '/' | '=')
}

fn is_mixed(part: &str) -> bool {
    let letters: Vec<u8> = part.bytes().filter(u8::is_ascii_alphanumeric).collect();
    if letters.len() < MIXED_CHARS_MIN || entropy(&letters) < ENTROPY_MIN {
        return false;
    }
    // A capital letter that begins a word is no change: `myProductionServer` is not random.
    let kind = |byte: u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    let changes = letters.windows(2).filter(|pair| match (kind(pair[0]), kind(pair[1])) {
        ((false, true), (false, false)) => false,
        (before, after) => before != after,
    });
    changes.count() * CHANGE_EVERY >= letters.len()
}

/// Shannon's entropy of the characters, in bits per character.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for &byte in bytes {
        counts[usize::from(byte)] += 1;
    }
    let length = f64::from(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    let share = |&count: &u32| {
        let share = f64::from(count) / length;
        -share * share.log2()
    };
    counts.iter().filter(|&&count| count > 0).map(share).sum()
}

#[cfg(test)]
mod tests {
    use super::looks_secret;

    /// Values that must stay readable: words, numbers, addresses and paths of everyday configuration.
    const PLAIN: &[&str] = &[
        "",
        "production",
        "development",
        "3000",
        "true",
        "http://localhost:8080",
        "us-east-1",
        "postgres://localhost:5432/app",
        "https://api.example.com/v1/customers?limit=100",
        "redis://cache@redis.internal:6379/0",
        "/usr/local/lib/python3.11/site-packages",
        "info,hyper=warn,sqlx=error",
        "2026-11-18T00:59:58Z",
        "node:20-alpine3.19",
        "feature-login-2024-page",
        "myCompanyProductionDatabaseServer1",
        "support@example.com",
        "1234567890123456",
        "aaaaaaaaaaaaaaaaaaaaaaaa",
        "a1a1a1a1a1a1a1a1a1a1",
        "Europe/Berlin",
        "The quick brown fox jumps over 13 lazy dogs",
        "sk-learn",
    ];

    /// Values that must be masked.
    const SECRET: &[&str] = &[
        "sk-proj-4f9aQ2LmXw81",
        "sk_live_51H8xYzAbCdEfGh",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "AKIAIOSFODNN7EXAMPLE",
        "d41d8cd98f00b204e9800998ecf8427e",
        "550e8400-e29b-41d4-a716-446655440000",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "postgres://app:hunter2@db.internal/app",
        "redis://:hunter2@cache:6379",
        "https://hooks.slack.com/services/T0A1B2C3D/B4E5F6G7H/x1Y2z3A4b5C6d7E8f9G0",
        "Tr0ub4dor&3",
        "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----",
    ];

    #[test]
    fn everyday_values_stay_readable() {
        for value in PLAIN {
            assert!(!looks_secret("SETTING", value), "{value}");
        }
    }

    #[test]
    fn what_services_give_out_counts() {
        for value in SECRET {
            assert!(looks_secret("SETTING", value), "{value}");
        }
    }

    #[test]
    fn a_name_can_say_it() {
        assert!(looks_secret("DB_PASSWORD", "hunter2"));
        assert!(looks_secret("github_token", "hunter2"));
        assert!(!looks_secret("TOKEN_URL", "https://example.com/token"));
        assert!(!looks_secret("NODE_ENV", "production"));
        assert!(!looks_secret("DB_PASSWORD", " "), "nothing is no secret");
    }
}
