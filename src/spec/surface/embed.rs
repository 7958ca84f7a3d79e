//! `retrieve.embed`

use super::model::RATE_LIMIT;
use super::retrieve::{COMMAND, TIMEOUT};
use super::shape::{Key, Section, Shape, Text};

/// How a question becomes the vector that stands for it.
pub static EMBED: Section = Section {
    keys: &[
        Key::optional("openai", Shape::Map(&SERVER), "An OpenAI-compatible embeddings server."),
        Key::optional(
            "command",
            Shape::Map(&COMMAND),
            "A program: `{\"texts\": [...]}` in, `{\"vectors\": [...]}` out.",
        ),
        Key::default(
            "prefix",
            Shape::Text(Text::Loose),
            "\"\"",
            "What is put before each question, such as `query: `.",
        ),
        Key::default(
            "check",
            Shape::Word(&["stop", "off"]),
            "stop",
            "Whether stored vectors are held against the embedder, where the engine shows them.",
        ),
    ],
    one_of: &["openai", "command"],
    later: &[],
};

static SERVER: Section = Section {
    keys: &[
        Key::required("model", Shape::Text(Text::Any), "The model's name."),
        Key::default("base_url", Shape::Text(Text::Url), "https://api.openai.com/v1", "Up to and including `/v1`."),
        Key::optional("key_env", Shape::Text(Text::Variable), "The environment variable that holds the key."),
        Key::optional("dimensions", Shape::Integer { min: 1, max: 65_536 }, "Sent as `dimensions` where present."),
        TIMEOUT,
        Key::optional("price", Shape::Map(&PRICE), "What tokens cost, for `budget.usd` and the report."),
        RATE_LIMIT,
    ],
    one_of: &[],
    later: &[],
};

/// An embedder writes no tokens.
static PRICE: Section = Section {
    keys: &[Key::required("input", Shape::Decimal { max: 1_000_000 }, "US dollars for a million tokens.")],
    one_of: &[],
    later: &[],
};
