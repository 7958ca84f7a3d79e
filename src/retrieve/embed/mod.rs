//! Questions to vectors. Each is embedded once for all snapshots and both passes, and kept in the run folder; what was
//! sent to an engine is named by the digest in its attempt. An embedder that changes under its name is noticed, within a
//! run and between a question and the stored documents.

mod alike;
mod check;
mod embedder;
mod held;
mod program;
mod server;
mod store;
mod vectors;

pub(super) use check::check;
pub(super) use held::Held;
pub(super) use vectors::{Vectors, still_the_same, vectors};
