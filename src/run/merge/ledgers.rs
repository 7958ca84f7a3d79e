//! The ledgers of all shards, one after the other, as one chain each.

use super::parts::Part;
use crate::freeze::Frozen;
use crate::ledger::record::{JudgmentsRecord, Record, VectorsRecord};
use crate::ledger::{self, Lock, Opened, Recorded, RunFolder, Writer, stage};
use crate::model::{Failure, FailureClass};
use camino::Utf8Path;

/// Records that are written together.
const TOGETHER: usize = 1024;
/// Bytes of blobs that are written together, at least.
const BYTES_TOGETHER: usize = 8 << 20;

/// Writes all ledgers and all blobs of the shards into a new run folder.
pub(super) async fn join(parts: &[Part], folder: &RunFolder, frozen: &Frozen) -> Result<(), Failure> {
    let evidence = writer::<stage::Evidence>(folder, &frozen.lock)?;
    for part in parts {
        blobs(&part.folder, &evidence).await?;
    }
    if frozen.protocol.spec.retrieve.embed.is_some() {
        let vectors = writer::<stage::Vectors>(folder, &frozen.lock)?;
        records(parts, vectors, VectorsRecord::renumbered_with_unit).await?;
    }
    let evidence = records(parts, evidence, Record::renumbered).await?;
    let answers = records(parts, writer::<stage::Answers>(folder, &evidence)?, Record::renumbered).await?;
    judgments::<stage::Judgments>(parts, folder, &answers).await?;
    let judge = &frozen.protocol.spec.judge;
    if judge.again.is_some() {
        judgments::<stage::Again>(parts, folder, &answers).await?;
    }
    if judge.second.is_some() {
        judgments::<stage::Second>(parts, folder, &answers).await?;
    }
    if frozen.protocol.spec.replicate.is_some() {
        let replica = writer::<stage::ReplicaAnswers>(folder, &evidence)?;
        let replica = records(parts, replica, Record::renumbered).await?;
        judgments::<stage::ReplicaJudgments>(parts, folder, &replica).await?;
    }
    Ok(())
}

async fn judgments<S: Recorded<Record = JudgmentsRecord>>(
    parts: &[Part],
    folder: &RunFolder,
    answers: &Lock<S::Before>,
) -> Result<Lock<S>, Failure> {
    records(parts, writer::<S>(folder, answers)?, Record::renumbered).await
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
