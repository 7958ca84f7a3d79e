//! The audit spec: raw YAML in, a validated [`Spec`] out, every problem at once with line and column.
//!
//! ```text
//! text ──yaml──▶ nodes ──check──▶ problems
//!                  │     against the table of keys (`surface`)
//!                  └────validate──▶ Spec, or more problems
//! ```
//!
//! This module is pure: it is given text and gives back types. It never shows what may be a key.
#![deny(clippy::disallowed_methods, reason = "a spec is a function of its text: no clock, no environment, no files")]

pub mod black_box;
mod canonical;
mod check;
mod difference;
mod files;
mod mask;
mod mode;
pub mod node;
mod parse;
mod preset;
mod price;
#[cfg(test)]
pub(crate) use preset::cases;
pub mod problem;
mod reader;
mod reference;
mod render;
mod scalar;
mod schema;
mod secrets;
pub mod statement;
mod suggest;
pub mod surface;
#[cfg(test)]
mod tests;
pub mod types;
mod validate;
pub mod variables;
pub mod yaml;

pub use black_box::{BlackBoxBackend, BlackBoxSpec, CitationsSpec, HttpAnswerSpec, StreamSpec, UsageSpec};
pub use difference::{Difference, differences};
pub use files::{FileKey, Unread, named_files, unreadable};
pub use node::Span;
pub use parse::{from_canonical, parse, parse_with, read_back};
pub use preset::{PresetFile, answer_preset_names, preset_names, preset_reference};
pub use problem::{Code, Problem, SpecErrors};
pub use reference::reference;
pub use schema::json_schema;
pub use secrets::Named;
pub use suggest::nearest_few;
pub use types::*;
