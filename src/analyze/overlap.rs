//! Evidence turnover: how much of the retrieved documents both snapshots share, by id, by URL and by content.

use super::AnalyzeError;
use super::figures::{FlipContents, FlipOverlap, Overlap, OverlapFigures};
use super::fisher;
use super::settings::Settings;
use crate::model::{EvidenceKeys, Observation, SnapshotAnswers};
use std::collections::BTreeSet;

/// What is counted of the evidence of both sides.
///
/// ```
/// use churngate::{analyze::{Settings, analyze}, run::outside::parse};
/// let file = r#"{"id": "q1", "answers": {"old": ["x", "x"], "new": ["y", "y"]}, "labels": [["x", "y", "different"]], "evidence": {"old": [{"id": "d1"}, {"id": "d2"}], "new": [{"id": "d2"}]}}"#;
/// let analysis = analyze(&parse(file, "answers.jsonl")?, &Settings::default())?;
/// let by_id = analysis.overlap.unwrap().by_id;
/// assert_eq!((by_id.mean_shared, by_id.none, by_id.same_set), (1.0, 0, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Turnover {
    questions: u64,
    by_id: Shared,
    by_url: Shared,
    by_content: Shared,
    without_documents: [u64; 2],
    identical: u64,
    flips: Group,
    rest: Group,
    without_url: bool,
    any_document: bool,
}

/// Documents that both sides share under one sort of name.
#[derive(Clone, Copy, Debug, Default)]
struct Shared {
    sum: u64,
    none: u64,
    same_set: u64,
    same_list: u64,
}

/// Shared ids and contents of the stable flips, or of the other questions.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    questions: u64,
    by_id: Few,
    by_content: Few,
}

/// How much the questions of a group share, and how many nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Few {
    sum: u64,
    none: u64,
}

impl Few {
    fn take(&mut self, shared: u64) {
        self.sum += shared;
        self.none += u64::from(shared == 0);
    }
}

impl Turnover {
    /// Takes one question, which counts where its evidence is known on both sides. `is_flip` says whether it is a stable flip
    /// of the semantic kernel.
    ///
    /// # Errors
    /// [`AnalyzeError::UnevenEvidence`] where the lists of an evidence differ in length.
    pub fn take(&mut self, observation: &Observation, settings: &Settings, is_flip: bool) -> Result<(), AnalyzeError> {
        let known =
            |name| observation.snapshot(name).and_then(|entry| entry.evidence.as_ref().map(|keys| (entry, keys)));
        let (Some(old), Some(new)) = (known(&settings.old), known(&settings.new)) else { return Ok(()) };
        check(observation, old)?;
        check(observation, new)?;
        self.count(old.1, new.1, is_flip);
        Ok(())
    }

    fn count(&mut self, old: &EvidenceKeys, new: &EvidenceKeys, is_flip: bool) {
        self.questions += 1;
        let by_id = self.by_id.take(&old.ids, &new.ids);
        self.by_url.take(&old.urls, &new.urls);
        let by_content = self.by_content.take(&old.contents, &new.contents);
        for (count, keys) in self.without_documents.iter_mut().zip([old, new]) {
            *count += u64::from(keys.ids.is_empty());
        }
        self.identical += u64::from(old == new);
        let group = if is_flip { &mut self.flips } else { &mut self.rest };
        group.questions += 1;
        group.by_id.take(by_id);
        group.by_content.take(by_content);
        self.without_url |= old.urls.iter().chain(&new.urls).any(Option::is_none);
        self.any_document |= !old.urls.is_empty() || !new.urls.is_empty();
    }

    /// The turnover over all questions whose evidence is known on both sides; absent where there is none.
    #[must_use]
    pub fn finish(&self) -> Option<Overlap> {
        let every_url = self.any_document && !self.without_url;
        (self.questions > 0).then(|| Overlap {
            questions: self.questions,
            by_id: self.by_id.figures(self.questions),
            by_url: every_url.then(|| self.by_url.figures(self.questions)),
            by_content: self.by_content.figures(self.questions),
            without_documents: Some(self.without_documents.into()),
            identical_prompts: self.identical,
            flips: against_rest(&self.flips, &self.rest),
        })
    }
}

impl Shared {
    /// Takes one question; says how many documents both sides share.
    fn take<K: Ord>(&mut self, old: &[K], new: &[K]) -> u64 {
        let (old_set, new_set) = (set(old), set(new));
        let shared = old_set.intersection(&new_set).count() as u64;
        self.sum += shared;
        self.none += u64::from(shared == 0);
        self.same_set += u64::from(old_set == new_set);
        self.same_list += u64::from(old == new);
        shared
    }

    fn figures(&self, questions: u64) -> OverlapFigures {
        OverlapFigures {
            mean_shared: mean(self.sum, questions).unwrap_or(0.0),
            none: self.none,
            same_set: self.same_set,
            same_list: self.same_list,
        }
    }
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

fn against_rest(flips: &Group, rest: &Group) -> FlipOverlap {
    let by_id = shares(flips, rest, |group| group.by_id);
    FlipOverlap {
        flips: flips.questions,
        flips_mean_shared: by_id.flips_mean_shared,
        flips_none: by_id.flips_none,
        rest_mean_shared: by_id.rest_mean_shared,
        rest_none: by_id.rest_none,
        fisher_p: by_id.fisher_p,
        by_content: Some(shares(flips, rest, |group| group.by_content)),
    }
}

fn shares(flips: &Group, rest: &Group, of: impl Fn(&Group) -> Few) -> FlipContents {
    let row = |group: &Group| [of(group).none, group.questions - of(group).none];
    FlipContents {
        flips_mean_shared: mean(of(flips).sum, flips.questions),
        flips_none: of(flips).none,
        rest_mean_shared: mean(of(rest).sum, rest.questions),
        rest_none: of(rest).none,
        fisher_p: fisher::two_sided([row(flips), row(rest)]),
    }
}

fn set<K: Ord>(keys: &[K]) -> BTreeSet<&K> {
    keys.iter().collect()
}

fn shared<K: Ord>(old: &[K], new: &[K]) -> u64 {
    set(old).intersection(&set(new)).count() as u64
}

#[expect(clippy::cast_precision_loss, reason = "numbers of documents are far below 2^53")]
fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}
