//! A preset file: how one engine is asked, with what is left open for a spec to say.

use super::shape::{Key, Section, Shape, Text};

/// The outermost mapping of a preset file.
pub static PRESET: Section = Section {
    keys: &[
        Key::required("preset", Shape::Integer { min: 1, max: 1 }, "The version of the format of presets."),
        Key::default(
            "of",
            Shape::Word(&["retrieve", "answer"]),
            "retrieve",
            "The section of a spec that it belongs to.",
        ),
        Key::required("about", Shape::Text(Text::Any), "One sentence about it."),
        Key::optional("source", Shape::Text(Text::Any), "The description that it follows."),
        Key::optional(
            "unchecked",
            Shape::List { items: &Shape::Text(Text::Any), min: 0, max: 16 },
            "What in it is known to no description.",
        ),
        Key::optional("base_url", Shape::Text(Text::Url), "The server, where it is the same for everybody."),
        Key::optional(
            "with",
            Shape::Free { keys: Text::Name, values: &Shape::Map(&OPEN), max: 32 },
            "What a spec may say, by name; `{{with.NAME}}` stands for it in `http`.",
        ),
        Key::optional(
            "key",
            Shape::Free { keys: Text::Header, values: &Shape::Text(Text::Loose), max: 4 },
            "Headers that carry the key, each with what stands before it.",
        ),
        Key::required("http", Shape::Json, "As `http` of that section; `{base_url}` begins every URL."),
    ],
    one_of: &[],
    later: &[],
};

static OPEN: Section = Section {
    keys: &[
        Key::optional("default", Shape::Json, "What holds where the spec says nothing; without it the spec must."),
        Key::required("about", Shape::Text(Text::Any), "One sentence about it."),
    ],
    one_of: &[],
    later: &[],
};
