//! What may be a key is never shown, wherever a person put it: neither in a message nor in the lines quoted below it.

use super::node::Span;

/// How keys of well-known services begin.
const BEGINNINGS: &[&str] = &[
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "ASIA",
    "AIza",
    "hf_",
    "eyJ",
    "gsk_",
    "pcsk_",
];
/// The longest text that is quoted in a message, in characters.
const QUOTED: usize = 60;

/// Whether a text looks like a key itself rather than a name.
#[must_use]
pub fn looks_like_key(text: &str) -> bool {
    let known = BEGINNINGS.iter().any(|beginning| text.starts_with(beginning)) && text.len() >= 8;
    known || text.split(['-', '_', '.']).any(looks_drawn)
}

/// Whether a word looks like drawn at random: long, with capital and small letters and digits.
fn looks_drawn(word: &str) -> bool {
    let any = |test: fn(&u8) -> bool| word.as_bytes().iter().any(test);
    word.len() >= 20 && any(u8::is_ascii_digit) && any(u8::is_ascii_lowercase) && any(u8::is_ascii_uppercase)
}

/// A text between backticks, fit for a message: cut, without control characters, and hidden where it may be a key.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut shown: String = cleaned(&hide_keys(text)).chars().take(QUOTED).collect();
    if text.chars().count() > QUOTED {
        shown.push('…');
    }
    format!("`{}`", shown.replace('`', "'"))
}

/// A text fit for a message: without control characters, and with what may be a key overwritten.
#[must_use]
pub fn hidden_keys(text: &str) -> String {
    cleaned(&hide_keys(text))
}

/// A text with control characters and characters that turn the reading direction replaced by `?`.
#[must_use]
pub fn cleaned(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    text.chars().map(|c| if c.is_control() || turns(c) { '?' } else { c }).collect()
}

/// The source with these places and everything that looks like a key overwritten, byte by byte, so that spans still fit.
#[must_use]
pub fn mask_source(source: &str, hidden: &[Span]) -> String {
    let mut bytes = hide_keys(source).into_bytes();
    for span in hidden {
        let end = span.end.min(bytes.len());
        for byte in bytes.get_mut(span.start.min(end)..end).into_iter().flatten() {
            if *byte != b'\n' && *byte != b'\r' {
                *byte = b'*';
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Overwrites each run of key characters that looks like a key.
fn hide_keys(text: &str) -> String {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '=');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let run = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(run);
        out.push_str(&if looks_like_key(word) { "*".repeat(word.len()) } else { word.to_owned() });
        let gap = after.find(part).unwrap_or(after.len());
        out.push_str(&after[..gap]);
        rest = &after[gap..];
    }
    out
}
