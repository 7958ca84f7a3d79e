//! What a finished run says of the ledgers that it was made from, read before anything is asked: of a ledger that was lost since,
//! another one would be drawn in silence, and paid for twice.

use super::shard;
use crate::freeze::Protocol;
use crate::ledger::{self, Conclusion, LedgerError};
use crate::model::{Digest, Failure};
use crate::report;
use crate::spec::Mode;
use camino::Utf8Path;
use serde::Deserialize;

/// The file of a finished audit's result.
pub const RESULT: &str = "result.json";

/// The largest file that is read, in bytes.
const LIMIT: u64 = 1 << 30;

/// What is read of a result, of what a shard says of itself, and of the result of evidence alone, which names no heads.
#[derive(Deserialize)]
struct Said {
    protocol: Digest,
    #[serde(default)]
    record: Heads,
    #[serde(default)]
    heads: Vec<(String, Digest)>,
}

#[derive(Default, Deserialize)]
struct Heads {
    #[serde(default)]
    heads: Vec<(String, Digest)>,
}

/// What is said of a ledger that cannot be used: one without a seal in a run that was finished has lost its end, and is not one to
/// be gone on with.
pub(super) fn of_ledger(folder: &Utf8Path, error: LedgerError) -> Failure {
    let finished = [RESULT, shard::FILE, report::DIFF_FORMATS[0].file];
    let beside = finished.into_iter().find(|file| folder.join(file).symlink_metadata().is_ok());
    match (error, beside) {
        (LedgerError::Unsealed { path }, Some(file)) => {
            LedgerError::Lost { path, what: "has lost its end", why: format!("`{file}` was made from it") }.into()
        }
        (error, _) => error.into(),
    }
}

/// What lies in the folder of a run of this protocol that was finished; nothing where it was not.
pub(super) fn read(folder: &Utf8Path, protocol: &Protocol, is_shard: bool) -> Option<Conclusion> {
    let file = match protocol.spec.mode {
        Mode::Evidence => report::DIFF_FORMATS[0].file,
        Mode::Audit if is_shard => shard::FILE,
        Mode::Audit => RESULT,
    };
    let bytes = match ledger::read_plain(&folder.join(file), "a result", LIMIT) {
        Err(LedgerError::Missing { .. }) => return None,
        read => read.ok(),
    };
    let said = bytes.and_then(|bytes| serde_json::from_slice::<Said>(&bytes).ok());
    let own = said.filter(|said| said.protocol == protocol.digest);
    let heads = own.map(|Said { record, heads, .. }| [record.heads, heads].concat());
    Some(Conclusion { file, heads })
}
