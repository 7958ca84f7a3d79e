//! The hidden line by which a comment is found again. It stands last in the body, where nothing that is quoted can.

use super::draws::Draws;
use super::event::Sha;
use crate::model::Digest;
use std::fmt::{self, Write as _};

const OPEN: &str = "<!-- churngate ";
const CLOSE: &str = " -->";

/// What the hidden line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The audit's name.
    pub audit: String,
    /// The run and the attempt that wrote the comment. Runs are numbered in the order in which they were started.
    pub run: (u64, u64),
    /// The commit that was audited.
    pub head: String,
    /// The verdict: `compatible`, `incompatible` or `inconclusive`; `none` where the audit came to none; `unchanged` where old and
    /// new have one content; `changed` or `unchanged` where evidence alone was compared. What passes with something else to know
    /// ends in `-with-remarks`.
    pub verdict: String,
    /// The first digits of the digest of the text above.
    pub text: String,
    /// What the audit was drawn as on this pull request so far.
    pub draws: Draws,
}

impl Marker {
    /// The line for this text.
    #[must_use]
    pub fn new(audit: &str, run: (u64, u64), head: &Sha, verdict: &str, text: &str, draws: &Draws) -> Self {
        Self {
            audit: audit.to_owned(),
            run,
            head: head.to_string(),
            verdict: verdict.to_owned(),
            text: Digest::of(text.as_bytes()).short(),
            draws: draws.clone(),
        }
    }

    /// Reads the last line of a comment. `None` where that is not a whole marker.
    #[must_use]
    pub fn last_in(body: &str) -> Option<Self> {
        Self::below(body).map(|(_, marker)| marker)
    }

    /// The text of a comment and the marker below it. `None` where its last line is not a whole marker.
    #[must_use]
    pub fn below(body: &str) -> Option<(&str, Self)> {
        let body = body.trim_end();
        let (text, line) = body.rsplit_once('\n').unwrap_or(("", body));
        Self::parse(line.trim()).map(|marker| (text.trim_end(), marker))
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.strip_prefix(OPEN)?.strip_suffix(CLOSE)?.split(' ');
        let mut field = |key: &str| fields.next()?.strip_prefix(key)?.strip_prefix('=').map(str::to_owned);
        let audit = decoded(&field("audit")?)?;
        let run = (field("run")?.parse().ok()?, field("attempt")?.parse().ok()?);
        let (head, verdict, text) = (field("head")?, field("verdict")?, field("text")?);
        // Comments without any have no such field.
        let draws = match fields.next() {
            Some(last) => Draws::parse(last.strip_prefix("draws=")?),
            None => Draws::default(),
        };
        fields.next().is_none().then_some(Self { audit, run, head, verdict, text, draws })
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { audit, run: (run, attempt), head, verdict, text, draws } = self;
        let audit = encoded(audit);
        write!(f, "{OPEN}audit={audit} run={run} attempt={attempt} head={head} verdict={verdict} text={text}")?;
        if !draws.is_empty() {
            write!(f, " draws={draws}")?;
        }
        f.write_str(CLOSE)
    }
}

/// Letters, digits, `_` and `.` stay, and a hyphen after one of them: two hyphens would end the HTML comment.
fn encoded(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        let hyphen = byte == b'-' && out.ends_with(|last: char| last.is_ascii_alphanumeric());
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' || hyphen {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _infallible = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn marker(audit: &str) -> Marker {
        let head = Sha::parse(&"a".repeat(40)).unwrap();
        Marker::new(audit, (12, 3), &head, "incompatible", "text", &Draws::default())
    }

    #[test]
    fn the_marker_is_one_hidden_line() {
        insta::assert_snapshot!(marker("docs--search"), @"<!-- churngate audit=docs-%2Dsearch run=12 attempt=3 head=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa verdict=incompatible text=982d9e3eb996 -->");
    }

    #[test]
    fn only_the_last_line_counts() {
        let line = marker("a").to_string();
        assert_eq!(Marker::last_in(&format!("text\r\n\r\n{line}\r\n\n")), Some(marker("a")));
        assert_eq!(Marker::last_in(&format!("{line}\nmore")), None);
        assert_eq!(Marker::last_in(&format!("> {line}")), None);
        assert_eq!(Marker::last_in(&line.replace(" -->", " more=1 -->")), None);
        assert_eq!(Marker::last_in(&line.replace("run=12", "run=-1")), None);
        assert_eq!(Marker::last_in(""), None);
    }

    #[test]
    fn draws_stand_at_its_end() {
        let draws = Draws::parse("a.1.incompatible,a.2.compatible");
        let marker = Marker { draws, ..marker("a") };
        assert!(marker.to_string().ends_with(" draws=a.1.incompatible,a.2.compatible -->"), "{marker}");
        assert_eq!(Marker::last_in(&marker.to_string()), Some(marker));
    }

    proptest! {
        #[test]
        fn any_name_comes_back_and_never_ends_the_comment(audit in ".*") {
            let line = marker(&audit).to_string();
            prop_assert_eq!(line.matches("--").count(), 2);
            prop_assert_eq!(line.lines().count(), 1);
            prop_assert_eq!(Marker::last_in(&line).map(|marker| marker.audit), Some(audit));
        }

        #[test]
        fn any_text_can_be_read(body in ".*") {
            let _read = Marker::last_in(&body);
        }
    }
}
