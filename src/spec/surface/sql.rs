//! `retrieve.sql`

use super::retrieve::TIMEOUT;
use super::shape::{Key, Section, Shape, Text};

/// A database.
pub static SQL: Section = Section {
    keys: &[
        Key::optional("postgres", Shape::Map(&POSTGRES), "PostgreSQL, with or without pgvector."),
        Key::optional("sqlite", Shape::Map(&SQLITE), "SQLite, with or without FTS5."),
        Key::required(
            "query",
            Shape::Text(Text::Lines),
            "One `SELECT` of `id`, `text` and, if there is one, `url`; `:question`, `:top_k`, `:words` and `:vector` are bound, `{name}` is a snapshot variable as a quoted name.",
        ),
        Key::optional(
            "state",
            Shape::Text(Text::Lines),
            "A query that tells whether a snapshot changed; its first cell is the number of documents.",
        ),
        Key::optional(
            "sample",
            Shape::Text(Text::Lines),
            "A query of a few stored documents, their `text` and their `vector` as `[0.25,-1]`, to hold `embed` against.",
        ),
        TIMEOUT,
    ],
    one_of: &["postgres", "sqlite"],
    later: &[],
};

static POSTGRES: Section = Section {
    keys: &[Key::required(
        "url_env",
        Shape::Text(Text::Variable),
        "The environment variable that holds the address, such as `postgres://reader:PASSWORD@host/docs`.",
    )],
    one_of: &[],
    later: &[],
};

static SQLITE: Section = Section {
    keys: &[Key::optional(
        "file",
        Shape::Text(Text::Path),
        "The database that holds all snapshots; each snapshot's own `path` where absent.",
    )],
    one_of: &[],
    later: &[],
};
