//! What must be known before a number is believed.

use super::{NAME, SENTENCE, conduct, one_word, passed, served};
use crate::gate::{Verdict, shows_churn};
use crate::model::{Fraction, Kernel, PercentagePoints};
use crate::report::document::Line;
use crate::report::numbers;
use crate::report::result::{AuditResult, Validity};
use std::cmp::Ordering;

/// By how much the share of UNKNOWN moves that is told before any figure.
const MOVED: PercentagePoints = PercentagePoints::from_units(PercentagePoints::UNITS_IN_ONE / 10);
/// The share of pairs of repeats below which an agreement to the letter is called low.
const LOOSE: PercentagePoints = PercentagePoints::from_units(PercentagePoints::UNITS_IN_ONE / 2);

/// Caveats of the machinery first, then what this run shows.
pub(super) fn warnings(result: &AuditResult) -> Vec<Line<'_>> {
    let caveats = result.machinery.caveats.iter().map(|caveat| Line::default().prose(caveat, SENTENCE));
    let seen = [
        degenerate(result),
        loosely_worded(result),
        all_unknown(result).or_else(|| unknown_moved(result)),
        one_word::warning(result),
        without_documents(result),
        no_spread(result),
        excluded(result),
        mismatched(result),
        mixed_models(result),
        unnamed_models(result),
        passed::difference(&result.snapshots),
        undecided(result),
    ];
    let streams = result.analysis.kernels.iter().filter(|figures| !figures.stream.agrees).map(|figures| {
        Line::ours(format!(
            "The preregistered bootstrap stream of the {} kernel lies more than {} from the exact quantiles. \
             The verdict uses the exact ones.",
            figures.kernel,
            numbers::counted(figures.stream.tolerance, "lattice unit")
        ))
    });
    let first = replayed(result).into_iter().chain(served::warnings(result));
    caveats.chain(first).chain(seen.into_iter().flatten()).chain(streams).chain(conduct::warnings(result)).collect()
}

/// How many of them only say once more how the verdict came to be.
pub(super) fn of_the_verdict(result: &AuditResult) -> usize {
    [no_spread(result), undecided(result)].into_iter().flatten().count()
}

/// A recording answers as it did, whatever the servers and the snapshots behind them are now.
fn replayed<'a>(result: &AuditResult) -> Option<Line<'a>> {
    result.is_replay().then(|| {
        Line::ours(
            "A replay: every reply of a server was read from a recording, and no server was called. The figures are those of \
             the recorded audit, and say nothing about servers and indexes as they are now.",
        )
    })
}

fn degenerate<'a>(result: &AuditResult) -> Option<Line<'a>> {
    let blind: Vec<Kernel> =
        result.analysis.kernels.iter().filter(|figures| figures.degenerate).map(|figures| figures.kernel).collect();
    let passes = result.decision.compatible_when.iter().any(|line| line.holds && blind.contains(&line.kernel));
    (!blind.is_empty()).then(|| {
        let (verb, but) = if passes {
            ("block", format!(", and one passes only because so few were asked: {}", numbers::count(result.analysis.asked)))
        } else {
            ("block or pass", String::new())
        };
        let blind: Vec<String> = blind.iter().map(Kernel::to_string).collect();
        Line::ours(format!(
            "Repeats of one snapshot agree in fewer than 10% of pairs under the {} kernel: it cannot see churn, and no rule that \
             needs it can {verb}{but}.",
            blind.join(" and the ")
        ))
    })
}

/// Churn of meaning that the exact kernel cannot confirm, since repeats hardly ever agree to the letter.
fn loosely_worded<'a>(result: &AuditResult) -> Option<Line<'a>> {
    let (exact, semantic) = (Kernel::Exact, Kernel::Semantic);
    let figures = |kernel| super::headline::figures(&result.analysis, kernel);
    let asks = result.decision.incompatible_when.iter().any(|line| line.kernel == exact && !line.holds);
    let shown = result.decision.verdict == Verdict::Inconclusive && shows_churn(semantic, &result.analysis);
    let agreement = figures(exact)?.agreement.as_ref()?;
    // A degenerate kernel has a warning of its own.
    let loose = !figures(exact)?.degenerate && agreement.within.compare(LOOSE) == Ordering::Less;
    (asks && shown && loose && !result.same_content).then(|| {
        Line::ours(format!(
            "Repeats agree to the letter in {} (old) and {} (new) of pairs. Where answers are worded freely the exact kernel \
             sees little of a change of meaning; docs/black-box.md has a rule on the semantic kernel alone.",
            numbers::percent(agreement.within_old),
            numbers::percent(agreement.within_new)
        ))
    })
}

/// A system that answers nothing cannot change its answers.
fn all_unknown<'a>(result: &AuditResult) -> Option<Line<'a>> {
    let (old, new) = result.analysis.unknown?;
    let all = |share: Fraction| share.numerator >= 0 && share.numerator.unsigned_abs() == share.denominator;
    let of = match (all(old), all(new)) {
        (true, true) => "Every answer",
        (true, false) => "Every answer of the old snapshot",
        (false, true) => "Every answer of the new snapshot",
        (false, false) => return None,
    };
    Some(Line::ours(format!("{of} is UNKNOWN: such answers agree with one another, and say nothing about the index.")))
}

/// Where a snapshot answers much less or more often than the other, that is most of what changed.
fn unknown_moved<'a>(result: &AuditResult) -> Option<Line<'a>> {
    let (old, new) = result.analysis.unknown?;
    has_moved(old, new).then(|| {
        Line::ours(format!(
            "{} of the answers of the old snapshot are UNKNOWN, and {} of those of the new one.",
            numbers::percent(old),
            numbers::percent(new)
        ))
    })
}

