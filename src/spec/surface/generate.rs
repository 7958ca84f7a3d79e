//! `generate`

use super::judge::SAMPLE;
use super::model::{ANTHROPIC, OPENAI, RESPONSES};
use super::retrieve::COMMAND;
use super::shape::{Key, Section, Shape, Text};

/// How evidence becomes an answer.
pub static GENERATE: Section = Section {
    keys: &[
        Key::optional("openai", Shape::Map(&OPENAI), "An OpenAI-compatible chat completions server."),
        Key::optional("responses", Shape::Map(&RESPONSES), "A server that speaks OpenAI Responses."),
        Key::optional("anthropic", Shape::Map(&ANTHROPIC), "A server that speaks Anthropic Messages."),
        Key::optional("command", Shape::Map(&COMMAND), "A program: JSON in, JSON out."),
        Key::optional("reader", Shape::Map(&READER), "The embedded extractive reader; knows nothing but the evidence."),
        REPEATS,
        Key::default(
            "max_answer_bytes",
            Shape::Integer { min: 16, max: 65_536 },
            "512",
            "The longest accepted answer, in UTF-8 bytes.",
        ),
        Key::optional(
            "prompt",
            Shape::Text(Text::Path),
            "A file with an answer prompt of your own; it holds `{{question}}` and `{{evidence}}`.",
        ),
        Key::default("concurrency", Shape::Integer { min: 1, max: 1_024 }, "8", "Calls in flight at most."),
        Key::default(
            "unchanged_evidence",
            Shape::Word(&["zero", "sample"]),
            "zero",
            "Whether questions with one prompt in old, new, placebo and all between count as zero churn unasked, or are asked.",
        ),
        ATTEMPTS,
    ],
    one_of: &["openai", "responses", "anthropic", "command", "reader"],
    later: &[],
};

/// Answers of each question. More are of no use, and the exact randomisation test enumerates the splits of at most 22 answers.
pub const REPEATS: Key =
    Key::default("repeats", Shape::Integer { min: 2, max: 11 }, "2", "Answers of each question from each snapshot.");

/// A second generator: the same questions, evidence, prompt and repeats.
pub static REPLICATE: Section = Section {
    keys: &[
        Key::optional("openai", Shape::Map(&OPENAI), "An OpenAI-compatible chat completions server."),
        Key::optional("responses", Shape::Map(&RESPONSES), "A server that speaks OpenAI Responses."),
        Key::optional("anthropic", Shape::Map(&ANTHROPIC), "A server that speaks Anthropic Messages."),
        Key::optional("command", Shape::Map(&COMMAND), "A program: JSON in, JSON out."),
        Key::optional("reader", Shape::Map(&READER), "The embedded extractive reader; knows nothing but the evidence."),
        Key::default("sample", SAMPLE, "100", "Questions in the sample, drawn by the protocol."),
        Key::default("concurrency", Shape::Integer { min: 1, max: 1_024 }, "8", "Calls in flight at most."),
        ATTEMPTS,
    ],
    one_of: &["openai", "responses", "anthropic", "command", "reader"],
    later: &[],
};

/// How often a unit of work is tried.
pub const ATTEMPTS: Key = Key::default(
    "max_attempts",
    Shape::Integer { min: 1, max: 50 },
    "6",
    "Attempts at one unit of work within one process, refusals for too many calls apart.",
);

static READER: Section = Section {
    keys: &[
        Key::default("temperature", Shape::Decimal { max: 2 }, "0.1", "How much its answers vary between repeats."),
        Key::default("seed", Shape::Integer { min: 0, max: u64::MAX }, "0", "The seed of its draws."),
    ],
    one_of: &[],
    later: &[],
};
