//! Evidence turnover: how much of the retrieved documents both snapshots share, by id, by URL and by content.

use super::AnalyzeError;
use super::figures::{FlipOverlap, Overlap, OverlapFigures};
use super::fisher;
use super::settings::Settings;
use crate::model::{EvidenceKeys, Observation, SnapshotAnswers};
use std::collections::BTreeSet;

/// The evidence of one question on both sides, and whether the question is a stable flip.
struct Pair<'a> {
    old: &'a EvidenceKeys,
    new: &'a EvidenceKeys,
    flip: bool,
}

/// The turnover over all questions whose evidence is known on both sides; absent where there is none.
///
/// `is_flip` says which questions are stable flips of the semantic kernel.
///
/// # Errors
/// [`AnalyzeError::UnevenEvidence`] where the lists of an evidence differ in length.
///
/// ```
/// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "y"]}, "labels": [["x", "y", "different"]], "evidence": {"old": [{"id": "d1"}, {"id": "d2"}], "new": [{"id": "d2"}]}}"#;
/// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings::default())?;
/// let by_id = analysis.overlap.unwrap().by_id;
/// assert_eq!((by_id.mean_shared, by_id.none, by_id.same_set), (1.0, 0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn overlap(
    observations: &[Observation],
    settings: &Settings,
    is_flip: impl Fn(&Observation) -> bool,
) -> Result<Option<Overlap>, AnalyzeError> {
    let mut pairs = Vec::new();
    for observation in observations {
        let known =
            |name| observation.snapshot(name).and_then(|entry| entry.evidence.as_ref().map(|keys| (entry, keys)));
        let (Some(old), Some(new)) = (known(&settings.old), known(&settings.new)) else { continue };
        check(observation, old)?;
        check(observation, new)?;
        pairs.push(Pair { old: old.1, new: new.1, flip: is_flip(observation) });
    }
    Ok((!pairs.is_empty()).then(|| figures(&pairs)))
}

/// Documents with the same content on both sides; absent without evidence.
#[must_use]
pub fn shared_contents(old: &SnapshotAnswers, new: &SnapshotAnswers) -> Option<u64> {
    Some(shared(&old.evidence.as_ref()?.contents, &new.evidence.as_ref()?.contents))
}

fn check(observation: &Observation, (entry, keys): (&SnapshotAnswers, &EvidenceKeys)) -> Result<(), AnalyzeError> {
    if keys.ids.len() == keys.urls.len() && keys.ids.len() == keys.contents.len() {
        return Ok(());
    }
    Err(AnalyzeError::UnevenEvidence { question: observation.id.clone(), snapshot: entry.snapshot.clone() })
}

fn figures(pairs: &[Pair<'_>]) -> Overlap {
    let every_url = pairs.iter().all(|pair| pair.old.urls.iter().chain(&pair.new.urls).all(Option::is_some));
    let any_document = pairs.iter().any(|pair| !pair.old.urls.is_empty() || !pair.new.urls.is_empty());
    Overlap {
        questions: pairs.len() as u64,
        by_id: by(pairs, |keys| &keys.ids),
        by_url: (every_url && any_document).then(|| by(pairs, |keys| &keys.urls)),
        by_content: by(pairs, |keys| &keys.contents),
        without_documents: Some((
            count(pairs, |pair| pair.old.ids.is_empty()),
            count(pairs, |pair| pair.new.ids.is_empty()),
        )),
        identical_prompts: count(pairs, |pair| pair.old == pair.new),
        flips: against_rest(pairs),
    }
}

fn by<K: Ord>(pairs: &[Pair<'_>], key: impl Fn(&EvidenceKeys) -> &Vec<K>) -> OverlapFigures {
    OverlapFigures {
        mean_shared: mean(pairs.iter().map(|pair| shared(key(pair.old), key(pair.new)))).unwrap_or(0.0),
        none: count(pairs, |pair| shared(key(pair.old), key(pair.new)) == 0),
        same_set: count(pairs, |pair| set(key(pair.old)) == set(key(pair.new))),
        same_list: count(pairs, |pair| key(pair.old) == key(pair.new)),
    }
}

fn against_rest(pairs: &[Pair<'_>]) -> FlipOverlap {
    let (flips, rest): (Vec<&Pair<'_>>, Vec<&Pair<'_>>) = pairs.iter().partition(|pair| pair.flip);
    let by_id = |pair: &&Pair<'_>| shared(&pair.old.ids, &pair.new.ids);
    let none = |pairs: &[&Pair<'_>]| pairs.iter().filter(|pair| by_id(pair) == 0).count() as u64;
    let (flips_none, rest_none) = (none(&flips), none(&rest));
    let (flips_some, rest_some) = (flips.len() as u64 - flips_none, rest.len() as u64 - rest_none);
    FlipOverlap {
        flips: flips.len() as u64,
        flips_mean_shared: mean(flips.iter().map(by_id)),
        flips_none,
        rest_mean_shared: mean(rest.iter().map(by_id)),
        rest_none,
        fisher_p: fisher::two_sided([[flips_none, flips_some], [rest_none, rest_some]]),
    }
}

fn set<K: Ord>(keys: &[K]) -> BTreeSet<&K> {
    keys.iter().collect()
}

fn shared<K: Ord>(old: &[K], new: &[K]) -> u64 {
    set(old).intersection(&set(new)).count() as u64
}

fn count(pairs: &[Pair<'_>], holds: impl Fn(&Pair<'_>) -> bool) -> u64 {
    pairs.iter().filter(|pair| holds(pair)).count() as u64
}

#[expect(clippy::cast_precision_loss, reason = "numbers of documents are far below 2^53")]
fn mean(values: impl Iterator<Item = u64>) -> Option<f64> {
    let (sum, count) = values.fold((0, 0_u64), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum as f64 / count as f64)
}
