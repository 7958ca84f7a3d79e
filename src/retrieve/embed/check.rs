//! Whether the snapshots' own vectors come from the embedder that embeds the questions. One that was swapped for another
//! of the same dimension passes every other guard and finds next to nothing.

use super::alike::cosine;
use super::embedder::embed;
use crate::http::Context;
use crate::model::{Event, Failure, FailureClass, SnapshotName};
use crate::retrieve::engine::Sample;
use crate::spec::EmbedSpec;

/// How much less alike than in another snapshot the vectors of one may be. What a pipeline puts before a text it embeds
/// makes all snapshots less alike, and none of them less than the others.
const GAP: f64 = 0.05;
/// Below this, vectors are of another embedder in all likelihood, whatever was put before the text.
const UNLIKE: f64 = 0.5;

/// Holds a few stored vectors of every snapshot against the embedder.
///
/// # Errors
/// One snapshot's vectors are of another embedder, or of another dimension than the questions'.
pub(in crate::retrieve) async fn check(
    spec: &EmbedSpec,
    snapshots: &[(SnapshotName, Vec<Sample>)],
    dimensions: usize,
    context: &Context,
) -> Result<(), Failure> {
    let mut found = Vec::new();
    for (name, stored) in snapshots {
        if stored.is_empty() {
            context.observer.observe(Event::Note(format!(
                "the engine shows no stored vectors of the snapshot `{name}`: whether they are the embedder's is not known"
            )));
            continue;
        }
        if let Some((_, vector)) = stored.iter().find(|(_, vector)| vector.len() != dimensions) {
            return Err(other_dimension(name, vector.len(), dimensions));
        }
        found.push((name, alike(spec, stored, context).await?));
    }
    judge(&found, context)
}

/// The mean cosine of stored vectors and those that the embedder makes of the same texts.
async fn alike(spec: &EmbedSpec, stored: &[Sample], context: &Context) -> Result<f64, Failure> {
    let texts: Vec<String> = stored.iter().map(|(text, _)| text.clone()).collect();
    let embedded = embed(spec, &texts, context).await?;
    let sum: f64 = stored.iter().zip(&embedded.vectors).map(|((_, stored), made)| cosine(stored, made)).sum();
    Ok(sum / f64::from(u32::try_from(stored.len()).unwrap_or(u32::MAX)))
}

fn judge(found: &[(&SnapshotName, f64)], context: &Context) -> Result<(), Failure> {
    let Some(best) = found.iter().map(|(_, alike)| *alike).reduce(f64::max) else { return Ok(()) };
    let told = |(name, alike): &(&SnapshotName, f64)| format!("`{name}` {alike:.2}");
    let listed = || found.iter().map(told).collect::<Vec<_>>().join(", ");
    if let Some((name, _)) = found.iter().find(|(_, alike)| best - alike > GAP) {
        let message = format!(
            "the vectors in the snapshot `{name}` are of another embedder than the questions' (cosine with it: {})",
            listed()
        );
        return Err(Failure::new(FailureClass::Usage, message).with_hint(
            "rebuild the index with the embedder that `retrieve.embed` names; `check: off` audits it as it is",
        ));
    }
    if best < UNLIKE {
        context.observer.observe(Event::Note(format!(
            "stored vectors are unlike those that `retrieve.embed` makes of the same texts (cosine {}): it may be another \
             embedder than the indexes'",
            listed()
        )));
    }
    Ok(())
}

fn other_dimension(name: &SnapshotName, stored: usize, made: usize) -> Failure {
    let message =
        format!("the vectors in the snapshot `{name}` have {stored} numbers, those of the questions have {made}");
    Failure::new(FailureClass::Usage, message).with_hint("name the embedder that the index was built with")
}
