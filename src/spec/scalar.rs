//! Scalars to values: the one place that says what counts as a number, a percentage, a word, a text.

use super::mask::{looks_like_key, quoted};
use super::node::Scalar;
use super::problem::Code;
use super::surface::Text;
use crate::model::percent::PercentError;
use crate::model::{Confidence, PercentagePoints};

/// The longest text a spec may hold in one value, in bytes.
pub const MAX_TEXT: usize = 8_192;

/// Why a scalar is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The code.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Whether the text itself must not be shown.
    pub hidden: bool,
}

impl Fault {
    fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: None, hidden: false }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    const fn hidden(mut self) -> Self {
        self.hidden = true;
        self
    }
}

/// What a scalar is read as, or why it is not.
pub type Read<T> = Result<T, Fault>;

fn not_finite(scalar: &Scalar) -> bool {
    let bare = scalar.text.trim_start_matches(['+', '-', '.']).to_ascii_lowercase();
    scalar.plain && matches!(bare.as_str(), "nan" | "inf" | "infinity")
}

/// The text of a number, or why it is none: quotes, NaN, exponents, other bases.
fn number<'a>(scalar: &'a Scalar, wanted: &str) -> Read<&'a str> {
    let shown = quoted(&scalar.text);
    if not_finite(scalar) {
        let fault = Fault::new(Code::NotFinite, format!("{shown} is not a finite number"));
        return Err(fault.help(format!("write {wanted} in decimal digits")));
    }
    if !scalar.plain {
        let fault = Fault::new(Code::WrongType, format!("expected {wanted}, found the text {shown}"));
        return Err(fault.help("remove the quotes"));
    }
    Ok(&scalar.text)
}

/// Digits only, without leading zeros.
fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'))
}

/// An integer within limits.
///
/// # Errors
/// Anything but plain decimal digits, or a number outside the limits.
pub fn integer(scalar: &Scalar, min: u64, max: u64) -> Read<u64> {
    let text = number(scalar, "an integer")?;
    let bare = text.strip_prefix('-').unwrap_or(text);
    if !digits(bare) {
        let fault = Fault::new(Code::WrongType, format!("expected an integer, found {}", quoted(text)));
        return Err(fault.help("write decimal digits only, without sign, exponent or separators"));
    }
    match text.parse::<u64>() {
        Ok(value) if (min..=max).contains(&value) => Ok(value),
        _ if min == max => {
            let fault = Fault::new(Code::OutOfRange, format!("{} is not known here", quoted(text)));
            Err(fault.help(format!("write `{min}`: there is no other")))
        }
        _ => Err(out_of_range(text, &format!("from {min} to {max}"))),
    }
}

fn out_of_range(text: &str, range: &str) -> Fault {
    Fault::new(Code::OutOfRange, format!("{} is out of range", quoted(text)))
        .help(format!("allowed is a value {range}"))
}

/// A decimal number from 0 to `max`, in thousandths.
///
/// # Errors
/// Anything but plain decimal digits with at most three behind the point, or a number above the limit.
pub fn decimal(scalar: &Scalar, max: u64) -> Read<u32> {
    let text = number(scalar, "a number")?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let fits = fraction.len() <= 3 && !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole.strip_prefix('-').unwrap_or(whole)) || !fits {
        let fault = Fault::new(Code::WrongType, format!("expected a decimal number, found {}", quoted(text)));
        return Err(fault.help("write it like `0.7`, with at most three digits behind the point"));
    }
    let milli = format!("{whole}{fraction:0<3}").parse::<u32>().ok();
    milli
        .filter(|milli| u64::from(*milli) <= max.saturating_mul(1_000))
        .ok_or_else(|| out_of_range(text, &format!("from 0 to {max}")))
}

/// Percentage points.
///
/// # Errors
/// Another unit, not a plain decimal, or outside -100pp to 100pp.
pub fn points(scalar: &Scalar) -> Read<PercentagePoints> {
    percentage(scalar, scalar.text.trim(), "3pp")
}

