//! The embedded reader: extracts a span from the evidence, by a seeded draw.
//!
//! It has no knowledge of its own and no language model: it finds sentences that share words with the question, takes
//! spans of the kind that is asked for, and draws among them and among their wordings, so that repeats differ as those
//! of a language model do. It serves to try the audit without a key or a server, and to test it; it never stands for
//! the system that is deployed.

mod candidates;
mod cue;
mod draw;
mod forms;
mod read;
mod score;
mod spans;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub use read::{Draw, Reader};
