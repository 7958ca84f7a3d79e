//! What the answers show, in sentences that say no more than the answers do.

use super::steps::{making, named, undoing};
use super::{EvidenceChange, Explanation, Settled};
use crate::analyze::counterfactual::{Base, Class, Finding, Step};
use crate::model::Kernel;
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
pub(super) fn finding<'a>(told: &'a Explanation, kernel: Kernel, finding: &Finding) -> Vec<Line<'a>> {
    let one = |text: &str| vec![Line::ours(text)];
    match finding {
        Finding::NoFlip => one("The old and the new answers are the same: nothing flipped by this kernel."),
        Finding::Unstable => one(
            "The run's own repeats of the new snapshot disagree, or some agree with those of the old one: no change can be told from \
             noise.",
        ),
        Finding::Open => {
            one("The old and the new evidence as they are lack answers: nothing can be said before they have them.")
        }
        Finding::Drifted => one(
            "Asked again, the new evidence as it is does not give the new answer in every repeat, or the old evidence gives it: no \
             change can be told from noise, or from a generator that is another one by now.",
        ),
        Finding::Told { decide, needed, enough, in_part, open } => {
            let counts = Counts { told, kernel };
            let mut lines: Vec<Line<'a>> = decide.iter().filter_map(|change| counts.decides(*change)).collect();
            lines.extend(needed.iter().filter_map(|change| counts.is_needed(*change)));
            lines.extend(enough.iter().filter_map(|change| counts.is_enough(*change)));
            if lines.is_empty() && in_part.is_empty() && open.is_empty() {
                lines.push(Line::ours(none_does(told.changes.len())));
            }
            lines.extend(unsaid(told, in_part, "Repeats disagree with ", ": that cannot be told from noise."));
            let why = ": answers are missing, and nothing is said of that.";
            lines.extend(unsaid(told, open, "Not all is known of ", why));
            lines.extend(counts.varies());
            lines
        }
    }
}

fn none_does(changes: usize) -> String {
    format!(
        "No single change does: none of the {changes} changes alone takes the new answer away when it is undone, and none alone gives it \
         when it is made. Several act together."
    )
}

/// How many answers are which, by one kernel.
struct Counts<'a> {
    told: &'a Explanation,
    kernel: Kernel,
}

impl<'a> Counts<'a> {
    fn of(&self, base: Base, change: Option<usize>, class: Class) -> usize {
        let step = self.told.steps.iter().find(|known| known.step == Step { base, change });
        let classes = step.and_then(|step| step.classes.iter().find(|(kernel, _)| *kernel == self.kernel));
        classes.map_or(0, |(_, classes)| classes.iter().filter(|one| **one == class).count())
    }

    /// `2 of 2 repeats`
    fn repeats(&self, count: usize) -> String {
        format!("{count} of {} repeats", self.told.repeats)
    }

    /// What undoing a change does that takes the new answer away in every repeat.
    fn undone(&self, number: usize, change: &'a EvidenceChange) -> Line<'a> {
        let all = self.told.repeats as usize;
        match self.of(Base::New, Some(number), Class::Old) {
            old if old == all => undoing(change).and(format!(" brings the old answer back in {}", self.repeats(old))),
            old => undoing(change).and(format!(
                " takes the new answer away in {}, and brings the old one back in {old}",
                self.repeats(all)
            )),
        }
    }

    fn decides(&self, number: usize) -> Option<Line<'a>> {
        let change = self.told.changes.get(number)?;
        let line = joined(self.undone(number, change).and("; "), making(change));
        let all = self.repeats(self.told.repeats as usize);
        Some(line.and(format!(" gives the new answer in {all}: this change moves the answer.")))
    }

    fn is_needed(&self, number: usize) -> Option<Line<'a>> {
        let change = self.told.changes.get(number)?;
        let line = joined(self.undone(number, change).and("; "), making(change));
        let made = self.repeats(self.of(Base::Old, Some(number), Class::New));
        Some(line.and(format!(" gives the new answer in {made}: it needs this change, and another one with it.")))
    }

    fn is_enough(&self, number: usize) -> Option<Line<'a>> {
        let change = self.told.changes.get(number)?;
        let all = self.repeats(self.told.repeats as usize);
        let left = self.repeats(self.of(Base::New, Some(number), Class::New));
        let line = joined(Line::ours("On its own, "), making(change)).and(format!(" gives the new answer in {all}; "));
        let line = joined(line.and("where that alone is undone ("), named(change));
        Some(line.and(format!("), the new answer still comes in {left}: another change gives it as well.")))
    }

    /// That the old evidence as it is does not give the old answer each time.
    fn varies(&self) -> Option<Line<'a>> {
        let old = self.of(Base::Old, None, Class::Old);
        (old < self.told.repeats as usize).then(|| {
            Line::ours(format!(
                "The old evidence as it is gives an old answer in {} only: the generator varies.",
                self.repeats(old)
            ))
        })
    }
}

fn unsaid<'a>(told: &'a Explanation, numbers: &[usize], before: &str, after: &str) -> Option<Line<'a>> {
    let changes = numbers.iter().filter_map(|number| told.changes.get(*number));
    let mut names = changes.take(NAMED).map(named);
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
