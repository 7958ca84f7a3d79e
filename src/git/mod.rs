//! Files and trees at a commit, and the merge base, through git's own command.
//!
//! This module only reads. It never runs a shell, never lets an argument be taken for an option, and never lets the
//! caller's `GIT_` variables choose another repository.

pub mod blobs;
mod command;
pub mod error;
pub mod links;
pub mod revision;
pub mod tree;

pub use blobs::{BlobReader, BlobStream, stream};
pub use error::GitError;
pub use links::{from_root, leads_out, link_at, link_on_the_way};
pub use revision::{CommitId, is_shallow, merge_base, parents, resolve};
pub use tree::{Entry, EntryKind, Located, ObjectId, list, locate, submodule_of, tracks_files_in};
