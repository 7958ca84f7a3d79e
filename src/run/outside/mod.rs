//! Answers and labels made elsewhere: one JSON object a line, one question an object.
//!
//! Pure: a text in, observations out. The format is described in `docs/answers-format.md`.

mod error;
mod observe;
mod record;

pub use error::{OutsideError, Problem};

use crate::model::Observation;

/// Reads the lines of a file of outside answers. A byte order mark, `\r\n` and blank lines are accepted.
///
/// `file` only names the file in errors.
///
/// # Errors
/// The first line that is not a question of the documented form, with its number.
///
/// ```
/// let text = r#"{"id": "q1", "answers": {"old": ["Rome", "Rome"], "new": ["Oslo", "Oslo."]},
///     "labels": [["Rome", "Oslo", "different"], ["Rome", "Oslo.", "different"], ["Oslo", "Oslo.", "same"]]}"#;
/// let questions = churngate::run::outside::parse(&text.replace('\n', " "), "answers.jsonl")?;
/// assert_eq!(questions[0].judgments.len(), 3);
/// # Ok::<(), churngate::run::outside::OutsideError>(())
/// ```
pub fn parse(text: &str, file: &str) -> Result<Vec<Observation>, OutsideError> {
    let lines = text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate();
    let mut observations = Vec::new();
    let mut seen = observe::Seen::default();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let place = |problem| OutsideError { file: file.to_owned(), line: number + 1, problem };
        let record = record::read(line).map_err(place)?;
        let observation = observe::observe(record).map_err(place)?;
        seen.add(&observation, number + 1).map_err(place)?;
        observations.push(observation);
    }
    Ok(observations)
}

#[cfg(test)]
mod tests;