/// A share from 0 to 100 percent, with either unit.
///
/// # Errors
/// As [`points`], and negative shares.
pub fn share(scalar: &Scalar) -> Read<PercentagePoints> {
    let text = scalar.text.trim();
    let in_points = text.strip_suffix('%').map_or_else(|| text.to_owned(), |number| format!("{}pp", number.trim()));
    let value = percentage(scalar, &in_points, "1pp")?;
    if value.units() < 0 { Err(out_of_range(text, "from 0pp to 100pp")) } else { Ok(value) }
}

fn percentage(scalar: &Scalar, text: &str, example: &str) -> Read<PercentagePoints> {
    let bare = Scalar { text: text.trim_end_matches("pp").trim().to_owned(), plain: true };
    if not_finite(scalar) || not_finite(&bare) {
        return Err(Fault::new(Code::NotFinite, format!("{} is not a finite number", quoted(&scalar.text))));
    }
    text.parse::<PercentagePoints>().map_err(|error| match error {
        PercentError::OutOfRange { range } => out_of_range(&scalar.text, range),
        PercentError::Malformed { .. } => {
            let shown = quoted(&scalar.text);
            let fault = Fault::new(Code::WrongUnit, format!("expected percentage points, found {shown}"));
            fault
                .help(format!("write a decimal number with at most six decimals followed by `pp`, such as `{example}`"))
        }
    })
}

/// A confidence level.
///
/// # Errors
/// Not a plain decimal, or outside 50% to 100%.
pub fn confidence(scalar: &Scalar) -> Read<Confidence> {
    if not_finite(scalar) {
        return Err(Fault::new(Code::NotFinite, format!("{} is not a finite number", quoted(&scalar.text))));
    }
    scalar.text.parse::<Confidence>().map_err(|error| match error {
        PercentError::OutOfRange { .. } if scalar.text.starts_with("0.") => {
            let fault = Fault::new(Code::OutOfRange, format!("{} is below one percent", quoted(&scalar.text)));
            fault.help("write it in percent, such as `95` or `95%`")
        }
        PercentError::OutOfRange { range } => out_of_range(&scalar.text, range),
        PercentError::Malformed { .. } => {
            let shown = quoted(&scalar.text);
            let fault = Fault::new(Code::WrongUnit, format!("expected a confidence level, found {shown}"));
            fault.help("write it in percent with at most six decimals, such as `95` or `95%`")
        }
    })
}

/// A truth value.
///
/// # Errors
/// Anything but a plain `true` or `false`.
pub fn flag(scalar: &Scalar) -> Read<bool> {
    match (scalar.plain, scalar.text.as_str()) {
        (true, "true") => Ok(true),
        (true, "false") => Ok(false),
        _ => {
            let shown = quoted(&scalar.text);
            Err(Fault::new(Code::WrongType, format!("expected `true` or `false`, found {shown}"))
                .help("write `true` or `false`, in small letters and without quotes"))
        }
    }
}

/// One of these words.
///
/// # Errors
/// Any other text.
pub fn word(scalar: &Scalar, words: &'static [&'static str]) -> Read<&'static str> {
    words.iter().copied().find(|word| *word == scalar.text).ok_or_else(|| {
        let known = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let fault = Fault::new(Code::UnknownWord, format!("{} is not one of {known}", quoted(&scalar.text)));
        match super::suggest::nearest(&scalar.text, words.iter().copied()) {
            Some(near) => fault.help(format!("did you mean `{near}`?")),
            None => fault.help(format!("write one of {known}")),
        }
    })
}

