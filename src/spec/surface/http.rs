//! `retrieve.http`: also what presets are made into.

use super::retrieve::TIMEOUT;
use super::shape::{Key, Section, Shape, Text};

/// A search engine over HTTP.
pub static HTTP: Section = Section {
    keys: &[
        METHOD,
        URL,
        HEADERS,
        SECRET_HEADERS,
        QUERY,
        BODY,
        ITEMS,
        ZIP,
        DECODE,
        Key::default(
            "missing",
            Shape::Word(&["error", "empty"]),
            "error",
            "What a good reply without `items` is: an error, or one without documents.",
        ),
        Key::default("id", POINTER, "/id", "Pointer within a document to its id."),
        Key::default("text", POINTER, "/text", "Pointer within a document to its text."),
        Key::optional("url_pointer", POINTER, "Pointer within a document to its URL."),
        Key::optional("score", POINTER, "Pointer within a document to its score, to tell ties from other mismatches."),
        OK,
        ABSENT,
        ERROR,
        Key::optional(
            "probes",
            Shape::List { items: &Shape::Map(&PROBE), min: 0, max: 8 },
            "Requests about a snapshot, before the first and after the last search: is it ready, what is it, how large.",
        ),
        Key::optional("sample", Shape::Map(&SAMPLE), "A request for stored documents with their vectors."),
        TIMEOUT,
        ORIGIN,
    ],
    one_of: &[],
    later: &[],
};

pub(super) const POINTER: Shape = Shape::Text(Text::Pointer);
pub(super) const METHOD: Key = Key::default("method", Shape::Word(&["GET", "POST"]), "POST", "The request's method.");
pub(super) const URL: Key =
    Key::required("url", Shape::Text(Text::Url), "The URL; `{name}` in its path is a snapshot variable.");
pub(super) const HEADERS: Key = Key::optional(
    "headers",
    Shape::Free { keys: Text::Header, values: &Shape::Text(Text::Any), max: 32 },
    "Headers with plain values; no keys. `{{snapshot.NAME}}` is replaced.",
);
pub(super) const SECRET_HEADERS: Key = Key::optional(
    "secret_headers",
    Shape::Free { keys: Text::Header, values: &KEYED, max: 8 },
    "Headers that carry a key.",
);
pub(super) const QUERY: Key = Key::optional(
    "query",
    Shape::Free { keys: Text::Any, values: &Shape::Text(Text::Loose), max: 64 },
    "Query parameters, with the same placeholders as the body.",
);
const BODY: Key = Key::optional(
    "body",
    Shape::Json,
    "The JSON body; `\"{{question}}\"`, `\"{{top_k}}\"`, `\"{{vector}}\"` and `\"{{snapshot.NAME}}\"` are replaced.",
);
const ITEMS: Key = Key::default("items", POINTER, "\"\"", "Pointer to the array of documents.");
const ZIP: Key = Key::optional(
    "zip",
    Shape::Free { keys: Text::Name, values: &POINTER, max: 16 },
    "In place of `items`: pointers to arrays of one length, whose elements make up the members of each document.",
);
const DECODE: Key = Key::optional("decode", Shape::Word(&["base64_json"]), "How each item of `items` is encoded.");
pub(super) const OK: Key = Key::optional(
    "ok",
    Shape::Free { keys: Text::Pointer, values: &Shape::Json, max: 16 },
    "Pointers that must hold these values, or one of a list of values, or the reply is invalid.",
);
pub(super) const ABSENT: Key = Key::optional(
    "absent",
    Shape::List { items: &POINTER, min: 0, max: 16 },
    "Pointers that must hold nothing, null or something empty, or the reply is invalid.",
);

pub(super) const ERROR: Key =
    Key::optional("error", POINTER, "Pointer to what the engine says of an error; shown in messages.");
pub(super) const ORIGIN: Key =
    Key::optional("origin", Shape::Text(Text::Any), "What this section was made from; written by this program.");

static KEYED: Shape = Shape::Map(&SECRET_HEADER);

static SECRET_HEADER: Section = Section {
    keys: &[
        Key::default("prefix", Shape::Text(Text::Loose), "\"\"", "What stands before the key, such as `Bearer `."),
        Key::required("env", Shape::Text(Text::Variable), "The environment variable that holds the key."),
    ],
    one_of: &[],
    later: &[],
};

/// A request about a snapshot.
pub static PROBE: Section = Section {
    keys: &[
        METHOD,
        URL,
        QUERY,
        BODY,
        OK,
        ABSENT,
        Key::default("optional", Shape::Flag, "false", "Whether a 404, or a reply that is not ok, tells nothing."),
        Key::optional("physical", Shape::Map(&PHYSICAL), "What the snapshot's name stands for."),
        Key::optional("documents", POINTER, "Pointer to the number of documents."),
        Key::optional(
            "state",
            Shape::List { items: &POINTER, min: 0, max: 16 },
            "Pointers to values that belong to the index's identity.",
        ),
    ],
    one_of: &[],
    later: &[],
};

static PHYSICAL: Section = Section {
    keys: &[
        Key::required("variable", Shape::Text(Text::Name), "The snapshot variable that may be an alias."),
        Key::required("value", POINTER, "Pointer to the physical name, which takes the variable's place."),
        Key::optional("among", POINTER, "Pointer to a list of aliases; `value` is then a pointer within one of them."),
        Key::default("named", POINTER, "/name", "Pointer within an alias to its name."),
    ],
    one_of: &[],
    later: &[],
};

/// A request for stored documents with their vectors.
pub static SAMPLE: Section = Section {
    keys: &[
        METHOD,
        URL,
        QUERY,
        BODY,
        ITEMS,
        ZIP,
        OK,
        ABSENT,
        Key::default("text", POINTER, "/text", "Pointer within a document to the text that was embedded."),
        Key::required("vector", POINTER, "Pointer within a document to its vector."),
    ],
    one_of: &[],
    later: &[],
};
