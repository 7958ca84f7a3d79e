//! `judge`

use super::generate::ATTEMPTS;
use super::model::{ANTHROPIC, OPENAI, RESPONSES};
use super::retrieve::COMMAND;
use super::shape::{Key, Section, Shape};

/// How answers are compared.
pub static JUDGE: Section = Section {
    keys: &[
        Key::optional("openai", Shape::Map(&OPENAI), "A language model behind an OpenAI-compatible server."),
        Key::optional("responses", Shape::Map(&RESPONSES), "A language model behind OpenAI Responses."),
        Key::optional("anthropic", Shape::Map(&ANTHROPIC), "A language model behind Anthropic Messages."),
        Key::optional("command", Shape::Map(&COMMAND), "A program: JSON in, JSON out."),
        Key::optional("embedded", Shape::Map(&EMBEDDED), "The embedded lexical judge."),
        Key::default(
            "normalisation",
            Shape::Word(&["nq", "triviaqa", "none"]),
            "nq",
            "How answers are normalised before the exact kernel compares them.",
        ),
        Key::default("concurrency", Shape::Integer { min: 1, max: 1_024 }, "8", "Packets in flight at most."),
        ATTEMPTS,
        Key::default(
            "passes",
            Shape::Integer { min: 1, max: 2 },
            "1",
            "2: the same judge is shown a sample of packets once more, in another order. Diagnosis only.",
        ),
        Key::default(
            "self_consistency",
            SAMPLE,
            "100",
            "Questions in the sample of the second pass, drawn by the protocol.",
        ),
        Key::optional(
            "second",
            Shape::Map(&SECOND),
            "A second judge, best of another family, on a sample of packets. Diagnosis only.",
        ),
    ],
    one_of: &["openai", "responses", "anthropic", "command", "embedded"],
    later: &[],
};

static SECOND: Section = Section {
    keys: &[
        Key::optional("openai", Shape::Map(&OPENAI), "A language model behind an OpenAI-compatible server."),
        Key::optional("responses", Shape::Map(&RESPONSES), "A language model behind OpenAI Responses."),
        Key::optional("anthropic", Shape::Map(&ANTHROPIC), "A language model behind Anthropic Messages."),
        Key::optional("command", Shape::Map(&COMMAND), "A program: JSON in, JSON out."),
        Key::optional("embedded", Shape::Map(&EMBEDDED), "The embedded lexical judge."),
        Key::default("sample", SAMPLE, "100", "Questions in the sample, drawn by the protocol."),
        Key::default("concurrency", Shape::Integer { min: 1, max: 1_024 }, "8", "Packets in flight at most."),
        ATTEMPTS,
    ],
    one_of: &["openai", "responses", "anthropic", "command", "embedded"],
    later: &[],
};

/// How many questions a sample has: all of them where there are fewer.
pub const SAMPLE: Shape = Shape::Integer { min: 10, max: 100_000 };

static EMBEDDED: Section = Section { keys: &[], one_of: &[], later: &[] };
