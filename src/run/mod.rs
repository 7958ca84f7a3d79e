//! The stages in order. Short, because each stage is a call.
//!
//! This module reads the spec and the files it names, and it turns ledgers back into what the statistics need. It
//! never calls a server itself and never prints.

pub mod artifact;
pub mod audit;
mod beside;
mod claims;
mod classes;
mod collect;
mod conclusion;
mod conduct;
mod cost;
mod diagnose;
pub mod diff;
mod edits;
pub mod evidence;
pub mod explain;
pub mod export;
mod files;
mod flips;
pub mod foreign;
mod found;
mod join;
mod judges;
mod lines;
mod machinery;
mod manifest;
pub mod merge;
mod newest;
pub mod origin;
pub mod outside;
pub mod plan;
pub mod prepare;
pub mod probe;
pub mod recompute;
mod rendered;
mod replay;
mod replica;
pub mod review;
mod rule;
pub mod sensitivity;
pub mod shard;
mod standing;
mod tally;
mod verdict;
pub mod verify;

pub use audit::{Finished, audit, audit_shard};
pub use conclusion::RESULT;
pub use diff::diff;
pub use evidence::{Compared, compared, evidence, is_evidence, recorded_evidence};
pub use export::{Exported, export};
pub use lines::{Lines, lines};
pub use machinery::one_and_the_same;
pub use merge::merge;
pub use origin::{Head, Origin, origin};
pub use plan::{Plan, plan};
pub use prepare::{Draft, Prepared, Request, planned, prepare, read};
pub use probe::probe;
pub use recompute::{recompute, recorded, snapshots};
pub use rule::{Called, called};
pub use sensitivity::sensitivity;
pub use shard::Shard;
pub use verify::{Verified, verify};
