//! What else in the run folder says of a ledger that has no seal: later ledgers, and the conclusion that was made from it. What
//! it held was paid for, and to ask for it again could not bring back what was made from it.

use super::scan::Scan;
use super::stage::{self, Later};
use super::{LedgerError, Recorded, RunFolder, files, format};
use crate::model::Digest;
use camino::Utf8Path;

/// The file that a run has once all of its ledgers are sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conclusion {
    /// Its name in the run folder.
    pub file: &'static str,
    /// The names and heads of the ledgers that it was made from, as far as it tells them; nothing where it cannot be read as a
    /// file of this run.
    pub heads: Option<Vec<(String, Digest)>>,
}

/// Whether something was made of exactly what stands here, so that nothing but the seal is lost: then the ledger is to be sealed
/// as it is, and not to be gone on with. `head` is the one that it would have if it were sealed so; it has none without a header.
///
/// # Errors
/// A later ledger, or the run's conclusion, shows that more is lost than the seal; or a later one cannot be read, or has a
/// header of another stage.
pub(super) fn only_the_seal_is_lost<S: Recorded>(
    folder: &RunFolder,
    head: Option<Digest>,
) -> Result<bool, LedgerError> {
    let (mut continued, mut standing) = (false, None);
    for Later { file, name, is_next } in stage::later(S::FILE) {
        let path = folder.path().join(file);
        if !has_bytes(&path)? {
            continue;
        }
        match head.filter(|_| is_next) {
            Some(head) => match Scan::open(&path, name)?.before() {
                Some(before) if before == head => continued = true,
                Some(_) => return Err(continues_more::<S>(folder, Some(head), file)),
                // Without a whole header it continues nothing, and is begun anew.
                None => {}
            },
            None => standing = standing.or(Some(file)),
        }
    }
    match (continued, standing) {
        (true, _) => Ok(true),
        (false, Some(file)) => Err(continues_more::<S>(folder, head, file)),
        (false, None) => concluded::<S>(folder, head),
    }
}

/// The same of the run's conclusion, for which nothing continues the last ledgers.
fn concluded<S: Recorded>(folder: &RunFolder, head: Option<Digest>) -> Result<bool, LedgerError> {
    let Some(Conclusion { file, heads }) = folder.conclusion() else { return Ok(false) };
    let Some(heads) = heads else {
        return Err(LedgerError::Unclear { path: folder.path().join(S::FILE), beside: file });
    };
    let named = heads.iter().find(|(name, _)| name == S::NAME).map(|(_, head)| *head);
    if named.is_some() && named == head {
        return Ok(true);
    }
    Err(lost::<S>(folder, head, format!("`{file}` was made from it")))
}

/// Whether a sealed ledger is the one that the run's conclusion was made from, as far as that names one.
///
/// # Errors
/// It names another: to write the conclusion anew would hide that one of them was changed.
pub(super) fn is_concluded_from<S: Recorded>(folder: &RunFolder, head: Digest) -> Result<(), LedgerError> {
    let Some(Conclusion { file, heads: Some(heads) }) = folder.conclusion() else { return Ok(()) };
    if heads.iter().all(|(name, named)| name != S::NAME || *named == head) {
        return Ok(());
    }
    Err(LedgerError::Another { path: folder.path().join(S::FILE), beside: file })
}

fn continues_more<S: Recorded>(folder: &RunFolder, head: Option<Digest>, later: &str) -> LedgerError {
    lost::<S>(folder, head, format!("`{later}` continues it"))
}

fn lost<S: Recorded>(folder: &RunFolder, head: Option<Digest>, why: String) -> LedgerError {
    let what = if head.is_some() { "has lost its end" } else { "is lost" };
    LedgerError::Lost { path: folder.path().join(S::FILE), what, why }
}

/// The head that the ledger would have if it were sealed as it is. One without a header has none.
///
/// # Errors
/// Never in practice: memory takes the seal.
pub(super) fn head_if_sealed<R: std::io::BufRead>(scan: &Scan<R>) -> Result<Option<Digest>, LedgerError> {
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