/// Whether two shares lie [`MOVED`] or more apart, in integers: 19 of 40 and 23 of 40 are 10 pp apart, which a difference of floats
/// may miss.
fn has_moved(one: Fraction, other: Fraction) -> bool {
    let scaled = |one: Fraction, other: Fraction| i128::from(one.numerator) * i128::from(other.denominator);
    let apart = (scaled(one, other) - scaled(other, one)).unsigned_abs();
    let all = u128::from(one.denominator) * u128::from(other.denominator);
    apart.saturating_mul(u128::from(PercentagePoints::UNITS_IN_ONE.unsigned_abs()))
        >= all.saturating_mul(u128::from(MOVED.units().unsigned_abs()))
}

fn without_documents<'a>(result: &AuditResult) -> Option<Line<'a>> {
    let (old, new) = result.analysis.overlap.as_ref()?.without_documents?;
    (old > 0 || new > 0).then(|| {
        Line::ours(format!(
            "No document at all was retrieved for {} from the old snapshot and for {} from the new one.",
            numbers::counted(old, "question"),
            numbers::counted(new, "question")
        ))
    })
}

/// Contrasts that are all alike leave the bootstrap nothing to resample.
fn no_spread<'a>(result: &AuditResult) -> Option<Line<'a>> {
    let semantic = super::headline::figures(&result.analysis, Kernel::Semantic)?;
    let flat = semantic.spread <= 0.0 && result.analysis.asked > 0;
    flat.then(|| {
        Line::ours(
            "All questions have the same contrast under the semantic kernel: resampling sees no spread, so the lower bound is \
             D̂ itself. The upper bound is not affected.",
        )
    })
}

fn excluded<'a>(result: &AuditResult) -> Option<Line<'a>> {
    let excluded = result.validity.excluded_questions;
    (excluded > 0).then(|| {
        Line::ours(format!(
            "{} left out for want of an accepted answer or judgment: in no figure but the upper bounds, which take each for \
             wholly changed.",
            numbers::counted(excluded, "question")
        ))
    })
}

fn mismatched<'a>(result: &AuditResult) -> Option<Line<'a>> {
    let mismatched = result.validity.mismatched_evidence;
    (mismatched > 0).then(|| {
        Line::ours(format!(
            "Two retrievals of the same snapshot differed for {}: retrieval itself varies, and the repeats took the \
             two in turn.",
            numbers::counted(mismatched, "question")
        ))
    })
}

/// Answers of more than one served model cannot be told from churn.
fn mixed_models<'a>(result: &AuditResult) -> Option<Line<'a>> {
    if !result.validity.changed_models.is_empty() {
        // They have warnings of their own.
        return None;
    }
    let models = &result.validity.served_models;
    // Embedder and judge may well be other models than the generator.
    let others = [Validity::EMBEDDER, Validity::JUDGE];
    let mut generators = models.iter().filter(|(name, _)| !others.contains(&name.as_str())).map(|(_, names)| names);
    let first = generators.next();
    let differ = generators.any(|names| Some(names) != first) || models.iter().any(|(_, names)| names.len() > 1);
    differ.then(|| Line::ours("The servers named more than one model: part of the churn may be the models'."))
}

/// A model that changes where none is named cannot be seen.
fn unnamed_models<'a>(result: &'a AuditResult) -> Option<Line<'a>> {
    let unnamed = &result.validity.unnamed_models;
    let (first, rest) = unnamed.split_first()?;
    let counted = |line: Line<'a>, (name, count): &'a (String, u64)| {
        line.and(format!("{} of ", numbers::count(*count))).theirs(name, NAME)
    };
    let line = counted(
        Line::ours("Accepted replies without a model's name, though others of the same server have one: "),
        first,
    );
    let line = rest.iter().fold(line, |line, one| counted(line.and(", "), one));
    Some(line.and(". A change of the model would not be seen in them."))
}

fn undecided<'a>(result: &AuditResult) -> Option<Line<'a>> {
    if result.decision.verdict != Verdict::Inconclusive || result.same_content {
        return None;
    }
    if result.is_from_elsewhere() {
        return Some(Line::ours("Inconclusive is no proof of compatibility."));
    }
    Some(Line::ours(match result.decision.inconclusive.as_str() {
        "pass" => "Inconclusive is no proof of compatibility. The spec lets an undecided audit pass.",
        "fail" => "Inconclusive is no proof of incompatibility. The spec lets an undecided audit fail.",
        _ => "Inconclusive is no proof of compatibility. The spec lets an undecided audit pass with a warning.",
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixtures::{fraction, inconclusive};

    #[test]
    fn shares_a_tenth_apart_have_moved_and_a_half_is_not_below_a_half_whatever_floats_make_of_them() {
        for all in 1..=200_i64 {
            let share = |part: i64| fraction(part, all.unsigned_abs());
            for (one, other) in (0..=all).flat_map(|one| (0..=all).map(move |other| (one, other))) {
                let moved = 10 * (one - other).abs() >= all;
                assert_eq!(has_moved(share(one), share(other)), moved, "{one} and {other} of {all}");
            }
            for part in 0..=all {
                let mut result = inconclusive();
                let exact = &mut result.analysis.kernels[0];
                exact.agreement.as_mut().expect("answers").within = share(part);
                result.analysis.kernels[1].lower_bound = fraction(280, 1600);
                result.decision.incompatible_when[0].holds = false;
                assert_eq!(loosely_worded(&result).is_some(), 2 * part < all, "{part} of {all}");
            }
        }
        // Snapshots may have different numbers of repeats.
        assert!(has_moved(fraction(1, 10), fraction(3, 15)) && !has_moved(fraction(1, 10), fraction(199, 1000)));
    }
}
