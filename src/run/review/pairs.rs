//! The pairs of a finished run, read from its ledgers question by question.

use crate::analyze::review::{Selected, Selector, Wanted};
use crate::freeze;
use crate::ledger::BlobReader;
use crate::model::{Digest, Failure, QuestionId};
use crate::run::collect::{self, Sources};
use crate::run::found::Texts;
use crate::run::join::Join;
use crate::run::tally::Tally;
use camino::Utf8Path;
use std::collections::BTreeSet;

/// Selects pairs: all of these flips, the blind sample, and those of these names. Gold stays closed: no label may follow from it.
pub(super) fn select(
    folder: &Utf8Path,
    flips: BTreeSet<QuestionId>,
    sample: Option<usize>,
    named: BTreeSet<Digest>,
) -> Result<Selected, Failure> {
    let (protocol, mut selection) = freeze::outline(folder)?;
    let mut tally = Tally::default();
    let mut join = Join::read(&protocol, folder, &mut tally)?;
    let texts = Texts::Whole(BlobReader::at(folder));
    let mut sources = Sources { selection: &mut selection, join: &mut join, gold: None, texts };
    let mut selector = Selector::new(Wanted { key: protocol.seeds.review, flips, sample, named });
    collect::collect(&protocol, &mut sources, tally, |question, _, observation| {
        // A question that lacks an answer or a label is in no figure of the audit.
        if let Some(observation) = observation {
            selector.take(question, &observation);
        }
        Ok(())
    })?;
    Ok(selector.finish())
}
