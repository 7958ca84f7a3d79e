//! What is asked, whatever the wire.

use crate::model::Structured;
use serde_json::Value;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The rules.
    System,
    /// The question.
    User,
}

/// One message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: &'a str,
}

/// The form in which the answer is asked for.
#[derive(Clone, Copy, Debug)]
pub enum Form<'a> {
    /// A strict JSON schema.
    JsonSchema {
        /// The schema's name: letters, digits, `_` and `-`, at most 64.
        name: &'a str,
        /// The schema: every object closed, every member required.
        schema: &'a Value,
    },
    /// A JSON object, described in the messages.
    JsonObject,
    /// Plain text.
    Plain,
}

impl<'a> Form<'a> {
    /// The form that this rung of the ladder means for answers of this schema.
    #[must_use]
    pub const fn of(structured: Structured, name: &'a str, schema: &'a Value) -> Self {
        match structured {
            Structured::JsonSchema => Self::JsonSchema { name, schema },
            Structured::JsonObject => Self::JsonObject,
            Structured::Plain => Self::Plain,
        }
    }
}

impl Role {
    /// Its name on the wires that have one.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
        }
    }
}
