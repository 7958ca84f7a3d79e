//! Whether the snapshots' own vectors come from the embedder that embeds the questions. One that was swapped for another
//! of the same dimension passes every other guard and finds next to nothing.

use super::alike::cosine;
use super::embedder::{Batch, Embedder};
use super::vectors::Vectors;
use crate::ledger::record::{Record, StoredVectors, Texts};
use crate::model::{Event, Failure, FailureClass, SnapshotName};
use crate::retrieve::engine::Sample;

/// How much less alike than in another snapshot the vectors of one may be, in ten-thousandths. What a pipeline puts before a
/// text it embeds makes all snapshots less alike, and none of them less than the others.
const GAP: i32 = 500;
/// Below this, vectors are of another embedder in all likelihood, whatever was put before the text.
const UNLIKE: i32 = 5_000;

/// Holds a few stored vectors of every snapshot against the embedder, and notes how alike they are.
///
/// # Errors
/// One snapshot's vectors are of another embedder, or of another dimension than the questions'.
pub(in crate::retrieve) async fn check(
    embedder: &Embedder<'_>,
    snapshots: &[(SnapshotName, Vec<Sample>)],
    vectors: &Vectors,
) -> Result<(), Failure> {
    let dimensions = vectors.reference().vector.len();
    let mut notes = Vec::new();
    for (snapshot, stored) in snapshots {
        if let Some((_, vector)) = stored.iter().find(|(_, vector)| vector.len() != dimensions) {
            return Err(other_dimension(snapshot, vector.len(), dimensions));
        }
        let cosine = if stored.is_empty() { None } else { Some(alike(embedder, stored, vectors).await?) };
        notes.push(StoredVectors { snapshot: snapshot.clone(), vectors: stored.len() as u64, cosine });
    }
    let records: Vec<_> = notes.iter().cloned().map(Record::Note).collect();
    embedder.writer.append_all(&records, Vec::new()).await?;
    judge(&notes)?;
    for lapse in lapses(&notes) {
        embedder.context.observer.observe(Event::Note(lapse));
    }
    Ok(())
}

/// The mean cosine of stored vectors and those that the embedder makes of the same texts, in ten-thousandths.
async fn alike(embedder: &Embedder<'_>, stored: &[Sample], vectors: &Vectors) -> Result<i32, Failure> {
    let texts: Vec<String> = stored.iter().map(|(text, _)| text.clone()).collect();
    let batch = Batch { kind: Texts::Stored, texts, questions: Vec::new(), reference: Some(vectors.reference()) };
    let made = embedder.embed(&batch).await?;
    let sum: f64 = stored.iter().zip(&made).map(|((_, stored), made)| cosine(stored, &made.vector)).sum();
    let mean = sum / f64::from(u32::try_from(stored.len()).unwrap_or(u32::MAX));
    #[expect(clippy::cast_possible_truncation, reason = "a cosine is at most 1")]
    Ok((mean * 10_000.0).round() as i32)
}

/// Whether all snapshots are as alike to the embedder as the one that is most alike.
///
/// # Errors
/// One is not.
pub(super) fn judge(notes: &[StoredVectors]) -> Result<(), Failure> {
    let Some(best) = best(notes) else { return Ok(()) };
    let Some(other) = notes.iter().find(|note| note.cosine.is_some_and(|cosine| best - cosine > GAP)) else {
        return Ok(());
    };
    let message = format!(
        "the vectors in the snapshot `{}` are of another embedder than the questions' (cosine with it: {})",
        other.snapshot,
        listed(notes)
    );
    Err(Failure::new(FailureClass::Usage, message)
        .with_hint("rebuild the index with the embedder that `retrieve.embed` names; `check: off` audits it as it is"))
}

/// What these notes leave open.
pub(super) fn lapses(notes: &[StoredVectors]) -> Vec<String> {
    let silent = notes.iter().filter(|note| note.cosine.is_none()).map(|note| {
        format!(
            "the engine shows no stored vectors of the snapshot `{}`: whether they are the embedder's is not known",
            note.snapshot
        )
    });
    let unlike = best(notes).filter(|best| *best < UNLIKE).map(|_| {
        format!(
            "stored vectors are unlike those that `retrieve.embed` makes of the same texts (cosine {}): it may be another \
             embedder than the indexes'",
            listed(notes)
        )
    });
    silent.chain(unlike).collect()
}

fn best(notes: &[StoredVectors]) -> Option<i32> {
    notes.iter().filter_map(|note| note.cosine).max()
}

fn listed(notes: &[StoredVectors]) -> String {
    let told = |note: &StoredVectors| {
        note.cosine.map(|cosine| format!("`{}` {:.2}", note.snapshot, f64::from(cosine) / 10_000.0))
    };
    notes.iter().filter_map(told).collect::<Vec<_>>().join(", ")
}

fn other_dimension(name: &SnapshotName, stored: usize, made: usize) -> Failure {
    let message =
        format!("the vectors in the snapshot `{name}` have {stored} numbers, those of the questions have {made}");
    Failure::new(FailureClass::Usage, message).with_hint("name the embedder that the index was built with")
}
