//! `retrieve`

use super::embed::EMBED;
use super::http::HTTP;
use super::shape::{Key, Section, Shape, Text};
use super::sql::SQL;

/// How a question becomes evidence.
pub static RETRIEVE: Section = Section {
    keys: &[
        Key::optional("bm25", Shape::Map(&BM25), "The embedded BM25 over a folder or a JSONL file."),
        Key::optional(
            "preset",
            Shape::Text(Text::Any),
            "A search engine by the name of a built-in preset, or by the path of a preset file (`.yaml`).",
        ),
        Key::optional("http", Shape::Map(&HTTP), "A search engine over HTTP, request by request."),
        Key::optional("sql", Shape::Map(&SQL), "A database: one query a question."),
        Key::optional("command", Shape::Map(&COMMAND), "A program: JSON in, JSON out."),
        Key::optional("file", Shape::Map(&FILE), "Evidence computed beforehand, one JSONL file a snapshot."),
        BASE_URL,
        KEY_ENV,
        WITH,
        Key::optional("embed", Shape::Map(&EMBED), "How a question becomes `{{vector}}`."),
        Key::default("top_k", Shape::Integer { min: 1, max: 1_000 }, "8", "How many documents a question retrieves."),
        Key::default(
            "max_chars",
            Shape::Integer { min: 1, max: 100_000 },
            "1200",
            "How many characters of each document are shown.",
        ),
        Key::default(
            "on_mismatch",
            Shape::Word(&["stop", "include"]),
            "stop",
            "Where two retrievals of one question differ: the audit ends, or the repeats take them in turn.",
        ),
        Key::default("concurrency", Shape::Integer { min: 1, max: 1_024 }, "8", "Calls in flight at most."),
    ],
    one_of: &["bm25", "preset", "http", "sql", "command", "file"],
    later: &[],
};

/// What only a preset makes something of: its server, its key, and what it leaves open.
pub const BASE_URL: Key =
    Key::optional("base_url", Shape::Text(Text::Url), "The preset's server, up to where its own paths begin.");
pub const KEY_ENV: Key =
    Key::optional("key_env", Shape::Text(Text::Variable), "The environment variable with the preset's key.");
pub const WITH: Key = Key::optional(
    "with",
    Shape::Free { keys: Text::Name, values: &Shape::Json, max: 32 },
    "What the preset leaves open, by name, such as `{ text: body }`.",
);

static BM25: Section = Section {
    keys: &[Key::optional(
        "chunk_chars",
        Shape::Integer { min: 100, max: 1_000_000 },
        "Longer documents are split at paragraph ends; whole documents where absent.",
    )],
    one_of: &[],
    later: &[],
};

static FILE: Section = Section { keys: &[], one_of: &[], later: &[] };

/// A program.
pub static COMMAND: Section = Section {
    keys: &[
        Key::required(
            "argv",
            Shape::List { items: &Shape::Text(Text::Any), min: 1, max: 64 },
            "The program and its arguments; never through a shell.",
        ),
        Key::optional(
            "env",
            Shape::List { items: &Shape::Text(Text::Variable), min: 0, max: 64 },
            "Environment variables that are passed on besides PATH and HOME.",
        ),
        TIMEOUT,
    ],
    one_of: &[],
    later: &[],
};

/// The time limit of a call.
pub const TIMEOUT: Key = Key::default(
    "timeout_seconds",
    Shape::Integer { min: 1, max: 3_600 },
    "120",
    "Time limit of one call, in seconds.",
);
