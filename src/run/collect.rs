//! From sealed ledgers to observations, question by question.

use super::found::{Found, Observed, Texts};
use super::join::{Join, TOGETHER};
use super::tally::Tally;
use crate::freeze::{Protocol, Selection, gold::Golds};
use crate::model::{Failure, Observation, Question, SnapshotName};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What questions are collected from, each from its first question on.
pub(super) struct Sources<'a> {
    /// The questions.
    pub selection: &'a mut Selection,
    /// The ledgers.
    pub join: &'a mut Join,
    /// Gold, where it is there.
    pub gold: Option<Golds>,
    /// The texts of answers.
    pub texts: Texts,
}

/// What the ledgers of one run say of all questions together.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// Questions in all.
    pub questions: u64,
    /// Questions that cannot be analyzed: a cell or a packet has no accepted outcome.
    pub excluded: u64,
    /// Questions and snapshots whose two passes did not match.
    pub mismatched: u64,
    /// Snapshots that gave a document for any question.
    pub filled: BTreeSet<SnapshotName>,
    /// Packets with an accepted judgment.
    pub packets: u64,
    /// Questions whose accepted answers differ, all of their cells filled.
    pub differing: u64,
    /// Those of them of which a pair has no label.
    pub unjudged: u64,
    /// Accepted cells, by snapshot.
    pub accepted: BTreeMap<SnapshotName, u64>,
    /// Questions that were not asked, because their prompts are byte-identical.
    pub unchanged: u64,
    /// How the audit went.
    pub tally: Tally,
}

/// Shows every question to `each` in selection order: what was found of it, and its observation where it can be analyzed.
/// Nothing of a question is kept once it was shown. `tally` is that of the same ledgers.
pub(super) fn collect(
    protocol: &Protocol,
    sources: &mut Sources<'_>,
    tally: Tally,
    mut each: impl FnMut(&Question, Found, Option<Observation>) -> Result<(), Failure>,
) -> Result<Collected, Failure> {
    let mut collected = Collected { tally, ..Collected::default() };
    let Sources { selection, join, gold, texts } = sources;
    let texts = &*texts;
    loop {
        let some = selection.some(TOGETHER)?;
        if some.is_empty() {
            break;
        }
        let mut records = join.some(protocol, &some)?;
        records.iter().try_for_each(|of| of.check(protocol))?;
        if let Some(golds) = gold.as_mut() {
            records.iter_mut().try_for_each(|of| golds.of(of.rank).map(|gold| of.gold = gold))?;
        }
        let together = some.par_iter().zip(records);
        let found = together.map(|(question, records)| {
            let found = Found::of(records, texts)?;
            let observed = found.observation(protocol, question);
            Ok((question, found, observed))
        });
        for found in found.collect::<Vec<Result<_, Failure>>>() {
            let (question, found, observed) = found?;
            let observation = collected.count(&found, observed);
            if let Some(observation) = &observation {
                collected.tally.answering.question(observation, &found.answers.last)?;
            }
            each(question, found, observation)?;
        }
    }
    join.finish()?;
    Ok(collected)
}

impl Collected {
    /// Counts one question; gives back its observation where it can be analyzed.
    fn count(&mut self, found: &Found, observed: Option<Observed>) -> Option<Observation> {
        self.questions += 1;
        self.mismatched += found.evidence.mismatched;
        self.filled.extend(found.evidence.filled.iter().cloned());
        self.packets += found.packets;
        self.unchanged += u64::from(found.answers.unchanged);
        for (snapshot, _) in found.answers.cells.keys() {
            *self.accepted.entry(snapshot.clone()).or_default() += 1;
        }
        let pairs = observed.as_ref().map_or(0, Observed::pairs);
        self.differing += u64::from(pairs > 0);
        self.unjudged += u64::from(observed.as_ref().is_some_and(|observed| observed.lacking > 0));
        let whole = observed.filter(|observed| observed.lacking == 0);
        self.excluded += u64::from(whole.is_none());
        whole.map(|observed| observed.observation)
    }
}
