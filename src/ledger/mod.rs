//! Append-only, hash-chained records of each stage, and the locks that prove that a stage is sealed.
//!
//! A ledger's first line names format, stage, tool version and the head of the ledger before it; each record carries
//! its number and the SHA-256 of the line before it as written; the last line is the seal. Bodies lie in `blobs/`.
//! This module never interprets what it stores.

pub mod record;
pub mod stage;

pub use stage::{AnswersLock, EvidenceLock, JudgmentsLock, Lock, ProtocolLock, Stage};
