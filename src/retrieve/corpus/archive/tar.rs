//! Entries of a tar file, in its order.

use super::guard::{Found, Guard};
use super::kind::{Packing, unpacked};
use super::{CorpusError, Visit};
use ::tar::EntryType;
use std::io::{self, Read};
use std::sync::atomic::Ordering;

/// Shows every document. The whole stream is read to its end, so that its checksum counts.
pub(super) fn each(
    bytes: Box<dyn Read + Send>,
    packing: Packing,
    mut guard: Guard<'_>,
    visit: &mut Visit<'_>,
) -> Result<Found, CorpusError> {
    let bytes = guard.counted(unpacked(bytes, packing));
    let ended = bytes.ended();
    let mut archive = ::tar::Archive::new(bytes);
    for entry in archive.entries().map_err(|error| guard.failed(error))? {
        let entry = entry.map_err(|error| guard.failed(error))?;
        guard.next()?;
        let name = entry.path_bytes().into_owned();
        match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                if let Some(id) = guard.document(&name)?
                    && visit(guard.read(id, entry)?).is_break()
                {
                    return Ok(guard.found);
                }
            }
            EntryType::Symlink => guard.link(&name)?,
            EntryType::Directory | EntryType::XGlobalHeader => {}
            EntryType::Link => return Err(guard.bad(&name, "is a hard link, which is not followed")),
            _ => return Err(guard.bad(&name, "is neither a file nor a folder")),
        }
    }
    // Two blocks of zeros end an archive; one that was cut between two entries has none.
    if ended.load(Ordering::Relaxed) {
        return Err(CorpusError::Damaged(guard.archive.name.clone()));
    }
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(|error| guard.failed(error))?;
    Ok(guard.found)
}
