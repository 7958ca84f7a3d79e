//! The spec's surface as a table: every key with its shape, its limits, its default and one sentence about it.
//!
//! The table is the one truth: files are checked against it, defaults come from it, and the JSON Schema and the
//! reference in `docs/spec.md` are written from it. One file a section; adding a key touches one line here and the
//! place that makes something of it.

mod answer;
mod embed;
mod gate;
mod generate;
mod http;
mod judge;
mod model;
mod preset;
mod questions;
mod retrieve;
mod root;
mod shape;
mod snapshots;
mod sql;

pub use answer::HTTP as ANSWER_HTTP;
pub use http::HTTP;
pub use preset::PRESET;
pub use root::{OF_ANSWERS, ROOT};
pub use shape::{Key, Need, Section, Shape, Text};
