//! What the answers show, in sentences that say no more than the answers do.

use super::steps::{making, named, undoing};
use super::{EvidenceChange, Explanation, Settled};
use crate::analyze::counterfactual::Finding;
use crate::report::document::{Line, Part};

/// Changes that are named in one sentence; more are counted.
const NAMED: usize = 5;

/// Why nothing is asked.
pub(super) const fn settled(settled: Settled) -> &'static str {
    match settled {
        Settled::SameEvidence { asked: false } => {
            "The evidence is byte-identical in both snapshots, so that the question was not asked: no document can have moved its \
             answer."
        }
        Settled::SameEvidence { asked: true } => {
            "The evidence is byte-identical in both snapshots: no document can have moved the answer. Where the answers differ, that is \
             the noise of the generator, or of the judge."
        }
        Settled::RetrievalVaries => {
            "The first retrievals of both snapshots are byte-identical, and a second one was not: retrieval varies by itself, and no \
             change of the corpus can be told from that."
        }
        Settled::NoFlip => {
            "The old and the new answers are the same by every kernel that is used here: nothing flipped."
        }
    }
}

/// The sentences of one finding.
pub(super) fn finding<'a>(told: &'a Explanation, finding: &Finding) -> Vec<Line<'a>> {
    let repeats = told.repeats;
    let one = |text: &str| vec![Line::ours(text)];
    match finding {
        Finding::NoFlip => one("The old and the new answers are the same: nothing flipped by this kernel."),
        Finding::Unstable => one(
            "The run's own repeats disagree within a snapshot, or agree across the two: no change can be told from noise.",
        ),
        Finding::Open => {
            one("The old and the new evidence as they are lack answers: nothing can be said before they have them.")
        }
        Finding::Drifted => one(
            "Asked again with the old and the new evidence as they are, the generator does not give the run's answers in every \
             repeat: no change can be told from noise, or from a generator that is another one by now.",
        ),
        Finding::Told { decide, return_alone, move_alone, in_part, open } => {
            let lists = [decide, return_alone, move_alone];
            let said = lists.iter().any(|list| !list.is_empty());
            let mut lines = Vec::new();
            lines.extend(of(told, decide).map(|change| decides(change, repeats)));
            lines.extend(of(told, return_alone).map(|change| returns(change, repeats)));
            lines.extend(of(told, move_alone).map(|change| moves(change, repeats)));
            if !said && in_part.is_empty() && open.is_empty() {
                lines.push(Line::ours(none_does(told.changes.len())));
            }
            lines.extend(unsaid(told, in_part, "Repeats disagree with ", ": that cannot be told from noise."));
            let why = ": answers to them are missing, and nothing is said of them.";
            lines.extend(unsaid(told, open, "Not all is known of ", why));
            lines
        }
    }
}

fn none_does(changes: usize) -> String {
    format!(
        "No single change does: none of the {changes} changes alone brings the old answer back when it is undone, and none alone gives the \
         new answer when it is made. Several act together."
    )
}

fn of<'a>(told: &'a Explanation, numbers: &[usize]) -> impl Iterator<Item = &'a EvidenceChange> {
    numbers.iter().filter_map(|number| told.changes.get(*number))
}

fn decides(change: &EvidenceChange, repeats: u32) -> Line<'_> {
    joined(
        undoing(change).and(format!(" brings the old answer back in {repeats} of {repeats} repeats, and ")),
        making(change),
    )
    .and(format!(" gives the new answer in {repeats} of {repeats}: this change moves the answer."))
}

fn returns(change: &EvidenceChange, repeats: u32) -> Line<'_> {
    joined(
        undoing(change).and(format!(" brings the old answer back in {repeats} of {repeats} repeats; ")),
        making(change),
    )
    .and(" does not give the new answer in every repeat, which needs another change as well.")
}

fn moves(change: &EvidenceChange, repeats: u32) -> Line<'_> {
    let begun = joined(Line::ours("On its own, "), making(change));
    begun.and(format!(
        " gives the new answer in {repeats} of {repeats} repeats; undone alone, the old answer does not come back in every repeat: \
         another change gives the new answer as well."
    ))
}

fn unsaid<'a>(told: &'a Explanation, numbers: &[usize], before: &str, after: &str) -> Option<Line<'a>> {
    let mut names = of(told, numbers).take(NAMED).map(named);
    let first = joined(Line::ours(before), names.next()?);
    let line = names.fold(first, |line, name| joined(line.and(", "), name));
    let more = numbers.len().saturating_sub(NAMED);
    let line = if more > 0 { line.and(format!(" and {more} more")) } else { line };
    Some(line.and(after))
}

fn joined<'a>(one: Line<'a>, other: Line<'a>) -> Line<'a> {
    let parts: Vec<Part<'a>> = one.0.into_iter().chain(other.0).collect();
    Line(parts)
}
