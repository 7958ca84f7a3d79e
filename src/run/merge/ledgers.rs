//! The ledgers of all shards, one after the other, as one chain each.

use super::parts::Part;
use crate::ledger::record::Record;
use crate::ledger::{self, JudgmentsLock, Lock, Opened, ProtocolLock, Recorded, RunFolder, Writer, stage};
use crate::model::{Failure, FailureClass};
use camino::Utf8Path;

/// Records that are written together.
const TOGETHER: usize = 1024;
/// Bytes of blobs that are written together, at least.
const BYTES_TOGETHER: usize = 8 << 20;

/// Writes the three ledgers and all blobs of the shards into a new run folder.
pub(super) async fn join(
    parts: &[Part],
    folder: &RunFolder,
    protocol: &ProtocolLock,
) -> Result<JudgmentsLock, Failure> {
    let evidence = writer::<stage::Evidence>(folder, protocol)?;
    for part in parts {
        blobs(&part.folder, &evidence).await?;
    }
    let evidence = records(parts, evidence, Record::renumbered).await?;
    let answers = records(parts, writer::<stage::Answers>(folder, &evidence)?, Record::renumbered).await?;
    records(parts, writer::<stage::Judgments>(folder, &answers)?, Record::renumbered).await
}

fn writer<S: Recorded>(folder: &RunFolder, before: &Lock<S::Before>) -> Result<Writer<S>, Failure> {
    match ledger::open::<S>(folder, before)? {
        Opened::Open(writer) => Ok(writer),
        Opened::Sealed(_) => Err(Failure::new(FailureClass::Evidence, format!("`{}` is sealed already", S::FILE))),
    }
}

/// Copies every blob, each checked against its name.
async fn blobs(from: &Utf8Path, writer: &Writer<stage::Evidence>) -> Result<(), Failure> {
    let (mut bodies, mut bytes) = (Vec::new(), 0);
    for digest in ledger::BlobReader::at(from).names()? {
        let body = ledger::BlobReader::at(from).get(&digest)?;
        bytes += body.len();
        bodies.push(body);
        if bytes >= BYTES_TOGETHER {
            writer.append_all(&[], std::mem::take(&mut bodies)).await?;
            bytes = 0;
        }
    }
    writer.append_all(&[], bodies).await?;
    Ok(())
}

/// Copies every record, with its number among all of them, and seals.
async fn records<S: Recorded>(
    parts: &[Part],
    writer: Writer<S>,
    renumbered: fn(S::Record, u64) -> S::Record,
) -> Result<Lock<S>, Failure> {
    let mut before = 0;
    for part in parts {
        let mut written = 0;
        let mut batch = Vec::with_capacity(TOGETHER);
        for record in ledger::read::<S>(&part.folder)? {
            batch.push(renumbered(record?.1, before));
            if batch.len() == TOGETHER {
                written += batch.len() as u64;
                writer.append_all(&batch, Vec::new()).await?;
                batch.clear();
            }
        }
        writer.append_all(&batch, Vec::new()).await?;
        before += written + batch.len() as u64;
    }
    Ok(writer.seal().await?)
}
