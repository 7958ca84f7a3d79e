//! `questions`

use super::shape::{Key, Section, Shape, Text};

/// What is asked.
pub static QUESTIONS: Section = Section {
    keys: &[
        Key::required("file", Shape::Text(Text::Path), "The question file: `.jsonl`, `.json`, `.csv` or `.yaml`."),
        Key::optional("select", Shape::Map(&SELECT), "Which of them are asked; all where absent."),
    ],
    one_of: &[],
    later: &["strata", "weights"],
};

static SELECT: Section = Section {
    keys: &[
        Key::optional("count", Shape::Integer { min: 1, max: 1_000_000 }, "How many are asked; all where absent."),
        Key::default("seed", Shape::Integer { min: 0, max: u64::MAX }, "0", "The seed of the selection."),
        Key::optional("exclude", Shape::Text(Text::Path), "A file of ids that are never asked, one a line."),
        Key::optional(
            "only",
            Shape::Text(Text::Path),
            "A file of ids that alone are asked: one a line, or BEIR's qrels.",
        ),
    ],
    one_of: &[],
    later: &["strata", "weights"],
};
