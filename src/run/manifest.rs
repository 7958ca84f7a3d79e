//! What makes a folder an export: its manifest, and that nothing else lies in it.

use super::{classes, origin};
use crate::ledger;
use crate::ledger::stage::{self, Stage as _};
use crate::model::{Digest, Failure, FailureClass};
use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The manifest's name.
pub(super) const MANIFEST: &str = "export.json";
/// The claim matrix, for programs and for people.
pub(super) const CLAIMS: [&str; 2] = ["claims.json", "claims.md"];
/// The result and the report for people.
pub(super) const REPORTS: [&str; 2] = ["result.json", "report.md"];
/// Every file of an export but the manifest.
const FILES: [&str; 15] = [
    stage::Protocol::FILE,
    stage::Vectors::FILE,
    stage::Evidence::FILE,
    stage::Answers::FILE,
    stage::Judgments::FILE,
    stage::Again::FILE,
    stage::Second::FILE,
    stage::ReplicaAnswers::FILE,
    stage::ReplicaJudgments::FILE,
    classes::FILE,
    REPORTS[0],
    REPORTS[1],
    CLAIMS[0],
    CLAIMS[1],
    origin::FILE,
];
/// The version that is written.
const FORMAT: &str = "1.0";
/// How the versions begin that are read.
const MAJOR: &str = "1.";
/// The largest file that is read whole, in bytes.
const LIMIT: u64 = 4 << 30;

/// What whoever has a damaged export can do: the run that it was made from is elsewhere.
pub(super) const ANOTHER: &str =
    "ask whoever exported the run for another copy, or export it again from the run folder";

/// `export.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: String,
    /// The run's name: the digest of its protocol.
    pub run: Digest,
    /// The version of the program that exported it.
    pub tool: String,
    /// What a run has and an export has not.
    pub left_out: Vec<String>,
}

impl Manifest {
    /// The manifest of a run that is exported now.
    pub(super) fn new(run: Digest) -> Self {
        let left_out = ["questions", "prompts", "evidence", "answers", "replies", "gold"];
        Self {
            format: FORMAT.to_owned(),
            run,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            left_out: left_out.map(str::to_owned).into(),
        }
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> Vec<u8> {
        // Plain members always serialise.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// The manifest of an export in which nothing else lies than what belongs there.
    ///
    /// # Errors
    /// It cannot be read, is of a later version, or something else lies there.
    pub(super) fn read(folder: &Utf8Path) -> Result<Self, Failure> {
        let bytes = read(folder, MANIFEST)?;
        let path = folder.join(MANIFEST);
        let manifest: Self = serde_json::from_slice(&bytes).map_err(|_| broken(&path, "is no manifest"))?;
        if !manifest.format.starts_with(MAJOR) {
            let what = format!("has format {}; this program reads formats up to {FORMAT}", manifest.format);
            return Err(broken(&path, &what).with_hint("use the version of the program that exported this run"));
        }
        refuse_others(folder)?;
        Ok(manifest)
    }
}

/// Whether this folder is an export, or means to be one.
pub(super) fn is_export(folder: &Utf8Path) -> bool {
    folder.join(MANIFEST).symlink_metadata().is_ok()
}

/// Reads a plain file of an export.
///
/// # Errors
/// It is missing, no plain file, or cannot be read.
pub(super) fn read(folder: &Utf8Path, name: &str) -> Result<Vec<u8>, Failure> {
    Ok(ledger::read_plain(&folder.join(name), "a file of an export", LIMIT)?)
}

/// A text could hide in a file that nobody checks.
fn refuse_others(folder: &Utf8Path) -> Result<(), Failure> {
    let known: BTreeSet<&str> = FILES.into_iter().chain([MANIFEST]).collect();
    let failed = |error: std::io::Error| {
        Failure::new(FailureClass::Incomplete, format!("failed to read `{folder}`: {}", error.kind()))
    };
    for entry in folder.read_dir_utf8().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !known.contains(entry.file_name()) {
            return Err(broken(entry.path(), "is no part of an export"));
        }
    }
    Ok(())
}

fn broken(path: &Utf8Path, what: &str) -> Failure {
    Failure::new(FailureClass::Evidence, format!("`{path}` {what}")).with_hint(ANOTHER)
}
