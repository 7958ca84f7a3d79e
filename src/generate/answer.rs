//! What of a text counts as an answer.

use crate::http::chat::{CountsAs, structured};
use crate::model::{Answer, AnswerError};
use crate::process::ProcessError;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The answer that stands for a refusal by a content filter, which has no words of its own.
pub const FILTERED: &str = "[refused by the content filter]";

/// Why a text, or a program, gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Not the JSON that was asked for.
    Malformed,
    /// Nothing but white space.
    Empty,
    /// More bytes than the audit accepts.
    TooLong,
    /// The program ended with another exit code than 0.
    ProgramFailed,
    /// The program gave bytes that are not UTF-8.
    NotUtf8,
    /// The program gave no complete output.
    NoOutput(ProcessError),
}

/// An answer in JSON.
#[derive(Deserialize)]
struct Shape {
    answer: String,
}

impl Reason {
    /// Every one, in the table's order.
    #[cfg(test)]
    const ALL: [Self; 9] = [
        Self::Malformed,
        Self::Empty,
        Self::TooLong,
        Self::ProgramFailed,
        Self::NotUtf8,
        Self::NoOutput(ProcessError::Timeout),
        Self::NoOutput(ProcessError::TooLarge),
        Self::NoOutput(ProcessError::Pipe),
        Self::NoOutput(ProcessError::Start),
    ];

    /// The short code, what it counts as, and when it arises. `docs/outcomes.md` shows the same table.
    #[must_use]
    pub const fn row(self) -> (&'static str, CountsAs, &'static str) {
        use CountsAs::{Fatal, Invalid};
        match self {
            Self::Malformed => (
                "answer-malformed",
                Invalid,
                "text that is not the JSON object that was asked for, or whose `answer` is no text",
            ),
            Self::Empty => ("answer-empty", Invalid, "an answer of nothing but white space"),
            Self::TooLong => {
                ("answer-too-long", Invalid, "an answer of more than `max_answer_bytes`, unless it is a refusal")
            }
            Self::ProgramFailed => ("program-failed", Invalid, "an exit code other than 0, or a signal"),
            Self::NotUtf8 => ("not-utf8", Invalid, "output that is not UTF-8"),
            Self::NoOutput(error) => match error {
                ProcessError::Timeout => (error.code(), Invalid, "a program that is out of time, and killed"),
                ProcessError::TooLarge => (error.code(), Invalid, "output of more bytes than the limit"),
                ProcessError::Pipe => (error.code(), Invalid, "a program whose pipes broke"),
                ProcessError::Cancelled => (error.code(), Invalid, "a program that was interrupted"),
                ProcessError::Start => (error.code(), Fatal, "a program that cannot be started"),
            },
        }
    }
}

/// Reads the answer out of a text that should be `{"answer": "..."}`.
///
/// # Errors
/// It is something else, or the answer is empty or too long.
pub fn from_json(text: &str, limit: usize) -> Result<Answer, Reason> {
    let Shape { answer } = structured(text).ok_or(Reason::Malformed)?;
    from_text(&answer, limit)
}

/// Reads the answer out of a text that is `{"answer": "..."}` or the answer itself.
///
/// # Errors
/// It is a JSON object whose `answer` is no text or stands twice, or the answer is empty or too long.
pub fn from_either(text: &str, limit: usize) -> Result<Answer, Reason> {
    match structured::<Shape>(text) {
        Some(Shape { answer }) => from_text(&answer, limit),
        // An object that has an `answer` was meant as one, and holds none.
        None if structured::<Map<String, Value>>(text).is_some_and(|object| object.contains_key("answer")) => {
            Err(Reason::Malformed)
        }
        None => from_text(text, limit),
    }
}

/// Takes a text as the answer.
///
/// # Errors
/// It is empty or too long.
pub fn from_text(text: &str, limit: usize) -> Result<Answer, Reason> {
    Answer::parse(text, limit).map_err(|error| match error {
        AnswerError::Empty => Reason::Empty,
        AnswerError::TooLong { .. } => Reason::TooLong,
    })
}

/// Takes a refusal in words as the answer, cut to the limit at a character: it must not be asked for again.
///
/// # Errors
/// It is empty.
pub fn from_refusal(text: &str, limit: usize) -> Result<Answer, Reason> {
    let text = text.trim();
    let end = (0..=limit.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    from_text(&text[..end], limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(answer: Result<Answer, Reason>) -> Result<String, Reason> {
        answer.map(|answer| answer.as_str().to_owned())
    }

    #[test]
    fn json_is_read_where_it_was_asked_for() {
        assert_eq!(said(from_json(r#"{"answer":" 92 "}"#, 10)).as_deref(), Ok("92"));
        assert_eq!(said(from_json("```json\n{\"answer\":\"92\"}\n```", 10)).as_deref(), Ok("92"));
        assert_eq!(from_json("92", 10), Err(Reason::Malformed));
        assert_eq!(from_json(r#"{"answer":92}"#, 10), Err(Reason::Malformed));
        assert_eq!(from_json(r#"{"answer":"  "}"#, 10), Err(Reason::Empty));
        assert_eq!(from_json(r#"{"answer":"12345678901"}"#, 10), Err(Reason::TooLong));
    }

    #[test]
    fn plain_text_is_the_answer_itself() {
        assert_eq!(said(from_either("92\n", 10)).as_deref(), Ok("92"));
        assert_eq!(said(from_either(r#"{"answer":"92"}"#, 10)).as_deref(), Ok("92"));
        assert_eq!(said(from_either(r#"{"a":1}"#, 10)).as_deref(), Ok(r#"{"a":1}"#));
        assert_eq!(said(from_either("null", 10)).as_deref(), Ok("null"));
        assert_eq!(from_either("", 10), Err(Reason::Empty));
    }

    #[test]
    fn an_object_whose_answer_is_no_text_is_never_the_answer_itself() {
        for value in ["null", "5", "true", "[\"92\"]", "{\"text\":\"92\"}", "\"92\",\"answer\":\"92\""] {
            let text = format!("{{\"answer\":{value},\"confidence\":1}}");
            for dressed in [text.clone(), format!("\n{text}\n"), format!("```json\n{text}\n```")] {
                assert_eq!(from_either(&dressed, 100), Err(Reason::Malformed), "{dressed}");
            }
        }
    }

    #[test]
    fn long_refusals_are_cut_at_a_character() {
        assert_eq!(said(from_refusal("I cannot, désolé", 11)).as_deref(), Ok("I cannot, d"));
        assert_eq!(said(from_refusal("I cannot, désolé", 12)).as_deref(), Ok("I cannot, d"));
        assert_eq!(said(from_refusal("no", 512)).as_deref(), Ok("no"));
    }

    #[test]
    fn the_documented_table_is_this_table() {
        let page = include_str!("../../docs/outcomes.md");
        let row = |reason: Reason| {
            let (code, counts_as, when) = reason.row();
            let counts_as = if counts_as == CountsAs::Fatal { "fatal" } else { "invalid" };
            format!("| {when} | {counts_as} | `{code}` |\n")
        };
        let table: String = Reason::ALL.into_iter().map(row).collect();
        assert!(page.contains(&table), "docs/outcomes.md must hold these rows:\n{table}");
        assert!(page.contains(FILTERED));
    }
}
