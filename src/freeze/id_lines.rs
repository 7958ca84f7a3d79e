//! What a line of a list of ids may be, and what of it may be told: a question file that stands in the place of such a
//! list has gold answers in its lines, and none of them reaches a note or an error.

use super::FreezeError;
use super::questions::MAX_NAME;

/// Characters of a line that a note or an error quotes at most.
const QUOTED: usize = 64;

/// Why no question can have this id, where none can; never with the line.
fn fault(line: &str) -> Option<&'static str> {
    if line.starts_with(['{', '}', '[', ']', '"']) {
        Some("begins as JSON or a quoted cell does")
    } else if line.len() > MAX_NAME {
        Some("is longer than an id may be")
    } else if line.chars().any(char::is_control) {
        Some("holds a tab or another control character")
    } else {
        None
    }
}

/// Refuses the first of these lines that can be no id. They are those that no question has for its id.
pub(super) fn refuse<'a>(file: &str, lines: impl Iterator<Item = (&'a str, usize)>) -> Result<(), FreezeError> {
    let faulty = lines.filter_map(|(line, number)| fault(line).map(|fault| (number, fault)));
    match faulty.min_by_key(|(number, _)| *number) {
        Some((line, fault)) => Err(FreezeError::NoId { file: file.to_owned(), line, fault }),
        None => Ok(()),
    }
}

/// Whether all of these lines may be quoted: names without white space or the signs between cells and members, or TREC's
/// judgments. One that may not says that the file holds something else, and nobody knows what its other lines are.
pub(super) fn may_be_quoted<'a>(mut lines: impl Iterator<Item = &'a str>) -> bool {
    let stranger = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '|' | '"');
    lines.all(|line| is_trec(line) || (line.chars().count() <= QUOTED && !line.contains(stranger)))
}

/// Whether a line looks like one of TREC's judgments, which could be an id as well.
pub(super) fn is_trec(line: &str) -> bool {
    match line.split_whitespace().collect::<Vec<_>>()[..] {
        [_, iteration, _, relevance] => {
            line.chars().count() <= QUOTED && [iteration, relevance].iter().all(|number| number.parse::<i64>().is_ok())
        }
        _ => false,
    }
}
