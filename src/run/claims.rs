//! The claim matrix of a run: the records behind each figure of its report.

use super::recompute::Computed;
use super::tally::Span;
use super::{classes, origin};
use crate::ledger::stage::{self, Stage as _};
use crate::model::{Digest, Failure};
use crate::report::{self, ClaimMatrix, FlipDetail, Kind, Ledger, RecordSpan, Source, SourceFacts};
use camino::Utf8Path;
use std::collections::BTreeSet;

/// The matrix of what was computed in this folder. Where no record of a kind is there, no claim names it.
///
/// # Errors
/// The rule's record cannot be read.
pub(super) fn matrix(folder: &Utf8Path, computed: &Computed) -> Result<ClaimMatrix, Failure> {
    let rule = origin::bytes(folder)?.map(|bytes| Digest::of(&bytes));
    let mut claims = report::claims(&computed.result);
    let named: BTreeSet<Source> = claims.iter().flat_map(|claim| claim.sources.iter().copied()).collect();
    let known: Vec<(Source, SourceFacts)> =
        named.into_iter().filter_map(|source| Some((source, facts(source, computed, rule)?))).collect();
    for claim in &mut claims {
        claim.sources.retain(|source| known.iter().any(|(there, _)| there == source));
    }
    let kept = |flip: &FlipDetail| computed.flipped.get(&flip.question).map(|kept| kept.records.clone());
    let flips = computed.result.flips.iter().filter_map(kept).collect();
    let sources = known.into_iter().map(|(_, facts)| facts).collect();
    Ok(ClaimMatrix { run: computed.result.protocol, sources, claims, flips })
}

/// Where a source lies; nothing where it does not.
fn facts(source: Source, computed: &Computed, rule: Option<Digest>) -> Option<SourceFacts> {
    let head = |name: &str| {
        let heads = &computed.result.record.heads;
        heads.iter().find(|(ledger, _)| ledger == name).map(|(_, head)| *head)
    };
    let (file, digest, records) = match source {
        Source::Protocol => (stage::Protocol::FILE, head("protocol")?, None),
        Source::Classes => (classes::FILE, head("classes")?, None),
        Source::Rule => (origin::FILE, rule?, None),
        Source::Records(ledger, kind) => (file(ledger), head(ledger.name())?, Some(span(ledger, kind, computed)?)),
    };
    Some(SourceFacts { name: source.name(), file: file.to_owned(), digest, records })
}

const fn file(ledger: Ledger) -> &'static str {
    match ledger {
        Ledger::Vectors => stage::Vectors::FILE,
        Ledger::Evidence => stage::Evidence::FILE,
        Ledger::Answers => stage::Answers::FILE,
        Ledger::Judgments => stage::Judgments::FILE,
        Ledger::Again => stage::Again::FILE,
        Ledger::Second => stage::Second::FILE,
        Ledger::ReplicaAnswers => stage::ReplicaAnswers::FILE,
        Ledger::ReplicaJudgments => stage::ReplicaJudgments::FILE,
    }
}

fn span(ledger: Ledger, kind: Kind, computed: &Computed) -> Option<RecordSpan> {
    let spans = &computed.tally.spans;
    let (r#type, accepted) = match kind {
        Kind::Attempts => ("attempt", None),
        Kind::Accepted => ("outcome", Some(true)),
        Kind::NotAccepted => ("outcome", Some(false)),
        Kind::Notes => ("note", None),
        Kind::Seal => {
            let count = spans.iter().filter(|((of, _), _)| *of == ledger).map(|(_, span)| span.count).sum();
            return Some(RecordSpan { r#type: "seal", accepted: None, count, seq: None });
        }
    };
    let Span { count, first, last } = *spans.get(&(ledger, kind))?;
    Some(RecordSpan { r#type, accepted, count, seq: Some((first, last)) })
}
