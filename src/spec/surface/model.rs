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
        PRICE,
        RATE_LIMIT,
    ],
    one_of: &[],
    later: &[],
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
        PRICE,
        RATE_LIMIT,
    ],
    one_of: &[],
    later: &[],
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
        PRICE,
        RATE_LIMIT,
    ],
    one_of: &[],
    later: &[],
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

pub(super) const PRICE: Key =
    Key::optional("price", Shape::Map(&PRICES), "What tokens cost, for `budget.usd` and the report.");

static PRICES: Section = Section {
    keys: &[
        Key::required("input", Shape::Decimal { max: 1_000_000 }, "US dollars for a million tokens read."),
        Key::required("output", Shape::Decimal { max: 1_000_000 }, "US dollars for a million tokens written."),
    ],
    one_of: &[],
    later: &[],
};

pub(super) const RATE_LIMIT: Key =
    Key::optional("rate_limit", Shape::Map(&RATES), "How much the server may be asked; no limit where absent.");

static RATES: Section = Section {
    keys: &[
        Key::optional("requests_per_minute", Shape::Integer { min: 1, max: 10_000_000 }, "Requests at most."),
        Key::optional(
            "tokens_per_minute",
            Shape::Integer { min: 1, max: 1_000_000_000_000 },
            "Tokens read and written at most.",
        ),
    ],
    one_of: &[],
    later: &[],
};