/// A text that keeps this rule. `yes`, `1e3` and dates are texts like all others.
///
/// # Errors
/// Nothing where a text must stand, control characters, too many bytes, or the rule broken.
pub fn text(scalar: &Scalar, rule: Text) -> Read<&str> {
    let text = scalar.text.as_str();
    if scalar.is_null() {
        let fault = Fault::new(Code::WrongType, "expected a text, found nothing");
        return Err(fault.help("write a value, in quotes if it is meant to read `null` or `~`"));
    }
    if text.is_empty() && !matches!(rule, Text::Loose | Text::Pointer) {
        let fault = Fault::new(Code::WrongType, "expected a text, found an empty one");
        return Err(fault.help("write a value, or leave the key out where it may be absent"));
    }
    if text.len() > MAX_TEXT {
        return Err(Fault::new(Code::TooLarge, format!("a text of {} bytes; at most {MAX_TEXT} are read", text.len())));
    }
    let control = |c: char| c.is_control() && !(rule == Text::Lines && matches!(c, '\n' | '\t'));
    if let Some(found) = text.chars().find(|c| control(*c)) {
        let (what, help) = match found {
            '\n' | '\r' => ("a line break", "write it on one line"),
            '\t' => ("a tab", "write a space in its place"),
            _ => ("a control character", "write it without that character"),
        };
        return Err(Fault::new(Code::BadText, format!("the text has {what}")).help(help));
    }
    keep(text, rule).map(|()| text)
}

fn keep(text: &str, rule: Text) -> Read<()> {
    match rule {
        Text::Any | Text::Loose | Text::Lines | Text::Url => Ok(()),
        Text::Name => name(text),
        Text::Variable => variable(text),
        Text::Header => header(text),
        Text::Path => path(text),
        Text::Revision => revision(text),
        Text::Pointer => pointer(text),
    }
}

fn rule(holds: bool, message: String, help: &str) -> Read<()> {
    if holds { Ok(()) } else { Err(Fault::new(Code::BadText, message).help(help)) }
}

/// Letters, digits, `-`, `_` and `.`, beginning with a letter or a digit.
fn name(text: &str) -> Read<()> {
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let help = "allowed are at most 64 letters, digits, `-`, `_` and `.`, beginning with a letter or digit";
    rule(plain && begins && text.len() <= 64, format!("{} is not a plain name", quoted(text)), help)
}

/// The name of an environment variable. A text that may be a key itself is refused and never shown.
fn variable(text: &str) -> Read<()> {
    let capital = |byte: u8| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit();
    let named = text.bytes().all(capital) && !text.starts_with(|c: char| c.is_ascii_digit()) && text.len() <= 64;
    if named && !looks_like_key(text) {
        return Ok(());
    }
    Err(Fault::new(Code::Secret, "expected the name of an environment variable, found something else, not shown here")
        .help("write the variable's name in capital letters, such as `OPENAI_API_KEY`; if a key stands here, revoke it")
        .hidden())
}

fn header(text: &str) -> Read<()> {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let holds = !text.is_empty() && text.len() <= 64 && text.bytes().all(token);
    rule(
        holds,
        format!("{} is not the name of a header", quoted(text)),
        "allowed are letters, digits, `-`, `_` and `.`",
    )
}

/// A relative path with forward slashes. `..` may lead out of the spec's folder only at its beginning.
fn path(text: &str) -> Read<()> {
    let help = "write a path relative to the spec's folder, with forward slashes";
    let drive = text.as_bytes().get(1) == Some(&b':');
    let absolute = text.starts_with(['/', '~']) || text.contains('\\') || drive;
    rule(!absolute, format!("{} is not a relative path", quoted(text)), help)?;
    let mut inside = text.split('/').skip_while(|part| matches!(*part, ".." | "."));
    let turns_back = inside.any(|part| part == "..");
    rule(!turns_back, format!("{} turns back with `..` in its middle", quoted(text)), "write the path directly")
}

/// A revision that git cannot take for an option, a range or a path.
fn revision(text: &str) -> Read<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./~^@{}+".contains(c);
    let holds = text.len() <= 200 && text.chars().all(plain) && !text.starts_with('-') && !text.contains("..");
    let help = "write a branch, a tag, a commit id, or `base` for the base commit of the pull request";
    rule(holds, format!("{} is not a git revision", quoted(text)), help)
}

