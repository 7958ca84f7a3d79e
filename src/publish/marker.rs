//! The hidden line by which a comment is found again. It stands last in the body, where nothing that is quoted can.

use super::draws::Draws;
use super::event::Sha;
use super::twin;
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
    /// Which spec it is of, where that is known: several may have one name.
    pub spec: Option<String>,
    /// What the audit was drawn as on this pull request so far.
    pub draws: Draws,
}

/// A hidden line that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// The audit's name, where that can still be read.
    pub audit: Option<String>,
}

impl Damaged {
    /// Whether it may be one of this audit's.
    #[must_use]
    pub fn may_be_of(&self, audit: &str) -> bool {
        self.audit.as_ref().is_none_or(|own| own == audit)
    }
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
            spec: None,
            draws: draws.clone(),
        }
    }

    /// The text of a comment and the marker below it: the last line that speaks as one. People may have written below it.
    ///
    /// # Errors
    /// That line is no whole marker.
    pub fn below(body: &str) -> Result<Option<(&str, Self)>, Damaged> {
        let Some(at) = body.rfind(OPEN) else { return Ok(None) };
        let start = body[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = body[start..].lines().next().unwrap_or_default();
        let audit = || decoded(body[at + OPEN.len()..].strip_prefix("audit=")?.split_whitespace().next()?);
        match Self::parse(line.trim()) {
            Some(marker) => Ok(Some((body[..start].trim_end(), marker))),
            None => Err(Damaged { audit: audit() }),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.strip_prefix(OPEN)?.strip_suffix(CLOSE)?.split(' ');
        let mut field = |key: &str| fields.next()?.strip_prefix(key)?.strip_prefix('=').map(str::to_owned);
        let audit = decoded(&field("audit")?)?;
        let run = (field("run")?.parse().ok()?, field("attempt")?.parse().ok()?);
        let (head, verdict, text) = (field("head")?, field("verdict")?, field("text")?);
        // Comments without either have no such field.
        let mut fields = fields.peekable();
        let spec = fields.next_if(|field| field.starts_with("spec=")).map(|field| field["spec=".len()..].to_owned());
        let draws = match fields.next() {
            Some(last) => Draws::parse(last.strip_prefix("draws=")?),
            None => Draws::default(),
        };
        fields.next().is_none().then_some(Self { audit, run, head, verdict, text, spec, draws })
    }

    /// Whether another spec of the same name has written it about the same commit. What it wrote about an earlier one may be of a spec
    /// that was moved since.
    pub(super) fn is_twin_of(&self, other: &Self) -> bool {
        self.head == other.head && twin::are_two(self.spec.as_deref(), other.spec.as_deref())
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { audit, run: (run, attempt), head, verdict, text, spec, draws } = self;
        let audit = encoded(audit);
        write!(f, "{OPEN}audit={audit} run={run} attempt={attempt} head={head} verdict={verdict} text={text}")?;
        if let Some(spec) = spec {
            write!(f, " spec={spec}")?;
        }
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

    /// The marker of a comment; nothing where there is none, or none that is whole.
    fn read(body: &str) -> Option<Marker> {
        Marker::below(body).ok().flatten().map(|(_, marker)| marker)
    }

    #[test]
    fn the_last_line_that_speaks_as_a_marker_counts() {
        let line = marker("a").to_string();
        let above = marker("b").to_string();
        for body in [
            format!("text\r\n\r\n{line}\r\n\n"),
            format!("text\n\n{line}\n\nA note of somebody's.\n"),
            format!("text\n{above}\n\n{line}\nmore"),
        ] {
            assert_eq!(read(&body), Some(marker("a")), "{body}");
            assert!(Marker::below(&body).unwrap().unwrap().0.starts_with("text"));
        }
        assert_eq!(Marker::below("a comment on <!-- something --> else"), Ok(None));
        assert_eq!(Marker::below(""), Ok(None));
        for (damaged, audit) in [
            (format!("{above}\n> {line}"), Some("a")),
            (line.replace(" -->", " more=1 -->"), Some("a")),
            (line.replace("run=12", "run=-1"), Some("a")),
            (format!("{line} and a note"), Some("a")),
            (line[..40].to_owned(), Some("a")),
            (line.replace("audit=", "audi="), None),
            (OPEN.to_owned(), None),
        ] {
            let found = Marker::below(&damaged).unwrap_err();
            assert_eq!(found.audit.as_deref(), audit, "{damaged}");
            assert!(found.may_be_of("a") && found.may_be_of("b") == audit.is_none(), "{damaged}");
        }
    }

    #[test]
    fn draws_stand_at_its_end() {
        let draws = Draws::parse("a.1.incompatible,a.2.compatible");
        let marker = Marker { draws, ..marker("a") };
        assert!(marker.to_string().ends_with(" draws=a.1.incompatible,a.2.compatible -->"), "{marker}");
        assert_eq!(read(&marker.to_string()), Some(marker.clone()));
        let marker = Marker { spec: Some("12ab".to_owned()), ..marker };
        assert!(marker.to_string().contains(" spec=12ab draws=a.1."), "{marker}");
        assert_eq!(read(&marker.to_string()), Some(marker));
    }

    #[test]
    fn another_spec_has_written_about_the_same_commit_or_an_earlier_one() {
        let of = |spec: Option<&str>, head: &str| Marker {
            spec: spec.map(str::to_owned),
            head: head.to_owned(),
            ..marker("a")
        };
        let ours = of(Some("12ab"), "h");
        assert!(ours.is_twin_of(&of(Some("34cd"), "h")));
        for other in [of(Some("34cd"), "g"), of(Some("12ab"), "h"), of(None, "h")] {
            assert!(!ours.is_twin_of(&other), "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_name_comes_back_and_never_ends_the_comment(audit in ".*") {
            let line = marker(&audit).to_string();
            prop_assert_eq!(line.matches("--").count(), 2);
            prop_assert_eq!(line.lines().count(), 1);
            prop_assert_eq!(read(&line).map(|marker| marker.audit), Some(audit));
        }

        #[test]
        fn any_text_can_be_read(body in ".*") {
            let _read = Marker::below(&body);
            let _damaged = Marker::below(&format!("{body}{OPEN}{body}"));
        }
    }
}
