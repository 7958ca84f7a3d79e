//! `judge`

use super::generate::{ATTEMPTS, OPENAI};
use super::retrieve::COMMAND;
use super::shape::{Key, Section, Shape};

/// How answers are compared.
pub static JUDGE: Section = Section {
    keys: &[
        Key::optional("openai", Shape::Map(&OPENAI), "A language model behind an OpenAI-compatible server."),
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
    ],
    one_of: &["openai", "command", "embedded"],
    later: &["anthropic", "self_consistency"],
};

static EMBEDDED: Section = Section { keys: &[], one_of: &[], later: &[] };