fn pointer(text: &str) -> Read<()> {
    let step = |step: &str| step == "~keys" || step.split('~').skip(1).all(|part| part.starts_with(['0', '1']));
    let escapes = text.split('/').all(step);
    let help = "a JSON pointer is empty or begins with `/`; write `~` as `~0` and `/` within a name as `~1`";
    rule((text.is_empty() || text.starts_with('/')) && escapes, format!("{} is not a JSON pointer", quoted(text)), help)
}

/// A scalar as JSON. What YAML versions read in different ways is refused.
///
/// # Errors
/// NaN and infinity; `yes`, `~`, `1e3`, `0o17` and their like without quotes.
pub fn json(scalar: &Scalar) -> Read<serde_json::Value> {
    use serde_json::Value;
    let text = scalar.text.as_str();
    if !scalar.plain {
        return Ok(Value::String(text.to_owned()));
    }
    if not_finite(scalar) {
        return Err(Fault::new(Code::NotFinite, format!("{} is not a finite number", quoted(text))));
    }
    match text {
        "true" => return Ok(Value::Bool(true)),
        "false" => return Ok(Value::Bool(false)),
        "null" => return Ok(Value::Null),
        _ => {}
    }
    if let Some(number) = json_number(text) {
        return Ok(Value::Number(number));
    }
    if ambiguous(text) {
        let fault = Fault::new(Code::Ambiguous, format!("{} can be read in more than one way", quoted(text)));
        return Err(
            fault.help("quote it if a text is meant, else write `true`, `false`, `null` or plain decimal digits")
        );
    }
    Ok(Value::String(text.to_owned()))
}

/// A plain decimal as a JSON number, without exponent.
fn json_number(text: &str) -> Option<serde_json::Number> {
    let bare = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = bare.split_once('.').unwrap_or((bare, "0"));
    let plain = digits(whole) && !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let number: serde_json::Number = serde_json::from_str(text).ok().filter(|_| plain && text.len() <= 17)?;
    (!number.to_string().contains(['e', 'E'])).then_some(number)
}

