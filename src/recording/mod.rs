//! Exchanges over HTTP, kept in a folder and given back from it.
//!
//! A recorder writes every exchange of an audit down; a player answers every call from what was written and lets none be
//! made. Neither calls anybody. No key reaches the folder: what identifies a request is a digest of it without keys, and a
//! reply is kept as the audit keeps it. What is read here is believed no further than its form.

mod error;
mod exchange;
mod file;
mod player;
mod recorder;
#[cfg(test)]
mod tests;
mod told;

pub use player::Player;
pub use recorder::Recorder;
