//! `churngate explain`: which change of evidence moved the answer to one question of a finished run.
//!
//! It reads the run's ledgers and blobs, and never the corpus. What it asks lies in a folder of its own, `explain/` within the run's,
//! in ledgers of the same format; no file of the run itself is written.

mod case;
mod found;
mod kept;
mod told;

use crate::ledger::stage::{self, Stage as _};

pub use case::{Case, open};

/// The folder within a run's that holds its explanations.
pub(super) const FOLDER: &str = "explain";

/// The files of an explanation's folder. Blobs lie in `blobs`.
pub(super) const FILES: [&str; 5] =
    [stage::Protocol::FILE, stage::Evidence::FILE, stage::Counterfactuals::FILE, "lock", "blobs.journal"];
