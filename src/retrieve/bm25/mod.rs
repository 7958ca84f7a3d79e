//! The embedded BM25: an index over the documents of one snapshot.
//!
//! Scores depend on the documents alone, not on their order, on the number of threads or on how the index is laid out.
//! No text from a question or a document is ever parsed as a query.

pub mod analyse;
mod best;
pub mod chunk;
pub mod index;
mod score;

pub use index::{Bm25Index, IndexError, IndexSettings, Indexed};
