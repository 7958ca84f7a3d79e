//! Language models behind servers: one section an interface, with the names that the interface itself gives to its controls.

use super::shape::{Key, Section, Shape, Text};

/// An OpenAI-compatible server.
pub static OPENAI: Section = Section {
    keys: &[
        MODEL,
        Key::default("base_url", Shape::Text(Text::Url), "https://api.openai.com/v1", "Up to and including `/v1`."),
        KEY_ENV,
        AZURE_HEADER,
        AZURE_VERSION,
        TEMPERATURE,
        Key::optional("max_tokens", TOKENS, "Sent where present."),
        Key::optional(
            "max_completion_tokens",
            TOKENS,
            "Sent where present; newer models of OpenAI take it in place of `max_tokens`.",
        ),
        STRUCTURED,
        TIMEOUT,
        EXTRA,
    ],
    one_of: &[],
    later: &["rate_limit", "price"],
};

/// OpenAI Responses.
pub static RESPONSES: Section = Section {
    keys: &[
        MODEL,
        Key::default("base_url", Shape::Text(Text::Url), "https://api.openai.com/v1", "Up to and including `/v1`."),
        KEY_ENV,
        AZURE_HEADER,
        AZURE_VERSION,
        TEMPERATURE,
        Key::optional("max_output_tokens", TOKENS, "Sent where present."),
        STRUCTURED,
        TIMEOUT,
        EXTRA,
    ],
    one_of: &[],
    later: &["rate_limit", "price"],
};

/// Anthropic Messages.
pub static ANTHROPIC: Section = Section {
    keys: &[
        MODEL,
        Key::default("base_url", Shape::Text(Text::Url), "https://api.anthropic.com/v1", "Up to and including `/v1`."),
        KEY_ENV,
        Key::default(
            "key_header",
            Shape::Word(&["authorization", "x-api-key"]),
            "authorization",
            "The header that carries the key: as a bearer token, or bare in `x-api-key`.",
        ),
        Key::default(
            "api_version",
            Shape::Word(&["2026-10-21", "2023-06-01"]),
            "2026-10-21",
            "The version of the interface; the newer one refuses `temperature`.",
        ),
        TEMPERATURE,
        Key::default("max_tokens", TOKENS, "1024", "The interface demands it."),
        STRUCTURED,
        TIMEOUT,
        EXTRA,
    ],
    one_of: &[],
    later: &["rate_limit", "price"],
};

const MODEL: Key = Key::required("model", Shape::Text(Text::Any), "The model's name.");

const KEY_ENV: Key =
    Key::optional("key_env", Shape::Text(Text::Variable), "The environment variable that holds the key.");

const AZURE_HEADER: Key = Key::default(
    "key_header",
    Shape::Word(&["authorization", "api-key"]),
    "authorization",
    "The header that carries the key: as a bearer token, or bare as Azure wants it.",
);

const AZURE_VERSION: Key = Key::optional(
    "api_version",
    Shape::Text(Text::Name),
    "Sent as the query parameter `api-version`, as Azure's older addresses want it.",
);

const TEMPERATURE: Key = Key::optional("temperature", Shape::Decimal { max: 2 }, "Sent where present.");

const TOKENS: Shape = Shape::Integer { min: 1, max: 1_000_000 };

const STRUCTURED: Key = Key::default(
    "structured",
    Shape::Word(&["json_schema", "json_object", "plain"]),
    "json_schema",
    "How the answer is asked for.",
);

const TIMEOUT: Key = Key::default(
    "timeout_seconds",
    Shape::Integer { min: 1, max: 3_600 },
    "120",
    "Time limit of one call, in seconds.",
);

const EXTRA: Key = Key::optional(
    "extra",
    Shape::Free { keys: Text::Any, values: &Shape::Json, max: 32 },
    "Further members of the request body, sent as written.",
);
