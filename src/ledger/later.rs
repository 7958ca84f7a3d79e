//! What later ledgers say of one that has no seal. What it held was paid for, and to ask for it again could not bring back
//! what they continue.

use super::format;
use super::scan::Scan;
use super::stage::{self, Later};
use super::{LedgerError, Recorded, RunFolder, files};
use crate::model::Digest;
use camino::Utf8Path;

/// Whether a later ledger continues what stands here, so that nothing but the seal is lost: then the ledger is to be sealed as
/// it is, and not to be gone on with.
///
/// # Errors
/// A later ledger shows that more is lost than the seal; or it cannot be read, or has a header of another stage.
pub(super) fn only_the_seal_is_lost<S: Recorded, R: std::io::BufRead>(
    folder: &RunFolder,
    scan: &Scan<R>,
) -> Result<bool, LedgerError> {
    let head = head_if_sealed(scan)?;
    let (mut continued, mut standing) = (false, None);
    for Later { file, name, is_next } in stage::later(S::FILE) {
        let path = folder.path().join(file);
        if !has_bytes(&path)? {
            continue;
        }
        match head.filter(|_| is_next) {
            Some(head) => match Scan::open(&path, name)?.before() {
                Some(before) if before == head => continued = true,
                Some(_) => return Err(lost::<S>(folder, scan.has_header(), file)),
                // Without a whole header it continues nothing, and is begun anew.
                None => {}
            },
            None => standing = standing.or(Some(file)),
        }
    }
    match standing {
        Some(file) if !continued => Err(lost::<S>(folder, scan.has_header(), file)),
        _ => Ok(continued),
    }
}

fn lost<S: Recorded>(folder: &RunFolder, begun: bool, later: &'static str) -> LedgerError {
    let what = if begun { "has lost its end" } else { "is lost" };
    LedgerError::Lost { path: folder.path().join(S::FILE), what, later }
}

/// The head that the ledger would have if it were sealed as it is. One without a header has none.
fn head_if_sealed<R: std::io::BufRead>(scan: &Scan<R>) -> Result<Option<Digest>, LedgerError> {
    if !scan.has_header() {
        return Ok(None);
    }
    let mut seal = Vec::new();
    format::write_seal(&mut seal, scan.records(), &scan.prev())?;
    Ok(Some(Digest::of(&seal)))
}

fn has_bytes(path: &Utf8Path) -> Result<bool, LedgerError> {
    Ok(files::look(path)?.is_some_and(|metadata| metadata.len() > 0))
}
