//! `answer`: a deployed system that retrieves and answers by itself.

use super::generate::{ATTEMPTS, REPEATS};
use super::http::{ABSENT, ERROR, HEADERS, METHOD, OK, ORIGIN, POINTER, QUERY, SECRET_HEADERS, URL};
use super::model::{PRICE, RATE_LIMIT};
use super::retrieve::{BASE_URL, COMMAND, KEY_ENV, TIMEOUT, WITH};
use super::shape::{Key, Section, Shape, Text};

/// A black box.
pub static ANSWER: Section = Section {
    keys: &[
        Key::optional(
            "preset",
            Shape::Text(Text::Any),
            "A system by the name of a built-in preset, or by the path of a preset file (`.yaml`).",
        ),
        Key::optional("http", Shape::Map(&HTTP), "A system over HTTP."),
        Key::optional("command", Shape::Map(&COMMAND), "A program that asks the system: JSON in, JSON out."),
        BASE_URL,
        KEY_ENV,
        WITH,
        Key::optional(
            "timeout_seconds",
            Shape::Integer { min: 1, max: 3_600 },
            "The preset's time limit of one call, in seconds, in place of its own.",
        ),
        REPEATS,
        Key::default(
            "max_answer_bytes",
            Shape::Integer { min: 16, max: 65_536 },
            "8192",
            "The longest accepted answer, in UTF-8 bytes.",
        ),
        Key::default("concurrency", Shape::Integer { min: 1, max: 1_024 }, "8", "Calls in flight at most."),
        ATTEMPTS,
        PRICE,
        RATE_LIMIT,
    ],
    one_of: &["preset", "http", "command"],
    later: &[],
};

/// A system over HTTP: also what presets of answers are made into.
pub static HTTP: Section = Section {
    keys: &[
        METHOD,
        URL,
        HEADERS,
        SECRET_HEADERS,
        QUERY,
        Key::optional(
            "body",
            Shape::Json,
            "The JSON body; `\"{{question}}\"`, `\"{{nonce}}\"` (another id in every call) and `\"{{snapshot.NAME}}\"` are replaced.",
        ),
        Key::optional(
            "stream",
            Shape::Map(&STREAM),
            "For a reply that is a stream of events (`text/event-stream`): all pointers then point into the document \
             `{answer, end, events}` that is made of it.",
        ),
        Key::required(
            "answer",
            POINTER,
            "Pointer to the answer's text; a list of texts, or of parts with a `text`, is joined.",
        ),
        OK,
        ABSENT,
        Key::optional(
            "cut",
            Shape::Free { keys: Text::Pointer, values: &Shape::Json, max: 8 },
            "Pointers and the values, one or a list, by which a reply says that its answer is cut off.",
        ),
        Key::optional(
            "retry",
            Shape::Free { keys: Text::Pointer, values: &Shape::Json, max: 8 },
            "Pointers and the values, one or a list, by which an error (4xx) says that another attempt may succeed.",
        ),
        ERROR,
        Key::optional("citations", Shape::Map(&CITATIONS), "The documents that a reply names beside its answer."),
        Key::optional("served_model", POINTER, "Pointer to the model that the system says it used."),
        Key::optional(
            "response_id",
            POINTER,
            "Pointer to the reply's own id, by which answers out of a cache are known.",
        ),
        Key::optional("usage", Shape::Map(&USAGE), "The tokens that the system counts."),
        TIMEOUT,
        ORIGIN,
    ],
    one_of: &[],
    later: &[],
};

/// How a stream of events becomes one document.
static STREAM: Section = Section {
    keys: &[
        Key::optional(
            "kind",
            POINTER,
            "Pointer within an event's data to what kind it is; its name (`event:`) where nothing stands there, `message` \
             where it has none. Data that are no JSON, such as `[DONE]`, are their own kind, and of that name's as well.",
        ),
        Key::required(
            "text",
            Shape::Free { keys: Text::Any, values: &POINTER, max: 8 },
            "Kinds of events that hold a piece of the answer, and the pointer to it within their data; `/answer` of the \
             document is all pieces together.",
        ),
        Key::optional(
            "replace",
            Shape::Free { keys: Text::Any, values: &POINTER, max: 8 },
            "Kinds of events that hold a text in the place of all pieces before, and the pointer to it.",
        ),
        Key::required(
            "end",
            Shape::List { items: &Shape::Text(Text::Any), min: 1, max: 8 },
            "Kinds of events that end the answer; `/end` of the document is the data of that event. A stream without one is \
             cut off, and invalid.",
        ),
        Key::optional(
            "failed",
            Shape::List { items: &Shape::Text(Text::Any), min: 0, max: 8 },
            "Kinds of events that say that there is no answer.",
        ),
    ],
    one_of: &[],
    later: &[],
};

static CITATIONS: Section = Section {
    keys: &[
        Key::optional("items", POINTER, "Pointer to the array of cited documents; none are read where it is absent."),
        Key::optional(
            "id",
            POINTER,
            "Pointer within a cited document to its id; else its URL is its id, else its text's digest.",
        ),
        Key::optional("url", POINTER, "Pointer within a cited document to its URL."),
        Key::optional("text", POINTER, "Pointer within a cited document to its text, of which the digest is kept."),
    ],
    one_of: &[],
    later: &[],
};

static USAGE: Section = Section {
    keys: &[
        Key::required("input", POINTER, "Pointer to the tokens read."),
        Key::required("output", POINTER, "Pointer to the tokens written."),
    ],
    one_of: &[],
    later: &[],
};
