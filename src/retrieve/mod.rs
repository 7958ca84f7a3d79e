//! Snapshots to evidence: each question twice from each snapshot, recorded, and sealed only where both passes match.
//!
//! This module never shows a question's gold answer to a backend, never searches an index that it has not checked
//! against the protocol, and never takes text from a document or a server for anything but text.

mod asked;
mod barren;
pub mod bm25;
mod check;
mod command;
pub mod corpus;
mod embed;
mod engine;
mod file;
mod limits;
mod local;
mod mismatch;
mod moved;
mod progress;
mod records;
mod remote;
mod resolve;
mod sql;
mod stage;
#[cfg(test)]
mod tests;

pub use barren::intolerable;
pub use check::{Check, Checked};
pub use embed::{Embedding, Named, Reference, embedder_caveats, embedding, probe, reference};
pub use mismatch::differing;
pub use resolve::{Opened, ask, open};
pub use stage::retrieve;