/// Whether one YAML version or another takes this plain text for a truth value, nothing or a number.
fn ambiguous(text: &str) -> bool {
    let low = text.to_ascii_lowercase();
    let word = matches!(low.as_str(), "" | "~" | "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n");
    let bare = low.trim_start_matches(['+', '-']);
    let begins = bare.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let numeric = bare.chars().all(|c| c.is_ascii_hexdigit() || matches!(c, '.' | '_' | '+' | '-' | 'x' | 'o' | ':'));
    let date = low.matches('-').count() == 2 && low.len() >= 8;
    word || (begins && numeric && bare.contains(|c: char| c.is_ascii_digit()) && !date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Scalar {
        Scalar::plain(text)
    }

    #[test]
    fn words_that_other_yaml_versions_take_for_truth_or_numbers_are_texts_where_a_text_is_meant() {
        for word in ["yes", "no", "on", "1e3", "0o17", "2026-08-10", "1_000", "true", "3"] {
            assert_eq!(text(&plain(word), Text::Any), Ok(word), "{word}");
        }
    }

    #[test]
    fn the_same_words_without_quotes_are_refused_where_json_is_meant() {
        for word in ["yes", "no", "on", "1e3", "0o17", "0x1f", "1_000", "~", "True", "+1", ".5", "1:30", "007"] {
            assert_eq!(json(&plain(word)).map_err(|fault| fault.code), Err(Code::Ambiguous), "{word}");
            let quoted = Scalar { text: word.to_owned(), plain: false };
            assert_eq!(json(&quoted), Ok(word.into()), "{word}");
        }
        assert_eq!(json(&plain("8")), Ok(8.into()));
        assert_eq!(json(&plain("-0.5")), Ok((-0.5).into()));
        assert_eq!(json(&plain("2026-08-10")), Ok("2026-08-10".into()));
        assert_eq!(json(&plain("docs_v41")), Ok("docs_v41".into()));
    }

    #[test]
    fn not_finite_numbers_are_refused_everywhere() {
        for text in [".nan", "NaN", ".inf", "-.inf", "+.INF"] {
            let code = |fault: Fault| fault.code;
            assert_eq!(integer(&plain(text), 0, 9).map_err(code), Err(Code::NotFinite));
            assert_eq!(decimal(&plain(text), 2).map_err(code), Err(Code::NotFinite));
            assert_eq!(points(&plain(text)).map_err(code), Err(Code::NotFinite));
            assert_eq!(confidence(&plain(text)).map_err(code), Err(Code::NotFinite));
            assert_eq!(json(&plain(text)).map_err(code), Err(Code::NotFinite));
        }
        assert_eq!(points(&plain("NaNpp")).map_err(|fault| fault.code), Err(Code::NotFinite));
    }

    #[test]
    fn integers_are_plain_digits_within_limits() {
        assert_eq!(integer(&plain("8"), 1, 10), Ok(8));
        assert_eq!(integer(&plain("18446744073709551615"), 0, u64::MAX), Ok(u64::MAX));
        for text in ["1e3", "0o17", "08", "+8", "1_0", "8.0", ""] {
            assert_eq!(integer(&plain(text), 0, 10).map_err(|fault| fault.code), Err(Code::WrongType), "{text}");
        }
        for text in ["11", "-1", "99999999999999999999999"] {
            assert_eq!(integer(&plain(text), 0, 10).map_err(|fault| fault.code), Err(Code::OutOfRange), "{text}");
        }
    }

    #[test]
    fn decimals_are_exact_in_thousandths() {
        assert_eq!(decimal(&plain("0.7"), 2), Ok(700));
        assert_eq!(decimal(&plain("2"), 2), Ok(2_000));
        assert_eq!(decimal(&plain("2.001"), 2).map_err(|fault| fault.code), Err(Code::OutOfRange));
        assert_eq!(decimal(&plain("-0.1"), 2).map_err(|fault| fault.code), Err(Code::OutOfRange));
        assert_eq!(decimal(&plain("0.0001"), 2).map_err(|fault| fault.code), Err(Code::WrongType));
    }

    #[test]
    fn shares_take_either_unit() {
        assert_eq!(share(&plain("1%")), share(&plain("1pp")));
        assert!(share(&plain("-1pp")).is_err());
        assert!(share(&plain("1")).is_err());
        assert!(share(&plain("101%")).is_err());
    }

    #[test]
    fn what_may_be_a_key_is_refused_without_being_shown() {
        for text in ["sk-proj-abcdef123456", "MYKEY-1", "openai_api_key", "AKIAIOSFODNN7EXAMPLE", "0KEY"] {
            let fault = variable(text).unwrap_err();
            assert!(fault.hidden && !fault.message.contains(text) && fault.code == Code::Secret, "{text}");
        }
        assert_eq!(variable("OPENAI_API_KEY"), Ok(()));
    }

    #[test]
    fn paths_stay_relative() {
        for good in ["questions.jsonl", "../shared/q.csv", "a/b", "./corpus", "."] {
            assert_eq!(path(good), Ok(()), "{good}");
        }
        for bad in ["/etc/passwd", "~/q", "C:/q", "a\\b", "a/../b", "a/.."] {
            assert!(path(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn revisions_cannot_be_options_or_ranges() {
        for good in ["base", "origin/main", "v1.2", "HEAD~2", "HEAD^", "main@{1}"] {
            assert_eq!(revision(good), Ok(()), "{good}");
        }
        for bad in ["-x", "--upload-pack=x", "a..b", "a b", "a:b", "$(x)"] {
            assert!(revision(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn pointers_are_empty_or_begin_with_a_slash() {
        assert_eq!(pointer(""), Ok(()));
        assert_eq!(pointer("/a~1b/0"), Ok(()));
        assert_eq!(pointer("/a/*/-1/~keys"), Ok(()));
        assert!(pointer("/a~keys").is_err());
        assert!(pointer("a").is_err());
        assert!(pointer("/a~2").is_err());
    }
}
