//! Append-only, hash-chained records of each stage, and the locks that prove that a stage is sealed.
//!
//! A ledger's first line names format, stage, tool version and the head of the ledger before it; each record carries
//! its number and the SHA-256 of the line before it as written; the last line is the seal. Bodies lie in `blobs/`.
//! This module never interprets what it stores, never follows a symbolic link, and never says that something is
//! recorded before it is durable.

mod blobs;
mod by_question;
mod commit;
mod error;
mod export;
mod files;
mod folder;
mod format;
mod journal;
mod later;
mod open;
mod read;
pub mod record;
mod scan;
mod sort;
pub mod stage;
mod store;
#[cfg(test)]
mod tests;
mod verify;
mod writer;

pub use blobs::{BlobReader, Blobs, MAX_BLOB_BYTES, OpenBlob};
pub use by_question::{ByQuestion, Numbered, by_question};
pub use error::{Damage, LedgerError, cannot_stand, unfit};
pub use export::export;
pub use files::{lock_patiently, open_or_create, open_plain_file, read_plain, sync_folder};
pub use folder::{Durability, RunFolder, create_folder, must_hold_a_run};
pub use format::{FormatVersion, MAX_LINE_BYTES};
pub use later::Conclusion;
pub use open::{Opened, open};
pub use read::{
    Reader, is_evidence_replayed, is_replayed, is_there, open_evidence_locks, open_locks, open_side_locks, read,
    sealed, sealed_if_there,
};
pub use scan::End;
pub use sort::{Sorted, Sorter, Twice};
pub use stage::{AnswersLock, EvidenceLock, JudgmentsLock, Lock, ProtocolLock, Recorded, SideLocks, Stage};
pub use verify::{BlobCheck, Extent, StageReport, Verification, verify, verify_to};
pub use writer::Writer;
