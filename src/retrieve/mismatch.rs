//! Why two passes over one snapshot came to different evidence, as far as their replies tell.

use super::engine::ranked;
use crate::freeze::Protocol;
use crate::ledger::record::{EvidenceKey, Outcome, Record, Verdict};
use crate::ledger::stage::Evidence as EvidenceStage;
use crate::ledger::{self, BlobReader};
use crate::model::{Digest, Failure, QuestionId, SnapshotName};
use crate::spec::{HttpRetrieveSpec, OnMismatch, RetrieveBackend};
use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet};

/// Ids and scores, best first.
type Ranked = Vec<(String, Option<f64>)>;

/// What the two replies for one question have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// Documents of one score change places, or take turns at the cut.
    Ties,
    /// The same documents have other scores.
    Scores,
    /// Documents came and went, and no tie explains it.
    Documents,
    /// Ids and scores are the same, and texts are not.
    Texts,
}

/// Why evidence cannot stand of which so many retrievals came to something else when they were made again, where the spec stops at
/// one: what stops the stage is asked again of whatever is verified.
#[must_use]
pub fn differing(on_mismatch: OnMismatch, retrievals: u64) -> Option<String> {
    let stops = on_mismatch == OnMismatch::Stop && retrievals > 0;
    stops.then(|| {
        format!("{retrievals} of the retrievals came to something else the second time, and the spec stops at one")
    })
}

/// Sentences on why the passes over these snapshots differ, by snapshot; none where replies tell nothing.
///
/// # Errors
/// The ledger or a blob cannot be read.
pub(super) fn reasons(
    protocol: &Protocol,
    folder: &Utf8Path,
    snapshots: &BTreeSet<SnapshotName>,
) -> Result<BTreeMap<SnapshotName, String>, Failure> {
    let RetrieveBackend::Http(spec) = &protocol.spec.retrieve.backend else { return Ok(BTreeMap::new()) };
    let bodies = bodies(folder, snapshots)?;
    let blobs = BlobReader::at(folder);
    let mut counted: BTreeMap<SnapshotName, BTreeMap<Why, u64>> = BTreeMap::new();
    for ((snapshot, _), passes) in bodies {
        let [Some(first), Some(second)] = passes else { continue };
        if first.evidence != second.evidence {
            let ranked =
                |pass: &Pass| Ok::<_, Failure>(read(spec, &blobs.get(&pass.body)?, protocol.spec.retrieve.top_k));
            let why = why(&ranked(&first)?, &ranked(&second)?);
            *counted.entry(snapshot).or_default().entry(why).or_default() += 1;
        }
    }
    Ok(counted.into_iter().map(|(snapshot, counts)| (snapshot, in_words(&counts))).collect())
}

fn read(spec: &HttpRetrieveSpec, body: &[u8], top_k: u32) -> Ranked {
    ranked(spec, body, top_k)
}

/// What one pass came to.
struct Pass {
    evidence: Digest,
    body: Digest,
}

type Bodies = BTreeMap<(SnapshotName, QuestionId), [Option<Pass>; 2]>;

fn bodies(folder: &Utf8Path, snapshots: &BTreeSet<SnapshotName>) -> Result<Bodies, Failure> {
    let mut bodies = Bodies::new();
    for record in ledger::read::<EvidenceStage>(folder)? {
        let Record::Outcome(Outcome { of, verdict: Verdict::Accepted(accepted), body: Some(body), .. }) = record?.1
        else {
            continue;
        };
        let EvidenceKey { question, snapshot, pass } = of;
        if snapshots.contains(&snapshot)
            && let Some(slot) = bodies.entry((snapshot, question)).or_default().get_mut(pass as usize)
        {
            *slot = Some(Pass { evidence: accepted.evidence, body });
        }
    }
    Ok(bodies)
}

fn why(first: &Ranked, second: &Ranked) -> Why {
    let ids = |ranked: &Ranked| ranked.iter().map(|(id, _)| id.clone()).collect::<BTreeSet<String>>();
    let scores = |ranked: &Ranked| ranked.iter().map(|(_, score)| *score).collect::<Vec<_>>();
    let known = first.iter().chain(second).all(|(_, score)| score.is_some());
    let same_ids = ids(first) == ids(second);
    if first == second {
        return Why::Texts;
    }
    let of_first: BTreeMap<&str, Option<f64>> = first.iter().map(|(id, score)| (id.as_str(), *score)).collect();
    let keeps = |(id, score): &(String, Option<f64>)| of_first.get(id.as_str()).is_none_or(|before| before == score);
    match (known && scores(first) == scores(second) && second.iter().all(keeps), same_ids) {
        (true, _) => Why::Ties,
        (false, true) => Why::Scores,
        (false, false) => Why::Documents,
    }
}

fn in_words(counts: &BTreeMap<Why, u64>) -> String {
    let word = |(why, count): (&Why, &u64)| {
        let why = match why {
            Why::Ties => "equal scores tie, and their order is not fixed",
            Why::Scores => "the same documents score or rank differently, as replicas of an index do",
            Why::Documents => "other documents come, as replicas or an approximate index give them",
            Why::Texts => "texts changed under the same ids: the index is being written to",
        };
        format!("{why} ({count})")
    };
    counts.iter().map(word).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(pairs: &[(&str, f64)]) -> Ranked {
        pairs.iter().map(|(id, score)| ((*id).to_owned(), Some(*score))).collect()
    }

    #[test]
    fn ties_replicas_and_other_documents_are_told_apart() {
        let first = ranked(&[("a", 2.0), ("b", 1.0), ("c", 1.0)]);
        let cases = [
            (ranked(&[("a", 2.0), ("c", 1.0), ("b", 1.0)]), Why::Ties),
            (ranked(&[("a", 2.0), ("b", 1.0), ("d", 1.0)]), Why::Ties),
            (ranked(&[("a", 2.1), ("b", 1.0), ("c", 1.0)]), Why::Scores),
            (ranked(&[("b", 2.0), ("a", 1.0), ("c", 1.0)]), Why::Scores),
            (ranked(&[("a", 2.0), ("d", 1.5), ("b", 1.0)]), Why::Documents),
            (first.clone(), Why::Texts),
        ];
        for (second, expected) in cases {
            assert_eq!(why(&first, &second), expected, "{second:?}");
        }
    }

    #[test]
    fn without_scores_nothing_is_called_a_tie() {
        let bare = |ids: &[&str]| ids.iter().map(|id| ((*id).to_owned(), None)).collect::<Ranked>();
        assert_eq!(why(&bare(&["a", "b"]), &bare(&["b", "a"])), Why::Scores);
        assert_eq!(why(&bare(&["a", "b"]), &bare(&["a", "c"])), Why::Documents);
    }
}
