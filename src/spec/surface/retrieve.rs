//! `retrieve`

use super::shape::{Key, Section, Shape, Text};

/// How a question becomes evidence.
pub static RETRIEVE: Section = Section {
    keys: &[
        Key::optional("bm25", Shape::Map(&BM25), "The embedded BM25 over a folder or a JSONL file."),
        Key::optional("http", Shape::Map(&HTTP), "A search engine over HTTP."),
        Key::optional("command", Shape::Map(&COMMAND), "A program: JSON in, JSON out."),
        Key::optional("file", Shape::Map(&FILE), "Evidence computed beforehand, one JSONL file a snapshot."),
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
    one_of: &["bm25", "http", "command", "file"],
    later: &["preset", "sql"],
};

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

static HTTP: Section = Section {
    keys: &[
        Key::default("method", Shape::Word(&["GET", "POST"]), "POST", "The request's method."),
        Key::required("url", Shape::Text(Text::Url), "The URL; `{name}` in its path is a snapshot variable."),
        Key::optional(
            "headers",
            Shape::Free { keys: Text::Header, values: &Shape::Text(Text::Any), max: 32 },
            "Headers with plain values; no keys.",
        ),
        Key::optional(
            "secret_headers",
            Shape::Free { keys: Text::Header, values: &Shape::Map(&SECRET_HEADER), max: 8 },
            "Headers that carry a key.",
        ),
        Key::optional(
            "query",
            Shape::Free { keys: Text::Any, values: &Shape::Text(Text::Loose), max: 64 },
            "Query parameters, with the same placeholders as the body.",
        ),
        Key::optional(
            "body",
            Shape::Json,
            "The JSON body; `\"{{question}}\"`, `\"{{top_k}}\"` and `\"{{snapshot.NAME}}\"` are replaced.",
        ),
        Key::default("items", Shape::Text(Text::Pointer), "\"\"", "JSON pointer to the array of documents."),
        Key::default("id", Shape::Text(Text::Pointer), "/id", "JSON pointer within a document to its id."),
        Key::default("text", Shape::Text(Text::Pointer), "/text", "JSON pointer within a document to its text."),
        Key::optional("url_pointer", Shape::Text(Text::Pointer), "JSON pointer within a document to its URL."),
        Key::optional(
            "ok",
            Shape::Free { keys: Text::Pointer, values: &Shape::Json, max: 16 },
            "JSON pointers that must hold these values, or the reply is invalid.",
        ),
        TIMEOUT,
    ],
    one_of: &[],
    later: &["decode"],
};

static SECRET_HEADER: Section = Section {
    keys: &[
        Key::default("prefix", Shape::Text(Text::Loose), "\"\"", "What stands before the key, such as `Bearer `."),
        Key::required("env", Shape::Text(Text::Variable), "The environment variable that holds the key."),
    ],
    one_of: &[],
    later: &[],
};

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

const TIMEOUT: Key = Key::default(
    "timeout_seconds",
    Shape::Integer { min: 1, max: 3_600 },
    "120",
    "Time limit of one call, in seconds.",
);
