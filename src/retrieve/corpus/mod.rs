//! The documents of a snapshot, streamed from the working tree or from a commit.
//!
//! Documents are untrusted: their text is handed on, and never interpreted.

mod archive;
pub mod document;
pub mod error;
pub mod fingerprint;
mod folder;
mod jsonl;
mod passed;
pub mod source;
mod text;

pub use document::CorpusDocument;
pub use error::CorpusError;
pub use fingerprint::Fingerprint;
pub use source::{Corpus, Documents, file_of};

/// The endings of files that are documents, as they are told: `.md`, `.txt` and so on.
pub(super) fn endings() -> String {
    let all: Vec<String> = folder::ENDINGS.iter().map(|ending| format!("`.{ending}`")).collect();
    match all.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
